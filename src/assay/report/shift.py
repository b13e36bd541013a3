"""What has shifted since the reference, and what alerts alone tell of the share of attacks."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.decisions.monitor.result import Monitor
from assay.report.names import name
from assay.report.numbers import count, exact_percent, percent
from assay.report.sections import Block, Cell, Column, Kind, Prose, Section, Table, Tier

RANKS = (
    "Mean rank: where a row stands among those of the reference, 0.5 where nothing has changed. "
    "Rows moved: the share of rows by which the two differ, a little above 0 by chance."
)
NO_LOSS = (
    "A shift is no loss of quality: it is a reason to label a sample of recent rows. All columns "
    "together are wrongly said to have shifted in at most {error} of streams, however long; the "
    "size of the reference is accounted for."
)


def shift_sections(monitor: Monitor) -> Iterator[Section]:
    """A section of all columns that were held against the reference, where there is one."""
    if not monitor.shift:
        return
    columns = (
        Column("column"),
        Column("shifted"),
        Column("since"),
        Column("evidence (log10)", Kind.SHARE),
        Column("enough", Kind.SHARE),
        Column("mean rank", Kind.SHARE, optional=True),
        Column("rows moved", Kind.SHARE, optional=True),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            name(each.column),
            "yes" if each.shifted else "not shown",
            each.since or "",
            f"{each.largest / math.log(10):.2f}",
            f"{each.limit / math.log(10):.2f}",
            each.mean_rank,
            each.distance,
        )
        for each in monitor.shift
    )
    reference = monitor.shift[0].reference_rows
    error = exact_percent(round(1 - monitor.level, 12))
    notes = (RANKS,)
    caption = f"Against a reference of {count(reference)} rows"
    blocks: list[Block] = [
        Table(caption, columns, rows, notes),
        Prose(NO_LOSS.format(error=error)),
    ]
    blocks += map(Prose, _base_rate(monitor))
    yield Section("Shift since the reference", tuple(blocks), Tier.ADVANCED)


def _base_rate(monitor: Monitor) -> Iterator[str]:
    found = monitor.base_rate
    if found is None or monitor.reference_base_rate is None:
        return
    if math.isnan(found):
        yield f"The share of attacks can't be told from alerts alone: {found.undefined}."
        return
    before = percent(monitor.reference_base_rate)
    yield (
        f"By their alerts alone, {percent(found)} of rows are attacks; {before} were in the "
        f"reference. {found.note}"
    )
