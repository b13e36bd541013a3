"""Differences between two models on the same rows."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assay.counts import ClusterCounts, PairCounts, Sample, ScoreCounts
from assay.errors import MethodError
from assay.inference import (
    BCa,
    Bootstrap,
    Quantity,
    paired_bootstrap,
    paired_influence,
    paired_score_bootstrap,
    paired_scores,
    resampled_clusters,
    resampled_pairs,
)
from assay.inference.differences import resampled_scores
from assay.measures import Ranked, find
from assay.measures.roc_points import Influence, auc_influence

ACCURACY = Quantity(find("accuracy").formula, label=1)
RECALL = Quantity(find("recall").formula, label=1)
SCORED = ("roc_auc", "partial_auc", "average_precision", "log_loss", "brier")
QUICK = Bootstrap(resamples=200)


def rows(size: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = (np.arange(size) % 3 == 0).astype(np.uint16)
    signal = truth * 0.3 + generator.random(size) * 0.4
    a = np.clip(signal + generator.normal(0, 0.2, size), 0.01, 0.99)
    b = np.clip(signal + generator.normal(0, 0.05, size), 0.01, 0.99)
    return truth, a, b


def decided(size: int = 200, seed: int = 0) -> PairCounts:
    truth, a, b = rows(size, seed)
    said = {"old": (a > 0.5).astype(np.uint16), "new": (b > 0.5).astype(np.uint16)}
    return PairCounts.of_rows(("no", "yes"), truth, said)


def scored(size: int = 200, seed: int = 0, **options) -> Sample:
    truth, a, b = rows(size, seed)
    return Sample.of_rows(("no", "yes"), truth, {"old": a, "new": b}, **options)


def swapped(sample: Sample) -> Sample:
    return Sample.of_rows(
        sample.labels,
        sample.truth,
        {"new": sample.scores[:, 1], "old": sample.scores[:, 0]},
        cluster=sample.cluster if sample.clusters else None,
        clusters=sample.clusters,
        counts=sample.counts,
    )


# -- decisions -------------------------------------------------------------------------------------


def test_both_models_are_resampled_together() -> None:
    pairs = decided()
    tables = resampled_pairs(pairs, QUICK)
    draws = np.random.default_rng(42).multinomial(200, pairs.counts / 200, size=200)
    for model, table in enumerate(tables):
        for cell in np.ndindex(2, 2):
            here = (pairs.codes[:, 0] == cell[0]) & (pairs.codes[:, model + 1] == cell[1])
            np.testing.assert_array_equal(table[:, *cell], draws[:, here].sum(axis=1))
    np.testing.assert_array_equal(tables[0].sum(axis=2), tables[1].sum(axis=2))


def test_paired_bootstrap_by_hand() -> None:
    pairs = decided()
    significance = paired_bootstrap(pairs, ACCURACY, name="accuracy")
    first, second = resampled_pairs(pairs, Bootstrap())
    draws = np.sort((np.trace(second, axis1=1, axis2=2) - np.trace(first, axis1=1, axis2=2)) / 200)
    values = [ACCURACY.value(pairs.confusion(model)) for model in (0, 1)]
    assert significance.effect == values[1] - values[0]
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (draws[24], draws[974])
    )
    other_side = min((draws <= 0).sum(), (draws >= 0).sum())
    assert significance.p == pytest.approx(min(1, 2 * (other_side + 1) / 1001))
    assert (significance.table["a"], significance.table["b"]) == tuple(values)
    assert (significance.table["drawn"], significance.table["undefined"]) == (1000, 0)


def test_p_of_resamples_is_never_zero_and_a_plain_float() -> None:
    truth = np.arange(100, dtype=np.uint16) % 2
    pairs = PairCounts.of_rows(("no", "yes"), truth, {"bad": 1 - truth, "good": truth})
    significance = paired_bootstrap(pairs, ACCURACY)
    assert significance.p == pytest.approx(2 / 1001)
    assert type(significance.p) is float


def test_interval_is_near_the_normal_one() -> None:
    pairs = decided(2000)
    right = pairs.correct()
    gain = right[:, 1].astype(float) - right[:, 0]
    mean = (gain * pairs.counts).sum() / 2000
    error = math.sqrt(((gain - mean) ** 2 * pairs.counts).sum() / 2000**2)
    effect = paired_bootstrap(pairs, ACCURACY).effect
    assert (effect.low, effect.high) == pytest.approx(
        (mean - 1.96 * error, mean + 1.96 * error), abs=0.15 * error
    )


def test_pairing_narrows_the_interval_of_models_that_agree() -> None:
    pairs = decided(2000)
    paired = paired_bootstrap(pairs, ACCURACY).effect
    a, b = (ACCURACY.value(pairs.confusion(model)) for model in (0, 1))
    apart = 1.96 * math.sqrt((a * (1 - a) + b * (1 - b)) / 2000)
    assert paired.high - paired.low < 2 * apart


def test_swapping_the_models_flips_the_effect() -> None:
    truth, a, b = rows()
    said = [(column > 0.5).astype(np.uint16) for column in (a, b)]
    one = PairCounts.of_rows(("no", "yes"), truth, {"a": said[0], "b": said[1]})
    other = PairCounts.of_rows(("no", "yes"), truth, {"b": said[1], "a": said[0]})
    significance, turned = paired_bootstrap(one, RECALL), paired_bootstrap(other, RECALL)
    assert significance.effect == -turned.effect
    assert significance.p == pytest.approx(turned.p, abs=0.05)


def test_identical_models_have_p_one() -> None:
    truth, a, _ = rows()
    said = (a > 0.5).astype(np.uint16)
    pairs = PairCounts.of_rows(("no", "yes"), truth, {"a": said, "b": said})
    significance = paired_bootstrap(pairs, RECALL)
    assert significance.p == 1.0
    assert (significance.effect, significance.effect.low, significance.effect.high) == (
        0.0,
        0.0,
        0.0,
    )


def test_undefined_resamples_are_counted() -> None:
    truth = np.array([1] * 3 + [0] * 97, np.uint16)
    said = {"a": truth, "b": np.zeros(100, np.uint16)}
    significance = paired_bootstrap(PairCounts.of_rows(("no", "yes"), truth, said), RECALL)
    assert significance.table["undefined"] == pytest.approx(50, abs=25)
    assert "resamples, which were left out" in significance.effect.note


def test_measure_that_one_model_does_not_have_is_undefined() -> None:
    truth = np.array([1, 0, 1, 0], np.uint16)
    said = {"a": truth, "b": np.zeros(4, np.uint16)}
    precision = Quantity(find("precision").formula, label=1)
    significance = paired_bootstrap(PairCounts.of_rows(("no", "yes"), truth, said), precision)
    assert math.isnan(significance.effect)
    assert math.isnan(significance.p)
    assert significance.effect.undefined == "undefined for one of the models"
    assert "undefined for one of them" in significance.sentence


def test_no_usable_resample_has_no_p() -> None:
    truth = np.array([1, 0], np.uint16)
    pairs = PairCounts.of_rows(("no", "yes"), truth, {"a": truth, "b": truth})
    empty = np.zeros((5, 2, 2))
    significance = paired_bootstrap(pairs, RECALL, tables=(empty, empty))
    assert math.isnan(significance.p)


def test_no_rows_cannot_be_resampled() -> None:
    none = np.empty(0, np.uint16)
    pairs = PairCounts.of_rows(("no", "yes"), none, {"a": none, "b": none})
    with pytest.raises(MethodError, match="no rows to resample"):
        paired_bootstrap(pairs, ACCURACY)


@pytest.mark.parametrize("seed", [1, 2])
def test_seed_decides_the_draw(seed: int) -> None:
    one, again = (paired_bootstrap(decided(), RECALL, method=Bootstrap(seed=seed)) for _ in "ab")
    other = paired_bootstrap(decided(), RECALL, method=Bootstrap(seed=3))
    assert one == again
    assert one.effect.low != other.effect.low or one.p != other.p


def test_corrected_bootstrap_is_refused() -> None:
    with pytest.raises(MethodError, match="bootstrap, not bca"):
        paired_bootstrap(decided(), RECALL, method=BCa())
    with pytest.raises(MethodError, match="bootstrap, not bca"):
        paired_score_bootstrap(scored(), find("roc_auc"), method=BCa(resamples=2))


# -- clusters of decisions -------------------------------------------------------------------------


def cluster_tables(count: int) -> tuple[ClusterCounts, ClusterCounts]:
    truth, a, b = rows()
    names = [f"host{i}" for i in range(count)]
    one, other = (
        ClusterCounts.of_rows(
            ("no", "yes"), truth, (said > 0.5).astype(np.uint16), np.arange(200) % count, names
        )
        for said in (a, b)
    )
    return one, other


def test_whole_clusters_are_drawn_for_both_models() -> None:
    a, b = cluster_tables(10)
    first, second = resampled_clusters(a, b, QUICK)
    draws = np.random.default_rng(42).multinomial(10, np.full(10, 0.1), size=200)
    np.testing.assert_allclose(first, np.tensordot(draws, a.cells, axes=1))
    np.testing.assert_allclose(second, np.tensordot(draws, b.cells, axes=1))


def test_clusters_must_be_the_same() -> None:
    with pytest.raises(MethodError, match="the same clusters"):
        resampled_clusters(cluster_tables(10)[0], cluster_tables(11)[1], QUICK)


# -- scores ----------------------------------------------------------------------------------------


def losses(sample: Sample, model: int, name: str) -> np.ndarray:
    score = sample.scores[:, model]
    if name == "brier":
        return (score - sample.truth) ** 2
    return -np.log(np.where(sample.truth == 1, score, 1 - score))


@pytest.mark.parametrize("name", ["log_loss", "brier"])
def test_difference_of_mean_losses_is_nearly_a_paired_t_test(name: str) -> None:
    sample = scored()
    significance = paired_influence(sample, find(name))
    gap = np.repeat(losses(sample, 1, name) - losses(sample, 0, name), sample.counts)
    error = gap.std() / math.sqrt(200)
    assert significance.effect == pytest.approx(gap.mean())
    assert significance.table["standard_error"] == pytest.approx(error)
    reach = stats.norm.ppf(0.975) * error
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (gap.mean() - reach, gap.mean() + reach)
    )
    assert significance.p == pytest.approx(2 * stats.norm.sf(abs(gap.mean()) / error))


@pytest.mark.parametrize("name", SCORED)
def test_influence_and_bootstrap_agree(name: str) -> None:
    sample = scored(400)
    quick = paired_influence(sample, find(name)).effect
    drawn = paired_score_bootstrap(sample, find(name), method=Bootstrap(resamples=400)).effect
    assert quick == pytest.approx(float(drawn), abs=1e-12)
    width = quick.high - quick.low
    assert (quick.low, quick.high) == pytest.approx((drawn.low, drawn.high), abs=0.25 * width)


@pytest.mark.parametrize("name", SCORED)
@pytest.mark.parametrize("test", [paired_influence, paired_score_bootstrap])
def test_identical_scores_have_p_one(name: str, test) -> None:
    truth, a, _ = rows(60)
    sample = Sample.of_rows(("no", "yes"), truth, {"old": a, "new": a})
    options = {"method": QUICK} if test is paired_score_bootstrap else {}
    significance = test(sample, find(name), **options)
    assert significance.p == 1.0
    assert (significance.effect, significance.effect.low, significance.effect.high) == (
        0.0,
        0.0,
        0.0,
    )


@pytest.mark.parametrize("name", SCORED)
def test_swapping_the_columns_flips_the_difference(name: str) -> None:
    sample = scored(90)
    one, other = paired_influence(sample, find(name)), paired_influence(swapped(sample), find(name))
    assert one.effect == pytest.approx(-float(other.effect))
    assert one.p == pytest.approx(other.p)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_undefined_resamples_of_scores_are_counted(name: str) -> None:
    truth = np.array([1, 1] + [0] * 30, np.uint16)
    generator = np.random.default_rng(0)
    said = {"a": generator.random(32), "b": generator.random(32)}
    sample = Sample.of_rows(("no", "yes"), truth, said)
    significance = paired_score_bootstrap(sample, find(name), method=QUICK)
    assert significance.table["undefined"] == pytest.approx(200 * (30 / 32) ** 32, abs=15)


def test_models_that_differ_by_the_same_in_every_row_cannot_be_judged() -> None:
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0], np.uint16)
    said = {"a": np.where(truth == 1, 0.5, 0.5), "b": np.where(truth == 1, 1.0, 0.0)}
    significance = paired_influence(Sample.of_rows(("no", "yes"), truth, said), find("roc_auc"))
    assert significance.effect == 0.5
    assert math.isnan(significance.p)
    assert "nothing can be said" in significance.sentence


# -- clusters of scores ----------------------------------------------------------------------------


def clustered(count: int, size: int = 200) -> Sample:
    names = [f"host{i:03}" for i in range(count)]
    return scored(size, cluster=np.arange(size) % count, clusters=names)


@pytest.mark.parametrize("name", SCORED)
def test_clusters_of_one_row_are_nearly_independent_rows(name: str) -> None:
    alone, plain = (
        paired_influence(clustered(200), find(name)),
        paired_influence(scored(), find(name)),
    )
    assert alone.method == "cluster delta"
    assert alone.effect == pytest.approx(float(plain.effect))
    width = plain.effect.high - plain.effect.low
    assert (alone.effect.low, alone.effect.high) == pytest.approx(
        (plain.effect.low, plain.effect.high), abs=0.01 * width
    )


@pytest.mark.parametrize("name", SCORED)
def test_repeating_each_row_within_its_cluster_changes_nothing(name: str) -> None:
    truth, a, b = rows(60)
    names = [f"host{i:03}" for i in range(60)]

    def sample(times: int) -> Sample:
        said = {"old": np.repeat(a, times), "new": np.repeat(b, times)}
        cluster = np.repeat(np.arange(60), times)
        return Sample.of_rows(
            ("no", "yes"), np.repeat(truth, times), said, cluster=cluster, clusters=names
        )

    once, tenfold = (
        paired_influence(sample(1), find(name)),
        paired_influence(sample(10), find(name)),
    )
    assert tenfold.p == pytest.approx(once.p)
    assert (tenfold.effect.low, tenfold.effect.high) == pytest.approx(
        (once.effect.low, once.effect.high)
    )


@pytest.mark.parametrize("name", ["roc_auc", "brier"])
def test_clusters_are_resampled_whole(name: str) -> None:
    significance = paired_score_bootstrap(clustered(20), find(name), method=QUICK)
    expected = paired_influence(clustered(20), find(name))
    assert significance.effect == pytest.approx(float(expected.effect), abs=1e-12)
    width = expected.effect.high - expected.effect.low
    assert significance.effect.low == pytest.approx(expected.effect.low, abs=0.4 * width)


@pytest.mark.parametrize("test", [paired_influence, paired_score_bootstrap])
@pytest.mark.parametrize("name", SCORED)
def test_one_cluster_cannot_be_judged(name: str, test) -> None:
    with pytest.raises(MethodError, match="one cluster tells nothing"):
        test(clustered(1), find(name))


@pytest.mark.parametrize("test", [paired_influence, paired_score_bootstrap])
def test_a_class_of_one_cluster_cannot_be_judged(test) -> None:
    rows = clustered(20)
    apart = replace(rows, cluster=np.where(rows.truth == 1, 0, 1 + rows.cluster % 19))
    with pytest.raises(MethodError, match=r"rows of a class are of one cluster.*leave clusters"):
        test(apart, find("roc_auc"))


@pytest.mark.parametrize("test", [paired_influence, paired_score_bootstrap])
@pytest.mark.parametrize("key", [("roc_auc", "macro"), ("roc_auc", "weighted"), ("roc_auc_ovo",)])
def test_a_class_of_one_cluster_among_more_classes_cannot_be_judged(key, test) -> None:
    generator = np.random.default_rng(4)
    truth, host = np.arange(90) % 3, np.arange(90) % 10
    tables = {name: generator.dirichlet(np.ones(3), 90) for name in ("old", "new")}
    names = [str(i) for i in range(11)]
    known = Sample.of_rows(tuple("abc"), truth, tables, cluster=host, clusters=names)
    name, average = (*key, None)[:2]
    options = {"average": average}
    options |= {"method": QUICK} if test is paired_score_bootstrap else {}
    assert test(known, find(name), **options).effect.low < 0
    alone = np.where(truth == 2, 10, host)
    lone = Sample.of_rows(tuple("abc"), truth, tables, cluster=alone, clusters=names)
    with pytest.raises(MethodError, match="all rows of a class are of one cluster"):
        test(lone, find(name), **options)
    # A mean of all rows is of no class.
    del options["average"]
    assert test(lone, find("log_loss"), **options).effect.low < np.inf


# -- how much work it is ---------------------------------------------------------------------------


def test_resamples_that_are_alike_are_looked_at_once() -> None:
    looked_at = []

    def influence(counted: ScoreCounts) -> Influence:
        looked_at.append(counted)
        return auc_influence(counted)

    measure = replace(find("roc_auc"), of_scores=Ranked(influence=influence))
    scores = {"old": np.array([0.1, 0.9]), "new": np.array([0.9, 0.1])}
    rows = Sample.of_rows(("no", "yes"), np.array([0, 1]), scores)
    difference = paired_score_bootstrap(rows, measure, method=Bootstrap(resamples=1000))
    # Both rows, or one of them twice, which has no AUC.
    assert (difference.effect, difference.table["drawn"]) == (-1.0, 1000)
    assert 400 < difference.table["undefined"] < 600
    assert len(looked_at) == 4


def test_measures_are_read_off_the_same_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = []
    plain = Sample._score_counts

    def counted(sample: Sample, column: int, counts: object) -> ScoreCounts:
        columns.append(column)
        return plain(sample, column, counts)

    monkeypatch.setattr(Sample, "_score_counts", counted)
    rows, measures = scored(), [(find(name), None) for name in ("roc_auc", "ks", "brier")]
    told = []
    together = resampled_scores(rows, measures, QUICK, lambda *done: told.append(done))
    assert told == [(done, QUICK.resamples) for done in range(QUICK.resamples)]
    assert len(columns) == 2 * QUICK.resamples
    for (measure, _), draws in zip(measures, together, strict=True):
        alone = paired_score_bootstrap(rows, measure, method=QUICK)
        same = paired_score_bootstrap(rows, measure, method=QUICK, draws=draws)
        assert (alone.effect.low, alone.effect.high, alone.p) == (
            same.effect.low,
            same.effect.high,
            same.p,
        )


# -- what is not declared --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["expected_calibration_error", "roc_auc_ovo", "recall"])
@pytest.mark.parametrize("test", [paired_influence, paired_score_bootstrap, paired_scores])
def test_a_measure_that_no_row_is_said_to_move_has_no_difference(name: str, test) -> None:
    with pytest.raises(MethodError, match=f"{name} does not say how a row moves it"):
        test(scored(), find(name))


def test_only_the_auc_has_delongs_test() -> None:
    auc = find("roc_auc")
    gini = replace(auc, name="gini", aliases=())
    assert paired_scores(scored(), auc).test == "delong"
    assert paired_scores(scored(), gini).test == "paired_influence"
    assert paired_scores(clustered(20), auc).test == "paired_influence"
