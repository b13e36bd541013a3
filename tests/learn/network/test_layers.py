"""Layers: what they give, and that their gradients are the derivatives."""

import numpy as np
import pytest

from assay.learn.network import Layers, cross_entropy, softmax


def test_softmax_and_loss_are_those_of_the_worked_example() -> None:
    logits = np.array([[1.2, 2.5]])
    assert softmax(logits).round(3).tolist() == [[0.214, 0.786]]
    assert round(cross_entropy(logits, np.array([1]), np.ones(1)), 3) == 0.241


def test_large_logits_do_not_overflow() -> None:
    logits = np.array([[1000.0, 0.0], [-1000.0, 0.0]])
    assert softmax(logits).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert cross_entropy(logits, np.array([1, 1]), np.ones(2)) == 500


def made(classes: int, seed: int) -> tuple[Layers, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    generator = np.random.default_rng(seed)
    layers = Layers([5, 7, 4, classes])
    layers.start(generator)
    layers.flat += generator.normal(0, 0.1, len(layers.flat))
    rows = generator.normal(size=(9, 5))
    return layers, (rows, generator.integers(classes, size=9), generator.uniform(0.5, 3, 9))


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("dropped", [False, True])
def test_gradients_are_those_of_finite_differences(classes: int, dropped: bool) -> None:
    layers, batch = made(classes, seed=classes)
    generator = np.random.default_rng(1)
    masks = [(generator.random((9, w)) > 0.3) / 0.7 for w in (7, 4)] if dropped else None
    layers.step(*batch, masks)
    gradient = layers.gradient.copy()
    expected = np.empty_like(gradient)
    step = 1e-6
    for i, weight in enumerate(layers.flat.copy()):
        ends = []
        for moved in (weight + step, weight - step):
            layers.flat[i] = moved
            ends.append(layers.step(*batch, masks))
        layers.flat[i] = weight
        expected[i] = (ends[0] - ends[1]) / (2 * step)
    assert np.allclose(gradient, expected, rtol=1e-5, atol=1e-8)


def test_the_loss_of_a_step_is_the_cross_entropy_of_the_logits() -> None:
    layers, (rows, truth, weights) = made(3, seed=8)
    expected = cross_entropy(layers.logits(rows), truth, weights)
    assert layers.step(rows, truth, weights) == pytest.approx(expected, rel=1e-13)


def test_the_gradient_follows_weights_of_rows() -> None:
    layers, (rows, truth, _) = made(2, seed=3)
    layers.step(rows, truth, np.full(9, 5.0))
    scaled = layers.gradient.copy()
    layers.step(rows, truth, np.ones(9))
    assert np.allclose(scaled, layers.gradient, rtol=1e-12)


def test_a_row_of_twice_the_weight_counts_as_two_rows() -> None:
    layers, (rows, truth, _) = made(2, seed=3)
    weights = np.ones(9)
    weights[0] = 2
    once = layers.step(rows, truth, weights), layers.gradient.copy()
    again = [0, *range(9)]
    twice = layers.step(rows[again], truth[again], np.ones(10)), layers.gradient.copy()
    assert once[0] == pytest.approx(twice[0], rel=1e-12)
    assert np.allclose(once[1], twice[1], rtol=1e-12, atol=1e-15)
