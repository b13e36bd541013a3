"""Models in columns of one query: counted in its database as the rows of a file are."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.decisions.compare import comparing
from assay.decisions.compare.comparing import compare_files
from assay.engines import queries
from assay.errors import EmptyInput, InputError, ScoreError
from assay.sources.files import Model, Request

ROWS = 4_000
MODELS = [Model("old", "before"), Model("new", "after"), Model("third", "Odd `name`")]
QUERY = "select * from flows"


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    rng = np.random.default_rng(21)
    truth = rng.random(ROWS) < 0.2
    scores = {
        model.column: np.clip(rng.normal(0.3 + shift * truth, 0.25), 0, 1)
        for model, shift in zip(MODELS, (0.2, 0.3, 0.1), strict=True)
    }
    return pl.DataFrame(
        {
            "label": truth.astype(int),
            "family": np.where(truth, rng.choice(["dos", "scan"], ROWS), "benign"),
            **scores,
        }
    ).with_columns(after=pl.when(pl.int_range(pl.len()) % 50 > 0).then("after"))


SKIP = Request(family="family", on_bad_row="skip")


def document(given: str, request: Request | None = None, **options: Any) -> dict[str, Any]:
    compared = compare_files([given], request or SKIP, MODELS, mode="grid", resamples=50, **options)
    return {
        "comparison": json.loads(json.dumps(compared.comparison.to_dict())),
        "rows": (compared.rows.rows_read, compared.rows.rows_refused, compared.rows_used),
    }


@pytest.mark.sampled(1)
def test_a_comparison_is_that_of_a_file(place: str, frame: pl.DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "flows.parquet"
    frame.write_parquet(file)
    expected = document(str(file))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "read_models", None)
        patch.setattr(comparing.ModelReading, "lots", None)
        assert document(f"{place}?{QUERY}") == expected
        at = {"threshold": {"old": 0.4, "new": 0.6, "third": 0.5}}
        asked = document(f"{place}?{QUERY}", **at)
    assert asked == document(str(file), **at)


@pytest.mark.sampled(1)
def test_pairs_are_kept_as_finely_as_those_of_rows(
    place: str, frame: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "flows.parquet"
    frame.write_parquet(file)
    for module in ("queries", "models"):
        monkeypatch.setattr(f"assay.engines.{module}.MOST_PAIRS", 500)
    assert document(f"{place}?{QUERY}") == document(str(file))


def test_a_threshold_that_is_chosen_is_chosen_on_rows(place: str) -> None:
    chosen = document(f"{place}?{QUERY}", at="max-fpr=0.1")
    assert chosen["rows"][0] == ROWS


@pytest.mark.sampled(1)
def test_few_rows_are_read(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries.ModelQuery, "fill", None)
    compared = compare_files([f"{place}?{QUERY} where after is not null"], Request(), MODELS)
    assert compared.matched is not None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["bigint", "double precision"])
def test_whole_numbers_that_may_be_decisions_are_read(
    place: str, kind: str, frame: pl.DataFrame, tmp_path: Path
) -> None:
    flags = [
        f"CAST(CASE WHEN {name} >= 0.5 THEN 1 ELSE 0 END AS {kind}) AS {name}"
        for name in ("before", '"Odd `name`"')
    ]
    query = f"select label, family, coalesce(after, 0.5) as after, {', '.join(flags)} from flows"
    file = tmp_path / "flows.parquet"
    flagged = pl.col("before", "Odd `name`") >= 0.5
    frame.with_columns(flagged.cast(int), pl.col("after").fill_null(0.5)).write_parquet(file)
    pairs = [(MODELS[0], MODELS[2]), MODELS[:2]]
    for models in pairs:
        asked = {"mode": "grid", "resamples": 50}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(queries.ModelQuery, "fill", None)
            there = _answer(f"{place}?{query}", models, asked)
        assert there == _answer(str(file), models, asked)


def _answer(given: str, models: Any, asked: Any) -> Any:
    try:
        return compare_files([given], SKIP, models, **asked).comparison.to_dict()
    except InputError as error:
        return str(error).replace(given, "the input")


def test_a_bad_label_stops_the_count_or_is_left_out(place: str) -> None:
    query = f'{place}?select nullif(label, 1) as label, before, after, "Odd `name`" from flows'
    with pytest.raises(InputError, match="rows can't be used, such as one with column 'label'"):
        document(f"{query} where after is not null", Request())


def test_a_score_that_is_missing_stops_the_count(place: str) -> None:
    with pytest.raises(ScoreError, match=r"80 of 4,000 rows can't be used.*on_bad_row='skip'"):
        document(f"{place}?{QUERY}", Request())


@pytest.mark.parametrize("odd", ["inf", "-inf", "nan", "", "n/a"])
@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_a_bad_score_of_a_file_stops_the_count_too(odd: str, mode: str, tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    rows = [f"{i % 2},{i / 1999},{1 - i / 1999}" for i in range(1999)]
    file.write_text("\n".join(["label,before,after", *rows, f"1,{odd},0.5", "0,0.25,0.125"]))
    models = MODELS[:2]

    def compared(on_bad_row: Any) -> Any:
        request = Request(on_bad_row=on_bad_row)
        return compare_files([str(file)], request, models, mode=mode, resamples=50)

    with pytest.raises(ScoreError, match=r"line 2001\b.*column 'before'.*on_bad_row='skip'"):
        compared("stop")
    left = compared("skip")
    assert (left.rows.rows_read, left.rows.rows_refused, left.rows_used) == (2001, 1, 2000)


@pytest.mark.parametrize("odd", ["0.25", "n/a"])
def test_a_text_behind_many_numbers_of_sqlite_is_read_as_in_a_file(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "_SAMPLE", 100)
    rows = [(i % 2, i / 1999, i * 37 % 1999 / 1999) for i in range(1999)]
    rows += [(0, odd, 0.75)] * 50  # type: ignore[list-item]
    path, file = tmp_path / "flows.db", tmp_path / "flows.csv"
    file.write_text("\n".join(["label,before,after", *(f"{a},{b},{c}" for a, b, c in rows)]))
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE flows (label, before, after)")
        connection.executemany("INSERT INTO flows VALUES (?, ?, ?)", rows)
    connection.close()
    there, expected = (
        compare_files([given], Request(on_bad_row="skip"), MODELS[:2], mode="grid", resamples=50)
        for given in (f"sqlite:{path}?{QUERY}", str(file))
    )
    assert there.rows_used == expected.rows_used == (2049 if odd == "0.25" else 1999)
    assert there.comparison.to_dict() == expected.comparison.to_dict()


def test_a_word_among_whole_numbers_of_a_later_lot_stops_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.sources.files.several_models.LOT", 1)
    files = [tmp_path / name for name in ("a.csv", "b.csv")]
    rows = [f"{i % 2},{i / 1999},{1 - i / 1999}" for i in range(1999)]
    files[0].write_text("\n".join(["label,before,after", *rows]))
    files[1].write_text("label,before,after\n0,0,1\n1,n/a,1\n1,1,1\n")
    given = [str(file) for file in files]
    with pytest.raises(ScoreError, match=r"b.csv, line 3: column 'before': found 'n/a'"):
        compare_files(given, Request(), MODELS[:2], mode="grid", resamples=50)
    monkeypatch.setattr(comparing, "read_models", None)
    skip = Request(on_bad_row="skip")
    left = compare_files(given, skip, MODELS[:2], mode="grid", resamples=50)
    assert (left.rows.rows_read, left.rows.rows_refused, left.rows_used) == (2002, 1, 2001)


def test_no_row_that_is_left_is_an_error(place: str) -> None:
    with pytest.raises(EmptyInput, match="is left"):
        document(f"{place}?{QUERY} where after is null or after * 0 <> 0")
