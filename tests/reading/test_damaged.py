"""Damaged files are refused: no traceback of another kind, no panic on standard error, no hang."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from random import Random

import polars as pl
import pytest

import assay
from assay import errors

FRAME = pl.DataFrame(
    {
        "label": ["attack" if i % 4 == 0 else "normal" for i in range(24)],
        "score": [i / 31 for i in range(24)],
    }
)


def written(format_: str, draw: Random) -> bytes:
    out = io.BytesIO()
    if format_ == "parquet":
        packing = draw.choice(("zstd", "snappy", "uncompressed"))
        FRAME.write_parquet(out, row_group_size=draw.choice((5, 100)), compression=packing)
    elif format_ == "arrow":
        FRAME.write_ipc(out, compression=draw.choice(("zstd", "uncompressed")))
    elif format_ == "arrows":
        FRAME.write_ipc_stream(out)
    elif format_ == "xlsx":
        FRAME.write_excel(out)
    elif format_ == "jsonl":
        FRAME.write_ndjson(out)
    else:
        FRAME.write_csv(out)
    return out.getvalue()


def damaged(draw: Random, data: bytes) -> bytes:
    """The bytes with some of them changed, most often near an end."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4))):
        size = len(changed)
        at = draw.choice(
            (
                draw.randrange(size),
                min(draw.randrange(200), size - 1),
                max(size - draw.randrange(1, 600), 0),
            )
        )
        kind = draw.randrange(6)
        if kind == 0:
            changed[at] = draw.randrange(256)
        elif kind == 1:
            changed[at] ^= 1 << draw.randrange(8)
        elif kind == 2:
            changed[at : at + 8] = draw.choice((0, 2**31, 2**63 - 1, 2**64 - 1)).to_bytes(
                8, "little"
            )
        elif kind == 3:
            del changed[at : at + draw.choice((1, 4, 30))]
        elif kind == 4:
            changed[at:at] = draw.randbytes(draw.choice((1, 8, 40)))
        else:
            del changed[at:]
        if not changed:
            return b"\0"
    return bytes(changed)


def in_archive(draw: Random, data: bytes) -> bytes:
    """A zip archive with one damaged member."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        hit = draw.choice(old.namelist())
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, damaged(draw, content) if name == hit else content)
    return out.getvalue()


def check(format_: str, seed: int, folder, capfd) -> None:
    draw = Random(f"{format_}-{seed}")
    data = written(format_, draw)
    inside = format_ == "xlsx" and draw.random() < 0.7
    path = folder / f"rows.{format_}"
    path.write_bytes((in_archive if inside else damaged)(draw, data))
    try:
        rows = assay.rows(path, label="label", score="score", on_bad_row="skip")
        used = sum(frame.height for frame in rows.batches())
    except errors.InputError as error:
        assert "rows." in str(error)  # noqa: PT017 - it may raise, or not
    else:
        assert used + rows.refused.rows == rows.source.rows_read
    assert capfd.readouterr().err == ""


FORMATS = ("parquet", "arrow", "arrows", "xlsx", "jsonl", "csv")


@pytest.mark.parametrize("format_", FORMATS)
def test_damaged_files_are_refused(format_, tmp_path, capfd) -> None:
    for seed in range(25):
        check(format_, seed, tmp_path, capfd)


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
def test_many_damaged_files_are_refused(format_, tmp_path, capfd) -> None:
    for seed in range(25, 1000):
        check(format_, seed, tmp_path, capfd)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.csv.gz", b"\x1f\x8b\x08\0garbage", "gzip data"),
        ("a.parquet", b"label,score\n", "is no Parquet file, but text"),
        ("a.csv", b"SQLite format 3\0" + b"\0" * 99, "write sqlite:FILE"),
        ("a.bin", b"\x80\x04\x95pickled", "a pickle, which is never loaded"),
        ("a.xlsx", b"PK\x03\x04nothing", "a.xlsx can't be read"),
        ("a.jsonl", b"[1, 2", "is no JSON"),
        (
            "a.bin",
            b"\x01\x02\x03\x04",
            "of any format that is read: it begins with the bytes 01 02",
        ),
    ],
)
def test_what_a_file_is_is_told(tmp_path, name, data, says) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(errors.InputError, match=says):
        assay.rows(tmp_path / name, label="label")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    FRAME.write_csv(path)
    batches = assay.rows(path, label="label").batches()
    next(batches)
    path.write_text("label\n")
    with pytest.raises(errors.InputError, match="was changed while it was read"):
        list(batches)


def test_a_length_that_no_memory_holds_ends_as_bad_input_and_not_with_an_abort(tmp_path) -> None:
    path = tmp_path / "rows.arrow"
    FRAME.with_columns(pl.Series("label", [None, "a"] * 12)).write_ipc(path, compression="zstd")
    data = bytearray(path.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd")
    data[at - 8 : at] = (2**47).to_bytes(8, "little")
    path.write_bytes(data)
    program = f"import assay; print(len(list(assay.rows({str(path)!r}, label='label').batches())))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, text=True
    )
    assert done.returncode in (1, 3)  # an exception where the library sees it, else the exit
    assert "rows.arrow can't be read, it seems to be damaged" in done.stderr
    assert "panicked" not in done.stderr
