"""When rows happened: the day of a moment, in UTC, and the week and the month of a day.

Read are ISO 8601 dates and moments (``2024-03-01``, ``2024-03-01T23:30:00+02:00``, with a blank for
the T, seconds and fractions optional), columns of dates and moments, and numbers since 1970. Of
numbers the size tells the unit, for every moment from 1973 to 5138: up to 10^11 seconds, then
milliseconds, microseconds and nanoseconds, each range a thousand times the last. Smaller numbers
are refused: 20240301 would be a day in 1970.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.escaping import given_text, row_at
from assay.v02.sources.coded import NameColumn
from assay.v02.sources.columns import array_of

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

TIME = "time"
PERIODS = DAY, WEEK, MONTH = "day", "week", "month"
A_MOMENT = "a date or a moment such as 2024-03-01T12:00:00Z, or seconds since 1970"
MOST_DAYS = 10_000
# Days between the first and the last time, at most: a hundred years.
LONGEST_SPAN = 36_525
_MOMENT = (
    r"^(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?"
    r" ?(?P<zone>[Zz]|(?P<sign>[+-])(?P<ahead>[01]\d|2[0-3])(?::?(?P<past>[0-5]\d))?)?)?$"
)
_SECONDS = 86_400
# The first and the last day that have a date, counted from 1970; and the parts of a second.
_FIRST_DAY, _LAST_DAY = ((day - dt.date(1970, 1, 1)).days for day in (dt.date.min, dt.date.max))
# Units of NumPy of which no moment is out of the reach of microseconds.
_FINER = ("us", "ns", "ps", "fs", "as")
_CALENDAR = np.array(["0001-01-01", "9999-12-31T23:59:59.999999"], "datetime64[us]")
_NEVER = np.datetime64("NaT", "us")
_PARTS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
SMALLEST = 1e8
# From which size on a number counts thousandths of the unit before.
UNITS = ((1e11, 1), (1e14, 10**3), (1e17, 10**6), (9.2e18, 10**9))


@dataclass(frozen=True)
class Days:
    """The day of each row, null where there is none to be read, and which rows name a zone."""

    days: pl.Series
    aware: Array


def in_calendar(values: pl.Series) -> pl.Series:
    """A column without the moments before the year 1 and after 9999, such as infinite ones."""
    import polars as pl

    kind = values.dtype
    if isinstance(kind, pl.Datetime):
        a_day = _SECONDS * _PARTS[kind.time_unit]
    elif kind == pl.Date:
        a_day = 1
    else:
        return values
    numbers = values.to_physical().cast(pl.Int64).to_numpy()
    outside = (numbers < _FIRST_DAY * a_day) | (numbers >= (_LAST_DAY + 1) * a_day)
    return values.set(pl.Series(outside), None) if outside.any() else values


def days_of(values: pl.Series) -> Days | None:
    """The days of a column, or None for a column that holds no times."""
    import polars as pl

    kind = values.dtype
    if kind == pl.Null:
        return Days(values.cast(pl.Date), np.zeros(len(values), bool))
    if kind == pl.Date:
        return Days(values, np.zeros(len(values), bool))
    if isinstance(kind, pl.Datetime):
        zoned = kind.time_zone is not None
        moments = values.dt.convert_time_zone("UTC") if zoned else values
        return Days(in_calendar(moments.dt.date()), np.full(len(values), zoned))
    if kind.is_integer():
        return _of_numbers(values.cast(pl.Int64, strict=False))
    if kind.is_float():
        return _of_numbers(values.cast(pl.Float64))
    if kind == pl.String:
        return _of_text(values)
    return None


def _of_numbers(values: pl.Series) -> Days:
    """Numbers since 1970, which are in UTC whatever their unit."""
    import polars as pl

    number = pl.col("number")
    days: Any = None
    for bound, unit in reversed(UNITS):
        # Whole numbers stay whole: a float64 is too coarse for nanoseconds.
        day = number.floordiv(unit * _SECONDS).cast(pl.Int32, strict=False)
        days = pl.when(number < bound).then(day).otherwise(days)
    days = pl.when(number >= SMALLEST).then(days)
    day_numbers = values.alias("number").to_frame().select(days)
    return Days(day_numbers.to_series().cast(pl.Date), np.ones(len(values), bool))


def _of_text(values: pl.Series) -> Days:
    import polars as pl

    text = values.alias("text").to_frame()
    numbers = values.cast(pl.Float64, strict=False)
    parts = text.select(pl.col("text").str.extract_groups(_MOMENT)).unnest("text")
    signed = pl.when(pl.col("sign") == "-").then(-1).otherwise(1)
    minutes = [
        pl.col(name).cast(pl.Int32, strict=False).fill_null(0)
        for name in ("hour", "minute", "ahead", "past")
    ]
    moment = minutes[0] * 60 + minutes[1] - signed * (minutes[2] * 60 + minutes[3])
    date = pl.col("date").str.to_date("%Y-%m-%d", strict=False)
    moments = parts.select(
        day=(date.cast(pl.Int32) + moment.floordiv(24 * 60)).cast(pl.Date),
        aware=pl.col("zone").fill_null("") != "",
    )
    days, aware = moments["day"], moments["aware"].to_numpy().copy()
    if numbers.null_count() < len(numbers):
        counted = _of_numbers(numbers).days
        aware |= counted.is_not_null().to_numpy()
        days = days.zip_with(days.is_not_null(), counted)
    return Days(in_calendar(days), aware)


# -- columns of arrays -----------------------------------------------------------------------------


def day_names(values: Any, name: str) -> NameColumn:
    """A column of moments as the days that they are of; a bad one is refused with its row."""
    if isinstance(values, NameColumn):
        return values
    column = in_calendar(time_column(values, name))
    read = days_of(column)
    if read is None:
        raise InputError(f"{name} must hold times; found {column.dtype}, expected {A_MOMENT}")
    unread = np.flatnonzero(read.days.is_null().to_numpy())
    if len(unread):
        row = int(unread[0])
        shown = "nothing" if column[row] is None else repr(column[row])
        raise InputError(
            f"{name} must hold times; found {shown} in {row_at(row)}, expected {A_MOMENT}"
        )
    mixed = np.flatnonzero(read.aware != read.aware[:1])
    if len(mixed):
        row = int(mixed[0])
        here, there = ("no time zone", "one") if read.aware[0] else ("a time zone", "none")
        raise InputError(
            f"{name}: {column[row]!r} in {row_at(row)} has {here} and row 1 has {there}, so the "
            f"day is not sure. Give all of them a zone, or none"
        )
    distinct, codes = np.unique(read.days.to_physical().to_numpy(), return_inverse=True)
    if len(distinct) > MOST_DAYS:
        raise InputError(f"{name} has {len(distinct):,} days; at most {MOST_DAYS:,} are judged")
    epoch = dt.date(1970, 1, 1)
    days = (epoch + dt.timedelta(days=int(day)) for day in distinct)
    return NameColumn(codes, tuple(day.isoformat() for day in days))


def time_column(values: Any, name: str) -> pl.Series:
    """Moments as a column of polars, of the type that they had."""
    import polars as pl

    if isinstance(values, pl.Series):
        return values
    seconds = seconds_column(name, values)
    if seconds is not None:
        return seconds
    if type(values).__module__.partition(".")[0] == "pyarrow":
        return pl.Series(name, values)
    array = array_of(values, name)
    if array.dtype.kind == "M":
        return moments_of(array, name)
    if array.dtype.kind in "iuf":
        return pl.Series(name, array)
    # What pandas has for no moment is a date by its type.
    items = [None if type(item).__name__ == "NaTType" else item for item in array.tolist()]
    moments = [item for item in items if isinstance(item, dt.date)]
    if len(moments) == len(items) and len({_kind(item) for item in moments}) == 1:
        return pl.Series(name, items)
    # Dates beside moments, or moments with a zone beside some without, are told apart as text.
    return _texts([i.isoformat() if isinstance(i, dt.date) else i for i in items], name)


def moments_of(values: Array, name: str) -> pl.Series:
    """NumPy's moments in microseconds; those that have no date are missing.

    >>> moments_of(np.array(["2026-11-16", "300000-01-01"], "datetime64[s]"), "time").is_null()[1]
    True
    """
    import polars as pl

    if np.datetime_data(values.dtype)[0] not in _FINER:
        # NumPy wraps what microseconds can't hold, or raises an error.
        first, last = _CALENDAR.astype(values.dtype)
        values = np.where((first <= values) & (values <= last), values, _NEVER.astype(values.dtype))
    return pl.Series(name, values.astype(_CALENDAR.dtype))


def seconds_column(name: str, values: Any) -> pl.Series | None:
    """A column of Arrow or pandas that counts whole seconds, as moments; None for any other.

    polars counts thousandths, and what an int64 then can't hold would be another moment.
    """
    import polars as pl

    module = type(values).__module__.partition(".")[0]
    if module == "pyarrow" and str(values.type).startswith("timestamp[s"):
        like, seconds = pl.Series(values[:0]), pl.Series(values.cast("int64"))
    elif module == "pandas" and str(values.dtype).startswith(("datetime64[s", "timestamp[s")):
        of_arrow = hasattr(values.dtype, "pyarrow_dtype")
        like = pl.Series(pl.from_pandas(values[:0]))
        seconds = pl.Series(
            pl.from_pandas(values.astype("int64[pyarrow]" if of_arrow else "int64"))
        )
    else:
        return None
    return moments_of_seconds(seconds.alias(name), getattr(like.dtype, "time_zone", None))


def moments_of_seconds(seconds: pl.Series, zone: str | None) -> pl.Series:
    """Whole seconds since 1970 as moments; those that have no date are missing."""
    import polars as pl

    outside = (seconds < _FIRST_DAY * _SECONDS) | (seconds >= (_LAST_DAY + 1) * _SECONDS)
    moments = (seconds.set(outside, None) * _PARTS["ms"]).cast(pl.Datetime("ms"))
    if zone is None:
        return moments
    return moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _kind(moment: dt.date) -> tuple[bool, bool]:
    """Whether it has an hour, and whether it names a zone."""
    timed = isinstance(moment, dt.datetime)
    return timed, isinstance(moment, dt.datetime) and moment.tzinfo is not None


def _text(item: Any) -> str:
    # Python writes out no whole number of more than 4,300 digits.
    return given_text(item) if isinstance(item, int) else str(item)


def _texts(items: Sequence[Any], name: str) -> pl.Series:
    import polars as pl

    texts = [
        None if item is None or item != item else _text(item)  # noqa: PLR0124
        for item in items
    ]
    return pl.Series(name, texts, dtype=pl.String)


# -- periods ---------------------------------------------------------------------------------------


def period_of(day: str, period: str) -> str:
    """The name of the period that a day is in; a week is that of ISO 8601 and starts on Monday.

    >>> [period_of("2026-11-16", period) for period in PERIODS]
    ['2026-11-16', '2026-W47', '2026-11']
    >>> period_of("2027-01-01", WEEK)
    '2026-W53'
    """
    if period == DAY:
        return day
    if period == MONTH:
        return day[:7]
    year, week, _ = dt.date.fromisoformat(day).isocalendar()
    return f"{year:04}-W{week:02}"


def positions(names: Iterable[str], period: str) -> list[int]:
    """How many periods each one lies after the first of them.

    >>> positions(["2026-11", "2027-02"], MONTH)
    [0, 3]
    """
    numbers = [_number(name, period) for name in names]
    return [number - numbers[0] for number in numbers]


def absent(names: Sequence[str], period: str) -> tuple[str, ...]:
    """The periods between the first and the last that are not among the names.

    >>> absent(["2026-W52", "2027-W01"], WEEK)
    ('2026-W53',)
    """
    if not names:
        return ()
    first, last = _number(names[0], period), _number(names[-1], period)
    must_be_a_span(_first_day(names[0], period), _first_day(names[-1], period))
    present = {_number(name, period) for name in names}
    return tuple(_name(number, period) for number in range(first, last) if number not in present)


def must_be_a_span(first: str, last: str) -> None:
    """Refuse days that lie centuries apart: one of them is the day of nothing that happened."""
    days = dt.date.fromisoformat(last).toordinal() - dt.date.fromisoformat(first).toordinal()
    if days > LONGEST_SPAN:
        raise InputError(
            f"times go from {first} to {last}, {days:,} days later, where at most {LONGEST_SPAN:,} "
            f"are judged: leave out rows whose time is that of nothing, such as one for 'never'"
        )


def _first_day(name: str, period: str) -> str:
    if period == DAY:
        return name
    if period == MONTH:
        return f"{name}-01"
    return dt.date.fromisocalendar(int(name[:4]), int(name[6:]), 1).isoformat()


def _number(name: str, period: str) -> int:
    """Periods counted from one that is long past."""
    if period == MONTH:
        return 12 * int(name[:4]) + int(name[5:])
    days = dt.date.fromisoformat(_first_day(name, period)).toordinal()
    return days if period == DAY else (days - 1) // 7


def _name(number: int, period: str) -> str:
    """The period of a number."""
    if period == MONTH:
        return f"{(number - 1) // 12:04}-{(number - 1) % 12 + 1:02}"
    day = dt.date.fromordinal(number if period == DAY else 7 * number + 1)
    return period_of(day.isoformat(), period)
