"""Connections and sessions of many packages, by stand-ins: what they are asked, and how."""

from __future__ import annotations

import io
import itertools
import sqlite3
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import duckdb
import polars as pl
import pytest

import assay
from assay.engines import Ask, Columns, databases, sql
from assay.engines.databases import (
    Database,
    _arrow_or_rows,
    _of_spark,
    _stacked,
    must_differ,
    opened,
)
from assay.engines.statements import DIALECTS
from assay.errors import InputError

from .standins import of

FRAME = pl.DataFrame({"n": [3, 4]})


# -- first values ----------------------------------------------------------------------------------


def test_the_first_row_is_looked_at_where_a_database_offers_it() -> None:
    looked = Database(DIALECTS["sqlite"], lambda _: FRAME, "t", lambda text: (text, 1))
    assert looked.first("SELECT") == ("SELECT", 1)
    run = Database(DIALECTS["sqlite"], lambda _: FRAME, "t")
    assert (run.first(""), run.number("")) == ((3,), 3)
    none = Database(DIALECTS["sqlite"], lambda _: FRAME[:0], "t")
    assert (none.first(""), none.number("")) == (None, 0)


# -- packages --------------------------------------------------------------------------------------


ROWS_OF_A_BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"


def settings(held: dict[str, str], *, modifiable: bool = True) -> Any:
    """Settings of a session of Spark."""
    return SimpleNamespace(
        get=held.__getitem__, set=held.__setitem__, isModifiable=lambda _: modifiable
    )


def test_a_session_of_spark_runs_statements() -> None:
    session = of("pyspark.sql.session", "SparkSession", conf=settings({ROWS_OF_A_BATCH: "10000"}))
    session.sql = lambda text: SimpleNamespace(collect=lambda: [(1, text)], columns=["a", "b"])
    with opened(session, "select 1") as database:
        assert database.dialect.name == "spark"
        assert database.run("SELECT 2").rows() == [(1, "SELECT 2")]
        assert database.source == "(\nselect 1\n) AS assay_query"


def test_a_frame_of_spark_is_a_view_for_a_while() -> None:
    views: list[str] = []
    held = {ROWS_OF_A_BATCH: "10000"}
    session = SimpleNamespace(
        conf=settings(held),
        sql=lambda _: SimpleNamespace(toArrow=FRAME.to_arrow),
        catalog=SimpleNamespace(dropTempView=views.remove),
    )
    frame = of("pyspark.sql.dataframe", "DataFrame", sparkSession=session)
    frame.createOrReplaceTempView = views.append
    with opened(frame, None) as database:
        assert views == [database.source]
        assert database.source.startswith("assay_")
        assert database.run("").equals(FRAME)
        assert int(held[ROWS_OF_A_BATCH]) > 100_000
    assert views == []
    assert held == {ROWS_OF_A_BATCH: "10000"}
    with pytest.raises(InputError, match="pyspark frame already; leave the query out"):
        opened(frame, "select 1").__enter__()


def test_a_session_of_spark_that_lets_nothing_be_set_is_left_as_it_is() -> None:
    conf = settings({}, modifiable=False)
    session = of("pyspark.sql.session", "SparkSession", conf=conf)
    session.sql = lambda _: SimpleNamespace(toArrow=FRAME.to_arrow)
    with opened(session, "select 1") as database:
        assert database.run("").equals(FRAME)


def test_a_session_of_chdb_answers_in_arrow() -> None:
    asked: list[tuple[str, str]] = []

    def query(text: str, form: str) -> Any:
        asked.append((text, form))
        stream = io.BytesIO()
        FRAME.write_ipc_stream(stream)
        content = stream.getvalue()
        return content if len(asked) == 1 else SimpleNamespace(bytes=lambda: content)

    with opened(of("chdb.session", "Session", query=query), "select 1") as database:
        assert database.dialect.name == "clickhouse"
        for _ in range(2):
            assert database.run("SELECT n").equals(FRAME)
    text, form = asked[0]
    assert form == "ArrowStream"
    assert text.startswith("SELECT n SETTINGS output_format_arrow_string_as_string = 1, ")


class Cursor:
    """A cursor that tells what it was given."""

    def __init__(self, rows: list[Any], names: list[str]) -> None:
        self.rows, self.closed = rows, False
        self.description = [(name, "type", None) for name in names]
        self.executed: list[str] = []
        self.options: dict[str, str] = {}
        self.adbc_statement = SimpleNamespace(set_options=lambda **more: self.options.update(more))

    def execute(self, text: str) -> None:
        self.executed.append(text)

    def fetchmany(self, size: int) -> list[Any]:
        some, self.rows = self.rows[:size], self.rows[size:]
        return some

    def fetchone(self) -> Any:
        return self.rows[0] if self.rows else None

    def fetch_arrow(self) -> Any:
        return FRAME.to_arrow()

    def close(self) -> None:
        self.closed = True


def test_a_connection_gives_rows_by_a_cursor_that_is_closed() -> None:
    cursors: list[Cursor] = []

    def cursor() -> Cursor:
        cursors.append(Cursor([[1, "x"], [2, None]], ["a", "b"]))
        return cursors[-1]

    with opened(of("trino.dbapi", "Connection", cursor=cursor), "select 1") as database:
        assert database.dialect.name == "trino"
        assert database.run("SELECT 1").rows() == [(1, "x"), (2, None)]
        assert database.run("SELECT 1").columns == ["a", "b"]
        assert database.first("SELECT 2") == (1, "x")
    assert all(each.closed for each in cursors)
    assert cursors[-1].executed == ["SELECT 2"]


def test_no_rows_have_the_names_of_their_columns() -> None:
    connection = of("trino.dbapi", "Connection", cursor=lambda: Cursor([], ["a", "b"]))
    with opened(connection, "select 1") as database:
        assert database.run("").columns == ["a", "b"]
        assert database.first("") is None


def test_psycopg_is_asked_for_exact_values() -> None:
    asked: list[dict[str, Any]] = []

    def cursor(**options: Any) -> Cursor:
        asked.append(options)
        return Cursor([(1,)], ["a"])

    with opened(of("psycopg", "Connection", cursor=cursor), "select 1") as database:
        assert database.dialect.name == "postgresql"
        assert database.run("").rows() == [(1,)]
    assert asked[0]["binary"] is True
    assert asked[0]["row_factory"].__name__ == "tuple_row"


def test_rows_of_sqlite_are_tuples_whatever_the_connection_makes_of_them() -> None:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = lambda cursor, row: {"row": row}
    with opened(connection, "select 1") as database:
        assert database.run("SELECT 1 AS a, 'x' AS b").rows() == [(1, "x")]
        assert database.first("SELECT 1 AS a, 'x' AS b") == (1, "x")
    connection.close()


@pytest.mark.parametrize(
    ("vendor", "dialect", "options"),
    [
        ("SQLite", "sqlite", {"adbc.sqlite.query.batch_rows": "67108864"}),
        ("PostgreSQL", "postgresql", {}),
        ("DuckDB", "duckdb", {}),
    ],
)
def test_adbc_tells_its_vendor(vendor: str, dialect: str, options: dict[str, str]) -> None:
    cursor = Cursor([], [])
    connection = of("adbc_driver_manager.dbapi", "Connection", cursor=lambda: cursor)
    connection.adbc_get_info = lambda: {"vendor_name": vendor}
    with opened(connection, "select 1") as database:
        assert database.dialect.name == dialect
        assert database.run("SELECT n").equals(FRAME)
    assert (cursor.executed, cursor.options, cursor.closed) == (["SELECT n"], options, True)


def test_an_unknown_vendor_has_to_say_its_dialect() -> None:
    connection = of("adbc_driver_manager.dbapi", "Connection", cursor=lambda: Cursor([], []))
    connection.adbc_get_info = dict
    with pytest.raises(InputError, match="of adbc_driver_manager speaks is not known"):
        opened(connection, "select 1").__enter__()


@pytest.mark.parametrize(
    "given",
    [of("polars.frame", "DataFrame"), of("chdb.session", "Session"), of("duckdb", "Other")],
)
def test_what_runs_no_statements_is_refused(given: Any) -> None:
    with pytest.raises(InputError, match="runs no statements"):
        opened(given, "select 1").__enter__()


# -- results ---------------------------------------------------------------------------------------


def test_rows_are_taken_where_arrow_needs_a_package_that_is_not_there() -> None:
    result = Cursor([(1, "x")], ["a", "b"])

    class Unable(Cursor):
        def __arrow_c_stream__(self, *_: Any) -> Any:
            raise ImportError("No module named 'pyarrow'")

        def limit(self, _: int) -> Any:
            return self

    unable = Unable(result.rows, ["a", "b"])
    given = SimpleNamespace(sql=lambda _: unable)
    assert _arrow_or_rows(given, "SELECT 1").rows() == [(1, "x")]
    able = of("duckdb", "DuckDBPyRelation", limit=FRAME.to_arrow().slice)
    able.__arrow_c_stream__ = FRAME.to_arrow().__arrow_c_stream__
    named = SimpleNamespace(query=lambda name, text: able)
    assert _arrow_or_rows(named, "SELECT 1", "t").equals(FRAME)


def test_rows_of_an_older_spark_are_collected() -> None:
    frame = SimpleNamespace(collect=lambda: [[1, "x"]], columns=["a", "b"])
    assert _of_spark(frame).rows() == [(1, "x")]


def test_names_are_those_that_adbc_describes() -> None:
    info = {"vendor_name": "duckdb"}
    for names in (["a", "b"], ["a", "a"]):
        connection = of("adbc", "Connection", adbc_get_info=lambda: info)
        connection.cursor = lambda names=names: Cursor([], names)
        with opened(connection, "select 1") as database:
            if names == ["a", "b"]:
                assert database.names == ("a", "b")
                continue
            with pytest.raises(InputError, match="two columns named 'a'"):
                _ = database.names


@pytest.mark.parametrize(
    ("names", "twice"),
    [(["a", "b"], ""), (["a", "b", "a"], "a"), (["b", "a", "a:1"], "a"), (["a:1", "b"], "")],
)
def test_two_columns_have_two_names(names: list[str], twice: str) -> None:
    if not twice:
        must_differ(names)
        return
    with pytest.raises(InputError, match=f"two columns named '{twice}'"):
        must_differ(names)


def test_batches_of_unlike_types_are_put_together() -> None:
    whole, nothing = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [None]})
    assert _stacked([nothing, whole])["a"].to_list() == [None, 1, 2]
    assert _stacked([whole, nothing])["a"].dtype == pl.Int64
    assert _stacked([nothing, nothing])["a"].dtype == pl.Null
    text = pl.DataFrame({"a": ["x"]})
    mixed = _stacked([whole, nothing, text])["a"]
    assert mixed.dtype == pl.Object
    assert mixed.to_list() == [1, 2, None, "x"]
    both = pl.DataFrame({"a": [1], "b": ["y"]})
    assert _stacked([both, both]).columns == ["a", "b"]


# -- what a driver says ----------------------------------------------------------------------------

TOLD = r"the database refuses the query: .*; then ask again$"
COUNTED = Columns("label", score="score")


def _gone(error: str, count: Callable[[], Any]) -> None:
    with pytest.raises(InputError, match=TOLD) as refused:
        count()
    assert error in str(refused.value)


def test_a_table_that_is_not_there_is_an_error_of_input() -> None:
    lite, duck = sqlite3.connect(":memory:"), duckdb.connect()
    _gone("no such table: flows", lambda: sql.count(lite, "select * from flows", COUNTED))
    _gone("flows does not exist", lambda: sql.count(duck, "select * from flows", COUNTED))


def test_a_connection_that_ended_or_was_interrupted_is_an_error_of_input() -> None:
    lite, duck = sqlite3.connect(":memory:"), duckdb.connect()
    lite.set_progress_handler(lambda: 1, 1)
    _gone("interrupted", lambda: sql.count(lite, "select 'a' as label, 1 as score", COUNTED))
    lite.close()
    _gone("closed database", lambda: sql.count(lite, "select 'a' as label, 1 as score", COUNTED))
    frame = duck.sql("select 'attack' as label, 0.5 as score")
    duck.close()
    _gone("closed", lambda: assay.evaluate(frame, label="label", score="score"))


def test_a_relation_whose_table_went_away_is_an_error_of_input() -> None:
    duck = duckdb.connect()
    duck.execute("create table flows as select 'attack' as label, 0.5 as score")
    frame = duck.sql("select * from flows")
    duck.execute("drop table flows")
    _gone("flows does not exist", lambda: assay.evaluate(frame, label="label", score="score"))
    models = {"a": "score", "b": "score"}
    _gone("flows does not exist", lambda: assay.compare(frame, label="label", scores=models))


def test_a_late_row_that_a_query_can_not_convert_is_an_error_of_input() -> None:
    duck = duckdb.connect()
    late = "case when i = 600000 then 'z' else i::varchar end"
    query = f"select 'a' as label, cast({late} as double) as score from range(600001) as t(i)"
    _gone("Could not convert string 'z'", lambda: sql.count(duck, query, COUNTED))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("drop table dying", 'relation "dying" does not exist'),
        ("alter table dying drop column label", 'column "label" does not exist'),
        ("alter table dying rename column score to s", 'column "score" does not exist'),
        ("alter table dying alter column score type bytea using null", "cannot cast type bytea"),
    ],
)
def test_a_table_that_changes_while_it_is_counted_is_an_error_of_input(
    postgresql: str, monkeypatch: pytest.MonkeyPatch, change: str, error: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    connect = partial(psycopg.connect, host=postgresql, user="postgres", autocommit=True)
    run, asked = databases._rows, itertools.count()

    def changed(connection: Any, statement: str) -> pl.DataFrame:
        if next(asked) == 1:
            other.execute(change)
        return run(connection, statement)

    with connect() as other, connect() as connection:
        other.execute("drop table if exists dying")
        other.execute("create table dying as select 'attack' as label, 0.5::float8 as score")
        monkeypatch.setattr(databases, "_rows", changed)
        _gone(error, lambda: sql.count_by_mode(connection, "select * from dying", COUNTED, Ask()))


def test_a_server_that_stops_a_statement_is_an_error_of_input(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    psycopg = pytest.importorskip("psycopg")
    connect = partial(psycopg.connect, host=postgresql, user="postgres", autocommit=True)
    flows = "select 'attack' as label, i::float8 as score from generate_series(1, 3000000) as i"
    with connect() as other, connect() as connection:
        connection.execute("set statement_timeout = 20")
        _gone("statement timeout", lambda: sql.count(connection, flows, COUNTED))
        other.execute(f"select pg_terminate_backend({connection.info.backend_pid})")
        _gone("terminating connection", lambda: sql.count(connection, flows, COUNTED))
        _gone("closed", lambda: sql.count(connection, flows, COUNTED))
    monkeypatch.setenv("PGHOST", postgresql)
    monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=20")
    monkeypatch.setenv("PGPASSWORD", "correct-horse")
    address = "postgresql://postgres@/postgres"
    for judge in (
        assay.evaluate_files,
        partial(assay.choose_threshold_files, max_fpr=0.1),
    ):
        with pytest.raises(InputError, match=f"{address}: {TOLD}") as refused:
            judge(f"{address}?{flows}")
        assert "correct-horse" not in str(refused.value)
