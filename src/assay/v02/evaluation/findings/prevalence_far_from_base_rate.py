"""E007: attacks are far more frequent in the test set than in deployment, or far rarer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.measures import PRECISION, PREVALENCE
from assay.v02.number_text import rate, rate_percent

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# The odds of an alarm being real change by as much as the odds of an attack do.
FAR_ODDS = 10


def look(evaluation: Evaluation) -> str | None:
    """A base rate that was given, and odds of a positive in the test set ten times off.

    Without a given base rate nothing is compared: nobody said where the detector will run.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=950, fp=50, fn=50, tn=950, base_rate=0.001)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    50% of the rows are 'positive', but 0.1% where the detector runs, so that a precision of
    0.95 here is 0.0187 there. Quote precision, FAR, F1 and accuracy at the base rate.
    """
    if evaluation.positive is None or not evaluation.base_rates:
        return None
    prevalence = evaluation[PREVALENCE]
    if not 0 < prevalence < 1:
        return None
    odds = math.log(prevalence / (1 - prevalence))
    far = max(evaluation.base_rates, key=lambda given: abs(odds - math.log(given / (1 - given))))
    if abs(odds - math.log(far / (1 - far))) <= math.log(FAR_ODDS):
        return None
    tested, deployed = evaluation[PRECISION], evaluation.at(far)[PRECISION]
    precise = ""
    if not (math.isnan(tested) or math.isnan(deployed)):
        precise = f", so that a precision of {rate(tested)} here is {rate(deployed)} there"
    return (
        f"{rate_percent(prevalence)} of the rows are {name(evaluation.positive)}, but "
        f"{rate_percent(far)} where the detector runs{precise}. Quote precision, FAR, F1 and "
        f"accuracy at the base rate."
    )


CHECK = FindingCheck(
    code="E007",
    severity="info",
    title="prevalence far from the base rate",
    why="Precision, the false alarm rate, F1 and accuracy change with the share of attacks. Those "
    "of a balanced test set do not hold where one row in ten thousand is an attack.",
    remedy="Quote the estimates at the base rate. Detection rate and false positive rate hold in "
    "both places.",
    look=look,
    of_decisions=True,
)
