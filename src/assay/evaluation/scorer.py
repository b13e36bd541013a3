"""Measures as scorers for scikit-learn's model selection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.curves import recall_at
from assay.engines.arrays import resolved_arrays
from assay.errors import InputError
from assay.evaluation.judge import Judge
from assay.inference import Estimate
from assay.measures import (
    AVERAGES,
    FALSE_DISCOVERY_RATE,
    FALSE_POSITIVE_RATE,
    Better,
    Measure,
    Ranked,
    parse,
)
from assay.sources import label_text
from assay.tally import Resolved

_LIMITS = {
    "recall_at_far": ("max_far", FALSE_DISCOVERY_RATE.name),
    "recall_at_fpr": ("max_fpr", FALSE_POSITIVE_RATE.name),
}


@dataclass(frozen=True)
class Scorer:
    """Called with a fitted estimator, rows and labels; gives a number of which more is better."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    positive: Any = None

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
    ) -> float:
        """The score of an estimator on rows."""
        tally = self._counted(estimator, X, y, sample_weight)
        if self.name in _LIMITS:
            option, limit = _LIMITS[self.name]
            if tally.scores is None or tally.positive is None:
                raise InputError(f"{self.name} needs scores of one positive label")
            return recall_at(tally.scores[0], {limit: self.options[option]})[0]
        measure, suffix = parse(self.name)
        value = float(_estimate(Judge(tally), measure, suffix))
        return -value if measure.better is Better.LOWER else value

    def _counted(self, estimator: Any, rows: Any, y: Any, sample_weight: Any) -> Resolved:
        classes = list(getattr(estimator, "classes_", np.unique(np.asarray(y))))
        common: dict[str, Any] = {"labels": classes, "sample_weight": sample_weight}
        if len(classes) == 2 or self.positive is not None:
            common["positive"] = self.positive
        if self.name not in _LIMITS and parse(self.name)[0].of_scores is None:
            return resolved_arrays(y, y_pred=estimator.predict(rows), **common)[0]
        if hasattr(estimator, "predict_proba"):
            table = np.asarray(estimator.predict_proba(rows), np.float64)
            named = {label: table[:, i] for i, label in enumerate(classes)}
            return resolved_arrays(y, y_proba=named, **common)[0]
        ranked = self.name in _LIMITS or isinstance(parse(self.name)[0].of_scores, Ranked)
        if hasattr(estimator, "decision_function") and len(classes) == 2 and ranked:
            score = np.asarray(estimator.decision_function(rows), np.float64)
            tally = resolved_arrays(y, y_score=score, threshold=0.0, **common)[0]
            if tally.positive is not None and label_text(classes[1]) != tally.positive:
                tally = resolved_arrays(y, y_score=-score, threshold=0.0, **common)[0]
            return tally
        raise InputError(
            f"{self.name} needs {'scores' if ranked else 'probabilities'}, which "
            f"{type(estimator).__name__} does not give for these classes"
        )


def _estimate(judge: Judge, measure: Measure, suffix: str | None) -> Estimate:
    """One estimate by the name of its measure and its suffix."""
    labels = judge.tally.labels
    if suffix in AVERAGES:
        counted = measure.of_scores is None
        return (judge.averaged if counted else judge.averaged_scores)(measure, suffix)
    if suffix is not None and suffix not in labels:
        raise InputError(f"{suffix!r} is no average and none of the labels {list(labels)}")
    if measure.of_scores is not None:
        return judge.scored(measure, None if judge.binary or not suffix else labels.index(suffix))
    if suffix is not None:
        return judge.of_label(measure, labels.index(suffix))
    return judge.of_label(measure, 1) if judge.binary else judge.of_classes(measure)


def scorer(name: str, *, positive: Any = None, **options: Any) -> Scorer:
    """A scorer for ``cross_val_score`` and ``GridSearchCV``.

    ``name`` is a measure (``"f1.macro"``; those of which less is better are negated), or
    ``recall_at_far`` (with ``max_far``) or ``recall_at_fpr`` (with ``max_fpr``): the highest
    detection rate at which the false alarms stay within the limit.

    >>> scorer("recall_at_far", max_far=0.1).options
    {'max_far': 0.1}
    """
    wanted = {_LIMITS[name][0]} if name in _LIMITS else set()
    if set(options) != wanted:
        raise InputError(
            f"scorer {name!r} takes {', '.join(wanted) or 'no options'}; found "
            f"{', '.join(options) or 'none'}"
        )
    for option, limit in options.items():
        if not isinstance(limit, int | float) or not 0 <= limit <= 1:
            raise InputError(f"{option} is a share between 0 and 1; found {limit!r}")
    if name not in _LIMITS:
        parse(name)
    return Scorer(name, dict(options), positive)
