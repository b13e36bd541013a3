"""What measures of scores declare: limits, losses, and what one operating point tells of them."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from assay.counts import Confusion, ScoreCounts
from assay.formula import Expression, value
from assay.measures import (
    BRIER,
    BRIER_RELIABILITY,
    CATALOGUE,
    EXPECTED_CALIBRATION_ERROR,
    LOG_LOSS,
    RECALL_AT_FPR,
    ROC_AUC,
    Binned,
    MeanLoss,
    Needs,
    Ranked,
    find,
    rank,
    reliability,
)
from assay.measures.ranking_measures import (
    _ascending,
    least_average_precision,
    partial_auc_up_to,
    recall_at_fpr,
)

TP, FP, FN, TN = 7, 3, 5, 11
CELLS = {"TP": TP, "FP": FP, "FN": FN, "TN": TN}
P, R, S, PI = Fraction(7, 10), Fraction(7, 12), Fraction(11, 14), Fraction(12, 26)


def bounds_of(name: str, tp: int, fp: int, fn: int, tn: int) -> list[float]:
    cells = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
    return [
        value(bound, cells) if isinstance(bound, Expression) else float(bound(tp, fp, fn, tn))
        for bound in find(name).bounds or ()
    ]


# -- what one operating point tells ----------------------------------------------------------------


def test_the_bounds_of_areas_at_one_operating_point() -> None:
    bounds = bounds_of("roc_auc", TP, FP, FN, TN)
    # At worst and at best: the one rectangle that is certain, and all but the one that is lost.
    assert bounds == pytest.approx([float(R * S), float(1 - (1 - R) * (1 - S))])
    # At best all other attacks come right after the alarms.
    assert bounds_of("average_precision", TP, FP, FN, TN)[1] == pytest.approx(
        float(R + (1 - R) * Fraction(12, 15))
    )


@pytest.mark.parametrize(
    "cells",
    [(7, 3, 5, 11), (3, 0, 2, 4), (0, 4, 6, 2), (5, 2, 0, 9), (1, 50, 1, 50), (40, 1, 9, 3)],
)
def test_the_least_average_precision_is_that_of_the_worst_order_less_one_step(
    cells: tuple[int, int, int, int],
) -> None:
    tp, fp, fn, tn = cells
    worst = sum((Fraction(i, i + fp) for i in range(1, tp + 1)), Fraction(0))
    worst += sum((Fraction(tp + i, tp + i + fp + tn) for i in range(1, fn + 1)), Fraction(0))
    exact = max(worst - 1, Fraction(0)) / (tp + fn)
    fraction = least_average_precision(tp, fp, fn, tn)
    assert float(fraction) == pytest.approx(float(exact) * (1 - 1e-9), rel=1e-12)
    assert fraction <= exact


@pytest.mark.parametrize(
    ("steps", "hits", "alarms"), [(0, 3, 4), (5, 2, 0), (4, 0, 3), (6, 10, 2), (3, 1, 100)]
)
def test_precisions_of_hits_after_alarms_are_added_up(steps: int, hits: int, alarms: int) -> None:
    exact = sum(Fraction(hits + i, hits + alarms + i) for i in range(1, steps + 1))
    precisions = _ascending(steps, hits, alarms)
    assert precisions == pytest.approx(float(exact), rel=1e-12)
    assert precisions <= exact


def test_the_sum_of_many_precisions_is_just_below_the_exact_one() -> None:
    many = 10**12
    with mpmath.workdps(40):
        lost = many * (mpmath.digamma(2 * many + 3 + 1) - mpmath.digamma(many + 3 + 1))
        exact = float(many - lost)
    assert 0.015 < exact - _ascending(many, 3, many) < 0.045
    assert _ascending(1, 0, 10**40) == 0.0


def test_what_hard_decisions_are_quoted_as_areas() -> None:
    values = [value(each.formula, CELLS) for each in ROC_AUC.of_decisions]
    assert values == pytest.approx([float((R + S) / 2), float(R * S)])
    values = [value(each.formula, CELLS) for each in find("average_precision").of_decisions]
    # Trapezoids from a precision of 1, or from that of the first alert, down to the prevalence.
    last = (1 - R) * (P + PI) / 2
    expected = [P * R + (1 - R) * PI, P * R, (1 + P) / 2 * R + last, P * R + last]
    assert values == pytest.approx([float(x) for x in expected])


@pytest.mark.parametrize("exponent", [2, 3, 4, 5])
def test_a_rate_that_is_printed_with_few_digits_may_lie_a_little_beyond(exponent: int) -> None:
    name, rows = f"recall_at_fpr_1e{exponent}", 10 ** (exponent + 10)
    within, beyond = 10**10 - 5100, 10**10 + 5100
    assert bounds_of(name, 3, within, 1, rows - within) == [0.75, 1.0]
    assert bounds_of(name, 3, within + 1, 1, rows - within - 1) == [0.0, 1.0]
    assert bounds_of(name, 3, beyond - 1, 1, rows - beyond + 1) == [0.0, 1.0]
    assert bounds_of(name, 3, beyond, 1, rows - beyond) == [0.0, 0.75]


def test_the_bounds_of_equal_errors_and_of_the_farthest_distance() -> None:
    assert bounds_of("equal_error_rate", TP, FP, FN, TN) == pytest.approx([3 / 14, 5 / 12])
    assert bounds_of("equal_error_rate", 11, 5, 3, 7) == pytest.approx([3 / 14, 5 / 12])
    assert bounds_of("ks", TP, FP, FN, TN) == pytest.approx([float(R + S - 1), 11 / 14])
    assert bounds_of("ks", 11, 5, 3, 7)[1] == pytest.approx(11 / 14)


# -- limits ----------------------------------------------------------------------------------------


def test_a_partial_area_is_declared_for_any_limit() -> None:
    tally = ScoreCounts(
        ("no", "yes"), np.arange(4.0), np.array([[3, 1, 2, 1], [1, 2, 2, 4]], np.uint8)
    )
    for limit in (0.25, 0.6):
        corrected, raw = partial_auc_up_to(limit), partial_auc_up_to(limit, corrected=False)
        assert raw.between == (0.0, limit)
        assert corrected.between is not None
        # An area of nothing, on the scale on which chance is a half.
        assert corrected.between == (pytest.approx((1 - limit / (2 - limit)) / 2), 1.0)
        assert (corrected.reach, raw.reach) == (limit, limit)
        for declared, rescaled in ((corrected, True), (raw, False)):
            expected = rank(tally).partial_auc(limit, corrected=rescaled)
            assert declared.of(rank(tally)) == expected
            assert declared.by_influence(tally) == pytest.approx(expected, rel=1e-12)
            assert declared.up_to is not None
            assert declared.up_to(0.5).reach == 0.5


def test_a_rate_asks_for_one_negative_in_its_share() -> None:
    assert [recall_at_fpr(rate).negatives for rate in (0.1, 0.3, 0.5, 0.01)] == [10, 4, 2, 100]
    declared = [measure.of_scores for measure in RECALL_AT_FPR]
    assert [(one.reach, one.negatives) for one in declared] == [
        (10**-k, 10**k) for k in (2, 3, 4, 5)
    ]


def test_the_variance_of_auc_by_influence_is_delongs() -> None:
    tally = ScoreCounts(("no", "yes"), np.arange(3.0), np.array([[3, 1, 2], [1, 2, 4]], np.uint8))
    declared = ROC_AUC.of_scores
    assert isinstance(declared, Ranked)
    assert declared.by_influence(tally) == pytest.approx(rank(tally).auc, rel=1e-13)


def test_what_is_computed_of_probabilities_alone() -> None:
    names = {m.name for m in CATALOGUE if m.needs is Needs.LOSSES}
    lines = {"brier_resolution", "calibration_slope", "calibration_intercept"}
    assert names == {"log_loss", "brier"} | lines
    assert {m.name for m in CATALOGUE if m.needs is Needs.OPEN_SET} == {"oscr", "known_auc"}
    assert [find(name).of_scores.right_only for name in ("oscr", "known_auc")] == [True, False]


# -- losses ----------------------------------------------------------------------------------------


def loss_of(measure) -> MeanLoss:
    assert isinstance(measure.of_scores, MeanLoss)
    return measure.of_scores


def test_the_log_loss_of_a_row_is_cut_at_the_smallest_probability() -> None:
    declared, said = loss_of(LOG_LOSS), np.array([0.2, 0.2, 0.0, 1.0, 1.0])
    truth = np.array([1, 0, 1, 0, 1])
    most = 52 * math.log(2)
    expected = [-math.log(0.2), -math.log(0.8), most, most, 0.0]
    assert declared.loss(said, truth).tolist() == pytest.approx(expected)
    assert declared.largest == pytest.approx(most, rel=1e-15)


def test_the_squared_distance_of_a_row() -> None:
    declared = loss_of(BRIER)
    loss = declared.loss(np.array([0.2, 0.2, 1.0]), np.array([1, 0, 0]))
    assert loss.tolist() == pytest.approx([0.64, 0.04, 1.0])
    assert declared.largest == 1.0


def test_losses_of_more_than_two_classes() -> None:
    said, truth = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]), np.array([1, 0])
    of_log, of_squares = loss_of(LOG_LOSS).of_classes, loss_of(BRIER).of_classes
    assert of_log is not None
    assert of_squares is not None
    assert of_log(said, truth).tolist() == pytest.approx([-math.log(0.5), -math.log(0.1)])
    squares = [0.04 + 0.25 + 0.09, 0.81 + 0.01 + 0.64]
    assert of_squares(said, truth).tolist() == pytest.approx([x / 2 for x in squares])


def test_what_losses_are_compared_with() -> None:
    confusion = Confusion.of_rows(("a", "b", "c"), np.array([0, 0, 0, 1]), np.array([0, 0, 0, 0]))
    log, squares = loss_of(LOG_LOSS).beside, loss_of(BRIER).beside
    assert log is not None
    assert squares is not None
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert log(confusion) == pytest.approx({"ln 2": math.log(2), "prevalence entropy": entropy})
    assert squares(confusion) == pytest.approx({"uncertainty": (1 - 0.5625 - 0.0625) / 2})


def test_binned_measures_are_those_of_their_bins() -> None:
    bins = reliability(
        ScoreCounts(("no", "yes"), np.array([0.2, 0.7]), np.array([[3, 1], [1, 3]], np.uint8))
    )
    error, gap = EXPECTED_CALIBRATION_ERROR.of_scores, BRIER_RELIABILITY.of_scores
    assert isinstance(error, Binned)
    assert isinstance(gap, Binned)
    assert error.value(bins) == pytest.approx(0.05)
    assert gap.value(bins) == pytest.approx(0.05**2)
    assert gap.if_calibrated(bins) == pytest.approx((0.16 + 0.21) / 8)
    assert error.if_calibrated(bins) == bins.if_calibrated
