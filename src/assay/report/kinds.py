"""Which kinds of documents there are, and which faces they have; nothing here is slow to import."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

FORMATS = ("terminal", "json", "csv", "markdown", "latex", "html")
# Faces that only some documents have.
FURTHER = ("junit", "card", "openmetrics")
# What the suffix of a file tells.
SUFFIXES = {
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".tex": "latex",
    ".json": "json",
    ".csv": "csv",
    ".txt": "terminal",
}
# Numbers of other tools, which a store keeps beside documents.
IMPORTED = "imported"


class Kind(NamedTuple):
    """A kind of document: its schema, the module and name of its result, and what draws it."""

    schema: str
    home: str
    result: str
    drawn_by: str

    @property
    def type(self) -> Any:
        """The class of the result."""
        return getattr(import_module(self.home), self.result)


KINDS = {
    "evaluation": Kind("assay.evaluation/1", "assay.evaluation.snapshot", "Snapshot", "evaluation"),
    "threshold": Kind(
        "assay.threshold/1", "assay.decisions.threshold.result", "Choice", "threshold"
    ),
    "plan": Kind("assay.plan/1", "assay.decisions.plan.result", "Plan", "plan"),
    "sample": Kind("assay.sample/1", "assay.decisions.sample.result", "StratifiedSample", "sample"),
    "compare": Kind(
        "assay.compare/1", "assay.decisions.compare.comparison", "Comparison", "compare"
    ),
    "audit": Kind("assay.audit/1", "assay.decisions.audit.result", "Audit", "audit"),
    "check": Kind("assay.check/1", "assay.learn.checks.result", "Check", "check"),
    "gate": Kind("assay.gate/1", "assay.decisions.gate.result", "Gate", "gate"),
    "incidents": Kind(
        "assay.incidents/1", "assay.decisions.incidents.result", "Incidents", "incidents"
    ),
    "monitor": Kind("assay.monitor/1", "assay.decisions.monitor.result", "Monitor", "monitor"),
    "training": Kind("assay.evaluation/1", "assay.learn.record", "Training", "training"),
}
