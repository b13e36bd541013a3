"""What was true against what was decided: the confusion matrix, by place and by name.

Labels of a :class:`Confusion` have their places; those of a :class:`Crosstab` have names alone, so
that tables add whatever names a part has seen.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally import codec
from assay.v02.tally.blocks import BLOCK, map_blocks
from assay.v02.tally.weight_sums import WeightSum, exact_sum, sum_of, sums_by_cell

Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
Cells: TypeAlias = dict[str, Any]
Matrix: TypeAlias = tuple[tuple[Any, ...], ...]

# Counts of rows add up to less than this, so that 64 bits hold every sum of them.
LIMIT = 1 << 62
TOO_MANY = "counts add up to 2^62 or more, which is more than can be counted here"


@dataclass(frozen=True)
class Confusion:
    """K x K counts, rows are the truth; a binary one has the negative label first.

    Counts are Python integers, exact at any size. Where rows carry sampling weights, the cells are
    sums of weights, exact until they are read as floats, and ``squares`` those of their squares,
    which the variance needs.

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
            cells = truth.astype(np.intp) * size + decision
            sums = (sums_by_cell(each, cells, size * size) for each in (weights, weights**2))
            return cls(tuple(labels), *(_square(each, size) for each in sums))
        if counts is not None:
            return cls(tuple(labels), _count_by_cell(size, truth, decision, counts))
        counted = sum(
            map_blocks(len(truth), lambda: lambda i, j: _bins(size, truth[i:j], decision[i:j])),
            np.zeros(size * size, np.int64),
        )
        return cls(tuple(labels), _matrix(counted.reshape(size, size).tolist()))

    def __add__(self, other: Confusion) -> Confusion:
        if not isinstance(other, Confusion):
            return NotImplemented
        if self.labels != other.labels:
            raise TallyError(
                f"confusion matrices of unlike labels can't be added: {list(self.labels)} and "
                f"{list(other.labels)}"
            )
        if self.squares is None and other.squares is None:
            return Confusion(self.labels, _matrix_sum(self.cells, other.cells, operator.add))
        sums = [(self.cells, other.cells), (self._squares(), other._squares())]
        return Confusion(self.labels, *(_matrix_sum(*both, _exact_pair) for both in sums))

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
        return codec.write("confusion", self.to_header(), {}, schema=self.schema)

    def to_header(self) -> dict[str, Any]:
        """The table as plain values, for records that hold many."""
        if self.squares is None:
            return {"labels": self.labels, "cells": self.cells, "squares": None}
        cells, squares = (
            [[_plain_number(number) for number in row] for row in matrix]
            for matrix in (self.cells, self.squares)
        )
        return {"labels": self.labels, "cells": cells, "squares": squares}

    @property
    def schema(self) -> int:
        """The schema of its bytes: the second holds sums that are no floats."""
        return _schema(number for row in (*self.cells, *(self.squares or ())) for number in row)


@codec.reads("confusion")
def confusion_of(header: Mapping[str, Any], _: Mapping[str, Any]) -> Confusion:
    """A table from its plain values."""
    labels = tuple(str(label) for label in header["labels"])
    cells, squares = header["cells"], header["squares"]
    if squares is not None:
        return Confusion(labels, *(tuple(map(_sums_of, each)) for each in (cells, squares)))
    for cell in (cell for row in cells for cell in row):
        number = isinstance(cell, int | float) and not isinstance(cell, bool)
        if not number or not 0 <= cell < math.inf:
            raise ValueError(f"a cell is {cell!r}")
    return Confusion(labels, _matrix(cells))


def _sums_of(row: Sequence[Any]) -> tuple[WeightSum, ...]:
    return tuple(sum_of(cell) for cell in row)


def _plain_number(number: Any) -> Any:
    """A count or a sum of weights as JSON keeps it."""
    return number.to_header() if isinstance(number, WeightSum) else number


def _schema(numbers: Iterable[Any]) -> int:
    return 2 if any(isinstance(_plain_number(number), list) for number in numbers) else codec.SCHEMA


def _exact_pair(one: float, other: float) -> WeightSum:
    return exact_sum((one, other))


def _matrix(rows: Sequence[Sequence[Any]]) -> Matrix:
    return tuple(tuple(row) for row in rows)


def _collapsed(matrix: Matrix, label: int) -> Matrix:
    """One label against the rest; weights are added, never subtracted, which would cancel."""
    table = np.array(matrix, np.float64)
    others = np.arange(len(matrix)) != label
    true_negatives = table[others][:, others].sum()
    missed, wrongly = table[label, others].sum(), table[others, label].sum()
    return (float(true_negatives), float(wrongly)), (float(missed), matrix[label][label])


def _matrix_sum(a: Matrix, b: Matrix, add: Callable[[Any, Any], Any]) -> Matrix:
    return tuple(
        tuple(add(x, y) for x, y in zip(row, other, strict=True))
        for row, other in zip(a, b, strict=True)
    )


def _square(cells: Sequence[Any], size: int) -> Matrix:
    return tuple(tuple(cells[i * size : (i + 1) * size]) for i in range(size))


def _bins(size: int, truth: Codes, decision: Codes) -> npt.NDArray[np.int64]:
    cell = truth.astype(np.intp)
    cell *= size
    cell += decision
    return np.bincount(cell, minlength=size * size)


def _count_by_cell(
    size: int, truth: Codes, decision: Codes, counts: npt.NDArray[np.int64]
) -> Matrix:
    """Integer sums of frequency counts, each block within 64 bits, all in Python integers."""
    totals = [0] * (size * size)
    for start in range(0, len(truth), BLOCK):
        rows = slice(start, start + BLOCK)
        cell = truth[rows].astype(np.intp) * size + decision[rows]
        sums = np.zeros(size * size, np.int64)
        np.add.at(sums, cell, counts[rows])
        totals = [a + b for a, b in zip(totals, sums.tolist(), strict=True)]
    return _square(totals, size)


# -- by name ---------------------------------------------------------------------------------------

Array: TypeAlias = npt.NDArray[Any]
NamedCell: TypeAlias = tuple[str, str]

# What is said of a row that has a score: whether it reaches the threshold.
REACHED = BELOW, FLAGGED = "below", "flagged"


@dataclass(frozen=True)
class Crosstab:
    """How many rows of each label were said to be what; only pairs that occur are kept.

    With sampling weights ``cells`` are sums of weights and ``squares`` sums of their squares.

    >>> one = Crosstab({("attack", "attack"): 2, ("normal", "attack"): 1})
    >>> (one + Crosstab({("worm", "normal"): 3})).labels
    ('attack', 'normal', 'worm')
    """

    cells: Mapping[NamedCell, Any] = field(default_factory=dict)
    squares: Mapping[NamedCell, float] | None = None

    @classmethod
    def of_codes(
        cls,
        labels: Sequence[str],
        truth: Array,
        columns: Sequence[str],
        decided: Array,
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Crosstab:
        """Count rows given as positions in ``labels`` and in ``columns``."""
        if len(labels) * len(columns) > len(truth):
            # Few rows of many labels: those that do not occur take no time.
            labels, truth = _occurring(labels, truth)
            columns, decided = _occurring(columns, decided)
        size = max(len(labels), len(columns))
        square = Confusion.of_codes(
            [str(i) for i in range(size)], truth, decided, counts=counts, weights=weights
        )

        def named(matrix: Sequence[Sequence[Any]]) -> dict[NamedCell, Any]:
            return {
                (label, column): matrix[i][j]
                for i, label in enumerate(labels)
                for j, column in enumerate(columns)
                if square.cells[i][j]
            }

        cells = _sorted_cells(named(square.cells))
        if square.squares is None:
            return cls(cells)
        return cls(cells, _sorted_cells(named(square.squares)))

    @staticmethod
    def merge(parts: Iterable[Crosstab]) -> Crosstab:
        """The sum of many tables."""
        full = [part for part in parts if part.cells]
        if len({part.squares is None for part in full}) > 1:
            raise TallyError("tables with and without sampling weights can't be added")
        if not full or full[0].squares is None:
            return Crosstab(_sum_of_cells([part.cells for part in full], sum))
        squares = [part.squares or {} for part in full]
        return Crosstab(
            _sum_of_cells([part.cells for part in full], exact_sum),
            _sum_of_cells(squares, exact_sum),
        )

    def __add__(self, other: Crosstab) -> Crosstab:
        if not isinstance(other, Crosstab):
            return NotImplemented
        return Crosstab.merge([self, other])

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that have rows, sorted."""
        return tuple(sorted({label for label, _ in self.cells}))

    def of_labels(self, kept: Callable[[str], bool]) -> Crosstab:
        """The rows of some labels alone."""

        def some(cells: Mapping[NamedCell, Any]) -> dict[NamedCell, Any]:
            return {cell: number for cell, number in cells.items() if kept(cell[0])}

        return Crosstab(some(self.cells), None if self.squares is None else some(self.squares))

    def placed(self, labels: Sequence[str], label_at: Mapping[str, int]) -> Crosstab:
        """The table in which each label stands for another, perhaps together with others."""
        return Crosstab.merge(
            Crosstab(
                {(labels[label_at[label]], column): number},
                None if self.squares is None else {(labels[label_at[label]], column): square},
            )
            for (label, column), number in self.cells.items()
            for square in [0.0 if self.squares is None else self.squares[label, column]]
        )

    def confusion(
        self,
        labels: tuple[str, ...],
        label_at: Mapping[str, int],
        column_at: Callable[[str], int],
    ) -> Confusion:
        """The confusion matrix in which each label and each thing said has its place."""

        def placed(
            cells: Mapping[NamedCell, Any], add: Callable[[Iterable[Any]], Any]
        ) -> tuple[tuple[Any, ...], ...]:
            table: list[list[list[Any]]] = [[[] for _ in labels] for _ in labels]
            for (label, column), number in cells.items():
                table[label_at[label]][column_at(column)].append(number)
            return tuple(tuple(add(numbers) for numbers in row) for row in table)

        if self.squares is None:
            return Confusion(labels, placed(self.cells, sum))
        return Confusion(labels, placed(self.cells, exact_sum), placed(self.squares, exact_sum))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Crosstab) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        return codec.write("crosstab", {"cells": self.to_header()}, {}, schema=self.schema)

    @property
    def schema(self) -> int:
        """The schema of its bytes: the second holds sums that are no floats."""
        return _schema((*self.cells.values(), *(self.squares or {}).values()))

    def to_header(self) -> list[Any]:
        """The table as plain values."""
        if self.squares is None:
            return [[*cell, number] for cell, number in self.cells.items()]
        return [
            [*cell, _plain_number(number), _plain_number(self.squares[cell])]
            for cell, number in self.cells.items()
        ]


def crosstab_of(header: Sequence[Any]) -> Crosstab:
    """A table from plain values, refused unless it is canonical."""
    cells: dict[NamedCell, Any] = {}
    squares: dict[NamedCell, float] = {}
    for entry in header:
        label, column, number, *square = entry
        cell = str(label), str(column)
        if square:
            # The square of a tiny weight is zero.
            cells[cell], squares[cell] = sum_of(number), sum_of(*square)
        elif type(number) is int:
            cells[cell] = number
        else:
            raise ValueError(f"a cell is {number!r}")
        if not cells[cell] > 0:
            raise ValueError(f"a cell is {number!r}")
    if list(cells) != sorted(cells) or len(cells) != len(header):
        raise ValueError("cells are not in order")
    if squares and len(squares) != len(cells):
        raise ValueError("some cells have weights and some have none")
    return Crosstab(cells, squares or None)


@codec.reads("crosstab")
def table_of(header: Mapping[str, Any], _: Mapping[str, Array]) -> Crosstab:
    """A table from its header."""
    return crosstab_of(header["cells"])


def _occurring(names: Sequence[str], codes: Array) -> tuple[list[str], Array]:
    """The names that some row has, and the positions in them."""
    kept, codes = np.unique(codes, return_inverse=True)
    return [names[i] for i in kept], codes


def _sorted_cells(cells: Mapping[NamedCell, Any]) -> dict[NamedCell, Any]:
    return {cell: cells[cell] for cell in sorted(cells)}


def _sum_of_cells(
    parts: Sequence[Mapping[NamedCell, Any]], add: Callable[[Iterable[Any]], Any]
) -> dict[NamedCell, Any]:
    numbers: dict[NamedCell, list[Any]] = {}
    for part in parts:
        for cell, number in part.items():
            numbers.setdefault(cell, []).append(number)
    return {cell: add(numbers[cell]) for cell in sorted(numbers)}


def flagged(labels: Sequence[str], counts: Array) -> Crosstab:
    """The table of how many rows of each label are below the threshold, and how many reach it.

    >>> flagged(("normal", "attack"), np.array([[7, 0], [1, 2]])).cells
    {('attack', 'below'): 1, ('attack', 'flagged'): 2, ('normal', 'below'): 7}
    """
    cells = {
        (label, answer): int(counts[i, j])
        for i, label in enumerate(labels)
        for j, answer in enumerate(REACHED)
        if counts[i, j]
    }
    return Crosstab(_sorted_cells(cells))
