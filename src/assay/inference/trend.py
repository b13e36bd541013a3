"""How a measure moves over periods that follow each other: its area, its slope, its change.

Each of them is a linear combination of the values of independent periods, and has its interval from
the periods' own by the method of variance estimates recovery (MOVER; Zou and Donner 2008): for
L = sum of c_k f_k, the lower end is L - sqrt(sum of c_k^2 (f_k - l_k)^2), where l_k is the upper
end of period k if c_k is negative; the upper end likewise. So whatever has intervals in its periods
has them over time, skewed as those are.

Such an interval holds the sampling error of these periods. How periods differ of themselves is
told by Cochran's Q around the line: where they scatter by more than their rows explain, the slope
has its interval from that scatter instead, by Student's t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.inference.estimate import Estimate
from assay.inference.quantiles import chi_square_p, normal, normal_p, student, student_p

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
            found = sampled.changed(low=low, high=high, method=RESIDUAL_T, note=note)
            return Slope(found, student_p(float(sampled) / error, df), scatter_p)
    return Slope(sampled, _p(sampled), scatter_p)


def _p(found: Estimate) -> float:
    """The p of no effect that fits an interval: below 1 - level where that leaves out 0."""
    value = float(found)
    toward = value - found.low if value > 0 else found.high - value
    if value == 0:
        return 1.0
    return normal_p(normal(found.level) * value / toward) if toward else 0.0


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
    for period, found in zip(periods, estimates, strict=True):
        if not math.isfinite(found):
            why = found.undefined or "it is infinite"
            return Estimate(math.nan, level=level, undefined=f"{period} has no value: {why}")
    if len(estimates) < 2:
        return Estimate(math.nan, level=level, undefined=ONE_PERIOD)
    return compute(estimates)
