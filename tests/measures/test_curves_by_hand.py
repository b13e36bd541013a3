"""Curves of a few rows, each number worked out by hand."""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist

import numpy as np
import pytest

import assay.measures.curves
from assay.counts import ScoreCounts
from assay.counts.blocks import map_blocks
from assay.counts.grid import Exact, Grid
from assay.errors import MethodError
from assay.formula import evaluate
from assay.measures import RECALL
from assay.measures.curves import (
    NORMALISED_COST,
    POINTS,
    PROBABILITIES,
    PROBABILITY_COST,
    Curve,
    Sweep,
    cost,
    decision,
    det,
    hull,
    precision_recall_gain,
    probability_cost,
    sweep,
    sweep_at,
    vertices,
)

LABELS = ("no", "yes")


def tally_of(rows: list[tuple[float, int, int]]) -> ScoreCounts:
    """A table of scores, and how many negatives and positives have each."""
    scores, negatives, positives = zip(*rows, strict=True)
    return ScoreCounts(LABELS, np.array(scores), np.array([negatives, positives], np.uint8))


def summed(curve: Curve) -> list[float]:
    """What the terms of a curve add up to."""
    cells = dict(curve.cells)
    parts = [term.weight * evaluate(term.share, cells) for term in curve.terms]
    return np.sum(parts, axis=0).tolist()


# -- the points of a sweep -------------------------------------------------------------------------

# 256 scores with two rows of each label: the targets along the ROC curve are eighths, those by rank
# the powers 0 to 6 of 1024^(1/7): 1, 2.7, 7.2, 19.5, 52.5, 141.3 and 380.4 rows, four a score.
EVEN = ScoreCounts(LABELS, np.arange(256) / 256, np.full((2, 256), 2, np.uint8))
ALONG = {32, 64, 96, 128, 160, 192, 224, 256}
BY_RANK = {1, 2, 5, 14, 36, 96}


def taken(swept: Sweep) -> set[int]:
    """How many of the highest scores each point flags."""
    assert swept.threshold[0] == math.inf
    assert swept.tp.tolist() == swept.fp.tolist()
    assert (256 * (1 - swept.threshold[1:])).tolist() == (swept.tp[1:] / 2).tolist()
    return {int(score) for score in swept.tp[1:] / 2}


def test_a_sweep_spreads_what_ties_leave_of_its_points_over_the_scores() -> None:
    # 13 of 18 are taken, and 5 more lie a quarter of all scores apart.
    assert taken(sweep(EVEN, 19)) == ALONG | BY_RANK | {65, 129, 193}


def test_a_sweep_leaves_up_to_a_quarter_of_its_points_out() -> None:
    # With the one that is kept 14 of 18 are taken.
    assert taken(sweep(EVEN, 19, keep=1 - 200 / 256)) == ALONG | BY_RANK | {200}


@pytest.mark.parametrize("block", [1, 7, 56, 64, 255, 256])
@pytest.mark.parametrize("kept", [1, 64, 65, 193, 200, 256])
def test_points_are_the_same_for_any_blocks(
    block: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assay.measures.curves, "BLOCK", block)
    monkeypatch.setattr(assay.measures.curves, "map_blocks", partial(map_blocks, block=block))
    more = {65, 129, 193} if kept in ALONG | BY_RANK else set()
    assert taken(sweep(EVEN, 19, keep=1 - kept / 256)) == ALONG | BY_RANK | {kept} | more


def test_targets_along_the_curve_weigh_both_classes_alike() -> None:
    # Each of the upper 64 scores has one positive, each of the lower 192 has 5 negatives. Halfway
    # along the curve all positives are found; the last half has the negatives.
    counts = np.where(np.arange(256) < 192, [[5], [0]], [[0], [1]]).astype(np.uint8)
    swept = sweep(ScoreCounts(LABELS, np.arange(256) / 256, counts), 20)
    alerts = (256 * (1 - swept.threshold[1:])).astype(int).tolist()
    along = [16, 32, 48, 64, 112, 160, 208, 256]
    # The powers of 1024^(1/8) are 1, 2.4, 5.7, 13.5, 32, 76.1, 181.02 and 430.5 rows.
    by_rank = [1, 3, 6, 14, 64 + 3, 64 + 24, 64 + 74]
    assert set(along + by_rank) - set(alerts) == set()
    assert len(set(alerts) - set(along + by_rank)) <= 1


def test_the_lowest_and_the_highest_score_are_points_even_if_no_row_has_them() -> None:
    counts = np.ones((2, 40), np.uint8)
    counts[:, [0, -1]] = 0
    swept = sweep(ScoreCounts(LABELS, np.arange(40.0), counts), 12)
    assert (swept.threshold[1], swept.threshold[-1]) == (39, 0)
    assert (swept.tp[1], swept.fp[1], swept.tp[-1], swept.fp[-1]) == (0, 0, 38, 38)


def test_two_thousand_points_are_usual() -> None:
    assert POINTS == 2000
    counts = np.ones((2, 2000), np.uint8)
    whole = ScoreCounts(LABELS, np.arange(2000.0), counts)
    assert len(sweep(whole, None).threshold) == 2001
    assert len(sweep(whole).threshold) < 2001
    assert len(sweep(ScoreCounts(LABELS, np.arange(1999.0), counts[:, 1:])).threshold) == 2000


def test_fewer_than_five_points_are_refused() -> None:
    with pytest.raises(MethodError, match="at least 5 points; found 4"):
        sweep(EVEN, 4)
    assert {1, 256} <= taken(sweep(EVEN, 5))


@pytest.mark.parametrize("block", [1, 2, 3, 4, 100])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_at_given_thresholds(
    block: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assay.measures.curves, "BLOCK", block)
    monkeypatch.setattr(assay.measures.curves, "map_blocks", partial(map_blocks, block=block))
    tally = tally_of([(0.1, 5, 1), (0.3, 4, 0), (0.5, 2, 3), (0.7, 1, 2), (0.9, 0, 4)])
    if weighted:
        counts = tally.counts * 0.5
        tally = ScoreCounts(LABELS, tally.scores, counts, counts)
    swept = sweep_at(tally, np.array([0.9, 0.0, 0.5, 0.6, 1.0]))
    unit = 0.5 if weighted else 1.0
    assert (swept.tp / unit).tolist() == [4, 10, 9, 6, 0]
    assert (swept.fp / unit).tolist() == [0, 12, 3, 1, 0]
    assert (swept.positives / unit, swept.negatives / unit) == (10, 12)
    assert swept.weighted == weighted
    assert swept.threshold.tolist() == [0.9, 0.0, 0.5, 0.6, 1.0]


def test_rows_have_no_weights_unless_that_is_said() -> None:
    few = np.zeros(1)
    assert not Sweep(few, few, few, 1, 1).weighted
    assert not Curve("any", None, RECALL, {"threshold": few}, {}).weighted


# -- DET and gains ---------------------------------------------------------------------------------


def test_the_deviates_of_a_det_curve() -> None:
    # One negative, between the first and the second of four positives: a rate of 0 or 1 of one row
    # stands at one half, of four rows at 1/8 or 7/8.
    curve = det(sweep(tally_of([(1, 0, 1), (2, 0, 2), (3, 1, 0), (4, 0, 1)])))
    assert curve["threshold"].tolist() == [4, 3, 2, 1]
    assert curve["false_positive_rate"].tolist() == [0, 1, 1, 1]
    assert curve["false_negative_rate"].tolist() == [3 / 4, 3 / 4, 1 / 4, 0]
    assert curve["false_positive_rate_probit"].tolist() == pytest.approx([0, 0, 0, 0], abs=1e-15)
    at = [NormalDist().inv_cdf(share) for share in (3 / 4, 3 / 4, 1 / 4, 1 / 8)]
    assert curve["false_negative_rate_probit"].tolist() == pytest.approx(at)
    assert curve.note == (
        "4 of 4 points have a rate of 0 or 1, which has no normal deviate; they stand at half a row"
    )


def test_some_points_of_a_det_curve_have_a_deviate() -> None:
    curve = det(sweep(tally_of([(1, 1, 0), (2, 0, 1), (3, 1, 0), (4, 0, 1), (5, 2, 0)])))
    assert curve["threshold"].tolist() == [math.inf, 5, 4, 3, 2]
    assert curve.note.startswith("3 of 5 points have a rate of 0 or 1")
    at = [NormalDist().inv_cdf(share) for share in (1 / 8, 2 / 4, 2 / 4, 3 / 4, 3 / 4)]
    assert curve["false_positive_rate_probit"].tolist() == pytest.approx(at)


def test_a_det_curve_has_a_point_where_thresholds_flag_nothing_more() -> None:
    falling = np.array([math.inf, 3.0, 2.0, 1.0])
    swept = Sweep(falling, np.array([0.0, 1, 1, 1]), np.array([0.0, 0, 0, 1]), 1, 1)
    assert det(swept)["threshold"].tolist() == [2]


def test_gains_are_kept_from_a_recall_of_the_prevalence_on() -> None:
    # Five of ten rows are positive: the recall is 0 where the first is flagged, which has no gain,
    # then twice 1/5 and 2/5 and so on. Of four among eight rows 2/4 is the prevalence.
    rows = [(float(i), i % 2, 1 - i % 2) for i in range(10)]
    curve = precision_recall_gain(sweep(tally_of(rows)))
    assert curve.note == ("4 of 9 points have a recall below the prevalence and are left out")
    assert curve["threshold"].tolist() == [4, 3, 2, 1, 0]
    assert curve.cells["TP"].tolist() == [3, 3, 4, 4, 5]
    curve = precision_recall_gain(sweep(tally_of(rows[:8])))
    assert curve["threshold"].tolist() == [4, 3, 2, 1, 0]
    assert curve["recall_gain"].tolist()[0] == 0
    highest = precision_recall_gain(sweep(tally_of([(1, 3, 0), (2, 0, 1)])))
    assert (highest.note, highest["threshold"].tolist()) == ("", [2, 1])


# -- the hull and costs ----------------------------------------------------------------------------

# 4 negatives and 4 positives; the vertices are (0, 0), (0, 2), (2, 4) and (4, 4).
STEPS = tally_of([(0.2, 2, 0), (0.4, 1, 0), (0.6, 0, 1), (0.7, 1, 1), (0.9, 0, 2)])


def test_the_hull_of_a_few_scores() -> None:
    curve = hull(vertices(STEPS))
    # At 0.7 the curve passes (1, 3), at 0.6 (1, 4).
    assert curve["threshold"].tolist() == [math.inf, 0.9, 0.6, 0.2]
    assert curve["false_positive_rate"].tolist() == [0, 0, 1 / 4, 1]
    assert curve["recall"].tolist() == [0, 2 / 4, 1, 1]
    # From (0, 0) straight up, then 1/2 up and 1/4 across, then straight across.
    assert curve["slope_high"].tolist() == [math.inf, math.inf, pytest.approx(2), 0]
    assert curve["slope_low"].tolist() == [math.inf, pytest.approx(2), 0, 0]
    assert curve["pc_low"].tolist() == pytest.approx([0, 0, 1 / 3, 1])
    assert curve["pc_high"].tolist() == pytest.approx([0, 1 / 3, 1, 1])
    assert curve.cells["FN"].tolist() == [4, 2, 0, 0]
    assert curve.cells["TN"].tolist() == [4, 4, 3, 0]
    assert not curve.weighted


@pytest.mark.parametrize("block", [1, 2, 3, 4])
def test_a_hull_is_the_same_for_any_blocks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assay.measures.curves, "BLOCK", block)
    monkeypatch.setattr(assay.measures.curves, "map_blocks", partial(map_blocks, block=block))
    corners = vertices(STEPS)
    assert corners.threshold.tolist() == [math.inf, 0.9, 0.6, 0.2]
    assert (corners.fp.tolist(), corners.tp.tolist()) == ([0, 0, 1, 4], [0, 2, 4, 4])


def test_what_a_probability_cost_is() -> None:
    assert probability_cost(0.0) == 0
    assert probability_cost(1.0) == 1
    assert probability_cost(0.25, 2, 3) == 0.5 / (0.5 + 2.25)
    assert probability_cost(0.25, cost_fn=0) == 0
    assert probability_cost(0.25, cost_fp=0) == 1
    assert probability_cost(0.5, 1e308, 1e308) == 0.5


@pytest.mark.parametrize("rate", [-0.001, 1.001, math.nan])
def test_a_base_rate_lies_between_0_and_1(rate: float) -> None:
    with pytest.raises(MethodError, match="base rate lies between 0 and 1"):
        probability_cost(rate)


@pytest.mark.parametrize("cost_of", [-0.5, math.inf, math.nan])
@pytest.mark.parametrize("kind", ["cost_fn", "cost_fp"])
def test_a_cost_is_finite_and_not_negative(kind: str, cost_of: float) -> None:
    with pytest.raises(MethodError, match="costs are finite and not negative; found"):
        probability_cost(0.5, **{kind: cost_of})


@pytest.mark.parametrize(("rate", "cost_fn", "cost_fp"), [(0, 1, 0), (1, 0, 1), (0.5, 0, 0)])
def test_something_has_to_cost(rate: float, cost_fn: float, cost_fp: float) -> None:
    with pytest.raises(MethodError, match="no error costs anything"):
        probability_cost(rate, cost_fn, cost_fp)


def test_the_cost_curve_of_a_few_scores() -> None:
    curve = cost(STEPS, in_use=(0.25, 0.5))
    pc = curve["probability_cost"]
    assert pc.tolist() == [*PROBABILITIES.tolist(), 1.0]
    # The second vertex misses one half and raises nothing; from a third on the third is better.
    best = np.where(pc <= 1 / 3, pc / 2, (1 - pc) / 4)
    assert curve["normalised_cost"].tolist() == pytest.approx(best.tolist())
    expected = [math.inf, *(0.9 if each <= 1 / 3 else 0.6 for each in pc[1:])]
    assert curve["threshold"].tolist() == expected
    assert curve["everything"].tolist() == (1 - pc).tolist()
    assert curve["nothing"].tolist() == pc.tolist()
    assert curve["in_use"].tolist() == pytest.approx((pc / 2 + (1 - pc) / 4).tolist())
    assert summed(curve) == pytest.approx(best.tolist())
    assert (PROBABILITY_COST.range, NORMALISED_COST.range) == ((0, 1), (0, 1))


def test_of_two_thresholds_that_cost_the_same_the_higher_one_is_taken() -> None:
    # From (0, 1/2) to (1/2, 1): both cost the same where PC is one half.
    curve = cost(tally_of([(0.2, 1, 0), (0.5, 1, 1), (0.8, 0, 1)]))
    at = curve["probability_cost"].tolist().index(0.5)
    assert curve["threshold"][at - 1 : at + 2].tolist() == [0.8, 0.8, 0.5]


# -- decision curves -------------------------------------------------------------------------------


def test_the_usual_threshold_probabilities() -> None:
    fine = [1e-6 * 5000 ** (i / 36) for i in range(36)]
    even = [i / 200 for i in range(1, 200)]
    assert PROBABILITIES.tolist() == pytest.approx([0.0, *fine, *even], rel=1e-12)
    assert PROBABILITIES[-1] == 0.995


def test_the_decision_curve_of_a_few_scores() -> None:
    curve = decision(STEPS, thresholds=[0.75, 0.0, 0.5])
    assert curve["threshold"].tolist() == [0, 0.5, 0.75]
    # 8 rows: all are flagged; 1 false and 4 true ones at odds of 1; 2 true ones at odds of 3.
    benefit = [4 / 8, 4 / 8 - 1 / 8, 2 / 8]
    assert curve["net_benefit"].tolist() == pytest.approx(benefit)
    assert curve["everything"].tolist() == pytest.approx([4 / 8, 0, 4 / 8 - 3 * 4 / 8])
    assert summed(curve) == pytest.approx(benefit)


def test_the_decision_curve_of_a_few_scores_at_a_base_rate() -> None:
    curve = decision(STEPS, base_rate=0.2, thresholds=[0.0, 0.5, 0.75])
    benefit = [0.2, 0.2 - 0.8 / 4, 0.2 / 2]
    assert curve["net_benefit"].tolist() == pytest.approx(benefit)
    assert curve["everything"].tolist() == pytest.approx([0.2, 0.2 - 0.8, 0.2 - 0.8 * 3])
    assert summed(curve) == pytest.approx(benefit)


def test_scores_of_0_and_1_are_probabilities() -> None:
    curve = decision(tally_of([(0, 1, 0), (1, 0, 1)]), thresholds=[0.5])
    assert curve["net_benefit"].tolist() == [0.5]


@pytest.mark.parametrize("score", [-0.001, 1.001])
def test_a_score_outside_is_no_probability(score: float) -> None:
    with pytest.raises(MethodError, match="needs probabilities"):
        decision(tally_of(sorted([(0.5, 1, 1), (score, 1, 1)])))


def test_no_rows_have_no_decision_curve() -> None:
    curve = decision(ScoreCounts.of_rows(LABELS, np.empty(0), np.empty(0, int)))
    assert len(curve) == 0


@pytest.mark.parametrize("rate", [-0.001, 1.001])
def test_a_decision_curve_is_of_a_base_rate_between_0_and_1(rate: float) -> None:
    with pytest.raises(MethodError, match="base rate lies between 0 and 1"):
        decision(STEPS, base_rate=rate)


def test_one_class_leaves_nothing_of_a_curve_at_another_base_rate() -> None:
    curve = decision(tally_of([(0.5, 0, 3)]), base_rate=0.1, thresholds=[0.2, 0.4])
    assert [len(column) for column in curve.columns.values()] == [0, 0, 0]
    assert [len(column) for column in curve.cells.values()] == [0, 0, 0, 0]
    assert [len(term.weight) for term in curve.terms] == [0, 0]


@pytest.mark.parametrize(("keep", "added"), [(-0.1, 0), (0.0, 0), (0.1234, 1), (1.0, 0), (1.5, 0)])
def test_a_threshold_in_use_is_added_where_it_is_a_probability(keep: float, added: int) -> None:
    curve = decision(STEPS, keep=keep)
    assert len(curve) == len(PROBABILITIES) + added
    assert (keep in curve["threshold"]) == (added > 0 or keep == 0)


def test_a_grid_is_read_where_its_cells_begin() -> None:
    scores, truth = np.array([0.25, 0.5, 0.75]), np.array([0, 1, 1])
    tally = ScoreCounts.of_rows(LABELS, scores, truth, kept=Grid())
    assert not isinstance(tally.kept, Exact)
    curve = decision(tally, thresholds=[0.3, 0.5, 0.9])
    # From 0.3 on is from 0.5 on; beyond all scores it is the last.
    assert curve["threshold"].tolist() == pytest.approx([0.5, 0.75], abs=1e-3)
    assert curve.cells["TP"].tolist() == [2, 1]


def test_a_threshold_probability_of_1_is_in_no_grid() -> None:
    scores, truth = np.array([0.25, 1.0]), np.array([0, 1])
    tally = ScoreCounts.of_rows(LABELS, scores, truth, kept=Grid())
    assert decision(tally, thresholds=[0.2, 0.9])["threshold"].tolist() == [0.25]


@pytest.mark.parametrize("keep", [1.0, 1.5])
def test_a_threshold_in_use_that_flags_nothing_adds_no_cell(keep: float) -> None:
    scores, truth = np.array([0.25, 255 / 256, 511 / 512]), np.array([0, 1, 1])
    tally = ScoreCounts.of_rows(LABELS, scores, truth, kept=Grid())
    at = decision(tally, keep=keep)["threshold"].tolist()
    assert at == pytest.approx([0.25, 255 / 256], abs=1e-5)
