from sklearn.metrics import f1_score

from assay import evaluate


def test_it_is_found_with_both_averages(message) -> None:
    truth, said = list("abba"), list("abca")
    sentence = message(evaluate(truth, y_pred=said), "E013")
    assert sentence == (
        "Decided, but no row is of it: 'c' (1 row). F1 averaged over classes is 0.556 with it and "
        "0.833 without. Check how the labels are spelt."
    )
    both = f1_score(truth, said, average="macro", zero_division=0)
    without = f1_score(truth, said, average="macro", labels=["a", "b"])
    assert (f"{both:.3g}", f"{without:.3g}") == ("0.556", "0.833")


def test_labels_that_have_rows_are_not(message) -> None:
    assert message(evaluate(list("abbac"), y_pred=list("abcac")), "E013") is None


def test_a_label_that_is_only_listed_is_not(message) -> None:
    evaluation = evaluate(list("abba"), y_pred=list("abba"), labels=list("abc"))
    assert message(evaluation, "E013") is None


def test_another_spelling_of_two_labels_is_found(message) -> None:
    evaluation = evaluate(["ok"] * 9 + ["bad"], y_pred=["ok"] * 5 + ["OK"] * 4 + ["Bad"])
    sentence = message(evaluation, "E013")
    assert sentence.startswith("Decided, but no row is of it: 'Bad' (1 row) and 'OK' (4 rows).")


def test_an_undefined_average_is_not_quoted(message) -> None:
    evaluation = evaluate(list("abba"), y_pred=list("abca"), labels=list("abcd"))
    assert "F1" not in message(evaluation, "E013")


def test_of_two_labels_no_average_is_quoted(message) -> None:
    evaluation = evaluate([0] * 10, y_pred=[0] * 9 + [1], labels=[0, 1])
    assert message(evaluation, "E013") == (
        "Decided, but no row is of it: '1' (1 row). Check how the labels are spelt."
    )


def test_a_class_called_macro_is_a_class(message) -> None:
    truth, said = ["macro", "b", "b", "macro"], ["macro", "b", "c", "macro"]
    assert "is 0.556 with it and 0.833 without" in message(evaluate(truth, y_pred=said), "E013")
