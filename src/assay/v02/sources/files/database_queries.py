"""Queries on databases: read-only, and locked against everything but reading.

A connection is opened here for whoever counts in the database; commands that need the rows
themselves get them as a table.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urlsplit

from assay.errors import InputError, database_refusal, install_line
from assay.v02.sources.files.builders import series_of
from assay.v02.sources.files.request import Meter, OpenedTable, Piece
from assay.v02.sources.files.sqlite_files import sqlite_connection

if TYPE_CHECKING:
    from assay.v02.sources.files.inputs import Source

SQLITE, DUCKDB = "sqlite", "duckdb"
# Rows come as Python values, which take about a hundred bytes each.
_MOST_ROWS = 1 << 16
_MAGIC = {SQLITE: (0, b"SQLite format 3\0"), DUCKDB: (8, b"DUCK")}
_NAMES = {SQLITE: "SQLite", DUCKDB: "DuckDB"}


@contextlib.contextmanager
def connected(source: Source, limit: int) -> Iterator[Any]:
    """A connection to the database of a source, on which nothing but reading works.

    What the database says against a statement becomes an error that names the source.
    """
    must_have_query(source)
    if source.engine == SPARK:
        with spark_session(source.query, source.name) as session:
            yield session
        return
    if source.address is not None:
        must_only_read_postgresql(source.query, source.name)
        with postgresql_connection(source.address) as connection:
            yield connection
        return
    if source.engine is not None and source.path is not None:
        _must_be(source.engine, source.path, source.name)
        one_select(source.query, source.name)
        opening = (
            sqlite_connection(source.path, source.name)
            if source.engine == SQLITE
            else _duckdb(source.path, source.query, source.name, limit)
        )
        with opening as connection:
            yield connection


def must_have_query(source: Source) -> None:
    """Refuse a database without a query, and show the form."""
    if not source.query.strip():
        place = "HOST/DATABASE" if source.engine == POSTGRESQL else "FILE"
        lead = f"{POSTGRESQL}://" if source.engine == POSTGRESQL else f"{source.engine}:"
        raise InputError(f"{source.name} has no query: write {lead}{place}?QUERY with one SELECT")
    try:
        source.query.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{source.name}: the query is no text in UTF-8, at its character {error.start + 1}"
        ) from error


def sql_table(source: Source, *, batch_rows: int, limit: int, meter: Meter) -> OpenedTable:
    """Open a query on a database; its result is the table."""
    name = source.name
    rows = _rows(source, min(batch_rows, _MOST_ROWS), limit)
    columns = next(rows)
    twice = [column for column in columns if columns.count(column) > 1]
    if twice:
        raise InputError(f"{name}: the query has two columns named {twice[0]!r}; rename one (AS)")

    def pieces(chosen: Sequence[str]) -> Iterator[Piece]:
        import polars as pl

        places = [columns.index(column) for column in chosen]
        start = 0
        for batch in rows:
            values = list(zip(*batch, strict=True))
            frame = pl.DataFrame(
                [series_of(c, values[i]) for c, i in zip(chosen, places, strict=True)]
            )
            yield Piece(frame, range(start + 1, start + 1 + len(batch)))
            start += len(batch)
            meter.add(0)

    return OpenedTable(name, tuple(columns), pieces)


def _must_be(engine: str, path: Path, name: str) -> None:
    at, sign = _MAGIC[engine]
    try:
        with path.open("rb") as file:
            head = file.read(at + len(sign))
    except OSError as error:
        raise InputError(f"{name} can't be opened: {error.strerror}") from error
    if head[at:] != sign:
        raise InputError(f"{name} is no {_NAMES[engine]} file: it begins with {head[:16]!r}")


def _rows(source: Source, batch_rows: int, limit: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    must_have_query(source)
    if source.engine == SPARK:
        yield from spark_rows(source.query, source.name, batch_rows)
        return
    if source.address is not None:
        yield from postgresql_rows(source.address, source.query, batch_rows)
        return
    with connected(source, limit) as connection:
        cursor = connection.execute(source.query)
        if cursor.description is None:
            raise InputError(f"{source.name}: the query gives no rows; write a SELECT")
        yield [column[0] for column in cursor.description]
        while batch := cursor.fetchmany(batch_rows):
            yield batch


@contextlib.contextmanager
def _duckdb(path: Path, query: str, name: str, limit: int) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError as error:
        raise InputError(
            f"{name} needs DuckDB, which is not installed: {install_line('sql')}"
        ) from error
    if "?" in str(path.absolute()):
        raise InputError(f"{name}: DuckDB opens no path with a question mark in it; rename it")
    settings: dict[str, Any] = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
        "memory_limit": f"{max(limit // 2, 1 << 26)}B",
        "temp_directory": "",
    }
    try:
        with contextlib.closing(
            duckdb.connect(str(path.absolute()), read_only=True, config=settings)
        ) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET lock_configuration = true")
            statements = connection.extract_statements(query)
            if [s.type for s in statements] != [duckdb.StatementType.SELECT]:
                raise InputError(f"{name}: only one SELECT that reads this file is allowed")
            yield connection
    except duckdb.Error as error:
        raise InputError(f"{name}: DuckDB {database_refusal(error)}") from error


# -- one SELECT ------------------------------------------------------------------------------------

# Comments, and whatever stands in quotes.
_ASIDE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`", re.DOTALL)
_FIRST = ("select", "with", "from", "values", "table")


def one_select(query: str, name: str) -> str:
    """The query without its last semicolon; refused unless it is a single SELECT.

    What runs it still has to be opened for reading only: this is the friendly half of the guard.

    >>> one_select("select label, score from flows;", "flows.db")
    'select label, score from flows'
    """
    text = query.strip()
    bare = _ASIDE.sub(lambda match: " " if match[0][0] in "-/" else "''", text).strip()
    if bare.endswith(";"):
        if not text.endswith(";"):
            raise InputError(f"{name}: a comment follows the query's semicolon; leave both out")
        text, bare = text[:-1].rstrip(), bare[:-1]
    start = bare.lstrip(" \t\r\n(").split(None, 1)
    if not start:
        raise InputError(f"{name} has no query; write one SELECT")
    word = re.match(r"\w*", start[0].lower())
    if word is None or word[0] not in _FIRST or ";" in bare:
        raise InputError(
            f"{name}: the query is no single SELECT: found {bare[:40].strip()!r}. Only one SELECT "
            f"that reads is allowed"
        )
    depth = 0
    for sign in bare:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            break
    if depth:
        raise InputError(f"{name}: the query's parentheses do not match")
    return text


# -- PostgreSQL ------------------------------------------------------------------------------------
#
# Credentials come from the environment alone. Three things keep a query from doing more than
# reading. The transaction is opened READ ONLY, so the server refuses whatever writes. A superuser's
# session takes the role pg_read_all_data, so the server refuses to read its files. And a query that
# names a function which reaches beyond the tables (files, other servers, settings, statements given
# as text) is refused before it is sent.

POSTGRESQL = "postgresql"
_SCHEMES = (f"{POSTGRESQL}://", "postgres://")
_POSTGRESQL_FORM = f"{POSTGRESQL}://HOST/DATABASE?QUERY"
_SECONDS = 15
# Functions and views of the server itself, large objects, other servers, settings, sequences, and
# functions that run a statement which they are given as text.
_BEYOND_TABLES = re.compile(
    r"\b(?:(?!pg_typeof\b|pg_catalog\b)pg_\w+|lo_\w+|lo(?:read|write|creat)|dblink\w*|postgres_fdw\w*"
    r"|set_config|\w+_to_xml\w*|ts_stat|ts_rewrite|(?:next|set|curr|last)val|crosstab\w*|connectby"
    r"|xpath_table)\b",
    re.IGNORECASE,
)
# A name spelled by the numbers of its characters could be any of those.
_SPELLED = re.compile(r"\bU&['\"]", re.IGNORECASE)


@dataclass(frozen=True)
class Address:
    """Where a PostgreSQL is: what is left out is left to the environment (PGHOST, PGUSER, ...)."""

    host: str | None = None
    port: int | None = None
    user: str | None = None
    database: str | None = None

    @property
    def name(self) -> str:
        """The address as it goes into messages and reports."""
        place = f"{self.user}@" if self.user else ""
        place += self.host or ""
        place += f":{self.port}" if self.port else ""
        return f"{POSTGRESQL}://{place}/{self.database or ''}"


def is_address(given: str) -> bool:
    """Whether an input is on a PostgreSQL server."""
    return given.lower().startswith(_SCHEMES)


def postgresql_address(given: str) -> tuple[Address, str]:
    """The address and the query of an input; a password in it is refused, and never shown.

    >>> address, query = postgresql_address("postgresql://reader@db.example/flows?select * from t")
    >>> address.name, query
    ('postgresql://reader@db.example/flows', 'select * from t')
    """
    place, _, query = given.partition("?")
    try:
        split = urlsplit(place)
        _must_hold_no_password(split)
        address = Address(
            unquote(split.hostname) if split.hostname else None,
            split.port,
            unquote(split.username) if split.username else None,
            unquote(split.path[1:]) or None,
        )
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        # What urllib says may show what was given.
        raise InputError(
            f"the address of a PostgreSQL can't be read; write {_POSTGRESQL_FORM}"
        ) from None
    if "=" in unquote(place) or "=" in query.partition(" ")[0]:
        # A password may be among them, so nothing of it is shown.
        raise InputError(
            f"the address of a PostgreSQL holds settings: give those by the environment "
            f"(PGSSLMODE, PGSERVICE, PGPASSWORD, ...). A query follows the question mark. Write "
            f"{_POSTGRESQL_FORM}"
        )
    return address, query


def _must_hold_no_password(split: SplitResult) -> None:
    user_part = split.netloc.rpartition("@")[0]
    if ":" in unquote(user_part):
        raise InputError(
            f"the address of a PostgreSQL holds a password, which shells and logs would keep; take "
            f"it out and give it as PGPASSWORD, in ~/.pgpass or by PGSERVICE. Write "
            f"{_POSTGRESQL_FORM}"
        )


def must_only_read_postgresql(query: str, name: str) -> str:
    """The query, refused where it is no SELECT or reaches beyond the tables."""
    text = one_select(query, name)
    forbidden = _BEYOND_TABLES.search(text)
    if forbidden is not None:
        raise InputError(
            f"{name}: the query names {forbidden[0]!r}, which may reach beyond the tables. Only "
            f"one SELECT that reads tables is allowed"
        )
    if _SPELLED.search(text):
        raise InputError(f"{name}: the query spells a name by numbers (U&); write it as it is")
    return text


@contextlib.contextmanager
def postgresql_connection(address: Address) -> Iterator[Any]:
    """A connection in one transaction that only reads, and sees one state of the tables."""
    try:
        import psycopg
    except ImportError as error:
        raise InputError(
            f"{address.name} needs psycopg, which is not installed: {install_line('postgres')}"
        ) from error
    places: dict[str, Any] = {
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "dbname": address.database,
    }
    try:
        with contextlib.closing(
            psycopg.connect(
                **{key: value for key, value in places.items() if value is not None},
                autocommit=True,
                connect_timeout=_SECONDS,
                application_name="assay",
            )
        ) as connection:
            connection.execute("SET default_transaction_read_only = on")
            _drop_power(connection)
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.autocommit = False
            yield connection
    except psycopg.Error as error:
        raise InputError(f"{address.name}: PostgreSQL {database_refusal(error)}") from error


def _drop_power(connection: Any) -> None:
    """A superuser reads tables and no more; a policy that would hide rows is an error."""
    row = connection.execute(
        "SELECT usesuper, current_setting('server_version_num')::int FROM pg_user "
        "WHERE usename = current_user"
    ).fetchone()
    if row is not None and row[0] and row[1] >= 140_000:
        connection.execute("SET row_security = off")
        connection.execute("SET ROLE pg_read_all_data")


def postgresql_rows(address: Address, query: str, batch_rows: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    text = must_only_read_postgresql(query, address.name)
    with (
        postgresql_connection(address) as connection,
        connection.cursor("assay", binary=True) as cursor,
    ):
        cursor.execute(f"SELECT * FROM (\n{text}\n) AS assay_query")  # noqa: S608 - it is a query
        yield [column.name for column in cursor.description]
        while batch := cursor.fetchmany(batch_rows):
            yield batch


# -- Spark -----------------------------------------------------------------------------------------
#
# SPARK_REMOTE says which server is asked, and may hold a token, so only host and port are shown;
# without it Spark runs on this machine. Spark has no transaction that only reads: one SELECT is let
# through, and what reaches beyond tables (files by their path, programs, Java) is refused before it
# is sent.

SPARK = "spark"
REMOTE = "SPARK_REMOTE"
# PySpark itself tries for ten minutes.
_SPARK_SECONDS = 8
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}
_SPARK_FORM = f"{SPARK}:TABLE or {SPARK}:QUERY"
_TABLE = re.compile(r"\w+(\.\w+){0,3}")
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
# Functions that read files or other servers, run Java, or make a name of a text; formats before a
# path; and programs that rows are sent through.
_BEYOND_SPARK_TABLES = re.compile(
    r"\b(?:(?:try_)?reflect|java_method|identifier|cloud_files|remote_query|http_request|ai_query"
    r"|(?:read|stream|vector)_\w+)\s*\("
    r"|\b(?:parquet|orc|json|csv|text|avro|xml|binaryfile|delta|iceberg|hudi|jdbc|kafka)\s*\.\s*`"
    r"|\busing\s*r?['\"]",
    re.IGNORECASE,
)


def is_spark(given: str) -> bool:
    """Whether an input is on Spark."""
    return given.startswith(f"{SPARK}:")


def spark_query(given: str) -> tuple[str, str]:
    """How an input on Spark is shown, and its query.

    >>> spark_query("spark:lake.flows")
    ('spark:lake.flows', 'select * from `lake`.`flows`')
    >>> spark_query("spark:select label, score from flows where day = 3")[0]
    'spark'
    """
    address = given.partition(":")[2].lstrip("?").strip()
    if not address:
        raise InputError(f"{SPARK}: names neither a table nor a query: write {_SPARK_FORM}")
    if address.lower().startswith(("sc://", "//")):
        raise InputError(
            f"the address of a Spark server may hold a token, which shells and logs would keep: "
            f"give it as {REMOTE}. Write {_SPARK_FORM}"
        )
    if _TABLE.fullmatch(address):
        quoted = ".".join(f"`{part}`" for part in address.split("."))
        return f"{SPARK}:{address}", f"select * from {quoted}"  # noqa: S608 - letters and digits
    return SPARK, address


def must_only_read_spark(query: str, name: str) -> str:
    """The query, refused where it is no SELECT or reaches beyond the tables."""
    text = one_select(query, name)
    # What is a comment depends on where texts end, which settings change: both are looked at.
    forbidden = _BEYOND_SPARK_TABLES.search(text) or _BEYOND_SPARK_TABLES.search(
        _COMMENT.sub(" ", text)
    )
    if forbidden is not None:
        raise InputError(
            f"{name}: the query holds {forbidden[0].strip()!r}, which may reach beyond the tables. "
            f"Only one SELECT that reads tables is allowed; name files as inputs of their own"
        )
    return text


@contextlib.contextmanager
def spark_session(query: str, name: str) -> Iterator[Any]:
    """A session of Spark: that of the server in the environment, or one on this machine."""
    must_only_read_spark(query, name)
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError as error:
        raise InputError(
            f"{name} needs PySpark, which is not installed: {install_line('spark')}"
        ) from error
    try:
        with _session(name) as session:
            with contextlib.suppress(PySparkException, Py4JError):
                session.conf.set("spark.sql.runSQLonFiles", "false")
            yield session
    except (PySparkException, Py4JError) as error:
        lines = str(error).strip().splitlines() or ["unknown"]
        advice = ""
        if "JAVA_GATEWAY" in lines[0]:
            advice = f". Java is needed to run Spark here, or a server in {REMOTE}"
        raise InputError(f"{name}: Spark refuses: {lines[0]}{advice}") from error


@contextlib.contextmanager
def _session(name: str) -> Iterator[Any]:
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
            grpc.channel_ready_future(channel).result(timeout=_SPARK_SECONDS)
        except grpc.FutureTimeoutError:
            tls = " and speaks TLS, as a token or use_ssl asks for" if channels.secure else ""
            raise InputError(
                f"{name}: Spark can't be reached at {channels.endpoint}: there was no connection "
                f"within {_SPARK_SECONDS} seconds. Check the host and port in {REMOTE}, that the "
                f"server runs{tls}, and that a firewall lets it through"
            ) from None


def spark_rows(query: str, name: str, batch_rows: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    with spark_session(query, name) as session:
        frame = session.sql(one_select(query, name))
        yield list(frame.columns)
        rows = (tuple(row) for row in frame.toLocalIterator())
        while batch := list(islice(rows, batch_rows)):
            yield batch
