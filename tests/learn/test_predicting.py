"""Predictions are those of the model, whatever the rows came in."""

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import EmptyInput, InputError
from assay.learn import predicting
from assay.learn.fitting import one_thread_a_sum, probabilities_of
from assay.learn.persistence import Loaded, model_header
from assay.learn.predicting import Features, Predictions, Wanted, input_notes, predict
from assay.learn.recipes import Task, find_recipe
from assay.sources.files.request import Request

LABELS = ("normal", "attack")
KINDS = ("drugs", "fraud", "other")


def frame_of(rows: int, seed: int = 3) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "size": random.normal(size=rows),
            "rate": random.normal(size=rows),
            "protocol": random.choice(["tcp", "udp"], rows),
        }
    )


def model_of(recipe: str, labels: Sequence[str] = LABELS, **given: Any) -> Loaded:
    rows = frame_of(400)
    signal = rows["rate"].to_numpy() + np.random.default_rng(4).normal(size=400) / 2
    truth = np.digitize(signal, [0.0] if len(labels) == 2 else [-0.5, 0.5])
    positive = labels[1] if len(labels) == 2 else None
    task = Task(labels=tuple(labels), positive=positive)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline = find_recipe(recipe).pipeline(task, given).fit(rows, truth)
    threshold = None if positive is None else 0.5
    header = model_header(
        pipeline, rows, labels=tuple(labels), positive=positive, threshold=threshold
    )
    return Loaded(pipeline, header)


@pytest.fixture(scope="module")
def network() -> Loaded:
    return model_of("network", epochs=2)


@pytest.fixture(scope="module")
def kinds() -> Loaded:
    return model_of("tree", KINDS)


def pieces_of(frame: pl.DataFrame, cuts: Sequence[int]) -> list[Features]:
    edges = [0, *sorted(cuts), frame.height]
    return [
        Features("rows", frame[a:b], pl.DataFrame(), np.arange(a + 1, b + 1, dtype=np.int64))
        for a, b in itertools.pairwise(edges)
    ]


def all_of(predictions: Predictions) -> pl.DataFrame:
    return pl.concat(list(predictions))


@cache
def small_network() -> Loaded:
    return model_of("network", epochs=1)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 700), max_size=6))
def test_the_bits_do_not_depend_on_the_pieces(cuts: list[int]) -> None:
    """A matrix product of one row takes another way than one of many, so blocks are fixed."""
    model, rows = small_network(), frame_of(700)
    before, predicting.BLOCK = predicting.BLOCK, 256
    try:
        frame = all_of(Predictions(model, iter(pieces_of(rows, cuts)), Wanted()))
        whole = all_of(Predictions(model, iter(pieces_of(rows, [])), Wanted()))
    finally:
        predicting.BLOCK = before
    assert frame.equals(whole)
    assert frame["row"].to_list() == list(range(1, 701))


def test_scores_are_the_probabilities_of_the_positive(network: Loaded, tmp_path: Path) -> None:
    rows = frame_of(50)
    rows.write_csv(tmp_path / "rows.csv")
    frame = all_of(predict(network, str(tmp_path / "rows.csv")))
    with one_thread_a_sum():
        expected = network.pipeline.predict_proba(rows)[:, 1]
    assert frame.columns == ["row", "score", "decision"]
    assert (frame["score"].to_numpy() == expected).all()
    assert frame["decision"].to_list() == [LABELS[int(score >= 0.5)] for score in expected]


class Overflowing:
    """A model of two classes whose scale is too large for any row."""

    classes_ = np.arange(2)

    def predict_proba(self, rows: pl.DataFrame) -> Any:
        scaled = np.full(rows.height, 1e300) * 1e300
        share = 1 / (1 + 1 / scaled)
        return np.column_stack([1 - share, share])


def test_numbers_that_overflow_in_a_model_are_no_warning() -> None:
    assert probabilities_of(Overflowing(), frame_of(2), 2, "the model").tolist() == [[0, 1]] * 2


def test_more_labels_have_a_probability_each_and_the_first_wins_a_tie(
    kinds: Loaded, tmp_path: Path
) -> None:
    rows = frame_of(60)
    rows.write_parquet(tmp_path / "rows.parquet")
    frame = all_of(predict(kinds, str(tmp_path / "rows.parquet")))
    assert frame.columns == ["row", "p_drugs", "p_fraud", "p_other", "decision"]
    table = kinds.pipeline.predict_proba(rows)
    assert (frame.select(pl.col("^p_.*$")).to_numpy() == table).all()
    assert frame["decision"].to_list() == [KINDS[code] for code in table.argmax(axis=1)]


def test_a_label_that_the_model_did_not_learn_has_probability_0(tmp_path: Path) -> None:
    rows = frame_of(90)
    pipeline = find_recipe("tree").pipeline(Task(labels=KINDS))
    pipeline.fit(rows, np.where(rows["rate"].to_numpy() > 0, 2, 0))
    header = model_header(pipeline, rows, labels=KINDS, positive=None, threshold=None)
    rows.write_csv(tmp_path / "rows.csv")
    frame = all_of(predict(Loaded(pipeline, header), str(tmp_path / "rows.csv")))
    assert frame["p_fraud"].unique().to_list() == [0.0]
    assert set(frame["decision"].unique()) == {"drugs", "other"}


def test_the_threshold_is_the_models_or_the_one_given(network: Loaded, tmp_path: Path) -> None:
    frame_of(50).write_csv(tmp_path / "rows.csv")
    path = str(tmp_path / "rows.csv")
    strict = Loaded(network.pipeline, {**network.header, "threshold": 0.9})
    for model, wanted, threshold in (
        (network, Wanted(), 0.5),
        (strict, Wanted(), 0.9),
        (strict, Wanted(threshold=0.2), 0.2),
        (Loaded(network.pipeline, {**network.header, "threshold": None}), Wanted(), 0.5),
    ):
        predictions = predict(model, path, wanted)
        frame = all_of(predictions)
        assert predictions.threshold == threshold
        assert ((frame["score"] >= threshold) == (frame["decision"] == "attack")).all()


def test_a_threshold_for_three_labels_is_refused(kinds: Loaded) -> None:
    with pytest.raises(InputError, match="between two labels, and the model knows 3"):
        Predictions(kinds, iter(()), Wanted(threshold=0.5))


@pytest.mark.parametrize("write", ["write_csv", "write_parquet", "write_ndjson", "write_ipc"])
def test_every_format_gives_the_same_bits(network: Loaded, tmp_path: Path, write: str) -> None:
    rows = frame_of(300)
    suffix = {"write_ndjson": "jsonl", "write_ipc": "arrow"}.get(write, write[6:])
    getattr(rows, write)(tmp_path / f"rows.{suffix}")
    rows.write_csv(tmp_path / "plain.csv")
    plain = all_of(predict(network, str(tmp_path / "plain.csv")))
    assert all_of(predict(network, str(tmp_path / f"rows.{suffix}"))).equals(plain)


def test_columns_in_another_order_and_further_ones_do_not_matter(
    network: Loaded, tmp_path: Path
) -> None:
    rows = frame_of(80)
    rows.write_csv(tmp_path / "a.csv")
    other = rows.select(pl.lit("x").alias("more"), "protocol", "rate", "size")
    other.write_csv(tmp_path / "b.csv")
    frames = [all_of(predict(network, str(tmp_path / name))) for name in ("a.csv", "b.csv")]
    assert frames[0].equals(frames[1])
    notes = input_notes(network, [str(tmp_path / "b.csv")], Wanted(), Request())
    assert notes == ["the model does not use 'more'"]
    assert input_notes(network, [str(tmp_path / "a.csv")], Wanted(), Request()) == []


def test_ids_and_kept_columns_stand_beside_the_scores(network: Loaded, tmp_path: Path) -> None:
    rows = frame_of(3).with_columns(
        flow=pl.Series(["007", "b", "c"]), label=pl.Series(["attack", "normal", "attack"])
    )
    rows.write_csv(tmp_path / "rows.csv")
    wanted = Wanted(id="flow", keep=("label", "flow", "protocol"))
    frame = all_of(predict(network, str(tmp_path / "rows.csv"), wanted))
    assert frame.columns == ["flow", "label", "protocol", "score", "decision"]
    assert frame["flow"].to_list() == ["007", "b", "c"]
    assert frame["protocol"].equals(rows["protocol"])


@pytest.mark.parametrize("column", ["score", "decision", "row"])
def test_a_kept_column_that_is_called_as_ours_is_refused(network: Loaded, column: str) -> None:
    with pytest.raises(InputError, match=f"would be called '{column}'"):
        Predictions(network, iter(()), Wanted(keep=(column,)))


def test_a_label_whose_column_is_called_as_another_is_refused(kinds: Loaded) -> None:
    with pytest.raises(InputError, match="'p_fraud'"):
        Predictions(kinds, iter(()), Wanted(id="p_fraud"))


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size,rate\n1,2\n", "no column 'protocol'"),
        ("x\n1\n", "lacks 3 of the 3 columns that the model learned from"),
        ("size,rate,protocol\n1,2,tcp\n1,two,tcp\n", r"line 3.*column 'rate': found 'two'"),
        ("size,rate,protocol\n", "there are no rows"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_their_place(
    network: Loaded, tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        all_of(predict(network, written(tmp_path, text)))


def test_bad_rows_can_be_left_out_and_are_counted(network: Loaded, tmp_path: Path) -> None:
    path = written(tmp_path, "size,rate,protocol\n1,2,tcp\nx,2,tcp\n3,4,udp\n5,y,udp\n")
    predictions = predict(network, path, request=Request(on_bad_row="skip"))
    assert all_of(predictions)["row"].to_list() == [1, 3]
    assert (predictions.rows, predictions.rows_refused) == (2, 2)
    assert [at.row for at in predictions.refused] == [2, 4]


def test_nothing_but_bad_rows_is_an_empty_input(network: Loaded, tmp_path: Path) -> None:
    path = written(tmp_path, "size,rate,protocol\nx,2,tcp\n")
    with pytest.raises(EmptyInput, match="the only row was refused"):
        list(predict(network, path, request=Request(on_bad_row="skip")))


def test_missing_values_and_unseen_categories_are_scored(network: Loaded, tmp_path: Path) -> None:
    path = written(tmp_path, "size,rate,protocol\n,,\n1,inf,quic\n")
    frame = all_of(predict(network, path))
    assert frame["score"].is_finite().all()


def test_several_files_are_numbered_on(network: Loaded, tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        frame_of(5).write_csv(tmp_path / name)
    frame = all_of(predict(network, [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]))
    assert frame["row"].to_list() == list(range(1, 11))


class Says:
    """A model that says one thing."""

    classes_ = np.array([0, 1])

    def __init__(self, said: Callable[[int], Any]) -> None:
        self.said = said

    def get_params(self) -> dict[str, Any]:
        return {}

    def predict_proba(self, frame: pl.DataFrame) -> Any:
        return self.said(frame.height)


@pytest.mark.parametrize(
    "said",
    [
        lambda rows: np.full((rows, 2), np.nan),
        lambda rows: np.full((rows, 2), 0.7),
        lambda rows: np.full((rows, 3), 1 / 3),
        lambda rows: np.full(rows + 1, 0.5),
        lambda rows: "nothing",
        lambda rows: {}["x"],
    ],
)
def test_a_model_that_says_no_probabilities_is_refused(
    network: Loaded, tmp_path: Path, said: Callable[[int], Any]
) -> None:
    frame_of(7).write_csv(tmp_path / "rows.csv")
    model = replace(network, pipeline=Says(said))
    with pytest.raises(InputError, match="the model"):
        all_of(predict(model, str(tmp_path / "rows.csv")))
