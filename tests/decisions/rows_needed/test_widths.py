"""Rows that make an interval narrow enough."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from assay import ClopperPearson, Wilson
from assay.decisions.rows_needed import chance_of_width, rows_for_sure, rows_for_width

NAMES = {"wilson": "wilson", "clopper-pearson": "beta"}
METHODS = [Wilson(0.95), Wilson(0.9), ClopperPearson(0.95)]


def width(method: object, k: float, rows: int) -> float:
    low, high = proportion_confint(k, rows, 1 - method.level, NAMES[method.name])
    return high - low


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("share", [0.5, 0.9, 0.02])
@pytest.mark.parametrize("most", [0.2, 0.05, 0.01])
def test_rows_are_the_fewest_by_statsmodels(method: object, share: float, most: float) -> None:
    row_count = rows_for_width(method, most, share)
    assert width(method, row_count * share, row_count) <= most
    assert width(method, (row_count - 1) * share, row_count - 1) > most


def test_rows_for_the_worst_share_do_for_every_share() -> None:
    for method in METHODS:
        rows = rows_for_width(method, 0.1, 0.5)
        assert max(width(method, k, rows) for k in range(rows + 1)) <= 0.1 + 1e-12


@settings(max_examples=30)
@given(
    rows=st.integers(2, 300),
    share=st.floats(0.01, 0.99),
    most=st.floats(0.02, 0.5),
    method=st.sampled_from(METHODS),
)
def test_chance_is_that_of_the_counts_whose_interval_is_narrow(
    rows: int, share: float, most: float, method: object
) -> None:
    counts = range(rows + 1)
    ends = [method(k, rows) for k in counts]
    narrow = [k for k, (low, high) in zip(counts, ends, strict=True) if float(high - low) <= most]
    expected = sum(stats.binom.pmf(k, rows, share) for k in narrow)
    assert chance_of_width(method, most, share, rows) == pytest.approx(expected, abs=1e-9)


def test_rows_for_sure_are_enough_and_one_less_is_not() -> None:
    for method in METHODS:
        rows = rows_for_sure(method, 0.05, 0.9, 0.8)
        assert rows >= rows_for_width(method, 0.05, 0.9)
        assert chance_of_width(method, 0.05, 0.9, rows) >= 0.8
        assert chance_of_width(method, 0.05, 0.9, rows - 1) < 0.8
