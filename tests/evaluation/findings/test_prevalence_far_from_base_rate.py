from assay import evaluate_counts

CELLS = {"tp": 950, "fp": 50, "fn": 50, "tn": 950}


def test_a_rarer_base_rate_is_found_with_the_precision_there(message) -> None:
    evaluation = evaluate_counts(**CELLS, base_rate=0.001)
    assert message(evaluation, "E007") == (
        "50% of the rows are 'positive', but 0.1% where the detector runs, so that a precision of "
        "0.95 here is 0.0187 there. Quote precision, FAR, F1 and accuracy at the base rate."
    )


def test_odds_up_to_ten_times_off_are_not(message) -> None:
    assert message(evaluate_counts(**CELLS, base_rate=1 / 11 + 1e-9), "E007") is None
    assert message(evaluate_counts(**CELLS, base_rate=1 / 11 - 1e-9), "E007") is not None


def test_a_base_rate_far_above_is_found_too(message) -> None:
    assert message(evaluate_counts(**CELLS, base_rate=0.95), "E007") is not None


def test_of_several_the_farthest_is_named(message) -> None:
    evaluation = evaluate_counts(**CELLS, base_rate=[0.5, 0.0001, 0.01])
    assert "but 0.01% where" in message(evaluation, "E007")


def test_without_a_given_base_rate_nothing_is_compared(message) -> None:
    assert message(evaluate_counts(**CELLS), "E007") is None


def test_a_precision_that_is_undefined_is_not_quoted(message) -> None:
    evaluation = evaluate_counts(tp=0, fp=0, fn=50, tn=50, base_rate=0.001)
    assert "precision of" not in message(evaluation, "E007")


def test_without_positives_there_is_nothing_to_compare(message) -> None:
    assert message(evaluate_counts(tp=0, fp=5, fn=0, tn=95, base_rate=0.001), "E007") is None
