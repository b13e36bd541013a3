"""Confusion matrices and tables by name, cell by cell, with counts and with exact weights."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from assay.errors import TallyError
from assay.tally import Confusion, Crosstab, codec, from_bytes
from assay.tally.blocks import BLOCK
from assay.tally.confusion import confusion_of, crosstab_of, flagged

from .kinds import THREE, TWO


def _exactly(total: Any) -> Fraction:
    return sum(map(Fraction, getattr(total, "rest", ())), Fraction(float(total)))


# -- by place --------------------------------------------------------------------------------------

TRUTH, DECISION = np.array([0, 2, 1, 0, 2], np.uint8), np.array([1, 2, 0, 1, 0], np.uint8)


def test_rows_counts_and_weights_are_counted_cell_by_cell() -> None:
    assert Confusion.zero(THREE).cells == ((0, 0, 0), (0, 0, 0), (0, 0, 0))
    assert Confusion.zero(THREE).labels == THREE
    rows = Confusion.of_codes(THREE, TRUTH, DECISION)
    assert rows.cells == ((0, 2, 0), (1, 0, 0), (1, 0, 1))
    counts = Confusion.of_codes(THREE, TRUTH, DECISION, counts=np.array([1, 2, 3, 4, 5]))
    assert counts.cells == ((0, 5, 0), (3, 0, 0), (5, 0, 2))
    assert all(type(cell) is int for row in (*rows.cells, *counts.cells) for cell in row)
    weights = np.array([0.1, 0.5, 2.0, 0.2, 4.0])
    weighted = Confusion.of_codes(THREE, TRUTH, DECISION, weights=weights)
    assert _exactly(weighted.cells[0][1]) == Fraction(0.1) + Fraction(0.2)
    assert weighted.squares is not None
    assert _exactly(weighted.squares[0][1]) == Fraction(0.1**2) + Fraction(0.2**2)
    assert (weighted.cells[1], weighted.cells[2]) == ((2, 0, 0), (4, 0, 0.5))
    assert (weighted.squares[1], weighted.squares[2]) == ((4, 0, 0), (16, 0, 0.25))
    assert (weighted.weighted, rows.weighted) == (True, False)
    none = Confusion.of_codes(THREE, TRUTH[:0], DECISION[:0])
    assert none == Confusion.zero(THREE)


def test_rows_and_counts_of_many_blocks_are_added() -> None:
    size = 2 * BLOCK + 3
    truth, decision = np.arange(size) % 2, np.arange(size) // 2 % 2
    expected = [[int(((truth == i) & (decision == j)).sum()) for j in (0, 1)] for i in (0, 1)]
    assert Confusion.of_codes(TWO, truth, decision).cells == tuple(map(tuple, expected))
    counts = np.full(size, 3)
    tripled = Confusion.of_codes(TWO, truth, decision, counts=counts).cells
    assert tripled == tuple(tuple(3 * cell for cell in row) for row in expected)


def test_weighted_tables_add_exactly() -> None:
    one = Confusion.of_codes(TWO, TRUTH[:1], DECISION[:1], weights=np.array([0.1]))
    other = Confusion.of_codes(TWO, TRUTH[:1], DECISION[:1], weights=np.array([0.2]))
    total = one + other
    assert _exactly(total.cells[0][1]) == Fraction(0.1) + Fraction(0.2)
    assert total.cells[0][0] == 0
    plain = Confusion(TWO, ((1, 2), (3, 4)))
    for both in (plain + one, one + plain):
        assert _exactly(both.cells[0][1]) == 2 + Fraction(0.1)
        assert both.squares is not None
        assert _exactly(both.squares[0][1]) == 2 + Fraction(0.1 * 0.1)
        assert both.squares[1] == (3, 4)
    assert (plain + plain).squares is None


def test_one_label_against_the_rest_keeps_its_weights() -> None:
    cells = ((1, 2, 4), (8, 16, 32), (64, 128, 256))
    squares = tuple(tuple(3 * cell for cell in row) for row in cells)
    plain, weighted = Confusion(THREE, cells), Confusion(THREE, cells, squares)
    for label, expected in (
        (0, ((16 + 32 + 128 + 256, 8 + 64), (2 + 4, 1))),
        (1, ((1 + 4 + 64 + 256, 2 + 128), (8 + 32, 16))),
        (2, ((1 + 2 + 8 + 16, 4 + 32), (64 + 128, 256))),
    ):
        name = THREE[label]
        assert plain.against_rest(label) == Confusion((f"not {name}", name), expected)
        assert weighted.against_rest(label).cells == expected
        tripled = tuple(tuple(3 * cell for cell in row) for row in expected)
        assert weighted.against_rest(label).squares == tripled
        assert plain.against_rest(label) is plain.against_rest(label)
    two = Confusion(TWO, ((1, 2), (4, 8)))
    assert two.one_versus_rest(0) == {"TP": 1, "FP": 4, "FN": 2, "TN": 8}
    assert two.one_versus_rest(1) == {"TP": 8, "FP": 2, "FN": 4, "TN": 1}
    assert two.against_rest(0).labels == ("attack", "benign")
    assert two.against_rest(1) is two


def test_a_table_goes_to_plain_values_and_back() -> None:
    plain = Confusion(TWO, ((1, 2), (4, 8)))
    assert plain.to_header() == {"labels": TWO, "cells": ((1, 2), (4, 8)), "squares": None}
    assert plain.schema == 1
    ones = np.ones(2, np.uint8)
    even = Confusion.of_codes(TWO, ones, ones, weights=np.array([0.5, 0.25]))
    uneven = Confusion.of_codes(TWO, ones, ones, weights=np.array([1.0, 2.0**-60]))
    assert even.to_header() == {
        "labels": TWO, "cells": [[0, 0], [0, 0.75]], "squares": [[0, 0], [0, 0.3125]],
    }  # fmt: skip
    assert uneven.to_header()["cells"] == [[0, 0], [0, [1.0, 2.0**-60]]]
    assert (even.schema, uneven.schema) == (1, 2)
    # The sum is a float, and that of the squares is not.
    squares = Confusion.of_codes(TWO, ones, ones, weights=np.array([1.0, 2.0**-40]))
    assert squares.schema == 2
    assert squares.to_header()["cells"] == [[0, 0], [0, 1 + 2.0**-40]]
    for table in (plain, even, uneven, squares, Confusion(TWO, ((0, 1), (0, 0)))):
        assert from_bytes(table.to_bytes()) == table
        assert confusion_of(table.to_header(), {}) == table


@pytest.mark.parametrize("cell", [-1, True, None, "1", float("inf"), float("nan"), [1]])
def test_a_cell_that_is_no_number_of_rows_is_refused(cell: Any) -> None:
    header = {"labels": TWO, "cells": [[0, 1], [cell, 0.5]], "squares": None}
    with pytest.raises(ValueError, match="a cell is"):
        confusion_of(header, {})


# -- by name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [4, 40])
@pytest.mark.parametrize("said", [("b", "a", "c"), ("b",), tuple("edcba")])
def test_pairs_of_names_that_occur_are_counted(size: int, said: tuple[str, ...]) -> None:
    names = ("z", "y", "x")
    truth, column = np.arange(size) % 2 * 2, np.arange(size) * 3 // 2 % len(said)
    counts = np.arange(size)
    expected: dict[tuple[str, str], int] = {}
    squared: dict[tuple[str, str], int] = {}
    for t, c, n in zip(truth.tolist(), column.tolist(), counts.tolist(), strict=True):
        if n:
            expected[names[t], said[c]] = expected.get((names[t], said[c]), 0) + n
            squared[names[t], said[c]] = squared.get((names[t], said[c]), 0) + n * n
    table = Crosstab.of_codes(names, truth, said, column, counts=counts)
    assert (table.cells, list(table.cells)) == (expected, sorted(expected))
    weighted = Crosstab.of_codes(names, truth, said, column, weights=counts.astype(float))
    assert (weighted.cells, weighted.squares) == (expected, squared)
    assert table.labels == ("x", "z")


CELLS = {("a", "u"): 1, ("a", "v"): 2, ("b", "u"): 4}
SQUARES = {("a", "u"): 1.5, ("a", "v"): 2.5, ("b", "u"): 4.5}


def test_tables_by_name_add() -> None:
    one, other = Crosstab(CELLS), Crosstab({("a", "v"): 8, ("A", "v"): 16})
    total = one + other
    assert total.cells == {("A", "v"): 16, ("a", "u"): 1, ("a", "v"): 10, ("b", "u"): 4}
    assert list(total.cells) == sorted(total.cells)
    weighted = Crosstab({cell: float(n) for cell, n in CELLS.items()}, SQUARES)
    assert (weighted + weighted).squares == {cell: 2 * n for cell, n in SQUARES.items()}
    assert (weighted + weighted).cells == {cell: 2 * n for cell, n in CELLS.items()}
    assert weighted + Crosstab() == Crosstab() + weighted == weighted
    assert one != total != weighted
    assert Crosstab.merge([]) == Crosstab()
    for a, b in ((one, weighted), (weighted, one)):
        with pytest.raises(TallyError, match="with and without sampling weights"):
            a + b
    tenth = {("a", "u"): 0.1}
    assert _exactly(
        (Crosstab(tenth, tenth) + Crosstab(tenth, tenth)).cells["a", "u"]
    ) == 2 * Fraction(0.1)


def test_labels_by_name_are_chosen_moved_and_placed() -> None:
    for table in (Crosstab(CELLS), Crosstab(CELLS, SQUARES)):
        weighted = table.squares is not None
        some = table.of_labels(lambda label: label == "a")
        assert some.cells == {("a", "u"): 1, ("a", "v"): 2}
        assert (some.squares is not None) == weighted
        moved = table.placed(("rest", "bad"), {"a": 1, "b": 1})
        assert moved.cells == {("bad", "u"): 5, ("bad", "v"): 2}
        assert moved.squares == ({("bad", "u"): 6.0, ("bad", "v"): 2.5} if weighted else None)
        apart = table.placed(("rest", "bad"), {"a": 0, "b": 1})
        assert apart.labels == ("bad", "rest")
        matrix = table.confusion(("x", "y"), {"a": 1, "b": 0}, {"u": 0, "v": 1}.__getitem__)
        assert (matrix.labels, matrix.cells) == (("x", "y"), ((4, 0), (1, 2)))
        assert matrix.squares == (((4.5, 0), (1.5, 2.5)) if weighted else None)
        once = table.confusion(("x", "y"), {"a": 1, "b": 1}, lambda _: 0)
        assert once.cells == ((0, 0), (7, 0))


def test_rows_that_reach_the_threshold_are_told_by_label() -> None:
    table = flagged(("z", "a"), np.array([[7, 0], [1, 2]]))
    assert table.cells == {("a", "below"): 1, ("a", "flagged"): 2, ("z", "below"): 7}
    assert list(table.cells) == sorted(table.cells)


def test_a_table_by_name_goes_to_plain_values_and_back() -> None:
    plain, weighted = Crosstab(CELLS), Crosstab({k: float(n) for k, n in CELLS.items()}, SQUARES)
    assert plain.to_header() == [["a", "u", 1], ["a", "v", 2], ["b", "u", 4]]
    assert weighted.to_header() == [["a", "u", 1, 1.5], ["a", "v", 2, 2.5], ["b", "u", 4, 4.5]]
    for table in (plain, weighted, Crosstab()):
        assert crosstab_of(table.to_header()) == table
        assert from_bytes(table.to_bytes()) == table
        assert table.schema == 1
        assert hash(table) == hash(from_bytes(table.to_bytes()))
    tenth, third = {("a", "u"): 0.1}, {("a", "u"): 0.2}
    uneven = Crosstab(tenth, {("a", "u"): 0.5}) + Crosstab(third, {("a", "u"): 0.25})
    squares = Crosstab({("a", "u"): 0.5}, tenth) + Crosstab({("a", "u"): 0.5}, third)
    assert (uneven.schema, squares.schema) == (2, 2)
    for table in (uneven, squares):
        assert from_bytes(table.to_bytes()) == table


@pytest.mark.parametrize(
    "header",
    [
        [["a", "u", 0]],
        [["a", "u", -1]],
        [["a", "u", 1.5]],
        [["a", "u", True]],
        [["a", "u", 0.0, 0.0]],
        [["a", "u", 1], ["a", "u", 1]],
        [["b", "u", 1], ["a", "u", 1]],
        [["a", "u", 1], ["b", "u", 1.0, 1.0]],
        [["a", "u", 1.0, 1.0], ["b", "u", 1]],
    ],
)
def test_plain_values_that_are_no_table_by_name_are_refused(header: Any) -> None:
    with pytest.raises(ValueError, match=r"a cell is|not in order|some cells have weights"):
        crosstab_of(header)
    with pytest.raises(TallyError):
        from_bytes(codec.write("crosstab", {"cells": header}, {}))


def test_the_square_of_a_tiny_weight_may_be_zero() -> None:
    table = crosstab_of([["a", "u", 1e-200, 0.0]])
    assert (table.cells, table.squares) == ({("a", "u"): 1e-200}, {("a", "u"): 0.0})
