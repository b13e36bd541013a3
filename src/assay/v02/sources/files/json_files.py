"""JSON: objects, one a line or in an array; those inside are columns with dots in their names."""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import chain, combinations, pairwise
from typing import Any, TypeAlias

import numpy as np

from assay.errors import EmptyInput, InputError
from assay.v02.sources.files.builders import series_of
from assay.v02.sources.files.delimited import BLANK, LONGEST, TOO_LONG
from assay.v02.sources.files.formats import Window
from assay.v02.sources.files.request import BrokenRecord, OpenedTable, Piece

_LOOKED_AT = 1000
_EXACT = 2.0**53
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def jsonl(chunks: Iterator[bytes], name: str, *, exact: str | None = None) -> OpenedTable:
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
    return OpenedTable(
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
    broken: list[BrokenRecord] = []
    rows: Any = range(row, row + len(lines))
    if objects is None:
        objects, kept = [], []
        for i, record in enumerate(lines):
            made, reason = json_object(record)
            try:
                for path in columns.values():
                    value_at(made or {}, path)
            except Unreadable as error:
                made, reason = None, str(error)
            if made is None:
                broken.append(BrokenRecord(row + i, line + i, reason))
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
        values = json.loads(f"[{joined.decode()}]", object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None
    objects = values[::2]
    if len(objects) != len(lines) or set(map(type, objects)) != {dict}:
        return None
    if pairs.repeated if pairs is not None else _may_repeat(text, objects, columns):
        return None
    return objects if all(between == mark for between in values[1::2]) else None


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
        members = dict(pairs)
        self.repeated = self.repeated or len(members) < len(pairs)
        return members


def _may_repeat(text: bytes, objects: list[dict[str, Any]], columns: Iterable[str]) -> bool:
    """Whether a key may stand twice in an object; its name as a value looks the same from here."""
    for column in columns:
        written = text.count(f'"{column}"'.encode(errors="surrogatepass"))
        if written > sum(column in each for each in objects):
            return True
    return False


# -- arrays, as the lines that their elements would be ---------------------------------------------

_BLANKS = re.compile(r"[ \t\r\n]*")
_BEHIND = tuple(" \t\r\n,]")
_LINE_ENDS = str.maketrans("\r\n", "  ")
_BEGIN, _ELEMENT, _COMMA, _END = "[", "an object", "a comma", "]"


def array_lines(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    r"""The elements of an array, one a line; what is held is of the order of a chunk.

    >>> b"".join(array_lines(iter([b'[{"a": 1},', b' {"a":', b" 2}]"]), "rows.json"))
    b'{"a": 1}\n{"a": 2}\n'
    """
    elements = _Elements(name)
    for chunk in chain(chunks, [b""]):
        lines = elements.after(chunk.decode(), final=not chunk)
        if lines:
            yield "\n".join([*lines, ""]).encode(errors="surrogatepass")


class _Elements:
    """The elements of an array that comes chunk by chunk."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""
        self._expected = _BEGIN
        self._number = 0
        self._decode = json.JSONDecoder().raw_decode

    def after(self, chunk: str, *, final: bool) -> list[str]:
        """The elements that are complete with a further chunk."""
        text, at, lines = self._text + chunk, 0, []
        while True:
            blanks = _BLANKS.match(text, at)
            at = blanks.end() if blanks else at
            if at == len(text):
                break
            sign = text[at]
            if self._expected == _END:
                raise InputError(f"{self._name}: there is text behind the end of its JSON array")
            if self._expected == _BEGIN or (self._expected == _COMMA and sign == ","):
                self._expected, at = _ELEMENT, at + 1
            elif sign == "]" and (self._expected == _COMMA or not self._number):
                self._expected, at = _END, at + 1
            else:
                end = self._end(text, at, final=final)
                if end is None:
                    break
                lines.append(text[at:end].translate(_LINE_ENDS))
                self._expected, self._number, at = _COMMA, self._number + 1, end
        self._text = text[at:]
        if final and self._expected != _END:
            raise InputError(
                f"{self._name}: its JSON array ends in the middle, behind {self._number:,} elements"
            )
        return lines

    def _end(self, text: str, at: int, *, final: bool) -> int | None:
        """Where an element ends, None where that is still to come."""
        if self._expected == _COMMA:
            raise self._odd("a comma or the end of the array was expected")
        try:
            end: int = self._decode(text, at)[1]
        except (ValueError, RecursionError) as error:
            if final or len(text) - at > LONGEST:
                why = (
                    error.msg
                    if isinstance(error, json.JSONDecodeError)
                    else "it is nested too deep"
                )
                raise self._odd(why) from error
            return None
        # A number may go on behind what is there of it, as 0 does in 0.5.
        ended = final or text[at] in '{["' or text[end : end + 1] in _BEHIND
        return end if ended else None

    def _odd(self, why: str) -> InputError:
        return InputError(
            f"{self._name}: its JSON array can't be read at element {self._number + 1:,}: {why}"
        )


# -- keys with dots, such as alert.severity --------------------------------------------------------
#
# A key that is written with its dots is itself; else each dot may be a step into an object.

# The keys that lead to a value, one for each object.
Path: TypeAlias = tuple[str, ...]

NO_UNICODE = "text that is not Unicode (half of a surrogate pair)"
_MOST_DOTS = 6
_DEEPEST = 8


def paths_of(key: str) -> tuple[Path, ...]:
    """Every way to read a key with dots, as it stands first.

    >>> paths_of("alert.severity")
    (('alert.severity',), ('alert', 'severity'))
    """
    parts = key.split(".")
    dots = range(1, len(parts))
    if len(dots) > _MOST_DOTS:
        return ((key,), tuple(parts))
    paths = []
    for steps in range(len(parts)):
        for cuts in combinations(dots, steps):
            edges = [0, *cuts, len(parts)]
            paths.append(tuple(".".join(parts[a:b]) for a, b in pairwise(edges)))
    # An empty key is no step: "a..b" and ".a" are names as they stand.
    return (paths[0], *(path for path in paths[1:] if all(path)))


class JsonObject(dict[str, Any]):
    """An object of JSON that remembers which of its keys stood there twice."""

    repeated: frozenset[str] = frozenset()


def _of_pairs(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        times = Counter(key for key, _ in pairs)
        made.repeated = frozenset(key for key, count in times.items() if count > 1)
    return made


def json_object(line: bytes) -> tuple[JsonObject | None, str]:
    """The object on a line, or what stands there instead."""
    if not line.strip():
        return None, BLANK
    try:
        made = json.loads(line.decode(), object_pairs_hook=_of_pairs)
    except UnicodeDecodeError as error:
        return None, f"bytes that are not UTF-8 (0x{line[error.start : error.start + 1].hex()})"
    except json.JSONDecodeError as error:
        return None, f"no JSON object ({error.msg} at character {error.pos + 1})"
    except (ValueError, RecursionError):
        return None, "no JSON object that can be read"
    if not isinstance(made, JsonObject):
        return None, f"JSON that is no object ({type(made).__name__})"
    return made, ""


class Unreadable(Exception):
    """A record whose value can't be told: the message says why."""


def value_at(record: dict[str, Any], path: Path) -> Any:
    """The value that a path leads to, None where it leads nowhere."""
    here: Any = record
    for key in path:
        if not isinstance(here, dict):
            return None
        if key in getattr(here, "repeated", ()):
            raise Unreadable(f"the key {key!r} twice in one object")
        here = here.get(key)
    if isinstance(here, str) and not _is_unicode(here):
        raise Unreadable(NO_UNICODE)
    return here


def value_of(record: dict[str, Any], paths: Iterable[Path]) -> Any:
    """The value of a key by its paths: as it stands, else by the one path that leads somewhere."""
    first, *others = paths
    value = value_at(record, first)
    if value is not None or not others:
        return value
    read = [(path, nested) for path in others if (nested := value_at(record, path)) is not None]
    if len(read) > 1:
        raise Unreadable(two_readings(".".join(first), [path for path, _ in read]))
    return read[0][1] if read else None


def two_readings(key: str, paths: Iterable[Path]) -> str:
    """That a key can be read in more than one way, and in which."""
    ways = " and ".join(" in ".join(map(repr, reversed(path))) for path in paths)
    return f"the key {key!r} that can be read in two ways, as {ways}"


def text_of(value: Any) -> str | None:
    """A value as text, numbers without exponent, as the reader of whole pieces writes them."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        text = format(Decimal(repr(value)), "f") if value - value == 0 else repr(value)
        return text.removesuffix(".0")
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def leaves_of(records: Iterable[dict[str, Any]]) -> dict[str, list[Path]]:
    """The keys of records by their names with dots, and where each is to be found.

    An object is what is inside of it, unless it is empty or no object in another record.

    >>> leaves_of([{"score": 1, "alert": {"severity": 2}}])
    {'score': [('score',)], 'alert.severity': [('alert', 'severity')]}
    """
    leaves: dict[str, list[Path]] = {}
    for record in records:
        for path in _leaves(record, ()):
            paths = leaves.setdefault(".".join(path), [])
            if path not in paths:
                paths.append(path)
    return leaves


def _leaves(record: dict[str, Any], above: Path) -> Iterator[Path]:
    for key, value in record.items():
        path = (*above, key)
        if isinstance(value, dict) and value and len(path) < _DEEPEST:
            yield from _leaves(value, path)
        else:
            yield path
