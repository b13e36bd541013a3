from assay import evaluate, evaluate_counts


def test_nothing_flagged_is_found_with_scores_and_threshold(message) -> None:
    evaluation = evaluate([0, 0, 1] * 50, y_score=[0.1, 0.2, 0.3] * 50)
    assert message(evaluation, "E012") == (
        "Nothing is flagged, which is wrong for '1' (50 rows). The highest score is 0.3, the "
        "threshold 0.5: choose another one, on other rows."
    )


def test_everything_flagged_is_found(message) -> None:
    evaluation = evaluate([0, 0, 1] * 50, y_score=[0.7, 0.8, 0.9] * 50)
    assert message(evaluation, "E012").startswith(
        "Every row is flagged, which is wrong for '0' (100 rows). The lowest score is 0.7"
    )


def test_decisions_have_no_threshold_to_speak_of(message) -> None:
    sentence = message(evaluate_counts(tp=0, fp=0, fn=5, tn=95), "E012")
    assert sentence == "Nothing is flagged, which is wrong for 'positive' (5 rows)."


def test_a_single_alert_is_one(message) -> None:
    assert message(evaluate_counts(tp=0, fp=1, fn=5, tn=95), "E012") is None


def test_nothing_flagged_is_right_where_there_is_nothing(message) -> None:
    assert message(evaluate_counts(tp=0, fp=0, fn=0, tn=95), "E012") is None


def test_classes_that_are_never_decided_are_named(message) -> None:
    matrix = [[50, 0, 0, 0], [12, 0, 0, 0], [7, 0, 0, 0], [3, 0, 0, 40]]
    sentence = message(evaluate_counts(matrix=matrix, labels=list("abcd")), "E012")
    assert sentence.startswith("Never decided: 'b' (12 rows) and 'c' (7 rows).")
    matrix[1][1] = matrix[2][2] = 1
    assert message(evaluate_counts(matrix=matrix, labels=list("abcd")), "E012") is None


def test_a_class_without_rows_need_not_be_decided(message) -> None:
    matrix = [[50, 0, 0], [1, 40, 0], [0, 0, 0]]
    assert message(evaluate_counts(matrix=matrix), "E012") is None
