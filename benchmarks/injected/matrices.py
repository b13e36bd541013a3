"""Honest matrices, and their numbers by formulas of this file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Values = dict[str, Any]
Matrix = list[list[int]]


def two_classes(rng: np.random.Generator) -> Matrix:
    n = int(10 ** rng.uniform(2.7, 4.7))
    positives = max(20, int(n * rng.uniform(0.05, 0.6)))
    hits = rng.binomial(positives, rng.uniform(0.6, 0.99))
    false = rng.binomial(n - positives, rng.uniform(0.005, 0.3))
    return [[n - positives - false, false], [positives - hits, hits]]


def many_classes(rng: np.random.Generator) -> Matrix:
    size = int(rng.integers(3, 7))
    supports = (10 ** rng.uniform(2, 3.5, size)).astype(int)
    matrix = []
    for i, support in enumerate(supports):
        share = rng.dirichlet(np.full(size, 0.8)) * rng.uniform(0.05, 0.4)
        share[i] = 0
        share[i] = 1 - share.sum()
        matrix.append(rng.multinomial(support, share).tolist())
    return matrix


def labels_of(matrix: Matrix) -> tuple[str, ...]:
    return ("normal", "attack") if len(matrix) == 2 else tuple("ABCDEF"[: len(matrix)])


def rates(tp: float, fp: float, fn: float, tn: float) -> Values:
    n = tp + fp + fn + tn
    p, r, s, npv = (
        a / (a + b) if a + b else math.nan for a, b in ((tp, fp), (tp, fn), (tn, fp), (tn, fn))
    )
    chance = ((tp + fp) * (tp + fn) + (tn + fp) * (tn + fn)) / n**2
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    accuracy = (tp + tn) / n
    return {
        "accuracy": accuracy,
        "error_rate": 1 - accuracy,
        "precision": p,
        "recall": r,
        "specificity": s,
        "npv": npv,
        "f1": 2 * tp / (2 * tp + fp + fn),
        "fpr": 1 - s,
        "fnr": 1 - r,
        "fdr": 1 - p,
        "for": 1 - npv,
        "balanced_accuracy": (r + s) / 2,
        "g_mean": math.sqrt(r * s),
        "informedness": r + s - 1,
        "jaccard": tp / (tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / math.sqrt(spread) if spread else math.nan,
        "kappa": (accuracy - chance) / (1 - chance),
    }


def numbers(matrix: Any) -> Values:
    """All numbers of a matrix by their keys, bare ones of two classes for the second."""
    table = np.array(matrix, float)
    labels, n = labels_of(matrix), table.sum()
    hits, rows, columns = np.diag(table), table.sum(axis=1), table.sum(axis=0)
    figures: Values = {}
    of_label = [
        rates(h, c - h, r - h, n - r - c + h) for h, r, c in zip(hits, rows, columns, strict=True)
    ]
    for name in ("precision", "recall", "f1"):
        each = np.array([values[name] for values in of_label])
        figures[f"{name}.macro"] = each.mean()
        figures[f"{name}.weighted"] = (each * rows).sum() / n
        figures[f"{name}.micro"] = hits.sum() / n
        figures |= {f"{name}.{label}": value for label, value in zip(labels, each, strict=True)}
    if len(matrix) == 2:
        return figures | of_label[1]
    chance, accuracy = (rows * columns).sum() / n**2, hits.sum() / n
    spread = (1 - (rows**2).sum() / n**2) * (1 - (columns**2).sum() / n**2)
    recalls = hits / rows
    return figures | {
        "accuracy": accuracy,
        "error_rate": 1 - accuracy,
        "balanced_accuracy": recalls.mean(),
        "g_mean": math.exp(np.log(recalls).mean()) if recalls.all() else 0.0,
        "kappa": (accuracy - chance) / (1 - chance),
        "mcc": (accuracy - chance) / math.sqrt(spread),
    }


ONE_SIDED = (
    "precision",
    "recall",
    "specificity",
    "npv",
    "f1",
    "fpr",
    "fnr",
    "fdr",
    "for",
    "jaccard",
)


def conventions(key: str, matrix: Matrix) -> list[float]:
    """All values that a bare key of two classes may have: of the positive, or an average."""
    (tn, fp), (fn, tp) = matrix
    own, other = rates(tp, fp, fn, tn)[key], rates(tn, fn, fp, tp)[key]
    n, positives, right, wrong = tp + fp + fn + tn, tp + fn, tp + tn, fp + fn
    weighted = (own * positives + other * (n - positives)) / n
    return [own, weighted, (own + other) / 2, rates(right, wrong, wrong, right)[key]]
