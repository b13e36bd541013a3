import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.evaluation.findings import few_distinct_scores
from assay.measures import ROC_AUC


def drawn(size: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.random(size) < 0.4
    return truth.astype(int), 1 / (1 + np.exp(-generator.normal(size=size) - 2 * truth + 1))


def bounds(truth: np.ndarray, score: np.ndarray) -> tuple[float, float]:
    """The AUC with all ties broken against the model, and for it."""
    ahead = score[truth == 1][:, None] - score[truth == 0]
    return float((ahead > 0).mean()), float((ahead >= 0).mean())


def test_rounded_scores_are_found_with_both_bounds(message) -> None:
    truth, score = drawn(5000)
    score = np.round(score, 2)
    sentence = message(evaluate(truth, y_score=score), "E004")
    low, high = bounds(truth, score)
    assert f"5,000 rows share {len(np.unique(score))} distinct scores" in sentence
    assert f"from {low:.4f} to {high:.4f}" in sentence


def test_scores_with_all_digits_are_not(message) -> None:
    truth, score = drawn(5000)
    assert message(evaluate(truth, y_score=score), "E004") is None


def test_ties_that_move_the_auc_by_less_than_a_thousandth_are_not(message) -> None:
    truth, score = drawn(5000)
    fine, coarse = np.round(score, 3), np.round(score, 2)
    assert (
        np.subtract(*bounds(truth, fine)[::-1]) < 1e-3 < np.subtract(*bounds(truth, coarse)[::-1])
    )
    assert message(evaluate(truth, y_score=fine), "E004") is None
    assert message(evaluate(truth, y_score=coarse), "E004") is not None


def test_one_tie_in_a_small_test_set_is_not(message) -> None:
    truth, score = drawn(40)
    score[np.flatnonzero(truth == 1)[0]] = score[np.flatnonzero(truth == 0)[0]]
    low, high = bounds(truth, score)
    assert high - low > 1e-3
    assert message(evaluate(truth, y_score=score), "E004") is None


def test_one_score_for_all_rows_is_found(message) -> None:
    sentence = message(evaluate([0, 1] * 50, y_score=[0.3] * 100), "E004")
    assert sentence.startswith("100 rows share 1 distinct score: as ties are broken, the AUC lies")
    assert "from 0.0000 to 1.0000" in sentence


def test_of_many_classes_the_worst_is_named(message) -> None:
    generator = np.random.default_rng(0)
    truth = np.array(["a", "b", "c"] * 200)
    table = generator.dirichlet([1, 1, 1], 600)
    assert message(evaluate(truth, y_proba=table), "E004") is None
    table[:, 2] = 0.3
    table[:, :2] *= 0.7 / table[:, :2].sum(axis=1, keepdims=True)
    sentence = message(evaluate(truth, y_proba=table), "E004")
    assert "the AUC of 'c' lies anywhere from 0.0000 to 1.0000" in sentence


def test_weights_move_the_bounds(message) -> None:
    truth, score = [0, 1, 0, 1] * 50, [0.2, 0.2, 0.1, 0.9] * 50
    weight = [1, 3, 1, 1] * 50
    sentence = message(evaluate(truth, y_score=score, sample_weight=weight), "E004")
    # Of the weight of pairs, 3/4 * 1/2 is tied and the rest is ranked right.
    assert "from 0.6250 to 1.0000 (0.8125 with ties as halves)" in sentence


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 5)), min_size=60, max_size=200).filter(
        lambda rows: len({label for label, _ in rows}) == 2
    )
)
def test_the_bounds_are_those_of_broken_ties(lean, rows: list[tuple[int, int]]) -> None:
    truth = np.array([label for label, _ in rows])
    score = np.array([step / 8 for _, step in rows])
    evaluation = lean(truth, y_score=score)
    sighting = few_distinct_scores.look(evaluation)
    low, high = bounds(truth, score)
    auc = evaluation[ROC_AUC]
    assert (sighting is not None) == (high - low > max(1e-3, 0.1 * (auc.high - auc.low)))
    if sighting is not None:
        said = re.search(r"from (\S+) to (\S+) \(", sighting)
        assert float(said[1]) == pytest.approx(low, abs=6e-5)
        assert float(said[2]) == pytest.approx(high, abs=6e-5)
