"""The neural network of document 000 as a scikit-learn classifier, in NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from assay.learn.network.layers import Adam, Layers, cross_entropy, masks, softmax, step_decay

Floats: TypeAlias = npt.NDArray[np.float64]
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
        kept, held = self._split(truth, generator)
        self.loss_curve_: list[float] = []
        self.validation_curve_: list[float] = []
        self.rates_: list[float] = []
        part = rows[kept], truth[kept], weights[kept]
        held_back = (rows[held], truth[held], weights[held]) if len(held) else None
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
        found: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return found

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
        held = []
        for code in range(len(self.classes_)):
            of_class = generator.permutation(np.flatnonzero(truth == code))
            size = round(len(of_class) * self.validation_share)
            held.append(of_class[: min(size, len(of_class) - 1)])
        back = np.sort(np.concatenate(held))
        return np.setdiff1d(everything, back, assume_unique=True), back

    def _train(
        self,
        layers: Layers,
        part: tuple[Floats, Codes, Floats],
        held: tuple[Floats, Codes, Floats] | None,
        generator: np.random.Generator,
    ) -> None:
        adam = Adam(len(layers.flat), beta_1=self.beta_1, beta_2=self.beta_2, epsilon=self.epsilon)
        best, best_weights, waited = np.inf, layers.flat.copy(), 0
        for epoch in range(1, self.epochs + 1):
            rate = step_decay(self.learning_rate, epoch, factor=self.decay, every=self.decay_every)
            self.rates_.append(rate)
            self.loss_curve_.append(self._epoch(layers, adam, rate, part, generator))
            if held is None:
                continue
            loss = cross_entropy(layers.logits(held[0]), held[1], held[2])
            self.validation_curve_.append(loss)
            if loss < best - _LEAST_IMPROVEMENT:
                best, waited = loss, 0
                best_weights[...] = layers.flat
            else:
                waited += 1
                if waited >= self.patience:
                    break
        if held is not None:
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
