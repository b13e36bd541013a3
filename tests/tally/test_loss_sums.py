"""LossSums: exact sums of losses, in any order."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tally import LossSums, from_bytes
from assay.tally.blocks import BLOCK
from assay.tally.loss_sums import SMALLEST_PROBABILITY, UNIT_BITS, Moments, _integer_sums

UNIT = Fraction(1, 2**UNIT_BITS)

# Sums are exact; what is left is the rounding of each row's float64, and of numbers near 0.
NEAR = Fraction(1, 2**50)
LEAST = Fraction(1, 2**1070)
Array = np.ndarray[Any, Any]

probabilities = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 2.0**-52, 2.0**-53, 1 - 2.0**-53, 1e-300]), st.floats(0, 1)
)
rows = st.lists(st.tuples(st.integers(0, 1), probabilities), min_size=1, max_size=40)


def _columns(rows: list[tuple[int, float]]) -> tuple[Array, Array]:
    return np.array([r[0] for r in rows], np.uint8), np.array([r[1] for r in rows])


def _log(p: Fraction) -> mpmath.mpf:
    clipped = max(p, Fraction(1, 2**52))
    # Near 1 by what is left of it, or a loss of 1e-298 would be lost.
    rest = 1 - clipped
    return -mpmath.log1p(-mpmath.mpf(rest.numerator) / rest.denominator)


def _true(label: int, p: float) -> Fraction:
    """The probability that was given to what is true."""
    return Fraction(p) if label else 1 - Fraction(p)


@given(rows=rows)
def test_log_loss_is_the_sum_of_rows_to_the_precision_of_a_float(
    rows: list[tuple[int, float]],
) -> None:
    sums = LossSums.of_binary(*_columns(rows))
    with mpmath.workdps(50):
        losses = [_log(_true(label, p)) for label, p in rows]
        first = abs(mpmath.mpf(sums.log[0]) / 2**UNIT_BITS - sum(losses))
        second = abs(mpmath.mpf(sums.log[1]) / 2**UNIT_BITS - sum(x * x for x in losses))
        near = mpmath.mpf(2) ** -50
        # What is left of 1 rounds once for each row.
        rounding = len(rows) * mpmath.mpf(2) ** -53
        assert first <= near * (sum(losses) + mpmath.mpf(10) ** -300) + rounding
        squares = sum(x * x for x in losses)
        largest = 2 * max(losses) * rounding
        assert second <= 4 * near * (squares + mpmath.mpf(10) ** -300) + largest


@given(rows=rows)
def test_brier_loss_is_the_sum_of_rows_to_the_precision_of_a_float(
    rows: list[tuple[int, float]],
) -> None:
    sums = LossSums.of_binary(*_columns(rows))
    losses = [(Fraction(p) - label) ** 2 for label, p in rows]
    assert abs(sums.brier[0] * UNIT - sum(losses)) <= NEAR * sum(losses) + len(rows) * LEAST
    squares = sum(x * x for x in losses)
    assert abs(sums.brier[1] * UNIT - squares) <= NEAR * squares + len(rows) * LEAST


@given(values=st.lists(st.floats(0, 36.1), min_size=1, max_size=50))
def test_floats_are_added_without_any_rounding(values: list[float]) -> None:
    squares = [value * value for value in values]
    column = np.array(values)
    first, second = _integer_sums(column, np.empty(len(values)), np.empty(len(values)), None)
    assert first * UNIT == sum(map(Fraction, values))
    assert second * UNIT == sum(map(Fraction, squares))


@pytest.mark.parametrize("p", [1e-5, 1e-7, 1e-9, 1e-12, 1e-16, 1e-30, 1e-100, 1e-150])
def test_a_loss_near_0_is_not_0(p: float) -> None:
    sums = LossSums.of_binary(np.zeros(1000, np.uint8), np.full(1000, p))
    assert sums.brier_score().mean == p * p
    assert sums.log_loss().mean == pytest.approx(-math.log1p(-p), rel=1e-11)
    classes = LossSums.of_classes(np.zeros(10, int), np.array([[1 - p, p]] * 10))
    assert classes.brier_score().mean > 0


def test_the_spread_of_losses_near_0_is_told() -> None:
    p = 1e-7 * np.random.default_rng(3).random(500)
    moments = LossSums.of_binary(np.zeros(500, np.uint8), p).brier_score()
    assert moments.variance_of_mean == pytest.approx((p * p).var() / 500, rel=1e-9)


# What version 0.1 wrote of three rows: (0, 0.25), (1, 0.5), (1, 0.0).
OLD = bytes.fromhex(
    "61737361792d74616c6c790a05ad05a9a2000000000000007b22617272617973223a5b5d2c22686561646572223a7b"
    "226272696572223a5b32333038393734343138333239362c343538303137393936385d2c22636c6970706564223a31"
    "2c226c6f67223a5b3635313334313538363833383538322c353538323230343035373130375d2c22726f7773223a33"
    "2c227765696768746564223a6e756c6c7d2c226b696e64223a226c6f73736573222c22736368656d61223a317d"
)


def test_bytes_of_an_earlier_version_are_read_and_added() -> None:
    old = from_bytes(OLD)
    new = LossSums.of_binary(np.array([0, 1, 1]), np.array([0.25, 0.5, 0.0]))
    assert (old.rows, old.clipped, old.brier) == (new.rows, new.clipped, new.brier)
    assert old.log_loss().mean == pytest.approx(new.log_loss().mean, abs=2**-44)
    both = old + new
    assert both.rows == 6
    assert from_bytes(both.to_bytes()) == both
    assert both.brier_score().mean == new.brier_score().mean


def test_bytes_have_no_more_digits_than_their_sums() -> None:
    plain = LossSums.of_binary(np.array([0, 1]), np.array([0.25, 0.5]))
    tiny = LossSums.of_binary(np.array([0, 1]), np.array([1e-100, 0.5]))
    assert len(plain.to_bytes()) < 300 < len(tiny.to_bytes())
    assert from_bytes(tiny.to_bytes()) == tiny


@given(rows=rows)
def test_the_sums_are_those_of_single_rows_to_the_bit(rows: list[tuple[int, float]]) -> None:
    truth, probability = _columns(rows)
    each = [LossSums.of_binary(truth[i : i + 1], probability[i : i + 1]) for i in range(len(rows))]
    assert LossSums.of_binary(truth, probability) == sum(each, LossSums())


@pytest.mark.parametrize("size", [1, 4095, 4097, BLOCK - 1, BLOCK, BLOCK + 1, 6 * BLOCK + 3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_order_of_many_rows_does_not_matter(size: int, dtype: Any) -> None:
    rng = np.random.default_rng(size)
    truth = rng.integers(0, 2, size).astype(np.uint8)
    probability = rng.random(size).astype(dtype)
    whole = LossSums.of_binary(truth, probability)
    order = rng.permutation(size)
    assert LossSums.of_binary(truth[order], probability[order]) == whole
    cut = size // 3
    assert (
        LossSums.of_binary(truth[cut:], probability[cut:])
        + LossSums.of_binary(truth[:cut], probability[:cut])
        == whole
    )


def test_narrow_probabilities_are_summed_as_the_numbers_that_they_are() -> None:
    rng = np.random.default_rng(8)
    truth, narrow = rng.integers(0, 2, 1000), rng.random(1000).astype(np.float32)
    assert LossSums.of_binary(truth, narrow) == LossSums.of_binary(truth, narrow.astype(np.float64))


def test_many_large_losses_do_not_overflow() -> None:
    size = 3 * BLOCK
    sums = LossSums.of_binary(np.ones(size, np.uint8), np.zeros(size))
    assert sums.clipped == sums.rows == size
    one = LossSums.of_binary(np.ones(1, np.uint8), np.zeros(1))
    assert sums.log == (size * one.log[0], size * one.log[1])
    assert sums.log_loss().mean == pytest.approx(52 * math.log(2), rel=1e-12)


def test_the_sum_of_a_trillion_counts_is_exact() -> None:
    truth, probability = np.array([1, 0]), np.array([0.3, 0.6])
    once = LossSums.of_binary(truth[:1], probability[:1])
    other = LossSums.of_binary(truth[1:], probability[1:])
    counts = np.array([10**12, 2**60], np.int64)
    many = LossSums.of_binary(truth, probability, counts=counts)
    assert many.log[0] == 10**12 * once.log[0] + 2**60 * other.log[0]
    assert many.brier[1] == 10**12 * once.brier[1] + 2**60 * other.brier[1]
    assert many.rows == 10**12 + 2**60


@pytest.mark.parametrize(
    ("label", "p", "clipped"),
    [
        (1, 0.0, 1),
        (1, 2.0**-53, 1),
        (1, 2.0**-52, 0),
        (1, 1.0, 0),
        (0, 1.0, 1),
        (0, 1 - 2.0**-53, 1),
        (0, 1 - 2.0**-52, 0),
        (0, 0.0, 0),
    ],
)
def test_a_probability_below_the_smallest_is_clipped_and_counted(
    label: int, p: float, clipped: int
) -> None:
    assert SMALLEST_PROBABILITY == 2.0**-52
    sums = LossSums.of_binary(np.array([label]), np.array([p]))
    assert sums.clipped == clipped
    assert sums.log_loss().mean <= 52 * math.log(2) + 1e-12
    counted = LossSums.of_binary(np.array([label]), np.array([p]), counts=np.array([7]))
    assert counted.clipped == 7 * clipped


def test_a_certain_and_right_row_loses_nothing() -> None:
    sums = LossSums.of_binary(np.array([1, 0]), np.array([1.0, 0.0]))
    assert sums.log == sums.brier == (0, 0)
    assert sums.log_loss().mean == 0.0


def test_a_coin_loses_ln_2_and_a_quarter() -> None:
    sums = LossSums.of_binary(np.array([1, 0, 1]), np.full(3, 0.5))
    assert sums.log_loss().mean == pytest.approx(math.log(2), abs=2**-44)
    assert sums.brier_score().mean == 0.25
    assert sums.brier_score().variance_of_mean == 0.0


# -- one probability a class -----------------------------------------------------------------------

class_rows = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 9), st.integers(1, 9)),
    min_size=1,
    max_size=20,
)


@given(rows=class_rows)
def test_losses_over_classes_are_the_exact_sums(rows: list[tuple[int, ...]]) -> None:
    truth = np.array([r[0] for r in rows])
    table = np.array([[n / sum(r[1:]) for n in r[1:]] for r in rows])
    sums = LossSums.of_classes(truth, table)
    exact = [[Fraction(p) for p in row] for row in table.tolist()]
    briers = [
        sum((p - (k == label)) ** 2 for k, p in enumerate(row)) / 2
        for row, label in zip(exact, truth.tolist(), strict=True)
    ]
    assert abs(sums.brier[0] * UNIT - sum(briers)) <= NEAR * sum(briers)
    with mpmath.workdps(50):
        losses = [_log(row[label]) for row, label in zip(exact, truth.tolist(), strict=True)]
        difference = abs(mpmath.mpf(sums.log[0]) / 2**UNIT_BITS - sum(losses))
        assert difference <= mpmath.mpf(2) ** -50 * sum(losses)


@given(rows=rows)
def test_two_classes_lose_what_the_binary_form_loses(rows: list[tuple[int, float]]) -> None:
    truth, p = _columns(rows)
    binary = LossSums.of_binary(truth, p)
    classes = LossSums.of_classes(truth, np.stack([1 - p, p], axis=1))
    near = len(rows) * 2.0**-50
    assert binary.log_loss().first == pytest.approx(classes.log_loss().first, rel=1e-9, abs=near)
    brier = classes.brier_score().first
    assert binary.brier_score().first == pytest.approx(brier, rel=1e-9, abs=near)


def test_the_worst_brier_over_classes_is_one() -> None:
    sums = LossSums.of_classes(np.array([0]), np.array([[0.0, 0.0, 1.0]]))
    assert sums.brier_score().mean == 1.0
    assert sums.clipped == 1


# -- weights and moments ---------------------------------------------------------------------------


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 1), st.floats(0.01, 0.99), st.floats(0.01, 100)),
        min_size=1,
        max_size=30,
    )
)
def test_weighted_sums_are_exact_to_twelve_digits(rows: list[tuple[int, float, float]]) -> None:
    truth, p = _columns([(r[0], r[1]) for r in rows])
    sums = LossSums.of_binary(truth, p, weights=np.array([r[2] for r in rows]))
    assert sums.weighted is not None
    with mpmath.workdps(40):
        w = [mpmath.mpf(r[2]) for r in rows]
        log = [_log(_true(r[0], r[1])) for r in rows]
        brier = [mpmath.mpf(r[1] - r[0]) ** 2 for r in rows]
        for weighted_sum, losses in zip(sums.weighted, (log, brier), strict=True):
            pairs = list(zip(w, losses, strict=True))
            expected = (
                sum(w),
                sum(a * x for a, x in pairs),
                sum(a * a for a in w),
                sum(a * a * x for a, x in pairs),
                sum(a * a * x * x for a, x in pairs),
            )
            np.testing.assert_allclose(weighted_sum, [float(e) for e in expected], rtol=1e-12)


def test_weights_of_one_give_the_moments_of_plain_rows() -> None:
    rng = np.random.default_rng(12)
    truth, p = rng.integers(0, 2, 500), rng.random(500)
    plain = LossSums.of_binary(truth, p)
    weighted = LossSums.of_binary(truth, p, weights=np.ones(500))
    for a, b in (
        (plain.log_loss(), weighted.log_loss()),
        (plain.brier_score(), weighted.brier_score()),
    ):
        assert a.mean == pytest.approx(b.mean, rel=1e-12)
        assert a.variance_of_mean == pytest.approx(b.variance_of_mean, rel=1e-7)


def test_the_scale_of_weights_does_not_matter() -> None:
    rng = np.random.default_rng(13)
    truth, p, w = rng.integers(0, 2, 100), rng.random(100), rng.random(100) + 0.1
    one = LossSums.of_binary(truth, p, weights=w).log_loss()
    other = LossSums.of_binary(truth, p, weights=w * 1000).log_loss()
    assert one.mean == pytest.approx(other.mean, rel=1e-12)
    assert one.variance_of_mean == pytest.approx(other.variance_of_mean, rel=1e-9)


def test_the_variance_of_a_mean_is_that_of_its_rows() -> None:
    rng = np.random.default_rng(14)
    truth, p = rng.integers(0, 2, 400), rng.random(400)
    brier = (p - truth) ** 2
    moments = LossSums.of_binary(truth, p).brier_score()
    assert moments.mean == pytest.approx(brier.mean(), rel=1e-12)
    assert moments.variance_of_mean == pytest.approx(brier.var() / 400, rel=1e-6)


def test_a_variance_that_rounding_made_negative_is_zero() -> None:
    assert Moments(2.0, 2.0, 2.0, 2.0, 2.0 - 1e-12).variance_of_mean == 0.0


def test_clipped_rows_are_counted_as_rows_beside_weights() -> None:
    sums = LossSums.of_binary(np.array([1, 1]), np.array([0.0, 0.5]), weights=np.array([9.0, 1.0]))
    assert (sums.rows, sums.clipped) == (2, 1)


def test_no_rows_have_no_sums() -> None:
    empty = np.empty(0)
    assert LossSums.of_binary(empty, empty) == LossSums()
    assert LossSums.of_classes(empty.astype(int), np.empty((0, 3))) == LossSums()
