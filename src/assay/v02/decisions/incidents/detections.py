"""What was found of incidents, its parts, and the stretches of time that were observed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.incidents.coverage import Coverage, Ranges
from assay.v02.decisions.incidents.operating_points import OperatingChoice, OperatingCurve
from assay.v02.decisions.incidents.schedule import Incident, iso, moments
from assay.errors import InputError, UnknownMeasure
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.snapshot import EstimateRecord
from assay.v02.inference import Estimate
from assay.v02.inference.fields import Recorded, Result, field_error, stored
from assay.v02.sources.files.request import RowSource
from assay.v02.sources.logs import Clock
from assay.v02.tally.incident_tally import DAY, END, SECOND, START, Cells, IncidentTally

if TYPE_CHECKING:
    from assay.v02.decisions.plotting import IncidentPlots

Array: TypeAlias = npt.NDArray[Any]


def _time_written(time: int | None) -> str | None:
    return None if time is None else iso(time)


def _time_read(given: Any, at: str) -> int | None:
    if given is None:
        return None
    try:
        return moments([given], Clock(), "time", [at])[0]
    except InputError as wrong:
        raise field_error(at, given, "a moment in UTC") from wrong


TIME = stored(write=_time_written, read=_time_read)


@dataclass(frozen=True)
class Detection(Recorded):
    """One incident: whether it was detected, when first, and by how many alerts.

    Times are microseconds since 1970; ``delay`` is in seconds, from the start to the first alert.
    ``shared`` alerts fit another incident too. ``lines`` are those that were observed of it, alerts
    or not. ``rules`` found it.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("detected", "delay")
    FIRST: ClassVar[tuple[str, ...]] = (
        *("id", "attack", "start", "end", "detected", "first_alert", "delay", "alerts"),
    )

    id: str
    attack: str
    start: int = field(metadata=TIME)
    end: int = field(metadata=TIME)
    first_alert: int | None = field(default=None, metadata=TIME)
    alerts: int = 0
    family: str | None = None
    shared: int = 0
    lines: int = 0
    rules: tuple[str, ...] = ()

    @property
    def detected(self) -> bool:
        """Whether there was an alert."""
        return self.first_alert is not None

    @property
    def delay(self) -> float | None:
        """Seconds from the start to the first alert."""
        return None if self.first_alert is None else (self.first_alert - self.start) / SECOND


@dataclass(frozen=True)
class Day:
    """A day in UTC: its lines, alerts, false alarms and false incidents, and what was observed."""

    day: str
    alerts: int
    false_alarms: int
    false_incidents: int
    lines: int
    observed_seconds: float


@dataclass(frozen=True)
class RuleRecord(Recorded):
    """What one rule found and what it cost: incidents, those it found alone, false alarms a day."""

    DERIVED: ClassVar[tuple[str, ...]] = ("never_right",)

    rule: str
    alerts: int
    incidents: int
    alone: int
    false_alarms: int
    false_alarms_per_day: Estimate

    @property
    def never_right(self) -> bool:
        """Whether none of its alerts belongs to an incident."""
        return self.false_alarms == self.alerts


@dataclass(frozen=True)
class Observation(Recorded):
    """Which time was observed.

    ``basis`` is ``events`` where lines of all kinds tell it, up to silences of an hour, and
    ``alerts`` where there are only alerts: then all time from the first to the last counts.
    """

    seconds: float
    since: int = field(metadata=TIME)
    until: int = field(metadata=TIME)
    basis: str = "events"
    silences: int = 0

    @property
    def days(self) -> float:
        """The same in days."""
        return self.seconds / 86_400


@dataclass(frozen=True)
class Skew:
    """By how many seconds the clock of the logs is ahead of the schedule's.

    ``applied`` was taken off all log times. ``estimated`` is what the logs tell, anywhere from
    ``low`` to ``high``; None where they don't, for the ``reason``.
    """

    applied: float = 0.0
    estimated: float | None = None
    low: float | None = None
    high: float | None = None
    detected: int = 0
    detected_without: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class DelayCurve:
    """The share that is still undetected after so many seconds (Kaplan-Meier), with its band."""

    seconds: tuple[float, ...]
    undetected: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


# -- the timeline of a picture ---------------------------------------------------------------------


# What is nearer than this share of the time can't be told apart in a picture.
FINEST = 1000


@dataclass(frozen=True)
class Spans:
    """Stretches of time in their order: seconds from the beginning of a timeline."""

    start: tuple[float, ...]
    end: tuple[float, ...]

    @classmethod
    def of(cls, runs: Cells, since: int, finest: int) -> Spans:
        """The runs of a table; those that are no farther apart than ``finest`` become one."""
        order = np.argsort(runs[START], kind="stable")
        start, reach = runs[START][order], np.maximum.accumulate(runs[END][order])
        first = np.ones(len(start), bool)
        first[1:] = start[1:] - reach[:-1] > finest
        last = np.append(first[1:], np.ones(min(len(start), 1), bool))
        return cls(_seconds(start[first], since), _seconds(reach[last], since))


@dataclass(frozen=True)
class Timeline(Recorded):
    """From when until when a picture goes; when alerts came, and when false incidents were.

    Alerts that follow each other within the gap are one span. Spans that are nearer to each other
    than a thousandth of the whole are joined.
    """

    since: int = field(metadata=TIME)
    until: int = field(metadata=TIME)
    alerts: Spans
    false_incidents: Spans

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.until - self.since) / SECOND


def timeline_of(tally: IncidentTally, windows: Sequence[tuple[int, int]]) -> Timeline | None:
    """The timeline of what was observed and of all incidents; None where there is neither."""
    observed = zip(tally.observed[START].tolist(), tally.observed[END].tolist(), strict=True)
    borders = [border for stretch in (*windows, *observed) for border in stretch]
    if not borders or min(borders) == max(borders):
        return None
    since, until = min(borders), max(borders)
    finest = (until - since) // FINEST
    return Timeline(
        since,
        until,
        Spans.of(tally.under_alarm, since, finest),
        Spans.of(tally.false_incidents, since, finest),
    )


def _seconds(moments: Array, since: int) -> tuple[float, ...]:
    return tuple(np.round((moments - since) / SECOND, 3).tolist())


# -- the answer ------------------------------------------------------------------------------------


# What is estimated; each is also asked for by this name, as incidents["incidents_detected"].
DETECTED = "incidents_detected"
MEDIAN_DELAY = "median_delay"
ALERTS_PER_INCIDENT = "alerts_per_incident"
FALSE_ALARMS = "false_alarms_per_day"
FALSE_INCIDENTS = "false_incidents_per_day"
UNDER_ALARM = "share_under_alarm"
REAL_ALERTS = "real_alerts"
# By what estimates are sliced.
ATTACK, FAMILY, RULE = "attack", "family", "rule"


@dataclass(frozen=True)
class Incidents(Result, Recorded):
    """Which incidents were detected, how late, and at how many false alarms a day.

    ``match`` are the columns that had to fit, ``key`` those by which false alarms that follow each
    other within ``gap`` seconds are one false incident. ``score`` is the column that ranks alerts,
    of which a low number is the more suspicious where it is ``reversed``; ``operating`` tells what
    each threshold of it would mean, and ``choice`` the one that keeps what was asked. ``coverage``
    judges alarms that last.
    """

    SCHEMA: ClassVar[str] = "assay.incidents/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("detected", "total")
    FIRST: ClassVar[tuple[str, ...]] = (
        *("schema", "incidents", "detected", "total", "estimates", "days", "findings"),
    )

    incidents: tuple[Detection, ...]
    estimates: tuple[EstimateRecord, ...]
    days: tuple[Day, ...]
    findings: tuple[Finding, ...] = ()
    rules: tuple[RuleRecord, ...] = ()
    observed: Observation | None = None
    delays: DelayCurve | None = None
    coverage: Coverage | None = None
    operating: OperatingCurve | None = None
    choice: OperatingChoice | None = None
    timeline: Timeline | None = None
    skew: Skew = field(default_factory=Skew)
    match: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    directed: bool = False
    grace: float = 0.0
    gap: float = 600.0
    score: str | None = None
    reversed: bool = False
    threshold: float | None = None
    level: float = 0.95
    notes: tuple[str, ...] = ()
    source: RowSource = field(default_factory=RowSource)

    @property
    def detected(self) -> int:
        """How many incidents were detected."""
        return sum(incident.detected for incident in self.incidents)

    @property
    def total(self) -> int:
        """How many incidents there were."""
        return len(self.incidents)

    @property
    def alerts(self) -> int:
        """How many alerts there were, each once."""
        return sum(day.alerts for day in self.days)

    @property
    def false_alarms(self) -> int:
        """How many alerts belong to no incident."""
        return sum(day.false_alarms for day in self.days)

    @property
    def false_incidents(self) -> int:
        """How many groups of false alarms there were."""
        return sum(day.false_incidents for day in self.days)

    @property
    def plot(self) -> IncidentPlots:
        """Figures by matplotlib: ``found.plot.timeline()``; needs the extra ``plot``."""
        from assay.v02.decisions.plotting import IncidentPlots

        return IncidentPlots(self)

    def __getitem__(self, name: str) -> Estimate:
        """An estimate over all incidents, as ``incidents["false_incidents_per_day"]``."""
        estimates = {each.measure: each.estimate for each in self.estimates if each.slice is None}
        if name not in estimates:
            raise UnknownMeasure(f"incidents have no {name!r}; they have {', '.join(estimates)}")
        return estimates[name]

    def of(self, column: str) -> dict[str, Estimate]:
        """The share detected by ``attack`` or by ``family``."""
        return {
            each.slice.value: each.estimate
            for each in self.estimates
            if each.slice is not None and each.slice.column == column
        }

    def __repr__(self) -> str:
        lines = [
            f"{each.measure}: {each.estimate}" for each in self.estimates if each.slice is None
        ]
        return "\n".join([f"Incidents: {self.detected} of {self.total} detected", *lines])


# -- stretches of time that were observed or under alarm, and clocks -------------------------------


# What tells which time was observed, where there are no other lines.
ALERTS_ALONE = "alerts"
# A skew is told where it detects so many incidents more, and as many at least.
_MORE, _LEAST = 2, 3
# What zones differ by.
_ZONES = (3600 * SECOND, 900 * SECOND)


def observed_in(tally: IncidentTally, *, scored_rows: bool) -> tuple[Observation, Ranges]:
    """Which time was observed: by lines of all kinds, or, of alerts alone, from first to last.

    Of ``scored_rows`` those below the threshold are no alerts, and tell what was observed.
    """
    starts, ends = tally.observed[START], tally.observed[END]
    only_alerts = not scored_rows and int(tally.volume["rows"].sum()) == tally.alerts
    if only_alerts:
        starts, ends = starts[:1], ends[-1:]
    lasting = ends > starts
    ranges = Ranges(starts[lasting], ends[lasting])
    observation = Observation(
        seconds=int(ranges.length.sum()) / SECOND,
        since=int(starts[0]) if len(starts) else 0,
        until=int(ends[-1]) if len(ends) else 0,
        basis=ALERTS_ALONE if only_alerts else "events",
        silences=max(len(starts) - 1, 0),
    )
    return observation, ranges


def unobserved(tally: IncidentTally, observed: Observation, start: int, end: int) -> bool:
    """Whether no observed time lies between two moments, both included."""
    if observed.basis == ALERTS_ALONE:
        return end < observed.since or start > observed.until
    starts, ends = tally.observed[START], tally.observed[END]
    at = int(np.searchsorted(ends, start))
    return at == len(starts) or bool(starts[at] > end)


def seconds_by_day(ranges: Ranges) -> dict[int, float]:
    """How many seconds of ranges lie in each day that they touch."""
    if not len(ranges):
        return {}
    days = np.arange(ranges.start[0] // DAY, ranges.end[-1] // DAY + 1)
    day, at = Ranges(days * DAY, (days + 1) * DAY).overlaps(ranges)
    low = np.maximum(days[day] * DAY, ranges.start[at])
    high = np.minimum((days[day] + 1) * DAY, ranges.end[at])
    sums = np.zeros(len(days), np.int64)
    np.add.at(sums, day, high - low)
    return dict(zip(days.tolist(), (sums / SECOND).tolist(), strict=True))


def under_alarm(tally: IncidentTally) -> Ranges:
    """When alarms were open: from each alert on, until none came for the length of the gap."""
    runs = tally.under_alarm
    return Ranges.union(runs[START], runs[END] + max(tally.gap, 1))


def expected_by_chance(
    tally: IncidentTally, incidents: Sequence[Incident], grace: int, observed: Ranges
) -> float:
    """How many incidents would have a false alarm in their window, were it anywhere else.

    The share of observed times from which on a window of that length holds one.
    """
    runs, length = tally.false_incidents, int(observed.length.sum())
    if not runs.size or not length:
        return 0.0
    total = 0.0
    for incident in incidents:
        width = incident.end + grace - incident.start
        total += Ranges.union(runs[START] - width, runs[END] + 1).within(observed) / length
    return total


def estimated_skew(
    tally: IncidentTally, incidents: Sequence[Incident], grace: int, applied: int
) -> Skew:
    """By how much the clocks of logs and schedule differ, where the addresses of attacks tell.

    Every difference is tried at which alerts of the right addresses fall into the windows: the one
    at which most incidents are detected, where that is more than without. Of a range of such
    differences a whole number of hours is taken, as of a wrong zone, else the largest, at which
    the quickest detection took no time.
    """
    seconds = applied / SECOND
    runs = tally.nearby
    if not runs.size:
        reason = "no alert has the addresses of an incident within a day of it"
        return Skew(applied=seconds, reason=reason)
    by_name = {incident.id: incident for incident in incidents}
    names = np.array([[by_name[n].start, by_name[n].end + grace] for n in runs.texts("incident")])
    edges: list[tuple[int, int]] = []
    for number in np.unique(runs["incident"]).tolist():
        of_incident = runs["incident"] == number
        shifts = Ranges.union(
            runs[START][of_incident] - names[of_incident, 1],
            runs[END][of_incident] - names[of_incident, 0] + 1,
        )
        edges += [(start, -1) for start in shifts.start.tolist()]
        edges += [(end - 1, 1) for end in shifts.end.tolist()]
    best, without, low, high = _deepest(sorted(edges))
    if best < without + _MORE or best < _LEAST:
        return Skew(seconds, 0.0, 0.0, 0.0, detected=without, detected_without=without)
    shift = _whole_hours(low, high)
    return Skew(
        applied=seconds,
        estimated=shift / SECOND,
        low=low / SECOND,
        high=high / SECOND,
        detected=best,
        detected_without=without,
    )


def _deepest(edges: list[tuple[int, int]]) -> tuple[int, int, int, int]:
    """The most stretches that meet, those that meet at 0, and where most do, nearest to 0."""
    depth = best = 0
    without, low, high = 0, 0, 0
    for i, (at, ends) in enumerate(edges):
        depth -= ends
        following = edges[i + 1][0] if i + 1 < len(edges) else at
        if at <= 0 <= following and depth > without:
            without = depth
        nearer = min(abs(at), abs(following)) < min(abs(low), abs(high))
        if ends < 0 and (depth > best or (depth == best and nearer)):
            best, low, high = depth, at, following
    return best, without, low, high


def _whole_hours(low: int, high: int) -> int:
    for unit in _ZONES:
        nearest = round(min(max(0, low), high) / unit) * unit
        for shift in (nearest, math.ceil(low / unit) * unit, math.floor(high / unit) * unit):
            if low <= shift <= high:
                return int(shift)
    return high
