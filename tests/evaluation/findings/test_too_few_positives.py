import numpy as np

from assay import evaluate, evaluate_counts


def test_few_attacks_are_found_with_how_many_would_do(message) -> None:
    evaluation = evaluate_counts(tp=10, fp=40, fn=2, tn=9000, labels=["ok", "attack"])
    assert message(evaluation, "E009") == (
        "Only 12 rows are 'attack', so the detection rate is 0.833 [0.552, 0.953]; about 48 would "
        "halve the width of that interval."
    )


def test_thirty_attacks_that_are_all_caught_are_enough(message) -> None:
    assert message(evaluate_counts(tp=29, fp=40, fn=0, tn=9000), "E009") is not None
    assert message(evaluate_counts(tp=30, fp=40, fn=0, tn=9000), "E009") is None


def test_an_interval_wider_than_a_fifth_is_found_with_more_rows_too(message) -> None:
    wide, narrow = (evaluate_counts(tp=n, fp=40, fn=n, tn=9000) for n in (46, 47))
    widths = [e["recall"].high - e["recall"].low for e in (wide, narrow)]
    assert widths[0] > 0.2 > widths[1]
    assert message(wide, "E009").startswith("Only 92 rows are 'positive'")
    assert message(narrow, "E009") is None


def test_four_times_as_many_do_halve_the_width() -> None:
    few, many = (evaluate_counts(tp=10 * k, fp=0, fn=5 * k, tn=99)["recall"] for k in (1, 4))
    assert 0.45 < (many.high - many.low) / (few.high - few.low) < 0.6


def test_no_attack_at_all_is_found(message) -> None:
    evaluation = evaluate([0] * 50, y_score=np.linspace(0, 0.4, 50), labels=[0, 1])
    assert message(evaluation, "E009").startswith("No row is '1': detection rate, AUC and FAR")


def test_an_attack_that_was_only_decided_is_left_to_e013(message) -> None:
    evaluation = evaluate([0] * 50, y_pred=[0] * 49 + [1], labels=[0, 1])
    assert message(evaluation, "E009") is None
    assert message(evaluation, "E013") is not None


def test_scores_without_an_attack_bring_no_label_of_their_own(message) -> None:
    evaluation = evaluate([0] * 50, y_score=np.linspace(0, 1, 50), labels=[0, 1])
    assert message(evaluation, "E009").startswith("No row is '1'")
    assert message(evaluation, "E013") is None


def test_classes_with_few_rows_are_named(message) -> None:
    matrix = [[500, 0, 0, 0], [1, 11, 0, 0], [0, 2, 5, 0], [0, 0, 0, 40]]
    sentence = message(evaluate_counts(matrix=matrix, labels=list("abcd")), "E009")
    assert sentence.startswith(
        "Few rows are 'b' (12) and 'c' (7), their detection rates as uncertain"
    )


def test_a_class_without_rows_is_named_with_none(message) -> None:
    evaluation = evaluate(list("aabb") * 50, y_pred=list("aabb") * 50, labels=list("abc"))
    assert message(evaluation, "E009") == (
        "Few rows are 'c' (0). Four times as many would halve the width of an interval."
    )


def test_weights_count_by_their_effective_number(message) -> None:
    truth, weight = np.repeat([1, 0], [100, 400]), np.ones(500)
    said = truth.copy()
    assert message(evaluate(truth, y_pred=said, sample_weight=weight), "E009") is None
    weight[:2] = 1000
    sentence = message(evaluate(truth, y_pred=said, sample_weight=weight), "E009")
    assert sentence.startswith("Only 2.2 rows are '1'")


def test_clusters_are_counted_as_clusters(message) -> None:
    # Each host is caught or missed as a whole.
    host = np.repeat(np.arange(20), 50)
    truth = (host < 10).astype(int)
    said = np.where(host % 2 == 0, truth, 0)
    sentence = message(evaluate(truth, y_pred=said, clusters=host), "E009")
    assert sentence.startswith("Only 500 rows are '1'")
    assert "four times as many clusters would" in sentence
