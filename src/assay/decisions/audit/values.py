"""Exact values of measures of a confusion matrix, enclosed between two rationals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.decisions.audit.claim import Key
from assay.formula import Expression, enclosure, of_classes
from assay.formula.exact import UndefinedRatio
from assay.inference import Quantity
from assay.tally import Confusion

# How far a float64 from a few operations may be off, relatively and near zero.
_SLACK = Fraction(1, 10**12)


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


def quantity_of(key: Key, confusion: Confusion, positive: str | None) -> Quantity | None:
    """The formula of a key on this matrix; None where the matrix can't give it.

    ``positive`` is the label that a bare one-sided key speaks of; None for K classes, where a bare
    one-sided key names no formula.
    """
    measure = key.measure
    if measure.formula is None and measure.classes is None:
        return None
    if key.average is not None:
        if not measure.averages or measure.formula is None:
            return None
        return Quantity(of_classes(measure.formula, key.average))
    if key.label is not None:
        if key.label not in confusion.labels or measure.formula is None:
            return None
        return Quantity(measure.formula, label=confusion.labels.index(key.label))
    if positive is not None and measure.formula is not None:
        return Quantity(measure.formula, label=confusion.labels.index(positive))
    if measure.classes is not None:
        return Quantity(measure.classes)
    return None


def exact_of(quantity: Quantity, confusion: Confusion) -> Exact | None:
    """The exact value of a formula; None where it is undefined."""
    return exact(quantity.expression, quantity.cells(confusion))


def exact(expression: Expression, cells: Mapping[str, Any]) -> Exact | None:
    """The exact value of an expression of cells; None where a denominator is zero."""
    try:
        return Exact(*enclosure(expression, cells))
    except UndefinedRatio:
        return None
