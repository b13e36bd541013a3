"""CSV, TSV and the like: scanned for structure, then parsed by polars as text."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.v02.sources.files.column_roles import NUMBERED, fields_of, header_hint
from assay.v02.sources.files.formats import HEAD, TSV, Window, behind_lines, guarded
from assay.v02.sources.files.request import BrokenRecord, OpenedTable, Piece, Request

if TYPE_CHECKING:
    import polars as pl

_MOST_COLUMNS = 100_000
# What stands for no quotes at all.
NO_QUOTE = "none"
_WITH_COMMA = r"^(\s*[+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?\s*%?\s*)$"


def delimited(chunks: Iterator[bytes], name: str, format_: str, request: Request) -> OpenedTable:
    """Open delimited text whose first record names the columns, unless it has no header."""
    sign = _checked(request.delimiter or ("\t" if format_ == TSV else ","))
    quote = _checked_quote(request.quote, sign)
    if request.decimal not in (".", ","):
        raise InputError(f"decimal= is '.' or ','; found {request.decimal!r}")
    if request.skip_lines < 0:
        raise InputError(f"skip_lines= is a number of lines; found {request.skip_lines}")
    line = request.skip_lines + 1
    window = Window(behind_lines(chunks, request.skip_lines))
    beginning = _beginning(window)
    first: list[str] = []
    try:
        end, first = _first(window, sign, quote, name, line)
        names = [f"{NUMBERED}{i + 1}" for i in range(len(first))]
        if request.header:
            names = _checked_names(first, name, line)
    except EmptyInput:
        raise
    except InputError as odd:
        hint = header_hint(first, beginning, sign, quote, request)
        if not hint:
            raise
        raise InputError(f"{odd}. {hint}") from odd
    hint = ""
    if request.header:
        hint = header_hint(first, beginning, sign, quote, request)
        line += window.text.count(b"\n", 0, end) or 1
        window.drop(end)
    notes: tuple[str, ...] = ()
    unnamed = [end for end, at in (("first", 0), ("last", -1)) if not names[at]]
    if unnamed:
        notes = (f"the {' and the '.join(unnamed)} column of {name} has no name and is not used",)
    text = _Text(name, sign, quote, tuple(names), request.decimal)
    return OpenedTable(
        name,
        text.header,
        lambda columns: text.pieces(window, columns, line),
        hint=hint,
        notes=notes,
    )


def _beginning(window: Window) -> bytes:
    """As many of the first lines as are looked at, however large the chunks are."""
    while not window.final and len(window.text) < HEAD:
        window.extend()
    if window.final and len(window.text) <= HEAD:
        return window.text
    return window.text[: window.text.rfind(b"\n", 0, HEAD) + 1]


def _checked(delimiter: str) -> bytes:
    sign = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(sign) != 1 or not sign.isascii() or sign in '"\r\n\0':
        raise InputError(
            f"delimiter= is one ASCII character, no quote and no line end; found {delimiter!r}"
        )
    return sign.encode()


def _checked_quote(quote: str, sign: bytes) -> bytes:
    """The quote, nothing where there is none."""
    if quote == NO_QUOTE:
        return b""
    if len(quote) != 1 or not quote.isascii() or quote.isalnum() or quote in " \t\r\n\0":
        raise InputError(
            f"quote= is one ASCII sign, no letter, digit, blank or line end, or '{NO_QUOTE}'; "
            f"found {quote!r}"
        )
    if quote.encode() == sign:
        raise InputError(f"quote= and delimiter= are both {quote!r}; they have to differ")
    return quote.encode()


def _first(
    window: Window, sign: bytes, quote: bytes, name: str, line: int
) -> tuple[int, list[str]]:
    """Where the first record ends, and its fields."""
    if window.final and not window.text:
        if line > 1:
            raise EmptyInput(
                f"{name} ends within the lines that skip_lines={line - 1} leaves out; a header and "
                f"rows were expected behind them"
            )
        raise EmptyInput(f"{name} is empty; a header and rows were expected")
    place = f"{name}, line {line}"
    end, reason = None, None
    while end is None:
        end, reason = first_end(window.text, sign, quote, final=window.final)
        if reason == LONE_CR:
            raise InputError(
                f"{place}: a carriage return that no line feed follows. If its lines end with CR "
                f"alone, write them anew with LF"
            )
        if reason is not None or (end is None and len(window.text) > LONGEST):
            raise InputError(f"{place}: the header has {reason or TOO_LONG}")
        if end is None:
            window.extend()
    text = window.text[:end]
    if b"\0" in text:
        raise InputError(
            f"{place}: the header has a NUL byte. If the text is UTF-16, say encoding= utf-16-le "
            f"or utf-16-be"
        )
    if not text.strip(b"\r\n"):
        raise InputError(f"{place}: found {BLANK}, expected a header")
    if text.count(sign) >= _MOST_COLUMNS:
        raise InputError(f"{place}: the header has more than {_MOST_COLUMNS:,} fields")
    try:
        return end, fields_of(without_blanks(text, sign, quote), sign, quote, strict=True)
    except csv.Error as odd:
        raise InputError(f"{place}: the header can't be read: {odd}") from odd


def _checked_names(header: list[str], name: str, line: int) -> list[str]:
    twice = [column for column, times in Counter(header).items() if times > 1 and column]
    if twice:
        places = ", ".join(str(i + 1) for i, column in enumerate(header) if column == twice[0])
        raise InputError(
            f"{name}, line {line}: the header has {twice[0]!r} more than once, as columns "
            f"{places}. Rename one of them"
        )
    # An unnamed first column is pandas' index, an unnamed last one a delimiter that ends each line.
    empty = [i + 1 for i, column in enumerate(header[:-1]) if not column and i > 0]
    if empty or not any(header):
        raise InputError(f"{name}, line {line}: column {(empty or [1])[0]} has no name. Name it")
    return header


# -- records as rows -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Text:
    """Delimited text behind its header."""

    name: str
    sign: bytes
    quote: bytes
    header: tuple[str, ...]
    decimal: str

    def pieces(self, window: Window, columns: Sequence[str], line: int) -> Iterator[Piece]:
        """The records that follow, the first of them on a line."""
        row, final = 1, False
        while not final:
            final = window.extend()
            buffer = window.text
            records = scan(buffer, self.sign, len(self.header), self.quote, final=final)
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

        @lru_cache  # once, since a schedule asks for the line of each of its rows
        def breaks() -> Array:
            return np.flatnonzero(np.frombuffer(buffer, np.uint8) == ord("\n"))

        if records.broken:
            rows = np.flatnonzero(good) + row
            for i, reason in sorted(records.broken.items()):
                before = int(np.searchsorted(breaks(), records.starts[i]))
                broken.append(BrokenRecord(row + i, line + before, reason))
            data = _joined(buffer, records, good)
        if records.spaced:
            data = without_blanks(data, self.sign, self.quote)
        frame = self._parsed(data, len(starts), columns, line)

        def line_of(i: int) -> int:
            return line + int(np.searchsorted(breaks(), starts[i]))

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
                quote_char=self.quote.decode() or None,
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
SPACED_QUOTE = (
    "a quote behind blanks that is not closed in its line, so that nobody knows whether it opens a "
    "field; if it does, remove the blanks before it"
)
AFTER_QUOTE = "text after a closing quote"
TOO_LONG = f"a line longer than {LONGEST >> 20} MiB"
_BLANK_LINES = re.compile(rb"(?:\r?\n)++\Z")
_LF, _CR = ord("\n"), ord("\r")
_USUAL = b'"'


@dataclass(frozen=True)
class Records:
    """Records found at the beginning of a buffer.

    ``starts`` and ``ends`` are their places, an end being behind the line end. ``broken`` maps the
    position of a record that is no row to what is wrong with it. ``used`` bytes were taken; the
    rest waits for what follows it. ``spaced`` tells that blanks may stand before quotes.
    """

    starts: Array
    ends: Array
    broken: dict[int, str]
    used: int
    spaced: bool = False


def scan(
    buffer: bytes, delimiter: bytes, fields: int, quote: bytes = _USUAL, *, final: bool
) -> Records:
    """Find the records of a buffer that begins with a record.

    ``fields`` is how many each has to have; an empty ``quote`` is none at all. With ``final`` the
    buffer is all that is left; without it, a last record that may go on is left for later.
    """
    # What may be the end of a file is not looked at line by line, each time that more comes.
    buffer = _without_blank_end(buffer)
    data = np.frombuffer(buffer, np.uint8)
    # Only what is there is looked for: most text has no quotes and no carriage returns.
    quoted = bool(quote) and quote in buffer
    signs = delimiter + b"\n" + (quote if quoted else b"") + (b"\r" if b"\r" in buffer else b"")
    marks = np.flatnonzero(_is_one_of(data, signs))
    kinds = data[marks]
    sound = True
    if quoted:
        outside, sound = _outside_quotes(data, marks, kinds, delimiter, quote)
        sound = sound and not (final and np.count_nonzero(kinds == quote[0]) & 1)
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
        return _one_by_one(buffer, delimiter, fields, quote, final=final)
    starts = np.append(0, ends[:-1]) if len(ends) else ends
    broken = wrong_counts(np.compress(kinds == delimiter[0], marks), fields, starts, ends)
    broken |= dict.fromkeys(_blank_lines(data, starts, ends), BLANK)
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


def _outside_quotes(
    data: Array, marks: Array, kinds: Array, delimiter: bytes, quote: bytes
) -> tuple[Array, bool]:
    """Which marks stand outside quotes, and whether every quote is in its place."""
    quotes = kinds == quote[0]
    inside = np.cumsum(quotes, dtype=np.uint8) & 1
    places = np.compress(quotes, marks)
    opening, closing = places[::2], places[1::2]
    before = data[opening[opening > 0] - 1]
    after = data[closing[closing + 1 < len(data)] + 1]
    begins = _is_one_of(before, delimiter + b"\n" + quote)
    goes_on = _is_one_of(after, delimiter + b"\n\r" + quote)
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


def _blank_lines(data: Array, starts: Array, ends: Array) -> list[int]:
    first, size = data[starts], ends - starts
    blanks: list[int] = np.flatnonzero((first == _LF) | ((first == _CR) & (size == 2))).tolist()
    return blanks


# -- one record at a time --------------------------------------------------------------------------


def _blanks(delimiter: bytes) -> bytes:
    """What may stand between a delimiter and a quote."""
    return b" \t".replace(delimiter, b"")


@lru_cache(maxsize=8)
def _quoted(quote: bytes, *ends: bytes) -> bytes:
    """A field between quotes, in which none of the ``ends`` stands."""
    sign = re.escape(quote)
    inner = rb"[^" + sign + b"".join(ends) + rb"]*+"
    return sign + inner + rb"(?:" + sign + sign + inner + rb")*+" + sign


@lru_cache(maxsize=8)
def _well_formed(delimiter: bytes, quote: bytes) -> re.Pattern[bytes]:
    """As much of a record as is well formed; it never goes back, so its time is linear."""
    sign = re.escape(delimiter)
    plain = rb"[^" + re.escape(quote) + rb"\r\n" + sign + rb"]*+"
    field = plain
    if quote:
        # Behind blanks a quote may as well be a stray one, unless it is closed in its line.
        spaced = rb"[" + _blanks(delimiter) + rb"]++" + _quoted(quote, rb"\r\n")
        field = rb"(?:" + _quoted(quote) + rb"|" + spaced + rb"|" + plain + rb")"
    return re.compile(field + rb"(?:" + sign + field + rb")*+")


def first_end(
    buffer: bytes, delimiter: bytes, quote: bytes = _USUAL, *, final: bool
) -> tuple[int | None, str | None]:
    """Where the first record ends (None: more has to be read), and what is wrong with it."""
    match = _well_formed(delimiter, quote).match(buffer)
    stop = 0 if match is None else match.end()
    return _end(buffer, 0, stop, delimiter, quote, final=final)


def _one_by_one(
    buffer: bytes, delimiter: bytes, fields: int, quote: bytes = _USUAL, *, final: bool
) -> Records:
    pattern = _well_formed(delimiter, quote)
    starts: list[int] = []
    ends: list[int] = []
    broken: dict[int, str] = {}
    at = 0
    while at < len(buffer):
        match = pattern.match(buffer, at)
        stop = at if match is None else match.end()
        end, reason = _end(buffer, at, stop, delimiter, quote, final=final)
        if end is None:
            break
        reason = reason or _inner_reason(buffer[at:end], delimiter, fields, quote)
        if reason is not None:
            broken[len(ends)] = reason
        starts.append(at)
        ends.append(end)
        at = end
    records = _records(np.array(starts, np.int64), np.array(ends, np.int64), broken, final=final)
    return replace(records, spaced=bool(quote))


def _end(
    buffer: bytes, at: int, stop: int, delimiter: bytes, quote: bytes, *, final: bool
) -> tuple[int | None, str | None]:
    """Where a record ends that is well formed up to ``stop``, and what is wrong with it.

    No end: more has to be read first. What is broken ends with its first line.
    """
    follows = buffer[stop : stop + 2]
    opens = spaced = False
    if quote and follows[:1] == quote:
        before = buffer[at:stop].rstrip(_blanks(delimiter))
        begins = not before or before.endswith(delimiter)
        opens = begins and at + len(before) == stop
        spaced = begins and not opens
    # It may still be closed in its line, which goes on.
    open_line = spaced and buffer.find(b"\n", stop) < 0 and not final
    if follows[:1] == b"\n" or follows == b"\r\n":
        end: int | None = buffer.index(b"\n", stop) + 1
        reason = None
    elif opens or open_line or len(follows) == 0 or (follows == b"\r" and not final):
        if not final and len(buffer) - at <= LONGEST:
            return None, None
        end = len(buffer)
        reason = OPEN_QUOTE if opens or not final else None
    else:
        end = None
        reason = AFTER_QUOTE
        if follows[:1] == b"\r":
            reason = LONE_CR
        elif follows[:1] == quote:
            reason = SPACED_QUOTE if spaced else STRAY_QUOTE
    if end is not None and end - at > LONGEST:
        reason = OPEN_QUOTE
    if reason is None:
        return end, None
    line = buffer.find(b"\n", at) + 1
    long = (line or len(buffer)) - at > LONGEST
    return line or (len(buffer) if final else None), TOO_LONG if long else reason


def _inner_reason(record: bytes, delimiter: bytes, fields: int, quote: bytes) -> str | None:
    if b"\0" in record:
        return NUL
    if record in (b"\n", b"\r\n"):
        return BLANK
    bare = re.sub(_quoted(quote), b"", record) if quote and quote in record else record
    count = bare.count(delimiter) + 1
    return None if count == fields else _counted(count, fields)


def without_blanks(records: bytes, delimiter: bytes, quote: bytes) -> bytes:
    r"""Well-formed records without the blanks between a delimiter, or a line end, and a quote.

    >>> without_blanks(b'a, "b, c",  "d"\n', b",", b'"')
    b'a,"b, c","d"\n'
    """
    blanks = _blanks(delimiter)
    if not quote or not any(bytes([blank]) + quote in records for blank in blanks):
        return records

    def kept(part: re.Match[bytes]) -> bytes:
        before_quote = part[0][0] in blanks and records.startswith(quote, part.end())
        return b"" if before_quote else part[0]

    return re.sub(_quoted(quote) + rb"|[" + blanks + rb"]++", kept, records)
