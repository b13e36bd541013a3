"""Where the records of delimited text begin and end, and which of them are no rows.

The bytes are looked at as a whole, with arrays. Only where a quote stands in a wrong place are
records taken one at a time, since from there on nothing else tells where they end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

LONGEST = 1 << 24
BLANK = "a blank line"
NUL = "a NUL byte"
LONE_CR = "a carriage return in the middle of a line"
OPEN_QUOTE = "a quote that is never closed"
STRAY_QUOTE = "a quote inside a field that does not begin with one"
AFTER_QUOTE = "text after a closing quote"
TOO_LONG = f"a line longer than {LONGEST >> 20} MiB"
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
    if final:
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
    """Blank lines at the very end are no records."""
    end = kept = len(buffer)
    while end and buffer[end - 1] == _LF:
        kept = end
        end -= 2 if buffer[end - 2 : end] == b"\r\n" else 1
    return buffer[:kept] if end else b""


def _is_one_of(data: Array, signs: bytes) -> Array:
    found: Array = data == signs[0]
    for sign in signs[1:]:
        found |= data == sign
    return found


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
    found = np.diff(np.searchsorted(places, ends), prepend=0) + 1
    return {int(i): _counted(int(found[i]), fields) for i in np.flatnonzero(found != fields)}


def _counted(found: int, fields: int) -> str:
    return f"{found} field{'s' if found != 1 else ''} where the header has {fields}"


def _blanks(data: Array, starts: Array, ends: Array) -> list[int]:
    first, size = data[starts], ends - starts
    found: list[int] = np.flatnonzero((first == _LF) | ((first == _CR) & (size == 2))).tolist()
    return found


# -- one record at a time --------------------------------------------------------------------------


@lru_cache(maxsize=8)
def _well_formed(delimiter: bytes) -> re.Pattern[bytes]:
    """As much of a record as is well formed; it never goes back, so its time is linear."""
    sign = re.escape(delimiter)
    field = rb"(?:" + _QUOTED + rb'|[^"\r\n' + sign + rb"]*+)"
    return re.compile(field + rb"(?:" + sign + field + rb")*+")


def first_end(buffer: bytes, delimiter: bytes, *, final: bool) -> tuple[int | None, str | None]:
    """Where the first record ends (None: more has to be read), and what is wrong with it."""
    found = _well_formed(delimiter).match(buffer)
    stop = 0 if found is None else found.end()
    return _end(buffer, 0, stop, delimiter, final=final)


def _one_by_one(buffer: bytes, delimiter: bytes, fields: int, *, final: bool) -> Records:
    pattern = _well_formed(delimiter)
    starts: list[int] = []
    ends: list[int] = []
    broken: dict[int, str] = {}
    at = 0
    while at < len(buffer):
        found = pattern.match(buffer, at)
        stop = at if found is None else found.end()
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
    found = bare.count(delimiter) + 1
    return None if found == fields else _counted(found, fields)
