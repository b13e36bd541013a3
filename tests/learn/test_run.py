"""What a training leaves, as far as it is data."""

import csv
import io
import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.errors import InputError
from assay.learn.data import data_of
from assay.learn.persistence import load_model
from assay.learn.recipes import find_recipe
from assay.learn.run import (
    Run,
    TrainingRequest,
    encoding_text,
    folds_of,
    importance_rows,
    model_of,
    parquet,
    predictions_of,
    run_record,
)
from assay.learn.scenarios import make_arp
from assay.learn.training import train

ASKED = TrainingRequest("assay train", "label", (("arp.csv", 10, "ab" * 32),), family="family")


def trained(scheme: str, **options: object) -> Run:
    data = data_of(
        make_arp(600),
        label="label",
        family="family",
        time="time",
        keep=("host",),
        name="arp.csv",
    )
    return train(find_recipe("forest"), data, validation=scheme, settings={"trees": 4}, **options)


@pytest.fixture(scope="module")
def run() -> Run:
    return trained("group:host,k=3")


def test_predictions_hold_every_judged_row_once_in_the_order_of_the_file(run: Run) -> None:
    frame = predictions_of(run)
    assert frame.columns == [
        *("row", "label", "score", "decision", "fold", "family", "time", "host"),
    ]
    assert frame["row"].to_list() == list(range(1, 601))
    source = make_arp(600)
    for column in ("label", "family", "time", "host"):
        assert frame[column].to_list() == source[column].to_list()
    assert (frame["score"] >= 0.5).to_list() == (frame["decision"] == "attack").to_list()
    assert frame.group_by("host").agg(pl.col("fold").n_unique())["fold"].max() == 1


def test_a_column_may_name_the_rows(run: Run) -> None:
    assert predictions_of(run, "host").columns[:2] == ["host", "label"]


def test_a_kept_column_of_a_taken_name_is_not_written_over(run: Run) -> None:
    frame = make_arp(300).rename({"host": "decision"})
    data = data_of(frame, label="label", keep=("decision",), drop=("family", "time"))
    rows = predictions_of(
        train(find_recipe("forest"), data, settings={"trees": 2}, importance=False)
    )
    assert set(rows["decision"]) <= {"normal", "attack"}
    with pytest.raises(InputError, match="would be called 'decision'"):
        predictions_of(
            train(find_recipe("forest"), data, settings={"trees": 2}, importance=False),
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
    assert loaded.header["recipe"] == "forest"
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
    document = json.loads(json.dumps(run.snapshot().to_dict()["training"], allow_nan=False))
    accuracy = document["measures"]["accuracy"]
    assert accuracy["values"] == list(run.per_fold["accuracy"])
    assert accuracy["sd"] == pytest.approx(np.std(accuracy["values"], ddof=1), rel=1e-12)
    assert accuracy["mean"]["value"] == pytest.approx(np.mean(accuracy["values"]), rel=1e-12)
    assert accuracy["mean"]["method"] == "nadeau_bengio"
    # One fold has no attack, so that its AUC is undefined, and so is the mean.
    auc = document["measures"]["roc_auc"]
    assert auc["values"][2] is None
    assert auc["mean"]["value"] is None
    assert "no value in 1 of 3 folds" in auc["mean"]["undefined"]


def test_a_validation_part_is_in_the_record() -> None:
    run = trained("holdout:0.7/0.2/0.1", importance=False)
    training = run.snapshot().to_dict()["training"]
    assert training["validation_part"] is not None
    assert training["importance"] is None
    assert importance_rows(run) == ([], [])
    parts = training["folds"][0]["counts"]["parts"]
    assert parts == ["train", "test", "validation"]


def test_the_csv_of_folds_is_one_line_a_fold(run: Run) -> None:
    from assay.report.document import csv_text

    rows = folds_of(run)
    read = list(csv.DictReader(io.StringIO(csv_text(tuple(rows[0]), rows))))
    assert [float(row["accuracy"]) for row in read] == list(run.per_fold["accuracy"])
    assert "roc_auc" not in read[0]  # undefined in one fold, so that nothing can be compared by it


# -- encoding --------------------------------------------------------------------------------------


def encoded_by_hand(encoding: dict, rows: list[dict]) -> np.ndarray:
    """Rows as numbers by what encoding.json says alone."""
    confusion = []
    for row in rows:
        cells: list[float] = []
        for column in encoding["columns"]:
            value = row[column["column"]]
            if column["kind"] == "number":
                missing = math.nan if column["missing"] is None else column["missing"]
                cells.append(missing if value is None else float(value))
                continue
            code = column["codes"].get(value, column["unseen"])
            code = column["missing"] if value is None else code
            if column["one_hot"]:
                cells += [float(code == each) for each in range(len(column["codes"]) + 1)]
            else:
                cells.append(float(code))
        confusion.append(cells)
    matrix = np.array(confusion)
    if encoding["scaling"] is None:
        return matrix
    features = encoding["scaling"]["features"]
    first, second = (np.array([each[key] for each in features]) for key in list(features[0])[1:])
    if encoding["scaling"]["method"] == "standard":
        return (matrix - first) / second
    spread = np.where(second > first, second - first, 1.0)
    return np.clip((matrix - first) / spread, 0, 1)


def mixed(count: int, seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    label = generator.choice(["normal", "attack"], count)
    size = pl.Series(generator.normal(100, 10, count) + 20 * (label == "attack"))
    proto = pl.Series(generator.choice(["udp", "tcp", "icmp", "gre"][: 3 + seed], count))
    gaps = pl.Series(generator.random(count) < 0.1)
    return pl.DataFrame(
        {
            "size": size.set(gaps, None),
            "proto": proto.set(pl.Series(generator.random(count) < 0.1), None),
            "same": np.full(count, 7.0),
            "text": [f"packet of kind {i % 7}" for i in range(count)],
            "label": label,
        }
    )


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        ("forest", {"trees": 2}),
        ("network", {"epochs": 1}),
        ("network", {"epochs": 1, "one_hot": 10}),
        ("tree", {"k": 50}),
        ("detector", {"trees": 5}),
    ],
)
def test_the_encoding_is_what_the_saved_model_does(
    tmp_path: Path, recipe: str, settings: dict
) -> None:
    data = data_of(mixed(300, 0), label="label", name="mixed.csv")
    run = train(recipe, data, settings=settings, importance=False)
    encoding = json.loads(encoding_text(run))
    assert encoding["schema"] == "assay.encoding/1"
    (tmp_path / "model.skops").write_bytes(model_of(run, ASKED))
    model = load_model(tmp_path / "model.skops").pipeline
    # With gre, which was not there to be learned.
    new = mixed(200, 1)
    expected = model[:-1].transform(new)
    values = encoded_by_hand(encoding, new.rows(named=True))
    assert values.shape == expected.shape
    assert np.allclose(values, expected, rtol=1e-12, atol=1e-12, equal_nan=True)


def test_scaler_and_codes_are_those_of_the_learned_rows() -> None:
    data = data_of(mixed(300, 0), label="label", name="mixed.csv", drop=("text",))
    run = train("forest", data, settings={"trees": 2}, importance=False)
    encoding = json.loads(encoding_text(run))
    learned = data.frame[run.folds[0].train]
    assert encoding["labels"] == {"normal": 0, "attack": 1}
    _, proto, _ = encoding["columns"]
    assert list(proto["codes"].items()) == [("icmp", 0), ("tcp", 1), ("udp", 2)]
    assert (proto["missing"], proto["unseen"]) == (3, 4)
    size = learned["size"].fill_null(learned["size"].median())
    told = {each["feature"]: each for each in encoding["scaling"]["features"]}
    assert told["size"]["mean"] == pytest.approx(size.mean(), rel=1e-12)
    assert told["size"]["scale"] == pytest.approx(size.std(ddof=0), rel=1e-12)
    # A column that never changes is shifted, and not divided by 0.
    assert (told["same"]["mean"], told["same"]["scale"]) == (7.0, 1.0)


def test_texts_tell_their_column_and_terms() -> None:
    data = data_of(mixed(200, 0), label="label", text="text", name="mixed.csv")
    run = train("text", data, importance=False)
    encoding = json.loads(encoding_text(run))
    assert encoding["columns"] == []
    assert encoding["scaling"] is None
    assert encoding["text"]["column"] == "text"
    assert encoding["text"]["terms"]["words"] > 3


def test_labels_of_many_classes_are_coded_in_sorted_order() -> None:
    frame = mixed(300, 0).with_columns(label=pl.Series(["zeta", "beta", "alpha"] * 100))
    run = train("tree", data_of(frame, label="label", name="mixed.csv"), importance=False)
    assert json.loads(encoding_text(run))["labels"] == {"alpha": 0, "beta": 1, "zeta": 2}
    assert run.model.classes_.tolist() == [0, 1, 2]
