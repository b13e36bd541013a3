"""R006: folds differ by more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assay.evaluation.words import rate
from assay.inference.quantiles import chi_square_p
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run

_SURE = 0.001
_FAR = 0.02  # smaller differences matter to nobody, however sure they are


def look(run: Run) -> str | None:
    """Accuracies of folds that a chi-square test does not take for one and the same."""
    folds = [fold for fold in run.folds if fold.repeat == 1]
    if len(folds) < 2:
        return None
    truth = run.judged_data.truth
    sizes = np.array([len(fold.test) for fold in folds])
    right = np.array([(fold.said.decisions == truth[fold.test]).sum() for fold in folds])
    share = right.sum() / sizes.sum()
    accuracies = right / sizes
    if share in (0, 1) or np.ptp(accuracies) < _FAR:
        return None
    statistic = float(((right - sizes * share) ** 2 / (sizes * share * (1 - share))).sum())
    if chi_square_p(statistic, len(folds) - 1) >= _SURE:
        return None
    worst, best = int(accuracies.argmin()), int(accuracies.argmax())
    return (
        f"Accuracy runs from {rate(accuracies[worst])} ({folds[worst].name}) to "
        f"{rate(accuracies[best])} ({folds[best].name}), more than chance explains. Rows of one "
        f"fold are alike: an interval that takes rows as independent is too narrow."
    )


CHECK = RunCheck(
    code="R006",
    severity="info",
    title="folds differ by more than chance",
    why="Groups, days or families are not alike: how good the model is depends on which come next.",
    remedy="Read the interval over folds beside the one over rows, and look at the worst fold.",
    look=look,
)
