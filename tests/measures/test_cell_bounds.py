"""Bounds of a grid hold the exact value of every measure of scores, and are close to it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import ScoreCounts
from assay.counts.grid import Grid
from assay.measures import (
    AVERAGE_PRECISION,
    CATALOGUE,
    ROC_AUC,
    Binned,
    MeanLoss,
    Measure,
    Ranked,
)
from assay.measures.calibration import reliability
from assay.measures.scores import ROUNDING, bound_of, of_precision

LABELS = ("benign", "attack")
MEASURES = [m for m in CATALOGUE if isinstance(m.of_scores, Ranked | MeanLoss | Binned)]
Array = np.ndarray[Any, Any]


def _share(logits: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -700, 700))))


SHAPES = {
    "probabilities": _share,
    "saturated": lambda logits: _share(12 * logits),
    "tiny": lambda logits: _share(logits) / 1000,
    "tiny below one": lambda logits: 1 - _share(logits) / 1000,
    "tied": lambda logits: _share(logits).round(2),
    "coarse": lambda logits: _share(logits).round(1),
    "of any sign": lambda logits: 10 * logits,
    "narrow": lambda logits: _share(logits).astype(np.float32).astype(np.float64),
}


def _drawn(seed: int) -> tuple[str, Array, Array, Array | None]:
    """The rows of one set: how they look, truth, scores, and sampling weights for some."""
    random = np.random.default_rng(seed)
    shape = list(SHAPES)[seed % len(SHAPES)]
    size = int(random.choice([20, 150, 1500]))
    truth = (random.random(size) < random.choice([0.03, 0.3, 0.5])).astype(np.uint8)
    truth[:2] = 0, 1
    logits = random.normal(size=size) * random.choice([0.3, 1, 4])
    logits += truth * random.choice([0.0, 1.0, 3.0, -1.0])
    weights = random.random(size) + 0.1 if seed % 5 == 3 else None
    return shape, truth, SHAPES[shape](logits), weights


def _value(measure: Measure, table: ScoreCounts) -> float:
    """The value of a measure on exact scores; nan where it needs more rows."""
    declared = measure.of_scores
    if isinstance(declared, Binned):
        return declared.value(reliability(table))
    assert isinstance(declared, Ranked | MeanLoss)
    return declared.value(table)


def _held(seed: int, bits: int) -> None:
    """Each bound of one set of rows holds the exact value."""
    shape, truth, values, weights = _drawn(seed)
    exact = ScoreCounts.of_rows(LABELS, values, truth, weights=weights)
    grid = ScoreCounts.of_rows(LABELS, values, truth, weights=weights, kept=Grid(bits))
    probability = bool(values.min() >= 0 and values.max() <= 1)
    for measure in MEASURES:
        declared = measure.of_scores
        if isinstance(declared, Ranked):
            if declared.missing(*exact.effective()[::-1]) is not None:
                continue
            needs_probabilities = declared.probabilities
            # A fit has no bounds: the order inside a cell doesn't bound it.
            if needs_probabilities and declared.bound is None:
                continue
        else:
            needs_probabilities = True
        if needs_probabilities and not probability:
            continue
        low, high = bound_of(declared, grid)
        assert low <= _value(measure, exact) <= high, f"{measure.name} of {shape}, seed {seed}"


@pytest.mark.sampled(30)
@pytest.mark.parametrize("bits", [3, 12])
@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_the_exact_value(seed: int, bits: int) -> None:
    _held(seed, bits)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_bounds_hold_the_exact_value_in_a_thousand_of_a_thousand_sets(first: int) -> None:
    for seed in range(first, first + 100):
        _held(seed, 12 if seed % 2 else 5)


@pytest.mark.parametrize("shape", ["probabilities", "saturated", "tiny", "tiny below one"])
def test_twelve_bits_are_close_for_many_rows_that_crowd_at_0_and_1_or_nowhere(shape: str) -> None:
    random = np.random.default_rng(1)
    truth = (random.random(100_000) < 0.05).astype(np.uint8)
    values = SHAPES[shape](random.normal(size=len(truth)) * 1.5 + 1.5 * truth)
    exact = ScoreCounts.of_rows(LABELS, values, truth)
    grid = ScoreCounts.of_rows(LABELS, values, truth, kept=Grid(12))
    for measure, most in ((ROC_AUC, 1e-5), (AVERAGE_PRECISION, 3e-4)):
        declared = measure.of_scores
        assert isinstance(declared, Ranked)
        value, number = declared.value(exact), declared.value(grid)
        low, high = bound_of(declared, grid)
        assert abs(value - number) < most
        assert low <= value <= high
        assert high - low < 20 * most


def test_scores_that_crowd_elsewhere_err_more_and_have_bounds_that_say_so() -> None:
    random = np.random.default_rng(1)
    truth = (random.random(100_000) < 0.05).astype(np.uint8)
    logits = 3 * (random.normal(size=len(truth)) + 3 * truth)
    values = SHAPES["tiny"](logits)
    exact = ScoreCounts.of_rows(LABELS, values, truth)
    grid = ScoreCounts.of_rows(LABELS, values, truth, kept=Grid(12))
    for measure, least in ((ROC_AUC, 1e-4), (AVERAGE_PRECISION, 1e-2)):
        declared = measure.of_scores
        assert isinstance(declared, Ranked)
        value = declared.value(exact)
        low, high = bound_of(declared, grid)
        assert abs(value - declared.value(grid)) > least
        assert low <= value <= high


def test_linear_bins_would_err_where_the_grid_does_not() -> None:
    random = np.random.default_rng(2)
    truth = (random.random(20_000) < 0.5).astype(np.uint8)
    values = SHAPES["tiny"](2 * random.normal(size=len(truth)) - 6 + 6 * truth) / 1000
    exact = ScoreCounts.of_rows(LABELS, values, truth)
    binned = ScoreCounts.of_rows(LABELS, np.floor(values * 4096) / 4096, truth)
    grid = ScoreCounts.of_rows(LABELS, values, truth, kept=Grid(12))
    declared = ROC_AUC.of_scores
    assert isinstance(declared, Ranked)
    assert declared.value(exact) - declared.value(binned) > 0.4
    assert abs(declared.value(exact) - declared.value(grid)) < 1e-5


cells = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=3)


@settings(max_examples=60)
@given(counts=cells, seed=st.integers(0, 10**6))
def test_no_order_inside_of_cells_leaves_the_bounds(
    counts: list[tuple[int, int]], seed: int
) -> None:
    """Rows of each cell are ranked by chance, with ties, above those of the cell before."""
    counts = [cell for cell in counts if sum(cell)] or [(1, 1)]
    table = np.array(counts, np.uint8).T
    if not table.sum(axis=1).all():
        return
    random = np.random.default_rng(seed)
    grid = ScoreCounts(LABELS, np.arange(1, len(counts) + 1) / 8, table, kept=Grid(12))
    truth = np.concatenate([np.repeat([0, 1], cell) for cell in counts]).astype(np.uint8)
    place = np.repeat(np.arange(len(counts)), table.sum(axis=0, dtype=np.int64))
    for _ in range(20):
        inside = random.integers(0, random.integers(1, 6), len(truth)) / 10
        exact = ScoreCounts.of_rows(LABELS, place + inside, truth)
        for measure in MEASURES:
            declared = measure.of_scores
            if not isinstance(declared, Ranked) or declared.probabilities:
                continue
            if declared.missing(*exact.totals()[::-1]) is not None:
                continue
            low, high = bound_of(declared, grid)
            assert low <= declared.value(exact) <= high, measure.name


def test_the_least_average_precision_is_that_of_the_worst_order() -> None:
    counts = np.array([[1, 2], [2, 1]], np.uint8)
    tally = ScoreCounts(LABELS, np.array([0.25, 0.375]), counts, kept=Grid(4))
    low, high = of_precision(tally)
    assert low == pytest.approx((1 / 3 + 2 / 5 + 3 / 6) / 3, abs=1e-15)
    assert high == pytest.approx((1 + 3 / 5 + 3 / 5) / 3, abs=1e-15)


def test_the_least_average_precision_of_many_rows_is_just_below_the_sum() -> None:
    counts = np.array([[10**6], [2000]], np.uint32)
    low, _ = of_precision(ScoreCounts(LABELS, np.array([0.25]), counts, kept=Grid(4)))
    steps = np.arange(1, 2001)
    exact = float((steps / (steps + 10**6)).sum()) / 2000
    assert exact * (1 - 1e-6) < low <= exact + ROUNDING
