"""The values of a feature: numbers where all of them are numbers, else text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError, ScoreError
from assay.sources.columns import label_text
from assay.sources.row_checks import Problem, plain, value_shown

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
    found = cells.cast(pl.Float64, strict=False)
    if found.null_count() > cells.null_count():
        trimmed = cells.str.strip_chars(" \t")
        words = trimmed.str.to_lowercase().replace_strict(
            _WORDS, default=None, return_dtype=pl.Float64
        )
        found = found.fill_null(trimmed.cast(pl.Float64, strict=False)).fill_null(words)
    return found


def not_numbers(cells: pl.Series, numbers: pl.Series) -> pl.Series:
    """Which cells hold something that is no number."""
    return cells.is_not_null() & numbers.is_null()


def texts_in(cells: pl.Series) -> pl.Series:
    """Cells as text; whole numbers have no point, so that every format writes them alike."""
    import polars as pl

    if cells.dtype == pl.String:
        return cells
    if cells.dtype == pl.Float64:
        whole = cells.floor().eq(cells) & (cells.abs() < _EXACT)
        plainly = cells.set(~whole.fill_null(value=False), 0.0).cast(pl.Int64).cast(pl.String)
        return plainly.zip_with(whole.fill_null(value=False), cells.cast(pl.String))
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


class Cells:
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
            found = texts_in(cells)
            self.times |= _are_times(found)
            return found
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
    told = texts.drop_nulls()
    # The first one settles it for most columns, at no cost.
    return len(told) > 0 and all(part.str.contains(_DATE).all() for part in (told[:1], told))


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
    odd = not_numbers(cells, values)
    if not odd.any():
        return values.fill_nan(None), []

    def reason(i: int) -> str:
        return f"column {cells.name!r}: found {value_shown(cells[i])}, expected a number or nothing"

    return values.fill_nan(None), [Problem(odd.to_numpy(), reason, ScoreError)]
