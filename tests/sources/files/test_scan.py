"""The structural scan: where records end, which are broken, and that chunks do not matter."""

import csv
import io
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.sources.files import delimited as module
from assay.sources.files.delimited import (
    AFTER_QUOTE,
    BLANK,
    LONE_CR,
    NUL,
    OPEN_QUOTE,
    SPACED_QUOTE,
    STRAY_QUOTE,
    TOO_LONG,
    first_end,
    scan,
    without_blanks,
)

Found = list[tuple[bytes, str | None]]


def whole(text: bytes, fields: int = 2) -> Found:
    records = scan(text, b",", fields, final=True)
    ends = zip(records.starts.tolist(), records.ends.tolist(), strict=True)
    return [(text[a:b], records.broken.get(i)) for i, (a, b) in enumerate(ends)]


def in_chunks(text: bytes, size: int, fields: int = 2) -> Found:
    """As the reader does it: what is left of one look is put before the next chunk."""
    result: Found = []
    rest = b""
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    for chunk in [*chunks, None]:
        buffer = rest + (chunk or b"")
        records = scan(buffer, b",", fields, final=chunk is None)
        ends = zip(records.starts.tolist(), records.ends.tolist(), strict=True)
        result += [(buffer[a:b], records.broken.get(i)) for i, (a, b) in enumerate(ends)]
        rest = buffer[records.used :]
    return result


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (b"a,1\nb,2\n", [None, None]),
        (b"a,1\nb,2", [None, None]),
        (b"a,1\r\nb,2\r\n", [None, None]),
        (b"a,1\nb\n", [None, "1 field where the header has 2"]),
        (b"a,1,2\nb,1\n", ["3 fields where the header has 2", None]),
        (b"a,1\n\nb,2\n", [None, BLANK, None]),
        (b"a,1\r\n\r\nb,2\r\n", [None, BLANK, None]),
        (b"a,1\n\n\n", [None]),
        (b"a,1\r\n\r\n", [None]),
        (b"\n\n", []),
        (b"", []),
        (b'"a\nb",1\nc,2\n', [None, None]),
        (b'"a ""q"" b",1\n', [None]),
        (b'"",""\n', [None]),
        (b'"a,1\nb,2\n', [OPEN_QUOTE, None]),
        (b'a,"1\n', [OPEN_QUOTE]),
        (b'a"b,1\nc,2\n', [STRAY_QUOTE, None]),
        (b'12" disk,1\n9" disk,2\n', [STRAY_QUOTE, STRAY_QUOTE]),
        (b'"a"b,1\nc,2\n', [AFTER_QUOTE, None]),
        (b'"a" ,1\nc,2\n', [AFTER_QUOTE, None]),
        (b"a\0,1\nb,2\n", [NUL, None]),
        (b'"a\0",1\nb,2\n', [NUL, None]),
        (b"a,1\rb,2\rc,3\n", [LONE_CR]),
        (b"a,1\r", [LONE_CR]),
        (b'"a\rb",1\n', [None]),
        (b'"x",1\rb,2\n"y",3\n', [LONE_CR, None]),
        (b'"a\nb","1\n2",3\n', ["3 fields where the header has 2"]),
        (b'a, "1"\n \t"b, c",2\n', [None, None]),
        (b'a, "1 ""q"" 2"\nb, ""\n', [None, None]),
        (b'a, "1\n2"\nb,3\n', [SPACED_QUOTE, STRAY_QUOTE, None]),
        (b'a, "1', [SPACED_QUOTE]),
        (b'a, "1"2\nb,3\n', [AFTER_QUOTE, None]),
        (b'a, "1" \nb,3\n', [AFTER_QUOTE, None]),
        (b'a, b "1"\nb,3\n', [STRAY_QUOTE, None]),
        (b'"a\nb", "1"\nc,2\n', [None, None]),
        (b'a, "1\rb"\nc,2\n', [SPACED_QUOTE, None]),
    ],
)
def test_records_and_what_is_wrong_with_them(text: bytes, reasons: list[str | None]) -> None:
    assert [reason for _, reason in whole(text)] == reasons


def test_a_single_column_may_hold_short_values_but_no_blank_line() -> None:
    assert whole(b'1\n0\n""\n\n1\n', 1) == [
        (b"1\n", None),
        (b"0\n", None),
        (b'""\n', None),
        (b"\n", BLANK),
        (b"1\n", None),
    ]


def test_a_broken_record_ends_with_its_first_line() -> None:
    # What follows an unclosed quote is judged by itself: little is lost.
    assert whole(b'"a,1\nb,2\nc,3\n') == [
        (b'"a,1\n', OPEN_QUOTE),
        (b"b,2\n", None),
        (b"c,3\n", None),
    ]


def test_a_long_line_and_a_quote_closed_too_late_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LONGEST", 20)
    assert whole(b"a,1\n" + b"x" * 30 + b",1\nb,2\n")[1][1] == TOO_LONG
    assert whole(b'"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk",1\nz,2\n')[0][1] == OPEN_QUOTE
    assert first_end(b"x" * 30, b",", final=False) == (None, TOO_LONG)
    assert first_end(b"x" * 30 + b"\n", b",", final=False) == (31, TOO_LONG)


# Few letters, so that quotes, ends and delimiters meet in every way.
damaged = st.text(st.sampled_from('a,"\n\r\0 '), max_size=40).map(str.encode)


@settings(max_examples=400)
@given(damaged, st.integers(1, 9), st.integers(1, 3))
def test_chunks_of_any_size_give_the_same_records(text: bytes, size: int, fields: int) -> None:
    assert in_chunks(text, size, fields) == whole(text, fields)


@settings(max_examples=400)
@given(damaged)
def test_one_record_at_a_time_gives_what_the_look_at_all_gives(text: bytes) -> None:
    fast = scan(text, b",", 2, final=True)
    slow = module._one_by_one(module._without_blank_end(text), b",", 2, final=True)
    assert fast.ends.tolist() == slow.ends.tolist()
    assert fast.starts.tolist() == slow.starts.tolist()
    assert (fast.broken, fast.used) == (slow.broken, slow.used)


@settings(max_examples=300)
@given(damaged, st.sampled_from("'|`$^]-\\"))
def test_another_quote_is_as_good(text: bytes, quote: str) -> None:
    usual = scan(text, b",", 2, final=True)
    other = scan(text.replace(b'"', quote.encode()), b",", 2, quote.encode(), final=True)
    assert other.ends.tolist() == usual.ends.tolist()
    assert (other.broken, other.used) == (usual.broken, usual.used)


@settings(max_examples=300)
@given(damaged)
def test_without_a_quote_each_line_is_a_record(text: bytes) -> None:
    unquoted = scan(text, b",", 2, b"", final=True)
    letters = scan(text.replace(b'"', b"a"), b",", 2, final=True)
    assert unquoted.ends.tolist() == letters.ends.tolist()
    assert (unquoted.broken, unquoted.used) == (letters.broken, letters.used)


@settings(max_examples=300)
@given(damaged)
def test_blanks_before_quotes_are_dropped_and_nothing_else(text: bytes) -> None:
    good = [record for record, reason in whole(text) if reason is None]
    for record in good:
        bare = without_blanks(record, b",", b'"')
        fields = next(csv.reader([record.decode()], skipinitialspace=True), [])
        kept = next(csv.reader([bare.decode()]), [])
        assert [field.lstrip(" ") for field in kept] == [field.lstrip(" ") for field in fields]
        assert whole(bare) == [(bare, None)]
        assert without_blanks(bare, b",", b'"') == bare


@pytest.mark.parametrize("text", [b" " * 200_000, b"a, " * 100_000, b'a, "b' * 50_000])
def test_blanks_take_time_by_their_number(text: bytes) -> None:
    for final in (True, False):
        module._one_by_one(text, b",", 2, final=final)
    assert without_blanks(text + b',"b"', b",", b'"').endswith(b',"b"')


@settings(max_examples=300)
@given(damaged)
def test_no_byte_is_lost_or_read_twice(text: bytes) -> None:
    records = b"".join(record for record, _ in whole(text))
    assert text.startswith(records)
    assert not text[len(records) :].strip(b"\r\n")


@settings(max_examples=300)
@given(st.lists(st.lists(st.text(max_size=5), min_size=2, max_size=2), min_size=1, max_size=8))
def test_what_the_csv_module_writes_is_sound(rows: list[list[str]]) -> None:
    clean = [[field.replace("\0", "") for field in row] for row in rows]
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(clean)
    scanned = whole(text.getvalue().encode())
    assert [reason for _, reason in scanned] == [None] * len(clean)
    parsed = [next(csv.reader(io.StringIO(r.decode(), newline=""))) for r, _ in scanned]
    assert parsed == clean


@pytest.mark.parametrize("final", [False, True])
def test_blank_lines_at_the_end_cost_nothing_each(final: bool) -> None:
    text = b"\r\n" * (1 << 18)
    tracemalloc.start()
    try:
        records = scan(text, b",", 2, final=final)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(records.ends), records.broken, records.used) == (0, {}, 0)
    assert peak < 4 * len(text)
