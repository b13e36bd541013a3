"""Intervals with unseen rows: exact examples, and what must hold of all of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.counts import ClusterCounts, Confusion, Sample, ScoreCounts
from assay.formula import of_classes
from assay.inference import ClopperPearson, Estimate, Quantity, Wilson, estimate
from assay.inference.delta import ClusterSpread
from assay.inference.loss_intervals import loss_interval
from assay.inference.score_intervals import clustered, ranked_interval
from assay.inference.significance import normal, student
from assay.inference.unseen import (
    UNSEEN_ROWS,
    design_effect,
    kurtosis_df,
    outward,
    seen_ends,
    share_in_clusters,
    with_unseen,
    without_idle,
)
from assay.measures import MeanLoss, Ranked, find, rank

LABELS = ("normal", "attack")
K = normal(0.95) ** 2

cells = st.integers(0, 60)
tables = st.tuples(cells, cells, cells, cells)


def binary(tn: float, fp: float, fn: float, tp: float) -> Confusion:
    return Confusion(LABELS, ((tn, fp), (fn, tp)))


def of(name: str, table: Confusion, clusters: ClusterCounts | None = None) -> Estimate:
    name, _, average = name.partition(".")
    measure = find(name)
    formula = of_classes(measure.of_counts, average) if average else measure.of_counts
    quantity = Quantity(formula, None if average else 1)
    return estimate(quantity, table, measure.range, clusters=clusters, default=measure.interval)


# -- by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        # Equal moves of n units have n degrees of freedom or more; here n - 1 is the most.
        ([1.0] * 10, 9.0),
        # One unit that has it all: 2 / (1 - 1/10).
        ([1.0] + [0.0] * 9, 2 / (1 - 0.1)),
        ([3.0, 4.0, 0.0, 0.0], 2 / (337 / 625 - 0.25)),
    ],
)
def test_few_units_that_carry_the_spread_leave_few_degrees(
    moves: list[float], expected: float
) -> None:
    squares = sum(move**2 for move in moves)
    fourths = sum(move**4 for move in moves)
    assert kurtosis_df(squares, fourths, len(moves)) == pytest.approx(min(expected, len(moves) - 1))


def test_no_spread_has_one_degree_of_freedom() -> None:
    assert kurtosis_df(0.0, 0.0, 10) == 1.0
    assert kurtosis_df(1.0, 1.0, 1) == 1.0


@pytest.mark.parametrize(
    ("between", "by_rows", "expected"), [(0.4, 0.1, 4), (0.9, 0.1, 5), (0.05, 0.1, 1), (0, 0, 5)]
)
def test_a_design_effect_lies_between_a_row_and_a_cluster(
    between: float, by_rows: float, expected: float
) -> None:
    assert design_effect(between, by_rows, 5) == pytest.approx(expected)


def test_distances_add_as_squares_and_stay_in_the_range() -> None:
    low, high = with_unseen(0.6, (0.57, 0.62), [(0.56, 0.61), (0.6, math.nan)], (0.0, 1.0))
    assert low == pytest.approx(0.6 - 0.05)
    assert high == pytest.approx(0.6 + math.hypot(0.02, 0.01))
    assert with_unseen(0.9, (0.5, 0.99), [(0.1, 1.0)], (0.0, 1.0)) == (
        pytest.approx(0.9 - math.hypot(0.4, 0.8)),
        1.0,
    )


def test_distances_of_a_ratio_are_on_the_log_scale() -> None:
    low, high = with_unseen(10.0, (5.0, 20.0), [(10 / 3, 10.0)], (0.0, math.inf))
    assert low == pytest.approx(10 * math.exp(-math.hypot(math.log(2), math.log(3))))
    assert high == pytest.approx(20.0)
    mirrored = with_unseen(-9.0, (-19.0, -4.0), [(1 - 10 / 3, -9.0)], (-math.inf, 1.0))
    assert mirrored == (pytest.approx(1 - high), pytest.approx(1 - low))


def test_a_ratio_of_nothing_and_one_without_end_have_one_end() -> None:
    unbounded = (0.0, math.inf)
    assert with_unseen(0.0, (0.0, 0.0), [(0.3, 0.0), (0.4, 0.0)], unbounded) == (0.0, 0.5)
    low, high = with_unseen(math.inf, (math.inf, math.inf), [(10.0, math.inf)], unbounded)
    assert (low, high) == (pytest.approx(10.0), math.inf)


def test_ends_nearer_than_a_thousandth_of_a_row_are_at_the_bound() -> None:
    assert outward((0.0009, 0.9991), (0.0, 1.0), 1) == (0.0, 1.0)
    assert outward((0.0011, 0.9989), (0.0, 1.0), 1) == (0.0011, 0.9989)
    assert outward((0.0009, 0.9991), (0.0, 1.0), 2) == (0.0009, 0.9991)


def test_a_spread_that_is_rounding_beside_the_range_is_none() -> None:
    assert seen_ends(5.0, ClusterSpread(1e-24, 9), (0.0, 10.0), 0.95, 100) == (5.0, 5.0)
    assert seen_ends(5.0, ClusterSpread(1e-22, 9), (0.0, 10.0), 0.95, 100) != (5.0, 5.0)


def test_mcc_by_hand() -> None:
    tn, fp, fn, tp = 90, 10, 5, 15

    def mcc(tn: float, fp: float, fn: float, tp: float) -> float:
        below = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return (tp * tn - fp * fn) / math.sqrt(below)

    value = mcc(tn, fp, fn, tp)
    seen = 0.0
    for at, count in enumerate((tn, fp, fn, tp)):
        step = [1e-4 * (i == at) for i in range(4)]
        up = mcc(*(n + s for n, s in zip((tn, fp, fn, tp), step, strict=True)))
        down = mcc(*(n - s for n, s in zip((tn, fp, fn, tp), step, strict=True)))
        seen += count * ((up - down) / 2e-4) ** 2
    reach = normal(0.95) * math.sqrt(seen) / (1 - value**2)
    ends = math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach)
    # K missed attacks, K found ones; K false alarms, K harmless rows left alone.
    attacks = mcc(tn, fp, fn + K, tp) - value, mcc(tn, fp, fn, tp + K) - value
    harmless = mcc(tn, fp + K, fn, tp) - value, mcc(tn + K, fp, fn, tp) - value
    low = value - math.hypot(value - ends[0], attacks[0], harmless[0])
    high = value + math.hypot(ends[1] - value, attacks[1], harmless[1])
    found = of("mcc", binary(tn, fp, fn, tp))
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-6), pytest.approx(high, abs=1e-6))
    assert found.method == UNSEEN_ROWS


def test_no_error_seen_is_wilsons_end() -> None:
    """K unseen misses among n + K rows: n / (n + K)."""
    weights = Confusion(LABELS, ((10.0, 2.0), (0.0, 30.0)), ((10.0, 2.0), (0.0, 30.0)))
    recall = of("recall", weights)
    assert recall.low == pytest.approx(Wilson().ends(30, 30)[0])
    assert recall.high == 1


def test_weights_of_one_have_students_t_by_kurtosis() -> None:
    table = Confusion(LABELS, ((20.0, 5.0), (4.0, 16.0)), ((20.0, 5.0), (4.0, 16.0)))
    recall = of("recall", table)
    p, n = 0.8, 20
    moves = [(1 - p) / n] * 16 + [-p / n] * 4
    df = kurtosis_df(sum(m**2 for m in moves), sum(m**4 for m in moves), 45)
    reach = student(0.95, df) * math.sqrt(p * (1 - p) / n) / (p * (1 - p))
    below = 1 / (1 + math.exp(reach) * (1 - p) / p)
    assert recall.low == pytest.approx(p - math.hypot(p - below, K / (n + K) * p))


# -- laws ------------------------------------------------------------------------------------------


@given(tables)
def test_macro_recall_of_two_classes_is_balanced_accuracy(
    counts: tuple[int, int, int, int],
) -> None:
    table = binary(*counts)
    balanced, macro = of("balanced_accuracy", table), of("recall.macro", table)
    for field in ("low", "high"):
        one, other = getattr(balanced, field), getattr(macro, field)
        assert (math.isnan(one) and math.isnan(other)) or one == pytest.approx(other, abs=1e-12)
    assert balanced.method == macro.method
    assert balanced.note == macro.note


def test_one_perfect_class_leaves_macro_recall_unsure() -> None:
    low, high = (getattr(of("recall.macro", binary(982, 2, 0, 60)), end) for end in ("low", "high"))
    assert low == pytest.approx(0.969, abs=5e-4)
    assert 1 - 1e-3 < high < 1 - 1 / (1000 * 1044)


EVERY = ("accuracy", "precision", "recall", "f1", "mcc", "kappa", "g_mean", "recall.macro", "f2")


@given(tables, st.sampled_from(EVERY), st.sampled_from(["rows", "weights", "clusters"]))
def test_no_interval_is_narrower_than_its_rows_can_tell(
    counts: tuple[int, int, int, int], name: str, kind: str
) -> None:
    table, clusters = binary(*counts), None
    if kind == "weights":
        sums, squares = np.array(table.cells) * 1.5, np.array(table.cells) * 2.25
        table = Confusion(
            LABELS, tuple(map(tuple, sums.tolist())), tuple(map(tuple, squares.tolist()))
        )
    if kind == "clusters":
        rows = np.repeat(np.arange(4), counts)
        clusters = ClusterCounts.of_rows(
            LABELS, rows // 2, rows % 2, np.arange(len(rows)) % 7, tuple("abcdefg")
        )
    found = of(name, table, clusters)
    if math.isnan(found):
        return
    if math.isnan(found.low):
        assert found.note.startswith("no interval: too few to say")
        return
    assert found.low < found.high
    least = 0.999 / (1000 * max(sum(counts), 1))
    bottom, top = find(name.partition(".")[0]).range
    for end in (found.low, found.high):
        assert end in (bottom, top) or bottom + least < end < top - least


@given(
    st.lists(tables.filter(any), min_size=2, max_size=12),
    st.sampled_from(EVERY),
    st.integers(2, 5),
)
def test_clusters_of_equal_rows_count_once(
    drawn: list[tuple[int, int, int, int]], name: str, times: int
) -> None:
    """Repeating the one row of each cluster tells nothing new."""
    rows = [int(np.argmax(each)) for each in drawn]
    names = tuple(map(str, range(len(rows))))
    found = []
    for repeated in (1, times):
        cell = np.repeat(rows, repeated)
        cluster = np.repeat(np.arange(len(rows)), repeated)
        clusters = ClusterCounts.of_rows(LABELS, cell // 2, cell % 2, cluster, names)
        found.append(of(name, clusters.confusion(), clusters))
    once, often = found
    if math.isnan(once) or math.isnan(once.low):
        assert math.isnan(often.low)
    else:
        n = len(rows)
        assert often.low == pytest.approx(once.low, abs=2e-3 / n)
        assert often.high == pytest.approx(once.high, abs=2e-3 / n)


def test_clusters_of_five_equal_rows_widen_by_the_root_of_five() -> None:
    hosts = np.array([[4, 1], [1, 4]] * 130).reshape(260, 2)
    decided = np.repeat(np.arange(260) % 10 < 8, 5).astype(np.int64)
    truth = np.ones(1300, np.int64)
    names = tuple(map(str, range(len(hosts))))
    clusters = ClusterCounts.of_rows(LABELS, truth, decided, np.repeat(np.arange(260), 5), names)
    table = clusters.confusion()
    alone, together = of("recall", table), of("recall", table, clusters)
    widths = [each.high - each.low for each in (together, alone)]
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(5), rel=0.03)


def test_clusters_that_agree_by_chance_are_no_surer_than_rows() -> None:
    cells = np.array([[[18, 2], [1, 4]]] * 12)
    clusters = ClusterCounts(LABELS, tuple("abcdefghijkl"), cells)
    table = clusters.confusion()
    for name in ("recall", "precision", "f1", "accuracy"):
        assert of(name, table, clusters).high - of(name, table, clusters).low >= 0.99 * (
            of(name, table).high - of(name, table).low
        )


@pytest.mark.parametrize("name", ["mcc", "balanced_accuracy", "g_mean", "informedness"])
def test_a_class_of_one_row_is_too_few_to_say(name: str) -> None:
    found = of(name, binary(90, 3, 0, 1))
    assert math.isnan(found.low)
    assert found.note == "no interval: too few to say"


def test_a_measure_that_can_do_without_a_class_does_not_need_two_rows_of_it() -> None:
    kappa = of("kappa", binary(90, 3, 0, 1))
    assert kappa.low < 0 < kappa.high


def test_a_share_of_one_row_still_has_wilsons_interval() -> None:
    recall = of("recall", binary(90, 3, 0, 1))
    assert (recall.low, recall.method) == (pytest.approx(Wilson().ends(1, 1)[0]), "wilson")


def test_one_cluster_of_a_class_is_too_few_to_say() -> None:
    cells = np.array([[[5, 1], [0, 0]], [[6, 0], [0, 0]], [[4, 0], [1, 3]]])
    clusters = ClusterCounts(LABELS, tuple("abc"), cells)
    recall = of("recall", clusters.confusion(), clusters)
    assert math.isnan(recall.low)
    assert recall.note.startswith("no interval: too few to say")


# -- scores ----------------------------------------------------------------------------------------


def scored(name: str, scores: list[float], truth: list[int]) -> tuple[float, float, float, str]:
    table = ScoreCounts.of_rows(LABELS, np.array(scores, float), np.array(truth))
    declared, ranking = find(name).of_scores, rank(table)
    assert isinstance(declared, Ranked)
    smooth, bounds = declared.of(ranking), declared.between or find(name).range
    sizes = float(truth.count(1)), float(truth.count(0))
    ends, method = ranked_interval(declared, smooth, sizes, bounds, 0.95, ranking)
    return smooth.value, *ends, method


RANKED = ("average_precision", "partial_auc", "h_measure", "ks", "equal_error_rate", "roc_auc")


@pytest.mark.parametrize("name", RANKED)
def test_a_perfect_ranking_is_not_therefore_sure(name: str) -> None:
    value, low, high, _ = scored(name, list(range(40)), [0] * 30 + [1] * 10)
    assert value in (0.0, 1.0)
    assert 0.05 < high - low < 0.6
    assert low <= value <= high


@pytest.mark.parametrize("name", [*RANKED, "top_decile_lift"])
def test_a_ranking_of_one_positive_is_too_few_to_say(name: str) -> None:
    _, low, high, method = scored(name, list(range(40)), [0] * 30 + [1] + [0] * 9)
    assert math.isnan(low)
    assert math.isnan(high)
    assert not method


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=4, max_size=40),
    st.sampled_from([*RANKED, "top_decile_lift"]),
)
def test_intervals_of_rankings_hold_the_value_and_have_a_width(
    rows: list[tuple[int, bool]], name: str
) -> None:
    truth = [int(positive) for _, positive in rows]
    if min(truth.count(0), truth.count(1)) < 2:
        return
    value, low, high, _ = scored(name, [float(score) for score, _ in rows], truth)
    assert min(low, value) < max(high, value)
    assert find(name).range[0] <= low
    assert high <= find(name).range[1]


def test_scores_that_only_negatives_have_can_be_put_together() -> None:
    rng = np.random.default_rng(1)
    scores, truth = rng.normal(size=200), (np.arange(200) < 10).astype(int)
    table = ScoreCounts.of_rows(LABELS, scores + truth, truth)
    small = without_idle(table)
    assert small.size <= 21
    for name in ("average_precision", "partial_auc", "roc_auc", "h_measure"):
        declared = find(name).of_scores
        assert isinstance(declared, Ranked)
        assert declared.influence(small).value == pytest.approx(declared.influence(table).value)


def test_average_precision_by_hand() -> None:
    """Four rows, from the highest score: attack, harmless, attack, harmless."""
    value, low, high, method = scored("average_precision", [4, 3, 2, 1], [1, 0, 1, 0])
    assert value == pytest.approx((1 + 2 / 3) / 2)
    assert method == UNSEEN_ROWS
    assert low < (1 + 2 / 3) / 2 - K / (2 + K) / 2
    assert high == 1


# -- losses ----------------------------------------------------------------------------------------


def lost(name: str, said: list[float], truth: list[int]) -> tuple[float, float]:
    declared = find(name).of_scores
    assert isinstance(declared, MeanLoss)
    table = ScoreCounts.of_rows(LABELS, np.array(said, float), np.array(truth))
    return loss_interval(declared, table, 0.95)


def test_all_wrong_decisions_may_meet_a_right_one() -> None:
    """Brier [1 - u, 1] with u = K / (n + K)."""
    low, high = lost("brier", [0.0, 1.0] * 10, [1, 0] * 10)
    assert (low, high) == (pytest.approx(1 - K / (20 + K)), 1.0)


def test_constant_forecasts_of_one_half_have_no_interval() -> None:
    assert all(map(math.isnan, lost("brier", [0.5] * 10, [0, 1] * 5)))
    assert all(map(math.isnan, lost("log_loss", [0.5] * 10, [0, 1] * 5)))


def test_one_forecast_is_too_few_to_say() -> None:
    assert all(map(math.isnan, lost("brier", [0.3], [0])))


@pytest.mark.parametrize("rows", range(10, 275, 12))
def test_the_lift_of_tied_scores_has_a_width_beyond_rounding(rows: int) -> None:
    truth = [int(i % 5 == 0) for i in range(rows)]
    _, low, high, _ = scored("top_decile_lift", [0.5] * rows, truth)
    assert high - low > 0.01


def test_a_loss_in_clusters_counts_clusters() -> None:
    said = np.repeat([0.9, 0.2, 0.7, 0.4, 0.8, 0.1], 4)
    truth = np.repeat([1, 0, 1, 0, 0, 0], 4).astype(np.uint8)
    names = tuple("abcdef")
    declared = find("brier").of_scores
    assert isinstance(declared, MeanLoss)
    whole = Sample.of_rows(
        LABELS, truth, {"score": said}, cluster=np.repeat(np.arange(6), 4), clusters=names
    )
    once = Sample.of_rows(
        LABELS, truth[::4], {"score": said[::4]}, cluster=np.arange(6), clusters=names
    )
    value = float(np.square(said - truth).mean())
    assert clustered(whole, declared, value, (0.0, 1.0), 0.95) == pytest.approx(
        clustered(once, declared, value, (0.0, 1.0), 0.95)
    )


# -- shares of families in clusters ----------------------------------------------------------------


def test_a_family_in_clusters_that_agree_has_one_row_a_cluster() -> None:
    assert share_in_clusters([5] * 12, [5] * 12, ClopperPearson()) == pytest.approx(
        ClopperPearson().ends(12, 12)
    )


def test_a_family_in_clusters_of_equal_rows_counts_clusters() -> None:
    hits = np.arange(60) % 5 > 0
    once = share_in_clusters(hits, np.ones(60), ClopperPearson())
    assert share_in_clusters(4 * hits, np.full(60, 4), ClopperPearson()) == pytest.approx(
        once, abs=3e-3
    )
    assert once[0] <= ClopperPearson().ends(48, 60)[0]


def test_a_family_in_one_cluster_is_too_few_to_say() -> None:
    assert all(map(math.isnan, share_in_clusters([3, 0], [5, 0], ClopperPearson())))
