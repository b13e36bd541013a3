"""The document of incidents: which were detected, how late, and at what cost in false alarms."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.decisions.incidents.findings import span
from assay.decisions.incidents.records import Detection
from assay.decisions.incidents.result import (
    ALERTS_PER_INCIDENT,
    ATTACK,
    DETECTED,
    FALSE_ALARMS,
    FALSE_INCIDENTS,
    FAMILY,
    MEDIAN_DELAY,
    REAL_ALERTS,
    UNDER_ALARM,
    Incidents,
)
from assay.decisions.incidents.schedule import iso
from assay.evaluation.words import listed
from assay.inference import Estimate
from assay.report.incident_curves import pictured
from assay.report.incident_curves import sections as curves
from assay.report.names import name
from assay.report.numbers import count, daily, percent
from assay.report.refused import refused_rows
from assay.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)
from assay.report.words import plural

# So many rules and attacks are listed in a report; JSON has all of them.
_MOST_ROWS = 200


def report_of(found: Incidents) -> Report:
    """What a report says of incidents."""
    return Report(
        title=f"Incidents in {name(found.source['name'])}"
        if found.source.get("name")
        else "Incidents",
        headline=tuple(_headline(found)),
        sections=tuple(_sections(found)),
        findings=found.findings,
        notes=found.notes,
        records=tuple(_record(each) for each in found.incidents),
    )


def _headline(found: Incidents) -> Iterator[str]:
    yield (
        f"{count(found.detected)} of {count(found.total)} "
        f"{plural(found.total, 'incident was', 'incidents were')} detected: "
        f"{percent(found[DETECTED])}; {_delay(found)}."
    )
    observed = found.observed
    if observed is None or not observed.seconds:
        yield "How many false alarms there are a day is undefined: no time was observed."
        return
    yield (
        f"{daily(found[FALSE_ALARMS])} false alarms a day in {daily(found[FALSE_INCIDENTS])} false "
        f"incidents a day, over {observed.days:.2f} observed days; "
        f"{percent(found[UNDER_ALARM])} of the time was under alarm."
    )


def _delay(found: Incidents) -> str:
    median = found[MEDIAN_DELAY]
    worst = max((each.delay for each in found.incidents if each.delay is not None), default=None)
    if worst is None:
        return "none at any time"
    latest = f"the latest that was detected took {span(worst)}"
    if math.isnan(median):
        return f"{latest}; the median time to detect was not reached"
    return f"the median time to detect is {_seconds(median)}, {latest}"


def _seconds(found: Estimate) -> str:
    """A length of time with its interval."""
    if math.isnan(found):
        return "undefined"
    if math.isnan(found.low):
        return span(found)
    high = "no end" if math.isinf(found.high) else span(found.high)
    return f"{span(found)} [{span(found.low)}, {high}]"


def _sections(found: Incidents) -> Iterator[Section]:
    yield Section("Incidents", (pictured(_incidents(found), found),), Tier.MAIN)
    yield Section("Figures", (_figures(found),), Tier.MAIN)
    for column in (FAMILY, ATTACK):
        shares = found.of(column)
        if shares and (column == FAMILY or len(shares) < found.total):
            yield Section(f"By {column}", (_by(column, shares),), Tier.MAIN)
    if found.rules:
        yield Section("Rules", tuple(_rules(found)), Tier.MAIN)
    yield from curves(found)
    if found.days:
        yield Section("Days", (_days(found),), Tier.ADVANCED)
    if found.source.get("rows_refused"):
        yield from refused_rows(found.source)
    yield Section("How it was counted", (Prose(" ".join(_counted(found))),), Tier.APPENDIX)


def _incidents(found: Incidents) -> Table:
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
        for each in found.incidents[:_MOST_ROWS]
    )
    more = found.total - len(rows)
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


def _figures(found: Incidents) -> Table:
    columns = (Column("what"), Column("value"), Column("interval by", optional=True))
    rows: list[tuple[Cell, ...]] = []
    for each in found.estimates:
        if each.slice is not None:
            continue
        estimate = each.estimate
        if each.measure == MEDIAN_DELAY:
            rows.append(("median time to detect", _seconds(estimate), estimate.method or ""))
            continue
        days = each.measure in (FALSE_ALARMS, FALSE_INCIDENTS, ALERTS_PER_INCIDENT)
        value = daily(estimate) if days else percent(estimate)
        rows.append((_NAMES[each.measure], value, estimate.method or ""))
    return Table(f"With intervals of {100 * found.level:g}%", columns, tuple(rows))


def _by(column: str, shares: dict[str, Estimate]) -> Table:
    columns = (Column(column), Column("incidents", Kind.COUNT), Column("detected", Kind.SHARE))
    rows = tuple((value, int(share.n), share) for value, share in shares.items())
    return Table("Share of incidents that were detected", columns, rows[:_MOST_ROWS], as_rows=True)


def _rules(found: Incidents) -> Iterator[Block]:
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
        for each in found.rules[:_MOST_ROWS]
    )
    wrong = sum(each.never_right for each in found.rules)
    notes = ["alone: incidents that no other rule found"]
    if wrong:
        notes.append(f"{count(wrong)} {plural(wrong, 'rule was', 'rules were')} never right")
    caption = "What each rule found, and what it costs"
    yield Table(caption, columns, rows, tuple(notes), as_rows=True)


def _days(found: Incidents) -> Table:
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
        for each in found.days[:_MOST_ROWS]
    )
    return Table("Days in UTC; a false incident counts where it begins", columns, rows)


def _counted(found: Incidents) -> Iterator[str]:
    matched = "by time alone" if not found.match else f"by time and {listed(list(found.match))}"
    way = "" if not found.match or found.directed else ", in either direction"
    grace = f", {span(found.grace)} after the end included" if found.grace else ""
    yield f"Alerts were matched to incidents {matched}{way}; both ends of a window count{grace}."
    keyed = f" with the same {listed(list(found.key))}" if found.key else ""
    yield (
        f"False alarms{keyed} that follow each other within {span(found.gap)} are one false "
        f"incident; an alarm stays open for as long after its last alert."
    )
    if found.observed is not None and found.observed.seconds:
        yield (
            f"Observed was from {iso(found.observed.since)} to {iso(found.observed.until)}, "
            f"by {'lines of all kinds' if found.observed.basis == 'events' else 'alerts alone'}."
        )
    if found.skew.applied:
        yield f"{span(found.skew.applied)} were taken off all log times, as asked for (skew)."
    if found.score is not None:
        lower = "; a lower number is the more suspicious" if found.reversed else ""
        yield f"Alerts are ranked by {found.score}{lower}."
    if found.threshold is not None:
        yield f"Only alerts from {found.score} {found.threshold:g} on count."


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
