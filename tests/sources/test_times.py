"""The day of a moment, in UTC, and the periods that days are in."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import InputError
from assay.sources.files import Request, Rows, read
from assay.sources.times import (
    LONGEST_SPAN,
    PERIODS,
    absent,
    day_names,
    days_of,
    moments_of,
    period_of,
    positions,
)


def day(text: str) -> dt.date | None:
    day_numbers = days_of(pl.Series([text]))
    assert day_numbers is not None
    value: dt.date | None = day_numbers.days[0]
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024-02-29 23:59", "2024-02-29"),
        ("2024-03-01T23:30:00-02:00", "2024-03-02"),
        ("2024-03-01T00:30+02", "2024-02-29"),
        ("2024-03-01 00:30:00.123456 +0530", "2024-02-29"),
        ("2024-03-01T12:00:00Z", "2024-03-01"),
        ("2016-12-31T23:59:60Z", "2016-12-31"),
        ("1709251200", "2024-03-01"),
        ("1709251199", "2024-02-29"),
        ("1709251200000", "2024-03-01"),
        ("1709251200000000", "2024-03-01"),
        ("1709251200000000000", "2024-03-01"),
        ("1709251199.5", "2024-02-29"),
    ],
)
def test_moments_that_are_read(text: str, expected: str) -> None:
    assert day(text) == dt.date.fromisoformat(expected)


@pytest.mark.parametrize(
    "text",
    ["", "x", "2023-02-29", "2024-13-01", "2024-03-01T24:00", "2024-3-1", "01/03/2024", "20240301",
     "2024-03-01T12", "2024-03-01T12:60", "2024-03-01T12:00+25:00", "nan", "inf", "-5", "1e30"],
)  # fmt: skip
def test_what_is_no_moment(text: str) -> None:
    assert day(text) is None


@given(st.datetimes(dt.datetime(1974, 1, 1), dt.datetime(2200, 1, 1)))  # noqa: DTZ001
def test_numbers_and_text_name_the_same_day(moment: dt.datetime) -> None:
    aware = moment.replace(tzinfo=dt.UTC)
    seconds = int(aware.timestamp() // 1)
    for text in (aware.isoformat(), str(seconds), str(seconds * 1000), str(seconds * 10**9)):
        assert day(text) == moment.date()


@given(
    st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1)),  # noqa: DTZ001
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_the_day_is_that_of_utc(moment: dt.datetime, offset: int) -> None:
    aware = moment.replace(tzinfo=dt.timezone(dt.timedelta(minutes=offset)))
    assert day(aware.isoformat()) == aware.astimezone(dt.UTC).date()


def rows_of(column: pl.Series) -> Rows:
    file = io.BytesIO()
    frame = pl.DataFrame({"label": ["a"] * len(column), "score": [1.0] * len(column), "at": column})
    frame.write_parquet(file)
    file.seek(0)
    return read(["-"], Request(time="at"), stdin=file)


MOMENT = dt.datetime(2024, 3, 1, 23, 30)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pl.Series([MOMENT.date()]), "2024-03-01"),
        (pl.Series([MOMENT]), "2024-03-01"),
        (pl.Series([MOMENT]).dt.replace_time_zone("America/New_York"), "2024-03-02"),
        (pl.Series([MOMENT]).dt.cast_time_unit("ns"), "2024-03-01"),
        (pl.Series([1709335799]), "2024-03-01"),
        (pl.Series([1709335799999999999]), "2024-03-01"),
        (pl.Series([1709335800.5]), "2024-03-01"),
        (pl.Series(["2024-03-01"], dtype=pl.Categorical), "2024-03-01"),
    ],
)
def test_columns_of_times_become_days(column: pl.Series, expected: str) -> None:
    rows = rows_of(column)
    assert rows.time == "at"
    assert rows.columns["times"].names == (expected,)


def test_a_column_of_something_else_is_no_time() -> None:
    with pytest.raises(InputError, match="row 1: column 'at': found Boolean, expected times"):
        rows_of(pl.Series([True]))


def test_a_missing_time_is_a_bad_row() -> None:
    with pytest.raises(InputError, match="row 2: column 'at': found nothing"):
        rows_of(pl.Series([MOMENT, None]))


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([2**63 - 1]).cast(pl.Datetime("us")),
        pl.Series([-(2**62)]).cast(pl.Datetime("ms", "UTC")),
        pl.Series([2**31 - 1], dtype=pl.Int32).cast(pl.Date),
        pl.Series(["0000-01-01"]),
        pl.Series(["9999-12-31T23:30:00-05:00"]),
    ],
)
def test_a_moment_that_has_no_date_is_a_bad_row(column: pl.Series) -> None:
    with pytest.raises(InputError, match=r"row 1: column 'at': found .*, expected a date"):
        rows_of(column)


@pytest.mark.parametrize("unit", ["Y", "D", "h", "s", "ms"])
@pytest.mark.parametrize("number", [2**62, -(2**62), 10**17])
def test_a_moment_beyond_all_microseconds_is_not_another_one(unit: str, number: int) -> None:
    moments = np.array([0, number], f"datetime64[{unit}]")
    with pytest.raises(InputError, match="found nothing in row 2"):
        day_names(moments, "at")


@given(st.integers(-(10**18), 10**18), st.sampled_from(["W", "D", "h", "m", "s", "ms", "us", "ns"]))
def test_a_moment_of_numpy_is_that_of_python_or_missing(number: int, unit: str) -> None:
    (moment,) = moments_of(np.array([number], f"datetime64[{unit}]"), "at").dt.epoch("us")
    micros = number * {"W": 7 * 864 * 10**8, "D": 864 * 10**8, "h": 36 * 10**8, "m": 6 * 10**7}.get(
        unit, 10 ** {"s": 6, "ms": 3}.get(unit, 0)
    )
    micros = number // 1000 if unit == "ns" else micros
    first, last = ((day - dt.date(1970, 1, 1)).days for day in (dt.date.min, dt.date.max))
    if first <= micros // (864 * 10**8) <= last:
        assert moment == micros
    else:
        assert moment is None or (unit in ("W", "us", "ns") and moment == micros)


def test_mixed_zones_are_found_over_pieces() -> None:
    text = "label,score,at\n" + "a,1,2024-01-01\n" * 50 + "a,1,1700000000\n"
    for chunk in (16, 1 << 20):
        with pytest.raises(InputError, match=r"line 52: .* has a time zone and .*line 2 has none"):
            read(["-"], Request(time="at", chunk_bytes=chunk), stdin=io.BytesIO(text.encode()))


# -- periods ---------------------------------------------------------------------------------------

days = st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1))


@given(days)
def test_periods_are_named_as_iso_8601_names_them(day: dt.date) -> None:
    names = {period: period_of(day.isoformat(), period) for period in PERIODS}
    assert names == {
        "day": day.isoformat(),
        "week": day.strftime("%G-W%V"),
        "month": day.strftime("%Y-%m"),
    }


@given(st.lists(days, min_size=1, max_size=4), st.sampled_from(PERIODS))
def test_periods_and_those_between_them_follow_without_a_gap(
    drawn: list[dt.date], period: str
) -> None:
    near = [min(drawn) + (day - min(drawn)) % dt.timedelta(days=400) for day in drawn]
    names = sorted({period_of(day.isoformat(), period) for day in near})
    every = sorted([*names, *absent(names, period)])
    assert positions(every, period) == list(range(len(every)))
    assert not set(names) & set(absent(names, period))


def test_no_periods_lack_none() -> None:
    assert absent([], "day") == ()


@pytest.mark.parametrize("period", PERIODS)
def test_the_last_and_the_first_days_of_all_are_in_a_period(period: str) -> None:
    for days in ("9999-11-20", "9999-12-31"), ("0001-01-01", "0001-02-20"):
        names = [period_of(day, period) for day in days]
        between = positions(names, period)[1] - 1
        assert len(absent(names, period)) == between


def test_times_that_lie_centuries_apart_are_refused() -> None:
    first = dt.date(2026, 3, 1)
    last = first + dt.timedelta(days=LONGEST_SPAN)
    assert len(absent([first.isoformat(), last.isoformat()], "day")) == LONGEST_SPAN - 1
    with pytest.raises(InputError, match="from 2026-03-01 to 9999-12-31, 2,912,383 days later"):
        absent(["2026-03-01", "9999-12-31"], "day")


SECONDS = np.array([1_790_000_000, 2**63 - 1, 1_790_003_600, 2**61], np.int64)


def in_columns(kind: str) -> object:
    """Whole seconds, two of which have no date, in a column of some library."""
    of_arrow = pa.array(SECONDS, pa.timestamp("s", "UTC" if "zoned" in kind else None))
    if kind == "numpy":
        return SECONDS.astype("datetime64[s]")
    if kind == "pandas":
        return pd.Series(SECONDS.astype("datetime64[s]"))
    if kind == "pandas of arrow":
        return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([of_arrow])))
    return of_arrow


@pytest.mark.parametrize("kind", ["numpy", "pandas", "pandas of arrow", "arrow", "zoned arrow"])
def test_seconds_beyond_the_calendar_do_not_wrap_round_in_frames_and_columns(kind: str) -> None:
    times = in_columns(kind)
    with pytest.raises(
        InputError, match=r"found nothing in row 2 \(counted from 1\), expected a date"
    ):
        day_names(times, "times")
    rows = {"label": ["a", "b", "a", "b"], "score": [0.1, 0.2, 0.3, 0.4], "time": times}
    frames = [rows, pd.DataFrame(rows)] if "pandas" in kind else [rows]
    frames += [pa.table(rows)] if "arrow" in kind and "pandas" not in kind else []
    for frame in frames:
        with pytest.raises(InputError, match="row 2: column 'time': found nothing, expected"):
            assay.evaluate(frame, label="label", score="score", time="time", positive="b")
