"""The expression tree: cells, constants, ``+ - * / sqrt log``, and sums over classes.

Binary formulas use the cells ``TP FP FN TN``. Formulas for K classes use three cells with one
value per class, ``HIT`` (correct decisions), ``ROW`` (rows of the class) and ``COL`` (rows decided
as the class), two plain cells, ``N`` (all rows) and ``K`` (the number of classes), and
:func:`total`, the sum over classes.

Nodes are built by the functions at the end, which fold constants and keep sums of cells in one
canonical order. So a derived or substituted formula reads like one written by hand, and equal
formulas compare equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

Number: TypeAlias = int | Fraction

CLASS_CELLS = frozenset({"HIT", "ROW", "COL"})
_ORDER = ("TP", "TN", "FP", "FN", "N", "K", "ROW", "COL", "HIT")


@dataclass(frozen=True)
class Expression:
    """A node of the tree. Arithmetic on nodes builds new nodes."""

    @cached_property
    def _cells(self) -> frozenset[str]:
        if isinstance(self, Cell):
            return frozenset({self.name})
        return frozenset[str]().union(*(child._cells for child in children(self)))

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """Results computed from this node before, by function."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: the functions in ``memo`` can't be pickled."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __add__(self, other: Expression | Number) -> Expression:
        return add(self, constant(other))

    def __radd__(self, other: Number) -> Expression:
        return add(constant(other), self)

    def __sub__(self, other: Expression | Number) -> Expression:
        return add(self, multiply(Constant(Fraction(-1)), constant(other)))

    def __rsub__(self, other: Number) -> Expression:
        return constant(other) - self

    def __mul__(self, other: Expression | Number) -> Expression:
        return multiply(self, constant(other))

    def __rmul__(self, other: Number) -> Expression:
        return multiply(constant(other), self)

    def __truediv__(self, other: Expression | Number) -> Expression:
        return divide(self, constant(other))

    def __rtruediv__(self, other: Number) -> Expression:
        return divide(constant(other), self)


@dataclass(frozen=True)
class Cell(Expression):
    """A count by name; in an identity between measures, the value of the measure of that name."""

    name: str


@dataclass(frozen=True)
class Constant(Expression):
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True)
class Add(Expression):
    """A sum of two or more terms."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Multiply(Expression):
    """A product; a leading constant is its coefficient."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True)
class Divide(Expression):
    """A ratio; undefined where its denominator is zero."""

    numerator: Expression
    denominator: Expression


@dataclass(frozen=True)
class Root(Expression):
    """A square root."""

    radicand: Expression


@dataclass(frozen=True)
class TimesLog(Expression):
    """A factor times the natural logarithm of another expression; 0 wherever the factor is 0."""

    factor: Expression
    argument: Expression


@dataclass(frozen=True)
class Total(Expression):
    """The sum over classes of a body written in class cells."""

    body: Expression


@dataclass(frozen=True)
class GeometricMean(Expression):
    """The geometric mean over classes of a body written in class cells."""

    body: Expression


TP, FP, FN, TN = Cell("TP"), Cell("FP"), Cell("FN"), Cell("TN")
HIT, ROW, COL = Cell("HIT"), Cell("ROW"), Cell("COL")
N, K = Cell("N"), Cell("K")
# The coefficient of a term without one: known by identity, since fractions are slow to compare.
_ONCE = Fraction(1)
ZERO, ONE = Constant(Fraction(0)), Constant(_ONCE)


def constant(number: Expression | Number) -> Expression:
    """An exact number as a node; a node is returned unchanged."""
    return number if isinstance(number, Expression) else Constant(Fraction(number))


def sqrt(radicand: Expression) -> Expression:
    """The square root of an expression."""
    return radicand if radicand in (ZERO, ONE) else Root(radicand)


def times_log(factor: Expression | Number, argument: Expression) -> Expression:
    """A factor times the natural logarithm of an expression, 0 where the factor is.

    An empty cell then carries no information, as in the limit. A number among the factors comes
    first.
    """
    coefficient, rest = split_coefficient(constant(factor))
    return ZERO if argument == ONE else coefficient * TimesLog(rest, argument)


def total(body: Expression | Number) -> Expression:
    """The sum over classes. Sums of class totals are the number of rows."""
    body = constant(body)
    if isinstance(body, Add):
        return add(*(total(term) for term in body.terms))
    coefficient, rest = split_coefficient(body)
    if rest in (ROW, COL):
        return multiply(Constant(coefficient), N)
    if not cells(rest) & CLASS_CELLS:
        return multiply(Constant(coefficient), K, rest)
    return multiply(Constant(coefficient), Total(rest))


def geometric_mean(body: Expression) -> Expression:
    """The geometric mean over classes."""
    return GeometricMean(body)


def cells(expression: Expression) -> frozenset[str]:
    """The names of all cells in an expression.

    >>> sorted(cells(TP / (TP + FP)))
    ['FP', 'TP']
    """
    return expression._cells


def children(expression: Expression) -> tuple[Expression, ...]:
    """The nodes directly below."""
    match expression:
        case Add(terms):
            return terms
        case Multiply(factors):
            return factors
        case Divide(numerator, denominator):
            return (numerator, denominator)
        case TimesLog(factor, argument):
            return (factor, argument)
        case Root(body) | Total(body) | GeometricMean(body):
            return (body,)
    return ()


def denominators(expression: Expression) -> tuple[Expression, ...]:
    """Every denominator of a formula, once.

    >>> [str(sorted(cells(below))) for below in denominators(TP / (TP + FN) + TN / (TN + FP))]
    ["['FN', 'TP']", "['FP', 'TN']"]
    """
    divisors = [each for child in children(expression) for each in denominators(child)]
    if isinstance(expression, Divide):
        divisors.append(expression.denominator)
    return tuple(dict.fromkeys(divisors))


# -- building ------------------------------------------------------------------------------------


def split_coefficient(expression: Expression) -> tuple[Fraction, Expression]:
    """A term as its rational coefficient and the rest."""
    if isinstance(expression, Constant):
        return expression.value, ONE
    if isinstance(expression, Multiply) and isinstance(expression.factors[0], Constant):
        rest = expression.factors[1:]
        return expression.factors[0].value, rest[0] if len(rest) == 1 else Multiply(rest)
    return _ONCE, expression


def add(*terms: Expression) -> Expression:
    """A sum in canonical order: like terms collected, zeros dropped, positive terms first."""
    collected: dict[Expression, Fraction] = {}
    for term in terms:
        scale, body = split_coefficient(term)
        for part in body.terms if isinstance(body, Add) else (body,):
            coefficient, rest = split_coefficient(part)
            scaled = coefficient if scale is _ONCE else scale * coefficient
            collected[rest] = collected[rest] + scaled if rest in collected else scaled
    kept = [(rest, coefficient) for rest, coefficient in collected.items() if coefficient]
    kept.sort(key=lambda pair: (pair[1] < 0, _rank(pair[0])))
    parts = tuple(
        rest if coefficient is _ONCE else multiply(Constant(coefficient), rest)
        for rest, coefficient in kept
    )
    if not parts:
        return ZERO
    return parts[0] if len(parts) == 1 else Add(parts)


def _rank(expression: Expression) -> int:
    """The sort rank of a term: cells in their usual order, then the rest as written, then 1."""
    if isinstance(expression, Cell) and expression.name in _ORDER:
        return _ORDER.index(expression.name)
    return len(_ORDER) + (expression == ONE)


def multiply(*factors: Expression) -> Expression:
    """A product with its constants folded into one leading coefficient."""
    coefficient = _ONCE
    rest: list[Expression] = []
    for factor in factors:
        for part in factor.factors if isinstance(factor, Multiply) else (factor,):
            if isinstance(part, Constant):
                coefficient = part.value if coefficient is _ONCE else coefficient * part.value
            else:
                rest.append(part)
    if coefficient == 0:
        return ZERO
    if not rest:
        return Constant(coefficient)
    if coefficient is not _ONCE and coefficient != 1:
        return Multiply((Constant(coefficient), *rest))
    return rest[0] if len(rest) == 1 else Multiply(tuple(rest))


def divide(numerator: Expression, denominator: Expression) -> Expression:
    """A ratio. A zero numerator stays: 0/0 must still be undefined."""
    if isinstance(denominator, Constant) and denominator.value:
        return multiply(Constant(1 / denominator.value), numerator)
    return Divide(numerator, denominator)


# -- new trees from old --------------------------------------------------------------------------


def substitute(expression: Expression, new: Mapping[str, Expression]) -> Expression:
    """The expression with cells replaced by expressions."""
    match expression:
        case Cell(name):
            return new.get(name, expression)
        case Add(terms):
            return add(*(substitute(term, new) for term in terms))
        case Multiply(factors):
            return multiply(*(substitute(factor, new) for factor in factors))
        case Divide(numerator, denominator):
            return divide(substitute(numerator, new), substitute(denominator, new))
        case Root(radicand):
            return sqrt(substitute(radicand, new))
        case TimesLog(factor, argument):
            return times_log(substitute(factor, new), substitute(argument, new))
        case Total(body):
            return total(substitute(body, new))
        case GeometricMean(body):
            return geometric_mean(substitute(body, new))
    return expression


ONE_VERSUS_REST: Mapping[str, Expression] = {
    "TP": HIT,
    "FP": COL - HIT,
    "FN": ROW - HIT,
    "TN": N - ROW - COL + HIT,
}


@lru_cache(maxsize=1024)
def of_classes(binary: Expression, average: str) -> Expression:
    """A binary formula averaged over classes, one against the rest.

    ``macro`` is the plain mean, ``weighted`` the mean weighted by the rows of each class,
    ``micro`` the formula of the summed cells.

    >>> from assay.formula import plain
    >>> plain(of_classes(2 * TP / (2 * TP + FP + FN), "macro"))
    'sum(2 HIT / (ROW + COL)) / K'
    """
    if average == "micro":
        return substitute(binary, {cell: total(new) for cell, new in ONE_VERSUS_REST.items()})
    of_class = substitute(binary, ONE_VERSUS_REST)
    if average == "macro":
        return total(of_class) / K
    return total(ROW * of_class) / N


def at_base_rate(binary: Expression, base_rate: Number) -> Expression:
    """A binary formula at another base rate: the share of all rows that are positive.

    The detection rate and the false positive rate stay; the mix of the classes changes.

    >>> from assay.formula import value
    >>> ppv = at_base_rate(TP / (TP + FP), Fraction(1, 1000))
    >>> round(value(ppv, {"TP": 95, "FN": 5, "FP": 2, "TN": 98}), 4)
    0.0454
    """
    positives, negatives = TP + FN, FP + TN
    share = Fraction(base_rate)
    return substitute(
        binary,
        {
            "TP": share * (TP / positives),
            "FN": share * (FN / positives),
            "FP": (1 - share) * (FP / negatives),
            "TN": (1 - share) * (TN / negatives),
        },
    )


def derivative(expression: Expression, cell: str) -> Expression:
    """The partial derivative by a cell; by a class cell, for that same class.

    A derivative by a class cell has one value per class, so it may have class cells outside any
    sum.

    >>> from assay.formula import plain
    >>> plain(derivative(TP / (TP + FP), "FP"))
    '-TP / ((TP + FP) (TP + FP))'
    """
    match expression:
        case Cell(name):
            return ONE if name == cell else ZERO
        case Constant():
            return ZERO
        case Add(terms):
            return add(*(derivative(term, cell) for term in terms))
        case Multiply(factors):
            return add(
                *(
                    multiply(*factors[:i], derivative(factor, cell), *factors[i + 1 :])
                    for i, factor in enumerate(factors)
                )
            )
        case Divide(numerator, denominator):
            top = derivative(numerator, cell) * denominator - numerator * derivative(
                denominator, cell
            )
            return ZERO if top == ZERO else top / (denominator * denominator)
        case Root(radicand):
            inner = derivative(radicand, cell)
            return ZERO if inner == ZERO else inner / (2 * expression)
        case TimesLog(factor, argument):
            inner = derivative(argument, cell)
            moved = ZERO if inner == ZERO else factor * inner / argument
            return times_log(derivative(factor, cell), argument) + moved
        case Total(body):
            inner = derivative(body, cell)
            return inner if cell in CLASS_CELLS else total(inner)
        case GeometricMean(body):
            relative = derivative(body, cell)
            relative = ZERO if relative == ZERO else relative / body
            return expression / K * (relative if cell in CLASS_CELLS else total(relative))
    raise TypeError(f"not an expression: {expression!r}")


def over_two_classes(expression: Expression) -> Expression:
    """A formula over all classes, written out in the four cells of two.

    >>> from assay.formula import plain
    >>> plain(over_two_classes(total(HIT / ROW) / K))
    '(1/2) (TP / (TP + FN) + TN / (TN + FP))'
    """
    table_cells = {"N": TP + TN + FP + FN, "K": constant(2)}
    positive = {"HIT": TP, "ROW": TP + FN, "COL": TP + FP, **table_cells}
    negative = {"HIT": TN, "ROW": TN + FP, "COL": TN + FN, **table_cells}
    match expression:
        case Total(body):
            return substitute(body, positive) + substitute(body, negative)
        case GeometricMean(body):
            return sqrt(substitute(body, positive) * substitute(body, negative))
        case Add(terms):
            return add(*map(over_two_classes, terms))
        case Multiply(factors):
            return multiply(*map(over_two_classes, factors))
        case Divide(numerator, denominator):
            return divide(over_two_classes(numerator), over_two_classes(denominator))
        case Root(radicand):
            return sqrt(over_two_classes(radicand))
        case TimesLog(factor, argument):
            return times_log(over_two_classes(factor), over_two_classes(argument))
    return substitute(expression, table_cells)
