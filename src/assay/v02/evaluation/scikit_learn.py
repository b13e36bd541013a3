"""Scikit-learn's conventions: measures as scorers for model selection, and figures of models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from assay.v02.curves import recall_at
from assay.v02.engines.arrays import resolved_arrays
from assay.errors import InputError
from assay.v02.evaluation.evaluate import evaluate
from assay.v02.evaluation.evaluate_model import evaluate_model
from assay.v02.evaluation.evaluation import Evaluation
from assay.v02.evaluation.judge import Judge
from assay.v02.evaluation.outputs import PREDICT
from assay.v02.evaluation.plotting import Plots
from assay.v02.evaluation.responses import Response, response_of
from assay.v02.inference import Estimate
from assay.v02.measures import (
    AVERAGES,
    FALSE_DISCOVERY_RATE,
    FALSE_POSITIVE_RATE,
    Better,
    Measure,
    Ranked,
    parse,
)
from assay.v02.measures.catalogue import must_be_a_name
from assay.v02.sources.columns import labels_of
from assay.v02.tally import Resolved

if TYPE_CHECKING:
    from assay.v02.plots.canvas import Axes

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
    must_be_a_name(name)
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


# -- figures from an estimator, or from predictions ------------------------------------------------


class Display:
    """A figure of one model, with ``ax_``, ``figure_`` and the ``evaluation`` that it shows.

    Draw another model on the same axes by giving them: ``ax=display.ax_``. ``name`` is what the
    legend calls a model. Further options are those of the figure in :class:`evaluation.plot
    <assay.evaluation.plotting.Plots>`, such as ``band=0.95``.
    """

    drawn_by: ClassVar[Callable[..., Axes]]

    def __init__(self, evaluation: Evaluation, *, name: str = "") -> None:
        self.evaluation = evaluation
        self.name = name
        self.ax_: Axes | None = None
        self.figure_: Any = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        positive: Any = None,
        pos_label: Any = None,
        response_method: str | None = None,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw what a fitted model says of rows that it did not learn from.

        Models are asked as :func:`assay.evaluate_model` asks them. ``pos_label`` is scikit-learn's
        word for ``positive``.
        """
        evaluation = evaluate_model(
            estimator,
            X,
            y,
            positive=one_positive(positive, pos_label),
            response_method=response_method,
            sample_weight=sample_weight,
        )
        called = str(evaluation.source["name"]) if name is None else name
        return cls(evaluation, name=called).plot(ax, **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        positive: Any = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str = "",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw scores, probabilities or decisions, which :func:`assay.evaluate` tells apart."""
        evaluation = evaluate(
            y_true,
            predictions,
            positive=one_positive(positive, pos_label),
            sample_weight=sample_weight,
        )
        return cls(evaluation, name=name).plot(ax, **options)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **options: Any) -> Self:
        """Draw on axes, or on new ones, which are then ``ax_``; gives the display itself."""
        parameters = inspect.signature(self.drawn_by).parameters
        allowed = [option for option in parameters if option not in ("self", "ax")]
        unknown = [given for given in options if given not in allowed]
        if unknown:
            others = ", ".join(option for option in allowed if option != "name") or "no options"
            raise InputError(f"{type(self).__name__} has no option {unknown[0]}; it takes {others}")
        self.name = self.name if name is None else name
        if "name" in allowed:
            options["name"] = self.name
        self.ax_ = self.drawn_by(Plots(self.evaluation), ax=ax, **options)
        self.figure_ = self.ax_.figure
        return self

    def _repr_png_(self) -> bytes | None:
        """The figure in a notebook; none where it is drawn on axes of the notebook's own."""
        shown = getattr(self.figure_, "_repr_png_", None)
        return None if shown is None else shown()


class RocDisplay(Display):
    """Detection rate against false positive rate.

    >>> display = RocDisplay.from_predictions([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3], name="rule")
    >>> display.evaluation["roc_auc"].value, display.name
    (1.0, 'rule')
    """

    drawn_by = staticmethod(Plots.roc)


class PrecisionRecallDisplay(Display):
    """Precision against detection rate."""

    drawn_by = staticmethod(Plots.precision_recall)


class FarDrDisplay(Display):
    """Detection rate against false alarm rate."""

    drawn_by = staticmethod(Plots.far_dr)


class DetDisplay(Display):
    """Miss rate against false positive rate, on axes of normal deviates."""

    drawn_by = staticmethod(Plots.det)


class CalibrationDisplay(Display):
    """The observed share of positives against the probability that was said."""

    drawn_by = staticmethod(Plots.reliability)


class DecisionCurveDisplay(Display):
    """Net benefit against the threshold probability."""

    drawn_by = staticmethod(Plots.decision)


class CostCurveDisplay(Display):
    """Expected cost against the probability cost."""

    drawn_by = staticmethod(Plots.cost)


class GainDisplay(Display):
    """Detection rate against the share of rows that raise an alert."""

    drawn_by = staticmethod(Plots.gain)


class LiftDisplay(Display):
    """Precision over prevalence against the share of rows that raise an alert."""

    drawn_by = staticmethod(Plots.lift)


class ConfusionMatrixDisplay(Display):
    """The confusion matrix, with counts and shares of the rows."""

    drawn_by = staticmethod(Plots.confusion)
