"""Tests by ranks: statistics, effects, sentences and edges that were worked out by hand."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from assay.errors import LengthMismatch, MethodError
from assay.inference import Significance, friedman, nemenyi
from assay.inference.rank_tests import (
    iman_davenport,
    mean_rank_tests,
    runs_not_told_apart,
    wilcoxon,
)

# Ranks 1 2 3 in three rows, 2 1 3 in one and 1 3 2 in one: means 1.2, 2, 2.8.
ROWS = [[9, 8, 7], [6, 5, 4], [3, 2, 1], [5, 6, 1], [9, 2, 5]]
# Off the mean rank of 2 by 0.8, 0 and 0.8: 12 * 5 / 12 * 1.28.
STATISTIC = 6.4
ERROR = math.sqrt(3 * 4 / (6 * 5))
NAMES = ["knn", "tree", "svm"]


# -- Friedman --------------------------------------------------------------------------------------


def test_friedman_by_hand() -> None:
    significance = friedman(ROWS, names=NAMES, level=0.9, of="folds")
    assert significance.statistic == pytest.approx(STATISTIC)
    assert significance.df == (2,)
    assert significance.p == pytest.approx(math.exp(-3.2))
    assert (significance.test, significance.method, significance.models) == (
        "friedman",
        "chi-square",
        tuple(NAMES),
    )
    ranks = {"knn": 1.2, "tree": 2.0, "svm": 2.8}
    assert significance.table["mean_ranks"] == pytest.approx(ranks)
    assert significance.table["rows"] == 5
    # Kendall's W: 6.4 of at most 5 * 2.
    assert significance.effect is not None
    assert significance.effect.value == pytest.approx(0.64)
    assert (significance.effect.n, significance.effect.level) == (5, 0.9)
    assert significance.sentence == (
        "3 models over 5 folds; knn ranks best on average: they differ (p = 0.041)."
    )


def test_friedman_of_counted_rows_by_hand() -> None:
    significance = friedman([[3, 2, 1], [1, 2, 3]], counts=[6, 2])
    # Means 1.5, 2 and 2.5 of 8 rows: 12 * 8 / 12 * 0.5.
    assert significance.statistic == pytest.approx(4.0)
    assert significance.table["rows"] == 8
    assert significance.effect is not None
    assert significance.effect.value == pytest.approx(4 / 16)
    assert friedman([[3, 2, 1]], counts=[4]).statistic == pytest.approx(8.0)


def test_ties_divide_the_statistic_by_the_spread_they_leave() -> None:
    # Ranks 1.5 1.5 3, 1 2.5 2.5 and 1 2 3: means 3.5/3, 6/3 and 8.5/3 of 3 rows.
    significance = friedman([[5, 5, 1], [7, 2, 2], [3, 2, 1]])
    off = (3.5 / 3 - 2) ** 2 + (8.5 / 3 - 2) ** 2
    assert significance.statistic == pytest.approx(3 * off / (1 - (6 + 6) / (3 * 24)))


# -- verdicts --------------------------------------------------------------------------------------

WEAK = [[2, 1], [2, 1], [1, 2]]


@pytest.mark.parametrize(
    "test",
    [
        friedman,
        iman_davenport,
        lambda rows, level: nemenyi(rows, level=level)[0],
        lambda rows, level: mean_rank_tests(rows, level=level)[0],
    ],
    ids=["friedman", "iman_davenport", "nemenyi", "mean_ranks"],
)
def test_a_difference_is_shown_only_where_p_is_below_what_the_level_leaves(
    test: Callable[..., Significance],
) -> None:
    significance = test(WEAK, level=0.5)
    p = significance.p if significance.p_adjusted is None else significance.p_adjusted
    # Of a p from a half on, 1 - p is exact.
    assert 0.5 <= p < 1
    assert "no difference is shown" in test(WEAK, level=1 - p).sentence
    shown = test(WEAK, level=1 - p - 1e-9)
    assert "no difference is shown" not in shown.sentence
    # Which one it is where two are compared, be the gap as small as it is.
    pair = shown.test in {"nemenyi", "mean_ranks"}
    assert ("they differ" if not pair else "0 ranks better") in shown.sentence


def test_wilcoxon_shows_a_difference_only_below_what_the_level_leaves() -> None:
    five = [0.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0]
    assert wilcoxon(*five, level=0.9375).p == 0.0625
    assert "no difference is shown" in wilcoxon(*five, level=0.9375).sentence
    assert "B is better (p = 0.062)" in wilcoxon(*five, level=0.9374).sentence
    assert "A is better (p = 0.062)" in wilcoxon(*five[::-1], level=0.9374).sentence


# -- Nemenyi ---------------------------------------------------------------------------------------


def test_nemenyi_by_hand() -> None:
    reach = float(stats.studentized_range.ppf(0.9, 3, 1e9))
    critical = reach / math.sqrt(2) * ERROR
    tests = nemenyi(ROWS, names=NAMES, level=0.9)
    gaps = {("knn", "tree"): 0.8, ("knn", "svm"): 1.6, ("tree", "svm"): 0.8}
    assert [test.models for test in tests] == list(gaps)
    for test, gap in zip(tests, gaps.values(), strict=True):
        q = gap / ERROR * math.sqrt(2)
        assert test.statistic == pytest.approx(q)
        assert test.p == pytest.approx(stats.studentized_range.sf(q, 3, 1e9), rel=1e-6)
        assert test.table == pytest.approx(
            {"rank_difference": gap, "critical_difference": critical}
        )
        assert test.effect is not None
        assert (test.effect.value, test.effect.low, test.effect.high) == pytest.approx(
            (gap, gap - critical, gap + critical)
        )
        assert (test.effect.n, test.effect.level, test.effect.method) == (5, 0.9, "nemenyi")
        assert (test.df, test.method) == ((3, math.inf), "studentised range")
    assert tests[1].sentence == ("knn has mean rank 1.20, svm 2.80: knn ranks better (p = 0.031).")
    turned = nemenyi([row[::-1] for row in ROWS], level=0.9)[1]
    assert turned.sentence == "0 has mean rank 2.80, 2 1.20: 2 ranks better (p = 0.031)."


def test_models_with_one_mean_rank_have_no_statistic() -> None:
    (test,) = nemenyi([[1, 2], [2, 1]])
    assert (test.statistic, test.p) == (0.0, 1.0)
    assert "no difference is shown" in test.sentence


# -- runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "critical", "runs"),
    [
        ([1.0, 2.0], 1.0, []),
        ([1.0, 2.0], 1.1, [(0, 1)]),
        ([1.0, 1.5, 2.0], 1.5, [(0, 2)]),
        ([1.0, 1.5, 2.0, 2.5], 1.25, [(0, 2), (1, 3)]),
        ([1.0, 1.5, 4.0, 4.5], 1.0, [(0, 1), (2, 3)]),
        ([1.0, 3.0, 3.5, 3.6, 6.0, 6.1], 1.0, [(1, 3), (4, 5)]),
        ([2.0], 1.0, []),
        ([], 1.0, []),
    ],
)
def test_runs_span_less_than_the_critical_difference_and_none_is_part_of_another(
    ranks: list[float], critical: float, runs: list[tuple[int, int]]
) -> None:
    assert runs_not_told_apart(ranks, critical) == runs


# -- Iman and Davenport ----------------------------------------------------------------------------


def test_iman_and_davenport_by_hand() -> None:
    significance = iman_davenport(ROWS, names=NAMES, level=0.9)
    statistic = 4 * STATISTIC / (5 * 2 - STATISTIC)
    assert significance.statistic == pytest.approx(statistic)
    assert significance.df == (2, 8)
    assert significance.p == pytest.approx(stats.f.sf(statistic, 2, 8))
    assert (significance.test, significance.method) == ("iman_davenport", "F")
    assert significance.sentence == (
        "3 models over 5 data sets, by Iman and Davenport: they differ (p = 0.017)."
    )


@pytest.mark.parametrize(
    ("row", "orders"),
    [([4, 3, 2, 1], 24), ([4, 4, 2, 1], 12), ([4, 4, 4, 1], 4), ([4, 4, 1, 1], 6), ([2, 1], 2)],
)
def test_equal_orders_everywhere_are_as_likely_as_one_of_so_many(
    row: list[int], orders: int
) -> None:
    significance = iman_davenport([row] * 3)
    assert significance.statistic is None
    assert significance.p == pytest.approx(orders**-2)
    assert significance.df == (len(row) - 1, 2 * (len(row) - 1))


# -- mean ranks ------------------------------------------------------------------------------------


def test_mean_ranks_are_compared_as_normal() -> None:
    tests = mean_rank_tests(ROWS, names=NAMES, level=0.9)
    gaps = [0.8, 1.6, 0.8]
    raw = [2 * float(stats.norm.sf(gap / ERROR)) for gap in gaps]
    # Holm: the smallest of three times 3, the others times 2.
    adjusted = [2 * raw[0], 3 * raw[1], 2 * raw[2]]
    reach = float(stats.norm.ppf(0.95)) * ERROR
    for test, gap, p, more in zip(tests, gaps, raw, adjusted, strict=True):
        assert test.statistic == pytest.approx(gap / ERROR)
        assert (test.p, test.p_adjusted) == pytest.approx((p, more))
        assert test.table == pytest.approx({"rank_difference": gap, "standard_error": ERROR})
        assert test.effect is not None
        assert (test.effect.value, test.effect.low, test.effect.high) == pytest.approx(
            (gap, gap - reach, gap + reach)
        )
        assert (test.effect.n, test.effect.level, test.effect.method) == (5, 0.9, "normal")
    assert [test.models for test in tests] == [
        ("knn", "tree"),
        ("knn", "svm"),
        ("tree", "svm"),
    ]
    assert tests[1].sentence == (
        "knn has mean rank 1.20, svm 2.80: knn ranks better (p = 0.034 by Holm)."
    )
    turned = mean_rank_tests([row[::-1] for row in ROWS], level=0.9)[1]
    assert turned.sentence == ("0 has mean rank 2.80, 2 1.20: 2 ranks better (p = 0.034 by Holm).")


# -- Wilcoxon --------------------------------------------------------------------------------------


def test_wilcoxon_by_hand() -> None:
    # Gaps -1, +2, +2, 0 and +5: ranks 1, 2.5, 2.5 and 4.
    significance = wilcoxon([5, 5, 5, 5, 5], [4, 7, 7, 5, 10], names=("old", "new"))
    assert significance.statistic == 1
    assert significance.table == {
        "rows": 5,
        "without_difference": 1,
        "ranks_above": 9.0,
        "ranks_below": 1.0,
    }
    # Of 16 ways to sign, sums of 0 and 1 on either side are as far from the middle.
    assert significance.p == 4 / 16
    assert (significance.method, significance.models, significance.df) == (
        "exact",
        ("old", "new"),
        (),
    )
    assert significance.sentence == (
        "new is ahead of old on 3 of 5 data sets: no difference is shown (p = 0.25)."
    )


@pytest.mark.parametrize("size", [50, 51, 80])
@pytest.mark.parametrize("tied", [False, True])
def test_up_to_50_data_sets_are_counted_out(size: int, tied: bool) -> None:
    gaps = np.array([i * 37 % 101 - 40.3 for i in range(size)])
    if tied:
        gaps = np.round(gaps / 10)
        gaps[gaps == 0] = 1.0
    significance = wilcoxon(np.zeros(size), gaps)
    assert significance.method == ("exact" if size <= 50 else "normal")
    assert significance.statistic == stats.wilcoxon(gaps).statistic
    if size > 50:
        theirs = stats.wilcoxon(gaps, correction=True, method="asymptotic")
        assert significance.p == pytest.approx(theirs.pvalue, rel=1e-9)
    elif not tied:
        assert significance.p == pytest.approx(
            stats.wilcoxon(gaps, method="exact").pvalue, rel=1e-9
        )


def test_many_data_sets_in_balance_have_p_one() -> None:
    gaps = [float(i) for i in range(1, 31)] * 2
    signs = [1] * 30 + [-1] * 30
    significance = wilcoxon([0.0] * 60, [gap * sign for gap, sign in zip(gaps, signs, strict=True)])
    assert (significance.p, significance.method) == (1.0, "normal")
    # One is what the correction for continuity takes of the difference.
    significance = wilcoxon([0.0] * 51, [1.0] * 51)
    assert significance.p == pytest.approx(2 * stats.norm.sf((51 * 26 - 1) / math.sqrt(51 * 26**2)))


def test_gaps_that_differ_by_rounding_are_ties() -> None:
    significance = wilcoxon([0.1, 0.5, 1.0], [0.1 + 0.2, 0.7, 0.9])
    assert significance.table["ranks_above"] == 5.0
    assert wilcoxon([0.3, 1.0], [0.1 + 0.2, 1.0]).table["without_difference"] == 2
    apart = wilcoxon([0.0, 0.0, 0.0], [1.0, 1.0 + 2e-12, -0.5])
    assert apart.table["ranks_above"] == 5.0
    assert wilcoxon([0.0] * 2, [2e-12, 1.0]).table["without_difference"] == 0
    assert wilcoxon([0.0] * 2, [2e-13, 1.0]).table["without_difference"] == 1


@pytest.mark.parametrize(
    ("a", "b", "error"),
    [
        ([0.1, 0.2], [0.1, 0.2, 0.3], LengthMismatch),
        ([[0.1, 0.2]], [[0.1, 0.2]], LengthMismatch),
        ([0.1], [0.2], MethodError),
        ([0.1, math.nan], [0.1, 0.2], MethodError),
        ([0.1, 0.2], [0.1, math.inf], MethodError),
    ],
)
def test_two_finite_values_of_each_model_are_needed(a: Any, b: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        wilcoxon(a, b)


def test_ranks_that_are_shared_are_counted_out_too() -> None:
    # Ranks 1.5 twice and 3.5 twice: of 16 signs, sums of 0, 1.5, 1.5 and 3 on either side.
    assert wilcoxon([0.0] * 4, [-1.0, -1.0, 2.0, 2.0]).p == 8 / 16


def test_two_data_sets_are_enough() -> None:
    assert wilcoxon([0.1, 0.2], [0.2, 0.4]).p == 0.5


@pytest.mark.parametrize("counts", [[1, 2, 3], [[1, 2]], 2])
def test_counts_are_one_a_row(counts: Any) -> None:
    with pytest.raises(LengthMismatch, match="there are 2 rows"):
        friedman([[1, 2], [2, 1]], counts=counts)
