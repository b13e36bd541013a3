"""Count rows batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import each_thread
from assay.counts.counts import LABEL, MOST_WEIGHTS, SCORE, Counts, in_order, is_float
from assay.counts.grid import BITS, Exact, Grid, cells, distances, lowest
from assay.counts.kernel import Rows, count_scores
from assay.counts.names import Names
from assay.counts.reduction import ROWS, WEIGHT, Columns, near_sums, reduce_columns, sum_weights
from assay.counts.small import FEW, count_few
from assay.errors import InputError, MissingColumn
from assay.text import quote

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

MODES = ("auto", "exact", "grid")
# A key that is a threshold: whether the score reaches it.
REACHES = "score>="
# A key that names the classes; the score is then the probability of each.
CLASSES = "probability"
# The kernel sorts up to so many combinations of other keys apart.
_MOST_SEGMENTS = 1 << 12
# Pending rows are looked at again after so many more.
_LOT = 1 << 23
# So many rows are put on a grid at once.
_GRID_LOT = 1 << 21
# Counting takes this many times the bytes of what is kept.
_FACTOR = 4
_SAMPLE = 1 << 16


class Counter:
    """Counts rows by keys; frames have canonical columns and come in any order and sizes.

    Keys are columns (``label``, ``decision``, ``score``, ``cluster``, ``slice:<column>``, ...);
    ``score>=0.5`` tells whether the score reaches 0.5, and ``probability`` counts the columns
    ``probability:<label>`` one by one. ``count`` and ``weight`` are used where a frame has them.

    ``mode`` is ``exact`` (every distinct score), ``grid`` (cells of scores), or ``auto``: exact as
    long as the scores fit into ``max_memory`` bytes, by default half of the machine's memory.

    >>> import polars as pl
    >>> counter = Counter(["label", "score"])
    >>> counter.add(pl.DataFrame({"label": ["a", "b"], "score": [0.5, 0.2]}))
    >>> counter.add(pl.DataFrame({"label": ["a"], "score": [0.2]}))
    >>> counter.finish().table.rows()
    [(0.2, 'a', 1), (0.2, 'b', 1), (0.5, 'a', 1)]
    """

    def __init__(
        self, keys: Sequence[str], *, mode: str = "auto", max_memory: int | None = None
    ) -> None:
        if mode not in MODES:
            raise InputError(f"mode= is one of {', '.join(MODES)}; found {quote(mode)}")
        if not keys:
            raise InputError("rows are counted by one or more keys; found none")
        self._classes = CLASSES in keys
        self.keys = in_order([*keys, SCORE] if self._classes else keys)
        self._names = {key: Names() for key in self.keys if not is_float(key)}
        self._mode, self._limit = mode, max_memory
        self._grid = mode == "grid" and SCORE in self.keys
        self._weighted: bool | None = None
        self._weights = np.empty(0)
        # Rows for the kernel, and tables of reduced rows; both with numbers of names as they came.
        self._pending: list[Columns] = []
        self._pending_rows = self._looked_at = 0
        self._tables: list[Columns] = []
        self._table_rows = self._compacted = self._bytes = 0
        self.notes: tuple[str, ...] = ()

    @property
    def kept(self) -> Exact | Grid:
        """How scores are stored, as far as is known by now."""
        return Grid(BITS) if self._grid else Exact()

    def add(self, rows: pl.DataFrame) -> None:
        """Count further rows."""
        if not rows.height:
            return
        for columns in self._columns(rows):
            self._add(columns)

    # -- a frame as columns of numbers --------------------------------------------------------

    def _columns(self, rows: pl.DataFrame) -> Iterator[Columns]:
        """The keys of a frame as numbers, and its amounts; a table for each class."""
        shared: Columns = {}
        probabilities = sorted(name for name in rows.columns if name.startswith("probability:"))
        for key in self.keys:
            if key == CLASSES or (key == SCORE and self._classes):
                continue
            shared[key] = self._column(rows, key, probabilities)
        values: Columns = {}
        if "count" in rows.columns:
            values[ROWS] = rows["count"].to_numpy().astype(np.int64)
        weighted = WEIGHT in rows.columns
        if self._weighted not in {None, weighted}:
            raise InputError("some rows have weights and others have none: give every row a weight")
        self._weighted = weighted
        if weighted:
            shared[WEIGHT] = rows[WEIGHT].to_numpy().astype(np.float64)
            if len(self._weights) <= MOST_WEIGHTS:
                self._weights = np.unique(np.append(self._weights, shared[WEIGHT]))
        if not self._classes:
            yield shared | values
            return
        yield from self._of_classes(rows, shared, values, probabilities)

    def _of_classes(
        self, rows: pl.DataFrame, shared: Columns, values: Columns, probabilities: list[str]
    ) -> Iterator[Columns]:
        """A row for each class, with its probability as the score."""
        import polars as pl

        if not probabilities:
            raise MissingColumn("there is no column of probabilities", CLASSES)
        table = {name.partition(":")[2]: rows[name].to_numpy() + 0.0 for name in probabilities}
        is_class = {name: rows[LABEL].cast(pl.String).to_numpy() == name for name in table}
        brier = sum(np.square(table[name] - is_class[name]) for name in table) / 2
        amounts = values.get(ROWS, np.ones(rows.height, np.int64))
        for name, column in table.items():
            number = self._names[CLASSES].number((name,))
            code = np.full(rows.height, number[0])
            # The loss of a row is kept beside the class that it belongs to.
            loss = np.where(is_class[name], brier, 0.0)
            sums = {"sum(error)": loss * amounts, "sum(error²)": loss * loss * amounts}
            yield shared | {CLASSES: code, SCORE: column, ROWS: amounts} | sums

    def _column(self, rows: pl.DataFrame, key: str, probabilities: list[str]) -> Array:
        import polars as pl

        if key.startswith(REACHES):
            return self._names[key].codes(rows[SCORE] >= float(key.removeprefix(REACHES)))
        if key == "decision" and key not in rows.columns and probabilities:
            # The largest probability decides; the first label on a tie.
            largest = np.argmax(rows.select(probabilities).to_numpy(), axis=1)
            labels = tuple(name.partition(":")[2] for name in probabilities)
            decided: Array = self._names[key].number(labels)[largest]
            return decided
        if key not in rows.columns:
            raise MissingColumn(
                f"rows are counted by {key}, but the frame has no such column; it has "
                f"{', '.join(rows.columns)}",
                key,
            )
        if not is_float(key):
            return self._names[key].codes(rows[key])
        column = rows[key]
        return column.to_numpy() if column.dtype.is_float() else column.cast(pl.Float64).to_numpy()

    # -- counting -----------------------------------------------------------------------------

    def _add(self, columns: Columns) -> None:
        if WEIGHT in columns and len(self._weights) > MOST_WEIGHTS:
            columns = sum_weights(columns)
            self._pending = [
                sum_weights(part) if WEIGHT in part else part for part in self._pending
            ]
            self._tables = [
                reduce_columns(sum_weights(table), self.keys) if WEIGHT in table else table
                for table in self._tables
            ]
        keys = self._keys_held(columns)
        segments = prod(len(self._names[key]) for key in keys if key in self._names)
        segments //= max(len(self._names.get(LABEL, ())), 1)
        floats = [key for key in keys if is_float(key)]
        kernel = floats == [SCORE] and len(columns) == len(keys) and segments <= _MOST_SEGMENTS
        if self._grid or kernel:
            self._pending.append(columns)
            self._pending_rows += len(columns[SCORE])
            self._bytes += _size(columns)
        else:
            # What waits for the kernel may have too many segments for it by now.
            waiting, self._pending, self._pending_rows = self._pending, [], 0
            for part in (*waiting, columns):
                for key in floats:
                    # -0.0 is 0.0
                    part[key] = part[key] + part[key].dtype.type(0)
                self._append(reduce_columns(part, self._keys_held(part)))
        many = self._table_rows > 2 * self._compacted + (_GRID_LOT if self._grid else _LOT)
        if self._grid:
            if self._pending_rows >= _GRID_LOT or self._too_large():
                self._flush()
            if many:
                self._compact()
        elif many or self._pending_rows - self._looked_at >= _LOT or self._too_large():
            self._look()

    def _append(self, table: Columns) -> None:
        self._tables.append(table)
        self._table_rows += len(table[ROWS])
        self._bytes += _size(table)

    def _flush(self) -> None:
        """Count the pending rows into a table, with numbers of names as they came."""
        if not self._pending:
            return
        if self._grid:
            columns, size = _concatenated(self._pending), self._pending_rows
            self._pending, self._pending_rows = [], 0
            keys, half = self._keys_held(columns), max(size // 2, FEW)

            def reduced(lot: int) -> Columns:
                rows = slice(lot * half, (lot + 1) * half)
                return reduce_cells({name: each[rows] for name, each in columns.items()}, keys)

            for table in each_thread(-(-size // half), reduced):
                self._append(table)
        else:
            self._append(self._sorted({key: np.arange(len(x)) for key, x in self._names.items()}))
        self._bytes = sum(map(_size, self._tables))

    def _keys_held(self, columns: Columns) -> tuple[str, ...]:
        return in_order([*self.keys, *([WEIGHT] if WEIGHT in columns else [])])

    def _too_large(self) -> bool:
        return self._bytes * _FACTOR > (self._limit or half_of_memory())

    def _compact(self) -> None:
        """Put everything so far into one table."""
        self._flush()
        if len(self._tables) > 1:
            columns = _concatenated(self._tables)
            self._replace([reduce_columns(columns, self._keys_held(columns))])
        self._compacted = self._table_rows

    def _replace(self, tables: list[Columns]) -> None:
        self._tables, self._table_rows, self._bytes = [], 0, 0
        for table in tables:
            self._append(table)

    def _look(self) -> None:
        """Count pending rows if that makes them fewer; if they are too many, go over to a grid."""
        self._looked_at = self._pending_rows
        if self._pending and not self._too_large() and not self._are_tied():
            return
        self._compact()
        if not self._too_large():
            return
        limit = self._limit or half_of_memory()
        reason = (
            f"{self._table_rows:,} combinations of {', '.join(self.keys)} don't fit into "
            f"{limit / 1e6:,.1f} MB"
        )
        if self._mode == "exact" or SCORE not in self.keys:
            raise InputError(f"{reason}: raise max_memory=, say mode='grid' or count by fewer keys")
        self.notes = (f"{reason}, so scores are on a grid",)
        self._grid = True
        self._replace([reduce_cells(table, self._keys_held(table)) for table in self._tables])
        self._compacted = self._table_rows

    def _are_tied(self) -> bool:
        """Whether a sample of the pending rows shows many ties."""
        step = max(self._pending_rows // _SAMPLE, 1)
        sample = np.concatenate([columns[SCORE][::step] for columns in self._pending])
        return len(np.unique(sample)) < len(sample) // 2

    def _sorted(self, places: dict[str, Array]) -> Columns:
        """The pending rows, counted by the kernel; names are numbered by their places."""
        others = [key for key in self.keys if key not in {SCORE, LABEL}]
        sizes = [len(self._names[key]) for key in others]
        rows = []
        while self._pending:
            columns = self._pending.pop(0)
            segments = None
            if prod(sizes) > 1:
                segments = np.zeros(len(columns[SCORE]), np.uint16)
                for key, size in zip(others, sizes, strict=True):
                    segments *= size
                    segments += _placed(columns[key], places[key])
            label: Array = np.zeros(1, np.uint8)
            if LABEL in columns:
                label = _placed(columns[LABEL], places[LABEL])
            else:
                label = np.broadcast_to(label, len(columns[SCORE]))
            rows.append(Rows(columns[SCORE], label, segments))
        count = count_few if self._pending_rows < FEW else count_scores
        labels = len(self._names[LABEL]) if LABEL in self._names else 1
        self._pending_rows = self._looked_at = 0
        table = count(rows, labels, prod(sizes))
        counted: Columns = {SCORE: table.scores, LABEL: table.labels}
        if LABEL not in self.keys:
            del counted[LABEL]
        numbers = np.unravel_index(np.arange(prod(sizes)), sizes) if others else ()
        for key, number, size in zip(others, numbers, sizes, strict=True):
            counted[key] = number.astype(np.min_scalar_type(size))[table.segments]
        return counted | {ROWS: table.counts}

    def take_groups(self, groups: pl.DataFrame, *, grid: bool) -> Counts:
        """The counts of groups from an engine; on a grid, their scores are numbers of cells."""
        self._grid = grid
        keys = [*self.keys, *(key for key in [WEIGHT] if key in groups.columns)]
        table: Columns = {}
        for name in [*keys, *(name for name in groups.columns if name not in keys)]:
            column = groups[name]
            table[name] = (
                self._names[name].codes(column) if name in self._names else column.to_numpy()
            )
        table[ROWS] = table[ROWS].astype(np.int64)
        self._tables = [table] if groups.height else []
        return self.finish()

    def finish(self) -> Counts:
        """The counts of all rows."""
        sorted_names = {key: each.sorted() for key, each in self._names.items()}
        places = {key: each[1] for key, each in sorted_names.items()}
        names = {key: each[0] for key, each in sorted_names.items()}
        if not self._pending and not self._tables:
            return Counts.zero(self.keys)
        if self._pending and not self._tables and not self._grid:
            return Counts.of_columns(self._sorted(places), names)
        self._compact()
        (columns,) = self._tables
        for key, at in places.items():
            columns[key] = at[columns[key]]
        columns = reduce_columns(columns, self._keys_held(columns))
        if self._grid:
            columns[SCORE] = lowest(columns[SCORE])
        return Counts.of_columns(columns, names, self.kept)


def reduce_cells(columns: Columns, keys: Sequence[str]) -> Columns:
    """Reduce rows with the number of their cell in place of the score, and sums in each cell."""
    sums = near_sums(distances(columns[SCORE]), columns)
    return reduce_columns(columns | sums | {SCORE: cells(columns[SCORE])}, keys)


def _size(columns: Columns) -> int:
    return sum(column.nbytes for column in columns.values())


def _placed(codes: Array, places: Array) -> Array:
    """The places of numbers of names; often names came in order."""
    if all(at == number for number, at in enumerate(places.tolist())):
        return codes
    return places[codes]


def _concatenated(tables: Sequence[Columns]) -> Columns:
    if len(tables) == 1:
        return tables[0]
    if any(ROWS in table for table in tables):
        tables = [
            table if ROWS in table else table | {ROWS: np.ones(len(table[SCORE]), np.int64)}
            for table in tables
        ]
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


@cache
def half_of_memory() -> int:
    """Half of the bytes that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 << 30
