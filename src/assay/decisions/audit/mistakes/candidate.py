"""A mistake that may have been made with one number, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from assay.decisions.audit.judge import judge
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.values import Exact


class Tier(IntEnum):
    """How readily a mistake is believed: the simple and frequent ones come first."""

    SHIFT = 0
    USUAL = 1
    MATRIX = 2
    ASSUMED = 3
    ANY = 4
    SWAP = 5
    TWICE = 6


class Fit(IntEnum):
    """How a value gives the printed digits."""

    ROUNDED = 0
    CUT = 1


@dataclass(frozen=True)
class Candidate:
    """What a mistake gives for one number.

    ``said`` is what was done, as the subject of a sentence: "the error rate in place of the
    accuracy". ``high`` is the upper end where the number is an interval. ``spoils`` is how many
    numbers that are right would be wrong if it had been made with the whole matrix.
    """

    mistake: str
    said: str
    value: Exact
    tier: Tier
    high: Exact | None = None
    spoils: int = 0

    @property
    def ends(self) -> tuple[Exact, ...]:
        """The value, or both ends of an interval."""
        return (self.value,) if self.high is None else (self.value, self.high)

    @property
    def approximate(self) -> tuple[float, ...]:
        """The ends as floats that are equal where the values are."""
        return tuple(float(f"{float(end):.11e}") for end in self.ends)


def fit(reported: Printed, value: Exact) -> Fit | None:
    """How a value gives these digits: rounded, cut off (off by less than a unit), or not."""
    found = judge(reported, value)
    if found is Verdict.INCONSISTENT:
        return None
    return Fit.ROUNDED if found is Verdict.CONSISTENT else Fit.CUT
