"""The words by which a model of texts tells its classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import FeatureUnion, Pipeline

from assay.learn.calibration import Calibrated

Floats: TypeAlias = npt.NDArray[np.float64]

WORDS = "words__"
# What a forest tells by holds for all classes at once.
ALL = "(all)"


@dataclass(frozen=True)
class Word:
    """A word, or words, that speaks for a label, and how strongly."""

    label: str
    word: str
    weight: float


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
