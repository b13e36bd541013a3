"""The delta method: the variance of a formula from its derivative, on a scale that fits its range.

The scale keeps the interval inside of the range: the logit for [0, 1], the logarithm for [0, inf)
and, mirrored, for (-inf, 1], atanh for [-1, 1]; a range without ends has none. The method sees no
uncertainty in a cell that is empty. Then half a count is added first: to each cell of a binary
table, or to the hits and to the errors of each class that has none of either; and the interval is
stretched to hold the estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference.quantiles import check_level, normal, student
from assay.inference.quantity import Quantity, squares_of, table_of
from assay.inference.strata import Strata
from assay.tally import ClusterTally, Confusion

Floats: TypeAlias = npt.NDArray[np.float64]


# Beyond this many units on the log scale an end is at the edge of the range.
_FARTHEST = 700.0
# A cell whose every row together would move a value by less than this does not move it.
_ROUNDING = 1e-13
_SLACK = 1e-12


@dataclass(frozen=True)
class Delta:
    """The delta method, for any smooth formula."""

    level: float = 0.95
    name: ClassVar[str] = "delta"

    def __post_init__(self) -> None:
        check_level(self.level)


def on_scale(
    value: float, variance: float, bounds: tuple[float, float], reach: float
) -> tuple[float, float]:
    """An interval of ``reach`` standard errors on the scale that the bounds imply.

    >>> low, high = on_scale(0.9, 0.0009, (0, 1), 1.96)
    >>> round(low, 3), round(high, 3)
    (0.824, 0.945)
    """
    low, high = bounds
    error = math.sqrt(variance)
    if error == 0 or not low < value < high:
        return value, value
    if math.isinf(low) and math.isinf(high):
        return value - reach * error, value + reach * error
    if math.isinf(low):
        above, below = on_scale(-value, variance, (-high, math.inf), reach)
        return -below, -above
    if math.isinf(high):
        step = math.exp(min(reach * error / (value - low), _FARTHEST))
        return low + (value - low) / step, low + (value - low) * step
    share = (value - low) / (high - low)
    if not 0 < share < 1:
        return value, value
    odds = share / (1 - share)
    step = math.exp(min(reach * error * (high - low) / ((value - low) * (high - value)), _FARTHEST))
    # As 1 / (1 + 1 / odds), which survives odds that are infinite or zero.
    below = 1 / (1 + step / odds)
    above = 1 / (1 + 1 / (odds * step))
    return low + (high - low) * below, low + (high - low) * above


def on_arcsine(value: float, variance: float, reach: float) -> tuple[float, float]:
    """An interval on the scale of the arcsine of the root, for what is flat where it is 0.

    >>> low, high = on_arcsine(0.04, 0.0004, 1.96)
    >>> round(low, 3), round(high, 3)
    (0.01, 0.088)
    """
    if not 0 < value < 1:
        return value, value
    angle = math.asin(math.sqrt(value))
    error = reach * math.sqrt(variance / (value * (1 - value))) / 2
    low, high = max(angle - error, 0.0), min(angle + error, math.pi / 2)
    return math.sin(low) ** 2, math.sin(high) ** 2


def variance(quantity: Quantity, table: Floats, squares: Floats) -> float:
    """The variance of a scale-free formula of a table of independent rows."""
    if len(table) == 2:
        return _variance_of_two(quantity, table.tolist(), squares.tolist())
    return float((squares * _gradient(quantity, table) ** 2).sum())


def _variance_of_two(
    quantity: Quantity, table: list[list[float]], squares: list[list[float]]
) -> float:
    """The same of two classes, without arrays: most tables are small, and there are many."""
    (a, b), (c, d) = table
    spread, rows = 0.0, a + b + c + d
    for slope, square in zip(quantity.slopes(table), (*squares[0], *squares[1]), strict=True):
        if math.isfinite(slope):
            if abs(slope) * rows >= _ROUNDING:
                spread += square * (slope * slope)
        elif not math.isnan(slope):
            spread += square * math.inf
    return spread


def _gradient(quantity: Quantity, table: Floats) -> Floats:
    """The gradient, with 0 for what is undefined or nothing but rounding."""
    gradient = np.nan_to_num(quantity.gradient(table))
    gradient[np.abs(gradient) * table.sum() < _ROUNDING] = 0
    return gradient


def interval(
    quantity: Quantity,
    confusion: Confusion,
    bounds: tuple[float, float],
    level: float,
    *,
    touching: bool = False,
    value: float | None = None,
    strata: Strata | None = None,
) -> tuple[float, float]:
    """The delta interval of a formula of a confusion matrix.

    One that is ``touching`` its low end is flat there; ``value`` is that of the formula, where it
    is known. Rows drawn by ``strata`` vary less, and what is added to empty cells is as heavy as a
    row there could be.
    """
    value = quantity.value(confusion) if value is None else value
    table, squares = table_of(confusion), squares_of(confusion)
    spread = _spread(quantity, table, squares, strata)
    # Sums of weights round.
    at_edge = _at_edge(value, bounds, _SLACK if confusion.weighted else 0.0)
    uncertain = at_edge or spread == 0 or not math.isfinite(spread)
    if table.all() and not uncertain and not (touching and value == 0):
        # No cell is empty, so nothing is added.
        return _ends(value, value, spread, bounds, level, touching=touching)
    added = quantity.added(table)
    if touching and value == 0:
        # Where decisions have nothing to do with the truth, half a row more on the right side.
        added = added + np.eye(len(table)) / 2
    elif not added.any() and uncertain:
        added = quantity.evenly(table)
    centre = value
    if added.any():
        # In units of one row's weight.
        unit = _unit(table, squares, strata)
        table, squares = table + unit * added, squares + unit**2 * added
        spread = _spread(quantity, table, squares, strata)
        if at_edge or quantity.label is not None:
            centre = float(quantity.of_tables(table))
    return _ends(value, centre, spread, bounds, level, touching=touching)


def stratified(quantity: Quantity, confusion: Confusion, strata: Strata) -> float:
    """The variance of a scale-free formula of rows that were drawn by strata."""
    return _spread(quantity, table_of(confusion), squares_of(confusion), strata)


def _spread(quantity: Quantity, table: Floats, squares: Floats, strata: Strata | None) -> float:
    spread = variance(quantity, table, squares)
    if strata is None or not math.isfinite(spread):
        return spread
    return max(spread - strata.taken_off(_gradient(quantity, table)), 0.0)


def _unit(table: Floats, squares: Floats, strata: Strata | None) -> Floats:
    """How heavy a row of each cell is that is added."""
    if strata is None:
        return np.full_like(table, squares.sum() / table.sum())
    return np.broadcast_to([strata.heaviest(i) for i in range(len(table))], table.shape)


def _ends(
    value: float,
    centre: float,
    spread: float,
    bounds: tuple[float, float],
    level: float,
    *,
    touching: bool,
) -> tuple[float, float]:
    """The interval around the centre, stretched to hold the value."""
    reach = normal(level)
    ends = (
        on_arcsine(centre, spread, reach) if touching else on_scale(centre, spread, bounds, reach)
    )
    return min(ends[0], value), max(ends[1], value)


def _at_edge(value: float, bounds: tuple[float, float], slack: float) -> bool:
    return value <= bounds[0] + slack or value >= bounds[1] - slack


def cluster_interval(
    quantity: Quantity, clusters: ClusterTally, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """The same when rows come in clusters: the spread is that between clusters, by Student's t."""
    value = quantity.value(clusters.confusion())
    cells = clusters.cells.astype(np.float64)
    table = cells.sum(axis=0)
    count = clusters.size
    added = np.zeros_like(table)
    if _at_edge(value, bounds, _SLACK) or quantity.added(table).any():
        # Half an average cluster, split over the cells; each cell's part counts as a cluster.
        added += table.sum() / count / table.size / 2
    gradient = _gradient(quantity, table + added)
    moved = np.einsum("cij,ij->c", cells, gradient)
    spread = float(np.square(moved).sum()) * count / (count - 1)
    spread += float(np.square(added * gradient).sum())
    centre = float(quantity.of_tables(table + added)) if added.any() else value
    low, high = on_scale(centre, spread, bounds, student(level, count - 1))
    if added.any():
        # Clusters that agree on an empty cell tell no more of it than as many independent rows.
        rows = interval(quantity, clusters.confusion(), bounds, level)
        low, high = min(low, rows[0]), max(high, rows[1])
    return min(low, value), max(high, value)
