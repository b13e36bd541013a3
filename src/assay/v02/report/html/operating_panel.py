"""The operating-point panel before its script has run, and the reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.v02.escaping import plural
from assay.v02.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED, PER_DAY
from assay.v02.formula import at_base_rate, plain, reason, value
from assay.v02.inference import Estimate
from assay.v02.inference.fields import finite
from assay.v02.inference.significance import normal
from assay.v02.measures import (
    ALERT_RATE,
    FALSE_DISCOVERY_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    RECALL,
    Measure,
    find,
)
from assay.v02.measures.catalogue import DEPLOYED, MOVING
from assay.v02.number_text import (
    brief,
    count,
    daily_parts,
    exact_percent,
    fixed,
    percent,
    threshold_text,
)
from assay.v02.report.html.blocks import UNDEFINED, Value, behind, shade, value_of
from assay.v02.report.html.charts import Frame, Limits, Scale, ShownName, cut_name
from assay.v02.report.sections import Panel, count_formula, matrix_caption, measure_name, positives


@dataclass(frozen=True)
class PanelReading:
    """One measure at the report's threshold, and how it is to be read."""

    key: str
    name: str
    formula: str
    range: str
    reads: str
    misleads: str
    value: Value


@dataclass(frozen=True)
class OperatingPanel:
    """The panel.

    ``given`` is whether decisions were given, ``begun`` whether nobody said a threshold, so that
    the page only begins at one; ``curves`` is whether there are scores, ``both`` whether both
    classes have rows.
    """

    positive: ShownName
    negative: ShownName
    what: str
    given: bool
    begun: bool
    curves: bool
    both: bool
    probability: bool
    threshold: str
    recall: str
    far: str
    caption: str
    cells: Mapping[str, tuple[str, int]]
    sums: Mapping[str, str]
    first: tuple[PanelReading, ...]
    others: tuple[PanelReading, ...]
    level: str
    elsewhere: str
    deployed: DeployedPanel
    data: Mapping[str, Any]


def operating_of(panel: Panel, limits: Limits) -> OperatingPanel:
    """The panel at the report's own threshold and first base rate."""
    tp, fp, fn, tn = panel.decided
    readings = tuple(_reading(measure, panel, limits) for measure in panel.measures)
    first = tuple(reading for reading in readings if reading.key in MOVING)
    return OperatingPanel(
        positive=cut_name(panel.positive, limits.letters),
        negative=cut_name(panel.negative, limits.letters),
        what=positives(panel.positive),
        given=panel.threshold is None,
        begun=not panel.given,
        curves=bool(panel.sweep["threshold"]),
        both=bool(panel.positives and panel.negatives),
        probability=panel.reliability is not None,
        threshold="as given" if panel.threshold is None else threshold_text(panel.threshold),
        recall=_percent(panel, RECALL.name),
        far=_percent(panel, FALSE_DISCOVERY_RATE.name),
        caption=matrix_caption(weighted=panel.weighted),
        cells={
            "tp": _cell(tp, fn),
            "fn": _cell(fn, tp),
            "fp": _cell(fp, tn),
            "tn": _cell(tn, fp),
        },
        sums={
            "alerts": count(tp + fp),
            "quiet": count(fn + tn),
            "positives": count(panel.positives),
            "negatives": count(panel.negatives),
            "all": count(panel.positives + panel.negatives),
        },
        first=first,
        others=tuple(reading for reading in readings if reading not in first),
        level=exact_percent(panel.level),
        elsewhere=_elsewhere(panel),
        deployed=deployed_of(panel, limits),
        data=data_of(panel, limits),
    )


def _percent(panel: Panel, name: str) -> str:
    estimate = _panel_estimate(find(name), panel)
    return UNDEFINED if math.isnan(estimate) else percent(float(estimate))


def _cell(here: float, other: float) -> tuple[str, int]:
    """A count, and its shade by its share of the row."""
    rows = here + other
    return count(here), shade(here / rows) if rows else 0


def _reading(measure: Measure, panel: Panel, limits: Limits) -> PanelReading:
    low, high = measure.range
    bounded = math.isfinite(low) and math.isfinite(high)
    # Where the report has no estimate there is still the bare value.
    estimate = panel.shown_at.get(measure.name, _panel_estimate(measure, panel))
    return PanelReading(
        measure.name,
        measure_name(measure.name),
        plain(count_formula(measure)),
        f"{low:g} {high:g}" if bounded else "",
        f"{measure.reads} ({measure.better.value.capitalize()}.)",
        measure.misleads,
        value_of(estimate, limits, Scale(low, high) if bounded else None),
    )


def _panel_estimate(measure: Measure, panel: Panel) -> Estimate:
    formula = count_formula(measure)
    cells: dict[str, Any] = dict(zip(("TP", "FP", "FN", "TN"), panel.decided, strict=True))
    return Estimate(value(formula, cells), undefined=reason(formula, cells))


def _elsewhere(panel: Panel) -> str:
    """Which measures have an interval at other thresholds."""
    if panel.weighted or panel.clustered:
        why = "rows carry weights" if panel.weighted else "rows come in clusters"
        return f"No intervals at this threshold: {why}, and the page holds counts only."
    return (
        "Shares of rows have Wilson's interval at this threshold; the other measures have theirs "
        "only at the report's."
    )


# A plot has room for so many letters.
_LEGEND = 28


def data_of(panel: Panel, limits: Limits) -> dict[str, Any]:
    """Plain values, ready for JSON; None is what is not finite."""
    return {
        "positive": cut_name(panel.positive, min(limits.letters, _LEGEND)).shown,
        "negative": cut_name(panel.negative, min(limits.letters, _LEGEND)).shown,
        "positives": panel.positives,
        "negatives": panel.negatives,
        "threshold": panel.threshold,
        "sweep": {name: list(column) for name, column in panel.sweep.items()},
        "decided": dict(zip(("tp", "fp", "fn", "tn"), panel.decided, strict=True)),
        "z": normal(panel.level),
        "weighted": panel.weighted,
        "probability": panel.reliability is not None,
        # Whether the binomial intervals of plain counts are legal.
        "counted": not (panel.weighted or panel.clustered),
        "shown_at": {name: [*_ends(e), behind(e, limits)] for name, e in panel.shown_at.items()},
        "base_rates": list(panel.base_rates),
        "deployed": [
            [rate, {name: _ends(e) for name, e in measures.items()}]
            for rate, measures in panel.deployed.items()
        ],
        "volume": panel.volume,
    }


def _ends(estimate: Estimate) -> list[float | None]:
    return [finite(number) for number in (float(estimate), estimate.low, estimate.high)]


USUAL_VOLUME = 1_000_000


@dataclass(frozen=True)
class DeployedPanel:
    """A base rate and a volume, in words too, and the measures there as (key, name, value)."""

    rate: str
    volume: float
    volume_words: str
    shares: tuple[tuple[str, str, Value], ...]
    per_day: tuple[tuple[str, str, Value], ...]


def deployed_of(panel: Panel, limits: Limits) -> DeployedPanel:
    """At the first base rate of the panel, or else the test set's prevalence."""
    volume = USUAL_VOLUME if panel.volume is None else panel.volume
    rows = panel.positives + panel.negatives
    prevalence = panel.positives / rows if rows else math.nan
    rate = panel.base_rates[0] if panel.base_rates else prevalence
    estimates = panel.deployed.get(rate, {})
    shares, per_day = [], []
    for name in DEPLOYED:
        estimate = estimates.get(name, _at(find(name), panel, rate))
        shares.append((name, measure_name(name), value_of(estimate, limits)))
    for name in PER_DAY:
        estimate = estimates.get(name, _a_day(name, panel, rate, volume))
        per_day.append((name, measure_name(name), _daily(estimate, limits)))
    words = exact_percent(rate) if panel.base_rates else percent(rate)
    return DeployedPanel(words, volume, count(volume), tuple(shares), tuple(per_day))


def _at(measure: Measure, panel: Panel, rate: float) -> Estimate:
    """A measure at a base rate, without an interval."""
    if measure.formula is None or not 0 < rate < 1:
        return Estimate(math.nan, undefined="there are no rows of one class")
    formula = at_base_rate(measure.formula, Fraction(repr(float(rate))))
    cells: dict[str, Any] = dict(zip(("TP", "FP", "FN", "TN"), panel.decided, strict=True))
    return Estimate(value(formula, cells), undefined=reason(formula, cells))


def _a_day(name: str, panel: Panel, rate: float, volume: float) -> Estimate:
    """How many rows of a day: a rate of all, of the negatives, or of the positives."""
    measure, share = {
        ALERTS: (ALERT_RATE, 1.0),
        FALSE_ALARMS: (FALSE_POSITIVE_RATE, 1 - rate),
        MISSED: (FALSE_NEGATIVE_RATE, rate),
    }[name]
    estimate = _at(measure, panel, rate)
    return Estimate(volume * share * estimate, undefined=estimate.undefined)


def _daily(estimate: Estimate, limits: Limits) -> Value:
    if math.isnan(estimate):
        return Value(UNDEFINED, "", behind(estimate, limits))
    return Value(*daily_parts(estimate), behind(estimate, limits))


# -- the reliability diagram -----------------------------------------------------------------------


FRAME = Frame(width=420, height=400, left=48, right=408, top=10, bottom=300)
# The counts stand below in a strip of their own.
COUNTS = {"top": 312, "bottom": 356, "bar": 9}


@dataclass(frozen=True)
class Bin:
    """One bin, in units of the drawing: its point, its interval, its column of rows."""

    x: str
    y: str
    low: str
    high: str
    bar: str
    bar_x: str
    height: str
    rows: str
    title: str


@dataclass(frozen=True)
class ReliabilityChart:
    """The diagram, and the same in words."""

    bins: tuple[Bin, ...]
    ticks: tuple[tuple[str, str, str], ...]
    most: str
    description: str
    frame: Frame
    counts: Mapping[str, int]
    kind: str = "reliability"


def reliability_of(table: Mapping[str, tuple[float, ...]]) -> ReliabilityChart:
    """Each bin that has rows."""
    columns = ("predicted", "observed", "low", "high", "n")
    rows = zip(*(table[name] for name in columns), strict=True)
    filled = [row for row in rows if row[4] > 0]
    most = max((n for *_, n in filled), default=1.0)
    bins = tuple(_bin(row, most) for row in filled)
    inside = sum(low <= predicted <= high for predicted, _, low, high, _ in filled)
    text = (
        f"Reliability diagram. In {inside} of {len(filled)} bins the mean predicted probability "
        f"lies within the interval of the observed share."
    )
    ticks = tuple((FRAME.x(i / 5), FRAME.y(i / 5), fixed(i / 5, 1)) for i in range(6))
    return ReliabilityChart(bins, ticks, brief(most), text, FRAME, COUNTS)


def _bin(row: tuple[float, ...], most: float) -> Bin:
    predicted, observed, low, high, n = row
    # Most rows lie in the first and last bins; a log scale keeps the others visible.
    share = math.log10(1 + n) / math.log10(1 + most)
    height = share * (COUNTS["bottom"] - COUNTS["top"])
    return Bin(
        FRAME.x(predicted),
        FRAME.y(observed),
        FRAME.y(low),
        FRAME.y(high),
        f"{COUNTS['bottom'] - height:.1f}",
        f"{float(FRAME.x(predicted)) - COUNTS['bar'] / 2:.1f}",
        f"{height:.1f}",
        brief(n),
        f"predicted {percent(predicted)}, observed {percent(observed)} "
        f"[{percent(low)}, {percent(high)}], {count(n)} {plural(n, 'row', 'rows')}",
    )
