"""The document of incidents: which were detected, how late, and at what cost in false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.v02.decisions.incidents.coverage import Coverage
from assay.v02.decisions.incidents.detections import (
    ALERTS_PER_INCIDENT,
    ATTACK,
    DETECTED,
    FALSE_ALARMS,
    FALSE_INCIDENTS,
    FAMILY,
    MEDIAN_DELAY,
    REAL_ALERTS,
    UNDER_ALARM,
    DelayCurve,
    Detection,
    Incidents,
)
from assay.v02.decisions.incidents.incident_findings import span
from assay.v02.decisions.incidents.operating_points import (
    OperatingChoice,
    OperatingCurve,
    OperatingPoint,
)
from assay.v02.decisions.incidents.schedule import iso
from assay.v02.escaping import name, plural
from assay.v02.evaluation.wording import listed
from assay.v02.inference import Estimate
from assay.v02.number_text import count, daily, exact_percent, fixed, percent, threshold_text
from assay.v02.report.sections import (
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    StepCurve,
    Table,
    Tier,
)
from assay.v02.report.slices import refused_rows

# So many rules and attacks are listed in a report; JSON has all of them.
_MOST_ROWS = 200


def report_of(incidents: Incidents) -> Report:
    """What a report says of incidents."""
    return Report(
        title=f"Incidents in {name(incidents.source['name'])}"
        if incidents.source.get("name")
        else "Incidents",
        headline=tuple(_headline(incidents)),
        sections=tuple(_sections(incidents)),
        findings=incidents.findings,
        notes=incidents.notes,
        records=tuple(_record(each) for each in incidents.incidents),
    )


def _headline(incidents: Incidents) -> Iterator[str]:
    yield (
        f"{count(incidents.detected)} of {count(incidents.total)} "
        f"{plural(incidents.total, 'incident was', 'incidents were')} detected: "
        f"{percent(incidents[DETECTED])}; {_delay(incidents)}."
    )
    observed = incidents.observed
    if observed is None or not observed.seconds:
        yield "How many false alarms there are a day is undefined: no time was observed."
        return
    yield (
        f"{daily(incidents[FALSE_ALARMS])} false alarms a day in "
        f"{daily(incidents[FALSE_INCIDENTS])} false incidents a day, over "
        f"{fixed(observed.days, 2)} observed days; "
        f"{percent(incidents[UNDER_ALARM])} of the time was under alarm."
    )


def _delay(incidents: Incidents) -> str:
    median = incidents[MEDIAN_DELAY]
    worst = max(
        (each.delay for each in incidents.incidents if each.delay is not None), default=None
    )
    if worst is None:
        return "none at any time"
    latest = f"the latest that was detected took {span(worst)}"
    if math.isnan(median):
        return f"{latest}; the median time to detect was not reached"
    return f"the median time to detect is {_seconds(median)}, {latest}"


def _seconds(estimate: Estimate) -> str:
    """A length of time with its interval."""
    if math.isnan(estimate):
        return "undefined"
    if math.isnan(estimate.low):
        return span(estimate)
    high = "no end" if math.isinf(estimate.high) else span(estimate.high)
    return f"{span(estimate)} [{span(estimate.low)}, {high}]"


def _sections(incidents: Incidents) -> Iterator[Section]:
    yield Section("Incidents", (pictured(_incidents(incidents), incidents),), Tier.MAIN)
    yield Section("Figures", (_figures(incidents),), Tier.MAIN)
    for column in (FAMILY, ATTACK):
        shares = incidents.of(column)
        if shares and (column == FAMILY or len(shares) < incidents.total):
            yield Section(f"By {column}", (_shares_table(column, shares),), Tier.MAIN)
    if incidents.rules:
        yield Section("Rules", tuple(_rules(incidents)), Tier.MAIN)
    yield from sections(incidents)
    if incidents.days:
        yield Section("Days", (_days(incidents),), Tier.ADVANCED)
    if incidents.source.get("rows_refused"):
        yield from refused_rows(incidents.source)
    yield Section(
        "How it was counted", (Prose(" ".join(_counting_words(incidents))),), Tier.APPENDIX
    )


def _incidents(incidents: Incidents) -> Table:
    columns = (
        Column("id"),
        Column("attack"),
        Column("start"),
        Column("lasted", optional=True),
        Column("detected after"),
        Column("alerts", Kind.COUNT),
        Column("rules", optional=True),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each.id,
            each.attack,
            iso(each.start),
            span((each.end - each.start) / 1e6),
            "missed" if each.delay is None else span(each.delay),
            each.alerts,
            ", ".join(each.rules[:3]) + (", ..." if len(each.rules) > 3 else ""),
        )
        for each in incidents.incidents[:_MOST_ROWS]
    )
    more = incidents.total - len(rows)
    notes = (f"{count(more)} more are in the JSON document",) if more else ()
    return Table("In the order of their start, in UTC", columns, rows, notes)


_NAMES = {
    DETECTED: "incidents detected",
    ALERTS_PER_INCIDENT: "alerts per detected incident",
    FALSE_ALARMS: "false alarms a day",
    FALSE_INCIDENTS: "false incidents a day",
    UNDER_ALARM: "share of time under alarm",
    REAL_ALERTS: "share of alerts that belong to an incident",
}


def _figures(incidents: Incidents) -> Table:
    columns = (Column("what"), Column("value"), Column("interval by", optional=True))
    rows: list[tuple[Cell, ...]] = []
    for each in incidents.estimates:
        if each.slice is not None:
            continue
        estimate = each.estimate
        if each.measure == MEDIAN_DELAY:
            rows.append(("median time to detect", _seconds(estimate), estimate.method or ""))
            continue
        days = each.measure in (FALSE_ALARMS, FALSE_INCIDENTS, ALERTS_PER_INCIDENT)
        value = daily(estimate) if days else percent(estimate)
        rows.append((_NAMES[each.measure], value, estimate.method or ""))
    return Table(f"With intervals of {exact_percent(incidents.level)}", columns, tuple(rows))


def _shares_table(column: str, shares: dict[str, Estimate]) -> Table:
    columns = (Column(column), Column("incidents", Kind.COUNT), Column("detected", Kind.SHARE))
    rows = tuple((value, int(share.n), share) for value, share in shares.items())
    return Table("Share of incidents that were detected", columns, rows[:_MOST_ROWS], as_rows=True)


def _rules(incidents: Incidents) -> Iterator[Block]:
    columns = (
        Column("rule"),
        Column("incidents", Kind.COUNT),
        Column("alone", Kind.COUNT),
        Column("alerts", Kind.COUNT, optional=True),
        Column("false alarms a day", Kind.DAILY),
    )
    rows = tuple(
        (
            each.rule or "(no rule named)",
            each.incidents,
            each.alone,
            each.alerts,
            each.false_alarms_per_day,
        )
        for each in incidents.rules[:_MOST_ROWS]
    )
    wrong = sum(each.never_right for each in incidents.rules)
    notes = ["alone: incidents that no other rule found"]
    if wrong:
        notes.append(f"{count(wrong)} {plural(wrong, 'rule was', 'rules were')} never right")
    caption = "What each rule found, and what it costs"
    yield Table(caption, columns, rows, tuple(notes), as_rows=True)


def _days(incidents: Incidents) -> Table:
    columns = (
        Column("day"),
        Column("observed", optional=True),
        Column("lines", Kind.COUNT, optional=True),
        Column("alerts", Kind.COUNT),
        Column("false alarms", Kind.COUNT),
        Column("false incidents", Kind.COUNT),
    )
    rows = tuple(
        (
            each.day,
            span(each.observed_seconds),
            each.lines,
            each.alerts,
            each.false_alarms,
            each.false_incidents,
        )
        for each in incidents.days[:_MOST_ROWS]
    )
    return Table("Days in UTC; a false incident counts where it begins", columns, rows)


def _counting_words(incidents: Incidents) -> Iterator[str]:
    matched = (
        "by time alone" if not incidents.match else f"by time and {listed(list(incidents.match))}"
    )
    way = "" if not incidents.match or incidents.directed else ", in either direction"
    grace = f", {span(incidents.grace)} after the end included" if incidents.grace else ""
    yield f"Alerts were matched to incidents {matched}{way}; both ends of a window count{grace}."
    keyed = f" with the same {listed(list(incidents.key))}" if incidents.key else ""
    yield (
        f"False alarms{keyed} that follow each other within {span(incidents.gap)} are one false "
        f"incident; an alarm stays open for as long after its last alert."
    )
    observed = incidents.observed
    if observed is not None and observed.seconds:
        yield (
            f"Observed was from {iso(observed.since)} to {iso(observed.until)}, "
            f"by {'lines of all kinds' if observed.basis == 'events' else 'alerts alone'}."
        )
    if incidents.skew.applied:
        yield f"{span(incidents.skew.applied)} were taken off all log times, as asked for (skew)."
    if incidents.score is not None:
        lower = "; a lower number is the more suspicious" if incidents.reversed else ""
        yield f"Alerts are ranked by {incidents.score}{lower}."
    if incidents.threshold is not None:
        yield f"Only alerts from {incidents.score} {threshold_text(incidents.threshold)} on count."


def _record(each: Detection) -> dict[str, object]:
    return {
        "id": each.id,
        "attack": each.attack,
        "family": each.family,
        "start": iso(each.start),
        "end": iso(each.end),
        "detected": each.detected,
        "first_alert": None if each.first_alert is None else iso(each.first_alert),
        "delay": each.delay,
        "alerts": each.alerts,
        "shared": each.shared,
        "lines": each.lines,
        "rules": "; ".join(each.rules),
    }


# -- in time, until detection, and over thresholds of alerts ---------------------------------------


# So many thresholds are listed; JSON has all of them.
_MOST_THRESHOLDS = 40
_UNITS = ((3 * 3600.0, 3600.0, "hours"), (180.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))


def sections(incidents: Incidents) -> Iterator[Section]:
    """How long incidents stay undetected, thresholds of the score, and measures of time alone."""
    if incidents.delays is not None:
        yield Section(
            "Time to detect",
            (_time_to_detect(incidents.delays, incidents.level),),
            Tier.ADVANCED,
            detail=True,
        )
    if incidents.choice is not None:
        yield Section("Threshold", tuple(_choice(incidents, incidents.choice)), Tier.MAIN)
    if incidents.operating is not None and incidents.operating.threshold:
        block = _operating(incidents, incidents.operating)
        yield Section("What every threshold would mean", (block,), Tier.ADVANCED)
        late = _delay_course(incidents, incidents.operating)
        if late is not None:
            yield Section("How soon, by threshold", (late,), Tier.ADVANCED, detail=True)
    if incidents.coverage is not None:
        yield Section("In time", (_covering(incidents.coverage),), Tier.ADVANCED)


def pictured(table: Table, incidents: Incidents) -> Table:
    """The table of incidents with what a page needs to draw them in time."""
    timeline = incidents.timeline
    if timeline is None:
        return table
    bars = []
    for each in incidents.incidents:
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


def _time_to_detect(curve: DelayCurve, level: float) -> StepCurve:
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
    caption = f"Share of incidents still undetected (Kaplan-Meier), {exact_percent(level)} band"
    note = "the band holds the whole curve; a missed incident is censored at its end"
    return StepCurve(
        caption,
        columns,
        rows[:_MOST_THRESHOLDS],
        (note,),
        axes=(f"time since the start in {name}", "still undetected"),
        x=(0.0, *(at / unit for at in curve.seconds)),
        y=(1.0, *curve.undetected),
        low=(curve.low[0], *curve.low) if curve.low else (),
        high=(1.0, *curve.high),
    )


# -- thresholds ------------------------------------------------------------------------------------


def _choice(incidents: Incidents, choice: OperatingChoice) -> Iterator[Block]:
    columns = (Column("threshold"), *_OPERATING)
    rows = [
        (f"{name}: {_threshold(incidents, point)}", *_point(point))
        for name, point in (("by this data", choice.empirical), ("promised", choice.guaranteed))
        if point is not None
    ]
    asked = " and ".join(_asked_constraints(choice))
    if rows:
        yield Table(f"Asked for: {asked}; {choice.objective}", columns, tuple(rows), as_rows=True)
    if choice.infeasible is not None:
        yield Prose(choice.infeasible)
    if choice.guaranteed is not None:
        yield Prose(
            f"Promised with {exact_percent(choice.confidence)} confidence, provided that "
            f"{choice.assumption}."
        )


def _asked_constraints(choice: OperatingChoice) -> Iterator[str]:
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


def _threshold(incidents: Incidents, point: OperatingPoint) -> str:
    return (
        f"{incidents.score} {'<=' if incidents.reversed else '>='} "
        f"{threshold_text(point.threshold)}"
    )


def _operating(incidents: Incidents, curve: OperatingCurve) -> StepCurve:
    points = [curve.point(i) for i in range(len(curve.threshold))]
    # Of thresholds that detect the same the highest has the fewest false alarms.
    best = [p for i, p in enumerate(points) if not i or p.detected > points[i - 1].detected]
    rows = tuple(
        (_threshold(incidents, point), *_point(point)) for point in best[:_MOST_THRESHOLDS]
    )
    more = len(best) - len(rows)
    notes = (f"{count(more)} more are in the JSON document",) if more else ()
    notes = (*notes, "half of all incidents, where one that is missed is never detected")
    return StepCurve(
        f"Of {count(curve.total)} {plural(curve.total, 'incident', 'incidents')}, by the score "
        f"from which on alerts count",
        (Column("threshold"), *_OPERATING),
        rows,
        notes,
        axes=("false incidents a day", "incidents detected"),
        x=curve.false_incidents_per_day,
        y=tuple(float(detected) for detected in curve.detected),
        marks=tuple(_marks(incidents, delay=False)),
        highest=float(curve.total),
    )


def _delay_course(incidents: Incidents, curve: OperatingCurve) -> StepCurve | None:
    """How soon half are detected against false incidents (AMOC); None for less than two points."""
    points = (curve.point(i) for i in range(len(curve.threshold)))
    late = [(point, point.median_delay) for point in points if point.median_delay is not None]
    if len(late) < 2:
        return None
    rows = tuple(
        (_threshold(incidents, point), point.false_incidents_per_day, span(delay))
        for point, delay in late[:_MOST_THRESHOLDS]
    )
    return StepCurve(
        "How soon half of the incidents are detected",
        (Column("threshold"), _OPERATING[1], _OPERATING[3]),
        rows,
        axes=("false incidents a day", "seconds until half are detected"),
        x=tuple(point.false_incidents_per_day for point, _ in late),
        y=tuple(delay for _, delay in late),
        marks=tuple(_marks(incidents, delay=True)),
    )


def _marks(incidents: Incidents, *, delay: bool) -> Iterator[tuple[float, float, str]]:
    choice = incidents.choice
    if choice is None:
        return
    for text, point in (("by this data", choice.empirical), ("promised", choice.guaranteed)):
        if point is not None:
            height = point.median_delay if delay else float(point.detected)
            if height is not None:
                yield point.false_incidents_per_day, height, text


# -- measures of time alone ------------------------------------------------------------------------


def _covering(coverage: Coverage) -> Table:
    ranges, affiliation, adjusted = coverage.ranges, coverage.affiliation, coverage.point_adjusted
    values = {
        "precision of ranges": ranges.precision,
        "recall of ranges": ranges.recall,
        "affiliation precision": affiliation.precision,
        "affiliation recall": affiliation.recall,
        "point-adjusted F1": adjusted.f1,
        "the same of alarms at random": adjusted.random,
    }
    rows = tuple(
        (name, "undefined" if math.isnan(value) else fixed(value, 3))
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
