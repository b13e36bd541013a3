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
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.threshold.limits import Kept, Limit, family_from, from_, up_to
from assay.decisions.threshold.sweep import Counts, Family
from assay.decisions.threshold.wanted import Wanted
from assay.inference.binomial import most_allowed, tail

Array: TypeAlias = npt.NDArray[Any]

# How much of the risk of a FAR or a budget goes to the bound on the detection rate. The false
# positive rate is what is hard to show, so it has the rest.
ON_DETECTION = Fraction(1, 10)
# At most so many ranks of the positives are tested.
RANKS = 2000
# A part of the sequence starts where so many false alarms are allowed.
STARTS = (0, 4, 32)


@dataclass(frozen=True)
class FprPromised:
    """A false positive rate of at most ``limit``."""

    limit: Fraction
    risk: Fraction

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        most = most_allowed(counts.negatives, self.limit, self.risk)
        return Kept(0, -1 if most is None else up_to(counts.fp, most))


@dataclass(frozen=True)
class DrPromised:
    """A detection rate of at least ``limit``."""

    limit: Fraction
    risk: Fraction

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        return from_(counts, _least_detected(counts.positives, self.limit, self.risk))


@dataclass(frozen=True)
class FamilyPromised:
    """The same of one family."""

    limit: Fraction
    risk: Fraction
    family: Family

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        return family_from(
            counts, self.family, lambda size: _least_detected(size, self.limit, self.risk)
        )


@dataclass(frozen=True)
class FarPromised:
    """A false alarm rate of at most ``limit`` where a share ``base_rate`` are positives."""

    limit: Fraction
    base_rate: Fraction | None
    risk: Fraction

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it: ranks of the positives."""
        last = len(counts.tp) - 1
        positions = ranks(counts)
        allowed = self.allowed_fpr(counts, counts.tp[positions])
        positions, allowed = positions[allowed > 0], allowed[allowed > 0]
        risk = float(self.risk * (1 - ON_DETECTION))
        chance = np.where(allowed < 1, tail(counts.fp[positions], counts.negatives, allowed), 0.0)
        starts = _starts(counts.negatives, allowed, risk)
        return Kept(0, last, positions[_rejected(chance, starts, risk)])

    def allowed_fpr(self, counts: Counts, tp: Array) -> Array:
        """The false positive rate that is low enough for the detection rate that is shown."""
        shown = tp / counts.positives - margin(counts.positives, self.risk)
        return np.minimum(float(self.odds(counts)) * shown, 1.0)

    def odds(self, counts: Counts) -> Fraction:
        """What the false positive rate may be of the detection rate."""
        rate = self.base_rate or Fraction(counts.positives, counts.rows)
        return self.limit / (1 - self.limit) * rate / (1 - rate)


@dataclass(frozen=True)
class AlertsPromised:
    """At most a share ``limit`` of rows flagged, where a share ``base_rate`` are positives."""

    limit: Fraction
    base_rate: Fraction | None
    risk: Fraction

    def kept(self, counts: Counts) -> Kept:
        """The thresholds that keep it."""
        last = len(counts.tp) - 1
        if self.limit >= 1:
            return Kept(0, last)
        if self.base_rate is None:
            most = most_allowed(counts.rows, self.limit, self.risk)
            return Kept(0, -1 if most is None else up_to(counts.tp + counts.fp, most))
        positions = ranks(counts)
        left = self.left_for_negatives(counts, counts.tp[positions])
        inside = np.clip(left, 0, 1)
        chance = tail(counts.fp[positions], counts.negatives, inside)
        passed = (left >= 1) | ((left > 0) & (chance <= float(self.risk * (1 - ON_DETECTION))))
        until = len(positions) if passed.all() else int(passed.argmin())
        return Kept(0, int(positions[until - 1]) if until else -1)

    def left_for_negatives(self, counts: Counts, tp: Array) -> Array:
        """The false positive rate that the budget leaves beside the attacks that are detected."""
        assert self.base_rate is not None  # noqa: S101 - only asked where it is given
        rate = float(self.base_rate)
        most = np.minimum(tp / counts.positives + margin(counts.positives, self.risk), 1.0)
        return (float(self.limit) - rate * most) / (1 - rate)


def margin(positives: int, risk: Fraction) -> float:
    """How far the detection rate may be from what is seen, at any threshold."""
    return math.sqrt(-math.log(float(risk * ON_DETECTION)) / (2 * positives))


def promises_of(wanted: Wanted, families: tuple[Family, ...]) -> tuple[Limit, ...]:
    """The constraints for new rows; they share the error."""
    risk = wanted.risk
    found: list[Limit] = []
    if wanted.max_far is not None:
        found.append(FarPromised(wanted.max_far, wanted.base_rate, risk))
    if wanted.max_fpr is not None:
        found.append(FprPromised(wanted.max_fpr, risk))
    if wanted.budget is not None:
        found.append(AlertsPromised(wanted.budget, wanted.base_rate, risk))
    if wanted.min_dr is not None:
        found.append(DrPromised(wanted.min_dr, risk))
    by_name = {family.name: family for family in families}
    found += [FamilyPromised(v, risk, by_name[name]) for name, v in wanted.families.items()]
    return tuple(found)


def _least_detected(positives: int, limit: Fraction, risk: Fraction) -> int:
    """How many positives must be flagged; more than there are where none are enough."""
    misses = most_allowed(positives, 1 - limit, risk)
    return positives + 1 if misses is None else positives - misses


def ranks(counts: Counts) -> Array:
    """Positions of scores at ranks of the positives, which only their number fixes."""
    steps = min(counts.positives, RANKS)
    spread = np.ceil(np.linspace(1, counts.positives, steps)).astype(np.int64)
    return np.unique(np.searchsorted(counts.tp, spread))


def _starts(negatives: int, allowed: Array, risk: float) -> list[int]:
    """Where the parts of the sequence begin; no score of a negative has a say in it."""

    def first(errors: int, level: float) -> int | None:
        def enough(rate: float) -> bool:
            return float(tail(errors, negatives, rate)) <= level

        # What is allowed grows from rank to rank, and the tail falls with it.
        place = bisect_left(allowed, 1, key=enough)
        return place if place < len(allowed) else None

    found = [first(errors, risk / len(STARTS)) for errors in STARTS]
    if found[1] is None:
        # So few rows allow next to no false alarm: one sequence with all of the risk.
        found = [first(0, risk)]
    return sorted({start for start in found if start is not None})


def _rejected(chance: Array, starts: list[int], risk: float) -> Array:
    """Which hypotheses are rejected, part by part."""
    rejected = np.zeros(len(chance), bool)
    handed_on = 0.0
    for start, end in pairwise([*starts, len(chance)]):
        level = risk / len(starts) + handed_on
        passed = chance[start:end] <= level
        until = len(passed) if passed.all() else int(passed.argmin())
        rejected[start : start + until] = True
        handed_on = level if until == len(passed) else 0.0
    return rejected
