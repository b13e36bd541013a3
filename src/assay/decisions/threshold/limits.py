"""Constraints on rows at hand: at which thresholds they hold, to the last row.

Limits are decimals and counts are integers, so that 3 false positives among 30 negatives keep
``max_fpr=0.1`` whatever floats say.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.sweep import Counts, Family
from assay.decisions.threshold.wanted import Wanted

Array: TypeAlias = npt.NDArray[Any]

# Products below this are exact in 64 bits.
_LARGEST = 1 << 62
# Floats further apart than this share of their sum are in the right order.
_CLOSE = 1e-14


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


class Limit(Protocol):
    """A constraint, as it is kept on rows at hand or promised for new ones."""

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        ...


@dataclass(frozen=True)
class FprAtMost:
    """FP/N <= limit."""

    limit: Fraction

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        most = math.floor(self.limit * counts.negatives)
        return Kept(0, up_to(counts.fp, most))


@dataclass(frozen=True)
class DrAtLeast:
    """TP/P >= limit."""

    limit: Fraction

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        return from_(counts, math.ceil(self.limit * counts.positives))


@dataclass(frozen=True)
class FamilyAtLeast:
    """The same of one family."""

    limit: Fraction
    family: Family

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        return family_from(counts, self.family, lambda size: math.ceil(self.limit * size))


@dataclass(frozen=True)
class FarAtMost:
    """FP/(FP + TP) <= limit with a share ``base_rate`` of positives; no alerts don't keep it."""

    limit: Fraction
    base_rate: Fraction | None

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        true, false = self.limit, 1 - self.limit
        if self.base_rate is not None:
            true *= self.base_rate * counts.negatives
            false *= (1 - self.base_rate) * counts.positives
        kept = _at_most(counts.fp, false, counts.tp, true)
        kept &= (counts.tp > 0) | (counts.fp > 0)
        return Kept(0, len(kept) - 1, np.flatnonzero(kept))


@dataclass(frozen=True)
class AlertsAtMost:
    """A share of at most ``limit`` of the rows is flagged where ``base_rate`` are positive."""

    limit: Fraction
    base_rate: Fraction | None

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it; the share grows as the threshold falls."""

        def too_many(position: int) -> bool:
            tp, fp = int(counts.tp[position]), int(counts.fp[position])
            if self.base_rate is None:
                return tp + fp > self.limit * counts.rows
            hit = self.base_rate * Fraction(tp, counts.positives)
            return hit + (1 - self.base_rate) * Fraction(fp, counts.negatives) > self.limit

        size = len(counts.tp)
        return Kept(0, bisect_left(range(size), 1, key=too_many) - 1)


def limits_of(wanted: Wanted, families: tuple[Family, ...]) -> tuple[Limit, ...]:
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
    by_name = {family.name: family for family in families}
    found += [FamilyAtLeast(limit, by_name[name]) for name, limit in wanted.families.items()]
    return tuple(found)


def up_to(sums: Array, most: int) -> int:
    """The last position with at most so many."""
    return int(np.searchsorted(sums, most, side="right")) - 1


def from_(counts: Counts, least: int) -> Kept:
    """The positions with at least so many true positives."""
    return Kept(int(np.searchsorted(counts.tp, least)), len(counts.tp) - 1)


def family_from(counts: Counts, family: Family, least: Callable[[int], int]) -> Kept:
    """The positions where as many of a family are flagged as its size asks for."""
    hits = family.in_resample(counts)
    size = round(float(hits[-1]))
    # Sums of shares are whole but for rounding.
    place = int(np.searchsorted(hits, least(size) - 1e-6))
    last = len(counts.tp) - 1
    # A family that was not drawn keeps no limit.
    first = int(family.positions[place]) if size and place < len(hits) else last + 1
    return Kept(first, last)


def _at_most(a: Array, by_a: Fraction, b: Array, by_b: Fraction) -> Array:
    """Where a * by_a <= b * by_b, exactly; neither falls along the sweep."""
    scale = math.lcm(by_a.denominator, by_b.denominator)
    first, second = int(by_a * scale), int(by_b * scale)
    common = math.gcd(first, second)
    first, second = first // common, second // common
    if max(first * int(a[-1]), second * int(b[-1])) < _LARGEST:
        return np.asarray(np.int64(first) * a <= np.int64(second) * b)
    left, right = a * float(first), b * float(second)
    kept = np.asarray(left <= right)
    for i in np.flatnonzero(np.abs(left - right) <= _CLOSE * (left + right)).tolist():
        kept[i] = int(a[i]) * first <= int(b[i]) * second
    return kept
