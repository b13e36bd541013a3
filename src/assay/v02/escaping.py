"""Text that comes from data, made harmless: names to look at, and text for LaTeX.

A label, a column or a file name may hold anything: line breaks, escape codes that move a cursor,
marks that turn the reading direction. Those are shown as escapes. For LaTeX every character is
itself, whatever it means there, in plain ASCII that needs no package and no encoding; what the
usual fonts lack is written as its code, such as U+1F600.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Iterator

# Longer text is cut in the middle, where names differ least.
LONGEST = 60
LONGEST_SENTENCE = 2000
NOTHING, BLANK = "(empty)", "(blank)"

# What acts on a reader: control, format (bidi, zero width), surrogate, line and paragraph breaks.
_ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What can't be seen: private use and unassigned characters, too.
_UNSEEN = _ACTING | {"Co", "Cn"}
_BEYOND_ASCII = re.compile("[^\x00-\x7e]")
_USUAL = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What gives lines their form. A carriage return alone would overwrite the line.
_LAYOUT = ("\r\n", "\n", "\t")
_LAYOUT_AT = re.compile("(\r\n|\n|\t)")

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\texttt{\char34}",
    "`": r"\texttt{\char18}",
    # After a line break of a table these would be read as its options.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
# Two of a kind would be set as one other character.
_DOUBLED = frozenset("-'")
_OTHER = {
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "\u0131": r"\i{}",
    "\u00a0": "~",
    "\u2013": "--",
    "\u2014": "---",
    "\u2018": "`",
    "\u2019": "'{}",
    "\u201c": "``",
    "\u201d": "''{}",
    "\u2026": r"\ldots{}",
    "\u00d7": r"$\times$",
    "\u00b1": r"$\pm$",
    "\u00b5": r"$\mu$",
    "\u03b1": r"$\alpha$",
    "\u03b2": r"$\beta$",
    "\u03ba": r"$\kappa$",
    "\u03bc": r"$\mu$",
    "\u03c3": r"$\sigma$",
    "\u2264": r"$\le$",
    "\u2265": r"$\ge$",
    "\u2192": r"$\to$",
    "\u2193": r"$\downarrow$",
    "§": r"\S{}",
    "¶": r"\P{}",
}
_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
}
# A line may be broken after so many characters without a blank.
_UNBROKEN = 20


def visible(text: str) -> str:
    r"""The text with every character that can't be seen as an escape.

    >>> visible("a\nb\x1b[31m\u202e")
    'a\\nb\\x1b[31m\\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(character) for character in text)


def on_screen(text: str) -> str:
    r"""Lines for other programs, such as CSV, that go to a terminal: it is told nothing by them.

    >>> on_screen("red\x1b[31m\t1\r\n")
    'red\\x1b[31m\t1\r\n'
    """
    return "".join(part if part in _LAYOUT else visible(part) for part in _LAYOUT_AT.split(text))


def escaped_json(text: str) -> str:
    r"""JSON in which every character that acts on a reader is an escape; all values stay.

    >>> escaped_json('{"name": "naïve\u202e"}\n')
    '{"name": "naïve\\u202e"}\n'
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return _BEYOND_ASCII.sub(_json_character, text)


def _json_character(match: re.Match[str]) -> str:
    character = match[0]
    acts = unicodedata.category(character) in _ACTING
    return json.dumps(character)[1:-1] if acts else character


def _seen(character: str) -> str:
    if unicodedata.category(character) not in _UNSEEN:
        return character
    code = ord(character)
    if character in _USUAL:
        return _USUAL[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def short(text: str, longest: int = LONGEST, gap: str = "…") -> str:
    """The text, cut in the middle where it is too long.

    >>> short("a-very-long-name", 9)
    'a-ve…name'
    """
    if len(text) <= longest:
        return text
    kept = max(longest - len(gap), 2)
    head = kept - kept // 2
    return text[:head] + gap + text[len(text) - kept // 2 :]


def name(text: str, longest: int = LONGEST) -> str:
    """A name as a reader should see it: visible, short, and never nothing."""
    if not text.strip(" "):
        return BLANK if text else NOTHING
    return short(visible(short(text, 4 * longest)), longest)


def sentence(text: str) -> str:
    """A sentence that may hold names: visible, and no longer than anybody reads."""
    return short(visible(text), LONGEST_SENTENCE, " … ")


def given_text(number: object) -> str:
    """A number as messages show it; of a long whole one, how many digits it has.

    >>> given_text(0.5), given_text(10**400)
    ('0.5', 'a number of 401 digits')
    """
    if not isinstance(number, int):
        try:
            return repr(number)
        except ValueError:
            # A list of such numbers: Python writes none of more than 4,300 digits.
            return f"a {type(number).__name__} with a number too long to write"
    if abs(number) < 10**LONGEST:
        return repr(number)
    power = round(math.log10(abs(number)))
    return f"a number of {power + (abs(number) >= 10**power)} digits"


def plural(number: float, one: str, many: str) -> str:
    """The word for one of a thing, or for any other number of it.

    >>> [f"{n} {plural(n, 'row was', 'rows were')} refused" for n in (1, 2)]
    ['1 row was refused', '2 rows were refused']
    """
    return one if number == 1 else many


def row_at(position: int) -> str:
    """A row of a column by its number, from 1 as in files and frames; an index would be from 0.

    >>> row_at(3)
    'row 4 (counted from 1)'
    """
    return f"row {position + 1} (counted from 1)"


def escaped(text: str, longest: int = LONGEST) -> str:
    r"""The text for LaTeX, cut in the middle where it would be set longer than ``longest``.

    >>> escaped(r"50% of \input{x}")
    '50\\% of \\textbackslash{}input\\{x\\}'
    >>> escaped("naïve \U0001f600")
    'na\\"{\\i}ve \\texttt{U+1F600}'
    """
    # Characters beyond what can be shown are not looked at.
    text = text if len(text) <= 4 * longest else text[: 2 * longest] + text[-2 * longest :]
    return "".join(_broken(_cut(list(_tokens(visible(text))), longest)))


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """What each character is written as, and how many characters wide it is set."""
    previous = ""
    for character in unicodedata.normalize("NFC", text):
        if character.isascii():
            apart = "{}" if character == previous and character in _DOUBLED else ""
            yield apart + _ASCII.get(character, character), 1
        else:
            written = _beyond_ascii(character)
            yield (written, 1) if written else (rf"\texttt{{U+{ord(character):04X}}}", 8)
        previous = character


def _beyond_ascii(character: str) -> str | None:
    if character in _OTHER:
        return _OTHER[character]
    if unicodedata.category(character) == "Zs":
        return " "
    parts = unicodedata.normalize("NFD", character)
    base, accent = parts[:1], parts[1:]
    if accent in _ACCENTS and base.isascii() and base.isalpha():
        below = _ACCENTS[accent] == "c"
        letter = rf"\{base}" if base in "ij" and not below else base
        return rf"\{_ACCENTS[accent]}{{{letter}}}"
    return None


def _cut(tokens: list[tuple[str, int]], longest: int) -> list[tuple[str, int]]:
    if sum(width for _, width in tokens) <= longest:
        return tokens
    head = _first(tokens, longest // 2)
    tail = _first(tokens[::-1], longest // 2)
    return [*head, (_OTHER["\u2026"], 1), *reversed(tail)]


def _first(tokens: list[tuple[str, int]], room: int) -> list[tuple[str, int]]:
    kept = []
    for written, width in tokens:
        room -= width
        if room < 0:
            break
        kept.append((written, width))
    return kept


def _broken(tokens: list[tuple[str, int]]) -> Iterator[str]:
    unbroken = 0
    for written, width in tokens:
        if written in (" ", "~"):
            unbroken = 0
        elif unbroken + width > _UNBROKEN:
            yield r"\allowbreak{}"
            unbroken = 0
        unbroken += width
        yield written
