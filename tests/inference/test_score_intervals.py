"""Intervals of AUC, average precision, partial AUC, log loss and Brier score."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from assay.counts import LossSums, Sample, ScoreCounts
from assay.errors import MethodError
from assay.inference import ClopperPearson, DeLong, Estimate, Newcombe
from assay.inference.score_intervals import (
    auc_interval,
    clustered,
    mean_interval,
    ranked_interval,
    rate_interval,
)
from assay.measures import MeanLoss, Smooth, find, rank
from assay.measures.roc_points import Points

Z = float(stats.norm.ppf(0.975))
WORST_LOG_LOSS = 52 * math.log(2)
SCORED = ("roc_auc", "partial_auc", "average_precision", "log_loss", "brier")


def counted(scores, truth) -> ScoreCounts:
    return ScoreCounts.of_rows(
        ("no", "yes"), np.asarray(scores, float), np.asarray(truth, np.uint8)
    )


def overlapping(positives: int, negatives: int, shift: float, seed: int = 0):
    generator = np.random.default_rng(seed)
    scores = np.concatenate(
        [generator.normal(shift, 1, positives), generator.normal(0, 1, negatives)]
    )
    return special.expit(scores), np.repeat([1, 0], [positives, negatives])


def estimate(name, truth, scores, *, method=None, level=0.95, clusters=None, **options) -> Estimate:
    """A measure of scores; ``options`` are counts, weights, or limits of the partial AUC."""
    truth, scores = np.asarray(truth, np.uint8), np.asarray(scores, float)
    limits = {key: options.pop(key) for key in ("max_fpr", "corrected") if key in options}
    declared = find(name).of_scores
    table = ScoreCounts.of_rows(("no", "yes"), scores, truth, **options)
    if isinstance(declared, MeanLoss):
        moments = declared.sums(LossSums.of_rows(truth, scores, **options))
        value, bounds, how = moments.mean, (0.0, math.inf), "delta"
        ends, most = mean_interval(moments, declared.largest, level), declared.largest
    else:
        if limits:
            declared = declared.up_to(**{"max_fpr": 0.1, **limits})
        smooth, (negatives, positives) = declared.of(rank(table)), table.effective()
        value, bounds = smooth.value, declared.between or find(name).range
        sizes, most = (positives, negatives), bounds[1]
        ends, how = ranked_interval(declared, smooth, sizes, bounds, level, rank(table))
        if name == "roc_auc" and method is not None:
            ends, how = method(level)(smooth, *sizes), method.name
    if clusters is not None:
        names, place = np.unique(np.asarray(clusters), return_inverse=True)
        sample = Sample.of_rows(
            ("no", "yes"), truth, {"m": scores}, cluster=place, clusters=[f"{n:03}" for n in names]
        )
        low, high = clustered(sample, declared, value, bounds, level)
        ends, how = (low, float(np.minimum(high, most))), "cluster delta"
    low, high = min(ends[0], value), max(ends[1], value)
    return Estimate(value, low, high, method=how, n=table.rows, level=level)


def delong_variance(scores, truth) -> tuple[float, float]:
    """The AUC and its variance from all pairs, as DeLong, DeLong and Clarke-Pearson define it."""
    scores, truth = np.asarray(scores, float), np.asarray(truth)
    pos, neg = scores[truth == 1], scores[truth == 0]
    wins = (pos[:, None] > neg) + (pos[:, None] == neg) / 2
    spread = wins.mean(axis=1).var(ddof=1) / len(pos) + wins.mean(axis=0).var(ddof=1) / len(neg)
    return float(wins.mean()), float(spread)


def newcombe_variance(theta: float, positives: int, negatives: int) -> float:
    half = (positives + negatives) / 2
    factor = 2 * half - 1 - 3 * (half - 1) / ((2 - theta) * (1 + theta))
    return theta * (1 - theta) * factor / (positives * negatives)


# -- AUC: which interval ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "smaller", "name"),
    [
        (0.95, 100, "delong"),
        (0.951, 100, "newcombe"),
        (0.05, 100, "delong"),
        (0.049, 100, "newcombe"),
        (0.5, 10, "delong"),
        (0.5, 9, "newcombe"),
        (1.0, 1000, "clopper-pearson"),
        (0.0, 1000, "clopper-pearson"),
    ],
)
def test_delong_needs_five_expected_errors_on_the_smaller_side(value, smaller, name) -> None:
    for sides in ((smaller, 5000), (5000, smaller)):
        ends, method = auc_interval(Smooth(value, 1e-4), *sides, 0.95)
        assert method == name
        assert ends[0] <= value <= ends[1]


def test_newcombe_takes_over_where_delong_has_no_variance() -> None:
    ends, name = auc_interval(Smooth(0.5, math.nan), 1, 100, 0.95)
    assert name == "newcombe"
    assert 0 < ends[0] < 0.5 < ends[1] < 1
    assert DeLong()(Smooth(0.5, math.nan), 1, 100) == ends


# -- AUC: how far ----------------------------------------------------------------------------------


def test_delong_is_on_the_logit_scale() -> None:
    scores, truth = overlapping(40, 60, 1.0)
    value, spread = delong_variance(scores, truth)
    reach = Z * math.sqrt(spread) / (value * (1 - value))
    expected = (
        special.expit(special.logit(value) - reach),
        special.expit(special.logit(value) + reach),
    )
    roc_auc = estimate("roc_auc", truth, scores)
    assert roc_auc.method == "delong"
    assert roc_auc == pytest.approx(value, abs=1e-15)
    assert (roc_auc.low, roc_auc.high) == pytest.approx(expected, rel=1e-10)


def test_newcombe_ends_are_z_errors_of_their_own_away() -> None:
    scores, truth = overlapping(20, 30, 3.0)
    roc_auc = estimate("roc_auc", truth, scores, method=Newcombe)
    for end in (roc_auc.low, roc_auc.high):
        gap = (end - roc_auc) ** 2
        assert gap == pytest.approx(Z**2 * newcombe_variance(end, 20, 30), rel=1e-9)


def test_few_errors_have_newcombe_with_the_larger_of_both_variances() -> None:
    hidden = np.array([*np.linspace(0.6, 0.9, 19), 0.0, *np.linspace(0.1, 0.5, 30)])
    for scores, wider in ((overlapping(20, 30, 3.0)[0], False), (hidden, True)):
        truth = np.repeat([1, 0], [20, 30])
        roc_auc = estimate("roc_auc", truth, scores)
        value, spread = delong_variance(scores, truth)
        ratio = spread / newcombe_variance(value, 20, 30)
        assert (ratio > 1) == wider
        assert roc_auc.method == "newcombe"
        for end in (roc_auc.low, roc_auc.high):
            gap = (end - roc_auc) ** 2
            expected = Z**2 * max(ratio, 1) * newcombe_variance(end, 20, 30)
            assert gap == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("positives", "negatives"), [(10, 40), (40, 10), (25, 25)])
def test_perfect_ranking_ends_where_clopper_and_pearson_do(positives, negatives) -> None:
    smaller = min(positives, negatives)
    low, high = (float(end) for end in ClopperPearson()(smaller, smaller))
    perfect = Smooth(1.0, 0.0)
    assert auc_interval(perfect, positives, negatives, 0.95)[0] == (low, 1.0)
    assert DeLong()(perfect, positives, negatives) == (low, high)
    inverted = Smooth(0.0, 0.0)
    assert auc_interval(inverted, positives, negatives, 0.95)[0] == pytest.approx((0.0, 1 - low))


@given(st.floats(0, 1), st.integers(1, 500), st.integers(1, 500), st.floats(0.5, 0.999))
def test_newcombe_holds_the_value_and_stays_in_the_unit_interval(auc, m, n, level) -> None:
    low, high = Newcombe(level)(Smooth(auc, math.nan), m, n)
    assert 0 <= low <= auc <= high <= 1


@given(st.floats(0.001, 0.999), st.integers(1, 500), st.integers(1, 500))
def test_newcombe_of_the_turned_ranking_is_the_mirror(auc, m, n) -> None:
    low, high = Newcombe()(Smooth(auc, math.nan), m, n)
    mirrored = Newcombe()(Smooth(1 - auc, math.nan), m, n)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=12),
    st.lists(st.integers(0, 6), min_size=2, max_size=12),
)
def test_variance_is_delongs_with_any_ties(positives, negatives) -> None:
    scores = np.array(positives + negatives, float)
    truth = np.repeat([1, 0], [len(positives), len(negatives)])
    auc = rank(counted(scores, truth)).auc
    value, spread = delong_variance(scores, truth)
    assert auc.value == pytest.approx(value, abs=1e-15)
    assert auc.variance == pytest.approx(spread, abs=1e-12)


@pytest.mark.parametrize("method", [DeLong, Newcombe])
@pytest.mark.parametrize("level", [0, 1, 95])
def test_level_is_checked(method, level: float) -> None:
    with pytest.raises(MethodError, match="level"):
        method(level)


def test_constant_scores_are_one_half_and_not_therefore_sure() -> None:
    roc_auc = estimate("roc_auc", [0, 1] * 20, [0.3] * 40)
    assert roc_auc == 0.5
    assert roc_auc.method == "newcombe"
    assert roc_auc.low < 0.4
    assert roc_auc.high > 0.6


# -- average precision and partial AUC -------------------------------------------------------------


def influence_variance(measure, scores, truth) -> float:
    """The spread of a measure by leaving out a little weight of each row in turn."""
    step = 1e-6
    full = measure(np.ones(len(scores)))
    moves = []
    for row in range(len(scores)):
        weights = np.ones(len(scores))
        weights[row] += step
        moves.append((measure(weights) - full) / step)
    return float(np.square(moves).sum())


# McClish's rescaling turns an area of nothing up to a rate of 0.1 into this.
LEAST_PARTIAL = 0.5 - 0.005 / 0.19


@pytest.mark.parametrize(
    ("name", "least", "df"), [("average_precision", 0.0, 29), ("partial_auc", LEAST_PARTIAL, 19)]
)
def test_interval_follows_from_the_influence_of_each_row(name, least, df) -> None:
    scores, truth = overlapping(30, 200, 1.0)

    def measure(weights) -> float:
        return float(estimate(name, truth, scores, weights=weights))

    measured_value = estimate(name, truth, scores)
    spread = influence_variance(measure, scores, truth)
    share, error = (measured_value - least) / (1 - least), math.sqrt(spread) / (1 - least)
    # Student's t: of the positives, or of the negatives left of the limit if those are fewer.
    reach = stats.t.ppf(0.975, df) * error / (share * (1 - share))
    expected = [
        least + (1 - least) * special.expit(special.logit(share) + sign * reach) for sign in (-1, 1)
    ]
    assert (measured_value.low, measured_value.high) == pytest.approx(expected, rel=1e-3)


def test_partial_area_with_few_errors_is_read_as_an_area_by_newcombe() -> None:
    scores, truth = overlapping(40, 60, 2.5)
    partial_auc = estimate("partial_auc", truth, scores)
    share = (partial_auc - LEAST_PARTIAL) / (1 - LEAST_PARTIAL)
    assert 0 < 6 * (1 - share) < 5

    def measure(weights) -> float:
        return float(estimate("partial_auc", truth, scores, weights=weights))

    variance = influence_variance(measure, scores, truth) / (1 - LEAST_PARTIAL) ** 2
    stretch = max(variance / newcombe_variance(share, 40, 6), 1)
    for end in (partial_auc.low, partial_auc.high):
        at = (end - LEAST_PARTIAL) / (1 - LEAST_PARTIAL)
        expected = Z**2 * stretch * newcombe_variance(at, 40, 6)
        assert (at - share) ** 2 == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "least", "rows"), [("average_precision", 0.0, 12), ("partial_auc", LEAST_PARTIAL, 3)]
)
def test_perfect_ranking_ends_as_if_all_its_rows_were_successes(name, least, rows) -> None:
    measured_value = estimate(name, [0] * 30 + [1] * 12, [0.1] * 30 + [0.9] * 12)
    expected = least + (1 - least) * float(ClopperPearson()(rows, rows)[0])
    assert measured_value == 1.0
    assert (measured_value.low, measured_value.high) == pytest.approx((expected, 1.0))


def test_partial_area_at_its_floor_has_the_mirrored_edge() -> None:
    partial_auc = estimate("partial_auc", [1] * 30 + [0] * 12, [0.1] * 30 + [0.9] * 12)
    assert partial_auc == pytest.approx(LEAST_PARTIAL)
    assert partial_auc.low == pytest.approx(float(partial_auc))
    assert partial_auc.high > partial_auc


def test_positives_alone_still_have_an_average_precision() -> None:
    average_precision = estimate("average_precision", [1] * 8, [0.5] * 8)
    assert average_precision == 1.0
    assert average_precision.low == pytest.approx(float(ClopperPearson()(8, 8)[0]))
    assert average_precision.high == 1.0


def test_average_precision_without_spread_keeps_its_value_in_the_interval() -> None:
    average_precision = estimate("average_precision", [0, 1] * 20, [0.5] * 40)
    assert average_precision == 0.5
    assert average_precision.low <= 0.5 <= average_precision.high


# -- log loss and Brier score ----------------------------------------------------------------------


def losses(scores, truth) -> LossSums:
    return LossSums.of_rows(np.asarray(truth, np.uint8), np.asarray(scores, float))


def test_mean_loss_is_on_the_log_scale() -> None:
    scores, truth = overlapping(40, 60, 1.0)
    each = -np.log(np.where(truth == 1, scores, 1 - scores))
    mean, error = each.mean(), each.std(ddof=1) / 10
    reach = stats.t.ppf(0.975, 99) * error / mean
    log_loss = estimate("log_loss", truth, scores)
    assert log_loss == pytest.approx(mean, rel=1e-12)
    assert (log_loss.low, log_loss.high) == pytest.approx(
        (mean * math.exp(-reach), mean * math.exp(reach)), rel=1e-6
    )


def test_brier_score_is_on_the_log_scale() -> None:
    scores, truth = overlapping(40, 60, 1.0)
    each = (scores - truth) ** 2
    mean, error = each.mean(), each.std(ddof=1) / 10
    brier = estimate("brier", truth, scores)
    reach = stats.t.ppf(0.975, 99) * error / mean
    assert (brier.low, brier.high) == pytest.approx(
        (mean * math.exp(-reach), mean * math.exp(reach)), rel=1e-6
    )


def test_no_loss_at_all_ends_where_clopper_and_pearson_do() -> None:
    brier, log_loss = (estimate(name, [0, 1] * 10, [0, 1] * 10) for name in ("brier", "log_loss"))
    upper = float(ClopperPearson()(0, 20)[1])
    assert (brier.low, brier.high) == (0.0, pytest.approx(upper))
    assert log_loss.high == pytest.approx(upper * WORST_LOG_LOSS)


def test_one_row_says_nothing_about_the_spread() -> None:
    ends = mean_interval(losses([0.3], [1]).log_loss, WORST_LOG_LOSS, 0.95)
    assert ends == (0.0, WORST_LOG_LOSS)


def test_mean_loss_never_exceeds_the_worst_loss() -> None:
    interval = mean_interval(losses([0.0, 0.9], [1, 1]).brier, 1.0, 0.999)
    assert interval[1] == 1.0


def test_one_heavy_row_among_light_ones_is_worth_one_row() -> None:
    log_loss = estimate("log_loss", [0, 1], [0.1, 0.4], weights=np.array([1e6, 1e-3]))
    assert 0 <= log_loss.low <= log_loss <= log_loss.high <= WORST_LOG_LOSS


# -- laws over all of them -------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=4, max_size=40),
    st.floats(0.5, 0.999),
)
def test_interval_holds_the_value(drawn, level) -> None:
    truth = [int(label) for label, _ in drawn]
    assume(0 < sum(truth) < len(truth))
    scores = [score / 8 for _, score in drawn]
    for name in SCORED:
        measured_value = estimate(name, truth, scores, level=level)
        most = {"log_loss": WORST_LOG_LOSS}.get(name, 1.0)
        assert 0 <= measured_value.low <= measured_value <= measured_value.high <= most + 1e-12


@pytest.mark.parametrize("name", SCORED)
def test_scale_of_the_weights_does_not_matter(name: str) -> None:
    scores, truth = overlapping(30, 40, 1.0)
    weights = np.random.default_rng(4).uniform(0.1, 5, 70)
    for given_scores in (scores, truth.astype(float)):
        for method in (None, DeLong, Newcombe):
            small, large = (
                estimate(name, truth, given_scores, weights=w, method=method)
                for w in (weights, 1000 * weights)
            )
            assert (small.low, small.high) == pytest.approx((large.low, large.high), rel=1e-9)


@pytest.mark.parametrize("name", SCORED)
def test_weights_of_one_are_nearly_plain_rows(name: str) -> None:
    scores, truth = overlapping(150, 200, 1.0)
    plain = estimate(name, truth, scores)
    one = estimate(name, truth, scores, weights=np.ones(350))
    assert one == pytest.approx(float(plain), rel=1e-9)
    assert (one.low, one.high) == pytest.approx((plain.low, plain.high), rel=5e-3)


@pytest.mark.parametrize("name", SCORED)
def test_counts_are_repetitions(name: str) -> None:
    scores, truth = overlapping(20, 30, 1.0)
    counts = np.random.default_rng(4).integers(1, 5, 50)
    counted = estimate(name, truth, scores, counts=counts)
    repeated = estimate(name, np.repeat(truth, counts), np.repeat(scores, counts))
    assert (counted, counted.low, counted.high, counted.n) == pytest.approx(
        (repeated, repeated.low, repeated.high, repeated.n), rel=1e-12
    )


# -- clusters --------------------------------------------------------------------------------------


def by_cluster(name: str, clusters, scores=None, truth=None, **options) -> Estimate:
    if scores is None:
        scores, truth = overlapping(150, 200, 1.0)
    return estimate(name, truth, scores, clusters=clusters, **options)


@pytest.mark.parametrize("name", SCORED)
def test_clusters_of_one_row_are_nearly_independent_rows(name: str) -> None:
    scores, truth = overlapping(300, 400, 1.0)
    alone = by_cluster(name, np.arange(700), scores, truth)
    plain = estimate(name, truth, scores)
    assert alone.method == "cluster delta"
    assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), rel=1e-2)


@pytest.mark.parametrize("name", SCORED)
def test_repeating_each_row_within_its_cluster_does_not_narrow_the_interval(name: str) -> None:
    scores, truth = overlapping(60, 80, 1.0)
    cluster = np.arange(140)
    once = by_cluster(name, cluster, scores, truth)
    tenfold = by_cluster(name, *(np.repeat(column, 10) for column in (cluster, scores, truth)))
    assert (tenfold.low, tenfold.high) == pytest.approx((once.low, once.high), rel=1e-9)


@pytest.mark.parametrize("name", SCORED)
def test_one_cluster_has_no_interval(name: str) -> None:
    measured_value = by_cluster(name, [0] * 350)
    assert not math.isnan(measured_value)
    assert math.isnan(measured_value.low)


@pytest.mark.parametrize("name", ["roc_auc", "partial_auc", "average_precision"])
def test_perfect_ranking_in_clusters_has_no_interval(name: str) -> None:
    measured_value = by_cluster(name, np.arange(40) % 4, [0.1, 0.9] * 20, [0, 1] * 20)
    assert measured_value == 1.0
    assert math.isnan(measured_value.low)


def test_positives_of_one_cluster_tell_nothing_of_others() -> None:
    lone = by_cluster("roc_auc", np.arange(40) // 10, np.arange(40) % 7 / 7, np.arange(40) < 10)
    assert 0 < lone < 1
    assert math.isnan(lone.low)


def test_no_loss_in_clusters_has_no_interval() -> None:
    brier = by_cluster("brier", np.arange(40) % 4, [0, 1] * 20, [0, 1] * 20)
    assert brier == 0.0
    assert math.isnan(brier.high)


def test_clustered_auc_by_hand() -> None:
    scores, truth = overlapping(15, 25, 1.0)
    cluster = np.arange(40) % 8
    pos, neg = scores[truth == 1], scores[truth == 0]
    value = float((pos[:, None] > neg).mean())
    moves = np.where(
        truth == 1,
        ([(s > neg).mean() for s in scores] - np.float64(value)) / 15,
        ([(pos > s).mean() for s in scores] - np.float64(value)) / 25,
    )
    sums = np.bincount(cluster, moves)
    error = math.sqrt((sums**2).sum() * 8 / 7)
    reach = stats.t.ppf(0.975, 7) * error / (value * (1 - value))
    expected = [special.expit(special.logit(value) + sign * reach) for sign in (-1, 1)]
    roc_auc = by_cluster("roc_auc", cluster, scores, truth)
    assert (roc_auc.low, roc_auc.high) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.999, 0.9999])
def test_two_clusters_at_a_high_level_stay_within_bounds(level: float) -> None:
    for name in SCORED:
        measured_value = by_cluster(name, np.arange(350) % 2, level=level)
        most = {"log_loss": WORST_LOG_LOSS}.get(name, 1.0)
        assert 0 <= measured_value.low <= measured_value <= measured_value.high <= most


def test_limit_of_the_partial_area_is_kept_in_clusters() -> None:
    for limit in (0.3, 1.0):
        alone = by_cluster("partial_auc", np.arange(350), max_fpr=limit)
        plain = estimate("partial_auc", *overlapping(150, 200, 1.0)[::-1], max_fpr=limit)
        assert alone == plain
        assert (alone.low, alone.high) == pytest.approx((plain.low, plain.high), rel=1e-2)


def test_uncorrected_partial_area_in_clusters_has_the_interval_of_the_corrected() -> None:
    partial_auc = by_cluster("partial_auc", np.arange(350), corrected=False)
    assert 0 < partial_auc.low < partial_auc < partial_auc.high < 0.1
    corrected = by_cluster("partial_auc", np.arange(350))
    stretch = 1 / (2 * (0.1 - 0.1**2 / 2))
    assert (partial_auc.high - partial_auc.low) * stretch == pytest.approx(
        corrected.high - corrected.low, rel=1e-9
    )


@pytest.mark.parametrize("rows", [20, 400])
def test_partial_area_of_equal_scores_is_not_sure_on_either_side(rows: int) -> None:
    partial_auc = estimate("partial_auc", [0, 1] * rows, [0.5] * (2 * rows))
    assert partial_auc.low < partial_auc.value < partial_auc.high
    assert partial_auc.value == pytest.approx(0.5)


def test_detection_at_a_false_positive_rate_by_hand() -> None:
    negatives = np.arange(1.0, 31.0)
    positives = [31.0, 32.0, 33.0, 34.0, 35.0, 28.5, 27.5, 24.5, 23.5, 0.0]
    points = Points.of(counted([*negatives, *positives], [0] * 30 + [1] * 10))
    # The rate above the negative of a rank is within the limit as likely as more than so many of
    # 30 negatives score above the threshold of the limit.
    beyond = stats.binom(30, 0.1).sf
    assert beyond(0) < 0.975
    assert beyond(7) < 0.025 < beyond(6)
    # 0.5 are detected above all negatives, 0.8 and 0.9 above all but 6 and 7 of them.
    lowest = (1 - 0.975) / (1 - beyond(0)) * 0.5
    highest = 0.8 + (beyond(6) - 0.025) / (beyond(6) - beyond(7)) * 0.1
    middle, reach = 0.7 + Z**2 / 20, Z * math.sqrt(0.7 * 0.3 / 10 + Z**2 / 400)
    wilson = [(middle + side * reach) / (1 + Z**2 / 10) for side in (-1, 1)]
    low = 0.7 - math.hypot(0.7 - wilson[0], 0.7 - lowest)
    high = 0.7 + math.hypot(wilson[1] - 0.7, highest - 0.7)
    assert 0 < low < high < 1
    assert rate_interval(points, 0.1, 0.95) == pytest.approx((low, high), rel=1e-12)
