"""Headings of published tables, matched by the names and aliases of the catalogue."""

from __future__ import annotations

import pytest

from assay.errors import UnknownMeasure
from assay.measures import CATALOGUE, find, parse
from assay.measures.catalogue import (
    ADVANCED,
    MAIN,
    PRINTED,
    Heading,
    average_of,
    cell_of,
    heading_of,
    letter_of,
    may_count,
    of_scores,
    other_part,
    spellings,
    squeezed,
)

MATCHED = {
    "Accuracy": "accuracy",
    "Acc.": "accuracy",
    "ACC (%)": "accuracy",
    "Accuracy, %": "accuracy",
    "Overall Acc": "accuracy",
    "test_accuracy": "accuracy",
    "Accuracy ± std": "accuracy",
    "Prec": "precision",
    "Precision [%]": "precision",
    "PPV": "ppv",
    "Rec. ↑": "recall",
    "Sensitivity (Recall)": "sensitivity",
    "Detection Rate (DR)": "detection_rate",
    "DR%": "dr",
    "TP Rate": "recall",
    "F1-Score": "f1",
    "F₁": "f1",
    "F-Measure": "f_measure",
    "f1_score": "f1",
    "FPR ↓": "fpr",
    "FAR": "far",
    "FAR (FPR)": "fpr",
    "False Alarm Rate": "false_alarm_rate",
    "Bal. Acc.": "balanced_accuracy",
    "AUC-ROC": "roc_auc",
    "ROC Area": "roc_auc",
    "AUPRC": "average_precision",
    "Cohen's κ": "kappa",
    "MCC": "mcc",
    "G-mean": "g_mean",
    "Error rate (%)": "error_rate",
}


@pytest.mark.parametrize(("text", "key"), MATCHED.items())
def test_a_heading_is_matched_whatever_its_case_dashes_and_marks(text: str, key: str) -> None:
    assert heading_of(text).key == key
    assert heading_of(text).percent == ("%" in text)


@pytest.mark.parametrize(
    ("text", "average"),
    [("Macro-F1", "macro"), ("F1 (weighted avg)", "weighted"), ("f1_micro", "micro"), ("F1", None)],
)
def test_an_average_in_a_heading_is_kept(text: str, average: str | None) -> None:
    heading = heading_of(text)
    assert (heading.measure, heading.average) == (find("f1"), average)


@pytest.mark.parametrize(
    ("text", "label"), [("Precision (attack)", "attack"), ("Recall for DoS", "DoS")]
)
def test_a_label_in_a_heading_is_kept(text: str, label: str) -> None:
    assert heading_of(text).label == label


@pytest.mark.parametrize(
    "text",
    [
        "Time (s)",
        "Train Acc",
        "TPR@1%FPR",
        "Average precision",
        "mAP",
        "#Features",
        "Precision (FPR)",
    ],
)
def test_what_names_no_measure_or_two_is_not_matched(text: str) -> None:
    assert heading_of(text).key is None


def test_a_heading_that_may_be_two_things_says_so() -> None:
    assert "scores" in heading_of("Average precision").why
    assert "training" in heading_of("Train Acc").why


def test_every_name_and_alias_is_its_own_heading() -> None:
    for measure in CATALOGUE:
        for name in (measure.name, *measure.aliases):
            assert find(spellings()[squeezed(name)]) == measure


def test_no_heading_is_claimed_by_two_measures() -> None:
    words = [squeezed(word) for measure in CATALOGUE for word in measure.headings]
    assert len(words) == len(set(words))
    for measure in CATALOGUE:
        for word in measure.headings:
            assert find(spellings()[squeezed(word)]) == measure, word


def test_rows_of_averages_and_cells_are_known_by_their_words() -> None:
    averages = [
        average_of(text) for text in ("macro avg", "Weighted Avg.", "avg / total", "Mean", "DoS")
    ]
    assert averages == ["macro", "weighted", "weighted", "average", None]
    assert [cell_of(t) for t in ("TP", "False negatives", "TPR")] == ["tp", "fn", None]


# -- all that a heading says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Average F1", {"key": "f1", "mean": True}),
        ("F1 avg", {"key": "f1", "mean": True}),
        ("mean average precision", {"key": "average_precision", "mean": True}),
        ("Mean accuracy (%)", {"key": "accuracy", "mean": True, "percent": True}),
        ("Macro F1 (%)", {"key": "f1", "average": "macro", "percent": True}),
        ("macro weighted recall", {"key": "recall", "average": "macro"}),
        ("Accuracy std", {"key": "accuracy", "spread": True}),
        ("Acc. (std. dev.)", {"key": "accuracy", "spread": True}),
        ("Accuracy \u00b1 std", {"key": "accuracy"}),
        ("Recall (DoS)", {"key": "recall", "label": "DoS"}),
        ("Recall ( )", {"key": "recall"}),
        ("Precision for the class DoS", {"key": "precision", "label": "DoS"}),
        ("Precision of Port Scan", {"key": "precision", "label": "Port Scan"}),
        ("Sensitivity (Recall)", {"key": "sensitivity"}),
        ("FAR (FPR)", {"key": "fpr"}),
        ("The overall classification accuracy", {"key": "accuracy"}),
        ("Recall values", {"key": "recall"}),
        ("Colour (red)", {}),
        ("Size of rows", {}),
        ("Depth", {}),
        ("Depth %", {"percent": True}),
    ],
)
def test_a_heading_says_no_more_and_no_less(text: str, facts: dict[str, object]) -> None:
    assert heading_of(text) == Heading(text, **facts)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("TPR @ 1%", "it is at an operating point of its own"),
        ("FPR \u2030", "its scale is neither shares nor percent"),
        ("FPR (x 10)", "its scale is neither shares nor percent"),
        ("Validation accuracy", "it is of the training or validation part"),
        (
            "Average precision",
            "it may be the average precision of scores or a mean over classes",
        ),
        ("Precision (FPR)", "it names both precision and false positive rate"),
    ],
)
def test_a_heading_that_is_not_matched_says_why(text: str, why: str) -> None:
    heading = heading_of(text)
    assert heading == Heading(text, why=why)
    assert heading.measure is None


def test_a_letter_stands_for_a_measure() -> None:
    assert [letter_of(text) for text in ("P", "r.", "F", "x", "P R")] == [
        "precision",
        "recall",
        "f1",
        None,
        None,
    ]


def test_a_part_of_the_data_is_known_by_its_words() -> None:
    parts = ("Train", "the training set", "Validation data", "val.", "dev split")
    assert all(map(other_part, parts))
    assert not any(map(other_part, ("Test", "Trained model", "data", "train accuracy", "")))


def test_what_may_be_counts_is_known_by_its_words() -> None:
    words = ("Misclassified", "correctly classified", "Error", "miss", "Correct")
    assert all(map(may_count, words))
    assert not any(map(may_count, ("Accuracy", "Recall", "error rate")))


@pytest.mark.parametrize(
    ("text", "average"),
    [
        ("macro", "macro"),
        ("Micro avg", "micro"),
        ("avg macro", "macro"),
        ("Weighted average", "weighted"),
        ("avg/total", "weighted"),
        ("Overall", "average"),
        ("All classes", "average"),
        ("the average values", "average"),
        ("Average DoS", None),
        ("total / avg", None),
    ],
)
def test_the_name_of_a_row_says_an_average(text: str, average: str | None) -> None:
    assert average_of(text) == average


def test_what_stands_first_ends_with_the_measures_of_scores_of_two_classes() -> None:
    scored = of_scores()
    assert scored[:3] == ("roc_auc", "partial_auc", "average_precision")
    apart = {"recall_at_fpr_1e2", "h_measure_symmetric", "roc_auc_ovo", "oscr", "precision"}
    assert apart.isdisjoint(scored)
    assert {"ks", "h_measure", "log_loss", "calibration_slope"} <= set(scored)
    assert PRINTED.of(binary=True) == (*PRINTED.two, *scored)
    assert ADVANCED.of(binary=True) == (*ADVANCED.two, *scored)
    assert MAIN.of(binary=True) == MAIN.two
    assert PRINTED.of(binary=False) == PRINTED.many


def test_a_name_that_is_near_many_brings_three() -> None:
    with pytest.raises(UnknownMeasure) as refused:
        find("recall_at_fpr_1e")
    assert str(refused.value).count(" or ") == 2


def test_a_beta_belongs_to_the_f_score_alone() -> None:
    for name in ("fbeta", "f_beta"):
        assert find(name, beta=2).name == "f2"
        with pytest.raises(UnknownMeasure, match="needs its beta="):
            find(name)
    with pytest.raises(UnknownMeasure, match="beta= is of fbeta alone"):
        find("recall", beta=2)


def test_of_a_name_with_a_suffix_the_part_before_it_is_not_known() -> None:
    for name in ("nonsense", "nonsense.macro", "nonsense.a.b"):
        with pytest.raises(UnknownMeasure, match="there is no measure 'nonsense'"):
            parse(name)
    assert (parse("f3.5.a.b")[0].name, parse("f3.5.a.b")[1]) == ("f3.5", "a.b")
    assert parse("f7")[1] is None
