"""Rules that choose one threshold of a sweep: constraints, and what to make best among them.

A rule is applied to the rows, and to each resample of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.guaranteed import promises_of
from assay.decisions.threshold.limits import Kept, Limit, limits_of
from assay.decisions.threshold.sweep import Counts, Family
from assay.decisions.threshold.wanted import HIGHEST_DR, LOWEST_COST, Wanted
from assay.inference.operating import NOTHING

Array: TypeAlias = npt.NDArray[Any]


class Objective(Protocol):
    """What is made best among the thresholds that are kept."""

    def best(self, counts: Counts, kept: Kept) -> int:
        """The position of the best threshold."""
        ...


@dataclass(frozen=True)
class HighestDetection:
    """The highest detection rate: of thresholds that detect as many, the highest one."""

    def best(self, counts: Counts, kept: Kept) -> int:
        """The position of the best threshold."""
        # The first position with as many: fewer alerts keep every upper limit too.
        return max(int(np.searchsorted(counts.tp, counts.tp[kept.lowest])), kept.first)


@dataclass(frozen=True)
class LowestThreshold:
    """The lowest threshold: no other that is kept detects more on new rows."""

    def best(self, counts: Counts, kept: Kept) -> int:  # noqa: ARG002 - as the protocol has it
        """The position of the best threshold."""
        return kept.lowest


@dataclass(frozen=True)
class HighestThreshold:
    """The highest threshold: no other that is kept raises fewer alarms."""

    def best(self, counts: Counts, kept: Kept) -> int:  # noqa: ARG002 - as the protocol has it
        """The position of the best threshold."""
        return kept.place(0)


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
        by_fp, by_tp = self.false_alarm, self.miss
        if self.base_rate is not None:
            by_fp *= (1 - self.base_rate) * counts.positives
            by_tp *= self.base_rate * counts.negatives
        saved = float(by_tp) * kept.of(counts.tp) - float(by_fp) * kept.of(counts.fp)
        # What is saved is small beside what is added up, so what is close is looked at exactly.
        close = 1e-14 * (float(by_tp) * counts.positives + float(by_fp) * counts.negatives)
        found = np.flatnonzero(saved >= saved.max() - close)
        near = found + kept.first if kept.among is None else kept.positions[found]

        def exact(position: int) -> Fraction:
            return by_tp * int(counts.tp[position]) - by_fp * int(counts.fp[position])

        return first_best(near, counts, exact)


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

    def choose(self, tp: Array, fp: Array, positives: float, negatives: float) -> int:
        """The position in a sweep (thresholds decreasing, counts cumulative) that is chosen."""
        if not (positives and negatives):
            return NOTHING
        counts = Counts(tp, fp, int(positives), int(negatives))
        kept = self.kept(counts)
        return NOTHING if kept.empty else self.objective.best(counts, kept)


def first_best(near: Array, counts: Counts, exact: Any) -> int:
    """Of a few positions that may be best, the best by exact arithmetic; the first of equals."""
    tp, fp = counts.tp[near], counts.fp[near]
    fresh = np.ones(len(near), bool)
    # Scores that were not drawn repeat the counts of the one before.
    fresh[1:] = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])
    few = near[fresh].tolist()
    return int(few[0] if len(few) == 1 else max(few, key=exact))


def empirical_rule(wanted: Wanted, families: tuple[Family, ...]) -> Rule:
    """What is best on the rows at hand."""
    return Rule(limits_of(wanted, families), _objective(wanted, HighestDetection(), LowestFar()))


def guaranteed_rule(wanted: Wanted, families: tuple[Family, ...]) -> Rule:
    """The end of the promised range that serves the objective: it is an order statistic.

    Which one is fixed before the scores are seen; for costs, what is best inside the range.
    """
    promised = promises_of(wanted, families)
    return Rule(promised, _objective(wanted, LowestThreshold(), HighestThreshold()))


def _objective(wanted: Wanted, detection: Objective, far: Objective) -> Objective:
    if wanted.objective == LOWEST_COST and wanted.cost_fp and wanted.cost_fn:
        return LowestCost(wanted.cost_fp, wanted.cost_fn, wanted.base_rate)
    return detection if wanted.objective == HIGHEST_DR else far
