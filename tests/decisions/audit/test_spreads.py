"""Means and deviations of folds, and how they stand to pooled counts."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.audit import audit
from assay.decisions.audit.spreads import mean_of, sd_of
from assay.decisions.audit.verdicts import printed

DDOS = {"tn": 280, "fp": 20, "fn": 15, "tp": 85}
FOLDS = ["0.9125", "0.9250", "0.9000", "0.9375", "0.8875"]


def numbers(**claim):
    judgements = audit({"positive": "ddos", **claim}).claims[0].numbers
    return {number.key: number for number in judgements}


def verdict(key, text, **claim):
    return str(numbers(**claim, reported={key: text})[key].verdict)


@given(st.lists(st.integers(0, 10**4), min_size=2, max_size=12))
def test_mean_and_deviation_are_those_of_numpy(values) -> None:
    folds = [printed(f"{value / 10**4:.4f}") for value in values]
    floats = np.array([float(fold.value) for fold in folds])
    assert float(mean_of(folds)) == pytest.approx(floats.mean())
    assert float(sd_of(folds)) == pytest.approx(floats.std(ddof=1), abs=1e-15)
    assert float(sd_of(folds, ddof=0)) == pytest.approx(floats.std(), abs=1e-15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.0198", "consistent"),
        ("1.98%", "consistent"),
        ("0.0177", "inconsistent"),
        ("-0.02", "inconsistent"),
    ],
)
def test_a_deviation_is_divided_by_one_less_than_the_folds(text, expected) -> None:
    assert verdict("accuracy.sd", text, folds={"accuracy": FOLDS}) == expected


def test_a_deviation_by_the_number_of_folds_is_no_rounding_even_of_coarse_folds() -> None:
    folds = {"accuracy": ["0.96", "0.97", "0.95"]}
    assert verdict("accuracy.sd", "0.01", folds=folds) == "consistent"
    assert verdict("accuracy.sd", "0.0082", folds=folds) == "inconsistent"


def test_a_mean_is_judged_with_the_rounding_of_the_folds() -> None:
    folds = {"accuracy": ["0.913", "0.924", "0.902"]}
    assert verdict("accuracy.mean", "0.913", folds=folds) == "consistent"
    # Each fold may be half a thousandth larger.
    assert verdict("accuracy.mean", "0.9134", folds=folds) == "rounding"
    assert verdict("accuracy.mean", "0.916", folds=folds) == "inconsistent"


def test_means_of_folds_need_no_counts() -> None:
    assert verdict("accuracy", "0.9125", folds={"accuracy": FOLDS}) == "consistent"
    assert verdict("tpr.mean", "0.9125", folds={"recall": FOLDS}) == "consistent"


def test_a_deviation_without_folds_is_undetermined() -> None:
    assert verdict("accuracy.sd", "0.02", confusion=DDOS) == "undetermined"
    assert verdict("accuracy.sd", "0.02", folds={"accuracy": ["0.9"]}) == "undetermined"


def test_a_bare_value_beside_folds_may_be_pooled_or_their_mean() -> None:
    folds = {"accuracy": ["0.90", "0.92", "0.88"]}
    number = numbers(confusion=DDOS, folds=folds, reported={"accuracy": "0.9125"})["accuracy"]
    assert str(number.verdict) == "consistent"
    assert "365/400" in number.said
    number = numbers(confusion=DDOS, folds=folds, reported={"accuracy": "0.900"})["accuracy"]
    assert str(number.verdict) == "consistent"
    assert "the mean of 3 folds" in number.said
    assert verdict("accuracy", "0.95", confusion=DDOS, folds=folds) == "inconsistent"


def test_pooled_counts_judge_strictly_where_the_claim_says_pooled() -> None:
    folds = {"accuracy": ["0.90", "0.92", "0.88"]}
    claim = {"confusion": DDOS, "folds": folds, "aggregate": "pooled"}
    assert verdict("accuracy", "0.900", **claim) == "inconsistent"
    assert verdict("f1", "0.800", **claim) == "inconsistent"


def test_a_mean_of_folds_is_judged_by_the_folds_where_the_claim_says_so() -> None:
    claim = {"confusion": DDOS, "folds": {"accuracy": FOLDS}, "aggregate": "fold-mean"}
    assert verdict("accuracy", "0.9125", **claim) == "consistent"
    assert verdict("accuracy", "0.95", **claim) == "inconsistent"


def test_without_folds_accuracy_may_differ_by_what_unequal_folds_allow() -> None:
    # 20 folds of 400 rows: at most 20/(4*400) = 0.0125.
    claim = {"confusion": DDOS, "aggregate": "fold-mean"}
    assert verdict("accuracy", "0.9000", **claim) == "consistent"
    assert verdict("accuracy", "0.8990", **claim) == "inconsistent"
    assert verdict("error_rate", "0.1000", **claim) == "consistent"
    assert verdict("f1", "0.700", **claim) == "undetermined"
    assert verdict("accuracy.mean", "0.9000", confusion=DDOS) == "consistent"
    assert verdict("accuracy", "0.9000", confusion=DDOS) == "inconsistent"


def test_numbers_beside_folds_of_another_measure_may_be_means_of_folds() -> None:
    assert verdict("f1", "0.700", confusion=DDOS, folds={"accuracy": FOLDS}) == "undetermined"
    assert verdict("f1", "0.829", confusion=DDOS, folds={"accuracy": FOLDS}) == "consistent"


@given(st.integers(2, 20), st.integers(1, 50), st.data())
def test_the_mean_of_folds_never_differs_by_more_than_the_bound(folds, size, data) -> None:
    larger = data.draw(st.integers(0, folds - 1))
    sizes = [size + (i < larger) for i in range(folds)]
    right = [data.draw(st.integers(0, n)) for n in sizes]
    n = sum(sizes)
    mean = sum(Fraction(a, b) for a, b in zip(right, sizes, strict=True)) / folds
    assert abs(mean - Fraction(sum(right), n)) <= Fraction(folds, 4 * n)
