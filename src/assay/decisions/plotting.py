"""The figures of a comparison, a choice of threshold, a gate and an audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from assay import curves, plots
from assay.decisions.audit.printed import as_float, printed
from assay.decisions.audit.result import WRONG
from assay.decisions.compare.comparison import key, known
from assay.errors import MethodError
from assay.inference import Estimate
from assay.measures import (
    FALSE_DISCOVERY_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    Better,
    parse,
)
from assay.measures.shown import DIFFERENCES
from assay.plots.intervals import Claimed, claimed
from assay.plots.names import title

if TYPE_CHECKING:
    from assay.decisions.audit.result import Audit
    from assay.decisions.compare.comparison import Comparison
    from assay.decisions.gate.result import Gate
    from assay.decisions.threshold.result import Choice, Point
    from assay.evaluation.plotting import Plots
    from assay.plots.canvas import Axes


_LESS = "↓"
# So many pairs fit into one figure with all main measures.
_PAIRS = 3


@dataclass(frozen=True, repr=False)
class ComparisonPlots(plots.Figures):
    """Figures of one comparison; each is drawn on ``ax``, or on axes of its own.

    Curves are of all models on the same axes, with one entry of the legend each, and a mark where
    each of them flags.
    """

    comparison: Comparison

    def roc(self, ax: Axes | None = None, *, band: float | None = None) -> Axes:
        """Detection rate against false positive rate; ``band`` is the level of pointwise bands."""
        return self._overlaid(lambda one, on, name: one.roc(on, band=band, name=name), ax)

    def precision_recall(self, ax: Axes | None = None, *, band: float | None = None) -> Axes:
        """Precision against detection rate."""
        return self._overlaid(
            lambda one, on, name: one.precision_recall(on, band=band, name=name), ax
        )

    pr = precision_recall

    def far_dr(self, ax: Axes | None = None, *, band: float | None = None) -> Axes:
        """Detection rate against false alarm rate."""
        return self._overlaid(lambda one, on, name: one.far_dr(on, band=band, name=name), ax)

    def det(self, ax: Axes | None = None, *, band: float | None = None) -> Axes:
        """Miss rate against false positive rate, on axes of normal deviates (probits).

        A diamond is where both errors of a model are equally frequent.
        """
        return self._overlaid(lambda one, on, name: one.det(on, band=band, name=name), ax)

    def gain(self, ax: Axes | None = None, *, band: float | None = None) -> Axes:
        """Detection rate against the share of rows that raise an alert."""
        return self._overlaid(lambda one, on, name: one.gain(on, band=band, name=name), ax)

    def reliability(self, ax: Axes | None = None) -> Axes:
        """The observed share of positives against the probability that was said."""
        return self._overlaid(lambda one, on, name: one.reliability(on, name=name), ax)

    def decision(self, ax: Axes | None = None, *, base_rate: float | None = None) -> Axes:
        """Net benefit against the threshold probability; ``base_rate`` is that of deployment."""
        return self._overlaid(
            lambda one, on, name: one.decision(on, base_rate=base_rate, name=name),
            ax,
            ("flag all", "flag nothing"),
        )

    decision_curve = decision

    def cost(self, ax: Axes | None = None) -> Axes:
        """Normalised expected cost against the probability cost, at the best threshold of each."""
        return self._overlaid(
            lambda one, on, name: one.cost(on, name=name), ax, ("flag all", "flag nothing")
        )

    def _overlaid(
        self,
        draw: Callable[[Plots, Axes | None, str], Axes],
        ax: Axes | None,
        references: Sequence[str] = (),
    ) -> Axes:
        """All models on the same axes, in the order in which they were given."""
        models, tallies = self.comparison.models, self.comparison.tallies
        if any(tally.scores is None or tally.positive is None for tally in tallies.values()):
            raise MethodError(
                "curves are of scores for one positive label; this comparison is of decisions, or "
                "of more than two classes"
            )
        for model in models:
            ax = draw(self.comparison.evaluation(model).plot, ax, model)
        assert ax is not None  # noqa: S101 - a comparison has two models at least
        return plots.name_models(ax, len(models), references)

    def forest(self, ax: Axes | None = None, *, measures: Sequence[str] = ()) -> Axes:
        """Differences with their paired intervals, by default of the main measures.

        An arrow down marks a measure of which less is better. A hollow dot is a difference whose
        interval holds 0.
        """
        found = dict.fromkeys(key(found.measure) for found in self.comparison.differences)
        main = [measure for measure in DIFFERENCES if measure in found]
        wanted = [_checked(measure, found) for measure in measures] or main or list(found)
        models, at = self.comparison.models, self.comparison.at
        pair = f"{models[1]} less {models[0]}" if len(models) == 2 else "Difference"
        if at is not None:
            pair = f"{pair}, at {at}"
        rows = list(self._rows(wanted))
        notes = [f"{_LESS} less is better"] if any(_LESS in name for name, _ in rows) else []
        return plots.forest(rows, pair=pair, notes=notes, ax=ax)

    def ranks(self, ax: Axes | None = None, *, measure: str | None = None) -> Axes:
        """The critical-difference diagram of three models or more over data sets."""
        found = measure or next((each.measure for each in self.comparison.verdicts), "")
        tests = [t for t in self.comparison.tests if t.measure and key(t.measure) == key(found)]
        ranks = next((t.table["mean_ranks"] for t in tests if "mean_ranks" in t.table), None)
        pairs = [t for t in tests if t.test == "nemenyi"]
        if ranks is None or not pairs or not self.comparison.datasets:
            raise MethodError(
                "a critical-difference diagram is of three models or more over several data sets; "
                "this comparison has none"
            )
        critical = float(pairs[0].table["critical_difference"])
        return plots.mean_ranks(ranks, critical=critical, title=_title(found), ax=ax)

    cd = ranks

    def hulls(self, ax: Axes | None = None) -> Axes:
        """The ROC hulls of all models, and on how much of PC each is the best; see ``optimal``."""
        optimal = self.comparison.optimal
        if optimal is None:
            raise MethodError(
                "ROC hulls are of two classes that both have rows; this comparison has none"
            )
        return plots.hulls(
            optimal.hulls, {best.model: best.share for best in optimal.models}, ax=ax
        )

    def _figures(self) -> plots.Named:
        """The forest plot, ROC hulls, curves where models have scores, ranks over data sets.

        Of many pairs only the measure that decides is drawn, and hulls of decisions, which have one
        point each, are not.
        """
        verdicts = self.comparison.verdicts
        if any(math.isfinite(found.difference) for found in self.comparison.differences):
            deciding = [verdicts[0].measure] if len(verdicts) > _PAIRS else []
            yield "forest", partial(self.forest, measures=deciding)
        if self._scored:
            yield "hulls", self.hulls
        tallies = self.comparison.tallies.values()
        if tallies and all(t.scores and t.positive and all(t.confusion.rows) for t in tallies):
            yield from self._curves()
        if self.comparison.datasets and len(self.comparison.models) > 2:
            yield "ranks", self.ranks

    def _curves(self) -> plots.Named:
        yield "roc", self.roc
        yield "det", self.det
        yield "precision_recall", self.precision_recall
        yield "far_dr", self.far_dr
        if all(tally.kind == "probability" for tally in self.comparison.tallies.values()):
            yield "decision", self.decision
        models = map(self.comparison.evaluation, self.comparison.models)
        if all(model.has_reliability for model in models):
            yield "reliability", self.reliability

    @property
    def _scored(self) -> bool:
        optimal = self.comparison.optimal
        return optimal is not None and any(
            np.isfinite(hull["threshold"]).any() for hull in optimal.hulls.values()
        )

    def _rows(self, wanted: Sequence[str]) -> Iterator[tuple[str, Estimate]]:
        for measure in wanted:
            for found in self.comparison.differences:
                if key(found.measure) == measure:
                    name = _title(measure)
                    if len(self.comparison.models) > 2:
                        name = f"{name}: {found.b} less {found.a}"
                    yield name, found.difference


def _checked(measure: str, found: Container[str]) -> str:
    """The name of a measure that is compared here, or else is in the catalogue."""
    if key(measure) not in found:
        parse(measure)  # refuses what is in neither
    return key(measure)


def _title(name: str) -> str:
    found = known(name)
    if found is None:
        return name
    measure, suffix = found
    words = title(measure) + (f" ({suffix})" if suffix else "")
    return words + (f" {_LESS}" if measure.better is Better.LOWER else "")


@dataclass(frozen=True, repr=False)
class ChoicePlots(plots.Figures):
    """Figures of one choice; each is drawn on ``ax``, or on axes of its own."""

    choice: Choice

    def roc(self, ax: Axes | None = None) -> Axes:
        """Detection rate against false positive rate, which is on a logarithmic scale."""
        swept = self._swept()
        return plots.chosen(
            curves.roc(swept),
            self._points(FALSE_POSITIVE_RATE.name, None),
            x_limit=self.choice.constraints.get("max_fpr"),
            y_limit=self.choice.constraints.get("min_dr"),
            smallest=1 / swept.negatives,
            ax=ax,
        )

    def far_dr(self, ax: Axes | None = None) -> Axes:
        """Detection rate against false alarm rate, at the base rate where there is one."""
        swept, rate = self._swept(), self.choice.base_rate
        if rate is not None:
            # So many harmless rows for each attack as there are in deployment.
            scale = swept.positives / swept.negatives * (1 - rate) / rate
            swept = curves.Sweep(
                swept.threshold,
                swept.tp,
                swept.fp * scale,
                swept.positives,
                swept.negatives * scale,
                weighted=True,
            )
        return plots.chosen(
            curves.far_dr(swept),
            self._points(FALSE_DISCOVERY_RATE.name, rate),
            x_limit=self.choice.constraints.get("max_far"),
            y_limit=self.choice.constraints.get("min_dr"),
            ax=ax,
        )

    def _figures(self) -> plots.Named:
        yield "roc", self.roc
        yield "far_dr", self.far_dr

    def _swept(self) -> curves.Sweep:
        if self.choice.sweep is None:
            raise MethodError("this choice holds no curve, so there is nothing to draw")
        return self.choice.sweep

    def _points(self, measure: str, base_rate: float | None) -> list[plots.ChosenPoint]:
        both = (self.choice.guaranteed, self.choice.empirical)
        found = [point for point in both if point is not None] or list(self.choice.candidates)
        return [
            plots.ChosenPoint(
                point.name,
                _estimate(point, measure, base_rate),
                _estimate(point, RECALL.name, None),
            )
            for point in found
        ]


def _estimate(point: Point, measure: str, base_rate: float | None) -> Estimate:
    """An estimate over all rows, at a base rate or on the rows themselves."""
    return next(
        e.estimate
        for e in point.estimates
        if (e.measure, e.family, e.base_rate) == (measure, None, base_rate)
    )


@dataclass(frozen=True, repr=False)
class GatePlots(plots.Figures):
    """Figures of one gate; each is drawn on ``ax``, or on axes of its own."""

    gate: Gate

    def rules(self, ax: Axes | None = None) -> Axes:
        """How far each rule is from its bound; right of the line it is kept.

        A hollow dot is a rule whose interval holds the bound. Figures of a day stand on a scale of
        their own and are left out, as are rules without a value.
        """
        return plots.forest(list(self._rows()), pair="Value beyond the bound", ax=ax)

    def _figures(self) -> plots.Named:
        if any(math.isfinite(found) for _, found in self._rows()):
            yield "rules", self.rules

    def _rows(self) -> Iterator[tuple[str, Estimate]]:
        for judged in self.gate.rules:
            rule, found = judged.rule, judged.estimate
            if rule.per_day:
                continue
            value, low, high = (end - rule.bound for end in (float(found), found.low, found.high))
            if rule.operator.startswith("<"):
                value, low, high = -value, -high, -low
            yield rule.text, found.changed(value, low=low, high=high)


# Counts and products would push every share into a corner.
_LARGEST = 1.0


@dataclass(frozen=True, repr=False)
class AuditPlots(plots.Figures):
    """Figures of one audit."""

    audit: Audit

    def numbers(self, ax: Axes | None = None) -> Axes:
        """Every share that was reported, beside what it should be."""
        return claimed(tuple(self._rows()), ax=ax)

    def _figures(self) -> plots.Named:
        if any(True for _ in self._rows()):
            yield "numbers", self.numbers

    def _rows(self) -> Iterator[Claimed]:
        many = len(self.audit.claims) > 1
        for claim in self.audit.claims:
            for number in claim.numbers:
                if number.measure is None or isinstance(number.recomputed, tuple | None):
                    continue
                if isinstance(number.reported, tuple):
                    continue
                reported = as_float(printed(number.reported).value)
                if abs(reported) > _LARGEST:
                    reported /= 100
                if abs(reported) > _LARGEST or abs(number.recomputed) > _LARGEST:
                    continue
                name = f"{number.key}, {claim.name}" if many else number.key
                agrees = number.verdict not in WRONG
                yield Claimed(name, reported, number.recomputed, agrees)
