"""Figures by matplotlib: each takes results and axes, and returns the axes."""

from assay.plots.canvas import save
from assay.plots.chosen import ChosenPoint, chosen
from assay.plots.intervals import dots, forest, over_time
from assay.plots.lines import Point, far_dr, precision_recall, roc, thresholds
from assay.plots.matrix import confusion
from assay.plots.shares import reliability, scores

__all__ = [
    "ChosenPoint",
    "Point",
    "chosen",
    "confusion",
    "dots",
    "far_dr",
    "forest",
    "over_time",
    "precision_recall",
    "reliability",
    "roc",
    "save",
    "scores",
    "thresholds",
]
