"""Measures of many matrices at once, by formulas of this file; nan where a value is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


class Cells(NamedTuple):
    """The cells of many matrices, for one class against the rest."""

    tp: Array
    fp: Array
    fn: Array
    tn: Array


Formula = Callable[[Cells], Array]


def _f(beta: float) -> Formula:
    b = beta * beta
    return lambda c: (1 + b) * c.tp / ((1 + b) * c.tp + b * c.fn + c.fp)


# Of the cells of one class against the rest.
CELLS: dict[str, Formula] = {
    "accuracy": lambda c: (c.tp + c.tn) / (c.tp + c.fp + c.fn + c.tn),
    "error_rate": lambda c: (c.fp + c.fn) / (c.tp + c.fp + c.fn + c.tn),
    "precision": lambda c: c.tp / (c.tp + c.fp),
    "recall": lambda c: c.tp / (c.tp + c.fn),
    "specificity": lambda c: c.tn / (c.tn + c.fp),
    "npv": lambda c: c.tn / (c.tn + c.fn),
    "fpr": lambda c: c.fp / (c.fp + c.tn),
    "fnr": lambda c: c.fn / (c.fn + c.tp),
    "fdr": lambda c: c.fp / (c.fp + c.tp),
    "for": lambda c: c.fn / (c.fn + c.tn),
    "f1": _f(1),
    "f2": _f(2),
    "f0.5": _f(0.5),
    "jaccard": lambda c: c.tp / (c.tp + c.fp + c.fn),
    "fowlkes_mallows": lambda c: c.tp / np.sqrt((c.tp + c.fp) * (c.tp + c.fn)),
    "prevalence": lambda c: (c.tp + c.fn) / (c.tp + c.fp + c.fn + c.tn),
    "alert_rate": lambda c: (c.tp + c.fp) / (c.tp + c.fp + c.fn + c.tn),
    "balanced_accuracy": lambda c: (c.tp / (c.tp + c.fn) + c.tn / (c.tn + c.fp)) / 2,
    "g_mean": lambda c: np.sqrt(c.tp / (c.tp + c.fn) * (c.tn / (c.tn + c.fp))),
    "informedness": lambda c: c.tp / (c.tp + c.fn) - c.fp / (c.fp + c.tn),
    "markedness": lambda c: c.tp / (c.tp + c.fp) - c.fn / (c.fn + c.tn),
    "mcc": lambda c: (
        (c.tp * c.tn - c.fp * c.fn)
        / np.sqrt((c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn))
    ),
    "kappa": lambda c: (
        2
        * (c.tp * c.tn - c.fp * c.fn)
        / ((c.tp + c.fp) * (c.tn + c.fp) + (c.tp + c.fn) * (c.tn + c.fn))
    ),
    "plr": lambda c: (c.tp / (c.tp + c.fn)) / (c.fp / (c.fp + c.tn)),
    "nlr": lambda c: (c.fn / (c.tp + c.fn)) / (c.tn / (c.fp + c.tn)),
    "dor": lambda c: c.tp * c.tn / (c.fp * c.fn),
}
# What does not care which class is the positive.
SYMMETRIC = {
    "accuracy", "error_rate", "balanced_accuracy", "g_mean", "informedness", "markedness", "mcc",
    "kappa", "dor",
}  # fmt: skip
ENDLESS = {"plr", "nlr", "dor"}
SIGNED = {"informedness", "markedness", "mcc", "kappa"}
# One-sided, but of the positive alone.
UNAVERAGED = {"prevalence", "alert_rate", *ENDLESS}
AVERAGED = tuple(name for name in CELLS if name not in SYMMETRIC | UNAVERAGED)
OVER_CLASSES = ("accuracy", "error_rate", "balanced_accuracy", "g_mean", "kappa", "mcc")
AVERAGES = ("weighted", "macro", "micro")
# The weighted average where a class without rows may be undefined.
OF_PRESENT = "weighted over classes with rows"

NAMES = {
    "accuracy": ("accuracy",),
    "error_rate": ("error_rate", "misclassification_rate", "misclassification_error"),
    "precision": ("precision", "precision", "ppv", "positive_predictive_value"),
    "recall": ("recall", "recall", "tpr", "sensitivity", "detection_rate", "dr", "hit_rate"),
    "specificity": ("specificity", "tnr", "selectivity"),
    "npv": ("npv", "negative_predictive_value"),
    "fpr": ("fpr", "false_positive_rate", "fall_out", "type_1_error"),
    "fnr": ("fnr", "false_negative_rate", "miss_rate"),
    "fdr": ("fdr", "false_discovery_rate"),
    "for": ("for", "false_omission_rate"),
    "f1": ("f1", "f1", "f_measure", "f_score"),
    "f2": ("f2",),
    "f0.5": ("f0.5",),
    "jaccard": ("jaccard", "iou", "threat_score"),
    "fowlkes_mallows": ("fowlkes_mallows",),
    "prevalence": ("prevalence",),
    "alert_rate": ("alert_rate",),
    "balanced_accuracy": ("balanced_accuracy",),
    "g_mean": ("g_mean",),
    "informedness": ("informedness", "youden_j"),
    "markedness": ("markedness",),
    "mcc": ("mcc", "phi"),
    "kappa": ("kappa", "cohen_kappa"),
    "plr": ("positive_likelihood_ratio", "lr_plus"),
    "nlr": ("negative_likelihood_ratio", "lr_minus"),
    "dor": ("diagnostic_odds_ratio", "dor"),
}


class Matrices:
    """Many matrices of K classes; cells and values are computed once and kept."""

    def __init__(self, tables: Any) -> None:
        """``tables`` are of the shape (matrices, K, K); rows are the truth."""
        self.tables = tables
        self.size, self.classes = tables.shape[:2]
        self._kept: dict[Any, Any] = {}

    def cells(self, k: int) -> Cells:
        """The cells of one class against the rest."""
        if ("cells", k) not in self._kept:
            table = self.tables
            tp = table[:, k, k].astype(float)
            row, column = table[:, k, :].sum(axis=1), table[:, :, k].sum(axis=1)
            counts = Cells(tp, column - tp, row - tp, self.total() - row - column + tp)
            self._kept["cells", k] = counts
        return self._kept["cells", k]

    def total(self) -> Array:
        """All rows."""
        return self._keep("total", lambda: self.tables.sum(axis=(1, 2)).astype(float))

    def hits(self) -> Array:
        """The rows that were decided right."""
        return self._keep("hits", lambda: np.trace(self.tables, axis1=1, axis2=2).astype(float))

    def of_class(self, name: str, k: int) -> Array:
        """A measure of one class against the rest."""
        return self._keep((name, k), lambda: CELLS[name](self.cells(k)))

    def average(self, name: str, how: str) -> Array:
        """An average over the classes: undefined where it is undefined for one of them."""
        if how == "micro":
            right, n = self.hits(), self.total()
            wrong = n - right
            cells = Cells(right, wrong, wrong, (self.classes - 2) * n + right)
            return self._keep((name, how), lambda: CELLS[name](cells))
        return self._keep((name, how), lambda: self._mean(name, how))

    def over_classes(self, name: str) -> Array:
        """A symmetric measure over all classes."""
        if self.classes == 2:
            return self.of_class(name, 1)
        return self._keep((name, "all"), lambda: self._over(name))

    def _mean(self, name: str, how: str) -> Array:
        if how == "macro":
            parts = [self.of_class(name, k) for k in range(self.classes)]
            return sum(parts[1:], parts[0]) / self.classes
        total = np.zeros(self.size)
        for k in range(self.classes):
            rows = self.cells(k).tp + self.cells(k).fn
            part = rows * self.of_class(name, k)
            total = total + (np.where(rows == 0, 0.0, part) if how == OF_PRESENT else part)
        return total / self.total()

    def _over(self, name: str) -> Array:
        n, hits = self.total(), self.hits()
        if name == "accuracy":
            return hits / n
        if name == "error_rate":
            return (n - hits) / n
        recalls = [self.of_class("recall", k) for k in range(self.classes)]
        if name == "balanced_accuracy":
            return sum(recalls[1:], recalls[0]) / self.classes
        if name == "g_mean":
            return np.prod(recalls, axis=0) ** (1 / self.classes)
        truth = self.tables.sum(axis=2).astype(float)
        said = self.tables.sum(axis=1).astype(float)
        chance = (truth * said).sum(axis=1)
        if name == "kappa":
            return (n * hits - chance) / (n * n - chance)
        spread = (n * n - (truth**2).sum(axis=1)) * (n * n - (said**2).sum(axis=1))
        return (n * hits - chance) / np.sqrt(spread)

    def _keep(self, name: Any, compute: Callable[[], Array]) -> Array:
        if name not in self._kept:
            with np.errstate(all="ignore"):
                value = compute()
            # A quotient by zero is undefined, never endless.
            self._kept[name] = np.where(np.isfinite(value), value, math.nan)
        return self._kept[name]


# -- all matrices ----------------------------------------------------------------------------------


def compositions(total: int, parts: int) -> Any:
    """All ways to part a total, one a row."""
    if parts == 1:
        return np.full((1, 1), total, np.int32)
    blocks = []
    for first in range(total + 1):
        rest = compositions(total - first, parts - 1)
        blocks.append(np.column_stack([np.full(len(rest), first, np.int32), rest]))
    return np.concatenate(blocks)


def of_supports(supports: tuple[int, ...]) -> Matrices:
    """All matrices with so many rows of each class."""
    size = len(supports)
    tables = np.zeros((1, 0, size), np.int32)
    for support in supports:
        rows = compositions(support, size)
        left = np.repeat(tables, len(rows), axis=0)
        right = np.tile(rows, (len(tables), 1))[:, None, :]
        tables = np.concatenate([left, right], axis=1)
    return Matrices(tables)


def of_total(total: int, classes: int) -> Matrices:
    """All matrices of so many rows."""
    return Matrices(compositions(total, classes * classes).reshape(-1, classes, classes))


def how_many(supports: tuple[int, ...]) -> int:
    """How many matrices have these supports."""
    size = len(supports)
    return math.prod(math.comb(support + size - 1, size - 1) for support in supports)
