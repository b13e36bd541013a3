"""Queries on databases: read-only, and locked against everything but reading."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from assay.errors import InputError, database_refusal, install_line
from assay.reading.frames import of_tuples
from assay.reading.source import Batch, Table

_BATCH = 1 << 16
_MAGIC = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}
_FORM = "postgresql://HOST/DATABASE?SELECT ..."

# Runs the query, and gives the names of its columns and then its rows.
Run = Callable[[], Iterator[Sequence[Any]]]


def open_query(given: str) -> Table:
    """The result of a query such as ``sqlite:runs.db?SELECT * FROM flows`` as a table."""
    if given.startswith(("postgresql://", "postgres://")):
        name, run = _postgresql(given)
    else:
        engine, _, address = given.partition(":")
        path, query = _file_and_query(address, engine)
        name = f"{engine}:{path}"
        _check_magic(path, engine, name)
        select = one_select(query, name)
        opened = {"sqlite": _sqlite, "duckdb": _duckdb}[engine]

        def run() -> Iterator[Sequence[Any]]:
            return opened(path, select, name)

    return _table(name, run)


def _table(name: str, run: Run) -> Table:
    """The query runs once for a look at its first rows, and anew whenever its rows are read."""

    def opened() -> tuple[Table, Iterator[Sequence[Any]]]:
        batches = run()
        columns = [str(column) for column in next(batches)]
        return of_tuples(name, columns, batches), batches

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        table, batches = opened()
        with contextlib.closing(batches):  # type: ignore[type-var] # a generator
            yield from table.read(asked)

    first, batches = opened()
    look = first.look()
    batches.close()  # type: ignore[attr-defined] # a generator
    return Table(name, first.schema, read, lambda: look)


def _fetched(cursor: Any) -> Iterator[Sequence[Any]]:
    if cursor.description is None:
        raise InputError("the query gives no rows: write a SELECT")
    yield [column[0] for column in cursor.description]
    while batch := cursor.fetchmany(_BATCH):
        yield batch


# -- files -----------------------------------------------------------------------------------------


def _file_and_query(address: str, engine: str) -> tuple[Path, str]:
    """A file's name may hold a question mark: the first part that is a file is the file."""
    for cut in [*(i for i, sign in enumerate(address) if sign == "?"), len(address)]:
        path = Path(address[:cut])
        if path.is_file():
            if not address[cut + 1 :].strip():
                raise InputError(f"{engine}:{path} has no query: write {engine}:FILE?SELECT ...")
            return path, address[cut + 1 :]
    from assay.reading.inputs import missing

    place = address.partition("?")[0]
    raise missing(Path(place), place)


def _check_magic(path: Path, engine: str, name: str) -> None:
    at, sign = _MAGIC[engine]
    try:
        with path.open("rb") as file:
            head = file.read(at + len(sign))
    except OSError as error:
        raise InputError(f"{name} can't be opened: {error.strerror}") from error
    if head[at:] != sign:
        raise InputError(f"{name} is no file of this database: it begins with {head[:16]!r}")


_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
_FORBIDDEN = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile"})


def _only_reading(action: int, *about: str | None) -> int:
    if action not in _READING:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (about[1] or "").lower() in _FORBIDDEN:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _sqlite(path: Path, query: str, name: str) -> Iterator[Sequence[Any]]:
    # The path goes in as a quoted URI, never as text of a statement.
    address = path.absolute().as_uri() + "?mode=ro"
    try:
        with contextlib.closing(
            sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        ) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("BEGIN")
            connection.set_authorizer(_only_reading)
            yield from _fetched(connection.execute(query))
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError) as error:
        raise InputError(f"{name}: SQLite {database_refusal(error)}") from error


def _duckdb(path: Path, query: str, name: str) -> Iterator[Sequence[Any]]:
    try:
        import duckdb
    except ImportError as error:
        raise InputError(f"{name} needs DuckDB: {install_line('sql')}") from error
    if "?" in str(path.absolute()):
        raise InputError(f"{name}: DuckDB opens no path with a question mark in it; rename it")
    settings: dict[str, Any] = {
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
        "temp_directory": "",
    }
    try:
        with contextlib.closing(
            duckdb.connect(str(path.absolute()), read_only=True, config=settings)
        ) as connection:
            connection.execute("SET enable_progress_bar = false")
            connection.execute("SET lock_configuration = true")
            kinds = [statement.type for statement in connection.extract_statements(query)]
            if kinds != [duckdb.StatementType.SELECT]:
                raise InputError(f"{name}: only one SELECT that reads this file is allowed")
            yield from _fetched(connection.execute(query))
    except duckdb.Error as error:
        raise InputError(f"{name}: DuckDB {database_refusal(error)}") from error


# -- one SELECT ------------------------------------------------------------------------------------

# Comments, and whatever stands in quotes.
_ASIDE = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`", re.DOTALL)
_FIRST = ("select", "with", "from", "values", "table")


def one_select(query: str, name: str) -> str:
    """The query without its last semicolon; refused unless it is a single SELECT.

    What runs it is opened for reading only besides: this is the friendly half of the guard.

    >>> one_select("select label, score from flows;", "flows.db")
    'select label, score from flows'
    """
    text = query.strip()
    bare = _ASIDE.sub(lambda match: " " if match[0][0] in "-/" else "''", text).strip()
    if bare.endswith(";") and text.endswith(";"):
        text, bare = text[:-1].rstrip(), bare[:-1]
    word = re.match(r"[\s(]*(\w*)", bare)
    if word is None or word[1].lower() not in _FIRST or ";" in bare:
        raise InputError(
            f"{name}: the query is no single SELECT: found {' '.join(bare.split())[:40]!r}. Only "
            f"one SELECT that reads is allowed"
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
# reading: the transaction is READ ONLY, a superuser's session takes the role pg_read_all_data, and
# a query that names a function which reaches beyond tables is refused before it is sent.

_BEYOND_TABLES = re.compile(
    r"\b(?:(?!pg_typeof\b|pg_catalog\b)pg_\w+|lo_\w+|lo(?:read|write|creat)|dblink\w*|postgres_fdw\w*"
    r"|set_config|\w+_to_xml\w*|ts_stat|ts_rewrite|(?:next|set|curr|last)val|crosstab\w*|connectby"
    r"|xpath_table)\b|\bU&['\"]",  # a name spelled by numbers could be any of those
    re.IGNORECASE,
)
_SECONDS = 15


def _postgresql(given: str) -> tuple[str, Run]:
    place, _, query = given.partition("?")
    try:
        address = urlsplit(place)
        user = unquote(address.username or "")
        if address.password is not None or ":" in unquote(address.netloc.rpartition("@")[0]):
            raise InputError(
                "the address of a PostgreSQL holds a password, which shells and logs would keep: "
                f"give it as PGPASSWORD, in ~/.pgpass or by PGSERVICE. Write {_FORM}"
            )
        settings: dict[str, Any] = {
            "host": unquote(address.hostname or ""),
            "port": address.port,
            "user": user,
            "dbname": unquote(address.path[1:]),
        }
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        # What urllib says may show what was given.
        raise InputError(f"the address of a PostgreSQL can't be read: write {_FORM}") from None
    if "=" in unquote(place) or "=" in query.partition(" ")[0]:
        raise InputError(
            "the address of a PostgreSQL holds settings: give those by the environment "
            f"(PGSSLMODE, PGSERVICE, PGPASSWORD, ...). Write {_FORM}"
        )
    host = settings["host"] + (f":{settings['port']}" if settings["port"] else "")
    name = f"postgresql://{user + '@' if user else ''}{host}/{settings['dbname']}"
    if not query.strip():
        raise InputError(f"{name} has no query: write {_FORM}")
    select = one_select(query, name)
    beyond = _BEYOND_TABLES.search(select)
    if beyond is not None:
        raise InputError(
            f"{name}: the query names {beyond[0]!r}, which may reach beyond the tables. Only one "
            f"SELECT that reads tables is allowed"
        )
    chosen = {key: value for key, value in settings.items() if value}
    return name, lambda: _postgresql_rows(chosen, select, name)


def _postgresql_rows(settings: dict[str, Any], query: str, name: str) -> Iterator[Sequence[Any]]:
    try:
        import psycopg
    except ImportError as error:
        raise InputError(f"{name} needs psycopg: {install_line('postgres')}") from error
    try:
        with contextlib.closing(
            psycopg.connect(
                **settings, autocommit=True, connect_timeout=_SECONDS, application_name="assay"
            )
        ) as connection:
            connection.execute("SET default_transaction_read_only = on")
            row = connection.execute(
                "SELECT usesuper, current_setting('server_version_num')::int FROM pg_user "
                "WHERE usename = current_user"
            ).fetchone()
            if row is not None and row[0] and row[1] >= 140_000:
                # A superuser reads tables and no more; a policy that would hide rows is an error.
                connection.execute("SET row_security = off")
                connection.execute("SET ROLE pg_read_all_data")
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.autocommit = False
            with connection.cursor("assay", binary=True) as cursor:
                cursor.execute(f"SELECT * FROM (\n{query}\n) AS assay_query".encode())  # noqa: S608
                yield from _fetched(cursor)
    except psycopg.Error as error:
        raise InputError(f"{name}: PostgreSQL {database_refusal(error)}") from error
