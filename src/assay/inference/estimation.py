"""From a formula and a table to an estimate: which interval is legal, and which is the default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from assay.errors import MethodError
from assay.formula import FN, FP, TP, cells, proportion, value
from assay.inference import bootstrap, delta
from assay.inference.bootstrap import BCa, Bootstrap
from assay.inference.delta import Delta
from assay.inference.estimate import Estimate
from assay.inference.proportions import PROPORTION_METHODS, ProportionInterval, Wald, Wilson
from assay.inference.quantiles import check_level
from assay.inference.quantity import Quantity, squares_of, table_of
from assay.inference.scored import DeLong, Newcombe
from assay.inference.strata import STRATA_METHODS, FayFeuer, GammaInterval, Strata
from assay.measures import Interval
from assay.tally import ClusterTally, Confusion

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
ONE_CLUSTER = "no interval: one cluster tells nothing about the spread between clusters"

_JACCARD = Quantity(TP / (TP + FP + FN), label=1)


def method_of(method: Any, level: float | None) -> tuple[Method | None, float]:
    """A method as an object, and its level; names are those of the contract.

    A method that is given as an object has its own level.
    """
    if isinstance(method, Method):
        own = method.level
        if level is not None and level != own:
            raise MethodError(f"level={level} was given, but the method {method} has its own")
        return method, own
    level = check_level(DEFAULT_LEVEL if level is None else level)
    if method is None:
        return None, level
    if not isinstance(method, str) or method not in METHODS:
        raise MethodError(
            f"there is no interval method {method!r}; choose from {', '.join(METHODS)}, or give "
            f"an object such as assay.Wilson(0.95)"
        )
    found: Method = METHODS[method](level=level)
    return found, level


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
    if clusters is not None and clusters.size < 2:
        return Estimate(exact, n=n, level=level, note=ONE_CLUSTER)
    if isinstance(method, Bootstrap):
        found = (
            bootstrap.interval(quantity, confusion, method)
            if clusters is None
            else bootstrap.cluster_interval(quantity, clusters, method)
        )
        ends, note = (found.low, found.high), found.note or note
        name = method.name if clusters is None else f"cluster {method.name}"
    elif clusters is not None:
        ends = delta.cluster_interval(quantity, clusters, bounds, level)
        name = "cluster delta"
    elif share is not None and not isinstance(method, Delta):
        chosen = _of_shares(method, strata, level)
        ends, name = _share_ends(exact, quantity, confusion, chosen, strata), chosen.name
        note = chosen.note if isinstance(chosen, GammaInterval) else note
        if isinstance(chosen, Wald):
            rows = n if not confusion.weighted else _effective(quantity, confusion, strata)
            parts = {STANDARD_ERROR: math.sqrt(exact * (1 - exact) / rows)}
    elif (
        default is Interval.BY_JACCARD
        and quantity.label is not None
        and not isinstance(method, Delta)
    ):
        jaccard = _JACCARD.value(confusion)
        chosen = Wilson(level) if strata is None else _of_shares(method, strata, level)
        low, high = _share_ends(jaccard, _JACCARD, confusion, chosen, strata)
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


def _of_shares(
    method: Method | None, strata: Strata | None, level: float
) -> ProportionInterval | GammaInterval:
    """The method of a share: the one that was asked for, or the default of how rows were drawn."""
    if isinstance(method, ProportionInterval):
        return method
    if strata is None:
        return Wilson(level)
    return method if isinstance(method, GammaInterval) else FayFeuer(level)


def _share_ends(
    share: float,
    quantity: Quantity,
    confusion: Confusion,
    method: ProportionInterval | GammaInterval,
    strata: Strata | None,
) -> tuple[float, float]:
    if isinstance(method, GammaInterval):
        assert strata is not None  # noqa: S101 - a method for strata alone
        return strata.share_ends(quantity, method)
    parts = proportion(quantity.expression)
    assert parts is not None  # noqa: S101 - only called for proportions
    table = quantity.cells(confusion)
    if confusion.weighted:
        trials = _effective(quantity, confusion, strata)
        successes = share * trials
    else:
        trials, successes = value(parts.trials, table), value(parts.successes, table)
    return method.ends(successes, trials)


def _effective(quantity: Quantity, confusion: Confusion, strata: Strata | None = None) -> float:
    """How many unweighted rows would tell as much about a weighted share."""
    share = quantity.value(confusion)
    if strata is None:
        spread = delta.variance(quantity, table_of(confusion), squares_of(confusion))
    else:
        spread = delta.stratified(quantity, confusion, strata)
    if 0 < share < 1 and spread > 0:
        return share * (1 - share) / spread
    return _kish(quantity, confusion)


def _kish(quantity: Quantity, confusion: Confusion) -> float:
    """Kish's effective number of the rows that a weighted share is of."""
    parts = proportion(quantity.expression)
    assert parts is not None  # noqa: S101 - only called for proportions
    squares = Confusion(confusion.labels, confusion.squares or confusion.cells)
    sums = value(parts.trials, quantity.cells(confusion))
    return sums**2 / value(parts.trials, quantity.cells(squares))


def _lopsided(quantity: Quantity, confusion: Confusion) -> str | None:
    """A warning where a cell that a binary formula rests on has few effective rows."""
    if quantity.label is None:
        return None
    sums = quantity.cells(confusion)
    squares = quantity.cells(Confusion(confusion.labels, confusion.squares or confusion.cells))
    for name in cells(quantity.expression):
        if sums[name] and sums[name] ** 2 / squares[name] < FEW_ROWS:
            return "few rows carry most of the weight: the interval may be too narrow"
    return None


def effective_rows(confusion: Confusion) -> float:
    """How many rows there are; with sampling weights, effectively."""
    if not confusion.weighted:
        return int(confusion.total)
    total = float(confusion.total)
    return total**2 / float(np.sum(squares_of(confusion))) if total else 0
