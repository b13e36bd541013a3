"""Properties of a formula: whether it is a share of rows, why it is undefined, where it rises.

Two formulas agree everywhere if they agree on tables with distinct counts and with empty cells. A
formula rises or falls in a cell if its derivative, expanded into a polynomial of the counts (which
are never negative), has one sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from assay.errors import MethodError
from assay.formula.many_tables import Floats, evaluate
from assay.formula.notation import plain
from assay.formula.one_table import Cells, UndefinedRatio, enclosure, once
from assay.formula.tree import (
    FN,
    FP,
    HIT,
    ONE_VERSUS_REST,
    TN,
    TP,
    Add,
    Cell,
    Constant,
    Divide,
    Expression,
    Multiply,
    N,
    Root,
    Total,
    derivative,
    split_coefficient,
    substitute,
)

# What each sum of cells counts, as regions of the table: the four cells of a binary one, the
# diagonal and the rest of a K x K one.
_REGIONS: Mapping[Expression, frozenset[str]] = {
    **{Cell(name): frozenset({name}) for name in ("TP", "FP", "FN", "TN")},
    Total(HIT): frozenset({"hit"}),
    N: frozenset({"hit", "miss"}),
}

# What it means when some cells are all zero, smallest sets first.
_WORDS: Mapping[frozenset[str], tuple[str, str]] = {
    frozenset(cells.split()): (of_rows, of_class)
    for cells, of_rows, of_class in (
        ("FP", "there are no false positives", "{label} was never decided wrongly"),
        ("FN", "there are no false negatives", "no row of {label} was missed"),
        ("TP", "there are no true positives", "no row of {label} was decided right"),
        ("TN", "there are no true negatives", "no other row was decided as another class"),
        ("TP FP", "nothing was flagged", "{label} was never decided"),
        ("TP FN", "there are no positives", "{label} has no rows"),
        ("TN FP", "there are no negatives", "every row is of {label}"),
        ("TN FN", "everything was flagged", "every row was decided as {label}"),
        ("TP TN", "no decision is right", "no decision about {label} is right"),
        ("FP FN", "no decision is wrong", "no decision about {label} is wrong"),
        (
            "TP FP FN",
            "nothing was flagged and there are no positives",
            "{label} has no rows and was never decided",
        ),
        (
            "TN FP FN",
            "there are no negatives and everything was flagged",
            "every row is of {label} and was decided as it",
        ),
        ("TP TN FN", "every row is a false positive", "every row was wrongly decided as {label}"),
        ("TP TN FP", "every row is a false negative", "every row of {label} was missed"),
        ("TP TN FP FN", "there are no rows", "there are no rows"),
    )
}

_OVERALL: Mapping[str, str] = {
    "N - sum(HIT)": "no decision is wrong",
    "N N - sum(ROW ROW)": "every row is of one class",
    "N N - sum(COL COL)": "every row was decided as one class",
    "N N - sum(ROW COL)": "every row is of one class and was decided as it",
}

# A class against the rest, in binary cells.
_BINARY: Mapping[str, Expression] = {
    "HIT": TP,
    "ROW": TP + FN,
    "COL": TP + FP,
    "N": TP + TN + FP + FN,
}


@dataclass(frozen=True)
class Proportion:
    """A share of rows: successes out of trials."""

    successes: Expression
    trials: Expression


@once
def proportion(expression: Expression) -> Proportion | None:
    """The successes and trials of a formula that is a share of rows, else None.

    Both parts are plain sums of cells, and the cells of the numerator are among those of the
    denominator. Then the numerator is binomial given the denominator, so that Wilson's and the
    other binomial intervals are valid.

    >>> from assay.formula import TP, FP, FN
    >>> proportion(TP / (TP + FP)) is not None, proportion(2 * TP / (2 * TP + FP + FN)) is None
    (True, True)
    """
    if not isinstance(expression, Divide):
        return None
    above, below = _regions(expression.numerator), _regions(expression.denominator)
    if above is None or below is None or not above <= below:
        return None
    return Proportion(expression.numerator, expression.denominator)


def share_of(expression: Expression) -> Proportion:
    """The successes and trials of a share of rows; refuses any other formula."""
    share = proportion(expression)
    if share is None:
        raise MethodError(f"{plain(expression)} is not a share of rows")
    return share


def _regions(expression: Expression) -> frozenset[str] | None:
    """The regions that a plain sum of cells counts once each, else None."""
    coefficients: dict[str, Fraction] = {}
    for term in expression.terms if isinstance(expression, Add) else (expression,):
        coefficient, atom = split_coefficient(term)
        if atom not in _REGIONS:
            return None
        for region in _REGIONS[atom]:
            coefficients[region] = coefficients.get(region, Fraction(0)) + coefficient
    if any(coefficient not in (0, 1) for coefficient in coefficients.values()):
        return None
    return frozenset(region for region, coefficient in coefficients.items() if coefficient)


def reason(expression: Expression, cells: Cells, labels: Sequence[str] | None = None) -> str | None:
    """Why the formula is undefined for these cells, in words; None where it is defined.

    >>> from assay.formula import TP, FN
    >>> reason(TP / (TP + FN), {"TP": 0, "FN": 0})
    'there are no positives (TP + FN = 0)'
    """
    try:
        enclosure(expression, cells)
    except UndefinedRatio as undefined:
        denominator, k = undefined.ratio.denominator, undefined.of_class
        if k is None and "HIT" in cells:
            if cells["N"] == 0:
                return "there are no rows (N = 0)"
            text = plain(_vanishing(denominator, cells))
            return f"{_OVERALL.get(text, 'its denominator is zero')} ({text} = 0)"
        if k is None:
            return _words(denominator, cells, None)
        label = "a class" if labels is None else f"class {labels[k]!r}"
        binary = {name: enclosure(cell, cells, k)[0] for name, cell in ONE_VERSUS_REST.items()}
        return _words(substitute(denominator, _BINARY), binary, label)
    return None


def _words(denominator: Expression, cells: Cells, label: str | None) -> str:
    """Name the fewest empty cells that make a denominator zero for any values of the others."""
    for names, (of_rows, of_class) in _WORDS.items():
        if all(cells.get(name) == 0 for name in names) and _is_zero_without(denominator, names):
            sentence = of_rows if label is None else of_class.format(label=label)
            empty = " + ".join(name for name in ("TP", "TN", "FP", "FN") if name in names)
            return f"{sentence} ({empty} = 0)"
    return f"its denominator is zero ({plain(denominator)} = 0)"


def _is_zero_without(denominator: Expression, names: frozenset[str]) -> bool:
    """Whether a denominator is zero whenever some cells are, tried with distinct counts."""
    others = {"TP": 101, "TN": 211, "FP": 307, "FN": 401}
    tried = {name: 0 if name in names else count for name, count in others.items()}
    try:
        low, high = enclosure(denominator, tried)
    except UndefinedRatio:
        return False
    return low == high == 0


def _vanishing(denominator: Expression, cells: Cells) -> Expression:
    """The innermost factor that makes a denominator zero."""
    if isinstance(denominator, Root):
        return _vanishing(denominator.radicand, cells)
    if isinstance(denominator, Multiply):
        for factor in denominator.factors:
            low, high = enclosure(factor, cells)
            if low == high == 0:
                return _vanishing(factor, cells)
    return denominator


# -- how formulas of the four cells relate ---------------------------------------------------------

Tables: TypeAlias = Mapping[str, Floats]
# Powers of the four cells to their coefficient.
_Polynomial: TypeAlias = dict[tuple[int, ...], Fraction]

BINARY = ("TP", "FP", "FN", "TN")
_UNLIKE = ((101, 307, 401, 211), (9973, 13, 5, 127), (3, 1, 2, 4), (2, 9, 31, 7), (17, 43, 71, 29))
_EMPTIED = [np.multiply(_UNLIKE[-1], kept) for kept in product((1, 0), repeat=4)]
TABLES: Tables = dict(zip(BINARY, np.array([*_UNLIKE, *_EMPTIED], np.float64).T, strict=True))


def agree(a: Expression, b: Expression, tables: Tables = TABLES) -> bool:
    """Whether two formulas have the same value, or are both undefined, on every table.

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
    """Whether a formula rises (1) or falls (-1) as a cell grows, or doesn't depend on it (0).

    None where it does both, or where its derivative doesn't show which.

    >>> from assay.formula import FP, TP
    >>> slope(TP / (TP + FP), "TP"), slope(TP / (TP + FP), "FP"), slope(TP / (TP + FP), "TN")
    (1, -1, 0)
    """
    scale, body = split_coefficient(expression)
    if isinstance(body, Root):
        sign = slope(body.radicand, cell)
    elif isinstance(body, Divide) and isinstance(body.denominator, Root):
        # a / sqrt(b) has the slope of 2 a' b - a b', divided by something positive.
        a, b = body.numerator, body.denominator.radicand
        sign = _sign(2 * derivative(a, cell) * b - a * derivative(b, cell))
    else:
        sign = _sign(derivative(body, cell))
    return sign if sign is None or scale > 0 else -sign


def _sign(expression: Expression) -> int | None:
    """The one sign that an expression has on all tables; None where it isn't known."""
    ratio = _polynomials(expression)
    if ratio is None:
        return None
    signs = [{coefficient > 0 for coefficient in part.values()} for part in ratio]
    if not signs[0]:
        return 0
    if len(signs[0]) == 2 or len(signs[1]) != 1:
        return None
    return 1 if signs[0] == signs[1] else -1


@lru_cache(maxsize=1024)
def _polynomials(expression: Expression) -> tuple[_Polynomial, _Polynomial] | None:
    """An expression as one polynomial over another; None where it contains a root."""
    one: _Polynomial = {(0, 0, 0, 0): Fraction(1)}
    match expression:
        case Cell(name) if name in BINARY:
            return {tuple(int(cell == name) for cell in BINARY): Fraction(1)}, one
        case Constant(number):
            return ({(0, 0, 0, 0): number} if number else {}), one
        case Add(parts) | Multiply(parts):
            ratios = [_polynomials(part) for part in parts]
        case Divide(numerator, denominator):
            ratios = [_polynomials(numerator), _polynomials(denominator)]
        case _:
            return None
    rational = [ratio for ratio in ratios if ratio is not None]
    if len(rational) < len(ratios):
        return None
    above, below = rational[0]
    for a, b in rational[1:]:
        if isinstance(expression, Add):
            if b == below:
                above = _polynomial_sum(above, a)
            else:
                above, below = (
                    _polynomial_sum(_polynomial_product(above, b), _polynomial_product(a, below)),
                    _polynomial_product(below, b),
                )
        elif isinstance(expression, Multiply):
            above, below = _polynomial_product(above, a), _polynomial_product(below, b)
        else:
            above, below = _polynomial_product(above, b), _polynomial_product(below, a)
    return above, below


def _polynomial_sum(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    total = dict(a)
    for powers, coefficient in b.items():
        total[powers] = total.get(powers, Fraction(0)) + coefficient
    return {powers: coefficient for powers, coefficient in total.items() if coefficient}


def _polynomial_product(a: _Polynomial, b: _Polynomial) -> _Polynomial:
    total: _Polynomial = {}
    for powers, coefficient in a.items():
        for others, factor in b.items():
            both = tuple(i + j for i, j in zip(powers, others, strict=True))
            total[both] = total.get(both, Fraction(0)) + coefficient * factor
    return {powers: coefficient for powers, coefficient in total.items() if coefficient}
