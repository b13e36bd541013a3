"""DET, gain, lift and precision-recall-gain, against scikit-learn, ROCR and their definitions."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import det_curve

from assay.counts import ScoreCounts
from assay.inference import with_band
from assay.measures.curves import (
    POINTS,
    det,
    gain,
    lift,
    precision_recall,
    precision_recall_gain,
    sweep,
)

CASES = json.loads((Path(__file__).parent.parent / "oracles" / "r" / "curves.json").read_text())[
    "cases"
]
Rows = list[tuple[int, int]]
BOTH = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def tally_of(rows: Rows) -> ScoreCounts:
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    return ScoreCounts.of_rows(("no", "yes"), scores, truth)


def large(size: int = 30_000) -> ScoreCounts:
    random = np.random.default_rng(4)
    truth = (random.random(size) < 0.1).astype(int)
    return ScoreCounts.of_rows(("no", "yes"), random.normal(2.0 * truth, 1.0), truth)


# -- DET -------------------------------------------------------------------------------------------


@given(BOTH)
def test_det_is_that_of_scikit_learn(rows: Rows) -> None:
    fpr, fnr, threshold = det_curve([t for t, _ in rows], [s for _, s in rows])
    curve = det(sweep(tally_of(rows)))
    assert np.allclose(curve["false_positive_rate"], fpr[::-1])
    assert np.allclose(curve["false_negative_rate"], fnr[::-1])
    assert curve["threshold"].tolist() == threshold[::-1].tolist()


@given(BOTH)
def test_deviates_are_finite_and_those_of_the_rates(rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    curve = det(swept)
    sides = {"false_positive_rate": swept.negatives, "false_negative_rate": swept.positives}
    off = np.zeros(len(curve), bool)
    for name, total in sides.items():
        deviates = [
            NormalDist().inv_cdf(min(max(r, 0.5 / total), 1 - 0.5 / total)) for r in curve[name]
        ]
        assert np.allclose(curve[f"{name}_probit"], deviates)
        off |= (curve[name] == 0) | (curve[name] == 1)
    said = f"{off.sum():,} of {len(curve):,} points have a rate of 0 or 1"
    assert curve.note.startswith(said) if off.any() else curve.note == ""


def test_weighted_rows_leave_out_what_has_no_deviate() -> None:
    scores, truth = np.array([0.9, 0.6, 0.4, 0.2]), np.array([1, 0, 1, 0])
    tally = ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=np.array([1, 2, 3, 0.5]))
    curve = det(sweep(tally))
    assert "left out, since rows carry weights" in curve.note
    off = (curve["false_positive_rate"] == 0) | (curve["false_positive_rate"] == 1)
    assert np.array_equal(np.isnan(curve["false_positive_rate_probit"]), off)


def test_normal_classes_have_a_straight_det_curve() -> None:
    curve = det(sweep(large()))
    x, y = curve["false_positive_rate_probit"], curve["false_negative_rate_probit"]
    middle = (np.abs(x) < 2) & (np.abs(y) < 2)
    assert np.allclose(x[middle] + y[middle], -2, atol=0.15)


# -- gain and lift ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_gain_and_lift_are_those_of_rocr(case) -> None:
    tally = ScoreCounts.of_rows(("no", "yes"), np.array(case["score"]), np.array(case["truth"]))
    curve = gain(sweep(tally))
    assert np.allclose(curve["alert_rate"], case["gain"]["x"])
    assert np.allclose(curve["recall"], case["gain"]["y"])
    curve = lift(sweep(tally))
    assert np.allclose(curve["alert_rate"], case["lift"]["x"][1:])
    assert np.allclose(curve["lift"], case["lift"]["y"][1:])


@given(BOTH)
def test_lift_is_gain_over_alerts_and_ends_at_one(rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    gained, lifted = gain(swept), lift(swept)
    assert (gained["alert_rate"][0], gained["recall"][0]) == (0, 0)
    assert (gained["alert_rate"][-1], gained["recall"][-1]) == (1, 1)
    assert np.allclose(gained["recall"][1:] / gained["alert_rate"][1:], lifted["lift"])
    assert lifted["lift"][-1] == pytest.approx(1)


# -- precision-recall-gain -------------------------------------------------------------------------


@given(BOTH)
def test_gains_are_shares_on_a_harmonic_scale(rows: Rows) -> None:
    swept = sweep(tally_of(rows))
    plain, curve = precision_recall(swept), precision_recall_gain(swept)
    prevalence = swept.positives / (swept.positives + swept.negatives)

    def gained(share: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return (share - prevalence) / ((1 - prevalence) * share)

    kept = (plain["recall"] > 0) & (gained(plain["recall"]) >= -1e-12)
    assert np.allclose(curve["recall_gain"], gained(plain["recall"][kept]))
    assert np.allclose(curve["precision_gain"], gained(plain["precision"][kept]))
    assert curve["recall_gain"][-1] == pytest.approx(1)
    assert curve["precision_gain"][-1] == pytest.approx(0)


def test_points_below_the_prevalence_are_counted() -> None:
    curve = precision_recall_gain(sweep(large()))
    assert "points have a recall below the prevalence and are left out" in curve.note
    assert curve["recall_gain"].min() >= 0


# -- all of them -----------------------------------------------------------------------------------


@given(BOTH)
def test_bands_hold_their_curves(rows: Rows) -> None:
    for draw in (det, gain, lift, precision_recall_gain):
        curve = with_band(draw(sweep(tally_of(rows))))
        y = curve[curve.y.name]
        assert np.all(curve["low"] <= y + 1e-12)
        assert np.all(y <= curve["high"] + 1e-12)
        # Only where everything is flagged the values are what they are in any rows.
        assert np.all((curve["high"] > curve["low"])[:-1])


KINDS = {each.__name__: each for each in (det, gain, lift, precision_recall_gain)}


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_make_no_more_points(kind: str) -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 20_000)
    table = ScoreCounts.of_rows(("no", "yes"), random.normal(truth, 1), truth)
    assert 100 < len(KINDS[kind](sweep(table))) <= POINTS
    assert len(KINDS[kind](sweep(table, 100))) <= 100


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "prevalence"), [(300, 0.1), (1000, 0.02), (1000, 0.3)])
def test_bands_of_lift_and_precision_gain_cover_what_they_say(rows: int, prevalence: float) -> None:
    random = np.random.default_rng(9)
    tpr, fpr, runs = 0.8, 0.1, 1500
    precision = prevalence * tpr / (prevalence * tpr + (1 - prevalence) * fpr)
    truths = {
        lift: precision / prevalence,
        precision_recall_gain: (precision - prevalence) / ((1 - prevalence) * precision),
    }
    held = dict.fromkeys(truths, 0)
    for _ in range(runs):
        truth = (random.random(rows) < prevalence).astype(int)
        flagged = random.random(rows) < np.where(truth == 1, tpr, fpr)
        swept = sweep(ScoreCounts.of_rows(("no", "yes"), flagged.astype(float), truth))
        for draw, true in truths.items():
            curve = with_band(draw(swept))
            held[draw] += bool(curve["low"][0] <= true <= curve["high"][0])
    assert all(0.93 <= count / runs <= 0.975 for count in held.values())
