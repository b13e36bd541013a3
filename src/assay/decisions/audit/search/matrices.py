"""Many binary matrices at once, and which of them give the printed numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.search.number import Bound
from assay.decisions.audit.values import exact
from assay.formula import Expression, evaluate

Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

# Far above what float64 loses in a formula of counts, far below what is printed.
SLACK = 1e-11
# Matrices too close to the end of a window for float64 are looked at one by one, at most so many.
ONE_BY_ONE = 1000


@dataclass(frozen=True)
class Matrices:
    """Binary matrices, cell by cell."""

    tp: Integers
    fp: Integers
    fn: Integers
    tn: Integers

    @classmethod
    def none(cls) -> Matrices:
        """No matrix at all."""
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, empty, empty)

    @classmethod
    def joined(cls, parts: Sequence[Matrices]) -> Matrices:
        """All matrices of several sets, each once."""
        kept = [part for part in parts if len(part)]
        if not kept:
            return cls.none()
        if len(kept) == 1:
            return kept[0]
        table = np.concatenate([part.table() for part in kept])
        # Much quicker than unique() by rows.
        table = table[np.lexsort(table.T)]
        new = np.append(True, (table[1:] != table[:-1]).any(axis=1))
        return cls(*table[new].T)

    def table(self) -> Integers:
        """One matrix a row: tp, fp, fn, tn."""
        return np.stack([self.tp, self.fp, self.fn, self.tn], axis=1)

    def __len__(self) -> int:
        return len(self.tp)

    def __getitem__(self, chosen: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Matrices:
        return Matrices(self.tp[chosen], self.fp[chosen], self.fn[chosen], self.tn[chosen])

    def cells(self, i: int) -> dict[str, int]:
        """One matrix by the names that formulas use."""
        found = (self.tp[i], self.fp[i], self.fn[i], self.tn[i])
        return dict(zip(("TP", "FP", "FN", "TN"), map(int, found), strict=True))

    def values(self, expression: Expression) -> Floats:
        """A formula of each matrix, nan where it is undefined."""
        found = evaluate(expression, {"TP": self.tp, "FP": self.fp, "FN": self.fn, "TN": self.tn})
        return np.broadcast_to(found, self.tp.shape)


def ends(bound: Bound) -> tuple[float, float]:
    """The ends of a window as float64."""
    low = -np.inf if bound.low is None else float(bound.low)
    high = np.inf if bound.high is None else float(bound.high)
    return low, high


def slack(end: float) -> float:
    """How far a float64 value may be off beside this end."""
    return SLACK * max(1.0, abs(end)) if np.isfinite(end) else 0.0


def fitting(matrices: Matrices, bounds: Sequence[Bound]) -> tuple[Matrices, bool]:
    """The matrices that keep every bound, exactly; and whether none was left undecided."""
    possible = np.ones(len(matrices), bool)
    sure = np.ones(len(matrices), bool)
    for bound in bounds:
        low, high = ends(bound)
        value = matrices.values(bound.expression)
        possible &= (value >= low - slack(low)) & (value <= high + slack(high))
        sure &= (value > low + slack(low)) & (value < high - slack(high))
    close = np.flatnonzero(possible & ~sure)
    kept = sure & possible
    for i in close[:ONE_BY_ONE]:
        kept[i] = fits(matrices.cells(int(i)), bounds)
    return matrices[kept], len(close) <= ONE_BY_ONE


def fits(cells: Mapping[str, int], bounds: Sequence[Bound]) -> bool:
    """Whether one matrix keeps every bound, in exact arithmetic."""
    return all(bound.holds(exact(bound.expression, cells)) for bound in bounds)
