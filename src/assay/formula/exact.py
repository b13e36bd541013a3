"""The exact evaluator: rationals, integer roots, one correct rounding at the end.

Counts may be as large as they like. A formula without roots and logarithms is a ratio of two
integers. One with them is enclosed between two rationals, which are brought closer until both round
to the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TypeAlias, TypeVar

from assay.formula.single import UndefinedRatio, of_class, ratio
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
)
from assay.formula.tree import cells as names_of

Cells: TypeAlias = Mapping[str, Number | Sequence[Number]]
Rounded = TypeVar("Rounded", int, float, Fraction)
_Range: TypeAlias = tuple[Fraction, Fraction]

_FIRST_BITS = 96
_LAST_BITS = 1 << 14


class _TooCoarse(ArithmeticError):
    """The enclosure of a denominator still holds zero: more bits are needed."""


def value(expression: Expression, cells: Cells) -> float:
    """The value as the nearest float64, or nan where the formula is undefined.

    >>> from assay.formula import TP, FP, FN, sqrt
    >>> value(TP / sqrt((TP + FP) * (TP + FN)), {"TP": 10**18, "FP": 10**18, "FN": 0})
    0.7071067811865476
    """
    exactly = ratio(expression)
    try:
        if exactly is not None and _counts(expression, cells):
            return _quotient(*exactly(cells, None))
        low, high = _settle(expression, cells, _to_float)
    except UndefinedRatio:
        return math.nan
    return low if low == high else (low + high) / 2


def _counts(expression: Expression, cells: Cells) -> bool:
    """Whether the cells of a formula are integers."""
    for name in names_of(expression):
        found = cells[name]
        if name not in CLASS_CELLS:
            if type(found) is not int:
                return False
        elif not isinstance(found, tuple) or not all(type(each) is int for each in found):
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


def enclosure(expression: Expression, cells: Cells) -> _Range:
    """Two rationals that enclose the value; equal where no root or logarithm is inexact.

    Raises :class:`UndefinedRatio` where a denominator is zero. The root of a negative number, which
    only rounding could bring about, is 0.
    """
    return _settle(expression, cells, lambda fraction: fraction, wide=True)


def _settle(
    expression: Expression,
    cells: Cells,
    rounding: Callable[[Fraction], Rounded],
    *,
    wide: bool = False,
) -> tuple[Rounded, Rounded]:
    """Enclose ever closer until both ends round to one number, or ``wide``, just enclose."""
    bits = _FIRST_BITS
    while True:
        try:
            low, high = _enclose(expression, cells, None, bits)
        except _TooCoarse:
            pass
        else:
            ends = rounding(low), rounding(high)
            if wide or low == high or ends[0] == ends[1] or bits > _LAST_BITS:
                return ends
        bits *= 2


def _to_float(fraction: Fraction) -> float:
    return _quotient(fraction.numerator, fraction.denominator)


def _quotient(numerator: int, denominator: int) -> float:
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
            found = cells[name]
            exact = Fraction(of_class(name, found, k) if isinstance(found, Sequence) else found)
            return exact, exact
        case Constant(number):
            return number, number
        case Add(terms):
            ranges = [_enclose(term, cells, k, bits) for term in terms]
            return _sum(ranges)
        case Multiply(factors):
            product = (Fraction(1), Fraction(1))
            for factor in factors:
                product = _product(product, _enclose(factor, cells, k, bits))
            return product
        case Divide(numerator, denominator):
            below = _enclose(denominator, cells, k, bits)
            if below[0] == below[1] == 0:
                raise UndefinedRatio(expression, k)
            if below[0] <= 0 <= below[1]:
                # No root parts it from zero, however fine: it is zero.
                raise UndefinedRatio(expression, k) if bits > _LAST_BITS else _TooCoarse
            return _product(_enclose(numerator, cells, k, bits), (1 / below[1], 1 / below[0]))
        case Root(radicand):
            low, high = _enclose(radicand, cells, k, bits)
            zero = Fraction(0)
            return _root(max(low, zero), 2, bits)[0], _root(max(high, zero), 2, bits)[1]
        case TimesLog():
            return _enclose_log(expression, cells, k, bits)
        case Total(body):
            ranges = [_enclose(body, cells, c, bits) for c in range(_classes(cells))]
            return _sum(ranges)
        case GeometricMean(body):
            product = (Fraction(1), Fraction(1))
            for c in range(_classes(cells)):
                product = _product(product, _enclose(body, cells, c, bits))
            degree = _classes(cells)
            return _root(product[0], degree, bits)[0], _root(product[1], degree, bits)[1]
    raise TypeError(f"not an expression: {expression!r}")


def _enclose_log(expression: TimesLog, cells: Cells, k: int | None, bits: int) -> _Range:
    times = _enclose(expression.factor, cells, k, bits)
    if times[0] == times[1] == 0:
        return times
    low, high = _enclose(expression.argument, cells, k, bits)
    if low > 0:
        return _product(times, (_log(low, bits)[0], _log(high, bits)[1]))
    if high > 0 and bits <= _LAST_BITS:
        raise _TooCoarse
    raise UndefinedRatio(Divide(expression.factor, expression.argument), k)


def _sum(ranges: Sequence[_Range]) -> _Range:
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


def _product(a: _Range, b: _Range) -> _Range:
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
    near = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    found = Fraction(context.ln(near))
    # Ratio and logarithm are each rounded correctly to that many digits, of which all but one are
    # trusted. A relative error of the ratio is an absolute one of its logarithm.
    error = (1 + abs(found)) / 10 ** (context.prec - 1)
    return found - error, found + error


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
