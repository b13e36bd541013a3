"""What Parquet and Arrow IPC files say of themselves, checked before polars is trusted with them.

polars gives up its whole process on some damaged numbers, and takes memory for a page as a whole.
So the footer and the header of every page that will be read, and the description of every record
batch, are looked at first.
"""

from __future__ import annotations

import base64
import re
import struct
import zoneinfo
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

from assay.errors import InputError

# -- just enough of Thrift's compact protocol, which Parquet is described in -----------------------

_DEEPEST = 32
_LONGEST_NUMBER = 10  # of 7 bits a byte
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_NUMBERS, _NARROW = frozenset((_I16, _I32, _I64)), frozenset((_I32,))


class Malformed(ValueError):
    """The bytes are not of this protocol."""


class ThriftReader:
    """Reads values one after another; a struct becomes a dictionary by field number.

    ``made`` makes something smaller of each element of a list, by the number of the outermost field
    that holds it: a file of many row groups has hundreds of thousands of dictionaries. Numbers of
    ``narrow`` outermost fields have 32 bits: some readers skip others, and so read another file.
    """

    def __init__(
        self,
        data: bytes,
        made: Mapping[int, Callable[[dict[int, Any]], Any]] | None = None,
        narrow: Container[int] = (),
    ) -> None:
        self._data = data
        self._made = made or {}
        self._narrow = narrow
        self._numbers = _NUMBERS
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The struct that begins here."""
        fields: dict[int, Any] = {}
        number = 0
        data, end = self._data, len(self._data)
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._whole()
            if not depth:
                self._numbers = _NARROW if number in self._narrow else _NUMBERS
            # Most fields are numbers of a byte or two: a file of many row groups has a million.
            if kind in self._numbers and self.at < end and (value := data[self.at]) < 128:
                self.at += 1
                fields[number] = (value >> 1) ^ -(value & 1)
            elif kind in (_TRUE, _FALSE):
                fields[number] = kind == _TRUE
            elif kind == _LIST and not depth and number in self._made:
                fields[number] = self._list(depth, self._made[number])
            else:
                fields[number] = self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise Malformed("nested too deeply")
        if kind in self._numbers:
            return self._whole()
        if kind == _BINARY:
            return self._take(self._varint())
        if kind in (_LIST, _SET):
            return self._list(depth)
        if kind == _STRUCT:
            return self.struct(depth + 1)
        if kind in (_TRUE, _FALSE, _BYTE):
            # In a list a boolean takes a byte.
            return self._byte()
        if kind == _DOUBLE:
            return struct.unpack("<d", self._take(8))[0]
        if kind == _MAP:
            return self._map(depth)
        raise Malformed(f"no type {kind} may stand there")

    def _list(self, depth: int, made: Callable[[Any], Any] | None = None) -> list[Any]:
        head = self._byte()
        size, kind = head >> 4, head & 15
        if size == 15:
            size = self._varint()
        self._must_have(size)
        if made is not None:
            return [made(self._value(kind, depth + 1)) for _ in range(size)]
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _map(self, depth: int) -> list[tuple[Any, Any]]:
        size = self._varint()
        self._must_have(size)
        if not size:
            return []
        kinds = self._byte()
        return [
            (self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1))
            for _ in range(size)
        ]

    def _must_have(self, size: int) -> None:
        # Every value takes a byte at least, so a list can't claim more than there is.
        if size > len(self._data) - self.at:
            raise Malformed("ends early")

    def _byte(self) -> int:
        try:
            value = self._data[self.at]
        except IndexError:
            raise Malformed("ends early") from None
        self.at += 1
        return value

    def _take(self, size: int) -> bytes:
        self._must_have(size)
        self.at += size
        return self._data[self.at - size : self.at]

    def _varint(self) -> int:
        value = shift = 0
        for byte in self._data[self.at : self.at + _LONGEST_NUMBER]:
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
        short = self.at >= len(self._data)
        raise Malformed("ends early" if short else "a number of more than 64 bits")

    def _whole(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


# -- Parquet ---------------------------------------------------------------------------------------

_PARQUET_MAGIC = b"PAR1"
_PARQUET_TAIL = 8
_HEADER = 1 << 12
_LONGEST_HEADER = 1 << 24
# Columns and row groups by the hundred thousand.
_LONGEST_FOOTER = 1 << 24
_LARGEST = 1 << 31
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3
_SCHEMA, _ROW_GROUPS = 2, 4
# What comes of fields that are missing or of another type than they should be.
_ODD = (Malformed, KeyError, TypeError, IndexError, AttributeError, ValueError)


class Chunk(NamedTuple):
    """One column of one row group: its place in the file, and how many values it has."""

    column: str
    values: int
    start: int
    size: int
    unpacked: int


class Group(NamedTuple):
    """A row group."""

    rows: int
    chunks: tuple[Chunk, ...]


def row_groups(file: BinaryIO, size: int, name: str) -> list[Group]:
    """The row groups of a Parquet file."""
    try:
        return _groups(file, size)
    except _ODD as error:
        raise _no_parquet(name, error) from error


def largest_reads(
    file: BinaryIO, size: int, groups: Sequence[Group], columns: Sequence[str], name: str
) -> int:
    """The most bytes that polars holds for one row group: its packed columns and largest pages."""
    asked = set(columns)
    most = 0
    for group in groups:
        group_bytes = 0
        for chunk in group.chunks:
            if chunk.column in asked:
                try:
                    group_bytes += chunk.size + _largest_page(file, size, chunk)
                except _ODD as error:
                    raise _no_parquet(name, error) from error
        most = max(most, group_bytes)
    return most


def _no_parquet(name: str, error: Exception) -> InputError:
    why = str(error) if isinstance(error, Malformed) else "its description is incomplete"
    return InputError(f"{name} is no Parquet file that can be read, it seems to be damaged: {why}")


def _groups(file: BinaryIO, size: int) -> list[Group]:
    file.seek(max(size - _PARQUET_TAIL, 0))
    tail = file.read(_PARQUET_TAIL)
    if size < len(_PARQUET_MAGIC) + _PARQUET_TAIL or tail[4:] != _PARQUET_MAGIC:
        raise Malformed("its end is missing")
    length = int.from_bytes(tail[:4], "little")
    data_end = size - _PARQUET_TAIL - length
    if data_end < len(_PARQUET_MAGIC):
        raise Malformed(f"its footer claims {length:,} bytes, but it has only {size:,}")
    if length > _LONGEST_FOOTER:
        raise Malformed(f"its footer takes {length:,} bytes; {_LONGEST_FOOTER:,} are read at most")
    file.seek(data_end)
    data = file.read(length)
    made = {_ROW_GROUPS: lambda group: _group(group, data_end)}
    footer = ThriftReader(data, made, narrow={_SCHEMA}).struct()
    groups: list[Group] = footer[_ROW_GROUPS]
    if footer[3] != sum(group.rows for group in groups):
        raise Malformed("its row groups do not add up to its rows")
    return groups


def _group(group: dict[int, Any], data_end: int) -> Group:
    return Group(rows=_count(group[3]), chunks=tuple(_chunk(chunk, data_end) for chunk in group[1]))


def _chunk(chunk: dict[int, Any], data_end: int) -> Chunk:
    if 1 in chunk:
        raise Malformed("a column of it is in another file")
    about = chunk[3]
    size = _count(about[7])
    # Some writers leave 0 where there is no dictionary, and where there are no rows at all.
    start = min(
        (place for place in (about.get(11), about[9]) if place), default=len(_PARQUET_MAGIC)
    )
    if start < len(_PARQUET_MAGIC) or start + size > data_end:
        raise Malformed("a column lies outside of it")
    return Chunk(about[3][0].decode(), _count(about[5]), start, size, _count(about[6]))


def _count(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        raise Malformed(f"a number is {number!r}")
    return number


def _largest_page(file: BinaryIO, size: int, chunk: Chunk) -> int:
    at, values, largest = chunk.start, 0, 0
    while values < chunk.values and at < chunk.start + chunk.size:
        page, at = _page_header(file, at)
        unpacked, packed = _count(page[2]), _count(page[3])
        inner: Any = page.get(5) or page.get(7) or page.get(8)
        if page[1] in (_DATA_PAGE, _DATA_PAGE_V2):
            values += _count(inner[1])
        elif page[1] == _DICTIONARY_PAGE and _count(inner[1]) > unpacked:
            raise Malformed("a dictionary claims more values than it has bytes")
        if page[1] == _DATA_PAGE_V2 and _count(inner[5]) + _count(inner[6]) > unpacked:
            raise Malformed("the levels of a page are longer than the page")
        at += packed
        if values > chunk.values or at > size or max(unpacked, packed) >= _LARGEST:
            raise Malformed("a page claims more than there is")
        largest = max(largest, unpacked)
    return largest


def _page_header(file: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """A page's header, and where the page itself begins."""
    length = _HEADER
    while True:
        file.seek(at)
        data = file.read(length)
        reader = ThriftReader(data)
        try:
            return reader.struct(), at + reader.at
        except Malformed:
            # Statistics of long text make long headers.
            if len(data) < length or length >= _LONGEST_HEADER:
                raise
            length *= 16


# -- Arrow IPC -------------------------------------------------------------------------------------

_ARROW_MAGIC = b"ARROW1"
_ARROW_TAIL = 10
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_BLOCK = 24
_CONTINUES = b"\xff\xff\xff\xff"
_LONGEST_MESSAGE = 1 << 28


class _TooLarge(ValueError):
    """A claim that may be true, but is not within the memory allowed."""


@dataclass(frozen=True)
class Batches:
    """How many rows a file has, and the bytes of its largest batch and of all, unpacked."""

    rows: int
    largest: int
    total: int


def record_batches(file: BinaryIO, size: int, name: str, limit: int) -> Batches:
    """Look at every batch of an Arrow IPC file or stream."""
    rows = largest = total = 0
    try:
        for records, unpacked in _messages(file, size, limit):
            rows += records
            largest = max(largest, unpacked)
            total += unpacked
    except _TooLarge as error:
        raise InputError(
            f"{name}: {error}. It is damaged, or needs a larger max_memory="
        ) from error
    except (struct.error, ValueError, IndexError) as error:
        raise InputError(
            f"{name} is no Arrow IPC file that can be read, it seems to be damaged: {error}"
        ) from error
    return Batches(rows, largest, total)


def _messages(file: BinaryIO, size: int, limit: int) -> Iterator[tuple[int, int]]:
    file.seek(0)
    if file.read(len(_ARROW_MAGIC)) != _ARROW_MAGIC:
        yield from _of_stream(file, size, limit)
        return
    footer, _ = _footer(file, size)
    for field in (2, 3):
        for at in footer.structs(field, _BLOCK):
            place, about, body = struct.unpack_from("<qi4xq", footer.data, at)
            if place < 0 or about < 8 or body < 0 or place + about + body > size:
                raise ValueError("a batch lies outside of it")
            file.seek(place)
            head = file.read(8)
            skipped = 8 if head[:4] == _CONTINUES else 4
            file.seek(place + skipped)
            message = _Table.root(file.read(about - skipped))
            yield _checked_batch(message, file, place + about, body, limit)


def _footer(file: BinaryIO, size: int) -> tuple[_Table, int]:
    """The footer of a file, and where it begins."""
    file.seek(max(size - _ARROW_TAIL, 0))
    tail = file.read(_ARROW_TAIL)
    if size < 2 * _ARROW_TAIL or tail[4:] != _ARROW_MAGIC:
        raise ValueError("its end is missing")
    length = int.from_bytes(tail[:4], "little", signed=True)
    if not 0 < length <= size - _ARROW_TAIL - len(_ARROW_MAGIC):
        raise ValueError(f"its footer claims {length:,} bytes, but it has only {size:,}")
    start = size - _ARROW_TAIL - length
    file.seek(start)
    return _Table.root(file.read(length)), start


def _of_stream(file: BinaryIO, size: int, limit: int) -> Iterator[tuple[int, int]]:
    at = 0
    while at < size:
        file.seek(at)
        head = file.read(8)
        if head[:4] != _CONTINUES:
            raise ValueError(f"byte {at} should begin a message")
        length = int.from_bytes(head[4:], "little", signed=True)
        if length == 0:
            return
        if length < 0 or length > _LONGEST_MESSAGE or at + 8 + length > size:
            raise ValueError(f"the message at byte {at} claims {length:,} bytes")
        message = _Table.root(file.read(length))
        body = message.number(3, "<q")
        at += 8 + length
        if body < 0 or at + body > size:
            raise ValueError("a batch lies outside of it")
        yield _checked_batch(message, file, at, body, limit)
        at += body


def _checked_batch(
    message: _Table, file: BinaryIO, start: int, body: int, limit: int
) -> tuple[int, int]:
    """The rows of a batch and its bytes unpacked; refuses claims that can't be true."""
    kind = message.number(1, "<B")
    if kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return 0, 0
    records = message.table(2)
    rows = records.number(0, "<q") if kind == _RECORD_BATCH else 0
    if kind == _DICTIONARY_BATCH:
        records = records.table(1)
    if rows < 0:
        raise ValueError(f"a batch claims {rows} rows")
    for at in records.structs(1, 16):
        length, nulls = struct.unpack_from("<qq", records.data, at)
        if length < 0 or not 0 <= nulls <= length:
            raise ValueError("a column of a batch claims a length that can't be")
    packed = records.has(3)
    unpacked = 0
    for at in records.structs(2, 16):
        place, length = struct.unpack_from("<qq", records.data, at)
        if place < 0 or length < 0 or place + length > body:
            raise ValueError("a buffer lies outside of its batch")
        size = length
        if packed and length:
            file.seek(start + place)
            size = int.from_bytes(file.read(8), "little", signed=True)
            size = length if size == -1 else size
        if not 0 <= size <= limit:
            raise _TooLarge(f"a part of it claims {size:,} bytes, and {limit:,} are allowed")
        unpacked += size
    return rows, unpacked


@dataclass(frozen=True)
class _Table:
    """A table of a flat buffer."""

    data: bytes
    at: int

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, struct.unpack_from("<I", data)[0])

    def place(self, field: int) -> int | None:
        """Where a field is."""
        index = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        if index < 0:
            raise ValueError("a table lies outside of its message")
        slot = 4 + 2 * field
        if slot >= struct.unpack_from("<H", self.data, index)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, index + slot)[0]
        return self.at + offset if offset else None

    def has(self, field: int) -> bool:
        """Whether a field is there."""
        return self.place(field) is not None

    def number(self, field: int, kind: str) -> int:
        """A number, 0 where it is left out."""
        place = self.place(field)
        return 0 if place is None else int(struct.unpack_from(kind, self.data, place)[0])

    def table(self, field: int) -> _Table:
        """A table within this one."""
        place = self.place(field)
        if place is None:
            raise ValueError("a part is missing")
        return _Table(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def structs(self, field: int, size: int) -> range:
        """The places of the structs of a vector."""
        place = self.place(field)
        if place is None:
            return range(0)
        start = place + struct.unpack_from("<I", self.data, place)[0]
        count = struct.unpack_from("<I", self.data, start)[0]
        if start + 4 + count * size > len(self.data):
            raise ValueError("a list is longer than its message")
        return range(start + 4, start + 4 + count * size, size)

    def tables(self, field: int) -> Iterator[_Table]:
        """The tables of a vector."""
        for at in self.structs(field, 4):
            yield _Table(self.data, at + struct.unpack_from("<I", self.data, at)[0])

    def text(self, field: int) -> str:
        """A text, empty where it is left out."""
        place = self.place(field)
        if place is None:
            return ""
        start = place + struct.unpack_from("<I", self.data, place)[0]
        length = struct.unpack_from("<I", self.data, start)[0]
        return self.data[start + 4 : start + 4 + length].decode()


# -- the columns of Arrow's schema, which Parquet files of pyarrow hold too ------------------------

_DECIMAL, _TIMESTAMP, _DURATION = 7, 10, 18
# Types that polars has not.
_UNREAD = {
    11: "interval",
    14: "union",
    22: "run-end encoded",
    25: "list view",
    26: "large list view",
}
_SCHEMA_KEY = b"ARROW:schema"
_DAMAGED = (struct.error, ValueError, IndexError, KeyError, TypeError, RecursionError)
_OFFSET = re.compile(r"[+-]\d\d:?\d\d")


def unread_column(file: BinaryIO, size: int) -> tuple[str, str] | None:
    """The first column whose type polars has not, and the type; None where each is read."""
    try:
        schema = _schema_in_parquet(file, size) or _schema(file, size)[0]
        for field in schema.tables(1):
            kind = _unread_type(field)
            if kind is not None:
                return field.text(0), kind
    except _DAMAGED:
        return None
    return None


def _unread_type(field: _Table) -> str | None:
    kind = field.number(2, "<B")
    if kind in _UNREAD:
        return _UNREAD[kind]
    if kind == _DECIMAL and field.table(3).number(2, "<i") > 128:
        return "decimal256"
    if kind == _TIMESTAMP and not _is_zone(field.table(3).text(1)):
        return f"timestamp of the unknown time zone {field.table(3).text(1)!r}"
    return next((kind for kind in map(_unread_type, field.tables(5)) if kind is not None), None)


def _is_zone(name: str) -> bool:
    if not name or _OFFSET.fullmatch(name):
        return True
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _schema(file: BinaryIO, size: int) -> tuple[_Table, int]:
    """The schema of an Arrow IPC file or stream, and where what holds it begins."""
    file.seek(0)
    head = file.read(8)
    if head.startswith(_ARROW_MAGIC):
        footer, start = _footer(file, size)
        return footer.table(1), start
    return _Table.root(file.read(int.from_bytes(head[4:], "little"))).table(2), len(head)


def _schema_in_parquet(file: BinaryIO, size: int) -> _Table | None:
    """What pyarrow left of its own types; None where this is no Parquet file."""
    file.seek(0)
    if file.read(len(_PARQUET_MAGIC)) != _PARQUET_MAGIC:
        return None
    file.seek(size - 8)
    length = int.from_bytes(file.read(4), "little")
    file.seek(size - 8 - length)
    about = ThriftReader(file.read(length)).struct()
    (text,) = (pair[2] for pair in about[5] if pair[1] == _SCHEMA_KEY)
    message = base64.b64decode(text)
    return _Table.root(message[8 if message[:4] == _CONTINUES else 4 :]).table(2)


def second_columns(file: BinaryIO, size: int) -> dict[str, tuple[int, bytes]]:
    """Columns of moments in whole seconds: where which bytes make milliseconds of the same numbers.

    polars multiplies seconds by a thousand, whether an int64 can hold that or not.
    """
    try:
        schema, start = _schema(file, size)
        return {
            field.text(0): (start + place, change)
            for field in schema.tables(1)
            for place, change in _in_milliseconds(field)
        }
    except _DAMAGED:
        return {}  # polars says so


def _in_milliseconds(field: _Table) -> Iterator[tuple[int, bytes]]:
    kind = field.place(2)
    if kind is None or field.number(2, "<B") != _TIMESTAMP or field.has(4):
        return
    unit = field.table(3).place(0)
    if unit is None:
        # Seconds are what goes without saying of a moment; of a duration it is milliseconds.
        yield kind, bytes([_DURATION])
    elif not field.table(3).number(0, "<h"):
        yield unit, b"\x01\x00"
