"""What a simulation is, how it is run, and what it found."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from assay import Estimate

PROMISE = (0.93, 0.975)


class Scenario(Protocol):
    """One setting that rows are drawn from again and again."""

    @property
    def group(self) -> str:
        """The table of the report that it belongs to."""

    @property
    def setting(self) -> str:
        """The setting in words; no two scenarios of a group share it."""

    def truths(self) -> Mapping[str, float]:
        """What each measure would be in an endless population."""

    def inside(self, measure: str, /) -> bool:
        """Whether the promise is made here."""

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Estimates of fresh samples, and how often each sample was drawn."""


@dataclass
class Coverage:
    """How often the interval of one measure held the truth in one setting.

    ``silent`` counts the samples that had no value or no interval; they are left out.
    """

    group: str
    measure: str
    setting: str
    inside: bool
    truth: float
    method: str = ""
    covered: float = 0
    too_low: float = 0
    too_high: float = 0
    silent: float = 0
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
    def error(self) -> float:
        """The standard error of that share; nothing where it was summed and not drawn."""
        if self.exact or not self.judged:
            return 0.0
        share = (self.covered + 1) / (self.judged + 2)
        return math.sqrt(share * (1 - share) / self.judged)

    @property
    def decided(self) -> bool:
        """Whether more samples could not change on which side of the promise it lies."""
        return all(abs(self.share - edge) > 3 * self.error for edge in PROMISE)

    @property
    def kept(self) -> bool:
        """Whether the promise is kept, as far as the simulation can tell."""
        low, high = PROMISE
        return low - 3 * self.error <= self.share <= high + 3 * self.error

    def add(self, times: int, estimate: Estimate) -> None:
        """Note one sample's interval."""
        if math.isnan(estimate) or math.isnan(estimate.low) or math.isnan(estimate.high):
            self.silent += times
            return
        slack = 1e-12 * max(1.0, abs(self.truth))
        if estimate.high < self.truth - slack:
            self.too_low += times
        elif estimate.low > self.truth + slack:
            self.too_high += times
        else:
            self.covered += times
        if estimate.method not in self.method.split(", "):
            self.method = ", ".join(filter(None, [self.method, estimate.method]))

    def plain(self) -> dict[str, Any]:
        """The numbers as plain values, for JSON."""
        return {**asdict(self), "share": self.share, "error": self.error}


def run(scenario: Scenario, repetitions: int, at_most: int) -> list[Coverage]:
    """Draw until each measure that the promise is made for is decided, or drawn often enough."""
    name = f"{scenario.group}: {scenario.setting}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    coverages = {
        measure: Coverage(
            scenario.group, measure, scenario.setting, scenario.inside(measure), truth
        )
        for measure, truth in scenario.truths().items()
    }
    wanted, drawn, batch = list(coverages), 0, repetitions
    while wanted and drawn < at_most:
        for times, estimates in scenario.draw(rng, batch, wanted):
            for measure in wanted:
                coverages[measure].add(times, estimates[measure])
        drawn += batch
        batch = min(drawn, at_most - drawn)
        wanted = [m for m in wanted if coverages[m].inside and not coverages[m].decided]
    return list(coverages.values())
