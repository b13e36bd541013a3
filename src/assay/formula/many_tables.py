"""A formula over many tables at once, in float64: its values, or bounds where cells have ranges.

Values are for sweeps and resamples. Each operation rounds once, so a value is within a few units
of 2^-52, relative to the largest term added; where a difference nearly cancels (mcc and kappa near
zero) the error has that size in absolute terms. Counts above 2^53 are rounded on input. Printed
values come from :mod:`assay.formula.one_table`.

Bounds show what a formula can be when its cells are only known to lie in ranges; ranges are arrays,
so many boxes are bounded at once. Plain interval arithmetic is too wide where a cell occurs twice
in a formula. So the signs of the derivatives show in which directions a formula is monotone over a
whole box, and there only the ends are evaluated. Every step is widened by more than float64 loses,
so a value outside the bounds is impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.formula.tree import (
    CLASS_CELLS,
    ZERO,
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    GeometricMean,
    Multiply,
    Root,
    TimesLog,
    Total,
    add,
    cells,
    constant,
    derivative,
    multiply,
)

Floats = npt.NDArray[np.float64]


def evaluate(expression: Expression, table: Mapping[str, npt.ArrayLike]) -> Floats:
    """The value for each table; nan where a denominator is zero.

    Class cells (HIT, ROW, COL) have the classes on their last axis; all other cells have one
    value per table. A derivative by a class cell keeps that last axis.

    >>> from assay.formula import TP, FP
    >>> evaluate(TP / (TP + FP), {"TP": [3, 0], "FP": [1, 0]})
    array([0.75,  nan])
    """
    by_class = "HIT" in table
    arrays: dict[str, Floats] = {}
    for name in cells(expression) | ({"HIT"} if by_class else frozenset()):
        array = np.asarray(table[name], dtype=np.float64)
        arrays[name] = array[..., None] if by_class and name not in CLASS_CELLS else array
    shape = np.broadcast_shapes(*(array.shape for array in arrays.values())) if arrays else ()
    with np.errstate(all="ignore"):
        result = _evaluate(expression, arrays)
    if not by_class:
        return np.array(np.broadcast_to(result, shape), dtype=np.float64)
    if result.ndim and result.shape[-1] == shape[-1] and _has_class_axis(expression):
        return np.array(np.broadcast_to(result, shape), dtype=np.float64)
    scalar = result[..., 0] if result.ndim else result
    return np.array(np.broadcast_to(scalar, shape[:-1]), dtype=np.float64)


def _has_class_axis(expression: Expression) -> bool:
    """Whether class cells occur outside any sum over classes."""
    match expression:
        case Cell(name):
            return name in CLASS_CELLS
        case Add(terms):
            return any(_has_class_axis(term) for term in terms)
        case Multiply(factors):
            return any(_has_class_axis(factor) for factor in factors)
        case Divide(numerator, denominator):
            return _has_class_axis(numerator) or _has_class_axis(denominator)
        case TimesLog(factor, argument):
            return _has_class_axis(factor) or _has_class_axis(argument)
        case Root(radicand):
            return _has_class_axis(radicand)
    return False


def _evaluate(expression: Expression, arrays: Mapping[str, Floats]) -> Any:
    match expression:
        case Cell(name):
            return arrays[name]
        case Constant(number):
            return np.float64(number.numerator / number.denominator)
        case Add(terms):
            result = _evaluate(terms[0], arrays)
            for term in terms[1:]:
                result = result + _evaluate(term, arrays)
            return result
        case Multiply(factors):
            result = _evaluate(factors[0], arrays)
            for factor in factors[1:]:
                result = result * _evaluate(factor, arrays)
            return result
        case Divide(numerator, denominator):
            below = _evaluate(denominator, arrays)
            ratio = np.asarray(_evaluate(numerator, arrays) / below)
            return np.where(below == 0, np.nan, ratio)
        case Root(radicand):
            return np.sqrt(np.maximum(_evaluate(radicand, arrays), 0.0))
        case TimesLog(factor, argument):
            times = _evaluate(factor, arrays)
            logs = np.log(_evaluate(argument, arrays))
            return np.where(times == 0, 0.0, times * logs)
        case Total(body):
            return _over_classes(body, arrays).sum(axis=-1, keepdims=True)
        case GeometricMean(body):
            logs = np.log(_over_classes(body, arrays))
            return np.exp(logs.mean(axis=-1, keepdims=True))
    raise TypeError(f"not an expression: {expression!r}")


def _over_classes(body: Expression, arrays: Mapping[str, Floats]) -> Floats:
    """The body with one value per class on its last axis."""
    result = np.asarray(_evaluate(body, arrays))
    return np.broadcast_to(result, np.broadcast_shapes(result.shape, arrays["HIT"].shape))


# -- bounds ----------------------------------------------------------------------------------------

# A few units of float64, relative to the largest number that took part in a step.
_WIDER = 2.0**-50


class Bounds(NamedTuple):
    """The least and the largest value of each box."""

    low: Floats
    high: Floats


Ranges: TypeAlias = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]
Moves: TypeAlias = tuple[tuple[str, int], ...]
# The ranges of all cells when one direction is set to its start or to its end.
At: TypeAlias = Callable[[Sequence[Any]], Ranges]


def bounds(expression: Expression, ranges: Ranges) -> Bounds:
    """Bounds that hold for all values an expression can have; they may be too wide.

    A ratio whose denominator may be zero has no bound on that side. Where the denominator must be
    zero, the bounds are nan.

    >>> from assay.formula import FP, TP
    >>> box = bounds(TP / (TP + FP), {"TP": ([3.0], [4.0]), "FP": ([0.0], [1.0])})
    >>> round(float(box.low[0]), 9), round(float(box.high[0]), 9)
    (0.6, 1.333333333)
    """
    return _Ranges(ranges).bounds(expression)


def bounds_along(expression: Expression, directions: Sequence[Moves], at: At) -> Bounds:
    """Tighter bounds over boxes spanned by directions.

    Each direction moves some cells by fixed steps; ``at`` returns the ranges of the cells when some
    directions are set to their starts (0) or ends (1) and the others (None) stay open.

    >>> from assay.formula import FP, TP
    >>> def at(ends):
    ...     low, high = (3.0, 4.0) if ends[0] is None else (3.0 + ends[0], 3.0 + ends[0])
    ...     return {"TP": (low, high), "FP": (1.0, 1.0)}
    >>> box = bounds_along(TP / (TP + FP), [(("TP", 1),)], at)
    >>> round(float(box.low), 9), round(float(box.high), 9)
    (0.75, 0.8)
    """
    wide = _Ranges(at([None] * len(directions)))
    overall = wide.bounds(expression)
    lows: list[Any] = []
    highs: list[Any] = []
    for moves in directions:
        slope = wide.bounds(_slope(expression, moves))
        rises, falls = slope.low >= 0, slope.high <= 0
        lows.append(np.where(rises, 0.0, np.where(falls, 1.0, np.nan)))
        highs.append(np.where(rises, 1.0, np.where(falls, 0.0, np.nan)))
    least, most = bounds(expression, at(lows)), bounds(expression, at(highs))
    # A formula that is undefined (nan) at an end says nothing about the values next to it.
    return Bounds(np.fmax(overall.low, least.low), np.fmin(overall.high, most.high))


@lru_cache(maxsize=4096)
def _slope(expression: Expression, moves: Moves) -> Expression:
    """The derivative of an expression in a direction."""
    parts = [
        multiply(constant(step), derivative(expression, cell))
        for cell, step in moves
        if cell in cells(expression)
    ]
    return add(*parts) if parts else ZERO


class _Ranges:
    """The ranges of some cells, and the bounds computed from them so far."""

    def __init__(self, ranges: Ranges) -> None:
        # By identity: a formula and its derivatives share their parts.
        self._found: dict[int, tuple[Expression, Bounds]] = {}
        with np.errstate(all="ignore"):
            self._cells = {
                name: _widened_ends(np.asarray(low, np.float64), np.asarray(high, np.float64))
                for name, (low, high) in ranges.items()
            }

    def bounds(self, expression: Expression) -> Bounds:
        """Bounds of an expression."""
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
                product = self._bounds(factors[0])
                for factor in factors[1:]:
                    product = _product(product, self._bounds(factor))
                return product
            case Divide(numerator, denominator):
                return _ratio(self._bounds(numerator), self._bounds(denominator))
            case Root(radicand):
                inner = self._bounds(radicand)
                return _widened_ends(*(np.sqrt(np.maximum(end, 0.0)) for end in inner))
            case TimesLog(factor, argument):
                inner = self._bounds(argument)
                # A bound of 0 has no logarithm, and an unknown argument has an unknown one.
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
    """A product that is 0 where the factor is, and infinite where the logarithm may be."""
    product = _product(factor, logs)
    unknown = ~np.isfinite(logs.low) | ~np.isfinite(logs.high) | np.isnan(product.low)
    nothing = (factor.low == 0) & (factor.high == 0)
    low = np.where(nothing, 0.0, np.where(unknown, -np.inf, product.low))
    return Bounds(low, np.where(nothing, 0.0, np.where(unknown, np.inf, product.high)))


def _times(x: Floats, y: Floats) -> Floats:
    """A product; zero times infinity is zero, as for every finite number."""
    product = x * y
    return np.where(np.isnan(product), 0.0, product)


def _ratio(top: Bounds, bottom: Bounds) -> Bounds:
    """A ratio; where the denominator may be zero, only the signs bound it."""
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


def _unless(undefined: npt.NDArray[np.bool_], defined: Bounds) -> Bounds:
    return Bounds(
        np.where(undefined, np.nan, defined.low), np.where(undefined, np.nan, defined.high)
    )


def _widened_ends(low: Floats, high: Floats) -> Bounds:
    return Bounds(low - _WIDER * abs(low), high + _WIDER * abs(high))
