"""Rows of files or columns into a daily tally, and the rows of a reference into its cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.monitor.reference import (
    ALERTS_AT_ENDS,
    ALERTS_ON_TOP,
    TENTHS,
    ReferenceCells,
    reference_cells,
)
from assay.errors import EmptyInput, InputError, ScoreError
from assay.inference.fields import restored
from assay.sources.columns import label_text
from assay.sources.files.bad_rows import BadRows, place_in, where
from assay.sources.files.builders import distinct_of
from assay.sources.files.column_roles import must_have, roles_of
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened_tables
from assay.sources.files.request import Progress, Request, RowSource, refused_row
from assay.sources.files.table import Piece, Table
from assay.sources.number_checks import NumberCheck
from assay.sources.row_checks import LabelCheck
from assay.sources.validation import DECISION, LABEL, SCORE, Roles, RowCheck, skips
from assay.tally.crosstab import BELOW, FLAGGED
from assay.tally.daily import NOT_ASKED, UNLABELLED, DailyTally

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

# What is followed: the score, the alerts, and features by their names.
SCORES, ALERTS, FEATURE = "score", "alerts", "feature "
OLD = "old"
DEFAULT_THRESHOLD = 0.5


@dataclass(frozen=True)
class Watching:
    """What is read beside the columns of a request: another model, and columns to follow."""

    threshold: float | None = None
    old_score: str | None = None
    old_decision: str | None = None
    old_threshold: float | None = None
    features: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns besides those of the request."""
        old = [column for column in (self.old_score, self.old_decision) if column is not None]
        return (*old, *self.features)


@dataclass
class Batch:
    """Rows that were checked: labels, what was decided, days, and columns to follow."""

    days: pl.Series | None
    labels: pl.Series
    new: pl.Series
    old: pl.Series
    scores: dict[str, Array]
    features: dict[str, pl.Series]


class Batches:
    """The rows of inputs, batch by batch; how they came about is told once all are read."""

    def __init__(self, request: Request, watching: Watching) -> None:
        self._request = replace(
            request,
            unlabelled=True,
            label_if_there=request.label is None,
            by_threshold=watching.threshold is not None,
        )
        self._watching = watching
        self._bad = BadRows(stops=not skips(request.on_bad_row))
        self._check: RowCheck | None = None
        self._old: NumberCheck | LabelCheck | None = None
        self.roles = Roles(None)
        self.rows_read = 0
        self.names: list[str] = []

    def of_files(self, inputs: Sequence[str], progress: Progress) -> Iterator[Batch]:
        """The rows of files."""
        budget = Budget(self._request.max_memory)
        for table in opened_tables(inputs, self._request, budget, progress):
            self._begin(table)
            columns = list(dict.fromkeys((*self.roles.columns, *self._watching.columns)))
            for piece in table.pieces(columns):
                yield self._batch(piece, table.name)
        if self.rows_read == self._bad.rows_refused:
            first = self._bad.refused[:1]
            why = f" The first is {where(first[0])}: {first[0].reason}" if first else ""
            raise EmptyInput(f"{', '.join(self.names)}: there is no row to count.{why}")

    def of_frame(self, frame: pl.DataFrame, name: str) -> Iterator[Batch]:
        """The rows of a frame."""
        self._begin(Table(name, tuple(frame.columns)))
        if not frame.height:
            raise EmptyInput(f"{name} has no rows")
        yield self._batch(Piece(frame, range(1, frame.height + 1)), name)

    def _begin(self, table: Table) -> None:
        self.names.append(table.name)
        for column in self._watching.columns:
            must_have(table, column)
        roles = roles_of(table, self._request)
        if self._check is None:
            self.roles = roles
            self._check = RowCheck(roles, unlabelled=True)
            if self._watching.old_score is not None:
                self._old = NumberCheck(self._watching.old_score)
            elif self._watching.old_decision is not None:
                self._old = LabelCheck(self._watching.old_decision, DECISION)
        elif roles != self.roles:
            raise InputError(
                f"{table.name} has other columns than {self.names[0]}; name them with label=, "
                f"score= or decision="
            )
        if self._watching.threshold is not None and roles.decision is not None:
            raise ScoreError("threshold= decides on y_score; decisions are taken as they are")

    def _batch(self, piece: Piece, name: str) -> Batch:
        assert self._check is not None  # noqa: S101 - begun before
        with _named(name):
            checked = self._check.check(piece.frame, place_in(piece, name))
            values, problems = checked.values, list(checked.problems)
            if isinstance(self._old, NumberCheck):
                values[OLD, ""], odd = self._old.check(piece.frame[self._old.column])
                problems += odd
            elif self._old is not None:
                place = place_in(piece, name)
                values[OLD, ""], _, odd = self._old.check(piece.frame[self._old.column], place)
                problems += odd
        bad = self._bad.judge(piece, name, problems)
        self.rows_read += piece.frame.height + len(piece.broken)
        return self._kept(piece.frame, values, checked.missing, ~bad)

    def _kept(
        self, frame: pl.DataFrame, values: dict[tuple[str, str], Any], missing: Array, kept: Array
    ) -> Batch:
        import polars as pl

        watching, rows = self._watching, int(kept.sum())
        labels = pl.Series([UNLABELLED] * rows, dtype=pl.String)
        if (LABEL, "") in values:
            labels = self._texts(values[LABEL, ""].filter(kept), missing[kept])
        scores: dict[str, Array] = {}
        if (SCORE, "") in values:
            scores[SCORE] = np.asarray(values[SCORE, ""][kept], np.float64)
        if (DECISION, "") in values:
            new = self._texts(values[DECISION, ""].filter(kept), np.zeros(rows, bool))
        else:
            new = _flagged(scores[SCORE], watching.threshold)
        old = pl.Series([NOT_ASKED] * rows, dtype=pl.String)
        if watching.old_score is not None:
            scores[OLD] = np.asarray(values[OLD, ""][kept], np.float64)
            old = _flagged(scores[OLD], watching.old_threshold)
        elif watching.old_decision is not None:
            old = self._texts(values[OLD, ""].filter(kept), np.zeros(rows, bool))
        days = values["time", ""].filter(kept) if ("time", "") in values else None
        features = {column: frame[column].filter(kept) for column in watching.features}
        return Batch(days, labels, new, old, scores, features)

    def _texts(self, values: pl.Series, missing: Array) -> pl.Series:
        """Labels as text, empty where one is missing."""
        import polars as pl

        there = values.filter(~missing)
        texts = np.full(len(values), UNLABELLED, object)
        if len(there):
            distinct, codes = distinct_of(there)
            texts[~missing] = np.array([label_text(each) for each in distinct], object)[codes]
        return pl.Series(texts, dtype=pl.String)

    def source(self) -> RowSource:
        """Where the rows came from, and which were refused."""
        more = len(self.names) - 1
        return {
            "name": f"{self.names[0]} and {more} more" if more else self.names[0],
            "rows_read": self.rows_read,
            "rows_used": self.rows_read - self._bad.rows_refused,
            "rows_refused": self._bad.rows_refused,
            "refused": [refused_row(refused) for refused in self._bad.refused],
            "chosen": dict(self.roles.chosen),
        }


def _flagged(scores: Array, threshold: float | None) -> pl.Series:
    import polars as pl

    raised = scores >= (DEFAULT_THRESHOLD if threshold is None else threshold)
    return pl.Series(np.where(raised, FLAGGED, BELOW), dtype=pl.String)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error


# -- the reference ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """What a reference sample holds: cells of each column, and decisions by label."""

    rows: int
    cells: tuple[ReferenceCells, ...]
    decided: Mapping[tuple[str, str], int] = field(default_factory=dict)

    def must_be_like(self, batch: Batch) -> None:
        """Refuse rows that have a score where the reference has none, or are decided otherwise."""
        told = {
            "scores": (any(each.column == SCORES for each in self.cells), SCORE in batch.scores),
            "decisions by a threshold": (
                {said for _, said in self.decided} <= {FLAGGED, BELOW},
                set(batch.new.unique()) <= {FLAGGED, BELOW},
            ),
        }
        for what, (here, there) in told.items():
            if here != there:
                one, other = ("reference=", "the rows") if here else ("the rows", "reference=")
                raise InputError(
                    f"there are {what} in {one} and not in {other}, so that they can't be held "
                    f"against each other. Give both the same columns, named by score= or decision="
                )

    def plain(self) -> dict[str, Any]:
        """The plain values that a state keeps."""
        return {
            "rows": self.rows,
            "cells": [each.to_dict() for each in self.cells],
            "decided": [[*key, count] for key, count in sorted(self.decided.items())],
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Reference:
        """What :meth:`plain` wrote."""
        return cls(
            int(plain["rows"]),
            tuple(restored(ReferenceCells, each) for each in plain["cells"]),
            {(str(label), str(said)): int(count) for label, said, count in plain["decided"]},
        )


def reference_of(batches: Iterator[Batch], seed: int) -> Reference:
    """The reference that batches of rows give; their columns are kept until all are read."""
    import polars as pl

    gathered = list(batches)
    new = pl.concat([batch.new for batch in gathered])
    labels = pl.concat([batch.labels for batch in gathered])
    cells = []
    if all(SCORE in batch.scores for batch in gathered):
        scores = np.concatenate([batch.scores[SCORE] for batch in gathered])
        cells.append(reference_cells(SCORES, pl.Series(scores), TENTHS, seed))
    for column in gathered[0].features:
        values = pl.concat([batch.features[column] for batch in gathered])
        cells.append(reference_cells(f"{FEATURE}{column}", values, TENTHS, seed))
    by_threshold = set(new.unique()) <= {FLAGGED, BELOW}
    levels = ALERTS_ON_TOP if by_threshold else ALERTS_AT_ENDS
    cells.append(reference_cells(ALERTS, new, levels, seed))
    decided = pl.DataFrame({"label": labels, "new": new}).group_by("label", "new").len()
    return Reference(len(new), tuple(cells), {(a, b): n for a, b, n in decided.iter_rows()})


# -- days ------------------------------------------------------------------------------------------


def count_days(batches: Iterator[Batch], reference: Reference | None) -> DailyTally:
    """The daily tally of batches of rows; its settings are not known before all are read."""
    total = DailyTally()
    cells = () if reference is None else reference.cells
    for batch in batches:
        if reference is not None and len(batch.new):
            reference.must_be_like(batch)
        total += _counted(batch, {}, cells)
    return total


def _counted(
    batch: Batch, settings: Mapping[str, Any], cells: Sequence[ReferenceCells]
) -> DailyTally:
    import polars as pl

    assert batch.days is not None  # noqa: S101 - the time is always asked for
    frame = pl.DataFrame(
        {"day": batch.days, "label": batch.labels, "new": batch.new, "old": batch.old}
    )
    counted = frame.group_by("day", "label", "new", "old").len()
    days, code = np.unique(batch.days.to_numpy(), return_inverse=True)
    names: list[str] = days.tolist()
    slots: dict[str, dict[str, tuple[int, ...]]] = {}
    for each in cells:
        slot = code * each.slots + each.slots_of(_followed(batch, each))
        counts = np.bincount(slot, minlength=len(names) * each.slots).reshape(len(names), -1)
        slots[each.column] = dict(zip(names, map(tuple, counts.tolist()), strict=True))
    extremes: dict[str, dict[str, tuple[float, float]]] = {}
    for role, values in batch.scores.items():
        by_day = pl.DataFrame({"day": batch.days, "value": values}).group_by("day")
        ends = by_day.agg(pl.col("value").min().alias("low"), pl.col("value").max().alias("high"))
        extremes[role] = {day: (low, high) for day, low, high in ends.iter_rows()}
    found = {(day, label, new, old): int(n) for day, label, new, old, n in counted.iter_rows()}
    return DailyTally(settings, found, slots, extremes)


def _followed(batch: Batch, cells: ReferenceCells) -> Array:
    """The values of a column that has cells."""
    if cells.column == SCORES:
        return batch.scores[SCORE]
    if cells.column == ALERTS:
        return cells.values_of(batch.new)
    return cells.values_of(batch.features[cells.column.removeprefix(FEATURE)])


def settings_of(
    batches: Batches, watching: Watching, reference: Reference | None
) -> dict[str, Any]:
    """What was counted and how, as plain values: days that were counted otherwise don't add."""
    roles = batches.roles
    return {
        "label": roles.label,
        "score": roles.score,
        "decision": roles.decision,
        "time": roles.time,
        "threshold": watching.threshold,
        "old_score": watching.old_score,
        "old_decision": watching.old_decision,
        "old_threshold": watching.old_threshold,
        "features": list(watching.features),
        "reference": None if reference is None else reference.plain(),
    }
