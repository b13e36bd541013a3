"""Decisions: rows drawn into the cells of a confusion matrix, of two classes or more."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.counts import Confusion
from assay.formula import cells as cells_of
from assay.formula import evaluate
from assay.inference import Estimate, Quantity
from assay.measures import find
from intervals.estimates import counted, formula_of, of_all_classes

ENOUGH = 10
MEASURES = (
    "f1",
    "f2",
    "jaccard",
    "balanced_accuracy",
    "g_mean",
    "informedness",
    "markedness",
    "mcc",
    "kappa",
    "positive_likelihood_ratio",
    "diagnostic_odds_ratio",
    "lift",
)


@dataclass(frozen=True)
class TwoClasses:
    """A detector on rows of a given prevalence."""

    prevalence: float
    recall: float
    fpr: float
    rows: int
    group = "decisions"

    @classmethod
    def with_smallest_cell(
        cls, prevalence: float, recall: float, fpr: float, expected: float
    ) -> TwoClasses:
        """As many rows as make the rarest cell expect this many."""
        shares = cls(prevalence, recall, fpr, 1).cells()
        return cls(prevalence, recall, fpr, math.ceil(expected / min(shares.values()) - 1e-9))

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return (
            f"prevalence {self.prevalence:g}, detection rate {self.recall:g}, "
            f"false positive rate {self.fpr:g}, {self.rows:,} rows"
        )

    def cells(self) -> dict[str, float]:
        """How many rows each cell expects."""
        positives, negatives = self.rows * self.prevalence, self.rows * (1 - self.prevalence)
        return {
            "TP": positives * self.recall,
            "FP": negatives * self.fpr,
            "FN": positives * (1 - self.recall),
            "TN": negatives * (1 - self.fpr),
        }

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected cells."""
        return {name: float(evaluate(formula_of(name), self.cells())) for name in MEASURES}

    def promised(self, measure: str) -> bool:
        """Ten hits and ten errors for F1 and Jaccard, else ten rows in each cell that is used."""
        cells = self.cells()
        if measure in ("f1", "jaccard"):
            return min(cells["TP"], cells["FP"] + cells["FN"]) >= ENOUGH
        return min(cells[cell] for cell in cells_of(formula_of(measure))) >= ENOUGH

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """Tables of independent rows."""
        shares = np.array(list(self.cells().values())) / self.rows
        for tp, fp, fn, tn in rng.multinomial(self.rows, shares, size=samples).tolist():
            table = Confusion(("negative", "positive"), ((tn, fp), (fn, tp)))
            yield {name: counted(name, table) for name in MEASURES}


WHOLE = ("accuracy", "balanced_accuracy", "mcc", "kappa")
AVERAGED = tuple(f"{name}.macro" for name in ("precision", "recall", "f1"))


@dataclass(frozen=True)
class ManyClasses:
    """A model that confuses some classes; ``shares`` is its table, rows are the truth."""

    name: str
    shares: tuple[tuple[float, ...], ...]
    rows: int

    @property
    def group(self) -> str:
        """One table a number of classes."""
        return f"{len(self.shares)} classes"

    @property
    def setting(self) -> str:
        """The scenario in words."""
        return f"{self.name}, {self.rows:,} rows"

    def truths(self) -> dict[str, float]:
        """The formulas, read on the expected table."""
        table = np.array(self.shares)
        formulas = {name: find(name).classes for name in WHOLE}
        formulas |= {name: formula_of(name) for name in AVERAGED}
        return {
            name: float(Quantity(formula).of_tables(table))
            for name, formula in formulas.items()
            if formula is not None
        }

    def promised(self, _measure: str) -> bool:
        """Ten hits, ten misses and ten false alarms expected in each class."""
        table = np.array(self.shares) * self.rows
        hits = table.diagonal()
        misses, alarms = table.sum(axis=1) - hits, table.sum(axis=0) - hits
        return float(min(hits.min(), misses.min(), alarms.min())) >= ENOUGH

    def draw(self, rng: np.random.Generator, samples: int) -> Iterator[Mapping[str, Estimate]]:
        """Tables of independent rows."""
        size = len(self.shares)
        labels = tuple(f"class {i}" for i in range(size))
        drawn = rng.multinomial(self.rows, np.ravel(self.shares), size=samples)
        for cells in drawn.reshape(-1, size, size).tolist():
            table = Confusion(labels, tuple(map(tuple, cells)))
            whole = {name: of_all_classes(name, table) for name in WHOLE}
            yield whole | {name: counted(name, table) for name in AVERAGED}


def _confused(supports: Sequence[float], recalls: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Misses fall on the other classes in proportion to the square root of their size."""
    table = np.tile(np.sqrt(np.array(supports)), (len(supports), 1))
    np.fill_diagonal(table, 0)
    table *= ((1 - np.array(recalls)) / table.sum(axis=1))[:, None]
    table += np.diag(recalls)
    table *= np.array(supports)[:, None]
    return tuple(tuple(row) for row in (table / table.sum()).tolist())


DETECTORS = (
    (0.5, 0.5, 0.5),
    (0.5, 0.8, 0.2),
    (0.5, 0.95, 0.05),
    (0.8, 0.9, 0.3),
    (0.2, 0.8, 0.05),
    (0.05, 0.5, 0.2),
    (0.05, 0.95, 0.05),
    (0.01, 0.8, 0.001),
    (0.001, 0.9, 0.001),
)
MODELS = (
    ("even classes, recall 0.8", _confused([1, 1, 1], [0.8, 0.8, 0.8])),
    ("0.8 to 0.15 to 0.05", _confused([0.8, 0.15, 0.05], [0.95, 0.8, 0.6])),
    ("0.7 down to 0.02", _confused([0.7, 0.15, 0.08, 0.05, 0.02], [0.97, 0.9, 0.8, 0.9, 0.7])),
    ("near chance", _confused([0.4, 0.2, 0.2, 0.1, 0.1], [0.45, 0.3, 0.3, 0.2, 0.2])),
)


def scenarios(*, quick: bool) -> list[TwoClasses | ManyClasses]:
    """Detectors good and bad, with one to thirty rows in the rarest cell; models of classes."""
    if quick:
        two = [TwoClasses.with_smallest_cell(*shape, 10) for shape in DETECTORS[1::4]]
        return [*two, ManyClasses(*MODELS[1], 1000)]
    return [
        *(
            TwoClasses.with_smallest_cell(*shape, size)
            for shape in DETECTORS
            for size in (1, 3, 10, 30)
        ),
        *(ManyClasses(*model, rows) for model in MODELS for rows in (60, 200, 700, 2500)),
    ]
