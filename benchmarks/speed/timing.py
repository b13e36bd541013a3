"""Timing, and what a measurement is held against."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


def best(work: Callable[[], Any], repeats: int) -> float:
    """The shortest of some runs, in seconds: what the work costs when nothing else runs."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


@dataclass(frozen=True)
class Finding:
    """One measured number, and its target where there is one."""

    what: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.at_most is not None:
            return self.value <= self.at_most
        if self.at_least is not None:
            return self.value >= self.at_least
        return None

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_most is not None:
            return f"at most {self.at_most:g}"
        return "" if self.at_least is None else f"at least {self.at_least:g}"

    def line(self) -> str:
        """One line of the table."""
        verdict = {None: "", True: "pass", False: "FAIL"}[self.met]
        return f"{self.what:<62} {self.value:>9.4g} {self.unit:<6} {self.target:<13} {verdict}"

    def plain(self) -> dict[str, Any]:
        """The finding as plain values, for JSON."""
        target = {"at_most": self.at_most, "at_least": self.at_least}
        return {
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            **target,
            "met": self.met,
        }
