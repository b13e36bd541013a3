"""Quantiles and tails of the usual distributions; scipy is imported when the first is asked for."""

from __future__ import annotations

from functools import lru_cache

from assay.errors import MethodError


def check_level(level: float) -> float:
    """A confidence level strictly between 0 and 1."""
    number = isinstance(level, int | float)
    if not number or not 0 < level < 1:
        raise MethodError(f"level must lie between 0 and 1, such as 0.95; found {level!r}")
    return level


@lru_cache(maxsize=64)
def normal(level: float) -> float:
    """How many standard deviations the middle ``level`` of a normal distribution spans.

    >>> round(normal(0.95), 6)
    1.959964
    """
    from scipy.special import ndtri

    return float(-ndtri((1 - check_level(level)) / 2))


def student(level: float, df: float) -> float:
    """The same for Student's t distribution."""
    from scipy.special import stdtrit

    return float(-stdtrit(df, (1 - check_level(level)) / 2))


def normal_p(z: float) -> float:
    """The two-sided p-value of a normal statistic."""
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(z)))


def student_p(t: float, df: float) -> float:
    """The two-sided p-value of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(df, -abs(t)))


def chi_square_p(statistic: float, df: float) -> float:
    """The upper tail of the chi-square distribution."""
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))


def f_p(statistic: float, df1: float, df2: float) -> float:
    """The upper tail of the F distribution."""
    from scipy.special import fdtrc

    return float(fdtrc(df1, df2, statistic))


def f_quantile(level: float, df1: float, df2: float) -> float:
    """The value below which the share ``level`` of the F distribution lies."""
    from scipy.special import fdtri

    return float(fdtri(df1, df2, check_level(level)))


def binomial_p(k: int, n: int) -> float:
    """The exact two-sided p-value of k successes in n fair trials.

    >>> round(binomial_p(2, 10), 6)
    0.109375
    """
    from scipy.special import bdtr

    smaller = min(k, n - k)
    return min(1.0, float(2 * bdtr(smaller, n, 0.5)))


def studentised_range_p(q: float, groups: int) -> float:
    """The upper tail of the studentised range with infinite degrees of freedom."""
    from scipy.stats import studentized_range

    return float(studentized_range.sf(q, groups, 1e9))


@lru_cache(maxsize=64)
def studentised_range(level: float, groups: int) -> float:
    """The range of that many normal values that is exceeded with the chance 1 - level."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(check_level(level), groups, 1e9))
