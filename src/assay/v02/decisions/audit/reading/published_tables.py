r"""A published table read: its cells without decoration, and what each column holds.

A column holds names, a measure or counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from assay.v02.decisions.audit.claim import key_of
from assay.v02.decisions.audit.reading.grids import TextTable
from assay.v02.decisions.audit.verdicts import Printed, printed
from assay.errors import InputError
from assay.v02.measures.catalogue import (
    SOME_MEAN,
    Heading,
    average_of,
    cell_of,
    heading_of,
    letter_of,
    may_count,
    squeezed,
)

MISSING = frozenset(
    {"", "-", "--", "---", "n/a", "na", "nan", "none", "null", "n.a.", "x", "?", "...", "/"}
)
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_MARKS = re.compile(
    r"[*†‡§¶#\u2020\u2021\u2191\u2193\u25b2\u25bc✓]+|\[\d+(?:,\s*\d+)*\]|\^\{?\w\}?"
)
_EMPHASIS = re.compile(
    r"</?(?:b|i|u|em|strong|sub|mark)>|<sup>[^<]*+(?:<(?!/?sup>)[^<]*+)*+</sup>|`|~~|__"
)
_RAISED = re.compile(r"[\u00b2\u00b3\u00b9\u2070-\u207f\u1d43-\u1d9c\u02b0-\u02b8ªº]")
_NUMBER = r"[+-]?(?:\d(?:[\d,.']|[ ](?=\d{3}(?!\d)))*|\.\d+)(?:e[+-]?\d{1,3})?"
_SPREAD = re.compile(
    rf"({_NUMBER})\s*(%?)\s*\(?\s*(?:±|\+/-|\+-)\s*({_NUMBER})\s*(%?)\s*\)?",
    re.IGNORECASE,
)
_INTERVAL = re.compile(
    rf"({_NUMBER})\s*(%?)\s*[(\[]\s*(?:95%?\s*ci:?\s*)?({_NUMBER})\s*%?\s*(?:,|;|-|to)\s*({_NUMBER})\s*%?\s*[)\]]",
    re.IGNORECASE,
)
_ASIDE = re.compile(rf"({_NUMBER})\s*(%?)\s*\(\s*({_NUMBER})\s*%?\s*\)")
_PLAIN = re.compile(rf"({_NUMBER})\s*(%?)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))(?![\d,.])")
_DECIMAL_POINT = re.compile(r"\d\.\d")


@dataclass(frozen=True)
class TableEntry:
    """A cell: ``number`` as printed, its ``spread`` or ``interval``; or that nothing stands there.

    ``odd`` holds what could not be read as a number.
    """

    number: str | None = None
    spread: str | None = None
    interval: tuple[str, str] | None = None
    odd: str = ""

    @property
    def missing(self) -> bool:
        """Whether nothing stands in the cell."""
        return self.number is None and not self.odd


def entry_of(text: str, *, comma: bool = False) -> TableEntry:
    """Read a cell; with ``comma`` a comma is the decimal point.

    >>> entry_of("**98.2%** ± 0.3*"), entry_of("\u2014").missing
    (TableEntry(number='98.2%', spread='0.3', interval=None, odd=''), True)
    """
    shown = cleaned(text)
    if shown.casefold() in MISSING:
        return TableEntry()
    number = spread = None
    interval: tuple[str, str] | None = None
    if match := _INTERVAL.fullmatch(shown):
        number, sign, ends = match[1], match[2], (match[3], match[4])
        interval = f"{ends[0]}{sign}", f"{ends[1]}{sign}"
    elif match := _SPREAD.fullmatch(shown):
        number, sign, spread = match[1], match[2] or match[4], match[3]
    elif match := _ASIDE.fullmatch(shown):
        number, sign, spread = match[1], match[2], match[3]
    elif match := _PLAIN.fullmatch(shown):
        number, sign = match[1], match[2]
    else:
        return TableEntry(odd=text.strip())
    try:
        value = f"{_pointed(number, comma=comma)}{sign}"
        printed(value)
        if interval is not None:
            interval = _pointed(interval[0], comma=comma), _pointed(interval[1], comma=comma)
            list(map(printed, interval))
    except InputError:
        return TableEntry(odd=text.strip())
    return TableEntry(value, None if spread is None else _pointed(spread, comma=comma), interval)


def cleaned(text: str) -> str:
    """A cell without marks of emphasis and footnotes, in plain signs."""
    if not text:
        return ""
    shown = unicodedata.normalize("NFC", text).translate(_DASHES)
    shown = _RAISED.sub("", shown).replace("\u00a0", " ").replace("\u2009", " ")
    shown = _EMPHASIS.sub("", shown)
    return re.sub(r"\s+", " ", _MARKS.sub(" ", shown)).strip()


def count_text(text: str) -> str | None:
    """A count as digits alone, with any separator of thousands; None where it is no count.

    >>> count_text("12,833"), count_text("9 711"), count_text("0.97")
    ('12833', '9711', None)
    """
    shown = cleaned(text).removesuffix(".0")
    if not re.fullmatch(r"\d{1,3}(?:[,.' \u202f]\d{3})+|\d+", shown):
        return None
    return re.sub(r"\D", "", shown)


def are_counts(cells: list[str], *, may_count: bool, comma: bool = False) -> bool:
    """Whether cells of a share can only be counts of rows: whole numbers, one of them beyond 100.

    Where a heading ``may_count``, whole numbers are enough, since 34 is then as likely 34 rows.
    """
    shown = [cleaned(cell) for cell in cells if not entry_of(cell, comma=comma).missing]
    counts = [None if comma and "," in cell else count_text(cell) for cell in shown]
    numbers = [int(count) for count in counts if count is not None and count[0] != "0"]
    return len(numbers) == len(counts) > 0 and max(numbers) > (1 if may_count else 100)


def uses_comma(cells: list[str]) -> bool:
    """Whether a comma is the decimal point of these cells.

    It is where some number can't be read otherwise (0,967 or 96,7) and none has a point.
    """
    shown = [cleaned(cell) for cell in cells]
    return any(map(_DECIMAL_COMMA.search, shown)) and not any(map(_DECIMAL_POINT.search, shown))


def _pointed(text: str, *, comma: bool) -> str:
    """A number with a decimal point, and with no blanks between thousands."""
    shown = text.replace("'", "").replace(" ", "")
    if comma:
        shown = shown.replace(".", "").replace(",", ".")
    return shown


# -- tables ----------------------------------------------------------------------------------------

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
class TableColumn:
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
class PublishedTable:
    """A table whose columns are read."""

    grid: TextTable
    names: tuple[int, ...]
    columns: tuple[TableColumn, ...]
    unmatched: tuple[str, ...]
    comma: bool
    percent: frozenset[int]

    @property
    def measured(self) -> list[TableColumn]:
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

    def _is_small(self, column: TableColumn) -> bool:
        return all(
            value.value < _HALF for value in _values(column, self.grid.body, comma=self.comma)
        )

    def name_of(self, row: Sequence[str]) -> str:
        """The name of a row: its texts that are no numbers."""
        parts = [cleaned(row[place]) for place in self.names if cleaned(row[place])]
        return ", ".join(dict.fromkeys(parts))

    def entry(self, row: Sequence[str], column: TableColumn) -> TableEntry:
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


def table_of(grid: TextTable) -> PublishedTable:
    """The table as it stands, or turned where its measures stand in the first column."""
    straight = _table(grid.even())
    if len(straight.measured) >= 2:
        return straight
    turned = _table(_with_headers(grid.even().turned()))
    return turned if len(turned.measured) > len(straight.measured) else straight


def _with_headers(grid: TextTable) -> TextTable:
    """The rows of headings are those before the first that holds a number."""
    for i, row in enumerate(grid.rows):
        numbers = [entry_of(cell).number is not None for cell in row[1:]]
        if i and any(numbers):
            return replace(grid, headers=i)
        if i == 0 and sum(numbers) > len(numbers) / 2:
            break
    return replace(grid, headers=1)


def _table(grid: TextTable) -> PublishedTable:
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
    return PublishedTable(grid, tuple(names), tuple(columns), tuple(unmatched), comma, percent)


def _reaching(row: Sequence[str]) -> tuple[str, ...]:
    """A row of headings in which each reaches over the empty cells behind it, but for the first."""
    headings: list[str] = []
    for place, cell in enumerate(row):
        reaches = not cell and place > 1 and headings[-1] != row[0]
        headings.append(headings[-1] if reaches else cell)
    return tuple(headings)


def _column(place: int, text: str, groups: Sequence[str], *, letters: int) -> TableColumn | None:
    group = " ".join(dict.fromkeys(map(cleaned, groups)))
    shown = cleaned(text)
    if cell_of(shown):
        return TableColumn(place, Heading(shown), group, cell=cell_of(shown))
    if squeezed(shown) in _SUPPORT:
        return TableColumn(place, Heading(shown), group, support=True)
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
    return None if heading.key is None else TableColumn(place, heading, group)


def _is_name(held: Sequence[str]) -> bool:
    """Whether a column names rows: most of it is text."""
    shown = [cleaned(cell) for cell in held if cell.strip()]
    texts = [cell for cell in shown if entry_of(cell).odd and not _WITH_UNIT.fullmatch(cell)]
    return bool(shown) and len(texts) >= len(shown) / 2


def _in_percent(column: TableColumn, body: Sequence[Sequence[str]], *, comma: bool) -> bool:
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
    columns: Sequence[TableColumn], body: Sequence[Sequence[str]], numbers: Sequence[str]
) -> bool:
    """Whether some share has only cells such as 96,698, which is no count; none has a point."""
    shares = [column for column in columns if column.key and _is_share(column)]
    held = [
        [cleaned(row[c.place]) for row in body] for c in shares if not may_count(c.heading.text)
    ]
    whole = [cells for cells in held if all(map(_THOUSANDTHS.fullmatch, cells))]
    return bool(whole) and not any("." in cell for cell in numbers)


def _are_counts(column: TableColumn, body: Sequence[Sequence[str]], *, comma: bool) -> bool:
    """Whether the heading of a share has counts of rows under it."""
    if column.key is None or column.heading.percent or not _is_share(column):
        return False
    cells = [row[column.place] for row in body]
    return are_counts(cells, may_count=may_count(column.heading.text), comma=comma)


def _is_share(column: TableColumn) -> bool:
    return key_of(column.key or "").bounded


def _values(column: TableColumn, body: Sequence[Sequence[str]], *, comma: bool) -> list[Printed]:
    numbers = [entry_of(row[column.place], comma=comma).number for row in body]
    return [printed(number) for number in numbers if number is not None]
