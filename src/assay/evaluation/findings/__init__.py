"""Coded findings: one file each, in the order of their codes."""

from assay.evaluation.findings.checks import CHECKS, findings_of
from assay.evaluation.findings.finding import Check, Finding, urgent_first

__all__ = ["CHECKS", "Check", "Finding", "findings_of", "urgent_first"]
