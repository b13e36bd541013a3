"""Pieces of tables into compact columns; bad rows counted and listed, or refused at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.sources.coded import LabelDigest
from assay.sources.columns import TEXT, native
from assay.sources.files.bad_rows import LISTED, BadRows, must_be_a_number, place_in, where
from assay.sources.files.builders import MOST_NAMES, LabelCodes, NameCodes, Numbers, Texts
from assay.sources.files.memory import Budget
from assay.sources.files.model_columns import (
    NUMBER,
    VALUE,
    ModelColumn,
    check_model_column,
    not_a_number,
)
from assay.sources.files.request import Refused, Request
from assay.sources.files.table import Piece, Table
from assay.sources.number_checks import check_probabilities
from assay.sources.row_checks import Place, check_ids
from assay.sources.times import MOST_DAYS
from assay.sources.validation import Checked, Roles, RowCheck, skips

Array: TypeAlias = npt.NDArray[Any]
Builder: TypeAlias = LabelCodes | NameCodes | Numbers | ModelColumn | Texts

_WIDTHS = {"score": 8, "count": 8, "weight": 8, "cluster": 4, "id": 32}


class Store:
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
            found = values[key]
            if kept is not None:
                of_polars = isinstance(found, pl.Series | pl.DataFrame)
                found = found.filter(kept) if of_polars else found[kept]
            part.extend(found)
        self.rows += len(found)

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
            found = {key: part.done() for (r, key), part in self._parts.items() if r == role}
            if role == "probability":
                found = {native(label, kind): column for label, column in found.items()}
            if found:
                columns[name] = found
        for pattern in self._patterns:
            found = {
                key: part.done() for (role, key), part in self._parts.items() if role == pattern
            }
            by_label = {native(label, kind): column for label, column in found.items()}
            columns["models"] = {**columns.get("models", {}), pattern: by_label}
        return columns


class Collector:
    """Takes pieces one after another."""

    def __init__(self, roles: Roles, request: Request, budget: Budget) -> None:
        self._roles = roles
        self._budget = budget
        self._check = RowCheck(roles, unlabelled=request.unlabelled)
        self._bad = BadRows(stops=not skips(request.on_bad_row))
        self.labelled = Store(roles, labelled=True)
        self.unlabelled = Store(roles, labelled=False) if request.unlabelled else None
        self.rows_read = 0
        self.rows_labelled = 0
        self.doubtful: dict[str, list[Refused]] = {column: [] for column in roles.models or ()}
        self.digest = LabelDigest()
        self._before = 0

    def begin(self, table: Table, *, whole: bool = True) -> None:
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

    def _width(self, table: Table) -> int:
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
    def reasons(self) -> dict[str, int]:
        """How many rows were left out, by the reason."""
        return self._bad.reasons

    @property
    def refused(self) -> list[Refused]:
        """The first of them."""
        return self._bad.refused

    def add(self, piece: Piece, name: str) -> None:
        """Check the rows of a piece and keep the good ones."""
        with _named(name):
            checked = self._checked(piece, place_in(piece, name))
        repeats = checked.values.get(("rows", ""))
        bad = self._bad.judge(piece, name, checked.problems, repeats)
        rows = piece.frame.height if repeats is None else int(repeats.sum())
        self.rows_read += rows + len(piece.broken)
        with _named(name):
            self._keep(checked.values, bad, checked.missing)
        self._doubt(piece, name, checked.values, bad)
        held = self.labelled.nbytes + (self.unlabelled.nbytes if self.unlabelled else 0)
        self._budget.must_hold(held, name=name)

    def _doubt(
        self, piece: Piece, name: str, values: dict[tuple[str, str], Any], bad: Array
    ) -> None:
        """List what is no finite number; wrong only once the column is known to hold scores."""
        for column, listed in self.doubtful.items():
            found = values["model", column]
            odd = ~np.isfinite(found[NUMBER].to_numpy()) & ~bad
            for i in np.flatnonzero(odd)[: LISTED - len(listed)].tolist():
                reason = not_a_number(column, found[VALUE][i])
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

    def _checked(self, piece: Piece, place: Place) -> Checked:
        """The rows of a piece, with what several models said of them, and what they are called."""
        roles, frame = self._roles, piece.frame
        checked = self._check.check(frame, place)
        values, problems = checked.values, checked.problems
        if roles.models is not None:
            values["row", ""] = self._before + np.asarray(piece.rows, np.int64)
            for column in roles.models:
                values["model", column], odd = check_model_column(frame[column])
                problems += odd
            for pattern, by_label in roles.model_classes.items():
                numbers, odd = check_probabilities(frame, by_label)
                values |= {(pattern, label): column for label, column in numbers.items()}
                problems += odd
        if roles.id is not None:
            values["id", ""], odd = check_ids(frame[roles.id])
            problems += odd
        return checked

    def take(self) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """The columns of the rows since the last time, labelled and not, which are let go."""
        taken, rest = self.labelled, self.unlabelled
        self.labelled = Store(self._roles, labelled=True)
        columns = taken.done()
        if "y_true" in columns:
            self.digest.add(columns["y_true"])
        if rest is None or not rest.rows:
            return columns, None
        self.unlabelled = Store(self._roles, labelled=False)
        return columns, rest.done(columns["y_true"].kind)

    def must_have_rows(self, names: Iterable[str]) -> None:
        """Refuse an input of which nothing is left."""
        if self.rows_labelled:
            return
        shown = ", ".join(names)
        if not self.rows_read:
            raise EmptyInput(f"{shown}: there are no rows, only a header or an empty table")
        if not self.rows_refused:
            raise EmptyInput(f"{shown}: none of the {self.rows_read:,} rows has a label")
        first = self.refused[0]
        raise EmptyInput(
            f"{shown}: of {self.rows_read:,} rows {self.rows_refused:,} were refused and none is "
            f"left. The first is {where(first)}: {first.reason}"
        )


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors in here tell of which file they speak."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error
