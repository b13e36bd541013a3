"""Label by what was said of it, both by name: counts that add whatever names a part has seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.confusion import Confusion

Array: TypeAlias = npt.NDArray[Any]
Cell: TypeAlias = tuple[str, str]

# What is said of a row that has a score: whether it reaches the threshold.
REACHED = BELOW, FLAGGED = "below", "flagged"


@dataclass(frozen=True, eq=False)
class Crosstab:
    """How many rows of each label were said to be what; only pairs that occur are kept.

    With sampling weights ``cells`` are sums of weights and ``squares`` sums of their squares.

    >>> one = Crosstab({("attack", "attack"): 2, ("normal", "attack"): 1})
    >>> (one + Crosstab({("worm", "normal"): 3})).labels
    ('attack', 'normal', 'worm')
    """

    cells: Mapping[Cell, Any] = field(default_factory=dict)
    squares: Mapping[Cell, float] | None = None

    @classmethod
    def of_codes(
        cls,
        labels: Sequence[str],
        truth: Array,
        columns: Sequence[str],
        said: Array,
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> Crosstab:
        """Count rows given as positions in ``labels`` and in ``columns``."""
        if len(labels) * len(columns) > len(truth):
            # Few rows of many labels: those that do not occur take no time.
            labels, truth = _occurring(labels, truth)
            columns, said = _occurring(columns, said)
        size = max(len(labels), len(columns))
        square = Confusion.of_codes(
            [str(i) for i in range(size)], truth, said, counts=counts, weights=weights
        )

        def named(matrix: Sequence[Sequence[Any]]) -> dict[Cell, Any]:
            return {
                (label, column): matrix[i][j]
                for i, label in enumerate(labels)
                for j, column in enumerate(columns)
                if square.cells[i][j]
            }

        cells = _sorted(named(square.cells))
        if square.squares is None:
            return cls(cells)
        return cls(cells, _sorted(named(square.squares)))

    @staticmethod
    def merge(parts: Iterable[Crosstab]) -> Crosstab:
        """The sum of many tables."""
        full = [part for part in parts if part.cells]
        if len({part.squares is None for part in full}) > 1:
            raise TallyError("tables with and without sampling weights can't be added")
        cells = _summed([part.cells for part in full])
        if not full or full[0].squares is None:
            return Crosstab(cells)
        return Crosstab(cells, _summed([part.squares or {} for part in full]))

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

        def some(cells: Mapping[Cell, Any]) -> dict[Cell, Any]:
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

        def placed(cells: Mapping[Cell, Any]) -> tuple[tuple[Any, ...], ...]:
            zero: Any = 0 if self.squares is None else 0.0
            table = [[zero] * len(labels) for _ in labels]
            for (label, column), number in cells.items():
                table[label_at[label]][column_at(column)] += number
            return tuple(tuple(row) for row in table)

        squares = None if self.squares is None else placed(self.squares)
        return Confusion(labels, placed(self.cells), squares)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Crosstab) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        return codec.write("crosstab", {"cells": self.to_header()}, {})

    def to_header(self) -> list[Any]:
        """The table as plain values."""
        if self.squares is None:
            return [[*cell, number] for cell, number in self.cells.items()]
        return [[*cell, number, self.squares[cell]] for cell, number in self.cells.items()]


def crosstab_of(header: Sequence[Any]) -> Crosstab:
    """A table from plain values, refused unless it is canonical."""
    cells: dict[Cell, Any] = {}
    squares: dict[Cell, float] = {}
    for entry in header:
        label, column, number, *square = entry
        weighted = bool(square)
        if type(number) is not (float if weighted else int) or not 0 < number < math.inf:
            raise ValueError(f"a cell is {number!r}")
        cells[str(label), str(column)] = number
        if weighted:
            # The square of a tiny weight is zero.
            if codec.finite_number(*square) < 0:
                raise ValueError(f"a square is {square[0]!r}")
            squares[str(label), str(column)] = float(square[0])
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


def _sorted(cells: Mapping[Cell, Any]) -> dict[Cell, Any]:
    return {cell: cells[cell] for cell in sorted(cells)}


def _summed(parts: Sequence[Mapping[Cell, Any]]) -> dict[Cell, Any]:
    sums: dict[Cell, Any] = {}
    for part in parts:
        for cell, number in part.items():
            sums[cell] = sums[cell] + number if cell in sums else number
    return _sorted(sums)


def flagged(labels: Sequence[str], counts: Array) -> Crosstab:
    """The table of how many rows of each label are below the threshold, and how many reach it.

    >>> flagged(("normal", "attack"), np.array([[7, 0], [1, 2]])).cells
    {('attack', 'below'): 1, ('attack', 'flagged'): 2, ('normal', 'below'): 7}
    """
    cells = {
        (label, said): int(counts[i, j])
        for i, label in enumerate(labels)
        for j, said in enumerate(REACHED)
        if counts[i, j]
    }
    return Crosstab({cell: cells[cell] for cell in sorted(cells)})
