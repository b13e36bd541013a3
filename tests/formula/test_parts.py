"""The small steps of which values, bounds and properties are made, each by an exact example."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from assay.formula import (
    FN,
    FP,
    HIT,
    TN,
    TP,
    Bounds,
    Cell,
    Expression,
    bounds,
    bounds_along,
    constant,
    geometric_mean,
    sqrt,
    times_log,
)
from assay.formula.many_tables import (
    _WIDER,
    _product,
    _ratio,
    _slope,
    _times,
    _times_log,
    _unless,
    _widened,
    _widened_ends,
    evaluate,
)
from assay.formula.one_table import (
    _added,
    _integer_root,
    _log,
    _nearest,
    _range_product,
    _root,
    enclosure,
    number,
    rounded,
    value,
)
from assay.formula.properties import (
    TABLES,
    _polynomials,
    _regions,
    _sign,
    agree,
    proportion,
    reason,
    slope,
)
from assay.formula.tree import ONE, ZERO, N, add, multiply, split_coefficient, total

INF, NAN = math.inf, math.nan
A, B, C = Cell("A"), Cell("B"), Cell("C")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """As all bounds are worked out: what is endless or undefined is no error."""
    with np.errstate(all="ignore"):
        yield


def of(low: float, high: float) -> Bounds:
    return Bounds(np.array([low]), np.array([high]))


def ends(limits: Bounds) -> tuple[float, float]:
    return float(limits.low[0]), float(limits.high[0])


# -- bounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("top", "bottom", "ratio"),
    [
        ((2, 6), (1, 2), (1, 6)),
        ((-6, -2), (1, 2), (-6, -1)),
        ((-6, 2), (1, 2), (-6, 2)),
        ((-6, 2), (2, 4), (-3, 1)),
        ((0, 6), (1, 2), (0, 6)),
        ((-6, 0), (1, 2), (-6, 0)),
        # Both negative, and one of them.
        ((-6, -2), (-2, -1), (1, 6)),
        ((2, 6), (-2, -1), (-6, -1)),
        # A denominator that touches zero leaves one side open.
        ((2, 6), (0, 2), (1, INF)),
        ((0, 6), (0, 2), (0, INF)),
        ((-6, -2), (0, 2), (-INF, -1)),
        ((-6, 2), (0, 2), (-INF, INF)),
        ((-6, 0), (0, 2), (-INF, 0)),
        ((0, 0), (0, 2), (0, 0)),
        ((2, 6), (-2, 0), (-INF, -1)),
        # One that crosses it leaves both open.
        ((2, 6), (-1, 2), (-INF, INF)),
        ((0, 0), (-1, 2), (-INF, INF)),
    ],
)
def test_a_ratio_is_bounded_by_the_signs_of_its_parts(
    top: tuple[float, float], bottom: tuple[float, float], ratio: tuple[float, float]
) -> None:
    assert ends(_ratio(of(*top), of(*bottom))) == pytest.approx(ratio)


def test_a_ratio_over_nothing_has_no_value() -> None:
    for top in ((2, 6), (0, 0), (-1, 1)):
        assert all(map(math.isnan, ends(_ratio(of(*top), of(0, 0)))))
    assert all(map(math.isnan, ends(_ratio(of(NAN, NAN), of(1, 2)))))
    assert all(map(math.isnan, ends(_ratio(of(1, 2), of(NAN, NAN)))))


@pytest.mark.parametrize(
    ("a", "b", "product"),
    [
        ((2, 3), (5, 7), (10, 21)),
        ((-2, 3), (5, 7), (-14, 21)),
        ((-3, -2), (5, 7), (-21, -10)),
        ((-3, -2), (-7, -5), (10, 21)),
        ((-2, 3), (-7, 5), (-21, 15)),
        ((2, 3), (-7, 5), (-21, 15)),
        ((-5, 2), (-7, 3), (-15, 35)),
        ((0, 3), (0, INF), (0, INF)),
        ((0, 0), (2, INF), (0, 0)),
        ((-1, 0), (-INF, 2), (-2, INF)),
    ],
)
def test_a_product_is_bounded_by_its_corners(
    a: tuple[float, float], b: tuple[float, float], product: tuple[float, float]
) -> None:
    assert ends(_product(of(*a), of(*b))) == pytest.approx(product)
    assert ends(_product(of(*b), of(*a))) == pytest.approx(product)


def test_a_product_with_what_has_no_value_has_none() -> None:
    for a, b in ((of(NAN, NAN), of(1, 2)), (of(-1, 2), of(NAN, NAN))):
        assert all(map(math.isnan, ends(_product(a, b))))
    # Of several boxes each is bounded by itself.
    two = _product(Bounds(np.array([1.0, -2.0]), np.array([2.0, 3.0])), of(4, 5))
    assert two.low.tolist() == pytest.approx([4, -10])
    assert two.high.tolist() == pytest.approx([10, 15])


def test_nothing_times_endless_is_nothing() -> None:
    assert _times(np.array([0.0, 2.0]), np.array([INF, 3.0])).tolist() == [0.0, 6.0]
    assert ends(_unless(np.array([True]), of(1, 2)))[0] != 1
    assert ends(_unless(np.array([False]), of(1, 2))) == (1, 2)


def test_each_step_is_widened_by_some_units_of_its_size() -> None:
    assert _WIDER == 2.0**-50
    assert ends(_widened_ends(np.array([-4.0]), np.array([8.0]))) == (-4 - 2.0**-48, 8 + 2.0**-47)
    assert ends(_widened_ends(np.array([4.0]), np.array([-8.0]))) == (4 - 2.0**-48, -8 + 2.0**-47)
    assert ends(_widened(np.array([1.0]), np.array([2.0]), np.array([4.0]))) == (
        1 - 2.0**-48, 2 + 2.0**-48,
    )  # fmt: skip
    assert ends(_widened(np.array([1.0]), np.array([2.0]), np.array([INF]))) == (1, 2)


def test_a_sum_is_widened_by_the_largest_numbers_that_took_part() -> None:
    limits = bounds(A - B, {"A": ([1.0], [2.0]), "B": ([-4.0], [1.0])})
    assert ends(limits) == pytest.approx((0, 6))
    # The cells by their own size, the product by -1 too, and the sum by 2 and 4.
    assert -16 * 2.0**-50 < ends(limits)[0] < -6 * 2.0**-50


@pytest.mark.parametrize(
    ("factor", "logs", "product"),
    [
        ((1, 2), (-3, -1), (-6, -1)),
        ((0, 0), (-INF, 1), (0, 0)),
        ((0, 2), (-INF, 1), (-INF, INF)),
        ((1, 2), (1, INF), (-INF, INF)),
        ((0, 1), (2, 3), (0, 3)),
    ],
)
def test_a_factor_times_a_logarithm_is_nothing_where_the_factor_is(
    factor: tuple[float, float], logs: tuple[float, float], product: tuple[float, float]
) -> None:
    assert ends(_times_log(of(*factor), of(*logs))) == pytest.approx(product)


def test_a_logarithm_is_bounded_with_what_it_may_lose() -> None:
    near_one = ends(bounds(times_log(A, B), {"A": ([1.0], [1.0]), "B": ([1.0], [1.0])}))
    # The argument may be off by a unit, and its logarithm by another.
    assert near_one == pytest.approx((-(2.0**-49), 2.0**-49), rel=1e-6)
    far = ends(bounds(times_log(A, B), {"A": ([1.0], [2.0]), "B": ([math.e], [math.e**2])}))
    assert far == pytest.approx((1, 4))
    # Of -10 ten units of the logarithm, one of it and one of the argument, and of the product.
    small = ends(bounds(times_log(A, B), {"A": ([1.0], [1.0]), "B": ([math.exp(-10)],) * 2}))
    assert -10 - 40 * 2.0**-50 < small[0] < -10 - 20 * 2.0**-50
    assert ends(bounds(times_log(A, B), {"A": ([0.0], [0.0]), "B": ([0.0], [1.0])})) == (0, 0)
    open_ = ends(bounds(times_log(A, B), {"A": ([1.0], [2.0]), "B": ([-1.0], [1.0])}))
    assert open_ == (-INF, INF)


def test_the_root_of_what_may_be_negative_starts_at_nothing() -> None:
    interval = ends(bounds(sqrt(A), {"A": ([-4.0], [9.0])}))
    assert interval == (0, pytest.approx(3))


def test_along_a_direction_a_formula_is_bounded_by_its_ends() -> None:
    def at(ends_: list[float | None]) -> dict[str, tuple[float, float]]:
        low, high = (1.0, 3.0) if ends_[0] is None else (1 + 2 * ends_[0],) * 2
        return {"A": (low, high), "B": (10 - high, 10 - low)}

    rising = bounds_along(A / (A + B), [(("A", 1), ("B", -1))], at)
    assert (float(rising.low), float(rising.high)) == pytest.approx((0.1, 0.3))
    falling = bounds_along(B / (A + B), [(("A", 1), ("B", -1))], at)
    assert (float(falling.low), float(falling.high)) == pytest.approx((0.7, 0.9))
    # What turns inside is not set to an end: 1 x 9 to 3 x 7 by cells, and 9 to 27 without.
    turning = bounds_along((A - 2) * (A - 2), [(("A", 1), ("B", -1))], at)
    assert float(turning.low) <= 0
    assert float(turning.high) >= 1


def test_a_slope_adds_what_the_moved_cells_do() -> None:
    assert _slope(2 * A + 3 * B, (("A", 1), ("B", -1))) == constant(-1)
    assert _slope(2 * A + 3 * B, (("A", 2), ("C", 5))) == constant(4)
    assert _slope(2 * A, (("B", 1),)) == ZERO


def test_values_of_classes_keep_their_axis_where_they_stand_outside_of_a_sum() -> None:
    table = {"HIT": [[1, 2], [3, 4]], "ROW": [[2, 4], [6, 8]], "N": [6, 14], "K": [2, 2]}
    row = Cell("ROW")
    assert evaluate(HIT / row, table).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert evaluate(N - HIT, table).tolist() == [[5, 4], [11, 10]]
    assert evaluate(total(HIT) / N, table).tolist() == [0.5, 0.5]
    assert evaluate(sqrt(HIT), {"HIT": [[4, 9]]}).tolist() == [[2, 3]]
    assert evaluate(times_log(HIT, row), table)[0].tolist() == pytest.approx(
        [math.log(2), 2 * math.log(4)]
    )
    assert evaluate(times_log(N, row / HIT), table).shape == (2, 2)
    assert evaluate(N + 1, table).tolist() == [7, 15]
    assert evaluate(constant(3), table).tolist() == [3, 3]


# -- one table -------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [2, 3, 5])
@pytest.mark.parametrize("root", [1, 2, 7, 10**6, 10**20 + 1])
def test_the_integer_root_is_the_largest_whose_power_fits(root: int, degree: int) -> None:
    assert _integer_root(root**degree, degree) == root
    assert _integer_root((root + 1) ** degree - 1, degree) == root


@pytest.mark.parametrize("radicand", [Fraction(2), Fraction(1, 3), Fraction(2, 10**40), Fraction(10**40, 3)])  # fmt: skip # noqa: E501
@pytest.mark.parametrize("degree", [2, 3])
def test_a_root_is_enclosed_to_the_last_of_its_bits(radicand: Fraction, degree: int) -> None:
    low, high = _root(radicand, degree, 96)
    assert low**degree < radicand < high**degree
    # Relatively to at least so many bits, and not many more.
    assert 2.0**-170 < (high - low) / high < 2.0**-94
    assert _root(Fraction(0), degree, 96) == (0, 0)
    exact = Fraction(8**3, 27**2) ** (6 // degree)
    assert _root(exact**degree, degree, 96) == (exact, exact)


def test_a_root_of_small_numbers_keeps_as_many_bits() -> None:
    low, high = _root(Fraction(1, 3), 2, 10)
    # 10 bits, half a bit for the size of the fraction, and one more.
    assert high - low == Fraction(1, 2**11)
    low, high = _root(Fraction(1, 2**20 + 1), 2, 10)
    assert high - low == Fraction(1, 2**21)
    low, high = _root(Fraction(3, 2**20 + 1), 4, 10)
    assert high - low == Fraction(1, 2 ** (10 + 19 // 4 + 1))
    low, high = _root(Fraction(5), 2, 10)
    assert high - low == Fraction(1, 2**11)


@pytest.mark.parametrize("number", [Fraction(2), Fraction(1, 1000), Fraction(10**30, 7)])
def test_a_logarithm_is_enclosed(number: Fraction) -> None:
    low, high = _log(number, 96)
    nearest = math.log(number.numerator) - math.log(number.denominator)
    assert float(low) == pytest.approx(nearest, rel=1e-14)
    # Forty digits are kept, and all but one are trusted.
    size = 2 * (1 + abs(Fraction(nearest))) / 10**39
    assert float((high - low) / size) == pytest.approx(1, rel=1e-9)
    assert _log(Fraction(1), 96) == (0, 0)


def test_ratios_are_added_over_one_denominator_where_they_share_it() -> None:
    assert _added([(1, 3), (1, 3), (2, 3)]) == (4, 3)
    assert _added([(1, 2), (1, 3)]) == (5, 6)
    assert _added([(1, 2), (1, 3), (1, 6)]) == (6, 6)


def test_ranges_are_multiplied_by_their_corners() -> None:
    half, two, five = Fraction(1, 2), Fraction(2), Fraction(5)
    assert _range_product((half, half), (two, two)) == (1, 1)
    assert _range_product((-two, five), (half, two)) == (-4, 10)
    assert _range_product((half, half), (two, five)) == (1, Fraction(5, 2))
    assert _range_product((half, two), (five, five)) == (Fraction(5, 2), 10)


def test_a_ratio_beyond_floats_is_endless_with_its_sign() -> None:
    huge = 10**400
    assert (_nearest(huge, 1), _nearest(-huge, 1)) == (INF, -INF)
    assert (_nearest(huge, -1), _nearest(-huge, -1)) == (-INF, INF)


def test_a_long_number_keeps_all_of_its_digits_when_rounded() -> None:
    assert str(rounded(A / B, {"A": 10**30, "B": 3}, 5)) == "333333333333333333333333333333.33333"
    assert str(rounded(A / B, {"A": 1, "B": 8}, 2)) == "0.12"
    assert str(rounded(A / B, {"A": -1, "B": 3}, 4)) == "-0.3333"
    assert rounded(A / B, {"A": 1, "B": 0}, 2) is None


def test_a_geometric_mean_of_two_classes_is_that_of_both() -> None:
    cells = {"HIT": (1.0, 4.0), "ROW": (2.0, 9.0)}
    mean = number(geometric_mean(HIT / Cell("ROW")))(cells, None)
    assert mean == pytest.approx(math.sqrt(0.5 * 4 / 9))
    assert number(total(HIT))(cells, None) == 5


def test_fractions_in_cells_are_read_exactly() -> None:
    cells = {"A": Fraction(1, 3), "B": Fraction(2, 3)}
    assert enclosure(A / B, cells) == (Fraction(1, 2), Fraction(1, 2))
    assert value(A * B + A, cells) == float(Fraction(5, 9))
    assert value(sqrt(A * B * 2), cells) == 2 / 3
    classes = {"HIT": (Fraction(1, 2), Fraction(1, 4)), "N": 1}
    assert value(total(HIT), classes) == 0.75


# -- trees -----------------------------------------------------------------------------------------


def test_what_is_subtracted_stands_behind_what_is_added() -> None:
    assert add(multiply(constant(-1), TP), FN, FP, constant(2)) == FP + FN + 2 - TP
    assert [split_coefficient(t)[0] for t in (FP + FN + 2 - TP).terms] == [1, 1, 2, -1]  # type: ignore[attr-defined]
    assert (TP + A + 1).terms == (TP, A, ONE)  # type: ignore[attr-defined]
    assert (1 + A + TP).terms == (TP, A, ONE)  # type: ignore[attr-defined]


# -- properties ------------------------------------------------------------------------------------


def test_an_expression_is_one_polynomial_over_another() -> None:
    one = {(0, 0, 0, 0): 1}
    names = [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    assert [_polynomials(cell) for cell in (TP, FP, FN, TN)] == [({n: 1}, one) for n in names]
    assert _polynomials(constant(5)) == ({(0, 0, 0, 0): 5}, one)
    assert _polynomials(constant(0)) == ({}, one)
    assert _polynomials(TP + 5) == ({(1, 0, 0, 0): 1, (0, 0, 0, 0): 5}, one)
    assert _polynomials((TP + FP) * (TP - FP)) == ({(2, 0, 0, 0): 1, (0, 2, 0, 0): -1}, one)
    assert _polynomials((2 * TP + FP) * (3 * FN + TN)) == (
        {(1, 0, 1, 0): 6, (1, 0, 0, 1): 2, (0, 1, 1, 0): 3, (0, 1, 0, 1): 1}, one,
    )  # fmt: skip
    assert _polynomials(TP / FP) == ({(1, 0, 0, 0): 1}, {(0, 1, 0, 0): 1})
    assert _polynomials((TP / FP) / (FN / TN)) == ({(1, 0, 0, 1): 1}, {(0, 1, 1, 0): 1})
    assert _polynomials(TP / FP + FN / FP) == (
        {(1, 0, 0, 0): 1, (0, 0, 1, 0): 1}, {(0, 1, 0, 0): 1},
    )  # fmt: skip
    assert _polynomials(TP / FP + FN / TN) == (
        {(1, 0, 0, 1): 1, (0, 1, 1, 0): 1}, {(0, 1, 0, 1): 1},
    )  # fmt: skip
    assert _polynomials(sqrt(TP)) is None
    assert _polynomials(TP + sqrt(FP)) is None
    assert _polynomials(A) is None


@pytest.mark.parametrize(
    ("expression", "sign"),
    [
        (TP + FP, 1), (-1 * TP, -1), (TP - FP, None), (TP - TP, 0), (TP / (TP + FP), 1),
        (TP / (-1 * FP), -1), (TP / (FP - TN), None), (sqrt(TP), None),
    ],
)  # fmt: skip
def test_an_expression_has_one_sign_or_none_that_is_seen(
    expression: Expression, sign: int | None
) -> None:
    assert _sign(expression) == sign


@pytest.mark.parametrize(
    ("expression", "slopes"),
    [
        (TP / (TP + FP), (1, -1, 0, 0)),
        (-2 * TP / (TP + FP), (-1, 1, 0, 0)),
        (sqrt(TP * TN), (1, 0, 0, 1)),
        (-1 * sqrt(TP), (-1, 0, 0, 0)),
        (TP / sqrt(FP + FN), (1, -1, -1, 0)),
        (TP / sqrt((TP + FP) * (TP + FN)), (1, -1, -1, 0)),
        (-3 * (TP / sqrt(FP)), (-1, 1, 0, 0)),
        (TP * TP - TP, (None, 0, 0, 0)),
        # The root of a square takes all of the slope away.
        (TP / sqrt(TP * TP), (0, 0, 0, 0)),
    ],
)
def test_a_formula_rises_or_falls_with_its_cells(
    expression: Expression, slopes: tuple[int | None, ...]
) -> None:
    assert tuple(slope(expression, cell) for cell in ("TP", "FP", "FN", "TN")) == slopes


@pytest.mark.parametrize(
    ("expression", "regions"),
    [
        (TP, {"TP"}), (TP + FN, {"TP", "FN"}), (TP + FN - FN, {"TP"}), (2 * TP, None),
        (TP - FN, None), (TP * FN, None), (N, {"hit", "miss"}), (N - total(HIT), {"miss"}),
        (N + total(HIT), None), (A, None),
    ],
)  # fmt: skip
def test_a_plain_sum_of_cells_counts_regions_once(
    expression: Expression, regions: set[str] | None
) -> None:
    assert _regions(expression) == regions


def test_a_share_counts_some_of_what_is_below() -> None:
    assert proportion((TP + TN) / (TP + TN + FP)) is not None
    assert proportion((TP + TN) / (TP + FP)) is None
    assert proportion(TP / TP) is not None
    assert proportion(TP) is None
    assert proportion(total(HIT) / N) is not None


def test_formulas_agree_to_the_twelfth_digit() -> None:
    assert agree(TP, TP * (1 + Fraction(1, 10**13)))
    assert not agree(TP, TP * (1 + Fraction(1, 10**11)))
    assert not agree(TP / (TP + FP), TP / (TP + FP + Fraction(1, 10**6)))
    # Alike but for tables that leave one of them undefined.
    assert not agree(TP / TP, constant(1))
    assert [len(column) for column in TABLES.values()] == [21] * 4
    emptied = {tuple(c[i] > 0 for c in TABLES.values()) for i in range(5, 21)}
    assert len(emptied) == 16


def test_the_fewest_empty_cells_say_why_a_ratio_is_undefined() -> None:
    nothing = {"TP": 0, "FP": 0, "FN": 3, "TN": 5}
    assert reason(TP / (TP + FP), nothing) == "nothing was flagged (TP + FP = 0)"
    assert reason(FN / FP, nothing) == "there are no false positives (FP = 0)"
    assert reason(TP / (TN - 5), nothing) == "its denominator is zero (TN - 5 = 0)"
    assert reason(FN / (TP + FN), nothing) is None
    both = reason((FN / TN) / (TP / FN), nothing)
    assert both == "there are no true positives (TP = 0)"
