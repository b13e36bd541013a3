"""Scores into probabilities: Platt's sigmoid, fitted on rows that the model did not learn from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from assay.errors import InputError
from assay.v02.learn.validation import GroupFolds, RowsToSplit

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.intp]

_STEPS = 100
_CLOSE = 1e-10
_SMALLEST = 1e-12


def inner_folds(
    truth: Codes, folds: int, seed: int, groups: Codes | None = None
) -> Iterator[tuple[Codes, Codes]]:
    """Stratified folds inside a training part; a class of one row stays in every training side.

    Each class is dealt out in turn, so that its rows differ by one between folds at most. Rows of
    one group stay together, unless the groups can't be divided with both classes in each training
    side.
    """
    if groups is not None:
        group_folds = _of_groups(truth, folds, seed, groups)
        if group_folds:
            yield from group_folds
            return
    generator = np.random.default_rng(seed)
    fold = np.full(len(truth), -1)
    start = 0
    for code in np.unique(truth):
        rows = generator.permutation(np.flatnonzero(truth == code))
        if len(rows) > 1:
            fold[rows] = (start + np.arange(len(rows))) % folds
            start += len(rows)
    for k in range(folds):
        if (fold == k).any():
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def may_be_divided(truth: Codes, folds: int, seed: int, groups: Codes) -> bool:
    """Whether inner folds keep these groups together."""
    return _of_groups(truth, folds, seed, groups) is not None


def _of_groups(
    truth: Codes, folds: int, seed: int, groups: Codes
) -> list[tuple[Codes, Codes]] | None:
    rows = RowsToSplit(truth, tuple(map(str, range(int(truth.max()) + 1))), groups)
    k = min(folds, len(np.unique(groups)))
    if k < 2:
        return None
    try:
        return [(split.train, split.test) for split in GroupFolds(k, seed).splits(rows)]
    except InputError:
        # A class is in one group alone.
        return None


def platt(scores: Floats, truth: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Slope a and intercept b of P(positive) = 1 / (1 + exp(-(a score + b))).

    Fitted by maximum likelihood with Platt's targets, (P + 1) / (P + 2) and 1 / (N + 2), which
    keep it finite where the classes do not overlap. The slope is never negative: what ranks rows
    must not turn them round.

    Reference: Platt 1999; Lin, Lin and Weng 2007 for the steps.
    """
    positives, negatives = int(truth.sum()), int((~truth).sum())
    target = np.where(truth, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    centre = float(scores.mean())
    spread = float(scores.std())
    if not spread:
        return 0.0, float(np.log((positives + 1) / (negatives + 1)))
    z = (scores - centre) / spread
    a, b = 0.0, float(np.log((positives + 1) / (negatives + 1)))
    loss = _loss(a * z + b, target)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(a * z + b)))
        error, weight = p - target, p * (1 - p)
        gradient = np.array([error @ z, error.sum()])
        curve = np.array([[weight @ (z * z), weight @ z], [weight @ z, weight.sum()]])
        step = np.linalg.solve(curve + _SMALLEST * np.eye(2), gradient)
        size = 1.0
        while size > _CLOSE:
            tried = _loss((a - size * step[0]) * z + b - size * step[1], target)
            if tried <= loss:
                break
            size /= 2
        a, b, before, loss = a - size * step[0], b - size * step[1], loss, tried
        if before - loss <= _CLOSE * len(z):
            break
    if a < 0:
        return 0.0, float(np.log((positives + 1) / (negatives + 1)))
    return float(a / spread), float(b - a * centre / spread)


def _loss(logit: Floats, target: Floats) -> float:
    return float((np.logaddexp(0, logit) - target * logit).sum())


def sigmoid(logit: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    probabilities: Floats = np.exp(-np.logaddexp(0, -logit))
    return probabilities


class Calibrated(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier without probabilities, given some.

    Its decision values for rows it did not learn from, by inner folds, fit one sigmoid a class; the
    model that is kept learns from all rows. With more than two classes the sigmoids of a row are
    divided by their sum.
    """

    def __init__(self, estimator: Any = None, *, folds: int = 5, random_state: int = 42) -> None:
        self.estimator = estimator
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Calibrated:
        """Fit the sigmoids, then the model; rows of one group are in one inner fold."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        check_classification_targets(y)
        self.classes_, truth = np.unique(y, return_inverse=True)
        width = len(self.classes_)
        if width < 2:
            raise ValueError("Calibrated needs rows of two classes at least; found 1 class")
        scores = np.full((len(truth), width), np.nan)
        for train, test in inner_folds(truth, self.folds, self.random_state, groups):
            model = clone(self.estimator).fit(X[train], truth[train])
            scores[np.ix_(test, model.classes_)] = _decisions(model, X[test])
        self.slopes_: Floats = np.zeros(width)
        self.intercepts_: Floats = np.zeros(width)
        for code in range(width):
            present = ~np.isnan(scores[:, code])
            line = platt(scores[present, code], truth[present] == code)
            self.slopes_[code], self.intercepts_[code] = line
        self.model_ = clone(self.estimator).fit(X, truth)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class."""
        check_is_fitted(self)
        scores = _decisions(self.model_, validate_data(self, X, accept_sparse="csr", reset=False))
        probabilities = sigmoid(self.slopes_ * scores + self.intercepts_)
        if len(self.classes_) == 2:
            probabilities[:, 0] = 1 - probabilities[:, 1]
            return probabilities
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class; the first one on a tie."""
        probabilities = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels


def _decisions(model: Any, X: Any) -> Floats:
    """A decision value for each class, whatever the model offers."""
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), np.float64)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), np.float64)
    decided = np.asarray(model.predict(X))
    scores = decided[:, None] == model.classes_[None, :]
    return np.asarray(scores, np.float64)
