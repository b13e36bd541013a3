"""A formula on one table: exactly, with one correct rounding at the end, or fast in float64.

Counts may have any size. :func:`value`, :func:`rounded` and :func:`enclosure` read a
formula without roots and logarithms as a ratio of two integers. One with them is enclosed between
two rationals, which are brought closer until both round to the same number.

Most tables are read one at a time, and walking a tree or calling NumPy for four numbers costs more
than the arithmetic. So each node becomes a function of plain numbers, which is cached on the node.
:func:`ratio` returns two exact integers, not reduced; :func:`number` returns a float64 by the same
operations in the same order as :mod:`assay.formula.many_tables`, and so the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import wraps
from typing import Any, TypeAlias, TypeVar

import numpy as np

from assay.formula.tree import (
    CLASS_CELLS,
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    GeometricMean,
    Multiply,
    Number,
    Root,
    TimesLog,
    Total,
    children,
)
from assay.formula.tree import cells as names_of

# Functions of the cells by name, and of the class in question.
WholeOf: TypeAlias = Callable[[Mapping[str, Any], Any], int]
RatioOf: TypeAlias = Callable[[Mapping[str, Any], Any], tuple[int, int]]
NumberOf: TypeAlias = Callable[[Mapping[str, Any], Any], float]
Result = TypeVar("Result")


class UndefinedRatio(ArithmeticError):
    """A denominator is zero; carries the ratio and the class where it happened."""

    def __init__(self, ratio: Divide, of_class: int | None) -> None:
        super().__init__("a denominator is zero")
        self.ratio = ratio
        self.of_class = of_class


def once(function: Callable[[Expression], Result]) -> Callable[[Expression], Result]:
    """Cache a function's result on the node itself, so that a lookup compares no trees."""

    @wraps(function)
    def kept(expression: Expression) -> Result:
        memo = expression.memo
        try:
            result: Result = memo[function]
        except KeyError:
            result = memo[function] = function(expression)
        return result

    return kept


def of_class(name: str, values: Sequence[Any], k: int | None) -> Any:
    """The value of a class cell for one class."""
    if k is None:
        raise TypeError(f"{name} has one value per class and is outside any sum")
    return values[k]


# -- as a ratio of integers ------------------------------------------------------------------------


@once
def ratio(expression: Expression) -> RatioOf | None:
    """A function that returns numerator and denominator; None for formulas with roots or logs.

    The function takes integer cells, and raises :class:`UndefinedRatio`.

    >>> from assay.formula import TP, FP
    >>> ratio(TP / (TP + FP))({"TP": 2, "FP": 4}, None)
    (2, 6)
    """
    integer_value = _integer_function(expression)
    if integer_value is not None:
        return lambda cells, k: (integer_value(cells, k), 1)
    match expression:
        case Constant(number):
            exact = number.numerator, number.denominator
            return lambda _, __: exact
        case Add() | Multiply():
            parts = [ratio(child) for child in children(expression)]
            if None in parts:
                return None
            return (_ratio_sum if isinstance(expression, Add) else _ratio_product)(parts)
        case Divide(numerator, denominator):
            return _ratio_quotient(expression, numerator, denominator)
        case Total(body):
            each = ratio(body)
            return None if each is None else _total(each)
    return None


@once
def _integer_function(expression: Expression) -> WholeOf | None:
    """A function that returns an integer, for formulas without ratios and fractions, else None."""
    match expression:
        case Cell(name) if name in CLASS_CELLS:
            return lambda cells, k: of_class(name, cells[name], k)
        case Cell(name):
            return lambda cells, _: cells[name]
        case Constant(number) if number.denominator == 1:
            integer = number.numerator
            return lambda _, __: integer
        case Add() | Multiply():
            parts = [_integer_function(child) for child in children(expression)]
            if None in parts:
                return None
            return _whole_sum(parts) if isinstance(expression, Add) else _whole_product(parts)
        case Total(body):
            each = _integer_function(body)
            if each is not None:
                return lambda cells, _: sum([each(cells, c) for c in range(len(cells["HIT"]))])
    return None


def _whole_sum(parts: list[Any]) -> WholeOf:
    if len(parts) == 2:
        first, second = parts
        return lambda cells, k: first(cells, k) + second(cells, k)
    return lambda cells, k: sum([part(cells, k) for part in parts])


def _whole_product(parts: list[Any]) -> WholeOf:
    if len(parts) == 2:
        first, second = parts
        return lambda cells, k: first(cells, k) * second(cells, k)
    return lambda cells, k: math.prod([part(cells, k) for part in parts])


def _ratio_sum(parts: list[Any]) -> RatioOf:
    def added(cells: Mapping[str, Any], k: Any) -> tuple[int, int]:
        return _added([part(cells, k) for part in parts])

    return added


def _added(pairs: list[tuple[int, int]]) -> tuple[int, int]:
    top, bottom = pairs[0]
    for a, b in pairs[1:]:
        if b == bottom:
            top += a
        else:
            top, bottom = top * b + a * bottom, bottom * b
    return top, bottom


def _ratio_product(parts: list[Any]) -> RatioOf:
    def multiplied(cells: Mapping[str, Any], k: Any) -> tuple[int, int]:
        top = bottom = 1
        for part in parts:
            a, b = part(cells, k)
            top *= a
            bottom *= b
        return top, bottom

    return multiplied


def _ratio_quotient(
    expression: Divide, numerator: Expression, denominator: Expression
) -> RatioOf | None:
    above, below = ratio(numerator), ratio(denominator)
    if above is None or below is None:
        return None

    def divided(cells: Mapping[str, Any], k: Any) -> tuple[int, int]:
        c, d = below(cells, k)
        if c == 0:
            raise UndefinedRatio(expression, k)
        a, b = above(cells, k)
        return a * d, b * c

    return divided


def _total(each: RatioOf) -> RatioOf:
    def added(cells: Mapping[str, Any], _: Any) -> tuple[int, int]:
        return _added([each(cells, c) for c in range(len(cells["HIT"]))])

    return added


# -- as a float ------------------------------------------------------------------------------------


@once
def number(expression: Expression) -> NumberOf:
    """A function that returns a float; nan where a denominator is zero.

    Cells are floats, class cells pairs of floats: NumPy adds more than two in another order.

    >>> from assay.formula import TP, FP
    >>> number(TP / (TP + FP))({"TP": 3.0, "FP": 1.0}, None)
    0.75
    """
    match expression:
        case Cell(name) if name in CLASS_CELLS:
            return lambda cells, k: cells[name][k]
        case Cell(name):
            return lambda cells, _: cells[name]
        case Constant(value):
            nearest = value.numerator / value.denominator
            return lambda _, __: nearest
        case Add((Cell(a), Cell(b))) if not {a, b} & CLASS_CELLS:
            # Most sums have two cells; this saves two calls.
            return lambda cells, _: cells[a] + cells[b]
        case Add(terms):
            return _float_sum([number(term) for term in terms])
        case Multiply(factors):
            return _float_product([number(factor) for factor in factors])
        case Divide(numerator, denominator):
            return _float_quotient(number(numerator), number(denominator))
        case Root(radicand):
            inner = number(radicand)
            return lambda cells, k: float(np.sqrt(np.maximum(inner(cells, k), 0.0)))
        case TimesLog(factor, argument):
            return _float_log(number(factor), number(argument))
        case Total(body):
            each = number(body)
            return lambda cells, _: each(cells, 0) + each(cells, 1)
        case GeometricMean(body):
            return _float_mean(number(body))
    raise TypeError(f"not an expression: {expression!r}")


def _float_sum(parts: list[NumberOf]) -> NumberOf:
    first, second, *others = parts
    if not others:
        return lambda cells, k: first(cells, k) + second(cells, k)

    def added(cells: Mapping[str, Any], k: Any) -> float:
        result = first(cells, k) + second(cells, k)
        for part in others:
            result += part(cells, k)
        return result

    return added


def _float_product(parts: list[NumberOf]) -> NumberOf:
    first, second, *others = parts
    if not others:
        return lambda cells, k: first(cells, k) * second(cells, k)

    def multiplied(cells: Mapping[str, Any], k: Any) -> float:
        result = first(cells, k) * second(cells, k)
        for part in others:
            result *= part(cells, k)
        return result

    return multiplied


def _float_quotient(above: NumberOf, below: NumberOf) -> NumberOf:
    def divided(cells: Mapping[str, Any], k: Any) -> float:
        divisor = below(cells, k)
        return above(cells, k) / divisor if divisor else math.nan

    return divided


def _float_log(factor: NumberOf, argument: NumberOf) -> NumberOf:
    def multiplied(cells: Mapping[str, Any], k: Any) -> float:
        times = factor(cells, k)
        with np.errstate(all="ignore"):
            return 0.0 if times == 0 else float(times * np.log(argument(cells, k)))

    return multiplied


def _float_mean(each: NumberOf) -> NumberOf:
    def mean(cells: Mapping[str, Any], _: Any) -> float:
        with np.errstate(all="ignore"):
            logs = np.log([each(cells, 0), each(cells, 1)])
            return float(np.exp(logs.mean()))

    return mean


# -- rounded once ----------------------------------------------------------------------------------

Cells: TypeAlias = Mapping[str, Number | Sequence[Number]]
Rounded = TypeVar("Rounded", int, float, Fraction)
_Range: TypeAlias = tuple[Fraction, Fraction]

_FIRST_BITS = 96
_LAST_BITS = 1 << 14


class _TooCoarse(ArithmeticError):
    """The enclosure of a denominator still contains zero: more bits are needed."""


def value(expression: Expression, cells: Cells) -> float:
    """The value as the nearest float64, or nan where the formula is undefined.

    >>> from assay.formula import TP, FP, FN, sqrt
    >>> value(TP / sqrt((TP + FP) * (TP + FN)), {"TP": 10**18, "FP": 10**18, "FN": 0})
    0.7071067811865476
    """
    exactly = ratio(expression)
    try:
        if exactly is not None and _counts(expression, cells):
            return _nearest(*exactly(cells, None))
        low, high = _settle(expression, cells, _to_float)
    except UndefinedRatio:
        return math.nan
    return low if low == high else (low + high) / 2


def _counts(expression: Expression, cells: Cells) -> bool:
    """Whether the cells of a formula are integers."""
    for name in names_of(expression):
        count = cells[name]
        if name not in CLASS_CELLS:
            if type(count) is not int:
                return False
        elif not isinstance(count, tuple) or not all(type(each) is int for each in count):
            return False
    return True


def rounded(expression: Expression, cells: Cells, digits: int) -> Decimal | None:
    """The value rounded once to ``digits`` decimals, half to even; None where undefined.

    >>> from assay.formula import TP, FP
    >>> rounded(TP / (TP + FP), {"TP": 6635, "FP": 167}, 4)
    Decimal('0.9754')
    """
    scale = 10**digits
    try:
        low, _ = _settle(expression, cells, lambda fraction: round(fraction * scale))
    except UndefinedRatio:
        return None
    context = Context(prec=max(28, len(str(low))), rounding=ROUND_HALF_EVEN)
    return context.scaleb(Decimal(int(low)), -digits)


def enclosure(expression: Expression, cells: Cells, k: int | None = None) -> _Range:
    """Two rationals that enclose the value; equal where no root or logarithm is inexact.

    ``k`` is the class for class cells outside any sum.

    Raises :class:`UndefinedRatio` where a denominator is zero. The root of a negative number, which
    can only come from rounding, is 0.
    """
    return _settle(expression, cells, lambda fraction: fraction, k=k, wide=True)


def _settle(
    expression: Expression,
    cells: Cells,
    rounding: Callable[[Fraction], Rounded],
    *,
    k: int | None = None,
    wide: bool = False,
) -> tuple[Rounded, Rounded]:
    """Enclose more and more closely until both ends round to one number; once if ``wide``."""
    bits = _FIRST_BITS
    while True:
        try:
            low, high = _enclose(expression, cells, k, bits)
        except _TooCoarse:
            pass
        else:
            ends = rounding(low), rounding(high)
            if wide or low == high or ends[0] == ends[1] or bits > _LAST_BITS:
                return ends
        bits *= 2


def _to_float(fraction: Fraction) -> float:
    return _nearest(fraction.numerator, fraction.denominator)


def _nearest(numerator: int, denominator: int) -> float:
    """The float nearest to a ratio of integers."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if (numerator > 0) == (denominator > 0) else -math.inf


def _enclose(expression: Expression, cells: Cells, k: int | None, bits: int) -> _Range:
    exactly = ratio(expression)
    if exactly is not None and _counts(expression, cells):
        exact = Fraction(*exactly(cells, k))
        return exact, exact
    match expression:
        case Cell(name):
            count = cells[name]
            exact = Fraction(of_class(name, count, k) if isinstance(count, Sequence) else count)
            return exact, exact
        case Constant(number):
            return number, number
        case Add(terms):
            ranges = [_enclose(term, cells, k, bits) for term in terms]
            return _range_sum(ranges)
        case Multiply(factors):
            product = (Fraction(1), Fraction(1))
            for factor in factors:
                product = _range_product(product, _enclose(factor, cells, k, bits))
            return product
        case Divide(numerator, denominator):
            below = _enclose(denominator, cells, k, bits)
            if below[0] == below[1] == 0:
                raise UndefinedRatio(expression, k)
            if below[0] <= 0 <= below[1]:
                # No root parts it from zero, however fine: it is zero.
                raise UndefinedRatio(expression, k) if bits > _LAST_BITS else _TooCoarse
            return _range_product(_enclose(numerator, cells, k, bits), (1 / below[1], 1 / below[0]))
        case Root(radicand):
            low, high = _enclose(radicand, cells, k, bits)
            zero = Fraction(0)
            return _root(max(low, zero), 2, bits)[0], _root(max(high, zero), 2, bits)[1]
        case TimesLog():
            return _enclose_log(expression, cells, k, bits)
        case Total(body):
            ranges = [_enclose(body, cells, c, bits) for c in range(_classes(cells))]
            return _range_sum(ranges)
        case GeometricMean(body):
            product = (Fraction(1), Fraction(1))
            for c in range(_classes(cells)):
                product = _range_product(product, _enclose(body, cells, c, bits))
            degree = _classes(cells)
            return _root(product[0], degree, bits)[0], _root(product[1], degree, bits)[1]
    raise TypeError(f"not an expression: {expression!r}")


def _enclose_log(expression: TimesLog, cells: Cells, k: int | None, bits: int) -> _Range:
    times = _enclose(expression.factor, cells, k, bits)
    if times[0] == times[1] == 0:
        return times
    low, high = _enclose(expression.argument, cells, k, bits)
    if low > 0:
        below = _log(low, bits)
        above = below if high == low else _log(high, bits)
        return _range_product(times, (below[0], above[1]))
    if high > 0 and bits <= _LAST_BITS:
        raise _TooCoarse
    raise UndefinedRatio(Divide(expression.factor, expression.argument), k)


def _range_sum(ranges: Sequence[_Range]) -> _Range:
    low, high = Fraction(0), Fraction(0)
    for below, above in ranges:
        low += below
        high += above
    return low, high


def _classes(cells: Cells) -> int:
    hits = cells["HIT"]
    if not isinstance(hits, Sequence):
        raise TypeError("a formula over classes needs one HIT, ROW and COL for each class")
    return len(hits)


def _range_product(a: _Range, b: _Range) -> _Range:
    if a[0] == a[1] and b[0] == b[1]:
        exact = a[0] * b[0]
        return exact, exact
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _root(radicand: Fraction, degree: int, bits: int) -> _Range:
    """Rationals just below and just above a root; equal when it is rational."""
    top, bottom = radicand.numerator, radicand.denominator
    if top == 0:
        return Fraction(0), Fraction(0)
    exact_top, exact_bottom = _integer_root(top, degree), _integer_root(bottom, degree)
    if exact_top**degree == top and exact_bottom**degree == bottom:
        exact = Fraction(exact_top, exact_bottom)
        return exact, exact
    shift = bits + max(0, bottom.bit_length() - top.bit_length()) // degree + 1
    scaled = _integer_root((top << (shift * degree)) // bottom, degree)
    return Fraction(scaled, 1 << shift), Fraction(scaled + 1, 1 << shift)


def _log(number: Fraction, bits: int) -> _Range:
    """Rationals just below and just above the natural logarithm of a positive number."""
    if number == 1:
        return Fraction(0), Fraction(0)
    context = Context(prec=bits // 3 + 8, Emax=MAX_EMAX, Emin=MIN_EMIN)
    decimal = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    logarithm = Fraction(context.ln(decimal))
    # Ratio and logarithm are each rounded correctly to that many digits; all but one are trusted.
    # A relative error of the ratio is an absolute error of its logarithm.
    error = (1 + abs(logarithm)) / 10 ** (context.prec - 1)
    return logarithm - error, logarithm + error


def _integer_root(number: int, degree: int) -> int:
    """The largest integer whose power does not exceed the number."""
    if degree == 2:
        return math.isqrt(number)
    guess = 1 << -(-number.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + number // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better
