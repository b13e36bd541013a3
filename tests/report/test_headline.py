"""What an evaluation comes to, in words."""

import pytest

from assay import Evaluation, evaluate, evaluate_counts
from assay.evaluation.deployment import Unlabelled
from assay.report.headline import headline

from .cases import CASES, evaluation


def test_the_sentence_of_the_readme() -> None:
    verdict, rows = headline(evaluation("counts").snapshot())
    assert verdict == (
        "Catches 95.3% [94.8, 95.8] of attacks; 2.5% [2.1, 2.9] of its alarms are false at this "
        "test set's prevalence of 47%."
    )
    assert rows == "14,869 rows: 6,959 'attack', 7,910 'normal'."


def test_base_rate_given_first_is_the_one_that_is_told() -> None:
    cells = {"tp": 6635, "fp": 167, "fn": 324, "tn": 7743}
    assessment = evaluate_counts(**cells, labels=["normal", "attack"], base_rate=[0.01, 0.001])
    assert "at a base rate of 1% that becomes 68.7%" in headline(assessment.snapshot())[0]


@pytest.mark.parametrize(
    ("positive", "said"),
    [
        ("Attack", "of attacks;"),
        ("malware", "of malware;"),
        ("1", "of rows that are '1';"),
        ("not normal", "of rows that are not 'normal';"),
    ],
)
def test_positives_are_called_what_they_are(positive: str, said: str) -> None:
    assessment = evaluate_counts(tp=8, fp=2, fn=2, tn=8, labels=["other", positive])
    assert said in headline(assessment.snapshot())[0]


def test_no_alarm_is_said_in_words() -> None:
    assert headline(evaluation("nothing_flagged").snapshot())[0] == (
        "Catches 0% [0, 56.1] of attacks; it raised no alarm at all."
    )


def test_undefined_detection_says_why() -> None:
    assessment = evaluate_counts(tp=0, fp=3, fn=0, tn=7, labels=["normal", "attack"])
    assert headline(assessment.snapshot())[0].startswith(
        "How many attacks it catches is undefined: there are no positives (TP + FN = 0); 100%"
    )


@pytest.mark.parametrize("name", CASES)
def test_a_base_rate_that_nobody_asked_for_is_not_in_the_headline(name: str) -> None:
    asked = bool(evaluation(name).base_rates) and evaluation(name).tally.decided
    assert any("base rate" in line for line in headline(evaluation(name).snapshot())) == asked


def test_no_false_alarm_is_no_promise_of_none() -> None:
    assessment = evaluate_counts(tp=11, fp=0, fn=0, tn=40, base_rate=0.001)
    assert headline(assessment.snapshot())[0].endswith(
        "at a base rate of 0.1% it may be as much as 99.5%."
    )


def test_threshold_is_told() -> None:
    rows = headline(evaluation("level").snapshot())[1]
    assert rows == "240 rows: 96 'attack', 144 'normal'; flagged at a score of 0.25 and above."


def test_weights_are_told() -> None:
    assert "weighted rows" in headline(evaluation("weighted").snapshot())[1]


def test_labelled_alerts_alone_have_their_own_words() -> None:
    verdict, rows = headline(evaluation("alerts_labelled").snapshot())
    assert verdict.startswith("25.0% [14.2, 40.2] of its labelled alarms are false; how many")
    assert "is not known, since rows that raised no alarm were not labelled" in verdict
    assert verdict.endswith("it raises an alarm on 4.5% [3.4, 6.0] of all rows.")
    assert rows == "40 rows with a label; 5 without one raised an alarm, 955 did not."


def test_no_labelled_alarm_is_said_in_words() -> None:
    tally = evaluate_counts(tp=0, fp=0, fn=0, tn=0, labels=["normal", "attack"]).tally
    assessment = Evaluation(tally, unlabelled=Unlabelled(flagged=2, not_flagged=8))
    assert headline(assessment.snapshot())[0].startswith(
        "No labelled row raised an alarm; how many attacks"
    )


def test_labelled_sample_gives_what_is_caught() -> None:
    verdict = headline(evaluation("sample_labelled").snapshot())[0]
    assert "catches 43.9% [18.4, 74.0] of attacks, by the labelled sample" in verdict


def test_classes_are_judged_against_the_largest() -> None:
    accuracy, classes, confusion, rows = headline(evaluation("worked_example").snapshot())
    assert accuracy == (
        "Decides 90.0% [84.2, 93.8] of rows right; always saying 'C', the largest class, would "
        "decide 36.7% right."
    )
    assert classes == (
        "Best is 'C', of which 94.5% [85.1, 98.1] are found; worst is 'B' with 84.4% [71.2, 92.3]."
    )
    assert confusion == "The most frequent confusion: 'B' taken for 'A', 4 of 45 rows (8.9%)."
    assert rows == "150 rows in 3 classes."


def test_classes_without_an_error_are_said_to_be() -> None:
    names = ["a", "b", "c"] * 5
    assert headline(evaluate(names, y_pred=names).snapshot())[1] == "Every row was decided right."


def test_classes_that_are_found_alike_have_no_worst() -> None:
    assessment = evaluate_counts(matrix=[[3, 1, 0], [0, 3, 1], [1, 0, 3]])
    assert (
        headline(assessment.snapshot())[1]
        == "Every class is found alike, 75.0% [30.1, 95.4] of its rows."
    )


def test_classes_without_rows_are_undefined_in_words() -> None:
    assert headline(evaluation("no_rows_of_three").snapshot())[0] == (
        "How many rows it decides right is undefined: there are no rows (N = 0)."
    )


def test_one_class_alone_has_no_best_and_worst() -> None:
    assessment = evaluate(["a", "a"], y_pred=["a", "b"], labels=["a", "b", "c"])
    assert len(headline(assessment.snapshot())) == 2
