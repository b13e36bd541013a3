"""A labelled table to learn from: features, the truth, and what else a row is known by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.learn.collecting import Rows, Wanted
from assay.learn.features import Features, read_features, read_pieces
from assay.learn.tables import tables
from assay.sources.batch import Named
from assay.sources.columns import Labels, native, recode
from assay.sources.files.memory import Budget
from assay.sources.files.request import Progress, Refused, Request, silent
from assay.sources.files.table import Piece, Table
from assay.sources.labelling import resolve

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Data", "Features", "data_of", "read_data", "read_features", "read_pieces"]

Positions: TypeAlias = npt.NDArray[np.integer[Any]]

_BATCH_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class Data:
    """A labelled table for learning; rows in the order of the file.

    ``frame`` holds the features: Float64 (booleans as 0 and 1) or String, null where a value is
    missing. ``truth`` are positions in ``labels``: [negative, positive] for two classes, sorted as
    text for more. ``rows`` are the numbers of the rows, from 1 over all inputs. ``family`` names
    the kind of attack; with a negative label given, the labels as they were. ``time`` is in UTC.
    ``columns`` are other columns that were kept, by name, and are no features. ``text`` is the
    feature that holds texts.
    """

    name: str
    frame: pl.DataFrame
    truth: npt.NDArray[np.intp]
    labels: tuple[str, ...]
    positive: str | None
    rows: npt.NDArray[np.int64]
    family: Named | None = None
    time: npt.NDArray[np.datetime64] | None = None
    time_zoned: bool | None = None
    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    text: str | None = None
    dropped: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()
    rows_read: int = 0
    rows_refused: int = 0
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, positions: Positions) -> Data:
        """Some rows, in an order."""
        family = self.family
        return replace(
            self,
            frame=self.frame[positions],
            truth=self.truth[positions],
            rows=self.rows[positions],
            family=None if family is None else Named(family.codes[positions], family.names),
            time=None if self.time is None else self.time[positions],
            columns={name: column[positions] for name, column in self.columns.items()},
        )


def read_data(
    inputs: str | Sequence[str],
    *,
    label: str,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    text: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    family: str | None = None,
    time: str | None = None,
    input_format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    on_bad_row: Literal["stop", "skip"] = "stop",
    glob: bool = False,
    max_memory: int | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Data:
    """Read a labelled table from files; several are read as one.

    Every column is a feature but the label, those to ``drop``, and those to ``keep`` aside with the
    family and the time. A column is numeric where every value in it is a number or missing. A row
    without a label, or without a time where there is one, is a bad row.
    """
    request = Request(
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        on_bad_row=on_bad_row,
        glob=glob,
        max_memory=max_memory,
        batch_rows=_BATCH_ROWS,
    )
    budget = Budget(max_memory)
    wanted = Wanted(label, text, tuple(drop), tuple(keep), family, time)
    given = [inputs] if isinstance(inputs, str) else inputs
    rows = _collected(tables(given, request, budget, progress, stdin), wanted, request, budget)
    return _labelled(rows, wanted, positive, negative, labels)


def data_of(
    frame: pl.DataFrame,
    *,
    label: str,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    text: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    family: str | None = None,
    time: str | None = None,
    name: str = "data",
) -> Data:
    """The same of a polars frame.

    >>> import polars as pl
    >>> frame = pl.DataFrame(
    ...     {"size": [64, 1500], "kind": ["arp", "ip"], "label": ["attack", "normal"]}
    ... )
    >>> data = data_of(frame, label="label")
    >>> data.labels, data.truth.tolist(), data.frame.columns
    (('normal', 'attack'), [1, 0], ['size', 'kind'])
    """
    wanted = Wanted(label, text, tuple(drop), tuple(keep), family, time)

    def pieces(columns: Sequence[str]) -> Iterable[Piece]:
        yield Piece(frame.select(columns), range(1, 1 + frame.height))

    table = Table(name, tuple(frame.columns), lambda columns: iter(pieces(columns)))
    rows = _collected([table], wanted, Request(), Budget(None))
    return _labelled(rows, wanted, positive, negative, labels)


def _collected(found: Iterable[Table], wanted: Wanted, request: Request, budget: Budget) -> Rows:
    rows: Rows | None = None
    for table in found:
        rows = rows or Rows(wanted, table, budget, stops=request.on_bad_row == "stop")
        rows.read(table)
    assert rows is not None  # noqa: S101 - there is a source at least
    rows.must_be_there()
    return rows


def _labelled(
    rows: Rows, wanted: Wanted, positive: Any, negative: Any, labels: Sequence[Any] | None
) -> Data:
    truth = rows.labels.done()

    def typed(value: Any) -> Any:
        return native(value, truth.kind) if isinstance(value, str) else value

    found = resolve(
        truth,
        None,
        positive=typed(positive),
        negative=typed(negative),
        labels=None if labels is None else [typed(value) for value in labels],
    )
    frame, columns = rows.frame(), rows.columns()
    return Data(
        name=rows.name,
        frame=frame,
        truth=recode(truth, found.position).astype(np.intp),
        labels=found.labels,
        positive=found.positive,
        rows=rows.numbers(),
        family=_family(rows, truth, one_negative=negative is not None),
        time=rows.moments(),
        time_zoned=rows.zoned,
        columns=columns,
        text=wanted.text,
        dropped=wanted.drop,
        refused=tuple(rows.bad.refused),
        rows_read=rows.rows_read,
        rows_refused=rows.bad.rows_refused,
        notes=(*rows.notes(), *found.notes),
    )


def _family(rows: Rows, truth: Labels, *, one_negative: bool) -> Named | None:
    if rows.family is not None:
        return rows.family.done()
    return Named(truth.codes.astype(np.intp), truth.names) if one_negative else None
