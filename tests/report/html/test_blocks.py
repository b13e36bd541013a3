"""Tables, dot plots and matrices, as the template gets them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference import Estimate
from assay.measures import find
from assay.report.html.blocks import (
    DotPlotView,
    HeatMap,
    ProseView,
    TableView,
    Value,
    behind,
    block_of,
    heat_of,
    shade,
)
from assay.report.html.charts import (
    Limits,
    Scale,
    ShownName,
    Strip,
    around,
    cut_name,
    sentence_parts,
)
from assay.report.html.operating_panel import FRAME, reliability_of
from assay.report.sections import BOUND, Column, Dot, Dots, Formula, Kind, Matrix, Prose, Table

from .pages import PANEL

LIMITS = Limits()
SHARE = Estimate(0.75, 0.5, 0.9, method="wilson", n=20)
NONE = Estimate(math.nan, undefined="there are no positives")
shares = st.floats(0, 1)


# -- tables ----------------------------------------------------------------------------------------


def test_a_table_with_one_column_of_estimates_is_drawn() -> None:
    columns = (
        Column("measure"),
        Column("estimate", Kind.SHARE),
        Column("reading"),
        Column("method", optional=True),
        Column("n", Kind.COUNT, optional=True),
    )
    rows = (("recall", SHARE, "good", "wilson", 1200), ("mcc", Estimate(-0.5), "", "", None))
    drawn = block_of(Table("caption", columns, rows), LIMITS)
    assert isinstance(drawn, DotPlotView)
    first, second = drawn.lines
    assert first.name == ShownName("recall", "")
    assert first.value == Value(
        "0.750", "[0.500, 0.900]", "wilson, n = 20", Strip("75.00%", "50.00%", "90.00%")
    )
    assert (first.remark, first.aside) == ("good", "wilson, n 1,200")
    # What lies outside of 0 to 1 is written and not drawn.
    assert second.value.strip is None
    assert (second.value.text, second.remark, second.aside) == ("-0.500", "", "")


def test_a_table_with_more_estimates_stays_a_table() -> None:
    columns = (Column("day"), Column("a", Kind.SHARE), Column("b", Kind.SHARE))
    table = block_of(Table("caption", columns, (("Monday", SHARE, NONE),)), LIMITS)
    assert isinstance(table, TableView)
    assert table.rows[0] == (
        ShownName("Monday", ""),
        Value("0.750", "[0.500, 0.900]", "wilson, n = 20"),
        Value("\u2013", "", "undefined: there are no positives"),
    )


def test_cells_of_any_kind_are_written_as_in_other_reports() -> None:
    columns = (
        Column("formula"),
        Column("rows", Kind.COUNT),
        Column("share", Kind.SHARE),
        Column("alerts", Kind.DAILY),
        Column("note", optional=True),
    )
    row = (Formula("TP / N", "x"), 12345, 0.25, Estimate(1520.4, 1410.2, 1633.9), None)
    table = block_of(Table("caption", columns, (row,)), LIMITS)
    assert isinstance(table, TableView)
    texts = [cell.text if isinstance(cell, Value) else cell.shown for cell in table.rows[0]]
    assert texts == ["TP / N", "12,345", "0.250", "1,520", ""]
    assert [classes for _, classes in table.heads] == [
        "text",
        "numeric",
        "numeric",
        "numeric",
        "text optional",
    ]


def test_bounds_stay_on_a_small_screen() -> None:
    table = block_of(Table("caption", (Column("a"), BOUND), (("AUC", "[0, 1]"),)), LIMITS)
    assert isinstance(table, TableView)
    assert [classes for _, classes in table.heads] == ["text", "text"]


def test_a_row_without_a_name_is_called_so_and_other_empty_cells_are_left_alone() -> None:
    table = block_of(Table("caption", (Column("a"), Column("b")), (("", ""),)), LIMITS)
    assert isinstance(table, TableView)
    assert [cell.shown for cell in table.rows[0] if isinstance(cell, ShownName)] == ["(empty)", ""]


def test_prose_is_kept_and_cut_where_it_is_endless() -> None:
    assert block_of(Prose("A sentence."), LIMITS) == ProseView("A sentence.")
    endless = block_of(Prose("x" * 10**6), LIMITS)
    assert isinstance(endless, ProseView)
    assert len(endless.text) == LIMITS.long


def test_what_is_behind_an_estimate_is_its_method_size_and_note() -> None:
    assert behind(replace_note("few rows"), LIMITS) == "wilson, n = 20, few rows"
    assert behind(NONE, LIMITS) == "undefined: there are no positives"
    assert behind(Estimate(math.nan), LIMITS) == "undefined: there is no value"


def replace_note(note: str) -> Estimate:
    return Estimate(0.75, 0.5, 0.9, method="wilson", n=20, note=note)


# -- dot plots -------------------------------------------------------------------------------------


def test_a_dot_plot_keeps_its_order_and_marks_the_whole() -> None:
    dots = (Dot("b", Estimate(0.2, 0.1, 0.4), "too few to say"), Dot("a", SHARE), Dot("c", NONE))
    drawn = block_of(Dots("caption", "slice", find("recall"), dots, Estimate(0.6)), LIMITS)
    assert isinstance(drawn, DotPlotView)
    assert [line.name.shown for line in drawn.lines] == ["b", "a", "c"]
    assert drawn.lines[0].remark == "too few to say"
    assert drawn.better == "higher is better"
    assert drawn.lines[2].value.strip == Strip("", "", "")
    assert drawn.whole is not None
    assert drawn.whole.strip is not None
    assert drawn.whole.strip.value


# -- scales ----------------------------------------------------------------------------------------


@given(st.lists(shares, min_size=1, max_size=8))
def test_a_scale_holds_its_numbers_and_keeps_its_bounds(numbers: list[float]) -> None:
    scale = around(numbers, (0, 1))
    assert 0 <= scale.low < scale.high <= 1
    slack = 1e-9
    assert all(scale.low - slack <= number <= scale.high + slack for number in numbers)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 8
    places = [float(place.rstrip("%")) for place, _ in ticks]
    assert places == sorted(places)
    assert len({text for _, text in ticks}) == len(ticks)


@given(st.floats(-2, 3), st.floats(-1, 0.4), st.floats(0.5, 2))
def test_a_place_never_leaves_its_strip(number: float, low: float, high: float) -> None:
    assert 0 <= Scale(low, high).share(number) <= 1


def test_a_number_that_is_none_has_no_place() -> None:
    assert Scale().at(math.nan) == ""
    assert Scale(-1, 1).at(0) == "50.00%"


def test_a_scale_of_nothing_is_the_whole_range() -> None:
    assert around([], (0, 1)) == Scale(0, 1)
    assert around([math.nan, math.inf], (0, 1)) == Scale(0, 1)


# -- matrices --------------------------------------------------------------------------------------


def matrix(cells: list[list[float]]) -> Matrix:
    names = tuple(f"c{i}" for i in range(len(cells)))
    return Matrix("caption", names, tuple(map(tuple, cells)))


def test_classes_with_most_errors_come_first() -> None:
    heat = heat_of(matrix([[9, 0, 0], [1, 5, 4], [0, 3, 9]]), LIMITS)
    assert [head.shown for head in heat.heads] == ["c1", "c2", "c0"]
    first, squares, total = heat.rows[0]
    assert (first.shown, total) == ("c1", "10")
    assert [square.text for square in squares] == ["5", "4", "1"]
    assert [square.right for square in squares] == [True, False, False]
    assert squares[1].title == "c1 decided as c2: 4 of 10 (40%)"


def test_two_classes_keep_their_order() -> None:
    heat = heat_of(matrix([[1, 9], [0, 5]]), LIMITS)
    assert [head.shown for head in heat.heads] == ["c0", "c1"]
    assert heat.notes == ()


@pytest.mark.parametrize(("size", "shown"), [(3, 3), (6, 6), (7, 7), (8, 7), (40, 7)])
def test_other_classes_share_the_last_row_and_column(size: int, shown: int) -> None:
    cells = np.random.default_rng(size).integers(0, 100, (size, size))
    heat = heat_of(matrix(cells.tolist()), replace(LIMITS, classes=6))
    assert len(heat.heads) == len(heat.rows) == shown
    assert (heat.heads[-1].shown == f"{size - 6} others") == (size > 7)
    assert sum(int(total.replace(",", "")) for *_, total in heat.rows) == cells.sum()


def test_an_empty_class_has_no_shade() -> None:
    heat: HeatMap = heat_of(matrix([[0, 0, 0], [0, 3, 0], [0, 1, 2]]), LIMITS)
    [row] = [squares for name, squares, _ in heat.rows if name.shown == "c0"]
    assert {(square.text, square.shade) for square in row} == {("0", 0)}


@given(shares)
def test_a_shade_is_one_of_ten_and_none_only_for_nothing(share: float) -> None:
    assert 0 <= shade(share) <= 9
    assert (shade(share) == 0) == (share == 0)


# -- reliability -----------------------------------------------------------------------------------


def test_reliability_is_drawn_where_there_are_rows() -> None:
    assert PANEL.reliability is not None
    reliability_chart = reliability_of({**PANEL.reliability, "n": (6.0, 0.0, 3.0)})
    assert len(reliability_chart.bins) == 2
    first = reliability_chart.bins[0]
    assert (first.x, first.y) == (
        f"{FRAME.left + 0.1 * (FRAME.right - FRAME.left):.1f}",
        f"{FRAME.bottom - 0.05 * (FRAME.bottom - FRAME.top):.1f}",
    )
    assert "2 of 2 bins" in reliability_chart.description
    assert "6 rows" in first.title


# -- text ------------------------------------------------------------------------------------------


def test_a_long_name_is_cut_and_its_title_holds_more() -> None:
    assert cut_name("short", 64) == ShownName("short", "")
    long = cut_name("x" * 10_000, 64)
    assert (len(long.shown), len(long.full)) == (64, 300)


def test_pieces_of_a_sentence_make_the_sentence() -> None:
    text = "At 0.1% it is 95.7% [94.8, 96.1] of [some] 3 rows, or -0.2 [-0.5, 0.1]."
    parts = sentence_parts(text, LIMITS)
    assert "".join(part for _, part in parts) == text
    marked = [(kind, part) for kind, part in parts if kind]
    assert marked == [
        ("number", "0.1%"),
        ("number", "95.7%"),
        ("interval", "[94.8, 96.1]"),
        ("interval", "[-0.5, 0.1]"),
    ]
