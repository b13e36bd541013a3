"""Every face of the report on a forest's predictions."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

from assay.report.document import schema_of

from .documents import Told, report
from .files import TEST, TRAIN, needs
from .forest import Predictions

pytestmark = [needs(TRAIN, TEST), pytest.mark.slow]


def headline(told: Told) -> str:
    """The share of attacks that are caught, in percent."""
    return f"{100 * told.values()['recall']:.1f}"


@pytest.mark.parametrize("face", ["terminal", "markdown", "latex", "html"])
def test_a_face_for_readers_tells_the_headline_the_families_and_the_findings(
    face: str, predictions: Predictions, told: Told, tmp_path: Path
) -> None:
    text = report(face, tmp_path / "out", predictions.parquet, *predictions.options)
    plain = re.sub(r"<[^>]+>|\\(?=[%_])|\*\*", "", text)
    assert f"Catches {headline(told)}%" in plain
    assert all(name in plain for name in told.parts("family"))
    assert all(finding["code"] in plain for finding in told["findings"])


def test_the_page_is_small_and_asks_for_nothing(predictions: Predictions, tmp_path: Path) -> None:
    page = report("html", tmp_path / "out", predictions.parquet, *predictions.options)
    assert len(page.encode()) < 400_000
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", page)


def test_the_document_follows_its_schema(told: Told) -> None:
    schema = schema_of("assay.evaluation/1")
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(told.document)


def test_the_csv_holds_every_estimate(predictions: Predictions, told: Told, tmp_path: Path) -> None:
    text = report("csv", tmp_path / "out", predictions.parquet, *predictions.options)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(told["estimates"])
    for row, each in zip(rows, told["estimates"], strict=True):
        assert row["measure"] == each["measure"]
        for key in ("value", "low", "high", "n"):
            assert (json.loads(row[key]) if row[key] else None) == each[key], row
