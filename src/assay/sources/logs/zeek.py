"""Zeek's logs of tab-separated text, whose header says how they are written.

A header may stand in the middle too, where files were put one behind the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError
from assay.sources.files.scan import BLANK, NUL, wrong_counts
from assay.sources.files.table import Broken, Piece
from assay.sources.logs.names import DST_PORT, HOST, KIND, NAMES, TIME, field_column

if TYPE_CHECKING:
    import polars as pl

_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")
_NOTICE = "notice"
_ROW = "row of the piece\x1f"
_NOTICE_PORT = "p"


class ZeekText:
    """Reads pieces of one log; what the header said is kept from piece to piece."""

    def __init__(self, name: str, fields: Sequence[str], time: str | None = None) -> None:
        self._name = name
        self._fields = fields
        self._time = time
        self._separator = "\t"
        self._unset = "-"
        self._empty = "(empty)"
        self._path: str | None = None
        self._columns: tuple[str, ...] = ()

    def pieces(self, text: bytes, row: int, line: int) -> Iterator[Piece]:
        """The records between headers; rows are counted from ``row`` on."""
        text = text.replace(b"\r\n", b"\n").removesuffix(b"\r")
        for segment in _segments(text):
            lines = segment.count(b"\n") + 1
            if segment.startswith(b"#"):
                for i, header in enumerate(segment.split(b"\n")):
                    self._read_header(header, line + i)
            elif not self._columns:
                raise InputError(
                    f"{self._name}, line {line}: records before a line that begins with #fields, "
                    f"so that nobody knows what their columns are. Put the header of the log first"
                )
            else:
                yield self._piece(segment, lines, row, line)
                row += lines
            line += lines

    def _read_header(self, written: bytes, line: int) -> None:
        place = f"{self._name}, line {line}"
        try:
            header = written.decode()
        except UnicodeDecodeError as odd:
            raise InputError(f"{place}: a header that is not UTF-8") from odd
        if header.startswith("#separator"):
            self._separator = unescaped(header.removeprefix("#separator").lstrip(" \t"))
            if len(self._separator) != 1 or not self._separator.isascii():
                raise InputError(
                    f"{place}: the separator is {self._separator!r}; expected one ASCII character, "
                    f"such as \\x09"
                )
            return
        key, *values = header.split(self._separator)
        value = values[0] if values else ""
        if key == "#unset_field":
            self._unset = value
        elif key == "#empty_field":
            self._empty = value
        elif key == "#path":
            self._path = value
        elif key == "#fields":
            if not values or len(set(values)) < len(values):
                raise InputError(f"{place}: #fields has a name twice, or none")
            self._columns = tuple(values)
        elif key == "#types" and len(values) != len(self._columns):
            raise InputError(
                f"{place}: #types has {len(values)} fields and #fields {len(self._columns)}"
            )

    def _piece(self, text: bytes, lines: int, row: int, line: int) -> Piece:
        data = np.frombuffer(text, np.uint8)
        ends = np.append(np.flatnonzero(data == ord("\n")) + 1, len(text) + 1)
        starts = np.append(0, ends[:-1])
        marks = np.flatnonzero(data == ord(self._separator))
        broken = wrong_counts(marks, len(self._columns), starts, ends)
        broken |= dict.fromkeys(np.flatnonzero(ends - starts == 1).tolist(), BLANK)
        if b"\0" in text:
            places = np.searchsorted(ends, np.flatnonzero(data == 0), side="right")
            broken |= dict.fromkeys(places.tolist(), NUL)
        try:
            text.decode()
        except UnicodeDecodeError:
            broken |= _not_utf8(text)
        good = np.ones(lines, bool)
        good[list(broken)] = False
        if broken:
            split = text.split(b"\n")
            text = b"\n".join(split[i] for i in np.flatnonzero(good).tolist())
        rows: Any = np.flatnonzero(good) + row
        offset = line - row
        return Piece(
            self._frame(text, len(rows), line),
            rows,
            lambda i: int(rows[i]) + offset,
            [Broken(row + i, line + i, reason) for i, reason in sorted(broken.items())],
        )

    def _frame(self, text: bytes, rows: int, line: int) -> pl.DataFrame:
        import polars as pl

        chosen = self._chosen()
        needed = sorted({column for among in chosen.values() for column in among})
        position = {column: f"column_{i + 1}" for i, column in enumerate(self._columns)}
        schema = {position[column]: pl.String() for column in self._columns}
        raw = pl.DataFrame(schema=dict.fromkeys(needed, pl.String))
        if rows and needed:
            raw = pl.read_csv(
                # polars takes a mark at the beginning for one of the encoding.
                text + b"\n" if not text.startswith(b"\xef\xbb\xbf") else b"\xef\xbb\xbf" + text,
                has_header=False,
                schema=schema,
                columns=[position[column] for column in needed],
                separator=self._separator,
                quote_char=None,
            ).rename({position[column]: column for column in needed})
            if raw.height != rows:
                raise InputError(
                    f"{self._name}, from line {line} on: {rows:,} records were found, but "
                    f"{raw.height:,} were parsed. Please report this with the file"
                )
        values = [self._value(column, raw[column]) for column in needed]
        # Of a log without any such column there are as many rows all the same.
        numbered = pl.DataFrame({_ROW: np.arange(rows)}).hstack(values)
        empty = pl.lit(None, pl.String)
        return numbered.select(
            _ROW,
            *(
                pl.coalesce(*map(pl.col, among), empty).alias(column)
                for column, among in chosen.items()
                if column != KIND
            ),
            pl.lit(self._path, pl.String).alias(KIND),
        ).drop(_ROW)

    def _chosen(self) -> dict[str, list[str]]:
        """The columns of this log that each column of events is made of."""
        names: dict[str, tuple[str, ...]] = {**NAMES, HOST: (), KIND: ()}
        if self._time is not None:
            names[TIME] = (self._time,)
        if self._path == _NOTICE:
            names[DST_PORT] += (_NOTICE_PORT,)
        names |= {field_column(field): (field,) for field in self._fields}
        return {
            column: [name for name in among if name in self._columns]
            for column, among in names.items()
        }

    def _value(self, column: str, values: pl.Series) -> pl.Series:
        import polars as pl

        one = pl.col(column)
        present = pl.when(one != self._unset).then(one)
        cell = pl.when(one == self._empty).then(pl.lit("")).otherwise(present)
        made = values.to_frame().select(cell.alias(column)).to_series()
        if made.str.contains("\\", literal=True).any():
            made = made.map_elements(unescaped, return_dtype=pl.String)
        return made


def unescaped(text: str) -> str:
    r"""Text of Zeek as it was before ``\x`` and two digits stood for its odd bytes.

    >>> unescaped("a\\x09b\\xc3\\xa9")
    'a\tbé'
    """
    parts = text.encode().split(rb"\\")
    raw = (_ESCAPE.sub(lambda code: bytes.fromhex(code[1].decode()), part) for part in parts)
    return b"\\".join(raw).decode(errors="backslashreplace")


def _segments(text: bytes) -> Iterator[bytes]:
    """Runs of header lines and runs of records, in turn."""
    if b"\n#" not in text and not text.startswith(b"#"):
        yield text
        return
    lines = text.split(b"\n")
    begin = 0
    for i in range(1, len(lines) + 1):
        if i == len(lines) or (lines[i][:1] == b"#") != (lines[begin][:1] == b"#"):
            yield b"\n".join(lines[begin:i])
            begin = i


def _not_utf8(text: bytes) -> dict[int, str]:
    broken = {}
    for i, record in enumerate(text.split(b"\n")):
        try:
            record.decode()
        except UnicodeDecodeError as odd:
            broken[i] = f"bytes that are not UTF-8 (0x{record[odd.start : odd.start + 1].hex()})"
    return broken
