"""All matrices of several small classes, against matrices put together cell by cell."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from assay.decisions.audit.claim import key_of, meanings
from assay.decisions.audit.search.matrices import ClassMatrices, class_matrices_of
from assay.decisions.audit.search.numbers import ByFormula
from assay.decisions.audit.verdicts import printed
from assay.formula import value
from assay.tally import Confusion

LABELS = ("a", "b", "c")
Sides = tuple[tuple[int, ...], ...]


def rows_of(total: int, classes: int) -> list[tuple[int, ...]]:
    every = itertools.product(range(total + 1), repeat=classes)
    return [row for row in every if sum(row) == total]


def sides(matrix: tuple[tuple[int, ...], ...]) -> Sides:
    hits = tuple(row[i] for i, row in enumerate(matrix))
    return hits, tuple(map(sum, matrix)), tuple(map(sum, zip(*matrix, strict=True)))


def in_tables(class_matrices: ClassMatrices) -> list[Sides]:
    columns = (
        class_matrices.hits.tolist(),
        class_matrices.rows.tolist(),
        class_matrices.columns.tolist(),
    )
    return [tuple(map(tuple, each)) for each in zip(*columns, strict=True)]


@pytest.mark.parametrize("rows", [(2, 3, 1), (0, 4, 2), (3,), (4, 5), (1, 1, 1, 1), (0, 0, 0)])
def test_tables_of_supports_are_all_that_there_can_be(rows: tuple[int, ...]) -> None:
    size = len(rows)
    expected = {sides(m) for m in itertools.product(*(rows_of(r, size) for r in rows))}
    class_matrices = class_matrices_of(rows, size, sum(rows))
    assert class_matrices is not None
    assert len(class_matrices) == len(expected)
    assert set(in_tables(class_matrices)) == expected


@pytest.mark.parametrize(("n", "size"), [(0, 2), (3, 2), (4, 3), (6, 2)])
def test_tables_of_a_size_are_those_of_all_supports(n: int, size: int) -> None:
    expected = {
        sides(m)
        for rows in rows_of(n, size)
        for m in itertools.product(*(rows_of(r, size) for r in rows))
    }
    class_matrices = class_matrices_of(None, size, n)
    assert class_matrices is not None
    assert len(class_matrices) == len(expected)
    assert set(in_tables(class_matrices)) == expected


def test_too_many_tables_are_not_put_together() -> None:
    assert class_matrices_of((5000, 5000, 5000), 3, 15000) is None
    assert class_matrices_of(None, 3, 500) is None
    assert class_matrices_of(None, 3, None) is None


@pytest.mark.parametrize(
    "key",
    ["accuracy", "kappa", "mcc", "g_mean", "recall.b", "f1.c", "fpr.a", "f1.macro", "npv.weighted",
     "jaccard.micro", "balanced_accuracy", "specificity"],
)  # fmt: skip
def test_tables_are_read_by_formulas_like_whole_matrices(key: str) -> None:
    rng = random.Random(key)
    (meaning, *others) = meanings(key_of(key), None)
    quantity = meaning.quantity(LABELS)
    assert quantity is not None
    for _ in range(20):
        matrix = tuple(tuple(rng.randint(0, 4) for _ in LABELS) for _ in LABELS)
        table = ClassMatrices(*(np.array([side]) for side in sides(matrix)))
        cells = quantity.cells(Confusion(LABELS, matrix))
        exact = value(quantity.expression, cells)
        guessed = rng.random() < 0.5 or math.isnan(exact)
        digits = f"{rng.random():.2f}" if guessed else f"{exact:.2f}"
        way = ByFormula(meaning, quantity, printed(digits))
        given = bool(table.given([way], rounded=False)[0])
        # An exact value at the very end of the window is not within it.
        near = abs(exact - float(digits))
        if abs(near - 0.01) > 1e-9 or math.isnan(exact):
            assert given == (near < 0.01)
    assert bool(others) == (key == "specificity")
