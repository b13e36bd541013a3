"""E002: nothing tells the detector from chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.inference import Estimate
from assay.v02.measures import INFORMEDNESS, KAPPA, ROC_AUC
from assay.v02.number_text import rate, rate_interval

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation


def look(evaluation: Evaluation) -> str | None:
    """An AUC whose interval contains 0.5; for decisions informedness, for K classes kappa, and 0.

    Where only one label was ever decided it is silent, since E012 says so.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=52, fp=103, fn=48, tn=97)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    The interval of informedness, 0.005 [-0.114, 0.124], contains 0: on these rows the model
    can't be told from chance. Check that labels and what the model said belong to the same
    rows, or test on more.
    """
    comparison = next(iter(against_chance(evaluation)), None)
    if comparison is None or comparison.estimate.low > comparison.chance:
        return None
    binary = evaluation.positive is not None
    if binary and comparison.below:
        return None
    if (
        comparison.measure != "AUC"
        and sum(decided > 0 for decided in evaluation.confusion.columns) == 1
    ):
        return None
    relation = "lies below" if comparison.below else "contains"
    return (
        f"The interval of {comparison.measure}, {rate_interval(comparison.estimate)}, {relation} "
        f"{rate(comparison.chance)}: on these rows the model can't be told from chance. Check "
        f"that labels and what the model said belong to the same rows, or test on more."
    )


class ChanceComparison(NamedTuple):
    """A measure by its name in words, its estimate, and the value that chance would give."""

    measure: str
    estimate: Estimate
    chance: float

    @property
    def below(self) -> bool:
        """Whether the whole interval lies below chance."""
        return self.estimate.high < self.chance


def against_chance(evaluation: Evaluation) -> tuple[ChanceComparison, ...]:
    """What there is with an interval, the most telling first.

    With scores the AUC. Informedness where decisions were given by themselves, or the AUC has no
    interval. For more than two classes kappa.
    """
    if evaluation.positive is None:
        comparisons = [ChanceComparison(KAPPA.name, evaluation[KAPPA], 0.0)]
    else:
        auc = evaluation[ROC_AUC]
        comparisons = [ChanceComparison("AUC", auc, 0.5)]
        if evaluation.tally.threshold is None or math.isnan(auc.high):
            comparisons.append(ChanceComparison(INFORMEDNESS.name, evaluation[INFORMEDNESS], 0.0))
    return tuple(each for each in comparisons if not math.isnan(each.estimate.high))


CHECK = FindingCheck(
    code="E002",
    severity="warning",
    title="nothing learned",
    why="Every other number of such a model is what its alert rate and the prevalence give by "
    "themselves. Columns that were shuffled against each other look the same.",
    remedy="Check that scores and labels are in the same order of rows. Where the interval is "
    "wide, the test set is too small to say; where it is narrow, the model is of no use.",
    look=look,
    unless=("E001", "E014", "E021"),
)
