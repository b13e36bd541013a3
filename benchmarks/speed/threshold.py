"""A threshold for a large Parquet file, reading and a thousand resamples included."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from speed.files import timed
from speed.timing import Finding

ROWS = 200_000_000
SECONDS, BYTES = 120, 3e9
_PART = 1 << 22
# What is asked for, and how scores are kept: of float64 next to all differ.
_ASKED = (
    ("float32", ("--max-fpr", "0.001")),
    ("float32", ("--max-far", "0.5", "--base-rate", "0.01")),
    ("float64", ("--max-fpr", "0.001", "--mode", "cuts")),
    ("float64", ("--max-fpr", "0.001", "--mode", "grid")),
)


def findings(count: int = ROWS) -> Iterator[Finding]:
    """Seconds and the peak of memory of the command, in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        written = ""
        path = Path(folder) / "rows.parquet"
        for kind, asked in _ASKED:
            if kind != written:
                path.unlink(missing_ok=True)
                write(path, count, kind)
                written = kind
            command = [sys.executable, "-m", "assay", "threshold", str(path), *asked]
            seconds, peak, out = timed([*command, "--max-memory", "3GB", "--format", "json"])
            source = json.loads(out)["source"]
            assert source["rows_used"] == count, source
            what = f"threshold {' '.join(asked)}, {count:,} rows of {kind}"
            yield Finding(what, seconds, "s", at_most=SECONDS)
            yield Finding("  peak memory of the process", peak / 1e9, "GB", at_most=BYTES / 1e9)


def write(path: Path, count: int, kind: str) -> None:
    """Rows of a detector with a score in (0, 1), one attack in a hundred, made piece by piece."""
    random = np.random.default_rng(11)
    folder = path.with_suffix("")
    folder.mkdir()
    for start in range(0, count, _PART):
        size = min(_PART, count - start)
        label = random.random(size) < 0.01
        latent = random.standard_normal(size, np.float32 if kind == "float32" else np.float64)
        latent += 3 * label
        score = (1 / (1 + np.exp(2 - latent))).astype(kind)
        part = pl.DataFrame({"label": label, "score": score})
        part.write_parquet(folder / f"{start:012}.parquet")
    pl.scan_parquet(folder).sink_parquet(path)
    for part in folder.iterdir():
        part.unlink()
    folder.rmdir()


if __name__ == "__main__":
    for finding in findings(int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS):
        print(finding.line(), flush=True)
