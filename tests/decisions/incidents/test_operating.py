"""The operating characteristic: brute force over thresholds, laws, promises that hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.incidents.operating_points import (
    MOST_THRESHOLDS,
    FalseAlarms,
    FirstAlerts,
    OperatingCharacteristic,
    choose_operating_point,
)
from assay.errors import InputError, LengthMismatch

alerts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 40)), max_size=25)
false = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 60)), max_size=25)


def columns(rows: list[tuple[int, ...]], count: int) -> list[Any]:
    return [np.array([row[i] for row in rows]) for i in range(count)]


def characteristic(
    raised: list[tuple[int, int, int]], wrong: list[tuple[int, int, int]], gap: int = 5
) -> OperatingCharacteristic:
    """Four incidents in two days; false alarms are single alerts."""
    incident, score, delay = columns(raised, 3)
    key, level, time = columns(wrong, 3)
    first = FirstAlerts(incident, score, delay, total=4)
    ones = np.ones(len(time), int)
    return OperatingCharacteristic(
        first, FalseAlarms(key, level, time, time, ones), gap=gap, days=2
    )


def grouped(wrong: list[tuple[int, int, int]], threshold: float, gap: int) -> int:
    """Count groups one alert after the other."""
    groups, last = 0, {}
    for key, score, time in sorted(wrong, key=lambda row: row[2]):
        if score < threshold:
            continue
        groups += key not in last or time - last[key] > gap
        last[key] = time
    return groups


@given(alerts, false, st.integers(0, 12))
def test_every_threshold_counts_what_it_keeps(
    raised: list[tuple[int, int, int]], wrong: list[tuple[int, int, int]], gap: int
) -> None:
    of = characteristic(raised, wrong, gap)
    curve = of.curve
    assert list(curve.threshold) == sorted(set(curve.threshold), reverse=True)
    for place, threshold in enumerate(curve.threshold):
        kept = [row for row in raised if row[1] >= threshold]
        delays = {i: min(d for n, _, d in kept if n == i) for i, _, _ in kept}
        point = curve.point(place)
        assert point.detected == len(delays)
        assert of.within(7)[place] == sum(delay <= 7 for delay in delays.values())
        ordered = sorted(delays.values())
        assert point.median_delay == (ordered[1] if len(ordered) > 1 else None)
        assert point.worst_delay == (max(delays.values()) if delays else None)
        assert point.false_alarms_per_day == sum(row[1] >= threshold for row in wrong) / 2
        assert point.false_incidents_per_day == grouped(wrong, threshold, gap) / 2


@given(alerts, false)
def test_thresholds_between_change_nothing_for_incidents(
    raised: list[tuple[int, int, int]], wrong: list[tuple[int, int, int]]
) -> None:
    of = characteristic(raised, wrong)
    for threshold in range(6):
        lower = np.flatnonzero(of.thresholds >= threshold)
        own = of.first_alerts.delays(np.array([float(threshold)]))[:, 0]
        nearest = (
            of.first_alerts.delays(of.thresholds)[:, lower[-1]]
            if len(lower)
            else np.full(4, np.inf)
        )
        assert own.tolist() == nearest.tolist()


@given(alerts, false)
def test_a_lower_threshold_detects_no_less_and_no_later(
    raised: list[tuple[int, int, int]], wrong: list[tuple[int, int, int]]
) -> None:
    of = characteristic(raised, wrong)
    assert np.all(np.diff(of.curve.detected) >= 0)
    with np.errstate(invalid="ignore"):
        assert not np.any(np.diff(of.first_alerts.delays(of.thresholds), axis=1) > 0)
    assert np.all(np.diff(of.curve.false_alarms_per_day) >= 0)


@given(false, st.integers(0, 12))
def test_runs_give_the_groups_of_their_alerts(wrong: list[tuple[int, int, int]], gap: int) -> None:
    """Alerts of one key and score within the gap may come as one run."""
    runs: list[list[int]] = []
    for key, score, time in sorted(wrong):
        if runs and runs[-1][:2] == [key, score] and time - runs[-1][3] <= gap:
            runs[-1][3] = time
            runs[-1][4] += 1
        else:
            runs.append([key, score, time, time, 1])
    thresholds = np.arange(7.0)
    together = FalseAlarms(*columns([tuple(run) for run in runs], 5))
    key, score, time = columns(wrong, 3)
    alone = FalseAlarms(key, score, time, time, np.ones(len(time), int))
    assert together.groups(thresholds, gap).tolist() == alone.groups(thresholds, gap).tolist()
    assert together.counts(thresholds).tolist() == alone.counts(thresholds).tolist()


def test_an_alert_between_two_false_incidents_joins_them() -> None:
    of = characteristic([(0, 3, 1), (0, 2, 0)], [(0, 3, 0), (0, 2, 5), (0, 3, 10)])
    assert of.curve.threshold == (3, 2)
    assert of.curve.false_incidents_per_day == (1.0, 0.5)
    assert of.curve.false_alarms_per_day == (1.0, 1.5)


def test_no_incidents_and_no_alerts_give_an_empty_curve() -> None:
    assert characteristic([], []).curve.threshold == ()
    alone = characteristic([], [(0, 3, 0)]).curve
    assert (alone.threshold, alone.detected, alone.median_delay) == ((3,), (0,), (None,))
    nobody = OperatingCharacteristic(
        FirstAlerts([], [], [], 0), FalseAlarms([0], [1], [0], [0], [1]), gap=5, days=1
    )
    assert nobody.curve.detected == (0,)


def test_of_many_scores_some_are_looked_at() -> None:
    rng = np.random.default_rng(1)
    rows = 20_000
    first = FirstAlerts(np.arange(rows), rng.random(rows), np.ones(rows), rows)
    of = OperatingCharacteristic(first, FalseAlarms([], [], [], [], []), gap=5, days=1)
    assert len(of.thresholds) == MOST_THRESHOLDS
    assert of.thresholds[0] == first.score.max()
    assert of.thresholds[-1] == first.score.min()


def test_columns_of_unlike_length_are_refused() -> None:
    with pytest.raises(LengthMismatch, match="incident has 2, score has 1"):
        FirstAlerts([0, 1], [1.0], [1.0, 2.0], 2)


# -- by constraint ---------------------------------------------------------------------------------


@given(alerts, false, st.sampled_from([0, 0.5, 1, 3]), st.sampled_from([None, 0, 5, 30]))
def test_the_empirical_threshold_is_the_best_that_keeps_all(
    raised: list[tuple[int, int, int]],
    wrong: list[tuple[int, int, int]],
    most: float,
    delay: float | None,
) -> None:
    of = characteristic(raised, wrong)
    choice = choose_operating_point(of, max_false_incidents=most, max_delay=delay)
    kept = [
        of.curve.point(i)
        for i in range(len(of.thresholds))
        if of.curve.false_incidents_per_day[i] <= most
        and (delay is None or of.within(delay)[i] >= 2)
    ]
    if not kept:
        assert choice.empirical is None
        assert choice.infeasible is not None
        return
    assert choice.empirical in kept
    assert choice.empirical.detected == max(point.detected for point in kept)


def week(detected: int, missed: int, false_a_day: float) -> OperatingCharacteristic:
    """A week with incidents found at scores 1, 2, ... and false incidents at the score 0.5."""
    first = FirstAlerts(
        np.arange(detected),
        np.arange(detected) + 1.0,
        np.full(detected, 60),
        detected + missed,
    )
    times = np.arange(round(false_a_day * 7)) * 10_000
    false = FalseAlarms(times, np.full(len(times), 0.5), times, times, np.ones(len(times), int))
    return OperatingCharacteristic(first, false, gap=600, days=7)


def test_a_limit_on_false_incidents_is_promised_where_days_are_enough() -> None:
    choice = choose_operating_point(week(9, 1, 0), max_false_incidents=5)
    assert choice.guaranteed is not None
    assert (choice.guaranteed.detected, choice.guaranteed.threshold) == (9, 1)
    short = choose_operating_point(week(9, 1, 0), max_false_incidents=0.1)
    assert short.guaranteed is None
    assert short.infeasible is not None
    assert short.infeasible.startswith(
        "Nothing can be promised: 7 days are too few to show at most 0.1 false incidents a day, "
        "even without a single one. It takes 23 days."
    )


def test_a_median_delay_is_promised_where_incidents_are_enough() -> None:
    assert choose_operating_point(week(4, 0, 1), max_delay=300).guaranteed is not None
    few = choose_operating_point(week(3, 0, 1), max_delay=300)
    assert few.empirical is not None
    assert few.guaranteed is None
    assert few.infeasible is not None
    assert "3 of 3 incidents within 300 s do not show that half of all are" in few.infeasible
    assert few.infeasible.endswith("With all of them in time it takes 4.")
    assert choose_operating_point(week(7, 1, 1), max_delay=300).guaranteed is not None
    assert choose_operating_point(week(7, 2, 1), max_delay=300).guaranteed is not None
    assert choose_operating_point(week(7, 3, 1), max_delay=300).guaranteed is None


def test_without_a_limit_on_false_incidents_the_fewest_are_taken() -> None:
    choice = choose_operating_point(week(8, 0, 3), max_delay=300)
    assert choice.objective == "fewest false incidents a day"
    assert choice.empirical is not None
    assert choice.empirical.false_incidents_per_day == 0


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"max_delay": 10}, "a median delay of 10 s: with all alerts 0 of 6 incidents"),
        ({"max_false_incidents": 2}, None),
    ],
)
def test_what_can_not_be_kept_is_told(asked: dict[str, float], message: str | None) -> None:
    choice = choose_operating_point(week(5, 1, 3), **asked)
    if message is None:
        assert choice.infeasible is None
    else:
        assert choice.infeasible is not None
        assert message in choice.infeasible


def test_constraints_that_exclude_each_other_are_told() -> None:
    of = characteristic(
        [(0, 1, 1), (1, 1, 1), (2, 1, 1), (3, 5, 1)], [(0, 1, 20 * i) for i in range(9)]
    )
    choice = choose_operating_point(of, max_false_incidents=1, max_delay=10)
    assert choice.infeasible is not None
    assert choice.infeasible.endswith(
        "both constraints at once: with 1 false incidents a day 1 of 4 are detected within 10 s, "
        "and half of them take 4.5 a day. Relax one of them."
    )
    alone = choose_operating_point(of, max_false_incidents=1)
    assert alone.empirical is not None
    assert alone.empirical.detected == 1
    noisy = characteristic([(0, 1, 1)], [(0, 1, 20 * i) for i in range(9)])
    told = choose_operating_point(noisy, max_false_incidents=1).infeasible
    assert told is not None
    assert "there are 4.5 a day at the least" in told
    silent = choose_operating_point(characteristic([], []), max_delay=5).infeasible
    assert silent == "Not possible on this data: there are no alerts."


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "give max_false_incidents= or max_delay=, or both"),
        ({"max_delay": -1}, "max_delay= must be a number of at least 0; found -1"),
        ({"max_false_incidents": "x"}, "max_false_incidents= must be .* at least 0; found 'x'"),
        ({"max_false_incidents": []}, r"max_false_incidents= must be .* at least 0; found \[\]"),
        ({"max_false_incidents": 10**400}, "found a number of 401 digits"),
        ({"max_delay": math.nan}, "max_delay= must be a number of at least 0; found nan"),
        ({"max_delay": 1, "confidence": 1}, "confidence= must lie between 0 and 1"),
    ],
)
def test_what_can_not_be_asked_is_refused(asked: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose_operating_point(week(5, 1, 3), **asked)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1.0, 3.0])
def test_promises_are_broken_no_more_often_than_they_may(limit: float) -> None:
    """The true rate at a threshold t is 10 (1 - t) a day; half are detected in time at 0.4."""
    rng = np.random.default_rng(5)
    false_broken, delay_broken, detections, repeats = 0, 0, 0, 1500
    for _ in range(repeats):
        incidents, days = 20, 14
        best = rng.random(incidents)
        in_time = rng.random(incidents) < 0.5 / 0.6
        first = FirstAlerts(np.arange(incidents), best, np.where(in_time, 60, 900), incidents)
        size = rng.poisson(10 * days)
        times = np.arange(size) * 1000
        false = FalseAlarms(times, rng.random(size), times, times, np.ones(size, int))
        of = OperatingCharacteristic(first, false, gap=10, days=days)
        kept = choose_operating_point(of, max_false_incidents=limit).guaranteed
        prompt = choose_operating_point(of, max_delay=300).guaranteed
        false_broken += kept is not None and 10 * (1 - kept.threshold) > limit
        delay_broken += prompt is not None and prompt.threshold > 0.4
        detections += kept is not None
    assert false_broken / repeats < 0.1 + 2.5 * math.sqrt(0.09 / repeats)
    assert delay_broken / repeats < 0.1 + 2.5 * math.sqrt(0.09 / repeats)
    assert detections / repeats > 0.5


def test_how_many_it_takes_to_promise_a_median_is_told() -> None:
    told = choose_operating_point(week(6, 3, 1), max_delay=300).infeasible
    assert told is not None
    assert "6 of 9 incidents within 300 s" in told
    assert "It takes 7 of 9, or more incidents like these." in told


def test_what_can_be_shown_instead_is_told() -> None:
    """Garwood's upper bound at 90% of 2 in 2 days: 5.3223 / 2."""
    of = characteristic([(0, 3, 1)], [(0, 4, 0), (1, 4, 0)])
    told = choose_operating_point(of, max_false_incidents=2).infeasible
    assert told is not None
    assert "2 false incidents in 2 days" in told
    assert "show at most 2.66 a day and not 2." in told
