"""Values found the plain way, to compare with: one row, one class, one fraction at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import mpmath

from assay.formula import Expression
from assay.formula.tree import (
    Add,
    Cell,
    Constant,
    Divide,
    GeometricMean,
    Multiply,
    Root,
    TimesLog,
    Total,
)
from assay.measures import Ranked
from assay.measures.roc_points import LOPSIDED

from .faces import Face, Kind
from .rows import Rows

_DIGITS = 60


def number(expression: Expression, cells: Mapping[str, Any], k: int | None = None) -> Any:
    """The value of a formula in fractions, of roots to 60 digits; 0 in a denominator raises."""
    match expression:
        case Cell(name):
            cell = cells[name]
            return Fraction(cell[k] if isinstance(cell, Sequence) else cell)
        case Constant(exact):
            return exact
        case Add(terms):
            return _fold(lambda a, b: a + b, [number(term, cells, k) for term in terms])
        case Multiply(factors):
            return _fold(lambda a, b: a * b, [number(factor, cells, k) for factor in factors])
        case Divide(above, below):
            return _fold(lambda a, b: a / b, [number(above, cells, k), number(below, cells, k)])
        case Root(body):
            return _root(number(body, cells, k), 2)
        case TimesLog(factor, argument):
            times = number(factor, cells, k)
            if times == 0:
                return Fraction(0)
            inner = number(argument, cells, k)
            if inner == 1:
                return Fraction(0)
            with mpmath.workdps(_DIGITS):
                return _digits(times) * mpmath.log(_digits(inner))
        case Total(body):
            return _fold(lambda a, b: a + b, [number(body, cells, i) for i in _classes(cells)])
        case GeometricMean(body):
            product = _fold(lambda a, b: a * b, [number(body, cells, i) for i in _classes(cells)])
            return _root(product, len(cells["HIT"]))
    raise TypeError(expression)


def _classes(cells: Mapping[str, Any]) -> range:
    return range(len(cells["HIT"]))


def _fold(operation: Callable[[Any, Any], Any], values: list[Any]) -> Any:
    """Fractions as long as all are fractions, else 60 digits."""
    with mpmath.workdps(_DIGITS):
        result = values[0]
        for value in values[1:]:
            if isinstance(result, Fraction) and isinstance(value, Fraction):
                result = operation(result, value)
            else:
                result = operation(_digits(result), _digits(value))
        return result


def _digits(value: Any) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, Fraction) else value


def _root(value: Any, degree: int) -> Any:
    if value == 0:
        return Fraction(0)
    with mpmath.workdps(_DIGITS):
        root = mpmath.root(_digits(value), degree)
    if isinstance(value, Fraction):
        guess = Fraction(
            round(value.numerator ** (1 / degree)), round(value.denominator ** (1 / degree))
        )
        if guess**degree == value:
            return guess
    return root


def binary_cells(table: Sequence[Sequence[int]], label: int) -> dict[str, int]:
    """One label against the rest."""
    classes = range(len(table))
    return {
        "TP": table[label][label],
        "FP": sum(table[i][label] for i in classes if i != label),
        "FN": sum(table[label][j] for j in classes if j != label),
        "TN": sum(table[i][j] for i in classes for j in classes if label not in (i, j)),
    }


def class_cells(table: Sequence[Sequence[int]]) -> dict[str, Any]:
    """What formulas over classes are read on."""
    classes = range(len(table))
    return {
        "HIT": [table[i][i] for i in classes],
        "ROW": [sum(table[i]) for i in classes],
        "COL": [sum(row[i] for row in table) for i in classes],
        "N": sum(map(sum, table)),
        "K": len(table),
    }


def counted(face: Face, rows: Rows) -> Any:
    """The value of a count measure of rows; an average by its definition."""
    measure, table = face.tried, rows.table()
    assert measure.formula is not None
    each = [binary_cells(table, i) for i in range(len(table))]
    match face.how:
        case "positive" | "label":
            return number(measure.formula, each[1])
        case "negative":
            return number(measure.formula, each[0])
        case "overall":
            assert measure.classes is not None
            return number(measure.classes, class_cells(table))
        case "macro":
            values = [number(measure.formula, cells) for cells in each]
            return _fold(lambda a, b: a + b, values) / len(values)
        case "weighted":
            support = [sum(row) for row in table]
            values = [
                _fold(lambda a, b: a * b, [number(measure.formula, cells), Fraction(n)])
                for cells, n in zip(each, support, strict=True)
                if n
            ]
            return _fold(lambda a, b: a + b, values) / sum(support)
        case "micro":
            pooled = {name: sum(cells[name] for cells in each) for name in each[0]}
            return number(measure.formula, pooled)
    raise ValueError(face.how)


def _parted(rows: Rows) -> bool:
    """Whether a threshold parts the classes, or there is only one."""
    sides = [
        [s for t, s in zip(rows.truth, rows.said, strict=True) if t == side] for side in (0, 1)
    ]
    if not all(sides):
        return True
    low, high = sides
    return max(low) <= min(high) or max(high) <= min(low)


def is_defined(face: Face, rows: Rows) -> bool:
    """Whether a measure has a value for rows."""
    if face.counted:
        try:
            counted(face, rows)
        except ZeroDivisionError:
            return False
        return True
    truths = set(rows.truth)
    whole = set(range(len(rows.labels)))
    if face.kind is Kind.PAIRED:
        return truths == whole
    if face.kind is not Kind.RANKED:
        return True
    declared = face.tried.of_scores
    assert isinstance(declared, Ranked)
    if face.how == "positive" and rows.truth.count(0) < declared.negatives:
        return False
    if declared.undefined not in ("", LOPSIDED) and _parted(rows):
        return False
    only_one_side = declared.negatives > 0 and len(truths) == 1
    match face.how:
        case "macro":
            return truths == whole
        case "weighted":
            return not only_one_side
    return 1 in truths and not only_one_side
