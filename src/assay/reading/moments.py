"""Times as people write them, read to the microsecond in UTC.

The layout of a column is decided by its values. Where 9/6/2026 could be September 6 or June 9, one
value that can be read in one way alone decides; else both readings are shown and none is taken.
Times that name no zone are read as UTC.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<part>\d{1,9}))?)?"
_HALF = r"(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?"
_ZONE = (
    r"(?: ?(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<ahead>[01]\d|2[0-3])(?::?(?P<past>[0-5]\d))?))?"
)
_CLOCK = rf"(?:(?:[T ]|,? +|,? at | +@ +){_TIME}{_HALF}{_ZONE})?$"
_DAY, _MONTH, _YEAR = r"(?P<day>\d{1,2})", r"(?P<month>\d{1,2})", r"(?P<year>\d{4})"
_NAME = r"(?P<name>[A-Za-z]{3,9})\.?"
_WEEKDAY = r"^(?:[A-Za-z]{3,9},? )?"
DAY_FIRST, MONTH_FIRST = "day first", "month first"
_SLASHED = r"[/-]"
_EPOCH = "numbers since 1970"
_ISO = "ISO 8601"
LAYOUTS = {
    _ISO: rf"^{_YEAR}-(?P<month>\d{{2}})-(?P<day>\d{{2}}){_CLOCK}",
    "year first": rf"^{_YEAR}[/.](?P<month>\d{{1,2}})[/.](?P<day>\d{{1,2}}){_CLOCK}",
    # 02.09.2026: nobody writes the month first with points.
    "day.month.year": rf"^{_DAY}\.{_MONTH}\.{_YEAR}{_CLOCK}",
    DAY_FIRST: rf"^{_DAY}{_SLASHED}{_MONTH}{_SLASHED}{_YEAR}{_CLOCK}",
    MONTH_FIRST: rf"^{_MONTH}{_SLASHED}{_DAY}{_SLASHED}{_YEAR}{_CLOCK}",
    # As Snort and Suricata write: 11/02/2026-04:36:54.841235.
    "month/day/year-time": rf"^(?P<month>\d\d)/(?P<day>\d\d)/{_YEAR}-{_TIME}{_HALF}{_ZONE}$",
    "month name first": rf"{_WEEKDAY}{_NAME} +{_DAY},? {_YEAR}{_CLOCK}",
    "day, then month name": rf"{_WEEKDAY}{_DAY}[ -]{_NAME}[ -]{_YEAR}{_CLOCK}",
    # As Apache writes: 16/Nov/2026:04:36:54 +0000.
    "day/month name/year:time": rf"^{_DAY}/{_NAME}/{_YEAR}:{_TIME}{_HALF}{_ZONE}$",
}
# Formats that polars reads much faster, by whether they name a zone.
_QUICK = {
    True: ("%Y-%m-%dT%H:%M:%S%.f%#z",),
    False: ("%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"),
}
_FIRST = 20
_EITHER = re.compile(rf"^(\d{{1,2}})({_SLASHED})(\d{{1,2}}){_SLASHED}(\d{{4}})")
# Numbers below are no times: 20240301 would be a day in 1970. The size tells the unit.
_SMALLEST = 1e8
_UNITS = ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1))
_SECOND = 1_000_000


@dataclass(frozen=True)
class TimeLayout:
    """How the times of a column are written, or the ``doubt`` why that can't be known.

    ``zoned`` tells whether they name a zone; ``commas`` whether a given format has decimal commas;
    ``two_readings`` whether the day could be the month.
    """

    name: str = ""
    zoned: bool = False
    format: str = ""
    commas: bool = False
    doubt: str = ""
    two_readings: bool = False


def time_layout(values: pl.Series, time_format: str | None = None) -> TimeLayout:
    """How the times of a column are written, by some of its values.

    >>> import polars as pl
    >>> time_layout(pl.Series(["9/6/2026, 3:04:05.000 PM", "9/16/2026, 3:04:05.000 PM"])).name
    'month first'
    >>> time_layout(pl.Series(["9/6/2026"])).doubt
    "'9/6/2026' is 9 June 2026 or September 6, 2026"
    """
    import polars as pl

    if values.dtype == pl.Date or isinstance(values.dtype, pl.Datetime):
        zone = getattr(values.dtype, "time_zone", None)
        return TimeLayout("times", zone is not None)
    if values.dtype.is_numeric():
        known = values.cast(pl.Float64).drop_nulls()
        if len(known) and known.is_between(_SMALLEST, _UNITS[-1][0] * 100).all():
            return TimeLayout(_EPOCH, zoned=True)
        return TimeLayout(doubt="it holds numbers that are not times since 1970")
    if values.dtype != pl.String:
        return TimeLayout(doubt=f"it holds values of type {values.dtype}")
    texts = values.str.strip_chars().replace("", None).drop_nulls()
    if not len(texts):
        return TimeLayout(doubt="it holds no values")
    if time_format is not None:
        return _given(texts, time_format)
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.is_between(_SMALLEST, _UNITS[-1][0] * 100).fill_null(value=False).all():
        return TimeLayout(_EPOCH, zoned=True)
    likely = [name for name in LAYOUTS if texts.head(_FIRST).str.contains(LAYOUTS[name]).any()]
    read = {name: _parts(texts, name) for name in likely}
    shares = {name: part["micros"].null_count() for name, part in read.items()}
    fewest = min(shares.values(), default=len(texts))
    if 2 * fewest >= len(texts):
        return TimeLayout(doubt=f"{texts[0]!r} is not in a layout that is known")
    best = [name for name, unread in shares.items() if unread == fewest]
    if len(best) > 1:
        return TimeLayout(doubt=_either(texts), two_readings=True)
    chosen = read[best[0]].filter(pl.col("micros").is_not_null())
    if best[0] in (DAY_FIRST, MONTH_FIRST):
        other = read[MONTH_FIRST if best[0] == DAY_FIRST else DAY_FIRST]["micros"]
        odd = texts.filter(read[best[0]]["micros"].is_null() & other.is_not_null())
        if len(odd):
            certain = texts.filter(other.is_null() & read[best[0]]["micros"].is_not_null())
            return TimeLayout(doubt=f"{certain[0]!r} has the {best[0]}, and {odd[0]!r} has not")
    zoned = chosen["zoned"]
    if zoned.any() and not zoned.all():
        good = texts.filter(read[best[0]]["micros"].is_not_null())
        one, other_ = good.filter(zoned)[0], good.filter(~zoned)[0]
        return TimeLayout(doubt=f"{one!r} names a time zone, and {other_!r} does not")
    return TimeLayout(best[0], bool(zoned.all()))


def _given(texts: pl.Series, time_format: str) -> TimeLayout:
    # Elsewhere than in strftime of Python, %f counts nanoseconds, however many digits there are.
    layout = re.sub(r"[.,]%f", "%.f", time_format)
    if "%f" in layout:
        raise InputError("time_format=: write %f behind a point, as in %S.%f")
    if "%Z" in layout or not re.search(r"%[-_0]?[YyDFGs+cx]", layout):
        lacks = "%z instead of %Z" if "%Z" in layout else "the year, such as %Y"
        raise InputError(f"time_format={time_format!r} needs {lacks}")
    zoned = bool(re.search(r"%[-_0]?(?:z|:z|#z|s|\+)", layout))
    chosen = TimeLayout("given", zoned, layout, ",%f" in time_format)
    import polars as pl

    try:
        read = texts.to_frame("text").select(time_column("text", pl.String(), chosen)).to_series()
    except pl.exceptions.PolarsError as error:
        raise InputError(f"time_format={time_format!r} is no format of times: {error}") from error
    if read.null_count() == len(read):
        return TimeLayout(doubt=f"{texts[0]!r} is not written as {time_format!r}")
    return chosen


def doubt_refused(name: str, layout: TimeLayout, own: Sequence[str] = ()) -> InputError:
    """The refusal of a column of times that can't be read, with the formats to choose from."""
    advice = "say time_format='%Y-%m-%d %H:%M:%S' or the like"
    if layout.two_readings and own:
        one, other = (_written(own[0], order) for order in ("%d{0}%m{0}%Y", "%m{0}%d{0}%Y"))
        advice = f"say time_format={one!r} or time_format={other!r}"
    return InputError(f"column {name!r}: {layout.doubt}; {advice}")


def _written(text: str, date: str) -> str:
    """The format of a time that could have two, with the day and the month in an order."""
    match = _EITHER.match(text)
    if match is None:
        return date.format("/")
    rest = text[match.end() :]
    half = bool(re.search(r"[AaPp]\.?[Mm]", rest))
    for pattern, sign in (
        (r"\d{1,2}:\d{2}:\d{2}([.,])\d+", r"%H:%M:%S\1%f"),
        (r"\d{1,2}:\d{2}:\d{2}", "%H:%M:%S"),
        (r"\d{1,2}:\d{2}(?!:)", "%H:%M"),
        (r"[AaPp]\.?[Mm]\.?", "%p"),
        (r"(?<=\S)( ?)(?:Z|[+-]\d{2}:?\d{2})$", r"\1%z"),
    ):
        if "%H" not in rest or "%" not in sign or "H" not in sign:
            rest = re.sub(pattern, sign, rest, count=1)
    return date.format(match[2]) + (rest.replace("%H", "%I") if half else rest)


def _either(texts: pl.Series) -> str:
    """Both readings of a date."""
    match = next((m for m in map(_EITHER.match, texts.to_list()) if m), None)
    if match is None:
        return f"{texts[0]!r} has two readings"
    first, second, year = int(match[1]), int(match[3]), match[4]
    day = f"{first} {calendar.month_name[second]} {year}"
    return f"{match.string!r} is {day} or {calendar.month_name[first]} {second}, {year}"


def time_column(name: str, dtype: pl.DataType, layout: TimeLayout) -> pl.Expr:
    """The expression that reads a column as moments in UTC, null where there is none."""
    import polars as pl

    column = pl.col(name)
    kind = pl.Datetime("us")
    if layout.name == "times":
        moment = column.dt.convert_time_zone("UTC") if layout.zoned else column
        return moment.cast(pl.Datetime("us", "UTC" if layout.zoned else None)).dt.replace_time_zone(
            "UTC"
        )
    if layout.name == _EPOCH:
        return _since_1970(column, text=dtype == pl.String).cast(kind).dt.replace_time_zone("UTC")
    if layout.format:
        text = column.str.strip_chars()
        # A date alone is midnight.
        timed = re.search(r"%[-_0]?[HIRTcs+Xrk]", layout.format) is not None
        # The fraction of a second stands behind the last comma, if not behind a point.
        text = text.str.replace(r"^(.*\d),(\d)", "${1}.${2}") if layout.commas else text
        moment = text if timed else text + " 00:00"
        form = layout.format if timed else layout.format + " %H:%M"
        zone = "UTC" if layout.zoned else None
        read = moment.str.to_datetime(form, time_unit="us", time_zone=zone, strict=False)
        return read if layout.zoned else read.dt.replace_time_zone("UTC")
    kind = pl.Datetime("us", "UTC")
    return column.map_batches(
        lambda values: read_times(values, layout), return_dtype=kind, is_elementwise=True
    )


def read_times(values: pl.Series, layout: TimeLayout) -> pl.Series:
    """Text in a known layout as moments in UTC, null where it is not."""
    import polars as pl

    text = values.str.strip_chars()
    quick = pl.Series(values.name, [None], pl.Datetime("us", "UTC")).new_from_index(0, len(values))
    for form in _QUICK[layout.zoned] if layout.name == _ISO else ():
        if _read(text.head(_FIRST), form, zoned=layout.zoned).null_count() < min(_FIRST, len(text)):
            quick = _read(text, form, zoned=layout.zoned)
            break
    if quick.null_count() == values.null_count():
        return quick.alias(values.name)
    rest = (quick.is_null() & text.is_not_null()).arg_true()
    parts = _parts(text.gather(rest), layout.name)
    # What names a zone where the others don't, or the other way round, is not sure.
    sure = parts.select(pl.when(pl.col("zoned") == layout.zoned).then("micros")).to_series()
    moments = sure.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
    return quick.scatter(rest, moments).alias(values.name)


def _read(text: pl.Series, form: str, *, zoned: bool) -> pl.Series:
    """Text in a format of strftime as moments in UTC."""
    zone = "UTC" if zoned else None
    read = text.str.to_datetime(form, time_unit="us", time_zone=zone, strict=False)
    return read if zoned else read.dt.replace_time_zone("UTC")


def _parts(texts: pl.Series, layout: str) -> pl.DataFrame:
    """Microseconds since 1970 of texts, null where they are not in the layout, and zones."""
    import polars as pl

    found = texts.str.extract_groups(LAYOUTS[layout]).struct.unnest()

    def number(part: str) -> pl.Expr:
        return pl.col(part).cast(pl.Int64, strict=False)

    month = number("month")
    if "name" in found.columns:
        months = {name: place for place, name in enumerate(_MONTHS, 1)}
        start = pl.col("name").str.slice(0, 3).str.to_lowercase()
        month = start.replace_strict(months, default=None, return_dtype=pl.Int64)
    iso = pl.format("{}-{}-{}", pl.col("year"), month, number("day"))
    days = iso.str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64)
    half = pl.col("half").str.to_lowercase()
    hour = number("hour")
    shown = pl.when(half.is_not_null()).then(hour.is_between(1, 12)).otherwise(hour < 24)
    afternoon = pl.when(half == "p").then(12).otherwise(0)
    hour = pl.when(half.is_not_null()).then(hour % 12 + afternoon).otherwise(hour)
    minute, second = number("minute"), number("second").fill_null(0)
    sound = hour.is_null() | (shown & (minute < 60) & (second <= 60))
    part = pl.col("part").fill_null("").str.pad_end(6, "0").str.slice(0, 6)
    offset = (number("ahead").fill_null(0) * 60 + number("past").fill_null(0)) * 60
    offset = pl.when(pl.col("sign") == "-").then(-offset).otherwise(offset)
    clock = (hour.fill_null(0) * 60 + minute.fill_null(0)) * 60 + second - offset
    micros = (days * 86_400 + clock) * _SECOND + part.cast(pl.Int64, strict=False)
    return found.select(
        pl.when(sound).then(micros).alias("micros"), pl.col("zone").is_not_null().alias("zoned")
    )


def _since_1970(column: pl.Expr, *, text: bool) -> pl.Expr:
    import polars as pl

    # Whole numbers stay whole: a float64 is too coarse for nanoseconds.
    whole = column.str.strip_chars().cast(pl.Int64, strict=False) if text else column.cast(pl.Int64)
    number = (column.str.strip_chars() if text else column).cast(pl.Float64, strict=False)
    micros: pl.Expr = pl.when(number < _UNITS[-1][0] * 100).then(whole // 1_000)
    for bound, unit in reversed(_UNITS):
        exact = (number * unit).round().cast(pl.Int64, strict=False)
        micros = pl.when(number < bound).then(exact).otherwise(micros)
    return pl.when(number >= _SMALLEST).then(micros)
