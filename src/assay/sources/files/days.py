"""The day of a moment, in UTC.

Read are ISO 8601 dates and moments (``2024-03-01``, ``2024-03-01T23:30:00+02:00``, with a blank for
the T, seconds and fractions optional), columns of dates and moments, and numbers since 1970. Of
numbers the size tells the unit, for every moment from 1973 to 5138: up to 10^11 seconds, then
milliseconds, microseconds and nanoseconds, each range a thousand times the last. Smaller numbers
are refused: 20240301 would be a day in 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError
from assay.sources.files.checks import Array, Place, Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl

_MOMENT = (
    r"^(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:[T ](?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?"
    r" ?(?P<zone>[Zz]|(?P<sign>[+-])(?P<ahead>[01]\d|2[0-3])(?::?(?P<past>[0-5]\d))?)?)?$"
)
_DAY = 86_400
_SMALLEST = 1e8
# From which size on a number counts thousandths of the unit before.
_UNITS = ((1e11, 1), (1e14, 10**3), (1e17, 10**6), (9.2e18, 10**9))


@dataclass(frozen=True)
class Days:
    """The day of each row, null where there is none to be read, and which rows name a zone."""

    days: pl.Series
    aware: Array


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
        return Days(moments.dt.date(), np.full(len(values), zoned))
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
    for bound, unit in reversed(_UNITS):
        # Whole numbers stay whole: a float64 is too coarse for nanoseconds.
        day = number.floordiv(unit * _DAY).cast(pl.Int32, strict=False)
        days = pl.when(number < bound).then(day).otherwise(days)
    days = pl.when(number >= _SMALLEST).then(days)
    found = values.alias("number").to_frame().select(days)
    return Days(found.to_series().cast(pl.Date), np.ones(len(values), bool))


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
    found = parts.select(
        day=(date.cast(pl.Int32) + moment.floordiv(24 * 60)).cast(pl.Date),
        aware=pl.col("zone").fill_null("") != "",
    )
    days, aware = found["day"], found["aware"].to_numpy().copy()
    if numbers.null_count() < len(numbers):
        counted = _of_numbers(numbers).days
        aware |= counted.is_not_null().to_numpy()
        days = days.zip_with(days.is_not_null(), counted)
    return Days(days, aware)


class DayCheck:
    """A moment a row, all of them with a zone or all without."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._aware: bool | None = None
        self._first = ""

    def check(self, values: pl.Series, place: Place) -> tuple[pl.Series, list[Problem]]:
        """The days as text, and what is wrong."""
        found = days_of(plain(values))
        if found is None:
            return values, [whole_column(values, "times", InputError)]
        unread = found.days.is_null().to_numpy()
        problems = [Problem(unread, lambda i: self._unread(values[i]))] if unread.any() else []
        there = np.flatnonzero(~unread)
        if len(there):
            if self._aware is None:
                self._aware, self._first = bool(found.aware[there[0]]), place(int(there[0]))
            mixed = ~unread & (found.aware != self._aware)
            if mixed.any():
                problems.append(Problem(mixed, lambda i: self._mixed(values[i]), fatal=True))
        return found.days.dt.to_string("%Y-%m-%d"), problems

    def _unread(self, value: Any) -> str:
        return (
            f"column {self.column!r}: found {value_shown(value)}, expected a date or a moment such "
            f"as 2024-03-01T12:00:00Z, or seconds since 1970"
        )

    def _mixed(self, value: Any) -> str:
        here, there = ("no time zone", "one") if self._aware else ("a time zone", "none")
        return (
            f"column {self.column!r}: {value_shown(value)} has {here} and {self._first} has "
            f"{there}, so the day is not sure. Give all of them a zone, or none"
        )
