"""The exact evaluator: one correct rounding, at any size."""

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formula import (
    FN,
    FP,
    HIT,
    ROW,
    TN,
    TP,
    Expression,
    constant,
    enclosure,
    geometric_mean,
    rounded,
    sqrt,
    times_log,
    total,
    value,
)
from assay.formula.one_table import UndefinedRatio
from assay.measures import CATALOGUE

from .tables import (
    CLASS_FORMULAS,
    FORMULAS,
    Matrix,
    class_cells,
    defined,
    matrices,
    nearest,
    rational,
    same,
    tables,
)

FEW = settings(max_examples=15)
HUGE = 10**40


# -- examples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [m for m in CATALOGUE if m.example], ids=lambda m: m.name)
def test_the_example_of_each_measure_is_exact(measure) -> None:  # type: ignore[no-untyped-def]
    counts, expected = measure.example
    low, high = enclosure(measure.formula, counts.cells())
    assert low <= expected <= high
    if rational(measure.name):
        assert low == high
    assert value(measure.formula, counts.cells()) == float(expected)


def test_precision_is_undefined_when_nothing_is_flagged() -> None:
    assert math.isnan(value(TP / (TP + FP), {"TP": 0, "FP": 0}))
    assert rounded(TP / (TP + FP), {"TP": 0, "FP": 0}, 3) is None


def test_an_undefined_ratio_tells_where_it_was_met() -> None:
    with pytest.raises(UndefinedRatio, match="a denominator is zero") as undefined:
        enclosure(total(HIT / ROW), {"HIT": [1, 0], "ROW": [2, 0]})
    assert undefined.value.ratio == HIT / ROW
    assert undefined.value.of_class == 1


@pytest.mark.parametrize(
    "expression",
    [TP * (TP / FP), TP / FP - FN / FP, sqrt(TP / FP), (TP / FP) / TN, TN / (TP / FP)],
)
def test_what_holds_an_undefined_part_is_undefined_even_times_zero(expression: Expression) -> None:
    assert math.isnan(value(expression, {"TP": 0, "FP": 0, "TN": 1, "FN": 2}))


def test_a_cell_may_be_a_fraction() -> None:
    assert value(TP / (TP + FP), {"TP": Fraction(1, 3), "FP": Fraction(1, 6)}) == 2 / 3


def test_a_formula_over_classes_needs_one_cell_a_class() -> None:
    with pytest.raises(TypeError, match="one HIT, ROW and COL for each class"):
        value(total(HIT), {"HIT": 3})


def test_a_class_cell_outside_of_a_sum_has_no_single_value() -> None:
    with pytest.raises(TypeError, match="HIT has one value per class"):
        value(HIT / 2, {"HIT": [1, 2]})


def test_a_root_of_a_square_is_exact() -> None:
    low, high = enclosure(sqrt(TP / FP), {"TP": 49 * HUGE, "FP": 16 * HUGE})
    assert low == high == Fraction(7, 4)


def test_a_geometric_mean_of_cubes_is_exact() -> None:
    cells = {"HIT": [27 * HUGE**3, 8, 1], "ROW": [1, 1, 1]}
    low, high = enclosure(geometric_mean(HIT / ROW), cells)
    assert low == high == 6 * HUGE


def test_a_value_beyond_float64_is_infinite_with_its_sign() -> None:
    cells = {"TP": 10**400, "FP": 1, "FN": 10**400 + 1}
    assert value(TP / FP, cells) == math.inf
    assert value((1 - TP) / FP, cells) == -math.inf
    assert value(TP / FN, cells) == 1.0


def test_a_value_below_float64_is_zero() -> None:
    assert value(FP / TP, {"TP": 10**400, "FP": 1}) == 0.0


def test_the_nearest_float_of_a_tie_is_the_even_one() -> None:
    assert value(TP / FP, {"TP": 2**53 + 1, "FP": 1}) == 2.0**53
    assert value(TP / FP, {"TP": 2**53 + 3, "FP": 1}) == 2.0**53 + 4


# -- roots that need more than the first bits -----------------------------------------------------


def test_a_difference_of_roots_far_below_the_first_bits_is_correctly_rounded() -> None:
    cells = {"TP": 10**60 + 1, "FP": 10**60}
    with mpmath.workdps(200):
        exact = float(mpmath.sqrt(10**60 + 1) - mpmath.sqrt(10**60))
    assert value(sqrt(TP) - sqrt(FP), cells) == exact


def test_a_denominator_that_is_nearly_zero_is_told_from_zero() -> None:
    cells = {"TP": 10**60 + 1, "FP": 10**60 + 2}
    with mpmath.workdps(200):
        exact = float(1 / (mpmath.sqrt(10**60 + 2) - mpmath.sqrt(10**60 + 1)))
    assert value(1 / (sqrt(FP) - sqrt(TP)), cells) == exact


def test_a_rational_value_that_only_roots_can_reach_is_found() -> None:
    cells = {"TP": 2, "FP": 8}
    assert value(sqrt(TP) * sqrt(FP), cells) == 4.0
    assert rounded(sqrt(TP) * sqrt(FP), cells, 3) == Decimal("4.000")


def test_roots_that_cancel_give_zero() -> None:
    assert value(sqrt(TP) - sqrt(FP) / 2, {"TP": 2, "FP": 8}) == 0.0


# -- logarithms -----------------------------------------------------------------------------------


def test_nothing_times_the_logarithm_of_anything_is_nothing() -> None:
    for argument in (TP, TP / TN, FP - FN, constant(0) / FN):
        assert value(times_log(TP, argument), {"TP": 0, "FP": 1, "FN": 2, "TN": 5}) == 0.0


def test_a_logarithm_of_nothing_or_less_is_undefined() -> None:
    cells = {"TP": 3, "FP": 0, "FN": 1}
    assert math.isnan(value(times_log(TP, FP), cells))
    assert math.isnan(value(times_log(TP, FP - FN), cells))
    assert rounded(times_log(TP, FP), cells, 3) is None


def test_the_logarithm_of_one_is_exactly_nothing() -> None:
    low, high = enclosure(times_log(TP, FP / FN), {"TP": HUGE, "FP": HUGE, "FN": HUGE})
    assert low == high == 0


def test_an_argument_that_is_nearly_nothing_is_told_from_nothing() -> None:
    cells = {"TP": 10**60 + 1, "FP": 10**60}
    with mpmath.workdps(200):
        exact = float(mpmath.log(mpmath.sqrt(10**60 + 1) - mpmath.sqrt(10**60)))
    assert value(times_log(1, sqrt(TP) - sqrt(FP)), cells) == exact


@pytest.mark.parametrize("near", [1, 2, 10**9])
def test_a_logarithm_of_nearly_one_keeps_its_digits(near: int) -> None:
    cells = {"TP": HUGE + near, "FP": HUGE}
    with mpmath.workdps(200):
        exact = float(mpmath.log(mpmath.mpf(HUGE + near) / HUGE))
    assert value(times_log(1, TP / FP), cells) == exact


def test_a_logarithm_of_what_float64_can_not_hold_is_found() -> None:
    assert value(times_log(1, TP), {"TP": 10**400}) == float(mpmath.log(10) * 400)
    assert value(times_log(1, 1 / TP), {"TP": 10**400}) == -float(mpmath.log(10) * 400)


positive_fractions = st.one_of(
    st.fractions(Fraction(1, 10**18), 10**18), st.fractions(Fraction(9, 10), Fraction(11, 10))
)


@given(factor=st.fractions(-(10**18), 10**18), argument=positive_fractions)
def test_a_logarithm_is_enclosed_and_correctly_rounded(
    factor: Fraction, argument: Fraction
) -> None:
    cells = {"TP": factor, "FP": argument}
    low, high = enclosure(times_log(TP, FP), cells)
    with mpmath.workdps(100):
        times, of = (mpmath.mpf(x.numerator) / x.denominator for x in (factor, argument))
        exact = times * mpmath.log(of)
        below, above = (mpmath.mpf(end.numerator) / end.denominator for end in (low, high))
        assert below <= exact <= above
        assert value(times_log(TP, FP), cells) == float(exact)


# -- against exact rationals and mpmath -----------------------------------------------------------


def test_every_formula_of_the_catalogue_has_a_definition_to_compare_with() -> None:
    assert all(name in FORMULAS for name in CLASS_FORMULAS)
    cells = {"TP": 3, "FP": 1, "FN": 2, "TN": 4}
    assert all(defined(name, cells) is not None for name in FORMULAS)


@pytest.mark.parametrize("largest", [10**6, 10**18, HUGE], ids=["1e6", "1e18", "1e40"])
@pytest.mark.parametrize("name", FORMULAS)
@FEW
@given(data=st.data())
def test_a_value_is_the_float_nearest_to_the_definition(
    name: str, largest: int, data: st.DataObject
) -> None:
    table = data.draw(tables(largest))
    assert same(value(FORMULAS[name], table), nearest(defined(name, table)))


def _recalls(matrix: Matrix) -> list[Fraction]:
    return [Fraction(row[i], sum(row)) for i, row in enumerate(matrix)]


def _jaccard(matrix: Matrix) -> Fraction:
    c = class_cells(matrix)
    each = [Fraction(h, r + q - h) for h, r, q in zip(c["HIT"], c["ROW"], c["COL"], strict=True)]
    return sum(each, Fraction(0)) / len(each)


def _kappa(matrix: Matrix) -> Fraction:
    c = class_cells(matrix)
    observed = Fraction(sum(c["HIT"]), c["N"])
    expected = Fraction(sum(r * q for r, q in zip(c["ROW"], c["COL"], strict=True)), c["N"] ** 2)
    return (observed - expected) / (1 - expected)


def _mcc(matrix: Matrix) -> mpmath.mpf:
    """Gorodkin's correlation, as the sums over three indices that define it."""
    k = range(len(matrix))
    c = matrix
    above = sum(c[i][i] * c[a][b] - c[a][i] * c[i][b] for i in k for a in k for b in k)
    rows = sum(sum(c[i]) * sum(sum(c[j]) for j in k if j != i) for i in k)
    columns = [sum(c[i][j] for i in k) for j in k]
    across = sum(columns[i] * sum(columns[j] for j in k if j != i) for i in k)
    return mpmath.mpf(above) / mpmath.sqrt(mpmath.mpf(rows) * across)


OVER_CLASSES = {
    "accuracy": lambda m: Fraction(sum(class_cells(m)["HIT"]), class_cells(m)["N"]),
    "error_rate": lambda m: 1 - Fraction(sum(class_cells(m)["HIT"]), class_cells(m)["N"]),
    "balanced_accuracy": lambda m: sum(_recalls(m), Fraction(0)) / len(m),
    "g_mean": lambda m: mpmath.root(
        mpmath.fprod(mpmath.mpf(r.numerator) / r.denominator for r in _recalls(m)), len(m)
    ),
    "jaccard": _jaccard,
    "kappa": _kappa,
    "mcc": _mcc,
}


def test_every_formula_over_classes_has_a_definition_to_compare_with() -> None:
    assert set(OVER_CLASSES) == set(CLASS_FORMULAS)


@pytest.mark.parametrize("largest", [10**5, 10**18], ids=["1e5", "1e18"])
@pytest.mark.parametrize("name", CLASS_FORMULAS)
@FEW
@given(data=st.data())
def test_a_value_over_classes_is_the_float_nearest_to_the_definition(
    name: str, largest: int, data: st.DataObject
) -> None:
    matrix = data.draw(matrices(largest))
    with mpmath.workdps(100):
        try:
            exact = OVER_CLASSES[name](matrix)
        except ZeroDivisionError:
            exact = None
    assert same(value(CLASS_FORMULAS[name], class_cells(matrix)), nearest(exact))


@given(matrix=matrices(10**6, most=9))
def test_a_geometric_mean_of_many_classes_is_correctly_rounded(matrix: Matrix) -> None:
    cells = {"HIT": [m[0] + 1 for m in matrix], "ROW": [sum(m) + 1 for m in matrix]}
    with mpmath.workdps(60):
        product = mpmath.mpf(1)
        for h, r in zip(cells["HIT"], cells["ROW"], strict=True):
            product *= mpmath.mpf(h) / r
        exact = float(mpmath.root(product, len(matrix)))
    assert value(geometric_mean(HIT / ROW), cells) == exact


@given(radicand=st.fractions(0, 10**30))
def test_a_square_root_is_enclosed_and_correctly_rounded(radicand: Fraction) -> None:
    low, high = enclosure(sqrt(TP), {"TP": radicand})
    assert low**2 <= radicand <= high**2
    with mpmath.workdps(60):
        exact = mpmath.sqrt(mpmath.mpf(radicand.numerator) / radicand.denominator)
        assert value(sqrt(TP), {"TP": radicand}) == float(exact)


@given(table=tables(10**18), scale=st.integers(1, 10**18))
def test_scaling_all_counts_changes_no_value(table: dict[str, int], scale: int) -> None:
    larger = {name: count * scale for name, count in table.items()}
    for formula in FORMULAS.values():
        assert same(value(formula, larger), value(formula, table))


# -- decimals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("numerator", "denominator", "digits", "expected"),
    [
        (1, 8, 2, "0.12"),
        (3, 8, 2, "0.38"),
        (5, 8, 2, "0.62"),
        (7, 8, 2, "0.88"),
        (1, 2, 0, "0"),
        (3, 2, 0, "2"),
        (1, 8, 3, "0.125"),
        (1, 8, 5, "0.12500"),
        (2, 3, 6, "0.666667"),
        (1, 1, 2, "1.00"),
        (0, 1, 2, "0.00"),
        (-1, 8, 2, "-0.12"),
        (-3, 8, 2, "-0.38"),
        (10**18 - 1, 10**18, 17, "1.00000000000000000"),
        (10**18 - 1, 10**18, 18, "0.999999999999999999"),
    ],
)
def test_rounding_to_decimals_is_half_to_even(
    numerator: int, denominator: int, digits: int, expected: str
) -> None:
    rounded_value = rounded(TP / FP, {"TP": numerator, "FP": denominator}, digits)
    assert str(rounded_value) == expected


def test_a_number_just_beside_a_tie_is_not_rounded_twice() -> None:
    tie = {"TP": 125 * 10**30 + 1, "FP": 10**33}  # 0.125 and 1e-33
    assert rounded(TP / FP, tie, 2) == Decimal("0.13")
    assert round(value(TP / FP, tie), 2) == 0.12


def test_a_number_with_more_digits_than_a_decimal_holds_by_default_keeps_them_all() -> None:
    cells = {"TP": 10**18 + 1, "TN": 10**18 + 3, "FP": 1, "FN": 1}
    exact = (10**18 + 1) * (10**18 + 3)
    assert rounded((TP * TN) / (FP * FN), cells, 4) == Decimal(f"{exact}.0000")


@given(
    numerator=st.integers(-(10**30), 10**30),
    denominator=st.integers(1, 10**18),
    digits=st.integers(0, 20),
)
def test_decimals_are_those_of_an_exact_division(
    numerator: int, denominator: int, digits: int
) -> None:
    rounded_value = rounded(TP / FP, {"TP": numerator, "FP": denominator}, digits)
    wide = Context(prec=200)
    quotient = wide.divide(Decimal(numerator), Decimal(denominator))
    expected = quotient.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, wide)
    assert rounded_value == expected
    assert rounded_value is not None
    assert rounded_value.as_tuple().exponent == -digits


@given(radicand=st.integers(0, 10**20), digits=st.integers(0, 12))
def test_decimals_of_a_root_are_correct(radicand: int, digits: int) -> None:
    rounded_value = rounded(sqrt(TP), {"TP": radicand}, digits)
    assert rounded_value is not None
    unit = Fraction(1, 10**digits)
    below, above = Fraction(rounded_value) - unit / 2, Fraction(rounded_value) + unit / 2
    assert max(below, Fraction(0)) ** 2 <= radicand <= above**2


class Stranger(Expression):
    """A node that no reading knows."""


def test_a_node_of_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="not an expression: Stranger"):
        value(constant(1) / Stranger(), {})


def test_a_missing_cell_is_a_key_error_that_names_it() -> None:
    with pytest.raises(KeyError, match="FN"):
        value(TP / FN, {"TP": 1})
