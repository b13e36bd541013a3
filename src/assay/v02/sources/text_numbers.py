"""Numbers that stand as text, alone or among other values: read alike wherever they stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.tally.confusion import LIMIT

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

# What may stand around a number.
_BLANKS = " \t"
_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))[ \t]*%$"


def parsed(values: pl.Series) -> pl.Series:
    """Text as numbers, null where it is none; blanks around a number do not matter.

    A percent sign divides by a hundred: 97.3% is the float that 0.973 is.
    """
    import polars as pl

    numbers = values.cast(pl.Float64, strict=False)
    if numbers.null_count() == values.null_count():
        return numbers
    stripped = values.str.strip_chars(_BLANKS)
    numbers = numbers.fill_null(stripped.cast(pl.Float64, strict=False))
    if numbers.null_count() == values.null_count():
        return numbers
    hundredths = stripped.str.replace(_PERCENT, "${1}e-2").cast(pl.Float64, strict=False)
    return numbers.fill_null(hundredths)


def numbers_among(values: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Values of several kinds as numbers, nan where one is none.

    >>> numbers_among([0.5, "50%", "high", None, True])
    array([0.5, 0.5, nan, nan, 1. ])
    """
    numbers = np.array([_number(value) for value in values], np.float64)
    if rows := _texts(values):
        numbers[rows] = parsed(_column(values, rows)).fill_null(math.nan).to_numpy()
    return numbers


def _texts(values: Sequence[Any]) -> list[int]:
    """Where the texts are among some values."""
    return [i for i, value in enumerate(values) if isinstance(value, str)]


def _column(values: Sequence[Any], rows: Sequence[int]) -> pl.Series:
    import polars as pl

    return pl.Series([str(values[i]) for i in rows], dtype=pl.String)


def _number(value: Any) -> float:
    if isinstance(value, str | complex | np.complexfloating) or not hasattr(value, "__float__"):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return math.nan


def wholes_among(values: Sequence[Any]) -> Array:
    """Values of several kinds as objects, with whole numbers for texts, nan where one is none."""
    cells = np.empty(len(values), object)
    cells[:] = values
    if rows := _texts(values):
        cells[rows] = whole_texts(_column(values, rows))
    return cells


def whole_texts(values: pl.Series) -> Array:
    """Text as whole numbers, nan where it is none."""
    import polars as pl

    stripped = values.str.strip_chars(_BLANKS)
    plainly = stripped.str.extract(r"^\+?([0-9]+)(?:\.0*)?$", 1).cast(pl.Int64, strict=False)
    if not plainly.null_count():
        return plainly.to_numpy()
    numbers = parsed(values).fill_null(math.nan).to_list()
    wholes = np.empty(len(values), object)
    for i, (whole, number, text) in enumerate(zip(plainly, numbers, stripped, strict=True)):
        exact = whole_text(text) if whole is None and math.isfinite(number) else whole
        wholes[i] = math.nan if exact is None else exact
    return wholes


def whole_text(text: str) -> int | None:
    """The whole number that a text is, exactly; None where it is none, or too large for a count.

    >>> whole_text("9007199254740993.0"), whole_text("1e3"), whole_text("1.5")
    (9007199254740993, 1000, None)
    """
    try:
        return whole_number(Decimal(text))
    except InvalidOperation:
        return None


def whole_number(value: Any) -> int | None:
    """A number as a whole one, exactly; None where it is none."""
    if isinstance(value, int | np.integer | np.bool_):
        return int(value)
    if isinstance(value, float | np.floating):
        return int(value) if float(value).is_integer() else None
    if isinstance(value, Decimal):
        # A large exponent is no reason to write all of its digits.
        in_range = value.is_finite() and -LIMIT < value < LIMIT
        return int(value) if in_range and value == value.to_integral_value() else None
    return None
