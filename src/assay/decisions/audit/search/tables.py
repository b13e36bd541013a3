"""Every matrix of several small classes, by the hits, rows and columns that formulas read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.search.ways import Booleans, Way

Integers: TypeAlias = npt.NDArray[np.int64]

# As many matrices as are counted out, and as many as may differ in what formulas read.
_COUNTED_OUT, _MOST = 1 << 22, 1 << 21


@dataclass(frozen=True)
class Tables:
    """Matrices of K classes: one a row, its hits, rows and columns in the order of the classes."""

    hits: Integers
    rows: Integers
    columns: Integers

    def __len__(self) -> int:
        return len(self.hits)

    def seen_by(self, label: int | None) -> Mapping[str, Any]:
        """The cells as a formula of one label against the rest, or of all classes, reads them."""
        n = self.rows.sum(axis=1)
        if label is None:
            size = np.full(len(self), self.hits.shape[1])
            return {"HIT": self.hits, "ROW": self.rows, "COL": self.columns, "N": n, "K": size}
        hit, row, column = (side[:, label] for side in (self.hits, self.rows, self.columns))
        return {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": n - row - column + hit}

    def given(self, ways: Sequence[Way], *, rounded: bool) -> Booleans:
        """Which of them give a number."""
        found = [np.broadcast_to(w.holds(self.seen_by, rounded=rounded), len(self)) for w in ways]
        return np.asarray(np.logical_or.reduce(found))


def tables_of(rows: Sequence[int] | None, classes: int, n: int | None) -> Tables | None:
    """All matrices with these supports, or of n rows; None where they are too many."""
    if rows is not None:
        if math.prod(math.comb(r + classes - 1, classes - 1) for r in rows) > _COUNTED_OUT:
            return None
        return _joined([list(_row(r, classes)) for r in rows], classes)
    if n is None or math.comb(n + classes**2 - 1, classes**2 - 1) > _COUNTED_OUT:
        return None
    parts = [_of_supports(supports, classes) for supports in _compositions(n, classes)]
    return Tables(
        *(np.concatenate([getattr(p, side) for p in parts]) for side in ("hits", "rows", "columns"))
    )


def _of_supports(rows: Sequence[int], classes: int) -> Tables:
    found = _joined([list(_row(r, classes)) for r in rows], classes)
    if found is None:
        raise ValueError("too many matrices")
    return found


def _joined(options: Sequence[Sequence[tuple[int, ...]]], classes: int) -> Tables | None:
    """Row by row, what the rows so far leave: the hits of each and the sums of the columns."""
    states = np.zeros((1, 2 * classes), np.int64)
    for i, row in enumerate(options):
        added = np.zeros((len(row), 2 * classes), np.int64)
        added[:, classes:] = np.array(row)
        added[:, i] = added[:, classes + i]
        if len(states) * len(added) > 2 * _COUNTED_OUT:
            return None
        states = (states[:, None, :] + added[None, :, :]).reshape(-1, 2 * classes)
        states = _unique(states)
        if len(states) > _MOST:
            return None
    supports = np.array([sum(row[0]) for row in options])
    return Tables(
        states[:, :classes], np.broadcast_to(supports, (len(states), classes)), states[:, classes:]
    )


def _unique(states: Integers) -> Integers:
    """Each state once; much quicker than unique() by rows."""
    states = states[np.lexsort(states.T)]
    new = np.ones(len(states), bool)
    new[1:] = (states[1:] != states[:-1]).any(axis=1)
    return np.asarray(states[new])


def _row(rows: int, classes: int) -> Iterator[tuple[int, ...]]:
    """All ways in which the rows of one class can be decided."""
    return _compositions(rows, classes)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)
