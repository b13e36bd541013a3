"""The upper hull of a ROC curve, against qhull and against trying every line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from assay.measures import roc_points, upper_hull

HUGE = 10**30


def brute(x: list[int], y: list[int]) -> list[int]:
    """Points above every line between two others, one on each side; and the ends."""
    kept = []
    for i in range(len(x)):
        above = all(
            (x[b] - x[a]) * (y[i] - y[a]) > (y[b] - y[a]) * (x[i] - x[a])
            for a in range(i)
            for b in range(i + 1, len(x))
        )
        if above:
            kept.append(i)
    return kept


steps = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=24)


def path(moves: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """A rising path of points that are all different, from the origin on."""
    x, y = [0], [0]
    for across, up in moves:
        if across or up:
            x.append(x[-1] + across)
            y.append(y[-1] + up)
    return x, y


@given(moves=steps)
def test_corners_are_above_every_line_between_their_neighbours(
    moves: list[tuple[int, int]],
) -> None:
    x, y = path(moves)
    assert upper_hull(np.array(x), np.array(y)).tolist() == brute(x, y)


@given(moves=steps, scale=st.sampled_from([10**6, 2**31, HUGE]))
def test_whole_numbers_of_any_size_are_compared_exactly(
    moves: list[tuple[int, int]], scale: int
) -> None:
    """A point that lies a single unit above or below a long line is told from it."""
    x, y = path(moves)
    x, y = [scale * a for a in x], [scale * b for b in y]
    for nudge in (0, 1):
        nudged = [b + nudge * (0 < i < len(y) - 1) * (i % 2) for i, b in enumerate(y)]
        # Beyond 64 bits an array holds Python's own numbers.
        kind = object if scale == HUGE else np.int64
        corners = upper_hull(np.array(x, kind), np.array(nudged, kind))
        assert corners.tolist() == brute(x, nudged)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.uint64, np.int64])
def test_narrow_and_unsigned_numbers_do_not_wrap(kind: type) -> None:
    x, y = np.array([0, 1, 2, 200], kind), np.array([0, 100, 90, 250], kind)
    assert upper_hull(x, y).tolist() == [0, 1, 3]


def test_near_the_largest_of_64_bits_nothing_overflows() -> None:
    top = 2**62
    x = np.array([0, top // 2, top // 2 + 1, top], np.int64)
    y = np.array([0, top // 2, top // 2 + 1, top], np.int64)
    assert upper_hull(x, y).tolist() == [0, 3]
    y[1] += 1
    assert upper_hull(x, y).tolist() == [0, 1, 3]


@pytest.mark.parametrize("rows", [200, 3_000, 40_000])
@pytest.mark.parametrize("tied", [False, True])
def test_the_corners_are_those_of_qhull(rows: int, tied: bool) -> None:
    """Also beyond the size from which points are first thinned out."""
    rng = np.random.default_rng(rows)
    truth = rng.random(rows) < 0.3
    scores = rng.normal(size=rows) + truth
    if tied:
        scores = np.round(scores, 3)
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), rows - 1)
    tp = np.append(0, np.cumsum(truth[order])[last])
    fp = np.append(0, np.cumsum(~truth[order])[last])
    corners = upper_hull(fp, tp)
    points = np.vstack([np.column_stack([fp, tp]), [fp[-1], 0]])
    theirs = ConvexHull(points).vertices
    assert corners.tolist() == sorted(i for i in theirs if i < len(tp))


@settings(max_examples=30)
@given(moves=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=30, max_size=80))
def test_thinning_out_and_walking_find_the_same(moves: list[tuple[int, int]]) -> None:
    x, y = (np.array(column) for column in path(moves))
    walked = upper_hull(x, y).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roc_points, "_FEW", 4)
        assert upper_hull(x, y).tolist() == walked


@pytest.mark.parametrize("few", [2, 4096], ids=["thinned out", "walked"])
def test_of_points_that_are_given_twice_the_last_one_is_the_corner(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(roc_points, "_FEW", few)
    x, y = np.array([0, 0, 0, 0, 1, 5, 5]), np.array([0, 0, 3, 3, 4, 4, 4])
    assert upper_hull(x, y).tolist() == [1, 3, 4, 6]


def test_sampling_weights_have_a_hull_too() -> None:
    rng = np.random.default_rng(0)
    x, y = np.cumsum(rng.gamma(1.0, size=300)), np.cumsum(rng.gamma(1.0, size=300))
    corners = upper_hull(x, y)
    slopes = np.diff(y[corners]) / np.diff(x[corners])
    assert np.all(np.diff(slopes) < 0)
    assert np.all(np.interp(x, x[corners], y[corners]) >= y - 1e-9)


@pytest.mark.parametrize("points", [[], [(0, 0)], [(0, 0), (3, 4)]])
def test_few_points_are_all_corners(points: list[tuple[int, int]]) -> None:
    x, y = (np.array([p[i] for p in points], np.int64) for i in (0, 1))
    assert upper_hull(x, y).tolist() == list(range(len(points)))


def test_a_straight_line_has_its_ends_alone() -> None:
    line = np.arange(10_000)
    assert upper_hull(line, line * 3).tolist() == [0, 9_999]


def hull(x: list[float], y: list[float]) -> list[int]:
    return upper_hull(np.array(x), np.array(y)).tolist()


def test_points_that_are_all_alike_have_their_last_one_as_corner() -> None:
    assert hull([0, 0], [0, 0]) == [1]
    assert hull([2, 2, 2], [5, 5, 5]) == [2]


def test_beside_whole_numbers_weights_keep_their_fractions() -> None:
    assert hull([0, 1, 2], [0.0, 0.6, 1.0]) == [0, 1, 2]
    assert hull([0.0, 0.4, 1.0], [0, 1, 2]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0, 1, 2**32 - 1], [0, 2**32 - 2, 2**32 - 1]),
        ([0, 1, 2**62], [0, 3, 4]),
        ([0, 1, 2, 6], [0, 1, 2**62, 2**62 + 1]),
    ],
    ids=["both", "wide", "high"],
)
def test_no_corner_is_lost_where_products_do_not_fit_64_bits(
    x: list[int], y: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    walked = hull(x, y)
    monkeypatch.setattr(roc_points, "_FEW", 2)
    assert hull(x, y) == walked
    assert len(x) - 2 in walked
