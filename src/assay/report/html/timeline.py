"""Incidents as bars in time, with the delay of each, above alerts and false incidents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.plots.incidents import time_ticks
from assay.report.html.limits import Limits
from assay.report.html.scales import Frame, Scale
from assay.report.html.text import Name, named
from assay.report.numbers import count
from assay.report.sections import Bar, Bars

WIDTH, LEFT, RIGHT, TOP = 760, 168, 640, 12
ROW, THICK, FOOT = 22, 11, 34
# More incidents than that share a row with those of the same name.
MOST_ROWS = 40
# No span is drawn thinner than this.
_THIN = 1.6
_LETTERS, _REMARK = 22, 16


@dataclass(frozen=True)
class TimeRow:
    """A row: its name, its height, what was detected and missed, delays, and what is said.

    All but the texts are paths in units of the drawing.
    """

    name: Name
    y: str
    detected: str = ""
    missed: str = ""
    delays: str = ""
    remark: str = ""
    kind: str = "incidents"


@dataclass(frozen=True)
class DrawnTimeline:
    """The picture, and what it says in words."""

    said: str
    rows: tuple[TimeRow, ...]
    ticks: tuple[tuple[str, str], ...]
    frame: Frame


def drawn_bars(block: Bars, limits: Limits) -> DrawnTimeline | None:
    """The picture of incidents; None where there is no time to draw."""
    if not block.seconds > 0:
        return None
    groups = list(_groups(block.bars))
    shown = groups[: min(MOST_ROWS, limits.rows)]
    below = (("alerts", block.alerts), ("false incidents", block.false_incidents))
    bottom = TOP + ROW * (len(shown) + len(below))
    frame = Frame(WIDTH, bottom + FOOT, LEFT, RIGHT, TOP, bottom)
    scale = Scale(0.0, block.seconds)
    rows = [_row(group, i, scale, frame, limits) for i, group in enumerate(shown)]
    for i, (what, spans) in enumerate(below, len(shown)):
        path = "".join(_box(start, end, i, scale, frame) for start, end in spans)
        name, kind = named(what, limits.letters), what.split(" ", maxsplit=1)[0]
        rows.append(TimeRow(name, _middle(i), detected=path, kind=kind))
    missed = sum(bar.first_alert is None for bar in block.bars)
    return DrawnTimeline(
        said=f"{count(len(block.bars))} incidents in time, {count(missed)} of them missed, above "
        f"alerts and false incidents",
        rows=tuple(rows),
        ticks=tuple(
            (frame.x(scale.share(at)), text) for at, text in time_ticks(block.since, block.seconds)
        ),
        frame=frame,
    )


def _groups(bars: Sequence[Bar]) -> Iterator[tuple[Bar, ...]]:
    """One incident a row, or all of one name where there are many."""
    if len(bars) <= MOST_ROWS:
        yield from ((bar,) for bar in bars)
        return
    by_name: dict[str, list[Bar]] = {}
    for bar in bars:
        by_name.setdefault(bar.name, []).append(bar)
    yield from map(tuple, by_name.values())


def _row(bars: tuple[Bar, ...], place: int, scale: Scale, frame: Frame, limits: Limits) -> TimeRow:
    boxes: dict[bool, list[str]] = {True: [], False: []}
    delays = []
    for bar in bars:
        boxes[bar.first_alert is not None].append(_box(bar.start, bar.end, place, scale, frame))
        if bar.first_alert is not None:
            start, first = (frame.x(scale.share(at)) for at in (bar.start, bar.first_alert))
            delays.append(f"M{start} {_middle(place)}H{first}m0 -{THICK / 2}v{THICK}")
    found = sum(bar.first_alert is not None for bar in bars)
    remark = bars[0].remark if len(bars) == 1 else f"{count(found)} of {count(len(bars))}"
    return TimeRow(
        name=named(bars[0].name, min(_LETTERS, limits.letters)),
        y=_middle(place),
        detected="".join(boxes[True]),
        missed="".join(boxes[False]),
        delays="".join(delays),
        remark=named(remark, _REMARK).shown,
    )


def _box(start: float, end: float, place: int, scale: Scale, frame: Frame) -> str:
    left = float(frame.x(scale.share(start)))
    width = max(float(frame.x(scale.share(end))) - left, _THIN)
    top = TOP + ROW * place + (ROW - THICK) / 2
    return f"M{left:.1f} {top:.1f}h{width:.1f}v{THICK}h-{width:.1f}z"


def _middle(place: int) -> str:
    return f"{TOP + ROW * (place + 0.5):.1f}"
