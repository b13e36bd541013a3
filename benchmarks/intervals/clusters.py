"""Rows that come in clusters, such as hosts: those of one cluster are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri, roots_hermitenorm

import assay
from assay import Estimate
from assay.evaluation import Judge
from assay.formula import evaluate
from assay.measures import find
from intervals import ranking
from intervals.weights import estimate

ENOUGH = 30
ENOUGH_FOR_MEANS = 100
COUNTED = (
    "accuracy",
    "precision",
    "recall",
    "false_positive_rate",
    "f1",
    "balanced_accuracy",
    "mcc",
    "kappa",
)
CUT = 0.5


@dataclass(frozen=True)
class Hosts:
    """Hosts that differ in size, in how many of their rows are attacks, and in how they score.

    On a latent scale negatives are N(0, 1) and positives N(2, 1); each host shifts its scores by
    N(0, between). The score is the normal distribution function of the latent one, less 1.
    """

    hosts: int
    size: float
    between: float
    prevalence: float
    group = "clusters"
    mean = 2.0

    @property
    def setting(self) -> str:
        """The setting in words."""
        alike = self.between**2 / (1 + self.between**2)
        return (
            f"{self.hosts} clusters of {self.size:g} rows, correlation {alike:.2g} within, "
            f"prevalence {self.prevalence:g}"
        )

    def truths(self) -> dict[str, float]:
        """The values of endlessly many hosts."""
        spread = float(np.hypot(1, self.between))
        latent = float(ndtri(CUT)) + 1
        hit, alarm = (float(ndtr((m - latent) / spread)) for m in (self.mean, 0.0))
        cells = {
            "TP": self.prevalence * hit,
            "FN": self.prevalence * (1 - hit),
            "FP": (1 - self.prevalence) * alarm,
            "TN": (1 - self.prevalence) * (1 - alarm),
        }
        values = {m: float(evaluate(find(m).formula, cells)) for m in COUNTED}
        edges = np.linspace(-8 * spread, self.mean + 8 * spread, 400_001)
        sides = (ndtr(edges / spread), ndtr((edges - self.mean) / spread))
        q, p = (np.diff(side, prepend=0, append=1) for side in sides)
        scored = ranking.truths(q, p, self.prevalence)
        values |= {name: scored[name] for name in ("roc_auc", "average_precision")}
        nodes, weights = roots_hermitenorm(200)
        weights = weights / weights.sum()
        losses = {"log_loss": 0.0, "brier": 0.0}
        for share, mean, label in ((self.prevalence, self.mean, 1), (1 - self.prevalence, 0.0, 0)):
            said = ndtr(mean + spread * nodes - 1)
            given = said if label else 1 - said
            losses["log_loss"] -= share * float(weights @ np.log(np.maximum(given, 2.0**-52)))
            losses["brier"] += share * float(weights @ (1 - given) ** 2)
        return values | losses

    def inside(self, measure: str) -> bool:
        """Whether there are enough clusters; skewed measures need more."""
        few = measure in ("average_precision", "log_loss", "brier")
        return self.hosts >= (ENOUGH_FOR_MEANS if few else ENOUGH)

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent hosts."""
        for _ in range(repetitions):
            sizes = rng.poisson(self.size, self.hosts)
            sizes[sizes == 0] = 1
            host = np.repeat(np.arange(self.hosts), sizes)
            share = betaincinv(
                5 * self.prevalence, 5 * (1 - self.prevalence), rng.random(self.hosts)
            )
            truth = rng.random(len(host)) < share[host]
            shift = self.between * rng.normal(size=self.hosts)
            latent = rng.normal(size=len(host)) + self.mean * truth + shift[host]
            judged = assay.evaluate(
                truth, y_score=ndtr(latent - 1), clusters=host, labels=[False, True]
            )
            judge = Judge(judged.tally)
            yield 1, {m: estimate(judge, m) for m in measures}


def scenarios(*, quick: bool) -> list[Hosts]:
    """From few clusters to many, alike within or not."""
    if quick:
        return [Hosts(40, 10, 0.5, 0.3)]
    return [
        Hosts(hosts, size, between, prevalence)
        for hosts in (10, 30, 100)
        for size, between, prevalence in ((10, 0.3, 0.5), (10, 1.0, 0.3), (50, 0.5, 0.2))
    ]
