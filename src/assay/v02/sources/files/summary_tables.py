"""Tables that hold no rows of predictions: confusion matrices, and values of cross-validation.

A matrix comes as four named cells, rows of counts, or a small file; cross-validation as a row a
model and fold, or a row a prediction, over data sets.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NoReturn

import numpy as np

from assay.errors import EmptyInput, InputError, ScoreError
from assay.v02.sources.columns import CELLS, ORIENTATIONS
from assay.v02.sources.files.column_roles import WELL_KNOWN, must_have, named_like
from assay.v02.sources.files.inputs import (
    STDIN,
    Source,
    given_names,
    shown,
    sources,
    standard_input,
    without_query,
)
from assay.v02.sources.files.read import opened
from assay.v02.sources.files.request import Budget, Meter, OpenedTable, Piece, Progress, Request, silent
from assay.v02.sources.row_checks import check_ids, numbers_of, value_shown
from assay.v02.sources.validation import DECISION, LABEL, SCORE
from assay.v02.tally.confusion import LIMIT, TOO_MANY

LARGEST_FILE = 8 << 20
_EXAMPLE = "45,3,2;4,38,3;1,2,52"
# Rows that are typed hold numbers alone; whatever else is typed is the name of a file.
_TYPED = frozenset("0123456789,;.eE+- \t\n")
_KEYS = ("matrix", "confusion")


@dataclass(frozen=True)
class MatrixTable:
    """Rows of counts, and what stands beside them: labels, the positive one, the orientation."""

    rows: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...] | None = None
    positive: str | None = None
    orientation: str | None = None


def cells_of(text: str) -> dict[str, int]:
    """Four cells with their names, in any order.

    >>> cells_of("tp=6635,fp=167,fn=324,tn=7743")["tn"]
    7743
    """
    cells: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        name = name.lower()
        if not equals or name not in CELLS:
            hint = " (counts are written without commas in them)" if part.strip().isdigit() else ""
            raise InputError(
                f"found {part.strip()[:40]!r}{hint}; expected {', '.join(CELLS)}, each with its "
                f"count, such as tp=6635,fp=167,fn=324,tn=7743"
            )
        if name in cells:
            raise InputError(f"{name} is given twice; expected each of {', '.join(CELLS)} once")
        cells[name] = _count(number, name)
    absent = [name for name in CELLS if name not in cells]
    if absent:
        raise InputError(f"{', '.join(absent)} missing; expected {', '.join(CELLS)}")
    _must_be_countable(cells.values())
    return cells


def is_typed(text: str) -> bool:
    """Whether a text is rows of counts, and not the name of a file.

    >>> is_typed("[[5, 1], [2, 8]]"), is_typed("5,1;2,8"), is_typed("confusion.csv")
    (True, True, False)
    """
    numbers = _TYPED.issuperset(text) and any(sign.isdigit() for sign in text)
    return numbers or text.lstrip().startswith("[")


def matrix_of(text: str) -> MatrixTable:
    """Rows of counts that were typed: as JSON, or with semicolons between rows.

    >>> matrix_of("5,1;2,8").rows
    ((5, 1), (2, 8))
    """
    if text.lstrip().startswith("["):
        return _of_json(text)
    lines = [re.split(r"[,\s]+", row.strip().strip(",")) for row in text.strip(" ;").split(";")]
    return MatrixTable(_square(lines))


def read_matrix(name: str) -> MatrixTable:
    """The matrix of a file, ``-`` for standard input: JSON, or a table of text.

    JSON holds the rows, or an object with ``matrix`` (or ``confusion``, as assay's own documents
    have it) and, if they are known, ``labels``, ``positive`` and ``orientation``. A table has a
    row a line, with or without labels above it and before it.
    """
    called = "standard input" if name == STDIN else shown(without_query(name))
    try:
        text = _content(name, called).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{called}: byte {error.start} is not UTF-8; save it as UTF-8") from error
    try:
        if text.lstrip()[:1] in ("[", "{"):
            return _of_json(text)
        return _of_table(text)
    except InputError as error:
        raise InputError(f"{called}: {error}") from error


def _content(name: str, called: str) -> bytes:
    try:
        if name == STDIN:
            content = standard_input().read(LARGEST_FILE + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no file {called}; rows of counts may also be typed, such as {_EXAMPLE}"
        ) from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"{called} can't be read: {why}") from error
    if len(content) > LARGEST_FILE:
        raise InputError(
            f"{called} has more than {LARGEST_FILE >> 20} MB; a confusion matrix is a small table. "
            f"Is it a file of predictions? Then leave out matrix="
        )
    return content


# -- JSON ----------------------------------------------------------------------------------------


def _of_json(text: str) -> MatrixTable:
    try:
        value = json.loads(text, parse_float=Decimal, parse_constant=_no_constant)
    except RecursionError as error:
        raise InputError("it is nested too deeply for a matrix") from error
    except ValueError as error:
        raise InputError(f"it is no JSON that can be read: {error}") from error
    if isinstance(value, list):
        return MatrixTable(_square(value))
    keys = [key for key in _KEYS if value.get(key) is not None]
    if len(keys) != 1:
        raise InputError(
            f"found the keys {', '.join(map(shown, value)) or 'none'}; expected rows of counts, or "
            f'one of {" and ".join(_KEYS)} with "labels" beside it'
        )
    labels = value.get("labels")
    if labels is not None and not isinstance(labels, list):
        raise InputError(f"labels are a list of names; found {str(labels)[:40]!r}")
    orientation = value.get("orientation")
    if orientation is not None and orientation not in ORIENTATIONS:
        raise InputError(
            f"orientation is {' or '.join(ORIENTATIONS)}; found {str(orientation)[:40]!r}"
        )
    return MatrixTable(
        _square(value[keys[0]]),
        None if labels is None else tuple(map(_text, labels)),
        None if value.get("positive") is None else _text(value["positive"]),
        orientation,
    )


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _text(label: Any) -> str:
    if not isinstance(label, str | int):
        raise InputError(f"a label is a text or a whole number; found {str(label)[:40]!r}")
    return str(label).lower() if isinstance(label, bool) else str(label)


# -- tables of text ------------------------------------------------------------------------------


def _of_table(text: str) -> MatrixTable:
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    delimiter = max("\t;,", key=first.count)
    try:
        table = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    except csv.Error as error:
        raise InputError(f"it is no table that can be read: {error}") from error
    table = [row for row in table if any(row)]
    if not table:
        raise InputError("it is empty; expected a row of counts for each class")
    above, before = _has_labels(table)
    header = table[0] if above else []
    body = table[1:] if above else table
    names = [row[0] for row in body] if before else None
    rows = [row[1:] for row in body] if before else body
    if above and before and len(header) == len(body) + 1:
        header = header[1:]
    if names is not None and above and names != header:
        raise InputError(
            f"rows are named {names} and columns {header}; expected the same classes in the same "
            f"order. Give the counts without names, and labels="
        )
    labels = names if names is not None else (header if above else None)
    return MatrixTable(_square(rows), None if labels is None else tuple(labels))


def _has_labels(table: Sequence[Sequence[str]]) -> tuple[bool, bool]:
    """Whether labels stand above the counts, and before them.

    The shape tells, and in a square the corner. Numbers are labels only where they count the
    classes, or a row that was lost would turn counts into labels.
    """
    height, width = len(table), max(map(len, table))
    if height == width:
        both = len(table[0]) < width or not _is_number(table[0][0])
        return both, both
    above = height == width + 1 and _are_labels(table[0])
    before = width == height + 1 and _are_labels([row[0] for row in table])
    return above, before


def _are_labels(names: Sequence[str]) -> bool:
    counted = [[str(i + start) for i in range(len(names))] for start in (0, 1)]
    return list(names) in counted or not any(map(_is_number, names))


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


# -- counts --------------------------------------------------------------------------------------


def _square(rows: Any) -> tuple[tuple[int, ...], ...]:
    """Rows as counts, as many columns as rows."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f"a matrix is rows of counts, such as {_EXAMPLE}; found {str(rows)[:40]}")
    widths = [len(row) for row in rows]
    if len(rows) < 2 or widths != [len(rows)] * len(rows):
        each = ", ".join(map(str, sorted(set(widths))))
        raise InputError(
            f"a confusion matrix is square, a row and a column for each of two classes or more; "
            f"found {len(rows)} {'row' if len(rows) == 1 else 'rows'} of {each or 'no'} counts"
        )
    counts = tuple(
        tuple(_count(cell, f"row {i}, column {j}") for j, cell in enumerate(row, 1))
        for i, row in enumerate(rows, 1)
    )
    _must_be_countable(cell for row in counts for cell in row)
    return counts


def _count(cell: Any, where: str) -> int:
    """A cell as a count, which no float may touch: 2^53 + 1 is none."""
    text = str(cell)[:40]
    number = cell if isinstance(cell, int | Decimal) and not isinstance(cell, bool) else None
    if isinstance(cell, str):
        try:
            number = Decimal(cell)
        except InvalidOperation:
            number = None
    if number is None or not Decimal(number).is_finite():
        raise InputError(f"{where}: found {text!r}; expected a count, a whole number")
    if number < 0:
        raise InputError(f"{where}: found {text}; a count is not negative")
    if number >= LIMIT:
        raise InputError(f"{where}: found {text}; 2^62 or more can't be counted here")
    if number != int(number):
        raise InputError(f"{where}: found {text}; a count is a whole number")
    return int(number)


def _must_be_countable(counts: Iterable[int]) -> None:
    if sum(counts) >= LIMIT:
        raise InputError(TOO_MANY)


# -- cross-validation ------------------------------------------------------------------------------

MODEL, DATASET, REPEAT, FOLD, N_TRAIN, N_TEST, ID = (
    *("model", "dataset", "repeat", "fold"),
    *("n_train", "n_test", "id"),
)
# What names a row, by its own name and by others that are usual.
_NAMED = {
    MODEL: ("model", "classifier", "algorithm", "method", "learner", "estimator", "detector"),
    DATASET: ("dataset", "data", "task", "problem"),
    REPEAT: ("repeat", "rep", "repetition", "run", "seed"),
    FOLD: ("fold", "cv_fold", "fold_id"),
}
_SIZES = {N_TRAIN: ("n_train", "train_size"), N_TEST: ("n_test", "test_size")}
_IDS = ("id", "row_id", "uid", "uuid", "flow_id", "event_id", "sample_id", "instance", "row")
# What a dataframe writes beside its columns.
_INDEXES = ("", "index", "unnamed: 0", "unnamed:_0")


@dataclass(frozen=True)
class FoldRows:
    """The columns of folds by their roles, and by the names of measures.

    ``predictions`` tells that a row is a prediction and not a fold; ``notes`` what was recognised.
    """

    columns: Mapping[str, Any]
    predictions: bool = False
    notes: tuple[str, ...] = ()


def fold_roles(columns: Sequence[str], label: str | None = None) -> tuple[dict[str, str], bool]:
    """Which column has which role, and whether rows are predictions.

    They are where a column is known to hold labels and another what a model said.

    >>> fold_roles(["Data set", "Classifier", "fold", "f1"])
    ({'model': 'Classifier', 'dataset': 'Data set', 'fold': 'fold'}, False)
    """
    roles = {
        role: column
        for role, names in (_NAMED | _SIZES).items()
        if (column := _column_of_role(columns, role, names)) is not None
    }
    free_columns = [column for column in columns if column not in roles.values()]
    outputs = {
        role: column
        for role in (SCORE, DECISION)
        if (column := _column_of_role(free_columns, role, WELL_KNOWN[role])) is not None
    }
    true = label or (_column_of_role(free_columns, LABEL, WELL_KNOWN[LABEL]) if outputs else None)
    if true is None:
        return roles, False
    if true not in columns:
        raise InputError(f"there is no column {true!r} among {', '.join(columns)}")
    if not outputs:
        well_known_names = (*WELL_KNOWN[SCORE], *WELL_KNOWN[DECISION])
        raise InputError(
            f"predictions need a column of what a model said, such as "
            f"{', '.join(well_known_names)}; the columns are {', '.join(columns)}"
        )
    roles |= {LABEL: true, **outputs}
    named = _column_of_role(free_columns, ID, _IDS)
    return roles | ({} if named is None else {ID: named}), True


def _column_of_role(columns: Sequence[str], role: str, names: Sequence[str]) -> str | None:
    """The column of a role: by its very name, else the only one of another usual name."""
    if role in columns:
        return role
    candidates = named_like(columns, names)
    if len(candidates) > 1:
        raise InputError(
            f"several columns may be the {role}: {', '.join(map(repr, candidates))}. Call the one "
            f"that is meant {role!r}"
        )
    return candidates[0] if candidates else None


def fold_rows(columns: Mapping[str, Any], label: str | None = None) -> FoldRows:
    """The same of columns in memory."""
    roles, predictions = fold_roles(list(columns), label)
    kept = _columns_read(list(columns), roles, predictions=predictions)
    return FoldRows(
        {role: columns[column] for role, column in kept.items()},
        predictions,
        _recognised(roles),
    )


def _columns_read(
    columns: Iterable[str], roles: Mapping[str, str], *, predictions: bool
) -> dict[str, str]:
    """The columns that are read, by their role or as a measure; of predictions no others."""
    if predictions:
        return dict(roles)
    role_columns = set(roles.values())
    measures = [
        c for c in columns if c not in role_columns and c.strip().casefold() not in _INDEXES
    ]
    return {**roles, **{column: column for column in measures}}


def _recognised(roles: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"the {role} is column {column!r}, recognised by its name"
        for role, column in roles.items()
        if role != column
    )


# -- from files ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """What one file holds."""

    source: Source
    columns: dict[str, list[Any]]
    predictions: bool
    notes: tuple[str, ...]


def read_folds(
    files: str | Sequence[str],
    request: Request | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> FoldRows:
    """Tables of folds or of predictions as one: names as text, all others as numbers.

    A cell without a number is nan: a measure may be undefined in a fold. Files without a column of
    data sets that hold the same models and folds are data sets, called by the files' names.
    """
    request = request or Request()
    meter, budget = Meter(progress, None), Budget(request.max_memory)
    parts = []
    for source in sources(given_names(files), request):
        with contextlib.ExitStack() as stack:
            table = opened(source, request, budget, meter, stdin, stack)
            parts.append(_part(table, source, request.label))
    first = parts[0]
    if not any(part.columns[MODEL] for part in parts):
        raise EmptyInput(
            f"{first.source.name}: there are no folds, only a header or an empty table"
        )
    for part in parts[1:]:
        _must_match(part, first)
    names = _data_sets(parts)
    columns = {role: [v for part in parts for v in part.columns[role]] for role in first.columns}
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    if names:
        sizes = [len(part.columns[MODEL]) for part in parts]
        columns[DATASET] = [n for n, size in zip(names, sizes, strict=True) for _ in range(size)]
        notes.append(
            f"the data sets are called by their files, {', '.join(names)}, which hold the same "
            f"models and folds and no column {DATASET!r}"
        )
    elif len(parts) > 1 and DATASET not in columns:
        notes.append(
            f"{len(parts)} files are read as one table, since no model and fold is in two of them; "
            f"a column {DATASET!r} would make them data sets"
        )
    return FoldRows(columns, first.predictions, tuple(notes))


def _part(table: OpenedTable, source: Source, label: str | None) -> _Part:
    if label is not None:
        must_have(table, label)
    roles, predictions = fold_roles(table.columns, label)
    if MODEL not in roles and DATASET in roles:
        raise InputError(
            f"{table.name} has no column {MODEL!r}: a row is one model on one data set, with the "
            f"columns {MODEL}, {DATASET}, perhaps {FOLD}, and one a measure. Its columns are "
            f"{', '.join(map(repr, table.columns))}; if models are columns, turn them into rows"
        )
    if MODEL not in roles:
        must_have(table, MODEL)
    kept = _columns_read(table.columns, roles, predictions=predictions)
    columns: dict[str, list[Any]] = {role: [] for role in kept}
    for piece in table.pieces(list(kept.values())):
        for role, column in kept.items():
            columns[role] += _read(piece, role, column, table)
    return _Part(source, columns, predictions, (*table.notes, *_recognised(roles)))


def _must_match(part: _Part, first: _Part) -> None:
    """Refuse a file that does not have the columns of the first."""
    if part.predictions != first.predictions:
        kinds = {True: "a row a prediction", False: "a row a fold"}
        raise InputError(
            f"{part.source.name} has {kinds[part.predictions]} and {first.source.name} has "
            f"{kinds[first.predictions]}; give files of one kind"
        )
    for one, other in ((part, first), (first, part)):
        absent = [column for column in other.columns if column not in one.columns]
        if absent:
            raise InputError(
                f"{one.source.name} has no column {absent[0]!r}, which {other.source.name} has; "
                f"files that are read as one need the same columns"
            )


def _data_sets(parts: Sequence[_Part]) -> list[str]:
    """The names of files that are data sets: the same model and fold is in two of them."""
    if len(parts) < 2 or DATASET in parts[0].columns:
        return []
    keys = [role for role in (MODEL, REPEAT, FOLD) if role in parts[0].columns]
    seen = [set(zip(*(part.columns[key] for key in keys), strict=True)) for part in parts]
    if not any(one & other for one, other in itertools.combinations(seen, 2)):
        return []
    stems = [PurePath(part.source.name).name.partition(".")[0] for part in parts]
    return stems if len(set(stems)) == len(stems) else [part.source.name for part in parts]


def _read(piece: Piece, role: str, column: str, table: OpenedTable) -> list[Any]:
    if piece.broken:
        at = piece.broken[0]
        raise InputError(f"{table.name}, line {at.line}: found {at.reason}")
    values = piece.frame[column]
    if role in (*_NAMED, ID, LABEL, DECISION):
        texts, problems = check_ids(values)
        for problem in problems:
            i = int(problem.rows.argmax())
            raise InputError(f"{_where(piece, i, table)}: column {column!r}: the {role} is missing")
        return list(texts.to_list())
    numbers = numbers_of(values)
    if numbers is None:
        raise ScoreError(f"{table.name}: column {column!r} holds {values.dtype}, not numbers")
    missing = np.array([value is None or value == "" for value in values.to_list()], bool)
    bad = ~np.isfinite(numbers) & (~missing | (role == SCORE))
    if bad.any():
        i = int(bad.argmax())
        raise ScoreError(
            f"{_where(piece, i, table)}: column {column!r}: found {value_shown(values[i])}, "
            f"expected a finite number{'' if role == SCORE else _OR_NOTHING}"
        )
    return list(numbers.tolist())


_OR_NOTHING = ", or nothing where the measure is undefined"


def _where(piece: Piece, i: int, table: OpenedTable) -> str:
    if piece.line is None:
        return f"{table.name}, row {piece.rows[i]}"
    return f"{table.name}, line {piece.line(i)}"
