"""Intervals for measures of scores and probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from assay.errors import MethodError
from assay.inference.delta import on_scale
from assay.inference.proportions import ClopperPearson, Wilson
from assay.inference.quantiles import check_level, normal, student
from assay.measures import ByRow, ClassAverage, Interval, OverPairs, Ranked, Share, Smooth
from assay.tally import Sample
from assay.tally.sums import Moments

# DeLong's variance is trusted from this many expected errors on the smaller side.
ENOUGH_ERRORS = 5


@dataclass(frozen=True)
class DeLong:
    """DeLong's variance of the AUC, on the logit scale."""

    level: float = 0.95
    name: ClassVar[str] = "delong"

    def __post_init__(self) -> None:
        check_level(self.level)

    def __call__(self, auc: Smooth, positives: Any, negatives: Any) -> tuple[float, float]:
        """The interval; at an AUC of 0 or 1 its far end is that of Clopper and Pearson."""
        if auc.value in (0.0, 1.0):
            return _edge(auc.value, min(positives, negatives), self.level)
        if math.isnan(auc.variance):
            return Newcombe(self.level)(auc, positives, negatives)
        return on_scale(auc.value, auc.variance, (0, 1), normal(self.level))


@dataclass(frozen=True)
class Newcombe:
    """Newcombe's method 5 for the AUC: a score interval, good where errors are few.

    ``stretch`` multiplies its variance, which assumes a shape of the scores.
    """

    level: float = 0.95
    stretch: float = 1.0
    name: ClassVar[str] = "newcombe"

    def __post_init__(self) -> None:
        check_level(self.level)

    def __call__(self, auc: Smooth, positives: Any, negatives: Any) -> tuple[float, float]:
        """Where the AUC differs from the estimate by z standard errors of its own."""
        reach = normal(self.level) ** 2 * self.stretch

        def excess(theta: float) -> float:
            variance = newcombe_variance(theta, positives, negatives)
            return (theta - auc.value) ** 2 - reach * variance

        low = 0.0 if auc.value == 0 else _root(excess, auc.value, 0.0)
        high = 1.0 if auc.value == 1 else _root(excess, auc.value, 1.0)
        return low, high


def newcombe_variance(auc: float, positives: Any, negatives: Any) -> float:
    """The variance that method 5 gives an AUC: that of exponential scores, both sides alike."""
    half = (positives + negatives) / 2
    spread = 2 * half - 1 - 3 * (half - 1) / ((2 - auc) * (1 + auc))
    return float(auc * (1 - auc) * spread / (positives * negatives))


def _root(excess: Any, inside: float, outside: float) -> float:
    """Bisection down to neighbouring floats: negative inside, not negative outside."""
    for _ in range(200):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        if excess(middle) < 0:
            inside = middle
        else:
            outside = middle
    return inside


def _edge(value: float, n: Any, level: float) -> tuple[float, float]:
    """The interval of n successes, or none, in n trials."""
    low, high = ClopperPearson(level)(n if value > 0 else 0, n)
    return float(low), float(high)


def auc_interval(
    auc: Smooth, positives: Any, negatives: Any, level: float
) -> tuple[tuple[float, float], str]:
    """The default interval of an AUC and its name.

    Where errors are few, Newcombe's method 5; its variance is raised to DeLong's where that is the
    larger, since a few attacks that look like normal rows make all the errors of many a detector.
    """
    smaller = min(positives, negatives)
    if auc.value in (0.0, 1.0):
        return _edge(auc.value, smaller, level), "clopper-pearson"
    errors = smaller * min(auc.value, 1 - auc.value)
    # Scores that are all equal have no spread; they are not therefore sure.
    if errors >= ENOUGH_ERRORS and auc.variance > 0:
        return DeLong(level)(auc, positives, negatives), "delong"
    assumed = newcombe_variance(auc.value, positives, negatives)
    stretch = 1.0 if math.isnan(auc.variance) else max(auc.variance / assumed, 1.0)
    return Newcombe(level, stretch)(auc, positives, negatives), "newcombe"


def influence_interval(
    found: Smooth, smaller: float, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """The interval of average precision, by the influence of each row and Student's t.

    ``smaller`` is how many rows the smaller class has: its degrees of freedom, and what bounds a
    value at the edge.
    """
    low, high = bounds
    if math.isnan(found.variance) or not low < found.value < high or found.variance == 0:
        if math.isinf(high):
            return math.nan, math.nan
        if low < found.value < high:
            # Scores that are all equal have no spread; they are not therefore sure.
            share = (found.value - low) / (high - low)
            below, above = (float(end) for end in Wilson(level)(share * smaller, smaller))
            return low + below * (high - low), low + above * (high - low)
        below, above = _edge(1.0 if found.value > (low + high) / 2 else 0.0, smaller, level)
        return (
            min(found.value, low + below * (high - low)),
            max(found.value, low + above * (high - low)),
        )
    return on_scale(found.value, found.variance, bounds, student(level, max(smaller - 1, 1)))


def partial_interval(
    found: Smooth, positives: float, inside: float, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """The interval of a partial AUC; ``inside`` is how many negatives lie left of its limit.

    It is read as an AUC against those negatives alone: with few errors, by Newcombe's method.
    """
    low, high = bounds
    share = (found.value - low) / (high - low)
    variance = found.variance / (high - low) ** 2
    errors = min(positives, inside) * (1 - share)
    if 0 < share < 1 and errors < ENOUGH_ERRORS and variance > 0:
        stretch = max(variance / newcombe_variance(share, positives, inside), 1.0)
        ends = Newcombe(level, stretch)(Smooth(share, variance), positives, inside)
        return low + ends[0] * (high - low), low + ends[1] * (high - low)
    return influence_interval(found, min(positives, inside), bounds, level)


def ranked_interval(
    declared: Ranked,
    found: Smooth,
    sizes: tuple[float, float],
    bounds: tuple[float, float],
    level: float,
) -> tuple[tuple[float, float], str]:
    """The default interval of a measure of a ranking, and its name; ``sizes`` are P and N."""
    positives, negatives = sizes
    match declared.interval:
        case Interval.AUC:
            return auc_interval(found, positives, negatives, level)
        case Interval.PARTIAL:
            inside = max(declared.reach * negatives, 1.0)
            return partial_interval(found, positives, inside, bounds, level), "delta"
        case Interval.INFLUENCE:
            smaller = min(sizes) or positives
            return influence_interval(found, smaller, bounds, level), "delta"
    raise MethodError(f"a measure of a ranking has no interval {declared.interval.name}")


def averaged_interval(
    sample: Sample,
    declared: ClassAverage | OverPairs,
    parts: Sequence[Share],
    bounds: tuple[float, float],
    level: float,
) -> tuple[float, float]:
    """The interval of an average over classes that share their rows, by each row's influence.

    A part with few errors has too little spread to be believed. By how much its own interval is
    wider than its spread says is added to either end, as squares add.
    """
    ranked = declared.ranked
    value = math.fsum(part.weight * part.found.value for part in parts)
    spread = _class_spread(sample, declared)
    smallest = min(min(part.positives, part.negatives) for part in parts)
    by_auc = ranked.interval is Interval.AUC
    reach = normal(level) if by_auc else student(level, max(smallest - 1, 1))
    ends = on_scale(value, spread, bounds, reach) if spread > 0 else (value, value)
    short = [0.0, 0.0]
    for weight, found, positives, negatives in parts:
        share = (found.value - bounds[0]) / (bounds[1] - bounds[0])
        errors = min(positives, negatives) * min(share, 1 - share)
        known = reach**2 * found.variance if found.variance > 0 else 0.0
        if errors < ENOUGH_ERRORS or not known:
            own = ranked_interval(ranked, found, (positives, negatives), bounds, level)[0]
            for side, end in enumerate(own):
                more = max((end - found.value) ** 2 - known, 0.0)
                short[side] = math.hypot(short[side], weight * math.sqrt(more))
    low, high = (
        _farther(value, end, more, bound)
        for end, more, bound in zip(ends, short, bounds, strict=True)
    )
    return low, high


def _farther(value: float, end: float, more: float, bound: float) -> float:
    """An end moved out by independent error, as squares add, but never beyond the bound."""
    room = abs(bound - value)
    if not room:
        return value
    a, b = abs(end - value) / room, min(more / room, 1.0)
    return value + (bound - value) * math.sqrt(a**2 + b**2 - (a * b) ** 2)


def _class_spread(sample: Sample, declared: ClassAverage | OverPairs) -> float:
    """The variance of an average over classes, rows independent."""
    squares = sample.amounts_squared * declared.moves(sample, 0)[1] ** 2
    by_class: Any = np.bincount(sample.truth, squares, minlength=len(sample.labels))
    if declared.unbiased and not sample.weighted:
        sizes = np.bincount(sample.truth, sample.counts, minlength=len(sample.labels))
        by_class = by_class * sizes / np.maximum(sizes - 1, 1)
    return math.fsum(by_class)


def mean_interval(moments: Moments, largest: float, level: float) -> tuple[float, float]:
    """The interval of a mean loss that is at most ``largest`` a row, on the log scale."""
    mean = moments.mean
    n = moments.weight**2 / moments.square_weight
    if mean <= 0:
        return 0.0, largest * _edge(0.0, n, level)[1]
    if n - 1 < 1e-9:
        return 0.0, largest
    spread = moments.variance_of_mean * n / (n - 1)
    low, high = on_scale(mean, spread, (0, math.inf), student(level, n - 1))
    return low, min(high, largest)


# -- clusters --------------------------------------------------------------------------------------


def clustered(
    sample: Sample,
    declared: ByRow,
    value: float,
    bounds: tuple[float, float],
    level: float,
) -> tuple[float, float]:
    """The interval of a score measure when rows come in clusters, by influence and Student's t.

    ``value`` is the estimate; nan where there are too few clusters, or it lies at an edge.
    """
    count = len(sample.clusters)
    if count < 2 or not bounds[0] < value < bounds[1]:
        return math.nan, math.nan
    moved = declared.moves(sample, 0)[1]
    sums = np.bincount(sample.cluster, moved * sample.counts, minlength=count)
    spread = float(np.square(sums).sum()) * count / (count - 1)
    return on_scale(value, spread, bounds, student(level, count - 1))
