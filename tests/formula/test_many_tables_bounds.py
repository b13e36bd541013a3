"""Bounds of formulas over boxes of cells, against the cells one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from assay.formula import (
    FN,
    FP,
    TN,
    TP,
    Bounds,
    Cell,
    Expression,
    bounds,
    bounds_along,
    cells,
    enclosure,
    evaluate,
    of_classes,
    over_two_classes,
    sqrt,
    substitute,
    times_log,
)
from assay.measures import CATALOGUE, Measure

NAMES = ("TP", "FP", "FN", "TN")
Box = dict[str, tuple[int, int]]
Moves = tuple[tuple[str, int], ...]
ALONE: tuple[Moves, ...] = tuple(((name, 1),) for name in NAMES)
OF_FIXED_ROWS: tuple[Moves, ...] = ((("TP", 1), ("FN", -1)), (("FP", 1), ("TN", -1)))


def formulas(measure: Measure) -> Iterator[Expression]:
    """A count measure of either class, averaged over both and of all classes; each once."""
    expressions = []
    if measure.formula is not None:
        other = {"TP": TN, "TN": TP, "FP": FN, "FN": FP}
        expressions += [measure.formula, substitute(measure.formula, other)]
        averages = [of_classes(measure.formula, how) for how in ("macro", "weighted", "micro")]
        expressions += map(over_two_classes, averages)
    if measure.classes is not None:
        expressions.append(over_two_classes(measure.classes))
    return iter(dict.fromkeys(expressions))


COUNTED = [measure for measure in CATALOGUE if measure.formula is not None]
every_measure = pytest.mark.parametrize("measure", COUNTED, ids=lambda measure: measure.name)
large_or_small = pytest.mark.parametrize("large", [0, 10**12], ids=["small cells", "large cells"])


def random_boxes(rng: np.random.Generator, size: int, large: int = 0) -> list[Box]:
    """Small boxes, many of them at the edge; with ``large``, some cells are about so large."""
    boxes = []
    for _ in range(size):
        low = rng.integers(0, 7, 4) * rng.integers(0, 2, 4)
        low = low + large * rng.integers(0, 2, 4)
        width = rng.integers(0, 4, 4)
        pairs = zip(low.tolist(), (low + width).tolist(), strict=True)
        boxes.append(dict(zip(NAMES, pairs, strict=True)))
    return boxes


def assert_enclosed(formula: Expression, limits: Bounds, points: Sequence[Any]) -> None:
    """Hold bounds of boxes against the exact values at points that are extreme by float64."""
    start = 0
    table = np.concatenate([np.array(each) for each in points])
    value = evaluate(formula, dict(zip(NAMES, table.T, strict=True)))
    value = np.broadcast_to(value, len(table))
    for low, high, own in zip(
        *(np.broadcast_to(e, len(points)) for e in limits), points, strict=True
    ):
        here = value[start : start + len(own)]
        start += len(own)
        if np.isnan(here).all():
            continue
        for i in {int(np.nanargmin(here)), int(np.nanargmax(here))}:
            least, most = enclosure(formula, dict(zip(NAMES, own[i], strict=True)))
            assert low <= most, (own[i], low, high)
            assert least <= high, (own[i], low, high)


def stacked(boxes: Sequence[Box]) -> dict[str, tuple[Any, Any]]:
    return {
        name: tuple(np.array([box[name][end] for box in boxes], float) for end in (0, 1))
        for name in NAMES
    }


def points_of(box: Box) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(low, high + 1) for low, high in box.values())))


@pytest.mark.sampled(25)
@every_measure
@large_or_small
def test_bounds_enclose_the_formula_at_every_cell_of_the_box(measure: Measure, large: int) -> None:
    boxes = random_boxes(np.random.default_rng(4), 10, large)
    points = [points_of(box) for box in boxes]
    for formula in formulas(measure):
        limits = bounds(formula, stacked(boxes))
        assert_enclosed(formula, limits, points)
        closer = bounds_along(formula, ALONE, between(boxes, ALONE))
        assert_not_wider(closer, limits)
        assert_enclosed(formula, closer, points)


def between(boxes: Sequence[Box], directions: Sequence[Moves]) -> Any:
    """The ranges of the cells, each moved by at most one direction, where some are set."""
    whole = stacked(boxes)

    def at(ends: Sequence[Any]) -> Mapping[str, Any]:
        counts = dict(whole)
        for moves, end in zip(directions, ends, strict=True):
            if end is None:
                continue
            for name, step in moves:
                low, high = whole[name]
                start, stop = (low, high) if step > 0 else (high, low)
                one, other = np.where(end == 1, stop, start), np.where(end == 0, start, stop)
                counts[name] = np.minimum(one, other), np.maximum(one, other)
        return counts

    return at


def assert_not_wider(closer: Bounds, wide: Bounds) -> None:
    """Where nothing is left at all there is nothing to compare."""
    left = (wide.low <= wide.high) & (closer.low <= closer.high)
    assert np.all((closer.low >= wide.low)[left])
    assert np.all((closer.high <= wide.high)[left])


def boxes_of_fixed_rows(rng: np.random.Generator, size: int, large: int) -> list[Box]:
    documents = []
    for box in random_boxes(rng, size, large):
        hits, alarms = box["TP"], box["FP"]
        positives = hits[1] + int(rng.integers(0, 4)) * (1 + large // 5)
        negatives = alarms[1] + int(rng.integers(0, 4)) * (1 + large // 5)
        documents.append(
            {
                "TP": hits,
                "FP": alarms,
                "FN": (positives - hits[1], positives - hits[0]),
                "TN": (negatives - alarms[1], negatives - alarms[0]),
            }
        )
    return documents


def matrices_of(box: Box) -> list[tuple[int, ...]]:
    """The matrices of fixed rows in a box."""
    positives, negatives = box["TP"][1] + box["FN"][0], box["FP"][1] + box["TN"][0]
    return [
        (tp, fp, positives - tp, negatives - fp)
        for tp in range(box["TP"][0], box["TP"][1] + 1)
        for fp in range(box["FP"][0], box["FP"][1] + 1)
    ]


@pytest.mark.sampled(12)
@every_measure
@large_or_small
def test_bounds_along_fixed_rows_enclose_every_matrix_and_are_never_wider(
    measure: Measure, large: int
) -> None:
    boxes = boxes_of_fixed_rows(np.random.default_rng(7), 14, large)
    points = [matrices_of(box) for box in boxes]
    for formula in formulas(measure):
        limits = bounds_along(formula, OF_FIXED_ROWS, between(boxes, OF_FIXED_ROWS))
        assert_not_wider(limits, bounds(formula, stacked(boxes)))
        assert_enclosed(formula, limits, points)


@every_measure
def test_bounds_of_a_single_matrix_are_its_value(measure: Measure) -> None:
    matrix = {"TP": 6635, "FP": 167, "FN": 324, "TN": 7743}
    for formula in formulas(measure):
        limits = bounds(formula, {name: (count, count) for name, count in matrix.items()})
        low, high = enclosure(formula, matrix)
        assert limits.low <= low <= high <= limits.high
        assert limits.high - limits.low <= 1e-12 * max(1.0, abs(float(high)))


def test_a_formula_that_moves_one_way_is_bounded_by_its_values_at_the_ends() -> None:
    box = {"TP": (6000, 6959), "FP": (100, 200), "FN": (0, 959), "TN": (7710, 7810)}
    limits = bounds_along(TP / (TP + FN), OF_FIXED_ROWS, between([box], OF_FIXED_ROWS))
    assert limits.low[0] == pytest.approx(6000 / 6959, abs=1e-12)
    assert limits.high[0] == pytest.approx(1, abs=1e-12)


def test_where_the_denominator_must_be_zero_no_value_is_left() -> None:
    limits = bounds(TP / (TP + FP), {"TP": ([0.0], [0.0]), "FP": ([0.0], [0.0])})
    assert np.isnan(limits.low[0])
    assert np.isnan(limits.high[0])


def test_where_the_denominator_may_be_zero_one_side_has_no_end() -> None:
    ranges = {"TP": ([2.0, -2.0], [3.0, -1.0]), "FP": ([0.0, 0.0], [4.0, 4.0])}
    limits = bounds(TP / FP, ranges)
    assert limits.low == pytest.approx([0.5, -np.inf])
    assert limits.high == pytest.approx([np.inf, -0.25])


def test_a_small_ratio_of_negatives_has_no_end_where_the_denominator_may_be_zero() -> None:
    limits = bounds(TP / FP, {"TP": ([-0.5], [-0.25]), "FP": ([-2.0], [0.0])})
    assert limits.low == pytest.approx([0.125])
    assert limits.high == np.inf


def test_a_value_that_is_undefined_at_one_end_of_a_direction_does_not_hide_the_others() -> None:
    # Without false alarms the ratio is undefined; with one it is the largest there is.
    span = between([{"TP": (5, 5), "FP": (0, 3), "FN": (2, 2), "TN": (7, 10)}], OF_FIXED_ROWS)
    limits = bounds_along(TP / FP, OF_FIXED_ROWS, span)
    assert limits.low[0] <= 5 / 3
    assert limits.high[0] >= 5


LOGARITHMS = {
    "of a cell": times_log(TP, FP + 1),
    "of a share": times_log(TP, TP / (TP + FP)),
    "of less than one": times_log(TP - FN, FP / (FP + TN)),
    "of a difference": times_log(FP, TP - FN),
    "over a sum": times_log(TP, TN + 2) / (FP + FN + 1),
}


@pytest.mark.parametrize("formula", LOGARITHMS.values(), ids=LOGARITHMS)
@large_or_small
def test_bounds_of_logarithms_enclose_every_value_that_there_is(
    formula: Expression, large: int
) -> None:
    boxes = random_boxes(np.random.default_rng(11), 40, large)
    points = []
    for box in boxes:
        every = points_of(box)
        value = evaluate(formula, dict(zip(NAMES, np.array(every).T, strict=True)))
        # The exact evaluator has no logarithm of 0.
        points.append([point for point, v in zip(every, value, strict=True) if np.isfinite(v)])
    kept = [i for i, own in enumerate(points) if own]
    assert len(kept) > 20
    boxes, points = [boxes[i] for i in kept], [points[i] for i in kept]
    assert_enclosed(formula, bounds(formula, stacked(boxes)), points)
    assert_enclosed(formula, bounds_along(formula, ALONE, between(boxes, ALONE)), points)


def test_bounds_of_a_logarithm_are_as_close_as_its_ends() -> None:
    ranges = {"TP": ([1.0, -2.0, 0.0], [3.0, 4.0, 0.0]), "FP": ([2.0, 0.5, 0.0], [5.0, 4.0, 9.0])}
    limits = bounds(times_log(TP, FP), ranges)
    log = np.log
    assert limits.low == pytest.approx([log(2), -4 * log(2), 0], rel=1e-12)
    assert limits.high == pytest.approx([3 * log(5), 8 * log(2), 0], rel=1e-12)


def test_where_the_argument_may_be_nothing_a_logarithm_has_no_end() -> None:
    limits = bounds(times_log(TP, FP), {"TP": ([0.0], [1.0]), "FP": ([0.0], [1.0])})
    assert (limits.low[0], limits.high[0]) == (-np.inf, np.inf)


def test_the_same_part_in_a_sum_and_a_product_is_bounded_once() -> None:
    x = Cell("x")
    limits = bounds(x * x + x + sqrt(x), {"x": (np.array([1.0, 4.0]), np.array([4.0, 9.0]))})
    assert np.all(limits.low <= [3, 22])
    assert np.all(limits.high >= [22, 93])
    assert cells(x * x + x) == {"x"}
