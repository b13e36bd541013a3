"""The schedule of attacks: what it may hold, and what is refused with its place."""

import datetime as dt
import ipaddress
import json
from pathlib import Path

import pytest

from assay.decisions.incidents import Incident, read_schedule
from assay.decisions.incidents.schedule import MOST
from assay.errors import EmptyInput, InputError

WINDOW = {"start": "2026-11-16T10:00:00Z", "end": "2026-11-16T10:05:00Z"}


def test_csv_and_json_lines_hold_the_same(tmp_path: Path) -> None:
    rows = [
        {
            "attack": "scan",
            **WINDOW,
            "src_ip": "10.0.0.0/8",
            "dst_port": "80;443",
            "family": "probe",
        },
        {
            "attack": "dos",
            **WINDOW,
            "src_ip": "2001:db8::1",
            "dst_port": "8000-8999",
            "family": "x",
        },
    ]
    lines = tmp_path / "attacks.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = tmp_path / "attacks.csv"
    heads = list(rows[0])
    texts = [",".join(heads), *(",".join(row[head] for head in heads) for row in rows)]
    table.write_text("\n".join(texts) + "\n")
    schedule = read_schedule(table)
    assert schedule.incidents == read_schedule(lines).incidents
    assert schedule.columns == ("src_ip", "dst_port")
    assert schedule.incidents[0].src_ip == (ipaddress.ip_network("10.0.0.0/8"),)
    assert schedule.incidents[1].dst_port == ((8000, 8999),)


def test_columns_are_known_by_the_names_of_zeek_suricata_and_ecs() -> None:
    row = {"attack_type": "scan", "start_time": WINDOW["start"], "stop": WINDOW["end"]}
    for source, target in (
        ("id.orig_h", "id.resp_h"),
        ("src_ip", "dest_ip"),
        ("source.ip", "destination.ip"),
    ):
        incident = read_schedule([{**row, source: "10.0.0.1", target: "10.0.0.2"}]).incidents[0]
        assert (str(incident.src_ip[0]), str(incident.dst_ip[0])) == ("10.0.0.1/32", "10.0.0.2/32")


def test_a_column_of_the_very_name_counts_before_its_aliases() -> None:
    row = {"name": "first of May", "attack": "scan", **WINDOW, "source": "a report"}
    assert read_schedule([row | {"src_ip": "10.0.0.1"}]).incidents[0].attack == "scan"


def test_incidents_come_in_the_order_of_their_start_and_keep_their_number() -> None:
    late = {"attack": "late", "start": "2026-11-16T12:00Z", "end": "2026-11-16T12:05Z"}
    incidents = read_schedule([late, {"attack": "early", **WINDOW}]).incidents
    assert [(each.id, each.attack) for each in incidents] == [("2", "early"), ("1", "late")]


def test_a_time_without_a_zone_needs_one() -> None:
    row = {"attack": "scan", "start": "2026-11-16T10:00:00", "end": "2026-11-16T10:05:00"}
    with pytest.raises(InputError, match=r"row 1: start: found .*no zone: say timezone="):
        read_schedule([row])
    utc, berlin = (read_schedule([row], zone).incidents[0] for zone in ("UTC", "Europe/Berlin"))
    assert utc.start - berlin.start == 3600 * 1_000_000


def test_a_time_that_clocks_showed_twice_is_refused() -> None:
    row = {"attack": "scan", "start": "2026-10-25T02:30:00", "end": "2026-10-25T04:00:00"}
    with pytest.raises(InputError, match="twice or not at all: write its offset"):
        read_schedule([row], "Europe/Berlin")


def test_a_zone_that_is_not_known_is_no_fault_of_the_schedule() -> None:
    with pytest.raises(InputError, match=r"^timezone='Mars/X' is not known"):
        read_schedule([{"attack": "scan", **WINDOW}], "Mars/X")


def test_an_end_without_an_hour_is_refused_and_not_taken_for_midnight() -> None:
    row = {"attack": "scan", "start": "2026-10-25", "end": "2026-10-25"}
    with pytest.raises(InputError, match="row 1: 'scan' ends on 2026-10-25, a day without an hour"):
        read_schedule([row], "UTC")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"attack": "scan", "start": WINDOW["start"]}, "row 1: 'scan' has no end"),
        ({"attack": "scan", "end": WINDOW["end"]}, "row 1: 'scan' has no start"),
        ({"attack": "", **WINDOW}, "row 1: an attack has no attack"),
        (
            {"attack": "scan", "start": WINDOW["end"], "end": WINDOW["start"]},
            "row 1: incident '1' ends at 2026-11-16T10:00:00Z, before it starts at",
        ),
        ({"attack": "scan", **WINDOW, "src_ip": "10.0.0.300"}, "expected an address such as"),
        ({"attack": "scan", **WINDOW, "dst_port": "http"}, "expected a port such as 443"),
        ({"attack": "scan", **WINDOW, "dst_port": "90-80"}, "found '90-80'"),
        ({"attack": "scan", **WINDOW, "dst_port": "70000"}, "found '70000'"),
        ({"attack": "scan", "start": "soon", "end": "later"}, "row 1: start: found 'soon'"),
        (
            {"attack": "scan", "begin": WINDOW["start"], "from": "", "stop": "", "to": "x"}
            | {"start_time": WINDOW["start"]},
            "two columns tell the start",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(row: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as error:
        read_schedule([row])
    assert str(error.value).startswith("the schedule, row 1: ")
    assert message in str(error.value)


def test_an_id_is_of_one_incident() -> None:
    row = {"attack": "scan", "id": "a", **WINDOW}
    with pytest.raises(InputError, match=r"row 2: the id 'a' was there before"):
        read_schedule([row, row])


def test_a_schedule_needs_attacks_and_their_columns(tmp_path: Path) -> None:
    with pytest.raises(EmptyInput, match="no attacks"):
        read_schedule([])
    path = tmp_path / "attacks.csv"
    path.write_text("attack,start\nscan,2026-11-16T10:00:00Z\n")
    with pytest.raises(InputError, match=r"attacks.csv has no column 'end'"):
        read_schedule(path)


def test_python_gives_incidents_and_moments() -> None:
    moment = dt.datetime(2026, 11, 16, 10, tzinfo=dt.UTC)
    row = {"attack": "scan", "start": moment, "end": moment + dt.timedelta(minutes=5)}
    first = read_schedule([row]).incidents[0]
    assert first == read_schedule([{"attack": "scan", **WINDOW}]).incidents[0]
    assert read_schedule([Incident("7", "scan", first.start, first.end)]).incidents[0].id == "7"


def test_a_file_of_too_many_rows_is_no_schedule(tmp_path: Path) -> None:
    path = tmp_path / "attacks.csv"
    row = f"scan,{WINDOW['start']},{WINDOW['end']}\n"
    path.write_text("attack,start,end\n" + (MOST + 1) * row)
    with pytest.raises(InputError, match=r"attacks.csv has more than 100,000 rows; a schedule has"):
        read_schedule(path)
