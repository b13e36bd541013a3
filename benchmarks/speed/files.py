"""Large files, evaluated on the command line beside a polars group_by of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from speed.timing import Finding

_PART = 1 << 22
_MEASURED = """
import json, resource, subprocess, sys, time
started = time.perf_counter()
done = subprocess.run(
    json.loads(sys.argv[1]), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
)
seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"seconds": seconds, "peak": peak, "out": done.stdout}))
sys.exit(done.returncode)
"""
_GROUPED = """
import json, sys, time
import polars as pl
started = time.perf_counter()
rows = pl.scan_parquet(sys.argv[1], glob=False).group_by("score").agg(
    pl.len(), pl.col("label").sum()
).collect(engine="streaming").height
print(json.dumps({"seconds": time.perf_counter() - started, "rows": rows}))
"""


def write(path: Path, count: int) -> None:
    """Rows of (bool, float32), one attack in a hundred."""
    random = np.random.default_rng(7)
    folder = path.with_suffix("")
    folder.mkdir()
    for start in range(0, count, _PART):
        size = min(_PART, count - start)
        label = random.random(size) < 0.01
        score = random.random(size, np.float32)
        score[label] = np.sqrt(score[label])
        part = pl.DataFrame({"label": label, "score": score})
        part.write_parquet(folder / f"{start:012}.parquet")
    pl.scan_parquet(folder).sink_parquet(path)
    for part in folder.iterdir():
        part.unlink()
    folder.rmdir()


def timed(command: list[str]) -> tuple[float, int, str]:
    """Seconds, peak bytes and output of a command.

    Started by a small process, since a child counts the memory of whoever forked it.
    """
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, json.dumps(command)],
        stdout=subprocess.PIPE,
        check=False,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}")
    measured = json.loads(done.stdout)
    unit = 1 if sys.platform == "darwin" else 1024
    return measured["seconds"], measured["peak"] * unit, measured["out"]


def findings(count: int) -> Iterator[Finding]:
    """Time and memory of evaluations of Parquet and CSV, and of a peer that only groups."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, count)
        for mode in ("exact", "grid"):
            yield from _evaluated(path, count, "--mode", mode)
        seconds, peak, _ = timed([sys.executable, "-c", _GROUPED, str(path)])
        yield Finding("polars group_by of the scores of the same file", seconds, "s")
        yield Finding("  million rows a second", count / seconds / 1e6, "M/s")
        yield Finding("  peak memory of the process", peak / 1e9, "GB")
        some = count // 20
        pl.scan_parquet(path).head(some).sink_csv(path.with_suffix(".csv"))
        yield from _evaluated(path.with_suffix(".csv"), some)


def _evaluated(path: Path, count: int, *options: str) -> Iterator[Finding]:
    command = [sys.executable, "-m", "assay", "evaluate", str(path), *options, "--format", "json"]
    seconds, peak, out = timed(command)
    rows = sum(map(sum, json.loads(out)["confusion"]))
    assert rows == count, f"{rows:,} rows were counted, not {count:,}"
    asked = " ".join(("evaluate", *options))
    yield Finding(f"{asked}, {path.suffix} of {count:,} rows (bool, float32)", seconds, "s")
    yield Finding("  million rows a second", count / seconds / 1e6, "M/s")
    yield Finding("  peak memory of the process", peak / 1e9, "GB", at_most=2)
