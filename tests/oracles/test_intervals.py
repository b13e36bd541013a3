"""Intervals of a share against statsmodels, against 50 digits, and against their closed forms.

A quantile is checked without inverting anything: the tail beyond it is summed to 50 digits, and
the distance to the true quantile is what Newton's step from it would be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from statsmodels.stats.proportion import proportion_confint

from assay.errors import MethodError
from assay.inference import AgrestiCoull, ClopperPearson, Jeffreys, Wald, Wilson
from assay.inference.significance import (
    binomial_p,
    chi_square_p,
    f_p,
    normal,
    normal_p,
    student,
    student_p,
    studentised_range_p,
)

METHODS = (Wald, Wilson, AgrestiCoull, ClopperPearson, Jeffreys)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.999999, 1 - 1e-12)
SIZES = (1, 2, 3, 5, 10, 29, 100, 1000, 12345, 10**6)
THEIR_NAMES = {
    Wald: "normal",
    Wilson: "wilson",
    AgrestiCoull: "agresti_coull",
    ClopperPearson: "beta",
    Jeffreys: "jeffreys",
}


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mpmath.workdps(50):
        yield


def shares(n: int) -> list[int]:
    """Successes out of n: both edges, their neighbours, and some in between."""
    successes = {0, 1, 2, n // 7, n // 3, n // 2, n - n // 9, n - 2, n - 1, n}
    return sorted(k for k in successes if 0 <= k <= n)


def inside(k: int, n: int, low: float, high: float) -> tuple[float, float]:
    """An interval cut to [0, 1] that holds the share: 0 at k = 0 and 1 at k = n."""
    low = 0.0 if k == 0 else min(max(low, 0.0), k / n)
    high = 1.0 if k == n else max(min(high, 1.0), k / n)
    return low, high


# -- statsmodels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_interval_agrees_with_statsmodels(method: type, level: float) -> None:
    """statsmodels cuts to [0, 1], but its Jeffreys does not reach the edge at k = 0 and n."""
    for n in SIZES:
        ks = np.array(shares(n))
        low, high = method(level)(ks, n)
        theirs = proportion_confint(ks, n, alpha=1 - level, method=THEIR_NAMES[method])
        for i, k in enumerate(ks.tolist()):
            expected = inside(k, n, float(theirs[0][i]), float(theirs[1][i]))
            if method is Wald and k in (0, n):
                expected = (k / n, k / n)
            assert (low[i], high[i]) == pytest.approx(expected, rel=1e-12, abs=1e-14)


# -- 50 digits -------------------------------------------------------------------------------------


def exact_normal(level: float) -> mpf:
    return mp.sqrt(2) * mp.erfinv(mpf(level))


def beta_tail(a: Fraction, b: Fraction, x: Fraction) -> mpf:
    """The chance that a beta variate is below x, by its series of positive terms.

    The terms are summed as integers, multiples of 2^-240. Above one half the series of the other
    side ends sooner.
    """
    if x > Fraction(1, 2):
        return 1 - beta_tail(b, a, 1 - x)
    twice_a, twice_both = int(2 * a), int(2 * (a + b))
    one, at = 1 << 240, int(x * 2**240)
    term = total = one
    j = 0
    while term > 1 << 40:
        term = term * at * (twice_both + j) // ((twice_a + 2 + j) << 240)
        total += term
        j += 2
    a, b, x = (mpf(v.numerator) / v.denominator for v in (a, b, x))
    log = a * mp.log(x) + b * mp.log1p(-x) + mp.loggamma(a + b)
    return mp.exp(log - mp.loggamma(a + 1) - mp.loggamma(b)) * total / one


def distance_to_quantile(a: float, b: float, x: float, tail: mpf, *, upper: bool) -> float:
    """How far x is from the point with this much of the beta distribution beyond it."""
    a, b, x = Fraction(a), Fraction(b), Fraction(x)
    probability = beta_tail(b, a, 1 - x) if upper else beta_tail(a, b, x)
    a, b, x = (mpf(v.numerator) / v.denominator for v in (a, b, x))
    log = (a - 1) * mp.log(x) + (b - 1) * mp.log1p(-x) + mp.loggamma(a + b)
    density = mp.exp(log - mp.loggamma(a) - mp.loggamma(b))
    return float(abs(probability - tail) / density)


@pytest.mark.parametrize("level", LEVELS)
def test_wilson_is_right_to_50_digits(level: float) -> None:
    z = exact_normal(level)
    for n in SIZES:
        for k in shares(n):
            share = mpf(k) / n
            centre = share + z**2 / (2 * n)
            reach = z * mp.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
            low, high = ((centre + sign * reach) / (1 + z**2 / n) for sign in (-1, 1))
            ours = tuple(map(float, Wilson(level)(k, n)))
            expected = inside(k, n, float(low), float(high))
            assert ours == pytest.approx(expected, rel=1e-13, abs=1e-16)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", SIZES)
def test_clopper_pearson_is_right_to_50_digits(n: int, level: float) -> None:
    tail = (1 - mpf(level)) / 2
    for k in shares(n):
        low, high = map(float, ClopperPearson(level)(k, n))
        if k > 0:
            off = distance_to_quantile(k, n - k + 1, low, tail, upper=False)
            assert off <= 1e-12 * low
        if high == 1 and k < n:
            # Rightly so only if the quantile is nearer to 1 than to the float below it.
            halfway = Fraction(1, 2**54)
            assert beta_tail(Fraction(n - k), Fraction(k + 1), halfway) >= tail
        elif k < n:
            off = distance_to_quantile(k + 1, n - k, high, tail, upper=True)
            assert off <= 1e-12 * min(high, 1 - high) + 2e-16


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", SIZES)
def test_jeffreys_is_right_to_50_digits(n: int, level: float) -> None:
    tail = (1 - mpf(level)) / 2
    for k in shares(n):
        low, high = map(float, Jeffreys(level)(k, n))
        # At the edges, and where the share would lie outside, the interval is stretched to it.
        if k > 0 and low < k / n:
            off = distance_to_quantile(k + 0.5, n - k + 0.5, low, tail, upper=False)
            assert off <= 1e-12 * low
        if k < n and high > k / n:
            off = distance_to_quantile(k + 0.5, n - k + 0.5, high, tail, upper=True)
            assert off <= 1e-12 * min(high, 1 - high) + 2e-16


def test_clopper_pearson_has_half_the_error_in_each_tail_by_exact_counting() -> None:
    """The definition itself: sums of binomial chances, without any beta function."""
    tail = (1 - mpf(0.9)) / 2

    def chance(j: int, n: int, p: mpf) -> mpf:
        return mp.binomial(n, j) * p**j * (1 - p) ** (n - j)

    for k, n in ((1, 7), (3, 20), (10, 45), (44, 45)):
        low, high = (mpf(float(end)) for end in ClopperPearson(0.9)(k, n))
        at_least = mp.fsum(chance(j, n, low) for j in range(k, n + 1))
        at_most = mp.fsum(chance(j, n, high) for j in range(k + 1))
        assert float(at_least / tail) == pytest.approx(1, rel=1e-12)
        assert float(at_most / tail) == pytest.approx(1, rel=1e-12)


# -- closed forms at the edges ---------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", SIZES)
def test_the_edges_have_their_closed_forms(n: int, level: float) -> None:
    tail, z = (1 - mpf(level)) / 2, exact_normal(level)
    zero_in_n = {
        Wald: mpf(0),
        Wilson: z**2 / (n + z**2),
        ClopperPearson: -mp.expm1(mp.log(tail) / n),
    }
    for method, upper in zero_in_n.items():
        low, high = map(float, method(level)(0, n))
        assert low == 0
        assert high == pytest.approx(float(upper), rel=1e-14, abs=1e-15)
        low, high = map(float, method(level)(n, n))
        assert high == 1
        assert low == pytest.approx(float(1 - upper), rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_the_two_edges_mirror_each_other(method: type) -> None:
    for n in SIZES:
        for k in shares(n):
            low, high = method(0.95)(k, n)
            other_low, other_high = method(0.95)(n - k, n)
            assert (low, high) == pytest.approx((1 - other_high, 1 - other_low), abs=1e-13)


# -- what every interval promises ------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("method", METHODS)
def test_the_interval_lies_in_0_1_holds_the_share_and_rises_with_it(
    method: type, level: float
) -> None:
    for n in (1, 2, 3, 8, 50, 400, 10_000):
        ks = np.arange(n + 1)
        low, high = method(level)(ks, n)
        assert ((low >= 0) & (high <= 1)).all()
        assert ((low <= ks / n) & (ks / n <= high)).all()
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_gives_an_interval_around_the_lower_one(method: type) -> None:
    for n in SIZES:
        ks = np.array(shares(n))
        ends = [method(level)(ks, n) for level in LEVELS]
        for (low, high), (wider_low, wider_high) in pairwise(ends):
            assert (wider_low <= low).all()
            assert (wider_high >= high).all()


@pytest.mark.parametrize("method", METHODS)
def test_no_trials_give_no_interval(method: type) -> None:
    low, high = method(0.95)(0, 0)
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_a_level_that_is_no_level_is_refused(method: type, level: float) -> None:
    with pytest.raises(MethodError, match="level must lie between 0 and 1"):
        method(level)


# -- quantiles and tails ---------------------------------------------------------------------------


@pytest.mark.parametrize("level", [1e-6, 0.1, *LEVELS, 1 - 1e-12])
def test_normal_quantiles_are_right_to_50_digits(level: float) -> None:
    assert normal(level) == pytest.approx(float(exact_normal(level)), rel=1e-14)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("df", [1, 2, 3, 4.5, 9, 30, 200])
def test_student_quantiles_are_right_to_50_digits(df: float, level: float) -> None:
    t = mpf(student(level, df))
    outside = mp.betainc(mpf(df) / 2, mpf(1) / 2, 0, df / (df + t**2), regularized=True)
    log = mp.loggamma((mpf(df) + 1) / 2) - mp.loggamma(mpf(df) / 2)
    density = mp.exp(log) / mp.sqrt(df * mp.pi) * (1 + t**2 / df) ** (-(mpf(df) + 1) / 2)
    off = abs(outside - (1 - mpf(level))) / (2 * density)
    assert off <= 1e-12 * t


@pytest.mark.parametrize("z", [0, 1e-8, 0.3, 1.959964, 5, 12, 37])
def test_normal_tails_are_right_to_50_digits(z: float) -> None:
    assert normal_p(z) == pytest.approx(float(mp.erfc(mpf(z) / mp.sqrt(2))), rel=1e-13)
    assert normal_p(-z) == normal_p(z)


@pytest.mark.parametrize("df", [1, 4, 5, 29, 1000])
@pytest.mark.parametrize("t", [0.01, 0.7, 2.5, 8, 40])
def test_student_tails_are_right_to_50_digits(t: float, df: int) -> None:
    at = df / (df + mpf(t) ** 2)
    exact = mp.betainc(mpf(df) / 2, mpf(1) / 2, 0, at, regularized=True)
    assert student_p(t, df) == pytest.approx(float(exact), rel=1e-12)
    assert student_p(-t, df) == student_p(t, df)


@pytest.mark.parametrize("df", [1, 2, 5, 40])
@pytest.mark.parametrize("statistic", [0, 1e-6, 0.4, 3.84, 25, 150, 700])
def test_chi_square_tails_are_right_to_50_digits(statistic: float, df: int) -> None:
    exact = mp.gammainc(mpf(df) / 2, mpf(statistic) / 2, regularized=True)
    assert chi_square_p(statistic, df) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("statistic", [0, 0.1, 1, 4.74, 60, 5000])
def test_f_tails_are_right_to_50_digits(statistic: float) -> None:
    at = mpf(5) / (5 + 10 * mpf(statistic))
    exact = mp.betainc(mpf(5) / 2, 5, 0, at, regularized=True)
    assert f_p(statistic, 10, 5) == pytest.approx(float(exact), rel=1e-12)


def test_binomial_tails_are_right_by_exact_counting() -> None:
    for n in (1, 2, 5, 24, 25, 100, 301, 1000):
        for k in shares(n):
            smaller = min(k, n - k)
            twice = 2 * sum(math.comb(n, j) for j in range(smaller + 1))
            assert binomial_p(k, n) == pytest.approx(min(1.0, twice / 2**n), rel=1e-12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("q", "groups"), [(0.5, 3), (2, 3), (3.3, 5), (4.5, 2), (5.5, 12)])
def test_the_studentised_range_is_right_to_15_decimals(q: float, groups: int) -> None:
    """The difference of the chances that all of several normals lie below, and within q below."""

    def density(z: mpf) -> mpf:
        below = mp.ncdf(z) ** (groups - 1)
        return groups * mp.npdf(z) * (below - (mp.ncdf(z) - mp.ncdf(z - q)) ** (groups - 1))

    with mpmath.workdps(25):
        exact = mp.quad(density, [-15, -8, -4, -2, 0, 1, 2, 3, 4, 6, 8, 12, 20])
    assert studentised_range_p(q, groups) == pytest.approx(float(exact), abs=1e-14)
