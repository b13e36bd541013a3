"""Curves: a measure applied to the tally swept over its thresholds. Steps, never interpolated.

Thresholds decrease from infinity, where nothing is flagged. A point where either measure is
undefined is left out: so the FAR-DR and precision-recall curves start at the first alert.
"""

from assay.curves.cost_curves import (
    NORMALISED_COST,
    PROBABILITY_COST,
    cost,
    decision,
    hull,
    probability_cost,
    vertices,
)
from assay.curves.curve import (
    FEWEST_POINTS,
    POINTS,
    Axis,
    Curve,
    Floats,
    Sweep,
    Term,
    det,
    far_dr,
    gain,
    lift,
    precision_recall,
    precision_recall_gain,
    recall_at,
    roc,
    sweep,
    sweep_at,
    trace,
)

__all__ = [
    "FEWEST_POINTS",
    "NORMALISED_COST",
    "POINTS",
    "PROBABILITY_COST",
    "Axis",
    "Curve",
    "Floats",
    "Sweep",
    "Term",
    "cost",
    "decision",
    "det",
    "far_dr",
    "gain",
    "hull",
    "lift",
    "precision_recall",
    "precision_recall_gain",
    "probability_cost",
    "recall_at",
    "roc",
    "sweep",
    "sweep_at",
    "trace",
    "vertices",
]
