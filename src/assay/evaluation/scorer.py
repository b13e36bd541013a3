"""Measures as scorers for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.curves import recall_at
from assay.engines.arrays import resolved_arrays
from assay.errors import InputError
from assay.evaluation.asking import response_of
from assay.evaluation.judge import Judge
from assay.evaluation.outputs import PREDICT
from assay.evaluation.responses import Response
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
from assay.sources.columns import labels_of
from assay.tally import Resolved

_LIMITS = {
    "recall_at_far": ("max_far", FALSE_DISCOVERY_RATE.name),
    "recall_at_fpr": ("max_fpr", FALSE_POSITIVE_RATE.name),
}


@dataclass(frozen=True)
class Scorer:
    """Called with a fitted estimator, rows and labels; gives a number of which more is better.

    ``weighted`` is what metadata routing was asked for: see :meth:`set_score_request`.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    positive: Any = None
    weighted: bool | str | None = None

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
        value = float(estimate_of(Judge(tally), measure, suffix))
        return -value if measure.better is Better.LOWER else value

    def _counted(self, estimator: Any, rows: Any, y: Any, sample_weight: Any) -> Resolved:
        measure = None if self.name in _LIMITS else parse(self.name)[0]
        truth = labels_of(y, "y")
        method = None
        if measure is not None and measure.of_scores is None and hasattr(estimator, PREDICT):
            method = PREDICT
        response = response_of(estimator, rows, truth, response_method=method, decide=False)
        columns, _ = response.columns(truth, positive=self.positive)
        ranked = measure is None or isinstance(measure.of_scores, Ranked)
        if method is None:
            _must_tell(response, columns, self.name, ranked=ranked)
            if measure is None or measure.of_scores is not None:
                # A ranking does not depend on where the alarm is set.
                columns = {**columns, "y_pred": None}
        return resolved_arrays(truth, **columns, sample_weight=sample_weight)[0]

    def get_metadata_routing(self) -> Any:
        """What scikit-learn may hand over when metadata are routed: nothing unless asked for."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weighted)
        return request

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> Scorer:
        """The same scorer, weighted by what is routed to it as ``sample_weight``."""
        return replace(self, weighted=sample_weight)


def _must_tell(
    response: Response, columns: Mapping[str, Any], measure: str, *, ranked: bool
) -> None:
    """Refuse an estimator that does not rank, or gives no probabilities where those are needed."""
    scored = "y_score" in columns or "y_proba" in columns
    if scored and (ranked or response.probabilities is not None):
        return
    raise InputError(
        f"{measure} needs {'scores' if ranked else 'probabilities'}, which {response.model} does "
        f"not give for these classes"
    )


def estimate_of(judge: Judge, measure: Measure, suffix: str | None) -> Estimate:
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


def scorer(name: str, *, positive: Any = None, pos_label: Any = None, **options: Any) -> Scorer:
    """A scorer for ``cross_validate``, ``GridSearchCV`` and whatever else takes ``scoring=``.

    ``name`` is a measure (``"f1.macro"``; those of which less is better are negated), or
    ``recall_at_far`` (with ``max_far``) or ``recall_at_fpr`` (with ``max_fpr``): the highest
    detection rate at which the false alarms stay within the limit. ``positive`` is the label that
    is the alarm, which scikit-learn calls ``pos_label``; either name does.

    >>> scorer("recall_at_far", max_far=0.1).options
    {'max_far': 0.1}
    """
    positive = one_positive(positive, pos_label)
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


def one_positive(positive: Any, pos_label: Any) -> Any:
    """The positive label by our name or by scikit-learn's; refuses two that differ."""
    if positive is not None and pos_label is not None and positive != pos_label:
        raise InputError(
            f"positive={positive!r} and pos_label={pos_label!r} are two names for one thing: give "
            f"one of them"
        )
    return pos_label if positive is None else positive
