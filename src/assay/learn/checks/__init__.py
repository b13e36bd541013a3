"""Is an evaluation honest? Coded checks for leaks, one file each, and what ties them together."""

from assay.learn.checks.case import CheckFinding, CodedCheck
from assay.learn.checks.check import CHECKS, Check, PartRows, Pitfall, check
from assay.learn.checks.not_better_than_trivial import Baseline
from assay.learn.checks.retest import Retest, Trained

__all__ = [
    "CHECKS",
    "Baseline",
    "Check",
    "CheckFinding",
    "CodedCheck",
    "PartRows",
    "Pitfall",
    "Retest",
    "Trained",
    "check",
]
