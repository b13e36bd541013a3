"""Constraints on rows at hand: at which thresholds they hold, to the last row.

Limits are decimals and counts are integers, so that 3 false positives among 30 negatives keep
``max_fpr=0.1`` whatever floats say.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.wanted import Wanted
from assay.inference.narrowing import Blocks, Counts
from assay.inference.operating import at_most

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Kept:
    """The thresholds that keep a constraint: positions ``first`` to ``last`` of a sweep.

    Of these only the ones in ``among`` (rising), where it is given.
    """

    first: int
    last: int
    among: Array | None = None

    def __and__(self, other: Kept) -> Kept:
        among = self.among if other.among is None else other.among
        if self.among is not None and other.among is not None:
            among = np.intersect1d(self.among, other.among, assume_unique=True)
        return Kept(max(self.first, other.first), min(self.last, other.last), among)

    @property
    def positions(self) -> Array:
        """The positions that are kept."""
        if self.among is None:
            return np.arange(self.first, self.last + 1)
        low, high = np.searchsorted(self.among, [self.first, self.last + 1])
        return self.among[low:high]

    def of(self, column: Array) -> Array:
        """The values of a column at the positions that are kept."""
        return column[self.first : self.last + 1] if self.among is None else column[self.positions]

    def place(self, i: int) -> int:
        """The position of the i-th that is kept."""
        return self.first + i if self.among is None else int(self.positions[i])

    @property
    def empty(self) -> bool:
        """Whether nothing is kept."""
        return self.first > self.last or (self.among is not None and not len(self.positions))

    @property
    def lowest(self) -> int:
        """The last position: the lowest threshold."""
        return self.last if self.among is None else int(self.positions[-1])


class Look(NamedTuple):
    """A constraint on a sweep in blocks.

    ``kept`` are the ends that keep it, ``possible`` the blocks in which some threshold may, and
    ``undecided`` those that have to be cut to know where it begins or ends to be kept.
    """

    kept: Kept
    possible: Array
    undecided: Array


class Limit(Protocol):
    """A constraint, as it is kept on rows at hand or promised for new ones."""

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        ...

    def look(self, blocks: Blocks) -> Look:
        """Which blocks keep it, may keep it, and have to be cut."""
        ...


class KeptAbove(ABC):
    """A constraint that holds from the highest threshold down to some position."""

    @abstractmethod
    def last(self, counts: Counts) -> int:
        """The last position that keeps it."""

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        return Kept(0, self.last(counts))

    def look(self, blocks: Blocks) -> Look:
        """It ends to be kept in the block after the last end that keeps it."""
        last, order = self.last(blocks.high), blocks.order
        return Look(Kept(0, last), order <= last + 1, (order == last + 1) & blocks.drawn)


class KeptBelow(ABC):
    """A constraint that holds from some position on, down to the lowest threshold."""

    @abstractmethod
    def first(self, counts: Counts) -> int:
        """The first position that keeps it; one too many where none does."""

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        return Kept(self.first(counts), len(counts.tp) - 1)

    def look(self, blocks: Blocks) -> Look:
        """It begins to be kept in the block of the first end that keeps it."""
        first, order = self.first(blocks.high), blocks.order
        kept = Kept(first, len(order) - 1)
        return Look(kept, order >= first, (order == first) & blocks.drawn)


@dataclass(frozen=True)
class FprAtMost(KeptAbove):
    """FP/N <= limit."""

    limit: Fraction

    def last(self, counts: Counts) -> int:
        """The last position that keeps it."""
        return up_to(counts.fp, math.floor(self.limit * counts.negatives))


@dataclass(frozen=True)
class DrAtLeast(KeptBelow):
    """TP/P >= limit."""

    limit: Fraction

    def first(self, counts: Counts) -> int:
        """The first position that keeps it."""
        return from_(counts.tp, math.ceil(self.limit * counts.positives))


@dataclass(frozen=True)
class FamilyAtLeast(KeptBelow):
    """The same of one family."""

    limit: Fraction
    family: str

    def first(self, counts: Counts) -> int:
        """The first position that keeps it; a family that was not drawn keeps no limit."""
        hits = counts.kind(self.family)
        return from_(hits.flagged, math.ceil(self.limit * hits.size) or 1)


@dataclass(frozen=True)
class FarAtMost:
    """FP/(FP + TP) <= limit with a share ``base_rate`` of positives; no alerts don't keep it."""

    limit: Fraction
    base_rate: Fraction | None

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        true, false = self._odds(counts)
        kept = at_most(counts.fp, false, counts.tp, true)
        kept &= (counts.tp > 0) | (counts.fp > 0)
        return Kept(0, len(kept) - 1, np.flatnonzero(kept))

    def look(self, blocks: Blocks) -> Look:
        """Which of its many ends matters is for the objective to say."""
        true, false = self._odds(blocks.high)
        possible = at_most(blocks.low.fp, false, blocks.high.tp, true)
        return Look(self.kept(blocks.high), possible, blocks.none)

    def _odds(self, counts: Counts) -> tuple[Fraction, Fraction]:
        true, false = self.limit, 1 - self.limit
        if self.base_rate is not None:
            true *= self.base_rate * counts.negatives
            false *= (1 - self.base_rate) * counts.positives
        return true, false


@dataclass(frozen=True)
class AlertsAtMost(KeptAbove):
    """A share of at most ``limit`` of the rows is flagged where ``base_rate`` are positive."""

    limit: Fraction
    base_rate: Fraction | None

    def last(self, counts: Counts) -> int:
        """The last position that keeps it; the share grows as the threshold falls."""

        def too_many(position: int) -> bool:
            tp, fp = int(counts.tp[position]), int(counts.fp[position])
            if self.base_rate is None:
                return tp + fp > self.limit * counts.rows
            hit = self.base_rate * Fraction(tp, counts.positives)
            return hit + (1 - self.base_rate) * Fraction(fp, counts.negatives) > self.limit

        return bisect_left(range(len(counts.tp)), 1, key=too_many) - 1


def limits_of(wanted: Wanted) -> tuple[Limit, ...]:
    """The constraints on the rows at hand."""
    found: list[Limit] = []
    if wanted.max_far is not None:
        found.append(FarAtMost(wanted.max_far, wanted.base_rate))
    if wanted.max_fpr is not None:
        found.append(FprAtMost(wanted.max_fpr))
    if wanted.budget is not None:
        found.append(AlertsAtMost(wanted.budget, wanted.base_rate))
    if wanted.min_dr is not None:
        found.append(DrAtLeast(wanted.min_dr))
    found += [FamilyAtLeast(limit, name) for name, limit in wanted.families.items()]
    return tuple(found)


def up_to(sums: Array, most: int) -> int:
    """The last position with at most so many."""
    return int(np.searchsorted(sums, most, side="right")) - 1


def from_(sums: Array, least: int) -> int:
    """The first position with at least so many."""
    return int(np.searchsorted(sums, least))
