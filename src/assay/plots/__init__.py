"""Figures by matplotlib: each takes results and axes, and returns the axes."""

from assay.plots.canvas import save
from assay.plots.chosen import ChosenPoint, chosen
from assay.plots.costs import cost, decision, hull, hulls
from assay.plots.det import det
from assay.plots.figures import Figures, Named, name_models
from assay.plots.intervals import dots, forest, over_time, sequence
from assay.plots.lines import (
    Point,
    far_dr,
    gain,
    lift,
    precision_recall,
    precision_recall_gain,
    roc,
    thresholds,
)
from assay.plots.matrix import confusion
from assay.plots.ranks import mean_ranks
from assay.plots.shares import reliability, scores

__all__ = [
    "ChosenPoint",
    "Figures",
    "Named",
    "Point",
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
