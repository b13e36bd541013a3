"""The same estimates by version 0.2, for widths and coverage side by side."""

from __future__ import annotations

import math

import numpy as np

from assay.v02.formula import of_classes
from assay.v02.inference import Estimate, Quantity, estimate
from assay.v02.inference.score_intervals import mean_interval, ranked_interval
from assay.v02.measures import find, rank
from assay.v02.tally import ClusterTally, Confusion, ScoreTally

LEVEL = 0.95
LABELS = ("negative", "positive")


def counted(name: str, table: np.ndarray, squares: np.ndarray | None = None) -> Estimate:
    """A measure of a confusion matrix; of an average where its name says so."""
    return _counted(name, _confusion(table, squares))


def in_clusters(name: str, cells: np.ndarray) -> Estimate:
    """The same of clusters: ``cells[cluster, truth, decision]``."""
    names = tuple(map(str, range(len(cells))))
    clusters = ClusterTally(LABELS, names, cells)
    return _counted(name, _confusion(cells.sum(axis=0), None), clusters)


def _confusion(table: np.ndarray, squares: np.ndarray | None) -> Confusion:
    labels = LABELS if len(table) == 2 else tuple(map(str, range(len(table))))
    cells = tuple(map(tuple, table.tolist()))
    return Confusion(
        labels, cells, None if squares is None else tuple(map(tuple, squares.tolist()))
    )


def _counted(name: str, table: Confusion, clusters: ClusterTally | None = None) -> Estimate:
    name, _, average = name.partition(".")
    measure = find(name)
    formula = of_classes(measure.formula, average) if average else measure.formula
    quantity = Quantity(formula, label=None if average else 1)
    return estimate(quantity, table, measure.range, clusters=clusters, default=measure.interval)


def scored(name: str, scores: np.ndarray, truth: np.ndarray) -> Estimate:
    """A measure of scores."""
    table = ScoreTally.of_rows(LABELS, scores, truth)
    measure = find(name)
    declared, ranking = measure.of_scores, rank(table)
    smooth, bounds = declared.of(ranking), declared.between or measure.range
    if math.isnan(smooth.value):
        return Estimate(math.nan)
    sizes = table.effective()[::-1]
    ends, method = ranked_interval(declared, smooth, sizes, bounds, LEVEL, ranking)
    low, high = min(ends[0], smooth.value), max(ends[1], smooth.value)
    return Estimate(smooth.value, low, high, method=method)


def loss(name: str, said: np.ndarray, truth: np.ndarray) -> Estimate:
    """Log loss or Brier score."""
    declared = find(name).of_scores
    moments = declared.moments(ScoreTally.of_rows(LABELS, said, truth))
    low, high = mean_interval(moments, declared.largest, LEVEL)
    return Estimate(moments.mean, low, high, method="delta")
