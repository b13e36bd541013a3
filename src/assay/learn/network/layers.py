"""Dense layers with ReLU, softmax and cross-entropy, and their gradients.

All weights live in one flat vector, of which the matrices are views, so that an optimiser updates
them with a few calls. Scratch is allocated once for a batch size: with batches of 32 rows most of
the time would go into allocating otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def softmax(logits: Floats) -> Floats:
    """Probabilities of the classes, row by row: exp(z_k) / sum of exp(z_j).

    >>> softmax(np.array([[1.2, 2.5]])).round(3).tolist()
    [[0.214, 0.786]]
    """
    shifted: Floats = logits - logits.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=1, keepdims=True)
    return shifted


def cross_entropy(logits: Floats, truth: npt.NDArray[np.intp], weights: Floats) -> float:
    """The weighted mean of -ln p(truth), computed from logits so that nothing overflows.

    >>> loss = cross_entropy(np.array([[1.2, 2.5]]), np.array([1]), np.ones(1))
    >>> round(loss, 3)
    0.241
    """
    shifted = logits - logits.max(axis=1, keepdims=True)
    normal = np.log(np.exp(shifted).sum(axis=1))
    losses = normal - shifted[np.arange(len(truth)), truth]
    return float(losses @ weights / (weights.sum() or 1.0))


class Layers:
    """A stack of dense layers; ``sizes`` runs from the inputs to the classes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        shapes = list(zip(self.sizes[:-1], self.sizes[1:], strict=True))
        self.flat = np.zeros(sum(a * b + b for a, b in shapes))
        self.gradient = np.zeros_like(self.flat)
        self.weights, self.biases = self._views(self.flat, shapes)
        self._d_weights, self._d_biases = self._views(self.gradient, shapes)
        self._scratch: dict[int, _Scratch] = {}

    @staticmethod
    def _views(
        flat: Floats, shapes: Sequence[tuple[int, int]]
    ) -> tuple[list[Floats], list[Floats]]:
        weights, biases, at = [], [], 0
        for rows, columns in shapes:
            weights.append(flat[at : at + rows * columns].reshape(rows, columns))
            at += rows * columns
            biases.append(flat[at : at + columns])
            at += columns
        return weights, biases

    def start(self, generator: np.random.Generator) -> None:
        """He's initial weights for ReLU: normal with the variance 2 / inputs; no biases."""
        for matrix in self.weights:
            matrix[...] = generator.normal(0, np.sqrt(2 / len(matrix)), matrix.shape)
        for bias in self.biases:
            bias[...] = 0

    def logits(self, rows: Floats) -> Floats:
        """What the last layer gives, without dropout."""
        values = rows
        last = len(self.weights) - 1
        for i, (matrix, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = values @ matrix
            values += bias
            if i < last:
                np.maximum(values, 0, out=values)
        return values

    def step(
        self,
        rows: Floats,
        truth: npt.NDArray[np.intp],
        weights: Floats,
        masks: Sequence[Floats] | None = None,
    ) -> float:
        """The loss of a batch; leaves its derivative by every weight in ``gradient``.

        ``masks`` hold, for each hidden layer, 0 for a dropped unit and 1/(1 - p) for a kept one.
        """
        room = self._room(len(rows))
        last = len(self.weights) - 1
        values: Floats = rows
        for i, (matrix, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            out = room.values[i]
            np.matmul(values, matrix, out=out)
            out += bias
            if i < last:
                np.maximum(out, 0, out=out)
                if masks is not None:
                    out *= masks[i]
            values = out
        loss = self._loss(values, truth, weights, room)
        back = values
        for i in range(last, -1, -1):
            below = rows if i == 0 else room.values[i - 1]
            np.matmul(below.T, back, out=self._d_weights[i])
            np.add.reduce(back, axis=0, out=self._d_biases[i])
            if i == 0:
                break
            earlier = room.backward[i - 1]
            np.matmul(back, self.weights[i].T, out=earlier)
            # A unit that was dropped or cut off by ReLU passes nothing back.
            np.greater(below, 0, out=room.alive[i - 1])
            earlier *= room.alive[i - 1]
            if masks is not None:
                earlier *= masks[i - 1]
            back = earlier
        return loss

    def _loss(
        self, logits: Floats, truth: npt.NDArray[np.intp], weights: Floats, room: _Scratch
    ) -> float:
        """The loss; turns logits into their derivative, (p - truth) * weight / sum of weights."""
        np.maximum.reduce(logits, axis=1, out=room.highest)
        logits -= room.highest[:, None]
        chosen = logits[room.places, truth]
        np.exp(logits, out=logits)
        np.add.reduce(logits, axis=1, out=room.sums)
        logits /= room.sums[:, None]
        np.log(room.sums, out=room.sums)
        room.sums -= chosen
        # A class may weigh nothing, and a batch hold no other: it then teaches nothing.
        total = np.add.reduce(weights) or 1.0
        loss = float(room.sums @ weights / total)
        logits[room.places, truth] -= 1
        logits *= (weights / total)[:, None]
        return loss

    def _room(self, size: int) -> _Scratch:
        if size not in self._scratch:
            self._scratch[size] = _Scratch(size, self.sizes)
        return self._scratch[size]


class _Scratch:
    """Arrays for batches of one size."""

    def __init__(self, size: int, sizes: Sequence[int]) -> None:
        self.values = [np.empty((size, width)) for width in sizes[1:]]
        self.backward = [np.empty((size, width)) for width in sizes[1:-1]]
        self.alive: list[npt.NDArray[Any]] = [
            np.empty((size, width), np.bool_) for width in sizes[1:-1]
        ]
        self.highest = np.empty(size)
        self.sums = np.empty(size)
        self.places = np.arange(size)


# Masks are drawn for so many rows at once: one call a batch would cost more than the numbers.
_ROWS = 8192


def masks(
    generator: np.random.Generator, rows: int, widths: Sequence[int], p: float, *, batch: int = 1
) -> Iterator[list[Floats]]:
    """Masks for some whole batches at a time, one array a hidden layer, until all rows have one."""
    many = batch * max(_ROWS // batch, 1)
    for start in range(0, rows, many):
        size = min(many, rows - start)
        drawn: list[Floats] = []
        for width in widths:
            kept = generator.random((size, width), np.float32) >= p
            drawn.append(kept * np.float64(1 / (1 - p)))
        yield drawn


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
