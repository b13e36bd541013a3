"""A forest's predictions on NSL-KDD, and what the command says of them."""

from __future__ import annotations

import pytest

from .documents import Told, evaluate
from .forest import Predictions, score


@pytest.fixture(scope="session")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Predictions:
    """Train the forest and write what it says of the test part."""
    folder = tmp_path_factory.mktemp("nsl_kdd")
    rows = score().select("label", "protocol_type", "service", "score")
    predicted_rows = Predictions(rows, folder / "predictions.parquet", folder / "predictions.csv")
    rows.write_parquet(predicted_rows.parquet)
    rows.write_csv(predicted_rows.csv)
    return predicted_rows


@pytest.fixture(scope="session")
def told(predictions: Predictions, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The document of the Parquet file."""
    out = tmp_path_factory.mktemp("nsl_kdd") / "evaluation.json"
    return evaluate(out, predictions.parquet, *predictions.options)
