"""Counts as bytes: a checksum, a head in JSON with a schema number, and an Arrow table."""

from __future__ import annotations

import io
import json
import zlib
from typing import Any

import numpy as np

from assay.counts.counts import Counts, is_float
from assay.counts.grid import Exact, Grid
from assay.counts.reduction import ROWS, check_total
from assay.errors import AssayError, TallyError

SCHEMA = 1
_MAGIC = b"ASSAYCOUNTS\n"
_NUMBER = 4


def write(counts: Counts) -> bytes:
    """The bytes of counts; equal counts of integers have equal bytes."""
    import polars as pl

    head = {
        "schema": SCHEMA,
        "keys": counts.keys,
        "names": counts.names,
        "bits": counts.kept.bits if isinstance(counts.kept, Grid) else None,
    }
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    buffer = io.BytesIO()
    pl.DataFrame(dict(counts.columns)).write_ipc(buffer, compression="zstd")
    body = len(text).to_bytes(_NUMBER, "little") + text + buffer.getvalue()
    return _MAGIC + zlib.crc32(body).to_bytes(_NUMBER, "little") + body


def read(data: bytes) -> Counts:
    """The counts of such bytes.

    >>> read(b"something else")
    Traceback (most recent call last):
    assay.errors.TallyError: these bytes hold no counts: they don't start as counts do
    """
    import polars as pl

    start = len(_MAGIC)
    if data[:start] != _MAGIC:
        raise TallyError("these bytes hold no counts: they don't start as counts do")
    body = data[start + _NUMBER :]
    if zlib.crc32(body).to_bytes(_NUMBER, "little") != data[start : start + _NUMBER]:
        raise TallyError(
            "these bytes of counts are damaged or cut off: their checksum differs. Count the rows "
            "again, or copy the bytes again"
        )
    end = _NUMBER + int.from_bytes(body[:_NUMBER], "little")
    try:
        head = json.loads(body[_NUMBER:end])
        _check_schema(head["schema"])
        table = pl.read_ipc(io.BytesIO(body[end:]))
        return _checked(head, {name: table[name].to_numpy() for name in table.columns})
    except AssayError:
        raise
    # polars panics on some damage; that is no Exception.
    except (pl.exceptions.PanicException, Exception) as error:
        raise TallyError(f"these bytes hold no counts: {error}") from error


def _check_schema(schema: Any) -> None:
    if schema != SCHEMA:
        raise TallyError(
            f"these counts have schema {schema}; this version reads {SCHEMA}. Count the rows again "
            f"with this version"
        )


def _checked(head: dict[str, Any], columns: dict[str, Any]) -> Counts:
    """Refuse a table that no counting gives: whoever wrote it may have made a mistake."""
    keys, names = tuple(head["keys"]), {key: tuple(each) for key, each in head["names"].items()}
    kept = Exact() if head["bits"] is None else Grid(head["bits"])
    sound = set(names) == {key for key in keys if not is_float(key)} and keys[:] == tuple(
        list(columns)[: len(keys)]
    )
    sound = sound and all(
        column.dtype.kind == ("u" if name in names or name == ROWS else "f")
        and (name not in names or not len(column) or column.max() < len(names[name]))
        and (column.dtype.kind == "u" or bool(np.isfinite(column).all()))
        for name, column in columns.items()
    )
    if sound:
        check_total(columns[ROWS])
        tied = np.ones(max(len(columns[ROWS]) - 1, 0), bool)
        for key in keys:
            before, after = columns[key][:-1], columns[key][1:]
            sound = sound and not (tied & (after < before)).any()
            tied &= after == before
        sound = sound and not tied.any()
    if not sound:
        raise TallyError("these bytes hold no counts: the table and its keys contradict each other")
    return Counts(keys, columns, names, kept)
