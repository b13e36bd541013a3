"""The confusion matrix: true labels against decisions, in all and cluster by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError

Array: TypeAlias = npt.NDArray[Any]
Cells: TypeAlias = dict[str, Any]
Matrix: TypeAlias = tuple[tuple[Any, ...], ...]

# Counts of rows add up to less than this, so that 64 bits hold every sum of them.
LIMIT = 1 << 62


@dataclass(frozen=True)
class Confusion:
    """K x K counts, rows are the truth; with two labels the negative one comes first.

    Counts are Python integers, exact at any size. With sampling weights the cells are sums of
    weights and ``squares`` sums of their squares, which the variance needs.

    >>> table = Confusion(("normal", "attack"), ((7743, 167), (324, 6635)))
    >>> table.total, table.one_versus_rest(1)["TP"]
    (14869, 6635)
    """

    labels: tuple[str, ...]
    cells: Matrix
    squares: Matrix | None = None

    def __post_init__(self) -> None:
        size = len(self.labels)
        for matrix in (self.cells, self.squares):
            if matrix is not None and [len(row) for row in matrix] != [size] * size:
                raise InputError(
                    f"a confusion matrix of {size} labels has {size} rows of {size} cells; "
                    f"found rows of {[len(row) for row in matrix]}"
                )

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        decision: Array,
        *,
        counts: Array | None = None,
        weights: Array | None = None,
    ) -> Confusion:
        """Count rows given as positions in ``labels``."""
        size = len(labels)
        cell = truth.astype(np.intp) * size + decision

        def summed(amounts: Array) -> Matrix:
            sums = np.zeros(size * size, amounts.dtype)
            np.add.at(sums, cell, amounts)
            return tuple(map(tuple, sums.reshape(size, size).tolist()))

        if weights is not None:
            weights = np.asarray(weights, np.float64)
            return cls(tuple(labels), summed(weights), summed(np.square(weights)))
        ones = np.ones(len(cell), np.int64)
        # Frequency counts of any size: Python's integers.
        return cls(tuple(labels), summed(ones if counts is None else counts.astype(object)))

    @property
    def weighted(self) -> bool:
        """Whether the cells are sums of sampling weights."""
        return self.squares is not None

    @cached_property
    def rows(self) -> tuple[Any, ...]:
        """The rows of each label (the support)."""
        return tuple(sum(row) for row in self.cells)

    @cached_property
    def columns(self) -> tuple[Any, ...]:
        """The rows that were decided as each label."""
        return tuple(sum(column) for column in zip(*self.cells, strict=True))

    @cached_property
    def hits(self) -> tuple[Any, ...]:
        """The rows of each label that were decided correctly."""
        return tuple(self.cells[i][i] for i in range(len(self.labels)))

    @cached_property
    def total(self) -> Any:
        """All rows."""
        return sum(self.rows)

    def one_versus_rest(self, label: int) -> Cells:
        """The binary cells with one label as the positive, all others as negatives."""
        (tn, fp), (fn, tp) = self.against_rest(label).cells
        return {"TP": tp, "FP": fp, "FN": fn, "TN": tn}

    def against_rest(self, label: int) -> Confusion:
        """The binary table with one label as the positive, all others as one negative."""
        if len(self.labels) == 2 and label == 1:
            return self
        if label not in self._against_rest:
            name = self.labels[label]
            other_name = self.labels[1 - label] if len(self.labels) == 2 else f"not {name}"
            if self.squares is None:
                hit, row, column = self.hits[label], self.rows[label], self.columns[label]
                others = self.total - row - column + hit
                table = Confusion((other_name, name), ((others, column - hit), (row - hit, hit)))
            else:
                matrices = _collapsed(self.cells, label), _collapsed(self.squares, label)
                table = Confusion((other_name, name), *matrices)
            self._against_rest[label] = table
        return self._against_rest[label]

    @cached_property
    def _against_rest(self) -> dict[int, Confusion]:
        """The binary tables made so far: every measure of a label is read on the same one."""
        return {}

    def class_cells(self) -> Cells:
        """The cells that formulas over classes use."""
        return {
            "HIT": self.hits,
            "ROW": self.rows,
            "COL": self.columns,
            "N": self.total,
            "K": len(self.labels),
        }


def _collapsed(matrix: Matrix, label: int) -> Matrix:
    """One label against the rest; weights are added, never subtracted, which would cancel."""
    table = np.array(matrix, np.float64)
    others = np.arange(len(matrix)) != label
    true_negatives = table[others][:, others].sum()
    misses, false_alarms = table[label, others].sum(), table[others, label].sum()
    return (float(true_negatives), float(false_alarms)), (float(misses), matrix[label][label])


@dataclass(frozen=True, eq=False)
class ClusterCounts:
    """One confusion matrix per cluster: ``cells[cluster, truth, decision]``, clusters by name.

    Cells are integers, or sums of sampling weights.
    """

    labels: tuple[str, ...]
    clusters: tuple[str, ...]
    cells: Array

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        decision: Array,
        cluster: Array,
        names: Sequence[str],
        *,
        amounts: Array | None = None,
    ) -> ClusterCounts:
        """Count rows; ``cluster`` is a position in ``names``, ``amounts`` counts or weights."""
        distinct = sorted({names[i] for i in np.unique(cluster)})
        position = {name: i for i, name in enumerate(distinct)}
        place = np.array([position.get(name, -1) for name in names], np.int64)[cluster]
        amounts = np.ones(len(truth), np.int64) if amounts is None else amounts
        cells = np.zeros((len(distinct), len(labels), len(labels)), amounts.dtype)
        np.add.at(cells, (place, truth.astype(np.intp), decision.astype(np.intp)), amounts)
        return cls(tuple(labels), tuple(distinct), cells)

    @property
    def size(self) -> int:
        """The number of clusters."""
        return len(self.clusters)

    def confusion(self) -> Confusion:
        """The confusion matrix of all clusters together."""
        cells = self.cells.sum(axis=0).tolist()
        return Confusion(self.labels, tuple(tuple(row) for row in cells))

    def against_rest(self, label: int) -> ClusterCounts:
        """The binary tables with one label as the positive, all others as one negative."""
        if len(self.labels) == 2 and label == 1:
            return self
        hit = self.cells[:, label, label]
        row, column = self.cells[:, label, :].sum(axis=1), self.cells[:, :, label].sum(axis=1)
        everything = self.cells.sum(axis=(1, 2))
        cells = np.stack([everything - row - column + hit, column - hit, row - hit, hit], axis=1)
        name = self.labels[label]
        return ClusterCounts((f"not {name}", name), self.clusters, cells.reshape(self.size, 2, 2))
