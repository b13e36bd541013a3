"""Comparisons of two models: thresholds chosen anew in each resample, and very many rows."""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from speed.timing import Finding

ROWS = 1_000_000
RESAMPLES = 1000
RULE = "max-far=0.1"
MANY = 100_000_000
# So many rows are made and written at a time.
PART = 1 << 22
LIMIT_MB = 3000


def findings(count: int = ROWS, resamples: int = RESAMPLES, many: int = MANY) -> Iterator[Finding]:
    """Seconds, and the peak of memory beyond the input, each in a fresh process."""
    seconds, peak, given = _apart(_measured, count, resamples, RULE)
    what = f"compare two models on {count:,} rows at {RULE}, {resamples:,} resamples"
    yield Finding(what, seconds, "s", at_most=120)
    yield Finding("  peak memory beyond the input over the input", peak / given, "x")
    yield Finding("  in MB", peak / 1e6, "MB")
    yield from many_rows(many)


def many_rows(count: int) -> Iterator[Finding]:
    """The same of very many rows: arrays, and a file beside a scan of it."""
    seconds, peak, _ = _apart(_measured, count, RESAMPLES, None)
    yield Finding(f"compare two models on {count:,} rows", seconds, "s")
    yield Finding("  peak memory beyond the input", peak / 1e6, "MB", at_most=LIMIT_MB)
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        path = str(Path(folder, "scores.parquet"))
        _apart(_written, path, count)
        scan, _ = _apart(_scanned, path)
        for rule in (None, RULE):
            seconds, peak = _apart(_from_file, path, rule)
            yield Finding(f"  from a file{f' at {rule}' if rule else ''}", seconds, "s")
            yield Finding("    over a scan of it", seconds / scan, "x")
            yield Finding("    peak memory of the process", peak / 1e6, "MB", at_most=LIMIT_MB)


def _apart(work, *given):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *given).result()


def _parts(count: int):
    """Labels, and the scores of a model and of the same with noise, part by part."""
    import numpy as np

    rng = np.random.default_rng(1)
    for start in range(0, count, PART):
        size = min(PART, count - start)
        truth = rng.random(size) < 0.1
        scores = 1 / (1 + np.exp(2 - rng.normal(size=size) - 1.5 * truth))
        yield (
            slice(start, start + size),
            truth,
            scores,
            np.clip(scores + rng.normal(0, 0.02, size), 0, 1),
        )


def _measured(count: int, resamples: int, rule: str | None) -> tuple[float, int, int]:
    import numpy as np

    import assay

    truth, old, new = np.empty(count, bool), np.empty(count), np.empty(count)
    for part, labels, first, second in _parts(count):
        truth[part], old[part], new[part] = labels, first, second
    few = {"old": old[:1000], "new": new[:1000]}
    assay.compare(truth[:1000], scores=few, at=rule, resamples=20)
    before = _peak()
    started = time.perf_counter()
    assay.compare(truth, scores={"old": old, "new": new}, at=rule, resamples=resamples)
    seconds = time.perf_counter() - started
    return seconds, _peak() - before, truth.nbytes + old.nbytes + new.nbytes


def _written(path: str, count: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = {"label": pa.bool_(), "old": pa.float64(), "new": pa.float64()}
    with pq.ParquetWriter(path, pa.schema(kind.items()), compression="none") as file:
        for _, *columns in _parts(count):
            file.write_table(pa.table(dict(zip(kind, columns, strict=True))))


def _scanned(path: str) -> tuple[float, int]:
    """What polars takes to read all columns once."""
    import polars as pl

    started = time.perf_counter()
    pl.scan_parquet(path).select(pl.all().sum()).collect(engine="streaming")
    return time.perf_counter() - started, _peak()


def _from_file(path: str, rule: str | None) -> tuple[float, int]:
    from assay.decisions.compare.comparing import compare_files
    from assay.sources.files import Model, Request

    models = [Model(name, name) for name in ("old", "new")]
    started = time.perf_counter()
    compare_files([path], Request(), models, at=rule)
    return time.perf_counter() - started, _peak()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Measure many rows alone: ``python -m speed.compare --rows 20000000``."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rows", type=int, default=MANY)
    for finding in many_rows(parser.parse_args().rows):
        print(finding.line(), flush=True)


if __name__ == "__main__":
    main()
