"""What is found in the published probabilities of a real network, and in turned versions."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from assay import Evaluation, evaluate

FOLDER = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[4] / "shared" / "data"))
FILE = FOLDER / "preds_safelink_ann.parquet"

pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason=f"the real data are absent: {FILE.name} is not in $ASSAY_DATA"
)


@pytest.fixture(scope="module", params=["test", "deploy"])
def rows(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    frame = pl.read_parquet(FILE).filter(pl.col("split") == request.param)
    return frame["y_true"].to_numpy(), frame["prob"].to_numpy().astype(float)


def codes(evaluation: Evaluation) -> list[str]:
    return [finding.code for finding in evaluation.findings]


def test_the_network_is_slightly_miscalibrated_and_nothing_else(rows) -> None:
    truth, probability = rows
    assert codes(evaluate(truth, y_score=probability)) == ["E011"]


def test_its_decisions_are_sound(rows) -> None:
    truth, probability = rows
    assert codes(evaluate(truth, y_pred=(probability >= 0.5).astype(int))) == []


def test_turned_over_it_is_the_column_of_the_other_class(rows) -> None:
    truth, probability = rows
    assert codes(evaluate(truth, y_score=1 - probability)) == ["E001", "E014"]
    assert codes(evaluate(1 - truth, y_score=probability)) == ["E001", "E014"]


def test_turned_logits_and_decisions_are_inverted(rows) -> None:
    truth, probability = rows
    logit = np.log(probability / (1 - probability))
    assert codes(evaluate(truth, y_score=-logit, threshold=0)) == ["E001"]
    assert codes(evaluate(truth, y_pred=(probability < 0.5).astype(int))) == ["E001"]


def test_rounded_to_one_decimal_the_auc_has_bounds(rows) -> None:
    truth, probability = rows
    assert "E004" in codes(evaluate(truth, y_score=probability.round(1)))


def test_shuffled_it_has_learned_nothing(rows) -> None:
    truth, probability = rows
    shuffled = np.random.default_rng(0).permutation(probability)
    assert codes(evaluate(truth, y_score=shuffled)) == ["E002"]
