"""Days, weeks or months: the counts and measures of each, and how measures decay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from assay.evaluation.labelled_alerts import alerts_only
from assay.evaluation.over_time import INDEPENDENT, Trend
from assay.evaluation.over_time import Periods as Course
from assay.evaluation.snapshot import SliceCounts, Snapshot
from assay.evaluation.words import listed, some
from assay.inference.significance import p_text
from assay.measures import LOWER, NEITHER
from assay.measures.shown import OVER_TIME, SLICES_OF_ALERTS, of_scores
from assay.report.numbers import count, daily, difference_parts, p_value
from assay.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Periods,
    Prose,
    Section,
    Table,
    Tier,
)
from assay.report.words import measure_name, plural

# The last so many periods are shown.
MOST = 50
# A course that gets better or worse is told in words below this p.
TOLD = 0.05


def sections(evaluation: Snapshot) -> tuple[Section, ...]:
    """A section of measures over time, and one of the counts; none where no times were given."""
    found = evaluation.over_time
    if found is None:
        return ()
    trends = shown_trends(evaluation)
    blocks: list[Block] = [Prose(text) for text in _told(found, trends)]
    if trends:
        blocks.append(_courses(found, trends))
        if len(found.names) > 1:
            blocks += [_trends(found, trends), Prose(INDEPENDENT)]
    counts: list[Block] = []
    if evaluation.alerts_per_day is not None:
        counts.append(Prose(alerts_a_day(evaluation)))
    if evaluation.decided:
        counts.append(_counts(evaluation, found))
    both = (
        Section("Over time", tuple(blocks), Tier.ADVANCED),
        Section(f"Each {found.period}", tuple(counts), Tier.APPENDIX),
    )
    return tuple(section for section in both if section.blocks)


def shown_trends(evaluation: Snapshot) -> list[Trend]:
    """The trends that a report shows: those that have a value in some period."""
    found = evaluation.over_time
    if found is None:
        return []
    if alerts_only(evaluation):
        keys = SLICES_OF_ALERTS
    elif not evaluation.decided:
        keys = of_scores()
    else:
        keys = OVER_TIME.of(binary=evaluation.positive is not None)
    trends = [found[key] for key in keys]
    return [trend for trend in trends if any(map(math.isfinite, trend.estimates))]


def called(trend: Trend) -> str:
    """A measure as the tables over time call it."""
    return (
        trend.measure.title if trend.average is None else measure_name(trend.measure, trend.average)
    )


# -- each period -----------------------------------------------------------------------------------


def _counts(evaluation: Snapshot, found: Course) -> Table:
    tables = {each.value: each for each in evaluation.slices if each.column == found.column}
    counted = _counted(evaluation)
    caption = f"Rows by {found.period} (UTC)"
    if evaluation.positive is not None:
        alerts = "Labelled alerts" if alerts_only(evaluation) else "Alerts"
        caption = f"{alerts} by {found.period} (UTC)"
    return Table(
        caption,
        (Column(found.period), *(Column(name, Kind.COUNT) for name in counted)),
        tuple(
            (name, *(number(tables[name]) for number in counted.values()))
            for name in found.names[-MOST:]
        ),
        (*_left_out(found), *_absent(found)),
    )


def _counted(evaluation: Snapshot) -> dict[str, Callable[[SliceCounts], float]]:
    """What is counted of each period, by the heading of its column."""
    if evaluation.positive is None:
        return {"rows": lambda t: t.rows, "right": lambda t: t.right}
    labels = evaluation.labels
    alerts: dict[str, Callable[[SliceCounts], float]] = {
        "alerts": lambda t: t.table(labels).columns[1],
        "false alarms": lambda t: t.table(labels).cells[0][1],
    }
    if alerts_only(evaluation):
        return alerts
    both = {"rows": lambda t: t.rows, "positives": lambda t: t.table(labels).rows[1]}
    return {**both, **alerts, "missed": lambda t: t.table(labels).cells[1][0]}


def _left_out(found: Course) -> tuple[str, ...]:
    left = len(found.names) - MOST
    if left <= 0:
        return ()
    longer = {"day": "; --period week or month has fewer", "week": "; --period month has fewer"}
    units = plural(left, found.period, f"{found.period}s")
    return (f"{count(left)} {units} before them are not shown{longer.get(found.period, '')}.",)


def _absent(found: Course) -> tuple[str, ...]:
    if not found.absent:
        return ()
    number = len(found.absent)
    units = plural(number, found.period, f"{found.period}s")
    have = plural(number, "has", "have")
    return (f"{count(number)} {units} between them {have} no rows: {some(found.absent)}.",)


def _courses(found: Course, trends: Sequence[Trend]) -> Periods:
    columns = [Column(found.period), *(Column(called(t), Kind.SHARE) for t in trends)]
    rows: list[tuple[Cell, ...]] = [
        (name, *(trend.estimates[i] for trend in trends)) for i, name in enumerate(found.names)
    ]
    level = trends[0].estimates[0].level
    caption = f"Measures by {found.period}, {100 * level:.10g}% intervals"
    return Periods(caption, tuple(columns), tuple(rows[-MOST:]), _left_out(found))


# -- all of them -----------------------------------------------------------------------------------


def _trends(found: Course, trends: Sequence[Trend]) -> Table:
    columns = (
        Column("measure"),
        Column("area under time", Kind.SHARE),
        Column(f"slope a {found.period}", Kind.DIFFERENCE),
        Column("p"),
        Column(f"last {found.period} less first", Kind.DIFFERENCE),
        Column("method of the slope", optional=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for trend in trends:
        rows.append(_row(called(trend), trend))
        if trend.defined is not None:
            rows.append(_row(f"{called(trend)}, where it has a value", trend.defined))
    caption = (
        f"Over {count(len(found.names))} {found.period}s, {found.names[0]} to {found.names[-1]}; "
        f"p is that of no slope"
    )
    return Table(caption, columns, tuple(rows), tuple(_reasons(trends)), as_rows=True)


def _row(name: str, trend: Trend) -> tuple[Cell, ...]:
    p = "" if math.isnan(trend.p) else p_value(trend.p)
    return (name, trend.aut, trend.slope, p, trend.change, trend.slope.method)


def _reasons(trends: Sequence[Trend]) -> Iterator[str]:
    """Why areas have no value or no interval, each reason once."""
    reasons: dict[str, list[str]] = {}
    for trend in trends:
        why = trend.aut.undefined if math.isnan(trend.aut) else trend.aut.note
        if why is not None:
            reasons.setdefault(why, []).append(called(trend))
    for why, names in reasons.items():
        yield f"{listed(names)}: {why}."


def _told(found: Course, trends: Sequence[Trend]) -> Iterator[str]:
    """Courses that are not level, in words: the worse ones, the better ones, and others."""
    told: dict[str, list[str]] = {}
    for each in trends:
        trend = each.defined or each
        if not trend.p < TOLD:
            continue
        rises = trend.slope > 0
        which = "Not level"
        if trend.measure.better is not NEITHER:
            better = rises == (trend.measure.better is not LOWER)
            which = "Better" if better else "Worse"
        size, interval = difference_parts(trend.slope)
        told.setdefault(which, []).append(f"{called(trend)} {size} {interval} ({p_text(trend.p)})")
    for which in ("Worse", "Better", "Not level"):
        if which in told:
            yield f"{which} with each {found.period}: {listed(told[which])}."


def alerts_a_day(evaluation: Snapshot) -> str:
    """How many alerts the days brought, and whether they come in bursts."""
    found = evaluation.alerts_per_day
    assert found is not None  # noqa: S101 - checked by the caller
    said = (
        f"Over {count(found.days)} {plural(found.days, 'day', 'days')} with rows (UTC) there were "
        f"{daily(found.mean)} alerts a day: at least {count(found.least)}, in the median "
        f"{count(found.median)}, at most {count(found.most)}."
    )
    if math.isnan(found.sd):
        return said
    expected = math.sqrt(found.mean)
    said += (
        f" Their standard deviation is {daily(found.sd)}; days that differ by chance alone "
        f"(Poisson) would show about {daily(expected)}."
    )
    if expected and found.sd > 2 * expected:
        said += f" Alerts come in bursts: plan for {count(found.most)} a day, not for the mean."
    return said
