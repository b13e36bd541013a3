"""Each count measure of the contract, written down a second time by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.formula import reason, value
from assay.measures import find

Number = Fraction | float


def over(above: Number, below: Number) -> Number:
    """A ratio, undefined over zero."""
    return math.nan if below == 0 else above / below


def root(radicand: Number) -> float:
    return math.sqrt(radicand)


def f_beta(beta: Fraction, tp: Fraction, fp: Fraction, fn: Fraction) -> Number:
    square = beta * beta
    return over((1 + square) * tp, (1 + square) * tp + square * fn + fp)


def _kappa(tp: Fraction, fp: Fraction, fn: Fraction, tn: Fraction) -> Number:
    rows = tp + fp + fn + tn
    if rows == 0:
        return math.nan
    observed = (tp + tn) / rows
    expected = ((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp)) / rows**2
    return over(observed - expected, 1 - expected)


DEFINITIONS: dict[str, Callable[..., Number]] = {
    "accuracy": lambda tp, fp, fn, tn: over(tp + tn, tp + fp + fn + tn),
    "error_rate": lambda tp, fp, fn, tn: over(fp + fn, tp + fp + fn + tn),
    "precision": lambda tp, fp, fn, tn: over(tp, tp + fp),
    "recall": lambda tp, fp, fn, tn: over(tp, tp + fn),
    "specificity": lambda tp, fp, fn, tn: over(tn, tn + fp),
    "f1": lambda tp, fp, fn, tn: f_beta(Fraction(1), tp, fp, fn),
    "f2": lambda tp, fp, fn, tn: f_beta(Fraction(2), tp, fp, fn),
    "f0.5": lambda tp, fp, fn, tn: f_beta(Fraction(1, 2), tp, fp, fn),
    "false_positive_rate": lambda tp, fp, fn, tn: over(fp, fp + tn),
    "false_negative_rate": lambda tp, fp, fn, tn: over(fn, fn + tp),
    "false_discovery_rate": lambda tp, fp, fn, tn: over(fp, fp + tp),
    "false_omission_rate": lambda tp, fp, fn, tn: over(fn, fn + tn),
    "negative_predictive_value": lambda tp, fp, fn, tn: over(tn, tn + fn),
    "balanced_accuracy": lambda tp, fp, fn, tn: (over(tp, tp + fn) + over(tn, tn + fp)) / 2,
    "g_mean": lambda tp, fp, fn, tn: root(over(tp, tp + fn) * over(tn, tn + fp)),
    "informedness": lambda tp, fp, fn, tn: over(tp, tp + fn) - over(fp, fp + tn),
    "markedness": lambda tp, fp, fn, tn: over(tp, tp + fp) + over(tn, tn + fn) - 1,
    "mcc": lambda tp, fp, fn, tn: over(
        float(tp * tn - fp * fn), root((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    ),
    "kappa": _kappa,
    "jaccard": lambda tp, fp, fn, tn: over(tp, tp + fp + fn),
    "fowlkes_mallows": lambda tp, fp, fn, tn: over(float(tp), root((tp + fp) * (tp + fn))),
    "prevalence": lambda tp, fp, fn, tn: over(tp + fn, tp + fp + fn + tn),
    "alert_rate": lambda tp, fp, fn, tn: over(tp + fp, tp + fp + fn + tn),
    "positive_likelihood_ratio": lambda tp, fp, fn, tn: over(over(tp, tp + fn), over(fp, fp + tn)),
    "negative_likelihood_ratio": lambda tp, fp, fn, tn: over(over(fn, tp + fn), over(tn, fp + tn)),
    "diagnostic_odds_ratio": lambda tp, fp, fn, tn: over(tp * tn, fp * fn),
}


COUNT = st.one_of(st.just(0), st.integers(0, 4), st.integers(0, 10**9))


@pytest.mark.parametrize("name", DEFINITIONS)
@given(st.tuples(COUNT, COUNT, COUNT, COUNT))
def test_a_measure_is_what_its_definition_says(name: str, counts: tuple[int, ...]) -> None:
    formula = find(name).formula
    assert formula is not None
    cells = dict(zip(("TP", "FP", "FN", "TN"), counts, strict=True))
    expected = DEFINITIONS[name](*map(Fraction, counts))
    number = value(formula, cells)
    if math.isnan(expected):
        assert math.isnan(number)
        assert reason(formula, cells)
    else:
        assert number == pytest.approx(float(expected), rel=1e-13, abs=1e-13)
        if isinstance(expected, Fraction):
            assert number == float(expected)
        assert reason(formula, cells) is None


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_measure_of_no_rows_is_undefined(name: str) -> None:
    formula = find(name).formula
    assert formula is not None
    nothing = dict.fromkeys(("TP", "FP", "FN", "TN"), 0)
    assert math.isnan(value(formula, nothing))
    assert reason(formula, nothing)


def test_precision_is_undefined_when_nothing_is_flagged() -> None:
    formula = find("precision").formula
    assert formula is not None
    quiet = {"TP": 0, "FP": 0, "FN": 3, "TN": 5}
    assert math.isnan(value(formula, quiet))
    assert reason(formula, quiet) == "nothing was flagged (TP + FP = 0)"


def test_large_counts_are_rounded_once() -> None:
    formula = find("precision").formula
    assert formula is not None
    cells = {"TP": 10**18 - 1, "FP": 1, "FN": 0, "TN": 0}
    assert value(formula, cells) == float(Fraction(10**18 - 1, 10**18))
