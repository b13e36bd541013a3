"""Which engine counts a frame: told by the type of the frame, without importing any library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from assay.engines import frames, incidents, libraries, partitions
from assay.engines.ask import Ask, Columns, Grouping
from assay.errors import InputError
from assay.sources.files.memory import Budget
from assay.tally import IncidentTally, Tally
from assay.tally.keeping import Cuts, keeping_of_mode


def count(rows: Any, columns: Columns, ask: Ask | None = None) -> Tally:
    """Count the rows of a frame, by the engine that is where they are.

    DuckDB and Spark group rows themselves; Spark calls Python only for probabilities of several
    labels. Dask and Ray count their partitions on their workers. All others are counted here, those
    that come in pieces (a lazy frame, a reader, a dataset) without ever being held as a whole.

    >>> rows = {"label": ["attack", "normal", "attack"], "score": [0.9, 0.2, 0.4]}
    >>> count(rows, Columns("label", score="score"))
    Tally(rows=3, labels=('attack', 'normal'))
    """
    ask = ask or Ask()
    if ask.incidents is not None:
        raise InputError("incidents are another tally; ask for them with count_incidents")
    elsewhere = _elsewhere(rows, columns)
    if elsewhere is not None:
        return elsewhere(rows, columns, ask)
    if isinstance(ask.scores, Cuts) and columns.rank:
        return _here(rows, columns, ask, Cuts.name, None)[0]
    return frames.count(libraries.pieces_of(rows, columns), columns, ask)


def count_incidents(rows: Any, columns: Columns, ask: Ask | None = None) -> IncidentTally:
    """Count the incidents that the rows of a frame name, by the engine that is where they are.

    DuckDB and Spark group rows themselves, Dask and Ray count their partitions on their workers.

    >>> rows = {"of": ["a", ""], "at": ["2026-11-16T10:00:00Z"] * 2, "said": ["alert", "normal"]}
    >>> tally = count_incidents(rows, Columns.of_incidents("of", "at", decision="said"))
    >>> tally.alerts, tally.false_alarms
    (1, 0)
    """
    ask = ask if ask is not None and ask.incidents is not None else _grouped(ask)
    kind = libraries.kind_of(rows)
    if kind in (libraries.DUCKDB, libraries.SPARK):
        libraries.must_have_columns(rows.columns, columns, "the frame")
        return incidents.count_groups(rows, None, columns, ask)
    workers = {libraries.DASK: partitions.count_dask, libraries.RAY: partitions.count_ray}
    if kind in workers:
        tally: IncidentTally = workers[kind](rows, columns, ask)
        return tally
    return incidents.count_pieces(libraries.pieces_of(rows, columns), columns, ask)


def _grouped(ask: Ask | None) -> Ask:
    return replace(ask or Ask(), incidents=Grouping())


def count_by_mode(
    rows: Any, columns: Columns, ask: Ask, mode: str, max_memory: int | None = None
) -> tuple[Tally, tuple[str, ...]]:
    """Count the rows of a frame with scores kept as a mode says, and what is to be said of that.

    ``max_memory`` is what counting may take on this machine, by default half of what it has. What
    Python counts on the workers of a cluster is kept exactly where no mode is named.
    """
    kept, limit = keeping_of_mode(mode), Budget(max_memory).limit
    elsewhere = _elsewhere(rows, columns)
    if elsewhere is _by_sql:
        from assay.engines import sql

        libraries.must_have_columns(rows.columns, columns, "the frame")
        return sql.count_by_mode(rows, None, columns, ask, mode, limit)
    if elsewhere is not None:
        return elsewhere(rows, columns, replace(ask, scores=kept)), ()
    return _here(rows, columns, ask, mode, limit)


def _elsewhere(rows: Any, columns: Columns) -> Callable[[Any, Columns, Ask], Tally] | None:
    """What counts rows that are not on this machine, or in a database."""
    kind = libraries.kind_of(rows)
    if kind == libraries.DUCKDB or (kind == libraries.SPARK and not columns.probabilities):
        return _by_sql
    workers = {
        libraries.SPARK: partitions.count_spark,
        libraries.DASK: partitions.count_dask,
        libraries.RAY: partitions.count_ray,
    }
    return workers.get(kind or "")


def _by_sql(rows: Any, columns: Columns, ask: Ask) -> Tally:
    from assay.engines import sql

    libraries.must_have_columns(rows.columns, columns, "the frame")
    return sql.count(rows, None, columns, ask)


def _here(
    rows: Any, columns: Columns, ask: Ask, mode: str, limit: int | None
) -> tuple[Tally, tuple[str, ...]]:
    """Count rows on this machine."""
    again = libraries.comes_again(rows)
    pieces = partial(libraries.pieces_of, rows, columns)
    return frames.count_by_mode(pieces, columns, ask, mode, again=again, limit=limit)
