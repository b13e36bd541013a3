"""A week of logs: what its files say is what can be counted in them by other means."""

import csv
import datetime as dt
import ipaddress
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from assay.errors import InputError
from assay.learn.scenarios import write_week
from assay.learn.scenarios.week import FILES
from assay.sources.logs import read_events

GRACE = dt.timedelta(seconds=60)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("week")
    write_week(folder, 12_001, 7)
    return folder


def records(week: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (week / "eve.json").read_text().splitlines()]


def schedule(week: Path) -> list[dict[str, Any]]:
    with (week / "attacks.csv").open() as file:
        return list(csv.DictReader(file))


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def is_of(attack: dict[str, Any], alert: dict[str, Any], grace: dt.timedelta) -> bool:
    """Whether an alert lies in an attack's window, between its addresses."""
    when = moment(alert["timestamp"])
    return (
        moment(attack["start"]) <= when <= moment(attack["end"]) + grace
        and ipaddress.ip_address(alert["src_ip"]) in ipaddress.ip_network(attack["src_ip"])
        and ipaddress.ip_address(alert["dest_ip"]) in ipaddress.ip_network(attack["dst_ip"])
        and attack["dst_port"] in ("", str(alert["dest_port"]))
    )


def test_the_truth_is_what_a_count_by_hand_gives(week: Path) -> None:
    alerts = [record for record in records(week) if record["event_type"] == "alert"]
    truth = json.loads((week / "truth.json").read_text())
    hits: Counter[int] = Counter()
    for attack, told in zip(schedule(week), truth["attacks"], strict=True):
        own = [i for i, alert in enumerate(alerts) if is_of(attack, alert, dt.timedelta())]
        hits.update(own)
        first = min((moment(alerts[i]["timestamp"]) for i in own), default=None)
        assert told["alerts"] == len(own)
        assert told["detected"] == (first is not None)
        if first is not None:
            assert moment(told["first_alert"]) == first
            assert told["delay"] == (first - moment(attack["start"])).total_seconds()
        late = [i for i, alert in enumerate(alerts) if is_of(attack, alert, GRACE)]
        assert told["late_alerts"] == len(late) - len(own)
    assert max(hits.values()) == 1
    false = [alert for i, alert in enumerate(alerts) if i not in hits]
    assert truth["alerts"] == len(alerts)
    assert truth["false_alarms"] == len(false)
    assert truth["false_alarms_by_day"] == Counter(alert["timestamp"][:10] for alert in false)
    rules = Counter(str(alert["alert"]["signature_id"]) for alert in false)
    assert truth["false_alarms_by_rule"] == rules


@pytest.mark.slow
def test_the_attacks_are_those_of_the_story(week: Path) -> None:
    attacks = json.loads((week / "truth.json").read_text())["attacks"]
    assert [attack["detected"] for attack in attacks] == [True] * 8 + [False]
    windows = [(moment(attack["start"]), moment(attack["end"])) for attack in attacks]
    together = [
        (a["attack"], b["attack"])
        for i, (a, (start, end)) in enumerate(zip(attacks, windows, strict=True))
        for b, other in zip(attacks[i + 1 :], windows[i + 1 :], strict=True)
        if start <= other[1] and other[0] <= end
    ]
    assert ("web flood", "database theft") in together
    assert ("beacon", "worm") in together
    assert min(end - start for start, end in windows) == dt.timedelta(seconds=20)
    floods = [r for r in records(week) if r.get("alert", {}).get("signature_id") == 1000003]
    assert len({alert["src_ip"] for alert in floods}) > 50


def test_logs_are_in_order_and_read_without_a_word(week: Path) -> None:
    truth = json.loads((week / "truth.json").read_text())
    for name, lines in truth["lines"].items():
        events = read_events([week / name])
        read = pl.concat(events)
        assert (events.rows_refused, events.notes) == (0, [])
        assert read.height == events.rows_read == lines
        assert read["time"].is_sorted()
    assert sum(truth["lines"].values()) == 12_001
    eve = pl.concat(read_events([week / "eve.json"]))
    kinds = dict(eve["kind"].value_counts().iter_rows())
    assert kinds["alert"] == truth["alerts"]
    assert kinds["flow"] == truth["lines"]["conn.log"]
    expected = [
        f"{r['alert']['signature_id']} {r['alert']['signature']}" if "alert" in r else None
        for r in records(week)
    ]
    assert eve["rule"].to_list() == expected


@pytest.mark.slow
def test_the_same_flows_stand_in_both_logs_and_in_the_table(week: Path) -> None:
    ends = ["src_ip", "src_port", "dst_ip", "dst_port"]
    eve = pl.concat(read_events([week / "eve.json"], fields=["flow.start"]))
    conn = pl.concat(read_events([week / "conn.log"])).select("time", *ends)
    starts = eve.filter(kind="flow").with_columns(
        time=pl.col("flow.start").str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", time_unit="us")
    )
    assert conn.sort(conn.columns).equals(
        starts.select(pl.col("time").to_physical(), *ends).sort(conn.columns)
    )
    table = pl.read_csv(week / "flows.csv")
    assert table["host"].to_list() == conn["src_ip"].to_list()


def test_few_rows_are_caught_and_most_attacks_found(week: Path) -> None:
    table = pl.read_csv(week / "flows.csv")
    attacks = table.filter(label="attack")
    caught = attacks.filter(pl.col("score") >= 0.5)
    assert 0.3 < caught.height / attacks.height < 0.5
    assert set(caught["incident"]) == set(attacks["incident"]) - {"name tunnel"}
    assert table.filter(label="normal")["incident"].null_count() == table.height - attacks.height


@pytest.mark.slow
def test_the_same_seed_is_the_same_week_and_more_rows_more_harmless_flows(
    week: Path, tmp_path: Path
) -> None:
    for name, rows, seed in (("again", 12_001, 7), ("more", 15_000, 7), ("other", 12_001, 8)):
        (tmp_path / name).mkdir()
        write_week(tmp_path / name, rows, seed)
    for file in FILES:
        assert (tmp_path / "again" / file).read_bytes() == (week / file).read_bytes()
        assert (tmp_path / "other" / file).read_bytes() != (week / file).read_bytes()
    more = tmp_path / "more"
    assert (more / "attacks.csv").read_text() == (week / "attacks.csv").read_text()
    alerts = [record for record in records(week) if record["event_type"] == "alert"]
    assert [r for r in records(more) if r["event_type"] == "alert"] == alerts


def test_a_week_too_small_for_its_attacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"rows=100 is too small .*; say \d+ or more"):
        write_week(tmp_path, 100)
