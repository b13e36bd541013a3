"""What binds numbers where no counts are told."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit.audit import audit
from assay.decisions.audit.building import build
from assay.decisions.audit.formulas import COMPOSITES, OF_RATES
from assay.decisions.audit.identities import identities_of
from assay.decisions.audit.result import AuditedClaim, Verdict
from assay.decisions.audit.search import judge_without_matrix
from assay.decisions.audit.search.network import Impossible, Relation, settle
from assay.decisions.audit.search.quantity import BASE, Classes
from assay.measures import find

from .brute_force import Cells, measured, printed

COUNT = st.integers(1, 60)


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    return audit({"reported": reported, **told}).claims[0]


def verdicts(claim: AuditedClaim) -> dict[str, str]:
    return {number.key: str(number.verdict) for number in claim.numbers}


@given(COUNT, COUNT, COUNT, COUNT)
def test_every_identity_holds_for_every_matrix(tp: int, fp: int, fn: int, tn: int) -> None:
    cells = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}

    def value(name: str) -> float:
        from assay.formula import value as exact

        formula = find(name).formula
        assert formula is not None
        return exact(formula, cells)

    table = [(name, *rest) for name, rest in COMPOSITES.items()] + list(OF_RATES)
    for of, args, function, words in table:
        assert function(*map(value, args)) == pytest.approx(value(of), abs=1e-12), words


def test_every_name_in_the_tables_is_a_measure() -> None:
    for name in (*BASE, *COMPOSITES):
        assert find(name).name == name


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 0.2))
def test_settling_never_loses_the_truth(x: float, y: float, width: float) -> None:
    product = Relation("z", ("x", "y"), lambda a, b: a * b, "z is x times y")
    total = Relation("s", ("x", "y"), lambda a, b: a + b, "s is x plus y", rising=True)
    truth = {"x": x, "y": y, "z": x * y, "s": x + y}
    box = {name: (value - width, value + width / 3) for name, value in truth.items()}
    box["y"] = (0.0, 1.0)
    for name, (low, high) in settle(box, [product, total]).items():
        assert low - 1e-12 <= truth[name] <= high + 1e-12


def test_settling_finds_a_contradiction() -> None:
    product = Relation("z", ("x", "y"), lambda a, b: a * b, "z is x times y")
    with pytest.raises(Impossible):
        settle({"x": (0.1, 0.2), "y": (0.1, 0.2), "z": (0.5, 1.0)}, [product])


def test_rates_leave_little_room_for_each_other() -> None:
    wanted = ["attack|precision", "attack|recall", "attack|f1"]
    found = identities_of(Classes(("normal", "attack")), wanted)
    box = {**found.ranges, "attack|precision": (0.9753, 0.9755), "attack|recall": (0.9533, 0.9535)}
    low, high = settle(box, found.relations)["attack|f1"]
    assert 0.9641 < low < high < 0.9645


def test_f1_that_is_not_the_harmonic_mean_is_accused_and_the_identity_said() -> None:
    reported = {"precision": "0.9754", "recall": "0.9534", "f1": "0.9743"}
    claim = judged(reported, positive="attack")
    assert set(verdicts(claim).values()) == {"inconsistent"}
    assert "F1 is the harmonic mean of precision and recall" in claim.numbers[0].said


def test_a_culprit_that_several_identities_point_to_is_accused_alone() -> None:
    reported = {
        "accuracy": "0.9670", "precision": "0.9754", "recall": "0.9534",
        "specificity": "0.9789", "f1": "0.9643", "mcc": "0.9500",
    }  # fmt: skip
    claim = judged(reported, positive="attack")
    assert [k for k, v in verdicts(claim).items() if v == "inconsistent"] == ["mcc"]
    assert verdicts(claim)["f1"] == "consistent"


@pytest.mark.parametrize(
    "wrong",
    [
        {"specificity": "0.9789", "fpr": "0.0311"},
        {"recall": "0.80", "fnr": "0.30"},
        {"precision": "0.90", "fdr": "0.20"},
        {"accuracy": "0.970", "error_rate": "0.050"},
        {"recall": "0.90", "specificity": "0.80", "balanced_accuracy": "0.95"},
        {"recall": "0.90", "specificity": "0.80", "accuracy": "0.95"},
        {"recall": "0.90", "specificity": "0.80", "informedness": "0.50"},
        {"recall": "0.90", "specificity": "0.80", "positive_likelihood_ratio": "9.1"},
        {"precision": "0.90", "npv": "0.80", "markedness": "0.50"},
        {"precision": "0.90", "recall": "0.80", "jaccard": "0.80"},
        {"f1": "0.90", "jaccard": "0.90"},
        {"recall": "0.900", "fpr": "0.100", "prevalence": "0.010", "precision": "0.900"},
        {"accuracy": "0.900", "prevalence": "0.100", "alert_rate": "0.100", "kappa": "0.900"},
        {"recall": "0.80", "fpr": "0.30", "precision": "0.99", "prevalence": "0.50"},
    ],
    ids="-".join,
)
def test_numbers_that_break_an_identity_are_accused(wrong: dict[str, str]) -> None:
    assert judged(wrong, positive="attack").verdict is Verdict.INCONSISTENT


def test_a_number_that_nothing_tests_is_undetermined() -> None:
    claim = judged({"recall": "0.80", "specificity": "0.90"}, positive="attack")
    assert set(verdicts(claim).values()) == {"undetermined"}


def test_without_a_positive_the_numbers_may_be_averages_over_classes() -> None:
    below = judged({"precision": "0.900", "recall": "0.800", "f1": "0.700"})
    assert set(verdicts(below).values()) == {"undetermined"}
    assert "average over classes" in below.numbers[2].said
    above = judged({"precision": "0.900", "recall": "0.800", "f1": "0.950"})
    assert above.verdict is Verdict.INCONSISTENT


def test_means_of_folds_are_not_held_against_the_supports() -> None:
    reported = {"precision": "0.900", "recall": "0.800"}
    support = {"normal": 10, "attack": 10}
    told = {"positive": "attack", "support": support, "aggregate": "fold-mean"}

    def of_f1(text: str) -> Verdict:
        claim = build({**told, "reported": {**reported, "f1": text}})
        return judge_without_matrix(claim)[0]["f1"].verdict

    assert of_f1("0.835") is Verdict.UNDETERMINED
    assert of_f1("0.930") is Verdict.INCONSISTENT


def test_a_number_outside_of_its_range_is_accused() -> None:
    claim = judged({"accuracy": "-0.2"}, positive="attack")
    assert claim.verdict is Verdict.INCONSISTENT
    assert "between 0 and 1" in claim.numbers[0].said


def test_macro_averages_follow_from_the_printed_classes() -> None:
    told = {"labels": ["a", "b", "c"]}
    reported = {"recall.a": "0.90", "recall.b": "0.80", "recall.c": "0.70"}
    good = judged({**reported, "recall.macro": "0.80"}, **told)
    assert verdicts(good)["recall.macro"] == "consistent"
    wrong = judged({**reported, "recall.macro": "0.90"}, **told)
    assert wrong.verdict is Verdict.INCONSISTENT


def test_honest_rates_of_random_matrices_break_no_identity() -> None:
    rng = random.Random(3)
    keys = ("accuracy", "precision", "recall", "specificity", "f1", "mcc", "kappa", "npv",
            "jaccard", "f1.macro", "precision.weighted", "g_mean", "prevalence", "f1.normal",
            "diagnostic_odds_ratio", "alert_rate", "markedness")  # fmt: skip
    for _ in range(40):
        cells = Cells(*(int(10 ** (rng.random() * 5)) - rng.randint(0, 1) for _ in range(4)))
        digits, how = rng.randint(2, 12), rng.choice(["up", "even", "cut"])
        values = {key: measured(key, cells) for key in rng.sample(keys, 6)}
        reported = {
            key: printed(value, digits, how)
            for key, value in values.items()
            if value is not None and math.isfinite(value)
        }
        claim = judged(reported, positive="attack", negative="normal")
        assert claim.verdict is not Verdict.INCONSISTENT, (cells, reported)
