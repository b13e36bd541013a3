"""The confusion matrix: what was true against what was decided."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.blocks import BLOCK, map_blocks

Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
Cells: TypeAlias = dict[str, Any]
Matrix: TypeAlias = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Confusion:
    """K x K counts, rows are the truth; a binary one has the negative label first.

    Counts are Python integers, exact at any size. Where rows carry sampling weights, the cells are
    sums of weights (float) and ``squares`` the sums of their squares, which the variance needs.

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
                raise TallyError(
                    f"a confusion matrix of {size} labels has {size} rows of {size} cells; "
                    f"found rows of {[len(row) for row in matrix]}"
                )

    @classmethod
    def zero(cls, labels: Sequence[str]) -> Confusion:
        """The table of no rows."""
        size = len(labels)
        return cls(tuple(labels), tuple((0,) * size for _ in range(size)))

    @classmethod
    def of_codes(
        cls,
        labels: Sequence[str],
        truth: Codes,
        decision: Codes,
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Confusion:
        """Count rows given as positions in ``labels``."""
        size = len(labels)
        if weights is not None:
            sums = _sum_by_cell(size, truth, decision, weights)
            return cls(tuple(labels), sums, _sum_by_cell(size, truth, decision, weights**2))
        if counts is not None:
            return cls(tuple(labels), _count_by_cell(size, truth, decision, counts))
        found = sum(
            map_blocks(len(truth), lambda: lambda i, j: _bins(size, truth[i:j], decision[i:j])),
            np.zeros(size * size, np.int64),
        )
        return cls(tuple(labels), _matrix(found.reshape(size, size).tolist()))

    def __add__(self, other: Confusion) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        if self.labels != other.labels:
            raise TallyError(
                f"confusion matrices of unlike labels can't be added: {list(self.labels)} and "
                f"{list(other.labels)}"
            )
        squares = None
        if self.squares is not None or other.squares is not None:
            squares = _added(self._squares(), other._squares())
        return Confusion(self.labels, _added(self.cells, other.cells), squares)

    def _squares(self) -> Matrix:
        """Sums of squared weights; of plain counts, the counts."""
        return self.cells if self.squares is None else self.squares

    @property
    def weighted(self) -> bool:
        """Whether the cells are sums of sampling weights."""
        return self.squares is not None

    @cached_property
    def rows(self) -> tuple[Any, ...]:
        """How many rows are of each label (the support)."""
        return tuple(sum(row) for row in self.cells)

    @cached_property
    def columns(self) -> tuple[Any, ...]:
        """How many rows were decided as each label."""
        return tuple(sum(column) for column in zip(*self.cells, strict=True))

    @cached_property
    def hits(self) -> tuple[Any, ...]:
        """How many rows of each label were decided right."""
        return tuple(self.cells[i][i] for i in range(len(self.labels)))

    @cached_property
    def total(self) -> Any:
        """How many rows there are."""
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
            rest = self.labels[1 - label] if len(self.labels) == 2 else f"not {name}"
            if self.squares is None:
                hit, row, column = self.hits[label], self.rows[label], self.columns[label]
                others = self.total - row - column + hit
                table = Confusion((rest, name), ((others, column - hit), (row - hit, hit)))
            else:
                matrices = _collapsed(self.cells, label), _collapsed(self.squares, label)
                table = Confusion((rest, name), *matrices)
            self._against_rest[label] = table
        return self._against_rest[label]

    @cached_property
    def _against_rest(self) -> dict[int, Confusion]:
        """Binary tables that were asked for: every measure of a label is read on the same one."""
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

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        return codec.write("confusion", self.to_header(), {})

    def to_header(self) -> dict[str, Any]:
        """The table as plain values, for records that hold many."""
        return {"labels": self.labels, "cells": self.cells, "squares": self.squares}


@codec.reads("confusion")
def confusion_of(header: Mapping[str, Any], _: Mapping[str, Any]) -> Confusion:
    """A table from its plain values."""
    squares = header["squares"]
    for row in [*header["cells"], *(squares or ())]:
        for cell in row:
            number = isinstance(cell, int | float) and not isinstance(cell, bool)
            if not number or not 0 <= cell < math.inf:
                raise ValueError(f"a cell is {cell!r}")
    return Confusion(
        tuple(str(label) for label in header["labels"]),
        _matrix(header["cells"]),
        None if squares is None else _matrix(squares),
    )


def _matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    return tuple(tuple(row) for row in rows)


def _collapsed(matrix: Matrix, label: int) -> Matrix:
    """One label against the rest; weights are added, never subtracted, which would cancel."""
    table = np.array(matrix, np.float64)
    others = np.arange(len(matrix)) != label
    rest = table[others][:, others].sum()
    missed, wrongly = table[label, others].sum(), table[others, label].sum()
    return (float(rest), float(wrongly)), (float(missed), matrix[label][label])


def _added(a: Matrix, b: Matrix) -> Matrix:
    return tuple(
        tuple(x + y for x, y in zip(row, other, strict=True))
        for row, other in zip(a, b, strict=True)
    )


def _bins(size: int, truth: Codes, decision: Codes) -> npt.NDArray[np.int64]:
    cell = truth.astype(np.intp)
    cell *= size
    cell += decision
    return np.bincount(cell, minlength=size * size)


def _count_by_cell(
    size: int, truth: Codes, decision: Codes, counts: npt.NDArray[np.int64]
) -> Matrix:
    """Integer sums of frequency counts, each block within 64 bits, all in Python integers."""
    found = [0] * (size * size)
    for start in range(0, len(truth), BLOCK):
        rows = slice(start, start + BLOCK)
        cell = truth[rows].astype(np.intp) * size + decision[rows]
        sums = np.zeros(size * size, np.int64)
        np.add.at(sums, cell, counts[rows])
        found = [a + b for a, b in zip(found, sums.tolist(), strict=True)]
    return tuple(tuple(found[i * size : (i + 1) * size]) for i in range(size))


def _sum_by_cell(
    size: int, truth: Codes, decision: Codes, weights: npt.NDArray[np.float64]
) -> Matrix:
    sums = np.bincount(truth.astype(np.intp) * size + decision, weights, minlength=size * size)
    return _matrix(sums.reshape(size, size).tolist())
