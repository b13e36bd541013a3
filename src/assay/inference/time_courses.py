r"""What goes over time: a measure over periods, and how long it takes until something is detected.

The area, the slope and the change of a measure over periods that follow each other are each a
linear combination of the values of independent periods, and has its interval from
the periods' own by the method of variance estimates recovery (MOVER; Zou and Donner 2008): for
L = sum of c_k f_k, the lower end is L - sqrt(sum of c_k^2 (f_k - l_k)^2), where l_k is the upper
end of period k if c_k is negative; the upper end likewise. So whatever has intervals in its periods
has them over time, skewed as those are.

Such an interval holds the sampling error of these periods. How periods differ of themselves is
told by Cochran's Q around the line: where they scatter by more than their rows explain, the slope
has its interval from that scatter instead, by Student's t.

How long until something happens, where some were never seen to, is told by the Kaplan-Meier
estimate. An incident is detected after a while, or it is over before it was: then it is *censored*,
and all that is known is that its detection would have taken longer. With :math:`d_i` detections
among the :math:`n_i` incidents that are open just before the time :math:`t_i`,

.. math:: S(t) = \prod_{t_i \le t} (1 - d_i / n_i)

is the share that is still undetected after :math:`t`. Of a detection and a censoring at the same
time the detection comes first.

The estimate takes incidents that were censored to be like those that stayed open: attacks that are
stopped *because* they are about to be noticed would break that. The share of incidents that were
detected at all is another question, whose answer is a plain proportion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.estimate import Estimate
from assay.inference.proportions import Ends
from assay.inference.significance import (
    check_level,
    chi_square_p,
    normal,
    normal_p,
    student,
    student_p,
)
from assay.text import significant

MOVER = "mover"
RESIDUAL_T = "residual t"
# Levels of one number, though one was read back from text.
_SAME_LEVEL = 1e-9
# Below this p of no scatter but sampling error, the slope has its interval from the scatter.
SCATTER = 0.2
ONE_PERIOD = "there is one period; a course over time needs two"


@dataclass(frozen=True)
class Slope:
    """The slope a period of a straight line through the values, by least squares.

    ``p`` is that of no slope. ``scatter_p`` is the p of Cochran's Q around the weighted line: that
    periods differ from a line by sampling error alone; nan for fewer than three periods. Where it
    is small and the scatter gives the wider interval, that one is given.
    """

    estimate: Estimate
    p: float
    scatter_p: float


def combined(coefficients: Sequence[float], estimates: Sequence[Estimate]) -> Estimate:
    """A linear combination of independent estimates, with its interval by MOVER.

    >>> early = Estimate(0.9, 0.85, 0.93, n=100)
    >>> late = Estimate(0.7, 0.62, 0.77, n=100)
    >>> combined([-1, 1], [early, late])
    -0.200 [-0.285, -0.114]
    """
    value = math.fsum(c * e for c, e in zip(coefficients, estimates, strict=True))
    n = sum(e.n for e in estimates)
    level = estimates[0].level
    if any(math.isnan(e.low) or math.isnan(e.high) for e in estimates):
        note = "no interval: the measure has none in each period"
        return Estimate(value, n=n, level=level, note=note)
    below = above = 0.0
    for c, e in zip(coefficients, estimates, strict=True):
        down, up = float(e) - e.low, e.high - float(e)
        if c < 0:
            down, up = up, down
        # A period without weight does not matter, even where its end is infinite.
        below += (c * down) ** 2 if c else 0.0
        above += (c * up) ** 2 if c else 0.0
    low, high = value - math.sqrt(below), value + math.sqrt(above)
    return Estimate(value, low, high, method=MOVER, n=n, level=level)


def area_under_time(estimates: Sequence[Estimate]) -> Estimate:
    """AUT: the mean height of the line through the values, by trapezoids of equal width.

    AUT(f, N) = 1 / (N - 1) * sum over k of (f(k + 1) + f(k)) / 2 (Pendlebury et al. 2019).

    >>> area_under_time([Estimate(0.9), Estimate(0.7), Estimate(0.5)]).value
    0.7
    """
    steps = len(estimates) - 1
    inner = [1 / steps] * (steps - 1)
    return combined([0.5 / steps, *inner, 0.5 / steps], estimates)


def slope(positions: Sequence[float], estimates: Sequence[Estimate]) -> Slope:
    """The slope of the straight line through the values at their positions, unweighted."""
    x = np.asarray(positions, np.float64)
    x = x - x.mean()
    across = float(x @ x)
    sampled = combined((x / across).tolist(), estimates)
    if math.isnan(sampled.low):
        return Slope(sampled, math.nan, math.nan)
    scatter_p = _scatter_p(x, estimates)
    if scatter_p < SCATTER:
        y = np.array([float(e) for e in estimates])
        residual = y - y.mean() - float(sampled) * x
        df = len(y) - 2
        error = math.sqrt(float(residual @ residual) / df / across)
        reach = student(sampled.level, df) * error
        if 2 * reach > sampled.high - sampled.low:
            low, high = float(sampled) - reach, float(sampled) + reach
            note = "periods differ by more than their rows explain; the interval is from that"
            estimate = sampled.changed(low=low, high=high, method=RESIDUAL_T, note=note)
            return Slope(estimate, student_p(float(sampled) / error, df), scatter_p)
    return Slope(sampled, _p(sampled), scatter_p)


def _p(estimate: Estimate) -> float:
    """The p of no effect that fits an interval: below 1 - level where that leaves out 0."""
    value = float(estimate)
    toward = value - estimate.low if value > 0 else estimate.high - value
    if value == 0:
        return 1.0
    return normal_p(normal(estimate.level) * value / toward) if toward else 0.0


def _scatter_p(x: npt.NDArray[np.float64], estimates: Sequence[Estimate]) -> float:
    """The p of Cochran's Q of the residuals around the line that is weighted by precision."""
    if len(estimates) < 3:
        return math.nan
    reach = normal(estimates[0].level)
    errors = np.array([(e.high - e.low) / (2 * reach) for e in estimates])
    if not (np.isfinite(errors).all() and (errors > 0).all()):
        return math.nan
    design = np.stack([np.ones_like(x), x], axis=1) / errors[:, None]
    y = np.array([float(e) for e in estimates]) / errors
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return chi_square_p(float(np.square(y - fitted).sum()), len(x) - 2)


def change(estimates: Sequence[Estimate]) -> Estimate:
    """The last value less the first."""
    return combined([-1, 1], [estimates[0], estimates[-1]])


def unpaired_difference(old: Estimate, new: Estimate) -> tuple[Estimate, float]:
    """New less old, of rows of their own, with its interval by MOVER, and the p of no difference.

    Of two Wilson intervals that is Newcombe's method 10 (Newcombe 1998). It misleads where both
    estimates are of the same rows: it is too wide then, as a rule, and a paired comparison tells
    more. Where one is undefined, has no interval, or one of another level, p is nan and the
    difference says why.

    >>> old = Estimate(56 / 70, 0.6918, 0.8773, n=70)
    >>> new = Estimate(48 / 80, 0.4905, 0.7004, n=80)
    >>> difference, p = unpaired_difference(old, new)
    >>> difference, round(p, 3)
    (-0.200 [-0.334, -0.052], 0.008)
    """
    undefined = next((each for each in (old, new) if math.isnan(each)), None)
    if undefined is not None:
        reason = undefined.undefined or "one of the two values is undefined"
        return Estimate(math.nan, level=old.level, undefined=reason), math.nan
    if not math.isclose(old.level, new.level, abs_tol=_SAME_LEVEL):
        note = (
            f"intervals of {old.level:g} and {new.level:g} can't be taken together: both estimates "
            f"need one level"
        )
        return Estimate(new - old, n=old.n + new.n, level=new.level, note=note), math.nan
    difference = combined([-1, 1], [old, new])
    if math.isnan(difference.low):
        note = "no interval: one of the two estimates has none"
        return difference.changed(note=note), math.nan
    return difference, _p(difference)


def over_defined(
    periods: Sequence[str],
    estimates: Sequence[Estimate],
    compute: Callable[[Sequence[Estimate]], Estimate],
) -> Estimate:
    """A figure of all periods, or the reason why it is undefined: too few, or one without value."""
    level = estimates[0].level
    for period, estimate in zip(periods, estimates, strict=True):
        if not math.isfinite(estimate):
            why = estimate.undefined or "it is infinite"
            return Estimate(math.nan, level=level, undefined=f"{period} has no value: {why}")
    if len(estimates) < 2:
        return Estimate(math.nan, level=level, undefined=ONE_PERIOD)
    return compute(estimates)


# -- how long until it happens ---------------------------------------------------------------------

Floats = npt.NDArray[np.float64]

# A curve that is this close to a half is at a half: products of floats are right to some 1e-13.
_AT_HALF = 1e-9
# Terms of the series for the largest distance of a Brownian bridge; they fall as exp(-2 k^2 j^2).
_TERMS = 60


@dataclass(frozen=True, eq=False)
class KaplanMeier:
    """The share that is still undetected, after each time at which something happened.

    ``at_risk`` are open just before each time, ``events`` happen and ``censored`` are lost at it.

    >>> curve = kaplan_meier([3, 5, 5, 8, 9], [True, True, False, False, True])
    >>> curve.times.tolist(), curve.survival.round(3).tolist()
    ([3.0, 5.0, 8.0, 9.0], [0.8, 0.6, 0.6, 0.0])
    >>> curve.median()
    9.000 [0.000, inf]
    """

    times: Floats
    at_risk: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64]
    censored: npt.NDArray[np.int64]
    survival: Floats = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "survival", np.cumprod(1 - self.events / self.at_risk))

    @property
    def n(self) -> int:
        """How many were watched."""
        return int(self.at_risk[0]) if len(self.times) else 0

    @cached_property
    def log_variance(self) -> Floats:
        """The variance of log S by Greenwood's formula: the sum of d / (n (n - d)).

        It is infinite where the curve has come down to 0.
        """
        left = self.at_risk - self.events
        with np.errstate(divide="ignore"):
            return np.cumsum(self.events / (self.at_risk * left))

    @cached_property
    def variance(self) -> Floats:
        """The variance of S by Greenwood's formula; nan where the curve has come down to 0."""
        with np.errstate(invalid="ignore"):
            return self.survival**2 * self.log_variance

    def at(self, time: npt.ArrayLike) -> Floats:
        """The share that is still undetected after a time; nan after the last, unless it is 0."""
        time = np.asarray(time, np.float64)
        place = np.searchsorted(self.times, time, side="right")
        share = np.concatenate([[1.0], self.survival])[place]
        last = self.times[-1] if len(self.times) else -math.inf
        return np.where((time > last) & (share > 0), np.nan, share)

    def pointwise(self, level: float = 0.95) -> Ends:
        """The ends of an interval at each time, on the scale of log(-log S).

        Where nobody has been detected yet, and where the first detections took all, the scale has
        no number; Clopper-Pearson's interval of those at risk stands there. Where the curve comes
        down to 0 later, its upper end is the one before: the share only falls.
        """
        z = normal(level)
        low, high = self._on_log_log(z * np.sqrt(self.log_variance))
        none = self.survival == 1
        low[none], high[none] = _lower_end(level, self.at_risk[none]), 1.0
        low[self.survival == 0] = 0.0
        return low, self._closed(high, float(1 - _lower_end(level, self.n)))

    def simultaneous(self, level: float = 0.95) -> Ends:
        """The ends of a band that holds the whole curve, by Hall and Wellner (1980).

        S (1 + n v) k / sqrt(n) on both sides, where v is Greenwood's variance of log S and k the
        bound that a Brownian bridge keeps, up to the last detection that leaves some undetected,
        with the chance ``level``. In simulations of 5 to 200 incidents the 95% band held it whole
        in 94 to 99%. After that last detection its upper end stays, and its lower end is 0.
        """
        level = check_level(level)
        n, reached = self.n, self.log_variance[np.isfinite(self.log_variance)]
        spread = n * float(reached[-1]) if len(reached) else 0.0
        if spread == 0:
            # Nothing to go by: no detection, or one moment at which all were detected.
            return np.zeros(len(self.times)), np.ones(len(self.times))
        bound = hall_wellner(level, spread / (1 + spread))
        with np.errstate(invalid="ignore"):
            reach = self.survival * (1 + n * self.log_variance) * bound / math.sqrt(n)
        # What the curve can't do narrows it for nothing: leave 0 to 1, or rise.
        low = np.where(self.survival > 0, np.maximum(self.survival - reach, 0.0), 0.0)
        high = self._closed(np.minimum(self.survival + reach, 1.0), 1.0)
        return np.maximum.accumulate(low[::-1])[::-1], np.minimum.accumulate(high)

    def median(self, level: float = 0.95) -> Estimate:
        """The time by which half are detected, with Brookmeyer and Crowley's interval.

        The interval holds the times at which the pointwise one of the curve holds a half; it begins
        at 0 where so few are watched that half of them may be detected before the first was. Where
        the curve runs along a half it is the middle of that stretch, as of an even number of
        values. An end that the curve does not reach is infinite.
        """
        value = self._first_at_half(self.survival)
        if math.isinf(value):
            return Estimate(math.nan, n=self.n, level=level, undefined=self._above_half())
        low, high = self.pointwise(level)
        start = 0.0 if _lower_end(level, self.n) <= 0.5 else self._first_at_half(low)
        end = self._first_at_half(high)
        return Estimate(value, start, end, method="brookmeyer-crowley", n=self.n, level=level)

    def _above_half(self) -> str:
        if not self.n:
            return "there is nothing to detect"
        share = significant(100 * self.survival[-1])
        return f"{share}% are still undetected at the last time, more than half"

    def _on_log_log(self, reach: Floats) -> Ends:
        """S to the powers exp(-reach / log S) and exp(reach / log S)."""
        with np.errstate(all="ignore"):
            factor = np.exp(-reach / np.log(self.survival))
            return self.survival**factor, self.survival ** (1 / factor)

    def _closed(self, high: Floats, first: float) -> Floats:
        """Upper ends whose last one, of a curve that came down to 0, is the one before."""
        if self.n and self.survival[-1] == 0:
            down = int(np.argmin(self.survival))
            high[down:] = high[down - 1] if down else first
        return high

    def _first_at_half(self, curve: Floats) -> float:
        """When a curve that falls comes down to a half; the middle of a stretch along a half."""
        reached = np.flatnonzero(curve <= 0.5 + _AT_HALF)
        if not len(reached):
            return math.inf
        start = float(self.times[reached[0]])
        if curve[reached[0]] < 0.5 - _AT_HALF:
            return start
        below = np.flatnonzero(curve < 0.5 - _AT_HALF)
        return (start + float(self.times[below[0] if len(below) else -1])) / 2


def _lower_end(level: float, watched: npt.ArrayLike) -> Floats:
    """Clopper-Pearson's lower end of a share where all that were watched are left."""
    return np.asarray(((1 - level) / 2) ** (1 / np.maximum(watched, 1)))


def kaplan_meier(durations: Any, observed: Any) -> KaplanMeier:
    """The curve of durations, each of which ended with the event or was cut off before it.

    >>> kaplan_meier([60, 300], [True, False]).at([0, 60, 299]).tolist()
    [1.0, 0.5, 0.5]
    """
    durations, observed = np.asarray(durations, np.float64), np.asarray(observed, bool)
    if durations.ndim != 1 or durations.shape != observed.shape:
        raise MethodError(
            "durations and observed must be two lists of one length;"
            f" found {durations.shape} and {observed.shape}"
        )
    if not np.all(np.isfinite(durations) & (durations >= 0)):
        wrong = durations[~(np.isfinite(durations) & (durations >= 0))][0]
        raise MethodError(f"durations must be finite and not below 0; found {wrong!r}")
    times, place = np.unique(durations, return_inverse=True)
    events = np.bincount(place[observed], minlength=len(times))
    lost = np.bincount(place[~observed], minlength=len(times))
    at_risk = len(durations) - np.concatenate([[0], np.cumsum(events + lost)[:-1]])
    return KaplanMeier(times, at_risk[: len(times)], events, lost)


def bridge_within(bound: float, share: float) -> float:
    """The chance that a Brownian bridge stays within +-bound up to the share of its way.

    By reflection, with s = sqrt(a (1 - a)): the sum over all integers j of (-1)^j exp(-2 j^2 k^2)
    times the chance that a normal value with mean 2 j k (1 - a) and spread s lies within +-k.

    >>> round(bridge_within(1.3581, 1.0), 4)  # Kolmogorov's distribution
    0.95
    """
    from scipy.special import ndtr

    if bound <= 0:
        return 0.0
    order = np.arange(-_TERMS, _TERMS + 1)
    spread = math.sqrt(max(share * (1 - share), 1e-300))
    mean = 2 * order * bound * (1 - share)
    inside = ndtr((bound - mean) / spread) - ndtr((-bound - mean) / spread)
    signs = np.where(order % 2, -1.0, 1.0)
    return float(np.sum(signs * np.exp(-2.0 * order**2 * bound**2) * inside))


@lru_cache(maxsize=256)
def hall_wellner(level: float, share: float) -> float:
    """The bound that a Brownian bridge keeps up to the share of its way with the chance ``level``.

    >>> round(hall_wellner(0.95, 1.0), 4), round(hall_wellner(0.95, 0.5), 4)
    (1.3581, 1.2731)
    """
    return _root(lambda bound: bridge_within(bound, share) - level)


def _root(rises: Callable[[float], float]) -> float:
    low, high = 0.01, 10.0
    while high - low > 1e-13:
        middle = (low + high) / 2
        low, high = (middle, high) if rises(middle) < 0 else (low, middle)
    return (low + high) / 2
