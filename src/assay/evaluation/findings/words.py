"""Numbers and labels as messages write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from assay.inference import Estimate

# A message names so many labels, and so much of a long one; the report lists all of them.
_NAMED = 5
_LONGEST = 40


def count(number: Any) -> str:
    """A count, or a sum of weights.

    >>> count(14869), count(2.5)
    ('14,869', '2.5')
    """
    return f"{number:,}" if isinstance(number, int) else f"{number:,.4g}"


def rows(number: Any) -> str:
    """How many rows."""
    return f"{count(number)} row{'' if number == 1 else 's'}"


def rate(number: float) -> str:
    """A number to three digits.

    >>> rate(0.97512), rate(0.0000106)
    ('0.975', '1.06e-05')
    """
    return f"{number:.3g}"


def percent(share: float) -> str:
    """A share in percent.

    >>> percent(0.4681), percent(0.0001)
    ('46.8%', '0.01%')
    """
    return f"{100 * share:.3g}%"


def interval(found: Estimate) -> str:
    """An estimate with its interval, small ones too."""
    if math.isnan(found.low) or math.isnan(found.high):
        return rate(found)
    return f"{rate(found)} [{rate(found.low)}, {rate(found.high)}]"


def name(label: str) -> str:
    """A label in quotes, cut where it is very long."""
    return repr(label if len(label) <= _LONGEST else label[: _LONGEST - 3] + "...")


def listed(items: Sequence[str]) -> str:
    """A few items as a sentence names them.

    >>> listed(["a", "b", "c"]), listed(list("abcdefgh"))
    ('a, b and c', 'a, b, c, d, e and 3 more')
    """
    if len(items) > _NAMED:
        return f"{', '.join(items[:_NAMED])} and {len(items) - _NAMED} more"
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)
