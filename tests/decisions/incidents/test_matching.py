"""Which alerts belong to an incident, and what is said of overlaps, clocks and silences."""

import datetime as dt
from typing import Any

import polars as pl
import pytest

from assay import incidents
from assay.errors import EmptyInput, InputError, ScoreError

NOON = 1_794_830_400_000_000  # 2026-11-16T12:00:00Z
SECOND = 1_000_000


def attack(start: int = 0, end: int = 600, **more: Any) -> dict[str, Any]:
    """An attack, in seconds from noon."""
    moments = (NOON + start * SECOND, NOON + end * SECOND)
    return {"attack": "scan", "start": str(moments[0]), "end": str(moments[1]), **more}


def alerts(*seconds: float, **columns: Any) -> pl.DataFrame:
    """Alerts so many seconds from noon on."""
    times = [NOON + round(second * SECOND) for second in seconds]
    return pl.DataFrame({"time": times}).with_columns(
        pl.lit(value).alias(name) if not isinstance(value, list) else pl.Series(name, value)
        for name, value in columns.items()
    )


@pytest.mark.parametrize(
    ("second", "detected"), [(-0.000001, False), (0, True), (600, True), (600.000001, False)]
)
def test_both_ends_count(second: float, detected: bool) -> None:
    assert incidents(alerts=alerts(second), schedule=[attack()]).detected == detected


@pytest.mark.parametrize(("second", "detected"), [(660, True), (660.000001, False)])
def test_grace_is_added_after_the_end(second: float, detected: bool) -> None:
    incident_summary = incidents(alerts=alerts(second), schedule=[attack()], grace="60s")
    assert incident_summary.detected == detected


def test_either_direction_counts_unless_directed() -> None:
    schedule = [attack(src_ip="10.0.0.1", dst_ip="10.0.0.2", dst_port="80")]
    back = alerts(1, src_ip="10.0.0.2", dst_ip="10.0.0.1", src_port=80, dst_port=5000)
    assert incidents(alerts=back, schedule=schedule).detected == 1
    assert incidents(alerts=back, schedule=schedule, directed=True).detected == 0


def test_ports_turn_with_their_addresses() -> None:
    schedule = [attack(src_ip="10.0.0.1", dst_ip="10.0.0.2", dst_port="80")]
    other = alerts(1, src_ip="10.0.0.2", dst_ip="10.0.0.1", src_port=5000, dst_port=80)
    assert incidents(alerts=other, schedule=schedule).detected == 0


def test_an_address_that_is_none_fits_nothing() -> None:
    schedule = [attack(src_ip="0.0.0.0/0")]
    odd = alerts(1, 2, 3, src_ip=["", None, "::1"], dst_ip="not an address")
    assert incidents(alerts=odd, schedule=schedule).detected == 0


def test_attacks_that_overlap_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.decisions.incidents.log_lines._MOST_PAIRS", 45)
    schedule = [attack(start=i) for i in range(25)]
    assert incidents(alerts=alerts(100, 200), schedule=schedule[:22]).detected == 22
    with pytest.raises(InputError, match="2 lines belong to more than 45 of them together"):
        incidents(alerts=alerts(100, 200), schedule=schedule)
    assert incidents(alerts=alerts(*range(100, 200)), schedule=schedule[:20]).detected == 20


def test_hosts_are_told_by_name_in_any_case() -> None:
    schedule = [attack(host="Web1;web2")]
    assert incidents(alerts=alerts(1, host="WEB1"), schedule=schedule).detected == 1
    assert incidents(alerts=alerts(1, host="web3"), schedule=schedule).detected == 0


def test_match_leaves_out_what_need_not_fit() -> None:
    schedule = [attack(src_ip="10.0.0.1", dst_port="80")]
    raised = alerts(1, src_ip="10.0.0.1", dst_port=443)
    assert incidents(alerts=raised, schedule=schedule).detected == 0
    assert incidents(alerts=raised, schedule=schedule, match=["src_ip"]).detected == 1
    with pytest.raises(InputError, match="match= names host, which the schedule does not have"):
        incidents(alerts=raised, schedule=schedule, match=["host"])
    with pytest.raises(InputError, match="match='colour' is none of src_ip"):
        incidents(alerts=raised, schedule=schedule, match=["colour"])


def test_an_alert_of_two_incidents_counts_for_each_and_is_told() -> None:
    schedule = [attack(0, 600, id="a"), attack(300, 900, id="b")]
    incident_summary = incidents(alerts=alerts(100, 400), schedule=schedule)
    assert incident_summary.detected == 2
    assert [(each.alerts, each.shared) for each in incident_summary.incidents] == [(2, 1), (1, 1)]
    assert incident_summary.alerts == 2
    (finding,) = (each for each in incident_summary.findings if each.code == "I002")
    assert "scan (b) has no other: without such alerts 1 incident is detected" in finding.message


def test_windows_that_overlap_are_fine_where_addresses_tell_them_apart() -> None:
    schedule = [attack(0, 600, src_ip="10.0.0.1"), attack(300, 900, src_ip="10.0.0.2")]
    incident_summary = incidents(alerts=alerts(400, src_ip="10.0.0.2"), schedule=schedule)
    assert [each.detected for each in incident_summary.incidents] == [False, True]
    assert "I002" not in {each.code for each in incident_summary.findings}


def test_alerts_within_the_gap_are_one_false_incident() -> None:
    noise = alerts(1000, 1600, 2200.000001, 9000)
    incident_summary = incidents(alerts=noise, schedule=[attack()], gap="10m")
    assert (incident_summary.false_alarms, incident_summary.false_incidents) == (4, 3)


def test_false_alarms_of_another_key_are_another_false_incident() -> None:
    noise = alerts(1000, 1001, src_ip=["10.0.0.1", "10.0.0.2"], rule=["7", "7"])
    assert incidents(alerts=noise, schedule=[attack()]).false_incidents == 2
    assert incidents(alerts=noise, schedule=[attack()], key=["rule"]).false_incidents == 1


def test_a_group_keeps_its_key_whichever_end_is_the_source() -> None:
    ends = ["10.0.0.1", "10.0.0.2"]
    noise = alerts(1000, 1001, src_ip=ends, dst_ip=ends[::-1])
    assert incidents(alerts=noise, schedule=[attack()]).false_incidents == 1
    assert incidents(alerts=noise, schedule=[attack()], directed=True).false_incidents == 2


# -- clocks ----------------------------------------------------------------------------------------

SCHEDULE = [attack(7000 * i, 7000 * i + 600, src_ip=f"10.0.0.{i}") for i in range(1, 6)]


def late(seconds: float) -> pl.DataFrame:
    """An alert for each attack, with a clock that is so far ahead."""
    times = [7000 * i + 30 * i + seconds for i in range(1, 6)]
    return alerts(*times, src_ip=[f"10.0.0.{i}" for i in range(1, 6)])


@pytest.mark.parametrize("hours", [-5, 1, 2])
def test_a_wrong_zone_is_estimated_and_told_but_not_applied(hours: int) -> None:
    incident_summary = incidents(alerts=late(3600 * hours), schedule=SCHEDULE)
    assert incident_summary.detected == 0
    assert incident_summary.skew.estimated == 3600 * hours
    assert (incident_summary.skew.applied, incident_summary.skew.detected) == (0, 5)
    (finding,) = (each for each in incident_summary.findings if each.code == "I003")
    sign = "-" if hours < 0 else ""
    assert f"give a skew of {sign}{abs(hours)}h if that is so" in finding.message


def test_a_skew_is_applied_where_it_is_asked_for() -> None:
    given = incidents(alerts=late(3600), schedule=SCHEDULE, skew="1h")
    assert (given.detected, given.skew.applied) == (5, 3600)
    assert [each.delay for each in given.incidents] == [30, 60, 90, 120, 150]
    told = incidents(alerts=late(3600), schedule=SCHEDULE, skew="estimate")
    assert told.incidents == given.incidents
    assert told.skew.applied == 3600


def test_clocks_that_agree_are_left_alone() -> None:
    incident_summary = incidents(alerts=late(0), schedule=SCHEDULE, skew="estimate")
    assert (
        incident_summary.skew.applied,
        incident_summary.skew.estimated,
        incident_summary.detected,
    ) == (0, 0, 5)
    assert "I003" not in {each.code for each in incident_summary.findings}


# -- what was observed -----------------------------------------------------------------------------


def test_events_tell_which_time_was_observed() -> None:
    events = pl.DataFrame({"time": [NOON + minute * 60 * SECOND for minute in range(0, 600, 10)]})
    quiet = events.filter(pl.col("time") < NOON + 7200 * SECOND)
    incident_summary = incidents(alerts=alerts(1000, 20_000), schedule=[attack()], events=quiet)
    assert incident_summary.observed is not None
    assert (incident_summary.observed.seconds, incident_summary.observed.silences) == (6600, 1)
    assert "I007" in {each.code for each in incident_summary.findings}
    whole = incidents(alerts=alerts(1000, 20_000), schedule=[attack()], events=events)
    assert whole.observed is not None
    assert whole.observed.seconds == 590 * 60


def test_an_incident_of_which_nothing_was_seen_is_told() -> None:
    events = pl.DataFrame({"time": [NOON, NOON + 900 * SECOND], "src_ip": ["10.0.0.9"] * 2})
    schedule = [attack(src_ip="10.0.0.1"), attack(90_000, 90_600, src_ip="10.0.0.1")]
    incident_summary = incidents(alerts=alerts(800), schedule=schedule, events=events)
    told = [each.message for each in incident_summary.findings if each.code == "I001"]
    assert told[0].startswith("scan (2) lies where nothing was observed")
    assert told[1].startswith("No line in the logs belongs to scan (1)")


def test_a_log_without_alerts_is_told() -> None:
    flows = alerts(1, 2, kind="flow")
    incident_summary = incidents(alerts=flows, schedule=[attack()])
    (finding,) = (each for each in incident_summary.findings if each.code == "I010")
    assert finding.message == "None of the 2 lines is an alert that counts."
    raised = incidents(alerts=alerts(1, 2), schedule=[attack()])
    assert "I010" not in {each.code for each in raised.findings}


def test_time_under_alarm_lasts_until_the_gap_has_passed() -> None:
    events = pl.DataFrame({"time": [NOON, NOON + 3600 * SECOND]})
    incident_summary = incidents(
        alerts=alerts(100, 200, 3500), schedule=[attack()], events=events, gap=300
    )
    assert incident_summary["share_under_alarm"] == pytest.approx((400 + 100) / 3600)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"gap": "-1s"}, "gap= is -1 seconds; it can't be negative"),
        ({"grace": "soon"}, "grace='soon' is no length of time"),
        ({"threshold": 3}, "threshold= is of a score"),
        ({"max_delay": "5m"}, "name the column with score="),
        ({"incident": "id"}, "incident= is of a table"),
        ({"key": ["colour"]}, "key= names 'colour', which the alerts do not have"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        incidents(alerts=alerts(1), schedule=[attack()], **asked)
    assert message in str(error.value)


def test_a_key_that_no_alert_has_is_refused() -> None:
    none = alerts(1, 900, colour=pl.Series([None, None], dtype=pl.String).to_list())
    with pytest.raises(InputError, match="key= names 'colour', which no alert has"):
        incidents(alerts=none, schedule=[attack()], key=["src_ip", "colour"])
    some = alerts(1, 900, colour=["red", None])
    assert incidents(alerts=some, schedule=[attack()], key=["src_ip", "colour"]).false_alarms == 1


def test_an_alert_without_its_score_is_refused() -> None:
    odd = alerts(1, 2, risk=[0.5, None])
    with pytest.raises(ScoreError, match="row 2: 'risk' is nothing, expected a finite number"):
        incidents(alerts=odd, schedule=[attack()], score="risk")
    left = incidents(alerts=odd, schedule=[attack()], score="risk", on_bad_row="skip")
    assert (left.alerts, left.source["rows_read"], left.source["rows_refused"]) == (1, 2, 1)
    assert [each["row"] for each in left.source["refused"]] == [2]


def test_there_have_to_be_lines() -> None:
    with pytest.raises(EmptyInput, match="there is no line"):
        incidents(alerts=alerts().cast({"time": pl.Int64}), schedule=[attack()])
    with pytest.raises(InputError, match="give alerts= and schedule="):
        incidents()
    naive = pl.DataFrame({"time": [dt.datetime(2026, 11, 16)]})  # noqa: DTZ001 - it has none
    with pytest.raises(InputError, match="need a zone"):
        incidents(alerts=naive, schedule=[attack()])
