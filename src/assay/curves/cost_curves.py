"""What decisions are worth: the decision curve, the cost curve, and the convex hull of a ROC curve.

The hull holds the thresholds that are best for some costs and base rate. What a threshold costs
depends on the base rate and on what both kinds of error cost, by one number: the probability cost
PC, from 0, where only false alarms cost, to 1, where only misses do. The normalised expected cost
of a threshold is FNR PC + FPR (1 - PC), a line over PC. The lowest lines are those of the vertices
of the hull. PC is 1/(1 + m) where lines of equal cost have the slope m in the ROC plane (Provost
and Fawcett 2001).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.curves.curve import Axis, Curve, Floats, Sweep, Term, below_blocks, sweep_at
from assay.errors import MethodError
from assay.formula import FN, FP, TN, TP, Cell, at_base_rate, evaluate
from assay.measures import (
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    NET_BENEFIT,
    RECALL,
    upper_hull,
)
from assay.measures.agreement import net_benefit
from assay.tally import ScoreTally
from assay.tally.blocks import BLOCK, map_blocks
from assay.tally.keeping import Exact

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


# -- decision curve and cost curve -----------------------------------------------------------------

_ROWS = TP + FP + FN + TN

PROBABILITY_COST = Axis("probability_cost", "probability cost", (0, 1), aside="PC")
NORMALISED_COST = Axis("normalised_cost", "normalised expected cost", (0, 1))

# Even steps, and finer ones towards 0, where attacks are rare or cost little.
PROBABILITIES = np.unique(
    np.concatenate(([0.0], np.geomspace(1e-6, 5e-3, 37)[:-1], np.arange(1, 200) / 200))
)

OPTIMISTIC = (
    "each threshold is the best on these rows, so on others the cost will be higher than the curve "
    "and its band say"
)


def decision(
    tally: ScoreTally,
    *,
    base_rate: float | None = None,
    thresholds: Sequence[float] | None = None,
    keep: float | None = None,
) -> Curve:
    """Net benefit against the threshold probability t (Vickers and Elkin 2006).

    TP/n - FP/n t/(1 - t) where scores of t and above are flagged: whoever flags from t on takes
    (1 - t)/t false alarms to be as bad as one miss. ``everything`` is the net benefit of flagging
    all rows; that of flagging none is 0. At a ``base_rate`` the rates of the rows are kept.
    ``keep`` is a threshold that shall be among the usual ones.
    """
    if tally.size and not (tally.scores[0] >= 0 and tally.scores[-1] <= 1):
        raise MethodError(
            f"a decision curve needs probabilities; found scores from {tally.scores[0]:g} to "
            f"{tally.scores[-1]:g}"
        )
    if base_rate is not None and not 0 <= base_rate <= 1:
        raise MethodError(f"a base rate lies between 0 and 1, such as 0.001; found {base_rate!r}")
    at = _thresholds(thresholds, keep)
    if tally.size and not isinstance(tally.kept, Exact):
        # Only from a score that is kept on are counts exact.
        places = np.searchsorted(tally.scores, at).clip(max=tally.size - 1)
        at = np.unique(tally.scores[places].astype(np.float64))
    swept = sweep_at(tally, at[at < 1])
    cells = swept.cells()
    odds = swept.threshold / (1 - swept.threshold)
    terms = (Term(np.ones_like(odds), TP / _ROWS), Term(-odds, FP / _ROWS))
    if base_rate is not None:
        terms = (
            Term(np.full_like(odds, base_rate), RECALL.of_counts),
            Term(-(1 - base_rate) * odds, FALSE_POSITIVE_RATE.of_counts),
        )
    every_row = {"TP": swept.positives, "FP": swept.negatives, "FN": 0.0, "TN": 0.0}
    columns = {
        "threshold": swept.threshold,
        NET_BENEFIT.name: _benefit(cells, swept.threshold, base_rate),
        "everything": _benefit(every_row, swept.threshold, base_rate),
    }
    curve = Curve("decision", None, NET_BENEFIT, columns, cells, swept.weighted, terms=terms)
    return _defined(curve)


def _benefit(
    cells: Mapping[str, npt.ArrayLike], threshold: Floats, base_rate: float | None
) -> Floats:
    """The net benefit at the costs that each threshold stands for."""
    formula = net_benefit(Cell("C_FP"), Cell("C_FN"))
    if base_rate is not None:
        formula = at_base_rate(formula, Fraction(repr(float(base_rate))))
    return evaluate(formula, {**cells, "C_FP": threshold, "C_FN": 1 - threshold})


def _thresholds(given: Sequence[float] | None, keep: float | None) -> Floats:
    if given is None:
        kept = [] if keep is None or not 0 <= keep < 1 else [keep]
        return np.unique(np.append(PROBABILITIES, kept))
    thresholds = np.unique(np.asarray(given, np.float64))
    if not len(thresholds) or not (thresholds[0] >= 0 and thresholds[-1] < 1):
        raise MethodError(
            f"threshold probabilities lie from 0 to below 1, such as [0.01, 0.05]; found {given!r}"
        )
    return thresholds


def cost(tally: ScoreTally, *, in_use: tuple[float, float] | None = None) -> Curve:
    """The least normalised expected cost at each probability cost (Drummond and Holte 2006).

    FNR PC + FPR (1 - PC) at the ``threshold`` that is the best there. ``everything`` and
    ``nothing`` are the costs of flagging all rows and none; ``in_use`` the cost of the threshold in
    use, where its false positive rate and detection rate are given.
    """
    best = vertices(tally)
    pc = np.append(PROBABILITIES, 1.0) if best.positives and best.negatives else np.empty(0)
    # Of two that cost the same, the higher threshold: it raises fewer alerts.
    at = np.clip(np.searchsorted(breakpoints(best), pc) - 1, 0, len(best.tp) - 1)
    cells = {name: column[at] for name, column in best.cells().items()}
    missed = cells["FN"] / (best.positives or math.nan)
    raised = cells["FP"] / (best.negatives or math.nan)
    columns = {
        "threshold": best.threshold[at],
        PROBABILITY_COST.name: pc,
        NORMALISED_COST.name: missed * pc + raised * (1 - pc),
        "everything": 1 - pc,
        "nothing": pc,
    }
    if in_use is not None:
        fpr, recall = in_use
        columns["in_use"] = (1 - recall) * pc + fpr * (1 - pc)
    return Curve(
        "cost",
        PROBABILITY_COST,
        NORMALISED_COST,
        columns,
        cells,
        best.weighted,
        note=OPTIMISTIC,
        terms=(
            Term(pc, FALSE_NEGATIVE_RATE.of_counts),
            Term(1 - pc, FALSE_POSITIVE_RATE.of_counts),
        ),
    )


def _defined(curve: Curve) -> Curve:
    """The curve where y is defined: all of it, or nothing."""
    if not np.isnan(curve[curve.y.name]).any():
        return curve
    empty = {name: column[:0] for name, column in curve.columns.items()}
    cells = {name: column[:0] for name, column in curve.cells.items()}
    terms = tuple(Term(term.weight[:0], term.share) for term in curve.terms)
    return Curve(curve.name, curve.x, curve.y, empty, cells, curve.weighted, terms=terms)
