"""How measures of scores are declared: rows that are missing, base rates, means, and bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from assay.counts import Sample, ScoreCounts
from assay.counts.grid import Grid
from assay.errors import MethodError
from assay.measures import (
    AVERAGE_PRECISION,
    ROC_AUC,
    ROC_AUC_OVO,
    ClassAverage,
    Influence,
    Law,
    MeanLoss,
    OpenSet,
    OverPairs,
    Points,
    Ranked,
    Ranking,
    Smooth,
    ap_influence,
    auc_influence,
    rank,
)
from assay.measures import scores as declared_scores
from assay.measures.measure import Interval, Needs
from assay.measures.roc_points import RocReading, farthest
from assay.measures.scores import (
    read_off,
)

LABELS = ("no", "yes")
AUC = ROC_AUC.of_scores
AP = AVERAGE_PRECISION.of_scores
assert isinstance(AUC, Ranked)
assert isinstance(AP, Ranked)


def tally_of(
    negatives: Sequence[float], positives: Sequence[float], **facts: object
) -> ScoreCounts:
    counts = np.array([negatives, positives], np.uint16)
    return ScoreCounts(LABELS, np.arange(counts.shape[1]) / 8, counts, **facts)


MIXED = tally_of([3, 1, 2, 1], [1, 2, 0, 4])
NO_POSITIVES, NO_NEGATIVES = tally_of([3, 1], [0, 0]), tally_of([0, 0], [3, 1])


# -- rows that are missing -------------------------------------------------------------------------


def test_a_ranking_that_lacks_rows_says_which() -> None:
    one = Ranked(influence=auc_influence)
    nothing = "there are no {}, so there is nothing to rank against"
    assert one.missing(0, 5) == nothing.format("positives")
    assert one.missing(5, 0) == nothing.format("negatives")
    assert one.missing(0, 0) == nothing.format("positives")
    assert one.missing(1, 1) is None
    alone = Ranked(influence=ap_influence, negatives=0)
    assert alone.missing(1, 0) is None
    assert alone.missing(0, 1) == nothing.format("positives")
    many = Ranked(influence=auc_influence, negatives=1000)
    assert many.missing(1, 999.5) == "it asks for at least 1,000 negatives; there are only 999.5"
    assert many.missing(1, 1000) is None
    assert many.missing(1, 0) == nothing.format("negatives")
    two = Ranked(influence=auc_influence, negatives=2)
    assert two.missing(1, 1) == "it asks for at least 2 negatives; there are only 1"
    assert one.missing(1, 0.5) is None


def test_where_rows_are_missing_nothing_is_told() -> None:
    few = Ranked(influence=auc_influence, negatives=100)
    for declared, tally in ((few, MIXED), (AUC, NO_POSITIVES), (AUC, NO_NEGATIVES)):
        assert all(map(math.isnan, declared.of(rank(tally))))
        assert math.isnan(declared.value(tally))
    assert AP.of(rank(NO_NEGATIVES)).value == 1.0
    assert AP.value(NO_NEGATIVES) == 1.0


def test_a_class_of_negatives_is_told_from_one_of_positives() -> None:
    """Seven negatives and five positives, where seven negatives are asked for."""
    declared = Ranked(influence=auc_influence, negatives=7)
    tally = tally_of([3, 4], [1, 4])
    assert declared.value(tally) == pytest.approx(0.5 + (3 * 4 - 4 * 1) / (2 * 35))
    assert declared.of(rank(tally)).value == declared.value(tally)
    assert math.isnan(Ranked(influence=auc_influence, negatives=8).value(tally))


def test_what_a_measure_needs() -> None:
    assert Ranked(influence=auc_influence).needs is Needs.SCORES
    assert Ranked(influence=auc_influence, probabilities=True).needs is Needs.LOSSES
    assert (Ranked(influence=auc_influence).reach, AUC.negatives) == (1.0, 1)
    assert not Ranked(influence=auc_influence).unbiased
    assert not Ranked(influence=auc_influence).probabilities


# -- which way is taken ----------------------------------------------------------------------------


def ways(**facts: object) -> Ranked:
    nothing = np.zeros(4)
    return Ranked(influence=lambda _: Influence(1.0, nothing, nothing), **facts)


def fast(_: Ranking) -> Smooth:
    return Smooth(2.0, 0.0)


def in_blocks(_: ScoreCounts) -> Smooth:
    return Smooth(3.0, 0.0)


def alone(_: Points) -> float:
    return 4.0


def test_the_quickest_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = rank(MIXED)
    assert ways().of(ranking).value == ways().value(MIXED) == 1.0
    assert ways(fast=fast).of(ranking).value == 2.0
    assert ways(fast=fast).value(MIXED) == 1.0
    assert ways(fast=fast, alone=alone).of(ranking).value == 2.0
    assert ways(fast=fast, alone=alone).value(MIXED) == 4.0
    both = ways(fast=fast, in_blocks=in_blocks)
    assert both.of(ranking).value == 2.0
    # Of more scores than a block holds, and without weights.
    monkeypatch.setattr(declared_scores, "BLOCK", MIXED.size)
    assert both.of(ranking).value == 2.0
    assert ways(fast=fast).value(MIXED) == 1.0
    monkeypatch.setattr(declared_scores, "BLOCK", MIXED.size - 1)
    assert both.of(ranking).value == 3.0
    assert ways(fast=fast).of(ranking).value == ways(fast=fast).value(MIXED) == 2.0
    counts = MIXED.counts.astype(float)
    weighted = ScoreCounts(LABELS, MIXED.scores, counts, counts)
    assert both.of(rank(weighted)).value == 2.0


def test_a_value_of_points_takes_a_reading_of_points() -> None:
    points = Points.of(MIXED)
    assert ways(alone=alone).value_of(points) == 4.0
    assert math.isnan(ways(alone=alone, negatives=8).value_of(points))
    assert ways(alone=alone, negatives=7).value_of(points) == 4.0
    with pytest.raises(MethodError, match="no reading of points"):
        ways().value_of(points)


def test_a_reading_has_its_value_and_variance_from_points() -> None:
    assert read_off(farthest, negatives=3).negatives == 3
    declared = read_off(farthest)
    reading = farthest(Points.of(MIXED))
    assert declared.of(rank(MIXED)) == (reading.value, reading.variance())
    assert declared.value(MIXED) == reading.value
    counts = MIXED.counts * 2.0
    weighted = ScoreCounts(LABELS, MIXED.scores, counts, counts * 5)
    estimate, influence = declared.of(rank(weighted)), farthest(Points.of(weighted)).influence()
    assert estimate == (reading.value, influence.variance(weighted))
    quicker = read_off(farthest, lambda _: 9.0)
    assert (quicker.value(MIXED), quicker.of(rank(MIXED)).value) == (9.0, reading.value)


# -- another base rate -----------------------------------------------------------------------------


def ap_of(q: list[Fraction], p: list[Fraction]) -> Fraction:
    steps = [p[i] * sum(p[i:]) / (sum(p[i:]) + sum(q[i:])) for i in range(len(p))]
    return sum(steps, Fraction(0)) / sum(p)


def test_average_precision_at_a_base_rate_and_its_slopes_are_exact() -> None:
    rate, step = Fraction(1, 8), Fraction(1, 10**9)

    def exact(counts: list[list[Fraction]]) -> Fraction:
        q, p = ([n / sum(side) for n in side] for side in counts)
        return ap_of([(1 - rate) * n for n in q], [rate * n for n in p])

    plain = [[Fraction(int(n)) for n in side] for side in MIXED.counts]
    declared = AP.at_base_rate(float(rate))
    influence = declared.influence(MIXED)
    assert influence.value == pytest.approx(float(exact(plain)), rel=1e-13)
    for side, moves in ((1, influence.positive), (0, influence.negative)):
        for at in range(MIXED.size):
            ends = []
            for sign in (1, -1):
                counts = [list(row) for row in plain]
                counts[side][at] += sign * step
                ends.append(exact(counts))
            slope = float((ends[0] - ends[1]) / (2 * step))
            assert moves[at] == pytest.approx(slope, rel=1e-10, abs=1e-13)


def test_a_base_rate_asks_for_ten_negatives_of_its_share() -> None:
    assert [AP.at_base_rate(rate).negatives for rate in (0.5, 0.2, 0.03)] == [20, 50, 334]
    assert AUC.at_base_rate(0.2).negatives == 1
    assert Law.PREVALENCE in AUC.invariant_under
    moved = ways(fast=fast, alone=alone, in_blocks=in_blocks, unbiased=True).at_base_rate(0.5)
    assert (moved.fast, moved.alone, moved.in_blocks, moved.bound) == (None,) * 4
    assert not moved.unbiased


def test_the_classes_weigh_as_much_as_the_base_rate_says() -> None:
    seen: list[ScoreCounts] = []

    def bound(tally: ScoreCounts) -> tuple[float, float]:
        seen.append(tally)
        return 0.0, 1.0

    squares = np.array([[4.0, 2.0], [1.0, 8.0]])
    counts = np.array([[3.0, 1.0], [1.0, 5.0]])
    weighted = ScoreCounts(LABELS, np.array([0.25, 0.5]), counts, squares, Grid(3))
    whole = ScoreCounts(LABELS, np.array([0.25, 0.5]), counts.astype(np.uint8), kept=Grid(3))
    moved = ways(bound=bound).at_base_rate(0.2).bound
    assert moved is not None
    for tally in (weighted, whole):
        assert moved(tally) == (0.0, 1.0)
    # Of ten rows eight count as negatives, where there are four, and two as positives of six.
    for tally, own in zip(seen, (squares, counts), strict=True):
        np.testing.assert_allclose(tally.counts, [[6.0, 2.0], [1 / 3, 5 / 3]], rtol=1e-14)
        expected = [(own[0] * 4).tolist(), (own[1] / 9).tolist()]
        assert tally.squares is not None
        np.testing.assert_allclose(tally.squares, expected, rtol=1e-14)
        assert tally.kept == Grid(3)


# -- mean losses -----------------------------------------------------------------------------------

LOSS = MeanLoss(loss=lambda said, truth: 10 * np.abs(said - truth), largest=10.0)


def test_a_mean_loss_by_hand() -> None:
    # Scores 0, 1/8, 1/4 and 3/8.
    losses = np.array([[0, 1.25, 2.5, 3.75], [10, 8.75, 7.5, 6.25]])
    counts = np.array([[3, 1, 2, 1], [1, 2, 0, 4]])
    total = float((losses * counts).sum())
    assert LOSS.value(MIXED) == pytest.approx(total / 14)
    moments = LOSS.moments(MIXED)
    expected = (14, total, 14, total, float((losses**2 * counts).sum()))
    assert (moments.weight, moments.first, moments.square_weight) == pytest.approx(expected[:3])
    assert (moments.square_first, moments.square_second) == pytest.approx(expected[3:])
    squares = counts * 3.0
    weighted = LOSS.moments(ScoreCounts(LABELS, MIXED.scores, counts * 1.0, squares))
    assert (weighted.weight, weighted.first, weighted.square_weight) == pytest.approx(
        (14, total, 42)
    )
    assert (weighted.square_first, weighted.square_second) == pytest.approx(
        (3 * total, 3 * expected[4])
    )
    assert math.isnan(LOSS.value(tally_of([], [])))


def test_the_loss_of_each_row_moves_its_mean() -> None:
    sample = Sample.of_rows(
        LABELS,
        np.array([0, 1, 1]),
        {"a": np.array([0.25, 0.5, 0.75]), "b": np.array([0.5, 0.5, 0.0])},
        counts=np.array([1, 2, 5]),
    )
    for model, losses in enumerate(([2.5, 5.0, 2.5], [5.0, 5.0, 10.0])):
        order = np.argsort([[1, 2, 5].index(n) for n in sample.counts.tolist()])
        assert LOSS.of_rows(sample, model)[order].tolist() == losses
        value, moves = LOSS.moves(sample, model)
        mean = (losses[0] + 2 * losses[1] + 5 * losses[2]) / 8
        assert value == pytest.approx(mean)
        assert moves[order].tolist() == pytest.approx([(x - mean) / 8 for x in losses])
        anew = np.array([3, 0, 1])
        interval = LOSS.resampled(sample, model, anew[np.argsort(order)])
        assert interval == pytest.approx((3 * losses[0] + losses[2]) / 4)


# -- more than two classes -------------------------------------------------------------------------

TRUTH = np.array([0, 0, 0, 1, 1, 1, 2, 2])
SAID = np.array(
    [
        [0.7, 0.2, 0.1],
        [0.5, 0.3, 0.2],
        [0.2, 0.5, 0.3],
        [0.3, 0.6, 0.1],
        [0.5, 0.1, 0.4],
        [0.1, 0.5, 0.4],
        [0.2, 0.1, 0.7],
        [0.45, 0.3, 0.25],
    ]
)
TIMES = np.array([2, 1, 3, 1, 2, 2, 1, 4])
SAMPLE = Sample.of_rows(("a", "b", "c"), TRUTH, {"other": SAID[:, ::-1], "m": SAID}, counts=TIMES)


def auc_of(
    positive: list[tuple[float, Fraction]], negative: list[tuple[float, Fraction]]
) -> Fraction:
    wins = sum(
        m * n * Fraction(2 * (s > t) + (s == t), 2) for s, m in positive for t, n in negative
    )
    return Fraction(wins) / (sum(m for _, m in positive) * sum(n for _, n in negative))


def averaged(
    weighted: bool, classes: tuple[int, ...] = (0, 1, 2)
) -> Callable[[list[Fraction]], Fraction]:
    def mean(times: list[Fraction]) -> Fraction:
        values, sizes = [], []
        for label in classes:
            rows = list(
                zip(
                    SAMPLE.truth.tolist(), SAMPLE.of_model(1)[:, label].tolist(), times, strict=True
                )
            )
            own = [(s, n) for t, s, n in rows if t == label]
            values.append(auc_of(own, [(s, n) for t, s, n in rows if t != label]))
            sizes.append(sum(n for _, n in own) if weighted else Fraction(1))
        return sum((v * n for v, n in zip(values, sizes, strict=True)), Fraction(0)) / sum(sizes)

    return mean


def over_pairs(times: list[Fraction]) -> Fraction:
    values = []
    for i in range(3):
        for j in range(3):
            if i != j:
                rows = list(
                    zip(
                        SAMPLE.truth.tolist(), SAMPLE.of_model(1)[:, i].tolist(), times, strict=True
                    )
                )
                sides = ([(s, n) for t, s, n in rows if t == k] for k in (i, j))
                values.append(auc_of(*sides))
    return sum(values, Fraction(0)) / 6


AVERAGES = {
    "macro": (ClassAverage(AUC), averaged(weighted=False)),
    "weighted": (ClassAverage(AUC, weighted=True), averaged(weighted=True)),
    "two": (ClassAverage(AUC, classes=(0, 2)), averaged(False, (0, 2))),
    "two weighted": (ClassAverage(AUC, weighted=True, classes=(0, 2)), averaged(True, (0, 2))),
    "pairs": (ROC_AUC_OVO.of_scores, over_pairs),
}


@pytest.mark.parametrize(("declared", "exact"), AVERAGES.values(), ids=AVERAGES)
def test_an_average_over_classes_moves_with_each_row_as_its_slope_says(
    declared: ClassAverage | OverPairs, exact: Callable[[list[Fraction]], Fraction]
) -> None:
    times, step = [Fraction(int(n)) for n in SAMPLE.counts], Fraction(1, 10**9)
    value, moves = declared.moves(SAMPLE, 1)
    assert value == pytest.approx(float(exact(times)), rel=1e-13)
    for row in range(SAMPLE.size):
        ends = []
        for sign in (1, -1):
            other = list(times)
            other[row] += sign * step
            ends.append(exact(other))
        slope = float((ends[0] - ends[1]) / (2 * step))
        assert moves[row] == pytest.approx(slope, rel=1e-9, abs=1e-12)
    assert declared.unbiased
    anew = SAMPLE.counts[::-1].astype(np.int64) + 1
    expected = exact([Fraction(int(n)) for n in anew])
    assert declared.resampled(SAMPLE, 1, anew) == pytest.approx(float(expected), rel=1e-13)


def test_pairs_are_of_two_of_four_classes() -> None:
    random = np.random.default_rng(7)
    truth, said = np.repeat(np.arange(4), 3), random.integers(0, 6, (12, 4)) / 8
    sample = Sample.of_rows(("a", "b", "c", "d"), truth, {"m": said})
    once = Fraction(1)
    values = [
        auc_of(*([(s, once) for s in said[truth == k, i].tolist()] for k in (i, j)))
        for i in range(4)
        for j in range(4)
        if i != j
    ]
    value, moves = OverPairs(AUC).moves(sample, 0)
    assert value == pytest.approx(float(sum(values, Fraction(0)) / 12), rel=1e-13)
    assert (moves * sample.counts).sum() == pytest.approx(0, abs=1e-14)


def test_the_weights_of_classes() -> None:
    sizes = np.array([2.0, 0.0, 6.0])
    assert ClassAverage(AUC).shares(sizes) == {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}
    assert ClassAverage(AUC, weighted=True).shares(sizes) == {0: 0.25, 2: 0.75}
    assert ClassAverage(AUC, classes=(1, 2)).shares(sizes) == {1: 0.5, 2: 0.5}
    assert ClassAverage(AUC, weighted=True, classes=(1, 2)).shares(sizes) == {2: 1.0}


def test_an_average_without_rows_of_a_class_is_undefined() -> None:
    only = np.where(SAMPLE.truth == 1, 0, SAMPLE.counts).astype(np.int64)
    without = SAMPLE.of_rows_where(SAMPLE.truth != 1)
    for declared in (ClassAverage(AUC), ROC_AUC_OVO.of_scores):
        assert math.isnan(declared.resampled(SAMPLE, 1, only))
        assert math.isnan(declared.moves(without, 1)[0])
    # One row is enough.
    first = np.flatnonzero(SAMPLE.truth == 1)[0]
    single_row = only.copy()
    single_row[first] = 1
    assert 0 <= ClassAverage(AUC).resampled(SAMPLE, 1, single_row) <= 1
    # Weighted by rows, a class without any does not count.
    assert not math.isnan(ClassAverage(AUC, weighted=True).resampled(SAMPLE, 1, only))
    value, moves = ClassAverage(AUC, weighted=True).moves(
        SAMPLE.of_rows_where(SAMPLE.truth == 1), 1
    )
    assert math.isnan(value)
    assert moves.tolist() == [0.0] * 3
    single = np.where(SAMPLE.truth == 1, SAMPLE.counts, 0).astype(np.int64)
    assert math.isnan(ClassAverage(AUC, weighted=True).resampled(SAMPLE, 1, single))


def test_the_parts_of_an_average() -> None:
    tallies = SAMPLE.class_counts(1, SAMPLE.counts)
    rankings = tuple(rank(tallies[k].one_versus_rest(k)) for k in range(3))
    parts = ClassAverage(AUC, weighted=True).parts(rankings)
    assert [part.weight for part in parts] == pytest.approx([6 / 16, 5 / 16, 5 / 16])
    assert [(part.positives, part.negatives) for part in parts] == [(6, 10), (5, 11), (5, 11)]
    assert [part.smooth for part in parts] == [ranking.auc for ranking in rankings]
    pairs = OverPairs(AUC).parts(tallies)
    assert [part.weight for part in pairs] == [1 / 6] * 6
    sizes = [(part.positives, part.negatives) for part in pairs]
    assert sizes == [(6, 5), (6, 5), (5, 6), (5, 5), (5, 6), (5, 5)]
    mean = math.fsum(part.smooth.value for part in pairs) / 6
    assert (
        OverPairs(AUC).value(tallies) == mean == pytest.approx(ROC_AUC_OVO.of_scores.value(tallies))
    )


def test_one_model_of_a_ranking_is_moved_and_resampled() -> None:
    truth, said = np.array([0, 1, 0, 1]), np.array([0.1, 0.3, 0.5, 0.9])
    sample = Sample.of_rows(LABELS, truth, {"x": 1 - said, "y": said})
    value, moves = AUC.moves(sample, 1)
    assert value == 0.75
    influence = auc_influence(sample.score_counts(1))
    rows = zip(
        sample.truth.tolist(), sample.of_model(1)[:, 0].tolist(), moves.tolist(), strict=True
    )
    for label, score, move in rows:
        side = influence.positive if label else influence.negative
        assert move == side[np.searchsorted(said, score)]
    assert AUC.resampled(sample, 1, np.ones(4, np.int64)) == 0.75
    positives = (sample.truth == 1).astype(np.int64)
    for counts in (positives, 1 - positives):
        assert math.isnan(AUC.resampled(sample, 1, counts))
    # Without negatives average precision has a value, but is not told of a resample either.
    assert math.isnan(AP.resampled(sample, 1, positives))
    lost, nothing = AUC.moves(Sample.of_rows(LABELS, np.array([1, 1]), {"x": said[:2]}), 0)
    assert math.isnan(lost)
    assert np.isnan(nothing).all()


# -- open sets -------------------------------------------------------------------------------------


def test_known_rows_rank_above_unknown_ones_and_wrong_ones_below_all() -> None:
    sample = Sample.of_rows(
        ("unknown", "wrong", "right"), np.array([0, 1, 2]), {"m": np.array([0.4, 0.8, 0.0])}
    )
    surest = OpenSet(AUC).binary(sample)
    assert surest.labels == ("unknown", "known")
    assert surest.truth.tolist() == (sample.truth > 0).astype(int).tolist()
    assert surest.scores.tolist() == sample.scores.tolist()
    right = OpenSet(AUC, right_only=True).binary(sample)
    assert right.truth.tolist() == surest.truth.tolist()
    expected = [-1.0 if t == 1 else s for t, (s,) in zip(sample.truth, sample.scores, strict=True)]
    assert right.scores[:, 0].tolist() == expected
    assert OpenSet(AUC).interval is Interval.AUC
    assert not OpenSet(AUC).right_only


def test_a_reading_is_not_moved_by_the_share_unless_it_says_so() -> None:
    one = np.array([1.0])
    assert RocReading(Points.of(MIXED), 0.5, np.array([1]), one, one).by_share == 0.0
