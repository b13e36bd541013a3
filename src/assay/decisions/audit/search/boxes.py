"""The search for matrices that give printed numbers: boxes of matrices, halved where they may.

A box is kept while the bounds of every formula over it meet the printed digits. What is left when
boxes become small is looked at matrix by matrix, exactly. So what is not found is impossible,
whatever the formulas are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.search.cells import Region
from assay.decisions.audit.search.ways import Booleans, Way
from assay.formula import Bounds, bounds_along
from assay.inference import Quantity

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

    def seen_by(self, label: int | None) -> Mapping[str, Any]:
        """The cells as a formula of one label, or of both classes, reads them."""
        tp, fp, fn, tn = (self.cells[name] for name in ("TP", "FP", "FN", "TN"))
        if label == 1:
            return self.cells
        if label == 0:
            return {"TP": tn, "FP": fn, "FN": fp, "TN": tp}
        return {
            "HIT": np.stack([tn, tp], axis=-1),
            "ROW": np.stack([tn + fp, tp + fn], axis=-1),
            "COL": np.stack([tn + fn, tp + fp], axis=-1),
            "N": tp + fp + fn + tn,
            "K": np.full(len(tp), 2),
        }


@dataclass(frozen=True)
class Found:
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

    def find(self, conditions: Conditions, *, rounded: bool = False, one: bool = False) -> Found:
        """The matrices that give all numbers, or ``one`` of them."""
        whole = self._everything
        if whole is not None:
            kept = np.ones(len(whole), bool)
            for ways in conditions:
                kept &= np.logical_or.reduce([self._answer(way, whole, rounded) for way in ways])
            return Found(whole[kept], complete=True)
        return self._halved(conditions, rounded=rounded, one=one)

    def _answer(self, way: Way, whole: Matrices, rounded: bool) -> Booleans:  # noqa: FBT001
        if (way, rounded) not in self._answers:
            found = way.holds(whole.seen_by, rounded=rounded)
            self._answers[way, rounded] = np.broadcast_to(found, len(whole))
        return self._answers[way, rounded]

    # -- boxes -------------------------------------------------------------------------------------

    def _halved(self, conditions: Conditions, *, rounded: bool, one: bool) -> Found:
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
                return Found(seen[:0], complete=True)
            if left.volume() <= _IN_THE_END:
                self._work += int(left.volume()) * ways // 64
                points = _fitting(self._points(left), conditions, rounded=rounded)
                return Found(points, complete=True)
            probed = _fitting(self._points(left.middles(_PROBED)), conditions, rounded=rounded)
            if len(probed):
                seen = probed
                if one:
                    break
            if len(left) > _MOST_BOXES or self._work > BUDGET:
                break
            left = left.parted()
        return Found(seen, complete=False)

    def _narrowed(self, left: _Boxes, conditions: Conditions, *, rounded: bool) -> _Boxes:
        left = left.where(self._possible(left))
        for ways in conditions:
            if not len(left):
                break
            boxed = self._boxed(left)
            kept = np.zeros(len(left), bool)
            for way in ways:
                self._work += max(len(left), _LEAST)
                kept |= way.may_hold(boxed, rounded=rounded)
                if kept.all():
                    break
            left = left.where(kept)
        return left

    def _ranges(self, low: Any, high: Any) -> dict[str, tuple[Any, Any]]:
        """What each cell can be where the free counts lie between these; some may be negative."""
        found = {}
        for name, (constant, steps) in self._region.cells.items():
            least = most = np.full(low.shape[1:], float(constant))
            for k, step in enumerate(steps):
                if step:
                    least = least + step * (low[k] if step > 0 else high[k])
                    most = most + step * (high[k] if step > 0 else low[k])
            found[name] = least, most
        return found

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
        found = {}
        for name, (constant, steps) in self._region.cells.items():
            column = np.full(counts.shape[1], constant, np.int64)
            for k, step in enumerate(steps):
                if step:
                    column = column + step * counts[k]
            found[name] = column
        matrices = Matrices(found)
        return matrices[np.logical_and.reduce([column >= 0 for column in found.values()])]


def _fitting(matrices: Matrices, conditions: Conditions, *, rounded: bool) -> Matrices:
    for ways in conditions:
        if not len(matrices):
            break
        found = [way.holds(matrices.seen_by, rounded=rounded) for way in ways]
        matrices = matrices[np.broadcast_to(np.logical_or.reduce(found), len(matrices))]
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
        found = np.zeros((0, len(self)), np.int64)
        which = np.arange(len(self))
        for low, high in zip(self.low, self.high, strict=True):
            size = (high - low + 1)[which]
            offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
            column = np.repeat(low[which], size) + offset
            found = np.vstack([np.repeat(found, size, axis=1), column])
            which = np.repeat(which, size)
        return found
