"""What models said of the rows of one file: scores or decisions, which only all rows can tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, LabelError, ScoreError
from assay.sources.coded import Labels, Named
from assay.sources.columns import BOOLEAN, label_kind
from assay.sources.files.bad_rows import LISTED, must_be_a_number
from assay.sources.files.builders import MOST_NAMES, LabelCodes, Numbers, distinct_of
from assay.sources.files.request import Refused, Rows
from assay.sources.number_checks import numbers_of
from assay.sources.row_checks import Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl


Array: TypeAlias = npt.NDArray[Any]

VALUE, NUMBER = "value", "number"
_EXACT = 2.0**53
_FIRST_LOOK = 4096
_BOOLEANS, _BITS = ("false", "true"), ("0", "1")


def check_model_column(values: pl.Series) -> tuple[pl.DataFrame, list[Problem]]:
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
class BothReadings:
    """A column as numbers, nan where a value is none, and as labels where it can be labels."""

    numbers: Array
    labels: Labels | None


class ModelColumn:
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

    def done(self) -> BothReadings:
        """Both readings."""
        return BothReadings(self._numbers.done(), self._labels.done() if self._labels else None)

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


def are_scores(values: pl.Series) -> bool:
    """Whether some numbers of a column tell that it can't hold labels.

    >>> import polars as pl
    >>> are_scores(pl.Series([0.0, 1.0, 0.0])), are_scores(pl.Series([0.0, 1.0, 0.25]))
    (False, True)
    """
    import polars as pl

    column = ModelColumn(values.name, MOST_NAMES)
    column.extend(check_model_column(values)[0].filter(pl.col(NUMBER).is_finite()))
    return column.only_numbers


def decisions_of(said: BothReadings, truth: Labels, known: Collection[str]) -> Labels | None:
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


ModelValues: TypeAlias = Labels | Array | Mapping[Any, Array]

SHOWN = 3


@dataclass(frozen=True, eq=False)
class ModelFile:
    """Rows of one file: its columns, what models said by column, numbers and ids of the rows.

    A model said scores, decisions, or probabilities by label.
    """

    name: str
    columns: Mapping[str, Any]
    said: Mapping[str, ModelValues]
    rows: Array
    ids: pl.Series | None
    rows_read: int
    rows_refused: int
    refused: tuple[Refused, ...]

    @classmethod
    def of(cls, read: Rows, truth: Labels, known: Collection[str], *, skip: bool) -> ModelFile:
        """What was read, with each model's column decided on.

        A row of a column of scores that holds no number stops everything, or is left out.
        """
        columns = dict(read.columns)
        spoken = columns.pop("models", {})
        said: dict[str, ModelValues] = {}
        odd: Array = np.zeros(len(columns["rows"]), bool)
        reasons: list[Refused] = []
        for column, found in spoken.items():
            if isinstance(found, Mapping):
                said[column] = found
                continue
            decisions = decisions_of(found, truth, known)
            said[column] = found.numbers if decisions is None else decisions
            if decisions is None:
                odd |= ~np.isfinite(found.numbers)
                reasons += read.doubtful[column]
        if reasons and not skip:
            raise must_be_a_number(min(reasons, key=lambda at: at.row))
        rows, ids = columns.pop("rows"), columns.pop("ids", None)
        part = cls(
            read.name, columns, said, rows, ids, read.rows_read, read.rows_refused, read.refused
        )
        if ids is not None:
            _must_be_unique(ids, read)
        if not odd.any():
            return part
        listed = {(at.file, at.row): at for at in sorted(reasons, key=lambda at: at.row)}
        return part.without(odd, list(listed.values()))

    def without(self, odd: Array, reasons: list[Refused]) -> ModelFile:
        """The part with some rows refused, and why, as far as it is listed."""
        if odd.all():
            raise EmptyInput(f"{self.name}: no row is left. The first reason: {reasons[0].reason}")
        return replace(
            self.take(np.flatnonzero(~odd)),
            rows_refused=self.rows_refused + int(odd.sum()),
            refused=(*self.refused, *reasons)[:LISTED],
        )

    def take(self, at: Array) -> ModelFile:
        """Some rows, in an order."""
        return replace(
            self,
            columns={name: _taken(column, at) for name, column in self.columns.items()},
            said={name: _taken(column, at) for name, column in self.said.items()},
            rows=self.rows[at],
            ids=None if self.ids is None else self.ids.gather(at),
        )


def _taken(column: Any, at: Array) -> Any:
    if isinstance(column, Mapping):
        return {name: _taken(inner, at) for name, inner in column.items()}
    if isinstance(column, Labels):
        return Labels(column.codes[at], column.names, column.kind)
    if isinstance(column, Named):
        return Named(column.codes[at], column.names)
    return column[at]


def _must_be_unique(ids: pl.Series, read: Rows) -> None:
    """Refuse an id that names several rows."""
    repeated = ids.is_duplicated()
    count = int(repeated.sum())
    if not count:
        return
    first = ids.filter(repeated).unique(maintain_order=True)[:SHOWN]
    shown = ", ".join(map(repr, first.to_list()))
    raise InputError(
        f"{read.name}: column {read.chosen['id']!r} names {count:,} rows by an id that other rows "
        f"have too, such as {shown}. An id must name one row"
    )
