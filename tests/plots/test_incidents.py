"""Figures of incidents: bars in time, the share still undetected, what thresholds mean."""

import pytest

from assay.errors import MethodError
from assay.plots.incident_times import (
    MOST_INCIDENTS,
    IncidentSpan,
    operating,
    time_ticks,
    time_to_detect,
    timeline,
)

from . import drawn

MONDAY = 1_793_577_600_000_000
SCAN, MISSED = IncidentSpan("scan", 0, 3600, 600), IncidentSpan("costs $5", 7200, 9000)


def test_rows_are_incidents_then_alerts_then_false_incidents() -> None:
    ax = timeline(
        [SCAN, MISSED], since=MONDAY, seconds=86_400, alerts=[(0, 9)], false_incidents=[(50, 60)]
    )
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["scan", r"costs \$5", "alerts", "false incidents"]
    (delay,) = [line for line in ax.lines if len(line.get_xdata()) == 2]
    assert list(delay.get_xdata()) == [0, 600]
    widths = [box.get_paths()[0].get_extents().width for box in ax.collections]
    assert widths[:2] == [3600, 1800]
    assert widths[2] > 9  # what is too thin to be seen is drawn thicker


def test_a_missed_incident_is_hollow() -> None:
    ax = timeline([SCAN, MISSED], since=MONDAY, seconds=86_400)
    scan, missed = ax.collections
    assert tuple(missed.get_facecolor()[0][:3]) == (1, 1, 1)
    assert tuple(scan.get_facecolor()[0][:3]) != (1, 1, 1)


def test_of_many_incidents_the_missed_ones_are_kept() -> None:
    ax = timeline([SCAN] * (MOST_INCIDENTS + 5) + [MISSED], since=MONDAY, seconds=86_400)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == MOST_INCIDENTS
    assert names[-1] == r"costs \$5"
    assert "6 more incidents are not shown" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("seconds", "first"),
    [(600, "00:00"), (86_400, "02 Nov"), (7 * 86_400, "02 Nov"), (400 * 86_400, "19 Nov")],
)
def test_ticks_are_round_moments(seconds: float, first: str) -> None:
    ticks = time_ticks(MONDAY, seconds)
    assert ticks[0][1] == ("02 Nov" if first == "00:00" else first)
    assert all(0 <= at <= seconds for at, _ in ticks)
    assert 2 <= len(ticks) <= 16


def test_the_curve_begins_at_1_and_has_its_band() -> None:
    ax = time_to_detect((60.0, 120.0), (0.5, 0.25), (0.1, 0.0), (0.9, 0.8))
    assert drawn.corners(ax)[0].tolist() == [0, 1]
    assert drawn.legend(ax) == ["95% band of the whole curve", "Kaplan-Meier"]


def test_long_delays_are_on_a_logarithmic_scale() -> None:
    assert time_to_detect((60.0,), (0.5,)).get_xscale() == "linear"
    assert time_to_detect((60.0, 9000.0), (0.5, 0.2)).get_xscale() == "symlog"


def test_chosen_thresholds_stand_on_the_curve_beside_the_limit() -> None:
    ax = operating(
        (0.0, 3.0, 50.0),
        (1.0, 4.0, 6.0),
        name="Incidents detected",
        points=[("by this data", 3.0, 4.0)],
        limit=5.0,
        highest=9.0,
    )
    assert drawn.legend(ax) == ["at most", "by this data"]
    assert ax.get_ylim()[1] > 9
    assert ax.get_xscale() == "symlog"


def test_what_is_empty_is_told() -> None:
    for draw in (
        lambda: timeline([], since=0, seconds=0),
        lambda: time_to_detect((), ()),
        lambda: operating((), (), name="x"),
    ):
        with pytest.raises(MethodError, match="there is nothing to draw"):
            draw()
