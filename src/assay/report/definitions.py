"""The formulas of measures: those of counts from their expression, those of scores as declared."""

from __future__ import annotations

from assay.formula import Cell, latex, plain
from assay.measures import Measure
from assay.report.sections import Formula

_CELLS = (
    "TP, FP, FN and TN are the cells of the confusion matrix: attacks that raised an alarm, "
    "harmless rows that did, attacks that did not, and harmless rows that did not."
)
_COSTS = "C_FP is what one false alarm costs, C_FN what one missed attack costs."
_CLASSES = (
    "Over classes i: HIT (C_ii) are the rows of the class that were decided right, ROW (r_i) all "
    "its rows, COL (c_i) the rows decided as it; N are all rows, K is the number of classes."
)


def formula_of(measure: Measure) -> Formula:
    """The formula of a measure for two classes, or over scores."""
    if measure.definition is not None:
        return Formula(measure.definition.plain, measure.definition.latex)
    formula = measure.formula
    if measure.of_costs is not None:
        formula = measure.of_costs(Cell("C_FP"), Cell("C_FN"))
    assert formula is not None  # noqa: S101 - it is one of the three
    return Formula(plain(formula), latex(formula))


def classes_formula_of(measure: Measure) -> Formula | None:
    """The formula over K classes, where a measure has one."""
    if measure.classes is None:
        return None
    return Formula(plain(measure.classes), latex(measure.classes))


def symbols_of(measure: Measure) -> str:
    """What the letters of the formula stand for."""
    if measure.definition is not None:
        return measure.definition.symbols
    if measure.of_costs is not None:
        return f"{_CELLS} {_COSTS}"
    return _CELLS if measure.classes is None else f"{_CELLS} {_CLASSES}"
