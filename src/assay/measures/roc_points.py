"""The points of a ROC curve, what is read off them, and by how much one more row would move that.

A point holds how many positives and negatives are flagged from one score on. Points below the
convex hull are never the best choice, whatever errors cost and however rare attacks are.

The influence of a row is by how much it moves a measure of scores. The mean of the squares of these
moves is the variance of the measure: with sampling weights, with clusters, and for differences
between models. Without those, :mod:`assay.measures.auc` finds the same from block sums, faster.

A measure of points is told by its value and its gradient: what the detection rate and the false
positive rate of each point, and the share of positives, count for. A row counts at all points up to
its own score, so running sums of the gradient are its influence.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import ScoreCounts
from assay.counts.blocks import map_blocks

Array: TypeAlias = npt.NDArray[Any]

# Below this the products of two counts are exact in 64 bits.
_EXACT = 1 << 31
# Fewer points than this are walked one by one, and so are those of which hardly any go at once.
_FEW, _HARDLY = 128, 0.9


def upper_hull(x: Array, y: Array) -> npt.NDArray[np.int64]:
    """The positions of the corners of the upper hull of points that never fall in x or y.

    Points on a straight line between corners are none. Whole numbers are compared exactly.

    >>> upper_hull(np.array([0, 0, 1, 2, 3]), np.array([0, 2, 2, 3, 3])).tolist()
    [0, 1, 3, 4]
    """
    if not len(x):
        return np.empty(0, np.int64)
    # A corner is the last point of its x and higher than those before; the first point is one too.
    # Of equal points it is the last one: two of them would each hide the other.
    moved = (x != x[0]) | (y != y[0])
    first = (int(moved.argmax()) if moved[-1] else len(x)) - 1
    ends = np.concatenate((np.flatnonzero(x[1:] != x[:-1]), [len(x) - 1]))
    heights = y[ends]
    ends = ends[np.concatenate((heights[:1] != y[0], heights[1:] != heights[:-1]))]
    kept = np.concatenate(([first], ends[(ends > first) & (ends < len(x) - 1)], [len(x) - 1]))
    kept = kept[first == len(x) - 1 :]
    x, y = x[kept], y[kept]
    whole = x.dtype.kind in "iu" and y.dtype.kind in "iu"
    kind: Any = np.int64 if max(int(x[-1]), int(y[-1])) < _EXACT else object
    if whole:
        x, y = x.astype(kind), y.astype(kind)
    while len(kept) > _FEW:
        # A point that is not above the line between its neighbours is no corner.
        above = np.concatenate(([True], _turns(x, y) < 0, [True]))
        kept, x, y = kept[above], x[above], y[above]
        if above.sum() > _HARDLY * len(above):
            break
    points = list(zip(kept.tolist(), x.tolist(), y.tolist(), strict=True))
    held: list[tuple[int, Any, Any]] = []
    for at, across, up in points:
        while len(held) > 1:
            (_, x0, y0), (_, x1, y1) = held[-2:]
            if (x1 - x0) * (up - y0) - (y1 - y0) * (across - x0) < 0:
                break
            held.pop()
        held.append((at, across, up))
    return np.array([at for at, _, _ in held], np.int64)


def _turns(x: Array, y: Array) -> Array:
    """Negative where the way over a point turns right: where it is above its neighbours' line."""
    to_x, to_y = x[1:-1] - x[:-2], y[1:-1] - y[:-2]
    return np.asarray(to_x * (y[2:] - y[:-2]) - to_y * (x[2:] - x[:-2]))


# -- influence -------------------------------------------------------------------------------------

Floats: TypeAlias = npt.NDArray[np.float64]

MAX_FPR = 0.1


class Influence(NamedTuple):
    """A value, and by how much a further positive or negative at each score would move it."""

    value: float
    positive: Floats
    negative: Floats

    def variance(self, table: ScoreCounts, *, unbiased: bool = False) -> float:
        """The variance when rows are independent, by its sandwich form.

        ``unbiased`` divides by one row less on each side, where rows have no sampling weights.
        """
        squares = table.counts if table.squares is None else table.squares
        total = 0.0
        for side, moves in ((1, self.positive), (0, self.negative)):
            n = float(table.counts[side].sum())
            spread = float((squares[side] * moves**2).sum())
            if unbiased and not table.weighted:
                spread = spread * n / (n - 1) if n > 1 else math.nan
            total += spread
        return total


def auc_influence(table: ScoreCounts) -> Influence:
    """AUC: the share of negatives above a positive, and of positives below a negative."""
    q, p, negatives, positives = _sides(table)
    of_positive = (negatives - np.cumsum(q) + q / 2) / negatives
    of_negative = (np.cumsum(p) - p / 2) / positives
    error = float((p * of_positive).sum()) / positives
    return Influence(
        1 - error, (error - of_positive) / positives, (error - of_negative) / negatives
    )


def ap_influence(table: ScoreCounts) -> Influence:
    """Average precision; see ``_precision_sums`` of the ranking."""
    q, p, _, positives = _sides(table)
    # Summed from the highest score, where small weights must not drown in the total.
    above_p, above_q = (np.cumsum(side[::-1])[::-1] for side in (p, q))
    alerts = above_p + above_q
    shortfall = float((p * above_q / alerts).sum()) / positives
    gain = np.cumsum(p * above_q / alerts**2) - above_q / alerts + shortfall
    loss = np.cumsum(p * above_p / alerts**2)
    return Influence(1 - shortfall, gain / positives, -loss / positives)


def partial_influence(
    table: ScoreCounts, max_fpr: float = MAX_FPR, *, corrected: bool = True
) -> Influence:
    """The partial area, corrected or not; see ``_partial_area`` of the ranking."""
    q, p, negatives, positives = _sides(table)
    above = negatives - np.cumsum(q)
    room = np.clip(max_fpr * negatives - above, 0, q)
    share = np.divide(room, q, out=(above < max_fpr * negatives).astype(float), where=q > 0)
    gained = share * (max_fpr - (above + room / 2) / negatives)
    area = float((p * gained).sum()) / positives
    passed = share * (np.cumsum(p * share) - p * share / 2) / positives
    mean = float((q * passed).sum()) / negatives
    of_positive, of_negative = (gained - area) / positives, (mean - passed) / negatives
    if not corrected:
        return Influence(area, of_positive, of_negative)
    value, stretch = correct_partial(area, max_fpr)
    return Influence(value, of_positive * stretch, of_negative * stretch)


def _sides(table: ScoreCounts) -> tuple[Floats, Floats, float, float]:
    q, p = table.counts.astype(np.float64)
    return q, p, float(q.sum()), float(p.sum())


def correct_partial(area: float, max_fpr: float) -> tuple[float, float]:
    """McClish's rescaling of a partial area, and the factor by which it stretches."""
    least = max_fpr**2 / 2
    stretch = 1 / (2 * (max_fpr - least))
    return 0.5 + (area - least) * stretch, stretch


# -- points, and readings of them ------------------------------------------------------------------

Positions: TypeAlias = npt.NDArray[np.int64]

# Beside a class that has less than this share of all, the other has 1 of it, rounded.
_LEAST_SHARE = 2.0**-52
LOPSIDED = "one class has less than 2^-52 of all rows or of the weight, which rounds to none"
# How far around a point the slope of the curve is looked for, in standard errors of its rate.
_REACH = 1.96
TOP_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Points:
    """What is flagged from each score on, lowest score first; last, above all of them, nothing.

    ``effective`` is as how many rows the positives and negatives count that have sampling weights.
    """

    tp: Floats
    fp: Floats
    effective: tuple[float, float]

    @classmethod
    def of(cls, table: ScoreCounts) -> Points:
        """The points of binary score counts."""
        sums = np.zeros((2, table.size + 1))
        np.cumsum(table.counts[:, ::-1], axis=1, out=sums[:, 1:])
        negatives, positives = table.effective()
        return cls(sums[1, ::-1], sums[0, ::-1], (positives, negatives))

    def swapped(self) -> Points:
        """The points with the other class as the positive one, and scores turned over."""
        return Points(
            self.negatives - self.fp[::-1], self.positives - self.tp[::-1], self.effective[::-1]
        )

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def positives(self) -> float:
        """All positives, or the sum of their weights."""
        return float(self.tp[0])

    @property
    def negatives(self) -> float:
        """All negatives, or the sum of their weights."""
        return float(self.fp[0])

    @property
    def share(self) -> float:
        """The share of positives."""
        return self.positives / (self.positives + self.negatives)

    @property
    def lopsided(self) -> bool:
        """Whether one class rounds to none beside the other."""
        return is_lopsided(self.positives, self.negatives)

    def rates(self, at: int) -> tuple[float, float]:
        """The detection rate and the false positive rate of one point."""
        return float(self.tp[at] / self.positives), float(self.fp[at] / self.negatives)

    @cached_property
    def corners(self) -> Positions:
        """The corners of the convex hull, from nothing flagged to everything."""
        return len(self) - 1 - upper_hull(self.fp[::-1], self.tp[::-1])

    @cached_property
    def hull(self) -> tuple[Floats, Floats]:
        """The detection rates and the false positive rates of the corners."""
        corners = self.corners
        return self.tp[corners] / self.positives, self.fp[corners] / self.negatives

    def first_below(self, limit: float, of: Callable[[int], float]) -> int:
        """The first point at which what never rises along the points is at most the limit."""
        return bisect.bisect_left(range(len(self)), -limit, key=lambda at: -of(at))

    def slope(self, low: int, high: int) -> tuple[float, float]:
        """How far the detection rate and the false positive rate rise between two points."""
        (high_recall, high_fpr), (low_recall, low_fpr) = self.rates(low), self.rates(high)
        return high_recall - low_recall, high_fpr - low_fpr


def is_lopsided(positives: float, negatives: float) -> bool:
    """Whether one class rounds to none beside the other.

    >>> is_lopsided(1, 1e9), is_lopsided(1e32, 1)
    (False, True)
    """
    return min(positives, negatives) < _LEAST_SHARE * (positives + negatives)


@dataclass(frozen=True, eq=False)
class RocReading:
    """The value of a measure of points, and what the rates of some of them count for."""

    points: Points
    value: float
    at: Positions
    by_recall: Floats
    by_fpr: Floats
    by_share: float = 0.0

    def influence(self) -> Influence:
        """By how much a row of each class at each score moves the value."""
        moves = []
        for by, rows, shift in self._sides():
            gathered = np.zeros(len(self.points))
            np.add.at(gathered, self.at, by)
            moves.append(np.cumsum(gathered[:-1]) / rows + shift)
        return Influence(self.value, *moves)

    def variance(self) -> float:
        """The variance of rows without weights: between the points all rows move it alike."""
        order = np.argsort(self.at, kind="stable")
        at = np.concatenate(([0], self.at[order]))
        total = 0.0
        for (by, rows, shift), held in zip(
            self._sides(), (self.points.tp, self.points.fp), strict=True
        ):
            moves = np.concatenate(([0.0], np.cumsum(by[order]))) / rows + shift
            counts = held[at] - np.append(held[at[1:]], 0.0)
            total += float((counts * moves**2).sum())
        return total

    def _sides(self) -> list[tuple[Floats, float, float]]:
        """Of positives and of negatives: the gradient, the rows, and what every row moves."""
        points = self.points
        total = points.positives + points.negatives
        of_share = {1: 1 - points.share, 0: -points.share}
        sides = []
        for side, by, held in ((1, self.by_recall, points.tp), (0, self.by_fpr, points.fp)):
            rows = float(held[0])
            # A row that is not flagged at a point lowers its rate by as much as there is of it.
            mean = float((by * held[self.at]).sum()) / rows
            sides.append((by, rows, self.by_share * of_share[side] / total - mean / rows))
        return sides


def _unread(points: Points) -> RocReading:
    """The reading of points that tell no value."""
    nothing = np.zeros(0)
    return RocReading(points, math.nan, np.zeros(0, np.int64), nothing, nothing)


def _reading(
    points: Points, value: float, *terms: tuple[int, float, float], by_share: float = 0.0
) -> RocReading:
    """A reading of single points: each with what its two rates count for."""
    at, by_recall, by_fpr = zip(*terms, strict=True)
    return RocReading(
        points, value, np.array(at), np.array(by_recall, float), np.array(by_fpr, float), by_share
    )


# -- the detection rate at a false positive rate ---------------------------------------------------


def last_within(points: Points, max_fpr: float) -> int:
    """The lowest score with at most this share of negatives flagged; beyond the last where none is.

    The limit is the decimal that was written: 3 of 30 negatives are within 0.1.
    """
    limit = float(Fraction(repr(max_fpr)) * Fraction(points.negatives)) * (1 + 1e-12)
    return points.first_below(limit, lambda at: float(points.fp[at]))


def recall_at(points: Points, max_fpr: float) -> RocReading:
    """The highest detection rate at a false positive rate of at most ``max_fpr``."""
    at = last_within(points, max_fpr)
    reach = _REACH * math.sqrt(max_fpr * (1 - max_fpr) / points.effective[1])
    low = points.first_below(max_fpr + reach, lambda at: points.rates(at)[1])
    high = points.first_below(max(max_fpr - reach, 0.0), lambda at: points.rates(at)[1])
    up, across = points.slope(low, high)
    slope = up / across if across > 0 else 0.0
    return _reading(points, points.rates(at)[0], (at, 1.0, -slope))


# -- equal errors, and the farthest point from chance ----------------------------------------------


def equal_error(points: Points) -> RocReading:
    """The rate at which misses and false positives are alike, on the lines between the points."""

    def excess(at: int) -> float:
        recall, fpr = points.rates(at)
        return fpr - (1 - recall)

    # The last point that has more false positives than misses, or as many.
    before = bisect.bisect_right(range(len(points)), 0.0, key=lambda at: -excess(at)) - 1
    after = before + 1
    part = excess(before) / (excess(before) - excess(after))
    start, end = points.rates(before)[1], points.rates(after)[1]
    value = start + part * (end - start)
    spread = value * (1 - value) * sum(1 / rows for rows in points.effective)
    reach = _REACH * math.sqrt(max(spread, 0.0))
    low = bisect.bisect_right(range(len(points)), -reach, key=lambda at: -excess(at)) - 1
    high = bisect.bisect_left(range(len(points)), reach, key=lambda at: -excess(at))
    up, across = points.slope(max(low, 0), max(min(high, len(points) - 1), after))
    # Along a curve of slope up / across an error of one rate is shared out by both.
    of_fpr, of_recall = up / (up + across), across / (up + across)
    return _reading(
        points,
        value,
        (before, -(1 - part) * of_recall, (1 - part) * of_fpr),
        (after, -part * of_recall, part * of_fpr),
    )


def farthest(points: Points) -> RocReading:
    """The largest distance of detection rate and false positive rate over all thresholds.

    Where it is largest the threshold does not matter to first order, so it is taken as given.
    """

    def work(i: int, j: int) -> tuple[float, int]:
        apart = points.tp[i:j] / points.positives - points.fp[i:j] / points.negatives
        at = int(apart.argmax())
        return float(apart[at]), -(i + at)

    value, at = max(map_blocks(len(points), lambda: work))
    return _reading(points, value, (-at, 1.0, -1.0))


# -- the H measure ---------------------------------------------------------------------------------

# The two parameters of a beta distribution of costs, from the share of positives.
Prior: TypeAlias = Callable[[float], tuple[float, float]]


def severe_by_class(share: float) -> tuple[float, float]:
    """Costs whose mode makes the two classes count alike."""
    return 2.0, 1.0 + (1 - share) / share


def symmetric_costs(share: float) -> tuple[float, float]:  # noqa: ARG001 - whatever the share is
    """Costs around one half, alike for both errors."""
    return 2.0, 2.0


def h_measure(points: Points, prior: Prior) -> RocReading:
    """One minus the expected least loss, relative to that of the better trivial classifier.

    The cost c of a false alarm, 1 - c of a miss, is drawn from a beta distribution. Each corner of
    the hull is the best choice for some costs; the share of them and their means are the weights of
    its two rates.
    """
    if points.lopsided:
        return _unread(points)
    corners, share = points.corners, points.share
    recall, fpr = points.hull
    value, by_recall, by_fpr = _h(recall, fpr, share, prior)
    step = 1e-3 * min(share, 1 - share)
    near, far = (
        [_h(recall, fpr, share + s, prior)[0] for s in (-reach, reach)]
        for reach in (step, 2 * step)
    )
    by_share = (8 * (near[1] - near[0]) - (far[1] - far[0])) / (12 * step)
    return RocReading(points, value, corners, by_recall, by_fpr, by_share)


def h_measure_alone(points: Points, prior: Prior) -> float:
    """The H measure without its slopes."""
    return math.nan if points.lopsided else _h(*points.hull, points.share, prior)[0]


def _h(recall: Floats, fpr: Floats, share: float, prior: Prior) -> tuple[float, Floats, Floats]:
    """The H measure of the corners of a hull, and its slope by their rates."""
    from scipy.special import betainc

    up, across = recall[1:] - recall[:-1], fpr[1:] - fpr[:-1]
    # Costs of a false alarm at which the next corner becomes the better one.
    turns = share * up / (share * up + (1 - share) * across)
    a, b = prior(share)
    of_alarms, of_misses = _masses(np.concatenate(([1.0], turns, [0.0])), a, b)
    by_fpr, by_recall = (1 - share) * of_alarms, share * of_misses
    loss = float((by_fpr * fpr).sum() + (by_recall * (1 - recall)).sum())
    # The better trivial classifier flags everything where a false alarm costs less than the share
    # of positives, and nothing where it costs more.
    alarms = a / (a + b) * betainc(a + 1, b, share)
    misses = b / (a + b) * (1 - betainc(a, b + 1, share))
    trivial = float((1 - share) * alarms + share * misses)
    return 1 - loss / trivial, by_recall / trivial, -by_fpr / trivial


def _masses(ends: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """The integrals of c and of 1 - c over costs between falling ends."""
    from scipy.special import betainc

    of_c, of_rest = betainc(a + 1, b, ends), betainc(a, b + 1, ends)
    return a / (a + b) * (of_c[:-1] - of_c[1:]), b / (a + b) * (of_rest[:-1] - of_rest[1:])


# -- precision-recall gain -------------------------------------------------------------------------


def gain_area(points: Points) -> RocReading:
    """The area under the precision-recall-gain curve from a recall gain of 0 on.

    Lines between points are straight in gains. With t the detection rate, f the false positive rate
    and r the odds of the classes, a point has gains of precision 1 - f / t and of recall
    1 - r (1 - t) / t.
    """
    if points.lopsided:
        return _unread(points)
    odds, share = points.positives / points.negatives, points.share
    # A detection rate of the share of positives is a recall gain of 0: the curve starts there,
    # between the last point that detects as much and the first that does not.
    outer = bisect.bisect_right(range(len(points)), -share, key=lambda at: -points.rates(at)[0])
    inner = outer - 1
    slope_up, slope_across = points.slope(inner, outer)
    slope = slope_across / slope_up
    part = (share - points.rates(outer)[0]) / slope_up
    start = points.rates(outer)[1] + part * slope_across
    # Of points with one detection rate only the first and the last are corners.
    falls = points.tp[1 : inner + 1] != points.tp[:inner]
    corners = np.ones(inner + 1, bool)
    corners[1:-1] = falls[:-1] | falls[1:]
    at = np.flatnonzero(corners)[::-1]
    t = np.append(share, points.tp[at] / points.positives)
    f = np.append(start, points.fp[at] / points.negatives)
    of_recall, of_precision = 1 - odds * (1 - t) / t, 1 - f / t
    of_recall[0] = 0.0
    value = float((np.diff(of_recall) * (of_precision[1:] + of_precision[:-1])).sum() / 2)
    # The slope by each gain, then by the rates behind it.
    padded = np.concatenate((of_precision[:1], of_precision, of_precision[-1:]))
    by_recall_gain = (padded[:-2] - padded[2:]) / 2
    padded = np.concatenate((of_recall[:1], of_recall, of_recall[-1:]))
    by_precision_gain = (padded[2:] - padded[:-2]) / 2
    by_t = by_recall_gain * odds / t**2 + by_precision_gain * f / t**2
    by_f = -by_precision_gain / t
    # The start moves with the points around it and with the share of positives.
    by_odds = float((by_recall_gain[1:] * -(1 - t[1:]) / t[1:]).sum())
    by_start = by_precision_gain[0] * f[0] / t[0] ** 2 + by_f[0] * slope
    beside = by_f[0] * np.array([part, 1 - part])
    return RocReading(
        points,
        value,
        np.concatenate((at, [inner, outer])),
        np.concatenate((by_t[1:], -slope * beside)),
        np.concatenate((by_f[1:], beside)),
        by_odds / (1 - share) ** 2 + float(by_start),
    )


# -- the rows that score highest -------------------------------------------------------------------


def top_lift(points: Points, top: float = TOP_SHARE) -> RocReading:
    """How many times the share of positives is found among the highest scores.

    They are fewer than all; a score at which the limit is crossed is shared out in proportion.
    """
    share = points.share

    def flagged(at: int) -> float:
        return float(points.tp[at] + points.fp[at]) / (points.positives + points.negatives)

    after = points.first_below(top, flagged)
    before = after - 1
    part = (top - flagged(after)) / (flagged(before) - flagged(after))
    up, across = points.slope(before, after)
    held = points.rates(after)[0] + part * up
    # Rows near the limit: by how much the detection rate rises with the share that is flagged.
    reach = _REACH * math.sqrt(top * (1 - top) / sum(points.effective))
    low = max(points.first_below(top + reach, flagged) - 1, 0)
    high = min(points.first_below(top - reach, flagged), len(points) - 1)
    slope = points.slope(low, high)[0] / (flagged(low) - flagged(high))
    apart = points.rates(after)[0] - points.rates(after)[1] + part * (up - across)
    of_recall, of_fpr = (1 - slope * share) / top, -slope * (1 - share) / top
    return _reading(
        points,
        held / top,
        (after, (1 - part) * of_recall, (1 - part) * of_fpr),
        (before, part * of_recall, part * of_fpr),
        by_share=-slope * apart / top,
    )
