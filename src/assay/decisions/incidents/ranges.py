r"""How well alarms that last cover incidents that last: range-based precision and recall.

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
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError

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
        mine = np.repeat(np.arange(len(self)), count)
        skipped = np.repeat(np.cumsum(count) - count, count)
        return mine, np.arange(len(mine)) - skipped + first[mine]

    def within(self, other: Ranges) -> int:
        """How many steps lie in both."""
        mine, theirs = self.overlaps(other)
        low = np.maximum(self.start[mine], other.start[theirs])
        return int(np.sum(np.minimum(self.end[mine], other.end[theirs]) - low))


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
    mine, theirs = judged.overlaps(by)
    start = judged.start[mine]
    low = np.maximum(start, by.start[theirs]) - start
    high = np.minimum(judged.end[mine], by.end[theirs]) - start
    share = bias.share(low.astype(float), high.astype(float), judged.length[mine].astype(float))
    covered = np.bincount(mine, share, len(judged))
    sharing = np.bincount(mine, minlength=len(judged)).astype(float)
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
    >>> found = range_based(incidents, Ranges([19, 23, 37, 49], [21, 31, 38, 50]))
    >>> round(found.precision, 5), round(found.recall, 5)
    (0.21875, 0.5)
    """
    recall = range_scores(incidents, alarms, alpha=alpha, bias=bias, cardinality=cardinality)
    precision = range_scores(alarms, incidents, cardinality=cardinality)
    return PrecisionRecall(_mean(precision), _mean(recall))


def _mean(scores: Floats) -> float:
    return float(np.mean(scores)) if len(scores) else math.nan
