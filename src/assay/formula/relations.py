"""How formulas of the four cells relate: which agree everywhere, and which rise or fall in a cell.

Agreement is found by evaluation on tables of unlike counts and on those that have empty cells; the
sign of a slope by expanding the derivative into a polynomial of counts, which are never negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.formula.floats import evaluate
from assay.formula.tree import (
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    Multiply,
    Root,
    derivative,
    split_coefficient,
)

Floats: TypeAlias = npt.NDArray[np.float64]
Tables: TypeAlias = Mapping[str, Floats]
# Powers of the four cells to their coefficient.
_Polynomial: TypeAlias = dict[tuple[int, ...], Fraction]

BINARY = ("TP", "FP", "FN", "TN")
_UNLIKE = ((101, 307, 401, 211), (9973, 13, 5, 127), (3, 1, 2, 4), (2, 9, 31, 7), (17, 43, 71, 29))
_EMPTIED = [np.multiply(_UNLIKE[-1], kept) for kept in product((1, 0), repeat=4)]
TABLES: Tables = dict(zip(BINARY, np.array([*_UNLIKE, *_EMPTIED], np.float64).T, strict=True))


def agree(a: Expression, b: Expression, tables: Tables = TABLES) -> bool:
    """Whether two formulas have the same value, or none, on every table.

    >>> from assay.formula import FP, TP
    >>> agree(1 - TP / (TP + FP), FP / (TP + FP))
    True
    """
    x, y = evaluate(a, TABLES), evaluate(b, tables)
    return bool(np.allclose(x, y, rtol=1e-12, atol=1e-14, equal_nan=True))


def unmoved(expression: Expression, tables: Tables) -> bool:
    """Whether a formula has the same values on changed tables."""
    return agree(expression, expression, tables)


def slope(expression: Expression, cell: str) -> int | None:
    """Whether a formula rises (1) or falls (-1) as a cell grows, or does not hold it (0).

    None where it does both, or where its derivative does not tell.

    >>> from assay.formula import FP, TP
    >>> slope(TP / (TP + FP), "TP"), slope(TP / (TP + FP), "FP"), slope(TP / (TP + FP), "TN")
    (1, -1, 0)
    """
    scale, body = split_coefficient(expression)
    if isinstance(body, Root):
        found = slope(body.radicand, cell)
    elif isinstance(body, Divide) and isinstance(body.denominator, Root):
        # a / sqrt(b) has the slope of 2 a' b - a b', divided by what is positive.
        a, b = body.numerator, body.denominator.radicand
        found = _sign(2 * derivative(a, cell) * b - a * derivative(b, cell))
    else:
        found = _sign(derivative(body, cell))
    return found if found is None or scale > 0 else -found


def _sign(expression: Expression) -> int | None:
    """The one sign that an expression has on all tables; None where it has none that is seen."""
    ratio = _ratio(expression)
    if ratio is None:
        return None
    signs = [{coefficient > 0 for coefficient in part.values()} for part in ratio]
    if not signs[0]:
        return 0
    if len(signs[0]) == 2 or len(signs[1]) != 1:
        return None
    return 1 if signs[0] == signs[1] else -1


@lru_cache(maxsize=1024)
def _ratio(expression: Expression) -> tuple[_Polynomial, _Polynomial] | None:
    """An expression as one polynomial over another; None where it holds a root."""
    one: _Polynomial = {(0, 0, 0, 0): Fraction(1)}
    match expression:
        case Cell(name) if name in BINARY:
            return {tuple(int(cell == name) for cell in BINARY): Fraction(1)}, one
        case Constant(number):
            return ({(0, 0, 0, 0): number} if number else {}), one
        case Add(parts) | Multiply(parts):
            ratios = [_ratio(part) for part in parts]
        case Divide(numerator, denominator):
            ratios = [_ratio(numerator), _ratio(denominator)]
        case _:
            return None
    found = [ratio for ratio in ratios if ratio is not None]
    if len(found) < len(ratios):
        return None
    above, below = found[0]
    for a, b in found[1:]:
        if isinstance(expression, Add):
            if b == below:
                above = _sum(above, a)
            else:
                above, below = _sum(_product(above, b), _product(a, below)), _product(below, b)
        elif isinstance(expression, Multiply):
            above, below = _product(above, a), _product(below, b)
        else:
            above, below = _product(above, b), _product(below, a)
    return above, below


def _sum(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    total = dict(a)
    for powers, coefficient in b.items():
        total[powers] = total.get(powers, Fraction(0)) + coefficient
    return {powers: coefficient for powers, coefficient in total.items() if coefficient}


def _product(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    total: _Polynomial = {}
    for powers, coefficient in a.items():
        for others, factor in b.items():
            both = tuple(i + j for i, j in zip(powers, others, strict=True))
            total[both] = total.get(both, Fraction(0)) + coefficient * factor
    return {powers: coefficient for powers, coefficient in total.items() if coefficient}
