"""A number as somebody printed it: its digits say how exact it claims to be."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from assay.errors import InputError

_PRINTED = re.compile(
    r"([+-]?)([1-9]\d{0,2}(?:,\d{3})+|\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?\s?(\\?%)?",
    re.ASCII | re.IGNORECASE,
)
# A comma that stands for the decimal point: 0,967 or 96,7%.
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\s?%?", re.ASCII)
# Blanks that typesetters put between thousands, and dashes that they use for a minus sign.
_SPELLING = str.maketrans({"\u2009": ",", "\u202f": ",", "\u2212": "-", "\u2013": "-"})
MOST_DIGITS = 60


class Window(NamedTuple):
    """Where the exact value of a printed number may lie; both ends belong to it if ``closed``."""

    low: Fraction
    high: Fraction
    closed: bool

    def holds(self, low: Fraction, high: Fraction) -> bool:
        """Whether some number between two rationals lies in it."""
        if self.closed:
            return self.low <= high and low <= self.high
        return self.low < high and low < self.high

    def counts(self, rows: int) -> range:
        """The counts k of some rows for which k/rows lies in it: the test of Brown and Heathers.

        >>> Window(Fraction(1, 3), Fraction(2, 3), closed=False).counts(3)
        range(2, 2)
        """
        low, high = self.low * rows, self.high * rows
        first, last = math.ceil(low), math.floor(high)
        if not self.closed:
            first, last = first + (first == low), last - (last == high)
        return range(max(first, 0), max(min(last, rows) + 1, first, 0))

    def smallest_denominator(self) -> int:
        """The smallest denominator of any fraction in it, by continued fractions.

        >>> Window(Fraction(311, 1000), Fraction(312, 1000), closed=True).smallest_denominator()
        45
        """
        return _simplest(self.low, self.high, closed=self.closed).denominator


def _simplest(low: Fraction, high: Fraction, *, closed: bool) -> Fraction:
    whole = math.floor(low)
    if low == whole and closed:
        return Fraction(whole)
    if whole + 1 < high or (closed and whole + 1 == high):
        return Fraction(whole + 1)
    if low == whole:
        # Above an integer that does not count itself: 1/k for the first k that is small enough.
        k = math.floor(1 / (high - whole)) + 1
        return whole + Fraction(1, k)
    rest = _simplest(1 / (high - whole), 1 / (low - whole), closed=closed)
    return whole + 1 / rest


@dataclass(frozen=True)
class Printed:
    """A printed number: its value, one unit of its last digit, and how many digits count.

    A percentage is read as the share that it stands for; ``percent`` tells that it was one. What
    was printed ``by_program`` is correctly rounded, never cut off.

    >>> printed("96.70%")
    Printed(text='96.70%', value=Fraction(967, 1000), unit=Fraction(1, 10000), digits=4)
    """

    text: str
    value: Fraction
    unit: Fraction
    digits: int
    percent: bool = field(default=False, repr=False)
    by_program: bool = field(default=False, repr=False)

    def window(self, *, rounded: bool) -> Window:
        """The values that are printed so: correctly rounded, or off by less than one unit."""
        close = rounded or self.by_program
        reach = self.unit / 2 if close else self.unit
        return Window(self.value - reach, self.value + reach, closed=close)

    def rounds(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Whether a number between these rationals, correctly rounded, is printed so."""
        return self.window(rounded=True).holds(low, low if high is None else high)

    def truncates(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Whether such a number is off by less than one unit of the last digit."""
        return self.window(rounded=False).holds(low, low if high is None else high)

    def as_percent(self) -> Printed:
        """The same digits read as a percentage whose sign was left out."""
        return replace(self, value=self.value / 100, unit=self.unit / 100, percent=True)


def printed(text: str | int | Decimal) -> Printed:
    """Read a number as printed: ``0.9598``, ``96.70%``, ``51,324,897``, ``1.2e-4``."""
    shown = str(text).strip().translate(_SPELLING)
    found = _PRINTED.fullmatch(shown) if len(shown) <= MOST_DIGITS else None
    if found is None or not (found[2] or found[3]):
        hint = ""
        if _DECIMAL_COMMA.fullmatch(shown[:MOST_DIGITS]):
            hint = "; a comma parts thousands here, write the decimal point as ."
        raise InputError(
            f"{str(text)[:MOST_DIGITS]!r} is not a printed number such as 0.967, 96.70% or "
            f"51,324{hint}"
        )
    sign, whole, decimals = found[1], (found[2] or "").replace(",", ""), found[3] or ""
    scale = Fraction(10) ** int(found[4] or 0) / (100 if found[5] else 1)
    unit = scale / 10 ** len(decimals)
    value = int((whole + decimals) or "0") * unit * (-1 if sign == "-" else 1)
    significant = (whole + decimals).lstrip("0")
    return Printed(str(text), value, unit, max(len(significant), 1), bool(found[5]))
