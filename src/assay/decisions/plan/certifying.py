"""How many rows show that errors are rare enough: exact binomial counts.

A rate is shown to be at most ``limit`` by n rows with at most k errors where
P(Bin(n, limit) <= k) <= risk: were the rate higher, so few errors would be that unlikely.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from assay.errors import InputError
from assay.inference.binomial import shows, tail

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
