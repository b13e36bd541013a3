"""Measures by whatever name they are called, also ones that are not in the catalogue."""

from __future__ import annotations

from assay.errors import UnknownMeasure
from assay.measures import Better, Measure, parse


def known(measure: str) -> tuple[Measure, str | None] | None:
    """The measure and its suffix; None where it is not in the catalogue."""
    try:
        return parse(measure)
    except UnknownMeasure:
        return None


def key(measure: str) -> str:
    """The name under which a measure is known; one that is not known as it is.

    >>> key("detection_rate"), key("my_own")
    ('recall', 'my_own')
    """
    found = known(measure)
    if found is None:
        return measure
    of, suffix = found
    return of.name if suffix is None else f"{of.name}.{suffix}"


def direction(measure: str) -> int:
    """1 where higher is better, -1 where lower is, 0 where neither is.

    A measure that is not known is taken as better when higher.
    """
    found = known(measure)
    if found is None:
        return 1
    return {Better.HIGHER: 1, Better.LOWER: -1, Better.NEITHER: 0}[found[0].better]
