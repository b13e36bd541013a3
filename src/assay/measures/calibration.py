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
# Newton's method: how many steps at most, what is a short one, when it has arrived, and how far
# from the log odds an intercept may lie.
_STEPS, _SHORT, _CLOSE, _FAR = 100, 1e-3, 1e-14, 40.0

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
    try:
        slope, (crossed, own), likely = _line(tally, odds)
    except ZeroDivisionError:
        # Parted, but for odds that differ by rounding.
        return unfitted
    moves = [(truth - likely) * (crossed + own * odds) for truth in (1, 0)]
    return Influence(slope, *moves)


def calibration_intercept_influence(tally: ScoreTally) -> Influence:
    """What has to be added to all log odds so that their mean probability is the prevalence."""
    odds = log_odds(tally)
    intercept, likely = _shift(tally, odds)
    spread = float((tally.counts.sum(axis=0) * likely * (1 - likely)).sum())
    moves = [(truth - likely) / spread for truth in (1, 0)]
    return Influence(intercept, *moves)


def log_odds(tally: ScoreTally) -> Floats:
    """The log odds of each score; certainty is read as 2^-52 less than that."""
    edge = SMALLEST_PROBABILITY
    said = np.clip(tally.scores.astype(np.float64), edge, 1 - edge)
    return np.asarray(np.log(said) - np.log1p(-said))


def certain(tally: ScoreTally) -> float:
    """How many rows, or which sum of weights, were said to be certain, one way or the other."""
    edge = SMALLEST_PROBABILITY
    clipped = (tally.scores < edge) | (tally.scores > 1 - edge)
    return float(tally.counts[:, clipped].sum())


def _parted(tally: ScoreTally, odds: Floats) -> bool:
    """Whether one threshold parts the classes, either way round."""
    negative, positive = (odds[side > 0] for side in tally.counts)
    return bool(positive.min() >= negative.max() or negative.min() >= positive.max())


def _shares(tally: ScoreTally) -> tuple[Floats, Floats, float]:
    """The shares of positives and of all rows at each score, and how many rows there are."""
    total = float(tally.counts.sum())
    q, p = tally.counts / total
    return p, p + q, total


def _shift(tally: ScoreTally, odds: Floats) -> tuple[float, Floats]:
    """The shift of log odds at which as many positives are expected as there are, and the fit.

    By Newton's method within ever closer bounds.
    """
    from scipy.special import expit

    p, both, _ = _shares(tally)
    low, high = -float(odds.max()) - _FAR, -float(odds.min()) + _FAR
    found = 0.0
    for _ in range(_STEPS):
        likely = expit(found + odds)
        excess = float((both * likely - p).sum())
        low, high = (low, found) if excess > 0 else (found, high)
        spread = float((both * likely * (1 - likely)).sum())
        tried = found - excess / spread if spread > 0 else math.nan
        following = tried if low < tried < high else (low + high) / 2
        if abs(following - found) <= _CLOSE * (1 + abs(found)):
            break
        found = following
    return following, np.asarray(expit(following + odds))


def _line(tally: ScoreTally, odds: Floats) -> tuple[float, tuple[float, float], Floats]:
    """A logistic regression on the log odds: its slope, the slope's row of the inverse information.

    By Newton's method on centred log odds of one spread; last, the fitted shares.
    """
    from scipy.special import expit

    p, both, total = _shares(tally)
    centre = float((both * odds).sum())
    unit = math.sqrt(float((both * (odds - centre) ** 2).sum()))
    x = (odds - centre) / unit
    share = float(p.sum())
    a, b = math.log(share / (1 - share)), 0.0

    def height(a: float, b: float) -> float:
        eta = a + b * x
        return float((p * eta - both * np.logaddexp(0, eta)).sum())

    best = height(a, b)
    for _ in range(_STEPS):
        likely = expit(a + b * x)
        weight, off = both * likely * (1 - likely), p - both * likely
        i, j, k = float(weight.sum()), float((weight * x).sum()), float((weight * x * x).sum())
        u, v = float(off.sum()), float((off * x).sum())
        det = i * k - j * j
        step_a, step_b = (k * u - j * v) / det, (i * v - j * u) / det
        # A long step may lead too far; of a short one the heights differ by rounding alone.
        far = max(abs(step_a), abs(step_b)) > _SHORT
        while far and (tried := height(a + step_a, b + step_b)) < best:
            step_a, step_b = step_a / 2, step_b / 2
            far = max(abs(step_a), abs(step_b)) > _SHORT
        a, b, best = a + step_a, b + step_b, tried if far else best
        if max(abs(step_a), abs(step_b)) <= _CLOSE * (1 + max(abs(a), abs(b))):
            break
    likely = np.asarray(expit(a + b * x))
    weight = both * likely * (1 - likely)
    i, j, k = float(weight.sum()), float((weight * x).sum()), float((weight * x * x).sum())
    det = (i * k - j * j) * total
    # Back from centred log odds.
    own = i / det / unit**2
    return b / unit, (-j / det / unit - own * centre, own), likely
