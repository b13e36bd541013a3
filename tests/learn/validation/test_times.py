from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.learn.validation import RowsToSplit, Since, Sliding

DAY = 86_400
START = datetime(2024, 3, 28, 12, tzinfo=UTC)
HOURS = [START + timedelta(hours=6 * i) for i in range(40)]
CLASSES = [0, 1] * 20


def rows(times: Any) -> RowsToSplit:
    return RowsToSplit.of_arrays(None, CLASSES[: len(times)], times)


def learned(splitter: Since | Sliding, times: Any) -> list[list[int]]:
    return [split.train.tolist() for split in splitter.splits(rows(times))]


def test_rows_from_the_moment_on_are_judged() -> None:
    split = Since("2024-03-29T12:00:00Z").splits(rows(HOURS))[0]
    assert split.train.tolist() == [0, 1, 2, 3]
    assert split.test[0] == 4  # the row of that very moment


@pytest.mark.parametrize(
    "zone", [UTC, timezone(timedelta(hours=2)), timezone(-timedelta(hours=9, minutes=30))]
)
def test_zones_do_not_change_a_split(zone: timezone) -> None:
    local = [moment.astimezone(zone) for moment in HOURS]
    border = datetime(2024, 3, 31, 1, tzinfo=UTC).astimezone(zone).isoformat()
    plain = learned(Since("2024-03-31T01:00:00Z"), HOURS)
    assert learned(Since(border), local) == plain
    assert learned(Since(border), [moment.isoformat() for moment in local]) == plain
    assert learned(Since(border), [int(moment.timestamp()) for moment in HOURS]) == plain


def test_an_hour_that_comes_twice_is_told_apart_by_its_offset() -> None:
    berlin = pl.Series([START] * 4).dt.convert_time_zone("Europe/Berlin")
    late = pl.datetime_range(
        datetime(2024, 10, 26, 23, 30, tzinfo=UTC),
        datetime(2024, 10, 27, 2, 30, tzinfo=UTC),
        "1h",
        eager=True,
    ).dt.convert_time_zone("Europe/Berlin")
    assert late.dt.hour().to_list() == [1, 2, 2, 3]
    split = Since("2024-10-27T02:15:00+01:00").splits(rows(late))[0]
    assert split.train.tolist() == [0, 1]
    assert berlin.dtype == late.dtype


def test_a_date_without_a_zone_is_in_utc_where_rows_have_one() -> None:
    assert learned(Since("2024-03-30"), HOURS) == learned(Since("2024-03-30T00:00:00Z"), HOURS)


def test_a_date_with_a_zone_is_refused_where_rows_have_none() -> None:
    naive = [moment.replace(tzinfo=None) for moment in HOURS]
    with pytest.raises(InputError, match="has a time zone and the times of the rows have none"):
        learned(Since("2024-03-30T00:00:00Z"), naive)
    assert learned(Since("2024-03-30"), naive) == learned(Since("2024-03-30"), HOURS)


@pytest.mark.parametrize("as_text", [True, False])
def test_naive_and_aware_times_mixed_are_refused(as_text: bool) -> None:
    mixed = [*HOURS[:7], *(moment.replace(tzinfo=None) for moment in HOURS[7:])]
    times = [moment.isoformat() for moment in mixed] if as_text else mixed
    for splitter in (Since("2024-03-30"), Sliding(DAY, DAY)):
        with pytest.raises(InputError, match=r"row 8: .* has no time zone and row 1 has one"):
            splitter.splits(rows(times))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_of_numpy_times_does_not_matter(unit: str) -> None:
    naive = np.array([moment.replace(tzinfo=None) for moment in HOURS], f"datetime64[{unit}]")
    assert learned(Since("2024-03-30"), naive) == learned(Since("2024-03-30"), HOURS)


def test_a_date_before_all_rows_is_refused() -> None:
    with pytest.raises(InputError, match="no row is before 2024-03-28T12:00:00Z; the first is of"):
        learned(Since("2024-03-28T12:00:00"), HOURS)


def test_a_date_after_all_rows_is_refused() -> None:
    with pytest.raises(InputError, match="no row is of 2025-01-01Z or later; the last is of 2024"):
        learned(Since("2025-01-01"), HOURS)


def test_one_class_before_the_date_is_refused() -> None:
    with pytest.raises(InputError, match="leaves only class '0' in the training part"):
        Since("2024-03-30").splits(RowsToSplit.of_arrays(None, [0] * 10 + [1] * 30, HOURS))


@pytest.mark.parametrize("date", ["yesterday", "2024-13-01", "20240301", ""])
def test_what_is_no_date_is_refused(date: str) -> None:
    with pytest.raises(InputError, match="can't be read: expected one such as 2024-03-01"):
        Since(date)


def test_a_time_that_can_not_be_read_is_refused_with_its_row() -> None:
    with pytest.raises(InputError, match=r"row 2: .* found 'soon', expected a date"):
        Since("2024-03-01").splits(rows(["2024-01-01", "soon", "2024-05-01"]))
    with pytest.raises(InputError, match=r"row 1: .* found 0, expected a date"):
        Since("2024-03-01").splits(rows([0, 1, 2]))


def test_windows_move_by_the_length_of_the_test() -> None:
    splits = Sliding(2 * DAY, DAY).splits(rows(HOURS))
    assert splits[0].name == "2024-03-30T12:00:00Z to 2024-03-31T12:00:00Z"
    assert [len(split.train) for split in splits] == [8] * 8
    assert [len(split.test) for split in splits] == [4] * 8
    assert splits[0].counts().by_part == (8, 4, 28)
    judged = np.concatenate([split.test for split in splits])
    assert judged.tolist() == list(range(8, 40))
    for split in splits:
        assert split.train.max() < split.test.min()


def test_windows_without_rows_are_jumped_over() -> None:
    decade = [*HOURS[:20], *(moment + timedelta(days=3650) for moment in HOURS[:20])]
    splits = Sliding(DAY, DAY).splits(rows(decade))
    judged = np.concatenate([split.test for split in splits])
    # The first day, and the day after the gap, which has nothing before it.
    assert sorted(set(range(40)) - set(judged.tolist())) == [0, 1, 2, 3, 20, 21, 22, 23]


def test_a_window_of_one_class_teaches_nothing() -> None:
    classes = [0] * 20 + [0, 1] * 10
    splits = Sliding(DAY, DAY).splits(RowsToSplit.of_arrays(None, classes, HOURS))
    assert min(split.test.min() for split in splits) == 24


def test_windows_longer_than_the_data_are_refused() -> None:
    with pytest.raises(InputError, match="Take shorter windows"):
        Sliding(300 * DAY, DAY).splits(rows(HOURS))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 10**6), min_size=30, max_size=60), st.integers(1, 9))
def test_windows_judge_no_row_twice_and_learn_only_the_past(seconds: list[int], share: int) -> None:
    times = np.datetime64("2024-01-01T00:00:00", "us") + np.array(seconds).astype("timedelta64[s]")
    classes = np.arange(len(times)) % 2
    splitter = Sliding(300_000, share * 30_000)
    try:
        splits = splitter.splits(RowsToSplit.of_arrays(None, classes, times))
    except InputError:
        return
    judged = np.concatenate([split.test for split in splits])
    assert len(set(judged.tolist())) == len(judged)
    for split in splits:
        assert times[split.train].max() < times[split.test].min()
        assert times[split.test].max() - times[split.train].min() < np.timedelta64(
            300_000 + share * 30_000, "s"
        )


def test_the_model_to_keep_learns_from_the_newest_window() -> None:
    rows_to_split = rows(HOURS)
    splitter = Sliding(2 * DAY, DAY)
    newest, said = splitter.lasting(rows_to_split, splitter.splits(rows_to_split))
    assert (newest.tolist(), said) == (list(range(32, 40)), "the newest window")


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone can't be set here")
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/St_Johns"])
def test_the_zone_of_the_machine_does_not_matter(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [f"2024-03-31T0{hour}:30:00" for hour in range(1, 5)]  # 02:30 is not in Berlin's day
    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        parts = learned(Since("2024-03-31T02:30:00"), [clock[i // 2] for i in range(8)])
    time.tzset()
    assert parts == [[0, 1]]


def test_where_the_newest_window_has_one_class_the_last_judged_one_is_kept() -> None:
    rows_to_split = RowsToSplit.of_arrays(None, [0, 1] * 10 + [0] * 20, HOURS)
    splitter = Sliding(2 * DAY, DAY)
    splits = splitter.splits(rows_to_split)
    kept, said = splitter.lasting(rows_to_split, splits)
    assert said == "the last window that was judged"
    assert kept.tolist() == splits[-1].train.tolist()


def test_values_of_unlike_types_are_told_apart_as_text() -> None:
    with pytest.raises(InputError, match=r"row 3: .* found '3', expected a date"):
        learned(Since("2024-03-30"), [*HOURS[:2], 3])
