"""The brute force of `make mistakes`: that it is right itself, and small versions of the trials."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from . import brute_force

TWO = ("normal", "attack")
FEW = 20_000  # matrices to look at


@pytest.fixture(scope="module")
def oracle(benchmark_module):
    return benchmark_module("enumerated.oracle").Oracle


@pytest.fixture(scope="module")
def formulas(benchmark_module):
    return benchmark_module("enumerated.formulas")


@pytest.fixture(scope="module")
def readings(benchmark_module):
    return benchmark_module("enumerated.readings")


def culprits(oracle, claim, labels=TWO):
    enumeration = oracle(claim, labels)
    return [enumeration.keys[i] for i in enumeration.culprits(sure=True)]


# -- formulas and readings -------------------------------------------------------------------------


def test_values_are_those_of_exact_fractions(formulas, readings) -> None:
    matrices = formulas.of_supports((3, 4))
    every = [
        brute_force.Cells(tp=int(t[1, 1]), fp=int(t[0, 1]), fn=int(t[1, 0]), tn=int(t[0, 0]))
        for t in matrices.tables
    ]
    assert len(every) == 20
    for key in brute_force.KEYS:
        # The first reading of a key; a class has an accuracy of its own, which it shares with all.
        values = readings.readings(key, TWO)[0].of(matrices)
        for value, cells in zip(values, every, strict=True):
            exact = brute_force.measured(key, cells)
            if exact is None:
                assert math.isnan(value), (key, cells)
            else:
                assert value == pytest.approx(float(exact), abs=1e-12), (key, cells)


def test_values_over_classes_are_those_of_scikit_learn(formulas) -> None:
    from sklearn import metrics

    rng = np.random.default_rng(5)
    table = rng.integers(1, 9, (4, 4))
    truth = np.repeat(np.arange(4), table.sum(axis=1))
    said = np.concatenate([np.repeat(np.arange(4), row) for row in table])
    matrices = formulas.Matrices(table[None])
    expected = {
        "accuracy": metrics.accuracy_score(truth, said),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, said),
        "kappa": metrics.cohen_kappa_score(truth, said),
        "mcc": metrics.matthews_corrcoef(truth, said),
    }
    for name, value in expected.items():
        assert matrices.over_classes(name)[0] == pytest.approx(value, abs=1e-12), name
    scores = {
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "f1": metrics.f1_score,
        "jaccard": metrics.jaccard_score,
    }
    for name, score in scores.items():
        for average in ("macro", "micro", "weighted"):
            value = score(truth, said, average=average)
            assert matrices.average(name, average)[0] == pytest.approx(value, abs=1e-12)


def test_all_matrices_are_enumerated_once(formulas) -> None:
    tables = formulas.of_supports((2, 1, 3)).tables
    assert len(tables) == formulas.how_many((2, 1, 3)) == 6 * 3 * 10
    assert len(np.unique(tables.reshape(len(tables), -1), axis=0)) == len(tables)
    assert (tables.sum(axis=2) == (2, 1, 3)).all()
    assert len(formulas.of_total(5, 2).tables) == math.comb(8, 3)


@pytest.mark.parametrize(
    ("printed", "value", "given"),
    [
        ("0.95", "0.9599", True),
        ("0.95", "0.96", False),
        ("0.95", "0.9401", True),
        ("0.95", "0.94", False),
        ("95%", "0.9401", True),
        ("95.0%", "0.9401", False),
        ("-0.5", "-0.55", True),
    ],
)
def test_a_number_is_given_if_less_than_one_unit_off(readings, printed, value, given) -> None:
    values = np.array([float(Fraction(value))])
    assert readings.text(printed).gives(values)[0] == given


# -- what is possible ------------------------------------------------------------------------------


def test_the_number_without_which_the_rest_is_possible_is_the_culprit(oracle) -> None:
    claim = {
        "support": {"normal": 79, "attack": 70},
        "reported": {
            "accuracy": "0.966",
            "recall": "0.957",
            "specificity": "0.975",
            "mcc": "0.910",
        },
    }
    assert culprits(oracle, claim) == ["mcc"]


def test_of_two_numbers_that_exclude_each_other_either_may_be_wrong(oracle) -> None:
    claim = {
        "support": {"normal": 50, "attack": 50},
        "reported": {"recall.attack": "0.90", "fnr.attack": "0.20", "specificity.attack": "0.80"},
    }
    assert culprits(oracle, claim) == ["recall.attack", "fnr.attack"]


def test_an_average_under_a_bare_key_is_possible(oracle) -> None:
    claim = {
        "confusion": {"tn": 95, "fp": 5, "fn": 20, "tp": 30},
        "reported": {"precision": "0.836", "recall": "0.833", "detection_rate": "0.600"},
    }
    assert oracle(claim, TWO).surely_possible


def test_a_number_may_be_worked_out_from_printed_ones(oracle) -> None:
    counts = {"confusion": {"tn": 83, "fp": 10, "fn": 4, "tp": 9}}
    rates = {"precision": "47.3%", "recall": "69.2%"}
    assert oracle(counts | {"reported": rates | {"f1": "56.1%"}}, TWO).surely_possible
    assert culprits(oracle, counts | {"reported": {"recall": "69.2%", "f1": "56.1%"}}) == ["f1"]


def test_numbers_do_not_prove_each_other_in_a_circle(oracle) -> None:
    claim = {
        "confusion": {"tn": 83, "fp": 10, "fn": 4, "tp": 9},
        "reported": {"accuracy": "0.500", "error_rate": "0.500", "recall": "0.692"},
    }
    assert not oracle(claim, TWO).maybe_possible


def test_the_wrong_number_is_a_suspect_wherever_a_claim_is_impossible(benchmark_module) -> None:
    claims, Oracle = (
        benchmark_module("enumerated.claims"),
        benchmark_module("enumerated.oracle").Oracle,
    )
    told, possible = set(), 0
    for index in range(60):
        case = claims.simulated(random.Random(f"suspects-{index}"), FEW)
        told |= {"support", "matrix", "confusion", "n"} & set(case.claim)
        enumeration = Oracle(case.claim, case.labels)
        if enumeration.surely_possible:
            possible += 1
        else:
            assert enumeration.keys.index(case.wrong) in enumeration.culprits(sure=True)
    assert told == {"support", "matrix", "confusion", "n"}
    assert possible < 12


# -- the audit beside it ---------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize("start", range(0, 60, 15))
def test_audit_keeps_its_promises_on_claims_with_one_wrong_number(benchmark_module, start) -> None:
    trial = benchmark_module("enumerated.trial")
    trials = [trial.tried(7, index, FEW) for index in range(start, start + 15)]
    broken = [(each.index, each.case.claim, each.violations) for each in trials if each.violations]
    assert broken == []
