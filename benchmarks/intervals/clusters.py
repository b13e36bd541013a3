"""Rows that come in clusters, such as hosts: those of one cluster are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from assay.counts import ClusterCounts, Sample
from assay.formula import evaluate
from assay.inference import Estimate
from assay.measures import find
from intervals import ranking
from intervals.estimates import counted, scored

ENOUGH = 30
ENOUGH_FOR_PRECISION = 100
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
RANKED = ("roc_auc", "average_precision")
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
        """The scenario in words."""
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
        edges = np.linspace(-8 * spread, self.mean + 8 * spread, 100_001)
        sides = (ndtr(edges / spread), ndtr((edges - self.mean) / spread))
        q, p = (np.diff(side, prepend=0, append=1) for side in sides)
        return values | {name: ranking.value(name, q, p, self.prevalence) for name in RANKED}

    def promised(self, measure: str) -> bool:
        """Whether there are enough clusters; average precision needs more."""
        least = ENOUGH_FOR_PRECISION if measure == "average_precision" else ENOUGH
        return self.hosts >= least

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """Samples of independent hosts."""
        names = tuple(f"host {i}" for i in range(self.hosts))
        for _ in range(samples):
            sizes = np.maximum(rng.poisson(self.size, self.hosts), 1)
            host = np.repeat(np.arange(self.hosts), sizes)
            share = betaincinv(
                5 * self.prevalence, 5 * (1 - self.prevalence), rng.random(self.hosts)
            )
            truth = (rng.random(len(host)) < share[host]).astype(np.uint8)
            shift = self.between * rng.normal(size=self.hosts)
            latent = rng.normal(size=len(host)) + self.mean * truth + shift[host]
            scores = ndtr(latent - 1)
            flagged = (scores >= CUT).astype(np.uint8)
            clusters = ClusterCounts.of_rows(ranking.LABELS, truth, flagged, host, names)
            sample = Sample.of_rows(
                ranking.LABELS, truth, {"score": scores}, cluster=host, clusters=names
            )
            table = clusters.confusion()
            yield {name: counted(name, table, clusters) for name in COUNTED} | {
                name: scored(name, sample.score_counts(0), sample) for name in RANKED
            }


def scenarios(*, quick: bool) -> list[Hosts]:
    """From few clusters to many, alike within or not."""
    if quick:
        return [Hosts(40, 10, 0.5, 0.3)]
    return [
        Hosts(hosts, size, between, prevalence)
        for hosts in (10, 30, 100)
        for size, between, prevalence in ((10, 0.3, 0.5), (10, 1.0, 0.3), (50, 0.5, 0.2))
    ]
