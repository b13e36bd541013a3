"""The operating characteristic: incidents detected against false incidents a day, by threshold.

An alert counts where its score is at least the threshold. As the threshold falls, incidents are
detected that were not, and others sooner; false alarms grow in number. False *incidents*, groups of
false alarms of one key with no gap longer than so much, need not: an alert that comes in between
may join two groups into one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import LengthMismatch
from assay.tally.cells import END, START
from assay.tally.incidents import SECOND, IncidentTally

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# At most so many thresholds are looked at, at even ranks of the scores at which something changes.
MOST_THRESHOLDS = 2000
# So many delays are looked at at once.
_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class FirstAlerts:
    """After how many seconds each incident had its first alert of a score.

    ``incident`` numbers the ``total`` incidents from 0; one may have any number of rows, in any
    order, and none where it was missed.
    """

    incident: Integers
    score: Floats
    delay: Floats
    total: int

    def __post_init__(self) -> None:
        _of_one_length(self, incident=np.int64, score=np.float64, delay=np.float64)

    @cached_property
    def steps(self) -> tuple[tuple[Floats, Floats], ...]:
        """Of each incident the scores at which its delay changes, falling, and the delays."""
        order = np.lexsort([self.delay, -self.score, self.incident])
        borders = np.searchsorted(self.incident[order], np.arange(self.total + 1))
        steps = []
        for first, last in pairwise(borders.tolist()):
            rows = order[first:last]
            soonest = np.minimum.accumulate(self.delay[rows])
            earlier = np.ones(len(rows), bool)
            earlier[1:] = soonest[1:] < soonest[:-1]
            steps.append((self.score[rows][earlier], soonest[earlier]))
        return tuple(steps)

    def delays(self, thresholds: Floats) -> Floats:
        """The delay of each incident (row) at each threshold (column); infinite where missed."""
        delays = np.full((self.total, len(thresholds)), np.inf)
        for row, (scores, soonest) in zip(delays, self.steps, strict=True):
            if len(scores):
                place = np.searchsorted(-scores, -thresholds, side="right") - 1
                row[:] = np.where(place >= 0, soonest[place], np.inf)
        return delays

    def detected(self, thresholds: Floats, within: float = np.inf) -> Integers:
        """How many incidents each threshold detects, perhaps within so many seconds."""
        in_time = self.delay <= within
        best = np.full(self.total, -np.inf)
        np.maximum.at(best, self.incident[in_time], self.score[in_time])
        return np.asarray(self.total - np.searchsorted(np.sort(best), thresholds), np.int64)


@dataclass(frozen=True, eq=False)
class FalseAlarms:
    """Alerts that belong to no incident: runs of one key and one score.

    A run holds ``alerts`` from ``start`` to ``end`` that follow each other within the gap; a single
    alert is a run of one. Times are in any unit, ``key`` is any number.
    """

    key: Integers
    score: Floats
    start: Integers
    end: Integers
    alerts: Integers

    def __post_init__(self) -> None:
        kinds = {"start": np.int64, "end": np.int64, "alerts": np.int64}
        _of_one_length(self, key=np.int64, score=np.float64, **kinds)

    def counts(self, thresholds: Floats) -> Integers:
        """How many alerts have a score of at least each threshold."""
        order = np.argsort(self.score, kind="stable")
        above = np.append(np.cumsum(self.alerts[order][::-1])[::-1], 0)
        return above[np.searchsorted(self.score[order], thresholds, side="left")]

    def groups(self, thresholds: Floats, gap: int) -> Integers:
        """How many groups those alerts form, none of a key within ``gap`` of another.

        A run begins a group unless an earlier one of its key reaches it. So it begins one exactly
        at thresholds above the best score of those that reach it, up to its own.
        """
        own, reaching = self._heads(gap)
        begun = len(own) - np.searchsorted(np.sort(own), thresholds, side="left")
        joined = len(own) - np.searchsorted(np.sort(reaching), thresholds, side="left")
        return np.asarray(begun - joined, np.int64)

    def _heads(self, gap: int) -> tuple[Floats, Floats]:
        """The score of each run, and the best of those before it that reach it, at most its own."""
        order = np.lexsort([self.start, self.key])
        score = self.score[order]
        rows = zip(self.key[order].tolist(), self.start[order].tolist(), strict=True)
        ends, scores = self.end[order].tolist(), score.tolist()
        reaching = np.full(len(score), -np.inf)
        best: list[tuple[float, int]] = []
        current: int | None = None
        for i, (key, start) in enumerate(rows):
            if key != current:
                current, best = key, []
            # Starts only rise: a run that is out of reach once is so for good.
            while best and best[0][1] + gap < start:
                heapq.heappop(best)
            if best:
                reaching[i] = min(-best[0][0], scores[i])
            heapq.heappush(best, (-scores[i], ends[i]))
        return score, reaching


@dataclass(frozen=True)
class OperatingPoint:
    """What a threshold means: incidents detected, how late, and at what cost a day.

    Within ``median_delay`` seconds half of all incidents are detected, where one that is missed
    never is; None where fewer than half are. ``worst_delay`` is the longest of those that were.
    """

    threshold: float
    detected: int
    total: int
    false_alarms_per_day: float
    false_incidents_per_day: float
    median_delay: float | None
    worst_delay: float | None


@dataclass(frozen=True)
class OperatingCurve:
    """The same for every threshold, column by column; thresholds fall."""

    threshold: tuple[float, ...]
    detected: tuple[int, ...]
    false_alarms_per_day: tuple[float, ...]
    false_incidents_per_day: tuple[float, ...]
    median_delay: tuple[float | None, ...]
    worst_delay: tuple[float | None, ...]
    total: int

    def point(self, place: int) -> OperatingPoint:
        """The point at one of its places."""
        return OperatingPoint(
            threshold=self.threshold[place],
            detected=self.detected[place],
            total=self.total,
            false_alarms_per_day=self.false_alarms_per_day[place],
            false_incidents_per_day=self.false_incidents_per_day[place],
            median_delay=self.median_delay[place],
            worst_delay=self.worst_delay[place],
        )

    def turned(self) -> OperatingCurve:
        """The same for a score of which a low number is the more suspicious."""
        return replace(self, threshold=tuple(-threshold for threshold in self.threshold))


@dataclass(frozen=True, eq=False)
class OperatingCharacteristic:
    """What each threshold detects and costs while so many ``days`` were observed.

    The thresholds are scores at which the detection of an incident changes, and the lowest score of
    all where it is lower: between them nothing is gained. So all but that last one are fixed by the
    incidents alone, which is what promises about false incidents rest on; ``fixed`` tells how many.

    >>> first = FirstAlerts([0, 0, 1], [0.9, 0.4, 0.6], [120, 5, 30], total=3)
    >>> false = FalseAlarms([1, 1, 2], [0.7, 0.5, 0.8], [0, 50, 900], [0, 50, 900], [1, 1, 1])
    >>> curve = OperatingCharacteristic(first, false, gap=60, days=2).curve
    >>> curve.threshold, curve.detected, curve.false_incidents_per_day
    ((0.9, 0.6, 0.4), (1, 2, 2), (0.0, 1.0, 1.0))
    """

    first_alerts: FirstAlerts
    false_alarms: FalseAlarms
    gap: int
    days: float

    @classmethod
    def of(
        cls, tally: IncidentTally, starts: Mapping[str, int], *, days: float
    ) -> OperatingCharacteristic:
        """Of a tally and the incidents: when each started, by its id."""
        place = {name: i for i, name in enumerate(starts)}
        start = np.array(list(starts.values()), np.int64)
        raised, groups = tally.raised, tally.groups
        assert groups is not None  # noqa: S101 - a tally sets it at the beginning
        incident = np.array([place[name] for name in raised.texts("incident")], np.int64)
        first = FirstAlerts(
            incident,
            raised["score"],
            (raised["first"] - start[incident]) / SECOND,
            len(starts),
        )
        columns = (groups[name] for name in ("key", "score", START, END, "alerts"))
        return cls(first, FalseAlarms(*columns), gap=tally.gap, days=days)

    @cached_property
    def fixed(self) -> int:
        """How many thresholds, from the highest on, the incidents alone give."""
        return len(self._levels)

    @cached_property
    def _levels(self) -> Floats:
        scores = [step[0] for step in self.first_alerts.steps]
        levels = np.unique(np.concatenate([*scores, np.empty(0)]))[::-1]
        ranks = np.linspace(0, len(levels) - 1, min(len(levels), MOST_THRESHOLDS))
        chosen: Floats = levels[np.unique(np.round(ranks).astype(int))]
        return chosen

    @cached_property
    def thresholds(self) -> Floats:
        """The thresholds, falling."""
        scores = np.concatenate([self.first_alerts.score, self.false_alarms.score])
        lowest = np.min(scores, initial=np.inf)
        lower = lowest < np.min(self._levels, initial=np.inf)
        return np.append(self._levels, lowest) if lower else self._levels

    @cached_property
    def false_incidents(self) -> Integers:
        """How many false incidents each threshold leaves."""
        return self.false_alarms.groups(self.thresholds, self.gap)

    def within(self, seconds: float) -> Integers:
        """How many incidents each threshold detects within so many seconds."""
        return self.first_alerts.detected(self.thresholds, seconds)

    @cached_property
    def curve(self) -> OperatingCurve:
        """All of it, as plain numbers."""
        alarms = self.false_alarms.counts(self.thresholds)
        detected = self.first_alerts.detected(self.thresholds)
        late = list(self._late())
        return OperatingCurve(
            threshold=tuple(self.thresholds.tolist()),
            detected=tuple(detected.tolist()),
            false_alarms_per_day=tuple((alarms / self.days).tolist()),
            false_incidents_per_day=tuple((self.false_incidents / self.days).tolist()),
            median_delay=tuple(median for median, _ in late),
            worst_delay=tuple(worst for _, worst in late),
            total=self.first_alerts.total,
        )

    def _late(self) -> Iterator[tuple[float | None, float | None]]:
        """The median and the worst delay at each threshold, some thresholds at a time."""
        step = max(1, _CELLS // max(self.first_alerts.total, 1))
        for first in range(0, len(self.thresholds), step):
            for delays in self.first_alerts.delays(self.thresholds[first : first + step]).T:
                ordered = np.sort(delays)
                detected = int(np.searchsorted(ordered, np.inf))
                half = -(-len(ordered) // 2)
                median = float(ordered[half - 1]) if 0 < half <= detected else None
                yield median, float(ordered[detected - 1]) if detected else None


def _of_one_length(table: Any, **kinds: Any) -> None:
    """Set the columns of a frozen table as arrays, and see that they are of one length."""
    columns = {name: np.asarray(getattr(table, name), kind) for name, kind in kinds.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise LengthMismatch(f"columns must be of one length: {told}")
    for name, column in columns.items():
        object.__setattr__(table, name, column)
