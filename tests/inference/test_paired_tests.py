"""Tests of one model against another, by examples that are worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from assay.counts import PairCounts
from assay.errors import MethodError
from assay.inference import (
    cochran_q,
    five_by_two_f,
    five_by_two_t,
    mcnemar,
    nadeau_bengio,
    paired_t,
)
from assay.inference.paired_tests import (
    _correlation,
    _t_and_p,
    corrected_mean,
    five_by_two_interval,
    mcnemar_of,
    paired_difference,
)

# Differences 0.01, 0.01, 0.02, 0, 0.02: mean 0.012, variance 0.00007.
A = [0.95, 0.96, 0.94, 0.97, 0.95]
B = [0.96, 0.97, 0.96, 0.97, 0.97]
# Five repeats of two folds, whose differences are whole numbers.
NOTHING = np.zeros((5, 2))
GAINS = np.array([[3.0, 1.0], [1.0, 4.0], [3.0, 1.0], [1.0, 3.0], [3.0, 1.0]])
# The variance of a repeat is half the square of what its folds differ by.
VARIANCES = [2.0, 4.5, 2.0, 2.0, 2.0]


# -- McNemar ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", [True, 1.0, -1, "1"])
@pytest.mark.parametrize("at", ["b", "c", "both_right", "both_wrong"])
def test_every_count_is_a_whole_number_that_is_not_negative(at: str, odd: object) -> None:
    counts = {"b": 1, "c": 1, "both_right": 1, "both_wrong": 1}
    with pytest.raises(MethodError, match="counts are whole numbers and not negative; found"):
        mcnemar(**{**counts, at: odd})


def test_counts_may_be_zero_and_those_of_numpy() -> None:
    significance = mcnemar(np.int64(1), np.uint8(0), both_right=np.int32(0), both_wrong=0)
    assert significance.table == {"both_right": 0, "only_a": 1, "only_b": 0, "both_wrong": 0}
    assert type(significance.table["only_a"]) is int
    assert significance.effect == -1


@pytest.mark.parametrize("known", [{"both_right": 3}, {"both_wrong": 3}, {}])
def test_effect_needs_the_rows_on_which_models_agree(known: dict[str, int]) -> None:
    significance = mcnemar(5, 1, level=0.9, **known)
    assert math.isnan(significance.effect)
    assert significance.effect.undefined == "it needs both_right and both_wrong"
    assert significance.effect.level == 0.9


@pytest.mark.parametrize(
    ("b", "c", "better"), [(0, 20, "new"), (20, 0, "old"), (40, 9, "old"), (9, 40, "new")]
)
def test_model_that_alone_is_right_more_often_errs_less(b: int, c: int, better: str) -> None:
    significance = mcnemar(b, c, names=("old", "new"))
    assert significance.sentence == (
        f"old is right where new is wrong on {b} rows, the reverse on {c}: "
        f"{better} errs less often (p < 0.0001)."
    )
    assert significance.models == ("old", "new")


@pytest.mark.parametrize(
    ("level", "verdict"), [(0.9375, "no difference is shown"), (0.93, "B errs less often")]
)
def test_p_has_to_lie_below_what_the_level_leaves(level: float, verdict: str) -> None:
    # Five of five: 2 / 2**5 = 0.0625, which is 1 - 0.9375.
    significance = mcnemar(0, 5, level=level)
    assert significance.p == 0.0625
    assert f"on 5: {verdict} (p = 0.062)" in significance.sentence


@pytest.mark.parametrize(("method", "statistic"), [("corrected", 3.2), ("uncorrected", 5.0)])
def test_statistic_of_one_model_that_is_never_right_alone(method: str, statistic: float) -> None:
    significance = mcnemar(0, 5, method=method)
    assert significance.statistic == statistic
    assert significance.df == (1,)
    assert significance.p == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-12)


def test_no_discordant_rows_have_neither_statistic_nor_degrees() -> None:
    significance = mcnemar(0, 0, both_right=2, both_wrong=1, method="corrected", names=("x", "y"))
    assert (significance.statistic, significance.df, significance.p) == (None, (), 1.0)
    assert significance.sentence == (
        "x and y are right on the same rows: no discordant pairs, so nothing tells them apart "
        "(p = 1)."
    )


def test_pairs_are_counted_as_often_as_they_occur() -> None:
    truth = np.array([0] * 5 + [1] * 6, np.uint16)
    first = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0], np.uint16)
    second = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0], np.uint16)
    pairs = PairCounts.of_rows(("no", "yes"), truth, {"a": first, "b": second})
    # Both right: rows 0, 1, 5; only A: 2, 6; only B: 3, 7, 8; neither: 4, 9, 10.
    significance = mcnemar_of(pairs, method="uncorrected", level=0.9)
    assert significance.table == {"both_right": 3, "only_a": 2, "only_b": 3, "both_wrong": 3}
    assert significance.method == "uncorrected"
    assert significance.statistic == 0.2
    assert significance.effect == pytest.approx(1 / 11)
    assert (significance.effect.n, significance.effect.level) == (11, 0.9)


def test_difference_of_no_rows_is_undefined() -> None:
    estimate = paired_difference(0, 0, 0, 0, 0.9)
    assert math.isnan(estimate)
    assert (estimate.undefined, estimate.level, estimate.n) == ("there are no rows", 0.9, 0)


@pytest.mark.parametrize("cells", [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)])
def test_one_row_has_a_difference(cells: tuple[int, int, int, int]) -> None:
    estimate = paired_difference(*cells)
    assert estimate == cells[2] - cells[1]
    assert estimate.n == 1
    assert -1 <= estimate.low <= estimate <= estimate.high <= 1


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        # A cross product above 0 is less by half the rows: (24 - 6) / sqrt(6 * 6 * 6 * 6).
        ((5, 1, 1, 5), 18 / 36),
        # (2 * 1 - 1 * 1) is less than half of five rows.
        ((2, 1, 1, 1), 0.0),
        # One below 0 is taken as it is: (1 * 1 - 5 * 5) / 36.
        ((1, 5, 5, 1), -24 / 36),
        ((1, 2, 3, 4), (4 - 6) / math.sqrt(3 * 7 * 4 * 6)),
        ((7, 2, 3, 4), (28 - 6 - 8) / math.sqrt(9 * 7 * 10 * 6)),
        # A side without rows has no correlation.
        ((3, 4, 0, 0), 0.0),
        ((0, 0, 3, 4), 0.0),
        ((0, 3, 0, 4), 0.0),
        ((3, 0, 4, 0), 0.0),
        # Half of two rows is all that it is.
        ((1, 0, 0, 1), 0.0),
    ],
)
def test_correlation_of_paired_shares(cells: tuple[int, ...], expected: float) -> None:
    assert _correlation(*cells) == pytest.approx(expected, rel=1e-15)


# -- Cochran ---------------------------------------------------------------------------------------


def test_cochran_of_one_row() -> None:
    # G = 1, 0; L = 1: Q = 1 (2 * 1 - 1) / (2 - 1) = 1.
    significance = cochran_q([[1, 0]], names=("x", "y"))
    assert (significance.statistic, significance.df) == (1.0, (1,))
    assert significance.p == pytest.approx(stats.chi2.sf(1, 1), rel=1e-12)
    assert significance.effect == 1.0
    assert (significance.effect.n, significance.table["rows"]) == (1, 1)
    assert significance.sentence == (
        "2 models are right on 1, 0 of 1 rows: no difference is shown (p = 0.32)."
    )
    assert significance.models == ("x", "y")


def test_cochran_of_no_rows_shows_nothing() -> None:
    significance = cochran_q(np.zeros((0, 2)))
    assert (significance.statistic, significance.p, significance.effect) == (0.0, 1.0, 0.0)
    assert significance.table == {"right": {"0": 0, "1": 0}, "rows": 0}


def test_effect_of_cochran_is_the_best_less_the_worst_share() -> None:
    significance = cochran_q([[1, 1, 0], [1, 0, 1], [0, 1, 0]], [4, 1, 3], level=0.9)
    # Right on 5, 7, 1 of 8 rows: Q = 2 (3 * 75 - 169) / (3 * 13 - (16 + 4 + 3)) = 7.
    assert significance.statistic == 7.0
    assert significance.p == pytest.approx(math.exp(-3.5), rel=1e-12)
    assert significance.effect == 6 / 8
    assert (significance.effect.n, significance.effect.level) == (8, 0.9)
    assert (
        significance.effect.note
        == "best less worst share of rows right; the test gives no interval"
    )
    assert (
        significance.sentence == "3 models are right on 5, 7, 1 of 8 rows: they differ (p = 0.03)."
    )


def test_cochran_shows_a_difference_where_p_lies_below_what_the_level_leaves() -> None:
    # Two against one: Q = 1 / 3. What p leaves of 1 is exact, since p is above one half.
    p = cochran_q([[1, 0], [0, 1]], [2, 1]).p
    assert 0.5 < p < 0.6
    edge = cochran_q([[1, 0], [0, 1]], [2, 1], level=1 - p)
    lower = cochran_q([[1, 0], [0, 1]], [2, 1], level=0.4)
    assert "no difference is shown" in edge.sentence
    assert "they differ" in lower.sentence


@pytest.mark.parametrize("right", [[[1, 2], [0, 1]], [["1", "0"]], [[0.5, 1.0]], [[1, 0], [1]]])
def test_cochran_takes_zeros_and_ones(right: object) -> None:
    with pytest.raises(MethodError, match="needs 1 where a model is right and 0 where it is wrong"):
        cochran_q(right)


def test_cochran_takes_no_table_of_tables() -> None:
    with pytest.raises(MethodError, match=r"a column a model; found shape \(2, 2, 2\)"):
        cochran_q(np.ones((2, 2, 2)))


# -- over folds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("odd", [math.nan, math.inf])
def test_values_of_both_models_are_finite(at: int, odd: float) -> None:
    folds = [[0.5, 0.6], [0.5, 0.7]]
    folds[at][1] = odd
    with pytest.raises(MethodError, match="at least 2 folds with finite values"):
        paired_t(*folds)


@pytest.mark.parametrize("sign", [1, -1])
def test_spread_that_is_rounding_of_what_is_tested_is_none(sign: int) -> None:
    # The error is 1e-12 of the value, and then a little more.
    statistic, p = _t_and_p(sign * 0.25, 0.25e-12, 4)
    assert statistic is None
    assert math.isnan(p)
    t, p = _t_and_p(sign * 0.25, 0.26e-12, 4)
    assert t == pytest.approx(sign / 1.04e-12)
    assert 0 < p < 1e-40
    assert _t_and_p(0.0, 0.0, 4) == (0.0, 1.0)


def test_student_over_two_folds_has_one_degree() -> None:
    significance = paired_t([0.0, 0.0], [1.0, 3.0], names=("old", "new"))
    # Mean 2, variance 2, error 1; Student's t with one degree is Cauchy's.
    assert (significance.statistic, significance.df) == (2.0, (1,))
    assert significance.p == pytest.approx(1 - 2 * math.atan(2) / math.pi, rel=1e-12)
    assert significance.table == {
        "mean": 2.0,
        "variance": 2.0,
        "standard_error": 1.0,
        "differences": [1.0, 3.0],
    }
    reach = math.tan(0.475 * math.pi)
    assert significance.effect == 2.0
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (2 - reach, 2 + reach)
    )
    assert (significance.effect.method, significance.effect.n) == ("student", 2)
    assert significance.sentence == (
        "new less old is +2.0000 on average over 2 folds: no difference is shown (p = 0.3)."
    )


def test_verdict_over_folds_names_the_higher_one_below_what_the_level_leaves() -> None:
    # t = 1 / 1.5 with one degree.
    p = paired_t([0.0, 0.0], [-0.5, 2.5]).p
    assert p > 0.5
    edge = paired_t([0.0, 0.0], [-0.5, 2.5], level=1 - p)
    assert "no difference is shown" in edge.sentence
    assert "B scores higher" in paired_t([0.0, 0.0], [-0.5, 2.5], level=0.3).sentence
    assert "A scores higher" in paired_t([0.0, 0.0], [0.5, -2.5], level=0.3).sentence


def test_nadeau_and_bengio_raise_the_variance() -> None:
    significance = nadeau_bengio([0.0, 0.0], [1.0, 3.0], n_train=4, n_test=2)
    # 2 (1 / 2 + 2 / 4) = 2.
    assert significance.table["corrected_variance"] == 2.0
    assert significance.table["standard_error"] == math.sqrt(2)
    assert (significance.table["n_train"], significance.table["n_test"]) == (4, 2)
    assert significance.statistic == pytest.approx(math.sqrt(2), rel=1e-15)
    assert (significance.df, significance.method, significance.test) == (
        (1,),
        "corrected",
        "nadeau_bengio",
    )


@pytest.mark.parametrize(
    ("n_train", "n_test", "fine"),
    [(1, 1, True), (0.5, 0.5, True), (0, 1, False), (1, 0, False), (1, -2, False)],
)
def test_sizes_of_folds_are_above_zero(n_train: float, n_test: float, fine: bool) -> None:
    if fine:
        assert nadeau_bengio(A, B, n_train=n_train, n_test=n_test).p > 0
        return
    with pytest.raises(MethodError, match="is a number above 0"):
        nadeau_bengio(A, B, n_train=n_train, n_test=n_test)


def test_corrected_mean_by_hand() -> None:
    mean = corrected_mean([1.0, 3.0], n_train=4, n_test=2, level=0.9)
    reach = math.tan(0.45 * math.pi) * math.sqrt(2)
    assert mean == 2.0
    assert (mean.low, mean.high) == pytest.approx((2 - reach, 2 + reach), rel=1e-12)
    assert (mean.method, mean.n, mean.level) == ("corrected", 2, 0.9)


def test_dietterichs_test_by_hand() -> None:
    significance = five_by_two_t(NOTHING, GAINS)
    error = math.sqrt(2.5)
    assert significance.statistic == pytest.approx(3 / error, rel=1e-15)
    assert significance.df == (5,)
    assert significance.p == pytest.approx(2 * stats.t.sf(3 / error, 5), rel=1e-12)
    assert significance.table["means"] == [2.0, 2.5, 2.0, 2.0, 2.0]
    assert significance.table["variances"] == VARIANCES
    assert significance.table["mean"] == 2.1
    assert significance.table["variance"] == pytest.approx(GAINS.var() * 10 / 9)
    reach = stats.t.ppf(0.975, 5) * error
    assert significance.effect == 3
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (3 - reach, 3 + reach)
    )
    assert significance.effect.n == 10
    assert significance.sentence.startswith(
        "The first difference, B less A, is +3.0000 (on average +2.1000): "
    )


def test_alpaydins_test_by_hand() -> None:
    significance = five_by_two_f(NOTHING, GAINS)
    # Squares 10 + 17 + 10 + 10 + 10, by twice the variances 12.5.
    assert significance.statistic == 57 / 25
    assert significance.df == (10, 5)
    assert significance.p == pytest.approx(stats.f.sf(57 / 25, 10, 5), rel=1e-12)
    assert significance.effect == 2.1
    assert significance.effect.n == 10
    assert significance.sentence.startswith(
        "B less A is +2.1000 on average over 5x2 folds: no difference"
    )
    assert "B scores higher" in five_by_two_f(NOTHING, GAINS, level=0.5).sentence


def test_interval_of_alpaydins_test_by_hand() -> None:
    low, high = five_by_two_interval(NOTHING, GAINS, level=0.9)
    # Squares about the mean: 57 - 10 * 2.1**2.
    reach = math.sqrt((stats.f.ppf(0.9, 10, 5) * 25 - (57 - 44.1)) / 10)
    assert (low, high) == pytest.approx((2.1 - reach, 2.1 + reach), rel=1e-12)


def test_interval_of_models_that_never_differ_is_one_value() -> None:
    assert five_by_two_interval(NOTHING, NOTHING) == (0.0, 0.0)


def test_repeats_that_differ_either_way_alike_favour_neither_model() -> None:
    even = np.array([[4.0, 5.0], [-4.0, -5.0], [4.0, 5.0], [-4.0, -5.0], [0.0, 0.0]])
    significance = five_by_two_f(NOTHING, even)
    # Squares 4 * 41, by twice the variances 4 / 2.
    assert significance.statistic == 41.0
    assert significance.effect == 0
    assert significance.sentence == (
        "B less A is +0.0000 on average over 5x2 folds: they differ, but not on average "
        "(p = 0.00036)."
    )
