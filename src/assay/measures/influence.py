"""By how much one more row would move a measure of scores.

The mean of the squares of these moves is the variance of the measure: with sampling weights, with
clusters, and for differences between models. Without those, :mod:`assay.measures.ranking` finds the
same from block sums, faster.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.tally import ScoreTally

Floats: TypeAlias = npt.NDArray[np.float64]

MAX_FPR = 0.1


class Influence(NamedTuple):
    """A value, and by how much a further positive or negative at each score would move it."""

    value: float
    positive: Floats
    negative: Floats

    def variance(self, tally: ScoreTally, *, unbiased: bool = False) -> float:
        """The variance when rows are independent, by its sandwich form.

        ``unbiased`` divides by one row less on each side, where rows have no sampling weights.
        """
        squares = tally.counts if tally.squares is None else tally.squares
        total = 0.0
        for side, moves in ((1, self.positive), (0, self.negative)):
            n = float(tally.counts[side].sum())
            spread = float((squares[side] * moves**2).sum())
            if unbiased and not tally.weighted:
                spread = spread * n / (n - 1) if n > 1 else math.nan
            total += spread
        return total


def auc_influence(tally: ScoreTally) -> Influence:
    """AUC: the share of negatives above a positive, and of positives below a negative."""
    q, p, negatives, positives = _sides(tally)
    of_positive = (negatives - np.cumsum(q) + q / 2) / negatives
    of_negative = (np.cumsum(p) - p / 2) / positives
    error = float((p * of_positive).sum()) / positives
    return Influence(
        1 - error, (error - of_positive) / positives, (error - of_negative) / negatives
    )


def ap_influence(tally: ScoreTally) -> Influence:
    """Average precision; see ``_precision_sums`` of the ranking."""
    q, p, _, positives = _sides(tally)
    # Summed from the highest score, where small weights must not drown in the total.
    above_p, above_q = (np.cumsum(side[::-1])[::-1] for side in (p, q))
    alerts = above_p + above_q
    shortfall = float((p * above_q / alerts).sum()) / positives
    gain = np.cumsum(p * above_q / alerts**2) - above_q / alerts + shortfall
    loss = np.cumsum(p * above_p / alerts**2)
    return Influence(1 - shortfall, gain / positives, -loss / positives)


def partial_influence(
    tally: ScoreTally, max_fpr: float = MAX_FPR, *, corrected: bool = True
) -> Influence:
    """The partial area, corrected or not; see ``_partial_area`` of the ranking."""
    q, p, negatives, positives = _sides(tally)
    above = negatives - np.cumsum(q)
    room = np.clip(max_fpr * negatives - above, 0, q)
    share = np.divide(room, q, out=(above < max_fpr * negatives).astype(float), where=q > 0)
    gained = share * (max_fpr - (above + room / 2) / negatives)
    area = float((p * gained).sum()) / positives
    passed = share * (np.cumsum(p * share) - p * share / 2) / positives
    mean = float((q * passed).sum()) / negatives
    of_positive, of_negative = (gained - area) / positives, (mean - passed) / negatives
    if not corrected:
        return Influence(area, of_positive, of_negative)
    value, stretch = correct_partial(area, max_fpr)
    return Influence(value, of_positive * stretch, of_negative * stretch)


def _sides(tally: ScoreTally) -> tuple[Floats, Floats, float, float]:
    q, p = tally.counts.astype(np.float64)
    return q, p, float(q.sum()), float(p.sum())


def correct_partial(area: float, max_fpr: float) -> tuple[float, float]:
    """McClish's rescaling of a partial area, and the factor by which it stretches."""
    least = max_fpr**2 / 2
    stretch = 1 / (2 * (max_fpr - least))
    return 0.5 + (area - least) * stretch, stretch
