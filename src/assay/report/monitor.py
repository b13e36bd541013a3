"""The document of a monitor: rules, figures that hold at every look, labels that wait, shifts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.decisions.gate.rule import DIFFERENCE, NEW
from assay.decisions.monitor.figures import Watched
from assay.decisions.monitor.result import Monitor, Period, RuleOutcome, WatchedRule
from assay.evaluation.deployment import PER_DAY
from assay.evaluation.words import listed
from assay.measures import PRECISION, find
from assay.report.names import name
from assay.report.numbers import (
    count,
    daily,
    daily_parts,
    difference_parts,
    exact_percent,
    measured_parts,
    percent,
    plain_number,
)
from assay.report.refused import refused_rows
from assay.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    Periods,
    Prose,
    Report,
    Section,
    Table,
    Tier,
)
from assay.report.shift import shift_sections
from assay.report.words import measure_name, plural, quoted

# The last so many periods are shown.
MOST = 50
CALLED = {RuleOutcome.HOLDS: "holds", RuleOutcome.BROKEN: "BROKEN", RuleOutcome.OPEN: "open"}
_WORDS = {
    RuleOutcome.BROKEN: ("is broken", "are broken"),
    RuleOutcome.OPEN: ("is open", "are open"),
    RuleOutcome.HOLDS: ("holds", "hold"),
}
WHY_NOT = (
    "The ordinary interval is for one look at a day that was fixed beforehand. Whoever looks again "
    "and again, and stops when it leaves a bound, is wrong in about half of all streams; a "
    "confidence sequence is wrong at any look in at most {error} of them."
)
LABELS = (
    "Labels: the share of the rows in question that have one. Below {mature} a figure is told by "
    "what it lies between, whatever the missing labels turn out to be."
)


def report_of(monitor: Monitor) -> Report:
    """What a report says of a monitor."""
    sections = (
        *_rules(monitor),
        _so_far(monitor),
        *_over_time(monitor),
        *shift_sections(monitor),
        *_maturity(monitor),
        _each(monitor),
        *refused_rows(monitor.source),
    )
    return Report(
        title=_title(monitor),
        headline=tuple(_headline(monitor)),
        sections=sections,
        findings=monitor.findings,
        notes=monitor.notes,
        records=tuple(_records(monitor)),
    )


def _title(monitor: Monitor) -> str:
    source = monitor.source
    return f"Monitor of {name(source['name'])}" if "name" in source else "Monitor"


def _headline(monitor: Monitor) -> Iterator[str]:
    if monitor.rules:
        yield f"{monitor.outcome.value.upper()}: {summary(monitor)}"
    else:
        found = monitor[PRECISION.name].estimate
        told = "is not known yet" if math.isnan(found) else f"is {percent(found)}"
        yield f"Until {monitor.until} precision {told}; no rule was given."
    periods = monitor.periods
    days = sum(period.days for period in periods)
    alerts = sum(period.alerts for period in periods)
    triaged = sum(period.triaged for period in periods)
    raised = "" if monitor.positive is None else f" for {quoted(monitor.positive)}"
    yield (
        f"{count(monitor.rows)} rows of {count(days)} {plural(days, 'day', 'days')} until "
        f"{monitor.until}: {count(alerts)} alerts{raised}, {count(triaged)} of them with a label; "
        f"confidence sequences of {100 * monitor.level:.6g}%."
    )


def summary(monitor: Monitor) -> str:
    """How many rules stand how, and since when the first is broken.

    ``1 of 2 rules is broken, since 2026-03-08; 1 holds.``
    """
    found = Counter(judged.outcome for judged in monitor.rules)
    total = len(monitor.rules)
    parts: list[str] = []
    for outcome in (RuleOutcome.BROKEN, RuleOutcome.OPEN, RuleOutcome.HOLDS):
        if number := found[outcome]:
            of = "" if parts else f" of {total} {plural(total, 'rule', 'rules')}"
            since = ""
            if outcome is RuleOutcome.BROKEN:
                first = min(j.since or "" for j in monitor.rules if j.outcome is outcome)
                since = f" since {first}"
            parts.append(f"{number}{of} {plural(number, *_WORDS[outcome])}{since}")
    return f"{listed(parts)}."


# -- rules and figures -----------------------------------------------------------------------------


def _rules(monitor: Monitor) -> Iterator[Section]:
    if not monitor.rules:
        return
    order = (RuleOutcome.BROKEN, RuleOutcome.OPEN, RuleOutcome.HOLDS)
    columns = (
        Column("outcome"),
        Column("rule"),
        Column("since"),
        Column("so far", Kind.SHARE),
        Column("because"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (CALLED[each.outcome], each.rule.text, each.since or "", _of_rule(each), each.reason)
        for each in sorted(monitor.rules, key=lambda each: order.index(each.outcome))
    )
    caption = (
        "A rule is broken from the first look on at which none of its confidence sequence keeps it"
    )
    yield Section("Rules", (Table(caption, columns, rows),), Tier.MAIN)


def _of_rule(judged: WatchedRule) -> str:
    rule = judged.rule
    name_ = rule.written if rule.measure is None else rule.measure.name
    return _joined(_parts(name_, rule.subject, judged.estimate)) or _between(name_, judged.estimate)


def _parts(measure: str, subject: str, found: Any) -> tuple[str, str]:
    """A figure and its interval; nothing where it has no value."""
    if math.isnan(found):
        return "", ""
    if subject == DIFFERENCE:
        return difference_parts(found)
    return daily_parts(found) if measure in PER_DAY else measured_parts(found)


def _joined(parts: tuple[str, str]) -> str:
    return " ".join(part for part in parts if part)


def _between(measure: str, found: Any, *, ends: bool = True) -> str:
    """What a figure lies between where labels are missing, and the ends of its interval."""
    if found.bound is None:
        return "undefined"
    low, high = ((daily if measure in PER_DAY else plain_number)(end) for end in found.bound)
    interval = _parts(measure, NEW, found.changed(found.bound[0]))[1] if ends else ""
    return f"{low} to {high} {interval}".rstrip()


def _called(measure: str, subject: str, *, several: bool) -> str:
    said = measure_name(measure) if measure in PER_DAY else find(measure).title
    if subject == DIFFERENCE:
        return f"{said}, new less old"
    return f"{said}, {subject}" if several else said


def _so_far(monitor: Monitor) -> Section:
    several = len(monitor.models) > 1
    columns = (
        Column("figure"),
        Column("so far", Kind.SHARE),
        Column("for one look", optional=True),
        Column("labels"),
    )
    rows: list[tuple[Cell, ...]] = []
    for each in monitor.last.estimates:
        if each.scope != "cumulative":
            continue
        shown = _joined(_parts(each.measure, each.subject, each.estimate))
        rows.append(
            (
                _called(each.measure, each.subject, several=several),
                shown or _between(each.measure, each.estimate),
                _ordinary(each) if shown else "",
                exact_percent(round(each.mature, 3)),
            )
        )
    error = exact_percent(round(1 - monitor.level, 12))
    notes = (LABELS.format(mature=exact_percent(monitor.mature)),)
    blocks: list[Block] = [
        Table(
            f"All rows until {monitor.until}, with confidence sequences",
            columns,
            tuple(rows),
            notes,
        ),
        Prose(WHY_NOT.format(error=error)),
    ]
    return Section("So far", tuple(blocks), Tier.MAIN)


def _ordinary(each: Watched) -> str:
    found = each.ordinary
    if found is None or math.isnan(found.low):
        return ""
    shown = each.estimate.changed(
        (found.low + found.high) / 2, low=found.low, high=found.high, bound=None
    )
    return f"{_parts(each.measure, each.subject, shown)[1]} {found.method}"


def _over_time(monitor: Monitor) -> Iterator[Section]:
    """The confidence sequences at each look, which a page draws."""
    if len(monitor.periods) < 2:
        return
    shown = [
        each
        for each in monitor.last.estimates
        if each.scope == "cumulative"
        and (each.subject in (NEW, DIFFERENCE))
        and any(
            math.isfinite(period.figure(each.measure, "cumulative", each.subject).estimate)
            for period in monitor.periods
        )
    ]
    if shown:
        yield Section(
            "At each look",
            (_course(monitor, shown, "cumulative"),),
            Tier.ADVANCED,
        )


def _course(monitor: Monitor, shown: list[Watched], scope: Any) -> Periods:
    kinds = {True: Kind.DAILY, False: Kind.SHARE}
    columns = [
        Column("until" if scope == "cumulative" else "period"),
        *(
            Column(
                _called(each.measure, each.subject, several=False),
                Kind.DIFFERENCE if each.subject == DIFFERENCE else kinds[each.measure in PER_DAY],
            )
            for each in shown
        ),
    ]
    rows = []
    for period in monitor.periods[-MOST:]:
        found = [period.figure(each.measure, scope, each.subject) for each in shown]
        cells = [
            _between(one.measure, one.estimate, ends=False)
            if math.isnan(one.estimate)
            else one.estimate
            for one in found
        ]
        rows.append((period.end if scope == "cumulative" else _span(period), *cells))
    left = len(monitor.periods) - MOST
    notes = (f"{count(left)} periods before them are not shown.",) if left > 0 else ()
    caption = (
        "All rows up to then, with confidence sequences"
        if scope == "cumulative"
        else "Each period by itself, with a confidence sequence of its own"
    )
    bounds = _bounds(monitor) if scope == "cumulative" else ()
    return Periods(caption, tuple(columns), tuple(rows), notes, bounds=bounds)


def _bounds(monitor: Monitor) -> tuple[tuple[str, float, str], ...]:
    """What rules hold the drawn figures to."""
    rules = [each.rule for each in monitor.rules]
    measures = [rule.written if rule.measure is None else rule.measure.name for rule in rules]
    return tuple(
        (_called(measure, rule.subject, several=False), rule.bound, rule.text)
        for measure, rule in zip(measures, rules, strict=True)
        if rule.subject in (NEW, DIFFERENCE)
    )


def _span(period: Period) -> str:
    return period.start if period.start == period.end else f"{period.start} to {period.end}"


def _each(monitor: Monitor) -> Section:
    """What was counted in each period, and its figures by themselves."""
    columns = (
        Column("period"),
        Column("rows", Kind.COUNT),
        Column("alerts", Kind.COUNT),
        Column("with a label", Kind.COUNT),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_span(period), period.rows, period.alerts, period.triaged)
        for period in monitor.periods[-MOST:]
    )
    blocks: list[Block] = [Table("Rows and alerts (days are of UTC)", columns, rows)]
    shown = [
        each
        for each in monitor.last.estimates
        if each.scope == "period" and each.subject in (NEW, DIFFERENCE)
    ]
    alone = [
        each
        for each in shown
        if any(
            math.isfinite(period.figure(each.measure, "period", each.subject).estimate)
            for period in monitor.periods
        )
    ]
    if alone:
        blocks.append(_course(monitor, alone, "period"))
    return Section("Each period", tuple(blocks), Tier.APPENDIX, detail=True)


# -- labels that wait ------------------------------------------------------------------------------


def _maturity(monitor: Monitor) -> Iterator[Section]:
    if not monitor.maturity:
        return
    columns = (
        Column("age in days"),
        Column("alerts", Kind.COUNT),
        Column("with a label", Kind.COUNT),
        Column("share", Kind.SHARE),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (_age(each.first, each.last), each.alerts, each.triaged, each.triaged / each.alerts)
        for each in monitor.maturity
    )
    caption = f"Alerts by their age on {monitor.until}"
    yield Section("Labels", (Table(caption, columns, rows),), Tier.ADVANCED)


def _age(first: int, last: int | None) -> str:
    if last is None:
        return f"{first} and more"
    return str(first) if first == last else f"{first} to {last}"


def _records(monitor: Monitor) -> Iterator[Mapping[str, Any]]:
    """One row a period and figure, for the CSV table."""
    kept = ("measure", "subject", "scope", "value", "low", "high", "method", "n", "undefined")
    for period in monitor.periods:
        for each in period.estimates:
            plain = each.to_dict()
            bound = plain["bound"] or [None, None]
            ordinary = plain["ordinary"] or {}
            yield {
                "start": period.start,
                "end": period.end,
                "rows": period.rows,
                **{key: plain[key] for key in kept},
                "least": bound[0],
                "most": bound[1],
                "ordinary_low": ordinary.get("low"),
                "ordinary_high": ordinary.get("high"),
                "mature": plain["mature"],
            }
