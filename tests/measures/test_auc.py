"""AUC, partial AUC and average precision, against counting pairs and steps one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import ScoreCounts
from assay.counts.blocks import BLOCK, map_blocks
from assay.measures import (
    MAX_FPR,
    ROC_AUC_OVO,
    ap_influence,
    auc,
    auc_influence,
    correct_partial,
    partial_influence,
    rank,
)

Rows = list[tuple[int, int]]  # the label and the score of each row

ROWS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 12)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def tally_of(rows: Rows, **amounts: object) -> ScoreCounts:
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    arrays = {name: np.asarray(column) for name, column in amounts.items()}
    return ScoreCounts.of_rows(("no", "yes"), scores, truth, **arrays)


def sides(rows: Rows) -> tuple[list[int], list[int]]:
    return [s for t, s in rows if t], [s for t, s in rows if not t]


# -- the plain way ---------------------------------------------------------------------------------


def plain_auc(rows: Rows) -> Fraction:
    positives, negatives = sides(rows)
    doubled = sum(2 * (p > n) + (p == n) for p in positives for n in negatives)
    return Fraction(doubled, 2 * len(positives) * len(negatives))


def plain_delong(rows: Rows, less: int = 1) -> Fraction:
    """The variance by its definition: the spread of each row's placement among the other class."""
    positives, negatives = sides(rows)

    def wins(p: int, n: int) -> Fraction:
        return Fraction(2 * (p > n) + (p == n), 2)

    total = Fraction(0)
    for placed in (
        [sum(wins(p, n) for n in negatives) / len(negatives) for p in positives],
        [sum(wins(p, n) for p in positives) / len(positives) for n in negatives],
    ):
        mean = sum(placed) / len(placed)
        total += sum((x - mean) ** 2 for x in placed) / (len(placed) - less) / len(placed)
    return total


def points(rows: Rows) -> list[tuple[int, int]]:
    """False and true positives at each threshold, from nothing flagged on."""
    positives, negatives = sides(rows)
    places = [(0, 0)]
    for threshold in sorted({s for _, s in rows}, reverse=True):
        flagged = [[s for s in side if s >= threshold] for side in (negatives, positives)]
        places.append((len(flagged[0]), len(flagged[1])))
    return places


def plain_ap(rows: Rows) -> Fraction:
    total = sum(label for label, _ in rows)
    area, before = Fraction(0), 0
    for false, true in points(rows)[1:]:
        area += Fraction(true, true + false) * Fraction(true - before, total)
        before = true
    return area


def plain_partial(rows: Rows, max_fpr: float) -> Fraction:
    """The area under straight lines between the points of the ROC curve, cut at the limit."""
    positives, negatives = sides(rows)
    limit, area = Fraction(max_fpr), Fraction(0)
    curve = [(Fraction(f, len(negatives)), Fraction(t, len(positives))) for f, t in points(rows)]
    for (x0, y0), (x1, y1) in pairwise(curve):
        if x0 >= limit:
            break
        x = min(x1, limit)
        y = y1 if x == x1 else y0 + (y1 - y0) * (x - x0) / (x1 - x0)
        area += (x - x0) * (y0 + y) / 2
    return area


# -- values ----------------------------------------------------------------------------------------


@given(ROWS)
def test_auc_is_the_share_of_pairs_ranked_right(rows: Rows) -> None:
    assert rank(tally_of(rows)).auc.value == float(plain_auc(rows))


@given(ROWS)
def test_average_precision_is_the_step_sum(rows: Rows) -> None:
    value = rank(tally_of(rows)).average_precision.value
    assert value == pytest.approx(float(plain_ap(rows)), rel=1e-13)


@given(ROWS, st.sampled_from([0.01, 0.1, 0.25, 0.5, 0.99, 1.0]))
def test_partial_auc_is_the_area_left_of_the_limit(rows: Rows, max_fpr: float) -> None:
    partial_auc = rank(tally_of(rows)).partial_auc(max_fpr, corrected=False)
    assert partial_auc.value == float(plain_partial(rows, max_fpr))


@given(ROWS)
def test_the_whole_partial_area_is_the_auc(rows: Rows) -> None:
    ranking = rank(tally_of(rows))
    assert ranking.partial_auc(1.0, corrected=False).value == ranking.auc.value


def test_the_limit_is_crossed_exactly_on_a_step() -> None:
    # Ten negatives, one above each of the positives' scores: at 0.1 exactly one is passed.
    rows = [(0, 20), (1, 19), (0, 18), (1, 17), *[(0, k) for k in range(8)]]
    assert rank(tally_of(rows)).partial_auc(0.1, corrected=False).value == 0.0
    assert rank(tally_of(rows)).partial_auc(0.2, corrected=False).value == pytest.approx(0.05)


def test_the_limit_is_crossed_inside_of_a_tie() -> None:
    # Four of ten negatives tie with both positives: the line rises from 0 to 1 over FPR 0 to 0.4.
    rows = [(0, 5)] * 4 + [(1, 5)] * 2 + [(0, 1)] * 6
    value = rank(tally_of(rows)).partial_auc(0.1, corrected=False).value
    assert value == pytest.approx(0.1 * 0.25 / 2)


def test_the_limit_is_crossed_at_the_last_score() -> None:
    rows = [(1, 5), (0, 1)]
    assert rank(tally_of(rows)).partial_auc(0.1, corrected=False).value == 0.1


def test_positives_below_all_negatives_gain_nothing() -> None:
    rows = [(0, 5), (0, 4), (1, 3)]
    assert rank(tally_of(rows)).partial_auc(1.0, corrected=False).value == 0.0


@pytest.mark.parametrize("max_fpr", [0.05, 0.1, 0.5, 1.0])
def test_mcclish_maps_chance_to_a_half_and_perfection_to_one(max_fpr: float) -> None:
    assert correct_partial(max_fpr**2 / 2, max_fpr)[0] == pytest.approx(0.5)
    assert correct_partial(max_fpr, max_fpr)[0] == pytest.approx(1.0)
    low, stretch = correct_partial(0.0, max_fpr)
    assert correct_partial(max_fpr, max_fpr)[0] - low == pytest.approx(stretch * max_fpr)


@given(ROWS)
def test_the_corrected_value_is_the_area_rescaled(rows: Rows) -> None:
    ranking = rank(tally_of(rows))
    raw, corrected = ranking.partial_auc(corrected=False), ranking.partial_auc()
    value, stretch = correct_partial(raw.value, MAX_FPR)
    assert corrected.value == value
    assert corrected.variance == pytest.approx(raw.variance * stretch**2)


# -- one class only --------------------------------------------------------------------------------


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_can_not_be_ranked(label: int) -> None:
    ranking = rank(tally_of([(label, 1), (label, 2)]))
    assert math.isnan(ranking.auc.value)
    assert math.isnan(ranking.partial_auc().value)
    expected = 1.0 if label else math.nan
    assert ranking.average_precision.value == pytest.approx(expected, nan_ok=True)
    assert math.isnan(ranking.average_precision.variance)


def test_one_row_of_a_class_has_no_variance() -> None:
    for rows in ([(1, 5), (0, 3), (0, 4)], [(1, 5), (1, 3), (0, 4)]):
        ranking = rank(tally_of(rows))
        assert not math.isnan(ranking.auc.value)
        assert math.isnan(ranking.auc.variance)


# -- variances -------------------------------------------------------------------------------------


@given(ROWS)
def test_the_variance_of_auc_is_delongs(rows: Rows) -> None:
    variance = rank(tally_of(rows)).auc.variance
    if min(map(len, sides(rows))) < 2:
        assert math.isnan(variance)
    else:
        assert variance == pytest.approx(float(plain_delong(rows)), rel=1e-12, abs=1e-18)


def test_the_variance_near_one_is_not_lost_in_rounding() -> None:
    rows = [(1, 9)] * 4000 + [(1, 1)] + [(0, 2)] + [(0, 0)] * 4000
    tally = ScoreCounts.of_rows(
        ("no", "yes"),
        np.array([9.0, 1.0, 2.0, 0.0]),
        np.array([1, 1, 0, 0]),
        counts=np.array([10**7, 1, 1, 10**7]),
    )
    area = rank(tally).auc
    n = 10**7 + 1
    # One positive misses one negative; all others are ranked right.
    side = Fraction(1, n**2) * (1 - Fraction(1, n)) / (n - 1) / n
    assert area.value == float(1 - Fraction(1, n * n))
    assert area.variance == pytest.approx(float(2 * side), rel=1e-9)
    assert rank(tally_of(rows)).auc.variance == pytest.approx(
        float(plain_delong_of_two()), rel=1e-9
    )


def plain_delong_of_two() -> Fraction:
    n = 4001
    return 2 * Fraction(1, n**2) * (1 - Fraction(1, n)) / (n - 1) / n


def with_counts(tally: ScoreCounts, counts: np.ndarray) -> ScoreCounts:
    """The same scores counted otherwise, without those that nobody has."""
    kept = counts.any(axis=0)
    return ScoreCounts(tally.labels, tally.scores[kept], counts[:, kept])


def drawn_rows(random: np.random.Generator, size: int) -> Rows:
    truth = (random.random(size) < 0.3).astype(int)
    scores = np.rint(random.normal(truth * 1.5, 1.0) * 6).astype(int)
    return list(zip(truth.tolist(), scores.tolist(), strict=True))


VALUES: dict[str, Callable[[ScoreCounts], tuple[float, float]]] = {
    "auc": lambda tally: rank(tally).auc,
    "average_precision": lambda tally: rank(tally).average_precision,
    "partial_auc": lambda tally: rank(tally).partial_auc(0.2),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_variance_agrees_with_the_jackknife(name: str) -> None:
    rows = drawn_rows(np.random.default_rng(5), 1500)
    tally = tally_of(rows)
    value = VALUES[name]
    _, variance = value(tally)
    counts = tally.counts.astype(np.int64)
    left_out, times = [], []
    for label, at in np.argwhere(counts > 0):
        fewer = counts.copy()
        fewer[label, at] -= 1
        left_out.append(value(with_counts(tally, fewer))[0])
        times.append(int(counts[label, at]))
    mean = np.average(left_out, weights=times)
    spread = np.average((np.array(left_out) - mean) ** 2, weights=times) * (len(rows) - 1)
    assert variance == pytest.approx(spread, rel=0.05)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", VALUES)
def test_the_variance_agrees_with_new_samples(name: str) -> None:
    random = np.random.default_rng(17)
    values = np.array([VALUES[name](tally_of(drawn_rows(random, 400))) for _ in range(500)])
    assert np.mean(values[:, 1]) == pytest.approx(np.var(values[:, 0], ddof=1), rel=0.2)


@pytest.mark.parametrize("name", VALUES)
def test_the_variance_agrees_with_the_bootstrap(name: str) -> None:
    random = np.random.default_rng(23)
    tally = tally_of(drawn_rows(random, 500))
    counts = tally.counts.astype(np.int64)
    drawn = random.multinomial(500, counts.ravel() / 500, size=800)
    values = [VALUES[name](with_counts(tally, table.reshape(counts.shape)))[0] for table in drawn]
    assert VALUES[name](tally)[1] == pytest.approx(np.var(values, ddof=1), rel=0.25)


# -- blocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1, 2, 7, 64])
@pytest.mark.parametrize("max_fpr", [0.001, 0.1, 0.5, 1.0])
def test_several_blocks_give_what_one_gives(
    block: int, max_fpr: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(29)
    truth = (random.random(400) < 0.4).astype(int)
    scores = np.rint(random.normal(truth, 1.0) * 40)
    tally = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    assert block < tally.size
    one = rank(tally)
    whole = one.partial_auc(max_fpr)
    monkeypatch.setattr(auc, "BLOCK", block)
    monkeypatch.setattr(auc, "map_blocks", partial(map_blocks, block=block))
    several = rank(tally)
    parts = several.partial_auc(max_fpr)
    assert len(several.blocks) > 1
    assert several.auc.value == one.auc.value
    assert parts.value == whole.value
    for a, b in (
        (several.auc.variance, one.auc.variance),
        (several.average_precision.value, one.average_precision.value),
        (several.average_precision.variance, one.average_precision.variance),
        (parts.variance, whole.variance),
    ):
        assert a == pytest.approx(b, rel=1e-11)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=60),
    st.sampled_from([np.uint8, np.int64, np.uint64]),
)
@settings(max_examples=200)
def test_scores_without_positives_that_are_one_give_what_they_give_apart(
    counts: list[tuple[int, int]], kind: type[np.integer[Any]]
) -> None:
    # Two scores of three have no positive; each has a row.
    positives = [p if i % 3 == 0 else 0 for i, (_, p) in enumerate(counts)]
    both = np.array([(n + (not p), p) for (n, _), p in zip(counts, positives, strict=True)])
    tally = ScoreCounts(("no", "yes"), np.arange(len(both), dtype=float), both.T.astype(kind))
    values = []
    for shared in (0, len(both) + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(auc, "_SHARED", shared)
            ranked = rank(tally)
            values.append((ranked.auc, ranked.average_precision, ranked.partial_auc(0.3)))
    together, apart = np.array(values)
    np.testing.assert_array_equal(together[[0, 2], 0], apart[[0, 2], 0])
    np.testing.assert_allclose(together, apart, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("size", [BLOCK - 1, BLOCK, BLOCK + 1, 200_000])
def test_around_the_border_of_a_block_all_is_well(size: int) -> None:
    random = np.random.default_rng(size)
    truth = (random.random(size) < 0.2).astype(np.uint8)
    # Distinct scores, by a random order: the rank of each row is its score.
    scores = np.argsort(np.argsort(random.normal(truth * 1.0, 1.0))).astype(float)
    ranking = rank(ScoreCounts.of_rows(("no", "yes"), scores, truth))
    positives = int(truth.sum())
    negatives = size - positives
    ranks = int(scores[truth == 1].sum()) + positives
    wins = ranks - positives * (positives + 1) // 2
    assert ranking.auc.value == wins / (positives * negatives)
    order = np.argsort(-scores)
    hits = np.cumsum(truth[order])
    precision = hits / np.arange(1, size + 1)
    ap = float((precision * truth[order]).sum()) / positives
    assert ranking.average_precision.value == pytest.approx(ap, rel=1e-12)
    fpr = np.concatenate([[0], (np.arange(1, size + 1) - hits) / negatives])
    area = np.clip(0.1 - fpr[1:], 0, None)[truth[order] == 1].sum() / positives
    assert ranking.partial_auc(corrected=False).value == pytest.approx(float(area), abs=1e-9)


def test_counts_beyond_the_product_of_64_bits_are_exact() -> None:
    counts = np.array([[3, 2**31, 5], [2**31, 7, 2**32]], np.uint64)
    tally = ScoreCounts(("no", "yes"), np.array([1.0, 2.0, 3.0]), counts)
    negatives, positives = (int(side.sum()) for side in counts)
    q, p = counts.astype(object)
    doubled = 0
    for i in range(3):
        doubled += int(p[i]) * (2 * sum(int(x) for x in q[:i]) + int(q[i]))
    assert rank(tally).auc.value == doubled / (2 * positives * negatives)


# -- sampling weights ------------------------------------------------------------------------------


@given(ROWS, st.sampled_from([0.25, 1.0, 7.5]))
def test_equal_weights_are_no_weights(rows: Rows, weight: float) -> None:
    plain = rank(tally_of(rows))
    weighted = rank(tally_of(rows, weights=[weight] * len(rows)))
    assert weighted.auc.value == pytest.approx(plain.auc.value, abs=1e-12)
    for a, b in (
        (weighted.average_precision, plain.average_precision),
        (weighted.partial_auc(0.3), plain.partial_auc(0.3)),
    ):
        assert a.value == pytest.approx(b.value, abs=1e-12)
        assert a.variance == pytest.approx(b.variance, rel=1e-9, abs=1e-15)
    # The sandwich divides by n where DeLong divides by n - 1.
    assert weighted.auc.variance == pytest.approx(float(plain_delong(rows, 0)), rel=1e-9, abs=1e-15)


@settings(max_examples=50)
@given(ROWS, st.randoms(use_true_random=False))
def test_whole_weights_are_repeated_rows(rows: Rows, random) -> None:
    times = [random.randint(1, 4) for _ in rows]
    repeated = rank(tally_of([row for row, k in zip(rows, times, strict=True) for _ in range(k)]))
    weighted = rank(tally_of(rows, weights=[float(k) for k in times]))
    assert weighted.auc.value == pytest.approx(repeated.auc.value, abs=1e-12)
    assert weighted.average_precision.value == pytest.approx(
        repeated.average_precision.value, abs=1e-12
    )
    assert weighted.partial_auc().value == pytest.approx(repeated.partial_auc().value, abs=1e-12)


@pytest.mark.parametrize("influence", [auc_influence, ap_influence, partial_influence])
@given(rows=ROWS)
def test_the_influences_of_all_rows_add_up_to_nothing(
    influence: Callable[[ScoreCounts], auc.Influence], rows: Rows
) -> None:
    tally = tally_of(rows)
    contribution = influence(tally)
    total = (tally.counts[1] * contribution.positive).sum() + (
        tally.counts[0] * contribution.negative
    ).sum()
    assert float(total) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("influence", "value"),
    [
        (auc_influence, lambda tally: rank(tally).auc.value),
        (ap_influence, lambda tally: rank(tally).average_precision.value),
        (
            partial_influence,
            lambda tally: rank(tally).partial_auc().value,
        ),
    ],
    ids=["auc", "average_precision", "partial_auc"],
)
def test_an_influence_is_what_a_little_more_weight_does(
    influence: Callable[[ScoreCounts], auc.Influence], value: Callable[[ScoreCounts], float]
) -> None:
    rows = drawn_rows(np.random.default_rng(31), 60)
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    tally = ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=np.ones(60))
    contribution = influence(tally)
    step = 1e-6
    for row in range(0, 60, 7):
        more = np.ones(60)
        more[row] += step
        moved = ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=more)
        at = int(np.searchsorted(tally.scores, scores[row]))
        side = contribution.positive if truth[row] else contribution.negative
        slope = (value(moved) - value(tally)) / step
        assert side[at] == pytest.approx(slope, abs=1e-4)


# -- more than two classes -------------------------------------------------------------------------


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
        min_size=1,
        max_size=25,
    )
)
def test_hand_and_till_is_the_mean_over_pairs(rows: list[tuple[int, int, int, int]]) -> None:
    truth = np.array([row[0] for row in rows])
    table = np.array([row[1:] for row in rows], float)
    labels = ("a", "b", "c")
    tallies = tuple(ScoreCounts.of_rows(labels, table[:, k], truth) for k in range(3))
    value = ROC_AUC_OVO.of_scores.value(tallies)
    if len(set(truth.tolist())) < 3:
        assert math.isnan(value)
        return
    total = Fraction(0)
    for i in range(3):
        for j in range(i):
            for one, other in ((i, j), (j, i)):
                pair = [
                    (int(row[0] == one), row[1 + one]) for row in rows if row[0] in (one, other)
                ]
                total += plain_auc(pair) / 2
    assert value == pytest.approx(float(total / 3), rel=1e-14)


def test_hand_and_till_needs_classes() -> None:
    assert math.isnan(ROC_AUC_OVO.of_scores.value(()))
