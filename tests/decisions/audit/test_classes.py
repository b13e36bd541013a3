"""Claims of several classes without their matrix."""

from __future__ import annotations

import random
import time

import pytest

from assay.decisions.audit import audit
from assay.decisions.audit.claim import key_of, meanings
from assay.decisions.audit.verdicts import AuditedClaim, NumberVerdict, exact_of
from assay.tally import Confusion

SUPPORT = {"A": 50, "B": 45, "C": 55}


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    return audit({"reported": reported, **told}).claims[0]


def verdicts(claim: AuditedClaim) -> dict[str, str]:
    return {number.key: str(number.verdict) for number in claim.numbers}


def test_recalls_and_accuracy_are_judged_and_the_rest_is_undetermined() -> None:
    reported = {
        "accuracy": "0.90", "recall.A": "0.90", "recall.B": "0.844", "recall.C": "0.945",
        "balanced_accuracy": "0.897", "precision.A": "0.90", "f1.macro": "0.89", "kappa": "0.85",
    }  # fmt: skip
    judgements = verdicts(judged(reported, support=SUPPORT))
    undetermined = {key for key, verdict in judgements.items() if verdict == "undetermined"}
    assert undetermined == {"precision.A", "f1.macro", "kappa"}
    assert not {"inconsistent", "conflict"} & set(judgements.values())


def test_a_recall_that_no_count_gives_is_accused() -> None:
    judgements = verdicts(judged({"recall.A": "0.905", "recall.B": "0.844"}, support=SUPPORT))
    assert judgements == {"recall.A": "inconsistent", "recall.B": "consistent"}


def test_an_accuracy_that_the_recalls_forbid_is_in_conflict_with_them() -> None:
    reported = {"accuracy": "0.95", "recall.A": "0.90", "recall.B": "0.844", "recall.C": "0.945"}
    claim = judged(reported, support=SUPPORT)
    assert claim.verdict is NumberVerdict.INCONSISTENT
    assert verdicts(claim)["accuracy"] == "conflict"
    assert all("accuracy" in conflict.keys for conflict in claim.conflicts)


def test_an_accuracy_that_recalls_and_their_mean_forbid_is_to_blame() -> None:
    reported = {
        "accuracy": "0.95", "recall.weighted": "0.900", "f1.micro": "0.900", "recall.A": "0.90",
        "recall.B": "0.844", "recall.C": "0.945",
    }  # fmt: skip
    judgements = verdicts(judged(reported, support=SUPPORT))
    assert [key for key, verdict in judgements.items() if verdict == "inconsistent"] == ["accuracy"]
    assert "conflict" not in judgements.values()


def test_a_class_against_the_rest_must_have_a_matrix() -> None:
    reported = {
        "precision.A": "0.90", "recall.A": "0.90", "f1.A": "0.95", "jaccard.A": "0.818",
        "recall.B": "0.80",
    }  # fmt: skip
    judgements = verdicts(judged(reported, support=SUPPORT))
    assert judgements["f1.A"] == "inconsistent"
    assert judgements["recall.B"] == "consistent"
    assert judgements["precision.A"] != "conflict"


def test_small_supports_are_judged_by_all_their_matrices() -> None:
    reported = {"accuracy": "0.667", "kappa": "0.500", "f1.macro": "0.656"}
    claim = judged(reported, support={"a": 3, "b": 3, "c": 3})
    assert claim.verdict is NumberVerdict.CONSISTENT
    assert "matrices give it" in claim.numbers[0].said
    wrong = judged({**reported, "precision.macro": "0.200"}, support={"a": 3, "b": 3, "c": 3})
    assert wrong.verdict is NumberVerdict.INCONSISTENT


def test_with_only_the_size_a_share_of_all_rows_must_be_one() -> None:
    told = {"labels": ["a", "b", "c"], "n": 100}
    assert judged({"accuracy": "0.955"}, **told).verdict is NumberVerdict.INCONSISTENT
    assert judged({"accuracy": "0.95"}, **told).verdict is not NumberVerdict.INCONSISTENT


def test_a_bare_rate_of_several_classes_may_be_any_average_and_it_is_said_which() -> None:
    # As in the rows 2 1 0, 0 3 0 and 0 2 1.
    support = {"a": 3, "b": 3, "c": 3}
    counts = {"accuracy": "0.667", "recall.a": "0.667", "recall.b": "1.000", "recall.c": "0.333"}
    claim = judged({**counts, "precision": "0.833"}, support=support)
    assert verdicts(claim)["precision"] == "consistent"
    assert "read as the weighted average" in claim.numbers[-1].said


def test_the_average_that_is_said_is_one_that_fits() -> None:
    support = {"a": 2, "b": 6, "c": 2}
    counts = {"recall.a": "1.000", "recall.b": "0.500", "recall.c": "1.000"}
    weighted = judged({**counts, "recall": "0.700"}, support=support)
    macro = judged({**counts, "recall": "0.833"}, support=support)
    assert "read as the weighted average" in weighted.numbers[-1].said
    assert "read as the macro average" in macro.numbers[-1].said


def test_a_class_without_rows_takes_no_longer_than_others() -> None:
    reported = {
        "accuracy": "0.80", "recall.a": "0.75", "precision.a": "0.66", "precision.c": "0.50",
        "f1.macro": "0.61", "f1.weighted": "0.79", "kappa": "0.60", "g_mean": "0.31",
    }  # fmt: skip
    started = time.process_time()
    for support in ({"a": 12, "b": 0, "c": 40}, {"a": 500, "b": 0, "c": 400, "d": 3}):
        judged(reported, support=support)
    assert time.process_time() - started < 5


KEYS = [
    "accuracy", "kappa", "mcc", "balanced_accuracy", "recall.b", "precision.a", "f1.c", "f1.macro",
    "recall.macro", "precision.weighted", "f1.weighted", "specificity.a", "fpr.b", "jaccard.micro",
    "g_mean", "error_rate", "npv.macro",
]  # fmt: skip


@pytest.mark.parametrize("scale", [2, 60, 3000])
def test_honest_claims_of_three_classes_are_never_accused(scale: int) -> None:
    rng = random.Random(scale)
    labels = ("a", "b", "c")
    for _ in range(12):
        cells = tuple(tuple(rng.randint(0, scale) for _ in labels) for _ in labels)
        reported = {}
        for key in rng.sample(KEYS, 5):
            quantity = meanings(key_of(key), None)[0].quantity(labels)
            assert quantity is not None
            value = exact_of(quantity, Confusion(labels, cells))
            if value is not None:
                reported[key] = f"{float(value):.{rng.randint(2, 6)}f}"
        told: dict[str, object] = {"labels": list(labels)}
        match rng.randrange(3):
            case 0:
                told["support"] = dict(zip(labels, map(sum, cells), strict=True))
            case 1:
                told["n"] = sum(map(sum, cells))
        assert judged(reported, **told).verdict is not NumberVerdict.INCONSISTENT, (
            cells,
            told,
            reported,
        )
