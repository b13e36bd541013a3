"""Regions, boxes and tables of matrices, by small ones that are counted out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assay.decisions.audit.claim import Claim, key_of
from assay.decisions.audit.search import matrices as searched
from assay.decisions.audit.search.matrices import (
    LARGEST,
    ClassMatrices,
    KnownCells,
    Matrices,
    Region,
    Search,
    SearchResult,
    _Boxes,
    class_matrices_of,
    known_of,
    region_of,
)
from assay.decisions.audit.search.numbers import Way, in_four_cells, numbers_of
from assay.decisions.audit.verdicts import printed
from assay.formula import FN, FP, TN, TP, Expression
from assay.inference import Quantity

LABELS = ("normal", "attack")
CLAIM = Claim("x", positive="attack", negative="normal", labels=LABELS)
CELLS = ("TP", "FP", "FN", "TN")


def ways(key: str, text: str) -> tuple[Way, ...]:
    """The usual meanings of a number."""
    (number,) = numbers_of(CLAIM, [(key_of(key), printed(text))], "attack", LABELS)
    return tuple(way for way in number.ways if not way.meaning.convention)


def region(**known: int) -> Region:
    """The matrices with some cells and totals."""
    completed = KnownCells(**known).completed()
    assert completed is not None
    open_ = region_of(completed)
    assert open_ is not None
    return open_


def search(**known: int) -> Search:
    return Search(region(**known), in_four_cells)


def boxes(*spans: tuple[tuple[int, int], ...]) -> _Boxes:
    """Boxes, each as what its counts run from and to."""
    return _Boxes(*(np.array([[s[end] for s in box] for box in spans]).T for end in (0, 1)))


def spans(some: _Boxes) -> list[tuple[tuple[int, int], ...]]:
    pairs = np.stack([some.low, some.high], axis=-1)
    return [tuple(map(tuple, pairs[:, i].tolist())) for i in range(len(some))]


def four(matrices: Matrices) -> list[tuple[int, ...]]:
    return list(zip(*(matrices.cells[name].tolist() for name in CELLS), strict=True))


# -- what is known ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"positives": 1000, "negatives": 2000, "n": 3000}, "1,000 positives and 2,000 negatives"),
        ({"positives": 0, "negatives": 0, "n": 0}, "0 positives and 0 negatives"),
        ({"positives": 5, "n": 3000}, "3,000 rows"),
        ({"negatives": 5, "n": 0}, "0 rows"),
        ({"negatives": 5}, "these counts"),
        ({}, "these counts"),
    ],
)
def test_totals_are_told_as_both_classes_or_all_rows_or_not(
    known: dict[str, int], told: str
) -> None:
    assert KnownCells(**known).told == told


def test_what_is_told_of_one_class_leaves_room_for_the_other() -> None:
    assert KnownCells(tp=3, n=3).completed() == KnownCells(tp=3, n=3)
    assert KnownCells(tp=3, n=2).completed() is None
    assert KnownCells(tp=3, tn=2, n=5).completed() == KnownCells(tp=3, tn=2, n=5)
    assert KnownCells(tp=3, tn=2, n=4).completed() is None
    assert KnownCells(fn=3, positives=3).completed() == KnownCells(tp=0, fn=3, positives=3)
    assert KnownCells(fp=4, negatives=3).completed() is None
    assert KnownCells(tp=1, fn=1, fp=1, tn=1).completed() == KnownCells(1, 1, 1, 1, 2, 2, 4)
    assert KnownCells(tp=1, fn=1, positives=3).completed() is None


def test_a_claim_of_one_named_label_tells_its_rows_alone() -> None:
    claim = Claim("x", positive="attack", support={"attack": 7, "other": 2}, cells={"tp": 4})
    assert known_of(claim) == (KnownCells(tp=4, fn=3, positives=7), ())
    nameless = Claim("x", support={"attack": 7}, cells={"tp": 4})
    assert known_of(nameless) == (KnownCells(tp=4), ())


def test_cells_that_no_size_fits_are_still_known() -> None:
    claim = Claim("x", cells={"tp": 4, "fp": 3}, n=printed("6"))
    said = "the stated size 6 does not fit the counts and was passed over"
    assert known_of(claim) == (KnownCells(tp=4, fp=3), (said,))


def test_each_class_with_known_rows_has_one_free_count() -> None:
    assert region(positives=6, negatives=9) == Region(
        ((0, 6), (0, 9)),
        {"TN": (9, (0, -1)), "FP": (0, (0, 1)), "FN": (6, (-1, 0)), "TP": (0, (1, 0))},
    )


def test_of_all_rows_the_last_cell_is_what_the_others_leave() -> None:
    assert region(n=5) == Region(
        ((0, 5), (0, 5), (0, 5)),
        {"TN": (5, (-1, -1, -1)), "FP": (0, (0, 0, 1)), "FN": (0, (0, 1, 0)), "TP": (0, (1, 0, 0))},
    )
    assert region(n=9, tp=2, fp=3) == Region(
        ((0, 9),), {"TN": (4, (-1,)), "FP": (3, (0,)), "FN": (0, (1,)), "TP": (2, (0,))}
    )


def test_one_endless_count_runs_up_to_the_largest() -> None:
    assert region(tp=1, fp=2, fn=3).spans == ((0, LARGEST),)
    assert region(positives=4, fp=2).spans == ((0, 4), (0, LARGEST))
    assert region(positives=0, fp=2).spans == ((0, 0), (0, LARGEST))
    assert region(positives=LARGEST, negatives=0).spans == ((0, LARGEST), (0, 0))
    assert region_of(KnownCells(tp=LARGEST + 1, fp=2, fn=3)) is None
    assert region_of(KnownCells(tp=1, fp=2)) is None
    assert LARGEST == 2**50


def test_a_free_count_moves_the_cells_that_hang_on_it() -> None:
    moved = [set(moves) for moves in region(n=5).directions]
    assert moved == [{("TP", 1), ("TN", -1)}, {("FN", 1), ("TN", -1)}, {("FP", 1), ("TN", -1)}]
    assert region(tp=1, fp=2, fn=3, tn=4).directions == []


# -- matrices and what a search gives --------------------------------------------------------------

TWO = Matrices(dict(zip(CELLS, map(np.array, ([5, 1], [2, 0], [3, 4], [7, 6])), strict=True)))


def test_cells_are_read_by_the_formulas_of_a_label_or_of_both() -> None:
    assert TWO.seen_by(1) is TWO.cells
    by_zero = {name: column.tolist() for name, column in TWO.seen_by(0).items()}
    assert by_zero == {"TP": [7, 6], "FP": [3, 4], "FN": [2, 0], "TN": [5, 1]}
    by_both = {name: column.tolist() for name, column in TWO.seen_by(None).items()}
    assert by_both == {
        "HIT": [[7, 5], [6, 1]],
        "ROW": [[9, 8], [6, 5]],
        "COL": [[10, 7], [10, 1]],
        "N": [17, 11],
        "K": [2, 2],
    }


def test_a_search_that_ends_without_a_matrix_is_only_a_proof_if_it_is_complete() -> None:
    assert SearchResult(TWO, complete=False).feasible is True
    assert SearchResult(TWO[:0], complete=True).feasible is False
    assert SearchResult(TWO[:0], complete=False).feasible is None


def test_few_matrices_are_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for most, few in ((100, True), (99, False), (50, False)):
        monkeypatch.setattr(searched, "ALL_AT_ONCE", most)
        assert (search(positives=9, negatives=9)._everything is not None) == few


def test_of_three_free_counts_with_one_sum_only_a_sixth_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for most, few in ((167, True), (166, False)):
        monkeypatch.setattr(searched, "ALL_AT_ONCE", most)
        assert (search(n=9)._everything is not None) == few
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 1000)
    assert len(search(n=9)._everything or ()) == 220


def test_a_quarter_of_a_million_matrices_is_few() -> None:
    assert len(search(positives=511, negatives=511).find([]).matrices) == 1 << 18
    assert search(positives=511, negatives=512)._everything is None


def test_one_matrix_is_left_where_every_cell_is_told() -> None:
    result = search(tp=3, fp=1, fn=2, tn=4).find([ways("recall", "0.6")])
    assert (four(result.matrices), result.complete) == ([(3, 1, 2, 4)], True)
    asked = search(tp=17, fp=1, fn=8, tn=4)
    # 0.68 is cut off to 0.6, and never rounded so.
    assert asked.find([ways("recall", "0.6")]).feasible is True
    assert asked.find([ways("recall", "0.6")], rounded=True).feasible is False
    assert asked.find([ways("recall", "0.7")], rounded=True).feasible is True
    assert asked.find([ways("recall", "0.5")]).feasible is False


def test_a_number_that_may_mean_either_is_given_by_either() -> None:
    either = (*ways("recall", "0.5"), *ways("precision", "0.5"))
    for by_boxes in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            if by_boxes:
                patch.setattr(searched, "ALL_AT_ONCE", 0)
            matrices = set(four(search(positives=2, negatives=2).find([either]).matrices))
        # Half of the positives are hit, or half of the alarms are right, or there are none.
        by_recall = {(1, fp, 1, 2 - fp) for fp in range(3)}
        assert matrices == by_recall | {(2, 2, 0, 0)}


# -- boxes -----------------------------------------------------------------------------------------


def test_boxes_hold_the_product_of_their_sides() -> None:
    assert boxes(((0, 3), (2, 2)), ((5, 5), (0, 9))).volume() == 4 * 1 + 1 * 10
    assert boxes(((0, 2**40), (0, 2**40))).volume() == pytest.approx(2.0**80)


def test_the_middle_of_a_box_is_rounded_down() -> None:
    five = boxes(*(((i, i + 3), (0, 2 * i)) for i in range(5)))
    assert spans(five.middles(3)) == [
        ((1, 1), (0, 0)),
        ((3, 3), (2, 2)),
        ((5, 5), (4, 4)),
    ]
    assert len(five.middles(50)) == 5
    assert spans(boxes(((0, 9),), ((4, 6),)).middles(2)) == [((4, 4),), ((5, 5),)]


def test_few_boxes_are_cut_three_times_along_their_longest_side() -> None:
    assert sorted(spans(boxes(((0, 7),)).parted())) == [((i, i),) for i in range(8)]
    # Ten by four: first the ten in two, then each five in two, then each four in two.
    assert sorted(spans(boxes(((0, 3), (10, 19))).parted())) == [
        ((0, 1), (10, 12)), ((0, 1), (13, 14)), ((0, 1), (15, 17)), ((0, 1), (18, 19)),
        ((2, 3), (10, 12)), ((2, 3), (13, 14)), ((2, 3), (15, 17)), ((2, 3), (18, 19)),
    ]  # fmt: skip


def test_a_box_of_one_point_is_not_cut() -> None:
    assert spans(boxes(((4, 4), (2, 2))).parted()) == [((4, 4), (2, 2))]
    assert sorted(spans(boxes(((4, 4), (2, 3))).parted())) == [((4, 4), (2, 2)), ((4, 4), (3, 3))]


@pytest.mark.parametrize(("size", "times"), [(255, 8), (256, 2)])
def test_many_boxes_are_cut_once(size: int, times: int) -> None:
    assert len(boxes(*[((0, 7),)] * size).parted()) == times * size


def test_points_of_boxes_are_all_of_each() -> None:
    points = boxes(((1, 2), (5, 6)), ((3, 3), (0, 2))).points()
    assert list(zip(*points.tolist(), strict=True)) == [
        (1, 5), (1, 6), (2, 5), (2, 6), (3, 0), (3, 1), (3, 2),
    ]  # fmt: skip


def test_boxes_without_any_matrix_are_left_out() -> None:
    asked = search(n=10)
    some = boxes(((0, 3), (4, 4), (3, 9)), ((6, 9), (4, 5), (1, 2)), ((1, 2), (4, 4), (5, 5)))
    # What the three leave of ten rows is 3, -1 and 0 at most.
    assert asked._possible(some).tolist() == [True, False, True]


def test_cells_have_the_ranges_that_their_counts_leave() -> None:
    ranges = search(n=10)._ranges(np.array([[1.0], [2.0], [0.0]]), np.array([[3.0], [4.0], [1.0]]))
    ends = {name: (low.tolist(), high.tolist()) for name, (low, high) in ranges.items()}
    assert ends == {
        "TP": ([1.0], [3.0]), "FN": ([2.0], [4.0]), "FP": ([0.0], [1.0]), "TN": ([2.0], [7.0]),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "low", "high"),
    [
        (TP / (TP + FP), 2 / 5, 4 / 5),
        (TP / (TP + FN), 2 / 10, 4 / 10),
        (TN / (TN + FP), 17 / 20, 19 / 20),
        (TN / (TN + FN), 17 / 25, 19 / 25),
        ((TP + TN) / (TP + FP + FN + TN), 19 / 30, 23 / 30),
        (TP / (TP + FN) - FP / (FP + TN), 2 / 10 - 3 / 20, 4 / 10 - 1 / 20),
        (2 * TP / (2 * TP + FP + FN), 4 / 15, 8 / 15),
    ],
)
def test_a_formula_over_a_box_is_bounded_by_its_corners(
    expression: Expression, low: float, high: float
) -> None:
    asked = search(positives=10, negatives=20)
    box = boxes(((2, 4), (1, 3)))
    bounds = asked._boxed(box)(Quantity(expression, 1))
    assert (bounds.low[0], bounds.high[0]) == (pytest.approx(low), pytest.approx(high))
    swapped = asked._boxed(box)(Quantity(TP / (TP + FN), 0))
    assert (swapped.low[0], swapped.high[0]) == (pytest.approx(17 / 20), pytest.approx(19 / 20))


def test_of_a_box_with_corners_beyond_all_rows_no_corner_is_set() -> None:
    asked = search(n=10)
    accuracy = Quantity((TP + TN) / (TP + FP + FN + TN), 1)
    # Two boxes: one with real corners, one in which more cells are counted than there are rows.
    some = boxes(((1, 2), (1, 2), (3, 4)), ((1, 6), (1, 6), (0, 4)))
    bounds = asked._boxed(some)(accuracy)
    assert bounds.low[0] == pytest.approx(4 / 10)
    assert bounds.high[0] == pytest.approx(6 / 10)
    inside = [
        (tp + 10 - tp - fn - fp) / 10
        for tp, fn, fp in itertools.product(range(1, 7), range(1, 7), range(5))
        if tp + fn + fp <= 10
    ]
    assert bounds.low[1] <= min(inside)
    assert bounds.high[1] >= max(inside)


def test_a_corner_with_an_empty_cell_is_a_matrix() -> None:
    # Ten rows: the last corner of the box leaves none for the fourth cell.
    accuracy = Quantity((TP + TN) / (TP + FP + FN + TN), 1)
    bounds = search(n=10)._boxed(boxes(((1, 2), (1, 2), (3, 6))))(accuracy)
    assert (bounds.low[0], bounds.high[0]) == (pytest.approx(0.2), pytest.approx(0.6))


def test_without_any_free_count_a_formula_has_one_value() -> None:
    nothing = np.zeros((0, 1), np.int64)
    bounds = search(tp=3, fp=1, fn=2, tn=4)._boxed(_Boxes(nothing, nothing))(
        Quantity(TP / (TP + FN), 1)
    )
    assert (bounds.low[0], bounds.high[0]) == (pytest.approx(0.6), pytest.approx(0.6))


@pytest.mark.parametrize("known", [{"n": 6}, {"positives": 4, "negatives": 5}, {"tp": 3, "n": 8}])
@pytest.mark.parametrize(
    ("key", "text"), [("precision", "0.75"), ("f1", "0.6"), ("mcc", "0.5"), ("npv", "0.33")]
)
def test_boxes_find_what_trying_all_matrices_finds(
    known: dict[str, int], key: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = search(**known).find([ways(key, text)])
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 0)
    for in_the_end in (1 << 15, 84):
        monkeypatch.setattr(searched, "_IN_THE_END", in_the_end)
        search_result = search(**known).find([ways(key, text)])
        if search_result.complete:
            assert sorted(four(search_result.matrices)) == sorted(four(expected.matrices))
        else:
            assert set(four(search_result.matrices)) <= set(four(expected.matrices))
        one = search(**known).find([ways(key, text)], one=True)
        assert one.feasible is None or one.feasible == expected.feasible


def test_so_many_points_are_looked_at_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 0)
    known = {"fp": 1, "tn": 1}
    all_ = search(positives=(1 << 15) - 1, **known).find([])
    assert (len(all_.matrices), all_.complete) == (1 << 15, True)
    cuts: list[int] = []
    parted = _Boxes.parted
    monkeypatch.setattr(_Boxes, "parted", lambda some: cuts.append(len(some)) or parted(some))
    some = search(positives=1 << 15, **known).find([])
    assert (some.complete, some.feasible) == (False, True)
    assert len(some.matrices) <= 256
    # It ends as soon as there are more boxes than so many.
    assert cuts == [1, 8, 64, *(1 << i for i in range(9, 16))]


def test_work_is_counted_in_boxes_and_in_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 0)
    asked = search(positives=127, fp=1, tn=1)
    asked.find([ways("recall", "0.5")])
    # One box costs as much as two hundred; 128 points as much as two boxes.
    assert asked._work == 200 + 2
    both = search(positives=319, fp=1, tn=1)
    both.find([(*ways("recall", "0.5"), *ways("fnr", "0.5"))])
    # All boxes may give the first, so the second is not asked of boxes, but of points.
    assert both._work == 200 + 320 * 2 // 64


def test_a_search_ends_when_its_work_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 0)
    monkeypatch.setattr(searched, "_IN_THE_END", 0)
    for budget, rounds in ((199, 1), (200, 2), (400, 3)):
        monkeypatch.setattr(searched, "BUDGET", budget)
        asked = search(positives=10**6, fp=1, tn=1)
        result = asked.find([ways("recall", "0.123456789")])
        assert (result.feasible, asked._work) == (None, 200 * rounds)


def test_as_many_boxes_as_are_allowed_are_cut_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 0)
    monkeypatch.setattr(searched, "_IN_THE_END", 0)
    monkeypatch.setattr(searched, "_MOST_BOXES", 8)
    result = search(positives=15, fp=1, tn=1).find([])
    assert sorted(result.matrices.cells["TP"].tolist()) == list(range(16))
    assert not result.complete


def test_one_matrix_is_enough_where_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "ALL_AT_ONCE", 0)
    monkeypatch.setattr(searched, "_IN_THE_END", 0)
    asked = search(positives=1000, fp=1, tn=1)
    # The middle of all is probed at once.
    result = asked.find([ways("recall", "0.5")], one=True)
    assert four(result.matrices) == [(500, 1, 500, 1)]
    assert asked._work == 200


# -- tables of several classes ---------------------------------------------------------------------


def test_a_class_is_read_against_the_rest() -> None:
    # The rows 2 1 0, 0 3 0 and 1 1 4.
    table = ClassMatrices(*map(np.array, ([[2, 3, 4]], [[3, 3, 6]], [[3, 5, 4]])))
    assert {name: column.tolist() for name, column in table.seen_by(2).items()} == {
        "TP": [4], "FP": [0], "FN": [2], "TN": [6],
    }  # fmt: skip
    assert {name: column.tolist() for name, column in table.seen_by(1).items()} == {
        "TP": [3], "FP": [2], "FN": [0], "TN": [7],
    }  # fmt: skip
    of_all = table.seen_by(None)
    assert (of_all["N"].tolist(), of_all["K"].tolist()) == ([12], [3])


@pytest.mark.parametrize(
    ("rows", "n", "classes", "fewest"),
    [
        ((3, 3), None, 2, 16),  # 4 x 4
        ((1, 1, 1), None, 3, 27),  # 3 x 3 x 3
        ((1, 1, 1, 1), None, 4, 456),  # 256 of them, which cost as 9/16 of so many
        (None, 2, 2, 10),  # 2 rows in 4 cells
        (None, 1, 3, 9),  # 1 row in 9 cells
        (None, 1, 4, 29),  # 1 row in 16 cells, which cost as 9/16 of so many
    ],
)
def test_tables_are_counted_out_while_they_are_few(
    rows: tuple[int, ...] | None,
    n: int | None,
    classes: int,
    fewest: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searched, "_COUNTED_OUT", fewest)
    assert class_matrices_of(rows, classes, n) is not None
    monkeypatch.setattr(searched, "_COUNTED_OUT", fewest - 1)
    assert class_matrices_of(rows, classes, n) is None


def test_four_million_tables_are_few_and_two_million_may_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differing = np.zeros((1, 4), np.int64)
    for states, few in ((1 << 21, True), ((1 << 21) + 1, False)):
        view = np.broadcast_to(differing, (states, 4))
        monkeypatch.setattr(searched, "_unique", lambda _, view=view: view)
        assert (class_matrices_of((1, 1), 2, None) is not None) == few
    monkeypatch.setattr(searched, "_joined", lambda options, _: len(options))
    assert class_matrices_of((2047, 2047), 2, None) == 2
    assert class_matrices_of((2047, 2048), 2, None) is None


def test_each_state_is_kept_once() -> None:
    states = np.array([[1, 2], [0, 2], [1, 2], [1, 1], [0, 2]])
    assert sorted(map(tuple, searched._unique(states).tolist())) == [(0, 2), (1, 1), (1, 2)]
