"""JSON lines: one object a line; objects inside of it are columns with dots in their names."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from assay.errors import EmptyInput, InputError
from assay.sources.files.builders import series_of
from assay.sources.files.dotted import (
    Path,
    Unreadable,
    json_object,
    leaves_of,
    two_readings,
    value_at,
)
from assay.sources.files.scan import LONGEST, TOO_LONG
from assay.sources.files.table import Broken, Piece, Table
from assay.sources.files.text import Window

_LOOKED_AT = 1000
_EXACT = 2.0**53
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


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
    lines = window.text[:LONGEST].split(b"\n")[:_LOOKED_AT]
    columns = leaves_of(record for line in lines if (record := json_object(line)[0]) is not None)
    if not columns:
        _, reason = json_object(start.partition(b"\n")[0])
        raise InputError(
            f"{name}, line 1: found {reason or 'an object without keys'}, expected one JSON object "
            f"a line{'; jq -c . writes each on one' if start.startswith(b'{') else ''}"
        )
    records = [line for line in lines if line.strip()]
    if window.final and len(records) == 1:
        _must_be_a_row(json_object(records[0])[0] or {}, name)
    return Table(
        name,
        tuple(columns),
        lambda asked: _pieces(window, name, {c: _path(columns, c, name) for c in asked}, exact),
        hint="The columns of JSON lines are the keys of its first 1,000 records",
    )


def _must_be_a_row(record: Mapping[str, Any], name: str) -> None:
    """Refuse a lone object that holds all rows: as a list of them, or column by column."""
    values = list(record.values())
    if len(values) == 1 and isinstance(values[0], list) and values[0]:
        if all(isinstance(row, dict) for row in values[0]):
            (key,) = record
            raise InputError(
                f"{name}: one JSON object with its rows in {key!r}, where one object a row is "
                f"expected. jq -c '.[{json.dumps(key)}][]' makes lines of it"
            )
    elif len(values) > 1 and (
        all(isinstance(v, list) for v in values) or all(isinstance(v, dict) for v in values)
    ):
        raise InputError(
            f"{name}: one JSON object with a column in each key, where one object a row is "
            f"expected. pandas writes that with to_json(orient='records', lines=True)"
        )


def _path(columns: Mapping[str, list[Path]], column: str, name: str) -> Path:
    """Where a column is: as it stands, else inside of the one object that has it."""
    paths = columns[column]
    if (column,) in paths:
        return (column,)
    if len(paths) > 1:
        raise InputError(f"{name} has {two_readings(column, paths)}. Rename one of them")
    return paths[0]


def _pieces(
    window: Window, name: str, columns: Mapping[str, Path], exact: str | None
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
    text: bytes, name: str, columns: Mapping[str, Path], row: int, line: int, exact: str | None
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
            made, reason = json_object(record)
            try:
                for path in columns.values():
                    value_at(made or {}, path)
            except Unreadable as odd:
                made, reason = None, str(odd)
            if made is None:
                broken.append(Broken(row + i, line + i, reason))
            else:
                objects.append(made)
                kept.append(row + i)
        rows = np.array(kept, np.int64)
    values = {column: _values(objects, path) for column, path in columns.items()}
    if exact is not None and exact in columns:
        written = [lines[i - row] for i in rows]
        values[exact] = _exactly(values[exact], written, columns[exact])
    frame = pl.DataFrame([series_of(column, cells) for column, cells in values.items()])
    first = row - line
    return Piece(frame, rows, lambda i: int(rows[i]) - first, broken)


def _values(objects: list[dict[str, Any]], path: Path) -> list[Any]:
    if len(path) == 1:
        return [record.get(path[0]) for record in objects]
    return [value_at(record, path) for record in objects]


def _all_objects(
    text: bytes, lines: list[bytes], columns: Mapping[str, Path]
) -> list[dict[str, Any]] | None:
    """All records at once, None if one of them is no object or may have a key twice.

    A mark that the file can't know stands between them, so that nothing in one line can pass for
    the end of a record and the beginning of the next.
    """
    mark = secrets.token_hex(8)
    joined = f',"{mark}",'.encode().join(lines)
    # An escape may spell a key in another way; without one a key is written in one way only.
    deep = any(len(path) > 1 for path in columns.values())
    pairs = _Pairs() if deep or b"\\" in text else None
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


def _exactly(values: list[Any], lines: list[bytes], path: Path) -> list[Any]:
    """Large numbers as they are written: no float64 is 2^53 + 1."""
    return [
        value_at(json.loads(line.decode(), parse_float=Decimal), path)
        if isinstance(value, float) and abs(value) >= _EXACT
        else value
        for value, line in zip(values, lines, strict=True)
    ]


class _Pairs:
    """Makes objects of JSON, and remembers whether one of them had a key twice."""

    repeated = False

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        self.repeated = self.repeated or len(found) < len(pairs)
        return found


def _may_repeat(text: bytes, objects: list[dict[str, Any]], columns: Iterable[str]) -> bool:
    """Whether a key may stand twice in an object; its name as a value looks the same from here."""
    for column in columns:
        written = text.count(f'"{column}"'.encode(errors="surrogatepass"))
        if written > sum(column in found for found in objects):
            return True
    return False
