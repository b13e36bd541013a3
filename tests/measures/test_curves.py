"""Curves: steps over falling thresholds, and what the whole of them adds up to."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assay
from assay.counts import ScoreCounts
from assay.counts.blocks import BLOCK, map_blocks
from assay.errors import MethodError
from assay.formula import value
from assay.inference import with_band
from assay.measures import CATALOGUE, find, rank
from assay.measures.curves import (
    POINTS,
    Curve,
    far_dr,
    precision_recall,
    recall_at,
    roc,
    sweep,
    trace,
)

Rows = list[tuple[int, int]]  # the label and the score of each row

ANY = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=1, max_size=30)
BOTH = ANY.filter(lambda rows: len({label for label, _ in rows}) == 2)


def tally_of(rows: Rows, weights: list[float] | None = None) -> ScoreCounts:
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    amounts = None if weights is None else np.array(weights)
    return ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=amounts)


def large(size: int, seed: int = 7, share: float = 0.2) -> ScoreCounts:
    """Distinct scores, a share of them of positives."""
    random = np.random.default_rng(seed)
    truth = (random.random(size) < share).astype(np.uint8)
    return ScoreCounts.of_rows(("no", "yes"), random.normal(truth * 1.2, 1.0), truth)


def flagged(rows: Rows, threshold: float) -> tuple[int, int]:
    """True and false positives at a threshold, counted one by one."""
    return (
        sum(t == 1 and s >= threshold for t, s in rows),
        sum(t == 0 and s >= threshold for t, s in rows),
    )


# -- the sweep -------------------------------------------------------------------------------------


@given(ANY)
def test_a_sweep_counts_what_is_flagged_at_each_threshold(rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    assert swept.threshold.tolist() == [
        math.inf,
        *sorted({float(s) for _, s in rows}, reverse=True),
    ]
    pairs = list(zip(swept.tp.tolist(), swept.fp.tolist(), strict=True))
    assert pairs == [flagged(rows, threshold) for threshold in swept.threshold]


@given(ANY)
def test_it_starts_with_nothing_and_ends_with_everything_flagged(rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    assert (swept.threshold[0], swept.tp[0], swept.fp[0]) == (math.inf, 0, 0)
    positives = sum(label for label, _ in rows)
    assert (swept.tp[-1], swept.fp[-1]) == (positives, len(rows) - positives)
    assert (swept.positives, swept.negatives) == (positives, len(rows) - positives)


@given(ANY)
def test_thresholds_fall_and_counts_never_do(rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    assert all(a > b for a, b in pairwise(swept.threshold.tolist()))
    assert all(a <= b for a, b in pairwise(swept.tp.tolist()))
    assert all(a <= b for a, b in pairwise(swept.fp.tolist()))


@given(ANY)
def test_the_four_cells_add_up_to_all_rows(rows: Rows) -> None:
    cells = sweep(tally_of(rows)).cells()
    total = sum(cells[name] for name in ("TP", "FP", "FN", "TN"))
    assert (total == len(rows)).all()
    assert all((column >= 0).all() for column in cells.values())


@given(BOTH, st.randoms(use_true_random=False))
def test_weights_are_summed(rows: Rows, random) -> None:
    weights = [random.choice([0.5, 1.0, 2.5]) for _ in rows]
    swept = sweep(tally_of(rows, weights))
    assert swept.weighted
    for threshold, tp, fp in zip(swept.threshold, swept.tp, swept.fp, strict=True):
        pairs = list(zip(rows, weights, strict=True))
        assert tp == pytest.approx(sum(w for (t, s), w in pairs if t and s >= threshold))
        assert fp == pytest.approx(sum(w for (t, s), w in pairs if not t and s >= threshold))


def test_float32_scores_are_thresholds_of_float64() -> None:
    scores = np.array([0.1, 0.7], np.float32)
    swept = sweep(ScoreCounts.of_rows(("no", "yes"), scores, np.array([0, 1])))
    assert swept.threshold.dtype == np.float64
    assert swept.threshold[1] == float(np.float32(0.7))


# -- thinning --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [POINTS - 1, POINTS, POINTS + 1, 5000, BLOCK + 5, 3 * BLOCK])
def test_a_sweep_has_at_most_two_thousand_points(size: int) -> None:
    swept = sweep(large(size))
    assert len(swept.threshold) <= POINTS
    assert len(swept.threshold) >= min(size, POINTS // 2)


@pytest.mark.parametrize("points", [5, 6, 10, 37, 500])
def test_fewer_points_can_be_asked_for(points: int) -> None:
    swept = sweep(large(3000), points, keep=0.25)
    assert 3 <= len(swept.threshold) <= points


def test_up_to_the_limit_no_point_is_left_out() -> None:
    assert len(sweep(large(POINTS - 1)).threshold) == POINTS
    assert len(sweep(large(20), points=20).threshold) <= 20


@pytest.mark.parametrize("size", [4000, BLOCK + 1, 2 * BLOCK + 77])
def test_thinned_points_lie_on_the_full_curve(size: int) -> None:
    tally = large(size)
    full, thin = sweep(tally, points=None), sweep(tally)
    assert len(full.threshold) == size + 1
    at = {t: i for i, t in enumerate(full.threshold.tolist())}
    chosen = [at[threshold] for threshold in thin.threshold.tolist()]
    assert thin.tp.tolist() == full.tp[chosen].tolist()
    assert thin.fp.tolist() == full.fp[chosen].tolist()
    assert chosen[0] == 0
    assert chosen[1] == 1
    assert chosen[-1] == size
    assert all(a < b for a, b in pairwise(chosen))


def test_thinned_points_are_dense_where_alerts_are_few() -> None:
    full, thin = sweep(large(50_000), points=None), sweep(large(50_000))
    alerts = (thin.tp + thin.fp).tolist()
    assert alerts[:6] == [0, 1, 2, 3, 4, 5]
    assert max(b - a for a, b in pairwise(alerts)) < 50_000 / 300
    assert len(full.threshold) == 50_001


@pytest.mark.parametrize("share", [0.2, 0.02])
def test_thinned_points_are_even_along_the_roc_curve(share: float) -> None:
    # Points that are even along ranks alone are twice as far apart.
    thin = sweep(large(50_000, share=share))
    along = (thin.tp / thin.positives + thin.fp / thin.negatives) / 2
    assert np.diff(along).max() < 2 / (POINTS / 2)


@pytest.mark.parametrize("keep", [-9.0, -0.5, 0.123456, 2.5, 99.0])
def test_the_operating_point_is_kept(keep: float) -> None:
    tally = large(20_000)
    thin = sweep(tally, points=50, keep=keep)
    fp, tp = tally.at_least(keep)
    assert (tp, fp) in set(zip(thin.tp.tolist(), thin.fp.tolist(), strict=True))
    assert len(thin.threshold) <= 50


@pytest.mark.parametrize("block", [1, 3, 64])
@pytest.mark.parametrize("points", [None, 40])
def test_blocks_do_not_change_a_sweep(
    block: int, points: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = large(300)
    whole = sweep(tally, points, keep=0.1)
    monkeypatch.setattr(assay.measures.curves, "BLOCK", block)
    monkeypatch.setattr(assay.measures.curves, "map_blocks", partial(map_blocks, block=block))
    parts = sweep(tally, points, keep=0.1)
    assert parts.threshold.tolist() == whole.threshold.tolist()
    assert parts.tp.tolist() == whole.tp.tolist()
    assert parts.fp.tolist() == whole.fp.tolist()


def test_many_ties_are_thinned_too() -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 200_000)
    scores = random.integers(0, 6000, 200_000) / 6000
    tally = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    thin = sweep(tally)
    assert len(thin.threshold) <= POINTS
    for threshold, tp, fp in list(zip(thin.threshold, thin.tp, thin.fp, strict=True))[1::97]:
        assert [fp, tp] == tally.at_least(float(threshold))


# -- areas -----------------------------------------------------------------------------------------


def _trapezoid(curve: Curve) -> float:
    x, y = curve["false_positive_rate"], curve["recall"]
    return float(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).sum())


@given(BOTH)
def test_the_trapezoids_of_the_roc_curve_add_up_to_auc(rows: Rows) -> None:
    tally = tally_of(rows)
    assert _trapezoid(roc(sweep(tally))) == pytest.approx(rank(tally).auc.value, abs=1e-12)


@given(BOTH)
def test_the_steps_of_the_precision_recall_curve_add_up_to_average_precision(rows: Rows) -> None:
    tally = tally_of(rows)
    curve = precision_recall(sweep(tally))
    widths = np.diff(curve["recall"], prepend=0.0)
    area = float((widths * curve["precision"]).sum())
    assert area == pytest.approx(rank(tally).average_precision.value, abs=1e-12)


def test_a_full_curve_of_many_blocks_adds_up_to_auc() -> None:
    tally = large(150_000)
    area = _trapezoid(roc(sweep(tally, points=None)))
    assert area == pytest.approx(rank(tally).auc.value, abs=1e-10)


def test_a_thinned_roc_curve_is_close_to_auc() -> None:
    tally = large(60_000)
    assert _trapezoid(roc(sweep(tally))) == pytest.approx(rank(tally).auc.value, abs=1e-4)


# -- where curves start and end --------------------------------------------------------------------


@given(BOTH)
def test_roc_runs_from_corner_to_corner(rows: Rows) -> None:
    curve = roc(sweep(tally_of(rows)))
    assert (curve["false_positive_rate"][0], curve["recall"][0]) == (0, 0)
    assert (curve["false_positive_rate"][-1], curve["recall"][-1]) == (1, 1)
    assert (curve.name, curve.x.name, curve.y.name) == ("ROC", "false_positive_rate", "recall")


@given(BOTH)
def test_far_dr_starts_at_the_first_alert(rows: Rows) -> None:
    curve = far_dr(sweep(tally_of(rows)))
    highest = max(s for _, s in rows)
    assert curve["threshold"][0] == highest
    tp, fp = flagged(rows, highest)
    assert curve["false_discovery_rate"][0] == fp / (tp + fp)
    assert not np.isnan(curve["recall"]).any()
    assert curve.name == "FAR-DR"


@given(BOTH)
def test_precision_recall_starts_at_the_first_alert_and_ends_at_the_prevalence(rows: Rows) -> None:
    curve = precision_recall(sweep(tally_of(rows)))
    assert curve["threshold"][0] == max(s for _, s in rows)
    positives = sum(label for label, _ in rows)
    assert curve["recall"][-1] == 1
    assert curve["precision"][-1] == positives / len(rows)
    assert curve.name == "precision-recall"


@pytest.mark.parametrize("draw", [roc, precision_recall, far_dr], ids=["roc", "pr", "far_dr"])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_curve_of_rates_that_need_the_other(draw, label: int) -> None:
    curve = draw(sweep(tally_of([(label, 1), (label, 3)])))
    needs = {roc: 2, precision_recall: 1, far_dr: 1}[draw]
    drawn = needs == 1 and label == 1
    assert len(curve) == (2 if drawn else 0)
    assert all(len(column) == len(curve) for column in curve.cells.values())


def test_a_curve_is_a_small_table() -> None:
    curve = roc(sweep(tally_of([(1, 3), (0, 2), (1, 1)])))
    frame = curve.to_frame()
    assert frame.columns == ["threshold", "false_positive_rate", "recall"]
    assert frame.height == len(curve) == 4
    assert frame["recall"].to_list() == [0.0, 0.5, 0.5, 1.0]


# -- any measure -----------------------------------------------------------------------------------

COUNTED = [measure.name for measure in CATALOGUE if measure.formula is not None]


@pytest.mark.parametrize("name", COUNTED)
@settings(max_examples=15)
@given(rows=ANY)
def test_a_measure_along_the_thresholds_is_the_measure_at_each(name: str, rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    curve = trace(swept, name, find(name))
    assert curve.x is None
    by_threshold = dict(zip(curve["threshold"].tolist(), curve[name].tolist(), strict=True))
    positives = sum(label for label, _ in rows)
    for threshold in swept.threshold.tolist():
        tp, fp = flagged(rows, threshold)
        fn, tn = positives - tp, len(rows) - positives - fp
        expected = value(find(name).of_counts, {"TP": tp, "FP": fp, "FN": fn, "TN": tn})
        if math.isnan(expected):
            assert threshold not in by_threshold
        else:
            assert by_threshold[threshold] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_measure_is_found_by_its_alias_too() -> None:
    swept = sweep(tally_of([(1, 3), (0, 2), (1, 1)]))
    curve = trace(swept, "mine", find("detection_rate"), find("fall_out"))
    assert (curve.x.name, curve.y.name) == ("false_positive_rate", "recall")
    assert curve["recall"].tolist() == [0.0, 0.5, 0.5, 1.0]


@pytest.mark.parametrize("name", ["roc_auc", "log_loss", "expected_calibration_error"])
def test_a_measure_of_scores_has_no_value_at_a_threshold(name: str) -> None:
    swept = sweep(tally_of([(1, 3), (0, 2)]))
    with pytest.raises(MethodError, match="has no value at a single threshold"):
        trace(swept, name, find(name))
    with pytest.raises(MethodError, match="has no value at a single threshold"):
        trace(swept, "both", find("recall"), find(name))


# -- bands -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTED)
@settings(max_examples=10)
@given(rows=BOTH, level=st.sampled_from([0.5, 0.95, 0.99]))
def test_a_band_holds_the_curve_and_stays_in_the_range(name: str, rows: Rows, level: float) -> None:
    curve = with_band(trace(sweep(tally_of(rows)), name, find(name)), level)
    low, high = curve.y.range
    slack = 1e-12
    assert (curve["low"] <= curve[name] + slack).all()
    assert (curve[name] - slack <= curve["high"]).all()
    assert (curve["low"] >= low).all()
    assert (curve["high"] <= high).all()


@pytest.mark.parametrize("draw", [roc, precision_recall, far_dr], ids=["roc", "pr", "far_dr"])
def test_a_band_is_wider_at_a_higher_level(draw) -> None:
    curve = draw(sweep(large(500)))
    inner, outer = with_band(curve, 0.8), with_band(curve, 0.99)
    assert (outer["low"] <= inner["low"]).all()
    assert (outer["high"] >= inner["high"]).all()
    assert (outer["high"] - outer["low"] > inner["high"] - inner["low"]).all()


def test_a_band_of_weighted_rows_is_refused() -> None:
    curve = roc(sweep(tally_of([(1, 3), (0, 2), (1, 1)], [1.0, 2.0, 0.5])))
    with pytest.raises(MethodError, match="weight"):
        with_band(curve)


# -- the highest detection rate within limits ------------------------------------------------------


@given(
    BOTH,
    st.sampled_from(["false_discovery_rate", "false_positive_rate", "alert_rate", "far"]),
    st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 1.0]),
)
def test_recall_at_a_limit_is_the_best_of_all_thresholds(
    rows: Rows, name: str, limit: float
) -> None:
    positives = sum(label for label, _ in rows)
    best, at = 0.0, math.inf
    for threshold in [math.inf, *sorted({s for _, s in rows}, reverse=True)]:
        tp, fp = flagged(rows, threshold)
        fn, tn = positives - tp, len(rows) - positives - fp
        value = getattr(assay, name)(tp=tp, fp=fp, fn=fn, tn=tn).value
        if value <= limit and tp / positives > best:
            best, at = tp / positives, threshold
    recall, threshold = recall_at(tally_of(rows), {name: limit})
    assert recall == best
    if best > 0:
        assert threshold == at


@given(BOTH)
def test_two_limits_bind_together(rows: Rows) -> None:
    tally = tally_of(rows)
    limits = {"false_discovery_rate": 0.3, "false_positive_rate": 0.2}
    both, _ = recall_at(tally, limits)
    assert both <= min(recall_at(tally, {name: limit})[0] for name, limit in limits.items())


def test_no_alert_within_the_limits_is_no_detection() -> None:
    tally = tally_of([(0, 9), (1, 5)])
    assert recall_at(tally, {"false_discovery_rate": 0.1}) == (0.0, math.inf)


def test_without_limits_everything_is_flagged() -> None:
    assert recall_at(tally_of([(0, 9), (1, 5), (1, 2)]), {}) == (1.0, 2.0)


def test_without_positives_there_is_nothing_to_detect() -> None:
    recall, threshold = recall_at(tally_of([(0, 9), (0, 5)]), {"false_positive_rate": 0.1})
    assert math.isnan(recall)
    assert threshold == math.inf


def test_without_negatives_a_false_positive_rate_is_never_within_limits() -> None:
    assert recall_at(tally_of([(1, 9)]), {"false_positive_rate": 0.1}) == (0.0, math.inf)
    assert recall_at(tally_of([(1, 9)]), {"false_discovery_rate": 0.1}) == (1.0, 9.0)


def test_a_limit_on_a_measure_of_scores_is_refused() -> None:
    with pytest.raises(MethodError, match="has no value at a single threshold"):
        recall_at(tally_of([(0, 9), (1, 5)]), {"roc_auc": 0.5})


def test_a_sweep_spends_its_points_where_ties_take_many_targets_at_once() -> None:
    random = np.random.default_rng(2)
    scores = np.where(random.random(40_000) < 0.9, 0.0, random.random(40_000).round(4))
    tally = ScoreCounts.of_rows(("no", "yes"), scores, (random.random(40_000) < 0.2).astype(int))
    assert tally.size > 3000
    swept = sweep(tally)
    assert 1500 < len(swept.threshold) <= 2000
    assert (np.diff(swept.threshold) < 0).all()
    whole = sweep(tally, None)
    at = np.searchsorted(-whole.threshold, -swept.threshold)
    assert (whole.tp[at] == swept.tp).all()
    assert (whole.fp[at] == swept.fp).all()
