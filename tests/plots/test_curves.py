"""Curves are drawn as steps that promise nothing the detector does not attain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import curves
from assay.errors import MethodError
from assay.inference import Estimate, with_band
from assay.measures import find, rank
from assay.plots import MarkedPoint, far_dr, precision_recall, roc, thresholds
from assay.tally import ScoreTally

from . import drawn

ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=2, max_size=25).filter(
    lambda rows: {label for label, _ in rows} == {0, 1}
)


def tally_of(rows: list[tuple[int, int]]) -> ScoreTally:
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    return ScoreTally.of_rows(("no", "yes"), scores, truth)


def swept(size: int = 400) -> curves.Sweep:
    random = np.random.default_rng(3)
    truth = (random.random(size) < 0.3).astype(np.uint8)
    scores = random.normal(truth * 1.5, 1.0).round(2)
    return curves.sweep(ScoreTally.of_rows(("no", "yes"), scores, truth))


POINT = MarkedPoint(Estimate(0.2, 0.15, 0.27), Estimate(0.8, 0.7, 0.9), 0.5)
KINDS = {
    "roc": (curves.roc, roc),
    "precision_recall": (curves.precision_recall, precision_recall),
    "far_dr": (curves.far_dr, far_dr),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_line_holds_the_columns_of_the_curve(kind: str) -> None:
    make, draw = KINDS[kind]
    curve = make(swept())
    ax = draw(curve)
    (line,) = drawn.curves(ax)
    assert np.array_equal(line.get_xdata(), curve[curve.x.name])
    assert np.array_equal(line.get_ydata(), curve[curve.y.name])


@pytest.mark.parametrize("kind", KINDS)
@given(ROWS)
@settings(max_examples=25)
def test_each_point_of_a_step_is_at_most_as_good_as_a_threshold(kind: str, rows) -> None:
    make, draw = KINDS[kind]
    curve = make(curves.sweep(tally_of(rows)))
    signs = [1 if measure.better.name == "HIGHER" else -1 for measure in (curve.x, curve.y)]
    attained = np.column_stack([curve[curve.x.name], curve[curve.y.name]]) * signs
    corners = drawn.corners(draw(curve)) * signs
    # Between two corners as well: the points on the way are no better than the better end.
    middles = (corners[1:] + corners[:-1]) / 2
    for point in [*corners, *middles]:
        assert ((attained - point) >= -1e-12).all(axis=1).any()


@given(ROWS)
@settings(max_examples=25)
def test_the_area_under_the_steps_of_precision_and_recall_is_the_average_precision(rows) -> None:
    tally = tally_of(rows)
    corners = drawn.corners(precision_recall(curves.precision_recall(curves.sweep(tally))))
    x, y = corners.T
    area = x[0] * y[0] + np.sum(np.diff(x) * y[1:])
    assert math.isclose(area, rank(tally).average_precision.value, abs_tol=1e-12)


def test_guessing_is_the_diagonal_of_a_roc() -> None:
    line = drawn.line(roc(curves.roc(swept())), "guessing")
    assert np.array_equal(line.get_xydata(), [[0, 0], [1, 1]])


def test_guessing_is_as_precise_as_positives_are_frequent() -> None:
    sweep = swept()
    share = sweep.positives / (sweep.positives + sweep.negatives)
    line = drawn.line(precision_recall(curves.precision_recall(sweep)), "guessing")
    assert np.allclose(line.get_ydata(), share)
    line = drawn.line(far_dr(curves.far_dr(sweep)), "guessing")
    assert np.allclose(line.get_xdata(), 1 - share)


def test_the_operating_point_is_a_cross_of_its_intervals() -> None:
    ax = roc(curves.roc(swept()), point=POINT)
    ((across, upright),) = drawn.bars(ax)
    assert np.allclose(across, [[[0.15, 0.8], [0.27, 0.8]]])
    assert np.allclose(upright, [[[0.2, 0.7], [0.2, 0.9]]])
    assert "threshold 0.5, 95% intervals" in drawn.legend(ax)


def test_a_point_without_an_interval_has_no_bars() -> None:
    ax = roc(curves.roc(swept()), point=MarkedPoint(Estimate(0.2), Estimate(0.8)))
    for bars in drawn.bars(ax)[0]:
        assert np.ptp(bars, axis=1).max() == 0
    assert "decisions" in drawn.legend(ax)


def test_an_undefined_point_is_left_out() -> None:
    ax = roc(
        curves.roc(swept()), point=MarkedPoint(Estimate(math.nan, undefined="why"), Estimate(0.8))
    )
    assert not ax.containers


def test_axes_are_called_by_their_measures() -> None:
    ax = far_dr(curves.far_dr(swept()))
    assert ax.get_xlabel() == "False alarm rate (false discovery rate)"
    assert ax.get_ylabel() == "Detection rate (recall)"


def test_the_summary_stands_in_the_legend() -> None:
    area = Estimate(0.912, 0.9, 0.925)
    assert "AUC 0.912 [0.900, 0.925]" in drawn.legend(roc(curves.roc(swept()), summary=area))
    nothing = Estimate(math.nan, undefined="no positives")
    assert "AUC" in drawn.legend(roc(curves.roc(swept()), summary=nothing))


def test_a_band_has_the_ends_of_the_curve() -> None:
    curve = with_band(curves.roc(swept()), 0.9)
    ax = roc(curve)
    (band,) = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert {*curve["low"].round(9), *curve["high"].round(9)} == set(heights.round(9))


def test_two_models_on_the_same_axes_are_told_apart() -> None:
    ax = roc(curves.roc(swept()), name="old")
    again = roc(curves.roc(swept(500)), name="_new", ax=ax)
    first, second = drawn.curves(again)
    assert again is ax
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert drawn.legend(ax) == ["guessing", "old: AUC", "\u200b_new: AUC"]


def test_a_curve_without_points_is_refused() -> None:
    alone = curves.sweep(ScoreTally.of_rows(("no", "yes"), np.array([0.1, 0.9]), np.array([0, 0])))
    with pytest.raises(MethodError, match="rows of both labels are needed"):
        roc(curves.roc(alone))
    with pytest.raises(MethodError, match="rows of both labels are needed"):
        far_dr(curves.far_dr(alone))


# -- against the threshold -------------------------------------------------------------------------


def value_at(corners: np.ndarray, threshold: float) -> float:
    """The height of a drawn step at a threshold: thresholds fall along the line."""
    x, y = corners.T
    on = np.flatnonzero((x[:-1] >= threshold) & (threshold > x[1:]) & (y[:-1] == y[1:]))
    return float(y[on[0]])


@given(ROWS, st.floats(0.1, 5.9))
@settings(max_examples=25)
def test_a_step_is_the_value_at_every_threshold_of_it(rows, threshold: float) -> None:
    truth, scores = np.array(rows).T
    low, high = scores.min(), scores.max()
    if not low < threshold <= high:
        return
    ax = thresholds([curves.trace(curves.sweep(tally_of(rows)), "recall", find("recall"))])
    ratio = np.sum((scores >= threshold) & (truth == 1)) / np.sum(truth == 1)
    assert value_at(drawn.corners(ax), threshold) == ratio


def test_the_infinite_threshold_is_not_drawn_and_the_others_are() -> None:
    curve = curves.trace(swept(), "mcc", find("mcc"))
    ax = thresholds([curve])
    (line,) = drawn.curves(ax)
    finite = np.isfinite(curve["threshold"])
    assert np.array_equal(line.get_xdata(), curve["threshold"][finite])
    assert np.array_equal(line.get_ydata(), curve["mcc"][finite])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Threshold", "MCC")


def test_several_measures_stand_in_the_legend() -> None:
    both = [curves.trace(swept(), name, find(name)) for name in ("precision", "recall")]
    points = [
        MarkedPoint(0.5, Estimate(math.nan, undefined="nothing flagged"), 0.5),
        MarkedPoint(0.5, Estimate(0.8, 0.7, 0.9), 0.5),
    ]
    ax = thresholds(both, points=points)
    assert ax.get_ylabel() == "Value"
    expected = ["Precision", "Detection rate", "threshold 0.5, 95% intervals"]
    assert drawn.legend(ax) == expected
    ((upright,),) = drawn.bars(ax)
    assert np.allclose(upright, [[[0.5, 0.7], [0.5, 0.9]]])


def test_a_rate_is_shown_over_its_whole_range_and_others_are_not() -> None:
    sweep = swept()
    assert thresholds([curves.trace(sweep, "recall", find("recall"))]).get_ylim() == (-0.02, 1.02)
    assert find("mcc").range == (-1, 1)
    assert thresholds([curves.trace(sweep, "mcc", find("mcc"))]).get_ylim() != (-0.02, 1.02)


def test_a_curve_against_the_threshold_has_no_place_in_a_plane_of_two_rates() -> None:
    with pytest.raises(MethodError, match="drawn against the threshold"):
        roc(curves.trace(swept(), "recall", find("recall")))
