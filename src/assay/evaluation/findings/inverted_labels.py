"""E001: what was said fits the truth when it is turned over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from assay.evaluation.findings.against_chance import against_chance
from assay.evaluation.findings.finding import Check
from assay.evaluation.findings.reassigned import reassigned
from assay.evaluation.words import interval, name, rate
from assay.inference.quantiles import normal
from assay.measures import ACCURACY, BALANCED_ACCURACY

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation

# So many standard errors below chance.
_SURE = 3.3


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
    for found in against_chance(evaluation):
        if found.below and found.measure == "AUC":
            return (
                f"The AUC is {interval(found.estimate)}, below 0.5: {negative} scores higher than "
                f"{positive}. Turned round it would be {rate(1 - found.estimate)}: check which "
                f"label is positive, and that a higher score means more suspicious."
            )
        if found.below:
            accuracy, balanced = evaluation[ACCURACY], evaluation[BALANCED_ACCURACY]
            return (
                f"Informedness is {interval(found.estimate)}, below 0: decisions are worse than "
                f"chance. Turned over, accuracy would go from {rate(accuracy)} to "
                f"{rate(1 - accuracy)} and balanced accuracy from {rate(balanced)} to "
                f"{rate(1 - balanced)}: check which label is positive."
            )
    return None


def _exchanged(evaluation: Evaluation) -> str | None:
    cells = np.array(evaluation.confusion.cells, np.float64)
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    found = reassigned(shares, evaluation.tally)
    if found is None:
        return None
    return (
        f"Labels look exchanged: {found.text(evaluation.labels)}. Put right, accuracy would rise "
        f"from {rate(found.before)} to {rate(found.after)}: check the order of the classes."
    )


def sure(evaluation: Evaluation) -> bool:
    """Whether fewer than one in two thousand models that know nothing would look like it."""
    if evaluation.positive is None:
        # Chance is ruled out already where another order of the classes is found.
        return True
    found = next(each for each in against_chance(evaluation) if each.below)
    away = found.chance - float(found.estimate)
    reach = found.estimate.high - float(found.estimate)
    errors = normal(evaluation.level) * away / reach if reach > 0 else 0.0
    confusion = evaluation.tally.confusion
    if found.measure == "AUC" and not confusion.weighted and evaluation.tally.clusters is None:
        # The spread of the AUC where scores know nothing, which holds for few rows too.
        negatives, positives = confusion.rows
        spread = math.sqrt((negatives + positives + 1) / (12 * negatives * positives))
        errors = away / spread
    return bool(errors > _SURE)


CHECK = Check(
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
