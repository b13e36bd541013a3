"""How a grid fits into so many columns of text: what is left out, what is folded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.report.grid import Grid, Text
from assay.report.sections import Kind

GAP = 2
# Before a cell that stands out, where nothing is set in bold.
MARK = "*"
# What a column of text can be narrowed to: with ease, and at the worst.
NARROW = (24, 18)
# Words of the first column up to this long stay whole.
WHOLE = 28


@dataclass(frozen=True)
class Layout:
    """A grid that fits: how wide its columns are, and whether intervals stand below values."""

    grid: Grid
    widths: tuple[int, ...]
    folded: bool


def fitted(grid: Grid, room: int) -> Layout | None:
    """The grid as it fits; None where it does not.

    Columns of text are wrapped, optional columns go, the last of them first, and at last intervals
    are put below their values.
    """
    smallest = grid
    for narrow in NARROW:
        for kept in _smaller(grid):
            widths = widths_of(kept, room, narrow, folded=False)
            if widths is not None:
                return Layout(kept, widths, folded=False)
            smallest = kept
    widths = widths_of(smallest, room, NARROW[-1], folded=True)
    return None if widths is None else Layout(smallest, widths, folded=True)


def _smaller(grid: Grid) -> Iterator[Grid]:
    """The grid, and with ever fewer of its optional columns."""
    yield grid
    for i in reversed(range(len(grid.columns))):
        if grid.columns[i].optional:
            grid = grid.without(i)
            yield grid


def cell_text(cell: Text, *, folded: bool) -> str:
    """A cell with its interval beside or below its value."""
    between = "\n" if folded else " "
    value = f"{MARK}{cell.value}" if cell.marked else cell.value
    return f"{value}{between}{cell.interval}" if cell.interval else value


def widths_of(
    grid: Grid, room: int, narrow: int, *, folded: bool, wrapped: bool = True
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
    found = list(least)
    while spare > 0 and found != most:
        # One more for each that is short, so that no column takes all.
        for i, wanted in enumerate(most):
            if found[i] < wanted and spare > 0:
                found[i] += 1
                spare -= 1
    return tuple(found)
