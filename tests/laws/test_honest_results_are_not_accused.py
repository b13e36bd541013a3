"""Findings accuse nobody who is honest of a mistake, and whoever is likely mistaken."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from assay import evaluate

Generator = np.random.Generator


def rows(random: Generator, skill: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and a score of a detector of some skill, perhaps of none."""
    size = int(random.integers(60, 1500))
    share = random.uniform(0.03, 0.6)
    truth = (random.random(size) < share).astype(int)
    truth[:2], truth[-2:] = 0, 1
    skill = random.choice([0.0, 0.5, 1.0, 2.0, 3.0]) if skill is None else skill
    return truth, random.normal(size=size) + skill * truth


def probabilities(random: Generator) -> Mapping[str, Any]:
    truth, score = rows(random)
    chance = 1 / (1 + np.exp(-(score - np.quantile(score, 1 - truth.mean()))))
    return {"y_true": truth, "y_score": chance}


def logits(random: Generator) -> Mapping[str, Any]:
    truth, score = rows(random)
    return {"y_true": truth, "y_score": random.uniform(0.1, 30) * score}


def flagged_logits(random: Generator) -> Mapping[str, Any]:
    truth, score = rows(random)
    return {"y_true": truth, "y_score": score, "threshold": float(np.quantile(score, 0.9))}


def anomalies(random: Generator) -> Mapping[str, Any]:
    """Distances, which are not negative and of any scale but that of probabilities."""
    truth, score = rows(random)
    return {"y_true": truth, "y_score": 10 ** random.uniform(0, 4) * np.exp(score)}


def counts(random: Generator) -> Mapping[str, Any]:
    """Whole numbers, such as how many rules have fired."""
    truth, score = rows(random)
    return {"y_true": truth, "y_score": random.poisson(np.exp(score) * random.uniform(1, 9))}


def decisions(random: Generator) -> Mapping[str, Any]:
    truth, score = rows(random)
    return {"y_true": truth, "y_pred": (score > np.quantile(score, 0.8)).astype(int)}


def ranks(random: Generator) -> Mapping[str, Any]:
    """What remains of scores whose scale nobody trusts."""
    truth, score = rows(random, 2.0)
    return {"y_true": truth, "y_score": np.argsort(np.argsort(score)) + 1}


HONEST: tuple[Callable[[Generator], Mapping[str, Any]], ...] = (
    *(probabilities, logits, flagged_logits, anomalies, counts, decisions, ranks),
)


def accused_of(**columns: Any) -> list[str]:
    """The codes of findings that call the input a likely mistake."""
    return [finding.code for finding in evaluate(**columns).findings if finding.mistake]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("draw", HONEST)
def test_honest_results_are_not_accused(draw: Callable[[Generator], Mapping[str, Any]]) -> None:
    random = np.random.default_rng(20261116)
    for _ in range(10):
        assert accused_of(**draw(random)) == []


@pytest.mark.slow
def test_fewer_than_one_honest_result_in_a_thousand_is_accused() -> None:
    random = np.random.default_rng(16)
    accused = [code for draw in HONEST * 150 for code in accused_of(**draw(random))]
    assert len(accused) <= 0.001 * 150 * len(HONEST), accused


# -- likely mistakes -------------------------------------------------------------------------------


def turned(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": 1 / (1 + np.exp(score))}


def in_percent(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": 100 / (1 + np.exp(-2 * score))}


def in_percent_at_a_half(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": 100 / (1 + np.exp(-score)), "threshold": 0.5}


def row_numbers(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": np.arange(len(truth))}


def moments(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": 1_794_000_000 + 60 * np.arange(len(truth))}


def the_label(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": truth}


def the_label_decided(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_pred": truth}


def learned_from(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": 1 / (1 + np.exp(-score - 9 * truth))}


def beyond_the_scores(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": score, "threshold": 50.0}


def harmless(truth: np.ndarray, score: np.ndarray) -> Mapping[str, Any]:
    return {"y_score": 1 / (1 + np.exp(-score)), "positive": 0}


MISTAKES = {
    turned: "E001",
    in_percent: "E020",
    in_percent_at_a_half: "E020",
    row_numbers: "E021",
    moments: "E021",
    the_label: "E003",
    the_label_decided: "E023",
    learned_from: "E023",
    beyond_the_scores: "E012",
    harmless: "E014",
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("made", MISTAKES)
def test_a_likely_mistake_is_found(made: Callable[..., Mapping[str, Any]]) -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        truth = (random.random(400) < 0.4).astype(int)
        score = random.normal(size=400) + 2 * truth - 1
        assert MISTAKES[made] in accused_of(y_true=truth, **made(truth, score))
