"""The Kaplan-Meier curve: examples, laws, and what R's survival and km.ci say."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import MethodError
from assay.inference.time_courses import bridge_within, hall_wellner, kaplan_meier

VALUES = json.loads((Path(__file__).parent.parent / "oracles" / "r" / "survival.json").read_text())
CASES = [pytest.param(case, id=case["name"]) for case in VALUES["cases"]]

incidents = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=25)


def numbers(column: list[float | None]) -> Any:
    return np.array([math.nan if value is None else value for value in column], np.float64)


def curve_of(rows: list[tuple[int, bool]]) -> Any:
    return kaplan_meier([time for time, _ in rows], [seen for _, seen in rows])


@pytest.mark.parametrize("case", CASES)
def test_the_curve_is_that_of_r(case: dict[str, Any]) -> None:
    curve = kaplan_meier(case["time"], case["event"])
    assert curve.times.tolist() == case["times"]
    assert curve.at_risk.tolist() == case["at_risk"]
    assert curve.events.tolist() == case["events"]
    assert curve.censored.tolist() == case["censored"]
    assert curve.survival == pytest.approx(case["survival"], abs=1e-12)
    inside = (curve.survival > 0) & (curve.survival < 1)
    error = numbers(case["log_error"])
    assert np.sqrt(curve.log_variance)[inside] == pytest.approx(error[inside], rel=1e-12)
    ends = curve.pointwise(case["level"])
    for end, r in zip(ends, (case["low"], case["high"]), strict=True):
        assert end[inside] == pytest.approx(numbers(r)[inside], rel=1e-10)
        assert np.isfinite(end).all()


@pytest.mark.parametrize("case", CASES)
def test_the_median_is_that_of_r_where_r_has_an_interval(case: dict[str, Any]) -> None:
    median = kaplan_meier(case["time"], case["event"]).median(case["level"])
    if case["median"] is None:
        assert math.isnan(median)
        assert median.undefined is not None
        return
    assert median == case["median"]
    if case["median_low"] is not None:
        assert median.low == case["median_low"]
        high = math.inf if case["median_high"] is None else case["median_high"]
        assert median.high == high


def test_the_bounds_of_the_band_are_those_of_its_table() -> None:
    table = VALUES["hall_wellner"]
    for level in ("0.9", "0.95", "0.99"):
        ours = [hall_wellner(float(level), share) for share in table["share"]]
        assert ours == pytest.approx(table[level], abs=1.1e-4)


def test_one_detected_incident_says_next_to_nothing() -> None:
    median = kaplan_meier([12.5], [True]).median()
    assert (median, median.low, median.high) == (12.5, 0, math.inf)


def test_undetected_incidents_never_make_a_certain_answer() -> None:
    low, high = kaplan_meier([60, 60, 60], [False] * 3).pointwise()
    assert low == pytest.approx([0.025 ** (1 / 3)])
    assert high.tolist() == [1]
    low, high = kaplan_meier([60, 60, 60], [True] * 3).pointwise()
    assert low.tolist() == [0]
    assert high == pytest.approx([1 - 0.025 ** (1 / 3)])


def test_a_median_that_is_not_reached_says_why() -> None:
    median = kaplan_meier([1, 2, 3, 4], [True, False, False, False]).median()
    assert median.undefined == "75% are still undetected at the last time, more than half"
    assert kaplan_meier([], []).median().undefined == "there is nothing to detect"


def test_after_the_last_time_nothing_is_known_unless_all_were_detected() -> None:
    assert np.isnan(kaplan_meier([1, 5], [True, False]).at(6))
    assert kaplan_meier([1, 5], [True, True]).at(6) == 0


@pytest.mark.parametrize(
    ("durations", "observed", "message"),
    [
        ([1, 2], [True], "two lists of one length"),
        ([1, -2], [True, True], "not below 0; found np.float64(-2.0)"),
        ([1, math.nan], [True, True], "must be finite"),
    ],
)
def test_durations_that_can_not_be_are_refused(durations: Any, observed: Any, message: str) -> None:
    with pytest.raises(MethodError) as refused:
        kaplan_meier(durations, observed)
    assert message in str(refused.value)


@given(incidents)
def test_the_curve_is_the_product_of_what_each_time_leaves(rows: list[tuple[int, bool]]) -> None:
    curve = curve_of(rows)
    left, variance = Fraction(1), Fraction(0)
    for place, time in enumerate(curve.times):
        open_now = sum(when >= time for when, _ in rows)
        seen = sum(when == time and detected for when, detected in rows)
        left *= Fraction(open_now - seen, open_now)
        assert curve.survival[place] == pytest.approx(float(left), abs=1e-12)
        if seen < open_now:
            variance += Fraction(seen, open_now * (open_now - seen))
            assert curve.log_variance[place] == pytest.approx(float(variance))
        else:
            assert math.isinf(curve.log_variance[place])


@given(st.lists(st.integers(0, 12), min_size=1, max_size=25))
def test_without_censoring_it_is_the_share_that_is_longer(times: list[int]) -> None:
    curve = kaplan_meier(times, [True] * len(times))
    shares = [np.mean(np.array(times) > time) for time in curve.times]
    assert curve.survival == pytest.approx(shares, abs=1e-12)
    assert curve.median() == np.median(times)
    inside = curve.survival > 0
    assert curve.variance[inside] == pytest.approx(
        (curve.survival * (1 - curve.survival) / len(times))[inside], abs=1e-12
    )


@given(incidents, st.sampled_from([0.8, 0.95, 0.99]))
def test_bands_hold_the_curve_and_fall_with_it(rows: list[tuple[int, bool]], level: float) -> None:
    curve = curve_of(rows)
    for low, high in (curve.pointwise(level), curve.simultaneous(level)):
        assert np.all((low >= 0) & (high <= 1))
        assert np.all(low <= curve.survival + 1e-12)
        assert np.all(curve.survival <= high + 1e-12)
    low, high = curve.simultaneous(level)
    assert np.all(np.diff(low) <= 0)
    assert np.all(np.diff(high) <= 0)


def test_without_censoring_the_band_is_as_wide_everywhere() -> None:
    size = 100
    curve = kaplan_meier(range(size), [True] * size)
    low, high = curve.simultaneous()
    reach = hall_wellner(0.95, 1 - 1 / size) / math.sqrt(size)
    inside = (curve.survival > reach) & (curve.survival < 1 - reach)
    assert inside.sum() > size / 2
    assert (curve.survival - low)[inside] == pytest.approx(reach)
    assert (high - curve.survival)[inside] == pytest.approx(reach)


@given(incidents, st.floats(0.1, 100), st.randoms())
def test_the_unit_of_time_and_the_order_of_incidents_do_not_matter(
    rows: list[tuple[int, bool]], unit: float, random: Any
) -> None:
    curve = curve_of(rows)
    random.shuffle(rows)
    scaled = kaplan_meier([time * unit for time, _ in rows], [seen for _, seen in rows])
    assert scaled.survival.tolist() == curve.survival.tolist()
    if not math.isnan(curve.median()):
        assert scaled.median() == pytest.approx(curve.median() * unit)


def test_the_chance_of_a_bridge_is_that_of_drawn_ones() -> None:
    rng = np.random.default_rng(7)
    steps, share = 2000, 0.6
    walks = np.cumsum(rng.standard_normal((4000, steps)), axis=1) / math.sqrt(steps)
    bridges = walks - walks[:, -1:] * np.arange(1, steps + 1) / steps
    furthest = np.abs(bridges[:, : int(share * steps)]).max(axis=1)
    # A bridge that is looked at 2,000 times gets a little less far than one that is watched.
    assert np.mean(furthest <= 1.0) == pytest.approx(bridge_within(1.0, share), abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("watched", "censoring"), [(9, 0.0), (20, 0.4), (60, 0.4)])
def test_both_bands_hold_what_they_promise(watched: int, censoring: float) -> None:
    rng, pointwise, whole, repeats = np.random.default_rng(3), 0, 0, 1500
    for _ in range(repeats):
        delay = rng.exponential(1, watched)
        cut = rng.exponential(1 / censoring, watched) if censoring else np.full(watched, 1e9)
        curve = kaplan_meier(np.minimum(delay, cut), delay <= cut)
        truth = np.exp(-curve.times)
        low, high = curve.simultaneous()
        # The true share falls on between two times, while the band stands still.
        whole += bool(np.all((low <= np.append(truth[1:], truth[-1])) & (truth <= high)))
        median = curve.median()
        pointwise += math.isnan(median) or median.low <= math.log(2) <= median.high
    assert whole / repeats > 0.93
    assert pointwise / repeats > 0.935
