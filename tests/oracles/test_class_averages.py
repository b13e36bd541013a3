"""Averages over classes of AUC and AP: scikit-learn's values, their bootstrap, their jackknife."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from tests.laws.counted import Counted, counted

from assay.counts import Sample
from assay.inference import Bootstrap
from assay.measures import AVERAGE_PRECISION, ROC_AUC, ROC_AUC_OVO, ClassAverage

LABELS = ("benign", "dos", "probe")
SHARES = (0.5, 0.35, 0.15)


@lru_cache
def drawn(rows: int = 500, gap: float = 1.2, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities, rounded so that there are ties."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, rows, p=SHARES)
    said = rng.normal(size=(rows, 3))
    said[np.arange(rows), truth] += gap
    # In 64ths, which sum to 1 exactly.
    shares = np.exp(said) / np.exp(said).sum(axis=1, keepdims=True)
    table = np.floor(shares * 64)
    table[:, 0] += 64 - table.sum(axis=1)
    return truth, table / 64


def ovr(average: str):
    return lambda truth, table, weights=None: roc_auc_score(
        truth, table, multi_class="ovr", average=average, sample_weight=weights
    )


def ap(average: str):
    return lambda truth, table, weights=None: average_precision_score(
        np.eye(3)[truth], table, average=average, sample_weight=weights
    )


def ovo(truth: np.ndarray, table: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Theirs, which takes no weights; with weights the mean of theirs over pairs."""
    if weights is None:
        return roc_auc_score(truth, table, multi_class="ovo")
    values = []
    for i, j in permutations(range(3), 2):
        rows = (truth == i) | (truth == j)
        values.append(roc_auc_score(truth[rows] == i, table[rows, i], sample_weight=weights[rows]))
    return float(np.mean(values))


THEIRS = {
    "roc_auc.macro": (ovr("macro"), ClassAverage(ROC_AUC.of_scores)),
    "roc_auc.weighted": (ovr("weighted"), ClassAverage(ROC_AUC.of_scores, weighted=True)),
    "roc_auc_ovo": (ovo, ROC_AUC_OVO.of_scores),
    "average_precision.macro": (ap("macro"), ClassAverage(AVERAGE_PRECISION.of_scores)),
    "average_precision.weighted": (
        ap("weighted"),
        ClassAverage(AVERAGE_PRECISION.of_scores, weighted=True),
    ),
}


def evaluated(truth: np.ndarray, table: np.ndarray) -> Counted:
    return counted(LABELS, truth, scores=table)


@pytest.mark.parametrize("name", THEIRS)
def test_the_value_is_that_of_scikit_learn(name: str) -> None:
    truth, table = drawn()
    theirs = THEIRS[name][0](truth, table)
    assert evaluated(truth, table)[name].value == pytest.approx(theirs, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", THEIRS)
def test_the_interval_is_that_of_a_bootstrap_of_scikit_learn(name: str) -> None:
    """Both ends within a seventh of the width, by 400 resamples of the same rows."""
    truth, table = drawn()
    rng = np.random.default_rng(11)
    theirs = []
    for _ in range(400):
        rows = rng.integers(0, len(truth), len(truth))
        theirs.append(THEIRS[name][0](truth[rows], table[rows]))
    low, high = np.percentile(theirs, [2.5, 97.5])
    for method in (None, Bootstrap(resamples=400)):
        estimate = evaluated(truth, table).at(method=method)[name]
        assert estimate.low == pytest.approx(low, abs=(high - low) / 7), method
        assert estimate.high == pytest.approx(high, abs=(high - low) / 7), method


@pytest.mark.slow
@pytest.mark.parametrize("name", THEIRS)
def test_each_rows_influence_is_the_slope_of_its_weight(name: str) -> None:
    """A little more weight for a row moves scikit-learn's value by as much."""
    truth, table = drawn(90)
    theirs, declared = THEIRS[name]
    sample = Sample.of_rows(LABELS, truth, {"model": table})
    value, moves = declared.moves(sample, 0)
    step = 1e-5

    def moved(i: int, by: float) -> float:
        weights = sample.counts + by * (np.arange(sample.size) == i)
        return theirs(sample.truth, sample.scores, weights)

    assert value == pytest.approx(theirs(truth, table), rel=1e-12)
    slopes = [(moved(i, step) - moved(i, -step)) / (2 * step) for i in range(sample.size)]
    np.testing.assert_allclose(moves, slopes, atol=1e-8)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", THEIRS)
def test_the_variance_is_that_of_the_jackknife(name: str) -> None:
    """Within a tenth, for 300 rows."""
    truth, table = drawn(300)
    theirs, declared = THEIRS[name]
    sample = Sample.of_rows(LABELS, truth, {"model": table})
    moves, rows = declared.moves(sample, 0)[1], np.arange(len(truth))
    left_out = [theirs(truth[rows != i], table[rows != i]) for i in rows]
    jackknife = np.square(np.array(left_out) - np.mean(left_out)).sum()
    assert (sample.counts * moves**2).sum() == pytest.approx(jackknife, rel=0.1)
