"""Incidents are counted alike on every engine: the same rows give the same bytes."""

import sqlite3
from typing import Any

import polars as pl
import pytest

from assay.engines import Ask, Columns, Grouping
from assay.engines.frames import count, count_incidents
from assay.engines.incident_counter import count_groups, count_pieces
from assay.errors import InputError, LabelError, ScoreError
from assay.tally import IncidentTally, from_bytes

ROWS = 400
FRAME = pl.DataFrame(
    {
        "incident": [f"i{i % 7}" if i % 5 == 0 else "" for i in range(ROWS)],
        "at": [f"2026-11-{2 + i // 60:02}T{i % 24:02}:{i % 60:02}:00Z" for i in range(ROWS)],
        "score": [(i * 37 % 100) / 100 for i in range(ROWS)],
        "said": ["alert" if i % 3 == 0 else "benign" for i in range(ROWS)],
        "kind": [f"k{i % 7 % 2}" if i % 5 == 0 else "" for i in range(ROWS)],
        "host": [f"h{i % 4}" for i in range(ROWS)],
        "sensor": [f"r{i % 3}" for i in range(ROWS)],
    }
)
COLUMNS = {
    "scores": Columns.of_incidents(
        "incident", "at", score="score", family="kind", rule="sensor", key=("host",)
    ),
    "decisions": Columns.of_incidents("incident", "at", decision="said"),
    "both": Columns.of_incidents("incident", "at", score="score", decision="said"),
}
ASK = Ask(incidents=Grouping(gap=3_600_000_000))
every_question = pytest.mark.parametrize("asked", COLUMNS)


def expected(asked: str) -> IncidentTally:
    return count_incidents(FRAME, COLUMNS[asked], ASK)


@every_question
def test_pieces_add_up_to_the_whole(asked: str) -> None:
    pieces = [FRAME[i : i + 33] for i in range(0, ROWS, 33)]
    assert count_pieces(pieces, COLUMNS[asked], ASK) == expected(asked)
    parts = [count_pieces([piece], COLUMNS[asked], ASK) for piece in pieces[::-1]]
    assert IncidentTally.merge([from_bytes(part.to_bytes()) for part in parts]) == expected(asked)


@every_question
@pytest.mark.parametrize("kind", ["pandas", "arrow", "lazy", "mapping", "duckdb", "dask"])
def test_every_frame_gives_the_same_bytes(asked: str, kind: str) -> None:
    rows: Any = {"lazy": FRAME.lazy(), "mapping": FRAME.to_dict(as_series=False)}.get(kind)
    if kind == "pandas":
        pytest.importorskip("pandas")
        rows = FRAME.to_pandas()
    elif kind == "arrow":
        rows = FRAME.to_arrow()
    elif kind == "duckdb":
        rows = pytest.importorskip("duckdb").from_arrow(FRAME.to_arrow())
    elif kind == "dask":
        dask = pytest.importorskip("dask.dataframe")
        rows = dask.from_pandas(FRAME.to_pandas(), npartitions=3)
    assert count_incidents(rows, COLUMNS[asked], ASK).to_bytes() == expected(asked).to_bytes()


@every_question
def test_a_query_is_grouped_by_its_database(asked: str) -> None:
    base = sqlite3.connect(":memory:")
    base.execute(f"create table flows ({', '.join(FRAME.columns)})")
    base.executemany(f"insert into flows values ({', '.join('?' * FRAME.width)})", FRAME.rows())
    doubled = "select * from flows union all select * from flows"
    once = count_groups(base, "select * from flows", COLUMNS[asked], ASK)
    twice = count_groups(base, doubled, COLUMNS[asked], ASK)
    assert once == expected(asked)
    assert twice == expected(asked) + expected(asked)


def test_a_threshold_is_chosen_on_the_sum() -> None:
    tally = expected("scores")
    flagged = FRAME.filter(pl.col("score") >= 0.6)
    assert tally.at(0.6).alerts == flagged.height
    assert tally.at(0.6).false_alarms == flagged.filter(pl.col("incident") == "").height
    assert tally.families["i3"] == "k1"


def test_counts_are_rows() -> None:
    counted = FRAME.with_columns(pl.lit(3).alias("n"))
    columns = Columns.of_incidents("incident", "at", score="score", count="n")
    alone = Columns.of_incidents("incident", "at", score="score")
    thrice = pl.concat([FRAME] * 3)
    assert count_incidents(counted, columns, ASK) == count_incidents(thrice, alone, ASK)


def test_bad_rows_stop_or_are_counted_by_their_reason() -> None:
    bad = FRAME.with_columns(
        pl.when(pl.int_range(ROWS) == 3).then(None).otherwise(pl.col("score")).alias("score"),
        pl.when(pl.int_range(ROWS) == 5).then(pl.lit("soon")).otherwise(pl.col("at")).alias("at"),
    )
    with pytest.raises(ScoreError, match="row 4: column 'score': found nothing"):
        count_incidents(bad, COLUMNS["scores"], ASK)
    skipped = Ask(on_bad_row="skip", incidents=ASK.incidents)
    tally = count_incidents(bad, COLUMNS["scores"], skipped)
    assert sum(tally.refused.values()) == 2
    assert tally.alerts == ROWS - 2


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        (Columns("label", time="at"), InputError, "incidents need a column of their names"),
        (Columns.of_incidents("incident", "at"), InputError, "name a score or a decision"),
        (Columns.of_incidents("incident", "at", score="said"), ScoreError, "finite number"),
        (Columns.of_incidents("no", "at", score="score"), InputError, "no column 'no'"),
        (
            Columns.of_incidents("incident", "at", score="score", family="host"),
            InputError,
            "an incident has one family",
        ),
        (
            Columns.of_incidents("incident", "at", score="score", weight="score"),
            InputError,
            "counted and not weighed",
        ),
    ],
)
def test_what_can_not_be_counted_is_told(
    columns: Columns, error: type[InputError], message: str
) -> None:
    frame = FRAME.with_columns(pl.lit("attack").alias("label"))
    with pytest.raises(error, match=message):
        count_incidents(frame, columns, ASK)


def test_a_decision_that_is_missing_is_no_decision() -> None:
    frame = FRAME.with_columns(pl.lit("").alias("said"))
    with pytest.raises(LabelError, match="the decision is missing"):
        count_incidents(frame, COLUMNS["decisions"], ASK)


def test_incidents_are_not_counted_with_rows() -> None:
    with pytest.raises(InputError, match="count_incidents"):
        count(FRAME, COLUMNS["scores"], ASK)
