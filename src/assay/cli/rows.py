"""Rows that are written as they come: a table too large to be held."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import click

from assay.cli import aside
from assay.cli.errors import OutputError
from assay.cli.reporting import check_place, discard

if TYPE_CHECKING:
    import polars as pl

Frames: TypeAlias = Iterable["pl.DataFrame"]
Schema: TypeAlias = Mapping[str, Any]

CSV, JSONL, PARQUET = FORMATS = ("csv", "jsonl", "parquet")
_SUFFIXES = {".csv": CSV, ".jsonl": JSONL, ".ndjson": JSONL, ".parquet": PARQUET}
_GROUP_ROWS = 1 << 18
# A number is harmless to a spreadsheet even where it begins like a formula.
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_ODD = r"^(['\t\r\n\x00]|[\s\x00\x{FEFF}\x{200B}\x{2060}]*[-=+@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])"


def format_of(face: str | None, out: Path | None) -> str:
    """The format that was asked for, or that the name of the file tells; refuses what can't be."""
    if out is None:
        if face == PARQUET:
            raise click.UsageError("Parquet is no use on standard output: name a file with --out")
        return face or CSV
    found = face or _SUFFIXES.get(out.suffix.lower())
    if found is None:
        raise click.UsageError(
            f"--out {out}: the suffix tells no format; it is one of {', '.join(_SUFFIXES)}, or say "
            f"--format {'|'.join(FORMATS)}"
        )
    check_place(out)
    return found


def write_rows(frames: Frames, schema: Schema, face: str, out: Path | None) -> None:
    """Write frames one after another, to a file whole or not at all, else to standard output."""
    if out is None:
        _print(_text(frames, schema, face))
        return
    try:
        if out.exists() and not stat.S_ISREG(out.stat().st_mode):
            _into_device(frames, schema, face, out)
            return
        target = Path(os.path.realpath(out))
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        with aside.folder(target.parent) as folder:
            beside = folder / target.name
            _write(frames, schema, face, beside)
            if mode is not None:
                beside.chmod(mode)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError.of(out, error) from error


def _write(frames: Frames, schema: Schema, face: str, path: Path) -> None:
    if face == PARQUET:
        _write_parquet(frames, schema, path)
        return
    with path.open("wb") as stream:
        for text in _text(frames, schema, face):
            stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _into_device(frames: Frames, schema: Schema, face: str, path: Path) -> None:
    """Write to what can't be replaced, as a pipe."""
    if face == PARQUET:
        raise click.UsageError(f"--out {path} is no file, and Parquet can't be written to it")
    with path.open("wb", buffering=0) as stream:
        for text in _text(frames, schema, face):
            _all(stream, text)


def _all(stream: IO[bytes], text: bytes) -> None:
    left = memoryview(text)
    while left:
        left = left[stream.write(left) :]


def _print(texts: Iterator[bytes]) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed; name a file with --out")
    sys.stdout.flush()
    for text in texts:
        try:
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
        except OSError as error:
            discard(sys.stdout)
            if isinstance(error, BrokenPipeError):
                raise
            raise OutputError.of("the rows", error) from error


def _text(frames: Frames, schema: Schema, face: str) -> Iterator[bytes]:
    import polars as pl

    if face == JSONL:
        for frame in frames:
            yield frame.write_ndjson().encode()
        return
    head = pl.DataFrame(schema={_harmless(name): kind for name, kind in schema.items()})
    first = head.write_csv().encode()
    for frame in frames:
        texts = [_neutralised(frame[name]) for name in schema if schema[name] == pl.String]
        yield first + frame.with_columns(texts).write_csv(include_header=False).encode()
        first = b""
    yield first


def _neutralised(column: pl.Series) -> pl.Series:
    """Text that no spreadsheet takes for a formula, as :mod:`assay.report.plain` has it."""
    odd = column.str.contains(_ODD) & ~column.str.contains(_NUMBER)
    return ("'" + column).zip_with(odd, column).alias(column.name) if odd.any() else column


def _harmless(name: str) -> str:
    from assay.report.plain import neutralised

    return neutralised(name)


def _write_parquet(frames: Frames, schema: Schema, path: Path) -> None:
    from polars.io.plugins import register_io_source

    failed: list[BaseException] = []

    def source(*_: Any) -> Iterator[pl.DataFrame]:
        try:
            yield from frames
        except BaseException as error:
            failed.append(error)
            raise

    scan: Callable[..., pl.LazyFrame] = register_io_source
    try:
        scan(source, schema=dict(schema)).sink_parquet(
            path, row_group_size=_GROUP_ROWS, maintain_order=True
        )
    except BaseException:
        if failed:
            raise failed[0] from None  # as it was, and not in the words of polars
        raise
