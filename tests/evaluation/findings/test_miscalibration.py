import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay import evaluate
from assay.evaluation.findings import miscalibration

Columns = dict[str, Any]


def drawn(generator: np.random.Generator, size: int, a: float, b: float) -> Columns:
    """Rows of a model that is calibrated."""
    chance = generator.beta(a, b, size)
    truth = generator.random(size) < chance
    return {"y_true": truth, "y_score": chance, "labels": [False, True]}


def clustered(generator: np.random.Generator, hosts: int, power: float = 1.0) -> Columns:
    """Hosts whose rows are all attacks or none, each with a chance that the model knows."""
    size = generator.integers(2, 20, hosts)
    chance = generator.random(hosts)
    truth = np.repeat(generator.random(hosts) < chance, size)
    score = np.repeat(chance**power, size)
    host = np.repeat(np.arange(hosts), size)
    return {"y_true": truth, "y_score": score, "clusters": host, "labels": [False, True]}


@pytest.fixture
def accused(lean) -> Callable[[Columns], bool]:
    return lambda columns: miscalibration.look(lean(**columns)) is not None


def test_probabilities_that_are_too_low_are_found_with_what_is_usual(message) -> None:
    columns = drawn(np.random.default_rng(0), 5000, 1, 1)
    evaluation = evaluate(**{**columns, "y_score": columns["y_score"] ** 2})
    sentence = message(evaluation, "E011")
    error = evaluation["expected_calibration_error"]
    assert f"is {error:.3g}; a calibrated model of this size shows" in sentence
    assert f"shows {error.parts['if_calibrated']:.3g} on average" in sentence
    bound = float(re.search(r"stays below (\S+) in 99 of 100", sentence)[1])
    assert error.parts["if_calibrated"] < bound < error


def test_calibrated_probabilities_are_not(message) -> None:
    assert message(evaluate(**drawn(np.random.default_rng(0), 5000, 1, 1)), "E011") is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("size", "a", "b"),
    [(30, 1, 1), (300, 0.5, 0.5), (3000, 2, 2), (300, 0.1, 5), (3000, 0.05, 20)],
)
def test_a_calibrated_model_is_seldom_accused(accused, size: int, a: float, b: float) -> None:
    generator = np.random.default_rng(size)
    assert sum(accused(drawn(generator, size, a, b)) for _ in range(200)) <= 10


def test_one_unlikely_row_is_no_miscalibration(accused) -> None:
    # 0.08 positives are expected in each test set, so one comes in 8 of 100.
    generator = np.random.default_rng(8)
    score = np.full(100, 0.0008)
    rows = [
        {"y_true": generator.random(100) < score, "y_score": score, "labels": [False, True]}
        for _ in range(200)
    ]
    assert sum(map(accused, rows)) <= 10


def test_rows_of_a_cluster_are_not_independent(accused) -> None:
    generator = np.random.default_rng(4)
    rows = [clustered(generator, 60) for _ in range(100)]
    assert sum(map(accused, rows)) <= 5
    # Taken as independent, many of the same rows would be found guilty.
    assert sum(accused({**columns, "clusters": None}) for columns in rows) > 25


def test_miscalibration_is_found_between_clusters_too(message) -> None:
    evaluation = evaluate(**clustered(np.random.default_rng(4), 400, power=3))
    assert message(evaluation, "E011") is not None


def test_without_the_spread_between_clusters_it_is_silent(message) -> None:
    truth, score = [0, 0, 0, 1] * 100, [0.9, 0.8, 0.7, 0.95] * 100
    assert message(evaluate(truth, y_score=score), "E011") is not None
    assert message(evaluate(truth, y_score=score, clusters=["a"] * 400), "E011") is None
    several = {"clusters": np.arange(400) // 4, "sample_weight": np.ones(400)}
    assert message(evaluate(truth, y_score=score, **several), "E011") is None


def test_an_excess_of_less_than_a_point_is_not(message) -> None:
    # So many rows that the error is sure, and so small that it changes nothing.
    score, rows = np.array([0.3, 0.5, 0.7]), 1_000_000
    for off, told in ((0.009, False), (0.011, True)):
        counts = np.rint(np.concatenate([1 - score - off, score + off]) * rows).astype(int)
        evaluation = evaluate([0, 0, 0, 1, 1, 1], y_score=np.tile(score, 2), counts=counts)
        assert (message(evaluation, "E011") is not None) == told


def test_where_attacks_are_rare_a_smaller_excess_counts(message) -> None:
    generator = np.random.default_rng(1)
    score = generator.beta(1, 999, 200_000)
    truth = generator.random(200_000) < score
    assert message(evaluate(truth, y_score=score), "E011") is None
    sentence = message(evaluate(truth, y_score=4 * score.clip(0, 0.25)), "E011")
    assert sentence is not None


def test_huge_counts_do_no_harm(message) -> None:
    evaluation = evaluate([0, 1, 0, 1], y_score=[0.1, 0.4, 0.6, 0.95], counts=[10**18] * 4)
    assert message(evaluation, "E011") is not None


def test_few_effective_rows_prove_nothing(message) -> None:
    truth, score = np.tile([0, 1, 1], 100), np.tile([0.1, 0.2, 0.6], 100)
    weight = np.ones(300)
    assert message(evaluate(truth, y_score=score, sample_weight=weight), "E011") is not None
    weight[:3] = 1e6
    assert message(evaluate(truth, y_score=score, sample_weight=weight), "E011") is None


def test_scores_that_are_no_probabilities_are_not_judged(message) -> None:
    evaluation = evaluate([0, 1] * 100, y_score=[-1, 5] * 100, threshold=0)
    assert message(evaluation, "E011") is None
