"""Tables and queries on Spark: the session comes from the environment, and nothing is written.

``SPARK_REMOTE`` says which server is asked, and may hold a token, so it is never shown; without it
Spark runs on this machine. Spark has no transaction that only reads: one SELECT is let through, and
what reaches beyond tables (files by their path, programs, Java) is refused before it is sent.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from assay.errors import InputError, install_line
from assay.sources.selects import one_select

SPARK = "spark"
REMOTE = "SPARK_REMOTE"
_FORM = f"{SPARK}:TABLE or {SPARK}:QUERY"
_TABLE = re.compile(r"\w+(\.\w+){0,3}")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
# Functions that read files or other servers, run Java, or make a name of a text; formats before a
# path; and programs that rows are sent through.
_BEYOND = re.compile(
    r"\b(?:(?:try_)?reflect|java_method|identifier|cloud_files|remote_query|http_request|ai_query"
    r"|(?:read|stream|vector)_\w+)\s*\("
    r"|\b(?:parquet|orc|json|csv|text|avro|xml|binaryfile|delta|iceberg|hudi|jdbc|kafka)\s*\.\s*`"
    r"|\busing\s*r?['\"]",
    re.IGNORECASE,
)
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


def is_spark(given: str) -> bool:
    """Whether an input is on Spark."""
    return given.startswith(f"{SPARK}:")


def parsed(given: str) -> tuple[str, str]:
    """How an input on Spark is shown, and its query.

    >>> parsed("spark:lake.flows")
    ('spark:lake.flows', 'select * from `lake`.`flows`')
    >>> parsed("spark:select label, score from flows where day = 3")[0]
    'spark'
    """
    rest = given.partition(":")[2].lstrip("?").strip()
    if not rest:
        raise InputError(f"{SPARK}: names neither a table nor a query: write {_FORM}")
    if rest.lower().startswith(("sc://", "//")):
        raise InputError(
            f"the address of a Spark server may hold a token, which shells and logs would keep: "
            f"give it as {REMOTE}. Write {_FORM}"
        )
    if _TABLE.fullmatch(rest):
        quoted = ".".join(f"`{part}`" for part in rest.split("."))
        return f"{SPARK}:{rest}", f"select * from {quoted}"  # noqa: S608 - letters and digits
    return SPARK, rest


def must_only_read(query: str, name: str) -> str:
    """The query, refused where it is no SELECT or reaches beyond the tables."""
    text = one_select(query, name)
    # What is a comment depends on where texts end, which settings change: both are looked at.
    beyond = _BEYOND.search(text) or _BEYOND.search(_COMMENT.sub(" ", text))
    if beyond is not None:
        raise InputError(
            f"{name}: the query holds {beyond[0].strip()!r}, which may reach beyond the tables. "
            f"Only one SELECT that reads tables is allowed; name files as inputs of their own"
        )
    return text


@contextlib.contextmanager
def connected(query: str, name: str) -> Iterator[Any]:
    """A session of Spark: that of the server in the environment, or one on this machine."""
    must_only_read(query, name)
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError as odd:
        raise InputError(
            f"{name} needs PySpark, which is not installed: {install_line('spark')}"
        ) from odd
    try:
        with _session() as session:
            with contextlib.suppress(PySparkException, Py4JError):
                session.conf.set("spark.sql.runSQLonFiles", "false")
            yield session
    except (PySparkException, Py4JError) as odd:
        lines = str(odd).strip().splitlines() or ["unknown"]
        advice = ""
        if "JAVA_GATEWAY" in lines[0]:
            advice = f". Java is needed to run Spark here, or a server in {REMOTE}"
        raise InputError(f"{name}: Spark refuses: {lines[0]}{advice}") from odd


@contextlib.contextmanager
def _session() -> Iterator[Any]:
    """A session that ends with us, unless the program had one before."""
    address = os.environ.get(REMOTE)
    if address:
        from pyspark.sql.connect.session import SparkSession as Connected

        session = Connected.builder.remote(address).create()
    else:
        from pyspark.sql import SparkSession

        active = SparkSession.getActiveSession()
        if active is not None:
            yield active
            return
        builder = SparkSession.builder.appName("assay")
        for key, value in _SETTINGS.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def rows_of(query: str, name: str, batch_rows: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    with connected(query, name) as session:
        frame = session.sql(one_select(query, name))
        yield list(frame.columns)
        rows = (tuple(row) for row in frame.toLocalIterator())
        while batch := list(islice(rows, batch_rows)):
            yield batch
