"""Intervals and standard errors by textbook formulas."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from scipy.special import betaincinv, ndtri

from honest.printing import Printer, root


def intervals(k: float, n: int, level: float) -> dict[str, tuple[float, float]]:
    """Textbook formulas, with the quantile exact or rounded to two decimals."""
    numbers = {}
    tail = (1 - level) / 2
    p = k / n
    for name, z in (("", -float(ndtri(tail))), (" rounded", round(-float(ndtri(tail)), 2))):
        error = math.sqrt(p * (1 - p) / n)
        numbers["wald" + name] = p - z * error, p + z * error
        numbers["wald-cc" + name] = p - z * error - 0.5 / n, p + z * error + 0.5 / n
        centre, reach = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
        numbers["wilson" + name] = tuple((centre + s * reach) / (1 + z * z / n) for s in (-1, 1))
        more = n + z * z
        q = (k + z * z / 2) / more
        numbers["agresti" + name] = tuple(
            q + s * z * math.sqrt(q * (1 - q) / more) for s in (-1, 1)
        )
    numbers["jeffreys"] = tuple(
        float(betaincinv(k + 0.5, n - k + 0.5, t)) for t in (tail, 1 - tail)
    )
    low = 0.0 if k <= 0 else float(betaincinv(k, n - k + 1, tail))
    high = 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1 - tail))
    numbers["clopper-pearson"] = low, high
    numbers["clipped"] = max(numbers["wald"][0], 0.0), min(numbers["wald"][1], 1.0)
    return numbers


NAMES = {"agresti": "agresti-coull", "clipped": "wald"}


@dataclass(frozen=True)
class Style:
    """How an author makes intervals; ``named`` where the claim says how."""

    method: str
    level: float
    named: bool

    @classmethod
    def drawn(cls, rng: random.Random) -> Style:
        """Some author's way."""
        method = rng.choice(sorted(intervals(5, 10, 0.95)))
        level = rng.choice((0.95, 0.95, 0.9, 0.99))
        return cls(method, level, method != "clipped" and rng.random() < 0.4)

    def said(self, rng: random.Random) -> dict[str, Any]:
        """What a claim says of it."""
        if not self.named:
            return {}
        name = self.method.removesuffix(" rounded")
        fields: dict[str, Any] = {"interval": NAMES.get(name, name)}
        if rng.random() < 0.7 or self.level != 0.95:
            fields["level"] = self.level
        return fields


def with_interval(
    rng: random.Random,
    reported: dict[str, Any],
    key: str,
    share: tuple[int, int],
    show: Printer,
    style: Style,
) -> None:
    """Report a share of rows with its interval and standard error."""
    k, n = share
    if not n:
        return
    value = show(Fraction(k, n))
    reported[key] = value
    successes: float = k
    if rng.random() < 0.3 and 0 <= show.read(value) <= 1:
        # From the rounded value: the author's table is all that is left.
        successes = float(show.read(value) * n)
    low, high = intervals(successes, n, style.level)[style.method]
    if show.percent == "bare" and max(abs(low), abs(high)) * 100 <= 1:
        return
    reported[f"{key}.ci"] = [show(Fraction(low)), show(Fraction(high))]
    p = Fraction(successes).limit_denominator(10**15) / n
    reported[f"{key}.se"] = show(root(max(p * (1 - p), Fraction(0)) / n))
