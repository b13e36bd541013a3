"""What a claim tells of its four cells, and the matrices that this leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from assay.decisions.audit.claim import BINARY_CELLS, Claim

# Beyond this a sum of counts in float64 is not safe.
LARGEST = 1 << 50


@dataclass(frozen=True)
class Known:
    """Cells and totals of a binary matrix as far as they are told."""

    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    tn: int | None = None
    positives: int | None = None
    negatives: int | None = None
    n: int | None = None

    def completed(self) -> Known | None:
        """With all that follows by addition; None where something contradicts."""
        known = {name: getattr(self, name) for name in self.__dataclass_fields__}
        sums = (
            ("positives", "tp", "fn"),
            ("negatives", "fp", "tn"),
            ("n", "positives", "negatives"),
        )
        for _ in range(len(sums)):
            for total, a, b in sums:
                for whole, one, other in ((total, a, b), (total, b, a)):
                    if known[whole] is not None and known[one] is not None:
                        rest = known[whole] - known[one]
                        if rest < 0 or known[other] not in (None, rest):
                            return None
                        known[other] = rest
                if known[a] is not None and known[b] is not None:
                    if known[total] not in (None, known[a] + known[b]):
                        return None
                    known[total] = known[a] + known[b]
        lows = [(known["tp"] or 0) + (known["fn"] or 0), (known["fp"] or 0) + (known["tn"] or 0)]
        limits = (known["positives"], known["negatives"])
        if any(limit is not None and low > limit for low, limit in zip(lows, limits, strict=True)):
            return None
        if known["n"] is not None and sum(lows) > known["n"]:
            return None
        return Known(**known)

    @property
    def told(self) -> str:
        """The totals in words."""
        if self.positives is not None and self.negatives is not None:
            return f"{self.positives:,} positives and {self.negatives:,} negatives"
        return "these counts" if self.n is None else f"{self.n:,} rows"


def known_of(claim: Claim) -> tuple[Known, tuple[str, ...]]:
    """What the claim tells, and what had to be passed over because it contradicts the rest."""
    cells = {cell: claim.cells.get(cell) for cell in BINARY_CELLS}
    negative, positive = claim.labels if len(claim.labels) == 2 else (None, claim.positive)
    rows = Known(
        **cells,
        positives=None if positive is None else claim.support.get(positive),
        negatives=None if negative is None else claim.support.get(negative),
    )
    whole = replace(rows, n=claim.size).completed()
    if whole is not None:
        return whole, ()
    without = rows.completed()
    if without is not None:
        said = f"the stated size {claim.size:,} does not fit the counts and was passed over"
        return without, (said,)
    bare = Known(**cells).completed() or Known()
    return bare, ("the support does not fit the cells and was passed over",)


@dataclass(frozen=True)
class Region:
    """All matrices with what is known: each cell is a constant plus or minus some free counts.

    ``spans`` are the free counts, from and to; ``cells`` the constant of each cell and by how much
    it moves with each free count.
    """

    spans: tuple[tuple[int, int], ...]
    cells: Mapping[str, tuple[int, tuple[int, ...]]]

    @property
    def directions(self) -> list[tuple[tuple[str, int], ...]]:
        """The cells that each free count moves, and by how much."""
        return [
            tuple((cell, steps[k]) for cell, (_, steps) in self.cells.items() if steps[k])
            for k in range(len(self.spans))
        ]

    def fixed_total(self, names: Sequence[str]) -> int | None:
        """What some cells add up to in every matrix; None where that is open."""
        constants, steps = zip(*(self.cells[name] for name in names), strict=True)
        moved = [sum(each) for each in zip(*steps, strict=True)]
        return None if any(moved) else sum(constants)


def region_of(known: Known) -> Region | None:
    """The matrices that are left; None where they are too many to be looked through."""
    told = {cell.upper(): getattr(known, cell) for cell in BINARY_CELLS}
    free: list[str] = []
    limits: list[int] = []
    rests: dict[str, tuple[int, tuple[str, ...]]] = {}
    for (hit, miss), rows in ((("TP", "FN"), known.positives), (("FP", "TN"), known.negatives)):
        for cell in (hit, miss):
            if told[cell] is None and not (rows is not None and cell == miss):
                free.append(cell)
                limits.append(rows if rows is not None else -1)
        if rows is not None and told[miss] is None:
            rests[miss] = (rows, (hit,))
    open_rows = known.positives is None or known.negatives is None
    if known.n is not None and open_rows and free:
        # The last free cell is what the others leave of all rows.
        last = free.pop()
        limits.pop()
        rests[last] = (known.n, tuple(cell for cell in told if cell != last))
    if sum(limit < 0 for limit in limits) > 1 and known.n is None:
        return None
    if any(count is not None and count > LARGEST for count in vars(known).values()):
        return None
    most = known.n if known.n is not None else LARGEST
    return Region(
        tuple((0, limit if limit >= 0 else most) for limit in limits),
        {cell: _affine(cell, told, free, rests) for cell in told},
    )


def _affine(
    cell: str,
    told: Mapping[str, int | None],
    free: Sequence[str],
    rests: Mapping[str, tuple[int, tuple[str, ...]]],
) -> tuple[int, tuple[int, ...]]:
    """A cell as a constant and how it moves with each free one."""
    count = told[cell]
    if count is not None:
        return count, (0,) * len(free)
    if cell in free:
        return 0, tuple(int(cell == each) for each in free)
    start, others = rests[cell]
    steps = [0] * len(free)
    for other in others:
        constant, moved = _affine(other, told, free, rests)
        start -= constant
        steps = [a - b for a, b in zip(steps, moved, strict=True)]
    return start, tuple(steps)
