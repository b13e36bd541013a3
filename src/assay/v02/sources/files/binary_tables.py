"""Tables in binary files: Parquet, Arrow IPC, Excel, NumPy's; and zip archives of one file."""

from __future__ import annotations

import contextlib
import lzma
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from operator import add
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, LengthMismatch, install_line
from assay.v02.sources.files.columnar_metadata import (
    largest_reads,
    record_batches,
    row_groups,
    second_columns,
    unread_column,
)
from assay.v02.sources.files.formats import ARROW_STREAM, NPZ, XLSX, damaged, guarded
from assay.v02.sources.files.request import Budget, Meter, OpenedTable, Piece
from assay.v02.sources.row_checks import is_narrow
from assay.v02.sources.times import moments_of, moments_of_seconds

if TYPE_CHECKING:
    import polars as pl

_WIDEST = 16


def parquet_table(path: Path, name: str, *, batch_rows: int, meter: Meter) -> OpenedTable:
    """Open a Parquet file."""
    import polars as pl

    size = path.stat().st_size
    with path.open("rb") as file:
        groups = row_groups(file, size, name)
    rows = sum(group.rows for group in groups)
    with _naming_types(path, name):
        scanned = pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)
        schema = dict(scanned.collect_schema())

    def at_once(columns: Sequence[str]) -> int:
        with path.open("rb") as file:
            pages = largest_reads(file, size, groups, columns, name)
        return pages + _WIDEST * len(columns) * min(batch_rows, rows)

    read = partial(_batches, scanned, path, name)
    return _table(
        schema, read, path, name, rows=rows, step=batch_rows, at_once=at_once, meter=meter
    )


def arrow_table(
    path: Path, name: str, format_: str, *, batch_rows: int, limit: int, meter: Meter
) -> OpenedTable:
    """Open an Arrow IPC file, or a stream saved as a file."""
    import polars as pl

    size = path.stat().st_size
    with path.open("rb") as file:
        batches = record_batches(file, size, name, limit)
        seconds = second_columns(file, size)
    stream = format_ == ARROW_STREAM

    def scan(source: Path | bytes) -> pl.LazyFrame:
        # A stream has no index; it is read as a whole, which the limit was asked about above.
        if stream:
            return pl.read_ipc_stream(source).lazy()
        return pl.scan_ipc(source, glob=False, hive_partitioning=False)

    with _naming_types(path, name):
        scanned = scan(path.absolute())
        schema = dict(scanned.collect_schema())
    batch_bytes = batches.total if stream else batches.largest

    def at_once(columns: Sequence[str]) -> int:
        copied = 2 * size if seconds.keys() & columns else 0
        return batch_bytes + copied + _WIDEST * len(columns) * min(batch_rows, batches.rows)

    def read(columns: Sequence[str], step: int) -> Iterator[pl.DataFrame]:
        zones = {c: getattr(schema[c], "time_zone", None) for c in columns if c in seconds}
        if not zones:
            yield from _batches(scanned, path, name, columns, step)
            return
        content = bytearray(path.read_bytes())
        for place, change in (seconds[column] for column in zones):
            content[place : place + len(change)] = change
        with guarded(name):
            table = scan(bytes(content))
        for frame in _batches(table, path, name, columns, step):
            yield frame.with_columns(
                moments_of_seconds(frame[column].to_physical(), zone)
                for column, zone in zones.items()
            )

    rows = batches.rows
    return _table(
        schema, read, path, name, rows=rows, step=batch_rows, at_once=at_once, meter=meter
    )


@contextlib.contextmanager
def _naming_types(path: Path, name: str) -> Iterator[None]:
    """What polars can't read is damaged, unless a column is of a type that it has not."""
    try:
        with guarded(name):
            yield
    except InputError as error:
        with path.open("rb") as file:
            column = unread_column(file, path.stat().st_size)
        if column is None:
            raise
        raise InputError(
            f"{name} can't be read, since its column {column[0]!r} is of Arrow's type {column[1]}, "
            f"which is not read, asked for or not: write the file without that column, or make it "
            f"text, numbers or booleans"
        ) from error


def _batches(
    scanned: pl.LazyFrame, path: Path, name: str, columns: Sequence[str], step: int
) -> Iterator[pl.DataFrame]:
    with _naming_types(path, name):
        frames = scanned.select(columns).collect_batches(chunk_size=step, engine="streaming")
    while True:
        with _naming_types(path, name):
            frame = next(frames, None)
        if frame is None:
            return
        yield frame


def _table(
    schema: Mapping[str, pl.DataType],
    read: Callable[[Sequence[str], int], Iterator[pl.DataFrame]],
    path: Path,
    name: str,
    *,
    rows: int,
    step: int,
    at_once: Callable[[Sequence[str]], int],
    meter: Meter,
) -> OpenedTable:
    size = path.stat().st_size

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        start = 0
        for frame in read(columns, step):
            yield Piece(frame, range(start + 1, start + 1 + frame.height))
            start += frame.height
            meter.add(size * frame.height // rows)
        with _naming_types(path, name):
            if start != rows:
                raise damaged(name, f"it claims {rows:,} rows and has {start:,}")

    narrow = frozenset(column for column, dtype in schema.items() if is_narrow(dtype))
    return OpenedTable(name, tuple(schema), pieces, rows=rows, narrow=narrow, at_once=at_once)


# -- zip archives, and Excel workbooks, which are some too -----------------------------------------

_WORKBOOK = "xl/workbook.xml"
_SHEETS = "xl/worksheets/"
_ARRAY = ".npy"
# What macOS puts beside the file that was meant.
_ASIDE = ("__MACOSX/", ".DS_Store")
_LISTED = 10
_DAMAGED_ZIP = (
    zipfile.BadZipFile,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    zlib.error,
    lzma.LZMAError,
)
# Cells take more as values than packed in their XML.
_CELLS = 4


@contextlib.contextmanager
def archive(path: Path, name: str) -> Iterator[tuple[str, BinaryIO | None]]:
    """What a zip archive is: arrays, a workbook, or one file that is given open."""
    try:
        opened = zipfile.ZipFile(path)
    except _DAMAGED_ZIP as error:
        raise damaged(name, error) from error
    with opened:
        members = [
            info
            for info in opened.infolist()
            if not info.filename.endswith("/") and not info.filename.startswith(_ASIDE)
        ]
        names = [info.filename for info in members]
        if _WORKBOOK in names:
            yield XLSX, None
        elif not names or any(member.endswith(_ARRAY) for member in names):
            yield NPZ, None
        elif len(names) > 1:
            shown = ", ".join(map(repr, names[:_LISTED]))
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            raise InputError(
                f"{name} is a zip archive of {len(names)} files, and one is expected: {shown}{more}"
                f". Unpack it and name the files"
            )
        else:
            try:
                member = opened.open(members[0])
            except _DAMAGED_ZIP as error:
                raise damaged(name, error) from error
            with member:
                yield members[0].filename, cast(BinaryIO, _ZipMember(member, name))


class _ZipMember:
    """A file in an archive, whose damage shows only while it is read."""

    def __init__(self, member: IO[bytes], name: str) -> None:
        self._member, self._name = member, name

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        try:
            return self._member.read(size)
        except _DAMAGED_ZIP as error:
            raise damaged(self._name, error) from error


def excel_table(
    path: Path, name: str, *, sheet: str | None, batch_rows: int, budget: Budget, meter: Meter
) -> OpenedTable:
    """Open the sheet of a workbook whose first row names the columns."""
    with zipfile.ZipFile(path) as book:
        cells = sum(i.file_size for i in book.infolist() if i.filename.startswith(_SHEETS))
    budget.must_hold(0, _CELLS * cells, name=name)
    frame = _sheet(path, name, sheet)
    if not frame.columns:
        raise EmptyInput(f"{name} has a sheet without cells; a header and rows were expected")
    size = path.stat().st_size

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        for start in range(0, frame.height, batch_rows):
            part = frame.select(columns).slice(start, batch_rows)
            # The header is the first line.
            yield Piece(part, range(start + 1, start + 1 + part.height), partial(add, start + 2))
            meter.add(size * part.height // frame.height)

    return OpenedTable(name, tuple(frame.columns), pieces, rows=frame.height)


def _sheet(path: Path, name: str, sheet: str | None) -> pl.DataFrame:
    import polars as pl

    try:
        import fastexcel
    except ImportError as error:
        raise InputError(
            f"{name} is an Excel file, which the extra excel reads: {install_line('excel')}; or "
            f"save it as CSV"
        ) from error
    try:
        book = fastexcel.read_excel(str(path))
        sheets = book.sheet_names
    except fastexcel.FastExcelError as error:
        raise damaged(name, error) from error
    if not sheets:
        raise EmptyInput(f"{name} is a workbook without a sheet")
    if sheet is None and len(sheets) > 1:
        shown = " or ".join(f"sheet={title!r}" for title in sheets[:_LISTED])
        raise InputError(f"{name} has {len(sheets)} sheets. Say which is meant: {shown}")
    title = sheets[0] if sheet is None else sheet
    if title not in sheets:
        shown = ", ".join(map(repr, sheets[:_LISTED]))
        raise InputError(f"{name} has no sheet {title!r}; its sheets are {shown}")
    try:
        with guarded(name):
            frame = book.load_sheet(title).to_polars()
    except fastexcel.FastExcelError as error:
        raise damaged(name, error) from error
    # A workbook has no whole numbers, only numbers that are whole: a label 1 is not 1.0.
    integer_columns = [
        column.name
        for column in frame.iter_columns()
        if column.dtype == pl.Float64 and (column == column.round(0)).fill_null(value=True).all()
    ]
    return (
        frame.with_columns(pl.col(integer_columns).cast(pl.Int64, strict=False))
        if integer_columns
        else frame
    )


# -- NumPy's files: an .npz with an array a column, and a structured .npy --------------------------

Array: TypeAlias = npt.NDArray[Any]

_PIECE_BYTES = 1 << 24
_LARGEST_INT = 2.0**63
_OBJECTS = (
    "objects, which are not read, since that would run code. Save numbers, booleans or text of a "
    "fixed width, as by .astype(str)"
)
# What NumPy and zipfile raise over bytes that are not what they claim to be.
_DAMAGED_ARRAYS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    OSError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    SystemError,
    MemoryError,
    tokenize.TokenError,
)


# NumPy refuses longer heads of arrays.
_LONGEST_HEAD = 12 + 10_000
_ODD_UNIT = re.compile(
    rb"(?:[mM]8|(?:datetime|timedelta)64)"
    rb"\[(?!(?:[1-9]\d*)?(?:[YMWDhms]|[munpfa]s|generic)\])[^\]]{0,20}\]?"
)


@dataclass(frozen=True)
class _Member:
    """An array in an .npz: where it is, and of what it claims to be."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def npz_table(path: Path, name: str, *, batch_rows: int, meter: Meter) -> OpenedTable:
    """Open an .npz."""
    try:
        members = _members(path, name)
    except _DAMAGED_ARRAYS as error:
        if isinstance(error, InputError):
            raise
        raise damaged(name, error) from error
    size = path.stat().st_size
    flat = {key: member.shape[0] for key, member in members.items() if len(member.shape) == 1}

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        chosen = {column: members[column] for column in columns}
        rows = _same_rows(chosen, name)
        wide = sum(member.dtype.itemsize for member in chosen.values())
        step = max(1, min(batch_rows, _PIECE_BYTES // max(wide, 1)))
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(path))
            files = {c: stack.enter_context(archive.open(m.info)) for c, m in chosen.items()}
            for column in columns:
                _header(files[column])
            for start in range(0, rows, step):
                count = min(step, rows - start)
                yield _piece(
                    {c: _read(files[c], m.dtype, count) for c, m in chosen.items()}, start, name
                )
                meter.add(size * count // rows)

    rows = next(iter(flat.values())) if len(set(flat.values())) == 1 else None
    narrow = frozenset(key for key, m in members.items() if _is_narrow(m.dtype))
    return OpenedTable(name, tuple(members), _guarded(pieces, name), rows=rows, narrow=narrow)


def npy_table(path: Path, name: str, *, batch_rows: int, meter: Meter) -> OpenedTable:
    """Open a structured .npy, whose fields are the columns."""
    try:
        with path.open("rb") as file:
            must_have_units(file.read(_LONGEST_HEAD))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was written by an old version, which is no matter
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except _DAMAGED_ARRAYS as error:
        if "Python objects" in str(error):
            raise InputError(f"{name}: found an array of {_OBJECTS}") from error
        raise damaged(name, error) from error
    fields = array.dtype.names
    if fields is not None and array.ndim != 1:
        raise InputError(
            f"{name} holds a structured array of shape {array.shape}; expected one dimension, a "
            f"row a prediction: save it after .reshape(-1)"
        )
    if fields is None:
        raise InputError(
            f"{name} holds an array of shape {array.shape} without named columns. Save an array "
            f"a column by name, numpy.savez(file, **{{'label': ..., 'score': ...}}), or a "
            f"structured array"
        )
    size = path.stat().st_size
    step = max(1, min(batch_rows, _PIECE_BYTES // max(array.dtype.itemsize, 1)))

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        for column in columns:
            _must_be_readable(array.dtype[column], (), name, column)
        for start in range(0, len(array), step):
            rows = array[start : start + step]
            yield _piece({column: rows[column] for column in columns}, start, name)
            meter.add(size * len(rows) // len(array))

    narrow = frozenset(c for c in fields if _is_narrow(array.dtype[c]))
    return OpenedTable(name, fields, _guarded(pieces, name), rows=len(array), narrow=narrow)


def _guarded(pieces: Any, name: str) -> Any:
    """The same pieces, with what goes wrong in between named."""

    def guarded(columns: Sequence[str]) -> Iterator[Piece]:
        try:
            yield from pieces(columns)
        except _DAMAGED_ARRAYS as error:
            if isinstance(error, InputError):
                raise
            raise damaged(name, error) from error

    return guarded


def _members(path: Path, name: str) -> dict[str, _Member]:
    members: dict[str, _Member] = {}
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        arrays = [info for info in infos if info.filename.endswith(".npy")]
        if not arrays:
            likeness = (
                "an Excel file" if any("xl/" in i.filename for i in infos) else "a zip archive"
            )
            raise InputError(f"{name} is no .npz: it looks like {likeness} without arrays in it")
        for info in arrays:
            key = info.filename.removesuffix(".npy")
            if key in members:
                raise InputError(f"{name} holds the array {key!r} twice")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{name} packs {key!r} in a way that numpy.savez does not")
            with archive.open(info) as file:
                shape, dtype = _header(file)
                size = int(np.prod(shape, dtype=object)) * dtype.itemsize + file.tell()
            if not dtype.hasobject and size != info.file_size:
                raise InputError(
                    f"{name} is damaged: the array {key!r} claims {size:,} bytes and has "
                    f"{info.file_size:,}"
                )
            members[key] = _Member(info, shape, dtype)
    return members


def must_have_units(array: bytes) -> None:
    r"""Refuse moments in units that NumPy does not write, by the bytes that an array begins with.

    It reads them as fractions of others, and one over nothing ends the whole process.

    >>> must_have_units(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<M8[us]', ")
    >>> must_have_units(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<M8[s/0]', ")
    Traceback (most recent call last):
        ...
    ValueError: moments in units that there are not: M8[s/0]
    """
    version, length = array[6:7], array[8:12]
    end = 12 + int.from_bytes(length[:2] if version == b"\x01" else length, "little")
    odd = _ODD_UNIT.search(array[:end])
    if odd is not None:
        raise ValueError(f"moments in units that there are not: {odd[0].decode('latin1')}")


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    must_have_units(file.read(_LONGEST_HEAD))
    file.seek(0)
    version = np.lib.format.read_magic(file)
    read: Any = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was written by an old version, which is no matter
        shape, _, dtype = read(file)
    if min(shape, default=0) < 0:
        raise ValueError(f"an array has the shape {shape}")
    return shape, dtype


def _same_rows(chosen: dict[str, _Member], name: str) -> int:
    for column, member in chosen.items():
        _must_be_readable(member.dtype, member.shape[1:], name, column)
        if not member.shape:
            raise InputError(
                f"{name}, column {column!r}: found a single value, expected one value a row"
            )
    sizes = {column: member.shape[0] for column, member in chosen.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{column} has {size}" for column, size in sizes.items())
        raise LengthMismatch(f"{name}: the arrays must describe the same rows, but {shown}")
    return next(iter(sizes.values()))


def _must_be_readable(dtype: np.dtype[Any], rest: tuple[int, ...], name: str, column: str) -> None:
    if rest or dtype.subdtype is not None:
        wide = rest or dtype.shape
        many = " x ".join(map(str, wide))
        raise InputError(
            f"{name}, column {column!r}: found a table, {many} values a row, expected one value a "
            f"row. Save each of its columns under a name of its own"
        )
    if dtype.itemsize > _PIECE_BYTES:
        raise InputError(f"{name}, column {column!r}: a value of it takes {dtype.itemsize:,} bytes")
    if dtype.hasobject:
        raise InputError(f"{name}, column {column!r}: found {_OBJECTS}")
    if dtype.kind not in "biufUSM":
        raise InputError(
            f"{name}, column {column!r}: found {dtype}, expected numbers, booleans, moments or "
            f"text of a fixed width. Save it as one of these"
        )


def _read(file: IO[bytes], dtype: np.dtype[Any], count: int) -> Array:
    data = file.read(count * dtype.itemsize)
    return np.frombuffer(data, dtype, count)


def _is_narrow(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" and dtype.itemsize <= 4


def _piece(columns: dict[str, Array], start: int, name: str) -> Piece:
    import polars as pl

    frame = pl.DataFrame([_series(column, values, name) for column, values in columns.items()])
    return Piece(frame, range(start + 1, start + 1 + frame.height))


def _series(column: str, values: Array, name: str) -> pl.Series:
    import polars as pl

    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "S":
        try:
            return pl.Series(column, [value.decode() for value in values.tolist()], pl.String)
        except UnicodeDecodeError as error:
            raise InputError(
                f"{name}, column {column!r}: bytes that are no UTF-8: {error}"
            ) from error
    if kind == "U":
        _must_be_unicode(values, column, name)
        return pl.Series(column, values.tolist(), pl.String)
    if kind == "M":
        return moments_of(values, column)
    if kind == "f" and size > 8 and (values.astype(np.float64) != values).any():
        # Wider than float64: whole numbers stay exact, and others are the nearest float64.
        integral = (np.floor(values) == values) & (np.abs(values) < _LARGEST_INT)
        if integral.all():
            return pl.Series(column, values.astype(np.int64))
    if kind == "f":
        # Half precision and foreign byte orders become what polars knows.
        return pl.Series(column, values.astype(np.float32 if size <= 4 else np.float64))
    return pl.Series(column, values.astype(values.dtype.newbyteorder("="), copy=True))


def _must_be_unicode(values: Array, column: str, name: str) -> None:
    """NumPy lets any 32 bits be a character."""
    points = np.ascontiguousarray(values).view(values.dtype.str[0] + "u4")
    if ((points > 0x10FFFF) | ((points >= 0xD800) & (points <= 0xDFFF))).any():
        raise InputError(f"{name}, column {column!r}: text with characters that do not exist")
