"""How much of a document the page shows."""

from __future__ import annotations

from dataclasses import dataclass, fields

_FEWEST = 6
_SHORTEST = 24


@dataclass(frozen=True)
class Limits:
    """The most of each kind; what is left out is said, and stands in the other formats.

    ``lines`` holds for findings, notes and inputs, ``letters`` for a name, ``long`` for the letters
    of a sentence.
    """

    rows: int = 100
    dots: int = 50
    classes: int = 30
    blocks: int = 64
    lines: int = 64
    letters: int = 64
    long: int = 1600

    def tighter(self) -> Limits:
        """The same with less of everything, for a page that came out too large."""
        less = {field.name: max(getattr(self, field.name) // 2, _FEWEST) for field in fields(self)}
        return Limits(**{**less, "letters": max(less["letters"], _SHORTEST)})
