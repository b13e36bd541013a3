"""How well scores rank: AUC, partial AUC, average precision, and how sure each of them is.

Score counts are passed over once, in fixed blocks of its distinct scores. Each block gives a few
sums that do not know where in the ranking the block stands; they are put in their place afterwards,
in exact arithmetic. So the sums do not depend on threads, and the AUC is a ratio of two integers.

Errors are counted rather than successes - negatives above a positive - since near an AUC of 1 the
spread of the successes would be lost in rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import ScoreCounts
from assay.counts.blocks import BLOCK, map_blocks
from assay.measures.roc_points import (
    MAX_FPR,
    Points,
    ap_influence,
    auc_influence,
    correct_partial,
    partial_influence,
)

Floats: TypeAlias = npt.NDArray[np.float64]
Array: TypeAlias = npt.NDArray[Any]

# Where no more than one score in so many has positives, those without are put together.
_SHARED = 4
# How often rows are dealt out in halves.
_SPLITS, _SEED = 4, 42


class Smooth(NamedTuple):
    """A value and the variance of its estimate; nan where it can't be told."""

    value: float
    variance: float


UNKNOWN = Smooth(math.nan, math.nan)


class _Block(NamedTuple):
    """Sums over one block of ascending scores.

    For the i-th score, ``u`` is twice the negatives above its positives and ``v`` twice the
    positives below its negatives, ties counted once, both less what lies outside of the block.
    """

    positives: int
    negatives: int
    pu: int
    puu: float
    qv: int
    qvv: float


class _PrecisionBlock(NamedTuple):
    """Sums over one block for average precision; see :func:`_precision_sums`."""

    errors: float
    gain: float
    loss: float
    a: float
    aa: float
    b: float
    bb: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """What score counts says about its ranking."""

    table: ScoreCounts
    positives: Any
    negatives: Any
    auc: Smooth
    average_precision: Smooth
    blocks: tuple[_Block, ...] = ()

    @cached_property
    def points(self) -> Points:
        """The points of its ROC curve."""
        return Points.of(self.table)

    @cached_property
    def halves(self) -> tuple[Points, ...]:
        """The points of halves of the rows, which are dealt out by chance, always alike."""
        generator = np.random.default_rng(_SEED)
        counts = self.table.counts.astype(np.int64)
        # The same halves when the classes change places and the scores are turned over.
        turned = counts[::-1, ::-1]
        upside_down = turned.tobytes() < counts.tobytes()
        halves = []
        for _ in range(_SPLITS):
            half = generator.binomial(turned if upside_down else counts, 0.5)
            half = half[::-1, ::-1] if upside_down else half
            for part in (half, counts - half):
                kept = part.any(axis=0)
                scores = self.table.scores[kept]
                halves.append(Points.of(ScoreCounts(self.table.labels, scores, part[:, kept])))
        return tuple(halves)

    def partial_auc(self, max_fpr: float = MAX_FPR, *, corrected: bool = True) -> Smooth:
        """The area up to a false positive rate, by default rescaled by McClish's correction."""
        if not (self.positives and self.negatives):
            return UNKNOWN
        if self.table.weighted:
            influence = partial_influence(self.table, max_fpr, corrected=corrected)
            return Smooth(influence.value, influence.variance(self.table))
        area, variance = _partial_area(self, max_fpr)
        if not corrected:
            return Smooth(area, variance)
        value, stretch = correct_partial(area, max_fpr)
        return Smooth(value, variance * stretch**2)


def rank(table: ScoreCounts) -> Ranking:
    """Pass over binary score counts; the second label is the positive."""
    negatives, positives = table.totals()
    if not (positives and negatives):
        ap = UNKNOWN
        if positives:
            ap = Smooth(1.0, math.nan)
        return Ranking(table, positives, negatives, UNKNOWN, ap)
    if table.weighted:
        return _rank_weighted(table, positives, negatives)
    starts = _starts(table)
    both = map_blocks(table.size, lambda: _worker(table, starts, positives, negatives))
    blocks = [block for block, _ in both]
    ap = _ap([sums for _, sums in both], blocks, positives)
    return Ranking(
        table, positives, negatives, _auc(blocks, positives, negatives), ap, tuple(blocks)
    )


def _worker(
    table: ScoreCounts, starts: list[tuple[int, int]], positives: int, negatives: int
) -> Callable[[int, int], tuple[_Block, _PrecisionBlock]]:
    integers = np.empty((6, BLOCK), np.int64)
    floats = np.empty((6, BLOCK))

    def work(i: int, j: int) -> tuple[_Block, _PrecisionBlock]:
        counted = _counted_block(table, i, j, integers)
        size = counted.shape[1]
        block = _sums(counted, integers[4:, :size], floats[:2, :size])
        below = starts[i // BLOCK]
        rest = positives - below[0], negatives - below[1]
        return block, _precision_sums(counted, rest, integers[4, :size], floats[:, :size])

    return work


def _counted_block(table: ScoreCounts, i: int, j: int, scratch: Array) -> Array:
    """Positives and negatives of some scores, and both added up from the first on.

    Neighbouring scores without a positive have the same positives below them, and no recall is
    reached there. So they are one: where positives are rare, little is left to be summed.
    """
    own = table.counts[:, i:j]
    held = np.flatnonzero(own[1] > 0)
    first = None if _SHARED * len(held) > j - i else _first_of_runs(held, j - i)
    counted = scratch[:4, : j - i if first is None else len(first)]
    if first is None:
        np.copyto(counted[:2], own[::-1], casting="unsafe")
    else:
        np.copyto(counted[0], own[1].take(first), casting="unsafe")
        np.add.reduceat(own[0], first, dtype=np.int64, out=counted[1])
    np.cumsum(counted[:2], axis=1, out=counted[2:])
    return counted


def _first_of_runs(held: Array, size: int) -> Array:
    """Where scores with positives stand, and where runs of scores without one begin."""
    begins = np.zeros(size + 1, bool)
    begins[0] = True
    begins[held] = True
    begins[held + 1] = True
    return np.flatnonzero(begins[:size])


# -- AUC and its DeLong variance -------------------------------------------------------------------


def _sums(counted: Array, scratch: Array, floats: Floats) -> _Block:
    """The sums of one block; see :class:`_Block`."""
    pos, neg, sum_pos, sum_neg = counted
    u, v = scratch
    square, weight = floats
    positives, negatives = int(sum_pos[-1]), int(sum_neg[-1])
    np.left_shift(sum_neg, 1, out=u)
    np.subtract(neg, u, out=u)
    np.left_shift(sum_pos, 1, out=v)
    np.subtract(v, pos, out=v)
    puu = _weighted_squares(u, pos, square, weight)
    qvv = _weighted_squares(v, neg, square, weight)
    if positives * negatives < 1 << 60:
        np.multiply(u, pos, out=u)
        np.multiply(v, neg, out=v)
        return _Block(positives, negatives, int(u.sum()), puu, int(v.sum()), qvv)
    pu = sum(a * b for a, b in zip(u.tolist(), pos.tolist(), strict=True))
    qv = sum(a * b for a, b in zip(v.tolist(), neg.tolist(), strict=True))
    return _Block(positives, negatives, pu, puu, qv, qvv)


def _weighted_squares(values: Array, weights: Array, square: Floats, weight: Floats) -> float:
    np.copyto(square, values, casting="unsafe")
    np.multiply(square, square, out=square)
    np.copyto(weight, weights, casting="unsafe")
    np.multiply(square, weight, out=square)
    return float(square.sum())


class _PlacedSums(NamedTuple):
    """Sums of many blocks, put in their place: doubled errors and their squares."""

    errors: int
    positive_squares: Fraction
    negative_squares: Fraction


def _place(blocks: list[_Block], negatives_above: int, positives_below: int) -> _PlacedSums:
    """Add up blocks, given what lies around them in the ranking."""
    errors, of_positives, of_negatives = 0, Fraction(0), Fraction(0)
    for block in blocks:
        shift = 2 * negatives_above
        errors += shift * block.positives + block.pu
        of_positives += Fraction(block.puu) + 2 * shift * block.pu + shift * shift * block.positives
        shift = 2 * positives_below
        of_negatives += Fraction(block.qvv) + 2 * shift * block.qv + shift * shift * block.negatives
        negatives_above -= block.negatives
        positives_below += block.positives
    return _PlacedSums(errors, of_positives, of_negatives)


def _auc(blocks: list[_Block], positives: int, negatives: int) -> Smooth:
    placed = _place(blocks, negatives, 0)
    pairs = 2 * positives * negatives
    value = (pairs - placed.errors) / pairs
    if positives < 2 or negatives < 2:
        return Smooth(value, math.nan)
    of_positives = placed.positive_squares - Fraction(placed.errors**2, positives)
    of_negatives = placed.negative_squares - Fraction(placed.errors**2, negatives)
    variance = of_positives / (4 * negatives**2 * (positives - 1) * positives) + of_negatives / (
        4 * positives**2 * (negatives - 1) * negatives
    )
    return Smooth(value, max(float(variance), 0.0))


# -- average precision -----------------------------------------------------------------------------


def _starts(table: ScoreCounts) -> list[tuple[int, int]]:
    """How many positives and negatives lie below each block."""

    def work(i: int, j: int) -> tuple[int, int]:
        negatives, positives = table.counts[:, i:j].sum(axis=1, dtype=np.int64).tolist()
        return positives, negatives

    starts = [(0, 0)]
    for positives, negatives in map_blocks(table.size, lambda: work):
        starts.append((starts[-1][0] + positives, starts[-1][1] + negatives))
    return starts


def _precision_sums(
    counted: Array, rest: tuple[int, int], spare: Array, floats: Floats
) -> _PrecisionBlock:
    """The sums of one block, given how many positives and negatives are not below it.

    With T and F the positives and negatives at or above a score, its precision falls short of 1 by
    e = F / (T + F). A further positive raises the precision at each score at or below its own by
    F / (T + F)^2, a further negative lowers it by T / (T + F)^2. The running sums of those, over
    positives, are the influence of a row on average precision: ``a`` (less e) for positives, ``b``
    for negatives.
    """
    p, q, above_p, above_q, a, b = floats
    for row, (out, above) in enumerate(((p, above_p), (q, above_q))):
        np.copyto(out, counted[row], casting="unsafe")
        # As integers: large counts would swallow small ones.
        np.subtract(rest[row], counted[row + 2], out=spare)
        np.copyto(above, spare, casting="unsafe")
        np.add(above, out, out=above)
    alerts = np.add(above_p, above_q, out=a)
    np.divide(above_q, alerts, out=above_q)
    np.divide(above_p, alerts, out=above_p)
    np.divide(p, alerts, out=alerts)
    np.multiply(alerts, above_p, out=b)
    np.cumsum(b, out=b)
    np.multiply(alerts, above_q, out=a)
    np.cumsum(a, out=a)
    gain, loss = float(a[-1]), float(b[-1])
    errors = float(np.multiply(p, above_q, out=above_p).sum())
    np.subtract(a, above_q, out=a)
    first_a = float(np.multiply(p, a, out=above_p).sum())
    second_a = float(np.multiply(above_p, a, out=above_p).sum())
    first_b = float(np.multiply(q, b, out=above_q).sum())
    second_b = float(np.multiply(above_q, b, out=above_q).sum())
    return _PrecisionBlock(errors, gain, loss, first_a, second_a, first_b, second_b)


def _ap(precision: list[_PrecisionBlock], blocks: list[_Block], positives: int) -> Smooth:
    shortfall = math.fsum(block.errors for block in precision) / positives
    spread: list[float] = []
    gain, loss = shortfall, 0.0
    for sums, counts in zip(precision, blocks, strict=True):
        spread.append(sums.aa + 2 * gain * sums.a + gain * gain * counts.positives)
        spread.append(sums.bb + 2 * loss * sums.b + loss * loss * counts.negatives)
        gain += sums.gain
        loss += sums.loss
    return Smooth(1 - shortfall, max(math.fsum(spread), 0.0) / positives**2)


# -- partial AUC -----------------------------------------------------------------------------------


def _partial_area(ranking: Ranking, max_fpr: float) -> Smooth:
    """The area under the ROC curve left of a false positive rate, and its variance.

    The area is the mean over positives of how far the false positive rate at their score stays
    below the limit. The score at which the limit is crossed is shared out in proportion.
    """
    positives, negatives = ranking.positives, ranking.negatives
    limit = Fraction(max_fpr)
    crossed, above = _crossing(ranking, limit * negatives)
    q, p = (int(count) for count in ranking.table.counts[:, crossed])
    inside = min(Fraction(q), limit * negatives - above)
    share = inside / q if q else Fraction(1)
    gained = share * (limit - (above + inside / 2) / negatives)
    blocks = _blocks_from(ranking, crossed + 1)
    placed = _place(blocks, above, 0)
    rest = sum(block.positives for block in blocks)
    area = (limit * rest - Fraction(placed.errors, 2 * negatives) + p * gained) / positives
    squares = (
        limit**2 * rest
        - limit * Fraction(placed.errors, negatives)
        + placed.positive_squares / (4 * negatives**2)
        + p * gained**2
    )
    of_positives = squares - positives * area**2
    # A negative counts by the positives that it passes inside of the limit.
    shift = 2 * p * share
    passed = p * share * share / 2
    first = (shift * above + placed.errors) / 2 + q * passed
    second = (shift**2 * above + 2 * shift * placed.errors + placed.negative_squares) / 4
    of_negatives = (second + q * passed**2 - first**2 / negatives) / positives**2
    variance = of_positives / positives**2 + of_negatives / negatives**2
    return Smooth(float(area), max(float(variance), 0.0))


def _crossing(ranking: Ranking, limit: Fraction) -> tuple[int, int]:
    """The lowest score with fewer negatives above it than the limit, and how many those are."""
    above = 0
    number = len(ranking.blocks) - 1
    while number and above + ranking.blocks[number].negatives < limit:
        above += ranking.blocks[number].negatives
        number -= 1
    start = number * BLOCK
    counts = ranking.table.counts[0, start : start + BLOCK].astype(np.int64)
    each = above + ranking.blocks[number].negatives - np.cumsum(counts)
    first = int(np.searchsorted(-each, -float(limit), side="right"))
    return start + first, int(each[first])


def _blocks_from(ranking: Ranking, first: int) -> list[_Block]:
    """The blocks of all scores from one on; the first may be a part of a block."""
    table = ranking.table
    number = -(-first // BLOCK)
    blocks = list(ranking.blocks[number:])
    stop = min(number * BLOCK, table.size)
    if first < stop:
        integers = np.empty((6, stop - first), np.int64)
        counted = _counted_block(table, first, stop, integers)
        size = counted.shape[1]
        blocks.insert(0, _sums(counted, integers[4:, :size], np.empty((2, size))))
    return blocks


# -- sampling weights ------------------------------------------------------------------------------


def _rank_weighted(table: ScoreCounts, positives: float, negatives: float) -> Ranking:
    auc, ap = auc_influence(table), ap_influence(table)
    return Ranking(
        table,
        positives,
        negatives,
        Smooth(auc.value, auc.variance(table)),
        Smooth(ap.value, ap.variance(table)),
    )
