"""Rows taken apart: families and slices, periods of time, and those that were left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assay.v02.escaping import plural
from assay.v02.evaluation.deployment import alerts_only
from assay.v02.evaluation.over_time import INDEPENDENT, AlertsPerDay, Periods, Trend
from assay.v02.evaluation.snapshot import SliceCounts, Snapshot
from assay.v02.evaluation.wording import listed, some
from assay.v02.inference import Estimate
from assay.v02.measures import ACCURACY, FALSE_POSITIVE_RATE, LOWER, NEITHER, PRECISION, RECALL, Measure
from assay.v02.measures.catalogue import OVER_TIME, SLICES_OF_ALERTS, of_scores
from assay.v02.number_text import (
    count,
    daily,
    difference_parts,
    exact_percent,
    p_text,
    p_value,
    percent,
)
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Dot,
    Dots,
    Kind,
    PeriodCourse,
    Prose,
    Section,
    Table,
    Tier,
    measure_name,
    positives,
    quoted,
)
from assay.v02.tally import Confusion

# The worst so many are shown of each column.
MOST = 50
# An interval wider than this leaves open whether most are found or most are missed.
TOO_WIDE = 0.5
TOO_FEW = "too few to say"

_Estimates = Mapping[tuple[str, str], Mapping[str, Estimate]]


def slice_sections(evaluation: Snapshot) -> tuple[Section, ...]:
    """A section for families, and one for each sliced column."""
    by_slice: dict[tuple[str, str], dict[str, Estimate]] = {}
    for entry in evaluation.entries:
        if entry.slice is not None:
            by_slice.setdefault(entry.slice, {})[entry.measure] = entry.estimate
    periods = evaluation.periods and evaluation.periods.column
    columns = list(dict.fromkeys(each.column for each in evaluation.slices))
    family = evaluation.family
    first = [family] if family is not None else []
    others = [column for column in columns if column not in (family, periods)]
    return tuple(_section(evaluation, column, by_slice) for column in [*first, *others])


def _section(evaluation: Snapshot, column: str, estimates: _Estimates) -> Section:
    counts = {(column, c.value): c for c in evaluation.slices if c.column == column}
    is_family = column == evaluation.family
    title = f"Slices by {column}"
    if is_family:
        title = "Families" if column == "family" else f"Families ({column})"
    if evaluation.positive is None:
        right = {key: estimates[key][ACCURACY.name] for key in counts}
        dots = [Dot(key[1], right[key], _right(counts[key], right[key])) for key in counts]
        return Section(title, (_worst(evaluation, column, ACCURACY, dots),), Tier.APPENDIX)
    slices = {key: each.table(evaluation.labels) for key, each in counts.items()}
    if alerts_only(evaluation):
        return Section(title, (_alerts(evaluation, column, slices, estimates),), Tier.APPENDIX)
    blocks: list[Block] = []
    detected = [
        Dot(
            key[1],
            estimates[key][RECALL.name],
            _detected(table, estimates[key], beside=not is_family),
        )
        for key, table in slices.items()
        if table.rows[1]
    ]
    harmless = [
        Dot(key[1], false, _flagged(table, false))
        for key, table in slices.items()
        for false in [estimates[key][FALSE_POSITIVE_RATE.name]]
        if not table.rows[1]
    ]
    if detected:
        blocks.append(_worst(evaluation, column, RECALL, detected))
    # The negatives by themselves are the whole over again.
    if harmless and not (is_family and len(harmless) == 1):
        blocks.append(_worst(evaluation, column, FALSE_POSITIVE_RATE, harmless))
    return Section(title, tuple(blocks), Tier.APPENDIX)


def _alerts(
    evaluation: Snapshot,
    column: str,
    slices: Mapping[tuple[str, str], Confusion],
    estimates: _Estimates,
) -> Dots:
    """Where only alerts were labelled: the precision of the alerts of each slice."""
    dots = [
        Dot(key[1], right, of_all(table.cells[1][1], alerts, right, "are real"))
        for key, table in slices.items()
        for right, alerts in [(estimates[key][PRECISION.name], table.columns[1])]
        if alerts
    ]
    return _worst(evaluation, column, PRECISION, dots)


def _worst(evaluation: Snapshot, column: str, measure: Measure, dots: list[Dot]) -> Dots:
    sign = -1 if measure.better is LOWER else 1

    def order(dot: Dot) -> tuple[bool, float, float, str]:
        value = dot.estimate
        return (math.isnan(value), sign * float(value), -value.n, dot.name)

    ordered = sorted(dots, key=order)
    what = "" if evaluation.positive is None else f" of {positives(evaluation.positive)}"
    caption = f"{measure_name(measure)} by {column}, worst first"
    if measure == RECALL:
        caption = f"Detection rate{what} by {column}, worst first"
    elif measure == FALSE_POSITIVE_RATE:
        negative = quoted(evaluation.labels[0])
        caption = f"False positive rate where every row is {negative}, by {column}, worst first"
    shown = tuple(ordered[:MOST])
    omitted = len(ordered) - len(shown)
    notes = []
    if omitted:
        notes.append(f"{count(omitted)} more are better than these.")
    if any(TOO_FEW in dot.remark for dot in shown):
        notes.append(f"{TOO_FEW.capitalize()}: the interval is wider than {TOO_WIDE:g}.")
    notes += dict.fromkeys(dot.estimate.note for dot in shown if dot.estimate.note is not None)
    whole = evaluation[measure]
    return Dots(caption[0].upper() + caption[1:], column, measure, shown, whole, tuple(notes))


def _detected(table: Confusion, rates: Mapping[str, Estimate], *, beside: bool) -> str:
    """What is said of a slice with positives; ``beside`` adds its false positive rate."""
    (_, _), (_, detected) = table.cells
    text = of_all(detected, table.rows[1], rates[RECALL.name], "detected")
    false = rates[FALSE_POSITIVE_RATE.name]
    if beside and not math.isnan(false):
        text += f"; false positive rate {percent(false)}"
    return text


def _flagged(table: Confusion, estimate: Estimate) -> str:
    return of_all(table.cells[0][1], table.rows[0], estimate, "flagged")


def _right(counts: SliceCounts, estimate: Estimate) -> str:
    return of_all(counts.right, counts.rows, estimate, "right")


def of_all(k: float, n: float, estimate: Estimate, verb: str) -> str:
    """A share in words, with the bound that it allows where it is all or none.

    >>> of_all(11, 11, Estimate(1, 0.7151, 1), "detected")
    '11 of 11 detected: at least 71.5%'
    >>> of_all(0, 2, Estimate(0, 0, 0.8419), "detected")
    '0 of 2 detected: at most 84.2%, too few to say'
    """
    if math.isnan(estimate):
        return estimate.undefined or ""
    text = f"{count(k)} of {count(n)} {verb}"
    if math.isnan(estimate.low):
        return text
    bounds = []
    if float(estimate) == 1:
        bounds.append(f"at least {percent(estimate.low)}")
    elif float(estimate) == 0:
        bounds.append(f"at most {percent(estimate.high)}")
    if too_wide(estimate):
        bounds.append(TOO_FEW)
    return f"{text}: {', '.join(bounds)}" if bounds else text


def too_wide(estimate: Estimate) -> bool:
    """Whether a share has so few rows that nothing should be said of it."""
    return estimate.high - estimate.low > TOO_WIDE


# -- days, weeks or months -------------------------------------------------------------------------


# The last so many periods are shown.
MOST_PERIODS = 50
# A course that gets better or worse is told in words below this p.
TOLD = 0.05


def period_sections(evaluation: Snapshot) -> tuple[Section, ...]:
    """A section of measures over time, and one of the counts; none where no times were given."""
    periods = evaluation.over_time
    if periods is None:
        return ()
    trends = shown_trends(evaluation)
    blocks: list[Block] = [Prose(text) for text in _told(periods, trends)]
    if trends:
        blocks.append(_courses(periods, trends))
        if len(periods.names) > 1:
            blocks += [_trends(periods, trends), Prose(INDEPENDENT)]
    counts: list[Block] = []
    if evaluation.alerts_per_day is not None:
        counts.append(Prose(alerts_a_day(evaluation.alerts_per_day)))
    if evaluation.decided:
        counts.append(_counts(evaluation, periods))
    both = (
        Section("Over time", tuple(blocks), Tier.ADVANCED),
        Section(f"Each {periods.period}", tuple(counts), Tier.APPENDIX),
    )
    return tuple(section for section in both if section.blocks)


def shown_trends(evaluation: Snapshot) -> list[Trend]:
    """The trends that a report shows: those that have a value in some period."""
    periods = evaluation.over_time
    if periods is None:
        return []
    if alerts_only(evaluation):
        keys = SLICES_OF_ALERTS
    elif not evaluation.decided:
        keys = of_scores()
    else:
        keys = OVER_TIME.of(binary=evaluation.positive is not None)
    trends = [periods[key] for key in keys]
    return [trend for trend in trends if any(map(math.isfinite, trend.estimates))]


def called(trend: Trend) -> str:
    """A measure as the tables over time call it."""
    return (
        trend.measure.title if trend.average is None else measure_name(trend.measure, trend.average)
    )


# -- each period -----------------------------------------------------------------------------------


def _counts(evaluation: Snapshot, periods: Periods) -> Table:
    tables = {each.value: each for each in evaluation.slices if each.column == periods.column}
    counted = _counted(evaluation)
    caption = f"Rows by {periods.period} (UTC)"
    if evaluation.positive is not None:
        alerts = "Labelled alerts" if alerts_only(evaluation) else "Alerts"
        caption = f"{alerts} by {periods.period} (UTC)"
    return Table(
        caption,
        (Column(periods.period), *(Column(name, Kind.COUNT) for name in counted)),
        tuple(
            (name, *(number(tables[name]) for number in counted.values()))
            for name in periods.names[-MOST_PERIODS:]
        ),
        (*_left_out(periods), *_absent(periods)),
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


def _left_out(periods: Periods) -> tuple[str, ...]:
    left = len(periods.names) - MOST_PERIODS
    if left <= 0:
        return ()
    longer = {"day": "; --period week or month has fewer", "week": "; --period month has fewer"}
    units = plural(left, periods.period, f"{periods.period}s")
    return (f"{count(left)} {units} before them are not shown{longer.get(periods.period, '')}.",)


def _absent(periods: Periods) -> tuple[str, ...]:
    if not periods.absent:
        return ()
    number = len(periods.absent)
    units = plural(number, periods.period, f"{periods.period}s")
    have = plural(number, "has", "have")
    return (f"{count(number)} {units} between them {have} no rows: {some(periods.absent)}.",)


def _courses(periods: Periods, trends: Sequence[Trend]) -> PeriodCourse:
    columns = [Column(periods.period), *(Column(called(t), Kind.SHARE) for t in trends)]
    rows: list[tuple[Cell, ...]] = [
        (name, *(trend.estimates[i] for trend in trends)) for i, name in enumerate(periods.names)
    ]
    level = trends[0].estimates[0].level
    caption = f"Measures by {periods.period}, {exact_percent(level)} intervals"
    return PeriodCourse(caption, tuple(columns), tuple(rows[-MOST_PERIODS:]), _left_out(periods))


# -- all of them -----------------------------------------------------------------------------------


def _trends(periods: Periods, trends: Sequence[Trend]) -> Table:
    columns = (
        Column("measure"),
        Column("area under time", Kind.SHARE),
        Column(f"slope a {periods.period}", Kind.DIFFERENCE),
        Column("p"),
        Column(f"last {periods.period} less first", Kind.DIFFERENCE),
        Column("method of the slope", optional=True),
    )
    rows: list[tuple[Cell, ...]] = []
    for trend in trends:
        rows.append(_row(called(trend), trend))
        if trend.defined is not None:
            rows.append(_row(f"{called(trend)}, where it has a value", trend.defined))
    caption = (
        f"Over {count(len(periods.names))} {periods.period}s, {periods.names[0]} to "
        f"{periods.names[-1]}; p is that of no slope"
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


def _told(periods: Periods, trends: Sequence[Trend]) -> Iterator[str]:
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
            yield f"{which} with each {periods.period}: {listed(told[which])}."


def alerts_a_day(days: AlertsPerDay) -> str:
    """How many alerts the days brought, and whether they come in bursts."""
    text = (
        f"Over {count(days.days)} {plural(days.days, 'day', 'days')} with rows (UTC) there were "
        f"{daily(days.mean)} alerts a day: at least {count(days.least)}, in the median "
        f"{count(days.median)}, at most {count(days.most)}."
    )
    if math.isnan(days.sd):
        return text
    expected = math.sqrt(days.mean)
    text += (
        f" Their standard deviation is {daily(days.sd)}; days that differ by chance alone "
        f"(Poisson) would show about {daily(expected)}."
    )
    if expected and days.sd > 2 * expected:
        text += f" Alerts come in bursts: plan for {count(days.most)} a day, not for the mean."
    return text


# -- rows that were left out -----------------------------------------------------------------------


def refused_rows(source: Mapping[str, Any]) -> tuple[Section, ...]:
    """The rows that were left out, as far as they are listed; those of groups by reason."""
    refused, listed_rows = source["rows_refused"], source["refused"]
    if not refused:
        return ()
    caption = (
        f"{count(refused)} of {count(source['rows_read'])} rows "
        f"{plural(refused, 'was', 'were')} refused"
    )
    if source.get("reasons") and not listed_rows:
        reasons = tuple((reason, rows) for reason, rows in source["reasons"].items())
        by_reason = Table(caption, (Column("reason"), Column("rows", Kind.COUNT)), reasons)
        return (Section("Refused rows", (by_reason,)),)
    if len(listed_rows) < refused:
        caption += f"; the first {count(len(listed_rows))} are listed"
    if not any(each.get("file") or each.get("line") for each in listed_rows):
        numbered = tuple((each["row"], each["reason"]) for each in listed_rows)
        table = Table(caption, (Column("row", Kind.COUNT), Column("reason")), numbered)
        return (Section("Refused rows", (table,)),)
    columns = (Column("file"), Column("line or row"), Column("reason"))
    rows = tuple(
        (
            each.get("file", ""),
            f"line {each['line']}" if each.get("line") else f"row {each['row']}",
            each["reason"],
        )
        for each in listed_rows
    )
    return (Section("Refused rows", (Table(caption, columns, rows),)),)
