"""Intervals from the variance of a formula: the delta method, and rows that were drawn by strata.

The delta method has the variance from the derivative of the formula, on a scale that fits its
range. The scale keeps the interval inside of the range: the logit for [0, 1], the logarithm for
[0, inf) and, mirrored, for (-inf, 1], atanh for [-1, 1]; a range without ends has none. The method
sees no uncertainty in a cell that is empty. Then half a count is added first: to each cell of a
binary table, or to the hits and to the errors of each class that has none of either; and the
interval is stretched to hold the estimate.

Rows that were drawn by strata stand for the rows of theirs. In stratum h, n of N rows were drawn,
and each stands for w = N/n. Rows of a cell come to a sum of weights, A = sum(w a), whose variance
is at most that of independent Poisson counts, sum(w^2 a). Fay and Feuer (1997) bound such a sum by
gamma distributions of its mean and variance: the lower end by those of A, the upper end by those of
A with one more row of the largest weight that such a row could have had. So a cell that the sample
never met is not taken for empty.

A share A / (A + B) is bounded by melding (Fay, Proschan and Brittain 2015): its lower end is a
quantile of L / (L + U), where L is the gamma distribution of the lower end of A and U that of the
upper end of B, both independent; which is a quantile of a beta distribution. Where all weights are
1, that is the interval of Clopper and Pearson. Any other formula has the interval that is recovered
from those of its cells.

Poisson counts allow strata to differ in size from one day to the next as much as rows do inside of
them. Strata are known to hold N rows, so that the variance is less: how much, by the delta method,
shrinks both distributions. Nothing is taken off because few rows were left unlabelled: the interval
is of the detector, and not only of the rows that it has met.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.counts import ClusterCounts, Confusion
from assay.errors import InputError
from assay.formula.properties import share_of
from assay.inference.estimate import Floats, Quantity, squares_of, table_of
from assay.inference.significance import check_level, normal, student
from assay.text import significant

# Beyond this many units on the log scale an end is at the edge of the range.
_FARTHEST = 700.0
# A cell whose every row together would move a value by less than this does not move it.
_ROUNDING = 1e-13
_SLACK = 1e-12
# Moves cancel whose sum is less than this share of them.
_CANCELLED = 1e-9


@dataclass(frozen=True)
class Delta:
    """The delta method, for any smooth formula."""

    level: float = 0.95
    name: ClassVar[str] = "delta"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))


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
    if table.all() and not uncertain:
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


# -- clusters --------------------------------------------------------------------------------------


# Why clusters do not tell how they spread.
ALONE = "one cluster tells nothing about the spread between clusters"
LONE_CLASS = f"all rows of a class are of one cluster, and {ALONE}"


class ClusterSpread(NamedTuple):
    """The variance of a value that clusters move, and its degrees of freedom."""

    variance: float
    df: float


def between_clusters(
    moved: Floats, held: npt.NDArray[np.bool_], *, apart: bool
) -> ClusterSpread | None:
    """How a value spreads that clusters move; None where one cluster has all that tells of it.

    ``moved`` is by cluster and class, of the classes that move the value; ``held`` is whether a
    cluster has such rows, without which it tells nothing. The classes of some measures are
    ``apart``, those of recall and of the area under the ROC: a class spreads as its own clusters
    do, and the degrees of freedom are Satterthwaite's, at most those of all clusters.
    """
    every = int(held.any(axis=1).sum())
    counts = held.sum(axis=0) if apart else np.full(held.shape[1], every)
    if counts.min(initial=len(moved)) < 2:
        return None
    scaled = moved * np.sqrt(counts / (counts - 1))
    parts = np.square(scaled).sum(axis=0)
    variance = float(np.square(scaled.sum(axis=1)).sum())
    if not parts.any():
        return ClusterSpread(variance, len(moved) - 1)
    satterthwaite = float(parts.sum() ** 2 / (parts**2 / (counts - 1)).sum())
    return ClusterSpread(variance, min(satterthwaite, every - 1))


def cancels(sums: Floats, sizes: Floats) -> bool:
    """Whether what rows move a value by comes to nothing in each class, beside its sizes."""
    return bool((np.abs(sums) <= _CANCELLED * sizes).all())


@lru_cache(maxsize=1024)
def _of_each_class(quantity: Quantity, size: int) -> bool:
    """Whether more rows like those of a class leave a formula as it is, whatever the table."""
    table = np.random.default_rng(size).uniform(1, 9, (size, size))
    moves = _gradient(quantity, table) * table
    return cancels(moves.sum(axis=1), np.abs(moves).sum(axis=1))


def cluster_interval(
    quantity: Quantity, clusters: ClusterCounts, bounds: tuple[float, float], level: float
) -> tuple[float, float] | None:
    """The same when rows come in clusters: the spread is that between clusters, by Student's t.

    None where one cluster has all rows, or all of a class that alone tells of the value.
    """
    value = quantity.value(clusters.confusion())
    cells = clusters.cells.astype(np.float64)
    table = cells.sum(axis=0)
    count = clusters.size
    smoothed = _at_edge(value, bounds, _SLACK) or bool(quantity.added(table).any())
    # Half an average cluster, split over the cells; each cell's part counts as a cluster.
    added = table.sum() / count / table.size / 2 if smoothed else 0.0
    gradient = _gradient(quantity, table + added)
    moving = gradient.any(axis=1)
    between = between_clusters(
        np.einsum("cij,ij->ci", cells, gradient)[:, moving],
        np.einsum("cij,ij->ci", cells, gradient != 0)[:, moving] > 0,
        apart=_of_each_class(quantity, len(table)),
    )
    if between is None:
        return None
    spread = between.variance + float(np.square(added * gradient).sum())
    centre = float(quantity.of_tables(table + added)) if smoothed else value
    low, high = on_scale(centre, spread, bounds, student(level, between.df))
    if smoothed:
        # Clusters that agree on an empty cell tell no more of it than as many independent rows.
        rows = interval(quantity, clusters.confusion(), bounds, level)
        low, high = min(low, rows[0]), max(high, rows[1])
    return min(low, value), max(high, value)


# -- strata ----------------------------------------------------------------------------------------

# Sums of equal weights, and of their squares, round.
_WEIGHT_ROUNDING = 1e-9


class WeightedSum(NamedTuple):
    """A sum of weights, its variance, and the weights that a row which it lacks might have had."""

    value: float
    variance: float
    weights: Floats


@dataclass(frozen=True)
class GammaInterval(ABC):
    """A method for shares of rows drawn by strata; see the subclasses."""

    level: float = 0.95
    name: ClassVar[str] = ""
    # What is to be said of every interval.
    note: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", check_level(self.level))

    @staticmethod
    @abstractmethod
    def further(weights: Floats) -> tuple[float, float]:
        """The weight of the row that is added for the upper end, and its variance."""

    def of_sum(self, weighted: WeightedSum) -> tuple[float, float]:
        """The interval of one sum of weights.

        >>> low, high = FayFeuer().of_sum(WeightedSum(0.0, 0.0, np.array([1.0, 100.0])))
        >>> low, round(high, 1)
        (0.0, 368.9)
        """
        from scipy.special import gammaincinv

        tail = (1 - self.level) / 2
        low, high = _gamma_below(weighted), self._above(weighted)
        lower = 0.0 if low is None else float(gammaincinv(low[0], tail)) * low[1]
        return lower, float(gammaincinv(high[0], 1 - tail)) * high[1]

    def of_share(
        self, successes: WeightedSum, failures: WeightedSum, shrunk: float = 1.0
    ) -> tuple[float, float]:
        """The interval of successes among both; ``shrunk`` is what is left of the variances."""
        tail = (1 - self.level) / 2
        low, other = _gamma_below(successes, shrunk), _gamma_below(failures, shrunk)
        lower = 0.0 if low is None else _melded(low, self._above(failures, shrunk), tail)
        if other is None:
            return lower, 1.0
        return lower, 1 - _melded(other, self._above(successes, shrunk), tail)

    def _above(self, weighted: WeightedSum, shrunk: float = 1.0) -> tuple[float, float]:
        """Shape and scale of the gamma distribution above a sum, with one row more."""
        weight, square = self.further(weighted.weights)
        mean, variance = weighted.value + weight, weighted.variance * shrunk + square
        return mean**2 / variance, variance / mean


class FayFeuer(GammaInterval):
    """The gamma interval (Fay and Feuer 1997): careful, since the row added is the heaviest."""

    name = "fay-feuer"

    @staticmethod
    def further(weights: Floats) -> tuple[float, float]:
        """The largest weight."""
        heaviest = float(weights.max())
        return heaviest, heaviest**2


class Tiwari(GammaInterval):
    """The same with a row of the mean weight (Tiwari, Clegg and Zou 2006): narrower, not proven."""

    name = "tiwari"
    note = (
        "Tiwari's interval has no proof, and covers less than it says where attacks sit in the "
        "strata of the largest weights"
    )

    @staticmethod
    def further(weights: Floats) -> tuple[float, float]:
        """The mean of the weights, and that of their squares."""
        return float(weights.mean()), float(np.square(weights).mean())


STRATA_METHODS: dict[str, type[GammaInterval]] = {
    method.name: method for method in (FayFeuer, Tiwari)
}


def _gamma_below(weighted: WeightedSum, shrunk: float = 1.0) -> tuple[float, float] | None:
    """The same below a sum; None where it is 0."""
    if weighted.value <= 0:
        return None
    variance = weighted.variance * shrunk
    return weighted.value**2 / variance, variance / weighted.value


def _melded(one: tuple[float, float], other: tuple[float, float], tail: float) -> float:
    """A low quantile of the share of one gamma distribution in the sum of both."""
    from scipy.special import betaincinv

    share = float(betaincinv(one[0], other[0], tail))
    return share * one[1] / (share * one[1] + (1 - share) * other[1])


@dataclass(frozen=True, eq=False)
class Strata:
    """How many rows of each stratum were labelled, by cell, and how many rows each stands for.

    ``counts[stratum, truth, decision]`` are whole numbers; ``weights`` one number a stratum.
    """

    names: tuple[str, ...]
    weights: Floats
    counts: Floats

    @classmethod
    def of_tables(cls, tables: Mapping[str, Confusion], column: str = "stratum") -> Strata:
        """The strata of weighted tables, one a stratum; refused where weights differ in one.

        A weight w that all n rows of a cell share is told by their sums, w n and w^2 n.

        >>> table = Confusion(
        ...     ("normal", "attack"), ((30.0, 0.0), (10.0, 0.0)), ((300.0, 0.0), (100.0, 0.0))
        ... )
        >>> strata = Strata.of_tables({"1": table})
        >>> strata.weights.tolist(), strata.counts[0].tolist()
        ([10.0], [[3.0, 0.0], [1.0, 0.0]])
        """
        if not tables or not all(table.weighted for table in tables.values()):
            raise InputError(
                "strata= is where rows were drawn from, and weight= how many rows each stands "
                "for: give both, as assay sample writes them"
            )
        weights, counts = [], []
        for name, table in tables.items():
            sums, squares = np.array(table.cells, float), np.array(table.squares, float)
            weight = float(squares.sum() / sums.sum())
            if weight < 1 - _WEIGHT_ROUNDING:
                raise InputError(
                    f"rows of stratum {name!r} (column {column!r}) have the weight "
                    f"{significant(weight, 6)}: a row stands for one row at least, itself. Weights "
                    f"are N/n, rows of the stratum by rows drawn from it"
                )
            rows = np.round(sums / weight)
            uneven = np.abs(squares - rows * weight**2) > _WEIGHT_ROUNDING * squares
            uneven |= np.abs(sums - rows * weight) > _WEIGHT_ROUNDING * sums
            if uneven.any():
                raise InputError(
                    f"rows of stratum {name!r} (column {column!r}) differ in their weight, which "
                    f"is {significant(weight, 6)} on average: a row of a stratum stands for as "
                    f"many rows as any other, N/n. Draw them with assay sample, or leave strata= "
                    f"out"
                )
            counts.append(rows)
            weights.append(_whole_rows(weight * rows.sum()) / rows.sum())
        return cls(tuple(tables), np.array(weights), np.array(counts))

    @property
    def drawn(self) -> Floats:
        """How many rows of each stratum were labelled."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    def against_rest(self, label: int) -> Strata:
        """The binary tables with one label as the positive, all others as one negative."""
        kept = np.arange(len(self.counts[0])) == label
        cells = np.stack(
            [
                self.counts[:, truth][:, :, decision].sum(axis=(1, 2))
                for truth in (~kept, kept)
                for decision in (~kept, kept)
            ],
            axis=1,
        )
        return Strata(self.names, self.weights, cells.reshape(len(cells), 2, 2))

    def sum_of(self, chosen: Floats) -> WeightedSum:
        """The rows of some cells; ``chosen`` is 1 at those.

        A further row could be of any stratum that has rows decided as those are.
        """
        rows = (self.counts * chosen).sum(axis=(1, 2))
        return WeightedSum(
            float((self.weights * rows).sum()),
            float((self.weights**2 * rows).sum()),
            self._weights_of(np.asarray(chosen.any(axis=0))),
        )

    def heaviest(self, decision: int) -> float:
        """The largest weight of a stratum that has rows decided so; of any where none has."""
        return float(self._weights_of(np.arange(self.counts.shape[2]) == decision).max())

    def _weights_of(self, decisions: npt.NDArray[np.bool_]) -> Floats:
        """The weights of strata that have rows of some decisions; all where none has."""
        here = self.counts[:, :, decisions].sum(axis=(1, 2)) > 0
        return np.asarray(self.weights[here] if here.any() else self.weights)

    def taken_off(self, slopes: Floats) -> float:
        """By how much the variance of a formula is less than that of independent rows.

        ``slopes`` are the derivatives by each cell. A stratum holds N rows, of which those of a
        cell vary between days, but not as n rows of weight N/n would.
        """
        moved = (self.counts * slopes).sum(axis=(1, 2))
        rows = self.drawn
        several = rows > 1
        less = self.weights * np.maximum(self.weights - 1, 0) * moved**2 / rows
        return float(less[several].sum())

    def share_ends(self, quantity: Quantity, method: GammaInterval) -> tuple[float, float]:
        """The interval of a share of rows."""
        share = share_of(quantity.expression)
        table = self._sums()
        hits = Quantity(share.successes, quantity.label, quantity.classes).gradient(table)
        trials = Quantity(share.trials, quantity.label, quantity.classes).gradient(table)
        successes, failures = (self.sum_of(np.nan_to_num(cells)) for cells in (hits, trials - hits))
        slopes = trials * successes.value - hits * (successes.value + failures.value)
        squares = (self.counts * self.weights[:, None, None] ** 2).sum(axis=0)
        whole = float((squares * slopes**2).sum())
        shrunk = 1.0 if whole <= 0 else 1 - self.taken_off(slopes) / whole
        return method.of_share(successes, failures, max(shrunk, 1 / self.drawn.sum()))

    def formula_ends(self, quantity: Quantity, method: GammaInterval) -> tuple[float, float]:
        """The interval of any formula, from those of its cells (Zou and Donner 2008).

        An end is as far off as the squares of what each cell's own end would move the value by.
        """
        table = self._sums()
        size = len(table)
        ends = [self.sum_of(cell.reshape(size, size)) for cell in np.eye(size * size)]
        moved = np.repeat(table[None], 2 * size * size, axis=0)
        for at, weighted in enumerate(ends):
            moved[2 * at : 2 * at + 2, at // size, at % size] = method.of_sum(weighted)
        value = float(quantity.of_tables(table[None])[0])
        # Where an end leaves the formula undefined, it does not move it.
        by = (quantity.of_tables(moved) - value).reshape(len(ends), 2)
        by = np.where(np.isnan(by), 0.0, by)
        down, up = np.minimum(by.min(axis=1), 0), np.maximum(by.max(axis=1), 0)
        return value - math.hypot(*down), value + math.hypot(*up)

    def _sums(self) -> Floats:
        """The sums of weights of each cell."""
        return np.asarray((self.counts * self.weights[:, None, None]).sum(axis=0))


def _whole_rows(rows: float) -> float:
    """A number of rows, whole where it is so but for rounding."""
    near = float(round(rows))
    return near if math.isclose(rows, near, rel_tol=1e-9) else rows
