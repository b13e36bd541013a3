"""Frames of any library: told by the name of their type, and read as polars frames in pieces.

No library is imported that the caller has not imported already.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.engines.ask import Columns
from assay.errors import InputError
from assay.sources.columns import polars_column
from assay.sources.files.column_roles import must_have
from assay.sources.files.table import Table

if TYPE_CHECKING:
    import polars as pl

# Rows that are counted at once, where a frame comes in pieces.
ROWS = 1 << 20
POLARS, LAZY, PANDAS, ARROW, STREAM = "polars", "lazy", "pandas", "arrow", "stream"
DUCKDB, SPARK, DASK, RAY, MAPPING = "duckdb", "spark", "dask", "ray", "mapping"

# The first part of the module of a type, and its name; or of a type that it inherits from.
_KINDS = {
    ("polars", "DataFrame"): POLARS,
    ("polars", "LazyFrame"): LAZY,
    ("pandas", "DataFrame"): PANDAS,
    ("pyarrow", "Table"): ARROW,
    ("pyarrow", "RecordBatch"): ARROW,
    ("pyarrow", "RecordBatchReader"): STREAM,
    ("pyarrow", "Dataset"): STREAM,
    ("pyarrow", "Scanner"): STREAM,
    ("duckdb", "DuckDBPyRelation"): DUCKDB,
    ("_duckdb", "DuckDBPyRelation"): DUCKDB,
    ("pyspark", "DataFrame"): SPARK,
    ("dask", "DataFrame"): DASK,
    ("dask_expr", "DataFrame"): DASK,
    ("ray", "Dataset"): RAY,
    ("ray", "MaterializedDataset"): RAY,
}
_READ = (
    "pandas, polars (lazy too), pyarrow (tables, batches, readers, datasets), DuckDB relations, "
    "Spark, Dask and Ray"
)
# What makes a frame that is read of one that is not.
_CONVERSIONS = {
    "cudf": ".to_arrow()",
    "daft": ".to_arrow()",
    "datatable": ".to_pandas()",
    "h2o": ".as_data_frame()",
    "ibis": ".to_polars()",
    "modin": "._to_pandas()",
    "narwhals": ".to_native()",
    "snowflake": ".to_pandas()",
    "sqlframe": ".toPandas()",
    "vaex": ".to_arrow_table()",
}


def kind_of(rows: Any) -> str | None:
    """Which of the kinds of frame it is; None for none of them.

    >>> kind_of({"label": [1], "score": [0.5]}), kind_of([1, 0])
    ('mapping', None)
    """
    if isinstance(rows, Mapping):
        return MAPPING
    for base in type(rows).__mro__:
        kind = _KINDS.get((base.__module__.partition(".")[0], base.__name__))
        if kind == SPARK and base.__module__.startswith("pyspark.pandas"):
            return None
        if kind is not None:
            return kind
    return None


def unsupported(rows: Any) -> InputError:
    """Why something is not read as a frame, and what to do about it."""
    kind = type(rows)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    library = kind.__module__.partition(".")[0]
    if isinstance(rows, str | os.PathLike):
        return InputError(
            f"a frame was expected where columns are named, and {os.fspath(rows)!r} is a name: "
            f"read files with assay.evaluate_files"
        )
    if kind.__name__ == "Series":
        return InputError(
            f"a frame was expected where columns are named, and this is one column ({name}). Give "
            f"the frame, or columns as arrays: evaluate(y_true, y_score=...)"
        )
    conversion = _CONVERSIONS.get(library)
    if kind.__module__.startswith("pyspark.pandas"):
        conversion = ".to_spark()"
    if conversion is None:
        offered = ("to_polars", "to_arrow", "to_pandas", "toPandas", "collect")
        method = next((name for name in offered if callable(getattr(rows, name, None))), None)
        conversion = None if method is None else f".{method}()"
    if conversion is None:
        return InputError(
            f"{name} is not read as a frame. Read are those of {_READ}; a mapping of names to "
            f"columns is one too"
        )
    return InputError(
        f"{name} is not read as a frame, but what its {conversion} gives is: pass that. Read are "
        f"frames of {_READ}"
    )


def must_be_a_column(y_true: Any, files: str) -> None:
    """Refuse a frame where columns are compared; ``files`` is what takes queries and files."""
    kind = kind_of(y_true)
    if kind is None or kind in (POLARS, PANDAS, MAPPING):
        return
    name = f"{type(y_true).__module__.partition('.')[0]} {type(y_true).__name__}".lstrip("_")
    raise InputError(
        f"columns are expected here, and a {name} is a frame. Give columns as arrays, or the query "
        f"whose columns they are by its address (duckdb:FILE?QUERY, sqlite:, postgresql:, spark:) "
        f"to {files}"
    )


def must_have_columns(found: Iterable[Any], columns: Columns, what: str) -> None:
    """Refuse columns that a frame does not have, with the nearest names, or has twice."""
    names = tuple(str(name) for name in found)
    for name in columns.names:
        must_have(Table(what, names), name)
        if names.count(name) > 1:
            raise InputError(f"{what} has several columns called {name!r}: rename all but one")


def pieces_of(rows: Any, columns: Columns) -> Iterator[pl.DataFrame]:
    """The rows of a frame on this machine, in one piece or many, with the columns asked for."""
    kind = kind_of(rows)
    if kind == LAZY:
        must_have_columns(rows.collect_schema().names(), columns, "the lazy frame")
        chosen = rows.select(columns.names)
        yield from chosen.collect_batches(chunk_size=ROWS, maintain_order=False, engine="streaming")
    elif kind == STREAM:
        yield from _streamed(rows, columns)
    elif kind in (POLARS, PANDAS, ARROW, MAPPING):
        must_have_columns(_names(rows, kind), columns, "the frame")
        yield polars_of(rows, columns.names)
    else:
        raise unsupported(rows)


def comes_again(rows: Any) -> bool:
    """Whether the rows can be gone through a second time."""
    return kind_of(rows) != STREAM or hasattr(rows, "scanner")


def _names(rows: Any, kind: str) -> Iterable[Any]:
    if kind == ARROW:
        return list(rows.schema.names)
    return list(rows) if kind == MAPPING else list(rows.columns)


def _streamed(rows: Any, columns: Columns) -> Iterator[pl.DataFrame]:
    """Batches of Arrow; a dataset reads only the columns asked for."""
    schema = getattr(rows, "schema", None)
    schema = rows.projected_schema if schema is None else schema
    must_have_columns(schema.names, columns, "the Arrow data")
    batches: Any = rows
    if hasattr(rows, "scanner"):
        batches = rows.scanner(columns=columns.names).to_batches()
    elif hasattr(rows, "to_batches"):
        batches = rows.to_batches()
    yield from gathered(polars_of(batch, columns.names) for batch in batches)


def gathered(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Frames of at least so many rows, made of smaller ones; the last may be smaller."""
    import polars as pl

    waiting: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        if frame.height:
            waiting.append(frame)
            rows += frame.height
        if rows >= ROWS:
            yield pl.concat(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pl.concat(waiting)


def polars_of(rows: Any, names: Sequence[str]) -> pl.DataFrame:
    """Some columns of a frame of pandas, polars or Arrow, or of a mapping, as a polars frame."""
    import polars as pl

    kind = kind_of(rows)
    if kind == POLARS:
        return rows.select(names)  # type: ignore[no-any-return]
    if kind == ARROW:
        frame = pl.from_arrow(rows.select(list(names)), rechunk=False)
        assert isinstance(frame, pl.DataFrame)  # noqa: S101 - of a table it is one
        return frame
    return pl.DataFrame([polars_column(name, rows[name]) for name in names])
