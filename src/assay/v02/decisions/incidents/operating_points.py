"""What each threshold of alerts detects and costs a day, and the one that keeps a constraint.

An alert counts where its score is at least the threshold. As the threshold falls, incidents are
detected that were not, and others sooner; false alarms grow in number. False *incidents*, groups of
false alarms of one key with no gap longer than so much, need not: an alert that comes in between
may join two groups into one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch
from assay.v02.escaping import given_text
from assay.v02.inference.significance import check_level, least_shown, most_allowed
from assay.v02.number_text import significant
from assay.v02.tally.incident_tally import END, SECOND, START, IncidentTally

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
        heads, reaching = self._heads(gap)
        begun = len(heads) - np.searchsorted(np.sort(heads), thresholds, side="left")
        joined = len(heads) - np.searchsorted(np.sort(reaching), thresholds, side="left")
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
        lengths_text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise LengthMismatch(f"columns must be of one length: {lengths_text}")
    for name, column in columns.items():
        object.__setattr__(table, name, column)


# -- the threshold that keeps a constraint ---------------------------------------------------------


Bools = npt.NDArray[np.bool_]

ASSUMPTION = (
    "false incidents arrive independently of each other and at a steady rate, incidents are "
    "independent draws, and new data are like these"
)
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class OperatingChoice:
    """Where to set the threshold of alerts: by the data at hand, and with a promise.

    ``constraints`` maps ``max_false_incidents`` (a day) and ``max_delay`` (seconds) to what was
    asked. ``infeasible`` tells why nothing can be found or promised, and what would help.
    ``assumption`` is what the promise rests on. At ``guaranteed`` all constraints hold on new data
    with the ``confidence``.
    """

    constraints: Mapping[str, float]
    objective: str
    empirical: OperatingPoint | None
    guaranteed: OperatingPoint | None
    infeasible: str | None
    confidence: float
    assumption: str = ASSUMPTION

    def turned(self) -> OperatingChoice:
        """The same for a score of which a low number is the more suspicious."""
        points = {name: getattr(self, name) for name in ("empirical", "guaranteed")}
        return replace(
            self,
            **{n: p and replace(p, threshold=-p.threshold) for n, p in points.items()},
        )


def choose_operating_point(
    characteristic: OperatingCharacteristic,
    *,
    max_false_incidents: float | None = None,
    max_delay: float | None = None,
    confidence: float = 0.9,
) -> OperatingChoice:
    r"""The threshold that keeps what was asked, on this data and, where it can be had, on new.

    **What is asked.** ``max_false_incidents``: at most so many false incidents a day.
    ``max_delay``: the median time to detect is at most so many seconds, that is, at least half of
    all incidents are detected within them. With a limit on false incidents the threshold is taken
    that detects most incidents; without, the one with the fewest false incidents.

    **What is promised.** Each promise fails with a chance of at most its share of the risk.

    *False incidents.* Those at a threshold are taken to arrive independently of each other and of
    the incidents, at a steady rate: over D days their number is Poisson. The thresholds are scores
    of alerts of incidents, so they are fixed whatever the false alarms do. At each one "more than L
    a day" is a plain hypothesis, rejected where :math:`P(\mathrm{Poisson}(LD) \le N)` is at most
    the risk, which is where Garwood's upper bound is at most L. They are tested from high to low,
    and testing stops at the first that is not rejected: a wrong rejection has to reject the first
    true hypothesis, so their number costs nothing, and it does not matter that false incidents may
    become fewer as alerts join them.

    *Time to detect.* Incidents are independent draws. With n of them let k be the largest number
    for which :math:`P(\mathrm{Bin}(n, 1/2) \le k)` is at most the risk: every threshold at which no
    more than k are missed or found later keeps the promise. A lower threshold only ever finds
    sooner, so this is the promise of a detection rate in :mod:`assay.decisions.threshold.promises`.
    """
    asked = {"max_false_incidents": max_false_incidents, "max_delay": max_delay}
    constraints = {
        name: _checked_limit(name, limit) for name, limit in asked.items() if limit is not None
    }
    if not constraints:
        raise InputError("nothing was asked; give max_false_incidents= or max_delay=, or both")
    confidence = check_level(confidence, "confidence=")
    risk = (1 - Fraction(str(confidence))) / len(constraints)
    satisfied = {name: _HELD[name](characteristic, limit) for name, limit in constraints.items()}
    promised = {
        name: _PROMISED[name](characteristic, limit, risk) for name, limit in constraints.items()
    }
    most_detected = max_false_incidents is not None
    empirical = _best_threshold(
        characteristic, list(satisfied.values()), most_detected=most_detected
    )
    guaranteed = _best_threshold(
        characteristic, list(promised.values()), most_detected=most_detected
    )
    infeasible = None
    if empirical is None:
        infeasible = _not_found(characteristic, constraints, satisfied)
    elif guaranteed is None:
        infeasible = _not_promised(characteristic, constraints, promised, risk)
    return OperatingChoice(
        constraints=constraints,
        objective="most incidents detected" if most_detected else "fewest false incidents a day",
        empirical=empirical,
        guaranteed=guaranteed,
        infeasible=infeasible,
        confidence=confidence,
    )


def _checked_limit(name: str, limit: Any) -> float:
    try:
        number = float(limit)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise InputError(f"{name}= must be a number of at least 0; found {given_text(limit)}")
    return number


# -- which thresholds keep a constraint ------------------------------------------------------------


def _few_false(of: OperatingCharacteristic, limit: float) -> Bools:
    return np.asarray(of.false_incidents <= limit * of.days)


def _prompt(of: OperatingCharacteristic, limit: float) -> Bools:
    return np.asarray(2 * of.within(limit) >= max(of.first_alerts.total, 1))


def _few_false_promised(of: OperatingCharacteristic, limit: float, risk: Fraction) -> Bools:
    """Tested from high to low thresholds until one is not shown to keep it."""
    from scipy.special import pdtr

    chance = pdtr(of.false_incidents.astype(float), limit * of.days)
    shown = np.asarray(chance <= float(risk)) & _fixed(of)
    return np.logical_and.accumulate(shown)


def _prompt_promised(of: OperatingCharacteristic, limit: float, risk: Fraction) -> Bools:
    total = of.first_alerts.total
    most = most_allowed(total, _HALF, risk) if total else None
    if most is None:
        return np.zeros(len(of.thresholds), bool)
    return np.asarray(total - of.within(limit) <= most)


def _fixed(of: OperatingCharacteristic) -> Bools:
    return np.arange(len(of.thresholds)) < of.fixed


_HELD: Mapping[str, Any] = {"max_false_incidents": _few_false, "max_delay": _prompt}
_PROMISED: Mapping[str, Any] = {
    "max_false_incidents": _few_false_promised,
    "max_delay": _prompt_promised,
}


def _best_threshold(
    of: OperatingCharacteristic, kept: list[Bools], *, most_detected: bool
) -> OperatingPoint | None:
    """The best of the thresholds that all keep; of equals the highest."""
    places = np.flatnonzero(np.logical_and.reduce(kept))
    if not len(places):
        return None
    detected, false = of.within(math.inf)[places], of.false_incidents[places]
    first, second = (-detected, false) if most_detected else (false, -detected)
    return of.curve.point(int(places[np.lexsort([places, second, first])[0]]))


# -- why there is none, and what would help --------------------------------------------------------


def _not_found(
    of: OperatingCharacteristic, constraints: Mapping[str, float], satisfied: Mapping[str, Bools]
) -> str:
    if not len(of.thresholds):
        return "Not possible on this data: there are no alerts."
    lead = "Not possible on this data: no threshold keeps"
    for name, limit in constraints.items():
        if satisfied[name].any():
            continue
        if name == "max_delay":
            within, total = int(of.within(limit).max()), of.first_alerts.total
            return (
                f"{lead} a median delay of {limit:g} s: with all alerts {within} of {total} "
                "incidents are detected by then. A longer delay, or rules that fire sooner, would "
                "help."
            )
        fewest = float(of.false_incidents.min()) / of.days
        return (
            f"{lead} {limit:g} false incidents a day and detects anything: there are "
            f"{significant(fewest)} a day at the least. A higher limit, or leaving out rules that "
            f"are never right, would help."
        )
    few_enough, prompt = satisfied["max_false_incidents"], satisfied["max_delay"]
    in_time = of.within(constraints["max_delay"])
    cheapest = float(of.false_incidents[prompt].min()) / of.days
    return (
        f"{lead} both constraints at once: with {constraints['max_false_incidents']:g} false "
        f"incidents a day {int(in_time[few_enough].max())} of {of.first_alerts.total} are detected "
        f"within {constraints['max_delay']:g} s, and half of them take {significant(cheapest)} a "
        f"day. Relax one of them."
    )


def _not_promised(
    of: OperatingCharacteristic,
    constraints: Mapping[str, float],
    promised: Mapping[str, Bools],
    risk: Fraction,
) -> str:
    from scipy.special import gammaincinv

    lead = "Nothing can be promised"
    for name, limit in constraints.items():
        if promised[name].any():
            continue
        if name == "max_delay":
            within, total = int(of.within(limit).max()), of.first_alerts.total
            needed = _incidents_needed(risk)
            more = f"With all of them in time it takes {needed}."
            if total >= needed:
                most = most_allowed(total, _HALF, risk)
                more = f"It takes {total - (most or 0)} of {total}, or more incidents like these."
            return (
                f"{lead}: {within} of {total} incidents within {limit:g} s do not show that half "
                f"of all are. {more}"
            )
        without = -math.log(float(risk)) / limit if limit else math.inf
        if of.days < without:
            longer = (
                "No time is long enough." if not limit else f"It takes {significant(without)} days."
            )
            return (
                f"{lead}: {significant(of.days)} days are too few to show at most {limit:g} false "
                f"incidents a day, even without a single one. {longer}"
            )
        false_incidents = int(of.false_incidents[0])
        shown = float(gammaincinv(false_incidents + 1, 1 - float(risk))) / of.days
        return (
            f"{lead}: {false_incidents} false incidents in {significant(of.days)} days, at the "
            f"highest score of an incident, show at most {significant(shown)} a day and not "
            f"{limit:g}. More days would help, or a higher limit."
        )
    return (
        f"{lead}: each constraint can be promised by itself, but at no threshold both. Relax one "
        "of them."
    )


def _incidents_needed(risk: Fraction) -> int:
    """How many incidents, all detected in time, show that half are."""
    needed = 1
    while least_shown(needed, float(risk)) > 0.5:
        needed += 1
    return needed
