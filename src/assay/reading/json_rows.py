"""JSON: one object a line, a list of objects, or rows under a key; nested keys have dots."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import EmptyInput, InputError
from assay.reading.source import Batch, Broken, InputFile, Table

if TYPE_CHECKING:
    import polars as pl

FIRST_ROWS = 1000
LONGEST = 1 << 24
_DEEPEST = 8
NO_OBJECT = "are no JSON object"
BLANK = "are blank"

Texts = Callable[[Iterator[bytes]], Iterator[bytes]]


def open_json(file: InputFile, texts: Texts, key: str | None, notes: tuple[str, ...] = ()) -> Table:
    """Open JSON; the columns are the keys of the first thousand objects."""
    lines = _first_lines(texts(file.look()))
    if not lines:
        raise EmptyInput(f"{file.name} is empty; JSON objects were expected")
    if key is None and _are_lines(lines):
        first = [record for line in lines if isinstance(record := parse(line), dict)]

        def records() -> Iterator[tuple[int, bytes | dict[str, Any]]]:
            yield from enumerate(_lines(texts(file.chunks()), file.name), 1)
    else:
        document = _document(file, texts)
        rows, more = _rows_under(document, key, file.name)
        notes += more
        first = [record for record in rows[:FIRST_ROWS] if isinstance(record, dict)]

        def records() -> Iterator[tuple[int, bytes | dict[str, Any]]]:
            for _ in file.chunks():  # hashed, and used up
                pass
            yield from enumerate(rows, 1)

    columns = _leaves(first)
    if not columns:
        raise InputError(f"{file.name}: found no object with keys; one JSON object a row expected")
    look = _frame(first, list(columns), columns)
    return Table(
        file.name,
        dict(look.schema),
        lambda asked: _batches(records(), asked, columns),
        lambda: look,
        lambda: file.digest,
        once=file.once,
        notes=notes,
        hint="The columns of JSON are the keys of its first 1,000 objects",
    )


def parse(text: bytes | str) -> Any:
    """A JSON value; None where the text is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_lines(chunks: Iterator[bytes]) -> list[bytes]:
    head = b""
    for chunk in chunks:
        head += chunk
        if head.count(b"\n") >= FIRST_ROWS or len(head) > LONGEST:
            head = head[: head.rfind(b"\n") + 1] or head
            break
    return [line for line in head.split(b"\n")[:FIRST_ROWS] if line.strip()]


def _are_lines(lines: Sequence[bytes]) -> bool:
    """Whether each line is an object; a lone line may be one row, or a document that holds rows."""
    if not lines[1:]:
        record = parse(lines[0])
        return isinstance(record, dict) and not _lists(record, "")
    first = lines[:100]
    return 2 * sum(isinstance(parse(line), dict) for line in first) >= len(first)


def _lines(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The lines of a text, but for blank ones at its end."""
    rest, blank = b"", 0
    for chunk in _with_end(chunks):
        *whole, rest = (rest + (b"\n" if chunk is None else chunk)).split(b"\n")
        if len(rest) > LONGEST:
            raise InputError(
                f"{name} has a line longer than {LONGEST >> 20} MiB: is this the right file?"
            )
        for line in whole:
            if not line.strip():
                blank += 1
                continue
            yield from [b""] * blank
            blank = 0
            yield line


def _with_end(chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    yield from chunks
    yield None


# -- documents -------------------------------------------------------------------------------------


def _document(file: InputFile, texts: Texts) -> Any:
    text = b"".join(texts(file.look()))
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{file.name} is no JSON that can be read: it nests too deeply") from error
    except ValueError as error:
        raise InputError(f"{file.name} is no JSON: {error}") from error


def _rows_under(document: Any, key: str | None, name: str) -> tuple[list[Any], tuple[str, ...]]:
    """The list of rows of a document: itself, under the key, or the only one that there is."""
    if key is not None:
        found = value_at(document, tuple(key.split(".")))
        if not isinstance(found, list):
            raise InputError(f"{name} has no list of rows under rows={key!r}")
        return found, ()
    if isinstance(document, list):
        return document, ()
    lists = dict(_lists(document, ""))
    if len(lists) != 1:
        which = f"one of {', '.join(map(repr, lists))}" if lists else "its key"
        raise InputError(f"{name} is one JSON object. Say where its rows are: rows= {which}")
    ((path, rows),) = lists.items()
    return rows, (f"Rows of {name} under {path!r}",)


def _lists(value: Any, path: str) -> list[tuple[str, list[Any]]]:
    """The lists of objects inside an object, by path."""
    if isinstance(value, list):
        return [(path, value)] if value and all(isinstance(row, dict) for row in value) else []
    if not isinstance(value, dict) or path.count(".") > _DEEPEST:
        return []
    return [
        found
        for key, inner in value.items()
        for found in _lists(inner, f"{path}.{key}" if path else key)
    ]


# -- objects as rows -------------------------------------------------------------------------------


def _leaves(records: Sequence[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """The columns of objects, and the path to each."""
    columns: dict[str, tuple[str, ...]] = {}

    def add(value: Any, path: tuple[str, ...]) -> None:
        if isinstance(value, dict) and len(path) < _DEEPEST:
            for key, inner in value.items():
                add(inner, (*path, key))
        elif path:
            columns.setdefault(".".join(path), path)

    for record in records:
        add(record, ())
    return columns


def value_at(record: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of keys; None where there is none."""
    for key in path:
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _batches(
    records: Iterator[tuple[int, bytes | dict[str, Any]]],
    columns: Sequence[str],
    paths: Mapping[str, tuple[str, ...]],
) -> Iterator[Batch]:
    import numpy as np

    size = 1 << 16
    good: list[dict[str, Any]] = []
    kept: list[int] = []
    broken: list[Broken] = []
    start, number, lines = 1, 0, False

    def batch() -> Batch:
        offsets = None if not broken else np.array(kept, np.int64) - start
        line = (lambda i, start=start: start + i) if lines else None
        return Batch(_frame(good, columns, paths), start, offsets, line, tuple(broken))

    for number, record in records:
        lines = isinstance(record, bytes)
        row = parse(record) if isinstance(record, bytes) else record
        if isinstance(row, dict):
            good.append(row)
            kept.append(number)
        else:
            broken.append(Broken(number, number, BLANK if record == b"" else NO_OBJECT))
        if number - start + 1 == size:
            yield batch()
            good, kept, broken, start = [], [], [], number + 1
    if number >= start:
        yield batch()


def _frame(
    records: Sequence[dict[str, Any]],
    columns: Sequence[str],
    paths: Mapping[str, tuple[str, ...]],
) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(
        [series_of(name, [value_at(r, paths[name]) for r in records]) for name in columns]
    )


def series_of(name: str, values: Sequence[Any]) -> pl.Series:
    """A column of Python values: of one type where they are, else of text."""
    import polars as pl

    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= {str}:
        return pl.Series(name, values, pl.String)
    if kinds == {bool}:
        return pl.Series(name, values, pl.Boolean)
    if kinds == {int}:
        small = all(value is None or -(2**63) <= value < 2**63 for value in values)
        return pl.Series(name, values if small else list(map(_text, values)))
    if kinds <= {int, float}:
        return pl.Series(name, [None if v is None else float(v) for v in values], pl.Float64)
    if len(kinds) == 1 and not kinds & {dict, list, bytes}:
        return pl.Series(name, values)  # dates, decimals and the like
    return pl.Series(name, list(map(_text, values)), pl.String)


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, default=str) if isinstance(value, dict | list) else str(value)
