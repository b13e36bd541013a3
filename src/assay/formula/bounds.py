"""The interval evaluator: what a formula can be where its cells are only known to lie in ranges.

Ranges are arrays, many boxes of cells at once. Plain interval arithmetic is too wide where a cell
stands in a formula twice; so the signs of the derivatives tell along which directions a formula
moves one way all over a box, and there only the ends are looked at. Every step is widened by more
than float64 loses, so a value outside of the bounds is impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.formula.tree import (
    ZERO,
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    Multiply,
    Root,
    TimesLog,
    add,
    cells,
    constant,
    derivative,
    multiply,
)

Floats: TypeAlias = npt.NDArray[np.float64]

# A few units of float64, relative to the largest number that took part in a step.
_WIDER = 2.0**-50


class Bounds(NamedTuple):
    """The least and the largest value, one of each for every box."""

    low: Floats
    high: Floats


Ranges: TypeAlias = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
Moves: TypeAlias = tuple[tuple[str, int], ...]
# The ranges of all cells when one direction is set to its start or to its end.
At: TypeAlias = Callable[[Sequence[Any]], Ranges]


def bounds(expression: Expression, ranges: Ranges) -> Bounds:
    """All values that an expression can have, and maybe some that it can't.

    A ratio whose denominator may be zero has no bound on that side; where it must be zero the
    bounds are nan, since no value is left.

    >>> from assay.formula import FP, TP
    >>> found = bounds(TP / (TP + FP), {"TP": ([3.0], [4.0]), "FP": ([0.0], [1.0])})
    >>> round(float(found.low[0]), 9), round(float(found.high[0]), 9)
    (0.6, 1.333333333)
    """
    return _Ranges(ranges).bounds(expression)


def bounds_along(expression: Expression, directions: Sequence[Moves], at: At) -> Bounds:
    """Tighter bounds over boxes that are spanned by directions.

    Each direction moves some cells by fixed steps; ``at`` gives the ranges of the cells when some
    directions are set to their starts (0) or to their ends (1) and the others (None) are left open.

    >>> from assay.formula import FP, TP
    >>> def at(ends):
    ...     low, high = (3.0, 4.0) if ends[0] is None else (3.0 + ends[0], 3.0 + ends[0])
    ...     return {"TP": (low, high), "FP": (1.0, 1.0)}
    >>> found = bounds_along(TP / (TP + FP), [(("TP", 1),)], at)
    >>> round(float(found.low), 9), round(float(found.high), 9)
    (0.75, 0.8)
    """
    wide = _Ranges(at([None] * len(directions)))
    whole = wide.bounds(expression)
    lows: list[Any] = []
    highs: list[Any] = []
    for moves in directions:
        slope = wide.bounds(_slope(expression, moves))
        rises, falls = slope.low >= 0, slope.high <= 0
        lows.append(np.where(rises, 0.0, np.where(falls, 1.0, np.nan)))
        highs.append(np.where(rises, 1.0, np.where(falls, 0.0, np.nan)))
    least, most = bounds(expression, at(lows)), bounds(expression, at(highs))
    # At an end where a formula is undefined (nan) it says nothing of what lies beside it.
    return Bounds(np.fmax(whole.low, least.low), np.fmin(whole.high, most.high))


@lru_cache(maxsize=4096)
def _slope(expression: Expression, moves: Moves) -> Expression:
    """How fast an expression changes in a direction."""
    parts = [
        multiply(constant(step), derivative(expression, cell))
        for cell, step in moves
        if cell in cells(expression)
    ]
    return add(*parts) if parts else ZERO


class _Ranges:
    """The ranges of some cells, and the bounds of what was asked of them before."""

    def __init__(self, ranges: Ranges) -> None:
        # By identity: a formula and its derivatives share their parts.
        self._found: dict[int, tuple[Expression, Bounds]] = {}
        with np.errstate(all="ignore"):
            self._cells = {
                name: _widened_ends(np.asarray(low, np.float64), np.asarray(high, np.float64))
                for name, (low, high) in ranges.items()
            }

    def bounds(self, expression: Expression) -> Bounds:
        """All values that an expression can have."""
        with np.errstate(all="ignore"):
            return self._bounds(expression)

    def _bounds(self, expression: Expression) -> Bounds:
        if isinstance(expression, Cell):
            return self._cells[expression.name]
        known = self._found.get(id(expression))
        if known is None:
            known = expression, self._new(expression)
            self._found[id(expression)] = known
        return known[1]

    def _new(self, expression: Expression) -> Bounds:
        match expression:
            case Constant(number):
                exact = np.asarray(number.numerator / number.denominator)
                return _widened_ends(exact, exact)
            case Add(terms):
                parts = [self._bounds(term) for term in terms]
                low, high = sum(part.low for part in parts), sum(part.high for part in parts)
                size = sum(np.maximum(abs(part.low), abs(part.high)) for part in parts)
                return _widened(low, high, size)
            case Multiply(factors):
                found = self._bounds(factors[0])
                for factor in factors[1:]:
                    found = _product(found, self._bounds(factor))
                return found
            case Divide(numerator, denominator):
                return _ratio(self._bounds(numerator), self._bounds(denominator))
            case Root(radicand):
                inner = self._bounds(radicand)
                return _widened_ends(*(np.sqrt(np.maximum(end, 0.0)) for end in inner))
            case TimesLog(factor, argument):
                inner = self._bounds(argument)
                # A bound of 0 has no logarithm; where the argument can't be told, neither can it.
                logs = Bounds(*(np.log(np.maximum(end, 0.0)) for end in inner))
                slack = _WIDER * np.maximum(abs(logs.low), abs(logs.high))
                slack = np.where(np.isfinite(slack), slack, 0.0) + _WIDER
                return _times_log(self._bounds(factor), Bounds(logs.low - slack, logs.high + slack))
        raise TypeError(f"no bounds of {expression!r}")


def _widened(low: Any, high: Any, size: Any) -> Bounds:
    slack = np.where(np.isfinite(size), _WIDER * size, 0.0)
    return Bounds(np.asarray(low - slack), np.asarray(high + slack))


def _product(a: Bounds, b: Bounds) -> Bounds:
    if np.all(a.low >= 0) and np.all(b.low >= 0) and np.all(np.isfinite(a.high * b.high)):
        return _widened_ends(a.low * b.low, a.high * b.high)
    corners = [_times(x, y) for x in a for y in b]
    low = np.minimum(np.minimum(corners[0], corners[1]), np.minimum(corners[2], corners[3]))
    high = np.maximum(np.maximum(corners[0], corners[1]), np.maximum(corners[2], corners[3]))
    return _unless(np.isnan(a.low) | np.isnan(b.low), _widened_ends(low, high))


def _times_log(factor: Bounds, logs: Bounds) -> Bounds:
    """A product that is 0 where the factor is, and endless where the logarithm may be."""
    product = _product(factor, logs)
    unknown = ~np.isfinite(logs.low) | ~np.isfinite(logs.high) | np.isnan(product.low)
    nothing = (factor.low == 0) & (factor.high == 0)
    low = np.where(nothing, 0.0, np.where(unknown, -np.inf, product.low))
    return Bounds(low, np.where(nothing, 0.0, np.where(unknown, np.inf, product.high)))


def _times(x: Floats, y: Floats) -> Floats:
    """A product; nothing times endless is nothing, as for every finite number."""
    found = x * y
    return np.where(np.isnan(found), 0.0, found)


def _ratio(top: Bounds, bottom: Bounds) -> Bounds:
    """A ratio; where the denominator may be zero, only the signs tell on which side it ends."""
    negative = bottom.high <= 0
    # A ratio of negatives is one of positives.
    num = Bounds(np.where(negative, -top.high, top.low), np.where(negative, -top.low, top.high))
    den = Bounds(
        np.where(negative, -bottom.high, bottom.low), np.where(negative, -bottom.low, bottom.high)
    )
    never = (den.low == 0) & (den.high == 0)
    crossing = den.low < 0
    below = np.where(num.low >= 0, num.low / den.high, num.low / den.low)
    above = np.where(num.high > 0, num.high / den.low, num.high / den.high)
    touching = (den.low == 0) & ~never
    below = np.where(touching & (num.low < 0), -np.inf, below)
    above = np.where(touching & (num.high > 0), np.inf, above)
    low = np.where(crossing | np.isnan(below), -np.inf, below)
    high = np.where(crossing | np.isnan(above), np.inf, above)
    undefined = never | np.isnan(top.low) | np.isnan(bottom.low)
    return _unless(undefined, _widened_ends(low, high))


def _unless(undefined: npt.NDArray[np.bool_], found: Bounds) -> Bounds:
    return Bounds(np.where(undefined, np.nan, found.low), np.where(undefined, np.nan, found.high))


def _widened_ends(low: Floats, high: Floats) -> Bounds:
    return Bounds(low - _WIDER * abs(low), high + _WIDER * abs(high))
