"""Opening a source: what it is, and which of its columns are what."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import InputError, MissingColumn
from assay.reading import frames, inputs
from assay.reading.checks import ARGUMENTS, check_type
from assay.reading.formats import FileOptions
from assay.reading.source import Table
from assay.text import quote


@dataclass(frozen=True)
class Opened:
    """The tables of a source, which columns are what, and what is to be noted."""

    name: str
    tables: list[Table]
    columns: dict[str, str]
    notes: tuple[str, ...]


def open_tables(
    source: Any,
    more: Sequence[Any],
    given: Mapping[str, Any],
    slices: Any,
    probabilities: Any,
    options: FileOptions,
) -> Opened:
    """Open a source, with the columns that were given by name or as arrays."""
    columns = {role: column for role, column in given.items() if column is not None}
    notes: tuple[str, ...] = ()
    if more or _is_column(source):
        source, positional, probabilities, notes = _positional(source, more, columns, probabilities)
        columns |= positional
    if probabilities is not None and not isinstance(probabilities, str):
        by_label = frames.probability_columns(probabilities, columns.get("label"))
        columns |= {f"probability:{label}": column for label, column in by_label.items()}
    if isinstance(slices, Mapping):
        columns |= {f"slice:{name}": column for name, column in slices.items()}
    else:
        named = [slices] if isinstance(slices, str) else slices
        columns |= {f"slice:{name}": name for name in named}
    arrays = {role: column for role, column in columns.items() if not isinstance(column, str)}
    name, tables = _tables(source, arrays, columns, options)
    if isinstance(probabilities, str):
        found = expand(probabilities, tables[0])
        columns |= {f"probability:{label}": column for label, column in found.items()}
    notes = (*notes, *(note for table in tables for note in table.notes))
    named = {role: str(column) for role, column in columns.items()}
    for table in tables:
        for role, column in named.items():
            if column not in table.schema:
                raise no_column(table, column, role)
            check_type(role, column, table.schema[column], table.name)
    return Opened(name, tables, named, notes)


def _tables(
    source: Any, arrays: Mapping[str, Any], columns: dict[str, Any], options: FileOptions
) -> tuple[str, list[Table]]:
    """The tables of a source; columns that are arrays get names."""
    if source is None or isinstance(source, Mapping):
        own = {} if source is None else {str(key): values for key, values in source.items()}
        if not own and not arrays:
            raise InputError("there are no rows: name a file, or give columns such as label=")
        for role, values in arrays.items():
            name = role.partition(":")[2] if role.startswith("slice:") else role
            own[name] = values
            columns[role] = name
        name = frames.ARRAYS if source is None else "a mapping"
        return name, [frames.of_columns(own, name)]
    if arrays:
        role = next(iter(arrays))
        raise InputError(
            f"{role}= is an array, and the rows come from elsewhere: name one of their columns, or "
            f"give all columns as arrays"
        )
    if inputs.is_named(source):
        tables = inputs.tables(source, options)
        more = f" and {len(tables) - 1:,} more" if tables[1:] else ""
        return tables[0].name + more, tables
    table = _other(source)
    return table.name, [table]


def _other(source: Any) -> Table:
    if frames.is_cursor(source):
        return frames.of_cursor(source)
    frame = frames.frame_of(source)
    if frame is not None:
        return frames.of_frame(frame, f"a {type(source).__name__}")
    if isinstance(source, Iterator):
        return frames.of_iterator(source)
    raise InputError(
        f"a {type(source).__name__} is no source of rows: give a file, a dataframe, a mapping of "
        f"columns, or labels followed by predictions"
    )


def _is_column(source: Any) -> bool:
    """Whether a source is a column of labels: neither names, nor a table, nor an iterator."""
    if source is None or isinstance(source, Mapping | Iterator) or inputs.is_named(source):
        return False
    return (
        not frames.is_cursor(source)
        and frames.frame_of(source) is None
        and (hasattr(source, "__len__") or hasattr(source, "__array__"))
    )


def _positional(
    source: Any, more: Sequence[Any], columns: Mapping[str, Any], probabilities: Any
) -> tuple[None, dict[str, Any], Any, tuple[str, ...]]:
    """Labels and predictions, or a model with X and y, as columns by role."""
    from assay.reading import models

    if models.is_model(source):
        if len(more) != 2:
            raise InputError("a model is followed by X and y: rows(model, X, y)")
        found, notes = models.predictions(source, *more)
        return None, found, probabilities, notes
    if len(more) > 1:
        raise InputError(
            "labels are followed by one column of predictions: rows(y_true, y_score); give others "
            "by name"
        )
    if "label" in columns:
        raise InputError("the labels are given twice, by position and as label=")
    if not more:
        return None, {"label": source}, probabilities, ()
    role, notes = frames.by_position(source, more[0])
    if role in columns or (role == "probabilities" and probabilities is not None):
        raise InputError(f"the predictions are given twice, by position and as {role}=")
    if role == "probabilities":
        return None, {"label": source}, more[0], notes
    return None, {"label": source, role: more[0]}, probabilities, notes


def no_column(table: Table, column: str, canonical: str = "") -> MissingColumn:
    """The error for a column that a table doesn't have, with those that it has."""
    names = list(table.schema)
    similar = difflib.get_close_matches(str(column), names, n=1)
    advice = f"; did you mean {similar[0]!r}?" if similar else "."
    listed = ", ".join(map(quote, names[:12])) + (f" and {len(names) - 12} more" * bool(names[12:]))
    role = canonical.partition(":")[0]
    wanted = f" for {ARGUMENTS.get(role, role)}=" if role else ""
    hint = f". {table.hint}" if table.hint else ""
    return MissingColumn(
        f"{table.name} has no column {column!r}{wanted}{advice} Its columns are {listed}{hint}",
        str(column),
    )


def expand(pattern: str, table: Table) -> dict[str, str]:
    """The columns that a pattern such as ``p_*`` names, by what the star stands for."""
    before, _, behind = pattern.partition("*")
    found = {
        name[len(before) : len(name) - len(behind)]: name
        for name in table.schema
        if fnmatch.fnmatchcase(name, pattern)
    }
    if "*" not in pattern or not found:
        raise no_column(table, pattern, "probability")
    return found
