"""What measures declare of each other, against random matrices."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formula import (
    HIT,
    ROW,
    K,
    N,
    cells,
    enclosure,
    geometric_mean,
    of_classes,
    over_two_classes,
    total,
    value,
)
from assay.formula.one_table import UndefinedRatio
from assay.measures import CATALOGUE, Identity, Measure, f_beta, find, mean_of, same_classes

DECLARED = [
    (measure, identity) for measure in (*CATALOGUE, f_beta(3)) for identity in measure.identities
]
every_identity = pytest.mark.parametrize(
    ("measure", "identity"), DECLARED, ids=[f"{m.name}: {i.words}" for m, i in DECLARED]
)
COUNT = st.one_of(st.integers(0, 5), st.integers(0, 10**12))
MATRICES = st.fixed_dictionaries({"TP": COUNT, "FP": COUNT, "FN": COUNT, "TN": COUNT})


def exactly(measure: Measure, matrix: dict[str, int]) -> tuple[Fraction, Fraction]:
    assert measure.formula is not None
    return enclosure(measure.formula, matrix)


@every_identity
@settings(max_examples=40)
@given(MATRICES)
def test_every_identity_holds_exactly_for_every_matrix(
    measure: Measure, identity: Identity, matrix: dict[str, int]
) -> None:
    try:
        low, high = exactly(measure, matrix)
        parts = {name: exactly(find(name), matrix) for name in cells(identity.expression)}
        # The middle of an irrational part is off by less than 2**-90 of it.
        table = {name: (a + b) / 2 for name, (a, b) in parts.items()}
        least, most = enclosure(identity.expression, table)
    except UndefinedRatio:
        return
    off = Fraction(0) if all(a == b for a, b in parts.values()) else abs(high) / 10**20
    assert least - off <= high
    assert low <= most + off


@every_identity
def test_every_identity_speaks_of_other_measures(measure: Measure, identity: Identity) -> None:
    names = cells(identity.expression)
    assert names
    for name in names:
        assert find(name).name == name != measure.name
    assert identity.words


@every_identity
def test_every_identity_moves_one_way_with_each_argument(
    measure: Measure,
    identity: Identity,
) -> None:
    names = sorted(cells(identity.expression))
    steps = {name: grid(find(name)) for name in names}
    coarse = {name: points[1:-1:3] for name, points in steps.items()}
    for moved in names:
        others = [name for name in names if name != moved]
        for at in itertools.product(*(coarse[name] for name in others)):
            fixed = dict(zip(others, at, strict=True))
            values = [value(identity.expression, {**fixed, moved: x}) for x in steps[moved]]
            signs = {
                math.copysign(1, b - a)
                for a, b in itertools.pairwise(x for x in values if math.isfinite(x))
                if abs(b - a) > 1e-12
            }
            assert len(signs) < 2, (moved, fixed, values)


def grid(measure: Measure) -> list[Fraction]:
    """Some values of a measure over its range, which may have no end."""
    low, high = Fraction(measure.range[0]), measure.range[1]
    if math.isinf(high):
        return [low + Fraction(k * k, 4) for k in range(9)]
    return [low + (Fraction(high) - low) * k / 8 for k in range(9)]


def test_an_f_score_of_any_beta_says_what_it_follows_from() -> None:
    assert find("f1").identities[0].words == "F1 is the harmonic mean of precision and recall"
    assert find("f3").identities[0].words == "f3 follows from precision and recall"


# -- means over classes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rate", "how"),
    [
        ("accuracy", "recall", "weighted"),
        ("balanced_accuracy", "recall", "macro"),
        ("g_mean", "recall", "geometric"),
        ("error_rate", "false_negative_rate", "weighted"),
    ],
)
def test_a_measure_of_all_classes_may_be_a_mean_of_a_rate_of_each(
    name: str, rate: str, how: str
) -> None:
    mean = mean_of(find(name))
    assert mean is not None
    assert (mean.measure.name, mean.how) == (rate, how)


@pytest.mark.parametrize("name", ["kappa", "mcc", "recall", "precision", "roc_auc", "brier"])
def test_a_measure_that_is_no_mean_over_classes_is_told_apart(name: str) -> None:
    assert mean_of(find(name)) is None


def test_formulas_of_all_classes_are_the_same_however_they_are_written() -> None:
    recall = find("recall").formula
    accuracy = find("accuracy").classes
    assert recall is not None
    assert accuracy is not None
    assert same_classes(accuracy, of_classes(recall, "weighted"))
    assert same_classes(accuracy, of_classes(recall, "micro"))
    assert same_classes(total(HIT / ROW) / K, of_classes(recall, "macro"))
    assert not same_classes(accuracy, of_classes(recall, "macro"))
    assert not same_classes(total(HIT / ROW) / K, geometric_mean(HIT / ROW))
    assert not same_classes(total(HIT) / N, total(HIT) / (N + 1))


@settings(max_examples=10)
@given(MATRICES)
def test_a_formula_of_all_classes_is_the_same_number_in_four_cells(matrix: dict[str, int]) -> None:
    tp, fp, fn, tn = (matrix[name] for name in ("TP", "FP", "FN", "TN"))
    table = {
        "HIT": (tn, tp), "ROW": (tn + fp, tp + fn), "COL": (tn + fn, tp + fp),
        "N": tp + fp + fn + tn, "K": 2,
    }  # fmt: skip
    for measure in CATALOGUE:
        formulas = [measure.classes] if measure.classes is not None else []
        if measure.formula is not None:
            formulas += [of_classes(measure.formula, how) for how in ("macro", "weighted", "micro")]
        for formula in formulas:
            one, other = value(formula, table), value(over_two_classes(formula), matrix)
            assert one == pytest.approx(other, nan_ok=True, rel=1e-15), measure.name
