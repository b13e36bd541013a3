"""What a key speaks of."""

from __future__ import annotations

from typing import Any

import pytest

from assay.decisions.audit import audit
from assay.decisions.audit.claim import AVERAGES, LONGEST_KEY, key_of, meanings
from assay.errors import InputError
from assay.measures import CATALOGUE

LABELS = ("normal", "attack")


@pytest.mark.parametrize(
    ("text", "measure", "label", "average", "statistic"),
    [
        ("accuracy", "accuracy", None, None, None),
        ("detection_rate", "recall", None, None, None),
        ("precision.normal", "precision", "normal", None, None),
        ("precision.a.b", "precision", "a.b", None, None),
        ("f1.macro", "f1", None, "macro", None),
        ("f0.5.weighted", "f0.5", None, "weighted", None),
        ("f3", "f3", None, None, None),
        ("accuracy.ci", "accuracy", None, None, "ci"),
        ("f1.macro.se", "f1", None, "macro", "se"),
        ("recall.attack.sd", "recall", "attack", None, "sd"),
        ("accuracy.mean", "accuracy", None, None, "mean"),
        ("accuracy.mean.sd", "accuracy", None, None, "sd"),
        ("recall.attack.mean.ci", "recall", "attack", None, "ci"),
    ],
)
def test_a_key_names_a_measure_a_class_or_average_and_a_statistic(
    text: str, measure: str, label: str | None, average: str | None, statistic: str | None
) -> None:
    key = key_of(text)
    assert key.text == text
    parts = (key.measure.name, key.label, key.average, key.statistic)
    assert parts == (measure, label, average, statistic)


def test_the_value_of_a_statistic_is_what_it_is_of() -> None:
    assert key_of("f1.macro.se").value.text == "f1.macro"
    assert key_of("accuracy.ci").value.text == "accuracy"
    assert key_of("accuracy").value.text == "accuracy"


def test_what_is_no_measure_is_refused_and_so_is_a_key_without_end() -> None:
    with pytest.raises(InputError, match="did you mean accuracy"):
        key_of("acuracy")
    with pytest.raises(InputError, match="is longer than"):
        key_of("f" + "1" * LONGEST_KEY)


def words(text: str, positive: str | None) -> list[str]:
    return [meaning.words for meaning in meanings(key_of(text), positive)]


def test_a_bare_rate_of_two_classes_is_of_the_positive_one_or_by_convention_an_average() -> None:
    first, *others = meanings(key_of("precision"), "attack")
    assert (first.label, first.average, first.convention) == ("attack", None, False)
    assert [other.average for other in others] == ["weighted", "macro", "micro"]
    assert all(other.convention for other in others)


def test_a_bare_rate_of_many_classes_is_some_average_the_weighted_first() -> None:
    readings = meanings(key_of("f1"), None)
    assert (
        tuple(meaning.average for meaning in readings) == AVERAGES == ("weighted", "macro", "micro")
    )
    assert not any(meaning.convention for meaning in readings)


@pytest.mark.parametrize("text", ["precision.normal", "f1.macro", "accuracy", "mcc", "kappa"])
def test_a_key_that_says_what_it_is_means_just_that(text: str) -> None:
    assert len(meanings(key_of(text), "attack")) == 1


@pytest.mark.parametrize("text", ["far", "false_alarm_rate"])
def test_a_false_alarm_rate_is_the_fdr_or_the_fpr_or_its_mean_with_the_fnr(text: str) -> None:
    usual = [meaning for meaning in meanings(key_of(text), "attack") if not meaning.convention]
    assert [meaning.words for meaning in usual] == ["FDR", "FPR", "FPR, mean of both classes"]
    assert words(f"{text}.normal", "attack") == ["FDR", "FPR"]
    assert words("fdr.normal", "attack") == [""]


def test_the_accuracy_of_a_class_may_be_its_recall() -> None:
    assert [m.measure.name for m in meanings(key_of("accuracy.b"), None)] == ["accuracy", "recall"]
    assert len(meanings(key_of("accuracy"), "attack")) == 1


def test_every_count_measure_has_a_formula_on_a_matrix_of_two_classes() -> None:
    for measure in CATALOGUE:
        if measure.formula is not None:
            for meaning in meanings(key_of(measure.name), "attack"):
                assert meaning.quantity(LABELS) is not None, measure.name


def test_a_label_that_the_matrix_does_not_have_gives_no_number() -> None:
    (meaning,) = meanings(key_of("recall.scan"), "attack")
    assert meaning.quantity(LABELS) is None


@pytest.mark.parametrize(
    "counts",
    [
        {"labels": ["macro", "b", "ci"], "matrix": [[4, 3, 2], [4, 3, 3], [1, 2, 5]]},
        {"labels": ["macro", "x.ci"], "matrix": [[4, 3], [2, 4]], "positive": "macro"},
    ],
)
def test_how_to_name_a_label_that_no_key_can_is_told(counts: dict[str, Any]) -> None:
    claim = audit(counts | {"reported": {"accuracy": "0.5"}}).claims[0]
    notes = [note for note in claim.notes if "keys that end in" in note]
    assert len(notes) == 2
    assert any("call it 'macro (class)' in the labels and the keys" in note for note in notes)
    named = counts | {"labels": ["macro (class)", *counts["labels"][1:]]}
    if "positive" in counts:
        named["positive"] = "macro (class)"
    named |= {"reported": {"recall.macro (class)": "0.444" if len(counts) == 2 else "0.571"}}
    assert str(audit(named).claims[0].numbers[0].verdict) == "consistent"


def test_labels_that_keys_can_name_need_no_note() -> None:
    rows = {"labels": ["macros", "mean b", "c"], "matrix": [[4, 3, 2], [4, 3, 3], [1, 2, 5]]}
    assert not audit(rows | {"reported": {"accuracy": "0.5"}}).claims[0].notes
