"""A share of rows is a ratio of integers: with few rows not every printed value can be one."""

from __future__ import annotations

import math
from fractions import Fraction

from assay.decisions.audit.printed import Window
from assay.decisions.audit.search.cells import Region
from assay.decisions.audit.search.numbers import in_four_cells
from assay.decisions.audit.search.ways import ByFormula, Way
from assay.formula import cells, proportion


def multiples(where: Window, rows: int) -> tuple[int, int]:
    """The first and the last k for which k/rows lies in the window; crossed where there is none.

    >>> multiples(Window(Fraction(1, 3), Fraction(2, 3), closed=False), 3)
    (2, 1)
    """
    low, high = where.low * rows, where.high * rows
    first, last = math.ceil(low), math.floor(high)
    if not where.closed:
        first, last = first + (first == low), last - (last == high)
    return first, last


def can_be_a_ratio(way: Way, region: Region, n: int | None) -> bool:
    """Whether a share of rows can be printed so: the test of Brown and Heathers, exactly.

    Where the rows that it is a share of are known, some count of them must give the digits; where
    only all rows are, some fraction with no larger denominator must.
    """
    share = proportion(in_four_cells(way.quantity)) if isinstance(way, ByFormula) else None
    if share is None:
        return True
    where = way.printed.window(rounded=False)
    rows = region.fixed_total(sorted(cells(share.trials)))
    if rows is not None:
        first, last = multiples(where, rows)
        return rows > 0 and max(first, 0) <= min(last, rows)
    return n is None or smallest_denominator(where) <= n


def smallest_denominator(where: Window) -> int:
    """The smallest denominator of any fraction in the window, by continued fractions.

    >>> smallest_denominator(Window(Fraction(311, 1000), Fraction(312, 1000), closed=True))
    45
    """
    return _simplest(where.low, where.high, closed=where.closed).denominator


def _simplest(low: Fraction, high: Fraction, *, closed: bool) -> Fraction:
    whole = math.floor(low)
    if low == whole and closed:
        return Fraction(whole)
    if whole + 1 < high or (closed and whole + 1 == high):
        return Fraction(whole + 1)
    if low == whole:
        # Above an integer that does not count itself: 1/k for the first k that is small enough.
        k = math.floor(1 / (high - whole)) + 1
        return whole + Fraction(1, k)
    rest = _simplest(1 / (high - whole), 1 / (low - whole), closed=closed)
    return whole + 1 / rest
