import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from assay.counts import Sample
from assay.errors import InputError, LabelError, LengthMismatch, MethodError, ScoreError
from assay.inference import delong_of, delong_test
from assay.inference.differences import covariance, placements


def by_pairs(truth, a, b) -> tuple[np.ndarray, np.ndarray]:
    """Both AUC and their covariance from all pairs of a positive and a negative."""
    truth = np.asarray(truth)
    rows, columns, aucs = [], [], []
    for scores in (np.asarray(a, float), np.asarray(b, float)):
        pos, neg = scores[truth == 1], scores[truth == 0]
        wins = (pos[:, None] > neg) + (pos[:, None] == neg) / 2
        rows.append(wins.mean(axis=1))
        columns.append(wins.mean(axis=0))
        aucs.append(wins.mean())
    spread = np.cov(rows) / len(rows[0]) + np.cov(columns) / len(columns[0])
    return np.array(aucs), spread


def noisy(size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = np.arange(size) % 2
    signal = truth + generator.normal(0, 1, size)
    return truth, signal + generator.normal(0, 0.3, size), signal + generator.normal(0, 1, size)


drawn_rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(0, 5)), min_size=6, max_size=30
)


# -- examples and oracle ---------------------------------------------------------------------------


def test_statistic_by_all_pairs() -> None:
    truth, a, b = noisy(80)
    aucs, spread = by_pairs(truth, a, b)
    error = math.sqrt(spread[0, 0] + spread[1, 1] - 2 * spread[0, 1])
    significance = delong_test(truth, a, b)
    assert significance.statistic == pytest.approx((aucs[1] - aucs[0]) / error, rel=1e-9)
    assert significance.p == pytest.approx(
        2 * stats.norm.sf(abs(aucs[1] - aucs[0]) / error), rel=1e-9
    )
    reach = stats.norm.ppf(0.975) * error
    assert significance.effect == pytest.approx(aucs[1] - aucs[0])
    assert (significance.effect.low, significance.effect.high) == pytest.approx(
        (aucs[1] - aucs[0] - reach, aucs[1] - aucs[0] + reach)
    )
    assert (significance.table["a"], significance.table["b"]) == pytest.approx(tuple(aucs))
    np.testing.assert_allclose(significance.table["covariance"], spread, atol=1e-14)


@given(drawn_rows)
def test_covariance_is_that_of_all_pairs_with_any_ties(rows) -> None:
    truth, a, b = (np.array(column) for column in zip(*rows, strict=True))
    assume(2 <= truth.sum() <= len(truth) - 2)
    sample = Sample.of_rows(("no", "yes"), truth, {"a": a, "b": b})
    aucs, spread = by_pairs(truth, a, b)
    areas, covariances = covariance(sample)
    np.testing.assert_allclose(areas, aucs, atol=1e-14)
    np.testing.assert_allclose(covariances, spread, atol=1e-12)


def test_placements_are_the_share_ranked_right_ties_half() -> None:
    sample = Sample.of_rows(
        ("no", "yes"), np.array([0, 0, 1, 1]), {"a": np.array([1.0, 2.0, 2.0, 3.0])}
    )
    shares, auc = placements(sample, 0)
    assert sample.truth.tolist() == [0, 0, 1, 1]
    assert shares.tolist() == [1.0, 0.75, 0.75, 1.0]
    assert auc == 0.875


# -- laws ------------------------------------------------------------------------------------------


@given(drawn_rows)
def test_swapping_the_models_flips_the_effect_and_keeps_p(rows) -> None:
    truth, a, b = (list(column) for column in zip(*rows, strict=True))
    assume(0 < sum(truth) < len(truth))
    one, other = delong_test(truth, a, b), delong_test(truth, b, a)
    assert one.effect == pytest.approx(-float(other.effect), abs=1e-15)
    assert one.p == pytest.approx(other.p, nan_ok=True)


@given(drawn_rows)
def test_identical_models_have_p_one(rows) -> None:
    truth, a, _ = (list(column) for column in zip(*rows, strict=True))
    assume(0 < sum(truth) < len(truth))
    significance = delong_test(truth, a, a)
    assert (significance.statistic, significance.p) == (0.0, 1.0)
    assert significance.effect == 0.0


@given(drawn_rows)
def test_only_the_ranking_matters(rows) -> None:
    truth, a, b = (np.array(column) for column in zip(*rows, strict=True))
    assume(0 < truth.sum() < len(truth))
    one, other = delong_test(truth, a, b), delong_test(truth, np.exp(a), 3 * b - 100)
    assert one.p == pytest.approx(other.p, nan_ok=True, abs=1e-12)


def test_repeating_every_row_makes_a_difference_surer() -> None:
    truth, a, b = noisy(60)
    few = delong_test(truth, a, b)
    many = delong_test(*(np.tile(column, 5) for column in (truth, a, b)))
    assert many.effect == pytest.approx(float(few.effect))
    assert many.p < few.p


def test_counts_of_a_sample_are_repetitions() -> None:
    truth, a, b = noisy(20)
    counts = np.random.default_rng(1).integers(1, 4, 20)
    counted = delong_of(Sample.of_rows(("no", "yes"), truth, {"A": a, "B": b}, counts=counts))
    repeated = delong_test(*(np.repeat(column, counts) for column in (truth, a, b)))
    assert counted.statistic == pytest.approx(repeated.statistic, rel=1e-12)


@pytest.mark.slow
def test_p_is_uniform_enough_when_nothing_differs() -> None:
    generator = np.random.default_rng(5)
    p = []
    for _ in range(300):
        truth = np.arange(60) % 2
        a, b = truth + generator.normal(0, 1, (2, 60))
        p.append(delong_test(truth, a, b).p)
    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.09


# -- degenerate ------------------------------------------------------------------------------------


def test_same_ranking_under_other_scores_is_the_same_model() -> None:
    significance = delong_test([0, 1, 0, 1], [0.1, 0.9, 0.2, 0.8], [10, 90, 20, 80])
    assert significance.p == 1.0


def test_an_interval_ends_where_aucs_can_not_differ_more() -> None:
    truth, right, wrong = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [5, 6, 3, 4, 1, 2]
    worse, better = delong_test(truth, right, wrong), delong_test(truth, wrong, right)
    assert worse.effect == pytest.approx(-7 / 9)
    assert (worse.effect.low, better.effect.high) == (-1, 1)


def test_two_perfect_models_have_p_one() -> None:
    significance = delong_test([0, 1] * 10, [0, 1] * 10, [0.2, 0.7] * 10)
    assert (significance.statistic, significance.p) == (0.0, 1.0)


def test_two_constant_models_have_p_one() -> None:
    assert delong_test([0, 1] * 10, [3] * 20, [7] * 20).p == 1.0


def test_perfect_against_constant_scores_has_no_spread_to_judge_by() -> None:
    significance = delong_test([0, 1] * 50, [0, 1] * 50, [5] * 100)
    assert significance.statistic is None
    assert math.isnan(significance.p)
    assert significance.effect == -0.5
    assert "can't be told" in significance.sentence


def test_perfect_against_a_fair_model_can_be_judged() -> None:
    truth, a, _ = noisy(200)
    significance = delong_test(truth, a, truth)
    assert significance.effect > 0
    assert significance.p < 0.0001
    assert significance.effect.high <= 1


def test_one_positive_has_no_spread_to_judge_by() -> None:
    significance = delong_test([0, 0, 0, 1], [1, 2, 3, 4], [4, 1, 3, 2])
    assert significance.statistic is None
    assert math.isnan(significance.p)
    assert math.isnan(significance.effect.low)
    assert "can't be told" in significance.sentence


def test_one_positive_and_identical_models_have_p_one() -> None:
    assert delong_test([0, 0, 0, 1], [1, 2, 3, 4], [1, 2, 3, 4]).p == 1.0


# -- arguments -------------------------------------------------------------------------------------


def test_names_and_the_positive_label_can_be_given() -> None:
    significance = delong_test(
        [-1, 1, -1, 1, 1, -1],
        [1, 2, 3, 4, 5, 6],
        [2, 1, 4, 3, 6, 5],
        positive=1,
        names=("old", "new"),
    )
    assert significance.models == ("old", "new")
    assert significance.sentence.startswith("old has AUC")


def test_text_labels_are_read_as_everywhere() -> None:
    truth = ["normal", "attack"] * 10
    a, b = np.arange(20.0), np.arange(20.0) % 7
    assert delong_test(truth, a, b).p == delong_test([0, 1] * 10, a, b).p


@pytest.mark.parametrize("truth", [[-1, 1, -1, 1], ["a", "b", "a", "b"]])
def test_labels_that_tell_no_positive_are_refused(truth) -> None:
    with pytest.raises(LabelError, match="positive="):
        delong_test(truth, [1, 2, 3, 4], [4, 3, 2, 1])


def test_scores_of_another_length_are_refused() -> None:
    with pytest.raises(LengthMismatch):
        delong_test([0, 1, 0], [1, 2, 3], [1, 2])


def test_missing_scores_are_refused() -> None:
    with pytest.raises(ScoreError, match="finite"):
        delong_test([0, 1, 0], [1, 2, math.nan], [1, 2, 3])


def test_no_rows_are_refused() -> None:
    with pytest.raises(InputError, match="found 0"):
        delong_test([], [], [])


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(LabelError, match=r"two labels; found 1: \['1'\]"):
        delong_test([1, 1, 1], [1, 2, 3], [3, 2, 1])
    sample = Sample.of_rows(("no", "yes"), np.ones(3), {name: np.arange(3.0) for name in "ab"})
    with pytest.raises(MethodError, match="positives and negatives"):
        delong_of(sample)


def test_three_models_are_refused() -> None:
    scores = {name: np.arange(4.0) for name in "abc"}
    with pytest.raises(MethodError, match="compares two models; found 3"):
        delong_of(Sample.of_rows(("no", "yes"), np.array([0, 1, 0, 1]), scores))
