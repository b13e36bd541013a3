"""Counts in sliding windows are those that a slow and plain look back gives."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.learn.scenarios.windows import TimeWindow, distinct, last_before

WIDTH = 10
# Key, item and time; steps of 0 and of just the width are the ones that go wrong.
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([0, 1, 4, 9, 10, 11, 30])),
    max_size=40,
)


def arrays(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    keys, items, steps = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    return keys, items, 1000 + np.cumsum(steps)


def windows(keys: np.ndarray, times: np.ndarray) -> Iterator[list[int]]:
    """The rows of each row's window, the last one being the row itself."""
    for row, (key, time) in enumerate(zip(keys, times, strict=True)):
        yield [
            other for other in range(row + 1) if keys[other] == key and times[other] > time - WIDTH
        ]


@given(ROWS.filter(bool))
def test_every_count_is_that_of_a_plain_look_back(rows: list[tuple[int, int, int]]) -> None:
    keys, items, times = arrays(rows)
    window = TimeWindow(keys, times, WIDTH)
    entries = zip(
        windows(keys, times),
        window.counts(),
        window.sums(items),
        window.since(),
        window.changes(items),
        distinct(keys, items, times, WIDTH),
        strict=True,
    )
    for inside, count, total, since, changes, different in entries:
        row = inside[-1]
        assert count == len(inside)
        assert total == sum(items[inside])
        assert since == (times[row] - times[inside[-2]] if len(inside) > 1 else -1)
        assert changes == sum(a != b for a, b in pairwise(items[inside]))
        assert different == len(set(items[inside].tolist()))


@given(ROWS.filter(bool), ROWS.filter(bool))
def test_the_last_row_of_a_key_is_found(
    rows: list[tuple[int, int, int]], asked: list[tuple[int, int, int]]
) -> None:
    keys, _, times = arrays(rows)
    wanted, _, when = arrays(asked)
    for key, time, gap in zip(
        wanted, when, last_before(keys, times, wanted, when, WIDTH), strict=True
    ):
        before = times[(keys == key) & (times < time) & (times > time - WIDTH)]
        assert gap == (time - before.max() if len(before) else -1)


def test_no_rows_give_no_counts() -> None:
    nothing = np.empty(0, np.int64)
    assert len(TimeWindow(nothing, nothing, WIDTH).counts()) == 0
    assert len(distinct(nothing, nothing, nothing, WIDTH)) == 0
    assert last_before(nothing, nothing, np.ones(1, int), np.ones(1, int), WIDTH).tolist() == [-1]
