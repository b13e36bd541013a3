"""Intervals that a report may have used for a share of rows, and for what is none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.inference import AgrestiCoull, ClopperPearson, Jeffreys, Wilson
from assay.inference.quantiles import normal, student

LEVELS = (0.95, 0.9, 0.99)
# The quantiles that tables and textbooks round to.
ROUNDED_Z = {0.95: (1.96,), 0.9: (1.645, 1.64, 1.65), 0.99: (2.576, 2.575, 2.58)}
# A bootstrap of this many resamples, and how many standard errors of its noise are allowed.
RESAMPLES = 1000
NOISE = 4.0


@dataclass(frozen=True)
class Candidate:
    """An interval by one method at one level."""

    method: str
    level: float
    low: float
    high: float
    z: float | None = None

    @property
    def words(self) -> str:
        """As a sentence names it: 95% Wilson interval."""
        rounded = f" with z = {self.z:g}" if self.z is not None else ""
        return f"{100 * self.level:g}% {NAMES.get(self.method, self.method)} interval{rounded}"

    def cut(self, low: float = 0.0, high: float = 1.0) -> Candidate:
        """The same interval cut to a range."""
        ends = max(self.low, low), min(self.high, high)
        return Candidate(self.method, self.level, *ends, self.z)


NAMES = {
    "wald": "Wald",
    "wald-cc": "continuity-corrected Wald",
    "wald-t": "Student's t",
    "wilson": "Wilson",
    "wilson-cc": "continuity-corrected Wilson",
    "clopper-pearson": "Clopper-Pearson",
    "jeffreys": "Jeffreys",
    "agresti-coull": "Agresti-Coull",
    "fold": "normal fold",
    "fold t": "Student's t fold",
}


def quantiles(levels: Iterable[float]) -> Iterator[tuple[float, float, float | None]]:
    """Each level with its quantile, then with the rounded ones, which are named."""
    for level in levels:
        yield level, normal(level), None
    for level in levels:
        for z in ROUNDED_Z.get(level, ()):
            yield level, z, z


def around(value: float, reach: float) -> tuple[float, float]:
    """The value less and plus a reach."""
    return value - reach, value + reach


def share_intervals(k: float, n: float, levels: tuple[float, ...]) -> Iterator[Candidate]:
    """Every known interval for k successes in n trials; k need not be whole."""
    p = k / n
    error = math.sqrt(max(p * (1 - p), 0.0) / n)
    for level, z, named in quantiles(levels):
        yield from _both("wald", level, around(p, z * error), named)
        yield from _both("wald-cc", level, around(p, z * error + 1 / (2 * n)), named)
        # A method finds its quantile by its level.
        own = math.erf(z / math.sqrt(2)) if named else level
        yield Candidate("wilson", level, *_floats(Wilson(own)(k, n)), named)
        yield Candidate("wilson-cc", level, *_corrected_wilson(p, n, z), named)
        yield Candidate("agresti-coull", level, *_floats(AgrestiCoull(own)(k, n)), named)
        more, centre = n + z * z, (k + z * z / 2) / (n + z * z)
        reach = z * math.sqrt(max(centre * (1 - centre), 0.0) / more)
        yield Candidate("agresti-coull", level, *around(centre, reach), named)
    for level in levels:
        yield Candidate("clopper-pearson", level, *_floats(ClopperPearson(level)(k, n)))
        yield Candidate("jeffreys", level, *_floats(Jeffreys(level)(k, n)))
        yield Candidate("jeffreys", level, *_equal_tails(k, n, level))
        if n > 1:
            yield from _both("wald-t", level, around(p, student(level, n - 1) * error), None)


def _both(
    method: str, level: float, ends: tuple[float, float], z: float | None
) -> Iterator[Candidate]:
    """An interval as its formula gives it, and cut to [0, 1]."""
    found = Candidate(method, level, *ends, z)
    yield found
    if found.low < 0 or found.high > 1:
        yield found.cut()


def _floats(ends: tuple[object, object]) -> tuple[float, float]:
    low, high = ends
    return float(low), float(high)  # type: ignore[arg-type]


def _corrected_wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """Wilson's interval with a continuity correction (Newcombe 1998, method 4)."""
    q, square = 1 - p, z * z
    below = square - 2 - 1 / n + 4 * p * (n * q + 1)
    above = square + 2 - 1 / n + 4 * p * (n * q - 1)
    low = (2 * n * p + square - 1 - z * math.sqrt(max(below, 0.0))) / (2 * (n + square))
    high = (2 * n * p + square + 1 + z * math.sqrt(max(above, 0.0))) / (2 * (n + square))
    return (0.0 if p <= 0 else max(low, 0.0)), (1.0 if p >= 1 else min(high, 1.0))


def _equal_tails(k: float, n: float, level: float) -> tuple[float, float]:
    """Jeffreys' interval without its closed form at the edges."""
    from scipy.special import betainccinv, betaincinv

    tail, a, b = (1 - level) / 2, k + 0.5, n - k + 0.5
    return float(betaincinv(a, b, tail)), float(betainccinv(a, b, tail))


def resampled_range(
    k: float, n: float, level: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the ends of a percentile bootstrap of a share lie, its noise allowed for.

    The resampled share is binomial. The order statistic of 1,000 has a rank that is off by its own
    standard error.
    """
    tail = (1 - level) / 2
    noise = NOISE * math.sqrt(tail * (1 - tail) / RESAMPLES)
    inner, outer = min(tail + noise, 0.5), max(tail - noise, tail / 10)
    p = k / n
    error = math.sqrt(max(p * (1 - p), 0.0) / n)
    # The normal quantiles, moved by the skew of the binomial; a row either way for its steps.
    skew = (1 - 2 * p) / 6 / n

    def end(share: float, side: int) -> float:
        z = normal(1 - 2 * share)
        return p + side * z * error + skew * (z * z - 1)

    step = 1 / n
    low = end(outer, -1) - step, end(inner, -1) + step
    high = end(inner, 1) - step, end(outer, 1) + step
    return low, high


def hanley_mcneil(auc: float, positives: int, negatives: int) -> float:
    """The standard error of an AUC by Hanley and McNeil (1982)."""
    q1, q2 = auc / (2 - auc), 2 * auc * auc / (1 + auc)
    spread = auc * (1 - auc)
    spread += (positives - 1) * (q1 - auc * auc) + (negatives - 1) * (q2 - auc * auc)
    return math.sqrt(max(spread, 0.0) / (positives * negatives))
