"""Between which values measures of scores lie where scores are kept as a grid, by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import digamma

from assay.counts import ScoreCounts
from assay.counts.grid import Grid
from assay.measures import (
    EXPECTED_CALIBRATION_ERROR,
    ROC_AUC,
    ClassAverage,
    MeanLoss,
    OverPairs,
    Ranked,
    rank,
)
from assay.measures.scores import bound_of, bound_of_average, bound_over_pairs, of_precision

LABELS = ("no", "yes")
AUC = ROC_AUC.of_scores
assert isinstance(AUC, Ranked)


def on_grid(bits: int = 1) -> ScoreCounts:
    """Cells from 1/4 up to 3/8, and from 3/8 up to 1/2."""
    counts = np.array([[3, 1], [1, 2]], np.uint8)
    return ScoreCounts(LABELS, np.array([0.25, 0.375]), counts, kept=Grid(bits))


def room(low: float, high: float) -> tuple[object, object]:
    return pytest.approx(low - 1e-12, rel=0, abs=2e-13), pytest.approx(
        high + 1e-12, rel=0, abs=2e-13
    )


def test_the_bounds_of_a_ranking_are_those_of_the_best_and_the_worst_order() -> None:
    # 12 pairs: 6 are certain, 2 lost; 5 lie within a cell.
    low, high = bound_of(AUC, on_grid())
    assert (low, high) == room(6 / 12, 11 / 12)


def test_the_bounds_of_a_loss_are_those_of_the_ends_of_cells() -> None:
    ends = [(0.25, math.nextafter(0.375, 0)), (0.375, math.nextafter(0.5, 0))]
    lows = 3 * ends[0][0] + ends[1][0] + (1 - ends[0][1]) + 2 * (1 - ends[1][1])
    highs = 3 * ends[0][1] + ends[1][1] + (1 - ends[0][0]) + 2 * (1 - ends[1][0])
    declared = MeanLoss(loss=lambda said, truth: np.abs(said - truth), largest=1.0)
    assert bound_of(declared, on_grid()) == room(lows / 7, highs / 7)


def test_bounds_leave_room_for_rounding_by_their_size() -> None:
    declared = MeanLoss(loss=lambda said, truth: 1e6 + 0 * said + 0 * truth, largest=1e6)
    low, high = bound_of(declared, on_grid())
    assert low == pytest.approx(1e6 - 1e-6, rel=0, abs=2e-7)
    assert high == pytest.approx(1e6 + 1e-6, rel=0, abs=2e-7)


def test_the_bounds_of_bins_are_those_of_their_ranges() -> None:
    counts = np.array([[3, 1], [1, 2]], np.uint8)
    tally = ScoreCounts(LABELS, np.array([0.0, 0.125]), counts)
    error = bound_of(EXPECTED_CALIBRATION_ERROR.of_scores, tally)
    # Scores of 0 and 1/8: one of four, and two of three, are positive.
    exact = (1 + (2 - 3 / 8)) / 7
    assert error == room(exact, exact)


def test_the_bounds_of_averages_are_averages_of_bounds() -> None:
    tallies = [
        ScoreCounts(
            ("a", "b", "c"), np.array([0.25, 0.375]), np.array(table, np.uint8), kept=Grid(1)
        )
        for table in ([[3, 1], [1, 2], [2, 2]], [[1, 1], [4, 2], [1, 2]], [[2, 0], [1, 3], [1, 1]])
    ]
    rankings = [rank(tally.one_versus_rest(k)) for k, tally in enumerate(tallies)]
    own = [bound_of(AUC, ranking.table) for ranking in rankings]
    shares = np.array([float(ranking.positives) for ranking in rankings])
    for weighted, weights in ((False, np.ones(3) / 3), (True, shares / shares.sum())):
        bounds = bound_of_average(ClassAverage(AUC, weighted=weighted), rankings)
        assert bounds == pytest.approx(tuple(np.array(own).T @ weights), rel=1e-14)
    pairs = [bound_of(AUC, tallies[i].pair(j, i)) for i in range(3) for j in range(3) if i != j]
    bounds = bound_over_pairs(OverPairs(AUC), tallies)
    assert bounds == pytest.approx(tuple(np.array(pairs).mean(axis=0)), rel=1e-14)


def test_the_least_average_precision_takes_positives_one_by_one_after_the_negatives() -> None:
    low, high = of_precision(on_grid())
    worst = [Fraction(1, 2), Fraction(2, 3), Fraction(3, 7)]
    assert low == pytest.approx(float(sum(worst)) / 3, rel=1e-13)
    best = [Fraction(1), Fraction(1), Fraction(3, 4)]
    assert high == pytest.approx(float(sum(best)) / 3, rel=1e-13)


def test_positives_above_all_negatives_lose_nothing_and_ties_are_ties() -> None:
    counts = np.array([[2, 3, 0], [1, 2, 4]], np.uint8)
    # Exact scores are tied; of a cell of a half alone it is known too.
    exact = ScoreCounts(LABELS, np.array([0.1, 0.5, 0.9]), counts)
    expected = float(4 + 2 * Fraction(6, 9) + Fraction(7, 12)) / 7
    assert of_precision(exact) == pytest.approx((expected, expected), rel=1e-13)
    counts = np.array([[2, 3], [2, 2]], np.uint8)
    half = ScoreCounts(LABELS, np.array([0.5, 0.75]), counts, kept=Grid(1))
    worst = float(Fraction(1, 4) + Fraction(2, 5) + 2 * Fraction(4, 9)) / 4
    assert of_precision(half)[0] == pytest.approx(worst, rel=1e-13)


@pytest.mark.parametrize("positives", [55, 56])
def test_from_256_rows_on_the_sum_of_precisions_is_an_integral(positives: int) -> None:
    counts = np.array([[200], [positives]], np.uint16)
    low, _ = of_precision(ScoreCounts(LABELS, np.array([0.25]), counts, kept=Grid(1)))
    if positives == 55:
        lost = 200 * float(digamma(256) - digamma(201))
    else:
        lost = 200 * math.log1p(positives / 200.5)
    assert low == pytest.approx(1 - lost / positives, rel=1e-14)


def test_weights_come_in_any_small_steps() -> None:
    counts = np.array([[2.0], [1.5]])
    tally = ScoreCounts(LABELS, np.array([0.25]), counts, counts, Grid(1))
    assert of_precision(tally)[0] == pytest.approx(1 - 2 * math.log(3.5 / 2) / 1.5, rel=1e-14)
    # Those above all negatives lose nothing.
    above = np.array([[2.0, 0.0], [1.5, 0.5]])
    tally = ScoreCounts(LABELS, np.array([0.25, 0.75]), above, above, Grid(1))
    assert of_precision(tally)[0] == pytest.approx(1 - 2 * math.log(4 / 2.5) / 2, rel=1e-14)
