"""What decisions are worth: the decision curve and the cost curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from assay.curves.convex_hull import breakpoints, vertices
from assay.curves.sweeping import Floats, sweep_at
from assay.curves.traced import Axis, Curve, Term
from assay.errors import MethodError
from assay.formula import FN, FP, TN, TP, Cell, Expression, at_base_rate, evaluate
from assay.measures import (
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    NET_BENEFIT,
    RECALL,
    Measure,
)
from assay.tally import ScoreTally
from assay.tally.keeping import Exact

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
            Term(np.full_like(odds, base_rate), _formula(RECALL)),
            Term(-(1 - base_rate) * odds, _formula(FALSE_POSITIVE_RATE)),
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
    assert NET_BENEFIT.of_costs is not None  # noqa: S101 - it is a measure of costs
    formula = NET_BENEFIT.of_costs(Cell("C_FP"), Cell("C_FN"))
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
            Term(pc, _formula(FALSE_NEGATIVE_RATE)),
            Term(1 - pc, _formula(FALSE_POSITIVE_RATE)),
        ),
    )


def _formula(rate: Measure) -> Expression:
    assert rate.formula is not None  # noqa: S101 - asked for rates only
    return rate.formula


def _defined(curve: Curve) -> Curve:
    """The curve where y is defined: all of it, or nothing."""
    if not np.isnan(curve[curve.y.name]).any():
        return curve
    empty = {name: column[:0] for name, column in curve.columns.items()}
    cells = {name: column[:0] for name, column in curve.cells.items()}
    terms = tuple(Term(term.weight[:0], term.share) for term in curve.terms)
    return Curve(curve.name, curve.x, curve.y, empty, cells, curve.weighted, terms=terms)
