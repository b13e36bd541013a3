"""What was found of incidents: which were detected, how late, and at what cost in false alarms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.decisions.incidents.schedule import iso, moments
from assay.errors import InputError, UnknownMeasure
from assay.evaluation.findings import Finding
from assay.evaluation.snapshot import Estimated
from assay.inference import Estimate
from assay.inference.fields import Recorded, stored
from assay.inference.not_finite import odd
from assay.sources.files.request import RowSource
from assay.sources.logs import Clock
from assay.tally.incidents import SECOND

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


def _time_written(time: int | None) -> str | None:
    return None if time is None else iso(time)


def _time_read(given: Any, at: str) -> int | None:
    if given is None:
        return None
    try:
        return moments([given], Clock(), "time", [at])[0]
    except InputError as wrong:
        raise odd(at, given, "a moment in UTC") from wrong


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


@dataclass(frozen=True)
class Incidents(Recorded):
    """Which incidents were detected, how late, and at how many false alarms a day.

    ``match`` are the columns that had to fit, ``key`` those by which false alarms that follow each
    other within ``gap`` seconds are one false incident. ``score`` is the column that ranks alerts,
    of which a low number is the more suspicious where it is ``reversed``.
    """

    SCHEMA: ClassVar[str] = "assay.incidents/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("detected", "total")
    FIRST: ClassVar[tuple[str, ...]] = (
        *("schema", "incidents", "detected", "total", "estimates", "days", "findings"),
    )

    incidents: tuple[Detection, ...]
    estimates: tuple[Estimated, ...]
    days: tuple[Day, ...]
    findings: tuple[Finding, ...] = ()
    rules: tuple[RuleRecord, ...] = ()
    observed: Observation | None = None
    delays: DelayCurve | None = None
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

    def __getitem__(self, name: str) -> Estimate:
        """An estimate over all incidents, as ``incidents["false_incidents_per_day"]``."""
        known = {each.measure: each.estimate for each in self.estimates if each.slice is None}
        if name not in known:
            raise UnknownMeasure(f"incidents have no {name!r}; they have {', '.join(known)}")
        return known[name]

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
