"""A published table with its columns read: which hold names, which a measure, which counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.decisions.audit.keys import key_of
from assay.decisions.audit.printed import Printed, printed
from assay.decisions.audit.reading.entries import (
    Entry,
    are_counts,
    cleaned,
    entry_of,
    uses_comma,
)
from assay.decisions.audit.reading.grids import Grid
from assay.measures.headings import (
    SOME_MEAN,
    Heading,
    average_of,
    cell_of,
    heading_of,
    letter_of,
    may_count,
    squeezed,
)

_HALF = Fraction(1, 2)
_THOUSANDTHS = re.compile(r"(?:\d{1,2}|100),\d{3}\s*%?")
# A quantity of something else than rows, which is no name.
_WITH_UNIT = re.compile(
    r"[~<>]?\s*\d[\d.,:]*\s*(?:[mµun]?s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|[kmgt]i?b|[kmb]|x)\.?",
    re.IGNORECASE,
)
_SUPPORT = (
    "support", "supports", "instances", "samples", "count", "counts", "rows", "n", "records",
    "size", "total", "noofinstances", "nsamples", "testsamples", "numberofsamples",
    "numberofinstances", "ofsamples", "flows", "packets",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, the group that stands above it, and what it holds."""

    place: int
    heading: Heading
    group: str = ""
    cell: str | None = None
    support: bool = False

    @property
    def key(self) -> str | None:
        """The key of a claim without label and average."""
        return self.heading.key


@dataclass(frozen=True)
class Table:
    """A table whose columns are read."""

    grid: Grid
    names: tuple[int, ...]
    columns: tuple[Column, ...]
    unmatched: tuple[str, ...]
    comma: bool
    percent: frozenset[int]

    @property
    def measured(self) -> list[Column]:
        """The columns that hold a measure."""
        return [column for column in self.columns if column.key is not None]

    @property
    def corners(self) -> list[str]:
        """The headings of the columns of names, squeezed."""
        bottom = self.grid.rows[self.grid.headers - 1] if self.grid.rows else ()
        return [squeezed(cleaned(bottom[place])) for place in self.names]

    @property
    def leaves_signs_out(self) -> bool:
        """Whether a number without a percent sign may be a percentage all the same.

        Where headings name the columns in percent, the others are shares; only where all of a
        column lies below one half, as false positive rates do, a sign may have been forgotten.
        """
        if any(not c.heading.percent for c in self.columns if c.place in self.percent):
            return True
        others = [c for c in self.measured if c.place not in self.percent and _is_share(c)]
        return bool(self.percent) and any(map(self._is_small, others))

    def _is_small(self, column: Column) -> bool:
        return all(
            value.value < _HALF for value in _values(column, self.grid.body, comma=self.comma)
        )

    def name_of(self, row: Sequence[str]) -> str:
        """The name of a row: its texts that are no numbers."""
        parts = [cleaned(row[place]) for place in self.names if cleaned(row[place])]
        return ", ".join(dict.fromkeys(parts))

    def entry(self, row: Sequence[str], column: Column) -> Entry:
        """A cell of a measure, with its percent sign where the column has one in its heading."""
        entry = entry_of(row[column.place], comma=self.comma)
        if entry.number is None or column.place not in self.percent or "%" in entry.number:
            return entry
        ends = entry.interval
        return replace(
            entry,
            number=f"{entry.number}%",
            interval=None if ends is None else (f"{ends[0]}%", f"{ends[1]}%"),
        )


# -- columns ---------------------------------------------------------------------------------------


def table_of(grid: Grid) -> Table:
    """The table as it stands, or turned where its measures stand in the first column."""
    straight = _table(grid.even())
    if len(straight.measured) >= 2:
        return straight
    turned = _table(_with_headers(grid.even().turned()))
    return turned if len(turned.measured) > len(straight.measured) else straight


def _with_headers(grid: Grid) -> Grid:
    """The rows of headings are those before the first that holds a number."""
    for i, row in enumerate(grid.rows):
        numbers = [entry_of(cell).number is not None for cell in row[1:]]
        if i and any(numbers):
            return replace(grid, headers=i)
        if i == 0 and sum(numbers) > len(numbers) / 2:
            break
    return replace(grid, headers=1)


def _table(grid: Grid) -> Table:
    grid = _with_headers(grid)
    body = [row for row in grid.body if any(cell.strip() for cell in row)]
    bottom = grid.rows[grid.headers - 1] if grid.rows else ()
    above = [_reaching(row) for row in grid.rows[: grid.headers - 1]]
    columns, names, unmatched = [], [], []
    letters = sum(
        letter_of(text) is not None or heading_of(text).measure is not None for text in bottom
    )
    for place, text in enumerate(bottom):
        groups = [row[place] for row in above if row[place] and row[place] != text]
        column = _column(place, text, groups, letters=letters)
        held = [row[place] for row in body]
        if column is not None:
            columns.append(column)
        elif _is_name(held):
            names.append(place)
        elif any(cell.strip() for cell in held):
            why = heading_of(text).why
            unmatched.append(cleaned(text) + (f" ({why})" if why else "") or f"column {place + 1}")
    if not names and columns and columns[0].place > 0:
        names = [0]
        unmatched = unmatched[1:]
    numbers = [row[column.place] for row in body for column in columns]
    grid = replace(grid, rows=(*grid.rows[: grid.headers], *body))
    comma = uses_comma(numbers) or _in_thousandths(columns, body, numbers)
    counts = [column for column in columns if _are_counts(column, body, comma=comma)]
    columns = [column for column in columns if column not in counts]
    unmatched += [f"{cleaned(c.heading.text)} (its numbers are counts)" for c in counts]
    percent = frozenset(
        column.place for column in columns if column.key and _in_percent(column, body, comma=comma)
    )
    return Table(grid, tuple(names), tuple(columns), tuple(unmatched), comma, percent)


def _reaching(row: Sequence[str]) -> tuple[str, ...]:
    """A row of headings in which each reaches over the empty cells behind it, but for the first."""
    found: list[str] = []
    for place, cell in enumerate(row):
        reaches = not cell and place > 1 and found[-1] != row[0]
        found.append(found[-1] if reaches else cell)
    return tuple(found)


def _column(place: int, text: str, groups: Sequence[str], *, letters: int) -> Column | None:
    group = " ".join(dict.fromkeys(map(cleaned, groups)))
    shown = cleaned(text)
    if cell_of(shown):
        return Column(place, Heading(shown), group, cell=cell_of(shown))
    if squeezed(shown) in _SUPPORT:
        return Column(place, Heading(shown), group, support=True)
    heading = heading_of(shown)
    if heading.key is None and letters > 1 and letter_of(shown):
        heading = replace(heading, key=letter_of(shown))
    if heading.key is None and group and not heading.why:
        # The measure may stand above, the average or the label below: F1 over macro, weighted.
        over, average = heading_of(group), average_of(shown)
        if over.key is not None:
            known = average if average != SOME_MEAN else None
            label = None if average else shown
            heading = replace(over, text=text, average=known, label=label)
            group = ""
    return None if heading.key is None else Column(place, heading, group)


def _is_name(held: Sequence[str]) -> bool:
    """Whether a column names rows: most of it is text."""
    shown = [cleaned(cell) for cell in held if cell.strip()]
    texts = [cell for cell in shown if entry_of(cell).odd and not _WITH_UNIT.fullmatch(cell)]
    return bool(shown) and len(texts) >= len(shown) / 2


def _in_percent(column: Column, body: Sequence[Sequence[str]], *, comma: bool) -> bool:
    """Whether a column is in percent: its heading says so, or a number of it is beyond 1.

    A column has one scale, so one such number tells it of all; only of measures that end at 1.
    """
    if not _is_share(column):
        return False
    if column.heading.percent:
        return True
    values = _values(column, body, comma=comma)
    return any(not value.percent and abs(value.value) > 1 for value in values)


def _in_thousandths(
    columns: Sequence[Column], body: Sequence[Sequence[str]], numbers: Sequence[str]
) -> bool:
    """Whether some share has only cells such as 96,698, which is no count; none has a point."""
    shares = [column for column in columns if column.key and _is_share(column)]
    held = [
        [cleaned(row[c.place]) for row in body] for c in shares if not may_count(c.heading.text)
    ]
    whole = [cells for cells in held if all(map(_THOUSANDTHS.fullmatch, cells))]
    return bool(whole) and not any("." in cell for cell in numbers)


def _are_counts(column: Column, body: Sequence[Sequence[str]], *, comma: bool) -> bool:
    """Whether the heading of a share has counts of rows under it."""
    if column.key is None or column.heading.percent or not _is_share(column):
        return False
    cells = [row[column.place] for row in body]
    return are_counts(cells, may_count=may_count(column.heading.text), comma=comma)


def _is_share(column: Column) -> bool:
    return key_of(column.key or "").bounded


def _values(column: Column, body: Sequence[Sequence[str]], *, comma: bool) -> list[Printed]:
    numbers = [entry_of(row[column.place], comma=comma).number for row in body]
    return [printed(number) for number in numbers if number is not None]
