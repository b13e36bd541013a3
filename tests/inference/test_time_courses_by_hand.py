"""Courses over time and times until detection: ends and edges that were worked out by hand."""

import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import integrate, special, stats

from assay.errors import MethodError
from assay.inference import Estimate
from assay.inference.time_courses import (
    MOVER,
    ONE_PERIOD,
    RESIDUAL_T,
    KaplanMeier,
    area_under_time,
    bridge_within,
    change,
    combined,
    hall_wellner,
    kaplan_meier,
    over_defined,
    slope,
    unpaired_difference,
)

# Intervals that reach 3 down and 4 up, and 6 down and 8 up; both of level 90%.
SMALL = Estimate(10.0, 7.0, 14.0, n=20, level=0.9)
LARGE = Estimate(30.0, 24.0, 38.0, n=50, level=0.9)


def ends(estimate: Estimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high


# -- linear combinations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coefficients", "expected"),
    [
        ((1, 1), (40, 40 - math.hypot(3, 6), 40 + math.hypot(4, 8))),
        ((-1, 1), (20, 20 - math.hypot(4, 6), 20 + math.hypot(3, 8))),
        ((1, -1), (-20, -20 - math.hypot(3, 8), -20 + math.hypot(4, 6))),
        ((0.5, 0.25), (12.5, 12.5 - math.hypot(1.5, 1.5), 12.5 + math.hypot(2, 2))),
        ((-2, -1), (-50, -50 - math.hypot(8, 8), -50 + math.hypot(6, 6))),
        ((0, 1), (30, 24, 38)),
    ],
)
def test_each_side_adds_the_squares_of_what_moves_it_there(
    coefficients: tuple[float, float], expected: tuple[float, float, float]
) -> None:
    estimate = combined(coefficients, [SMALL, LARGE])
    assert ends(estimate) == pytest.approx(expected)
    assert (estimate.n, estimate.level, estimate.method) == (70, 0.9, MOVER)


@pytest.mark.parametrize(
    "other",
    [Estimate(1.0, n=5), Estimate(1.0, 0.5, n=5), Estimate(1.0, high=2.0, n=5)],
    ids=["neither end", "no high end", "no low end"],
)
def test_one_end_that_is_missing_leaves_no_interval(other: Estimate) -> None:
    for pair in ([SMALL, other], [other, SMALL.changed(level=0.95)]):
        estimate = combined([1, 1], pair)
        assert estimate.value == 11
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert (estimate.n, estimate.level) == (25, pair[0].level)
        assert estimate.note == "no interval: the measure has none in each period"


def test_the_level_is_that_of_the_first_period() -> None:
    assert combined([1], [SMALL]).level == 0.9
    assert combined([1, 1], [SMALL, LARGE.changed(level=0.8)]).level == 0.9


def test_the_ends_of_an_area_weigh_inner_periods_twice() -> None:
    area = area_under_time([SMALL, LARGE, SMALL, LARGE])
    below = math.sqrt((3 / 6) ** 2 + (6 / 3) ** 2 + (3 / 3) ** 2 + (6 / 6) ** 2)
    above = math.sqrt((4 / 6) ** 2 + (8 / 3) ** 2 + (4 / 3) ** 2 + (8 / 6) ** 2)
    assert ends(area) == pytest.approx((20, 20 - below, 20 + above))
    two = area_under_time([SMALL, LARGE])
    assert ends(two) == pytest.approx((20, 20 - math.hypot(1.5, 3), 20 + math.hypot(2, 4)))


def test_the_change_is_the_last_value_less_the_first() -> None:
    middle = Estimate(99.0, 0.0, 100.0, n=7)
    estimate = change([SMALL, middle, middle, LARGE])
    assert ends(estimate) == pytest.approx((20, 20 - math.hypot(4, 6), 20 + math.hypot(3, 8)))
    assert estimate.n == 70


# -- slopes ----------------------------------------------------------------------------------------


def periods(values: list[float], down: list[float], up: list[float]) -> list[Estimate]:
    return [
        Estimate(v, v - d, v + u, n=10, level=0.95)
        for v, d, u in zip(values, down, up, strict=True)
    ]


def test_the_slope_of_two_periods_is_their_change_over_their_distance() -> None:
    trend = slope([2, 6], [SMALL, LARGE])
    assert ends(trend.estimate) == pytest.approx(
        (5, 5 - math.hypot(1, 1.5), 5 + math.hypot(0.75, 2))
    )
    z = stats.norm.ppf(0.95)
    assert trend.p == pytest.approx(2 * stats.norm.sf(z * 5 / math.hypot(1, 1.5)))
    assert math.isnan(trend.scatter_p)


def test_p_of_a_falling_slope_looks_at_the_upper_end() -> None:
    trend = slope([2, 6], [LARGE, SMALL])
    assert trend.estimate.value == pytest.approx(-5)
    z = stats.norm.ppf(0.95)
    assert trend.p == pytest.approx(2 * stats.norm.sf(z * 5 / math.hypot(1, 1.5)))


def test_three_periods_have_a_scatter() -> None:
    values, errors = np.array([0.1, 0.3, 0.2]), np.array([0.02, 0.05, 0.1])
    z = stats.norm.ppf(0.975)
    estimates = periods(values.tolist(), (z * errors).tolist(), (z * errors).tolist())
    line = sm.WLS(values, sm.add_constant(np.arange(3.0)), 1 / errors**2).fit()
    statistic = float((np.square(line.resid) / errors**2).sum())
    assert slope(range(3), estimates).scatter_p == pytest.approx(stats.chi2.sf(statistic, 1))
    # Errors are told from intervals by the level of the first period.
    first = estimates[0].changed(level=0.5)
    statistic *= (stats.norm.ppf(0.75) / z) ** 2
    trend = slope(range(3), [first, *estimates[1:]])
    assert trend.scatter_p == pytest.approx(stats.chi2.sf(statistic, 1))


def test_a_scatter_that_gives_the_narrower_interval_is_not_used() -> None:
    """Precise periods are off the line, and others leave the slope open."""
    reaches = [0.13, 0.02, 0.02, 0.02, 0.13]
    trend = slope(range(5), periods([0.5, 0.55, 0.52, 0.56, 0.5], reaches, reaches))
    assert trend.scatter_p < 0.2
    assert trend.estimate.method == MOVER
    assert trend.estimate.high - trend.estimate.low == pytest.approx(
        2 * math.sqrt(2 * (0.2 * 0.13) ** 2 + 2 * (0.1 * 0.02) ** 2)
    )


def test_a_scatter_that_gives_the_wider_interval_is_used() -> None:
    values = [0.5, 0.53, 0.51, 0.55]
    reaches = [0.015] * 4
    trend = slope(range(4), periods(values, reaches, reaches))
    line = sm.OLS(values, sm.add_constant(np.arange(4.0))).fit()
    low, high = line.conf_int()[1]
    assert trend.scatter_p < 0.2
    assert trend.estimate.method == RESIDUAL_T
    assert (trend.estimate.low, trend.estimate.high) == (pytest.approx(low), pytest.approx(high))
    assert trend.p == pytest.approx(line.pvalues[1])


def test_a_scatter_that_rows_explain_is_not_used() -> None:
    values, reaches = [0.5, 0.53, 0.51, 0.55], [0.03] * 4
    trend = slope(range(4), periods(values, reaches, reaches))
    assert trend.scatter_p > 0.2
    assert trend.estimate.method == MOVER


@pytest.mark.parametrize("reach", [0.0, math.inf])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_period_without_spread_or_without_end_has_no_scatter(place: int, reach: float) -> None:
    reaches = [0.1, 0.1, 0.1]
    reaches[place] = reach
    trend = slope(range(3), periods([0.1, 0.9, 0.2], reaches, reaches))
    assert math.isnan(trend.scatter_p)
    assert trend.estimate.method == MOVER


def test_without_intervals_a_slope_has_no_p_and_no_scatter() -> None:
    trend = slope(range(3), [Estimate(0.1), Estimate(0.5), Estimate(0.3)])
    assert trend.estimate.value == pytest.approx(0.1)
    assert math.isnan(trend.p)
    assert math.isnan(trend.scatter_p)


# -- two estimates ---------------------------------------------------------------------------------


def test_a_difference_of_less_than_one_is_tested_from_its_own_side() -> None:
    old, new = Estimate(0.2, 0.1, 0.5, n=4), Estimate(0.6, 0.5, 0.9, n=5)
    z = stats.norm.ppf(0.975)
    difference, p = unpaired_difference(old, new)
    assert ends(difference) == pytest.approx(
        (0.4, 0.4 - math.hypot(0.3, 0.1), 0.4 + math.hypot(0.1, 0.3))
    )
    assert p == pytest.approx(2 * stats.norm.sf(z * 0.4 / math.hypot(0.3, 0.1)))
    old, new = Estimate(5.0, 4.0, 9.0), Estimate(6.0, 4.5, 6.5)
    _, p = unpaired_difference(old, new)
    assert p == pytest.approx(2 * stats.norm.sf(z / math.hypot(1.5, 4)))


def test_levels_that_were_written_and_read_are_one_level() -> None:
    other = LARGE.changed(level=0.9 + 1e-10)
    assert not math.isnan(unpaired_difference(SMALL, other)[1])
    difference, p = unpaired_difference(SMALL, LARGE.changed(level=0.9 + 1e-8))
    assert math.isnan(p)
    assert (difference.value, difference.n, difference.level) == (20, 70, 0.9 + 1e-8)


@pytest.mark.parametrize("undefined", [None, "there are no rows"])
def test_either_may_be_undefined(undefined: str | None) -> None:
    nothing = Estimate(math.nan, undefined=undefined, level=0.9)
    for pair in ((nothing, LARGE), (LARGE, nothing)):
        difference, p = unpaired_difference(*pair)
        assert math.isnan(difference)
        assert math.isnan(p)
        assert difference.undefined == (undefined or "one of the two values is undefined")
        assert difference.level == 0.9


def test_two_periods_are_enough_and_one_is_not() -> None:
    assert over_defined(["a", "b"], [SMALL, LARGE], change).value == 20
    one = over_defined(["a"], [SMALL], change)
    assert (one.undefined, one.level) == (ONE_PERIOD, 0.9)
    without = over_defined(["a", "b"], [SMALL, Estimate(math.nan)], change)
    assert (without.undefined, without.level) == ("b has no value: it is infinite", 0.9)


# -- the curve -------------------------------------------------------------------------------------

EVENTS = kaplan_meier([1, 2, 3, 4, 5, 6], [True, True, False, True, True, True])


def test_the_curve_holds_from_its_time_on() -> None:
    assert EVENTS.at([0, 0.5, 1, 1.5, 2]).tolist() == pytest.approx([1, 1, 5 / 6, 5 / 6, 4 / 6])
    assert EVENTS.at([4, 5.5]).tolist() == pytest.approx([4 / 9, 2 / 9])
    cut_off = kaplan_meier([1, 5], [True, False])
    assert cut_off.at([5]).tolist() == [0.5]
    assert np.isnan(cut_off.at([5.1])).all()


def test_what_is_detected_at_once_takes_no_time() -> None:
    curve = kaplan_meier([0, 0.5], [True, False])
    assert (curve.times.tolist(), curve.survival.tolist()) == ([0, 0.5], [0.5, 0.5])


def test_of_no_incidents_nothing_is_known() -> None:
    nothing = kaplan_meier([], [])
    assert nothing.n == 0
    assert np.isnan(nothing.at([0, 3])).all()
    assert [end.tolist() for end in nothing.pointwise()] == [[], []]
    assert [end.tolist() for end in nothing.simultaneous()] == [[], []]


def test_greenwoods_sums_skip_times_without_a_detection() -> None:
    steps = [1 / (6 * 5), 1 / (5 * 4), 0, 1 / (3 * 2), 1 / (2 * 1)]
    assert EVENTS.log_variance[:5] == pytest.approx(np.cumsum(steps))
    assert EVENTS.log_variance[5] == math.inf
    assert EVENTS.variance[:2] == pytest.approx([25 / 36 / 30, 16 / 36 * (1 / 30 + 1 / 20)])


def test_pointwise_ends_are_on_the_scale_of_log_minus_log() -> None:
    low, high = EVENTS.pointwise(0.9)
    z = stats.norm.ppf(0.95)
    for place in range(5):
        share = EVENTS.survival[place]
        centre = math.log(-math.log(share))
        reach = z * math.sqrt(EVENTS.log_variance[place]) / abs(math.log(share))
        assert low[place] == pytest.approx(math.exp(-math.exp(centre + reach)))
        assert high[place] == pytest.approx(math.exp(-math.exp(centre - reach)))
    assert low[5] == 0
    assert high[5] == high[4] != high[3]


def test_before_the_first_detection_ends_are_those_of_all_at_risk() -> None:
    curve = kaplan_meier([1, 2, 3, 3], [False, False, True, False])
    low, high = curve.pointwise()
    assert low[:2] == pytest.approx([0.025 ** (1 / 4), 0.025 ** (1 / 3)])
    assert high[:2].tolist() == [1, 1]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_detections_all_at_once_leave_what_so_many_may_hide(count: int) -> None:
    low, high = kaplan_meier([7] * count, [True] * count).pointwise()
    assert low.tolist() == [0]
    assert high == pytest.approx([1 - 0.025 ** (1 / count)])
    low, high = kaplan_meier([7] * count, [False] * count).pointwise()
    assert low == pytest.approx([0.025 ** (1 / count)])


def test_the_band_of_hall_and_wellner_by_hand() -> None:
    low, high = EVENTS.simultaneous(0.9)
    variance = EVENTS.log_variance
    reached = 6 * variance[4]
    bound = hall_wellner(0.9, reached / (1 + reached))
    reach = EVENTS.survival[:5] * (1 + 6 * variance[:5]) * bound / math.sqrt(6)
    below = np.clip(EVENTS.survival[:5] - reach, 0, 1)
    above = np.clip(EVENTS.survival[:5] + reach, 0, 1)
    assert low[:5] == pytest.approx([max(below[i:]) for i in range(5)])
    assert high[:5] == pytest.approx([min(above[: i + 1]) for i in range(5)])
    assert low[5] == 0
    assert high[5] == high[4]


def test_a_band_never_rises() -> None:
    """Many are lost, so that it would widen again where few are left."""
    durations = [*range(1, 31), *([31] * 60), *range(32, 40)]
    seen = [True] * 30 + [False] * 60 + [True] * 7 + [False]
    curve = kaplan_meier(durations, seen)
    low, high = curve.simultaneous()
    n, variance = 98, curve.log_variance
    bound = hall_wellner(0.95, n * variance[-1] / (1 + n * variance[-1]))
    reach = curve.survival * (1 + n * variance) * bound / math.sqrt(n)
    plain_low, plain_high = np.maximum(curve.survival - reach, 0), curve.survival + reach
    assert (np.diff(plain_high) > 0).any()
    size = len(curve.times)
    assert low == pytest.approx([plain_low[i:].max() for i in range(size)])
    assert high == pytest.approx([min(1, plain_high[: i + 1].min()) for i in range(size)])


@pytest.mark.parametrize("seen", [True, False])
def test_one_moment_has_the_widest_band(seen: bool) -> None:
    low, high = kaplan_meier([4, 4, 4], [seen] * 3).simultaneous()
    assert (low.tolist(), high.tolist()) == ([0], [1])


def test_a_curve_may_be_a_key() -> None:
    assert {EVENTS: "this"}[EVENTS] == "this"
    assert kaplan_meier([1], [True]) != kaplan_meier([1], [True])


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_band_asks_for_a_level(level: float) -> None:
    with pytest.raises(MethodError, match="level must lie between 0 and 1"):
        EVENTS.simultaneous(level)


# -- medians ---------------------------------------------------------------------------------------


def curve_along(share: float) -> KaplanMeier:
    """After times 1 and 2 the share is left, exactly, and after 5 nothing."""
    # Below a half a float has a digit more than its distance from 1: it is halved at time 1.
    first, then = (2 * share, 0.5) if share < 0.5 else (1.0, share)
    at_risk = 2.0**53 * np.array([1.0, first, share, share])
    events = at_risk * np.array([1 - first, 1 - then, 0.0, 1.0])
    curve = KaplanMeier(np.array([0.5, 1.0, 2.0, 5.0]), at_risk, events, np.zeros(4))
    assert curve.survival.tolist() == [first, share, share, 0.0]
    return curve


@pytest.mark.parametrize(
    ("share", "median"),
    [
        (0.5, 3.0),
        (0.5 + 1e-9, 3.0),
        (0.5 + 1.1e-9, 5.0),
        (0.5 - 1e-9, 3.0),
        (0.5 - 1.1e-9, 1.0),
        (0.6, 5.0),
        (0.4, 1.0),
    ],
)
def test_a_curve_along_a_half_has_its_median_in_the_middle(share: float, median: float) -> None:
    assert curve_along(share).median().value == median


def test_a_curve_that_ends_at_a_half_has_its_median_in_the_middle_of_the_rest() -> None:
    curve = kaplan_meier([2, 4, 8, 9], [True, True, False, False])
    assert curve.median().value == 6.5


def test_the_interval_of_a_median_begins_at_0_where_half_may_be_detected_before() -> None:
    # 0.25 to the power of 1/2 is a half: two that are watched are just so few.
    two = kaplan_meier([1, 2], [True, True])
    assert two.median(0.5).low == 0
    assert two.median(0.49).low == 1
    assert (two.median(0.5).n, two.median(0.5).level) == (2, 0.5)


def test_the_ends_of_a_median_are_where_the_ends_of_the_curve_pass_a_half() -> None:
    curve = kaplan_meier(range(1, 41), [True] * 40)
    low, high = curve.pointwise(0.9)
    median = curve.median(0.9)
    assert median.value == 20.5
    assert median.low == next(t for t, end in zip(curve.times, low, strict=True) if end <= 0.5)
    assert median.high == next(t for t, end in zip(curve.times, high, strict=True) if end <= 0.5)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("durations", "reason"),
    [([0, -2.0], "-2.0"), ([0.5, -2.0], "-2.0"), ([3, math.inf], "inf"), ([0, math.nan], "nan")],
)
def test_the_first_duration_that_can_not_be_is_named(durations: list[float], reason: str) -> None:
    with pytest.raises(MethodError, match=rf"not below 0; found np.float64\({reason}\)"):
        kaplan_meier(durations, [True, True])


def test_tables_of_durations_are_refused() -> None:
    with pytest.raises(MethodError, match=r"found \(1, 2\) and \(1, 2\)"):
        kaplan_meier([[1, 2]], [[True, True]])
    with pytest.raises(MethodError, match=r"found \(2,\) and \(1, 2\)"):
        kaplan_meier([1, 2], [[True, True]])


# -- bridges ---------------------------------------------------------------------------------------


def bridge_by_its_end(bound: float, share: float) -> float:
    """The chance by where the bridge is after the share: a path to there that stays within."""
    terms = range(-30, 31)

    def inside(x: float) -> float:
        stays = math.fsum(
            (-1) ** j * math.exp(-2 * j * bound * (j * bound - x) / share) for j in terms
        )
        return float(stats.norm.pdf(x, scale=math.sqrt(share * (1 - share)))) * stays

    return float(integrate.quad(inside, -bound, bound, epsabs=1e-11)[0])


@pytest.mark.parametrize(("bound", "share"), [(0.4, 0.5), (0.6, 0.9), (1.0, 0.6), (1.3, 0.2)])
def test_the_chance_of_a_bridge_is_that_over_its_ends(bound: float, share: float) -> None:
    assert bridge_within(bound, share) == pytest.approx(bridge_by_its_end(bound, share), abs=1e-9)


@pytest.mark.parametrize("bound", [0.2, 0.4, 0.5, 0.8, 1.3581, 2.0])
def test_a_whole_bridge_has_kolmogorovs_distribution(bound: float) -> None:
    assert bridge_within(bound, 1.0) == pytest.approx(1 - special.kolmogorov(bound), abs=1e-12)


def test_no_bridge_stays_within_nothing() -> None:
    assert bridge_within(0.0, 0.5) == 0
    assert bridge_within(-1.0, 0.5) == 0


@pytest.mark.parametrize("level", [0.2, 0.9, 0.999])
def test_the_bound_of_a_whole_bridge_is_kolmogorovs_quantile(level: float) -> None:
    assert hall_wellner(level, 1.0) == pytest.approx(special.kolmogi(1 - level), rel=1e-10)
