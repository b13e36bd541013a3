"""DuckDB and Spark count where the rows are: the same counts, and the same reasons."""

from __future__ import annotations

import duckdb
import narwhals as nw
import polars as pl
import pytest

import assay
from assay import errors

FRAME = pl.DataFrame(
    {
        "label": ["attack", "normal", "", None, "attack", "normal", "attack"] * 30,
        "score": [0.5, -0.0, 0.5, 0.25, None, float("nan"), 1.0] * 30,
        "host": ["a", "b", "c", "d", "e", "f", None] * 30,
        "n": [1, 2, 3, 4, 5, 6, 7] * 30,
    }
)
ROLES = {"label": "label", "score": "score", "slices": ["host"], "count": "n", "on_bad_row": "skip"}
KEYS = ("label", "score", "slice:host")


@pytest.fixture(scope="module")
def relation() -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("frame", FRAME.to_arrow())
    return connection.sql("from frame")


def test_duckdb_counts_what_polars_counts(relation) -> None:
    rows, here = assay.rows(relation, **ROLES), assay.rows(FRAME, **ROLES)
    assert rows.count(*KEYS) == here.count(*KEYS)
    assert rows.refused.reasons == here.refused.reasons
    assert (rows.source.rows_read, rows.source.rows_used) == (210, here.source.rows_used)


def test_reasons_of_an_engine_stop_without_places(relation) -> None:
    rows = assay.rows(relation, label="label", score="score")
    with pytest.raises(errors.LabelError, match=r"60 rows have no label; 30 rows have no score"):
        rows.count("label", "score")


def test_an_engine_keeps_its_rows(relation) -> None:
    rows = assay.rows(nw.from_native(relation), label="label")
    with pytest.raises(errors.InputError, match="stay in their engine"):
        rows.batches()
    with pytest.raises(errors.MissingColumn, match="has no column 'lable'"):
        assay.rows(relation, label="lable")


def test_text_is_no_score_in_an_engine() -> None:
    relation = duckdb.sql("select 'a' as label, '0.5' as score")
    with pytest.raises(errors.ScoreError, match=r"score must be a number: cast it in the query"):
        assay.rows(relation, label="label", score="score").count("label", "score")
