"""The blocks of a document as rows of text cells, which every text face draws in its own way.

Here they are also fitted into so many columns, and a forest plot is drawn in characters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.v02.escaping import LONGEST, name
from assay.v02.inference import Estimate
from assay.v02.number_text import (
    LEAST,
    UNDEFINED,
    bound_text,
    count,
    daily_parts,
    difference_parts,
    difference_span,
    even,
    even_p_value,
    fixed,
    measured_parts,
    p_value,
    plain_number,
)
from assay.v02.report.sections import (
    BOUND,
    Bare,
    Cell,
    Column,
    DifferenceOutcome,
    Dots,
    ForestPlot,
    Formula,
    Kind,
    Marked,
    Matrix,
    Rank,
    Table,
    measure_name,
)

# No column of a paper's table has more decimals than this.
_EVEN = 5


class TextCell(NamedTuple):
    """A cell: its value, its interval apart from it, its formula as a paper sets it, its mark."""

    value: str
    interval: str = ""
    formula: str = ""
    marked: bool = False


# What is said of a row may be longer than its name.
LONGEST_REMARK = 500


@dataclass(frozen=True)
class TextGrid:
    """A table as text; the first column names the rows."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[TextCell, ...], ...]

    @property
    def filled(self) -> TextGrid:
        """The same without columns in which no row has anything."""
        grid = self
        for i in reversed(range(1, len(self.columns))):
            if not any(any(row[i]) for row in self.rows):
                grid = grid.without(i)
        return grid

    @property
    def outlined(self) -> TextGrid:
        """The same without columns that are a detail."""
        grid = self
        for i in reversed(range(len(self.columns))):
            if self.columns[i].detail:
                grid = grid.without(i)
        return grid

    def without(self, gone: int) -> TextGrid:
        """The same without one column."""
        return TextGrid(
            self.columns[:gone] + self.columns[gone + 1 :],
            tuple(row[:gone] + row[gone + 1 :] for row in self.rows),
        )


def grid_of(
    block: Table | Dots | ForestPlot | Matrix,
    longest: int = LONGEST,
    *,
    drawn: bool = False,
    even: bool = False,
) -> TextGrid:
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
        case ForestPlot():
            grid = _of_forest(block, longest, drawn=drawn)
            cells = [change.difference for change in block.changes]
            return _with_even(grid, 1, cells, even=even).filled
        case Matrix():
            return _of_matrix(block, longest)


def _of_table(table: Table, longest: int) -> TextGrid:
    rows = []
    for row in table.rows:
        cells = []
        for i, (cell, column) in enumerate(zip(row, table.columns, strict=True)):
            bare = cell.cell if isinstance(cell, Marked) else cell
            text = _text(bare, column.kind, longest, first=i == 0)
            cells.append(text._replace(marked=True) if isinstance(cell, Marked) else text)
        rows.append(tuple(cells))
    return TextGrid(table.columns, tuple(rows))


def _evened(grid: TextGrid, table: Table) -> TextGrid:
    for i, column in enumerate(table.columns):
        if column.kind in (Kind.SHARE, Kind.DAILY, Kind.DIFFERENCE, Kind.P_VALUE):
            column_cells = [row[i] for row in table.rows]
            bare = [cell.cell if isinstance(cell, Marked) else cell for cell in column_cells]
            grid = _with_even(grid, i, bare, even=True)
    return grid


def _with_even(grid: TextGrid, i: int, cells: Sequence[Bare | Marked], *, even: bool) -> TextGrid:
    """The grid with as many decimals in every number of one column; text stays as it is."""
    if not even:
        return grid
    kind = grid.columns[i].kind
    numbers = [c for c in cells if isinstance(c, int | float) and not isinstance(c, bool)]
    decimals = even_decimals(numbers, kind)
    rows = []
    for row, cell in zip(grid.rows, cells, strict=True):
        text = row[i]
        if isinstance(cell, int | float):
            value, interval = even_parts(cell, kind, decimals)
            text = text._replace(value=value, interval=interval)
        rows.append((*row[:i], text, *row[i + 1 :]))
    return TextGrid(grid.columns, tuple(rows))


def _text(cell: Bare, kind: Kind, longest: int, *, first: bool) -> TextCell:
    if isinstance(cell, str):
        return TextCell(name(cell, longest)) if first else remark(cell)
    if isinstance(cell, Formula):
        return TextCell(cell.plain, formula=cell.latex)
    return TextCell(*cell_parts(cell, kind))


def remark(text: str) -> TextCell:
    """What is said of a row, nothing where that is nothing."""
    return TextCell(name(text, LONGEST_REMARK) if text else "")


def _of_dots(dots: Dots, longest: int) -> TextGrid:
    """Slices as rows, all rows together last."""
    columns = (
        Column(name(dots.column, longest)),
        Column(measure_name(dots.measure.name), Kind.SHARE),
        Column("of how many"),
    )
    rows = [
        (
            TextCell(name(dot.name, longest)),
            TextCell(*measured_parts(dot.estimate)),
            remark(dot.remark),
        )
        for dot in dots.dots
    ]
    if dots.whole is not None:
        rows.append((TextCell("all rows"), TextCell(*measured_parts(dots.whole)), TextCell("")))
    return TextGrid(columns, tuple(rows))


def _of_forest(forest: ForestPlot, longest: int, *, drawn: bool) -> TextGrid:
    low, high = span_of(forest)
    columns = (
        Column(name(forest.column, longest)),
        Column("difference", Kind.DIFFERENCE),
        Column(difference_span(low, high), Kind.DRAWING, optional=True),
        BOUND,
        Column("told"),
        Column("remark"),
    )
    strips = strips_of(forest) if drawn else [""] * len(forest.changes)
    rows = []
    for change, strip in zip(forest.changes, strips, strict=True):
        outcome = change.outcome(forest.margin)
        verdict = TextCell("" if outcome is DifferenceOutcome.UNDEFINED else outcome.value)
        called = TextCell(name(change.name, longest))
        value = TextCell(*difference_parts(change.difference))
        bound = TextCell(bound_text(change.difference.bound))
        rows.append((called, value, TextCell(strip), bound, verdict, remark(change.remark)))
    return TextGrid(columns, tuple(rows))


def _of_matrix(matrix: Matrix, longest: int) -> TextGrid:
    labels = [name(label, longest) for label in matrix.labels]
    columns = (Column("truth \\ decision"), *(Column(label, Kind.COUNT) for label in labels))
    rows = tuple(
        (TextCell(label), *(TextCell(count(cell)) for cell in row))
        for label, row in zip(labels, matrix.cells, strict=True)
    )
    return TextGrid(columns, rows)


# -- a forest plot in characters -------------------------------------------------------------------

# Intervals on a line, a mark at 0, and the margin around it.
WIDTH = 19
ZERO, BAND, RANGE, CROSSED, TOLD, OPEN = "│", "·", "─", "┼", "●", "○"


def span_of(forest: ForestPlot) -> tuple[float, float]:
    """The ends of what is drawn: 0, all intervals, and the margin where it is not far away."""
    ends = [0.0]
    for change in forest.changes:
        difference = change.difference
        ends += [
            end
            for end in (float(difference), difference.low, difference.high)
            if math.isfinite(end)
        ]
    low, high = min(ends), max(ends)
    if forest.margin is not None:
        reach = min(forest.margin, 2 * max(high, -low) or forest.margin)
        low, high = min(low, -reach), max(high, reach)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    room = (high - low) / (WIDTH - 1)
    return low - room / 2, high + room / 2


def strips_of(forest: ForestPlot) -> list[str]:
    """One line of characters for each change."""
    low, high = span_of(forest)

    def at(number: float) -> int:
        share = (number - low) / (high - low)
        return min(max(int(share * WIDTH), 0), WIDTH - 1)

    blank = [" "] * WIDTH
    if forest.margin is not None:
        for i in range(at(-forest.margin), at(forest.margin) + 1):
            blank[i] = BAND
    blank[at(0)] = ZERO
    lines = []
    for change in forest.changes:
        line, difference = list(blank), change.difference
        if math.isfinite(difference.low) and math.isfinite(difference.high):
            for i in range(at(difference.low), at(difference.high) + 1):
                line[i] = CROSSED if i == at(0) else RANGE
        if math.isfinite(difference):
            line[at(difference)] = OPEN if change.outcome() is DifferenceOutcome.OPEN else TOLD
        lines.append("".join(line))
    return lines


# -- how a grid fits into so many columns of text --------------------------------------------------


GAP = 2
# Before a cell that stands out, where nothing is set in bold.
MARK = "*"
# What a column of text can be narrowed to: with ease, and at the worst.
NARROW = (24, 18)
# Words of the first column up to this long stay whole.
WHOLE = 28


@dataclass(frozen=True)
class TextLayout:
    """A grid that fits: how wide its columns are, and whether intervals stand below values."""

    grid: TextGrid
    widths: tuple[int, ...]
    folded: bool


def fitted(grid: TextGrid, room: int) -> TextLayout | None:
    """The grid as it fits; None where it does not.

    Columns of text are wrapped, optional columns go, the last of them first, and at last intervals
    are put below their values.
    """
    smallest = grid
    for narrow in NARROW:
        for smaller in _smaller(grid):
            widths = widths_of(smaller, room, narrow, folded=False)
            if widths is not None:
                return TextLayout(smaller, widths, folded=False)
            smallest = smaller
    widths = widths_of(smallest, room, NARROW[-1], folded=True)
    return None if widths is None else TextLayout(smallest, widths, folded=True)


def _smaller(grid: TextGrid) -> Iterator[TextGrid]:
    """The grid, and with ever fewer of its optional columns."""
    yield grid
    for i in reversed(range(len(grid.columns))):
        if grid.columns[i].optional:
            grid = grid.without(i)
            yield grid


def cell_text(cell: TextCell, *, folded: bool) -> str:
    """A cell with its interval beside or below its value."""
    between = "\n" if folded else " "
    value = f"{MARK}{cell.value}" if cell.marked else cell.value
    return f"{value}{between}{cell.interval}" if cell.interval else value


def widths_of(
    grid: TextGrid, room: int, narrow: int, *, folded: bool, wrapped: bool = True
) -> tuple[int, ...] | None:
    """The width of each column, where all fit; columns of text share what is left.

    ``narrow`` is what a column of text can be narrowed to, ``wrapped`` whether heads may be.
    """
    from rich.cells import cell_len

    least, most = [], []
    for i, column in enumerate(grid.columns):
        lines = [line for row in grid.rows for line in cell_text(row[i], folded=folded).split("\n")]
        widest = max(map(cell_len, lines), default=0)
        heads = column.name.split() if wrapped else [column.name]
        head = max(map(cell_len, heads), default=0)
        needed = min(widest, narrow) if column.kind is Kind.TEXT else widest
        if i == 0:
            # What a row is called is not broken within a word.
            words = [word for line in lines for word in line.split()]
            needed = max(needed, min(max(map(cell_len, words), default=0), WHOLE))
        least.append(max(needed, head))
        most.append(max(widest, cell_len(column.name)))
    spare = room - sum(least) - GAP * (len(least) - 1)
    if spare < 0:
        return None
    widths = list(least)
    while spare > 0 and widths != most:
        # One more for each that is short, so that no column takes all.
        for i, wanted in enumerate(most):
            if widths[i] < wanted and spare > 0:
                widths[i] += 1
                spare -= 1
    return tuple(widths)


# -- how cells are written -------------------------------------------------------------------------


def cell_parts(cell: Cell, kind: Kind) -> tuple[str, str]:
    """A cell of a table as its value and its interval."""
    if isinstance(cell, Marked):
        cell = cell.cell
    if cell is None:
        return "", ""
    if isinstance(cell, str | Formula):
        return (cell if isinstance(cell, str) else cell.plain), ""
    if isinstance(cell, Rank):
        return fixed(cell, LEAST), ""
    if kind is Kind.DAILY:
        return daily_parts(cell)
    if kind is Kind.P_VALUE:
        return p_value(cell), ""
    if kind is Kind.DIFFERENCE:
        return difference_parts(cell)
    if isinstance(cell, Estimate):
        return measured_parts(cell)
    return (count(cell) if kind is Kind.COUNT else plain_number(cell)), ""


def even_parts(number: float, kind: Kind, decimals: int) -> tuple[str, str]:
    """A number and its interval with so many decimals, as all of its column have them.

    >>> even_parts(Estimate(1, 0.715, 1), Kind.SHARE, 3), even_parts(0.0125, Kind.DIFFERENCE, 2)
    (('1.000', '[0.715, 1.000]'), ('+0.01', ''))
    >>> even_parts(0.000001, Kind.SHARE, 3), even_parts(Estimate(0.9, 1e-7, 0.99999), Kind.SHARE, 2)
    (('<0.001', ''), ('0.90', '[<0.01, >0.99]'))
    """
    if math.isnan(number):
        return UNDEFINED, ""
    if kind is Kind.P_VALUE:
        return even_p_value(number, decimals), ""
    signed = kind is Kind.DIFFERENCE
    value = even(float(number), decimals, signed=signed)
    if not isinstance(number, Estimate) or math.isnan(number.low):
        return value, ""
    ends = ", ".join(even(end, decimals, signed=signed) for end in (number.low, number.high))
    return value, f"[{ends}]"


def even_decimals(cells: Iterable[float], kind: Kind) -> int:
    """The fewest decimals that serve every number of a column, up to five.

    >>> even_decimals([0.5, Estimate(0.97, 0.9694, 0.9697)], Kind.SHARE)
    4
    """
    texts = [text for cell in cells for text in cell_parts(cell, kind)]
    digits = (len(part) for text in texts for part in re.findall(r"\.(\d+)", text))
    return min(max(digits, default=0), _EVEN)
