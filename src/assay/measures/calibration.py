"""Whether a probability means what it says: reliability in bins, a line through the log odds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.measures.influence import Influence
from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK, map_blocks
from assay.tally.sums import SMALLEST_PROBABILITY

BINS = 15
# From this variance of the count on, the normal limit is good to seven digits.
_NORMAL = 1e6
# Newton's method: how many steps at most, how short they may get, and when it has arrived.
_STEPS, _SHORT, _SHORTEST, _CLOSE = 100, 1e-3, 2.0**-40, 1e-14
# Brent's method: how many steps at most where certain probabilities make a function flat.
_ROOT_STEPS = 5000

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


# -- a line through the log odds -------------------------------------------------------------------


def calibration_slope_influence(tally: ScoreTally) -> Influence:
    """The slope of the logistic regression of the truth on the log odds that were said.

    nan where the scores part the classes, or are all alike: then no slope fits best.
    """
    odds = log_odds(tally)
    nothing = np.zeros(tally.size)
    unfitted = Influence(math.nan, nothing, nothing)
    if _parted(tally, odds):
        return unfitted
    both = tally.counts.sum(axis=0, dtype=np.float64)
    # Log odds that lie close together, or far out, are fitted as well as any.
    off = odds - float((both * odds).sum() / both.sum())
    unit = math.sqrt(float((both * off**2).sum() / both.sum()))
    off /= unit
    try:
        slope, inverse, likely = _fitted(tally, np.stack([np.ones_like(off), off]))
    except np.linalg.LinAlgError:
        # Parted, but for odds that differ by rounding.
        return unfitted
    moves = [(truth - likely) * (inverse[1, 0] + inverse[1, 1] * off) / unit for truth in (1, 0)]
    return Influence(float(slope[1]) / unit, *moves)


def calibration_intercept_influence(tally: ScoreTally) -> Influence:
    """What has to be added to all log odds so that their mean probability is the prevalence."""
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    odds = log_odds(tally)
    negative, positive = tally.counts.astype(np.float64)
    share = logit(positive.sum() / (positive.sum() + negative.sum()))

    def missing(intercept: float) -> float:
        """How many positives more there are than the probabilities promise."""
        return float(
            (positive * expit(-odds - intercept) - negative * expit(odds + intercept)).sum()
        )

    # Each probability would be below the prevalence at one end, and above it at the other.
    ends = share - float(odds.max()) - 1, share - float(odds.min()) + 1
    intercept = brentq(missing, *ends, xtol=_CLOSE, rtol=_CLOSE, maxiter=_ROOT_STEPS)
    likely = expit(odds + intercept)
    information = float(((positive + negative) * likely * (1 - likely)).sum())
    return Influence(float(intercept), (1 - likely) / information, -likely / information)


def log_odds(tally: ScoreTally) -> Floats:
    """The log odds of each score; certainty is read as 2^-52 less than that."""
    edge = SMALLEST_PROBABILITY
    said = np.clip(tally.scores.astype(np.float64), edge, 1 - edge)
    return np.asarray(np.log(said) - np.log1p(-said))


def certain(tally: ScoreTally) -> int:
    """How many rows were said to be certain, one way or the other."""
    edge = SMALLEST_PROBABILITY
    clipped = (tally.scores < edge) | (tally.scores > 1 - edge)
    return int(
        (tally.counts[:, clipped] > 0).sum() if tally.weighted else tally.counts[:, clipped].sum()
    )


def _parted(tally: ScoreTally, odds: Floats) -> bool:
    """Whether one threshold parts the classes, either way round."""
    negative, positive = (odds[side > 0] for side in tally.counts)
    return bool(positive.min() >= negative.max() or negative.min() >= positive.max())


def _fitted(tally: ScoreTally, columns: Floats) -> tuple[Floats, Floats, Floats]:
    """A logistic regression by Newton's method: coefficients, inverse information, fit."""
    from scipy.special import expit

    total = float(tally.counts.sum())
    q, p = tally.counts / total
    both = p + q
    found = np.zeros(len(columns))

    def at(coefficients: Floats) -> tuple[float, Floats]:
        eta = coefficients @ columns
        likely = expit(eta)
        # The log likelihood, of what was true: stable for large log odds.
        return float((p * eta - both * np.logaddexp(0, eta)).sum()), likely

    height, likely = at(found)
    for _ in range(_STEPS):
        information = (columns * (both * likely * (1 - likely))) @ columns.T
        step = np.linalg.solve(information, columns @ (p - both * likely))
        length = 1.0
        # A long step may lead too far; of a short one the heights differ by rounding alone.
        far = float(np.abs(step).max()) > _SHORT
        while (tried := at(found + length * step))[0] < height and far and length > _SHORTEST:
            length /= 2
        found, moved = found + length * step, float(np.abs(length * step).max())
        height, likely = tried
        if moved <= _CLOSE * (1 + float(np.abs(found).max())):
            break
    information = (columns * (both * likely * (1 - likely))) @ columns.T
    return found, np.linalg.inv(information) / total, likely
