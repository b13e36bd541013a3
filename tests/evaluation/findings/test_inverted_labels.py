import numpy as np

from assay import evaluate, evaluate_counts

CLASSES = ["dos", "normal", "probe", "r2l"]


def drawn(size: int = 200, shift: float = 2.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    truth = generator.random(size) < 0.5
    return truth.astype(int), generator.normal(size=size) + shift * truth


def decided(swaps: dict[str, str], size: int = 400, skill: float = 0.8, seed: int = 0):
    generator = np.random.default_rng(seed)
    truth = generator.choice(CLASSES, size)
    guess = np.where(generator.random(size) < skill, truth, generator.choice(CLASSES, size))
    return evaluate(truth, y_pred=[swaps.get(label, label) for label in guess], labels=CLASSES)


def test_scores_that_rank_upside_down_are_found(message) -> None:
    truth, score = drawn()
    sentence = message(evaluate(truth, y_score=-score, threshold=0), "E001")
    auc = evaluate(truth, y_score=score, threshold=0)["roc_auc"]
    assert sentence is not None
    assert f"would be {auc:.3g}" in sentence
    assert "'0' scores higher than '1'" in sentence


def test_scores_the_right_way_round_are_not(message) -> None:
    truth, score = drawn()
    assert message(evaluate(truth, y_score=score, threshold=0), "E001") is None


def test_an_auc_below_a_half_that_chance_explains_is_not(message) -> None:
    truth, score = drawn(size=40, shift=-0.3, seed=1)
    evaluation = evaluate(truth, y_score=score, threshold=0)
    assert evaluation["roc_auc"] < 0.5 < evaluation["roc_auc"].high
    assert message(evaluation, "E001") is None


def test_decisions_that_are_turned_over_are_found_with_what_flipping_gives(message) -> None:
    sentence = message(evaluate_counts(tp=8, fp=185, fn=92, tn=15), "E001")
    assert sentence == (
        "Informedness is -0.845 [-0.898, -0.767], below 0: decisions are worse than chance. "
        "Turned over, accuracy would go from 0.0767 to 0.923 and balanced accuracy from 0.0775 to "
        "0.922: check which label is positive."
    )


def test_a_few_wrong_decisions_are_chance(message) -> None:
    assert message(evaluate_counts(tp=1, fp=2, fn=2, tn=1), "E001") is None


def test_decisions_turned_over_are_found_beside_good_scores(message) -> None:
    truth, score = drawn()
    evaluation = evaluate(truth, y_score=score, y_pred=(score < 1).astype(int))
    assert "Informedness" in message(evaluation, "E001")


def test_clusters_that_are_all_wrong_are_found_by_their_decisions(message) -> None:
    truth = np.tile([0, 1], 40)
    score = np.where(truth == 1, -1.0, 1.0) + np.arange(80) / 1000
    evaluation = evaluate(truth, y_score=score, threshold=0, clusters=np.arange(80) // 4)
    assert np.isnan(evaluation["roc_auc"].high)
    assert "Informedness" in message(evaluation, "E001")


def test_two_swapped_classes_are_named(message) -> None:
    evaluation = decided({"dos": "probe", "probe": "dos"})
    sentence = message(evaluation, "E001")
    assert sentence.startswith(
        "Labels look exchanged: 'dos' goes by 'probe' and 'probe' by 'dos'. Put right, accuracy"
    )
    right = decided({})["accuracy"]
    assert f"from {evaluation['accuracy']:.3g} to {right:.3g}" in sentence


def test_classes_shifted_by_one_are_found(message) -> None:
    shift = dict(zip(CLASSES, [*CLASSES[1:], CLASSES[0]], strict=True))
    assert "'dos' goes by 'normal', 'normal' by 'probe'" in message(decided(shift), "E001")


def test_classes_in_order_are_not(message) -> None:
    assert message(decided({}), "E001") is None


def test_a_class_taken_for_another_is_not_a_swap(message) -> None:
    # All of dos goes to probe, but probe stays: a permutation would gain rows and lose probe.
    matrix = [[0, 900, 0], [5, 90, 5], [0, 0, 100]]
    assert message(evaluate_counts(matrix=matrix), "E001") is None


def test_two_classes_that_a_weak_model_mixes_up_are_not_a_swap(message) -> None:
    matrix = [[45, 55, 0], [58, 42, 0], [0, 0, 100]]
    assert message(evaluate_counts(matrix=matrix), "E001") is None


def test_a_few_rows_show_no_permutation(message) -> None:
    assert message(evaluate_counts(matrix=[[0, 3, 0], [3, 0, 0], [0, 0, 3]]), "E001") is None
    assert message(evaluate_counts(matrix=[[0, 30, 0], [30, 0, 0], [0, 0, 3]]), "E001") is not None


def test_rows_of_few_clusters_or_weights_show_no_permutation(message) -> None:
    truth = ["a", "b", "c"] * 100
    said = ["b", "a", "c"] * 100
    assert message(evaluate(truth, y_pred=said, clusters=[0, 1] * 150), "E001") is None
    assert message(evaluate(truth, y_pred=said, clusters=list(range(300))), "E001") is not None
    heavy = np.where(np.arange(300) < 3, 1e6, 1.0)
    assert message(evaluate(truth, y_pred=said, sample_weight=heavy), "E001") is None
    assert message(evaluate(truth, y_pred=said, sample_weight=np.ones(300)), "E001") is not None
