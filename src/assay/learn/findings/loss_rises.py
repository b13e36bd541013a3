"""R001: a network's training loss rose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.words import rate
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run

_RISE = 1.05  # above the jitter that dropout and small batches leave


def look(run: Run) -> str | None:
    """A last training loss more than 5% above the lowest."""
    for fold in run.folds:
        if len(fold.losses) < 2 or not fold.losses[-1] > _RISE * min(fold.losses):
            continue
        lowest = min(fold.losses)
        return (
            f"The training loss fell to {rate(lowest)} in epoch "
            f"{fold.losses.index(lowest) + 1} and rose to {rate(fold.losses[-1])} in epoch "
            f"{len(fold.losses)} ({fold.name}): the network unlearned what it knew."
        )
    return None


CHECK = RunCheck(
    code="R001",
    severity="warning",
    title="the training loss rises",
    why="Training lowers the loss. Where it rises, steps are too large or numbers overflow, and "
    "the last weights are not the best ones.",
    remedy="Lower the learning rate, standardise the columns, or hold a validation share back so "
    "that the best weights are kept.",
    look=look,
)
