"""How many rows make an interval as narrow as one wants it."""

from __future__ import annotations

from assay.decisions.plan.certifying import chance, first
from assay.inference.proportions import ProportionInterval


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
