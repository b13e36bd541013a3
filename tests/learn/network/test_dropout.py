"""Inverted dropout keeps the expected value of a unit."""

import numpy as np
import pytest

from assay.learn.network import masks


def drawn(rows: int, p: float, batch: int = 1) -> list[np.ndarray]:
    parts = list(masks(np.random.default_rng(0), rows, (64, 32), p, batch=batch))
    return [np.concatenate([part[i] for part in parts]) for i in range(2)]


def test_a_mask_is_zero_or_the_inverse_of_what_is_kept() -> None:
    for mask in drawn(100, 0.3):
        assert set(np.unique(mask)) == {0.0, 1 / 0.7}


def test_units_keep_their_expected_value() -> None:
    # The mask of a Bernoulli(p) instead would give 3/7.
    first, second = drawn(20_000, 0.3)
    assert first.mean() == pytest.approx(1, abs=0.005)
    assert second.mean() == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize("batch", [1, 32, 1000, 10_000])
def test_every_row_has_a_mask_whatever_the_batch(batch: int) -> None:
    first, second = drawn(20_001, 0.5, batch)
    assert first.shape == (20_001, 64)
    assert second.shape == (20_001, 32)


def test_no_piece_ends_inside_a_batch() -> None:
    sizes = [len(part[0]) for part in masks(np.random.default_rng(0), 50_000, (4,), 0.5, batch=300)]
    assert all(size % 300 == 0 for size in sizes[:-1])
    assert sum(sizes) == 50_000
