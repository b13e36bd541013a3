"""What an Arrow IPC file says about itself, checked before polars is trusted with it.

A packed buffer claims its size in eight bytes, and polars gives up its whole process on a wrong
claim. So the description of every record batch is looked at first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from assay.errors import InputError

_MAGIC = b"ARROW1"
_TAIL = 10
_DICTIONARY, _RECORDS = 2, 3
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


def batches(file: BinaryIO, size: int, name: str, limit: int) -> Batches:
    """Look at every batch of an Arrow IPC file or stream."""
    rows = largest = total = 0
    try:
        for records, unpacked in _messages(file, size, limit):
            rows += records
            largest = max(largest, unpacked)
            total += unpacked
    except _TooLarge as odd:
        raise InputError(f"{name}: {odd}. It is damaged, or needs a larger max_memory=") from odd
    except (struct.error, ValueError, IndexError) as odd:
        raise InputError(
            f"{name} is no Arrow IPC file that can be read, it seems to be damaged: {odd}"
        ) from odd
    return Batches(rows, largest, total)


def _messages(file: BinaryIO, size: int, limit: int) -> Iterator[tuple[int, int]]:
    file.seek(0)
    if file.read(len(_MAGIC)) != _MAGIC:
        yield from _of_stream(file, size, limit)
        return
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    if size < 2 * _TAIL or tail[4:] != _MAGIC:
        raise ValueError("its end is missing")
    length = int.from_bytes(tail[:4], "little", signed=True)
    if not 0 < length <= size - _TAIL - len(_MAGIC):
        raise ValueError(f"its footer claims {length:,} bytes, but it has only {size:,}")
    file.seek(size - _TAIL - length)
    footer = _Table.root(file.read(length))
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
            yield _checked(message, file, place + about, body, limit)


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
        yield _checked(message, file, at, body, limit)
        at += body


def _checked(message: _Table, file: BinaryIO, start: int, body: int, limit: int) -> tuple[int, int]:
    """The rows of a batch and its bytes unpacked; refuses claims that can't be true."""
    kind = message.number(1, "<B")
    if kind not in (_DICTIONARY, _RECORDS):
        return 0, 0
    records = message.table(2)
    rows = records.number(0, "<q") if kind == _RECORDS else 0
    if kind == _DICTIONARY:
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

    def _place(self, field: int) -> int | None:
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
        return self._place(field) is not None

    def number(self, field: int, kind: str) -> int:
        """A number, 0 where it is left out."""
        place = self._place(field)
        return 0 if place is None else int(struct.unpack_from(kind, self.data, place)[0])

    def table(self, field: int) -> _Table:
        """A table within this one."""
        place = self._place(field)
        if place is None:
            raise ValueError("a part is missing")
        return _Table(self.data, place + struct.unpack_from("<I", self.data, place)[0])

    def structs(self, field: int, size: int) -> range:
        """The places of the structs of a vector."""
        place = self._place(field)
        if place is None:
            return range(0)
        start = place + struct.unpack_from("<I", self.data, place)[0]
        count = struct.unpack_from("<I", self.data, start)[0]
        if start + 4 + count * size > len(self.data):
            raise ValueError("a list is longer than its message")
        return range(start + 4, start + 4 + count * size, size)
