r"""Reports: one document, six faces.

>>> import assay
>>> from assay.v02.report import document_of, draw
>>> cells = {"tp": 6635, "fp": 167, "fn": 324, "tn": 7743}
>>> evaluation = assay.evaluate_counts(**cells, labels=[0, 1], base_rate=0.001)
>>> print(draw(document_of(evaluation), "terminal", width=60).split("\n\n")[1])
Catches 95.3% [94.8, 95.8] of rows that are '1'; 2.5% [2.1,
2.9] of its alarms are false at this test set's prevalence
of 47%; at a base rate of 0.1% that becomes 95.7%.
14,869 rows: 6,959 '1', 7,910 '0'.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from assay.v02.report.document import Document, document_of, draw
    from assay.v02.report.measure_pages import measure_document, measures_document
    from assay.v02.report.provenance import Provenance
    from assay.v02.report.sections import Report

__all__ = [
    "FORMATS",
    "Document",
    "Provenance",
    "Report",
    "document_of",
    "draw",
    "measure_document",
    "measures_document",
]

# Nothing here is slow to import: the command line lists formats before it does anything.
# What draws each face of a report is a function of a module of this package.
FACES = {
    "terminal": "terminal.render",
    "json": "document.to_json",
    "csv": "document.to_csv",
    "markdown": "markdown.render",
    "latex": "latex.render",
    "html": "html.render",
}
FORMATS = tuple(FACES)
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


class DocumentKind(NamedTuple):
    """A kind of document: its schema, the module and name of its result, and what draws it.

    That is a function of a module of this package, such as ``plan.report_of``.
    """

    schema: str
    home: str
    result: str
    drawn_by: str

    @property
    def type(self) -> Any:
        """The class of the result."""
        return getattr(import_module(self.home), self.result)


KINDS = {
    "evaluation": DocumentKind(
        "assay.evaluation/1", "assay.v02.evaluation.snapshot", "Snapshot", "evaluation.report_of"
    ),
    "threshold": DocumentKind(
        "assay.threshold/1", "assay.v02.decisions.threshold.choice", "Choice", "threshold.report_of"
    ),
    "plan": DocumentKind("assay.plan/1", "assay.v02.decisions.plan_goals", "Plan", "plan.report_of"),
    "sample": DocumentKind(
        "assay.sample/1", "assay.v02.decisions.sample_strata", "StratifiedSample", "plan.sample_report"
    ),
    "compare": DocumentKind(
        "assay.compare/1", "assay.v02.decisions.compare.comparison", "Comparison", "compare.report_of"
    ),
    "audit": DocumentKind(
        "assay.audit/1", "assay.v02.decisions.audit.verdicts", "Audit", "audit.report_of"
    ),
    "check": DocumentKind("assay.check/1", "assay.v02.learn.checks", "Check", "check.report_of"),
    "gate": DocumentKind("assay.gate/1", "assay.v02.decisions.gate_rules", "Gate", "gate.report_of"),
    "incidents": DocumentKind(
        "assay.incidents/1",
        "assay.v02.decisions.incidents.detections",
        "Incidents",
        "incidents.report_of",
    ),
    "monitor": DocumentKind(
        "assay.monitor/1", "assay.v02.decisions.monitor_result", "Monitor", "monitor.report_of"
    ),
    "training": DocumentKind(
        "assay.evaluation/1", "assay.v02.learn.record", "Training", "training.report_of"
    ),
}

_HOMES = {
    "Document": "document",
    "Provenance": "provenance",
    "Report": "sections",
    "document_of": "document",
    "draw": "document",
    "measure_document": "measure_pages",
    "measures_document": "measure_pages",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'assay.v02.report' has no attribute {name!r}")
    value = getattr(import_module(f"assay.v02.report.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
