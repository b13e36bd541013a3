"""The search for exchanged labels, which two checks share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evaluation.findings.inverted_labels import Reassignment, reassigned
from assay.tally import Confusion, Resolved


def searched(table: np.ndarray) -> Reassignment | None:
    labels = tuple(f"c{i:02}" for i in range(len(table)))
    confusion = Confusion(labels, tuple(tuple(row) for row in table.tolist()))
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    return reassigned(shares, Resolved.of_confusion(confusion))


@pytest.mark.parametrize("classes", [3, 5, 10, 30])
@pytest.mark.parametrize("rows", [20, 200, 2000])
def test_chance_shows_no_permutation(classes: int, rows: int) -> None:
    generator = np.random.default_rng(classes * rows)
    for _ in range(50):
        table = generator.multinomial(rows, np.full(classes**2, classes**-2.0))
        assert searched(table.reshape(classes, classes)) is None


@given(st.permutations(range(6)))
def test_a_permutation_is_found_as_it_is(permuted: list[int]) -> None:
    table = np.full((6, 6), 2)
    table[np.arange(6), permuted] = 90
    reassignment = searched(table)
    moves = {i: j for i, j in enumerate(permuted) if i != j}
    assert (reassignment.moves if reassignment is not None else {}) == moves
    if reassignment is not None:
        assert reassignment.before == pytest.approx(np.trace(table) / table.sum())
        assert reassignment.after == pytest.approx(0.9)


def test_labels_that_lose_are_left_as_they_are() -> None:
    # Two are exchanged; of the two others one takes all rows, which is no exchange.
    table = np.array([[0, 90, 0, 0], [90, 0, 0, 0], [0, 0, 60, 30], [0, 0, 60, 30]])
    assert searched(table).moves == {0: 1, 1: 0}
