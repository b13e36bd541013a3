"""Curves along a sweep: one measure against another, or against the threshold.

Steps, never interpolated. A point where either measure is undefined is left out: so the FAR-DR and
precision-recall curves start at the first alert.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.curves.sweeping import Floats, Sweep, sweep
from assay.errors import MethodError
from assay.formula import Expression, evaluate
from assay.measures import (
    ALERT_RATE,
    FALSE_DISCOVERY_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    LIFT,
    PRECISION,
    PRECISION_GAIN,
    RECALL,
    RECALL_GAIN,
    Measure,
    find,
)
from assay.tally import ScoreTally

if TYPE_CHECKING:
    import polars as pl


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
    first = max(int(np.searchsorted(swept.fp, 0.0, side="right")) - 1, 0)
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
    left = len(curve) - int(kept.sum())
    note = f"{left:,} of {len(curve):,} points have a recall below the prevalence and are left out"
    return replace(
        curve,
        columns={name: column[kept] for name, column in curve.columns.items()},
        cells={name: column[kept] for name, column in curve.cells.items()},
        note=note if left else "",
    )


def recall_at(tally: ScoreTally, limits: Mapping[str, float]) -> tuple[float, float]:
    """The highest detection rate at which measures stay within limits, and its threshold.

    Where no threshold raises an alarm within the limits, the detection rate is 0 and the threshold
    infinity.

    >>> import numpy as np
    >>> scores, truth = np.array([0.9, 0.8, 0.7, 0.1]), np.array([1, 1, 0, 1])
    >>> tally = ScoreTally.of_rows(("no", "yes"), scores, truth)
    >>> recall_at(tally, {"false_discovery_rate": 0.1})
    (0.6666666666666666, 0.8)
    """
    swept = sweep(tally, points=None)
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
