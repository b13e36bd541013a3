"""A JSON array of objects, as the lines that its elements would be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain

from assay.errors import InputError
from assay.sources.files.scan import LONGEST

_BLANKS = re.compile(r"[ \t\r\n]*")
_BEHIND = tuple(" \t\r\n,]")
_LINE_ENDS = str.maketrans("\r\n", "  ")
_BEGIN, _ELEMENT, _COMMA, _END = "[", "an object", "a comma", "]"


def array_lines(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    r"""The elements of an array, one a line; what is held is of the order of a chunk.

    >>> b"".join(array_lines(iter([b'[{"a": 1},', b' {"a":', b" 2}]"]), "rows.json"))
    b'{"a": 1}\n{"a": 2}\n'
    """
    elements = _Elements(name)
    for chunk in chain(chunks, [b""]):
        lines = elements.after(chunk.decode(), final=not chunk)
        if lines:
            yield "\n".join([*lines, ""]).encode(errors="surrogatepass")


class _Elements:
    """The elements of an array that comes chunk by chunk."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""
        self._expected = _BEGIN
        self._number = 0
        self._decode = json.JSONDecoder().raw_decode

    def after(self, chunk: str, *, final: bool) -> list[str]:
        """The elements that are complete with a further chunk."""
        text, at, lines = self._text + chunk, 0, []
        while True:
            found = _BLANKS.match(text, at)
            at = found.end() if found else at
            if at == len(text):
                break
            sign = text[at]
            if self._expected == _END:
                raise InputError(f"{self._name}: there is text behind the end of its JSON array")
            if self._expected == _BEGIN or (self._expected == _COMMA and sign == ","):
                self._expected, at = _ELEMENT, at + 1
            elif sign == "]" and (self._expected == _COMMA or not self._number):
                self._expected, at = _END, at + 1
            else:
                end = self._end(text, at, final=final)
                if end is None:
                    break
                lines.append(text[at:end].translate(_LINE_ENDS))
                self._expected, self._number, at = _COMMA, self._number + 1, end
        self._text = text[at:]
        if final and self._expected != _END:
            raise InputError(
                f"{self._name}: its JSON array ends in the middle, behind {self._number:,} elements"
            )
        return lines

    def _end(self, text: str, at: int, *, final: bool) -> int | None:
        """Where an element ends, None where that is still to come."""
        if self._expected == _COMMA:
            raise self._odd("a comma or the end of the array was expected")
        try:
            end: int = self._decode(text, at)[1]
        except (ValueError, RecursionError) as odd:
            if final or len(text) - at > LONGEST:
                why = odd.msg if isinstance(odd, json.JSONDecodeError) else "it is nested too deep"
                raise self._odd(why) from odd
            return None
        # A number may go on behind what is there of it, as 0 does in 0.5.
        ended = final or text[at] in '{["' or text[end : end + 1] in _BEHIND
        return end if ended else None

    def _odd(self, why: str) -> InputError:
        return InputError(
            f"{self._name}: its JSON array can't be read at element {self._number + 1:,}: {why}"
        )
