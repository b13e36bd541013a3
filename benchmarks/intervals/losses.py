"""Probabilities: log loss and Brier score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, expit, logit, xlogy

import assay
from assay import Estimate
from assay.evaluation import Judge
from assay.measures import find

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
        return {"log_loss": float(log.mean()), "brier": float(brier.mean())}

    def inside(self, _measure: str) -> bool:
        """Whether enough rows of both classes are expected."""
        return self.rows * min(self.a, self.b) / (self.a + self.b) >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent rows."""
        for _ in range(repetitions):
            chance = rng.beta(self.a, self.b, self.rows)
            truth = rng.random(self.rows) < chance
            tally = assay.count(truth, y_score=self.said(chance), labels=[False, True])
            judge = Judge(tally)
            yield 1, {measure: judge.scored(find(measure)) for measure in measures}


def scenarios(*, quick: bool) -> list[Probabilities]:
    """Sharp and vague models, rare attacks, and models that are too sure."""
    shapes = ((2, 2), (0.3, 0.3), (0.1, 0.4), (0.1, 1.9), (0.05, 4.95))
    sizes = (100, 1000) if quick else (30, 100, 300, 1000, 5000)
    found = [Probabilities(a, b, n) for a, b in shapes[::2] for n in sizes]
    if not quick:
        found = [Probabilities(a, b, n) for a, b in shapes for n in sizes]
        found += [Probabilities(1, 3, n, 2.0) for n in sizes]
        found += [Probabilities(0.3, 0.9, n, 3.0) for n in sizes]
    return found
