"""Sessions of Spark: of the server that SPARK_REMOTE names, or on this machine.

The address of a server may hold a token, so only its host and port are ever shown.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

from assay.errors import InputError

REMOTE = "SPARK_REMOTE"
# PySpark itself tries for ten minutes.
_SECONDS = 8
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@contextlib.contextmanager
def spark_of_environment(name: str) -> Iterator[Any]:
    """A session that ends with us, unless the program had one before."""
    address = os.environ.get(REMOTE)
    if not address:
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None:
            yield active
            return
    with warnings.catch_warnings():
        # What PySpark says of the pandas beside it is nothing that a reader of tables can mend.
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
        session = _connected(address, name) if address else _local()
    try:
        yield session
    finally:
        session.stop()


def _local() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("assay")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _connected(address: str, name: str) -> Any:
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    try:
        channels = DefaultChannelBuilder(address)
    except ValueError:
        # What PySpark says may show what was given.
        raise InputError(
            f"{name}: the address in {REMOTE} can't be read; write sc://HOST:PORT, and a token as "
            f"sc://HOST:PORT/;token=TOKEN, with %3D for each = in it"
        ) from None
    _must_answer(channels, name)
    return SparkSession.builder.remote(address).create()


def _must_answer(channels: Any, name: str) -> None:
    """Refuse a server that takes no connection, with TLS where the address asks for it."""
    import grpc

    with channels.toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_SECONDS)
        except grpc.FutureTimeoutError:
            tls = " and speaks TLS, as a token or use_ssl asks for" if channels.secure else ""
            raise InputError(
                f"{name}: Spark can't be reached at {channels.endpoint}: there was no connection "
                f"within {_SECONDS} seconds. Check the host and port in {REMOTE}, that the server "
                f"runs{tls}, and that a firewall lets it through"
            ) from None
