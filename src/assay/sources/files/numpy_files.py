"""NumPy's files: an .npz with a one-dimensional array a column, and a structured .npy."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch
from assay.sources.files.guard import damaged
from assay.sources.files.table import Meter, Piece, Table

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

_PIECE_BYTES = 1 << 24
_LARGEST_INT = 2.0**63
# What NumPy and zipfile raise over bytes that are not what they claim to be.
_ODD = (
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


@dataclass(frozen=True)
class _Member:
    """An array in an .npz: where it is, and of what it claims to be."""

    info: zipfile.ZipInfo
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def npz_table(path: Path, name: str, *, batch_rows: int, meter: Meter) -> Table:
    """Open an .npz."""
    try:
        members = _members(path, name)
    except _ODD as odd:
        if isinstance(odd, InputError):
            raise
        raise damaged(name, odd) from odd
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
    return Table(name, tuple(members), _guarded(pieces, name), rows=rows, narrow=narrow)


def npy_table(path: Path, name: str, *, batch_rows: int, meter: Meter) -> Table:
    """Open a structured .npy, whose fields are the columns."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except _ODD as odd:
        raise damaged(name, odd) from odd
    fields = array.dtype.names
    if fields is None or array.ndim != 1:
        raise InputError(
            f"{name} holds an array of shape {array.shape} without named columns. Save columns "
            f"with numpy.savez(file, label=..., score=...), or as a structured array"
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
    return Table(name, fields, _guarded(pieces, name), rows=len(array), narrow=narrow)


def _guarded(pieces: Any, name: str) -> Any:
    """The same pieces, with what goes wrong in between named."""

    def guarded(columns: Sequence[str]) -> Iterator[Piece]:
        try:
            yield from pieces(columns)
        except _ODD as odd:
            if isinstance(odd, InputError):
                raise
            raise damaged(name, odd) from odd

    return guarded


def _members(path: Path, name: str) -> dict[str, _Member]:
    found: dict[str, _Member] = {}
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        arrays = [info for info in infos if info.filename.endswith(".npy")]
        if not arrays:
            what = "an Excel file" if any("xl/" in i.filename for i in infos) else "a zip archive"
            raise InputError(f"{name} is no .npz: it looks like {what} without arrays in it")
        for info in arrays:
            key = info.filename.removesuffix(".npy")
            if key in found:
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
            found[key] = _Member(info, shape, dtype)
    return found


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read: Any = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, _, dtype = read(file)
    if min(shape, default=0) < 0:
        raise ValueError(f"an array has the shape {shape}")
    return shape, dtype


def _same_rows(chosen: dict[str, _Member], name: str) -> int:
    for column, member in chosen.items():
        _must_be_readable(member.dtype, member.shape[1:], name, column)
    sizes = {column: member.shape[0] if member.shape else 0 for column, member in chosen.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{column} has {size}" for column, size in sizes.items())
        raise LengthMismatch(f"{name}: the arrays must describe the same rows, but {shown}")
    return next(iter(sizes.values()))


def _must_be_readable(dtype: np.dtype[Any], rest: tuple[int, ...], name: str, column: str) -> None:
    if rest or dtype.subdtype is not None:
        raise InputError(f"{name}, column {column!r}: found a table, expected one value a row")
    if dtype.itemsize > _PIECE_BYTES:
        raise InputError(f"{name}, column {column!r}: a value of it takes {dtype.itemsize:,} bytes")
    if dtype.hasobject or dtype.kind not in "biufUSM":
        raise InputError(
            f"{name}, column {column!r}: found {dtype}, which is not read (objects would run "
            f"code). Save numbers, booleans or text of a fixed width"
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
        except UnicodeDecodeError as odd:
            raise InputError(f"{name}, column {column!r}: bytes that are no UTF-8: {odd}") from odd
    if kind == "U":
        _must_be_unicode(values, column, name)
        return pl.Series(column, values.tolist(), pl.String)
    if kind == "M":
        return pl.Series(column, values.astype("datetime64[us]"))
    if kind == "f" and size > 8 and (values.astype(np.float64) != values).any():
        # Wider than float64: whole numbers stay exact, and others are the nearest float64.
        whole = (np.floor(values) == values) & (np.abs(values) < _LARGEST_INT)
        if whole.all():
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
