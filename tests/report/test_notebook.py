"""A notebook that runs: results and figures show themselves where they end a cell."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

pytestmark = pytest.mark.slow

START = """
import numpy as np
import assay
random = np.random.default_rng(1)
y = (random.random(400) < 0.3).astype(int)
scores = {name: 1 / (1 + np.exp(2 - 4 * y - random.normal(size=400))) for name in ("old", "new")}
"""
RESULTS = {
    "evaluation": "assay.evaluate(y, y_score=scores['old'])",
    "comparison": "assay.compare(y, scores=scores, resamples=50)",
    "choice": "assay.choose_threshold(y, y_score=scores['old'], max_fpr=0.1, resamples=50)",
    "plan": "assay.plan(max_fpr=1e-4)",
    "frame": "assay.evaluate(y, y_score=scores['old']).to_frame()",
}
FIGURES = {
    "one": "assay.evaluate(y, y_score=scores['old']).plot.roc()",
    "two": "assay.compare(y, scores=scores, resamples=50).plot.det()",
    "figure": "assay.evaluate(y, y_score=scores['old']).plot.confusion().figure",
    # The same where the notebook has pyplot's own figures, too.
    "inline": "%matplotlib inline\nassay.evaluate(y, y_score=scores['old']).plot.reliability()",
}
SMALL = {"estimate": "assay.precision(tp=3, fp=1, fn=2, tn=4)", "test": "assay.mcnemar(9, 2)"}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    cells = {"start": START, **RESULTS, **FIGURES, **SMALL}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(c) for c in cells.values()]
    )
    folder = tmp_path_factory.mktemp("notebook")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path("src").resolve()), before or ""])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            client = nbclient.NotebookClient(
                notebook,
                timeout=300,
                kernel_name="python3",
                resources={"metadata": {"path": folder}},
            )
            client.execute()
    finally:
        os.environ["PYTHONPATH"] = before or ""
    return {name: cell.outputs for name, cell in zip(cells, notebook.cells, strict=True)}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself(name: str, outputs: dict[str, list[Any]]) -> None:
    (shown,) = outputs[name]
    assert "text/html" in shown["data"]
    if name != "frame":
        assert "assay-cell" in shown["data"]["text/html"]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_shows_itself(name: str, outputs: dict[str, list[Any]]) -> None:
    (shown,) = outputs[name]
    assert "image/svg+xml" in shown["data"]
    assert "image/png" in shown["data"]
    assert "<text" in shown["data"]["image/svg+xml"]


@pytest.mark.parametrize("name", SMALL)
def test_a_number_is_one_line(name: str, outputs: dict[str, list[Any]]) -> None:
    (shown,) = outputs[name]
    assert list(shown["data"]) == ["text/plain"]
    assert len(shown["data"]["text/plain"]) < 200
