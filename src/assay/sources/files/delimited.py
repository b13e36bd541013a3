"""CSV, TSV and the like: scanned for structure, then parsed by polars as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import EmptyInput, InputError
from assay.sources.files.formats import TSV
from assay.sources.files.guard import guarded
from assay.sources.files.scan import BLANK, LONE_CR, LONGEST, TOO_LONG, Records, first_end, scan
from assay.sources.files.table import Broken, Piece, Table
from assay.sources.files.text import Window

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 100_000
# The columns of text without a header are called so, with their numbers.
NUMBERED = "column_"
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?\s*%?\s*)$"
_OTHER_DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'", ",": "','", " ": "' '"}


def delimited(
    chunks: Iterator[bytes],
    name: str,
    format_: str,
    delimiter: str | None,
    *,
    decimal: str = ".",
    header: bool = True,
) -> Table:
    """Open delimited text whose first record names the columns, unless it has no header."""
    sign = _checked(delimiter or ("\t" if format_ == TSV else ","))
    if decimal not in (".", ","):
        raise InputError(f"decimal= is '.' or ','; found {decimal!r}")
    window = Window(chunks)
    end, first = _first(window, sign, name)
    line = 1
    notes: tuple[str, ...] = ()
    if header:
        names = _checked_names(first, name)
        line += window.text.count(b"\n", 0, end) or 1
        window.drop(end)
    else:
        names = [f"{NUMBERED}{i + 1}" for i in range(len(first))]
    unnamed = [end for end, at in (("first", 0), ("last", -1)) if not names[at]]
    if unnamed:
        notes = (f"the {' and the '.join(unnamed)} column of {name} has no name and is not used",)
    text = _Text(name, sign, tuple(names), decimal)
    return Table(
        name,
        text.header,
        lambda columns: text.pieces(window, columns, line),
        hint=_hint(first) if header else "",
        notes=notes,
    )


def _hint(header: Sequence[str]) -> str:
    """What may be meant, where the names of the columns are none."""
    if len(header) == 1 and header[0].startswith("#"):
        return "Its first line is a comment: remove what stands above the names of the columns"
    if header[0].lstrip().startswith("|"):
        return "It looks like a table in Markdown: write it with commas, and without the bars"
    others = [shown for other, shown in _OTHER_DELIMITERS.items() if other in header[0]]
    if len(header) == 1 and others:
        return f"Its header is one field, {header[0]!r}: perhaps delimiter={others[0]} is meant"
    values = [cell for cell in header if _NUMBER.fullmatch(cell)]
    if not values:
        return ""
    scores = [i for i, cell in enumerate(header) if _NUMBER.fullmatch(cell) and "." in cell]
    score = scores[0] if scores else len(header) - 1
    label = next((i for i in range(len(header)) if i != score), score)
    return (
        f"Its first line looks like values, not names: perhaps header=False is meant, with "
        f"label='{NUMBERED}{label + 1}' and score='{NUMBERED}{score + 1}'"
    )


def _checked(delimiter: str) -> bytes:
    sign = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n\0':
        raise InputError(
            f"delimiter= is one ASCII character, no quote and no line end; found {delimiter!r}"
        )
    return sign.encode()


def _first(window: Window, sign: bytes, name: str) -> tuple[int, list[str]]:
    """Where the first record ends, and its fields."""
    end, reason = None, None
    while end is None:
        window.extend()
        if window.final and not window.text:
            raise EmptyInput(f"{name} is empty; a header and rows were expected")
        end, reason = first_end(window.text, sign, final=window.final)
        if reason == LONE_CR:
            raise InputError(
                f"{name}, line 1: a carriage return that no line feed follows. If its lines end "
                f"with CR alone, write them anew with LF"
            )
        if reason is not None or (end is None and len(window.text) > LONGEST):
            raise InputError(f"{name}, line 1: the header has {reason or TOO_LONG}")
    text = window.text[:end]
    if b"\0" in text:
        raise InputError(
            f"{name}, line 1: the header has a NUL byte. If the text is UTF-16, say encoding= "
            f"utf-16-le or utf-16-be"
        )
    if not text.strip(b"\r\n"):
        raise InputError(f"{name}, line 1: found {BLANK}, expected a header")
    if text.count(sign) >= _MOST_COLUMNS:
        raise InputError(f"{name}, line 1: the header has more than {_MOST_COLUMNS:,} fields")
    return end, _fields(text, sign, name)


def _fields(text: bytes, sign: bytes, name: str) -> list[str]:
    reader = csv.reader(
        io.StringIO(text.decode(), newline=""), delimiter=sign.decode(), strict=True
    )
    try:
        return next(reader)
    except csv.Error as odd:
        raise InputError(f"{name}, line 1: the header can't be read: {odd}") from odd


def _checked_names(header: list[str], name: str) -> list[str]:
    twice = [column for column, times in Counter(header).items() if times > 1 and column]
    if twice:
        places = ", ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise InputError(
            f"{name}, line 1: the header has {twice[0]!r} more than once, as columns {places}. "
            f"Rename one of them{_or_none(header)}"
        )
    # An unnamed first column is pandas' index, an unnamed last one a delimiter that ends each line.
    empty = [i + 1 for i, column in enumerate(header[:-1]) if not column and i > 0]
    if empty or not any(header):
        raise InputError(
            f"{name}, line 1: column {(empty or [1])[0]} has no name. Name it{_or_none(header)}"
        )
    return header


def _or_none(header: Sequence[str]) -> str:
    hint = _hint(header)
    return f". {hint}" if hint else ""


@dataclass(frozen=True)
class _Text:
    """Delimited text behind its header."""

    name: str
    sign: bytes
    header: tuple[str, ...]
    decimal: str = "."

    def pieces(self, window: Window, columns: Sequence[str], line: int) -> Iterator[Piece]:
        """The records that follow, the first of them on a line."""
        row, final = 1, False
        while not final:
            final = window.extend()
            buffer = window.text
            found = scan(buffer, self.sign, len(self.header), final=final)
            self._must_be_short(buffer, found, line, final=final)
            if len(found.ends):
                yield self._piece(buffer, found, columns, row, line)
            row += len(found.ends)
            line += buffer.count(b"\n", 0, found.used)
            window.drop(found.used)

    def _must_be_short(self, buffer: bytes, found: Records, line: int, *, final: bool) -> None:
        long = [int(found.starts[i]) for i, why in found.broken.items() if why == TOO_LONG]
        if not final and len(buffer) - found.used > LONGEST:
            long.append(found.used)
        if long:
            at = line + buffer.count(b"\n", 0, min(long))
            raise InputError(f"{self.name}, line {at}: {TOO_LONG}. Is this the right file?")

    def _piece(
        self, buffer: bytes, found: Records, columns: Sequence[str], row: int, line: int
    ) -> Piece:
        good = np.ones(len(found.ends), bool)
        good[list(found.broken)] = False
        starts = found.starts[good]
        rows: Any = range(row, row + len(starts))
        broken: list[Broken] = []
        data = buffer[: found.used]
        if found.broken:
            rows = np.flatnonzero(good) + row
            breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
            for i, reason in sorted(found.broken.items()):
                before = int(np.searchsorted(breaks, found.starts[i]))
                broken.append(Broken(row + i, line + before, reason))
            data = _joined(buffer, found, good)
        frame = self._parsed(data, len(starts), columns, line)

        def line_of(i: int) -> int:
            return line + buffer.count(b"\n", 0, int(starts[i]))

        return Piece(frame, rows, line_of, broken)

    def _parsed(self, data: bytes, rows: int, columns: Sequence[str], line: int) -> pl.DataFrame:
        import polars as pl

        if not rows:
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        if data.startswith(codecs.BOM_UTF8):
            # polars drops a mark at the beginning; here it is the beginning of a value.
            data = codecs.BOM_UTF8 + data
        # The names that polars gives where there is no header.
        names = [f"column_{i + 1}" for i in range(len(self.header))]
        position = dict(zip(self.header, names, strict=True))
        chosen = [position[column] for column in columns]
        with guarded(f"{self.name}, from line {line} on"):
            frame = pl.read_csv(
                data,
                has_header=False,
                schema=dict.fromkeys(names, pl.String),
                columns=chosen,
                separator=self.sign.decode(),
            )
        if frame.height != rows:
            raise InputError(
                f"{self.name}, from line {line} on: {rows:,} records were found, but "
                f"{frame.height:,} were parsed. Please report this with the file"
            )
        frame = frame.select(chosen)
        frame.columns = list(columns)
        return frame if self.decimal == "." else frame.with_columns(_with_points(pl.all()))


def _with_points(cells: pl.Expr) -> pl.Expr:
    """Numbers with a comma before their fractions, written with a point."""
    return cells.str.replace(_WITH_COMMA, "${1}.${2}")


def _joined(buffer: bytes, found: Records, good: Any) -> bytes:
    """The well-formed records alone; runs of them are taken together."""
    edges = np.flatnonzero(np.diff(good, prepend=False, append=False))
    runs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return b"".join(buffer[found.starts[a] : found.ends[b]] for a, b in runs)
