"""The line through the log odds: where it lies, and that many scores are fitted as few are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special

from assay.counts import ScoreCounts
from assay.counts.blocks import BLOCK
from assay.measures import (
    BRIER_RESOLUTION,
    CALIBRATION_INTERCEPT,
    CALIBRATION_SLOPE,
    Measure,
    Ranked,
    calibration,
    rank,
)

Rows = list[tuple[int, int]]
PROBABILITIES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 30)), min_size=2, max_size=60
).filter(lambda rows: len({t for t, _ in rows}) == 2)
ROWS = 100_000
LABELS = ("normal", "attack")
IN_BLOCKS = (CALIBRATION_SLOPE, CALIBRATION_INTERCEPT, BRIER_RESOLUTION)
SHAPES: dict[str, Callable[[Any], Any]] = {
    "even": lambda s: s,
    "saturated": lambda s: np.where(s > 0.95, 1.0, s),
    "tiny": lambda s: s**20,
    "inverted": lambda s: 1 - s,
    "overconfident": lambda s: s**5 / (s**5 + (1 - s) ** 5),
}


def tally_of(truth: list[int], scores: list[float], **amounts: object) -> ScoreCounts:
    arrays = {name: np.asarray(column) for name, column in amounts.items()}
    return ScoreCounts.of_rows(("no", "yes"), np.array(scores), np.array(truth), **arrays)


def of_thirtieths(rows: Rows) -> ScoreCounts:
    return tally_of([t for t, _ in rows], [s / 30 for _, s in rows])


# -- where it lies ---------------------------------------------------------------------------------

INNER = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 29)), min_size=4, max_size=40)


def overlapping(rows: Rows) -> bool:
    own, other = ([s for t, s in rows if t == side] for side in (1, 0))
    return bool(own and other) and min(own) < max(other) and min(other) < max(own)


@settings(max_examples=60)
@given(rows=INNER.filter(overlapping))
def test_the_line_is_where_the_likelihood_has_no_slope(rows: Rows) -> None:
    """The equations of maximum likelihood: residuals sum to 0, alone and times the log odds."""
    tally = of_thirtieths(rows)
    truth = np.array([t for t, _ in rows])
    odds = special.logit(np.array([s / 30 for _, s in rows]))
    slope = calibration.calibration_slope_influence(tally).value

    def residuals(a: float, b: float) -> np.ndarray:
        return truth - special.expit(a + b * odds)

    # Given the slope, one intercept balances the residuals.
    a = optimize.brentq(lambda a: residuals(a, slope).sum(), -1e3, 1e3, xtol=1e-13)
    assert (residuals(a, slope) * odds).sum() == pytest.approx(0, abs=1e-6)
    intercept = calibration.calibration_intercept_influence(tally).value
    assert residuals(intercept, 1.0).sum() == pytest.approx(0, abs=1e-9)


@given(rows=PROBABILITIES)
def test_the_intercept_is_what_makes_the_mean_probability_the_prevalence(rows: Rows) -> None:
    tally = of_thirtieths(rows)
    intercept = calibration.calibration_intercept_influence(tally).value
    likely = special.expit(calibration.log_odds(tally) + intercept)
    both = tally.counts.sum(axis=0)
    assert (both * likely).sum() == pytest.approx(tally.counts[1].sum(), rel=1e-9)


@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0.1), (0, 0.2), (1, 0.3), (1, 0.9)],
        [(1, 0.1), (1, 0.2), (0, 0.3), (0, 0.9)],
        [(0, 0.1), (0, 0.5), (1, 0.5), (1, 0.9)],
        [(0, 0.4), (1, 0.4), (1, 0.4)],
        [(0, 1e-20), (1, 1e-30), (0, 0.0)],
    ],
    ids=["parted", "inverted", "touching", "alike", "alike once clipped"],
)
def test_where_one_threshold_parts_the_classes_no_slope_fits_best(
    rows: list[tuple[int, float]],
) -> None:
    tally = tally_of([t for t, _ in rows], [s for _, s in rows])
    assert math.isnan(calibration.calibration_slope_influence(tally).value)
    assert math.isfinite(calibration.calibration_intercept_influence(tally).value)


@pytest.mark.parametrize("slope", [0.2, 0.7, 1.0, 3.0, 15.0])
@pytest.mark.parametrize("shift", [-6.0, 0.0, 2.5])
def test_a_line_that_was_put_in_comes_out(slope: float, shift: float) -> None:
    """Rows whose shares of positives are exactly on a line, whatever was said of them."""
    true_odds = np.linspace(-3, 3, 25)
    said = special.expit(true_odds / slope - shift)
    share = special.expit(true_odds)
    counts = np.array([1 - share, share]) * 1000
    tally = ScoreCounts(("no", "yes"), said, counts, counts)
    value = calibration.calibration_slope_influence(tally).value
    assert value == pytest.approx(slope, rel=1e-6)


def test_classes_that_rounding_alone_keeps_from_being_parted_have_no_slope() -> None:
    tally = tally_of(
        [0, 1, 1], [math.nextafter(0.5, 1), 0.5, 1 - 2.0**-52], weights=[1.0, 1.0, 1e6]
    )
    assert math.isnan(calibration.calibration_slope_influence(tally).value)


def test_an_intercept_is_found_where_certain_probabilities_make_its_function_flat() -> None:
    sure = 1 - 2.0**-52
    tally = tally_of([0, 1, 1, 1, 0, 1, 0], [sure, 1e-8, 0.0, 1e-8, sure, 1.0, 0.5])
    value = calibration.calibration_intercept_influence(tally).value
    likely = special.expit(calibration.log_odds(tally) + value)
    assert (tally.counts.sum(axis=0) * likely).sum() == pytest.approx(4, rel=1e-9)


def test_log_odds_that_lie_close_together_have_a_slope_too() -> None:
    scores = 0.3 + 1e-13 * np.arange(6)
    tally = tally_of([0, 1, 0, 1, 0, 1], scores.tolist())
    odds = calibration.log_odds(tally)
    # The same fit on a scale on which the steps are 1.
    steps = (odds - odds[0]) / (odds[1] - odds[0])
    wide = tally_of([0, 1, 0, 1, 0, 1], special.expit(steps).tolist())
    expected = calibration.calibration_slope_influence(wide).value / (odds[1] - odds[0])
    value = calibration.calibration_slope_influence(tally).value
    assert value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("said", [0.0, 1.0, 1e-12])
def test_the_intercept_of_one_probability_for_all_is_how_far_it_is_off(said: float) -> None:
    tally = tally_of([0, 1, 0, 0], [said] * 4)
    value = calibration.calibration_intercept_influence(tally).value
    assert value == pytest.approx(math.log(1 / 3) - calibration.log_odds(tally)[0], rel=1e-12)


def test_certain_probabilities_that_were_wrong_are_read_as_nearly_certain_and_counted() -> None:
    tally = tally_of([1, 0, 1, 0, 1, 0], [0.0, 1.0, 1.0, 0.0, 0.7, 0.3])
    assert calibration.certain(tally) == 4
    odds = calibration.log_odds(tally)
    assert odds[0] == pytest.approx(-52 * math.log(2), rel=1e-12)
    assert odds[-1] == pytest.approx(52 * math.log(2), rel=1e-12)
    assert math.isfinite(calibration.calibration_slope_influence(tally).value)
    weighted = tally_of([1, 0, 1, 0], [0.0, 1.0, 0.7, 0.3], weights=[2.0, 3.0, 1.0, 1.0])
    assert calibration.certain(weighted) == 5


# -- many scores -----------------------------------------------------------------------------------


def drawn(shape: str, *, rows: int = ROWS) -> ScoreCounts:
    generator = np.random.default_rng(3)
    truth = (generator.random(rows) < 0.1).astype(np.uint8)
    said = 1 / (1 + np.exp(2 - generator.normal(size=rows) - 1.5 * truth))
    return ScoreCounts.of_rows(LABELS, SHAPES[shape](said), truth)


def declared(measure: Measure) -> Ranked:
    assert isinstance(measure.of_scores, Ranked)
    return measure.of_scores


@pytest.mark.parametrize("measure", IN_BLOCKS, ids=lambda m: m.name)
@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_give_the_value_and_variance_of_arrays(measure: Measure, shape: str) -> None:
    table = drawn(shape)
    assert table.size > BLOCK
    estimate, expected = declared(measure).of(rank(table)), declared(measure).by_influence(table)
    assert estimate.value == pytest.approx(expected.value, rel=1e-12, abs=1e-12)
    assert estimate.variance == pytest.approx(expected.variance, rel=1e-10)


def test_the_slope_of_many_scores_is_reached_from_few_cells_without_their_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = drawn("even", rows=300)
    expected = declared(CALIBRATION_SLOPE).by_influence(table)
    monkeypatch.setattr(calibration, "_CELLS", 30)
    monkeypatch.delattr(calibration, "calibration_slope_influence")
    smooth = calibration.calibration_slope_in_blocks(table)
    assert smooth.value == pytest.approx(expected.value, rel=1e-12)
    assert smooth.variance == pytest.approx(expected.variance, rel=1e-10)


@pytest.mark.parametrize("measure", IN_BLOCKS, ids=lambda m: m.name)
def test_threads_do_not_change_the_bits(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    table = drawn("even", rows=5 * BLOCK)
    estimates = []
    for threads in ("1", "3"):
        monkeypatch.setenv("ASSAY_THREADS", threads)
        estimates.append(declared(measure).of(rank(table)))
    assert estimates[0] == estimates[1]


def test_scores_that_part_the_classes_have_no_slope() -> None:
    scores = np.linspace(0.01, 0.99, ROWS)
    table = ScoreCounts.of_rows(LABELS, scores, (scores > 0.5).astype(np.uint8))
    assert math.isnan(declared(CALIBRATION_SLOPE).of(rank(table)).value)


def test_cells_that_part_the_classes_where_scores_do_not_are_no_obstacle() -> None:
    scores = np.linspace(0.01, 0.99, ROWS)
    truth = (scores > 0.5).astype(np.uint8)
    middle = ROWS // 2
    truth[middle - 1], truth[middle] = 1, 0
    table = ScoreCounts.of_rows(LABELS, scores, truth)
    estimate, expected = (
        declared(CALIBRATION_SLOPE).of(rank(table)),
        declared(CALIBRATION_SLOPE).by_influence(table),
    )
    assert estimate.value == pytest.approx(expected.value, rel=1e-12)


def test_sampling_weights_are_fitted_as_arrays() -> None:
    generator = np.random.default_rng(4)
    truth = (generator.random(ROWS) < 0.5).astype(np.uint8)
    weights = generator.random(ROWS)
    scores = 1 / (1 + np.exp(-generator.normal(size=ROWS) - truth))
    table = ScoreCounts.of_rows(LABELS, scores, truth, weights=weights)
    measure = declared(CALIBRATION_SLOPE)
    assert measure.of(rank(table)) == measure.by_influence(table)


def test_certain_rows_are_counted_alike_whatever_type_scores_have() -> None:
    truth, scores = np.array([0, 1, 1]), np.array([0.0, 0.5, 1.0])
    wide, narrow = (ScoreCounts.of_rows(LABELS, scores.astype(t), truth) for t in ("f8", "f4"))
    assert calibration.certain(wide) == calibration.certain(narrow) == 2
