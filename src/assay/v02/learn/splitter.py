"""What a splitter divides, and what it gives: rows with their classes, splits, and their counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LengthMismatch
from assay.v02.escaping import plural
from assay.v02.evaluation.wording import name as quoted
from assay.v02.number_text import rows as counted
from assay.v02.sources.coded import NameColumn
from assay.v02.sources.columns import array_of, labels_of, names_of

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.learn.data import Data

Codes: TypeAlias = npt.NDArray[np.intp]
Positions: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class RowsToSplit:
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
    def of_arrays(cls, X: Any, y: Any, groups: Any) -> RowsToSplit:
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
    def of_data(cls, data: Data, column: str | None) -> RowsToSplit:
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
        values = [v.isoformat() if isinstance(v, datetime) else v for v in array.tolist()]
        try:
            return pl.Series(self.column, values)
        except (TypeError, pl.exceptions.PolarsError):
            # Values of unlike types are told apart as text.
            return pl.Series(self.column, [None if v is None else str(v) for v in values])

    def missing(self) -> npt.NDArray[np.bool_]:
        """Which rows have no value in the column."""
        import polars as pl

        values = self.series()
        gone = values.is_null()
        if values.dtype.is_float():
            gone |= values.is_nan().fill_null(value=False)
        elif values.dtype == pl.String:
            gone |= (values == "").fill_null(value=False)
        missing: npt.NDArray[np.bool_] = gone.to_numpy().copy()
        return missing

    def names(self) -> NameColumn:
        """The column as codes and names, in the order of numbers or of text; none is missing."""
        self.must_have_values(~np.zeros(len(self), bool))
        return named_column(self.series(), self.column)

    def must_have_values(self, where: npt.NDArray[np.bool_]) -> None:
        """Refuse rows among these that have no value in the column."""
        gone = np.flatnonzero(self.missing() & where)
        if len(gone):
            raise InputError(
                f"column {self.column!r} has no value in {len(gone):,} "
                f"{plural(len(gone), 'row,', 'rows, the first of them')} "
                f"{self.place(int(gone[0]))}, so nothing tells on which side "
                f"{plural(len(gone), 'it belongs', 'they belong')}. Fill it in, or leave it out"
            )


def named_column(values: pl.Series, column: str) -> NameColumn:
    """A column as codes and names; numbers come in their order, before text in its own."""
    names = names_of(values, column)
    used = np.unique(names.codes)
    order = sorted(used.tolist(), key=lambda code: _natural(names.names[code]))
    renumber = np.zeros(len(names.names), np.intp)
    renumber[order] = np.arange(len(order))
    return NameColumn(renumber[names.codes], tuple(names.names[code] for code in order))


def _natural(name: str) -> tuple[int, float, str]:
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name


def _length(given: Any) -> int:
    return int(given.shape[0]) if hasattr(given, "shape") else len(given)


# -- one way to divide rows ------------------------------------------------------------------------

TRAIN, TEST, VALIDATION, NEITHER = "train", "test", "validation", "neither"


@dataclass(frozen=True)
class SplitCounts:
    """How many rows of each class are in each part: a row a label, a column a part.

    >>> counts = SplitCounts(("normal", "attack"), ("train", "test"), ((7, 3), (5, 2)))
    >>> counts.by_part, counts.by_label, counts.total
    ((12, 5), (10, 7), 17)
    """

    labels: tuple[str, ...]
    parts: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def by_label(self) -> tuple[int, ...]:
        """All rows of each label."""
        return tuple(map(sum, self.counts))

    @property
    def by_part(self) -> tuple[int, ...]:
        """All rows of each part."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def total(self) -> int:
        """All rows."""
        return sum(self.by_label)

    def records(self) -> list[dict[str, Any]]:
        """A row a label and one for all of them, whose label is None."""
        rows = [*zip(self.labels, self.counts, strict=True), (None, self.by_part)]
        return [
            {"label": label, **dict(zip(self.parts, counts, strict=True)), "total": sum(counts)}
            for label, counts in rows
        ]

    def __str__(self) -> str:
        shown = [["", *self.parts, "total"]]
        for record in self.records():
            label, *counts = record.values()
            shown.append(["total" if label is None else label, *(f"{n:,}" for n in counts)])
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])])
            for row in shown
        )


@dataclass(frozen=True, eq=False)
class Split:
    """Positions of rows, in the order of the rows: to learn from, to judge, and held back.

    ``repeat`` counts from 1; rows are divided anew in each.
    """

    name: str
    train: Positions
    test: Positions
    rows: RowsToSplit
    validation: Positions | None = None
    repeat: int = 1

    def counts(self) -> SplitCounts:
        """How many rows of each class are in each part; what is in no part is counted too."""
        parts = {TRAIN: self.train, TEST: self.test}
        if self.validation is not None:
            parts[VALIDATION] = self.validation
        labels = self.rows.labels or ("rows",)
        of_parts = {
            part: np.bincount(self.rows.truth[at], minlength=len(labels))
            for part, at in parts.items()
        }
        left = np.array(self.rows.class_sizes()) - np.sum(list(of_parts.values()), axis=0)
        if left.any():
            of_parts[NEITHER] = left
        table = np.stack(list(of_parts.values()), axis=1)
        return SplitCounts(
            labels, tuple(of_parts), tuple(tuple(map(int, row)) for row in table.tolist())
        )

    def must_be_of_use(self, what: str) -> Split:
        """Refuse a split of which a side is empty, or from which nothing can be learned."""
        for part, at in self.parts():
            if not len(at):
                raise InputError(
                    f"{what} leaves the {part} part{self._of()} empty: all {len(self.rows):,} rows "
                    f"are on the other side"
                )
        lacking = self.not_learned()
        if len(self.rows.labels) > 1 and len(self.rows.labels) - len(lacking) < 2:
            one = np.bincount(self.rows.truth[self.train]).argmax()
            raise InputError(
                f"{what} leaves only class {quoted(self.rows.labels[one])} in the training part"
                f"{self._of()} ({counted(len(self.train))}): there is nothing to tell it from"
            )
        return self

    def parts(self) -> Iterator[tuple[str, Positions]]:
        """The name and the rows of each part."""
        yield "training", self.train
        yield TEST, self.test
        if self.validation is not None:
            yield VALIDATION, self.validation

    def not_learned(self) -> tuple[str, ...]:
        """Classes of which the training part has no rows."""
        there = set(np.unique(self.rows.truth[self.train]).tolist())
        return tuple(label for i, label in enumerate(self.rows.labels) if i not in there)

    def _of(self) -> str:
        return "" if self.name == TEST else f" of {self.name}"


# -- what all splitters have in common -------------------------------------------------------------


class Splitter(ABC):
    """Divides rows, once or several times; usable wherever scikit-learn takes a ``cv``.

    ``groups`` is the column that the split goes by, where it goes by one.
    """

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Positions, Positions]]:
        """Positions to learn from and positions to judge, once a split."""
        for split in self.splits(RowsToSplit.of_arrays(X, y, groups)):
            yield split.train, split.test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return len(self.splits(RowsToSplit.of_arrays(X, y, groups)))

    @abstractmethod
    def splits(self, rows: RowsToSplit) -> tuple[Split, ...]:
        """All splits of some rows; refuses rows that can't be divided so."""

    def together(self, rows: RowsToSplit) -> NameColumn | None:  # noqa: ARG002 - some splits keep none
        """The group of each row, where groups are kept on one side."""
        return None

    def lasting(self, rows: RowsToSplit, splits: Sequence[Split]) -> tuple[Positions, str]:
        """The rows that the model to keep learns from, and which they are."""
        if len(splits) == 1:
            return splits[0].train, "the training part"
        return np.arange(len(rows)), "all rows"


@dataclass(frozen=True, eq=False)
class BoundSplitter:
    """A splitter with the rows that it divides: ``split()`` needs no arguments."""

    splitter: Splitter
    rows: RowsToSplit

    def split(
        self,
        X: Any = None,
        y: Any = None,
        groups: Any = None,  # noqa: ARG002 - scikit-learn gives it
    ) -> Iterator[tuple[Positions, Positions]]:
        """Positions to learn from and positions to judge, once a split."""
        for given in (X, y):
            size = None if given is None else getattr(given, "shape", [len(self.rows)])[0]
            if size not in (None, len(self.rows)):
                raise LengthMismatch(f"this splits {len(self.rows):,} rows; found {size:,}")
        for split in self.splits():
            yield split.train, split.test

    def get_n_splits(
        self,
        X: Any = None,  # noqa: ARG002 - scikit-learn gives them
        y: Any = None,  # noqa: ARG002
        groups: Any = None,  # noqa: ARG002
    ) -> int:
        """How many splits there are."""
        return len(self.splits())

    def splits(self) -> tuple[Split, ...]:
        """All splits, with their names and counts."""
        return self.splitter.splits(self.rows)


def part_sizes(rows: int, shares: Sequence[Fraction]) -> list[int]:
    """How many rows each part gets.

    >>> part_sizes(74_344, [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)])
    [52040, 14869, 7435]
    """
    borders = [0, *(int(rows * share) for share in accumulate(shares))]
    return [after - before for before, after in pairwise(borders)]


def class_counts(classes: Sequence[int], shares: Sequence[Fraction]) -> list[list[int]]:
    """How many rows of each class each part gets.

    >>> shares = [Fraction(7, 10), Fraction(2, 10), Fraction(1, 10)]
    >>> class_counts([39_552, 34_792], shares)
    [[27686, 24354], [7910, 6959], [3956, 3479]]
    """
    sizes = part_sizes(sum(classes), shares)
    left = list(classes)
    parts: list[list[int]] = []
    for size in reversed(sizes[1:]):
        stay = largest_remainder(left, sum(left) - size)
        parts.insert(0, [n - kept for n, kept in zip(left, stay, strict=True)])
        left = stay
    return [left, *parts]


def largest_remainder(classes: Sequence[int], size: int) -> list[int]:
    """Share out so many rows among classes, by their sizes.

    A class that would get none comes first, and one that would get all of its rows last, so that
    small classes are on both sides where that is possible. On a tie the smaller class wins.

    >>> largest_remainder([60, 30, 10], 7)
    [4, 2, 1]
    """
    rows = sum(classes)
    if not rows:
        return [0 for _ in classes]
    shared = [divmod(size * n, rows) for n in classes]
    given = [quota for quota, _ in shared]
    candidates = [i for i, (_, remainder) in enumerate(shared) if remainder]
    candidates.sort(
        key=lambda i: (given[i] > 0, given[i] + 1 == classes[i], -shared[i][1], classes[i], -i)
    )
    for i in candidates[: size - sum(given)]:
        given[i] += 1
    return given
