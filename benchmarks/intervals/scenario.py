"""What a simulation is, how it is run, and what it found."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from assay.inference import Estimate

PROMISE = (0.93, 0.975)


class Scenario(Protocol):
    """One combination of sizes, rates and dependence that rows are drawn from again and again."""

    @property
    def group(self) -> str:
        """The table that it belongs to."""

    @property
    def setting(self) -> str:
        """The scenario in words; no two of a group share it."""

    def truths(self) -> Mapping[str, float]:
        """What each measure would be in an endless population."""

    def promised(self, measure: str, /) -> bool:
        """Whether there are rows enough that the interval should cover."""

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """The estimates of fresh samples."""


@dataclass
class Coverage:
    """How often the interval of one measure held the truth in one scenario.

    ``silent`` counts the samples that had no value or no interval; they are left out.
    """

    group: str
    measure: str
    setting: str
    promised: bool
    truth: float
    method: str = ""
    covered: float = 0
    too_low: float = 0
    too_high: float = 0
    silent: float = 0
    widths: float = 0
    exact: bool = False

    @property
    def judged(self) -> float:
        """How many samples had an interval."""
        return self.covered + self.too_low + self.too_high

    @property
    def share(self) -> float:
        """How often the truth lay in the interval."""
        return self.covered / self.judged if self.judged else math.nan

    @property
    def width(self) -> float:
        """How wide the intervals were on average."""
        return self.widths / self.judged if self.judged else math.nan

    @property
    def error(self) -> float:
        """The standard error of that share; nothing where it was summed and not drawn."""
        if self.exact or not self.judged:
            return 0.0
        share = (self.covered + 1) / (self.judged + 2)
        return math.sqrt(share * (1 - share) / self.judged)

    @property
    def kept(self) -> bool:
        """Whether the promise is kept, as far as the simulation can tell."""
        low, high = PROMISE
        return low - 3 * self.error <= self.share <= high + 3 * self.error

    def add(self, estimate: Estimate) -> None:
        """Note one sample's interval."""
        low, high = estimate.low, estimate.high
        if math.isnan(estimate) or math.isnan(low) or math.isnan(high):
            self.silent += 1
            return
        slack = 1e-12 * max(1.0, abs(self.truth))
        self.too_low += high < self.truth - slack
        self.too_high += low > self.truth + slack
        self.covered += low - slack <= self.truth <= high + slack
        self.widths += high - low
        if estimate.method not in self.method.split(", "):
            self.method = ", ".join(filter(None, [self.method, estimate.method]))

    def plain(self) -> dict[str, Any]:
        """The numbers as plain values, for JSON."""
        return {**asdict(self), "share": self.share, "error": self.error, "width": self.width}


def run(scenario: Scenario, samples: int) -> list[Coverage]:
    """Draw samples, the same ones in each run."""
    rng = np.random.default_rng(zlib.crc32(f"{scenario.group}: {scenario.setting}".encode()))
    coverages = {
        measure: Coverage(
            scenario.group, measure, scenario.setting, scenario.promised(measure), truth
        )
        for measure, truth in scenario.truths().items()
    }
    for estimates in scenario.draw(rng, samples):
        for measure, coverage in coverages.items():
            coverage.add(estimates[measure])
    return list(coverages.values())
