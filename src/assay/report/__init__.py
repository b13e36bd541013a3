r"""Reports: one document, six faces.

>>> import assay
>>> from assay.report import document_of, render
>>> cells = {"tp": 6635, "fp": 167, "fn": 324, "tn": 7743}
>>> evaluation = assay.evaluate_counts(**cells, labels=[0, 1], base_rate=0.001)
>>> print(render(document_of(evaluation), "terminal", width=60).split("\n\n")[1])
Catches 95.3% [94.8, 95.8] of rows that are '1'; 2.5% [2.1,
2.9] of its alarms are false at this test set's prevalence
of 47%; at a base rate of 0.1% that becomes 95.7%.
14,869 rows: 6,959 '1', 7,910 '0'.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.report.audit import audit_document
    from assay.report.check import check_document
    from assay.report.compare import comparison_document
    from assay.report.document import Document, Provenance
    from assay.report.evaluation import document_of
    from assay.report.faces import FORMATS, render
    from assay.report.gate import gate_document
    from assay.report.plan import plan_document
    from assay.report.reference import measure_document, measures_document
    from assay.report.threshold import threshold_document
    from assay.report.training import training_document

__all__ = [
    "FORMATS",
    "Document",
    "Provenance",
    "audit_document",
    "check_document",
    "comparison_document",
    "document_of",
    "gate_document",
    "measure_document",
    "measures_document",
    "plan_document",
    "render",
    "threshold_document",
    "training_document",
]

_HOMES = {
    "audit_document": "audit",
    "check_document": "check",
    "Document": "document",
    "comparison_document": "compare",
    "FORMATS": "faces",
    "Provenance": "document",
    "document_of": "evaluation",
    "gate_document": "gate",
    "measure_document": "reference",
    "measures_document": "reference",
    "plan_document": "plan",
    "render": "faces",
    "threshold_document": "threshold",
    "training_document": "training",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'assay.report' has no attribute {name!r}")
    found = getattr(import_module(f"assay.report.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
