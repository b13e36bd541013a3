"""Times as tools and people write them."""

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.reading.moments import doubt_refused, time_column, time_layout

UTC = dt.UTC
AFTERNOON = dt.datetime(2026, 9, 16, 15, 4, 5, 123000, UTC)


def read(values: Any, time_format: str | None = None) -> list[dt.datetime | None]:
    column = pl.Series("a", values)
    layout = time_layout(column, time_format)
    assert not layout.doubt
    made = column.to_frame().select(time_column("a", column.dtype, layout))
    assert made.schema == {"a": pl.Datetime("us", "UTC")}
    return made["a"].to_list()


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-16T15:04:05.123Z",
        "2026-09-16 15:04:05,123",
        "2026-09-16T17:04:05.123+0200",
        "2026-09-16T10:04:05.123-05:00",
        "2026-09-16 15:04:05.123 UTC",
        "2026/09/16 15:04:05.123",
        "16.09.2026 15:04:05.123",
        "16.9.2026, 15:04:05.123",
        "9/16/2026, 3:04:05.123 PM",
        "9/16/2026, 3:04:05.123\u202fp.m.",
        "16/09/2026 15:04:05.123",
        "16-09-2026 15:04:05.123",
        "Sep 16, 2026 @ 15:04:05.123",
        "September 16, 2026 at 3:04:05.123 PM",
        "Wed, 16 Sep 2026 15:04:05.123 GMT",
        "16-Sep-2026 15:04:05.123",
        "16/Sep/2026:15:04:05.123 +0000",
        "09/16/2026-15:04:05.123",
        "1789571045.123",
        "1789571045123",
        "1789571045123000",
        "1789571045123000000",
        " 2026-09-16T15:04:05.123Z ",
    ],
)
def test_one_moment_is_read_from_every_layout(text: str) -> None:
    assert read([text]) == [AFTERNOON]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([1789571045123]),
        pl.Series([1789571045.123]),
        pl.Series([AFTERNOON]),
        pl.Series([AFTERNOON.replace(tzinfo=None)]).cast(pl.Datetime("ns")),
        pl.Series([AFTERNOON]).dt.convert_time_zone("Asia/Tokyo"),
    ],
)
def test_typed_columns_are_moments_too(values: pl.Series) -> None:
    assert read(values) == [AFTERNOON]


def test_a_date_is_its_midnight() -> None:
    midnight = dt.datetime(2026, 9, 16, tzinfo=UTC)
    assert read([dt.date(2026, 9, 16)]) == read(["16.9.2026"]) == [midnight]
    assert read(["16|09|2026"], "%d|%m|%Y") == [midnight]


def test_one_certain_value_decides_between_day_and_month() -> None:
    assert read(["9/6/2026", "9/13/2026"])[0] == dt.datetime(2026, 9, 6, tzinfo=UTC)
    assert read(["9/6/2026", "13/6/2026"])[0] == dt.datetime(2026, 6, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("texts", "doubt"),
    [
        (["9/6/2026 10:44"], "'9/6/2026 10:44' is 9 June 2026 or September 6, 2026"),
        (["13/6/2026", "14/6/2026", "6/14/2026"], "'13/6/2026' has the day first, and"),
        (["2026-09-16T15:04Z", "2026-09-16 15:04"], "names a time zone"),
        (["yesterday"], "is not in a layout"),
        (["20260916"], "is not in a layout"),
        (["9/6/26"], "is not in a layout"),
        (["Sep 16 15:04:05"], "is not in a layout"),
        ([""], "no values"),
        ([20260916], "not times since 1970"),
        ([True], "Boolean"),
    ],
)
def test_what_is_not_sure_is_doubted(texts: list[Any], doubt: str) -> None:
    assert doubt in time_layout(pl.Series(texts)).doubt


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ("9/6/2026 10:44", ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")),
        ("9/6/2026, 3:04:05.000 PM", ("%d/%m/%Y, %I:%M:%S.%f %p", "%m/%d/%Y, %I:%M:%S.%f %p")),
        ("9-6-2026 03:04:05 +0200", ("%d-%m-%Y %H:%M:%S %z", "%m-%d-%Y %H:%M:%S %z")),
        ("9/6/2026", ("%d/%m/%Y", "%m/%d/%Y")),
    ],
)
def test_the_formats_of_a_refusal_can_be_given(text: str, formats: tuple[str, str]) -> None:
    refusal = str(doubt_refused("a", time_layout(pl.Series([text])), [text]))
    assert all(repr(form) in refusal for form in formats)
    days = [moment.date() for form in formats for moment in read([text], form) if moment]
    assert days == [dt.date(2026, 6, 9), dt.date(2026, 9, 6)]


@pytest.mark.parametrize(
    ("text", "time_format"),
    [
        ("16.09.26 15:04:05.123", "%d.%m.%y %H:%M:%S.%f"),
        ("20260916T150405,123Z", "%Y%m%dT%H%M%S,%fZ"),
        ("2026-09-16 17:04:05.123 +02:00", "%Y-%m-%d %H:%M:%S.%f %z"),
    ],
)
def test_a_format_can_be_given(text: str, time_format: str) -> None:
    assert read([text], time_format) == [AFTERNOON]


def test_formats_that_are_none_or_do_not_fit_are_refused() -> None:
    column = pl.Series(["2026-09-16"])
    assert "not written as" in time_layout(column, "%d.%m.%Y").doubt
    with pytest.raises(InputError, match="%f behind a point"):
        time_layout(column, "%S%f")
    with pytest.raises(InputError, match="no format of times"):
        time_layout(column, "%Y-%m-%d %H")
    with pytest.raises(InputError, match="needs the year"):
        time_layout(column, "%H:%M")
    with pytest.raises(InputError, match="needs %z"):
        time_layout(column, "%Y-%m-%d %Z")


@pytest.mark.parametrize(
    "text", ["2026-02-30", "2026-09-16T24:00", "2026-09-16T15:60", "9/16/2026 13:04 PM", "x"]
)
def test_what_is_no_time_is_none(text: str) -> None:
    column = ["9/17/2026 1:04 PM" if "/" in text else "2026-09-16T15:04"] * 3
    assert read([*column, text])[-1] is None


FORMATS = (
    "%Y-%m-%dT%H:%M:%S.%fZ",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d",
    "%Y/%m/%d %H:%M",
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%m/%d/%Y, %I:%M:%S.%f %p",
    "%d/%m/%Y, %I:%M %p",
    "%b %d, %Y @ %H:%M:%S.%f",
    "%d %B %Y %H:%M",
    "%a, %d %b %Y %H:%M:%S %z",
    "%d/%b/%Y:%H:%M:%S %z",
    "%m/%d/%Y-%H:%M:%S.%f",
    "%m.%d.%Y %H:%M",
    "%d/%m/%y %H:%M",
    "%y-%m-%d",
    "%Y%m%d",
    "%H:%M:%S",
)
MOMENTS = st.datetimes(
    dt.datetime(1980, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    dt.datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
)


@given(st.lists(MOMENTS, min_size=1, max_size=4), st.sampled_from(FORMATS))
def test_a_written_time_is_read_back_or_doubted(moments: list[dt.datetime], form: str) -> None:
    texts = [moment.strftime(form) for moment in moments]
    column = pl.Series("a", texts)
    layout = time_layout(column)
    if layout.doubt or form.startswith("%m."):
        return  # dates with points have the day first wherever people write them
    written = [dt.datetime.strptime(text, form).replace(tzinfo=UTC) for text in texts]
    made = column.to_frame().select(time_column("a", pl.String(), layout))["a"].to_list()
    assert all(one is None or one == other for one, other in zip(made, written, strict=True))
    if form not in FORMATS[-5:]:
        assert None not in made


@given(st.lists(MOMENTS, min_size=1, max_size=4), st.sampled_from([1, 10**3, 10**6, 10**9]))
def test_numbers_since_1970_are_read_back(moments: list[dt.datetime], unit: int) -> None:
    start = dt.datetime(1970, 1, 1, tzinfo=UTC)
    micros = [(moment - start) // dt.timedelta(microseconds=1) for moment in moments]
    numbers = [whole * unit // 10**6 for whole in micros]
    read_back = read(numbers)
    step = max(10**6 // unit, 1)
    expected = [start + dt.timedelta(microseconds=whole // step * step) for whole in micros]
    assert read_back == read([str(number) for number in numbers]) == expected
