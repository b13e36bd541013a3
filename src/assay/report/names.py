"""Names that come from data, made harmless to look at and short.

A label, a column or a file name may hold anything: line breaks, escape codes that move a cursor,
marks that turn the reading direction. Those are shown as escapes.
"""

from __future__ import annotations

import unicodedata

# Longer names are cut in the middle, where they differ least.
LONGEST = 60
LONGEST_SENTENCE = 2000
NOTHING, BLANK = "(empty)", "(blank)"

# Control, format (bidi, zero width), surrogate, private use, unassigned, line and paragraph breaks.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_USUAL = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""The text with every character that can't be seen as an escape.

    >>> visible("a\nb\x1b[31m\u202e")
    'a\\nb\\x1b[31m\\u202e'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_seen(character) for character in text)


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
