"""E003: decisions were given in the place of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.inference.estimation import effective_rows
from assay.v02.number_text import rate, rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# Fewer rows may have two scores by accident.
FEWEST_ROWS = 10


def look(evaluation: Evaluation) -> str | None:
    """Scores that take two values only, or columns of probabilities that are all 0 or 1.

    >>> import assay
    >>> evaluation = assay.evaluate([0, 0, 0, 1, 1, 1] * 20, y_score=[0, 0, 1, 1, 1, 1] * 20)
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    The scores of 120 rows take only two values, 0 and 1: they are decisions, so AUC, average
    precision and curves rest on a single threshold. Give the model's scores, such as
    predict_proba instead of predict.
    """
    tables = evaluation.tally.scores
    total = evaluation.tally.confusion.total
    if tables is None or effective_rows(evaluation.tally.confusion) < FEWEST_ROWS:
        return None
    if evaluation.positive is None:
        # Of 0 and 1 a grid has cells of their own.
        if any(table.size > 2 or set(table.scores.tolist()) - {0.0, 1.0} for table in tables):
            return None
        observation = f"The probabilities of all {rows(total)} are 0 or 1"
    else:
        if tables[0].size != 2 or not tables[0].tied().all():
            return None
        low, high = tables[0].scores.tolist()
        observation = (
            f"The scores of {rows(total)} take only two values, {rate(low)} and {rate(high)}"
        )
    return (
        f"{observation}: they are decisions, so AUC, average precision and curves rest on a single "
        f"threshold. Give the model's scores, such as predict_proba instead of predict."
    )


CHECK = FindingCheck(
    code="E003",
    severity="warning",
    title="hard labels given as scores",
    why="A decision has only one threshold. Its AUC is the balanced accuracy and tells nothing "
    "about how the model ranks; calibration and log loss mean nothing.",
    remedy="Give the number that the decision came from: predict_proba, decision_function, the "
    "anomaly score. If there is none, give the column as decisions.",
    look=look,
    on_alerts=True,
    mistake=True,
)
