"""What a rule about decisions computes from a confusion matrix."""

from __future__ import annotations

from fractions import Fraction

from assay.decisions.gate.rows import Rows
from assay.decisions.gate.rule import Rule, held_by
from assay.errors import InputError
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED
from assay.formula import FN, FP, TN, TP, Expression, at_base_rate, of_classes
from assay.inference import Quantity

_ROWS = TP + FP + FN + TN
_OF_DAY: dict[str, Expression] = {
    ALERTS: (TP + FP) / _ROWS,
    FALSE_ALARMS: FP / _ROWS,
    MISSED: FN / _ROWS,
}


def quantity_of(rule: Rule, rows: Rows) -> tuple[Quantity, tuple[float, float]]:
    """The formula of a rule, and the range of its values."""
    if rule.measure is None:
        assert rule.volume is not None  # noqa: S101 - the parser asks for it
        formula, bounds = _OF_DAY[rule.written], (0.0, rule.volume)
    else:
        assert rule.measure.formula is not None  # noqa: S101 - not a measure of scores
        formula, bounds = rule.measure.formula, rule.measure.range
    if rule.average is not None:
        return Quantity(of_classes(formula, rule.average)), bounds
    label = position(rule, rows)
    if rule.base_rate is not None:
        formula = at_base_rate(formula, Fraction(repr(rule.base_rate)))
    if rule.volume is not None:
        formula = Fraction(repr(rule.volume)) * formula
    return Quantity(formula, label=label), bounds


def position(rule: Rule, rows: Rows) -> int:
    """The label that a rule is about; refuses what its condition keeps as it is."""
    if rule.label is None or rule.measure is None:
        return 1
    label = rows.label(rule.label)
    if label == 1:
        return label
    if rule.base_rate is not None:
        raise InputError(
            f"the rule {rule.text!r} is about {rule.label!r}, and a base rate is the share of the "
            f"positive {rows.first.positive!r}"
        )
    swapped = rule.measure.swapped
    if swapped is not None and swapped in held_by(rule.at):
        raise InputError(f"the rule {rule.text!r} could not fail: its condition keeps {swapped}")
    return label
