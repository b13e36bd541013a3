"""Two cells of the matrix swapped: many matrices at once.

Every formula reads the hits, the rows and the columns of the classes, so those are all that is
kept of a matrix. Floats find which swaps come near a printed number; the exact value then decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.claim import BINARY_CELLS
from assay.decisions.audit.mistakes.candidate import Tier
from assay.decisions.audit.mistakes.matrices import Variant
from assay.decisions.audit.mistakes.table import Table
from assay.evaluation.words import name
from assay.formula import evaluate
from assay.inference import Quantity
from assay.tally import Confusion

Floats = npt.NDArray[np.float64]
_Cell = tuple[int, int]
_Pair = tuple[_Cell, _Cell]

# Up to so many classes every two cells are tried.
_ALL_PAIRS = 10
# Up to how many classes swaps in one row or column are tried, and swaps across the diagonal.
_IN_LINE, _TRANSPOSED = 20, 60


@dataclass(frozen=True)
class Swaps:
    """Swaps of two cells, with the hits, rows and columns that they leave."""

    table: Table
    pairs: tuple[_Pair, ...]
    hits: Floats
    rows: Floats
    columns: Floats

    def values(self, quantity: Quantity) -> Floats:
        """What a formula gives after each swap, nan where it is undefined."""
        n = self.rows.sum(axis=-1)
        if quantity.label is None:
            size = np.full_like(n, self.hits.shape[-1])
            return evaluate(
                quantity.expression,
                {"HIT": self.hits, "ROW": self.rows, "COL": self.columns, "N": n, "K": size},
            )
        hit, row, column = (
            side[:, quantity.label] for side in (self.hits, self.rows, self.columns)
        )
        rest = n - row - column + hit
        return evaluate(
            quantity.expression, {"TP": hit, "FP": column - hit, "FN": row - hit, "TN": rest}
        )

    def variant(self, number: int) -> Variant:
        """One swap as a matrix, in words."""
        confusion = self.table.confusion
        cells = [list(row) for row in confusion.cells]
        (i, j), (k, m) = self.pairs[number]
        cells[i][j], cells[k][m] = cells[k][m], cells[i][j]
        changed = Confusion(confusion.labels, tuple(tuple(row) for row in cells))
        mistake, said = self._words(*self.pairs[number])
        return Variant(mistake, said, Table(changed, self.table.positive), self._tier)

    @property
    def _tier(self) -> Tier:
        return Tier.MATRIX if self.table.binary else Tier.SWAP

    def _words(self, one: _Cell, other: _Cell) -> tuple[str, str]:
        labels, positive = self.table.confusion.labels, self.table.positive
        if positive is not None:
            names = [_binary_name(labels, positive, cell) for cell in (one, other)]
            first, second = sorted(names, key=BINARY_CELLS.index)
            return (
                f"cells-swapped:{first},{second}",
                f"the matrix with {first} and {second} exchanged",
            )
        here, there = (f"{cell[0] + 1}.{cell[1] + 1}" for cell in (one, other))
        cells = [f"true {name(labels[i])}, decided {name(labels[j])}" for i, j in (one, other)]
        return (
            f"cells-swapped:{here},{there}",
            f"the matrix with the cells ({cells[0]}) and ({cells[1]}) exchanged",
        )


def swaps(table: Table) -> Swaps:
    """Every swap that is tried with a matrix."""
    cells = table.confusion.cells
    pairs = tuple(
        (one, other) for one, other in _pairs(len(cells)) if _at(cells, one) != _at(cells, other)
    )
    matrix = np.array(cells, np.float64)
    count = len(pairs)
    hits = np.tile(np.diagonal(matrix), (count, 1))
    rows, columns = np.tile(matrix.sum(axis=1), (count, 1)), np.tile(matrix.sum(axis=0), (count, 1))
    if pairs:
        ends = np.array(pairs)
        each = np.arange(count)
        (i, j), (k, m) = ends[:, 0].T, ends[:, 1].T
        gained = matrix[k, m] - matrix[i, j]
        for at, by in (((i, j), gained), ((k, m), -gained)):
            np.add.at(rows, (each, at[0]), by)
            np.add.at(columns, (each, at[1]), by)
            on = at[0] == at[1]
            np.add.at(hits, (each[on], at[0][on]), by[on])
    return Swaps(table, pairs, hits, rows, columns)


def _pairs(size: int) -> list[tuple[_Cell, _Cell]]:
    """Pairs of cells that may have been exchanged; the more classes, the fewer kinds.

    One of many swaps fits by accident, and there are K^4 of them.
    """
    if size <= _ALL_PAIRS:
        return list(combinations([(i, j) for i in range(size) for j in range(size)], 2))
    if size > _TRANSPOSED:
        return []
    across = [((i, j), (j, i)) for i, j in combinations(range(size), 2)]
    if size > _IN_LINE:
        return across
    in_rows = [((k, i), (k, j)) for k in range(size) for i, j in combinations(range(size), 2)]
    in_columns = [((i, k), (j, k)) for k in range(size) for i, j in combinations(range(size), 2)]
    return [*across, *in_rows, *in_columns]


def _at(cells: Any, cell: _Cell) -> Any:
    return cells[cell[0]][cell[1]]


def _binary_name(labels: tuple[str, ...], positive: str, cell: _Cell) -> str:
    truth, decided = (labels[side] == positive for side in cell)
    return f"{'t' if truth == decided else 'f'}{'p' if decided else 'n'}"
