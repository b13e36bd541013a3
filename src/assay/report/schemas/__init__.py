"""The JSON Schema (draft 2020-12) of each document, as files of the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from assay.errors import InputError

SCHEMAS = (
    "assay.about/1",
    "assay.audit/1",
    "assay.check/1",
    "assay.compare/1",
    "assay.diff/1",
    "assay.evaluation/1",
    "assay.gate/1",
    "assay.imported/1",
    "assay.incidents/1",
    "assay.measures/1",
    "assay.monitor/1",
    "assay.plan/1",
    "assay.runs/1",
    "assay.sample/1",
    "assay.threshold/1",
    "assay.trend/1",
    "assay.unpaired/1",
)


def schema_of(document: str) -> dict[str, Any]:
    """The schema of a document by the name that it carries.

    >>> schema_of("assay.evaluation/1")["title"]
    'assay.evaluation/1'
    """
    if document not in SCHEMAS:
        raise InputError(f"there is no schema {document!r}; there are {', '.join(SCHEMAS)}")
    name = document.replace("/", "-")
    found: dict[str, Any] = json.loads((files(__name__) / f"{name}.schema.json").read_text("utf-8"))
    return found
