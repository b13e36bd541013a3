r"""Reports: one document, six faces.

>>> import assay
>>> from assay.report import document_of, draw
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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.report.document import Document, document_of
    from assay.report.faces import draw
    from assay.report.kinds import FORMATS
    from assay.report.provenance import Provenance
    from assay.report.reference import measure_document, measures_document
    from assay.report.sections import Report

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

_HOMES = {
    "Document": "document",
    "FORMATS": "kinds",
    "Provenance": "provenance",
    "Report": "sections",
    "document_of": "document",
    "draw": "faces",
    "measure_document": "reference",
    "measures_document": "reference",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'assay.report' has no attribute {name!r}")
    found = getattr(import_module(f"assay.report.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
