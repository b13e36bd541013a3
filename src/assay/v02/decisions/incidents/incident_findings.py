"""What a reader of detected incidents must know, each with a code."""

from __future__ import annotations

from collections.abc import Iterator

from assay.v02.decisions.incidents.coverage import Coverage, Ranges
from assay.v02.decisions.incidents.detections import (
    ALERTS_ALONE,
    Detection,
    Observation,
    RuleRecord,
    Skew,
    expected_by_chance,
    unobserved,
)
from assay.v02.decisions.incidents.schedule import Incident
from assay.v02.escaping import plural
from assay.v02.evaluation.findings import Finding, urgent_first
from assay.v02.evaluation.findings.finding import Code
from assay.v02.evaluation.wording import name, some
from assay.v02.number_text import count, fixed, rate, rate_percent, significant
from assay.v02.tally.incident_tally import SECOND, IncidentTally

# Fewer incidents than this leave the share detected open by more than forty points.
FEWEST = 20
# A rule that is never right matters from this share of the false alarms on.
_LOUD = 0.05
# Windows of unlike attacks that chance alone would fill so far tell little.
_BY_CHANCE = 0.1

NOT_OBSERVED = Code(
    "I001",
    "warning",
    "incidents that were not observed",
    "An attack of which the logs hold no line can't be detected by any rule: it tells of the "
    "sensor, or of the schedule, and not of the detector.",
    "Check the times and zones of the schedule, its addresses, and whether the sensor ran.",
)
SHARED_ALERTS = Code(
    "I002",
    "warning",
    "alerts that fit several incidents",
    "Where windows overlap and nothing tells the attacks apart, an alert for one detects both.",
    "Give the schedule addresses, ports or hosts that differ, and match by them.",
)
SKEWED_CLOCKS = Code(
    "I003",
    "warning",
    "clocks that differ",
    "A clock or a zone that is off puts alerts outside of the windows that they belong to.",
    "Say by how much the logs are ahead, or which time zone the times have.",
)
BY_TIME_ALONE = Code(
    "I004",
    "warning",
    "incidents matched by time alone",
    "Any alert in a window counts, so that a detector which is loud enough detects everything.",
    "Give the schedule the addresses of the attacks, and match by them.",
)
NEVER_RIGHT = Code(
    "I005",
    "warning",
    "rules that were never right",
    "A rule that found no incident and raised many false alarms costs time and hides others.",
    "Tune it or switch it off, unless it looks for what did not happen in this time.",
)
FEW_INCIDENTS = Code(
    "I006",
    "info",
    "few incidents",
    "The share of incidents that are detected rests on incidents, however many alerts there are.",
    "Collect more incidents, or read the whole interval.",
)
SILENCES = Code(
    "I007",
    "info",
    "times without a line",
    "What was not observed is neither quiet nor under alarm; it is left out of all rates.",
    "Check whether the sensor ran, and whether all files were given.",
)
ONLY_ALERTS = Code(
    "I008",
    "info",
    "the observed time is a guess",
    "Alerts alone do not tell when the sensor ran, and every rate a day rests on that.",
    "Give the other events too, as the connections of Zeek or the flows of Suricata.",
)
POINT_ADJUSTED = Code(
    "I009",
    "info",
    "what point-adjusted F1 would say",
    "Point adjustment counts all of an incident as found once any of it is, which alarms at random "
    "reach too: papers that quote it can't be compared with anything else.",
    "Quote incidents detected, delays and false incidents a day instead.",
)
NO_ALERTS = Code(
    "I010",
    "warning",
    "no line is an alert",
    "Without a single alert nothing is detected, and more often than not the wrong log was given.",
    "Give the log of alerts, or another threshold.",
)
CODES = (
    *(NOT_OBSERVED, SHARED_ALERTS, SKEWED_CLOCKS, BY_TIME_ALONE),
    *(NEVER_RIGHT, FEW_INCIDENTS, SILENCES, ONLY_ALERTS, POINT_ADJUSTED, NO_ALERTS),
)


def findings_of(
    tally: IncidentTally,
    incidents: tuple[Detection, ...],
    windows: tuple[Incident, ...] | None,
    *,
    match: tuple[str, ...],
    grace: int,
    observed: Observation,
    ranges: Ranges,
    rules: tuple[RuleRecord, ...],
    skew: Skew,
    coverage: Coverage | None,
) -> tuple[Finding, ...]:
    """All findings, warnings first, then by code; ``windows`` are None for rows of a table."""
    findings = [
        *(_not_observed(tally, incidents, observed) if windows is not None else ()),
        *_shared_alerts(incidents),
        *_skewed(skew),
        *(_by_time(tally, windows, grace, ranges) if windows and not match else ()),
        *_never_right(rules),
        *_few(incidents),
        *_silences(observed),
        *_point_adjusted(coverage),
        *_no_alerts(tally),
    ]
    return urgent_first(findings)


def _not_observed(
    tally: IncidentTally, incidents: tuple[Detection, ...], observed: Observation
) -> Iterator[Finding]:
    outside = [each for each in incidents if unobserved(tally, observed, each.start, each.end)]
    if outside:
        others, detected = len(incidents) - len(outside), sum(each.detected for each in incidents)
        yield NOT_OBSERVED.found(
            f"{_attacks(outside)} lie{_s(outside)} where nothing was observed; of the other "
            f"{count(others)} {plural(others, 'incident', 'incidents')} {count(detected)} "
            f"{plural(detected, 'was', 'were')} detected."
        )
    if observed.basis == ALERTS_ALONE:
        return
    silent = [each for each in incidents if not each.lines and each not in outside]
    if silent:
        yield NOT_OBSERVED.found(
            f"No line in the logs belongs to {_attacks(silent)}, though other lines were seen then."
        )


def _shared_alerts(incidents: tuple[Detection, ...]) -> Iterator[Finding]:
    shared = [each for each in incidents if each.shared]
    if not shared:
        return
    only = [each for each in shared if each.shared == each.alerts]
    surely = sum(each.detected for each in incidents) - len(only)
    example = (
        f" {_attacks(only)} ha{'ve' if len(only) > 1 else 's'} no other: without such "
        f"alerts {count(surely)} {plural(surely, 'incident is', 'incidents are')} detected."
        if only
        else ""
    )
    yield SHARED_ALERTS.found(
        f"Alerts of {_attacks(shared)} fit another incident too, and count for each of "
        f"them.{example}"
    )


def _skewed(skew: Skew) -> Iterator[Finding]:
    if not skew.estimated:
        return
    size = span(abs(skew.estimated))
    way, sign = ("ahead of", "") if skew.estimated > 0 else ("behind", "-")
    yield SKEWED_CLOCKS.found(
        f"The logs seem {size} {way} the schedule: then {count(skew.detected)} "
        f"{plural(skew.detected, 'incident has', 'incidents have')} alerts of their addresses in "
        f"their windows, and {count(skew.detected_without)} as it "
        f"is. Anything from {span(skew.low or 0)} to {span(skew.high or 0)} does as well. It is "
        f"not applied: give a skew of {sign}{size} if that is so."
    )


def _by_time(
    tally: IncidentTally, windows: tuple[Incident, ...], grace: int, observed: Ranges
) -> Iterator[Finding]:
    expected = expected_by_chance(tally, windows, grace, observed)
    if expected >= _BY_CHANCE * len(windows):
        yield BY_TIME_ALONE.found(
            f"Incidents are matched by time alone. Windows as long, at any other time, would hold "
            f"a false alarm in {fixed(expected, 1)} of {count(len(windows))} cases: so many would "
            f"be detected by chance."
        )


def _never_right(rules: tuple[RuleRecord, ...]) -> Iterator[Finding]:
    total = sum(rule.false_alarms for rule in rules)
    wrong = [rule for rule in rules if rule.never_right and rule.rule]
    cost = sum(rule.false_alarms for rule in wrong)
    if wrong and cost >= _LOUD * total:
        yield NEVER_RIGHT.found(
            f"{count(len(wrong))} of {count(len(rules))} {plural(len(rules), 'rule', 'rules')} "
            f"found no incident and raised "
            f"{rate_percent(cost / total)} of the false alarms: "
            f"{some([name(rule.rule) for rule in wrong])}."
        )


def _few(incidents: tuple[Detection, ...]) -> Iterator[Finding]:
    if not incidents:
        yield FEW_INCIDENTS.found("There is no incident: nothing is told of the share detected.")
    elif len(incidents) < FEWEST:
        many = f"are {count(len(incidents))} incidents"
        yield FEW_INCIDENTS.found(
            f"There {plural(len(incidents), 'is 1 incident', many)}: one more or less moves the "
            f"share that "
            f"is detected by {rate_percent(1 / len(incidents))}."
        )


def _silences(observed: Observation) -> Iterator[Finding]:
    if observed.basis == ALERTS_ALONE:
        yield ONLY_ALERTS.found(
            f"There are only alerts, so all time from the first to the last counts as observed: "
            f"{fixed(observed.days, 2)} days."
        )
    elif observed.silences:
        silent = (observed.until - observed.since) / SECOND - observed.seconds
        yield SILENCES.found(
            f"There {'are' if observed.silences > 1 else 'is'} {count(observed.silences)} "
            f"stretch{'es' if observed.silences > 1 else ''} of more than an hour without a line, "
            f"{span(silent)} together; {fixed(observed.days, 2)} days were observed."
        )


def _point_adjusted(coverage: Coverage | None) -> Iterator[Finding]:
    if coverage is None:
        return
    adjusted = coverage.point_adjusted
    yield POINT_ADJUSTED.found(
        f"Point-adjusted F1 would be {rate(adjusted.f1)}, where F1 of the same seconds is "
        f"{rate(adjusted.unadjusted)}. Alarms at random that are on for the same share of the "
        f"time, {rate_percent(adjusted.alarm_rate)}, are expected to get {rate(adjusted.random)}.",
        None if adjusted.beats_random else "warning",
    )


def _no_alerts(tally: IncidentTally) -> Iterator[Finding]:
    if not tally.alerts:
        yield NO_ALERTS.found(
            f"None of the {count(int(tally.volume['rows'].sum()))} lines is an alert that counts."
        )


def _attacks(incidents: list[Detection]) -> str:
    return some([f"{each.attack} ({each.id})" for each in incidents])


def _s(items: list[Detection]) -> str:
    return "" if len(items) > 1 else "s"


def span(seconds: float) -> str:
    """A length of time as people write it.

    >>> span(90), span(5400), span(-30), span(0.25)
    ('1m30s', '1h30m', '-30s', '0.25s')
    """
    sign, remaining = ("-" if seconds < 0 else ""), abs(seconds)
    if remaining < 60:
        return f"{sign}{significant(remaining)}s"
    remaining = round(remaining)
    parts = []
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)):
        if remaining >= size:
            parts.append(f"{remaining // size}{unit}")
            remaining %= size
    return sign + "".join(parts[:2])
