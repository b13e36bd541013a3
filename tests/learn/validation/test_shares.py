from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split

from assay.learn.splitter import class_counts, largest_remainder, part_sizes
from assay.learn.validation import Holdout, RowsToSplit

TENTHS = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
sizes = st.lists(st.integers(1, 500), min_size=1, max_size=6)


def test_document_000_is_divided_as_it_says() -> None:
    table = class_counts([39_552, 34_792], TENTHS)
    assert [sum(part) for part in table] == [52_040, 14_869, 7_435]
    # The training part of its section 21, and the test part that its confusion matrices add up to.
    assert table[0] == [27_686, 24_354]
    assert table[1] == [7_910, 6_959]


def test_two_cuts_by_scikit_learn_leave_the_same_counts() -> None:
    truth = np.repeat([0, 1], [39_552, 34_792])
    rest, validation = train_test_split(truth, test_size=0.1, stratify=truth, random_state=0)
    train, test = train_test_split(rest, test_size=0.2 / 0.9, stratify=rest, random_state=0)
    counts = [np.bincount(part).tolist() for part in (train, test, validation)]
    assert counts == class_counts([39_552, 34_792], TENTHS)


@given(sizes, st.integers(0, 10**6))
def test_the_largest_remainder_stays_within_a_row_of_the_quota(
    classes: list[int], seed: int
) -> None:
    size = seed % (sum(classes) + 1)
    given = largest_remainder(classes, size)
    assert sum(given) == size
    for n, got in zip(classes, given, strict=True):
        assert abs(got - Fraction(size * n, sum(classes))) < 1
        assert 0 <= got <= n


@given(sizes, st.integers(1, 99), st.integers(1, 99))
def test_parts_add_up_to_rows_and_classes(classes: list[int], a: int, b: int) -> None:
    shares = [Fraction(a, a + b + 7), Fraction(b, a + b + 7), Fraction(7, a + b + 7)]
    table = class_counts(classes, shares)
    assert [sum(column) for column in zip(*table, strict=True)] == classes
    assert [sum(part) for part in table] == part_sizes(sum(classes), shares)
    for part, share in zip(table, shares, strict=True):
        assert abs(sum(part) - sum(classes) * share) < 1


@given(st.lists(st.integers(20, 400), min_size=2, max_size=4), st.integers(10, 60))
def test_a_holdout_is_as_large_as_scikit_learns(classes: list[int], percent: int) -> None:
    truth = np.repeat(np.arange(len(classes)), classes)
    share = percent / 100
    split = Holdout(share).splits(RowsToSplit.of_arrays(None, truth, None))[0]
    theirs = StratifiedShuffleSplit(1, test_size=share, random_state=0)
    train, test = next(theirs.split(truth, truth))
    # Theirs multiplies floats: 0.07 * 100 is above 7.
    exact = math.ceil(Fraction(percent, 100) * len(truth))
    assert len(split.test) == exact
    assert len(test) - exact in (0, 1)
    if len(test) == exact:
        # On a tie theirs draws lots, so the counts may differ by one.
        mine, their = (np.bincount(truth[part]) for part in (split.train, train))
        assert np.abs(mine - their).max() <= 1


def test_a_small_class_is_on_both_sides_where_that_can_be() -> None:
    assert class_counts([1000, 2], [Fraction(9, 10), Fraction(1, 10)]) == [[900, 1], [100, 1]]
    assert class_counts([1000, 3], TENTHS) == [[701, 1], [199, 1], [100, 1]]


@pytest.mark.parametrize("classes", [[7, 7], [5, 5, 5]])
def test_a_tie_has_one_answer(classes: list[int]) -> None:
    halves = [Fraction(1, 2), Fraction(1, 2)]
    assert class_counts(classes, halves) == class_counts(classes, halves)
    assert sum(class_counts(classes, halves)[0]) == sum(classes) // 2
