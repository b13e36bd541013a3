"""Python values, as JSON and databases give them, as a column of polars."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_LARGEST_INT = 2**63
_EXACT = 2**53
_LARGEST_DECIMAL = 10**40


def series_of(name: str, values: Sequence[Any]) -> pl.Series:
    """A column of one type where the values have one, and of objects where they do not."""
    import polars as pl

    kinds = set(map(type, values)) - {type(None)}
    data_type: Any = pl.Object
    if not kinds:
        data_type = pl.Null
    elif kinds == {bool}:
        data_type = pl.Boolean
    elif kinds == {int} and _within(values, _LARGEST_INT):
        data_type = pl.Int64
    elif kinds == {float} or (kinds == {int, float} and _within(values, _EXACT)):
        data_type = pl.Float64
    elif kinds == {str}:
        data_type = pl.String
    elif kinds == {Decimal}:
        numbers = [_number(value) for value in values]
        kept = any(isinstance(number, Decimal) for number in numbers)
        return pl.Series(name, numbers, dtype=pl.Object) if kept else series_of(name, numbers)
    elif kinds == {dt.date}:
        data_type = pl.Date
    elif kinds == {dt.datetime} and len({v.tzinfo is None for v in values if v is not None}) == 1:
        return _times(name, values)
    return pl.Series(name, values, dtype=data_type, strict=data_type != pl.Float64)


def _within(values: Sequence[Any], bound: int) -> bool:
    whole = [value for value in values if type(value) is int]
    return -bound < min(whole, default=0) and max(whole, default=0) < bound


def _number(value: Decimal | None) -> int | float | Decimal | None:
    """A decimal as the number that it is; it stays one where a float would make it whole."""
    if value is None:
        return None
    # A large exponent is no reason to write all of its digits.
    short = value.is_finite() and -_LARGEST_DECIMAL < value < _LARGEST_DECIMAL
    if short and value == value.to_integral_value():
        return int(value)
    near = float(value)
    return value if near.is_integer() and value != near else near


def _times(name: str, values: Sequence[dt.datetime | None]) -> pl.Series:
    import polars as pl

    aware = any(value is not None and value.tzinfo is not None for value in values)
    if aware:
        values = [None if value is None else value.astimezone(dt.UTC) for value in values]
    return pl.Series(name, values, dtype=pl.Datetime("us", "UTC" if aware else None))
