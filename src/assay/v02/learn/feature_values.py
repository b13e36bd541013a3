"""The values of a column: numbers where all of them are numbers, else text; and moments in UTC.

What may be read as a moment is said in :mod:`assay.sources.times`. One without a zone is taken as
it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError, ScoreError
from assay.v02.sources.columns import label_text
from assay.v02.sources.row_checks import Place, Problem, plain, value_shown, whole_column
from assay.v02.sources.times import Days, days_of

if TYPE_CHECKING:
    import polars as pl

_EXACT = 2.0**53
_DATE = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}|$)"
_WORDS = {"true": 1.0, "false": 0.0}


def cells_of(values: pl.Series) -> pl.Series:
    """A column as numbers, booleans or text; objects become text, empty text becomes missing."""
    import polars as pl

    values = plain(values)
    kind = values.dtype
    if kind == pl.Object:
        # None and nested values inside a mixed column are told apart value by value.
        texts = [_text(value, values.name) for value in values.to_list()]
        values = pl.Series(values.name, texts, dtype=pl.String)
    elif kind.is_nested():
        raise InputError(
            f"column {values.name!r} holds {kind}, which is not one value a row. Leave it out with "
            f"--drop {values.name!r}"
        )
    elif kind == pl.Duration:
        return values.dt.total_microseconds() / 1e6
    elif kind.is_temporal():
        return values.cast(pl.String)
    elif kind.is_float():
        return values.cast(pl.Float64).fill_nan(None)
    if values.dtype == pl.String:
        return values.set(values == "", None)
    return values


def numbers_in(cells: pl.Series) -> pl.Series:
    """Cells as float64, null where there is none or where it is no number.

    Booleans are 0 and 1, however they are written; nan is missing; infinity stays.
    """
    import polars as pl

    if cells.dtype != pl.String:
        return cells.cast(pl.Float64)
    numbers = cells.cast(pl.Float64, strict=False)
    if numbers.null_count() > cells.null_count():
        trimmed = cells.str.strip_chars(" \t")
        words = trimmed.str.to_lowercase().replace_strict(
            _WORDS, default=None, return_dtype=pl.Float64
        )
        numbers = numbers.fill_null(trimmed.cast(pl.Float64, strict=False)).fill_null(words)
    return numbers


def not_numbers(cells: pl.Series, numbers: pl.Series) -> pl.Series:
    """Which cells hold something that is no number."""
    return cells.is_not_null() & numbers.is_null()


def texts_in(cells: pl.Series) -> pl.Series:
    """Cells as text; whole numbers have no point, so that every format writes them alike."""
    import polars as pl

    if cells.dtype == pl.String:
        return cells
    if cells.dtype == pl.Float64:
        integral = cells.floor().eq(cells) & (cells.abs() < _EXACT)
        plainly = cells.set(~integral.fill_null(value=False), 0.0).cast(pl.Int64).cast(pl.String)
        return plainly.zip_with(integral.fill_null(value=False), cells.cast(pl.String))
    return cells.cast(pl.String)


def loses_digits(cells: pl.Series, numbers: pl.Series) -> bool:
    """Whether whole numbers among the cells are too large to be exact as float64."""
    import polars as pl

    if not (cells.dtype.is_integer() or cells.dtype == pl.String):
        return False
    large = (numbers.abs() >= _EXACT) & numbers.is_finite()
    if not large.any():
        return False
    exact = cells.filter(large).cast(pl.Int128, strict=False)
    kept = numbers.filter(large).cast(pl.Int128, strict=False)
    return bool((exact != kept).fill_null(value=False).any())


class FeatureColumn:
    """A column that grows piece by piece, of which only all rows tell what it holds."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._pieces: list[pl.Series] = []
        self.nbytes = 0
        self.times = False
        self.inexact = False

    def extend(self, values: pl.Series) -> None:
        """Add values at the end."""
        # Text waits until all of it is there: one pass over a column costs less than many.
        cells = values if values.dtype == _string() else cells_of(values)
        self.times |= values.dtype.is_temporal() and not cells.dtype.is_numeric()
        self._pieces.append(cells)
        self.nbytes += int(cells.estimated_size())

    def release(self) -> None:
        """Let go of what was read."""
        self._pieces = []

    def done(self) -> pl.Series:
        """Float64 where every value is a number or missing, else text."""
        cells = self.as_read()
        numbers = numbers_in(cells)
        if not_numbers(cells, numbers).any():
            texts = texts_in(cells)
            self.times |= _are_times(texts)
            return texts
        self.inexact = loses_digits(cells, numbers)
        return numbers.fill_nan(None)

    def texts(self) -> pl.Series:
        """All values as text, whatever they are."""
        return texts_in(self.as_read())

    def as_read(self) -> pl.Series:
        """The values of the type that all pieces share, else as text."""
        import polars as pl

        kinds = {cells.dtype for cells in self._pieces if cells.null_count() < len(cells)}
        if len(kinds) == 1:
            kind = next(iter(kinds))
            pieces = [cells.cast(kind) for cells in self._pieces]
        else:
            pieces = [texts_in(cells) for cells in self._pieces]
        joined = pl.concat(pieces) if pieces else pl.Series(dtype=pl.String)
        return cells_of(joined.alias(self.column).rechunk())


def _are_times(texts: pl.Series) -> bool:
    """Whether all texts begin with a date, as those of moments do."""
    present = texts.drop_nulls()
    # The first one settles it for most columns, at no cost.
    return len(present) > 0 and all(
        part.str.contains(_DATE).all() for part in (present[:1], present)
    )


def _string() -> Any:
    import polars as pl

    return pl.String


def _text(value: Any, column: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return label_text(value) if value.is_integer() and abs(value) < _EXACT else repr(value)
    if isinstance(value, bool | int):
        return label_text(value)
    raise InputError(
        f"column {column!r} holds {type(value).__name__} beside other values. Leave it out with "
        f"--drop {column!r}"
    )


def numbers_or_bad(cells: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Cells of a column that was learned as numbers, and the rows that hold something else."""
    values = numbers_in(cells)
    no_numbers = not_numbers(cells, values)
    if not no_numbers.any():
        return values.fill_nan(None), []

    def reason(i: int) -> str:
        return f"column {cells.name!r}: found {value_shown(cells[i])}, expected a number or nothing"

    return values.fill_nan(None), [Problem(no_numbers.to_numpy(), reason, ScoreError)]


# -- moments, to the microsecond -------------------------------------------------------------------

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

    ``earlier`` tells whether others before them have one, and where those are.
    """

    def __init__(self, column: str, earlier: tuple[bool, str] | None = None) -> None:
        self.column = column
        self.zoned: bool | None = None
        self._first = ""
        if earlier is not None:
            self.zoned, self._first = earlier

    def check(self, values: pl.Series, place: Place) -> tuple[pl.Series, list[Problem]]:
        """The moments, null where there is none to be read, and what is wrong."""
        import polars as pl

        values = plain(values)
        days = days_of(values)
        if days is None:
            nothing = pl.Series(values.name, [None] * len(values), dtype=pl.Datetime("us"))
            return nothing, [whole_column(values, "times", InputError)]
        unread = days.days.is_null().to_numpy()
        problems = [Problem(unread, lambda i: self._unread(values[i]))] if unread.any() else []
        problems += self._mixed(values, days, unread, place)
        return moments_of(values), problems

    def _mixed(self, values: pl.Series, days: Days, unread: Any, place: Place) -> list[Problem]:
        there = np.flatnonzero(~unread)
        if not len(there):
            return []
        if self.zoned is None:
            self.zoned, self._first = bool(days.aware[there[0]]), place(int(there[0]))
        mixed = ~unread & (days.aware != self.zoned)
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
    integral = values.dtype.is_integer()
    micros = (
        pl.when(number < _MILLISECONDS)
        .then(number * _SECOND)
        .when(number < _MICROSECONDS)
        .then(number * 1000)
        .when(number < _NANOSECONDS)
        .then(number)
        .otherwise(number // 1000)
    )
    counted = values.cast(pl.Int64 if integral else pl.Float64, strict=False).alias("number")
    rounded = counted.to_frame().select(micros if integral else micros.round()).to_series()
    return rounded.cast(pl.Int64, strict=False).alias(values.name)


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
    moments = parts.select(micros + fraction.cast(pl.Int64, strict=False).fill_null(0)).to_series()
    if moments.null_count() == values.null_count():
        return moments.alias(values.name)
    # Whole numbers first: nanoseconds do not fit into a float64.
    numbers = _of_numbers(values.cast(pl.Int64, strict=False))
    numbers = numbers.fill_null(_of_numbers(values.cast(pl.Float64, strict=False)))
    return moments.fill_null(numbers).alias(values.name)
