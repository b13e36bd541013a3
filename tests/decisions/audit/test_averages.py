"""Averages over two classes, printed where the value of the positive class is expected."""

from __future__ import annotations

import random

import pytest

from assay.decisions.audit import audit
from assay.decisions.audit.verdicts import AuditedClaim, NumberVerdict

from .brute_force import Cells, measured, printed

# As scikit-learn prints it with average="weighted", beside the recall of the attacks.
WEIGHTED = {
    "accuracy": "87.65", "precision": "89.76", "recall": "87.65", "f1": "87.60",
    "detection_rate": "78.19",
}  # fmt: skip
MATRIX = {"tn": 10275, "fp": 139, "fn": 2646, "tp": 9484}
SUPPORT = {"normal": 10414, "attack": 12130}
NAMED = {"positive": "attack", "negative": "normal"}


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    return audit({**NAMED, **told, "reported": reported}).claims[0]


def said(claim: AuditedClaim) -> str:
    return "\n".join([*claim.notes, *(number.said for number in claim.numbers)])


TOLD = [
    pytest.param({}, id="no counts"),
    pytest.param({"n": 22544}, id="n alone"),
    pytest.param({"support": SUPPORT}, id="supports"),
    pytest.param({"confusion": MATRIX}, id="the matrix"),
    pytest.param({"confusion": {"tn": 10275, "fp": 139}, "n": 22544}, id="two cells"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("told", TOLD)
def test_weighted_averages_of_a_binary_claim_are_consistent_and_it_is_said(
    told: dict[str, object],
) -> None:
    claim = judged(WEIGHTED, **told)
    assert claim.verdict is NumberVerdict.CONSISTENT
    assert claim.conflicts == ()
    assert "weighted average" in said(claim)
    assert "micro average" not in said(claim)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("told", TOLD)
def test_the_same_numbers_of_a_named_class_can_not_be(told: dict[str, object]) -> None:
    of_attack = {k: v for k, v in WEIGHTED.items() if k != "accuracy"}
    named = {f"{key}.attack": text for key, text in of_attack.items()}
    claim = judged({"accuracy": "87.65", **named}, **told)
    assert claim.verdict is NumberVerdict.INCONSISTENT


def test_a_detection_rate_is_of_the_attacks_even_beside_averages() -> None:
    claim = judged(WEIGHTED, support=SUPPORT)
    rate = claim.numbers[-1]
    assert rate.key == "detection_rate"
    assert "average" not in rate.said


def test_a_false_alarm_rate_is_of_the_attacks_even_beside_averages() -> None:
    few = {key: WEIGHTED[key] for key in ("accuracy", "precision", "recall", "detection_rate")}
    claim = judged({**few, "false_alarm_rate": "1.33"})
    assert claim.verdict is NumberVerdict.CONSISTENT
    assert claim.notes == ("the numbers were read as weighted averages over both classes",)


def test_one_convention_is_tried_before_numbers_are_called_impossible() -> None:
    # Each of these is the macro average over both classes of 1,000 rows.
    cells = Cells(tp=180, fp=60, fn=20, tn=740)
    reported = {
        key: printed(measured(f"{key}.macro", cells), 4, "even")
        for key in ("precision", "recall", "f1")
    }
    claim = judged({"accuracy": "0.9200", **reported}, support={"normal": 800, "attack": 200})
    assert claim.verdict is NumberVerdict.CONSISTENT
    assert "macro average" in said(claim)


def test_a_number_that_no_average_gives_is_still_accused() -> None:
    claim = judged({**WEIGHTED, "f1": "93.60"}, confusion=MATRIX)
    verdicts = {number.key: str(number.verdict) for number in claim.numbers}
    assert verdicts.pop("f1") == "inconsistent"
    assert set(verdicts.values()) == {"consistent"}


def test_where_the_usual_reading_is_possible_no_convention_is_said() -> None:
    claim = judged(
        {"accuracy": "0.9670", "precision": "0.9754", "recall": "0.9534"},
        support={"normal": 7910, "attack": 6959},
    )
    assert claim.verdict is NumberVerdict.CONSISTENT
    assert "average" not in said(claim)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("average", ["weighted", "macro"])
def test_honest_averages_are_never_accused(average: str) -> None:
    rng = random.Random(average)
    keys = ("precision", "recall", "f1", "specificity", "fpr", "jaccard", "npv")
    for _ in range(8):
        scale = rng.choice([9, 300])
        cells = Cells(*(rng.randint(1, scale) for _ in range(4)))
        digits, how = rng.randint(2, 5), rng.choice(["even", "cut"])
        values = {key: measured(f"{key}.{average}", cells) for key in rng.sample(keys, 3)}
        values["accuracy"] = measured("accuracy", cells)
        reported = {k: printed(v, digits, how) for k, v in values.items() if v is not None}
        p, n = cells.tp + cells.fn, cells.fp + cells.tn
        told: dict[str, object] = {}
        match rng.randrange(4):
            case 0:
                told["support"] = {"normal": n, "attack": p}
            case 1:
                told["n"] = p + n
            case 2:
                told["confusion"] = vars(cells)
        claim = judged(reported, **told)
        assert claim.verdict is not NumberVerdict.INCONSISTENT, (cells, told, reported)
