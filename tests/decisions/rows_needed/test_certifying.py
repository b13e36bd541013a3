"""Rows that show a rate: exact, by brute force, rationals and high precision."""

from decimal import Decimal
from fractions import Fraction
from math import comb, log

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.decisions.rows_needed import (
    MOST,
    chance,
    errors_expected,
    first,
    highest_rate,
    rows_needed,
)
from assay.errors import InputError


def exact_tail(rows: int, errors: int, rate: Fraction) -> Fraction:
    terms = (comb(rows, k) * rate**k * (1 - rate) ** (rows - k) for k in range(errors + 1))
    return sum(terms, Fraction(0))


def by_trial(limit: Fraction, errors: int, risk: Fraction) -> int:
    rows = errors + 1
    while exact_tail(rows, errors, limit) > risk:
        rows += 1
    return rows


# -- rows ------------------------------------------------------------------------------------------


def test_a_false_positive_rate_of_one_in_ten_thousand_takes_23025_negatives_without_an_error() -> (
    None
):
    row_count = rows_needed(Decimal("0.0001"), 0, Decimal("0.1"))
    assert row_count == 23025
    mpmath.mp.dps = 40
    least = mpmath.log(mpmath.mpf("0.1")) / mpmath.log1p(-mpmath.mpf("0.0001"))
    assert row_count == mpmath.ceil(least)


@settings(max_examples=60)
@given(
    limit=st.integers(2, 98),
    errors=st.integers(0, 6),
    risk=st.sampled_from(["0.5", "0.2", "0.1", "0.05", "0.01", "0.9"]),
)
def test_rows_are_the_fewest_by_exact_rationals(limit: int, errors: int, risk: str) -> None:
    share = Decimal(limit) / 100
    assert rows_needed(share, errors, Decimal(risk)) == by_trial(
        Fraction(limit, 100), errors, Fraction(risk)
    )


@pytest.mark.parametrize(
    ("limit", "errors", "risk", "rows"),
    [
        ("0.5", 0, "0.5", 1),  # 0.5^1 is 0.5, exactly the risk
        ("0.1", 0, "0.9", 1),
        ("0.1", 0, "0.81", 2),
        ("0.1", 0, "0.6561", 4),
        ("0.5", 1, "0.75", 2),
        ("0.5", 1, "0.5", 3),
    ],
)
def test_a_tail_that_equals_the_risk_is_enough(
    limit: str, errors: int, risk: str, rows: int
) -> None:
    assert rows_needed(Decimal(limit), errors, Decimal(risk)) == rows


@pytest.mark.parametrize("errors", [0, 1, 2, 5, 10, 50, 300])
@pytest.mark.parametrize("limit", ["0.01", "0.0001", "0.0000001", "0.000000001"])
def test_rows_are_the_fewest_in_high_precision(limit: str, errors: int) -> None:
    row_count = rows_needed(Decimal(limit), errors, Decimal("0.05"))
    mpmath.mp.dps = 50

    def tail(rows: int) -> mpmath.mpf:
        share = mpmath.mpf(limit)
        term = (1 - share) ** rows
        total = term
        for k in range(errors):
            term *= mpmath.mpf(rows - k) / (k + 1) * share / (1 - share)
            total += term
        return total

    assert tail(row_count) <= mpmath.mpf("0.05") < tail(row_count - 1)


@settings(max_examples=60)
@given(
    limit=st.floats(1e-6, 0.9),
    errors=st.integers(0, 60),
    risk=st.floats(1e-6, 0.9),
)
def test_rows_agree_with_scipy_away_from_ties(limit: float, errors: int, risk: float) -> None:
    row_count = rows_needed(Decimal(repr(limit)), errors, Decimal(repr(risk)))
    assert stats.binom.cdf(errors, row_count, limit) <= risk * (1 + 1e-8)
    if row_count > errors + 1:
        assert stats.binom.cdf(errors, row_count - 1, limit) > risk * (1 - 1e-8)


def test_more_errors_a_lower_limit_and_a_smaller_risk_take_more_rows() -> None:
    rows = [rows_needed(Decimal("0.01"), k, Decimal("0.1")) for k in range(30)]
    assert rows == sorted(set(rows))
    assert rows_needed(Decimal("0.005"), 3, Decimal("0.1")) > rows[3]
    assert rows_needed(Decimal("0.01"), 3, Decimal("0.05")) > rows[3]


def test_a_limit_that_nobody_can_show_is_refused() -> None:
    with pytest.raises(InputError, match="rows would be needed"):
        rows_needed(Decimal("1e-17"), 0, Decimal("0.1"))
    assert log(10) / 1e-17 > MOST


# -- chances and bounds ----------------------------------------------------------------------------


@settings(max_examples=100)
@given(rows=st.integers(1, 5000), errors=st.integers(0, 5000), rate=st.floats(1e-9, 1 - 1e-9))
def test_chance_is_the_binomial_tail(rows: int, errors: int, rate: float) -> None:
    # By high precision: SciPy's own is off by 2e-8 where the chance is tiny.
    with mpmath.workdps(40):
        odds = mpmath.mpf(rate) / (1 - mpmath.mpf(rate))
        term = total = (1 - mpmath.mpf(rate)) ** rows
        for k in range(min(errors, rows)):
            term *= odds * (rows - k) / (k + 1)
            total += term
        expected = float(total)
    assert chance(rows, errors, rate) == pytest.approx(expected, rel=1e-8, abs=1e-300)


@settings(max_examples=60)
@given(rows=st.integers(1, 3000), errors=st.integers(0, 100), risk=st.floats(0.001, 0.5))
def test_bound_is_the_rate_at_which_so_few_errors_are_that_unlikely(
    rows: int, errors: int, risk: float
) -> None:
    rate = highest_rate(rows, errors, risk)
    if errors >= rows:
        assert rate == 1
    else:
        assert stats.binom.cdf(errors, rows, rate) == pytest.approx(risk, rel=1e-7)


def test_expected_errors_are_a_quantile() -> None:
    for rows, rate, power in [(100, 0.1, 0.8), (1000, 0.05, 0.9), (10, 0.5, 0.5)]:
        assert errors_expected(rows, rate, power) == stats.binom.ppf(power, rows, rate)


@given(start=st.integers(0, 50), answer=st.integers(0, 10_000), step=st.integers(1, 100))
def test_first_finds_where_something_begins_to_hold(start: int, answer: int, step: int) -> None:
    assert first(lambda number: number >= answer, start, step) == max(start, answer)
