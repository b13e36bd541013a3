"""What a database is asked, and what is made of its answers."""

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.engines import Ask, Columns, databases, frames, resolve, sql, statements
from assay.engines.statements import DIALECTS, number
from assay.errors import CountError, InputError, LabelError, ScoreError
from assay.tally.keeping import Cuts, Exact, Grid, cells

from .conformance import FEW, edge_rows

COLUMNS = Columns("label", "score")


@pytest.fixture
def light() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    yield connection
    connection.close()


@pytest.fixture
def heavy() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    yield connection
    connection.close()


def filled(light: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> sqlite3.Connection:
    light.execute("CREATE TABLE t (label, score)")
    light.executemany("INSERT INTO t VALUES (?, ?)", rows)
    return light


# -- values ----------------------------------------------------------------------------------------


@given(st.floats(allow_nan=False, allow_infinity=False))
@pytest.mark.parametrize("name", ["sqlite", "duckdb"])
def test_a_float_is_written_without_a_point_and_read_exactly(name: str, value: float) -> None:
    text = number(value, DIALECTS[name])
    assert "." not in text
    connection: Any = sqlite3.connect(":memory:") if name == "sqlite" else duckdb.connect()
    (read,) = connection.execute(f"SELECT {text}").fetchone()
    connection.close()
    assert read == value


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.integers(1, 32),
)
def test_a_database_finds_the_cell_of_any_float(scores: list[float], bits: int) -> None:
    connection = sqlite3.connect(":memory:")
    rows = filled(connection, [("a", score) for score in scores])
    groups = sql.groups_of(rows, "SELECT * FROM t", COLUMNS, Ask(scores=Grid(bits)))
    connection.close()
    expected = np.unique(cells(np.array(scores), bits), return_counts=True)
    kept = groups.group_by(cell=pl.Series(cells(groups["score"].to_numpy(), bits))).agg(
        pl.col("assay_rows").sum()
    )
    assert sorted(kept.rows()) == list(zip(*(part.tolist() for part in expected), strict=True))
    assert groups["score"].min() == min(scores)
    assert groups["score"].max() == max(scores)


def test_what_is_no_finite_number_stands_in_place_of_a_cell(heavy: Any) -> None:
    heavy.execute("CREATE TABLE t AS SELECT 'a' AS label, 0.3::DOUBLE AS score")
    heavy.execute("INSERT INTO t VALUES ('a', 'inf'), ('a', 'nan'), ('a', NULL)")
    table = statements.Selection(DIALECTS["duckdb"], "t", ("label",), "score")
    rows = heavy.execute(statements.grid(table, Grid(2), 0.5)).fetchall()
    cells_to_low = {str(cell): low for _, _, cell, low, *_ in rows}
    assert cells_to_low == {"0.25": 0.3, "inf": None, "nan": None, "None": None}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("attack", 0.5, None), (7, 0.1, None)], "labels of other rows are"),
        (
            [("a", 0.5, "2026-03-01T10:00:00Z"), ("b", 0.1, "2026-03-01T10:00:00")],
            "and another row has",
        ),
    ],
)
def test_what_is_wrong_of_a_query_never_speaks_of_a_frame(
    rows: list[tuple[Any, ...]], message: str, light: sqlite3.Connection
) -> None:
    light.execute("create table mixed (label, score, time)")
    light.executemany("insert into mixed values (?, ?, ?)", rows)
    columns = Columns("label", "score", time="time" if rows[0][2] else None)
    with pytest.raises(InputError) as told:
        sql.count(light, "select * from mixed", columns)
    assert message in str(told.value)
    assert "frame" not in str(told.value)


def test_a_column_may_hold_text_beside_numbers(light: sqlite3.Connection) -> None:
    filled(light, [("a", 0.5), ("a", "0.5"), ("b", "x"), ("b", 0.25), ("b", 1)])
    frame = pl.DataFrame({"label": ["a", "a", "b", "b"], "score": [0.5, 0.5, 0.25, 1.0]})
    for keeping in (Exact(), Grid(5), Cuts()):
        ask = Ask(scores=keeping, on_bad_row="skip", losses=False)
        tally = sql.count(light, "SELECT * FROM t", COLUMNS, ask)
        assert tally.rows == 5
        assert tally.refused.reasons == {"score: not a finite number": 1}
        assert tally.scores == frames.count_polars(frame, COLUMNS, ask).scores


@pytest.mark.parametrize("keeping", [Exact(), Grid(5), Cuts()], ids=lambda k: k.name)
@pytest.mark.parametrize("label", ["attack", "normal"])
def test_a_text_that_is_a_number_is_a_score_as_it_is_in_rows(
    keeping: Any, label: str, light: sqlite3.Connection
) -> None:
    rows = [("attack" if i % 10 == 0 else "normal", i / 300) for i in range(300)]
    filled(light, [*rows, (label, "0.2512")])
    ask = Ask(scores=keeping, losses=False)
    frame = pl.DataFrame([*rows, (label, 0.2512)], schema=["label", "score"], orient="row")
    tally = sql.count(light, "SELECT * FROM t", COLUMNS, ask)
    assert tally.scores == frames.count_polars(frame, COLUMNS, ask).scores


@pytest.mark.parametrize("keeping", [Exact(), Grid(12), Cuts()], ids=lambda k: k.name)
def test_decimals_become_the_nearest_float(keeping: Any, heavy: Any) -> None:
    # By division of whole numbers the nearest float is missed.
    heavy.execute("CREATE TABLE t (label VARCHAR, score DECIMAL(38, 20))")
    texts = ["0.12345678901234567890", "900719925474099.30000000000000000001", "0.3"]
    for text in texts:
        heavy.execute("INSERT INTO t VALUES ('a', ?), ('b', 0.5)", [text])
    tally = sql.count(heavy, "SELECT * FROM t", COLUMNS, Ask(scores=keeping, losses=False))
    frame = pl.DataFrame({"label": ["a", "b"] * 3, "score": [0.5] * 6})
    frame[[0, 2, 4], "score"] = [float(text) for text in texts]
    expected = frames.count_polars(frame, COLUMNS, Ask(scores=keeping, losses=False))
    assert tally.to_bytes() == expected.to_bytes()


def test_labels_that_differ_only_in_case_or_blanks_stay_apart(heavy: Any) -> None:
    heavy.execute("CREATE TABLE t (label VARCHAR COLLATE NOCASE.NOACCENT, score DOUBLE)")
    labels = ["attack", "Attack", "attäck", "attack "]
    heavy.executemany("INSERT INTO t VALUES (?, 0.5)", [[label] for label in labels])
    tally = sql.count(heavy, "SELECT * FROM t", COLUMNS)
    assert tally.labels.names == tuple(sorted(labels))


def test_labels_of_an_enumeration_are_text(heavy: Any) -> None:
    heavy.execute("CREATE TYPE kind AS ENUM ('attack', 'normal')")
    heavy.execute("CREATE TABLE t (label kind, score DOUBLE)")
    heavy.execute("INSERT INTO t VALUES ('attack', 0.9), ('normal', 0.1)")
    assert sql.count(heavy, "SELECT * FROM t", COLUMNS).labels.names == ("attack", "normal")


# -- counts and weights ----------------------------------------------------------------------------


def test_more_rows_than_32_bits_hold_are_counted(light: sqlite3.Connection) -> None:
    light.execute("CREATE TABLE t (label TEXT, score REAL, n INTEGER)")
    light.executemany("INSERT INTO t VALUES ('a', 0.5, ?)", [[2**32]] * 2)
    light.execute("INSERT INTO t VALUES ('b', 0.25, 1)")
    for keeping in (Exact(), Grid(12), Cuts()):
        ask = Ask(scores=keeping, losses=False)
        columns = Columns("label", "score", count="n")
        tally = sql.count(light, "SELECT * FROM t", columns, ask)
        (table,) = tally.scores.values()
        assert table.counts.sum(axis=1).tolist() == [2**33, 1]
        assert tally.rows == 3


@pytest.mark.parametrize("bad", [-1, 0.5, None, "x", math.inf])
def test_a_bad_count_is_refused(bad: Any, light: sqlite3.Connection) -> None:
    light.execute("CREATE TABLE t (label TEXT, score REAL, n)")
    light.executemany("INSERT INTO t VALUES ('a', 0.5, ?)", [(1,), (bad,), (bad,)])
    columns = Columns("label", "score", count="n")
    with pytest.raises(CountError, match=r"2 of 3 rows can't be used.*'n'.*on_bad_row='skip'"):
        sql.count(light, "SELECT * FROM t", columns)
    tally = sql.count(light, "SELECT * FROM t", columns, Ask(on_bad_row="skip"))
    assert (tally.rows, tally.refused.total) == (3, 2)


@pytest.mark.parametrize("keeping", [Exact(), Grid(12)], ids=lambda k: k.name)
def test_weights_are_summed_with_their_squares(keeping: Any, heavy: Any) -> None:
    frame = edge_rows(FEW, bad=False).filter(pl.col("score").is_between(0, 1))
    heavy.execute("CREATE TABLE t AS SELECT * FROM frame")
    columns = Columns("label", "score", weight="weight", slices=("site",))
    ask = Ask(scores=keeping)
    tally = sql.count(heavy, "SELECT * FROM t", columns, ask)
    expected = frames.count_polars(frame, columns, ask)
    assert (tally.rows, tally.empty) == (expected.rows, expected.empty)
    for key, table in expected.scores.items():
        np.testing.assert_array_equal(tally.scores[key].scores, table.scores)
        np.testing.assert_allclose(tally.scores[key].counts, table.counts, rtol=1e-12)
        np.testing.assert_allclose(tally.scores[key].squares, table.squares, rtol=1e-12)


# -- what fits -------------------------------------------------------------------------------------


def many_scores(rows: int, rare: float = 0.01) -> pl.DataFrame:
    """Rows whose scores are all unlike, but for some that are saturated."""
    rng = np.random.default_rng(11)
    score = rng.random(rows)
    return pl.DataFrame(
        {
            "label": np.where(rng.random(rows) < rare, "attack", "normal"),
            "score": np.where(rng.random(rows) < 0.1, 1.0, score),
        }
    )


@pytest.mark.parametrize(
    ("rare", "limit", "kept", "note"),
    [
        (0.01, 1 << 30, "exact", ""),
        (0.01, 1 << 16, "cuts", "mode cuts"),
        (0.4, 1 << 16, "grid", "mode grid"),
    ],
)
def test_auto_keeps_what_fits_and_says_so(
    heavy: Any, rare: float, limit: int, kept: str, note: str
) -> None:
    heavy.register("frame", many_scores(20_000, rare))
    heavy.execute("CREATE TABLE t AS SELECT * FROM frame")
    tally, notes = sql.count_by_mode(heavy, "SELECT * FROM t", COLUMNS, Ask(), "auto", limit)
    assert {table.kept.name for table in tally.scores.values()} == {kept}
    assert bool(note) == bool(notes)
    assert all(note in each for each in notes)


def test_equal_rows_fit_whatever_their_number(heavy: Any) -> None:
    heavy.execute("CREATE TABLE t AS SELECT 'a' AS label, i % 7 AS score FROM range(20000) AS r(i)")
    tally, notes = sql.count_by_mode(heavy, "SELECT * FROM t", COLUMNS, Ask(), "auto", 1 << 16)
    assert (tally.rows, notes) == (20_000, ())
    assert tally.scores["score", ""].kept == Exact()


def test_what_does_not_fit_is_not_kept_exactly(heavy: Any) -> None:
    heavy.register("frame", many_scores(20_000))
    heavy.execute("CREATE TABLE t AS SELECT label, CAST(score AS VARCHAR) AS score FROM frame")
    with pytest.raises(InputError, match=r"raise max_memory=, or say mode='cuts' or mode='grid'"):
        sql.count_by_mode(heavy, "SELECT * FROM t", COLUMNS, Ask(), "exact", 1 << 16)
    with pytest.raises(InputError, match=r"that are no floats.*\(CAST\)"):
        sql.count_by_mode(heavy, "SELECT * FROM t", COLUMNS, Ask(), "auto", 1 << 16)


@pytest.mark.parametrize("alike", [True, False])
def test_cuts_of_many_groups_are_those_of_all_rows(
    alike: bool, heavy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two labels are as frequent the database can't cut, and hands over every score."""
    generator = np.random.default_rng(2)
    labels = ["attack", "normal"] * 500 if alike else ["attack"] + ["normal"] * 999
    frame = pl.DataFrame({"label": labels, "score": generator.random(1000)})
    heavy.execute("CREATE TABLE halves AS SELECT * FROM frame")
    ask = Ask(scores=Cuts(), losses=False)
    expected = frames.count_polars(frame, COLUMNS, ask)
    monkeypatch.setattr("assay.engines.parts.LOT", 100)
    monkeypatch.setattr("assay.engines.frames.PIECE", 100)
    tally = sql.count(heavy, "SELECT * FROM halves", COLUMNS, ask)
    assert tally.to_bytes() == expected.to_bytes()


def test_weights_that_do_not_fit_are_kept_on_a_grid(heavy: Any) -> None:
    heavy.register("frame", many_scores(20_000).with_columns(weight=pl.lit(0.5)))
    heavy.execute("CREATE TABLE t AS SELECT * FROM frame")
    columns = Columns("label", "score", weight="weight")
    tally, (note,) = sql.count_by_mode(heavy, "SELECT * FROM t", columns, Ask(), "auto", 1 << 16)
    assert tally.scores["score", ""].kept == Grid()
    assert "mode grid" in note


def test_rows_that_are_all_unlike_are_not_grouped(heavy: Any) -> None:
    frame = many_scores(80_000)
    heavy.execute("CREATE TABLE t AS SELECT * FROM frame")
    groups = sql.groups_of(heavy, "SELECT * FROM t", COLUMNS, Ask())
    assert groups.shape == (80_000, 2)
    tally = sql.count(heavy, "SELECT * FROM t", COLUMNS)
    assert tally.to_bytes() == frames.count_polars(frame, COLUMNS).to_bytes()
    with pytest.raises(ScoreError, match=r"1 of 80,001 rows can't be used"):
        sql.count(heavy, "SELECT * FROM t UNION ALL SELECT 'a', NULL", COLUMNS)
    few = sql.groups_of(heavy, "SELECT label, round(score, 3) AS score FROM t", COLUMNS, Ask())
    assert few.height < 2_100


def test_groups_that_span_cells_are_refused(
    light: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a database whose products are rounded otherwise."""
    filled(light, [("a", 0.25), ("a", 0.125)])
    monkeypatch.setattr("assay.engines.statements._rounded", lambda value, bits: "1")
    with pytest.raises(InputError, match=r"otherwise than IEEE 754 has it.*mode='exact'"):
        sql.count(light, "SELECT * FROM t", COLUMNS, Ask(scores=Grid(12)))


# -- evaluations -----------------------------------------------------------------------------------


def test_an_evaluation_is_that_of_the_rows(heavy: Any) -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(5000) < 0.1
    frame = pl.DataFrame({"label": truth, "score": np.clip(rng.normal(truth, 0.6), 0, 1)})
    relation = heavy.sql("SELECT * FROM frame")
    resolved, _ = resolve(sql.count(relation, None, COLUMNS))
    judged = assay.Evaluation(resolved, source={"name": "", "rows_read": 5000})
    expected = assay.evaluate(frame["label"], y_score=frame["score"])
    assert judged.to_dict()["estimates"] == expected.to_dict()["estimates"]


# -- what can't be answered ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM t",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
        "SELECT 1) AS a, (SELECT 2",
        "COPY t TO 'x'",
        "ATTACH 'x'",
        "PRAGMA user_version",
        "INSERT INTO t SELECT * FROM t",
        "WITH a AS (SELECT 1) DELETE FROM t",
        "EXPLAIN SELECT 1",
        "CREATE TABLE u AS SELECT 1",
    ],
)
def test_a_query_is_one_select(query: str, light: sqlite3.Connection, heavy: Any) -> None:
    filled(light, [("a", 0.5)])
    heavy.execute("CREATE TABLE t AS SELECT 'a' AS label, 0.5 AS score")
    for connection in (light, heavy):
        with pytest.raises((InputError, sqlite3.Error, duckdb.Error)):
            sql.count(connection, query, COLUMNS)
        assert connection.execute("SELECT count(*) FROM t").fetchall() == [(1,)]


def test_probabilities_of_classes_name_the_way_that_works(
    light: sqlite3.Connection, heavy: Any
) -> None:
    columns = Columns("label", probabilities={"a": "p_a", "b": "p_b"})
    query = "SELECT 'a' AS label, 0.75 AS p_a, 0.25 AS p_b"
    relation = heavy.sql(query)
    with pytest.raises(InputError, match=r"read_database\(query, connection\)"):
        sql.count(light, query, columns)
    with pytest.raises(InputError, match=r"the relation's \.pl\(\) or \.arrow\(\), or"):
        sql.count(relation, None, columns)
    for rows in (pl.read_database(query, light), relation.pl(), relation.arrow()):
        assert frames.count(rows, columns).rows == 1


def test_a_connection_without_a_query_asks_for_one(light: sqlite3.Connection) -> None:
    with pytest.raises(InputError, match=r"say which rows are meant, as query='select \.\.\.'"):
        sql.count(light, None, COLUMNS)


def test_a_relation_with_a_query_is_refused(heavy: Any) -> None:
    with pytest.raises(InputError, match="leave the query out"):
        sql.count(heavy.sql("SELECT 1 AS label"), "SELECT 1", COLUMNS)


def test_what_runs_no_statements_is_refused() -> None:
    with pytest.raises(InputError, match="give a DB-API or ADBC connection"):
        sql.count(object(), "SELECT 1", COLUMNS)


class Strange:
    """A connection of a package that nobody knows."""

    __module__ = "strange.driver"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.cursor = connection.cursor


def test_a_strange_connection_has_to_say_its_dialect(light: sqlite3.Connection) -> None:
    filled(light, [("a", 0.5)])
    with pytest.raises(InputError, match="of strange speaks is not known; say dialect="):
        sql.count(Strange(light), "SELECT * FROM t", COLUMNS)
    with pytest.raises(InputError, match="there is no dialect 'oracle'"):
        sql.count(Strange(light), "SELECT * FROM t", COLUMNS, dialect="oracle")
    assert sql.count(Strange(light), "SELECT * FROM t", COLUMNS, dialect="sqlite").rows == 1


@pytest.mark.parametrize("limit", [1 << 10, 1 << 20])
def test_what_a_mode_asks_of_a_database_is_asked_once(
    limit: int, light: sqlite3.Connection
) -> None:
    filled(light, [("attack" if i % 9 == 0 else "normal", i / 999) for i in range(999)])
    asked: list[str] = []
    light.set_trace_callback(asked.append)
    query = "SELECT * FROM t"
    tally, notes = sql.count_by_mode(
        Strange(light), query, COLUMNS, Ask(), limit=limit, dialect="sqlite"
    )
    assert tally.rows == 999
    assert bool(notes) == (limit == 1 << 10)
    assert len(asked) == len(set(asked))


def test_a_column_of_our_own_name_is_refused(light: sqlite3.Connection) -> None:
    with pytest.raises(InputError, match="'assay_rows'; rename it in the query"):
        sql.count(light, "SELECT 1", Columns("label", "assay_rows"))


@pytest.mark.parametrize(
    ("rows", "error", "reason"),
    [
        (
            [("a", math.inf)] * 2,
            ScoreError,
            "2 of 3 rows can't be used, such as one with column 'score': found inf",
        ),
        (
            [(None, 0.5)],
            LabelError,
            "1 of 2 rows can't be used, such as one with column 'label': the label",
        ),
        (
            [("", 0.5)],
            LabelError,
            "1 of 2 rows can't be used, such as one with column 'label': the label",
        ),
    ],
)
def test_a_refused_row_is_counted_and_shown(
    rows: list[tuple[Any, Any]], error: type[InputError], reason: str, light: sqlite3.Connection
) -> None:
    filled(light, [("a", 0.5), *rows])
    with pytest.raises(error, match=reason):
        sql.count(light, "SELECT * FROM t", COLUMNS)


def test_a_column_that_is_not_there_is_refused_with_the_nearest(light: sqlite3.Connection) -> None:
    filled(light, [("a", 0.5)])
    with pytest.raises(InputError, match="the query has no column 'lable'; did you mean 'label'"):
        sql.count(light, "SELECT * FROM t", Columns("lable", "score"))


def test_two_columns_of_one_name_are_refused(light: sqlite3.Connection, heavy: Any) -> None:
    query = "SELECT 'a' AS label, 'b' AS label, 0.5 AS score"
    for connection in (light, heavy):
        with pytest.raises(InputError, match="two columns named 'label'"):
            sql.count(connection, query, COLUMNS)


@pytest.mark.parametrize("odd", ["INTERVAL 1 DAY", "union_value(n := 1)", "[INTERVAL 1 DAY]"])
def test_a_type_that_no_frame_holds_is_refused_where_it_is_used(
    odd: str, heavy: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    query = f"SELECT 'a' AS label, 0.5 AS score, {odd} AS \"Odd one\""
    for place, text in ((heavy, query), (heavy.sql(query), None)):
        assert sql.column_names(place, text) == ("label", "score", "Odd one")
        assert sql.count(place, text, COLUMNS).rows == 1
        for columns in (Columns("label", "Odd one"), replace(COLUMNS, slices=("Odd one",))):
            with pytest.raises(InputError, match="column 'Odd one' has a type that can't be"):
                sql.count(place, text, columns)
    assert capfd.readouterr().err == ""


def test_a_cursor_is_asked_for_65_536_rows_at_a_time_until_it_has_no_more() -> None:
    asked: list[int] = []

    class Cursor:
        def fetchmany(self, rows: int) -> list[tuple[int, str]]:
            asked.append(rows)
            return [(len(asked), "x")] if len(asked) < 3 else []

    table = databases._of_cursor(Cursor(), ["number", "text"])
    assert table.rows() == [(1, "x"), (2, "x")]
    assert asked == [65_536] * 3


def test_labels_of_two_kinds_are_refused(light: sqlite3.Connection) -> None:
    filled(light, [("a", 0.5), (1, 0.5)])
    with pytest.raises(LabelError, match=r"^column 'label': found .* must be of one kind"):
        sql.count(light, "SELECT * FROM t", COLUMNS)


def test_a_table_without_rows_is_a_tally_of_none(light: sqlite3.Connection, heavy: Any) -> None:
    filled(light, [])
    heavy.execute("CREATE TABLE t (label VARCHAR, score DOUBLE)")
    for connection in (light, heavy):
        for keeping in (Exact(), Grid(12), Cuts()):
            assert sql.count(connection, "SELECT * FROM t", COLUMNS, Ask(scores=keeping)).is_zero
