"""What a model relies on: columns, by its trees (MDI) and by what shuffling costs; or words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import FeatureUnion, Pipeline

from assay.inference.estimate import Estimate
from assay.inference.quantiles import student
from assay.learn.calibration import Calibrated
from assay.learn.encoding import ChiSquare, Columns, frame_of
from assay.learn.explained import ColumnImportance, Importance, Word
from assay.learn.rules import criterion_of
from assay.measures import ACCURACY, ROC_AUC, find, rank
from assay.tally import ScoreTally

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]

MISLEADS = (
    "MDI is measured on the training rows and favours columns with many distinct values: believe "
    "it only where shuffling the column costs as much."
)
INTERVAL = (
    "Its interval covers the chance of the shuffles on these rows, and not the choice of the rows."
)


WORDS = "words__"
# What a forest tells by holds for all classes at once.
ALL = "(all)"


def impurity_importance(pipeline: Pipeline) -> dict[str, float] | None:
    """The mean decrease of impurity (MDI) by column, which sum to 1; None for models without trees.

    The impurity is Gini's, or the entropy where trees split by that. For each column the weighted
    decreases of all its splits are added up, averaged over the trees and divided by their sum.
    Columns that were encoded as several are added up. All are 0 where no tree has a split.

    Reference: Breiman 2001; document 000, section 14.
    """
    found = getattr(pipeline[-1], "feature_importances_", None)
    if found is None or not isinstance(pipeline[0], Columns):
        return None
    sources = _sources(pipeline)
    if len(sources) != len(found):
        return None
    total: dict[str, float] = dict.fromkeys(pipeline[0].names_, 0.0)
    for source, decrease in zip(sources, found, strict=True):
        total[source] += float(decrease)
    everything = math.fsum(total.values())
    return {name: part / everything if everything else 0.0 for name, part in total.items()}


def _sources(pipeline: Pipeline) -> list[str]:
    """The column that each input of the model comes from."""
    sources: list[str] = pipeline[0].sources_out()
    for step in pipeline[1:-1]:
        if isinstance(step, ChiSquare):
            sources = [sources[i] for i in step.chosen_]
    return sources


def importance_of(
    pipeline: Pipeline,
    frame: Any,
    truth: npt.NDArray[np.integer[Any]],
    labels: Sequence[str],
    *,
    repeats: int = 5,
    most_rows: int = 2000,
    level: float = 0.95,
    seed: int = 42,
) -> Importance:
    """What a fitted pipeline relies on, judged on rows that it did not learn from.

    Each column is shuffled ``repeats`` times among at most ``most_rows`` rows, drawn by ``seed``.
    """
    if not isinstance(pipeline[0], Columns):
        return Importance(
            measure="",
            baseline=math.nan,
            words=telling_words(pipeline, labels),
            notes=("The weight of a word is how much it speaks for its class in the model.",),
        )
    rows = frame_of(frame)
    generator = np.random.default_rng(seed)
    part = np.arange(rows.height)
    if rows.height > most_rows:
        part = np.sort(generator.choice(rows.height, most_rows, replace=False))
    rows, truth = rows[part], np.asarray(truth)[part]
    mdi = impurity_importance(pipeline)
    judge = _Judge(pipeline, rows, truth, generator)
    found = [
        ColumnImportance(
            name,
            math.nan if mdi is None else mdi[name],
            judge.cost(name, repeats, level),
            rows[name].n_unique(),
        )
        for name in pipeline[0].names_
    ]
    found.sort(key=lambda row: (-_sortable(row.permutation), -_sortable(row.mdi), row.column))
    notes = (MISLEADS, INTERVAL) if mdi is not None else (INTERVAL,)
    return Importance(
        measure=judge.measure,
        baseline=judge.baseline,
        rows=tuple(found),
        judged=len(part),
        repeats=repeats,
        notes=notes,
        disagreement=None if mdi is None else _disagreement(found, judge.measure),
        criterion=None if mdi is None else criterion_of(pipeline[-1]),
    )


def _sortable(value: float) -> float:
    return -math.inf if math.isnan(value) else float(value)


class _Judge:
    """What shuffling columns costs, on some rows."""

    def __init__(
        self, pipeline: Pipeline, rows: pl.DataFrame, truth: Any, generator: np.random.Generator
    ) -> None:
        self._rest = pipeline[1:]
        self._classes = pipeline.classes_
        self._matrix: Floats = pipeline[0].transform(rows)
        self._sources = pipeline[0].sources_out()
        self._truth = truth
        self._used = set(_sources(pipeline))
        self._generator = generator
        both = len(np.unique(truth)) == 2
        self.measure = (ROC_AUC if len(self._classes) == 2 and both else ACCURACY).name
        self.baseline = float(self._measured(self._matrix, 1)[0])

    def cost(self, column: str, repeats: int, level: float) -> Estimate:
        """The mean fall of the measure over some shuffles, with the t interval of that mean."""
        n = len(self._matrix)
        if column not in self._used:
            return Estimate(0.0, 0.0, 0.0, method="exact", n=n, level=level, note="not used")
        at = np.flatnonzero([source == column for source in self._sources])
        # All shuffles in one matrix: a call of the model costs more than its rows.
        many = np.tile(self._matrix, (repeats, 1))
        for k in range(repeats):
            order = self._generator.permutation(n)
            many[k * n : (k + 1) * n, at] = self._matrix[np.ix_(order, at)]
        falls = self.baseline - self._measured(many, repeats)
        mean = float(falls.mean())
        if repeats < 2:
            return Estimate(mean, method="student", n=n, level=level, note="one shuffle only")
        reach = student(level, repeats - 1) * float(falls.std(ddof=1)) / math.sqrt(repeats)
        return Estimate(mean, mean - reach, mean + reach, method="student", n=n, level=level)

    def _measured(self, matrix: Floats, repeats: int) -> Floats:
        said = np.asarray(self._rest.predict_proba(matrix))
        if self.measure == ROC_AUC.name:
            scores = said[:, 1].reshape(repeats, -1)
            return np.array([_auc(each, self._truth) for each in scores])
        right = self._classes[said.argmax(axis=1)].reshape(repeats, -1) == self._truth
        return np.asarray(right.mean(axis=1), np.float64)


def _auc(scores: Floats, truth: Any) -> float:
    tally = ScoreTally.of_rows(("negative", "positive"), scores, truth.astype(np.uint8))
    return rank(tally).auc.value


def _disagreement(rows: Sequence[ColumnImportance], measure: str) -> str | None:
    """A sentence where the column that MDI puts first costs nothing when it is shuffled."""
    if not rows:
        return None
    first = max(rows, key=lambda row: row.mdi)
    cost, most = first.permutation, max(row.permutation.value for row in rows)
    if first.mdi <= 0 or cost.low > 0 or (most <= 0 and cost.high > 0):
        return None
    return (
        f"MDI and shuffling disagree: column {first.column!r} is first by MDI ({first.mdi:.3f}), "
        f"but shuffling it does not lower the {find(measure).short} ({cost.text(4)}). It has "
        f"{first.distinct:,} distinct values among the rows judged"
        f"{', and MDI favours such columns' if first.distinct > 100 else ''}; another column may "
        f"also tell the same"
    )


# -- words -----------------------------------------------------------------------------------------


def telling_words(pipeline: Pipeline, labels: Sequence[str], most: int = 10) -> tuple[Word, ...]:
    """For each label the words with the largest weights, the strongest first.

    A linear model's weights; for naive Bayes how much likelier a word is in the class than in the
    mean of the others, as a logarithm; for a forest the MDI, for all classes at once. Where no
    words are terms, runs of characters stand for them.
    """
    terms = pipeline[-2]
    if not isinstance(terms, FeatureUnion):
        return ()
    names = terms.get_feature_names_out()
    words = np.array([str(name).startswith(WORDS) for name in names])
    if not words.any():
        words[:] = True
    weights = _weights(pipeline[-1])
    if weights is None:
        return ()
    at = np.flatnonzero(words)
    shown = [str(names[i]).partition("__")[2] for i in at]
    classes = [ALL] if len(weights) == 1 else [labels[int(c)] for c in pipeline.classes_]
    found = []
    for label, row in zip(classes, weights[:, at], strict=True):
        order = np.lexsort((np.arange(len(at)), -row))[:most]
        found += [Word(label, shown[i], float(row[i])) for i in order if row[i] > 0]
    return tuple(found)


def _weights(model: Any) -> Floats | None:
    """A row of weights a class, one row for all where the model has no more; else None."""
    if isinstance(model, Calibrated):
        model = model.model_
    if hasattr(model, "coef_"):
        weights = np.asarray(model.coef_, np.float64)
        return np.vstack([-weights, weights]) if len(weights) == 1 else weights
    if hasattr(model, "feature_log_prob_"):
        chances = np.asarray(model.feature_log_prob_, np.float64)
        others = (chances.sum(axis=0) - chances) / (len(chances) - 1)
        return np.asarray(chances - others)
    if hasattr(model, "feature_importances_"):
        return np.asarray(model.feature_importances_, np.float64)[None, :]
    return None
