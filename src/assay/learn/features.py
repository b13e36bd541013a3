"""Rows to predict for: the columns that a model learned, streamed and checked."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.learn.feature_values import cells_of, numbers_or_bad, texts_in
from assay.sources.files.bad_rows import BadRows
from assay.sources.files.column_roles import must_have
from assay.sources.files.inputs import Name, given_names
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened_tables
from assay.sources.files.request import Progress, Refused, Request, silent
from assay.sources.files.table import Piece, Table
from assay.sources.row_checks import Problem

if TYPE_CHECKING:
    import polars as pl

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
    request = replace(request or Request(), batch_rows=_BATCH_ROWS)
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


def _must_have(table: Table, columns: Sequence[str]) -> None:
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
    found: list[pl.Series] = []
    kept: list[pl.Series] = []
    try:
        for column in columns:
            cells = cells_of(piece.frame[column])
            if column in numbers:
                values, odd = numbers_or_bad(cells)
                problems += odd
            else:
                values = texts_in(cells)
            found.append(values.alias(column))
        kept = [texts_in(cells_of(piece.frame[column])).alias(column) for column in keep]
    except InputError as error:
        raise type(error)(f"{name}: {error}") from error
    listed, refused = len(bad.refused), bad.rows_refused
    good = ~bad.judge(piece, name, problems)
    frame, aside = pl.DataFrame(found), pl.DataFrame(kept)
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
