"""Affiliation precision and recall: what the paper prints, brute integration, laws."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.incidents.coverage import Ranges, affiliation
from assay.errors import InputError

ORACLES = Path(__file__).parents[2] / "oracles" / "ranges" / "values.json"
CASES = [
    pytest.param(case, method, id=f"{case['name']}, {method['name']}")
    for case in json.loads(ORACLES.read_text())["affiliation"]
    for method in case["methods"]
]

flags = st.lists(st.booleans(), min_size=2, max_size=24)


def ranges(borders: list[int]) -> Ranges:
    return Ranges(borders[::2], borders[1::2])


def of_flags(steps: list[bool]) -> Ranges:
    return Ranges.of_moments([i for i, flag in enumerate(steps) if flag])


@pytest.mark.parametrize(("case", "method"), CASES)
def test_both_are_what_the_paper_prints(case: dict[str, Any], method: dict[str, Any]) -> None:
    judged = affiliation(
        ranges(case["incidents"]), ranges(method["alarms"]), (0, case["steps"])
    ).overall
    assert f"{judged.precision:.2f}/{judged.recall:.2f}" == method["printed"]


def test_the_example_of_the_paper() -> None:
    """Minutes, three incidents; its second one has precision 0.6722 and recall 0.9444."""
    incidents = Ranges([0, 50, 170], [10, 70, 175])
    alarms = Ranges([5, 7, 11, 40, 115, 135, 165], [6, 10, 12, 60, 130, 140, 170])
    judged = affiliation(incidents, alarms, (0, 180))
    assert judged.precision[1] == pytest.approx(0.672222222)
    assert judged.recall[1] == pytest.approx(0.944444444)


def brute(incidents: Ranges, alarms: Ranges, size: int) -> tuple[Any, Any]:
    """The definition on a fine grid of moments, each in the middle of its part of a step."""
    parts = 16
    grid = (np.arange(size * parts) + 0.5) / parts

    def inside(ranges: Ranges) -> Any:
        return np.any([(a <= grid) & (grid < b) for a, b in ranges.pairs()], axis=0)

    def distances(start: int, end: int) -> Any:
        return np.maximum(np.maximum(start - grid, grid - end), 0)

    all_distances = np.array([distances(*pair) for pair in incidents.pairs()])
    precision, recall = [], []
    for own, (start, end) in zip(all_distances, incidents.pairs(), strict=True):
        zone = own <= all_distances.min(axis=0)
        flagged = grid[zone & inside(alarms)] if len(alarms) else grid[:0]
        incident = grid[(start <= grid) & (grid < end)]
        if not len(flagged):
            precision.append(math.nan)
            recall.append(0.0)
            continue
        away = distances(start, end)
        of_alarm = [np.mean(away[zone] >= away[grid == moment]) for moment in flagged]
        precision.append(np.mean(of_alarm))
        nearest = np.abs(incident[:, None] - flagged).min(axis=1)
        apart = np.abs(incident[:, None] - grid[zone])
        recall.append(np.mean(apart >= nearest[:, None]))
    return precision, recall


@given(flags, st.lists(st.booleans(), min_size=24, max_size=24))
def test_the_integrals_are_those_of_a_fine_grid(steps: list[bool], others: list[bool]) -> None:
    incidents, alarms = of_flags(steps), of_flags(others[: len(steps)])
    if not len(incidents):
        return
    judged = affiliation(incidents, alarms, (0, len(steps)))
    precision, recall = brute(incidents, alarms, len(steps))
    # A moment on the grid is at least as far as itself, which is a part of the zone.
    assert judged.precision == pytest.approx(precision, abs=0.05, nan_ok=True)
    assert judged.recall == pytest.approx(recall, abs=0.05)


@given(flags, st.lists(st.booleans(), min_size=24, max_size=24), st.integers(-(10**15), 10**15))
def test_neither_the_origin_nor_the_unit_nor_the_direction_of_time_matters(
    steps: list[bool], others: list[bool], origin: int
) -> None:
    incidents, alarms, size = of_flags(steps), of_flags(others[: len(steps)]), len(steps)
    here = affiliation(incidents, alarms, (0, size))

    def moved(ranges: Ranges) -> Ranges:
        return Ranges(ranges.start * 1000 + origin, ranges.end * 1000 + origin)

    there = affiliation(moved(incidents), moved(alarms), (origin, size * 1000 + origin))
    back = affiliation(of_flags(steps[::-1]), of_flags(others[: len(steps)][::-1]), (0, size))
    for other in (there.precision, back.precision[::-1]):
        assert other == pytest.approx(here.precision, nan_ok=True)
    for other in (there.recall, back.recall[::-1]):
        assert other == pytest.approx(here.recall)


@given(flags)
def test_alarms_that_are_the_incidents_get_everything(steps: list[bool]) -> None:
    if any(steps):
        judged = affiliation(of_flags(steps), of_flags(steps), (0, len(steps))).overall
        assert (judged.precision, judged.recall) == pytest.approx((1, 1))


@given(st.integers(1, 60), st.integers(1, 30), st.integers(1, 60))
def test_an_alarm_over_all_the_time_has_half_the_precision_at_least(
    before: int, length: int, after: int
) -> None:
    size = before + length + after
    judged = affiliation(Ranges([before], [before + length]), Ranges([0], [size]), (0, size))
    assert judged.overall.recall == 1
    # Outside of the incident half of what is there is farther; inside all of it counts.
    inside = length / size
    expected = inside + (1 - inside) ** 2 / 2
    assert judged.overall.precision == pytest.approx(expected)


def test_an_incident_without_an_alarm_near_it_has_no_precision() -> None:
    judged = affiliation(Ranges([2, 80], [4, 90]), Ranges([2], [3]), (0, 100))
    assert judged.recall[1] == 0
    assert math.isnan(judged.precision[1])
    assert judged.overall.precision == 1
    silent = affiliation(Ranges([2], [4]), Ranges([], []), (0, 100)).overall
    assert math.isnan(silent.precision)
    assert silent.recall == 0
    assert math.isnan(affiliation(Ranges([], []), Ranges([2], [4]), (0, 9)).overall.recall)


def test_what_lies_outside_of_the_observed_time_is_refused() -> None:
    with pytest.raises(InputError, match="an alarm lies outside of the time from 0 to 100"):
        affiliation(Ranges([2], [4]), Ranges([99], [101]), (0, 100))
