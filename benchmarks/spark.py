"""Rows on Spark: counted by Spark's own SQL, by Python on its workers, and by its evaluator.

Run with the number of rows, by default ten million, and with how many decimals scores have, by
default all of them: ``python benchmarks/spark.py 1000000 3``. Each way gives the areas under both
curves, and is timed after a first run of its own, since Java compiles what it runs. Beside the time
that passed stands that of all processors, Java's and those of Python's workers together, which a
busy machine changes less. Needs pyspark and Java; says so where they are missing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assay.engines import Ask, Columns, partitions, resolve, sql
from assay.evaluation import Evaluation
from assay.tally.keeping import Exact, Grid

ROWS = 10_000_000
FILES = 8
COLUMNS = Columns("label", score="score")


def write(folder: Path, rows: int, decimals: int | None) -> None:
    """Parquet files of a rare attack and scores that are all unlike, or have few decimals."""
    for part in range(FILES):
        rng = np.random.default_rng(part)
        size = rows // FILES
        label = (rng.random(size) < 0.01).astype(np.float64)
        score = 1 / (1 + np.exp(-(rng.normal(size=size) + 2 * label - 3)))
        score = score if decimals is None else np.round(score, decimals)
        pl.DataFrame({"label": label, "score": score}).write_parquet(folder / f"{part}.parquet")


@contextlib.contextmanager
def session() -> Iterator[Any]:
    """Spark on this machine, with all of its cores."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[*]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.maxResultSize", "4g")
    spark = builder.getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()


def its_own(frame: Any) -> list[float]:
    """Both areas by Spark's own evaluator, with a curve of 1,000 bins, which is its default."""
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    evaluator = BinaryClassificationEvaluator(rawPredictionCol="score", labelCol="label")
    measures = ("areaUnderROC", "areaUnderPR")
    return [float(evaluator.setMetricName(name).evaluate(frame)) for name in measures]


def areas(tally: Any) -> list[float]:
    """The areas under both curves of a tally."""
    judged = Evaluation(resolve(tally, positive=1)[0])
    return [float(judged[name].value) for name in ("roc_auc", "average_precision")]


WAYS: dict[str, Callable[[Any], list[float]]] = {
    "sql, exact": lambda frame: areas(sql.count(frame, None, COLUMNS, Ask(scores=Exact()))),
    "sql, grid": lambda frame: areas(sql.count(frame, None, COLUMNS, Ask(scores=Grid()))),
    "mapInArrow, exact": lambda frame: areas(
        partitions.count_spark(frame, COLUMNS, Ask(scores=Exact()))
    ),
    "mapInArrow, grid": lambda frame: areas(
        partitions.count_spark(frame, COLUMNS, Ask(scores=Grid()))
    ),
    "BinaryClassificationEvaluator": its_own,
}


def processor_seconds() -> float:
    """What this process and all that it started have used of processors."""
    used, parents = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                told = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(told[1])
                used[int(entry.name)] = sum(map(int, told[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(used.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def main(rows: int, decimals: int | None = None) -> None:
    """Time each way."""
    if shutil.which("java") is None:
        print("skipped: Java is not installed (Debian: apt-get install default-jre-headless)")
        return
    with tempfile.TemporaryDirectory() as folder, session() as spark:
        write(Path(folder), rows, decimals)
        frame = spark.read.parquet(folder)
        print(f"{rows:,} rows, {frame.select('score').distinct().count():,} distinct scores")
        for name, way in WAYS.items():
            way(frame.sample(0.1))
            start, before = time.perf_counter(), processor_seconds()
            values = way(frame)
            spent = time.perf_counter() - start, processor_seconds() - before
            shown = ", ".join(f"{value:.12f}" for value in values)
            print(f"{name:<30} {spent[0]:7.2f} s {spent[1]:7.2f} s of processors   {shown}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3] or [ROWS]))
