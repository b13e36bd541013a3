"""The figures over time: of incidents, and of a monitor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from assay import plots
from assay.decisions.gate.rule import DIFFERENCE, NEW
from assay.errors import MethodError
from assay.evaluation.deployment import PER_DAY
from assay.measures import find
from assay.plots.canvas import BLUE, COLOURS, GREY, ORANGE, PAGE, drawing, label
from assay.plots.incidents import Shown, operating, time_to_detect, timeline
from assay.plots.names import plain, title
from assay.tally.incidents import SECOND

if TYPE_CHECKING:
    from assay.decisions.incidents.operating import OperatingCurve
    from assay.decisions.incidents.result import Incidents
    from assay.decisions.monitor.figures import Watched
    from assay.decisions.monitor.result import Monitor
    from assay.plots.canvas import Axes

_HIGH = 2.4
_NAMES = 12


@dataclass(frozen=True, repr=False)
class IncidentPlots(plots.Figures):
    """Figures of incidents; each is drawn on ``ax``, or on axes of its own."""

    incidents: Incidents

    def timeline(self, ax: Axes | None = None) -> Axes:
        """Incidents as bars in time, with their delays, above alerts and false incidents."""
        found = self.incidents.timeline
        if found is None:
            raise MethodError("no timeline can be drawn: no time was observed")
        shown = []
        for each in self.incidents.incidents:
            start, end = ((at - found.since) / SECOND for at in (each.start, each.end))
            first = None if each.delay is None else start + each.delay
            shown.append(Shown(each.attack, start, end, first))
        spans = (found.alerts, found.false_incidents)
        alerts, false = (list(zip(each.start, each.end, strict=True)) for each in spans)
        return timeline(
            shown,
            since=found.since,
            seconds=found.seconds,
            alerts=alerts,
            false_incidents=false,
            ax=ax,
        )

    def time_to_detect(self, ax: Axes | None = None) -> Axes:
        """The share that is still undetected by the time since the start, with its band."""
        found = self.incidents.delays
        if found is None:
            raise MethodError("no time to detect can be drawn: there are no incidents")
        columns = (found.seconds, found.undetected, found.low, found.high)
        return time_to_detect(*columns, level=self.incidents.level, ax=ax)

    def operating(self, ax: Axes | None = None) -> Axes:
        """Incidents detected against false incidents a day, by threshold."""
        found = self.incidents.operating
        detected = () if found is None else tuple(map(float, found.detected))
        false = () if found is None else found.false_incidents_per_day
        total = 0.0 if found is None else float(found.total)
        return self._operating(false, detected, "Incidents detected", "detected", total, ax)

    def amoc(self, ax: Axes | None = None) -> Axes:
        """How soon half of all incidents are detected against false incidents a day (AMOC)."""
        found = self.incidents.operating
        pairs = [] if found is None else list(_known(found))
        false, delays = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
        return self._operating(
            false, delays, "Seconds until half are detected", "median_delay", 0.0, ax
        )

    def _figures(self) -> plots.Named:
        found = self.incidents
        if found.timeline is not None:
            yield "timeline", self.timeline
        if found.delays is not None and found.delays.seconds:
            yield "time-to-detect", self.time_to_detect
        if found.operating is not None and found.operating.threshold:
            yield "operating", self.operating
            if len(set(_known(found.operating))) > 1:
                yield "amoc", self.amoc

    def _operating(
        self,
        false: tuple[float, ...],
        heights: tuple[float, ...],
        name: str,
        field: str,
        highest: float,
        ax: Axes | None,
    ) -> Axes:
        choice = self.incidents.choice
        points = []
        if choice is not None:
            for said, point in (
                ("by this data", choice.empirical),
                ("promised", choice.guaranteed),
            ):
                height = None if point is None else getattr(point, field)
                if point is not None and height is not None:
                    points.append((said, point.false_incidents_per_day, float(height)))
        limit = None if choice is None else choice.constraints.get("max_false_incidents")
        return operating(
            false, heights, name=name, points=points, limit=limit, highest=highest, ax=ax
        )


def _known(curve: OperatingCurve) -> Iterator[tuple[float, float]]:
    """False incidents a day and the median delay, where half are detected."""
    for false, delay in zip(curve.false_incidents_per_day, curve.median_delay, strict=True):
        if delay is not None:
            yield false, delay


@dataclass(frozen=True, repr=False)
class MonitorPlots(plots.Figures):
    """Figures of one monitor; each is drawn on ``ax``, or on axes of its own."""

    monitor: Monitor

    def sequence(self, measure: str, subject: str = NEW, ax: Axes | None = None) -> Axes:
        """One figure over all looks: its confidence sequence, and the interval for one look."""
        periods = self.monitor.periods
        name = measure if measure in PER_DAY else find(measure).name
        try:
            found = [period.figure(name, "cumulative", subject) for period in periods]
            alone = [period.figure(name, "period", subject) for period in periods]
        except KeyError as missing:
            raise MethodError(f"{measure!r} was not followed of {subject}") from missing
        bounds = [
            each.rule.bound
            for each in self.monitor.rules
            if each.rule.subject == subject
            and (each.rule.measure.name if each.rule.measure else each.rule.written) == name
        ]
        return plots.sequence(
            [period.end for period in periods],
            [each.estimate for each in found],
            [_ends(each) for each in found],
            title=_title(name, subject),
            periods=[float(each.estimate) for each in alone],
            bound=bounds[0] if bounds else None,
            ax=ax,
        )

    def shift(self, ax: Axes | None = None) -> Axes:
        """The evidence that columns have shifted, day by day, and where it is enough."""
        found = self.monitor.shift
        if not found:
            raise MethodError("there is nothing to draw: no reference was given")
        with drawing(ax, _HIGH, PAGE) as axes:
            for i, each in enumerate(found):
                values = [value / math.log(10) for value in each.evidence.values()]
                colour = COLOURS[i % len(COLOURS)] if len(found) > 1 else BLUE
                axes.plot(range(len(values)), values, color=colour, label=plain(each.column, 40))
            axes.axhline(found[0].limit / math.log(10), color=ORANGE, lw=1, ls="--", label="enough")
            axes.axhline(0, color=GREY, lw=0.6)
            days = list(found[0].evidence)
            step = max(1, math.ceil(len(days) / _NAMES))
            axes.set_xticks(range(len(days))[::step], days[::step], rotation=30, ha="right")
            # Evidence grows without end; what matters is where it crosses the line.
            axes.set_yscale("symlog", linthresh=2)
            label(axes, "Day", "log10 of the evidence")
            axes.legend()
        return axes

    def _figures(self) -> plots.Named:
        for each in self.monitor.last.estimates:
            drawn = [
                period.figure(each.measure, "cumulative", each.subject).estimate
                for period in self.monitor.periods
            ]
            if each.scope == "cumulative" and any(map(math.isfinite, drawn)):
                aside = "" if each.subject == NEW else f"_{each.subject.replace('-', '_')}"
                yield f"{each.measure}{aside}", partial(self.sequence, each.measure, each.subject)
        if self.monitor.shift:
            yield "shift", self.shift


def _ends(found: Watched) -> tuple[float, float]:
    if found.ordinary is None:
        return math.nan, math.nan
    return found.ordinary.low, found.ordinary.high


def _title(name: str, subject: str) -> str:
    said = name.replace("_", " ").capitalize() if name in PER_DAY else title(find(name))
    return f"{said}, new less old" if subject == DIFFERENCE else said
