"""How many rows tell a rate: that errors are rare enough, or within an interval so narrow."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from assay.errors import InputError
from assay.inference.binomial import shows, tail
from assay.inference.proportions import ProportionInterval

# More rows than this nobody labels, and floats no longer count them one by one.
MOST = 10**14


def chance(rows: int, errors: int, rate: float) -> float:
    """The chance of at most so many errors.

    >>> round(chance(10, 0, 0.2), 6)
    0.107374
    """
    return float(tail(errors, rows, rate))


def rows_needed(limit: Decimal | Fraction, errors: int, risk: Decimal | Fraction) -> int:
    """The fewest rows that show a rate of at most ``limit``, where they hold so many errors.

    >>> rows_needed(Decimal("0.0001"), 0, Decimal("0.1"))
    23025
    """
    rate, left = Fraction(limit), Fraction(risk)
    return first(lambda rows: shows(errors, rows, rate, left), errors + 1)


def bound(rows: int, errors: int, risk: float) -> float:
    """The highest rate that so few errors leave open (one side of Clopper and Pearson 1934)."""
    from scipy.special import betainccinv

    if errors >= rows:
        return 1.0
    return float(betainccinv(errors + 1, rows - errors, risk))


def errors_expected(rows: int, rate: float, power: float) -> int:
    """The smallest number of errors that is not exceeded with the chance ``power``."""
    return first(lambda errors: chance(rows, errors, rate) >= power, 0)


def first(true: Callable[[int], bool], start: int, step: int = 1) -> int:
    """The first whole number from ``start`` on for which something is true, and stays true.

    ``step`` is how far off it may be.
    """
    if true(start):
        return start
    low = start
    while not true(low + step):
        low += step
        step *= 2
        if low > MOST:
            raise InputError(
                f"more than {MOST:,} rows would be needed, which is past what can be planned; ask "
                f"for less"
            )
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if true(middle) else (middle, high)
    return high


def rows_for_width(method: ProportionInterval, width: float, share: float) -> int:
    """The fewest rows whose interval is at most so wide where the share is what is expected.

    The share of so many rows need not be a whole number of rows; the methods take it as it is.
    """
    return first(lambda rows: _width(method, rows * share, rows) <= width, 1)


def rows_for_sure(method: ProportionInterval, width: float, share: float, power: float) -> int:
    """Rows whose interval is at most so wide with the chance ``power``, and one row less is not.

    The observed share differs from the expected one by chance, and the interval with it. The chance
    does not grow with every single row, so still fewer may do now and then.
    """
    start = rows_for_width(method, width, share)
    return first(lambda rows: chance_of_width(method, width, share, rows) >= power, start)


def chance_of_width(method: ProportionInterval, width: float, share: float, rows: int) -> float:
    """The chance that the interval of so many rows is at most so wide.

    Intervals are widest in the middle: wide enough are up to k errors, and as few successes.
    """
    if _width(method, rows / 2, rows) <= width:
        return 1.0
    # The first count, from 0 on, whose interval is too wide; it grows up to the middle.
    too_wide = first(lambda k: 2 * k >= rows or _width(method, k, rows) > width, 0)
    if too_wide == 0:
        return 0.0
    return chance(rows, too_wide - 1, share) + chance(rows, too_wide - 1, 1 - share)


def _width(method: ProportionInterval, successes: float, rows: int) -> float:
    low, high = method(successes, rows)
    return float(high) - float(low)
