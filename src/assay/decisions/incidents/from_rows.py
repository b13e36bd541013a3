"""Rows that name the incident that they are of, in files or frames, judged by incidents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from assay.decisions.incidents.judging import Judging, judged
from assay.decisions.incidents.result import Incidents
from assay.engines.ask import Ask, Columns
from assay.engines.choosing import count_incidents
from assay.engines.incidents import IncidentCounter
from assay.errors import EmptyInput, InputError
from assay.sources.files.column_roles import must_have
from assay.sources.files.inputs import given_names
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened_tables
from assay.sources.files.request import Progress, Request, refused_row, silent
from assay.sources.thresholds import USUAL
from assay.tally.incidents import IncidentTally


def judged_rows(
    rows: Any,
    columns: Columns,
    ask: Ask,
    judging: Judging,
    *,
    threshold: float | None = None,
    request: Request | None = None,
    progress: Progress = silent,
) -> Incidents:
    """The answer for files, or for a frame of any library."""
    notes: tuple[str, ...] = ()
    if isinstance(rows, str | os.PathLike | list | tuple):
        tally, source = _counted(given_names(rows), columns, ask, request or Request(), progress)
    else:
        tally = count_incidents(rows, columns, ask)
        refused = sum(tally.refused.values())
        read = int(tally.volume["rows"].sum()) + refused
        source = {
            "name": "rows",
            "rows_read": read,
            "rows_used": read - refused,
            "rows_refused": refused,
            "refused": [],
            "reasons": dict(tally.refused),
        }
    if not tally.volume.size:
        raise EmptyInput(f"{source['name']}: there are no rows that can be used")
    if columns.decision is None:
        threshold, notes = _threshold(tally, columns, threshold)
    elif threshold is not None and columns.score is None:
        raise InputError("threshold= is of a score; name its column with score=")
    above = tally if threshold is None else tally.at(threshold)
    return judged(
        above,
        None,
        judging,
        every=tally,
        source=source,
        notes=notes,
        score=columns.score,
        threshold=threshold,
    )


def _threshold(
    tally: IncidentTally, columns: Columns, given: float | None
) -> tuple[float, tuple[str, ...]]:
    """The score from which on a row is an alert: the one given, else 0.5 of probabilities."""
    if given is not None:
        return given, ()
    low, high = float(tally.scores[0]), float(tally.scores[-1])
    if low < 0 or high > 1:
        raise InputError(
            f"the scores of {columns.score!r} go from {low:g} to {high:g}, so that 0.5 means "
            f"nothing; say from which score on a row is an alert with threshold="
        )
    return USUAL, (
        f"rows with a score of at least {USUAL:g} are alerts, since no threshold is given",
    )


def _counted(
    names: Sequence[str], columns: Columns, ask: Ask, request: Request, progress: Progress
) -> tuple[IncidentTally, dict[str, Any]]:
    counting = IncidentCounter(columns, ask)
    found: list[str] = []
    smaller = replace(request, batch_rows=min(request.batch_rows, 1 << 18))
    for table in opened_tables(names, smaller, Budget(request.max_memory), progress):
        for column in columns.names:
            must_have(table, column)
        found.append(table.name)
        for piece in table.pieces(columns.names):
            counting.add(piece, table.name)
    tally = counting.done()
    bad = counting.bad
    return tally, {
        "name": f"{found[0]} and {len(found) - 1} more" if len(found) > 1 else found[0],
        "rows_read": counting.rows_read,
        "rows_used": counting.rows_read - bad.rows_refused,
        "rows_refused": bad.rows_refused,
        "refused": [refused_row(each) for each in bad.refused],
    }
