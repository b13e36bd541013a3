"""E010: too few negatives to know the false positive rate that matters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.measures import FALSE_POSITIVE_RATE
from assay.v02.number_text import count, rate, rate_interval, rate_percent, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.deployment import Reach
    from assay.v02.evaluation.evaluation import Evaluation

# An upper bound of more than twice the value means fewer than eight false positives.
MUCH_ABOVE = 2


def look(evaluation: Evaluation) -> str | None:
    """So few false positives that the rate may be more than twice what is shown.

    That is no matter where the upper bound still keeps the false alarm rate at 10% at the rarest
    base rate: of those given, or 0.0001. Where base rates were given, also whenever the interval
    can't tell whether that is kept.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=950, fp=0, fn=50, tn=1000, labels=["ok", "attack"])
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    None of 1,000 rows of 'ok' raised an alarm: the false positive rate of 0 may be up to
    0.00383. For a false alarm rate of 10% at a base rate of 0.01% it must not exceed 1.06e-05;
    to show that takes at least 283,777 rows of 'ok'.
    """
    if evaluation.positive is None or not evaluation.confusion.columns[1]:
        return None
    negatives, false = evaluation.confusion.rows[0], evaluation.confusion.cells[0][1]
    negative = name(evaluation.labels[0])
    fpr = evaluation[FALSE_POSITIVE_RATE]
    if not negatives:
        return f"No row is {negative}, so the false positive rate can't be told. Test on some."
    if math.isnan(fpr.high):
        return None
    rarest = min(evaluation.deployment, key=lambda reach: reach.base_rate, default=None)
    if fpr.high > MUCH_ABOVE * fpr and (rarest is None or rarest.held is not True):
        return (
            f"{count(false) if false else 'None'} of {rows(negatives)} of {negative} raised an "
            f"alarm: the false positive rate of {rate(fpr)} may be up to {rate(fpr.high)}."
            f"{_asked_rate(rarest, negative)}"
        )
    unknown = [reach for reach in evaluation.deployment if reach.held is None]
    if not evaluation.base_rates or not unknown:
        return None
    rarest = min(unknown, key=lambda reach: reach.base_rate)
    return f"The false positive rate is {rate_interval(fpr)}.{_asked_rate(rarest, negative)}"


def _asked_rate(reach: Reach | None, negative: str) -> str:
    if reach is None:
        return ""
    if reach.held is False:
        verdict = "it does"
    elif reach.enough:
        verdict = f"to tell takes more rows of {negative}"
    else:
        verdict = f"to show that takes at least {count(reach.negatives_needed)} rows of {negative}"
    return (
        f" For a false alarm rate of {rate_percent(reach.tolerated_far)} at a base rate of "
        f"{rate_percent(reach.base_rate)} it must not exceed {rate(reach.largest_fpr)}; {verdict}."
    )


CHECK = FindingCheck(
    code="E010",
    severity="warning",
    title="test set too small for the false positive rate",
    why="No false positive in N rows is no proof of none: by the rule of three the rate may be as "
    "high as 3 / N. Where attacks are rare, that decides how many alarms are false.",
    remedy="Test on more harmless rows; they need not come with more attacks. Quote the upper end.",
    look=look,
    of_decisions=True,
)
