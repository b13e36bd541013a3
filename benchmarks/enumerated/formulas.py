"""Measures of many matrices at once, by formulas of this file; nan where a value is undefined."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Formula = Callable[[Array, Array, Array, Array], Array]


def _f(beta: float) -> Formula:
    b = beta * beta
    return lambda tp, fp, fn, tn: (1 + b) * tp / ((1 + b) * tp + b * fn + fp)


# Of the cells tp, fp, fn, tn of one class against the rest.
CELLS: dict[str, Formula] = {
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "error_rate": lambda tp, fp, fn, tn: (fp + fn) / (tp + fp + fn + tn),
    "precision": lambda tp, fp, fn, tn: tp / (tp + fp),
    "recall": lambda tp, fp, fn, tn: tp / (tp + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (tn + fp),
    "npv": lambda tp, fp, fn, tn: tn / (tn + fn),
    "fpr": lambda tp, fp, fn, tn: fp / (fp + tn),
    "fnr": lambda tp, fp, fn, tn: fn / (fn + tp),
    "fdr": lambda tp, fp, fn, tn: fp / (fp + tp),
    "for": lambda tp, fp, fn, tn: fn / (fn + tn),
    "f1": _f(1),
    "f2": _f(2),
    "f0.5": _f(0.5),
    "jaccard": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "fowlkes_mallows": lambda tp, fp, fn, tn: tp / np.sqrt((tp + fp) * (tp + fn)),
    "prevalence": lambda tp, fp, fn, tn: (tp + fn) / (tp + fp + fn + tn),
    "alert_rate": lambda tp, fp, fn, tn: (tp + fp) / (tp + fp + fn + tn),
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "g_mean": lambda tp, fp, fn, tn: np.sqrt(tp / (tp + fn) * (tn / (tn + fp))),
    "informedness": lambda tp, fp, fn, tn: tp / (tp + fn) - fp / (fp + tn),
    "markedness": lambda tp, fp, fn, tn: tp / (tp + fp) - fn / (fn + tn),
    "mcc": lambda tp, fp, fn, tn: (tp * tn - fp * fn)
    / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
    "kappa": lambda tp, fp, fn, tn: 2
    * (tp * tn - fp * fn)
    / ((tp + fp) * (tn + fp) + (tp + fn) * (tn + fn)),
    "plr": lambda tp, fp, fn, tn: (tp / (tp + fn)) / (fp / (fp + tn)),
    "nlr": lambda tp, fp, fn, tn: (fn / (tp + fn)) / (tn / (fp + tn)),
    "dor": lambda tp, fp, fn, tn: tp * tn / (fp * fn),
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
        self._kept: dict[Any, Array] = {}

    def cells(self, k: int) -> tuple[Array, Array, Array, Array]:
        """The cells of one class against the rest."""
        if ("cells", k) not in self._kept:
            table = self.tables
            tp = table[:, k, k].astype(float)
            row, column = table[:, k, :].sum(axis=1), table[:, :, k].sum(axis=1)
            found = tp, column - tp, row - tp, self.total() - row - column + tp
            self._kept["cells", k] = found  # type: ignore[assignment]
        return self._kept["cells", k]  # type: ignore[return-value]

    def total(self) -> Array:
        return self._keep("total", lambda: self.tables.sum(axis=(1, 2)).astype(float))

    def hits(self) -> Array:
        return self._keep("hits", lambda: np.trace(self.tables, axis1=1, axis2=2).astype(float))

    def of_class(self, name: str, k: int) -> Array:
        """A measure of one class against the rest."""
        return self._keep((name, k), lambda: CELLS[name](*self.cells(k)))

    def average(self, name: str, how: str) -> Array:
        """An average over the classes: undefined where it is undefined for one of them."""
        if how == "micro":
            right, n = self.hits(), self.total()
            wrong = n - right
            cells = right, wrong, wrong, (self.classes - 2) * n + right
            return self._keep((name, how), lambda: CELLS[name](*cells))
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
            tp, _, fn, _ = self.cells(k)
            total = total + (tp + fn) * self.of_class(name, k)
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
                found = compute()
            # A quotient by zero is undefined, never endless.
            self._kept[name] = np.where(np.isfinite(found), found, math.nan)
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
