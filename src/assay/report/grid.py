"""The blocks of a document as rows of text cells, which every text face draws in its own way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from assay.report.document import Column, Dots, Formula, Kind, Matrix, Table
from assay.report.names import LONGEST, name
from assay.report.numbers import cell_parts, count, measured_parts
from assay.report.words import measure_name


class Text(NamedTuple):
    """A cell: its value, its interval apart from it, and its formula as a paper sets it."""

    value: str
    interval: str = ""
    formula: str = ""


# What is said of a row may be longer than its name.
LONGEST_REMARK = 200


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

    def without(self, gone: int) -> Grid:
        """The same without one column."""
        return Grid(
            self.columns[:gone] + self.columns[gone + 1 :],
            tuple(row[:gone] + row[gone + 1 :] for row in self.rows),
        )


def grid_of(block: Table | Dots | Matrix, longest: int = LONGEST) -> Grid:
    """The cells of a block as text; names longer than ``longest`` are cut."""
    if isinstance(block, Table):
        return _of_table(block, longest).filled
    return _of_dots(block, longest) if isinstance(block, Dots) else _of_matrix(block, longest)


def _of_table(table: Table, longest: int) -> Grid:
    rows = []
    for row in table.rows:
        cells = []
        for i, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
            if isinstance(cell, str):
                cells.append(remark(cell) if i else Text(name(cell, longest)))
            elif isinstance(cell, Formula):
                cells.append(Text(cell.plain, formula=cell.latex))
            else:
                cells.append(Text(*cell_parts(cell, column.kind)))
        rows.append(tuple(cells))
    return Grid(table.columns, tuple(rows))


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


def _of_matrix(matrix: Matrix, longest: int) -> Grid:
    labels = [name(label, longest) for label in matrix.labels]
    columns = (Column("truth \\ decision"), *(Column(label, Kind.COUNT) for label in labels))
    rows = tuple(
        (Text(label), *(Text(count(cell)) for cell in row))
        for label, row in zip(labels, matrix.cells, strict=True)
    )
    return Grid(columns, rows)
