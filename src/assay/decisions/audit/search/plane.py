"""Every matrix of fixed supports: which of them give all the printed numbers?

With P positives and N negatives a matrix is a point (tp, fp). Every measure of the catalogue moves
one way with tp and one way with fp, so for a stretch of tp a printed number leaves one stretch of
fp, found by bisection. Stretches of tp that leave nothing are dropped, the others are parted until
few points remain, and these are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.search.matrices import Floats, Integers, Matrices, ends, fitting, slack
from assay.decisions.audit.search.number import Bound

Booleans: TypeAlias = npt.NDArray[np.bool_]

# Beyond this a float64 of a count, or a sum of two counts in 64 bits, is not safe.
LARGEST = 1 << 60
_FEW, _MANY = 1 << 16, 1 << 22
_MOST_STRETCHES = 1 << 17
_PARTS = 8
_PROBES = 64
_CUT_INTO, _MOST_CUT = 16, 64


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


@dataclass(frozen=True)
class Plane:
    """All matrices of P positives and N negatives with tp and fp in these ranges."""

    positives: int
    negatives: int
    tp: tuple[int, int]
    fp: tuple[int, int]

    def matrices(self, tp: Integers, fp: Integers) -> Matrices:
        """These points as matrices."""
        return Matrices(tp, fp, self.positives - tp, self.negatives - fp)


@dataclass(frozen=True)
class _Stretches:
    """Rectangles of points: tp and fp from and to."""

    t0: Integers
    t1: Integers
    y0: Integers
    y1: Integers

    def __len__(self) -> int:
        return len(self.t0)

    def area(self) -> float:
        """How many points they hold."""
        wide = (self.t1 - self.t0 + 1).astype(np.float64)
        return float((wide * (self.y1 - self.y0 + 1)).sum())

    def where(self, kept: Booleans) -> _Stretches:
        """Some of them."""
        return _Stretches(self.t0[kept], self.t1[kept], self.y0[kept], self.y1[kept])

    def parted(self) -> _Stretches:
        """Each cut into at most eight along tp."""
        step = np.maximum(-(-(self.t1 - self.t0 + 1) // _PARTS), 1)
        start = self.t0[:, None] + step[:, None] * np.arange(_PARTS)
        kept = start <= self.t1[:, None]
        end = np.minimum(start + step[:, None] - 1, self.t1[:, None])
        low, high = (np.broadcast_to(y[:, None], start.shape) for y in (self.y0, self.y1))
        return _Stretches(start[kept], end[kept], low[kept], high[kept])

    def points(self) -> tuple[Integers, Integers]:
        """All points, one by one."""
        rows = np.repeat(np.arange(len(self)), self.t1 - self.t0 + 1)
        tp = self.t0[rows] + _counted(self.t1 - self.t0 + 1)
        y0, y1 = self.y0[rows], self.y1[rows]
        again = np.repeat(np.arange(len(tp)), y1 - y0 + 1)
        return tp[again], y0[again] + _counted(y1 - y0 + 1)


_Test: TypeAlias = Callable[[_Stretches, Integers], Booleans]


def _counted(lengths: Integers) -> Integers:
    """0, 1, 2, ... anew for each length."""
    starts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int64) - np.repeat(starts, lengths)


def search(plane: Plane, bounds: Sequence[Bound], *, one: bool = False) -> Found:
    """The matrices of the plane that keep every bound; with ``one``, the first few will do."""
    if plane.positives + plane.negatives > LARGEST:
        return Found(Matrices.none(), complete=False)
    (t0, t1), (y0, y1) = plane.tp, plane.fp
    if t0 > t1 or y0 > y1:
        return Found(Matrices.none(), complete=True)
    left = _Stretches(*(np.array([each], np.int64) for each in (t0, t1, y0, y1)))
    if not (plane.positives and plane.negatives):
        return _line(plane, left, bounds)
    while len(left):
        if left.area() <= _FEW:
            return Found(*fitting(plane.matrices(*left.points()), bounds))
        left = _narrowed(plane, left, bounds)
        if len(left) and left.area() > _FEW:
            probed = _probed(plane, left, bounds)
            plenty = len(left) > _FEW // _PARTS or bool(np.all(left.t0 == left.t1))
            if len(probed) and (one or plenty):
                return Found(probed, complete=False)
            if len(left) > _MOST_STRETCHES or bool(np.all(left.t0 == left.t1)):
                return Found(probed, complete=False)
            left = left.parted()
    return Found(Matrices.none(), complete=True)


def _line(plane: Plane, left: _Stretches, bounds: Sequence[Bound]) -> Found:
    """With one class only there is one unknown: all of its values are tried, if not too many."""
    if left.area() > _MANY:
        return Found(Matrices.none(), complete=False)
    return Found(*fitting(plane.matrices(*left.points()), bounds))


def _probed(plane: Plane, left: _Stretches, bounds: Sequence[Bound]) -> Matrices:
    """Matrices that fit, among a few tried in the middle of what is left."""
    chosen = np.unique(np.linspace(0, len(left) - 1, _PROBES).astype(np.intp))
    middle = (left.t0[chosen] + left.t1[chosen]) // 2
    rows = _Stretches(middle, middle, left.y0[chosen], left.y1[chosen])
    rows = _narrowed(plane, rows, bounds)
    centre = (rows.y0 + rows.y1) // 2
    near = _Stretches(
        rows.t0,
        rows.t1,
        np.maximum(rows.y0, centre - _PROBES),
        np.minimum(rows.y1, centre + _PROBES),
    )
    return fitting(plane.matrices(*near.points()), bounds)[0]


def _narrowed(plane: Plane, left: _Stretches, bounds: Sequence[Bound]) -> _Stretches:
    """Only the fp that every bound leaves, and only the stretches where any is left."""
    for bound in bounds:
        if not len(left):
            break
        left = _by(plane, left, bound)
    return left


def _by(plane: Plane, left: _Stretches, bound: Bound) -> _Stretches:
    with_tp, with_fp = bound.rises
    low, high = ends(bound)
    least, most = low - slack(low), high + slack(high)

    def reaches(here: _Stretches, y: Integers) -> Booleans:
        return _value(plane, bound, here.t1 if with_tp >= 0 else here.t0, y) >= least

    def stays(here: _Stretches, y: Integers) -> Booleans:
        return _value(plane, bound, here.t0 if with_tp >= 0 else here.t1, y) <= most

    upper, lower = (reaches, stays) if with_fp <= 0 else (stays, reaches)
    left = left.where(lower(left, left.y1) & upper(left, left.y0))
    first, last = _first(lower, left), _last(upper, left)
    here = first <= last
    return _Stretches(left.t0[here], left.t1[here], first[here], last[here])


def _first(holds: _Test, left: _Stretches) -> Integers:
    """The smallest fp from which on the test holds; it holds at the last.

    A formula of few points costs as much as one of a point, so that few stretches are cut into
    many parts at once.
    """
    low, high = left.y0, left.y1
    parts = _CUT_INTO if len(left) <= _MOST_CUT else 2
    cut = np.arange(1, parts, dtype=np.int64)[:, None]
    while (unknown := low < high).any():
        whole, rest = (high - low) // parts, (high - low) % parts
        tried: Integers = low + whole * cut + rest * cut // parts
        good = holds(left, tried)
        found = np.where(good.any(axis=0), good.argmax(axis=0), parts - 1)
        edges = np.concatenate([low[None] - 1, tried, high[None]])
        low, high = (
            np.where(unknown, _picked(edges, found) + 1, low),
            np.where(unknown, _picked(edges, found + 1), high),
        )
    return low


def _picked(rows: Integers, which: Integers) -> Integers:
    picked: Integers = np.take_along_axis(rows, which[None], axis=0)[0]
    return picked


def _last(holds: _Test, left: _Stretches) -> Integers:
    """The largest fp up to which the test holds; it holds at the first."""
    ends = left.y0 + left.y1
    return ends - _first(lambda here, y: holds(here, ends - y), left)


def _value(plane: Plane, bound: Bound, tp: Integers, fp: Integers) -> Floats:
    """The formula at these points, continued to where it is undefined so that it stays monotone."""
    tp, fp = np.broadcast_arrays(tp, fp)
    value = plane.matrices(tp, fp).values(bound.expression)
    if not np.isnan(value).any():
        return value
    p, n = plane.positives, plane.negatives
    beside = np.where((tp == 0) & (fp == 0), 1, np.where((tp == p) & (fp == n), n - 1, fp))
    value = np.where(np.isnan(value), plane.matrices(tp, beside).values(bound.expression), value)
    return np.where(np.isnan(value), np.inf, value) if bound.endless else value
