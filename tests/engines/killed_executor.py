"""A program: Spark groups rows on executors of their own, one of which is killed on the way.

Spark has one session a process, so the test that runs this gives it a process of its own.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from pyspark.sql import SparkSession

from assay.engines.ask import Columns
from assay.engines.frames import count

COLUMNS = Columns("label", score="score")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
}


def killing(marker: str) -> Any:
    """Gives rows as they are; the executor that first reads the seventh partition is killed."""

    def batches_of(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import signal
        from pathlib import Path

        from pyspark import TaskContext

        task: Any = TaskContext.get()
        for batch in batches:
            yield batch
            if task.partitionId() != 7 or os.path.exists(marker):  # noqa: PTH110 - travels by value
                continue
            # Python is started by a process that the executor has started.
            status = Path(f"/proc/{os.getppid()}/stat").read_text()
            executor = int(status.rpartition(")")[2].split()[1])
            if "ExecutorBackend" in Path(f"/proc/{executor}/cmdline").read_text():
                Path(marker).touch()
                os.kill(executor, signal.SIGKILL)

    return batches_of


def main() -> None:
    """Say how many rows were counted, if they are those of this machine."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder.master("local-cluster[2,1,512]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    random = np.random.default_rng(4)
    flows = pl.DataFrame(
        {"label": random.choice(["attack", "normal"], 2000), "score": random.random(2000).round(2)}
    )
    with tempfile.TemporaryDirectory() as folder:
        marker = Path(folder) / "marker"
        frame = session.createDataFrame(flows.to_arrow()).repartition(12)
        broken = frame.mapInArrow(killing(str(marker)), frame.schema)
        tally = count(broken, COLUMNS)
        assert marker.exists()
    assert tally == count(flows, COLUMNS)
    session.stop()
    print(f"{tally.rows} rows were counted")


if __name__ == "__main__":
    main()
