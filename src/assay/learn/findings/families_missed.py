"""R007: families of attack that are mostly missed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.words import interval, name, some
from assay.learn.findings.check import RunCheck
from assay.measures import RECALL

if TYPE_CHECKING:
    from assay.learn.run import Run

_HALF = 0.5


def look(run: Run) -> str | None:
    """Families whose detection rate lies below one half, with its whole interval."""
    if run.evaluation.family is None:
        return None
    rates = {
        entry.slice[1]: entry.estimate
        for entry in run.evaluation.entries
        if entry.measure == RECALL.name and entry.slice and entry.slice[0] == run.evaluation.family
    }
    missed = sorted((float(found), kind) for kind, found in rates.items() if found.high < _HALF)
    if not missed:
        return None
    named = some([f"{name(kind)} {interval(rates[kind])}" for _, kind in missed])
    return f"Less than half of these families is found: {named}."


CHECK = RunCheck(
    code="R007",
    severity="warning",
    title="families that are mostly missed",
    why="A detection rate over all attacks is that of the most frequent families. Rare ones may "
    "hardly be found.",
    remedy="Judge by family. Where a family was not among the training rows, hold each family out "
    "in turn (leave-one-out) to see what the model knows of unknown attacks.",
    look=look,
)
