"""Rows on Spark: counted by Spark's own SQL, by Python on its workers, and by its evaluator.

Run with the number of rows, by default ten million: ``python benchmarks/spark.py 1000000``. Each
way is timed after a first run of its own, since Java compiles what it runs. Needs pyspark and Java;
says so where they are missing.
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


def write(folder: Path, rows: int) -> None:
    """Parquet files of a rare attack and scores that are all different."""
    for part in range(FILES):
        rng = np.random.default_rng(part)
        size = rows // FILES
        label = (rng.random(size) < 0.01).astype(np.float64)
        score = 1 / (1 + np.exp(-(rng.normal(size=size) + 2 * label - 3)))
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


def its_own(frame: Any) -> float:
    """The area by Spark's own evaluator, with a curve of 1,000 bins, which is its default."""
    from pyspark.ml.evaluation import BinaryClassificationEvaluator

    evaluator = BinaryClassificationEvaluator(rawPredictionCol="score", labelCol="label")
    return float(evaluator.evaluate(frame))


def area(tally: Any) -> float:
    """The area under the ROC curve of a tally."""
    return float(Evaluation(resolve(tally, positive=1)[0])["roc_auc"].value)


WAYS: dict[str, Callable[[Any], float]] = {
    "sql, exact": lambda frame: area(sql.count(frame, None, COLUMNS, Ask(scores=Exact()))),
    "sql, grid": lambda frame: area(sql.count(frame, None, COLUMNS, Ask(scores=Grid()))),
    "mapInArrow, exact": lambda frame: area(
        partitions.count_spark(frame, COLUMNS, Ask(scores=Exact()))
    ),
    "mapInArrow, grid": lambda frame: area(
        partitions.count_spark(frame, COLUMNS, Ask(scores=Grid()))
    ),
    "BinaryClassificationEvaluator": its_own,
}


def main(rows: int, only: str = "") -> None:
    """Time each way."""
    if shutil.which("java") is None:
        print("skipped: Java is not installed (Debian: apt-get install default-jre-headless)")
        return
    with tempfile.TemporaryDirectory() as folder, session() as spark:
        write(Path(folder), rows)
        for name, way in WAYS.items():
            if only not in name:
                continue
            frame = spark.read.parquet(folder)
            way(frame.limit(100_000))
            start = time.perf_counter()
            value = way(frame)
            print(f"{name:<32} {time.perf_counter() - start:8.2f} s   AUC {value!r}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS, *sys.argv[2:3])
