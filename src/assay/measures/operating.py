"""Measures that are read off the points of a ROC curve, and by how much each row moves them.

A point holds how many positives and negatives are flagged from one score on. A measure of those
points is told by its value and by its gradient: what one more hit or false alarm at each point, and
one more row of each class, would change. A row counts at all points up to its own score, so running
sums of the gradient are its influence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.measures.hull import upper_hull
from assay.measures.influence import Influence
from assay.tally import ScoreTally

Floats: TypeAlias = npt.NDArray[np.float64]

# How far around a point the slope of the curve is looked for, in standard errors of its rate.
_REACH = 1.96
TOP_SHARE = 0.1


class Points(NamedTuple):
    """What is flagged from each score on, lowest score first; and the rows of both classes.

    ``effective`` is as how many rows the positives and negatives count that have sampling weights.
    """

    tp: Floats
    fp: Floats
    positives: float
    negatives: float
    effective: tuple[float, float]

    @classmethod
    def of(cls, tally: ScoreTally) -> Points:
        """The points of a binary score tally."""
        fp, tp = (np.cumsum(side[::-1])[::-1].astype(np.float64) for side in tally.counts)
        negatives, positives = tally.effective()
        return cls(tp, fp, float(tp[0]), float(fp[0]), (positives, negatives))

    @property
    def recall(self) -> Floats:
        """The share of positives flagged; 0 after the highest score."""
        return np.append(self.tp, 0.0) / self.positives

    @property
    def fpr(self) -> Floats:
        """The share of negatives flagged; 0 after the highest score."""
        return np.append(self.fp, 0.0) / self.negatives


class _Gradient:
    """What a hit or a false alarm more at each point changes, and a row more of each class."""

    def __init__(self, points: Points) -> None:
        self._points = points
        # One more than there are scores: above the highest nothing is flagged, whatever comes.
        self._by_recall = np.zeros(len(points.tp) + 1)
        self._by_fpr = np.zeros(len(points.tp) + 1)
        self.by_share = 0.0

    def add(self, at: int | npt.NDArray[np.int64], *, recall: Any = 0.0, fpr: Any = 0.0) -> None:
        """Add what the detection rate and the false positive rate of a point count for."""
        np.add.at(self._by_recall, at, recall)
        np.add.at(self._by_fpr, at, fpr)

    def influence(self, value: float) -> Influence:
        """The influence of a row of each class at each score.

        ``by_share`` is what the share of positives counts for.
        """
        points = self._points
        moves = []
        for by, rate, rows in (
            (self._by_recall, points.recall, points.positives),
            (self._by_fpr, points.fpr, points.negatives),
        ):
            # A row flagged at a point raises the rate by what is missing to 1, else lowers it.
            moves.append((np.cumsum(by[:-1]) - float((by * rate).sum())) / rows)
        total = points.positives + points.negatives
        share = points.positives / total
        return Influence(
            value,
            moves[0] + self.by_share * (1 - share) / total,
            moves[1] - self.by_share * share / total,
        )


# -- the detection rate at a false positive rate ---------------------------------------------------


def last_within(points: Points, max_fpr: float) -> int:
    """The lowest score with at most this share of negatives flagged; beyond the last where none is.

    The limit is the decimal that was written: 3 of 30 negatives are within 0.1.
    """
    limit = float(Fraction(repr(max_fpr)) * Fraction(points.negatives))
    return int(np.searchsorted(-points.fp, -limit * (1 + 1e-12)))


def recall_at_influence(tally: ScoreTally, max_fpr: float) -> Influence:
    """The highest detection rate at a false positive rate of at most ``max_fpr``."""
    points = Points.of(tally)
    at = last_within(points, max_fpr)
    recall, fpr = points.recall, points.fpr
    reach = _REACH * math.sqrt(max_fpr * (1 - max_fpr) / points.effective[1])
    low = int(np.searchsorted(-fpr, -(max_fpr + reach)))
    high = min(int(np.searchsorted(-fpr, -max(max_fpr - reach, 0.0))), len(recall) - 1)
    across = fpr[low] - fpr[high]
    slope = (recall[low] - recall[high]) / across if across > 0 else 0.0
    gradient = _Gradient(points)
    gradient.add(at, recall=1.0, fpr=-slope)
    return gradient.influence(float(recall[at]))


# -- equal errors, and the farthest point from chance ----------------------------------------------


def equal_error_influence(tally: ScoreTally) -> Influence:
    """The rate at which misses and false positives are alike, on the lines between the points."""
    points = Points.of(tally)
    recall, fpr = points.recall, points.fpr
    excess = fpr + recall - 1
    before = int(np.searchsorted(-excess, 0.0, side="right")) - 1
    after = before + 1
    share = excess[before] / (excess[before] - excess[after])
    value = float(fpr[before] + share * (fpr[after] - fpr[before]))
    spread = value * (1 - value) * sum(1 / rows for rows in points.effective)
    reach = _REACH * math.sqrt(max(spread, 0.0))
    low = min(max(int(np.searchsorted(-excess, -reach, side="right")) - 1, 0), before)
    high = max(min(int(np.searchsorted(-excess, reach)), len(excess) - 1), after)
    up, across = recall[low] - recall[high], fpr[low] - fpr[high]
    # Along a curve of slope up / across an error of one rate is shared out by both.
    of_fpr, of_recall = up / (up + across), across / (up + across)
    gradient = _Gradient(points)
    gradient.add(before, recall=-(1 - share) * of_recall, fpr=(1 - share) * of_fpr)
    gradient.add(after, recall=-share * of_recall, fpr=share * of_fpr)
    return gradient.influence(value)


def farthest_influence(tally: ScoreTally) -> Influence:
    """The largest distance of detection rate and false positive rate over all thresholds.

    Where it is largest the threshold does not matter to first order, so it is taken as given.
    """
    points = Points.of(tally)
    apart = points.recall - points.fpr
    at = int(apart.argmax())
    gradient = _Gradient(points)
    gradient.add(at, recall=1.0, fpr=-1.0)
    return gradient.influence(float(apart[at]))


# -- the H measure ---------------------------------------------------------------------------------

# The two parameters of a beta distribution of costs, from the share of positives.
Prior: TypeAlias = Callable[[float], tuple[float, float]]


def severe_by_class(share: float) -> tuple[float, float]:
    """Costs whose mode makes the two classes count alike."""
    return 2.0, 1.0 + (1 - share) / share


def symmetric_costs(share: float) -> tuple[float, float]:  # noqa: ARG001 - whatever the share is
    """Costs around one half, alike for both errors."""
    return 2.0, 2.0


def h_influence(tally: ScoreTally, prior: Prior) -> Influence:
    """One minus the expected least loss, relative to that of the better trivial classifier.

    The cost c of a false alarm, 1 - c of a miss, is drawn from a beta distribution. Each corner of
    the hull is the best choice for some costs; the share of them and their means are the weights of
    its two rates.
    """
    points = Points.of(tally)
    recall, fpr = points.recall, points.fpr
    # From nothing flagged to everything flagged.
    corners = len(fpr) - 1 - upper_hull(fpr[::-1], recall[::-1])
    share = points.positives / (points.positives + points.negatives)
    value, by_recall, by_fpr = _h(recall[corners], fpr[corners], share, prior)
    step = 1e-3 * min(share, 1 - share)
    near, far = (
        [_h(recall[corners], fpr[corners], share + s, prior)[0] for s in (-reach, reach)]
        for reach in (step, 2 * step)
    )
    gradient = _Gradient(points)
    gradient.add(corners, recall=by_recall, fpr=by_fpr)
    gradient.by_share = (8 * (near[1] - near[0]) - (far[1] - far[0])) / (12 * step)
    return gradient.influence(value)


def _h(recall: Floats, fpr: Floats, share: float, prior: Prior) -> tuple[float, Floats, Floats]:
    """The H measure of the corners of a hull, and its slope by their rates."""
    up, across = np.diff(recall), np.diff(fpr)
    # Costs of a false alarm at which the next corner becomes the better one.
    turns = share * up / (share * up + (1 - share) * across)
    of_alarms, of_misses = _masses(np.concatenate(([1.0], turns, [0.0])), prior(share))
    by_fpr, by_recall = (1 - share) * of_alarms, share * of_misses
    loss = float((by_fpr * fpr).sum() + (by_recall * (1 - recall)).sum())
    alarms, misses = _masses(np.array([1.0, share, 0.0]), prior(share))
    trivial = float((1 - share) * alarms[1] + share * misses[0])
    return 1 - loss / trivial, by_recall / trivial, -by_fpr / trivial


def _masses(ends: Floats, parameters: tuple[float, float]) -> tuple[Floats, Floats]:
    """The integrals of c and of 1 - c over costs between falling ends."""
    from scipy.special import betainc

    a, b = parameters
    of_c = a / (a + b) * -np.diff(betainc(a + 1, b, ends))
    of_rest = b / (a + b) * -np.diff(betainc(a, b + 1, ends))
    return of_c, of_rest


# -- precision-recall gain -------------------------------------------------------------------------


def gain_area_influence(tally: ScoreTally) -> Influence:
    """The area under the precision-recall-gain curve from a recall gain of 0 on.

    Lines between points are straight in gains. With r the odds of the classes, a point has gains of
    1 - r FP / TP and 1 - r FN / TP; in rates they are 1 - f / t and 1 - r (1 - t) / t, for f the
    false positive rate and t the detection rate.
    """
    points = Points.of(tally)
    odds = points.positives / points.negatives
    share = points.positives / (points.positives + points.negatives)
    recall, fpr = points.recall[::-1], points.fpr[::-1]
    first = int(np.searchsorted(recall, share, side="left"))
    # A detection rate of the share of positives is a recall gain of 0: the curve starts there.
    part = (share - recall[first - 1]) / (recall[first] - recall[first - 1])
    start = fpr[first - 1] + part * (fpr[first] - fpr[first - 1])
    t, f = np.append(share, recall[first:]), np.append(start, fpr[first:])
    of_recall, of_precision = 1 - odds * (1 - t) / t, 1 - f / t
    of_recall[0] = 0.0
    value = float((np.diff(of_recall) * (of_precision[1:] + of_precision[:-1])).sum() / 2)
    # The slope by each gain, then by the rates behind it.
    padded = np.concatenate((of_precision[:1], of_precision, of_precision[-1:]))
    by_recall_gain = (padded[:-2] - padded[2:]) / 2
    by_recall_gain[-1] = (of_precision[-2] + of_precision[-1]) / 2
    padded = np.concatenate((of_recall[:1], of_recall, of_recall[-1:]))
    by_precision_gain = (padded[2:] - padded[:-2]) / 2
    by_t = by_recall_gain * odds / t**2 + by_precision_gain * f / t**2
    by_f = -by_precision_gain / t
    by_odds = float((by_recall_gain[1:] * -(1 - t[1:]) / t[1:]).sum())
    gradient = _Gradient(points)
    last = len(recall) - 1
    at = last - np.arange(first, len(recall))
    gradient.add(at, recall=by_t[1:], fpr=by_f[1:])
    # The start moves with the points around it and with the share of positives.
    slope = (fpr[first] - fpr[first - 1]) / (recall[first] - recall[first - 1])
    gradient.add(last - first, fpr=by_f[0] * part, recall=-by_f[0] * slope * part)
    gradient.add(last - first + 1, fpr=by_f[0] * (1 - part), recall=-by_f[0] * slope * (1 - part))
    by_start = by_precision_gain[0] * f[0] / t[0] ** 2 + by_f[0] * slope
    gradient.by_share = by_odds / (1 - share) ** 2 + by_start
    return gradient.influence(value)


# -- the rows that score highest -------------------------------------------------------------------


def top_lift_influence(tally: ScoreTally, top: float = TOP_SHARE) -> Influence:
    """How many times the share of positives is found among the highest scores.

    A score at which the limit is crossed is shared out in proportion.
    """
    points = Points.of(tally)
    total = points.positives + points.negatives
    flagged = np.append(points.tp + points.fp, 0.0)
    after = int(np.searchsorted(-flagged, -top * total))
    before = max(after - 1, 0)
    step = flagged[before] - flagged[after]
    part = (top * total - flagged[after]) / step if step else 0.0
    recall = points.recall
    held = float(recall[after] + part * (recall[before] - recall[after]))
    # Rows near the limit: by how much the detection rate rises with the share that is flagged.
    reach = _REACH * math.sqrt(top * (1 - top) / sum(points.effective)) * total
    low = max(int(np.searchsorted(-flagged, -(top * total + reach), side="right")) - 1, 0)
    high = min(int(np.searchsorted(-flagged, -(top * total - reach))), len(flagged) - 1)
    slope = (recall[low] - recall[high]) / (flagged[low] - flagged[high]) * total
    inside = np.zeros(len(points.tp))
    inside[after:] = 1.0
    if before < after:
        inside[before] = part
    crowded = slope * (inside - top) / total
    return Influence(
        held / top,
        ((inside - held) / points.positives - crowded) / top,
        -crowded / top,
    )
