"""The difference of two estimates of independent rows, from their intervals alone."""

from __future__ import annotations

import math

from assay.errors import MethodError
from assay.inference.estimate import Estimate
from assay.inference.quantiles import normal, normal_p

METHOD = "mover"
# Estimates of one level may have been read back from text.
_SAME = 1e-9


def unpaired_difference(old: Estimate, new: Estimate) -> tuple[Estimate, float]:
    """New less old with its interval, and the p-value of no difference.

    The distance from each value to the end of its interval stands for its standard error there, and
    the two are added as squares (MOVER): of two Wilson intervals that is Newcombe's method 10. The
    p-value is the level at which that interval would end at 0, taken on the normal scale.

    It misleads where both estimates are of the same rows: then it is too wide, as a rule, and a
    paired comparison tells more. Reference: Zou and Donner 2008; Newcombe 1998.

    >>> old = Estimate(56 / 70, 0.6918, 0.8773, n=70)
    >>> new = Estimate(48 / 80, 0.4905, 0.7004, n=80)
    >>> difference, p = unpaired_difference(old, new)
    >>> difference, round(p, 3)
    (-0.200 [-0.334, -0.052], 0.008)
    """
    if abs(old.level - new.level) > _SAME:
        raise MethodError(
            f"intervals of {old.level:g} and {new.level:g} can't be taken together: make both "
            f"estimates with one level="
        )
    for estimate in (old, new):
        if math.isnan(estimate):
            reason = estimate.undefined or "one of the two values is undefined"
            return Estimate(math.nan, level=old.level, undefined=reason), math.nan
    value = float(new) - float(old)
    n = old.n + new.n
    if math.isnan(old.low + old.high + new.low + new.high):
        note = "one of the two has no interval, so that the difference has none"
        return Estimate(value, n=n, level=old.level, note=note), math.nan
    below = math.hypot(float(new) - new.low, old.high - float(old))
    above = math.hypot(new.high - float(new), float(old) - old.low)
    difference = Estimate(value, value - below, value + above, method=METHOD, n=n, level=old.level)
    return difference, _p(value, below if value > 0 else above, old.level)


def _p(value: float, reach: float, level: float) -> float:
    """The p-value of 0, where an interval of this level reaches so far towards it."""
    if value == 0:
        return 1.0
    if reach == 0:
        return 0.0
    return normal_p(abs(value) / reach * normal(level))
