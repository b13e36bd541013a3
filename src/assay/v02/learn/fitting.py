"""Fit a recipe to some rows, and ask the model about others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from assay.errors import InputError, ScoreError
from assay.v02.inference.threshold_rules import best_operating
from assay.v02.learn.validation import Folds, GroupFolds, RowsToSplit
from assay.v02.sources.coded import NameColumn

if TYPE_CHECKING:
    import polars as pl

    from assay.v02.learn.data import Data
    from assay.v02.learn.recipe import Recipe, Task

Positions: TypeAlias = npt.NDArray[np.intp]
Floats: TypeAlias = npt.NDArray[np.float64]

USUAL = 0.5  # the threshold of a probability, where none was chosen
_INNER_FOLDS = 5
_SUM_TOLERANCE = 1e-6
# What may go wrong in code that is not ours.
FAULTS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model said of some rows.

    ``scores`` are the probabilities of the positive class, or of more than two classes those of
    each, a column a class. ``decisions`` are positions in the labels. ``threshold`` is the score
    from which on a row was flagged.
    """

    scores: Floats
    decisions: npt.NDArray[np.intp]
    threshold: float | None


@dataclass(frozen=True, eq=False)
class Fitting:
    """A recipe with its settings, and the table that it learns from.

    ``groups`` are those that inner folds keep together, as the outer ones do.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    task: Task
    data: Data
    max_far: float | None = None
    groups: NameColumn | None = None

    def model(self, positions: Positions) -> Any:
        """A fresh model, fitted to these rows alone."""
        model = self.recipe.pipeline(self.task, self.settings)
        frame, truth = self.data.frame[positions], self.data.truth[positions]
        try:
            with one_thread_a_sum():
                model.fit(frame, truth, **self._groups(model, positions))
        except InputError:
            raise
        except self._faults as error:
            raise InputError(
                f"{self.recipe.name} can't learn from these {len(truth):,} rows of "
                f"{self.data.name}: {type(error).__name__}: {error}"
            ) from error
        return in_order(model)

    @property
    def _faults(self) -> tuple[type[Exception], ...]:
        """What may go wrong without being a fault of ours."""
        return FAULTS if ":" in self.recipe.name else (ValueError,)

    def _groups(self, model: Any, positions: Positions) -> dict[str, Any]:
        """The groups of some rows, for a last step whose ``fit`` takes them."""
        if self.groups is None or not has_fit_parameter(_last_step(model), "groups"):
            return {}
        name = f"{model.steps[-1][0]}__groups" if hasattr(model, "steps") else "groups"
        return {name: self.groups.codes[positions]}

    def probabilities(self, model: Any, data: Data, positions: Positions) -> Floats:
        """The probability of each class, a column a label; 0 for one that was not learned."""
        return probabilities_of(
            model, data.frame[positions], len(self.data.labels), self.recipe.name, self._faults
        )

    def said(
        self, model: Any, data: Data, positions: Positions, threshold: float | None
    ) -> Answers:
        """Scores and decisions of some rows; more than two classes have no threshold."""
        table = self.probabilities(model, data, positions)
        if threshold is None:
            return Answers(table, table.argmax(axis=1), None)
        scores = np.ascontiguousarray(table[:, 1])
        return Answers(scores, (scores >= threshold).astype(np.intp), threshold)

    def threshold(
        self,
        model: Any,
        train: Positions,
        validation: Positions | None = None,
    ) -> tuple[float | None, str | None]:
        """Where a model flags rows, and what has to be said about that.

        The model's own ``threshold_`` where it chose one. With a tolerated false alarm rate it is
        chosen on the rows of the validation part, or where there is none on scores of the training
        part, each given by a model that did not learn from that row. Else 0.5.
        """
        if self.data.positive is None:
            return None, None
        chosen = getattr(_last_step(model), "threshold_", None)
        if chosen is not None:
            return float(chosen), _choice_note(_last_step(model))
        if self.max_far is None:
            return USUAL, None
        if validation is not None:
            scores = self.probabilities(model, self.data, validation)[:, 1]
            return self._keeping(self.max_far, scores, validation)
        return self._keeping(self.max_far, self._out_of_fold(train), train)

    def _keeping(
        self, max_far: float, scores: Floats | None, positions: Positions
    ) -> tuple[float, str | None]:
        """The best threshold that keeps the false alarm rate on these rows."""
        if scores is None:
            return USUAL, (
                f"the training part has too few rows or groups of a class to choose a threshold in "
                f"it for a false alarm rate of {max_far:g}, so {USUAL:g} was taken"
            )
        best = best_operating(scores, self.data.truth[positions] == 1, max_far)
        return (USUAL, _none_keeps(max_far)) if best is None else (best.threshold, None)

    def _out_of_fold(self, train: Positions) -> Floats | None:
        """Scores of the training rows, each by a model that did not learn from it."""
        truth = self.data.truth[train]
        k = int(min(_INNER_FOLDS, np.bincount(truth, minlength=2).min()))
        if k < 2:
            return None
        groups = None if self.groups is None else self.groups.codes[train]
        rows = RowsToSplit(truth, self.data.labels, groups)
        try:
            if groups is None:
                splits = Folds(k, seed=self.task.seed).splits(rows)
            else:
                k = min(k, len(np.unique(groups)))
                splits = GroupFolds(k, self.task.seed).splits(rows)
        except InputError:
            # One group alone, or a class in one group alone: nothing to divide.
            return None
        scores = np.empty(len(train))
        for split in splits:
            model = self.model(train[split.train])
            scores[split.test] = self.probabilities(model, self.data, train[split.test])[:, 1]
        return scores


@contextlib.contextmanager
def one_thread_a_sum() -> Iterator[None]:
    """Linear algebra on one thread: with more, the last digits depend on how many there are."""
    with threadpool_limits(1, user_api="blas"):
        yield


def in_order(model: Any) -> Any:
    """The model, predicting on one thread: a forest adds its trees up in the order they finish."""
    jobs = {
        name: 1
        for name, value in model.get_params().items()
        if name.rpartition("__")[2] == "n_jobs" and value not in (None, 1)
    }
    return model.set_params(**jobs) if jobs else model


def tolerated_by(model: Any) -> float | None:
    """The false alarm rate that a model chose its own threshold for."""
    last = _last_step(model)
    return getattr(last, "max_far", None) if hasattr(last, "threshold_") else None


def losses_of(model: Any) -> tuple[float, ...]:
    """The training loss of each epoch, of a network."""
    return tuple(float(loss) for loss in getattr(_last_step(model), "loss_curve_", ()))


def rates_of(model: Any) -> tuple[float, ...]:
    """The learning rate of each epoch, of a network."""
    return tuple(float(rate) for rate in getattr(_last_step(model), "rates_", ()))


def _choice_note(model: Any) -> str | None:
    """What has to be said of the threshold that a model chose by itself."""
    notes = []
    if not getattr(model, "feasible_", True):
        notes.append(_none_keeps(model.max_far))
    if not getattr(model, "divided_", True):
        notes.append(
            "the groups of the training part can't be divided again, so settings and threshold "
            "were chosen on rows dealt at random"
        )
    return "; ".join(notes) or None


def _none_keeps(max_far: float) -> str:
    return (
        f"no threshold keeps a false alarm rate of {max_far:g} on the rows that it was to be "
        f"chosen on, so {USUAL:g} was taken"
    )


def _last_step(model: Any) -> Any:
    """The last step of a pipeline, or the model itself."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else model


def probabilities_of(
    model: Any,
    frame: pl.DataFrame,
    labels: int,
    called: str,
    faults: tuple[type[Exception], ...] = FAULTS,
) -> Floats:
    """The probability of each label for each row, 0 for one that the model has not learned.

    ``called`` is what the model is called where it can't say anything, or nothing that makes sense.
    """
    try:
        # Rows may be beyond all that were learned; what comes of them is looked at below.
        with one_thread_a_sum(), np.errstate(all="ignore"):
            probabilities = np.asarray(model.predict_proba(frame), np.float64)
        classes = np.asarray(model.classes_).astype(np.intp)
        if probabilities.shape != (frame.height, len(classes)):
            raise ScoreError(
                f"{called} gave probabilities of shape {probabilities.shape} for "
                f"{frame.height:,} rows and {len(classes)} classes"
            )
        table = np.zeros((frame.height, labels))
        table[:, classes] = probabilities
    except InputError:
        raise
    except faults as error:
        raise InputError(
            f"{called} can't say anything of these rows ({type(error).__name__}: {error})"
        ) from error
    finite = np.isfinite(table).all()
    if not finite or table.min() < 0 or (np.abs(table.sum(axis=1) - 1) > _SUM_TOLERANCE).any():
        raise ScoreError(
            f"{called} gave probabilities that are no numbers in [0, 1] adding up to 1; its "
            f"predict_proba must give those"
        )
    return table
