"""Intervals of rows drawn by strata, against R's epitools and survey, and beta distributions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from assay.counts import Confusion
from assay.inference import FayFeuer, Quantity, Strata, Tiwari
from assay.inference.delta import WeightedSum, stratified
from assay.measures import RECALL

VALUES = json.loads((Path(__file__).parent / "r" / "strata_values.json").read_text())


@pytest.mark.parametrize("case", VALUES["sums"])
def test_the_interval_of_a_sum_is_that_of_epitools(case: dict[str, Any]) -> None:
    events, drawn, rows = (np.atleast_1d(case[name]) for name in ("events", "drawn", "rows"))
    weights = rows / drawn
    weighted_sum = WeightedSum(
        float((weights * events).sum()), float((weights**2 * events).sum()), weights
    )
    low, high = FayFeuer().of_sum(weighted_sum)
    total = float(rows.sum())
    # Of no events epitools gives no lower end; it is 0.
    expected = 0.0 if case["low"] == "NaN" else case["low"]
    assert low / total == pytest.approx(expected, rel=1e-9)
    assert high / total == pytest.approx(case["high"], rel=1e-9)


@pytest.mark.parametrize("case", VALUES["ratios"])
def test_the_variance_inside_of_strata_is_that_of_survey(case: dict[str, Any]) -> None:
    counts = np.array(case["cells"], float).reshape(-1, 2, 2)
    weights, drawn = np.array(case["weight"], float), case["drawn"]
    strata = Strata(tuple(map(str, range(len(weights)))), weights, counts)
    sums, squares = ((counts * weights[:, None, None] ** k).sum(axis=0).tolist() for k in (1, 2))
    table = Confusion(("normal", "attack"), tuple(map(tuple, sums)), tuple(map(tuple, squares)))
    assert RECALL.formula is not None
    recall = Quantity(RECALL.formula, label=1)
    assert recall.value(table) == pytest.approx(case["ratio"], rel=1e-12)
    # Survey divides by n - 1, and takes the strata of all days to be as large as on this one.
    slopes = recall.gradient(np.array(table.cells))
    moved = (counts * slopes).sum(axis=(1, 2))
    between = float((weights * moved**2 / drawn).sum())
    inside = case["se"] ** 2 * (drawn - 1) / drawn
    assert stratified(recall, table, strata) == pytest.approx(inside + between, rel=1e-9)


@pytest.mark.parametrize("method", [FayFeuer, Tiwari])
def test_the_share_of_two_sums_is_a_quantile_of_their_gamma_distributions(method: Any) -> None:
    """The distribution of L / (L + U), integrated at 30 digits."""
    weights = np.array([1.0, 7.0, 50.0])
    weighted_sum = WeightedSum(60.0, 180.0, weights[:1])
    missed = WeightedSum(22.0, 154.0, weights)
    low, high = method().of_share(weighted_sum, missed)
    (shape, scale), (other, unit) = _below(weighted_sum), _above(missed, method)
    assert _chance(low, shape, scale, other, unit) == pytest.approx(0.025, rel=1e-6)
    (shape, scale), (other, unit) = _above(weighted_sum, method), _below(missed)
    assert _chance(high, shape, scale, other, unit) == pytest.approx(0.975, rel=1e-6)


def _below(weighted_sum: WeightedSum) -> tuple[float, float]:
    return weighted_sum.value**2 / weighted_sum.variance, weighted_sum.variance / weighted_sum.value


def _above(weighted_sum: WeightedSum, method: Any) -> tuple[float, float]:
    weights = weighted_sum.weights
    if method is FayFeuer:
        weight, square = weights.max(), weights.max() ** 2
    else:
        weight, square = weights.mean(), (weights**2).mean()
    mean, variance = weighted_sum.value + weight, weighted_sum.variance + square
    return mean**2 / variance, variance / mean


def _chance(share: float, shape: float, scale: float, other: float, unit: float) -> float:
    """How likely the first is less than this share of both: P(X <= Y share / (1 - share))."""
    with mpmath.workdps(30):

        def density(y: Any) -> Any:
            below = mpmath.gammainc(
                shape, 0, y * unit * share / (1 - share) / scale, regularized=True
            )
            return below * y ** (other - 1) * mpmath.exp(-y) / mpmath.gamma(other)

        ends = [0, other / 2, other, 2 * other, 4 * other, 20 * other]
        return float(mpmath.quad(density, ends))
