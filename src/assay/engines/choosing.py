"""Which engine counts a frame: told by the type of the frame, without importing any library."""

from __future__ import annotations

from typing import Any

from assay.engines import libraries, partitions
from assay.engines.ask import Ask, Columns
from assay.engines.frames import count as count_here
from assay.tally import Tally


def count(rows: Any, columns: Columns, ask: Ask) -> Tally:
    """Count the rows of a frame, by the engine that is where they are.

    DuckDB and Spark group rows themselves; Spark calls Python only for probabilities of several
    labels. Dask and Ray count their partitions on their workers. All others are counted here, those
    that come in pieces (a lazy frame, a reader, a dataset) without ever being held as a whole.

    >>> rows = {"label": ["attack", "normal", "attack"], "score": [0.9, 0.2, 0.4]}
    >>> count(rows, Columns("label", score="score"), Ask())
    Tally(rows=3, labels=('attack', 'normal'))
    """
    kind = libraries.kind_of(rows)
    if kind == libraries.DUCKDB or (kind == libraries.SPARK and not columns.probabilities):
        from assay.engines import sql

        libraries.must_have_columns(rows.columns, columns, f"the {kind.capitalize()} frame")
        return sql.count(rows, None, columns, ask)
    if kind in (libraries.SPARK, libraries.DASK, libraries.RAY):
        by_kind = {
            libraries.SPARK: partitions.count_spark,
            libraries.DASK: partitions.count_dask,
            libraries.RAY: partitions.count_ray,
        }
        return by_kind[kind](rows, columns, ask)
    return count_here(libraries.pieces_of(rows, columns), columns, ask)
