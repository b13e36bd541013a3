"""Memory: what can't fit is refused, and bombs stay small."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from assay.errors import InputError
from assay.sources.files import default_limit, memory_limit
from assay.sources.files.read import opened_tables
from assay.sources.files.request import Budget, Request, room, used

STATUS = Path("/proc/self/status")


def test_the_default_is_half_of_the_machine() -> None:
    assert 1 << 28 < default_limit() < 1 << 50


def test_columns_must_fit_three_times_and_reading_beside_them() -> None:
    budget = Budget(300)
    budget.must_hold(100, name="f")
    budget.must_hold(100, 200, name="f")
    with pytest.raises(InputError, match=r"f needs about 303 bytes of memory, and 300 bytes are"):
        budget.must_hold(101, name="f")
    with pytest.raises(InputError, match=r"Raise max_memory="):
        budget.must_hold(100, 201, name="f")


def test_a_small_limit_reads_few_rows_at_once(tmp_path: Path) -> None:
    assert Budget(16 << 30).rows_at_once(1 << 20) == 1 << 20
    assert Budget(200 << 20).rows_at_once(1 << 20) == 200 << 8
    assert Budget(200 << 20).rows_at_once(10) == 10
    rows, path = 10_000, tmp_path / "rows.parquet"
    pq.write_table(pa.table({"label": [0, 1] * (rows // 2), "score": [0.5] * rows}), path)
    for limit, longest in ((16 << 20, 4096), (1 << 30, rows)):
        (table,) = opened_tables([str(path)], Request(), Budget(limit))
        sizes = [piece.frame.height for piece in table.pieces(["label", "score"])]
        assert (max(sizes), sum(sizes)) == (longest, rows)


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc to see its own memory")
def test_a_process_that_takes_too_much_is_told_once() -> None:
    told: list[int] = []
    called = threading.Event()

    def exceeded(now: int) -> None:
        told.append(now)
        called.set()

    limit = used() + (64 << 20)
    with memory_limit(limit, exceeded):
        assert not called.wait(0.1)
        held = np.ones(128 << 17)  # 128 MiB
        assert called.wait(60)
        time.sleep(0.05)
    assert len(told) == 1
    assert told[0] > limit
    assert held.nbytes == 128 << 20


def test_the_watcher_ends_with_its_context() -> None:
    before = threading.active_count()
    with memory_limit(1 << 60, lambda now: None):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_room_is_what_a_watched_process_may_take_yet() -> None:
    assert room() is None
    with memory_limit(1 << 60, lambda now: None):
        left = room()
        assert left is not None
        assert 0 <= (1 << 60) - left < 1 << 50
        with memory_limit(0, lambda now: None):
            assert (room() or 0) <= 0
    assert room() is None


# -- bombs -----------------------------------------------------------------------------------------

LIMIT = 64 << 20
LARGEST = 300 << 20


def gzip_of(head: bytes, part: bytes, times: int) -> bytes:
    return gzip.compress(head) + gzip.compress(part, 1) * times


def one_line() -> bytes:
    return gzip_of(b"label,score\na,", b"x" * (1 << 22), 256)


def many_rows() -> bytes:
    return gzip_of(b"label,score\n", b"a,1\n" * (1 << 18), 400)


def long_fields() -> bytes:
    return gzip_of(b"label,score,text\n", (b"a,1," + b"x" * (1 << 20) + b"\n") * 4, 100)


def long_json() -> bytes:
    return gzip.compress(b'{"label": "' + b"x" * (1 << 25), 1)


def parquet_rows() -> bytes:
    file = io.BytesIO()
    table = pa.table({"label": np.zeros(1 << 20, bool), "score": np.zeros(1 << 20)})
    with pq.ParquetWriter(file, table.schema) as writer:
        for _ in range(6):
            writer.write_table(table)
    return file.getvalue()


def parquet_page() -> bytes:
    """Few rows, but a page of 80 MiB that has to be unpacked as a whole."""
    file = io.BytesIO()
    table = pa.table({"label": ["x" * (1 << 20)] * 80, "score": np.zeros(80)})
    pq.write_table(table, file, use_dictionary=False, data_page_size=1 << 30, compression="zstd")
    return file.getvalue()


def arrow_batch() -> bytes:
    file = io.BytesIO()
    table = pa.table({"label": ["x" * (1 << 20)] * 80, "score": np.zeros(80)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return file.getvalue()


def npz_of(rows: int, written: int) -> bytes:
    """Arrays that claim some rows and have others."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("label", "score"):
            with archive.open(f"{name}.npy", "w") as member:
                head = {"descr": "<f8", "fortran_order": False, "shape": (rows,)}
                np.lib.format.write_array_header_1_0(member, head)
                for _ in range(written >> 17):
                    member.write(bytes(1 << 20))
    return file.getvalue()


def npy_claim() -> bytes:
    file = io.BytesIO()
    dtype = np.dtype([("label", "f8"), ("score", "f8")])
    head = {"descr": dtype.descr, "fortran_order": False, "shape": (10**10,)}
    np.lib.format.write_array_header_1_0(file, head)
    return file.getvalue()


BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "a gzip of one line of a gigabyte": ("line.csv.gz", one_line, "line 2: a line longer"),
    "a gzip of a hundred million rows": ("rows.csv.gz", many_rows, "needs about"),
    "a gzip of long fields": ("fields.csv.gz", long_fields, "400 rows"),
    "a gzip of one long object": ("long.jsonl.gz", long_json, "line 1: a line longer"),
    "Parquet of equal rows": ("rows.parquet", parquet_rows, "needs about"),
    "Parquet of one page": ("page.parquet", parquet_page, "needs about"),
    "Arrow of one batch": ("batch.arrow", arrow_batch, "a part of it claims 83,886,080 bytes"),
    "npz of zeros": ("rows.npz", lambda: npz_of(1 << 22, 1 << 22), "needs about"),
    "npz that claims much": ("claim.npz", lambda: npz_of(10**15, 0), "claims"),
    "npy that claims much": ("claim.npy", npy_claim, "damaged"),
    "npy of holes": ("holes.npy", npy_claim, "needs about"),
}
# What is said to a bomb, how long it took, and how large the process grew.
CHILD = """
import json, sys, time
import numpy, polars
from assay.errors import InputError
from assay.sources.files import Request, read

start = time.process_time()
try:
    said = f"{read([sys.argv[2]], Request(max_memory=int(sys.argv[1]))).rows_read} rows"
except InputError as refused:
    said = str(refused)
seconds = time.process_time() - start
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([said, seconds, int(status["VmHWM"].split()[0]) << 10]))
"""


@pytest.mark.sampled(3)
@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc to see its own memory")
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_or_stays_small(bomb: str, tmp_path: Path) -> None:
    name, make, expected = BOMBS[bomb]
    path = tmp_path / name
    path.write_bytes(make())
    if name == "holes.npy":
        os.truncate(path, path.stat().st_size + 16 * 10**10)
    child = [sys.executable, "-c", CHILD, str(LIMIT), str(path)]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    said, seconds, size = json.loads(done.stdout)
    assert re.search(expected, said), said
    assert name in said or said.endswith("rows")
    assert size < LARGEST
    assert seconds < 20


def test_where_the_machine_does_not_tell_its_memory_four_gigabytes_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(_: str) -> int:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "sysconf", unknown)
    assert default_limit() == 4 << 30
