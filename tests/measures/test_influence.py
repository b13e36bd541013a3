"""By how much a row moves a measure of scores: slopes of exact ratios of counts, and windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest

from assay.counts import ScoreCounts
from assay.counts.blocks import map_blocks
from assay.measures import roc_points
from assay.measures.roc_points import (
    Influence,
    Points,
    RocReading,
    ap_influence,
    auc_influence,
    correct_partial,
    equal_error,
    farthest,
    gain_area,
    h_measure,
    h_measure_alone,
    last_within,
    partial_influence,
    recall_at,
    severe_by_class,
    symmetric_costs,
    top_lift,
)

Side = Sequence[int]
Table = tuple[Side, Side]  # negatives and positives of each score, lowest score first
Exact = Callable[[list[Fraction], list[Fraction]], Fraction]

# Scores with one class only, with both and with a crowd; attacks that are rare, and frequent ones.
TABLES: dict[str, Table] = {
    "mixed": ((5, 3, 0, 4, 1, 0, 2), (1, 0, 2, 3, 3, 4, 2)),
    "rare": ((90, 40, 25, 9, 0, 3, 1), (0, 1, 0, 2, 1, 1, 2)),
    "frequent": ((2, 1, 3, 0, 0, 1), (4, 0, 30, 25, 9, 40)),
    "single": ((3, 2, 0, 2), (0, 1, 1, 1)),
}
every_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def tally_of(table: Table) -> ScoreCounts:
    counts = np.array(table, np.uint16)
    return ScoreCounts(("no", "yes"), np.arange(counts.shape[1], dtype=float), counts)


def slopes(exact: Exact, table: Table) -> tuple[list[float], list[float]]:
    """By how much a further positive and a further negative at each score would move a ratio."""
    step = Fraction(1, 10**9)
    both: list[list[float]] = [[], []]
    for side, moves in zip((1, 0), both, strict=True):
        for at in range(len(table[0])):
            ends = []
            for sign in (1, -1):
                counts = [[Fraction(n) for n in row] for row in table]
                counts[side][at] += sign * step
                ends.append(exact(*counts))
            moves.append(float((ends[0] - ends[1]) / (2 * step)))
    return both[0], both[1]


def auc_of(q: list[Fraction], p: list[Fraction]) -> Fraction:
    wins = sum(p[i] * (sum(q[:i]) + q[i] / 2) for i in range(len(p)))
    return Fraction(wins) / (sum(p) * sum(q))


def ap_of(q: list[Fraction], p: list[Fraction]) -> Fraction:
    steps = [p[i] * sum(p[i:]) / (sum(p[i:]) + sum(q[i:])) for i in range(len(p))]
    return sum(steps, Fraction(0)) / sum(p)


def curve(q: list[Fraction], p: list[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """False positive rate and detection rate, from everything flagged to nothing."""
    return [
        (Fraction(sum(q[i:])) / sum(q), Fraction(sum(p[i:])) / sum(p)) for i in range(len(q) + 1)
    ]


def partial_of(q: list[Fraction], p: list[Fraction], limit: Fraction) -> Fraction:
    area = Fraction(0)
    points = curve(q, p)[::-1]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 < limit and x0 != x1:
            x = min(x1, limit)
            area += (x - x0) * (y0 + (y0 + (y1 - y0) * (x - x0) / (x1 - x0))) / 2
    return area


def gain_of(q: list[Fraction], p: list[Fraction]) -> Fraction:
    """The area under straight lines of gains, from a recall gain of 0 on."""
    share = Fraction(sum(p)) / (sum(p) + sum(q))
    points = curve(q, p)[::-1]
    inner = next(i for i, (_, recall) in enumerate(points) if recall > share)
    (x0, y0), (x1, y1) = points[inner - 1], points[inner]
    kept = [(x0 + (x1 - x0) * (share - y0) / (y1 - y0), share), *points[inner:]]
    gains = []
    for fpr, recall in kept:
        precision = share * recall / (share * recall + (1 - share) * fpr)
        gains.append([(rate - share) / ((1 - share) * rate) for rate in (recall, precision)])
    steps = itertools.pairwise(gains)
    return sum(((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in steps), Fraction(0))


def ks_of(q: list[Fraction], p: list[Fraction]) -> Fraction:
    return max(recall - fpr for fpr, recall in curve(q, p))


def check(influence: Influence, exact: Exact, table: Table, rel: float = 1e-11) -> None:
    """Value and slopes of a tally of counts."""
    value = exact(*([Fraction(n) for n in row] for row in table))
    positive, negative = slopes(exact, table)
    assert influence.value == pytest.approx(float(value), rel=1e-12, abs=1e-13)
    np.testing.assert_allclose(influence.positive, positive, rtol=rel, atol=1e-13)
    np.testing.assert_allclose(influence.negative, negative, rtol=rel, atol=1e-13)


def test_the_tables_are_unlike_enough() -> None:
    """No limit that is asked for below is a corner, where a slope has two sides."""
    for q, p in TABLES.values():
        for fpr, recall in curve([*map(Fraction, q)], [*map(Fraction, p)]):
            assert fpr not in (Fraction(1, 8), Fraction(11, 20))
            assert recall != Fraction(sum(p), sum(p) + sum(q))


@every_table
def test_the_influence_on_auc_is_its_slope(table: Table) -> None:
    check(auc_influence(tally_of(table)), auc_of, table)


@every_table
def test_the_influence_on_average_precision_is_its_slope(table: Table) -> None:
    check(ap_influence(tally_of(table)), ap_of, table)


@every_table
@pytest.mark.parametrize("limit", [0.125, 0.55])
def test_the_influence_on_a_partial_area_is_its_slope(table: Table, limit: float) -> None:
    exact = partial(partial_of, limit=Fraction(limit))
    check(partial_influence(tally_of(table), limit, corrected=False), exact, table)

    def corrected(q: list[Fraction], p: list[Fraction]) -> Fraction:
        # McClish: chance at a half, perfection at 1.
        least, most = Fraction(limit) ** 2 / 2, Fraction(limit)
        return (1 + (exact(q, p) - least) / (most - least)) / 2

    check(partial_influence(tally_of(table), limit), corrected, table)


def test_a_limit_that_falls_between_two_negatives_counts_the_positives_before_it() -> None:
    """Four negatives, one of them above the positive in the middle: a quarter is passed."""
    influence = partial_influence(tally_of(((3, 0, 1, 0), (0, 1, 0, 1))), 0.25, corrected=False)
    assert influence.value == 0.125
    more = partial_influence(tally_of(((3, 0, 1, 0), (0, 1, 0, 1))), 0.375, corrected=False)
    assert more.value == pytest.approx((0.375 + 0.125) / 2)


def test_mcclish_rescales_by_hand() -> None:
    # Up to 0.5 chance has an area of 1/8, perfection of 1/2: 1/4 is a third of the way.
    value, stretch = correct_partial(0.25, 0.5)
    assert value == pytest.approx(0.5 + 0.5 / 3)
    assert stretch == pytest.approx(0.5 / 0.375)


# -- the variance ----------------------------------------------------------------------------------


def test_a_variance_is_the_sum_of_squared_moves() -> None:
    tally = tally_of(((2, 1), (1, 3)))
    influence = Influence(0.5, np.array([1.0, 2.0]), np.array([3.0, 5.0]))
    assert influence.variance(tally) == 1 * 1 + 3 * 4 + 2 * 9 + 1 * 25
    assert influence.variance(tally, unbiased=True) == 13 * 4 / 3 + 43 * 3 / 2


def test_the_unbiased_variance_of_one_row_can_not_be_told() -> None:
    moves = np.array([1.0, 2.0])
    for table in (((1, 0), (2, 2)), ((2, 2), (1, 0))):
        influence = Influence(0.5, moves, moves)
        assert math.isnan(influence.variance(tally_of(table), unbiased=True))
        assert math.isfinite(influence.variance(tally_of(table)))
    two = Influence(0.5, moves, moves).variance(tally_of(((2, 0), (0, 2))), unbiased=True)
    assert two == (2 * 1 + 2 * 4) * 2


def test_with_weights_a_variance_takes_their_squares_and_no_row_is_missing() -> None:
    squares = np.array([[4.0, 1.0], [9.0, 0.25]])
    tally = ScoreCounts(("no", "yes"), np.arange(2.0), np.array([[2.0, 1.0], [3.0, 0.5]]), squares)
    influence = Influence(0.5, np.array([1.0, 2.0]), np.array([3.0, 5.0]))
    assert influence.variance(tally) == 9 * 1 + 0.25 * 4 + 4 * 9 + 1 * 25
    assert influence.variance(tally, unbiased=True) == influence.variance(tally)


# -- readings of points, whose slopes are exact ----------------------------------------------------


@every_table
def test_the_influence_on_the_gain_area_is_its_slope(table: Table) -> None:
    check(gain_area(Points.of(tally_of(table))).influence(), gain_of, table, rel=1e-9)


@every_table
def test_the_influence_on_the_farthest_distance_is_its_slope(table: Table) -> None:
    check(farthest(Points.of(tally_of(table))).influence(), ks_of, table)


@pytest.mark.parametrize("block", [2, 3, 100])
def test_the_farthest_point_is_the_first_of_equals_in_any_blocks(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roc_points, "map_blocks", partial(map_blocks, block=block))
    # 0, 1/4, 2/4, 1/4, 2/4, 1/4, 0: from the lowest score on.
    tally = tally_of(((1, 1, 0, 1, 0, 1), (0, 0, 1, 0, 2, 1)))
    reading = farthest(Points.of(tally))
    assert reading.value == 0.5
    assert reading.at.tolist() == [2]
    assert (reading.by_recall.tolist(), reading.by_fpr.tolist()) == ([1.0], [-1.0])
    later = farthest(Points.of(tally_of(((1, 1, 1, 1, 0, 0), (0, 0, 0, 0, 1, 2)))))
    assert (later.value, later.at.tolist()) == (1.0, [4])


def h_of(b: Callable[[mpmath.mpf], mpmath.mpf]) -> Exact:
    """H of the best of all thresholds at each cost c, whose density is c (1 - c)^(b - 1)."""

    def integral(power: int, b: mpmath.mpf, low: mpmath.mpf, high: mpmath.mpf) -> mpmath.mpf:
        def end(c: mpmath.mpf) -> mpmath.mpf:
            u = 1 - c
            return -sum(
                math.comb(power, j) * (-1) ** j * u ** (j + b) / (j + b) for j in range(power + 1)
            )

        return end(high) - end(low)

    def least(lines: list[tuple[mpmath.mpf, mpmath.mpf]], b: mpmath.mpf) -> mpmath.mpf:
        turns = {mpmath.mpf(0), mpmath.mpf(1)}
        for i, (a0, s0) in enumerate(lines):
            for a1, s1 in lines[:i]:
                if s0 != s1 and 0 < (a1 - a0) / (s0 - s1) < 1:
                    turns.add((a1 - a0) / (s0 - s1))
        ends, total = sorted(turns), mpmath.mpf(0)
        for low, high in itertools.pairwise(ends):
            a, s = min(lines, key=lambda line: line[0] + line[1] * (low + high) / 2)
            total += a * integral(1, b, low, high) + s * integral(2, b, low, high)
        return total

    def exact(q: list[Fraction], p: list[Fraction]) -> Fraction:
        with mpmath.workdps(40):
            positives, rows = Fraction(sum(p)), Fraction(sum(p) + sum(q))
            share = mpmath.fraction(*(positives / rows).as_integer_ratio())
            lines = []
            for fpr, recall in curve(q, p):
                f, r = (mpmath.fraction(*x.as_integer_ratio()) for x in (fpr, recall))
                lines.append((share * (1 - r), (1 - share) * f - share * (1 - r)))
            h = 1 - least(lines, b(share)) / least([lines[0], lines[-1]], b(share))
            return Fraction(str(h))

    return exact


@pytest.mark.parametrize("name", ["mixed", "frequent"])
@pytest.mark.parametrize(
    ("prior", "b"),
    [(severe_by_class, lambda share: 1 + (1 - share) / share), (symmetric_costs, lambda _: 2)],
    ids=["severe", "symmetric"],
)
def test_the_influence_on_the_h_measure_is_its_slope(
    name: str, prior: Callable, b: Callable
) -> None:
    table = TABLES[name]
    points = Points.of(tally_of(table))
    reading = h_measure(points, prior)
    check(reading.influence(), h_of(b), table, rel=1e-6)
    assert h_measure_alone(points, prior) == reading.value


@pytest.mark.parametrize("table", [((1996, 1000), (1, 2)), ((2, 1), (2000, 998))])
def test_the_slope_by_the_share_is_found_where_a_class_is_very_rare(table: Table) -> None:
    influence = h_measure(Points.of(tally_of(table)), symmetric_costs).influence()
    check(influence, h_of(lambda _: mpmath.mpf(2)), table, rel=1e-5)


def test_the_costs_of_the_h_measure() -> None:
    assert severe_by_class(0.25) == (2.0, 4.0)
    assert symmetric_costs(0.25) == (2.0, 2.0)


# -- readings with a window ------------------------------------------------------------------------

Term = tuple[int, float, float]  # a point, and what its detection rate and FPR count for


def rates(points: Points) -> tuple[list[float], list[float]]:
    return (points.tp / points.tp[0]).tolist(), (points.fp / points.fp[0]).tolist()


def terms_of(reading: RocReading) -> list[Term]:
    columns = reading.at.tolist(), reading.by_recall.tolist(), reading.by_fpr.tolist()
    return list(zip(*columns, strict=True))


def assert_terms(reading: RocReading, expected: list[Term]) -> None:
    assert [at for at, _, _ in terms_of(reading)] == [at for at, _, _ in expected]
    for (_, *term), (_, *wanted) in zip(terms_of(reading), expected, strict=True):
        assert term == pytest.approx(wanted, rel=1e-10, abs=1e-12)


def drawn(seed: int, rows: int, share: float) -> Points:
    random = np.random.default_rng(seed)
    truth = (random.random(rows) < share).astype(int)
    truth[:2] = 0, 1
    scores = np.round(random.normal(truth, 1.0) * 3)
    return Points.of(ScoreCounts.of_rows(("no", "yes"), scores, truth))


DRAWN = [(1, 3, 0.5), (2, 8, 0.5), (3, 40, 0.3), (4, 150, 0.2), (5, 400, 0.6), (6, 2000, 0.1)]
every_draw = pytest.mark.parametrize(("seed", "rows", "share"), DRAWN)


@every_draw
@pytest.mark.parametrize("rate", [0.02, 0.3, 0.9])
def test_recall_at_a_rate_counts_negatives_by_the_slope_around_it(
    seed: int, rows: int, share: float, rate: float
) -> None:
    points = drawn(seed, rows, share)
    recall, fpr = rates(points)
    reach = 1.96 * math.sqrt(rate * (1 - rate) / points.fp[0])
    at = min(i for i, x in enumerate(fpr) if x <= rate)
    low = min(i for i, x in enumerate(fpr) if x <= rate + reach)
    high = min(i for i, x in enumerate(fpr) if x <= max(rate - reach, 0))
    across = fpr[low] - fpr[high]
    slope = (recall[low] - recall[high]) / across if across else 0.0
    reading = recall_at(points, rate)
    assert reading.value == recall[at]
    assert_terms(reading, [(at, 1.0, -slope)])
    assert last_within(points, rate) == at


@every_draw
def test_equal_errors_are_shared_out_by_the_slope_around_them(
    seed: int, rows: int, share: float
) -> None:
    points = drawn(seed, rows, share)
    check_equal_errors(points)


def check_equal_errors(points: Points) -> None:
    recall, fpr = rates(points)
    excess = [f + r - 1 for f, r in zip(fpr, recall, strict=True)]
    before = max(i for i, x in enumerate(excess) if x >= -1e-15)
    after = before + 1
    part = excess[before] / (excess[before] - excess[after])
    value = fpr[before] + part * (fpr[after] - fpr[before])
    reach = 1.96 * math.sqrt(value * (1 - value) * (1 / points.tp[0] + 1 / points.fp[0]))
    low = max((i for i, x in enumerate(excess) if x >= reach), default=0)
    high = min((i for i, x in enumerate(excess) if x <= -reach), default=len(fpr) - 1)
    high = max(high, after)
    up, across = recall[low] - recall[high], fpr[low] - fpr[high]
    of_fpr, of_recall = up / (up + across), across / (up + across)
    reading = equal_error(points)
    assert reading.value == pytest.approx(value, abs=1e-14)
    expected = [
        (before, -(1 - part) * of_recall, (1 - part) * of_fpr),
        (after, -part * of_recall, part * of_fpr),
    ]
    assert_terms(reading, expected)


@pytest.mark.parametrize(
    "table",
    [
        ((1, 1), (1, 1)),
        ((1, 0), (0, 1)),
        ((0, 1), (1, 0)),
        ((2, 0, 1, 0), (0, 1, 0, 1)),
        ((1, 1, 0, 0), (0, 0, 1, 2)),
        ((2, 1, 1), (1, 1, 1)),
    ],
)
def test_equal_errors_of_a_few_rows_look_at_all_points_at_most(table: Table) -> None:
    check_equal_errors(Points.of(tally_of(table)))


@every_draw
@pytest.mark.parametrize("top", [0.1, 0.5])
def test_the_lift_of_the_highest_scores_counts_rows_by_the_slope_around_the_limit(
    seed: int, rows: int, share: float, top: float
) -> None:
    points = drawn(seed, rows, share)
    check_lift(points, top)


def check_lift(points: Points, top: float) -> None:
    recall, fpr = rates(points)
    rows = points.tp[0] + points.fp[0]
    flagged = [(t + f) / rows for t, f in zip(points.tp, points.fp, strict=True)]
    share = points.tp[0] / rows
    after = min(i for i, x in enumerate(flagged) if x <= top)
    before = after - 1
    part = (top - flagged[after]) / (flagged[before] - flagged[after])

    def between(column: list[float]) -> float:
        return column[after] + part * (column[before] - column[after])

    reach = 1.96 * math.sqrt(top * (1 - top) / rows)
    low = max((i for i, x in enumerate(flagged) if x > top + reach), default=0)
    high = min((i for i, x in enumerate(flagged) if x <= top - reach), default=len(fpr) - 1)
    slope = (recall[low] - recall[high]) / (flagged[low] - flagged[high])
    reading = top_lift(points, top)
    assert reading.value == pytest.approx(between(recall) / top, rel=1e-12)
    of_recall, of_fpr = (1 - slope * share) / top, -slope * (1 - share) / top
    expected = [
        (after, (1 - part) * of_recall, (1 - part) * of_fpr),
        (before, part * of_recall, part * of_fpr),
    ]
    assert_terms(reading, expected)
    by_share = -slope * (between(recall) - between(fpr)) / top
    assert reading.by_share == pytest.approx(by_share, rel=1e-9, abs=1e-12)


def test_the_lift_of_a_few_rows_looks_at_all_points_at_most() -> None:
    for table in (((1, 1), (1, 1)), ((1, 0, 1), (0, 1, 0)), ((1, 0), (0, 1))):
        check_lift(Points.of(tally_of(table)), 0.5)
        check_lift(Points.of(tally_of(table)), 0.1)


def test_the_highest_scores_are_a_tenth_of_all() -> None:
    points = Points.of(tally_of(TABLES["mixed"]))
    assert terms_of(top_lift(points)) == terms_of(top_lift(points, 0.1))


# -- points ----------------------------------------------------------------------------------------


def test_points_by_hand() -> None:
    points = Points.of(tally_of(((3, 0, 1), (1, 2, 1))))
    assert points.tp.tolist() == [4, 3, 1, 0]
    assert points.fp.tolist() == [4, 1, 1, 0]
    assert points.effective == (4, 4)
    assert (len(points), points.positives, points.negatives, points.share) == (4, 4, 4, 0.5)
    assert points.rates(2) == (0.25, 0.25)
    assert points.slope(0, 1) == (0.25, 0.75)
    # From nothing flagged over three positives and a negative to everything.
    assert points.corners.tolist() == [3, 1, 0]
    assert [side.tolist() for side in points.hull] == [[0, 0.75, 1], [0, 0.25, 1]]
    first = [points.first_below(x, lambda at: float(points.tp[at])) for x in (4, 3.5, 1, 0)]
    assert first == [0, 1, 2, 3]


def test_the_effective_rows_of_weights_are_those_of_their_class() -> None:
    squares = np.array([[4.0, 1.0], [1.0, 0.0]])
    counts = np.array([[2.0, 1.0], [1.0, 0.0]])
    points = Points.of(ScoreCounts(("no", "yes"), np.arange(2.0), counts, squares))
    assert points.effective == pytest.approx((1.0, 9 / 5))
    # A negative weighs by what the weights are worth, in rows.
    reach = 1.96 * math.sqrt(0.25 / (9 / 5))
    assert reach > 0.5
    assert terms_of(recall_at(points, 0.5)) == [(1, 1.0, -1.0)]


@every_table
def test_a_reading_is_as_sure_as_its_rows_move_it(table: Table) -> None:
    """Readings in which one point stands twice, and points out of order."""
    points = Points.of(tally_of(table))
    reading = RocReading(
        points, 0.5, np.array([2, 0, 1, 2]), np.array([1.0, 2, -3, 5]), np.array([2.0, 0, 1, -4]), 7
    )
    recall, fpr = rates(points)
    share, rows = points.share, points.positives + points.negatives
    influence = reading.influence()
    total = 0.0
    for i in range(len(points) - 1):
        for counts, moves, rate, of_class, by_share in (
            (table[1], influence.positive, recall, points.positives, 7 * (1 - share)),
            (table[0], influence.negative, fpr, points.negatives, -7 * share),
        ):
            by = reading.by_recall if counts is table[1] else reading.by_fpr
            moved = sum(
                b * ((i >= at) - rate[at]) / of_class
                for at, b in zip(reading.at.tolist(), by.tolist(), strict=True)
            )
            assert moves[i] == pytest.approx(moved + by_share / rows, rel=1e-11, abs=1e-13)
            total += counts[i] * (moved + by_share / rows) ** 2
    assert reading.variance() == pytest.approx(total, rel=1e-11)
    assert influence.variance(tally_of(table)) == pytest.approx(total, rel=1e-11)
