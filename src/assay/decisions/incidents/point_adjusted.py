r"""Point-adjusted F1, computed to be audited: what it is, and what alarms at random get.

Papers on time series count every step of an incident as detected once any of its steps is flagged,
and quote F1 of those counts. Long incidents are then met by chance: a score that is drawn at random
and flags a few steps gets more than most detectors. So the number never stands alone here, but
beside what a random score of the same alarm rate is expected to get.

A random score flags each step by itself with the chance p. The incident i, of :math:`L_i` steps, is
met with the chance :math:`q_i = 1 - (1 - p)^{L_i}`, and false alarms are binomial among the
:math:`N` steps outside of incidents. With T the steps of all incidents and X those of the incidents
that were met, F1 is :math:`2X / (X + T + FP)`. As :math:`1/c = \int_0^\infty e^{-cs} ds`,

.. math:: E[F_1] = 2 \int_0^\infty e^{-sT} (1 - p + p e^{-s})^N \; \prod_i (1 - q_i + q_i e^{-sL_i})
          \; \sum_i \frac{q_i L_i e^{-sL_i}}{1 - q_i + q_i e^{-sL_i}} \; ds .

The integrand is a mixture of exponentials with rates between T and T + N. In log s the trapezoidal
rule is right to all digits for every one of them, so nothing is simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.decisions.incidents.ranges import Ranges
from assay.errors import InputError

Floats = npt.NDArray[np.float64]

# The rule errs by some |Gamma(1 + 2 pi i / step)| for each exponential, which is 4e-17.
_STEP = 0.245
# Left and right of these, in units of the fastest and the slowest rate, the rest is below 1e-17.
_BEGIN, _END = 1e-18, 45.0


@dataclass(frozen=True)
class PointAdjusted:
    """F1 after point adjustment, and before, beside what random alarms of the same rate get.

    ``alarm_rate`` is the share of steps that are flagged. All three are nan where there are no
    incidents.
    """

    f1: float
    unadjusted: float
    random: float
    alarm_rate: float

    @property
    def beats_random(self) -> bool:
        """Whether the adjusted F1 is above what a random score is expected to get."""
        return self.f1 > self.random


def point_adjusted(incidents: Ranges, alarms: Ranges, steps: int) -> PointAdjusted:
    """Point-adjusted F1 of alarms in a stretch of so many steps.

    >>> incidents = Ranges([100, 500], [200, 700])
    >>> judged = point_adjusted(incidents, Ranges([150, 600, 900], [151, 601, 905]), steps=1000)
    >>> round(judged.unadjusted, 3), round(judged.f1, 3), round(judged.random, 3)
    (0.013, 0.992, 0.735)
    """
    held = [ranges for ranges in (incidents, alarms) if len(ranges)]
    if any(ranges.start[0] < 0 or ranges.end[-1] > steps for ranges in held):
        raise InputError(f"ranges must lie in the steps 0 to {steps}; count them from the first")
    flagged, total = int(alarms.length.sum()), int(incidents.length.sum())
    if not total:
        return PointAdjusted(math.nan, math.nan, math.nan, flagged / steps)
    hits = incidents.within(alarms)
    met = np.unique(incidents.overlaps(alarms)[0])
    adjusted, false = int(incidents.length[met].sum()), flagged - hits
    return PointAdjusted(
        f1=2 * adjusted / (adjusted + total + false),
        unadjusted=2 * hits / (hits + total + false),
        random=expected_at_random(incidents, steps, flagged / steps),
        alarm_rate=flagged / steps,
    )


def expected_at_random(incidents: Ranges, steps: int, alarm_rate: float) -> float:
    """The expected point-adjusted F1 of a score that is drawn at random.

    >>> expected_at_random(Ranges([0], [3]), 4, 1.0) == 2 * 3 / (3 + 3 + 1)
    True
    """
    length, count = np.unique(incidents.length, return_counts=True)
    total = int(np.sum(length * count))
    if alarm_rate <= 0 or not total:
        return 0.0 if total else math.nan
    with np.errstate(divide="ignore"):
        missed = length * np.log1p(-alarm_rate)
        silent = np.log1p(-alarm_rate)
    first, last = math.log(_BEGIN / (2 * total + steps)), math.log(_END / total)
    nodes = first + _STEP * np.arange(math.ceil((last - first) / _STEP) + 1)
    s = np.exp(nodes)[:, None]
    met = -np.expm1(missed)
    either = _log_mean(missed, met, s * length)
    gain = np.sum(count * met * length * np.exp(-s * length - either), axis=1)
    outside = _log_mean(silent, alarm_rate, s[:, 0])
    rest = np.exp(-s[:, 0] * total + (steps - total) * outside + either @ count)
    return min(2 * _STEP * float(np.sum(s[:, 0] * rest * gain)), 1.0)


def _log_mean(log_rest: Any, chance: Any, x: Floats) -> Floats:
    """log(1 - chance + chance exp(-x)), where log_rest is log(1 - chance); to all digits."""
    near = chance * np.expm1(-x)
    far = np.logaddexp(log_rest, np.log(chance) - x)
    mean: Floats = np.where(near > -0.5, np.log1p(np.maximum(near, -0.5)), far)
    return mean
