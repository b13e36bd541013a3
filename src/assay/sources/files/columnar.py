"""Parquet and Arrow IPC: slices of the columns asked for, read by polars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.sources.files import arrow, parquet
from assay.sources.files.formats import ARROW_STREAM
from assay.sources.files.guard import guarded
from assay.sources.files.table import Meter, Piece, Table
from assay.sources.number_checks import is_narrow

if TYPE_CHECKING:
    import polars as pl

_WIDEST = 16


def parquet_table(path: Path, name: str, *, batch_rows: int, meter: Meter) -> Table:
    """Open a Parquet file."""
    import polars as pl

    size = path.stat().st_size
    with path.open("rb") as file:
        groups = parquet.groups(file, size, name)
    rows = sum(group.rows for group in groups)
    scanned = pl.scan_parquet(path.absolute(), glob=False, hive_partitioning=False)

    def at_once(columns: Sequence[str]) -> int:
        with path.open("rb") as file:
            pages = parquet.largest_reads(file, size, groups, columns, name)
        return pages + _WIDEST * len(columns) * min(batch_rows, rows)

    return _table(scanned, name, rows, batch_rows, size, at_once, meter)


def arrow_table(
    path: Path, name: str, format_: str, *, batch_rows: int, limit: int, meter: Meter
) -> Table:
    """Open an Arrow IPC file, or a stream saved as a file."""
    import polars as pl

    size = path.stat().st_size
    with path.open("rb") as file:
        found = arrow.batches(file, size, name, limit)
    if format_ == ARROW_STREAM:
        with guarded(name):
            # A stream has no index; it is read as a whole, which the limit was asked about above.
            scanned = pl.read_ipc_stream(path.absolute()).lazy()
        held = found.total
    else:
        scanned = pl.scan_ipc(path.absolute(), glob=False, hive_partitioning=False)
        held = found.largest

    def at_once(columns: Sequence[str]) -> int:
        return held + _WIDEST * len(columns) * min(batch_rows, found.rows)

    return _table(scanned, name, found.rows, batch_rows, size, at_once, meter)


def _table(
    scanned: pl.LazyFrame,
    name: str,
    rows: int,
    step: int,
    size: int,
    at_once: Callable[[Sequence[str]], int],
    meter: Meter,
) -> Table:
    with guarded(name):
        schema = dict(scanned.collect_schema())

    def pieces(columns: Sequence[str]) -> Iterator[Piece]:
        start = 0
        with guarded(name):
            frames = scanned.select(columns).collect_batches(chunk_size=step, engine="streaming")
        while True:
            with guarded(name):
                frame = next(frames, None)
            if frame is None:
                break
            yield Piece(frame, range(start + 1, start + 1 + frame.height))
            start += frame.height
            meter.add(size * frame.height // rows)
        if start != rows:
            raise InputError(
                f"{name} can't be read, it seems to be damaged: it claims {rows:,} rows and "
                f"has {start:,}"
            )

    narrow = frozenset(column for column, dtype in schema.items() if is_narrow(dtype))
    return Table(name, tuple(schema), pieces, rows=rows, narrow=narrow, at_once=at_once)
