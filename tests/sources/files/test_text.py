"""Encodings, line ends, packing and delimiters of text."""

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from assay.errors import EmptyInput, InputError
from assay.sources.files import Request, Rows, read

from .writing import zstd

TEXT = "label,score\né,0.5\n日本,1\n"


def rows_of(data: bytes, **asked: Any) -> Rows:
    return read(["-"], Request(**asked), stdin=io.BytesIO(data))


def must_be_the_text(rows: Rows) -> None:
    assert rows.columns["y_true"].names == ("é", "日本")
    assert rows.columns["y_score"].tolist() == [0.5, 1]


@pytest.mark.parametrize("chunk", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    ("encoding", "asked"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", "utf-32"),
        ("shift_jisx0213", "shift_jisx0213"),
        ("gb18030", "gb18030"),
    ],
)
def test_text_is_decoded_whatever_the_chunks(encoding: str, asked: str | None, chunk: int) -> None:
    must_be_the_text(rows_of(TEXT.encode(encoding), encoding=asked, chunk_bytes=chunk))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "end", "end end end"])
def test_line_ends_of_both_kinds_and_none_at_the_end_are_fine(end: str, tail: str) -> None:
    text = TEXT.rstrip("\n").replace("\n", end) + tail.replace("end", end).replace(" ", "")
    for chunk in (1, 1000):
        must_be_the_text(rows_of(text.encode(), chunk_bytes=chunk))


def test_a_mark_inside_the_text_is_kept() -> None:
    data = "label,score\n\ufeffa,1\n\ufeffb,2\n".encode()
    for chunk in (1, 12, 1000):
        assert rows_of(data, chunk_bytes=chunk).columns["y_true"].names == ("\ufeffa", "\ufeffb")


def test_no_replacement_character_is_ever_made() -> None:
    assert rows_of("label,score\n\ufffd,1\n".encode()).columns["y_true"].names == ("\ufffd",)
    with pytest.raises(InputError, match="byte 12"):
        rows_of(b"label,score\n\xed\xa0\x80,1\n")  # half of a surrogate pair


@pytest.mark.parametrize("chunk", [1, 7, 1 << 16])
@pytest.mark.parametrize("packed", [gzip.compress, zstd.compress])
def test_packed_text_is_unpacked_in_one_part_or_several(packed: Any, chunk: int) -> None:
    data = TEXT.encode()
    must_be_the_text(rows_of(packed(data), chunk_bytes=chunk))
    must_be_the_text(
        rows_of(packed(data[:20]) + packed(b"") + packed(data[20:]), chunk_bytes=chunk)
    )


def test_zeros_behind_gzip_are_padding() -> None:
    must_be_the_text(rows_of(gzip.compress(TEXT.encode()) + b"\0" * 100))


def test_packed_text_of_another_encoding_is_decoded() -> None:
    must_be_the_text(rows_of(gzip.compress(TEXT.encode("utf-16")), encoding="utf-16"))


@pytest.mark.parametrize(
    ("delimiter", "sign"), [(";", ";"), ("|", "|"), ("\t", "\t"), ("\\t", "\t"), (" ", " ")]
)
def test_a_delimiter_may_be_named(delimiter: str, sign: str) -> None:
    must_be_the_text(rows_of(TEXT.replace(",", sign).encode(), delimiter=delimiter))


# -- lines above the header ------------------------------------------------------------------------

TITLE = 'Alerts of "today,\n\nby: nobody\n'


@pytest.mark.parametrize("chunk", [1, 7, 1000])
@pytest.mark.parametrize("packed", [bytes, gzip.compress, zstd.compress])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_above_the_header_are_left_out(packed: Any, end: str, chunk: int) -> None:
    text = (TITLE + TEXT).replace("\n", end)
    must_be_the_text(rows_of(packed(text.encode()), skip_lines=3, chunk_bytes=chunk))
    marked = packed(text.encode("utf-16"))
    must_be_the_text(rows_of(marked, encoding="utf-16", skip_lines=3, chunk_bytes=chunk))


@pytest.mark.parametrize("chunk", [1, 1000])
def test_lines_are_counted_from_the_first_of_the_file(chunk: int) -> None:
    data = f"{TITLE}label,score\na,1\nb,x\nc\n\nd,2\n".encode()
    rows = rows_of(data, skip_lines=3, on_bad_row="skip", chunk_bytes=chunk)
    assert [(at.row, at.line) for at in rows.refused] == [(2, 6), (3, 7), (4, 8)]
    with pytest.raises(InputError, match="line 4: the header has 'a' more than once"):
        rows_of(f"{TITLE}a,a\n".encode(), skip_lines=3, chunk_bytes=chunk)


def test_columns_may_have_numbers_below_other_lines() -> None:
    asked = {"header": False, "label": "column_1", "score": "column_2", "skip_lines": 4}
    must_be_the_text(rows_of((TITLE + TEXT).encode(), **asked))


def test_what_stands_above_the_header_does_not_tell_the_format() -> None:
    must_be_the_text(rows_of(f"[Report]\n{TEXT}".encode(), skip_lines=1))
    must_be_the_text(rows_of(f"{{a, b}}\n{TEXT}".replace(",", "\t").encode(), skip_lines=1))
    with pytest.raises(InputError, match="is JSON, to which skip_lines= does not apply"):
        rows_of(b'title\n{"label": "a", "score": 1}\n', skip_lines=1)


@pytest.mark.parametrize("lines", [3, 4, 10**12])
def test_a_text_of_nothing_but_such_lines_is_empty(lines: int) -> None:
    with pytest.raises(EmptyInput, match=f"ends within the lines that skip_lines={lines} leaves"):
        rows_of(TEXT.encode(), skip_lines=lines)


# -- quotes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("quote", ["'", "|", "`", "$", "^", "\\"])
def test_a_quote_may_be_named(quote: str) -> None:
    text = f'{quote}label{quote},score\r\n{quote}a,{quote * 2}"\n{quote},0.5\r\n"b",1\r\n'
    for chunk in (1, 1000):
        rows = rows_of(text.encode(), quote=quote, chunk_bytes=chunk)
        assert set(rows.columns["y_true"].names) == {f'a,{quote}"\n', '"b"'}
        assert rows.columns["y_score"].tolist() == [0.5, 1]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_where_there_are_no_quotes_they_are_signs_like_others(end: str) -> None:
    text = f'label,"score"{end}"a,0.5{end}9" disk,1{end}'
    rows = rows_of(text.encode(), quote="none", score='"score"')
    assert rows.columns["y_true"].names == ('"a', '9" disk')
    assert rows.columns["y_score"].tolist() == [0.5, 1]


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 1000])
def test_blanks_before_quotes_are_no_part_of_a_field(chunk: int) -> None:
    text = b'note, "label", "score"\n "x,y",\t"a, ""b""",  "0.5"\nz, c ,1\n"v\nw", "d", 2\n'
    rows = rows_of(text, label="label", score="score", slices=("note",), chunk_bytes=chunk)
    assert rows.columns["y_true"].names == (" c ", 'a, "b"', "d")
    assert rows.columns["y_score"].tolist() == [0.5, 1, 2]
    assert rows.columns["slices"]["note"].names == ("v\nw", "x,y", "z")


def test_a_tab_that_delimits_is_no_blank() -> None:
    rows = rows_of(b'label\tnote\tscore\na\t "b"\t1\n\t"c"\t2\n', unlabelled=True)
    assert rows.columns["y_true"].names == ("a",)
    assert rows.unlabelled is not None
    assert rows.unlabelled["y_score"].tolist() == [2]


def test_labels_keep_their_blanks_and_numbers_may_have_some() -> None:
    rows = rows_of(b"label,score\n a ,  0.5\t\na,1\n")
    assert rows.columns["y_true"].names == (" a ", "a")
    assert rows.columns["y_score"].tolist() == [0.5, 1]


def test_an_unnamed_first_column_is_an_index_and_not_used() -> None:
    rows = rows_of(b",label,score\n0,a,1\n")
    assert rows.notes == ("the first column of standard input has no name and is not used",)


def test_quoted_headers_are_read() -> None:
    rows = rows_of(b'"label","a ""score""\nof two lines"\na,1\n', score='a "score"\nof two lines')
    assert rows.columns["y_score"].tolist() == [1]
    with pytest.raises(InputError, match="line 4"):
        rows_of(b'"label","a\nb"\na,1\nb,x\n', score="a\nb")


def test_json_keys_may_come_late_and_be_left_out() -> None:
    data = b'{"score": 1}\n{"label": "a", "score": 2, "site": "x"}\n'
    rows = rows_of(data, unlabelled=True, slices=("site",))
    assert rows.columns["slices"]["site"].names == ("x",)
    assert rows.unlabelled is not None
    assert rows.unlabelled["y_score"].tolist() == [1]
    assert "slices" not in rows.unlabelled


def test_json_values_keep_their_kind() -> None:
    data = b'{"label": true, "score": 1}\n{"label": false, "score": 2}\n'
    assert rows_of(data).columns["y_true"].kind == "booleans"
    data = b'{"label": 10, "score": 1}\n{"label": 9.0, "score": 2}\n{"label": -1, "score": 2}\n'
    for chunk in (1, 1000):
        labels = rows_of(data, chunk_bytes=chunk).columns["y_true"]
        assert (labels.kind, labels.names, labels.codes.tolist()) == (
            "numbers",
            ("-1", "9", "10"),
            [2, 1, 0],
        )


def test_large_json_numbers_are_kept() -> None:
    data = b'{"label": 123456789012345678901234567890, "score": 1e3}\n{"label": 2, "score": 2}\n'
    assert rows_of(data).columns["y_true"].names == ("2", "123456789012345678901234567890")


def test_json_slices_may_mix_kinds() -> None:
    data = b"".join(b'{"label": 1, "score": 1, "s": %s}\n' % s for s in (b"true", b'"x"', b"[1]"))
    for chunk in (1, 1000):
        column = rows_of(data, slices=("s",), chunk_bytes=chunk).columns["slices"]["s"]
        assert column.names == ("[1]", "true", "x")


def test_json_records_can_not_pass_for_several() -> None:
    # Two objects on the first line, and one on the next two: three lines, but not three records.
    data = b'{"label":1,"score":1},{"label":1,"score":1}\n{"label":1,"score":1,"x":[1\n2]}\n'
    with pytest.raises(InputError, match="line 1: found no JSON object"):
        rows_of(data, input_format="jsonl")
    rows = read(
        ["-"], Request(on_bad_row="skip"), stdin=io.BytesIO(b'{"label":1,"score":1}\n' + data)
    )
    assert (rows.rows_read, rows.rows_refused) == (4, 3)


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[int, int | None]] = []
    read(
        ["-"],
        Request(chunk_bytes=4),
        progress=lambda done, total: told.append((done, total)),
        stdin=io.BytesIO(TEXT.encode()),
    )
    assert told[-1] == (len(TEXT.encode()), None)


def test_json_lines_may_end_in_blank_ones_and_windows_ends() -> None:
    data = b'{"label": "a", "score": 1}\r\n{"label": "b", "score": 2}\r\n\r\n\n'
    for chunk in (1, 1000):
        assert rows_of(data, chunk_bytes=chunk).columns["y_true"].names == ("a", "b")


def test_json_of_nothing_but_blanks_is_empty() -> None:
    with pytest.raises(InputError, match="is empty"):
        rows_of(b"\n\n \n", input_format="jsonl")


def test_json_pairs_of_surrogates_are_characters() -> None:
    data = b'{"label": "\\ud83d\\ude00", "score": 1}\n{"label": "\\udc00", "score": 1}\n'
    rows = rows_of(data, on_bad_row="skip")
    assert rows.columns["y_true"].names == ("\U0001f600",)
    assert rows.refused[0].reason == "text that is not Unicode (half of a surrogate pair)"


@pytest.mark.parametrize("size", [1 << 22, 1 << 26])
def test_a_json_line_that_is_too_long_is_refused(size: int) -> None:
    data = b'{"label": "a", "score": 1}\n' + b" " * (17 << 20) + b"\n{}\n"
    with pytest.raises(InputError, match="line 2: a line longer than 16 MiB"):
        rows_of(data, chunk_bytes=size)


def test_encodings_that_fail_in_their_own_way_are_refused() -> None:
    with pytest.raises(InputError, match="undefined"):
        rows_of(TEXT.encode(), encoding="undefined")


WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
TEXTS = {
    "f.csv": "label,score\n" + "a,0.1\nb,0.9\n" * 9,
    "windows.csv": "label,score\r\n" + "a,0.1\r\nb,0.9\r\n" * 9,
    "f.tsv": "label\tscore\n" + "a\t0.1\nb\t0.9\n" * 9,
    "f.jsonl": '{"label": "a", "score": 1}\n{"label": "b", "score": 2}\n' * 9,
}


@pytest.mark.sampled(24)
@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("said", [None, "utf-8", "latin-1"])
def test_wide_text_without_a_mark_is_refused_as_a_whole(
    encoding: str, name: str, packed: bool, said: str | None, tmp_path: Path
) -> None:
    data = TEXTS[name].encode(encoding)
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(InputError, match=f"NUL.*likely encoding='{encoding}'"):
        read([str(path)], Request(on_bad_row="skip", encoding=said))
    assert read([str(path)], Request(encoding=encoding)).rows_read == 18


@pytest.mark.parametrize("encoding", WIDE[:2])
@pytest.mark.parametrize("name", ["f.csv", "f.jsonl"])
def test_wide_text_of_few_ascii_letters_is_not_half_read(
    encoding: str, name: str, tmp_path: Path
) -> None:
    word = "\u4e2d\u6587" * 40
    text = TEXTS[name].replace("a", word).replace("b", word)
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    for said in (None, "latin-1"):
        with pytest.raises(InputError):
            read([str(path)], Request(on_bad_row="skip", encoding=said, label="label"))
