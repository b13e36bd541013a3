"""Delimited text: which records are rows, with the csv module as oracle."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import assay
from assay import errors
from assay.reading import source

PIECES = ("a", "é", ",", ",", "\n", "\n", "\r\n", '"', '""', ",x\n", '"y"', '"b,\n"')


def read(path: Path | str, **options: object) -> tuple[list[dict[str, object]], assay.rows]:
    """The good rows with their numbers, and what was opened."""
    rows = assay.rows(path, on_bad_row="skip", **options)
    keys = [*rows.columns, "row"]
    return pl.concat([*rows.batches(*keys)], how="vertical_relaxed").rows(named=True), rows


def refused(rows: assay.rows) -> dict[int, str]:
    """The reason for each refused line."""
    return {each["line"]: each["reason"] for each in rows.source.refused}


def oracle(text: str, columns: int) -> tuple[list[tuple[int, list[str]]], dict[int, str]]:
    """Good records by number, and reasons by line, as the csv module reads them."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    good, bad, number, line = [], {}, 0, 1
    for fields in reader:
        if number:
            if not fields:
                bad[line] = "is blank"
            elif len(fields) != columns:
                few = len(fields) < columns
                bad[line] = f"has {'fewer' if few else 'more'} fields than the header"
            else:
                good.append((number, fields))
        number, line = number + 1, reader.line_num + 1
    return good, bad


def has_stray_quotes(text: str) -> bool:
    """Whether a quote stands where the csv module takes it as text, or refuses it."""
    outside = True
    for i, sign in enumerate(text):
        if sign == '"':
            beside = text[i - 1] if outside else text[i + 1 : i + 2]
            if beside and beside not in ',\n\r"':
                return True
            outside = not outside
    return not outside


@given(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.sampled_from((1, 7, 64, 1 << 20)),
)
@example('a"b,c\n', 1)
@settings(deadline=None, max_examples=150)
def test_rows_are_the_records_of_the_csv_module(tmp_path_factory, text: str, chunk: int) -> None:
    path = tmp_path_factory.mktemp("text") / "rows.csv"
    text = "u,v\n" + text
    path.write_bytes(text.encode())
    with patch.object(source, "CHUNK", chunk):
        rows = assay.rows(path, slices=["u", "v"], on_bad_row="skip")
        frames = [*rows.batches("slice:u", "slice:v", "row")]
    found = [row for frame in frames for row in frame.rows(named=True)]
    assert rows.source.rows_read == rows.source.rows_used + rows.source.rows_refused
    assert len(found) == rows.source.rows_used
    if has_stray_quotes(text):
        assert rows.source.rows_refused
        return
    good, bad = oracle(text.rstrip("\r\n") + "\n", 2)
    assert refused(rows) == bad
    assert [(r["row"], [r["slice:u"] or "", r["slice:v"] or ""]) for r in found] == good


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("a", "has fewer fields than the header"),
        ("a,b,c", "has more fields than the header"),
        ("", "is blank"),
        ('a,b"c', "has a quote inside a field that does not begin with one"),
        ('a,"b"c', "has text after a closing quote"),
        ('a,"b', "has a quote that is never closed"),
        ("a,\0b", "has a NUL byte"),
        ("a\rb,c", "has a carriage return in the middle of a line"),
    ],
)
def test_a_record_that_is_no_row_is_refused_with_its_line(tmp_path, record, reason) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"u,v\n1,2\n{record}\n3,4\n", newline="")
    rows, opened = read(path, slices=["u", "v"])
    assert refused(opened) == {3: reason}
    assert [(row["row"], row["slice:v"]) for row in rows] == [(1, "2"), (3, "4")]


def test_missing_last_fields_are_no_short_rows(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('u,v\n1,\n2,""\n3\n')
    rows, opened = read(path, slices=["u", "v"])
    assert [row["slice:u"] for row in rows] == ["1", "2"]
    assert list(refused(opened)) == [4]


def test_class_names_that_look_missing_are_classes(tmp_path) -> None:
    names = ["NA", "None", "null", "nan", "N/A", "-", "007", "1.0", "NULL", "true"]
    path = tmp_path / "rows.csv"
    path.write_text("label,score\n" + "".join(f"{name},0.5\n" for name in names))
    rows, _ = read(path, label="label", score="score")
    assert [row["label"] for row in rows] == names


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("label,note\nsécurité,x\nnormal,y\n", encoding=encoding)
    named = {"encoding": "cp1252"} if encoding == "cp1252" else {}
    rows, _ = read(path, label="label", **named)
    assert [row["label"] for row in rows] == ["sécurité", "normal"]


def test_bytes_of_another_encoding_are_refused_with_their_place(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("label,note\n日本,x\n".encode("shift-jis"))
    with pytest.raises(errors.InputError, match=r"not UTF-8: byte 11 is 0x93.*cp1252"):
        assay.rows(path, label="label")


def test_accented_letters_of_excel_are_read_and_noted(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("label,note\nsécurité,x\n".encode("cp1252"))
    rows, opened = read(path, label="label")
    assert rows[0]["label"] == "sécurité"
    assert opened.notes[-1] == f"{path} is not UTF-8, and is read as cp1252"


def test_tables_of_zeek(tmp_path) -> None:
    path = tmp_path / "conn.log"
    path.write_text(
        "#separator \\x09\n#unset_field\t-\n#fields\tts\tlabel\n#types\ttime\tstring\n"
        "1.5\tattack\n2.5\t-\n3\n#close\t2026\n"
    )
    rows, opened = read(path, label="label")
    assert [row["label"] for row in rows] == ["attack"]
    assert {line: why.split()[-1] for line, why in refused(opened).items()} == {
        6: "label",
        7: "header",
    }


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("", errors.EmptyInput, "is empty"),
        ("\n1,2\n", errors.InputError, "line 1: found a blank line, expected a header"),
        ("a,b,a\n", errors.InputError, "columns 1 and 3 are both named 'a'"),
        ("a,,b\n", errors.InputError, "column 2 has no name"),
        ('a,"b\n1,2\n', errors.InputError, "a quote that is never closed"),
    ],
)
def test_wrong_headers_are_refused(tmp_path, text, error, says) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    with pytest.raises(error, match=says):
        assay.rows(path, slices="a")


def test_dialects(tmp_path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("a title\nu;v\n'1;2'; 3\n\n".replace("\n", "\r"), newline="")
    rows, _ = read(path, slices=["u", "v"], delimiter=";", quote="'", skip_lines=1)
    assert rows == [{"slice:u": "1;2", "slice:v": " 3", "row": 1}]
    rows, _ = read(path, slices="column_1", header=False, delimiter="|", quote="none")
    assert [row["slice:column_1"] for row in rows] == ["a title", "u;v", "'1;2'; 3"]


def test_lines_are_numbered_behind_titles_and_headers_of_several_lines(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('title\n"u\nx",v\n1,"2\n\n3"\n4\n')
    _, opened = read(path, slices=["v"], skip_lines=1)
    assert opened.refused.sentences() == ("1 row has fewer fields than the header (line 7)",)


def test_blank_lines_of_a_single_column_are_refused(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("u\na\n\nb\n")
    rows, opened = read(path, slices="u")
    assert ([row["slice:u"] for row in rows], refused(opened)) == (["a", "b"], {3: "is blank"})


def test_a_short_row_does_not_hide_a_long_one(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("u,v\n1,2\n3\n4,5,\n6,7\n")
    _, opened = read(path, slices=["u", "v"])
    assert {line: why.split()[1] for line, why in refused(opened).items()} == {
        3: "fewer",
        4: "more",
    }
