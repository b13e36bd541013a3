"""Daily tallies add, go to bytes and back, and refuse what was counted otherwise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import TallyError
from assay.tally import DailyTally, codec, from_bytes

DAYS = st.sampled_from(["2026-03-01", "2026-03-02", "2026-03-05"])
NAMES = st.sampled_from(["", "attack", "normal", "flagged"])
CELLS = st.dictionaries(st.tuples(DAYS, NAMES, NAMES, NAMES), st.integers(1, 9), min_size=1)
SLOTS = st.dictionaries(DAYS, st.tuples(*[st.integers(0, 5)] * 3))
ENDS = st.floats(-5, 5, allow_nan=False)
EXTREMES = st.dictionaries(DAYS, st.tuples(ENDS, ENDS).map(lambda two: (min(two), max(two))))


@st.composite
def tallies(draw: st.DrawFn) -> DailyTally:
    cells = draw(CELLS)
    there = {day for day, *_ in cells}
    slots = {day: held for day, held in draw(SLOTS).items() if day in there}
    extremes = {day: held for day, held in draw(EXTREMES).items() if day in there}
    return DailyTally({"time": "t"}, cells, {"score": slots}, {"score": extremes})


@given(tallies(), tallies(), tallies())
def test_adding_has_a_zero_and_knows_no_order(
    one: DailyTally, other: DailyTally, third: DailyTally
) -> None:
    assert one + DailyTally() == one == DailyTally() + one
    assert one + other == other + one
    assert ((one + other) + third).to_bytes() == (one + (other + third)).to_bytes()
    assert (one + other).rows == one.rows + other.rows


@given(tallies())
def test_bytes_come_back(one: DailyTally) -> None:
    again = from_bytes(one.to_bytes())
    assert again == one
    assert again.to_bytes() == one.to_bytes()


@given(tallies(), tallies())
def test_days_that_are_taken_out_and_counted_anew_are_as_counted_once(
    one: DailyTally, other: DailyTally
) -> None:
    total = one.without(other.days) + other
    kept = {cell: n for cell, n in one.cells.items() if cell[0] not in other.days}
    assert total.cells == {**kept, **other.cells}
    assert (total + DailyTally()).without(total.days).is_zero


def test_days_counted_otherwise_are_refused() -> None:
    cell = {("2026-03-01", "", "flagged", ""): 1}
    with pytest.raises(TallyError, match="unlike settings"):
        DailyTally({"threshold": 0.5}, cell) + DailyTally({"threshold": 0.7}, cell)


def test_damaged_bytes_are_refused() -> None:
    whole = DailyTally({"time": "t"}, {("2026-03-01", "", "flagged", ""): 1}).to_bytes()
    for cut in range(1, len(whole), 7):
        with pytest.raises(TallyError):
            from_bytes(whole[:-cut])


ONE = DailyTally(
    {"time": "t"},
    {("2026-03-02", "b", "flagged", ""): 3, ("2026-03-01", "a", "below", "flagged"): 2},
    {"score": {"2026-03-02": (1, 2), "2026-03-01": (3, 4)}, "none": {}},
    {"score": {"2026-03-01": (-0.5, 0.25)}},
)
OTHER = DailyTally(
    {"time": "t"},
    {("2026-03-02", "b", "flagged", ""): 4, ("2026-03-05", "", "below", ""): 1},
    {"score": {"2026-03-02": (10, 20), "2026-03-05": (5, 6)}, "age": {"2026-03-05": (7,)}},
    {"score": {"2026-03-01": (-0.25, 0.5), "2026-03-05": (0.0, 1.0)}},
)


def test_cells_slots_and_extremes_stand_by_day() -> None:
    assert list(ONE.cells) == sorted(ONE.cells)
    assert ONE.days == ("2026-03-01", "2026-03-02")
    assert (ONE.rows, ONE.rows_by_day()) == (5, {"2026-03-01": 2, "2026-03-02": 3})
    assert list(ONE.slots) == ["score"]
    assert list(ONE.slots["score"]) == ["2026-03-01", "2026-03-02"]
    assert not ONE.is_zero
    assert DailyTally({"time": "t"}).is_zero


def test_days_add_cell_by_cell_and_slot_by_slot() -> None:
    total = ONE + OTHER
    assert total == OTHER + ONE
    assert total.cells == {
        ("2026-03-01", "a", "below", "flagged"): 2,
        ("2026-03-02", "b", "flagged", ""): 7,
        ("2026-03-05", "", "below", ""): 1,
    }
    assert total.slots == {
        "age": {"2026-03-05": (7,)},
        "score": {"2026-03-01": (3, 4), "2026-03-02": (11, 22), "2026-03-05": (5, 6)},
    }
    assert total.extremes == {"score": {"2026-03-01": (-0.5, 0.5), "2026-03-05": (0.0, 1.0)}}
    assert from_bytes(total.to_bytes()) == total
    assert ONE.slots["score"]["2026-03-02"] == (1, 2)


def test_days_that_are_taken_out_leave_nothing() -> None:
    rest = (ONE + OTHER).without({"2026-03-01", "2026-03-02"})
    assert rest.cells == {("2026-03-05", "", "below", ""): 1}
    assert rest.slots == {"age": {"2026-03-05": (7,)}, "score": {"2026-03-05": (5, 6)}}
    assert rest.extremes == {"score": {"2026-03-05": (0.0, 1.0)}}


def _bytes(
    cells: object, days: object = ("2026-03-01", "2026-03-02"), settings: object = None
) -> bytes:
    header = {
        "settings": {} if settings is None else settings,
        "days": days,
        "names": ["", "flagged"],
        "slots": [],
        "extremes": [],
    }
    return codec.write("daily", header, {"cells": np.array(cells)})


def test_cells_are_read_by_their_places() -> None:
    read = from_bytes(_bytes([[0, 1, 0, 0, 5], [1, 0, 1, 1, 0]]))
    assert read.cells == {
        ("2026-03-01", "flagged", "", ""): 5,
        ("2026-03-02", "", "flagged", "flagged"): 0,
    }


@pytest.mark.parametrize("place", range(5))
def test_cells_of_negative_places_or_counts_are_refused(place: int) -> None:
    cell = [1, 1, 1, 1, 1]
    cell[place] = -1
    with pytest.raises(TallyError, match=r"is negative|a number of rows is -1"):
        from_bytes(_bytes([cell]))


def test_days_out_of_order_and_settings_that_are_none_are_refused() -> None:
    for days in (["2026-03-02", "2026-03-01"], ["2026-03-01", "2026-03-01"]):
        with pytest.raises(TallyError, match="its days are not in order"):
            from_bytes(_bytes([[0, 0, 0, 0, 1]], days))
    with pytest.raises(TallyError, match="its settings are none"):
        from_bytes(_bytes([[0, 0, 0, 0, 1]], settings=[]))
