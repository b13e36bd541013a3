"""When events happened: microseconds since 1970 in UTC, exactly from what is written.

Read are ISO 8601 (``2026-11-02T04:36:54.841235+0000``, a blank for the T, the zone with or without
a colon), ``11/02/2026-04:36:54.841235`` of Snort and Suricata, ``Nov 02 2026 04:36:54`` of CEF, and
numbers since 1970, whose size tells the unit. Digits past the microsecond are rounded, half up.
What has no zone is read in ``timezone``, what has no year in ``year``; else it is refused. So are
lines without a year between which a year turns.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.escaping import given_text
from assay.v02.sources.row_checks import Problem, value_shown
from assay.v02.sources.times import SMALLEST, UNITS, in_calendar

if TYPE_CHECKING:
    import polars as pl

TIME = "time"
EXPECTED = "a moment such as 2026-11-02T04:36:54Z, or seconds since 1970"
_SECOND = 1_000_000
_CLOCK = (
    r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d|60)(?:[.,](?P<part>\d+))?)?"
)
_ZONE = r" ?(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<ahead>[01]\d|2[0-3])(?::?(?P<past>[0-5]\d))?)?"
_ISO = rf"^(?P<date>\d{{4}}-\d{{2}}-\d{{2}})(?:[T ]{_CLOCK}{_ZONE})?$"
_NUMBER = r"^(?P<whole>\d{1,19})(?:\.(?P<part>\d*))?$"
# Other layouts, and how they are written in ISO 8601; {} stands for the year that is asked for.
_OTHERS = (
    (r"^(\d\d)/(\d\d)/(\d{4})-(\d.*)$", "${3}-${1}-${2}T${4}"),
    (r"^(\d{4})/(\d\d)/(\d\d)-(\d.*)$", "${1}-${2}-${3}T${4}"),
    (r"^(\d\d)/(\d\d)-(\d.*)$", "{}-${1}-${2}T${3}"),
    (r"^(\d\d) (\d\d) (\d{4}) (\d.*)$", "${3}-${1}-${2}T${4}"),
    (r"^(\d\d) (\d\d) (\d\d:.*)$", "{}-${1}-${2}T${3}"),
)
_YEARLESS = "{}"
# Lines without a year that follow each other farther apart than this are of two years.
_HALF_YEAR = 183 * 86_400 * _SECOND
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_OFFSET = re.compile(r"([+-])([01]\d|2[0-3]):?([0-5]\d)")


@dataclass(frozen=True)
class EventTimes:
    """Microseconds since 1970 of each row, null where there is none, and what is wrong there."""

    micros: pl.Series
    problems: tuple[Problem, ...]


class Clock:
    """Reads moments; ``timezone`` and ``year`` are those of moments that name none.

    >>> import polars as pl
    >>> Clock().read(pl.Series(["1970-01-02T00:00:00.0000015+01:00"])).micros.to_list()
    [82800000002]
    """

    def __init__(self, timezone: str | dt.tzinfo | None = None, year: int | None = None) -> None:
        if isinstance(timezone, dt.tzinfo):
            # A fixed offset calls itself UTC+02:00.
            timezone = str(timezone).removeprefix("UTC") or "UTC"
        self.timezone = timezone
        self.year = year
        self._offset = None if timezone is None else _offset(timezone)
        if year is not None and year not in range(1970, 10_000):
            raise InputError(f"year={given_text(year)} is no year from 1970 to 9999")

    def read(self, values: pl.Series, name: str = TIME) -> EventTimes:
        """The moments of a column of text, numbers or moments."""
        import polars as pl

        values = in_calendar(values)
        kind = values.dtype
        if isinstance(kind, pl.Datetime) or kind == pl.Date:
            zoned = isinstance(kind, pl.Datetime) and kind.time_zone is not None
            moments = values.cast(pl.Datetime("us", "UTC" if zoned else None))
            micros = moments.to_physical().cast(pl.Int64)
            local = np.full(len(values), not zoned) & micros.is_not_null().to_numpy()
        elif kind == pl.String or kind.is_numeric() or kind == pl.Null:
            micros, local = self._of_text(values.cast(pl.String).str.strip_chars())
        else:
            return EventTimes(
                pl.Series([None] * len(values), dtype=pl.Int64),
                (_problem(np.ones(len(values), bool), values, name, EXPECTED),),
            )
        micros = _in_calendar(micros)
        if not micros.null_count() and not local.any():
            return EventTimes(micros, ())
        read = micros.is_not_null().to_numpy()
        if local.any() and self.timezone is not None:
            micros = _in_calendar(self._zoned(micros, local))
        return EventTimes(micros, tuple(self._problems(values, micros, local, read, name)))

    def _of_text(self, text: pl.Series) -> tuple[pl.Series, npt.NDArray[np.bool_]]:
        """Microseconds of the clock that is written, and which of them name no zone."""
        import polars as pl

        micros, local = _of_iso(text)
        open_ = micros.is_null() & text.is_not_null()
        if open_.any():
            numbers = _of_numbers(text)
            micros = micros.zip_with(micros.is_not_null(), numbers)
            open_ &= micros.is_null()
        if open_.any():
            where = np.flatnonzero(open_.to_numpy())
            other, others_local = _of_iso(self._as_iso(text.gather(where)))
            micros = micros.scatter(where, other.cast(pl.Int64))
            local[where] = others_local
        return micros, local

    def _as_iso(self, text: pl.Series) -> pl.Series:
        """The other layouts in the order of ISO 8601."""
        import polars as pl

        one = pl.col("text")
        months = {name: f"{number:02}" for number, name in enumerate(_MONTHS, 1)}
        chosen = one.str.replace(r"^([A-Z][a-z]{2}) +(\d) ", "${1} 0${2} ")
        named = chosen.str.slice(0, 3).replace_strict(months, default=None)
        chosen = pl.when(named.is_null()).then(chosen).otherwise(named + chosen.str.slice(3))
        made = text.alias("text").to_frame().select(chosen)
        result: Any = None
        for pattern, order in _OTHERS:
            if _YEARLESS in order and self.year is None:
                continue
            ordered = order.replace(_YEARLESS, str(self.year)) if _YEARLESS in order else order
            fitting = pl.when(one.str.contains(pattern)).then(one.str.replace(pattern, ordered))
            result = fitting if result is None else pl.coalesce(result, fitting)
        return made.select(result).to_series()

    def _zoned(self, micros: pl.Series, local: npt.NDArray[np.bool_]) -> pl.Series:
        """The same moments in UTC, where a clock without a zone is that of ``timezone``."""
        import polars as pl

        if self._offset is not None:
            here = micros - self._offset
        else:
            naive = micros.cast(pl.Datetime("us"))
            aware = naive.dt.replace_time_zone(self.timezone, ambiguous="null", non_existent="null")
            here = aware.dt.convert_time_zone("UTC").to_physical().cast(pl.Int64)
        return here.zip_with(pl.Series(local), micros)

    def _problems(
        self,
        values: pl.Series,
        micros: pl.Series,
        local: npt.NDArray[np.bool_],
        read: npt.NDArray[np.bool_],
        name: str,
    ) -> list[Problem]:
        missing = (values.is_null() | (values.cast(str).str.len_bytes() == 0)).to_numpy()
        problems = []
        if missing.any():
            problems.append(Problem(missing, f"{name}: there is none", kind=f"{name}: missing"))
        yearless = ~read & ~missing & _without_year(values)
        if self.year is not None:
            yearless[:] = False
        if yearless.any():
            reason = _reason(values, name, "which has no year: say year=2026 or the like")
            problems.append(Problem(yearless, reason, fatal=True))
        unread = ~read & ~missing & ~yearless
        if unread.any():
            problems.append(_problem(unread, values, name, EXPECTED))
        if self.timezone is None and local.any():
            reason = _reason(
                values, name, "which has no zone: say timezone='UTC', timezone='+02:00' or the like"
            )
            problems.append(Problem(local, reason, fatal=True))
        skipped = read & micros.is_null().to_numpy()
        if skipped.any():
            reason = _reason(
                values,
                name,
                f"which clocks in {self.timezone} showed twice or not at all: write its offset, "
                f"as +01:00",
            )
            problems.append(Problem(skipped, reason, kind=f"{name}: no certain moment"))
        return problems


class NewYear:
    """Tells where a year turns among lines that name none, as they come.

    December and January would lie eleven months apart in the one year that was given.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: int | None = None

    def problems(self, values: pl.Series, micros: pl.Series) -> list[Problem]:
        """The first line of a piece that is not of the year of those before it."""
        if self._clock.year is None:
            return []
        rows = np.flatnonzero(_without_year(values) & micros.is_not_null().to_numpy())
        if not len(rows):
            return []
        times = micros.gather(rows).to_numpy()
        steps = np.diff(times, prepend=times[0] if self._last is None else self._last)
        self._last = int(times[-1])
        turned = np.zeros(len(values), bool)
        turned[rows[np.abs(steps) > _HALF_YEAR][:1]] = True
        if not turned.any():
            return []
        reason = _reason(
            values,
            TIME,
            f"more than half a year from the line before it in {self._clock.year}, so a year seems "
            f"to turn here and year= can't say both: write the year into the times, as "
            f"01/31/{self._clock.year}-23:59:59",
        )
        return [Problem(turned, reason, fatal=True)]


def _without_year(values: pl.Series) -> npt.NDArray[np.bool_]:
    text = values.cast(str).str.strip_chars()
    pattern = rf"^(?:\d\d/\d\d-|(?:{'|'.join(_MONTHS)}) +\d\d? )\d\d:\d\d:\d\d"
    return text.str.contains(pattern).fill_null(value=False).to_numpy()


def _in_calendar(micros: pl.Series) -> pl.Series:
    import polars as pl

    return in_calendar(micros.cast(pl.Datetime("us"))).to_physical()


def _of_iso(text: pl.Series) -> tuple[pl.Series, npt.NDArray[np.bool_]]:
    import polars as pl

    frame = text.alias("text").to_frame()
    parts = frame.select(pl.col("text").str.extract_groups(_ISO)).unnest("text")
    date = pl.col("date").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    clock = (_integer("hour") * 60 + _integer("minute")) * 60 + _integer("second")
    offset = (_integer("ahead") * 60 + _integer("past")) * 60
    offset = pl.when(pl.col("sign") == "-").then(-offset).otherwise(offset)
    read = parts.select(
        micros=(date * 86_400 + clock - offset) * _SECOND + _rounded_fraction(6),
        local=pl.col("zone").is_null() & date.is_not_null(),
    )
    return read["micros"], read["local"].to_numpy().copy()


def _of_numbers(text: pl.Series) -> pl.Series:
    """Numbers since 1970, which are in UTC whatever their unit."""
    import polars as pl

    frame = text.alias("text").to_frame()
    parts = frame.select(pl.col("text").str.extract_groups(_NUMBER)).unnest("text")
    integer_part = pl.col("whole").cast(pl.Int64, strict=False)
    micros: Any = None
    for bound, unit in reversed(UNITS):
        if unit > _SECOND:
            moment = integer_part // 1000 + (integer_part % 1000 >= 500).cast(pl.Int64)
        else:
            digits = len(str(_SECOND // unit)) - 1
            moment = integer_part * (_SECOND // unit) + _rounded_fraction(digits)
        micros = pl.when(integer_part < int(bound)).then(moment).otherwise(micros)
    read = parts.select(pl.when(integer_part >= int(SMALLEST)).then(micros))
    return read.to_series().cast(pl.Int64)


def _integer(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).cast(pl.Int64, strict=False).fill_null(0)


def _rounded_fraction(digits: int) -> pl.Expr:
    """The digits of a fraction as a whole number, rounded half up by the digit that follows."""
    import polars as pl

    padded = pl.col("part").fill_null("") + "0" * (digits + 1)
    kept = padded.str.slice(0, digits).cast(pl.Int64, strict=False).fill_null(0)
    follows = padded.str.slice(digits, 1).cast(pl.Int64, strict=False)
    return kept + (follows >= 5).cast(pl.Int64)


def _offset(timezone: Any) -> int | None:
    """The microseconds that a zone is ahead of UTC, None for one whose clocks change."""
    import polars as pl

    if not isinstance(timezone, str):
        raise _unknown_zone(timezone)
    if timezone in ("Z", "UTC", "GMT"):
        return 0
    if written := _OFFSET.fullmatch(timezone):
        seconds = (int(written[2]) * 60 + int(written[3])) * 60
        return _SECOND * (-seconds if written[1] == "-" else seconds)
    try:
        pl.Series([0]).cast(pl.Datetime("us")).dt.replace_time_zone(timezone)
    except (pl.exceptions.PolarsError, UnicodeError) as error:
        raise _unknown_zone(timezone) from error
    return None


def _unknown_zone(timezone: Any) -> InputError:
    return InputError(
        f"timezone={given_text(timezone)} is not known; expected UTC, an offset such as +02:00, "
        f"or a name such as Europe/Berlin"
    )


def _problem(rows: npt.NDArray[np.bool_], values: pl.Series, name: str, expected: str) -> Problem:
    return Problem(
        rows, _reason(values, name, f"expected {expected}"), kind=f"{name}: not a moment"
    )


def _reason(values: pl.Series, name: str, what: str) -> Any:
    return lambda i: f"{name}: found {value_shown(values[i])}, {what}"
