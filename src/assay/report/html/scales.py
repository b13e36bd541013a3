"""Where numbers stand in a plot: round ends, ticks and positions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from assay.inference import Estimate

_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Strip:
    """An interval and its value as positions in percent; empty where there is none."""

    value: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Scale:
    """From numbers to the share of a width."""

    low: float = 0.0
    high: float = 1.0

    def share(self, number: float) -> float:
        """Where a number stands, from 0 to 1."""
        return min(max((number - self.low) / (self.high - self.low), 0.0), 1.0)

    def at(self, number: float) -> str:
        """The same in percent; empty for what has no place."""
        return "" if math.isnan(number) else f"{100 * self.share(number):.2f}%"

    def strip(self, found: Estimate) -> Strip:
        """An estimate as a dot with its interval."""
        return Strip(self.at(found), self.at(found.low), self.at(found.high))

    def ticks(self) -> tuple[tuple[str, str], ...]:
        """Round numbers as (position in percent, text)."""
        return tuple((self.at(number), text) for number, text in self.marks())

    def marks(self) -> tuple[tuple[float, str], ...]:
        """Round numbers, and their text."""
        step = _step(self.high - self.low)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return tuple((i * step, f"{i * step:.{digits}f}") for i in range(first, last + 1))


@dataclass(frozen=True)
class Frame:
    """Where a drawing has its axes, in its own units; shares of them as coordinates."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def x(self, share: float) -> str:
        """From the left."""
        return f"{self.left + share * (self.right - self.left):.1f}"

    def y(self, share: float) -> str:
        """From the bottom."""
        return f"{self.bottom - share * (self.bottom - self.top):.1f}"


def _step(width: float) -> float:
    """A round number that goes about five times into a width."""
    rough = width / 5
    power: float = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in _STEPS if m * power >= rough * 0.999)


def around(numbers: Iterable[float], bounds: tuple[float, float]) -> Scale:
    """A scale with round ends that holds the numbers and does not leave the bounds.

    >>> around([0.013, 0.022], (0, 1))
    Scale(low=0.012, high=0.022)
    """
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    step = _step(high - low)
    return Scale(
        max(math.floor(low / step + 1e-9) * step, bounds[0]),
        min(math.ceil(high / step - 1e-9) * step, bounds[1]),
    )
