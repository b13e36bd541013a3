"""Scores, probabilities, counts and weights: what they may be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import CountError, InputError, ScoreError
from assay.sources.files.checks import Array, Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl

_LARGEST_COUNT = 2**62
_SUM_TOLERANCE = 1e-6


def numbers_of(values: pl.Series) -> Array | None:
    """A column as float32 or float64, nan where it holds no number; None if it never could."""
    import polars as pl

    values = plain(values)
    dtype = values.dtype
    if is_narrow(dtype):
        return values.cast(pl.Float32).to_numpy()
    if dtype == pl.String:
        return _parsed(values).to_numpy()
    if dtype == pl.Object:
        return np.array([_number(value) for value in values.to_list()], np.float64)
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return values.cast(pl.Float64).to_numpy()
    return None


def is_narrow(dtype: pl.DataType) -> bool:
    """Whether a type is of floats that 32 bits hold."""
    import polars as pl

    return dtype.is_float() and dtype != pl.Float64


def _parsed(values: pl.Series) -> pl.Series:
    """Text as numbers, null where it is none; blanks around a number do not matter."""
    import polars as pl

    found = values.cast(pl.Float64, strict=False)
    if found.null_count() == values.null_count():
        return found
    return found.fill_null(values.str.strip_chars(" \t").cast(pl.Float64, strict=False))


def _number(value: Any) -> float:
    import polars as pl

    if isinstance(value, str):
        found = _parsed(pl.Series([value], dtype=pl.String))[0]
        return math.nan if found is None else float(found)
    try:
        return float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return math.inf


class NumberCheck:
    """A finite number a row."""

    error: type[InputError] = ScoreError
    expected = "a finite number"

    def __init__(self, column: str) -> None:
        self.column = column

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The numbers, and what is wrong."""
        found = numbers_of(values)
        if found is None:
            return np.zeros(len(values)), [whole_column(values, "numbers", self.error)]
        bad = self.bad(found)
        if not bad.any():
            return found, []

        def reason(i: int) -> str:
            shown = value_shown(values[i])
            return f"column {self.column!r}: found {shown}, expected {self.expected}"

        return found, [Problem(bad, reason, self.error)]

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no such number."""
        return np.asarray(~np.isfinite(numbers))


class WeightCheck(NumberCheck):
    """A sampling weight a row."""

    error = CountError
    expected = "a weight, finite and not negative"

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no weight."""
        return np.asarray(~np.isfinite(numbers) | (numbers < 0))


class CountCheck(NumberCheck):
    """A frequency a row."""

    error = CountError
    expected = "a count: a whole number, not negative"

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The counts, and what is wrong."""
        import polars as pl

        found, problems = super().check(values)
        counts = np.where(self.bad(found), 0, found).astype(np.int64)
        if values.dtype == pl.String or values.dtype.is_integer():
            # Whole numbers beyond 2^53 are exact only if they were never floats.
            exact = values.cast(pl.Int64, strict=False)
            counts = np.where(exact.is_null().to_numpy(), counts, exact.fill_null(0).to_numpy())
        return counts, problems

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no count."""
        whole = np.isfinite(numbers) & (np.floor(numbers) == numbers)
        return np.asarray(~whole | (numbers < 0) | (numbers >= _LARGEST_COUNT))


class ProbabilityCheck(NumberCheck):
    """A probability a row."""

    expected = "a probability in [0, 1]"

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no probability."""
        return np.asarray(~((numbers >= 0) & (numbers <= 1)))


def check_probabilities(
    frame: pl.DataFrame, columns: Mapping[str, str]
) -> tuple[dict[str, Array], list[Problem]]:
    """A probability for each label and row, by label; those of a row must sum to 1."""
    found: dict[str, Array] = {}
    problems: list[Problem] = []
    for label, column in columns.items():
        numbers, odd = ProbabilityCheck(column).check(frame[column])
        found[label] = numbers.astype(np.float64, copy=False)
        problems += odd
    if len(found) > 1 and not any(problem.fatal for problem in problems):
        total = np.sum(list(found.values()), axis=0)
        # What is not finite was found above.
        off = np.nan_to_num(np.abs(total - 1), nan=0.0, posinf=0.0) > _SUM_TOLERANCE
        if off.any():
            names = ", ".join(map(repr, columns.values()))

            def reason(i: int) -> str:
                return f"columns {names}: the probabilities sum to {total[i]:.9g}, expected 1"

            problems.append(Problem(off, reason, ScoreError))
    return found, problems
