"""Arrays, mappings, dataframes, iterators and cursors as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError, LabelError, LengthMismatch
from assay.reading.arrays import array_of, check_index
from assay.reading.damage import guarded
from assay.reading.formats import BATCH, FIRST_ROWS, table_of
from assay.reading.json_rows import series_of
from assay.reading.source import Batch, Table
from assay.text import plural, quote

if TYPE_CHECKING:
    import polars as pl

ARRAYS = "arrays"
_CURSOR = 1 << 16
# Enough values to meet a fraction where there are any; else all are looked at.
_FIRST_LOOK = 1 << 16


def of_columns(columns: Mapping[str, Any], name: str = ARRAYS) -> Table:
    """A table of columns by name: lists, arrays or series of any library, of one length."""
    import polars as pl

    check_index(columns)
    series = [column_of(values, column) for column, values in columns.items()]
    sizes = {each.name: len(each) for each in series}
    if len(set(sizes.values())) > 1:
        listed = ", ".join(f"{column} has {size:,}" for column, size in sizes.items())
        raise LengthMismatch(f"the columns must have as many rows as each other: {listed}")
    from_pandas = any(type(v).__module__.startswith("pandas") for v in columns.values())
    return _of_polars(pl.DataFrame(series), name, nan_is_missing=from_pandas)


def column_of(values: Any, name: str) -> pl.Series:
    """A column of any library as a polars series."""
    import narwhals as nw
    import polars as pl

    if isinstance(values, pl.Series):
        return values.alias(name)
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf" and values.ndim == 1:
        return pl.Series(name, values)
    with guarded(name):
        native = nw.from_native(values, series_only=True, pass_through=True)
        if isinstance(native, nw.Series):
            return pl.Series(name, native.to_polars())
        array = array_of(values, name)
        if array.dtype.kind == "O":
            return series_of(name, [None if _is_nan(value) else value for value in array.tolist()])
        if array.dtype.kind == "S":
            return pl.Series(name, array.astype(str))
        return pl.Series(name, array)


def _is_nan(value: Any) -> bool:
    """Whether a value is nan, or one of pandas' ways to say that there is none."""
    return type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, float) and value != value  # noqa: PLR0124 - only nan differs from itself
    )


def _of_polars(frame: pl.DataFrame, name: str, *, nan_is_missing: bool = False) -> Table:
    def read(columns: Sequence[str]) -> Iterator[Batch]:
        import polars as pl

        chosen = pl.DataFrame([frame[column] for column in columns])
        for start in range(0, frame.height, BATCH):
            yield Batch(chosen[start : start + BATCH], start + 1)

    schema = dict(frame.schema)
    return Table(name, schema, read, lambda: frame.head(FIRST_ROWS), nan_is_missing=nan_is_missing)


# -- dataframes ------------------------------------------------------------------------------------


def frame_of(source: Any) -> Any:
    """A dataframe as narwhals sees it; None for what is none."""
    import narwhals as nw

    frame = nw.from_native(source, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame | nw.LazyFrame) else None


def is_engine(frame: Any) -> bool:
    """Whether the rows of a narwhals frame stay in an engine that groups them."""
    import narwhals as nw

    return isinstance(frame, nw.LazyFrame) and not frame.implementation.is_polars()


def of_frame(frame: Any, name: str) -> Table:
    """A table of a narwhals frame whose rows can be streamed: eager, or lazy in polars."""
    import narwhals as nw
    import polars as pl

    native = nw.to_native(frame)
    if isinstance(native, pl.DataFrame):
        return _of_polars(native, name)
    if isinstance(native, pl.LazyFrame):
        return table_of(native, name)
    columns = list(frame.columns)
    if any(not isinstance(column, str) for column in columns):
        raise InputError(f"the columns of {name} must be named by text; found {columns[:5]}")

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        for start in range(0, len(frame), BATCH):
            with guarded(name):
                part = frame.select(*asked)[start : start + BATCH].to_polars()
            yield Batch(part, start + 1)

    with guarded(name):
        first = frame.head(FIRST_ROWS).to_polars()
    from_pandas = frame.implementation.is_pandas_like()
    return Table(name, dict(first.schema), read, lambda: first, nan_is_missing=from_pandas)


# -- what can be read once -------------------------------------------------------------------------


def is_cursor(source: Any) -> bool:
    """Whether a source is a cursor of a database that has a result."""
    return hasattr(source, "fetchmany") and getattr(source, "description", None) is not None


def of_cursor(cursor: Any, name: str = "cursor") -> Table:
    """The rows of a cursor that has executed a query."""
    columns = [column[0] for column in cursor.description]
    return of_tuples(name, columns, iter(lambda: cursor.fetchmany(_CURSOR), []))


def of_tuples(name: str, columns: Sequence[str], batches: Iterator[Sequence[Any]]) -> Table:
    """A table of rows that come as tuples."""
    import polars as pl

    twice = [column for column in columns if columns.count(column) > 1]
    if twice:
        raise InputError(f"{name} has two columns named {twice[0]!r}: rename one of them (AS)")

    def frame(rows: Sequence[Any], asked: Sequence[str]) -> pl.DataFrame:
        places = [columns.index(column) for column in asked]
        return pl.DataFrame(
            [series_of(c, [row[i] for row in rows]) for c, i in zip(asked, places, strict=True)]
        )

    first = list(next(batches, []))

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        start, rows = 1, first
        while rows:
            yield Batch(frame(rows, asked), start)
            start += len(rows)
            rows = list(next(batches, []))

    look = frame(first[:FIRST_ROWS], columns)
    return Table(name, dict(look.schema), read, lambda: look, once=True)


def of_iterator(source: Iterator[Any]) -> Table:
    """A table of an iterator of rows, which are mappings."""
    batches = iter(lambda: list(islice(source, _CURSOR)), [])
    first = next(batches, [])
    odd = next((row for row in first if not isinstance(row, Mapping)), None)
    if odd is not None or not first:
        raise InputError(
            f"an iterator gives rows as mappings, such as {{'label': 'attack', 'score': 0.9}}; "
            f"found {quote(odd) if first else 'no row'}"
        )
    columns = list(dict.fromkeys(key for row in first[:FIRST_ROWS] for key in row))

    def tuples() -> Iterator[Sequence[Any]]:
        rows = first
        while rows:
            yield [[row.get(column) for column in columns] for row in rows]
            rows = next(batches, [])

    return of_tuples("iterator", columns, tuples())


# -- given by position -----------------------------------------------------------------------------


def by_position(labels: Any, predictions: Any) -> tuple[str, tuple[str, ...]]:
    """Whether predictions are scores, decisions or probabilities, and what is to be noted.

    >>> by_position(["attack", "normal"], [0.9, 0.2])[0], by_position([1, 0], [1, 1])[0]
    ('score', 'decision')
    """
    import polars as pl

    shape = getattr(predictions, "shape", None)
    if isinstance(predictions, Mapping) or (shape is not None and len(shape) == 2 and shape[1] > 1):
        return "probabilities", ()
    values = column_of(predictions, "predictions")
    if not values.dtype.is_numeric():
        return "decision", ()
    numbers = values.cast(pl.Float64).to_numpy()
    for part in (numbers[:_FIRST_LOOK], numbers[_FIRST_LOOK:]):
        if (part[np.isfinite(part)] % 1 != 0).any():
            return "score", ()
    found = np.unique(numbers[np.isfinite(numbers)])
    if not len(found):
        return "score", ()
    from assay.reading.checks import texts

    known = set(texts(column_of(labels, "labels")).cast(str).drop_nulls().unique().to_list())
    known = {{"false": "0", "true": "1"}.get(label, label) for label in known}
    if known.issuperset(str(int(value)) for value in found):
        note = "The predictions are labels, so they are read as decisions; or say score="
        return "decision", (note,)
    if len(found) > len(known):
        note = (
            f"The predictions are {len(found):,} whole numbers for {len(known)} "
            f"{plural(len(known), 'label', 'labels')}, so they are read as scores; or say decision="
        )
        return "score", (note,)
    raise LabelError(
        f"the predictions are {[int(value) for value in found[:4]]}, and the labels "
        f"{sorted(known)[:4]}: say score= for scores, or decision= with decisions written like the "
        f"labels"
    )


def probability_columns(values: Any, labels: Any) -> dict[str, Any]:
    """A column for each label, sorted as text, of an array with one column a label."""
    from assay.reading.checks import texts

    if isinstance(values, Mapping):
        return {str(label): column for label, column in values.items()}
    known = texts(column_of(labels, "labels")).cast(str).drop_nulls().unique().sort().to_list()
    table = np.asarray(values)
    if table.ndim != 2 or table.shape[1] != len(known):
        raise InputError(
            f"probabilities of shape {table.shape} don't fit the {len(known)} labels "
            f"{known[:6]}: give one column a label, or a mapping of labels to columns"
        )
    return {label: table[:, i] for i, label in enumerate(known)}
