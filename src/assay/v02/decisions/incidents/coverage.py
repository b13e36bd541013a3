r"""How alarms cover incidents in time: range-based, affiliation and point-adjusted measures.

Time is cut into steps, and a range holds the steps from ``start`` up to, but not with, ``end``.
A range that is judged against others (Tatbul, Lee, Zdonik, Alam and Gottschlich 2018) gets

.. math:: \alpha \cdot \mathrm{met} + (1 - \alpha) \cdot \mathrm{cardinality} \cdot
          \sum \delta(\mathrm{overlapped}) \,/ \sum \delta(\mathrm{all})

where *met* is 1 if any of the others overlaps it, the weights :math:`\delta` of its steps are all
alike or favour its front or its back, and the cardinality takes off where several others share it.
Recall is the mean over incidents, precision that over alarms, where met counts for nothing.

They mislead where alarms are single moments: a detector that finds every attack at once, and says
so once, covers next to nothing of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.tally.incident_tally import END, SECOND, START, IncidentTally

Array: TypeAlias = npt.NDArray[Any]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of time in order, none empty, none overlapping the next.

    >>> Ranges.union([0, 3, 4], [2, 5, 9]).pairs()
    [(0, 2), (3, 9)]
    """

    start: Integers
    end: Integers

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), np.int64))
        if self.start.shape != self.end.shape or self.start.ndim != 1:
            raise InputError(
                f"ranges need a start and an end each; found {len(self.start)} and {len(self.end)}"
            )
        empty = np.flatnonzero(self.end <= self.start)
        if len(empty):
            i = empty[0]
            raise InputError(
                f"range {i} goes from {self.start[i]} to {self.end[i]}; it must end after its start"
            )
        early = np.flatnonzero(self.start[1:] < self.end[:-1])
        if len(early):
            i = early[0] + 1
            raise InputError(
                f"range {i} starts at {self.start[i]}, before the one before it ends; give ranges "
                "in order and apart, as Ranges.union makes them"
            )

    @classmethod
    def union(cls, start: Any, end: Any) -> Ranges:
        """The ranges that some cover together; those that overlap or touch become one."""
        start, end = np.asarray(start, np.int64), np.asarray(end, np.int64)
        order = np.argsort(start, kind="stable")
        start, reach = start[order], np.maximum.accumulate(end[order])
        first = np.ones(len(start), bool)
        first[1:] = start[1:] > reach[:-1]
        last = np.append(first[1:], np.ones(min(len(start), 1), bool))
        return cls(start[first], reach[last])

    @classmethod
    def of_moments(cls, moments: Any, step: int = 1) -> Ranges:
        """The steps in which something happened; steps in a row are one range.

        >>> Ranges.of_moments([0, 5, 61], step=60).pairs()
        [(0, 2)]
        """
        steps = np.unique(np.asarray(moments, np.int64) // step)
        return cls.union(steps, steps + 1)

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def length(self) -> Integers:
        """How many steps each holds."""
        return self.end - self.start

    def pairs(self) -> list[tuple[int, int]]:
        """The ranges as plain numbers."""
        return list(zip(self.start.tolist(), self.end.tolist(), strict=True))

    def overlaps(self, other: Ranges) -> tuple[Integers, Integers]:
        """Positions of all pairs, one of these and one of the others, that share a step."""
        first = np.searchsorted(other.end, self.start, side="right")
        count = np.searchsorted(other.start, self.end, side="left") - first
        places = np.repeat(np.arange(len(self)), count)
        skipped = np.repeat(np.cumsum(count) - count, count)
        return places, np.arange(len(places)) - skipped + first[places]

    def within(self, other: Ranges) -> int:
        """How many steps lie in both."""
        places, other_places = self.overlaps(other)
        low = np.maximum(self.start[places], other.start[other_places])
        return int(np.sum(np.minimum(self.end[places], other.end[other_places]) - low))


class Bias(Enum):
    """Which steps of a range count most; the weights fall or rise by one a step."""

    FLAT = "flat"
    FRONT = "front"
    BACK = "back"

    def share(self, low: Floats, high: Floats, length: Floats) -> Floats:
        """The weight of steps ``low`` up to ``high`` as a share of that of all ``length``."""
        flat = (high - low) / length
        if self is Bias.FLAT:
            return flat
        weights = 2 * length - low - high + 1 if self is Bias.FRONT else low + high + 1
        return flat * weights / (length + 1)


class Cardinality(Enum):
    """What is left of an overlap that several ranges share: all of it, or one n-th."""

    ONE = "one"
    RECIPROCAL = "reciprocal"

    def factor(self, sharing: Floats) -> Floats:
        """The factor for so many ranges."""
        if self is Cardinality.ONE:
            return np.ones_like(sharing)
        return 1 / np.maximum(sharing, 1)


def range_scores(
    judged: Ranges,
    by: Ranges,
    *,
    alpha: float = 0.0,
    bias: Bias = Bias.FLAT,
    cardinality: Cardinality = Cardinality.RECIPROCAL,
) -> Floats:
    """What each range gets when it is judged by others; between 0 and 1.

    >>> alarms = Ranges([19, 23, 37, 49], [21, 31, 38, 50])
    >>> range_scores(alarms, Ranges([20, 25, 44], [22, 28, 48])).tolist()
    [0.5, 0.375, 0.0, 0.0]
    """
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha must lie between 0 and 1; found {alpha!r}")
    places, by_places = judged.overlaps(by)
    start = judged.start[places]
    low = np.maximum(start, by.start[by_places]) - start
    high = np.minimum(judged.end[places], by.end[by_places]) - start
    share = bias.share(low.astype(float), high.astype(float), judged.length[places].astype(float))
    covered = np.bincount(places, share, len(judged))
    sharing = np.bincount(places, minlength=len(judged)).astype(float)
    overlap = cardinality.factor(sharing) * np.minimum(covered, 1.0)
    scores: Floats = alpha * (sharing > 0) + (1 - alpha) * overlap
    return scores


@dataclass(frozen=True)
class PrecisionRecall:
    """A precision and a recall, and F1 between them; nan where there is nothing to judge."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Their harmonic mean; 0 where both are 0."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else total


def range_based(
    incidents: Ranges,
    alarms: Ranges,
    *,
    alpha: float = 0.0,
    bias: Bias = Bias.FLAT,
    cardinality: Cardinality = Cardinality.RECIPROCAL,
) -> PrecisionRecall:
    """Range-based precision and recall; the bias and alpha are those of recall.

    >>> incidents = Ranges([20, 25, 44], [22, 28, 48])
    >>> overlap = range_based(incidents, Ranges([19, 23, 37, 49], [21, 31, 38, 50]))
    >>> round(overlap.precision, 5), round(overlap.recall, 5)
    (0.21875, 0.5)
    """
    recall = range_scores(incidents, alarms, alpha=alpha, bias=bias, cardinality=cardinality)
    precision = range_scores(alarms, incidents, cardinality=cardinality)
    return PrecisionRecall(_mean(precision), _mean(recall))


def _mean(scores: Floats) -> float:
    return float(np.mean(scores)) if len(scores) else math.nan


# -- affiliation: how near alarms are to incidents, and incidents to alarms ------------------------


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

    Each incident has a zone: the times that are nearer to it than to any other incident. In its
    zone (Huet, Navarro and Rossi 2022)

    * precision is the mean, over the time under alarm, of the chance that a moment drawn from the
      zone lies at least as far from the incident;
    * recall is the mean, over the time of the incident, of the chance that a moment drawn from the
      zone lies at least as far from it as the nearest alarm.

    So a detector that alarms at random gets about a half of each, and one that is a little early is
    nearly right. The integrals are exact: distances rise in straight lines, and so do the chances.

    >>> incidents, alarms = Ranges([3, 7], [4, 10]), Ranges([4, 8], [5, 9])
    >>> overall = affiliation(incidents, alarms, observed=(0, 10)).overall
    >>> round(overall.precision, 2), round(overall.recall, 2)
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
    defined = precision[~np.isnan(precision)]
    overall = float(defined.mean()) if len(defined) else math.nan
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


def _outside(zones: Zones, zone: Integers, nearest: Floats, farthest: Floats) -> Floats:
    """The integral, over distances from an incident, of the share of its zone that is as far.

    At the distance t that is all but the incident and what lies within t on both of its sides.
    """
    left, right = (zones.start - zones.low)[zone], (zones.high - zones.end)[zone]
    farther = (left + right) * (farthest - nearest)
    nearer = _capped(nearest, farthest, left) + _capped(nearest, farthest, right)
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
        + _beside_alarm(*before, pieces.start - low, length)
        + _beside_alarm(*after, high - pieces.end, length)
    )
    return np.bincount(zone, total, count) / (zones.end - zones.start)


def _beside_alarm(nearest: Floats, farthest: Floats, room: Floats, length: Floats) -> Floats:
    """The integral, over distances from the edge of an alarm, of the share that is as far.

    Within t of a moment at the distance t lies what is between the edge and its mirror image, or
    the border of the zone where that comes first.
    """
    farthest = np.maximum(farthest, nearest)
    return (farthest - nearest) - 2 * _capped(nearest, farthest, room / 2) / length


def _capped(low: Floats, high: Floats, cap: Floats) -> Floats:
    """The integral of min(t, cap) from low to high, without loss where both are large."""
    bottom, top = np.minimum(low, cap), np.minimum(high, cap)
    flat = np.maximum(high, cap) - np.maximum(low, cap)
    integral: Floats = (top - bottom) * (top + bottom) / 2 + cap * flat
    return integral


# -- point adjustment ------------------------------------------------------------------------------


# The rule errs by some |Gamma(1 + 2 pi i / step)| for each exponential, which is 4e-17.
_STEP = 0.245
# Left and right of these, in units of the fastest and the slowest rate, the rest is below 1e-17.
_BEGIN, _END = 1e-18, 45.0


@dataclass(frozen=True)
class PointAdjusted:
    """F1 after point adjustment, and before, beside what random alarms of the same rate get.

    ``alarm_rate`` is the share of steps that are flagged. All three are nan where there are no
    incidents.
    """

    f1: float
    unadjusted: float
    random: float
    alarm_rate: float

    @property
    def beats_random(self) -> bool:
        """Whether the adjusted F1 is above what a random score is expected to get."""
        return self.f1 > self.random


def point_adjusted(incidents: Ranges, alarms: Ranges, steps: int) -> PointAdjusted:
    """Point-adjusted F1 of alarms in a stretch of so many steps.

    Papers on time series count every step of an incident as detected once any of its steps is
    flagged, and quote F1 of those counts. Long incidents are then met by chance: a score that is
    drawn at random and flags a few steps gets more than most detectors. So the number never stands
    alone here, but beside what a random score of the same alarm rate is expected to get.

    >>> incidents = Ranges([100, 500], [200, 700])
    >>> judged = point_adjusted(incidents, Ranges([150, 600, 900], [151, 601, 905]), steps=1000)
    >>> round(judged.unadjusted, 3), round(judged.f1, 3), round(judged.random, 3)
    (0.013, 0.992, 0.735)
    """
    nonempty = [ranges for ranges in (incidents, alarms) if len(ranges)]
    if any(ranges.start[0] < 0 or ranges.end[-1] > steps for ranges in nonempty):
        raise InputError(f"ranges must lie in the steps 0 to {steps}; count them from the first")
    flagged, total = int(alarms.length.sum()), int(incidents.length.sum())
    if not total:
        return PointAdjusted(math.nan, math.nan, math.nan, flagged / steps)
    hits = incidents.within(alarms)
    met = np.unique(incidents.overlaps(alarms)[0])
    adjusted, false = int(incidents.length[met].sum()), flagged - hits
    return PointAdjusted(
        f1=2 * adjusted / (adjusted + total + false),
        unadjusted=2 * hits / (hits + total + false),
        random=expected_at_random(incidents, steps, flagged / steps),
        alarm_rate=flagged / steps,
    )


def expected_at_random(incidents: Ranges, steps: int, alarm_rate: float) -> float:
    r"""The expected point-adjusted F1 of a score that is drawn at random.

    A random score flags each step by itself with the chance p. The incident i, of :math:`L_i`
    steps, is met with the chance :math:`q_i = 1 - (1 - p)^{L_i}`, and false alarms are binomial
    among the :math:`N` steps outside of incidents. With T the steps of all incidents and X those of
    the incidents that were met, F1 is :math:`2X / (X + T + FP)`. As :math:`1/c = \int_0^\infty
    e^{-cs} ds`,

    .. math:: E[F_1] = 2 \int_0^\infty e^{-sT} (1 - p + p e^{-s})^N \;
              \prod_i (1 - q_i + q_i e^{-sL_i}) \;
              \sum_i \frac{q_i L_i e^{-sL_i}}{1 - q_i + q_i e^{-sL_i}} \; ds .

    The integrand is a mixture of exponentials with rates between T and T + N. In log s the
    trapezoidal rule is right to all digits for every one of them, so nothing is simulated.

    >>> expected_at_random(Ranges([0], [3]), 4, 1.0) == 2 * 3 / (3 + 3 + 1)
    True
    """
    length, count = np.unique(incidents.length, return_counts=True)
    total = int(np.sum(length * count))
    if alarm_rate <= 0 or not total:
        return 0.0 if total else math.nan
    with np.errstate(divide="ignore"):
        missed = length * np.log1p(-alarm_rate)
        silent = np.log1p(-alarm_rate)
    first, last = math.log(_BEGIN / (2 * total + steps)), math.log(_END / total)
    nodes = first + _STEP * np.arange(math.ceil((last - first) / _STEP) + 1)
    s = np.exp(nodes)[:, None]
    met = -np.expm1(missed)
    either = _log_mean(missed, met, s * length)
    gain = np.sum(count * met * length * np.exp(-s * length - either), axis=1)
    outside = _log_mean(silent, alarm_rate, s[:, 0])
    unflagged = np.exp(-s[:, 0] * total + (steps - total) * outside + either @ count)
    return min(2 * _STEP * float(np.sum(s[:, 0] * unflagged * gain)), 1.0)


def _log_mean(log_rest: Any, chance: Any, x: Floats) -> Floats:
    """log(1 - chance + chance exp(-x)), where log_rest is log(1 - chance); to all digits."""
    growth = chance * np.expm1(-x)
    far = np.logaddexp(log_rest, np.log(chance) - x)
    mean: Floats = np.where(growth > -0.5, np.log1p(np.maximum(growth, -0.5)), far)
    return mean


# -- the three of them -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Coverage:
    """The three kinds of measures of one detector."""

    ranges: PrecisionRecall
    affiliation: PrecisionRecall
    point_adjusted: PointAdjusted


def coverage_of(tally: IncidentTally, windows: Sequence[tuple[int, int]]) -> Coverage | None:
    """The coverage of incidents from their start to their end; None where there are none.

    An alarm lasts from the first to the last of the alerts that follow each other within the gap,
    and a step is a second. Incidents that overlap or touch are one stretch here, whatever their
    addresses: the measures know time alone.
    """
    if not windows:
        return None
    borders = np.array(windows, np.int64)
    incidents = _in_seconds(borders[:, 0], borders[:, 1])
    runs = tally.under_alarm
    alarms = _in_seconds(runs[START], runs[END])
    observed = _in_seconds(tally.observed[START], tally.observed[END])
    parts = [part for part in (incidents, alarms, observed) if len(part)]
    since, until = (min(int(p.start[0]) for p in parts), max(int(p.end[-1]) for p in parts))
    truth, flagged = (Ranges(p.start - since, p.end - since) for p in (incidents, alarms))
    return Coverage(
        range_based(truth, flagged),
        affiliation(truth, flagged, (0, until - since)).overall,
        point_adjusted(truth, flagged, until - since),
    )


def _in_seconds(start: Array, end: Array) -> Ranges:
    """The seconds that stretches touch, both ends included."""
    return Ranges.union(start // SECOND, end // SECOND + 1)
