"""The convex hull of a ROC curve, against brute force, scipy and ROCR."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from assay.counts import ScoreCounts
from assay.counts.blocks import map_blocks
from assay.errors import MethodError
from assay.measures import curves, upper_hull
from assay.measures.curves import hull, probability_cost, sweep, vertices

CASES = json.loads((Path(__file__).parent.parent / "oracles" / "r" / "curves.json").read_text())[
    "cases"
]
Rows = list[tuple[int, int]]
BOTH = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def tally_of(rows: Rows) -> ScoreCounts:
    truth, scores = np.array([t for t, _ in rows]), np.array([s for _, s in rows], float)
    return ScoreCounts.of_rows(("no", "yes"), scores, truth)


def large(size: int, seed: int = 3) -> ScoreCounts:
    random = np.random.default_rng(seed)
    truth = (random.random(size) < 0.2).astype(int)
    return ScoreCounts.of_rows(("no", "yes"), random.normal(truth * 1.2, 1.0), truth)


@given(BOTH)
def test_vertices_are_the_points_that_no_two_others_hold_up(rows: Rows) -> None:
    full = sweep(tally_of(rows), points=None)
    points = list(zip(map(int, full.fp), map(int, full.tp), strict=True))

    def held_up(i: int) -> bool:
        (bx, by), last = points[i], len(points)
        return any(
            (cx - ax) * (by - ay) <= (cy - ay) * (bx - ax)
            for ax, ay in points[:i]
            for cx, cy in points[i + 1 : last]
        )

    strict = [point for i, point in enumerate(points) if not held_up(i)]
    corners = vertices(tally_of(rows))
    assert list(zip(map(int, corners.fp), map(int, corners.tp), strict=True)) == strict


@given(BOTH)
def test_at_every_cost_the_best_threshold_is_a_vertex(rows: Rows) -> None:
    full, corners = sweep(tally_of(rows), points=None), vertices(tally_of(rows))
    p, n = int(full.positives), int(full.negatives)

    def least(swept, pc: Fraction) -> Fraction:
        return min(
            Fraction(p - int(tp), p) * pc + Fraction(int(fp), n) * (1 - pc)
            for tp, fp in zip(swept.tp, swept.fp, strict=True)
        )

    for i in range(33):
        assert least(full, Fraction(i, 32)) == least(corners, Fraction(i, 32))


@given(BOTH)
def test_each_vertex_is_the_best_exactly_in_its_range(rows: Rows) -> None:
    curve = hull(vertices(tally_of(rows)))
    assert curve["pc_low"][0] == 0
    assert curve["pc_high"][-1] == 1
    assert curve["pc_low"][1:].tolist() == curve["pc_high"][:-1].tolist()
    assert all(a <= b for a, b in zip(curve["pc_low"], curve["pc_high"], strict=True))
    fpr, fnr = curve["false_positive_rate"], 1 - curve["recall"]
    for i in range(len(curve)):
        pc = (curve["pc_low"][i] + curve["pc_high"][i]) / 2
        assert fnr[i] * pc + fpr[i] * (1 - pc) <= (fnr * pc + fpr * (1 - pc)).min() + 1e-12
    with np.errstate(divide="ignore"):
        assert np.allclose(1 / (1 + curve["slope_low"]), curve["pc_high"])


@pytest.mark.parametrize("size", [50, 2000, 200_000])
def test_hull_is_that_of_scipy(size: int) -> None:
    tally = large(size)
    full, envelope = sweep(tally, points=None), vertices(tally)
    points = np.column_stack([full.fp / full.negatives, full.tp / full.positives])
    ours = np.column_stack([envelope.fp / envelope.negatives, envelope.tp / envelope.positives])
    # The lower right corner closes the upper hull.
    theirs = ConvexHull(np.vstack([points, [1.0, 0.0]]))
    corners = theirs.points[theirs.vertices]
    area = np.sum(np.diff(ours[:, 0]) * (ours[1:, 1] + ours[:-1, 1]) / 2)
    assert area == pytest.approx(theirs.volume, abs=1e-12)
    assert {tuple(p) for p in corners} - {(1.0, 0.0)} <= {tuple(p) for p in ours}


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_hull_and_breakpoints_are_those_of_rocr(case) -> None:
    tally = ScoreCounts.of_rows(("no", "yes"), np.array(case["score"]), np.array(case["truth"]))
    curve = hull(vertices(tally))
    theirs = np.column_stack([case["hull"]["x"], case["hull"]["y"]])
    ours = np.column_stack([curve["false_positive_rate"], curve["recall"]])
    # ROCR keeps points on an edge; ours are the corners.
    assert {tuple(p.round(9)) for p in ours} <= {tuple(p.round(9)) for p in theirs}
    assert np.allclose(np.interp(theirs[1:, 0], *ours[1:].T), theirs[1:, 1])
    pc = np.array(case["cost"]["x"])
    cost = [(1 - curve["recall"]) * x + curve["false_positive_rate"] * (1 - x) for x in pc]
    assert np.allclose(np.min(cost, axis=1), case["cost"]["y"])
    inner = curve["pc_high"][(curve["pc_high"] > 0) & (curve["pc_high"] < 1)]
    assert {round(float(x), 9) for x in inner} <= {round(float(x), 9) for x in pc}


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_do_not_change_a_hull(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    tally = large(500)
    whole = vertices(tally)
    monkeypatch.setattr(curves, "BLOCK", block)
    monkeypatch.setattr(curves, "map_blocks", partial(map_blocks, block=block))
    parts = vertices(tally)
    assert parts.threshold.tolist() == whole.threshold.tolist()
    assert parts.tp.tolist() == whole.tp.tolist()


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.integers(600, 3000))
def test_pruning_many_points_at_once_leaves_the_same_vertices(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    x = np.cumsum(random.integers(0, 3, size))
    y = np.cumsum(random.integers(0, 3, size) * (random.random(size) < np.linspace(1, 0, size)))
    chain: list[int] = []
    for i in range(size):
        if chain and (x[i], y[i]) == (x[chain[-1]], y[chain[-1]]):
            continue
        while len(chain) > 1:
            a, b = chain[-2:]
            if (x[i] - x[a]) * (y[b] - y[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                break
            chain.pop()
        chain.append(i)
    corners = upper_hull(x, y)
    assert (x[corners].tolist(), y[corners].tolist()) == (x[chain].tolist(), y[chain].tolist())


def test_products_beyond_64_bits_are_exact() -> None:
    big = 3 * 10**9
    counts = np.array([[big, 1, big], [big + 1, big, 2]], np.uint64)
    tally = ScoreCounts(("no", "yes"), np.array([0.1, 0.5, 0.9]), counts)
    corners = vertices(tally)
    n, p = 2 * big + 1, 2 * big + 3
    points = [(0, 0), (big, 2), (big + 1, big + 2), (n, p)]
    across, up = (np.array(part, object) for part in zip(*points, strict=True))
    expected = [points[i] for i in upper_hull(across, up)]
    assert list(zip(map(int, corners.fp), map(int, corners.tp), strict=True)) == expected
    assert n * p > 2**63


def test_weights_have_a_hull_too() -> None:
    scores, truth = np.array([0.9, 0.6, 0.4, 0.2]), np.array([1, 0, 1, 0])
    weights = np.array([1.5, 0.5, 2.0, 1.0])
    corners = vertices(ScoreCounts.of_rows(("no", "yes"), scores, truth, weights=weights))
    assert corners.weighted
    assert corners.tp.tolist() == pytest.approx([0, 1.5, 3.5, 3.5])
    assert corners.fp.tolist() == pytest.approx([0, 0, 0.5, 1.5])


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_has_no_hull(label: int) -> None:
    curve = hull(vertices(tally_of([(label, 1), (label, 3)])))
    assert len(curve) == 0
    assert all(len(column) == 0 for column in (*curve.columns.values(), *curve.cells.values()))


def test_thresholds_fall_along_the_hull() -> None:
    corners = vertices(large(5000))
    assert corners.threshold[0] == math.inf
    assert all(a > b for a, b in pairwise(corners.threshold))


def test_probability_cost_is_drummond_and_holtes() -> None:
    assert probability_cost(0.5) == 0.5
    assert probability_cost(0.001, cost_fn=999) == pytest.approx(0.5)
    assert probability_cost(0.2, 3, 2) == pytest.approx(0.2 * 3 / (0.2 * 3 + 0.8 * 2))


@pytest.mark.parametrize(
    ("given", "match"),
    [((1.5,), "base rate"), ((0.1, -1), "costs"), ((0.0, 1, 0), "no error costs")],
)
def test_odd_costs_are_refused(given: tuple[float, ...], match: str) -> None:
    with pytest.raises(MethodError, match=match):
        probability_cost(*given)
