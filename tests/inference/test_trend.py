"""Area, slope and change over periods, each a combination of independent estimates."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress
from statsmodels.stats.proportion import confint_proportions_2indep

from assay.inference import Estimate, Wilson
from assay.inference.time_courses import (
    MOVER,
    ONE_PERIOD,
    RESIDUAL_T,
    area_under_time,
    change,
    combined,
    over_defined,
    slope,
    unpaired_difference,
)

shares = st.tuples(st.integers(0, 60), st.integers(0, 60)).filter(lambda cell: sum(cell) > 0)


def share(hits: int, misses: int, level: float = 0.95) -> Estimate:
    n = hits + misses
    low, high = Wilson(level)(hits, n)
    return Estimate(hits / n, float(low), float(high), method="wilson", n=n, level=level)


def test_the_difference_of_two_shares_is_newcombes() -> None:
    # Newcombe (1998), method 10: 56/70 against 48/80 is 0.2 [0.0524, 0.3339].
    estimate = combined([1, -1], [share(56, 14), share(48, 32)])
    assert estimate.value == pytest.approx(0.2)
    assert (estimate.low, estimate.high) == (
        pytest.approx(0.0524, 5e-3),
        pytest.approx(0.3339, 5e-3),
    )
    assert (estimate.method, estimate.n) == (MOVER, 150)


@given(st.lists(shares, min_size=2, max_size=9))
def test_the_area_is_the_trapezoid_over_the_unit_interval(cells: list[tuple[int, int]]) -> None:
    estimates = [share(*cell) for cell in cells]
    area = area_under_time(estimates)
    values = [float(e) for e in estimates]
    assert area.value == pytest.approx(np.trapezoid(values, np.linspace(0, 1, len(values))))
    assert min(e.low for e in estimates) - 1e-12 <= area.low <= area <= area.high
    assert area.high <= max(e.high for e in estimates) + 1e-12


def test_the_area_of_a_level_course_is_its_height_and_surer_than_one_period() -> None:
    area = area_under_time([share(80, 20)] * 5)
    assert area.value == pytest.approx(0.8)
    assert area.high - area.low < share(80, 20).high - share(80, 20).low


@given(st.lists(shares, min_size=3, max_size=9))
def test_the_slope_is_that_of_least_squares(cells: list[tuple[int, int]]) -> None:
    estimates = [share(*cell) for cell in cells]
    estimate = slope(range(len(cells)), estimates).estimate
    fitted = linregress(range(len(cells)), [float(e) for e in estimates])
    assert estimate.value == pytest.approx(fitted.slope, abs=1e-12)
    assert estimate.low <= estimate <= estimate.high


def test_a_scatter_that_rows_do_not_explain_widens_the_interval_of_the_slope() -> None:
    values = [0.9, 0.5, 0.85, 0.45, 0.8, 0.4]
    estimates = [share(round(1000 * v), round(1000 * (1 - v))) for v in values]
    trend = slope(range(6), estimates)
    line = sm.OLS(values, sm.add_constant(np.arange(6.0))).fit()
    low, high = line.conf_int()[1]
    assert trend.estimate.method == RESIDUAL_T
    assert (trend.estimate.low, trend.estimate.high) == (pytest.approx(low), pytest.approx(high))
    assert trend.p == pytest.approx(line.pvalues[1])
    assert trend.scatter_p < 1e-10
    assert "more than their rows explain" in trend.estimate.note


def test_the_scatter_is_that_of_a_fixed_effect_meta_regression() -> None:
    estimates = [share(80, 20), share(150, 50), share(60, 30), share(70, 20)]
    z = 1.959963984540054
    errors = np.array([(e.high - e.low) / (2 * z) for e in estimates])
    values = np.array([float(e) for e in estimates])
    line = sm.WLS(values, sm.add_constant(np.arange(4.0)), 1 / errors**2).fit()
    statistic = float((np.square(line.resid) / errors**2).sum())
    assert slope(range(4), estimates).scatter_p == pytest.approx(math.exp(-statistic / 2))


def test_positions_tell_how_far_periods_are_apart() -> None:
    estimates = [share(90, 10), share(80, 20)]
    assert slope([0, 5], estimates).estimate.value == pytest.approx(-0.02)
    assert math.isnan(slope([0, 5], estimates).scatter_p)


@given(st.lists(shares, min_size=2, max_size=6))
def test_p_is_below_one_in_twenty_where_the_interval_leaves_out_0(
    cells: list[tuple[int, int]],
) -> None:
    trend = slope(range(len(cells)), [share(*cell) for cell in cells])
    out = trend.estimate.low > 0 or trend.estimate.high < 0
    near = min(abs(trend.estimate.low), abs(trend.estimate.high)) < 1e-12
    assert near or (trend.p < 0.05) == out


@given(shares, shares)
def test_the_change_turns_its_sign_with_time(one: tuple[int, int], other: tuple[int, int]) -> None:
    there, back = (change([share(*a), share(*b)]) for a, b in ((one, other), (other, one)))
    assert there.value == -back.value
    assert (there.low, there.high) == (pytest.approx(-back.high), pytest.approx(-back.low))


def test_without_intervals_there_is_the_value_alone() -> None:
    area = area_under_time([Estimate(0.5), Estimate(0.7)])
    assert area.value == pytest.approx(0.6)
    assert math.isnan(area.low)
    assert area.note.startswith("no interval")
    assert math.isnan(slope([0, 1], [Estimate(0.5), Estimate(0.7)]).p)


def test_a_period_without_a_value_is_the_reason() -> None:
    undefined = Estimate(math.nan, undefined="there are no positives")
    estimate = over_defined(["2026-01", "2026-02"], [share(3, 1), undefined], area_under_time)
    assert estimate.undefined == "2026-02 has no value: there are no positives"
    assert over_defined(["2026-01"], [share(3, 1)], area_under_time).undefined == ONE_PERIOD
    endless = over_defined(["a", "b"], [share(3, 1), Estimate(math.inf)], change)
    assert endless.undefined == "b has no value: it is infinite"


def test_an_infinite_end_is_kept_only_where_it_counts() -> None:
    open_ended = Estimate(3.0, 1.0, math.inf)
    assert combined([1, 0], [Estimate(1.0, 0.5, 2.0), open_ended]).high == 2
    assert combined([1, 1], [Estimate(1.0, 0.5, 2.0), open_ended]).high == math.inf


def test_no_slope_at_all_has_p_1() -> None:
    assert slope(range(3), [share(50, 50)] * 3).p == 1


# -- two estimates of rows of their own ----------------------------------------------------------


@pytest.mark.parametrize(
    "table", [(56, 70, 48, 80), (9, 10, 3, 10), (10, 10, 0, 20), (5, 56, 0, 29)]
)
def test_of_wilson_intervals_it_is_newcombes_method(table: tuple[int, int, int, int]) -> None:
    x, n, y, m = table
    difference, _ = unpaired_difference(share(y, m - y), share(x, n - x))
    low, high = confint_proportions_2indep(x, n, y, m, compare="diff", method="newcomb")
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=1e-9)
    assert (difference.value, difference.n) == (pytest.approx(x / n - y / m), n + m)


@given(shares, shares, st.sampled_from([0.8, 0.95, 0.99]))
def test_laws_of_an_unpaired_difference(
    a: tuple[int, int], b: tuple[int, int], level: float
) -> None:
    old, new = share(*a, level), share(*b, level)
    difference, p = unpaired_difference(old, new)
    assert difference.low <= difference.value <= difference.high
    # p is below the error exactly where the interval leaves out 0.
    outside = difference.low > 0 or difference.high < 0
    ends = (abs(difference.low), abs(difference.high))
    if min(ends) > 1e-9:
        assert outside == (p < 1 - level)
    swapped, same_p = unpaired_difference(new, old)
    assert (swapped.low, swapped.high) == pytest.approx((-difference.high, -difference.low))
    assert same_p == pytest.approx(p)


def test_two_equal_estimates_do_not_differ() -> None:
    difference, p = unpaired_difference(share(5, 4), share(5, 4))
    assert (difference.value, p) == (0, 1)


def test_what_is_missing_is_said() -> None:
    nothing = Estimate(math.nan, undefined="there are no rows")
    difference, p = unpaired_difference(nothing, share(5, 4))
    assert difference.undefined == "there are no rows"
    assert math.isnan(p)
    difference, p = unpaired_difference(Estimate(0.5), share(5, 5))
    assert difference.value == 0
    assert "no interval: one of the two" in str(difference.note)
    assert math.isnan(p)
    difference, p = unpaired_difference(share(5, 4, 0.9), share(6, 3))
    assert difference.value == pytest.approx(1 / 9)
    assert math.isnan(difference.low)
    assert math.isnan(p)
    assert "intervals of 0.9 and 0.95 can't be taken together" in str(difference.note)


def test_estimates_without_spread_differ_for_sure() -> None:
    assert unpaired_difference(Estimate(0.5, 0.5, 0.5), Estimate(0.6, 0.6, 0.6))[1] == 0
