"""Scores of two classes at one point of the ROC curve, or at the costs of one.

Truths are those of a fine grid of the population's scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import assay
from assay import Estimate
from assay.evaluation import Judge
from assay.measures import Measure, Ranked, find
from assay.tally import ScoreTally
from intervals.ranking import Shape

AT_BASE_RATE = {
    "average_precision at 0.1": ("average_precision", 0.1),
    "average_precision at 0.01": ("average_precision", 0.01),
}
CURVE = (
    "equal_error_rate",
    "ks",
    "h_measure",
    "h_measure_symmetric",
    "precision_recall_gain_area",
    "top_decile_lift",
    *AT_BASE_RATE,
)
RATES = {
    "recall_at_fpr_1e2": 1e-2,
    "recall_at_fpr_1e3": 1e-3,
    "recall_at_fpr_1e4": 1e-4,
}
ENOUGH = 10
ENOUGH_ROWS = 50
# Below this a best threshold is little else than chance.
FAR_ENOUGH = 0.1


def _declared(name: str) -> tuple[Measure, float | None]:
    measure, rate = AT_BASE_RATE.get(name, (name, None))
    return find(measure), rate


@lru_cache(maxsize=4096)
def _truth(shape: Shape, name: str, prevalence: float) -> float:
    """The value of the population."""
    q, p = shape.shares()
    counts = np.stack([(1 - prevalence) * q, prevalence * p]) * 1e6
    kept = counts.any(axis=0)
    scores = np.arange(len(q), dtype=float)[kept]
    tally = ScoreTally(("negative", "positive"), scores, counts[:, kept], counts[:, kept])
    measure, rate = _declared(name)
    declared = measure.of_scores
    assert isinstance(declared, Ranked)
    return (declared if rate is None else declared.at_base_rate(rate)).influence(tally).value


@dataclass(frozen=True)
class Operating:
    """A detector that ranks rows, read where it is run."""

    shape: Shape
    positives: int
    negatives: int
    measures: tuple[str, ...]
    group: str

    @property
    def setting(self) -> str:
        """The setting in words."""
        return f"{self.shape.name}, {self.positives:,} positives, {self.negatives:,} negatives"

    def truths(self) -> dict[str, float]:
        """The values of the population."""
        prevalence = self.positives / (self.positives + self.negatives)
        return {name: _truth(self.shape, name, prevalence) for name in self.measures}

    def inside(self, measure: str) -> bool:
        """Whether enough rows are expected where they matter."""
        value = self.truths()[measure]
        smaller = min(self.positives, self.negatives)
        if measure in RATES:
            if self.shape.levels:
                return False
            detected = self.positives * min(value, 1 - value)
            return min(RATES[measure] * self.negatives, detected) >= ENOUGH
        if self.shape.levels or smaller < ENOUGH_ROWS:
            return False
        if measure == "equal_error_rate":
            return smaller * min(value, 1 - value) >= ENOUGH
        if measure == "top_decile_lift":
            held = value / 10
            return self.positives * min(held, 1 - held) >= ENOUGH
        errors = smaller * (1 - _truth(self.shape, "roc_auc", 0.5))
        if measure.startswith("average_precision"):
            return errors >= ENOUGH and AT_BASE_RATE[measure][1] * self.negatives >= 4 * ENOUGH
        if measure == "precision_recall_gain_area":
            return errors >= 2 * ENOUGH
        if measure in ("ks", "h_measure", "h_measure_symmetric"):
            return errors >= 2 * ENOUGH and value >= FAR_ENOUGH
        return errors >= ENOUGH

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent scores."""
        rows = self.positives + self.negatives
        for _ in range(repetitions):
            positives = int(rng.binomial(rows, self.positives / rows))
            scores = self.shape.sample(rng, positives, rows - positives)
            judged = assay.evaluate(
                np.arange(rows) < positives, y_score=scores, threshold=0.0, labels=[False, True]
            )
            judge = Judge(judged.tally)
            yield 1, {name: _estimate(judge, name) for name in measures}


def _estimate(judge: Judge, name: str) -> Estimate:
    measure, rate = _declared(name)
    return judge.scored(measure) if rate is None else judge.at_base_rate(measure, rate)


def scenarios(*, quick: bool) -> list[Operating]:
    """Detectors from poor to nearly perfect, small and lopsided classes, ties, hidden attacks."""
    shapes = [
        Shape.of_auc(0.6),
        Shape.of_auc(0.8),
        Shape.of_auc(0.95),
        Shape.of_auc(0.99),
        Shape.of_auc(0.95, deviation=2.0),
        Shape("0.2 of the positives score like negatives", 4.0, hidden=0.2),
        Shape.of_auc(0.9, levels=5),
    ]
    sizes = [(50, 50), (50, 500), (200, 200), (100, 2000), (1000, 1000), (1000, 100), (200, 4000)]
    if quick:
        shapes, sizes = shapes[2:6:3], sizes[1:4:2]
    settings = [
        Operating(shape, *size, CURVE, "operating points") for shape in shapes for size in sizes
    ]
    few = [(100, 500), (50, 1000), (1000, 1000), (200, 5000), (1000, 10_000)]
    rates = ("recall_at_fpr_1e2", "recall_at_fpr_1e3")
    for shape in shapes:
        for size in few[1:2] if quick else few:
            held = tuple(rate for rate in rates if RATES[rate] * size[1] >= 1)
            settings.append(Operating(shape, *size, held, "low false positive rates"))
    if not quick:
        settings += [
            Operating(shape, 500, 150_000, ("recall_at_fpr_1e4",), "low false positive rates")
            for shape in shapes[2:5]
        ]
    return settings
