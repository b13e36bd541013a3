"""Between which values a measure lies where scores are kept as a grid.

Inside a cell the order of the rows is not known. A measure of the ranking is bounded by the two
orders that part the classes of every cell: any other one lies between them in the ROC plane, and
the edges of cells are points of each. A measure of the scores themselves is bounded by the smallest
and the largest score of each cell. Bounds are rigorous up to rounding, for which they leave room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np

from assay.measures.bins import BinRanges, Ends
from assay.measures.influence import ap_influence
from assay.measures.ranking import Ranking
from assay.measures.scores import Binned, ClassAverage, MeanLoss, OverPairs, Ranked
from assay.tally import ScoreTally

# What measures are promised to.
ROUNDING = 1e-12
# From here on the integral of precision is as good as the sum, and loses no digits.
_MANY = 256.0


def bound_of(declared: Ranked | MeanLoss | Binned, tally: ScoreTally) -> Ends:
    """The bounds of a measure of one binary score tally."""
    match declared:
        case MeanLoss():
            ends = _of_loss(declared, tally)
        case Binned():
            ends = declared.bound(BinRanges.of(tally))
        case Ranked(bound=None):
            ends = _of_orders(declared.value, tally)
        case Ranked(bound=bound):
            assert bound is not None  # noqa: S101 - the case before
            ends = bound(tally)
    return _rounded(ends)


def bound_of_average(declared: ClassAverage, rankings: Sequence[Ranking]) -> Ends:
    """The bounds of an average over classes."""
    shares = declared.shares(np.array([float(ranking.positives) for ranking in rankings]))
    return _mean(
        [(share, bound_of(declared.ranked, rankings[at].tally)) for at, share in shares.items()]
    )


def bound_over_pairs(declared: OverPairs, tallies: Sequence[ScoreTally]) -> Ends:
    """The bounds of a mean over ordered pairs of classes."""
    pairs = list(permutations(range(len(tallies)), 2))
    return _mean(
        [(1 / len(pairs), bound_of(declared.ranked, tallies[i].pair(j, i))) for i, j in pairs]
    )


def _mean(parts: Sequence[tuple[float, Ends]]) -> Ends:
    low, high = (math.fsum(weight * ends[side] for weight, ends in parts) for side in (0, 1))
    return low, high


def _rounded(ends: Ends) -> Ends:
    low, high = ends
    return low - ROUNDING * max(abs(low), 1.0), high + ROUNDING * max(abs(high), 1.0)


# -- the order inside a cell -----------------------------------------------------------------------


def _of_orders(value: Callable[[ScoreTally], float], tally: ScoreTally) -> Ends:
    values = [value(tally), *(value(tally.apart(positives_above=up)) for up in (True, False))]
    return min(values), max(values)


def of_precision(tally: ScoreTally) -> Ends:
    """The bounds of average precision, which rises where positives are tied.

    At best the positives of a cell are tied above its negatives. At worst they come one by one
    below them: with T positives and F negatives before, p of them add up to the sum over k of
    (T + k) / (T + k + F), which is p - F (psi(T + p + F + 1) - psi(T + F + 1)). Where rows have
    weights they may come in any small steps, as in an integral.
    """
    best = ap_influence(tally.apart(positives_above=True)).value
    return _least_precision(tally), best


def _least_precision(tally: ScoreTally) -> float:
    from scipy.special import digamma

    negatives, positives = (side.astype(np.float64) for side in tally.counts[:, ::-1])
    passed = np.cumsum(negatives)
    before = np.cumsum(positives) - positives + passed
    total = float(positives.sum())
    held = (positives > 0) & (passed > 0)
    tied = tally.tied()[::-1][held]
    positives, passed, before = positives[held], passed[held], before[held]
    lost = passed * np.log1p(positives / (before if tally.weighted else before + 0.5))
    few = (before + positives < _MANY) & (not tally.weighted)
    steps = digamma(before[few] + positives[few] + 1) - digamma(before[few] + 1)
    lost[few] = passed[few] * steps
    lost[tied] = (passed * positives / (before + positives))[tied]
    return 1 - float(lost.sum()) / total


# -- the scores of a cell --------------------------------------------------------------------------


def _of_loss(declared: MeanLoss, tally: ScoreTally) -> Ends:
    """Negatives lose more the higher their score is, positives less."""
    total = float(tally.counts.sum())
    low, high = tally.ends()
    negatives, positives = tally.counts
    found = [
        float((declared.loss(of_negatives, 0) * negatives).sum())
        + float((declared.loss(of_positives, 1) * positives).sum())
        for of_negatives, of_positives in ((low, high), (high, low))
    ]
    return found[0] / total, found[1] / total
