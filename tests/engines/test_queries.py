"""Queries as inputs: counted in their database, judged like the rows of a file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import assay
from assay.cli.app import run
from assay.engines import frames
from assay.errors import EmptyInput, InputError
from assay.tally import Tally

ROWS = 3_000
QUERY = "select label, score, site, host, moment from flows"
CHOSEN = assay.Request(slices=("site",), cluster="host", time="moment")


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(8)
    truth = rng.random(ROWS) < 0.15
    return pl.DataFrame(
        {
            "label": np.where(truth, "attack", "normal"),
            "score": np.clip(rng.normal(0.3 + 0.4 * truth, 0.2), 0, 1),
            "site": rng.integers(0, 4, ROWS),
            "host": [f"host {i}" for i in rng.integers(0, 30, ROWS)],
            "moment": [f"2026-11-{day:02} 12:30:00" for day in rng.integers(1, 9, ROWS)],
        }
    )


def document(source: str) -> str:
    judged = assay.evaluate_files(source, CHOSEN, period="week").to_dict()
    judged["source"].pop("name")
    judged["source"].pop("labels_sha256", None)  # a database tells no order
    return json.dumps(judged, allow_nan=False)


@pytest.mark.sampled(1)
def test_the_document_is_that_of_a_file(place: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    frame.write_csv(file)
    assert document(f"{place}?{QUERY}") == document(str(file))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["grid", "cuts"])
def test_scores_are_kept_as_asked(mode: str, place: str, frame: pl.DataFrame) -> None:
    judged = assay.evaluate_files(f"{place}?{QUERY}", mode=mode).to_dict()
    assert judged["mode"] == mode
    frame_ = frame.with_columns(label=pl.col("label") == "attack")
    exact = assay.evaluate(frame_["label"], y_score=frame_["score"])
    (auc,) = [e for e in judged["estimates"] if e["measure"] == "roc_auc"][:1]
    low, high = auc["bound"] or (auc["value"], auc["value"])
    assert low <= exact["roc_auc"].value <= high


def test_no_rows_leave_the_database(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[pl.DataFrame] = []
    count = frames.count_polars

    def watched(rows: pl.DataFrame, *more: Any) -> Tally:
        moved.append(rows)
        return count(rows, *more)

    monkeypatch.setattr(frames, "count_polars", watched)
    query = "select label, floor(score * 10) / 10 as score from flows"
    if place.startswith("sqlite"):
        query = "select label, cast(score * 10 as integer) / 10.0 as score from flows"
    judged = assay.evaluate_files(f"{place}?{query}")
    assert judged.source["rows_read"] == ROWS
    assert moved[0].height <= 22


def test_refused_rows_are_counted_by_reason(place: str) -> None:
    query = "select nullif(label, 'attack') as label, score from flows"
    with pytest.raises(InputError, match="rows can't be used, such as one with column 'label'"):
        assay.evaluate_files(f"{place}?{query}")
    query = "select label, nullif(site, 3) as score from flows"
    skipping = assay.Request(on_bad_row="skip")
    judged = assay.evaluate_files(f"{place}?{query}", skipping).to_dict()
    refused = judged["source"]["rows_refused"]
    assert judged["source"]["reasons"] == {"score: not a finite number": refused}
    assert judged["source"]["rows_used"] + refused == ROWS


@pytest.mark.sampled(2)
def test_a_query_without_rows_is_refused(place: str) -> None:
    with pytest.raises(EmptyInput, match="there are no rows; the query gives an empty table"):
        assay.evaluate_files(f"{place}?{QUERY} where 1 = 0")
    skipping = assay.Request(on_bad_row="skip")
    with pytest.raises(
        EmptyInput, match=r"all 3,000 rows were refused: score: not a finite number"
    ):
        assay.evaluate_files(f"{place}?select label, nullif(1, 1) as score from flows", skipping)


def test_a_column_that_is_not_there_is_named(place: str) -> None:
    with pytest.raises(InputError, match="no column 'sccore'; did you mean 'score'"):
        assay.evaluate_files(f"{place}?{QUERY}", assay.Request(score="sccore"))


@pytest.mark.sampled(1)
def test_two_queries_are_judged_as_one(place: str) -> None:
    halves = [f"{place}?{QUERY} where site {sign} 2" for sign in ("<", ">=")]
    judged = assay.evaluate_files(halves, CHOSEN).to_dict()["estimates"]
    assert judged == assay.evaluate_files(f"{place}?{QUERY}", CHOSEN).to_dict()["estimates"]


def test_a_password_is_shown_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = "postgresql://reader:correct-horse@db.example/flows?select label, score from t"
    for more in ([], [str(tmp_path / "absent.csv")], ["--score", "x"], ["--format", "json"]):
        assert run(["evaluate", *more, given]) == 3
        printed = capsys.readouterr()
        assert "correct-horse" not in printed.out + printed.err
