"""Decision and cost curves, against what each decision is worth row by row."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.counts import ScoreCounts
from assay.errors import MethodError
from assay.inference import with_band
from assay.measures.curves import OPTIMISTIC, PROBABILITIES, cost, decision, sweep

CASES = json.loads((Path(__file__).parent.parent / "oracles" / "r" / "curves.json").read_text())[
    "cases"
]
Rows = list[tuple[int, int]]
BOTH = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def arrays(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return np.array([t for t, _ in rows]), np.array([s for _, s in rows]) / 10


def tally_of(rows: Rows) -> ScoreCounts:
    truth, scores = arrays(rows)
    return ScoreCounts.of_rows(("no", "yes"), scores, truth)


def made(size: int = 400, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = (random.random(size) < 0.3).astype(int)
    return truth, 1 / (1 + np.exp(-random.normal(2 * truth - 1, 1)))


# -- decision curves -------------------------------------------------------------------------------


@given(BOTH)
def test_net_benefit_is_the_mean_worth_of_rows(rows: Rows) -> None:
    truth, scores = arrays(rows)
    curve = decision(tally_of(rows))
    for t, benefit in zip(curve["threshold"][::7], curve["net_benefit"][::7], strict=True):
        worth = np.where(scores >= t, np.where(truth == 1, 1.0, -t / (1 - t)), 0.0)
        assert benefit == pytest.approx(worth.mean(), rel=1e-12, abs=1e-12)


@given(BOTH, st.sampled_from([0.0, 0.001, 0.2, 1.0]))
def test_at_a_base_rate_rows_count_as_often_as_they_will_come(rows: Rows, rate: float) -> None:
    truth, scores = arrays(rows)
    curve = decision(tally_of(rows), base_rate=rate, thresholds=[0.05, 0.4, 0.8])
    weights = np.where(truth == 1, rate / (truth == 1).sum(), (1 - rate) / (truth == 0).sum())
    for t, benefit in zip(curve["threshold"], curve["net_benefit"], strict=True):
        worth = np.where(scores >= t, np.where(truth == 1, 1.0, -t / (1 - t)), 0.0)
        assert benefit == pytest.approx(float((weights * worth).sum()), rel=1e-9, abs=1e-12)


@given(BOTH)
def test_the_rows_own_base_rate_changes_nothing(rows: Rows) -> None:
    truth, _ = arrays(rows)
    own = decision(tally_of(rows))
    said = decision(tally_of(rows), base_rate=float(truth.mean()))
    assert np.allclose(own["net_benefit"], said["net_benefit"])
    assert np.allclose(own["everything"], said["everything"])


@given(BOTH)
def test_flagging_everything_is_what_a_threshold_of_zero_does(rows: Rows) -> None:
    truth, _ = arrays(rows)
    curve = decision(tally_of(rows))
    assert curve["threshold"][0] == 0
    assert curve["net_benefit"][0] == pytest.approx(truth.mean())
    assert curve["everything"][0] == pytest.approx(truth.mean())
    t = curve["threshold"]
    expected = truth.mean() - (1 - truth.mean()) * t / (1 - t)
    assert np.allclose(curve["everything"], expected)


def test_the_band_is_near_the_one_of_the_mean_of_worths() -> None:
    truth, scores = made(4000)
    curve = with_band(decision(ScoreCounts.of_rows(("no", "yes"), scores, truth)), 0.95)
    for i in range(60, 200, 9):
        t = curve["threshold"][i]
        worth = np.where(scores >= t, np.where(truth == 1, 1.0, -t / (1 - t)), 0.0)
        error = 1.959964 * worth.std() / math.sqrt(len(worth))
        assert curve["low"][i] == pytest.approx(curve["net_benefit"][i] - error, abs=0.15 * error)
        assert curve["high"][i] == pytest.approx(curve["net_benefit"][i] + error, abs=0.15 * error)


@given(BOTH, st.sampled_from([None, 0.01]))
def test_the_band_holds_the_curve_and_has_width_everywhere(rows: Rows, rate: float | None) -> None:
    curve = with_band(decision(tally_of(rows), base_rate=rate))
    assert np.all(curve["low"] <= curve["net_benefit"] + 1e-15)
    assert np.all(curve["net_benefit"] <= curve["high"] + 1e-15)
    assert np.all(curve["high"] > curve["low"])


def test_scores_that_are_no_probabilities_are_refused() -> None:
    with pytest.raises(MethodError, match="needs probabilities; found scores from -3 to 8"):
        decision(ScoreCounts.of_rows(("no", "yes"), np.array([-3.0, 8.0]), np.array([0, 1])))


@pytest.mark.parametrize("thresholds", [[], [1.0], [-0.1, 0.5], [math.nan]])
def test_odd_thresholds_are_refused(thresholds: list[float]) -> None:
    with pytest.raises(MethodError, match="from 0 to below 1"):
        decision(tally_of([(0, 1), (1, 2)]), thresholds=thresholds)


def test_an_odd_base_rate_is_refused() -> None:
    with pytest.raises(MethodError, match="base rate lies between 0 and 1"):
        decision(tally_of([(0, 1), (1, 2)]), base_rate=7)


def test_one_class_has_a_decision_curve_only_at_its_own_prevalence() -> None:
    tally = tally_of([(1, 2), (1, 5)])
    assert len(decision(tally)) == len(PROBABILITIES)
    assert len(decision(tally, base_rate=0.1)) == 0


# -- cost curves -----------------------------------------------------------------------------------


@given(BOTH)
def test_the_cost_is_the_least_of_all_thresholds(rows: Rows) -> None:
    full = sweep(tally_of(rows), points=None)
    fnr, fpr = 1 - full.tp / full.positives, full.fp / full.negatives
    curve = cost(tally_of(rows))
    pc = curve["probability_cost"]
    lines = fnr[:, None] * pc + fpr[:, None] * (1 - pc)
    assert np.allclose(curve["normalised_cost"], lines.min(axis=0), atol=1e-12)
    at = {t: i for i, t in enumerate(full.threshold.tolist())}
    chosen = [at[t] for t in curve["threshold"].tolist()]
    assert np.allclose(lines[chosen, np.arange(len(pc))], lines.min(axis=0), atol=1e-12)


@given(BOTH)
def test_no_detector_is_needed_at_either_end(rows: Rows) -> None:
    curve = cost(tally_of(rows))
    trivial = np.minimum(curve["everything"], curve["nothing"])
    assert np.all(curve["normalised_cost"] <= trivial + 1e-12)
    assert (curve["normalised_cost"][0], curve["normalised_cost"][-1]) == (0, 0)
    assert curve["threshold"][0] == math.inf


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_cost_curve_is_that_of_rocr(case) -> None:
    tally = ScoreCounts.of_rows(("no", "yes"), np.array(case["score"]), np.array(case["truth"]))
    curve = cost(tally)
    theirs = np.interp(curve["probability_cost"], case["cost"]["x"], case["cost"]["y"])
    assert np.allclose(curve["normalised_cost"], theirs, atol=1e-12)


def test_the_line_in_use_is_that_of_the_decisions() -> None:
    truth, scores = made()
    flagged = scores >= 0.3
    fpr, recall = flagged[truth == 0].mean(), flagged[truth == 1].mean()
    table = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    curve = cost(table, in_use=(fpr, recall))
    pc = curve["probability_cost"]
    assert np.allclose(curve["in_use"], (1 - recall) * pc + fpr * (1 - pc))
    assert np.all(curve["in_use"] >= curve["normalised_cost"] - 1e-12)
    assert "in_use" not in cost(table).columns


@given(BOTH)
def test_the_cost_band_holds_the_curve(rows: Rows) -> None:
    curve = with_band(cost(tally_of(rows)))
    assert curve.note == OPTIMISTIC
    assert np.all(curve["low"] <= curve["normalised_cost"] + 1e-15)
    assert np.all(curve["normalised_cost"] <= curve["high"] + 1e-15)
    assert np.all((curve["low"] >= -1e-15) & (curve["high"] <= 1 + 1e-15))


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_cost_curve(label: int) -> None:
    curve = cost(tally_of([(label, 1), (label, 3)]))
    assert len(curve) == len(curve["normalised_cost"]) == 0


# -- coverage --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "prevalence"), [(100, 0.1), (300, 0.02), (1000, 0.3)])
def test_bands_cover_what_they_say_at_a_threshold_that_was_fixed(
    rows: int, prevalence: float
) -> None:
    random = np.random.default_rng(8)
    tpr, fpr, t, rate, runs = 0.8, 0.1, 0.25, 0.01, 1500
    odds = t / (1 - t)
    truths = {
        None: prevalence * tpr - (1 - prevalence) * fpr * odds,
        rate: rate * tpr - (1 - rate) * fpr * odds,
    }
    held = dict.fromkeys(truths, 0)
    for _ in range(runs):
        truth = (random.random(rows) < prevalence).astype(int)
        truth[:2] = (0, 1) if 0 < truth.sum() < rows else (1, 0)
        flagged = random.random(rows) < np.where(truth == 1, tpr, fpr)
        tally = ScoreCounts.of_rows(("no", "yes"), np.where(flagged, 0.5, 0.1), truth)
        for base_rate, true in truths.items():
            curve = with_band(decision(tally, base_rate=base_rate, thresholds=[t]))
            held[base_rate] += bool(curve["low"][0] <= true <= curve["high"][0])
    assert all(0.93 <= count / runs <= 0.975 for count in held.values())
