"""Differences between two models by examples that are worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.counts import ClusterCounts, PairCounts, Sample
from assay.errors import MethodError
from assay.inference import (
    Bootstrap,
    Estimate,
    Quantity,
    delong_of,
    delong_test,
    paired_bootstrap,
    paired_influence,
    paired_score_bootstrap,
    paired_scores,
    resampled_clusters,
    resampled_pairs,
)
from assay.inference.bootstrap import redrawn
from assay.inference.differences import (
    _by_row,
    _p,
    covariance,
    difference_bound,
    differences_of_classes,
    has_difference,
    key_of,
    placements,
)
from assay.measures import ClassAverage, find

Z = float(stats.norm.ppf(0.975))
BRIER, AUC = find("brier"), find("roc_auc")
ACCURACY = Quantity(find("accuracy").classes)
# The old model loses 1/4 on each of four rows, the new one nothing on the first and the last.
TRUTH = np.array([1, 0, 1, 0])
OLD, NEW = np.array([0.5, 0.5, 0.5, 0.5]), np.array([1.0, 0.5, 0.5, 0.0])
# What a row moves the difference of -1/8 by, and the root of the sum of its squares.
MOVES, ERROR = np.array([-1, 1, 1, -1]) / 32, 1 / 16


def sample(**options) -> Sample:
    return Sample.of_rows(("no", "yes"), TRUTH, {"old": OLD, "new": NEW}, **options)


def in_clusters(cluster: list[int]) -> Sample:
    names = list("pqrs"[: max(cluster) + 1])
    return sample(cluster=np.array(cluster), clusters=names)


def between(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, bound=(low, high))


# -- by influence ----------------------------------------------------------------------------------


def test_difference_of_losses_by_hand() -> None:
    significance = paired_influence(sample(), BRIER)
    assert significance.effect == -0.125
    assert significance.table == {"a": 0.25, "b": 0.125, "standard_error": pytest.approx(ERROR)}
    ends = -0.125 - Z * ERROR, -0.125 + Z * ERROR
    assert (significance.effect.low, significance.effect.high) == pytest.approx(ends, rel=1e-12)
    assert significance.p == pytest.approx(2 * stats.norm.sf(2), rel=1e-9)
    assert (significance.method, significance.effect.n, significance.effect.level) == (
        "delta",
        4,
        0.95,
    )
    assert (significance.test, significance.statistic, significance.df) == (
        "paired_influence",
        None,
        (),
    )
    assert (significance.effect.bound, significance.effect.undefined) == (None, None)
    assert significance.models == ("old", "new")
    assert significance.sentence == (
        "brier is 0.2500 for old and 0.1250 for new: old is higher (p = 0.046)."
    )


def test_rows_count_as_often_as_they_occur() -> None:
    significance = paired_influence(sample(counts=np.array([3, 3, 3, 3])), BRIER, level=0.9)
    assert significance.effect == pytest.approx(-0.125)
    assert significance.table["standard_error"] == pytest.approx(ERROR / math.sqrt(3))
    assert (significance.effect.n, significance.effect.level) == (12, 0.9)


def test_verdict_is_by_p_below_what_the_level_leaves() -> None:
    rows = Sample.of_rows(
        ("no", "yes"), TRUTH, {"old": OLD, "new": np.array([0.75, 0.75, 0.5, 0.5])}
    )
    # Losses of 1/16 and 9/16 for 1/4 twice: more by 1/32 on average, which may be chance.
    p = paired_influence(rows, BRIER).p
    assert p > 0.5
    edge = paired_influence(rows, BRIER, level=1 - p)
    assert "no difference is shown" in edge.sentence
    assert "new is higher" in paired_influence(rows, BRIER, level=0.1).sentence


def test_clusters_take_the_place_of_rows() -> None:
    significance = paired_influence(in_clusters([0, 1, 2, 0]), BRIER)
    # The clusters move it by -1/16, 1/32 and 1/32.
    error = math.sqrt((1 / 256 + 2 / 1024) * 3 / 2)
    assert significance.table["standard_error"] == pytest.approx(error)
    assert significance.p == pytest.approx(2 * stats.t.sf(0.125 / error, 2), rel=1e-9)
    reach = stats.t.ppf(0.975, 2) * error
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (-0.125 - reach, -0.125 + reach)
    )
    assert significance.method == "cluster delta"


def test_two_clusters_have_one_degree() -> None:
    significance = paired_influence(in_clusters([0, 1, 1, 0]), BRIER)
    # Both move it by 1/16: the error is 1/8, and Student's t with one degree is Cauchy's.
    assert significance.table["standard_error"] == pytest.approx(1 / 8)
    assert significance.p == pytest.approx(0.5, rel=1e-9)


def test_bounds_of_both_models_widen_the_interval_and_raise_p() -> None:
    known = between(0.25, 0.24, 0.27), between(0.125, 0.12, 0.14)
    significance = paired_influence(sample(), BRIER, known=known)
    assert significance.effect.bound == pytest.approx((0.12 - 0.27, 0.14 - 0.24))
    assert significance.effect.low == pytest.approx(-0.15 - Z * ERROR)
    assert significance.effect.high == pytest.approx(-0.1 + Z * ERROR)
    assert significance.p == pytest.approx(2 * stats.norm.sf(0.1 / ERROR), rel=1e-9)
    assert (significance.table["a"], significance.table["b"]) == (0.25, 0.125)


@pytest.mark.parametrize(
    ("known", "nearest"),
    [
        ((between(0.25, 0.1, 0.3), between(0.125, 0.1, 0.2)), 0.0),
        ((between(0.1, 0.1, 0.12), between(0.25, 0.2, 0.3)), 0.08),
    ],
)
def test_p_is_that_of_the_difference_nearest_to_zero(known, nearest: float) -> None:
    significance = paired_influence(sample(), BRIER, known=known)
    assert significance.p == pytest.approx(2 * stats.norm.sf(nearest / ERROR), rel=1e-9)
    clustered = paired_influence(in_clusters([0, 1, 1, 0]), BRIER, known=known)
    assert clustered.p == pytest.approx(2 * stats.t.sf(nearest * 8, 1), rel=1e-9)


def test_what_no_row_moves_is_told_only_if_it_may_be_zero() -> None:
    rows = Sample.of_rows(("no", "yes"), TRUTH, {"old": OLD, "new": OLD})
    assert paired_influence(rows, BRIER).p == 1.0
    away = between(0.25, 0.2, 0.3), between(0.5, 0.4, 0.6)
    significance = paired_influence(rows, BRIER, known=away)
    assert math.isnan(significance.p)
    assert significance.sentence.endswith("nothing varies between rows, so nothing can be said.")
    near = between(0.25, 0.2, 0.3), between(0.5, 0.3, 0.6)
    assert paired_influence(rows, BRIER, known=near).p == 1.0


@pytest.mark.parametrize(
    ("difference", "known", "expected"),
    [
        (0.5, (), (0.5, 0.5)),
        (0.25, (Estimate(0.25), Estimate(0.5)), (0.25, 0.25)),
        (0.25, (between(0.25, 0.125, 0.375), Estimate(0.5)), (0.125, 0.375)),
        (0.25, (Estimate(0.25), between(0.5, 0.375, 0.75)), (0.125, 0.5)),
        # A difference that the bounds miss by rounding is held.
        (0.75, (between(0.25, 0.125, 0.375), Estimate(0.5)), (0.125, 0.75)),
        (0.0, (between(0.25, 0.125, 0.375), Estimate(0.5)), (0.0, 0.375)),
    ],
)
def test_difference_lies_between_the_ends_of_both(difference, known, expected) -> None:
    assert difference_bound(difference, known) == expected


# -- by resampling ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draws", "expected"),
    [
        ([-1, 0, 1, 2, 3, 4, 5], 2 * 3 / 8),
        ([1, 0, -1, -2, -3, -4, -5], 2 * 3 / 8),
        ([1, 2, 3], 2 * 1 / 4),
        ([-1, -2, -3], 2 * 1 / 4),
        ([0, 0, 0], 1.0),
        ([-1, 1], 1.0),
        ([2], 1.0),
    ],
)
def test_p_is_twice_the_share_on_the_other_side_of_zero(draws, expected: float) -> None:
    assert _p(np.array(draws, float)) == expected


def test_no_draws_have_no_p() -> None:
    assert math.isnan(_p(np.array([])))


def three_classes() -> PairCounts:
    truth = np.array([0, 0, 1, 1, 1, 2, 2, 2, 2], np.uint16)
    a = np.array([0, 1, 1, 2, 0, 2, 2, 0, 1], np.uint16)
    b = np.array([0, 0, 1, 1, 2, 2, 1, 0, 2], np.uint16)
    return PairCounts.of_rows(("x", "y", "z"), truth, {"old": a, "new": b})


def test_tables_of_three_classes_are_drawn_from_the_joint_one() -> None:
    pairs = three_classes()
    tables = resampled_pairs(pairs, Bootstrap(resamples=7, seed=3))
    draws = np.random.default_rng(3).multinomial(9, pairs.counts / 9, size=7)
    for model, table in enumerate(tables):
        expected = np.zeros((7, 3, 3))
        for column, codes in enumerate(pairs.codes.astype(int)):
            expected[:, codes[0], codes[model + 1]] += draws[:, column]
        np.testing.assert_array_equal(table, expected)


def test_interval_of_resampled_tables_holds_the_difference() -> None:
    pairs = three_classes()
    # Right on 4 and 6 of 9 rows. Of the tables given the new model is right on none to 3 more.
    old = np.array([np.diag([6 - k, 2, 1]) + k * np.eye(3, k=2) for k in range(4)], float)
    new = np.array([np.diag([6, 2, 1])] * 4, float)
    method = Bootstrap(level=0.5, resamples=4)
    significance = paired_bootstrap(
        pairs, ACCURACY, name="accuracy", method=method, tables=(old, new)
    )
    assert significance.effect == pytest.approx(2 / 9)
    assert (significance.effect.low, significance.effect.high) == pytest.approx((0, 2 / 9))
    # One of four is not above 0.
    assert significance.p == 2 * 2 / 5
    assert (significance.effect.method, significance.effect.n, significance.effect.level) == (
        "bootstrap",
        9,
        0.5,
    )
    assert significance.table == {
        "a": pytest.approx(4 / 9),
        "b": pytest.approx(6 / 9),
        "drawn": 4,
        "undefined": 0,
    }
    assert significance.test == "paired_bootstrap"
    assert significance.models == ("old", "new")
    assert significance.sentence == (
        "accuracy is 0.4444 for old and 0.6667 for new: no difference is shown (p = 0.8)."
    )


@pytest.mark.parametrize(("above", "expected"), [(3, (2 / 9, 3 / 9)), (-3, (-3 / 9, 2 / 9))])
def test_interval_is_stretched_to_hold_the_difference(above: int, expected) -> None:
    pairs = three_classes()
    right, wrong = np.diag([9.0, 0, 0]), np.diag([6.0, 0, 0]) + 3 * np.eye(3, k=1)[[0, 2, 2]]
    tables = (wrong, right) if above > 0 else (right, wrong)
    drawn = tuple(np.array([table] * 4) for table in tables)
    significance = paired_bootstrap(pairs, ACCURACY, method=Bootstrap(resamples=4), tables=drawn)
    assert (significance.effect.low, significance.effect.high) == pytest.approx(expected)
    assert "all resamples gave one value" in significance.effect.note


def test_clusters_are_drawn_with_the_seed() -> None:
    truth, said = np.array([0, 1, 0, 1, 1]), np.array([0, 1, 1, 0, 1])
    cluster = np.array([0, 0, 1, 1, 2])
    a, b = (
        ClusterCounts.of_rows(("no", "yes"), truth, each, cluster, list("pqr"))
        for each in (said, truth)
    )
    first, second = resampled_clusters(a, b, Bootstrap(resamples=6, seed=5))
    draws = np.random.default_rng(5).multinomial(3, [1 / 3] * 3, size=6)
    np.testing.assert_allclose(first, np.tensordot(draws, a.cells, axes=1))
    np.testing.assert_allclose(second, np.tensordot(draws, b.cells, axes=1))


def drawn_losses(rows: Sample, method: Bootstrap) -> np.ndarray:
    """The differences of mean losses of resamples."""
    generator = np.random.default_rng(method.seed)
    gaps = (rows.scores[:, 1] - rows.truth) ** 2 - (rows.scores[:, 0] - rows.truth) ** 2
    draws = []
    for _ in range(method.resamples):
        counts = redrawn(rows, generator)
        draws.append(float((counts * gaps).sum() / counts.sum()))
    return np.array(draws)


def test_scores_are_resampled_by_rows() -> None:
    method = Bootstrap(level=0.8, resamples=99, seed=4)
    significance = paired_score_bootstrap(sample(), BRIER, method=method)
    draws = np.sort(drawn_losses(sample(), method))
    assert significance.effect == -0.125
    # A tenth of 99 is rounded down at the low end, and up at the high one.
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (draws[8], draws[89])
    )
    assert significance.p == pytest.approx(_p(draws))
    assert significance.table == {"a": 0.25, "b": 0.125, "drawn": 99, "undefined": 0}
    assert (significance.effect.n, significance.effect.bound) == (4, None)


def test_bounds_widen_the_interval_of_resamples_and_raise_p() -> None:
    method = Bootstrap(level=0.8, resamples=99, seed=4)
    known = between(0.5, 0.47, 0.52), between(0.25, 0.24, 0.42)
    significance = paired_score_bootstrap(sample(), BRIER, method=method, known=known)
    # The sample tells by how much a difference of -0.25 moves, which lies in [-0.28, -0.05].
    draws = np.sort(drawn_losses(sample(), method)) + 0.125 - 0.25
    assert significance.effect == -0.25
    assert significance.effect.bound == pytest.approx((-0.28, -0.05))
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (draws[8] - 0.03, draws[89] + 0.2)
    )
    assert significance.p == pytest.approx(_p(draws + 0.2))
    assert significance.p > _p(draws)
    assert (significance.table["a"], significance.table["b"]) == (0.5, 0.25)


def test_estimates_that_are_exact_have_no_bounds() -> None:
    method = Bootstrap(resamples=20)
    known = Estimate(0.5), Estimate(0.25)
    assert paired_score_bootstrap(sample(), BRIER, method=method, known=known).effect.bound is None
    assert paired_influence(sample(), BRIER, known=known).effect.bound is None
    assert delong_of(sample(), known=known).effect.bound is None


# -- which measures have one -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "has", "averages"),
    [
        ("roc_auc", True, ("macro", "weighted")),
        ("average_precision", True, ("macro", "weighted")),
        ("brier", True, (None,)),
        ("log_loss", True, (None,)),
        ("roc_auc_ovo", False, (None,)),
        ("expected_calibration_error", False, ()),
        ("recall", False, ()),
    ],
)
def test_measures_that_say_how_a_row_moves_them_have_differences(name, has, averages) -> None:
    assert has_difference(find(name)) is has
    assert differences_of_classes(find(name)) == averages


def test_key_names_the_average() -> None:
    assert key_of(BRIER, None) == "brier"
    assert key_of(AUC, "macro") == "roc_auc.macro"


def of_classes() -> Sample:
    generator = np.random.default_rng(3)
    said = generator.dirichlet([1, 1, 1], (2, 12))
    return Sample.of_rows(tuple("xyz"), np.arange(12) % 3, {"old": said[0], "new": said[1]})


def test_ranking_of_classes_is_averaged() -> None:
    macro, weighted = (_by_row(AUC, average, of_classes()) for average in ("macro", "weighted"))
    assert macro == ClassAverage(AUC.of_scores, weighted=False)
    assert weighted == ClassAverage(AUC.of_scores, weighted=True)
    significance = paired_scores(of_classes(), AUC, average="macro")
    assert significance.test == "paired_influence"
    assert significance.sentence.startswith("roc_auc.macro is ")
    with pytest.raises(MethodError, match="roc_auc does not say how a row moves it"):
        _by_row(AUC, None, of_classes())


def test_measures_of_all_classes_say_it_themselves() -> None:
    for name in ("brier", "log_loss", "roc_auc_ovo"):
        assert _by_row(find(name), None, of_classes()) == find(name).of_scores
    assert _by_row(AUC, None, sample()) == AUC.of_scores
    assert _by_row(AUC, "macro", sample()) == AUC.of_scores


# -- DeLong ----------------------------------------------------------------------------------------


def two_of_each() -> Sample:
    truth = np.array([0, 0, 1, 1])
    return Sample.of_rows(
        ("no", "yes"), truth, {"old": np.array([1.0, 3, 2, 4]), "new": np.array([1.0, 2, 3, 2])}
    )


def test_covariance_of_two_rows_of_each_class_by_hand() -> None:
    rows = two_of_each()
    # Old: the negatives beat 2 and 1 of 2 positives; so do the positives. New: ties count half.
    order = np.lexsort((rows.scores[:, 0], rows.truth))
    assert placements(rows, 0)[0][order].tolist() == [1.0, 0.5, 0.5, 1.0]
    assert placements(rows, 1)[0][order].tolist() == [1.0, 0.75, 1.0, 0.75]
    aucs, covariances = covariance(rows)
    assert aucs.tolist() == [0.75, 0.875]
    # Off by +-1/4 and +-1/8, on one side in step, on the other against it; by 2 - 1 and by 2.
    np.testing.assert_allclose(covariances, [[1 / 8, 0], [0, 1 / 32]], atol=1e-15)


def test_delongs_test_of_two_rows_of_each_class_by_hand() -> None:
    significance = delong_of(two_of_each(), level=0.5)
    error = math.sqrt(5 / 32)
    assert significance.statistic == pytest.approx(0.125 / error)
    assert significance.p == pytest.approx(2 * stats.norm.sf(0.125 / error))
    reach = stats.norm.ppf(0.75) * error
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (0.125 - reach, 0.125 + reach)
    )
    assert (significance.effect.n, significance.effect.level, significance.effect.bound) == (
        4,
        0.5,
        None,
    )
    assert (
        significance.sentence == "old has AUC 0.750, new 0.875: no difference is shown (p = 0.75)."
    )
    edge = delong_of(two_of_each(), level=1 - significance.p)
    assert "no difference is shown" in edge.sentence
    assert "new ranks better" in delong_of(two_of_each(), level=0.2).sentence


def test_delongs_test_names_the_first_where_it_ranks_better() -> None:
    significance = delong_test([0, 0, 1, 1], [1, 2, 3, 2], [1, 3, 2, 4], level=0.2)
    assert significance.effect == -0.125
    assert "A ranks better" in significance.sentence


@pytest.mark.parametrize(
    ("known", "nearest", "bound"),
    [
        ((between(0.5, 0.4, 0.6), between(0.8, 0.7, 0.9)), 0.1, (0.1, 0.5)),
        ((between(0.8, 0.7, 0.9), between(0.5, 0.4, 0.6)), -0.1, (-0.5, -0.1)),
        ((between(0.5, 0.4, 0.6), between(0.6, 0.5, 0.7)), 0.0, (-0.1, 0.3)),
    ],
)
def test_delongs_test_of_known_areas_has_the_covariance_of_the_sample(
    known, nearest, bound
) -> None:
    error = math.sqrt(5 / 32)
    significance = delong_of(two_of_each(), known=known, level=0.5)
    assert significance.statistic == pytest.approx(nearest / error)
    assert significance.p == pytest.approx(2 * stats.norm.sf(abs(nearest) / error))
    reach = stats.norm.ppf(0.75) * error
    assert significance.effect.bound == pytest.approx(bound)
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (bound[0] - reach, bound[1] + reach)
    )
    assert (significance.table["a"], significance.table["b"]) == (float(known[0]), float(known[1]))


def test_rankings_that_are_the_same_are_told_only_if_areas_may_be() -> None:
    rows = Sample.of_rows(("no", "yes"), TRUTH, {"old": NEW, "new": NEW})
    away = delong_of(rows, known=(between(0.5, 0.4, 0.6), between(0.8, 0.7, 0.9)))
    assert away.statistic is None
    assert math.isnan(away.p)
    near = delong_of(rows, known=(between(0.5, 0.4, 0.6), between(0.8, 0.6, 0.9)))
    assert (near.statistic, near.p) == (0.0, 1.0)
    assert (near.effect.low, near.effect.high) == pytest.approx((0.0, 0.5))


@pytest.mark.parametrize("size", [9, 13, 19, 24, 28])
def test_spread_of_rounding_alone_is_none(size: int) -> None:
    # Each row is ranked right against half of one row of the other class less by the new model.
    steps = np.arange(size)
    truth = np.repeat([0, 1], size)
    scores = {"old": np.append(2 * steps, 2 * steps + 1), "new": np.append(steps, steps)}
    rows = Sample.of_rows(("no", "yes"), truth, scores)
    significance = delong_of(rows)
    assert significance.effect == pytest.approx(-1 / (2 * size))
    assert significance.statistic is None
    assert math.isnan(significance.p)
    assert math.isnan(significance.effect.low)
    same = delong_of(rows, known=(Estimate(0.75), Estimate(0.75)))
    assert (same.statistic, same.p) == (0.0, 1.0)
    assert (same.effect.low, same.effect.high) == pytest.approx((0, 0), abs=1e-8)


def test_small_spread_of_very_many_rows_is_one() -> None:
    rows = two_of_each()
    many = Sample.of_rows(
        rows.labels,
        rows.truth,
        {"old": rows.scores[:, 0], "new": rows.scores[:, 1]},
        counts=np.full(4, 10**12),
    )
    significance = delong_of(many)
    assert significance.statistic == pytest.approx(
        0.125 / math.sqrt(5 / 32 / (2 * 10**12 - 1)), rel=1e-9
    )
    assert significance.sentence.endswith("new ranks better (p < 0.0001).")


def test_delongs_test_is_that_of_one_score_a_row_without_clusters() -> None:
    assert paired_scores(sample(), AUC).test == "delong"
    assert paired_scores(in_clusters([0, 1, 1, 0]), AUC).test == "paired_influence"
    assert paired_scores(sample(), BRIER).test == "paired_influence"


def test_both_models_move_a_difference() -> None:
    said = np.array([0.75, 0.25, 0.5, 0.5])
    rows = Sample.of_rows(("no", "yes"), TRUTH, {"old": said, "new": NEW})
    # Losses 1/16, 1/16, 1/4, 1/4 become 0, 1/4, 1/4, 0: less by 1/16 - 3/16 + 0 + 1/4, by 4.
    gaps = np.array([-1, 3, 0, -4]) / 16
    significance = paired_influence(rows, BRIER)
    assert significance.effect == pytest.approx(gaps.mean())
    assert significance.table["standard_error"] == pytest.approx(gaps.std() / 2)


def test_rows_of_clusters_count_as_often_as_they_occur() -> None:
    rows = sample(
        cluster=np.array([0, 1, 2, 2]), clusters=list("pqr"), counts=np.array([5, 1, 2, 3])
    )
    significance = paired_influence(rows, BRIER)
    often = np.array([5, 1, 2, 3])
    gaps = np.array([-0.25, 0, 0, -0.25])
    moves = often * (gaps - (often * gaps).sum() / 11) / 11
    sums = [moves[0], moves[1], moves[2] + moves[3]]
    error = math.sqrt(sum(move**2 for move in sums) * 3 / 2)
    assert significance.table["standard_error"] == pytest.approx(error)


def test_two_probabilities_a_row_are_those_of_classes() -> None:
    said = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    rows = Sample.of_rows(("no", "yes"), TRUTH, {"old": said, "new": said[::-1]})
    assert _by_row(AUC, "macro", rows) == ClassAverage(AUC.of_scores, weighted=False)


def test_loss_of_two_classes_alone_has_no_difference_of_more() -> None:
    alone = replace(BRIER, of_scores=replace(BRIER.of_scores, of_classes=None))
    assert _by_row(alone, None, sample()) == alone.of_scores
    assert differences_of_classes(alone) == ()
    with pytest.raises(MethodError, match="brier does not say how a row moves it"):
        _by_row(alone, None, of_classes())
