"""Events from the logs of sensors: Suricata, Zeek, Snort, CEF, ECS and JSON lines.

They come in batches of bounded size; here is told which logs are meant, and how they are written.
"""

from __future__ import annotations

import codecs
import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TypeAlias

import numpy as np

from assay.errors import InputError
from assay.v02.escaping import given_text, plural
from assay.v02.sources.files.delimited import LONGEST, TOO_LONG
from assay.v02.sources.files.formats import (
    HEAD,
    PACKINGS,
    CutOff,
    Window,
    begun,
    by_content,
    must_be_narrow,
    unpacked,
)
from assay.v02.sources.files.inputs import (
    STDIN,
    STDIN_NAME,
    Name,
    left_out,
    missing,
    name_of,
    shown,
    shown_lead,
    standard_input,
    without_query,
)
from assay.v02.sources.files.request import BadRows, Meter, Piece, Progress, Refused, silent
from assay.v02.sources.log_json import JsonLines
from assay.v02.sources.log_moments import Clock, EventTimes, NewYear
from assay.v02.sources.log_text import (
    COLUMNS,
    DST_IP,
    FILE,
    HOST,
    KIND,
    LINE,
    PORTS,
    RULE,
    RULE_GENERATOR,
    RULE_ID,
    RULE_MESSAGE,
    RULE_NAME,
    SRC_IP,
    TIME,
    CefLines,
    FastLines,
    ZeekText,
    field_column,
)
from assay.v02.sources.row_checks import Problem, value_shown
from assay.v02.sources.validation import skips

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Clock", "EventTimes", "Events", "read_events"]

# Whole lines, the row and the line of the first, to their records.
Reader: TypeAlias = Callable[[bytes, int, int], Iterator[Piece]]

BATCH_ROWS = 1 << 16
_CHUNK_BYTES = 1 << 22
_PEEKED = 1 << 18
_LAST_PORT = 65_535
_CUT = (
    "the last line, after which no line end comes: the log was cut there or is still being "
    "written, so copy it again once it is complete. It holds"
)


class Events(Iterator["pl.DataFrame"]):
    """The events of logs, batch by batch; how they came about is told as far as they are read.

    Files are read in the order of the first time in each. ``rows_read`` counts the records so far,
    ``rows_refused`` those that were left out, of which ``refused`` lists the first hundred and
    ``reasons`` counts why; ``notes`` says what else there is to know.
    """

    def __init__(
        self,
        paths: Sequence[Name],
        *,
        fields: Sequence[str] = (),
        timezone: str | dt.tzinfo | None = None,
        year: int | None = None,
        time: str | None = None,
        on_bad_row: Literal["stop", "skip"] = "stop",
        batch_rows: int = BATCH_ROWS,
        chunk_bytes: int = _CHUNK_BYTES,
        progress: Progress = silent,
        stdin: BinaryIO | None = None,
    ) -> None:
        self._fields = tuple(dict.fromkeys(field for field in fields if field not in COLUMNS))
        self._clock = Clock(timezone, year)
        self._new_year = NewYear(self._clock)
        self._time = time
        self._bad = BadRows(stops=not skips(on_bad_row))
        self._batch_rows, self._chunk_bytes = batch_rows, chunk_bytes
        self._stdin = stdin
        self.rows_read = 0
        self.notes: list[str] = []
        self.logs = self._in_order(logs_of(paths, self.notes))
        sizes = [log.path.stat().st_size for log in self.logs if log.path is not None]
        self._meter = Meter(progress, sum(sizes) if len(sizes) == len(self.logs) else None)
        self._batches = self._gathered()

    def __next__(self) -> pl.DataFrame:
        return next(self._batches)

    @property
    def rows_refused(self) -> int:
        """How many records were left out."""
        return self._bad.rows_refused

    @property
    def refused(self) -> list[Refused]:
        """The first of them."""
        return self._bad.refused

    @property
    def reasons(self) -> dict[str, int]:
        """How many were left out, by the reason."""
        return dict(sorted(self._bad.reasons.items()))

    # -- files -------------------------------------------------------------------------------------

    def _in_order(self, logs: list[Log]) -> list[Log]:
        if len(logs) == 1:
            return logs
        if any(log.path is None for log in logs):
            raise InputError(
                "standard input goes with no other log, since it can't be put in order"
            )
        times = {log: self._first_time(log) for log in logs}
        ordered = sorted(logs, key=lambda log: (times[log] is None, times[log] or 0))
        names = ", ".join(log.name for log in ordered)
        self.notes.append(f"the logs were read in the order of the first time in each: {names}")
        return ordered

    def _first_time(self, log: Log) -> int | None:
        for piece in self._pieces(log, _PEEKED):
            first = self._clock.read(piece.frame[TIME]).micros.drop_nulls()
            if len(first):
                return int(first[0])
        return None

    def _pieces(self, log: Log, chunk_bytes: int, *, told: bool = False) -> Iterator[Piece]:
        """The records of a log as text."""
        head, chunks = begun(self._text(log, chunk_bytes, told=told))
        reader = self._reader(log, format_of(head, log.name)) if head.strip() else None
        window = Window(chunks)
        row = line = 1
        while True:
            text, used = window.whole_lines()
            if len(window.text) - used > LONGEST or _longest(text) > LONGEST:
                raise InputError(f"{log.name}, line {_long(window.text, line)}: {TOO_LONG}")
            if text.strip():
                reader = reader or self._reader(log, format_of(text, log.name))
                cut = window.final and not window.text.endswith(b"\n")
                last = line + text.count(b"\n") if cut else None
                for piece in reader(text, row, line):
                    row += len(piece.rows) + len(piece.broken)
                    yield self._cut_off(piece, last, log) if cut and told else piece
                line += window.text.count(b"\n", 0, used)
            window.drop(used)
            if window.final:
                break
            window.extend()
        if row == 1 and told:
            self.notes.append(f"{log.name} {'is empty' if reader is None else 'holds no events'}")

    def _text(self, log: Log, chunk_bytes: int, *, told: bool) -> Iterator[bytes]:
        try:
            yield from text_chunks(
                log, chunk_bytes, self._stdin, self._meter.add if told else lambda _: None
            )
        except CutOff as error:
            if self._bad.stops:
                raise
            if told:
                self.notes.append(f"{error}; what comes before was read")

    def _reader(self, log: Log, format_: str) -> Reader:
        if format_ == ZEEK:
            return ZeekText(log.name, self._fields, self._time).pieces
        lines: JsonLines | FastLines | CefLines = JsonLines(self._fields, self._time, log.kind)
        if format_ == FAST:
            lines = FastLines(self._fields)
        elif format_ == CEF:
            lines = CefLines(self._fields, self._time)

        def pieces(text: bytes, row: int, line: int) -> Iterator[Piece]:
            yield lines.piece(text, row, line)

        return pieces

    def _cut_off(self, piece: Piece, last: int | None, log: Log) -> Piece:
        """A piece in which a last line that was cut off is said to be one."""
        if piece.broken and piece.broken[-1].line == last:
            *others, cut = piece.broken
            return replace(piece, broken=[*others, replace(cut, reason=f"{_CUT} {cut.reason}")])
        if len(piece.rows) and piece.line and piece.line(len(piece.rows) - 1) == last:
            self.notes.append(
                f"{log.name}, line {last}: no line end follows the last line; it was read as it "
                f"stands"
            )
        return piece

    # -- batches -----------------------------------------------------------------------------------

    def _gathered(self) -> Iterator[pl.DataFrame]:
        import polars as pl

        frames: list[pl.DataFrame] = []
        size = 0
        for log in self.logs:
            for piece in self._pieces(log, self._chunk_bytes, told=True):
                frame = self._checked(piece, log.name)
                frames.append(frame)
                size += frame.height
                if size >= self._batch_rows:
                    every = pl.concat(frames)
                    full_batches = size - size % self._batch_rows
                    for start in range(0, full_batches, self._batch_rows):
                        yield self._typed(every[start : start + self._batch_rows])
                    frames, size = [every[full_batches:]], size - full_batches
        self._meter.done()
        if size:
            yield self._typed(pl.concat(frames))

    def _checked(self, piece: Piece, name: str) -> pl.DataFrame:
        """The good events of a piece; what was asked for besides is still text."""
        import polars as pl

        frame = piece.frame
        self.rows_read += frame.height + len(piece.broken)
        moments = self._clock.read(frame[TIME])
        problems = [*moments.problems, *self._new_year.problems(frame[TIME], moments.micros)]
        ports = {port: _port(frame[port], problems) for port in PORTS}
        bad = self._bad.judge(piece, name, problems)
        offset = 0 if piece.line is None or not frame.height else piece.line(0) - piece.rows[0]
        made = frame.select(
            moments.micros.alias(TIME),
            KIND,
            *(_nonempty(column) for column in (SRC_IP, DST_IP)),
            *(ports[port].alias(port) for port in PORTS),
            _nonempty(HOST),
            _rule(frame).alias(RULE),
            pl.Series(LINE, np.asarray(piece.rows, np.int64) + offset),
            pl.lit(name).alias(FILE),
            *(pl.col(field_column(field)).alias(field) for field in self._fields),
        )
        return made.filter(~bad) if bad.any() else made

    def _typed(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(_number(frame[field]) for field in self._fields)


def read_events(
    paths: Sequence[Name],
    *,
    fields: Sequence[str] = (),
    timezone: str | dt.tzinfo | None = None,
    year: int | None = None,
    time: str | None = None,
    on_bad_row: Literal["stop", "skip"] = "stop",
    progress: Progress = silent,
    stdin: BinaryIO | None = None,
) -> Events:
    r"""Read the events of logs: Suricata, Zeek, Snort, CEF, ECS, or JSON lines with times.

    Each batch has the columns ``time`` (microseconds since 1970, in UTC), ``kind``, ``src_ip``,
    ``dst_ip``, ``src_port``, ``dst_port``, ``host``, ``rule``, ``line`` and ``file``, null where a
    record has none, and one for each key of ``fields``: numbers where all of the batch are, else
    text. ``time`` names the key of the time where it is another one than usual.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "eve.json")
    ...     _ = path.write_text(
    ...         '{"timestamp": "1970-01-01T00:00:01.5+0000", "src_ip": "10.0.0.7"}\n'
    ...     )
    ...     next(read_events([path])).select("time", "src_ip").rows()
    [(1500000, '10.0.0.7')]
    """
    return Events(
        paths,
        fields=fields,
        timezone=timezone,
        year=year,
        time=time,
        on_bad_row=on_bad_row,
        progress=progress,
        stdin=stdin,
    )


def _longest(text: bytes) -> int:
    return 0 if len(text) <= LONGEST else max(map(len, text.split(b"\n")))


def _long(text: bytes, line: int) -> int:
    return line + next(i for i, one in enumerate(text.split(b"\n")) if len(one) > LONGEST)


def _nonempty(column: str) -> pl.Expr:
    import polars as pl

    return pl.when(pl.col(column) != "").then(pl.col(column)).alias(column)


def _port(values: pl.Series, problems: list[Problem]) -> pl.Series:
    """A column of ports as numbers; what is none is a problem."""
    import polars as pl

    ports = values.cast(pl.Int64, strict=False)
    smallest, largest = ports.min(), ports.max()
    if ports.null_count() == values.null_count() and (
        smallest is None or (smallest >= 0 and largest <= _LAST_PORT)  # type: ignore[operator]
    ):
        return ports
    unread = (ports.is_null() & values.is_not_null() & (values != "")).to_numpy()
    bad = unread | ((ports < 0) | (ports > _LAST_PORT)).fill_null(value=False).to_numpy()
    if bad.any():
        problems.append(
            Problem(
                bad,
                lambda i: (
                    f"{values.name}: found {value_shown(values[i])}, expected a port from 0 "
                    f"to {_LAST_PORT}"
                ),
                kind=f"{values.name}: not a port",
            )
        )
    return ports


def _rule(frame: pl.DataFrame) -> pl.Series:
    """The rule of each alert: the number of its signature, and its name."""
    import polars as pl

    if all(frame[column].null_count() == frame.height for column in (RULE_ID, RULE_NAME)):
        return frame[RULE_ID]
    written, generator = pl.col(RULE_ID), pl.col(RULE_GENERATOR)
    triple = r"^(\d+):(\d+)(?::\d+)?$"
    generator = pl.coalesce(written.str.extract(triple, 1), generator)
    number = pl.coalesce(written.str.extract(triple, 2), written)
    ours = generator.is_null() | (generator == "1")
    number = pl.when(ours).then(number).otherwise(generator + ":" + number)
    name = pl.coalesce(RULE_NAME, pl.when(written.is_not_null()).then(pl.col(RULE_MESSAGE)))
    both = pl.concat_str(number, name.str.strip_chars(' "'), separator=" ", ignore_nulls=True)
    return frame.select(pl.when(both != "").then(both)).to_series()


def _number(values: pl.Series) -> pl.Series:
    import polars as pl

    text = values.to_frame().select(_nonempty(values.name)).to_series()
    numbers = text.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == text.null_count() else values


# -- which logs are meant, and what they are written in --------------------------------------------

JSON, ZEEK, FAST, CEF = "JSON lines", "Zeek's text", "fast.log", "CEF"
_LOOKED_AT = 100
_SHOWN = 60
# eve.json, eve.json.1, eve.json-20261101.gz, conn.2026-11-01-00.log.
_IN_FOLDER = re.compile(
    r"[^._].*\.(log|json|jsonl|ndjson|cef)([.-]\d[\d-]*)?(\.(gz|zst|bz2|xz))?", re.IGNORECASE
)
_ZEEK_KIND = re.compile(r"([a-z]+(?:_[a-z]+)*)(?:[._-].*)?\.log")


@dataclass(frozen=True)
class Log:
    """One file of a log; without a path it is standard input."""

    name: str
    path: Path | None

    @property
    def kind(self) -> str | None:
        """What the records of a log of Zeek are, by its name: ``conn.2026-11-01-00.log``."""
        named = None if self.path is None else _ZEEK_KIND.match(self.path.name)
        return None if named is None else named[1]


def logs_of(paths: Sequence[Name], notes: list[str]) -> list[Log]:
    """The files that are meant; of a folder those whose names look like logs, sorted.

    ``notes`` are told of the others in it.
    """
    if isinstance(paths, str):
        raise InputError(f"paths are a list of files; found one text, {without_query(paths)!r}")
    if not isinstance(paths, Iterable):
        raise InputError(f"paths are a list of files; found {given_text(paths)}")
    logs: list[Log] = []
    for given in map(name_of, paths):
        path = Path(given)
        if given == STDIN:
            logs.append(Log(STDIN_NAME, None))
        elif shown_lead(given) is not None:
            raise missing(path, given)
        elif path.is_dir():
            files = [one for one in sorted(path.iterdir()) if one.is_file()]
            alike = [one for one in files if _IN_FOLDER.fullmatch(one.name)]
            others = [one for one in files if one not in alike and one.name[0] not in "._"]
            documents = [one for one in alike if _is_document(one)]
            inside = [one for one in alike if one not in documents]
            if not inside:
                raise InputError(
                    f"{shown(given)} is a folder without logs: files such as eve.json, conn.log or "
                    f"eve.json.1.gz were expected in it"
                )
            logs += [Log(shown(str(one)), one) for one in inside]
            if others:
                name = plural(len(others), "its name is", "their names are")
                notes.append(f"{left_out(path, others)}, since {name} not as those of logs")
            if documents:
                each = plural(len(documents), "it is", "each is")
                notes.append(f"{left_out(path, documents)}, since {each} one JSON document, no log")
        elif path.exists():
            logs.append(Log(shown(given), path))
        else:
            raise missing(path, given)
    if not logs:
        raise InputError("no log was given: name a file, a folder, or - for standard input")
    places = [None if log.path is None else log.path.resolve() for log in logs]
    for i, place in enumerate(places):
        if place in places[:i]:
            raise InputError(f"{logs[i].name} was given twice; its events would count twice")
    return logs


def _is_document(path: Path) -> bool:
    """Whether a file is one JSON object over several lines, as what tells of logs is."""
    try:
        head, _ = begun(text_chunks(Log(path.name, path), _PEEKED, None, lambda _: None))
    except InputError:
        # Whatever is wrong with it is told where it is read.
        return False
    first, second = [*filter(None, map(bytes.strip, head.split(b"\n"))), b"", b""][:2]
    return first == b"{" and second.startswith(b'"')


def text_chunks(
    log: Log, size: int, stdin: BinaryIO | None, count: Callable[[int], None]
) -> Iterator[bytes]:
    """The bytes of a log, unpacked, in chunks of bounded size; ``count`` gets those of the file."""
    if log.path is None:
        yield from _unpacked(standard_input() if stdin is None else stdin, log.name, size, count)
        return
    try:
        file = log.path.open("rb")
    except OSError as error:
        raise InputError(f"{log.name} can't be opened: {error.strerror}") from error
    with file:
        yield from _unpacked(file, log.name, size, count)


def _unpacked(
    file: BinaryIO, name: str, size: int, count: Callable[[int], None]
) -> Iterator[bytes]:
    head, chunks = begun(_chunks(file, name, size, count))
    packing = by_content(head, name)
    if packing is not None and packing not in PACKINGS:
        raise InputError(f"{name} is a {packing} file, where a log of text was expected")
    if packing is not None:
        chunks = unpacked(chunks, packing, name, size)
    first = True
    for chunk in chunks:
        if first:
            must_be_narrow(chunk[:HEAD], None, name)
        yield chunk.removeprefix(codecs.BOM_UTF8) if first else chunk
        first = False


def _chunks(file: BinaryIO, name: str, size: int, count: Callable[[int], None]) -> Iterator[bytes]:
    while True:
        try:
            chunk = file.read(size)
        except OSError as error:
            raise InputError(f"{name} can't be read: {error.strerror}") from error
        if not chunk:
            return
        count(len(chunk))
        yield chunk


def format_of(text: bytes, name: str) -> str:
    """What a log is written in, by the first of its lines that tells."""
    lines = text.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]
    for line in lines:
        start = line.lstrip()
        if start.startswith(b"{"):
            return JSON
        if start.startswith((b"#separator", b"#fields")):
            return ZEEK
        if b"CEF:" in line:
            return CEF
        if b"[**]" in line:
            return FAST
    first = next((line for line in lines if line.strip()), b"")
    if first.lstrip().startswith(b"["):
        raise InputError(
            f"{name}, line 1: a JSON array, where one object a line is expected. "
            f"jq -c '.[]' makes lines of it"
        )
    begins = first[:_SHOWN].decode(errors="backslashreplace")
    raise InputError(
        f"{name} is no log that is known: it begins with {begins!r}. Expected are Suricata's "
        f"eve.json, logs of Zeek (with their #fields), fast.log, CEF, or one JSON object a line"
    )
