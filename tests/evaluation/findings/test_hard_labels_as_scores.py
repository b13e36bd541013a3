import numpy as np
import pytest

from assay import evaluate

TRUTH = [0, 0, 1, 1, 0, 1] * 4


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (0.25, 0.75)])
def test_scores_of_two_values_are_found(message, low: float, high: float) -> None:
    score = np.where(np.tile([0, 1, 1, 1, 0, 1], 4) == 1, high, low)
    sentence = message(evaluate(TRUTH, y_score=score, threshold=0.5), "E003")
    assert sentence.startswith(f"The scores of 24 rows take only two values, {low:g} and {high:g}:")
    assert "predict_proba instead of predict" in sentence


def test_a_third_value_makes_them_scores(message) -> None:
    score = [0, 1, 1, 1, 0, 1] * 3 + [0, 1, 1, 1, 0, 0.5]
    assert message(evaluate(TRUTH, y_score=score), "E003") is None


def test_one_value_is_no_decision(message) -> None:
    assert message(evaluate(TRUTH, y_score=[0.5] * 24), "E003") is None


def test_so_few_rows_may_have_two_scores(message) -> None:
    assert message(evaluate([0, 1], y_score=[0.2, 0.7]), "E003") is None


def test_the_scale_of_weights_does_not_matter(message) -> None:
    for scale in (0.001, 1000):
        evaluation = evaluate(TRUTH, y_score=[0, 1, 1, 1, 0, 1] * 4, sample_weight=[scale] * 24)
        assert message(evaluation, "E003") is not None


def test_columns_of_zeros_and_ones_are_found(message) -> None:
    truth = ["a", "b", "c"] * 10
    hard = np.eye(3)[np.arange(30) % 3]
    assert "are 0 or 1" in message(evaluate(truth, y_proba=hard), "E003")
    soft = np.full((30, 3), 0.1) + 0.7 * hard
    assert message(evaluate(truth, y_proba=soft), "E003") is None


def test_ties_saturation_and_calibration_are_not_told_again() -> None:
    evaluation = evaluate(TRUTH, y_score=[0, 1, 1, 1, 0, 1] * 4, threshold=1)
    codes = {finding.code for finding in evaluation.findings}
    assert "E003" in codes
    assert not codes & {"E004", "E005", "E006", "E011"}
