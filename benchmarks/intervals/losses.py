"""Probabilities: log loss, Brier score, and the line of calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, xlogy

from assay.counts import LossSums, ScoreCounts
from assay.inference import Estimate
from intervals.estimates import loss, scored

LABELS = ("negative", "positive")
ENOUGH = 20
_SMALLEST = 2.0**-52


@dataclass(frozen=True)
class Probabilities:
    """Rows whose true chance of being positive follows a beta distribution.

    The model says that chance; with ``sharpness`` above 1 it is too sure of itself.
    """

    a: float
    b: float
    rows: int
    sharpness: float = 1.0
    group = "probabilities"

    @property
    def setting(self) -> str:
        """The scenario in words."""
        kind = "calibrated" if self.sharpness == 1 else "too sure of itself"
        share = self.a / (self.a + self.b)
        return f"{kind}, beta({self.a:g}, {self.b:g}), prevalence {share:.2g}, {self.rows:,} rows"

    def said(self, chance: np.ndarray) -> np.ndarray:
        """The probability that the model gives."""
        return expit(self.sharpness * logit(chance))

    def truths(self) -> dict[str, float]:
        """The means over the population, at the midpoints of a fine grid of its quantiles."""
        grid = (np.arange(1_000_000) + 0.5) / 1_000_000
        chance = betaincinv(self.a, self.b, grid)
        said = self.said(chance)
        log = -xlogy(chance, np.maximum(said, _SMALLEST))
        log -= xlogy(1 - chance, np.maximum(1 - said, _SMALLEST))
        brier = chance * (1 - said) ** 2 + (1 - chance) * said**2
        return {
            "log_loss": float(log.mean()),
            "brier": float(brier.mean()),
            # The log odds that are said are those of the chance, times the sharpness.
            "calibration_slope": 1 / self.sharpness,
            "calibration_intercept": _intercept(said, chance),
        }

    def promised(self, _measure: str) -> bool:
        """Whether enough rows of both classes are expected."""
        return self.rows * min(self.a, self.b) / (self.a + self.b) >= ENOUGH

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """Samples of independent rows."""
        for _ in range(samples):
            chance = rng.beta(self.a, self.b, self.rows)
            truth = (rng.random(self.rows) < chance).astype(np.uint8)
            said = self.said(chance)
            sums, table = LossSums.of_rows(truth, said), ScoreCounts.of_rows(LABELS, said, truth)
            yield {name: loss(name, sums) for name in ("log_loss", "brier")} | {
                name: scored(name, table) for name in ("calibration_slope", "calibration_intercept")
            }


def _intercept(said: np.ndarray, chance: np.ndarray) -> float:
    """What has to be added to all log odds so that their mean is the prevalence."""
    odds, target = logit(said), chance.mean()
    return float(brentq(lambda a: expit(a + odds).mean() - target, -20, 20, xtol=1e-12))


def scenarios(*, quick: bool) -> list[Probabilities]:
    """Sharp and vague models, rare attacks, and models that are too sure."""
    if quick:
        return [Probabilities(2, 2, 300), Probabilities(0.1, 1.9, 1000)]
    shapes = ((2, 2), (0.3, 0.3), (0.1, 0.4), (0.1, 1.9), (0.05, 4.95))
    sizes = (30, 100, 300, 1000, 5000)
    return [
        *(Probabilities(a, b, rows) for a, b in shapes for rows in sizes),
        *(Probabilities(1, 3, rows, 2.0) for rows in sizes),
    ]
