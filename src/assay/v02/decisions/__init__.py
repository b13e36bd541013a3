"""What follows from the numbers: where to set the alarm, which model is better, what is true."""

from assay.v02.decisions.audit import (
    Audit,
    AuditedClaim,
    Claim,
    audit,
    audit_files,
    read_claims,
)
from assay.v02.decisions.compare import compare, compare_folds, compare_models
from assay.v02.decisions.compare.comparison import Comparison, Difference, Flip, FlippedRow, Verdict
from assay.v02.decisions.gate_rules import Gate, gate
from assay.v02.decisions.monitor_batches import monitor, monitor_files
from assay.v02.decisions.monitor_result import Monitor
from assay.v02.decisions.plan_goals import Plan, plan
from assay.v02.decisions.rule import Outcome, Rule
from assay.v02.decisions.rule_grammar import parse_rule, read_rules
from assay.v02.decisions.threshold import Choice, Point, choose_threshold, choose_threshold_files

__all__ = [
    "Audit",
    "AuditedClaim",
    "Choice",
    "Claim",
    "Comparison",
    "Difference",
    "Flip",
    "FlippedRow",
    "Gate",
    "Monitor",
    "Outcome",
    "Plan",
    "Point",
    "Rule",
    "Verdict",
    "audit",
    "audit_files",
    "choose_threshold",
    "choose_threshold_files",
    "compare",
    "compare_folds",
    "compare_models",
    "gate",
    "monitor",
    "monitor_files",
    "parse_rule",
    "plan",
    "read_claims",
    "read_rules",
]
