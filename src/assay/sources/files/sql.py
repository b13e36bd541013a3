"""Queries on databases: read-only, and locked against everything but reading.

A connection is opened here for whoever counts in the database; commands that need the rows
themselves get them as a table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, install_line
from assay.sources.files import postgres, spark
from assay.sources.files.builders import series_of
from assay.sources.files.postgres import POSTGRESQL, must_only_read
from assay.sources.files.spark import SPARK
from assay.sources.files.table import Meter, Piece, Table
from assay.sources.selects import one_select

if TYPE_CHECKING:
    from assay.sources.files.inputs import Source

SQLITE, DUCKDB = "sqlite", "duckdb"
# Rows come as Python values, which take about a hundred bytes each.
_MOST_ROWS = 1 << 16
_HARMLESS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile"})
_MAGIC = {SQLITE: (0, b"SQLite format 3\0"), DUCKDB: (8, b"DUCK")}
_NAMES = {SQLITE: "SQLite", DUCKDB: "DuckDB"}


@contextmanager
def connected(source: Source, limit: int) -> Iterator[Any]:
    """A connection to the database of a source, on which nothing but reading works.

    What the database says against a statement becomes an error that names the source.
    """
    must_have_query(source)
    if source.engine == SPARK:
        with spark.connected(source.query, source.name) as session:
            yield session
        return
    if source.address is not None:
        must_only_read(source.query, source.name)
        with postgres.connected(source.address) as connection:
            yield connection
        return
    assert source.engine is not None  # noqa: S101 - a source with a query has one
    assert source.path is not None  # noqa: S101 - one without an address has a file
    _must_be(source.engine, source.path, source.name)
    one_select(source.query, source.name)
    opening = (
        _sqlite(source.path, source.name)
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


def sql_table(source: Source, *, batch_rows: int, limit: int, meter: Meter) -> Table:
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

    return Table(name, tuple(columns), pieces)


def _must_be(engine: str, path: Path, name: str) -> None:
    at, sign = _MAGIC[engine]
    try:
        with path.open("rb") as file:
            head = file.read(at + len(sign))
    except OSError as odd:
        raise InputError(f"{name} can't be opened: {odd.strerror}") from odd
    if head[at:] != sign:
        raise InputError(f"{name} is no {_NAMES[engine]} file: it begins with {head[:16]!r}")


def _rows(source: Source, batch_rows: int, limit: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    must_have_query(source)
    if source.engine == SPARK:
        yield from spark.rows_of(source.query, source.name, batch_rows)
        return
    if source.address is not None:
        yield from postgres.rows_of(source.address, source.query, batch_rows)
        return
    with connected(source, limit) as connection:
        cursor = connection.execute(source.query)
        if cursor.description is None:
            raise InputError(f"{source.name}: the query gives no rows; write a SELECT")
        yield [column[0] for column in cursor.description]
        while batch := cursor.fetchmany(batch_rows):
            yield batch


@contextmanager
def _sqlite(path: Path, name: str) -> Iterator[Any]:
    journal = path.with_name(f"{path.name}-wal")
    # The path goes in as a quoted URI, never as text of a statement.
    address = path.absolute().as_uri() + "?mode=ro"
    if _has_journal_mode(path) and not journal.exists():
        # Nobody has it open. Read as it is, no journal is left beside it, nor needs to be.
        address += "&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("BEGIN")
            connection.set_authorizer(_only_reading)
            yield connection
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as odd:
        raise InputError(f"{name}: SQLite refuses the query: {odd}{_hint(odd, journal)}") from odd


def _has_journal_mode(path: Path) -> bool:
    """Whether changes of the file are written into a journal beside it first (WAL)."""
    with path.open("rb") as file:
        return file.read(20)[18:] == b"\x02\x02"


def _hint(odd: Exception, journal: Path) -> str:
    if "unable to open" in str(odd) and journal.exists():
        return (
            f". Its last changes stand in {journal.name}, which is read through a file beside it: "
            f"copy both to a folder that can be written, and read them there"
        )
    if "not authorized" in str(odd) or "prohibited" in str(odd) or "readonly" in str(odd):
        return ". Only one SELECT that reads this file is allowed"
    return ""


def _only_reading(action: int, *about: str | None) -> int:
    if action not in _HARMLESS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (about[1] or "").lower() in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


@contextmanager
def _duckdb(path: Path, query: str, name: str, limit: int) -> Iterator[Any]:
    try:
        import duckdb
    except ImportError as odd:
        raise InputError(
            f"{name} needs DuckDB, which is not installed: {install_line('sql')}"
        ) from odd
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
        with closing(
            duckdb.connect(str(path.absolute()), read_only=True, config=settings)
        ) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET lock_configuration = true")
            statements = connection.extract_statements(query)
            if [s.type for s in statements] != [duckdb.StatementType.SELECT]:
                raise InputError(f"{name}: only one SELECT that reads this file is allowed")
            yield connection
    except duckdb.Error as odd:
        lines = str(odd).strip().splitlines() or ["unknown"]
        raise InputError(f"{name}: DuckDB refuses the query: {lines[0]}") from odd
