"""A billion rows of a Parquet file, counted beside a polars scan of the same file.

The file is made piece by piece and deleted afterwards: some 9 GB while it is written.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from speed.files import timed, write
from speed.threshold import write as write_distinct
from speed.timing import Finding

ROWS = 1_000_000_000
_SCAN = """
import sys
import polars as pl
columns = pl.col("score").sum(), pl.col("label").sum()
print(pl.scan_parquet(sys.argv[1], glob=False).select(columns).collect(engine="streaming"))
"""
_AREAS = """
import sys
import assay
evaluation = assay.evaluate_files(sys.argv[1], mode="exact")
print(evaluation["roc_auc"].value, evaluation["average_precision"].value)
"""
# How scores are kept, how many times a scan that may take, and how many bytes.
_FLOAT32 = (("grid", 4, 400e6), ("exact", None, None))
_FLOAT64 = (("cuts", None, 600e6),)


def findings(count: int = ROWS) -> Iterator[Finding]:
    """Time and memory of evaluations by mode, and of a scan."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, count)
        yield from _evaluated(path, count, "float32", _FLOAT32)
        path.unlink()
        write_distinct(path, count // 10, "float64")
        yield from _evaluated(path, count // 10, "float64", _FLOAT64)


def _evaluated(
    path: Path, count: int, kind: str, modes: tuple[tuple[str, int | None, float | None], ...]
) -> Iterator[Finding]:
    scan, _, _ = timed([sys.executable, "-c", _SCAN, str(path)])
    yield Finding(f"polars scan of {count:,} rows of {kind}", scan, "s")
    if kind == "float32":
        seconds, peak, _ = timed([sys.executable, "-c", _AREAS, str(path)])
        yield Finding(f"exact AUC and average precision, {count:,} rows of {kind}", seconds, "s")
        yield Finding("  times the scan", seconds / scan, "x", at_most=6)
        yield Finding("  peak memory of the process", peak / 1e6, "MB", at_most=1000)
    for mode, times, most in modes:
        command = [sys.executable, "-m", "assay", "evaluate", str(path), "--mode", mode]
        seconds, peak, out = timed([*command, "--format", "json"])
        counted = sum(map(sum, json.loads(out)["confusion"]))
        assert counted == count, f"{counted:,} rows were counted, not {count:,}"
        yield Finding(f"evaluate --mode {mode}, {count:,} rows of {kind}", seconds, "s")
        yield Finding("  times the scan", seconds / scan, "x", at_most=times)
        room = None if most is None else most / 1e6
        yield Finding("  peak memory of the process", peak / 1e6, "MB", at_most=room)


if __name__ == "__main__":
    for finding in findings(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(finding.line(), flush=True)
