"""Rules that choose one threshold of a sweep: the best that keeps constraints, or a usual one.

A rule is applied to the rows, and to each resample of them. Both are looked at in blocks of
thresholds, so a rule also tells which blocks its choice depends on: see
:mod:`assay.inference.threshold_rules`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.threshold.constraints import (
    HIGHEST_DR,
    LOWEST_COST,
    KeptPositions,
    Limit,
    Requirements,
    limits_of,
)
from assay.v02.decisions.threshold.promises import promises_of
from assay.v02.inference.threshold_resampling import Chooser
from assay.v02.inference.threshold_rules import NOTHING, Blocks, SweepCounts

Floats: TypeAlias = npt.NDArray[np.float64]

Array: TypeAlias = npt.NDArray[Any]


class Objective(Protocol):
    """What is made best among the thresholds that are kept."""

    def best(self, counts: SweepCounts, kept: KeptPositions) -> int:
        """The position of the best threshold."""
        ...

    def undecided(self, blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
        """The blocks that may hold a better threshold than the ends that are kept.

        ``possible`` are those in which some threshold may be kept.
        """
        ...


@dataclass(frozen=True)
class HighestDetection:
    """The highest detection rate: of thresholds that detect as many, the highest one."""

    def best(self, counts: SweepCounts, kept: KeptPositions) -> int:
        """The position of the best threshold."""
        # The first position with as many: fewer alerts keep every upper limit too.
        return max(int(np.searchsorted(counts.tp, counts.tp[kept.lowest])), kept.first)

    def undecided(self, blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
        """Blocks below the lowest end that is kept, and the one where as many are detected."""
        unclear = _blocks_below(blocks, kept, possible)
        if not kept.empty:
            tp = blocks.high.tp
            unclear[int(np.searchsorted(tp, tp[kept.lowest]))] = True
        return unclear & blocks.drawn


@dataclass(frozen=True)
class LowestThreshold:
    """The lowest threshold: no other that is kept detects more on new rows."""

    def best(self, counts: SweepCounts, kept: KeptPositions) -> int:  # noqa: ARG002 - as the protocol has it
        """The position of the best threshold."""
        return kept.lowest

    def undecided(self, blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
        """Blocks below the lowest end that is kept, and its own where it stands for a rank."""
        unclear = _blocks_below(blocks, kept, possible)
        if not kept.empty and kept.among is not None:
            unclear[kept.lowest] = True
        return unclear & blocks.drawn


@dataclass(frozen=True)
class HighestThreshold:
    """The highest threshold: no other that is kept raises fewer alarms."""

    def best(self, counts: SweepCounts, kept: KeptPositions) -> int:  # noqa: ARG002 - as the protocol has it
        """The position of the best threshold."""
        return kept.place(0)

    def undecided(self, blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
        """Blocks up to the highest end that is kept."""
        first = len(possible) if kept.empty else kept.place(0)
        return np.asarray(possible & (blocks.order <= first) & blocks.drawn)


@dataclass(frozen=True)
class LowestFar:
    """The lowest false alarm rate; of equal ones the one that detects most, then the highest."""

    def best(self, counts: SweepCounts, kept: KeptPositions) -> int:
        """The position of the best threshold."""
        tp, fp = kept.of(counts.tp), kept.of(counts.fp)
        # FAR grows with FP/TP, at any base rate. Equal fractions are equal floats.
        odds = np.divide(fp, tp, out=np.full(len(tp), np.inf), where=tp > 0)
        best = np.flatnonzero(odds == odds.min())
        return kept.place(int(best[np.searchsorted(tp[best], tp[best[-1]])]))

    def undecided(self, blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
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

    def best(self, counts: SweepCounts, kept: KeptPositions) -> int:
        """The position of the best threshold."""
        by_tp, by_fp, close = self._prices(counts)
        saved = float(by_tp) * kept.of(counts.tp) - float(by_fp) * kept.of(counts.fp)
        cheapest = np.flatnonzero(saved >= saved.max() - close)
        near = cheapest + kept.first if kept.among is None else kept.positions[cheapest]

        def exact(position: int) -> Fraction:
            return by_tp * int(counts.tp[position]) - by_fp * int(counts.fp[position])

        return first_best(near, counts, exact)

    def undecided(self, blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
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

    def _prices(self, counts: SweepCounts) -> tuple[Fraction, Fraction, float]:
        """What a true positive saves and a false one costs, and what rounding may hide."""
        by_fp, by_tp = self.false_alarm, self.miss
        if self.base_rate is not None:
            by_fp *= (1 - self.base_rate) * counts.positives
            by_tp *= self.base_rate * counts.negatives
        # What is saved is small beside what is added up, so what is close is looked at exactly.
        close = 1e-14 * (float(by_tp) * counts.positives + float(by_fp) * counts.negatives)
        return by_tp, by_fp, close


@dataclass(frozen=True)
class ThresholdRule:
    """Constraints and an objective."""

    limits: tuple[Limit, ...]
    objective: Objective

    def kept(self, counts: SweepCounts) -> KeptPositions:
        """The thresholds that keep all constraints."""
        kept = KeptPositions(0, len(counts.tp) - 1)
        for limit in self.limits:
            kept = kept & limit.kept(counts)
        return kept

    def position(self, counts: SweepCounts) -> int:
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
        kept, possible = KeptPositions(0, len(unclear) - 1), ~unclear
        for limit in self.limits:
            look = limit.look(blocks)
            kept, possible = kept & look.kept, possible & look.possible
            unclear |= look.undecided
        return unclear | self.objective.undecided(blocks, kept, possible)


def _blocks_below(blocks: Blocks, kept: KeptPositions, possible: Array) -> Array:
    """Blocks that may keep the constraints below the lowest end that does."""
    return np.asarray(possible & (blocks.order > (NOTHING if kept.empty else kept.lowest)))


def first_best(near: Array, counts: SweepCounts, exact: Any) -> int:
    """Of a few positions that may be best, the best by exact arithmetic; the first of equals."""
    tp, fp = counts.tp[near], counts.fp[near]
    fresh = np.ones(len(near), bool)
    # Scores that were not drawn repeat the counts of the one before.
    fresh[1:] = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1])
    positions = near[fresh].tolist()
    return int(positions[0] if len(positions) == 1 else max(positions, key=exact))


def empirical_rule(wanted: Requirements) -> ThresholdRule:
    """What is best on the rows at hand."""
    return ThresholdRule(limits_of(wanted), _objective(wanted, HighestDetection(), LowestFar()))


def guaranteed_rule(wanted: Requirements) -> ThresholdRule:
    """The end of the promised range that serves the objective: it is an order statistic.

    Which one is fixed before the scores are seen; for costs, what is best inside the range.
    """
    return ThresholdRule(
        promises_of(wanted), _objective(wanted, LowestThreshold(), HighestThreshold())
    )


def _objective(wanted: Requirements, detection: Objective, far: Objective) -> Objective:
    if wanted.objective == LOWEST_COST and wanted.cost_fp and wanted.cost_fn:
        return LowestCost(wanted.cost_fp, wanted.cost_fn, wanted.base_rate)
    return detection if wanted.objective == HIGHEST_DR else far


# -- the usual points, where nothing limits them ---------------------------------------------------


# Values that differ by less may be equal but for rounding, so they are compared exactly.
_CLOSE = 1e-13


@dataclass(frozen=True)
class Youden:
    """The highest detection rate less false positive rate (Youden 1950)."""

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        return _best_position(
            self._value(counts.tp, counts.fp, counts),
            counts,
            lambda hit, false: Fraction(hit, counts.positives) - Fraction(false, counts.negatives),
        )

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that may hold a better threshold than the ends."""
        return _may_be_best(self._value, blocks)

    @staticmethod
    def _value(tp: Array, fp: Array, counts: SweepCounts) -> Floats:
        return np.asarray(tp / counts.positives - fp / counts.negatives)


@dataclass(frozen=True)
class BestF1:
    """The highest F1."""

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen."""
        if not counts.positives:
            return NOTHING
        return _best_position(
            self._value(counts.tp, counts.fp, counts),
            counts,
            lambda hit, false: Fraction(hit, false + counts.positives),
        )

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that may hold a better threshold than the ends."""
        return _may_be_best(self._value, blocks)

    @staticmethod
    def _value(tp: Array, fp: Array, counts: SweepCounts) -> Floats:
        # F1 = 2 TP/(TP + FP + P) grows with TP/(FP + P).
        return np.asarray(tp / (fp + counts.positives))


@dataclass(frozen=True)
class BestMcc:
    """The highest Matthews correlation coefficient."""

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        rows = counts.rows
        # Flagging no row, or all of them, leaves it undefined.
        flagged = counts.tp + counts.fp
        values = self._value(counts.tp, counts.fp, counts)
        values = np.where((flagged > 0) & (flagged < rows), values, -np.inf)

        def squared(hit: int, false: int) -> Fraction:
            flagged = hit + false
            lead = hit * counts.negatives - false * counts.positives
            return Fraction(lead * abs(lead), flagged * (rows - flagged))

        return _best_position(values, counts, squared) if np.isfinite(values).any() else NOTHING

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that may hold a better threshold than the ends."""
        flagged = blocks.high.tp + blocks.high.fp
        return _may_be_best(self._value, blocks, (flagged > 0) & (flagged < blocks.high.rows))

    @staticmethod
    def _value(tp: Array, fp: Array, counts: SweepCounts) -> Floats:
        """MCC over a constant; it grows with the one rate and falls with the other.

        Zero where it is undefined: no other threshold there has more.
        """
        share = (tp + fp) / counts.rows
        spread = np.sqrt(share * (1 - share))
        above = tp / counts.positives - fp / counts.negatives
        return np.divide(above, spread, out=np.zeros(len(tp)), where=spread > 0)


@dataclass(frozen=True)
class EqualError:
    """Where false positive rate and false negative rate are closest."""

    def position(self, counts: SweepCounts) -> int:
        """The position in a sweep that is chosen."""
        if not (counts.positives and counts.negatives):
            return NOTHING
        after = self._crossing(counts)
        around = [i for i in (after - 1, after) if i >= 0]
        best = min(around, key=lambda i: abs(_lead(counts, i)))
        lead = _lead(counts, best)
        return bisect_left(range(best), lead, key=lambda i: _lead(counts, i))

    def undecided(self, blocks: Blocks) -> Array:
        """The block in which false positives get more than misses."""
        if not (blocks.high.positives and blocks.high.negatives):
            return blocks.none
        return np.asarray((blocks.order == self._crossing(blocks.high)) & blocks.drawn)

    @staticmethod
    def _crossing(counts: SweepCounts) -> int:
        # The lead of the false positives grows as the threshold falls.
        return bisect_left(range(len(counts.tp)), 0, key=lambda i: _lead(counts, i))


def _lead(counts: SweepCounts, position: int) -> int:
    """How far the false positive rate is above the false negative rate, times both classes."""
    missed = counts.positives - int(counts.tp[position])
    return int(counts.fp[position]) * counts.positives - missed * counts.negatives


def candidates_of(wanted: Requirements) -> dict[str, tuple[Chooser, str]]:
    """The usual rules by name, and what each does in words."""
    rules: dict[str, tuple[Chooser, str]] = {
        "Youden": (Youden(), "the largest detection rate less false positive rate (Youden's J)"),
        "best F1": (BestF1(), "the highest F1"),
        "best MCC": (BestMcc(), "the highest Matthews correlation coefficient"),
        "equal error": (
            EqualError(),
            "where false positive rate and false negative rate are closest",
        ),
    }
    if wanted.cost_fp is not None and wanted.cost_fn is not None:
        cheapest = LowestCost(wanted.cost_fp, wanted.cost_fn, wanted.base_rate)
        rules["lowest cost"] = (ThresholdRule((), cheapest), "the lowest expected cost a row")
    return rules


def _may_be_best(
    value: Callable[[Array, Array, SweepCounts], Floats],
    blocks: Blocks,
    defined: Array | None = None,
) -> Array:
    """The blocks in which a value that TP raises and FP lowers may pass that of the best end.

    ``defined`` are the ends that have a value.
    """
    high, low = blocks.high, blocks.low
    if not (high.positives and high.negatives):
        return blocks.none
    ends, inside = value(high.tp, high.fp, high), blocks.mixed
    if defined is not None:
        ends, inside = np.where(defined, ends, -np.inf), inside | (blocks.drawn & ~defined)
    return np.asarray(inside & (value(high.tp, low.fp, high) >= ends.max() - _CLOSE))


def _best_position(values: Floats, counts: SweepCounts, exact: Any) -> int:
    """The first position with the largest value, which is exact where several are close."""
    near = np.flatnonzero(values >= values.max() - _CLOSE)
    return first_best(near, counts, lambda i: exact(int(counts.tp[i]), int(counts.fp[i])))
