"""Incidents are counted as a plain loop counts them, on made-up weeks of any kind."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Incidents, incidents

from .counted_by_hand import EPOCH, by_hand
from .weeks import MONDAY, eve_alert, week

MICROSECOND = dt.timedelta(microseconds=1)


def told(incident_summary: Incidents) -> dict[str, Any]:
    """The answer, in the form of the plain count."""
    detected = [each for each in incident_summary.incidents if each.detected]
    return {
        "detected": sorted(each.id for each in detected),
        "delays": {each.id: each.delay for each in detected},
        "alerts": {each.id: each.alerts for each in detected},
        "false_alarms": incident_summary.false_alarms,
        "false_incidents": incident_summary.false_incidents,
        "days": {
            day.day: (day.alerts, day.false_alarms, day.false_incidents)
            for day in incident_summary.days
            if day.alerts
        },
    }


@pytest.mark.sampled(7)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "how", [{}, {"grace": 120}, {"directed": True}, {"gap": 60}, {"skew": 900}], ids=str
)
def test_a_week_of_logs_is_counted_as_by_hand(
    seed: int, how: dict[str, Any], tmp_path: Path
) -> None:
    made = week(seed)
    eve, conn, attacks = made.write(tmp_path)
    incident_summary = incidents(eve, events=conn, schedule=attacks, **how)
    assert told(incident_summary) == by_hand(made.eve, made.schedule, **how)
    assert incident_summary.total == len(made.schedule)


def test_rates_are_of_the_observed_days(tmp_path: Path) -> None:
    made = week(5)
    eve, conn, attacks = made.write(tmp_path)
    incident_summary = incidents(eve, events=conn, schedule=attacks)
    times = [float(line.split("\t")[0]) for line in made.conn if not line.startswith("#")]
    stamps = [dt.datetime.fromisoformat(json.loads(line)["timestamp"]) for line in made.eve]
    times += [stamp.timestamp() for stamp in stamps]
    days = (max(times) - min(times)) / 86_400
    assert incident_summary["false_alarms_per_day"] == pytest.approx(
        incident_summary.false_alarms / days
    )
    assert incident_summary["false_incidents_per_day"] == pytest.approx(
        incident_summary.false_incidents / days
    )


# -- any small week --------------------------------------------------------------------------------

ADDRESSES = ("10.0.0.1", "10.0.0.2", "192.168.0.1", "2001:db8::1", "2001:db8::2")
NETWORKS = ("", "10.0.0.1", "10.0.0.0/24", "10.0.0.2;192.168.0.0/16", "2001:db8::/64")
PORTS = ("", "80", "1-100", "443;8000-8999")
minutes = st.integers(0, 3 * 24 * 60)
alerts = st.tuples(minutes, st.sampled_from(ADDRESSES), st.sampled_from(ADDRESSES))
attacks = st.tuples(
    minutes,
    st.integers(0, 300),
    st.sampled_from(NETWORKS),
    st.sampled_from(NETWORKS),
    st.sampled_from(PORTS),
)


@settings(max_examples=150)
@given(
    raised=st.lists(
        st.tuples(alerts, st.sampled_from([22, 80, 443, 8080]), st.sampled_from([80, 443])),
        min_size=1,
        max_size=30,
    ),
    planned=st.lists(attacks, min_size=1, max_size=5),
    grace=st.sampled_from([0, 60, 3600]),
    gap=st.sampled_from([0, 60, 600, 7200]),
    directed=st.booleans(),
)
def test_any_small_week_is_counted_as_by_hand(
    raised: list[Any], planned: list[Any], grace: int, gap: int, directed: bool
) -> None:
    lines = []
    for (minute, source, target), source_port, target_port in raised:
        time = MONDAY + dt.timedelta(minutes=minute)
        ports = {"src_port": source_port, "dest_port": target_port}
        lines.append(eve_alert(time, source, target, 2000, **ports))
    schedule = [
        {
            "id": f"a{i}",
            "attack": "scan",
            "start": (MONDAY + dt.timedelta(minutes=start)).isoformat(),
            "end": (MONDAY + dt.timedelta(minutes=start + length)).isoformat(),
            "src_ip": source,
            "dst_ip": target,
            "dst_port": ports,
        }
        for i, (start, length, source, target, ports) in enumerate(planned)
    ]
    how = {"grace": grace, "gap": gap, "directed": directed}
    frame = pl.DataFrame(
        {
            "time": [
                (dt.datetime.fromisoformat(line["timestamp"]) - EPOCH) // MICROSECOND
                for line in lines
            ],
            "src_ip": [line["src_ip"] for line in lines],
            "dst_ip": [line["dest_ip"] for line in lines],
            "src_port": [line["src_port"] for line in lines],
            "dst_port": [line["dest_port"] for line in lines],
        }
    )
    incident_summary = incidents(frame, schedule=schedule, **how)
    assert told(incident_summary) == by_hand([json.dumps(line) for line in lines], schedule, **how)
