"""Moments are read exactly: to the microsecond, in UTC, or refused."""

import datetime as dt
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.sources.logs import Clock

EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
MICROSECOND = dt.timedelta(microseconds=1)
# From 1973 on a number of seconds is told from one of milliseconds.
moments = st.datetimes(dt.datetime(1974, 1, 1), dt.datetime(2200, 1, 1))  # noqa: DTZ001 - a zone is added
# Further on tables of zones end, each in its own way.
recent = moments.filter(lambda moment: moment.year < 2038)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: dt.timedelta(minutes=minutes))


def micros(moment: dt.datetime) -> int:
    return (moment - EPOCH) // MICROSECOND


def read(*texts: object, timezone: str | None = None, year: int | None = None) -> list[int | None]:
    return Clock(timezone, year).read(pl.Series(texts)).micros.to_list()


def reasons(*texts: str, timezone: str | None = None, year: int | None = None) -> list[str]:
    clock_reading = Clock(timezone, year).read(pl.Series(texts))
    return [problem.why(int(problem.rows.argmax())) for problem in clock_reading.problems]


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-02T04:36:54.841235+0000",
        "2026-11-02T04:36:54.841235Z",
        "2026-11-02 04:36:54.841235 UTC",
        "2026-11-02T05:36:54,841235+01",
        "2026-11-01T23:06:54.841235-05:30",
        "1793594214.841235",
        "1793594214841.235",
        "1793594214841235",
        "1793594214841235000",
        "1793594214841234500",  # half a microsecond is rounded up
        "1793594214.8412349999",
        " 2026-11-02T04:36:54.8412345Z ",
    ],
)
def test_one_moment_is_the_same_however_it_is_written(text: str) -> None:
    assert read(text) == [1_793_594_214_841_235]


@pytest.mark.parametrize(
    "text",
    ["11/02/2026-04:36:54.841235", "2026/11/02-04:36:54.841235", "2026-11-02 04:36:54.841235"],
)
def test_a_moment_without_a_zone_is_that_of_the_zone_given(text: str) -> None:
    assert read(text, timezone="UTC") == [1_793_594_214_841_235]
    assert read(text, timezone="+01:00") == [1_793_594_214_841_235 - 3_600_000_000]
    assert read(text, timezone="America/New_York") == [1_793_594_214_841_235 + 5 * 3_600_000_000]


@pytest.mark.parametrize(
    "text", ["11/02-04:36:54.841235", "Nov  2 04:36:54.841235", "Nov 02 04:36:54.841235"]
)
def test_a_moment_without_a_year_is_that_of_the_year_given(text: str) -> None:
    assert read(text, timezone="UTC", year=2026) == [1_793_594_214_841_235]
    assert "has no year: say year=2026" in reasons(text, timezone="UTC")[0]


def test_cef_writes_the_month_as_a_word() -> None:
    assert read("Nov 02 2026 04:36:54.841 UTC") == [1_793_594_214_841_000]
    assert read("Nov 2 2026 04:36:54", timezone="UTC") == [1_793_594_214_000_000]


def test_a_moment_without_a_zone_is_refused_and_the_option_named() -> None:
    (reason,) = reasons("2026-11-02T04:36:54")
    assert reason.startswith("time: found '2026-11-02T04:36:54', which has no zone: say timezone=")


@pytest.mark.parametrize("text", ["2026-10-25T02:30:00", "2026-03-29T02:30:00"])
def test_an_hour_that_clocks_show_twice_or_never_is_no_certain_moment(text: str) -> None:
    assert read(text, timezone="Europe/Berlin") == [None]
    assert "twice or not at all" in reasons(text, timezone="Europe/Berlin")[0]


@pytest.mark.parametrize(
    "text",
    [
        *("2026-02-30T00:00:00Z", "2026-11-02T24:00:00Z", "2026-13-02T00:00:00Z", "soon", "-5"),
        *(
            "20261102",
            "1e9",
            "2026-11-02T04:36:54+25:00",
            "11/02/26-04:36:54",
            "99999999999999999999",
        ),
        *("32/99/2026-04:36:54", "nan"),
    ],
)
def test_what_is_no_moment_is_refused_with_what_was_found(text: str) -> None:
    assert read(text, timezone="UTC") == [None]
    (reason,) = reasons(text, timezone="UTC")
    assert reason.startswith(f"time: found {text!r}, expected a moment such as")


def test_a_missing_moment_is_missing() -> None:
    clock_reading = Clock().read(pl.Series(["", None, "2026-11-02T04:36:54Z"]))
    assert [problem.rows.tolist() for problem in clock_reading.problems] == [[True, True, False]]
    assert clock_reading.problems[0].kind == "time: missing"


def test_a_leap_second_is_the_next_second() -> None:
    assert read("2016-12-31T23:59:60Z") == read("2017-01-01T00:00:00Z")


def test_columns_of_moments_and_of_numbers_are_read_too() -> None:
    naive = pl.Series([dt.datetime(2026, 11, 2, 4)])  # noqa: DTZ001 - without a zone is the point
    zoned = naive.dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    expected = [micros(dt.datetime(2026, 11, 2, 4, tzinfo=dt.UTC))]
    assert Clock().read(zoned).micros.to_list() == expected
    assert Clock("UTC").read(naive).micros.to_list() == expected
    assert Clock().read(naive).problems[0].fatal
    assert read(1_793_594_214.841235, 1_793_594_214.0) == [
        *(1_793_594_214_841_235, 1_793_594_214_000_000)
    ]
    assert read(1_793_594_214_841_235_000) == [1_793_594_214_841_235]


def test_zones_that_are_not_known_are_refused() -> None:
    with pytest.raises(InputError, match="timezone='Mars' is not known; expected UTC"):
        Clock("Mars")
    with pytest.raises(InputError, match="year=26 is no year"):
        Clock("UTC", 26)


@given(
    st.lists(st.tuples(moments, offsets), min_size=1, max_size=5), st.sampled_from(["%z", "%:z"])
)
def test_what_python_writes_is_read_back(
    written: list[tuple[dt.datetime, dt.timedelta]], zone: str
) -> None:
    aware = [moment.replace(tzinfo=dt.timezone(offset)) for moment, offset in written]
    texts = [
        moment.isoformat() if zone == "%:z" else moment.strftime("%Y-%m-%dT%H:%M:%S.%f%z")
        for moment in aware
    ]
    assert read(*texts) == [micros(moment) for moment in aware]


@given(st.integers(10**15, 9 * 10**15), st.integers(0, 9))
@example(1_700_000_000_123_456, 6)
@example(1_699_999_999_999_999, 5)
def test_seconds_are_rounded_by_their_digits(moment: int, digits: int) -> None:
    seconds = Decimal(moment).scaleb(-6).quantize(Decimal(1).scaleb(-digits))
    expected = int((seconds * 10**6).quantize(Decimal(1), ROUND_HALF_UP))
    assert read(f"{seconds:f}") == [expected]


@given(recent, st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]))
def test_zones_are_those_of_python(moment: dt.datetime, zone: str) -> None:
    here = moment.replace(tzinfo=ZoneInfo(zone), fold=0)
    there = here.replace(fold=1)
    certain = here.utcoffset() == there.utcoffset()
    assert read(moment.isoformat(), timezone=zone) == [micros(here) if certain else None]


@pytest.mark.parametrize("odd", [{"year": "2026"}, {"year": 1969}, {"timezone": "\ud800"}])
def test_a_year_that_is_none_and_a_zone_that_no_text_names_are_refused(odd) -> None:
    with pytest.raises(InputError, match=r"is no year|is not known"):
        Clock(**odd)
