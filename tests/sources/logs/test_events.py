"""Logs as files: packed, rotated, cut off, empty, or none at all."""

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.errors import InputError
from assay.sources.logs import Events, Log, read_events

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DAY = 1_793_491_200


def lines(*seconds: int) -> str:
    return "".join(f'{{"ts":{DAY + second}}}\n' for second in seconds)


def seconds(events: Events) -> list[int]:
    return [(time // 10**6) - DAY for time in pl.concat(events)["time"].to_list()]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_rotated_files_are_read_in_the_order_of_time(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    oldest, middle, newest = (tmp_path / f"eve.json{end}" for end in (".2.gz", ".1", ""))
    oldest.write_bytes(gzip.compress(lines(1, 2).encode()))
    middle.write_text("garbage\n" + lines(3))
    newest.write_text(lines(4))
    files = [oldest, middle, newest]
    events = read_events([files[i] for i in order], on_bad_row="skip")
    assert seconds(events) == [1, 2, 3, 4]
    names = ", ".join(map(str, files))
    assert events.notes == [f"the logs were read in the order of the first time in each: {names}"]
    assert [(at.file, at.line) for at in events.refused] == [(str(middle), 1)]


def test_a_folder_is_its_logs(tmp_path: Path) -> None:
    for name, second in (
        ("eve.json", 4),
        ("eve.json-20261101.gz", 1),
        ("conn.2026-11-01-00.log", 2),
    ):
        packed = gzip.compress(lines(second).encode())
        (tmp_path / name).write_bytes(packed if name.endswith("gz") else lines(second).encode())
    (tmp_path / "notes.txt").write_text("nothing of this kind\n")
    (tmp_path / ".hidden.log").write_text("nor of this\n")
    events = read_events([tmp_path])
    assert seconds(events) == [1, 2, 4]
    assert events.notes[0] == (
        f"of the folder {tmp_path} 1 file was left out (notes.txt), since its name is not as those "
        f"of logs"
    )
    (tmp_path / "truth.json").write_text('{\n  "alerts": 907,\n  "days": 7\n}\n')
    events = read_events([tmp_path])
    assert seconds(events) == [1, 2, 4]
    assert events.notes[1] == (
        f"of the folder {tmp_path} 1 file was left out (truth.json), since it is one JSON "
        f"document, no log"
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="is a folder without logs: files such as"):
        read_events([empty])


@pytest.mark.parametrize("odd", ["{\n" + lines(1), "{\n", "stats\n"])
def test_a_damaged_log_of_a_folder_is_not_left_out(tmp_path: Path, odd: str) -> None:
    (tmp_path / "eve.json").write_text(lines(4))
    (tmp_path / "eve.json.1").write_text(odd)
    with pytest.raises(InputError, match=r"eve\.json\.1"):
        list(read_events([tmp_path]))


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_packed_logs(tmp_path: Path, pack: Any) -> None:
    (tmp_path / "eve.json").write_bytes(pack(lines(*range(300)).encode()))
    assert seconds(Events([tmp_path / "eve.json"], chunk_bytes=700)) == list(range(300))


def test_a_last_line_that_was_cut_off_is_named(tmp_path: Path) -> None:
    file = tmp_path / "eve.json"
    file.write_text(lines(1, 2) + '{"ts":17935')
    with pytest.raises(InputError) as error:
        list(read_events([file]))
    assert str(error.value) == (
        f"{file}, line 3: found the last line, after which no line end comes: the log was cut "
        f"there or is still being written, so copy it again once it is complete. It holds no JSON "
        f"object (Expecting ',' delimiter at character 12). Correct the row, or leave such rows "
        f"out with on_bad_row='skip'"
    )
    skipped = read_events([file], on_bad_row="skip")
    assert seconds(skipped) == [1, 2]
    assert (skipped.rows_read, skipped.rows_refused) == (3, 1)
    assert skipped.refused[0].reason.startswith("the last line, after which no line end comes")


def test_a_last_line_without_a_line_end_is_told(tmp_path: Path) -> None:
    file = tmp_path / "eve.json"
    file.write_text(lines(1, 2).rstrip())
    events = read_events([file])
    assert seconds(events) == [1, 2]
    assert events.notes == [
        f"{file}, line 2: no line end follows the last line; it was read as it stands"
    ]


def test_a_packed_log_that_was_cut_off_gives_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "eve.json.gz"
    packed = gzip.compress(lines(*range(5000)).encode())
    file.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="its gzip data end in the middle"):
        list(read_events([file]))
    events = read_events([file], on_bad_row="skip")
    read = seconds(events)
    assert read == list(range(len(read)))
    assert len(read) > 1000
    assert events.rows_refused == 1
    assert events.notes == [
        f"{file} can't be unpacked: its gzip data end in the middle; what comes before was read"
    ]


def test_empty_logs_have_no_events(tmp_path: Path) -> None:
    for content in ("", "\n\n"):
        (tmp_path / "eve.json").write_text(content)
        events = read_events([tmp_path / "eve.json"])
        assert list(events) == []
        assert events.notes == [f"{tmp_path / 'eve.json'} is empty"]
    (tmp_path / "other.json").write_text(lines(1))
    both = read_events([tmp_path / "eve.json", tmp_path / "other.json"])
    assert seconds(both) == [1]
    assert both.notes[-1] == f"{tmp_path / 'eve.json'} is empty"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"hello\n", "is no log that is known: it begins with 'hello'. Expected are Suricata's"),
        (b'[{"ts": 1}]\n', "a JSON array, where one object a line is expected"),
        (b"PAR1\0\0\0\0", "is a parquet file, where a log of text was expected"),
        ('{"ts":1}'.encode("utf-16"), "has the mark of UTF-16"),
        ('{"ts":1}'.encode("utf-32"), "has the mark of UTF-32"),
        (b"\0" * 100, "NUL"),
        (b'{"ts":"' + b"x" * (1 << 24) + b'"}\n', "line 1: a line longer than 16 MiB"),
        (b'{"ts":1793594214}\n{"ts":"' + b"x" * (1 << 25), "line 2: a line longer than 16 MiB"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "eve.json").write_bytes(content)
    with pytest.raises(InputError) as error:
        list(read_events([tmp_path / "eve.json"], on_bad_row="skip"))
    assert reason in str(error.value)


def test_files_that_are_not_there_or_there_twice(tmp_path: Path) -> None:
    (tmp_path / "eve.json").write_text(lines(1))
    with pytest.raises(
        InputError, match=r"there is no file .*evil\.json; did you mean eve\.json\?"
    ):
        read_events([tmp_path / "evil.json"])
    with pytest.raises(InputError, match="was given twice; its events would count twice"):
        read_events([tmp_path / "eve.json", tmp_path / "eve.json"])
    with pytest.raises(InputError, match="no log was given"):
        read_events([])
    with pytest.raises(InputError, match="standard input goes with no other log"):
        read_events([tmp_path / "eve.json", "-"])


def test_standard_input() -> None:
    events = read_events(["-"], stdin=io.BytesIO(lines(1, 2).encode()))
    assert seconds(events) == [1, 2]


def test_progress_is_told_in_bytes(tmp_path: Path) -> None:
    (tmp_path / "eve.json").write_bytes(gzip.compress(lines(*range(9)).encode()))
    told: list[tuple[int, int | None]] = []
    list(read_events([tmp_path / "eve.json"], progress=lambda *at: told.append(at)))
    size = (tmp_path / "eve.json").stat().st_size
    assert told[-1] == (size, size)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("conn.log", "conn"),
        ("conn.2026-11-01-00.log", "conn"),
        ("packet_filter.log.gz", "packet_filter"),
        ("http_20261101.log", "http"),
        ("eve.json", None),
    ],
)
def test_the_name_of_a_log_of_zeek_tells_its_kind(name: str, kind: str | None) -> None:
    assert Log(name, Path(name)).kind == kind


def test_fields_that_every_event_has_are_given_once(tmp_path: Path) -> None:
    (tmp_path / "eve.json").write_text(lines(1))
    (batch,) = read_events([tmp_path / "eve.json"], fields=["src_ip", "x", "x"])
    assert batch.columns == [
        *("time", "kind", "src_ip", "dst_ip", "src_port", "dst_port", "host", "rule"),
        *("line", "file", "x"),
    ]
