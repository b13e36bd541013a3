"""The estimate of a measure from counts, by the mathematics alone."""

from __future__ import annotations

import math

from assay.counts import ClusterCounts, Confusion, LossSums, Sample, ScoreCounts
from assay.formula import Expression, of_classes
from assay.inference import Estimate, Quantity, estimate
from assay.inference.score_intervals import clustered, mean_interval, ranked_interval
from assay.measures import MeanLoss, Ranked, find, rank

LEVEL = 0.95


def formula_of(name: str) -> Expression:
    """The formula of a measure of two classes, of all classes, or of an average over them."""
    name, _, average = name.partition(".")
    measure = find(name)
    formula = of_classes(measure.formula, average) if average else measure.formula
    assert formula is not None
    return formula


def counted(name: str, table: Confusion, clusters: ClusterCounts | None = None) -> Estimate:
    """A measure of a confusion matrix; of two labels, that of the second."""
    measure = find(name.partition(".")[0])
    quantity = Quantity(formula_of(name), label=None if "." in name else 1)
    default = measure.interval
    return estimate(quantity, table, measure.range, clusters=clusters, default=default)


def of_all_classes(name: str, table: Confusion) -> Estimate:
    """A measure of the whole confusion matrix of more than two classes."""
    measure = find(name)
    assert measure.classes is not None
    return estimate(Quantity(measure.classes), table, measure.range, default=measure.interval)


def scored(name: str, table: ScoreCounts, sample: Sample | None = None) -> Estimate:
    """A measure of scores; of clusters where a sample is given."""
    measure = find(name)
    declared = measure.of_scores
    assert isinstance(declared, Ranked)
    ranking = rank(table)
    smooth, bounds = declared.of(ranking), declared.between or measure.range
    if math.isnan(smooth.value):
        return Estimate(math.nan, undefined="undefined")
    if sample is not None:
        ends, method = clustered(sample, declared, smooth.value, bounds, LEVEL), "cluster delta"
    else:
        negatives, positives = table.effective()
        sizes = positives, negatives
        ends, method = ranked_interval(declared, smooth, sizes, bounds, LEVEL, ranking)
    low, high = min(ends[0], smooth.value), max(ends[1], smooth.value)
    return Estimate(smooth.value, low, high, method=method)


def loss(name: str, sums: LossSums) -> Estimate:
    """Log loss or Brier score."""
    declared = find(name).of_scores
    assert isinstance(declared, MeanLoss)
    assert declared.sums is not None
    moments = declared.sums(sums)
    low, high = mean_interval(moments, declared.largest, LEVEL)
    return Estimate(moments.mean, low, high, method="delta")
