"""Coded findings: one file each, in the order of their codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.evaluation.findings.finding import Check, Finding

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation

CHECKS: tuple[Check, ...] = ()

__all__ = ["CHECKS", "Check", "Finding", "findings_of"]


def findings_of(evaluation: Evaluation) -> tuple[Finding, ...]:
    """Every finding that applies, in the order of the codes."""
    found = (check(evaluation) for check in CHECKS)
    return tuple(finding for finding in found if finding is not None)
