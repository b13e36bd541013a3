r"""How near alarms are to incidents, and incidents to alarms: affiliation precision and recall.

Each incident has a zone: the times that are nearer to it than to any other incident. In its zone
(Huet, Navarro and Rossi 2022)

* precision is the mean, over the time under alarm, of the chance that a moment drawn from the zone
  lies at least as far from the incident;
* recall is the mean, over the time of the incident, of the chance that a moment drawn from the zone
  lies at least as far from it as the nearest alarm.

So a detector that alarms at random gets about a half of each, and one that is a little early is
nearly right. The integrals are exact: distances rise in straight lines, and so do the chances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.ranges import PrecisionRecall, Ranges
from assay.errors import InputError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Affiliation:
    """The means over incidents, and both of each incident.

    An incident without an alarm in its zone has no precision (nan) and a recall of 0; the mean
    precision is that of the others.
    """

    overall: PrecisionRecall
    precision: Floats
    recall: Floats


@dataclass(frozen=True, eq=False)
class Zones:
    """The incidents, each with the borders of its zone."""

    start: Floats
    end: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, incidents: Ranges, observed: tuple[int, int]) -> Zones:
        """Zones meet half-way between two incidents and end with the time that was observed."""
        start, end = incidents.start - observed[0], incidents.end - observed[0]
        between = (end[:-1] + start[1:]) / 2
        low, high = np.append(0.0, between), np.append(between, observed[1] - observed[0])
        return cls(start.astype(float), end.astype(float), low, high)

    @property
    def length(self) -> Floats:
        """How long each zone is."""
        return self.high - self.low


@dataclass(frozen=True, eq=False)
class Pieces:
    """The time under alarm, cut at the borders of zones: which zone, from when until when."""

    zone: Integers
    start: Floats
    end: Floats

    @classmethod
    def of(cls, zones: Zones, alarms: Ranges, origin: int) -> Pieces:
        """All pieces in order."""
        start, end = alarms.start - origin, alarms.end - origin
        first = np.searchsorted(zones.high, start, side="right")
        count = np.searchsorted(zones.low, end, side="left") - first
        alarm = np.repeat(np.arange(len(alarms)), count)
        zone = np.arange(len(alarm)) - np.repeat(np.cumsum(count) - count, count) + first[alarm]
        low = np.maximum(start[alarm], zones.low[zone])
        return cls(zone, low, np.minimum(end[alarm], zones.high[zone]))


def affiliation(incidents: Ranges, alarms: Ranges, observed: tuple[int, int]) -> Affiliation:
    """Affiliation precision and recall of alarms while a stretch of time was observed.

    >>> incidents, alarms = Ranges([3, 7], [4, 10]), Ranges([4, 8], [5, 9])
    >>> found = affiliation(incidents, alarms, observed=(0, 10)).overall
    >>> round(found.precision, 2), round(found.recall, 2)
    (0.82, 0.84)
    """
    for name, ranges in (("incident", incidents), ("alarm", alarms)):
        if len(ranges) and (ranges.start[0] < observed[0] or ranges.end[-1] > observed[1]):
            raise InputError(
                f"an {name} lies outside of the time from {observed[0]} to {observed[1]}; observed="
                f" must hold all, here from {ranges.start[0]} to {ranges.end[-1]}"
            )
    if not len(incidents):
        none = np.empty(0)
        return Affiliation(PrecisionRecall(math.nan, math.nan), none, none)
    zones = Zones.of(incidents, observed)
    pieces = Pieces.of(zones, alarms, observed[0])
    precision, recall = _precision(zones, pieces), _recall(zones, pieces)
    known = precision[~np.isnan(precision)]
    overall = float(known.mean()) if len(known) else math.nan
    return Affiliation(PrecisionRecall(overall, float(recall.mean())), precision, recall)


def _precision(zones: Zones, pieces: Pieces) -> Floats:
    zone, length = pieces.zone, pieces.end - pieces.start
    start, end = zones.start[zone], zones.end[zone]
    before = np.maximum(start - pieces.end, 0), np.maximum(start - pieces.start, 0)
    after = np.maximum(pieces.start - end, 0), np.maximum(pieces.end - end, 0)
    inside = length - (before[1] - before[0]) - (after[1] - after[0])
    total = inside + _outside(zones, zone, *before) + _outside(zones, zone, *after)
    under_alarm = np.bincount(zone, length, len(zones.start))
    with np.errstate(invalid="ignore"):
        return np.bincount(zone, total, len(zones.start)) / under_alarm


def _outside(zones: Zones, zone: Integers, near: Floats, far: Floats) -> Floats:
    """The integral, over distances from an incident, of the share of its zone that is as far.

    At the distance t that is all but the incident and what lies within t on both of its sides.
    """
    left, right = (zones.start - zones.low)[zone], (zones.high - zones.end)[zone]
    farther = (left + right) * (far - near)
    nearer = _capped(near, far, left) + _capped(near, far, right)
    return (farther - nearer) / zones.length[zone]


def _recall(zones: Zones, pieces: Pieces) -> Floats:
    zone, count = pieces.zone, len(zones.start)
    same = zone[1:] == zone[:-1]
    middle = (pieces.end[:-1] + pieces.start[1:]) / 2
    # From where, and until where, each piece is the nearest alarm.
    low, high = zones.low[zone], zones.high[zone]
    since, until = low.copy(), high.copy()
    since[1:][same], until[:-1][same] = middle[same], middle[same]
    start, end = zones.start[zone], zones.end[zone]
    covered = np.maximum(np.minimum(pieces.end, end) - np.maximum(pieces.start, start), 0)
    before = pieces.start - np.minimum(pieces.start, end), pieces.start - np.maximum(since, start)
    after = np.maximum(pieces.end, start) - pieces.end, np.minimum(until, end) - pieces.end
    length = zones.length[zone]
    total = (
        covered
        + _beside(*before, pieces.start - low, length)
        + _beside(*after, high - pieces.end, length)
    )
    return np.bincount(zone, total, count) / (zones.end - zones.start)


def _beside(near: Floats, far: Floats, room: Floats, length: Floats) -> Floats:
    """The integral, over distances from the edge of an alarm, of the share that is as far.

    Within t of a moment at the distance t lies what is between the edge and its mirror image, or
    the border of the zone where that comes first.
    """
    far = np.maximum(far, near)
    return (far - near) - 2 * _capped(near, far, room / 2) / length


def _capped(low: Floats, high: Floats, cap: Floats) -> Floats:
    """The integral of min(t, cap) from low to high, without loss where both are large."""
    bottom, top = np.minimum(low, cap), np.minimum(high, cap)
    flat = np.maximum(high, cap) - np.maximum(low, cap)
    integral: Floats = (top - bottom) * (top + bottom) / 2 + cap * flat
    return integral
