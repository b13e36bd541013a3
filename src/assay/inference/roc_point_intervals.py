"""Intervals of measures at one point of the ROC curve that was chosen on the same rows.

The equal error rate e is where the false positive rate equals the false negative rate. There is an
interval of the detection rate at each e; all e that it doesn't rule out are the interval of the
equal error rate. For the largest distance of both rates (KS), each threshold has the interval of a
difference of two shares; the best threshold looks better than it is, by its optimism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.inference.proportions import Wilson
from assay.inference.significance import normal
from assay.measures import Points

Floats: TypeAlias = npt.NDArray[np.float64]

# Bisection steps for each end.
_STEPS = 12
# With more thresholds than this, every n-th is evaluated; neighbours hardly differ.
_MOST_THRESHOLDS = 10_000


def equal_error_interval(points: Points, value: float, level: float) -> tuple[float, float]:
    """The rates at which the interval of the detection rate holds one minus them."""
    turned = points.fp[::-1]

    def recall(rank: float) -> float:
        """The detection rate at the lowest threshold that flags at most ``rank`` negatives."""
        if rank < 0:
            return 0.0
        return float(points.tp[len(turned) - int(turned.searchsorted(rank, side="right"))]) / all_

    def excess(rate: float, side: int) -> float:
        """One end of the detection rate at a false positive rate, less 1 minus that rate.

        As :func:`assay.inference.score_intervals.rate_interval`, with the rank of the negative
        at the threshold by the Cornish-Fisher expansion of the binomial distribution.
        """
        within = recall(math.floor(rate * negatives * (1 + 1e-12)))
        spread = z * math.sqrt(negatives * rate * (1 - rate))
        rank = negatives * rate + side * spread + (z * z - 1) / 6 * (1 - 2 * rate) - 0.5
        base = math.floor(max(rank, -1.0))
        part = max(rank, -1.0) - base
        nearest = recall(base) * (1 - part) + recall(base + 1) * part
        end = wilson.ends(within * all_, all_)[side > 0]
        reach = math.hypot(end - within, max(side * (nearest - within), 0.0))
        return within + side * reach - (1 - rate)

    all_, negatives, z, wilson = points.positives, points.negatives, normal(level), Wilson(level)
    return (
        _crossing(lambda rate: excess(rate, 1), 0.0, value)[0],
        _crossing(lambda rate: excess(rate, -1), value, 1.0)[1],
    )


def _crossing(excess: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Two close rates between which an excess turns from negative to positive."""
    if excess(low) >= 0:
        return low, low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) >= 0 else (middle, high)
    return low, high


def farthest_interval(points: Points, optimism: float, level: float) -> tuple[float, float]:
    """The largest distance of detection rate and false positive rate.

    At each threshold the ends are those of a difference of two shares (MOVER of Wilson's).
    The true value is at least the distance at any threshold, so the upper end is the largest.
    """
    every = max(len(points) // _MOST_THRESHOLDS, 1)
    rates: list[Floats] = [points.tp / points.positives, points.fp / points.negatives]
    best = int(np.argmax(rates[0] - rates[1]))
    chosen = np.unique(np.append(np.arange(0, len(points), every), best))
    wilson = Wilson(level)
    recall, fpr = (rate[chosen] for rate in rates)
    low_recall, high_recall = wilson(recall * points.positives, points.positives)
    low_fpr, high_fpr = wilson(fpr * points.negatives, points.negatives)
    apart: Any = recall - fpr
    up = apart + np.hypot(high_recall - recall, fpr - low_fpr)
    down = apart - np.hypot(recall - low_recall, high_fpr - fpr)
    at = int(np.searchsorted(chosen, best))
    return max(float(down[at]) - optimism, 0.0), min(float(up.max()), 1.0)


def joined(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """The smallest interval that contains both."""
    ends = [end for end in (*one, *other) if not math.isnan(end)]
    return min(ends), max(ends)
