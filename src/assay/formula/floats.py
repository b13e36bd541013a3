"""The vectorised evaluator: float64 over any number of tables at once, for sweeps and resamples.

Each operation rounds once, so a value is within a few units of 2^-52, relative to the largest
term that was added; where a difference nearly cancels (mcc and kappa near zero) the error is of
that size absolutely. Counts above 2^53 are rounded when they are read. What is printed comes from
:mod:`assay.formula.exact`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

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
    cells,
)

Floats = npt.NDArray[np.float64]


def evaluate(expression: Expression, table: Mapping[str, npt.ArrayLike]) -> Floats:
    """The value for each table; nan where a denominator is zero.

    Class cells (HIT, ROW, COL) have the classes on their last axis; all other cells have one
    value a table. A derivative by a class cell keeps that last axis.

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
    """Whether class cells stand outside of any sum over classes."""
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
    """The body with one value a class on its last axis."""
    result = np.asarray(_evaluate(body, arrays))
    return np.broadcast_to(result, np.broadcast_shapes(result.shape, arrays["HIT"].shape))
