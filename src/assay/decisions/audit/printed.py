"""A number as somebody printed it, and the rule by which it is held against the exact one.

Its digits say how exact it claims to be; exact values are enclosed between two rationals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from assay.decisions.audit.result import Verdict
from assay.errors import InputError
from assay.formula import Expression, enclosure
from assay.formula.single import UndefinedRatio
from assay.inference import Quantity
from assay.tally import Confusion

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


# -- against the exact number ----------------------------------------------------------------------

# How far a float64 from a few operations may be off, relatively and near zero.
_SLACK = Fraction(1, 10**12)
# How often a verdict is preferred when a number may be read in several ways.
ORDER = (
    Verdict.CONSISTENT,
    Verdict.ROUNDING,
    Verdict.UNDETERMINED,
    Verdict.CONFLICT,
    Verdict.INCONSISTENT,
)
_MOST_DECIMALS = 24


@dataclass(frozen=True)
class Exact:
    """A number between two rationals that no printed number can tell apart; equal if rational."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, number: Fraction | int) -> Exact:
        """A rational number."""
        return cls(Fraction(number), Fraction(number))

    @classmethod
    def root(cls, number: Fraction, bits: int = 96) -> Exact:
        """The square root of a rational that is not negative, to so many bits."""
        top, bottom = number.numerator, number.denominator
        exact = Fraction(math.isqrt(top), math.isqrt(bottom))
        if exact * exact == number:
            return cls.of(exact)
        shift = bits + max(0, bottom.bit_length() - top.bit_length()) // 2 + 1
        scaled = math.isqrt((top << (2 * shift)) // bottom)
        return cls(Fraction(scaled, 1 << shift), Fraction(scaled + 1, 1 << shift))

    @classmethod
    def near(cls, number: float) -> Exact:
        """A number that was worked out in floats, with the error that this leaves."""
        found = Fraction(number)
        slack = abs(found) * _SLACK + _SLACK / 1000
        return cls(found - slack, found + slack)

    @property
    def middle(self) -> Fraction:
        """The rational in the middle."""
        return (self.low + self.high) / 2

    def __float__(self) -> float:
        return as_float(self.middle)

    def complement(self) -> Exact:
        """1 less the number."""
        return Exact(1 - self.high, 1 - self.low)

    def times(self, factor: Fraction) -> Exact:
        """The number times a rational above zero."""
        return Exact(self.low * factor, self.high * factor)

    def widened(self, by: Fraction) -> Exact:
        """All numbers that differ from it by no more than this."""
        return Exact(self.low - by, self.high + by)


def as_float(number: Fraction) -> float:
    """The nearest float64; infinite where the number is beyond all of them."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def exact_of(quantity: Quantity, confusion: Confusion) -> Exact | None:
    """The exact value of a formula; None where it is undefined."""
    return exact(quantity.expression, quantity.cells(confusion))


def exact(expression: Expression, cells: Mapping[str, Any]) -> Exact | None:
    """The exact value of an expression of cells; None where a denominator is zero."""
    try:
        return Exact(*enclosure(expression, cells))
    except UndefinedRatio:
        return None


# -- the rule --------------------------------------------------------------------------------------


def judge(reported: Printed, exact: Exact) -> Verdict:
    """Consistent if correctly rounded, rounding if off by less than one unit of the last digit.

    >>> str(judge(printed("0.967"), Exact.of(Fraction(14378, 14869))))
    'consistent'
    """
    if reported.rounds(exact.low, exact.high):
        return Verdict.CONSISTENT
    if reported.truncates(exact.low, exact.high):
        return Verdict.ROUNDING
    return Verdict.INCONSISTENT


def same_digits(reported: Printed, exact: Exact) -> bool:
    """Whether the number is printed so when it is rounded or cut off at the last digit."""
    if judge(reported, exact) is Verdict.CONSISTENT:
        return True
    below, above = exact.low - reported.value, exact.high - reported.value
    if reported.value < 0:
        below, above = -above, -below
    return above >= 0 and below < reported.unit


def worst(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on several numbers that stand or fall together."""
    return max(verdicts, key=ORDER.index)


@dataclass(frozen=True)
class Held:
    """A reported number held against an exact one, and what is said of that."""

    verdict: Verdict
    exact: Exact
    said: str
    reported: Printed


def hold(reported: Printed, exact: Exact, what: str) -> Held:
    """Judge a number and say why; ``what`` is what it is held against, as ``3/4``."""
    verdict = judge(reported, exact)
    shown = decimal(exact, reported)
    said = f"{what} = {shown}" if what and what != shown else shown
    said = f"{said}, {_fit(verdict, reported, exact)}"
    if reported.percent and "%" not in reported.text:
        said += " (read as a percentage)"
    return Held(verdict, exact, said, reported)


def best(found: Sequence[Held]) -> Held:
    """The kindest of several readings; the first of those that are alike."""
    return min(found, key=lambda held: ORDER.index(held.verdict))


def _fit(verdict: Verdict, reported: Printed, exact: Exact) -> str:
    if verdict is Verdict.INCONSISTENT:
        return "not what is printed"
    if verdict is Verdict.ROUNDING:
        way = "cut off" if abs(reported.value) < abs(exact.middle) else "rounded up"
        return f"{way}: less than one unit of the last digit off"
    if exact.low == exact.high == reported.value:
        return "as printed"
    return "correctly rounded"


def decimal(exact: Exact, like: Printed) -> str:
    """An exact number in decimals: a digit more than was printed, on the same scale.

    >>> decimal(Exact.of(Fraction(14378, 14869)), printed("96.70%"))
    '96.698%'
    """
    percent = like.percent and "%" in like.text
    scale = 100 if percent else 1
    decimals = min(max(_decimals(like.unit * scale) + 1, 0), _MOST_DECIMALS)
    number = exact.middle * scale
    # A number that ends soon is shown whole, so that an exact half is seen.
    whole = next((d for d in range(decimals, decimals + 3) if not number * 10**d % 1), decimals)
    text = written(number, whole)
    # A value that is small beside the last digit would read as nothing.
    if number and not text.strip("-0."):
        text = f"{float(exact) * scale:.2g}"
    return f"{text}%" if percent else text


def written(number: Fraction, decimals: int) -> str:
    """A rational with at most so many decimals, and with thousands separators."""
    scaled = round(abs(number) * 10**decimals)
    whole, rest = divmod(scaled, 10**decimals)
    tail = f".{rest:0{decimals}d}".rstrip("0").rstrip(".") if decimals else ""
    sign = "-" if number < 0 and scaled else ""
    return f"{sign}{whole:,}{tail}"


def _decimals(unit: Fraction) -> int:
    """How many decimals a unit of the last digit stands for."""
    if unit >= 1:
        return 0
    return len(str(unit.denominator // unit.numerator)) - 1
