"""Partitions of Spark, Dask and Ray: counted where they lie, and added as a tree.

What travels is bytes: the tally of a partition, or why its rows were refused. A partition that is
run again, because its worker died, gives the same bytes again, and the framework keeps one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from assay import errors
from assay.engines.ask import Ask, Columns
from assay.engines.frames import count
from assay.engines.libraries import gathered, must_have_columns, polars_of
from assay.engines.parts import Accumulator
from assay.errors import AssayError, InputError
from assay.tally import Tally, from_bytes
from assay.tally.keeping import Cuts

# How many tallies are added at once.
FAN_IN = 8
# Where a frame does not tell how many partitions it has, so many tasks add up its tallies.
ADDING = 16
# What a value of Spark, or of an Arrow array, can hold.
LARGEST = (1 << 31) - (1 << 16)

_REFUSED = b"assay-refused\n"
_OUTCOME = "outcome"
_ELSEWHERE = "No module named 'assay'"


def must_be_countable(columns: Columns, ask: Ask) -> None:
    """Refuse what partitions can't be asked for one by one."""
    if isinstance(ask.scores, Cuts) and columns.score is not None:
        raise InputError(
            "cuts are the scores of the rarer labels in all partitions, which one of them does not "
            "know: keep every score (mode='exact') or a grid (mode='grid'), or count by SQL"
        )


def count_batches(batches: Iterable[Any], columns: Columns, ask: Ask) -> bytes:
    """Count the rows of one partition, which come as frames, into the bytes of a tally.

    Rows that are refused make bytes that say why. No rows at all make the tally of nothing, which
    adds to any other.
    """
    try:
        pieces = gathered(polars_of(batch, columns.names) for batch in batches)
        return count(pieces, columns, ask).to_bytes()
    except AssayError as refused:
        return _refusal(refused)


def add_bytes(parts: Iterable[bytes]) -> bytes:
    """The sum of tallies as bytes; of refusals the first in the order of their text."""
    refused: list[bytes] = []

    def tallies() -> Iterator[Tally]:
        for part in parts:
            if part.startswith(_REFUSED):
                refused.append(part)
            else:
                yield from_bytes(part)

    try:
        whole = added(tallies())
    except AssayError as unlike:
        refused.append(_refusal(unlike))
    return min(refused) if refused else whole.to_bytes()


def tally_of(part: bytes) -> Tally:
    """The tally that a partition's bytes hold; what was refused there is raised here."""
    if not part.startswith(_REFUSED):
        tally = from_bytes(part)
        assert isinstance(tally, Tally)  # noqa: S101 - it was written above
        return tally
    kind, message = json.loads(part[len(_REFUSED) :])
    error = getattr(errors, kind, InputError)
    raise error(f"{message} (rows are numbered in their partition)")


def added(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies, which are let go as they come.

    >>> added([]).rows
    0
    """
    counting = Accumulator(Ask())
    for tally in tallies:
        counting.add_tally(tally)
    return counting.done()


def _refusal(error: AssayError) -> bytes:
    return _REFUSED + json.dumps([type(error).__name__, str(error)]).encode()


# -- Spark -----------------------------------------------------------------------------------------


def count_spark(frame: Any, columns: Columns, ask: Ask) -> Tally:
    """Count a Spark frame with Python on its workers, by ``mapInArrow``.

    For what Spark can't group by itself, as :func:`assay.engines.sql.count` asks it to, such as
    probabilities of several labels. The workers need assay.
    """
    from pyspark.errors import PySparkException

    must_be_countable(columns, ask)
    must_have_columns(frame.columns, columns, "the Spark frame")
    # Spark hands over no column whose name has a dot or a backtick, so they travel by number.
    quoted = (f"`{name.replace('`', '``')}`" for name in columns.names)
    chosen = frame.selectExpr(*(f"{name} AS c{i}" for i, name in enumerate(quoted)))
    schema = f"{_OUTCOME} binary"
    counted = chosen.mapInArrow(partial(_spark_count, columns=columns, ask=ask), schema)
    tasks = _spark_tasks(frame)
    if tasks:
        counted = counted.repartition(tasks).mapInArrow(_spark_add, schema)
    try:
        rows = counted.collect()
    except PySparkException as failed:
        if _ELSEWHERE not in str(failed):
            raise
        raise InputError(
            "the workers of Spark have no assay, which counts their partitions: install it there, "
            "or ask for what Spark counts by itself (a label with a score or a decision)"
        ) from failed
    return tally_of(add_bytes(bytes(row[0]) for row in rows))


def _spark_tasks(frame: Any) -> int:
    """How many tasks add up the tallies of partitions before the driver does; 0 for none."""
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        return ADDING
    partitions = int(frame.rdd.getNumPartitions())
    return 0 if partitions <= FAN_IN else int(partitions**0.5)


def _spark_count(batches: Iterator[Any], columns: Columns, ask: Ask) -> Iterator[Any]:
    named = (batch.rename_columns(columns.names) for batch in batches)
    yield _arrow(count_batches(named, columns, ask))


def _spark_add(batches: Iterator[Any]) -> Iterator[Any]:
    parts = (value.as_py() for batch in batches for value in batch.column(0))
    yield _arrow(add_bytes(parts))


def _arrow(part: bytes) -> Any:
    """One row that holds the bytes."""
    import pyarrow as pa

    if len(part) > LARGEST:
        part = _refusal(
            InputError(
                f"the tally of a partition takes {len(part):,} bytes, more than one value can hold "
                f"({LARGEST:,}). Keep scores on a grid (mode='grid'), or cut the frame into more "
                f"partitions"
            )
        )
    schema = pa.schema([(_OUTCOME, pa.binary())])
    return pa.RecordBatch.from_pydict({_OUTCOME: [part]}, schema=schema)


# -- Dask ------------------------------------------------------------------------------------------


def count_dask(frame: Any, columns: Columns, ask: Ask) -> Tally:
    """Count a Dask frame, by whichever scheduler is in use."""
    from dask import delayed

    must_be_countable(columns, ask)
    must_have_columns(frame.columns, columns, "the Dask frame")
    counts = delayed(_dask_count, pure=False)
    adds = delayed(add_bytes, pure=False)
    parts = [counts(part, columns, ask) for part in frame[columns.names].to_delayed()]
    return tally_of(_tree(parts, adds).compute())


def _dask_count(part: Any, columns: Columns, ask: Ask) -> bytes:
    return count_batches([part], columns, ask)


def _tree(parts: Sequence[Any], add: Callable[[list[Any]], Any]) -> Any:
    """One task at the top of a tree of tasks that each add some."""
    while len(parts) > FAN_IN:
        parts = [add(list(parts[i : i + FAN_IN])) for i in range(0, len(parts), FAN_IN)]
    return add(list(parts))


# -- Ray -------------------------------------------------------------------------------------------


def count_ray(dataset: Any, columns: Columns, ask: Ask) -> Tally:
    """Count a dataset of Ray."""
    import ray

    must_be_countable(columns, ask)
    must_have_columns(dataset.columns() or (), columns, "the dataset of Ray")
    counted = dataset.select_columns(columns.names).map_batches(
        partial(_ray_count, columns=columns, ask=ask), batch_format="pyarrow", batch_size=None
    )
    add = ray.remote(_ray_add)
    parts = _tree(counted.to_arrow_refs(), lambda some: add.remote(*some))
    return tally_of(_bytes_in(ray.get(parts))[0])


def _ray_count(batch: Any, columns: Columns, ask: Ask) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([_arrow(count_batches([batch], columns, ask))])


def _ray_add(*parts: Any) -> Any:
    import pyarrow as pa

    whole = add_bytes(part for table in parts for part in _bytes_in(table))
    return pa.Table.from_batches([_arrow(whole)])


def _bytes_in(table: Any) -> list[bytes]:
    return [] if _OUTCOME not in table.column_names else table.column(_OUTCOME).to_pylist()
