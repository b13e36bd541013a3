"""The blocks of a document as rows of text cells, which every text face draws in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.report.names import LONGEST, name
from assay.report.numbers import (
    cell_parts,
    count,
    difference_parts,
    even_decimals,
    even_parts,
    measured_parts,
)
from assay.report.sections import (
    Bare,
    Column,
    Dots,
    Forest,
    Formula,
    Kind,
    Marked,
    Matrix,
    Outcome,
    Table,
)
from assay.report.strip import span_of, strips_of
from assay.report.words import measure_name


class Text(NamedTuple):
    """A cell: its value, its interval apart from it, its formula as a paper sets it, its mark."""

    value: str
    interval: str = ""
    formula: str = ""
    marked: bool = False


# What is said of a row may be longer than its name.
LONGEST_REMARK = 500


@dataclass(frozen=True)
class Grid:
    """A table as text; the first column names the rows."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]

    @property
    def filled(self) -> Grid:
        """The same without columns in which no row has anything."""
        grid = self
        for i in reversed(range(1, len(self.columns))):
            if not any(any(row[i]) for row in self.rows):
                grid = grid.without(i)
        return grid

    @property
    def outlined(self) -> Grid:
        """The same without columns that are a detail."""
        grid = self
        for i in reversed(range(len(self.columns))):
            if self.columns[i].detail:
                grid = grid.without(i)
        return grid

    def without(self, gone: int) -> Grid:
        """The same without one column."""
        return Grid(
            self.columns[:gone] + self.columns[gone + 1 :],
            tuple(row[:gone] + row[gone + 1 :] for row in self.rows),
        )


def grid_of(
    block: Table | Dots | Forest | Matrix,
    longest: int = LONGEST,
    *,
    drawn: bool = False,
    even: bool = False,
) -> Grid:
    """The cells of a block as text; names longer than ``longest`` are cut.

    ``drawn`` adds what can be drawn in characters of one width; ``even`` gives all numbers of a
    column as many decimals.
    """
    match block:
        case Table():
            grid = _of_table(block, longest)
            return (_evened(grid, block) if even else grid).filled
        case Dots():
            grid = _of_dots(block, longest)
            cells = [dot.estimate for dot in block.dots]
            return _with_even(grid, 1, cells + [block.whole] * (block.whole is not None), even=even)
        case Forest():
            grid = _of_forest(block, longest, drawn=drawn)
            cells = [change.difference for change in block.changes]
            return _with_even(grid, 1, cells, even=even).filled
        case Matrix():
            return _of_matrix(block, longest)


def _of_table(table: Table, longest: int) -> Grid:
    rows = []
    for row in table.rows:
        cells = []
        for i, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
            bare = cell.cell if isinstance(cell, Marked) else cell
            text = _text(bare, column.kind, longest, first=i == 0)
            cells.append(text._replace(marked=True) if isinstance(cell, Marked) else text)
        rows.append(tuple(cells))
    return Grid(table.columns, tuple(rows))


def _evened(grid: Grid, table: Table) -> Grid:
    for i, column in enumerate(table.columns):
        if column.kind in (Kind.SHARE, Kind.DAILY, Kind.DIFFERENCE, Kind.P_VALUE):
            column_cells = [row[i] for row in table.rows]
            bare = [cell.cell if isinstance(cell, Marked) else cell for cell in column_cells]
            grid = _with_even(grid, i, bare, even=True)
    return grid


def _with_even(grid: Grid, i: int, cells: Sequence[Bare | Marked], *, even: bool) -> Grid:
    """The grid with as many decimals in every number of one column; text stays as it is."""
    if not even:
        return grid
    kind = grid.columns[i].kind
    numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
    decimals = even_decimals(numbers, kind)
    rows = []
    for row, cell in zip(grid.rows, cells, strict=True):
        found = row[i]
        if isinstance(cell, int | float):
            value, interval = even_parts(cell, kind, decimals)
            found = found._replace(value=value, interval=interval)
        rows.append((*row[:i], found, *row[i + 1 :]))
    return Grid(grid.columns, tuple(rows))


def _text(cell: Bare, kind: Kind, longest: int, *, first: bool) -> Text:
    if isinstance(cell, str):
        return Text(name(cell, longest)) if first else remark(cell)
    if isinstance(cell, Formula):
        return Text(cell.plain, formula=cell.latex)
    return Text(*cell_parts(cell, kind))


def remark(text: str) -> Text:
    """What is said of a row, nothing where that is nothing."""
    return Text(name(text, LONGEST_REMARK) if text else "")


def _of_dots(dots: Dots, longest: int) -> Grid:
    """Slices as rows, all rows together last."""
    columns = (
        Column(name(dots.column, longest)),
        Column(measure_name(dots.measure.name), Kind.SHARE),
        Column("of how many"),
    )
    rows = [
        (Text(name(dot.name, longest)), Text(*measured_parts(dot.estimate)), remark(dot.remark))
        for dot in dots.dots
    ]
    if dots.whole is not None:
        rows.append((Text("all rows"), Text(*measured_parts(dots.whole)), Text("")))
    return Grid(columns, tuple(rows))


def _of_forest(forest: Forest, longest: int, *, drawn: bool) -> Grid:
    low, high = span_of(forest)
    columns = (
        Column(name(forest.column, longest)),
        Column("difference", Kind.DIFFERENCE),
        Column(f"{low:+.2g} to {high:+.2g}", Kind.DRAWING, optional=True),
        Column("told"),
        Column("remark"),
    )
    strips = strips_of(forest) if drawn else [""] * len(forest.changes)
    rows = []
    for change, strip in zip(forest.changes, strips, strict=True):
        outcome = change.outcome(forest.margin)
        told = Text("" if outcome is Outcome.UNDEFINED else outcome.value)
        called = Text(name(change.name, longest))
        value = Text(*difference_parts(change.difference))
        rows.append((called, value, Text(strip), told, remark(change.remark)))
    return Grid(columns, tuple(rows))


def _of_matrix(matrix: Matrix, longest: int) -> Grid:
    labels = [name(label, longest) for label in matrix.labels]
    columns = (Column("truth \\ decision"), *(Column(label, Kind.COUNT) for label in labels))
    rows = tuple(
        (Text(label), *(Text(count(cell)) for cell in row))
        for label, row in zip(labels, matrix.cells, strict=True)
    )
    return Grid(columns, rows)
