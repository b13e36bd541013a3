"""The convex hull of a ROC curve: the thresholds that are best for some costs and base rate.

What a threshold costs depends on the base rate and on what both kinds of error cost, by one number:
the probability cost PC, from 0, where only false alarms cost, to 1, where only misses do. The
normalised expected cost of a threshold is FNR PC + FPR (1 - PC), a line over PC. The lowest lines
are those of the vertices of the hull. PC is 1/(1 + m) where lines of equal cost have the slope m in
the ROC plane (Provost and Fawcett 2001).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.curves.sweeping import Floats, Sweep, below_blocks
from assay.curves.traced import Curve
from assay.errors import MethodError
from assay.measures import FALSE_POSITIVE_RATE, RECALL, upper_hull
from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK, map_blocks

# Products of counts below this have no overflow in 64 bits.
_SAFE = 1 << 61


def vertices(tally: ScoreTally) -> Sweep:
    """The thresholds at the vertices of the hull, of all thresholds that there are.

    Exact for counts: products of integers decide. Points on an edge between two vertices are none.
    """
    negatives, positives = tally.totals()
    below = below_blocks(tally)
    kind: Any = below.dtype
    if not tally.weighted and negatives * positives >= _SAFE:
        kind = object

    def work(i: int, j: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        counts = tally.counts[:, i:j].astype(below.dtype)
        unflagged = np.cumsum(counts, axis=1, dtype=below.dtype)
        unflagged += below[i // BLOCK][:, None] - counts
        flagged = np.array([[negatives], [positives]], kind) - unflagged.astype(kind)
        kept = upper_hull(flagged[0, ::-1], flagged[1, ::-1])
        position = j - 1 - kept
        return position, flagged[:, position - i]

    blocks = map_blocks(tally.size, lambda: work)[::-1]
    positions = np.concatenate([np.array([-1]), *(part for part, _ in blocks)])
    points = np.concatenate([np.zeros((2, 1), kind), *(part for _, part in blocks)], axis=1)
    kept = upper_hull(points[0], points[1])
    threshold = np.append(tally.scores.astype(np.float64), np.inf)[positions[kept]]
    fp, tp = points[:, kept].astype(np.float64)
    return Sweep(threshold, tp, fp, positives, negatives, tally.weighted)


def hull(swept: Sweep) -> Curve:
    """The hull as a curve: its vertices, and for which costs each of them is the best threshold.

    A vertex is the best between the slopes ``slope_low`` and ``slope_high`` of lines of equal cost,
    which is between the probability costs ``pc_low`` and ``pc_high``.
    """
    size = len(swept.tp) if swept.positives and swept.negatives else 0
    breaks = breakpoints(swept)
    with np.errstate(divide="ignore"):
        slopes = np.append((1 - breaks[:-1]) / breaks[:-1], 0.0)
    columns = {
        "threshold": swept.threshold[:size],
        FALSE_POSITIVE_RATE.name: swept.fp[:size] / (swept.negatives or math.nan),
        RECALL.name: swept.tp[:size] / (swept.positives or math.nan),
        "slope_low": slopes[1:],
        "slope_high": slopes[:-1],
        "pc_low": breaks[:-1],
        "pc_high": breaks[1:],
    }
    cells = {name: column[:size] for name, column in swept.cells().items()}
    return Curve("ROC hull", FALSE_POSITIVE_RATE, RECALL, columns, cells, swept.weighted)


def breakpoints(swept: Sweep) -> Floats:
    """From which probability cost on each vertex is the best, and at the end 1."""
    if not (swept.positives and swept.negatives):
        return np.ones(1)
    across, up = np.diff(swept.fp) * swept.positives, np.diff(swept.tp) * swept.negatives
    return np.concatenate(([0.0], across / (across + up), [1.0]))


def probability_cost(base_rate: float, cost_fn: float = 1.0, cost_fp: float = 1.0) -> float:
    """PC of a base rate and of what a miss and a false alarm cost.

    >>> round(probability_cost(0.001, cost_fn=500), 4)
    0.3336
    """
    if not 0 <= base_rate <= 1:
        raise MethodError(f"a base rate lies between 0 and 1, such as 0.001; found {base_rate!r}")
    if not (cost_fn >= 0 and cost_fp >= 0 and math.isfinite(cost_fn + cost_fp)):
        raise MethodError(f"costs are not negative; found {cost_fn!r} and {cost_fp!r}")
    missed, raised = base_rate * cost_fn, (1 - base_rate) * cost_fp
    if missed + raised == 0:
        raise MethodError("no error costs anything: give cost_fn= or cost_fp= above 0")
    return missed / (missed + raised)
