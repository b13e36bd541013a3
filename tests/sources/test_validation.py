"""One check of rows: arrays, frames and files refuse the same rows for the same reasons."""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier

import assay
from assay.engines.arrays import resolved_arrays
from assay.errors import AssayError, EmptyInput, InputError, LabelError, ScoreError
from assay.sources.files import Reading
from assay.sources.validation import good_rows
from assay.tally import Tally

GOOD: dict[str, list[Any]] = {
    "label": ["attack", "normal", "attack", "normal", "attack", "normal"],
    "score": [0.9, 0.2, 0.7, 0.4, 0.3, 0.1],
    "decision": ["attack", "normal", "attack", "attack", "normal", "normal"],
    "count": [1, 2, 1, 3, 1, 1],
    "weight": [0.5, 1.0, 2.0, 0.25, 1.0, 1.0],
    "time": [f"2026-11-1{i}" for i in range(6)],
    "cluster": ["a", "b", "c", "b", "b", "a"],
    "p_attack": [0.9, 0.2, 0.7, 0.4, 0.3, 0.1],
    "p_normal": [0.1, 0.8, 0.3, 0.6, 0.7, 0.9],
    "p_worm": [0.0] * 6,
}
PROBABILITIES = {"attack": "p_attack", "normal": "p_normal", "worm": "p_worm"}
# How a column of a frame is called where columns are arrays.
ARRAYS = {
    "score": "y_score",
    "decision": "y_pred",
    "count": "counts",
    "weight": "sample_weight",
    "time": "times",
    "cluster": "clusters",
}
# Columns that are read, those in which a value is bad, that value, and why it is.
BAD: dict[str, tuple[tuple[str, ...], str, Any, str]] = {
    "no label": (("score",), "label", None, "label: missing"),
    "an empty label": (("score",), "label", "", "label: missing"),
    "no score": (("score",), "score", None, "score: not a finite number"),
    "a score that is no number": (("score",), "score", math.nan, "score: not a finite number"),
    "infinity": (("score",), "score", math.inf, "score: not a finite number"),
    "minus infinity": (("score",), "score", -math.inf, "score: not a finite number"),
    "no decision": (("decision",), "decision", None, "decision: missing"),
    "an empty decision": (("decision", "score"), "decision", "", "decision: missing"),
    "a negative count": (
        ("score", "count"),
        "count",
        -1,
        "count: not a count: a whole number, not negative and below 2^62",
    ),
    "a count that is a fraction": (
        ("score", "count"),
        "count",
        1.5,
        "count: not a count: a whole number, not negative and below 2^62",
    ),
    "a negative weight": (
        ("score", "weight"),
        "weight",
        -0.5,
        "weight: not a weight, finite and not negative",
    ),
    "a weight that is no number": (
        ("score", "weight"),
        "weight",
        math.nan,
        "weight: not a weight, finite and not negative",
    ),
    "a weight that can't be squared": (
        ("score", "weight"),
        "weight",
        1e101,
        "weight: not 0, or between 1e-100 and 1e+100",
    ),
    "a weight whose square is 0": (
        ("score", "weight"),
        "weight",
        1e-200,
        "weight: not 0, or between 1e-100 and 1e+100",
    ),
    "no time": (("score", "time"), "time", None, "time: no moment"),
    "a time that is none": (("score", "time"), "time", "noon", "time: no moment"),
    "no cluster": (("score", "cluster"), "cluster", None, "cluster: missing"),
    "an empty cluster": (("score", "cluster"), "cluster", "", "cluster: missing"),
    "a probability above 1": (
        ("probabilities",),
        "p_attack",
        1.5,
        "probability: not a probability in [0, 1]",
    ),
    "no probability": (
        ("probabilities",),
        "p_normal",
        math.nan,
        "probability: not a probability in [0, 1]",
    ),
    "probabilities that do not sum to 1": (
        ("probabilities",),
        "p_worm",
        0.5,
        "probability: those of a row do not sum to 1",
    ),
    "a bad row of count zero": (
        ("score", "count"),
        "score",
        math.nan,
        "score: not a finite number",
    ),
}
WORST = "a bad row of count zero"


def table(case: str) -> dict[str, list[Any]]:
    """The good rows, of which the fourth is made bad."""
    _, column, value, _ = BAD[case]
    rows = {name: list(values) for name, values in GOOD.items()}
    rows[column][3] = value
    if case == WORST:
        rows["count"][3] = 0
    return rows


def asked(case: str) -> dict[str, Any]:
    named = {name: name for name in BAD[case][0] if name != "probabilities"}
    return named | ({"probabilities": PROBABILITIES} if "probabilities" in BAD[case][0] else {})


def of_arrays(case: str, rows: Mapping[str, list[Any]], folder: Path, **more: Any) -> Tally:
    columns: dict[str, Any] = {
        ARRAYS[name]: rows[name] for name in BAD[case][0] if name != "probabilities"
    }
    if "probabilities" in BAD[case][0]:
        columns["y_proba"] = {label: rows[column] for label, column in PROBABILITIES.items()}
    return assay.count(rows["label"], **columns, **more)


def of_numpy(case: str, rows: Mapping[str, list[Any]], folder: Path, **more: Any) -> Tally:
    arrays = {name: np.array(values) for name, values in rows.items()}
    return of_arrays(case, arrays, folder, **more)  # type: ignore[arg-type]


def of_pandas_columns(case: str, rows: Mapping[str, list[Any]], folder: Path, **more: Any) -> Tally:
    arrays = {name: pd.Series(values) for name, values in rows.items()}
    return of_arrays(case, arrays, folder, **more)  # type: ignore[arg-type]


def of_arrow_columns(case: str, rows: Mapping[str, list[Any]], folder: Path, **more: Any) -> Tally:
    arrays = {name: pa.array(values) for name, values in rows.items()}
    return of_arrays(case, arrays, folder, **more)  # type: ignore[arg-type]


def of_frame(case: str, rows: Mapping[str, list[Any]], folder: Path, **more: Any) -> Tally:
    return assay.count(pl.DataFrame(dict(rows), strict=False), label="label", **asked(case), **more)


def of_pandas(case: str, rows: Mapping[str, list[Any]], folder: Path, **more: Any) -> Tally:
    return assay.count(pd.DataFrame(dict(rows)), label="label", **asked(case), **more)


FORMS: dict[str, Callable[..., Tally]] = {
    "lists": of_arrays,
    "numpy": of_numpy,
    "columns of pandas": of_pandas_columns,
    "columns of arrow": of_arrow_columns,
    "polars": of_frame,
    "pandas": of_pandas,
}
FILES = ("rows.csv", "rows.parquet")


def written(name: str, rows: Mapping[str, list[Any]], folder: Path) -> str:
    path = folder / name
    frame = pl.DataFrame(dict(rows), strict=False)
    if name.endswith(".csv"):
        frame.write_csv(path)
    else:
        frame.write_parquet(path)
    return str(path)


def evaluated(path: str, case: str, **more: Any) -> assay.Evaluation:
    return assay.evaluate_files(path, assay.Request(label="label", **asked(case), **more))


def without(rows: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [*values[:3], *values[4:]] for name, values in rows.items()}


@pytest.mark.sampled(30)
@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("form", FORMS)
def test_a_bad_row_is_left_out_for_its_reason(form: str, case: str, tmp_path: Path) -> None:
    rows, count = table(case), FORMS[form]
    tally = count(case, rows, tmp_path, on_bad_row="skip")
    assert dict(tally.refused.reasons) == {BAD[case][3]: 1}
    assert tally.rows == 6
    lists = of_arrays(case, rows, tmp_path, on_bad_row="skip")
    assert tally.asked().to_bytes() == lists.asked().to_bytes()
    left = count(case, without(rows), tmp_path)
    assert tally.decided == left.decided
    assert tally.scores == left.scores
    assert tally.losses == left.losses


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("name", FILES)
def test_files_leave_out_the_same_rows_for_the_same_reasons(
    name: str, case: str, tmp_path: Path
) -> None:
    rows = table(case)
    tally = of_arrays(case, rows, tmp_path, on_bad_row="skip")
    path = written(name, rows, tmp_path)
    reading = Reading([path], assay.Request(label="label", **asked(case), on_bad_row="skip"))
    for collector in reading.pieces():
        collector.take()
    assert reading.reasons == dict(tally.refused.reasons) == {BAD[case][3]: 1}
    evaluation = evaluated(path, case, on_bad_row="skip")
    assert evaluation.source["rows_refused"] == 1
    assert evaluation.tally.confusion == assay.Evaluation(tally).tally.confusion
    assert evaluation.tally.scores == assay.Evaluation(tally).tally.scores


@pytest.mark.parametrize("case", BAD)
def test_a_bad_row_stops_every_form_with_the_same_error(case: str, tmp_path: Path) -> None:
    rows = table(case)
    kinds = set()
    for count in FORMS.values():
        with pytest.raises(InputError) as refused:
            count(case, rows, tmp_path)
        kinds.add(refused.type)
    for name in FILES:
        with pytest.raises(InputError) as refused:
            evaluated(written(name, rows, tmp_path), case)
        kinds.add(refused.type)
    assert len(kinds) == 1


def test_a_row_is_counted_once_by_its_first_reason() -> None:
    truth, scores = ["a", None, None, "b", "a"], [0.9, math.nan, 0.5, math.inf, 0.1]
    for form in (list, np.array, pd.Series, pl.Series):
        left_out, (kept,) = good_rows({"y_true": form(truth), "y_score": form(scores)})
        assert [row for row, _ in left_out.listed] == [2, 3, 4]
        assert left_out.reasons == {"label: missing": 2, "score: not a finite number": 1}
        assert list(kept["y_true"]) == ["a", "a"]
        assert list(kept["y_score"]) == [0.9, 0.1]


def test_masked_values_and_generators_are_columns_with_bad_rows() -> None:
    scores = np.ma.array([0.9, 0.2, 0.1], mask=[False, True, False])
    tally = assay.count([1, 0, 0], y_score=scores, on_bad_row="skip")
    assert dict(tally.refused.reasons) == {"score: not a finite number": 1}
    tally = assay.count(iter([1, None, 0]), y_score=iter([0.9, 0.2, 0.1]), on_bad_row="skip")
    assert dict(tally.refused.reasons) == {"label: missing": 1}


@pytest.mark.parametrize(
    "probabilities",
    [
        [[0.9, 0.1], [0.5, 0.6], [0.2, 0.8]],
        np.array([[0.9, 0.1], [0.5, 0.6], [0.2, 0.8]]),
        pd.DataFrame({"attack": [0.9, 0.5, 0.2], "normal": [0.1, 0.6, 0.8]}),
        pa.table({"attack": [0.9, 0.5, 0.2], "normal": [0.1, 0.6, 0.8]}),
        [0.9, 1.5, 0.2],
    ],
)
def test_probabilities_of_any_kind_have_bad_rows(probabilities: Any) -> None:
    truth = ["attack", "normal", "normal"]
    evaluation = assay.evaluate(truth, y_proba=probabilities, on_bad_row="skip")
    assert (evaluation.source["rows_read"], evaluation.source["rows_refused"]) == (3, 1)
    assert evaluation.confusion.cells == ((1, 0), (0, 1))
    (reason,) = evaluation.source["reasons"]
    assert reason.startswith("probability")
    assert f"1 row was left out: {reason}" in evaluation.notes


@pytest.mark.parametrize("on_bad_row", ["stop", "skip"])
@pytest.mark.parametrize(
    ("role", "values"),
    [
        ("score", [0.9, 0.1, "0.5", 0.2]),
        ("score", ["0.9", " .1", "50%", "2e-1"]),
        ("score", [np.float32(0.9), 0.1, "0.5", Decimal("0.2")]),
        ("score", np.array([b"0.9", b"0.1", b"0.5", b"0.2"])),
        ("count", [1, 2, "3", 1]),
        ("count", ["1", "9007199254740993.0", "3", "1"]),
        ("weight", [1.0, 2.5, "3", 1.0]),
    ],
)
def test_numbers_that_are_text_count_in_arrays_as_in_frames(
    role: str, values: Any, on_bad_row: Any
) -> None:
    truth, score = ["attack", "normal", "attack", "normal"], [0.9, 0.1, 0.5, 0.2]
    arrays: dict[str, Any] = {"y_score": score} | {ARRAYS[role]: values}
    frame: dict[str, Any] = {"label": truth, "score": score} | {role: values}
    named: dict[str, Any] = {"label": "label", "score": "score"} | {role: role}
    evaluation = assay.evaluate(truth, **arrays, on_bad_row=on_bad_row)
    expected = assay.evaluate(frame, **named, on_bad_row=on_bad_row)
    assert evaluation.confusion.cells == expected.confusion.cells
    assert float(evaluation["roc_auc"]) == float(expected["roc_auc"])
    assert not any("left out" in note for note in evaluation.notes)


def test_numbers_of_other_kinds_stay_beside_text_that_is_none() -> None:
    scores = [np.float32(0.5), 0.25, "high", Fraction(1, 4)]
    tally = assay.count([1, 0, 1, 0], y_score=scores, on_bad_row="skip")
    assert dict(tally.refused.reasons) == {"score: not a finite number": 1}


def test_whatever_takes_arrays_leaves_out_bad_rows() -> None:
    truth = ["attack", "normal"] * 50
    good, other = [0.9, 0.1] * 50, [0.8, 0.3, 0.4, 0.2] * 25
    bad, worse = [math.nan, *good[1:]], [*other[:-1], math.inf]
    skip: dict[str, Any] = {"on_bad_row": "skip"}
    assert assay.recall(truth, y_score=bad, **skip).n == 49
    running = assay.RunningTally(**skip).update(y_true=truth, y_score=bad)
    assert running.tally.refused.total == 1
    chosen = assay.choose_threshold(truth, y_score=bad, max_fpr=0.1, resamples=20, **skip)
    assert (chosen.source["rows_read"], chosen.source["rows_refused"]) == (100, 1)
    compared = assay.compare(truth, scores={"a": bad, "b": worse}, resamples=100, **skip)
    assert compared.notes[0] == "2 rows were left out: score: not a finite number"
    fewer = assay.compare(truth[1:-1], scores={"a": bad[1:-1], "b": worse[1:-1]}, resamples=100)
    documents, expected = ([d.to_dict() for d in each.differences] for each in (compared, fewer))
    assert documents == expected
    flipped = compared.flipped("a", "b")
    assert [row.row for row in flipped][:2] == [2, 6]
    judged = assay.gate(truth, new=bad, old=worse, rules="new-old(recall) >= -1", **skip)
    assert judged.rows["rows"] == 98
    assert judged.notes[0] == "2 rows were left out: score: not a finite number"


BAD_SCORES = [[math.nan, 0.2, 0.5, 0.1], [None, 0.2, 0.5, 0.1], ["high", 0.2, 0.5, 0.1]]
SCORED: dict[str, Callable[..., Any]] = {
    "evaluate": lambda truth, bad: assay.evaluate(truth, y_score=bad),
    "count": lambda truth, bad: assay.count(truth, y_score=bad),
    "recall": lambda truth, bad: assay.recall(truth, y_score=bad),
    "update": lambda truth, bad: assay.RunningTally().update(y_true=truth, y_score=bad),
    "choose_threshold": lambda truth, bad: assay.choose_threshold(truth, y_score=bad, max_fpr=0.1),
    "compare": lambda truth, bad: assay.compare(truth, scores={"a": [0.5] * 4, "b": bad}),
    "gate": lambda truth, bad: assay.gate(truth, new=bad, rules="new(recall) >= 0"),
}


@pytest.mark.parametrize("function", SCORED)
@pytest.mark.parametrize("bad", BAD_SCORES)
def test_a_function_that_can_leave_out_bad_rows_says_so(function: str, bad: list[Any]) -> None:
    truth = ["attack", "normal", "attack", "normal"]
    with pytest.raises(
        ScoreError, match=r"row 1 \(counted from 1\).*\. on_bad_row='skip' leaves out such rows$"
    ):
        SCORED[function](truth, bad)
    with pytest.raises(LabelError, match=r"y_true is missing .* on_bad_row='skip' leaves"):
        SCORED[function]([None, *truth[1:]], [0.9, 0.2, 0.5, 0.1])


@pytest.mark.parametrize(
    "columns",
    [
        {"y_score": [0.5, 0.2], "counts": [1, -1]},
        {"y_score": [0.5, 0.2], "sample_weight": [math.nan, 1]},
        {"y_proba": [[0.5, 0.6], [0.5, 0.5]]},
        {"y_pred": ["attack", None]},
    ],
)
def test_bad_rows_of_every_column_can_be_left_out(columns: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="on_bad_row='skip' leaves out such rows"):
        assay.evaluate(["attack", "normal"], **columns)


@pytest.mark.parametrize(
    "columns",
    [
        {"y_score": [0.5, math.nan, 0.1]},
        {"y_score": np.ones((2, 2))},
        {"y_score": np.array([1j, 0.5])},
        {"y_score": iter([0.5, None])},
        {"y_score": [0.5, 0.2], "threshold": math.nan},
        {"y_score": [0.5, 0.2], "positive": "worm"},
    ],
)
def test_nothing_is_said_of_bad_rows_where_leaving_them_out_does_not_help(
    columns: dict[str, Any],
) -> None:
    with pytest.raises(InputError) as refused:
        assay.evaluate(["attack", "normal"], **columns)
    assert "on_bad_row" not in str(refused.value)


def test_a_function_that_stops_at_bad_rows_does_not_name_the_option() -> None:
    with pytest.raises(ScoreError, match="missing in row 2") as refused:
        resolved_arrays(["attack", "normal"], y_score=[0.5, None])
    assert "on_bad_row" not in str(refused.value)


def test_what_is_no_choice_and_what_leaves_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="on_bad_row= is stop or skip; found 'drop'"):
        assay.evaluate([1, 0], y_score=[0.1, 0.2], on_bad_row="drop")  # type: ignore[arg-type]
    with pytest.raises(
        EmptyInput, match=r"all 2 rows were refused; of row 1 \(counted from 1\) column 'y_score'"
    ):
        assay.evaluate([1, 0], y_score=[math.nan] * 2, on_bad_row="skip")
    with pytest.raises(AssayError, match="y_score has 1 row and y_true has 2"):
        assay.evaluate([1, 0], y_score=[0.5], on_bad_row="skip")
    with pytest.raises(AssayError, match=r"found the number 0\.5"):
        assay.evaluate([0.5, 1.0], y_score=[0.5, 0.2], on_bad_row="skip")


def test_a_cluster_that_is_called_missing_is_one() -> None:
    evaluation = assay.evaluate([0, 1] * 4, y_pred=[0, 1] * 4, clusters=["(missing)", "b"] * 4)
    assert evaluation.tally.clusters.clusters == ("(missing)", "b")


@pytest.mark.parametrize("library", [pl, pd])
def test_clusters_of_numbers_are_missing_where_they_are_none(library: Any) -> None:
    frame = library.DataFrame(
        {"y": [0, 1, 1, 0], "p": [0, 1, 0, 1], "floor": [1.0, 2, math.nan, 1]}
    )
    roles = {"label": "y", "decision": "p", "cluster": "floor"}
    with pytest.raises(InputError, match=r"row 3: column 'floor': the cluster is missing\. Give"):
        assay.evaluate(frame, **roles)
    assert assay.evaluate(frame, **roles, on_bad_row="skip").source["rows_refused"] == 1


def test_groups_of_folds_are_told_of_every_row() -> None:
    rows = np.random.default_rng(0).random((20, 2))
    model, groups = DummyClassifier(), ["a", "b", "c", None] * 5
    with pytest.raises(InputError, match=r"groups is missing in 5 of 20 rows; the first is row 4"):
        assay.evaluate_model(model, rows, [0, 1] * 10, cv=2, groups=groups)
