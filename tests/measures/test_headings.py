"""Headings of published tables, matched by the names and aliases of the catalogue."""

from __future__ import annotations

import pytest

from assay.measures import CATALOGUE, find
from assay.measures.catalogue import average_of, cell_of, heading_of, spellings, squeezed

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
    found = heading_of(text)
    assert (found.measure, found.average) == (find("f1"), average)


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
    found = [
        average_of(text) for text in ("macro avg", "Weighted Avg.", "avg / total", "Mean", "DoS")
    ]
    assert found == ["macro", "weighted", "weighted", "average", None]
    assert [cell_of(t) for t in ("TP", "False negatives", "TPR")] == ["tp", "fn", None]
