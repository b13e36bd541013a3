"""Incidents in time, how long they stay undetected, and what thresholds of alerts mean."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import MethodError
from assay.v02.escaping import plural
from assay.v02.number_text import exact_percent
from assay.v02.plots.canvas import BLUE, COLOURS, GREY, MARKS, ORANGE, PAGE, drawing, label, one_line
from assay.v02.plots.curves import MARGIN, WIDE

if TYPE_CHECKING:
    from assay.v02.plots.canvas import Axes

MOST_INCIDENTS = 60
_ROW, _MORE = 0.17, 0.9  # inches
_THICK = 0.6
# No span is drawn thinner than this share of the time.
_THIN = 0.002
# Above this false incidents a day are on a logarithmic scale.
LINEAR = 20.0
# Seconds that are shorter than this can't be told apart where minutes are shown.
_QUICK = 10.0
_HOUR, _DAY = 3600, 86_400
_STEPS = (60, 300, 900, *(n * _HOUR for n in (1, 3, 6, 12)), *(n * _DAY for n in (1, 2, 7, 28)))
_TICKS = 8
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

Spans = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class IncidentSpan:
    """An incident: seconds from the beginning of the picture, and those of its first alert."""

    name: str
    start: float
    end: float
    first_alert: float | None = None


def timeline(
    incidents: Sequence[IncidentSpan],
    *,
    since: int,
    seconds: float,
    alerts: Spans = (),
    false_incidents: Spans = (),
    ax: Axes | None = None,
) -> Axes:
    """Incidents as bars, hollow where missed, above alerts and false incidents.

    ``since`` is the beginning in microseconds since 1970, UTC. A line from the start of a bar ends
    at its first alert. At most 60 incidents are shown, the missed ones first.
    """
    if not seconds > 0:
        raise MethodError(
            "there is nothing to draw: no time was observed, and no incident is known"
        )
    missed_first = sorted(range(len(incidents)), key=lambda i: incidents[i].first_alert is not None)
    shown = [incidents[i] for i in sorted(missed_first[:MOST_INCIDENTS])]
    others = (("alerts", alerts, GREY), ("false incidents", false_incidents, ORANGE))
    below = [each for each in others if each[1]]
    rows = len(shown) + len(below)
    with drawing(ax, _MORE + _ROW * rows, PAGE) as axes:
        for place, each in enumerate(shown):
            hit = each.first_alert is not None
            axes.broken_barh(
                [_wide(each.start, each.end, seconds)],
                (place - _THICK / 2, _THICK),
                facecolor=BLUE if hit else "white",
                edgecolor=BLUE if hit else ORANGE,
                alpha=0.6 if hit else 1,
                lw=0.8,
            )
            if each.first_alert is not None:
                axes.plot([each.start, each.first_alert], [place] * 2, color="black", lw=1)
                axes.plot(each.first_alert, place, "|", color="black", ms=7)
        for place, (_, spans, colour) in enumerate(below, len(shown)):
            boxes = [_wide(start, end, seconds) for start, end in spans]
            axes.broken_barh(boxes, (place - _THICK / 2, _THICK), color=colour, lw=0)
        names = [*(one_line(each.name) for each in shown), *(name for name, _, _ in below)]
        axes.set_yticks(range(rows), names, usetex=False)
        axes.set_ylim(rows - 0.5, -0.5)
        axes.set_xlim(0, seconds)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        ticks = time_ticks(since, seconds)
        axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks], usetex=False)
        left = len(incidents) - len(shown)
        label(
            axes,
            "Time (UTC)"
            + (
                f"\n{left} more {plural(left, 'incident is', 'incidents are')} not shown"
                if left
                else ""
            ),
        )
    return axes


def time_to_detect(
    seconds: Sequence[float],
    undetected: Sequence[float],
    low: Sequence[float] = (),
    high: Sequence[float] = (),
    *,
    level: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """The share of incidents that are still undetected, as steps with the band of the whole."""
    if not seconds:
        raise MethodError("there is nothing to draw: there are no incidents")
    with drawing(ax, WIDE) as axes:
        times = [0.0, *seconds]
        if low:
            axes.fill_between(
                times,
                [low[0], *low],
                [1.0, *high],
                step="post",
                color=BLUE,
                alpha=0.2,
                lw=0,
                label=f"{exact_percent(level)} band of the whole curve",
            )
        axes.step(times, [1.0, *undetected], where="post", color=BLUE, label="Kaplan-Meier")
        if max(seconds) > LINEAR * _QUICK:
            axes.set_xscale("symlog", linthresh=_QUICK, linscale=0.4)
        axes.set_ylim(-MARGIN, 1 + MARGIN)
        axes.set_xlim(left=0)
        label(axes, "Seconds since the start", "Still undetected")
        axes.legend()
    return axes


def operating(
    false_incidents: Sequence[float],
    heights: Sequence[float],
    *,
    name: str,
    points: Sequence[tuple[str, float, float]] = (),
    limit: float | None = None,
    highest: float = 0.0,
    ax: Axes | None = None,
) -> Axes:
    """What thresholds detect, or how soon, against false incidents a day.

    ``points`` are thresholds that were chosen, each with its name; ``limit`` is the largest number
    of false incidents a day that was asked for, and the y-axis goes up to ``highest`` at least.
    """
    if not false_incidents:
        raise MethodError("there is nothing to draw: alerts have no score")
    with drawing(ax, WIDE) as axes:
        if max(false_incidents) > LINEAR:
            axes.set_xscale("symlog", linthresh=1, linscale=0.4)
        axes.step(false_incidents, heights, where="post", color=BLUE, marker=".", ms=3)
        if limit is not None:
            axes.axvline(limit, color=GREY, linestyle="--", linewidth=0.8, label="at most")
        for i, (text, x, y) in enumerate(points):
            colour = COLOURS[(i + 1) % len(COLOURS)]
            mark = MARKS[i % len(MARKS)]
            axes.plot(
                x, y, mark, color=colour, mfc=colour if not i else "white", label=one_line(text)
            )
        axes.set_ylim(
            0, (1 + 2 * MARGIN) * max(highest, *heights, *(y for _, _, y in points), 1e-9)
        )
        axes.set_xlim(left=0)
        label(axes, "False incidents a day", name)
        if points or limit is not None:
            axes.legend()
    return axes


def _wide(start: float, end: float, seconds: float) -> tuple[float, float]:
    return start, max(end - start, _THIN * seconds)


def time_ticks(since: int, seconds: float) -> list[tuple[float, str]]:
    """Round moments in UTC as (seconds from the beginning, text): days, or hours and minutes.

    >>> time_ticks(0, 4 * 86_400)[:2]
    [(0.0, '01 Jan'), (43200.0, '12:00')]
    """
    step = next((each for each in _STEPS if seconds / each <= _TICKS), _STEPS[-1])
    begin = since / 1e6
    moment, ticks = -(-begin // step) * step, []
    while moment <= begin + seconds:
        at = _EPOCH + dt.timedelta(seconds=moment)
        days = step >= _DAY or not moment % _DAY
        ticks.append((moment - begin, f"{at:%d %b}" if days else f"{at:%H:%M}"))
        moment += step
    return ticks
