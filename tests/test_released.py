"""What released versions wrote is read, and says what it said then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError
from assay.report import FORMATS, Document, draw
from assay.tally import from_bytes

from .released.make import FEATURES, HOME, folder_of

VERSIONS = sorted(path for path in HOME.iterdir() if (path / "expected.json").exists())


def expected(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / "expected.json").read_text("utf-8"))
    return values


def test_this_version_has_left_its_files_and_tells_what_changed() -> None:
    assert folder_of(assay.__version__) in VERSIONS
    changes = (HOME.parents[1] / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## [{assay.__version__}] - 20" in changes


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_tally_is_read(folder: Path) -> None:
    tally = from_bytes((folder / "tally.bytes").read_bytes())
    assert tally.rows == 60
    assert assay.Evaluation(tally)["roc_auc"].value == expected(folder)["roc_auc"]


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_document_is_read_drawn_and_written_with_all_of_its_keys(folder: Path) -> None:
    text = (folder / "evaluation.json").read_text("utf-8")
    document = Document.from_json(text)
    for face in FORMATS:
        assert draw(document, face)
    assert json.loads(text).keys() <= document.plain.keys()
    values = {e["measure"]: e["value"] for e in document.plain["estimates"] if e["label"] is None}
    assert values["roc_auc"] == expected(folder)["roc_auc"]


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_a_model_is_read_or_refused_with_both_versions_of_scikit_learn(folder: Path) -> None:
    pytest.importorskip("sklearn", reason="models need the extra learn")
    from assay.learn.persistence import load_model

    try:
        loaded = load_model(folder / "model.skops")
    except InputError as refused:
        assert "saved with scikit-learn" in str(refused)  # noqa: PT017 - either is right
        return
    said = loaded.pipeline.predict_proba(FEATURES)[:, 1].tolist()
    assert said == pytest.approx(expected(folder)["probabilities"])
