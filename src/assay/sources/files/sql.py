"""Queries on SQLite and DuckDB files: read-only, and locked against everything but reading."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from assay.errors import InputError, install_line
from assay.sources.files.table import Meter, Piece, Table
from assay.sources.files.values import series_of

SQLITE, DUCKDB = "sqlite", "duckdb"
# Rows come as Python values, which take about a hundred bytes each.
_MOST_ROWS = 1 << 16
_HARMLESS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_FORBIDDEN_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile"})
_MAGIC = {SQLITE: (0, b"SQLite format 3\0"), DUCKDB: (8, b"DUCK")}
_NAMES = {SQLITE: "SQLite", DUCKDB: "DuckDB"}


def sql_table(
    engine: str, path: Path, query: str, name: str, *, batch_rows: int, limit: int, meter: Meter
) -> Table:
    """Open a query on a database file; its result is the table."""
    _must_be(engine, path, name)
    if not query.strip():
        raise InputError(f"{name} has no query: write {engine}:FILE?QUERY with one SELECT")
    run = _sqlite if engine == SQLITE else _duckdb
    rows = run(path, query, name, min(batch_rows, _MOST_ROWS), limit)
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


def _sqlite(path: Path, query: str, name: str, batch_rows: int, _: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    # The path goes in as a quoted URI, never as text of a statement.
    address = path.absolute().as_uri() + "?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.set_authorizer(_only_reading)
            cursor = connection.execute(query)
            if cursor.description is None:
                raise InputError(f"{name}: the query gives no rows; write a SELECT")
            yield [column[0] for column in cursor.description]
            while batch := cursor.fetchmany(batch_rows):
                yield batch
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as odd:
        raise InputError(f"{name}: SQLite refuses the query: {odd}{_hint(odd)}") from odd


def _hint(odd: Exception) -> str:
    if "not authorized" in str(odd) or "prohibited" in str(odd) or "readonly" in str(odd):
        return ". Only one SELECT that reads this file is allowed"
    return ""


def _only_reading(action: int, *about: str | None) -> int:
    if action not in _HARMLESS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (about[1] or "").lower() in _FORBIDDEN_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _duckdb(path: Path, query: str, name: str, batch_rows: int, limit: int) -> Iterator[Any]:
    """The same for DuckDB."""
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
            cursor = connection.execute(statements[0])
            yield [column[0] for column in cursor.description or ()]
            while batch := cursor.fetchmany(batch_rows):
                yield batch
    except duckdb.Error as odd:
        lines = str(odd).strip().splitlines() or ["unknown"]
        raise InputError(f"{name}: DuckDB refuses the query: {lines[0]}") from odd
