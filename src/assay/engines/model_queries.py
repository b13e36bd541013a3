"""Several models whose scores are columns of one query, counted in its database.

Three questions are asked of it: the cells of each model's scores, how many rows each combination of
models flags, and how often the scores of two models lie in a pair of cells. What comes back is what
:class:`assay.engines.model_counter.ModelCounter` makes of rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.engines import sql, statements
from assay.engines.ask import Ask, Columns
from assay.engines.databases import Database, opened
from assay.engines.model_counter import ModelCounter, Pair
from assay.engines.models import BITS, MOST_PAIRS
from assay.errors import EmptyInput, ScoreError
from assay.sources.files.collect import Collector
from assay.sources.files.column_roles import roles_of
from assay.sources.files.inputs import Source
from assay.sources.files.memory import Budget
from assay.sources.files.model_columns import are_scores
from assay.sources.files.model_lots import ModelLot
from assay.sources.files.request import Request, Rows
from assay.sources.files.sql import connected
from assay.sources.files.table import Piece, Table
from assay.sources.validation import Roles
from assay.tally import JointScores
from assay.tally.by_name import Refusals
from assay.tally.keeping import Grid

if TYPE_CHECKING:
    import polars as pl

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
        self._roles = roles_of(Table(source.name, names), self._request)
        self._rows = 0
        self.rows_used = 0

    def __enter__(self) -> ModelQuery:
        return self

    def __exit__(self, *reason: object) -> None:
        self._stack.__exit__(*reason)  # type: ignore[arg-type]

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
        label = self._roles.label or ""
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
        columns = Columns(roles.label or "", slices=(*kept[1:], *reached))
        groups = sql.groups_of(self._connection, text, columns, Ask())
        lot = self._lot(groups, tuple(reached))
        flags = zip(thresholds.items(), lot.scores.values(), strict=True)
        scores = {name: np.where(flag > 0, at, -np.inf) for (name, at), flag in flags}
        return replace(lot, scores=scores)

    def _joint(self, query: str, pair: Pair) -> JointScores:
        """Pairs of scores on the finest grid that keeps few enough of them."""
        with opened(self._connection, query) as database:
            label = self._roles.label or ""
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
        own = self._roles.family if family else None
        roles = Roles(
            self._roles.label,
            models=tuple(scores),
            slices=() if own is None else (own,),
            family=own,
            rows=sql.REPEATS,
        )
        collector = Collector(roles, replace(self._request, on_bad_row="skip"), Budget(None))
        collector.add(Piece(groups.select(roles.columns), range(1, groups.height + 1)), self._name)
        columns, _ = collector.take()
        return ModelLot(
            columns["y_true"],
            {name: columns["models"][name].numbers for name in scores},
            columns["repeats"],
            None if own is None else columns["slices"][own],
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
    """Whether many values of a column are numbers that can't be labels."""
    quoted = database.dialect.name_of(column)
    text = statements.first_values(database.dialect, database.source, quoted, _SAMPLE)
    values = database.run(text).to_series()
    return values.dtype.is_numeric() and not values.dtype.is_decimal() and are_scores(values)
