"""Queries that were named as inputs: which of their columns is what, and their rows counted.

Rows of one model are counted query by query, and tallies added. Of several models, whose scores are
columns of one query, three questions are asked: the cells of each model's scores, how many rows
each combination of models flags, and how often the scores of two models lie in a pair of cells.
What comes back is what :class:`assay.engines.models.ModelCounter` makes of rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.v02.engines import sql, statements
from assay.v02.engines.ask import Ask, Columns
from assay.v02.engines.databases import Database, opened
from assay.v02.engines.models import BITS, MOST_PAIRS, ModelCounter, Pair
from assay.v02.engines.resolving import nothing_to_judge
from assay.errors import EmptyInput, InputError, ScoreError
from assay.v02.sources.files.collector import Collector, are_scores
from assay.v02.sources.files.column_roles import roles_of, same_roles
from assay.v02.sources.files.database_queries import connected
from assay.v02.sources.files.inputs import Source
from assay.v02.sources.files.read import must_apply
from assay.v02.sources.files.request import Budget, OpenedTable, Piece, Request, Rows
from assay.v02.sources.files.several_models import ModelLot
from assay.v02.sources.validation import Roles
from assay.v02.tally import JointScores, Tally
from assay.v02.tally.keeping import AUTO, Cuts, Grid
from assay.v02.tally.named_tally import Refusals

if TYPE_CHECKING:
    from types import TracebackType

    import polars as pl


@dataclass(frozen=True)
class CountedQueries:
    """The tally of all queries, which column played which role, and what is to be said."""

    name: str
    tally: Tally
    roles: Roles
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> dict[str, Any]:
        """Where the rows came from, and how many were used."""
        return {"name": self.name, "chosen": self.roles.chosen, **self.tally.row_counts()}


def countable(sources: Sequence[Source], request: Request) -> bool:
    """Whether databases can answer what is asked; else their rows have to be read.

    Probabilities of classes and rows without a label are counted from rows.
    """
    rows_needed = request.probabilities or request.probability_pattern or request.unlabelled
    return all(source.engine is not None for source in sources) and not rows_needed


def count_queries(
    sources: Sequence[Source], request: Request, ask: Ask, mode: str = AUTO
) -> CountedQueries:
    """Count the rows of queries, each in its own database, and add the tallies.

    Scores are kept as a mode says; ``auto`` keeps as much as fits into the request's memory.
    """
    if mode == Cuts.name and len(sources) > 1:
        raise InputError(
            "mode='cuts' takes the scores of the rarer labels from all rows, and each query knows "
            "its own: make them one query (UNION ALL), or say mode='exact' or mode='grid'"
        )
    limit = Budget(request.max_memory).limit
    share, alone = limit // len(sources), len(sources) == 1
    parts: list[CountedQueries] = []
    for source in sources:
        with _naming_query(source), connected(source, limit) as connection:
            must_apply(source.name, "a query", request)
            table = OpenedTable(source.name, sql.column_names(connection, source.query))
            roles = parts[0].roles if parts else roles_of(table, request)
            same_roles(table, roles, sources[0].name)
            columns = columns_of(roles)
            tally, notes = sql.count_by_mode(
                connection, source.query, columns, ask, mode, share, alone=alone
            )
            parts.append(CountedQueries(source.name, tally, roles, notes))
    tally = Tally.merge([part.tally for part in parts])
    shown = ", ".join(source.name for source in sources)
    if not tally.rows:
        raise EmptyInput(f"{shown}: there are no rows; the query gives an empty table")
    if not tally.counted and tally.refused.total:
        raise EmptyInput(f"{shown}: {nothing_to_judge(tally)}")
    more = "" if alone else f" and {len(sources) - 1} more"
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return CountedQueries(sources[0].name + more, tally, parts[0].roles, notes)


def columns_of(roles: Roles) -> Columns:
    """The columns to count, by what they are."""
    return Columns(
        label=_label_of(roles),
        score=roles.score,
        decision=roles.decision,
        probabilities=roles.probabilities,
        count=roles.count,
        weight=roles.weight,
        cluster=roles.cluster,
        slices=tuple(name for name in roles.slices if name != roles.family),
        family=roles.family,
        time=roles.time,
    )


def _label_of(roles: Roles) -> str:
    """The column of labels, without which no query is counted."""
    if roles.label is None:
        raise InputError("rows of a query are counted by their label: say its column with label=")
    return roles.label


@contextmanager
def _naming_query(source: Source) -> Iterator[None]:
    """Errors in here tell of which query they speak."""
    try:
        yield
    except InputError as error:
        if source.name in str(error):
            raise
        raise type(error)(f"{source.name}: {error}") from error


# -- several models, whose scores are columns of one query -----------------------------------------
_FLAG = "assay_flag"
# So many values tell whether a column holds scores.
_SAMPLE = 1 << 16
# Pairs of scores are kept no finer than this.
_PAIR_BITS = Grid().bits


class ModelQuery:
    """What several models said of the rows of one query; their columns hold scores.

    ``models`` maps a name to its column. The connection is open until the query is closed.
    """

    def __init__(self, source: Source, request: Request, models: Mapping[str, str]) -> None:
        self.models = tuple(models)
        self._columns = dict(models)
        self._name = source.name
        self._request = replace(request, models=tuple(models.values()))
        self._stack = ExitStack()
        limit = Budget(request.max_memory).limit
        self._connection: Any = self._stack.enter_context(connected(source, limit))
        self._query = source.query
        names = sql.column_names(self._connection, source.query)
        self._roles = roles_of(OpenedTable(source.name, names), self._request)
        self._rows = 0
        self.rows_used = 0

    def __enter__(self) -> ModelQuery:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def counts(self, most: int) -> bool:
        """Whether the database counts these models: more rows than ``most``, each with scores.

        Rows that have a count, a weight or a cluster are read, and those of a column that may hold
        decisions as far as many of its values tell.
        """
        roles = self._roles
        if roles.count or roles.weight or roles.cluster or roles.label is None:
            return False
        with opened(self._connection, self._query) as database:
            self._rows = database.number(statements.size(database.dialect, database.source))
            if self._rows <= most:
                return False
            return all(_holds_scores(database, column) for column in self._columns.values())

    def fill(self, counter: ModelCounter) -> None:
        """Count all rows; those in which a score is no finite number are left out."""
        with opened(self._connection, self._query) as database:
            quoted = [database.dialect.name_of(name) for name in self._columns.values()]
            query = statements.finite(database.dialect, database.source, quoted)
        label = _label_of(self._roles)
        tallies = {
            name: sql.count(
                self._connection,
                query,
                Columns(label, score=column),
                Ask(
                    scores=Grid(BITS),
                    threshold=counter.asked[name],
                    on_bad_row=self._request.on_bad_row,
                ),
            )
            for name, column in self._columns.items()
        }
        self._must_be_finite(next(iter(tallies.values())).rows)
        flags = self._flags(query, counter.thresholds)
        self.rows_used = 0 if flags.counts is None else int(flags.counts.sum())
        if not self.rows_used:
            raise EmptyInput(f"{self._name}: no row is left: each lacks a label or a finite score")
        joint = {pair: self._joint(query, pair) for pair in itertools.combinations(self.models, 2)}
        counter.add_counted(
            {
                name: replace(tally, refused=Refusals(), rows=tally.rows - tally.refused.total)
                for name, tally in tallies.items()
            },
            flags,
            joint,
        )

    def _must_be_finite(self, rows: int) -> None:
        """Refuse rows in which a score is no finite number, unless they are to be left out."""
        if rows < self._rows and self._request.on_bad_row == "stop":
            raise ScoreError(
                f"{self._name}: {self._rows - rows:,} of {self._rows:,} rows can't be used: a "
                f"score is missing or no finite number. Leave them out of the query, or have them "
                f"left out and counted: on_bad_row='skip'"
            )

    def _flags(self, query: str, thresholds: Mapping[str, float]) -> ModelLot:
        """Groups of rows that the same models flag."""
        with opened(self._connection, query) as database:
            dialect, roles = database.dialect, self._roles
            reached = {
                f"{_FLAG}{i}": f"{dialect.name_of(self._columns[name])} >= "
                f"{statements.number(at, dialect)}"
                for i, (name, at) in enumerate(thresholds.items())
            }
            kept = [name for name in (roles.label, roles.family) if name is not None]
            names = [dialect.name_of(name) for name in kept]
            text = statements.flagged(database.source, names, reached)
        columns = Columns(_label_of(roles), slices=(*kept[1:], *reached))
        groups = sql.groups_of(self._connection, text, columns, Ask())
        lot = self._lot(groups, tuple(reached))
        flags = zip(thresholds.items(), lot.scores.values(), strict=True)
        scores = {name: np.where(flag > 0, at, -np.inf) for (name, at), flag in flags}
        return replace(lot, scores=scores)

    def _joint(self, query: str, pair: Pair) -> JointScores:
        """Pairs of scores on the finest grid that keeps few enough of them."""
        with opened(self._connection, query) as database:
            label = _label_of(self._roles)
            table = sql.selection_of(database, Columns(label))
            first, second = (database.dialect.name_of(self._columns[name]) for name in pair)

            def text(bits: int) -> str:
                return statements.pairs(table, (first, second), bits)

            bits = _PAIR_BITS if self.rows_used <= MOST_PAIRS else _finest(database, text)
            frame = database.run(text(bits))
        low_names = tuple(f"{statements.LOW}{i}" for i in (0, 1))
        kept = [frame.to_series(0), *frame.get_columns()[-3:]]
        names = [label, *low_names, sql.REPEATS]
        groups = type(frame)([each.alias(n) for each, n in zip(kept, names, strict=True)])
        lot = self._lot(groups, low_names, family=False)
        low = dict(zip(pair, lot.scores.values(), strict=True))
        return JointScores.of_rows(
            lot.truth.names, lot.truth.codes, low, counts=lot.counts, bits=bits
        )

    def _lot(self, groups: pl.DataFrame, scores: Sequence[str], *, family: bool = True) -> ModelLot:
        """Groups of rows, checked as rows of files are."""
        family_column = self._roles.family if family else None
        roles = Roles(
            self._roles.label,
            models=tuple(scores),
            slices=() if family_column is None else (family_column,),
            family=family_column,
            rows=sql.REPEATS,
        )
        collector = Collector(roles, replace(self._request, on_bad_row="skip"), Budget(None))
        collector.add(Piece(groups.select(roles.columns), range(1, groups.height + 1)), self._name)
        columns, _ = collector.take()
        return ModelLot(
            columns["y_true"],
            {name: columns["models"][name].numbers for name in scores},
            columns["repeats"],
            None if family_column is None else columns["slices"][family_column],
        )

    @property
    def source(self) -> Rows:
        """How the rows came about, once they were counted."""
        return Rows(
            name=self._name,
            columns={},
            rows_read=self._rows,
            rows_refused=self._rows - self.rows_used,
            chosen=self._roles.chosen,
            family=self._roles.family,
        )


def _finest(database: Database, text: Callable[[int], str]) -> int:
    """The most bits with which no more pairs occur than are kept."""
    low, high = 1, _PAIR_BITS
    while low < high:
        middle = (low + high + 1) // 2
        pairs = database.number(statements.size_of_result(database.dialect, text(middle)))
        low, high = (middle, high) if pairs <= MOST_PAIRS else (low, middle - 1)
    return low


def _holds_scores(database: Database, column: str) -> bool:
    """Whether many values of a column are numbers that can't be labels, and none is a text."""
    quoted = database.dialect.name_of(column)
    text = statements.first_values(database.dialect, database.source, quoted, _SAMPLE)
    with database.naming([column]):
        values = database.run(text).to_series()
    numbers = values.dtype.is_numeric() and not values.dtype.is_decimal()
    return numbers and are_scores(values) and not sql.holds_others(database, column)
