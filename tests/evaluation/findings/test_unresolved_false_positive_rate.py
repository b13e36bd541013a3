import numpy as np

from assay import evaluate, evaluate_counts


def test_no_false_positive_is_no_proof_of_none(message) -> None:
    evaluation = evaluate_counts(tp=950, fp=0, fn=50, tn=1000, labels=["ok", "attack"])
    assert message(evaluation, "E010") == (
        "None of 1,000 rows of 'ok' raised an alarm: the false positive rate of 0 may be up to "
        "0.00383. For a false alarm rate of 10% at a base rate of 0.01% it must not exceed "
        "1.06e-05; to show that takes at least 283,777 rows of 'ok'."
    )


def test_a_few_false_positives_are_too_few(message) -> None:
    few, enough = (evaluate_counts(tp=950, fp=n, fn=50, tn=1000 - n) for n in (7, 8))
    assert few["fpr"].high > 2 * few["fpr"]
    assert enough["fpr"].high < 2 * enough["fpr"]
    sentence = message(few, "E010")
    assert sentence.startswith("7 of 1,000 rows of 'negative' raised an alarm: the false positive")
    assert sentence.endswith("it must not exceed 1.06e-05; it does.")
    assert message(enough, "E010") is None


def test_a_bound_below_what_is_needed_is_enough(message) -> None:
    assert message(evaluate_counts(tp=950, fp=0, fn=50, tn=283_776), "E010") is not None
    assert message(evaluate_counts(tp=950, fp=0, fn=50, tn=283_777), "E010") is None


def test_given_base_rates_say_what_is_needed(message) -> None:
    cells = {"tp": 950, "fp": 0, "fn": 50, "tn": 1000}
    assert "base rate of 1%" in message(evaluate_counts(**cells, base_rate=0.01), "E010")
    assert message(evaluate_counts(**cells, base_rate=0.1), "E010") is None


def test_a_rate_that_can_not_be_told_at_a_given_base_rate_is_found(message) -> None:
    # At most 0.1/0.9 * 0.1/0.9 * 0.9 = 0.0111 is needed; 20 of 2,000 are [0.0065, 0.0154].
    cells = {"tp": 900, "fp": 20, "fn": 100, "tn": 1980}
    sentence = message(evaluate_counts(**cells, base_rate=0.1), "E010")
    assert sentence.startswith("The false positive rate is 0.01 [0.00648, 0.0154].")
    assert sentence.endswith("it must not exceed 0.0111; to tell takes more rows of 'negative'.")
    assert message(evaluate_counts(**cells), "E010") is None
    assert message(evaluate_counts(**cells, base_rate=0.5), "E010") is None
    assert message(evaluate_counts(**cells, base_rate=0.001), "E010") is None


def test_a_detector_that_never_alarms_is_left_to_e012(message) -> None:
    assert message(evaluate_counts(tp=0, fp=0, fn=50, tn=1000), "E010") is None


def test_without_detections_only_the_bound_is_told(message) -> None:
    sentence = message(evaluate_counts(tp=0, fp=2, fn=50, tn=998), "E010")
    assert sentence.endswith("may be up to 0.00726.")


def test_without_negatives_it_says_so(message) -> None:
    evaluation = evaluate([1] * 50, y_score=np.linspace(0.6, 1, 50), labels=[0, 1])
    assert message(evaluation, "E010").startswith("No row is '0'")


def test_one_cluster_has_no_interval_and_no_finding(message) -> None:
    evaluation = evaluate([0, 1] * 20, y_pred=[0, 1] * 20, clusters=["host"] * 40)
    assert message(evaluation, "E010") is None
