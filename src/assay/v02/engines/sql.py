"""Count rows where they are, in a database: it groups, and the groups are counted here.

A database answers with groups of equal rows and how many each has. They go through the same code as
rows of a file, so what is refused, what a label is called and every bit of the tally are the same.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.v02.engines import frames, statements
from assay.v02.engines.ask import Ask, Columns
from assay.v02.engines.databases import Database, opened
from assay.v02.engines.parts import COARSE, CUT, is_within, too_large
from assay.v02.engines.statements import Dialect
from assay.errors import InputError
from assay.v02.sources.files.builders import series_of
from assay.v02.sources.files.column_roles import must_have
from assay.v02.sources.files.request import ADVICE, OpenedTable
from assay.v02.sources.labelling import USUAL
from assay.v02.tally import Tally
from assay.v02.tally.keeping import AUTO, Cuts, Exact, Grid, Keeping, cells, keeping_of_mode

if TYPE_CHECKING:
    import polars as pl

# The column of how many equal rows each row of a frame of groups stands for.
REPEATS = "assay_rows"
# The bytes of a group here, and how many rows tell whether scores are unlike.
_GROUP, _SPREAD = 16, 1 << 16
# What is said of a row of a frame; the number of a group tells nothing.
_ROW = re.compile(rf"the frame, row \d+: (.*?)(\. {re.escape(ADVICE)})?", re.DOTALL)
_OTHER_ROWS = re.compile(r"(?:from )?the frame, row \d+( on)?")


def count(
    given: Any,
    query: str | None,
    columns: Columns,
    ask: Ask | None = None,
    *,
    dialect: str | None = None,
) -> Tally:
    """Count the rows of a query, or of a relation or frame of a database.

    ``given`` is a DB-API or ADBC connection, a Spark session, or (without a query) a DuckDB
    relation or a Spark frame. ``dialect`` names the SQL where the connection does not tell it.

    >>> import sqlite3
    >>> flows = sqlite3.connect(":memory:")
    >>> _ = flows.execute("create table flows as select 'attack' as label, 0.9 as score")
    >>> count(flows, "select * from flows", Columns("label", "score"))
    Tally(rows=1, labels=('attack',))
    """
    ask = ask or Ask()
    return _counted_groups(groups_of(given, query, columns, ask, dialect=dialect), columns, ask)


def count_by_mode(
    given: Any,
    query: str | None,
    columns: Columns,
    ask: Ask,
    mode: str = AUTO,
    limit: int | None = None,
    *,
    alone: bool = True,
    dialect: str | None = None,
) -> tuple[Tally, tuple[str, ...]]:
    """Count with scores kept as a mode says, and what is to be said of that.

    ``limit`` is how many bytes counting may take on this machine. ``auto`` keeps every score while
    its groups fit, then (where these rows are ``alone``) those of all labels but the most frequent,
    and else a grid.
    """
    _must_be_countable(given, columns)
    with opened(given, query, dialect) as database:
        grouping = _Grouping(database, columns, ask.threshold)
        kept, notes = grouping.fitting(mode, limit, alone=alone)
        groups = grouping.groups(kept)
    return _counted_groups(groups, columns, replace(ask, scores=kept)), notes


def _counted_groups(frame: pl.DataFrame, columns: Columns, ask: Ask) -> Tally:
    """The tally of groups; where one stops the count, it is said how many rows would be refused."""
    if isinstance(ask.scores, Cuts):
        # A loss takes every score, and of a gap only its ends come out of the database.
        ask = replace(ask, losses=False)
    if columns.weight is not None and REPEATS in frame.columns:
        # Squares of weights are summed too, so each row is one of its own.
        frame = frame[np.repeat(np.arange(frame.height), frame[REPEATS].to_numpy())].drop(REPEATS)
    if REPEATS in frame.columns:
        columns = replace(columns, rows=REPEATS)
    try:
        return frames.count_polars(frame, columns, ask)
    except InputError as error:
        place = _ROW.fullmatch(str(error))
        if place is None:
            raise
        message = _OTHER_ROWS.sub(lambda m: "of other rows" if m[1] else "another row", place[1])
        if place[2] is None:
            raise type(error)(message) from error
        every = frames.count_polars(frame, columns, replace(ask, on_bad_row="skip"))
        raise type(error)(
            f"{every.refused.total:,} of {every.rows:,} rows can't be used, such as one with "
            f"{message}. Leave them out of the query, or have them left out and counted: "
            f"on_bad_row='skip'"
        ) from error


def column_names(given: Any, query: str | None) -> tuple[str, ...]:
    """The names of a query's columns."""
    with opened(given, query) as database:
        return database.names


def holds_others(database: Database, column: str) -> bool:
    """Whether a column holds what is no number, in a database that lets it stand among numbers."""
    if not database.dialect.is_number:
        return False
    quoted = database.dialect.name_of(column)
    other = database.first(statements.no_number(database.dialect, database.source, quoted))
    return other is not None


def groups_of(
    given: Any,
    query: str | None,
    columns: Columns,
    ask: Ask,
    *,
    dialect: str | None = None,
) -> pl.DataFrame:
    """Groups of rows that are alike in all that is asked about them, and how many rows each has.

    >>> import sqlite3
    >>> flows = sqlite3.connect(":memory:")
    >>> _ = flows.execute("create table flows as select 'attack' as label, 0.9 as score")
    >>> _ = flows.execute("insert into flows values ('normal', 0.2), ('attack', 0.9)")
    >>> groups = groups_of(flows, "select * from flows", Columns("label", "score"), Ask())
    >>> sorted(groups.rows())
    [('attack', 0.9, 2), ('normal', 0.2, 1)]
    """
    _must_be_countable(given, columns)
    with opened(given, query, dialect) as database:
        return _Grouping(database, columns, ask.threshold).groups(ask.scores)


def selection_of(database: Database, columns: Columns) -> statements.Selection:
    """The rows of a database, told apart by columns; what keeps texts apart besides comes last."""
    return _Grouping(database, columns).table


def _must_be_countable(given: Any, columns: Columns) -> None:
    if not columns.probabilities:
        return
    frame = (
        "give the relation's .pl() or .arrow()"
        if type(given).__name__ == "DuckDBPyRelation"
        else "read the query's result as a frame, as polars.read_database(query, connection) does"
    )
    raise InputError(
        f"a database groups rows by one score; probabilities of several classes are counted from "
        f"rows: {frame}, or name one class with score="
    )


class _Grouping:
    """One query, what its columns hold, and the statements that group it."""

    def __init__(
        self, database: Database, columns: Columns, threshold: float | None = None
    ) -> None:
        self._database = database
        self._dialect = database.dialect
        self._threshold = USUAL if threshold is None else threshold
        self._score = columns.score
        self._counts = columns.count is not None
        self._weighted = columns.weight is not None
        roles = [columns.label, columns.decision, columns.count, columns.weight, columns.cluster]
        named = [*roles, columns.family, *columns.slices, columns.time]
        self._keys = list(dict.fromkeys(name for name in named if name is not None))
        self._time = columns.time
        if self._score in self._keys:
            self._score = None  # its values are told apart already
        if REPEATS in (*self._keys, self._score):
            raise InputError(f"a column is named {REPEATS!r}; rename it in the query (AS)")

    def groups(self, wanted: Keeping | None) -> pl.DataFrame:
        """The groups, as frames of rows have them."""
        keeping = self._keeping(wanted)
        unlike = isinstance(keeping, Exact) and self._are_numbers and self._are_unlike()
        text = self._as_doubles().select() if unlike else self._statement(keeping)
        return self._named(self._database.run(text), keeping, grouped=not unlike)

    def fitting(
        self, mode: str, limit: int | None, *, alone: bool
    ) -> tuple[Keeping, tuple[str, ...]]:
        """How scores are kept that take no more than so many bytes here, and what to say of it."""
        kept = keeping_of_mode(mode)
        if not isinstance(kept, Exact) or self._score is None or limit is None:
            return kept, ()
        if is_within(_GROUP * self._rows, limit):
            return kept, ()
        groups = self._rows if self._weighted else self._size(kept)
        if is_within(_GROUP * groups, limit):
            return kept, ()
        if mode != AUTO:
            raise too_large(_GROUP * groups, limit)
        if not self._are_numbers:
            raise InputError(
                f"column {self._score!r} has {groups:,} distinct values that are no floats, too "
                f"many for this machine: make them floats in the query (CAST), or raise max_memory="
            )
        cuts = self._keeping(Cuts())
        if alone and isinstance(cuts, Cuts) and is_within(_GROUP * self._size(cuts), limit):
            return cuts, (CUT,)
        return Grid(), (COARSE,)

    def _size(self, keeping: Keeping) -> int:
        text = self._statement(keeping)
        return self._database.number(statements.size_of_result(self._dialect, text))

    @cached_property
    def _rows(self) -> int:
        return self._database.number(statements.size(self._dialect, self._database.source))

    @cached_property
    def _samples(self) -> dict[str, tuple[Any, str]]:
        """A value of each column, where it has one, and what the database calls its type."""
        present = self._database.names
        names = [*self._keys, *([] if self._score is None else [self._score])]
        for name in names:
            must_have(OpenedTable("the query", present), name)
        samples = self._row(names, names[-1])
        for name in names:
            if name in samples and samples[name][0] is not None:
                continue
            samples |= self._row([name], name)
        return samples

    @property
    def _kind(self) -> str:
        return type(self._samples.get(self._score or "", (None, ""))[0]).__name__

    @property
    def _are_numbers(self) -> bool:
        """Whether scores are numbers; a decimal or a text is made a float by local code."""
        return self._kind in ("float", "int")

    @cached_property
    def table(self) -> statements.Selection:
        """The rows, told apart by their columns."""
        keys, spare = self._expressions(self._samples)
        self._spare = len(spare)
        score = self._score and self._dialect.name_of(self._score)
        source = self._database.source
        return statements.Selection(self._dialect, source, (*keys, *spare), score)

    def _keeping(self, wanted: Keeping | None) -> Keeping | None:
        """How the database keeps scores, where it can't do what is wanted."""
        possible = self._are_numbers and (not isinstance(wanted, Cuts) or self._can_cut)
        return wanted if possible else Exact()

    @cached_property
    def _can_cut(self) -> bool:
        """Whether one label is the most frequent, and the database knows every score as a number.

        A text such as '0.25' is a score of local code alone, and no gap would end there.
        """
        if self._score is None or not self._common:
            return False
        return not holds_others(self._database, self._score)

    def _statement(self, keeping: Keeping | None) -> str:
        common = self._common if isinstance(keeping, Cuts) else 0
        exact = keeping is None or isinstance(keeping, Exact)
        table = self._as_doubles() if exact else self.table
        return statements.grouped(table, keeping, self._threshold, common)

    def _as_doubles(self) -> statements.Selection:
        """Some drivers hand over a 32-bit float as the shortest decimal that names it."""
        table = self.table
        if self._kind != "float" or self._dialect.is_number:
            return table
        return replace(table, score=f"CAST({table.score} AS {self._dialect.double})")

    def _are_unlike(self) -> bool:
        """Whether groups would be about as many as rows, and grouping them but cost time.

        Among the first rows it is counted how many scores occur once, and how many twice; so many
        unlike scores there are at least (Chao 1984).
        """
        text = statements.first_scores(self._as_doubles(), _SPREAD)
        scores = self._database.run(text).to_series()
        if len(scores) < _SPREAD or scores.dtype.is_object():
            return False
        times = scores.value_counts()["count"]
        once, twice = (int((times == n).sum()) for n in (1, 2))
        return 2 * once >= _SPREAD and once * once >= 2 * (twice + 1) * self._rows

    def _row(self, names: Sequence[str], present: str) -> dict[str, tuple[Any, str]]:
        quoted = [self._dialect.name_of(name) for name in names]
        text = statements.first_row(
            self._dialect, self._database.source, quoted, self._dialect.name_of(present)
        )
        with self._database.naming(names):
            values = self._database.first(text)
        if values is None:
            return {}
        types = values[len(names) :] or [""] * len(names)
        return {name: (values[i], str(types[i])) for i, name in enumerate(names)}

    def _expressions(self, samples: Mapping[str, tuple[Any, str]]) -> tuple[list[str], list[str]]:
        """What rows are grouped by, and what is grouped by besides to keep text apart."""
        keys, spare = [], []
        for name in self._keys:
            value, type_name = samples.get(name, (None, ""))
            quoted = self._dialect.name_of(name)
            if name == self._time:
                keys.append(_day(value, quoted, self._dialect))
            elif isinstance(value, str) and type_name in self._dialect.padded:
                keys.append(f'{quoted} COLLATE "C"')
            elif isinstance(value, str):
                keys.append(self._dialect.text.format(quoted))
                if self._dialect.also:
                    spare.append(self._dialect.also.format(quoted))
            else:
                keys.append(quoted)
        return keys, spare

    @cached_property
    def _common(self) -> int:
        """The rows of the most frequent label; 0 where no label has more than any other.

        Where rows have counts, the most frequent label is not the one of most rows.
        """
        if self._counts or self._weighted:
            return 0
        frame = self._database.run(statements.label_rows(self.table))
        rows = sorted((int(row[-1]) for row in frame.rows()), reverse=True)
        return rows[0] if rows and rows[0] not in rows[1:] else 0

    def _named(
        self, frame: pl.DataFrame, keeping: Keeping | None, *, grouped: bool
    ) -> pl.DataFrame:
        """The result under the names that its columns have for whoever asked."""
        import polars as pl

        series_list = frame.get_columns()
        keys = [series.alias(name) for series, name in zip(series_list, self._keys, strict=False)]
        score_columns = series_list[len(self._keys) + self._spare :]
        if not grouped:
            return pl.DataFrame([*keys, score_columns[0].alias(self._score or "")])
        repeats = score_columns[-1].cast(pl.Int64).alias(REPEATS)
        if self._score is None:
            return pl.DataFrame([*keys, repeats])
        if keeping is None or isinstance(keeping, Exact):
            return pl.DataFrame([*keys, score_columns[0].alias(self._score), repeats])
        *_, unusual, low, high, _ = score_columns
        if isinstance(keeping, Grid):
            _must_be_cells(low, high, keeping)
        lower = pl.DataFrame([*keys, _either(low, unusual).alias(self._score), repeats])
        return _with_ends(lower, self._score, high)


def _must_be_cells(low: pl.Series, high: pl.Series, keeping: Grid) -> None:
    """Refuse groups that span two cells: the database does not reckon as floats do."""
    first, last = (
        cells(side.drop_nulls().cast(float).to_numpy(), keeping.bits) for side in (low, high)
    )
    if not np.array_equal(first, last):
        raise InputError(
            "the database rounds products of floats otherwise than IEEE 754 has it, so it finds no "
            "cells: keep every score (mode='exact'), or read the query's result as a frame"
        )


def _day(value: Any, quoted: str, dialect: Dialect) -> str:
    """The day of a moment where the database can tell it, else the moment itself."""
    if not isinstance(value, dt.datetime):
        return quoted
    if value.tzinfo is None:
        return f"CAST({quoted} AS DATE)"
    return dialect.utc_day.format(quoted) if dialect.utc_day else quoted


def _either(low: pl.Series, unusual: pl.Series) -> pl.Series:
    """The smallest score of a group, or what stands in its place."""
    import polars as pl

    if unusual.null_count() == len(unusual):
        return low
    if unusual.dtype.is_numeric():
        numbers = pl.DataFrame([low.alias("low"), unusual.cast(pl.Float64).alias("odd")])
        return numbers.select(pl.coalesce("low", "odd")).to_series()
    pairs = zip(low.to_list(), unusual.to_list(), strict=True)
    return series_of(low.name, [b if a is None else a for a, b in pairs])


def _with_ends(lower: pl.DataFrame, score: str, high: pl.Series) -> pl.DataFrame:
    """One row of each group moved to its largest score, so that extremes are known too."""
    import polars as pl

    if lower[score].dtype == pl.Object:
        differ = pl.Series([a != b for a, b in zip(lower[score], high, strict=True)])
        differ &= high.is_not_null()
    else:
        differ = (lower[score] != high).fill_null(value=False)
    if not differ.any():
        return lower
    one = pl.lit(1, pl.Int64).alias(REPEATS)
    ends = high.filter(differ).alias(score)
    if lower[score].dtype == pl.Object:
        ends = pl.Series(score, ends.to_list(), dtype=pl.Object)
    upper = lower.filter(differ).with_columns(ends, one)
    lower_rest = lower.with_columns(lower[REPEATS] - differ.cast(pl.Int64))
    return pl.concat([lower_rest, upper], how="vertical_relaxed")
