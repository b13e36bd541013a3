"""A line through the log odds: whether probabilities are too extreme, and whether too high.

Few scores are fitted as arrays. Of many, a fit to cells of neighbouring scores is the start, so
that Newton's method arrives in two or three passes, which run in fixed blocks on all cores and hold
no array as long as the scores.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from assay.measures.influence import Influence
from assay.measures.ranking import Smooth
from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK, map_blocks
from assay.tally.sums import SMALLEST_PROBABILITY

# Newton's method: how many steps at most, what is a short one, when it has arrived, and how far
# from the log odds an intercept may lie.
_STEPS, _SHORT, _CLOSE, _FAR = 100, 1e-3, 1e-14, 40.0
# The error after a step is about its square: what is left after one as short as this is rounding.
_LAST_STEP = 1e-8
_CELLS, _PASSES = 8192, 8

Floats = npt.NDArray[np.float64]


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
    # Beside narrow scores NumPy would round 1 - edge to 1.
    scores = tally.scores.astype(np.float64)
    clipped = (scores < edge) | (scores > 1 - edge)
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


def calibration_slope_in_blocks(tally: ScoreTally) -> Smooth:
    """The slope of the regression on the log odds, and its variance."""
    cells = _cells(tally)
    odds = log_odds(cells)
    if _parted(cells, odds):
        # So may the scores themselves be.
        return _by_influence(tally, calibration_slope_influence(tally))
    try:
        found = _stepwise(tally, cells, odds)
    except ZeroDivisionError:
        found = None
    return found or _by_influence(tally, calibration_slope_influence(tally))


def _stepwise(tally: ScoreTally, cells: ScoreTally, odds: Floats) -> Smooth | None:
    """The slope by Newton's method from that of the cells; None where it does not arrive."""
    p, both, _ = _shares(cells)
    centre, unit = _spread(both, odds)
    a, b = _fit(p, both, (odds - centre) / unit)
    for _ in range(_PASSES):
        found = _at(tally, (centre, unit), (a, b))
        det = found.w * found.wxx - found.wx * found.wx
        step_a = (found.wxx * found.u - found.wx * found.ux) / det
        step_b = (found.w * found.ux - found.wx * found.u) / det
        a, b = a + step_a, b + step_b
        if max(abs(step_a), abs(step_b)) <= _LAST_STEP:
            variance = _at(tally, (centre, unit), (a, b)).slope_variance()
            return Smooth(b / unit, variance / unit**2)
    return None


def calibration_intercept_in_blocks(tally: ScoreTally) -> Smooth:
    """What has to be added to all log odds, and its variance."""
    cells = _cells(tally)
    a = _shift(cells, log_odds(cells))[0]
    for _ in range(_PASSES):
        found = _at(tally, (0.0, 1.0), (a, 1.0))
        step = found.u / found.w if found.w else math.nan
        a += step
        if abs(step) <= _LAST_STEP:
            found = _at(tally, (0.0, 1.0), (a, 1.0))
            return Smooth(a, found.s / found.w**2)
    return _by_influence(tally, calibration_intercept_influence(tally))


def _by_influence(tally: ScoreTally, found: Influence) -> Smooth:
    return Smooth(found.value, found.variance(tally))


def _cells(tally: ScoreTally) -> ScoreTally:
    """Neighbouring scores as one, of about as many distinct ones each."""
    starts = np.arange(0, tally.size, -(-tally.size // _CELLS))
    counts = np.stack([np.add.reduceat(side, starts, dtype=np.int64) for side in tally.counts])
    middle = (starts + np.append(starts[1:], tally.size)) // 2
    return ScoreTally(tally.labels, tally.scores[middle], counts)


def _at(tally: ScoreTally, scale: tuple[float, float], line: tuple[float, float]) -> _Sums:
    """The sums at a line, over log odds that are centred and of one spread."""
    from scipy.special import expit

    (centre, unit), (a, b) = scale, line
    edge = SMALLEST_PROBABILITY

    def worker() -> Any:
        scratch = np.empty((6, BLOCK))

        def moments(values: Floats, x: Floats, most: int) -> list[float]:
            found = [float(values.sum())]
            for _ in range(most):
                np.multiply(values, x, out=values)
                found.append(float(values.sum()))
            return found

        def work(i: int, j: int) -> list[float]:
            x, likely, unlikely, positive, negative, spare = scratch[:, : j - i]
            said = np.clip(tally.scores[i:j], edge, 1 - edge, out=spare, dtype=np.float64)
            np.log(said, out=x)
            np.negative(said, out=said)
            np.subtract(x, np.log1p(said, out=said), out=x)
            np.subtract(x, centre, out=x)
            np.divide(x, unit, out=x)
            np.multiply(x, b, out=likely)
            np.add(likely, a, out=likely)
            expit(likely, out=likely)
            np.subtract(1.0, likely, out=unlikely)
            np.copyto(positive, tally.counts[1, i:j])
            np.copyto(negative, tally.counts[0, i:j])
            spread = np.add(positive, negative, out=spare)
            np.multiply(spread, likely, out=spread)
            np.multiply(spread, unlikely, out=spread)
            found = moments(spread, x, 2)
            np.multiply(positive, unlikely, out=positive)
            np.multiply(negative, likely, out=negative)
            found += moments(np.subtract(positive, negative, out=spare), x, 1)
            np.multiply(positive, unlikely, out=positive)
            np.multiply(negative, likely, out=negative)
            return found + moments(np.add(positive, negative, out=spare), x, 2)

        return work

    blocks = map_blocks(tally.size, worker)
    return _Sums(*(math.fsum(column) for column in zip(*blocks, strict=True)))
