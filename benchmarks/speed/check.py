"""A check of a file of a million rows and forty columns, as the command line runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from speed.timing import Finding

ROWS, COLUMNS = 1_000_000, 40
SECONDS, BYTES = 60, 4e9
_RUN = """
import resource, sys
from assay.cli.app import run
code = run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file=sys.stderr)
sys.exit(code)
"""


def findings(count: int = ROWS) -> Iterator[Finding]:
    """Seconds and the peak of memory, reading included, in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "rows.parquet", Path(folder) / "check.json"
        _write(path, count)
        words = ["check", str(path), "--label", "label", "--out", str(out), "--max-memory", "6GB"]
        started = time.perf_counter()
        before = os.times()
        done = subprocess.run(
            [sys.executable, "-c", _RUN, *words], capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - started
        after = os.times()
        codes = [each["code"] for each in json.loads(out.read_text("utf-8"))["findings"]]
    peak = int(done.stderr.split()[-1])
    work = after.children_user - before.children_user
    yield Finding(f"check {count:,} rows of {COLUMNS} columns", seconds, "s", at_most=SECONDS)
    yield Finding("  of processor time", work, "s")
    yield Finding("  peak memory", peak / 1e6, "MB", at_most=BYTES / 1e6)
    yield Finding(f"  findings {codes}", len(codes), "")


def _write(path: Path, count: int) -> None:
    """Numbers, whole numbers and words; a tenth are attacks, and some rows repeat."""
    import polars as pl

    generator = np.random.default_rng(1)
    attack = generator.random(count) < 0.1
    table: dict[str, object] = {
        f"number{i}": generator.normal(size=count) + 0.3 * attack for i in range(24)
    }
    table |= {f"count{i}": generator.poisson(5 + i, count) for i in range(10)}
    words = np.array(["tcp", "udp", "icmp", "http", "dns"])
    table |= {f"word{i}": words[generator.integers(0, 5, count)] for i in range(6)}
    table["label"] = np.where(attack, "attack", "normal")
    frame = pl.DataFrame(table)
    pl.concat([frame[: count - count // 100], frame[: count // 100]]).write_parquet(path)
