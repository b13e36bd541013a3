"""Tables of rows in every format, read as a command reads them and once more by another reader."""

from __future__ import annotations

import bz2
import contextlib
import csv
import functools
import gzip
import io
import json
import lzma
import math
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl

from hostile.mutation import PIECES, damaged, damaged_text, hurt, json_bytes, twisted
from hostile.subject import REFUSED, USED, Case, SilentLoss, Subject

try:
    from compression import zstd
except ImportError:
    from backports import zstd


class NoOpinion(Exception):
    """The second reader refuses what the first one reads."""


_LABELS = ("normal", "attack", 'a "quoted", one', "é", "7", "two\nlines")
_SCORES = ("0.5", "1", "-2.5e-3", " 0.25", "1e-300", "0.1", ".5", "7.")
_QUERY = "SELECT * FROM t ORDER BY rowid"


@functools.cache
def table(rows: int = 24) -> dict[str, list[Any]]:
    """A small table of what detectors leave."""
    return {
        "label": [_LABELS[i % 4] for i in range(rows)],
        "score": [i / 7 for i in range(rows)],
        "k": [i % 3 for i in range(rows)],
        "site": [None if i % 11 == 10 else f"site {i % 2}" for i in range(rows)],
    }


# -- how they are written --------------------------------------------------------------------------


def delimited(draw: Random, sign: str = ",") -> bytes:
    """Delimited text, in one of the ways in which programs write it."""
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=sign,
        quoting=draw.choice((csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL)),
        lineterminator=draw.choice(("\n", "\n", "\r\n")),
    )
    writer.writerow(("label", "score", "k", "site"))
    for i in range(draw.choice((0, 1, 5, 24))):
        writer.writerow((draw.choice(_LABELS), draw.choice(_SCORES), i % 3, f"site {i % 2}"))
    return out.getvalue().encode()


def json_rows(draw: Random) -> bytes:
    """JSON lines, or one array of objects."""
    rows = [dict(zip(table(), row, strict=True)) for row in zip(*table().values(), strict=True)]
    if draw.random() < 0.6:
        rows[draw.randrange(len(rows))] = twisted(draw, draw.choice(rows))
    if draw.random() < 0.25:
        return json_bytes(draw, rows)
    return b"".join(json_bytes(draw, row) + b"\n" for row in rows)


def _frame() -> pl.DataFrame:
    return pl.DataFrame(table(), strict=False)


def _parquet(draw: Random) -> bytes:
    out = io.BytesIO()
    if draw.random() < 0.3:
        import pyarrow.parquet

        pyarrow.parquet.write_table(
            _frame().to_arrow(), out, data_page_version=draw.choice(("1.0", "2.0"))
        )
    else:
        packing = draw.choice(("zstd", "snappy", "uncompressed", "gzip"))
        _frame().write_parquet(out, row_group_size=draw.choice((5, 100)), compression=packing)
    return out.getvalue()


def _arrow(draw: Random) -> bytes:
    out = io.BytesIO()
    packing = draw.choice(("zstd", "lz4", "uncompressed"))
    if draw.random() < 0.5:
        _frame().write_ipc(out, compression=packing)
    else:
        _frame().write_ipc_stream(out, compression=packing)
    return out.getvalue()


def _npz(draw: Random) -> bytes:
    out = io.BytesIO()
    arrays = {name: np.array(values) for name, values in table().items() if name != "site"}
    (np.savez_compressed if draw.random() < 0.5 else np.savez)(out, **arrays)
    return out.getvalue()


def _npy(draw: Random) -> bytes:
    out = io.BytesIO()
    if draw.random() < 0.5:
        np.save(out, np.array([table()["k"], table()["score"]]).T)
        return out.getvalue()
    rows = np.empty(24, [("label", "U16"), ("score", "f8"), ("k", "i4")])
    for name in ("label", "score", "k"):
        rows[name] = table()[name]
    np.save(out, rows)
    return out.getvalue()


@functools.cache
def sqlite_file() -> bytes:
    """A database with the table in it."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (label, score, k, site)")
    rows = zip(*table().values(), strict=True)
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    return connection.serialize()


@functools.cache
def _xlsx() -> bytes:
    out = io.BytesIO()
    _frame().write_excel(out)
    return out.getvalue()


def _in_archive(draw: Random, data: bytes) -> bytes:
    """A zip archive whose members were damaged before they were packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        hit = draw.choice(names)
        for name in names:
            content = old.read(name)
            if name == hit:
                text = content.startswith(b"<")
                content = damaged_text(draw, content) if text else damaged(draw, content)
            new.writestr(name, content)
    return out.getvalue()


_PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
    "zip": lambda data: _zipped({"rows.csv": data}),
}


def _zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _packed(draw: Random) -> Case:
    packing = draw.choice(tuple(_PACKED))
    data = delimited(draw)
    kind = draw.randrange(8)
    if kind == 0:
        # Small files that are large when unpacked.
        unit = draw.choice((b"\0", b"a,", b"\n", b"label,score\n", b"attack,0.5\n"))
        data = b"label,score\n" + unit * (draw.choice((1, 30)) * (1 << 20) // len(unit))
    elif kind == 1:
        data = _PACKED[draw.choice(tuple(_PACKED))](data)
    elif kind <= 4:
        data = hurt(draw, data)
    if packing == "zip" and kind == 5:
        members = {"a.csv": data, "b.csv": data, "../../c.csv": data, "d/": b""}
        whole = _zipped({name: members[name] for name in draw.sample(sorted(members), 2)})
    else:
        whole = _PACKED[packing](data)
    if kind >= 5:
        whole = damaged(draw, whole)
    elif kind == 4:
        whole += draw.choice((whole, b"\0" * 9, b"x"))
    return Case(whole, f"rows.csv.{packing}")


# -- how they are read -----------------------------------------------------------------------------


def _asked(draw: Random, case: Case, least: int = 64) -> Case:
    how = {
        "on_bad_row": draw.choice(("stop", "skip")),
        "batch_rows": draw.choice((7, 1000)),
        "chunk_bytes": draw.choice((least, 1 << 20)),
        "label": draw.choice(("label", "label", "label", "k")),
        "columns": draw.random() < 0.3,
    }
    return replace(case, how=json.dumps(how))


def _read(case: Case, folder: Path) -> tuple[Any, Any]:
    """The rows of a case, and how they were asked for."""
    from assay.sources.files import Request, read

    how = json.loads(case.how)
    path = folder / case.name
    path.write_bytes(case.content)
    more = {"slices": ("k", "site"), "cluster": "label"} if how.pop("columns") else {}
    request = Request(score="score", max_memory=1 << 30, **how, **more)
    given = f"sqlite:{path}?{_QUERY}" if case.name.endswith(".sqlite") else str(path)
    rows = read([given], request)
    used = len(rows.columns["y_true"].codes)
    if used + rows.rows_refused != rows.rows_read:
        raise SilentLoss(f"{rows.rows_read} read, {used} used, {rows.rows_refused} refused")
    return rows, how


def _attempt(second: Callable[[bytes, str], Iterator[tuple[Any, Any]]] | None) -> Any:
    def attempt(case: Case, folder: Path) -> str:
        from assay.errors import AssayError

        try:
            rows, how = _read(case, folder)
        except AssayError:
            return REFUSED
        if second is not None and not rows.rows_refused:
            with contextlib.suppress(NoOpinion):
                _must_agree(rows, list(second(case.content, how["label"])))
        return USED

    return attempt


def _must_agree(rows: Any, others: list[tuple[Any, Any]]) -> None:
    truth = rows.columns["y_true"]
    ours = [truth.names[code] for code in truth.codes]
    scores = rows.columns["y_score"].tolist()
    if len(ours) != len(others):
        raise SilentLoss(f"{len(ours)} rows, where the second reader has {len(others)}")
    for i, (label, score) in enumerate(others):
        if not _same_label(ours[i], label):
            raise SilentLoss(f"row {i + 1}: label {ours[i]!r}, the second reader has {label!r}")
        if not _same_number(scores[i], score):
            raise SilentLoss(f"row {i + 1}: score {scores[i]!r}, the second reader has {score!r}")


def _same_label(ours: Any, other: Any) -> bool:
    if isinstance(ours, str) and isinstance(other, int | float) and not isinstance(other, bool):
        return ours == json.dumps(other) or _same_number(float(ours), other)
    if isinstance(ours, str):
        return ours == (other if isinstance(other, str) else json.dumps(other))
    if isinstance(ours, bool) or isinstance(other, bool):
        return str(ours).lower() == str(other).lower() or float(ours) == float(other)
    return _same_number(float(ours), other)


def _same_number(ours: float, other: Any) -> bool:
    if isinstance(other, str) and other.strip().endswith("%"):
        other = Decimal(other.strip().removesuffix("%").strip()) / 100
    try:
        value = float(other)
    except OverflowError:
        return False
    return ours == value or (math.isnan(ours) and math.isnan(value))


_BLANK_BEFORE_QUOTE = re.compile(r'[ \t]+"')


def _by_csv(sign: str) -> Callable[[bytes, str], Iterator[tuple[Any, Any]]]:
    def rows(content: bytes, label: str) -> Iterator[tuple[Any, Any]]:
        text = content.decode("utf-8-sig")
        records = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))
        while records and not records[-1]:
            records.pop()
        if any(_BLANK_BEFORE_QUOTE.match(field) for record in records for field in record):
            raise NoOpinion  # there the blanks and the quotes are part of the value
        at, score = records[0].index(label), records[0].index("score")
        for record in records[1:]:
            if len(record) != len(records[0]):
                raise SilentLoss(f"a record has {len(record)} fields, and was used: {record!r}")
            yield record[at], record[score]

    return rows


def _by_json(content: bytes, label: str) -> Iterator[tuple[Any, Any]]:
    text = content.decode("utf-8-sig")
    if text.lstrip().startswith("["):
        records = json.loads(text)
    else:
        records = [json.loads(line) for line in text.split("\n") if line.strip()]
    for record in records:
        yield record[label], record["score"]


def _by_pyarrow(content: bytes, label: str) -> Iterator[tuple[Any, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        read = pq.read_table(io.BytesIO(content), columns=[label, "score"])
    except (pa.ArrowException, OSError, ValueError, KeyError) as odd:
        raise NoOpinion from odd
    columns = read.to_pydict()
    yield from zip(columns[label], columns["score"], strict=True)


# -- what is fuzzed --------------------------------------------------------------------------------


def _subject(
    name: str,
    share: int,
    made: Callable[[Random], bytes],
    damage: Callable[[Random, bytes], bytes],
    second: Callable[[bytes, str], Iterator[tuple[Any, Any]]] | None = None,
) -> Subject:
    def make(draw: Random) -> Case:
        content = made(draw)
        for _ in range(draw.choice((0, 1, 1, 1, 1, 2))):
            content = damage(draw, content)
        return _asked(draw, Case(content, f"rows.{name}"))

    return Subject(name, share, make, _attempt(second))


def _either(draw: Random, data: bytes) -> bytes:
    return _in_archive(draw, data) if draw.random() < 0.5 else damaged(draw, data)


_BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)


def _sound_archive(draw: Random, data: bytes) -> bytes:
    try:
        return _either(draw, data)
    except _BROKEN_ARCHIVE:
        return damaged(draw, data)  # it was damaged before


def _none(draw: Random, data: bytes) -> bytes:  # noqa: ARG001
    return data


def _blob(draw: Random) -> bytes:
    """Bytes that are no table, made of pieces that mean something to somebody."""
    return b"".join(draw.choices(PIECES, k=draw.randrange(1, 40)))


SUBJECTS = (
    _subject("csv", 220, delimited, hurt, _by_csv(",")),
    _subject("tsv", 40, lambda draw: delimited(draw, "\t"), hurt, _by_csv("\t")),
    _subject("jsonl", 120, json_rows, hurt, _by_json),
    _subject("json", 40, json_rows, hurt, _by_json),
    _subject("parquet", 90, _parquet, damaged, _by_pyarrow),
    _subject("arrow", 50, _arrow, damaged),
    _subject("npy", 30, _npy, damaged),
    _subject("npz", 30, _npz, _sound_archive),
    _subject("sqlite", 30, lambda _: sqlite_file(), damaged),
    _subject("xlsx", 20, lambda _: _xlsx(), _sound_archive),
    _subject("unknown", 10, _blob, _none),
    Subject("packed", 50, lambda draw: _asked(draw, _packed(draw), 1 << 19), _attempt(None)),
)
