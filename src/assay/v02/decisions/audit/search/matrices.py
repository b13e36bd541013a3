"""The matrices that what is told of a claim leaves open, and the search for those that fit.

Of two classes, boxes of matrices are halved. A box is kept while the bounds of every formula over
it meet the printed digits. What is left when boxes become small is looked at matrix by matrix,
exactly. So what is not found is impossible, whatever the formulas are. Matrices of several small
classes are counted out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.audit.claim import BINARY_CELLS, Claim
from assay.v02.decisions.audit.search.numbers import Booleans, Way
from assay.v02.formula import Bounds, bounds_along, evaluate
from assay.v02.inference import Quantity

# Beyond this a sum of counts in float64 is not safe.
LARGEST = 1 << 50


@dataclass(frozen=True)
class KnownCells:
    """Cells and totals of a binary matrix as far as they are told."""

    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    tn: int | None = None
    positives: int | None = None
    negatives: int | None = None
    n: int | None = None

    def completed(self) -> KnownCells | None:
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
        return KnownCells(**known)

    @property
    def told(self) -> str:
        """The totals in words."""
        if self.positives is not None and self.negatives is not None:
            return f"{self.positives:,} positives and {self.negatives:,} negatives"
        return "these counts" if self.n is None else f"{self.n:,} rows"


def known_of(claim: Claim) -> tuple[KnownCells, tuple[str, ...]]:
    """What the claim tells, and what had to be passed over because it contradicts the rest."""
    cells = {cell: claim.cells.get(cell) for cell in BINARY_CELLS}
    negative, positive = claim.labels if len(claim.labels) == 2 else (None, claim.positive)
    rows = KnownCells(
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
    bare = KnownCells(**cells).completed() or KnownCells()
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


def region_of(known: KnownCells) -> Region | None:
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


# -- the search through boxes ----------------------------------------------------------------------

Integers: TypeAlias = npt.NDArray[np.int64]
# All ways in which each of some numbers may be given.
Conditions: TypeAlias = Sequence[Sequence[Way]]

# So many matrices are looked at one by one, from the start or in the end.
ALL_AT_ONCE, _IN_THE_END = 1 << 18, 1 << 15
_MOST_BOXES = 1 << 15
_MOST_ROUNDS = 200
_PROBED = 256
# Work that all searches of one claim may do, in boxes times ways; few boxes cost as much as some.
BUDGET, _LEAST = 200_000, 200


@dataclass(frozen=True)
class Matrices:
    """Binary matrices, cell by cell."""

    cells: Mapping[str, Integers]

    def __len__(self) -> int:
        return len(self.cells["TP"])

    def __getitem__(self, chosen: Any) -> Matrices:
        return Matrices({name: column[chosen] for name, column in self.cells.items()})

    def one(self, i: int) -> dict[str, int]:
        """One matrix by the names that formulas use."""
        return {name: int(column[i]) for name, column in self.cells.items()}

    def values(self, quantity: Quantity) -> Any:
        """What a formula gives for each of them."""
        return evaluate(quantity.expression, self.seen_by(quantity.label))

    def seen_by(self, label: int | None) -> Mapping[str, Any]:
        """The cells as a formula of one label, or of both classes, reads them."""
        tp, fp, fn, tn = (self.cells[name] for name in ("TP", "FP", "FN", "TN"))
        if label == 1:
            return self.cells
        if label == 0:
            return {"TP": tn, "FP": fn, "FN": fp, "TN": tp}
        return {
            "HIT": np.stack([tn, tp], axis=1),
            "ROW": np.stack([tn + fp, tp + fn], axis=1),
            "COL": np.stack([tn + fn, tp + fp], axis=1),
            "N": tp + fp + fn + tn,
            "K": np.full(len(tp), 2),
        }


@dataclass(frozen=True)
class SearchResult:
    """What a search gave: matrices that fit, and whether these are all there are."""

    matrices: Matrices
    complete: bool

    @property
    def feasible(self) -> bool | None:
        """Whether any matrix fits; None where that was not decided."""
        if len(self.matrices):
            return True
        return False if self.complete else None


class Search:
    """Looks through the matrices of a region; what it has done is counted against a budget."""

    def __init__(self, region: Region, in_cells: Callable[[Quantity], Any]) -> None:
        self._region = region
        # The same formula in the four cells, for bounds.
        self._in_cells = in_cells
        self._work = 0
        self._answers: dict[tuple[Way, bool], Booleans] = {}

    @cached_property
    def _everything(self) -> Matrices | None:
        """All matrices of the region, if they are few."""
        box = _Boxes(
            np.array([[low] for low, _ in self._region.spans], np.int64).reshape(-1, 1),
            np.array([[high] for _, high in self._region.spans], np.int64).reshape(-1, 1),
        )
        # Of counts that share one sum, only the corner of the box is possible.
        share = math.factorial(len(box.low)) if len(box.low) > 2 else 1
        return self._points(box) if box.volume() <= share * ALL_AT_ONCE else None

    def find(
        self, conditions: Conditions, *, rounded: bool = False, one: bool = False
    ) -> SearchResult:
        """The matrices that give all numbers, or ``one`` of them."""
        whole = self._everything
        if whole is not None:
            kept = np.ones(len(whole), bool)
            for ways in conditions:
                kept &= np.logical_or.reduce([self._answer(way, whole, rounded) for way in ways])
            return SearchResult(whole[kept], complete=True)
        return self._halved(conditions, rounded=rounded, one=one)

    def _answer(self, way: Way, whole: Matrices, rounded: bool) -> Booleans:  # noqa: FBT001
        if (way, rounded) not in self._answers:
            answer = way.holds(whole.seen_by, rounded=rounded)
            self._answers[way, rounded] = np.broadcast_to(answer, len(whole))
        return self._answers[way, rounded]

    # -- boxes -------------------------------------------------------------------------------------

    def _halved(self, conditions: Conditions, *, rounded: bool, one: bool) -> SearchResult:
        spans = self._region.spans
        left = _Boxes(
            np.array([[low] for low, _ in spans], np.int64),
            np.array([[high] for _, high in spans], np.int64),
        )
        # What can be read in fewest ways, and is printed closest, leaves least.
        conditions = sorted(conditions, key=lambda ways: (len(ways), ways[0].printed.unit))
        ways = sum(map(len, conditions))
        seen = Matrices({name: np.zeros(0, np.int64) for name in self._region.cells})
        for _ in range(_MOST_ROUNDS):
            left = self._narrowed(left, conditions, rounded=rounded)
            if not len(left):
                return SearchResult(seen[:0], complete=True)
            if left.volume() <= _IN_THE_END:
                self._work += int(left.volume()) * ways // 64
                points = _fitting(self._points(left), conditions, rounded=rounded)
                return SearchResult(points, complete=True)
            probed = _fitting(self._points(left.middles(_PROBED)), conditions, rounded=rounded)
            if len(probed):
                seen = probed
                if one:
                    break
            if len(left) > _MOST_BOXES or self._work > BUDGET:
                break
            left = left.parted()
        return SearchResult(seen, complete=False)

    def _narrowed(self, left: _Boxes, conditions: Conditions, *, rounded: bool) -> _Boxes:
        left = left.where(self._possible(left))
        for ways in conditions:
            if len(left):
                left = left.where(self._giving(left, ways, rounded=rounded))
        return left

    def _giving(self, left: _Boxes, ways: Sequence[Way], *, rounded: bool) -> Booleans:
        """Which boxes may give a number."""
        boxed = self._boxed(left)
        kept = np.zeros(len(left), bool)
        for way in ways:
            self._work += max(len(left), _LEAST)
            kept |= way.may_hold(boxed, rounded=rounded)
            if kept.all():
                break
        return kept

    def _ranges(self, low: Any, high: Any) -> dict[str, tuple[Any, Any]]:
        """What each cell can be where the free counts lie between these; some may be negative."""
        ranges = {}
        for name, (constant, steps) in self._region.cells.items():
            least = most = np.full(low.shape[1:], float(constant))
            for k, step in enumerate(steps):
                if step:
                    least = least + step * (low[k] if step > 0 else high[k])
                    most = most + step * (high[k] if step > 0 else low[k])
            ranges[name] = least, most
        return ranges

    def _possible(self, left: _Boxes) -> Booleans:
        """Which boxes hold a matrix without negative cells."""
        ranges = self._ranges(left.low.astype(float), left.high.astype(float))
        return np.asarray(np.logical_and.reduce([most >= 0 for _, most in ranges.values()]))

    def _boxed(self, left: _Boxes) -> Callable[[Quantity], Bounds]:
        low, high = left.low.astype(float), left.high.astype(float)
        known: dict[Quantity, Bounds] = {}

        def at(ends: Sequence[Any]) -> dict[str, tuple[Any, Any]]:
            start, stop = low, high
            if ends and ends[0] is not None:
                chosen = np.array([np.broadcast_to(end, low.shape[1:]) for end in ends])
                start = np.where(chosen == 1, high, low)
                stop = np.where(chosen == 0, low, high)
                # A corner with a negative cell is no matrix: of such a box nothing is set.
                ends_at = self._ranges(start, stop).values()
                real = np.logical_and.reduce([least >= 0 for least, _ in ends_at])
                start, stop = np.where(real, start, low), np.where(real, stop, high)
            ranges = self._ranges(start, stop)
            return {name: (np.maximum(least, 0.0), most) for name, (least, most) in ranges.items()}

        def boxed(quantity: Quantity) -> Bounds:
            if quantity not in known:
                formula = self._in_cells(quantity)
                known[quantity] = bounds_along(formula, self._region.directions, at)
            return known[quantity]

        return boxed

    def _points(self, boxes: _Boxes) -> Matrices:
        """All matrices of some boxes."""
        counts = boxes.points()
        columns = {}
        for name, (constant, steps) in self._region.cells.items():
            column = np.full(counts.shape[1], constant, np.int64)
            for k, step in enumerate(steps):
                if step:
                    column = column + step * counts[k]
            columns[name] = column
        matrices = Matrices(columns)
        return matrices[np.logical_and.reduce([column >= 0 for column in columns.values()])]


def _fitting(matrices: Matrices, conditions: Conditions, *, rounded: bool) -> Matrices:
    for ways in conditions:
        if len(matrices):
            answers = [way.holds(matrices.seen_by, rounded=rounded) for way in ways]
            matrices = matrices[np.broadcast_to(np.logical_or.reduce(answers), len(matrices))]
    return matrices


@dataclass(frozen=True)
class _Boxes:
    """Boxes of free counts, from and to: a row for each count, a column for each box."""

    low: Integers
    high: Integers

    def __len__(self) -> int:
        return int(self.low.shape[1])

    def volume(self) -> float:
        """How many points they hold."""
        return float((self.high - self.low + 1).astype(float).prod(axis=0).sum())

    def where(self, kept: Booleans) -> _Boxes:
        """Some of them."""
        return _Boxes(self.low[:, kept], self.high[:, kept])

    def middles(self, most: int) -> _Boxes:
        """The middle points of some of them."""
        some = np.unique(np.linspace(0, len(self) - 1, most).astype(int))
        middle = self.low[:, some] + (self.high[:, some] - self.low[:, some]) // 2
        return _Boxes(middle, middle)

    def parted(self) -> _Boxes:
        """Each cut in two along its longest side, or in eight while they are few."""
        boxes = self
        for _ in range(3 if len(self) < _PROBED else 1):
            side = (boxes.high - boxes.low).argmax(axis=0)
            each = np.arange(len(boxes))
            start, stop = boxes.low[side, each], boxes.high[side, each]
            middle = start + (stop - start) // 2
            left_high, right_low = boxes.high.copy(), boxes.low.copy()
            left_high[side, each] = middle
            right_low[side, each] = middle + 1
            long = stop > start
            boxes = _Boxes(
                np.concatenate([boxes.low, right_low[:, long]], axis=1),
                np.concatenate([left_high, boxes.high[:, long]], axis=1),
            )
        return boxes

    def points(self) -> Integers:
        """All points, one by one."""
        points = np.zeros((0, len(self)), np.int64)
        which = np.arange(len(self))
        for low, high in zip(self.low, self.high, strict=True):
            size = (high - low + 1)[which]
            offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
            column = np.repeat(low[which], size) + offset
            points = np.vstack([np.repeat(points, size, axis=1), column])
            which = np.repeat(which, size)
        return points


# -- all matrices of several small classes ---------------------------------------------------------

# As many matrices of three classes as are counted out, and as many as may differ in what formulas
# read. More classes cost more: what formulas read of a matrix, and how many of them there are.
_COUNTED_OUT = 1 << 22
_MOST = 1 << 21


@dataclass(frozen=True)
class ClassMatrices:
    """Matrices of K classes: one a row, its hits, rows and columns in the order of the classes."""

    hits: Integers
    rows: Integers
    columns: Integers

    def __len__(self) -> int:
        return len(self.hits)

    def seen_by(self, label: int | None) -> Mapping[str, Any]:
        """The cells as a formula of one label against the rest, or of all classes, reads them."""
        n = self.rows.sum(axis=1)
        if label is None:
            size = np.full(len(self), self.hits.shape[1])
            return {"HIT": self.hits, "ROW": self.rows, "COL": self.columns, "N": n, "K": size}
        hit, row, column = (side[:, label] for side in (self.hits, self.rows, self.columns))
        return {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": n - row - column + hit}

    def given(self, ways: Sequence[Way], *, rounded: bool) -> Booleans:
        """Which of them give a number."""
        answers = [np.broadcast_to(w.holds(self.seen_by, rounded=rounded), len(self)) for w in ways]
        return np.asarray(np.logical_or.reduce(answers))


def class_matrices_of(
    rows: Sequence[int] | None, classes: int, n: int | None
) -> ClassMatrices | None:
    """All matrices with these supports, or of n rows; None where they are too many."""
    most = min(_COUNTED_OUT, 9 * _COUNTED_OUT // classes**2)
    if rows is not None:
        if math.prod(math.comb(r + classes - 1, classes - 1) for r in rows) > most:
            return None
        return _joined([list(_row(r, classes)) for r in rows], classes)
    if n is None or math.comb(n + classes**2 - 1, classes**2 - 1) > most:
        return None
    parts = [_of_supports(supports, classes) for supports in _compositions(n, classes)]
    return ClassMatrices(
        *(np.concatenate([getattr(p, side) for p in parts]) for side in ("hits", "rows", "columns"))
    )


def _of_supports(rows: Sequence[int], classes: int) -> ClassMatrices:
    matrices = _joined([list(_row(r, classes)) for r in rows], classes)
    if matrices is None:
        raise ValueError("too many matrices")
    return matrices


def _joined(options: Sequence[Sequence[tuple[int, ...]]], classes: int) -> ClassMatrices | None:
    """Row by row, what the rows so far leave: the hits of each and the sums of the columns."""
    states = np.zeros((1, 2 * classes), np.int64)
    for i, row in enumerate(options):
        added = np.zeros((len(row), 2 * classes), np.int64)
        added[:, classes:] = np.array(row)
        added[:, i] = added[:, classes + i]
        states = (states[:, None, :] + added[None, :, :]).reshape(-1, 2 * classes)
        states = _unique(states)
        if len(states) > _MOST:
            return None
    supports = np.array([sum(row[0]) for row in options])
    return ClassMatrices(
        states[:, :classes], np.broadcast_to(supports, (len(states), classes)), states[:, classes:]
    )


def _unique(states: Integers) -> Integers:
    """Each state once; much quicker than unique() by rows."""
    states = states[np.lexsort(states.T)]
    new = np.ones(len(states), bool)
    new[1:] = (states[1:] != states[:-1]).any(axis=1)
    return np.asarray(states[new])


def _row(rows: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All ways in which the rows of one class can be decided."""
    return _compositions(rows, classes)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
