from assay import evaluate, evaluate_counts


def test_a_detector_of_rare_attacks_is_told_where_to_look(message) -> None:
    evaluation = evaluate_counts(tp=40, fp=60, fn=60, tn=9840, labels=["ok", "attack"])
    assert message(evaluation, "E008") == (
        "Accuracy is 0.988 [0.986, 0.99]; always saying 'ok' would reach 0.99. Accuracy says "
        "little here: look at the detection rate and the false alarm rate."
    )
    assert next(f.severity for f in evaluation.findings if f.code == "E008") == "info"


def test_an_accuracy_surely_above_the_majority_is_not(message) -> None:
    touching, above = (evaluate_counts(tp=n, fp=40, fn=100 - n, tn=160) for n in (55, 57))
    assert touching["accuracy"].low < 2 / 3 < above["accuracy"].low
    assert message(touching, "E008") is not None
    assert message(above, "E008") is None


def test_many_classes_have_other_measures_to_look_at(message) -> None:
    sentence = message(evaluate_counts(matrix=[[60, 20, 0], [10, 20, 0], [0, 0, 10]]), "E008")
    assert "always saying '0' would reach 0.667" in sentence
    assert "kappa" in sentence


def test_rows_of_one_class_have_no_majority(message) -> None:
    evaluation = evaluate([0, 0, 0], y_pred=[0, 1, 0], labels=[0, 1])
    assert message(evaluation, "E008") is None


def test_it_is_not_told_beside_inversion_or_chance() -> None:
    for cells in ({"tp": 8, "fp": 185, "fn": 92, "tn": 15}, {"tp": 5, "fp": 5, "fn": 5, "tn": 5}):
        codes = [finding.code for finding in evaluate_counts(**cells).findings]
        assert {"E001", "E002"} & set(codes)
        assert "E008" not in codes
