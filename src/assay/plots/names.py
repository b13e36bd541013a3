"""How names and numbers are written on figures; names come from files and are not trusted."""

from __future__ import annotations

import unicodedata

from assay.curves import Axis
from assay.measures import Measure
from assay.measures.measure import spoken

_LONGEST = 32
_IN_LEGEND = 24
_MOST = 500  # letters that are looked at, from either end
_REPLACEMENT = "\ufffd"
# Persian and emoji are spelled with these two; other invisible characters are left out.
_JOINERS = "\u200c\u200d"


def plain(name: str, longest: int = _LONGEST) -> str:
    r"""A name as text on one line: cut, without control characters, and never mathematics.

    >>> plain("costs $5 or $6")
    'costs \\$5 or \\$6'
    """
    if len(name) > 2 * _MOST:
        name = name[:_MOST] + name[-_MOST:]
    line = "".join(map(_shown, " ".join(name.split())))
    if len(line) > longest:
        # In the middle: names of one list often start alike and end in a number.
        head = longest // 2
        line = f"{line[:head]}…{line[head + 1 - longest :]}"
    return line.replace("$", r"\$") or "(empty)"


def named(name: str, words: str) -> str:
    """A model's name and what is said of it, short enough for the legend of a column."""
    return ": ".join(filter(None, (name and plain(name, _IN_LEGEND if words else _LONGEST), words)))


def legible(text: str) -> str:
    """A label that starts with an underscore would be kept out of the legend."""
    return "\u200b" + text if text.startswith("_") else text


def _shown(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Cf" and letter not in _JOINERS:
        return ""
    # Control characters, surrogates and what is no character can't be written to SVG.
    return _REPLACEMENT if kind in ("Cc", "Cs", "Cn") else letter


def title(measure: Measure | Axis) -> str:
    """What a figure calls a measure.

    >>> from assay.measures import find
    >>> title(find("mcc")), title(find("fpr")), title(find("recall"))
    ('MCC', 'False positive rate', 'Detection rate')
    """
    return measure.title[0].upper() + measure.title[1:]


def full_title(measure: Measure | Axis) -> str:
    """What an axis calls a measure: beside the word of the vocabulary, its name.

    >>> from assay.measures import find
    >>> full_title(find("far"))
    'False alarm rate (false discovery rate)'
    """
    aside = f" ({spoken(measure.name)})" if measure.aside else ""
    return title(measure) + aside


def size(number: float) -> str:
    """A number of rows, or a sum of weights, in at most seven digits."""
    if isinstance(number, int) and number < 10_000_000:
        return f"{number:,}"
    return f"{number:,.0f}" if 1000 <= number < 10_000_000 else f"{float(number):.3g}"
