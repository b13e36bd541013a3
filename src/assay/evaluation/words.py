"""Numbers and labels as sentences write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.inference import Estimate

# A finding names so many labels, and so much of a long one; the report lists all of them.
_NAMED = 5
_LONGEST = 40


def count(number: float) -> str:
    """A count with thousands separators; a sum of weights to about four digits.

    >>> count(14869), count(12345.678), count(0.25)
    ('14,869', '12,346', '0.25')
    """
    if isinstance(number, int) or float(number).is_integer():
        return f"{int(number):,}"
    if abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:,.4g}"


def rows(number: float) -> str:
    """How many rows."""
    return f"{count(number)} row{'' if number == 1 else 's'}"


def rate(number: float) -> str:
    """A number to three digits, or more where it would read as 1 and is less.

    >>> rate(0.97512), rate(0.0000106), rate(0.99996)
    ('0.975', '1.06e-05', '0.99996')
    """
    return below(number, 1)


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.4681), percent(0.0001), percent(0.99996)
    ('46.8%', '0.01%', '99.996%')
    """
    return f"{below(100 * share, 100)}%"


def below(number: float, whole: float, digits: int = 3) -> str:
    """A number to so many digits, or more where it would read as the whole and is less."""
    texts = [f"{number:.{more}g}" for more in range(digits, 14)]
    return next((text for text in texts if number >= whole or float(text) < whole), texts[0])


def interval(found: Estimate) -> str:
    """An estimate with its interval, small ones too."""
    if math.isnan(found.low) or math.isnan(found.high):
        return rate(found)
    return f"{rate(found)} [{rate(found.low)}, {rate(found.high)}]"


def name(label: str) -> str:
    """A label in quotes, cut where it is very long."""
    return repr(label if len(label) <= _LONGEST else label[: _LONGEST - 3] + "...")


def listed(items: Sequence[str]) -> str:
    """Items as a sentence names them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def some(items: Sequence[str]) -> str:
    """The first five of many items, and how many more there are.

    >>> some(["a", "b"]), some(list("abcdefgh"))
    ('a and b', 'a, b, c, d, e and 3 more')
    """
    left = len(items) - _NAMED
    return listed([*items[:_NAMED], f"{left} more"] if left > 0 else items)
