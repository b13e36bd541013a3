"""Queries that were named as inputs: which of their columns is what, and their rows counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from assay.engines import sql
from assay.engines.ask import Ask, Columns
from assay.errors import EmptyInput, InputError
from assay.sources.files.column_roles import roles_of, same_roles
from assay.sources.files.inputs import Source
from assay.sources.files.memory import Budget
from assay.sources.files.read import must_apply
from assay.sources.files.request import Request
from assay.sources.files.sql import connected
from assay.sources.files.table import Table
from assay.sources.validation import Roles
from assay.tally import Tally
from assay.tally.keeping import AUTO, Cuts


@dataclass(frozen=True)
class Counted:
    """The tally of all queries, which column played which role, and what is to be said."""

    name: str
    tally: Tally
    roles: Roles
    notes: tuple[str, ...] = ()

    @property
    def source(self) -> dict[str, Any]:
        """Where the rows came from, and how many were used."""
        return {
            "name": self.name,
            "rows_read": self.tally.rows,
            "rows_refused": self.tally.refused.total,
            "reasons": dict(self.tally.refused.reasons),
            "chosen": self.roles.chosen,
        }


def countable(found: Sequence[Source], request: Request) -> bool:
    """Whether databases can answer what is asked; else their rows have to be read.

    Probabilities of classes and rows without a label are counted from rows.
    """
    rows_needed = request.probabilities or request.probability_pattern or request.unlabelled
    return all(source.engine is not None for source in found) and not rows_needed


def count_queries(found: Sequence[Source], request: Request, ask: Ask, mode: str = AUTO) -> Counted:
    """Count the rows of queries, each in its own database, and add the tallies.

    Scores are kept as a mode says; ``auto`` keeps as much as fits into the request's memory.
    """
    if mode == Cuts.name and len(found) > 1:
        raise InputError(
            "mode='cuts' takes the scores of the rarer labels from all rows, and each query knows "
            "its own: make them one query (UNION ALL), or say mode='exact' or mode='grid'"
        )
    tallies, roles, first = [], None, ""
    limit, notes = Budget(request.max_memory).limit, dict[str, None]()
    for source in found:
        with _named(source), connected(source, limit) as connection:
            must_apply(source.name, "a query", request)
            names = sql.column_names(connection, source.query)
            table = Table(source.name, names)
            if roles is None:
                roles, first = roles_of(table, request), table.name
            same_roles(table, roles, first)
            tally, told = sql.count_by_mode(
                connection,
                source.query,
                columns_of(roles),
                ask,
                mode,
                limit // len(found),
                alone=len(found) == 1,
            )
            tallies.append(tally)
            notes |= dict.fromkeys(told)
    assert roles is not None  # noqa: S101 - there is a source at least
    tally = Tally.merge(tallies)
    shown = ", ".join(source.name for source in found)
    if not tally.rows:
        raise EmptyInput(f"{shown}: there are no rows; the query gives an empty table")
    if not tally.counted and tally.refused.total:
        reasons = "; ".join(f"{kind} ({n:,})" for kind, n in tally.refused.reasons.items())
        raise EmptyInput(f"{shown}: all {tally.rows:,} rows were refused: {reasons}")
    more = "" if len(found) == 1 else f" and {len(found) - 1} more"
    return Counted(found[0].name + more, tally, roles, tuple(notes))


def columns_of(roles: Roles) -> Columns:
    """The columns to count, by what they are."""
    assert roles.label is not None  # noqa: S101 - a request without labels is not counted
    return Columns(
        label=roles.label,
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


@contextmanager
def _named(source: Source) -> Iterator[None]:
    """Errors in here tell of which query they speak."""
    try:
        yield
    except InputError as error:
        if source.name in str(error):
            raise
        raise type(error)(f"{source.name}: {error}") from error
