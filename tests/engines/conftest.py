"""Engines that tests start once."""

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def sail() -> Iterator[Any]:
    """A Spark session on Sail, which stands for Spark."""
    server_of = pytest.importorskip("pysail.spark", reason="pysail is not installed")
    spark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    server = server_of.SparkConnectServer()
    server.start()
    _, port = server.listening_address
    session = spark.SparkSession.builder.remote(f"sc://localhost:{port}").getOrCreate()
    yield session
    session.stop()
    server.stop()
