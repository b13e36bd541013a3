"""Whoever can run a statement: connections, sessions and frames, told apart by their package.

Nothing is imported here but what made the object that was given. Results come as Arrow where the
object offers it, else as rows of Python values.
"""

from __future__ import annotations

import contextlib
import io
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from assay.v02.engines.statements import (
    DIALECTS,
    PACKAGES,
    Dialect,
    dialect_named,
    first_values,
    no_rows,
    subquery,
)
from assay.errors import InputError, database_refusal
from assay.v02.sources.files.builders import series_of
from assay.v02.sources.files.database_queries import one_select
from assay.v02.sources.files.formats import guarded

if TYPE_CHECKING:
    import polars as pl

# Rows come as Python values, which take about a hundred bytes each.
_BATCH = 1 << 16
# As many rows of two columns are 4 MB on a worker.
_FETCHED = 1 << 18
_ARROW_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
_ALL = 1 << 26
_RESULT = "the query's result"
_VENDORS = {"sqlite": "sqlite", "postgresql": "postgresql", "duckdb": "duckdb"}


class Runner(Protocol):
    """Runs one statement."""

    def __call__(self, statement: str) -> pl.DataFrame:
        """The result as a frame; the names of its columns may differ in case."""


@dataclass(frozen=True)
class Database:
    """A table of rows in a database: what runs statements, and what they read from."""

    dialect: Dialect
    run: Runner
    source: str
    look: Callable[[str], tuple[Any, ...] | None] | None = None
    describe: Callable[[str], Sequence[str]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns; where a database tells them, none has to be converted."""
        statement = no_rows(self.dialect, self.source)
        return tuple(
            self.run(statement).columns if self.describe is None else self.describe(statement)
        )

    def first(self, statement: str) -> tuple[Any, ...] | None:
        """The values of the first row, as Python has them; None where there is none."""
        if self.look is not None:
            return self.look(statement)
        frame = self.run(statement)
        return frame.row(0) if frame.height else None

    def number(self, statement: str) -> int:
        """The number that a statement gives."""
        return int((self.first(statement) or [0])[0])

    @contextlib.contextmanager
    def naming(self, columns: Sequence[str]) -> Iterator[None]:
        """What can't be converted in here is refused by the name of its column."""
        try:
            yield
        except InputError:
            for column in columns:
                self._must_be_held(column)
            raise

    def _must_be_held(self, column: str) -> None:
        quoted = self.dialect.name_of(column)
        try:
            self.run(first_values(self.dialect, self.source, quoted, 0))
        except InputError as odd:
            raise InputError(
                f"column {column!r} has a type that can't be counted; make it a number or text in "
                f"the query (CAST), or name another column"
            ) from odd


@contextlib.contextmanager
def opened(given: Any, query: str | None, dialect: str | None = None) -> Iterator[Database]:
    """The database that an object stands for, with the rows of a query or of a frame.

    ``dialect`` is asked for where the object does not tell it.
    """
    with telling(given), _opened(given, query, dialect) as database:
        yield database


@contextlib.contextmanager
def telling(given: Any) -> Iterator[None]:
    """What the driver of an object raises in here is told as an error of input."""
    try:
        yield
    except _driver_errors(given) as odd:
        raise InputError(f"the database {database_refusal(odd)}") from odd


def _driver_errors(given: Any) -> tuple[type[Exception], ...]:
    """What the driver of an object raises, by the names that DB-API gives it."""
    modules = {kind.__module__ for kind in type(given).__mro__} | {_package(given)}
    errors = (
        getattr(sys.modules.get(module), name, None)
        for module in modules
        for name in ("Error", "Warning")
    )
    return tuple(e for e in errors if isinstance(e, type) and issubclass(e, Exception))


@contextlib.contextmanager
def _opened(given: Any, query: str | None, dialect: str | None) -> Iterator[Database]:
    package, kind = _package(given), type(given).__name__
    if kind in ("DuckDBPyRelation", "DataFrame") and package in ("duckdb", "pyspark"):
        if query is not None:
            raise InputError(f"rows are a {package} frame already; leave the query out")
        frame = _relation if package == "duckdb" else _spark_frame
        with frame(given) as database:
            yield database
        return
    if query is None:
        raise InputError(
            f"a {package} {kind} holds many tables; say which rows are meant, as query='select ...'"
        )
    source = subquery(one_select(query, "the query"))
    if package == "duckdb" and kind == "DuckDBPyConnection":
        _must_be_one(given, query)
        # As a table of its own it would get other names for them.
        must_differ(given.sql(query).columns)
        yield Database(
            DIALECTS["duckdb"],
            lambda text: _arrow_or_rows(given, text),
            source,
            describe=lambda text: given.sql(text).columns,
        )
    elif package == "pyspark":
        with _large_batches(given):
            yield _of_session(given, source)
    elif package == "chdb" and hasattr(given, "query"):
        yield Database(DIALECTS["clickhouse"], lambda text: _of_chdb(given, text), source)
    elif hasattr(given, "cursor"):
        spoken = dialect_named(dialect) if dialect else _spoken(given, package)
        if hasattr(given, "adbc_get_info"):
            yield Database(
                spoken,
                lambda text: _adbc(given, text),
                source,
                describe=lambda text: _described(given, text),
            )
        else:
            yield Database(
                spoken, lambda text: _rows(given, text), source, lambda text: _look(given, text)
            )
    else:
        raise InputError(
            f"a {package} {kind} runs no statements; give a DB-API or ADBC connection, a DuckDB "
            f"relation, or a Spark session or frame"
        )


def _package(given: Any) -> str:
    """The package that made an object; one written in C may have an underscore before its name."""
    return type(given).__module__.partition(".")[0].lstrip("_")


def _spoken(connection: Any, package: str) -> Dialect:
    """The dialect of a DB-API connection."""
    name = PACKAGES.get(package)
    if name is None and hasattr(connection, "adbc_get_info"):
        vendor = str(connection.adbc_get_info().get("vendor_name", "")).lower()
        name = _VENDORS.get(vendor)
    if name is None:
        raise InputError(
            f"which SQL a connection of {package} speaks is not known; say dialect=, one of "
            f"{', '.join(sorted(DIALECTS))}"
        )
    return DIALECTS[name]


def _must_be_one(connection: Any, query: str) -> None:
    """DuckDB runs every statement that it is given; ask it how many there are."""
    statements = connection.extract_statements(query)
    if [statement.type.name for statement in statements] != ["SELECT"]:
        raise InputError("the query is no single SELECT; only one that reads is allowed")


# -- DuckDB ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _relation(relation: Any) -> Iterator[Database]:
    name = f"assay_{uuid.uuid4().hex}"

    def run(statement: str) -> pl.DataFrame:
        return _arrow_or_rows(relation, statement, name)

    def describe(statement: str) -> Sequence[str]:
        names: Sequence[str] = relation.query(name, statement).columns
        return names

    yield Database(DIALECTS["duckdb"], run, name, describe=describe)


def _arrow_or_rows(given: Any, statement: str, name: str | None = None) -> pl.DataFrame:
    """The result of a statement on a connection, or on a relation under a name."""
    import polars as pl

    result = given.sql(statement) if name is None else given.query(name, statement)
    try:
        # Types are tried on no rows: standard error is held back no longer than that.
        _of_arrow(_Stream(result.limit(0)))
        return pl.DataFrame(_Stream(result)).rechunk()
    except pl.exceptions.ComputeError as odd:  # what DuckDB says of a later row
        raise InputError(f"the database {database_refusal(odd)}") from odd
    except ImportError:  # before DuckDB 1.5 pyarrow made its Arrow
        return _of_cursor(result, [column[0] for column in result.description])


@dataclass(frozen=True)
class _Stream:
    """The Arrow of a relation.

    polars keeps the types of what it is given to the end, where DuckDB 2.0 complains of its own.
    """

    relation: Any

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return self.relation.__arrow_c_stream__(schema)


# -- Spark -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def _spark_frame(frame: Any) -> Iterator[Database]:
    """A frame as a view that goes away again."""
    session, name = frame.sparkSession, f"assay_{uuid.uuid4().hex}"
    frame.createOrReplaceTempView(name)
    try:
        with _large_batches(session):
            yield _of_session(session, name)
    finally:
        session.catalog.dropTempView(name)


@contextlib.contextmanager
def _large_batches(session: Any) -> Iterator[None]:
    """Have results come in larger pieces for a while: many small ones take a quarter more."""
    settings = session.conf
    if not settings.isModifiable(_ARROW_ROWS):
        yield
        return
    before = settings.get(_ARROW_ROWS)
    settings.set(_ARROW_ROWS, str(_FETCHED))
    try:
        yield
    finally:
        settings.set(_ARROW_ROWS, before)


def _of_session(session: Any, source: str) -> Database:
    return Database(
        DIALECTS["spark"],
        lambda text: _of_spark(session.sql(text)),
        source,
        describe=lambda text: session.sql(text).columns,
    )


def _of_spark(frame: Any) -> pl.DataFrame:
    if hasattr(frame, "toArrow"):
        return _of_arrow(frame.toArrow())
    rows = [tuple(row) for row in frame.collect()]
    return _of_rows(rows, list(frame.columns))


# -- chdb and connections --------------------------------------------------------------------------


def _of_chdb(session: Any, statement: str) -> pl.DataFrame:
    import polars as pl

    settings = (
        " SETTINGS output_format_arrow_string_as_string = 1, join_use_nulls = 1, "
        "output_format_arrow_low_cardinality_as_dictionary = 0"
    )
    result = session.query(statement + settings, "ArrowStream")
    content = result if isinstance(result, bytes) else result.bytes()
    with guarded(_RESULT):
        return pl.read_ipc_stream(io.BytesIO(content))


def _adbc(connection: Any, statement: str) -> pl.DataFrame:
    with contextlib.closing(connection.cursor()) as cursor:
        if _spoken(connection, _package(connection)).is_number:
            # Types are told by the rows of the first batch, so it has to have them all.
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(_ALL)})
        cursor.execute(statement)
        return _of_arrow(cursor.fetch_arrow())


def _described(connection: Any, statement: str) -> Sequence[str]:
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(statement)
        names = [column[0] for column in cursor.description]
    must_differ(names)
    return names


def _rows(connection: Any, statement: str) -> pl.DataFrame:
    with contextlib.closing(_cursor(connection)) as cursor:
        cursor.execute(statement)
        return _of_cursor(cursor, [column[0] for column in cursor.description])


def _look(connection: Any, statement: str) -> tuple[Any, ...] | None:
    with contextlib.closing(_cursor(connection)) as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
        return None if row is None else tuple(row)


def _cursor(connection: Any) -> Any:
    """A cursor whose rows are tuples of exact values, whatever the connection is set to."""
    package = _package(connection)
    if package == "psycopg":
        from psycopg.rows import tuple_row

        return connection.cursor(binary=True, row_factory=tuple_row)
    cursor = connection.cursor()
    if package == "sqlite3":
        cursor.row_factory = None
    return cursor


def _of_cursor(cursor: Any, names: list[str]) -> pl.DataFrame:
    import polars as pl

    must_differ(names)
    parts = []
    while batch := cursor.fetchmany(_BATCH):
        parts.append(_of_rows(batch, names))
    if not parts:
        return pl.DataFrame({name: [] for name in names})
    return _stacked(parts)


def must_differ(names: Sequence[str]) -> None:
    """Refuse two columns of one name, of which SQLite writes a colon and a number after one."""
    twice = [name for name in names if names.count(name) > 1 or f"{name}:1" in names]
    if twice:
        raise InputError(f"the query has two columns named {twice[0]!r}; rename one (AS)")


def _of_rows(rows: list[Any], names: list[str]) -> pl.DataFrame:
    import polars as pl

    columns = zip(*rows, strict=True)
    return pl.DataFrame([series_of(n, list(v)) for n, v in zip(names, columns, strict=True)])


def _stacked(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Batches one below the other; a column of unlike types becomes one of objects."""
    import polars as pl

    columns = []
    for name in parts[0].columns:
        series = [part[name] for part in parts]
        types = {one.dtype for one in series} - {pl.Null}
        if len(types) > 1:
            values = [value for one in series for value in one.to_list()]
            columns.append(series_of(name, values))
        else:
            wanted = types.pop() if types else pl.Null
            alike = [one if one.dtype == wanted else one.cast(wanted) for one in series]
            columns.append(pl.concat(alike))
    return pl.DataFrame(columns)


def _of_arrow(result: Any) -> pl.DataFrame:
    """A result that is here as a frame; a type that polars does not know is refused."""
    import polars as pl

    with guarded(_RESULT):
        try:
            return pl.DataFrame(result).rechunk()
        except pl.exceptions.DuplicateError as odd:
            raise InputError("the query has two columns of one name; rename one (AS)") from odd
