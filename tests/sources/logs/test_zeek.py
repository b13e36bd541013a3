"""Logs of Zeek as tab-separated text."""

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.sources.log_text import unescaped
from assay.sources.logs import Events

FIELDS = ("ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "service", "duration")
TYPES = ("time", "string", "addr", "port", "addr", "port", "string", "interval")


def header(path: str = "conn", fields: tuple[str, ...] = FIELDS) -> str:
    types = dict(zip(FIELDS, TYPES, strict=True))
    lines = ["#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-"]
    lines += [f"#path\t{path}", "#open\t2026-11-02-00-00-00", "\t".join(["#fields", *fields])]
    return (
        "\n".join([*lines, "\t".join(["#types", *(types.get(f, "string") for f in fields)])]) + "\n"
    )


def line(ts: str = "1793594214.841235", service: str = "http", duration: str = "0.5") -> str:
    return f"{ts}\tC1\t10.0.0.1\t1234\t10.0.0.2\t80\t{service}\t{duration}\n"


def events(tmp_path: Path, text: str | bytes, **asked: Any) -> Events:
    file = tmp_path / "conn.log"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Events([file], **asked)


def table(log: Events) -> pl.DataFrame:
    batches = list(log)
    assert log.rows_read == sum(map(len, batches)) + log.rows_refused
    return pl.concat(batches, how="vertical_relaxed")


def test_a_connection(tmp_path: Path) -> None:
    close = "#close\t2026-11-02-01-00-00\n"
    read = table(events(tmp_path, header() + line() + close, fields=["service", "duration"]))
    assert read.drop("file").rows() == [
        (
            *(1_793_594_214_841_235, "conn", "10.0.0.1", "10.0.0.2", 1234, 80, None, None, 9),
            *("http", 0.5),
        )
    ]


def test_unset_and_empty_fields(tmp_path: Path) -> None:
    text = header() + line(service="-", duration="-") + line(service="(empty)") + line()
    read = table(events(tmp_path, text, fields=["service", "duration"]))
    assert read["service"].to_list() == [None, "", "http"]
    assert read["duration"].to_list() == [None, 0.5, 0.5]


def test_the_header_says_what_is_unset(tmp_path: Path) -> None:
    text = header().replace("#unset_field\t-", "#unset_field\tNONE") + line(service="NONE")
    assert table(events(tmp_path, text, fields=["service"]))["service"].to_list() == [None]


def test_another_separator(tmp_path: Path) -> None:
    text = (header() + line()).replace("\t", "|").replace("\\x09", "\\x7c")
    assert table(events(tmp_path, text))["dst_port"].to_list() == [80]
    with pytest.raises(InputError, match="line 1: the separator is '::'; expected one ASCII"):
        list(events(tmp_path, text.replace("\\x7c", "::")))


def test_escapes_are_what_they_stand_for(tmp_path: Path) -> None:
    service = 'a\\x09b\\xc3\\xa9\\\\x41"'
    read = table(events(tmp_path, header() + line(service=service), fields=["service"]))
    assert read["service"].to_list() == ['a\tb\u00e9\\x41"']
    assert unescaped("\\xff") == "\\xff"  # no text, so it stays as it is written


def test_a_header_in_the_middle_counts_from_there(tmp_path: Path) -> None:
    other = ("ts", "id.orig_h", "service")
    text = header() + line() + "#close\tnow\n" + header("dns", other)
    text += "1793594215.0\t10.0.0.9\tdns\n"
    read = table(events(tmp_path, text, fields=["service"]))
    assert read.select("kind", "src_ip", "dst_port", "service", "line").rows() == [
        ("conn", "10.0.0.1", 80, "http", 9),
        ("dns", "10.0.0.9", None, "dns", 19),
    ]


def test_a_notice_is_a_rule(tmp_path: Path) -> None:
    fields = ("ts", "id.orig_h", "id.resp_p", "note", "src", "dst", "p")
    text = (
        header("notice", fields) + "1793594214.0\t-\t-\tScan::Port_Scan\t10.0.0.9\t10.0.0.1\t22\n"
    )
    read = table(events(tmp_path, text))
    assert read.select("kind", "src_ip", "dst_ip", "dst_port", "rule").rows() == [
        ("notice", "10.0.0.9", "10.0.0.1", 22, "Scan::Port_Scan")
    ]


BAD = {
    "1793594214.0\tC1\t10.0.0.1\n": "3 fields where the header has 8",
    line(service="a\tb"): "9 fields where the header has 8",
    "\n": "a blank line",
    line(service="a\0b"): "a NUL byte",
    line(ts="-"): "time: there is none",
    line(ts="soon"): "time: found 'soon', expected a moment",
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    text = header() + line() + bad + line()
    with pytest.raises(InputError) as error:
        list(events(tmp_path, text))
    assert "conn.log, line 10: " in str(error.value)
    assert BAD[bad] in str(error.value)
    skipped = events(tmp_path, text, on_bad_row="skip")
    assert table(skipped)["line"].to_list() == [9, 11]
    assert [(at.row, at.line) for at in skipped.refused] == [(2, 10)]


def test_bytes_that_are_not_utf8_spoil_one_line(tmp_path: Path) -> None:
    text = (header() + line()).encode() + line(service="@").encode().replace(b"@", b"\xff")
    skipped = events(tmp_path, text, on_bad_row="skip")
    assert table(skipped)["line"].to_list() == [9]
    assert skipped.refused[0].reason == "bytes that are not UTF-8 (0xff)"


def test_line_ends_of_windows_are_fine(tmp_path: Path) -> None:
    text = (header() + line()).replace("\n", "\r\n")
    assert table(events(tmp_path, text, fields=["duration"]))["duration"].to_list() == [0.5]


def test_headers_that_can_not_be_right(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 7: #fields has a name twice, or none"):
        list(events(tmp_path, header().replace("uid", "ts") + line()))
    with pytest.raises(InputError, match="line 8: #types has 7 fields and #fields 8"):
        list(events(tmp_path, header().replace("\tinterval", "") + line()))
    with pytest.raises(InputError, match="line 2: records before a line that begins with #fields"):
        list(events(tmp_path, "#separator \\x09\n" + line()))


def test_a_log_without_times_is_refused_line_by_line(tmp_path: Path) -> None:
    log = events(tmp_path, header("odd", ("a", "b")) + "1\t2\n3\t4\n", on_bad_row="skip")
    assert list(log) == []
    assert [(at.line, at.reason) for at in log.refused] == [
        (9, "time: there is none"),
        (10, "time: there is none"),
    ]


def test_a_log_without_records_has_no_events(tmp_path: Path) -> None:
    log = events(tmp_path, header() + "#close\tnow\n")
    assert list(log) == []
    assert (log.rows_read, log.notes) == (0, [f"{tmp_path / 'conn.log'} holds no events"])


moments = st.integers(10**14, 4 * 10**15)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(
    st.lists(
        st.tuples(moments, st.text(st.characters(codec="utf-8"), max_size=5)),
        min_size=1,
        max_size=9,
    ),
    st.integers(100, 1000),
)
def test_what_is_written_is_read_back(
    tmp_path: Path, written: list[tuple[int, str]], chunk: int
) -> None:
    def escaped(text: str) -> str:
        if text in ("", "-", "(empty)") or not text.isprintable() or "\\" in text:
            return "".join(f"\\x{byte:02x}" for byte in text.encode()) or "(empty)"
        return text

    lines = [line(f"{t // 10**6}.{t % 10**6:06}", escaped(text)) for t, text in written]
    # Between any two lines a new log may begin.
    text = "".join(header() + one for one in lines)
    read = table(events(tmp_path, text, fields=["service"], chunk_bytes=chunk))
    assert read["time"].to_list() == [moment for moment, _ in written]
    if read.schema["service"] == pl.String:
        assert read["service"].to_list() == [text for _, text in written]


def test_times_are_those_of_datetime(tmp_path: Path) -> None:
    moment = dt.datetime(2026, 11, 2, 4, 36, 54, 841235, tzinfo=dt.UTC)
    read = table(events(tmp_path, header() + line(f"{moment.timestamp():.6f}")))
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    assert epoch + dt.timedelta(microseconds=read["time"][0]) == moment
