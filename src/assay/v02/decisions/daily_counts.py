"""Rows of files or columns into a daily tally, and the rows of a reference into its cells."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, ScoreError
from assay.v02.inference.fields import Recorded, restored
from assay.v02.sources.columns import label_text
from assay.v02.sources.files.builders import distinct_of
from assay.v02.sources.files.column_roles import must_have, roles_of
from assay.v02.sources.files.read import opened_tables
from assay.v02.sources.files.request import (
    ADVICE,
    BadRows,
    Budget,
    OpenedTable,
    Piece,
    Progress,
    Request,
    RowSource,
    place_in,
    refused_row,
    where,
)
from assay.v02.sources.row_checks import LabelCheck, NumberCheck, numbers_of, plain
from assay.v02.sources.validation import DECISION, LABEL, SCORE, Roles, RowCheck, skips
from assay.v02.tally.confusion import BELOW, FLAGGED
from assay.v02.tally.daily import NOT_ASKED, UNLABELLED, DailyTally

if TYPE_CHECKING:
    import polars as pl


Array: TypeAlias = npt.NDArray[Any]

# What is followed: the score, the alerts, and features by their names.
SCORES, ALERTS, FEATURE = "score", "alerts", "feature "
OLD = "old"
DEFAULT_THRESHOLD = 0.5
_BOOLEANS = {label_text(each) for each in (False, True)}


@dataclass(frozen=True)
class WatchRequest:
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
    """Rows that were checked: labels, what was decided, days, and columns to follow.

    There are no days where no column of times was asked for, as of a reference.
    """

    days: pl.Series
    labels: pl.Series
    new: pl.Series
    old: pl.Series
    scores: dict[str, Array]
    features: dict[str, pl.Series]


class CheckedBatches:
    """The rows of inputs, batch by batch; how they came about is told once all are read."""

    def __init__(self, request: Request, watching: WatchRequest, *, advice: str = ADVICE) -> None:
        self._request = replace(
            request,
            unlabelled=True,
            label_if_there=request.label is None,
            by_threshold=watching.threshold is not None,
        )
        self._watching = watching
        self._bad = BadRows(stops=not skips(request.on_bad_row), advice=advice)
        self._check: RowCheck | None = None
        self._old: NumberCheck | LabelCheck | None = None
        self.roles = Roles(None)
        self.rows_read = 0
        self.names: list[str] = []
        self.notes: list[str] = []

    def of_files(self, inputs: Sequence[str], progress: Progress) -> Iterator[Batch]:
        """The rows of files."""
        budget = Budget(self._request.max_memory)
        for table in opened_tables(inputs, self._request, budget, progress):
            check = self._begin(table)
            columns = list(dict.fromkeys((*self.roles.columns, *self._watching.columns)))
            for piece in table.pieces(columns):
                yield self._batch(check, piece, table.name)
        if self.rows_read == self._bad.rows_refused:
            first = self._bad.refused[:1]
            why = f" The first is {where(first[0])}: {first[0].reason}" if first else ""
            raise EmptyInput(f"{', '.join(self.names)}: there is no row to count.{why}")

    def of_frame(self, frame: pl.DataFrame, name: str) -> Iterator[Batch]:
        """The rows of a frame."""
        check = self._begin(OpenedTable(name, tuple(frame.columns)))
        if not frame.height:
            raise EmptyInput(f"{name} has no rows")
        yield self._batch(check, Piece(frame, range(1, frame.height + 1)), name)

    def _begin(self, table: OpenedTable) -> RowCheck:
        """Check a further table, whose columns mean what those of the first did."""
        self.names.append(table.name)
        self.notes += table.notes
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
        return self._check

    def _batch(self, check: RowCheck, piece: Piece, name: str) -> Batch:
        with _naming_part(name):
            checked = check.check(piece.frame, place_in(piece, name))
            values, problems = checked.values, list(checked.problems)
            if isinstance(self._old, NumberCheck):
                values[OLD, ""], old_problems = self._old.check(piece.frame[self._old.column])
                problems += old_problems
            elif self._old is not None:
                place = place_in(piece, name)
                values[OLD, ""], _, old_problems = self._old.check(
                    piece.frame[self._old.column], place
                )
                problems += old_problems
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
        days = pl.Series([], dtype=pl.String)
        if ("time", "") in values:
            days = values["time", ""].filter(kept)
        features = {column: frame[column].filter(kept) for column in watching.features}
        return Batch(days, labels, new, old, scores, features)

    def _texts(self, values: pl.Series, missing: Array) -> pl.Series:
        """Labels as text, empty where one is missing."""
        import polars as pl

        present = values.filter(~missing)
        texts = np.full(len(values), UNLABELLED, object)
        if len(present):
            distinct, codes = distinct_of(present)
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
def _naming_part(name: str) -> Iterator[None]:
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
        presence = {
            "scores": (any(each.column == SCORES for each in self.cells), SCORE in batch.scores),
            "decisions by a threshold": (
                {answer for _, answer in self.decided} <= {FLAGGED, BELOW},
                set(batch.new.unique()) <= {FLAGGED, BELOW},
            ),
            "decisions that are booleans": (
                {answer for _, answer in self.decided} <= _BOOLEANS,
                set(batch.new.unique()) <= _BOOLEANS,
            ),
        }
        for part, (here, there) in presence.items():
            if here != there:
                one, other = ("reference=", "the rows") if here else ("the rows", "reference=")
                raise InputError(
                    f"there are {part} in {one} and not in {other}, so that they can't be held "
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
            {(str(label), str(answer)): int(count) for label, answer, count in plain["decided"]},
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
        total += _days_of_batch(batch, {}, cells)
    return total


def _days_of_batch(
    batch: Batch, settings: Mapping[str, Any], cells: Sequence[ReferenceCells]
) -> DailyTally:
    import polars as pl

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
    cells_of_days = {
        (day, label, new, old): int(n) for day, label, new, old, n in counted.iter_rows()
    }
    return DailyTally(settings, cells_of_days, slots, extremes)


def _followed(batch: Batch, cells: ReferenceCells) -> Array:
    """The values of a column that has cells."""
    if cells.column == SCORES:
        return batch.scores[SCORE]
    if cells.column == ALERTS:
        return cells.values_of(batch.new)
    return cells.values_of(batch.features[cells.column.removeprefix(FEATURE)])


def settings_of(
    batches: CheckedBatches, watching: WatchRequest, reference: Reference | None
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


# -- cells of a reference: where new rows fall if nothing has changed ------------------------------


# Where a column is cut, as shares of the reference: tenths, and the upper tail, where alerts are.
TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# Alerts are rare, so their cells halve with every second cut: towards the top, where a threshold
# ranks them, or towards both ends, where decisions are by name and either may be the alarm.
ALERTS_ON_TOP = tuple(1 - 0.5 ** (k / 2) for k in range(2, 28))
ALERTS_AT_ENDS = tuple(sorted({0.5 ** (k / 2) for k in range(2, 28)} | set(ALERTS_ON_TOP)))
_LEAST_IN_CELL = 5
_MOST_NAMES = 1000

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReferenceCells(Recorded):
    """The cells of one column of a reference.

    ``edges`` are the distinct values at borders. ``cuts`` are the borders: which edge, and where
    among rows that equal it. ``weights`` are the parameters of the Dirichlet distribution.
    ``names`` are those of a column of names, in the order in which they are ranked.
    """

    column: str
    kind: Literal["numbers", "names"]
    rows: int
    edges: tuple[float, ...]
    cut_edges: tuple[int, ...]
    cut_places: tuple[float, ...]
    weights: tuple[int, ...]
    names: tuple[str, ...] = ()

    @property
    def slots(self) -> int:
        """Below, at and between edges, and above."""
        return 2 * len(self.edges) + 1

    def slots_of(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Into which slot each value falls."""
        edges = np.array(self.edges)
        return np.searchsorted(edges, values, "left") + np.searchsorted(edges, values, "right")

    def values_of(self, column: pl.Series) -> npt.NDArray[np.float64]:
        """A column as numbers that rank as the reference does; what is missing ranks lowest."""
        if self.kind == "numbers":
            numbers = numbers_of(column)
            if numbers is None:
                raise InputError(
                    f"column {self.column!r} holds numbers in the reference; found {column.dtype}"
                )
            return _ranked_numbers(numbers)
        place = {name: float(i) for i, name in enumerate(self.names)}
        # A name that the reference does not have ranks above all.
        distinct, codes = distinct_of(_texts(column))
        return np.array([place.get(name, float(len(place))) for name in distinct])[codes]

    def cell_counts(self, slots: Sequence[int], day: str, seed: int) -> Counts:
        """The counts of cells from those of slots; rows at an edge are divided at random."""
        edge_of, place_of = np.array(self.cut_edges), np.array(self.cut_places)
        random = np.random.default_rng([seed, zlib.crc32(f"{self.column}\n{day}".encode())])
        cells = np.zeros(len(self.weights), np.int64)
        for slot in np.flatnonzero(slots).tolist():
            edge, at = divmod(slot, 2)
            first = int(np.searchsorted(edge_of, edge, "left"))
            if not at:
                cells[first] += slots[slot]
                continue
            here = place_of[edge_of == edge]
            shares = np.diff(np.concatenate([[0.0], here, [1.0]]))
            cells[first : first + len(shares)] += random.multinomial(slots[slot], shares)
        return cells


def reference_cells(
    column: str, values: pl.Series, levels: Sequence[float], seed: int
) -> ReferenceCells:
    """The cells of a column of the reference, fewer where it has few rows.

    The borders of cells are order statistics of the reference. Whatever the distribution is, the
    shares of new rows that fall between them follow a Dirichlet distribution whose parameters are
    the steps between the ranks: a fact of ranks, in which the size of the reference is accounted
    for. Values that are equal are ordered at random, by numbers that the seed decides, so that it
    holds for columns of few values and of names as well.

    Reference: Wilks 1941, on tolerance limits.
    """
    values = plain(values)
    numbers = numbers_of(values) if not values.dtype.is_nested() else None
    names: tuple[str, ...] = ()
    kind: Literal["numbers", "names"] = "numbers"
    if numbers is None or _are_names(values, numbers):
        kind = "names"
        distinct, codes = distinct_of(_texts(values))
        names = tuple(sorted(distinct))
        if len(names) > _MOST_NAMES:
            raise InputError(
                f"feature= {column!r} has {len(names):,} distinct values in the reference, which "
                f"are names of rows; at most {_MOST_NAMES:,} can be followed"
            )
        place = {name: i for i, name in enumerate(names)}
        numbers = np.array([place[name] for name in distinct], np.float64)[codes]
    return _cut_column(column, kind, names, np.sort(_ranked_numbers(numbers)), levels, seed)


def _cut_column(
    column: str,
    kind: Literal["numbers", "names"],
    names: tuple[str, ...],
    ordered: npt.NDArray[np.float64],
    levels: Sequence[float],
    seed: int,
) -> ReferenceCells:
    rows = len(ordered)
    ranks, last = [], 0
    for level in levels:
        rank = math.ceil(level * (rows + 1))
        if rank - last >= _LEAST_IN_CELL and rows + 1 - rank >= _LEAST_IN_CELL:
            ranks.append(rank)
            last = rank
    if not ranks:
        raise InputError(
            f"reference= has {rows} rows of {column!r}, which is too few to tell a shift from; "
            f"give {2 * _LEAST_IN_CELL} at least, and better thousands"
        )
    random = np.random.default_rng([seed, zlib.crc32(column.encode())])
    values = ordered[np.array(ranks) - 1]
    edges, at = np.unique(values, return_inverse=True)
    places: list[float] = []
    for i, edge in enumerate(edges):
        first, after = (int(np.searchsorted(ordered, edge, side)) for side in ("left", "right"))
        draws = np.sort(random.random(after - first))
        here = (rank for rank, e in zip(ranks, at, strict=True) if e == i)
        places += [float(draws[rank - first - 1]) for rank in here]
    steps = np.diff([0, *ranks, rows + 1])
    return ReferenceCells(
        column=column,
        kind=kind,
        rows=rows,
        edges=tuple(edges.tolist()),
        cut_edges=tuple(at.tolist()),
        cut_places=tuple(places),
        weights=tuple(steps.tolist()),
        names=names,
    )


def _ranked_numbers(numbers: Any) -> npt.NDArray[np.float64]:
    end = np.finfo(np.float64).max
    return np.nan_to_num(np.asarray(numbers, np.float64), nan=-end, posinf=end, neginf=-end)


def _are_names(values: pl.Series, numbers: npt.NDArray[Any]) -> bool:
    """Whether a column of text is not one of numbers."""
    import polars as pl

    if values.dtype != pl.String:
        return False
    given = (values.fill_null("").str.strip_chars() != "").to_numpy()
    return bool(given.any() and np.isnan(numbers[given]).any())


def _texts(values: pl.Series) -> pl.Series:
    import polars as pl

    return plain(values).cast(pl.String).fill_null("")
