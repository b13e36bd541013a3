"""Cross-validation in tables: a row a model and fold, or a row a prediction, over data sets."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np

from assay.errors import EmptyInput, InputError, ScoreError
from assay.sources.files.column_roles import WELL_KNOWN, must_have, named_like
from assay.sources.files.inputs import Source, given_names, sources
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened
from assay.sources.files.request import Progress, Request, silent
from assay.sources.files.table import Meter, Piece, Table
from assay.sources.number_checks import numbers_of
from assay.sources.row_checks import check_ids, value_shown
from assay.sources.validation import DECISION, LABEL, SCORE

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
    found = {
        role: column
        for role, names in (_NAMED | _SIZES).items()
        if (column := _one(columns, role, names)) is not None
    }
    rest = [column for column in columns if column not in found.values()]
    said = {
        role: column
        for role in (SCORE, DECISION)
        if (column := _one(rest, role, WELL_KNOWN[role])) is not None
    }
    true = label or (_one(rest, LABEL, WELL_KNOWN[LABEL]) if said else None)
    if true is None:
        return found, False
    if true not in columns:
        raise InputError(f"there is no column {true!r} among {', '.join(columns)}")
    if not said:
        known = (*WELL_KNOWN[SCORE], *WELL_KNOWN[DECISION])
        raise InputError(
            f"predictions need a column of what a model said, such as {', '.join(known)}; the "
            f"columns are {', '.join(columns)}"
        )
    found |= {LABEL: true, **said}
    named = _one(rest, ID, _IDS)
    return found | ({} if named is None else {ID: named}), True


def _one(columns: Sequence[str], role: str, names: Sequence[str]) -> str | None:
    """The column of a role: by its very name, else the only one of another usual name."""
    if role in columns:
        return role
    found = named_like(columns, names)
    if len(found) > 1:
        raise InputError(
            f"several columns may be the {role}: {', '.join(map(repr, found))}. Call the one that "
            f"is meant {role!r}"
        )
    return found[0] if found else None


def fold_rows(columns: Mapping[str, Any], label: str | None = None) -> FoldRows:
    """The same of columns in memory."""
    roles, predictions = fold_roles(list(columns), label)
    kept = _kept(list(columns), roles, predictions=predictions)
    return FoldRows(
        {role: columns[column] for role, column in kept.items()},
        predictions,
        _recognised(roles),
    )


def _kept(columns: Iterable[str], roles: Mapping[str, str], *, predictions: bool) -> dict[str, str]:
    """The columns that are read, by their role or as a measure; of predictions no others."""
    if predictions:
        return dict(roles)
    taken = set(roles.values())
    measures = [c for c in columns if c not in taken and c.strip().casefold() not in _INDEXES]
    return {**roles, **{column: column for column in measures}}


def _recognised(roles: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(
        f"the {role} is column {column!r}, recognised by its name"
        for role, column in roles.items()
        if role != column
    )


# -- from files ------------------------------------------------------------------------------------


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


def _part(table: Table, source: Source, label: str | None) -> _Part:
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
    kept = _kept(table.columns, roles, predictions=predictions)
    columns: dict[str, list[Any]] = {role: [] for role in kept}
    for piece in table.pieces(list(kept.values())):
        for role, column in kept.items():
            columns[role] += _read(piece, role, column, table)
    return _Part(source, columns, predictions, _recognised(roles))


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


def _read(piece: Piece, role: str, column: str, table: Table) -> list[Any]:
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


def _where(piece: Piece, i: int, table: Table) -> str:
    if piece.line is None:
        return f"{table.name}, row {piece.rows[i]}"
    return f"{table.name}, line {piece.line(i)}"
