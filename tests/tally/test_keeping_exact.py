"""Cells of a grid and sums of tables, number by number, whichever way they are counted."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.errors import InputError, TallyError
from assay.tally.keeping import (
    BITS,
    LOWEST,
    MODES,
    Cuts,
    Exact,
    Grid,
    cells,
    coarsen,
    coarsest,
    count_cells,
    distinct_scores,
    group,
    highest,
    in_cells,
    keeping_of_mode,
    lowest,
    places_of,
    sum_tables,
)

from .test_keeping import EDGES, NARROW, _number

Array = np.ndarray[Any, Any]
LARGEST = float(np.finfo(np.float64).max)


# -- how scores are kept ---------------------------------------------------------------------------


def test_a_grid_has_12_bits_and_at_most_32() -> None:
    assert Grid() == Grid(12)
    assert (BITS, Grid(1).bits, Grid(32).bits) == (12, 1, 32)
    for bits in (0, 33):
        with pytest.raises(TallyError, match=rf"a grid has 1 to 32 bits; found bits={bits}"):
            Grid(bits)
    assert LOWEST == -1.7976931348623157e308


def test_a_mode_says_how_scores_are_kept() -> None:
    assert MODES == ("auto", "exact", "cuts", "grid")
    kept = [keeping_of_mode(mode) for mode in MODES]
    assert kept == [Exact(), Exact(), Cuts(None, ""), Grid(12)]
    with pytest.raises(InputError, match="mode= is one of auto, exact; found 'grid'"):
        keeping_of_mode("grid", ("auto", "exact"))


def test_like_cuts_are_kept_and_unlike_ones_refused() -> None:
    assert coarsest([Cuts("a", "1"), Cuts("a", "1")]) == Cuts("a", "1")
    assert coarsest([Grid(3), Grid(9), Exact()]) == coarsest([Grid(9), Grid(3)]) == Grid(3)
    with pytest.raises(TallyError, match=r"can't be added: cuts 1, exact; count"):
        coarsest([Cuts("a", "1"), Exact()])


# -- cells -----------------------------------------------------------------------------------------

INSIDE = np.array([0.0, -0.0, 5e-324, 2.0**-1022, 0.25, 0.3, 0.5, 0.5 + 2.0**-53, 0.75, 1.0])


@pytest.mark.parametrize("bits", [1, 2, 12, 23, 24, 32])
@pytest.mark.parametrize(
    "values",
    [INSIDE, INSIDE[2:9], np.array([1.0, 1.5, 2.0]), np.array([0.5, 1 + 2.0**-52]), np.array([1.0]),
     np.array([-0.5, 0.5]), np.array([-2.0, -0.0, 1.0]), np.array([-1.0, -5e-324]), EDGES],
)  # fmt: skip
def test_scores_within_0_and_1_and_beyond_have_the_cells_of_the_definition(
    values: Array, bits: int
) -> None:
    assert cells(values, bits).tolist() == [_number(score, bits) for score in values.tolist()]


@pytest.mark.parametrize("bits", [1, 12, 22, 23, 24])
def test_narrow_scores_have_the_cells_of_the_definition(bits: int) -> None:
    tiny = [float(NARROW.smallest_subnormal), float(NARROW.tiny), float(NARROW.tiny) / 4]
    values = np.array([0.0, -0.0, *tiny, 0.1, 0.5, 0.9, 1.0, 1.5, -0.1, -tiny[0], 3e38], np.float32)
    for some in (values, values[:9]):
        assert cells(some, bits).tolist() == [_number(score, bits) for score in some.tolist()]


@pytest.mark.parametrize("bits", [1, 5, 12, 32])
def test_the_ends_of_cells_are_the_outermost_floats_in_them(bits: int) -> None:
    for values in (EDGES, EDGES[EDGES >= 0], EDGES[EDGES < 0], EDGES[EDGES > 1]):
        ids = cells(values, bits)
        for ends, beyond in ((lowest(ids, bits), -np.inf), (highest(ids, bits), np.inf)):
            assert cells(ends, bits).tolist() == ids.tolist()
            with np.errstate(over="ignore"):
                outside = np.nextafter(ends, beyond)
            finite = np.isfinite(outside)
            assert (cells(outside[finite], bits) != ids[finite]).all()


@pytest.mark.parametrize("bits", [1, 12])
def test_a_cell_beyond_the_largest_float_starts_at_infinity(bits: int) -> None:
    (last,) = cells(np.array([LARGEST]), bits).tolist()
    assert np.isfinite(lowest(np.array([last]), bits)).all()
    assert lowest(np.array([last + 1, last + 2, last + 2**bits]), bits).tolist() == [np.inf] * 3


@pytest.mark.parametrize(("bits", "to"), [(6, 6), (12, 11), (12, 1), (32, 5)])
def test_cells_become_those_of_fewer_bits(bits: int, to: int) -> None:
    fine = cells(EDGES, bits)
    assert coarsen(fine, bits, to).tolist() == [_number(score, to) for score in EDGES.tolist()]


# -- rows and tables by score ----------------------------------------------------------------------


def test_columns_are_added_over_equal_scores_and_what_has_none_is_left_out() -> None:
    scores = np.array([0.5, 0.25, 0.5, 0.75, 0.25, 1.0])
    columns = np.array([[1, 2, 3, 0, 5, 0], [1, 0, 2, 0, 4, 7]])
    distinct, sums = group(scores, columns)
    assert distinct.tolist() == [0.25, 0.5, 1.0]
    assert sums.tolist() == [[7, 4, 0], [4, 3, 7]]


def test_a_table_is_added_up_over_cells() -> None:
    scores = np.array([0.25, 0.2500001, 0.3, 0.9])
    ends, sums = in_cells(scores, np.array([[1, 200, 3, 4], [0, 100, 0, 9]], np.uint8), 2)
    assert ends.tolist() == [0.25, lowest(cells(np.array([0.9]), 2), 2)[0]]
    assert sums.tolist() == [[204, 4], [100, 9]]


def _naive(scores: Array, truth: Array, labels: int, bits: int) -> tuple[list[float], Any]:
    ids = [_number(score, bits) for score in scores.tolist()]
    seen = Counter(zip(ids, truth.tolist(), strict=True))
    distinct = sorted(set(ids))
    counts = [[seen[each, label] for each in distinct] for label in range(labels)]
    return lowest(np.array(distinct), bits).tolist(), counts


SPREAD = np.array([0.3, 0.31, 0.3, 0.9, 0.99999, 1e-9, -7.5, -7.5, 1e12, 0.5, 0.0, 1.0, 0.62, 0.3])
SCORES = {
    "a few binades": np.array([0.3, 0.31, 0.26, 0.49, 0.3, 0.25, 0.49, 0.4, 0.3, 0.3]),
    "two binades": np.array([0.3, 0.2, 0.2, 0.4, 0.249, 0.25]),
    "one cell": np.full(5, 0.3),
    "far apart": SPREAD,
    "negative": -SPREAD[SPREAD != 0],
}


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize(
    ("counters", "chunk"), [(1 << 23, 1 << 22), (1 << 23, 5), (800, 7), (100, 100), (1, 3), (0, 9)]
)
def test_rows_are_counted_into_cells_by_counters_and_by_sorting_alike(
    name: str, labels: int, counters: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.keeping._COUNTERS", counters)
    monkeypatch.setattr("assay.tally.keeping._CHUNK", chunk)
    scores = SCORES[name]
    # The last label may have no row in a cell, or none at all.
    truth = np.arange(len(scores)) % labels
    truth[-2:] = 0
    ends, counts = count_cells(scores, truth.astype(np.uint8), labels, 4)
    assert (ends.tolist(), counts.tolist()) == _naive(scores, truth, labels, 4)


def test_counters_are_laid_out_for_binades_that_hold_rows() -> None:
    # Between -1e300 and 1e300 lie 2,000 binades of 2^20 cells, too many for a counter each.
    scores, truth = np.array([-1e300, 1e300, 0.3, 0.3]), np.array([0, 1, 1, 0])
    ends, counts = count_cells(scores, truth, 2, 20)
    assert (ends.tolist(), counts.tolist()) == _naive(scores, truth, 2, 20)


# -- many tables -----------------------------------------------------------------------------------


def _summed(parts: Sequence[tuple[Array, Array]]) -> tuple[list[float], list[list[int]]]:
    sums: Counter[tuple[int, float]] = Counter()
    for scores, columns in parts:
        for label, row in enumerate(columns.tolist()):
            for score, count in zip(scores.tolist(), row, strict=True):
                sums[label, score] += count
    distinct = sorted({score for _, score in sums})
    return distinct, [[sums[label, s] for s in distinct] for label in range(len(parts[0][1]))]


@pytest.mark.parametrize("labels", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 2, 3, 200])
@pytest.mark.parametrize("kind", [np.uint8, np.int64])
def test_tables_of_few_and_of_many_ties_are_added(labels: int, most: int, kind: Any) -> None:
    random = np.random.default_rng(labels + most)
    parts = []
    for size in (5, 1, 9, 7):
        scores = np.sort(random.choice(np.arange(-9, 10) / 8, size, replace=False))
        columns = random.integers(0, most + 1, (labels, size)).astype(kind)
        columns[0] += columns.sum(axis=0) == 0
        parts.append((scores, columns))
    for some in (parts, parts[:2], parts[:1]):
        scores, sums = sum_tables([s for s, _ in some], [c for _, c in some])
        assert (scores.tolist(), sums.tolist()) == _summed(some)


def test_scores_find_their_places_among_all() -> None:
    parts = [np.array([0.25, 0.5]), np.array([0.5]), np.array([0.125, 0.5, 2.0])]
    distinct = distinct_scores(parts)
    assert distinct.tolist() == [0.125, 0.25, 0.5, 2.0]
    assert [places_of(distinct, part).tolist() for part in parts] == [[1, 2], [2], [0, 2, 3]]
