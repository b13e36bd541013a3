"""Count the rows of frames of any library, by the engine that is where they are.

A library is told by the name of a type, and none is imported that the caller has not imported
already. Rows that are counted on this machine are checked like those of files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from assay.v02.engines import incident_counter
from assay.v02.engines.ask import Ask, Columns, Grouping
from assay.v02.engines.parts import Accumulator, Parts
from assay.errors import InputError
from assay.v02.sources.coded import Coded
from assay.v02.sources.columns import must_be_readable, polars_column
from assay.v02.sources.files.collector import Collector
from assay.v02.sources.files.column_roles import must_have, must_have_one_role
from assay.v02.sources.files.request import Budget, OpenedTable, Piece, Request, must_be_enough
from assay.v02.sources.labelling import sided
from assay.v02.sources.times import seconds_column
from assay.v02.sources.validation import Listed, Roles, coded_columns
from assay.v02.tally import IncidentTally, Tally
from assay.v02.tally.counters import CutPoints
from assay.v02.tally.keeping import Cuts, keeping_of_mode
from assay.v02.tally.named_tally import Refusals

if TYPE_CHECKING:
    import polars as pl

# Rows that are checked and counted at once.
PIECE = 1 << 20
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
# What makes a frame that has columns to give of one that has not.
_WITH_COLUMNS = {
    LAZY: ".collect()",
    DUCKDB: ".pl()",
    SPARK: ".toPandas()",
    DASK: ".compute()",
    RAY: ".to_pandas()",
}
# What makes a frame that is read of one that is not.
_CONVERSIONS = {
    "_duckdb": ".sql('select ...')",
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


@dataclass(frozen=True)
class CountedFrame:
    """The tally of a frame, what is to be said of how scores are kept, and the first refused rows.

    Of rows that are grouped or counted elsewhere none is listed.
    """

    tally: Tally
    notes: tuple[str, ...] = ()
    listed: Listed = ()


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
        return _here(rows, columns, ask, Cuts.name, None).tally
    return count_polars(pieces_of(rows, columns), columns, ask)


def count_incidents(rows: Any, columns: Columns, ask: Ask | None = None) -> IncidentTally:
    """Count the incidents that the rows of a frame name, by the engine that is where they are.

    DuckDB and Spark group rows themselves, Dask and Ray count their partitions on their workers.

    >>> rows = {"of": ["a", ""], "at": ["2026-11-16T10:00:00Z"] * 2, "said": ["alert", "normal"]}
    >>> tally = count_incidents(rows, Columns.of_incidents("of", "at", decision="said"))
    >>> tally.alerts, tally.false_alarms
    (1, 0)
    """
    ask = ask if ask is not None and ask.incidents is not None else _grouped(ask)
    kind = kind_of(rows)
    if kind in (DUCKDB, SPARK):
        _must_have_them(rows, columns)
        return incident_counter.count_groups(rows, None, columns, ask)
    workers = _workers(kind)
    if workers is not None:
        tally: IncidentTally = workers(rows, columns, ask)
        return tally
    return incident_counter.count_pieces(pieces_of(rows, columns), columns, ask)


def _grouped(ask: Ask | None) -> Ask:
    return replace(ask or Ask(), incidents=Grouping())


def count_by_mode(
    rows: Any, columns: Columns, ask: Ask, mode: str, max_memory: int | None = None
) -> CountedFrame:
    """Count the rows of a frame with scores kept as a mode says.

    ``max_memory`` is what counting may take on this machine, by default half of what it has. What
    Python counts on the workers of a cluster is kept exactly where no mode is named.
    """
    must_be_enough(max_memory)
    kept, limit = keeping_of_mode(mode), Budget(max_memory).limit
    elsewhere = _elsewhere(rows, columns)
    if elsewhere is _by_sql:
        from assay.v02.engines import sql

        _must_have_them(rows, columns)
        return CountedFrame(*sql.count_by_mode(rows, None, columns, ask, mode, limit))
    if elsewhere is not None:
        return CountedFrame(elsewhere(rows, columns, replace(ask, scores=kept)))
    return _here(rows, columns, ask, mode, limit)


def _elsewhere(rows: Any, columns: Columns) -> Callable[[Any, Columns, Ask], Tally] | None:
    """What counts rows that are not on this machine, or in a database."""
    kind = kind_of(rows)
    if kind == DUCKDB or (kind == SPARK and not columns.probabilities):
        return _by_sql
    return _workers(kind)


def _workers(kind: str | None) -> Callable[[Any, Columns, Ask], Any] | None:
    """What has the workers of a cluster count a kind of frame: its rows, or its incidents."""
    from assay.v02.engines import partitions

    workers = {
        SPARK: partitions.count_spark,
        DASK: partitions.count_dask,
        RAY: partitions.count_ray,
    }
    return workers.get(kind or "")


def _by_sql(rows: Any, columns: Columns, ask: Ask) -> Tally:
    from assay.v02.engines import sql

    _must_have_them(rows, columns)
    return sql.count(rows, None, columns, ask)


def _here(rows: Any, columns: Columns, ask: Ask, mode: str, limit: int | None) -> CountedFrame:
    """Count rows on this machine."""
    again = comes_again(rows)
    pieces = partial(pieces_of, rows, columns)
    return count_polars_by_mode(pieces, columns, ask, mode, again=again, limit=limit)


# -- frames as polars frames, in pieces ------------------------------------------------------------


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
            f"columns is one too, and of a list of rows polars.DataFrame(rows) makes one"
        )
    return InputError(
        f"{name} is not read as a frame, but what its {conversion} gives is: pass that. Read are "
        f"frames of {_READ}"
    )


def must_be_a_column(y_true: Any) -> None:
    """Refuse a frame where columns are compared, with what makes columns of it."""
    kind = kind_of(y_true)
    if kind is None:
        return
    name = f"{type(y_true).__module__.partition('.')[0]} {type(y_true).__name__}".lstrip("_")
    method = _WITH_COLUMNS.get(kind)
    if kind == STREAM:
        method = ".to_table()" if hasattr(y_true, "to_table") else ".read_all()"
    whose = "its columns" if method is None else f"the columns of what its {method} gives"
    raise InputError(
        f"columns are expected here, and a {name} is a frame: say label='...' and name the other "
        f"columns too, or give {whose}, such as frame['label'] and frame['score']"
    )


def columns_by_name(
    rows: Any, label: str | None, given: Mapping[str, Any], most: int
) -> tuple[Any, dict[str, Any]]:
    """The labels of a frame and the columns that were given by name, which are brought here.

    Without a ``label`` all of them are columns already. ``given`` are names, or map models to
    names. Of a cluster, which gives no pairs of scores, no more than ``most`` rows are brought.

    >>> rows = {"y": [1, 0], "old": [0.9, 0.4], "new": [0.8, 0.1], "text": ["a", "b"]}
    >>> truth, models = columns_by_name(rows, "y", {"scores": {"a": "old", "b": "new"}}, 10)
    >>> truth.to_list(), models["scores"]["b"].to_list()
    ([1, 0], [0.8, 0.1])
    """
    if label is None:
        must_be_a_column(rows)
        return rows, dict(given)
    if kind_of(rows) is None:
        raise unsupported(rows)
    names = dict.fromkeys(
        name for key, value in {"label": label, **given}.items() for name in _names_in(key, value)
    )
    others = tuple(name for name in names if name != label)
    frame = _brought(rows, Columns(label, slices=others), most)

    def column(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: column(name) for key, name in value.items()}
        return None if value is None else frame[value]

    return frame[label], {key: column(value) for key, value in given.items()}


def _names_in(key: str, value: Any) -> Iterator[str]:
    """The names of columns that a value holds."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _names_in(key, each)
    elif isinstance(value, str):
        yield value
    elif value is not None:
        raise InputError(
            f"label= names a column of a frame, and so does {key}=, as text; found "
            f"{type(value).__name__}. Or give every column as an array, and no label="
        )


def _brought(rows: Any, columns: Columns, most: int) -> pl.DataFrame:
    """Some columns of a frame of any kind, on this machine."""
    import polars as pl

    kind, names = kind_of(rows), list(columns.names)
    if kind not in (DUCKDB, SPARK, DASK, RAY):
        pieces = list(pieces_of(rows, columns))
        return pl.concat(pieces) if pieces else pl.DataFrame(dict.fromkeys(names, ()))
    if kind == RAY:
        must_have_columns(rows.columns() or (), columns, "the frame")
    else:
        _must_have_them(rows, columns)
    if kind in (DASK, RAY):
        _must_be_few(rows.count() if kind == RAY else len(rows), kind, most)
        held = rows.select_columns(names).to_pandas() if kind == RAY else rows[names].compute()
        return polars_of(held, names)
    from assay.v02.engines import databases, statements

    with databases.opened(rows, None) as database:
        dialect = database.dialect
        if kind == SPARK:
            _must_be_few(database.number(statements.size(dialect, database.source)), kind, most)
        quoted = tuple(map(dialect.name_of, names))
        frame = database.run(statements.Selection(dialect, database.source, quoted).select())
        frame.columns = names
        return frame


def _must_be_few(rows: int, kind: str, most: int) -> None:
    """Refuse to bring more rows from a cluster than this."""
    if rows > most:
        raise InputError(
            f"the {kind} frame has {rows:,} rows, and its engine gives no pairs of scores: more "
            f"than {most:,} rows are not brought here. Write the columns as Parquet, or name them "
            f"in a query, and compare those files (assay compare, assay gate)"
        )


def must_have_columns(present: Iterable[Any], columns: Columns, what: str) -> None:
    """Refuse columns that a frame does not have, with the nearest names, or has twice.

    A label can't be what the model said too; rows of incidents have none.
    """
    names = tuple(str(name) for name in present)
    table = OpenedTable(what, names)
    for name in columns.names:
        must_have(table, name)
        if names.count(name) > 1:
            raise InputError(f"{what} has several columns called {name!r}: rename all but one")
    if columns.incident is None:
        said = {"score": columns.score, "decision": columns.decision, "weight": columns.weight}
        must_have_one_role(table, columns.label, said)


def _must_have_them(rows: Any, columns: Columns) -> None:
    """Refuse columns that a frame of a database does not have, or that went away with its table."""
    from assay.v02.engines import databases

    with databases.telling(rows):
        present = rows.columns
    must_have_columns(present, columns, "the frame")


def pieces_of(rows: Any, columns: Columns) -> Iterator[pl.DataFrame]:
    """The rows of a frame on this machine, in one piece or many, with the columns asked for."""
    kind = kind_of(rows)
    if kind == LAZY:
        must_have_columns(rows.collect_schema().names(), columns, "the lazy frame")
        chosen = rows.select(columns.names)
        # In the order of the frame, by which messages number the rows.
        yield from chosen.collect_batches(chunk_size=PIECE, maintain_order=True, engine="streaming")
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
        batches = _scanned(rows, columns, schema.names)
    elif hasattr(rows, "to_batches"):
        batches = rows.to_batches()
    yield from gathered(polars_of(batch, columns.names) for batch in batches)


def _scanned(dataset: Any, columns: Columns, names: Sequence[str]) -> Iterator[Any]:
    twice = next((name for name in names if names.count(name) > 1), None)
    try:
        yield from dataset.scanner(columns=columns.names).to_batches()
    except ValueError as refused:
        if twice is None:
            raise
        raise InputError(
            f"the dataset has several columns called {twice!r}, and Arrow scans none that has: "
            f"rename all but one, or give the table or the reader that it was made of"
        ) from refused


def gathered(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Frames of at least so many rows, made of smaller ones; the last may be smaller."""
    import polars as pl

    waiting: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        if frame.height:
            waiting.append(frame)
            rows += frame.height
        if rows >= PIECE:
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
        return _of_arrow(rows.select(list(names)))
    # Columns of pandas and of mappings may have numbers for names, and are asked for as text.
    written = {str(name): name for name in _names(rows, kind or MAPPING)}
    return pl.DataFrame([polars_column(name, rows[written[name]]) for name in names])


def _of_arrow(rows: Any) -> pl.DataFrame:
    import polars as pl

    for field in rows.schema:
        must_be_readable(field.name, field.type)
    frame = pl.from_arrow(rows, rechunk=False)
    frame = frame if isinstance(frame, pl.DataFrame) else frame.to_frame()
    seconds = [seconds_column(name, rows.column(name)) for name in frame.columns]
    return frame.with_columns(column for column in seconds if column is not None)


# -- rows of polars frames, checked and counted ----------------------------------------------------


def count_polars(
    rows: Any, columns: Columns, ask: Ask | None = None, cutting: CutPoints | None = None
) -> Tally:
    """Count the rows of a polars frame, or of several that come one after the other.

    ``cutting`` tells where to cut, where these rows are but a part of all. Where it has to be found
    first, cuts take two passes, and frames that come once are refused.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"y": ["attack", "normal"], "p": [0.9, 0.2]})
    >>> count_polars(frame, Columns("y", score="p")).labels.names
    ('attack', 'normal')
    """
    import polars as pl

    ask = ask or Ask()
    in_hand = rows.height if isinstance(rows, pl.DataFrame) else 0
    frames = [rows] if isinstance(rows, pl.DataFrame) else rows
    if isinstance(ask.scores, Cuts) and columns.rank and cutting is None:
        again = iter(frames) is not frames
        return count_polars_by_mode(lambda: frames, columns, ask, Cuts.name, again=again).tally
    return FrameReader(columns, ask).count(frames, cutting, in_hand)


def count_polars_by_mode(
    frames: Callable[[], Iterable[pl.DataFrame]],
    columns: Columns,
    ask: Ask,
    mode: str,
    *,
    again: bool,
    limit: int | None = None,
) -> CountedFrame:
    """Count frames with scores kept as a mode says, in two passes where that takes them.

    ``again`` tells whether the frames can be had a second time, ``limit`` how many bytes counting
    may take.
    """
    reader = FrameReader(columns, ask)

    def coded() -> Iterator[Coded]:
        nonlocal reader
        reader = FrameReader(columns, ask)
        yield from reader.pieces(frames())

    tally, notes = Parts(coded, again, limit).count(ask, mode)
    return CountedFrame(tally + reader.refused(), notes, reader.listed)


class FrameReader:
    """Checks the rows of frames that come one after the other."""

    def __init__(self, columns: Columns, ask: Ask) -> None:
        self._ask = ask
        self._roles = roles_of_columns(columns)
        request = Request(on_bad_row=ask.on_bad_row)
        self._collector = Collector(self._roles, request, Budget(None), advice="")
        self._rows = 0

    @property
    def zoned(self) -> bool | None:
        """Whether the times that were read name a zone; None where there are none."""
        return self._collector.zoned

    def count(
        self, frames: Iterable[pl.DataFrame], cutting: CutPoints | None = None, in_hand: int = 0
    ) -> Tally:
        """The tally of all rows; ``in_hand`` of them are in memory already."""
        counting = Accumulator(self._ask, cutting, in_hand=in_hand)
        for piece in self.pieces(frames):
            counting.add(piece)
        return counting.done() + self.refused()

    def pieces(self, frames: Iterable[pl.DataFrame]) -> Iterator[Coded]:
        """The good rows of frames, coded piece by piece; of probabilities one score where asked."""
        sides = self._ask.positive, self._ask.negative
        for frame in frames:
            for start in range(0, frame.height, PIECE):
                yield sided(self.coded(frame[start : start + PIECE]), *sides)

    def coded(self, frame: pl.DataFrame) -> Coded:
        """The good rows of a frame, coded; the others are counted by their reason."""
        for column in self._roles.columns:
            must_have(OpenedTable("the frame", tuple(frame.columns)), column)
        first = self._rows + 1
        self._rows += frame.height
        piece = Piece(frame.select(self._roles.columns), range(first, first + frame.height))
        self._collector.add(piece, "the frame")
        taken, _ = self._collector.take()
        return coded_columns(taken)

    @property
    def listed(self) -> Listed:
        """The first rows that could not be used, which no tally names: parts number their own."""
        return tuple((at.row, at.reason) for at in self._collector.refused)

    def refused(self) -> Tally:
        """The rows that could not be used, as a tally of nothing else."""
        reasons = Refusals(dict(sorted(self._collector.reasons.items())))
        return Tally(rows=reasons.total, refused=reasons)


def roles_of_columns(columns: Columns) -> Roles:
    """The columns to read, by what they are."""
    slices = dict.fromkeys(columns.slices)
    if columns.family is not None:
        slices[columns.family] = None
    return Roles(
        label=columns.label,
        score=columns.score,
        decision=columns.decision,
        probabilities=columns.probabilities,
        slices=tuple(slices),
        family=columns.family,
        time=columns.time,
        count=columns.count,
        weight=columns.weight,
        cluster=columns.cluster,
        rows=columns.rows,
    )
