"""Moments in UTC, against Python's own reading of them."""

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.learn.feature_values import MomentCheck, moments_of

MOMENTS = st.datetimes(dt.datetime(1974, 1, 1), dt.datetime(2200, 1, 1))  # noqa: DTZ001
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))


@given(MOMENTS, OFFSETS, st.sampled_from("T "))
def test_text_with_an_offset_is_read_as_python_does(moment, zone, between) -> None:
    aware = moment.replace(tzinfo=zone)
    (micros,) = moments_of(pl.Series("t", [aware.isoformat(sep=between)])).to_list()
    assert micros == aware.astimezone(dt.UTC).replace(tzinfo=None)


@given(MOMENTS)
def test_text_without_a_zone_stays_as_it_is(moment) -> None:
    (micros,) = moments_of(pl.Series("t", [moment.isoformat()])).to_list()
    assert micros == moment


@given(MOMENTS, st.sampled_from([1, 10**3, 10**6, 10**9]), st.booleans())
def test_numbers_are_counted_from_1970_in_the_unit_their_size_tells(moment, unit, as_text) -> None:
    since = moment - dt.datetime(1970, 1, 1)  # noqa: DTZ001
    whole = since // dt.timedelta(microseconds=1)
    number = whole * unit // 10**6
    (micros,) = moments_of(pl.Series("t", [str(number) if as_text else number])).to_list()
    lost = moment - micros
    assert (
        dt.timedelta(0)
        <= lost
        < dt.timedelta(seconds=1) / min(unit, 10**6) + dt.timedelta(microseconds=1)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", "2024-03-01T00:00:00"),
        ("2024-03-01 12:30", "2024-03-01T12:30:00"),
        ("2024-03-01T12:30:00,5", "2024-03-01T12:30:00.500000"),
        ("2024-03-01T12:30:00.123456789Z", "2024-03-01T12:30:00.123456"),
        ("2024-12-31T23:59:60Z", "2025-01-01T00:00:00"),
        ("2024-03-01T00:10:00+0530", "2024-02-29T18:40:00"),
        ("1709251200.25", "2024-03-01T00:00:00.250000"),
    ],
)
def test_other_ways_to_write_a_moment(text: str, expected: str) -> None:
    (moment,) = moments_of(pl.Series("t", [text])).to_list()
    assert moment.isoformat() == expected


def test_what_is_no_time_is_wrong_and_says_what_was_expected() -> None:
    values = pl.Series("t", ["2024-03-01", "soon", None])
    moments, problems = MomentCheck("t").check(values, str)
    (problem,) = problems
    assert problem.rows.tolist() == [False, True, True]
    assert "found 'soon', expected a date" in problem.why(1)
    assert moments.null_count() == 2


def test_columns_of_moments_with_a_zone_are_in_utc() -> None:
    values = pl.Series("t", [dt.datetime(2024, 7, 1, 12)]).dt.replace_time_zone("Europe/Paris")  # noqa: DTZ001
    check = MomentCheck("t")
    moments, problems = check.check(values, str)
    assert not problems
    assert check.zoned is True
    assert moments.to_list() == [dt.datetime(2024, 7, 1, 10)]  # noqa: DTZ001
