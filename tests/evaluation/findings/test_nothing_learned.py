import numpy as np

from assay import evaluate, evaluate_counts


def drawn(shift: float, size: int = 300) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    truth = generator.random(size) < 0.3
    return truth.astype(int), generator.normal(size=size) + shift * truth


def test_an_auc_whose_interval_holds_a_half_is_found(message) -> None:
    truth, score = drawn(0)
    evaluation = evaluate(truth, y_score=score, threshold=0)
    sentence = message(evaluation, "E002")
    auc = evaluation["roc_auc"]
    assert f"AUC, {auc:.3g} [{auc.low:.3g}, {auc.high:.3g}], contains 0.5" in sentence


def test_an_auc_just_above_it_is_not(message) -> None:
    truth, score = drawn(0.35)
    evaluation = evaluate(truth, y_score=score, threshold=0)
    assert 0.5 < evaluation["roc_auc"].low < 0.55
    assert message(evaluation, "E002") is None


def test_an_auc_below_it_is_told_as_inversion_only(message) -> None:
    truth, score = drawn(1)
    evaluation = evaluate(truth, y_score=-score, threshold=0)
    assert message(evaluation, "E001") is not None
    assert message(evaluation, "E002") is None


def test_decisions_are_judged_by_informedness(message) -> None:
    sentence = message(evaluate_counts(tp=52, fp=103, fn=48, tn=97), "E002")
    assert sentence == (
        "The interval of informedness, 0.005 [-0.114, 0.124], contains 0: on these rows the model "
        "can't be told from chance. Check that labels and what the model said belong to the same "
        "rows, or test on more."
    )
    assert message(evaluate_counts(tp=62, fp=93, fn=38, tn=107), "E002") is None


def test_many_classes_are_judged_by_kappa(message) -> None:
    sentence = message(evaluate_counts(matrix=[[10, 10, 11], [9, 10, 10], [11, 9, 10]]), "E002")
    assert "kappa" in sentence
    assert "contains 0" in sentence
    worse = message(evaluate_counts(matrix=[[10, 15, 15], [15, 10, 15], [15, 15, 10]]), "E002")
    assert "lies below 0" in worse
    assert message(evaluate_counts(matrix=[[20, 5, 6], [5, 20, 5], [6, 4, 20]]), "E002") is None


def test_one_decision_for_all_rows_is_left_to_e012(message) -> None:
    evaluation = evaluate_counts(tp=0, fp=0, fn=50, tn=100)
    assert message(evaluation, "E002") is None
    assert message(evaluation, "E012") is not None


def test_without_one_of_the_classes_it_is_silent(message) -> None:
    evaluation = evaluate([0, 0, 0], y_score=[0.1, 0.2, 0.9], labels=[0, 1])
    assert message(evaluation, "E002") is None
