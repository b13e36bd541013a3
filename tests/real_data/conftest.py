"""A forest's predictions on NSL-KDD, and what the command says of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from .documents import Told, evaluate
from .forest import score


@dataclass(frozen=True)
class Predictions:
    """The rows, and the two files that hold them."""

    rows: pl.DataFrame
    parquet: Path
    csv: Path

    @property
    def options(self) -> tuple[str, ...]:
        """How the command is told to read them."""
        return ("--negative", "normal", "--slice", "protocol_type")

    @property
    def truth(self) -> npt.NDArray[np.bool_]:
        """Whether a row is an attack."""
        return (self.rows["label"] != "normal").to_numpy()

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """How sure the forest is that it is."""
        return self.rows["score"].to_numpy()

    @property
    def flagged(self) -> npt.NDArray[np.bool_]:
        """Whether the forest says so."""
        return self.scores >= 0.5


@pytest.fixture(scope="session")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Predictions:
    """Train the forest and write what it says of the test part."""
    folder = tmp_path_factory.mktemp("nsl_kdd")
    test, scores = score()
    rows = test.select("label", "protocol_type", "service").with_columns(pl.Series("score", scores))
    found = Predictions(rows, folder / "predictions.parquet", folder / "predictions.csv")
    rows.write_parquet(found.parquet)
    rows.write_csv(found.csv)
    return found


@pytest.fixture(scope="session")
def told(predictions: Predictions, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """The document of the Parquet file."""
    out = tmp_path_factory.mktemp("nsl_kdd") / "evaluation.json"
    return evaluate(out, predictions.parquet, *predictions.options)
