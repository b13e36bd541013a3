"""Frames of every library give the evaluation that arrays give."""

import math
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import assay
from assay.errors import AssayError, InputError, LabelError, ScoreError
from assay.sources.files import Request
from assay.tally import Tally

ROWS = 400
_RNG = np.random.default_rng(3)
FRAME = pl.DataFrame(
    {
        "y": _RNG.choice(["attack", "normal"], ROWS),
        "p": _RNG.random(ROWS).round(2),
        "said": _RNG.choice(["attack", "normal"], ROWS),
        "n": _RNG.integers(0, 4, ROWS),
        "w": _RNG.random(ROWS).round(1) + 0.5,
        "host": _RNG.choice(["a", "b", "c"], ROWS),
        "kind": _RNG.choice(["worm", "scan"], ROWS),
        "time": [f"2026-11-{i % 20 + 1:02}" for i in range(ROWS)],
    }
)

FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "polars, lazy": lambda frame: frame.lazy(),
    "polars, in chunks": lambda frame: pl.concat([frame[:50], frame[50:]], rechunk=False),
    "pandas": lambda frame: frame.to_pandas(),
    "pandas, by Arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pandas, objects": lambda frame: pd.DataFrame(frame.to_dict(as_series=False), dtype=object),
    "pandas, odd index": lambda frame: frame.to_pandas().set_index(np.arange(len(frame))[::-1]),
    "pandas, categories": lambda frame: frame.to_pandas().astype({"y": "category"}),
    "Arrow table": lambda frame: frame.to_arrow(),
    "Arrow batch": lambda frame: pa.RecordBatch.from_pydict(
        frame.to_dict(as_series=False), schema=frame.to_arrow().schema
    ),
    "Arrow reader": lambda frame: frame.to_arrow().to_reader(7),
    "Arrow dataset": lambda frame: pyarrow.dataset.dataset(frame.to_arrow()),
    "Arrow scanner": lambda frame: pyarrow.dataset.dataset(frame.to_arrow()).scanner(),
    "Dask": lambda frame: dd.from_pandas(frame.to_pandas(), npartitions=5),
    "mapping of lists": lambda frame: frame.to_dict(as_series=False),
    "mapping of arrays": lambda frame: {name: frame[name].to_numpy() for name in frame.columns},
}

# Named columns of a frame, and the same columns as arrays.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "score": ({"score": "p"}, {"y_score": FRAME["p"]}),
    "decision": ({"decision": "said"}, {"y_pred": FRAME["said"]}),
    "both": ({"score": "p", "decision": "said"}, {"y_score": FRAME["p"], "y_pred": FRAME["said"]}),
    "threshold": ({"score": "p", "threshold": 0.7}, {"y_score": FRAME["p"], "threshold": 0.7}),
    "count": ({"score": "p", "count": "n"}, {"y_score": FRAME["p"], "counts": FRAME["n"]}),
    "weight": ({"score": "p", "weight": "w"}, {"y_score": FRAME["p"], "sample_weight": FRAME["w"]}),
    "cluster": (
        {"score": "p", "cluster": "host"},
        {"y_score": FRAME["p"], "clusters": FRAME["host"]},
    ),
    "slices": (
        {"score": "p", "slices": ["host"], "family": "kind"},
        {"y_score": FRAME["p"], "slices": {"host": FRAME["host"], "kind": FRAME["kind"]}}
        | {"family": "kind"},
    ),
    "time": ({"score": "p", "time": "time"}, {"y_score": FRAME["p"], "times": FRAME["time"]}),
    "negative": (
        {"score": "p", "negative": "attack"},
        {"y_score": FRAME["p"], "negative": "attack"},
    ),
}


def document(evaluation: Any) -> str:
    kept = evaluation.to_dict()
    del kept["source"]
    return repr(kept)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", CASES)
def test_named_columns_give_what_arrays_give(case: str) -> None:
    named, arrays = CASES[case]
    expected = document(assay.evaluate(FRAME["y"], **arrays))
    assert document(assay.evaluate(FRAME, label="y", **named)) == expected


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_of_any_library_gives_the_same_bytes(kind: str) -> None:
    columns = {"label": "y", "score": "p", "slices": ["host"], "count": "n", "time": "time"}
    whole = assay.count(FRAME, **columns)
    assert assay.count(FRAMES[kind](FRAME), **columns).to_bytes() == whole.to_bytes()
    assert whole.rows == ROWS


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_without_rows_is_said_to_be_empty(kind: str) -> None:
    with pytest.raises(AssayError, match="no rows"):
        assay.evaluate(FRAMES[kind](FRAME[:0]), label="y", score="p")


@pytest.mark.sampled(20)
@pytest.mark.parametrize("kind", [*FRAMES, "DuckDB"])
@pytest.mark.parametrize("role", ["score", "decision", "weight"])
def test_a_label_is_nothing_else(kind: str, role: str) -> None:
    make = FRAMES.get(kind, lambda frame: duckdb.from_arrow(frame.to_arrow()))
    with pytest.raises(InputError, match=f"'y' can't be the label and the {role} at once"):
        assay.count(make(FRAME), **{"label": "y", "decision": "said", role: "y"})


def test_tallies_of_frames_and_arrays_add() -> None:
    part = assay.count(FRAME[:100], label="y", score="p")
    rest = assay.count(FRAME[100:].to_pandas(), label="y", score="p")
    arrays = assay.count(FRAME["y"], y_score=FRAME["p"])
    assert (part + rest).to_bytes() == assay.count(FRAME, label="y", score="p").to_bytes()
    assert (part + rest + arrays).rows == 2 * ROWS


def test_probabilities_of_several_labels() -> None:
    frame = pl.DataFrame(
        {"y": ["x", "y", "z"] * 4, "a": [0.5, 0.2, 0.1] * 4, "b": [0.3, 0.5, 0.2] * 4}
    ).with_columns((1 - pl.col("a") - pl.col("b")).alias("c"))
    names = {"x": "a", "y": "b", "z": "c"}
    arrays = {label: frame[name] for label, name in names.items()}
    for side in ({}, {"positive": "x"}, {"negative": "x"}):
        expected = document(assay.evaluate(frame["y"], y_proba=arrays, **side))
        evaluation = assay.evaluate(frame, label="y", probabilities=names, **side)
        assert document(evaluation) == expected


def test_rows_left_out_are_counted_and_noted() -> None:
    odd = FRAME.with_columns(pl.when(pl.col("p") < 0.1).then(None).otherwise("p").alias("p"))
    left_out = odd["p"].null_count()
    with pytest.raises(ScoreError, match=r"row .* column 'p': found nothing"):
        assay.evaluate(odd, label="y", score="p")
    evaluation = assay.evaluate(odd, label="y", score="p", on_bad_row="skip")
    assert evaluation.to_dict()["source"]["rows_refused"] == left_out
    assert evaluation.to_dict()["source"]["rows_used"] == ROWS - left_out
    assert f"{left_out} rows were left out: score: not a finite number" in evaluation.notes


def test_only_files_are_told_how_to_keep_rows_without_a_label(tmp_path: Path) -> None:
    odd = FRAME.with_columns(pl.when(pl.col("p") < 0.1).then(None).otherwise("y").alias("y"))
    for rows in (odd, odd.to_pandas(), duckdb.from_arrow(odd.to_arrow())):
        with pytest.raises(LabelError, match=r"'y': the label is missing\. "):
            assay.count(rows, label="y", score="p")
    odd.write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(LabelError, match="unlabelled='allow' keeps rows without one"):
        assay.evaluate_files(tmp_path / "rows.parquet", assay.Request(label="y", score="p"))


@pytest.mark.parametrize("kind", ["polars", "pandas", "Arrow reader", "Dask"])
def test_rows_that_were_all_left_out_are_told_with_the_reason(kind: str) -> None:
    odd = FRAMES[kind](FRAME.with_columns(p=pl.lit("high")))
    told = r"all 400 rows were refused: score: not a finite number \(400\)"
    with pytest.raises(AssayError, match=told):
        assay.evaluate(odd, label="y", score="p", on_bad_row="skip")


def test_duckdb_counts_its_own_rows() -> None:
    columns = {"label": "y", "score": "p", "slices": ["host"]}
    with duckdb.connect() as connection:
        relation = connection.from_arrow(FRAME.to_arrow())
        assert assay.count(relation, **columns) == assay.count(FRAME, **columns)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"has several columns: say which is which, evaluate\(frame, label="),
        ({"score": "p"}, "label= is missing"),
        ({"label": "y"}, "score=, decision= or probabilities="),
        ({"label": "y", "y_score": [0.5]}, "give score= with the name of its column"),
        ({"label": "y", "score": "p", "clusters": [1]}, "give cluster= with the name"),
        ({"label": "Y", "score": "p"}, "no column 'Y'; did you mean 'y'"),
        ({"label": "y", "score": "q"}, "no column 'q'"),
        ({"label": FRAME["y"], "score": "p"}, "label= is the name of a column, as text; found Ser"),
        ({"label": "y", "score": FRAME["p"]}, "columns themselves are given as y_score="),
        ({"label": "y", "score": "p", "slices": {"host": "host"}}, "slices= are names"),
        ({"label": "y", "probabilities": ["p"]}, "maps a label to the name of its column"),
        ({"label": "y", "score": "p", "unknown": "x"}, "unknown= is judged from arrays"),
        ({"label": "y", "score": "p", "on_bad_row": "drop"}, "is stop or skip; found 'drop'"),
        ({"label": "y", "decision": "said", "threshold": 0.5}, "threshold= decides on score="),
        (
            {"label": "y", "score": "p", "probabilities": {"attack": "p"}},
            "give score= or probabilities=, not both",
        ),
    ],
)  # fmt: skip
def test_what_is_said_wrong_is_told(given: dict[str, Any], message: str) -> None:
    with pytest.raises(AssayError, match=message):
        assay.evaluate(FRAME, **given)


def test_count_refuses_a_word_that_it_does_not_read() -> None:
    with pytest.raises(InputError, match="scores is not read; of a frame there are label, score"):
        assay.count(FRAME, label="y", scores="p")


def test_columns_of_one_name_are_refused() -> None:
    twice = pd.DataFrame([["attack", 0.5, 0.2]], columns=["y", "p", "p"])
    with pytest.raises(InputError, match="several columns called 'p'"):
        assay.evaluate(twice, label="y", score="p")


@pytest.mark.parametrize("make", [pd.DataFrame, dict])
def test_columns_whose_names_are_no_text_are_named_as_they_are_written(make: Any) -> None:
    labels, scores = ["attack", "normal"], [0.9, 0.2]
    tally = assay.count({"y": labels, "p": scores}, label="y", score="p")
    assert assay.count(make({0: labels, 1: scores}), label="0", score="1") == tally
    deep = make({("a", "y"): labels, ("a", "p"): scores})
    assert assay.count(deep, label="('a', 'y')", score="('a', 'p')") == tally
    with pytest.raises(InputError, match="several columns called '1'"):
        assay.count(make({0: labels, 1: scores, "1": scores}), label="0", score="1")


def test_labels_of_several_kinds_in_a_column_of_objects_are_refused() -> None:
    frame = pd.DataFrame({"y": ["attack", 1], "p": [0.5, 0.2]}, dtype=object)
    with pytest.raises(LabelError, match="'y'"):
        assay.evaluate(frame, label="y", score="p")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("p", [0.9, "0.1", 0.8, "n/a"]),
        ("p", [0.9, 2**130, None, pd.NA]),
        ("p", [0.9, 1j, 0.8, 0.1]),
        ("y", [1, "1", True, "a"]),
        ("y", pd.Categorical([1, "x", 1, "x"])),
    ],
)
def test_values_of_several_kinds_are_read_as_those_of_a_list_are(column: str, values: Any) -> None:
    given = {"y": ["attack", "normal"] * 2, "p": [0.9, 0.2, 0.8, 0.1], column: list(values)}
    odd = pd.DataFrame(given, dtype=object) if isinstance(values, list) else pd.DataFrame(given)
    odd[column] = values if isinstance(values, pd.Categorical) else odd[column]

    def counted(rows: Any) -> Any:
        try:
            return assay.count(rows, label="y", score="p", on_bad_row="skip")
        except InputError as error:
            return str(error)

    assert counted(odd) == counted(given)


def test_complex_scores_are_refused() -> None:
    frame = pd.DataFrame({"y": ["attack", "normal"], "p": [0.5 + 0j, 0.2 + 0j]})
    with pytest.raises(ScoreError, match="expected a finite number"):
        assay.count(frame, label="y", score="p")


class Convertible:
    def to_pandas(self) -> None: ...


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (Convertible(), r"Convertible is not read as a frame, but what its \.to_pandas\(\) gives"),
        (object(), "object is not read as a frame. Read are those of pandas, polars"),
        ("rows.csv", "'rows.csv' is a name: read files with assay.evaluate_files"),
        (FRAME["y"], "this is one column"),
        ([1, 0], "list is not read as a frame"),
    ],
)
def test_what_is_no_frame_is_told_with_what_would_be(rows: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        assay.evaluate(rows, label="y", score="p")


@pytest.mark.parametrize(
    ("module", "conversion"),
    [
        ("cudf.core.dataframe", r"\.to_arrow\(\)"),
        ("ibis.expr.types.relations", r"\.to_polars\(\)"),
        ("pyspark.pandas.frame", r"\.to_spark\(\)"),
        ("snowflake.snowpark.dataframe", r"\.to_pandas\(\)"),
    ],
)
def test_frames_of_other_libraries_name_their_conversion(module: str, conversion: str) -> None:
    rows = type("DataFrame", (), {"__module__": module})()
    with pytest.raises(InputError, match=f"what its {conversion} gives"):
        assay.evaluate(rows, label="y", score="p")


def test_a_lazy_frame_is_never_held_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.engines.frames.PIECE", 50)
    monkeypatch.setattr(pl.LazyFrame, "collect", _never)
    assert assay.count(FRAME.lazy(), label="y", score="p") == assay.count(
        FRAME, label="y", score="p"
    )


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError("the whole frame was collected")


def test_a_frame_of_one_column_is_a_column() -> None:
    expected = assay.count(FRAME["y"], y_score=FRAME["p"])
    assert assay.count(FRAME.select("y"), y_score=FRAME["p"]) == expected


def test_no_library_is_imported_for_a_frame_of_another() -> None:
    import subprocess

    code = (
        "import sys, assay, polars as pl;"
        "assay.evaluate(pl.DataFrame({'y': [1, 0], 'p': [0.9, 0.2]}), label='y', score='p');"
        "names = ('pandas', 'pyarrow', 'dask', 'ray', 'pyspark', 'duckdb');"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_tally_comes_out() -> None:
    assert isinstance(assay.count(FRAME, label="y", score="p"), Tally)


# -- how scores are kept ---------------------------------------------------------------------------


@pytest.mark.sampled(8)
@pytest.mark.parametrize("mode", ["auto", "exact", "cuts", "grid"])
@pytest.mark.parametrize("kind", ["polars", "polars, lazy", "pandas", "Arrow dataset", "Dask"])
def test_the_mode_says_how_scores_are_kept(mode: str, kind: str) -> None:
    columns = {"label": "y", "score": "p", "mode": mode}
    evaluation = assay.evaluate(FRAMES[kind](FRAME), **columns)
    assert evaluation.to_dict()["mode"] == ("exact" if mode == "auto" else mode)
    exact = assay.evaluate(FRAME["y"], y_score=FRAME["p"])
    assert evaluation["roc_auc"].value == pytest.approx(exact["roc_auc"].value, abs=1e-5)


def test_auto_says_what_it_kept_where_memory_is_short() -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"y": rng.choice(["attack", "normal"], 800_000), "p": rng.random(800_000)})
    evaluation = assay.evaluate(frame.lazy(), label="y", score="p", max_memory=1 << 24)
    assert evaluation.to_dict()["mode"] in ("cuts", "grid")
    assert any("did not" in note and "memory" in note for note in evaluation.notes)


@pytest.mark.parametrize("kind", ["polars", "pandas", "Arrow dataset", "DuckDB"])
def test_too_little_memory_is_refused_as_it_is_for_files(kind: str) -> None:
    make = FRAMES.get(kind, lambda frame: duckdb.from_arrow(frame.to_arrow()))
    for limit in (0, -5, (1 << 24) - 1):
        with pytest.raises(InputError, match="max_memory= must be 16 MiB at least"):
            assay.count(make(FRAME), label="y", score="p", max_memory=limit)
    with pytest.raises(InputError, match="a number of bytes; found '1GB'"):
        assay.count(make(FRAME), label="y", score="p", max_memory="1GB")


def test_a_reader_comes_once() -> None:
    with pytest.raises(InputError, match=r"these come once: .* give the table"):
        assay.evaluate(FRAMES["Arrow reader"](FRAME), label="y", score="p", mode="cuts")


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(InputError, match="mode= is one of auto, exact, cuts, grid; found 'bins'"):
        assay.evaluate(FRAME, label="y", score="p", mode="bins")
    with pytest.raises(InputError, match="those of columns are all kept: leave it out"):
        assay.evaluate([1, 0], y_score=[0.5, 0.2], mode="grid")


def test_rows_that_are_left_out_are_told_alike_of_frames_files_and_queries(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"label": ["attack", "normal", None, "attack"] * 5, "score": [0.9, 0.1, 0.5, None] * 5}
    )
    frame.write_parquet(tmp_path / "rows.parquet")
    with sqlite3.connect(tmp_path / "rows.db") as flows:
        flows.execute("create table flows (label, score)")
        flows.executemany("insert into flows values (?, ?)", frame.rows())
    request = Request(on_bad_row="skip")
    asked = [str(tmp_path / "rows.parquet"), f"sqlite:{tmp_path / 'rows.db'}?select * from flows"]
    told = assay.evaluate(frame, label="label", score="score", on_bad_row="skip").notes
    assert told[:2] == (
        "5 rows were left out: label: missing",
        "5 rows were left out: score: not a finite number",
    )
    for name in asked:
        assert assay.evaluate_files(name, request).notes == told
        choice = assay.choose_threshold_files(name, request, max_fpr=0.5)
        assert choice.notes[:2] == told[:2]


def test_rows_that_were_left_out_are_told_by_their_reason(tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": [0, 1, 1, 0, 1], "p": [0.1, 0.9, None, 0.2, math.nan]})
    of_frame = assay.evaluate(frame, label="y", score="p", on_bad_row="skip")
    of_arrays = assay.evaluate(frame["y"], y_score=frame["p"], on_bad_row="skip")
    for evaluation in (of_frame, of_arrays):
        source = evaluation.to_dict()["source"]
        assert (source["rows_read"], source["rows_used"], source["rows_refused"]) == (5, 3, 2)
        assert source["reasons"] == {"score: not a finite number": 2}
        assert [each["row"] for each in source["refused"]] == [3, 5]
        assert all("expected a finite number" in each["reason"] for each in source["refused"])
        report = evaluation.save(tmp_path / "report.md").read_text()
        assert "2 of 5 rows were refused" in report
        assert "are listed" not in report


@pytest.mark.parametrize("mode", ["exact", "cuts", "grid"])
@pytest.mark.parametrize("form", ["pandas", "polars", "lazy", "arrow", "reader", "dict"])
def test_refused_rows_of_a_frame_are_listed_by_their_number(
    form: str, mode: str, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"y": [0, 1] * 300, "p": [0.25, 0.75] * 300})
    frame = frame.with_columns(p=pl.when(pl.row_index() % 3 == 1).then(None).otherwise("p"))
    forms: dict[str, Callable[[], Any]] = {
        "pandas": frame.to_pandas,
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "arrow": frame.to_arrow,
        "reader": lambda: pyarrow.dataset.dataset(frame.to_arrow()),
        "dict": lambda: frame.to_dict(as_series=False),
    }
    evaluation = assay.evaluate(forms[form](), label="y", score="p", on_bad_row="skip", mode=mode)
    source = evaluation.to_dict()["source"]
    assert source["rows_refused"] == 200
    assert [each["row"] for each in source["refused"]] == list(range(2, 301, 3))
    assert {tuple(each) for each in source["refused"]} == {("row", "reason")}
    assert "file" not in evaluation.save(tmp_path / "report.csv").read_text().split("Refused")[-1]
    report = evaluation.save(tmp_path / "report.md").read_text()
    assert "200 of 600 rows were refused; the first 100 are listed" in report
    assert "| row | reason |" in " ".join(report.split())


def test_a_tally_does_not_know_the_numbers_of_refused_rows() -> None:
    rows = {"y": [0, 1, 1], "p": [0.1, 0.9, None]}
    turned = {name: values[::-1] for name, values in rows.items()}
    one, other = (
        assay.count(each, label="y", score="p", on_bad_row="skip") for each in (rows, turned)
    )
    assert one.to_bytes() == other.to_bytes()


def test_rows_that_a_database_groups_have_no_numbers() -> None:
    rows = duckdb.sql("select * from (values (0, 0.1), (1, 0.9), (1, null)) as t (y, p)")
    source = assay.evaluate(rows, label="y", score="p", on_bad_row="skip").to_dict()["source"]
    assert source["refused"] == []
    assert source["reasons"] == {"score: not a finite number": 1}


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_threshold_lists_the_refused_rows_of_arrays_and_frames(as_frame: bool) -> None:
    rows = {"y": [0, 1, 1, 0, 1] * 20, "p": [0.1, 0.9, None, 0.2, 0.8] * 20}
    if as_frame:
        choice = assay.choose_threshold(rows, label="y", score="p", max_fpr=0.5, on_bad_row="skip")
    else:
        choice = assay.choose_threshold(
            rows["y"], y_score=rows["p"], max_fpr=0.5, on_bad_row="skip"
        )
    assert [each["row"] for each in choice.source["refused"]] == list(range(3, 101, 5))
