"""Figures by matplotlib: each takes results and axes, and returns the axes."""

from assay.v02.plots.canvas import Figures, NamedFigures, name_models, save
from assay.v02.plots.curves import (
    MarkedPoint,
    far_dr,
    gain,
    lift,
    precision_recall,
    precision_recall_gain,
    reliability,
    roc,
    scores,
    thresholds,
)
from assay.v02.plots.intervals import dots, forest, mean_ranks, over_time, sequence
from assay.v02.plots.operating_points import (
    ChosenPoint,
    chosen,
    confusion,
    cost,
    decision,
    det,
    hull,
    hulls,
)

__all__ = [
    "ChosenPoint",
    "Figures",
    "MarkedPoint",
    "NamedFigures",
    "chosen",
    "confusion",
    "cost",
    "decision",
    "det",
    "dots",
    "far_dr",
    "forest",
    "gain",
    "hull",
    "hulls",
    "lift",
    "mean_ranks",
    "name_models",
    "over_time",
    "precision_recall",
    "precision_recall_gain",
    "reliability",
    "roc",
    "save",
    "scores",
    "sequence",
    "thresholds",
]
