r"""Delimited text: the header, the structure of records, and rows that polars parses as text.

Polars pads short rows and cuts long ones in silence. So where a last field is empty, delimiters are
too many or too few, a quote stands or polars stumbles, the structure of a block is looked at byte
by byte: where records begin and end, and which are no rows.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError
from assay.reading.source import Batch, Broken, InputFile, Table

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]

LONGEST = 1 << 24
HEAD = 1 << 16
FIRST_ROWS = 1000
FEWER, MORE = "have fewer fields than the header", "have more fields than the header"
BLANK = "are blank"
NUL = "have a NUL byte"
LONE_CR = "have a carriage return in the middle of a line"
OPEN_QUOTE = "have a quote that is never closed"
STRAY_QUOTE = "have a quote inside a field that does not begin with one"
AFTER_QUOTE = "have text after a closing quote"
_LF, _CR = 10, 13
_NO_QUOTE = "none"


@dataclass(frozen=True)
class Dialect:
    """How a delimited text is written; no quote is ``b""``."""

    delimiter: bytes
    quote: bytes = b'"'
    header: bool = True
    skip_lines: int = 0
    line: int = 1  # at which the text begins
    null: str | None = None  # what stands for no value, besides nothing

    @staticmethod
    def of(delimiter: str, quote: str, *, header: bool, skip_lines: int) -> Dialect:
        """A dialect in the user's words, checked."""
        sign = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(sign) != 1 or not sign.isascii() or sign in "\r\n\0":
            raise InputError(f"delimiter= is one ASCII character; found {delimiter!r}")
        mark = "" if quote == _NO_QUOTE else quote
        if mark and (len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark.isspace()):
            raise InputError(
                f"quote= is one ASCII sign that is no letter, digit or blank, or '{_NO_QUOTE}'; "
                f"found {quote!r}"
            )
        if mark == sign:
            raise InputError(f"quote= and delimiter= are both {sign!r}; they have to differ")
        if skip_lines < 0:
            raise InputError(f"skip_lines= is a number of lines; found {skip_lines}")
        return Dialect(sign.encode(), mark.encode(), header, skip_lines, skip_lines + 1)


def open_text(file: InputFile, texts: Any, dialect: Dialect, notes: tuple[str, ...] = ()) -> Table:
    """Open a delimited text whose first record names the columns.

    ``texts(chunks)`` makes UTF-8 of the bytes of the file.
    """
    import polars as pl

    head = b""
    for chunk in skipped(texts(file.look()), dialect.skip_lines):
        head += chunk
        if len(head) > LONGEST or head.count(b"\n", 0, HEAD) > FIRST_ROWS or len(head) > HEAD:
            break
    reader = _Reader(file, texts, dialect, *_header(file.name, head, dialect))

    def look() -> pl.DataFrame:
        block = head[: head.rfind(b"\n") + 1] or head + b"\n"
        lines = block[reader.start :].split(b"\n", FIRST_ROWS)[:FIRST_ROWS]
        batches = reader.batches(iter([b"\n".join([*lines, b""])]), reader.columns)
        return pl.concat([batch.frame for batch in batches] or [reader.empty()])

    return Table(
        file.name,
        dict.fromkeys(reader.columns, pl.String()),
        reader.read,
        look,
        digest=lambda: file.digest,
        once=file.once,
        notes=(*notes, *reader.notes),
    )


def skipped(chunks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    r"""What follows the first lines.

    >>> b"".join(skipped(iter([b"ti", b"tle\nlabel", b",score\n"]), 1))
    b'label,score\n'
    """
    for chunk in chunks:
        at = 0
        while lines and (end := chunk.find(b"\n", at) + 1):
            at, lines = end, lines - 1
        if not lines:
            yield chunk[at:]


def zeek(texts: Any, head: bytes, name: str) -> tuple[Any, Dialect]:
    """A table of Zeek as delimited text: its ``#fields`` are the header, other comments go."""
    comments = list(takewhile(lambda line: line.startswith(b"#"), head.splitlines()))
    said = dict(line[1:].split(None, 1) for line in comments if len(line.split(None, 1)) == 2)
    if b"fields" not in said:
        raise InputError(f"{name} begins like a table of Zeek, and has no line #fields")
    sign = said[b"separator"].decode("unicode_escape").encode()
    unset = said.get(b"unset_field", b"-").decode()

    def rows(chunks: Iterator[bytes]) -> Iterator[bytes]:
        yield said[b"fields"] + b"\n"
        rest = b""
        for chunk in skipped(texts(chunks), len(comments)):
            text = rest + chunk
            end = text.rfind(b"\n") + 1
            yield re.sub(rb"(?m)^#.*\n", b"", text[:end])
            rest = text[end:]
        yield b"" if rest.startswith(b"#") else rest

    return rows, Dialect(sign, b"", line=len(comments), null=unset)


def _behind(chunks: Iterator[bytes], start: int) -> Iterator[bytes]:
    """What follows the first bytes."""
    for chunk in chunks:
        yield chunk[start:]
        start = max(start - len(chunk), 0)


def _header(name: str, head: bytes, dialect: Dialect) -> tuple[tuple[str, ...], int, int]:
    """The names of the columns, where the header ends, and the lines that it takes."""
    place = f"{name}, line {dialect.line}"
    if not head:
        raise EmptyInput(f"{name} is empty; a header and rows were expected")
    if not head.partition(b"\n")[0].strip(b"\r"):
        raise InputError(f"{place}: found a blank line, expected a header")
    text = head if head.endswith(b"\n") else head + b"\n"
    match = _record(dialect.delimiter, dialect.quote).match(text)
    if match is None or b"\0" in match[0]:
        problem = NUL if b"\0" in text.partition(b"\n")[0] else _problem(text, 0, dialect)
        raise InputError(f"{place}: the header can't be read: it would {problem}")
    record = _unspaced(match[0], dialect).decode("utf-8", "replace").rstrip("\r\n")
    (names,) = csv.reader(
        [record],
        delimiter=dialect.delimiter.decode(),
        quotechar=dialect.quote.decode() or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
    )
    if not dialect.header:
        return tuple(f"column_{i + 1}" for i in range(len(names))), 0, 0
    twice = [column for column, times in Counter(names).items() if times > 1 and column]
    if twice:
        places = " and ".join(str(i + 1) for i, each in enumerate(names) if each == twice[0])
        raise InputError(
            f"{place}: columns {places} are both named {twice[0]!r}: rename one of them"
        )
    # An unnamed first column is pandas' index, an unnamed last one a delimiter that ends each line.
    unnamed = [i + 1 for i, column in enumerate(names[:-1]) if not column and i > 0]
    if unnamed or not any(names):
        raise InputError(f"{place}: column {(unnamed or [1])[0]} has no name: name it")
    return tuple(names), match.end(), match[0].count(b"\n")


class _Reader:
    """Reads the rows behind a header."""

    def __init__(
        self,
        file: InputFile,
        texts: Any,
        dialect: Dialect,
        names: tuple[str, ...],
        start: int,
        header_lines: int,
    ) -> None:
        self._file, self._texts, self._dialect = file, texts, dialect
        self._names, self.start = names, start
        self._first_line = dialect.line + header_lines
        self.columns = tuple(name for name in names if name)
        unnamed = [end for end, at in (("first", 0), ("last", -1)) if not names[at]]
        self.notes = tuple(
            f"the {end} column of {file.name} has no name and is not used" for end in unnamed
        )

    def empty(self) -> pl.DataFrame:
        """No rows."""
        import polars as pl

        return pl.DataFrame(schema=dict.fromkeys(self.columns, pl.String))

    def read(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows."""
        chunks = skipped(self._texts(self._file.chunks()), self._dialect.skip_lines)
        yield from self.batches(_behind(chunks, self.start), columns)

    def batches(self, chunks: Iterator[bytes], columns: Sequence[str]) -> Iterator[Batch]:
        """The rows of the text behind the header."""
        rest, final, row, line = b"", False, 1, self._first_line
        while not final:
            chunk = next(chunks, None)
            final = chunk is None
            text = rest + (chunk or b"")
            block = _whole_records(text, final=final)
            batch, used, records, lines = self._batch(block, columns, row, line, final=final)
            if batch is not None:
                yield batch
            row, line = row + records, line + lines
            rest = text[used:]
            if not final and len(rest) > 2 * LONGEST:
                raise InputError(
                    f"{self._file.name}, line {line}: a line longer than {LONGEST >> 20} MiB, or "
                    f"as much of blank lines. Is this the right file?"
                )

    def _batch(
        self, block: bytes, columns: Sequence[str], row: int, line: int, *, final: bool
    ) -> tuple[Batch | None, int, int, int]:
        """The rows of a block of whole lines; their bytes, records and lines."""
        if not block:
            return None, 0, 0, 0
        quote = self._dialect.quote
        quoted = bool(quote) and quote in block
        if not (quoted or b"\0" in block or _has_lone_returns(block)):
            rows = block.count(b"\n")
            frame = self._parse(block, columns, checked=False)
            if frame is not None and frame.height == rows:
                return Batch(frame, row, None, lambda i: line + i), len(block), rows, rows
        records = structure(block, self._dialect, len(self._names), final=final)
        if not len(records.ends):
            return None, 0, 0, 0
        used, size = int(records.ends[-1]), len(records.ends)
        good = np.ones(size, bool)
        good[list(records.broken)] = False
        data = block[:used] if good.all() else records.joined(block, good)
        if records.spaced:
            data = _unspaced(data, self._dialect)
        frame = self._parse(data, columns, checked=True)
        if frame is None or frame.height != int(good.sum()):
            raise InputError(
                f"{self._file.name}, from line {line} on: {int(good.sum()):,} records were found, "
                f"but {0 if frame is None else frame.height:,} were parsed. Please report this "
                f"with the file"
            )

        @lru_cache(maxsize=1)
        def breaks() -> Array:
            return np.flatnonzero(np.frombuffer(block, np.uint8) == _LF)

        def line_of(i: int) -> int:
            return line + int(np.searchsorted(breaks(), records.starts[i]))

        broken = [Broken(row + i, line_of(i), why) for i, why in sorted(records.broken.items())]
        kept = None if good.all() else np.flatnonzero(good)
        lines = block.count(b"\n", 0, used)
        return Batch(frame, row, kept, line_of, broken), used, size, lines

    def _parse(self, data: bytes, columns: Sequence[str], *, checked: bool) -> pl.DataFrame | None:
        """The columns of a block; None where its structure has to be looked at first."""
        import polars as pl

        from assay.reading.damage import guarded

        names = [str(i) for i in range(len(self._names))]
        position = {name: str(i) for i, name in enumerate(self._names)}
        chosen = [position[column] for column in columns]
        if not data:
            return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        last, sign = names[-1], self._dialect.delimiter
        try:
            with guarded(self._file.name):
                frame = pl.read_csv(
                    sign.join(name.encode() for name in names) + b"\n" + data,
                    schema=dict.fromkeys(names, pl.String),
                    columns=list(dict.fromkeys([*chosen, last])),
                    separator=sign.decode(),
                    quote_char=self._dialect.quote.decode() or None,
                    truncate_ragged_lines=True,
                    null_values=self._dialect.null,
                )
        except InputError:
            if checked:
                raise
            return None
        # With a last field in each row none is too short, and then each delimiter too many shows.
        delimiters = frame.height * (len(names) - 1)
        if not checked and (frame[last].null_count() or data.count(sign) != delimiters):
            return None
        frame = frame.select(chosen)
        frame.columns = list(columns)
        return frame


def _whole_records(text: bytes, *, final: bool) -> bytes:
    """Whole lines of a text; blank ones at its end wait for what follows, or are left out."""
    if final:
        block = text.rstrip(b"\r\n")
        return block and block + b"\n"
    end = text.rfind(b"\n") + 1
    while end and text[end - 1] in b"\r\n":
        end -= 1
    return text[: text.find(b"\n", end) + 1] if end else b""


def _has_lone_returns(block: bytes) -> bool:
    return b"\r" in block and block.count(b"\r") != block.count(b"\r\n")


# -- the structure of records ----------------------------------------------------------------------


@dataclass(frozen=True)
class Records:
    """Where the records of a block start and end, and which are no rows, with the reason.

    ``spaced`` tells that blanks may stand before quotes.
    """

    starts: Array
    ends: Array
    broken: dict[int, str]
    spaced: bool = False

    def joined(self, block: bytes, good: Array) -> bytes:
        """The good records alone."""
        edges = np.flatnonzero(np.diff(good, prepend=False, append=False))
        runs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
        return b"".join(block[self.starts[a] : self.ends[b]] for a, b in runs)


def structure(block: bytes, dialect: Dialect, fields: int, *, final: bool) -> Records:
    """The records of a block of whole lines; without ``final`` the last may go on behind it."""
    sign, quote = dialect.delimiter, dialect.quote
    odd = b"\0" in block or _has_lone_returns(block)
    data = np.frombuffer(block, np.uint8)
    places = (data == sign[0]) | (data == _LF)
    quoted = bool(quote) and quote in block
    if quoted:
        places |= data == quote[0]
    marks = np.flatnonzero(places)
    kinds = data[marks]
    if quoted and not odd:
        quotes = kinds == quote[0]
        outside = ~quotes & (np.cumsum(quotes, dtype=np.uint8) & 1 == 0)
        odd = not _in_place(data, marks[quotes], sign, quote) or (
            final and bool(np.count_nonzero(quotes) & 1)
        )
        marks, kinds = marks[outside], kinds[outside]
    if odd:
        return _one_by_one(block, dialect, fields, final=final)
    lines = np.flatnonzero(kinds == _LF)
    ends = marks[lines] + 1
    starts = np.append(0, ends[:-1]) if len(ends) else ends
    sizes = np.diff(lines, prepend=-1)
    wrong = np.flatnonzero(sizes != fields)
    broken = {i: FEWER if sizes[i] < fields else MORE for i in wrong.tolist()}
    first = data[starts]
    blank = np.flatnonzero((first == _LF) | ((first == _CR) & (ends - starts == 2)))
    broken.update(dict.fromkeys(blank.tolist(), BLANK))
    return Records(starts, ends, broken)


def _in_place(data: Array, quotes: Array, sign: bytes, quote: bytes) -> bool:
    """Whether each opening quote begins a field, and each closing one ends it."""
    opening, closing = quotes[::2], quotes[1::2]
    before = data[opening[opening > 0] - 1]
    after = data[closing[closing + 1 < len(data)] + 1]
    begins = (before == sign[0]) | (before == _LF) | (before == quote[0])
    ends = (after == sign[0]) | (after == _LF) | (after == _CR) | (after == quote[0])
    return bool(begins.all() and ends.all())


def _blanks(sign: bytes) -> bytes:
    """What may stand between a delimiter and a quote."""
    return b" \t".replace(sign, b"")


@lru_cache(maxsize=8)
def _fields(sign: bytes, quote: bytes) -> bytes:
    """A well-formed run of fields; it never goes back, so its time is linear."""
    end = re.escape(sign)
    if not quote:
        plain = rb"[^\r\n" + end + rb"]*+"
        return plain + rb"(?:" + end + plain + rb")*+"
    mark = re.escape(quote)
    inner = rb"[^" + mark + rb"]*+"
    quoted = mark + inner + rb"(?:" + mark + mark + inner + rb")*+" + mark
    # Behind blanks a quote may as well be a stray one, unless it is closed in its line.
    line = rb"[^\r\n" + mark + rb"]*+"
    spaced = (
        rb"["
        + _blanks(sign)
        + rb"]++"
        + mark
        + line
        + rb"(?:"
        + mark
        + mark
        + line
        + rb")*+"
        + mark
    )
    field = rb"(?:" + quoted + rb"|" + spaced + rb"|[^\r\n" + end + mark + rb"]*+)"
    return field + rb"(?:" + end + field + rb")*+"


@lru_cache(maxsize=8)
def _record(sign: bytes, quote: bytes) -> re.Pattern[bytes]:
    return re.compile(_fields(sign, quote) + rb"\r?\n")


def _one_by_one(block: bytes, dialect: Dialect, fields: int, *, final: bool) -> Records:
    """The same where quotes stand in wrong places: what is broken ends with its first line."""
    sign, quote = dialect.delimiter, dialect.quote
    record = _record(sign, quote)
    mark = re.escape(quote)
    quoted = re.compile(mark + rb"[^" + mark + rb"]*+" + mark if quote else rb"(?!)")
    starts: list[int] = []
    ends: list[int] = []
    broken: dict[int, str] = {}
    at = 0
    while at < len(block):
        match = record.match(block, at)
        if match is None:
            reason: str | None = _problem(block, at, dialect)
            if reason == OPEN_QUOTE and not final and len(block) - at <= LONGEST:
                break  # it may be closed further on
            end = block.index(b"\n", at) + 1
        else:
            end = match.end()
            text = match[0]
            count = (quoted.sub(b"", text) if quote in text else text).count(sign) + 1
            reason = None if count == fields else FEWER if count < fields else MORE
            if b"\0" in text:
                reason = NUL
            elif not text.strip(b"\r\n"):
                reason = BLANK
        if reason is not None:
            broken[len(ends)] = reason
        starts.append(at)
        ends.append(end)
        at = end
    return Records(np.array(starts, np.int64), np.array(ends, np.int64), broken, bool(quote))


def _problem(block: bytes, at: int, dialect: Dialect) -> str:
    """What is wrong with the record that begins here."""
    sign, quote = dialect.delimiter, dialect.quote
    match = re.compile(_fields(sign, quote)).match(block, at)
    stop = at if match is None else match.end()
    follows = block[stop : stop + 1]
    if follows == b"\r":
        return LONE_CR
    if not quote or follows != quote:
        return AFTER_QUOTE
    before = block[at:stop]
    if not before or before.endswith(sign):
        return OPEN_QUOTE
    return STRAY_QUOTE


def _unspaced(data: bytes, dialect: Dialect) -> bytes:
    r"""Well-formed records without the blanks that stand before quotes.

    >>> _unspaced(b'a, "b, c",  "d"\n', Dialect(b","))
    b'a,"b, c","d"\n'
    """
    blanks, quote = _blanks(dialect.delimiter), dialect.quote
    if not quote or not any(bytes([blank]) + quote in data for blank in blanks):
        return data
    mark = re.escape(quote)
    quoted = mark + rb"[^" + mark + rb"]*+" + mark
    pattern = re.compile(rb"(" + quoted + rb")|[" + blanks + rb"]++(?=" + mark + rb")")
    return pattern.sub(lambda part: part[1] or b"", data)


# -- bytes to UTF-8 --------------------------------------------------------------------------------

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def utf8(chunks: Iterator[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """Text in UTF-8 without a byte order mark; refuses bytes that are no text."""
    first = next(chunks, b"")
    if encoding is None:
        encoding = next((codec for bom, codec in _BOMS if first.startswith(bom)), None)
        nulls = first[:HEAD].count(0)
        if encoding is None and nulls * 8 > len(first[:HEAD]):
            raise InputError(
                f"{name} is not UTF-8: {nulls:,} of its first {len(first[:HEAD]):,} bytes are NUL. "
                f"Say which encoding it has, likely encoding='utf-16-le'"
            )
    decoder = _decoder(encoding)
    offset, old_mac = 0, None
    for chunk in _with_end(first, chunks):
        data = chunk or b""
        if encoding is not None or decoder.getstate()[0] or not data.isascii():
            data = _decoded(decoder, data, offset, encoding, name, final=chunk is None)
        if offset == 0:
            data = data.removeprefix(codecs.BOM_UTF8)
        offset += len(chunk or b"")
        if old_mac is None and data:
            old_mac = b"\r" in data and b"\n" not in data
        if data:
            yield data.replace(b"\r", b"\n") if old_mac else data


def is_western(head: bytes) -> bool:
    """Whether text is not UTF-8, and may be the cp1252 that Excel writes: single accented letters.

    >>> is_western("Gerät;Ja".encode("cp1252")), is_western("Gerät".encode())
    (True, False)
    """
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return re.search(rb"[\0-\x08\x7f\x81\x8d\x8f\x90\x9d]|[\x80-\xff]{2}", head) is None
    return False


def _with_end(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    yield first
    yield from chunks
    yield None


def _decoder(encoding: str | None) -> codecs.IncrementalDecoder:
    try:
        codec = codecs.lookup(encoding or "utf-8")
        "a".encode(codec.name)  # zlib or rot13 are codecs, but not of text
        return codecs.getincrementaldecoder(codec.name)("strict")
    except (LookupError, UnicodeError) as error:
        raise InputError(
            f"encoding={encoding!r} is not known; try utf-8, utf-16, latin-1 or cp1252"
        ) from error


def _decoded(
    decoder: codecs.IncrementalDecoder,
    chunk: bytes,
    offset: int,
    encoding: str | None,
    name: str,
    *,
    final: bool,
) -> bytes:
    waiting = len(decoder.getstate()[0])
    try:
        return decoder.decode(chunk, final).encode()
    except UnicodeDecodeError as error:
        at, byte = offset - waiting + error.start, error.object[error.start : error.start + 1].hex()
        advice = "Say which encoding it has, for example encoding='cp1252'"
        raise InputError(
            f"{name} is not {encoding or 'UTF-8'}: byte {at:,} is 0x{byte}"
            f"{'. ' + advice if encoding is None else ''}"
        ) from error
    except UnicodeError as error:
        raise InputError(
            f"{name} can't be read as {encoding} near byte {offset:,}: {error}"
        ) from error
