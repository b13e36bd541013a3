"""Parts and columns as the messages of checks name them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.evaluation.words import name, some
from assay.inference import Estimate
from assay.learn.checks.equal import COARSE

_LEAST, _MOST = 3, 7


def columns(names: Sequence[str]) -> str:
    """Columns in a sentence, the first five of many.

    >>> columns(["id"]), columns(["id", "time"])
    ("column 'id'", "columns 'id' and 'time'")
    """
    return f"column{'' if len(names) == 1 else 's'} {some([name(each) for each in names])}"


def how_near(dropped: Sequence[str], *, numbers: bool) -> str:
    """In what near duplicates agree, with the identifiers that were left out.

    >>> how_near(["id"], numbers=True), how_near([], numbers=False)
    ("after rounding to 3 digits without column 'id'", 'but for case and punctuation')
    """
    if dropped and not numbers:
        return f"without {columns(dropped)}"
    how = f"after rounding to {COARSE} digits" if numbers else "but for case and punctuation"
    return f"{how} without {columns(dropped)}" if dropped else how


def share(part: float, whole: float) -> str:
    """A part in percent of a whole; nearly all of it is never all.

    >>> share(1, 3), share(1, 10**6), share(10**6 - 1, 10**6), share(10**9 - 1, 10**9)
    ('33.3%', '0.0001%', '99.9999%', 'more than 99.9999%')
    """
    for digits in range(3, 7):
        shown = f"{100 * part / whole:.{digits}g}"
        if shown != "100" or part >= whole:
            return f"{shown}%"
    return "more than 99.9999%"


def estimate(found: Estimate) -> str:
    """A share with its interval, with as many digits as tell it from 0 and from 1.

    >>> estimate(Estimate(0.9995, 0.9987, 1)), estimate(Estimate(0.5, 0.4, 0.6))
    ('0.9995 [0.9987, 1]', '0.500 [0.400, 0.600]')
    """
    numbers = [number for number in (float(found), found.low, found.high) if not math.isnan(number)]
    digits = _LEAST
    while digits < _MOST and any(
        number not in (0, 1) and round(number, digits) in (0, 1) for number in numbers
    ):
        digits += 1
    value, *ends = (
        f"{number:.0f}" if number in (0, 1) else f"{number:.{digits}f}" for number in numbers
    )
    return f"{value} [{', '.join(ends)}]" if len(ends) == 2 else value
