"""What a split needs to know of rows: their classes, and the column that it goes by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch
from assay.sources.coded import Named
from assay.sources.columns import array_of, labels_of, names_of

if TYPE_CHECKING:
    import polars as pl

    from assay.learn.data import Data

Codes: TypeAlias = npt.NDArray[np.intp]
Positions: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to divide.

    ``truth`` are positions in ``labels``; without labels all rows are of one class, and nothing is
    stratified. ``values`` is the column that the split goes by, ``column`` its name, ``numbers``
    those of the rows in their file.
    """

    truth: Codes
    labels: tuple[str, ...] = ()
    values: Any = None
    column: str = "groups"
    numbers: npt.NDArray[np.int64] | None = None

    @classmethod
    def of_arrays(cls, X: Any, y: Any, groups: Any) -> Rows:
        """Rows as scikit-learn hands them to a splitter."""
        sizes = {
            name: _length(given)
            for name, given in (("X", X), ("y", y), ("groups", groups))
            if given is not None
        }
        if not sizes:
            raise InputError("a split needs rows: give X, y or groups")
        if len(set(sizes.values())) > 1:
            raise LengthMismatch(f"X, y and groups must be of one length; found {sizes}")
        if y is None:
            return cls(np.zeros(next(iter(sizes.values())), np.intp), values=groups)
        labels = labels_of(y, "y")
        return cls(labels.codes.astype(np.intp), labels.names, groups)

    @classmethod
    def of_data(cls, data: Data, column: str | None) -> Rows:
        """The rows of a table, with the kept column that the split goes by."""
        if column is None:
            return cls(data.truth, data.labels, numbers=data.rows)
        if column not in data.columns:
            kept = ", ".join(map(repr, data.columns)) or "none"
            raise InputError(
                f"the split goes by column {column!r}, which was not kept aside when {data.name} "
                f"was read; kept are {kept}. Read it with keep=[{column!r}]"
            )
        return cls(data.truth, data.labels, data.columns[column], column, data.rows)

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def binary(self) -> bool:
        """Whether there are two classes, the second of them the positive."""
        return len(self.labels) == 2

    def class_sizes(self) -> list[int]:
        """How many rows each class has."""
        return [int(n) for n in np.bincount(self.truth, minlength=max(len(self.labels), 1))]

    def of_class(self, code: int) -> Positions:
        """The rows of a class."""
        return np.flatnonzero(self.truth == code)

    def place(self, position: int) -> str:
        """Where a row stands, in words."""
        number = position + 1 if self.numbers is None else int(self.numbers[position])
        return f"row {number:,}"

    def series(self) -> pl.Series:
        """The column that the split goes by."""
        import polars as pl

        if self.values is None:
            raise InputError("this split goes by a column: give it as groups")
        if isinstance(self.values, pl.Series):
            return self.values
        array = array_of(self.values, self.column)
        if array.dtype.kind == "M":
            array = array.astype("datetime64[us]")
        if array.dtype.kind != "O":
            return pl.Series(self.column, array)
        # Moments as text, else one zone would be taken for the zone of all of them.
        found = [v.isoformat() if isinstance(v, datetime) else v for v in array.tolist()]
        try:
            return pl.Series(self.column, found)
        except (TypeError, pl.exceptions.PolarsError):
            # Values of unlike types are told apart as text.
            return pl.Series(self.column, [None if v is None else str(v) for v in found])

    def missing(self) -> npt.NDArray[np.bool_]:
        """Which rows have no value in the column."""
        import polars as pl

        values = self.series()
        gone = values.is_null()
        if values.dtype.is_float():
            gone |= values.is_nan().fill_null(value=False)
        elif values.dtype == pl.String:
            gone |= (values == "").fill_null(value=False)
        found: npt.NDArray[np.bool_] = gone.to_numpy().copy()
        return found

    def names(self) -> Named:
        """The column as codes and names, in the order of numbers or of text; none is missing."""
        self.must_have_values(~np.zeros(len(self), bool))
        return named(self.series(), self.column)

    def must_have_values(self, where: npt.NDArray[np.bool_]) -> None:
        """Refuse rows among these that have no value in the column."""
        gone = np.flatnonzero(self.missing() & where)
        if len(gone):
            raise InputError(
                f"column {self.column!r} has no value in {len(gone):,} rows, the first of them "
                f"{self.place(int(gone[0]))}, so nothing tells on which side they belong. Fill it "
                f"in, or leave those rows out"
            )


def named(values: pl.Series, column: str) -> Named:
    """A column as codes and names; numbers come in their order, before text in its own."""
    found = names_of(values, column)
    used = np.unique(found.codes)
    order = sorted(used.tolist(), key=lambda code: _natural(found.names[code]))
    renumber = np.zeros(len(found.names), np.intp)
    renumber[order] = np.arange(len(order))
    return Named(renumber[found.codes], tuple(found.names[code] for code in order))


def _natural(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _length(given: Any) -> int:
    return int(given.shape[0]) if hasattr(given, "shape") else len(given)
