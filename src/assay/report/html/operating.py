"""The operating-point panel: its numbers as text, and what its script works with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.formula import at_base_rate, plain, reason, value
from assay.inference import Estimate
from assay.inference.quantiles import normal
from assay.inference.significance import finite
from assay.measures import Measure, find
from assay.report.document import Panel
from assay.report.html.blocks import UNDEFINED, Value, about, value_of
from assay.report.html.limits import Limits
from assay.report.html.scales import Scale
from assay.report.html.text import Name, named
from assay.report.numbers import count, daily_parts, exact_percent, percent
from assay.report.panel import FIRST
from assay.report.words import measure_name, positives

SHARES = ("precision", "false_discovery_rate", "negative_predictive_value", "f1", "accuracy", "mcc")
PER_DAY = {
    "alerts_per_day": find("alert_rate"),
    "false_alarms_per_day": find("false_positive_rate"),
    "missed_per_day": find("false_negative_rate"),
}
USUAL_VOLUME = 1_000_000
_SHADES = 9


@dataclass(frozen=True)
class Reading:
    """One measure at the report's threshold, and how it is to be read."""

    key: str
    name: str
    formula: str
    range: str
    reads: str
    misleads: str
    value: Value


@dataclass(frozen=True)
class Operating:
    """All that the panel shows before its script has run."""

    positive: Name
    negative: Name
    what: str
    threshold: str
    alerts: str
    recall: str
    far: str
    cells: Mapping[str, tuple[str, int]]
    sums: Mapping[str, str]
    first: tuple[Reading, ...]
    others: tuple[Reading, ...]
    curves: bool
    tiles: tuple[tuple[str, str, Value], ...]
    base_rate: float
    base_rate_words: str
    volume: float
    volume_words: str
    level: str
    elsewhere: str
    data: Mapping[str, Any]


def operating_of(panel: Panel, limits: Limits) -> Operating:
    """The panel at the report's own threshold and first base rate."""
    tp, fp, fn, tn = panel.decided
    readings = tuple(_reading(measure, panel) for measure in panel.measures)
    first = tuple(reading for reading in readings if reading.key in FIRST)
    rate = panel.base_rates[0] if panel.base_rates else _prevalence(panel)
    return Operating(
        positive=named(panel.positive, limits.letters),
        negative=named(panel.negative, limits.letters),
        what=positives(panel.positive),
        threshold="as given" if panel.threshold is None else f"{panel.threshold:.7g}",
        alerts=count(tp + fp),
        recall=_percent(panel, "recall"),
        far=_percent(panel, "false_discovery_rate"),
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
        curves=bool(panel.sweep["threshold"]),
        tiles=_tiles(panel, rate),
        base_rate=rate,
        base_rate_words=exact_percent(rate),
        volume=_volume(panel),
        volume_words=count(_volume(panel)),
        level=f"{100 * panel.level:.10g}%",
        elsewhere=_elsewhere(panel),
        data=_data(panel, limits),
    )


def _prevalence(panel: Panel) -> float:
    rows = panel.positives + panel.negatives
    return panel.positives / rows if rows else math.nan


def _volume(panel: Panel) -> float:
    return USUAL_VOLUME if panel.volume is None else panel.volume


def _table(panel: Panel) -> dict[str, float]:
    return dict(zip(("TP", "FP", "FN", "TN"), panel.decided, strict=True))


def _percent(panel: Panel, name: str) -> str:
    formula = find(name).formula
    assert formula is not None  # noqa: S101 - a rate
    found = value(formula, _table(panel))
    return UNDEFINED if math.isnan(found) else percent(found)


def _cell(here: float, rest: float) -> tuple[str, int]:
    """A count, and its shade by its share of the row."""
    rows = here + rest
    return count(here), min(math.ceil(here / rows * _SHADES), _SHADES) if rows else 0


def _reading(measure: Measure, panel: Panel) -> Reading:
    low, high = measure.range
    bounded = math.isfinite(low) and math.isfinite(high)
    assert measure.formula is not None  # noqa: S101 - only count measures follow a threshold
    return Reading(
        measure.name,
        measure_name(measure.name),
        plain(measure.formula),
        f"{low:g} {high:g}" if bounded else "",
        f"{measure.reads} ({measure.better.value.capitalize()}.)",
        measure.misleads,
        value_of(_shown(measure, panel), Scale(low, high) if bounded else None),
    )


def _shown(measure: Measure, panel: Panel) -> Estimate:
    """The report's estimate; where it has none, the bare value."""
    if measure.name in panel.shown_at:
        return panel.shown_at[measure.name]
    assert measure.formula is not None  # noqa: S101 - only count measures follow a threshold
    cells = _table(panel)
    return Estimate(value(measure.formula, cells), undefined=reason(measure.formula, cells))


def _elsewhere(panel: Panel) -> str:
    """Which measures have an interval at other thresholds."""
    if panel.weighted or panel.clustered:
        why = "rows carry weights" if panel.weighted else "rows come in clusters"
        return f"No intervals at this threshold: {why}, and the page holds counts only."
    return (
        "Shares of rows have Wilson's interval at this threshold; the other measures have theirs "
        "only at the report's."
    )


# -- deployment ------------------------------------------------------------------------------------


def _tiles(panel: Panel, rate: float) -> tuple[tuple[str, str, Value], ...]:
    known = panel.deployed.get(rate, {})
    volume = _volume(panel)
    tiles = []
    for name in SHARES:
        found = known.get(name) or _deployed(find(name), panel, rate)
        tiles.append((name, measure_name(name), value_of(found)))
    factors = {"false_alarms_per_day": 1 - rate, "missed_per_day": rate}
    for name, measure in PER_DAY.items():
        share = float(_deployed(measure, panel, rate)) * factors.get(name, 1.0)
        found = known.get(name, Estimate(volume * share))
        text, interval = daily_parts(found)
        undefined = math.isnan(found)
        tiles.append((name, measure_name(name), Value(UNDEFINED if undefined else text, interval)))
    return tuple(tiles)


def _deployed(measure: Measure, panel: Panel, rate: float) -> Estimate:
    """A measure at a base rate, without an interval."""
    if math.isnan(rate) or measure.formula is None:
        return Estimate(math.nan, undefined="there are no rows")
    formula = at_base_rate(measure.formula, Fraction(repr(float(rate))))
    cells = _table(panel)
    return Estimate(value(formula, cells), undefined=reason(formula, cells))


# -- what the script works with --------------------------------------------------------------------


def _data(panel: Panel, limits: Limits) -> dict[str, Any]:
    """The one table, and the report's own numbers; plain values only."""
    return {
        "positive": named(panel.positive, limits.letters).shown,
        "negative": named(panel.negative, limits.letters).shown,
        "positives": panel.positives,
        "negatives": panel.negatives,
        "threshold": panel.threshold,
        "sweep": {name: list(column) for name, column in panel.sweep.items()},
        "decided": dict(zip(("tp", "fp", "fn", "tn"), panel.decided, strict=True)),
        "z": normal(panel.level),
        "counted": not (panel.weighted or panel.clustered),
        "shown_at": {name: [*_ends(e), about(e)] for name, e in panel.shown_at.items()},
        "base_rates": list(panel.base_rates),
        "deployed": [
            [rate, {name: _ends(e) for name, e in found.items()}]
            for rate, found in panel.deployed.items()
        ],
        "volume": panel.volume,
    }


def _ends(found: Estimate) -> list[float | None]:
    return [finite(number) for number in (float(found), found.low, found.high)]
