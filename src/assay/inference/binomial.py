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
# A risk below this is below the chance of no more errors than are expected; with some room.
_HALF = 0.499


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


def shows_each(errors: Any, rows: int, limits: Any, risk: float) -> npt.NDArray[np.bool_]:
    """Whether each number of errors shows its rate: P(Bin(rows, limit) <= errors) <= risk.

    Most are far from the risk, and bounds that are quick to compute decide them.

    >>> shows_each([0, 3], 100, [0.05, 0.05], 0.1).tolist()
    [True, False]
    """
    errors, expected = np.asarray(errors), rows * np.asarray(limits, np.float64)
    shown = expected >= rows
    inside = (expected > 0) & ~shown
    room = expected - errors
    if risk < _HALF:
        # Where there are as many errors as expected, the chance of so few is a half or more.
        inside &= room > 0
    # Chernoff: the chance is at most exp(-room^2 / (2 expected)).
    sure = inside & (room > 0) & (room * room >= -2 * math.log(risk) * (1 + _CLOSE) * expected)
    shown |= sure
    close = np.flatnonzero(inside & ~sure)
    if len(close):
        shown[close] = tail(errors[close], rows, expected[close] / rows) <= risk
    return shown


@lru_cache(maxsize=4096)
def most_allowed(rows: int, limit: Fraction, risk: Fraction) -> int | None:
    """The largest k with P(Bin(rows, limit) <= k) <= risk; None where even k = 0 is too likely.

    >>> most_allowed(200_000, Fraction(1, 10_000), Fraction(1, 10))
    13
    >>> most_allowed(20_000, Fraction(1, 10_000), Fraction(1, 10)) is None
    True
    """
    low, high = -1, rows  # the tail of all rows is 1, which no risk allows
    middle, step = _about(rows, float(limit), float(risk)), 1
    while high - low > 1:
        if shows(middle, rows, limit, risk):
            low, middle = middle, middle + step
        else:
            high, middle = middle, middle - step
        # Steps grow until both ends are known, and halve what lies between from then on.
        step *= 2
        if not low < middle < high or step > high - low:
            middle = (low + high) // 2
    return None if low < 0 else low


def _about(rows: int, limit: float, risk: float) -> int:
    """The same by the normal distribution, inside of 0 to rows - 1."""
    from scipy.special import ndtri

    mean, spread = rows * limit, math.sqrt(rows * limit * (1 - limit))
    return min(max(round(mean + float(ndtri(risk)) * spread), 0), rows - 1)


def least_shown(rows: int, risk: float) -> float:
    """The smallest rate that so many rows without one error show: 1 - risk^(1/rows).

    >>> round(least_shown(23_025, 0.1), 7)
    0.0001
    """
    return -math.expm1(math.log(risk) / rows) if rows else 1.0
