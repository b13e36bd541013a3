"""From a tally of incidents to the answer: detected, delays, false alarms a day, rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.incidents.coverage import Ranges, coverage_of
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
    Day,
    DelayCurve,
    Detection,
    Incidents,
    Observation,
    RuleRecord,
    Skew,
    estimated_skew,
    observed_in,
    seconds_by_day,
    timeline_of,
    under_alarm,
)
from assay.v02.decisions.incidents.incident_findings import findings_of
from assay.v02.decisions.incidents.operating_points import (
    OperatingCharacteristic,
    OperatingChoice,
    OperatingCurve,
    choose_operating_point,
)
from assay.v02.decisions.incidents.schedule import Incident, day_of
from assay.errors import InputError
from assay.v02.evaluation.snapshot import EstimateRecord, Slice
from assay.v02.inference import ClopperPearson, Estimate
from assay.v02.inference.delta import FayFeuer, WeightedSum
from assay.v02.inference.time_courses import KaplanMeier, kaplan_meier
from assay.v02.sources.times import must_be_a_span
from assay.v02.tally.incident_tally import DAY, SECOND, START, IncidentTally

Array: TypeAlias = npt.NDArray[Any]

_TOGETHER = "no interval: alerts of one incident come together"


@dataclass(frozen=True)
class JudgingOptions:
    """What was asked, beside the tally: how lines were matched and grouped, and what must be kept.

    ``reversed`` is whether a low score is the more suspicious one; in a tally it is negative.
    """

    match: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    directed: bool = False
    grace: int = 0
    skew: int = 0
    level: float = 0.95
    reversed: bool = False
    max_false_incidents: float | None = None
    max_delay: float | None = None
    confidence: float = 0.9


def judged_incidents(
    tally: IncidentTally,
    windows: Sequence[Incident] | None,
    asked: JudgingOptions,
    *,
    every: IncidentTally,
    **more: Any,
) -> Incidents:
    """The answer; without ``windows`` the rows of each incident tell when it was.

    ``tally`` has the alerts that count, ``every`` those of all scores.
    """
    if len(days := every.volume["day"]):
        must_be_a_span(day_of(int(days.min())), day_of(int(days.max())))
    scheduled = None if windows is None else tuple(windows)
    incidents = tuple(_detections(tally, scheduled))
    # Whatever the threshold: lines of an alert log are alerts, scored rows of a table are events.
    observed, ranges = observed_in(every, scored_rows=scheduled is None and every.scored)
    rules = tuple(_rules(tally, observed, asked.level))
    skew = Skew(asked.skew / SECOND)
    if scheduled and asked.match:
        skew = estimated_skew(tally, scheduled, asked.grace, asked.skew)
    spans = [(each.start, each.end) for each in incidents]
    coverage = coverage_of(tally, spans)
    curve, choice = _operating(every, incidents, observed, asked)
    return Incidents(
        incidents=incidents,
        estimates=tuple(_estimates(tally, incidents, asked, observed, ranges)),
        days=tuple(_days(tally, ranges)),
        findings=findings_of(
            tally,
            incidents,
            scheduled,
            match=asked.match,
            grace=asked.grace,
            observed=observed,
            ranges=ranges,
            rules=rules,
            skew=skew,
            coverage=coverage,
        ),
        rules=rules,
        observed=observed,
        delays=_delays(incidents, asked),
        coverage=coverage,
        operating=curve,
        choice=choice,
        timeline=timeline_of(tally, spans),
        skew=skew,
        match=asked.match,
        key=asked.key,
        directed=asked.directed,
        grace=asked.grace / SECOND,
        gap=tally.gap / SECOND,
        level=asked.level,
        reversed=asked.reversed,
        **more,
    )


def _operating(
    tally: IncidentTally,
    incidents: tuple[Detection, ...],
    observed: Observation,
    asked: JudgingOptions,
) -> tuple[OperatingCurve | None, OperatingChoice | None]:
    """What each threshold would mean, and the one that keeps what was asked."""
    limits = {"max_false_incidents": asked.max_false_incidents, "max_delay": asked.max_delay}
    wanted = any(limit is not None for limit in limits.values())
    if wanted and not tally.scored:
        raise InputError("a threshold is chosen by score; name the column with score=")
    if wanted and not observed.seconds:
        raise InputError(
            "a threshold is chosen by what it costs a day, and no time was observed: lines lie "
            "more than an hour apart, or there is one. Give the logs of other events with events="
        )
    if not tally.scored or not observed.seconds:
        return None, None
    starts = {each.id: each.start for each in incidents}
    characteristic = OperatingCharacteristic.of(tally, starts, days=observed.days)
    curve = characteristic.curve
    choice = (
        choose_operating_point(characteristic, **limits, confidence=asked.confidence)
        if wanted
        else None
    )
    if asked.reversed:
        return curve.turned(), choice and choice.turned()
    return curve, choice


def _detections(tally: IncidentTally, windows: tuple[Incident, ...] | None) -> Iterator[Detection]:
    alerts, seen = tally.first_alerts(), tally.seen
    lines = dict(zip(seen.texts("incident"), seen["rows"].tolist(), strict=True))
    rules = _rules_by_incident(tally)
    if windows is None:
        spans = zip(seen.texts("incident"), seen["first"], seen["last"], strict=True)
        from_rows = [
            Incident(name, name, int(first), int(last), tally.families.get(name))
            for name, first, last in spans
        ]
        windows = tuple(sorted(from_rows, key=lambda each: (each.start, each.end, each.id)))
    for incident in windows:
        raised, shared, first = alerts.get(incident.id, (0, 0, None))
        yield Detection(
            id=incident.id,
            attack=incident.attack,
            start=incident.start,
            end=incident.end,
            first_alert=first,
            alerts=raised,
            family=incident.family,
            shared=shared,
            lines=lines.get(incident.id, 0),
            rules=tuple(rules.get(incident.id, ())),
        )


def _rules_by_incident(tally: IncidentTally) -> dict[str, list[str]]:
    """The rules that raised alerts for each incident."""
    table = tally.raised.without("score")
    rules: dict[str, list[str]] = {}
    for incident, rule in zip(table.texts("incident"), table.texts("rule"), strict=True):
        if rule:
            rules.setdefault(incident, []).append(rule)
    return rules


# -- estimates -------------------------------------------------------------------------------------


def _estimates(
    tally: IncidentTally,
    incidents: tuple[Detection, ...],
    asked: JudgingOptions,
    observed: Observation,
    ranges: Ranges,
) -> Iterator[EstimateRecord]:
    def of(measure: str, estimate: Estimate, where: Slice | None = None) -> EstimateRecord:
        return EstimateRecord(measure, None, None, where, None, estimate)

    level = asked.level
    yield of(DETECTED, _share_detected(incidents, level))
    yield of(MEDIAN_DELAY, _curve(incidents, asked).median(level))
    yield of(ALERTS_PER_INCIDENT, _alerts_per_incident(incidents))
    groups = tally.false_incidents["alerts"]
    yield of(FALSE_ALARMS, rate_per_day(groups, observed, level))
    yield of(FALSE_INCIDENTS, rate_per_day(np.ones(len(groups)), observed, level))
    yield of(UNDER_ALARM, _share_under_alarm(tally, ranges))
    yield of(REAL_ALERTS, _real_alerts(tally))
    for column in (ATTACK, FAMILY):
        values = dict.fromkeys(getattr(each, column) for each in incidents)
        for value in sorted(each for each in values if each is not None):
            of_value = tuple(each for each in incidents if getattr(each, column) == value)
            yield of(DETECTED, _share_detected(of_value, level), Slice(column, value))


def _share_detected(incidents: Sequence[Detection], level: float) -> Estimate:
    total, detected = len(incidents), sum(each.detected for each in incidents)
    if not total:
        return Estimate(math.nan, level=level, undefined="there are no incidents")
    method = ClopperPearson(level)
    low, high = method.ends(detected, total)
    return Estimate(detected / total, low, high, method=method.name, n=total, level=level)


def _curve(incidents: Sequence[Detection], asked: JudgingOptions) -> KaplanMeier:
    """Kaplan-Meier of the time to detect; an incident that was missed is censored at its end."""
    times = [
        (each.end + asked.grace - each.start) / SECOND if each.delay is None else each.delay
        for each in incidents
    ]
    return kaplan_meier(times, [each.detected for each in incidents])


def _delays(incidents: tuple[Detection, ...], asked: JudgingOptions) -> DelayCurve | None:
    if not incidents:
        return None
    curve = _curve(incidents, asked)
    low, high = curve.simultaneous(asked.level)
    columns = (curve.times, curve.survival, low, high)
    return DelayCurve(*(tuple(map(float, column)) for column in columns))


def _alerts_per_incident(incidents: Sequence[Detection]) -> Estimate:
    raised = [each.alerts for each in incidents if each.detected]
    if not raised:
        return Estimate(math.nan, undefined="no incident was detected")
    parts = {"median": float(np.median(raised)), "largest": float(max(raised))}
    return Estimate(sum(raised) / len(raised), n=len(raised), note=_TOGETHER, parts=parts)


def rate_per_day(sizes: Array, observed: Observation, level: float) -> Estimate:
    """A number a day, given the sizes of groups that come by themselves.

    Fay and Feuer's gamma interval of a sum of Poisson counts; for groups of one it is Garwood's,
    the exact one.
    """
    if not observed.seconds:
        reason = "no time was observed: no two lines at different times lie within an hour"
        return Estimate(math.nan, level=level, undefined=reason)
    total, squares = float(np.sum(sizes)), float(np.sum(np.square(sizes, dtype=np.float64)))
    method = FayFeuer(level)
    weights = np.append(np.asarray(sizes, np.float64), 1.0)
    low, high = method.of_sum(WeightedSum(total, squares, weights))
    days = observed.days
    return Estimate(
        total / days, low / days, high / days, method=method.name, n=len(sizes), level=level
    )


def _share_under_alarm(tally: IncidentTally, observed: Ranges) -> Estimate:
    if not len(observed):
        return Estimate(math.nan, undefined="no time was observed")
    share = under_alarm(tally).within(observed) / int(observed.length.sum())
    return Estimate(share, note="no interval: it is a share of the observed time")


def _real_alerts(tally: IncidentTally) -> Estimate:
    if not tally.alerts:
        return Estimate(math.nan, undefined="there are no alerts")
    return Estimate(1 - tally.false_alarms / tally.alerts, n=tally.alerts, note=_TOGETHER)


# -- days and rules --------------------------------------------------------------------------------


def _days(tally: IncidentTally, observed: Ranges) -> Iterator[Day]:
    """Every day from the first to the last line."""
    daily = tally.daily.without("score").without("rule")
    lines = dict(zip(tally.volume["day"].tolist(), tally.volume["rows"].tolist(), strict=True))
    if not lines:
        return
    alerts = dict(zip(daily["day"].tolist(), daily["alerts"].tolist(), strict=True))
    false = dict(zip(daily["day"].tolist(), daily["false_alarms"].tolist(), strict=True))
    first, amounts = np.unique(tally.false_incidents[START] // DAY, return_counts=True)
    groups = dict(zip(first.tolist(), amounts.tolist(), strict=True))
    seconds = seconds_by_day(observed)
    for day in range(min(lines), max(lines) + 1):
        yield Day(
            day=day_of(day),
            alerts=alerts.get(day, 0),
            false_alarms=false.get(day, 0),
            false_incidents=groups.get(day, 0),
            lines=lines.get(day, 0),
            observed_seconds=seconds.get(day, 0.0),
        )


def _rules(tally: IncidentTally, observed: Observation, level: float) -> Iterator[RuleRecord]:
    """What each rule found, the one that found most first; nothing where no alert names a rule."""
    daily = tally.daily.without("score").without("day")
    rules = daily.texts("rule")
    if set(rules) <= {""}:
        return
    rules_of, groups = _rules_by_incident(tally), tally.false_by_rule
    sizes = dict.fromkeys(rules, np.empty(0))
    for number, rule in enumerate(groups.names["rule"]):
        sizes[rule] = groups["alerts"][groups["rule"] == number]
    records = []
    for rule, alerts, false in zip(rules, daily["alerts"], daily["false_alarms"], strict=True):
        hits = [own for own in rules_of.values() if rule in own]
        records.append(
            RuleRecord(
                rule=rule,
                alerts=int(alerts),
                incidents=len(hits),
                alone=sum(own == [rule] for own in hits),
                false_alarms=int(false),
                false_alarms_per_day=rate_per_day(sizes[rule], observed, level),
            )
        )
    yield from sorted(records, key=lambda each: (-each.incidents, each.false_alarms, each.rule))
