"""Numbers as people write them: delimiters, decimal commas, thousands, percent.

A comma or a point that could be a decimal sign or a thousands separator is decided by the other
values of its column, or refused with both readings.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import InputError
from assay.text import quote

if TYPE_CHECKING:
    import polars as pl

DELIMITERS = (",", ";", "\t", "|")
_LINES = 50
# Thousands separators that can't be decimal signs.
_GAPS = " \u00a0\u202f'\u2019"
_MINUS = "\u2212"
_POWER = r"(?:[eE][+-]?\d+)?"
_CLEAR_COMMA = re.compile(
    rf"[+-]?(?:\d*,\d+{_POWER}|\d{{1,3}}(?:[{_GAPS}]\d{{3}})+,\d*"
    rf"|\d{{1,3}}(?:\.\d{{3}})+,\d*|\d{{1,3}}(?:\.\d{{3}}){{2,}})"
)
_CLEAR_POINT = re.compile(
    rf"[+-]?(?:\d*\.\d*{_POWER}|\d{{1,3}}(?:,\d{{3}})+\.\d*|\d{{1,3}}(?:,\d{{3}}){{2,}})"
)
_UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}")
_BOTH = re.compile(r".*\d([.,])\d{3}(?:\1\d{3}|[.,]).*")


def _pattern(decimal: str) -> str:
    """A number with this decimal sign: whole part, fraction, exponent, percent sign."""
    group = rf"[{'.' if decimal == ',' else ','}{_GAPS}]"
    whole = rf"\d+|[1-9]\d{{0,2}}(?:{group}\d{{3}})+|"
    return rf"^([+-]?)({whole})(?:{re.escape(decimal)}(\d*))?((?:[eE][+-]?\d+)?)\s*(%?)$"


def sniff_delimiter(head: str, usual: str = ",") -> str:
    r"""The sign between the fields, by which all lines have as many fields as the header.

    >>> sniff_delimiter("label;score\nattack;0,9\nnormal;0,1\n")
    ';'
    """
    lines = [line for line in head.splitlines()[: _LINES + 1] if line.strip()]
    signs = sorted(DELIMITERS, key=lambda sign: sign != usual)
    return max(signs, key=lambda sign: _fit(lines, sign)) if lines else usual


def _fit(lines: Sequence[str], sign: str) -> tuple[float, bool]:
    """The share of lines that have as many fields as the header, if it has several."""
    header, *rows = list(csv.reader(lines, delimiter=sign))
    if len(header) < 2:
        return 0, False
    return sum(len(row) == len(header) for row in rows) / max(len(rows), 1), True


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a column are written; ``doubt`` says why it can't be known."""

    decimal: str = "."
    percent: bool = False
    doubt: str = ""


def number_style(
    values: Iterable[str], decimal: str | None = None, *, commas_elsewhere: bool = False
) -> NumberStyle:
    """How the numbers among some texts are written.

    >>> number_style(["0,25", "1.200,5"])
    NumberStyle(decimal=',', percent=False, doubt='')
    >>> number_style(["12,5", "200.000"]).doubt
    "'200.000' next to '12,5' is 200 or 200000"
    """
    texts = [text for text in map(_cleaned, values) if text]
    percent = bool(texts) and all(text.endswith("%") for text in texts)
    if decimal is not None:
        return NumberStyle(check_decimal(decimal), percent)
    bare = dict.fromkeys(text.rstrip("% \t") for text in texts)
    unclear = [text for text in bare if _UNCLEAR.fullmatch(text)]
    clear = [text for text in bare if not _UNCLEAR.fullmatch(text)]
    commas = [text for text in clear if _CLEAR_COMMA.fullmatch(text)]
    points = [text for text in clear if _CLEAR_POINT.fullmatch(text) and text not in commas]
    if commas and points:
        doubt = f"{commas[0]!r} has a decimal comma and {points[0]!r} a decimal point"
        return NumberStyle(",", percent, doubt)
    sign = "," if commas or (commas_elsewhere and not points) else "."
    group = "." if sign == "," else ","
    # Another number of the column may show that this sign separates thousands.
    grouped = any(match[1] == group for text in clear if (match := _BOTH.fullmatch(text)))
    doubtful = [text for text in unclear if group in text]
    if doubtful and not grouped:
        beside = next(iter(commas or points), "") if sign == "," or points else ""
        next_to = f" next to {beside!r}" if beside else ""
        if commas_elsewhere and not beside:
            next_to = " next to decimal commas"
        return NumberStyle(sign, percent, f"{doubtful[0]!r}{next_to} is {_readings(doubtful[0])}")
    return NumberStyle(sign, percent)


def has_decimal_commas(values: Iterable[str]) -> bool:
    """Whether texts are numbers, and some of them have a decimal comma without a doubt."""
    texts = [text.rstrip("% \t") for text in map(_cleaned, values) if text]
    comma = re.compile(_pattern(","))
    return any(
        _CLEAR_COMMA.fullmatch(text) and not _UNCLEAR.fullmatch(text) for text in texts
    ) and all(text and (comma.match(text) or _UNCLEAR.fullmatch(text)) for text in texts)


def check_decimal(sign: str) -> str:
    """A decimal sign that was given."""
    if sign not in (",", "."):
        raise InputError(f"decimal is ',' or '.'; found {quote(sign)}")
    return sign


def doubt_refused(name: str, doubt: str) -> InputError:
    """The refusal of a column whose numbers have two readings."""
    return InputError(
        f"column {name!r}: {doubt}. Say decimal=',' if the comma is the decimal sign, "
        f"or decimal='.' if the point is"
    )


def read_numbers(values: pl.Series, style: NumberStyle) -> pl.Series:
    """A column as Float64, null where there is no number; a percent sign divides by 100."""
    import polars as pl

    if values.dtype != pl.String:
        return values.cast(pl.Float64, strict=False)
    numbers = pl.Series(values.name, [None], pl.Float64).new_from_index(0, len(values))
    if style.decimal == ".":
        numbers = values.cast(pl.Float64, strict=False)
        if numbers.null_count() == values.null_count():
            return numbers
    text = values.str.replace_all(_MINUS, "-", literal=True).str.strip_chars()
    if style.decimal == ".":
        numbers = numbers.fill_null(text.cast(pl.Float64, strict=False))
    part = (
        text.alias("text")
        .to_frame()
        .select(pl.col("text").str.extract_groups(_pattern(style.decimal)).struct.unnest())
    )
    sign, whole, fraction, power, percent = (pl.col(name).fill_null("") for name in part.columns)
    digits = whole.str.replace_all(r"\D", "") + "." + fraction
    # The exponent of a percentage is written out: 97.3% is the float that 0.973 is.
    shifted = power.str.slice(1).cast(pl.Int64, strict=False).fill_null(0) - pl.when(
        percent == "%"
    ).then(2).otherwise(0)
    written = pl.when(whole + fraction != "").then(sign + digits + "e" + shifted.cast(pl.String))
    read = part.select(written).to_series().cast(pl.Float64, strict=False)
    return numbers.fill_null(read).alias(values.name)


def number_column(name: str, style: NumberStyle) -> pl.Expr:
    """The expression that reads a column of numbers."""
    import polars as pl

    return pl.col(name).map_batches(
        lambda values: read_numbers(values, style), return_dtype=pl.Float64, is_elementwise=True
    )


def whole_column(name: str, style: NumberStyle) -> pl.Expr:
    """The expression that reads a column of counts as Int64, null where there is none."""
    import polars as pl

    def read(values: pl.Series) -> pl.Series:
        text = values.cast(pl.String).str.strip_chars()
        whole = text.str.extract(r"^\+?(\d+)(?:\.0*)?$", 1) if style.decimal == "." else text
        numbers = read_numbers(values, style)
        plain = numbers.set(numbers != numbers.round(), None).cast(pl.Int64, strict=False)
        return whole.cast(pl.Int64, strict=False).fill_null(plain).alias(values.name)

    return pl.col(name).map_batches(read, return_dtype=pl.Int64, is_elementwise=True)


def parse_number(text: str, decimal: str | None = None, *, commas_elsewhere: bool = False) -> float:
    """A number that was typed, such as the value of an option.

    >>> parse_number("0,5"), parse_number("5%"), parse_number("200.000", ",")
    (0.5, 0.05, 200000.0)
    """
    import polars as pl

    style = number_style([text], decimal, commas_elsewhere=commas_elsewhere)
    if style.doubt:
        raise InputError(f"{style.doubt}: write it without a thousands separator")
    number = read_numbers(pl.Series([text], dtype=pl.String), style)[0]
    if number is None or number != number:  # noqa: PLR0124 - nan
        raise InputError(f"{quote(text)} is not a number")
    return float(number)


def _cleaned(text: str | None) -> str:
    return (text or "").replace(_MINUS, "-").strip()


def _readings(text: str) -> str:
    """Both readings of a number.

    >>> _readings("200.000"), _readings("1,234")
    ('200 or 200000', '1.234 or 1234')
    """
    one = float(text.replace(",", "."))
    return f"{one:g} or {text.replace(',', '').replace('.', '')}"
