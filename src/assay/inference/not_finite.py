"""Places of a document: of numbers that JSON does not have, and of what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from assay.errors import InputError

_SPELLED = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_LONGEST = 60


def finite(found: Any) -> Any:
    """Plain values with null for what is not finite."""
    return settled(found, {})


def settled(found: Any, odd: dict[str, str], at: str = "") -> Any:
    """Plain values with null for what is not finite, which ``odd`` gets by its place.

    >>> odd = {}
    >>> settled({"df": (3, math.inf)}, odd), odd
    ({'df': [3, None]}, {'/df/1': 'inf'})
    """
    if isinstance(found, float):
        if math.isfinite(found):
            return found
        odd[at] = "nan" if math.isnan(found) else "inf" if found > 0 else "-inf"
        return None
    if isinstance(found, dict):
        return {key: settled(part, odd, f"{at}/{_escaped(key)}") for key, part in found.items()}
    if isinstance(found, list | tuple):
        return [settled(part, odd, f"{at}/{i}") for i, part in enumerate(found)]
    return found


def unsettled(found: Any, odd: Mapping[str, Any]) -> None:
    """Put back, in place, what :func:`settled` took out."""
    for place, spelled in odd.items():
        way = [part.replace("~1", "/").replace("~0", "~") for part in place.split("/")[1:]]
        held, last = _held(found, way)
        known = isinstance(spelled, str) and spelled in _SPELLED
        if held is None or not known or held[last] is not None:
            raise InputError(f"there is no null at {shortened(place)!r} to be {spelled!r}")
        held[last] = _SPELLED[spelled]


def _held(found: Any, way: list[str]) -> tuple[Any, Any]:
    """The object or list that a way leads into, and the key or place there; None where it fails."""
    held: Any = None
    last: Any = None
    for part in way:
        held, found = found, None
        if isinstance(held, dict) and part in held:
            last = part
        elif isinstance(held, list) and part.isdecimal() and int(part) < len(held):
            last = int(part)
        else:
            return None, None
        found = held[last]
    return held, last


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key


def shortened(text: str) -> str:
    """A text as it goes into a message: printable and not too long."""
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def odd(at: str, given: Any, expected: str) -> InputError:
    """The error of a value that is not what its place asks for."""
    return InputError(f"{place_of(at)} is {shortened(repr(given))}; expected {expected}")


def place_of(at: str) -> str:
    """A place of a document as it goes into a message."""
    return shortened(at) or "the document"
