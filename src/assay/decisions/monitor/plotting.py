"""The figures of a monitor: confidence sequences over time, and the evidence of shifts."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plots
from assay.decisions.gate.rule import DIFFERENCE, NEW
from assay.errors import MethodError
from assay.evaluation.deployment import PER_DAY
from assay.measures import find
from assay.plots.canvas import BLUE, COLOURS, GREY, ORANGE, PAGE, drawing, label
from assay.plots.names import plain, title

if TYPE_CHECKING:
    from assay.decisions.monitor.figures import Watched
    from assay.decisions.monitor.result import Monitor
    from assay.plots.canvas import Axes

_HIGH = 2.4
_NAMES = 12


@dataclass(frozen=True)
class MonitorPlots:
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

    def save(
        self, folder: str | os.PathLike[str], formats: Sequence[str] = ("pdf", "svg")
    ) -> tuple[Path, ...]:
        """Write every figure that has something to show, and give the paths."""
        figures: dict[str, Callable[[], Axes]] = {}
        for each in self.monitor.last.estimates:
            drawn = [
                period.figure(each.measure, "cumulative", each.subject).estimate
                for period in self.monitor.periods
            ]
            if each.scope == "cumulative" and any(map(math.isfinite, drawn)):
                aside = "" if each.subject == NEW else f"_{each.subject.replace('-', '_')}"
                figures[f"{each.measure}{aside}"] = partial(
                    self.sequence, each.measure, each.subject
                )
        if self.monitor.shift:
            figures["shift"] = self.shift
        return plots.save(figures, folder, formats) if figures else ()


def _ends(found: Watched) -> tuple[float, float]:
    if found.ordinary is None:
        return math.nan, math.nan
    return found.ordinary.low, found.ordinary.high


def _title(name: str, subject: str) -> str:
    said = name.replace("_", " ").capitalize() if name in PER_DAY else title(find(name))
    return f"{said}, new less old" if subject == DIFFERENCE else said
