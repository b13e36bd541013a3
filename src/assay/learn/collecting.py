"""Pieces of labelled tables into columns to learn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, LabelError
from assay.learn.feature_values import Cells, cells_of, numbers_or_bad
from assay.learn.moments import MomentCheck
from assay.sources.files.bad_rows import BadRows, place_in, where
from assay.sources.files.builders import MOST_NAMES, LabelCodes, NameCodes, Numbers
from assay.sources.files.column_roles import must_have
from assay.sources.files.memory import Budget
from assay.sources.files.table import Piece, Table
from assay.sources.row_checks import LabelCheck, Problem, check_names

if TYPE_CHECKING:
    import polars as pl

_CELL_BYTES = 8
_LISTED = 6


@dataclass(frozen=True)
class Learned:
    """What is known of the features from a table before: all of them, and which are numbers.

    ``zone`` tells whether its times have a zone, and its name.
    """

    features: tuple[str, ...]
    numbers: frozenset[str]
    zone: tuple[bool, str] | None = None


@dataclass(frozen=True)
class Wanted:
    """Which column is the label, and what the others are; all that is not named is a feature."""

    label: str
    text: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    family: str | None = None
    time: str | None = None
    learned: Learned | None = None

    @property
    def aside(self) -> tuple[str, ...]:
        """The columns that are kept but are no features."""
        named = (*self.keep, self.time)
        return tuple(dict.fromkeys(column for column in named if column is not None))

    def must_be_in(self, table: Table) -> None:
        """Refuse columns that a table does not have, and one that is two things at once."""
        needed = [self.label, self.text, *self.keep, self.family, self.time]
        # Of a table to be judged nothing is missed but what was learned.
        needed += self.drop if self.learned is None else self.learned.features
        for column in needed:
            if column is not None:
                must_have(table, column)
        for role, others in (
            ("the label", (self.text, self.time)),
            ("the text to learn from", (*self.drop, *self.keep, self.family, self.time)),
        ):
            column = self.label if role == "the label" else self.text
            if column is not None and column in others:
                raise InputError(
                    f"{table.name}: column {column!r} can't be {role} and something else at once; "
                    f"say which column is which"
                )

    def features(self, table: Table) -> list[str]:
        """The columns to learn from, in the order of the file, or of the one before."""
        if self.learned is not None:
            return list(self.learned.features)
        others = {self.label, *self.drop, *self.aside, self.family, ""}
        return [column for column in table.columns if column not in others]


class Rows:
    """Labelled rows, taken from tables piece by piece."""

    def __init__(self, wanted: Wanted, first: Table, budget: Budget, *, stops: bool) -> None:
        wanted.must_be_in(first)
        self._wanted = wanted
        self._budget = budget
        self._first = first
        names = wanted.features(first)
        if not names:
            raise InputError(
                f"{first.name}: there is no column to learn from besides the label "
                f"{wanted.label!r} and what is left out"
            )
        self._features = {column: Cells(column) for column in names}
        self._aside = {column: Cells(column) for column in wanted.aside}
        self.labels = LabelCodes(wanted.label, MOST_NAMES, "labels")
        self.family = None
        if wanted.family is not None:
            self.family = NameCodes(wanted.family, MOST_NAMES, "families")
        self._time = None
        if wanted.time is not None:
            known = None if wanted.learned is None else wanted.learned.zone
            self._time = MomentCheck(wanted.time, known)
        self._check = LabelCheck(wanted.label, "label", may_be_missing=True)
        self._moments: list[pl.Series] = []
        self._numbers = Numbers(np.int64)
        self.bad = BadRows(stops=stops)
        self.rows_read = self._before = self._kept = 0
        self._tables: list[str] = []
        self._notes: list[str] = []

    @property
    def name(self) -> str:
        """What was read."""
        more = len(self._tables) - 1
        return f"{self._tables[0]} and {more} more" if more else self._tables[0]

    @property
    def zoned(self) -> bool | None:
        """Whether the times have a zone."""
        return None if self._time is None else self._time.zoned

    @property
    def _columns(self) -> list[str]:
        named = [*self._features, *self._aside, self._wanted.label, self._wanted.family]
        return list(dict.fromkeys(column for column in named if column is not None))

    def read(self, table: Table) -> None:
        """Take all rows of a table."""
        self._must_be_alike(table)
        self._tables.append(table.name)
        self._notes += table.notes
        self._before = self.rows_read
        columns = self._columns
        claimed = (table.rows or 0) * len(columns) * _CELL_BYTES
        self._budget.must_hold(self._nbytes + claimed, table.at_once(columns), name=table.name)
        for piece in table.pieces(columns):
            self._add(piece, table.name)
            self._budget.must_hold(self._nbytes, name=table.name)

    @property
    def _nbytes(self) -> int:
        return sum(cells.nbytes for cells in (*self._features.values(), *self._aside.values()))

    def _must_be_alike(self, table: Table) -> None:
        absent = [column for column in self._columns if column not in table.columns]
        if absent:
            raise InputError(
                f"{table.name} has no column {absent[0]!r}, which {self._first.name} has. Leave "
                f"it out with --drop {absent[0]!r}, or add it"
            )
        more = [column for column in table.columns if column not in self._first.columns]
        if more:
            self._notes.append(
                f"{_listed(more)} of {table.name} is not used, since {self._first.name} has no "
                f"such column"
            )

    def _add(self, piece: Piece, name: str) -> None:
        wanted, frame, place = self._wanted, piece.frame, place_in(piece, name)
        labels, missing, problems = self._check.check(frame[wanted.label], place)
        if missing.any():
            reason = f"column {wanted.label!r}: the label is missing"
            problems.append(Problem(missing, reason, LabelError))
        moments = None
        if self._time is not None:
            moments, odd = self._time.check(frame[self._time.column], place)
            problems += odd
        names = None
        if wanted.family is not None:
            names, odd = check_names(frame[wanted.family])
            problems += odd
        try:
            problems += self._no_numbers(frame)
        except InputError as error:
            raise type(error)(f"{name}: {error}") from error
        good = ~self.bad.judge(piece, name, problems)
        self.rows_read += frame.height + len(piece.broken)
        every = bool(good.all())
        try:
            for cells in (*self._features.values(), *self._aside.values()):
                values = frame[cells.column]
                cells.extend(values if every else values.filter(good))
            self.labels.extend(labels if every else labels.filter(good))
            if self.family is not None and names is not None:
                self.family.extend(names if every else names.filter(good))
        except InputError as error:
            raise type(error)(f"{name}: {error}") from error
        if moments is not None:
            self._moments.append(moments if every else moments.filter(good))
        numbers = self._before + np.asarray(piece.rows, np.int64)
        self._numbers.extend(numbers[good])
        self._kept += int(good.sum())

    def _no_numbers(self, frame: pl.DataFrame) -> list[Problem]:
        """Values that are no numbers, in columns that were learned as such."""
        learned = self._wanted.learned
        if learned is None:
            return []
        columns = (frame[column] for column in self._features if column in learned.numbers)
        return [odd for column in columns for odd in numbers_or_bad(cells_of(column))[1]]

    def must_be_there(self) -> None:
        """Refuse an input of which nothing is left."""
        if self._kept:
            return
        if not self.rows_read:
            raise EmptyInput(f"{self.name}: there are no rows, only a header or an empty table")
        first = self.bad.refused[0]
        raise EmptyInput(
            f"{self.name}: of {self.rows_read:,} rows {self.bad.rows_refused:,} were refused and "
            f"none is left. The first is {where(first)}: {first.reason}"
        )

    def frame(self) -> pl.DataFrame:
        """The features; what they were read as is let go."""
        import polars as pl

        found = []
        for column in list(self._features):
            cells = self._features[column]
            found.append(cells.texts() if column == self._wanted.text else cells.done())
            cells.release()
        return pl.DataFrame(found)

    def columns(self) -> dict[str, pl.Series]:
        """The columns kept aside."""
        return {column: cells.as_read() for column, cells in self._aside.items()}

    def numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the rows."""
        return self._numbers.done()

    def moments(self) -> npt.NDArray[np.datetime64] | None:
        """The time of each row, in UTC."""
        import polars as pl

        if self._time is None:
            return None
        found: Any = pl.concat(self._moments).to_numpy()
        return np.asarray(found, "datetime64[us]")

    def notes(self) -> list[str]:
        """What should be said about the columns; complete once the frame was made."""
        said = list(dict.fromkeys(self._notes))
        inexact = [column for column, cells in self._features.items() if cells.inexact]
        if inexact:
            said.append(
                f"{_listed(inexact)}: whole numbers beyond 2^53 lost digits, since features are "
                f"float64; an id of that size should be dropped"
            )
        times = [column for column, cells in self._features.items() if cells.times]
        if times:
            said.append(
                f"{_listed(times)}: times are learned as text, each moment a category of its own; "
                f"drop them, or name the one to split by with --time"
            )
        return said


def _listed(columns: list[str]) -> str:
    shown = ", ".join(map(repr, columns[:_LISTED]))
    more = len(columns) - _LISTED
    return f"column{'s' if len(columns) > 1 else ''} {shown}" + (
        f" and {more} more" if more > 0 else ""
    )
