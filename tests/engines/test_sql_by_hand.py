"""What a database is asked about a few rows, and what is made of its answers, by hand."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from assay.engines import Ask, Columns, sql, statements
from assay.engines.databases import Database
from assay.engines.sql import REPEATS, _day, _either, _Grouping, _must_be_cells, _with_ends
from assay.engines.statements import DIALECTS, number
from assay.errors import InputError
from assay.tally.keeping import Cuts, Exact, Grid
from assay.tally.named_tally import SCORE

COLUMNS = Columns("label", "score")
ALL = "SELECT * FROM t"
Filled = Callable[..., sqlite3.Connection]


@pytest.fixture
def filled() -> Iterator[Filled]:
    """What makes a table in memory: its columns, and rows."""
    connection = sqlite3.connect(":memory:")

    def made(columns: str, rows: list[tuple[Any, ...]]) -> sqlite3.Connection:
        connection.execute(f"CREATE TABLE t ({columns})")
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(rows[0]))})", rows)
        return connection

    yield made
    connection.close()


# -- statements ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "CAST(0 AS DOUBLE)"),
        (1.0, "CAST(1 AS DOUBLE)"),
        (6.0, "CAST(3 AS DOUBLE) * 2"),
        (-12.0, "CAST(-3 AS DOUBLE) * 4"),
        (0.75, "CAST(3 AS DOUBLE) / 4"),
        (2.0**62, f"CAST(1 AS DOUBLE) * {2**62}"),
        (2.0**63, f"CAST(1 AS DOUBLE) * {2**62} * 2"),
        (2.0**-125, f"CAST(1 AS DOUBLE) / {2**62} / {2**62} / 2"),
    ],
)
def test_a_float_is_a_whole_number_times_powers_of_two(value: float, text: str) -> None:
    assert number(value, DIALECTS["duckdb"]) == text


def test_first_rows_are_asked_for() -> None:
    duck, server, post = (DIALECTS[name] for name in ("duckdb", "tsql", "postgresql"))
    assert statements.no_rows(duck, "t") == "SELECT * FROM t LIMIT 0"
    assert statements.no_rows(server, "t") == "SELECT TOP 0 * FROM t"
    first = statements.first_row(duck, "t", ["a", "b"], "b")
    assert first == "SELECT a AS assay_key0, b AS assay_key1 FROM t WHERE b IS NOT NULL LIMIT 1"
    typed = statements.first_row(post, "t", ["a"], None)
    assert typed == (
        "SELECT a AS assay_key0, CAST(pg_typeof(a) AS TEXT) AS assay_key1 FROM t LIMIT 1"
    )


def test_without_a_score_or_a_way_to_keep_it_equal_rows_are_grouped() -> None:
    table = statements.Selection(DIALECTS["duckdb"], "t", ("a",), "s")
    alone = statements.Selection(DIALECTS["duckdb"], "t", ("a",))
    for kept in (Exact(), Grid(4), Cuts(), None):
        assert statements.grouped(alone, kept, 0.5, 0) == statements.exact(alone)
    assert statements.grouped(table, None, 0.5, 0) == statements.exact(table)
    assert statements.exact(alone) == (
        "SELECT assay_key0, COUNT(*) AS assay_rows FROM (SELECT a AS assay_key0 FROM t ) AS g "
        "GROUP BY assay_key0"
    )


def test_sizes_far_from_one_are_scaled_before_they_are_rounded() -> None:
    table = statements.Selection(DIALECTS["duckdb"], "t", ("a",), "s")
    text = statements.grid(table, Grid(12), 0.5)
    steps = f"{2**62} * {2**62} * {2**62} * {2**62} * {2**62} * {2**62} * {2**62} * {2**62}"
    assert f"assay_size >= CAST(1 AS DOUBLE) * {steps} * {2**16} THEN" in text
    assert f"assay_size < CAST(1 AS DOUBLE) / {steps.replace('*', '/')} / {2**16} THEN" in text
    assert f"assay_size / {2**62} / {2**62} WHEN" in text
    assert f"assay_size * {2**62} * {2**62} ELSE" in text


# -- groups ----------------------------------------------------------------------------------------


def test_rows_of_a_label_alone_are_grouped(filled: Filled) -> None:
    base = filled("label", [("a",), ("b",), ("a",)])
    groups = sql.groups_of(base, ALL, Columns("label"), Ask())
    assert groups.columns == ["label", "assay_rows"]
    assert sorted(groups.rows()) == [("a", 2), ("b", 1)]


def test_a_score_that_is_a_key_too_is_told_once(filled: Filled) -> None:
    base = filled("label, score", [("a", 0.5), ("a", 0.5)])
    both = Columns("label", "score", slices=("score",))
    assert sql.groups_of(base, ALL, both, Ask()).rows() == [("a", 0.5, 2)]


def test_names_are_quoted(filled: Filled) -> None:
    base = filled('"the label", "a score"', [("a", 0.5), ("a", 0.5), ("b", 0.25)])
    columns = Columns("the label", "a score")
    for kept in (Exact(), Grid(4), Cuts()):
        groups = sql.groups_of(base, ALL, columns, Ask(scores=kept))
        assert sorted(groups.rows()) == [("a", 0.5, 2), ("b", 0.25, 1)]


@pytest.mark.parametrize(
    "rows",
    [
        [(None, "x", 0.5), ("a", "y", 0.5), ("A", "y", 0.5)],
        [("a", None, 0.5), ("b", "y", 0.5), ("b", "Y", 0.5)],
    ],
)
def test_texts_are_told_apart_where_the_first_row_lacks_one(
    filled: Filled, rows: list[tuple[Any, ...]]
) -> None:
    base = filled("label TEXT COLLATE NOCASE, site TEXT COLLATE NOCASE, score REAL", rows)
    groups = sql.groups_of(base, ALL, Columns("label", "score", slices=("site",)), Ask())
    assert sorted(groups.rows(), key=str) == sorted(((*row, 1) for row in rows), key=str)


def test_a_cell_has_one_row_at_its_largest_score(filled: Filled) -> None:
    rows = [("a", 0.25), ("a", 0.25), ("a", 0.28), ("b", 0.125), ("b", 0.125)]
    groups = sql.groups_of(filled("label, score", rows), ALL, COLUMNS, Ask(scores=Grid(2)))
    told = [("a", 0.25, 2), ("a", 0.28, 1), ("b", 0.125, 2)]
    assert sorted(row for row in groups.rows() if row[2]) == told


def test_rows_between_cuts_are_one_group(filled: Filled) -> None:
    common = [("n", score) for score in (0.1, 0.2, 0.3, 0.5, 0.5)]
    rare = [("a", 0.25), ("b", 0.5)]
    base = filled("label, score", common + rare)
    groups = sql.groups_of(base, ALL, COLUMNS, Ask(scores=Cuts()))
    # Up to 0.25, from there to 0.5 on either side of the threshold, and at 0.5.
    assert sorted(row for row in groups.rows() if row[2]) == [
        ("a", 0.25, 1),
        ("b", 0.5, 1),
        ("n", 0.1, 1),
        ("n", 0.2, 1),
        ("n", 0.3, 1),
        ("n", 0.5, 2),
    ]
    tally = sql.count(base, ALL, COLUMNS, Ask(scores=Cuts()))
    assert tally.losses == {}
    assert tally.scores[SCORE].labels == ("a", "b", "n")


@pytest.mark.parametrize("labels", ["nnnaaa", "nnnaaabbb"])
def test_no_label_is_cut_where_two_are_as_frequent(filled: Filled, labels: str) -> None:
    rows = [(label, i / 16) for i, label in enumerate(labels)]
    groups = sql.groups_of(filled("label, score", rows), ALL, COLUMNS, Ask(scores=Cuts()))
    assert sorted(groups.rows()) == sorted((*row, 1) for row in rows)


def test_the_most_frequent_of_three_labels_is_cut(filled: Filled) -> None:
    rows = [("n", 0.1), ("n", 0.15), ("n", 0.2), ("a", 0.5), ("a", 0.6), ("b", 0.7), ("b", 0.8)]
    groups = sql.groups_of(filled("label, score", rows), ALL, COLUMNS, Ask(scores=Cuts()))
    own = sorted(row for row in groups.rows() if row[0] == "n" and row[2])
    assert own == [("n", 0.1, 2), ("n", 0.2, 1)]


@pytest.mark.parametrize("role", ["count", "weight"])
def test_rows_with_counts_or_weights_are_not_cut(filled: Filled, role: str) -> None:
    rows = [("n", 0.1, 1), ("n", 0.15, 1), ("n", 0.2, 1), ("a", 0.5, 2)]
    base = filled("label, score, n", rows)
    columns = Columns("label", "score", **{role: "n"})  # type: ignore[arg-type]
    groups = sql.groups_of(base, ALL, columns, Ask(scores=Cuts()))
    assert sorted(groups["score"].to_list()) == [0.1, 0.15, 0.2, 0.5]


def test_equal_rows_with_weights_are_counted_one_by_one(filled: Filled) -> None:
    base = filled("label, score, w", [("a", 0.5, 3.0), ("a", 0.5, 3.0), ("b", 0.25, 1.0)])
    tally = sql.count(base, ALL, Columns("label", "score", weight="w"))
    table = tally.scores[SCORE]
    assert table.counts.tolist() == [[0, 6], [1, 0]]
    assert table.squares is not None
    assert table.squares.tolist() == [[0, 18], [1, 0]]
    assert tally.rows == 3


# -- what fits -------------------------------------------------------------------------------------

# Twelve rows of eight scores: a group takes 16 bytes, and counting them three times as much.
TWELVE = [("n" if i % 4 else "a", (i % 8) / 8) for i in range(12)]
ROOM = 3 * 16


@pytest.mark.parametrize(
    ("limit", "kept"),
    [(None, "exact"), (12 * ROOM, "exact"), (8 * ROOM, "exact"), (8 * ROOM - 1, "cuts")],
)
def test_every_score_is_kept_while_groups_fit(filled: Filled, limit: int | None, kept: str) -> None:
    base = filled("label, score", TWELVE)
    tally, notes = sql.count_by_mode(base, ALL, COLUMNS, Ask(), "auto", limit)
    assert tally.scores[SCORE].kept.name == kept
    assert len(notes) == (kept != "exact")
    if kept == "exact":
        return
    with pytest.raises(InputError, match="raise max_memory="):
        sql.count_by_mode(base, ALL, COLUMNS, Ask(), "exact", limit)


def test_cuts_are_kept_while_they_fit_and_rows_are_alone(filled: Filled) -> None:
    rows = [("n" if i % 10 else "a", i / 64) for i in range(40)]
    base = filled("label, score", rows)
    sizes = {
        kept: sql.groups_of(base, ALL, COLUMNS, Ask(scores=kept)).height
        for kept in (Exact(), Cuts())
    }
    assert sizes[Cuts()] < sizes[Exact()] == 40

    def kept(groups: int, **more: Any) -> str:
        tally, _ = sql.count_by_mode(base, ALL, COLUMNS, Ask(), "auto", groups * ROOM, **more)
        return tally.scores[SCORE].kept.name

    assert kept(40) == "exact"
    assert kept(39) == "cuts"
    assert kept(39, alone=False) == "grid"
    assert kept(2) == "grid"


def test_what_has_no_score_fits_always(filled: Filled) -> None:
    base = filled("label, said", [("a", "a"), ("b", "a")])
    tally, notes = sql.count_by_mode(base, ALL, Columns("label", decision="said"), Ask(), "auto", 1)
    assert (tally.rows, notes) == (2, ())
    grid, notes = sql.count_by_mode(
        base, "SELECT *, 0.5 AS score FROM t", COLUMNS, Ask(), "grid", 1
    )
    assert (grid.scores[SCORE].kept, notes) == (Grid(), ())


# -- scores that are all unlike --------------------------------------------------------------------


def scores(once: int, twice: int, rows: int) -> list[tuple[str, float]]:
    """Among the first 64 rows so many scores once, and twice; the others of them are all 0."""
    first = [i / 1024 for i in range(1, once + 1)]
    first += [0.5 + i / 1024 for i in range(1, twice + 1) for _ in range(2)]
    first += [0.0] * (64 - len(first))
    return [("a", score) for score in first + [0.0] * (rows - len(first))]


@pytest.mark.parametrize(
    ("once", "twice", "rows", "unlike"),
    [
        # The square of 48 is twice 8 + 1 times 128.
        (48, 8, 128, True),
        (48, 8, 129, False),
        # Half of the first rows have a score of their own.
        (32, 0, 64, True),
        (31, 0, 64, False),
        (64, 0, 64, True),
        (40, 0, 40, False),
    ],
)
def test_scores_that_are_about_as_many_as_rows_are_not_grouped(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, once: int, twice: int, rows: int, unlike: bool
) -> None:
    monkeypatch.setattr(sql, "_SPREAD", 64)
    table = scores(once, twice, rows)[:rows]
    groups = sql.groups_of(filled("label, score", table), ALL, COLUMNS, Ask())
    assert groups.columns == (["label", "score"] if unlike else ["label", "score", REPEATS])
    assert groups.height == (rows if unlike else len(set(table)))


def test_scores_of_several_types_are_grouped(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "_SPREAD", 64)
    rows: list[tuple[str, Any]] = [*scores(63, 0, 63)[:63], ("a", "x")]
    groups = sql.groups_of(filled("label, score", rows), ALL, COLUMNS, Ask())
    assert groups.height == 64
    assert REPEATS in groups.columns


# -- other databases -------------------------------------------------------------------------------


def asked(dialect: str, columns: Columns, samples: dict[str, Any], *types: str) -> list[str]:
    """The statements that a database of a dialect is given."""
    texts: list[str] = []

    def look(text: str) -> tuple[Any, ...]:
        texts.append(text)
        return (*samples.values(), *types)

    def run(text: str) -> pl.DataFrame:
        texts.append(text)
        if "LIMIT 0" in text or "TOP 0" in text:
            return pl.DataFrame({name: [] for name in samples})
        keys = [pl.Series(f"k{i}", ["a"]) for i in range(text.partition(" FROM ")[0].count("key"))]
        return pl.DataFrame([*keys, pl.Series("s", [0.5]), pl.Series("n", [1])])

    grouping = _Grouping(Database(DIALECTS[dialect], run, "t", look), columns)
    frame = grouping.groups(Exact())
    assert frame.columns == [*dict.fromkeys([columns.label, *columns.slices, "score"]), REPEATS]
    return texts


def test_floats_are_asked_for_as_doubles() -> None:
    floats = asked("trino", COLUMNS, {"label": "a", "score": 0.5})[-1]
    assert 'CAST("score" AS DOUBLE) AS assay_score' in floats
    whole = asked("trino", COLUMNS, {"label": "a", "score": 5})[-1]
    assert '"score" AS assay_score' in whole
    assert "CAST" not in whole


def test_padded_texts_are_compared_as_they_are() -> None:
    types = ("character", "double precision")
    padded = asked("postgresql", COLUMNS, {"label": "a", "score": 0.5}, *types)[-1]
    assert '"label" COLLATE "C" AS assay_key0' in padded
    plain = asked("postgresql", COLUMNS, {"label": "a", "score": 0.5}, "text", "real")[-1]
    assert 'CAST("label" AS TEXT) COLLATE "C" AS assay_key0' in plain
    numbers = asked("postgresql", COLUMNS, {"label": 1, "score": 0.5}, "bigint", "real")[-1]
    assert 'SELECT "label" AS assay_key0' in numbers


def test_blanks_at_the_end_of_a_text_are_told_apart_besides() -> None:
    columns = Columns("label", "score", slices=("site",))
    text = asked("tsql", columns, {"label": "a", "site": "b", "score": 0.5})[-1]
    assert "DATALENGTH([label]) AS assay_key2, DATALENGTH([site]) AS assay_key3" in text


AWARE = dt.datetime(2026, 11, 16, 10, tzinfo=dt.UTC)
NAIVE = AWARE.replace(tzinfo=None)


@pytest.mark.parametrize(
    ("value", "dialect", "text"),
    [
        (NAIVE, "duckdb", "CAST(t AS DATE)"),
        (AWARE, "duckdb", "CAST(t AT TIME ZONE 'UTC' AS DATE)"),
        (AWARE, "spark", "t"),
        (NAIVE, "spark", "CAST(t AS DATE)"),
        ("2026-11-16", "duckdb", "t"),
        (dt.date(2026, 11, 16), "duckdb", "t"),
        (None, "duckdb", "t"),
    ],
)
def test_moments_are_grouped_by_their_day(value: Any, dialect: str, text: str) -> None:
    assert _day(value, "t", DIALECTS[dialect]) == text


# -- answers ---------------------------------------------------------------------------------------


def test_what_is_no_score_stands_in_its_place() -> None:
    low = pl.Series("s", [0.5, None, None])
    assert _either(low, pl.Series([None, None, None])).to_list() == [0.5, None, None]
    assert _either(low, pl.Series([None, float("inf"), None])).to_list()[:2] == [0.5, float("inf")]
    assert _either(low, pl.Series([None, "x", None])).to_list() == [0.5, "x", None]
    assert _either(low, pl.Series([None, 7, None])).to_list() == [0.5, 7.0, None]


def test_one_row_of_a_group_moves_to_its_largest_score() -> None:
    lower = pl.DataFrame({"s": [0.25, 0.5, None], REPEATS: [3, 2, 1]})
    moved = _with_ends(lower, "s", pl.Series([0.3, 0.5, None]))
    assert moved.rows() == [(0.25, 2), (0.5, 2), (None, 1), (0.3, 1)]
    same = _with_ends(lower, "s", pl.Series([0.25, 0.5, None]))
    assert same.rows() == lower.rows()


def test_a_score_of_any_type_moves_too() -> None:
    values = pl.Series("s", [0.25, "x", 0.5], dtype=pl.Object)
    lower = pl.DataFrame([values, pl.Series(REPEATS, [3, 2, 1])])
    same = _with_ends(lower, "s", pl.Series([0.25, None, 0.5]))
    assert same[REPEATS].to_list() == [3, 2, 1]


def test_a_group_lies_in_one_cell() -> None:
    _must_be_cells(pl.Series([0.25, None]), pl.Series([0.28, None]), Grid(2))
    with pytest.raises(InputError, match="otherwise than IEEE 754"):
        _must_be_cells(pl.Series([0.25, None]), pl.Series([0.32, None]), Grid(2))
