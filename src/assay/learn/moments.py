"""Moments in UTC, to the microsecond; what may be read is said in :mod:`assay.sources.times`.

A moment without a zone is taken as it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError
from assay.sources.row_checks import Place, Problem, plain, value_shown, whole_column
from assay.sources.times import Days, days_of

if TYPE_CHECKING:
    import polars as pl

_MOMENT = (
    r"^(?P<date>\d{4}-\d{2}-\d{2})"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d+))?)?"
    r" ?(?:[Zz]|(?P<sign>[+-])(?P<ahead>\d\d)(?::?(?P<past>\d\d))?)?)?$"
)
_DIGITS = 6
_SECOND = 10**_DIGITS
_DAY = 86_400 * _SECOND
# From which size on a number counts thousandths of the unit before, as for days.
_MILLISECONDS, _MICROSECONDS, _NANOSECONDS = 1e11, 1e14, 1e17


class MomentCheck:
    """A moment a row, all of them with a zone or all without.

    ``known`` tells whether others before them have one, and where those are.
    """

    def __init__(self, column: str, known: tuple[bool, str] | None = None) -> None:
        self.column = column
        self.zoned: bool | None = None
        self._first = ""
        if known is not None:
            self.zoned, self._first = known

    def check(self, values: pl.Series, place: Place) -> tuple[pl.Series, list[Problem]]:
        """The moments, null where there is none to be read, and what is wrong."""
        import polars as pl

        values = plain(values)
        found = days_of(values)
        if found is None:
            nothing = pl.Series(values.name, [None] * len(values), dtype=pl.Datetime("us"))
            return nothing, [whole_column(values, "times", InputError)]
        unread = found.days.is_null().to_numpy()
        problems = [Problem(unread, lambda i: self._unread(values[i]))] if unread.any() else []
        problems += self._mixed(values, found, unread, place)
        return moments_of(values), problems

    def _mixed(self, values: pl.Series, found: Days, unread: Any, place: Place) -> list[Problem]:
        there = np.flatnonzero(~unread)
        if not len(there):
            return []
        if self.zoned is None:
            self.zoned, self._first = bool(found.aware[there[0]]), place(int(there[0]))
        mixed = ~unread & (found.aware != self.zoned)
        here, other = ("no time zone", "one") if self.zoned else ("a time zone", "none")

        def reason(i: int) -> str:
            return (
                f"column {self.column!r}: {value_shown(values[i])} has {here} and {self._first} "
                f"has {other}, so which came first is not sure. Give all of them a zone, or none"
            )

        return [Problem(mixed, reason, fatal=True)] if mixed.any() else []

    def _unread(self, value: Any) -> str:
        return (
            f"column {self.column!r}: found {value_shown(value)}, expected a date or a moment such "
            f"as 2024-03-01T12:00:00Z, or seconds since 1970"
        )


def moments_of(values: pl.Series) -> pl.Series:
    """Moments of a column that holds times, without a zone: UTC where one was given."""
    import polars as pl

    kind = values.dtype
    if isinstance(kind, pl.Datetime):
        zoned = values.dt.convert_time_zone("UTC") if kind.time_zone is not None else values
        return zoned.dt.replace_time_zone(None).dt.cast_time_unit("us")
    if kind in (pl.Null, pl.Date):
        return values.cast(pl.Datetime("us"))
    micros = _of_text(values) if kind == pl.String else _of_numbers(values)
    return micros.cast(pl.Datetime("us"))


def _of_numbers(values: pl.Series) -> pl.Series:
    """Microseconds of numbers since 1970; whole numbers stay whole."""
    import polars as pl

    number = pl.col("number")
    whole = values.dtype.is_integer()
    micros = (
        pl.when(number < _MILLISECONDS)
        .then(number * _SECOND)
        .when(number < _MICROSECONDS)
        .then(number * 1000)
        .when(number < _NANOSECONDS)
        .then(number)
        .otherwise(number // 1000)
    )
    counted = values.cast(pl.Int64 if whole else pl.Float64, strict=False).alias("number")
    found = counted.to_frame().select(micros if whole else micros.round()).to_series()
    return found.cast(pl.Int64, strict=False).alias(values.name)


def _of_text(values: pl.Series) -> pl.Series:
    import polars as pl

    text = values.alias("text").to_frame()
    parts = text.select(pl.col("text").str.extract_groups(_MOMENT)).unnest("text")

    def whole(name: str) -> pl.Expr:
        return pl.col(name).cast(pl.Int64, strict=False).fill_null(0)

    fraction = pl.col("fraction").str.pad_end(_DIGITS, "0").str.head(_DIGITS)
    signed = pl.when(pl.col("sign") == "-").then(-1).otherwise(1)
    minutes = whole("hour") * 60 + whole("minute") - signed * (whole("ahead") * 60 + whole("past"))
    date = pl.col("date").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    micros = date * _DAY + (minutes * 60 + whole("second")) * _SECOND
    found = parts.select(micros + fraction.cast(pl.Int64, strict=False).fill_null(0)).to_series()
    if found.null_count() == values.null_count():
        return found.alias(values.name)
    # Whole numbers first: nanoseconds do not fit into a float64.
    numbers = _of_numbers(values.cast(pl.Int64, strict=False))
    numbers = numbers.fill_null(_of_numbers(values.cast(pl.Float64, strict=False)))
    return found.fill_null(numbers).alias(values.name)
