"""Which formulas agree everywhere, and which rise or fall in a cell."""

import pytest

from assay.formula import FN, FP, TN, TP, Expression, sqrt
from assay.formula.properties import BINARY, TABLES, agree, slope, unmoved

ROWS = TP + FP + FN + TN


def test_formulas_agree_where_all_values_do() -> None:
    assert agree(1 - TP / (TP + FN), FN / (TP + FN))
    assert agree(sqrt(TP / (TP + FN) * (TP / (TP + FP))), TP / sqrt((TP + FN) * (TP + FP)))


def test_formulas_of_which_one_is_undefined_where_the_other_is_not_do_not_agree() -> None:
    assert not agree(TP / (TP + FP), 1 / (1 + FP / TP))


def test_formulas_that_differ_on_one_table_do_not_agree() -> None:
    assert not agree(TP / (TP + FP), TP / (TP + FN))
    assert not agree(TP / (TP + FP), (TP + 1) / (TP + FP + 1))


def test_a_formula_is_unmoved_by_what_it_does_not_hold() -> None:
    more = {**TABLES, "TN": TABLES["TN"] + 1}
    assert unmoved(TP / (TP + FP), more)
    assert not unmoved((TP + TN) / ROWS, more)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (TP, (1, 0, 0, 0)),
        (-2 * TP / (TP + FP), (-1, 1, 0, 0)),
        ((TP + TN) / ROWS, (1, -1, -1, 1)),
        (sqrt(TP / (TP + FN)), (1, 0, -1, 0)),
        (TP / sqrt(TP + FP), (1, -1, 0, 0)),
        (TP * FP, (1, 1, 0, 0)),
        (TP - FP, (1, -1, 0, 0)),
    ],
)
def test_the_slope_of_a_formula_has_a_sign(formula: Expression, expected: tuple[int, ...]) -> None:
    assert tuple(slope(formula, cell) for cell in BINARY) == expected


@pytest.mark.parametrize(
    "formula",
    [(TP - FP) * (TP - FP), sqrt(TP) + sqrt(FP), TP * sqrt(TP) / (TP + FP), (TP * FP) / (TP - FP)],
    ids=["falls and rises", "a sum of roots", "a root above", "a pole"],
)
def test_a_slope_that_is_not_seen_to_have_one_sign_is_none(formula: Expression) -> None:
    assert slope(formula, "TP") is None
