"""Daily tallies add, go to bytes and back, and refuse what was counted otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import TallyError
from assay.tally import DailyTally, from_bytes

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
    found = one.without(other.days) + other
    kept = {cell: n for cell, n in one.cells.items() if cell[0] not in other.days}
    assert found.cells == {**kept, **other.cells}
    assert (found + DailyTally()).without(found.days).is_zero


def test_days_counted_otherwise_are_refused() -> None:
    cell = {("2026-03-01", "", "flagged", ""): 1}
    with pytest.raises(TallyError, match="unlike settings"):
        DailyTally({"threshold": 0.5}, cell) + DailyTally({"threshold": 0.7}, cell)


def test_damaged_bytes_are_refused() -> None:
    whole = DailyTally({"time": "t"}, {("2026-03-01", "", "flagged", ""): 1}).to_bytes()
    for cut in range(1, len(whole), 7):
        with pytest.raises(TallyError):
            from_bytes(whole[:-cut])
