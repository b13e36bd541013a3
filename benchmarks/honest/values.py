"""Matrices, and their measures worked out by hand as exact numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from honest.printing import CONTEXT, Number, root

Rows = tuple[tuple[int, ...], ...]


def ratio(top: int, bottom: int) -> Fraction | None:
    return Fraction(top, bottom) if bottom else None


def one_sided(tp: int, fp: int, fn: int, tn: int) -> dict[str, Fraction | None]:
    return {
        "precision": ratio(tp, tp + fp),
        "recall": ratio(tp, tp + fn),
        "specificity": ratio(tn, tn + fp),
        "f1": ratio(2 * tp, 2 * tp + fp + fn),
        "f2": ratio(5 * tp, 5 * tp + 4 * fn + fp),
        "f0.5": ratio(5 * tp, 5 * tp + fn + 4 * fp),
        "jaccard": ratio(tp, tp + fp + fn),
        "fpr": ratio(fp, fp + tn),
        "fnr": ratio(fn, fn + tp),
        "fdr": ratio(fp, fp + tp),
        "for": ratio(fn, fn + tn),
        "npv": ratio(tn, tn + fn),
    }


def endless(tp: int, fp: int, fn: int, tn: int) -> dict[str, Fraction | None]:
    """Ratios of rates, which have no upper end."""
    return {
        "positive_likelihood_ratio": ratio(tp * (fp + tn), fp * (tp + fn)),
        "negative_likelihood_ratio": ratio(fn * (fp + tn), tn * (tp + fn)),
        "diagnostic_odds_ratio": ratio(tp * tn, fp * fn),
    }


def cells(rows: Rows, k: int) -> tuple[int, int, int, int]:
    total = sum(map(sum, rows))
    tp, row, column = rows[k][k], sum(rows[k]), sum(r[k] for r in rows)
    return tp, column - tp, row - tp, total - row - column + tp


def of_all(rows: Rows) -> dict[str, Number | None]:
    """The symmetric measures of any number of classes."""
    n = sum(map(sum, rows))
    hits = sum(rows[i][i] for i in range(len(rows)))
    truth, said = [sum(row) for row in rows], [sum(column) for column in zip(*rows, strict=True)]
    chance = sum(t * s for t, s in zip(truth, said, strict=True))
    spread = (n * n - sum(t * t for t in truth)) * (n * n - sum(s * s for s in said))
    recalls = [ratio(rows[i][i], truth[i]) for i in range(len(rows))]
    values: dict[str, Number | None] = {
        "accuracy": ratio(hits, n),
        "error_rate": ratio(n - hits, n),
        "kappa": ratio(n * hits - chance, n * n - chance),
        "mcc": None,
        "balanced_accuracy": None,
    }
    if spread:
        values["mcc"] = CONTEXT.divide(Decimal(n * hits - chance), root(Fraction(spread)))
    if None not in recalls:
        values["balanced_accuracy"] = sum(r for r in recalls if r is not None) / len(rows)
    return values


def average(values: Sequence[Fraction | None], weights: Sequence[int]) -> Fraction | None:
    if None in values or not sum(weights):
        return None
    total = sum((v * w for v, w in zip(values, weights, strict=True) if v is not None), Fraction(0))
    return total / sum(weights)


def matrix(rng: random.Random, size: int) -> Rows:
    """Counts of a detector that may be good, poor, or turned round; a class may have no rows."""
    scale = 10 ** rng.uniform(0, 7)
    skill = rng.choice((0.5, 0.9, 0.99, 0.999, 0.05))
    shares = [rng.random() ** rng.choice((1, 4)) for _ in range(size)]
    rows = tuple(
        tuple(
            int(scale * shares[i] * (skill if i == j else (1 - skill) * rng.random() / size) + 0.9)
            for j in range(size)
        )
        for i in range(size)
    )
    if rng.random() < 0.06:
        empty = rng.randrange(size)
        rows = tuple((0,) * size if i == empty else row for i, row in enumerate(rows))
    return rows if any(map(any, rows)) else ((1,) * size, *rows[1:])
