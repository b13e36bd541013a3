"""A labelled table to learn from: features, the truth, and what else a row is known by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.learn.collecting import Learned, Rows, Wanted
from assay.sources.coded import Labels, Named
from assay.sources.columns import native, recode
from assay.sources.files.inputs import Name, given_names
from assay.sources.files.memory import Budget
from assay.sources.files.read import opened_tables
from assay.sources.files.request import Progress, Refused, Request, silent
from assay.sources.files.table import Piece, Table
from assay.sources.labelling import Labelling, resolve

if TYPE_CHECKING:
    import polars as pl

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
    feature that holds texts. ``against`` is the label that all others stand against as one class.
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
    against: str | None = None
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
    inputs: Name | Sequence[Name],
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
    decimal: str = ".",
    header: bool = True,
    sheet: str | None = None,
    on_bad_row: Literal["stop", "skip"] = "stop",
    glob: bool = False,
    max_memory: int | None = None,
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
    like: Data | None = None,
) -> Data:
    """Read a labelled table from files; several are read as one.

    Every column is a feature but the label, those to ``drop``, and those to ``keep`` aside with the
    family and the time. A column is numeric where every value in it is a number or missing. A row
    without a label, or without a time where there is one, is a bad row.

    ``like`` is a table that was learned, and this is one to judge: it has the same features, of
    which numbers stay numbers, the same classes, and times with a zone where that one has such.
    ``positive``, ``negative`` and ``labels`` are as they were there.
    """
    request = Request(
        input_format=input_format,
        encoding=encoding,
        delimiter=delimiter,
        decimal=decimal,
        header=header,
        sheet=sheet,
        on_bad_row=on_bad_row,
        glob=glob,
        max_memory=max_memory,
        batch_rows=_BATCH_ROWS,
    )
    budget = Budget(max_memory)
    wanted = Wanted(label, text, tuple(drop), tuple(keep), family, time, _learned(like))
    given = opened_tables(given_names(inputs), request, budget, progress, stdin)
    rows = _collected(given, wanted, request, budget)
    return _labelled(rows, wanted, positive, negative, labels, like)


def data_of(
    frame: Any,
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
    like: Data | None = None,
) -> Data:
    """The same of a data frame: polars, pandas or pyarrow.

    >>> import polars as pl
    >>> frame = pl.DataFrame(
    ...     {"size": [64, 1500], "kind": ["arp", "ip"], "label": ["attack", "normal"]}
    ... )
    >>> data = data_of(frame, label="label")
    >>> data.labels, data.truth.tolist(), data.frame.columns
    (('normal', 'attack'), [1, 0], ['size', 'kind'])
    """
    import narwhals as nw

    frame = nw.from_native(frame, eager_only=True).to_polars()
    wanted = Wanted(label, text, tuple(drop), tuple(keep), family, time, _learned(like))

    def pieces(columns: Sequence[str]) -> Iterable[Piece]:
        yield Piece(frame.select(columns), range(1, 1 + frame.height))

    table = Table(name, tuple(frame.columns), lambda columns: iter(pieces(columns)))
    rows = _collected([table], wanted, Request(), Budget(None))
    return _labelled(rows, wanted, positive, negative, labels, like)


def _learned(like: Data | None) -> Learned | None:
    if like is None:
        return None
    numbers = (name for name, kind in like.frame.schema.items() if kind.is_numeric())
    zone = None if like.time_zoned is None else (like.time_zoned, like.name)
    return Learned(tuple(like.frame.columns), frozenset(numbers), zone)


def _collected(found: Iterable[Table], wanted: Wanted, request: Request, budget: Budget) -> Rows:
    rows: Rows | None = None
    for table in found:
        rows = rows or Rows(wanted, table, budget, stops=request.on_bad_row == "stop")
        rows.read(table)
    assert rows is not None  # noqa: S101 - there is a source at least
    rows.must_be_there()
    return rows


def _labelled(
    rows: Rows,
    wanted: Wanted,
    positive: Any,
    negative: Any,
    labels: Sequence[Any] | None,
    like: Data | None,
) -> Data:
    truth = rows.labels.done()

    def typed(value: Any) -> Any:
        return native(value, truth.kind) if isinstance(value, str) else value

    if like is None:
        found = resolve(
            truth,
            None,
            positive=typed(positive),
            negative=typed(negative),
            labels=None if labels is None else [typed(value) for value in labels],
        )
        against = _against(found, one_negative=negative is not None)
    else:
        found, against = labelled_like(like, truth.names, rows.name), like.against
    frame, columns = rows.frame(), rows.columns()
    return Data(
        name=rows.name,
        frame=frame,
        truth=recode(truth, found.position).astype(np.intp),
        labels=found.labels,
        positive=found.positive,
        rows=rows.numbers(),
        against=against,
        family=_family(rows, truth, one_negative=against == found.labels[0]),
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


def _against(found: Labelling, *, one_negative: bool) -> str | None:
    """The label that was told from all others; of two labels only a negative one is meant so."""
    if one_negative:
        return found.labels[0]
    return found.positive if found.labels[0] not in found.position else None


def labelled_like(learned: Data, names: Sequence[str], name: str) -> Labelling:
    """The labels of a table to judge, as those that were learned."""
    known = {label: i for i, label in enumerate(learned.labels)}
    if learned.against is None:
        unknown = [label for label in names if label not in known]
        if unknown:
            raise InputError(
                f"{name} holds the label {unknown[0]!r}, which {learned.name} does not: it has "
                f"{', '.join(map(repr, learned.labels))}. A model can't say what it never learned; "
                f"say which label is negative, so that all others count as positive, or leave "
                f"those rows out"
            )
        return Labelling(learned.labels, learned.positive, known)
    one = known[learned.against]
    position = {label: one if label == learned.against else 1 - one for label in names}
    labels = learned.labels
    if any(label not in (*labels, learned.against) for label in names):
        # There are more of them than the one that gave the class its name.
        others = f"not {learned.against}"
        labels = (learned.against, others) if one == 0 else (others, learned.against)
    return Labelling(labels, labels[1], position)


def _family(rows: Rows, truth: Labels, *, one_negative: bool) -> Named | None:
    if rows.family is not None:
        return rows.family.done()
    return Named(truth.codes.astype(np.intp), truth.names) if one_negative else None
