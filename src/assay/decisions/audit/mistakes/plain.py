"""Slips of the pen: the point moved, 1 - x for x, a sign lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from assay.decisions.audit.mistakes.candidate import Candidate, Tier
from assay.decisions.audit.values import Exact
from assay.measures import Measure

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
