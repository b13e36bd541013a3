"""How scores are kept: all of them, those of the rarer labels, or cells of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

BITS = 12


@dataclass(frozen=True)
class Exact:
    """Every distinct score."""

    name = "exact"


@dataclass(frozen=True)
class Cuts:
    """Exact too: the distinct scores of all labels but the most frequent one.

    Rows of that label are counted at those very scores and into the gaps between them. A gap stands
    as the float after its lower end, so that the count from any kept score on is exact.
    """

    name = "cuts"


@dataclass(frozen=True)
class Grid:
    """Cells that nest and add.

    A score of 0 to 1 lies in a cell of t = min(s, 1 - s): its exponent, and so many bits of its
    mantissa. Other scores are in cells by their sign, exponent and mantissa.
    """

    bits: int = BITS
    name = "grid"


Keeping: TypeAlias = Exact | Cuts | Grid
