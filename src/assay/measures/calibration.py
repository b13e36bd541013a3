"""Whether a probability means what it says: reliability in bins and its summary."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK, map_blocks

BINS = 15
# From this variance of the count on, the normal limit is good to seven digits.
_NORMAL = 1e6

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predicted probability against observed share, in equal-width bins that hold rows.

    A bin holds its lower edge; the last one holds 1 too. ``n`` are rows, or effective rows where
    rows carry sampling weights.
    """

    predicted: Floats
    observed: Floats
    n: Floats
    weight: Floats

    @property
    def expected_calibration_error(self) -> float:
        """The mean distance of predicted and observed, weighted by rows."""
        gaps = np.abs(self.predicted - self.observed)
        return float((self.weight * gaps).sum() / self.weight.sum())

    @property
    def if_calibrated(self) -> float:
        """What the same measure would average if the model were calibrated, at this many rows.

        By De Moivre's formula for the mean distance of a binomial share from its probability,
        each bin's rows taken to have the bin's mean probability.
        """
        gaps = [
            _mean_deviation(round(n), p)
            for n, p in zip(self.n.tolist(), self.predicted.tolist(), strict=True)
        ]
        return float((self.weight * np.array(gaps)).sum() / self.weight.sum())


def reliability(tally: ScoreTally, bins: int = BINS) -> Reliability:
    """The reliability of a binary score tally whose scores are probabilities."""
    edges = np.searchsorted(tally.scores, np.arange(1, bins) / bins, side="left")
    cuts = [0, *edges.tolist(), tally.size]
    ends = list(pairwise(cuts))
    found = map_blocks(bins, lambda: lambda i, _: _bin(tally, *ends[i]), block=1)
    columns = np.array([row for row in found if row is not None]).reshape(-1, 4).T
    return Reliability(*columns)


def _bin(tally: ScoreTally, start: int, stop: int) -> tuple[float, float, float, float] | None:
    """The mean probability, observed share, rows and weight of some scores; None without rows."""
    positives = weight = predicted = squares = 0.0
    kind: Any = np.float64 if tally.weighted else np.int64
    for i in range(start, stop, BLOCK):
        part = slice(i, min(i + BLOCK, stop))
        counts = tally.counts[:, part]
        both = counts.sum(axis=0, dtype=kind)
        positives += float(counts[1].sum(dtype=kind))
        weight += float(both.sum())
        predicted += float((both * tally.scores[part].astype(np.float64)).sum())
        if tally.squares is not None:
            squares += float(tally.squares[:, part].sum())
    if not weight:
        return None
    n = weight**2 / squares if tally.squares is not None else weight
    return predicted / weight, positives / weight, n, weight


def _mean_deviation(n: int, p: float) -> float:
    """The mean distance of X/n from p for X binomial."""
    if n == 0 or p <= 0 or p >= 1:
        return 0.0
    if n * p * (1 - p) > _NORMAL:
        return math.sqrt(2 * p * (1 - p) / (math.pi * n))
    k = math.floor(n * p) + 1
    log = (
        math.lgamma(n + 1)
        - math.lgamma(k + 1)
        - math.lgamma(n - k + 1)
        + k * math.log(p)
        + (n - k + 1) * math.log1p(-p)
    )
    return 2 * k * math.exp(log) / n
