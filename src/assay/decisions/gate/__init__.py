"""A gate for the build: rules that a new model has to keep, judged on intervals."""

from assay.decisions.gate.gate import gate
from assay.decisions.gate.grammar import parse_rule
from assay.decisions.gate.result import Gate, Judged
from assay.decisions.gate.rule import Outcome, Rule
from assay.decisions.gate.rule_file import read_rules

__all__ = ["Gate", "Judged", "Outcome", "Rule", "gate", "parse_rule", "read_rules"]
