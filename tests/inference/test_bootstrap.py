import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.counts import ClusterCounts, Confusion, Sample, ScoreCounts
from assay.errors import MethodError
from assay.inference import BCa, Bootstrap, Quantity, bootstrap
from assay.inference.bootstrap import (
    BootstrapInterval,
    Slopes,
    cluster_interval,
    clustered_score_interval,
    interval,
    resampled,
    score_interval,
)
from assay.measures import CATALOGUE, find, rank

FOREST = Confusion(("normal", "attack"), ((7743, 167), (324, 6635)))
SMALL = Confusion(("no", "yes"), ((40, 9), (6, 25)))
METHODS = (Bootstrap, BCa)
COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]


def of(name: str, label: int = 1) -> Quantity:
    return Quantity(find(name).formula, label=label)


def auc(counted: ScoreCounts) -> float:
    return rank(counted).auc.value


def rows(size: int, share: float = 0.4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = (np.arange(size) < share * size).astype(np.uint8)
    return truth, np.round(truth * 0.4 + generator.random(size) * 0.8, 2)


# -- percentile ------------------------------------------------------------------------------------


def test_ends_are_the_25th_and_975th_of_a_thousand() -> None:
    generator = np.random.default_rng(42)
    share = np.array([40, 9, 6, 25]) / 80
    draws = generator.multinomial(80, share, size=1000)
    precision = np.sort(draws[:, 3] / (draws[:, 3] + draws[:, 1]))
    bounds = interval(of("precision"), SMALL, Bootstrap())
    assert (bounds.low, bounds.high) == (precision[24], precision[974])


@pytest.mark.parametrize(
    ("resamples", "level", "low", "high"),
    [
        (1000, 0.95, 25, 975),
        (1000, 0.9, 50, 950),
        (2000, 0.95, 50, 1950),
        (100, 0.9, 5, 95),
        (999, 0.95, 24, 975),
        (20, 0.99, 1, 20),
        (2, 0.5, 1, 2),
    ],
)
def test_ends_are_order_statistics(resamples, level, low, high) -> None:
    values = np.random.default_rng(1).permutation(np.arange(1.0, resamples + 1))
    bounds = Bootstrap(level, resamples).ends(values, 0.0, None)
    assert (bounds.low, bounds.high) == (low, high)


def test_order_statistics_of_an_auc_by_hand() -> None:
    truth, scores = rows(50)
    counted = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    generator = np.random.default_rng(42)
    shares = (counted.counts / counted.counts.sum()).ravel()
    values = []
    wins = np.tri(counted.size) - np.eye(counted.size) / 2
    for _ in range(1000):
        negatives, positives = generator.multinomial(50, shares).reshape(counted.counts.shape)
        values.append(positives @ wins @ negatives / (positives.sum() * negatives.sum()))
    values.sort()
    bounds = score_interval(counted, auc, Bootstrap())
    assert (bounds.low, bounds.high) == pytest.approx((values[24], values[974]), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_gives_the_same_interval_and_another_seed_another(method) -> None:
    truth, scores = rows(80)
    counted = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    for find_interval in (
        lambda m: interval(of("mcc"), SMALL, m),
        lambda m: score_interval(counted, auc, m),
    ):
        first, again, other = (
            find_interval(method(resamples=200, seed=seed)) for seed in (7, 7, 8)
        )
        assert first == again
        assert first != other


def test_all_measures_of_one_table_share_their_resamples() -> None:
    method = Bootstrap(resamples=50)
    assert resampled(SMALL, method) is resampled(SMALL, method)
    tables = resampled(SMALL, method)
    assert tables.shape == (50, 2, 2)
    assert (tables.sum(axis=(1, 2)) == 80).all()


def test_interval_of_a_large_table_is_near_the_normal_one() -> None:
    bounds = interval(of("recall"), FOREST, Bootstrap(resamples=4000))
    share = 6635 / 6959
    reach = 1.96 * math.sqrt(share * (1 - share) / 6959)
    assert (bounds.low, bounds.high) == pytest.approx((share - reach, share + reach), abs=4e-4)


# -- BCa -------------------------------------------------------------------------------------------


def row_statistic(name: str):
    measure = find(name)

    def statistic(truth, decision, axis=-1):
        cells = {
            "TP": (truth & decision).sum(axis),
            "FP": (~truth & decision).sum(axis),
            "FN": (truth & ~decision).sum(axis),
            "TN": (~truth & ~decision).sum(axis),
        }
        tables = np.stack(
            [
                np.stack([cells["TN"], cells["FP"]], axis=-1),
                np.stack([cells["FN"], cells["TP"]], axis=-1),
            ],
            axis=-2,
        ).astype(float)
        return Quantity(measure.formula, label=1).of_tables(tables)

    return statistic


@pytest.mark.parametrize("name", ["precision", "mcc", "f1", "specificity"])
@pytest.mark.parametrize(("ours", "theirs"), [(BCa, "BCa"), (Bootstrap, "percentile")])
def test_scipy_gives_nearly_the_same(name: str, ours, theirs: str) -> None:
    truth = np.repeat([False, False, True, True], [40, 9, 6, 25])
    decision = np.repeat([False, True, False, True], [40, 9, 6, 25])
    expected = stats.bootstrap(
        (truth, decision),
        row_statistic(name),
        paired=True,
        vectorized=True,
        method=theirs,
        n_resamples=4000,
        rng=np.random.default_rng(3),
    ).confidence_interval
    bounds = interval(of(name), SMALL, ours(resamples=4000))
    assert (bounds.low, bounds.high) == pytest.approx(tuple(expected), abs=0.02)


def test_acceleration_is_efrons() -> None:
    slopes = Slopes(np.array([0.5, 0.7, np.nan]), np.array([3.0, 2.0, 0.0]))
    each = np.array([0.5, 0.5, 0.5, 0.7, 0.7])
    off = each.mean() - each
    assert slopes.acceleration() == pytest.approx((off**3).sum() / (6 * (off**2).sum() ** 1.5))


def test_acceleration_of_rows_that_move_nothing_is_zero() -> None:
    assert Slopes(np.array([0.5, 0.5]), np.array([3.0, 2.0])).acceleration() == 0.0


@pytest.mark.parametrize("moves", [[np.nan], [0.5, 0.5], [1e-120, 0.0]])
def test_acceleration_that_cannot_be_told_is_zero(moves: list[float]) -> None:
    assert Slopes(np.array(moves), np.ones(len(moves))).acceleration() == 0.0


def test_row_without_which_nothing_is_defined_leaves_the_percentiles() -> None:
    bounds = interval(of("recall"), Confusion(("no", "yes"), ((0, 0), (0, 1))), BCa(resamples=20))
    assert (bounds.low, bounds.high) == (1.0, 1.0)


def test_correction_by_hand() -> None:
    values = np.random.default_rng(5).gamma(2, 1, 1000)
    slopes = Slopes(np.array([1.0, 1.2, 2.0]), np.array([5.0, 3.0, 1.0]))
    estimate = 2.0
    bias = stats.norm.ppf((values < estimate).mean())
    acceleration = slopes.acceleration()
    ranks = []
    for quantile in (0.025, 0.975):
        z = bias + stats.norm.ppf(quantile)
        ranks.append(1000 * stats.norm.cdf(bias + z / (1 - acceleration * z)))
    ordered = np.sort(values)
    bounds = BCa().ends(values, estimate, slopes)
    assert bounds.low == ordered[math.floor(ranks[0]) - 1]
    assert bounds.high == ordered[math.ceil(ranks[1]) - 1]


def test_without_bias_and_acceleration_it_is_the_percentile_interval() -> None:
    values = np.arange(1.0, 1001)
    still = Slopes(np.array([1.0, 1.0]), np.array([2.0, 2.0]))
    bounds = BCa().ends(values, 500.5, still)
    plain = Bootstrap().ends(values, 500.5, None)
    assert (bounds.low, bounds.high) == (plain.low, plain.high)


@pytest.mark.parametrize("estimate", [0.0, 2000.0])
def test_estimate_outside_of_all_resamples_falls_back_to_percentiles(estimate: float) -> None:
    values = np.arange(1.0, 1001)
    still = Slopes(np.array([1.0, 2.0]), np.array([2.0, 2.0]))
    bounds = BCa().ends(values, estimate, still)
    assert (bounds.low, bounds.high) == (25, 975)


def test_without_slopes_it_falls_back_to_percentiles() -> None:
    bounds = BCa().ends(np.arange(1.0, 1001), 500.5, None)
    assert (bounds.low, bounds.high) == (25, 975)


def test_bca_of_an_auc_leaves_out_one_row_at_a_time() -> None:
    truth, scores = rows(40)
    counted = ScoreCounts.of_rows(("no", "yes"), scores, truth)

    def statistic(labels, drawn):
        positives = drawn[labels == 1][:, None]
        negatives = drawn[labels == 0]
        return ((positives > negatives) + (positives == negatives) / 2).mean()

    expected = stats.bootstrap(
        (truth, scores),
        statistic,
        paired=True,
        vectorized=False,
        method="BCa",
        n_resamples=2000,
        rng=np.random.default_rng(3),
    ).confidence_interval
    bounds = score_interval(counted, auc, BCa(resamples=2000))
    assert (bounds.low, bounds.high) == pytest.approx(tuple(expected), abs=0.02)


def test_resamples_are_drawn_once_for_all_measures_and_are_the_same_anyhow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth, scores = rows(60)
    first, second = (ScoreCounts.of_rows(("no", "yes"), scores, truth) for _ in range(2))
    kept = [score_interval(first, auc, method(resamples=30)) for method in METHODS]
    assert list(first.draws) == [(42, 30)]
    monkeypatch.setattr(bootstrap, "_KEPT_DRAWS", 0)
    assert [score_interval(second, auc, method(resamples=30)) for method in METHODS] == kept
    assert not second.draws


@pytest.mark.parametrize("scores", [[0.9], [0.9, 0.2]])
def test_bca_of_a_row_or_two_warns_of_no_division(scores: list[float]) -> None:
    # A warning is an error here.
    truth = np.array([1, 0], np.uint8)[: len(scores)]
    table = ScoreCounts.of_rows(("no", "yes"), np.array(scores), truth)
    bounds = score_interval(table, auc, BCa())
    assert bounds.undefined == (1000 if len(scores) == 1 else 520)
    assert math.isnan(bounds.low) == (len(scores) == 1)
    decided = Confusion(("no", "yes"), ((len(scores) - 1, 0), (0, 1)))
    assert interval(of("recall"), decided, BCa()).low == 1


# -- undefined resamples ---------------------------------------------------------------------------


def test_three_positives_in_a_thousand_are_absent_from_a_twentieth_of_the_resamples() -> None:
    table = Confusion(("no", "yes"), ((990, 7), (1, 2)))
    bounds = interval(of("recall"), table, Bootstrap(resamples=10_000))
    expected = (1 - 3 / 1000) ** 1000
    assert bounds.drawn == 10_000
    assert bounds.undefined / bounds.drawn == pytest.approx(expected, abs=0.006)
    assert 0.045 < expected < 0.055


def test_undefined_resamples_are_counted_and_reported() -> None:
    table = Confusion(("no", "yes"), ((990, 7), (1, 2)))
    drawn = resampled(table, Bootstrap())
    undefined = int((drawn[:, 1].sum(axis=1) == 0).sum())
    assert (
        interval(of("recall"), table, Bootstrap()).note
        == f"undefined in {undefined} of 1000 resamples, which were left out"
    )
    assert 30 <= undefined <= 70


def test_undefined_values_are_left_out_of_the_order_statistics() -> None:
    values = np.concatenate([np.arange(1.0, 1001), np.full(50, np.nan)])
    for method in METHODS:
        bounds = method().ends(values, 500.0, None)
        assert (bounds.low, bounds.high) == (25, 975)
        assert (bounds.drawn, bounds.undefined) == (1050, 50)


def test_nothing_is_said_where_every_resample_could_be_used() -> None:
    assert BootstrapInterval(0.1, 0.2, 1000, 0).note is None


def test_resamples_that_all_agree_are_not_taken_as_sure() -> None:
    accuracy = interval(of("accuracy"), Confusion(("no", "yes"), ((9, 0), (0, 9))), Bootstrap())
    assert (accuracy.low, accuracy.high) == (1.0, 1.0)
    assert accuracy.note == "all resamples gave one value, which does not make it sure"
    both = BootstrapInterval(0.5, 0.5, 1000, 7).note
    assert both.startswith("undefined in 7 of 1000 resamples")
    assert both.endswith("which does not make it sure")


@pytest.mark.parametrize("method", METHODS)
def test_no_usable_resample_gives_no_interval(method) -> None:
    bounds = method().ends(np.full(10, np.nan), 0.5, None)
    assert math.isnan(bounds.low)
    assert math.isnan(bounds.high)
    assert bounds.undefined == 10


def test_resamples_of_an_auc_without_positives_are_undefined() -> None:
    truth = np.array([1, 0, 0, 0, 0, 0], np.uint8)
    counted = ScoreCounts.of_rows(("no", "yes"), np.linspace(1, 0, 6), truth)
    bounds = score_interval(counted, auc, Bootstrap(resamples=500))
    assert bounds.undefined / 500 == pytest.approx((5 / 6) ** 6, abs=0.06)


# -- laws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("measure", COUNTED, ids=lambda m: m.name)
@settings(max_examples=10)
@given(cells=st.lists(st.integers(0, 25), min_size=4, max_size=4))
def test_ends_lie_in_the_range_of_the_measure(method, measure, cells) -> None:
    table = Confusion(("no", "yes"), (tuple(cells[:2]), tuple(cells[2:])))
    quantity = Quantity(measure.formula, label=1)
    assume(not math.isnan(quantity.value(table)))
    bounds = interval(quantity, table, method(resamples=60))
    lowest, highest = measure.range
    assert lowest - 1e-12 <= bounds.low <= bounds.high <= highest + 1e-12


@pytest.mark.parametrize("method", METHODS)
def test_perfect_decisions_have_no_width(method) -> None:
    bounds = interval(of("accuracy"), Confusion(("no", "yes"), ((9, 0), (0, 9))), method())
    assert (bounds.low, bounds.high) == (1.0, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_many_classes_are_resampled_whole(method) -> None:
    table = Confusion(("a", "b", "c"), ((45, 3, 2), (4, 38, 3), (1, 2, 52)))
    kappa = Quantity(find("kappa").classes)
    bounds = interval(kappa, table, method(resamples=4000))
    assert (bounds.low, bounds.high) == pytest.approx((0.775, 0.915), abs=0.02)


# -- clusters --------------------------------------------------------------------------------------


def clusters(cluster, truth, decision) -> ClusterCounts:
    names = [f"host{i:03}" for i in range(int(max(cluster)) + 1)]
    return ClusterCounts.of_rows(("no", "yes"), truth, decision, np.asarray(cluster), names)


@pytest.mark.parametrize("method", METHODS)
def test_clusters_of_one_row_agree_with_plain_rows(method) -> None:
    truth, scores = rows(300)
    decision = (scores > 0.6).astype(np.uint8)
    counted = clusters(np.arange(300), truth, decision)
    alone = cluster_interval(of("mcc"), counted, method(resamples=4000))
    plain = interval(of("mcc"), counted.confusion(), method(resamples=4000))
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=0.02)


@pytest.mark.parametrize("method", METHODS)
def test_repeating_each_row_within_its_cluster_changes_nothing(method) -> None:
    truth, scores = rows(100)
    decision = (scores > 0.6).astype(np.uint8)
    once = cluster_interval(of("mcc"), clusters(np.arange(100), truth, decision), method())
    tenfold = clusters(*(np.repeat(c, 10) for c in (np.arange(100), truth, decision)))
    bounds = cluster_interval(of("mcc"), tenfold, method())
    assert (bounds.low, bounds.high) == pytest.approx((once.low, once.high), abs=1e-12)


def test_cluster_resamples_by_hand() -> None:
    truth, scores = rows(60)
    decision = (scores > 0.6).astype(np.uint8)
    counted = clusters(np.arange(60) % 12, truth, decision)
    draws = np.random.default_rng(42).multinomial(12, np.full(12, 1 / 12), size=1000)
    tables = (draws[:, :, None, None] * counted.cells).sum(axis=1).astype(float)
    values = np.sort(tables[:, 1, 1] / tables[:, 1].sum(axis=1))
    bounds = cluster_interval(of("recall"), counted, Bootstrap())
    assert (bounds.low, bounds.high) == pytest.approx((values[24], values[974]), abs=1e-12)


def test_many_clusters_are_drawn_in_blocks_of_the_same_draws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth, scores = rows(60)
    counts = clusters(np.arange(60) % 12, truth, (scores > 0.6).astype(np.uint8))
    at_once = cluster_interval(of("recall"), counts, BCa(resamples=50))
    monkeypatch.setattr(bootstrap, "_KEPT_DRAWS", 100)
    assert cluster_interval(of("recall"), counts, BCa(resamples=50)) == at_once


def sample(cluster, truth, scores) -> Sample:
    names = [f"host{i:03}" for i in range(int(max(cluster)) + 1)]
    return Sample.of_rows(
        ("no", "yes"), truth, {"model": scores}, cluster=np.asarray(cluster), clusters=names
    )


@pytest.mark.parametrize("method", METHODS)
def test_scores_in_clusters_of_one_row_agree_with_plain_rows(method) -> None:
    truth, scores = rows(120)
    chosen = method(resamples=1000)
    alone = clustered_score_interval(sample(np.arange(120), truth, scores), auc, chosen)
    counted = ScoreCounts.of_rows(("no", "yes"), scores, truth)
    plain = score_interval(counted, auc, chosen)
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), abs=0.02)


def test_scores_in_clusters_of_alike_rows_have_a_wider_interval() -> None:
    truth, scores = rows(120)
    order = np.lexsort((scores, truth))
    cluster = np.empty(120, int)
    cluster[order] = np.arange(120) // 10
    method = Bootstrap(resamples=300)
    alike = clustered_score_interval(sample(cluster, truth, scores), auc, method)
    mixed = clustered_score_interval(sample(np.arange(120) % 12, truth, scores), auc, method)
    assert alike.high - alike.low > mixed.high - mixed.low


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_weighted_rows_are_refused(method) -> None:
    table = Confusion(("no", "yes"), ((4.5, 1.0), (2.0, 3.0)), ((5.0, 1.0), (2.0, 3.0)))
    with pytest.raises(MethodError, match=r"sampling weights can't be resampled.*delta"):
        interval(of("recall"), table, method())
    weighted = ScoreCounts.of_rows(
        ("no", "yes"), np.array([0.1, 0.9]), np.array([0, 1]), weights=np.array([1.5, 2.0])
    )
    with pytest.raises(MethodError, match="sampling weights can't be resampled"):
        score_interval(weighted, auc, method())


def test_table_of_more_rows_than_can_be_drawn_is_refused() -> None:
    table = Confusion(("no", "yes"), ((1 << 62, 1), (2, 3)))
    with pytest.raises(MethodError, match=r"too large to resample; use the delta method"):
        interval(of("recall"), table, Bootstrap())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("resamples", [1, 0, -5])
def test_one_resample_is_not_enough(method, resamples: int) -> None:
    with pytest.raises(MethodError, match=f"at least 2 resamples; found {resamples}"):
        method(resamples=resamples)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("level", [0, 1, 95])
def test_level_is_checked(method, level: float) -> None:
    with pytest.raises(MethodError, match="level"):
        method(level)


def test_acceleration_of_many_scores_leaves_out_few_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance = np.random.default_rng(7)
    truth = (chance.random(2_000) < 0.02).astype(np.intp)
    scores = np.where(truth, chance.beta(4, 2, 2_000), chance.beta(2, 4, 2_000))
    counted = ScoreCounts.of_rows(("normal", "attack"), scores, truth)
    calls = []

    def average_precision(some: ScoreCounts) -> float:
        calls.append(1)
        negatives, positives = np.cumsum(some.counts[:, ::-1].astype(np.float64), axis=1)
        gained = some.counts[1, ::-1] * positives / (positives + negatives)
        return float(gained.sum() / positives[-1])

    few = bootstrap._score_slopes(counted, average_precision)
    assert len(calls) < 300
    assert few.counts.sum() == pytest.approx(2_000)
    monkeypatch.setattr(bootstrap, "_ENDS", 2_000)
    every = bootstrap._score_slopes(counted, average_precision)
    assert len(calls) > 2_000
    assert few.acceleration() == pytest.approx(every.acceleration(), rel=0.01)
