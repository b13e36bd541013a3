"""Parts and columns as the messages of checks name them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.evaluation.words import name, some


def columns(names: Sequence[str]) -> str:
    """Columns in a sentence, the first five of many.

    >>> columns(["id"]), columns(["id", "time"])
    ("column 'id'", "columns 'id' and 'time'")
    """
    return f"column{'' if len(names) == 1 else 's'} {some([name(each) for each in names])}"


def share(part: float, whole: float) -> str:
    """A part in percent of a whole; a little of it is never nothing, and not all of it never all.

    >>> share(1, 3), share(1, 10**6), share(10**6 - 1, 10**6)
    ('33.3%', '0.0001%', 'nearly 100%')
    """
    text = f"{100 * part / whole:.3g}%"
    return "nearly 100%" if text == "100%" and part < whole else text
