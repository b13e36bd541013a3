"""What was found of incidents: which were detected, how late, and at what cost in false alarms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from assay.decisions.incidents.constrained import OperatingChoice
from assay.decisions.incidents.coverage import Coverage
from assay.decisions.incidents.operating import OperatingCurve
from assay.decisions.incidents.records import (
    Day,
    DelayCurve,
    Detection,
    Observation,
    RuleRecord,
    Skew,
)
from assay.decisions.incidents.timeline import Timeline
from assay.errors import UnknownMeasure
from assay.evaluation.findings import Finding
from assay.evaluation.snapshot import Estimated
from assay.inference import Estimate
from assay.inference.fields import Recorded
from assay.inference.result import Result
from assay.sources.files.request import RowSource

if TYPE_CHECKING:
    from assay.decisions.plotting_over_time import IncidentPlots

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
    estimates: tuple[Estimated, ...]
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
        from assay.decisions.plotting_over_time import IncidentPlots

        return IncidentPlots(self)

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
