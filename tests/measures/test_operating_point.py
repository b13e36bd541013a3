"""What one operating point tells of areas under curves, against every ranking with that point."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import pytest

from assay.formula import Expression, enclosure
from assay.measures import find

Counts = tuple[int, int, int, int]


def bounds_of(name: str, cells: Counts) -> tuple[Fraction, Fraction]:
    """The least and the largest value; cells are tn, fp, fn, tp."""
    tn, fp, fn, tp = cells
    enclosures = []
    for bound in find(name).bounds or ():
        if isinstance(bound, Expression):
            enclosures += enclosure(bound, {"TP": tp, "FP": fp, "FN": fn, "TN": tn})[:1]
        else:
            enclosures.append(bound(tp, fp, fn, tn))
    low, high = enclosures
    return low, high


def rankings(cells: Counts) -> Iterator[tuple[str, ...]]:
    tn, fp, fn, tp = cells
    for above in set(permutations("+" * tp + "-" * fp)):
        for below in set(permutations("+" * fn + "-" * tn)):
            yield above + below


def areas(order: tuple[str, ...]) -> tuple[Fraction, Fraction]:
    """The area under the ROC curve and the average precision of a ranking."""
    positives, negatives = order.count("+"), order.count("-")
    hits = wins = 0
    precision = Fraction(0)
    for seen, row in enumerate(order, 1):
        if row == "+":
            hits += 1
            precision += Fraction(hits, seen)
        else:
            wins += hits
    return Fraction(wins, positives * negatives), precision / positives


@pytest.mark.parametrize(
    "cells", [(2, 1, 1, 2), (3, 2, 1, 1), (1, 3, 2, 2), (2, 0, 1, 2), (3, 1, 0, 3)]
)
def test_bounds_are_those_of_all_rankings(cells: Counts) -> None:
    aucs, aps = zip(*(areas(order) for order in rankings(cells)), strict=True)
    assert bounds_of("roc_auc", cells) == (min(aucs), max(aucs))
    low, high = bounds_of("average_precision", cells)
    assert low <= min(aps)
    assert high >= max(aps)
    positives = cells[2] + cells[3]
    assert low >= min(aps) - Fraction(1, positives) - Fraction(1, 10**6)


@pytest.mark.parametrize("scale", [1, 10**6, 10**12, 10**18, 10**30])
def test_bounds_of_large_matrices_are_never_crossed(scale: int) -> None:
    for cells in ((scale, 3, 2, 5), (5, scale, 2, 3), (5, 3, scale, 2), (5, 3, 2, scale)):
        low, high = bounds_of("average_precision", cells)
        assert 0 <= low <= high <= 1
        # The worst order puts all false alarms first: no hit has a higher precision than this.
        _, fp, fn, tp = cells
        assert low <= Fraction(tp * tp, (tp + fp) * (tp + fn)) + Fraction(fn, tp + fn)
