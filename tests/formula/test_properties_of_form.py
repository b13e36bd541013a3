"""What the form of a formula tells: proportions, and why a value is undefined."""

import itertools
import math
import re
from fractions import Fraction

import pytest
from hypothesis import given

from assay.errors import MethodError
from assay.formula import (
    COL,
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Expression,
    K,
    N,
    Proportion,
    at_base_rate,
    cells,
    constant,
    geometric_mean,
    proportion,
    reason,
    sqrt,
    total,
    value,
)
from assay.formula.properties import share_of
from assay.measures import CATALOGUE

from .tables import (
    AVERAGED,
    BINARY,
    CLASS_FORMULAS,
    FORMULAS,
    PROPORTIONS,
    Matrix,
    class_cells,
    matrices,
    tables,
)

SMALL = [
    dict(zip(BINARY, counts, strict=True)) for counts in itertools.product((0, 1, 2), repeat=4)
]
SMALL_MATRICES = [(counts[:2], counts[2:]) for counts in itertools.product((0, 1, 3), repeat=4)] + [
    (c[:3], c[3:6], c[6:]) for c in itertools.product((0, 1), repeat=9)
]
RATE = Fraction(1, 1000)
EMPTY = "nothing was flagged and there are no positives (TP + FP + FN = 0)"
FULL = "there are no negatives and everything was flagged (TN + FP + FN = 0)"


# -- proportions ----------------------------------------------------------------------------------


def test_exactly_the_shares_of_rows_are_proportions() -> None:
    assert {name for name, f in FORMULAS.items() if proportion(f) is not None} == PROPORTIONS


def test_over_classes_accuracy_and_error_rate_alone_are_proportions() -> None:
    names = {name for name, f in CLASS_FORMULAS.items() if proportion(f) is not None}
    assert names == {"accuracy", "error_rate"}


def test_averages_are_no_proportions_but_where_they_are_the_accuracy() -> None:
    names = {name for name, f in AVERAGED.items() if proportion(f) is not None}
    same_as_accuracy = {"precision micro", "recall micro"}
    same_as_error = {"false_negative_rate micro", "false_discovery_rate micro"}
    assert same_as_accuracy | same_as_error <= names
    assert all(name.endswith("micro") for name in names)


def test_nothing_at_a_base_rate_is_a_proportion() -> None:
    assert all(proportion(at_base_rate(f, RATE)) is None for f in FORMULAS.values())


@pytest.mark.parametrize(
    "expression",
    [
        TP,
        TP * TN,
        constant(1),
        TP / (FP + FN),  # the upper cell is not among the lower ones
        FP / (TP + FN),
        2 * TP / (TP + FP),
        (TP - FP) / (TP + FP),
        TP / (2 * TP + FP),
        TP / (TP + FP + 1),
        (TP + 1) / (TP + FP + 1),
        TP * TP / (TP * TP + FP),
        sqrt(TP) / sqrt(TP + FP),
        total(HIT) / (N + N),
        total(HIT * HIT) / N,
        total(HIT / ROW) / K,
        geometric_mean(HIT / ROW),
        (0 * TP) / (TP + FP),
    ],
)
def test_what_is_not_a_share_of_rows_is_no_proportion(expression: Expression) -> None:
    assert proportion(expression) is None


@pytest.mark.parametrize(
    ("expression", "successes", "trials"),
    [
        (TP / (TP + FP), TP, TP + FP),
        ((TP + FP) / (FP + TP), TP + FP, TP + FP),
        ((N - total(HIT)) / N, N - total(HIT), N),
        (total(HIT) / N, total(HIT), N),
        (TN / TN, TN, TN),
    ],
)
def test_a_proportion_has_its_successes_and_trials(
    expression: Expression, successes: Expression, trials: Expression
) -> None:
    assert proportion(expression) == Proportion(successes, trials)


@given(table=tables())
def test_successes_are_at_most_the_trials(table: dict[str, int]) -> None:
    for name in PROPORTIONS:
        share = proportion(FORMULAS[name])
        assert share is not None
        successes, trials = value(share.successes, table), value(share.trials, table)
        assert 0 <= successes <= trials


# -- reasons --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "table", "expected"),
    [
        ("accuracy", (0, 0, 0, 0), "there are no rows (TP + TN + FP + FN = 0)"),
        ("precision", (0, 0, 5, 5), "nothing was flagged (TP + FP = 0)"),
        ("recall", (0, 5, 0, 5), "there are no positives (TP + FN = 0)"),
        ("specificity", (5, 0, 5, 0), "there are no negatives (TN + FP = 0)"),
        ("negative_predictive_value", (5, 5, 0, 0), "everything was flagged (TN + FN = 0)"),
        ("f1", (0, 0, 0, 5), EMPTY),
        ("f2", (0, 0, 0, 5), EMPTY),
        ("f0.5", (0, 0, 0, 5), EMPTY),
        ("jaccard", (0, 0, 0, 5), EMPTY),
        ("g_mean", (5, 0, 5, 0), "there are no negatives (TN + FP = 0)"),
        ("mcc", (0, 0, 5, 5), "nothing was flagged (TP + FP = 0)"),
        ("kappa", (5, 0, 0, 0), FULL),
        ("positive_likelihood_ratio", (5, 0, 5, 5), "there are no false positives (FP = 0)"),
        ("negative_likelihood_ratio", (5, 5, 5, 0), "there are no true negatives (TN = 0)"),
        ("diagnostic_odds_ratio", (5, 5, 0, 5), "there are no false negatives (FN = 0)"),
    ],
)
def test_the_reason_names_what_is_empty(name: str, table: tuple[int, ...], expected: str) -> None:
    assert reason(FORMULAS[name], dict(zip(BINARY, table, strict=True))) == expected


def _must_explain(formula: Expression, table: dict[str, object], labels: list[str]) -> None:
    said = reason(formula, table, labels)
    if not math.isnan(value(formula, table)):
        assert said is None
        return
    assert said is not None
    assert not said.startswith("its denominator is zero")
    assert re.fullmatch(r"[a-z].+ \(.+ = 0\)", said)


@pytest.mark.parametrize("name", FORMULAS)
def test_every_undefined_value_has_a_reason_in_words(name: str) -> None:
    for table in SMALL:
        _must_explain(FORMULAS[name], table, [])


@pytest.mark.parametrize("name", FORMULAS)
def test_the_cells_named_in_a_reason_are_all_zero(name: str) -> None:
    for table in SMALL:
        said = reason(FORMULAS[name], table)
        for cell in re.findall(r"\b(?:TP|FP|FN|TN)\b", said or ""):
            assert table[cell] == 0


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", FORMULAS)
def test_at_a_base_rate_every_undefined_value_has_a_reason_in_words(name: str) -> None:
    for table in SMALL:
        _must_explain(at_base_rate(FORMULAS[name], RATE), table, [])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CLASS_FORMULAS)
def test_over_classes_every_undefined_value_has_a_reason_in_words(name: str) -> None:
    for matrix in SMALL_MATRICES:
        _must_explain(CLASS_FORMULAS[name], class_cells(matrix), ["a", "b", "c"])


OFFERED = [
    f"{measure.name} {average}"
    for measure in CATALOGUE
    for average in ("macro", "micro", "weighted")
    if measure.formula is not None and measure.averages
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("name", OFFERED)
def test_every_undefined_average_has_a_reason_in_words(name: str) -> None:
    for matrix in SMALL_MATRICES[::3]:
        _must_explain(AVERAGED[name], class_cells(matrix), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("formula", "matrix", "expected"),
    [
        ("recall macro", [[5, 1], [0, 0]], "class 'b' has no rows (TP + FN = 0)"),
        ("precision macro", [[5, 0], [1, 0]], "class 'b' was never decided (TP + FP = 0)"),
        ("specificity macro", [[5, 1], [0, 0]], "every row is of class 'a' (TN + FP = 0)"),
        ("mcc", [[5, 1], [0, 0]], "every row is of one class (N N - sum(ROW ROW) = 0)"),
        ("mcc", [[5, 0], [1, 0]], "every row was decided as one class (N N - sum(COL COL) = 0)"),
        ("accuracy", [[0, 0], [0, 0]], "there are no rows (N = 0)"),
    ],
)
def test_the_reason_over_classes_names_the_class(
    formula: str, matrix: Matrix, expected: str
) -> None:
    document = {**AVERAGED, **CLASS_FORMULAS}[formula]
    assert reason(document, class_cells(matrix), ["a", "b"]) == expected


def test_without_labels_the_reason_says_a_class() -> None:
    said = reason(total(HIT / ROW) / K, class_cells([[5, 1], [0, 0]]))
    assert said == "a class has no rows (TP + FN = 0)"


@pytest.mark.parametrize(
    ("expression", "table"),
    [
        (TP / (FP - FN), {"TP": 1, "FP": 2, "FN": 2, "TN": 0}),
        (TP / (sqrt(FP) - sqrt(FN)), {"TP": 1, "FP": 2, "FN": 2, "TN": 0}),
        (TP / (0 * FP), {"TP": 1, "FP": 2}),
        (1 / ((TP / FP) - 1), {"TP": 2, "FP": 2}),
    ],
)
def test_a_denominator_without_words_is_shown_itself(
    expression: Expression, table: dict[str, int]
) -> None:
    said = reason(expression, table)
    assert said is not None
    assert re.fullmatch(r"its denominator is zero \(.+ = 0\)", said)


def test_a_sum_over_classes_without_words_is_shown_itself() -> None:
    said = reason(K / (N - 4), class_cells([[1, 2], [0, 1]]))
    assert said == "its denominator is zero (N - 4 = 0)"
    said = reason(1 / (K * sqrt(total(HIT) - total(COL * 0) - 2)), class_cells([[1, 2], [0, 1]]))
    assert said == "its denominator is zero (sum(HIT) - 2 = 0)"


def test_a_product_that_only_roots_bring_to_zero_is_shown_itself() -> None:
    said = reason(1 / (K * (sqrt(N) - sqrt(K))), class_cells([[1, 0], [0, 1]]))
    assert said == "its denominator is zero (K (sqrt(N) - sqrt(K)) = 0)"


def test_a_denominator_that_is_itself_undefined_elsewhere_is_explained_all_the_same() -> None:
    for pole in range(1, 500):
        said = reason(1 / (TP / (FN - pole)), {"TP": 0, "FN": pole + 1})
        assert said is not None
        assert "= 0)" in said


@given(matrix=matrices(3))
def test_a_reason_is_given_just_where_the_value_is_undefined(matrix: Matrix) -> None:
    table = class_cells(matrix)
    labels = [str(i) for i in range(len(matrix))]
    for formula in CLASS_FORMULAS.values():
        assert (reason(formula, table, labels) is None) == (not math.isnan(value(formula, table)))


@pytest.mark.parametrize("name", FORMULAS)
def test_a_reason_needs_no_cells_but_those_of_the_formula(name: str) -> None:
    assert reason(FORMULAS[name], dict.fromkeys(cells(FORMULAS[name]), 0)) is not None


def test_a_share_is_told_by_its_parts_and_what_is_none_is_refused() -> None:
    assert share_of(TP / (TP + FP)) == Proportion(TP, TP + FP)
    with pytest.raises(MethodError, match=r"TP / FP is not a share of rows"):
        share_of(TP / FP)
