"""Whether a probability means what it says: in bins, and by a line through the log odds.

Bins tell reliability and Murphy's resolution, and what they can hold where scores are kept as a
grid. The line tells whether probabilities are too extreme, and whether too high. For it few scores
are fitted as arrays. Of many, a fit to cells of neighbouring scores is the start, so that Newton's
method arrives in two or three passes, which run in fixed blocks on all cores and hold no array as
long as the scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import ScoreCounts
from assay.counts.blocks import BLOCK, map_blocks
from assay.counts.losses import SMALLEST_PROBABILITY
from assay.measures.auc import Smooth
from assay.measures.roc_points import Influence, is_lopsided

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


def reliability(table: ScoreCounts, bins: int = BINS) -> Reliability:
    """The reliability of binary score counts whose scores are probabilities."""
    edges = np.searchsorted(table.scores, np.arange(1, bins) / bins, side="left")
    cuts = [0, *edges.tolist(), table.size]
    ends = list(pairwise(cuts))
    scores = table.middles() if table.inexact else table.scores
    if table.size <= BLOCK:
        # A thread would cost more than its bin.
        rows = [_bin(table, scores, *each) for each in ends]
    else:
        rows = map_blocks(bins, lambda: lambda i, _: _bin(table, scores, *ends[i]), block=1)
    columns = np.array([row for row in rows if row is not None]).reshape(-1, 4).T
    return Reliability(*columns)


def _bin(
    table: ScoreCounts, scores: npt.NDArray[Any], start: int, stop: int
) -> tuple[float, float, float, float] | None:
    """The mean probability, observed share, rows and weight of some scores; None without rows."""
    positives = weight = predicted = squares = 0.0
    kind: Any = np.float64 if table.weighted else np.int64
    for i in range(start, stop, BLOCK):
        part = slice(i, min(i + BLOCK, stop))
        counts = table.counts[:, part]
        both = counts.sum(axis=0, dtype=kind)
        positives += float(counts[1].sum(dtype=kind))
        weight += float(both.sum())
        predicted += float((both * scores[part].astype(np.float64)).sum())
        if table.squares is not None:
            squares += float(table.squares[:, part].sum())
    if not weight:
        return None
    n = weight**2 / squares if table.squares is not None else weight
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


def resolution_influence(table: ScoreCounts, bins: int = BINS) -> Influence:
    """Murphy's resolution, and by how much a row of each class at each score moves it."""
    binned = reliability(table, bins)
    total = float(binned.weight.sum())
    edges = np.searchsorted(table.scores, np.arange(1, bins) / bins, side="left")
    sizes = np.diff(np.concatenate(([0], edges, [table.size])))
    held = np.zeros(bins, np.int64)
    counts = table.counts.sum(axis=0, dtype=np.float64)
    held[[bool(part.sum()) for part in np.split(counts, edges)]] = np.arange(len(binned.n))
    at = np.repeat(held, sizes)
    off = binned.observed - binned.prevalence
    moves = [
        (off**2 - binned.resolution + 2 * off * (truth - binned.observed))[at] / total
        for truth in (1, 0)
    ]
    return Influence(binned.resolution, *moves)


def resolution_in_blocks(table: ScoreCounts, bins: int = BINS) -> Smooth:
    """The same value and its variance by bins, within which all rows of a class move it alike."""
    binned = reliability(table, bins)
    total = float(binned.weight.sum())
    off = binned.observed - binned.prevalence
    spread = 0.0
    for truth, share in ((1, binned.observed), (0, 1 - binned.observed)):
        moves = (off**2 - binned.resolution + 2 * off * (truth - binned.observed)) / total
        spread += float((binned.weight * share * moves**2).sum())
    return Smooth(binned.resolution, spread)


# -- bins of a grid --------------------------------------------------------------------------------

Ends: TypeAlias = tuple[float, float]


@dataclass(frozen=True, eq=False)
class BinRanges:
    """What bins of equal width can hold: each field has a row of least and one of largest values.

    ``gaps`` are sums over rows of the probability less the truth. A cell that straddles the edge of
    a bin may lie on either side.
    """

    gaps: Floats
    positives: Floats
    negatives: Floats
    total: float
    share: float

    @classmethod
    def of(cls, table: ScoreCounts, bins: int = BINS) -> BinRanges:
        """The bins of binary score counts whose scores are probabilities."""
        edges = np.arange(1, bins) / bins
        ends = table.ends()
        first, last = (np.searchsorted(edges, end, side="right") for end in ends)
        sides = table.counts.astype(np.float64)
        inside = first == last
        gaps, counted = np.zeros((2, bins)), np.zeros((2, 2, bins))
        for row, end in enumerate(ends):
            sums = sides[0] * end + sides[1] * (end - 1)
            gaps[row] = np.bincount(first[inside], sums[inside], minlength=bins)
        for label in (0, 1):
            counted[label] = np.bincount(first[inside], sides[label][inside], minlength=bins)
        for cell in np.flatnonzero(~inside).tolist():
            held = slice(first[cell], last[cell] + 1)
            gaps[0, held] += sides[1, cell] * (ends[0][cell] - 1)
            gaps[1, held] += sides[0, cell] * ends[1][cell]
            counted[:, 1, held] += sides[:, cell, None]
        total = float(sides.sum())
        return cls(gaps, counted[1], counted[0], total, float(sides[1].sum()) / total)

    @property
    def rows(self) -> Floats:
        """How many rows each bin has at least and at most."""
        return np.asarray(self.positives + self.negatives)

    def distances(self) -> tuple[Floats, Floats]:
        """The least and the largest distance of each sum of gaps from 0."""
        low, high = self.gaps
        return _distances(low, high, 0.0)

    def calibration_error(self) -> Ends:
        """The bounds of the mean distance of predicted and observed."""
        least, most = self.distances()
        return float(least.sum()) / self.total, float(most.sum()) / self.total

    def squared_gap(self) -> Ends:
        """The bounds of the mean squared distance; that of a bin is at most 1."""
        least, most = self.distances()
        fewest, largest = self.rows
        held = largest > 0
        low = np.square(least[held]) / largest[held]
        high = np.square(most) / np.where(fewest > 0, fewest, 1.0)
        high = np.where(fewest > 0, np.minimum(high, largest), largest)
        return float(low.sum()) / self.total, float(high.sum()) / self.total

    def resolution(self) -> Ends:
        """The bounds of the mean squared distance of observed shares from that of all rows."""
        (p_low, p_high), (n_low, n_high) = self.positives, self.negatives
        least, most = _distances(_share(p_low, n_high), _share(p_high, n_low), self.share)
        fewest, largest = self.rows
        low, high = fewest * np.square(least), largest * np.square(most)
        return float(low.sum()) / self.total, min(float(high.sum()) / self.total, 0.25)


def _distances(low: Floats, high: Floats, centre: float) -> tuple[Floats, Floats]:
    """The least and the largest distance of what lies between two ends from a centre."""
    least = np.maximum(np.maximum(low - centre, centre - high), 0.0)
    return least, np.maximum(np.abs(low - centre), np.abs(high - centre))


def _share(part: Floats, rest: Floats) -> Floats:
    """A part of the whole; 0 where there is none."""
    whole = part + rest
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)


# -- a line through the log odds -------------------------------------------------------------------

# Newton's method: how many steps at most, what is a short one, when it has arrived, and how far
# from the log odds an intercept may lie.
_STEPS, _SHORT, _CLOSE, _FAR = 100, 1e-3, 1e-14, 40.0
# The error after a step is about its square: what is left after one as short as this is rounding.
_LAST_STEP = 1e-8
_CELLS, _PASSES = 8192, 8


def calibration_slope_influence(table: ScoreCounts) -> Influence:
    """The slope of the logistic regression of the truth on the log odds that were said.

    nan where the scores part the classes, or are all alike: then no slope fits best.
    """
    odds = log_odds(table)
    nothing = np.zeros(table.size)
    unfitted = Influence(math.nan, nothing, nothing)
    if _parted(table, odds):
        return unfitted
    try:
        slope, (crossed, own), likely = _line(table, odds)
    except ZeroDivisionError:
        # Parted, but for odds that differ by rounding.
        return unfitted
    moves = [(truth - likely) * (crossed + own * odds) for truth in (1, 0)]
    return Influence(slope, *moves)


def calibration_intercept_influence(table: ScoreCounts) -> Influence:
    """What has to be added to all log odds so that their mean probability is the prevalence."""
    if is_lopsided(*(float(total) for total in table.totals())):
        # The intercept would be that of how sums round.
        nothing = np.zeros(table.size)
        return Influence(math.nan, nothing, nothing)
    odds = log_odds(table)
    intercept, likely, unlikely = _shift(table, odds)
    spread = float((table.counts.sum(axis=0) * likely * unlikely).sum())
    return Influence(intercept, unlikely / spread, -likely / spread)


def log_odds(table: ScoreCounts) -> Floats:
    """The log odds of each score; certainty is read as 2^-52 less than that."""
    edge = SMALLEST_PROBABILITY
    said = np.clip(table.scores.astype(np.float64), edge, 1 - edge)
    return np.asarray(np.log(said) - np.log1p(-said))


def certain(table: ScoreCounts) -> float:
    """How many rows, or which sum of weights, were said to be certain, one way or the other."""
    edge = SMALLEST_PROBABILITY
    # Beside narrow scores NumPy would round 1 - edge to 1.
    scores = table.scores.astype(np.float64)
    clipped = (scores < edge) | (scores > 1 - edge)
    return float(table.counts[:, clipped].sum())


def _parted(table: ScoreCounts, odds: Floats) -> bool:
    """Whether one threshold parts the classes, either way round."""
    negative, positive = (odds[side > 0] for side in table.counts)
    return bool(positive.min() >= negative.max() or negative.min() >= positive.max())


def _shares(table: ScoreCounts) -> tuple[Floats, Floats, float]:
    """The shares of positives and of all rows at each score, and how many rows there are."""
    total = float(table.counts.sum())
    q, p = table.counts / total
    return p, p + q, total


def _shift(table: ScoreCounts, odds: Floats) -> tuple[float, Floats, Floats]:
    """The shift of log odds at which as many positives are expected as there are, and the fit.

    By Newton's method within ever closer bounds. The fit is the probability of the positive and
    that of the negative: near 1 the other would lose its digits by subtraction.
    """
    from scipy.special import expit

    p, both, total = _shares(table)
    q = table.counts[0] / total
    low, high = -float(odds.max()) - _FAR, -float(odds.min()) + _FAR
    shift = 0.0
    for _ in range(_STEPS):
        likely, unlikely = expit(shift + odds), expit(-(shift + odds))
        excess = float((q * likely - p * unlikely).sum())
        low, high = (low, shift) if excess > 0 else (shift, high)
        spread = float((both * likely * unlikely).sum())
        tried = shift - excess / spread if spread > 0 else math.nan
        following = tried if low < tried < high else (low + high) / 2
        if abs(following - shift) <= _CLOSE * (1 + abs(shift)):
            break
        shift = following
    fitted = following + odds
    return following, np.asarray(expit(fitted)), np.asarray(expit(-fitted))


def _line(table: ScoreCounts, odds: Floats) -> tuple[float, tuple[float, float], Floats]:
    """A logistic regression on the log odds: its slope, the slope's row of the inverse information.

    By Newton's method on centred log odds of one spread; last, the fitted shares.
    """
    from scipy.special import expit

    p, both, total = _shares(table)
    centre, unit = _spread(both, odds)
    x = (odds - centre) / unit
    a, b = _fit(p, both, x)
    likely = np.asarray(expit(a + b * x))
    weight = both * likely * (1 - likely)
    i, j, k = float(weight.sum()), float((weight * x).sum()), float((weight * x * x).sum())
    det = (i * k - j * j) * total
    # Back from centred log odds.
    own = i / det / unit**2
    return b / unit, (-j / det / unit - own * centre, own), likely


def _spread(both: Floats, odds: Floats) -> tuple[float, float]:
    """The mean of the log odds, and their standard deviation."""
    centre = float((both * odds).sum())
    return centre, math.sqrt(float((both * (odds - centre) ** 2).sum()))


def _fit(p: Floats, both: Floats, x: Floats) -> tuple[float, float]:
    """The intercept and the slope of the most likely line, from shares of positives and of all."""
    from scipy.special import expit

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
    return a, b


# -- many scores -----------------------------------------------------------------------------------


class _Sums(NamedTuple):
    """Sums over rows at a line: w, w x, w x^2; u, u x; and s, s x, s x^2.

    x are the log odds, w is the spread l (1 - l) of the fitted share l, u the truth less l, and s
    the square of u.
    """

    w: float
    wx: float
    wxx: float
    u: float
    ux: float
    s: float
    sx: float
    sxx: float

    def slope_variance(self) -> float:
        """The sandwich variance of the slope."""
        det = self.w * self.wxx - self.wx * self.wx
        crossed, own = -self.wx / det, self.w / det
        return crossed**2 * self.s + 2 * crossed * own * self.sx + own**2 * self.sxx


def calibration_slope_in_blocks(table: ScoreCounts) -> Smooth:
    """The slope of the regression on the log odds, and its variance."""
    cells = _cells(table)
    odds = log_odds(cells)
    if _parted(cells, odds):
        # So may the scores themselves be.
        return _by_influence(table, calibration_slope_influence(table))
    try:
        slope = _stepwise(table, cells, odds)
    except ZeroDivisionError:
        slope = None
    return slope or _by_influence(table, calibration_slope_influence(table))


def _stepwise(table: ScoreCounts, cells: ScoreCounts, odds: Floats) -> Smooth | None:
    """The slope by Newton's method from that of the cells; None where it does not arrive."""
    p, both, _ = _shares(cells)
    centre, unit = _spread(both, odds)
    a, b = _fit(p, both, (odds - centre) / unit)
    for _ in range(_PASSES):
        sums = _sums_at(table, (centre, unit), (a, b))
        det = sums.w * sums.wxx - sums.wx * sums.wx
        step_a = (sums.wxx * sums.u - sums.wx * sums.ux) / det
        step_b = (sums.w * sums.ux - sums.wx * sums.u) / det
        a, b = a + step_a, b + step_b
        if max(abs(step_a), abs(step_b)) <= _LAST_STEP:
            variance = _sums_at(table, (centre, unit), (a, b)).slope_variance()
            return Smooth(b / unit, variance / unit**2)
    return None


def calibration_intercept_in_blocks(table: ScoreCounts) -> Smooth:
    """What has to be added to all log odds, and its variance."""
    cells = _cells(table)
    a = _shift(cells, log_odds(cells))[0]
    for _ in range(_PASSES):
        sums = _sums_at(table, (0.0, 1.0), (a, 1.0))
        step = sums.u / sums.w if sums.w else math.nan
        a += step
        if abs(step) <= _LAST_STEP:
            sums = _sums_at(table, (0.0, 1.0), (a, 1.0))
            return Smooth(a, sums.s / sums.w**2)
    return _by_influence(table, calibration_intercept_influence(table))


def _by_influence(table: ScoreCounts, influence: Influence) -> Smooth:
    return Smooth(influence.value, influence.variance(table))


def _cells(table: ScoreCounts) -> ScoreCounts:
    """Neighbouring scores as one, of about as many distinct ones each."""
    starts = np.arange(0, table.size, -(-table.size // _CELLS))
    counts = np.stack([np.add.reduceat(side, starts, dtype=np.int64) for side in table.counts])
    middle = (starts + np.append(starts[1:], table.size)) // 2
    return ScoreCounts(table.labels, table.scores[middle], counts)


def _sums_at(table: ScoreCounts, scale: tuple[float, float], line: tuple[float, float]) -> _Sums:
    """The sums at a line, over log odds that are centred and of one spread."""
    from scipy.special import expit

    (centre, unit), (a, b) = scale, line
    edge = SMALLEST_PROBABILITY

    def worker() -> Any:
        scratch = np.empty((6, BLOCK))

        def moments(values: Floats, x: Floats, most: int) -> list[float]:
            sums = [float(values.sum())]
            for _ in range(most):
                np.multiply(values, x, out=values)
                sums.append(float(values.sum()))
            return sums

        def work(i: int, j: int) -> list[float]:
            x, likely, unlikely, positive, negative, spare = scratch[:, : j - i]
            said = np.clip(table.scores[i:j], edge, 1 - edge, out=spare, dtype=np.float64)
            np.log(said, out=x)
            np.negative(said, out=said)
            np.subtract(x, np.log1p(said, out=said), out=x)
            np.subtract(x, centre, out=x)
            np.divide(x, unit, out=x)
            np.multiply(x, b, out=likely)
            np.add(likely, a, out=likely)
            expit(likely, out=likely)
            np.subtract(1.0, likely, out=unlikely)
            np.copyto(positive, table.counts[1, i:j])
            np.copyto(negative, table.counts[0, i:j])
            spread = np.add(positive, negative, out=spare)
            np.multiply(spread, likely, out=spread)
            np.multiply(spread, unlikely, out=spread)
            sums = moments(spread, x, 2)
            np.multiply(positive, unlikely, out=positive)
            np.multiply(negative, likely, out=negative)
            sums += moments(np.subtract(positive, negative, out=spare), x, 1)
            np.multiply(positive, unlikely, out=positive)
            np.multiply(negative, likely, out=negative)
            return sums + moments(np.add(positive, negative, out=spare), x, 2)

        return work

    blocks = map_blocks(table.size, worker)
    return _Sums(*(math.fsum(column) for column in zip(*blocks, strict=True)))
