"""Results of cross-validation: a row for each model and fold, a column for each measure."""

from __future__ import annotations

import contextlib
from typing import Any, BinaryIO

import numpy as np

from assay.errors import EmptyInput, InputError, ScoreError
from assay.sources.files.column_roles import must_have
from assay.sources.files.inputs import sources
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened
from assay.sources.files.request import Progress, Request, silent
from assay.sources.files.table import Meter, Piece, Table
from assay.sources.number_checks import numbers_of
from assay.sources.row_checks import check_ids, value_shown

# Columns that name a row; every other one holds numbers.
NAMES = ("model", "repeat", "fold")


def read_folds(
    file: str,
    request: Request | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> dict[str, list[Any]]:
    """The columns of a table of folds: model, repeat and fold as text, all others as numbers.

    A cell without a number is nan: a measure may be undefined in a fold.
    """
    request = request or Request()
    found = sources([file], request)
    columns: dict[str, list[Any]] = {}
    for source in found:
        with contextlib.ExitStack() as stack:
            meter, budget = Meter(progress, None), Budget(request.max_memory)
            table = opened(source, request, budget, meter, stdin, stack)
            columns = columns or {column: [] for column in table.columns}
            for column in (*columns, *NAMES[:1]):
                must_have(table, column)
            for piece in table.pieces(list(columns)):
                for column in columns:
                    columns[column] += _read(piece, column, table)
    if not columns[NAMES[0]]:
        raise EmptyInput(f"{found[0].name}: there are no folds, only a header or an empty table")
    return columns


def _read(piece: Piece, column: str, table: Table) -> list[Any]:
    if piece.broken:
        at = piece.broken[0]
        raise InputError(f"{table.name}, line {at.line}: found {at.reason}")
    values = piece.frame[column]
    if column in NAMES:
        texts, problems = check_ids(values)
        for problem in problems:
            i = int(problem.rows.argmax())
            raise InputError(
                f"{_where(piece, i, table)}: column {column!r}: the {column} is missing"
            )
        return list(texts.to_list())
    numbers = numbers_of(values)
    if numbers is None:
        raise ScoreError(f"{table.name}: column {column!r} holds {values.dtype}, not numbers")
    missing = np.array([value is None or value == "" for value in values.to_list()], bool)
    bad = ~np.isfinite(numbers) & ~missing
    if bad.any():
        i = int(bad.argmax())
        raise ScoreError(
            f"{_where(piece, i, table)}: column {column!r}: found {value_shown(values[i])}, "
            f"expected a finite number, or nothing where the measure is undefined"
        )
    return list(numbers.tolist())


def _where(piece: Piece, i: int, table: Table) -> str:
    if piece.line is None:
        return f"{table.name}, row {piece.rows[i]}"
    return f"{table.name}, line {piece.line(i)}"
