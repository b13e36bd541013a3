"""Whether a probability means what it says: reliability in bins, and Murphy's resolution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.measures.influence import Influence
from assay.measures.ranking import Smooth
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

    @property
    def _shares(self) -> Floats:
        return np.asarray(self.weight / self.weight.sum())

    @property
    def prevalence(self) -> float:
        """The share of positives."""
        return float((self._shares * self.observed).sum())

    @property
    def squared_gap(self) -> float:
        """Murphy's reliability: the mean squared distance of predicted and observed."""
        return float((self._shares * (self.predicted - self.observed) ** 2).sum())

    @property
    def squared_gap_if_calibrated(self) -> float:
        """What the same would average if the model were calibrated."""
        spread = self.predicted * (1 - self.predicted) / self.n
        return float((self._shares * spread).sum())

    @property
    def resolution(self) -> float:
        """Murphy's resolution: how far the observed shares of bins lie from that of all rows."""
        return float((self._shares * (self.observed - self.prevalence) ** 2).sum())


def reliability(tally: ScoreTally, bins: int = BINS) -> Reliability:
    """The reliability of a binary score tally whose scores are probabilities."""
    edges = np.searchsorted(tally.scores, np.arange(1, bins) / bins, side="left")
    cuts = [0, *edges.tolist(), tally.size]
    ends = list(pairwise(cuts))
    scores = tally.middles() if tally.inexact else tally.scores
    if tally.size <= BLOCK:
        # A thread would cost more than its bin.
        found = [_bin(tally, scores, *each) for each in ends]
    else:
        found = map_blocks(bins, lambda: lambda i, _: _bin(tally, scores, *ends[i]), block=1)
    columns = np.array([row for row in found if row is not None]).reshape(-1, 4).T
    return Reliability(*columns)


def _bin(
    tally: ScoreTally, scores: npt.NDArray[Any], start: int, stop: int
) -> tuple[float, float, float, float] | None:
    """The mean probability, observed share, rows and weight of some scores; None without rows."""
    positives = weight = predicted = squares = 0.0
    kind: Any = np.float64 if tally.weighted else np.int64
    for i in range(start, stop, BLOCK):
        part = slice(i, min(i + BLOCK, stop))
        counts = tally.counts[:, part]
        both = counts.sum(axis=0, dtype=kind)
        positives += float(counts[1].sum(dtype=kind))
        weight += float(both.sum())
        predicted += float((both * scores[part].astype(np.float64)).sum())
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


# -- Murphy's resolution ---------------------------------------------------------------------------


def resolution_influence(tally: ScoreTally, bins: int = BINS) -> Influence:
    """Murphy's resolution, and by how much a row of each class at each score moves it."""
    found = reliability(tally, bins)
    total = float(found.weight.sum())
    edges = np.searchsorted(tally.scores, np.arange(1, bins) / bins, side="left")
    sizes = np.diff(np.concatenate(([0], edges, [tally.size])))
    held = np.zeros(bins, np.int64)
    counts = tally.counts.sum(axis=0, dtype=np.float64)
    held[[bool(part.sum()) for part in np.split(counts, edges)]] = np.arange(len(found.n))
    at = np.repeat(held, sizes)
    off = found.observed - found.prevalence
    moves = [
        (off**2 - found.resolution + 2 * off * (truth - found.observed))[at] / total
        for truth in (1, 0)
    ]
    return Influence(found.resolution, *moves)


def resolution_in_blocks(tally: ScoreTally, bins: int = BINS) -> Smooth:
    """The same value and its variance by bins, within which all rows of a class move it alike."""
    found = reliability(tally, bins)
    total = float(found.weight.sum())
    off = found.observed - found.prevalence
    spread = 0.0
    for truth, share in ((1, found.observed), (0, 1 - found.observed)):
        moves = (off**2 - found.resolution + 2 * off * (truth - found.observed)) / total
        spread += float((found.weight * share * moves**2).sum())
    return Smooth(found.resolution, spread)
