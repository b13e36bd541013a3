"""One file's rows with what models said of them, before the files are matched."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.sources.batch import Labels, Named
from assay.sources.files.bad_rows import LISTED
from assay.sources.files.collect import must_be_a_number
from assay.sources.files.request import Refused, Rows
from assay.sources.files.said import decisions_of

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
Said: TypeAlias = Labels | Array | Mapping[Any, Array]

SHOWN = 3


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of one file: its columns, what models said by column, numbers and ids of the rows.

    A model said scores, decisions, or probabilities by label.
    """

    name: str
    columns: Mapping[str, Any]
    said: Mapping[str, Said]
    rows: Array
    ids: pl.Series | None
    rows_read: int
    rows_refused: int
    refused: tuple[Refused, ...]

    @classmethod
    def of(cls, read: Rows, truth: Labels, known: Collection[str], *, skip: bool) -> Part:
        """What was read, with each model's column decided on.

        A row of a column of scores that holds no number stops everything, or is left out.
        """
        columns = dict(read.columns)
        spoken = columns.pop("models", {})
        said: dict[str, Said] = {}
        odd: Array = np.zeros(len(columns["rows"]), bool)
        reasons: list[Refused] = []
        for column, found in spoken.items():
            if isinstance(found, Mapping):
                said[column] = found
                continue
            decisions = decisions_of(found, truth, known)
            said[column] = found.numbers if decisions is None else decisions
            if decisions is None:
                odd |= ~np.isfinite(found.numbers)
                reasons += read.doubtful[column]
        if reasons and not skip:
            raise must_be_a_number(min(reasons, key=lambda at: at.row))
        rows, ids = columns.pop("rows"), columns.pop("ids", None)
        part = cls(
            read.name, columns, said, rows, ids, read.rows_read, read.rows_refused, read.refused
        )
        if ids is not None:
            _must_be_unique(ids, read)
        if not odd.any():
            return part
        listed = {(at.file, at.row): at for at in sorted(reasons, key=lambda at: at.row)}
        return part.without(odd, list(listed.values()))

    def without(self, odd: Array, reasons: list[Refused]) -> Part:
        """The part with some rows refused, and why, as far as it is listed."""
        if odd.all():
            raise EmptyInput(f"{self.name}: no row is left. The first reason: {reasons[0].reason}")
        return replace(
            self.take(np.flatnonzero(~odd)),
            rows_refused=self.rows_refused + int(odd.sum()),
            refused=(*self.refused, *reasons)[:LISTED],
        )

    def take(self, at: Array) -> Part:
        """Some rows, in an order."""
        return replace(
            self,
            columns={name: _taken(column, at) for name, column in self.columns.items()},
            said={name: _taken(column, at) for name, column in self.said.items()},
            rows=self.rows[at],
            ids=None if self.ids is None else self.ids.gather(at),
        )


def _taken(column: Any, at: Array) -> Any:
    if isinstance(column, Mapping):
        return {name: _taken(inner, at) for name, inner in column.items()}
    if isinstance(column, Labels):
        return Labels(column.codes[at], column.names, column.kind)
    if isinstance(column, Named):
        return Named(column.codes[at], column.names)
    return column[at]


def _must_be_unique(ids: pl.Series, read: Rows) -> None:
    """Refuse an id that names several rows."""
    repeated = ids.is_duplicated()
    count = int(repeated.sum())
    if not count:
        return
    first = ids.filter(repeated).unique(maintain_order=True)[:SHOWN]
    shown = ", ".join(map(repr, first.to_list()))
    raise InputError(
        f"{read.name}: column {read.chosen['id']!r} names {count:,} rows by an id that other rows "
        f"have too, such as {shown}. An id must name one row"
    )
