"""Rates over time: exact p-values, and what must hold."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MethodError
from assay.inference import Wilson
from assay.inference.periods import adjusted, alike, change, hosts_alike, trend
from assay.inference.significance import chi_square_p


def exact_mid_p(hits: list[int], trials: list[int]) -> float:
    """The mid-p of all tables with these margins."""
    share = sum(hits) / sum(trials)

    def statistic(table: tuple[int, ...]) -> float:
        return sum((k - n * share) ** 2 / n for k, n in zip(table, trials, strict=True))

    chances: dict[tuple[int, ...], int] = {}
    for table in product(*(range(n + 1) for n in trials)):
        if sum(table) == sum(hits):
            chances[table] = math.prod(math.comb(n, k) for n, k in zip(trials, table, strict=True))
    seen, every = statistic(tuple(hits)), sum(chances.values())
    above = sum(c for table, c in chances.items() if statistic(table) > seen + 1e-12)
    tied = sum(c for table, c in chances.items() if abs(statistic(table) - seen) <= 1e-12)
    return (above + tied / 2) / every


@pytest.mark.parametrize(
    ("hits", "trials"),
    [
        ([3, 0, 1], [3, 3, 3]),
        ([5, 2, 4], [6, 6, 5]),
        ([0, 4], [4, 5]),
        ([1, 1, 3, 0], [3, 2, 4, 2]),
    ],
)
def test_alike_is_the_exact_mid_p(hits: list[int], trials: list[int]) -> None:
    assert alike(hits, trials) == pytest.approx(exact_mid_p(hits, trials), abs=0.03)


def test_many_rows_have_the_chi_square_distribution() -> None:
    k, n = np.array([60, 80, 75]), np.array([100, 100, 100])
    share = k.sum() / n.sum()
    x = float((np.square(k - n * share) / n).sum() / (share * (1 - share)))
    assert alike(k, n) == pytest.approx(chi_square_p(x, 2))


def test_nine_expected_rows_are_dealt_out_and_ten_are_not() -> None:
    few, enough = [12, 6, 9], [13, 7, 10]
    assert alike(few, [100] * 3) != pytest.approx(
        chi_square_p(float(np.square(np.array(few) - 9).sum() / 100 / (0.09 * 0.91)), 2), abs=1e-9
    )
    assert alike(enough, [100] * 3) == pytest.approx(
        chi_square_p(float(np.square(np.array(enough) - 10).sum() / 100 / (0.1 * 0.9)), 2)
    )


@pytest.mark.parametrize("hits", [[0, 0, 0], [3, 4, 5]])
def test_periods_without_any_hit_or_miss_are_alike(hits: list[int]) -> None:
    assert alike(hits, [3, 4, 5]) == 1.0


def test_periods_without_rows_do_not_count() -> None:
    assert alike([3, 0, 1], [3, 0, 4]) == alike([3, 1], [3, 4])
    assert alike([3, 0], [4, 0]) == 1.0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=5))
def test_hits_and_misses_may_change_places(rows: list[tuple[int, int]]) -> None:
    k, n = [a for a, _ in rows], [a + b for a, b in rows]
    misses = [b for _, b in rows]
    p = alike(k, n)
    assert 0 < p <= 1
    assert alike(misses, n) == pytest.approx(p)


def test_more_hits_than_rows_are_refused() -> None:
    with pytest.raises(MethodError, match="no more in a period than trials"):
        alike([3], [2])


def test_one_host_a_period_cannot_be_told_from_the_period() -> None:
    assert hosts_alike([5, 0, 5, 0], [5, 5, 5, 5], [0, 1, 2, 3]) == pytest.approx(0.5, abs=0.001)


def test_hosts_are_dealt_out_whole() -> None:
    """Six hosts of three rows: 2 of the 20 ways to deal them are as extreme."""
    p = hosts_alike([3, 3, 3, 0, 0, 0], [3] * 6, [0, 0, 0, 1, 1, 1])
    assert p == pytest.approx(0.5 * 2 / 20, abs=0.02)


def test_a_trend_counts_the_orders_that_are_as_strong() -> None:
    k, n, at = [4, 4, 3, 4, 2, 1, 2, 0], [4] * 8, np.arange(8)
    moved = np.array(k) - np.mean(k)
    seen = abs(float(moved @ (at - at.mean())))
    strong = [
        abs(float(moved @ (np.array(o) - 3.5))) >= seen - 1e-9 for o in permutations(range(8))
    ]
    assert trend(k, n, at) == pytest.approx(float(np.mean(strong)), abs=0.004)


def test_seven_days_have_no_trend_to_tell() -> None:
    assert math.isnan(trend([1] * 7, [2] * 7, range(7)))
    assert math.isnan(trend([1] * 7 + [0], [2] * 7 + [0], range(8)))


def test_no_days_differ_so_there_is_no_trend() -> None:
    assert trend([2] * 9, [2] * 9, range(9)) == 1.0


def test_a_fall_is_told_from_the_thirds_of_the_time() -> None:
    k, n = [10] * 9 + [9, 8, 9] + [6, 5, 6, 5, 6, 4], [10] * 18
    found = adjusted({"recall": change(k, n, range(18)), "precision": None})["recall"]
    assert (found.first, found.last) == (1.0, pytest.approx(32 / 60))
    assert found.difference == pytest.approx(32 / 60 - 1)
    assert found.verdict == "fell"
    assert found.p_adjusted == found.p <= 0.001
    assert found.first.low == pytest.approx(Wilson().ends(60, 60)[0])


def test_a_rise_is_said_too_and_chance_is_not() -> None:
    k, n = [4, 5, 4, 5, 6, 6, 7, 8, 9, 9, 10, 9], [10] * 12
    assert adjusted({"recall": change(k, n, range(12))})["recall"].verdict == "rose"
    assert adjusted({"recall": change([8, 7, 9, 8] * 3, n, range(12))})["recall"].verdict is None


def test_several_measures_share_the_chance_of_a_false_verdict() -> None:
    k, n = [10, 9, 10, 9, 8, 9, 8, 8, 7, 7, 8, 6], [10] * 12
    one = change(k, n, range(12))
    assert one.verdict is None
    found = adjusted({"recall": one, "specificity": one, "few": change([1], [2], [0])})
    assert found["recall"].p_adjusted == pytest.approx(2 * one.p)
    assert found["few"] is None


def test_thirds_are_of_the_time_and_not_of_the_days_that_have_rows() -> None:
    k, n, days = [1] * 8 + [0], [1] * 9, [0, 1, 2, 3, 4, 5, 6, 7, 60]
    found = change(k, n, days)
    assert (found.first.n, found.last.n) == (8, 1)


def test_days_that_differ_widen_the_change() -> None:
    steady, uneven = [8, 8, 8] * 6, [10, 10, 4] * 6
    n = [10] * 18
    widths = [change(k, n, range(18)).difference for k in (steady, uneven)]
    assert widths[1].high - widths[1].low > 1.3 * (widths[0].high - widths[0].low)


def test_a_fall_between_thirds_against_the_trend_is_none() -> None:
    """All days together rise, the thirds fall."""
    k = [6, 9, 1, 4, 10, 9, 3, 1, 9, 7, 8, 0][::-1]
    found = change(k, [10] * 12, range(12))
    assert found.difference * found.direction < 0
    assert replace(found, p_adjusted=0.001).verdict is None
