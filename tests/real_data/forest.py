"""A random forest on NSL-KDD: it learns to tell attacks from normal traffic."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.ensemble import RandomForestClassifier

from .files import TEST, TRAIN


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


def score() -> pl.DataFrame:
    """The rows of the test part, and as ``score`` how sure the forest is of an attack."""
    train, test = pl.read_parquet(TRAIN).gather_every(5), pl.read_parquet(TEST)
    both = pl.concat([train, test])
    # Text becomes its place among all values in order.
    text = pl.col("protocol_type", "service", "flag").rank("dense")
    features = both.with_columns(text).drop("label", "difficulty").to_numpy()
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0, n_jobs=2)
    forest.fit(features[: len(train)], (train["label"] != "normal").to_numpy())
    # Threads would add the trees up in any order, and the last digits would differ.
    forest.set_params(n_jobs=1)
    sure = forest.predict_proba(features[len(train) :])[:, 1]
    return test.with_columns(pl.Series("score", sure))
