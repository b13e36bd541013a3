"""The delta method by examples: each scale, each kind of empty cell, each tolerance."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special, stats

from assay.counts import ClusterCounts, Confusion
from assay.formula import of_classes
from assay.inference import Quantity
from assay.inference.delta import (
    _at_edge,
    _gradient,
    _variance_of_two,
    cluster_interval,
    interval,
    on_arcsine,
    on_scale,
    variance,
)
from assay.measures import find

Z = float(stats.norm.ppf(0.975))
UNIT, SIGNED = (0.0, 1.0), (-1.0, 1.0)
MCC = Quantity(find("mcc").formula, label=1)
C_ID = Quantity(find("c_id").formula, label=1)
KAPPA = Quantity(find("kappa").classes)


@dataclass
class Fixed:
    """A formula whose slopes are given."""

    given: tuple[float, ...]

    def slopes(self, table: object) -> tuple[float, ...]:
        return self.given

    def gradient(self, table: object) -> np.ndarray:
        return np.array(self.given).reshape(3, 3)


def counts(cells: np.ndarray, squares: np.ndarray | None = None) -> Confusion:
    labels = tuple("abc"[: len(cells)])
    weights = None if squares is None else tuple(map(tuple, squares.tolist()))
    return Confusion(labels, tuple(map(tuple, cells.tolist())), weights)


def spread(quantity: Quantity, table: np.ndarray, squares: np.ndarray) -> float:
    return float((squares * quantity.gradient(table) ** 2).sum())


# -- scales ----------------------------------------------------------------------------------------


def test_range_that_is_not_the_unit_one_has_the_logit_of_the_share_of_its_width() -> None:
    # A quarter of the way from 2 to 6; errors of 0.5 are 0.5 * 4 / (1 * 3) on the scale.
    low, high = on_scale(3.0, 0.25, (2.0, 6.0), 1.5)
    centre = special.logit(0.25)
    assert low == pytest.approx(2 + 4 * special.expit(centre - 1), rel=1e-12)
    assert high == pytest.approx(2 + 4 * special.expit(centre + 1), rel=1e-12)


def test_range_from_two_on_has_the_logarithm_of_what_is_above_two() -> None:
    low, high = on_scale(5.0, 4.0, (2.0, math.inf), 1.5)
    assert (low, high) == pytest.approx((2 + 3 / math.e, 2 + 3 * math.e), rel=1e-12)


def test_range_up_to_two_has_the_logarithm_of_what_is_missing() -> None:
    low, high = on_scale(-1.0, 4.0, (-math.inf, 2.0), 1.5)
    assert (low, high) == pytest.approx((2 - 3 * math.e, 2 - 3 / math.e), rel=1e-12)


def test_share_too_small_to_be_told_from_its_bound_has_no_width() -> None:
    least = math.ulp(0.0)
    assert on_scale(least, 1.0, (0.0, 10.0), Z) == (least, least)


@pytest.mark.parametrize("value", [2.0, 6.0, 1.0, 7.0])
def test_value_on_a_bound_or_beyond_it_has_no_width(value: float) -> None:
    assert on_scale(value, 1.0, (2.0, 6.0), Z) == (value, value)


def test_value_on_the_one_bound_of_its_range_has_no_width() -> None:
    assert on_scale(2.0, 1.0, (2.0, math.inf), Z) == (2.0, 2.0)
    assert on_scale(2.0, 1.0, (-math.inf, 2.0), Z) == (2.0, 2.0)


def test_range_without_ends_has_no_scale() -> None:
    assert on_scale(3.0, 4.0, (-math.inf, math.inf), 1.5) == (0.0, 6.0)


def test_no_spread_has_no_width_and_a_large_one_has() -> None:
    assert on_scale(3.0, 0.0, (2.0, math.inf), Z) == (3.0, 3.0)
    low, high = on_scale(3.0, 1.0, (2.0, math.inf), 1.0)
    assert (low, high) == pytest.approx((2 + 1 / math.e, 2 + math.e), rel=1e-12)


def test_angles_end_at_none_and_at_a_right_one() -> None:
    # The angle of one half is pi / 4; an error of the root of 1/16 by half of it is reach / 4.
    low, high = on_arcsine(0.5, 1 / 16, 1.0)
    assert low == pytest.approx(math.sin(math.pi / 4 - 0.25) ** 2, rel=1e-12)
    assert high == pytest.approx(math.sin(math.pi / 4 + 0.25) ** 2, rel=1e-12)
    assert on_arcsine(0.5, 100.0, 1.0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "bounds", "slack", "expected"),
    [
        (0.125, (0.0, 1.0), 0.125, True),
        (0.126, (0.0, 1.0), 0.125, False),
        (0.875, (0.0, 1.0), 0.125, True),
        (0.874, (0.0, 1.0), 0.125, False),
        (2.0, (2.0, 6.0), 0.0, True),
        (6.0, (2.0, 6.0), 0.0, True),
        (4.0, (2.0, 6.0), 0.0, False),
    ],
)
def test_value_within_the_slack_of_a_bound_is_at_the_edge(value, bounds, slack, expected) -> None:
    assert _at_edge(value, bounds, slack) is expected


# -- variances -------------------------------------------------------------------------------------

# Eight rows; a slope that moves the value by 1e-13 if all of them were of its cell.
EIGHT = [[1.0, 1.0], [2.0, 4.0]]
LEAST = 1e-13 / 8


def test_slope_that_moves_a_value_by_rounding_is_none() -> None:
    squares = [[2.0, 3.0], [5.0, 7.0]]
    under = math.nextafter(LEAST, 0)
    pair_variance = _variance_of_two(Fixed((LEAST, under, 0.0, under)), EIGHT, squares)
    assert pair_variance == 2 * LEAST**2
    pair_variance = _variance_of_two(Fixed((under, -LEAST, -LEAST, -under)), EIGHT, squares)
    assert pair_variance == pytest.approx(8 * LEAST**2, rel=1e-15)


def test_variance_of_two_classes_sums_squares_by_slopes() -> None:
    pair_variance = _variance_of_two(
        Fixed((1.0, 2.0, 3.0, math.nan)), EIGHT, [[2.0, 3.0], [5.0, 7.0]]
    )
    assert pair_variance == 2 + 12 + 45


@pytest.mark.parametrize("slope", [math.inf, -math.inf])
def test_slope_without_end_has_a_variance_without_end(slope: float) -> None:
    assert _variance_of_two(Fixed((0.0, slope, 0.0, math.nan)), EIGHT, EIGHT) == math.inf


def test_variance_of_more_classes_leaves_out_rounding_and_what_is_undefined() -> None:
    table = np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    under = math.nextafter(LEAST, 0)
    given = (1.0, LEAST, under, -LEAST, -under, 0.0, math.nan, -3.0, 0.0)
    values = _gradient(Fixed(given), table)
    assert values.ravel().tolist() == [1.0, LEAST, 0, -LEAST, 0, 0, 0, -3.0, 0]
    squares = np.arange(9.0).reshape(3, 3) + 1
    assert variance(Fixed(given), table, squares) == pytest.approx(1 + 8 * 9, rel=1e-12)


# -- empty cells, and values at an edge ------------------------------------------------------------


def test_half_a_row_of_the_mean_weight_is_added_to_each_cell() -> None:
    # Sums of squares by sums of weights: 32 / 16 = 2.
    table = np.array([[8.0, 0.0], [4.0, 4.0]])
    squares = np.array([[18.0, 0.0], [6.0, 8.0]])
    more, squares_more = table + 1, squares + 2
    centre = float(MCC.of_tables(more))
    expected = on_scale(centre, spread(MCC, more, squares_more), SIGNED, Z)
    value = MCC.value(counts(table, squares))
    assert expected[0] < value < expected[1]
    assert interval(MCC, counts(table, squares), SIGNED, 0.95) == pytest.approx(expected, rel=1e-12)


def test_value_that_is_known_is_not_computed_again() -> None:
    table = np.array([[8.0, 2.0], [4.0, 4.0]])
    expected = on_scale(0.25, spread(MCC, table, table), SIGNED, Z)
    bounds = interval(MCC, counts(table.astype(int)), SIGNED, 0.95, value=0.25)
    assert bounds == pytest.approx(expected, rel=1e-12)


def test_value_at_an_edge_moves_in_though_no_cell_is_empty() -> None:
    # Decisions that have nothing to do with the truth: the intrusion detection capability is 0.
    table = np.array([[6.0, 2.0], [3.0, 1.0]])
    more = table + 0.5
    centre = float(C_ID.of_tables(more))
    high = on_scale(centre, spread(C_ID, more, more), UNIT, Z)[1]
    assert interval(C_ID, counts(table.astype(int)), UNIT, 0.95) == pytest.approx((0, high))
    assert centre > 0


def test_value_that_no_row_moves_is_smoothed_though_it_is_at_no_edge() -> None:
    table = np.array([[6.0, 2.0], [3.0, 1.0]])
    more = table + 0.5
    centre = float(C_ID.of_tables(more))
    low, high = on_scale(centre, spread(C_ID, more, more), SIGNED, Z)
    bounds = interval(C_ID, counts(table.astype(int)), SIGNED, 0.95)
    assert bounds == pytest.approx((min(low, 0), high), rel=1e-12)


def test_classes_that_are_left_out_of_a_perfect_average_get_nothing() -> None:
    table = np.array([[4, 0, 0], [0, 5, 0], [1, 2, 3]])
    more = table + np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0, 0, 0]])
    recall = Quantity(of_classes(find("recall").formula, "macro"), classes=(0, 1))
    low = on_scale(float(recall.of_tables(more)), spread(recall, more, more), UNIT, Z)[0]
    bounds = interval(recall, counts(table), UNIT, 0.95)
    assert bounds == (pytest.approx(low, rel=1e-12), 1.0)


def test_decisions_that_tell_nothing_get_half_a_row_more_on_the_right_side() -> None:
    table = np.array([[6, 2], [3, 1]])
    more = table + np.diag([0.5, 0.5])
    high = on_arcsine(float(C_ID.of_tables(more)), spread(C_ID, more, more), Z)[1]
    bounds = interval(C_ID, counts(table), UNIT, 0.95, touching=True)
    assert bounds == (0.0, pytest.approx(high, rel=1e-12))


def test_value_of_all_classes_at_an_edge_moves_in() -> None:
    table = np.diag([4, 5])
    # Half a hit and half an error a class, by its row and by its column.
    more = table + np.array([[0.5, 1.0], [1.0, 0.5]])
    low = on_scale(float(KAPPA.of_tables(more)), spread(KAPPA, more, more), SIGNED, Z)[0]
    bounds = interval(KAPPA, counts(table), SIGNED, 0.95)
    assert bounds == (pytest.approx(low, rel=1e-12), 1.0)


@pytest.mark.parametrize(("off", "moved"), [(5e-13, True), (5e-12, False)])
def test_sums_of_weights_are_at_an_edge_where_they_miss_it_by_rounding(off, moved) -> None:
    table = np.array([[8.0, 2.0], [4.0, 4.0]])
    squares = 2 * table
    value = 1 - off
    bounds = interval(MCC, counts(table, squares), SIGNED, 0.95, value=value)
    if moved:
        more, squares_more = table + 1, squares + 2
        low, high = on_scale(float(MCC.of_tables(more)), spread(MCC, more, squares_more), SIGNED, Z)
        assert bounds == pytest.approx((low, max(high, value)), rel=1e-9)
    else:
        assert bounds == pytest.approx(
            on_scale(value, spread(MCC, table, squares), SIGNED, Z), rel=1e-9
        )


def test_counts_are_at_an_edge_only_where_they_are_on_it() -> None:
    table = np.array([[8, 2], [4, 4]])
    value = 1 - 1e-14
    expected = on_scale(value, spread(MCC, table * 1.0, table * 1.0), SIGNED, Z)
    assert interval(MCC, counts(table), SIGNED, 0.95, value=value) == pytest.approx(expected)


def test_touching_measure_with_an_empty_cell_keeps_to_its_scale_of_angles() -> None:
    table = np.array([[6, 0], [3, 5]])
    more = table + 0.5
    centre = float(C_ID.of_tables(more))
    low, high = on_arcsine(centre, spread(C_ID, more, more), Z)
    value = C_ID.value(counts(table))
    bounds = interval(C_ID, counts(table), UNIT, 0.95, touching=True)
    assert bounds == pytest.approx((min(low, value), max(high, value)), rel=1e-12)


# -- clusters --------------------------------------------------------------------------------------


def clusters(cells: list[list[list[int]]]) -> ClusterCounts:
    rows = []
    for name, table in enumerate(cells):
        for truth, of_truth in enumerate(table):
            for decision, count in enumerate(of_truth):
                rows += [(truth, decision, name)] * count
    truth, decision, cluster = np.array(rows).T
    return ClusterCounts.of_rows(
        ("no", "yes"), truth, decision, cluster, list("pqrstuv"[: name + 1])
    )


def test_clusters_by_hand() -> None:
    cells = np.array([[[5, 1], [2, 3]], [[1, 4], [0, 2]], [[9, 0], [3, 1]]])
    table = cells.sum(axis=0).astype(float)
    gradient = MCC.gradient(table)
    moved = [float((one * gradient).sum()) for one in cells]
    variance = sum(move**2 for move in moved) * 3 / 2
    value = float(MCC.of_tables(table))
    expected = on_scale(value, variance, SIGNED, float(stats.t.ppf(0.95, 2)))
    bounds = cluster_interval(MCC, clusters(cells.tolist()), SIGNED, 0.9)
    assert bounds == pytest.approx(expected, rel=1e-9)


RECALL, INFORMEDNESS, PRECISION, ACCURACY = (
    Quantity(find(name).formula, label=1)
    for name in ("recall", "informedness", "precision", "accuracy")
)


def test_clusters_without_rows_of_a_measure_tell_nothing_of_it() -> None:
    with_attacks = [[[5, 1], [2, 3]], [[1, 4], [1, 2]], [[9, 0], [3, 1]]]
    without = [[[7, 2], [0, 0]]] * 40
    alone = cluster_interval(RECALL, clusters(with_attacks), UNIT, 0.95)
    assert alone is not None
    assert cluster_interval(RECALL, many_clusters(with_attacks + without), UNIT, 0.95) == (
        pytest.approx(alone)
    )
    # Only flagged rows tell of precision.
    quiet = [[[7, 0], [2, 0]]] * 40
    alone = cluster_interval(PRECISION, clusters(with_attacks), UNIT, 0.95)
    assert alone is not None
    assert cluster_interval(PRECISION, many_clusters(with_attacks + quiet), UNIT, 0.95) == (
        pytest.approx(alone)
    )


def test_classes_of_unlike_clusters_have_satterthwaites_degrees() -> None:
    cells = np.array(
        [[[0, 0], [2, 3]], [[0, 0], [4, 2]], [[8, 1], [0, 0]], [[7, 3], [0, 0]], [[9, 0], [0, 0]]]
    )
    table = cells.sum(axis=0).astype(float)
    gradient = INFORMEDNESS.gradient(table)
    moved = np.einsum("cij,ij->ic", cells, gradient)
    negatives, positives = (moved[0] ** 2).sum() * 3 / 2, (moved[1] ** 2).sum() * 2
    df = (positives + negatives) ** 2 / (positives**2 / 1 + negatives**2 / 2)
    value, reach = float(INFORMEDNESS.of_tables(table)), float(stats.t.ppf(0.975, df))
    expected = on_scale(value, positives + negatives, SIGNED, reach)
    bounds = cluster_interval(INFORMEDNESS, many_clusters(cells.tolist()), SIGNED, 0.95)
    assert bounds == pytest.approx(expected)
    assert 1 < df < 2


@pytest.mark.parametrize(
    ("quantity", "told"),
    [(RECALL, False), (INFORMEDNESS, False), (PRECISION, True), (ACCURACY, True), (MCC, True)],
)
def test_a_class_of_one_cluster_tells_nothing_of_its_spread(quantity: Quantity, told: bool) -> None:
    cells = [[[0, 0], [9, 31]], *([[[36, 4], [0, 0]], [[35, 5], [0, 0]]] * 5)]
    assert (cluster_interval(quantity, many_clusters(cells), SIGNED, 0.95) is not None) is told


def many_clusters(cells: list[list[list[int]]]) -> ClusterCounts:
    names = tuple(f"{i:03}" for i in range(len(cells)))
    return ClusterCounts(("no", "yes"), names, np.array(cells))


def smoothed_clusters(cells: np.ndarray, level: float) -> tuple[float, float]:
    """Half an average cluster more, whose parts are clusters too."""
    table = cells.sum(axis=0).astype(float)
    count = len(cells)
    part = table.sum() / count / 8
    gradient = MCC.gradient(table + part)
    variance = sum(float((one * gradient).sum()) ** 2 for one in cells) * count / (count - 1)
    variance += float(((part * gradient) ** 2).sum())
    reach = float(stats.t.ppf((1 + level) / 2, count - 1))
    return on_scale(float(MCC.of_tables(table + part)), variance, SIGNED, reach)


def test_clusters_with_an_empty_cell_by_hand() -> None:
    cells = np.array([[[5, 0], [2, 3]], [[1, 0], [0, 9]], [[9, 0], [7, 1]]])
    low, high = smoothed_clusters(cells, 0.9)
    bounds = cluster_interval(MCC, clusters(cells.tolist()), SIGNED, 0.9)
    rows = interval(MCC, clusters(cells.tolist()).confusion(), SIGNED, 0.9)
    assert low < rows[0]
    assert high > rows[1]
    assert bounds == pytest.approx((low, high), rel=1e-9)


def test_clusters_that_agree_on_an_empty_cell_are_no_surer_than_their_rows() -> None:
    cells = np.array([[[4, 0], [2, 3]]] * 7)
    low, high = smoothed_clusters(cells, 0.5)
    rows = interval(MCC, clusters(cells.tolist()).confusion(), SIGNED, 0.5)
    value = MCC.value(clusters(cells.tolist()).confusion())
    bounds = cluster_interval(MCC, clusters(cells.tolist()), SIGNED, 0.5)
    assert bounds == pytest.approx((min(low, rows[0]), max(high, rows[1], value)), rel=1e-9)


def test_clusters_at_an_edge_without_an_empty_cell_by_hand() -> None:
    cells = np.array([[[6, 2], [3, 1]], [[2, 3], [1, 2]], [[4, 1], [2, 0]]])
    table = cells.sum(axis=0).astype(float)
    part = table.sum() / 3 / 8
    assert C_ID.value(clusters(cells.tolist()).confusion()) == 0
    gradient = C_ID.gradient(table + part)
    variance = sum(float((one * gradient).sum()) ** 2 for one in cells) * 3 / 2
    variance += float(((part * gradient) ** 2).sum())
    high = on_scale(
        float(C_ID.of_tables(table + part)), variance, UNIT, float(stats.t.ppf(0.975, 2))
    )[1]
    rows = interval(C_ID, clusters(cells.tolist()).confusion(), UNIT, 0.95)
    bounds = cluster_interval(C_ID, clusters(cells.tolist()), UNIT, 0.95)
    assert bounds == (0, pytest.approx(max(high, rows[1]), rel=1e-9))


def test_clusters_are_smoothed_where_one_class_alone_has_no_errors() -> None:
    labels, names = tuple("abc"), list("pqr")
    cells = np.array(
        [
            [[3, 0, 0], [1, 2, 0], [0, 1, 2]],
            [[2, 0, 0], [0, 4, 1], [1, 0, 1]],
            [[4, 0, 0], [2, 1, 0], [0, 0, 5]],
        ]
    )
    rows = [place for place in np.ndindex(3, 3, 3) for _ in range(cells[place])]
    cluster, truth, decision = np.array(rows).T
    counted = ClusterCounts.of_rows(labels, truth, decision, cluster, names)
    recall = Quantity(of_classes(find("recall").formula, "macro"))
    table = cells.sum(axis=0).astype(float)
    part = table.sum() / 3 / 9 / 2
    gradient = recall.gradient(table + part)
    variance = sum(float((one * gradient).sum()) ** 2 for one in cells) * 3 / 2
    variance += float(((part * gradient) ** 2).sum())
    reach = float(stats.t.ppf(0.975, 2))
    low, high = on_scale(float(recall.of_tables(table + part)), variance, UNIT, reach)
    by_rows = interval(recall, counted.confusion(), UNIT, 0.95)
    bounds = cluster_interval(recall, counted, UNIT, 0.95)
    assert bounds == pytest.approx((min(low, by_rows[0]), max(high, by_rows[1])), rel=1e-9)
