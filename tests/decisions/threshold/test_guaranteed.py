"""Guaranteed thresholds: where they lie, and that they hold what they promise."""

from __future__ import annotations

import importlib.util
import math
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom

from assay.decisions.threshold.constraints import requirements
from assay.decisions.threshold.objectives import guaranteed_rule
from assay.decisions.threshold.promises import (
    AlertsPromised,
    DrPromised,
    FarPromised,
    FprPromised,
    margin,
)
from assay.inference.threshold_rules import SweepCounts

TENTH = Fraction(1, 10)
ROOT = Path(__file__).parents[3]


def benchmark() -> ModuleType:
    """The module behind `make guarantees`."""
    name = "guarantees_benchmark"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / "guarantees.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def counts_of(negatives: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, SweepCounts]:
    thresholds = np.unique(np.concatenate([negatives, positives]))[::-1]
    tp = np.array([(positives >= t).sum() for t in thresholds])
    fp = np.array([(negatives >= t).sum() for t in thresholds])
    return thresholds, SweepCounts(tp, fp, len(positives), len(negatives))


def largest_k(rows: int, limit: float, risk: float) -> int | None:
    """The largest k with P(Bin(rows, limit) <= k) <= risk, by another library."""
    below = np.flatnonzero(binom.cdf(np.arange(rows + 1), rows, limit) <= risk)
    return int(below[-1]) if len(below) else None


SCORES = st.lists(st.integers(0, 12), min_size=1, max_size=80).map(np.array)


@given(negatives=SCORES, positives=SCORES, limit=st.sampled_from([0.11, 0.23, 0.51]))
def test_fpr_is_the_smallest_score_strictly_above_an_order_statistic(
    negatives: np.ndarray, positives: np.ndarray, limit: float
) -> None:
    thresholds, counts = counts_of(negatives, positives)
    rule = guaranteed_rule(requirements(max_fpr=limit))
    place = rule.position(counts)
    k = largest_k(len(negatives), limit, 0.1)
    above = []
    if k is not None:
        order_statistic = np.sort(negatives)[::-1][k]
        above = [t for t in thresholds.tolist() if t > order_statistic]
    assert (None if place < 0 else thresholds[place]) == (min(above) if above else None)


@given(negatives=SCORES, positives=SCORES, limit=st.sampled_from([0.49, 0.81, 0.9]))
def test_dr_is_at_most_an_order_statistic_of_the_positives(
    negatives: np.ndarray, positives: np.ndarray, limit: float
) -> None:
    thresholds, counts = counts_of(negatives, positives)
    kept = DrPromised(Fraction(str(limit)), TENTH).kept(counts)
    k = largest_k(len(positives), 1 - limit, 0.1)
    if k is None:
        assert kept.empty
    else:
        assert thresholds[kept.first] == np.sort(positives)[k]
        assert kept.last == len(thresholds) - 1


def test_detection_is_that_of_the_exact_optimum() -> None:
    # FPR <= 1e-4 with 200,000 negatives, 90% sure: the 14th largest negative is the border.
    rng = np.random.default_rng(3)
    gaps = []
    for _ in range(5):
        negatives, positives = rng.normal(size=200_000), rng.normal(3.9, size=5_000)
        k = int(binom.ppf(0.1, 200_000, 1e-4)) - 1
        assert binom.cdf(k, 200_000, 1e-4) <= 0.1 < binom.cdf(k + 1, 200_000, 1e-4)
        border = np.partition(negatives, -k - 1)[-k - 1]
        optimum = np.mean(positives > border)
        scores = np.concatenate([negatives, positives])
        order = np.argsort(-scores)
        flagged = order >= len(negatives)
        tp, fp = np.cumsum(flagged), np.cumsum(~flagged)
        place = guaranteed_rule(requirements(max_fpr=1e-4)).position(
            SweepCounts(tp, fp, 5_000, 200_000)
        )
        gaps.append(float(tp[place] / 5_000 - optimum))
    assert max(map(abs, gaps)) <= 1e-12


def test_any_threshold_between_two_promises_keeps_both() -> None:
    rng = np.random.default_rng(5)
    thresholds, counts = counts_of(rng.normal(size=400), rng.normal(3, size=300))
    rule = guaranteed_rule(requirements(max_fpr=0.1, min_dr=0.8))
    kept = rule.kept(counts)
    fpr = FprPromised(TENTH, Fraction(1, 20)).kept(counts)
    dr = DrPromised(Fraction(4, 5), Fraction(1, 20)).kept(counts)
    assert (kept.first, kept.last) == (dr.first, fpr.last)
    assert thresholds[kept.first] > thresholds[kept.last]


def test_more_confidence_and_more_constraints_never_lower_the_threshold() -> None:
    rng = np.random.default_rng(6)
    _, counts = counts_of(rng.normal(size=2000), rng.normal(2, size=300))

    def last(**asked: float) -> int:
        return guaranteed_rule(requirements(**asked)).kept(counts).last

    thresholds = [last(max_fpr=0.05, confidence=c) for c in (0.5, 0.8, 0.9, 0.99, 0.9999)]
    assert thresholds == sorted(thresholds, reverse=True)
    assert len(set(thresholds)) == 5
    assert last(max_fpr=0.05, min_dr=0.1) < last(max_fpr=0.05)


def far_of(counts: SweepCounts, place: int, base_rate: float) -> float:
    false = (1 - base_rate) * counts.fp[place] / counts.negatives
    return float(false / (false + base_rate * counts.tp[place] / counts.positives))


def test_a_promised_far_holds_on_the_rows_themselves_with_room() -> None:
    rng = np.random.default_rng(7)
    _, counts = counts_of(rng.normal(size=4000), rng.normal(2.5, size=800))
    limit = FarPromised(Fraction(1, 5), Fraction(3, 10), TENTH)
    kept = limit.kept(counts)
    assert not kept.empty
    assert all(far_of(counts, int(place), 0.3) < 0.2 for place in kept.positions)
    # Every threshold is the score of a positive.
    moved = np.diff(counts.tp, prepend=0) > 0
    assert moved[kept.positions].all()


def test_far_tests_stop_at_the_first_failure_of_their_part() -> None:
    # Positives on top, a block of negatives, then positives again: the rest is not reached.
    negatives = np.concatenate([np.full(400, 5.0), np.linspace(-2, -1, 100)])
    positives = np.concatenate([np.linspace(8, 9, 300), np.linspace(0, 1, 3000)])
    thresholds, counts = counts_of(negatives, positives)
    kept = FarPromised(Fraction(1, 2), Fraction(1, 2), TENTH).kept(counts)
    assert thresholds[kept.positions].min() >= 8


def test_wrong_labels_among_the_highest_scores_do_not_end_it_all() -> None:
    rng = np.random.default_rng(8)
    negatives = np.concatenate([rng.normal(size=20_000), [99.0, 98.0]])
    _, counts = counts_of(negatives, rng.normal(4, size=1000))
    kept = FarPromised(TENTH, Fraction(1, 10), TENTH).kept(counts)
    assert counts.tp[kept.positions[-1]] / 1000 > 0.7


def test_the_band_of_the_detection_rate_is_that_of_massart() -> None:
    assert math.isclose(2 * 500 * margin(500, TENTH) ** 2, -math.log(0.01))


def test_a_budget_counts_attacks_as_far_as_they_may_be_detected() -> None:
    # Attacks are 20% of the rows and a tenth may be flagged, so that at most half may be detected.
    positives, negatives = np.linspace(1, 2, 5000), np.linspace(-2, -1, 5000)
    _, counts = counts_of(negatives, positives)
    kept = AlertsPromised(TENTH, Fraction(1, 5), TENTH).kept(counts)
    detected = counts.tp[kept.last] / 5000
    assert 0.4 < detected < 0.5
    assert AlertsPromised(Fraction(11, 10), TENTH, TENTH).kept(counts).last == 9999


def test_a_budget_at_the_mix_of_the_rows_counts_all_of_them() -> None:
    rng = np.random.default_rng(9)
    _, counts = counts_of(rng.normal(size=900), rng.normal(2, size=100))
    kept = AlertsPromised(TENTH, None, TENTH).kept(counts)
    assert counts.tp[kept.last] + counts.fp[kept.last] == largest_k(1000, 0.1, 0.1)


# -- simulations: a small version of `make guarantees` --------------------------------------------

SMALL = 400
SIMULATED = [
    (0, "FPR <= 1%"),
    (2, "FPR <= 1%"),
    (4, "FPR <= 1%"),
    (0, "DR >= 70%, 40 attacks"),
    (2, "DR >= 70%, 40 attacks"),
    (0, "FAR <= 10%, as tested"),
    (2, "FAR <= 10%, as tested"),
    (1, "FAR <= 20% at 10%"),
    (2, "50 alerts of 1,000 at 2%"),
    (0, "100 alerts of 1,000, as tested"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("world", "setting"), SIMULATED)
def test_guaranteed_thresholds_break_no_more_often_than_promised(world: int, setting: str) -> None:
    guarantees = benchmark()
    asked = next(each for each in guarantees.SETTINGS if each.name == setting)
    simulation = guarantees.simulate(guarantees.WORLDS[world], asked, SMALL)
    assert simulation.answered > SMALL / 2
    assert simulation.kept, simulation


@pytest.mark.slow
def test_the_empirical_optimum_breaks_its_constraint_about_half_of_the_time() -> None:
    guarantees = benchmark()
    simulation = guarantees.simulate(guarantees.WORLDS[0], guarantees.SETTINGS[0], SMALL)
    assert 0.4 < simulation.empirical_violated / simulation.empirical_answered < 0.65
    # Nor is the promise kept by being far too careful.
    assert simulation.share > 0.04


def test_the_simulation_knows_the_true_rates() -> None:
    rng = np.random.default_rng(10)
    for world in benchmark().WORLDS:
        for shift in (0.0, 1.8):
            scores = world.draw(rng, shift, 200_000)
            threshold = float(np.quantile(scores, 0.9))
            true = world.above(threshold, shift)
            seen = float(np.mean(scores >= threshold))
            assert abs(seen - true) < 4 * math.sqrt(true * (1 - true) / 200_000)
    assert math.isclose(benchmark().WORLDS[0].above(1.0, 0.0), float(ndtr(-1.0)))
