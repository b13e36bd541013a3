"""Ensembles of trees: a forest that says the same for any number of threads, and boosted trees.

The settings and the threshold of the boosted ones are chosen for detection at a tolerated FAR.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from assay.errors import InputError, install_line
from assay.v02.inference.threshold_rules import best_operating
from assay.v02.learn.calibration import inner_folds, may_be_divided, platt, sigmoid
from assay.v02.tally.blocks import map_blocks, threads

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.intp]

_MOST_JOBS = 2
_ROWS = 1 << 13


class Forest(RandomForestClassifier):  # type: ignore[misc]
    """scikit-learn's forest; trees grow in threads, and are added up in one order.

    Its own way adds the trees in the order in which threads finish, so that the last digits of a
    probability change from run to run.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Forest:
        """Grow the trees."""
        asked: int | None = self.n_jobs
        self.n_jobs: int | None = min(threads(), _MOST_JOBS)
        try:
            super().fit(X, y, sample_weight)
        finally:
            self.n_jobs = asked
        return self

    def predict_proba(self, X: Any) -> Floats:
        """The mean of what the trees say, in blocks of rows."""
        several = getattr(self, "n_outputs_", 1) > 1
        if several or not hasattr(X, "shape") or X.shape[0] <= _ROWS:
            probabilities: Floats = super().predict_proba(X)
            return probabilities

        def worker() -> Any:
            return lambda i, j: super(Forest, self).predict_proba(X[i:j])

        return np.concatenate(map_blocks(X.shape[0], worker, _ROWS))


# -- boosted trees at a tolerated false alarm rate -------------------------------------------------

# From cautious to eager. A tree that sees a share of the columns only makes the model rely on many.
CANDIDATES: tuple[Mapping[str, Any], ...] = (
    {"learning_rate": 0.1, "leaves": 31, "min_leaf": 20, "l2": 1.0, "columns": 0.2},
    {"learning_rate": 0.1, "leaves": 31, "min_leaf": 20, "l2": 0.0, "columns": 0.5},
    {"learning_rate": 0.1, "leaves": 63, "min_leaf": 10, "l2": 0.0, "columns": 1.0},
)
_FLOOR = 1e-12


class Detector(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Boosted trees, tuned inside the rows it is fitted on.

    For two classes, inner folds give each of the candidates a score for every row that it did not
    learn from. Taken is the most cautious candidate whose detection rate at ``max_far`` is within
    one standard error of the highest; its scores fit a sigmoid, and ``threshold_`` is the
    probability from which on a row is flagged, chosen on the same scores, or 0.5 where none keeps
    ``max_far`` (``feasible_`` is false then). The model that is kept learns from all rows. More
    than two classes have no threshold; the candidate with the lowest log loss is taken.
    """

    def __init__(
        self,
        *,
        kind: str = "hist",
        trees: int = 100,
        max_far: float = 0.1,
        folds: int = 3,
        search_rows: int = 30_000,
        balanced: bool = False,
        random_state: int = 42,
    ) -> None:
        self.kind = kind
        self.trees = trees
        self.max_far = max_far
        self.folds = folds
        self.search_rows = search_rows
        self.balanced = balanced
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Detector:
        """Choose the settings, the sigmoid and the threshold, then learn from all rows.

        Rows of one group are in one inner fold, unless groups can't be divided (``divided_`` is
        false then).
        """
        # Trees read what is missing or infinite as it is.
        rows, labels = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False)
        check_classification_targets(labels)
        self.classes_, truth = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("Detector needs rows of two classes at least; found 1 class")
        together = None if groups is None else np.asarray(groups)
        self.divided_ = together is None or may_be_divided(
            truth, self.folds, self.random_state, together
        )
        probabilities = self._search(rows, truth, together)
        self.slope_, self.intercept_ = 1.0, 0.0
        self.threshold_, self.detection_rate_, self.far_ = 0.5, math.nan, math.nan
        self.feasible_ = True
        if len(self.classes_) == 2:
            self._calibrate(probabilities, truth)
        self.model_ = self._fitted(self.chosen_, rows, truth)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _search(self, rows: Floats, truth: Codes, groups: Codes | None) -> Floats:
        """Choose a candidate, on a part of the rows where there are very many.

        Gives what it says of every row, out of fold.
        """
        generator = np.random.default_rng(self.random_state)
        part = np.arange(len(truth))
        if len(part) > self.search_rows:
            part = _stratified(truth, self.search_rows / len(truth), generator)
        part_groups = None if groups is None else groups[part]
        tried = [
            self._out_of_fold(i, rows[part], truth[part], part_groups)
            for i in range(len(CANDIDATES))
        ]
        if np.isnan(tried[0]).any(axis=1).all():
            fewest = np.bincount(truth[part]).min()
            raise InputError(
                f"a detector is chosen by rows that it did not learn from, and a class of {fewest} "
                f"leaves none: take more rows of it, or another recipe"
            )
        self.tried_: list[float] = [
            self._worth(probabilities, truth[part]) for probabilities in tried
        ]
        best, room = max(self.tried_), 0.0
        if len(self.classes_) == 2:
            room = math.sqrt(best * (1 - best) / np.count_nonzero(truth[part] == 1))
        self.chosen_ = int(np.argmax(np.array(self.tried_) >= best - room))
        if len(part) == len(truth):
            return tried[self.chosen_]
        return self._out_of_fold(self.chosen_, rows, truth, groups)

    def _worth(self, probabilities: Floats, truth: Codes) -> float:
        judged = ~np.isnan(probabilities).any(axis=1)
        if len(self.classes_) > 2:
            chance = np.clip(probabilities[judged, truth[judged]], _FLOOR, None)
            return float(np.log(chance).mean())
        best = best_operating(probabilities[judged, 1], truth[judged] == 1, self.max_far)
        return 0.0 if best is None else best.detection_rate

    def _calibrate(self, probabilities: Floats, truth: Codes) -> None:
        judged = ~np.isnan(probabilities).any(axis=1)
        positive = truth[judged] == 1
        logits = _logit(probabilities[judged, 1])
        self.slope_, self.intercept_ = platt(logits, positive)
        if not self.slope_:
            self.slope_, self.intercept_ = 1.0, 0.0
        chances = sigmoid(self.slope_ * logits + self.intercept_)
        best = best_operating(chances, positive, self.max_far)
        self.feasible_ = best is not None
        if best is not None:
            self.threshold_ = best.threshold
            self.detection_rate_, self.far_ = best.detection_rate, best.far

    def _out_of_fold(
        self, candidate: int, rows: Floats, truth: Codes, groups: Codes | None
    ) -> Floats:
        """Probabilities of each class for rows that were not learned from, nan where all were."""
        probabilities = np.full((len(truth), len(self.classes_)), np.nan)

        def judge(fold: tuple[Codes, Codes]) -> None:
            train, test = fold
            model = self._fitted(candidate, rows[train], truth[train])
            probabilities[test] = 0.0
            probabilities[np.ix_(test, model.classes_)] = _probabilities(model, rows[test])

        folds = list(inner_folds(truth, self.folds, self.random_state, groups))
        with ThreadPoolExecutor(min(threads(), _MOST_JOBS)) as pool:
            list(pool.map(judge, folds))
        return probabilities

    def _fitted(self, candidate: int, rows: Floats, truth: Codes) -> Any:
        # A column without any number can't be cut into bins.
        empty = np.isnan(rows).all(axis=0)
        if empty.any():
            rows = np.where(empty, 0.0, rows)
        with _one_thread():
            return self._candidate(candidate).fit(rows, truth)

    def _candidate(self, number: int) -> Any:
        given = dict(CANDIDATES[number])
        weight = "balanced" if self.balanced else None
        if self.kind == "lightgbm":
            return _lightgbm(given, self.trees, weight, self.random_state)
        return HistGradientBoostingClassifier(
            learning_rate=given["learning_rate"],
            max_leaf_nodes=given["leaves"],
            min_samples_leaf=given["min_leaf"],
            l2_regularization=given["l2"],
            max_features=given["columns"],
            max_iter=self.trees,
            early_stopping=False,
            class_weight=weight,
            random_state=self.random_state,
        )

    def predict_proba(self, X: Any) -> Floats:
        """The calibrated probability of each class."""
        check_is_fitted(self)
        options = {"dtype": np.float64, "ensure_all_finite": False}
        probabilities = _probabilities(self.model_, validate_data(self, X, reset=False, **options))
        if len(self.classes_) > 2:
            return probabilities
        chance = sigmoid(self.slope_ * _logit(probabilities[:, 1]) + self.intercept_)
        return np.column_stack([1 - chance, chance])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The positive class from the threshold on; the likeliest of more than two."""
        probabilities = self.predict_proba(X)
        if len(self.classes_) > 2:
            labels: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
            return labels
        decided: npt.NDArray[Any] = self.classes_[
            (probabilities[:, 1] >= self.threshold_).astype(np.intp)
        ]
        return decided


def _probabilities(model: Any, rows: Floats) -> Floats:
    with _one_thread():
        return np.asarray(model.predict_proba(rows), np.float64)


def _logit(chance: Floats) -> Floats:
    inside = np.clip(chance, _FLOOR, 1 - _FLOOR)
    logits: Floats = np.log(inside) - np.log1p(-inside)
    return logits


def _stratified(truth: Codes, share: float, generator: np.random.Generator) -> Codes:
    """A share of the rows of each class, two at least where there are two."""
    kept = []
    for code in np.unique(truth):
        rows = generator.permutation(np.flatnonzero(truth == code))
        kept.append(rows[: max(round(len(rows) * share), 2)])
    return np.sort(np.concatenate(kept))


@contextmanager
def _one_thread() -> Iterator[None]:
    """OpenMP on one thread: more add up in another order, and fight for cores that are busy.

    That holds for the thread of the caller alone, so that each inner fold may have one.
    """
    with threadpool_limits(1, user_api="openmp"):
        yield


def _lightgbm(given: Mapping[str, Any], trees: int, weight: str | None, seed: int) -> Any:
    try:
        from lightgbm import LGBMClassifier
    except (ImportError, OSError) as absent:  # its library may lack one of the system's
        raise InputError(
            f"model=lightgbm needs LightGBM: {install_line('boost')}, or leave model=hist"
        ) from absent
    return LGBMClassifier(
        n_estimators=trees,
        learning_rate=given["learning_rate"],
        num_leaves=given["leaves"],
        min_child_samples=given["min_leaf"],
        reg_lambda=given["l2"],
        colsample_bytree=given["columns"],
        class_weight=weight,
        random_state=seed,
        deterministic=True,
        force_row_wise=True,
        n_jobs=1,
        verbose=-1,
    )
