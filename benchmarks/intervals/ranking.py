"""Scores of two classes: areas, what is read off the ROC curve, and the highest scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

import assay
from assay import Estimate
from assay.evaluation import Judge
from assay.measures import find

MAX_FPR = 0.1
PARTIAL_FLOOR = 0.5 - MAX_FPR**2 / 2 / (2 * (MAX_FPR - MAX_FPR**2 / 2))
ENOUGH_ERRORS = 5
ENOUGH_PARTIAL_ERRORS = 10
ENOUGH_ROWS = 50
_GRID = 400_001


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


def truths(q: np.ndarray, p: np.ndarray, prevalence: float) -> dict[str, float]:
    """AUC, corrected partial AUC and average precision of scores with these chances, ascending."""
    q, p = q[::-1], p[::-1]
    fpr, tpr = np.cumsum(q), np.cumsum(p)
    auc = float((q * (tpr - p / 2)).sum())
    within = np.clip(MAX_FPR - (fpr - q), 0, q)
    height = tpr - p + np.divide(p * within, 2 * q, out=p / 2, where=q > 0)
    area = float((within * height).sum())
    least = MAX_FPR**2 / 2
    partial = 0.5 + (area - least) / (2 * (MAX_FPR - least))
    alerts = prevalence * tpr + (1 - prevalence) * fpr
    precision = np.divide(prevalence * tpr, alerts, out=np.ones_like(alerts), where=alerts > 0)
    return {
        "roc_auc": auc,
        "partial_auc": partial,
        "average_precision": float((p * precision).sum()),
    }


@dataclass(frozen=True)
class Scores:
    """A detector that ranks rows; how many of them are positive is drawn too, unless ``fixed``."""

    shape: Shape
    positives: int
    negatives: int
    fixed: bool = False

    @property
    def group(self) -> str:
        """Fixed class sizes have a table of their own."""
        return "scores, class sizes fixed" if self.fixed else "scores"

    @property
    def setting(self) -> str:
        """The setting in words."""
        return f"{self.shape.name}, {self.positives:,} positives, {self.negatives:,} negatives"

    def truths(self) -> dict[str, float]:
        """The values of the population."""
        prevalence = self.positives / (self.positives + self.negatives)
        return truths(*self.shape.shares(), prevalence)

    def inside(self, measure: str) -> bool:
        """Whether enough errors are expected among the rows that matter."""
        targets = self.truths()
        smaller = min(self.positives, self.negatives)
        if measure == "partial_auc":
            rows = min(self.positives, MAX_FPR * self.negatives)
            short = (1 - targets[measure]) / (1 - PARTIAL_FLOOR)
            enough = rows * short >= ENOUGH_PARTIAL_ERRORS
            return enough and rows * (1 - short) >= ENOUGH_ERRORS
        if measure == "average_precision" and (self.fixed or smaller < ENOUGH_ROWS):
            return False
        return smaller * (1 - targets["roc_auc"]) >= ENOUGH_ERRORS

    def draw(
        self, rng: np.random.Generator, repetitions: int, measures: Sequence[str]
    ) -> Iterator[tuple[int, Mapping[str, Estimate]]]:
        """Samples of independent scores."""
        rows = self.positives + self.negatives
        for _ in range(repetitions):
            positives = self.positives
            if not self.fixed:
                positives = int(rng.binomial(rows, self.positives / rows))
            scores = self.shape.sample(rng, positives, rows - positives)
            judged = assay.evaluate(
                np.arange(rows) < positives, y_score=scores, threshold=0.0, labels=[False, True]
            )
            judge = Judge(judged.tally)
            yield 1, {measure: judge.scored(find(measure)) for measure in measures}


def scenarios(*, quick: bool) -> list[Scores]:
    """Detectors from chance to nearly perfect, small and lopsided classes, and ties."""
    aucs = (0.7, 0.95) if quick else (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
    sizes = [(50, 50), (50, 500)]
    if not quick:
        sizes = [(10, 10), (10, 100), (30, 30), (30, 1000), (100, 100), (100, 1000), (500, 500)]
        sizes += [(500, 50)]
    settings = [Scores(Shape.of_auc(auc), *size) for auc in aucs for size in sizes]
    others = [
        Shape.of_auc(0.9, levels=5),
        Shape.of_auc(0.7, levels=3),
        Shape.of_auc(0.95, deviation=2.0),
        Shape.of_auc(0.8, deviation=0.5),
        Shape("0.2 of the positives score like negatives", 4.0, hidden=0.2),
        Shape("0.1 of the positives score like negatives", 4.0, hidden=0.1),
    ]
    for shape in others[::4] if quick else others:
        settings += [
            Scores(shape, *size) for size in ((50, 50), (50, 500), (100, 2000), (500, 500))
        ]
    if not quick:
        settings += [Scores(Shape.of_auc(auc), 2000, 2000) for auc in (0.99, 0.999)]
        settings += [Scores(Shape.of_auc(0.99), 50, 5000), Scores(Shape.of_auc(0.9), 20, 5000)]
        lopsided = [(100, 100), (100, 1000), (1000, 100)]
        settings += [
            Scores(Shape.of_auc(auc), *size, fixed=True)
            for auc in (0.6, 0.8, 0.95)
            for size in lopsided
        ]
    return settings
