"""How many rows show that few alarms are false where attacks are rare.

With a base rate p, FAR <= f where FPR <= f / (1 - f) * p / (1 - p) * DR. So positives bound the
detection rate from below and negatives the false positive rate from above. Both bounds share the
risk as they do where a threshold is chosen: a tenth for the detection rate, since the false
positive rate is what is hard to show. Or alerts of the place itself are labelled: then the share of
false ones is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assay.decisions.plan.rates import (
    bound,
    chance,
    errors_expected,
    first,
    rows_needed,
)
from assay.decisions.plan.result import Need
from assay.errors import InputError

POSITIVES = (30, 100, 300, 1000, 3000)
# How much of the risk goes to the bound on the detection rate.
ON_DETECTION = Decimal("0.1")
# Numbers of positives that are tried where the fewest rows in all are looked for.
_TRIED = tuple(round(10 * 1.25**i) for i in range(60))


@dataclass(frozen=True)
class FarGoal:
    """A false alarm rate at a base rate, what is risked, and the rates that are expected."""

    limit: Decimal
    base_rate: Decimal
    risk: Decimal
    expected_fpr: float | None
    expected_dr: float | None
    power: float

    @property
    def odds(self) -> Decimal:
        """What the false positive rate may be of the detection rate."""
        return self.limit / (1 - self.limit) * self.base_rate / (1 - self.base_rate)

    @property
    def expected(self) -> float | None:
        """The false alarm rate that the expected rates come to."""
        if self.expected_fpr is None or self.expected_dr is None:
            return None
        false = self.expected_fpr * float(1 - self.base_rate)
        return false / (false + self.expected_dr * float(self.base_rate))

    @property
    def part(self) -> float:
        """With which chance the positives are to succeed, so that all does with the power."""
        return self.power if self.expected_fpr is None else math.sqrt(self.power)

    def needs(self, errors: Sequence[int]) -> Iterator[Need]:
        """Positives and negatives together, then labelled alerts."""
        for positives in POSITIVES:
            yield from self.with_positives(positives, errors)
        for allowed in errors:
            alerts = rows_needed(self.limit, allowed, self.risk)
            likely = None if self.expected is None else chance(alerts, allowed, self.expected)
            yield Need(alerts=alerts, false_alarms=allowed, chance=likely)

    def with_positives(self, positives: int, errors: Sequence[int]) -> Iterator[Need]:
        """The negatives that are needed beside so many positives, for each number of errors."""
        shown = self._shown(positives)
        if shown is None:
            return
        misses, detected, limit = shown
        for allowed in errors:
            negatives = self._negatives(limit, allowed)
            yield Need(
                negatives=negatives,
                positives=positives,
                false_alarms=allowed,
                misses=misses,
                detection_rate=detected,
                false_positive_rate=float(limit),
                chance=self._chance(positives, misses, negatives, allowed),
            )

    def enough(self) -> Need | None:
        """The fewest rows in all that succeed with the power; None where nothing does."""
        best: Need | None = None
        for positives in _TRIED:
            if best is not None and positives > best.total:
                break
            found = self._least(positives)
            if found is not None and (best is None or found.total < best.total):
                best = found
        return best

    def _least(self, positives: int) -> Need | None:
        """Beside so many positives, the fewest negatives that succeed with the power."""
        shown = self._shown(positives)
        if shown is None or self.expected_fpr is None or self.expected_fpr >= shown[2]:
            return None
        misses, _, limit = shown

        def succeeds(errors: int) -> bool:
            likely = self._chance(positives, misses, self._negatives(limit, errors), errors)
            return likely is not None and likely >= self.power

        try:
            allowed = first(succeeds, 0)
        except InputError:  # more rows than anybody counts
            return None
        return next(self.with_positives(positives, (allowed,)))

    def _shown(self, positives: int) -> tuple[int, float, Decimal] | None:
        """Misses allowed, the detection rate they show, and the false positive rate it asks for."""
        misses = 0
        if self.expected_dr is not None:
            misses = errors_expected(positives, 1 - self.expected_dr, self.part)
        detected = 1 - bound(positives, misses, float(self.risk * ON_DETECTION))
        if detected <= 0:
            return None
        return misses, detected, min(self.odds * Decimal(detected), Decimal(1))

    def _negatives(self, limit: Decimal, errors: int) -> int:
        # Where even a detector that flags everything keeps the rate, negatives tell nothing.
        return 0 if limit >= 1 else rows_needed(limit, errors, self.risk * (1 - ON_DETECTION))

    def _chance(self, positives: int, misses: int, negatives: int, errors: int) -> float | None:
        if self.expected_fpr is None or self.expected_dr is None:
            return None
        caught = chance(positives, misses, 1 - self.expected_dr)
        return caught * chance(negatives, errors, self.expected_fpr)
