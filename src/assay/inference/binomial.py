"""Exact binomial tails, and how many errors a promise allows."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# The tails are right to some 1e-14: where one is closer to the risk than this, decimals decide.
_CLOSE, _DIGITS = 1e-11, 60
# Up to so many errors decimals are quick; beyond, a tail that close counts as too large.
_MOST_SUMMED = 1000


def tail(errors: Any, rows: int, share: Any) -> Floats:
    """P(Bin(rows, share) <= errors), by the incomplete beta function.

    >>> round(float(tail(0, 10, 0.2)), 6)
    0.107374
    """
    from scipy.special import betaincc

    errors = np.asarray(errors, np.float64)
    held = np.minimum(errors, rows - 1)
    return np.where(errors >= rows, 1.0, betaincc(held + 1, rows - held, share))


def shows(errors: int, rows: int, limit: Fraction, risk: Fraction) -> bool:
    """Whether so few errors show a rate of at most ``limit``.

    They do where P(Bin(rows, limit) <= errors) <= risk.

    >>> shows(0, 1, Fraction(1, 2), Fraction(1, 2))
    True
    """
    found, most = float(tail(errors, rows, float(limit))), float(risk)
    if abs(found - most) > _CLOSE * most:
        return found < most
    return errors <= _MOST_SUMMED and _summed(errors, rows, limit) <= risk


def _summed(errors: int, rows: int, limit: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = _DIGITS
        share = Decimal(limit.numerator) / limit.denominator
        terms = (
            math.comb(rows, k) * share**k * (1 - share) ** (rows - k)
            for k in range(min(errors, rows) + 1)
        )
        return Fraction(sum(terms, Decimal(0)))


@lru_cache(maxsize=4096)
def most_allowed(rows: int, limit: Fraction, risk: Fraction) -> int | None:
    """The largest k with P(Bin(rows, limit) <= k) <= risk; None where even k = 0 is too likely.

    >>> most_allowed(200_000, Fraction(1, 10_000), Fraction(1, 10))
    13
    >>> most_allowed(20_000, Fraction(1, 10_000), Fraction(1, 10)) is None
    True
    """
    low, high = -1, rows  # the tail of all rows is 1, which no risk allows
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shows(middle, rows, limit, risk) else (low, middle)
    return None if low < 0 else low


def least_shown(rows: int, risk: float) -> float:
    """The smallest rate that so many rows without one error show: 1 - risk^(1/rows).

    >>> round(least_shown(23_025, 0.1), 7)
    0.0001
    """
    return -math.expm1(math.log(risk) / rows) if rows else 1.0
