r"""Count measures as expressions: one tree, many readings.

>>> from assay.formula import FP, TP, value, reason, latex
>>> precision = TP / (TP + FP)
>>> value(precision, {"TP": 3, "FP": 1})
0.75
>>> reason(precision, {"TP": 0, "FP": 0})
'nothing was flagged (TP + FP = 0)'
>>> latex(precision)
'\\frac{TP}{TP + FP}'
"""

from assay.formula.many_tables import Bounds, bounds, bounds_along, evaluate
from assay.formula.notation import JAVASCRIPT_PRELUDE, javascript, latex, plain
from assay.formula.one_table import enclosure, rounded, value
from assay.formula.properties import Proportion, proportion, reason
from assay.formula.tree import (
    COL,
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Cell,
    Expression,
    K,
    N,
    at_base_rate,
    cells,
    constant,
    denominators,
    derivative,
    geometric_mean,
    of_classes,
    over_two_classes,
    sqrt,
    substitute,
    times_log,
    total,
)

__all__ = [
    "COL",
    "FN",
    "FP",
    "HIT",
    "JAVASCRIPT_PRELUDE",
    "ROW",
    "TN",
    "TP",
    "Bounds",
    "Cell",
    "Expression",
    "K",
    "N",
    "Proportion",
    "at_base_rate",
    "bounds",
    "bounds_along",
    "cells",
    "constant",
    "denominators",
    "derivative",
    "enclosure",
    "evaluate",
    "geometric_mean",
    "javascript",
    "latex",
    "of_classes",
    "over_two_classes",
    "plain",
    "proportion",
    "reason",
    "rounded",
    "sqrt",
    "substitute",
    "times_log",
    "total",
    "value",
]
