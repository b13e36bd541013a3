"""JSON lines: one object a line."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from assay.errors import EmptyInput, InputError
from assay.sources.files.builders import series_of
from assay.sources.files.scan import BLANK, LONGEST, TOO_LONG
from assay.sources.files.table import Broken, Piece, Table
from assay.sources.files.text import Window

_LOOKED_AT = 1000
_EXACT = 2.0**53
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
NO_UNICODE = "text that is not Unicode (half of a surrogate pair)"


def jsonl(chunks: Iterator[bytes], name: str, *, exact: str | None = None) -> Table:
    """Open JSON lines; the columns are the keys of the first thousand records.

    Numbers of the column ``exact`` are what is written, where a float is only near it.
    """
    window = Window(chunks)
    while not window.final and window.text.count(b"\n") < _LOOKED_AT and len(window.text) < LONGEST:
        window.extend()
    start = window.text.lstrip()
    if not start:
        raise EmptyInput(f"{name} is empty; JSON objects were expected, one a line")
    if start.startswith(b"["):
        raise InputError(
            f"{name}, line 1: a JSON array, where one object a line is expected. "
            f"jq -c '.[]' makes lines of it"
        )
    if len(window.text) > LONGEST and b"\n" not in window.text[:LONGEST]:
        raise InputError(f"{name}, line 1: {TOO_LONG}. Is this the right file?")
    columns: dict[str, None] = {}
    for line in window.text[:LONGEST].split(b"\n")[:_LOOKED_AT]:
        found, _ = _object(line)
        columns |= dict.fromkeys(found or ())
    if not columns:
        _, reason = _object(start.partition(b"\n")[0])
        raise InputError(
            f"{name}, line 1: found {reason or 'an object without keys'}, expected one JSON object "
            f"a line"
        )
    return Table(
        name,
        tuple(columns),
        lambda columns: _pieces(window, name, columns, exact),
        hint="The columns of JSON lines are the keys of its first 1,000 records",
    )


def _pieces(
    window: Window, name: str, columns: Sequence[str], exact: str | None
) -> Iterator[Piece]:
    line = row = 1
    while True:
        text, used = window.whole_lines()
        if len(window.text) - used > LONGEST and not window.final:
            raise InputError(f"{name}, line {line}: {TOO_LONG}. Is this the right file?")
        if text:
            piece = _piece(text, name, columns, row, line, exact)
            row += len(piece.rows) + len(piece.broken)
            line += text.count(b"\n") + 1
            yield piece
        window.drop(used)
        if window.final:
            return
        window.extend()


def _piece(
    text: bytes, name: str, columns: Sequence[str], row: int, line: int, exact: str | None
) -> Piece:
    import polars as pl

    lines = text.split(b"\n")
    if len(text) > LONGEST and max(map(len, lines)) > LONGEST:
        at = line + next(i for i, record in enumerate(lines) if len(record) > LONGEST)
        raise InputError(f"{name}, line {at}: {TOO_LONG}. Is this the right file?")
    objects = None if _SURROGATE.search(text) else _all_objects(text, lines, columns)
    broken: list[Broken] = []
    rows: Any = range(row, row + len(lines))
    if objects is None:
        objects, kept = [], []
        for i, record in enumerate(lines):
            found, reason = _object(record)
            if found is not None and not all(_is_unicode(found.get(c)) for c in columns):
                found, reason = None, NO_UNICODE
            twice = None if found is None else _twice(record, columns)
            if twice is not None:
                found, reason = None, f"the key {twice!r} twice in one object"
            if found is None:
                broken.append(Broken(row + i, line + i, reason))
            else:
                objects.append(found)
                kept.append(row + i)
        rows = np.array(kept, np.int64)
    if exact is not None and exact in columns:
        _write_exactly(exact, objects, lines, rows, row)
    frame = pl.DataFrame([series_of(c, [found.get(c) for found in objects]) for c in columns])
    first = row - line
    return Piece(frame, rows, lambda i: int(rows[i]) - first, broken)


def _all_objects(
    text: bytes, lines: list[bytes], columns: Sequence[str]
) -> list[dict[str, Any]] | None:
    """All records at once, None if one of them is no object or may have a key twice.

    A mark that the file can't know stands between them, so that nothing in one line can pass for
    the end of a record and the beginning of the next.
    """
    mark = secrets.token_hex(8)
    joined = f',"{mark}",'.encode().join(lines)
    # An escape may spell a key in another way; without one a key is written in one way only.
    pairs = _Pairs() if b"\\" in text else None
    try:
        # As text: of bytes json guesses the encoding.
        found = json.loads(f"[{joined.decode()}]", object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    objects = found[::2]
    if len(objects) != len(lines) or set(map(type, objects)) != {dict}:
        return None
    if pairs.repeated if pairs is not None else _may_repeat(text, objects, columns):
        return None
    return objects if all(between == mark for between in found[1::2]) else None


def _write_exactly(
    column: str, objects: list[dict[str, Any]], lines: list[bytes], rows: Any, first: int
) -> None:
    """Take large numbers of a column as they are written: no float64 is 2^53 + 1."""
    for i, found in enumerate(objects):
        value = found.get(column)
        if isinstance(value, float) and abs(value) >= _EXACT:
            written = json.loads(lines[rows[i] - first].decode(), parse_float=Decimal)
            found[column] = written[column]


class _Pairs:
    """Makes objects of JSON, and remembers whether one of them had a key twice."""

    repeated = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        self.repeated = self.repeated or len(found) < len(pairs)
        return found


def _object(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """The object on a line, or what stands there instead."""
    if not line.strip():
        return None, BLANK
    try:
        found = json.loads(line.decode())
    except json.JSONDecodeError as odd:
        return None, f"no JSON object ({odd.msg} at character {odd.pos + 1})"
    except (ValueError, RecursionError):
        return None, "no JSON object that can be read"
    if not isinstance(found, dict):
        return None, f"JSON that is no object ({type(found).__name__})"
    return found, ""


def _may_repeat(text: bytes, objects: list[dict[str, Any]], columns: Sequence[str]) -> bool:
    """Whether a key may stand twice in an object; its name as a value looks the same from here."""
    for column in columns:
        written = text.count(f'"{column}"'.encode(errors="surrogatepass"))
        if written > sum(column in found for found in objects):
            return True
    return False


def _twice(line: bytes, columns: Sequence[str]) -> str | None:
    """A key that stands twice in the object of a line; the last one would win in silence."""
    keys = [key for key, _ in json.loads(line.decode(), object_pairs_hook=list)]
    return next((column for column in columns if keys.count(column) > 1), None)


def _is_unicode(value: Any) -> bool:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True
