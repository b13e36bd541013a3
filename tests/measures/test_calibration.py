"""Reliability in bins, the calibration error and line, and what a calibrated model would show."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from assay.counts import ScoreCounts
from assay.measures import BRIER, calibration
from assay.measures.calibration import BINS, Reliability, reliability


def tally_of(truth: list[int], scores: list[float], **amounts: object) -> ScoreCounts:
    arrays = {name: np.asarray(column) for name, column in amounts.items()}
    return ScoreCounts.of_rows(("no", "yes"), np.array(scores), np.array(truth), **arrays)


def test_the_error_by_hand() -> None:
    # Bin 1 (1/15 to 2/15): two rows, mean 0.1, none positive; bin 13: two rows, mean 0.9, one.
    calibration_bins = reliability(tally_of([0, 0, 1, 0], [0.08, 0.12, 0.88, 0.92]))
    assert calibration_bins.predicted.tolist() == pytest.approx([0.1, 0.9])
    assert calibration_bins.observed.tolist() == [0.0, 0.5]
    assert calibration_bins.n.tolist() == [2, 2]
    assert calibration_bins.expected_calibration_error == pytest.approx((0.1 + 0.4) / 2)


def test_a_bin_holds_its_lower_edge_and_the_last_one_holds_one() -> None:
    edges = [k / BINS for k in range(BINS)]
    calibration_bins = reliability(tally_of([0] * (BINS + 1), [*edges, 1.0]))
    assert calibration_bins.n.tolist() == [1.0] * (BINS - 1) + [2.0]
    assert calibration_bins.predicted[:-1].tolist() == edges[:-1]


@pytest.mark.parametrize("k", range(1, BINS))
def test_just_below_an_edge_is_the_bin_below(k: int) -> None:
    edge = k / BINS
    calibration_bins = reliability(tally_of([0, 0], [math.nextafter(edge, 0), edge]))
    assert calibration_bins.n.tolist() == [1, 1]


def test_bins_without_rows_are_left_out() -> None:
    calibration_bins = reliability(tally_of([0, 1], [0.01, 0.99]))
    assert len(calibration_bins.n) == 2


def test_bins_can_be_chosen() -> None:
    calibration_bins = reliability(tally_of([0, 1, 1], [0.2, 0.4, 0.6]), bins=2)
    assert calibration_bins.n.tolist() == [2, 1]
    assert calibration_bins.predicted.tolist() == pytest.approx([0.3, 0.6])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 40)), min_size=1, max_size=60))
def test_the_error_is_the_mean_gap_of_each_bin(rows: list[tuple[int, int]]) -> None:
    truth, scores = [t for t, _ in rows], [k / 40 for _, k in rows]
    edges = [k / BINS for k in range(1, BINS)]
    bins: dict[int, list[int]] = {}
    for i, score in enumerate(scores):
        bins.setdefault(sum(edge <= score for edge in edges), []).append(i)
    gaps = [
        abs(math.fsum(scores[i] for i in chosen) - sum(truth[i] for i in chosen))
        for chosen in bins.values()
    ]
    calibration_bins = reliability(tally_of(truth, scores))
    assert calibration_bins.expected_calibration_error == pytest.approx(
        math.fsum(gaps) / len(rows), abs=1e-12
    )
    assert calibration_bins.n.sum() == len(rows)


def test_counts_are_rows() -> None:
    counted = reliability(tally_of([0, 1], [0.2, 0.25], counts=np.array([3, 2])))
    repeated = reliability(tally_of([0, 0, 0, 1, 1], [0.2, 0.2, 0.2, 0.25, 0.25]))
    for name in ("predicted", "observed", "n", "weight"):
        assert getattr(counted, name).tolist() == getattr(repeated, name).tolist()


def test_weights_count_as_effective_rows() -> None:
    calibration_bins = reliability(tally_of([0, 1], [0.2, 0.25], weights=np.array([1.0, 3.0])))
    assert calibration_bins.n.tolist() == pytest.approx([16 / 10])
    assert calibration_bins.weight.tolist() == [4.0]
    assert calibration_bins.predicted.tolist() == pytest.approx([0.2375])
    assert calibration_bins.observed.tolist() == pytest.approx([0.75])


def test_blocks_within_a_bin_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    scores, truth = random.random(500), random.integers(0, 2, 500)
    tally = tally_of(truth.tolist(), scores.tolist())
    whole = reliability(tally)
    monkeypatch.setattr(calibration, "BLOCK", 7)
    parts = reliability(tally)
    np.testing.assert_allclose(whole.predicted, parts.predicted, rtol=1e-13)
    assert whole.observed.tolist() == parts.observed.tolist()
    assert whole.n.tolist() == parts.n.tolist()


def test_swapping_classes_moves_only_what_lies_on_an_edge() -> None:
    truth, scores = [1, 0, 0, 1, 1, 0], [0.23, 0.37, 0.11, 0.72, 0.93, 0.51]
    swapped = tally_of([1 - t for t in truth], [1 - s for s in scores])
    error = reliability(tally_of(truth, scores)).expected_calibration_error
    assert reliability(swapped).expected_calibration_error == pytest.approx(error, abs=1e-12)
    # 0.2 is an edge: it is in a bin with 0.25, and 0.8 is not with 0.75.
    on_edge = reliability(tally_of([1, 0], [0.2, 0.25]))
    mirrored = reliability(tally_of([0, 1], [0.8, 0.75]))
    assert (len(on_edge.n), len(mirrored.n)) == (1, 2)


# -- what a calibrated model would show ------------------------------------------------------------


def if_calibrated(n: float, p: float) -> float:
    one = np.array([float(n)])
    return Reliability(np.array([p]), np.array([p]), one, one).if_calibrated


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 101, 1000])
@pytest.mark.parametrize("p", [0.001, 0.1, 0.25, 1 / 3, 0.5, 0.77, 0.999])
def test_de_moivres_formula_is_the_mean_deviation_of_a_binomial(n: int, p: float) -> None:
    k = np.arange(n + 1)
    expected = float((binom.pmf(k, n, p) * np.abs(k / n - p)).sum())
    assert if_calibrated(n, p) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("n", [5_000_000, 10**8])
def test_for_many_rows_it_is_the_normal_one(n: int) -> None:
    p = 0.3
    assert if_calibrated(n, p) == pytest.approx(
        math.sqrt(2 * p * (1 - p) / (math.pi * n)), rel=1e-6
    )


def test_both_forms_meet() -> None:
    p, n = 0.5, 4_000_000
    k = np.arange(n // 2 - 20_000, n // 2 + 20_001)
    expected = float((binom.pmf(k, n, p) * np.abs(k / n - p)).sum())
    assert if_calibrated(n, p) == pytest.approx(expected, rel=1e-6)
    assert if_calibrated(n + 8, p) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("n", "p"), [(10, 0.0), (10, 1.0), (0.3, 0.5)])
def test_what_is_sure_does_not_deviate(n: float, p: float) -> None:
    assert if_calibrated(n, p) == 0.0


def test_next_to_one_it_is_still_finite() -> None:
    p = math.nextafter(1.0, 0.0)
    assert if_calibrated(3, p) == pytest.approx(2 * (1 - p), rel=1e-9)


def test_bins_are_weighted_by_their_rows() -> None:
    both = Reliability(
        np.array([0.1, 0.5]), np.array([0.1, 0.5]), np.array([30.0, 10.0]), np.array([30.0, 10.0])
    )
    mixed = (30 * if_calibrated(30, 0.1) + 10 * if_calibrated(10, 0.5)) / 40
    assert both.if_calibrated == pytest.approx(mixed)


def test_a_calibrated_model_shows_about_what_is_said() -> None:
    random = np.random.default_rng(11)
    shown = []
    for _ in range(60):
        scores = (random.integers(0, BINS, 600) + 0.5) / BINS
        truth = (random.random(600) < scores).astype(int)
        calibration_bins = reliability(tally_of(truth.tolist(), scores.tolist()))
        shown.append(calibration_bins.expected_calibration_error / calibration_bins.if_calibrated)
    assert np.mean(shown) == pytest.approx(1.0, abs=0.1)


# -- Murphy's parts --------------------------------------------------------------------------------

PROBABILITIES = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 30)), min_size=2, max_size=60
).filter(lambda rows: len({t for t, _ in rows}) == 2)
Rows = list[tuple[int, int]]


def of_thirtieths(rows: Rows) -> ScoreCounts:
    return tally_of([t for t, _ in rows], [s / 30 for _, s in rows])


def parts_by_hand(rows: Rows) -> tuple[Fraction, Fraction, Fraction]:
    """Reliability, resolution and uncertainty by fractions; a bin is two thirtieths wide."""
    held: dict[int, Rows] = {}
    for t, s in rows:
        held.setdefault(min(s // 2, BINS - 1), []).append((t, s))
    n = len(rows)
    share = Fraction(sum(t for t, _ in rows), n)
    reliable = resolved = Fraction(0)
    for own in held.values():
        observed = Fraction(sum(t for t, _ in own), len(own))
        predicted = Fraction(sum(s for _, s in own), 30 * len(own))
        reliable += Fraction(len(own), n) * (predicted - observed) ** 2
        resolved += Fraction(len(own), n) * (observed - share) ** 2
    return reliable, resolved, share * (1 - share)


@given(rows=PROBABILITIES)
def test_the_parts_of_the_brier_score_are_those_counted_by_hand(rows: Rows) -> None:
    calibration_bins = reliability(of_thirtieths(rows))
    reliable, resolved, _ = parts_by_hand(rows)
    assert calibration_bins.squared_gap == pytest.approx(float(reliable), abs=1e-14)
    assert calibration_bins.resolution == pytest.approx(float(resolved), abs=1e-14)
    assert (
        calibration.resolution_influence(of_thirtieths(rows)).value == calibration_bins.resolution
    )


@settings(max_examples=15, deadline=None)
@given(rows=PROBABILITIES)
def test_where_a_bin_has_one_probability_the_parts_make_up_the_score(rows: Rows) -> None:
    even = [(t, s - s % 2) for t, s in rows]
    truth, scores = np.array([t for t, _ in even]), np.array([s / 30 for _, s in even])
    if any(s == 30 for _, s in even) and any(s == 28 for _, s in even):
        return  # the last bin holds both
    table = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    bins = reliability(table)
    uncertainty = float(parts_by_hand(even)[2])
    brier = BRIER.of_scores.value(table)
    assert bins.squared_gap - bins.resolution + uncertainty == pytest.approx(brier, abs=1e-12)


def test_a_calibrated_model_of_this_size_would_show_the_variance_of_its_bins() -> None:
    """The mean squared gap over all that a binomial count can be."""
    n, p = 12, 0.3
    calibration_bins = Reliability(np.array([p]), np.array([0.5]), np.array([n]), np.array([n]))
    hits = np.arange(n + 1)
    expected = float((binom.pmf(hits, n, p) * (hits / n - p) ** 2).sum())
    assert calibration_bins.squared_gap_if_calibrated == pytest.approx(expected, rel=1e-12)
