"""Adam and the schedule of its learning rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.learn.network import Adam, step_decay


def plain(weights: np.ndarray, gradients: list[np.ndarray], rate: float) -> np.ndarray:
    """Adam as its paper writes it."""
    first = second = np.zeros_like(weights)
    for t, gradient in enumerate(gradients, 1):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        corrected = first / (1 - 0.9**t), second / (1 - 0.999**t)
        weights = weights - rate * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)
    return weights


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_updates_are_those_of_the_paper(seed: int, steps: int) -> None:
    generator = np.random.default_rng(seed)
    weights = generator.normal(size=6)
    gradients = [generator.normal(size=6) for _ in range(steps)]
    adam, moved = Adam(6), weights.copy()
    for gradient in gradients:
        adam.update(moved, gradient, 0.01)
    assert np.allclose(moved, plain(weights, gradients, 0.01), rtol=1e-11, atol=1e-13)


def test_the_first_step_is_as_long_as_the_learning_rate() -> None:
    weights = np.zeros(3)
    Adam(3).update(weights, np.array([5.0, -0.01, 1e-3]), 0.001)
    assert weights == pytest.approx([-0.001, 0.001, -0.001], rel=1e-4)


def test_rates_fall_by_half_every_five_epochs() -> None:
    rates = [step_decay(0.001, epoch) for epoch in range(1, 21)]
    assert rates[:5] == [0.001] * 5
    assert rates[5:10] == [0.0005] * 5
    assert rates[10:15] == [0.00025] * 5
    assert rates[15:] == [0.000125] * 5
