"""What a row may hold: labels, names, days and ids; whatever is read, the same is refused.

Numbers are checked in :mod:`assay.sources.number_checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError
from assay.sources.columns import BOOLEAN, NUMBER, TEXT, is_missing, label_kind, label_text
from assay.sources.times import A_MOMENT, days_of

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
# Where the i-th row of a piece stands, in words.
Place: TypeAlias = Callable[[int], str]

_SHOWN = 60
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
    if value is None or value == "":
        return "nothing"
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


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
    """Names of slices or clusters: any single values, and missing ones."""
    found = plain(values)
    if found.dtype.is_nested():
        return found, [whole_column(values, "one value a row", InputError)]
    return found, []


class DayCheck:
    """A moment a row, all of them with a zone or all without."""

    def __init__(self, column: str) -> None:
        self.column = column
        self._aware: bool | None = None
        self._first = ""

    def check(self, values: pl.Series, place: Place) -> tuple[pl.Series, list[Problem]]:
        """The days as text, and what is wrong."""
        read = days_of(plain(values))
        if read is None:
            return values, [whole_column(values, "times", InputError)]
        unread = read.days.is_null().to_numpy()
        problems = []
        if unread.any():
            problems = [Problem(unread, lambda i: self._unread(values[i]), kind="time: no moment")]
        there = np.flatnonzero(~unread)
        if len(there):
            if self._aware is None:
                self._aware, self._first = bool(read.aware[there[0]]), place(int(there[0]))
            mixed = ~unread & (read.aware != self._aware)
            if mixed.any():
                problems.append(Problem(mixed, lambda i: self._mixed(values[i]), fatal=True))
        return read.days.dt.to_string("%Y-%m-%d"), problems

    def _unread(self, value: Any) -> str:
        return f"column {self.column!r}: found {value_shown(value)}, expected {A_MOMENT}"

    def _mixed(self, value: Any) -> str:
        here, there = ("no time zone", "one") if self._aware else ("a time zone", "none")
        return (
            f"column {self.column!r}: {value_shown(value)} has {here} and {self._first} has "
            f"{there}, so the day is not sure. Give all of them a zone, or none"
        )


class LabelCheck:
    """Text, whole numbers or booleans, all of one kind over all pieces."""

    def __init__(self, column: str, role: str, *, may_be_missing: bool = False) -> None:
        self.column = column
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
            reason = f"column {self.column!r}: the {self._role} is missing"
            if self._role == "label":
                reason += " (unlabelled='allow' keeps rows without one)"
            problems.append(Problem(missing, reason, LabelError, kind=f"{self._role}: missing"))
        return values, missing, problems

    @property
    def _expected(self) -> str:
        return f"{self._role}s: text, whole numbers or booleans"

    def _odd(self, rows: Array, found: str) -> Problem:
        reason = f"column {self.column!r}: found {found}, expected {self._expected}"
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
        found = f"the number {float(numbers[odd][0])!r} (if these are scores, say so with y_score=)"
        return whole, missing, [self._odd(odd, found)]

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
            found = value_shown(values[i])
            return f"column {self.column!r}: found {found}, but {known}. They must be of one kind"

        return [Problem(other, reason, LabelError, fatal=True)]


def check_ids(values: pl.Series) -> tuple[pl.Series, list[Problem]]:
    """Ids as text: 007 stays 007, a whole number has no point; missing ones are wrong."""
    import polars as pl

    found = plain(values)
    kind = found.dtype
    if kind.is_nested():
        return pl.Series(values.name, [""] * len(values)), [
            whole_column(values, "an id a row", InputError)
        ]
    bad = np.zeros(len(found), bool)
    if kind.is_float():
        numbers = found.cast(pl.Float64).to_numpy()
        bad = np.isinf(numbers) | (np.abs(numbers) >= _EXACT) | (np.floor(numbers) < numbers)
        whole = np.where(bad | np.isnan(numbers), 0, numbers).astype(np.int64)
        texts = pl.Series(values.name, whole).cast(pl.String)
        missing = np.isnan(numbers)
    else:
        texts = _objects(found) if kind == pl.Object else found.cast(pl.String)
        missing = (texts.is_null() | (texts == "")).fill_null(value=True).to_numpy()
    name = values.name

    def reason(i: int) -> str:
        return f"column {name!r}: found {value_shown(found[i])}, expected an id"

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
