"""The notebooks of the examples run, without a network."""

from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples/notebooks"
# Something that its person came for, among what a notebook prints.
PRINTED = {
    "audit_a_paper.ipynb": "can't be right",
    "choose_a_threshold.ipynb": "with 90% confidence new data keep the constraint",
    "judge_a_model.ipynb": "at 1 in 1,000",
    "watch_a_detector.ipynb": "broken since 2026-03-1",
    "write_a_paper.ipynb": r"\begin{tabular}",
}


def read(name: str) -> Any:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(FOLDER / name, as_version=4)
    nbformat.validate(notebook)
    return notebook


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.ipynb")))
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel, the kernel of notebooks, is not installed")
    # What comes in by a proxy that is not there would fail.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    notebook = read(name)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=60, resources=resources).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", ())]
    assert not [out for out in outputs if out.get("name") == "stderr"]
    texts = [out.get("text", "") + out.get("data", {}).get("text/plain", "") for out in outputs]
    assert PRINTED[name] in "\n".join(texts)
    kinds = {kind for out in outputs for kind in out.get("data", {})}
    assert "text/html" in kinds
    draws = any(".plot." in cell.source for cell in notebook.cells if cell.cell_type == "code")
    assert ("image/svg+xml" in kinds) == draws
