"""Stretches of time: which were observed and under alarm, and by how much clocks differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.result import Observation, Skew
from assay.decisions.incidents.schedule import Incident
from assay.tally.cells import END, START
from assay.tally.incidents import DAY, SECOND, IncidentTally

Array: TypeAlias = npt.NDArray[Any]

# A skew is told where it detects so many incidents more, and as many at least.
_MORE, _LEAST = 2, 3
# What zones differ by.
_ZONES = (3600 * SECOND, 900 * SECOND)


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches of time in their order, with something between any two."""

    starts: Array
    ends: Array

    @classmethod
    def of(cls, starts: Array, ends: Array) -> Stretches:
        """Any stretches, joined where they touch or overlap."""
        order = np.argsort(starts, kind="stable")
        starts, reach = starts[order], np.maximum.accumulate(ends[order])
        first = np.ones(len(starts), bool)
        first[1:] = starts[1:] > reach[:-1]
        at = np.flatnonzero(first)
        last = np.append(at[1:], len(starts)) - 1 if len(at) else at
        return cls(starts[at], reach[last])

    @property
    def length(self) -> int:
        """How long they are together."""
        return int((self.ends - self.starts).sum())

    def overlap(self, other: Stretches) -> int:
        """How long both are, together."""
        return int(self._before(other.ends).sum() - self._before(other.starts).sum())

    def touches(self, start: int, end: int) -> bool:
        """Whether any of it lies between two times, both included."""
        at = int(np.searchsorted(self.ends, start))
        return at < len(self.starts) and bool(self.starts[at] <= end)

    def by_day(self) -> dict[int, int]:
        """How long they are on each day that they touch."""
        if not len(self.starts):
            return {}
        days = np.arange(self.starts[0] // DAY, self.ends[-1] // DAY + 1)
        lengths = self._before((days + 1) * DAY) - self._before(days * DAY)
        return dict(zip(days.tolist(), lengths.tolist(), strict=True))

    def _before(self, time: Array) -> Array:
        """How much of it lies before each time."""
        sums = np.concatenate([[0], np.cumsum(self.ends - self.starts)])
        place = np.searchsorted(self.starts, time, side="right")
        last = np.maximum(place - 1, 0)
        beyond = np.minimum(time, self.ends[last]) - self.starts[last] if len(self.starts) else 0
        return np.where(place > 0, sums[last] + beyond, 0)


def observed_in(tally: IncidentTally) -> tuple[Observation, Stretches]:
    """Which time was observed: by lines of all kinds, or, of alerts alone, from first to last."""
    runs = tally.observed
    starts, ends = runs[START], runs[END]
    only_alerts = int(tally.volume["rows"].sum()) == tally.alerts
    stretches = Stretches(starts[:1], ends[-1:]) if only_alerts else Stretches(starts, ends)
    if not len(starts):
        return Observation(0.0, 0, 0, "alerts"), stretches
    found = Observation(
        seconds=stretches.length / SECOND,
        since=int(starts[0]),
        until=int(ends[-1]),
        basis="alerts" if only_alerts else "events",
        silences=len(stretches.starts) - 1,
    )
    return found, stretches


def under_alarm(tally: IncidentTally) -> Stretches:
    """When alarms were open: from each alert on, until none came for the length of the gap."""
    runs = tally.under_alarm
    return Stretches.of(runs[START], runs[END] + tally.gap)


def expected_by_chance(
    tally: IncidentTally, incidents: Sequence[Incident], grace: int, observed: Stretches
) -> float:
    """How many incidents would have a false alarm in their window, were it anywhere else.

    The share of observed times from which on a window of that length holds one.
    """
    runs = tally.false_incidents
    if not runs.size or not observed.length:
        return 0.0
    total = 0.0
    for incident in incidents:
        width = incident.end + grace - incident.start
        total += Stretches.of(runs[START] - width, runs[END]).overlap(observed) / observed.length
    return min(total, float(len(incidents)))


def estimated_skew(
    tally: IncidentTally, incidents: Sequence[Incident], grace: int, applied: int
) -> Skew:
    """By how much the clocks of logs and schedule differ, where the addresses of attacks tell.

    Every difference is tried at which alerts of the right addresses fall into the windows: the one
    at which most incidents are detected, where that is more than without. Of a range of such
    differences a whole number of hours is taken, as of a wrong zone, else the largest, at which
    the quickest detection took no time.
    """
    taken = applied / SECOND
    runs = tally.nearby
    if not runs.size:
        reason = "no alert has the addresses of an incident within a day of it"
        return Skew(applied=taken, reason=reason)
    by_name = {incident.id: incident for incident in incidents}
    names = np.array([[by_name[n].start, by_name[n].end + grace] for n in runs.texts("incident")])
    edges: list[tuple[int, int]] = []
    for number in np.unique(runs["incident"]).tolist():
        own = runs["incident"] == number
        shifts = Stretches.of(runs[START][own] - names[own, 1], runs[END][own] - names[own, 0])
        edges += [(int(start), -1) for start in shifts.starts]
        edges += [(int(end), 1) for end in shifts.ends]
    best, without, low, high = _deepest(sorted(edges))
    if best < without + _MORE or best < _LEAST:
        return Skew(taken, 0.0, 0.0, 0.0, detected=without, detected_without=without)
    shift = _whole(low, high)
    return Skew(
        applied=taken,
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


def _whole(low: int, high: int) -> int:
    for unit in _ZONES:
        nearest = round(min(max(0, low), high) / unit) * unit
        for shift in (nearest, math.ceil(low / unit) * unit, math.floor(high / unit) * unit):
            if low <= shift <= high:
                return int(shift)
    return high
