"""What a Parquet file says about itself, checked before polars is trusted with it.

polars gives up its whole process on some damaged numbers, and takes memory for a page as a whole.
So the footer and the header of every page that will be read are looked at first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from assay.errors import InputError
from assay.sources.files.thrift import Malformed, Reader

_MAGIC = b"PAR1"
_TAIL = 8
_HEADER = 1 << 12
_LONGEST_HEADER = 1 << 24
# Columns and row groups by the hundred thousand.
_LONGEST_FOOTER = 1 << 24
_LARGEST = 1 << 31
_DATA, _DICTIONARY, _DATA_V2 = 0, 2, 3
# What comes of fields that are missing or of another type than they should be.
_ODD = (Malformed, KeyError, TypeError, IndexError, AttributeError, ValueError)


@dataclass(frozen=True)
class Chunk:
    """One column of one row group: its place in the file, and how many values it has."""

    column: str
    values: int
    start: int
    size: int
    unpacked: int


@dataclass(frozen=True)
class Group:
    """A row group."""

    rows: int
    chunks: tuple[Chunk, ...]


def groups(file: BinaryIO, size: int, name: str) -> list[Group]:
    """The row groups of a Parquet file."""
    try:
        return _groups(file, size)
    except _ODD as odd:
        raise _no_parquet(name, odd) from odd


def largest_reads(
    file: BinaryIO, size: int, found: Sequence[Group], columns: Sequence[str], name: str
) -> int:
    """The most bytes that polars holds for one row group: its packed columns and largest pages."""
    asked = set(columns)
    most = 0
    for group in found:
        held = 0
        for chunk in group.chunks:
            if chunk.column in asked:
                try:
                    held += chunk.size + _largest_page(file, size, chunk)
                except _ODD as odd:
                    raise _no_parquet(name, odd) from odd
        most = max(most, held)
    return most


def _no_parquet(name: str, odd: Exception) -> InputError:
    why = str(odd) if isinstance(odd, Malformed) else "its description is incomplete"
    return InputError(f"{name} is no Parquet file that can be read, it seems to be damaged: {why}")


def _groups(file: BinaryIO, size: int) -> list[Group]:
    file.seek(max(size - _TAIL, 0))
    tail = file.read(_TAIL)
    if size < len(_MAGIC) + _TAIL or tail[4:] != _MAGIC:
        raise Malformed("its end is missing")
    length = int.from_bytes(tail[:4], "little")
    data_end = size - _TAIL - length
    if data_end < len(_MAGIC):
        raise Malformed(f"its footer claims {length:,} bytes, but it has only {size:,}")
    if length > _LONGEST_FOOTER:
        raise Malformed(f"its footer takes {length:,} bytes; {_LONGEST_FOOTER:,} are read at most")
    file.seek(data_end)
    footer = Reader(file.read(length)).struct()
    found = [_group(group, data_end) for group in footer[4]]
    if footer[3] != sum(group.rows for group in found):
        raise Malformed("its row groups do not add up to its rows")
    return found


def _group(group: dict[int, Any], data_end: int) -> Group:
    return Group(rows=_count(group[3]), chunks=tuple(_chunk(chunk, data_end) for chunk in group[1]))


def _chunk(chunk: dict[int, Any], data_end: int) -> Chunk:
    if 1 in chunk:
        raise Malformed("a column of it is in another file")
    about = chunk[3]
    size = _count(about[7])
    # Some writers leave 0 where there is no dictionary, and where there are no rows at all.
    start = min((place for place in (about.get(11), about[9]) if place), default=len(_MAGIC))
    if start < len(_MAGIC) or start + size > data_end:
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
        if page[1] in (_DATA, _DATA_V2):
            values += _count(inner[1])
        elif page[1] == _DICTIONARY and _count(inner[1]) > unpacked:
            raise Malformed("a dictionary claims more values than it has bytes")
        if page[1] == _DATA_V2 and _count(inner[5]) + _count(inner[6]) > unpacked:
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
        reader = Reader(data)
        try:
            return reader.struct(), at + reader.at
        except Malformed:
            # Statistics of long text make long headers.
            if len(data) < length or length >= _LONGEST_HEADER:
                raise
            length *= 16
