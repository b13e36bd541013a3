"""Text that comes from data, made fit for a page."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.report.html.limits import Limits
from assay.report.names import name, short, visible
from assay.report.numbers import count

# What a title tells that the page has cut.
_FULL = 300
_NUMBERS = re.compile(r"(\d[\d.,]*%|\[-?\d[\d., -]*\])")


@dataclass(frozen=True)
class Name:
    """A name as it is shown, and as much of it as a title can hold where that is more."""

    shown: str
    full: str
    marked: bool = False


def named(text: str, letters: int) -> Name:
    """A name cut to so many letters."""
    shown, full = name(text, letters), name(text, max(letters, _FULL))
    return Name(shown, "" if full == shown else full)


def sentence(text: str, limits: Limits) -> str:
    """A sentence that may hold names: visible, and no longer than the limit."""
    return short(visible(short(text, 4 * limits.long)), limits.long, " \u2026 ")


def left_out(number: int, what: str) -> str:
    """What is said of things that the page has no room for."""
    return f"{count(number)} more {what} are left out here; JSON holds them." if number > 0 else ""


def pieces(text: str, limits: Limits) -> tuple[tuple[str, str], ...]:
    """A sentence in pieces, each with its class: numbers and intervals stand out.

    >>> pieces("Catches 95.3% [94.8, 95.8].", Limits())
    (('', 'Catches '), ('number', '95.3%'), ('', ' '), ('interval', '[94.8, 95.8]'), ('', '.'))
    """
    found = []
    for i, part in enumerate(_NUMBERS.split(sentence(text, limits))):
        kind = "" if i % 2 == 0 else "interval" if part.startswith("[") else "number"
        if part:
            found.append((kind, part))
    return tuple(found)
