"""What a row may hold: labels, names, days, ids, numbers; whatever is read, the same is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import CountError, InputError, LabelError, ScoreError
from assay.v02.escaping import row_at
from assay.v02.number_text import significant
from assay.v02.sources.amounts import WEIGHTS, beyond_squares, exact_counts, not_weights
from assay.v02.sources.coded import NameColumn
from assay.v02.sources.columns import (
    BOOLEAN,
    MISSING,
    NUMBER,
    TEXT,
    array_of,
    is_missing,
    label_kind,
    label_text,
    names_of,
)
from assay.v02.sources.text_numbers import numbers_among, parsed, whole_texts, wholes_among
from assay.v02.sources.times import A_MOMENT, days_of, in_calendar

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
# Where the i-th row of a piece stands, in words.
Place: TypeAlias = Callable[[int], str]

_SHOWN = 60
# What to do about rows without a cluster.
NO_CLUSTER = "Give every row a value, and one of its own to a row that belongs with no other"
# Whole numbers up to here are told apart by floats.
_EXACT = 2.0**53


@dataclass(frozen=True)
class Problem:
    """Rows that can't be used, and why; ``fatal`` where the column as a whole can't.

    ``kind`` is the reason without the value and the column: what rows are counted by.
    """

    rows: Array
    reason: str | Callable[[int], str]
    error: type[InputError] = InputError
    fatal: bool = False
    kind: str = "no row"

    def why(self, i: int) -> str:
        """What is wrong with the i-th row."""
        return self.reason if isinstance(self.reason, str) else self.reason(i)


def whole_column(values: pl.Series, expected: str, error: type[InputError]) -> Problem:
    """A column of a type that can't be used."""
    reason = f"column {values.name!r}: found {values.dtype}, expected {expected}"
    return Problem(np.arange(len(values)) == 0, reason, error, fatal=True)


def value_shown(value: Any) -> str:
    """A value as it goes into a message."""
    if is_missing(value) and not isinstance(value, float | np.floating):
        return "nothing"
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def not_a_number(column: str, value: Any) -> str:
    """What is wrong with a value of a column of scores."""
    return f"column {column!r}: found {value_shown(value)}, expected a finite number"


def plain(values: pl.Series) -> pl.Series:
    """A column without types that only say how values are stored."""
    import polars as pl

    kind = values.dtype
    if isinstance(kind, pl.Categorical | pl.Enum):
        return values.cast(pl.String)
    if isinstance(kind, pl.Decimal):
        # By way of text: the nearest float64, which dividing whole numbers need not give.
        return values.cast(pl.String).cast(pl.Float64)
    if kind == pl.Binary:
        try:
            return values.cast(pl.String)
        except pl.exceptions.PolarsError as odd:
            raise InputError(f"column {values.name!r} holds bytes that are no UTF-8 text") from odd
    return values


def check_names(values: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Names of slices: any single values, and missing ones."""
    names = plain(values)
    if names.dtype.is_nested():
        return names, [whole_column(values, "one value a row", InputError)]
    return names, []


def clusters_of(values: Any, name: str) -> NameColumn:
    """A column of clusters as codes and text; no row may lack its own, which nobody can tell."""
    if isinstance(values, NameColumn):
        return values
    array = array_of(values, name)
    column = names_of(array, name)
    if MISSING in column.names:
        gone = [row for row, value in enumerate(array.tolist()) if is_missing(value)]
        if gone:
            raise InputError(
                f"{name} is missing in {len(gone)} of {len(array)} rows; the first is "
                f"{row_at(gone[0])}. {NO_CLUSTER}"
            )
    return column


def check_clusters(values: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Names of clusters: any single values; a row without one belongs nobody knows where."""
    import polars as pl

    names, problems = check_names(values)
    if problems:
        return names, problems
    if names.dtype == pl.Object:
        missing = np.array([is_missing(value) for value in names.to_list()], bool)
    else:
        missing = names.is_null().to_numpy()
        if names.dtype.is_float():
            missing = missing | names.is_nan().fill_null(value=True).to_numpy()
        elif names.dtype == pl.String:
            missing = missing | (names == "").fill_null(value=True).to_numpy()
    if missing.any():
        reason = f"column {values.name!r}: the cluster is missing. {NO_CLUSTER}"
        problems = [Problem(missing, reason, kind="cluster: missing")]
    return names, problems


class DayCheck:
    """A moment a row, all of them with a zone or all without.

    ``zoned`` tells which of the two, None while no moment was read.
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self.zoned: bool | None = None
        self._first = ""

    def check(self, values: pl.Series, place: Place) -> tuple[pl.Series, list[Problem]]:
        """The days as text, and what is wrong."""
        values = in_calendar(plain(values))
        read = days_of(values)
        if read is None:
            return values, [whole_column(values, "times", InputError)]
        unread = read.days.is_null().to_numpy()
        problems = []
        if unread.any():
            problems = [Problem(unread, lambda i: self._unread(values[i]), kind="time: no moment")]
        there = np.flatnonzero(~unread)
        if len(there):
            if self.zoned is None:
                self.zoned, self._first = bool(read.aware[there[0]]), place(int(there[0]))
            mixed = ~unread & (read.aware != self.zoned)
            if mixed.any():
                problems.append(Problem(mixed, lambda i: self._mixed(values[i]), fatal=True))
        return read.days.dt.to_string("%Y-%m-%d"), problems

    def _unread(self, value: Any) -> str:
        return f"column {self.column!r}: found {value_shown(value)}, expected {A_MOMENT}"

    def _mixed(self, value: Any) -> str:
        here, there = ("no time zone", "one") if self.zoned else ("a time zone", "none")
        return (
            f"column {self.column!r}: {value_shown(value)} has {here} and {self._first} has "
            f"{there}, so the day is not sure. Give all of them a zone, or none"
        )


class LabelCheck:
    """Text, whole numbers or booleans, all of one kind over all pieces.

    ``advice`` is what to do about missing ones.
    """

    def __init__(
        self, column: str, role: str, *, may_be_missing: bool = False, advice: str = ""
    ) -> None:
        self.column = column
        self._advice = f" ({advice})" if advice else ""
        self._role = role
        self._may_be_missing = may_be_missing
        self._kind: str | None = None
        self._first = ""

    def check(self, values: pl.Series, place: Place) -> tuple[pl.Series, Array, list[Problem]]:
        """The labels ready to be coded, which are missing, and what is wrong."""
        import polars as pl

        values = plain(values)
        dtype = values.dtype
        problems: list[Problem] = []
        kinds: str | Array
        if dtype == pl.Object:
            missing, kinds, problems = self._objects(values.to_list())
        elif dtype.is_float():
            values, missing, problems = self._floats(values)
            kinds = NUMBER
        else:
            missing = np.zeros(len(values), bool)
            if values.null_count():
                missing = values.is_null().to_numpy()
            kinds = NUMBER if dtype.is_integer() else TEXT
            if dtype == pl.String:
                missing = missing | (values == "").fill_null(value=True).to_numpy()
            elif dtype == pl.Boolean:
                kinds = BOOLEAN
            elif not dtype.is_integer() and dtype != pl.Null:
                problems = [whole_column(values, self._expected, LabelError)]
        problems += self._one_kind(values, kinds, missing, place)
        if not self._may_be_missing and missing.any():
            reason = f"column {self.column!r}: the {self._role} is missing{self._advice}"
            problems.append(Problem(missing, reason, LabelError, kind=f"{self._role}: missing"))
        return values, missing, problems

    @property
    def _expected(self) -> str:
        return f"{self._role}s: text, whole numbers or booleans"

    def _odd(self, rows: Array, value: str) -> Problem:
        reason = f"column {self.column!r}: found {value}, expected {self._expected}"
        return Problem(rows, reason, LabelError, fatal=True)

    def _floats(self, values: pl.Series) -> tuple[pl.Series, Array, list[Problem]]:
        """Floats such as 1.0 as whole numbers; others are no labels."""
        import polars as pl

        numbers = values.cast(pl.Float64).to_numpy()
        missing = np.isnan(numbers)
        odd = ~missing & ((np.floor(numbers) != numbers) | (np.abs(numbers) >= _EXACT))
        whole = pl.Series(values.name, np.where(missing | odd, 0, numbers).astype(np.int64))
        if not odd.any():
            return whole, missing, []
        number = f"the number {float(numbers[odd][0])!r} (if these are scores, say so with score=)"
        return whole, missing, [self._odd(odd, number)]

    def _objects(self, values: list[Any]) -> tuple[Array, Array, list[Problem]]:
        """Missing values and kinds of a column that mixes types."""
        missing = np.array([is_missing(value) for value in values], bool)
        kinds = np.full(len(values), None, object)
        for i in np.flatnonzero(~missing).tolist():
            try:
                kinds[i] = label_kind(values[i])
            except LabelError:
                here = np.arange(len(values)) == i
                return missing, kinds, [self._odd(here, value_shown(values[i]))]
        return missing, kinds, []

    def _one_kind(
        self, values: pl.Series, kinds: str | Array, missing: Array, place: Place
    ) -> list[Problem]:
        if missing.all():
            return []
        if self._kind is None:
            first = int(missing.argmin())
            self._kind = kinds if isinstance(kinds, str) else kinds[first]
            self._first = place(first)
        if isinstance(kinds, str) and kinds == self._kind:
            return []
        other = ~missing & (np.array(kinds, object) != self._kind)
        if not other.any():
            return []
        known = f"the {self._role}s from {self._first} on are {self._kind}"

        def reason(i: int) -> str:
            value = value_shown(values[i])
            return f"column {self.column!r}: found {value}, but {known}. They must be of one kind"

        return [Problem(other, reason, LabelError, fatal=True)]


def check_ids(values: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Ids as text: 007 stays 007, a whole number has no point; missing ones are wrong."""
    import polars as pl

    ids = plain(values)
    kind = ids.dtype
    if kind.is_nested():
        return pl.Series(values.name, [""] * len(values)), [
            whole_column(values, "an id a row", InputError)
        ]
    bad = np.zeros(len(ids), bool)
    if kind.is_float():
        numbers = ids.cast(pl.Float64).to_numpy()
        bad = np.isinf(numbers) | (np.abs(numbers) >= _EXACT) | (np.floor(numbers) < numbers)
        whole = np.where(bad | np.isnan(numbers), 0, numbers).astype(np.int64)
        texts = pl.Series(values.name, whole).cast(pl.String)
        missing = np.isnan(numbers)
    else:
        texts = _objects(ids) if kind == pl.Object else ids.cast(pl.String)
        missing = (texts.is_null() | (texts == "")).fill_null(value=True).to_numpy()
    name = values.name

    def reason(i: int) -> str:
        return f"column {name!r}: found {value_shown(ids[i])}, expected an id"

    problems = [Problem(missing, f"column {name!r}: the id is missing")] if missing.any() else []
    return texts, problems + ([Problem(bad, reason)] if bad.any() else [])


def _objects(values: pl.Series) -> pl.Series:
    import polars as pl

    return pl.Series(values.name, [_text(value) for value in values.to_list()], dtype=pl.String)


def _text(value: object) -> str | None:
    try:
        return None if value is None else label_text(value)
    except LabelError:
        return str(value)


# -- scores, probabilities, counts and weights -----------------------------------------------------

SUM_TOLERANCE = 1e-6
_WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*%?\s*", re.ASCII)


def numbers_of(values: pl.Series) -> Array | None:
    """A column as float32 or float64, nan where it holds no number; None if it never could."""
    import polars as pl

    values = plain(values)
    dtype = values.dtype
    if is_narrow(dtype):
        return values.cast(pl.Float32).to_numpy()
    if dtype == pl.String:
        return parsed(values).to_numpy()
    if dtype == pl.Object:
        return numbers_among(values.to_list())
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return values.cast(pl.Float64).to_numpy()
    return None


def is_narrow(dtype: pl.DataType) -> bool:
    """Whether a type is of floats that 32 bits hold."""
    import polars as pl

    return dtype.is_float() and dtype != pl.Float64


class NumberCheck:
    """A finite number a row."""

    error: type[InputError] = ScoreError
    role = "score"
    expected = "a finite number"

    def __init__(self, column: str) -> None:
        self.column = column

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The numbers, and what is wrong."""
        numbers = numbers_of(values)
        if numbers is None:
            return np.zeros(len(values)), [whole_column(values, "numbers", self.error)]
        return numbers, self.problems(values, self.bad(numbers))

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
        with np.errstate(over="ignore", invalid="ignore"):
            # What is not finite makes the sum so, and mostly nothing is.
            if np.isfinite(numbers.sum()):
                return np.zeros(len(numbers), bool)
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
                value = value_shown(values[i])
                return f"column {self.column!r}: found {value}, expected {WEIGHTS}"

            problems.append(Problem(beyond, reason, self.error, kind=f"weight: not {WEIGHTS}"))
        return numbers, problems


class CountCheck(NumberCheck):
    """A frequency a row."""

    error = CountError
    role = "count"
    expected = "a count: a whole number, not negative and below 2^62"

    def check(self, values: pl.Series) -> tuple[Array, list[Problem]]:
        """The counts, and what is wrong; whole numbers are never taken through a float."""
        cells = _countable(values)
        if cells is None:
            return np.zeros(len(values), np.int64), [whole_column(values, "counts", self.error)]
        counts, bad = exact_counts(cells)
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
        return whole_texts(values)
    if dtype == pl.Object:
        return wholes_among(values.to_list())
    return None


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
    by_label: dict[str, Array] = {}
    problems: list[Problem] = []
    for label, column in columns.items():
        numbers, odd = ProbabilityCheck(column).check(frame[column])
        by_label[label] = numbers.astype(np.float64, copy=False)
        problems += odd
    if len(by_label) > 1 and not any(problem.fatal for problem in problems):
        total = np.sum(list(by_label.values()), axis=0)
        off = off_one(total)
        if off.any():
            names = ", ".join(map(repr, columns.values()))

            def reason(i: int) -> str:
                return (
                    f"columns {names}: the probabilities sum to "
                    f"{significant(total[i], 9)}, expected 1"
                )

            kind = "probability: those of a row do not sum to 1"
            problems.append(Problem(off, reason, ScoreError, kind=kind))
    return by_label, problems
