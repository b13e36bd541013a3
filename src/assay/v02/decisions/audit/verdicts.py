"""What an audit found, and the rule by which a printed number is held against the exact one.

The digits of a number say how exact it claims to be; exact values are enclosed between two
rationals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from assay.errors import InputError
from assay.v02.evaluation.findings import Finding
from assay.v02.formula import Expression, enclosure
from assay.v02.formula.one_table import UndefinedRatio
from assay.v02.inference import Quantity
from assay.v02.inference.fields import Recorded, Result
from assay.v02.number_text import significant
from assay.v02.tally import Confusion

if TYPE_CHECKING:
    from assay.v02.decisions.plotting import AuditPlots


class NumberVerdict(StrEnum):
    """Whether a reported number can be right.

    ``inconsistent``: no way of blaming fewest numbers can do without it; ``conflict``: it is one of
    several that can't all be right, and it can't be told which is wrong.
    """

    CONSISTENT = "consistent"
    ROUNDING = "rounding"
    CONFLICT = "conflict"
    INCONSISTENT = "inconsistent"
    UNDETERMINED = "undetermined"


@dataclass(frozen=True)
class Explanation:
    """A mistake that gives the printed digits.

    ``explains`` is how many of the claim's inconsistent numbers the same mistake gives, ``chance``
    how likely a random number of so few digits would be explained by some mistake too. ``also``
    names mistakes that the digits can't tell from this one.
    """

    mistake: str
    value: float
    text: str
    explains: int = 1
    chance: float = 0.0
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgedNumber:
    """A reported number, what it should be, and what is said of it.

    ``key`` is the key as reported, ``n`` for the stated size, or the expression of a calculation.
    ``recomputed`` is a pair for an interval and None where nothing decides it. ``said`` is a plain
    sentence: what it was held against, and why it is so. ``doubt`` is what is said instead, of a
    number that can't be told from a right one unless a mistake gives it.
    """

    key: str
    measure: str | None
    reported: str | tuple[str, str]
    recomputed: float | tuple[float, float] | None
    verdict: NumberVerdict
    said: str = ""
    explanations: tuple[Explanation, ...] = ()
    doubt: str = ""


WRONG = (NumberVerdict.INCONSISTENT, NumberVerdict.CONFLICT)


@dataclass(frozen=True)
class Conflict:
    """Reported numbers, by their keys, of which at least one is wrong, and why."""

    keys: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class AuditedClaim(Recorded):
    """A claim, the verdict on each of its numbers, and those that contradict each other."""

    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    name: str
    source: str
    numbers: tuple[JudgedNumber, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    file: str = ""
    conflicts: tuple[Conflict, ...] = ()

    @property
    def verdict(self) -> NumberVerdict:
        """Inconsistent if some number must be wrong; undetermined if nothing could be judged."""
        verdicts = {number.verdict for number in self.numbers}
        if verdicts.intersection(WRONG):
            return NumberVerdict.INCONSISTENT
        if verdicts & {NumberVerdict.CONSISTENT, NumberVerdict.ROUNDING}:
            return NumberVerdict.CONSISTENT
        return NumberVerdict.UNDETERMINED


@dataclass(frozen=True, repr=False)
class Audit(Result, Recorded):
    """Claims and what was found of each, and of all rows of a table together.

    ``notes`` say what files were read as, and what of them was not read.
    """

    SCHEMA: ClassVar[str] = "assay.audit/1"

    claims: tuple[AuditedClaim, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether no number has to be wrong."""
        return all(claim.verdict is not NumberVerdict.INCONSISTENT for claim in self.claims)

    @property
    def judged(self) -> bool:
        """Whether any number could be judged; if not, that nothing is wrong says nothing."""
        return any(claim.verdict is not NumberVerdict.UNDETERMINED for claim in self.claims)

    @property
    def plot(self) -> AuditPlots:
        """Figures by matplotlib: ``audit.plot.numbers()``; needs the extra ``plot``."""
        from assay.v02.decisions.plotting import AuditPlots

        return AuditPlots(self)


# -- printed numbers -------------------------------------------------------------------------------

_PRINTED = re.compile(
    r"([+-]?)([1-9]\d{0,2}(?:,\d{3})+|\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?\s?(\\?%)?",
    re.ASCII | re.IGNORECASE,
)
# A comma that stands for the decimal point: 0,967 or 96,7%.
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+\s?%?", re.ASCII)
# Blanks that typesetters put between thousands, and dashes that they use for a minus sign.
_SPELLING = str.maketrans({"\u2009": ",", "\u202f": ",", "\u2212": "-", "\u2013": "-"})
MOST_DIGITS = 60


class DigitWindow(NamedTuple):
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

        >>> DigitWindow(Fraction(1, 3), Fraction(2, 3), closed=False).counts(3)
        range(2, 2)
        """
        low, high = self.low * rows, self.high * rows
        first, last = math.ceil(low), math.floor(high)
        if not self.closed:
            first, last = first + (first == low), last - (last == high)
        return range(max(first, 0), max(min(last, rows) + 1, first, 0))

    def smallest_denominator(self) -> int:
        """The smallest denominator of any fraction in it, by continued fractions.

        >>> DigitWindow(
        ...     Fraction(311, 1000), Fraction(312, 1000), closed=True
        ... ).smallest_denominator()
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

    def window(self, *, rounded: bool) -> DigitWindow:
        """The values that are printed so: correctly rounded, or off by less than one unit."""
        close = rounded or self.by_program
        reach = self.unit / 2 if close else self.unit
        return DigitWindow(self.value - reach, self.value + reach, closed=close)

    def rounds(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Whether a number between these rationals, correctly rounded, is printed so."""
        return self.window(rounded=True).holds(low, low if high is None else high)

    def truncates(self, low: Fraction, high: Fraction | None = None) -> bool:
        """Whether such a number is off by less than one unit of the last digit."""
        return self.window(rounded=False).holds(low, low if high is None else high)

    @cached_property
    def nearby(self) -> tuple[float, float]:
        """The floats nearest to the ends of all that is printed so, rounded or cut off.

        Nearest floats stand in the order of their numbers: what is beyond them is beyond the ends.
        """
        return as_float(self.value - self.unit), as_float(self.value + self.unit)

    def as_percent(self) -> Printed:
        """The same digits read as a percentage whose sign was left out."""
        return replace(self, value=self.value / 100, unit=self.unit / 100, percent=True)


def printed(text: str | int | Decimal) -> Printed:
    """Read a number as printed: ``0.9598``, ``96.70%``, ``51,324,897``, ``1.2e-4``."""
    shown = str(text).strip().translate(_SPELLING)
    match = _PRINTED.fullmatch(shown) if len(shown) <= MOST_DIGITS else None
    if match is None or not (match[2] or match[3]):
        hint = ""
        if _DECIMAL_COMMA.fullmatch(shown[:MOST_DIGITS]):
            hint = "; a comma parts thousands here, write the decimal point as ."
        raise InputError(
            f"{str(text)[:MOST_DIGITS]!r} is not a printed number such as 0.967, 96.70% or "
            f"51,324{hint}"
        )
    sign, whole, decimals = match[1], (match[2] or "").replace(",", ""), match[3] or ""
    scale = Fraction(10) ** int(match[4] or 0) / (100 if match[5] else 1)
    unit = scale / 10 ** len(decimals)
    value = int((whole + decimals) or "0") * unit * (-1 if sign == "-" else 1)
    significant = (whole + decimals).lstrip("0")
    return Printed(str(text), value, unit, max(len(significant), 1), bool(match[5]))


# -- against the exact number ----------------------------------------------------------------------

# How far a float64 from a few operations may be off, relatively and near zero.
_SLACK = Fraction(1, 10**12)
# How often a verdict is preferred when a number may be read in several ways.
ORDER = (
    NumberVerdict.CONSISTENT,
    NumberVerdict.ROUNDING,
    NumberVerdict.UNDETERMINED,
    NumberVerdict.CONFLICT,
    NumberVerdict.INCONSISTENT,
)
_MOST_DECIMALS = 24


@dataclass(frozen=True)
class Enclosure:
    """A number between two rationals that no printed number can tell apart; equal if rational."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, number: Fraction | int) -> Enclosure:
        """A rational number."""
        return cls(Fraction(number), Fraction(number))

    @classmethod
    def root(cls, number: Fraction, bits: int = 96) -> Enclosure:
        """The square root of a rational that is not negative, to so many bits."""
        top, bottom = number.numerator, number.denominator
        exact = Fraction(math.isqrt(top), math.isqrt(bottom))
        if exact * exact == number:
            return cls.of(exact)
        shift = bits + max(0, bottom.bit_length() - top.bit_length()) // 2 + 1
        scaled = math.isqrt((top << (2 * shift)) // bottom)
        return cls(Fraction(scaled, 1 << shift), Fraction(scaled + 1, 1 << shift))

    @classmethod
    def near(cls, number: float) -> Enclosure:
        """A number that was worked out in floats, with the error that this leaves."""
        value = Fraction(number)
        slack = abs(value) * _SLACK + _SLACK / 1000
        return cls(value - slack, value + slack)

    @property
    def middle(self) -> Fraction:
        """The rational in the middle."""
        return (self.low + self.high) / 2

    def __float__(self) -> float:
        return as_float(self.middle)

    def complement(self) -> Enclosure:
        """1 less the number."""
        return Enclosure(1 - self.high, 1 - self.low)

    def times(self, factor: Fraction) -> Enclosure:
        """The number times a rational above zero."""
        return Enclosure(self.low * factor, self.high * factor)

    def widened(self, by: Fraction) -> Enclosure:
        """All numbers that differ from it by no more than this."""
        return Enclosure(self.low - by, self.high + by)


def as_float(number: Fraction) -> float:
    """The nearest float64; infinite where the number is beyond all of them."""
    try:
        return number.numerator / number.denominator
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def exact_of(quantity: Quantity, confusion: Confusion) -> Enclosure | None:
    """The exact value of a formula; None where it is undefined."""
    return exact(quantity.expression, quantity.cells(confusion))


def exact(expression: Expression, cells: Mapping[str, Any]) -> Enclosure | None:
    """The exact value of an expression of cells; None where a denominator is zero."""
    try:
        return Enclosure(*enclosure(expression, cells))
    except UndefinedRatio:
        return None


# -- the rule --------------------------------------------------------------------------------------


def judge(reported: Printed, exact: Enclosure) -> NumberVerdict:
    """Consistent if correctly rounded, rounding if off by less than one unit of the last digit.

    >>> str(judge(printed("0.967"), Enclosure.of(Fraction(14378, 14869))))
    'consistent'
    """
    # Most mistakes are far from the digits, and floats tell it a hundred times as fast.
    least, most = reported.nearby
    if as_float(exact.low) > most or as_float(exact.high) < least:
        return NumberVerdict.INCONSISTENT
    if reported.rounds(exact.low, exact.high):
        return NumberVerdict.CONSISTENT
    if reported.truncates(exact.low, exact.high):
        return NumberVerdict.ROUNDING
    return NumberVerdict.INCONSISTENT


def same_digits(reported: Printed, exact: Enclosure) -> bool:
    """Whether the number is printed so when it is rounded or cut off at the last digit."""
    if judge(reported, exact) is NumberVerdict.CONSISTENT:
        return True
    below, above = exact.low - reported.value, exact.high - reported.value
    if reported.value < 0:
        below, above = -above, -below
    return above >= 0 and below < reported.unit


def worst(verdicts: Sequence[NumberVerdict]) -> NumberVerdict:
    """The verdict on several numbers that stand or fall together."""
    return max(verdicts, key=ORDER.index)


@dataclass(frozen=True)
class HeldNumber:
    """A reported number held against an exact one, and what is said of that."""

    verdict: NumberVerdict
    exact: Enclosure
    said: str
    reported: Printed


def hold(reported: Printed, exact: Enclosure, what: str) -> HeldNumber:
    """Judge a number and say why; ``what`` is what it is held against, as ``3/4``."""
    verdict = judge(reported, exact)
    shown = decimal(exact, reported)
    said = f"{what} = {shown}" if what and what != shown else shown
    said = f"{said}, {_fit(verdict, reported, exact)}"
    if reported.percent and "%" not in reported.text:
        said += " (read as a percentage)"
    return HeldNumber(verdict, exact, said, reported)


def best(comparisons: Sequence[HeldNumber]) -> HeldNumber:
    """The kindest of several readings; the first of those that are alike."""
    return min(comparisons, key=lambda held: ORDER.index(held.verdict))


def _fit(verdict: NumberVerdict, reported: Printed, exact: Enclosure) -> str:
    if verdict is NumberVerdict.INCONSISTENT:
        return "not what is printed"
    if verdict is NumberVerdict.ROUNDING:
        way = "cut off" if abs(reported.value) < abs(exact.middle) else "rounded up"
        return f"{way}: less than one unit of the last digit off"
    if exact.low == exact.high == reported.value:
        return "as printed"
    return "correctly rounded"


def decimal(exact: Enclosure, like: Printed) -> str:
    """An exact number in decimals: a digit more than was printed, on the same scale.

    >>> decimal(Enclosure.of(Fraction(14378, 14869)), printed("96.70%"))
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
        text = significant(float(exact) * scale, 2)
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
