import math
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from assay.errors import InputError, LengthMismatch, MethodError
from assay.inference import five_by_two_f, five_by_two_t, nadeau_bengio, paired_t
from assay.inference.paired_tests import corrected_mean, five_by_two_interval

A = [0.95, 0.96, 0.94, 0.97, 0.95]
B = [0.96, 0.97, 0.96, 0.97, 0.97]
# Five repeats of two folds.
A10 = [[0.90, 0.91], [0.92, 0.90], [0.89, 0.93], [0.91, 0.91], [0.90, 0.92]]
B10 = [[0.93, 0.92], [0.93, 0.94], [0.92, 0.94], [0.92, 0.94], [0.93, 0.93]]

shares = st.integers(0, 1000).map(lambda n: n / 1000)
folds = st.integers(2, 12).flatmap(
    lambda k: st.tuples(*[st.lists(shares, min_size=k, max_size=k)] * 2)
)
ten_folds = st.tuples(*[st.lists(shares, min_size=10, max_size=10)] * 2)


# -- paired t --------------------------------------------------------------------------------------


def test_paired_t_by_hand() -> None:
    significance = paired_t(A, B)
    # Differences 0.01, 0.01, 0.02, 0, 0.02: mean 0.012, standard deviation sqrt(0.00007).
    assert significance.table["mean"] == pytest.approx(0.012)
    assert significance.statistic == pytest.approx(0.012 / math.sqrt(0.00007 / 5), rel=1e-9)
    assert significance.df == (4,)
    assert significance.p == pytest.approx(
        2 * stats.t.sf(0.012 / math.sqrt(0.00007 / 5), 4), rel=1e-9
    )


def test_paired_t_interval_is_students() -> None:
    significance = paired_t(A, B, level=0.9)
    theirs = stats.ttest_rel(B, A).confidence_interval(0.9)
    assert significance.effect == pytest.approx(0.012)
    assert (significance.effect.low, significance.effect.high) == pytest.approx(tuple(theirs))
    assert (significance.effect.n, significance.effect.level) == (5, 0.9)


@given(folds)
def test_paired_t_is_scipys(pair) -> None:
    a, b = pair
    significance = paired_t(a, b)
    assume(np.std(np.subtract(b, a)) > 1e-9)
    theirs = stats.ttest_rel(b, a)
    assert (significance.statistic, significance.p) == pytest.approx(
        (theirs.statistic, theirs.pvalue), rel=1e-6
    )


# -- Nadeau and Bengio -----------------------------------------------------------------------------


def test_nadeau_bengio_by_hand() -> None:
    significance = nadeau_bengio(A, B, n_train=800, n_test=200)
    expected = 0.012 / math.sqrt(0.00007 * (1 / 5 + 200 / 800))
    assert significance.statistic == pytest.approx(expected, rel=1e-9)
    assert significance.df == (4,)
    assert significance.p == pytest.approx(2 * stats.t.sf(expected, 4), rel=1e-9)


@given(folds)
def test_correction_makes_p_larger(pair) -> None:
    plain, corrected = paired_t(*pair), nadeau_bengio(*pair, n_train=4, n_test=1)
    # Where nothing varies between folds neither has a p.
    assert corrected.p >= plain.p - 1e-12 or (math.isnan(corrected.p) and math.isnan(plain.p))
    assert corrected.effect == plain.effect


def test_without_a_test_part_the_correction_vanishes() -> None:
    tiny = nadeau_bengio(A, B, n_train=1e12, n_test=1)
    assert tiny.statistic == pytest.approx(paired_t(A, B).statistic)


@pytest.mark.parametrize(("n_train", "n_test"), [(0, 10), (10, 0), (-1, 10)])
def test_sizes_must_be_positive(n_train: float, n_test: float) -> None:
    with pytest.raises(MethodError, match="is a number above 0"):
        nadeau_bengio(A, B, n_train=n_train, n_test=n_test)


# -- 5x2cv -----------------------------------------------------------------------------------------


def five_by_two() -> tuple[np.ndarray, np.ndarray]:
    differences = np.array(B10) - np.array(A10)
    means = differences.mean(axis=1, keepdims=True)
    return differences, ((differences - means) ** 2).sum(axis=1)


def test_5x2cv_t_by_hand() -> None:
    differences, variances = five_by_two()
    expected = differences[0, 0] / math.sqrt(variances.sum() / 5)
    significance = five_by_two_t(A10, B10)
    assert significance.statistic == pytest.approx(expected, rel=1e-12)
    assert significance.df == (5,)
    assert significance.p == pytest.approx(2 * stats.t.sf(abs(expected), 5), rel=1e-9)
    assert significance.table["variances"] == pytest.approx(variances)
    assert significance.effect == pytest.approx(0.03)
    assert significance.effect.low < significance.effect < significance.effect.high


def test_5x2cv_f_by_hand() -> None:
    differences, variances = five_by_two()
    expected = (differences**2).sum() / (2 * variances.sum())
    significance = five_by_two_f(A10, B10)
    assert significance.statistic == pytest.approx(expected, rel=1e-12)
    assert significance.df == (10, 5)
    assert significance.p == pytest.approx(stats.f.sf(expected, 10, 5), rel=1e-9)
    assert significance.effect == pytest.approx(differences.mean())
    assert math.isnan(significance.effect.low)
    assert significance.effect.note == "the F test gives no interval"


def test_ten_numbers_in_a_row_are_five_pairs() -> None:
    flat = five_by_two_t(np.ravel(A10), np.ravel(B10))
    assert flat.statistic == five_by_two_t(A10, B10).statistic


def test_f_does_not_depend_on_which_fold_comes_first_and_t_does() -> None:
    turned = [row[::-1] for row in A10], [row[::-1] for row in B10]
    assert five_by_two_f(*turned).statistic == pytest.approx(five_by_two_f(A10, B10).statistic)
    assert five_by_two_t(*turned).statistic != five_by_two_t(A10, B10).statistic


@pytest.mark.parametrize("test", [five_by_two_t, five_by_two_f])
def test_5x2cv_needs_ten_folds(test) -> None:
    with pytest.raises(MethodError, match="at least 10 folds"):
        test(A, B)
    with pytest.raises(MethodError, match="has 10 folds; found 12"):
        test(np.arange(12.0), np.arange(12.0))


# -- all of them -----------------------------------------------------------------------------------

TESTS = {
    "paired_t": paired_t,
    "nadeau_bengio": lambda a, b, **o: nadeau_bengio(a, b, n_train=8, n_test=2, **o),
    "5x2cv_t": five_by_two_t,
    "5x2cv_f": five_by_two_f,
}
every_test = pytest.mark.parametrize("name", TESTS)


@every_test
@given(pair=ten_folds)
def test_swapping_the_models_flips_the_effect_and_keeps_p(name, pair) -> None:
    one, other = TESTS[name](*pair), TESTS[name](*pair[::-1])
    assert one.effect == pytest.approx(-float(other.effect), abs=1e-15)
    assert one.p == pytest.approx(other.p, abs=1e-12)


@every_test
def test_identical_models_have_p_one(name: str) -> None:
    significance = TESTS[name](A10, A10)
    assert significance.test == name
    assert (significance.statistic, significance.p) == (0.0, 1.0)
    assert "no difference is shown" in significance.sentence


@every_test
@pytest.mark.parametrize("gain", [0.25, 0.01])
def test_the_same_gain_in_every_fold_tells_nothing_of_its_spread(name: str, gain: float) -> None:
    # 0.01 leaves folds that differ by rounding, which is no spread either.
    lower = np.linspace(0.5, 0.6, 10).reshape(5, 2)
    significance = TESTS[name](lower, lower + gain)
    assert math.isnan(significance.p)
    assert significance.statistic is None
    assert "nothing can be said" in significance.sentence


@every_test
def test_loss_is_read_as_a_gain_of_the_other(name: str) -> None:
    lower = np.linspace(0.5, 0.51, 10)
    assert "A scores higher" in TESTS[name](lower**2 + 0.5, lower).sentence


def test_the_first_difference_decides_dietterichs_test_and_its_sentence() -> None:
    differences = np.array([0.10, 0.101] + [-0.05, -0.049] * 4)
    significance = five_by_two_t(np.zeros(10), differences)
    assert significance.statistic > 0
    assert significance.effect == pytest.approx(0.1)
    assert "is +0.1000 (on average" in significance.sentence
    assert "B scores higher" in significance.sentence


@every_test
def test_folds_must_hold_numbers(name: str) -> None:
    with pytest.raises(MethodError, match="folds must hold numbers"):
        TESTS[name](["a"] * 10, ["b"] * 10)


@every_test
def test_folds_must_be_the_same(name: str) -> None:
    with pytest.raises(LengthMismatch, match="the same folds"):
        TESTS[name](A, B[:-1])


@every_test
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_must_be_finite(name: str, bad: float) -> None:
    spoiled = [*np.ravel(A10)[:-1], bad]
    with pytest.raises(MethodError, match="finite"):
        TESTS[name](spoiled, np.ravel(B10))


@pytest.mark.parametrize("name", ["paired_t", "nadeau_bengio"])
def test_one_fold_is_not_enough(name: str) -> None:
    with pytest.raises(MethodError, match="at least 2 folds"):
        TESTS[name]([0.5], [0.6])


# -- the interval of the F test --------------------------------------------------------------------


@given(ten_folds, st.sampled_from([0.8, 0.95]))
def test_interval_of_the_f_test_holds_zero_where_the_test_shows_nothing(pair, level) -> None:
    a, b = (np.array(values).reshape(5, 2) for values in pair)
    significance = five_by_two_f(a, b, level=level)
    assume(significance.statistic is not None)
    low, high = five_by_two_interval(a, b, level=level)
    assume(not math.isnan(low) and min(abs(low), abs(high)) > 1e-9)
    assert (low <= 0 <= high) == (significance.p >= 1 - level)
    assert (low + high) / 2 == pytest.approx(float(significance.effect))


def test_interval_of_the_f_test_refuses_what_the_test_refuses() -> None:
    low, high = five_by_two_interval(A10, B10)
    for edge in (low, high):
        assert five_by_two_f(A10, np.array(B10) - edge).p == pytest.approx(0.05)


def test_repeats_that_differ_by_more_than_their_folds_have_no_interval() -> None:
    b = np.repeat([[0.1], [0.9], [0.1], [0.9], [0.5]], 2, axis=1) + np.array([0, 1e-6])
    assert math.isnan(five_by_two_interval(np.zeros((5, 2)), b)[0])


def test_models_are_named_in_the_sentence() -> None:
    names = ("old", "new")
    for significance in (
        paired_t(A, B, names=names),
        nadeau_bengio(A, B, n_train=8, n_test=2, names=names),
        five_by_two_t(A10, B10, names=names),
        five_by_two_f(A10, B10, names=names),
    ):
        assert "new less old" in significance.sentence
        assert significance.models == names


def test_tables_hold_means_and_variances() -> None:
    fold_table = nadeau_bengio(A, B, n_train=800, n_test=200).table
    assert fold_table["variance"] == pytest.approx(0.00007)
    assert fold_table["corrected_variance"] == pytest.approx(0.00007 * (1 / 5 + 200 / 800))
    for test in (five_by_two_t, five_by_two_f):
        table = test(A10, B10).table
        assert table["mean"] == pytest.approx(np.subtract(B10, A10).mean())
        assert table["means"] == pytest.approx(np.subtract(B10, A10).mean(axis=1))
        assert table["variances"] == pytest.approx(2 * np.subtract(B10, A10).var(axis=1))


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("series", [pd.Series, lambda v, name: pl.Series(name, v)])
def test_named_columns_name_the_models(series) -> None:
    values = [0.1, 0.2, 0.35, 0.3], [0.2, 0.25, 0.5, 0.4]
    old, new = series(values[0], name="old"), series(values[1], name="new")
    for test in (paired_t, partial(nadeau_bengio, n_train=3, n_test=1)):
        significance = test(old, new)
        assert significance.models == ("old", "new")
        assert significance.p == test(*values).p
        assert test(*values).models == ("A", "B")
        assert test(old, new, names=("x", "y")).models == ("x", "y")


def test_folds_with_unlike_indexes_are_refused() -> None:
    old = pd.Series([0.1, 0.2, 0.3], name="old")
    with pytest.raises(InputError, match="row 1 is 0 in a and 2 in b"):
        paired_t(old, old[::-1])


@pytest.mark.parametrize("values", [(0.7, 0.8, 0.95), (0.8, 0.8)])
def test_the_corrected_mean_is_the_effect_against_a_model_that_scores_nothing(values):
    sizes = {"n_train": 70.0, "n_test": 30.0}
    tested = nadeau_bengio([0.0] * len(values), values, level=0.9, **sizes)
    assert repr(corrected_mean(values, level=0.9, **sizes)) == repr(tested.effect)
