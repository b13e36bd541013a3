"""What a claim tells of its four cells, and the search for matrices that have them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.decisions.audit.claim import BINARY_CELLS, Claim
from assay.decisions.audit.search.matrices import Matrices, ends, fitting, slack
from assay.decisions.audit.search.number import Bound
from assay.decisions.audit.search.plane import LARGEST, Found, Plane, search

_MANY, _PROBED = 1 << 20, 1 << 16
_MOST_CELL = LARGEST >> 2
_LARGE = 50_000
_GOOD = {"tp": 1, "tn": 1, "fp": -1, "fn": -1}


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
    size = None
    if claim.n is not None and claim.n.value.denominator == 1 and claim.n.unit == 1:
        size = int(claim.n.value)
    whole = replace(rows, n=size).completed()
    if whole is not None:
        return whole, ()
    without = rows.completed()
    if without is not None:
        return without, (f"the stated size {size:,} does not fit the counts and was passed over",)
    bare = Known(**cells).completed() or Known()
    return bare, ("the support does not fit the cells and was passed over",)


def search_known(
    known: Known, bounds: Sequence[Bound], prevalence: tuple[float, float], *, one: bool
) -> Found:
    """Matrices with what is known that keep every bound."""
    if known.positives is not None and known.negatives is not None:
        return search(_plane(known, known.positives, known.negatives), bounds, one=one)
    if known.n is not None and known.n <= LARGEST:
        return _of_size(known, known.n, bounds, prevalence, one=one)
    cells = {cell: getattr(known, cell) for cell in BINARY_CELLS}
    missing = [cell for cell, count in cells.items() if count is None]
    if len(missing) == 1 and all(count is None or count <= _MOST_CELL for count in cells.values()):
        return _one_missing(known, missing[0], bounds)
    return Found(Matrices.none(), complete=False)


def _plane(known: Known, positives: int, negatives: int) -> Plane:
    """The plane of these supports, cut down to the cells that are known."""
    return Plane(
        positives,
        negatives,
        _between(known.tp, known.fn, positives),
        _between(known.fp, known.tn, negatives),
    )


def _between(hit: int | None, rest: int | None, total: int) -> tuple[int, int]:
    if hit is not None:
        return hit, hit
    return (0, total) if rest is None else (total - rest, total - rest)


def _of_size(
    known: Known, n: int, bounds: Sequence[Bound], prevalence: tuple[float, float], *, one: bool
) -> Found:
    """Any split of n rows into positives and negatives that the known cells leave."""
    low = (known.tp or 0) + (known.fn or 0)
    high = n - (known.fp or 0) - (known.tn or 0)
    low = max(low, int(np.floor(prevalence[0] * n)) - 1)
    high = min(high, int(np.ceil(prevalence[1] * n)) + 1)
    if (known.tp, known.fn) != (None, None) and (known.fp, known.tn) != (None, None):
        if high - low >= _MANY:
            return Found(Matrices.none(), complete=False)
        return Found(*fitting(_along(known, n, low, high), bounds))
    splits = range(low, high + 1)
    most = 64 if n > _LARGE else 256
    if len(splits) <= most:
        return _over(_planes(known, n, splits), bounds, one=one)
    # Too many to try all: the likeliest are in the middle.
    some = splits[:: len(splits) // 24]
    outwards = sorted(some, key=lambda positives: abs(positives - splits[len(splits) // 2]))
    found = _over(_planes(known, n, outwards), bounds, one=True)
    return Found(found.matrices, complete=False)


def _planes(known: Known, n: int, splits: Iterable[int]) -> Iterator[Plane]:
    for positives in splits:
        yield _plane(known, positives, n - positives)


def _over(planes: Iterator[Plane], bounds: Sequence[Bound], *, one: bool) -> Found:
    found: list[Matrices] = []
    complete = True
    for plane in planes:
        here = search(plane, bounds, one=one)
        complete &= here.complete
        found.append(here.matrices)
        if one and len(here.matrices):
            return Found(here.matrices, complete=False)
    return Found(Matrices.joined(found), complete)


def _along(known: Known, n: int, low: int, high: int) -> Matrices:
    """With one cell of each class known, every split of the rows is one matrix."""
    positives = np.arange(low, high + 1, dtype=np.int64)
    negatives = n - positives
    tp = np.full_like(positives, known.tp) if known.fn is None else positives - known.fn
    fp = np.full_like(negatives, known.fp) if known.tn is None else negatives - known.tn
    found = Matrices(tp, fp, positives - tp, negatives - fp)
    possible = (found.tp >= 0) & (found.fp >= 0) & (found.fn >= 0) & (found.tn >= 0)
    return found[possible]


def _one_missing(known: Known, cell: str, bounds: Sequence[Bound]) -> Found:
    """One cell may be anything: bisection by what moves one way with it, then all that is left."""
    low, high = 0, LARGEST >> 1
    for bound in bounds:
        low, high = _narrowed(known, cell, bound, low, high)
    if high - low <= _MANY:
        return Found(*fitting(_with(known, cell, low, high + 1), bounds))
    middle = low + (high - low) // 2
    for start in (low, middle):
        some, _ = fitting(_with(known, cell, start, start + _PROBED), bounds)
        if len(some):
            return Found(some, complete=False)
    return Found(Matrices.none(), complete=False)


def _with(known: Known, cell: str, low: int, high: int) -> Matrices:
    values = np.arange(low, high, dtype=np.int64)
    cells = {
        name: values if name == cell else np.full_like(values, getattr(known, name))
        for name in BINARY_CELLS
    }
    return Matrices(**cells)


def _narrowed(known: Known, cell: str, bound: Bound, low: int, high: int) -> tuple[int, int]:
    """Where a bound that moves one way with the cell may still hold."""
    if not bound.cellwise or low > high:
        return low, high
    rising = bound.rises[0] * _GOOD[cell] > 0
    least, most = ends(bound)

    def at(x: int) -> float:
        return float(_with(known, cell, x, x + 1).values(bound.expression)[0])

    def below(x: int) -> bool:
        return at(x) < least - slack(least)

    def above(x: int) -> bool:
        return at(x) > most + slack(most)

    too_low, too_high = (below, above) if rising else (above, below)
    low += bisect_left(range(low, high + 1), 1, key=lambda x: not too_low(x))
    return low, low + bisect_left(range(low, high + 1), 1, key=too_high) - 1
