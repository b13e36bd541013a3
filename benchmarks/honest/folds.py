"""Means of folds, with the pooled counts beside them or without."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from scipy.special import stdtrit

from honest.printing import CONTEXT, Number, Printer, decimal, root
from honest.values import average, of_all, one_sided

Cells = tuple[int, int, int, int]


def folds(rng: random.Random, show: Printer) -> dict[str, Any]:
    """A claim of means of folds."""
    tables = _tables(rng)
    reported: dict[str, str] = {}
    convention = rng.choice(("class", "class", "weighted", "macro"))
    measures = ("accuracy", *rng.sample(("recall", "precision", "f1", "specificity", "mcc"), 2))
    values = {name: [_value(name, table, convention) for table in tables] for name in measures}
    # A fold where a measure is undefined leaves no mean to report.
    listed = {name: each for name, each in values.items() if None not in each}
    told = rng.choice(("fold-mean", "listed", "both", "named"))
    for name, each in listed.items():
        mean = _mean([decimal(value) for value in each if value is not None])
        if told != "named":
            reported[name] = show(mean)
        if told == "named" or rng.random() < 0.4:
            reported[f"{name}.mean"] = show(mean)
    claim: dict[str, Any] = {"reported": reported, **_counts(rng, tables)}
    if told in ("fold-mean", "both"):
        claim["aggregate"] = "fold-mean"
    if told in ("listed", "both"):
        right = [Fraction(table[0] + table[3], sum(table)) for table in tables]
        claim["folds"] = {"accuracy": [show(value) for value in right]}
        reported |= spreads(right, show)
        if rng.random() < 0.3:
            name = rng.choice(list(listed))
            claim["folds"][name] = [show(value) for value in listed[name] if value is not None]
    return claim


def _tables(rng: random.Random) -> list[Cells]:
    size = rng.randint(5, 2000)
    sizes = [size + (rng.random() < 0.5) for _ in range(rng.randint(2, 12))]
    if max(sizes) == min(sizes):
        sizes[0] += 1
    tables = []
    for n in sizes:
        positives = rng.randint(1, n - 1)
        tp, tn = (int(c * rng.uniform(0.7, 1)) for c in (positives, n - positives))
        tables.append((tn, n - positives - tn, positives - tp, tp))
    return tables


def _value(name: str, table: Cells, convention: str) -> Number | None:
    tn, fp, fn, tp = table
    if name in ("accuracy", "mcc"):
        return of_all(((tn, fp), (fn, tp)))[name]
    own, other = one_sided(tp, fp, fn, tn)[name], one_sided(tn, fn, fp, tp)[name]
    if convention == "class":
        return own
    return average((own, other), (tp + fn, tn + fp) if convention == "weighted" else (1, 1))


def _mean(values: Sequence[Decimal]) -> Decimal:
    return CONTEXT.divide(sum(values, Decimal(0)), Decimal(len(values)))


def _counts(rng: random.Random, tables: Sequence[Cells]) -> dict[str, Any]:
    """The pooled counts: all cells, supports, the size, or nothing."""
    tn, fp, fn, tp = (sum(column) for column in zip(*tables, strict=True))
    return rng.choice(
        (
            {"confusion": {"tn": tn, "fp": fp, "fn": fn, "tp": tp}},
            {"confusion": {"tn": tn, "fp": fp, "fn": fn, "tp": tp}},
            {"support": {"normal": tn + fp, "attack": fn + tp}},
            {"n": tn + fp + fn + tp},
            {},
        )
    )


def spreads(right: Sequence[Fraction], show: Printer) -> dict[str, Any]:
    """The deviation of the folds' accuracies, its standard error and interval."""
    fields: dict[str, Any] = {}
    # A deviation of folds of few digits is that of the printed ones.
    values = right if show.decimals >= 4 else [show.read(show(value)) for value in right]
    middle = sum(values, Fraction(0)) / len(values)
    spread = root(sum(((v - middle) ** 2 for v in values), Fraction(0)) / (len(values) - 1))
    fields["accuracy.sd"] = show(spread)
    error = spread / Decimal(len(values)).sqrt(CONTEXT)
    if show.decimals < 4:
        fields["accuracy.se"] = show(error)
        t = Decimal(float(-stdtrit(len(values) - 1, 0.025)))
        ends = decimal(middle) - t * error, decimal(middle) + t * error
        fields["accuracy.ci"] = [show(end) for end in ends]
    return fields
