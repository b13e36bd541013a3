"""Documents come back from JSON: the same values, and every face the same to the byte."""

import json
from functools import cache

import jsonschema
import pytest

from assay.report import FORMATS, Document, draw
from assay.report.schemas import schema_of

from .test_faces import CASES

DOCUMENTS = [case for case in CASES if not case.startswith("measures")]


@cache
def document(case: str) -> Document:
    found = CASES[case]()
    assert isinstance(found, Document)
    return found


@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_comes_back_from_json(case: str) -> None:
    text = document(case).to_json()
    again = Document.from_json(text)
    assert again.to_json() == text
    assert again == document(case)
    assert (again.kind, again.headline) == (document(case).kind, document(case).headline)


@pytest.mark.parametrize("case", DOCUMENTS)
def test_every_face_of_a_document_read_back_is_the_same(case: str) -> None:
    again = Document.from_json(document(case).to_json())
    further = {"gate": ["junit"], "training": ["card"]}.get(again.kind, [])
    for face in [*FORMATS, *further]:
        assert draw(again, face) == draw(document(case), face)


@pytest.mark.parametrize("case", DOCUMENTS)
def test_every_document_keeps_its_schema(case: str) -> None:
    found = json.loads(document(case).to_json())
    validator = jsonschema.Draft202012Validator(schema_of(found["schema"]))
    assert [
        f"{list(e.absolute_path)}: {e.message}"[:200] for e in validator.iter_errors(found)
    ] == []
