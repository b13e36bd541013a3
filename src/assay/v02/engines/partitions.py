"""Partitions of Spark, Dask and Ray: counted where they lie, and added as a tree.

What travels is bytes: the tally of a partition, before it whether its times name a zone, which only
all partitions together can be asked; or why its rows were refused. A partition that is
run again, because its worker died, gives the same bytes again, and the framework keeps one of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from assay import errors
from assay.v02.engines.ask import Ask, Columns
from assay.v02.engines.frames import FrameReader, gathered, must_have_columns, polars_of
from assay.v02.engines.incident_counter import count_pieces
from assay.v02.engines.parts import Accumulator, count_rarer, cutting_of_sum
from assay.errors import AssayError, InputError
from assay.v02.tally import IncidentTally, Tally, from_bytes
from assay.v02.tally.counters import CutPoints
from assay.v02.tally.keeping import Cuts

if TYPE_CHECKING:
    import polars as pl

# How many tallies are added at once.
FAN_IN = 8
# Where a frame does not tell how many partitions it has, so many tasks add up its tallies.
ADDING = 16
# What a value of Spark, or of an Arrow array, can hold.
LARGEST = (1 << 31) - (1 << 16)

_REFUSED = b"assay-refused\n"
_ZONED, _UNZONED = b"assay-zoned\n", b"assay-unzoned\n"
_MARKS = {True: _ZONED, False: _UNZONED, None: b""}
MIXED_ZONES = (
    "times have a zone in some partitions and none in others, so the day is not sure. Give all of "
    "them a zone, or none"
)
_OUTCOME = "outcome"
_ELSEWHERE = "No module named 'assay'"


@dataclass(frozen=True)
class PartitionCounter:
    """Counts the rows of one partition, which come as frames, into the bytes of a tally.

    Rows that are refused make bytes that say why. No rows at all make the tally of nothing, which
    adds to any other.
    """

    columns: Columns
    ask: Ask
    cutting: CutPoints | None = None

    def __call__(self, batches: Iterable[Any]) -> bytes:
        """The bytes."""
        try:
            return self.counted(self._pieces(batches))
        except AssayError as refused:
            return _refusal(refused, " (rows are numbered in their partition)")

    def counted(self, pieces: Iterator[pl.DataFrame]) -> bytes:
        """The tally of a partition, and whether its times name a zone."""
        reader = FrameReader(self.columns, self.ask)
        tally = self.tally(reader, pieces)
        return _MARKS[reader.zoned] + tally.to_bytes()

    def tally(self, reader: FrameReader, pieces: Iterator[pl.DataFrame]) -> Tally:
        """The tally of what a reader reads."""
        return reader.count(pieces, self.cutting)

    def _pieces(self, batches: Iterable[Any]) -> Iterator[pl.DataFrame]:
        return gathered(polars_of(batch, self.columns.names) for batch in batches)


@dataclass(frozen=True)
class RarerScoresCounter(PartitionCounter):
    """The first of the two passes of cuts: scores of all labels but the most frequent one.

    Where that is not known, each partition takes its own; they are asked again if one was wrong.
    """

    frequent: str = ""

    def tally(self, reader: FrameReader, pieces: Iterator[pl.DataFrame]) -> Tally:
        """The tally of what a reader reads, with the scores of rarer labels alone."""
        return count_rarer(reader.pieces(pieces), self.ask, self.frequent) + reader.refused()


@dataclass(frozen=True)
class PartitionIncidentCounter(PartitionCounter):
    """Counts incidents instead of rows."""

    def counted(self, pieces: Iterator[pl.DataFrame]) -> bytes:
        """The incidents of a partition; times without a zone are refused where none is given."""
        return count_pieces(pieces, self.columns, self.ask, partial=True).to_bytes()


def in_passes(columns: Columns, ask: Ask, run: Callable[[PartitionCounter], Any]) -> Any:
    """The tally of all partitions; ``run`` has each of them counted, and gives the sum."""
    if ask.incidents is not None:
        return run(PartitionIncidentCounter(columns, ask))
    if not isinstance(ask.scores, Cuts) or not columns.rank:
        return run(PartitionCounter(columns, ask))
    frequent = ""
    while True:
        tally = run(RarerScoresCounter(columns, ask, frequent=frequent))
        cutting, complete = cutting_of_sum(tally)
        if complete:
            return run(PartitionCounter(columns, ask, cutting))
        frequent = cutting.frequent


def add_bytes(parts: Iterable[bytes]) -> bytes:
    """The sum of tallies as bytes; of refusals the first in the order of their text."""
    refused: list[bytes] = []
    marks: set[bytes] = set()

    def tallies() -> Iterator[Tally]:
        for part in parts:
            if part.startswith(_REFUSED):
                refused.append(part)
                continue
            mark = _mark(part)
            if mark:
                marks.add(mark)
            yield from_bytes(part[len(mark) :])

    try:
        tally = added(tallies())
    except AssayError as unlike:
        refused.append(_refusal(unlike))
    if len(marks) > 1:
        refused.append(_refusal(InputError(MIXED_ZONES)))
    return min(refused) if refused else b"".join(marks) + tally.to_bytes()


def tally_of(part: bytes) -> Any:
    """The tally that a partition's bytes hold; what was refused there is raised here."""
    if not part.startswith(_REFUSED):
        return from_bytes(part[len(_mark(part)) :])
    kind, message = json.loads(part[len(_REFUSED) :])
    error = getattr(errors, kind, InputError)
    raise error(message)


def _mark(part: bytes) -> bytes:
    """What stands before a tally whose rows have times."""
    return next((mark for mark in (_ZONED, _UNZONED) if part.startswith(mark)), b"")


def added(tallies: Iterable[Any]) -> Any:
    """The sum of tallies of one kind, which are let go as they come.

    >>> added([]).rows
    0
    """
    counting = Accumulator(Ask())
    incidents: list[IncidentTally] = []
    for tally in tallies:
        if isinstance(tally, IncidentTally):
            incidents = [IncidentTally.merge([*incidents, tally])]
        else:
            counting.add_tally(tally)
    if incidents:
        return incidents[0]
    return counting.done()


def _refusal(error: AssayError, where: str = "") -> bytes:
    return _REFUSED + json.dumps([type(error).__name__, f"{error}{where}"]).encode()


# -- Spark -----------------------------------------------------------------------------------------


def count_spark(frame: Any, columns: Columns, ask: Ask) -> Any:
    """Count a Spark frame with Python on its workers, by ``mapInArrow``.

    For what Spark can't group by itself, as :func:`assay.engines.sql.count` asks it to, such as
    probabilities of several labels. The workers need assay.
    """
    from pyspark.errors import PySparkException

    must_have_columns(frame.columns, columns, "the Spark frame")
    # Spark hands over no column whose name has a dot or a backtick, so they travel by number.
    quoted = (f"`{name.replace('`', '``')}`" for name in columns.names)
    chosen = frame.selectExpr(*(f"{name} AS c{i}" for i, name in enumerate(quoted)))
    schema, tasks = f"{_OUTCOME} binary", _spark_tasks(frame)

    def run(counting: PartitionCounter) -> Any:
        counted = chosen.mapInArrow(partial(_spark_count, counting=counting), schema)
        if tasks:
            counted = counted.repartition(tasks).mapInArrow(_spark_add, schema)
        try:
            rows = counted.collect()
        except PySparkException as failed:
            if _ELSEWHERE not in str(failed):
                raise
            raise InputError(
                "the workers of Spark have no assay, which counts their partitions: install it "
                "there, or ask for what Spark counts by itself (a label with a score or a decision)"
            ) from failed
        return tally_of(add_bytes(bytes(row[0]) for row in rows))

    return in_passes(columns, ask, run)


def _spark_tasks(frame: Any) -> int:
    """How many tasks add up the tallies of partitions before the driver does; 0 for none."""
    if type(frame).__module__.startswith("pyspark.sql.connect"):
        return ADDING
    partitions = int(frame.rdd.getNumPartitions())
    return 0 if partitions <= FAN_IN else int(partitions**0.5)


def _spark_count(batches: Iterator[Any], counting: PartitionCounter) -> Iterator[Any]:
    named = (batch.rename_columns(counting.columns.names) for batch in batches)
    yield _arrow(counting(named))


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


def count_dask(frame: Any, columns: Columns, ask: Ask) -> Any:
    """Count a Dask frame, by whichever scheduler is in use."""
    from dask import delayed

    must_have_columns(frame.columns, columns, "the Dask frame")
    chosen = frame[[name for name in frame.columns if str(name) in columns.names]]
    counts = delayed(_dask_count, pure=False)
    adds = delayed(add_bytes, pure=False)

    def run(counting: PartitionCounter) -> Any:
        shared_counter = delayed(counting, pure=False)
        parts = [counts(part, shared_counter) for part in chosen.to_delayed()]
        return tally_of(_tree(parts, adds).compute())

    return in_passes(columns, ask, run)


def _dask_count(part: Any, counting: PartitionCounter) -> bytes:
    return counting([part])


def _tree(parts: Sequence[Any], add: Callable[[list[Any]], Any]) -> Any:
    """One task at the top of a tree of tasks that each add some."""
    while len(parts) > FAN_IN:
        parts = [add(list(parts[i : i + FAN_IN])) for i in range(0, len(parts), FAN_IN)]
    return add(list(parts))


# -- Ray -------------------------------------------------------------------------------------------


def count_ray(dataset: Any, columns: Columns, ask: Ask) -> Any:
    """Count a dataset of Ray."""
    import ray

    must_have_columns(dataset.columns() or (), columns, "the dataset of Ray")
    chosen, add = dataset.select_columns(columns.names), ray.remote(_ray_add)

    def run(counting: PartitionCounter) -> Any:
        counts = partial(_ray_count, counting=ray.put(counting))
        counted = chosen.map_batches(counts, batch_format="pyarrow", batch_size=None)
        parts = _tree(counted.to_arrow_refs(), lambda some: add.remote(*some))
        return tally_of(_bytes_in(ray.get(parts))[0])

    return in_passes(columns, ask, run)


def _ray_count(batch: Any, counting: Any) -> Any:
    import pyarrow as pa
    import ray

    return pa.Table.from_batches([_arrow(ray.get(counting)([batch]))])


def _ray_add(*parts: Any) -> Any:
    import pyarrow as pa

    total = add_bytes(part for table in parts for part in _bytes_in(table))
    return pa.Table.from_batches([_arrow(total)])


def _bytes_in(table: Any) -> list[bytes]:
    return [] if _OUTCOME not in table.column_names else table.column(_OUTCOME).to_pylist()
