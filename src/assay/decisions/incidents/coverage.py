"""How alarms cover incidents in time: range-based, affiliation and point-adjusted measures.

An alarm lasts from the first to the last of the alerts that follow each other within the gap, and a
step is a second. Incidents that overlap or touch are one stretch here, whatever their addresses:
the measures know time alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.affiliation import affiliation
from assay.decisions.incidents.point_adjusted import PointAdjusted, point_adjusted
from assay.decisions.incidents.ranges import PrecisionRecall, Ranges, range_based
from assay.tally.cells import END, START
from assay.tally.incidents import SECOND, IncidentTally

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Coverage:
    """The three kinds of measures of one detector."""

    ranges: PrecisionRecall
    affiliation: PrecisionRecall
    point_adjusted: PointAdjusted


def coverage_of(tally: IncidentTally, windows: Sequence[tuple[int, int]]) -> Coverage | None:
    """The coverage of incidents from their start to their end; None where there are none."""
    if not windows:
        return None
    borders = np.array(windows, np.int64)
    incidents = _in_seconds(borders[:, 0], borders[:, 1])
    runs = tally.under_alarm
    alarms = _in_seconds(runs[START], runs[END])
    observed = _in_seconds(tally.observed[START], tally.observed[END])
    parts = [part for part in (incidents, alarms, observed) if len(part)]
    since, until = (min(int(p.start[0]) for p in parts), max(int(p.end[-1]) for p in parts))
    own, flagged = (Ranges(p.start - since, p.end - since) for p in (incidents, alarms))
    return Coverage(
        range_based(own, flagged),
        affiliation(own, flagged, (0, until - since)).overall,
        point_adjusted(own, flagged, until - since),
    )


def _in_seconds(start: Array, end: Array) -> Ranges:
    """The seconds that stretches touch, both ends included."""
    return Ranges.union(start // SECOND, end // SECOND + 1)
