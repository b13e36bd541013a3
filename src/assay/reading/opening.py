"""Opening a source: what it is, and which of its columns are what."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, MissingColumn
from assay.reading import frames, inputs
from assay.reading.checks import ARGUMENTS, TEXT, TIME, check_type, role_of
from assay.reading.content import Reading
from assay.reading.engines import Engine
from assay.reading.formats import FileOptions
from assay.reading.names import Recognised, recognise
from assay.reading.presets import path_column
from assay.reading.source import Table
from assay.text import quote

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Opened:
    """A source that is open: its tables, or its engine, and which columns are what.

    ``expressions`` read the columns that are written in a way of their own. ``unclear`` says why
    labels or predictions could not be found.
    """

    name: str
    tables: Sequence[Table]
    columns: Mapping[str, str]
    notes: tuple[str, ...] = ()
    expressions: Mapping[str, pl.Expr] = field(default_factory=dict)
    unclear: str = ""
    engine: Engine | None = None


def open_source(
    source: Any,
    more: Sequence[Any],
    given: Mapping[str, Any],
    slices: Any,
    probabilities: Any,
    options: FileOptions,
    reading: Reading,
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
    only_arrays = source is None
    name, tables, engine = _tables(source, arrays, columns, options)
    schema = engine.schema() if engine is not None else tables[0].schema
    if isinstance(probabilities, str):
        found = expand(probabilities, name, schema)
        columns |= {f"probability:{label}": column for label, column in found.items()}
    notes = (*notes, *(note for table in tables for note in table.notes))
    own: dict[str, str] = {role: str(column) for role, column in columns.items()}
    if engine is not None:
        for role, column in own.items():
            if column not in schema:
                raise no_column(name, column, schema, role)
        return Opened(name, (), own, notes, engine=engine)
    if only_arrays and not any(map(_is_written, own, (schema[column] for column in own.values()))):
        recognised, unclear = Recognised(own), ""
    else:
        recognised, unclear = _recognised(name, tables, own, reading)
    for table in tables:
        for role, column in recognised.columns.items():
            check_type(role, column, table.schema[column], table.name)
    notes = tuple(dict.fromkeys((*recognised.notes, *notes)))
    return Opened(name, tables, recognised.columns, notes, recognised.expressions, unclear)


def _recognised(
    name: str, tables: Sequence[Table], given: Mapping[str, str], reading: Reading
) -> tuple[Recognised, str]:
    """What the columns are that all tables have, and what could not be told."""
    first = tables[0]
    for table in tables:
        for role, column in given.items():
            if column in table.schema:
                check_type(role, column, table.schema[column], table.name)
            elif path_column(column, table.schema) is None:
                raise no_column(table.name, column, table.schema, role, table.hint)
    shared = [column for column in first.schema if all(column in t.schema for t in tables)]
    schema = {column: first.schema[column] for column in shared}
    sample = first.look().select(shared)
    reading = replace(reading, source=name)
    recognised = recognise(schema, sample, given, reading=reading)
    if not recognised.unclear:
        return recognised, ""
    # Whoever needs what is unclear will say so; the other columns are known.
    return recognise(schema, sample, given, needed=(), reading=reading), recognised.unclear


def _is_written(role: str, dtype: pl.DataType) -> bool:
    """Whether a column may be written in a way that has to be recognised."""
    import polars as pl

    kind = role_of(role).kind
    return kind == TIME or (kind != TEXT and dtype == pl.String)


def _tables(
    source: Any, arrays: Mapping[str, Any], columns: dict[str, Any], options: FileOptions
) -> tuple[str, list[Table], Engine | None]:
    """The tables of a source, or its engine; columns that are arrays get names."""
    if source is None or isinstance(source, Mapping):
        own = {} if source is None else {str(key): values for key, values in source.items()}
        if not own and not arrays:
            raise InputError("there are no rows: name a file, or give columns such as label=")
        for role, values in arrays.items():
            name = role.partition(":")[2] if role.startswith("slice:") else role
            own[name] = values
            columns[role] = name
        name = frames.ARRAYS if source is None else "a mapping"
        return name, [frames.of_columns(own, name)], None
    if arrays:
        role = next(iter(arrays))
        raise InputError(
            f"{role}= is an array, and the rows come from elsewhere: name one of their columns, or "
            f"give all columns as arrays"
        )
    if inputs.is_named(source):
        tables = inputs.tables(source, options)
        more = f" and {len(tables) - 1:,} more" if tables[1:] else ""
        return tables[0].name + more, tables, None
    table = _other(source)
    return (table.name, [], table) if isinstance(table, Engine) else (table.name, [table], None)


def _other(source: Any) -> Table | Engine:
    if frames.is_cursor(source):
        return frames.of_cursor(source)
    frame = frames.frame_of(source)
    if frame is not None and frames.is_engine(frame):
        return Engine(f"a {type(source).__name__}", frame)
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

    if len(more) == 2 or models.is_model(source):
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


def no_column(
    name: str, column: str, schema: Mapping[str, Any], canonical: str = "", hint: str = ""
) -> MissingColumn:
    """The error for a column that a source doesn't have, with those that it has."""
    names = list(schema)
    similar = difflib.get_close_matches(column, names, n=1)
    advice = f"; did you mean {similar[0]!r}?" if similar else "."
    listed = ", ".join(map(quote, names[:12])) + (f" and {len(names) - 12} more" * bool(names[12:]))
    role = canonical.partition(":")[0]
    wanted = f" for {ARGUMENTS.get(role, role)}=" if role else ""
    return MissingColumn(
        f"{name} has no column {column!r}{wanted}{advice} Its columns are {listed}"
        f"{'. ' + hint if hint else ''}",
        column,
    )


def expand(pattern: str, name: str, schema: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a pattern such as ``p_*`` names, by what the star stands for."""
    before, _, behind = pattern.partition("*")
    found = {
        column[len(before) : len(column) - len(behind)]: column
        for column in schema
        if fnmatch.fnmatchcase(column, pattern)
    }
    if "*" not in pattern or not found:
        raise no_column(name, pattern, schema, "probability")
    return found
