"""CSV, TSV and the like: scanned for structure, then parsed by polars as text."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.sources.files.formats import TSV, Window, guarded
from assay.sources.files.request import BrokenRecord, OpenedTable, Piece

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 100_000
# The columns of text without a header are called so, with their numbers.
NUMBERED = "column_"
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_WITH_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?\s*%?\s*)$"
_OTHER_DELIMITERS = {";": "';'", "\t": "'\\t'", "|": "'|'", ",": "','", " ": "' '"}


def delimited(
    chunks: Iterator[bytes],
    name: str,
    format_: str,
    delimiter: str | None,
    *,
    decimal: str = ".",
    header: bool = True,
) -> OpenedTable:
    """Open delimited text whose first record names the columns, unless it has no header."""
    sign = _checked(delimiter or ("\t" if format_ == TSV else ","))
    if decimal not in (".", ","):
        raise InputError(f"decimal= is '.' or ','; found {decimal!r}")
    window = Window(chunks)
    end, first = _first(window, sign, name)
    line = 1
    notes: tuple[str, ...] = ()
    if header:
        names = _checked_names(first, name)
        line += window.text.count(b"\n", 0, end) or 1
        window.drop(end)
    else:
        names = [f"{NUMBERED}{i + 1}" for i in range(len(first))]
    unnamed = [end for end, at in (("first", 0), ("last", -1)) if not names[at]]
    if unnamed:
        notes = (f"the {' and the '.join(unnamed)} column of {name} has no name and is not used",)
    text = _Text(name, sign, tuple(names), decimal)
    return OpenedTable(
        name,
        text.header,
        lambda columns: text.pieces(window, columns, line),
        hint=_hint(first) if header else "",
        notes=notes,
    )


def _hint(header: Sequence[str]) -> str:
    """What may be meant, where the names of the columns are none."""
    if len(header) == 1 and header[0].startswith("#"):
        return "Its first line is a comment: remove what stands above the names of the columns"
    if header[0].lstrip().startswith("|"):
        return "It looks like a table in Markdown: write it with commas, and without the bars"
    others = [shown for other, shown in _OTHER_DELIMITERS.items() if other in header[0]]
    if len(header) == 1 and others:
        return f"Its header is one field, {header[0]!r}: perhaps delimiter={others[0]} is meant"
    values = [cell for cell in header if _NUMBER.fullmatch(cell)]
    if not values:
        return ""
    scores = [i for i, cell in enumerate(header) if _NUMBER.fullmatch(cell) and "." in cell]
    score = scores[0] if scores else len(header) - 1
    label = next((i for i in range(len(header)) if i != score), score)
    return (
        f"Its first line looks like values, not names: perhaps header=False is meant, with "
        f"label='{NUMBERED}{label + 1}' and score='{NUMBERED}{score + 1}'"
    )


def _checked(delimiter: str) -> bytes:
    sign = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n\0':
        raise InputError(
            f"delimiter= is one ASCII character, no quote and no line end; found {delimiter!r}"
        )
    return sign.encode()


def _first(window: Window, sign: bytes, name: str) -> tuple[int, list[str]]:
    """Where the first record ends, and its fields."""
    end, reason = None, None
    while end is None:
        window.extend()
        if window.final and not window.text:
            raise EmptyInput(f"{name} is empty; a header and rows were expected")
        end, reason = first_end(window.text, sign, final=window.final)
        if reason == LONE_CR:
            raise InputError(
                f"{name}, line 1: a carriage return that no line feed follows. If its lines end "
                f"with CR alone, write them anew with LF"
            )
        if reason is not None or (end is None and len(window.text) > LONGEST):
            raise InputError(f"{name}, line 1: the header has {reason or TOO_LONG}")
    text = window.text[:end]
    if b"\0" in text:
        raise InputError(
            f"{name}, line 1: the header has a NUL byte. If the text is UTF-16, say encoding= "
            f"utf-16-le or utf-16-be"
        )
    if not text.strip(b"\r\n"):
        raise InputError(f"{name}, line 1: found {BLANK}, expected a header")
    if text.count(sign) >= _MOST_COLUMNS:
        raise InputError(f"{name}, line 1: the header has more than {_MOST_COLUMNS:,} fields")
    return end, _fields(text, sign, name)


def _fields(text: bytes, sign: bytes, name: str) -> list[str]:
    reader = csv.reader(
        io.StringIO(text.decode(), newline=""), delimiter=sign.decode(), strict=True
    )
    try:
        return next(reader)
    except csv.Error as odd:
        raise InputError(f"{name}, line 1: the header can't be read: {odd}") from odd


def _checked_names(header: list[str], name: str) -> list[str]:
    twice = [column for column, times in Counter(header).items() if times > 1 and column]
    if twice:
        places = ", ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise InputError(
            f"{name}, line 1: the header has {twice[0]!r} more than once, as columns {places}. "
            f"Rename one of them{_or_none(header)}"
        )
    # An unnamed first column is pandas' index, an unnamed last one a delimiter that ends each line.
    empty = [i + 1 for i, column in enumerate(header[:-1]) if not column and i > 0]
    if empty or not any(header):
        raise InputError(
            f"{name}, line 1: column {(empty or [1])[0]} has no name. Name it{_or_none(header)}"
        )
    return header


def _or_none(header: Sequence[str]) -> str:
    hint = _hint(header)
    return f". {hint}" if hint else ""


@dataclass(frozen=True)
class _Text:
    """Delimited text behind its header."""

    name: str
    sign: bytes
    header: tuple[str, ...]
    decimal: str = "."

    def pieces(self, window: Window, columns: Sequence[str], line: int) -> Iterator[Piece]:
        """The records that follow, the first of them on a line."""
        row, final = 1, False
        while not final:
            final = window.extend()
            buffer = window.text
            records = scan(buffer, self.sign, len(self.header), final=final)
            self._must_be_short(buffer, records, line, final=final)
            if len(records.ends):
                yield self._piece(buffer, records, columns, row, line)
            row += len(records.ends)
            line += buffer.count(b"\n", 0, records.used)
            window.drop(records.used)

    def _must_be_short(self, buffer: bytes, records: Records, line: int, *, final: bool) -> None:
        long = [int(records.starts[i]) for i, why in records.broken.items() if why == TOO_LONG]
        if not final and len(buffer) - records.used > LONGEST:
            long.append(records.used)
        if long:
            at = line + buffer.count(b"\n", 0, min(long))
            raise InputError(f"{self.name}, line {at}: {TOO_LONG}. Is this the right file?")

    def _piece(
        self, buffer: bytes, records: Records, columns: Sequence[str], row: int, line: int
    ) -> Piece:
        good = np.ones(len(records.ends), bool)
        good[list(records.broken)] = False
        starts = records.starts[good]
        rows: Any = range(row, row + len(starts))
        broken: list[BrokenRecord] = []
        data = buffer[: records.used]
        if records.broken:
            rows = np.flatnonzero(good) + row
            breaks = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
            for i, reason in sorted(records.broken.items()):
                before = int(np.searchsorted(breaks, records.starts[i]))
                broken.append(BrokenRecord(row + i, line + before, reason))
            data = _joined(buffer, records, good)
        frame = self._parsed(data, len(starts), columns, line)

        def line_of(i: int) -> int:
            return line + buffer.count(b"\n", 0, int(starts[i]))

        return Piece(frame, rows, line_of, broken)

    def _parsed(self, data: bytes, rows: int, columns: Sequence[str], line: int) -> pl.DataFrame:
        import polars as pl

        if not rows:
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        if data.startswith(codecs.BOM_UTF8):
            # polars drops a mark at the beginning; here it is the beginning of a value.
            data = codecs.BOM_UTF8 + data
        # The names that polars gives where there is no header.
        names = [f"column_{i + 1}" for i in range(len(self.header))]
        position = dict(zip(self.header, names, strict=True))
        chosen = [position[column] for column in columns]
        with guarded(f"{self.name}, from line {line} on"):
            frame = pl.read_csv(
                data,
                has_header=False,
                schema=dict.fromkeys(names, pl.String),
                columns=chosen,
                separator=self.sign.decode(),
            )
        if frame.height != rows:
            raise InputError(
                f"{self.name}, from line {line} on: {rows:,} records were found, but "
                f"{frame.height:,} were parsed. Please report this with the file"
            )
        frame = frame.select(chosen)
        frame.columns = list(columns)
        return frame if self.decimal == "." else frame.with_columns(_with_points(pl.all()))


def _with_points(cells: pl.Expr) -> pl.Expr:
    """Numbers with a comma before their fractions, written with a point."""
    return cells.str.replace(_WITH_COMMA, "${1}.${2}")


def _joined(buffer: bytes, records: Records, good: Any) -> bytes:
    """The well-formed records alone; runs of them are taken together."""
    edges = np.flatnonzero(np.diff(good, prepend=False, append=False))
    runs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return b"".join(buffer[records.starts[a] : records.ends[b]] for a, b in runs)


# -- records: where they begin and end, and which of them are no rows ------------------------------
#
# The bytes are looked at as a whole, with arrays. Only where a quote stands in a wrong place are
# records taken one at a time, since from there on nothing else tells where they end.

Array: TypeAlias = npt.NDArray[Any]

LONGEST = 1 << 24
BLANK = "a blank line"
NUL = "a NUL byte"
LONE_CR = "a carriage return in the middle of a line"
OPEN_QUOTE = "a quote that is never closed"
STRAY_QUOTE = "a quote inside a field that does not begin with one"
AFTER_QUOTE = "text after a closing quote"
TOO_LONG = f"a line longer than {LONGEST >> 20} MiB"
_BLANK_LINES = re.compile(rb"(?:\r?\n)++\Z")
_LF, _CR, _QUOTE = ord("\n"), ord("\r"), ord('"')
_QUOTED = rb'"[^"]*+(?:""[^"]*+)*+"'


@dataclass(frozen=True)
class Records:
    """Records found at the beginning of a buffer.

    ``starts`` and ``ends`` are their places, an end being behind the line end. ``broken`` maps the
    position of a record that is no row to what is wrong with it. ``used`` bytes were taken; the
    rest waits for what follows it.
    """

    starts: Array
    ends: Array
    broken: dict[int, str]
    used: int


def scan(buffer: bytes, delimiter: bytes, fields: int, *, final: bool) -> Records:
    """Find the records of a buffer that begins with a record.

    ``fields`` is how many each has to have. With ``final`` the buffer is all that is left; without
    it, a last record that may go on is left for later.
    """
    # What may be the end of a file is not looked at line by line, each time that more comes.
    buffer = _without_blank_end(buffer)
    data = np.frombuffer(buffer, np.uint8)
    # Only what is there is looked for: most text has no quotes and no carriage returns.
    quoted = b'"' in buffer
    signs = delimiter + b"\n" + (b'"' if quoted else b"") + (b"\r" if b"\r" in buffer else b"")
    marks = np.flatnonzero(_is_one_of(data, signs))
    kinds = data[marks]
    sound = True
    if quoted:
        outside, sound = _outside_quotes(data, marks, kinds, delimiter)
        sound = sound and not (final and _odd(kinds))
        marks, kinds = np.compress(outside, marks), np.compress(outside, kinds)
    ends = np.compress(kinds == _LF, marks) + 1
    if final and len(buffer) and (not len(ends) or ends[-1] < len(buffer)):
        ends = np.append(ends, len(buffer))
    last = int(ends[-1]) if len(ends) else 0
    complete = int(np.searchsorted(marks, last))
    marks, kinds = marks[:complete], kinds[:complete]
    returns = np.compress(kinds == _CR, marks)
    returns = returns[(returns + 1 == last) | (data[np.minimum(returns + 1, last - 1)] != _LF)]
    longest = max(int(np.diff(ends, prepend=0).max(initial=0)), 0 if final else len(buffer) - last)
    if not sound or longest > LONGEST or (quoted and len(returns)):
        return _one_by_one(buffer, delimiter, fields, final=final)
    starts = np.append(0, ends[:-1]) if len(ends) else ends
    broken = wrong_counts(np.compress(kinds == delimiter[0], marks), fields, starts, ends)
    broken |= dict.fromkeys(_blanks(data, starts, ends), BLANK)
    # A NUL inside quotes is no better than one outside.
    nuls = np.flatnonzero(data[:last] == 0) if b"\0" in buffer else np.empty(0, np.int64)
    for reason, places in ((NUL, nuls), (LONE_CR, returns)):
        broken |= dict.fromkeys(np.searchsorted(ends, places, side="right").tolist(), reason)
    return _records(starts, ends, broken, final=final)


def _records(starts: Array, ends: Array, broken: dict[int, str], *, final: bool) -> Records:
    """Blank lines that nothing follows yet are left: at the end of a file they are fine."""
    size = len(ends)
    while not final and size and broken.get(size - 1) == BLANK:
        size -= 1
        del broken[size]
    return Records(starts[:size], ends[:size], broken, int(ends[size - 1]) if size else 0)


def _without_blank_end(buffer: bytes) -> bytes:
    """Blank lines at the very end are no records, or not yet."""
    text = len(buffer.rstrip(b"\r\n"))
    lines = _BLANK_LINES.search(buffer, text)
    if lines is None:
        return buffer
    # The line end of the last record that is none of them belongs to it.
    first = buffer.find(b"\n", lines.start()) + 1
    whole = lines.start() == 0 or buffer[lines.start() - 1] == _LF
    return buffer[: lines.start() if whole else first]


def _is_one_of(data: Array, signs: bytes) -> Array:
    places: Array = data == signs[0]
    for sign in signs[1:]:
        places |= data == sign
    return places


def _odd(kinds: Array) -> bool:
    return bool(np.count_nonzero(kinds == _QUOTE) & 1)


def _outside_quotes(
    data: Array, marks: Array, kinds: Array, delimiter: bytes
) -> tuple[Array, bool]:
    """Which marks stand outside quotes, and whether every quote is in its place."""
    quotes = kinds == _QUOTE
    inside = np.cumsum(quotes, dtype=np.uint8) & 1
    places = np.compress(quotes, marks)
    opening, closing = places[::2], places[1::2]
    before = data[opening[opening > 0] - 1]
    after = data[closing[closing + 1 < len(data)] + 1]
    begins = _is_one_of(before, delimiter + b'\n"')
    goes_on = _is_one_of(after, delimiter + b'\n\r"')
    return ~quotes & (inside == 0), bool(begins.all() and goes_on.all())


def wrong_counts(places: Array, fields: int, starts: Array, ends: Array) -> dict[int, str]:
    """Records with too few or too many fields, told by the places of the delimiters."""
    if len(places) == len(ends) * (fields - 1):
        table = places.reshape(len(ends), fields - 1)
        # Places are sorted: the first and the last of each record tell for those between.
        if fields == 1 or ((table[:, 0] >= starts).all() and (table[:, -1] < ends).all()):
            return {}
    counts = np.diff(np.searchsorted(places, ends), prepend=0) + 1
    wrong = np.flatnonzero(counts != fields)
    reasons = {count: _counted(count, fields) for count in np.unique(counts[wrong]).tolist()}
    return {
        i: reasons[count] for i, count in zip(wrong.tolist(), counts[wrong].tolist(), strict=True)
    }


def _counted(count: int, fields: int) -> str:
    return f"{count} field{'s' if count != 1 else ''} where the header has {fields}"


def _blanks(data: Array, starts: Array, ends: Array) -> list[int]:
    first, size = data[starts], ends - starts
    blanks: list[int] = np.flatnonzero((first == _LF) | ((first == _CR) & (size == 2))).tolist()
    return blanks


# -- one record at a time --------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _well_formed(delimiter: bytes) -> re.Pattern[bytes]:
    """As much of a record as is well formed; it never goes back, so its time is linear."""
    sign = re.escape(delimiter)
    field = rb"(?:" + _QUOTED + rb'|[^"\r\n' + sign + rb"]*+)"
    return re.compile(field + rb"(?:" + sign + field + rb")*+")


def first_end(buffer: bytes, delimiter: bytes, *, final: bool) -> tuple[int | None, str | None]:
    """Where the first record ends (None: more has to be read), and what is wrong with it."""
    match = _well_formed(delimiter).match(buffer)
    stop = 0 if match is None else match.end()
    return _end(buffer, 0, stop, delimiter, final=final)


def _one_by_one(buffer: bytes, delimiter: bytes, fields: int, *, final: bool) -> Records:
    pattern = _well_formed(delimiter)
    starts: list[int] = []
    ends: list[int] = []
    broken: dict[int, str] = {}
    at = 0
    while at < len(buffer):
        match = pattern.match(buffer, at)
        stop = at if match is None else match.end()
        end, reason = _end(buffer, at, stop, delimiter, final=final)
        if end is None:
            break
        reason = reason or _inner_reason(buffer[at:end], delimiter, fields)
        if reason is not None:
            broken[len(ends)] = reason
        starts.append(at)
        ends.append(end)
        at = end
    return _records(np.array(starts, np.int64), np.array(ends, np.int64), broken, final=final)


def _end(
    buffer: bytes, at: int, stop: int, delimiter: bytes, *, final: bool
) -> tuple[int | None, str | None]:
    """Where a record ends that is well formed up to ``stop``, and what is wrong with it.

    No end: more has to be read first. What is broken ends with its first line.
    """
    follows = buffer[stop : stop + 2]
    opens = follows[:1] == b'"' and (stop == at or buffer[stop - 1 : stop] == delimiter)
    if follows[:1] == b"\n" or follows == b"\r\n":
        end: int | None = buffer.index(b"\n", stop) + 1
        reason = None
    elif opens or len(follows) == 0 or (follows == b"\r" and not final):
        if not final and len(buffer) - at <= LONGEST:
            return None, None
        end = len(buffer)
        reason = OPEN_QUOTE if opens or not final else None
    else:
        end = None
        reason = AFTER_QUOTE
        if follows[:1] == b"\r":
            reason = LONE_CR
        elif follows[:1] == b'"':
            reason = STRAY_QUOTE
    if end is not None and end - at > LONGEST:
        reason = OPEN_QUOTE
    if reason is None:
        return end, None
    end = buffer.find(b"\n", at) + 1 or (len(buffer) if final else None)
    return end, TOO_LONG if end is not None and end - at > LONGEST else reason


def _inner_reason(record: bytes, delimiter: bytes, fields: int) -> str | None:
    if b"\0" in record:
        return NUL
    if record in (b"\n", b"\r\n"):
        return BLANK
    bare = re.sub(_QUOTED, b"", record) if b'"' in record else record
    count = bare.count(delimiter) + 1
    return None if count == fields else _counted(count, fields)
