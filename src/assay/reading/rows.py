"""Rows: any source as one checked, streamed table in canonical columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.errors import InputError
from assay.reading.checks import ARGUMENTS, check
from assay.reading.source import InputDigest, Place, Refused, Source, Table
from assay.text import plural

if TYPE_CHECKING:
    import polars as pl

    from assay.counts.counts import Counts

# The name of a column, or the column itself.
Column: TypeAlias = Any
_COUNTED = ("count", "weight")
_PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}


def rows(
    source: Any = None,
    /,
    *more: Any,
    label: Column = None,
    score: Column = None,
    decision: Column = None,
    probabilities: Mapping[str, Column] | str | Any = None,
    count: Column = None,
    weight: Column = None,
    cluster: Column = None,
    strata: Column = None,
    family: Column = None,
    slices: str | Sequence[str] | Mapping[str, Column] = (),
    time: Column = None,
    incident: Column = None,
    id: Column = None,  # noqa: A002 - the word that users know
    unlabelled: bool = False,
    on_bad_row: Literal["stop", "skip"] = "stop",
    input_format: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    quote: str = '"',
    header: bool = True,
    skip_lines: int = 0,
    encoding: str | None = None,
    sheet: str | None = None,
    rows: str | None = None,
) -> Rows:
    """Open a source of rows, and say which of its columns are what.

    ``source`` is a file, several, a folder, ``-`` for standard input, a query such as
    ``sqlite:runs.db?SELECT ...``, a dataframe of any library, a mapping of columns, labels followed
    by predictions, or a fitted model followed by ``X`` and ``y``. Opening reads a header and
    refuses wrong columns; the rows are read when they are counted. A column is given by its name,
    or as an array. ``probabilities`` maps labels to columns; a pattern such as ``"p_*"`` finds
    them.

    >>> opened = rows({"y": ["attack", "normal"], "p": [0.9, 0.2]}, label="y", score="p")
    >>> opened
    Rows of a mapping: label='y', score='p'
    >>> next(opened.batches())["score"].to_list()
    [0.9, 0.2]
    """
    from assay.reading.formats import FileOptions
    from assay.reading.opening import open_tables

    given = {
        "label": label,
        "score": score,
        "decision": decision,
        "count": count,
        "weight": weight,
        "cluster": cluster,
        "stratum": strata,
        "family": family,
        "time": time,
        "incident": incident,
        "id": id,
    }
    options = FileOptions(
        input_format, delimiter, decimal, quote, header, skip_lines, encoding, sheet, rows
    )
    if on_bad_row not in ("stop", "skip"):
        raise InputError(f"on_bad_row= is 'stop' or 'skip'; found {on_bad_row!r}")
    opened = open_tables(source, more, given, slices, probabilities, options)
    return Rows(
        opened.name,
        opened.tables,
        opened.columns,
        opened.notes,
        optional=("label",) if unlabelled else (),
        skip=on_bad_row == "skip",
    )


class Rows:
    """Rows of a source in canonical columns, read when they are counted.

    ``columns`` maps each canonical column to the source's own; ``notes`` say what was understood.
    """

    def __init__(
        self,
        name: str,
        tables: Sequence[Table],
        columns: Mapping[str, str],
        notes: Sequence[str] = (),
        *,
        optional: Sequence[str] = (),
        skip: bool = False,
    ) -> None:
        self.name = name
        self.columns = dict(columns)
        self.notes = tuple(notes)
        self._tables = tuple(tables)
        self._optional = tuple(optional)
        self._skip = skip
        self._refused: Refused | None = None
        self._source: Source | None = None

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={column!r}" for name, column in self.columns.items())
        return "\n".join([f"Rows of {self.name}: {columns}", *self.notes])

    @property
    def refused(self) -> Refused:
        """The rows that were left out, and why; known after the rows were read."""
        if self._refused is None:
            raise self._unread()
        return self._refused

    @property
    def source(self) -> Source:
        """Where the rows came from, and what became of them; known after they were read."""
        if self._source is None:
            raise self._unread()
        return self._source

    def _unread(self) -> InputError:
        return InputError(
            f"the rows of {self.name} have not been read yet: rows.count(...) reads them"
        )

    def batches(self, *keys: str, period: str = "day") -> Iterator[pl.DataFrame]:
        """The good rows in canonical columns, some at a time; all columns unless some are named.

        ``row`` is the number of each row in its source, and ``period`` the day, week or month of
        its time.
        """
        if self._source is not None and any(table.once for table in self._tables):
            raise InputError(
                f"{self.name} can be read once, and was: count it once with all columns that are "
                f"needed, or save its rows to a file first"
            )
        columns = self._chosen(keys)
        return self._read(columns, row="row" in keys, period=period if "period" in keys else None)

    def count(self, *keys: str, mode: str = "auto", max_memory: int | None = None) -> Counts:
        """The rows, counted by the values of these columns; this reads them.

        >>> opened = rows({"y": ["a", "b", "a"], "p": [0.9, 0.2, 0.9]}, label="y", score="p")
        >>> opened.count("label", "score").total
        3
        """
        from assay.counts.counter import Counter

        counter = Counter(keys, mode=mode, max_memory=max_memory)
        for frame in self.batches(*keys):
            counter.add(frame)
        return counter.finish()

    def _chosen(self, keys: Sequence[str]) -> dict[str, str]:
        """The columns that the keys need, with the counts and weights of rows."""
        wanted = [*({"period": "time"}.get(key, key) for key in keys if key != "row"), *_COUNTED]
        unknown = [key for key in wanted if key not in self.columns and key not in _COUNTED]
        if unknown:
            role = unknown[0].partition(":")[0]
            raise InputError(
                f"no column of {self.name} was given as {unknown[0]!r}; these were: "
                f"{', '.join(self.columns)}. Say {ARGUMENTS.get(role, role)}= in rows(...)"
            )
        if not keys:
            return self.columns
        return {name: column for name, column in self.columns.items() if name in wanted}

    def _read(
        self, columns: Mapping[str, str], *, row: bool, period: str | None
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        refused, used, labels = Refused(), 0, LabelHash()
        self._refused, self._source = refused, None
        error: type[InputError] | None = None
        own = list(dict.fromkeys(columns.values()))
        for table in self._tables:
            for batch in table.read(own):
                for broken in batch.broken:
                    error = error or InputError
                    refused.add(broken.reason, 1, [Place(table.name, broken.row, broken.line)])
                good, failures = check(batch.frame, columns, self._optional)
                for failure in failures:
                    error = error or failure.error
                    places = (
                        batch.place(table.name, i, failure.found) for i in failure.rows.head(100)
                    )
                    unsure = table.nan_is_missing and failure.reason.startswith("have no ")
                    reason = failure.reason + (NAN_NOTE if unsure else "")
                    refused.add(reason, len(failure.rows), places)
                if error is not None and not self._skip:
                    continue  # what else is wrong is listed with it
                used += good.height
                if "label" in columns:
                    labels.add(good["label"])
                if row:
                    numbers = batch.numbers()
                    if failures:
                        bad = pl.concat([failure.rows for failure in failures])
                        kept = pl.Series(range(batch.frame.height)).is_in(bad.implode())
                        numbers = numbers.filter(~kept)
                    good = good.with_columns(numbers)
                if period is not None:
                    good = good.with_columns(period=pl.col("time").dt.strftime(_PERIODS[period]))
                yield good
        if error is not None and not self._skip:
            raise error(
                f"{self.name}: {'; '.join(refused.sentences())}. Correct "
                f"{plural(refused.rows, 'this row', 'these rows')}, or leave such rows out with "
                f"on_bad_row='skip'"
            )
        self._source = Source(
            self.name,
            used + refused.rows,
            used,
            refused.rows,
            tuple(refused.listed()),
            refused.sentences(),
            tuple(t.digest() or InputDigest(t.name, None, None) for t in self._tables),
            labels.digest() if "label" in columns else None,
        )


NAN_NOTE = " (or nan: pandas on NumPy can't tell them apart)"


class LabelHash:
    """The digest of labels in their order, however they come in batches.

    Labels are numbered in order of appearance; the numbers are hashed, and then the names.
    """

    def __init__(self) -> None:
        import numpy as np

        self._digest = hashlib.sha256()
        self._names: list[str | None] = []
        self._number = np.full(16, -1, np.int64)

    def add(self, labels: pl.Series) -> None:
        """The next labels, a column of categories; missing ones count as one more label."""
        import numpy as np

        if not len(labels):
            return
        codes = labels.to_physical().cast(int).fill_null(-1).to_numpy() + 1
        most = int(codes.max())
        if most >= len(self._number):
            more = np.full(2 * most + 2 - len(self._number), -1, np.int64)
            self._number = np.append(self._number, more)
        if (self._number[codes] < 0).any():
            new, first = np.unique(codes, return_index=True)
            for i in np.argsort(first).tolist():
                if self._number[new[i]] < 0:
                    self._number[new[i]] = len(self._names)
                    self._names.append(labels[int(first[i])])
        self._digest.update(self._number[codes].astype("<u4").tobytes())

    def digest(self) -> str:
        """The digest of all labels so far."""
        names = "\0".join("" if name is None else name for name in self._names)
        whole = self._digest.copy()
        whole.update(names.encode())
        return whole.hexdigest()
