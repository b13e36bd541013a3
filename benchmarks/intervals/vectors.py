"""The intervals of many tables at once, held against those of the library.

The library finds one interval at a time, in exact arithmetic. Here the same is done for all tables
of a simulation in floats. Some of them are always compared with what the library says; where it
says something else, all are asked from the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from assay import Estimate, Wilson
from assay.formula import Expression, derivative, evaluate
from assay.formula import cells as cells_of
from assay.inference import Quantity
from assay.inference.significance import normal

Floats = npt.NDArray[np.float64]
CHECKED = 25
# The place of each cell in a binary table, rows are the truth.
PLACES = {"TN": (0, 0), "FP": (0, 1), "FN": (1, 0), "TP": (1, 1)}


def delta(
    expression: Expression,
    tables: Floats,
    bounds: tuple[float, float],
    *,
    label: int | None,
    touching: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Values and ends of delta intervals."""
    quantity = Quantity(expression, label=label)
    value = quantity.of_tables(tables)
    at_edge = (value <= bounds[0]) | (value >= bounds[1])
    added = _added(quantity, tables)
    bare = ~added.any(axis=(1, 2)) & (at_edge | ~(_variance(quantity, tables) > 0))
    flat = touching & (value == 0)
    added[bare & ~flat] = 1 / tables.shape[-1]
    added[flat] += np.eye(tables.shape[-1]) / 2
    filled = tables + added
    moved = added.any(axis=(1, 2)) & (at_edge | (label is not None))
    centre = np.where(moved, quantity.of_tables(filled), value)
    spread = _variance(quantity, filled)
    low, high = _on_arcsine(centre, spread) if touching else _on_scale(centre, spread, bounds)
    return value, np.minimum(low, value), np.maximum(high, value)


def by_jaccard(tables: Floats) -> tuple[Floats, Floats, Floats]:
    """Values and ends of F1, by Wilson's interval of the Jaccard index."""
    hits, trials = tables[:, 1, 1], tables.sum(axis=(1, 2)) - tables[:, 0, 0]
    value, low, high = share(hits, trials)
    return tuple(2 * end / (1 + end) for end in (value, low, high))


def share(successes: Floats, trials: Floats) -> tuple[Floats, Floats, Floats]:
    """Values and ends of a share of rows."""
    with np.errstate(invalid="ignore"):
        return successes / trials, *Wilson()(successes, trials)


def _variance(quantity: Quantity, tables: Floats) -> Floats:
    columns = quantity._columns(tables)
    gradient = np.zeros_like(tables)
    for cell in cells_of(quantity.expression) - {"K"}:
        slope = evaluate(derivative(quantity.expression, cell), columns)
        if quantity.label is not None:
            gradient[(slice(None), *PLACES[cell])] += slope
        elif cell == "N":
            gradient += slope[:, None, None]
        else:
            each = np.broadcast_to(slope.T, tables.shape[1::-1]).T if slope.ndim == 1 else slope
            if cell == "HIT":
                diagonal = np.arange(tables.shape[-1])
                gradient[:, diagonal, diagonal] += each
            else:
                gradient += each[:, :, None] if cell == "ROW" else each[:, None, :]
    gradient = np.nan_to_num(gradient)
    gradient[np.abs(gradient) * tables.sum(axis=(1, 2))[:, None, None] < 1e-13] = 0
    return np.asarray((tables * gradient**2).sum(axis=(1, 2)))


def _added(quantity: Quantity, tables: Floats) -> Floats:
    """Halves where a formula rests on empty cells."""
    used, size = cells_of(quantity.expression), tables.shape[-1]
    if quantity.label is not None:
        places = tuple(zip(*(PLACES[cell] for cell in used), strict=True))
        empty = (tables[:, places[0], places[1]] == 0).any(axis=1)
        return np.where(empty, 0.5, 0.0)[:, None, None] * np.ones_like(tables)
    hits = np.diagonal(tables, axis1=1, axis2=2)
    off = (1 - np.eye(size)) / (2 * (size - 1))
    added, sure = np.zeros_like(tables), np.zeros(hits.shape, bool)
    for name, axis in (("ROW", 2), ("COL", 1)):
        if name in used:
            bare = (hits == 0) | (hits == tables.sum(axis=axis))
            added += off * (bare[:, :, None] if axis == 2 else bare[:, None, :])
            sure |= bare
    diagonal = np.arange(size)
    added[:, diagonal, diagonal] += sure / 2
    return added


def _on_arcsine(value: Floats, variance: Floats) -> tuple[Floats, Floats]:
    with np.errstate(all="ignore"):
        angle = np.arcsin(np.sqrt(value))
        reach = normal(0.95) * np.sqrt(variance / (value * (1 - value))) / 2
    ends = np.maximum(angle - reach, 0), np.minimum(angle + reach, np.pi / 2)
    known = (value > 0) & (value < 1)
    return tuple(np.where(known, np.sin(end) ** 2, value) for end in ends)


def _on_scale(
    value: Floats, variance: Floats, bounds: tuple[float, float]
) -> tuple[Floats, Floats]:
    low, high = bounds
    reach = normal(0.95) * np.sqrt(variance)
    if math.isinf(low):
        below, above = _on_scale(-value, variance, (-high, math.inf))
        return -above, -below
    with np.errstate(all="ignore"):
        if math.isinf(high):
            step = np.exp(np.minimum(reach / (value - low), 700.0))
            return low + (value - low) / step, low + (value - low) * step
        odds = (value - low) / (high - value)
        width = reach * (high - low) / ((value - low) * (high - value))
        step = np.exp(np.minimum(width, 700.0))
        below, above = odds / step, odds * step
        ends = [low + (high - low) * end / (1 + end) for end in (below, above)]
    known = (low < value) & (value < high) & (variance > 0)
    return np.where(known, ends[0], value), np.where(known, ends[1], value)


def estimates(
    intervals: tuple[Floats, Floats, Floats], asked: Callable[[int], Estimate]
) -> Iterator[Estimate]:
    """The estimates of all tables; ``asked`` is the library's of one of them."""
    value, low, high = intervals
    size = len(value)
    checked = [asked(i) for i in range(0, size, max(size // CHECKED, 1))]
    places = range(0, size, max(size // CHECKED, 1))
    if not all(
        _same((value[i], low[i], high[i]), one) for i, one in zip(places, checked, strict=True)
    ):
        yield from (asked(i) for i in range(size))
        return
    method = next((one.method for one in checked if one.method), "")
    for ends in zip(value.tolist(), low.tolist(), high.tolist(), strict=True):
        yield Estimate(*ends, method=method)


def _same(ours: Sequence[float], theirs: Estimate) -> bool:
    if math.isnan(ours[0]) or math.isnan(theirs):
        return math.isnan(ours[0]) and math.isnan(theirs)
    return bool(np.allclose(ours, (theirs.value, theirs.low, theirs.high), rtol=1e-7, atol=1e-9))
