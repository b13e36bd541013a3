"""Probabilities: log loss, Brier score and its resolution, and the line of calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, xlogy

import assay
from assay import Estimate
from assay.evaluation import Judge
from assay.measures import find

ENOUGH = 20
# Bins of few rows differ by chance, which looks like resolution.
ENOUGH_FOR_BINS = 1000
BINS = 15
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
        """The setting in words."""
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
            "brier_resolution": _resolution(said, chance),
            # The log odds that are said are those of the chance, times the sharpness.
            "calibration_slope": 1 / self.sharpness,
            "calibration_intercept": _intercept(said, chance),
        }

    def inside(self, measure: str) -> bool:
        """Whether enough rows of both classes are expected."""
        rarer = self.rows * min(self.a, self.b) / (self.a + self.b)
        if measure == "brier_resolution":
            return self.rows >= ENOUGH_FOR_BINS and rarer >= 5 * ENOUGH
        return rarer >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows."""
        for _ in range(repetitions):
            chance = rng.beta(self.a, self.b, self.rows)
            truth = rng.random(self.rows) < chance
            judged = assay.evaluate(truth, y_score=self.said(chance), labels=[False, True])
            judge = Judge(judged.tally)
            yield 1, {measure: judge.scored(find(measure)) for measure in measures}


def _resolution(said: np.ndarray, chance: np.ndarray) -> float:
    """How far the chances of bins lie from that of all rows."""
    places = np.minimum((said * BINS).astype(int), BINS - 1)
    rows = np.bincount(places, minlength=BINS)
    sums = np.bincount(places, chance, minlength=BINS)
    means = np.divide(sums, rows, out=np.zeros(BINS), where=rows > 0)
    return float((rows * (means - chance.mean()) ** 2).sum() / len(said))


def _intercept(said: np.ndarray, chance: np.ndarray) -> float:
    """What has to be added to all log odds so that their mean is the prevalence."""
    odds, target = logit(said), chance.mean()
    return float(brentq(lambda a: expit(a + odds).mean() - target, -20, 20, xtol=1e-12))


def scenarios(*, quick: bool) -> list[Probabilities]:
    """Sharp and vague models, rare attacks, and models that are too sure."""
    shapes = ((2, 2), (0.3, 0.3), (0.1, 0.4), (0.1, 1.9), (0.05, 4.95))
    sizes = (100, 1000) if quick else (30, 100, 300, 1000, 5000)
    settings = [Probabilities(a, b, n) for a, b in shapes[::2] for n in sizes]
    if not quick:
        settings = [Probabilities(a, b, n) for a, b in shapes for n in sizes]
        settings += [Probabilities(1, 3, n, 2.0) for n in sizes]
        settings += [Probabilities(0.3, 0.9, n, 3.0) for n in sizes]
    return settings
