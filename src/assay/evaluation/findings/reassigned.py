"""Labels that look exchanged: a permutation under which what was said fits the truth better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.evaluation.words import name, some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.tally import Resolved

Floats: TypeAlias = npt.NDArray[np.float64]

# Two classes that a weak model takes for each other gain less than this; exchanged ones far more.
LEAST_GAIN = 0.2
# How seldom chance may show a permutation that passes, whatever the number of classes.
RARE = 0.01


class Reassigned(NamedTuple):
    """Which label goes by which other one, and the shares of all rows that fit before and after."""

    moves: dict[int, int]
    before: float
    after: float

    def text(self, labels: Sequence[str]) -> str:
        """The moves in words.

        >>> Reassigned({0: 1, 1: 0}, 0.1, 0.9).text(["dos", "probe"])
        "'dos' goes by 'probe' and 'probe' by 'dos'"
        """
        pairs = [(name(labels[i]), name(labels[j])) for i, j in self.moves.items()]
        first, *rest = [f"{true} goes by {said}" for true, said in pairs]
        return some([first, *(part.replace(" goes by ", " by ", 1) for part in rest)])


def reassigned(shares: Floats, tally: Resolved) -> Reassigned | None:
    """The permutation of labels that fits much better than the one given; None without one.

    ``shares[i, j]`` is how much of the rows of label i goes to label j: decisions or probabilities.
    Of the best permutation only those cycles count in which no label loses. The gain has to be
    large for labels and for rows, and beyond what the luckiest of all permutations would reach by
    chance (Hoeffding's bound).
    """
    own = np.diagonal(shares)
    amounts = np.array(tally.confusion.rows, np.float64)
    # Two labels at least have to gain; this spares most evaluations the search.
    if (shares.max(axis=1) - own).sum() <= 2 * LEAST_GAIN:
        return None
    from scipy.optimize import linear_sum_assignment

    permuted = linear_sum_assignment(shares, maximize=True)[1].tolist()
    gains = shares[np.arange(len(own)), permuted] - own
    moved = [i for cycle in _cycles(permuted) if (gains[cycle] >= 0).all() for i in cycle]
    held = [i for i in sorted(moved) if amounts[i] > 0]
    if len(held) < 2 or gains[held].mean() <= LEAST_GAIN:
        return None
    gain = float((amounts[held] * gains[held]).sum() / amounts[held].sum())
    chances = math.lgamma(len(own) + 1) - math.log(RARE)
    if gain <= LEAST_GAIN or _effective(tally, held) * gain**2 / 2 <= chances:
        return None
    before = float((amounts * own).sum() / amounts.sum())
    after = before + gain * float(amounts[held].sum() / amounts.sum())
    return Reassigned({i: permuted[i] for i in held}, before, after)


def _cycles(permuted: Sequence[int]) -> list[list[int]]:
    """The cycles of a permutation, without the labels that stay."""
    left = {i for i, j in enumerate(permuted) if i != j}
    found = []
    while left:
        cycle = [min(left)]
        while permuted[cycle[-1]] != cycle[0]:
            cycle.append(permuted[cycle[-1]])
        left -= set(cycle)
        found.append(cycle)
    return found


def _effective(tally: Resolved, labels: list[int]) -> float:
    """How many independent rows of equal weight the rows of some labels are worth."""
    if tally.clusters is not None:
        sizes = tally.clusters.cells[:, labels].sum(axis=(1, 2)).astype(np.float64)
        return float(sizes.sum() ** 2 / np.square(sizes).sum())
    total = float(sum(tally.confusion.rows[i] for i in labels))
    if tally.confusion.squares is None:
        return total
    return total**2 / float(sum(sum(tally.confusion.squares[i]) for i in labels))
