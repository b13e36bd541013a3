"""Intervals of rows that were drawn by strata: laws, edges, and what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import Confusion
from assay.errors import InputError
from assay.inference import (
    ClopperPearson,
    Delta,
    Estimate,
    FayFeuer,
    Quantity,
    Strata,
    Tiwari,
    Wilson,
    estimate,
)
from assay.measures import (
    ACCURACY,
    ALERT_RATE,
    CATALOGUE,
    F1,
    FALSE_DISCOVERY_RATE,
    MCC,
    PRECISION,
    PREVALENCE,
    RECALL,
    Measure,
)

LABELS = ("normal", "attack")
SHARES = (RECALL, PRECISION, FALSE_DISCOVERY_RATE, ACCURACY, ALERT_RATE, PREVALENCE)

cells = st.lists(st.integers(0, 40), min_size=4, max_size=4).filter(any)


def strata_of(weights: list[float], counts: list[list[int]]) -> tuple[Strata, Confusion]:
    tables = {}
    for i, (weight, cell) in enumerate(zip(weights, counts, strict=True)):
        rows = np.array(cell, float).reshape(2, 2)
        tables[str(i)] = _confusion(rows * weight, rows * weight**2)
    whole = [
        np.sum([getattr(t, name) for t in tables.values()], axis=0) for name in ("cells", "squares")
    ]
    return Strata.of_tables(tables), _confusion(*whole)


def _confusion(sums: Any, squares: Any) -> Confusion:
    return Confusion(LABELS, tuple(map(tuple, sums.tolist())), tuple(map(tuple, squares.tolist())))


def judged(measure: Measure, strata: Strata, table: Confusion, **how: Any) -> Estimate:
    assert measure.formula is not None
    return estimate(Quantity(measure.formula, label=1), table, measure.range, strata=strata, **how)


@given(cells)
def test_one_stratum_of_weight_one_gives_the_exact_interval_of_counts(counts: list[int]) -> None:
    strata, table = strata_of([1.0], [counts])
    plain = Confusion(LABELS, ((counts[0], counts[1]), (counts[2], counts[3])))
    for measure in SHARES:
        assert measure.formula is not None
        quantity = Quantity(measure.formula, label=1)
        expected = estimate(quantity, plain, measure.range, method=ClopperPearson())
        measured_value = judged(measure, strata, table)
        if math.isnan(expected):
            assert math.isnan(measured_value)
            continue
        assert measured_value.value == pytest.approx(expected.value)
        if measure is not ALERT_RATE and measure is not PREVALENCE:
            assert (measured_value.low, measured_value.high) == pytest.approx(
                (expected.low, expected.high), rel=1e-6, abs=1e-9
            )


@given(st.lists(st.tuples(st.integers(1, 500), cells), min_size=1, max_size=5))
@settings(max_examples=40)
def test_splitting_a_stratum_in_equal_halves_changes_no_value(
    drawn: list[tuple[int, list[int]]],
) -> None:
    weights, counts = [float(w) for w, _ in drawn], [c for _, c in drawn]
    strata, table = strata_of(weights, [[2 * n for n in c] for c in counts])
    halves, same = strata_of([w for w in weights for _ in "ab"], [c for c in counts for _ in "ab"])
    for measure in (*SHARES, F1, MCC):
        one, other = judged(measure, strata, table), judged(measure, halves, same)
        assert one.value == pytest.approx(other.value, nan_ok=True)
        if measure in SHARES and not math.isnan(one):
            # The Poisson part is the same; what strata of half the size take off is no more.
            assert other.low == pytest.approx(one.low, abs=0.02)


@given(st.lists(st.tuples(st.integers(1, 500), cells), min_size=1, max_size=5))
@settings(max_examples=40)
def test_intervals_hold_the_estimate_and_stay_in_range(drawn: list[tuple[int, list[int]]]) -> None:
    strata, table = strata_of([float(w) for w, _ in drawn], [c for _, c in drawn])
    for measure in (*SHARES, F1, MCC):
        for method in (None, Tiwari(), Wilson(), Delta()):
            measured_value = judged(measure, strata, table, method=method)
            if not math.isnan(measured_value):
                low, high = measure.range
                assert (
                    low <= measured_value.low <= measured_value.value <= measured_value.high <= high
                )


def test_no_missed_attack_in_the_sample_is_no_certain_detection() -> None:
    strata, table = strata_of([1.0, 10.0, 200.0], [[0, 5, 0, 100], [500, 0, 0, 0], [900, 0, 0, 0]])
    measured_value = judged(RECALL, strata, table)
    assert measured_value.value == 1
    assert measured_value.high == 1
    # Up to -log(0.025) attacks of weight 200 may have been missed, beside 100 that were not.
    assert measured_value.low == pytest.approx(100 / (100 + 200 * 3.689), abs=0.02)
    assert judged(RECALL, strata, table, method=Tiwari()).low > measured_value.low


def test_every_measure_of_counts_has_an_interval_where_cells_are_empty() -> None:
    strata, table = strata_of([1.0, 30.0], [[0, 0, 0, 9], [40, 0, 0, 0]])
    found = {m.name: judged(m, strata, table) for m in CATALOGUE if m.formula is not None}
    for one in found.values():
        if one.method in ("fay-feuer", "tiwari"):
            assert one.low <= one.value <= one.high
    assert found["mcc"].low < found["mcc"].value == 1
    assert found["balanced_accuracy"].low < 0.7


def test_tiwari_says_that_it_has_no_proof() -> None:
    strata, table = strata_of([1.0, 9.0], [[5, 3, 1, 10], [90, 0, 2, 0]])
    assert "no proof" in (judged(RECALL, strata, table, method=Tiwari()).note or "")
    assert judged(RECALL, strata, table).note is None


def test_alerts_are_known_where_strata_end_at_the_threshold() -> None:
    strata, table = strata_of([3.0, 90.0], [[0, 60, 0, 40], [1000, 0, 2, 0]])
    known = judged(ALERT_RATE, strata, table)
    assert known.value == pytest.approx(300 / 90_480)
    # As if all 90,480 rows had been looked at, and not 100 rows of weight 3.
    exact = ClopperPearson().ends(300, 90_480)
    assert (known.low, known.high) == pytest.approx(exact, rel=0.02)


def test_more_than_two_classes_have_one_label_against_the_rest() -> None:
    rows = np.array([[10, 2, 0], [1, 20, 3], [0, 4, 30]], float)
    squares = 25 * rows
    table = Confusion(tuple("abc"), tuple(map(tuple, 5 * rows)), tuple(map(tuple, squares)))
    strata = Strata.of_tables({"x": table})
    binary = strata.against_rest(2)
    assert binary.counts[0].tolist() == [[33, 3], [4, 30]]
    assert strata.against_rest(0).counts[0].tolist() == [[57, 1], [2, 10]]


def test_two_classes_are_as_they_are_against_the_rest_and_turned_for_the_first() -> None:
    table = Confusion(("no", "yes"), ((10.0, 2.0), (1.0, 20.0)), ((10.0, 2.0), (1.0, 20.0)))
    strata = Strata.of_tables({"x": table})
    assert strata.against_rest(1).counts.tolist() == strata.counts.tolist()
    assert strata.against_rest(0).counts[0].tolist() == [[20, 1], [2, 10]]


@pytest.mark.parametrize(
    ("weights", "says"),
    [([2.0, 2.0, 3.0], "differ in their weight"), ([0.5, 0.5, 0.5], "stands for one row at least")],
)
def test_weights_that_no_draw_gives_are_refused(weights: list[float], says: str) -> None:
    sums, squares = (sum(w**k for w in weights) for k in (1, 2))
    table = Confusion(LABELS, ((sums, 0.0), (0.0, 0.0)), ((squares, 0.0), (0.0, 0.0)))
    with pytest.raises(InputError, match=says):
        Strata.of_tables({"1": table})


def test_flagging_every_row_is_no_certain_detection() -> None:
    strata, table = strata_of([1.0, 4.0], [[0, 5, 0, 7], [0, 9, 0, 2]])
    measured_value = judged(RECALL, strata, table)
    assert measured_value.value == measured_value.high == 1
    assert measured_value.low < 0.7


def test_weights_need_not_be_whole() -> None:
    strata, table = strata_of([2.5], [[0, 0, 0, 1]])
    assert strata.weights.tolist() == [2.5]
    third, _ = strata_of([10 / 3], [[1, 0, 1, 1]])
    assert float((third.weights * third.drawn).sum()) == 10
    assert judged(RECALL, strata, table).low > 0


def test_level_reaches_the_interval() -> None:
    strata, table = strata_of([1.0, 9.0], [[5, 3, 1, 10], [90, 0, 2, 0]])
    wide = judged(RECALL, strata, table, method=FayFeuer(0.99), level=0.99)
    narrow = judged(RECALL, strata, table, method=FayFeuer(0.5), level=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high
