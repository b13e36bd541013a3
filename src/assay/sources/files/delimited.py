"""CSV, TSV and the like: scanned for structure, then parsed by polars as text."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from assay.errors import EmptyInput, InputError
from assay.sources.files.formats import TSV
from assay.sources.files.guard import guarded
from assay.sources.files.scan import BLANK, LONE_CR, LONGEST, TOO_LONG, Records, first_end, scan
from assay.sources.files.table import Broken, Piece, Table
from assay.sources.files.text import Window

_BOM = b"\xef\xbb\xbf"
_OTHER_DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'", ",": "','"}


def delimited(chunks: Iterator[bytes], name: str, format_: str, delimiter: str | None) -> Table:
    """Open delimited text whose first record names the columns."""
    sign = _checked(delimiter or ("\t" if format_ == TSV else ","))
    window = Window(chunks)
    end, header = _header(window, sign, name)
    lines = window.text[:end].count(b"\n") or 1
    window.drop(end)
    hint = ""
    others = [shown for other, shown in _OTHER_DELIMITERS.items() if other in header[0]]
    if len(header) == 1 and others:
        hint = f"Its header is one field, {header[0]!r}: perhaps --delimiter {others[0]} is meant"

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        return _pieces(window, name, sign, header, columns, lines)

    notes = ()
    if not header[0]:
        notes = (f"the first column of {name} has no name and is not used",)
    return Table(name, tuple(header), pieces, hint=hint, notes=notes)


def _checked(delimiter: str) -> bytes:
    sign = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n\0':
        raise InputError(
            f"--delimiter is one ASCII character, no quote and no line end; found {delimiter!r}"
        )
    return sign.encode()


def _header(window: Window, sign: bytes, name: str) -> tuple[int, list[str]]:
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
            f"{name}, line 1: the header has a NUL byte. If the text is UTF-16, say --encoding "
            f"utf-16-le or utf-16-be"
        )
    if not text.strip(b"\r\n"):
        raise InputError(f"{name}, line 1: found {BLANK}, expected a header")
    return end, _names(text, sign, name)


def _names(text: bytes, sign: bytes, name: str) -> list[str]:
    reader = csv.reader(io.StringIO(text.decode(), newline=""), delimiter=sign.decode(), strict=True)
    try:
        header = next(reader)
    except csv.Error as odd:
        raise InputError(f"{name}, line 1: the header can't be read: {odd}") from odd
    twice = [column for column, times in Counter(header).items() if times > 1 and column]
    if twice:
        places = ", ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise InputError(
            f"{name}, line 1: the header has {twice[0]!r} more than once, as columns {places}. "
            f"Rename one of them"
        )
    # An unnamed first column is what pandas writes for its index.
    empty = [i + 1 for i, column in enumerate(header) if not column and i > 0]
    if empty or header == [""]:
        raise InputError(f"{name}, line 1: column {(empty or [1])[0]} has no name. Name it")
    return header


def _pieces(
    window: Window, name: str, sign: bytes, header: list[str], columns: Sequence[str], lines: int
) -> Iterator[Piece]:
    row, line = 1, lines + 1
    while not window.final:
        window.extend()
        buffer = window.text
        found = scan(buffer, sign, len(header), final=window.final)
        left = len(buffer) - found.used
        if TOO_LONG in found.broken.values() or (not window.final and left > LONGEST):
            at = next((i for i, why in found.broken.items() if why == TOO_LONG), len(found.ends))
            start = int(found.starts[at]) if at < len(found.ends) else found.used
            where = line + buffer.count(b"\n", 0, start)
            raise InputError(f"{name}, line {where}: {TOO_LONG}. Is this the right file?")
        if len(found.ends):
            yield _piece(buffer, found, name, sign, header, columns, row, line)
        row += len(found.ends)
        line += buffer.count(b"\n", 0, found.used)
        window.drop(found.used)


def _piece(
    buffer: bytes,
    found: Records,
    name: str,
    sign: bytes,
    header: list[str],
    columns: Sequence[str],
    row: int,
    line: int,
) -> Piece:
    good = np.ones(len(found.ends), bool)
    good[list(found.broken)] = False
    starts = found.starts[good]
    rows: Any = range(row, row + len(starts))
    broken: list[Broken] = []
    data = buffer[: found.used]
    if found.broken:
        rows = np.flatnonzero(good) + row
        breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == 10)
        for i, reason in sorted(found.broken.items()):
            at = line + int(np.searchsorted(breaks, found.starts[i]))
            broken.append(Broken(row + i, at, reason))
        data = _joined(buffer, found, good)
    frame = _parsed(data, len(starts), name, sign, header, columns, line)

    def line_of(i: int) -> int:
        return line + buffer.count(b"\n", 0, int(starts[i]))

    return Piece(frame, rows, line_of, broken)


def _joined(buffer: bytes, found: Records, good: Any) -> bytes:
    """The well-formed records alone; runs of them are taken together."""
    edges = np.flatnonzero(np.diff(good, prepend=False, append=False))
    runs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return b"".join(buffer[found.starts[a] : found.ends[b]] for a, b in runs)


def _parsed(
    data: bytes,
    rows: int,
    name: str,
    sign: bytes,
    header: list[str],
    columns: Sequence[str],
    line: int,
) -> Any:
    import polars as pl

    if not rows:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    if data.startswith(_BOM):
        # polars drops a mark at the beginning; here it is the beginning of a value.
        data = _BOM + data
    position = {column: str(i) for i, column in enumerate(header)}
    chosen = [position[column] for column in columns]
    with guarded(f"{name}, from line {line} on"):
        frame = pl.read_csv(
            data,
            has_header=False,
            schema=dict.fromkeys(position.values(), pl.String),
            columns=chosen,
            separator=sign.decode(),
        )
    if frame.height != rows:
        raise InputError(
            f"{name}, from line {line} on: {rows} records were found, but {frame.height} were "
            f"parsed. Please report this with the file"
        )
    frame = frame.select(chosen)
    frame.columns = list(columns)
    return frame
