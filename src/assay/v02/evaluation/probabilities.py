"""Measures of probabilities, and how sure they are: mean losses, and averages over classes.

Classes share their rows, so an average over them is as sure as the rows themselves tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.errors import MethodError
from assay.v02.escaping import plural
from assay.v02.inference import Estimate
from assay.v02.inference import bootstrap as resampling
from assay.v02.inference.bootstrap import Bootstrap
from assay.v02.inference.estimation import ONE_CLUSTER, ONE_OF_A_CLASS
from assay.v02.inference.score_intervals import (
    averaged_interval,
    clustered,
    mean_interval,
    rests_on_one_cluster,
)
from assay.v02.measures import ByRow, ClassAverage, MeanLoss, Measure, OverPairs, Ranked, Ranking, Share
from assay.v02.measures.scores import bound_of, bound_of_average, bound_over_pairs
from assay.v02.tally import Resolved, Sample, ScoreTally
from assay.v02.tally.resolved_tally import MOST_PROBABILITIES

if TYPE_CHECKING:
    from assay.v02.evaluation.judge import Judge

DEFINED_ONLY = "macro_defined"
NOT_KEPT = (
    f"no interval: the classes share their rows, which are kept up to {MOST_PROBABILITIES:,} "
    f"probabilities"
)
NO_ROWS = "no interval: with clusters it needs the unweighted rows of a binary score"
TOO_FEW = "no interval: too few clusters, or every pair is ranked alike"
NO_MICRO = "a ranking has no micro average: each class has its own scores"
ABSENT_CLASS = "a class has no rows, so it can't be told from the others"

Ends = tuple[tuple[float, float], str, str | None]
_NONE = (math.nan, math.nan)


def scores_of(tally: Resolved) -> tuple[ScoreTally, ...]:
    """The scores of a tally, where a measure of them is asked for."""
    if tally.scores is None:
        raise MethodError("it needs scores; there are only decisions")
    return tally.scores


def averaged(
    judge: Judge, ranked: Ranked, rankings: tuple[Ranking, ...], measure: Measure, average: str
) -> Estimate:
    """A measure of a ranking averaged over classes, one against the rest."""
    if average == "micro":
        return Estimate(math.nan, level=judge.level, undefined=NO_MICRO)
    values = [ranked.of(ranking).value for ranking in rankings]
    classes = tuple(range(len(values)))
    if average == DEFINED_ONLY:
        classes = tuple(i for i in classes if not math.isnan(values[i]))
    elif average == "weighted":
        classes = tuple(i for i in classes if rankings[i].positives)
    unknown = [i for i in classes if math.isnan(values[i])]
    if unknown or not classes:
        why = "no class has a value"
        if unknown:
            label = judge.tally.labels[unknown[0]]
            why = f"class {label!r} has no value: it has no rows, or all rows are of it"
        return Estimate(math.nan, level=judge.level, undefined=why)
    declared = ClassAverage(ranked, weighted=average == "weighted", classes=classes)
    weights = [float(rankings[i].positives) if declared.weighted else 1.0 for i in classes]
    value = math.fsum(w * values[i] for w, i in zip(weights, classes, strict=True))
    estimate = _estimate(
        judge, declared, declared.parts(rankings), value / math.fsum(weights), measure.range
    )
    if not rankings[0].tally.inexact:
        return estimate
    return bounded(estimate, bound_of_average(declared, rankings), measure.range)


def partly_defined(judge: Judge, ranked: Ranked) -> bool:
    """Whether a measure of a ranking has a value for some classes, and none for others.

    It has none where a class lacks rows; what else may leave it undefined has to be computed.
    """
    if ranked.undefined:
        values = [ranked.of(ranking).value for ranking in judge.rankings or ()]
        absent = [math.isnan(value) for value in values]
    else:
        absent = [ranked.missing(*sizes) is not None for sizes in judge.class_sizes]
    return 0 < sum(absent) < len(absent)


def over_pairs(judge: Judge, declared: OverPairs, measure: Measure) -> Estimate:
    """A mean over pairs of classes."""
    scores = scores_of(judge.tally)
    if judge.binary:
        why = "it is for more than two classes; for two it is roc_auc"
        return Estimate(math.nan, level=judge.level, undefined=why)
    value = declared.value(scores)
    if math.isnan(value):
        return Estimate(math.nan, level=judge.level, undefined=ABSENT_CLASS)
    estimate = _estimate(judge, declared, declared.parts(scores), value, measure.range)
    if not scores[0].inexact:
        return estimate
    return bounded(estimate, bound_over_pairs(declared, scores), measure.range)


def bounded(estimate: Estimate, ends: tuple[float, float], bounds: tuple[float, float]) -> Estimate:
    """An estimate with the bounds of a grid, inside of the range of its measure."""
    return estimate.bounded(max(ends[0], bounds[0]), min(ends[1], bounds[1]))


def _estimate(
    judge: Judge,
    declared: ClassAverage | OverPairs,
    parts: Sequence[Share],
    value: float,
    bounds: tuple[float, float],
) -> Estimate:
    sample = judge.tally.sample
    ends, name, note = _no_rows()
    if sample is not None:
        resampled = isinstance(judge.method, Bootstrap)
        if resampled or judge.tally.clusters is not None:
            ends, name, note = by_rows(judge, sample, declared, value, bounds)
        else:
            ends = averaged_interval(sample, declared, parts, bounds, judge.level)
            name, note = "delta", None
    return Estimate(
        value,
        min(ends[0], value),
        max(ends[1], value),
        method=name,
        n=scores_of(judge.tally)[0].rows,
        level=judge.level,
        note=note,
    )


def _no_rows() -> Ends:
    return _NONE, "", NOT_KEPT


def by_rows(
    judge: Judge, sample: Sample, declared: ByRow, value: float, bounds: tuple[float, float]
) -> Ends:
    """The interval by resampling rows, or by clusters of them: its ends, its name and a note."""
    in_clusters = judge.tally.clusters is not None
    if in_clusters and len(sample.clusters) < 2:
        return _NONE, "", ONE_CLUSTER
    if in_clusters and rests_on_one_cluster(sample, declared):
        return _NONE, "", ONE_OF_A_CLASS
    if isinstance(judge.method, Bootstrap):
        drawn = resampling.row_interval(
            sample,
            lambda counts: declared.resampled(sample, 0, counts),
            declared.moves(sample, 0)[1],
            judge.method,
        )
        name = f"cluster {judge.method.name}" if in_clusters else judge.method.name
        return (drawn.low, drawn.high), name, drawn.note
    ends = clustered(sample, declared, value, bounds, judge.level)
    return (_NONE, "", TOO_FEW) if math.isnan(ends[0]) else (ends, "cluster delta", None)


# -- mean losses -----------------------------------------------------------------------------------


def loss(judge: Judge, declared: MeanLoss) -> Estimate:
    """The estimate of a mean loss."""
    tally = judge.tally
    losses, table = tally.losses, scores_of(tally)[0]
    if losses is None:
        moments = declared.moments(table)
    elif declared.sums is not None:
        moments = declared.sums(losses)
    elif judge.binary:
        moments = declared.moments(table)
    else:
        why = "it is of the probability of one positive label, of two"
        return Estimate(math.nan, level=judge.level, undefined=why)
    if not moments.weight:
        return Estimate(math.nan, level=judge.level, undefined="there are no rows")
    name, note = "delta", None
    of_many = None if judge.binary or declared.of_classes is None else tally.sample
    if isinstance(judge.method, Bootstrap) and judge.binary:
        value = declared.value
        ends, name, note = judge.resampled(judge.method, table, value, tally.sample)
    elif isinstance(judge.method, Bootstrap) and of_many is not None:
        bounds = 0.0, declared.largest
        ends, name, note = by_rows(judge, of_many, declared, moments.mean, bounds)
    elif tally.clusters is not None:
        ends, name, note = _clustered_loss(judge, declared, moments.mean)
    else:
        ends = mean_interval(moments, declared.largest, judge.level)
    clipped = 0
    if losses is not None and declared.clipped is not None:
        clipped = declared.clipped(losses)
    if clipped:
        cut = f"{clipped} {plural(clipped, 'row was', 'rows were')} clipped at 2^-52"
        note = cut if note is None else f"{note}; {cut}"
    estimate = Estimate(
        moments.mean,
        min(ends[0], moments.mean),
        max(ends[1], moments.mean),
        method=name,
        n=table.rows if losses is None or losses.weighted else losses.rows,
        level=judge.level,
        note=note,
        parts=declared.beside(tally.confusion) if declared.beside is not None else {},
    )
    if losses is not None:
        return estimate
    return bounded(estimate, bound_of(declared, table), (0, declared.largest))


def _clustered_loss(
    judge: Judge, declared: MeanLoss, mean: float
) -> tuple[tuple[float, float], str, str | None]:
    sample = judge.tally.sample
    if sample is None or not (judge.binary or declared.of_classes is not None):
        return (math.nan, math.nan), "", NO_ROWS if judge.binary else NOT_KEPT
    low, high = clustered(sample, declared, mean, (0, math.inf), judge.level)
    if math.isnan(low):
        none = "no interval: there are too few clusters, or no row has a loss"
        return (low, high), "", none
    return (low, min(high, declared.largest)), "cluster delta", None
