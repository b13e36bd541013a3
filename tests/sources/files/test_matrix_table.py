"""Confusion matrices as people write them."""

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.sources.files.summary_tables import cells_of, is_typed, matrix_of, read_matrix

THREE = ((45, 3, 2), (4, 38, 3), (1, 2, 52))
COUNTS = st.integers(0, 10**17)


def test_cells_come_in_any_order_and_case() -> None:
    assert cells_of("TN=4, tp=3 ,fn=2,fp=1") == {"tn": 4, "tp": 3, "fn": 2, "fp": 1}


def test_cells_are_never_taken_through_a_float() -> None:
    assert cells_of(f"tp={2**53 + 1},fp=1e18,fn=2.0,tn=0")["tp"] == 2**53 + 1
    assert cells_of(f"tp={2**53 + 1},fp=1e18,fn=2.0,tn=0")["fp"] == 10**18


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found ''; expected tp, fp, fn, tn"),
        ("tp=3", "fp, fn, tn missing"),
        ("tp=3,fp=1,fn=2", "tn missing"),
        ("tp=3,fp=1,fn=2,tn=4,tp=3", "tp is given twice"),
        ("tp=3,fp=1,fn=2,tp=4", "tp is given twice"),
        ("tp=3,fp=1,fn=2,n=4", "found 'n=4'; expected tp, fp, fn, tn"),
        ("tp=6,635,fp=1,fn=2,tn=4", r"found '635' \(counts are written without commas"),
        ("3,1,2,4", "found '3'"),
        ("tp=-3,fp=1,fn=2,tn=4", "tp: found -3; a count is not negative"),
        ("tp=3.5,fp=1,fn=2,tn=4", "tp: found 3.5; a count is a whole number"),
        ("tp=,fp=1,fn=2,tn=4", "tp: found ''; expected a count"),
        ("tp=many,fp=1,fn=2,tn=4", "tp: found 'many'; expected a count"),
        ("tp=nan,fp=1,fn=2,tn=4", "tp: found 'nan'; expected a count"),
        ("tp=inf,fp=1,fn=2,tn=4", "tp: found 'inf'; expected a count"),
        (f"tp={2**62},fp=1,fn=2,tn=4", "tp: found 4611686018427387904; 2\\^62 or more"),
        ("tp=1e999999999,fp=1,fn=2,tn=4", "tp: found 1e999999999; 2\\^62 or more"),
        (f"tp={2**61},fp={2**61},fn=2,tn=4", "add up to 2\\^62 or more"),
    ],
)
def test_cells_that_are_none_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cells_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "[[45,3,2],[4,38,3],[1,2,52]]",
        " [[45.0, 3, 2], [4, 38, 3], [1, 2, 52]]",
        "45,3,2;4,38,3;1,2,52",
        "45 3 2; 4 38 3; 1 2 52;",
        "45, 3, 2;\n4, 38, 3;\n1, 2, 5.2e1",
    ],
)
def test_rows_may_be_typed(text: str) -> None:
    assert is_typed(text)
    assert matrix_of(text).rows == THREE
    assert matrix_of(text).labels is None


@pytest.mark.parametrize("text", ["-", "confusion.csv", "2024-01.csv", "./12", "a", ""])
def test_what_is_not_numbers_is_the_name_of_a_file(text: str) -> None:
    assert not is_typed(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "is square.*found 1 row of 1 counts"),
        ("5,1;2", "is square.*found 2 rows of 1, 2 counts"),
        ("1,2,3;4,5,6", "found 2 rows of 3 counts"),
        ("5,-1;2,8", "row 1, column 2: found -1; a count is not negative"),
        ("5,1;2,8.5", "row 2, column 2: found 8.5; a count is a whole number"),
        ("5,1;2,e", "row 2, column 2: found 'e'; expected a count"),
        ("[[5,1],[2,true]]", "row 2, column 2: found 'True'; expected a count"),
        ('[[5,1],[2,"x"]]', "row 2, column 2: found 'x'"),
        ("[[5,1],[2,NaN]]", "no JSON that can be read: NaN is no number"),
        ("[[5,1],[2,8]", "no JSON that can be read"),
        ("[5,1]", "rows of counts, such as"),
        ("[]", "found 0 rows of no counts"),
        (f"5,1;2,{2**62}", "2\\^62 or more"),
    ],
)
def test_rows_that_make_no_matrix_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        matrix_of(text)


# -- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "labels"),
    [
        ("45,3,2\n4,38,3\n1,2,52\n", None),
        ("A,B,C\n45,3,2\n4,38,3\n1,2,52\n", "ABC"),
        ("A,45,3,2\nB,4,38,3\nC,1,2,52\n", "ABC"),
        (",A,B,C\nA,45,3,2\nB,4,38,3\nC,1,2,52\n", "ABC"),
        ("truth,A,B,C\nA,45,3,2\n\nB,4,38,3\nC,1,2,52\n", "ABC"),
        ("\tA\tB\tC\nA\t45\t3\t2\nB\t4\t38\t3\nC\t1\t2\t52", "ABC"),
        (";A;B;C\r\nA;45;3;2\r\nB;4;38;3\r\nC;1;2;52\r\n", "ABC"),
        ("A,B,C\nA,45,3,2\nB,4,38,3\nC,1,2,52\n", "ABC"),
        ("0,1,2\n45,3,2\n4,38,3\n1,2,52\n", "012"),
        (",0,1,2\n0,45,3,2\n1,4,38,3\n2,1,2,52\n", "012"),
        ("[[45, 3, 2], [4, 38, 3], [1, 2, 52]]", None),
        ('{"labels": ["A", "B", "C"], "matrix": [[45,3,2],[4,38,3],[1,2,52]]}', "ABC"),
        ('\ufeff{"confusion": [[45,3,2],[4,38,3],[1,2,52]], "labels": [0, 1, 2]}', "012"),
    ],
)
def test_a_file_holds_a_square_table_with_or_without_labels(
    tmp_path: Path, content: str, labels: str | None
) -> None:
    path = tmp_path / "matrix.txt"
    path.write_text(content, "utf-8", newline="")
    matrix = read_matrix(str(path))
    assert matrix.rows == THREE
    assert matrix.labels == (None if labels is None else tuple(labels))


def test_json_tells_the_positive_and_the_orientation(tmp_path: Path) -> None:
    path = tmp_path / "matrix.json"
    table = {"matrix": [[5, 1], [2, 8]], "labels": [False, True], "positive": True}
    path.write_text(json.dumps({**table, "orientation": "predicted-rows"}))
    matrix = read_matrix(str(path))
    assert (matrix.labels, matrix.positive) == (("false", "true"), "true")
    assert matrix.orientation == "predicted-rows"


def test_standard_input_is_a_file_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"5,1\n2,8\n")))
    assert read_matrix("-").rows == ((5, 1), (2, 8))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"45,3,2\n4,38,3\n", "found 2 rows of 3 counts"),
        (b"45,3\n4,38\n1,2\n", "found 3 rows of 2 counts"),
        (b",A,B\nA,5,1\nC,2,8\n", r"rows are named \['A', 'C'\] and columns \['A', 'B'\]"),
        (b",A,B\nB,2,8\nA,5,1\n", "in the same order"),
        (b"5,1\n2,x\n", "row 2, column 2: found 'x'"),
        (b"5,1\n2,\xff\n", "byte 6 is not UTF-8"),
        (b'{"rows": [[5,1],[2,8]]}', "found the keys rows; expected"),
        (b'{"matrix": [[5,1],[2,8]], "confusion": [[5,1],[2,8]]}', "one of matrix and confusion"),
        (b'{"matrix": [[5,1],[2,8]], "labels": "ab"}', "labels are a list"),
        (b'{"matrix": [[5,1],[2,8]], "labels": [[1], 2]}', "a label is a text"),
        (b'{"matrix": [[5,1],[2,8]], "orientation": "sideways"}', "orientation is truth-rows or"),
        (b"[" * 100_000, "nested too deeply|no JSON"),
    ],
)
def test_a_file_that_holds_no_matrix_is_refused_by_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "matrix.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as refused:
        read_matrix(str(path))
    assert "matrix.csv" in str(refused.value)


def test_a_missing_file_and_one_of_predictions_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*typed, such as 45,3,2"):
        read_matrix(str(tmp_path / "none.csv"))
    with pytest.raises(InputError, match="can't be read"):
        read_matrix(str(tmp_path))
    large = tmp_path / "large.csv"
    large.write_bytes(b"1,2\n" * (3 << 20))
    with pytest.raises(InputError, match="a file of predictions"):
        read_matrix(str(large))


# -- laws ------------------------------------------------------------------------------------------


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(st.lists(COUNTS, min_size=k, max_size=k), min_size=k, max_size=k)
    )
)
def test_every_way_of_writing_a_matrix_is_the_same_matrix(rows: list[list[int]]) -> None:
    typed = ";".join(",".join(map(str, row)) for row in rows)
    assert matrix_of(typed) == matrix_of(json.dumps(rows))
    assert matrix_of(typed).rows == tuple(map(tuple, rows))


@given(st.text(max_size=40))
def test_any_text_is_a_matrix_or_refused(text: str) -> None:
    for read in (matrix_of, cells_of):
        try:
            read(text)
        except InputError:
            continue
