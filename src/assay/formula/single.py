"""A formula on one table: functions of plain numbers, put together once for each formula.

Most tables are read one at a time, and walking a tree or starting numpy for four numbers costs more
than the arithmetic. Each node becomes a function, which is kept with the node.

There are two. :func:`ratio` gives a formula of counts, without roots and logarithms, as two
integers that are exact and not reduced. :func:`number` gives float64, by the same operations in
the same order as :mod:`assay.formula.floats`, and so the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
    Root,
    TimesLog,
    Total,
    children,
)

# Of cells by name, and of the class that is looked at.
Whole: TypeAlias = Callable[[Mapping[str, Any], Any], int]
Ratio: TypeAlias = Callable[[Mapping[str, Any], Any], tuple[int, int]]
Number: TypeAlias = Callable[[Mapping[str, Any], Any], float]
Result = TypeVar("Result")


class UndefinedRatio(ArithmeticError):
    """A denominator is zero; carries the ratio and the class it was met in."""

    def __init__(self, ratio: Divide, of_class: int | None) -> None:
        super().__init__("a denominator is zero")
        self.ratio = ratio
        self.of_class = of_class


def once(function: Callable[[Expression], Result]) -> Callable[[Expression], Result]:
    """Keep what a function gives with the node itself, where no tree is compared to find it."""

    @wraps(function)
    def kept(expression: Expression) -> Result:
        memo = expression.memo
        try:
            found: Result = memo[function]
        except KeyError:
            found = memo[function] = function(expression)
        return found

    return kept


def of_class(name: str, found: Sequence[Any], k: int | None) -> Any:
    """The value of a class cell for the class that is looked at."""
    if k is None:
        raise TypeError(f"{name} has one value a class; it stands outside of a sum")
    return found[k]


# -- exact -----------------------------------------------------------------------------------------


@once
def ratio(expression: Expression) -> Ratio | None:
    """The formula as a function to a numerator and a denominator; None where it has roots or logs.

    The function takes cells that are integers, and raises :class:`UndefinedRatio`.

    >>> from assay.formula import TP, FP
    >>> ratio(TP / (TP + FP))({"TP": 2, "FP": 4}, None)
    (2, 6)
    """
    whole = _whole(expression)
    if whole is not None:
        return lambda cells, k: (whole(cells, k), 1)
    match expression:
        case Constant(number):
            exact = number.numerator, number.denominator
            return lambda _, __: exact
        case Add() | Multiply():
            parts = [ratio(child) for child in children(expression)]
            if None in parts:
                return None
            return (_sum if isinstance(expression, Add) else _product)(parts)
        case Divide(numerator, denominator):
            return _quotient(expression, numerator, denominator)
        case Total(body):
            each = ratio(body)
            return None if each is None else _total(each)
    return None


@once
def _whole(expression: Expression) -> Whole | None:
    """A formula without ratios and with whole constants, as a function to an integer, else None."""
    match expression:
        case Cell(name) if name in CLASS_CELLS:
            return lambda cells, k: of_class(name, cells[name], k)
        case Cell(name):
            return lambda cells, _: cells[name]
        case Constant(number) if number.denominator == 1:
            integer = number.numerator
            return lambda _, __: integer
        case Add() | Multiply():
            parts = [_whole(child) for child in children(expression)]
            if None in parts:
                return None
            return _whole_sum(parts) if isinstance(expression, Add) else _whole_product(parts)
        case Total(body):
            each = _whole(body)
            if each is not None:
                return lambda cells, _: sum([each(cells, c) for c in range(len(cells["HIT"]))])
    return None


def _whole_sum(parts: list[Any]) -> Whole:
    if len(parts) == 2:
        first, second = parts
        return lambda cells, k: first(cells, k) + second(cells, k)
    return lambda cells, k: sum([part(cells, k) for part in parts])


def _whole_product(parts: list[Any]) -> Whole:
    if len(parts) == 2:
        first, second = parts
        return lambda cells, k: first(cells, k) * second(cells, k)
    return lambda cells, k: math.prod([part(cells, k) for part in parts])


def _sum(parts: list[Any]) -> Ratio:
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


def _product(parts: list[Any]) -> Ratio:
    def multiplied(cells: Mapping[str, Any], k: Any) -> tuple[int, int]:
        top = bottom = 1
        for part in parts:
            a, b = part(cells, k)
            top *= a
            bottom *= b
        return top, bottom

    return multiplied


def _quotient(expression: Divide, numerator: Expression, denominator: Expression) -> Ratio | None:
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


def _total(each: Ratio) -> Ratio:
    def added(cells: Mapping[str, Any], _: Any) -> tuple[int, int]:
        return _added([each(cells, c) for c in range(len(cells["HIT"]))])

    return added


# -- floats ----------------------------------------------------------------------------------------


@once
def number(expression: Expression) -> Number:
    """The formula as a function to a float; nan where a denominator is zero.

    Cells are floats, class cells pairs of them: of more classes numpy adds in another order.

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


def _float_sum(parts: list[Number]) -> Number:
    first, second, *others = parts
    if not others:
        return lambda cells, k: first(cells, k) + second(cells, k)

    def added(cells: Mapping[str, Any], k: Any) -> float:
        result = first(cells, k) + second(cells, k)
        for part in others:
            result += part(cells, k)
        return result

    return added


def _float_product(parts: list[Number]) -> Number:
    first, second, *others = parts
    if not others:
        return lambda cells, k: first(cells, k) * second(cells, k)

    def multiplied(cells: Mapping[str, Any], k: Any) -> float:
        result = first(cells, k) * second(cells, k)
        for part in others:
            result *= part(cells, k)
        return result

    return multiplied


def _float_quotient(above: Number, below: Number) -> Number:
    def divided(cells: Mapping[str, Any], k: Any) -> float:
        divisor = below(cells, k)
        return above(cells, k) / divisor if divisor else math.nan

    return divided


def _float_log(factor: Number, argument: Number) -> Number:
    def multiplied(cells: Mapping[str, Any], k: Any) -> float:
        times = factor(cells, k)
        with np.errstate(all="ignore"):
            return 0.0 if times == 0 else float(times * np.log(argument(cells, k)))

    return multiplied


def _float_mean(each: Number) -> Number:
    def mean(cells: Mapping[str, Any], _: Any) -> float:
        with np.errstate(all="ignore"):
            logs = np.log([each(cells, 0), each(cells, 1)])
            return float(np.exp(logs.mean()))

    return mean
