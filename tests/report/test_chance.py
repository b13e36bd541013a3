"""Tests of one model by itself, against R's caret (see ``r/make_values.R``)."""

import json
from pathlib import Path

import pytest

from assay import evaluate_counts
from assay.report.evaluation import against_majority, lean, own_tests

from .cases import evaluation

CASES = json.loads((Path(__file__).parent / "r/values.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["matrix"]))
def test_accuracy_against_the_largest_class_agrees_with_caret(case: dict) -> None:
    matrix = case["matrix"]
    hits = sum(row[i] for i, row in enumerate(matrix))
    significance = against_majority(hits, tuple(map(sum, matrix)))
    assert significance.table["share"] == pytest.approx(case["null_accuracy"], rel=1e-14)
    assert significance.p == pytest.approx(case["accuracy_p"], rel=1e-9)


@pytest.mark.parametrize("case", [case for case in CASES if len(case["matrix"]) == 2])
def test_false_positives_against_false_negatives_agree_with_caret(case: dict) -> None:
    (_, false), (missed, _) = case["matrix"]
    significance = lean(false, missed)
    # Without an error R has no answer; nothing leans, so p is 1.
    assert significance.p == pytest.approx(1.0 if case["mcnemar_p"] is None else case["mcnemar_p"])


def test_nothing_right_is_no_evidence() -> None:
    assert against_majority(0, (5, 5)).p == 1
    assert against_majority(7, (7, 0)).p == 1


def test_sentences_say_which_way() -> None:
    assert "is above the largest class's share of 60%" in str(against_majority(85, (60, 40)))
    assert "is not shown to be above" in str(against_majority(60, (60, 40)))
    assert "by missing more often" in str(lean(167, 324))
    assert "by raising false alarms more often" in str(lean(324, 167))
    assert "no side is shown to prevail" in str(lean(3, 4))
    assert "is above" in str(against_majority(65, (60, 40), level=0.5))


def test_document_holds_both_for_two_classes_and_one_for_more() -> None:
    assert [t.test for t in own_tests(evaluation("counts").snapshot())] == [
        "accuracy_against_majority",
        "mcnemar_errors",
    ]
    assert [t.test for t in own_tests(evaluation("worked_example").snapshot())] == [
        "accuracy_against_majority"
    ]


@pytest.mark.parametrize("name", ["weighted", "clustered", "alerts_labelled", "no_rows"])
def test_rows_that_are_not_independent_and_labelled_are_not_tested(name: str) -> None:
    assert own_tests(evaluation(name).snapshot()) == ()


def test_counts_beyond_64_bits_are_tested() -> None:
    assert own_tests(evaluate_counts(tp=10**18, fp=3, fn=10**17, tn=10**19).snapshot())[0].p == 0
