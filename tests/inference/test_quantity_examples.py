"""A formula on a table by examples: cells, slopes, what is added to empty cells."""

import copy
import math
import pickle

import numpy as np
import pytest

from assay.counts import Confusion
from assay.formula import COL, FN, FP, HIT, ROW, TN, TP, K, N, of_classes, total
from assay.inference import Estimate, Quantity
from assay.measures import find
from assay.text import decimal

TABLE = np.array([[5.0, 1.0], [2.0, 3.0]])
THREE = np.array([[5.0, 1.0, 2.0], [3.0, 7.0, 4.0], [6.0, 8.0, 9.0]])
COUNTS = Confusion(("a", "b", "c"), ((5, 1, 2), (3, 7, 4), (6, 8, 9)))
MACRO_RECALL = of_classes(find("recall").formula, "macro")
MACRO_PRECISION = of_classes(find("precision").formula, "macro")
BINARY = (TP, FP, FN, TN)


# -- cells -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "expected"), [(1, [3, 1, 2, 5]), (0, [5, 2, 1, 3])])
def test_cells_of_two_classes_are_those_of_the_label(label: int, expected) -> None:
    quantities = [Quantity(cell / 1, label=label) for cell in BINARY]
    assert [one.of_table(TABLE.tolist()) for one in quantities] == expected
    assert [float(one.of_tables(TABLE)) for one in quantities] == expected


@pytest.mark.parametrize(
    ("label", "expected"), [(0, [5, 9, 3, 28]), (1, [7, 9, 7, 22]), (2, [9, 6, 14, 16])]
)
def test_cells_of_one_label_of_three_are_against_the_rest(label: int, expected) -> None:
    quantities = [Quantity(cell / 1, label=label) for cell in BINARY]
    assert [float(one.of_tables(THREE)) for one in quantities] == expected
    assert list(map(quantities[0].cells(COUNTS).get, ("TP", "FP", "FN", "TN"))) == expected


def test_cells_of_classes_are_hits_rows_and_columns() -> None:
    for cell, (first, second) in {HIT: (5, 3), ROW: (6, 5), COL: (7, 4)}.items():
        # Squares tell which of both classes a number is of.
        squares = Quantity(total(cell * cell * ROW))
        expected = first**2 * 6 + second**2 * 5
        assert squares.of_table(TABLE.tolist()) == expected
        assert float(squares.of_tables(TABLE)) == expected
    assert Quantity(N / K).of_table(TABLE.tolist()) == 11 / 2
    assert float(Quantity(N / K).of_tables(THREE)) == 45 / 3


def test_some_classes_are_all_that_sums_see() -> None:
    some = Quantity(total(HIT * ROW * COL) / K, classes=(0, 2))
    expected = (5 * 8 * 14 + 9 * 23 * 15) / 2
    assert float(some.of_tables(THREE)) == expected
    assert some.value(COUNTS) == expected
    cells = some.cells(COUNTS)
    assert (cells["HIT"], cells["ROW"], cells["COL"], cells["K"]) == ((5, 9), (8, 23), (14, 15), 2)


def test_tables_in_any_shape_of_stack_have_the_same_cells() -> None:
    stack = np.array([THREE, THREE.T, 2 * THREE])
    for quantity in (Quantity(FP / 1, label=1), Quantity(total(HIT * ROW * ROW * COL))):
        each = [float(quantity.of_tables(one)) for one in stack]
        assert quantity.of_tables(stack).tolist() == each
        assert quantity.of_tables(stack[None]).tolist() == [each]
    assert Quantity(FP / 1, label=1).of_tables(stack).tolist() == [9, 7, 18]


def test_small_counts_beside_large_ones_are_not_swallowed() -> None:
    table = np.array([[1e17, 1.0], [2.0, 3.0]])
    for label, expected in ((0, [1e17, 2, 1, 3]), (1, [3, 1, 2, 1e17])):
        for stack in (table, table[None], np.array([[table] * 3])):
            values = [
                Quantity(cell / 1, label=label).of_tables(stack).ravel()[0] for cell in BINARY
            ]
            assert values == expected


# -- slopes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "of_first", "of_second"),
    [
        (TP, (1, 0, 0, 0), (0, 0, 0, 1)),
        (FN, (0, 1, 0, 0), (0, 0, 1, 0)),
        (FP, (0, 0, 1, 0), (0, 1, 0, 0)),
        (TN, (0, 0, 0, 1), (1, 0, 0, 0)),
        (2 * TP + 3 * FN + 5 * FP + 7 * TN, (2, 3, 5, 7), (7, 5, 3, 2)),
    ],
)
def test_slopes_of_cells_of_two_classes(formula, of_first, of_second) -> None:
    table = TABLE.tolist()
    assert Quantity(formula, label=0).slopes(table) == of_first
    assert Quantity(formula, label=1).slopes(table) == of_second
    assert Quantity(formula, label=1).gradient(TABLE).tolist() == [
        list(of_second[:2]),
        list(of_second[2:]),
    ]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        # Hits 5 and 3, rows 6 and 5, columns 7 and 4: the slope of a square is twice the number.
        (total(HIT * HIT), (10, 0, 0, 6)),
        (total(ROW * ROW), (12, 12, 10, 10)),
        (total(COL * COL), (14, 8, 14, 8)),
        (N * N, (22, 22, 22, 22)),
        (
            total(HIT * HIT) + total(ROW * ROW) + total(COL * COL) + N * N,
            (10 + 12 + 14 + 22, 12 + 8 + 22, 10 + 14 + 22, 6 + 10 + 8 + 22),
        ),
        (K / 1, (0, 0, 0, 0)),
    ],
)
def test_slopes_of_two_classes(formula, expected) -> None:
    assert Quantity(formula).slopes(TABLE.tolist()) == expected


def test_gradient_of_one_label_of_three() -> None:
    gradient = Quantity(2 * TP + 3 * FN + 5 * FP + 7 * TN, label=1).gradient(THREE)
    assert gradient.tolist() == [[7, 5, 7], [3, 2, 3], [7, 5, 7]]
    assert Quantity(TP * TP, label=1).gradient(THREE).tolist() == [[0, 0, 0], [0, 14, 0], [0, 0, 0]]


def test_gradient_of_three_classes() -> None:
    formula = total(HIT * HIT) + total(ROW * ROW) + total(COL * COL) + N * N
    hits, rows, columns = np.array([5, 7, 9]), np.array([8, 14, 23]), np.array([14, 16, 15])
    expected = 2 * (np.diag(hits) + rows[:, None] + columns + 45)
    assert Quantity(formula).gradient(THREE).tolist() == expected.tolist()
    some = Quantity(formula, classes=(0, 2)).gradient(THREE)
    hits[1] = rows[1] = columns[1] = 0
    assert some.tolist() == (2 * (np.diag(hits) + rows[:, None] + columns + 45)).tolist()


# -- empty cells -----------------------------------------------------------------------------------


def test_any_empty_cell_of_a_formula_adds_half_a_count_to_each() -> None:
    quantity = Quantity(TP / (TP + FP), label=1)
    for table, added in (
        ([[5.0, 0.0], [2.0, 3.0]], 0.5),
        ([[5.0, 1.0], [2.0, 0.0]], 0.5),
        ([[0.0, 1.0], [0.0, 3.0]], 0.0),
    ):
        assert (quantity.added(np.array(table)) == added).all()


def test_class_without_errors_in_its_row_or_column_gets_half_an_error_there() -> None:
    # The first class has no errors in its row, the second none in its column, the third no hit.
    table = np.array([[4.0, 0.0, 0.0], [1.0, 5.0, 2.0], [3.0, 0.0, 0.0]])
    by_row = np.array([[0.5, 0.25, 0.25], [0, 0, 0], [0.25, 0.25, 0.5]])
    by_column = np.array([[0, 0.25, 0.25], [0, 0.5, 0.25], [0, 0.25, 0.5]])
    assert Quantity(MACRO_RECALL).added(table).tolist() == by_row.tolist()
    assert Quantity(MACRO_PRECISION).added(table).tolist() == by_column.tolist()
    both = Quantity(MACRO_RECALL + MACRO_PRECISION).added(table)
    hits = np.diag([0.5, 0.5, 0.5])
    off = by_row + by_column - np.diag(np.diagonal(by_row + by_column))
    assert both.tolist() == (off + hits).tolist()


def test_two_classes_get_half_an_error_in_the_one_cell_of_errors() -> None:
    table = np.array([[4.0, 0.0], [1.0, 5.0]])
    assert Quantity(MACRO_RECALL).added(table).tolist() == [[0.5, 0.5], [0, 0]]
    assert Quantity(MACRO_PRECISION).added(table).tolist() == [[0, 0.5], [0, 0.5]]


def test_one_class_alone_has_no_cell_of_errors() -> None:
    assert Quantity(MACRO_RECALL).added(np.array([[4.0]])).tolist() == [[0.5]]


def test_one_count_a_row_is_spread_over_its_cells() -> None:
    assert Quantity(MACRO_RECALL).evenly(np.ones((2, 2))).tolist() == [[0.5, 0.5]] * 2
    some = Quantity(MACRO_RECALL, classes=(1,)).evenly(np.ones((2, 2)))
    assert some.tolist() == [[0, 0], [0.5, 0.5]]


# -- estimates -------------------------------------------------------------------------------------

FULL = Estimate(
    0.5, 0.25, 0.75, method="wilson", n=8, level=0.9, note="a", parts={"b": 1.0}, bound=(0.4, 0.6)
)


@pytest.mark.parametrize(
    ("low", "high", "ends", "bound"),
    [
        (0.4, 0.6, (0.25, 0.75), (0.4, 0.6)),
        (0.2, 0.6, (0.2, 0.75), (0.2, 0.6)),
        (0.4, 0.8, (0.25, 0.8), (0.4, 0.8)),
        # A bound holds the value.
        (0.55, 0.6, (0.25, 0.75), (0.5, 0.6)),
        (0.4, 0.45, (0.25, 0.75), (0.4, 0.5)),
    ],
)
def test_bounds_widen_an_interval(low, high, ends, bound) -> None:
    estimate = FULL.bounded(low, high)
    assert ((estimate.low, estimate.high), estimate.bound) == (ends, bound)
    assert (estimate, estimate.method, estimate.n, estimate.level) == (0.5, "wilson", 8, 0.9)
    assert (estimate.note, estimate.parts) == ("a", {"b": 1.0})


@pytest.mark.parametrize("ends", [(math.nan, math.nan), (0.4, math.nan), (math.nan, 0.6)])
def test_bounds_of_an_estimate_without_an_interval_leave_it_so(ends) -> None:
    estimate = Estimate(0.5, *ends).bounded(0.25, 0.75)
    assert estimate.bound == (0.25, 0.75)
    assert (repr(estimate.low), repr(estimate.high)) == (repr(ends[0]), repr(ends[1]))


def test_changed_estimate_keeps_what_is_not_named() -> None:
    estimate = FULL.changed(0.375, note=None)
    assert (estimate, estimate.low, estimate.note, estimate.bound) == (
        0.375,
        0.25,
        None,
        (0.4, 0.6),
    )
    assert FULL.changed(low=0.0) == 0.5
    assert FULL.changed(0.0) == 0.0


@pytest.mark.parametrize("again", [copy.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_keep_bounds(again) -> None:
    assert again(FULL).bound == (0.4, 0.6)


def test_interval_with_one_end_is_shown() -> None:
    assert str(Estimate(0.5, 0.25)) == "0.500 [0.250, nan]"
    assert str(Estimate(0.5, math.nan, 0.75)) == "0.500 [nan, 0.750]"


@pytest.mark.parametrize(
    ("number", "digits", "expected"),
    [
        (0.0, 3, "0.000"),
        (0.0004, 3, "0.0004"),
        (-0.0004, 3, "-0.0004"),
        (0.0005001, 3, "0.001"),
        (0.97545, 3, "0.975"),
        (0.9999, 3, "0.9999"),
        (0.99995, 3, "0.99995"),
        (1.00004, 3, "1.00004"),
        (1.0, 3, "1.000"),
        (-1.0, 2, "-1.00"),
        (2.0001, 3, "2.000"),
        (0.4, 0, "0.4"),
        # Twelve decimals are the most that are shown.
        (1 - 1e-12, 3, "0.999999999999"),
        (1 - 1e-13, 3, "1.000"),
    ],
)
def test_number_does_not_read_as_zero_or_one_where_it_is_not(number, digits, expected) -> None:
    assert decimal(number, digits) == expected
