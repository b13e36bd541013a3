"""The parts of an answer: one incident, a day, a rule, the time that was observed, the clocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.decisions.incidents.schedule import iso, moments
from assay.errors import InputError
from assay.inference import Estimate
from assay.inference.fields import Recorded, stored
from assay.inference.not_finite import odd
from assay.sources.logs import Clock
from assay.tally.incidents import SECOND


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
