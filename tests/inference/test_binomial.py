"""How many errors a promise allows, against high precision and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.significance import least_shown, most_allowed, shows_each, tail

TENTH = Fraction(1, 10)


def precise_tail(errors: int, rows: int, share: float) -> mpmath.mpf:
    """P(Bin(rows, share) <= errors) with 40 digits, summed downwards from the largest term."""
    with mpmath.workdps(40):
        p = mpmath.mpf(share)
        term = mpmath.exp(
            mpmath.loggamma(rows + 1)
            - mpmath.loggamma(errors + 1)
            - mpmath.loggamma(rows - errors + 1)
            + errors * mpmath.log(p)
            + (rows - errors) * mpmath.log1p(-p)
        )
        total, k = mpmath.mpf(0), errors
        while k >= 0 and term > total * mpmath.mpf(10) ** -25:
            total += term
            term *= mpmath.mpf(k) / (rows - k + 1) * (1 - p) / p
            k -= 1
        return total


CASES = [
    (rows, share, errors)
    for rows in (10, 1000, 200_000, 10**8)
    for share in (1e-6, 1e-4, 0.01, 0.3)
    for deviations in (-3.0, -1.3, 0.0)
    if 0 <= (errors := int(rows * share + deviations * math.sqrt(rows * share))) < rows
]


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("rows", "share", "errors"), CASES)
def test_tails_are_right_to_twelve_digits(rows: int, share: float, errors: int) -> None:
    expected = precise_tail(errors, rows, share)
    assert abs(mpmath.mpf(float(tail(errors, rows, share))) / expected - 1) < 1e-12


def test_the_tail_of_all_rows_is_one() -> None:
    assert tail([2, 3, 9], 3, 0.5).tolist() == [0.875, 1.0, 1.0]


@given(
    rows=st.integers(1, 60),
    limit=st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50),
    risk=st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=100),
)
def test_most_allowed_is_the_largest_by_exact_fractions(
    rows: int, limit: Fraction, risk: Fraction
) -> None:
    total, allowed = Fraction(0), None
    for k in range(rows + 1):
        total += math.comb(rows, k) * limit**k * (1 - limit) ** (rows - k)
        if total > risk:
            break
        allowed = k
    assert most_allowed(rows, limit, risk) == allowed


@pytest.mark.parametrize("rows", [20_000, 200_000, 10**7, 10**8])
@pytest.mark.parametrize("limit", ["0.0001", "0.01"])
def test_most_allowed_is_right_for_many_rows(rows: int, limit: str) -> None:
    allowed = most_allowed(rows, Fraction(limit), TENTH)
    above = 0 if allowed is None else allowed + 1
    assert precise_tail(above, rows, float(limit)) > 0.1
    if allowed is not None:
        assert precise_tail(allowed, rows, float(limit)) <= 0.1


def test_a_tail_that_equals_the_risk_is_allowed() -> None:
    # P(Bin(2, 1/2) <= 0) = 1/4, and P(Bin(1, 9/10) <= 0) = 1/10, which floats get wrong.
    assert most_allowed(2, Fraction(1, 2), Fraction(1, 4)) == 0
    assert most_allowed(1, Fraction(9, 10), TENTH) == 0
    assert most_allowed(1, Fraction(9, 10), Fraction(99, 1000)) is None


def test_the_least_rate_that_is_shown_is_where_no_error_becomes_allowed() -> None:
    least = least_shown(5000, 0.1)
    assert np.isclose(float(tail(0, 5000, least)), 0.1, rtol=1e-12)
    assert most_allowed(5000, Fraction(least) * Fraction(1001, 1000), TENTH) == 0
    assert most_allowed(5000, Fraction(least) * Fraction(999, 1000), TENTH) is None


@given(
    rows=st.sampled_from([1, 30, 5000, 10**6, 10**9]),
    risk=st.sampled_from([1e-6, 0.01, 0.1, 0.6, 0.9]),
    seed=st.integers(0, 1000),
)
def test_quick_bounds_decide_as_the_tail_does(rows: int, risk: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    limits = np.concatenate(
        (10 ** rng.uniform(-9, 0, 40), rng.uniform(0, 1, 20), [0, -0.1, 1, 1.2])
    )
    spread = np.sqrt(rows * np.clip(limits, 0, 1))
    errors = np.clip(rows * limits + rng.normal(0, 3, len(limits)) * spread, 0, rows).astype(int)
    inside = np.clip(limits, 1e-300, 1 - 1e-16)
    expected = np.where(limits >= 1, True, (limits > 0) & (tail(errors, rows, inside) <= risk))
    assert shows_each(errors, rows, limits, risk).tolist() == expected.tolist()


def test_no_errors_to_judge() -> None:
    assert shows_each(np.empty(0, int), 10, np.empty(0), 0.1).tolist() == []
