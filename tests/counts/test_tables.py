"""The tables against counting by hand, row by row, and the tables that are read off them."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.counts import (
    ClusterCounts,
    Confusion,
    Grid,
    LossSums,
    Moments,
    PairCounts,
    Sample,
    ScoreCounts,
)
from assay.counts.losses import SMALLEST_PROBABILITY
from assay.errors import InputError

LABELS = ("benign", "attack", "worm")
codes = st.integers(0, 2)
# Label, decision, score in eighths, cluster, count, weight in quarters.
ROWS = st.lists(
    st.tuples(codes, codes, st.integers(-8, 8), st.integers(0, 3), st.integers(0, 3), codes),
    min_size=1,
    max_size=30,
)
Rows = list[tuple[int, int, int, int, int, int]]


def columns(rows: Rows) -> dict[str, Any]:
    truth, decision, score, cluster, count, weight = map(np.array, zip(*rows, strict=True))
    scale = {"score": score / 8, "weight": weight / 4 + 0.25}
    return {"truth": truth, "decision": decision, "cluster": cluster, "count": count, **scale}


@given(ROWS)
def test_a_confusion_counts_each_row(rows: Rows) -> None:
    column = columns(rows)
    truth, decision = column["truth"], column["decision"]
    seen = Counter(zip(truth.tolist(), decision.tolist(), strict=True))
    table = Confusion.of_rows(LABELS, truth, decision)
    assert table.cells == tuple(tuple(seen[i, j] for j in range(3)) for i in range(3))
    assert (table.total, sum(table.rows), sum(table.columns)) == (len(rows),) * 3
    counted = Confusion.of_rows(LABELS, truth, decision, counts=column["count"])
    repeated = (np.repeat(each, column["count"]) for each in (truth, decision))
    assert counted.cells == Confusion.of_rows(LABELS, *repeated).cells
    weighted = Confusion.of_rows(LABELS, truth, decision, weights=column["weight"])
    assert weighted.weighted
    assert math.isclose(weighted.total, column["weight"].sum(), rel_tol=1e-12)
    assert np.sum(weighted.squares) == pytest.approx((column["weight"] ** 2).sum(), rel=1e-12)


@given(ROWS, codes)
def test_one_label_against_the_rest_is_the_table_of_binary_rows(rows: Rows, label: int) -> None:
    column = columns(rows)
    truth, decision, names = column["truth"], column["decision"], [*"abcd"]
    binary = (truth == label).astype(int), (decision == label).astype(int)
    for facts in ({}, {"weights": column["weight"]}):
        table = Confusion.of_rows(LABELS, truth, decision, **facts)
        direct = Confusion.of_rows(("rest", LABELS[label]), *binary, **facts)
        assert np.allclose(table.against_rest(label).cells, direct.cells, rtol=1e-12)
        (tn, fp), (fn, tp) = table.against_rest(label).cells
        assert table.one_versus_rest(label) == {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
        assert table.against_rest(label) is table.against_rest(label)
    clusters = ClusterCounts.of_rows(LABELS, truth, decision, column["cluster"], names)
    direct = ClusterCounts.of_rows(("rest", LABELS[label]), *binary, column["cluster"], names)
    assert np.array_equal(clusters.against_rest(label).cells, direct.cells)
    assert clusters.confusion() == Confusion.of_rows(LABELS, truth, decision)


def test_a_binary_table_is_its_own_against_the_rest() -> None:
    table = Confusion(("no", "yes"), ((5, 1), (2, 7)))
    assert table.against_rest(1) is table
    assert table.against_rest(0) == Confusion(("yes", "no"), ((7, 2), (1, 5)))
    clusters = ClusterCounts(("no", "yes"), ("h",), np.array([[[5, 1], [2, 7]]]))
    assert clusters.against_rest(1) is clusters


def test_counts_are_exact_at_any_size() -> None:
    large = np.array([10**18, 3, 10**18])
    table = Confusion.of_rows(("no", "yes"), np.array([0, 1, 0]), np.array([1, 1, 1]), counts=large)
    assert table.cells == ((0, 2 * 10**18), (0, 3))


def test_a_table_of_another_shape_is_refused() -> None:
    with pytest.raises(InputError, match="of 2 labels has 2 rows of 2 cells; found rows of"):
        Confusion(("no", "yes"), ((1, 2),))


def test_clusters_stand_in_the_order_of_their_names_and_empty_ones_are_dropped() -> None:
    truth, cluster = np.array([0, 1, 1]), np.array([2, 0, 2])
    table = ClusterCounts.of_rows(("no", "yes"), truth, truth, cluster, ("web", "db", "dns"))
    assert (table.clusters, table.size) == (("dns", "web"), 2)
    assert table.cells.tolist() == [[[1, 0], [0, 1]], [[0, 0], [0, 1]]]


# -- scores ----------------------------------------------------------------------------------------


@given(ROWS)
def test_score_counts_hold_each_row_at_its_score(rows: Rows) -> None:
    column = columns(rows)
    truth, score = column["truth"], column["score"]
    table = ScoreCounts.of_rows(LABELS, score, truth)
    seen = Counter(zip(truth.tolist(), score.tolist(), strict=True))
    assert table.scores.tolist() == sorted(set(score.tolist()))
    for i in range(3):
        assert table.counts[i].tolist() == [seen[i, each] for each in table.scores.tolist()]
    threshold = float(score[0])
    flagged = [int(((truth == i) & (score >= threshold)).sum()) for i in range(3)]
    assert table.at_least(threshold) == flagged
    assert (table.rows, table.effective()) == (len(rows), tuple(map(float, table.totals())))
    if column["count"].any():
        counted = ScoreCounts.of_rows(LABELS, score, truth, counts=column["count"])
        repeated = (np.repeat(each, column["count"]) for each in (score, truth))
        assert same(counted, ScoreCounts.of_rows(LABELS, *repeated))


def same(one: ScoreCounts, other: ScoreCounts) -> bool:
    arrays = ((one.scores, other.scores), (one.counts, other.counts))
    return one.labels == other.labels and all(np.array_equal(a, b) for a, b in arrays)


def test_a_tie_is_numeric_equality() -> None:
    scores = np.array([0.0, -0.0, 5e-324])
    assert ScoreCounts.of_rows(("a",), scores, np.zeros(3, int)).counts.tolist() == [[2, 1]]


@given(ROWS, codes, codes)
def test_binary_score_counts_are_those_of_the_rows_of_two_sides(rows: Rows, i: int, j: int) -> None:
    column = columns(rows)
    truth, score = column["truth"], column["score"]
    facts: dict[str, Any]
    for facts in ({}, {"weights": column["weight"]}):
        table = ScoreCounts.of_rows(LABELS, score, truth, **facts)
        direct = ScoreCounts.of_rows(("rest", LABELS[i]), score, (truth == i).astype(int), **facts)
        rest = table.one_versus_rest(i)
        assert np.allclose(rest.counts.astype(float), direct.counts.astype(float), rtol=1e-12)
        assert rest.rows == pytest.approx(direct.rows, rel=1e-12)
        if i != j:
            held = (truth == i) | (truth == j)
            some = {name: each[held] for name, each in facts.items()}
            pair = table.pair(j, i)
            names = LABELS[j], LABELS[i]
            direct = ScoreCounts.of_rows(names, score[held], (truth[held] == i).astype(int), **some)
            assert pair.labels == names
            assert np.array_equal(pair.scores, direct.scores)
            assert np.allclose(pair.counts.astype(float), direct.counts.astype(float), rtol=1e-12)


def test_the_effective_rows_of_weights_are_kishs() -> None:
    truth, weights = np.array([0, 1, 1]), np.array([2.0, 1.0, 3.0])
    table = ScoreCounts.of_rows(("no", "yes"), np.array([0.1, 0.2, 0.3]), truth, weights=weights)
    assert table.weighted
    assert table.effective() == (1.0, 16 / 10)
    assert table.rows == 36 / 14
    assert table.at_least(0.2) == [0.0, 4.0]


def test_a_grid_knows_the_ends_of_its_cells_and_what_is_tied() -> None:
    scores, truth = np.array([0.3, 0.31, 0.5, 0.9]), np.array([0, 1, 1, 1])
    table = ScoreCounts.of_rows(("no", "yes"), scores, truth, kept=Grid(2))
    low, high = table.ends()
    assert table.inexact
    assert table.counts.tolist() == [[1, 0, 0], [1, 1, 1]]
    assert low.tolist()[:2] == [0.25, 0.5]
    assert table.tied.tolist() == [False, True, False]
    assert ((low <= table.middles()) & (table.middles() <= high)).all()
    exact = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    assert exact.middles().tolist() == scores.tolist()
    assert exact.tied.all()


@pytest.mark.parametrize("up", [True, False])
def test_the_classes_of_a_cell_are_ranked_apart_and_ties_stay(up: bool) -> None:
    truth, scores = np.array([0, 1, 1, 0, 1]), np.array([0.3, 0.31, 0.5, 0.5, 0.9])
    weights = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    table = ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=weights, kept=Grid(2))
    apart = table.apart(positives_above=up)
    first = [[1.0, 0.0], [0.0, 2.0]] if up else [[0.0, 1.0], [2.0, 0.0]]
    assert apart.counts[:, :2].tolist() == first
    assert apart.counts[:, 2:].tolist() == [[4.0, 0.0], [3.0, 5.0]]
    assert apart.squares is not None
    assert np.array_equal(apart.squares, apart.counts**2)
    assert not apart.inexact
    assert table.apart(positives_above=up) is apart


# -- pairs and rows --------------------------------------------------------------------------------


@given(ROWS)
def test_pairs_count_what_each_model_decided(rows: Rows) -> None:
    column = columns(rows)
    truth, a, b = column["truth"], column["decision"], column["cluster"] % 3
    pairs = PairCounts.of_rows(LABELS, truth, {"a": a, "b": b})
    assert pairs.total == len(rows)
    assert pairs.codes.tolist() == sorted(map(list, {*zip(truth, a, b, strict=True)}))
    assert pairs.confusion(0) == Confusion.of_rows(LABELS, truth, a)
    assert pairs.confusion(1) == Confusion.of_rows(LABELS, truth, b)
    assert pairs.of_models("b").confusion(0) == pairs.confusion(1)
    right = pairs.counts @ pairs.correct()
    assert right.tolist() == [int((truth == each).sum()) for each in (a, b)]
    assert pairs.of_label(1).total == int((truth == 1).sum())


@given(ROWS)
def test_a_sample_holds_each_row_once_in_one_order(rows: Rows) -> None:
    column = columns(rows)
    facts = {"cluster": column["cluster"], "clusters": [*"dcba"], "counts": column["count"]}

    def sample_of(order: Any) -> Sample:
        some = {n: c[order] if hasattr(c, "dtype") else c for n, c in facts.items()}
        scores = {"old": column["score"][order], "new": -column["score"][order]}
        return Sample.of_rows(LABELS, column["truth"][order], scores, **some)

    sample, turned = sample_of(np.arange(len(rows))), sample_of(np.arange(len(rows))[::-1])
    for name in ("truth", "scores", "cluster", "counts"):
        assert np.array_equal(getattr(sample, name), getattr(turned, name)), name
    assert int(sample.counts.sum()) == int(column["count"].sum())
    assert list(sample.clusters) == sorted(sample.clusters)
    assert sample.width == 1
    for model, sign in ((0, 1), (1, -1)):
        held = column["count"] > 0
        scores = sign * column["score"][held]
        counts = column["count"][held]
        expected = ScoreCounts.of_rows(LABELS, scores, column["truth"][held], counts=counts)
        assert same(sample.score_counts(model), expected)
    if sample.size:
        drawn = np.zeros(sample.size, np.int64)
        drawn[0] = 2
        assert sample.score_counts(0, drawn).totals()[int(sample.truth[0])] == 2
        assert sample.score_counts(0, drawn) is sample.score_counts(0, drawn)


def test_a_sample_of_class_probabilities_has_a_column_for_each_label() -> None:
    truth = np.array([0, 1, 2])
    table = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    weights = np.array([1.0, 2.0, 0.5])
    sample = Sample.of_rows(LABELS, truth, {"m": table}, weights=weights)
    assert (sample.width, sample.weighted) == (3, True)
    assert np.array_equal(sample.of_model(0), table)
    assert sample.amounts_squared.tolist() == [1.0, 4.0, 0.25]
    one = sample.one_versus_rest(2)
    assert (one.labels, one.truth.tolist()) == (("rest", "worm"), [0, 0, 1])
    assert one.scores[:, 0].tolist() == [0.1, 0.1, 0.4]
    assert [each.totals() for each in sample.class_counts(0)] == [[1.0, 2.0, 0.5]] * 3
    some = sample.of_rows_where(np.array([True, False, True]))
    assert some.counts.tolist() == [1.0, 0.5]
    assert some.squares is not None
    assert some.squares.tolist() == [1.0, 0.25]


# -- sums ------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 9)), min_size=1, max_size=20))
def test_moments_give_the_mean_and_its_sandwich_variance(rows: list[tuple[int, int]]) -> None:
    values, weights = (np.array(each, float) for each in zip(*rows, strict=True))
    moments = Moments.of_rows(values, weights, weights**2)
    total = sum(Fraction(w) for _, w in rows)
    mean = sum(Fraction(x * w) for x, w in rows) / total
    spread = sum(Fraction(w) ** 2 * (x - mean) ** 2 for x, w in rows) / total**2
    assert moments.mean == pytest.approx(float(mean), abs=1e-12)
    assert moments.variance_of_mean == pytest.approx(float(spread), rel=1e-9, abs=1e-12)


def test_values_that_are_all_alike_have_no_variance() -> None:
    ones = np.ones(7)
    assert Moments.of_rows(0.1 * ones, ones, ones).variance_of_mean == 0


def test_losses_of_two_classes_and_of_more() -> None:
    truth, share = np.array([1, 0, 1, 0]), np.array([0.8, 0.3, 0.0, 0.5])
    counts = np.array([1, 2, 3, 4])
    losses = LossSums.of_rows(truth, share, counts=counts)
    log = [-math.log(0.8), -math.log(0.7), -math.log(SMALLEST_PROBABILITY), -math.log(0.5)]
    assert losses.log_loss.mean == pytest.approx(np.average(log, weights=counts), rel=1e-12)
    brier = [0.2**2, 0.3**2, 1, 0.25]
    assert losses.brier.mean == pytest.approx(np.average(brier, weights=counts), rel=1e-12)
    assert (losses.rows, losses.clipped) == (10, 3)
    table = np.stack([1 - share, share], axis=1)
    assert LossSums.of_rows(truth, table, counts=counts) == losses
    weighted = LossSums.of_rows(truth, share, weights=counts / 4)
    assert weighted.log_loss.mean == pytest.approx(losses.log_loss.mean, rel=1e-12)
    assert weighted.log_loss.square_weight == pytest.approx((counts**2 / 16).sum())
