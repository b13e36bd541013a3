"""Is an evaluation honest? Coded checks for leaks, one file each, and what ties them together."""

from assay.learn.checks.check import check
from assay.learn.checks.checks import CHECKS
from assay.learn.checks.finding import CodedCheck, Finding
from assay.learn.checks.result import Check

__all__ = ["CHECKS", "Check", "CodedCheck", "Finding", "check"]
