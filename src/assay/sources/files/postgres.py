"""Queries on PostgreSQL: credentials from the environment alone, and nothing but reading.

Three things keep a query from doing more. The transaction is opened READ ONLY, so the server
refuses whatever writes. A superuser's session takes the role ``pg_read_all_data``, so the server
refuses to read its files. And a query that names a function which reaches beyond the tables (files,
other servers, settings, statements given as text) is refused before it is sent.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from assay.errors import InputError, install_line
from assay.sources.selects import one_select

POSTGRESQL = "postgresql"
_SCHEMES = (f"{POSTGRESQL}://", "postgres://")
_FORM = f"{POSTGRESQL}://HOST/DATABASE?QUERY"
_SECONDS = 15
# Functions and views of the server itself, large objects, other servers, settings, sequences, and
# functions that run a statement which they are given as text.
_BEYOND = re.compile(
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


def parsed(given: str) -> tuple[Address, str]:
    """The address and the query of an input; a password in it is refused, and never shown.

    >>> address, query = parsed("postgresql://reader@db.example/flows?select label, score from t")
    >>> address.name, query
    ('postgresql://reader@db.example/flows', 'select label, score from t')
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
    except ValueError as odd:
        if isinstance(odd, InputError):
            raise
        # What urllib says may show what was given.
        raise InputError(f"the address of a PostgreSQL can't be read; write {_FORM}") from None
    if "=" in query.partition(" ")[0]:
        raise InputError(
            f"{address.name}: a query follows the question mark, and no settings: give those by "
            f"the environment (PGSSLMODE, PGSERVICE, PGPASSWORD, ...). Write {_FORM}"
        )
    return address, query


def _must_hold_no_password(split: SplitResult) -> None:
    user_part = split.netloc.rpartition("@")[0]
    if ":" in unquote(user_part):
        raise InputError(
            f"the address of a PostgreSQL holds a password, which shells and logs would keep; take "
            f"it out and give it as PGPASSWORD, in ~/.pgpass or by PGSERVICE. Write {_FORM}"
        )


def must_only_read(query: str, name: str) -> str:
    """The query, refused where it is no SELECT or reaches beyond the tables."""
    text = one_select(query, name)
    beyond = _BEYOND.search(text)
    if beyond is not None:
        raise InputError(
            f"{name}: the query names {beyond[0]!r}, which may reach beyond the tables. Only one "
            f"SELECT that reads tables is allowed"
        )
    if _SPELLED.search(text):
        raise InputError(f"{name}: the query spells a name by numbers (U&); write it as it is")
    return text


@contextlib.contextmanager
def connected(address: Address) -> Iterator[Any]:
    """A connection in one transaction that only reads, and sees one state of the tables."""
    try:
        import psycopg
    except ImportError as odd:
        raise InputError(
            f"{address.name} needs psycopg, which is not installed: {install_line('postgres')}"
        ) from odd
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
    except psycopg.Error as odd:
        lines = str(odd).strip().splitlines() or ["unknown"]
        raise InputError(f"{address.name}: PostgreSQL refuses: {lines[0]}") from odd


def _drop_power(connection: Any) -> None:
    """A superuser reads tables and no more; a policy that would hide rows is an error."""
    row = connection.execute(
        "SELECT usesuper, current_setting('server_version_num')::int FROM pg_user "
        "WHERE usename = current_user"
    ).fetchone()
    if row is not None and row[0] and row[1] >= 140_000:
        connection.execute("SET row_security = off")
        connection.execute("SET ROLE pg_read_all_data")


def rows_of(address: Address, query: str, batch_rows: int) -> Iterator[Any]:
    """The names of a query's columns, and then its rows in batches."""
    text = must_only_read(query, address.name)
    with connected(address) as connection, connection.cursor("assay", binary=True) as cursor:
        cursor.execute(f"SELECT * FROM (\n{text}\n) AS assay_query")  # noqa: S608 - it is a query
        yield [column.name for column in cursor.description]
        while batch := cursor.fetchmany(batch_rows):
            yield batch
