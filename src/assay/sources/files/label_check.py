"""Labels and decisions: what they may be, and which are missing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import LabelError
from assay.sources.columns import BOOLEAN, NUMBER, TEXT, label_kind
from assay.sources.files.checks import Array, Place, Problem, plain, value_shown, whole_column

if TYPE_CHECKING:
    import polars as pl

_EXACT = 2.0**53


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
        missing = np.array([_is_missing(value) for value in values], bool)
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


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))
