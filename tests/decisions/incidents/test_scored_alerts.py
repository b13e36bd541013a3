"""What a score adds to incidents: every threshold as if it had been set, pictures, coverage."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from assay import Incidents, incidents
from assay.decisions.incidents.coverage import Ranges, range_based
from assay.decisions.incidents.detections import FINEST
from assay.errors import InputError, MethodError
from assay.inference.fields import restored

from .weeks import MONDAY, week

START = (MONDAY - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
SECOND = 1_000_000


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    eve, conn, attacks = week(3).write(tmp_path_factory.mktemp("week"))
    return {"alerts": eve, "events": conn, "schedule": attacks}


@pytest.fixture(scope="module")
def incident_summary(logs: dict[str, Any]) -> Incidents:
    return incidents(**logs, score="alert.severity", max_false_incidents=60, grace=30)


def test_every_point_is_what_its_threshold_gives(
    logs: dict[str, Any], incident_summary: Incidents
) -> None:
    curve = incident_summary.operating
    assert curve is not None
    assert curve.threshold == (1, 2, 3)
    for place in range(3):
        point = curve.point(place)
        alone = incidents(**logs, score="alert.severity", threshold=point.threshold, grace=30)
        assert point.detected == alone.detected
        assert point.false_alarms_per_day == pytest.approx(alone["false_alarms_per_day"])
        assert point.false_incidents_per_day == pytest.approx(alone["false_incidents_per_day"])
        delays = sorted(each.delay for each in alone.incidents if each.delay is not None)
        assert point.worst_delay == (delays[-1] if delays else None)
        # Nine incidents: half of them are five.
        assert point.median_delay == (delays[4] if len(delays) > 4 else None)


def test_alerts_alone_observe_the_same_time_at_every_threshold() -> None:
    hours = [0, 1, 30, 50]
    alerts = pl.DataFrame(
        {"time": [START + hour * 3600 * SECOND for hour in hours], "level": [1.0, 2.0, 3.0, 1.0]}
    )
    attack = {"attack": "scan", "start": MONDAY, "end": MONDAY}
    for threshold in (None, 2.0, 3.0):
        incident_summary = incidents(
            alerts=alerts, schedule=[attack], score="level", threshold=threshold
        )
        assert (incident_summary.observed.basis, incident_summary.observed.seconds) == (
            "alerts",
            50 * 3600,
        )
    with pytest.raises(InputError, match="no time was observed"):
        incidents(alerts=alerts[:1], schedule=[attack], score="level", max_false_incidents=5)


def test_alerts_that_lie_centuries_apart_are_refused() -> None:
    never = dt.datetime(9999, 12, 30, tzinfo=dt.UTC)
    rows = pl.DataFrame(
        {"time": [MONDAY, MONDAY, never], "incident": ["i", None, None], "score": [0.9, 0.1, 0.8]}
    )
    with pytest.raises(InputError, match=r"to 9999-12-30, .* days later"):
        incidents(rows, incident="incident", time="time", score="score", threshold=0.5)


def test_rows_of_a_table_observe_the_same_time_at_every_threshold() -> None:
    hours = [0.0, 0.5, 1.0, 48.0]
    rows = pl.DataFrame(
        {
            "time": [MONDAY + dt.timedelta(hours=hour) for hour in hours],
            "incident": ["i1", None, None, "i2"],
            "score": [0.9, 0.1, 0.6, 0.3],
        }
    )
    for threshold in (0.0, 0.5):
        incident_summary = incidents(
            rows, incident="incident", time="time", score="score", threshold=threshold
        )
        assert (incident_summary.observed.basis, incident_summary.observed.seconds) == (
            "events",
            3600,
        )


def test_a_threshold_is_chosen_by_constraint(
    logs: dict[str, Any], incident_summary: Incidents
) -> None:
    choice = incident_summary.choice
    assert choice is not None
    assert choice.empirical is not None
    assert choice.guaranteed is not None
    assert (choice.empirical.threshold, choice.empirical.detected) == (3, 6)
    tight = incidents(**logs, score="alert.severity", max_false_incidents=40, max_delay="1d")
    assert tight.choice is not None
    assert tight.choice.empirical is None
    assert tight.choice.constraints == {"max_false_incidents": 40, "max_delay": 86_400}


@pytest.mark.parametrize("asked", [{"max_false_incidents": 5}, {"max_delay": 60}])
def test_a_threshold_without_a_score_is_refused(logs: dict[str, Any], asked: Any) -> None:
    with pytest.raises(InputError, match="score="):
        incidents(**logs, **asked)


def test_what_has_no_score_has_no_thresholds(logs: dict[str, Any]) -> None:
    incident_summary = incidents(**logs)
    assert incident_summary.operating is None
    assert incident_summary.choice is None
    with pytest.raises(MethodError, match="alerts have no score"):
        incident_summary.plot.operating()


def test_the_result_comes_back_from_its_document(incident_summary: Incidents) -> None:
    written = incident_summary.to_dict()
    assert restored(Incidents, written).to_dict() == written


# -- pictures --------------------------------------------------------------------------------------


def test_the_timeline_holds_every_alert_and_no_more_spans_than_can_be_seen(
    incident_summary: Incidents,
) -> None:
    timeline = incident_summary.timeline
    assert timeline is not None
    spans = timeline.alerts
    assert 0 < len(spans.start) <= FINEST
    for each in incident_summary.incidents:
        if each.first_alert is not None:
            at = (each.first_alert - timeline.since) / SECOND
            inside = np.array(spans.start) - 1e-3 <= at
            assert np.any(inside & (at <= np.array(spans.end) + 1e-3))
    assert all(
        0 <= start <= end <= timeline.seconds + 1e-3
        for start, end in zip(spans.start, spans.end, strict=True)
    )


def test_all_figures_are_written(incident_summary: Incidents, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = [path.name for path in incident_summary.plot.save(tmp_path, formats=("svg",))]
    assert names == ["timeline.svg", "time-to-detect.svg", "operating.svg"]
    drawn = (tmp_path / "timeline.svg").read_text()
    assert "brute force" in drawn
    assert "false incidents" in drawn


# -- coverage --------------------------------------------------------------------------------------


def frame(seconds: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"time": [START + at * SECOND for at in seconds]})


def attack(start: int, end: int) -> dict[str, Any]:
    return {
        "attack": "scan",
        "start": (START + start * SECOND) // SECOND,
        "end": START // SECOND + end,
    }


def test_alarms_cover_incidents_second_by_second() -> None:
    alerts = [0, 100, 110, 125, 400, 405, 900]
    incident_summary = incidents(
        alerts=frame(alerts), schedule=[attack(105, 124), attack(600, 699)], gap=30
    )
    coverage = incident_summary.coverage
    assert coverage is not None
    expected = range_based(
        Ranges([105, 600], [125, 700]), Ranges([0, 100, 400, 900], [1, 126, 406, 901])
    )
    assert coverage.ranges == expected
    assert coverage.ranges.recall == 0.5
    adjusted = coverage.point_adjusted
    assert adjusted.alarm_rate == 34 / 901
    assert adjusted.f1 == pytest.approx(2 * 20 / (20 + 120 + 34 - 20))
    assert adjusted.random > adjusted.f1
    assert [each.code for each in incident_summary.findings].count("I009") == 1


def test_no_alert_near_an_incident_leaves_a_recall_of_0() -> None:
    incident_summary = incidents(alerts=frame([0, 1000]), schedule=[attack(400, 500)])
    assert incident_summary.coverage is not None
    assert incident_summary.coverage.ranges.recall == 0
    assert incident_summary.coverage.point_adjusted.f1 == 0
