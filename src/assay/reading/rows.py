"""Rows: any source as one checked, streamed table in canonical columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from assay.errors import InputError
from assay.reading.checks import ARGUMENTS, check, role_of
from assay.reading.source import InputDigest, Place, Refused, Source
from assay.text import plural

if TYPE_CHECKING:
    import polars as pl

    from assay.counts.counts import Counts
    from assay.reading.opening import Opened

# The name of a column, or the column itself.
Column: TypeAlias = Any
_COUNTED = ("count", "weight")
_SEARCHED = ("label", "score", "decision", "probability")
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
    preset: str | None = None,
    alarm: str | Sequence[str] = (),
    order: str | None = None,
    time_format: str | None = None,
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
    Rows of a mapping
    Using label='y' (attack: 'attack'), score='p' (0 to 1)
    >>> next(opened.batches())["score"].to_list()
    [0.9, 0.2]
    """
    from assay.reading.content import Reading
    from assay.reading.formats import FileOptions
    from assay.reading.opening import open_source

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
    options = FileOptions(input_format, delimiter, quote, header, skip_lines, encoding, sheet, rows)
    if on_bad_row not in ("stop", "skip"):
        raise InputError(f"on_bad_row= is 'stop' or 'skip'; found {on_bad_row!r}")
    reading = Reading(
        alarm=(alarm,) if isinstance(alarm, str) else tuple(alarm),
        preset=preset,
        decimal=decimal,
        order=order,
        time_format=time_format,
    )
    opened = open_source(source, more, given, slices, probabilities, options, reading)
    return Rows(opened, unlabelled=unlabelled, skip=on_bad_row == "skip")


class Rows:
    """Rows of a source in canonical columns, read when they are counted.

    ``columns`` maps each canonical column to the source's own; ``notes`` say what was understood.
    """

    def __init__(self, opened: Opened, *, unlabelled: bool = False, skip: bool = False) -> None:
        self.name = opened.name
        self.columns = dict(opened.columns)
        self.notes = opened.notes
        self._opened = opened
        self._optional = ("label",) if unlabelled else ()
        self._skip = skip
        self._refused: Refused | None = None
        self._source: Source | None = None

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={column!r}" for name, column in self.columns.items())
        return "\n".join([f"Rows of {self.name}", *(self.notes or [f"Columns {columns}"])])

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
        columns = self._chosen(keys)
        if self._opened.engine is not None:
            raise InputError(
                f"the rows of {self.name} stay in their engine: rows.count(...) counts them there. "
                f"To have the rows, collect them first"
            )
        self._check_once()
        layout = _PERIODS[period] if "period" in keys else None
        return self._read(columns, row="row" in keys, period=layout)

    def count(
        self, *keys: str, mode: str = "auto", max_memory: int | None = None, period: str = "day"
    ) -> Counts:
        """The rows, counted by the values of these columns; this reads them.

        >>> opened = rows({"y": ["a", "b", "a"], "p": [0.9, 0.2, 0.9]}, label="y", score="p")
        >>> opened.count("label", "score").total
        3
        """
        columns = self._chosen(keys)
        layout = _PERIODS[period] if "period" in keys else None
        if self._opened.engine is not None:
            from assay.counts.engines import count_engine

            good, refused, used = self._opened.engine.good(columns, self._optional, layout)
            self._finish(refused, used, role_of(next(iter(columns))).error)
            return count_engine(good, keys, mode=mode, max_memory=max_memory)
        from assay.counts.counter import Counter

        self._check_once()
        counter = Counter(keys, mode=mode, max_memory=max_memory)
        for frame in self._read(columns, period=layout, texts_only=False):
            counter.add(frame)
        return counter.finish()

    def _chosen(self, keys: Sequence[str]) -> dict[str, str]:
        """The columns that the keys need, with the counts and weights of rows."""
        if not (keys or self.columns):
            raise InputError(self._opened.unclear)
        if not keys:
            return self.columns
        wanted = {name for key in keys for name in self._columns_of(key)} - {"row"}
        missing = sorted(name for name in wanted if name not in self.columns)
        if missing:
            role = missing[0].partition(":")[0]
            unclear = self._opened.unclear if role in _SEARCHED else ""
            raise InputError(
                unclear
                or f"no column of {self.name} is given as {missing[0]!r}; these are: "
                f"{', '.join(self.columns)}. Say {ARGUMENTS.get(role, role)}= in rows(...)"
            )
        wanted |= set(_COUNTED)
        return {name: column for name, column in self.columns.items() if name in wanted}

    def _columns_of(self, key: str) -> list[str]:
        """The columns that are needed to count by a key."""
        if key == "probability":
            classes = [name for name in self.columns if name.startswith("probability:")]
            return [*(classes or ["probability"]), "label"]
        return ["score"] if key.startswith("score>=") else [{"period": "time"}.get(key, key)]

    def _read(
        self,
        columns: Mapping[str, str],
        *,
        row: bool = False,
        period: str | None = None,
        texts_only: bool = True,
    ) -> Iterator[pl.DataFrame]:
        import polars as pl

        refused, used, labels = Refused(), 0, LabelHash()
        self._refused, self._source = refused, None
        error: type[InputError] | None = None
        own = list(dict.fromkeys(columns.values()))
        for table in self._opened.tables:
            for batch in table.read(own):
                for broken in batch.broken:
                    error = error or InputError
                    refused.add(broken.reason, 1, [Place(table.name, broken.row, broken.line)])
                good, failures = check(
                    batch.frame,
                    columns,
                    self._opened.expressions,
                    self._optional,
                    texts_only=texts_only,
                )
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
                    good = good.with_columns(period=pl.col("time").dt.strftime(period))
                yield good
        digests = [t.digest() or InputDigest(t.name, None, None) for t in self._opened.tables]
        self._finish(refused, used, error, digests, labels if "label" in columns else None)

    def _check_once(self) -> None:
        if self._refused is not None and any(table.once for table in self._opened.tables):
            raise InputError(
                f"{self.name} can be read once, and was: count it once with all columns that are "
                f"needed, or save its rows to a file first"
            )

    def _finish(
        self,
        refused: Refused,
        used: int,
        error: type[InputError] | None,
        digests: Sequence[InputDigest] = (),
        labels: LabelHash | None = None,
    ) -> None:
        """Keep what became of the rows; where bad rows stop, raise."""
        self._refused = refused
        if refused.rows and not self._skip:
            raise (error or InputError)(
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
            tuple(digests),
            labels.digest() if labels is not None else None,
        )


NAN_NOTE = " (or nan: pandas on NumPy can't tell them apart)"


class LabelHash:
    """The digest of labels in their order, however they come in batches.

    Labels are numbered in order of appearance; the numbers are hashed, and then the names.
    """

    def __init__(self) -> None:
        import numpy as np

        from assay.counts.names import Names

        self._digest = hashlib.sha256()
        self._names = Names()
        self._numbers = np.zeros(0, np.uint32)  # by the code of a name
        self._codes: list[int] = []  # in order of appearance

    def add(self, labels: pl.Series) -> None:
        """The next labels."""
        import numpy as np

        codes = self._names.codes(labels)
        more = np.full(len(self._names) - len(self._numbers), _UNKNOWN, np.uint32)
        self._numbers = np.append(self._numbers, more)
        if len(more):
            new, first = np.unique(codes, return_index=True)
            for code in new[np.argsort(first)].tolist():
                if self._numbers[code] == _UNKNOWN:
                    self._numbers[code] = len(self._codes)
                    self._codes.append(code)
        self._digest.update(self._numbers[codes].astype("<u4", copy=False).tobytes())

    def digest(self) -> str:
        """The digest of all labels so far."""
        names, places = self._names.sorted()
        whole = self._digest.copy()
        whole.update("\0".join(names[places[code]] or "" for code in self._codes).encode())
        return whole.hexdigest()


_UNKNOWN = 2**32 - 1
