"""Evaluations of a confusion matrix alone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate_counts
from assay.errors import InputError, LabelError


def test_four_cells() -> None:
    evaluation = evaluate_counts(tp=3, fp=1, fn=2, tn=4)
    assert evaluation.confusion.cells == ((4, 1), (2, 3))
    assert evaluation.labels == ("negative", "positive")
    assert evaluation.positive == "positive"
    assert evaluation["precision"] == 0.75


def test_labels_of_four_cells_have_the_negative_first() -> None:
    evaluation = evaluate_counts(tp=3, fp=1, fn=2, tn=4, labels=["benign", "bad"])
    assert evaluation.labels == ("benign", "bad")
    assert evaluation["precision.benign"] == 4 / 6


def test_matrix_rows_are_the_truth() -> None:
    evaluation = evaluate_counts(matrix=[[4, 1], [2, 3]], labels=["no", "yes"])
    assert evaluation["precision"] == 0.75
    assert evaluation["recall"] == 0.6


def test_positive_may_stand_first_in_the_matrix() -> None:
    evaluation = evaluate_counts(matrix=[[3, 2], [1, 4]], labels=["bad", "good"], positive="bad")
    assert evaluation.labels == ("good", "bad")
    assert evaluation.confusion.cells == ((4, 1), (2, 3))


def test_positive_of_a_well_known_pair_is_inferred() -> None:
    assert evaluate_counts(matrix=[[3, 2], [1, 4]], labels=["attack", "normal"])["recall"] == 0.6
    assert evaluate_counts(matrix=[[4, 1], [2, 3]]).positive == "1"


def test_positive_of_another_pair_must_be_told() -> None:
    with pytest.raises(LabelError, match="nothing tells"):
        evaluate_counts(matrix=[[4, 1], [2, 3]], labels=["a", "b"])


def test_many_classes_without_labels_are_numbered() -> None:
    assert evaluate_counts(matrix=[[1, 2, 3]] * 3).labels == ("0", "1", "2")


def test_one_of_many_labels_may_be_the_positive() -> None:
    evaluation = evaluate_counts(
        matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]], labels=list("ABC"), positive="B"
    )
    assert evaluation.confusion.cells == ((100, 5), (7, 38))
    assert evaluation["recall"] == 38 / 45


@pytest.mark.parametrize(
    ("labels", "positive"), [([0, 1], 1), ([False, True], True), (["0", "1"], "1")]
)
def test_labels_may_be_of_any_kind(labels, positive) -> None:
    evaluation = evaluate_counts(matrix=[[4, 1], [2, 3]], labels=labels, positive=positive)
    assert evaluation["precision"] == 0.75
    assert evaluation.positive in ("1", "true")


@pytest.mark.parametrize("number", [int, np.int64, np.uint8, float])
def test_cells_may_be_any_whole_numbers(number) -> None:
    evaluation = evaluate_counts(tp=number(3), fp=number(1), fn=number(2), tn=number(4))
    assert evaluation.confusion.cells == ((4, 1), (2, 3))
    assert all(type(cell) is int for row in evaluation.confusion.cells for cell in row)


def test_array_is_a_matrix() -> None:
    matrix = np.array([[45, 3, 2], [4, 38, 3], [1, 2, 52]])
    assert evaluate_counts(matrix=matrix)["accuracy"] == 0.9


def test_counts_are_exact_at_any_size() -> None:
    evaluation = evaluate_counts(tp=10**18 + 1, fp=10**18, fn=1, tn=10**30)
    assert evaluation.confusion.total == 2 * 10**18 + 2 + 10**30
    assert evaluation["precision"] == (10**18 + 1) / (2 * 10**18 + 1)
    assert evaluation["mcc"].low <= evaluation["mcc"] <= evaluation["mcc"].high


def test_the_rows_of_a_matrix_may_be_the_decisions() -> None:
    truth = evaluate_counts(matrix=[[4, 1], [2, 3]], orientation="truth-rows")
    turned = evaluate_counts(matrix=[[4, 2], [1, 3]], orientation="predicted-rows")
    assert turned.confusion == truth.confusion == evaluate_counts(matrix=[[4, 1], [2, 3]]).confusion


@given(st.lists(st.lists(st.integers(0, 99), min_size=3, max_size=3), min_size=3, max_size=3))
def test_turning_a_matrix_twice_changes_nothing(matrix) -> None:
    once = evaluate_counts(matrix=matrix, orientation="predicted-rows").confusion.cells
    again = evaluate_counts(matrix=once, orientation="predicted-rows").confusion.cells
    assert again == evaluate_counts(matrix=matrix).confusion.cells


def test_the_negative_may_be_told_instead() -> None:
    evaluation = evaluate_counts(matrix=[[3, 2], [1, 4]], labels=["bad", "good"], negative="good")
    assert (evaluation.labels, evaluation.positive) == (("good", "bad"), "bad")
    assert evaluation.confusion.cells == ((4, 1), (2, 3))
    cells = evaluate_counts(tp=3, fp=1, fn=2, tn=4, labels=["good", "bad"], negative="good")
    assert (cells.labels, cells.positive) == (("good", "bad"), "bad")
    assert cells.confusion.cells == ((4, 1), (2, 3))


def test_every_class_but_the_negative_is_positive() -> None:
    evaluation = evaluate_counts(
        matrix=[[45, 3, 2], [4, 38, 3], [1, 2, 52]], labels=list("ABC"), negative="B"
    )
    assert evaluation.labels == ("B", "not B")
    assert evaluation.confusion.cells == ((38, 7), (5, 100))


def test_a_volume_gives_the_daily_figures() -> None:
    evaluation = evaluate_counts(tp=3, fp=1, fn=2, tn=4, volume=1000)
    assert evaluation["alerts_per_day"] == 400


def test_no_rows_at_all_leave_everything_undefined() -> None:
    evaluation = evaluate_counts(tp=0, fp=0, fn=0, tn=0)
    assert all(math.isnan(estimate) and estimate.undefined for estimate in evaluation.values())


def test_level_interval_and_base_rate_are_taken() -> None:
    evaluation = evaluate_counts(tp=3, fp=1, fn=2, tn=4, level=0.8, interval="wald", base_rate=0.05)
    assert evaluation["recall"].method == "wald"
    assert evaluation.level == 0.8
    assert evaluation.at(0.05)["precision"] > 0


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "missing: tp, fp, fn, tn"),
        ({"tp": 1, "fp": 2, "tn": 3}, "missing: fn"),
        ({"tp": 1, "fp": 2, "fn": 3, "tn": -1}, "not negative; found -1"),
        ({"tp": 1.5, "fp": 2, "fn": 3, "tn": 1}, "whole number; found 1.5"),
        ({"tp": math.nan, "fp": 2, "fn": 3, "tn": 1}, "whole number; found nan"),
        ({"tp": True, "fp": 2, "fn": 3, "tn": 1}, "whole number; found True"),
        ({"tp": "3", "fp": 2, "fn": 3, "tn": 1}, "whole number; found '3'"),
        ({"tp": 1, "matrix": [[1, 2], [3, 4]]}, "not both"),
        ({"matrix": [[1, 2], [3]]}, r"found rows of \[2, 1\]"),
        ({"matrix": [[1, 2], [3, 4]], "labels": ["a", "b", "c"]}, "a matrix of 3 labels"),
        ({"matrix": []}, "two labels or more; found 0"),
        ({"matrix": [[3]]}, "two labels or more; found 1"),
        ({"tp": 1, "fp": 1, "fn": 1, "tn": 1, "labels": ["a"]}, "two labels, the negative first"),
        ({"tp": 1, "fp": 1, "fn": 1, "tn": 1, "labels": ["a", "a"]}, "differ from each other"),
        (
            {"matrix": [[1, 2], [3, 4]], "orientation": "rows"},
            "truth-rows or predicted-rows; found",
        ),
        (
            {"tp": 1, "fp": 1, "fn": 1, "tn": 1, "orientation": "truth-rows"},
            "orientation= is of a matrix",
        ),
        ({"matrix": [[1, 2], [3, 4]], "positive": "0", "negative": "1"}, "not both"),
        ({"matrix": [[1, 2], [3, 4]], "negative": "x"}, r"negative='x' is none of the labels"),
        (
            {"tp": 1, "fp": 1, "fn": 1, "tn": 1, "positive": "x"},
            r"positive='x' is none of the labels \['negative', 'positive'\]",
        ),
    ],
)
def test_counts_that_make_no_matrix_are_refused(given, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_counts(**given)


@pytest.mark.parametrize("cell", [10**400, 10**37, 1e300])
def test_a_count_beyond_what_floats_can_cube_is_refused(cell: float) -> None:
    with pytest.raises(InputError, match="at most 10\\^36; found"):
        evaluate_counts(tp=cell, fp=1, fn=1, tn=1)


def test_a_negative_count_is_refused_also_as_a_float() -> None:
    with pytest.raises(InputError, match="not negative"):
        evaluate_counts(tp=-3.0, fp=1, fn=1, tn=1)
