"""A printed number against the exact one: the rule, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from assay.decisions.audit.claim import Claim, Key
from assay.decisions.audit.printed import Printed
from assay.decisions.audit.result import Verdict
from assay.decisions.audit.values import Exact

# From this many digits on, this much relative error passes: a calculator's own.
MANY_DIGITS = 8
RELATIVE = Fraction(1, 10**6)
# How often a verdict is preferred when a number may be read in several ways.
ORDER = (Verdict.CONSISTENT, Verdict.ROUNDING, Verdict.UNDETERMINED, Verdict.INCONSISTENT)
_MOST_DECIMALS = 24


def judge(reported: Printed, exact: Exact) -> Verdict:
    """Consistent if correctly rounded, rounding if off by less than one unit of the last digit.

    >>> from assay.decisions.audit.printed import printed
    >>> str(judge(printed("0.967"), Exact.of(Fraction(14378, 14869))))
    'consistent'
    """
    if reported.rounds(exact.low, exact.high) or _within_relative(reported, exact):
        return Verdict.CONSISTENT
    if reported.truncates(exact.low, exact.high):
        return Verdict.ROUNDING
    return Verdict.INCONSISTENT


def _within_relative(reported: Printed, exact: Exact) -> bool:
    if reported.digits < MANY_DIGITS:
        return False
    low, high = exact.low - abs(exact.low) * RELATIVE, exact.high + abs(exact.high) * RELATIVE
    return low <= reported.value <= high


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


def spellings(reported: Printed, key: Key, claim: Claim) -> tuple[Printed, ...]:
    """What the digits may mean: as they stand, or percent where the claim leaves signs out."""
    if claim.percents and key.bounded and not reported.percent:
        return reported, reported.as_percent()
    return (reported,)


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
    if reported.rounds(exact.low, exact.high):
        return "correctly rounded"
    return "within one part in a million"


def decimal(exact: Exact, like: Printed) -> str:
    """An exact number in decimals: a digit more than was printed, on the same scale.

    >>> from assay.decisions.audit.printed import printed
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
