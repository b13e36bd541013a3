"""A mistake that may have been made with one number, what it gives, and plain slips of the pen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction

from assay.decisions.audit.exact import Exact, judge
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Verdict
from assay.measures import Measure


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


_SHIFTS = (
    (Fraction(1, 10), "the point moved one place to the left"),
    (Fraction(10), "the point moved one place to the right"),
    (Fraction(1, 100), "the point moved two places to the left (a percent sign too many)"),
    (Fraction(100), "the point moved two places to the right (a percent sign left out)"),
)


def shifted(value: Exact) -> Iterator[Candidate]:
    """The point moved by one or two places."""
    for factor, said in _SHIFTS:
        yield Candidate("decimal-shift", said, value.times(factor), Tier.SHIFT)


def turned(value: Exact, name: str, measure: Measure | None = None) -> Iterator[Candidate]:
    """1 - x, and for what may be negative, the sign lost."""
    said = f"1 - {name}"
    if measure is not None and measure.complement:
        said += f", which is the {measure.complement.replace('_', ' ')},"
    yield Candidate("complement", said, value.complement(), Tier.USUAL)
    if measure is not None and measure.range[0] < 0:
        turned_over = Exact(-value.high, -value.low)
        yield Candidate("sign-lost", f"{name} with the other sign", turned_over, Tier.USUAL)


def on_top(first: Candidate) -> Iterator[Candidate]:
    """A slip on top of another mistake."""
    for second in (*shifted(first.value), *turned(first.value, "that")):
        yield replace(
            second,
            mistake=f"{first.mistake}+{second.mistake}",
            said=f"{first.said} and then {second.said}",
            tier=Tier.TWICE,
        )
