"""The kernel of exact scores, the small one, and counting by hand: always the same table."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.counts import kernel
from assay.counts.kernel import Rows, Table, count_scores
from assay.counts.small import count_few

VALUES = [0.0, -0.0, 5e-324, 1e-40, 0.25, 0.5, 1.0, 1.9, 2.0, 3e30, -1.0, -5e-324, -0.5, -3e30]


@st.composite
def parts(draw: Any) -> tuple[list[Rows], int, int]:
    labels = draw(st.sampled_from([1, 2, 3, 5, 17, 300]))
    segments = draw(st.sampled_from([1, 3, 40]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    values = np.concatenate([VALUES, random.normal(size=4), random.random(6)])
    least, most = draw(st.sampled_from([(-np.inf, np.inf), (0, np.inf), (0, 1), (-1, -0.0)]))
    rows = []
    for size in draw(st.lists(st.integers(1, 120), min_size=1, max_size=3)):
        scores = np.clip(random.choice(values, size), least, most).astype(dtype)
        codes = random.integers(0, labels, size).astype(np.min_scalar_type(labels))
        places = random.integers(0, segments, size).astype(np.uint8) if segments > 1 else None
        rows.append(Rows(scores, codes, places))
    return rows, labels, segments


def by_hand(rows: list[Rows]) -> dict[Any, int]:
    seen: Counter[Any] = Counter()
    for part in rows:
        segments = np.zeros(len(part.scores)) if part.segments is None else part.segments
        scores = part.scores.astype(float) + 0.0
        seen.update(zip(segments.tolist(), scores.tolist(), part.labels.tolist(), strict=True))
    return dict(sorted(seen.items()))


def listed(table: Table) -> dict[Any, int]:
    columns = table.segments, table.scores.astype(float), table.labels
    keys = zip(*(column.tolist() for column in columns), strict=True)
    return dict(zip(keys, table.counts.tolist(), strict=True))


@settings(max_examples=150)
@given(parts(), st.sampled_from([1, 7, 1 << 20]), st.booleans())
def test_the_kernel_and_the_small_one_count_as_by_hand(
    given_: tuple[list[Rows], int, int], rows_of_a_range: int, fast: bool
) -> None:
    rows, labels, segments = given_
    expected = by_hand(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_RANGE", rows_of_a_range)
        patch.setattr(kernel, "_LARGE", 5)
        patch.setattr(kernel, "_numpy_is_fast", lambda: fast)
        tables = count_scores(list(rows), labels, segments), count_few(list(rows), labels, segments)
    for table in tables:
        assert list(listed(table).items()) == list(expected.items())
        assert table.scores.dtype == rows[0].scores.dtype
        assert not np.signbit(table.scores[table.scores == 0]).any()
    assert tables[0].counts.dtype == tables[1].counts.dtype


def test_parts_of_both_widths_are_counted_together() -> None:
    narrow, wide = np.array([0.5, 0.1], np.float32), np.array([0.5, 0.1])
    codes = np.zeros(2, np.uint8)
    for count in (count_scores, count_few):
        table = count([Rows(narrow, codes), Rows(wide, codes)], 1)
        assert table.scores.tolist() == [0.1, float(np.float32(0.1)), 0.5]
        assert table.counts.tolist() == [1, 1, 2]


@pytest.mark.parametrize("distinct", [1000, 10**7])
def test_rows_of_many_blocks_are_counted(distinct: int) -> None:
    random = np.random.default_rng(2)
    size = 300_000
    scores = random.integers(-distinct, distinct, size) / distinct
    codes, segments = (random.integers(0, n, size).astype(np.uint8) for n in (2, 12))
    for places, count in ((None, 1), (segments, 12)):
        rows = [Rows(scores, codes, places)]
        large, small = count_scores(list(rows), 2, count), count_few(list(rows), 2, count)
        for one, other in zip(large, small, strict=True):
            assert np.array_equal(one, other)
