"""Pieces of tables into compact columns; what a model said in one, only all rows can tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, LabelError, ScoreError
from assay.v02.escaping import plural
from assay.v02.sources.coded import LabelDigest, Labels, NameColumn
from assay.v02.sources.columns import BOOLEAN, TEXT, label_kind, native
from assay.v02.sources.files.builders import (
    MOST_NAMES,
    LabelCodes,
    NameCodes,
    Numbers,
    Texts,
    distinct_of,
)
from assay.v02.sources.files.request import (
    BadRows,
    Budget,
    OpenedTable,
    Piece,
    Refused,
    Request,
    Rows,
    must_be_a_number,
    none_left,
    place_in,
    where,
)
from assay.v02.sources.row_checks import (
    Place,
    Problem,
    check_ids,
    check_probabilities,
    not_a_number,
    numbers_of,
    plain,
    whole_column,
)
from assay.v02.sources.times import MOST_DAYS
from assay.v02.sources.validation import LISTED, CheckedRows, Roles, RowCheck, skips

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

VALUE, NUMBER = "value", "number"
_EXACT = 2.0**53
_FIRST_LOOK = 4096
SHOWN = 3
_BOOLEANS, _BITS = ("false", "true"), ("0", "1")


def check_model_column(values: pl.Series) -> tuple[pl.DataFrame, list[Problem]]:
    """Each value, and the number that it is (nan where it is none); what is missing is wrong."""
    import polars as pl

    cells = plain(values)
    numbers = numbers_of(values)
    if numbers is None:
        numbers = np.full(len(values), np.nan)
        problems = [whole_column(values, "numbers or labels", ScoreError)]
        return pl.DataFrame({VALUE: cells, NUMBER: numbers}), problems
    missing = cells.is_null().to_numpy()
    if cells.dtype == pl.String:
        missing = missing | (cells == "").fill_null(value=True).to_numpy()
    elif cells.dtype.is_float():
        missing = missing | np.isnan(numbers)
    reason = f"column {values.name!r}: what the model said is missing"
    problems = [Problem(missing, reason, ScoreError)] if missing.any() else []
    return pl.DataFrame({VALUE: cells, NUMBER: numbers}), problems


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


def decisions_of(readings: BothReadings, truth: Labels, known: Collection[str]) -> Labels | None:
    """The column as decisions where all of its values are labels; None where it is scores.

    Names that are no numbers are decisions too: a model may name a label that never was true.
    """
    if readings.labels is None:
        return None
    labels = written_like(readings.labels, truth)
    if set(labels.names) <= {*truth.names, *known}:
        return Labels(labels.codes, labels.names, truth.kind)
    return None if np.isfinite(readings.numbers).any() else labels


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


@dataclass(frozen=True, eq=False)
class ModelFile:
    """Rows of one file: its columns, what models said by column, numbers and ids of the rows.

    A model said scores, decisions, or probabilities by label.
    """

    name: str
    columns: Mapping[str, Any]
    outputs: Mapping[str, ModelValues]
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
        outputs: dict[str, ModelValues] = {}
        bad_rows: Array = np.zeros(len(columns["rows"]), bool)
        reasons: list[Refused] = []
        for column, values in spoken.items():
            if isinstance(values, Mapping):
                outputs[column] = values
                continue
            decisions = decisions_of(values, truth, known)
            outputs[column] = values.numbers if decisions is None else decisions
            if decisions is None:
                bad_rows |= ~np.isfinite(values.numbers)
                reasons += read.doubtful[column]
        if reasons and not skip:
            raise must_be_a_number(min(reasons, key=lambda at: at.row))
        rows, ids = columns.pop("rows"), columns.pop("ids", None)
        part = cls(
            read.name, columns, outputs, rows, ids, read.rows_read, read.rows_refused, read.refused
        )
        if ids is not None:
            _must_be_unique(ids, read)
        if not bad_rows.any():
            return part
        listed = {(at.file, at.row): at for at in sorted(reasons, key=lambda at: at.row)}
        return part.without(bad_rows, list(listed.values()))

    def without(self, bad_rows: Array, reasons: list[Refused]) -> ModelFile:
        """The part with some rows refused, and why, as far as it is listed."""
        if bad_rows.all():
            raise EmptyInput(f"{self.name}: no row is left. The first reason: {reasons[0].reason}")
        return replace(
            self.take(np.flatnonzero(~bad_rows)),
            rows_refused=self.rows_refused + int(bad_rows.sum()),
            refused=(*self.refused, *reasons)[:LISTED],
        )

    def take(self, at: Array) -> ModelFile:
        """Some rows, in an order."""
        return replace(
            self,
            columns={name: _rows_at(column, at) for name, column in self.columns.items()},
            outputs={name: _rows_at(column, at) for name, column in self.outputs.items()},
            rows=self.rows[at],
            ids=None if self.ids is None else self.ids.gather(at),
        )


def _rows_at(column: Any, at: Array) -> Any:
    if isinstance(column, Mapping):
        return {name: _rows_at(inner, at) for name, inner in column.items()}
    if isinstance(column, Labels):
        return Labels(column.codes[at], column.names, column.kind)
    if isinstance(column, NameColumn):
        return NameColumn(column.codes[at], column.names)
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


# -- all columns -----------------------------------------------------------------------------------

Builder: TypeAlias = LabelCodes | NameCodes | Numbers | ModelColumn | Texts

_WIDTHS = {"score": 8, "count": 8, "weight": 8, "cluster": 4, "id": 32}


class ColumnStore:
    """The columns of some rows, by role; the column of a slice or probability by its name too."""

    def __init__(self, roles: Roles, *, labelled: bool) -> None:
        self.rows = 0
        parts: dict[tuple[str, str], Builder] = {}
        if labelled and roles.label is not None:
            parts["label", ""] = LabelCodes(roles.label, MOST_NAMES, "labels")
        if roles.decision is not None:
            parts["decision", ""] = LabelCodes(roles.decision, MOST_NAMES, "decisions")
        if roles.score is not None:
            parts["score", ""] = Numbers(np.float32)
        if roles.count is not None:
            parts["count", ""] = Numbers(np.int64)
        for label in roles.probabilities:
            parts["probability", label] = Numbers(np.float64)
        if labelled:
            parts |= self._of_labelled(roles)
        if roles.rows is not None:
            parts["rows", ""] = Numbers(np.int64)
        if roles.models is not None:
            parts["row", ""] = Numbers(np.int64)
            for column in roles.models:
                parts["model", column] = ModelColumn(column, MOST_NAMES)
            for pattern, by_label in roles.model_classes.items():
                parts |= {(pattern, label): Numbers(np.float64) for label in by_label}
        self._patterns = tuple(roles.model_classes)
        if roles.id is not None:
            parts["id", ""] = Texts()
        self._parts = parts

    @staticmethod
    def _of_labelled(roles: Roles) -> dict[tuple[str, str], Builder]:
        """What only labelled rows are judged by; of others only the alarms are counted."""
        parts: dict[tuple[str, str], Builder] = {}
        if roles.weight is not None:
            parts["weight", ""] = Numbers(np.float64)
        if roles.cluster is not None:
            parts["cluster", ""] = NameCodes(roles.cluster, None, "clusters")
        for column in roles.slices:
            parts["slice", column] = NameCodes(column, MOST_NAMES, "slices")
        if roles.time is not None:
            parts["time", ""] = NameCodes(roles.time, MOST_DAYS, "days")
        return parts

    @property
    def nbytes(self) -> int:
        """The bytes that the columns take."""
        return sum(part.nbytes for part in self._parts.values())

    def reserve(self, more: int) -> None:
        """Make room for further rows."""
        for part in self._parts.values():
            part.reserve(more)

    def extend(self, values: dict[tuple[str, str], Any], kept: Array | None) -> None:
        """Add rows: all, or those kept."""
        import polars as pl

        for key, part in self._parts.items():
            column = values[key]
            if kept is not None:
                of_polars = isinstance(column, pl.Series | pl.DataFrame)
                column = column.filter(kept) if of_polars else column[kept]
            part.extend(column)
        self.rows += len(column)

    def only_numbers(self, column: str) -> bool:
        """Whether a model's column is known to hold scores."""
        part = self._parts["model", column]
        return isinstance(part, ModelColumn) and part.only_numbers

    def done(self, kind: str | None = None) -> dict[str, Any]:
        """The columns by the names of :func:`assay.evaluate`, labels as coded columns."""
        names = {
            "label": "y_true",
            "decision": "y_pred",
            "score": "y_score",
            "count": "counts",
            "weight": "sample_weight",
            "cluster": "clusters",
            "time": "times",
            "row": "rows",
            "rows": "repeats",
            "id": "ids",
        }
        columns: dict[str, Any] = {
            names[role]: part.done() for (role, _), part in self._parts.items() if role in names
        }
        kind = kind or (columns["y_true"].kind if "y_true" in columns else TEXT)
        groups = {"probability": "y_proba", "slice": "slices", "model": "models"}
        for role, name in groups.items():
            group = {key: part.done() for (r, key), part in self._parts.items() if r == role}
            if role == "probability":
                group = {native(label, kind): column for label, column in group.items()}
            if group:
                columns[name] = group
        for pattern in self._patterns:
            group = {
                key: part.done() for (role, key), part in self._parts.items() if role == pattern
            }
            by_label = {native(label, kind): column for label, column in group.items()}
            columns["models"] = {**columns.get("models", {}), pattern: by_label}
        return columns


UNLABELLED = "unlabelled='allow' keeps rows without one"


class Collector:
    """Takes pieces one after another; ``advice`` is what to do about labels that are missing."""

    def __init__(
        self, roles: Roles, request: Request, budget: Budget, *, advice: str = UNLABELLED
    ) -> None:
        self._roles = roles
        self._budget = budget
        self._check = RowCheck(roles, unlabelled=request.unlabelled, advice=advice)
        self._bad = BadRows(stops=not skips(request.on_bad_row))
        self.labelled = ColumnStore(roles, labelled=True)
        self.unlabelled = ColumnStore(roles, labelled=False) if request.unlabelled else None
        self.rows_read = 0
        self.rows_labelled = 0
        self.doubtful: dict[str, list[Refused]] = {column: [] for column in roles.models or ()}
        self.digest = LabelDigest()
        self._before = 0

    def begin(self, table: OpenedTable, *, whole: bool = True) -> None:
        """Make room for a table, or refuse it where it can't fit; ``whole`` where all is kept."""
        self._before = self.rows_read
        at_once = table.at_once(self._roles.columns)
        if not whole:
            self._budget.must_hold(0, at_once, name=table.name)
            return
        self._budget.must_hold(
            self.labelled.nbytes + (table.rows or 0) * self._width(table), at_once, name=table.name
        )
        if table.rows:
            self.labelled.reserve(table.rows)

    def _width(self, table: OpenedTable) -> int:
        roles = self._roles
        width = 1 + len(roles.slices) + 8 * len(roles.probabilities)
        width += (roles.decision is not None) + (roles.time is not None)
        width += 8 * (len(roles.models) + 1) if roles.models is not None else 0
        width += 8 * sum(map(len, roles.model_classes.values()))
        for role, column in roles.chosen.items():
            width += 4 if role == "score" and column in table.narrow else _WIDTHS.get(role, 0)
        return width

    @property
    def rows_refused(self) -> int:
        """How many rows were left out."""
        return self._bad.rows_refused

    @property
    def zoned(self) -> bool | None:
        """Whether the times that were read name a zone; None where there are none."""
        return self._check.zoned

    @property
    def reasons(self) -> dict[str, int]:
        """How many rows were left out, by the reason."""
        return self._bad.reasons

    @property
    def refused(self) -> list[Refused]:
        """The first of them."""
        return self._bad.refused

    def add(self, piece: Piece, name: str) -> None:
        """Check the rows of a piece and keep the good ones."""
        with _naming_file(name):
            checked = self._checked(piece, place_in(piece, name))
        repeats = checked.values.get(("rows", ""))
        bad = self._bad.judge(piece, name, checked.problems, repeats)
        rows = piece.frame.height if repeats is None else int(repeats.sum())
        self.rows_read += rows + len(piece.broken)
        with _naming_file(name):
            self._keep(checked.values, bad, checked.missing)
        self._doubt(piece, name, checked.values, bad)
        kept_bytes = self.labelled.nbytes + (self.unlabelled.nbytes if self.unlabelled else 0)
        self._budget.must_hold(kept_bytes, name=name)

    def _doubt(
        self, piece: Piece, name: str, values: dict[tuple[str, str], Any], bad: Array
    ) -> None:
        """List what is no finite number; wrong only once the column is known to hold scores."""
        for column, listed in self.doubtful.items():
            readings = values["model", column]
            no_numbers = ~np.isfinite(readings[NUMBER].to_numpy()) & ~bad
            for i in np.flatnonzero(no_numbers)[: LISTED - len(listed)].tolist():
                reason = not_a_number(column, readings[VALUE][i])
                line = None if piece.line is None else piece.line(i)
                listed.append(Refused(int(piece.rows[i]), reason, name, line))
            if listed and self._bad.stops and self.labelled.only_numbers(column):
                raise must_be_a_number(listed[0])

    def _keep(self, values: dict[tuple[str, str], Any], bad: Array, missing: Array) -> None:
        if not len(bad):
            return
        if self.unlabelled is not None and missing.any():
            self.unlabelled.extend(values, ~bad & missing)
            bad = bad | missing
        before = self.labelled.rows
        self.labelled.extend(values, ~bad if bad.any() else None)
        self.rows_labelled += self.labelled.rows - before

    def _checked(self, piece: Piece, place: Place) -> CheckedRows:
        """The rows of a piece, with what several models said of them, and what they are called."""
        roles, frame = self._roles, piece.frame
        checked = self._check.check(frame, place)
        values, problems = checked.values, checked.problems
        if roles.models is not None:
            values["row", ""] = self._before + np.asarray(piece.rows, np.int64)
            for column in roles.models:
                values["model", column], column_problems = check_model_column(frame[column])
                problems += column_problems
            for pattern, by_label in roles.model_classes.items():
                numbers, column_problems = check_probabilities(frame, by_label)
                values |= {(pattern, label): column for label, column in numbers.items()}
                problems += column_problems
        if roles.id is not None:
            values["id", ""], column_problems = check_ids(frame[roles.id])
            problems += column_problems
        return checked

    def take(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The columns of the rows since the last time, labelled and not, which are let go."""
        labelled, unlabelled = self.labelled, self.unlabelled
        self.labelled = ColumnStore(self._roles, labelled=True)
        columns = labelled.done()
        if "y_true" in columns:
            self.digest.add(columns["y_true"])
        if unlabelled is None or not unlabelled.rows:
            return columns, None
        self.unlabelled = ColumnStore(self._roles, labelled=False)
        return columns, unlabelled.done(columns["y_true"].kind)

    def must_have_rows(self, names: Iterable[str]) -> None:
        """Refuse an input of which nothing is left."""
        if self.rows_labelled:
            return
        shown = ", ".join(names)
        if not self.rows_read:
            raise EmptyInput(f"{shown}: there are no rows, only a header or an empty table")
        if not self.rows_refused:
            rows = self.rows_read
            none = plural(rows, "the only row has no", f"none of the {rows:,} rows has a")
            raise EmptyInput(f"{shown}: {none} label")
        first = self.refused[0]
        raise EmptyInput(
            f"{shown}: {none_left(self.rows_read)}. The first is {where(first)}: {first.reason}"
        )


@contextmanager
def _naming_file(name: str) -> Iterator[None]:
    """Errors in here tell of which file they speak."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error
