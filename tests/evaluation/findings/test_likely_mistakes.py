"""E020 to E023, and which findings the first line of a report tells."""

from typing import Any

import numpy as np
import pytest

from assay import evaluate, evaluate_counts, evaluate_files
from assay.evaluation.evaluation import likely_mistakes, mistakes_of_models
from assay.sources.files import Request

RANDOM = np.random.default_rng(20)
TRUTH = (RANDOM.random(400) < 0.3).astype(int)
LOGIT = RANDOM.normal(size=400) + 3 * TRUTH - 1.5
SHARE = 1 / (1 + np.exp(-2 * LOGIT))


# -- E020 ------------------------------------------------------------------------------------------


def test_percents_without_a_threshold_are_found(message) -> None:
    sentence = message(evaluate(TRUTH, y_score=100 * SHARE), "E020")
    assert sentence is not None
    assert "such as 50" in sentence


def test_percents_beside_a_threshold_of_shares_are_found_with_the_right_one(message) -> None:
    sentence = message(evaluate(TRUTH, y_score=100 * SHARE, threshold=0.4), "E020")
    assert sentence is not None
    assert sentence.endswith("or take a threshold of 40.")


def test_percents_with_their_own_threshold_are_not(message) -> None:
    assert message(evaluate(TRUTH, y_score=100 * SHARE, threshold=50), "E020") is None


@pytest.mark.parametrize("scale", [1, 5, 250, 1000])
def test_other_scales_are_not(message, scale: float) -> None:
    assert message(evaluate(TRUTH, y_score=scale * SHARE), "E020") is None


def test_percents_that_only_rank_beside_decisions_are_not(message) -> None:
    evaluation = evaluate(TRUTH, y_score=100 * SHARE, y_pred=(SHARE > 0.5).astype(int))
    assert message(evaluation, "E020") is None


# -- E021 ------------------------------------------------------------------------------------------


def test_row_numbers_are_found_in_any_order(message) -> None:
    for numbers in (np.arange(400), np.arange(400)[::-1], RANDOM.permutation(400) + 1):
        assert message(evaluate(TRUTH, y_score=numbers), "E021") is not None


def test_row_numbers_of_a_sorted_file_are_found(message) -> None:
    assert message(evaluate(np.sort(TRUTH), y_score=np.arange(400)), "E021") is not None


def test_ranks_of_a_model_are_not(message) -> None:
    ranks = np.argsort(np.argsort(LOGIT))
    assert message(evaluate(TRUTH, y_score=ranks), "E021") is None


@pytest.mark.parametrize("unit", [1, 1e3, 1e6, 1e9])
def test_moments_are_found_in_any_unit(message, unit: float) -> None:
    assert message(evaluate(TRUTH, y_score=(1.794e9 + LOGIT) * unit), "E021") is not None


@pytest.mark.parametrize(
    ("column", "suspected"),
    [
        ("flow_id", True),
        ("rowNumber", True),
        ("Unnamed: 0", True),
        ("id_score", False),
        ("bytes", False),
        ("idle", False),
    ],
)
def test_a_column_is_known_by_its_name(message, tmp_path, column: str, *, suspected: bool) -> None:
    path = tmp_path / "rows.csv"
    odd = 7 * np.argsort(np.argsort(LOGIT)) + 10_000
    lines = [f"{truth},{value}" for truth, value in zip(TRUTH, odd, strict=True)]
    path.write_text("\n".join([f"label,{column}", *lines]) + "\n")
    evaluation = evaluate_files(str(path), Request(score=column))
    assert (message(evaluation, "E021") is not None) is suspected


# -- E022 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positive", "negative", "suspected"),
    [
        ("normal", "attack", True),
        ("Benign", "ddos", True),
        ("0", "1", True),
        ("no", "yes", True),
        ("attack", "normal", False),
        ("clean", "benign", False),
        ("0", "2", False),
    ],
)
def test_a_positive_of_harmless_name_is_found(
    message, positive: str, negative: str, *, suspected: bool
) -> None:
    evaluation = evaluate_counts(tp=40, fp=3, fn=5, tn=60, labels=[negative, positive])
    assert (message(evaluation, "E022") is not None) is suspected


# -- E023 ------------------------------------------------------------------------------------------


def test_no_wrong_row_among_many_is_found(message) -> None:
    assert message(evaluate(TRUTH, y_score=LOGIT + 9 * TRUTH), "E023") is not None
    assert message(evaluate(TRUTH, y_pred=TRUTH), "E023") is not None


def test_one_wrong_row_or_few_rows_are_not(message) -> None:
    wrong = TRUTH.copy()
    wrong[0] = 1 - wrong[0]
    assert message(evaluate(TRUTH, y_pred=wrong), "E023") is None
    assert message(evaluate([0, 1] * 49, y_pred=[0, 1] * 49), "E023") is None


# -- the first line --------------------------------------------------------------------------------


def test_a_model_that_knows_nothing_is_not_said_to_be_inverted_for_sure() -> None:
    """One in forty has an interval below chance; that is a finding, and no likely mistake."""
    surely = weakly = 0
    random = np.random.default_rng(5)
    for _ in range(150):
        evaluation = evaluate(TRUTH, y_score=random.normal(size=400))
        for finding in evaluation.findings:
            weakly += finding.code == "E001"
            surely += finding.mistake
    assert weakly > 0
    assert surely == 0


def test_mistakes_of_models_are_told_with_their_names() -> None:
    tallies = {
        "old": evaluate(TRUTH, y_score=LOGIT).tally,
        "new": evaluate(TRUTH, y_score=-LOGIT).tally,
    }
    (finding,) = mistakes_of_models(tallies)
    assert finding.code == "E001"
    assert finding.message.startswith("'new': The AUC is")
    assert finding.title == "labels or scores look inverted ('new')"


def test_what_is_about_a_given_threshold_is_left_out_where_none_was_given() -> None:
    tally = evaluate(TRUTH, y_score=LOGIT, threshold=50).tally
    assert likely_mistakes(tally) == ()
    assert [each.code for each in likely_mistakes(tally, threshold_given=True)] == ["E012"]


def likely(truth: Any, scores: Any, **options: Any) -> set[str]:
    findings = evaluate(truth, y_score=scores, **options).findings
    return {finding.code for finding in findings if finding.mistake}


def test_honest_probabilities_of_rare_attacks_are_no_mistake_though_none_reaches_a_half() -> None:
    random = np.random.default_rng(7)
    chance = 0.3 * random.random(4000) ** 6
    truth = random.random(4000) < chance
    assert "E012" in {finding.code for finding in evaluate(truth, y_score=chance).findings}
    assert likely(truth, chance) == set()
    assert likely(truth, chance / 100) == {"E012"}


def test_ranks_of_few_attacks_are_no_row_numbers() -> None:
    ranks = np.arange(1, 101)
    truth = ranks > 96
    assert likely(truth, ranks) == set()
    mixed = np.isin(ranks, [30, 80, 93, 98])
    assert likely(mixed, ranks) == set()


def test_ranks_with_1_for_the_most_suspicious_are_turned_round_and_no_row_numbers() -> None:
    random = np.random.default_rng(8)
    truth = random.random(300) < 0.3
    order = np.argsort(-(3 * truth + random.normal(size=300)))
    ranks = np.empty(300)
    ranks[order] = np.arange(1, 301)
    assert likely(truth, ranks) == {"E001"}


def test_counts_with_few_attacks_are_no_percents() -> None:
    random = np.random.default_rng(9)
    counts = random.poisson(4, 100).astype(float)
    truth = np.zeros(100, bool)
    truth[:4], counts[:4] = True, (78, 80, 84, 96)
    assert likely(truth, counts) == set()
