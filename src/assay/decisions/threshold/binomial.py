"""Exact binomial tails, and how many errors a promise allows."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# The tails are right to some 1e-14: where one is closer to the risk than this, fractions decide.
_CLOSE = 1e-11
# Up to so many rows fractions are quick; beyond, a tail that close counts as too large.
_MOST_EXACT = 2000


def tail(errors: Any, rows: int, share: Any) -> Floats:
    """P(Bin(rows, share) <= errors), by the incomplete beta function.

    >>> round(float(tail(0, 10, 0.2)), 6)
    0.107374
    """
    from scipy.special import betaincc

    errors = np.asarray(errors, np.float64)
    held = np.minimum(errors, rows - 1)
    return np.where(errors >= rows, 1.0, betaincc(held + 1, rows - held, share))


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
        low, high = (middle, high) if _allowed(middle, rows, limit, risk) else (low, middle)
    return None if low < 0 else low


def _allowed(errors: int, rows: int, limit: Fraction, risk: Fraction) -> bool:
    found, most = float(tail(errors, rows, float(limit))), float(risk)
    if abs(found - most) > _CLOSE * most:
        return found < most
    if rows > _MOST_EXACT:
        return False
    terms = (math.comb(rows, k) * limit**k * (1 - limit) ** (rows - k) for k in range(errors + 1))
    return sum(terms, Fraction(0)) <= risk


def least_shown(rows: int, risk: float) -> float:
    """The smallest rate that so many rows without one error show: 1 - risk^(1/rows).

    >>> round(least_shown(23_025, 0.1), 7)
    0.0001
    """
    return -math.expm1(math.log(risk) / rows) if rows else 1.0
