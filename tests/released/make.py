"""Write what this version writes, once, when it is released: ``python -m tests.released.make``.

The files of a version are never written again: that later versions read them is what is promised.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

import assay
from assay.learn import data_of, find_recipe
from assay.learn.persistence import model_header, save_model
from assay.learn.recipes import Task
from assay.report import Provenance, document_of

HOME = Path(__file__).parent
LABELS = ["attack" if i % 3 == 0 else "normal" for i in range(60)]
SCORES = [i * 7 % 20 / 20 for i in range(60)]
FEATURES = pl.DataFrame(
    {"size": [i * 11 % 40 for i in range(60)], "kind": [["tcp", "udp"][i % 2] for i in range(60)]}
)


def folder_of(version: str) -> Path:
    """The folder of a version, by its first two numbers."""
    return HOME / ".".join(version.split(".")[:2])


def main() -> None:
    folder = folder_of(assay.__version__)
    folder.mkdir()
    tally = assay.count(LABELS, y_score=SCORES, clusters=[i // 4 for i in range(60)])
    (folder / "tally.bytes").write_bytes(tally.to_bytes())
    evaluation = assay.evaluate(LABELS, y_score=SCORES, base_rate=0.001)
    (folder / "evaluation.json").write_text(
        document_of(evaluation, Provenance(assay.__version__, "")).to_json(), "utf-8"
    )
    data = data_of(FEATURES.with_columns(label=pl.Series(LABELS)), label="label")
    task = Task(labels=data.labels, positive=data.positive)
    pipeline = find_recipe("tree").pipeline(task, {"depth": 3}).fit(data.frame, data.truth)
    header = model_header(
        pipeline, data.frame, labels=data.labels, positive=data.positive, threshold=0.5
    )
    save_model(pipeline, folder / "model.skops", header=header)
    expected = {
        "roc_auc": evaluation["roc_auc"].value,
        "probabilities": pipeline.predict_proba(FEATURES)[:, 1].tolist(),
    }
    (folder / "expected.json").write_text(json.dumps(expected) + "\n", "utf-8")


if __name__ == "__main__":
    main()
