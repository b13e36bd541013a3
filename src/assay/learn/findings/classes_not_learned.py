"""R005: a class that was judged but not learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.words import name, rows, some
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run


def look(run: Run) -> str | None:
    """Classes absent from the training part of a fold in which they are judged."""
    lost: dict[str, int] = {}
    for fold in run.folds:
        judged = dict(zip(fold.counts.labels, fold.counts.counts, strict=True))
        for label in fold.not_learned:
            held = judged[label][fold.counts.parts.index("test")]
            if held:
                lost[label] = lost.get(label, 0) + held
    if not lost:
        return None
    named = some([name(label) for label in lost])
    return (
        f"{rows(sum(lost.values()))} of class {named} were judged by a model that never saw the "
        f"class, so they can't have been right."
    )


CHECK = RunCheck(
    code="R005",
    severity="info",
    title="a class was judged but not learned",
    why="All rows of a rare class may be on one side: in one group, on one day, or they are too "
    "few to be shared out.",
    remedy="Join rare classes, leave them out, or collect more rows of them.",
    look=look,
)
