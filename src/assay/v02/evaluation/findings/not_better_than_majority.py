"""E008: always saying the most frequent class would be as accurate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.measures import ACCURACY
from assay.v02.number_text import rate, rate_interval

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation


def look(evaluation: Evaluation) -> str | None:
    """An accuracy whose interval is not above the share of the most frequent class.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=40, fp=60, fn=60, tn=9840, labels=["ok", "attack"])
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    Accuracy is 0.988 [0.986, 0.99]; always saying 'ok' would reach 0.99. Accuracy says little
    here: look at the detection rate and the false alarm rate.
    """
    rows = evaluation.confusion.rows
    accuracy = evaluation[ACCURACY]
    most = max(rows)
    share = float(most) / float(sum(rows))
    if share == 1 or not accuracy.low <= share:
        return None
    frequent = name(evaluation.labels[rows.index(most)])
    look_at = "balanced accuracy, kappa and the detection rate of each class"
    if evaluation.positive is not None:
        look_at = "the detection rate and the false alarm rate"
    return (
        f"Accuracy is {rate_interval(accuracy)}; always saying {frequent} would reach "
        f"{rate(share)}. Accuracy says little here: look at {look_at}."
    )


CHECK = FindingCheck(
    code="E008",
    severity="info",
    title="not better than the majority",
    why="Where attacks are rare, a detector that never raises an alarm is very accurate. A good "
    "detector may be less accurate than that and still be worth having.",
    remedy="Do not quote accuracy for it. Detection rate, false alarm rate and MCC tell more.",
    look=look,
    of_decisions=True,
    unless=("E001", "E002", "E014"),
)
