r"""Constraints promised for new rows: thresholds fixed by counts before the scores are seen.

Rows are independent draws, positives of one distribution and negatives of another; a row is flagged
where score >= threshold. Each constraint here fails with a chance of at most its ``risk``, whatever
the distributions are, with ties and without.

**False positive rate <= x.** With N negatives let k be the largest integer for which
P(Bin(N, x) <= k) <= risk, and v the (k+1)-th largest negative score. Every threshold above v keeps
the rate. For let G(u) be the chance that a negative scores above u, and q the smallest u with
G(u) <= x. A threshold above v breaks the rate only if G(v) > x, that is v < q, so that at most k
negatives score q or more. Each does so with a chance of at least x, since G > x left of q. So this
happens with a chance of at most P(Bin(N, x) <= k) <= risk. Which of the thresholds above v is taken
may depend on anything. A tie at v puts the threshold higher, never lower.

**Detection rate >= d.** The mirror image: with P positives and the largest k for which
P(Bin(P, 1 - d) <= k) <= risk, every threshold up to the (k+1)-th smallest positive score keeps the
rate: at or below that score at most k positives are missed. It breaks only if the score lies above
the largest u at which positives below u are no more than a share 1 - d; then at most k positives
score u or less, and each does so with a chance of at least 1 - d.

**Alerts <= share of all rows** at the mix of the rows themselves: as for the false positive rate,
with all rows in place of the negatives.

**FAR <= f at a base rate b** is FPR <= c * DR with c = f/(1 - f) * b/(1 - b). Two steps:

1. A tenth of the risk goes to the positives. By the inequality of Dvoretzky, Kiefer and Wolfowitz
   with Massart's constant, DR(t) >= TP(t)/P - sqrt(ln(1/risk)/(2P)) at all thresholds t at once.
2. The rest goes to the negatives, which are independent of the positives. Taking the positives as
   given, thresholds at ranks of the positives are fixed, and so is x(t), c times the bound of step
   1. So at each of them "FPR(t) > x(t)" is a plain hypothesis, rejected where
   P(Bin(N, x(t)) <= FP(t)) is at most the level. They are tested from high to low thresholds and
   testing stops at the first that is not rejected. That needs no correction for their number: a
   wrong rejection has to reject the first true hypothesis of the sequence. Where the rows allow
   some false alarms, the sequence is cut in up to three parts that share the risk: each starts
   anew, and one that was passed as a whole hands its risk on (Wiens and Dmitrienko 2005). So a
   single negative among the highest scores does not end it all. The sum of the levels at which the
   first true hypothesis of each part can be tested never exceeds the risk.

All rejected thresholds keep the FAR together with a chance of at least 1 - risk, so any of them may
be taken.

**Alerts at a base rate** likewise, with the upper bound of DR, and x(t) the FPR that is left.
Alerts only grow as the threshold falls, so every threshold above one that passes keeps the budget
too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.threshold.constraints import (
    KeptAbove,
    KeptBelow,
    KeptPositions,
    Look,
    Requirements,
    from_,
    up_to,
)
from assay.v02.inference.significance import most_allowed, shows_each
from assay.v02.inference.threshold_rules import Blocks, SweepCounts

Array: TypeAlias = npt.NDArray[Any]

# How much of the risk of a FAR or a budget goes to the bound on the detection rate. The false
# positive rate is what is hard to show, so it has the rest.
ON_DETECTION = Fraction(1, 10)
# At most so many ranks of the positives are tested.
RANKS = 2000
# A part of the sequence starts where so many false alarms are allowed.
STARTS = (0, 4, 32)


@dataclass(frozen=True)
class FprPromised(KeptAbove):
    """A false positive rate of at most ``limit``."""

    limit: Fraction
    risk: Fraction

    def last(self, counts: SweepCounts) -> int:
        """The last position that keeps it."""
        most = most_allowed(counts.negatives, self.limit, self.risk)
        return -1 if most is None else up_to(counts.fp, most)


@dataclass(frozen=True)
class DrPromised(KeptBelow):
    """A detection rate of at least ``limit``."""

    limit: Fraction
    risk: Fraction

    def first(self, counts: SweepCounts) -> int:
        """The first position that keeps it."""
        return from_(counts.tp, _least_detected(counts.positives, self.limit, self.risk))


@dataclass(frozen=True)
class FamilyPromised(KeptBelow):
    """The same of one family."""

    limit: Fraction
    risk: Fraction
    family: str

    def first(self, counts: SweepCounts) -> int:
        """The first position that keeps it."""
        hits = counts.kind(self.family)
        return from_(hits.flagged, _least_detected(hits.size, self.limit, self.risk))


@dataclass(frozen=True)
class FarPromised:
    """A false alarm rate of at most ``limit`` where a share ``base_rate`` are positives."""

    limit: Fraction
    base_rate: Fraction | None
    risk: Fraction

    def kept(self, counts: SweepCounts) -> KeptPositions:
        """The thresholds that keep it: ranks of the positives."""
        ranked = RankBlocks.of(Blocks(counts, counts))
        rejected, _ = self._rejected(ranked, counts)
        return KeptPositions(0, len(counts.tp) - 1, _distinct(ranked.block[rejected]))

    def look(self, blocks: Blocks) -> Look:
        """Ranks that may be rejected or not, or begin a part of the sequence, have to be seen."""
        ranked = RankBlocks.of(blocks)
        rejected, unclear = self._rejected(ranked, blocks.high)
        undecided, possible = blocks.none, blocks.none
        undecided[ranked.block[unclear]] = True
        if not unclear.any():
            possible[ranked.block[rejected]] = True
        kept = KeptPositions(0, len(possible) - 1, np.flatnonzero(possible))
        return Look(kept, possible, undecided)

    def _rejected(self, ranked: RankBlocks, counts: SweepCounts) -> tuple[Array, Array]:
        """Ranks that are rejected for sure, and those that have to be seen to go on."""
        rejected, unclear = np.zeros((2, len(ranked.block)), bool)
        least, most = (self.allowed_fpr(counts, tp) for tp in (ranked.least_tp, ranked.most_tp))
        starts = _starts(counts.negatives, most, least, self._risk)
        for early, late in starts:
            unclear[early:late] = True
        if unclear.any():
            return rejected, unclear
        handed_on = 0.0
        for start, end in pairwise([*(early for early, _ in starts), len(most)]):
            level = self._risk / len(starts) + handed_on
            part = slice(start, end)
            passed = shows_each(ranked.most_fp[part], counts.negatives, least[part], level)
            until = start + _length(passed)
            if until < end and ranked.is_unclear(until):
                # The first that does not pass for sure may still pass.
                fp, rate = ranked.least_fp[until:end], most[until:end]
                until += _length(shows_each(fp, counts.negatives, rate, level))
            unclear[start:until] = ~passed[: until - start]
            if unclear.any():
                break
            rejected[start:until] = True
            handed_on = level if until == end else 0.0
        return rejected, unclear

    @property
    def _risk(self) -> float:
        return float(self.risk * (1 - ON_DETECTION))

    def allowed_fpr(self, counts: SweepCounts, tp: Array) -> Array:
        """The false positive rate that is low enough for the detection rate that is shown."""
        shown = tp / counts.positives - margin(counts.positives, self.risk)
        return np.minimum(float(self.odds(counts)) * shown, 1.0)

    def odds(self, counts: SweepCounts) -> Fraction:
        """What the false positive rate may be of the detection rate."""
        rate = self.base_rate or Fraction(counts.positives, counts.rows)
        return self.limit / (1 - self.limit) * rate / (1 - rate)


@dataclass(frozen=True)
class AlertsPromised(KeptAbove):
    """At most a share ``limit`` of rows flagged, where a share ``base_rate`` are positives."""

    limit: Fraction
    base_rate: Fraction | None
    risk: Fraction

    def last(self, counts: SweepCounts) -> int:
        """The last position that keeps it."""
        if self.limit >= 1:
            return len(counts.tp) - 1
        if self.base_rate is None:
            most = most_allowed(counts.rows, self.limit, self.risk)
            return -1 if most is None else up_to(counts.tp + counts.fp, most)
        positions = ranks(counts)
        until = _length(
            self._passed(counts, counts.tp[positions], counts.fp[positions], self.base_rate)
        )
        return int(positions[until - 1]) if until else -1

    def look(self, blocks: Blocks) -> Look:
        """It ends to be kept at a rank, or without a base rate in a block after the last end."""
        if self.limit >= 1 or self.base_rate is None:
            return super().look(blocks)
        ranked, undecided, order = RankBlocks.of(blocks), blocks.none, blocks.order
        until = _length(self._passed(blocks.high, ranked.least_tp, ranked.least_fp, self.base_rate))
        passed = self._passed(
            blocks.high, ranked.most_tp[:until], ranked.most_fp[:until], self.base_rate
        )
        undecided[ranked.block[:until][~passed]] = True
        if undecided.any():
            return Look(KeptPositions(0, -1), blocks.none, undecided)
        last = int(ranked.block[until - 1]) if until else -1
        return Look(KeptPositions(0, last), order <= last, (order == last) & blocks.drawn)

    def _passed(self, counts: SweepCounts, tp: Array, fp: Array, base_rate: Fraction) -> Array:
        left = self.left_for_negatives(counts, tp, base_rate)
        return shows_each(fp, counts.negatives, left, float(self.risk * (1 - ON_DETECTION)))

    def left_for_negatives(self, counts: SweepCounts, tp: Array, base_rate: Fraction) -> Array:
        """The false positive rate that the budget leaves beside the attacks that are detected."""
        rate = float(base_rate)
        most = np.minimum(tp / counts.positives + margin(counts.positives, self.risk), 1.0)
        return (float(self.limit) - rate * most) / (1 - rate)


def margin(positives: int, risk: Fraction) -> float:
    """How far the detection rate may be from what is seen, at any threshold."""
    return math.sqrt(-math.log(float(risk * ON_DETECTION)) / (2 * positives))


Promise: TypeAlias = FprPromised | DrPromised | FamilyPromised | FarPromised | AlertsPromised


def promises_of(wanted: Requirements) -> tuple[Promise, ...]:
    """The constraints for new rows; they share the error."""
    risk = wanted.risk
    promises: list[Promise] = []
    if wanted.max_far is not None:
        promises.append(FarPromised(wanted.max_far, wanted.base_rate, risk))
    if wanted.max_fpr is not None:
        promises.append(FprPromised(wanted.max_fpr, risk))
    if wanted.budget is not None:
        promises.append(AlertsPromised(wanted.budget, wanted.base_rate, risk))
    if wanted.min_dr is not None:
        promises.append(DrPromised(wanted.min_dr, risk))
    promises += [FamilyPromised(limit, risk, name) for name, limit in wanted.families.items()]
    return tuple(promises)


def _least_detected(positives: int, limit: Fraction, risk: Fraction) -> int:
    """How many positives must be flagged; more than there are where none are enough."""
    misses = most_allowed(positives, 1 - limit, risk)
    return positives + 1 if misses is None else positives - misses


# -- ranks of the positives ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RankBlocks:
    """In which block each rank lies, and the least and the most counts that it may have there."""

    block: Array
    least_tp: Array
    most_tp: Array
    least_fp: Array
    most_fp: Array

    @classmethod
    def of(cls, blocks: Blocks) -> RankBlocks:
        """The ranks of the positives, which only their number fixes."""
        high, low = blocks.high, blocks.low
        spread = _spread(high.positives)
        block = np.searchsorted(high.tp, spread)
        least_tp = np.maximum(spread, low.tp[block])
        return cls(block, least_tp, high.tp[block], low.fp[block], high.fp[block])

    def is_unclear(self, rank: int) -> bool:
        """Whether the counts of a rank are not known yet."""
        least = self.least_tp[rank], self.least_fp[rank]
        return least != (self.most_tp[rank], self.most_fp[rank])


@lru_cache
def _spread(positives: int) -> Array:
    return np.ceil(np.linspace(1, positives, min(positives, RANKS))).astype(np.int64)


def ranks(counts: SweepCounts) -> Array:
    """Positions of scores at ranks of the positives."""
    return _distinct(RankBlocks.of(Blocks(counts, counts)).block)


def _distinct(rising: Array) -> Array:
    return rising[np.diff(rising, prepend=-1) > 0]


@dataclass(frozen=True)
class EveryRank:
    """No choice, but a look at each rank of the positives."""

    def position(self, counts: SweepCounts) -> int:
        """The last rank."""
        return int(ranks(counts)[-1])

    def undecided(self, blocks: Blocks) -> Array:
        """The blocks that hold ranks."""
        blocks_of_ranks = blocks.none
        blocks_of_ranks[RankBlocks.of(blocks).block] = True
        return blocks_of_ranks & blocks.drawn


def _starts(negatives: int, most: Array, least: Array, risk: float) -> list[tuple[int, int]]:
    """Where the parts of the sequence begin; no score of a negative has a say in it.

    Each as the first rank that may have enough allowed, and the first that surely has.
    """

    def first(rate: float) -> tuple[int, int]:
        # What is allowed grows from rank to rank.
        return int(np.searchsorted(most, rate)), int(np.searchsorted(least, rate))

    starts = [first(rate) for rate in _shown_rate(negatives, STARTS, risk / len(STARTS))]
    if min(starts[1]) == len(most):
        # So few rows allow next to no false alarm: one sequence with all of the risk.
        starts = [first(rate) for rate in _shown_rate(negatives, STARTS[:1], risk)]
    return sorted({start for start in starts if min(start) < len(most)})


@lru_cache(maxsize=4096)
def _shown_rate(negatives: int, errors: tuple[int, ...], risk: float) -> tuple[float, ...]:
    """The rate that so few errors show, each; infinite where there are no more rows than errors."""
    from scipy.special import betainccinv

    errors_possible = np.array([error for error in errors if error < negatives])
    rates = betainccinv(errors_possible + 1, negatives - errors_possible, risk).tolist()
    return (*rates, *[math.inf] * (len(errors) - len(rates)))


def _length(passed: Array) -> int:
    """How many pass before the first that does not."""
    return len(passed) if passed.all() else int(passed.argmin())
