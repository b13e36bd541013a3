"""The rows that R was given: ``python -m tests.real_data.rows_for_r FOLDER`` writes them as CSV.

With ``--train`` the forest is trained anew and its scores are stored first. A forest differs from
version to version of scikit-learn, so R's values belong to the scores that are stored.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl

from .files import NETWORK, TEST
from .forest import score

STORED = Path(__file__).parent / "r" / "nsl_kdd_scores.npz"
UNIT = 10_000


def forest() -> pl.DataFrame:
    """Labels and protocols of NSL-KDD's test part, and the stored scores as whole numbers."""
    with np.load(STORED) as stored:
        scores = pl.Series("score", stored["scores"])
    return pl.read_parquet(TEST, columns=["label", "protocol_type"]).with_columns(scores)


def network() -> pl.DataFrame:
    """The published probabilities of a network; float64 holds their float32 exactly."""
    return pl.read_parquet(NETWORK).with_columns(pl.col("prob").cast(float))


if __name__ == "__main__":
    if "--train" in sys.argv:
        scores = np.rint(score()["score"].to_numpy() * UNIT).astype(np.uint16)
        np.savez_compressed(STORED, scores=scores)
    folder = Path(sys.argv[1])
    forest().write_csv(folder / "forest.csv")
    network().write_csv(folder / "network.csv")
