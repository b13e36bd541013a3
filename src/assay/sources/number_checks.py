"""Scores, probabilities, counts and weights: what they may be."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import CountError, InputError, ScoreError
from assay.sources.amounts import (
    WEIGHTS,
    beyond_squares,
    exact_counts,
    not_weights,
    whole_text,
)
from assay.sources.row_checks import Array, Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl

SUM_TOLERANCE = 1e-6
# What may stand around a number.
_BLANKS = " \t"
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*%?\s*", re.ASCII)
_PERCENT = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))[ \t]*%$"


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
    """Text as numbers, null where it is none; blanks around a number do not matter.

    A percent sign divides by a hundred: 97.3% is the float that 0.973 is.
    """
    import polars as pl

    found = values.cast(pl.Float64, strict=False)
    if found.null_count() == values.null_count():
        return found
    stripped = values.str.strip_chars(_BLANKS)
    found = found.fill_null(stripped.cast(pl.Float64, strict=False))
    if found.null_count() == values.null_count():
        return found
    hundredths = stripped.str.replace(_PERCENT, "${1}e-2").cast(pl.Float64, strict=False)
    return found.fill_null(hundredths)


def _number(value: Any) -> float:
    import polars as pl

    if isinstance(value, str):
        found = _parsed(pl.Series([value], dtype=pl.String))[0]
        return math.nan if found is None else float(found)
    try:
        return float(value) if isinstance(value, int | float | Decimal) else math.nan
    except OverflowError:
        return math.inf


class NumberCheck:
    """A finite number a row."""

    error: type[InputError] = ScoreError
    role = "score"
    expected = "a finite number"

    def __init__(self, column: str) -> None:
        self.column = column

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The numbers, and what is wrong."""
        found = numbers_of(values)
        if found is None:
            return np.zeros(len(values)), [whole_column(values, "numbers", self.error)]
        return found, self.problems(values, self.bad(found))

    def problems(self, values: pl.Series, bad: Array) -> list[Problem]:
        """What is wrong with the rows that are bad."""

        def reason(i: int) -> str:
            shown = value_shown(values[i])
            reason = f"column {self.column!r}: found {shown}, expected {self.expected}"
            if isinstance(values[i], str) and _WITH_COMMA.fullmatch(values[i]):
                reason += ". Where a comma stands before fractions, say decimal=','"
            return reason

        kind = f"{self.role}: not {self.expected}"
        return [Problem(bad, reason, self.error, kind=kind)] if bad.any() else []

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no such number."""
        return np.asarray(~np.isfinite(numbers))


class WeightCheck(NumberCheck):
    """A sampling weight a row."""

    error = CountError
    role = "weight"
    expected = "a weight, finite and not negative"

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no weight."""
        return not_weights(numbers)

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The weights, and what is wrong; they are squared, so they have two ends."""
        numbers, problems = super().check(values)
        beyond = beyond_squares(numbers) & np.isfinite(numbers)
        if beyond.any():

            def reason(i: int) -> str:
                found = value_shown(values[i])
                return f"column {self.column!r}: found {found}, expected {WEIGHTS}"

            problems.append(Problem(beyond, reason, self.error, kind=f"weight: not {WEIGHTS}"))
        return numbers, problems


class CountCheck(NumberCheck):
    """A frequency a row."""

    error = CountError
    role = "count"
    expected = "a count: a whole number, not negative and below 2^62"

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The counts, and what is wrong; whole numbers are never taken through a float."""
        found = _countable(values)
        if found is None:
            return np.zeros(len(values), np.int64), [whole_column(values, "counts", self.error)]
        counts, bad = exact_counts(found)
        return counts, self.problems(values, bad)


def _countable(values: pl.Series) -> Array | None:
    """A column for :func:`assay.sources.amounts.exact_counts`; None if it never could be counts."""
    import polars as pl

    values = values if isinstance(values.dtype, pl.Decimal) else plain(values)
    dtype = values.dtype
    if dtype in (pl.Boolean, pl.Null):
        return values.cast(pl.Float64).to_numpy()
    if dtype.is_float() or (dtype.is_integer() and not values.null_count() and dtype != pl.Int128):
        return values.to_numpy()
    if dtype.is_integer() or isinstance(dtype, pl.Decimal):
        return np.array(values.to_list(), object)
    if dtype == pl.String:
        return _whole_texts(values)
    if dtype == pl.Object:
        found = [v if not isinstance(v, str) else _whole_texts(pl.Series([v]))[0] for v in values]
        return np.array([*found, None], object)[:-1]  # as objects, whatever they are
    return None


def _whole_texts(values: pl.Series) -> Array:
    """Text as whole numbers, nan where it is none."""
    import polars as pl

    stripped = values.str.strip_chars(_BLANKS)
    plainly = stripped.str.extract(r"^\+?([0-9]+)(?:\.0*)?$", 1).cast(pl.Int64, strict=False)
    if not plainly.null_count():
        return plainly.to_numpy()
    numbers = _parsed(values).fill_null(math.nan).to_list()
    found = np.empty(len(values), object)
    for i, (whole, number, text) in enumerate(zip(plainly, numbers, stripped, strict=True)):
        exact = whole_text(text) if whole is None and math.isfinite(number) else whole
        found[i] = math.nan if exact is None else exact
    return found


def not_probabilities(numbers: Array) -> Array:
    """Which numbers are no probabilities."""
    return np.asarray(~((numbers >= 0) & (numbers <= 1)))


def off_one(total: Array) -> Array:
    """Which sums of probabilities are not 1; what is not finite was found before."""
    return np.asarray(np.nan_to_num(np.abs(total - 1), nan=0.0, posinf=0.0) > SUM_TOLERANCE)


class ProbabilityCheck(NumberCheck):
    """A probability a row."""

    role = "probability"
    expected = "a probability in [0, 1]"

    def bad(self, numbers: Array) -> Array:
        """The rows that hold no probability."""
        return not_probabilities(numbers)


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
        off = off_one(total)
        if off.any():
            names = ", ".join(map(repr, columns.values()))

            def reason(i: int) -> str:
                return f"columns {names}: the probabilities sum to {total[i]:.9g}, expected 1"

            kind = "probability: those of a row do not sum to 1"
            problems.append(Problem(off, reason, ScoreError, kind=kind))
    return found, problems
