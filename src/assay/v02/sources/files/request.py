"""What is asked of files, and what comes of it: rows, pieces of tables, and those refused.

Reading stays within a limit of memory.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, ScoreError
from assay.v02.escaping import given_text, plural
from assay.v02.number_text import byte_size
from assay.v02.sources.row_checks import Place, Problem
from assay.v02.sources.validation import LISTED, bad_rows, first_bad, reasons_of

if TYPE_CHECKING:
    import polars as pl

# How many bytes were read, and how many there are (None where nobody knows).
Progress: TypeAlias = Callable[[int, int | None], None]


def silent(done: int, total: int | None) -> None:
    """Progress that nobody sees."""


@dataclass(frozen=True)
class Request:
    """Which columns to read, and how to read them.

    A column that is not named is recognised by its name where it is well known. ``probabilities``
    maps a label to its column; ``probability_pattern`` such as ``p_*`` names them all at once, the
    label being what the star stands for. ``models`` are columns of what several models said of the
    same rows, each scores or decisions; one written ``FILE:COL`` is in another file, unless there
    is a column of that very name. ``id`` names the rows. ``label_if_there`` allows a file without
    labels. ``by_threshold`` says that scores are to be decided by a
    threshold, so that no column of decisions is looked for beside them. ``decimal`` is the sign
    before the fractions of numbers in delimited text, and ``header`` tells whether its first line
    names the columns; without one they are column_1, column_2 and so on. ``quote`` is the sign
    around fields, or ``none``; ``skip_lines`` of each text stand before its header and are left
    out. ``sheet`` is the sheet of a workbook that is meant. ``batch_rows`` and
    ``chunk_bytes`` (of text) are how much is looked at in one go; they change nothing in the
    result.
    """

    label: str | None = None
    score: str | None = None
    decision: str | None = None
    probabilities: Mapping[str, str] = field(default_factory=dict)
    probability_pattern: str | None = None
    slices: tuple[str, ...] = ()
    family: str | None = None
    time: str | None = None
    count: str | None = None
    weight: str | None = None
    cluster: str | None = None
    strata: str | None = None
    incident: str | None = None
    models: tuple[str, ...] | None = None
    id: str | None = None
    label_if_there: bool = False
    input_format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str = "."
    header: bool = True
    quote: str = '"'
    skip_lines: int = 0
    sheet: str | None = None
    on_bad_row: Literal["stop", "skip"] = "stop"
    unlabelled: bool = False
    by_threshold: bool = False
    glob: bool = False
    max_memory: int | None = None
    batch_rows: int = 1 << 20
    chunk_bytes: int = 1 << 22


def request_of(given: Any) -> Request:
    """The request that was given, or one that recognises every column by its name."""
    if given is not None and not isinstance(given, Request):
        raise InputError(
            f"request= is an object that names columns, such as assay.Request(label='y', "
            f"score='p'); found {given_text(given)}"
        )
    return given or Request()


# What tells which column is which; all else tells how files are read.
_COLUMNS = (
    *("label", "score", "decision", "probabilities", "probability_pattern", "slices", "family"),
    *("time", "count", "weight", "cluster", "strata", "incident", "models", "id"),
)


def must_read(what: str, request: Request, *columns: str) -> None:
    """Refuse a request that names columns which ``what`` does not read: it reads these alone.

    >>> must_read("a monitor", Request(time="t", weight="w"), "time")
    Traceback (most recent call last):
    assay.errors.InputError: request= names weight='w', which a monitor does not read: leave it out
    """
    for name in _COLUMNS:
        column = getattr(request, name)
        if column and name not in columns:
            raise InputError(
                f"request= names {name}={column!r}, which {what} does not read: leave it out"
            )


@dataclass(frozen=True)
class Refused:
    """A row that was left out: its number in the file, counted from 1, and why."""

    row: int
    reason: str
    file: str = ""
    line: int | None = None


class RefusedRow(TypedDict, total=False):
    """The same as a result tells it."""

    row: int
    reason: str
    file: str | None
    line: int | None


def refused_row(refused: Refused) -> RefusedRow:
    """A refused row as a result tells it."""
    return {
        "row": refused.row,
        "reason": refused.reason,
        "file": refused.file,
        "line": refused.line,
    }


class RowSource(TypedDict, total=False):
    """Where the rows of a result came from, how many were used, and which were refused.

    ``reasons`` counts the refused rows of a database, ``chosen`` are the columns that were read,
    ``files`` those of other models, ``baseline`` that of the old one. ``labels_sha256`` is the
    digest of the labels in their order.
    """

    name: str
    rows_read: int
    rows_used: int
    rows_refused: int
    refused: list[RefusedRow]
    reasons: Mapping[str, int]
    chosen: Mapping[str, str]
    positives: float
    negatives: float
    files: list[str]
    labels_sha256: str | None
    baseline: str | None


@dataclass(frozen=True)
class InputDigest:
    """What was read: of a file its size and the SHA-256 of its bytes."""

    name: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True)
class Rows:
    """What was read: columns by the names of :func:`assay.evaluate`, and how they came about.

    ``columns`` holds the labelled rows. ``unlabelled`` holds what the model said (``y_score``,
    ``y_pred`` or ``y_proba``) and the ``counts`` of rows without a label, where those are allowed.
    ``chosen`` maps a role such as ``label`` to its column; ``refused`` lists the first hundred of
    ``rows_refused``. ``family`` is the slice that is the kind of attack, ``time`` the column of
    moments, of which the days are kept as ``times``. Where several models were asked for,
    ``columns`` also has ``models``, the ``rows`` (counted from 1, over all files) and the ``ids``;
    ``doubtful`` lists, for each model's column, the first rows whose value is no finite number.
    ``labels_sha256`` is the digest of the labels in their order.
    """

    name: str
    columns: Mapping[str, Any]
    rows_read: int
    rows_refused: int = 0
    refused: tuple[Refused, ...] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unlabelled: Mapping[str, Any] | None = None
    family: str | None = None
    time: str | None = None
    doubtful: Mapping[str, tuple[Refused, ...]] = field(default_factory=dict)
    labels_sha256: str | None = None

    @property
    def source(self) -> dict[str, Any]:
        """Where the rows came from, and how many were used."""
        return {
            "name": self.name,
            "rows_read": self.rows_read,
            "rows_refused": self.rows_refused,
            "refused": [asdict(refused) for refused in self.refused],
            "chosen": dict(self.chosen),
            "labels_sha256": self.labels_sha256,
        }


# -- tables that come in pieces: the one shape that every format is read into ----------------------

_BETWEEN_TICKS = 0.064


@dataclass(frozen=True)
class BrokenRecord:
    """A record that is no row: its number and line, and what is wrong with it."""

    row: int
    line: int
    reason: str


@dataclass(frozen=True)
class Piece:
    """Some rows of a table, in order.

    ``rows`` holds the number of each row of ``frame`` in its file, counted from 1; ``line`` gives
    the line of its i-th row, where the file has lines.
    """

    frame: pl.DataFrame
    rows: Sequence[int]
    line: Callable[[int], int] | None = None
    broken: Sequence[BrokenRecord] = ()


@dataclass(frozen=True)
class OpenedTable:
    """One input, opened: its columns, and a way to read some of them in pieces.

    ``rows`` and ``narrow`` (the columns of 32 bit numbers) are known where the format tells them
    beforehand; ``at_once`` gives the bytes that reading takes besides the result. ``hint`` goes
    into the message about a column that is not there.
    """

    name: str
    columns: tuple[str, ...]
    pieces: Callable[[Sequence[str]], Iterator[Piece]] = lambda columns: iter(())  # noqa: ARG005
    rows: int | None = None
    narrow: frozenset[str] = frozenset()
    at_once: Callable[[Sequence[str]], int] = lambda columns: 0  # noqa: ARG005
    hint: str = ""
    notes: tuple[str, ...] = ()


def none_left(rows: int) -> str:
    """That every row was refused."""
    return plural(rows, "the only row was refused", f"all {rows:,} rows were refused, none is left")


class Meter:
    """Tells how many bytes were read, but not too often."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._last = time.monotonic()

    def add(self, read: int) -> None:
        """Count further bytes."""
        self._done += read
        now = time.monotonic()
        if now - self._last >= _BETWEEN_TICKS:
            self._last = now
            self._progress(self._done, self._total)

    def done(self) -> None:
        """Tell that all is read."""
        self._progress(self._done if self._total is None else self._total, self._total)


# -- rows that can't be used -----------------------------------------------------------------------

BROKEN = "record: no row"
# What can be done about a bad row; where rows can't be skipped, they are taken out beforehand.
TAKE_OUT = "Correct the row, or take it out"
ADVICE = "Correct the row, or leave such rows out with on_bad_row='skip'"


class BadRows:
    """What was left out so far; ``stops`` where the first bad row ends everything.

    ``advice`` is what to do about such a row then.
    """

    def __init__(self, *, stops: bool, advice: str = ADVICE) -> None:
        self.stops = stops
        self._advice = advice
        self.rows_refused = 0
        self.reasons: dict[str, int] = {}
        self.refused: list[Refused] = []

    def judge(
        self,
        piece: Piece,
        name: str,
        problems: Sequence[Problem],
        repeats: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.bool_]:
        """Which rows of a piece are bad; raises what has to stop everything.

        ``repeats`` tells how many rows each stands for.
        """
        rows, every = piece.frame.height, list(problems)
        bad = bad_rows(every, rows)
        fatal = [problem for problem in every if problem.fatal and problem.rows.any()]
        ends = min((int(problem.rows.argmax()) for problem in fatal), default=None)
        listed = self._listed(piece, name, every, bad)
        if self.stops and listed:
            at, broken, error = listed[0]
            if ends is None or at.row <= piece.rows[ends]:
                text = f"found {at.reason}" if broken else at.reason
                raise error(f"{where(at)}: {text}. {self._advice}")
        if ends is not None:
            chosen = next(problem for problem in fatal if problem.rows[ends])
            raise chosen.error(f"{place_in(piece, name)(ends)}: {chosen.why(ends)}")
        if piece.broken:
            self._count(BROKEN, len(piece.broken))
        for reason, amount in reasons_of(every, rows, repeats).items():
            self._count(reason, amount)
        self.refused += [at for at, _, _ in listed][: LISTED - len(self.refused)]
        return bad

    def _count(self, reason: str, rows: int) -> None:
        self.reasons[reason] = self.reasons.get(reason, 0) + rows
        self.rows_refused += rows

    def _listed(
        self, piece: Piece, name: str, problems: Sequence[Problem], bad: npt.NDArray[np.bool_]
    ) -> list[tuple[Refused, bool, type[InputError]]]:
        """The first bad rows of a piece in order, as many as are still listed."""
        room = 1 if self.stops else LISTED - len(self.refused)
        listed: list[tuple[Refused, bool, type[InputError]]] = [
            (Refused(at.row, at.reason, name, at.line), True, InputError)
            for at in piece.broken[:room]
        ]
        for i, problem in first_bad(problems, bad, room):
            line = None if piece.line is None else piece.line(i)
            at = Refused(int(piece.rows[i]), problem.why(i), name, line)
            listed.append((at, False, problem.error))
        return sorted(listed, key=lambda one: one[0].row)


def place_in(piece: Piece, name: str) -> Place:
    """Where the i-th row of a piece stands, in words."""

    def place(i: int) -> str:
        line = None if piece.line is None else piece.line(i)
        return where(Refused(int(piece.rows[i]), "", name, line))

    return place


def where(at: Refused) -> str:
    """The place of a row, in words."""
    return f"{at.file}, row {at.row}" if at.line is None else f"{at.file}, line {at.line}"


def must_be_a_number(at: Refused) -> ScoreError:
    """The error for a row of scores that holds none."""
    return ScoreError(f"{where(at)}: {at.reason}. {ADVICE}")


# -- memory ----------------------------------------------------------------------------------------

# Counting sorts and tallies what was read: about three times the columns in all.
_FACTOR = 3
_WITHOUT_ANSWER = 4 << 30
# Rows are read ahead, checked and coded: some 100 bytes each, for which a small part is enough.
_A_ROW_AT_ONCE = 1 << 12
_FEWEST_AT_ONCE = 1 << 12
_SMALLEST_LIMIT = 1 << 24
_BETWEEN_LOOKS = 0.02
_STATM = Path("/proc/self/statm")
# What the process as a whole may take, where that is watched.
_WATCHED: ContextVar[int | None] = ContextVar("watched", default=None)


def default_limit() -> int:
    """Half of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return _WITHOUT_ANSWER


def must_be_enough(max_memory: Any) -> None:
    """Refuse a limit that no rows could be counted in; None is no limit."""
    if max_memory is None:
        return
    if not isinstance(max_memory, int | np.integer) or isinstance(max_memory, bool):
        raise InputError(f"max_memory= is a number of bytes; found {max_memory!r}")
    if max_memory < _SMALLEST_LIMIT:
        raise InputError(
            f"max_memory= must be {_SMALLEST_LIMIT >> 20} MiB at least; found {max_memory:,} bytes"
        )


class Budget:
    """The bytes that may be used, and refusals of what would not fit."""

    def __init__(self, limit: int | None) -> None:
        self.limit = default_limit() if limit is None else limit

    def rows_at_once(self, most: int) -> int:
        """How many rows are read at once: ``most``, or fewer where little memory is allowed."""
        return min(most, max(self.limit // _A_ROW_AT_ONCE, _FEWEST_AT_ONCE))

    def must_hold(self, columns: int, at_once: int = 0, *, name: str) -> None:
        """Refuse columns that could not be counted, or that could not even be read."""
        need = max(_FACTOR * columns, columns + at_once)
        if need > self.limit:
            raise InputError(
                f"{name} needs about {byte_size(need)} of memory, and {byte_size(self.limit)} are "
                f"allowed. Raise max_memory=, or read fewer columns or rows"
            )


def used() -> int:
    """The memory of this process that is not a file's, 0 where that can't be told."""
    try:
        _, resident, shared, *_ = map(int, _STATM.read_bytes().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def room() -> int | None:
    """How many bytes this process may take yet; None where nobody watches its memory."""
    limit = _WATCHED.get()
    return None if limit is None else limit - used()


@contextlib.contextmanager
def memory_limit(limit: int, on_exceeded: Callable[[int], None]) -> Iterator[None]:
    """Look at this process's memory from time to time; above the limit, call ``on_exceeded`` once.

    It is called with the bytes in use, in a thread of its own, while other code goes on: the last
    resort against files that lie about their size. :func:`room` tells what is left meanwhile.
    """
    done = threading.Event()
    watched = _WATCHED.set(limit)

    def watch() -> None:
        while not done.wait(_BETWEEN_LOOKS):
            now = used()
            if now > limit:
                on_exceeded(now)
                return

    watcher = threading.Thread(target=watch, name="memory limit", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        _WATCHED.reset(watched)
