"""Pointwise bands around a curve."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from assay.curves import Curve, Floats
from assay.errors import MethodError
from assay.formula import Expression, derivative, evaluate, proportion
from assay.formula import cells as cells_of
from assay.inference.proportions import Ends, Wilson
from assay.inference.quantiles import normal


def with_band(curve: Curve, level: float = 0.95) -> Curve:
    """The curve with columns ``low`` and ``high`` around its y measure.

    Wilson's interval where y is a share of rows; of a sum of two shares, Newcombe's from those of
    both; else the delta method, of ratios on the log scale.
    Pointwise: each threshold is taken as given, so the whole curve lies in the band less often
    than the level says.
    """
    if curve.weighted:
        raise MethodError("a curve of weighted rows has no band: its counts are sums of weights")
    low, high = _ends(curve, level)
    return replace(curve, columns={**curve.columns, "low": low, "high": high})


def _ends(curve: Curve, level: float) -> Ends:
    if curve.terms:
        return _of_sum(curve, level)
    formula = curve.y.formula
    assert formula is not None  # noqa: S101 - a curve is traced from a formula
    if math.isinf(sum(curve.y.range)):
        # What is above 0 and endless, or what 1 falls short by.
        return _on_log(curve, formula if math.isinf(curve.y.range[1]) else 1 - formula, level)
    if proportion(formula) is not None:
        return _wilson(curve, formula, level)
    error = normal(level) * _error(formula, curve.cells)
    floor, ceiling = curve.y.range
    y = curve.columns[curve.y.name]
    return np.clip(y - error, floor, ceiling), np.clip(y + error, floor, ceiling)


def _error(formula: Expression, cells: Mapping[str, Floats]) -> Floats:
    """The standard error by the delta method."""
    gradients = [
        cells[cell] * evaluate(derivative(formula, cell), cells) ** 2
        for cell in ("TP", "FP", "FN", "TN")
    ]
    error: Floats = np.sqrt(np.nansum(gradients, axis=0))
    return error


def _on_log(curve: Curve, formula: Expression, level: float) -> Ends:
    """The delta method on the logarithm; where a cell is empty half a row is added to each."""
    y = curve.columns[curve.y.name]
    few = np.any([curve.cells[cell] == 0 for cell in sorted(cells_of(formula))], axis=0)
    cells = {name: column + 0.5 * few for name, column in curve.cells.items()}
    ratio = evaluate(formula, cells)
    factor = np.exp(normal(level) * _error(formula, cells) / ratio)
    low, high = ratio / factor, ratio * factor
    if curve.y.formula != formula:
        low, high = 1 - high, 1 - low
    floor, ceiling = curve.y.range
    return np.clip(np.minimum(low, y), floor, None), np.clip(np.maximum(high, y), None, ceiling)


def _wilson(curve: Curve, formula: Expression, level: float) -> Ends:
    share = proportion(formula)
    assert share is not None  # noqa: S101 - asked for shares only
    return Wilson(level)(
        evaluate(share.successes, curve.cells), evaluate(share.trials, curve.cells)
    )


def _of_sum(curve: Curve, level: float) -> Ends:
    """Newcombe's method for a sum of two weighted shares.

    Shares of the same rows exclude each other: their correlation is -sqrt(pq / ((1 - p)(1 - q))).
    Shares of different rows have none.
    """
    shares, falls, rises = [], [], []
    for weight, formula in curve.terms:
        share = evaluate(formula, curve.cells)
        ends = _wilson(curve, formula, level)
        below, above = (np.abs(weight * (share - end)) for end in ends)
        shares.append(share)
        falls.append(np.where(weight < 0, above, below))
        rises.append(np.where(weight < 0, below, above))
    between = _correlation(curve, shares)
    y = curve.columns[curve.y.name]
    return y - _added(falls, between), y + _added(rises, between)


def _added(parts: list[Floats], correlation: Floats) -> Floats:
    one, other = parts
    squares = one**2 + other**2 + 2 * correlation * one * other
    root: Floats = np.sqrt(np.maximum(squares, 0))
    return root


def _correlation(curve: Curve, shares: list[Floats]) -> Floats:
    """The correlation of both terms, with the signs of their weights."""
    (one, first), (other, second) = curve.terms
    of_first, of_second = proportion(first), proportion(second)
    assert of_first is not None and of_second is not None  # noqa: S101, PT018 - shares
    if of_first.trials != of_second.trials:
        return np.zeros_like(shares[0])
    p, q = shares
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.sqrt(p * q / ((1 - p) * (1 - q)))
    return np.where(np.isfinite(size), -size * np.sign(one * other), 0.0)
