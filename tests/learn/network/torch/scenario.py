"""The same start for both: weights, batches, masks, class weights and learning rates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

STEPS, BATCH, STEPS_OF_EPOCH = 200, 32, 10
RATE, DROPOUT = 0.001, 0.3
SIZES = {"two classes": (6, 8, 5, 2), "four classes": (6, 8, 5, 4)}


@dataclass(frozen=True)
class Scenario:
    """What a network is trained on, step by step; weights are inputs x units."""

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    rows: np.ndarray
    truth: np.ndarray
    masks: list[list[np.ndarray]]
    class_weights: np.ndarray


def scenario(sizes: tuple[int, ...]) -> Scenario:
    """Made by NumPy's generator, whose draws are the same everywhere."""
    generator = np.random.default_rng(sum(sizes))
    pairs = list(itertools.pairwise(sizes))
    classes = sizes[-1]
    truth = generator.integers(classes, size=(STEPS, BATCH))
    rows = generator.normal(size=(STEPS, BATCH, sizes[0]))
    rows[:, :, :classes] += np.eye(classes)[truth]
    return Scenario(
        weights=[generator.normal(0, np.sqrt(2 / a), (a, b)) for a, b in pairs],
        biases=[generator.normal(0, 0.1, b) for _, b in pairs],
        rows=rows,
        truth=truth,
        masks=[
            [(generator.random((BATCH, width)) >= DROPOUT) / (1 - DROPOUT) for width in sizes[1:-1]]
            for _ in range(STEPS)
        ],
        class_weights=generator.uniform(0.5, 2, classes),
    )
