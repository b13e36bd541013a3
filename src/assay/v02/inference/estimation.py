"""From a formula and a table to an estimate: which interval is legal, and which is the default.

A curve has such an interval at each of its points: a pointwise band.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from assay.v02.curves import Curve, Floats
from assay.errors import MethodError
from assay.v02.escaping import given_text
from assay.v02.formula import (
    FN,
    FP,
    TP,
    Expression,
    Proportion,
    derivative,
    evaluate,
    proportion,
    value,
)
from assay.v02.formula import cells as cells_of
from assay.v02.formula.properties import share_of
from assay.v02.inference import bootstrap, delta
from assay.v02.inference.bootstrap import BCa, Bootstrap
from assay.v02.inference.delta import STRATA_METHODS, Delta, FayFeuer, GammaInterval, Strata
from assay.v02.inference.estimate import Estimate, Quantity, squares_of, table_of
from assay.v02.inference.proportions import PROPORTION_METHODS, Ends, ProportionInterval, Wald, Wilson
from assay.v02.inference.score_intervals import DeLong, Newcombe
from assay.v02.inference.significance import check_level, normal
from assay.v02.measures import Interval
from assay.v02.tally import ClusterTally, Confusion

Method: TypeAlias = ProportionInterval | GammaInterval | Delta | Bootstrap | DeLong | Newcombe

METHODS: Mapping[str, Any] = {
    **PROPORTION_METHODS,
    "delta": Delta,
    "bootstrap": Bootstrap,
    "bca": BCa,
    "delong": DeLong,
    "newcombe": Newcombe,
    **STRATA_METHODS,
}

# Below this many effective rows in a cell, weighted intervals may be too narrow.
FEW_ROWS = 10

DEFAULT_LEVEL = 0.95
# What Wald's interval is made of, among the parts of an estimate.
STANDARD_ERROR = "se"
ONE_CLUSTER, ONE_OF_A_CLASS = (f"no interval: {why}" for why in (delta.ALONE, delta.LONE_CLASS))

_JACCARD = Quantity(TP / (TP + FP + FN), label=1)


def method_of(method: Any, level: float | None) -> tuple[Method | None, float]:
    """A method as an object, and its level; names are those of the contract.

    A method that is given as an object has its own level.
    """
    if isinstance(method, Method):
        own = method.level
        if level is not None and check_level(level) != own:
            raise MethodError(f"level={level} was given, but the method {method} has its own")
        return method, own
    level = check_level(DEFAULT_LEVEL if level is None else level)
    if method is None:
        return None, level
    if not isinstance(method, str) or method not in METHODS:
        raise MethodError(
            f"there is no interval method {given_text(method)}; choose from {', '.join(METHODS)}, "
            f"or give an object such as assay.Wilson(0.95)"
        )
    named: Method = METHODS[method](level=level)
    return named, level


def estimate(
    quantity: Quantity,
    confusion: Confusion,
    bounds: tuple[float, float],
    *,
    level: float = 0.95,
    method: Method | None = None,
    clusters: ClusterTally | None = None,
    strata: Strata | None = None,
    default: Interval = Interval.BY_SHAPE,
) -> Estimate:
    """The value of a formula with its interval, or with the reason why it has none.

    ``default`` says how the interval is found when no ``method`` is asked for; a method that is not
    legal for the formula is passed over. ``strata`` are those that all rows were drawn by.
    """
    exact = value_read = quantity.value(confusion)
    if math.isnan(exact):
        why = quantity.reason(confusion)
        # A share is undefined where it is of no rows.
        n = 0 if proportion(quantity.expression) is not None else effective_rows(confusion)
        return Estimate(exact, n=n, level=level, undefined=why)
    if quantity.label is not None and not isinstance(method, Bootstrap):
        # One label against the rest is a binary table; resamples are shared, so they are not cut.
        confusion = confusion.against_rest(quantity.label)
        clusters = None if clusters is None else clusters.against_rest(quantity.label)
        strata = None if strata is None else strata.against_rest(quantity.label)
        quantity = Quantity(quantity.expression, label=1)
    share = proportion(quantity.expression)
    n = effective_rows(confusion)
    note = None
    parts: dict[str, float] = {}
    if share is not None:
        trials = value(share.trials, quantity.cells(confusion))
        n = int(trials) if not confusion.weighted else _kish(quantity, confusion)
    if confusion.weighted:
        # Sums of weights round, so that a perfect value may come out beyond its range.
        exact = min(max(exact, bounds[0]), bounds[1])
        note = _lopsided(quantity, confusion) if strata is None else None
    in_clusters = None if clusters is None else _in_clusters(quantity, clusters, bounds, level)
    if isinstance(in_clusters, str):
        return Estimate(exact, n=n, level=level, note=in_clusters)
    if isinstance(method, Bootstrap):
        resampled = (
            bootstrap.interval(quantity, confusion, method)
            if clusters is None
            else bootstrap.cluster_interval(quantity, clusters, method)
        )
        ends, note = (resampled.low, resampled.high), resampled.note or note
        name = method.name if clusters is None else f"cluster {method.name}"
    elif in_clusters is not None:
        ends, name = in_clusters, "cluster delta"
    elif share is not None and not isinstance(method, Delta):
        ends, chosen = _share_ends(exact, quantity, confusion, method, strata, level)
        name, note = chosen.name, chosen.note if isinstance(chosen, GammaInterval) else note
        if isinstance(chosen, Wald):
            rows = n if not confusion.weighted else _effective(quantity, confusion, strata)
            parts = {STANDARD_ERROR: math.sqrt(exact * (1 - exact) / rows)}
    elif (
        default is Interval.BY_JACCARD
        and quantity.label is not None
        and not isinstance(method, Delta)
    ):
        jaccard = _JACCARD.value(confusion)
        drawn_so = None if strata is None else method
        (low, high), chosen = _share_ends(jaccard, _JACCARD, confusion, drawn_so, strata, level)
        ends, name = (2 * low / (1 + low), 2 * high / (1 + high)), chosen.name
    elif strata is not None and not isinstance(method, Delta):
        drawn = method if isinstance(method, GammaInterval) else FayFeuer(level)
        ends, name, note = strata.formula_ends(quantity, drawn), drawn.name, drawn.note
    else:
        touching = default is Interval.TOUCHING
        ends = delta.interval(
            quantity, confusion, bounds, level, touching=touching, value=value_read, strata=strata
        )
        name = "delta"
    low = max(min(ends[0], exact), bounds[0])
    high = min(max(ends[1], exact), bounds[1])
    return Estimate(exact, low, high, method=name, n=n, level=level, note=note, parts=parts)


def _in_clusters(
    quantity: Quantity, clusters: ClusterTally, bounds: tuple[float, float], level: float
) -> tuple[float, float] | str:
    """The interval by the spread between clusters, or why there is none."""
    if clusters.size < 2:
        return ONE_CLUSTER
    return delta.cluster_interval(quantity, clusters, bounds, level) or ONE_OF_A_CLASS


def _share_ends(
    exact: float,
    quantity: Quantity,
    confusion: Confusion,
    method: Method | None,
    strata: Strata | None,
    level: float,
) -> tuple[tuple[float, float], ProportionInterval | GammaInterval]:
    """The interval of a share, and its method: as asked for, or the default of how rows came."""
    if strata is not None and not isinstance(method, ProportionInterval):
        drawn = method if isinstance(method, GammaInterval) else FayFeuer(level)
        return strata.share_ends(quantity, drawn), drawn
    binomial = method if isinstance(method, ProportionInterval) else Wilson(level)
    table = quantity.cells(confusion)
    if confusion.weighted:
        trials = _effective(quantity, confusion, strata)
        successes = exact * trials
    else:
        share = share_of(quantity.expression)
        trials, successes = value(share.trials, table), value(share.successes, table)
    return binomial.ends(successes, trials), binomial


def _effective(quantity: Quantity, confusion: Confusion, strata: Strata | None) -> float:
    """How many unweighted rows would tell as much about a weighted share."""
    share = quantity.value(confusion)
    if strata is None:
        spread = delta.variance(quantity, table_of(confusion), squares_of(confusion))
    else:
        spread = delta.stratified(quantity, confusion, strata)
    # A share of nearly all rows may round to 1.
    if share < 1 and spread > 0:
        return share * (1 - share) / spread
    return _kish(quantity, confusion)


def _kish(quantity: Quantity, confusion: Confusion) -> float:
    """Kish's effective number of the rows that a weighted share is of."""
    trials = share_of(quantity.expression).trials
    squares = Confusion(confusion.labels, confusion.squares or confusion.cells)
    sums = value(trials, quantity.cells(confusion))
    return sums**2 / value(trials, quantity.cells(squares))


def _lopsided(quantity: Quantity, confusion: Confusion) -> str | None:
    """A warning where a cell that a binary formula rests on has few effective rows."""
    if quantity.label is None:
        return None
    sums = quantity.cells(confusion)
    squares = quantity.cells(Confusion(confusion.labels, confusion.squares or confusion.cells))
    for name in cells_of(quantity.expression):
        if sums[name] and sums[name] ** 2 / squares[name] < FEW_ROWS:
            return "few rows carry most of the weight: the interval may be too narrow"
    return None


def effective_rows(confusion: Confusion) -> float:
    """How many rows there are; with sampling weights, effectively."""
    if not confusion.weighted:
        return int(confusion.total)
    total = float(confusion.total)
    return total**2 / float(np.sum(squares_of(confusion))) if total else 0


# -- pointwise bands around a curve ----------------------------------------------------------------


def with_band(curve: Curve, level: float = 0.95) -> Curve:
    """The curve with columns ``low`` and ``high`` around its y measure.

    Wilson's interval where y is a share of rows; of a sum of two shares, Newcombe's from those of
    both; else the delta method, of ratios on the log scale.
    Pointwise: each threshold is taken as given, so the whole curve lies in the band less often
    than the level says.
    """
    if curve.weighted:
        raise MethodError("a curve of weighted rows has no band: its counts are sums of weights")
    low, high = _ends(curve, level)
    return replace(curve, columns={**curve.columns, "low": low, "high": high})


def _ends(curve: Curve, level: float) -> Ends:
    formula = curve.y.formula
    if formula is None:
        return _of_sum(curve, level)
    if math.isinf(sum(curve.y.range)):
        # What is above 0 and endless, or what 1 falls short by.
        return _on_log(curve, formula if math.isinf(curve.y.range[1]) else 1 - formula, level)
    share = proportion(formula)
    if share is not None:
        return _wilson(curve, share, level)
    error = normal(level) * _error(formula, curve.cells)
    floor, ceiling = curve.y.range
    y = curve.columns[curve.y.name]
    return np.clip(y - error, floor, ceiling), np.clip(y + error, floor, ceiling)


def _error(formula: Expression, cells: Mapping[str, Floats]) -> Floats:
    """The standard error by the delta method."""
    gradients = [
        cells[cell] * evaluate(derivative(formula, cell), cells) ** 2
        for cell in ("TP", "FP", "FN", "TN")
    ]
    error: Floats = np.sqrt(np.nansum(gradients, axis=0))
    return error


def _on_log(curve: Curve, formula: Expression, level: float) -> Ends:
    """The delta method on the logarithm; where a cell is empty half a row is added to each."""
    y = curve.columns[curve.y.name]
    few = np.any([curve.cells[cell] == 0 for cell in sorted(cells_of(formula))], axis=0)
    cells = {name: column + 0.5 * few for name, column in curve.cells.items()}
    ratio = evaluate(formula, cells)
    factor = np.exp(normal(level) * _error(formula, cells) / ratio)
    low, high = ratio / factor, ratio * factor
    if curve.y.formula != formula:
        low, high = 1 - high, 1 - low
    floor, ceiling = curve.y.range
    return np.clip(np.minimum(low, y), floor, None), np.clip(np.maximum(high, y), None, ceiling)


def _wilson(curve: Curve, share: Proportion, level: float) -> Ends:
    return Wilson(level)(
        evaluate(share.successes, curve.cells), evaluate(share.trials, curve.cells)
    )


def _of_sum(curve: Curve, level: float) -> Ends:
    """Newcombe's method for a sum of two weighted shares.

    Shares of the same rows exclude each other: their correlation is -sqrt(pq / ((1 - p)(1 - q))).
    Shares of different rows have none.
    """
    shares, falls, rises = [], [], []
    for weight, formula in curve.terms:
        share = evaluate(formula, curve.cells)
        ends = _wilson(curve, share_of(formula), level)
        below, above = (np.abs(weight * (share - end)) for end in ends)
        shares.append(share)
        falls.append(np.where(weight < 0, above, below))
        rises.append(np.where(weight < 0, below, above))
    between = _correlation(curve, shares)
    y = curve.columns[curve.y.name]
    return y - _added(falls, between), y + _added(rises, between)


def _added(parts: list[Floats], correlation: Floats) -> Floats:
    one, other = parts
    squares = one**2 + other**2 + 2 * correlation * one * other
    root: Floats = np.sqrt(np.maximum(squares, 0))
    return root


def _correlation(curve: Curve, shares: list[Floats]) -> Floats:
    """The correlation of both terms, with the signs of their weights."""
    (one, first), (other, second) = curve.terms
    if share_of(first).trials != share_of(second).trials:
        return np.zeros(len(curve))
    p, q = shares
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.sqrt(p * q / ((1 - p) * (1 - q)))
    return np.where(np.isfinite(size), -size * np.sign(one * other), 0.0)
