"""What is asked of a threshold, and where rows at hand keep it, to the last row.

Limits are decimals and counts are integers, so that 3 false positives among 30 negatives keep
``max_fpr=0.1`` whatever floats say.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, MethodError
from assay.v02.escaping import given_text
from assay.v02.inference.significance import check_amount, check_level, check_share, is_share
from assay.v02.inference.threshold_rules import Blocks, SweepCounts, at_most
from assay.v02.sources import label_text

Array: TypeAlias = npt.NDArray[Any]

MAX_FAR, MAX_FPR, MIN_DR, MAX_ALERTS = "max_far", "max_fpr", "min_dr", "max_alerts"
COST_FP, COST_FN = "cost_fp", "cost_fn"

HIGHEST_DR = "highest detection rate"
LOWEST_FAR = "lowest false alarm rate"
LOWEST_COST = "lowest expected cost"
NO_OBJECTIVE = "none: the usual points side by side"


@dataclass(frozen=True)
class Requirements:
    """What was asked, each number as the decimal that was written.

    ``families`` are the lowest detection rates of families. ``base_rate`` is None where the share
    of positives of the rows themselves is meant.
    """

    max_far: Fraction | None = None
    max_fpr: Fraction | None = None
    min_dr: Fraction | None = None
    max_alerts: Fraction | None = None
    cost_fp: Fraction | None = None
    cost_fn: Fraction | None = None
    base_rate: Fraction | None = None
    volume: Fraction | None = None
    confidence: Fraction = Fraction(9, 10)
    families: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many constraints there are; costs are none."""
        asked = (self.max_far, self.max_fpr, self.min_dr, self.max_alerts)
        return sum(each is not None for each in asked) + len(self.families)

    @property
    def risk(self) -> Fraction:
        """The share of the error that each constraint has (Bonferroni)."""
        return (1 - self.confidence) / max(self.size, 1)

    @property
    def budget(self) -> Fraction | None:
        """The share of rows that may be flagged."""
        if self.max_alerts is None or self.volume is None:
            return None
        return self.max_alerts / self.volume

    @property
    def objective(self) -> str:
        """What is made as good as the constraints allow."""
        if self.cost_fp is not None:
            return LOWEST_COST
        if self.max_far is not None or self.max_fpr is not None or self.max_alerts is not None:
            return HIGHEST_DR
        return LOWEST_FAR if self.size else NO_OBJECTIVE

    @property
    def constraints(self) -> dict[str, float]:
        """What was asked, by the names of the contract."""
        plain = (MAX_FAR, MAX_FPR, MIN_DR, MAX_ALERTS, COST_FP, COST_FN)
        asked = {name: getattr(self, name) for name in plain}
        asked |= {f"{MIN_DR}.{family}": limit for family, limit in self.families.items()}
        return {name: float(limit) for name, limit in asked.items() if limit is not None}


def requirements(
    *,
    max_far: Any = None,
    max_fpr: Any = None,
    min_dr: Any = None,
    min_dr_families: Any = None,
    max_alerts: Any = None,
    cost_fp: Any = None,
    cost_fn: Any = None,
    base_rate: Any = None,
    volume: Any = None,
    confidence: Any = 0.9,
    families: tuple[str, ...] = (),
) -> Requirements:
    """Check what is asked; ``families`` are those that the rows have."""
    if (cost_fp is None) != (cost_fn is None):
        raise InputError("cost_fp= and cost_fn= go together: what a false alarm and a miss cost")
    if max_alerts is not None and volume is None:
        raise InputError("max_alerts= is a number a day, so volume= is needed: the rows a day")
    return Requirements(
        max_far=_share(MAX_FAR, max_far),
        max_fpr=_share(MAX_FPR, max_fpr),
        min_dr=_share(MIN_DR, min_dr),
        max_alerts=_above_zero(MAX_ALERTS, max_alerts),
        cost_fp=_above_zero(COST_FP, cost_fp),
        cost_fn=_above_zero(COST_FN, cost_fn),
        base_rate=_base_rate(base_rate),
        volume=_above_zero("volume", volume),
        confidence=_exact(check_level(0.9 if confidence is None else confidence, "confidence")),
        families=_families(min_dr_families, families),
    )


def _families(asked: Any, known: tuple[str, ...]) -> dict[str, Fraction]:
    if asked is None:
        return {}
    if not known:
        raise InputError(
            "a detection rate of families needs to know which row is of which: give families=, "
            "the column that tells it"
        )
    if not isinstance(asked, Mapping):
        asked = dict.fromkeys(known, asked)
    asked = {label_text(family): limit for family, limit in asked.items()}
    absent = [family for family in asked if family not in known]
    if absent:
        shown = ", ".join(map(repr, known[:12])) + (", ..." if len(known) > 12 else "")
        raise InputError(f"no positive row is of the family {absent[0]!r}; there are {shown}")
    shares = {family: _share(f"{MIN_DR} of {family!r}", v) for family, v in asked.items()}
    return {family: limit for family, limit in shares.items() if limit is not None}


def _share(name: str, value: Any) -> Fraction | None:
    if value is None:
        return None
    if not is_share(value):
        raise MethodError(
            f"{name} is a share between 0 and 1, such as 0.1; found {given_text(value)}"
        )
    return _exact(value)


def _base_rate(value: Any) -> Fraction | None:
    if value is None:
        return None
    check_share("base_rate", value)
    return _exact(value)


def _above_zero(name: str, value: Any) -> Fraction | None:
    if value is None:
        return None
    check_amount(name, value)
    return _exact(value)


def _exact(value: Any) -> Fraction:
    """The decimal that was written: 0.1 is a tenth, not the float nearest to it."""
    return Fraction(str(value))


# -- where constraints are kept on rows at hand ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class KeptPositions:
    """The thresholds that keep a constraint: positions ``first`` to ``last`` of a sweep.

    Of these only the ones in ``among`` (rising), where it is given.
    """

    first: int
    last: int
    among: Array | None = None

    def __and__(self, other: KeptPositions) -> KeptPositions:
        among = self.among if other.among is None else other.among
        if self.among is not None and other.among is not None:
            among = np.intersect1d(self.among, other.among, assume_unique=True)
        return KeptPositions(max(self.first, other.first), min(self.last, other.last), among)

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

    kept: KeptPositions
    possible: Array
    undecided: Array


class Limit(Protocol):
    """A constraint, as it is kept on rows at hand or promised for new ones."""

    def kept(self, counts: SweepCounts) -> KeptPositions:
        """The thresholds that keep it."""
        ...

    def look(self, blocks: Blocks) -> Look:
        """Which blocks keep it, may keep it, and have to be cut."""
        ...


class KeptAbove(ABC):
    """A constraint that holds from the highest threshold down to some position."""

    @abstractmethod
    def last(self, counts: SweepCounts) -> int:
        """The last position that keeps it."""

    def kept(self, counts: SweepCounts) -> KeptPositions:
        """The thresholds that keep it."""
        return KeptPositions(0, self.last(counts))

    def look(self, blocks: Blocks) -> Look:
        """It ends to be kept in the block after the last end that keeps it."""
        last, order = self.last(blocks.high), blocks.order
        return Look(KeptPositions(0, last), order <= last + 1, (order == last + 1) & blocks.drawn)


class KeptBelow(ABC):
    """A constraint that holds from some position on, down to the lowest threshold."""

    @abstractmethod
    def first(self, counts: SweepCounts) -> int:
        """The first position that keeps it; one too many where none does."""

    def kept(self, counts: SweepCounts) -> KeptPositions:
        """The thresholds that keep it."""
        return KeptPositions(self.first(counts), len(counts.tp) - 1)

    def look(self, blocks: Blocks) -> Look:
        """It begins to be kept in the block of the first end that keeps it."""
        first, order = self.first(blocks.high), blocks.order
        kept = KeptPositions(first, len(order) - 1)
        return Look(kept, order >= first, (order == first) & blocks.drawn)


@dataclass(frozen=True)
class FprAtMost(KeptAbove):
    """FP/N <= limit."""

    limit: Fraction

    def last(self, counts: SweepCounts) -> int:
        """The last position that keeps it."""
        return up_to(counts.fp, math.floor(self.limit * counts.negatives))


@dataclass(frozen=True)
class DrAtLeast(KeptBelow):
    """TP/P >= limit."""

    limit: Fraction

    def first(self, counts: SweepCounts) -> int:
        """The first position that keeps it."""
        return from_(counts.tp, math.ceil(self.limit * counts.positives))


@dataclass(frozen=True)
class FamilyAtLeast(KeptBelow):
    """The same of one family."""

    limit: Fraction
    family: str

    def first(self, counts: SweepCounts) -> int:
        """The first position that keeps it; a family that was not drawn keeps no limit."""
        hits = counts.kind(self.family)
        return from_(hits.flagged, math.ceil(self.limit * hits.size) or 1)


@dataclass(frozen=True)
class FarAtMost:
    """FP/(FP + TP) <= limit with a share ``base_rate`` of positives; no alerts don't keep it."""

    limit: Fraction
    base_rate: Fraction | None

    def kept(self, counts: SweepCounts) -> KeptPositions:
        """The thresholds that keep it."""
        true, false = self._odds(counts)
        kept = at_most(counts.fp, false, counts.tp, true)
        kept &= counts.tp > 0
        return KeptPositions(0, len(kept) - 1, np.flatnonzero(kept))

    def look(self, blocks: Blocks) -> Look:
        """Which of its many ends matters is for the objective to say."""
        true, false = self._odds(blocks.high)
        possible = at_most(blocks.low.fp, false, blocks.high.tp, true)
        return Look(self.kept(blocks.high), possible, blocks.none)

    def _odds(self, counts: SweepCounts) -> tuple[Fraction, Fraction]:
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

    def last(self, counts: SweepCounts) -> int:
        """The last position that keeps it; the share grows as the threshold falls."""

        def too_many(position: int) -> bool:
            tp, fp = int(counts.tp[position]), int(counts.fp[position])
            if self.base_rate is None:
                return tp + fp > self.limit * counts.rows
            hit = self.base_rate * Fraction(tp, counts.positives)
            return hit + (1 - self.base_rate) * Fraction(fp, counts.negatives) > self.limit

        return bisect_left(range(len(counts.tp)), 1, key=too_many) - 1


def limits_of(wanted: Requirements) -> tuple[Limit, ...]:
    """The constraints on the rows at hand."""
    limits: list[Limit] = []
    if wanted.max_far is not None:
        limits.append(FarAtMost(wanted.max_far, wanted.base_rate))
    if wanted.max_fpr is not None:
        limits.append(FprAtMost(wanted.max_fpr))
    if wanted.budget is not None:
        limits.append(AlertsAtMost(wanted.budget, wanted.base_rate))
    if wanted.min_dr is not None:
        limits.append(DrAtLeast(wanted.min_dr))
    limits += [FamilyAtLeast(limit, name) for name, limit in wanted.families.items()]
    return tuple(limits)


def up_to(sums: Array, most: int) -> int:
    """The last position with at most so many."""
    return int(np.searchsorted(sums, most, side="right")) - 1


def from_(sums: Array, least: int) -> int:
    """The first position with at least so many."""
    return int(np.searchsorted(sums, least))
