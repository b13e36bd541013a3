import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from assay.errors import InputError, LengthMismatch, MethodError
from assay.inference import cochran_q, friedman, mean_rank_tests, mean_ranks, nemenyi

# Four models on six data sets.
VALUES = [
    [0.76, 0.77, 0.78, 0.75],
    [0.60, 0.59, 0.59, 0.60],
    [0.95, 0.97, 0.96, 0.98],
    [0.63, 0.66, 0.66, 0.66],
    [0.72, 0.73, 0.77, 0.76],
    [0.91, 0.93, 0.94, 0.95],
]

tables = st.integers(3, 5).flatmap(
    lambda models: st.lists(
        st.lists(st.integers(0, 6), min_size=models, max_size=models), min_size=3, max_size=10
    )
)


# -- ranks -----------------------------------------------------------------------------------------


def test_highest_value_has_rank_one_and_ties_share() -> None:
    assert mean_ranks(VALUES[1:3]).tolist() == [(1.5 + 4) / 2, (3.5 + 2) / 2, 3.25, (1.5 + 1) / 2]


@given(tables)
def test_ranks_are_scipys_of_the_negated_values(values) -> None:
    expected = stats.rankdata(-np.array(values), axis=1).mean(axis=0)
    np.testing.assert_allclose(mean_ranks(values), expected)


# -- Friedman --------------------------------------------------------------------------------------


def test_friedman_without_ties_by_hand() -> None:
    # Ranks 1 2 3 in four rows and 2 1 3 in one: R = 6, 9, 15 of 5 rows.
    values = [[3, 2, 1]] * 4 + [[2, 3, 1]]
    significance = friedman(values)
    expected = 12 / (5 * 3 * 4) * (36 + 81 + 225) - 3 * 5 * 4
    assert significance.statistic == pytest.approx(expected)
    assert significance.df == (2,)
    assert significance.p == pytest.approx(stats.chi2.sf(expected, 2))
    assert significance.table["mean_ranks"] == {"0": 1.2, "1": 1.8, "2": 3.0}


@given(tables)
def test_friedman_is_scipys_with_any_ties(values) -> None:
    columns = np.array(values, float).T
    assume(any(len(set(row)) > 1 for row in values))
    theirs = stats.friedmanchisquare(*columns)
    significance = friedman(values)
    assert (significance.statistic, significance.p) == pytest.approx(
        (theirs.statistic, theirs.pvalue), rel=1e-9, abs=1e-9
    )


def test_models_that_are_always_equal_have_p_one() -> None:
    significance = friedman([[0.5, 0.5, 0.5]] * 4)
    assert (significance.statistic, significance.p) == (0.0, 1.0)


@given(tables)
def test_order_of_models_and_of_data_sets_does_not_matter(values) -> None:
    table = np.array(values, float)
    assert friedman(table).p == pytest.approx(friedman(table[::-1, ::-1]).p, rel=1e-9)


def test_names_stand_for_the_columns() -> None:
    significance = friedman(VALUES, names=["knn", "tree", "forest", "boost"])
    assert set(significance.table["mean_ranks"]) == {"knn", "tree", "forest", "boost"}
    assert significance.models == ("knn", "tree", "forest", "boost")


# -- Nemenyi ---------------------------------------------------------------------------------------


def test_nemenyi_tests_every_pair() -> None:
    tests = nemenyi(VALUES, names=list("abcd"))
    assert [result.models for result in tests] == [
        ("a", "b"),
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
        ("c", "d"),
    ]


def test_nemenyi_by_hand() -> None:
    ranks = mean_ranks(VALUES)
    for result, (i, j) in zip(nemenyi(VALUES), [(0, 1), (0, 2), (0, 3)], strict=False):
        q = abs(ranks[j] - ranks[i]) / math.sqrt(4 * 5 / (6 * 6)) * math.sqrt(2)
        assert result.statistic == pytest.approx(q)
        assert result.p == pytest.approx(stats.studentized_range.sf(q, 4, 1e9), abs=1e-6)
        assert result.table["rank_difference"] == pytest.approx(ranks[j] - ranks[i])


def test_critical_difference_of_four_models_is_demsars() -> None:
    # Demsar 2006: q(0.05) of four models is 2.569, so CD = 2.569 sqrt(4 * 5 / (6 * 14)) = 1.25.
    rows = [[4, 3, 2, 1]] * 14
    gaps = [result.table["rank_difference"] for result in nemenyi(rows)]
    assert sorted(set(gaps)) == [1, 2, 3]
    p = {result.table["rank_difference"]: result.p for result in nemenyi(rows)}
    assert p[1] > 0.05 > p[2] > p[3]
    critical = 2.569 * math.sqrt(4 * 5 / (6 * 14)) / math.sqrt(4 * 5 / (6 * 14)) * math.sqrt(2)
    assert stats.studentized_range.sf(critical, 4, 1e9) == pytest.approx(0.05, abs=2e-4)


def test_equal_models_have_p_one() -> None:
    assert [result.p for result in nemenyi([[0.5, 0.5, 0.5]] * 4)] == [1.0, 1.0, 1.0]


def test_swapping_two_models_flips_the_difference_and_keeps_p() -> None:
    table = np.array(VALUES)[:, :2]
    (one,), (other,) = nemenyi(table), nemenyi(table[:, ::-1])
    assert one.table["rank_difference"] == -other.table["rank_difference"]
    assert one.p == other.p


def test_level_decides_the_sentence() -> None:
    rows = [[3, 2, 1]] * 6
    (first, *_) = nemenyi(rows, level=0.95)
    assert "no difference is shown" in first.sentence
    (first, *_) = nemenyi(rows, level=0.5)
    assert "0 ranks better" in first.sentence
    (first, *_) = nemenyi([[1, 2, 3]] * 6, level=0.5)
    assert "1 ranks better" in first.sentence


def test_a_difference_of_models_that_are_right_is_said_from_the_level_on() -> None:
    right = [[1, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert cochran_q(right).p == pytest.approx(math.exp(-7 / 3))
    assert "no difference is shown" in cochran_q(right, level=0.95).sentence
    assert "they differ" in cochran_q(right, level=0.9).sentence


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [friedman, nemenyi, mean_ranks])
@pytest.mark.parametrize("values", [[1, 2, 3], [[1, 2]], [[1], [2]]])
def test_two_data_sets_and_two_models_are_needed(test, values) -> None:
    with pytest.raises(MethodError, match="two of each at least"):
        test(values)


@pytest.mark.parametrize("test", [friedman, nemenyi, mean_ranks])
def test_undefined_values_are_refused(test) -> None:
    with pytest.raises(MethodError, match="must be finite"):
        test([[1, 2], [math.nan, 3]])


# -- counts and ties -------------------------------------------------------------------------------

COMBINATIONS = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 1]]
OFTEN = [30, 20, 12, 400]


def test_counts_are_repeated_rows() -> None:
    repeated = np.repeat(COMBINATIONS, OFTEN, axis=0)
    assert friedman(COMBINATIONS, counts=OFTEN).p == pytest.approx(friedman(repeated).p)
    for one, other in zip(
        nemenyi(COMBINATIONS, counts=OFTEN, ties=True), nemenyi(repeated, ties=True), strict=True
    ):
        assert one.p == pytest.approx(other.p)
        assert one.effect.n == other.effect.n == 462


def test_friedman_of_who_is_right_is_cochrans_q() -> None:
    significance, expected = friedman(COMBINATIONS, counts=OFTEN), cochran_q(COMBINATIONS, OFTEN)
    assert (significance.statistic, significance.p) == pytest.approx(
        (expected.statistic, expected.p)
    )


def test_ties_hide_a_difference_from_the_plain_form_alone() -> None:
    """Where most rows are ties, ranks vary less than k(k + 1)/6 says."""
    plain, corrected = (
        nemenyi(COMBINATIONS, counts=OFTEN),
        nemenyi(COMBINATIONS, counts=OFTEN, ties=True),
    )
    ratio = [one.statistic / other.statistic for one, other in zip(plain, corrected, strict=True)]
    ties = sum(n * (t**3 - t) for n, t in ((30, 2), (20, 2), (12, 2), (400, 3)))
    expected = math.sqrt(1 - ties / (462 * 24))
    assert ratio == pytest.approx([expected] * 3)
    assert plain[1].p > 0.1
    assert corrected[1].p < 0.01


def test_one_combination_is_all_ties() -> None:
    assert friedman([[1, 1, 1]], counts=[50]).p == 1.0
    assert {test.p for test in nemenyi([[1, 1, 1]], counts=[50], ties=True)} == {1.0}


def test_a_row_that_occurs_no_time_changes_nothing() -> None:
    rows = [[0.8, 0.9, 0.7], [0.7, 0.9, 0.6], [0.8, 0.7, 0.9]]
    with_none = friedman([*rows, [0.1, 0.2, 0.9]], counts=[3, 4, 2, 0])
    assert with_none.p == friedman(rows, counts=[3, 4, 2]).p


def test_counts_of_another_length_are_refused() -> None:
    with pytest.raises(LengthMismatch, match="4 rows and 2 counts"):
        friedman(COMBINATIONS, counts=[1, 2])


def test_text_is_refused() -> None:
    with pytest.raises(MethodError, match="a table of numbers is needed"):
        friedman([["good", "bad"], ["bad", "good"]])


# -- names of columns ------------------------------------------------------------------------------


def frames():
    names = ("tree", "net", "knn", "bayes")
    columns = {name: [row[i] for row in VALUES] for i, name in enumerate(names)}
    yield from (columns, pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns))


@pytest.mark.parametrize("frame", list(frames()), ids=["mapping", "pandas", "polars", "pyarrow"])
def test_columns_of_a_frame_name_the_models(frame) -> None:
    significance = friedman(frame)
    assert significance.models == ("tree", "net", "knn", "bayes")
    assert significance.p == friedman(VALUES).p
    assert list(significance.table["mean_ranks"]) == list(significance.models)
    assert nemenyi(frame)[0].models == ("tree", "net")
    assert friedman(frame, names=list("abcd")).models == ("a", "b", "c", "d")
    np.testing.assert_array_equal(mean_ranks(frame), mean_ranks(VALUES))


def test_columns_of_who_is_right_name_the_models() -> None:
    right = pd.DataFrame({"old": [True, False, True], "new": [True, True, True]})
    significance = cochran_q(right)
    assert significance.models == ("old", "new")
    assert significance.p == cochran_q(right.to_numpy()).p


def test_column_that_holds_no_numbers_is_named() -> None:
    frame = pd.DataFrame(VALUES, columns=list("abcd"), index=[f"set {i}" for i in range(6)])
    assert friedman(frame).models == ("a", "b", "c", "d")
    with pytest.raises(MethodError, match=r"column 'index' holds .*, such as \['set 0'\]"):
        friedman(frame.reset_index())


def test_columns_of_unlike_length_or_index_are_refused() -> None:
    with pytest.raises(MethodError, match="columns must be of one length; 'b' has 2 rows"):
        friedman({"a": [1, 2, 3], "b": [1, 2]})
    turned = pd.Series([1, 2, 3], index=[2, 1, 0])
    with pytest.raises(InputError, match=r"row 1 is 0 in values\['a'\] and 2 in values\['b'\]"):
        friedman({"a": pd.Series([1, 2, 3]), "b": turned})


def test_mean_ranks_are_tested_by_the_names_of_columns() -> None:
    columns = {"a": [0.9, 0.8, 0.7], "b": [0.8, 0.9, 0.6]}
    (named,) = mean_rank_tests(columns)
    (plain,) = mean_rank_tests(list(zip(*columns.values(), strict=True)), names=["a", "b"])
    assert named == plain
