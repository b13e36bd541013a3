"""Measures of single points of the ROC curve, against walking all thresholds with fractions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from assay.counts import ScoreCounts
from assay.measures import (
    AVERAGE_PRECISION,
    BRIER_RESOLUTION,
    CALIBRATION_INTERCEPT,
    CALIBRATION_SLOPE,
    H_MEASURE,
    H_MEASURE_SYMMETRIC,
    KS,
    PRECISION_RECALL_GAIN,
    RECALL_AT_FPR,
    TOP_DECILE_LIFT,
    Influence,
    Points,
    last_within,
)
from assay.measures.roc_points import (
    RocReading,
    equal_error,
    farthest,
    gain_area,
    h_measure,
    recall_at,
    severe_by_class,
    symmetric_costs,
    top_lift,
)

Rows = list[tuple[int, int]]  # the label and the score of each row
Point = tuple[Fraction, Fraction]  # false positive rate and detection rate

ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)
HALF, ONE = Fraction(1, 2), Fraction(1)


def tally_of(rows: Rows, **amounts: object) -> ScoreCounts:
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    arrays = {name: np.asarray(column) for name, column in amounts.items()}
    return ScoreCounts.of_rows(("no", "yes"), scores, truth, **arrays)


def curve(rows: Rows) -> list[Point]:
    """The points of the ROC curve, from nothing flagged to everything flagged."""
    positives = sum(t for t, _ in rows)
    negatives = len(rows) - positives
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted({s for _, s in rows}, reverse=True):
        flagged = [t for t, s in rows if s >= threshold]
        hits = sum(flagged)
        points.append((Fraction(len(flagged) - hits, negatives), Fraction(hits, positives)))
    return points


def prevalence(rows: Rows) -> Fraction:
    return Fraction(sum(t for t, _ in rows), len(rows))


# -- values by walking all thresholds --------------------------------------------------------------


@given(rows=ROWS, rate=st.sampled_from([0.01, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7]))
def test_recall_at_a_rate_is_the_highest_of_the_thresholds_within_it(
    rows: Rows, rate: float
) -> None:
    best = max(recall for fpr, recall in curve(rows) if fpr <= Fraction(repr(rate)))
    assert recall_at(Points.of(tally_of(rows)), rate).value == float(best)


@pytest.mark.parametrize("negatives", [10, 30, 70, 110])
def test_a_rate_that_is_met_exactly_is_within(negatives: int) -> None:
    rows = [(0, s) for s in range(negatives)] + [(1, negatives - negatives // 10), (1, 0)]
    assert last_within(Points.of(tally_of(rows)), 0.1) == negatives - negatives // 10
    assert recall_at(Points.of(tally_of(rows)), 0.1).value == 0.5


def test_recall_is_nothing_where_the_highest_score_is_a_crowd_of_negatives() -> None:
    rows = [(0, 5), (0, 5), (1, 5), (0, 1), (1, 0)]
    assert recall_at(Points.of(tally_of(rows)), 0.5).value == 0


@given(rows=ROWS)
def test_equal_errors_lie_on_the_line_between_two_thresholds(rows: Rows) -> None:
    for (fpr, recall), (next_fpr, next_recall) in itertools.pairwise(curve(rows)):
        before, after = fpr + recall - 1, next_fpr + next_recall - 1
        if before < 0 <= after:
            part = -before / (after - before)
            expected = fpr + part * (next_fpr - fpr)
    assert equal_error(Points.of(tally_of(rows))).value == pytest.approx(float(expected), abs=1e-14)


@given(rows=ROWS)
def test_the_farthest_point_is_the_best_of_all_thresholds(rows: Rows) -> None:
    expected = max(recall - fpr for fpr, recall in curve(rows))
    assert farthest(Points.of(tally_of(rows))).value == pytest.approx(float(expected), abs=1e-15)


@given(rows=ROWS)
def test_the_lift_of_the_top_decile_shares_out_the_score_on_its_border(rows: Rows) -> None:
    wanted, hits = Fraction(len(rows), 10), Fraction(0)
    for threshold in sorted({s for _, s in rows}, reverse=True):
        group = [t for t, s in rows if s == threshold]
        part = min(wanted / len(group), ONE)
        hits, wanted = hits + part * sum(group), wanted - part * len(group)
    expected = hits / sum(t for t, _ in rows) * 10
    assert top_lift(Points.of(tally_of(rows))).value == pytest.approx(float(expected), abs=1e-13)


@given(rows=ROWS)
@example(rows=[(0, 0), (0, 1), (1, 0), (1, 2)])
def test_the_gain_area_is_made_of_trapezoids_from_a_recall_gain_of_nothing(rows: Rows) -> None:
    share, points = prevalence(rows), curve(rows)
    kept = []
    for (fpr, recall), (next_fpr, next_recall) in itertools.pairwise(points):
        if recall < share <= next_recall:
            part = (share - recall) / (next_recall - recall)
            kept.append((fpr + part * (next_fpr - fpr), share))
        elif recall == share == next_recall:
            # Negatives alone: of the points that meet the share, the last is where it starts.
            kept = [(next_fpr, share)]
        if next_recall > share:
            kept.append((next_fpr, next_recall))

    def gain(rate: Fraction) -> Fraction:
        return (rate - share) / ((1 - share) * rate)

    gains = []
    for fpr, recall in kept:
        precision = share * recall / (share * recall + (1 - share) * fpr)
        gains.append((gain(recall), gain(precision)))
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in itertools.pairwise(gains))
    assert gain_area(Points.of(tally_of(rows))).value == pytest.approx(float(area), abs=1e-11)


def test_the_gain_area_starts_at_a_point_that_meets_the_share_beside_negatives_alone() -> None:
    """At both of the scores 2 and 1 half of the positives are flagged, and half are positive."""
    rows = [(1, 2), (1, 2), (0, 1), (1, 0), (1, 0), (0, 0), (0, 0), (0, 0)]
    # From a precision gain of 1 - 0.25 / 0.5 at a recall gain of 0 down to 0 at 1.
    assert gain_area(Points.of(tally_of(rows))).value == pytest.approx(0.25, rel=1e-12)


# -- the H measure by enumeration ------------------------------------------------------------------


def h_by_enumeration(points: list[Point], share: Fraction, exponent: int) -> Fraction:
    """H for costs of density c (1 - c)^exponent, of the best of all thresholds at each cost."""
    return 1 - _mean_of_least(_losses(points, share), exponent) / _mean_of_least(
        _losses([points[0], points[-1]], share), exponent
    )


Line = tuple[Fraction, Fraction]  # its height at 0, and its slope


def _losses(points: list[Point], share: Fraction) -> list[Line]:
    """c (1 - p) FPR + (1 - c) p FNR as a line in c, for each threshold."""
    return [
        (share * (1 - recall), (1 - share) * fpr - share * (1 - recall)) for fpr, recall in points
    ]


def _mean_of_least(lines: list[Line], exponent: int) -> Fraction:
    crossings = {Fraction(0), ONE}
    for (a, b), (c, d) in itertools.combinations(set(lines), 2):
        if b != d and 0 < (c - a) / (b - d) < 1:
            crossings.add((c - a) / (b - d))
    total = Fraction(0)
    for low, high in itertools.pairwise(sorted(crossings)):
        height, slope = min(lines, key=lambda line: line[0] + line[1] * (low + high) / 2)
        total += height * _moment(1, exponent, low, high) + slope * _moment(2, exponent, low, high)
    return total


def _moment(power: int, exponent: int, low: Fraction, high: Fraction) -> Fraction:
    """The integral of c^power (1 - c)^exponent."""
    total = Fraction(0)
    for k in range(exponent + 1):
        n = power + k + 1
        total += math.comb(exponent, k) * (-1) ** k * (high**n - low**n) / n
    return total


FEW = settings(max_examples=40, deadline=None)


@FEW
@given(rows=ROWS)
def test_the_symmetric_h_measure_is_the_best_threshold_at_every_cost(rows: Rows) -> None:
    expected = h_by_enumeration(curve(rows), prevalence(rows), 1)
    value = h_measure(Points.of(tally_of(rows)), symmetric_costs).value
    assert value == pytest.approx(float(expected), abs=1e-12)


@FEW
@given(rows=ROWS, odds=st.integers(1, 4))
def test_the_h_measure_is_the_best_threshold_at_every_cost(rows: Rows, odds: int) -> None:
    """With a whole number of negatives a positive the density of costs is a polynomial."""
    positives = sum(t for t, _ in rows)
    often = [len(rows) - positives if t else odds * positives for t, _ in rows]
    share = Fraction(1, 1 + odds)
    expected = h_by_enumeration(curve(rows), share, odds)
    value = h_measure(Points.of(tally_of(rows, counts=often)), severe_by_class).value
    assert value == pytest.approx(float(expected), abs=1e-12)


def test_the_h_measure_of_an_example_that_the_python_package_hmeasure_prints() -> None:
    """On its page of version 0.1.6, for ten rows; a ratio of 0.5 makes costs Beta(2, 3)."""
    truth = [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
    scores = [0.84901876, 0.10282827, 0.43752488, 0.46004468, 0.90878931]
    scores += [0.79177719, 0.5297229, 0.13803906, 0.73166264, 0.22959056]
    tally = ScoreCounts.of_rows(("no", "yes"), np.array(scores), np.array(truth))
    value = h_measure(Points.of(tally), severe_by_class).value
    assert value == pytest.approx(0.18889596344769588, rel=1e-12)
    value = h_measure(Points.of(tally), lambda _: (2.0, 3.0)).value
    assert value == pytest.approx(0.10750123502531805, rel=1e-12)


@pytest.mark.parametrize("prior", [severe_by_class, symmetric_costs])
def test_h_of_a_perfect_ranking_is_one_and_of_an_inverted_one_nothing(prior: Callable) -> None:
    rows = [(1, 3), (1, 2), (0, 1), (0, 0), (0, 0)]
    assert h_measure(Points.of(tally_of(rows)), prior).value == pytest.approx(1, abs=1e-15)
    inverted = [(1 - t, s) for t, s in rows]
    assert h_measure(Points.of(tally_of(inverted)), prior).value == pytest.approx(0, abs=1e-15)


# -- counts, weights and scales --------------------------------------------------------------------

READ = {
    "recall at 0.2": partial(recall_at, max_fpr=0.2),
    "equal errors": equal_error,
    "farthest": farthest,
    "gain area": gain_area,
    "top lift": top_lift,
    "h": partial(h_measure, prior=severe_by_class),
    "symmetric h": partial(h_measure, prior=symmetric_costs),
}


def influence_of(read: Callable[[Points], RocReading]) -> Callable[[ScoreCounts], Influence]:
    return lambda tally: read(Points.of(tally)).influence()


EVERY = {name: influence_of(read) for name, read in READ.items()}
every = pytest.mark.parametrize("measure", EVERY.values(), ids=EVERY)


@every
@settings(max_examples=25)
@given(rows=ROWS, data=st.data())
def test_counts_are_rows_that_are_repeated(measure: Callable, rows: Rows, data) -> None:
    often = data.draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, n in zip(rows, often, strict=True) for _ in range(n)]
    counted, long = measure(tally_of(rows, counts=often)), measure(tally_of(repeated))
    assert counted.value == pytest.approx(long.value, abs=1e-12)
    np.testing.assert_allclose(counted.positive, long.positive, atol=1e-10)
    np.testing.assert_allclose(counted.negative, long.negative, atol=1e-10)


@every
@settings(max_examples=25)
@given(rows=ROWS)
def test_the_unit_of_weights_does_not_matter(measure: Callable, rows: Rows) -> None:
    """Twice the weights are twice the counts, but as many rows."""
    plain = tally_of(rows)
    assume(plain.size > 1)
    doubled = tally_of(rows, weights=[2.0] * len(rows))
    reading, twice = measure(plain), measure(doubled)
    assert twice.value == pytest.approx(reading.value, abs=1e-12)
    assert twice.variance(doubled) == pytest.approx(reading.variance(plain), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("read", READ.values(), ids=READ)
@settings(max_examples=40)
@given(rows=ROWS)
def test_the_variance_between_points_is_that_of_every_row(read: Callable, rows: Rows) -> None:
    tally = tally_of(rows)
    reading = read(Points.of(tally))
    expected = reading.influence().variance(tally)
    assert reading.variance() == pytest.approx(expected, rel=1e-9, abs=1e-15)


@every
@settings(max_examples=25)
@given(rows=ROWS)
def test_influences_of_all_rows_cancel(measure: Callable, rows: Rows) -> None:
    tally = tally_of(rows)
    reading = measure(tally)
    total = (tally.counts[1] * reading.positive + tally.counts[0] * reading.negative).sum()
    assert total == pytest.approx(0, abs=1e-9)


# -- influence functions against small masses ------------------------------------------------------


def weighted_tally(seed: int, rows: int = 60, apart: float = 1.0) -> ScoreCounts:
    """Rows whose random weights make no two slopes alike; scores are probabilities."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(rows) < 0.4).astype(int)
    truth[:2] = [0, 1]
    scores = np.round(1 / (1 + np.exp(-rng.normal(size=rows) - apart * (truth - 0.4))), 2)
    weights = rng.gamma(3.0, size=rows)
    return ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=weights)


def moved(tally: ScoreCounts, side: int, at: int, mass: float) -> ScoreCounts:
    counts = tally.counts.astype(float)
    counts[side, at] += mass
    squares = counts if tally.squares is None else tally.squares
    return ScoreCounts(tally.labels, tally.scores, counts, squares)


def numeric(
    measure: Callable[[ScoreCounts], Influence], tally: ScoreCounts, side: int, at: int, mass: float
) -> float:
    ends = [measure(moved(tally, side, at, sign * mass)).value for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * mass)


SMOOTH = {
    measure.name: measure.of_scores.influence
    for measure in (
        KS,
        H_MEASURE,
        H_MEASURE_SYMMETRIC,
        PRECISION_RECALL_GAIN,
        BRIER_RESOLUTION,
        CALIBRATION_SLOPE,
        CALIBRATION_INTERCEPT,
        AVERAGE_PRECISION,
    )
}
SMOOTH["average precision at 20%"] = AVERAGE_PRECISION.of_scores.at_base_rate(0.2).influence
SMOOTH["average precision at 1%"] = AVERAGE_PRECISION.of_scores.at_base_rate(0.01).influence
SMOOTH["gain area at 20%"] = PRECISION_RECALL_GAIN.of_scores.at_base_rate(0.2).influence


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("measure", SMOOTH.values(), ids=SMOOTH)
def test_an_influence_is_what_a_small_mass_at_one_score_does(
    measure: Callable[[ScoreCounts], Influence], seed: int
) -> None:
    tally = weighted_tally(seed)
    reading = measure(tally)
    for side, moves in ((1, reading.positive), (0, reading.negative)):
        # A negative mass needs something to be taken from.
        for at in np.flatnonzero(tally.counts[side]):
            slope = numeric(measure, tally, side, int(at), 1e-4)
            assert moves[at] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def straight(slope: int) -> ScoreCounts:
    """A curve that is straight in its middle: groups of one negative to ``slope`` positives."""
    negatives = [3] + [10] * 40 + [50]
    positives = [7] + [10 * slope] * 40 + [90]
    counts = np.array([negatives, positives], float)
    return ScoreCounts(("no", "yes"), np.arange(42.0), counts, counts)


STRAIGHT = {name: EVERY[name] for name in ("equal errors", "top lift")}


@pytest.mark.parametrize("slope", [1, 2, 3])
@pytest.mark.parametrize("measure", STRAIGHT.values(), ids=STRAIGHT)
def test_where_the_curve_is_straight_its_smoothed_slope_is_its_slope(
    measure: Callable[[ScoreCounts], Influence], slope: int
) -> None:
    tally = straight(slope)
    if measure is STRAIGHT["top lift"]:
        # The highest tenth ends within the straight part.
        tally = ScoreCounts(tally.labels, tally.scores, *[tally.counts * 1.0] * 2)
        tally.counts[:, -1] = [1.0, 2.0]
    reading = measure(tally)
    for side, moves in ((1, reading.positive), (0, reading.negative)):
        for at in range(tally.size):
            slope_there = numeric(measure, tally, side, at, 1e-4)
            assert moves[at] == pytest.approx(slope_there, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_positives_part_of_recall_at_a_rate_is_that_of_a_share(seed: int) -> None:
    tally = weighted_tally(seed, 400)
    measure = influence_of(partial(recall_at, max_fpr=0.1))
    reading, points = measure(tally), Points.of(tally)
    at = last_within(points, 0.1)
    for i in np.flatnonzero(tally.counts[1]):
        assert reading.positive[i] == pytest.approx(
            ((i >= at) - reading.value) / points.positives, abs=1e-15
        )
        slope = numeric(measure, tally, 1, int(i), 1e-4)
        assert reading.positive[i] == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_negatives_part_of_recall_at_a_rate_has_the_slope_of_its_window(seed: int) -> None:
    """Within two standard errors of the rate, by the rows that the weights are worth."""
    tally = weighted_tally(seed, 400)
    influence, rate = recall_at(Points.of(tally), 0.1).influence(), 0.1
    weights, squares = tally.counts[0], tally.squares[0]
    worth = weights.sum() ** 2 / squares.sum()
    reach = 1.96 * math.sqrt(rate * (1 - rate) / worth)
    fpr, recall = (np.append(np.cumsum(side[::-1])[::-1] / side.sum(), 0) for side in tally.counts)
    inside = np.flatnonzero((fpr <= rate + reach) & (fpr > rate - reach))
    low, high = inside[0], inside[-1] + 1
    slope = (recall[low] - recall[high]) / (fpr[low] - fpr[high])
    at = last_within(Points.of(tally), rate)
    expected = -slope * ((np.arange(tally.size) >= at) - fpr[at]) / weights.sum()
    np.testing.assert_allclose(influence.negative, expected, rtol=1e-9, atol=1e-15)


# -- against the jackknife -------------------------------------------------------------------------


def sample(seed: int, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = (rng.random(rows) < 0.35).astype(np.uint8)
    return truth, 1 / (1 + np.exp(-rng.normal(size=rows) - 1.5 * (truth - 0.5)))


# At a low base rate single negatives decide, and leaving one out is no small change.
ROUGH = (KS.name, "average precision at 1%")
JACKKNIFED = {name: measure for name, measure in SMOOTH.items() if name not in ROUGH}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("measure", JACKKNIFED.values(), ids=JACKKNIFED)
def test_the_variance_is_near_that_of_leaving_out_one_row_after_the_other(
    measure: Callable[[ScoreCounts], Influence],
) -> None:
    """The jackknife does not settle for measures of one order statistic, which are left out."""
    truth, scores = sample(5)
    tally = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    reading = measure(tally)
    rows = len(truth)
    without = []
    for i in range(rows):
        kept = np.arange(rows) != i
        part = ScoreCounts.of_rows(("no", "yes"), scores[kept], truth[kept])
        without.append(measure(part).value)
    jackknife = (rows - 1) / rows * float(((np.array(without) - np.mean(without)) ** 2).sum())
    assert reading.variance(tally) == pytest.approx(jackknife, rel=0.1)


# -- limits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", RECALL_AT_FPR, ids=lambda m: m.name)
def test_a_rate_asks_for_as_many_negatives_as_one_of_them_is_its_share(measure) -> None:
    needed = measure.of_scores.negatives
    enough, few = (
        tally_of([(1, 2), (0, 1), (1, 0)], counts=[1, n, 1]) for n in (needed, needed - 1)
    )
    assert measure.of_scores.value(enough) == 0.5
    assert math.isnan(measure.of_scores.value(few))


def test_the_top_decile_lift_of_a_perfect_ranking_is_the_highest_that_there_is() -> None:
    rare = [(1, 10)] * 5 + [(0, 0)] * 95
    assert TOP_DECILE_LIFT.of_scores.value(tally_of(rare)) == pytest.approx(10)
    frequent = [(1, 10)] * 50 + [(0, 0)] * 50
    assert TOP_DECILE_LIFT.of_scores.value(tally_of(frequent)) == pytest.approx(2)
