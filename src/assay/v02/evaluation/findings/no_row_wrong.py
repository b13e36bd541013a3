"""E023: no row is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.evaluation.wording import name
from assay.v02.measures import ROC_AUC
from assay.v02.number_text import count

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

# Fewer rows of a class may all be right by skill and luck; two scores are decisions, see E003.
FEWEST_ROWS, FEWEST_SCORES = 50, 20


def look(evaluation: Evaluation) -> str | None:
    """Every attack ranked above every other row, or every decision right: of 50 rows a class.

    Of scores, at least twenty have to differ.

    >>> import assay
    >>> evaluation = assay.evaluate_counts(tp=100, fp=0, fn=0, tn=200, labels=["ok", "attack"])
    >>> print(evaluation.findings[0].message)  # doctest: +NORMALIZE_WHITESPACE
    All 300 decisions are right. On rows that a model has not seen that is rare: check that
    these are not the rows it learned from, and that no column gives the label away (assay check
    TRAIN TEST).
    """
    confusion = evaluation.tally.confusion
    if confusion.weighted or min(confusion.rows) < FEWEST_ROWS:
        return None
    if evaluation.tally.threshold is not None or not evaluation.decided:
        tables = evaluation.tally.scores
        if tables is None or tables[0].size < FEWEST_SCORES or float(evaluation[ROC_AUC]) < 1:
            return None
        negative, positive = (name(label) for label in evaluation.labels)
        observation = f"Every row of {positive} scores above every row of {negative}"
    else:
        cells = confusion.cells
        if any(rows for i, row in enumerate(cells) for j, rows in enumerate(row) if i != j):
            return None
        observation = f"All {count(confusion.total)} decisions are right"
    return (
        f"{observation}. On rows that a model has not seen that is rare: check that these are not "
        f"the rows it learned from, and that no column gives the label away (assay check "
        f"TRAIN TEST)."
    )


CHECK = FindingCheck(
    code="E023",
    severity="warning",
    title="no row is wrong, as on rows that a model has learned from",
    why="A model that is judged on the rows it learned from, or that was given the label in some "
    "column, makes no mistake. Real attacks and harmless rows overlap.",
    remedy="Judge it on other rows. If they are others, look for a column that would not be known "
    "in use; if there is none, the attacks are easy, and easier than those to come.",
    look=look,
    unless=("E021",),
    mistake=True,
)
