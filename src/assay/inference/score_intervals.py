"""Intervals for measures of scores and probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import Moments, Sample, ScoreCounts
from assay.errors import MethodError
from assay.inference.delta import ClusterSpread, between_clusters, cancels, on_scale
from assay.inference.loss_intervals import losses_of_rows, with_unseen_losses
from assay.inference.proportions import ClopperPearson, Wilson
from assay.inference.roc_point_intervals import equal_error_interval, farthest_interval, joined
from assay.inference.significance import check_level, normal, student
from assay.inference.unseen import (
    UNSEEN_ROWS,
    design_effect,
    influence_df,
    kurtosis_df,
    outward,
    seen_ends,
    unseen_scores,
    with_unseen,
    without_idle,
)
from assay.measures import (
    ByRow,
    ClassAverage,
    Interval,
    MeanLoss,
    OverPairs,
    Points,
    Ranked,
    Ranking,
    Share,
    Smooth,
    last_within,
)

Floats: TypeAlias = npt.NDArray[np.float64]

# DeLong's variance is trusted from this many expected errors on the smaller side.
ENOUGH_ERRORS = 5
# With more rows than these the optimism of a best threshold is small beside what few errors leave
# open.
_MOST_ROWS = 500_000
# A class of fewer effective rows than these, but for rounding, tells no spread.
_TWO = 1 + 1e-9


@dataclass(frozen=True)
class DeLong:
    """DeLong's variance of the AUC, on the logit scale."""

    level: float = 0.95
    name: ClassVar[str] = "delong"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))

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
        object.__setattr__(self, "level", check_level(self.level))

    def __call__(self, auc: Smooth, positives: Any, negatives: Any) -> tuple[float, float]:
        """Where the AUC differs from the estimate by z standard errors of its own."""
        reach = normal(self.level) ** 2 * self.stretch

        def excess(theta: float) -> float:
            variance = newcombe_variance(theta, positives, negatives)
            return (theta - auc.value) ** 2 - reach * variance

        return _root(excess, auc.value, 0.0), _root(excess, auc.value, 1.0)


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
    smooth: Smooth, smaller: float, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """The interval of a measure by the influence of each row and Student's t.

    ``smaller`` is how many rows the smaller class has: its degrees of freedom, and what bounds a
    value at the edge.
    """
    low, high = bounds
    if math.isnan(smooth.variance) or not low < smooth.value < high or smooth.variance == 0:
        if math.isinf(high):
            return math.nan, math.nan
        share = _share(smooth.value, bounds)
        if low < smooth.value < high:
            # Scores that are all equal have no spread; they are not therefore sure.
            ends = [float(end) for end in Wilson(level)(share * smaller, smaller)]
        else:
            ends = list(_edge(1.0 if share > 0.5 else 0.0, smaller, level))
        below, above = (_from_share(end, bounds) for end in ends)
        return min(smooth.value, below), max(smooth.value, above)
    return on_scale(smooth.value, smooth.variance, bounds, student(level, max(smaller - 1, 1)))


def _share(value: float, bounds: tuple[float, float]) -> float:
    """How far a value lies from the low end of its range to the high one.

    Where there is no low end, what is missing to the high one is read as odds.
    """
    low, high = bounds
    return 1 / (1 + high - value) if math.isinf(low) else (value - low) / (high - low)


def _from_share(share: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    if math.isinf(low):
        return high - (1 - share) / share if share else -math.inf
    return low + share * (high - low)


def partial_interval(
    smooth: Smooth, positives: float, inside: float, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """The interval of a partial AUC; ``inside`` is how many negatives lie left of its limit.

    It is read as an AUC against those negatives alone: with few errors, by Newcombe's method.
    """
    low, high = bounds
    share = (smooth.value - low) / (high - low)
    variance = smooth.variance / (high - low) ** 2
    errors = min(positives, inside) * (1 - share)
    if 0 < share < 1 and errors < ENOUGH_ERRORS and variance > 0:
        stretch = max(variance / newcombe_variance(share, positives, inside), 1.0)
        ends = Newcombe(level, stretch)(Smooth(share, variance), positives, inside)
        return low + ends[0] * (high - low), low + ends[1] * (high - low)
    return influence_interval(smooth, min(positives, inside), bounds, level)


def rate_interval(points: Points, max_fpr: float, level: float) -> tuple[float, float]:
    """The interval of the detection rate at a false positive rate, of rows without weights.

    Two things are unsure: the detected share, by Wilson's interval, and where the threshold of the
    false positive rate lies. The rate above the k-th highest negative is a beta variable, so that
    order statistics of the negatives bound the threshold, and the detection rates there bound what
    it does. Both are put together as Zou and Donner (2008) add independent intervals.
    """
    value = points.rates(last_within(points, max_fpr))[0]
    detected = Wilson(level)(value * points.positives, points.positives)
    tail = (1 - level) / 2
    nearest = [_recall_where(points, max_fpr, chance) for chance in (1 - tail, tail)]
    low = math.hypot(value - float(detected[0]), max(value - nearest[0], 0.0))
    high = math.hypot(float(detected[1]) - value, max(nearest[1] - value, 0.0))
    return max(value - low, 0.0), min(value + high, 1.0)


def _recall_where(points: Points, max_fpr: float, chance: float) -> float:
    """The detection rate above the negative that keeps the rate within the limit so likely.

    Between two negatives in proportion; with none kept nothing is flagged.
    """
    from scipy.special import betainc

    negatives = int(points.negatives)

    def kept(rank: int) -> float:
        """How likely the rate above the negative of this rank, 0 the highest, is within it."""
        if rank < 0:
            return 1.0
        return float(betainc(rank + 1.0, negatives - rank, max_fpr)) if rank < negatives else 0.0

    first, last = -1, negatives
    while last - first > 1:
        middle = (first + last) // 2
        if kept(middle) >= chance:
            first = middle
        else:
            last = middle
    share = (kept(first) - chance) / (kept(first) - kept(last))
    below, above = (_recall_above(points, rank) for rank in (first, last))
    return below + share * (above - below)


def _recall_above(points: Points, rank: int) -> float:
    """The detection rate of the lowest score that flags no more negatives than this rank."""
    if rank < 0:
        return 0.0
    return points.rates(points.first_below(float(rank), lambda at: float(points.fp[at])))[0]


def optimism(declared: Ranked, smooth: Smooth, ranking: Ranking) -> float:
    """By how much a best threshold on these rows looks better than it is on others.

    It falls with the two thirds power of the number of rows (Kim and Pollard 1990), so halves of
    the rows show how much of it there is: what is not optimism is the same in both halves together
    as in the whole.
    """
    values = [declared.value_of(half) for half in ranking.halves]
    defined = [value for value in values if not math.isnan(value)]
    more = math.fsum(defined) / len(defined) - smooth.value if defined else 0.0
    return max(more / (2 ** (2 / 3) - 1), 0.0)


def chosen_interval(
    declared: Ranked,
    smooth: Smooth,
    ranking: Ranking,
    smaller: float,
    bounds: tuple[float, float],
    level: float,
) -> tuple[float, float]:
    """The interval of a measure at thresholds that are the best on the same rows.

    It is centred on what is left without the optimism, of which half is taken as its own error.
    """
    if ranking.positives + ranking.negatives > _MOST_ROWS:
        return influence_interval(smooth, smaller, bounds, level)
    bias = min(optimism(declared, smooth, ranking), (smooth.value - bounds[0]) / 2)
    honest = Smooth(smooth.value - bias, smooth.variance + bias**2 / 2)
    return influence_interval(honest, smaller, bounds, level)


def ranked_interval(
    declared: Ranked,
    smooth: Smooth,
    sizes: tuple[float, float],
    bounds: tuple[float, float],
    level: float,
    ranking: Ranking | None = None,
) -> tuple[tuple[float, float], str]:
    """The default interval of a measure of a score, and its name; ``sizes`` are P and N.

    What rests on the rows themselves needs their ``ranking``, and has the plain interval without
    it. A class of one row is too few to say anything: then both ends are nan.
    """
    positives, negatives = sizes
    smaller = min(positives, negatives) or positives
    if smaller < _TWO:
        return (math.nan, math.nan), ""
    kind = declared.interval
    if ranking is not None and not ranking.table.weighted:
        if kind is Interval.AT_RATE:
            return rate_interval(ranking.points, declared.reach, level), "order statistics"
        if kind is Interval.EQUAL_ERRORS:
            plain = influence_interval(smooth, smaller, bounds, level)
            both = ranking.points, ranking.points.swapped()
            inverted = joined(*(equal_error_interval(each, smooth.value, level) for each in both))
            return joined(plain, inverted), "inversion"
        if kind is Interval.FARTHEST:
            more = 0.0
            if positives + negatives <= _MOST_ROWS:
                more = optimism(declared, smooth, ranking)
            return farthest_interval(ranking.points, more, level), "mover"
    if kind is Interval.AUC and (ranking is None or not ranking.table.weighted):
        return auc_interval(smooth, positives, negatives, level)
    if ranking is not None and positives and negatives and not declared.probabilities:
        return _with_unseen_rows(declared, smooth, sizes, bounds, level, ranking), UNSEEN_ROWS
    if kind is Interval.PARTIAL:
        inside = max(declared.reach * negatives, 1.0)
        return partial_interval(smooth, positives, inside, bounds, level), "delta"
    if kind in (Interval.AVERAGED, Interval.MEAN, Interval.NONE):
        raise MethodError(f"a measure of a ranking has no interval {kind.name}")
    return influence_interval(smooth, smaller, bounds, level), "delta"


def _with_unseen_rows(
    declared: Ranked,
    smooth: Smooth,
    sizes: tuple[float, float],
    bounds: tuple[float, float],
    level: float,
    ranking: Ranking,
) -> tuple[float, float]:
    """The interval from the spread that was seen, and what unseen rows make of the value."""
    table = without_idle(ranking.table)
    value, smaller = smooth.value, min(sizes)
    if (
        declared.interval is Interval.CHOSEN
        and not table.weighted
        and bounds[0] < value < bounds[1]
    ):
        ends = chosen_interval(declared, smooth, ranking, smaller, bounds, level)
    else:
        inside = smaller
        if declared.interval is Interval.PARTIAL:
            inside = min(sizes[0], max(declared.reach * sizes[1], 1.0))
        df = min(influence_df(declared.influence(table), table), max(inside - 1, 1.0))
        ends = seen_ends(value, ClusterSpread(smooth.variance, df), bounds, level)
        if ends[0] == ends[1] and bounds[0] < value < bounds[1]:
            # Scores that are all equal have no spread; they are not therefore sure.
            ends = influence_interval(Smooth(value, 0.0), smaller, bounds, level)
    moved = unseen_scores(declared, table, level)
    return outward(with_unseen(value, ends, moved, bounds), bounds, sum(sizes))


def averaged_interval(
    sample: Sample,
    declared: ClassAverage | OverPairs,
    parts: Sequence[Share],
    bounds: tuple[float, float],
    level: float,
) -> tuple[float, float]:
    """The interval of an average over classes that share their rows, by each row's influence.

    A part with few errors has too little spread to be believed. By how much its own interval is
    wider than its spread says is added to either end, as squares add. A class of one row is too
    few to say anything: then both ends are nan.
    """
    ranked = declared.ranked
    value = math.fsum(part.weight * part.smooth.value for part in parts)
    spread = _class_spread(sample, declared)
    smallest = min(min(part.positives, part.negatives) for part in parts)
    if smallest < _TWO:
        return math.nan, math.nan
    by_auc = ranked.interval is Interval.AUC
    reach = normal(level) if by_auc else student(level, max(smallest - 1, 1))
    ends = on_scale(value, spread, bounds, reach) if spread > 0 else (value, value)
    short = [0.0, 0.0]
    for weight, smooth, positives, negatives in parts:
        share = (smooth.value - bounds[0]) / (bounds[1] - bounds[0])
        errors = min(positives, negatives) * min(share, 1 - share)
        known = reach**2 * smooth.variance if smooth.variance > 0 else 0.0
        if errors < ENOUGH_ERRORS or not known:
            own = ranked_interval(ranked, smooth, (positives, negatives), bounds, level)[0]
            for side, end in enumerate(own):
                more = max((end - smooth.value) ** 2 - known, 0.0)
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
    if n < _TWO or not moments.variance_of_mean:
        return math.nan, math.nan
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
    """The interval of a score measure when rows come in clusters: their spread, and unseen rows.

    ``value`` is the estimate; nan where there are too few clusters, or one has all of a class.
    """
    if len(sample.clusters) < 2 or rests_on_one_cluster(sample, declared):
        return math.nan, math.nan
    moves = declared.moves(sample, 0)[1]
    between = cluster_spread(sample, declared, moves)
    if between is None:
        return math.nan, math.nan
    squares: Any = np.bincount(sample.cluster, moves * sample.counts) ** 2
    by_kurtosis = kurtosis_df(float(squares.sum()), float((squares**2).sum()), len(squares))
    by_rows = float((sample.amounts_squared * moves**2).sum())
    spread = ClusterSpread(max(between.variance, by_rows), min(between.df, by_kurtosis))
    effective = _effective(sample, between.variance, by_rows)
    if isinstance(declared, MeanLoss):
        seen = seen_ends(value, spread, (0.0, math.inf), level)
        rows_of = (*losses_of_rows(declared, sample), sample.counts)
        most = declared.largest
        return with_unseen_losses(value, seen, rows_of, sum(effective), most, level)
    ends = seen_ends(value, spread, bounds, level)
    moved = []
    if not (isinstance(declared, Ranked) and declared.probabilities):
        moved = _moved_parts(sample, declared, value, effective, level)
    low, high = outward(with_unseen(value, ends, moved, bounds), bounds, sum(effective))
    return (low, high) if low < high else (math.nan, math.nan)


def _effective(sample: Sample, between: float, by_rows: float) -> list[float]:
    """As how many independent rows each class counts, by the design effect of its clusters."""
    size = len(sample.labels)
    sums = np.bincount(sample.truth, sample.counts, size)
    squares = np.bincount(sample.truth, sample.amounts_squared, size)
    pairs = np.unique(sample.cluster.astype(np.int64) * size + sample.truth)
    clusters = np.bincount(pairs % size, minlength=size)
    effective = []
    for total, square, number in zip(sums, squares, clusters, strict=True):
        rows = float(total**2 / square) if total else 0.0
        effective.append(rows / design_effect(between, by_rows, rows / max(int(number), 1)))
    return effective


def _moved_parts(
    sample: Sample,
    declared: Ranked | ClassAverage | OverPairs,
    value: float,
    effective: Sequence[float],
    level: float,
) -> list[tuple[float, float]]:
    """What unseen rows make of a value through each of the rankings that it is made of."""
    if isinstance(declared, Ranked):
        return unseen_scores(declared, without_idle(sample.score_counts(0)), level, effective)
    ranked, tables = declared.ranked, sample.class_counts(0)
    moved: list[tuple[float, float]] = []
    parts: list[tuple[float, ScoreCounts, tuple[int, ...], int]]
    if isinstance(declared, OverPairs):
        pairs = list(permutations(range(len(tables)), 2))
        parts = [(1 / len(pairs), tables[i].pair(j, i), (j,), i) for i, j in pairs]
    else:
        shares = declared.shares(np.array([float(total) for total in tables[0].totals()]))
        others = {i: tuple(j for j in range(len(tables)) if j != i) for i in shares}
        parts = [(w, tables[i].one_versus_rest(i), others[i], i) for i, w in shares.items()]
    for weight, table, negatives, positive in parts:
        sizes = sum(effective[j] for j in negatives), effective[positive]
        own = ranked.influence(table).value
        moved += [
            (value + weight * (bad - own), value + weight * (good - own))
            for bad, good in unseen_scores(ranked, without_idle(table), level, sizes)
        ]
    return moved


def cluster_spread(sample: Sample, declared: ByRow, moves: Floats) -> ClusterSpread | None:
    """How a value spreads by what each row moves it; None where clusters are too few to tell."""
    shape = len(sample.clusters), len(sample.labels)
    places = sample.cluster.astype(np.int64) * shape[1] + sample.truth

    def summed(values: Floats) -> Floats:
        sums: Floats = np.bincount(places, values, math.prod(shape)).astype(np.float64)
        return sums.reshape(shape)

    moved, held = summed(moves * sample.counts), summed(sample.counts.astype(np.float64)) > 0
    sizes = summed(np.abs(moves) * sample.counts).sum(axis=0)
    # A mean of all rows is of no class, even where the means of classes happen to be equal.
    apart = not isinstance(declared, MeanLoss) and cancels(moved.sum(axis=0), sizes)
    return between_clusters(moved[:, sizes > 0], held[:, sizes > 0], apart=apart)


def rests_on_one_cluster(sample: Sample, declared: ByRow) -> bool:
    """Whether a ranking, or one of those that are averaged, has a class whose rows are of one."""
    if not sample.clusters or isinstance(declared, MeanLoss):
        return False
    if not isinstance(declared, ClassAverage):
        return has_lone_class(sample.cluster, sample.truth)
    sizes = np.bincount(sample.truth, sample.counts, len(sample.labels)).astype(np.float64)
    held = declared.shares(sizes)
    return any(has_lone_class(sample.cluster, sample.truth == label) for label in held)


def has_lone_class(cluster: npt.NDArray[Any], truth: npt.NDArray[Any]) -> bool:
    """Whether all rows of a class are of one cluster."""
    return any(len(np.unique(cluster[truth == label])) == 1 for label in np.unique(truth))
