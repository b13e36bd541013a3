"""Coded checks of a training run: what to know before believing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.findings import Finding
from assay.learn.findings import (
    classes_not_learned,
    families_missed,
    folds_differ,
    importances_disagree,
    label_given_away,
    loss_rises,
    overfitted,
    rows_not_judged,
    threshold_elsewhere,
)
from assay.learn.findings.check import RunCheck

if TYPE_CHECKING:
    from assay.learn.run import Run

__all__ = ["RUN_CHECKS", "RunCheck", "run_findings"]

RUN_CHECKS: tuple[RunCheck, ...] = (
    loss_rises.CHECK,
    overfitted.CHECK,
    threshold_elsewhere.CHECK,
    rows_not_judged.CHECK,
    classes_not_learned.CHECK,
    folds_differ.CHECK,
    families_missed.CHECK,
    importances_disagree.CHECK,
    label_given_away.CHECK,
)


def run_findings(run: Run) -> tuple[Finding, ...]:
    """Every finding that applies, in the order of the codes."""
    found = (check(run) for check in RUN_CHECKS)
    return tuple(finding for finding in found if finding is not None)
