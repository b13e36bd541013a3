"""R002: far better on the rows that were learned than on those that were judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.evaluation.words import interval, rate
from assay.learn.findings.check import RunCheck
from assay.measures import find

if TYPE_CHECKING:
    from assay.learn.run import Run

_FAR = 0.1


def look(run: Run) -> str | None:
    """An accuracy or AUC lower by 0.1 or more, and whose interval does not reach the other."""
    said = []
    for measure in run.folds[0].learned:
        learned = float(np.mean([fold.learned[measure] for fold in run.folds]))
        judged = run.evaluation[measure]
        if learned - judged >= _FAR and not judged.high >= learned:
            said.append(
                f"{find(measure).short} is {rate(learned)} on learned rows and {interval(judged)}"
                f" on judged ones"
            )
    if not said:
        return None
    return (
        f"{'; '.join(said)}. The model knows its training rows much better than new ones: either "
        f"it learned them by heart, or new rows are of another kind."
    )


CHECK = RunCheck(
    code="R002",
    severity="warning",
    title="much better on learned rows",
    why="A model that learned rows by heart, or that meets other kinds of attack than it learned, "
    "does not keep in use what it shows on the rows it was trained on.",
    remedy="Believe the judged rows. See by family and by fold where the difference comes from; "
    "more varied training rows help more than another model.",
    look=look,
)
