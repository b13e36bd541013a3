"""What binds numbers where no counts are told."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit import audit
from assay.decisions.audit.claims_file import build
from assay.decisions.audit.search import judge_without_matrix, prevalence_of
from assay.decisions.audit.search.identities import (
    Classes,
    Impossible,
    Relation,
    function_of,
    identities_of,
    settle,
)
from assay.decisions.audit.verdicts import WRONG, AuditedClaim, NumberVerdict
from assay.formula import Cell, cells, sqrt, value
from assay.measures import CATALOGUE, Identity, Measure, find

from .brute_force import Cells, measured, printed


def judged(reported: dict[str, str], **told: object) -> AuditedClaim:
    return audit({"reported": reported, **told}).claims[0]


def verdicts(claim: AuditedClaim) -> dict[str, str]:
    return {number.key: str(number.verdict) for number in claim.numbers}


# -- the network -----------------------------------------------------------------------------------


def times(values: Sequence[float]) -> float:
    return values[0] * values[1]


PRODUCT = Relation("z", ("x", "y"), times, "z is x times y")
SUM = Relation("s", ("x", "y"), math.fsum, "s is x plus y", rising=True)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.001, 0.2))
def test_settling_never_loses_the_truth(x: float, y: float, width: float) -> None:
    truth = {"x": x, "y": y, "z": x * y, "s": x + y}
    box = {name: (value - width, value + width / 3) for name, value in truth.items()}
    box["y"] = (0.0, 1.0)
    for name, (low, high) in settle(box, [PRODUCT, SUM]).items():
        assert low - 1e-12 <= truth[name] <= high + 1e-12


def test_settling_finds_a_contradiction() -> None:
    with pytest.raises(Impossible):
        settle({"x": (0.1, 0.2), "y": (0.1, 0.2), "z": (0.5, 1.0)}, [PRODUCT])


def test_expressions_become_functions_of_their_cells_in_order() -> None:
    a, b = Cell("a"), Cell("b")
    assert function_of(sqrt(a) * (1 - b) / 2)((9.0, 0.5)) == 0.75
    assert function_of(a / b)((1.0, 0.0)) == math.inf
    with pytest.raises(ZeroDivisionError):
        function_of(a / b)((0.0, 0.0))


def test_rates_leave_little_room_for_each_other() -> None:
    wanted = ["attack|precision", "attack|recall", "attack|f1"]
    identities = identities_of(Classes(("normal", "attack")), wanted)
    box = {
        **identities.ranges,
        "attack|precision": (0.9753, 0.9755),
        "attack|recall": (0.9533, 0.9535),
    }
    low, high = settle(box, identities.relations)["attack|f1"]
    assert 0.9641 < low < high < 0.9645


@given(*[st.integers(1, 60)] * 4)
def test_no_web_of_identities_excludes_a_matrix(tp: int, fp: int, fn: int, tn: int) -> None:
    matrix = {"TP": tp, "FP": fp, "FN": fn, "TN": tn}
    measures = [m for m in CATALOGUE if m.formula is not None]
    classes = Classes(("normal", "attack"))
    names = {classes.named("attack", m): value(m.formula, matrix) for m in measures if m.formula}
    identities = identities_of(classes, list(names))
    box = dict(identities.ranges)
    for name, exact in names.items():
        box[name] = (exact - 1e-9 * max(1, exact), exact + 1e-9 * max(1, exact))
    assert settle(box, identities.relations)


# -- declared identities ---------------------------------------------------------------------------

DECLARED = [(measure, identity) for measure in CATALOGUE for identity in measure.identities]
every_identity = pytest.mark.parametrize(
    ("measure", "identity"), DECLARED, ids=[f"{m.name}: {i.words}" for m, i in DECLARED]
)
MATRIX = {"TP": 6635, "FP": 1670, "FN": 324, "TN": 7743}


@every_identity
def test_numbers_that_a_law_shows_wrong_are_accused_and_right_ones_are_not(
    measure: Measure, identity: Identity
) -> None:
    def shown(other: Measure, off: float = 0.0) -> str:
        assert other.formula is not None
        return f"{value(other.formula, MATRIX) + off:.6f}"

    def key(other: Measure) -> str:
        return other.name if other.symmetric else f"{other.name}.attack"

    parts = {key(find(name)): shown(find(name)) for name in cells(identity.expression)}
    told = {"positive": "attack", "negative": "normal"}
    right = judged({**parts, key(measure): shown(measure)}, **told)
    assert not set(verdicts(right).values()) & set(WRONG)
    off = -0.05 if measure.range[1] <= 1 else 3.0
    wrong = judged({**parts, key(measure): shown(measure, off)}, **told)
    assert wrong.verdict is NumberVerdict.INCONSISTENT
    named = {text for conflict in wrong.conflicts for text in conflict.keys}
    accused = {text for text, verdict in verdicts(wrong).items() if verdict == "inconsistent"}
    assert key(measure) in named | accused
    assert accused <= {key(measure)}


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
def test_numbers_of_one_class_that_break_an_identity_are_accused(wrong: dict[str, str]) -> None:
    of_attack = {
        key if find(key).symmetric else f"{key}.attack": text for key, text in wrong.items()
    }
    claim = judged(of_attack, positive="attack")
    assert claim.verdict is NumberVerdict.INCONSISTENT


def test_numbers_in_conflict_are_named_with_the_identity_that_they_break() -> None:
    reported = {"precision.attack": "0.9754", "recall.attack": "0.9534", "f1.attack": "0.9743"}
    claim = judged(reported, positive="attack")
    assert set(verdicts(claim).values()) == {"conflict"}
    (conflict,) = claim.conflicts
    assert set(conflict.keys) == set(reported)
    assert "F1 is the harmonic mean of precision and recall" in conflict.text
    assert "F1 is the harmonic mean of precision and recall" in claim.numbers[0].said


def test_a_culprit_that_several_identities_point_to_is_accused_alone() -> None:
    reported = {
        "accuracy": "0.9670", "precision.attack": "0.9754", "recall.attack": "0.9534",
        "specificity.attack": "0.9789", "f1.attack": "0.9643", "mcc": "0.9500",
    }  # fmt: skip
    claim = judged(reported, positive="attack")
    assert verdicts(claim).pop("mcc") == "inconsistent"
    assert set(verdicts(claim).values()) == {"inconsistent", "consistent"}
    assert claim.conflicts == ()


def test_bare_rates_may_be_averages_so_the_culprit_may_only_be_in_a_conflict() -> None:
    reported = {
        "accuracy": "0.9670", "precision": "0.9754", "recall": "0.9534",
        "specificity": "0.9789", "f1": "0.9643", "mcc": "0.9500",
    }  # fmt: skip
    claim = judged(reported, positive="attack")
    assert "inconsistent" not in verdicts(claim).values()
    assert all("mcc" in conflict.keys for conflict in claim.conflicts)
    assert claim.verdict is NumberVerdict.INCONSISTENT


def test_a_number_that_nothing_tests_is_undetermined() -> None:
    claim = judged({"recall": "0.80", "specificity": "0.90"}, positive="attack")
    assert set(verdicts(claim).values()) == {"undetermined"}


def test_a_number_of_two_meanings_may_be_what_either_of_them_allows() -> None:
    rates = {"specificity.attack": "0.900", "precision.attack": "0.905"}
    for far in ("0.095", "0.100"):
        number = judged({**rates, "far.attack": far}, positive="attack").numbers[2]
        assert number.verdict is NumberVerdict.CONSISTENT
        assert number.said == "the other numbers allow 0.094 to 0.101 for FDR or FPR"


def shares(reported: dict[str, str]) -> tuple[float, float] | None:
    return prevalence_of(build({"reported": reported}))


def test_numbers_that_bound_the_share_of_positives_on_one_side_tell_it() -> None:
    few = shares({"accuracy": "0.900", "recall": "0.500"})
    many = shares({"accuracy": "0.900", "specificity": "0.500"})
    assert few == (0.0, pytest.approx(0.2, abs=0.005))
    assert many == (pytest.approx(0.8, abs=0.005), 1.0)
    assert shares({"recall": "0.500"}) is None


def test_without_a_positive_the_numbers_may_be_averages_over_classes() -> None:
    below = judged({"precision": "0.900", "recall": "0.800", "f1": "0.700"})
    assert set(verdicts(below).values()) == {"undetermined"}
    assert "averages over" in below.notes[0]
    above = judged({"precision": "0.900", "recall": "0.800", "f1": "0.950"})
    assert above.verdict is NumberVerdict.INCONSISTENT


def test_means_of_folds_are_not_held_against_the_supports() -> None:
    reported = {"precision": "0.900", "recall": "0.800"}
    support = {"normal": 10, "attack": 10}
    told = {"positive": "attack", "support": support, "aggregate": "fold-mean"}

    def of_f1(text: str) -> NumberVerdict:
        claim = build({**told, "reported": {**reported, "f1": text}})
        return judge_without_matrix(claim).judged["f1"].verdict

    assert of_f1("0.835") is NumberVerdict.UNDETERMINED
    assert of_f1("0.930") is NumberVerdict.CONFLICT


def test_a_number_outside_of_its_range_is_accused() -> None:
    claim = judged({"accuracy": "-0.2"}, positive="attack")
    assert claim.verdict is NumberVerdict.INCONSISTENT
    assert "between 0 and 1" in claim.numbers[0].said


def test_macro_averages_follow_from_the_printed_classes() -> None:
    told = {"labels": ["a", "b", "c"]}
    reported = {"recall.a": "0.90", "recall.b": "0.80", "recall.c": "0.70"}
    good = judged({**reported, "recall.macro": "0.80"}, **told)
    assert verdicts(good)["recall.macro"] == "consistent"
    wrong = judged({**reported, "recall.macro": "0.90"}, **told)
    assert wrong.verdict is NumberVerdict.INCONSISTENT


def test_honest_rates_of_random_matrices_break_no_identity() -> None:
    rng = random.Random(3)
    keys = ("accuracy", "precision", "recall", "specificity", "f1", "mcc", "kappa", "npv",
            "jaccard", "f1.macro", "precision.weighted", "g_mean", "prevalence", "f1.normal",
            "diagnostic_odds_ratio", "alert_rate", "markedness")  # fmt: skip
    for _ in range(8):
        counts = Cells(*(int(10 ** (rng.random() * 5)) - rng.randint(0, 1) for _ in range(4)))
        digits, how = rng.randint(2, 12), rng.choice(["up", "even", "cut"])
        values = {key: measured(key, counts) for key in rng.sample(keys, 6)}
        reported = {
            key: printed(value, digits, how)
            for key, value in values.items()
            if value is not None and math.isfinite(value)
        }
        claim = judged(reported, positive="attack", negative="normal")
        assert claim.verdict is not NumberVerdict.INCONSISTENT, (counts, reported)


def test_low_numbers_beside_an_area_and_no_counts_are_judged() -> None:
    rng = random.Random(6)
    keys = ("accuracy", "recall", "precision", "specificity", "f1", "kappa", "mcc", "fpr")
    for _ in range(8):
        reported = {key: f"{rng.random() * 0.3:.3f}" for key in rng.sample(keys, 3)}
        told = {"positive": "attack"} if rng.random() < 0.5 else {}
        claim = judged({"roc_auc": f"{rng.random() * 0.3:.3f}", **reported}, **told)
        assert len(claim.numbers) == 4
