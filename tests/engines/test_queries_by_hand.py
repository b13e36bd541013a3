"""Queries on a file of SQLite with a few rows, counted by hand."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.engines import Ask, queries
from assay.engines.databases import Database
from assay.engines.models import ModelCounter
from assay.engines.queries import ModelQuery, columns_of, count_queries, countable
from assay.engines.statements import DIALECTS
from assay.errors import EmptyInput, InputError, ScoreError
from assay.sources.files.inputs import Source
from assay.sources.files.request import Request
from assay.sources.validation import Roles
from assay.tally import PairTally
from assay.tally.named_tally import SCORE

ROWS = [
    ("normal", 0.5, 0.4, "-"),
    ("dos", 0.5, 0.6, "x"),
    ("worm", 0.25, 0.7, "y"),
    ("dos", 0.9, 0.5, "y"),
    ("normal", 0.1, 0.3, "-"),
    ("dos", 0.5, 0.6, "x"),
]
REQUEST = Request(label="label", score="a")
MODELS = {"first": "a", "second": "b"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return made(tmp_path / "flows.db", ROWS)


def made(path: Path, rows: Sequence[tuple[Any, ...]]) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (label TEXT, a REAL, b REAL, kind TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    return path


def source(path: Path, query: str = "SELECT * FROM t", name: str = "flows") -> Source:
    return Source(name, path, "sqlite", query)


# -- one model -------------------------------------------------------------------------------------


def test_what_a_database_can_count() -> None:
    query, file = Source("q", None, "sqlite", "SELECT 1"), Source("f", Path("f.csv"))
    assert countable([query, query], Request())
    assert not countable([query, file], Request())
    assert not countable([file], Request())
    assert not countable([query], Request(probabilities={"a": "p"}))
    assert not countable([query], Request(probability_pattern="p_*"))
    assert not countable([query], Request(unlabelled=True))


def test_a_query_is_counted_with_its_name(path: Path) -> None:
    counted = count_queries([source(path)], REQUEST, Ask())
    assert (counted.name, counted.tally.rows, counted.notes) == ("flows", 6, ())
    assert counted.source["rows_read"] == 6
    assert counted.source["rows_refused"] == 0
    assert counted.tally.scores[SCORE].counts.sum() == 6


def test_queries_are_added_and_share_the_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, bool]] = []
    count = queries.sql.count_by_mode

    def watched(*given: Any, alone: bool) -> Any:
        asked.append((given[5], alone))
        return count(*given, alone=alone)

    monkeypatch.setattr(queries.sql, "count_by_mode", watched)
    request = replace(REQUEST, max_memory=3_000_000)
    parts = [source(path, f"SELECT * FROM t WHERE a {sign} 0.5", sign) for sign in ("<", ">=")]
    counted = count_queries(parts, request, Ask())
    assert (counted.name, counted.tally.rows) == ("< and 1 more", 6)
    assert count_queries([source(path)], request, Ask()).name == "flows"
    assert count_queries([*parts, parts[0]], request, Ask()).name == "< and 2 more"
    assert asked == [(1_500_000, False)] * 2 + [(3_000_000, True)] + [(1_000_000, False)] * 3


def test_cuts_are_found_in_one_query(path: Path) -> None:
    counted = count_queries([source(path)], REQUEST, Ask(), "cuts")
    assert counted.tally.scores[SCORE].kept.name == "cuts"
    with pytest.raises(InputError, match="make them one query"):
        count_queries([source(path), source(path)], REQUEST, Ask(), "cuts")
    assert count_queries([source(path), source(path)], REQUEST, Ask(), "grid").tally.rows == 12


def test_other_columns_than_those_of_the_first_query_are_refused(path: Path) -> None:
    other = source(path, "SELECT label, a AS c FROM t", "other")
    with pytest.raises(InputError, match=r"other.*'a'"):
        count_queries([source(path), other], REQUEST, Ask())


def test_no_rows_and_refused_rows_are_told(path: Path) -> None:
    nothing = source(path, "SELECT * FROM t WHERE a > 5")
    with pytest.raises(EmptyInput, match="flows: there are no rows"):
        count_queries([nothing], REQUEST, Ask())
    assert count_queries([nothing, source(path)], REQUEST, Ask()).tally.rows == 6
    odd = source(path, "SELECT label, NULL AS a FROM t")
    skip = Ask(on_bad_row="skip")
    with pytest.raises(EmptyInput, match=r"flows: all 6 rows were refused: score: .* \(6\)"):
        count_queries([odd], REQUEST, skip)
    some = source(path, "SELECT label, nullif(a, 0.5) AS a FROM t")
    counted = count_queries([some], REQUEST, skip)
    assert (counted.tally.rows, counted.source["rows_refused"]) == (6, 3)


def test_errors_name_their_query(path: Path) -> None:
    with pytest.raises(InputError, match=r"^flows: ") as told:
        count_queries([source(path, "SELECT label, NULL AS a FROM t")], REQUEST, Ask())
    assert str(told.value).count("flows") == 1


def test_a_family_is_a_slice_of_its_own() -> None:
    roles = Roles("y", score="p", slices=("site", "kind"), family="kind", time="t", count="n")
    columns = columns_of(roles)
    assert (columns.slices, columns.family) == (("site",), "kind")
    assert columns_of(Roles("y", slices=("site",))).slices == ("site",)
    with pytest.raises(InputError, match="say its column with label="):
        columns_of(Roles(None))


# -- several models --------------------------------------------------------------------------------


def cells(table: PairTally | None) -> dict[tuple[int, ...], int]:
    assert table is not None
    return dict(zip(map(tuple, table.codes.tolist()), table.counts.tolist(), strict=True))


def filled(query: ModelQuery, **thresholds: float) -> Any:
    counter = ModelCounter({name: thresholds.get(name) for name in query.models})
    query.fill(counter)
    return counter.done(lambda _: {"negative": "normal"})


def test_models_in_columns_of_a_query(path: Path) -> None:
    request = Request(label="label", family="kind")
    with ModelQuery(source(path), request, MODELS) as query:
        assert (query.models, query.rows_used) == (("first", "second"), 0)
        assert query.source.rows_read == 0
        assert query.counts(5)
        assert not query.counts(6)
        sided = filled(query)
        assert (query.rows_used, query.source.rows_refused) == (6, 0)
        assert (query.source.rows_read, query.source.family) == (6, "kind")
    counted = sided.counted({})
    assert cells(counted.decisions) == {(0, 0, 0): 1, (0, 1, 0): 1, (1, 0, 1): 1, (1, 1, 1): 3}
    assert {name: cells(table) for name, table in counted.families.items()} == {
        "-": {(0, 0, 0): 1, (0, 1, 0): 1},
        "x": {(1, 1, 1): 2},
        "y": {(1, 0, 1): 1, (1, 1, 1): 1},
    }
    joint = counted.paired("first", "second")
    assert joint is not None
    told = zip(
        joint.truth.tolist(), *[joint.scores(i).round(3).tolist() for i in (0, 1)],
        joint.counts.tolist(), strict=True,
    )  # fmt: skip
    assert [(truth, count) for truth, _, _, count in told] == [
        (0, 1),
        (0, 1),
        (1, 1),
        (1, 2),
        (1, 1),
    ]
    assert joint.kept.bits == 12
    assert np.allclose(joint.scores(0), [0.1, 0.5, 0.25, 0.5, 0.9], atol=1e-3)
    assert np.allclose(joint.scores(1), [0.3, 0.4, 0.7, 0.6, 0.5], atol=1e-3)
    tally = sided.tallies["second"]
    assert tally.confusion.cells == ((2, 0), (0, 4))


def test_labels_are_families_where_no_column_tells_them(path: Path) -> None:
    with ModelQuery(source(path), Request(label="label"), MODELS) as query:
        assert query.counts(0)
        counted = filled(query, first=0.25, second=0.7).counted({})
    assert cells(counted.decisions) == {(0, 0, 0): 1, (0, 1, 0): 1, (1, 1, 0): 3, (1, 1, 1): 1}
    assert sorted(counted.families) == ["dos", "normal", "worm"]


def test_rows_in_which_a_score_is_missing_stop_the_count_or_are_left_out(path: Path) -> None:
    odd = source(path, "SELECT label, a, nullif(b, 0.6) AS b FROM t")
    with ModelQuery(odd, Request(label="label"), MODELS) as query:
        assert query.counts(3)
        with pytest.raises(ScoreError, match="flows: 2 of 6 rows can't be used: a score is"):
            filled(query)
    with ModelQuery(odd, Request(label="label", on_bad_row="skip"), MODELS) as query:
        assert query.counts(3)
        sided = filled(query)
        assert (query.rows_used, query.source.rows_refused) == (4, 2)
    assert cells(sided.counted({}).decisions) == {
        (0, 0, 0): 1, (0, 1, 0): 1, (1, 0, 1): 1, (1, 1, 1): 1,
    }  # fmt: skip
    assert sided.tallies["first"].confusion.total == 4


def test_rows_without_a_label_are_left_out_of_every_table(path: Path) -> None:
    odd = source(path, "SELECT nullif(label, 'worm') AS label, a, b FROM t")
    with ModelQuery(odd, Request(label="label", on_bad_row="skip"), MODELS) as query:
        assert query.counts(3)
        sided = filled(query)
        assert (query.rows_used, query.source.rows_refused) == (5, 1)
    assert sided.tallies["first"].confusion.total == 5
    joint = sided.counted({}).paired("first", "second")
    assert joint is not None
    assert joint.rows == 5


def test_where_no_row_is_left_that_is_told(path: Path) -> None:
    odd = source(path, "SELECT NULL AS label, a, b FROM t")
    with ModelQuery(odd, Request(label="label", on_bad_row="skip"), MODELS) as query:
        query.counts(3)
        with pytest.raises(EmptyInput, match="flows: no row is left"):
            filled(query)


@pytest.mark.parametrize("role", ["count", "weight", "cluster"])
def test_rows_with_other_roles_are_read(path: Path, role: str) -> None:
    numbered = source(path, "SELECT *, 2 AS n FROM t")
    request = Request(label="label", **{role: "n"})  # type: ignore[arg-type]
    with ModelQuery(numbered, request, MODELS) as query:
        assert not query.counts(0)


@pytest.mark.parametrize("column", ["a >= 0.5", "CASE WHEN a >= 0.5 THEN 'dos' ELSE 'normal' END"])
@pytest.mark.parametrize("which", ["a", "b"])
def test_columns_that_may_hold_decisions_are_read(path: Path, column: str, which: str) -> None:
    other = "b" if which == "a" else "a"
    told = source(path, f"SELECT label, {other}, {column} AS {which} FROM t")
    with ModelQuery(told, Request(label="label"), MODELS) as query:
        assert not query.counts(0)


def test_how_many_values_tell_what_a_column_holds() -> None:
    assert queries._SAMPLE == 65_536


@pytest.mark.parametrize("bits", range(1, 13))
def test_the_finest_grid_that_keeps_few_enough_pairs(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_PAIRS", 100 * bits)
    asked: list[int] = []

    def look(text: str) -> tuple[int]:
        asked.append(int(text.partition("bits ")[2].partition(")")[0]))
        return (100 * asked[-1],)

    database = Database(DIALECTS["sqlite"], lambda _: SimpleNamespace(), "t", look)  # type: ignore[arg-type,return-value]
    assert queries._finest(database, lambda bits: f"bits {bits}") == bits
    assert len(asked) == len(set(asked)) <= 4
    monkeypatch.setattr(queries, "MOST_PAIRS", 99)
    assert queries._finest(database, lambda bits: f"bits {bits}") == 1


def test_pairs_of_many_rows_are_kept_coarsely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = itertools.product(range(8), range(8))
    rows = [
        ("dos" if (i + j) % 3 else "normal", 0.25 + i / 64, 0.25 + j / 64, "-") for i, j in grid
    ]
    monkeypatch.setattr(queries, "MOST_PAIRS", 40)
    with ModelQuery(
        source(made(tmp_path / "many.db", rows)), Request(label="label"), MODELS
    ) as query:
        assert query.counts(10)
        joint = filled(query).counted({}).paired("first", "second")
    assert joint is not None
    assert joint.rows == 64
    # With 3 bits a cell spans two of the eight scores, so that there are 16 pairs of each label.
    assert joint.kept.bits == 3
    assert joint.size == 32
