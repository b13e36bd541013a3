"""Scores of two classes: areas, and what is read off one point of the ROC curve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

from assay.counts import ScoreCounts
from assay.inference import Estimate
from assay.measures import Ranked, find
from intervals.estimates import scored

LABELS = ("negative", "positive")
AREAS = ("roc_auc", "partial_auc", "average_precision")
POINTS = ("equal_error_rate", "ks", "h_measure", "top_decile_lift")
ENOUGH_ERRORS, ENOUGH, ENOUGH_ROWS = 5, 10, 50
# Below this a best threshold is little else than chance.
FAR_ENOUGH = 0.1
_GRID = 100_001


@dataclass(frozen=True)
class Shape:
    """How positives score where negatives are standard normal.

    A share of ``hidden`` positives scores like the negatives. With ``levels``, scores are rounded
    to so many values: ties.
    """

    name: str
    mean: float
    deviation: float = 1.0
    hidden: float = 0.0
    levels: int = 0

    @classmethod
    def of_auc(cls, auc: float, *, deviation: float = 1.0, levels: int = 0) -> Shape:
        """Normal scores with this AUC (before rounding)."""
        mean = float(ndtri(auc)) * float(np.hypot(1, deviation))
        name = f"normal scores with AUC {auc:g}"
        if deviation != 1:
            name = f"{name}, positives {deviation:g} times as wide"
        if levels:
            name = f"{name}, rounded to {levels} values"
        return cls(name, mean, deviation, 0.0, levels)

    def edges(self) -> np.ndarray:
        """The borders of what is one score: of the levels, or of a grid fine enough."""
        reach = 8 * max(1.0, self.deviation)
        if self.levels:
            return np.linspace(-1.5, max(self.mean, 0) + 1.5, self.levels + 1)[1:-1]
        return np.linspace(-reach, self.mean + reach, _GRID)

    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """The chance of each score for negatives and positives, ascending."""
        edges = self.edges()
        below = ndtr(edges)
        of_positives = self.hidden * below + (1 - self.hidden) * ndtr(
            (edges - self.mean) / self.deviation
        )
        return tuple(np.diff(side, prepend=0, append=1) for side in (below, of_positives))

    def sample(self, rng: np.random.Generator, positives: int, negatives: int) -> np.ndarray:
        """Scores of positives, then of negatives."""
        scores = rng.normal(size=positives + negatives)
        is_visible = rng.random(positives) >= self.hidden
        scores[:positives] = np.where(
            is_visible, self.mean + self.deviation * scores[:positives], scores[:positives]
        )
        return np.digitize(scores, self.edges()).astype(float) if self.levels else scores


@lru_cache(maxsize=4096)
def truth(shape: Shape, name: str, prevalence: float) -> float:
    """The value of an endless population."""
    return value(name, *shape.shares(), prevalence)


def value(name: str, q: np.ndarray, p: np.ndarray, prevalence: float) -> float:
    """The value where negatives and positives have these chances of each score, ascending."""
    shares = np.stack([(1 - prevalence) * q, prevalence * p]) * 1e6
    kept = shares.any(axis=0)
    scores = np.arange(len(q), dtype=float)[kept]
    declared = find(name).of_scores
    assert isinstance(declared, Ranked)
    table = ScoreCounts(LABELS, scores, shares[:, kept], shares[:, kept])
    return float(declared.influence(table).value)


@dataclass(frozen=True)
class Scores:
    """A detector that ranks rows; how many of them are positive is drawn too."""

    shape: Shape
    positives: int
    negatives: int
    group = "scores"

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return f"{self.shape.name}, {self.positives:,} positives, {self.negatives:,} negatives"

    def truths(self) -> dict[str, float]:
        """The values of the population."""
        prevalence = self.positives / (self.positives + self.negatives)
        return {name: truth(self.shape, name, prevalence) for name in (*AREAS, *POINTS)}

    def promised(self, measure: str) -> bool:
        """Whether enough errors are expected among the rows that matter."""
        values, smaller = self.truths(), min(self.positives, self.negatives)
        errors = smaller * (1 - values["roc_auc"])
        if measure == "roc_auc":
            return errors >= ENOUGH_ERRORS
        if self.shape.levels or smaller < ENOUGH_ROWS:
            return False
        if measure == "average_precision":
            return errors >= ENOUGH_ERRORS
        if measure == "partial_auc":
            return min(self.positives, self.negatives / 10) * (1 - values[measure]) >= ENOUGH
        if measure == "top_decile_lift":
            within = values[measure] * self.positives / 10
            return min(within, self.positives - within) >= ENOUGH
        if measure == "equal_error_rate":
            return smaller * values[measure] >= ENOUGH
        return errors >= 2 * ENOUGH and values[measure] >= FAR_ENOUGH

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """Samples of independent scores."""
        rows = self.positives + self.negatives
        for _ in range(samples):
            positives = int(rng.binomial(rows, self.positives / rows))
            scores = self.shape.sample(rng, positives, rows - positives)
            positive = (np.arange(rows) < positives).astype(np.uint8)
            table = ScoreCounts.of_rows(LABELS, scores, positive)
            yield {name: scored(name, table) for name in (*AREAS, *POINTS)}


def scenarios(*, quick: bool) -> list[Scores]:
    """Detectors from chance to nearly perfect, small and lopsided classes, and ties."""
    if quick:
        return [Scores(Shape.of_auc(0.7), 50, 50), Scores(Shape.of_auc(0.95), 200, 2000)]
    shapes = [Shape.of_auc(auc) for auc in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)]
    shapes += [
        Shape.of_auc(0.9, levels=5),
        Shape.of_auc(0.95, deviation=2.0),
        Shape.of_auc(0.8, deviation=0.5),
        Shape("0.2 of the positives score like negatives", 4.0, hidden=0.2),
        Shape("0.1 of the positives score like negatives", 4.0, hidden=0.1),
    ]
    sizes = [(2, 1000), (5, 1000), (10, 100), (30, 30), (50, 500), (100, 1000), (500, 500)]
    return [Scores(shape, *size) for shape in shapes for size in sizes]
