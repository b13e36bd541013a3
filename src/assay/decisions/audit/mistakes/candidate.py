"""A mistake that may have been made with one number, what it gives, and by how much chance."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from assay.decisions.audit.printed import Exact, Printed, as_float, judge
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


Floats = npt.NDArray[np.float64]
Spans = tuple[Floats, Floats]


def spans(values: Iterable[Exact], reported: Printed) -> Spans:
    """The printed numbers, in units of the last digit, that each value would be printed as."""
    ends = [
        (
            math.floor(_units(value.low, reported)),
            math.ceil(_units(value.high, reported)),
        )
        for value in values
    ]
    found = np.array(ends, np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def spans_of_floats(values: Floats, reported: Printed) -> Spans:
    """The same for values known as floats; those that are undefined are left out."""
    with np.errstate(over="ignore"):
        units = values[np.isfinite(values)] / unit_of(reported)
    return np.floor(units), np.ceil(units)


def _units(number: Fraction, reported: Printed) -> float:
    """How many units of the last digit a number has, as far as floats go."""
    return min(max(as_float(number / reported.unit), -sys.float_info.max), sys.float_info.max)


def unit_of(reported: Printed) -> float:
    """One unit of the last digit; never zero, however small it is."""
    return max(as_float(reported.unit), sys.float_info.min)


def together(parts: Sequence[Spans]) -> Spans:
    """Several collections as one."""
    return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])


def share(found: Spans, low: float, high: float) -> float:
    """Of the whole numbers from ``low`` to ``high``, the share that lies in a span.

    >>> import numpy as np
    >>> share((np.array([2.0, 3.0]), np.array([3.0, 5.0])), 1, 10)
    0.4
    """
    starts, ends = np.maximum(found[0], low), np.minimum(found[1], high)
    kept = starts <= ends
    starts, ends = starts[kept], ends[kept]
    if not len(starts):
        return 0.0
    order = np.argsort(starts)
    starts, ends = starts[order], ends[order]
    # What the spans before one have already counted is not counted again.
    before = np.concatenate([[low - 1], np.maximum.accumulate(ends)[:-1]])
    new = np.maximum(ends - np.maximum(starts, before + 1) + 1, 0)
    return float(min(1.0, new.sum() / (high - low + 1)))


def chance(found: Spans, reported: Printed, bounds: tuple[float, float] | None) -> float:
    """Of the numbers with so many digits, the share that some value would be printed as.

    The numbers have the sign of the reported one and stay within the range of the measure.
    """
    most = 10.0**reported.digits - 1
    negative = reported.value < 0
    if bounds is not None:
        limit = abs(bounds[0] if negative else bounds[1])
        if math.isfinite(limit) and abs(reported.value) <= limit:
            most = min(most, math.floor(limit / unit_of(reported) + 0.5))
    return share(found, -most if negative else 0.0, 0.0 if negative else most)


def guess(found: Spans, reported: Printed, right: float) -> float:
    """Of the numbers no farther from the right one than the reported, the share that is explained.

    Near the right value the many swaps of cells crowd, and one of them fits whatever is printed.
    """
    unit = unit_of(reported)
    middle, reach = right / unit, abs(as_float(reported.value) - right) / unit
    if not math.isfinite(middle) or not math.isfinite(reach):
        # Beyond all floats nothing crowds.
        return 0.0
    return share(found, math.floor(middle - reach), math.ceil(middle + reach))
