"""The figures of an evaluation."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from assay.v02 import plots
from assay.v02.curves import Curve
from assay.errors import InputError, MethodError
from assay.v02.evaluation.deployment import NOT_LABELLED, alerts_only
from assay.v02.evaluation.entries import per_label
from assay.v02.inference import Estimate
from assay.v02.measures import (
    ALERT_RATE,
    AVERAGE_PRECISION,
    EQUAL_ERROR_RATE,
    EXPECTED_CALIBRATION_ERROR,
    FALSE_DISCOVERY_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    PRECISION,
    RECALL,
    ROC_AUC,
    find,
)
from assay.v02.measures.catalogue import (
    OVER_THRESHOLDS,
    OVER_TIME,
    SLICES,
    SLICES_OF_ALERTS,
    SLICES_OF_ATTACKS,
)
from assay.v02.plots.canvas import full_title

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation
    from assay.v02.evaluation.over_time import OverTime
    from assay.v02.plots.canvas import Axes

_SLUG = 40


@dataclass(frozen=True, repr=False)
class Plots(plots.Figures):
    """Figures of one evaluation; each is drawn on ``ax``, or on axes of its own, and returns them.

    A figure of its own is a column of a paper wide and is not known to pyplot: nothing has to be
    closed, and ``plt.show`` does not show it. In a notebook its axes do.
    """

    evaluation: Evaluation

    # -- curves ------------------------------------------------------------------------------------

    def roc(self, ax: Axes | None = None, *, band: float | None = None, name: str = "") -> Axes:
        """Detection rate against false positive rate, the operating point and its intervals.

        ``band`` is a level: a pointwise band is drawn. ``name`` tells models on the same axes
        apart.
        """
        self._must_know_all()
        return plots.roc(
            self.evaluation.curves.roc(band=band),
            point=self._point(FALSE_POSITIVE_RATE.name, RECALL.name),
            summary=self.evaluation[ROC_AUC],
            name=name,
            ax=ax,
        )

    def precision_recall(
        self, ax: Axes | None = None, *, band: float | None = None, name: str = ""
    ) -> Axes:
        """Precision against detection rate."""
        self._must_know_all()
        return plots.precision_recall(
            self.evaluation.curves.precision_recall(band=band),
            point=self._point(RECALL.name, PRECISION.name),
            summary=self.evaluation[AVERAGE_PRECISION],
            name=name,
            ax=ax,
        )

    pr = precision_recall

    def far_dr(self, ax: Axes | None = None, *, band: float | None = None, name: str = "") -> Axes:
        """Detection rate against false alarm rate."""
        self._must_know_all()
        return plots.far_dr(
            self.evaluation.curves.far_dr(band=band),
            point=self._point(FALSE_DISCOVERY_RATE.name, RECALL.name),
            name=name,
            ax=ax,
        )

    def det(self, ax: Axes | None = None, *, band: float | None = None, name: str = "") -> Axes:
        """Miss rate against false positive rate, on axes of normal deviates (probits)."""
        self._must_know_all()
        curve = self.evaluation.curves.det(band=band)
        return plots.det(
            curve,
            equal=float(self.evaluation[EQUAL_ERROR_RATE]),
            point=self._point(FALSE_POSITIVE_RATE.name, FALSE_NEGATIVE_RATE.name),
            name=name,
            ax=ax,
        )

    def decision(
        self,
        ax: Axes | None = None,
        *,
        base_rate: float | None = None,
        band: float | None = None,
        name: str = "",
    ) -> Axes:
        """Net benefit against the threshold probability; ``base_rate`` is that of deployment."""
        self._must_know_all()
        curve = self.evaluation.curves.decision(base_rate=base_rate, band=band)
        return plots.decision(
            curve,
            point=self._decided(curve),
            base_rate=base_rate,
            name=name,
            ax=ax,
        )

    decision_curve = decision

    def cost(self, ax: Axes | None = None, *, band: float | None = None, name: str = "") -> Axes:
        """Normalised expected cost against the probability cost, and the threshold in use."""
        self._must_know_all()
        return plots.cost(self.evaluation.curves.cost(band=band), name=name, ax=ax)

    def gain(self, ax: Axes | None = None, *, band: float | None = None, name: str = "") -> Axes:
        """Detection rate against the share of rows that raise an alert."""
        self._must_know_all()
        return plots.gain(
            self.evaluation.curves.gain(band=band),
            point=self._point(ALERT_RATE.name, RECALL.name),
            name=name,
            ax=ax,
        )

    def lift(self, ax: Axes | None = None, *, band: float | None = None, name: str = "") -> Axes:
        """Precision over prevalence against the share of rows that raise an alert."""
        self._must_know_all()
        return plots.lift(self.evaluation.curves.lift(band=band), name=name, ax=ax)

    def precision_recall_gain(
        self, ax: Axes | None = None, *, band: float | None = None, name: str = ""
    ) -> Axes:
        """Precision gain against recall gain: both on a scale from the prevalence to 1."""
        self._must_know_all()
        curve = self.evaluation.curves.precision_recall_gain(band=band)
        return plots.precision_recall_gain(curve, name=name, ax=ax)

    def hull(self, ax: Axes | None = None, *, name: str = "") -> Axes:
        """The ROC curve under its convex hull: the thresholds that are best for some costs."""
        self._must_know_all()
        curves = self.evaluation.curves
        return plots.hull(curves.roc(), curves.hull(), name=name, ax=ax)

    def measure(self, *names: str, ax: Axes | None = None, band: float | None = None) -> Axes:
        """One or more measures of decisions against the threshold."""
        self._must_know_all()
        if not names:
            raise InputError("say which measure, such as plot.measure('precision', 'recall')")
        evaluation, threshold = self.evaluation, self.evaluation.tally.threshold
        points = []
        if threshold is not None:
            points = [plots.MarkedPoint(threshold, evaluation[name], threshold) for name in names]
        drawn = [evaluation.curves.measure(name, band=band) for name in names]
        return plots.thresholds(drawn, points=points, ax=ax)

    def _decided(self, curve: Curve) -> plots.MarkedPoint | None:
        """The threshold in use on a curve against thresholds, with its end of the band."""
        at = self.evaluation.tally.threshold
        here = np.flatnonzero(curve["threshold"] == at)
        if at is None or not len(here):
            return None
        none = np.full(len(curve), math.nan)
        y, low, high = (
            float(curve.columns.get(name, none)[here[0]]) for name in (curve.y.name, "low", "high")
        )
        return plots.MarkedPoint(at, Estimate(y, low, high), at)

    def _point(self, x: str, y: str) -> plots.MarkedPoint:
        evaluation = self.evaluation
        return plots.MarkedPoint(evaluation[x], evaluation[y], evaluation.tally.threshold)

    # -- scores ------------------------------------------------------------------------------------

    def scores(self, ax: Axes | None = None) -> Axes:
        """How the scores of positives and negatives are distributed, and the threshold."""
        self._must_know_all()
        tally = self.evaluation.tally
        if tally.scores is None or tally.positive is None:
            raise MethodError("a distribution needs scores of one positive label; give y_score")
        return plots.scores(
            tally.scores[0],
            threshold=tally.threshold,
            probability=tally.kind == "probability",
            ax=ax,
        )

    def reliability(self, ax: Axes | None = None, *, name: str = "") -> Axes:
        """The observed share of positives against the probability that was said."""
        self._must_know_all()
        return plots.reliability(
            self.evaluation.curves.reliability(),
            summary=self.evaluation[EXPECTED_CALIBRATION_ERROR],
            name=name,
            ax=ax,
        )

    # -- decisions ---------------------------------------------------------------------------------

    def confusion(self, ax: Axes | None = None) -> Axes:
        """The confusion matrix, with counts and shares of the rows for up to 40 classes."""
        self._must_know_all()
        return plots.confusion(self.evaluation.confusion, ax=ax)

    def slices(self, column: str, measure: str | None = None, *, ax: Axes | None = None) -> Axes:
        """A measure of each value of a sliced column, worst first; periods in their order.

        The detection rate if nothing else is said, for more than two classes the accuracy.
        """
        evaluation = self.evaluation
        binary = evaluation.positive is not None
        measure = find(measure or SLICES.of(binary=binary)[0]).name
        return plots.dots(
            self._sliced(column, measure),
            find(measure),
            whole=evaluation[measure],
            ordered=column == evaluation.time,
            ax=ax,
        )

    def over_time(self, *names: str, ax: Axes | None = None) -> Axes:
        """Measures of each period, with intervals; the detection rate if nothing else is said.

        For more than two classes the accuracy.
        """
        course = self.evaluation.over_time
        if course is None:
            raise MethodError("a course over time needs times: give times=, when each row happened")
        binary = self.evaluation.positive is not None
        chosen = [course[name] for name in names or OVER_TIME.of(binary=binary)[:1]]
        titles = [full_title(t.measure) + (f", {t.average}" if t.average else "") for t in chosen]
        return plots.over_time(
            course.names,
            course.positions,
            [(title, trend.estimates) for title, trend in zip(titles, chosen, strict=True)],
            period=course.period,
            ax=ax,
        )

    def classes(self, measure: str = RECALL.name, *, ax: Axes | None = None) -> Axes:
        """A measure of each class against the rest, worst first."""
        chosen = find(measure)
        rows = per_label(self.evaluation, chosen)
        if not rows:
            raise InputError(f"{chosen.name} is of all classes at once, not of each")
        return plots.dots(list(rows.items()), chosen, ax=ax)

    def _sliced(self, column: str, measure: str) -> list[tuple[str, Estimate]]:
        keys = [key for key in self.evaluation.slices if key[0] == column]
        if not keys:
            columns = sorted({name for name, _ in self.evaluation.slices})
            raise InputError(f"there are no slices by {column!r}; there are {columns}")
        return [(key[1], self.evaluation.of_slice(*key)[measure]) for key in keys]

    def _must_know_all(self) -> None:
        if alerts_only(self.evaluation):
            raise MethodError(NOT_LABELLED)

    # -- files -------------------------------------------------------------------------------------

    def _figures(self) -> plots.NamedFigures:
        tally = self.evaluation.tally
        if not alerts_only(self.evaluation):
            if tally.scores is not None and tally.positive is not None:
                yield from self._figures_of_scores()
            if self.evaluation.decided:
                yield "confusion", self.confusion
            if tally.positive is None:
                yield "classes", self.classes
        course = self.evaluation.over_time
        if course is not None and len(course.names) > 1:
            yield from self._figures_over_time(course)
        used_names: set[str] = set()
        for column in dict.fromkeys(column for column, _ in tally.slices):
            file = _file_name(column, used_names)
            for measure in self._measures_of_slices(column):
                # A lone dot has nothing to be compared with.
                estimates = [e for _, e in self._sliced(column, measure) if not math.isnan(e)]
                if len(estimates) > 1:
                    yield f"slices-{file}-{measure}", partial(self.slices, column, measure)

    def _figures_over_time(self, course: OverTime) -> plots.NamedFigures:
        """The measures that reports show, in one figure; those of one scale that have a value."""
        keys = OVER_TIME.of(binary=self.evaluation.positive is not None)
        defined = [key for key in keys if any(map(math.isfinite, course[key].estimates))]
        if defined:
            yield "over_time", partial(self.over_time, *defined)

    def _figures_of_scores(self) -> plots.NamedFigures:
        negatives, positives = self.evaluation.tally.confusion.rows
        both = bool(negatives and positives)
        # Rows that carry weights or come in clusters have no band.
        tally = self.evaluation.tally
        independent = not tally.confusion.weighted and tally.clusters is None
        band = self.evaluation.level if independent else None
        if both:
            yield "roc", self.roc
            yield "det", self.det
        if positives:
            yield "precision_recall", self.precision_recall
            yield "far_dr", self.far_dr
        if both:
            yield "precision_recall_gain", self.precision_recall_gain
            yield "gain", self.gain
            yield "lift_curve", self.lift
            yield "hull", self.hull
            yield "cost", partial(self.cost, band=band)
            if tally.kind == "probability":
                yield "decision", partial(self.decision, band=band)
        if positives:
            yield "thresholds", partial(self.measure, *OVER_THRESHOLDS)
        yield "scores", self.scores
        if self.evaluation.has_reliability:
            yield "reliability", self.reliability

    def _measures_of_slices(self, column: str) -> tuple[str, ...]:
        if self.evaluation.positive is None:
            return SLICES.many
        if alerts_only(self.evaluation):
            return SLICES_OF_ALERTS
        return SLICES_OF_ATTACKS if column == self.evaluation.family else SLICES.two


def _file_name(column: str, used_names: set[str]) -> str:
    """A column's name as part of a file's: letters and digits that every system allows."""
    plain = re.sub(r"[^a-z0-9]+", "_", column[: 4 * _SLUG].lower()).strip("_")[:_SLUG] or "column"
    name, number = plain, 1
    while name in used_names:
        number += 1
        name = f"{plain}_{number}"
    used_names.add(name)
    return name
