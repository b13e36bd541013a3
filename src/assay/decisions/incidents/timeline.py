"""When there were alarms and false incidents: what a picture of incidents shows besides them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.records import TIME
from assay.inference.fields import Recorded
from assay.tally.cells import END, START, Cells
from assay.tally.incidents import SECOND, IncidentTally

Array: TypeAlias = npt.NDArray[Any]

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
