"""What one of several models said: scores or decisions, which only all of its rows can tell."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LabelError, ScoreError
from assay.sources.batch import Labels
from assay.sources.columns import BOOLEAN, label_kind
from assay.sources.files.builders import LabelCodes, Numbers, distinct_of
from assay.sources.number_checks import numbers_of
from assay.sources.row_checks import Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

VALUE, NUMBER = "value", "number"
_EXACT = 2.0**53
_FIRST_LOOK = 4096
_BOOLEANS, _BITS = ("false", "true"), ("0", "1")


def check_said(values: pl.Series) -> tuple[pl.DataFrame, list[Problem]]:
    """Each value, and the number that it is (nan where it is none); what is missing is wrong."""
    import polars as pl

    found = plain(values)
    numbers = numbers_of(values)
    if numbers is None:
        numbers = np.full(len(values), np.nan)
        problems = [whole_column(values, "numbers or labels", ScoreError)]
        return pl.DataFrame({VALUE: found, NUMBER: numbers}), problems
    missing = found.is_null().to_numpy()
    if found.dtype == pl.String:
        missing = missing | (found == "").fill_null(value=True).to_numpy()
    elif found.dtype.is_float():
        missing = missing | np.isnan(numbers)
    reason = f"column {values.name!r}: what the model said is missing"
    problems = [Problem(missing, reason, ScoreError)] if missing.any() else []
    return pl.DataFrame({VALUE: found, NUMBER: numbers}), problems


def not_a_number(column: str, value: Any) -> str:
    """What is wrong with a value of a column of scores."""
    return f"column {column!r}: found {value_shown(value)}, expected a finite number"


@dataclass(frozen=True, eq=False)
class Spoken:
    """A column as numbers, nan where a value is none, and as labels where it can be labels."""

    numbers: Array
    labels: Labels | None


class Said:
    """A column of which both readings are kept until one is ruled out."""

    def __init__(self, column: str, limit: int) -> None:
        self._column = column
        self._limit = limit
        self._numbers = Numbers(np.float32)
        self._labels: LabelCodes | None = LabelCodes(column, None, "decisions")
        self._kind: str | None = None

    @property
    def nbytes(self) -> int:
        """The bytes taken."""
        return self._numbers.nbytes + (self._labels.nbytes if self._labels else 0)

    @property
    def only_numbers(self) -> bool:
        """Whether the values can't be labels: too many of them, or fractions."""
        return self._labels is None

    def reserve(self, more: int) -> None:
        """Make room for further values."""
        self._numbers.reserve(more)

    def extend(self, values: pl.DataFrame) -> None:
        """Add values at the end."""
        self._numbers.extend(values[NUMBER].to_numpy())
        if self._labels is None or not values.height:
            return
        labels = self._as_labels(values[VALUE])
        if labels is None:
            self._labels = None
            return
        self._labels.extend(labels)
        if self._labels.distinct > self._limit:
            self._labels = None

    def done(self) -> Spoken:
        """Both readings."""
        return Spoken(self._numbers.done(), self._labels.done() if self._labels else None)

    def _as_labels(self, values: pl.Series) -> pl.Series | None:
        """The values as labels of one kind, None where they can't be."""
        import polars as pl

        if values.dtype.is_float():
            numbers = values.cast(pl.Float64).to_numpy()
            if (np.floor(numbers) != numbers).any() or (np.abs(numbers) >= _EXACT).any():
                return None
            values = pl.Series(values.name, numbers.astype(np.int64))
        elif values.dtype != pl.Object and values[:_FIRST_LOOK].n_unique() > self._limit:
            return None
        try:
            kinds = {label_kind(value) for value in distinct_of(values)[0]}
        except LabelError:
            return None
        self._kind = self._kind or next(iter(kinds))
        return values if kinds == {self._kind} else None


def decisions_of(said: Spoken, truth: Labels, known: Collection[str]) -> Labels | None:
    """The column as decisions where all of its values are labels; None where it is scores.

    Names that are no numbers are decisions too: a model may name a label that never was true.
    """
    if said.labels is None:
        return None
    found = written_like(said.labels, truth)
    if set(found.names) <= {*truth.names, *known}:
        return Labels(found.codes, found.names, truth.kind)
    return None if np.isfinite(said.numbers).any() else found


def written_like(labels: Labels, truth: Labels) -> Labels:
    """Labels with booleans written as the truth writes them: true beside 1, or 1 beside true."""
    table = dict(zip(_BOOLEANS, _BITS, strict=True))
    if truth.kind == BOOLEAN:
        table = dict(zip(_BITS, _BOOLEANS, strict=True))
    elif labels.kind != BOOLEAN or not set(truth.names) <= set(_BITS):
        return labels
    if not set(labels.names) <= set(table):
        return labels
    return Labels(labels.codes, tuple(table[name] for name in labels.names), truth.kind)
