"""R001: a network's training loss rose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.words import rate
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run

# Above the jitter that dropout and small batches leave in a mean.
_RISE = 1.1
# A network that ends above where it began has learned nothing, by however little.
_ABOVE_START = 1.01


def look(run: Run) -> str | None:
    """A mean loss of the last quarter of the epochs that is 10% above that of an earlier quarter.

    Above that of the first quarter 1% is enough. One epoch by itself jitters, since other units are
    dropped and rows come in another order.
    """
    for fold in run.folds:
        width = max(1, len(fold.losses) // 4)
        starts = range(len(fold.losses) - width + 1)
        means = [sum(fold.losses[start : start + width]) / width for start in starts]
        if len(means) < 2 or not _rises(means):
            continue
        lowest = means.index(min(means)) + 1
        began = f"fell to {rate(min(means))} in {_epochs(lowest, width)} and rose"
        ended = "unlearned what it knew"
        if lowest == 1:
            began = f"rose from {rate(means[0])} in {_epochs(1, width)}"
            ended = "learned nothing"
        return (
            f"The training loss {began} to {rate(means[-1])} in {_epochs(len(means), width)} "
            f"({fold.name}): the network {ended}."
        )
    return None


def _rises(means: list[float]) -> bool:
    return means[-1] > _RISE * min(means) or means[-1] > _ABOVE_START * means[0]


def _epochs(first: int, width: int) -> str:
    return f"epoch {first}" if width == 1 else f"epochs {first} to {first + width - 1}"


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
