"""A labelled table to learn from: features, the truth, and what else a row is known by.

Tables are read piece by piece, and rows that can't be used are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, LabelError
from assay.v02.learn.feature_values import FeatureColumn, MomentCheck, cells_of, numbers_or_bad
from assay.v02.sources.coded import Labels, NameColumn
from assay.v02.sources.columns import native, recode
from assay.v02.sources.files.builders import MOST_NAMES, LabelCodes, NameCodes, Numbers
from assay.v02.sources.files.column_roles import must_have
from assay.v02.sources.files.inputs import Name, given_names
from assay.v02.sources.files.read import opened_tables
from assay.v02.sources.files.request import (
    BadRows,
    Budget,
    OpenedTable,
    Piece,
    Progress,
    Refused,
    Request,
    none_left,
    place_in,
    silent,
    where,
)
from assay.v02.sources.labelling import Labelling, resolve
from assay.v02.sources.row_checks import LabelCheck, Problem, check_names

if TYPE_CHECKING:
    import polars as pl

Positions: TypeAlias = npt.NDArray[np.integer[Any]]

_BATCH_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class Data:
    """A labelled table for learning; rows in the order of the file.

    ``frame`` holds the features: Float64 (booleans as 0 and 1) or String, null where a value is
    missing. ``truth`` are positions in ``labels``: [negative, positive] for two classes, sorted as
    text for more. ``rows`` are the numbers of the rows, from 1 over all inputs. ``family`` names
    the kind of attack; with a negative label given, the labels as they were. ``time`` is in UTC.
    ``columns`` are other columns that were kept, by name, and are no features. ``text`` is the
    feature that holds texts. ``against`` is the label that all others stand against as one class.
    """

    name: str
    frame: pl.DataFrame
    truth: npt.NDArray[np.intp]
    labels: tuple[str, ...]
    positive: str | None
    rows: npt.NDArray[np.int64]
    family: NameColumn | None = None
    time: npt.NDArray[np.datetime64] | None = None
    time_zoned: bool | None = None
    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    text: str | None = None
    against: str | None = None
    dropped: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    rows_read: int = 0
    rows_refused: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, positions: Positions) -> Data:
        """Some rows, in an order."""
        family = self.family
        return replace(
            self,
            frame=self.frame[positions],
            truth=self.truth[positions],
            rows=self.rows[positions],
            family=None if family is None else NameColumn(family.codes[positions], family.names),
            time=None if self.time is None else self.time[positions],
            columns={name: column[positions] for name, column in self.columns.items()},
        )


def read_data(
    inputs: Name | Sequence[Name],
    *,
    label: str,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    text: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    family: str | None = None,
    time: str | None = None,
    input_format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool = True,
    quote: str = '"',
    skip_lines: int = 0,
    sheet: str | None = None,
    on_bad_row: Literal["stop", "skip"] = "stop",
    glob: bool = False,
    max_memory: int | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
    like: Data | None = None,
) -> Data:
    """Read a labelled table from files; several are read as one.

    Every column is a feature but the label, those to ``drop``, and those to ``keep`` aside with the
    family and the time. A column is numeric where every value in it is a number or missing. A row
    without a label, or without a time where there is one, is a bad row.

    ``like`` is a table that was learned, and this is one to judge: it has the same features, of
    which numbers stay numbers, the same classes, and times with a zone where that one has such.
    ``positive``, ``negative`` and ``labels`` are as they were there.
    """
    request = Request(
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        decimal=decimal,
        header=header,
        quote=quote,
        skip_lines=skip_lines,
        sheet=sheet,
        on_bad_row=on_bad_row,
        glob=glob,
        max_memory=max_memory,
        batch_rows=_BATCH_ROWS,
    )
    budget = Budget(max_memory)
    roles = ColumnRoles(label, text, tuple(drop), tuple(keep), family, time, _learned(like))
    given = opened_tables(given_names(inputs), request, budget, progress, stdin)
    rows = _collected(given, roles, request, budget)
    return _labelled(rows, roles, positive, negative, labels, like)


def data_of(
    frame: Any,
    *,
    label: str,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    text: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    family: str | None = None,
    time: str | None = None,
    name: str = "data",
    like: Data | None = None,
) -> Data:
    """The same of a data frame: polars, pandas or pyarrow.

    >>> import polars as pl
    >>> frame = pl.DataFrame(
    ...     {"size": [64, 1500], "kind": ["arp", "ip"], "label": ["attack", "normal"]}
    ... )
    >>> data = data_of(frame, label="label")
    >>> data.labels, data.truth.tolist(), data.frame.columns
    (('normal', 'attack'), [1, 0], ['size', 'kind'])
    """
    import narwhals as nw

    frame = nw.from_native(frame, eager_only=True).to_polars()
    roles = ColumnRoles(label, text, tuple(drop), tuple(keep), family, time, _learned(like))

    def pieces(columns: Sequence[str]) -> Iterable[Piece]:
        yield Piece(frame.select(columns), range(1, 1 + frame.height))

    table = OpenedTable(name, tuple(frame.columns), lambda columns: iter(pieces(columns)))
    rows = _collected([table], roles, Request(), Budget(None))
    return _labelled(rows, roles, positive, negative, labels, like)


def _learned(like: Data | None) -> LearnedColumns | None:
    if like is None:
        return None
    numbers = (name for name, kind in like.frame.schema.items() if kind.is_numeric())
    zone = None if like.time_zoned is None else (like.time_zoned, like.name)
    return LearnedColumns(tuple(like.frame.columns), frozenset(numbers), zone)


def _collected(
    tables: Iterable[OpenedTable], roles: ColumnRoles, request: Request, budget: Budget
) -> LabelledRows:
    unread = iter(tables)
    first = next(unread)  # there is a source at least
    rows = LabelledRows(roles, first, budget, stops=request.on_bad_row == "stop")
    for table in chain((first,), unread):
        rows.read(table)
    rows.must_be_there()
    return rows


def _labelled(
    rows: LabelledRows,
    roles: ColumnRoles,
    positive: Any,
    negative: Any,
    labels: Sequence[Any] | None,
    like: Data | None,
) -> Data:
    truth = rows.labels.done()

    def typed(value: Any) -> Any:
        return native(value, truth.kind) if isinstance(value, str) else value

    if like is None:
        labelling = resolve(
            truth,
            None,
            positive=typed(positive),
            negative=typed(negative),
            labels=None if labels is None else [typed(value) for value in labels],
        )
        against = _against(labelling, one_negative=negative is not None)
    else:
        labelling, against = labelled_like(like, truth.names, rows.name), like.against
    frame, columns = rows.frame(), rows.columns()
    return Data(
        name=rows.name,
        frame=frame,
        truth=recode(truth, labelling.position).astype(np.intp),
        labels=labelling.labels,
        positive=labelling.positive,
        rows=rows.numbers(),
        against=against,
        family=_family(rows, truth, one_negative=against == labelling.labels[0]),
        time=rows.moments(),
        time_zoned=rows.zoned,
        columns=columns,
        text=roles.text,
        dropped=roles.drop,
        refused=tuple(rows.bad.refused),
        rows_read=rows.rows_read,
        rows_refused=rows.bad.rows_refused,
        notes=(*rows.notes(), *labelling.notes),
    )


def _against(labelling: Labelling, *, one_negative: bool) -> str | None:
    """The label that was told from all others; of two labels only a negative one is meant so."""
    if one_negative:
        return labelling.labels[0]
    return labelling.positive if labelling.labels[0] not in labelling.position else None


def labelled_like(learned: Data, names: Sequence[str], name: str) -> Labelling:
    """The labels of a table to judge, as those that were learned."""
    known = {label: i for i, label in enumerate(learned.labels)}
    if learned.against is None:
        unknown = [label for label in names if label not in known]
        if unknown:
            raise InputError(
                f"{name} holds the label {unknown[0]!r}, which {learned.name} does not: it has "
                f"{', '.join(map(repr, learned.labels))}. A model can't say what it never learned; "
                f"say which label is negative, so that all others count as positive, or leave "
                f"those rows out"
            )
        return Labelling(learned.labels, learned.positive, known)
    one = known[learned.against]
    position = {label: one if label == learned.against else 1 - one for label in names}
    labels = learned.labels
    if any(label not in (*labels, learned.against) for label in names):
        # There are more of them than the one that gave the class its name.
        others = f"not {learned.against}"
        labels = (learned.against, others) if one == 0 else (others, learned.against)
    return Labelling(labels, labels[1], position)


def _family(rows: LabelledRows, truth: Labels, *, one_negative: bool) -> NameColumn | None:
    if rows.family is not None:
        return rows.family.done()
    return NameColumn(truth.codes.astype(np.intp), truth.names) if one_negative else None


# -- pieces of tables into columns -----------------------------------------------------------------

_CELL_BYTES = 8
_LISTED = 6


@dataclass(frozen=True)
class LearnedColumns:
    """What is known of the features from a table before: all of them, and which are numbers.

    ``zone`` tells whether its times have a zone, and its name.
    """

    features: tuple[str, ...]
    numbers: frozenset[str]
    zone: tuple[bool, str] | None = None


@dataclass(frozen=True)
class ColumnRoles:
    """Which column is the label, and what the others are; all that is not named is a feature."""

    label: str
    text: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    family: str | None = None
    time: str | None = None
    learned: LearnedColumns | None = None

    @property
    def aside(self) -> tuple[str, ...]:
        """The columns that are kept but are no features."""
        named = (*self.keep, self.time)
        return tuple(dict.fromkeys(column for column in named if column is not None))

    def must_be_in(self, table: OpenedTable) -> None:
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

    def features(self, table: OpenedTable) -> list[str]:
        """The columns to learn from, in the order of the file, or of the one before."""
        if self.learned is not None:
            return list(self.learned.features)
        others = {self.label, *self.drop, *self.aside, self.family, ""}
        return [column for column in table.columns if column not in others]


class LabelledRows:
    """Labelled rows, taken from tables piece by piece."""

    def __init__(
        self, roles: ColumnRoles, first: OpenedTable, budget: Budget, *, stops: bool
    ) -> None:
        roles.must_be_in(first)
        self._roles = roles
        self._budget = budget
        self._first = first
        names = roles.features(first)
        if not names:
            raise InputError(
                f"{first.name}: there is no column to learn from besides the label "
                f"{roles.label!r} and what is left out"
            )
        self._features = {column: FeatureColumn(column) for column in names}
        self._aside = {column: FeatureColumn(column) for column in roles.aside}
        self.labels = LabelCodes(roles.label, MOST_NAMES, "labels")
        self.family = None
        if roles.family is not None:
            self.family = NameCodes(roles.family, MOST_NAMES, "families")
        self._time = None
        if roles.time is not None:
            learned_zone = None if roles.learned is None else roles.learned.zone
            self._time = MomentCheck(roles.time, learned_zone)
        self._check = LabelCheck(roles.label, "label", may_be_missing=True)
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
        named = [*self._features, *self._aside, self._roles.label, self._roles.family]
        return list(dict.fromkeys(column for column in named if column is not None))

    def read(self, table: OpenedTable) -> None:
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

    def _must_be_alike(self, table: OpenedTable) -> None:
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
        roles, frame, place = self._roles, piece.frame, place_in(piece, name)
        labels, missing, problems = self._check.check(frame[roles.label], place)
        if missing.any():
            reason = f"column {roles.label!r}: the label is missing"
            problems.append(Problem(missing, reason, LabelError))
        moments = None
        if self._time is not None:
            moments, column_problems = self._time.check(frame[self._time.column], place)
            problems += column_problems
        names = None
        if roles.family is not None:
            names, column_problems = check_names(frame[roles.family])
            problems += column_problems
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
        learned = self._roles.learned
        if learned is None:
            return []
        columns = (frame[column] for column in self._features if column in learned.numbers)
        return [problem for column in columns for problem in numbers_or_bad(cells_of(column))[1]]

    def must_be_there(self) -> None:
        """Refuse an input of which nothing is left."""
        if self._kept:
            return
        if not self.rows_read:
            raise EmptyInput(f"{self.name}: there are no rows, only a header or an empty table")
        first = self.bad.refused[0]
        raise EmptyInput(
            f"{self.name}: {none_left(self.rows_read)}. The first is {where(first)}: {first.reason}"
        )

    def frame(self) -> pl.DataFrame:
        """The features; what they were read as is let go."""
        import polars as pl

        features = []
        for column in list(self._features):
            cells = self._features[column]
            features.append(cells.texts() if column == self._roles.text else cells.done())
            cells.release()
        return pl.DataFrame(features)

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
        moments: Any = pl.concat(self._moments).to_numpy()
        return np.asarray(moments, "datetime64[us]")

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
