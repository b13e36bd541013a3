"""Counters that do not grow with the rows: one a cell of a grid, one a pattern of a float32."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import ScoreError, TallyError
from assay.tally import ScoreTally
from assay.tally.blocks import add_ones
from assay.tally.counters import BLOCK, CutCounter, CutPoints, GridCounter
from assay.tally.keeping import Cuts, Grid
from assay.tally.pattern_counter import PatternCounter

from .kinds import THREE, TWO

Array = np.ndarray[Any, Any]


def _counted(scores: Array, truth: Array, labels: tuple[str, ...], step: int) -> ScoreTally:
    counter = PatternCounter(labels)
    for i in range(0, len(scores), step):
        counter.add(scores[i : i + step], truth[i : i + step])
    return counter.done()


@given(
    rows=st.lists(
        st.tuples(
            st.one_of(
                st.sampled_from([-0.0, 0.0, 1.0, 0.5]),
                st.floats(allow_nan=False, allow_infinity=False, width=32),
            ),
            st.integers(0, 2),
        ),
        max_size=60,
    ),
    step=st.integers(1, 30),
)
def test_patterns_count_as_rows_do(rows: list[tuple[float, int]], step: int) -> None:
    scores = np.array([score for score, _ in rows], np.float32)
    truth = np.array([label for _, label in rows], np.uint8)
    assert _counted(scores, truth, THREE, step) == ScoreTally.of_rows(THREE, scores, truth)


@pytest.mark.parametrize("block", [1000, 1 << 17])
def test_counters_grow_when_they_are_full(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.tally.pattern_counter.BLOCK", block)
    random = np.random.default_rng(8)
    scores = random.choice(np.array([0.25, 0.75, 1.0], np.float32), 200_000, p=[0.001, 0.199, 0.8])
    scores[:70_000] = random.random(70_000, dtype=np.float32)
    truth = (random.random(200_000) < 0.01).astype(np.uint8)
    tally = _counted(scores, truth, TWO, 30_000)
    assert tally == ScoreTally.of_rows(TWO, scores, truth)
    assert tally.counts.max() > 2**16


@pytest.mark.parametrize("threads", ["1", "3", "16"])
def test_threads_that_share_counters_lose_no_row(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", threads)
    random = np.random.default_rng(9)
    scores = random.choice(np.array([0.25, -0.5, 1.0], np.float32), 1 << 18, p=[0.01, 0.29, 0.7])
    scores[::7] = random.random(len(scores[::7]), np.float32)
    truth = (random.random(len(scores)) < 0.01).astype(np.uint8)
    expected = ScoreTally.of_rows(TWO, scores, truth)
    assert _counted(scores, truth, TWO, len(scores)) == expected
    assert expected.counts.max() > 2**16
    cells = GridCounter(TWO)
    cells.add(scores, truth)
    assert cells.done() == ScoreTally.of_rows(TWO, scores, truth, kept=Grid())


@pytest.mark.parametrize("first", [0.0, 0.5, -0.5])
def test_what_is_counted_first_keeps_its_place_when_others_get_theirs(first: float) -> None:
    scores, truth = np.array([first, first, 0.75], np.float32), np.zeros(3, np.uint8)
    counter = PatternCounter(TWO)
    for part in (slice(1), slice(1, 3)):
        assert counter.add(scores[part], truth[part]) == []
    assert counter.done() == ScoreTally.of_rows(TWO, scores, truth)


def test_rows_without_room_for_a_page_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.tally.pattern_counter._ROOM", 2 << 13)
    monkeypatch.setattr("assay.tally.pattern_counter._ROOM_A_ROW", 0)
    counter = PatternCounter(TWO)
    scores = np.full(3 * BLOCK, 0.5, np.float32)
    assert counter.add(scores, np.zeros(len(scores), np.uint8)) == []
    scores[BLOCK + 5 : BLOCK + 8] = 1e-5, 1e5, -1
    left = counter.add(scores, np.zeros(len(scores), np.uint8))
    assert left == [slice(BLOCK, 2 * BLOCK)]
    assert counter.done().totals() == [5 * BLOCK, 0]


@pytest.mark.parametrize(
    ("sign", "shares"), [(1, (0.98, 0.01, 0.01)), (1, (0.5, 0.49, 0.01)), (-1, (0.3, 0.3, 0.4))]
)
def test_pages_that_first_rows_fill_count_what_all_others_count(
    sign: int, shares: tuple[float, ...]
) -> None:
    random = np.random.default_rng(12)
    rows = 1 << 17
    scores = np.float32(sign) * random.random(rows, np.float32)
    # The first rows tell where scores lie; later ones lie elsewhere too.
    scores[-20:] = [0.0, -0.0, 1.0, 2.0, -1.0, 1e-30, -1e-30, 1e30, 0.5, 0.999] * 2
    truth = random.choice(3, rows, p=shares).astype(np.uint8)
    counter = PatternCounter(THREE)
    for part in (slice(rows - 20), slice(rows - 20, None), slice(1000)):
        assert counter.add(scores[part], truth[part]) == []
    both = [np.concatenate([column, column[:1000]]) for column in (scores, truth)]
    assert counter.done() == ScoreTally.of_rows(THREE, *both)


def test_memory_is_that_of_the_pages_that_are_touched() -> None:
    counter = PatternCounter(TWO)
    scores = np.linspace(0.5, 1, 1 << 16, dtype=np.float32)[:-1]
    sizes = []
    for _ in range(20):
        counter.add(scores, np.zeros(len(scores), np.uint8))
        sizes.append(counter.nbytes)
    assert len(set(sizes)) == 1
    tally = counter.done()
    assert tally.totals() == [20 * len(scores), 0]
    assert counter.nbytes == 0
    assert tally.counts.dtype == np.uint8


@pytest.mark.parametrize(("threads", "copies"), [("1", 1), ("2", 2), ("5", 2)])
def test_pages_are_laid_out_up_to_the_first_power_of_two_that_few_rows_touch(
    threads: str, copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_THREADS", threads)
    every_other_page = np.arange(0, 1 << 23, 2 << 12, dtype=np.uint32)
    scores = (every_other_page + np.float32(0.5).view(np.uint32)).view(np.float32)
    scores = np.concatenate([np.tile(scores, 7), np.array([1, 4], np.float32)])
    counter = PatternCounter(TWO)
    assert counter.add(scores, np.zeros(len(scores), np.uint8)) == []
    # All from 1/2 to 1 for two threads at most, and those of 1 and 4.
    run, others = copies << 23 - 12, 2
    assert counter.nbytes == (run + others) * 2 * (1 << 12) + 8 * (others + len(TWO) * (1 << 20))
    assert counter.done() == ScoreTally.of_rows(TWO, scores, np.zeros(len(scores), np.uint8))


def test_no_rows_are_the_zero() -> None:
    assert PatternCounter(TWO).done() == ScoreTally.zero(TWO)


def test_what_has_no_pattern_is_refused() -> None:
    counter = PatternCounter(TWO)
    with pytest.raises(TallyError, match="those of float32 scores; found float64"):
        counter.add(np.array([0.5]), np.array([1]))
    with pytest.raises(ScoreError, match="1 of 2 are not; the first is nan in row 2"):
        counter.add(np.array([0.5, np.nan], np.float32), np.array([1, 0]))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_has_no_pattern_is_refused_among_rows_of_a_run_too(odd: float) -> None:
    scores = np.random.default_rng(3).uniform(0.5, 1.0, 1 << 18).astype(np.float32)
    counter = PatternCounter(("benign", "attack"))
    counter.add(scores, np.zeros(len(scores), np.uint8))
    scores[1 << 17 | 5] = odd
    told = f"1 of 262144 are not; the first is {odd} in row 131078 "
    with pytest.raises(ScoreError, match=told):
        counter.add(scores, np.zeros(len(scores), np.uint8))


def test_rows_of_a_run_of_zeros_below_zero_are_those_of_zero() -> None:
    scores = -np.random.default_rng(4).uniform(0, 2.0**-126, 1 << 18).astype(np.float32)
    scores[::8] = -0.0
    counter = PatternCounter(("benign",))
    counter.add(scores, np.zeros(len(scores), np.uint8))
    table = counter.done()
    assert not np.signbit(table.scores[-1])
    assert table.counts[0, -1] == np.count_nonzero(scores == 0)


_ODD = [-0.0, 0.0, 1.0, 0.5, 5e-324, 1e-30, 2.0**-64, 1 - 2.0**-53, 0.5 + 2.0**-53, -2.0, 1e300]


@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.sampled_from(_ODD), st.floats(0, 1), st.floats(-1e9, 1e9)),
            st.integers(0, 2),
        ),
        max_size=60,
    ),
    step=st.integers(1, 30),
    bits=st.integers(1, 14),
    narrow=st.booleans(),
)
def test_cells_count_as_rows_do(
    rows: list[tuple[float, int]], step: int, bits: int, *, narrow: bool
) -> None:
    scores = np.array([score for score, _ in rows])
    if narrow:
        scores = np.clip(scores, -1e30, 1e30).astype(np.float32)
    truth = np.array([label for _, label in rows], np.uint8)
    counter = GridCounter(THREE, bits)
    for i in range(0, len(scores), step):
        counter.add(scores[i : i + step], truth[i : i + step])
    expected = ScoreTally.of_rows(THREE, scores, truth, kept=Grid(bits))
    assert counter.done() == expected


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_many_rows_are_counted_into_the_cells_of_rows(kind: type) -> None:
    random = np.random.default_rng(5)
    scores = random.beta(0.05, 0.3, 300_000).astype(kind)
    truth = (random.random(300_000) < 0.1).astype(np.uint8)
    counter = GridCounter(TWO)
    for i in range(0, 300_000, 70_000):
        counter.add(scores[i : i + 70_000], truth[i : i + 70_000])
    assert counter.done() == ScoreTally.of_rows(TWO, scores, truth, kept=Grid())


@pytest.mark.parametrize("bits", [1, 4, 12])
def test_either_half_of_a_label_has_the_cells_of_64_binades_and_that_of_its_end(bits: int) -> None:
    assert GridCounter(THREE, bits).nbytes == 8 * 3 * 2 * (64 * 2**bits + 1)


def test_only_the_frequent_label_has_counters_of_gaps() -> None:
    labels = ("benign", *(f"attack {i}" for i in range(9)))
    cutting = CutPoints("benign", np.linspace(0, 1, 1000))
    counter = CutCounter(labels, cutting)
    assert counter.nbytes == 8 * (len(labels) * 1000 + 1001 + 1000)
    kept = counter.done().kept
    assert isinstance(kept, Cuts)
    assert kept.digest is cutting.digest


def test_rows_without_cuts_lie_in_one_gap() -> None:
    counter = CutCounter(TWO, CutPoints(TWO[0], np.empty(0)))
    counter.add(np.array([0.5, -3.0]), np.array([0, 0]))
    assert counter.done().counts.tolist() == [[2], [0]]


@pytest.mark.parametrize("places", [np.int32, np.int64])
@pytest.mark.parametrize("counters", [np.uint16, np.uint32, np.int64])
def test_one_is_added_for_each_place(places: type, counters: type) -> None:
    held = np.arange(5, dtype=counters)
    add_ones(held, np.array([4, 0, 4, 4, 1], places))
    assert held.tolist() == [1, 2, 2, 3, 7]
    add_ones(held, np.empty(0, places))
    assert held.tolist() == [1, 2, 2, 3, 7]


@pytest.mark.parametrize("place", [-1, 5, -(1 << 31), (1 << 31) - 1])
def test_a_place_without_a_counter_is_refused_before_anything_is_written(place: int) -> None:
    held = np.zeros(5, np.uint16)
    with pytest.raises(IndexError, match="there are 5 counters"):
        add_ones(held, np.array([1, place], np.int32))
    assert not held.any()


def test_cells_of_more_rows_than_small_counters_hold_are_added_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.tally.counters._MOST_ROWS", 3)
    scores = np.array([0.25, 0.75, 0.75, 0.25], np.float32)
    truth = np.array([0, 1, 0, 0], np.uint8)
    counter = GridCounter(TWO)
    for _ in range(3):
        counter.add(scores, truth)
    kept = Grid()
    assert counter.done() == ScoreTally.merge(
        [ScoreTally.of_rows(TWO, scores, truth, kept=kept)] * 3
    )


def test_what_copies_of_a_run_hold_is_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_THREADS", "2")
    scores = np.concatenate(
        [np.linspace(0.5, 1, 1 << 17, endpoint=False), np.full(5 * (1 << 17), 0.75)]
    ).astype(np.float32)
    truth = (np.arange(len(scores)) % 3 == 0).astype(np.uint8)
    counter = PatternCounter(TWO)
    for _ in range(2):
        assert counter.add(scores, truth) == []
    both = [np.tile(column, 2) for column in (scores, truth)]
    assert counter.done() == ScoreTally.of_rows(TWO, *both)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_zero_and_one_have_cells_of_their_own(kind: type) -> None:
    scores = np.array([0.0, 1.0, 1.0, 0.5, 2.0**-60, 1 - 2.0**-20, -0.0], kind)
    truth = np.array([0, 1, 0, 1, 0, 1, 1], np.uint8)
    counter = GridCounter(TWO)
    counter.add(scores, truth)
    assert counter.done() == ScoreTally.of_rows(TWO, scores, truth, kept=Grid())
