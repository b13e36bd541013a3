"""Events of JSON lines: eve.json, Zeek's, ECS, and anything else with a time."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.sources.files.json_files import text_of
from assay.sources.logs import Events, read_events

EVE = {
    "timestamp": "2026-11-02T04:36:54.841235+0000",
    "event_type": "alert",
    "src_ip": "10.0.0.1",
    "src_port": 1234,
    "dest_ip": "192.168.1.7",
    "dest_port": 443,
    "alert": {"gid": 1, "signature_id": 2010935, "signature": "SCAN many ports", "severity": 2},
}
TS = 1_793_594_214_841_235


def events(tmp_path: Path, text: str | bytes, **asked: Any) -> Events:
    name = asked.pop("name", "eve.json")
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Events([file], **asked)


def table(log: Events) -> pl.DataFrame:
    batches = list(log)
    assert log.rows_read == sum(map(len, batches)) + log.rows_refused
    return pl.concat(batches, how="vertical_relaxed")


def row(log: Events) -> dict[str, Any]:
    return table(log).row(0, named=True)


def test_an_alert_of_suricata(tmp_path: Path) -> None:
    asked = events(tmp_path, json.dumps(EVE) + "\n", fields=["alert.severity", "alert.signature"])
    assert row(asked) == {
        "time": TS,
        "kind": "alert",
        "src_ip": "10.0.0.1",
        "dst_ip": "192.168.1.7",
        "src_port": 1234,
        "dst_port": 443,
        "host": None,
        "rule": "2010935 SCAN many ports",
        "line": 1,
        "file": str(tmp_path / "eve.json"),
        "alert.severity": 2.0,
        "alert.signature": "SCAN many ports",
    }


def test_other_events_of_suricata_have_no_rule(tmp_path: Path) -> None:
    stats = {"timestamp": EVE["timestamp"], "event_type": "stats", "stats": {"flow": {"tcp": 3}}}
    flow = {**EVE, "event_type": "flow", "flow": {"src_ip": "x", "alerted": False}, "host": "probe"}
    flow.pop("alert")
    read = table(events(tmp_path, "".join(json.dumps(e) + "\n" for e in (stats, flow))))
    assert read.select("kind", "src_ip", "host", "rule").rows() == [
        ("stats", None, None, None),
        ("flow", "10.0.0.1", "probe", None),
    ]


def test_rules_of_other_generators_are_told_apart(tmp_path: Path) -> None:
    other = {**EVE, "alert": {"gid": 116, "signature_id": 5, "signature": "odd header"}}
    assert row(events(tmp_path, json.dumps(other)))["rule"] == "116:5 odd header"


def test_a_log_of_zeek(tmp_path: Path) -> None:
    text = (
        '{"ts":1793594214.841235,"uid":"C1","id.orig_h":"10.0.0.1","id.orig_p":1,'
        '"id.resp_h":"10.0.0.2","id.resp_p":80,"host":"example.org"}\n'
    )
    read = row(events(tmp_path, text, name="http.2026-11-01-00.log"))
    assert (read["time"], read["kind"], read["host"]) == (TS, "http", None)
    assert (read["src_ip"], read["dst_port"]) == ("10.0.0.1", 80)
    streamed = text.replace('{"ts"', '{"_path":"conn","ts"')
    assert row(events(tmp_path, streamed, name="http.log"))["kind"] == "conn"


@pytest.mark.parametrize("nested", [True, False])
def test_names_of_ecs_with_dots_or_inside_of_objects(tmp_path: Path, nested: bool) -> None:
    flat = {
        "@timestamp": "2026-11-02T04:36:54.841235Z",
        "event.kind": "alert",
        "source.ip": "10.0.0.1",
        "source.port": 5,
        "destination.ip": "10.0.0.2",
        "destination.port": 6,
        "host.name": "web-1",
        "rule.id": "7",
        "rule.name": "odd",
    }
    record: dict[str, Any] = flat
    if nested:
        record = {}
        for key, value in flat.items():
            first, _, rest = key.partition(".")
            if rest:
                record.setdefault(first, {})[rest] = value
            else:
                record[first] = value
    read = row(events(tmp_path, json.dumps(record)))
    assert list(read.values())[:8] == [
        *(TS, "alert", "10.0.0.1", "10.0.0.2", 5, 6, "web-1", "7 odd")
    ]


def test_a_rule_of_snort_3(tmp_path: Path) -> None:
    text = '{"timestamp":"11/02-04:36:54.841235","rule":"1:7:2","msg":"odd","src_addr":"::1"}'
    read = row(events(tmp_path, text, timezone="UTC", year=2026))
    assert (read["time"], read["rule"], read["src_ip"]) == (TS, "7 odd", "::1")


def test_the_key_of_the_time_may_be_named(tmp_path: Path) -> None:
    text = '{"timestamp":"soon","seen":{"at":1793594214.841235}}'
    assert row(events(tmp_path, text, time="seen.at"))["time"] == TS


def test_keys_that_hold_text_here_and_objects_there(tmp_path: Path) -> None:
    one = '{"ts":1793594214,"host":"a","source":"syslog","event":[1]}\n'
    two = '{"ts":1793594214,"host":{"name":"b"},"source":{"ip":"10.0.0.9"},"event":{"kind":"x"}}\n'
    read = table(events(tmp_path, (one + two) * 60))
    assert read["host"].to_list() == ["a", "b"] * 60
    assert read["src_ip"].to_list() == [None, "10.0.0.9"] * 60


def test_fields_are_numbers_where_all_are(tmp_path: Path) -> None:
    text = '{"ts":1793594214,"a":{"b":1},"c":1}\n{"ts":1793594214,"a.b":"2.5","c":"high"}\n'
    read = table(events(tmp_path, text, fields=["a.b", "c", "none"]))
    assert read["a.b"].to_list() == [1.0, 2.5]
    assert read["c"].to_list() == ["1", "high"]
    assert read["none"].to_list() == [None, None]


BAD = {
    '{"ts":1793594214,"src_ip":"a","src_ip":"b"}': "the key 'src_ip' twice in one object",
    '{"ts":1793594214,"src_ip":null,"src_ip":"b"}': "the key 'src_ip' twice in one object",
    '{"ts":1793594214,"src_ip":"a","src\\u005fip":"b"}': "the key 'src_ip' twice in one object",
    '{"ts":1793594214,"alert":{"gid":1},"alert" : {"gid":2}}': "the key 'alert' twice",
    '{"ts":1793594214,"src_ip":"\\ud800"}': "half of a surrogate pair",
    '{"ts":1793594214,"src_ip":"a\0"}': "no JSON object (Invalid control character",
    "": "a blank line",
    "[1]": "JSON that is no object (list)",
    '{"ts":1793594214}{"ts":1793594215}': "no JSON object (Extra data",
    '{"ts":' + "[" * 100_000 + "]" * 100_000 + "}": "no JSON object that can be read",
    '{"src_ip":"a"}': "time: there is none",
    '{"ts":20261102}': "time: found '20261102', expected a moment",
    '{"ts":1793594214,"src_port":70000}': "src_port: found '70000', expected a port from 0 to",
    '{"ts":1793594214,"dest_port":"http"}': "dst_port: found 'http', expected a port",
    '{"ts":1793594214,"a":{"b.c":1},"a.b":{"c":2}}': "the key 'a.b.c' that can be read in two ways",
}


@pytest.mark.parametrize("line", BAD)
@pytest.mark.parametrize("around", [1, 100])
def test_a_bad_line_is_named(tmp_path: Path, line: str, around: int) -> None:
    good = '{"ts":1793594214,"src_ip":"fine"}\n' * around
    text = f"{good}{line}\n{good}"
    with pytest.raises(InputError) as error:
        list(events(tmp_path, text, fields=["a.b.c"]))
    assert f"eve.json, line {around + 1}: " in str(error.value)
    assert BAD[line] in str(error.value)
    skipped = events(tmp_path, text, fields=["a.b.c"], on_bad_row="skip")
    lines = table(skipped)["line"].to_list()
    assert lines == [*range(1, around + 1), *range(around + 2, 2 * around + 2)]
    assert [(at.line, at.row) for at in skipped.refused] == [(around + 1, around + 1)]
    assert list(skipped.reasons.values()) == [1]


def test_brackets_inside_of_each_other_do_not_come_to_polars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deepest = []
    read = pl.read_ndjson

    def watched(text: bytes, **more: Any) -> pl.DataFrame:
        deepest.append(max(line.count(b"[") for line in text.split(b"\n")))
        return read(text, **more)

    monkeypatch.setattr(pl, "read_ndjson", watched)
    flat = '{"ts":1793594214,"a":[' + "[1]," * 900 + "[1]]}"
    nested = '{"ts":1793594214,"a":' + "[" * 1001 + "]" * 1001 + "}"
    text = f'{{"ts":1793594214}}\n{flat}\n' * 9
    assert len(table(events(tmp_path, text))) == 18
    assert max(deepest) == 902
    deepest.clear()
    assert len(table(events(tmp_path, text + nested + "\n", on_bad_row="skip"))) >= 18
    assert max(deepest, default=0) < 1000


def test_bytes_that_are_not_utf8_spoil_one_line(tmp_path: Path) -> None:
    text = b'{"ts":1793594214}\n{"ts":1793594214,"x":"\xff"}\n{"ts":1793594214}\n'
    skipped = events(tmp_path, text * 50, on_bad_row="skip")
    assert len(table(skipped)) == 100
    assert "not UTF-8 (0xff)" in skipped.refused[0].reason


def test_a_mark_and_line_ends_of_windows_are_fine(tmp_path: Path) -> None:
    read = table(events(tmp_path, b'\xef\xbb\xbf{"ts":1793594214}\r\n{"ts":1793594215}\r\n\r\n'))
    assert read["line"].to_list() == [1, 2]


def test_the_same_name_in_other_objects_is_fine(tmp_path: Path) -> None:
    other = {**EVE, "tunnel": {"src_ip": "9.9.9.9"}, "text": '"src_ip": "quoted\\u005f"'}
    assert table(events(tmp_path, (json.dumps(other) + "\n") * 50))[
        "src_ip"
    ].unique().to_list() == ["10.0.0.1"]


# -- against Python's own json and datetime --------------------------------------------------------

addresses = st.sampled_from(["10.0.0.1", "2001:db8::1", "odd \u00e9 \U0001f600", 'a\\b"c'])
stamps = st.datetimes(dt.datetime(1980, 1, 1), dt.datetime(2100, 1, 1)).map(  # noqa: DTZ001 - a zone is added
    lambda moment: moment.replace(tzinfo=dt.UTC)
)
records = st.fixed_dictionaries(
    {"timestamp": stamps.map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%f%z"))},
    optional={
        "event_type": st.sampled_from(["alert", "flow", "dns"]),
        "src_ip": addresses,
        "dest_port": st.integers(0, 65_535) | st.none(),
        "alert": st.fixed_dictionaries(
            {
                "severity": st.integers(1, 4)
                | st.floats(0, 9)
                | st.sampled_from(["high", "7", ""])
                | st.booleans()
            }
        ),
        "host": addresses | st.fixed_dictionaries({"name": addresses}),
        "flow": st.fixed_dictionaries({"src_ip": addresses}),
        "other": st.recursive(st.none() | st.text(max_size=4), st.lists, max_leaves=3),
    },
)


def expected(record: dict[str, Any]) -> tuple[Any, ...]:
    moment = dt.datetime.strptime(record["timestamp"], "%Y-%m-%dT%H:%M:%S.%f%z")
    host = record.get("host")
    return (
        (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1),
        record.get("event_type"),
        record.get("src_ip"),
        record.get("dest_port"),
        host.get("name") if isinstance(host, dict) else host,
    )


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(
    st.lists(records, min_size=1, max_size=12) | st.lists(records, min_size=40, max_size=45),
    st.booleans(),
    st.integers(100, 2000),
    st.integers(1, 50),
)
def test_pieces_of_any_size_give_what_json_and_datetime_give(
    tmp_path: Path, made: list[dict[str, Any]], ascii_only: bool, chunk: int, batch: int
) -> None:
    text = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in made)
    asked: dict[str, Any] = {"fields": ["alert.severity"]}
    cut = events(tmp_path, text, chunk_bytes=chunk, batch_rows=batch, **asked)
    batches = list(cut)
    assert all(len(one) == batch for one in batches[:-1])
    read = pl.concat([one.drop("alert.severity") for one in batches])
    rows = read.select("time", "kind", "src_ip", "dst_port", "host").rows()
    assert rows == [expected(record) for record in made]
    assert read["line"].to_list() == list(range(1, len(made) + 1))
    whole = table(events(tmp_path, text, **asked))
    assert whole.drop("alert.severity").equals(read)
    texts = [text_of(record.get("alert", {}).get("severity")) for record in made]
    if whole.schema["alert.severity"] == pl.Float64:
        assert whole["alert.severity"].to_list() == [
            float(text) if text else None for text in texts
        ]
    else:
        assert whole["alert.severity"].to_list() == texts
        assert {"high", "true", "false"} & set(texts)


def test_read_events_is_an_iterator_of_batches(tmp_path: Path) -> None:
    (tmp_path / "eve.json").write_text(json.dumps(EVE) + "\n")
    log = read_events([tmp_path / "eve.json"])
    assert len(next(log)) == 1
    assert next(log, None) is None
