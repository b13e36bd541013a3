"""Spark, Sail, Dask and Ray as the tests start them, and what breaks in them on purpose."""

import contextlib
import gc
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CPUS = 2


@contextlib.contextmanager
def sail_address() -> Iterator[str]:
    """Sail in this process, and the address that it is reached by."""
    pytest.importorskip("pyspark", reason="PySpark is missing: pip install 'pyspark[connect]'")
    server_of = pytest.importorskip("pysail.spark", reason="Sail is missing: pip install pysail")
    # By default it ends a session that is idle for 15 minutes, and the slow tests take longer.
    os.environ["SAIL_SPARK__SESSION_TIMEOUT_SECS"] = "86400"
    server = server_of.SparkConnectServer("127.0.0.1", 0)
    server.start()
    try:
        yield f"sc://127.0.0.1:{server.listening_address[1]}"
    finally:
        server.stop()


@contextlib.contextmanager
def sail() -> Iterator[Any]:
    """A Spark session whose server is Sail."""
    with sail_address() as address, _quiet():
        # The usual builder makes every further session of this process one of Spark Connect.
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(address).create()
        try:
            yield session
        finally:
            session.stop()


@contextlib.contextmanager
def spark() -> Iterator[Any]:
    """Spark itself, in a Java of its own; a task may fail three times before the job does."""
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian: apt-get install default-jre-headless)")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    with _quiet():
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(CPUS),
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        builder = SparkSession.builder.master(f"local[{CPUS},4]")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        context = session.sparkContext
        gateway = context._gateway
        try:
            yield session
        finally:
            session.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait()
            type(context)._gateway = type(context)._jvm = None


@contextlib.contextmanager
def ray() -> Iterator[Any]:
    """Ray on this machine, without its dashboard."""
    library = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ray[data]'")
    pytest.importorskip("ray.data")
    with _quiet():
        _start_ray(library)
        context = library.data.DataContext.get_current()
        context.enable_progress_bars = False
        try:
            yield library
        finally:
            library.shutdown()


def _start_ray(library: Any, tries: int = 3) -> None:
    """Starts Ray's servers, which on a busy machine may be later than Ray itself expects."""
    os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "90")
    for left in reversed(range(tries)):
        try:
            library.init(
                num_cpus=CPUS,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
                object_store_memory=128 << 20,
            )
        except Exception as error:  # a node that is late raises a bare one
            library.shutdown()
            late = "timed out during startup" in str(error)
            if not (late or isinstance(error, RuntimeError | ConnectionError | TimeoutError)):
                raise
            if not left:
                pytest.skip(f"Ray's own servers did not start in {tries} tries: {error}")
        else:
            return


@contextlib.contextmanager
def dask_workers(workers: int = CPUS) -> Iterator[Any]:
    """Dask with workers that are processes, so that one can be killed."""
    distributed = pytest.importorskip(
        "distributed", reason="Dask's cluster is not installed: pip install 'dask[distributed]'"
    )
    with (
        _quiet(),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Their own warnings are not ours to mend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
        # What they left running is let go here, where nobody is warned.
        gc.collect()


# Functions inside functions, since workers can't import the tests: these travel by value.


def once(marker: Path, *, dies: bool) -> Callable[[Any], Any]:
    """Gives rows as they are; who is first asked for them dies, or fails."""
    path = str(marker)

    def rows_of(rows: Any) -> Any:
        import os

        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return rows
        if dies:
            os._exit(1)
        raise OSError("the disk of this worker is gone")

    return rows_of


def batches_once(
    marker: Path, *, dies: bool, partition: int | None = None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The same for an iterator of batches of Spark; some rows are given before it breaks.

    Where a partition is named it breaks there, which a look at the first rows does not touch.
    """
    breaks = once(marker, dies=dies)

    def batches_of(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        task = TaskContext.get()
        here = partition is None or (task is not None and task.partitionId() == partition)
        for batch in batches:
            yield batch
            if here:
                breaks(batch)

    return batches_of
