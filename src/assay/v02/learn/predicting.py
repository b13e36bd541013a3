"""Scores for new rows: streamed, in blocks that do not depend on how the rows were read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.v02.learn.feature_values import cells_of, numbers_or_bad, texts_in
from assay.v02.learn.fitting import USUAL, in_order, probabilities_of
from assay.v02.learn.persistence import NUMBER, Loaded
from assay.v02.sources.files.column_roles import must_have
from assay.v02.sources.files.inputs import Name, given_names, sources
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
    request_of,
    silent,
)
from assay.v02.sources.row_checks import Problem

if TYPE_CHECKING:
    import polars as pl

# Sums of a matrix product depend on how many rows it has, so these are part of the answer. Long
# texts become many terms each.
BLOCK = 1 << 16
BLOCK_OF_TEXTS = 1 << 12
ROW, SCORE, DECISION, PROBABILITY = "row", "score", "decision", "p_"
_LISTED = 6


@dataclass(frozen=True)
class Wanted:
    """What is written for each row besides what the model says.

    ``id`` is a column that stands in place of the number of the row, ``keep`` are others that are
    written as they are. ``threshold`` replaces that of the model.
    """

    id: str | None = None
    keep: tuple[str, ...] = ()
    threshold: float | None = None


class Predictions:
    """Frames of predictions, block by block; the counts are complete after the last one."""

    def __init__(self, model: Loaded, pieces: Iterator[Features], wanted: Wanted) -> None:
        self._model = in_order(model.pipeline)
        self._pieces = pieces
        self._wanted = wanted
        self.labels: tuple[str, ...] = tuple(model.header["labels"])
        self.binary = model.header["positive"] is not None
        self.threshold = wanted.threshold
        if self.binary and self.threshold is None:
            self.threshold = model.header["threshold"]
            if self.threshold is None:
                self.threshold = USUAL
        if not self.binary and self.threshold is not None:
            raise InputError(
                f"a threshold decides between two labels, and the model knows {len(self.labels)}"
            )
        numbers = any(feature["kind"] == NUMBER for feature in model.header["features"])
        self._block = BLOCK if numbers else BLOCK_OF_TEXTS
        self.rows = 0
        self.rows_refused = 0
        self.refused: list[Refused] = []
        self.schema()  # refuses names that would stand twice

    def schema(self) -> dict[str, Any]:
        """The columns that are written, and their types."""
        import polars as pl

        first = {ROW: pl.Int64()} if self._wanted.id is None else {self._wanted.id: pl.String()}
        kept = [column for column in self._wanted.keep if column != self._wanted.id]
        outputs = [SCORE] if self.binary else [f"{PROBABILITY}{label}" for label in self.labels]
        columns: list[tuple[str, Any]] = [*first.items()]
        columns += [(column, pl.String()) for column in kept]
        columns += [(column, pl.Float64()) for column in outputs]
        columns.append((DECISION, pl.String()))
        _must_differ([name for name, _ in columns])
        return dict(columns)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        for block in self._blocks():
            self.rows += len(block.rows)
            yield self._predicted(block)
        if not self.rows:
            raise EmptyInput(
                f"{none_left(self.rows_refused)}. The first: {self.refused[0].reason}"
                if self.refused
                else "there are no rows, only a header or an empty table"
            )

    def _blocks(self) -> Iterator[Features]:
        """The rows again, as many in each block as it holds."""
        import polars as pl

        waiting: list[Features] = []
        size = 0
        for piece in self._pieces:
            self.rows_refused += piece.rows_refused
            self.refused += piece.refused
            waiting.append(piece)
            size += len(piece.rows)
            while size >= self._block:
                joined = _joined(waiting, pl)
                yield _part(joined, 0, self._block)
                waiting, size = [_part(joined, self._block, size)], size - self._block
        if size:
            yield _joined(waiting, pl)

    def _predicted(self, block: Features) -> pl.DataFrame:
        import polars as pl

        table = probabilities_of(self._model, block.frame, len(self.labels), "the model")
        if self.threshold is not None:
            outputs = [pl.Series(SCORE, np.ascontiguousarray(table[:, 1]))]
            codes = (table[:, 1] >= self.threshold).astype(np.intp)
        else:
            outputs = [
                pl.Series(f"{PROBABILITY}{label}", np.ascontiguousarray(table[:, code]))
                for code, label in enumerate(self.labels)
            ]
            codes = table.argmax(axis=1)
        first = pl.Series(ROW, block.rows)
        if self._wanted.id is not None:
            first = block.kept[self._wanted.id]
        kept = [block.kept[column] for column in self._wanted.keep if column != self._wanted.id]
        decided = pl.Series(DECISION, self.labels)[codes]
        return pl.DataFrame([first, *kept, *outputs, decided])


def predict(
    model: Loaded,
    inputs: str | Sequence[str],
    wanted: Wanted | None = None,
    *,
    request: Request | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Predictions:
    """What a model says of the rows of files, as frames that come one after another.

    Of the request only how files are read is heeded; the columns are those that the model learned
    from.
    """
    wanted, request = wanted or Wanted(), request_of(request)
    columns = feature_names(model)
    extra = ([] if wanted.id is None else [wanted.id]) + list(wanted.keep)
    pieces = read_pieces(
        inputs,
        columns,
        frozenset(f["name"] for f in model.header["features"] if f["kind"] == NUMBER),
        keep=tuple(dict.fromkeys(extra)),
        request=request,
        progress=progress,
        stdin=stdin,
    )
    return Predictions(model, pieces, wanted)


def feature_names(model: Loaded) -> list[str]:
    """The columns that a model takes."""
    return [feature["name"] for feature in model.header["features"]]


def input_notes(
    model: Loaded, inputs: Sequence[str], wanted: Wanted, request: Request
) -> list[str]:
    """Files of folders that are not read, and columns that the model does not know."""
    tables = sources(inputs, request)
    notes = [note for table in tables for note in table.notes]
    if not all(s.engine is None and s.path is not None and s.path.is_file() for s in tables):
        return notes
    needed = {*feature_names(model), *wanted.keep, wanted.id}
    table = next(iter(opened_tables(inputs, request, Budget(request.max_memory))))
    extra = [column for column in table.columns if column not in needed]
    if extra:
        shown = ", ".join(map(repr, extra[:_LISTED]))
        more = f" and {len(extra) - _LISTED} more" if len(extra) > _LISTED else ""
        notes.append(f"the model does not use {shown}{more}")
    return notes


def _must_differ(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"two columns of the predictions would be called {name!r}: rename that column of "
                f"the data, or do not keep it"
            )


def _joined(pieces: list[Features], pl: Any) -> Features:
    if len(pieces) == 1:
        return pieces[0]
    return Features(
        pieces[0].name,
        pl.concat([piece.frame for piece in pieces]),
        pl.concat([piece.kept for piece in pieces]),
        np.concatenate([piece.rows for piece in pieces]),
    )


def _part(piece: Features, start: int, stop: int) -> Features:
    return Features(
        piece.name, piece.frame[start:stop], piece.kept[start:stop], piece.rows[start:stop]
    )


# -- rows to predict for ---------------------------------------------------------------------------

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Features:
    """Some rows, in order.

    ``frame`` has the features, ``kept`` other columns as text, ``rows`` the numbers of the rows,
    from 1 over all inputs. ``refused`` lists what was left out of this piece, as far as it is
    listed.
    """

    name: str
    frame: pl.DataFrame
    kept: pl.DataFrame
    rows: npt.NDArray[np.int64]
    refused: tuple[Refused, ...] = ()
    rows_refused: int = 0


def read_pieces(
    inputs: Name | Sequence[Name],
    columns: Sequence[str],
    numbers: Collection[str],
    *,
    keep: Sequence[str] = (),
    request: Request | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Iterator[Features]:
    """The columns that a model wants, in its order, a piece at a time.

    ``numbers`` are those that it learned as numbers; text in one of them is a bad row. All others
    are text. A missing column is refused by name; columns that the model does not know are left
    out, unless they are to ``keep``. Of the request only how files are read is heeded.
    """
    request = replace(request_of(request), batch_rows=_BATCH_ROWS)
    budget = Budget(request.max_memory)
    bad = BadRows(stops=request.on_bad_row == "stop")
    before = 0
    for table in opened_tables(given_names(inputs), request, budget, progress, stdin):
        _must_have(table, columns)
        for column in keep:
            must_have(table, column)
        read = list(dict.fromkeys([*columns, *keep]))
        budget.must_hold(0, table.at_once(read), name=table.name)
        last = 0
        for piece in table.pieces(read):
            yield _checked(piece, table.name, columns, frozenset(numbers), keep, bad, before)
            last = max([last, *piece.rows[-1:], *(at.row for at in piece.broken)])
        before += int(last)


def _must_have(table: OpenedTable, columns: Sequence[str]) -> None:
    absent = [column for column in columns if column not in table.columns]
    if len(absent) == 1:
        must_have(table, absent[0])
    if absent:
        shown = ", ".join(map(repr, absent[:10]))
        more = f" and {len(absent) - 10} more" if len(absent) > 10 else ""
        raise InputError(
            f"{table.name} lacks {len(absent)} of the {len(columns)} columns that the model "
            f"learned from: {shown}{more}"
        )


def _checked(
    piece: Piece,
    name: str,
    columns: Sequence[str],
    numbers: frozenset[str],
    keep: Sequence[str],
    bad: BadRows,
    before: int,
) -> Features:
    import polars as pl

    problems: list[Problem] = []
    features: list[pl.Series] = []
    kept: list[pl.Series] = []
    try:
        for column in columns:
            cells = cells_of(piece.frame[column])
            if column in numbers:
                values, column_problems = numbers_or_bad(cells)
                problems += column_problems
            else:
                values = texts_in(cells)
            features.append(values.alias(column))
        kept = [texts_in(cells_of(piece.frame[column])).alias(column) for column in keep]
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error
    listed, refused = len(bad.refused), bad.rows_refused
    good = ~bad.judge(piece, name, problems)
    frame, aside = pl.DataFrame(features), pl.DataFrame(kept)
    if not good.all():
        frame, aside = frame.filter(good), aside.filter(good) if kept else aside
    return Features(
        name,
        frame,
        aside,
        before + np.asarray(piece.rows, np.int64)[good],
        tuple(bad.refused[listed:]),
        bad.rows_refused - refused,
    )
