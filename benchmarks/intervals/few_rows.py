"""Few rows, clusters or weights: where version 0.2 covered far less than it said.

Each scenario yields pairs: today's estimate, and that of version 0.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from assay.counts import ClusterCounts, Confusion, ScoreCounts
from assay.inference import Estimate, Quantity
from intervals import before, ranking
from intervals.estimates import counted, formula_of, loss, scored
from intervals.ranking import LABELS

Pairs = Mapping[str, tuple[Estimate, Estimate]]


# -- scores ----------------------------------------------------------------------------------------


@lru_cache
def shift_of_t2(auc: float) -> float:
    """How far apart two t distributions with 2 degrees of freedom have this AUC."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    return float(brentq(lambda a: stdtr(2, stdtrit(2, grid) + a).mean() - auc, 0, 500))


@dataclass(frozen=True)
class Shifted:
    """Scores of positives are those of negatives, shifted; normal, or heavy-tailed (t2)."""

    kind: str
    auc: float
    positives: int
    negatives: int
    measures: tuple[str, ...] = ("equal_error_rate", "ks", "h_measure", "average_precision")
    group = "few rows: scores"

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return f"{self.kind}, AUC {self.auc:g}, {self.positives} and {self.negatives:,} rows"

    @property
    def ordinary(self) -> bool:
        """Whether there are rows enough that widths should hardly grow."""
        return self.positives >= 100 and self.negatives >= 1000

    @cached_property
    def shift(self) -> float:
        """How much higher positives score."""
        return shift_of_t2(self.auc) if self.kind == "t2" else float(ndtri(self.auc)) * 2**0.5

    def truths(self) -> dict[str, float]:
        """The values of the population."""
        if self.kind == "t2":
            grid = np.linspace(1e-9, 1 - 1e-9, 60_001)
            tail = stdtrit(2, 1 - np.logspace(-10, -4, 8_001))
            edges = np.concatenate([stdtrit(2, grid), tail])
            edges = np.unique(np.concatenate([edges, edges + self.shift]))
            sides = stdtr(2, edges), stdtr(2, edges - self.shift)
        else:
            edges = np.linspace(-9, 9 + self.shift, 100_001)
            sides = ndtr(edges), ndtr(edges - self.shift)
        shares = (np.maximum(np.diff(side, prepend=0, append=1), 0) for side in sides)
        q, p = shares
        prevalence = self.positives / (self.positives + self.negatives)
        return {name: ranking.value(name, q, p, prevalence) for name in self.measures}

    def promised(self, _measure: str) -> bool:
        """Always."""
        return True

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Pairs]:
        """Samples of independent scores."""
        rows = self.positives + self.negatives
        truth = (np.arange(rows) < self.positives).astype(np.uint8)
        for _ in range(samples):
            scores = rng.standard_t(2, rows) if self.kind == "t2" else rng.standard_normal(rows)
            scores = scores + self.shift * truth
            table = ScoreCounts.of_rows(LABELS, scores, truth)
            yield {n: (scored(n, table), before.scored(n, scores, truth)) for n in self.measures}


# -- counts ----------------------------------------------------------------------------------------


def _value(name: str, cells: np.ndarray) -> float:
    label = None if "." in name else 1
    return float(Quantity(formula_of(name), label).of_tables(cells[None].astype(float))[0])


@dataclass(frozen=True)
class AlikeInClusters:
    """Clusters of one size whose rates are drawn from beta distributions."""

    clusters: int
    negatives: int
    positives: int
    fpr: float
    recall: float
    alike: float
    group = "few rows: clusters"
    measures = ("recall", "precision", "f1", "false_positive_rate", "accuracy", "mcc")

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return (
            f"{self.clusters} clusters of {self.negatives} and {self.positives} rows, FPR "
            f"{self.fpr:g}, recall {self.recall:g}, correlation {self.alike:g}"
        )

    @property
    def ordinary(self) -> bool:
        """Whether there are clusters enough that widths should hardly grow."""
        return self.clusters >= 50 and self.clusters * self.positives >= 100

    @property
    def bars(self) -> dict[str, float]:
        """Lower where a few of 20 clusters have all errors."""
        return {"accuracy": 0.92} if self.clusters == 20 else {}

    def _cells(self) -> np.ndarray:
        return np.array(
            [
                [self.negatives * (1 - self.fpr), self.negatives * self.fpr],
                [self.positives * (1 - self.recall), self.positives * self.recall],
            ]
        )

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected cells."""
        return {name: _value(name, self._cells()) for name in self.measures}

    def promised(self, _measure: str) -> bool:
        """Always."""
        return True

    def _drawn(self, rng: np.random.Generator, rows: int, rate: float, samples: int) -> Any:
        size = samples, self.clusters
        if not self.alike:
            return rng.binomial(rows, rate, size)
        odds = 1 / self.alike - 1
        return rng.binomial(rows, rng.beta(rate * odds, (1 - rate) * odds, size))

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Pairs]:
        """Samples of independent clusters."""
        false = self._drawn(rng, self.negatives, self.fpr, samples)
        hits = self._drawn(rng, self.positives, self.recall, samples)
        cells = np.stack([self.negatives - false, false, self.positives - hits, hits], axis=-1)
        names = tuple(map(str, range(self.clusters)))
        for each in cells.reshape(samples, self.clusters, 2, 2):
            clusters = ClusterCounts(LABELS, names, each)
            table = clusters.confusion()
            yield {
                name: (counted(name, table, clusters), before.in_clusters(name, each))
                for name in self.measures
            }


@dataclass(frozen=True)
class HeavyWeights:
    """Rows with lognormal weights that have nothing to do with their decisions."""

    positives: int
    negatives: int
    recall: float
    fpr: float
    sigma: float
    group = "few rows: weights"
    measures = ("recall", "precision", "f1", "mcc", "accuracy", "false_positive_rate")

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return (
            f"{self.positives} and {self.negatives} rows, recall {self.recall:g}, FPR "
            f"{self.fpr:g}, weights lognormal {self.sigma:g}"
        )

    @property
    def ordinary(self) -> bool:
        """Whether no few rows carry the weight."""
        return self.positives >= 200 and self.sigma <= 1

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected cells."""
        p, n = self.positives, self.negatives
        rates = [[n * (1 - self.fpr), n * self.fpr], [p * (1 - self.recall), p * self.recall]]
        return {name: _value(name, np.array(rates)) for name in self.measures}

    def promised(self, _measure: str) -> bool:
        """Always."""
        return True

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Pairs]:
        """Samples of independent rows."""
        rows = self.positives + self.negatives
        truth = (np.arange(rows) < self.positives).astype(np.int64)
        rate = np.where(truth == 1, self.recall, self.fpr)
        for _ in range(samples):
            weights = np.exp(self.sigma * rng.standard_normal(rows))
            cell = 2 * truth + (rng.random(rows) < rate)
            sums, squares = (
                np.bincount(cell, each, 4).reshape(2, 2) for each in (weights, weights**2)
            )
            table = Confusion(LABELS, *(tuple(map(tuple, m.tolist())) for m in (sums, squares)))
            yield {
                name: (counted(name, table), before.counted(name, sums, squares))
                for name in self.measures
            }


@dataclass(frozen=True)
class OnePerfect:
    """Classes of which one may be told without errors; ``confused`` is by row."""

    name: str
    rows: tuple[int, ...]
    confused: tuple[tuple[float, ...], ...]
    ordinary: bool = False
    group = "few rows: averages"
    measures = ("recall.macro", "precision.macro", "f1.macro", "recall.weighted", "f1.weighted")

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return f"{self.name}, classes of {', '.join(map(str, self.rows))} rows"

    def _cells(self) -> np.ndarray:
        return np.array(self.confused) * np.array(self.rows)[:, None]

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected cells."""
        return {name: _value(name, self._cells()) for name in self.measures}

    def promised(self, _measure: str) -> bool:
        """Always."""
        return True

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Pairs]:
        """Tables of independent rows; how many of each class is drawn too."""
        cells, size = self._cells(), len(self.rows)
        labels = tuple(map(str, range(size)))
        shares = cells.ravel() / cells.sum()
        for table in rng.multinomial(sum(self.rows), shares, samples).reshape(-1, size, size):
            confusion = Confusion(labels, tuple(map(tuple, table.tolist())))
            yield {
                name: (counted(name, confusion), before.counted(name, table))
                for name in self.measures
            }


# -- losses ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RareLosses:
    """Forecasts of which a share is sure and wrong; the rest is said to be right with ``said``."""

    rows: int
    wrong: float
    said: float
    group = "few rows: losses"
    measures = ("brier", "log_loss")
    ordinary = False

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return f"{self.rows} rows, {self.wrong:g} sure and wrong, the rest {self.said:g} right"

    def _errors(self) -> tuple[float, float]:
        """How far forecasts are from the truth: those that are sure and wrong, and the rest."""
        return (0.999, 1 - self.said) if self.said < 1 else (1.0, 0.0)

    def truths(self) -> dict[str, float]:
        """The mean losses."""
        bad, good = self._errors()
        logs = [-math.log(max(1 - each, 2.0**-52)) for each in (bad, good)]
        return {
            "brier": self.wrong * bad**2 + (1 - self.wrong) * good**2,
            "log_loss": self.wrong * logs[0] + (1 - self.wrong) * logs[1],
        }

    def promised(self, _measure: str) -> bool:
        """Always."""
        return True

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Pairs]:
        """Samples of independent rows."""
        bad, good = self._errors()
        for _ in range(samples):
            error = np.where(rng.random(self.rows) < self.wrong, bad, good)
            truth = (rng.random(self.rows) < 0.3).astype(np.uint8)
            said = np.where(truth == 1, 1 - error, error)
            table = ScoreCounts.of_rows(LABELS, said, truth)
            yield {n: (loss(n, table), before.loss(n, said, truth)) for n in self.measures}


def scenarios(*, quick: bool) -> list[Any]:
    """Those of the tables, and 20 more at random."""
    if quick:
        return [
            Shifted("normal", 0.99, 20, 500),
            AlikeInClusters(20, 45, 5, 0.02, 0.8, 0.3),
            HeavyWeights(20, 180, 0.9, 0.05, 1),
            OnePerfect("two classes", (984, 60), ((0.998, 0.002), (0, 1))),
            RareLosses(50, 0.01, 0.98),
        ]
    two = ("normal", 0.99, 20, 2000), ("normal", 0.999, 20, 2000), ("t2", 0.99, 10, 1000)
    more = ("normal", 0.95, 10, 500), ("normal", 0.99, 5, 500), ("t2", 0.99, 50, 500)
    few = ("normal", 0.99, 2, 500), ("normal", 0.95, 3, 300), ("normal", 0.9, 4, 100)
    rest = ("normal", 0.9, 20, 200), ("normal", 0.85, 50, 500), ("t2", 0.95, 20, 30)
    large = ("t2", 0.9, 100, 1000), ("normal", 0.9, 200, 2000)
    clusters = (
        (20, 45, 5, 0.02, 0.8, 0.3),
        (20, 45, 5, 0.02, 0.8, 0.05),
        (2, 16, 4, 0.1, 0.8, 0.05),
        (3, 20, 20, 0.1, 0.9, 0.1),
        (5, 50, 10, 0.05, 0.9, 0.1),
        (10, 100, 20, 0.05, 0.8, 0.1),
        (50, 40, 10, 0.05, 0.8, 0.1),
        (50, 20, 5, 0.01, 0.95, 0.0),
        (200, 40, 10, 0.02, 0.8, 0.2),
    )
    weights = (
        (100, 100, 0.9, 0.1, 1),
        (20, 180, 0.9, 0.05, 1),
        (100, 100, 0.9, 0.1, 2),
        (1000, 1000, 0.9, 0.1, 2),
        (200, 1800, 0.9, 0.02, 1.5),
        (1000, 1000, 0.9, 0.1, 1),
        (200, 1800, 0.9, 0.05, 0.5),
        (50, 450, 0.8, 0.02, 0.5),
    )
    ten = tuple(
        tuple(float(i == j) if not i else (0.85 if i == j else 0.15 / 9) for j in range(10))
        for i in range(10)
    )
    four = tuple(tuple(0.85 if i == j else 0.05 for j in range(4)) for i in range(4))
    averages = [
        OnePerfect("one perfect", (984, 60), ((0.998, 0.002), (0, 1))),
        OnePerfect("one perfect", (100, 50, 20), ((0.9, 0.1, 0), (0.1, 0.85, 0.05), (0, 0, 1))),
        OnePerfect(
            "one perfect and rare",
            (500, 200, 100, 30, 10),
            (
                (0.97, 0.01, 0.01, 0.01, 0),
                (0.05, 0.9, 0.05, 0, 0),
                (0.02, 0.08, 0.9, 0, 0),
                (0.1, 0, 0.1, 0.8, 0),
                (0, 0, 0, 0, 1),
            ),
        ),
        OnePerfect("one perfect", (30,) * 10, ten),
        OnePerfect("none perfect", (300,) * 4, four, ordinary=True),
    ]
    losses = [
        RareLosses(rows, wrong, said)
        for rows in (20, 50, 200, 1000)
        for wrong, said in ((0.01, 0.98), (0.03, 1.0))
    ]
    return [
        *(Shifted(*each) for each in (*two, *more, *few, *rest, *large)),
        *(AlikeInClusters(*each) for each in clusters),
        *(HeavyWeights(*each) for each in weights),
        *averages,
        *losses,
        *at_random(),
    ]


def at_random() -> list[Any]:
    """20 scenarios that nobody chose."""
    rng = np.random.default_rng(20)
    drawn: list[Any] = []
    for _ in range(8):
        kind = str(rng.choice(["normal", "t2"]))
        auc = round(float(rng.uniform(0.8, 0.995)), 3)
        sizes = int(rng.integers(2, 51)), int(10 ** rng.uniform(2, 3.3))
        drawn.append(Shifted(kind, auc, *sizes))
    for _ in range(6):
        sizes = int(rng.integers(4, 80)), int(rng.integers(10, 60)), int(rng.integers(3, 30))
        rates = round(float(rng.uniform(0.01, 0.2)), 3), round(float(rng.uniform(0.6, 0.95)), 3)
        drawn.append(AlikeInClusters(*sizes, *rates, round(float(rng.uniform(0, 0.3)), 2)))
    for _ in range(6):
        sizes = int(rng.integers(20, 400)), int(rng.integers(100, 2000))
        rates = round(float(rng.uniform(0.6, 0.97)), 3), round(float(rng.uniform(0.01, 0.2)), 3)
        drawn.append(HeavyWeights(*sizes, *rates, round(float(rng.uniform(0, 2)), 2)))
    return drawn
