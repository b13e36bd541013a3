"""Rows that stand for more than themselves: a sample in which one site was drawn too often."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from assay.counts import Confusion, ScoreCounts
from assay.formula import cells as cells_of
from assay.formula import evaluate
from assay.inference import Estimate
from assay.measures import find
from intervals import ranking
from intervals.estimates import counted, scored

ENOUGH = 10
COUNTED = ("accuracy", "precision", "recall", "false_positive_rate", "f1", "mcc", "kappa")
RANKED = ("roc_auc", "average_precision")
CUT = 1.0


@dataclass(frozen=True)
class TwoSites:
    """Two sites; a row of the first stands for ``weight`` rows, one of the second for one.

    Negatives score N(0, 1), positives N(2.5, 1) at the first site and N(1.5, 1) at the second.
    """

    rows: int
    prevalence: float
    weight: float
    sampled: float
    group = "sampling weights"
    means = (2.5, 1.5)

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return (
            f"weights {self.weight:g} and 1, {self.sampled:g} of {self.rows:,} rows of the first, "
            f"prevalence {self.prevalence:g}"
        )

    def _sites(self) -> list[tuple[float, float, float]]:
        """Of each site: its share of the rows, its weight, and how its positives score."""
        return [
            (self.sampled, self.weight, self.means[0]),
            (1 - self.sampled, 1.0, self.means[1]),
        ]

    def _cells(self, power: int) -> dict[str, float]:
        """Expected sums of a power of the weights by cell."""
        values = dict.fromkeys(("TP", "FP", "FN", "TN"), 0.0)
        for share, weight, mean in self._sites():
            rows = self.rows * share * weight**power
            hit, alarm = (float(ranking.ndtr(m - CUT)) for m in (mean, 0.0))
            values["TP"] += rows * self.prevalence * hit
            values["FN"] += rows * self.prevalence * (1 - hit)
            values["FP"] += rows * (1 - self.prevalence) * alarm
            values["TN"] += rows * (1 - self.prevalence) * (1 - alarm)
        return values

    def truths(self) -> dict[str, float]:
        """The values of the population that the weights stand for."""
        cells = self._cells(1)
        values = {m: float(evaluate(find(m).formula, cells)) for m in COUNTED}
        edges = np.linspace(-8, 11, 100_001)
        sides = [ranking.ndtr(edges), np.zeros_like(edges)]
        whole = sum(share * weight for share, weight, _ in self._sites())
        for share, weight, mean in self._sites():
            sides[1] += share * weight / whole * ranking.ndtr(edges - mean)
        q, p = (np.diff(side, prepend=0, append=1) for side in sides)
        return values | {name: ranking.value(name, q, p, self.prevalence) for name in RANKED}

    def promised(self, measure: str) -> bool:
        """Whether each cell that it uses expects ten effective rows."""
        sums, squares = self._cells(1), self._cells(2)
        formula = find(measure).formula
        used = cells_of(formula) if formula is not None else frozenset(sums)
        return min(sums[cell] ** 2 / squares[cell] for cell in used) >= ENOUGH

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """Samples of independent rows."""
        for _ in range(samples):
            first = rng.random(self.rows) < self.sampled
            truth = (rng.random(self.rows) < self.prevalence).astype(np.uint8)
            scores = rng.normal(size=self.rows) + truth * np.where(first, *self.means)
            weights = np.where(first, self.weight, 1.0)
            flagged = (scores >= CUT).astype(np.uint8)
            cells = Confusion.of_rows(ranking.LABELS, truth, flagged, weights=weights)
            table = ScoreCounts.of_rows(ranking.LABELS, scores, truth, weights=weights)
            yield {name: counted(name, cells) for name in COUNTED} | {
                name: scored(name, table) for name in RANKED
            }


def scenarios(*, quick: bool) -> list[TwoSites]:
    """Weights mild and harsh."""
    if quick:
        return [TwoSites(500, 0.3, 5.0, 0.3)]
    return [
        TwoSites(rows, prevalence, weight, sampled)
        for rows in (100, 400, 2000)
        for prevalence, weight, sampled in ((0.5, 3.0, 0.5), (0.2, 10.0, 0.3), (0.1, 100.0, 0.2))
    ]
