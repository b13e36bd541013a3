import numpy as np

from assay import Evaluation, evaluate


def drawn(size: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A calibrated model: what was true, and the probability of it."""
    generator = np.random.default_rng(seed)
    chance = generator.beta(0.4, 0.6, size)
    return (generator.random(size) < chance).astype(int), chance


def classes(order: list[int], size: int = 400, spread: float = 0.3) -> Evaluation:
    """A calibrated model of four classes whose columns are taken in another order."""
    generator = np.random.default_rng(2)
    table = generator.dirichlet([spread] * 4, size)
    truth = (table.cumsum(axis=1) < generator.random((size, 1))).sum(axis=1)
    return evaluate(np.array(list("abcd"))[truth.clip(0, 3)], y_proba=table[:, order])


def test_the_column_of_the_other_class_is_found_with_both_brier_scores(message) -> None:
    truth, chance = drawn()
    evaluation = evaluate(truth, y_score=1 - chance)
    brier, right = evaluation["brier"], evaluate(truth, y_score=chance)["brier"]
    assert message(evaluation, "E014") == (
        f"As probabilities of '1' the scores have a Brier score of {brier:.3g}, as those of '0' "
        f"it would be {right:.3g}: the column looks like that of '0'. Give the other column, or "
        f"check which label is positive."
    )


def test_inversion_is_told_beside_it_and_nothing_else() -> None:
    truth, chance = drawn()
    codes = [finding.code for finding in evaluate(truth, y_score=1 - chance).findings]
    assert codes == ["E001", "E014"]


def test_the_right_column_is_not(message) -> None:
    truth, chance = drawn()
    assert message(evaluate(truth, y_score=chance), "E014") is None


def test_inverted_scores_that_are_no_probabilities_either_way_are_left_to_e001(message) -> None:
    truth, chance = drawn()
    evaluation = evaluate(truth, y_score=(1 - chance) * 0.01)
    assert message(evaluation, "E014") is None
    assert message(evaluation, "E001") is not None


def test_a_few_rows_prove_nothing(message) -> None:
    assert message(evaluate([0, 0, 1, 1], y_score=[0.9, 0.8, 0.2, 0.1]), "E014") is None


def test_weights_are_heeded(message) -> None:
    truth, chance = drawn()
    weight = np.random.default_rng(1).uniform(0.5, 2, len(truth))
    sentence = message(evaluate(truth, y_score=1 - chance, sample_weight=weight), "E014")
    right = evaluate(truth, y_score=chance, sample_weight=weight)["brier"]
    assert f"it would be {right:.3g}" in sentence


def test_exchanged_columns_are_named(message) -> None:
    sentence = message(classes([0, 2, 1, 3]), "E014")
    assert sentence.startswith(
        "Columns of probabilities look exchanged: 'b' goes by 'c' and 'c' by 'b'. Put right, the "
        "mean probability of the truth would rise from"
    )
    assert "'b' goes by 'c'" in message(classes([0, 2, 1, 3]), "E001")


def test_columns_in_order_are_not(message) -> None:
    assert message(classes([0, 1, 2, 3]), "E014") is None


def test_columns_of_a_model_that_knows_little_are_not(message) -> None:
    assert message(classes([0, 2, 1, 3], spread=5), "E014") is None


def test_exchanged_columns_are_found_beside_decisions_that_are_right(message) -> None:
    truth = np.array(list("abc") * 60)
    table = np.full((180, 3), 0.1) + 0.7 * np.eye(3)[np.arange(180) % 3]
    evaluation = evaluate(truth, y_proba=table[:, [1, 0, 2]], y_pred=truth)
    assert "'a' goes by 'b'" in message(evaluation, "E014")
