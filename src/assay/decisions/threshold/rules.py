"""Rules that choose one threshold of a sweep: constraints, and what to make best among them.

A rule is applied to the rows, and to each resample of them. Both are looked at in blocks of
thresholds, so a rule also tells which blocks its choice depends on: see
:mod:`assay.inference.narrowing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.guaranteed import promises_of
from assay.decisions.threshold.limits import Kept, Limit, limits_of
from assay.decisions.threshold.wanted import HIGHEST_DR, LOWEST_COST, Wanted
from assay.inference.narrowing import Blocks, Counts
from assay.inference.operating import NOTHING

Array: TypeAlias = npt.NDArray[Any]


class Objective(Protocol):
    """What is made best among the thresholds that are kept."""

    def best(self, counts: Counts, kept: Kept) -> int:
        """The position of the best threshold."""
        ...

    def undecided(self, blocks: Blocks, kept: Kept, possible: Array) -> Array:
        """The blocks that may hold a better threshold than the ends that are kept.

        ``possible`` are those in which some threshold may be kept.
        """
        ...


@dataclass(frozen=True)
class HighestDetection:
    """The highest detection rate: of thresholds that detect as many, the highest one."""

    def best(self, counts: Counts, kept: Kept) -> int:
        """The position of the best threshold."""
        # The first position with as many: fewer alerts keep every upper limit too.
        return max(int(np.searchsorted(counts.tp, counts.tp[kept.lowest])), kept.first)

    def undecided(self, blocks: Blocks, kept: Kept, possible: Array) -> Array:
        """Blocks below the lowest end that is kept, and the one where as many are detected."""
        unclear = _below(blocks, kept, possible)
        if not kept.empty:
            tp = blocks.high.tp
            unclear[int(np.searchsorted(tp, tp[kept.lowest]))] = True
        return unclear & blocks.drawn


@dataclass(frozen=True)
class LowestThreshold:
    """The lowest threshold: no other that is kept detects more on new rows."""

    def best(self, counts: Counts, kept: Kept) -> int:  # noqa: ARG002 - as the protocol has it
        """The position of the best threshold."""
        return kept.lowest

    def undecided(self, blocks: Blocks, kept: Kept, possible: Array) -> Array:
        """Blocks below the lowest end that is kept, and its own where it stands for a rank."""
        unclear = _below(blocks, kept, possible)
        if not kept.empty and kept.among is not None:
            unclear[kept.lowest] = True
        return unclear & blocks.drawn


@dataclass(frozen=True)
class HighestThreshold:
    """The highest threshold: no other that is kept raises fewer alarms."""

    def best(self, counts: Counts, kept: Kept) -> int:  # noqa: ARG002 - as the protocol has it
        """The position of the best threshold."""
        return kept.place(0)

    def undecided(self, blocks: Blocks, kept: Kept, possible: Array) -> Array:
        """Blocks up to the highest end that is kept."""
        first = len(possible) if kept.empty else kept.place(0)
        return np.asarray(possible & (blocks.order <= first) & blocks.drawn)


@dataclass(frozen=True)
class LowestFar:
    """The lowest false alarm rate; of equal ones the one that detects most, then the highest."""

    def best(self, counts: Counts, kept: Kept) -> int:
        """The position of the best threshold."""
        tp, fp = kept.of(counts.tp), kept.of(counts.fp)
        # FAR grows with FP/TP, at any base rate. Equal fractions are equal floats.
        odds = np.divide(fp, tp, out=np.full(len(tp), np.inf), where=tp > 0)
        best = np.flatnonzero(odds == odds.min())
        return kept.place(int(best[np.searchsorted(tp[best], tp[best[-1]])]))

    def undecided(self, blocks: Blocks, kept: Kept, possible: Array) -> Array:
        """Blocks that may have as low a rate as the best end."""
        high, low = blocks.high, blocks.low
        odds = np.divide(low.fp, high.tp, out=np.full(len(high.tp), np.inf), where=high.tp > 0)
        best = np.inf
        if not kept.empty:
            tp, fp = kept.of(high.tp), kept.of(high.fp)
            best = np.divide(fp, tp, out=np.full(len(tp), np.inf), where=tp > 0).min()
        return np.asarray(possible & blocks.mixed & (odds <= best))


@dataclass(frozen=True)
class LowestCost:
    """The lowest cost a row: ``false_alarm`` times FPR and ``miss`` times FNR; the highest one.

    Without a base rate, times FP and FN.
    """

    false_alarm: Fraction
    miss: Fraction
    base_rate: Fraction | None

    def best(self, counts: Counts, kept: Kept) -> int:
        """The position of the best threshold."""
        by_tp, by_fp, close = self._prices(counts)
        saved = float(by_tp) * kept.of(counts.tp) - float(by_fp) * kept.of(counts.fp)
        found = np.flatnonzero(saved >= saved.max() - close)
        near = found + kept.first if kept.among is None else kept.positions[found]

        def exact(position: int) -> Fraction:
            return by_tp * int(counts.tp[position]) - by_fp * int(counts.fp[position])

        return first_best(near, counts, exact)

    def undecided(self, blocks: Blocks, kept: Kept, possible: Array) -> Array:
        """Blocks that may save as much as the best end."""
        high, low = blocks.high, blocks.low
        by_tp, by_fp, close = self._prices(high)
        most = float(by_tp) * high.tp - float(by_fp) * low.fp
        # Of ranks, the end of a block is not where they are: they save no less than this.
        tp = high.tp if kept.among is None else low.tp
        saved = float(by_tp) * kept.of(tp) - float(by_fp) * kept.of(high.fp)
        best = saved.max() - close if len(saved) else -np.inf
        inside = blocks.mixed if kept.among is None else blocks.drawn
        return np.asarray(possible & inside & (most >= best))

    def _prices(self, counts: Counts) -> tuple[Fraction, Fraction, float]:
        """What a true positive saves and a false one costs, and what rounding may hide."""
        by_fp, by_tp = self.false_alarm, self.miss
        if self.base_rate is not None:
            by_fp *= (1 - self.base_rate) * counts.positives
            by_tp *= self.base_rate * counts.negatives
        # What is saved is small beside what is added up, so what is close is looked at exactly.
        close = 1e-14 * (float(by_tp) * counts.positives + float(by_fp) * counts.negatives)
        return by_tp, by_fp, close


@dataclass(frozen=True)
class Rule:
    """Constraints and an objective."""

    limits: tuple[Limit, ...]
    objective: Objective

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep all constraints."""
        kept = Kept(0, len(counts.tp) - 1)
        for limit in self.limits:
            kept = kept & limit.kept(counts)
        return kept

    def position(self, counts: Counts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        kept = self.kept(counts)
        return NOTHING if kept.empty else self.objective.best(counts, kept)

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that have to be looked into before the position is known."""
        unclear = blocks.none
        if not (blocks.high.positives and blocks.high.negatives):
            return unclear
        kept, possible = Kept(0, len(unclear) - 1), ~unclear
        for limit in self.limits:
            look = limit.look(blocks)
            kept, possible = kept & look.kept, possible & look.possible
            unclear |= look.undecided
        return unclear | self.objective.undecided(blocks, kept, possible)


def _below(blocks: Blocks, kept: Kept, possible: Array) -> Array:
    """Blocks that may keep the constraints below the lowest end that does."""
    return np.asarray(possible & (blocks.order > (NOTHING if kept.empty else kept.lowest)))


def first_best(near: Array, counts: Counts, exact: Any) -> int:
    """Of a few positions that may be best, the best by exact arithmetic; the first of equals."""
    tp, fp = counts.tp[near], counts.fp[near]
    fresh = np.ones(len(near), bool)
    # Scores that were not drawn repeat the counts of the one before.
    fresh[1:] = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])
    few = near[fresh].tolist()
    return int(few[0] if len(few) == 1 else max(few, key=exact))


def empirical_rule(wanted: Wanted) -> Rule:
    """What is best on the rows at hand."""
    return Rule(limits_of(wanted), _objective(wanted, HighestDetection(), LowestFar()))


def guaranteed_rule(wanted: Wanted) -> Rule:
    """The end of the promised range that serves the objective: it is an order statistic.

    Which one is fixed before the scores are seen; for costs, what is best inside the range.
    """
    return Rule(promises_of(wanted), _objective(wanted, LowestThreshold(), HighestThreshold()))


def _objective(wanted: Wanted, detection: Objective, far: Objective) -> Objective:
    if wanted.objective == LOWEST_COST and wanted.cost_fp and wanted.cost_fn:
        return LowestCost(wanted.cost_fp, wanted.cost_fn, wanted.base_rate)
    return detection if wanted.objective == HIGHEST_DR else far
