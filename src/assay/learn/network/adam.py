"""Adam, and a learning rate that falls in steps."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def step_decay(rate: float, epoch: int, *, factor: float = 0.5, every: int = 5) -> float:
    """The learning rate of an epoch, counted from 1: rate * factor^floor((epoch - 1) / every).

    >>> [step_decay(0.001, epoch) for epoch in (1, 5, 6, 11)]
    [0.001, 0.001, 0.0005, 0.00025]
    """
    return float(rate * factor ** ((epoch - 1) // every))


class Adam:
    """Adam of Kingma and Ba (2015), with both moments corrected for their start at zero."""

    def __init__(
        self, size: int, *, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        self._beta_1, self._beta_2, self._epsilon = beta_1, beta_2, epsilon
        self._first, self._second = np.zeros(size), np.zeros(size)
        self._scratch, self._below = np.empty(size), np.empty(size)
        self._steps = 0

    def update(self, weights: Floats, gradient: Floats, rate: float) -> None:
        """Move the weights one step, in place."""
        self._steps += 1
        first, second, scratch, below = self._first, self._second, self._scratch, self._below
        # m += (1 - b) (g - m) is b m + (1 - b) g with one pass less.
        np.subtract(gradient, first, out=scratch)
        scratch *= 1 - self._beta_1
        first += scratch
        np.multiply(gradient, gradient, out=scratch)
        scratch *= 1 - self._beta_2
        second *= self._beta_2
        second += scratch
        np.sqrt(second, out=below)
        below /= math.sqrt(1 - self._beta_2**self._steps)
        below += self._epsilon
        np.divide(first, below, out=scratch)
        scratch *= rate / (1 - self._beta_1**self._steps)
        weights -= scratch
