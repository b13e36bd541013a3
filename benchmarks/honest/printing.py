"""Numbers printed as authors print them: rounded or cut off, in percent or not."""

from __future__ import annotations

import random
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

Number = Fraction | Decimal
CONTEXT = Context(prec=60)
ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_EVEN, ROUND_DOWN)


def decimal(value: Number) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def root(value: Fraction) -> Decimal:
    return CONTEXT.sqrt(decimal(value))


class Printer:
    """Prints numbers as one author does: so many decimals, one way to round, percent or not."""

    def __init__(self, rng: random.Random) -> None:
        self.decimals = rng.choice((2, 3, 3, 4, 4, 4, 5, 6, 8, 10, 12, 16))
        self.rounding = rng.choice(ROUNDINGS)
        self.percent = rng.choice(("", "", "%", "%", "bare"))

    def __call__(self, value: Number, *, plain: bool = False) -> str:
        """A number as it goes into the claim; ``plain`` ones are never percentages."""
        decimals = self.decimals
        exact = decimal(value)
        if self.percent and not plain:
            exact, decimals = exact.scaleb(2, CONTEXT), max(decimals - 2, 0)
        unit = Decimal(1).scaleb(-decimals)
        shown = format(exact.quantize(unit, rounding=self.rounding, context=CONTEXT), "f")
        return f"{shown}%" if self.percent == "%" and not plain else shown

    def read(self, text: str) -> Fraction:
        """What a printed number stands for."""
        share = self.percent != ""
        return Fraction(text.rstrip("%")) / (100 if share else 1)
