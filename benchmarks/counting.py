"""Counting rows, held against 0.2's counting in the same run: time and peak memory.

Each case runs in a process of its own, 0.2 and the new counts in turns; the shortest of some runs
counts. Both count rows, resolve the labels and give the confusion matrix and the table of scores.
0.2 also checks its rows, which the new tree does while it reads.

    python benchmarks/counting.py [--rows 1e7] [--repeats 3] [--only arrays] [--large]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

ROWS, LARGE_ROWS, LOOPS = 10_000_000, 100_000_000, 300
BATCH = 1 << 20
SLICES = 20
TIME, MEMORY, LARGE_MEMORY = 1.2, 1.3, 1.6
SIDES = ("v02", "new")


def arrays(count: int, kind: str = "float64") -> tuple[Any, Any]:
    """Labels as booleans, and scores that tell them apart."""
    random = np.random.default_rng(1)
    truth = random.random(count, np.float32) < 0.1
    scores = random.random(count, np.float64 if kind == "float64" else np.float32)
    np.sqrt(scores, out=scores, where=truth)
    return truth, scores


def write(path: Path, count: int, kind: str) -> None:
    """A Parquet file, in parts so that a hundred million rows fit."""
    part = 10_000_000
    frames = []
    for start in range(0, count, part):
        truth, scores = arrays(min(part, count - start), kind)
        frames.append(pl.DataFrame({"label": truth, "score": scores}))
    names = [f"site {i}" for i in range(SLICES)]
    frame = pl.concat(frames)
    slices = pl.Series("site", names, dtype=pl.Enum(names)).gather(np.arange(count) % SLICES)
    frame.with_columns(slices.alias("site")).write_parquet(path)


# -- what is timed ---------------------------------------------------------------------------------


def old(case: str, path: str, count: int) -> Callable[[], Any]:
    """0.2's counting of a case, down to the confusion matrix."""
    from assay.v02.engines.arrays import resolved_arrays
    from assay.v02.engines.ask import Ask, Columns
    from assay.v02.engines.frames import count_by_mode
    from assay.v02.engines.resolving import resolve

    if case in {"arrays", "loop"}:
        truth, scores = arrays(count)
        return lambda: resolved_arrays(truth, y_score=scores)[0].confusion.cells
    mode = "grid" if case == "grid" else "exact"
    columns = Columns("label", "score", slices=("site",) if case == "slices" else ())

    def counted() -> Any:
        frame = pl.scan_parquet(path)
        return resolve(count_by_mode(frame, columns, Ask(), mode).tally)[0].confusion.cells

    return counted


def new(case: str, path: str, count: int) -> Callable[[], Any]:
    """The same with one keyed table."""
    from assay.counts import Counter

    mode = "grid" if case == "grid" else "exact"

    def answer(counters: list[Counter]) -> Any:
        resolved = [counter.finish().resolve() for counter in counters]
        cells = resolved[0].confusion().cells
        resolved[0].scores()
        return cells

    if case in {"arrays", "loop"}:
        truth, scores = arrays(count)

        def of_arrays() -> Any:
            counter = Counter(["label", "score"], mode=mode)
            counter.add(pl.DataFrame({"label": truth, "score": scores}))
            return answer([counter])

        return of_arrays

    def counted() -> Any:
        counters = [Counter(["label", "score"], mode=mode)]
        names = {"label": pl.col("label"), "score": pl.col("score")}
        if case == "slices":
            counters.append(Counter(["label", "slice:site", "score>=0.5"]))
            names["slice:site"] = pl.col("site")
        if case == "grid":
            counters.append(Counter(["label", "score>=0.5"]))
        frame = pl.scan_parquet(path).select(**names)
        for batch in frame.collect_batches(chunk_size=BATCH, engine="streaming"):
            for counter in counters:
                counter.add(batch)
        if case == "grid":
            counters[0].finish().resolve().scores()
            return counters[1].finish().resolve().confusion().cells
        return answer(counters)

    return counted


def bare(_case: str, path: str, _count: int) -> Callable[[], Any]:
    """The grid's expression in polars, grouped and nothing else."""
    import narwhals as nw

    from assay.counts.engines import with_cells

    def grouped() -> Any:
        scores = pl.col("score").cast(pl.Float64)
        frame = with_cells(nw.from_native(pl.scan_parquet(path).with_columns(scores))).to_native()
        keys = ("label", "assay_mirrored", "assay_cell")
        return frame.group_by(keys).agg(pl.len()).collect(engine="streaming").height

    return grouped


def child(side: str, case: str, path: str, count: int) -> None:
    """Run one case and print what it took."""
    work = {"v02": old, "new": new, "bare": bare}[side](case, path, count)
    loops = LOOPS if case == "loop" else 1
    if case == "loop":
        work()
    started, processor = time.perf_counter(), time.process_time()
    for _ in range(loops):
        cells = work()
    seconds = (time.perf_counter() - started) / loops
    cpu = (time.process_time() - processor) / loops
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": peak / 1024, "cells": cells}))


# -- side by side ----------------------------------------------------------------------------------


def measured(case: str, path: str, count: int, repeats: int) -> Iterator[str]:
    """One line a side, and the ratios."""
    sides = (*SIDES, "bare") if case == "grid" else SIDES
    best: dict[str, dict[str, Any]] = {}
    for _ in range(repeats):
        for side in sides:
            command = [sys.executable, __file__, "--child", side, case, path, str(count)]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            result = json.loads(run.stdout.splitlines()[-1])
            kept = best.setdefault(side, result)
            for key in ("seconds", "cpu", "peak"):
                kept[key] = min(kept[key], result[key])
    assert best["v02"]["cells"] == best["new"]["cells"], best
    name = f"{case} {Path(path).stem} {count:,}"
    for side in sides:
        each = best[side]
        seconds = f"{each['seconds']:8.4f} s  {each['cpu']:8.4f} s cpu"
        yield f"{name:<36} {side:<5} {seconds}  {each['peak']:7.0f} MB"
    ratios = {key: best["new"][key] / best["v02"][key] for key in ("seconds", "cpu", "peak")}
    most = LARGE_MEMORY if count > ROWS else MEMORY
    met = "pass" if ratios["seconds"] <= TIME and ratios["peak"] <= most else "FAIL"
    texts = ", ".join(f"{key} x{value:.2f}" for key, value in ratios.items())
    yield f"{name:<36} ratio {texts}  {met}"


def main() -> None:
    """Measure the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=float, default=ROWS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--large", action="store_true", help="100 million rows too")
    parser.add_argument("--child", nargs=4)
    parser.add_argument("--write", nargs=3)
    given = parser.parse_args()
    if given.write:
        path, rows, kind = given.write
        write(Path(path), int(rows), kind)
        return
    if given.child is not None:
        side, case, path, rows = given.child
        child(side, case, path, int(rows))
        return
    count = int(given.rows)
    cases = [("loop", "", 1000), ("arrays", "", count)]
    cases += [("parquet", "float64", count), ("parquet", "float32", count)]
    cases += [("slices", "float64", count // 2)]
    if given.large:
        cases += [(case, "float32", LARGE_ROWS) for case in ("parquet", "grid")]
    with tempfile.TemporaryDirectory() as folder:
        for case, kind, rows in cases:
            if given.only not in {None, case}:
                continue
            path = Path(folder) / f"{kind}.parquet"
            if kind:
                # By a child: what a process has held at most is passed on to its own children.
                command = [sys.executable, __file__, "--write", str(path), str(rows), kind]
                subprocess.run(command, check=True)
            for line in measured(case, str(path) if kind else "", rows, given.repeats):
                print(line, flush=True)


if __name__ == "__main__":
    main()
