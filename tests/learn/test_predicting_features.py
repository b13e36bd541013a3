"""Rows to predict for, read in pieces."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay.errors import InputError, ScoreError
from assay.learn.predicting import read_pieces
from assay.sources.files import Request


def written(folder: Path, text: str, name: str = "rows.csv") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_columns_come_in_the_order_of_the_model(tmp_path: Path) -> None:
    file = written(tmp_path, "c,b,a\n9,x,1\n9,,\n")
    (piece,) = read_pieces(file, ["a", "b"], {"a"})
    assert piece.frame.schema == {"a": pl.Float64, "b": pl.String}
    assert piece.frame.rows() == [(1.0, "x"), (None, None)]


def test_numbers_where_text_was_learned_are_written_plainly(tmp_path: Path) -> None:
    pl.DataFrame({"port": [80.0, 443.0], "code": [1, 2]}).write_parquet(tmp_path / "r.parquet")
    (piece,) = read_pieces(str(tmp_path / "r.parquet"), ["port", "code"], set())
    assert piece.frame.rows() == [("80", "1"), ("443", "2")]


def test_text_where_a_number_is_expected_is_refused_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "a,id\n1,u\nabc,v\ninf,w\ntrue,x\n")
    with pytest.raises(ScoreError, match="line 3: column 'a': found 'abc', expected a number"):
        list(read_pieces(file, ["a"], {"a"}))
    (piece,) = read_pieces(file, ["a"], {"a"}, keep=["id"], request=Request(on_bad_row="skip"))
    assert piece.frame["a"].to_list() == [1.0, np.inf, 1.0]
    assert piece.kept["id"].to_list() == ["u", "w", "x"]
    assert piece.rows.tolist() == [1, 3, 4]
    assert piece.rows_refused == 1
    assert piece.refused[0].line == 3


def test_missing_columns_are_named(tmp_path: Path) -> None:
    file = written(tmp_path, "sorce,b\n1,2\n")
    with pytest.raises(InputError, match="no column 'source'; did you mean 'sorce'"):
        list(read_pieces(file, ["source", "b"], {"b"}))
    with pytest.raises(InputError, match=r"lacks 2 of the 3 columns .* 'x', 'y'"):
        list(read_pieces(file, ["x", "y", "b"], {"b"}))
    with pytest.raises(InputError, match="no column 'id'"):
        list(read_pieces(file, ["b"], {"b"}, keep=["id"]))


def test_large_files_come_in_pieces_numbered_over_all_files(tmp_path: Path) -> None:
    rows = 150_000
    frame = pl.DataFrame({"a": np.arange(rows)})
    frame.write_parquet(tmp_path / "1.parquet")
    frame.write_csv(tmp_path / "2.csv")
    inputs = [str(tmp_path / "1.parquet"), str(tmp_path / "2.csv")]
    pieces = list(read_pieces(inputs, ["a"], {"a"}))
    assert max(piece.frame.height for piece in pieces) < 2 * rows
    assert len(pieces) > 2
    assert np.concatenate([piece.rows for piece in pieces]).tolist() == list(range(1, 2 * rows + 1))
    assert sum(piece.frame["a"].sum() for piece in pieces) == 2 * sum(range(rows))
