"""Tables of folds."""

import io
import math
from pathlib import Path

import polars as pl
import pytest

from assay.errors import EmptyInput, InputError, ScoreError
from assay.sources.files import Request
from assay.sources.files.summary_tables import read_folds

TEXT = "model,repeat,fold,n_train,n_test,f1\nold,1,01,80,20,0.5\nnew,1,01,80,20,\n"


def test_names_are_text_and_everything_else_is_numbers() -> None:
    columns = read_folds("-", stdin=io.BytesIO(TEXT.encode())).columns
    assert columns["model"] == ["old", "new"]
    assert columns["fold"] == ["01", "01"]
    assert columns["n_train"] == [80, 80]
    assert columns["f1"][0] == 0.5
    assert math.isnan(columns["f1"][1])


def test_files_of_a_folder_that_are_not_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "folds.csv").write_text(TEXT)
    (tmp_path / "folds.json").write_text("[]")
    assert "1 file was left out (folds.json)" in read_folds(str(tmp_path)).notes[0]


@pytest.mark.parametrize("rows", [1, 1000])
def test_every_format_gives_the_same(tmp_path: Path, rows: int) -> None:
    frame = pl.DataFrame(
        {"model": ["a", "b"], "repeat": [1, 1], "fold": [2, 2], "accuracy": [0.5, None]}
    )
    frame.write_parquet(tmp_path / "folds.parquet")
    frame.write_ndjson(tmp_path / "folds.jsonl")
    for name in ("folds.parquet", "folds.jsonl"):
        columns = read_folds(str(tmp_path / name), Request(batch_rows=rows)).columns
        assert columns["fold"] == ["2", "2"]
        assert columns["accuracy"][0] == 0.5
        assert math.isnan(columns["accuracy"][1])


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("fold,f1\n1,0.5\n", InputError, "no column 'model'"),
        ("model,f1\n", EmptyInput, "no folds"),
        ("model,f1\na,0.5\n,0.5\n", InputError, "line 3: column 'model': the model is missing"),
        ("model,f1\na,good\n", ScoreError, "line 2: column 'f1': found 'good'"),
        ("model,f1\na,inf\n", ScoreError, "found 'inf', expected a finite number"),
        ("model,f1\na\n", InputError, "line 2"),
    ],
)
def test_what_is_no_table_of_folds_is_refused(text: str, error: type, said: str) -> None:
    with pytest.raises(error, match=said):
        read_folds("-", stdin=io.BytesIO(text.encode()))
