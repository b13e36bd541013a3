"""The figures of a comparison, a choice of threshold, a gate, an audit, incidents and a monitor."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from assay.v02 import curves, plots
from assay.v02.decisions.audit.verdicts import WRONG, as_float, printed
from assay.v02.decisions.compare.comparison import key, known
from assay.v02.decisions.rule import DIFFERENCE, NEW
from assay.errors import MethodError
from assay.v02.evaluation.deployment import PER_DAY
from assay.v02.inference import Estimate
from assay.v02.measures import (
    FALSE_DISCOVERY_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    Better,
    find,
    parse,
)
from assay.v02.measures.catalogue import DIFFERENCES
from assay.v02.plots.canvas import BLUE, COLOURS, GREY, ORANGE, PAGE, drawing, label, one_line, title
from assay.v02.plots.incident_times import IncidentSpan, operating, time_to_detect, timeline
from assay.v02.plots.intervals import ClaimedNumber, claimed
from assay.v02.tally.incident_tally import SECOND

if TYPE_CHECKING:
    from assay.v02.decisions.audit.verdicts import Audit
    from assay.v02.decisions.compare.comparison import Comparison
    from assay.v02.decisions.gate_rules import Gate
    from assay.v02.decisions.incidents.detections import Incidents
    from assay.v02.decisions.incidents.operating_points import OperatingCurve
    from assay.v02.decisions.monitor_result import Monitor
    from assay.v02.decisions.threshold.choice import Choice, Point
    from assay.v02.decisions.watched_figures import Watched
    from assay.v02.evaluation.plotting import Plots
    from assay.v02.plots.canvas import Axes


_LESS = "↓"
_HIGH = 2.4
_NAMES = 12
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
        first, *others = models
        axes = draw(self.comparison.evaluation(first).plot, ax, first)
        for model in others:
            axes = draw(self.comparison.evaluation(model).plot, axes, model)
        return plots.name_models(axes, len(models), references)

    def forest(self, ax: Axes | None = None, *, measures: Sequence[str] = ()) -> Axes:
        """Differences with their paired intervals, by default of the main measures.

        An arrow down marks a measure of which less is better. A hollow dot is a difference whose
        interval holds 0.
        """
        compared = dict.fromkeys(
            key(difference.measure) for difference in self.comparison.differences
        )
        main = [measure for measure in DIFFERENCES if measure in compared]
        wanted = [_checked(measure, compared) for measure in measures] or main or list(compared)
        models, at = self.comparison.models, self.comparison.at
        pair = f"{models[1]} less {models[0]}" if len(models) == 2 else "Difference"
        if at is not None:
            pair = f"{pair}, at {at}"
        rows = list(self._rows(wanted))
        notes = [f"{_LESS} less is better"] if any(_LESS in name for name, _ in rows) else []
        return plots.forest(rows, pair=pair, notes=notes, ax=ax)

    def ranks(self, ax: Axes | None = None, *, measure: str | None = None) -> Axes:
        """The critical-difference diagram of three models or more over data sets."""
        by = measure or next((each.measure for each in self.comparison.verdicts), "")
        tests = [t for t in self.comparison.tests if t.measure and key(t.measure) == key(by)]
        ranks = next((t.table["mean_ranks"] for t in tests if "mean_ranks" in t.table), None)
        pairs = [t for t in tests if t.test == "nemenyi"]
        if ranks is None or not pairs or not self.comparison.datasets:
            raise MethodError(
                "a critical-difference diagram is of three models or more over several data sets; "
                "this comparison has none"
            )
        critical = float(pairs[0].table["critical_difference"])
        return plots.mean_ranks(ranks, critical=critical, title=_measure_title(by), ax=ax)

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

    def _figures(self) -> plots.NamedFigures:
        """The forest plot, ROC hulls, curves where models have scores, ranks over data sets.

        Of many pairs only the measure that decides is drawn, and hulls of decisions, which have one
        point each, are not.
        """
        verdicts = self.comparison.verdicts
        if any(math.isfinite(difference.difference) for difference in self.comparison.differences):
            deciding = [verdicts[0].measure] if len(verdicts) > _PAIRS else []
            yield "forest", partial(self.forest, measures=deciding)
        if self._scored:
            yield "hulls", self.hulls
        tallies = self.comparison.tallies.values()
        if tallies and all(t.scores and t.positive and all(t.confusion.rows) for t in tallies):
            yield from self._curves()
        if self.comparison.datasets and len(self.comparison.models) > 2:
            yield "ranks", self.ranks

    def _curves(self) -> plots.NamedFigures:
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
            for difference in self.comparison.differences:
                if key(difference.measure) == measure:
                    name = _measure_title(measure)
                    if len(self.comparison.models) > 2:
                        name = f"{name}: {difference.b} less {difference.a}"
                    yield name, difference.difference


def _checked(measure: str, compared: Container[str]) -> str:
    """The name of a measure that is compared here, or else is in the catalogue."""
    if key(measure) not in compared:
        parse(measure)  # refuses what is in neither
    return key(measure)


def _measure_title(name: str) -> str:
    match = known(name)
    if match is None:
        return name
    measure, suffix = match
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

    def _figures(self) -> plots.NamedFigures:
        yield "roc", self.roc
        yield "far_dr", self.far_dr

    def _swept(self) -> curves.Sweep:
        if self.choice.sweep is None:
            raise MethodError("this choice holds no curve, so there is nothing to draw")
        return self.choice.sweep

    def _points(self, measure: str, base_rate: float | None) -> list[plots.ChosenPoint]:
        both = (self.choice.guaranteed, self.choice.empirical)
        points = [point for point in both if point is not None] or list(self.choice.candidates)
        return [
            plots.ChosenPoint(
                point.name,
                _estimate(point, measure, base_rate),
                _estimate(point, RECALL.name, None),
            )
            for point in points
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

    def _figures(self) -> plots.NamedFigures:
        if any(math.isfinite(estimate) for _, estimate in self._rows()):
            yield "rules", self.rules

    def _rows(self) -> Iterator[tuple[str, Estimate]]:
        for judged in self.gate.rules:
            rule, estimate = judged.rule, judged.estimate
            if rule.per_day:
                continue
            value, low, high = (
                end - rule.bound for end in (float(estimate), estimate.low, estimate.high)
            )
            if rule.operator.startswith("<"):
                value, low, high = -value, -high, -low
            yield rule.text, estimate.changed(value, low=low, high=high)


# Counts and products would push every share into a corner.
_LARGEST = 1.0


@dataclass(frozen=True, repr=False)
class AuditPlots(plots.Figures):
    """Figures of one audit."""

    audit: Audit

    def numbers(self, ax: Axes | None = None) -> Axes:
        """Every share that was reported, beside what it should be."""
        return claimed(tuple(self._rows()), ax=ax)

    def _figures(self) -> plots.NamedFigures:
        if any(True for _ in self._rows()):
            yield "numbers", self.numbers

    def _rows(self) -> Iterator[ClaimedNumber]:
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
                yield ClaimedNumber(name, reported, number.recomputed, agrees)


@dataclass(frozen=True, repr=False)
class IncidentPlots(plots.Figures):
    """Figures of incidents; each is drawn on ``ax``, or on axes of its own."""

    incidents: Incidents

    def timeline(self, ax: Axes | None = None) -> Axes:
        """Incidents as bars in time, with their delays, above alerts and false incidents."""
        stretch = self.incidents.timeline
        if stretch is None:
            raise MethodError("no timeline can be drawn: no time was observed")
        shown = []
        for each in self.incidents.incidents:
            start, end = ((at - stretch.since) / SECOND for at in (each.start, each.end))
            first = None if each.delay is None else start + each.delay
            shown.append(IncidentSpan(each.attack, start, end, first))
        spans = (stretch.alerts, stretch.false_incidents)
        alerts, false = (list(zip(each.start, each.end, strict=True)) for each in spans)
        return timeline(
            shown,
            since=stretch.since,
            seconds=stretch.seconds,
            alerts=alerts,
            false_incidents=false,
            ax=ax,
        )

    def time_to_detect(self, ax: Axes | None = None) -> Axes:
        """The share that is still undetected by the time since the start, with its band."""
        delays = self.incidents.delays
        if delays is None:
            raise MethodError("no time to detect can be drawn: there are no incidents")
        columns = (delays.seconds, delays.undetected, delays.low, delays.high)
        return time_to_detect(*columns, level=self.incidents.level, ax=ax)

    def operating(self, ax: Axes | None = None) -> Axes:
        """Incidents detected against false incidents a day, by threshold."""
        curve = self.incidents.operating
        detected = () if curve is None else tuple(map(float, curve.detected))
        false = () if curve is None else curve.false_incidents_per_day
        total = 0.0 if curve is None else float(curve.total)
        return self._operating(false, detected, "Incidents detected", "detected", total, ax)

    def amoc(self, ax: Axes | None = None) -> Axes:
        """How soon half of all incidents are detected against false incidents a day (AMOC)."""
        curve = self.incidents.operating
        pairs = [] if curve is None else list(_known_delays(curve))
        false, delays = tuple(x for x, _ in pairs), tuple(y for _, y in pairs)
        return self._operating(
            false, delays, "Seconds until half are detected", "median_delay", 0.0, ax
        )

    def _figures(self) -> plots.NamedFigures:
        incidents = self.incidents
        if incidents.timeline is not None:
            yield "timeline", self.timeline
        if incidents.delays is not None and incidents.delays.seconds:
            yield "time-to-detect", self.time_to_detect
        if incidents.operating is not None and incidents.operating.threshold:
            yield "operating", self.operating
            if len(set(_known_delays(incidents.operating))) > 1:
                yield "amoc", self.amoc

    def _operating(
        self,
        false: tuple[float, ...],
        heights: tuple[float, ...],
        name: str,
        field: str,
        highest: float,
        ax: Axes | None,
    ) -> Axes:
        choice = self.incidents.choice
        points = []
        if choice is not None:
            for caption, point in (
                ("by this data", choice.empirical),
                ("promised", choice.guaranteed),
            ):
                height = None if point is None else getattr(point, field)
                if point is not None and height is not None:
                    points.append((caption, point.false_incidents_per_day, float(height)))
        limit = None if choice is None else choice.constraints.get("max_false_incidents")
        return operating(
            false, heights, name=name, points=points, limit=limit, highest=highest, ax=ax
        )


def _known_delays(curve: OperatingCurve) -> Iterator[tuple[float, float]]:
    """False incidents a day and the median delay, where half are detected."""
    for false, delay in zip(curve.false_incidents_per_day, curve.median_delay, strict=True):
        if delay is not None:
            yield false, delay


@dataclass(frozen=True, repr=False)
class MonitorPlots(plots.Figures):
    """Figures of one monitor; each is drawn on ``ax``, or on axes of its own."""

    monitor: Monitor

    def sequence(self, measure: str, subject: str = NEW, ax: Axes | None = None) -> Axes:
        """One figure over all looks: its confidence sequence, and the interval for one look."""
        periods = self.monitor.periods
        name = measure if measure in PER_DAY else find(measure).name
        try:
            so_far = [period.figure(name, "cumulative", subject) for period in periods]
            alone = [period.figure(name, "period", subject) for period in periods]
        except KeyError as missing:
            raise MethodError(f"{measure!r} was not followed of {subject}") from missing
        bounds = [
            each.rule.bound
            for each in self.monitor.rules
            if each.rule.subject == subject
            and (each.rule.measure.name if each.rule.measure else each.rule.written) == name
        ]
        return plots.sequence(
            [period.end for period in periods],
            [each.estimate for each in so_far],
            [_ends(each) for each in so_far],
            title=_figure_title(name, subject),
            periods=[float(each.estimate) for each in alone],
            bound=bounds[0] if bounds else None,
            ax=ax,
        )

    def shift(self, ax: Axes | None = None) -> Axes:
        """The evidence that columns have shifted, day by day, and where it is enough."""
        shifts = self.monitor.shift
        if not shifts:
            raise MethodError("there is nothing to draw: no reference was given")
        with drawing(ax, _HIGH, PAGE) as axes:
            for i, each in enumerate(shifts):
                values = [value / math.log(10) for value in each.evidence.values()]
                colour = COLOURS[i % len(COLOURS)] if len(shifts) > 1 else BLUE
                axes.plot(range(len(values)), values, color=colour, label=one_line(each.column, 40))
            axes.axhline(
                shifts[0].limit / math.log(10), color=ORANGE, lw=1, ls="--", label="enough"
            )
            axes.axhline(0, color=GREY, lw=0.6)
            days = list(shifts[0].evidence)
            step = max(1, math.ceil(len(days) / _NAMES))
            axes.set_xticks(range(len(days))[::step], days[::step], rotation=30, ha="right")
            # Evidence grows without end; what matters is where it crosses the line.
            axes.set_yscale("symlog", linthresh=2)
            label(axes, "Day", "log10 of the evidence")
            axes.legend()
        return axes

    def _figures(self) -> plots.NamedFigures:
        for each in self.monitor.last.estimates:
            drawn = [
                period.figure(each.measure, "cumulative", each.subject).estimate
                for period in self.monitor.periods
            ]
            if each.scope == "cumulative" and any(map(math.isfinite, drawn)):
                aside = "" if each.subject == NEW else f"_{each.subject.replace('-', '_')}"
                yield f"{each.measure}{aside}", partial(self.sequence, each.measure, each.subject)
        if self.monitor.shift:
            yield "shift", self.shift


def _ends(figure: Watched) -> tuple[float, float]:
    if figure.ordinary is None:
        return math.nan, math.nan
    return figure.ordinary.low, figure.ordinary.high


def _figure_title(name: str, subject: str) -> str:
    heading = name.replace("_", " ").capitalize() if name in PER_DAY else title(find(name))
    return f"{heading}, new less old" if subject == DIFFERENCE else heading
