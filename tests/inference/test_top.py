"""Precision and detection rate among the top alerts of a day."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.counts import ScoreCounts
from assay.inference import top

LABELS = ("normal", "attack")
rows = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9])),
    min_size=1,
    max_size=30,
)


def table(drawn: list[tuple[int, float]]) -> ScoreCounts:
    truth, scores = zip(*drawn, strict=True)
    return ScoreCounts.of_rows(LABELS, np.array(scores), np.array(truth, np.uint8))


def day(attacks: int, size: int, shift: float, seed: int) -> ScoreCounts:
    random = np.random.default_rng(seed)
    truth = (np.arange(size) < attacks).astype(np.uint8)
    return ScoreCounts.of_rows(LABELS, random.normal(size=size) + shift * truth, truth)


@given(rows, st.integers(1, 40))
def test_the_top_is_the_mean_over_all_orders_of_ties(
    drawn: list[tuple[int, float]], k: int
) -> None:
    hits, false = top.read(table(drawn), k)
    above = 0.0
    left = min(k, len(drawn))
    for score in sorted({score for _, score in drawn}, reverse=True):
        tied = [truth for truth, s in drawn if s == score]
        taken = min(left, len(tied))
        above += taken * sum(tied) / len(tied)
        left -= taken
    assert hits == pytest.approx(above)
    assert hits + false == pytest.approx(min(k, len(drawn)))


def test_days_are_pooled_and_are_the_unit() -> None:
    days = {
        "a": table([(1, 0.9), (1, 0.8), (0, 0.7), (0, 0.1)]),
        "b": table([(0, 0.9), (1, 0.5), (0, 0.4)]),
        "c": table([(1, 0.9), (0, 0.5), (1, 0.4)]),
    }
    top_alerts = top.over_days(days, 2, 0.95)
    assert top_alerts.precision.value == pytest.approx(4 / 6)
    assert top_alerts.recall.value == pytest.approx(4 / 5)
    assert top_alerts.precision.method == "cluster delta"
    assert top_alerts.precision.low < 4 / 6 < top_alerts.precision.high


def test_the_interval_is_that_of_a_ratio_of_sums_over_days() -> None:
    """Each day's residual against the ratio, on the logit scale, by Student's t."""
    from scipy.stats import t

    days = {str(i): day(10 + 3 * (i % 4), 100, 1.5, i) for i in range(12)}
    hits, sizes = zip(*((top.read(d, 15)[0], 15) for d in days.values()), strict=True)
    share = sum(hits) / sum(sizes)
    residuals = np.array(hits) - share * np.array(sizes)
    error = math.sqrt(float(residuals @ residuals) * 12 / 11) / sum(sizes)
    reach = t.ppf(0.975, 11) * error / (share * (1 - share))
    precision = top.over_days(days, 15, 0.95).precision
    odds = share / (1 - share)
    assert precision.value == pytest.approx(share)
    assert precision.low == pytest.approx(1 / (1 + math.exp(reach) / odds))
    assert precision.high == pytest.approx(1 / (1 + math.exp(-reach) / odds))


def test_few_days_that_agree_are_no_proof() -> None:
    one = table([(1, 0.9), (0, 0.8), (1, 0.3), (0, 0.1)])
    precision = top.over_days({"a": one, "b": one}, 2, 0.95).precision
    assert precision.value == 0.5
    assert precision.low < 0.2
    assert precision.high > 0.8


def test_one_day_is_a_sample() -> None:
    counted = day(100, 1000, 2.0, 3)
    top_alerts = top.over_days({"a": counted}, 100, 0.95)
    hits, _ = top.read(counted, 100)
    assert top_alerts.precision.value == pytest.approx(hits / 100)
    assert top_alerts.recall.value == pytest.approx(hits / 100)
    assert top_alerts.precision.method == "delta"
    assert top_alerts.precision.low < hits / 100 < top_alerts.precision.high


@pytest.mark.parametrize(("mean", "share"), [(1.0, 0.05), (2.0, 0.3), (3.0, 0.1)])
def test_one_sample_is_as_unsure_as_a_bootstrap_of_its_rows(mean: float, share: float) -> None:
    counted = day(120, 1080, mean, 5)
    top_alerts = top.of_rows(counted, share, 0.95)
    random = np.random.default_rng(8)
    counts = counted.counts.astype(float)
    shares, rows = (counts / counts.sum()).ravel(), int(counts.sum())
    drawn = []
    for _ in range(300):
        often = random.multinomial(rows, shares).reshape(counts.shape)
        again = ScoreCounts(counted.labels, counted.scores, often)
        hits, _ = top.read(again, share * rows)
        drawn.append([hits / (share * rows), hits / often[1].sum()])
    for estimate, values in zip(
        (top_alerts.precision, top_alerts.recall), np.array(drawn).T, strict=True
    ):
        error = (estimate.high - estimate.low) / 2 / 1.96
        assert error == pytest.approx(values.std(), rel=0.3)


def test_at_the_samples_own_share_of_attacks_it_is_the_top_of_its_rows() -> None:
    counted = day(200, 2000, 1.0, 4)
    top_alerts = top.of_sample(counted, 0.05, 0.1, 0.95)
    hits, _ = top.read(counted, 100)
    assert top_alerts.precision.value == pytest.approx(hits / 100)
    assert top_alerts.recall.value == pytest.approx(hits / 200)
    assert (top_alerts.recall.n, top_alerts.precision.n) == (200, 2000)


@given(st.floats(0.001, 0.9), st.floats(0.001, 0.9))
def test_alerts_are_as_many_as_are_read_at_any_base_rate(share: float, base_rate: float) -> None:
    top_alerts = top.of_sample(day(200, 1000, 1.5, 5), share, base_rate, 0.95)
    assert top_alerts.precision.value * share == pytest.approx(top_alerts.recall.value * base_rate)
    assert 0 <= top_alerts.recall.low <= top_alerts.recall <= top_alerts.recall.high <= 1
    assert (
        0
        <= top_alerts.precision.low
        <= top_alerts.precision
        <= top_alerts.precision.high
        <= 1 + 1e-12
    )


def test_everything_that_is_read_finds_everything() -> None:
    top_alerts = top.of_sample(day(20, 100, 1.0, 6), 1.0, 0.2, 0.95)
    assert top_alerts.recall == 1
    assert top_alerts.precision.value == pytest.approx(0.2)


def test_a_day_without_attacks_has_no_detection_rate() -> None:
    top_alerts = top.over_days({"a": table([(0, 0.9), (0, 0.1)])}, 1, 0.95)
    assert top_alerts.precision == 0
    assert math.isnan(top_alerts.recall)


def test_weights_count_as_rows_and_are_no_more_sure_than_their_rows() -> None:
    truth = np.array([1, 0] * 50, np.uint8)
    scores = np.linspace(0, 1, 100)
    heavy = np.where(np.arange(100) % 10 == 0, 50.0, 1.0)
    counted = ScoreCounts.of_rows(LABELS, scores, truth, weights=heavy)
    even = ScoreCounts.of_rows(LABELS, scores, truth, weights=np.ones(100))
    recall, plain = (top.of_sample(each, 0.3, 0.5, 0.95).recall for each in (counted, even))
    assert recall.high - recall.low > plain.high - plain.low
