"""Incidents in time, how long they stay undetected, and what every threshold of alerts means."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.decisions.incidents.constrained import OperatingChoice
from assay.decisions.incidents.coverage import Coverage
from assay.decisions.incidents.findings import span
from assay.decisions.incidents.operating import OperatingCurve, OperatingPoint
from assay.decisions.incidents.result import Incidents
from assay.report.numbers import count
from assay.report.sections import (
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Section,
    StepCurve,
    Table,
    Tier,
)

# So many thresholds are listed; JSON has all of them.
_MOST_ROWS = 40
_UNITS = ((3 * 3600.0, 3600.0, "hours"), (180.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


def sections(found: Incidents) -> Iterator[Section]:
    """How long incidents stay undetected, thresholds of the score, and measures of time alone."""
    if found.delays is not None:
        yield Section("Time to detect", (_time_to_detect(found),), Tier.ADVANCED, detail=True)
    if found.choice is not None:
        yield Section("Threshold", tuple(_choice(found, found.choice)), Tier.MAIN)
    if found.operating is not None and found.operating.threshold:
        block = _operating(found, found.operating)
        yield Section("What every threshold would mean", (block,), Tier.ADVANCED)
        late = _late(found, found.operating)
        if late is not None:
            yield Section("How soon, by threshold", (late,), Tier.ADVANCED, detail=True)
    if found.coverage is not None:
        yield Section("In time", (_covering(found.coverage),), Tier.ADVANCED)


def pictured(table: Table, found: Incidents) -> Table:
    """The table of incidents with what a page needs to draw them in time."""
    timeline = found.timeline
    if timeline is None:
        return table
    bars = []
    for each in found.incidents:
        start, end = ((at - timeline.since) / 1e6 for at in (each.start, each.end))
        first = None if each.delay is None else start + each.delay
        remark = "missed" if each.delay is None else f"after {span(each.delay)}"
        bars.append(Bar(each.attack, start, end, first, remark))
    spans = (timeline.alerts, timeline.false_incidents)
    alerts, false = (tuple(zip(each.start, each.end, strict=True)) for each in spans)
    return Bars(
        table.caption,
        table.columns,
        table.rows,
        table.notes,
        bars=tuple(bars),
        since=timeline.since,
        seconds=timeline.seconds,
        alerts=alerts,
        false_incidents=false,
    )


def _time_to_detect(found: Incidents) -> StepCurve:
    curve = found.delays
    assert curve is not None  # noqa: S101 - asked for where there is one
    longest = max(curve.seconds, default=0.0)
    unit, name = next((size, name) for least, size, name in _UNITS if longest >= least)
    columns = (
        Column("after"),
        Column("still undetected", Kind.SHARE),
        Column("low", Kind.SHARE),
        Column("high", Kind.SHARE),
    )
    steps = zip(curve.seconds, curve.undetected, curve.low, curve.high, strict=True)
    rows: tuple[tuple[Cell, ...], ...] = tuple((span(step[0]), *step[1:]) for step in steps)
    caption = f"Share of incidents still undetected (Kaplan-Meier), {100 * found.level:g}% band"
    note = "the band holds the whole curve; a missed incident is censored at its end"
    return StepCurve(
        caption,
        columns,
        rows[:_MOST_ROWS],
        (note,),
        axes=(f"time since the start in {name}", "still undetected"),
        x=(0.0, *(at / unit for at in curve.seconds)),
        y=(1.0, *curve.undetected),
        low=(curve.low[0], *curve.low) if curve.low else (),
        high=(1.0, *curve.high),
    )


# -- thresholds ------------------------------------------------------------------------------------


def _choice(found: Incidents, choice: OperatingChoice) -> Iterator[Block]:
    columns = (Column("threshold"), *_OPERATING)
    rows = [
        (f"{name}: {_threshold(found, point)}", *_point(point))
        for name, point in (("by this data", choice.empirical), ("promised", choice.guaranteed))
        if point is not None
    ]
    asked = " and ".join(_asked(choice))
    if rows:
        yield Table(f"Asked for: {asked}; {choice.objective}", columns, tuple(rows), as_rows=True)
    if choice.infeasible is not None:
        yield Prose(choice.infeasible)
    if choice.guaranteed is not None:
        yield Prose(
            f"Promised with {100 * choice.confidence:g}% confidence, provided that "
            f"{choice.assumption}."
        )


def _asked(choice: OperatingChoice) -> Iterator[str]:
    limits = choice.constraints
    if "max_false_incidents" in limits:
        yield f"at most {limits['max_false_incidents']:g} false incidents a day"
    if "max_delay" in limits:
        yield f"a median time to detect of at most {span(limits['max_delay'])}"


_OPERATING = (
    Column("detected", Kind.COUNT),
    Column("false incidents a day", Kind.DAILY),
    Column("false alarms a day", Kind.DAILY, optional=True),
    Column("half detected within"),
)


def _point(point: OperatingPoint) -> tuple[Cell, ...]:
    median = "not reached" if point.median_delay is None else span(point.median_delay)
    costs = (point.false_incidents_per_day, point.false_alarms_per_day)
    return (point.detected, *costs, median)


def _threshold(found: Incidents, point: OperatingPoint) -> str:
    return f"{found.score} {'<=' if found.reversed else '>='} {point.threshold:.6g}"


def _operating(found: Incidents, curve: OperatingCurve) -> StepCurve:
    points = [curve.point(i) for i in range(len(curve.threshold))]
    # Of thresholds that detect the same the highest has the fewest false alarms.
    best = [p for i, p in enumerate(points) if not i or p.detected > points[i - 1].detected]
    rows = tuple((_threshold(found, point), *_point(point)) for point in best[:_MOST_ROWS])
    more = len(best) - len(rows)
    notes = (f"{count(more)} more are in the JSON document",) if more else ()
    notes = (*notes, "half of all incidents, where one that is missed is never detected")
    return StepCurve(
        f"Of {count(curve.total)} incidents, by the score from which on alerts count",
        (Column("threshold"), *_OPERATING),
        rows,
        notes,
        axes=("false incidents a day", "incidents detected"),
        x=curve.false_incidents_per_day,
        y=tuple(float(detected) for detected in curve.detected),
        marks=tuple(_marks(found, delay=False)),
        highest=float(curve.total),
    )


def _late(found: Incidents, curve: OperatingCurve) -> StepCurve | None:
    """How soon half are detected against false incidents (AMOC); None for less than two points."""
    points = (curve.point(i) for i in range(len(curve.threshold)))
    late = [(point, point.median_delay) for point in points if point.median_delay is not None]
    if len(late) < 2:
        return None
    rows = tuple(
        (_threshold(found, point), point.false_incidents_per_day, span(delay))
        for point, delay in late[:_MOST_ROWS]
    )
    return StepCurve(
        "How soon half of the incidents are detected",
        (Column("threshold"), _OPERATING[1], _OPERATING[3]),
        rows,
        axes=("false incidents a day", "seconds until half are detected"),
        x=tuple(point.false_incidents_per_day for point, _ in late),
        y=tuple(delay for _, delay in late),
        marks=tuple(_marks(found, delay=True)),
    )


def _marks(found: Incidents, *, delay: bool) -> Iterator[tuple[float, float, str]]:
    choice = found.choice
    if choice is None:
        return
    for name, point in (("by this data", choice.empirical), ("promised", choice.guaranteed)):
        if point is not None:
            height = point.median_delay if delay else float(point.detected)
            if height is not None:
                yield point.false_incidents_per_day, height, name


# -- measures of time alone ------------------------------------------------------------------------


def _covering(coverage: Coverage) -> Table:
    ranges, near, adjusted = coverage.ranges, coverage.affiliation, coverage.point_adjusted
    values = {
        "precision of ranges": ranges.precision,
        "recall of ranges": ranges.recall,
        "affiliation precision": near.precision,
        "affiliation recall": near.recall,
        "point-adjusted F1": adjusted.f1,
        "the same of alarms at random": adjusted.random,
    }
    rows = tuple(
        (name, "undefined" if math.isnan(value) else f"{value:.3f}")
        for name, value in values.items()
    )
    return Table(
        "How alarms that last cover incidents that last, second by second, whatever the addresses",
        (Column("measure"), Column("value")),
        rows,
        (
            "ranges: Tatbul et al. 2018, with flat bias and reciprocal cardinality",
            "affiliation: Huet et al. 2022; alarms at random get about 0.5",
            "point-adjusted F1 stands here to be doubted: see what alarms at random get",
        ),
    )
