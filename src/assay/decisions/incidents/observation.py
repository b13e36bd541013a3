"""Stretches of time: which were observed and under alarm, and by how much clocks differ."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.decisions.incidents.ranges import Ranges
from assay.decisions.incidents.records import Observation, Skew
from assay.decisions.incidents.schedule import Incident
from assay.tally.cells import END, START
from assay.tally.incidents import DAY, SECOND, IncidentTally

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
    found = Observation(
        seconds=int(ranges.length.sum()) / SECOND,
        since=int(starts[0]) if len(starts) else 0,
        until=int(ends[-1]) if len(ends) else 0,
        basis=ALERTS_ALONE if only_alerts else "events",
        silences=max(len(starts) - 1, 0),
    )
    return found, ranges


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
        shifts = Ranges.union(runs[START][own] - names[own, 1], runs[END][own] - names[own, 0] + 1)
        edges += [(start, -1) for start in shifts.start.tolist()]
        edges += [(end - 1, 1) for end in shifts.end.tolist()]
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
