"""Inputs that can't be read: each is refused with its file, the place, and what to do."""

import gzip
import io
import json
import struct
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.errors import AssayError, EmptyInput, InputError
from assay.sources.files import Request, read

from .writing import TABLE, csv_bytes, zstd


def parquet_bytes(**columns: Any) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def arrow_bytes(**columns: Any) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_ipc(file)
    return file.getvalue()


def npz_bytes(**columns: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **columns)
    return file.getvalue()


def npy_bytes(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


GOOD = csv_bytes(TABLE)
LONG = csv_bytes({name: list(values) * 9 for name, values in TABLE.items()})
PARQUET = parquet_bytes(label=["a", "b"], score=[0.1, 0.2])
ARROW = arrow_bytes(label=["a", "b"], score=[0.1, 0.2])
HEAD = "label,score\n"

# name of the file, what is in it, what is asked, and what the message says
CASES: dict[str, tuple[str, bytes | str, dict[str, Any], tuple[str, ...]]] = {
    "empty": ("f.csv", "", {}, ("f.csv", "empty")),
    "only a mark": ("f.csv", b"\xef\xbb\xbf", {}, ("f.csv", "empty")),
    "header only": ("f.csv", HEAD, {}, ("f.csv", "no rows")),
    "blank first line": ("f.csv", "\nlabel,score\n", {}, ("f.csv, line 1", "a blank line")),
    "short row": ("f.csv", HEAD + "a,1\nb\n", {}, ("f.csv, line 3", "1 field", "header has 2")),
    "long row": ("f.csv", HEAD + "a,1\nb,1,2\n", {}, ("f.csv, line 3", "3 fields", "skip")),
    "blank line": ("f.csv", HEAD + "a,1\n\nb,2\n", {}, ("f.csv, line 3", "a blank line")),
    "open quote": ("f.csv", HEAD + 'a,1\n"b,2\n', {}, ("f.csv, line 3", "never closed")),
    "stray quote": ("f.csv", HEAD + 'a,1\nb"c,2\n', {}, ("f.csv, line 3", "a quote inside")),
    "after a quote": ("f.csv", HEAD + '"b"c,2\n', {}, ("f.csv, line 2", "text after a closing")),
    "NUL": ("f.csv", HEAD + "a,1\nb\0,2\n", {}, ("f.csv, line 3", "NUL")),
    "NUL in the header": ("f.csv", "la\0bel,score\n", {}, ("f.csv, line 1", "NUL", "utf-16")),
    "CR alone": ("f.csv", "label,score\ra,1\r", {}, ("f.csv, line 1", "CR alone")),
    "CR in a row": ("f.csv", HEAD + "a\rb,1\n", {}, ("f.csv, line 2", "carriage return")),
    "long line": ("f.csv", HEAD + "a,1\n" + "x" * (1 << 25), {}, ("f.csv, line 3", "16 MiB")),
    "header twice": ("f.csv", "label,x,x\n", {}, ("f.csv, line 1", "'x'", "columns 2, 3")),
    "header without a name": ("f.csv", "label,,score\n", {}, ("f.csv, line 1", "column 2")),
    "header open": ("f.csv", 'label,"score\na,1\n', {}, ("f.csv, line 1", "never closed")),
    "many columns": (
        "f.csv",
        ",".join(map(str, range(10**5 + 1))),
        {},
        ("f.csv, line 1", "100,000"),
    ),
    "semicolons": ("f.csv", "label;score\na;1\n", {}, ("f.csv", "delimiter=';'")),
    "tabs": ("f.csv", "label\tscore\na\t1\n", {"label": "label"}, ("f.csv", r"delimiter='\t'")),
    "latin": ("f.csv", HEAD.encode() + b"\xe9,1\n", {}, ("f.csv", "byte 12 is 0xe9", "encoding=")),
    "latin, later": ("f.csv", LONG + b"\xff", {"chunk_bytes": 7}, (f"byte {len(LONG)}",)),
    "half a character": ("f.csv", HEAD.encode() + b"\xc3", {}, ("f.csv", "byte 12 is 0xc3")),
    "UTF-16": ("f.csv", HEAD.encode("utf-16"), {}, ("f.csv", "byte 0", "encoding='utf-16'")),
    "no such bytes": (
        "f.csv",
        HEAD.encode() + b"\x81,1\n",
        {"encoding": "cp1252"},
        ("f.csv is not cp1252", "byte 12"),
    ),
    "half UTF-16": ("f.csv", HEAD.encode("utf-16")[:-1], {"encoding": "utf-16"}, ("byte 24",)),
    "no encoding": ("f.csv", GOOD, {"encoding": "klingon"}, ("klingon", "not known")),
    "no text": ("f.csv", GOOD, {"encoding": "rot13"}, ("rot13", "not known")),
    "label missing": ("f.csv", HEAD + "a,1\n,2\n", {}, ("f.csv, line 3", "'label'", "missing")),
    "score missing": ("f.csv", HEAD + "a,1\nb,\n", {}, ("f.csv, line 3", "'score'", "nothing")),
    "score in words": (
        "f.csv",
        HEAD + "a,high\n",
        {},
        ("f.csv, line 2", "'high'", "finite number"),
    ),
    "score nan": ("f.csv", HEAD + "a,nan\n", {}, ("f.csv, line 2", "'nan'")),
    "score inf": ("f.csv", HEAD + "a,-inf\n", {}, ("f.csv, line 2", "'-inf'")),
    "score with a comma": ("f.tsv", "label\tscore\na\t0,5\n", {}, ("f.tsv, line 2", "'0,5'")),
    "score with a line": ("f.tsv", "label\tscore\na\t1_000\n", {}, ("f.tsv, line 2", "'1_000'")),
    "decision missing": (
        "f.csv",
        "label,y_pred\na,b\nb,\n",
        {},
        ("f.csv, line 3", "'y_pred'", "decision is missing"),
    ),
    "count in parts": (
        "f.csv",
        "label,score,n\na,1,1\nb,1,1.5\n",
        {"count": "n"},
        ("f.csv, line 3", "'1.5'", "whole number"),
    ),
    "count negative": (
        "f.csv",
        "label,score,n\na,1,-1\n",
        {"count": "n"},
        ("f.csv, line 2", "'-1'", "not negative"),
    ),
    "weight negative": (
        "f.csv",
        "label,score,w\na,1,-1\n",
        {"weight": "w"},
        ("f.csv, line 2", "'-1'", "weight"),
    ),
    "probability above 1": (
        "f.csv",
        "label,p_a,p_b\na,1.5,-0.5\n",
        {"probability_pattern": "p_*"},
        ("f.csv, line 2", "'p_a'", "'1.5'", "[0, 1]"),
    ),
    "probabilities that do not sum to 1": (
        "f.csv",
        "label,p_a,p_b\na,0.5,0.5\nb,0.5,0.4\n",
        {"probability_pattern": "p_*"},
        ("f.csv, line 3", "sum to 0.9"),
    ),
    "no time": (
        "f.csv",
        "label,score,at\na,1,2024-01-01\nb,1,yesterday\n",
        {"time": "at"},
        ("f.csv, line 3", "'at'", "'yesterday'"),
    ),
    "times with and without a zone": (
        "f.csv",
        "label,score,at\na,1,2024-01-01\nb,1,2024-01-01T10:00Z\n",
        {"time": "at"},
        ("f.csv, line 3", "a time zone", "f.csv, line 2 has none"),
    ),
    "an id": (
        "f.csv",
        HEAD + "".join(f"{i},1\n" for i in range(1001)),
        {},
        ("f.csv", "'label'", "1,000", "an id"),
    ),
    "an id as a slice": (
        "f.csv",
        "label,score,id\n" + "".join(f"a,1,{i}\n" for i in range(1001)),
        {"slices": ("id",)},
        ("f.csv", "'id'", "1,000", "an id"),
    ),
    "JSON cut off": ("f.jsonl", '{"label": "a", "score": 1}\n{"label"', {}, ("f.jsonl, line 2",)),
    "JSON that is no object": (
        "f.jsonl",
        '{"label": 1, "score": 1}\n3\n',
        {},
        ("f.jsonl, line 2",),
    ),
    "JSON key twice": (
        "f.jsonl",
        '{"label": "a", "score": 1}\n{"label": "a", "score": 1, "label": "b"}',
        {},
        ("f.jsonl, line 2", "the key 'label' twice"),
    ),
    "JSON array cut short": ("f.jsonl", '[{"label": 1},', {}, ("f.jsonl", "ends in the middle")),
    "JSON over lines": ("f.jsonl", '{\n"label": 1}', {}, ("f.jsonl, line 1", "one JSON object")),
    "JSON two on a line": (
        "f.jsonl",
        '{"label": 1, "score": 1}\n{"label": 1, "score": 1},{"label": 1, "score": 1}\n',
        {},
        ("f.jsonl, line 2", "no JSON object"),
    ),
    "JSON blank line": (
        "f.jsonl",
        '{"label": 1, "score": 1}\n\n{"label": 1, "score": 1}\n',
        {},
        ("f.jsonl, line 2", "a blank line"),
    ),
    "JSON too deep": (
        "f.jsonl",
        '{"label": 1, "score": 1}\n{"label": ' + "[" * 100_000 + "\n",
        {},
        ("f.jsonl, line 2", "no JSON object"),
    ),
    "JSON half a character": (
        "f.jsonl",
        '{"label": "\\ud800", "score": 1}\n',
        {},
        ("f.jsonl, line 1", "not Unicode"),
    ),
    "JSON label of a list": (
        "f.jsonl",
        '{"label": [1], "score": 1}\n',
        {},
        ("f.jsonl, line 1", "[1]"),
    ),
    "JSON kinds mixed": (
        "f.jsonl",
        '{"label": 1, "score": 1}\n{"label": "1", "score": 1}\n',
        {},
        ("f.jsonl, line 2", "'1'", "line 1 on are numbers"),
    ),
    "no Parquet": ("f.parquet", GOOD, {}, ("f.parquet is no Parquet", "looks like CSV text")),
    "no Arrow": ("f.arrow", b"\0" * 40, {}, ("f.arrow is no Arrow", "NUL bytes")),
    "Parquet cut off": ("f.parquet", PARQUET[:-9], {}, ("f.parquet", "its end is missing")),
    "Parquet with a footer too long": (
        "f.parquet",
        PARQUET[:-8] + struct.pack("<I", 1 << 30) + b"PAR1",
        {},
        ("f.parquet", "1,073,741,824"),
    ),
    "Parquet without a middle": (
        "f.parquet",
        PARQUET[:20] + PARQUET[60:],
        {},
        ("f.parquet", "damaged"),
    ),
    "Parquet label of parts": (
        "f.parquet",
        parquet_bytes(label=[0.5, 1.0], score=[1, 2]),
        {},
        ("f.parquet, row 1", "0.5", "score="),
    ),
    "Parquet label of times": (
        "f.parquet",
        parquet_bytes(label=pl.Series([0, 1]).cast(pl.Date), score=[1, 2]),
        {},
        ("f.parquet, row 1", "Date", "labels"),
    ),
    "Parquet score of lists": (
        "f.parquet",
        parquet_bytes(label=[0, 1], score=[[1], [2]]),
        {},
        ("f.parquet, row 1", "List", "numbers"),
    ),
    "Parquet score missing": (
        "f.parquet",
        parquet_bytes(label=[0, 1], score=[1.0, None]),
        {},
        ("f.parquet, row 2", "'score'", "nothing"),
    ),
    "Parquet without rows": (
        "f.parquet",
        parquet_bytes(label=pl.Series([], dtype=pl.String), score=pl.Series([], dtype=pl.Float64)),
        {},
        ("f.parquet", "no rows"),
    ),
    "Arrow cut off": ("f.arrow", ARROW[:-30], {}, ("f.arrow", "its end is missing")),
    "gzip cut off": ("f.csv.gz", gzip.compress(GOOD)[:-12], {}, ("f.csv.gz", "end in the middle")),
    "gzip of nothing": ("f.csv.gz", gzip.compress(b""), {}, ("f.csv.gz", "empty")),
    "gzip damaged": (
        "f.csv.gz",
        gzip.compress(GOOD)[:15] + b"\xff\xff\xff" + gzip.compress(GOOD)[18:],
        {},
        ("f.csv.gz", "gzip data are damaged"),
    ),
    "gzip with a tail": ("f.csv.gz", gzip.compress(GOOD) + b"tail", {}, ("f.csv.gz", "gzip")),
    "zstd cut off": ("f.csv.zst", zstd.compress(GOOD)[:-5], {}, ("f.csv.zst", "end in the middle")),
    "packed Parquet": ("f.parquet.gz", gzip.compress(PARQUET), {}, ("f.parquet.gz", "unpack it")),
    "pickle": ("f.csv", b"\x80\x04\x95xx", {}, ("f.csv", "a pickle")),
    "Excel": ("f.csv", b"\xd0\xcf\x11\xe0xxxx", {}, ("f.csv", "an Excel file")),
    "SQLite as it is": ("f.csv", b"SQLite format 3\0xxx", {}, ("f.csv", "sqlite:FILE?")),
    "npz of objects": (
        "f.npz",
        npz_bytes(label=np.array(["a", 1], object), score=np.array([1.0, 2.0])),
        {},
        ("f.npz", "'label'", "since that would run code"),
    ),
    "npz of unlike lengths": (
        "f.npz",
        npz_bytes(label=np.array(["a", "b"]), score=np.array([1.0])),
        {},
        ("f.npz", "label has 2, score has 1"),
    ),
    "npz of tables": (
        "f.npz",
        npz_bytes(label=np.array(["a", "b"]), score=np.ones((2, 2))),
        {},
        ("f.npz", "'score'", "a table"),
    ),
    "zip without arrays": ("f.npz", b"PK\x05\x06" + b"\0" * 18, {}, ("f.npz", "a zip archive")),
    "npy without names": ("f.npy", npy_bytes(np.ones(3)), {}, ("f.npy", "without named columns")),
    "npy cut off": (
        "f.npy",
        npy_bytes(np.ones(9, [("label", "f8"), ("score", "f8")]))[:-9],
        {},
        ("f.npy", "damaged"),
    ),
    "npy that claims too much": (
        "f.npy",
        npy_bytes(np.ones(1, [("label", "f8")])).replace(b"(1,)", b"(9999999999,)")[:128],
        {},
        ("f.npy", "damaged"),
    ),
    "another format than said": ("f.csv", PARQUET, {"input_format": "csv"}, ("f.csv", "Parquet")),
    "a format that is none": ("f.csv", GOOD, {"input_format": "xml"}, ("xml", "csv, tsv")),
    "a delimiter of two": ("f.csv", GOOD, {"delimiter": ",,"}, ("',,'", "one ASCII character")),
    "a delimiter that is a quote": ("f.csv", GOOD, {"delimiter": '"'}, ("no quote",)),
    "a quote of two": ("f.csv", GOOD, {"quote": "''"}, ("one ASCII sign", "\"''\"")),
    "a quote of a letter": ("f.csv", GOOD, {"quote": "a"}, ("one ASCII sign", "'none'")),
    "a quote that delimits": ("f.csv", GOOD, {"delimiter": ";", "quote": ";"}, ("differ",)),
    "lines below none": ("f.csv", GOOD, {"skip_lines": -1}, ("skip_lines=", "-1")),
    "blanks before a quote that stays open": (
        "f.csv",
        HEAD + 'a,1\n "b\nc",2\n',
        {},
        ("f.csv, line 3", "behind blanks", "remove the blanks before it"),
    ),
    "a title": ("f.csv", f"Alerts\n\n{HEAD}a,1\n", {}, ("f.csv", "line 3", "skip_lines=2 is")),
    "a title of fields": ("f.csv", f"Alerts,\n{HEAD}a,1\n", {}, ("skip_lines=1 is meant",)),
    "a title in quotes": ("f.csv", f'The "best"\n{HEAD}a,1\n', {}, ("skip_lines=1 is meant",)),
    "a title with a quote": ("f.csv", f'"Alerts\n{HEAD}a,1\n', {}, ("skip_lines=1 is meant",)),
    "a title above names": (
        "f.csv",
        "Alerts,,\n,,\nwhat,truth of it,found\nx,a,1\n",
        {},
        ("f.csv, line 1: column 2 has no name", "line 3", "skip_lines=2 is meant"),
    ),
    "keys above the header": (
        "f.csv",
        f"By,alice\nAt,noon\n{HEAD}a,1\n",
        {},
        ("skip_lines=2 is meant",),
    ),
    "columns that were named in a later line": (
        "f.csv",
        "By,alice\nAt,noon\nwhat,found\na,1\n",
        {"label": "what", "score": "found"},
        ("skip_lines=2 is meant",),
    ),
    "too few lines left out": (
        "f.csv",
        f"Alerts\n\nof today\n{HEAD}a,1\n",
        {"skip_lines": 1},
        ("f.csv, line 2", "skip_lines=3 is meant"),
    ),
    "a title above semicolons": (
        "f.csv",
        f"Alerts\n{HEAD}a,1\n".replace(",", ";"),
        {},
        ("delimiter=';' with skip_lines=1 is meant",),
    ),
    "apostrophes": ("f.csv", "'label','score'\n'a','1'\n", {}, ('quote="\'" is meant',)),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_with_its_place(case: str, tmp_path: Path) -> None:
    name, data, asked, said = CASES[case]
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with pytest.raises(InputError) as refused:
        read([str(path)], Request(**asked))
    message = str(refused.value).replace(f"{tmp_path}/", "")
    for part in said:
        assert part in message
    assert "\n" not in message
    assert len(message) < 1000


# Refused, though no line is above their names.
UNLED: dict[str, tuple[str, dict[str, Any]]] = {
    "another column": ("host,found\na,1\nb,2\n", {}),
    "words in every row": ("what,found,found\na,b,c\nd,e,f\n", {}),
    "values": ("1,0.5\n0,0.25\n", {}),
    "one column": ("found\na\nb\n", {}),
    "names and no rows": ("host,found\n", {}),
    "rows cut short": ("host,found,at\na\nb,c\n", {}),
    "a column that is not there": (HEAD + "a,1\n", {"label": "lable"}),
}


@pytest.mark.parametrize("case", UNLED)
def test_no_line_is_to_be_left_out_of_a_text_without_a_title(case: str, tmp_path: Path) -> None:
    text, asked = UNLED[case]
    (tmp_path / "f.csv").write_text(text)
    with pytest.raises(InputError) as refused:
        read([str(tmp_path / "f.csv")], Request(**asked))
    assert "skip_lines" not in str(refused.value)


SHORT = [c for c, (name, data, _, _) in CASES.items() if name == "f.csv" and len(data) < 2000]


@pytest.mark.sampled(30)
@pytest.mark.parametrize("case", SHORT)
@pytest.mark.parametrize("chunk", [1, 5])
def test_the_place_does_not_depend_on_chunks(case: str, chunk: int, tmp_path: Path) -> None:
    name, data, asked, _ = CASES[case]
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    messages = set()
    for size in (chunk, 1 << 20):
        with pytest.raises(InputError) as refused:
            read([str(path)], Request(**{**asked, "chunk_bytes": size}))
        messages.add(str(refused.value))
    assert len(messages) == 1


def test_an_input_without_rows_is_empty_input(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    for text in ("", HEAD, HEAD + "a,x\n"):
        path.write_text(text)
        with pytest.raises(EmptyInput):
            read([str(path)], Request(on_bad_row="skip"))


# -- keys that repeat ------------------------------------------------------------------------------

# One key in the ways that JSON can spell it.
SPELLINGS = {
    "label": (r"\u006cabel", r"l\u0061bel", r"\u006C\u0061\u0062\u0065\u006c", r"\u006Cabel"),
    "a/b": (r"a\/b", r"a\u002fb", r"a\u002Fb"),
    "😀": (r"\ud83d\ude00", r"\uD83D\uDE00", r"\uD83d\uDe00"),
    "é": (r"\u00e9", r"\u00E9"),
    'a"b': (r"a\"b", r"a\u0022b"),
    "a\\b": (r"a\\b", r"a\u005cb"),
    "a\tb": (r"a\tb", r"a\u0009b"),
}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("key", SPELLINGS)
@pytest.mark.parametrize("role", ["label", "score", "count", "slices", "id"])
def test_a_key_that_repeats_is_refused_however_it_is_spelt(
    key: str, role: str, tmp_path: Path
) -> None:
    for one, other in product(
        (json.dumps(key, ensure_ascii=False)[1:-1], *SPELLINGS[key]), SPELLINGS[key]
    ):
        try:
            refused(key, one, other, role, tmp_path)
        except BaseException as error:
            error.add_note(f"spelt {one} and {other}")
            raise


def refused(key: str, one: str, other: str, role: str, tmp_path: Path) -> None:
    values = {"label": ('"a"', '"b"'), "id": ('"x"', '"y"'), "slices": ('"s"', '"t"')}
    first, second = values.get(role, ("1", "2"))
    rest = {"label": '"y": "a"', "score": '"s": 1'}
    rest.pop(role, None)
    begin = "".join(f"{text}, " for text in rest.values())
    path = tmp_path / "f.jsonl"
    good = f'{{{begin}"{one}": {first}}}'
    path.write_text(f'{good}\n{{{begin}"{one}": {first}, "{other}": {second}}}\n{good}\n')
    asked: dict[str, Any] = {"label": "y", "score": "s"} | {role: key}
    if role == "slices":
        asked["slices"] = (key,)
    if role == "id":
        asked |= {"models": ("s",), "score": None}
    with pytest.raises(InputError, match=r"f.jsonl, line 2: found the key .* twice"):
        read([str(path)], Request(**asked))
    rows = read([str(path)], Request(**asked, on_bad_row="skip"))
    assert [at.line for at in rows.refused] == [2]


def test_a_key_that_repeats_is_seen_where_another_record_lacks_it(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(
        '{"label": "a", "score": 1, "site": "x", "site": "y"}\n{"label": "b", "score": 2}\n'
    )
    with pytest.raises(InputError, match="line 1: found the key 'site' twice"):
        read([str(path)], Request(slices=("site",)))


def test_escapes_in_values_and_inner_keys_are_no_repetition(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    text = r'{"label": "\u006cabel", "score": 1, "more": {"label": 1, "\u006cabel": 2}}'
    path.write_text(text + "\n")
    rows = read([str(path)], Request())
    assert rows.columns["y_true"].names == ("label",)


# -- rows that are left out ------------------------------------------------------------------------


def test_skipped_rows_are_counted_and_listed_with_their_place(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEAD + 'a,1\nb\n\n"c\nd",x\n,2\n"e",3\nf"g,1\nb,nan\n')
    rows = read([str(path)], Request(on_bad_row="skip"))
    assert (rows.rows_read, rows.rows_refused) == (8, 6)
    assert rows.columns["y_true"].names == ("a", "e")
    assert [(r.row, r.line) for r in rows.refused] == [
        (2, 3),
        (3, 4),
        (4, 5),
        (5, 7),
        (7, 9),
        (8, 10),
    ]
    assert all(r.file == str(path) for r in rows.refused)
    assert rows.refused[0].reason == "1 field where the header has 2"
    assert rows.refused[2].reason == "column 'score': found 'x', expected a finite number"


def test_of_many_bad_rows_a_hundred_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEAD + "a,1\n" + "b\nc,x\n" * 200)
    for chunk in (10, 1 << 20):
        rows = read([str(path)], Request(on_bad_row="skip", chunk_bytes=chunk))
        assert (rows.rows_read, rows.rows_refused) == (401, 400)
        assert [r.row for r in rows.refused] == list(range(2, 102))


def test_rows_are_numbered_in_their_own_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(HEAD + "a,1\nb,x\n")
    pl.DataFrame({"label": ["a", None], "score": [1.0, 2.0]}).write_parquet(tmp_path / "b.parquet")
    rows = read([str(tmp_path / n) for n in ("a.csv", "b.parquet")], Request(on_bad_row="skip"))
    assert [(Path(r.file).name, r.row, r.line) for r in rows.refused] == [
        ("a.csv", 2, 3),
        ("b.parquet", 2, None),
    ]
    assert (rows.rows_read, rows.rows_refused, len(rows.columns["y_score"])) == (4, 2, 2)


def test_labels_of_refused_rows_are_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEAD + "a,1\nz,x\nb,2\n")
    assert read([str(path)], Request(on_bad_row="skip")).columns["y_true"].names == ("a", "b")


def test_the_first_bad_row_stops_whatever_its_kind(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    # A label of another kind stands behind a bad score.
    lines = [{"label": 1, "score": 1}, {"label": 1, "score": "x"}, {"label": "a", "score": 1}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for chunk in (1, 1 << 20):
        with pytest.raises(AssayError, match=r"line 2: column 'score'"):
            read([str(path)], Request(chunk_bytes=chunk))


# -- rows without a label --------------------------------------------------------------------------


def test_rows_without_a_label_are_kept_aside_where_they_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("label,score,y_pred\na,1,a\n,2,b\nb,3,c\n,x,d\n")
    rows = read([str(path)], Request(unlabelled=True, on_bad_row="skip"))
    assert rows.columns["y_score"].tolist() == [1, 3]
    assert rows.columns["y_pred"].names == ("a", "c")
    assert rows.unlabelled is not None
    assert rows.unlabelled["y_score"].tolist() == [2]
    assert rows.unlabelled["y_pred"].names == ("b",)
    assert "y_true" not in rows.unlabelled
    assert (rows.rows_read, rows.rows_refused) == (4, 1)


def test_without_any_label_nothing_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEAD + ",1\n,2\n")
    with pytest.raises(EmptyInput, match="none of the 2 rows has a label"):
        read([str(path)], Request(unlabelled=True))


def test_where_all_rows_have_labels_nothing_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(HEAD + "a,1\n")
    assert read([str(path)], Request(unlabelled=True)).unlabelled is None
