"""Bins and the line through the log odds, against ratios and many digits worked out apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from assay.counts import ScoreCounts
from assay.counts.grid import Grid
from assay.measures import calibration
from assay.measures.calibration import (
    BinRanges,
    Reliability,
    calibration_intercept_in_blocks,
    calibration_intercept_influence,
    calibration_slope_in_blocks,
    calibration_slope_influence,
    certain,
    log_odds,
    reliability,
    resolution_in_blocks,
    resolution_influence,
)
from assay.measures.roc_points import Influence

LABELS = ("no", "yes")
EDGE = 2.0**-52


def tally_of(scores: Sequence[float], counts: Sequence[Sequence[int]]) -> ScoreCounts:
    """Negatives and positives at each score."""
    return ScoreCounts(LABELS, np.array(scores, float), np.array(counts, np.uint16))


# -- bins ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 2, 100])
def test_weights_are_added_up_over_the_blocks_of_a_bin(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "BLOCK", block)
    counts = np.array([[1.0, 0.0, 2.0, 3.0], [0.5, 4.0, 0.0, 1.0]])
    squares = np.array([[1.0, 0.0, 2.0, 9.0], [0.25, 8.0, 0.0, 1.0]])
    tally = ScoreCounts(LABELS, np.array([0.1, 0.2, 0.4, 0.75]), counts, squares)
    calibration_bins = reliability(tally, bins=2)
    assert calibration_bins.weight.tolist() == [7.5, 4.0]
    assert calibration_bins.observed.tolist() == pytest.approx([4.5 / 7.5, 0.25])
    assert calibration_bins.predicted.tolist() == pytest.approx([(0.15 + 0.8 + 0.8) / 7.5, 0.75])
    assert calibration_bins.n.tolist() == pytest.approx([7.5**2 / 11.25, 16 / 10])


def test_narrow_counts_do_not_wrap_where_they_are_added() -> None:
    tally = ScoreCounts(LABELS, np.array([0.1, 0.11]), np.array([[200, 200], [200, 200]], np.uint8))
    calibration_bins = reliability(tally)
    assert (calibration_bins.weight.tolist(), calibration_bins.observed.tolist()) == (
        [800.0],
        [0.5],
    )


def test_a_cell_of_a_grid_stands_at_its_middle() -> None:
    # A cell of one bit: from 1/4 up to 3/8.
    tally = ScoreCounts(LABELS, np.array([0.25]), np.array([[3], [1]], np.uint8), kept=Grid(1))
    calibration_bins = reliability(tally)
    assert calibration_bins.predicted.tolist() == pytest.approx([0.3125])
    assert calibration_bins.observed.tolist() == [0.25]


@pytest.mark.parametrize(("n", "p"), [(4_000_000, 0.5), (1, 0.5), (5, 0.2), (10, 0.37), (3, 0.99)])
def test_the_mean_deviation_of_a_share_is_de_moivres(n: int, p: float) -> None:
    k = math.floor(n * p) + 1
    with mpmath.workdps(30):
        likely = mpmath.mpf(p)
        log = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
        log += k * mpmath.log(likely) + (n - k + 1) * mpmath.log(1 - likely)
        expected = float(2 * k * mpmath.exp(log) / n)
    one = np.array([float(n)])
    calibrated_error = Reliability(np.array([p]), np.array([p]), one, one).if_calibrated
    assert calibrated_error == pytest.approx(expected, rel=2e-8)


def test_from_a_variance_of_a_million_on_the_normal_limit_is_taken() -> None:
    n, p = 4_000_004, 0.5
    one = np.array([float(n)])
    calibrated_error = Reliability(np.array([p]), np.array([p]), one, one).if_calibrated
    assert calibrated_error == pytest.approx(math.sqrt(2 * p * (1 - p) / (math.pi * n)), rel=1e-13)


def test_the_measures_of_two_bins_by_hand() -> None:
    bins = Reliability(
        np.array([0.2, 0.75]), np.array([0.3, 0.5]), np.array([4.0, 5.0]), np.array([6.0, 2.0])
    )
    assert bins.expected_calibration_error == pytest.approx((6 * 0.1 + 2 * 0.25) / 8)
    assert bins.prevalence == pytest.approx((1.8 + 1) / 8)
    assert bins.squared_gap == pytest.approx((6 * 0.01 + 2 * 0.0625) / 8)
    assert bins.squared_gap_if_calibrated == pytest.approx(
        (6 * 0.2 * 0.8 / 4 + 2 * 0.75 * 0.25 / 5) / 8
    )
    assert bins.resolution == pytest.approx((6 * (0.3 - 0.35) ** 2 + 2 * (0.5 - 0.35) ** 2) / 8)


def resolution_of(counts: list[list[Fraction]], bins: list[int]) -> Fraction:
    total = sum(map(sum, counts))
    share = sum(counts[1]) / total
    resolved = Fraction(0)
    for each in sorted(set(bins)):
        held = [i for i, b in enumerate(bins) if b == each]
        rows = sum(counts[side][i] for side in (0, 1) for i in held)
        if rows:
            observed = sum(counts[1][i] for i in held) / rows
            resolved += rows / total * (observed - share) ** 2
    return resolved


def test_the_influence_on_the_resolution_is_its_slope() -> None:
    # Bins of fifths; the second and the fourth have no row.
    tally = tally_of([0.0, 0.1, 0.4, 0.5, 0.8, 1.0], [[4, 3, 1, 2, 0, 1], [1, 0, 2, 1, 3, 2]])
    bins = [0, 0, 2, 2, 4, 4]
    influence, step = resolution_influence(tally, 5), Fraction(1, 10**9)
    value = resolution_of([[Fraction(int(n)) for n in row] for row in tally.counts], bins)
    assert influence.value == pytest.approx(float(value), rel=1e-14)
    variance = 0.0
    for side, moves in ((1, influence.positive), (0, influence.negative)):
        for at in range(tally.size):
            ends = []
            for sign in (1, -1):
                counts = [[Fraction(int(n)) for n in row] for row in tally.counts]
                counts[side][at] += sign * step
                ends.append(resolution_of(counts, bins))
            slope = float((ends[0] - ends[1]) / (2 * step))
            assert moves[at] == pytest.approx(slope, rel=1e-9, abs=1e-12)
            variance += int(tally.counts[side, at]) * slope**2
    in_blocks = resolution_in_blocks(tally, 5)
    assert in_blocks.value == influence.value
    assert in_blocks.variance == pytest.approx(variance, rel=1e-9)
    assert influence.variance(tally) == pytest.approx(variance, rel=1e-9)


def test_a_score_on_an_edge_is_of_the_bin_above_it() -> None:
    tally = tally_of([0.1, 0.2], [[3, 1], [1, 1]])
    influence = resolution_influence(tally, 5)
    # Shares of 1/4 and 1/2 beside 1/3 of all.
    assert influence.value == pytest.approx((4 * (1 / 12) ** 2 + 2 * (1 / 6) ** 2) / 6)


# -- bins of a grid --------------------------------------------------------------------------------


def test_the_bins_of_exact_scores_are_certain() -> None:
    tally = tally_of([0.1, 0.2, 0.5, 0.9], [[2, 1, 0, 1], [0, 3, 1, 2]])
    bin_ranges = BinRanges.of(tally, bins=5)
    for least, most in (bin_ranges.gaps, bin_ranges.positives, bin_ranges.negatives):
        assert least.tolist() == most.tolist()
    # 0.2 is on an edge, and of the bin above it.
    assert bin_ranges.gaps[0].tolist() == pytest.approx([0.2, 0.2 - 2.4, -0.5, 0, 0.9 - 0.2])
    assert bin_ranges.positives[0].tolist() == [0, 3, 1, 0, 2]
    assert bin_ranges.negatives[0].tolist() == [2, 1, 0, 0, 1]
    assert bin_ranges.rows[0].tolist() == [2, 4, 1, 0, 3]
    assert (bin_ranges.total, bin_ranges.share) == (10, 0.6)
    gaps = [0.2, 2.2, 0.5, 0, 0.7]
    assert bin_ranges.calibration_error() == pytest.approx((sum(gaps) / 10,) * 2)
    squares = 0.04 / 2 + 2.2**2 / 4 + 0.25 + 0.49 / 3
    assert bin_ranges.squared_gap() == pytest.approx((squares / 10,) * 2)
    resolved = 2 * 0.36 + 4 * 0.15**2 + 0.16 + 3 * (2 / 3 - 0.6) ** 2
    assert bin_ranges.resolution() == pytest.approx((resolved / 10,) * 2)


def test_the_bins_of_a_grid_hold_what_their_cells_may() -> None:
    # Cells of one bit: [1/8, 3/16), [1/4, 3/8), [3/8, 1/2) and 1/2 alone; bins are quarters.
    scores, counts = np.array([0.125, 0.25, 0.375, 0.5]), np.array([[2, 1, 1, 1], [1, 3, 2, 1]])
    tally = ScoreCounts(LABELS, scores, counts.astype(np.uint8), kept=Grid(1))
    bin_ranges = BinRanges.of(tally, bins=4)
    below = [math.nextafter(x, 0) for x in (0.1875, 0.375, 0.5)]
    low = [2 * 0.125 - 0.875, 0.25 + 3 * -0.75 + 0.375 + 2 * -0.625, 0.5 - 0.5, 0]
    high = [
        2 * below[0] + below[0] - 1,
        below[1] + 3 * (below[1] - 1) + below[2] + 2 * (below[2] - 1),
        0.5 - 0.5,
        0,
    ]
    assert bin_ranges.gaps[0].tolist() == pytest.approx(low)
    assert bin_ranges.gaps[1].tolist() == pytest.approx(high)
    assert bin_ranges.positives.tolist() == [[1, 5, 1, 0]] * 2
    assert bin_ranges.negatives.tolist() == [[2, 2, 1, 0]] * 2


def test_a_cell_across_an_edge_may_lie_in_either_bin() -> None:
    # Bins of fifths: [1/8, 3/16) lies in the first, [1/4, 3/8) in the second; [3/8, 1/2) lies
    # across 2/5, and [3/16, 1/4) across 1/5.
    scores = np.array([0.125, 0.1875, 0.25, 0.375])
    counts = np.array([[1, 2, 1, 4], [1, 3, 0, 5]], np.uint8)
    bin_ranges = BinRanges.of(ScoreCounts(LABELS, scores, counts, kept=Grid(1)), bins=5)
    assert bin_ranges.positives.tolist() == [[1, 0, 0, 0, 0], [4, 8, 5, 0, 0]]
    assert bin_ranges.negatives.tolist() == [[1, 1, 0, 0, 0], [3, 7, 4, 0, 0]]
    across = [3 * (0.1875 - 1), 5 * (0.375 - 1)]
    inside = [0.125 - 0.875, 0.25]
    low = [inside[0] + across[0], inside[1] + sum(across), across[1], 0, 0]
    assert bin_ranges.gaps[0].tolist() == pytest.approx(low)
    above = [2 * 0.25, 4 * 0.5]
    inside = [2 * 0.1875 - 1, 0.375]
    high = [inside[0] + above[0], inside[1] + sum(above), above[1], 0, 0]
    assert bin_ranges.gaps[1].tolist() == pytest.approx(high)
    assert (bin_ranges.total, bin_ranges.share) == (17, pytest.approx(9 / 17))


def test_the_bounds_of_a_calibration_error_are_the_least_and_largest_distances_from_nothing() -> (
    None
):
    # A sum of gaps that is certain to be above, certain to be below, and one that may be 0.
    gaps = np.array([[1.0, -4.0, -1.0], [3.0, -2.5, 0.5]])
    rows = np.array([[4.0, 2.0, 0.0], [5.0, 8.0, 3.0]])
    bin_ranges = BinRanges(gaps, rows, np.zeros((2, 3)), 10.0, 0.5)
    assert bin_ranges.calibration_error() == pytest.approx(((1 + 2.5 + 0) / 10, (3 + 4 + 1) / 10))
    low = 1 / 5 + 2.5**2 / 8
    # At most 1 a row: the largest of a bin that may be empty is how many rows it may have.
    high = 9 / 4 + min(16 / 2, 8) + 3
    assert bin_ranges.squared_gap() == pytest.approx((low / 10, high / 10))
    wide = BinRanges(gaps * 10, rows, np.zeros((2, 3)), 10.0, 0.5)
    assert wide.squared_gap()[1] == pytest.approx((5 + 8 + 3) / 10)


def test_the_bounds_of_a_resolution_are_those_of_the_shares_of_bins() -> None:
    positives, negatives = (
        np.array([[2.0, 0, 0], [3.0, 1, 0]]),
        np.array([[1.0, 4, 0], [2.0, 6, 0]]),
    )
    bin_ranges = BinRanges(np.zeros((2, 3)), positives, negatives, 100.0, 0.5)
    # Shares from 2/4 to 3/4, which may be that of all rows, and from 0/6 to 1/5; none of no row.
    low = 4 * (0.5 - 0.2) ** 2
    high = 5 * (0.75 - 0.5) ** 2 + 7 * 0.5**2
    assert bin_ranges.resolution() == pytest.approx((low / 100, high / 100))
    few = BinRanges(np.zeros((2, 3)), positives, negatives, 4.0, 0.5)
    assert few.resolution() == pytest.approx((low / 4, 0.25))


# -- the line through the log odds -----------------------------------------------------------------


def test_what_is_certain_lies_beyond_the_smallest_probability() -> None:
    inside = tally_of([EDGE, 0.5, 1 - EDGE], [[1, 2, 3], [4, 5, 6]])
    assert certain(inside) == 0
    beyond = tally_of([EDGE / 2, 0.5, 1 - EDGE / 2], [[1, 2, 3], [4, 5, 6]])
    assert certain(beyond) == 5 + 9
    below = tally_of([EDGE / 2, 0.5], [[1, 2], [4, 5]])
    assert certain(below) == 5


def test_log_odds_of_a_share_and_of_certainty() -> None:
    values = log_odds(tally_of([0.0, 0.2, 0.5, 1.0], [[1] * 4] * 2))
    edge = math.log(EDGE) - math.log1p(-EDGE)
    assert values.tolist() == pytest.approx([edge, -math.log(4), 0.0, -edge], rel=1e-14)


@pytest.mark.parametrize(
    ("counts", "parted"),
    [
        ([[1, 1, 0], [0, 0, 1]], True),
        ([[0, 0, 1], [1, 1, 0]], True),
        ([[1, 1, 0], [0, 1, 1]], True),
        ([[0, 1, 1], [1, 1, 0]], True),
        ([[1, 0, 1], [0, 1, 0]], False),
        ([[0, 1, 0], [1, 0, 1]], False),
        ([[1, 1, 1], [1, 1, 1]], False),
    ],
)
def test_classes_are_parted_where_at_most_one_score_is_shared(
    counts: list[list[int]], parted: bool
) -> None:
    tally = tally_of([0.2, 0.5, 0.9], counts)
    assert calibration._parted(tally, log_odds(tally)) is parted


Line = tuple[mpmath.mpf, mpmath.mpf]


def fit(scores: Sequence[float], counts: Sequence[Sequence[mpmath.mpf]], *, straight: bool) -> Line:
    """The most likely intercept and slope, the slope held at 1 if ``straight``, by 40 digits."""
    odds = [mpmath.log(mpmath.mpf(s) / (1 - mpmath.mpf(s))) for s in scores]
    a, b = mpmath.mpf(0), mpmath.mpf(int(straight))
    for _ in range(60):
        likely = [1 / (1 + mpmath.exp(-a - b * x)) for x in odds]
        rows = list(zip(odds, likely, *counts, strict=True))
        u = mpmath.fsum(p - (p + q) * m for _, m, q, p in rows)
        ux = mpmath.fsum((p - (p + q) * m) * x for x, m, q, p in rows)
        w, wx, wxx = (
            mpmath.fsum((p + q) * m * (1 - m) * x**k for x, m, q, p in rows) for k in range(3)
        )
        if straight:
            steps = u / w, mpmath.mpf(0)
        else:
            det = w * wxx - wx**2
            steps = (wxx * u - wx * ux) / det, (w * ux - wx * u) / det
        a, b = a + steps[0], b + steps[1]
        if max(map(abs, steps)) < mpmath.mpf(10) ** -35:
            return a, b
    raise AssertionError("it does not arrive")


def exact_influence(
    scores: Sequence[float], table: Sequence[Sequence[int]], *, straight: bool
) -> Influence:
    """The intercept with the slope held at 1, or the slope, and its slopes by small masses."""
    with mpmath.workdps(40):
        which, step = int(not straight), mpmath.mpf(10) ** -12
        counts = [[mpmath.mpf(n) for n in side] for side in table]
        value = float(fit(scores, counts, straight=straight)[which])
        moves: list[list[float]] = [[], []]
        for side in (0, 1):
            for at in range(len(scores)):
                ends = []
                for sign in (1, -1):
                    moved = [list(row) for row in counts]
                    moved[side][at] += sign * step
                    ends.append(fit(scores, moved, straight=straight)[which])
                moves[side].append(float((ends[0] - ends[1]) / (2 * step)))
    return Influence(value, np.array(moves[1]), np.array(moves[0]))


FITTED = {
    "few": ([0.1, 0.3, 0.8], [[5, 3, 2], [1, 4, 4]]),
    "extreme": ([0.001, 0.4, 0.6, 0.9999], [[3, 0, 5, 1], [1, 9, 0, 30]]),
    "inverted": ([0.2, 0.5, 0.7], [[1, 2, 6], [4, 1, 1]]),
}
every_fit = pytest.mark.parametrize(("scores", "counts"), FITTED.values(), ids=FITTED)


@every_fit
@pytest.mark.parametrize("straight", [True, False], ids=["intercept", "slope"])
def test_the_line_and_its_influence_are_those_of_many_digits(
    scores: list[float],
    counts: list[list[int]],
    straight: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tally, expected = tally_of(scores, counts), exact_influence(scores, counts, straight=straight)
    by_rows = calibration_intercept_influence if straight else calibration_slope_influence
    in_blocks = calibration_intercept_in_blocks if straight else calibration_slope_in_blocks
    line = by_rows(tally)
    assert line.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(line.positive, expected.positive, rtol=1e-9)
    np.testing.assert_allclose(line.negative, expected.negative, rtol=1e-9)
    variance = expected.variance(tally)
    # Of blocks, without the arrays; two scores are one at the start.
    monkeypatch.delattr(calibration, by_rows.__name__)
    for cells in (8192, 2) if len(scores) > 3 else (8192,):
        monkeypatch.setattr(calibration, "_CELLS", cells)
        smooth = in_blocks(tally)
        assert smooth.value == pytest.approx(expected.value, rel=1e-12)
        assert smooth.variance == pytest.approx(variance, rel=1e-9)


@pytest.mark.parametrize("shift", [-30.0, -5.0, 0.0, 5.0, 30.0])
def test_an_intercept_is_found_however_far_probabilities_are_off(shift: float) -> None:
    # Two of three rows are positive, and all were given the same probability.
    said = 1 / (1 + math.exp(shift))
    odds = math.log(said) - math.log1p(-said)
    influence = calibration_intercept_influence(tally_of([said], [[1], [2]]))
    assert influence.value == pytest.approx(math.log(2) - odds, rel=1e-13)


@pytest.mark.parametrize("sign", [1, -1])
def test_an_intercept_is_found_where_certain_rows_were_wrong(sign: int) -> None:
    """Two rows were said to be certain one way, six the other, of which half have to be."""
    counts = [[2, 1], [4, 1]] if sign > 0 else [[1, 4], [1, 2]]
    tally = tally_of([0.0, 1.0], counts)
    edge = math.log1p(-EDGE) - math.log(EDGE)
    for value in (
        calibration_intercept_influence(tally).value,
        calibration_intercept_in_blocks(tally).value,
    ):
        assert value == pytest.approx(sign * edge, rel=1e-12)


def test_a_fit_goes_on_until_both_of_its_steps_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes that mirror each other: the intercept is right from the start, the slope is not."""
    counts = [[9, 5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 9]]
    tally = tally_of([0.05, 0.2, 0.4, 0.6, 0.8, 0.95], counts)
    expected = calibration_slope_influence(tally).value
    monkeypatch.setattr(calibration, "_CELLS", 2)
    assert calibration_slope_in_blocks(tally).value == pytest.approx(expected, rel=1e-12)


def test_certain_rows_are_fitted_in_blocks_as_they_are_in_arrays() -> None:
    tally = tally_of([0.0, 0.3, 0.7, 1.0], [[9, 3, 2, 1], [1, 2, 3, 8]])
    for in_blocks, by_rows in (
        (calibration_slope_in_blocks, calibration_slope_influence),
        (calibration_intercept_in_blocks, calibration_intercept_influence),
    ):
        line, expected = in_blocks(tally), by_rows(tally)
        assert line.value == pytest.approx(expected.value, rel=1e-12)
        assert line.variance == pytest.approx(expected.variance(tally), rel=1e-10)


@pytest.mark.parametrize("rows", [10**3, 10**6])
def test_a_slope_is_found_where_one_row_in_many_keeps_the_classes_from_being_parted(
    rows: int,
) -> None:
    """With scores of odds -1 and 1 the slope is half of how far the log odds of both lie apart."""
    low, high = 1 / (1 + math.e), math.e / (1 + math.e)
    counts = np.array([[rows, 1], [1, rows]], np.int64)
    influence = calibration_slope_influence(ScoreCounts(LABELS, np.array([low, high]), counts))
    assert influence.value == pytest.approx(math.log(rows), rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "counts"),
    [
        ([0.5, 0.6], [[1, 5], [100, 2]]),
        ([1e-6, 0.1], [[2, 100], [1, 1]]),
        ([0.01, 0.1], [[100, 1], [2, 1000]]),
        ([0.3, 0.999999], [[1000, 1], [1, 1]]),
    ],
)
def test_a_line_through_two_scores_goes_through_the_log_odds_of_both(
    scores: list[float], counts: list[list[int]]
) -> None:
    """Newton's method alone leads too far in some of them."""
    tally = tally_of(scores, counts)
    low, high = (math.log(p / q) for q, p in zip(*counts, strict=True))
    odds = log_odds(tally)
    expected = (high - low) / float(odds[1] - odds[0])
    assert calibration_slope_influence(tally).value == pytest.approx(expected, rel=1e-11)
    assert calibration_slope_in_blocks(tally).value == pytest.approx(expected, rel=1e-11)


def test_neighbouring_scores_are_put_together_as_evenly_as_can_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tally = tally_of(np.arange(10) / 10, [range(10), range(10, 20)])
    monkeypatch.setattr(calibration, "_CELLS", 3)
    cells = calibration._cells(tally)
    assert cells.counts.tolist() == [[6, 22, 17], [46, 62, 37]]
    assert cells.scores.tolist() == [0.2, 0.6, 0.9]
    monkeypatch.setattr(calibration, "_CELLS", 10)
    assert calibration._cells(tally).counts.tolist() == tally.counts.tolist()


def test_a_fit_that_does_not_arrive_is_made_from_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, counts = FITTED["extreme"]
    tally = tally_of(scores, counts)
    monkeypatch.setattr(calibration, "_PASSES", 0)
    for in_blocks, by_rows in (
        (calibration_slope_in_blocks, calibration_slope_influence),
        (calibration_intercept_in_blocks, calibration_intercept_influence),
    ):
        expected = by_rows(tally)
        smooth = in_blocks(tally)
        assert (smooth.value, smooth.variance) == (expected.value, expected.variance(tally))


def test_the_variance_of_a_slope_by_its_sums() -> None:
    # The inverse of [[2, 1], [1, 3]] is [[3, -1], [-1, 2]] / 5.
    sums = calibration._Sums(w=2.0, wx=1.0, wxx=3.0, u=0.0, ux=0.0, s=5.0, sx=7.0, sxx=11.0)
    assert sums.slope_variance() == pytest.approx((5 - 2 * 2 * 7 + 4 * 11) / 25)
