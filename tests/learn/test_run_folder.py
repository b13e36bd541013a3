"""What a training leaves, as far as it is data."""

import csv
import io
import json
import math

import numpy as np
import polars as pl
import pytest

from assay.errors import InputError
from assay.learn.data import data_of
from assay.learn.persistence import load_model
from assay.learn.recipes import find_recipe
from assay.learn.record import record_of
from assay.learn.run import Run
from assay.learn.run_folder import (
    Asked,
    folds_of,
    importance_rows,
    model_of,
    parquet,
    predictions_of,
    run_record,
)
from assay.learn.scenarios import make_arp
from assay.learn.training import train

ASKED = Asked("assay train", "label", (("arp.csv", 10, "ab" * 32),), family="family")


def trained(scheme: str, **options: object) -> Run:
    data = data_of(
        make_arp(600),
        label="label",
        family="family",
        time="time",
        keep=("host",),
        name="arp.csv",
    )
    return train(
        find_recipe("safelink-forest"), data, validation=scheme, settings={"trees": 4}, **options
    )


@pytest.fixture(scope="module")
def run() -> Run:
    return trained("group:host,k=3")


def test_predictions_hold_every_judged_row_once_in_the_order_of_the_file(run: Run) -> None:
    found = predictions_of(run)
    assert found.columns == [
        *("row", "label", "score", "decision", "fold", "family", "time", "host"),
    ]
    assert found["row"].to_list() == list(range(1, 601))
    source = make_arp(600)
    for column in ("label", "family", "time", "host"):
        assert found[column].to_list() == source[column].to_list()
    assert (found["score"] >= 0.5).to_list() == (found["decision"] == "attack").to_list()
    assert found.group_by("host").agg(pl.col("fold").n_unique())["fold"].max() == 1


def test_a_column_may_name_the_rows(run: Run) -> None:
    assert predictions_of(run, "host").columns[:2] == ["host", "label"]


def test_a_kept_column_of_a_taken_name_is_not_written_over(run: Run) -> None:
    frame = make_arp(300).rename({"host": "decision"})
    data = data_of(frame, label="label", keep=("decision",), drop=("family", "time"))
    found = predictions_of(
        train(find_recipe("safelink-forest"), data, settings={"trees": 2}, importance=False)
    )
    assert set(found["decision"]) <= {"normal", "attack"}
    with pytest.raises(InputError, match="would be called 'decision'"):
        predictions_of(
            train(find_recipe("safelink-forest"), data, settings={"trees": 2}, importance=False),
            "decision",
        )


def test_folds_are_told_as_compare_reads_them(run: Run) -> None:
    rows = folds_of(run)
    assert [row["fold"] for row in rows] == ["fold 1", "fold 2", "fold 3"]
    assert all(row["n_train"] + row["n_test"] == 600 for row in rows)
    assert all(math.isfinite(value) for row in rows for value in list(row.values())[3:])
    assert [row["accuracy"] for row in rows] == list(run.per_fold["accuracy"])


def test_importance_has_numbers_as_numbers(run: Run) -> None:
    head, rows = importance_rows(run)
    assert head == ["column", "mdi", "permutation", "low", "high", "distinct"]
    assert {row["column"] for row in rows} == set(run.data.frame.columns)
    assert sum(row["mdi"] for row in rows) == pytest.approx(1)
    assert all(isinstance(row["distinct"], int) for row in rows)


def test_the_model_is_the_one_that_was_kept_and_says_how_it_was_made(run: Run, tmp_path) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(model_of(run, ASKED))
    assert model_of(run, ASKED) == path.read_bytes()
    loaded = load_model(path)
    frame = run.data.frame
    assert np.array_equal(loaded.pipeline.predict_proba(frame), run.model.predict_proba(frame))
    assert loaded.header["recipe"] == "safelink-forest"
    assert loaded.header["validation"] == "group:host,k=3"
    assert loaded.header["settings"]["trees"] == 4


def test_the_record_counts_rows_that_add_up(run: Run) -> None:
    record = json.loads(run_record(run, ASKED, [("model.skops", "0" * 64)], {"seconds": 1}))
    assert record["schema"] == "assay.run/1"
    assert list(record) == sorted(record)
    for fold in record["split"]["folds"]:
        whole = fold["all"]
        assert whole["total"] == 600 == sum(whole[part] for part in fold["parts"])
        for part in (*fold["parts"], "total"):
            assert sum(each[part] for each in fold["classes"]) == whole[part]
    assert record["rows"] == {"read": 600, "refused": 0, "judged": 600, "not_judged": 0}
    assert record["inputs"][0]["sha256"] == "ab" * 32


def test_the_same_run_has_the_same_bytes(run: Run) -> None:
    again = trained("group:host,k=3")
    assert parquet(predictions_of(run)) == parquet(predictions_of(again))
    assert model_of(run, ASKED) == model_of(again, ASKED)
    assert run_record(run, ASKED, (), {}) == run_record(again, ASKED, (), {})


def test_the_plain_values_are_json_and_say_what_the_run_says(run: Run) -> None:
    found = json.loads(json.dumps(record_of(run), allow_nan=False))
    accuracy = found["measures"]["accuracy"]
    assert accuracy["values"] == list(run.per_fold["accuracy"])
    assert accuracy["sd"] == pytest.approx(np.std(accuracy["values"], ddof=1), rel=1e-12)
    assert accuracy["mean"]["value"] == pytest.approx(np.mean(accuracy["values"]), rel=1e-12)
    assert accuracy["mean"]["method"] == "nadeau_bengio"
    # One fold has no attack, so that its AUC is undefined, and so is the mean.
    auc = found["measures"]["roc_auc"]
    assert auc["values"][2] is None
    assert auc["mean"]["value"] is None
    assert "no value in 1 of 3 folds" in auc["mean"]["undefined"]


def test_a_validation_part_is_in_the_record() -> None:
    run = trained("holdout:0.7/0.2/0.1", importance=False)
    found = record_of(run)
    assert found["validation_part"] is not None
    assert found["importance"] is None
    assert importance_rows(run) == ([], [])
    parts = found["folds"][0]["counts"]["parts"]
    assert parts == ["train", "test", "validation"]


def test_the_csv_of_folds_is_one_line_a_fold(run: Run) -> None:
    from assay.report.plain import csv_text

    rows = folds_of(run)
    read = list(csv.DictReader(io.StringIO(csv_text(tuple(rows[0]), rows))))
    assert [float(row["accuracy"]) for row in read] == list(run.per_fold["accuracy"])
    assert "roc_auc" not in read[0]  # undefined in one fold, so that nothing can be compared by it
