"""Figures of models in scikit-learn's convention: from an estimator, or from predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from assay.errors import InputError
from assay.evaluation.evaluate import evaluate
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.of_model import evaluate_model
from assay.evaluation.plotting import Plots
from assay.evaluation.scorer import one_positive

if TYPE_CHECKING:
    from assay.plots.canvas import Axes


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
        known = inspect.signature(self.drawn_by).parameters
        taken = [option for option in known if option not in ("self", "ax")]
        odd = [given for given in options if given not in taken]
        if odd:
            others = ", ".join(option for option in taken if option != "name") or "no options"
            raise InputError(f"{type(self).__name__} has no option {odd[0]}; it takes {others}")
        self.name = self.name if name is None else name
        if "name" in taken:
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
