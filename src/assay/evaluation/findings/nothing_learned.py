"""E002: nothing tells the detector from chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.findings.against_chance import against_chance
from assay.evaluation.findings.finding import Check
from assay.evaluation.words import interval, rate

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation


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
    found = next(iter(against_chance(evaluation)), None)
    if found is None or found.estimate.low > found.chance:
        return None
    binary = evaluation.positive is not None
    if binary and found.below:
        return None
    if found.measure != "AUC" and sum(decided > 0 for decided in evaluation.confusion.columns) == 1:
        return None
    where = "lies below" if found.below else "contains"
    return (
        f"The interval of {found.measure}, {interval(found.estimate)}, {where} "
        f"{rate(found.chance)}: on these rows the model can't be told from chance. Check "
        f"that labels and what the model said belong to the same rows, or test on more."
    )


CHECK = Check(
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
