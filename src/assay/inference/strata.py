"""Intervals of rows that were drawn by strata and stand for the rows of theirs.

In stratum h, n of N rows were drawn, and each stands for w = N/n. Rows of a cell come to a sum of
weights, A = sum(w a), whose variance is at most that of independent Poisson counts, sum(w^2 a).
Fay and Feuer (1997) bound such a sum by gamma distributions of its mean and variance: the lower end
by those of A, the upper end by those of A with one more row of the largest weight that such a row
could have had. So a cell that the sample never met is not taken for empty.

A share A / (A + B) is bounded by melding (Fay, Proschan and Brittain 2015): its lower end is a
quantile of L / (L + U), where L is the gamma distribution of the lower end of A and U that of the
upper end of B, both independent; which is a quantile of a beta distribution. Where all weights are
1, that is the interval of Clopper and Pearson.

Any other formula has the interval that is recovered from those of its cells.

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
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.formula import proportion
from assay.inference.quantiles import check_level
from assay.inference.quantity import Floats, Quantity
from assay.tally import Confusion

Counts: TypeAlias = npt.NDArray[np.float64]

# Sums of equal weights, and of their squares, round.
_ROUNDING = 1e-9


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
        check_level(self.level)

    @staticmethod
    @abstractmethod
    def further(weights: Floats) -> tuple[float, float]:
        """The weight of the row that is added for the upper end, and its variance."""

    def of_sum(self, found: WeightedSum) -> tuple[float, float]:
        """The interval of one sum of weights.

        >>> low, high = FayFeuer().of_sum(WeightedSum(0.0, 0.0, np.array([1.0, 100.0])))
        >>> low, round(high, 1)
        (0.0, 368.9)
        """
        from scipy.special import gammaincinv

        tail = (1 - self.level) / 2
        low, high = _below(found), self._above(found)
        lower = 0.0 if low is None else float(gammaincinv(low[0], tail)) * low[1]
        return lower, float(gammaincinv(high[0], 1 - tail)) * high[1]

    def of_share(
        self, successes: WeightedSum, failures: WeightedSum, shrunk: float = 1.0
    ) -> tuple[float, float]:
        """The interval of successes among both; ``shrunk`` is what is left of the variances."""
        tail = (1 - self.level) / 2
        low, other = _below(successes, shrunk), _below(failures, shrunk)
        lower = 0.0 if low is None else _melded(low, self._above(failures, shrunk), tail)
        if other is None:
            return lower, 1.0
        return lower, 1 - _melded(other, self._above(successes, shrunk), tail)

    def _above(self, found: WeightedSum, shrunk: float = 1.0) -> tuple[float, float]:
        """Shape and scale of the gamma distribution above a sum, with one row more."""
        weight, square = self.further(found.weights)
        mean, variance = found.value + weight, found.variance * shrunk + square
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


def _below(found: WeightedSum, shrunk: float = 1.0) -> tuple[float, float] | None:
    """The same below a sum; None where it is 0."""
    if found.value <= 0:
        return None
    variance = found.variance * shrunk
    return found.value**2 / variance, variance / found.value


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
    counts: Counts

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
            if weight < 1 - _ROUNDING:
                raise InputError(
                    f"rows of stratum {name!r} (column {column!r}) have the weight {weight:.6g}: "
                    f"a row stands for one row at least, itself. Weights are N/n, rows of the "
                    f"stratum by rows drawn from it"
                )
            here = sums > 0
            rows = np.zeros_like(sums)
            rows[here] = np.round(sums[here] / weight)
            uneven = np.abs(squares - rows * weight**2) > _ROUNDING * squares
            uneven |= np.abs(sums - rows * weight) > _ROUNDING * sums
            if uneven.any():
                raise InputError(
                    f"rows of stratum {name!r} (column {column!r}) differ in their weight, which "
                    f"is {weight:.6g} on average: a row of a stratum stands for as many rows as "
                    f"any other, N/n. Draw them with assay sample, or leave strata= out"
                )
            counts.append(rows)
            weights.append(_whole(weight * rows.sum()) / rows.sum())
        return cls(tuple(tables), np.array(weights), np.array(counts))

    @property
    def drawn(self) -> Floats:
        """How many rows of each stratum were labelled."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    def against_rest(self, label: int) -> Strata:
        """The binary tables with one label as the positive, all others as one negative."""
        if self.counts.shape[1] == 2 and label == 1:
            return self
        kept = np.arange(self.counts.shape[1]) == label
        cells = np.stack(
            [
                self.counts[:, truth][:, :, decision].sum(axis=(1, 2))
                for truth in (~kept, kept)
                for decision in (~kept, kept)
            ],
            axis=1,
        )
        return Strata(self.names, self.weights, cells.reshape(-1, 2, 2))

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
        parts = proportion(quantity.expression)
        assert parts is not None  # noqa: S101 - only called for proportions
        table = self._sums()
        hits = Quantity(parts.successes, quantity.label, quantity.classes).gradient(table)
        trials = Quantity(parts.trials, quantity.label, quantity.classes).gradient(table)
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
        for at, found in enumerate(ends):
            moved[2 * at : 2 * at + 2, at // size, at % size] = method.of_sum(found)
        value = float(quantity.of_tables(table[None])[0])
        # Where an end leaves the formula undefined, it does not move it.
        by = (quantity.of_tables(moved) - value).reshape(-1, 2)
        by = np.where(np.isnan(by), 0.0, by)
        down, up = np.minimum(by.min(axis=1), 0), np.maximum(by.max(axis=1), 0)
        return value - math.hypot(*down), value + math.hypot(*up)

    def _sums(self) -> Floats:
        """The sums of weights of each cell."""
        return np.asarray((self.counts * self.weights[:, None, None]).sum(axis=0))


def _whole(rows: float) -> float:
    """A number of rows, whole where it is so but for rounding."""
    near = float(round(rows))
    return near if math.isclose(rows, near, rel_tol=1e-9) else rows
