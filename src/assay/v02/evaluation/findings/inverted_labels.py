"""E001: what was said fits the truth when it is turned over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.findings.nothing_learned import against_chance
from assay.v02.evaluation.wording import name, some
from assay.v02.inference.significance import normal
from assay.v02.measures import ACCURACY, BALANCED_ACCURACY
from assay.v02.number_text import rate, rate_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.tally import Resolved

# So many standard errors below chance.
_SURE = 3.3
Floats: TypeAlias = npt.NDArray[np.float64]

# Two classes that a weak model takes for each other gain less than this; exchanged ones far more.
LEAST_GAIN = 0.2
# How seldom chance may show a permutation that passes, whatever the number of classes.
RARE = 0.01


def look(evaluation: Evaluation) -> str | None:
    """An AUC whose interval lies below 0.5, or for decisions informedness below 0.

    For more than two classes, a permutation of the labels that raises accuracy by much more than
    chance could.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=8, fp=185, fn=92, tn=15, labels=["normal", "attack"])
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    Informedness is -0.845 [-0.898, -0.767], below 0: decisions are worse than chance. Turned
    over, accuracy would go from 0.0767 to 0.923 and balanced accuracy from 0.0775 to 0.922:
    check which label is positive.
    """
    if evaluation.positive is None:
        return _exchanged(evaluation)
    negative, positive = (name(label) for label in evaluation.labels)
    for comparison in against_chance(evaluation):
        if comparison.below and comparison.measure == "AUC":
            return (
                f"The AUC is {rate_interval(comparison.estimate)}, below 0.5: {negative} scores "
                f"higher than {positive}. Turned round it would be "
                f"{rate(1 - comparison.estimate)}: check which label is positive, and that a "
                f"higher score means more suspicious."
            )
        if comparison.below:
            accuracy, balanced = evaluation[ACCURACY], evaluation[BALANCED_ACCURACY]
            return (
                f"Informedness is {rate_interval(comparison.estimate)}, below 0: decisions are "
                f"worse than chance. Turned over, accuracy would go from {rate(accuracy)} to "
                f"{rate(1 - accuracy)} and balanced accuracy from {rate(balanced)} to "
                f"{rate(1 - balanced)}: check which label is positive."
            )
    return None


def _exchanged(evaluation: Evaluation) -> str | None:
    cells = np.array(evaluation.confusion.cells, np.float64)
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    exchange = reassigned(shares, evaluation.tally)
    if exchange is None:
        return None
    return (
        f"Labels look exchanged: {exchange.text(evaluation.labels)}. Put right, accuracy would "
        f"rise from {rate(exchange.before)} to {rate(exchange.after)}: check the order of the "
        f"classes."
    )


def sure(evaluation: Evaluation) -> bool:
    """Whether fewer than one in two thousand models that know nothing would look like it."""
    if evaluation.positive is None:
        # Chance is ruled out already where another order of the classes is found.
        return True
    comparison = next(each for each in against_chance(evaluation) if each.below)
    away = comparison.chance - float(comparison.estimate)
    reach = comparison.estimate.high - float(comparison.estimate)
    errors = normal(evaluation.level) * away / reach if reach > 0 else 0.0
    confusion = evaluation.tally.confusion
    if comparison.measure == "AUC" and not confusion.weighted and evaluation.tally.clusters is None:
        # The spread of the AUC where scores know nothing, which holds for few rows too.
        negatives, positives = confusion.rows
        spread = math.sqrt((negatives + positives + 1) / (12 * negatives * positives))
        errors = away / spread
    return bool(errors > _SURE)


class Reassignment(NamedTuple):
    """Which label goes by which other one, and the shares of all rows that fit before and after."""

    moves: dict[int, int]
    before: float
    after: float

    def text(self, labels: Sequence[str]) -> str:
        """The moves in words.

        >>> Reassignment({0: 1, 1: 0}, 0.1, 0.9).text(["dos", "probe"])
        "'dos' goes by 'probe' and 'probe' by 'dos'"
        """
        pairs = [(name(labels[i]), name(labels[j])) for i, j in self.moves.items()]
        first, *rest = [f"{true} goes by {said}" for true, said in pairs]
        return some([first, *(part.replace(" goes by ", " by ", 1) for part in rest)])


def reassigned(shares: Floats, tally: Resolved) -> Reassignment | None:
    """The permutation of labels that fits much better than the one given; None without one.

    ``shares[i, j]`` is how much of the rows of label i goes to label j: decisions or probabilities.
    Of the best permutation only those cycles count in which no label loses. The gain has to be
    large for labels and for rows, and beyond what the luckiest of all permutations would reach by
    chance (Hoeffding's bound).
    """
    diagonal = np.diagonal(shares)
    amounts = np.array(tally.confusion.rows, np.float64)
    # Two labels at least have to gain; this spares most evaluations the search.
    if (shares.max(axis=1) - diagonal).sum() <= 2 * LEAST_GAIN:
        return None
    from scipy.optimize import linear_sum_assignment

    permuted = linear_sum_assignment(shares, maximize=True)[1].tolist()
    gains = shares[np.arange(len(diagonal)), permuted] - diagonal
    cycling = [i for cycle in _cycles(permuted) if (gains[cycle] >= 0).all() for i in cycle]
    labels = [i for i in sorted(cycling) if amounts[i] > 0]
    if len(labels) < 2 or gains[labels].mean() <= LEAST_GAIN:
        return None
    gain = float((amounts[labels] * gains[labels]).sum() / amounts[labels].sum())
    chances = math.lgamma(len(diagonal) + 1) - math.log(RARE)
    if gain <= LEAST_GAIN or _effective(tally, labels) * gain**2 / 2 <= chances:
        return None
    before = float((amounts * diagonal).sum() / amounts.sum())
    after = before + gain * float(amounts[labels].sum() / amounts.sum())
    return Reassignment({i: permuted[i] for i in labels}, before, after)


def _cycles(permuted: Sequence[int]) -> list[list[int]]:
    """The cycles of a permutation, without the labels that stay."""
    unvisited = {i for i, j in enumerate(permuted) if i != j}
    cycles = []
    while unvisited:
        cycle = [min(unvisited)]
        while permuted[cycle[-1]] != cycle[0]:
            cycle.append(permuted[cycle[-1]])
        unvisited -= set(cycle)
        cycles.append(cycle)
    return cycles


def _effective(tally: Resolved, labels: list[int]) -> float:
    """How many independent rows of equal weight the rows of some labels are worth."""
    if tally.clusters is not None:
        sizes = tally.clusters.cells[:, labels].sum(axis=(1, 2)).astype(np.float64)
        return float(sizes.sum() ** 2 / np.square(sizes).sum())
    total = float(sum(tally.confusion.rows[i] for i in labels))
    if tally.confusion.squares is None:
        return total
    return total**2 / float(sum(sum(tally.confusion.squares[i]) for i in labels))


CHECK = FindingCheck(
    code="E001",
    severity="warning",
    title="labels or scores look inverted",
    why="A detector that is reliably wrong has learned something. Far more often than a bad model "
    "it is a mistake on the way: the other label taken as positive, a score that grows with "
    "harmlessness, or codes of a label encoder read in another order.",
    remedy="Check which label is the positive one, the direction of the score, and the order of "
    "the classes. Nothing is flipped by itself.",
    look=look,
    unless=("E021",),
    mistake=True,
    sure=sure,
)
