"""R004: rows that were judged in no fold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.words import count, percent, rows
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run


def look(run: Run) -> str | None:
    """Rows of the table that no model judged, where there are several folds."""
    if not run.unjudged or len(run.folds) < 2:
        return None
    total = len(run.judged_data.truth)
    return (
        f"{rows(run.unjudged)} of {count(total)} ({percent(run.unjudged / total)}) were judged in "
        f"no fold: they are from before the first rows to judge, or of windows from which nothing "
        f"could be learned."
    )


CHECK = RunCheck(
    code="R004",
    severity="info",
    title="rows judged in no fold",
    why="What is said holds for the judged rows only.",
    remedy="With windows of time this is as it should be for the first of them. If many other rows "
    "are left out, take longer training windows.",
    look=look,
)
