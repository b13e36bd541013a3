"""Binary rows counted by sorted keys: every sign, tie and range, and tables that are merged."""

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from assay.tally.blocks import (
    BLOCK,
    bounds,
    count_binary,
    merge_binary,
    narrow,
    narrow_scores,
    start,
    threads,
)

Array = np.ndarray[Any, Any]
FLOATS = pytest.mark.parametrize("kind", [np.float32, np.float64])


def _naive(scores: Array, truth: Array) -> tuple[list[float], list[list[int]]]:
    seen = Counter(zip((scores + 0.0).tolist(), truth.tolist(), strict=True))
    distinct = sorted({score for score, _ in seen})
    return distinct, [[seen[score, label] for score in distinct] for label in (0, 1)]


def _must_count(scores: Array, truth: Array) -> None:
    distinct, counts = count_binary(scores, truth, float(scores.min()))
    expected = _naive(scores, truth)
    assert (distinct.tolist(), counts.tolist()) == expected
    assert distinct.dtype == scores.dtype
    assert not np.signbit(distinct[distinct == 0]).any()
    assert counts.dtype == np.min_scalar_type(max(map(max, expected[1])))


ROWS: dict[str, list[float]] = {
    "one row": [0.5],
    "zero": [0.0],
    "both zeros": [0.0, -0.0, 0.0],
    "minus zero alone": [-0.0],
    "minus zero and more": [-0.0, 0.5, 0.0, 0.5],
    "distinct": [0.75, 0.5, 0.25, 1.5],
    "ties": [0.5, 0.25, 0.5, 0.5, 0.25, 1.0],
    "one negative": [-1.0],
    "negative": [-1.0, -3.0, -2.0, -0.5],
    "negative ties": [-1.0, -3.0, -1.0, -3.0, -3.0],
    "both signs": [-1.0, 2.0, -3.0, 0.5, 3.0],
    "both signs, tied": [-1.0, 2.0, -1.0, 2.0, -3.0, 0.0, -0.0],
    "alike but for the sign": [-1.5, 1.5, -1.5, 1.5],
    "denormal": [5e-324, -5e-324, 1e-310, 0.0, 5e-324],
    "narrow denormal": [1.4e-45, -1.4e-45, 2.8e-45, 0.0],
    "the largest": [3.4028234663852886e38, -3.4028234663852886e38, 0.0, 1.0],
}


@FLOATS
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("rows", [1 << 20, 3, 2, 1])
def test_rows_are_counted_in_ranges_of_any_size(
    name: str, rows: int, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.blocks._RANGE", (rows, rows))
    scores = np.array(ROWS[name], np.float64).astype(kind)
    size = len(scores)
    for truth in (np.zeros(size, int), np.ones(size, int), np.arange(size) % 2):
        _must_count(scores, truth.astype(np.uint8))


@FLOATS
@pytest.mark.parametrize("label", [0, 1])
def test_the_highest_negative_score_is_told_from_the_lowest_other(label: int, kind: Any) -> None:
    # Turned over, the bits of the one are those of the other but for the sign.
    above = np.array([1.5], kind)
    below = np.invert(above.view(f"u{above.itemsize}")).view(kind)
    # And those of the float above it but for the last bit.
    for other in (above, np.nextafter(above, kind(2))):
        _must_count(np.concatenate([below, other]), np.full(2, label, np.uint8))
        _must_count(np.concatenate([below, other]), np.array([label, 1 - label]))
    for others in ([], [2.0], [-1e-30, 2.0], [2.0, 2.0]):
        scores = np.concatenate([np.repeat(below, 2), above, np.array(others, kind)])
        _must_count(scores, np.full(len(scores), label, np.uint8))
        _must_count(scores[1:], np.arange(len(scores) - 1) % 2)
        _must_count(scores[2:], np.arange(len(scores) - 2) % 2)


@pytest.mark.parametrize("most", [255, 256, 257])
@pytest.mark.parametrize("others", [0, 1, 2])
def test_counts_that_just_fit_their_type_do_not_wrap(most: int, others: int) -> None:
    scores = np.append(np.full(most, 0.5), np.arange(1, others + 1))
    for label in (0, 1):
        _must_count(scores, np.full(len(scores), label, np.uint8))


@pytest.mark.parametrize("size", [BLOCK, 2 * BLOCK, 2 * BLOCK + 1])
def test_ties_that_begin_and_end_at_the_borders_of_blocks_are_counted(size: int) -> None:
    rows = np.arange(size)
    for scores in (
        rows // 2,
        (rows + 1) // 2,
        rows - BLOCK,
        rows - BLOCK - 7,
        (rows - BLOCK - 7) // 2,
        (rows - BLOCK) // 2,
        (rows - BLOCK + 1) // 2,
        -1 - (rows // 2),
        np.maximum(rows, BLOCK),
    ):
        values, truth = scores.astype(np.float64), (rows % 3 == 0).astype(np.uint8)
        distinct, at = np.unique(values, return_inverse=True)
        distinct_scores, counts = count_binary(values, truth, float(values.min()))
        assert np.array_equal(distinct_scores, distinct)
        assert np.array_equal(counts[1], np.bincount(at, truth))
        assert np.array_equal(counts[0], np.bincount(at, 1 - truth))


@FLOATS
def test_many_rows_in_ranges_are_those_of_a_dictionary(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.blocks._RANGE", (20_000, 30_000))
    monkeypatch.setattr("assay.tally.blocks.LARGE", 25_000)
    random = np.random.default_rng(2)
    scores = random.normal(size=BLOCK + 9).round(3).astype(kind)
    _must_count(scores, random.integers(0, 2, len(scores)).astype(np.uint8))


# -- tables that are merged ------------------------------------------------------------------------


def _tables(parts: Sequence[tuple[list[float], list[list[int]]]], kinds: Sequence[Any]) -> Any:
    scores = [np.array(s, kind) for (s, _), kind in zip(parts, kinds, strict=True)]
    counts = [narrow(np.array(c, np.int64)) for _, c in parts]
    rows: Counter[tuple[float, int]] = Counter()
    for values, table in zip(scores, counts, strict=True):
        for label, row in enumerate(table.tolist()):
            for score, count in zip(values.tolist(), row, strict=True):
                rows[score, label] += count
    distinct = sorted({score for score, _ in rows})
    return scores, counts, (distinct, [[rows[s, label] for s in distinct] for label in (0, 1)])


MERGED: dict[str, Any] = {
    "positive": [([0.25, 0.5], [[1, 0], [0, 1]]), ([0.125, 0.5, 0.75], [[0, 1, 1], [1, 0, 0]])],
    "ties": [([0.25, 0.5], [[2, 0], [1, 1]]), ([0.5], [[3], [0]]), ([0.25, 1.0], [[0, 1], [1, 0]])],
    "from zero": [([0.0, 0.5], [[1, 1], [0, 0]]), ([0.0, 2.0], [[0, 0], [1, 2]])],
    "negative": [([-2.0, -1.0], [[1, 0], [0, 1]]), ([-3.0, -1.0], [[1, 1], [0, 0]])],
    "both signs": [
        ([-2.0, -1.0, 0.0, 1.0], [[1, 0, 2, 0], [0, 1, 0, 1]]),
        ([-1.0, 0.5], [[0, 1], [1, 0]]),
        ([0.5, 3.0], [[1, 1], [0, 0]]),
        ([-7.0], [[4], [5]]),
    ],
    "alike but for the sign": [([-1.5], [[1], [0]]), ([1.5], [[1], [0]])],
    "many": [
        ([i / 16 - 1 for i in range(0, 40, 3)], [[1] * 14, [1, 0] * 7]),
        ([i / 8 for i in range(20)], [[1] * 20, [0] * 20]),
        ([-i / 4 for i in range(20, 0, -1)], [[0] * 20, [1] * 20]),
    ],
}


@pytest.mark.parametrize("name", MERGED)
@pytest.mark.parametrize("at_once", [1 << 18, 100, 7, 3, 1])
@pytest.mark.parametrize("kinds", ["wide", "narrow", "mixed"])
def test_tables_merge_in_ranges_of_any_size(
    name: str, at_once: int, kinds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.tally.blocks._MERGED", at_once)
    each = {"wide": [np.float64], "narrow": [np.float32], "mixed": [np.float32, np.float64]}[kinds]
    chosen = [each[i % len(each)] for i in range(len(MERGED[name]))]
    scores, counts, expected = _tables(MERGED[name], chosen)
    before = [part.copy() for part in (*scores, *counts)]
    merged_scores, sums = merge_binary(scores, counts)
    assert (merged_scores.tolist(), sums.tolist()) == expected
    assert merged_scores.dtype == np.result_type(*scores)
    assert sums.dtype == np.min_scalar_type(max(map(max, expected[1])))
    assert all(map(np.array_equal, before, (*scores, *counts)))


# -- narrow types ----------------------------------------------------------------------------------


def test_counts_take_the_narrowest_type_that_holds_them() -> None:
    assert narrow(np.empty((2, 0), np.int64)).dtype == np.uint8
    for largest, kind in ((0, "u1"), (255, "u1"), (256, "u2"), (65_536, "u4"), (2**32, "u8")):
        counts = np.array([[0, largest]])
        assert narrow(counts).dtype == kind
        assert narrow(counts).tolist() == [[0, largest]]


def test_scores_become_narrow_where_each_of_them_is() -> None:
    halves = np.arange(2 * BLOCK + 1) / 2
    assert narrow_scores(halves).dtype == np.float32
    assert narrow_scores(halves).tolist() == halves.tolist()
    for place in (0, BLOCK - 1, BLOCK, 2 * BLOCK):
        one = halves.copy()
        one[place] += 0.1
        assert narrow_scores(one) is one
    huge = np.array([1e300])
    assert narrow_scores(huge) is huge
    own = halves[:3].astype(np.float32)
    assert narrow_scores(own) is own


def test_a_block_has_65536_rows() -> None:
    assert BLOCK == 65_536
    assert bounds(100_000) == [(0, 65_536), (65_536, 100_000)]


def test_a_single_thread_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 2, 3}, raising=False)
    monkeypatch.setenv("ASSAY_THREADS", "1")
    assert threads() == 1
    monkeypatch.delenv("ASSAY_THREADS")
    assert threads() == 3


def test_work_that_is_started_gives_its_result() -> None:
    assert start(lambda: 6 * 7).result() == 42
