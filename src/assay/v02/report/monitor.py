"""The document of a monitor: rules, figures that hold at every look, labels that wait, shifts.

Prometheus reads its last look as OpenMetrics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from assay.v02.decisions.monitor_result import Monitor, Period, RuleOutcome, WatchedRule
from assay.v02.decisions.rule import DIFFERENCE, NEW
from assay.v02.decisions.watched_figures import Watched
from assay.v02.escaping import name, plural, visible
from assay.v02.evaluation.deployment import PER_DAY
from assay.v02.evaluation.wording import listed
from assay.v02.measures import PRECISION, find
from assay.v02.number_text import (
    count,
    daily,
    daily_parts,
    difference_parts,
    exact_percent,
    fixed,
    measured_parts,
    percent,
    plain_number,
)
from assay.v02.report.sections import (
    Block,
    Cell,
    Column,
    Kind,
    PeriodCourse,
    Prose,
    Report,
    Section,
    Table,
    Tier,
    measure_name,
    quoted,
)
from assay.v02.report.slices import refused_rows

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
        _period_section(monitor),
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
        precision = monitor[PRECISION.name].estimate
        statement = "is not known yet" if math.isnan(precision) else f"is {percent(precision)}"
        yield f"Until {monitor.until} precision {statement}; no rule was given."
    periods = monitor.periods
    days = sum(period.days for period in periods)
    alerts = sum(period.alerts for period in periods)
    triaged = sum(period.triaged for period in periods)
    raised = "" if monitor.positive is None else f" for {quoted(monitor.positive)}"
    yield (
        f"{count(monitor.rows)} {plural(monitor.rows, 'row', 'rows')} of {count(days)} "
        f"{plural(days, 'day', 'days')} until "
        f"{monitor.until}: {count(alerts)} {plural(alerts, 'alert', 'alerts')}{raised}, "
        f"{count(triaged)} of them with a label; "
        f"confidence sequences of {exact_percent(monitor.level)}."
    )


def summary(monitor: Monitor) -> str:
    """How many rules stand how, and since when the first is broken.

    ``1 of 2 rules is broken, since 2026-03-08; 1 holds.``
    """
    outcomes = Counter(judged.outcome for judged in monitor.rules)
    total = len(monitor.rules)
    parts: list[str] = []
    for outcome in (RuleOutcome.BROKEN, RuleOutcome.OPEN, RuleOutcome.HOLDS):
        if number := outcomes[outcome]:
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
    return _joined_parts(_parts(name_, rule.subject, judged.estimate)) or _bounds_text(
        name_, judged.estimate
    )


def _parts(measure: str, subject: str, estimate: Any) -> tuple[str, str]:
    """A figure and its interval; nothing where it has no value."""
    if math.isnan(estimate):
        return "", ""
    if subject == DIFFERENCE:
        return difference_parts(estimate)
    return daily_parts(estimate) if measure in PER_DAY else measured_parts(estimate)


def _joined_parts(parts: tuple[str, str]) -> str:
    return " ".join(part for part in parts if part)


def _bounds_text(measure: str, estimate: Any, *, ends: bool = True) -> str:
    """What a figure lies between where labels are missing, and the ends of its interval."""
    if estimate.bound is None:
        return "undefined"
    low, high = ((daily if measure in PER_DAY else plain_number)(end) for end in estimate.bound)
    interval = _parts(measure, NEW, estimate.changed(estimate.bound[0]))[1] if ends else ""
    return f"{low} to {high} {interval}".rstrip()


def _figure_name(measure: str, subject: str, *, several: bool) -> str:
    title = measure_name(measure) if measure in PER_DAY else find(measure).title
    if subject == DIFFERENCE:
        return f"{title}, new less old"
    return f"{title}, {subject}" if several else title


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
        shown = _joined_parts(_parts(each.measure, each.subject, each.estimate))
        rows.append(
            (
                _figure_name(each.measure, each.subject, several=several),
                shown or _bounds_text(each.measure, each.estimate),
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
    ordinary = each.ordinary
    if ordinary is None or math.isnan(ordinary.low):
        return ""
    shown = each.estimate.changed(
        (ordinary.low + ordinary.high) / 2, low=ordinary.low, high=ordinary.high, bound=None
    )
    return f"{_parts(each.measure, each.subject, shown)[1]} {ordinary.method}"


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


def _course(monitor: Monitor, shown: list[Watched], scope: Any) -> PeriodCourse:
    kinds = {True: Kind.DAILY, False: Kind.SHARE}
    columns = [
        Column("until" if scope == "cumulative" else "period"),
        *(
            Column(
                _figure_name(each.measure, each.subject, several=False),
                Kind.DIFFERENCE if each.subject == DIFFERENCE else kinds[each.measure in PER_DAY],
            )
            for each in shown
        ),
    ]
    rows = []
    for period in monitor.periods[-MOST:]:
        figures = [period.figure(each.measure, scope, each.subject) for each in shown]
        cells = [
            _bounds_text(one.measure, one.estimate, ends=False)
            if math.isnan(one.estimate)
            else one.estimate
            for one in figures
        ]
        rows.append((period.end if scope == "cumulative" else _span(period), *cells))
    hidden = len(monitor.periods) - MOST
    before = plural(hidden, "period before them is", "periods before them are")
    notes = (f"{count(hidden)} {before} not shown.",) if hidden > 0 else ()
    caption = (
        "All rows up to then, with confidence sequences"
        if scope == "cumulative"
        else "Each period by itself, with a confidence sequence of its own"
    )
    bounds = _bounds(monitor) if scope == "cumulative" else ()
    return PeriodCourse(caption, tuple(columns), tuple(rows), notes, bounds=bounds)


def _bounds(monitor: Monitor) -> tuple[tuple[str, float, str], ...]:
    """What rules hold the drawn figures to."""
    rules = [each.rule for each in monitor.rules]
    measures = [rule.written if rule.measure is None else rule.measure.name for rule in rules]
    return tuple(
        (_figure_name(measure, rule.subject, several=False), rule.bound, rule.text)
        for measure, rule in zip(measures, rules, strict=True)
        if rule.subject in (NEW, DIFFERENCE)
    )


def _span(period: Period) -> str:
    return period.start if period.start == period.end else f"{period.start} to {period.end}"


def _period_section(monitor: Monitor) -> Section:
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
    keys = ("measure", "subject", "scope", "value", "low", "high", "method", "n", "undefined")
    for period in monitor.periods:
        for each in period.estimates:
            plain = each.to_dict()
            bound = plain["bound"] or [None, None]
            ordinary = plain["ordinary"] or {}
            yield {
                "start": period.start,
                "end": period.end,
                "rows": period.rows,
                **{key: plain[key] for key in keys},
                "least": bound[0],
                "most": bound[1],
                "ordinary_low": ordinary.get("low"),
                "ordinary_high": ordinary.get("high"),
                "mature": plain["mature"],
            }


# -- shift since the reference ---------------------------------------------------------------------


RANKS = (
    "Mean rank: where a row stands among those of the reference, 0.5 where nothing has changed. "
    "Rows moved: the share of rows by which the two differ, a little above 0 by chance."
)
NO_LOSS = (
    "A shift is no loss of quality: it is a reason to label a sample of recent rows. All columns "
    "together are wrongly said to have shifted in at most {error} of streams, however long; the "
    "size of the reference is accounted for."
)


def shift_sections(monitor: Monitor) -> Iterator[Section]:
    """A section of all columns that were held against the reference, where there is one."""
    if not monitor.shift:
        return
    columns = (
        Column("column"),
        Column("shifted"),
        Column("since"),
        Column("evidence (log10)", Kind.SHARE),
        Column("enough", Kind.SHARE),
        Column("mean rank", Kind.SHARE, optional=True),
        Column("rows moved", Kind.SHARE, optional=True),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name(each.column),
            "yes" if each.shifted else "not shown",
            each.since or "",
            fixed(each.largest / math.log(10), 2),
            fixed(each.limit / math.log(10), 2),
            each.mean_rank,
            each.distance,
        )
        for each in monitor.shift
    )
    reference = monitor.shift[0].reference_rows
    error = exact_percent(round(1 - monitor.level, 12))
    notes = (RANKS,)
    caption = f"Against a reference of {count(reference)} {plural(reference, 'row', 'rows')}"
    blocks: list[Block] = [
        Table(caption, columns, rows, notes),
        Prose(NO_LOSS.format(error=error)),
    ]
    blocks += map(Prose, _base_rate(monitor))
    yield Section("Shift since the reference", tuple(blocks), Tier.ADVANCED)


def _base_rate(monitor: Monitor) -> Iterator[str]:
    share = monitor.base_rate
    if share is None or monitor.reference_base_rate is None:
        return
    if math.isnan(share):
        yield f"The share of attacks can't be told from alerts alone: {share.undefined}."
        return
    before = percent(monitor.reference_base_rate)
    yield (
        f"By their alerts alone, {percent(share)} of rows are attacks; {before} were in the "
        f"reference. {share.note}"
    )


# -- OpenMetrics, which Prometheus reads -----------------------------------------------------------


# The family of a sample, its labels and its value.
Sample: TypeAlias = tuple[str, Mapping[str, str], float]

_OF_MONITOR = {
    "assay_watched": "A figure of all rows so far.",
    "assay_watched_low": "The lower end of its confidence sequence.",
    "assay_watched_high": "The upper end of its confidence sequence.",
    "assay_watched_mature": "The share of the rows in question that have a label.",
    "assay_rule_broken": "Whether a rule is shown to be broken.",
    "assay_rule_holds": "Whether a rule is shown to hold.",
    "assay_shift_evidence": "The log of the largest evidence so far that a column has shifted.",
    "assay_shift_limit": "The log of the evidence that is enough.",
    "assay_rows": "How many rows were counted.",
    "assay_until_seconds": "The last day that has rows.",
}


def exposition(families: Mapping[str, str], samples: Iterable[Sample]) -> str:
    """The text of OpenMetrics 1.0; a family that ends with its unit says so."""
    lines: dict[str, list[str]] = {family: [] for family in families}
    for family, labels, value in samples:
        inside = ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items())
        lines[family].append(f"{family}{{{inside}}} {value!r}" if inside else f"{family} {value!r}")
    text = []
    for family, about in families.items():
        if lines[family]:
            unit = [f"# UNIT {family} seconds"] if family.endswith("_seconds") else []
            text += [f"# TYPE {family} gauge", *unit, f"# HELP {family} {about}", *lines[family]]
    return "\n".join([*text, "# EOF"]) + "\n"


def _escaped(text: str) -> str:
    text = "\n".join(map(visible, text.split("\n")))  # what is read by eye acts on no terminal
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def metrics_of(monitor: Monitor) -> str:
    """A monitor as gauges, all of the last look."""
    return exposition(_OF_MONITOR, _samples(monitor))


def _samples(monitor: Monitor) -> Iterator[Sample]:
    yield "assay_rows", {}, float(monitor.rows)
    last = datetime.fromisoformat(monitor.until).replace(tzinfo=UTC)
    yield "assay_until_seconds", {}, last.timestamp()
    for each in monitor.last.estimates:
        if each.scope != "cumulative":
            continue
        labels = {"measure": each.measure, "subject": each.subject}
        for suffix, value in (
            ("", float(each.estimate)),
            ("_low", each.estimate.low),
            ("_high", each.estimate.high),
            ("_mature", each.mature),
        ):
            if math.isfinite(value):
                yield f"assay_watched{suffix}", labels, value
    for judged in monitor.rules:
        labels = {"rule": judged.rule.text}
        yield "assay_rule_broken", labels, float(judged.outcome is RuleOutcome.BROKEN)
        yield "assay_rule_holds", labels, float(judged.outcome is RuleOutcome.HOLDS)
    for shift in monitor.shift:
        labels = {"column": shift.column}
        yield "assay_shift_evidence", labels, shift.largest
        yield "assay_shift_limit", labels, shift.limit
