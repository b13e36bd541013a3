"""Damaged logs: whatever is in them, every line is used or refused, and nothing else is raised."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay.errors import InputError
from assay.sources.logs import Events

JSON = b"""\
{"timestamp":"2026-11-02T04:36:54.841235+0000","event_type":"alert","src_ip":"10.0.0.1",\
"src_port":1,"alert":{"signature_id":7,"signature":"a \\"b\\" \\u00e9 \\\\","severity":2}}
{"ts":1793594214.841235,"id.orig_h":"10.0.0.1","id":{"orig_p":3},"host":{"name":"x"}}
{"@timestamp":"2026-11-02T04:36:54Z","source":{"ip":"1.2.3.4"},"host":"y","rule":{"id":"7"}}
"""
ZEEK = b"""\
#separator \\x09
#unset_field\t-
#path\tconn
#fields\tts\tid.orig_h\tid.orig_p\tid.resp_h\tnote
#types\ttime\taddr\tport\taddr\tstring
1793594214.841235\t10.0.0.1\t1\t10.0.0.2\ta\\x09b
1793594215.000000\t10.0.0.1\t-\t10.0.0.2\t-
#close\tnow
"""
FAST = b"""\
11/02/2026-04:36:54.841235  [**] [1:7:3] NAME [**] [Priority: 2] {TCP} 10.0.0.1:1 -> 10.0.0.2:2
11/02/2026-04:36:55.841235  [**] [1:7:3] NAME [**] [Priority: 2] {UDP} fe80::1:1 -> fe80::2:2
"""
CEF = b"""\
CEF:0|a|b|1|7|NAME|5|rt=1793594214841 src=10.0.0.1 spt=1 msg=x \\= y
<1>Nov 02 2026 04:36:54 host CEF:0|a|b|1|7|NA\\|ME|5|src=10.0.0.1
"""
ODD = [
    b'"',
    b"{",
    b"}",
    b"\\",
    b"\n",
    b"\r",
    b"\t",
    b"\0",
    b"\xff",
    b"#",
    b":",
    b"9" * 25,
    b"",
    b"|",
]
ODD += [
    b"\\ud800",
    b"\\x",
    b"[" * 99,
    b"e",
    b"-",
    b",",
    b"\xc3\xa9",
    b'"ts":1,',
    b"null",
    b"#fields",
]


def read(file: Path, **asked: Any) -> tuple[Events, pl.DataFrame]:
    events = Events([file], timezone="UTC", fields=["alert.severity", "msg"], **asked)
    batches = [batch.drop("alert.severity", "msg") for batch in events]
    return events, pl.concat(batches) if batches else pl.DataFrame()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("times", [15, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("log", [JSON, ZEEK, FAST, CEF], ids=["json", "zeek", "fast", "cef"])
def test_every_line_of_a_damaged_log_is_used_or_refused(
    tmp_path: Path, log: bytes, times: int
) -> None:
    random = np.random.default_rng(times)
    file = tmp_path / "log"
    refused = used = 0
    for _ in range(times):
        text = bytearray(log * int(random.integers(1, 4)))
        for _ in range(int(random.integers(1, 4))):
            at = int(random.integers(0, len(text)))
            text[at : at + int(random.integers(0, 3))] = ODD[int(random.integers(0, len(ODD)))]
        file.write_bytes(text)
        try:
            events, rows = read(file, on_bad_row="skip")
        except InputError:
            continue
        assert events.rows_read == rows.height + events.rows_refused
        again, same = read(file, on_bad_row="skip", chunk_bytes=int(random.integers(64, 300)))
        assert same.equals(rows)
        assert [(at.line, at.reason) for at in again.refused] == [
            (at.line, at.reason) for at in events.refused
        ]
        if events.rows_refused:
            with pytest.raises(InputError, match=f"line {events.refused[0].line}: "):
                read(file)
        refused, used = refused + events.rows_refused, used + rows.height
    assert min(refused, used) > times / 4


def test_damaged_json_is_read_as_python_reads_it(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    file = tmp_path / "eve.json"
    lines = [line for line in JSON.split(b"\n") if line] * 40
    for _ in range(40):
        at = int(random.integers(0, len(lines)))
        broken = bytearray(lines[at])
        place = int(random.integers(0, len(broken)))
        broken[place : place + 1] = ODD[int(random.integers(0, len(ODD)))].replace(b"\n", b" ")
        lines[at] = bytes(broken)
    file.write_bytes(b"\n".join(lines) + b"\n")
    _, rows = read(file, on_bad_row="skip")
    for line, address in rows.select("line", "src_ip").rows():
        record = json.loads(lines[line - 1])
        names = ("src_ip", "id.orig_h")
        expected = next((record[name] for name in names if record.get(name) is not None), None)
        if expected is None and isinstance(record.get("source"), dict):
            expected = record["source"].get("ip")
        if not isinstance(record.get("id"), dict) or "orig_h" not in record["id"]:
            assert address == (None if expected == "" else expected)
