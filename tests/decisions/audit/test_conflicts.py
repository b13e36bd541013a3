"""Numbers that can't all be true: who is accused, what is only in conflict, and what is said."""

from __future__ import annotations

import json
import random
import re
import time
from pathlib import Path

import pytest

from assay.cli.app import run
from assay.decisions.audit import audit
from assay.decisions.audit.verdicts import AuditedClaim, NumberVerdict, exact, judge, printed
from assay.measures import find

SAFELINK = {"normal": 7910, "attack": 6959}
NAMED = {"positive": "attack", "negative": "normal"}


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    return audit({**NAMED, **told, "reported": reported}).claims[0]


def verdicts(claim: AuditedClaim) -> dict[str, str]:
    return {number.key: str(number.verdict) for number in claim.numbers}


def example(claim: AuditedClaim) -> dict[str, int]:
    """The matrix that a note calls an example of the numbers, or the only one."""
    note = claim.notes[-1].replace(",", "")
    return {cell.upper(): int(count) for cell, count in re.findall(r"(t[np]|f[np]) = (\d+)", note)}


# -- who is wrong ----------------------------------------------------------------------------------


def test_only_the_wrong_mcc_of_the_forest_is_accused() -> None:
    claim = judged(
        {"accuracy": "0.9670", "recall": "0.9534", "specificity": "0.9789", "mcc": "0.9333"},
        support=SAFELINK,
    )
    assert verdicts(claim) == {
        "accuracy": "consistent", "recall": "consistent", "specificity": "consistent",
        "mcc": "inconsistent",
    }  # fmt: skip
    assert claim.conflicts == ()
    assert "the others give 0.93381" in claim.numbers[-1].said


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mcc", ["0.9333", "0.9338"])
@pytest.mark.parametrize("accuracy", ["0.9670", "0.97"])
def test_a_matrix_is_called_an_example_only_of_numbers_that_it_gives(
    mcc: str, accuracy: str
) -> None:
    reported = {"accuracy": accuracy, "recall": "0.9534", "specificity": "0.9789", "mcc": mcc}
    claim = judged(reported, support=SAFELINK)
    cells = example(claim)
    assert (cells["TP"] + cells["FN"], cells["FP"] + cells["TN"]) == (6959, 7910)
    for number in claim.numbers:
        formula = find(number.key).formula
        assert formula is not None
        value = exact(formula, cells)
        assert value is not None
        given = judge(printed(reported[number.key]), value) is not NumberVerdict.INCONSISTENT
        assert given == (number.verdict in (NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING))


def test_what_the_note_does_not_give_is_named_in_it() -> None:
    # F1 is as the printed precision and recall give it; no matrix of these rows does.
    claim = judged(
        {"precision": "0.67", "recall": "0.33", "f1": "0.4422"},
        support={"normal": 5, "attack": 6},
    )
    assert verdicts(claim)["f1"] == "rounding"
    assert "but for f1" in claim.notes[-1]


def test_numbers_derived_from_others_are_evidence() -> None:
    # Five numbers of one matrix against one: specificity and fpr are two voices, not one.
    claim = judged(
        {"accuracy": "0.9670", "recall": "0.9534", "specificity": "0.9889", "fpr": "0.0211",
         "precision": "0.9754"},
        support=SAFELINK,
    )  # fmt: skip
    assert verdicts(claim) == {
        "accuracy": "consistent", "recall": "consistent", "specificity": "inconsistent",
        "fpr": "consistent", "precision": "consistent",
    }  # fmt: skip


# -- conflicts -------------------------------------------------------------------------------------

UNDECIDED = {"accuracy": "0.50", "recall": "1.00", "specificity": "0.90"}


def test_where_it_can_not_be_told_which_is_wrong_the_set_is_named() -> None:
    claim = judged(UNDECIDED, support=SAFELINK)
    assert set(verdicts(claim).values()) == {"conflict"}
    assert claim.verdict is NumberVerdict.INCONSISTENT
    (conflict,) = claim.conflicts
    assert conflict.keys == ("accuracy", "recall", "specificity")
    assert conflict.text == (
        "at least one of accuracy 0.50, recall 1.00 and specificity 0.90 is wrong, and it can't be "
        "told which: no matrix of 6,959 positives and 7,910 negatives gives all three"
    )
    assert claim.numbers[0].said.startswith("it or recall 1.00 or specificity 0.90 is wrong")


def test_two_numbers_for_one_quantity_are_in_conflict_whatever_the_counts() -> None:
    claim = judged({"specificity.attack": "0.9789", "fpr.attack": "0.0311"})
    assert set(verdicts(claim).values()) == {"conflict"}
    assert "they are the same quantity, or 1 minus it" in claim.conflicts[0].text


def test_where_the_rows_of_both_classes_are_told_the_conflict_names_them() -> None:
    reported = {"specificity.attack": "0.90", "fpr.attack": "0.30"}
    claim = judged(reported, support={"attack": 400, "normal": 500})
    assert claim.conflicts[0].text.endswith(
        "no matrix of 400 positives and 500 negatives gives both"
    )


def test_a_number_outside_of_the_conflict_is_not_drawn_into_it() -> None:
    reported = {**UNDECIDED, "prevalence": "0.4680"}
    claim = judged(reported, support=SAFELINK)
    assert verdicts(claim)["prevalence"] == "consistent"
    assert "prevalence" not in claim.conflicts[0].keys


def test_json_has_the_conflicts_with_keys_and_text() -> None:
    document = audit({**NAMED, "support": SAFELINK, "reported": UNDECIDED}).to_dict()
    (claim,) = document["claims"]
    assert claim["verdict"] == "inconsistent"
    assert {number["verdict"] for number in claim["numbers"]} == {"conflict"}
    (conflict,) = claim["conflicts"]
    assert set(conflict) == {"keys", "text"}
    assert conflict["keys"] == ["accuracy", "recall", "specificity"]
    assert conflict["text"].startswith("at least one of accuracy 0.50, ")
    consistent = audit({"confusion": {"tp": 1, "fp": 1, "fn": 1, "tn": 1}}).to_dict()
    assert consistent["claims"][0]["conflicts"] == []


def test_a_conflict_ends_with_1_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "claims.json"
    path.write_text(
        json.dumps({"claim": [{**NAMED, "support": SAFELINK, "reported": UNDECIDED}]}), "utf-8"
    )
    assert run(["audit", str(path), "--format", "json"]) == 1
    (claim,) = json.loads(capsys.readouterr().out)["claims"]
    assert claim["conflicts"][0]["keys"] == ["accuracy", "recall", "specificity"]
    assert run(["audit", str(path)]) == 1
    assert "At least one of" in capsys.readouterr().out


# -- numbers that used to break it -----------------------------------------------------------------


@pytest.mark.parametrize("told", [{}, {"support": SAFELINK}, {"n": 14869}], ids=str)
def test_an_accuracy_beyond_floats_is_inconsistent(told: dict[str, object]) -> None:
    claim = judged({"accuracy": "1e309", "recall": "0.9534"}, **told)
    assert verdicts(claim)["accuracy"] == "inconsistent"
    assert "accuracy lies between 0 and 1" in claim.numbers[0].said
    assert verdicts(claim)["recall"] != "inconsistent"


MATRIX = {"tn": 7743, "fp": 167, "fn": 324, "tp": 6635}


@pytest.mark.parametrize("told", [{"confusion": MATRIX}, {"support": SAFELINK}, {}], ids=str)
@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("accuracy", "1e400"),
        ("accuracy", "-1e400"),
        ("recall.normal", "1e-400"),
        ("kappa", "0e999"),
        ("accuracy.se", "1e400"),
        ("positive_likelihood_ratio", "1e309"),
        ("positive_likelihood_ratio", "1e-400"),
        ("diagnostic_odds_ratio", "9.99e999"),
        ("roc_auc", "1e400"),
        ("log_loss", "1e400"),
    ],
)
def test_numbers_of_any_size_are_judged(key: str, text: str, told: dict[str, object]) -> None:
    audit_result = audit({**NAMED, **told, "reported": {key: text, "recall": "0.9534"}})
    assert "Infinity" not in json.dumps(audit_result.to_dict())
    assert verdicts(audit_result.claims[0])["recall"] not in ("inconsistent", "conflict")


def test_the_support_of_one_class_beside_contradicting_numbers_is_judged() -> None:
    rates = {"accuracy": "7.36%", "recall": "91.18%", "specificity": "6.07%", "mcc": "-16.67%"}
    for support in ({"attack": 6959}, {"normal": 7910}):
        claim = judged(rates, support=support)
        assert claim.verdict is NumberVerdict.INCONSISTENT
        contradicting = judged({"recall.attack": "0.91", "fnr.attack": "0.25"}, support=support)
        assert set(verdicts(contradicting).values()) == {"conflict"}


def test_a_class_without_rows_takes_no_more_than_seconds() -> None:
    rng = random.Random(9)
    keys = ("accuracy", "recall", "precision", "f1", "kappa", "mcc", "g_mean", "npv", "specificity")
    for support in ({"normal": 0, "attack": 5000}, {"normal": 7910, "attack": 0}):
        reported = {key: f"{rng.random():.3f}" for key in keys}
        started = time.process_time()
        claim = judged(reported, support=support)
        assert time.process_time() - started < 5
        assert claim.verdict is NumberVerdict.INCONSISTENT
