"""Point-adjusted F1 and what random alarms get: exact enumeration, drawn scores, laws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.incidents.coverage import Ranges, expected_at_random, point_adjusted
from assay.errors import InputError


def incidents_of(lengths: list[int]) -> Ranges:
    ends = np.cumsum(np.array(lengths) + 1)
    return Ranges(ends - lengths - 1, ends - 1)


def enumerated(lengths: list[int], steps: int, rate: Fraction) -> Fraction:
    """The mean over which incidents are met and how many false alarms there are."""
    total = sum(lengths)
    outside, mean = steps - total, Fraction(0)
    met_with = [1 - (1 - rate) ** length for length in lengths]
    for met in product((False, True), repeat=len(lengths)):
        chance = math.prod(q if hit else 1 - q for q, hit in zip(met_with, met, strict=True))
        hits = sum(length for length, hit in zip(lengths, met, strict=True) if hit)
        for false in range(outside + 1):
            binomial = math.comb(outside, false) * rate**false * (1 - rate) ** (outside - false)
            mean += chance * binomial * Fraction(2 * hits, hits + total + false)
    return mean


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.integers(0, 40),
    st.sampled_from(["1/1000000", "1/100", "1/7", "1/2", "99/100", "1"]),
)
def test_the_expected_value_is_that_of_all_outcomes(
    lengths: list[int], normal: int, rate: str
) -> None:
    steps = sum(lengths) + len(lengths) + normal
    expected = enumerated(lengths, steps, Fraction(rate))
    value = expected_at_random(incidents_of(lengths), steps, float(Fraction(rate)))
    assert value == pytest.approx(float(expected), rel=1e-13)


def test_long_incidents_are_met_by_chance() -> None:
    """Half of a million steps in 30 incidents: one random alarm in 1,000 steps gets 0.99."""
    starts = np.arange(30) * 33_333
    incidents = Ranges(starts, starts + 16_667)
    assert expected_at_random(incidents, 1_000_000, 0.001) == pytest.approx(0.9995, abs=1e-3)


def test_drawn_scores_get_what_is_expected() -> None:
    rng = np.random.default_rng(11)
    incidents, steps, rate = Ranges([50, 300, 700], [90, 420, 705]), 1000, 0.02
    drawn = []
    for _ in range(2000):
        alarms = Ranges.of_moments(np.flatnonzero(rng.random(steps) < rate))
        drawn.append(point_adjusted(incidents, alarms, steps).f1)
    error = float(np.std(drawn)) / math.sqrt(len(drawn))
    expected = expected_at_random(incidents, steps, rate)
    assert float(np.mean(drawn)) == pytest.approx(expected, abs=4 * error)


@given(
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=30, max_size=30),
)
def test_adjusting_only_ever_flatters(truth: list[bool], flags: list[bool]) -> None:
    steps = len(truth)
    incidents = Ranges.of_moments([i for i in range(steps) if truth[i]])
    alarms = Ranges.of_moments([i for i in range(steps) if flags[i]])
    judged = point_adjusted(incidents, alarms, steps)
    assert judged.alarm_rate == sum(flags[:steps]) / steps
    if not any(truth):
        assert math.isnan(judged.f1)
        return
    hits = sum(a and b for a, b in zip(truth, flags, strict=False))
    total = sum(truth) + sum(flags[:steps])
    assert judged.unadjusted == pytest.approx(2 * hits / total)
    adjusted = list(flags[:steps])
    for start, end in incidents.pairs():
        if any(flags[start:end]):
            adjusted[start:end] = [True] * (end - start)
    hits = sum(a and b for a, b in zip(truth, adjusted, strict=True))
    assert judged.f1 == pytest.approx(2 * hits / (sum(truth) + sum(adjusted)))
    assert judged.unadjusted <= judged.f1
    assert 0 <= judged.random <= 1


def test_no_alarms_get_nothing() -> None:
    judged = point_adjusted(Ranges([1], [5]), Ranges([], []), 9)
    assert (judged.f1, judged.unadjusted, judged.random, judged.beats_random) == (0, 0, 0, False)


def test_steps_that_do_not_hold_all_ranges_are_refused() -> None:
    with pytest.raises(InputError, match="ranges must lie in the steps 0 to 4"):
        point_adjusted(Ranges([1], [5]), Ranges([], []), 4)
