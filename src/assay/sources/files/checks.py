"""What is wrong with rows, and what all checks of columns share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.sources.times import A_MOMENT, days_of

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
# Where the i-th row of a piece stands, in words.
Place: TypeAlias = Callable[[int], str]

_SHOWN = 60


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
