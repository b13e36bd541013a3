"""LossSums: exact sums of losses, in any order."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tally import LossSums
from assay.tally.blocks import BLOCK
from assay.tally.sums import FIRST_BITS, SECOND_BITS, SMALLEST_PROBABILITY, Moments

UNIT = Fraction(1, 2**FIRST_BITS)
SQUARE_UNIT = Fraction(1, 2**SECOND_BITS)

# Rounding to the nearest unit is half of one; the rest is for the float64 that is rounded.
NEAR = Fraction(51, 100)
LOG_NEAR = 0.75
Array = np.ndarray[Any, Any]

probabilities = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 2.0**-52, 2.0**-53, 1 - 2.0**-53, 1e-300]), st.floats(0, 1)
)
rows = st.lists(st.tuples(st.integers(0, 1), probabilities), min_size=1, max_size=40)


def _columns(rows: list[tuple[int, float]]) -> tuple[Array, Array]:
    return np.array([r[0] for r in rows], np.uint8), np.array([r[1] for r in rows])


def _log(p: Fraction) -> mpmath.mpf:
    clipped = max(p, Fraction(1, 2**52))
    return -mpmath.log(mpmath.mpf(clipped.numerator) / clipped.denominator)


def _true(label: int, p: float) -> Fraction:
    """The probability that was given to what is true."""
    return Fraction(p) if label else 1 - Fraction(p)


@given(rows=rows)
def test_log_loss_is_the_exact_sum_rounded_to_a_unit_a_row(rows: list[tuple[int, float]]) -> None:
    sums = LossSums.of_binary(*_columns(rows))
    with mpmath.workdps(50):
        losses = [_log(_true(label, p)) for label, p in rows]
        first = abs(mpmath.mpf(sums.log[0]) / 2**FIRST_BITS - sum(losses))
        second = abs(mpmath.mpf(sums.log[1]) / 2**SECOND_BITS - sum(x * x for x in losses))
        assert first <= len(rows) * LOG_NEAR * mpmath.mpf(2) ** -FIRST_BITS
        assert second <= len(rows) * LOG_NEAR * mpmath.mpf(2) ** -SECOND_BITS


@given(rows=rows)
def test_brier_loss_is_the_exact_sum_rounded_to_a_unit_a_row(rows: list[tuple[int, float]]) -> None:
    sums = LossSums.of_binary(*_columns(rows))
    losses = [(Fraction(p) - label) ** 2 for label, p in rows]
    assert abs(sums.brier[0] * UNIT - sum(losses)) <= len(rows) * NEAR * UNIT
    squares = sum(x * x for x in losses)
    assert abs(sums.brier[1] * SQUARE_UNIT - squares) <= len(rows) * NEAR * SQUARE_UNIT


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
    assert abs(sums.brier[0] * UNIT - sum(briers)) <= len(rows) * NEAR * UNIT
    with mpmath.workdps(50):
        losses = [_log(row[label]) for row, label in zip(exact, truth.tolist(), strict=True)]
        difference = abs(mpmath.mpf(sums.log[0]) / 2**FIRST_BITS - sum(losses))
        assert difference <= len(rows) * LOG_NEAR * mpmath.mpf(2) ** -FIRST_BITS


@given(rows=rows)
def test_two_classes_lose_what_the_binary_form_loses(rows: list[tuple[int, float]]) -> None:
    truth, p = _columns(rows)
    binary = LossSums.of_binary(truth, p)
    classes = LossSums.of_classes(truth, np.stack([1 - p, p], axis=1))
    assert abs(binary.log[0] - classes.log[0]) <= len(rows)
    assert abs(binary.brier[0] - classes.brier[0]) <= len(rows)


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
        for found, losses in zip(sums.weighted, (log, brier), strict=True):
            pairs = list(zip(w, losses, strict=True))
            expected = (
                sum(w),
                sum(a * x for a, x in pairs),
                sum(a * a for a in w),
                sum(a * a * x for a, x in pairs),
                sum(a * a * x * x for a, x in pairs),
            )
            np.testing.assert_allclose(found, [float(e) for e in expected], rtol=1e-12)


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
