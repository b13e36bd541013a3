import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assay.errors import MethodError
from assay.inference import significance


@given(st.floats(0.01, 0.9999))
def test_normal_is_scipys_quantile(level: float) -> None:
    assert significance.normal(level) == pytest.approx(stats.norm.ppf((1 + level) / 2), rel=1e-9)


@given(st.floats(0.01, 0.9999), st.integers(1, 500))
def test_student_is_scipys_quantile(level: float, df: int) -> None:
    assert significance.student(level, df) == pytest.approx(
        stats.t.ppf((1 + level) / 2, df), rel=1e-8
    )


@given(st.floats(-8, 8), st.integers(1, 50))
def test_tails_are_scipys(x: float, df: int) -> None:
    assert significance.normal_p(x) == pytest.approx(2 * stats.norm.sf(abs(x)), rel=1e-9)
    assert significance.student_p(x, df) == pytest.approx(2 * stats.t.sf(abs(x), df), rel=1e-9)
    assert significance.chi_square_p(abs(x), df) == pytest.approx(
        stats.chi2.sf(abs(x), df), rel=1e-9
    )
    assert significance.f_p(abs(x), 10, 5) == pytest.approx(stats.f.sf(abs(x), 10, 5), rel=1e-9)


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_exact_binomial_p_is_scipys(pair: tuple[int, int]) -> None:
    k, n = pair
    assert significance.binomial_p(k, n) == pytest.approx(stats.binomtest(k, n).pvalue, rel=1e-9)


def test_an_even_split_of_fair_trials_has_p_one() -> None:
    assert significance.binomial_p(5, 10) == 1.0
    assert significance.binomial_p(0, 0) == 1.0


@pytest.mark.parametrize(("q", "groups"), [(3.314, 3), (2.772, 2), (3.858, 5)])
def test_studentised_range_at_the_usual_critical_values(q: float, groups: int) -> None:
    assert significance.studentised_range_p(q, groups) == pytest.approx(0.05, abs=2e-4)


@pytest.mark.parametrize("level", [0, 1, -1, 95, math.nan])
def test_level_must_lie_between_zero_and_one(level: float) -> None:
    with pytest.raises(MethodError, match=f"found {level}"):
        significance.check_level(level)


@given(st.floats(0.01, 0.999), st.integers(1, 30), st.integers(1, 30))
def test_f_quantile_is_scipys(level: float, df1: int, df2: int) -> None:
    assert significance.f_quantile(level, df1, df2) == pytest.approx(
        stats.f.ppf(level, df1, df2), rel=1e-7
    )
