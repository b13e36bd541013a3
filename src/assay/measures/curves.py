"""Curves: a measure applied to the counts, swept over its thresholds. Steps, never interpolated.

A sweep is true and false positives at falling thresholds, from infinity on, where nothing is
flagged: what every curve is drawn from. A point where either measure is undefined is left out: so
the FAR-DR and precision-recall curves start at the first alert.

The convex hull of a ROC curve holds the thresholds that are best for some costs and base rate. What
a threshold costs depends on the base rate and on what both kinds of error cost, by one number: the
probability cost PC, from 0, where only false alarms cost, to 1, where only misses do. The
normalised expected cost of a threshold is FNR PC + FPR (1 - PC), a line over PC. The lowest lines
are those of the vertices of the hull. PC is 1/(1 + m) where lines of equal cost have the slope m in
the ROC plane (Provost and Fawcett 2001).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts import Exact, ScoreCounts
from assay.counts.blocks import BLOCK, map_blocks
from assay.errors import MethodError
from assay.formula import FN, FP, TN, TP, Cell, Expression, at_base_rate, evaluate
from assay.measures import (
    ALERT_RATE,
    FALSE_DISCOVERY_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    LIFT,
    NET_BENEFIT,
    PRECISION,
    PRECISION_GAIN,
    RECALL,
    RECALL_GAIN,
    Measure,
    find,
    upper_hull,
)
from assay.measures.agreement import net_benefit
from assay.text import quote

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]

POINTS = 2000
FEWEST_POINTS = 5


@dataclass(frozen=True, eq=False)
class Sweep:
    """True and false positives at decreasing thresholds; the first is infinity."""

    threshold: Floats
    tp: Floats
    fp: Floats
    positives: float
    negatives: float
    weighted: bool = False

    def cells(self) -> dict[str, Floats]:
        """The cells that formulas use, one value a threshold."""
        return {
            "TP": self.tp,
            "FP": self.fp,
            "FN": self.positives - self.tp,
            "TN": self.negatives - self.fp,
        }


def sweep(table: ScoreCounts, points: int | None = POINTS, keep: float | None = None) -> Sweep:
    """Sweep binary score counts over its thresholds.

    At most ``points`` of them: half spread evenly along the ROC curve, half by the rank of the
    alert on a geometric scale, which is where thresholds are deployed. ``None`` keeps all. The
    score that decides like the threshold ``keep`` is always among them.
    """
    if points is not None and points < FEWEST_POINTS:
        raise MethodError(f"a sweep has at least {FEWEST_POINTS} points; found {points}")
    negatives, positives = table.totals()
    targets = _Targets.all_scores()
    if points is not None and table.size >= points:
        targets = _Targets.thinned(positives, negatives, points)
    below = below_blocks(table)
    always = {0, table.size - 1}
    if keep is not None:
        always.add(int(np.searchsorted(table.scores, keep)))

    def work(i: int, j: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        counts = table.counts[:, i:j]
        running = np.cumsum(counts, axis=1, dtype=below.dtype)
        running += below[i // BLOCK][:, None]
        chosen = targets.within(running, below[i // BLOCK], [a - i for a in always if i <= a < j])
        # What lies below a chosen score is not flagged at it.
        return i + chosen, running[:, chosen] - counts[:, chosen]

    parts = map_blocks(table.size, lambda: work)
    if points is not None and table.size >= points:
        spare = points - 1 - sum(len(part) for part, _ in parts)
        if spare > points // 4:
            # Ties took many targets at once: what is left is spread over the scores themselves.
            always |= set(np.linspace(0, table.size - 1, spare).astype(int).tolist())
            parts = map_blocks(table.size, lambda: work)
    chosen = np.concatenate([part for part, _ in parts])[::-1]
    below_chosen = np.concatenate([part for _, part in parts], axis=1)[:, ::-1]
    return Sweep(
        np.concatenate(([np.inf], table.scores[chosen].astype(np.float64))),
        # Sums of weights may leave less than nothing, by rounding.
        np.concatenate(([0.0], np.maximum(positives - below_chosen[1], 0.0))),
        np.concatenate(([0.0], np.maximum(negatives - below_chosen[0], 0.0))),
        positives,
        negatives,
        table.weighted,
    )


def sweep_at(table: ScoreCounts, thresholds: Floats) -> Sweep:
    """True and false positives at thresholds that are given, in their order."""
    below = below_blocks(table)
    negatives, positives = table.totals()
    rows = np.empty((len(thresholds), 2), below.dtype)
    for i, first in enumerate(np.searchsorted(table.scores, thresholds).tolist()):
        block = first // BLOCK
        inside = table.counts[:, block * BLOCK : first]
        rows[i] = below[block] + inside.sum(axis=1, dtype=below.dtype)
    return Sweep(
        thresholds,
        np.asarray(positives - rows[:, 1], np.float64),
        np.asarray(negatives - rows[:, 0], np.float64),
        positives,
        negatives,
        table.weighted,
    )


def below_blocks(table: ScoreCounts) -> npt.NDArray[Any]:
    """How many negatives and positives lie below each block of scores."""
    kind: Any = np.float64 if table.weighted else np.int64
    sums = map_blocks(table.size, lambda: lambda i, j: table.counts[:, i:j].sum(axis=1, dtype=kind))
    return np.cumsum([np.zeros(2, kind), *sums], axis=0)


@dataclass(frozen=True, eq=False)
class _Targets:
    """Which scores a sweep keeps: each share of (weighted) rows below that is to be reached."""

    weights: tuple[tuple[float, float], ...]
    shares: tuple[Floats, ...]

    @classmethod
    def all_scores(cls) -> _Targets:
        return cls((), ())

    @classmethod
    def thinned(cls, positives: Any, negatives: Any, points: int) -> _Targets:
        # The first threshold, the highest and the lowest score and the kept one come besides.
        budget = points - 4
        along = np.linspace(0, 1, budget - budget // 2 + 1)[1:]
        rows = positives + negatives
        ranks = np.geomspace(1, rows, budget // 2 + 1)[:-1] / rows
        half = (0.5 / max(float(negatives), 1.0), 0.5 / max(float(positives), 1.0))
        each = 1 / float(rows)
        return cls((half, (each, each)), (np.sort(1 - along), np.sort(1 - ranks)))

    def within(
        self, running: npt.NDArray[Any], below: npt.NDArray[Any], always: list[int]
    ) -> npt.NDArray[np.int64]:
        """Positions in a block, given the rows up to each of its scores."""
        if not self.weights:
            return np.arange(running.shape[1])
        positions = [np.array(always, np.int64)]
        for (of_negatives, of_positives), shares in zip(self.weights, self.shares, strict=True):
            reached = running[0] * of_negatives
            reached += running[1] * of_positives
            start = below[0] * of_negatives + below[1] * of_positives
            first, last = np.searchsorted(shares, [start, reached[-1]])
            positions.append(np.searchsorted(reached, shares[first:last], side="right"))
        return np.unique(np.concatenate(positions))


# -- curves ----------------------------------------------------------------------------------------


class Axis(NamedTuple):
    """What stands on an axis and is no measure of the catalogue."""

    name: str
    title: str
    range: tuple[float, float]
    formula: Expression | None = None
    aside: str = ""


class Term(NamedTuple):
    """A share of rows and its weight in a sum; the weights are as many as the points."""

    weight: Floats
    share: Expression


@dataclass(frozen=True, eq=False)
class Curve:
    """A small table of columns, one row a threshold, and the measures on its axes.

    ``x`` is None where y stands against the threshold. ``note`` says what the reader has to know.
    A y that is no formula of the cells is the sum of ``terms``, from which it has its band.
    """

    name: str
    x: Measure | Axis | None
    y: Measure | Axis
    columns: Mapping[str, Floats]
    cells: Mapping[str, Floats]
    weighted: bool = False
    note: str = ""
    terms: tuple[Term, ...] = ()

    def __getitem__(self, column: str) -> Floats:
        return self.columns[column]

    def __len__(self) -> int:
        return len(self.columns["threshold"])

    def to_frame(self) -> pl.DataFrame:
        """The columns as a polars dataframe."""
        import polars as pl

        return pl.DataFrame(dict(self.columns))


def trace(swept: Sweep, name: str, y: Measure | Axis, x: Measure | Axis | None = None) -> Curve:
    """One measure against another, or against the threshold, along a sweep."""
    cells = swept.cells()
    columns = {"threshold": swept.threshold}
    measures = [measure for measure in (x, y) if measure is not None]
    for measure in measures:
        if measure.formula is None:
            raise MethodError(f"{measure.name} has no value at a single threshold")
        columns[measure.name] = evaluate(measure.formula, cells)
    defined = np.ones(len(swept.threshold), bool)
    for measure in measures:
        defined &= ~np.isnan(columns[measure.name])
    return Curve(
        name,
        measures[0] if x is not None else None,
        measures[-1],
        {key: column[defined] for key, column in columns.items()},
        {key: np.broadcast_to(column, defined.shape)[defined] for key, column in cells.items()},
        swept.weighted,
    )


def roc(swept: Sweep) -> Curve:
    """Detection rate against false positive rate."""
    return trace(swept, "ROC", RECALL, FALSE_POSITIVE_RATE)


def precision_recall(swept: Sweep) -> Curve:
    """Precision against detection rate."""
    return trace(swept, "precision-recall", PRECISION, RECALL)


def far_dr(swept: Sweep) -> Curve:
    """Detection rate against false alarm rate (false alarms over all alarms)."""
    return trace(swept, "FAR-DR", RECALL, FALSE_DISCOVERY_RATE)


def det(swept: Sweep) -> Curve:
    """Miss rate against false positive rate, with both as normal deviates (Martin et al. 1997).

    Of the thresholds without false positives the lowest is kept, and of those without misses the
    highest. The columns ``..._probit`` hold the deviates. A rate of 0 or 1 has none: it is put at
    half a row, and of weighted rows, which have no such size, it is nan. ``note`` says how many
    such points there are.
    """
    from scipy.special import ndtri

    curve = trace(_without_repeats(swept), "DET", FALSE_NEGATIVE_RATE, FALSE_POSITIVE_RATE)
    columns = dict(curve.columns)
    off = np.zeros(len(curve), bool)
    sides = ((FALSE_POSITIVE_RATE, swept.negatives), (FALSE_NEGATIVE_RATE, swept.positives))
    for measure, rows in sides:
        rate = columns[measure.name]
        outside = (rate <= 0) | (rate >= 1)
        off |= outside
        least = math.nan if swept.weighted else 0.5 / max(rows, 1)
        inside = np.where(outside, np.where(rate <= 0, least, 1 - least), rate)
        columns[f"{measure.name}_probit"] = ndtri(inside)
    where = "are left out, since rows carry weights" if swept.weighted else "stand at half a row"
    note = (
        f"{off.sum():,} of {len(curve):,} points have a rate of 0 or 1, which has no normal "
        f"deviate; they {where}"
    )
    return replace(curve, columns=columns, note=note if off.any() else "")


def _without_repeats(swept: Sweep) -> Sweep:
    """The sweep from the last threshold without false positives to the first without misses."""
    first = int(np.searchsorted(swept.fp, 0.0, side="right")) - 1
    last = int(np.searchsorted(swept.tp, swept.positives)) + 1
    part = slice(first, max(last, first + 1))
    return replace(swept, threshold=swept.threshold[part], tp=swept.tp[part], fp=swept.fp[part])


def gain(swept: Sweep) -> Curve:
    """Detection rate against the share of rows that raise an alert: the cumulative gain."""
    return trace(swept, "gain", RECALL, ALERT_RATE)


def lift(swept: Sweep) -> Curve:
    """Precision over prevalence against the share of rows that raise an alert."""
    return trace(swept, "lift curve", LIFT, ALERT_RATE)


def precision_recall_gain(swept: Sweep) -> Curve:
    """Precision gain against recall gain (Flach and Kull 2015).

    The gain of a share s at a prevalence p is (s - p) / ((1 - p) s): 0 for flagging everything, 1
    at best. Points whose recall is below the prevalence are left out, as ``note`` says.
    """
    curve = trace(swept, "precision-recall-gain", PRECISION_GAIN, RECALL_GAIN)
    kept = curve[RECALL_GAIN.name] >= 0
    left_out = len(curve) - int(kept.sum())
    note = (
        f"{left_out:,} of {len(curve):,} points have a recall below the prevalence and are left out"
    )
    return replace(
        curve,
        columns={name: column[kept] for name, column in curve.columns.items()},
        cells={name: column[kept] for name, column in curve.cells.items()},
        note=note if left_out else "",
    )


def recall_at(table: ScoreCounts, limits: Mapping[str, float]) -> tuple[float, float]:
    """The highest detection rate at which measures stay within limits, and its threshold.

    Where no threshold raises an alarm within the limits, the detection rate is 0 and the threshold
    infinity.

    >>> import numpy as np
    >>> scores, truth = np.array([0.9, 0.8, 0.7, 0.1]), np.array([1, 1, 0, 1])
    >>> table = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    >>> recall_at(table, {"false_discovery_rate": 0.1})
    (0.6666666666666666, 0.8)
    """
    swept = sweep(table, points=None)
    cells = swept.cells()
    allowed = np.ones(len(swept.threshold), bool)
    for name, limit in limits.items():
        formula = find(name).formula
        if formula is None:
            raise MethodError(f"{name} has no value at a single threshold")
        with np.errstate(invalid="ignore"):
            allowed &= evaluate(formula, cells) <= limit
    if not swept.positives:
        return math.nan, math.inf
    if not allowed.any():
        return 0.0, math.inf
    best = int(np.flatnonzero(allowed)[np.argmax(swept.tp[allowed])])
    return float(swept.tp[best] / swept.positives), float(swept.threshold[best])


# -- the convex hull of a ROC curve ----------------------------------------------------------------

# Products of counts below this have no overflow in 64 bits.
_SAFE = 1 << 61


def vertices(table: ScoreCounts) -> Sweep:
    """The thresholds at the vertices of the hull, of all thresholds that there are.

    Exact for counts: products of integers decide. Points on an edge between two vertices are none.
    """
    negatives, positives = table.totals()
    below = below_blocks(table)
    kind: Any = below.dtype
    if not table.weighted and negatives * positives >= _SAFE:
        kind = object

    def work(i: int, j: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        counts = table.counts[:, i:j].astype(below.dtype)
        unflagged = np.cumsum(counts, axis=1, dtype=below.dtype)
        unflagged += below[i // BLOCK][:, None] - counts
        flagged = np.array([[negatives], [positives]], kind) - unflagged.astype(kind)
        kept = upper_hull(flagged[0, ::-1], flagged[1, ::-1])
        position = j - 1 - kept
        return position, flagged[:, position - i]

    blocks = map_blocks(table.size, lambda: work)[::-1]
    positions = np.concatenate([np.array([-1]), *(part for part, _ in blocks)])
    points = np.concatenate([np.zeros((2, 1), kind), *(part for _, part in blocks)], axis=1)
    kept = upper_hull(points[0], points[1])
    threshold = np.append(table.scores.astype(np.float64), np.inf)[positions[kept]]
    fp, tp = points[:, kept].astype(np.float64)
    return Sweep(threshold, tp, fp, positives, negatives, table.weighted)


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
    largest = sys.float_info.max
    if not (0 <= cost_fn <= largest and 0 <= cost_fp <= largest):
        raise MethodError(
            f"costs are finite and not negative; found {quote(cost_fn)} and {quote(cost_fp)}"
        )
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
    table: ScoreCounts,
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
    if table.size and not (table.scores[0] >= 0 and table.scores[-1] <= 1):
        raise MethodError(
            f"a decision curve needs probabilities; found scores from {table.scores[0]:g} to "
            f"{table.scores[-1]:g}"
        )
    if base_rate is not None and not 0 <= base_rate <= 1:
        raise MethodError(f"a base rate lies between 0 and 1, such as 0.001; found {base_rate!r}")
    at = _thresholds(thresholds, keep)
    if table.size and not isinstance(table.kept, Exact):
        # Only from a score that is kept on are counts exact.
        places = np.searchsorted(table.scores, at).clip(max=table.size - 1)
        at = np.unique(table.scores[places].astype(np.float64))
    swept = sweep_at(table, at[at < 1])
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


def cost(table: ScoreCounts, *, in_use: tuple[float, float] | None = None) -> Curve:
    """The least normalised expected cost at each probability cost (Drummond and Holte 2006).

    FNR PC + FPR (1 - PC) at the ``threshold`` that is the best there. ``everything`` and
    ``nothing`` are the costs of flagging all rows and none; ``in_use`` the cost of the threshold in
    use, where its false positive rate and detection rate are given.
    """
    best = vertices(table)
    pc = np.append(PROBABILITIES, 1.0) if best.positives and best.negatives else np.empty(0)
    # Of two that cost the same, the higher threshold: it raises fewer alerts.
    at = np.maximum(np.searchsorted(breakpoints(best), pc) - 1, 0)
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
