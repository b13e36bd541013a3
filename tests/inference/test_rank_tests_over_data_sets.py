"""Tests over data sets: examples and laws."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import LengthMismatch, MethodError
from assay.inference.rank_tests import (
    iman_davenport,
    mean_rank_tests,
    runs_not_told_apart,
    wilcoxon,
)

values = st.lists(st.integers(-8, 8), min_size=2, max_size=7)


@given(values)
def test_wilcoxon_counts_all_signs(gaps: list[int]) -> None:
    """The p-value is the share of all ways to sign the ranks that are as far from the middle."""
    significance = wilcoxon([0.0] * len(gaps), [float(gap) for gap in gaps])
    sizes = [abs(gap) for gap in gaps if gap]
    ranks = [
        sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2
        for size in sizes
    ]
    up = sum(rank for rank, gap in zip(ranks, filter(None, gaps), strict=True) if gap > 0)
    off = abs(up - sum(ranks) / 2)
    ways = [
        abs(sum(r for r, sign in zip(ranks, signs, strict=True) if sign) - sum(ranks) / 2)
        for signs in itertools.product([False, True], repeat=len(ranks))
    ]
    expected = sum(way >= off - 1e-9 for way in ways) / len(ways)
    assert significance.p == pytest.approx(expected)
    assert significance.table["without_difference"] == gaps.count(0)


@given(values, values)
def test_the_order_of_two_models_turns_what_is_found(a: list[int], b: list[int]) -> None:
    size = min(len(a), len(b))
    one, other = wilcoxon(a[:size], b[:size]), wilcoxon(b[:size], a[:size])
    assert one.p == pytest.approx(other.p)
    assert one.table["ranks_above"] == other.table["ranks_below"]


def test_equal_models_are_not_told_apart() -> None:
    assert wilcoxon([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]).p == 1
    assert wilcoxon([0.1] * 60, [0.1] * 60).p == 1
    table = [[0.5, 0.5, 0.5]] * 4
    assert iman_davenport(table).p == pytest.approx(1)
    assert {test.p for test in mean_rank_tests(table)} == {1.0}


def test_many_data_sets_are_taken_as_normal() -> None:
    random = np.random.default_rng(0)
    a = random.normal(size=80)
    significance = wilcoxon(a, a + random.normal(0.5, 1, 80))
    assert significance.method == "normal"
    assert 0 < significance.p < 0.01


def test_the_same_order_everywhere_has_a_p_of_so_many_orders() -> None:
    significance = iman_davenport([[3.0, 2.0, 1.0]] * 4)
    assert significance.statistic is None
    assert significance.method == "exact"
    assert significance.p == pytest.approx(math.factorial(3) ** -3)
    assert "they differ" in significance.sentence
    # Two of three models tied: the third stands in one of three places.
    assert iman_davenport([[0.9, 0.9, 0.8]] * 4).p == pytest.approx(3.0**-3)
    assert "no difference" in iman_davenport([[1.0, 2.0], [2.0, 1.0]]).sentence


def test_runs_of_ranks_that_are_not_told_apart() -> None:
    assert runs_not_told_apart([1.0, 2.0, 3.0], 0.5) == []
    assert runs_not_told_apart([1.0, 1.4, 3.0], 5) == [(0, 2)]


def test_what_is_no_value_a_data_set_is_refused() -> None:
    with pytest.raises(LengthMismatch, match="one value of each model a data set"):
        wilcoxon([0.1, 0.2], [0.1])
    with pytest.raises(MethodError, match="2 data sets with finite values"):
        wilcoxon([0.1], [0.2])
