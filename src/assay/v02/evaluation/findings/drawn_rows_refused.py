"""E018: rows that were drawn to be labelled were left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.v02.evaluation.findings.finding import FindingCheck
from assay.v02.number_text import rows

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation


def look(evaluation: Evaluation) -> str | None:
    """Rows of a sample by strata that have no label, or can't be used for another reason.

    >>> import assay
    >>> drawn = {"y": ["attack", "normal", None], "s": [0.9, 0.1, 0.2]}
    >>> drawn |= {"weight": [1.0, 5.0, 5.0], "stratum": ["a", "b", "b"]}
    >>> named = {"label": "y", "score": "s", "weight": "weight", "strata": "stratum"}
    >>> evaluation = assay.evaluate(drawn, **named, on_bad_row="skip")
    >>> print(evaluation.findings[-2].message)
    1 row of the 3 rows that were drawn was left out, and with it what it stands for.
    """
    refused = evaluation.source.get("rows_refused") or 0
    if evaluation.strata is None or not refused:
        return None
    drawn = refused + round(float(evaluation.strata.drawn.sum()))
    was, it = ("was", "it stands") if refused == 1 else ("were", "they stand")
    them = "it" if refused == 1 else "them"
    return (
        f"{rows(refused)} of the {rows(drawn)} that were drawn {was} left out, and with {them} "
        f"what {it} for."
    )


CHECK = FindingCheck(
    code="E018",
    severity="warning",
    title="rows that were drawn were left out",
    why="The weights of a sample hold where every row that was drawn is labelled. Rows that nobody "
    "could tell are seldom like the others, and what they stand for is missing from all sums.",
    remedy="Label them, as well as it can be done, or draw fewer rows and label all of those.",
    look=look,
    on_alerts=True,
)
