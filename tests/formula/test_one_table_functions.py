"""A formula on one table is the formula: exact as a ratio, and the bits of arrays as floats."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formula import (
    COL,
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Expression,
    at_base_rate,
    cells,
    derivative,
    enclosure,
    evaluate,
    geometric_mean,
    of_classes,
    sqrt,
    times_log,
    total,
    value,
)
from assay.formula.one_table import UndefinedRatio, number, once, ratio
from assay.measures import CATALOGUE

BINARY = ("TP", "FP", "FN", "TN")
FORMULAS = {m.name: m.formula for m in CATALOGUE if m.formula is not None}
OVERALL = {m.name: m.classes for m in CATALOGUE if m.classes is not None}
AVERAGES = {
    f"{name}.{average}": of_classes(formula, average)
    for name, formula in FORMULAS.items()
    for average in ("macro", "micro", "weighted")
}
COUNTS = st.tuples(*[st.one_of(st.integers(0, 5), st.integers(0, 10**6)) for _ in BINARY])
HUGE = st.tuples(*[st.integers(0, 10**18) for _ in BINARY])


def of_two(tp: float, fp: float, fn: float, tn: float) -> dict[str, object]:
    """The class cells of a binary table, the negative first."""
    return {
        "HIT": (tn, tp),
        "ROW": (tn + fp, fn + tp),
        "COL": (tn + fn, fp + tp),
        "N": tn + fp + fn + tp,
        "K": 2,
    }


def same_bits(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


# -- exact -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=15)
@given(counts=st.one_of(COUNTS, HUGE))
def test_ratio_is_the_enclosure_of_fractions(name: str, counts: tuple[int, ...]) -> None:
    formula, table = FORMULAS[name], dict(zip(BINARY, counts, strict=True))
    exactly = ratio(formula)
    if exactly is None:
        assert any(node in repr(formula) for node in ("Root", "TimesLog"))
        return
    as_fractions = {cell: Fraction(count) for cell, count in table.items()}
    try:
        low, high = enclosure(formula, as_fractions)
    except UndefinedRatio:
        with pytest.raises(UndefinedRatio):
            exactly(table, None)
        assert math.isnan(value(formula, table))
        return
    assert low == high == Fraction(*exactly(table, None))
    assert value(formula, table) == value(formula, as_fractions)


@pytest.mark.sampled(50)
@pytest.mark.parametrize("name", [*OVERALL, *AVERAGES])
@settings(max_examples=8)
@given(counts=COUNTS)
def test_formulas_over_classes_have_the_same_value(name: str, counts: tuple[int, ...]) -> None:
    formula = {**OVERALL, **AVERAGES}[name]
    table = of_two(*counts)
    as_fractions = {
        cell: tuple(map(Fraction, count)) if isinstance(count, tuple) else Fraction(count)
        for cell, count in table.items()
    }
    assert same_bits(value(formula, table), value(formula, as_fractions))


def test_a_negative_denominator_and_constants_keep_their_sign() -> None:
    formula = (TP - FP) / (FN - TN) / 3
    assert value(formula, {"TP": 1, "FP": 3, "FN": 2, "TN": 7}) == pytest.approx(2 / 15)
    huge = {"TP": 10**400, "FP": 0, "FN": 0, "TN": 1}
    assert value((TP - FP) / (FN - TN), huge) == -math.inf
    assert value(TP / (TN - FN), huge) == math.inf


def test_roots_and_logarithms_have_no_ratio() -> None:
    for formula in (sqrt(TP), times_log(TP, FP), 1 + sqrt(TP) * FP, TP / sqrt(FP)):
        assert ratio(formula) is None
    assert ratio(total(sqrt(HIT))) is None
    assert ratio(geometric_mean(HIT / ROW)) is None


def test_a_class_cell_outside_of_a_sum_is_refused() -> None:
    with pytest.raises(TypeError, match="is outside any sum"):
        value(HIT / ROW, of_two(1, 2, 3, 4))


# -- floats ----------------------------------------------------------------------------------------


def assert_same(formula: Expression, table: dict[str, object]) -> None:
    """One table by functions and by arrays."""
    by_class = "HIT" in table
    arrays = {name: np.asarray(count, np.float64) for name, count in table.items()}
    values = np.atleast_1d(evaluate(formula, arrays))
    floats = {
        name: tuple(map(float, each)) if isinstance(each, tuple) else float(each)
        for name, each in table.items()
    }
    for k, expected in enumerate(values.tolist()):
        assert same_bits(number(formula)(floats, k if by_class else None), expected)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", FORMULAS)
@settings(max_examples=15)
@given(counts=COUNTS)
def test_value_and_slopes_have_the_bits_of_arrays(name: str, counts: tuple[int, ...]) -> None:
    table: dict[str, object] = dict(zip(BINARY, counts, strict=True))
    rare = at_base_rate(FORMULAS[name], Fraction(1, 1000))
    for formula in (FORMULAS[name], rare):
        for part in (formula, *(derivative(formula, cell) for cell in sorted(cells(formula)))):
            assert_same(part, table)


@pytest.mark.sampled(50)
@pytest.mark.parametrize("name", [*OVERALL, *AVERAGES])
@settings(max_examples=8)
@given(counts=COUNTS)
def test_two_classes_have_the_bits_of_arrays(name: str, counts: tuple[int, ...]) -> None:
    formula = {**OVERALL, **AVERAGES}[name]
    parts = [derivative(formula, cell) for cell in sorted(cells(formula) - {"K"})]
    for part in (formula, *parts):
        assert_same(part, of_two(*counts))


# -- what is kept ----------------------------------------------------------------------------------


def test_a_function_is_put_together_once() -> None:
    formula = TP / (TP + FP + FN + TN)
    assert number(formula) is number(formula)
    assert ratio(formula) is ratio(formula)


def test_nothing_is_kept_by_equality_alone() -> None:
    seen = []

    @once
    def looked_at(node: Expression) -> None:
        seen.append(node)

    one, other = TP / (TP + COL), TP / (TP + COL)
    for node in (one, one, other):
        looked_at(node)
    assert one == other
    assert len(seen) == 2


def test_a_formula_that_was_evaluated_is_still_a_value() -> None:
    formula = TP / (TP + FP)
    fresh = TP / (TP + FP)
    value(formula, {"TP": 1, "FP": 2})
    assert formula == fresh
    assert hash(formula) == hash(fresh)
    assert pickle.loads(pickle.dumps(formula)) == formula
    assert copy.deepcopy(formula) == formula
