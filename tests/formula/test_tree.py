"""The expression tree: building, and new trees from old."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
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
    K,
    N,
    at_base_rate,
    cells,
    constant,
    derivative,
    geometric_mean,
    of_classes,
    plain,
    sqrt,
    substitute,
    times_log,
    total,
    value,
)
from assay.formula.tree import (
    ONE,
    ZERO,
    Add,
    Cell,
    Constant,
    Divide,
    GeometricMean,
    Multiply,
    Root,
    TimesLog,
)
from assay.formula.tree import Total as TotalNode

from .tables import (
    AVERAGED,
    BINARY,
    CLASS_FORMULAS,
    FORMULAS,
    Matrix,
    against_rest,
    class_cells,
    defined,
    matrices,
    nearest,
    rational,
    same,
    tables,
)

HALF = Fraction(1, 2)
FEW = settings(max_examples=15)  # for what runs once for each measure
TABLE = {"TP": 7, "FP": 3, "FN": 2, "TN": 11}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (TP + FP, 10),
        (TP + 1, 8),
        (1 + TP, 8),
        (TP + HALF, 7.5),
        (TP - FP, 4),
        (TP - 1, 6),
        (1 - TP, -6),
        (TP - (FP - FN), 6),
        (TP * FP, 21),
        (TP * 2, 14),
        (2 * TP, 14),
        (TP * 0, 0),
        (TP / FN, 3.5),
        (TP / 2, 3.5),
        (2 / FN, 1),
        (TP / HALF, 14),
        (sqrt(TP + FN), 3),
        (constant(5), 5),
        (constant(Fraction(1, 4)) + TP * 0, 0.25),
    ],
)
def test_arithmetic_on_cells_means_what_it_says(expression: Expression, expected: float) -> None:
    assert value(expression, TABLE) == expected


def test_a_number_becomes_an_exact_constant_and_a_node_stays_itself() -> None:
    assert constant(3) == Constant(Fraction(3))
    assert constant(TP) is TP


@pytest.mark.parametrize(
    ("expression", "canonical"),
    [
        (TP - TP, ZERO),
        (TP + 0, TP),
        (TP * 1, TP),
        (TP * 0, ZERO),
        (TP + TP, Multiply((Constant(Fraction(2)), TP))),
        (FP + TP, Add((TP, FP))),
        ((FP + FN) + (TN + TP), Add((TP, TN, FP, FN))),
        (1 + TP, Add((TP, ONE))),
        (2 * (3 * TP), Multiply((Constant(Fraction(6)), TP))),
        (constant(2) * constant(3), Constant(Fraction(6))),
        (TP / 2, Multiply((Constant(HALF), TP))),
        (sqrt(ZERO), ZERO),
        (sqrt(ONE), ONE),
        (times_log(0, TP), ZERO),
        (times_log(TP, ONE), ZERO),
        (times_log(TP + FP, FP), TimesLog(Add((TP, FP)), FP)),
        (times_log(-2 * TP, FP), Multiply((Constant(Fraction(-2)), TimesLog(TP, FP)))),
        (times_log(3, FP), Multiply((Constant(Fraction(3)), TimesLog(ONE, FP)))),
        (total(ROW), N),
        (total(COL * 2), Multiply((Constant(Fraction(2)), N))),
        (total(3), Multiply((Constant(Fraction(3)), K))),
        (total(N), Multiply((K, N))),
        (total(ROW + HIT), Add((N, TotalNode(HIT)))),
        (total(ROW - COL), ZERO),
        (total(HIT / 2), Multiply((Constant(HALF), TotalNode(HIT)))),
    ],
)
def test_equal_formulas_have_one_form(expression: Expression, canonical: Expression) -> None:
    assert expression == canonical


def test_nodes_of_one_form_hash_alike() -> None:
    assert {TP + FP, FP + TP, TP + FP + 0} == {Add((TP, FP))}


def test_a_ratio_keeps_its_zero_numerator_since_nought_over_nought_is_undefined() -> None:
    assert Divide(ZERO, FP) == (0 * TP) / FP


def test_a_division_by_the_number_zero_stays_a_ratio() -> None:
    assert Divide(TP, ZERO) == TP / 0


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        (TP / (TP + FP), {"TP", "FP"}),
        (constant(1), set()),
        (sqrt(TN), {"TN"}),
        (times_log(TP, FP / FN), {"TP", "FP", "FN"}),
        (total(HIT / ROW) / K, {"HIT", "ROW", "K"}),
        (geometric_mean(HIT / COL), {"HIT", "COL"}),
    ],
)
def test_cells_are_all_names_in_a_formula(expression: Expression, names: set[str]) -> None:
    assert cells(expression) == names


# -- substitution ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULAS)
@FEW
@given(table=tables(1000), factor=st.integers(1, 9))
def test_substituting_cells_is_evaluating_at_the_new_cells(
    name: str, table: dict[str, int], factor: int
) -> None:
    new: dict[str, Expression] = {"TP": FN * factor, "FN": TP + 1, "FP": constant(3)}
    at = {"TP": table["FN"] * factor, "FN": table["TP"] + 1, "FP": 3, "TN": table["TN"]}
    assert same(value(substitute(FORMULAS[name], new), table), value(FORMULAS[name], at))


def test_substitution_reaches_into_sums_over_classes() -> None:
    assert substitute(total(HIT / ROW), {"ROW": COL}) == total(HIT / COL)
    assert substitute(geometric_mean(HIT / ROW), {"ROW": COL}) == geometric_mean(HIT / COL)
    assert substitute(sqrt(HIT + N), {"N": HIT}) == sqrt(2 * HIT)
    assert substitute(times_log(HIT, N), {"N": ROW}) == times_log(HIT, ROW)
    assert substitute(times_log(TP, FP), {"TP": ZERO}) == ZERO


def test_a_formula_substituted_by_nothing_is_itself() -> None:
    for formula in (*FORMULAS.values(), *CLASS_FORMULAS.values()):
        assert substitute(formula, {}) == formula


# -- averages over classes ------------------------------------------------------------------------


def _averages(name: str, matrix: Matrix, average: str) -> Fraction | None:
    """An average by hand, one class after the other."""
    each = [against_rest(matrix, label) for label in range(len(matrix))]
    if average == "micro":
        return defined(name, {cell: sum(table[cell] for table in each) for cell in BINARY})
    values = [defined(name, table) for table in each]
    support = [table["TP"] + table["FN"] for table in each]
    if any(v is None for v in values) or not sum(support):
        return None
    if average == "macro":
        return sum(values, Fraction(0)) / len(values)
    return sum((w * v for w, v in zip(support, values, strict=True)), Fraction(0)) / sum(support)


RATIONAL = [name for name in FORMULAS if rational(name)]


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("name", RATIONAL)
@FEW
@given(matrix=matrices())
def test_averages_are_those_counted_by_hand(name: str, average: str, matrix: Matrix) -> None:
    number = value(AVERAGED[f"{name} {average}"], class_cells(matrix))
    assert same(number, nearest(_averages(name, matrix, average)))


def test_a_macro_average_of_three_classes_by_hand() -> None:
    matrix = [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
    macro = Fraction(45, 50) + Fraction(38, 43) + Fraction(52, 57)
    assert value(of_classes(TP / (TP + FP), "macro"), class_cells(matrix)) == float(macro / 3)


def test_a_weighted_recall_is_the_accuracy() -> None:
    assert plain(of_classes(TP / (TP + FN), "weighted")) == "sum(ROW (HIT / ROW)) / N"


def test_an_average_is_put_together_once() -> None:
    # Audits of long tables ask for the same averages in every row.
    average = of_classes(TP / (TP + FP), "micro")
    assert of_classes(TP / (TP + FP), "micro") is average
    assert of_classes(TP / (TP + FP), "macro") is not average
    matrix = [[45, 3, 2], [4, 38, 3], [1, 2, 52]]
    weighted = value(of_classes(TP / (TP + FN), "weighted"), class_cells(matrix))
    assert weighted == value(total(HIT) / N, class_cells(matrix)) == 135 / 150


@pytest.mark.parametrize("name", CLASS_FORMULAS)
@FEW
@given(table=tables())
def test_a_formula_over_two_classes_is_the_binary_one(name: str, table: dict[str, int]) -> None:
    matrix = [[table["TN"], table["FP"]], [table["FN"], table["TP"]]]
    number = value(CLASS_FORMULAS[name], class_cells(matrix))
    if name == "jaccard":  # its form over classes is the mean of both sides
        expected = value(AVERAGED["jaccard macro"], class_cells(matrix))
    else:
        expected = value(FORMULAS[name], table)
    assert same(number, expected)


# -- base rate ------------------------------------------------------------------------------------

rates = st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6), max_denominator=10**6)


@pytest.mark.parametrize("name", RATIONAL)
@FEW
@given(table=tables(), rate=rates)
def test_at_a_base_rate_the_rates_stay_and_the_mix_does_not(
    name: str, table: dict[str, int], rate: Fraction
) -> None:
    positives, negatives = table["TP"] + table["FN"], table["FP"] + table["TN"]
    number = value(at_base_rate(FORMULAS[name], rate), table)
    if not positives or not negatives:
        own = value(FORMULAS[name], table)
        assert same(number, own if _one_sided(name) else math.nan)
        return
    mixed = {
        "TP": rate * Fraction(table["TP"], positives),
        "FN": rate * Fraction(table["FN"], positives),
        "FP": (1 - rate) * Fraction(table["FP"], negatives),
        "TN": (1 - rate) * Fraction(table["TN"], negatives),
    }
    assert same(number, nearest(defined(name, mixed)))


def _one_sided(name: str) -> bool:
    """Whether a measure reads the rows of one class alone."""
    return cells(FORMULAS[name]) in (frozenset({"TP", "FN"}), frozenset({"FP", "TN"}))


@given(table=tables())
def test_at_its_own_prevalence_a_formula_is_unchanged(table: dict[str, int]) -> None:
    positives, negatives = table["TP"] + table["FN"], table["FP"] + table["TN"]
    assume(positives and negatives)
    own = Fraction(positives, positives + negatives)
    for formula in FORMULAS.values():
        assert same(value(at_base_rate(formula, own), table), value(formula, table))


def test_precision_at_one_attack_in_a_thousand() -> None:
    ppv = at_base_rate(TP / (TP + FP), Fraction(1, 1000))
    exact = Fraction(95, 100) / (Fraction(95, 100) + 999 * Fraction(2, 100))
    assert value(ppv, {"TP": 95, "FN": 5, "FP": 2, "TN": 98}) == float(exact)


# -- derivatives: small ones by hand; the rest against sympy --------------------------------------


@pytest.mark.parametrize(
    ("expression", "cell", "expected"),
    [
        (TP, "TP", ONE),
        (TP, "FP", ZERO),
        (constant(4), "TP", ZERO),
        (TP + 3 * FP, "FP", constant(3)),
        (TP * FP, "TP", FP),
        (TP * TP, "TP", 2 * TP),
        (TP / FP, "FN", ZERO),
        (sqrt(TP), "FP", ZERO),
        (sqrt(TP), "TP", 1 / (2 * sqrt(TP))),
        (times_log(TP, FP), "TN", ZERO),
        (times_log(TP, FP), "TP", times_log(1, FP)),
        (times_log(TP, FP), "FP", TP / FP),
        (times_log(TP, TP), "TP", times_log(1, TP) + TP / TP),
        (TP / (TP + FP), "TP", FP / ((TP + FP) * (TP + FP))),
        (total(HIT * ROW), "HIT", ROW),
        (total(HIT * N), "N", total(HIT)),
        (geometric_mean(HIT), "ROW", ZERO),
    ],
)
def test_derivatives_by_hand(expression: Expression, cell: str, expected: Expression) -> None:
    table = {**TABLE, "HIT": [1, 2], "ROW": [3, 4], "COL": [2, 5], "N": 7, "K": 2}
    slope = derivative(expression, cell)
    if cells(expected) & {"HIT", "ROW", "COL"}:
        assert slope == expected
    else:
        assert value(slope, table) == value(expected, table)


class Stranger(Expression):
    """A node that no reading knows."""


def test_a_node_of_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="not an expression: Stranger"):
        derivative(Stranger(), "TP")


def test_nodes_are_frozen() -> None:
    for node in (
        Cell("TP"),
        ONE,
        TP + FP,
        TP / FP,
        Root(TP),
        TotalNode(HIT),
        GeometricMean(HIT),
        TimesLog(TP, FP),
    ):
        with pytest.raises(AttributeError):
            node.name = "other"  # type: ignore[attr-defined]
    assert TN + FN == FN + TN
