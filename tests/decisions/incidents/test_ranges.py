"""Range-based precision and recall: the authors' evaluator, brute force, laws."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.decisions.incidents.coverage import (
    Bias,
    Cardinality,
    PrecisionRecall,
    Ranges,
    range_based,
    range_scores,
)
from assay.errors import InputError

ORACLES = Path(__file__).parents[2] / "oracles" / "ranges" / "values.json"
CASES = json.loads(ORACLES.read_text())["range_based"]

flags = st.lists(st.booleans(), min_size=1, max_size=40)


def ranges(borders: list[int]) -> Ranges:
    return Ranges(borders[::2], borders[1::2])


def of_flags(steps: list[bool]) -> Ranges:
    return Ranges.of_moments([i for i, flag in enumerate(steps) if flag])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_both_are_what_the_authors_get(case: dict[str, Any]) -> None:
    incidents, alarms = ranges(case["incidents"]), ranges(case["alarms"])
    for value in case["values"]:
        judged = range_based(
            incidents,
            alarms,
            alpha=value["alpha"],
            bias=Bias(value["bias"]),
            cardinality=Cardinality(value["cardinality"]),
        )
        assert f"{judged.precision:.6g}" == value["precision"]
        assert f"{judged.recall:.6g}" == value["recall"]


def by_hand(
    judged: Ranges, by: Ranges, alpha: Fraction, bias: Bias, cardinality: Cardinality
) -> list[Fraction]:
    """The definition, step by step."""
    scores = []
    for start, end in judged.pairs():
        length = end - start
        weights = {
            Bias.FLAT: [1] * length,
            Bias.FRONT: list(range(length, 0, -1)),
            Bias.BACK: list(range(1, length + 1)),
        }[bias]
        others = [(a, b) for a, b in by.pairs() if a < end and start < b]
        covered = sum(w for i, w in enumerate(weights, start) if any(a <= i < b for a, b in others))
        overlap = Fraction(covered, sum(weights))
        if cardinality is Cardinality.RECIPROCAL and len(others) > 1:
            overlap /= len(others)
        scores.append(alpha * bool(others) + (1 - alpha) * overlap)
    return scores


@given(
    flags,
    flags,
    st.fractions(0, 1, max_denominator=8),
    st.sampled_from(Bias),
    st.sampled_from(Cardinality),
)
def test_each_range_gets_what_its_definition_says(
    steps: list[bool], others: list[bool], alpha: Fraction, bias: Bias, cardinality: Cardinality
) -> None:
    judged, by = of_flags(steps), of_flags(others)
    scores = range_scores(judged, by, alpha=float(alpha), bias=bias, cardinality=cardinality)
    expected = [float(score) for score in by_hand(judged, by, alpha, bias, cardinality)]
    assert scores.tolist() == pytest.approx(expected, rel=1e-13)


@given(flags, flags)
def test_of_single_steps_they_are_the_measures_of_steps(
    steps: list[bool], others: list[bool]
) -> None:
    size = min(len(steps), len(others))
    truth, flagged = steps[:size], others[:size]
    # Steps that are two apart never touch.
    incidents = Ranges(
        [3 * i for i in range(size) if truth[i]], [3 * i + 1 for i in range(size) if truth[i]]
    )
    alarms = Ranges(
        [3 * i for i in range(size) if flagged[i]], [3 * i + 1 for i in range(size) if flagged[i]]
    )
    hits = sum(a and b for a, b in zip(truth, flagged, strict=True))
    judged = range_based(incidents, alarms)
    assert judged.precision == pytest.approx(
        hits / sum(flagged) if any(flagged) else math.nan, nan_ok=True
    )
    assert judged.recall == pytest.approx(
        hits / sum(truth) if any(truth) else math.nan, nan_ok=True
    )


@given(flags)
def test_alarms_that_are_the_incidents_get_everything(steps: list[bool]) -> None:
    incidents = of_flags(steps)
    judged = range_based(incidents, incidents, alpha=0.5, bias=Bias.FRONT)
    if any(steps):
        assert (judged.precision, judged.recall, judged.f1) == pytest.approx((1, 1, 1))


@given(flags, flags)
def test_time_turned_round_exchanges_front_and_back(steps: list[bool], others: list[bool]) -> None:
    size = max(len(steps), len(others))
    steps, others = (x + [False] * (size - len(x)) for x in (steps, others))
    ahead = range_based(of_flags(steps), of_flags(others), bias=Bias.FRONT)
    back = range_based(of_flags(steps[::-1]), of_flags(others[::-1]), bias=Bias.BACK)
    assert ahead.recall == pytest.approx(back.recall, nan_ok=True)


def test_microseconds_of_a_year_lose_no_digits() -> None:
    year = 365 * 86_400 * 10**6
    for bias in Bias:
        scores = range_scores(Ranges([0], [year]), Ranges([year - 1], [year]), bias=bias)
        weight = {Bias.FLAT: Fraction(1, year), Bias.FRONT: Fraction(2, year * (year + 1))}
        expected = weight.get(bias, Fraction(2, year + 1))
        assert scores[0] == pytest.approx(float(expected), rel=1e-14)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=12))
def test_a_union_holds_the_same_steps(pairs: list[tuple[int, int]]) -> None:
    union = Ranges.union([start for start, _ in pairs], [start + size for start, size in pairs])
    steps = {step for start, size in pairs for step in range(start, start + size)}
    assert {step for a, b in union.pairs() for step in range(a, b)} == steps
    assert all(b < c for (_, b), (c, _) in zip(union.pairs(), union.pairs()[1:], strict=False))


@given(flags, flags)
def test_shared_steps_are_counted(steps: list[bool], others: list[bool]) -> None:
    shared = sum(a and b for a, b in zip(steps, others, strict=False))
    assert of_flags(steps).within(of_flags(others)) == shared


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        ([0, 5], [2], "a start and an end each; found 2 and 1"),
        ([3], [3], "range 0 goes from 3 to 3; it must end after its start"),
        ([0, 1], [2, 3], "range 1 starts at 1, before the one before it ends"),
    ],
)
def test_what_are_no_ranges_is_refused(start: list[int], end: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Ranges(start, end)


def test_an_alpha_outside_of_0_to_1_is_refused() -> None:
    with pytest.raises(InputError, match="alpha must lie between 0 and 1; found 2"):
        range_scores(Ranges([0], [1]), Ranges([0], [1]), alpha=2)


def test_what_is_missing_is_undefined_and_not_0() -> None:
    one, none = Ranges([0], [4]), Ranges([], [])
    silent, invented = range_based(one, none), range_based(none, one)
    assert math.isnan(silent.precision)
    assert silent.recall == 0
    assert (invented.precision, math.isnan(invented.recall)) == (0, True)
    assert math.isnan(silent.f1)
    assert PrecisionRecall(0.0, 0.0).f1 == 0
