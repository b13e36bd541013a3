"""The published probabilities of a real network, where they are at hand."""

import os
from pathlib import Path

import polars as pl
import pytest
from sklearn import metrics

import assay

FOLDER = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))
FILE = FOLDER / "preds_safelink_ann.parquet"

pytestmark = [
    pytest.mark.skipif(
        not FILE.exists(), reason=f"the real data are absent: {FILE.name} is not in $ASSAY_DATA"
    ),
    pytest.mark.slow,
]


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return pl.read_parquet(FILE)


@pytest.fixture(scope="module")
def evaluation(rows: pl.DataFrame) -> assay.Evaluation:
    return assay.evaluate(rows["y_true"], y_score=rows["prob"], slices={"split": rows["split"]})


def test_values_are_those_of_scikit_learn(rows: pl.DataFrame, evaluation: assay.Evaluation) -> None:
    truth, score = rows["y_true"].to_numpy(), rows["prob"].to_numpy()
    decision = score >= 0.5
    expected = {
        "accuracy": metrics.accuracy_score(truth, decision),
        "precision": metrics.precision_score(truth, decision),
        "recall": metrics.recall_score(truth, decision),
        "f1.macro": metrics.f1_score(truth, decision, average="macro"),
        "mcc": metrics.matthews_corrcoef(truth, decision),
        "kappa": metrics.cohen_kappa_score(truth, decision),
        "roc_auc": metrics.roc_auc_score(truth, score),
        "partial_auc": metrics.roc_auc_score(truth, score, max_fpr=0.1),
        "average_precision": metrics.average_precision_score(truth, score),
        "log_loss": metrics.log_loss(truth, score.astype(float)),
        "brier": metrics.brier_score_loss(truth, score.astype(float)),
    }
    for name, value in expected.items():
        assert evaluation[name] == pytest.approx(value, abs=1e-12), name


def test_the_network_is_not_inverted(evaluation: assay.Evaluation) -> None:
    # Document 000 swaps two cells of its table and calls the model random.
    assert evaluation["roc_auc"].low > 0.97
    assert evaluation["accuracy"].low > 0.9


def test_slices_add_up_to_the_whole(rows: pl.DataFrame, evaluation: assay.Evaluation) -> None:
    parts = list(evaluation.tally.slices.values())
    assert len(parts) == rows["split"].n_unique()
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert total == evaluation.confusion


def test_shards_of_the_file_are_the_whole(rows: pl.DataFrame) -> None:
    running = assay.RunningTally(labels=[0, 1], threshold=0.5)
    for start in range(0, len(rows), 4000):
        part = rows[start : start + 4000]
        running.update(y_true=part["y_true"], y_score=part["prob"])
    whole = assay.count(rows["y_true"], y_score=rows["prob"], labels=[0, 1], threshold=0.5)
    assert running.tally == whole
