"""Rows drawn by strata, by examples: gamma distributions, what is taken off, cells put together."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.counts import Confusion
from assay.errors import InputError, MethodError
from assay.formula import FP, TP
from assay.inference import FayFeuer, Quantity, Strata, Tiwari
from assay.inference.delta import WeightedSum, interval, on_scale, stratified
from assay.measures import find

LABELS = ("no", "yes")
METHODS = (FayFeuer, Tiwari)
RECALL = Quantity(find("recall").formula, label=1)
MCC = Quantity(find("mcc").formula, label=1)
SIGNED = (-1.0, 1.0)

# Two strata: 3, 1, 2 and 4 rows of weight 2, and 5, 0, 1 and 2 rows of weight 5.
WEIGHTS = np.array([2.0, 5.0])
COUNTS = np.array([[[3.0, 1.0], [2.0, 4.0]], [[5.0, 0.0], [1.0, 2.0]]])
STRATA = Strata(("a", "b"), WEIGHTS, COUNTS)
SUMS = np.array([[31.0, 2.0], [9.0, 18.0]])
SQUARES = np.array([[137.0, 4.0], [33.0, 66.0]])


def table(sums: np.ndarray, squares: np.ndarray) -> Confusion:
    return Confusion(LABELS, tuple(map(tuple, sums.tolist())), tuple(map(tuple, squares.tolist())))


def further(method: type, weights: np.ndarray) -> tuple[float, float]:
    if method is FayFeuer:
        return weights.max(), weights.max() ** 2
    return weights.mean(), (weights**2).mean()


def gamma(mean: float, variance: float) -> tuple[float, float]:
    return mean**2 / variance, variance / mean


# -- gamma distributions ---------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_sum_of_weights_lies_between_quantiles_of_two_gamma_distributions(method, level) -> None:
    weights = np.array([2.0, 5.0])
    weight, square = further(method, weights)
    tail = (1 - level) / 2
    low = stats.gamma.ppf(tail, 12.0**2 / 40, scale=40 / 12)
    shape, scale = gamma(12 + weight, 40 + square)
    high = stats.gamma.ppf(1 - tail, shape, scale=scale)
    bounds = method(level).of_sum(WeightedSum(12.0, 40.0, weights))
    assert bounds == pytest.approx((low, high), rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_sum_of_no_rows_starts_at_zero(method) -> None:
    low, high = method().of_sum(WeightedSum(0.0, 0.0, np.array([3.0])))
    assert low == 0.0
    # One row more of weight 3: an exponential distribution.
    assert high == pytest.approx(-3 * math.log(0.025), rel=1e-9)


def test_sum_below_one_has_a_lower_end_too() -> None:
    low, _ = FayFeuer().of_sum(WeightedSum(0.5, 0.25, np.array([0.5])))
    assert low == pytest.approx(-0.5 * math.log(0.975), rel=1e-9)


def melded(one: tuple[float, float], other: tuple[float, float], tail: float) -> float:
    share = stats.beta.ppf(tail, one[0], other[0])
    return share * one[1] / (share * one[1] + (1 - share) * other[1])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shrunk", [1.0, 0.6])
def test_share_is_melded_from_both_sums(method, shrunk: float) -> None:
    hits, misses = (
        WeightedSum(12.0, 40.0, np.array([2.0, 5.0])),
        WeightedSum(7.0, 30.0, np.array([3.0, 8.0])),
    )
    below = [gamma(each.value, each.variance * shrunk) for each in (hits, misses)]
    above = []
    for each in (hits, misses):
        weight, square = further(method, each.weights)
        above.append(gamma(each.value + weight, each.variance * shrunk + square))
    expected = melded(below[0], above[1], 0.05), 1 - melded(below[1], above[0], 0.05)
    assert method(0.9).of_share(hits, misses, shrunk) == pytest.approx(expected, rel=1e-9)


def test_share_of_no_hits_starts_at_zero_and_of_no_misses_ends_at_one() -> None:
    none = WeightedSum(0.0, 0.0, np.array([1.0]))
    some = WeightedSum(3.0, 3.0, np.array([1.0]))
    # Weights of 1: Clopper and Pearson's interval of 0 of 3, and of 3 of 3.
    edge = 0.025 ** (1 / 3)
    assert FayFeuer().of_share(none, some) == (0.0, pytest.approx(1 - edge, rel=1e-9))
    assert FayFeuer().of_share(some, none) == (pytest.approx(edge, rel=1e-9), 1.0)


@pytest.mark.parametrize("level", [0, 1])
def test_level_lies_between_zero_and_one(level: float) -> None:
    with pytest.raises(MethodError, match="level"):
        FayFeuer(level)


# -- strata from tables ----------------------------------------------------------------------------


def one_stratum(sums: list[float], squares: list[float]) -> Strata:
    cells = [np.array(each).reshape(2, 2) for each in (sums, squares)]
    return Strata.of_tables({"a": table(*cells)}, "place")


def test_strata_of_tables_have_their_weights_and_rows() -> None:
    first = table(2 * COUNTS[0], 4 * COUNTS[0])
    second = table(5 * COUNTS[1], 25 * COUNTS[1])
    strata = Strata.of_tables({"a": first, "b": second})
    assert strata.names == ("a", "b")
    assert strata.weights.tolist() == [2.0, 5.0]
    assert strata.counts.tolist() == COUNTS.tolist()
    assert strata.drawn.tolist() == [10.0, 8.0]


def test_strata_need_weights_in_every_table() -> None:
    weighted = table(2 * COUNTS[0], 4 * COUNTS[0])
    plain = Confusion(LABELS, ((3, 1), (2, 4)))
    for tables in ({}, {"a": plain}, {"a": weighted, "b": plain}):
        with pytest.raises(InputError, match="give both"):
            Strata.of_tables(tables)


def test_row_stands_for_one_row_at_least_but_for_rounding() -> None:
    least = 1 - 1e-9
    assert one_stratum([least, 0, 0, 0], [least**2, 0, 0, 0]).weights.tolist() == [1.0]
    less = 1 - 2e-9
    with pytest.raises(
        InputError, match=r"stratum 'a' \(column 'place'\) have the weight 1: a row"
    ):
        one_stratum([less, 0, 0, 0], [less**2, 0, 0, 0])


@pytest.mark.parametrize("off", [1.0, -1.0])
def test_weights_of_a_stratum_are_the_same_but_for_rounding(off: float) -> None:
    # Three rows and one of weight 10; the mean weight stays what it is.
    small, large = off * 1e-9, off * 1e-6
    assert one_stratum([30, 0, 10, 0], [300 + small, 0, 100 - small, 0]).weights.tolist() == [10.0]
    assert one_stratum([30 + small, 0, 10 - small, 0], [300, 0, 100, 0]).weights.tolist() == [10.0]
    with pytest.raises(InputError, match=r"\(column 'place'\) differ in their weight, which is 10"):
        one_stratum([30, 0, 10, 0], [300 + large, 0, 100 - large, 0])
    with pytest.raises(InputError, match="differ in their weight, which is 10 on average"):
        one_stratum([30 + large, 0, 10 - large, 0], [300, 0, 100, 0])


def test_stratum_has_a_whole_number_of_rows_where_it_is_so_but_for_rounding() -> None:
    weight = 10 / 7
    strata = one_stratum([weight * 7, 0, 0, 0], [weight**2 * 7, 0, 0, 0])
    assert float(strata.weights[0] * 7) == 10.0
    assert one_stratum([2.25, 0, 0, 0], [2.25**2, 0, 0, 0]).weights.tolist() == [2.25]


# -- sums of cells ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chosen", "value", "variance", "weights"),
    [
        ([[0, 0], [0, 1]], 18.0, 66.0, [2.0, 5.0]),
        # No row of the second stratum was flagged wrongly, but two rightly.
        ([[0, 1], [0, 0]], 2.0, 4.0, [2.0, 5.0]),
        ([[1, 1], [0, 0]], 33.0, 141.0, [2.0, 5.0]),
    ],
)
def test_sum_of_some_cells(chosen, value, variance, weights) -> None:
    weighted_sum = STRATA.sum_of(np.array(chosen, float))
    assert (weighted_sum.value, weighted_sum.variance) == (value, variance)
    assert weighted_sum.weights.tolist() == weights


def test_further_row_is_of_a_stratum_that_has_rows_decided_so() -> None:
    counts = np.array([[[3.0, 0.0], [2.0, 0.0]], [[0.0, 4.0], [0.0, 1.0]]])
    strata = Strata(("a", "b"), WEIGHTS, counts)
    assert strata.sum_of(np.array([[0.0, 1.0], [0.0, 0.0]])).weights.tolist() == [5.0]
    assert strata.sum_of(np.array([[1.0, 0.0], [0.0, 0.0]])).weights.tolist() == [2.0]
    assert strata.sum_of(np.array([[1.0, 1.0], [0.0, 0.0]])).weights.tolist() == [2.0, 5.0]
    assert (strata.heaviest(0), strata.heaviest(1)) == (2.0, 5.0)


def test_further_row_is_of_any_stratum_where_none_has_rows_decided_so() -> None:
    counts = np.array([[[3.0, 0.0], [2.0, 0.0]], [[4.0, 0.0], [1.0, 0.0]]])
    strata = Strata(("a", "b"), WEIGHTS, counts)
    assert strata.sum_of(np.array([[0.0, 0.0], [0.0, 1.0]])).weights.tolist() == [2.0, 5.0]
    assert (strata.heaviest(0), strata.heaviest(1)) == (5.0, 5.0)


def test_one_row_decided_so_is_enough() -> None:
    counts = np.array([[[3.0, 1.0], [2.0, 0.0]], [[4.0, 0.0], [1.0, 0.0]]])
    assert Strata(("a", "b"), WEIGHTS, counts).heaviest(1) == 2.0


def test_each_stratum_has_its_own_table_against_the_rest() -> None:
    counts = np.arange(18.0).reshape(2, 3, 3)
    strata = Strata(("a", "b"), WEIGHTS, counts).against_rest(1)
    # Of 0 to 8 the label has its hit at 4, its misses at 3 and 5, its false alarms at 1 and 7.
    assert strata.counts.tolist() == [[[16, 8], [8, 4]], [[52, 26], [26, 13]]]
    assert (strata.names, strata.weights.tolist()) == (("a", "b"), [2.0, 5.0])


def test_strata_are_told_apart_by_what_they_are_and_not_by_what_they_hold() -> None:
    assert len({STRATA, STRATA, Strata(("a", "b"), WEIGHTS, COUNTS)}) == 2


def test_variance_that_is_taken_off_by_hand() -> None:
    slopes = np.array([[1.0, -2.0], [3.0, 0.5]])
    # 3 - 2 + 6 + 2 = 9 of 10 rows, and 5 + 3 + 1 = 9 of 8 rows.
    expected = 2 * 1 * 81 / 10 + 5 * 4 * 81 / 8
    assert STRATA.taken_off(slopes) == pytest.approx(expected, rel=1e-12)


def test_nothing_is_taken_off_for_one_row_or_for_rows_that_stand_for_themselves() -> None:
    counts = np.array([[[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]])
    alone = Strata(("a", "b"), np.array([4.0, 1.0]), counts)
    assert alone.taken_off(np.ones((2, 2))) == 0.0
    two = Strata(("a", "b"), np.array([1.0, 3.0]), counts)
    assert two.taken_off(np.ones((2, 2))) == 3 * 2 * 4 / 2


# -- intervals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_interval_of_a_share_by_hand(method) -> None:
    hits, misses = WeightedSum(18.0, 66.0, WEIGHTS), WeightedSum(9.0, 33.0, WEIGHTS)
    # By the delta method: a hit moves the share by misses, a miss by hits, the other way.
    moved = np.array([4 * 9 - 2 * 18, 2 * 9 - 1 * 18.0])
    off = (WEIGHTS * (WEIGHTS - 1) * moved**2 / [10, 8]).sum()
    shrunk = 1 - off / (66 * 9**2 + 33 * 18**2)
    expected = method(0.9).of_share(hits, misses, shrunk)
    assert STRATA.share_ends(RECALL, method(0.9)) == pytest.approx(expected, rel=1e-9)


def test_interval_of_a_share_is_narrower_where_strata_tell_hits_from_misses() -> None:
    counts = np.array([[[3.0, 1.0], [0.0, 4.0]], [[5.0, 0.0], [3.0, 0.0]]])
    strata = Strata(("a", "b"), WEIGHTS, counts)
    hits = WeightedSum(8.0, 16.0, np.array([2.0]))
    misses = WeightedSum(15.0, 75.0, WEIGHTS)
    off = 2 * 1 * (4 * 15) ** 2 / 8 + 5 * 4 * (3 * 8) ** 2 / 8
    shrunk = 1 - off / (16 * 15**2 + 75 * 8**2)
    expected = FayFeuer().of_share(hits, misses, shrunk)
    assert strata.share_ends(RECALL, FayFeuer()) == pytest.approx(expected, rel=1e-9)
    plain = FayFeuer().of_share(hits, misses)
    assert plain[0] < expected[0] < expected[1] < plain[1]


def test_variance_of_a_share_is_never_less_than_that_of_all_rows_together() -> None:
    # Every row of a stratum is decided alike, and each stands for a million.
    counts = np.array([[[0.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [4.0, 0.0]]])
    strata = Strata(("a", "b"), np.array([1e6, 1e6]), counts)
    one, other = (WeightedSum(4e6, 4e12, np.array([1e6])) for _ in range(2))
    expected = FayFeuer().of_share(one, other, 1 / 8)
    assert strata.share_ends(RECALL, FayFeuer()) == pytest.approx(expected, rel=1e-9)


def test_share_that_all_rows_have_takes_nothing_off() -> None:
    counts = np.array([[[0.0, 0.0], [0.0, 4.0]]])
    strata = Strata(("a",), np.array([2.0]), counts)
    hits, none = WeightedSum(8.0, 16.0, np.array([2.0])), WeightedSum(0.0, 0.0, np.array([2.0]))
    assert strata.share_ends(RECALL, FayFeuer()) == FayFeuer().of_share(hits, none)


@pytest.mark.parametrize("method", METHODS)
def test_interval_of_a_formula_is_put_together_from_those_of_its_cells(method) -> None:
    value = float(MCC.of_tables(SUMS))
    down = up = 0.0
    for cell in np.ndindex(2, 2):
        ends = method().of_sum(WeightedSum(SUMS[cell], SQUARES[cell], WEIGHTS))
        moves = []
        for end in ends:
            moved = SUMS.copy()
            moved[cell] = end
            moves.append(float(MCC.of_tables(moved)) - value)
        down += min(*moves, 0) ** 2
        up += max(*moves, 0) ** 2
    expected = value - math.sqrt(down), value + math.sqrt(up)
    assert STRATA.formula_ends(MCC, method()) == pytest.approx(expected, rel=1e-9)


def test_cell_that_is_empty_moves_a_formula_one_way() -> None:
    strata = Strata(("a",), np.array([1.0]), np.array([[[3.0, 0.0], [2.0, 1.0]]]))
    precision = Quantity(find("precision").formula, label=1)
    low, high = strata.formula_ends(precision, FayFeuer())
    # Up to so many false alarms beside the one that was right.
    false = -math.log(0.025)
    assert low == pytest.approx(1 / (1 + false), rel=1e-9)
    assert high == 1.0


def test_formula_that_every_cell_raises_has_its_value_as_the_low_end() -> None:
    unlike = (TP - FP) * (TP - FP) / ((TP + FP) * (TP + FP))
    strata = Strata(("a",), np.array([1.0]), np.array([[[3.0, 4.0], [2.0, 4.0]]]))
    low, high = strata.formula_ends(Quantity(unlike, label=1), FayFeuer())
    assert low == 0.0
    assert high > 0.1
    low, high = strata.formula_ends(Quantity(1 - unlike, label=1), FayFeuer())
    assert high == 1.0
    assert low < 0.9


def test_three_classes_have_nine_cells() -> None:
    counts = np.array([[[5.0, 1.0, 2.0], [1.0, 6.0, 1.0], [2.0, 3.0, 7.0]]])
    strata = Strata(("a",), np.array([3.0]), counts)
    kappa, sums = Quantity(find("kappa").classes), 3 * counts[0]
    value = float(kappa.of_tables(sums))
    down = up = 0.0
    for cell in np.ndindex(3, 3):
        ends = FayFeuer().of_sum(WeightedSum(sums[cell], 3 * sums[cell], np.array([3.0])))
        moves = []
        for end in ends:
            moved = sums.copy()
            moved[cell] = end
            moves.append(float(kappa.of_tables(moved)) - value)
        down += min(*moves, 0) ** 2
        up += max(*moves, 0) ** 2
    expected = value - math.sqrt(down), value + math.sqrt(up)
    assert strata.formula_ends(kappa, FayFeuer()) == pytest.approx(expected, rel=1e-9)


# -- the delta method of strata --------------------------------------------------------------------


def test_variance_of_strata_is_that_of_rows_less_what_they_take_off() -> None:
    slopes = MCC.gradient(SUMS)
    moved = (COUNTS * slopes).sum(axis=(1, 2))
    off = 2 * 1 * moved[0] ** 2 / 10 + 5 * 4 * moved[1] ** 2 / 8
    expected = float((SQUARES * slopes**2).sum()) - off
    variance = stratified(MCC, table(SUMS, SQUARES), STRATA)
    assert variance == pytest.approx(expected, rel=1e-9)
    value = float(MCC.of_tables(SUMS))
    ends = on_scale(value, expected, SIGNED, float(stats.norm.ppf(0.95)))
    bounds = interval(MCC, table(SUMS, SQUARES), SIGNED, 0.9, strata=STRATA)
    assert bounds == pytest.approx(ends, rel=1e-9)


def test_row_that_is_added_to_an_empty_cell_is_as_heavy_as_one_there_could_be() -> None:
    counts = np.array([[[3.0, 0.0], [2.0, 0.0]], [[0.0, 0.0], [0.0, 6.0]]])
    strata = Strata(("a", "b"), WEIGHTS, counts)
    sums, squares = np.array([[6.0, 0.0], [4.0, 30.0]]), np.array([[12.0, 0.0], [8.0, 150.0]])
    # Rows that were not flagged are of weight 2, flagged ones of weight 5; half a row to each cell.
    more = sums + np.array([1.0, 2.5])
    squares_more = squares + np.array([2.0, 12.5])
    slopes = MCC.gradient(more)
    moved = (counts * slopes).sum(axis=(1, 2))
    off = 2 * 1 * moved[0] ** 2 / 5 + 5 * 4 * moved[1] ** 2 / 6
    spread = max(float((squares_more * slopes**2).sum()) - off, 0)
    assert spread > 0
    value, centre = float(MCC.of_tables(sums)), float(MCC.of_tables(more))
    low, high = on_scale(centre, spread, SIGNED, float(stats.norm.ppf(0.975)))
    bounds = interval(MCC, table(sums, squares), SIGNED, 0.95, strata=strata)
    assert bounds == pytest.approx((min(low, value), max(high, value)), rel=1e-9)
