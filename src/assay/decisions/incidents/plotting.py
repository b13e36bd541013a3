"""The figures of incidents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plots
from assay.errors import MethodError
from assay.plots.incidents import Shown, operating, time_to_detect, timeline
from assay.tally.incidents import SECOND

if TYPE_CHECKING:
    from assay.decisions.incidents.operating import OperatingCurve
    from assay.decisions.incidents.result import Incidents
    from assay.plots.canvas import Axes


@dataclass(frozen=True)
class IncidentPlots:
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

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write all figures that there is something to draw for, and give their paths."""
        found = self.incidents
        figures: dict[str, Callable[[], Axes]] = {}
        if found.timeline is not None:
            figures["timeline"] = self.timeline
        if found.delays is not None and found.delays.seconds:
            figures["time-to-detect"] = self.time_to_detect
        if found.operating is not None and found.operating.threshold:
            figures["operating"] = self.operating
            if len(set(_known(found.operating))) > 1:
                figures["amoc"] = self.amoc
        return plots.save(figures, folder, formats) if figures else ()

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
