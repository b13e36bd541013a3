"""A neural network as a scikit-learn classifier, in NumPy: its training, layers and gradients.

All weights live in one flat vector, of which the matrices are views, so that an optimiser updates
them with a few calls. Scratch is allocated once for a batch size: with batches of 32 rows most of
the time would go into allocating otherwise. It needs the extra ``learn``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

Codes: TypeAlias = npt.NDArray[np.intp]

_BATCH_OF_PREDICTION = 8192
_LEAST_IMPROVEMENT = 1e-4
_SEEDS = 2**32


class ANNClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A feed-forward network: ReLU layers, softmax, cross-entropy, Adam, dropout, step decay.

    Rows should be standardised. Each batch of ``batch_size`` rows moves the weights once by Adam;
    the learning rate is multiplied by ``decay`` every ``decay_every`` epochs. A hidden unit is
    dropped with the chance ``dropout`` while training. ``class_weight`` is None, ``"balanced"`` or
    a mapping from class to weight. With a ``validation_share``, that part of the rows (stratified)
    is held back, training stops after ``patience`` epochs without improvement, and the best weights
    are kept.

    After fitting, ``loss_curve_`` holds the mean loss of each epoch, ``validation_curve_`` that of
    the rows held back, and ``rates_`` the learning rates.
    """

    def __init__(
        self,
        hidden_layers: Sequence[int] = (64, 32),
        *,
        learning_rate: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        dropout: float = 0.3,
        batch_size: int = 32,
        epochs: int = 20,
        decay: float = 0.5,
        decay_every: int = 5,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        validation_share: float = 0.0,
        patience: int = 5,
        random_state: Any = None,
    ) -> None:
        self.hidden_layers = hidden_layers
        self.learning_rate = learning_rate
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.dropout = dropout
        self.batch_size = batch_size
        self.epochs = epochs
        self.decay = decay
        self.decay_every = decay_every
        self.class_weight = class_weight
        self.validation_share = validation_share
        self.patience = patience
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ANNClassifier:
        """Train on rows and their classes."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self._must_make_sense()
        self.classes_, truth = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"ANNClassifier needs rows of two classes at least; found 1 class, "
                f"{self.classes_[0]!r}"
            )
        random = check_random_state(self.random_state)
        generator = np.random.default_rng(int(random.randint(0, _SEEDS, dtype=np.uint64)))
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)[truth]
        layers = Layers([rows.shape[1], *self.hidden_layers, len(self.classes_)])
        layers.start(generator)
        kept, held_out = self._split(truth, generator)
        self.loss_curve_: list[float] = []
        self.validation_curve_: list[float] = []
        self.rates_: list[float] = []
        part = rows[kept], truth[kept], weights[kept]
        held_back = (rows[held_out], truth[held_out], weights[held_out]) if len(held_out) else None
        self._train(layers, part, held_back, generator)
        self.coefs_ = [matrix.copy() for matrix in layers.weights]
        self.intercepts_ = [bias.copy() for bias in layers.biases]
        self.n_iter_ = len(self.loss_curve_)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of ``classes_``."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False)
        layers = self._layers()
        starts = range(0, len(rows), _BATCH_OF_PREDICTION)
        return np.concatenate(
            [softmax(layers.logits(rows[i : i + _BATCH_OF_PREDICTION])) for i in starts]
        )

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of each row; the first one on a tie."""
        probabilities = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def _layers(self) -> Layers:
        layers = Layers([len(self.coefs_[0]), *(matrix.shape[1] for matrix in self.coefs_)])
        for to, matrix in zip(layers.weights, self.coefs_, strict=True):
            to[...] = matrix
        for to, bias in zip(layers.biases, self.intercepts_, strict=True):
            to[...] = bias
        return layers

    def _must_make_sense(self) -> None:
        layers = self.hidden_layers
        widths = not isinstance(layers, int) and all(width >= 1 for width in layers)
        for name, holds, wanted in (
            ("hidden_layers", widths, "widths above 0, such as (64, 32)"),
            ("learning_rate", self.learning_rate > 0, "a number above 0"),
            ("beta_1", 0 <= self.beta_1 < 1, "a number in [0, 1)"),
            ("beta_2", 0 <= self.beta_2 < 1, "a number in [0, 1)"),
            ("epsilon", self.epsilon > 0, "a number above 0"),
            ("dropout", 0 <= self.dropout < 1, "a chance in [0, 1)"),
            ("batch_size", self.batch_size >= 1, "1 or more"),
            ("epochs", self.epochs >= 1, "1 or more"),
            ("decay", 0 < self.decay <= 1, "a factor in (0, 1]"),
            ("decay_every", self.decay_every >= 1, "1 or more"),
            ("validation_share", 0 <= self.validation_share < 1, "a share in [0, 1)"),
            ("patience", self.patience >= 1, "1 or more"),
        ):
            if not holds:
                raise ValueError(f"{name} must be {wanted}; found {getattr(self, name)!r}")

    def _split(self, truth: Codes, generator: np.random.Generator) -> tuple[Codes, Codes]:
        """Rows to learn from, and rows held back: the same share of each class."""
        everything = np.arange(len(truth))
        if not self.validation_share:
            return everything, everything[:0]
        held_out = []
        for code in range(len(self.classes_)):
            of_class = generator.permutation(np.flatnonzero(truth == code))
            size = round(len(of_class) * self.validation_share)
            held_out.append(of_class[: min(size, len(of_class) - 1)])
        back = np.sort(np.concatenate(held_out))
        return np.setdiff1d(everything, back, assume_unique=True), back

    def _train(
        self,
        layers: Layers,
        part: tuple[Floats, Codes, Floats],
        held_back: tuple[Floats, Codes, Floats] | None,
        generator: np.random.Generator,
    ) -> None:
        adam = Adam(len(layers.flat), beta_1=self.beta_1, beta_2=self.beta_2, epsilon=self.epsilon)
        best, best_weights, waited = np.inf, layers.flat.copy(), 0
        for epoch in range(1, self.epochs + 1):
            rate = step_decay(self.learning_rate, epoch, factor=self.decay, every=self.decay_every)
            self.rates_.append(rate)
            self.loss_curve_.append(self._epoch(layers, adam, rate, part, generator))
            if held_back is None:
                continue
            loss = cross_entropy(layers.logits(held_back[0]), held_back[1], held_back[2])
            self.validation_curve_.append(loss)
            if loss < best - _LEAST_IMPROVEMENT:
                best, waited = loss, 0
                best_weights[...] = layers.flat
            else:
                waited += 1
                if waited >= self.patience:
                    break
        if held_back is not None:
            layers.flat[...] = best_weights

    def _epoch(
        self,
        layers: Layers,
        adam: Adam,
        rate: float,
        part: tuple[Floats, Codes, Floats],
        generator: np.random.Generator,
    ) -> float:
        """Go through all rows once, in a new order; gives the mean loss."""
        order = generator.permutation(len(part[0]))
        rows, truth, weights = part[0][order], part[1][order], part[2][order]
        total = 0.0
        for start, stop, kept in self._batches(len(rows), generator):
            loss = layers.step(rows[start:stop], truth[start:stop], weights[start:stop], kept)
            total += loss * (stop - start)
            adam.update(layers.flat, layers.gradient, rate)
        return total / len(rows)

    def _batches(
        self, rows: int, generator: np.random.Generator
    ) -> Iterator[tuple[int, int, list[Floats] | None]]:
        """Where each batch starts and stops, and its masks."""
        size = self.batch_size
        if not self.dropout or not len(self.hidden_layers):
            for start in range(0, rows, size):
                yield start, min(start + size, rows), None
            return
        at = 0
        # Masks come for whole batches, so that no batch needs two pieces.
        for drawn in masks(generator, rows, self.hidden_layers, self.dropout, batch=size):
            until = at + len(drawn[0])
            for start in range(at, until, size):
                stop = min(start + size, until)
                yield start, stop, [mask[start - at : stop - at] for mask in drawn]
            at = until


# -- layers with ReLU, softmax and cross-entropy, and their gradients ------------------------------

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
