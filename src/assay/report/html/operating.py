"""The operating-point panel: what it shows before its script has run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assay.formula import plain, reason, value
from assay.inference import Estimate
from assay.measures import FALSE_DISCOVERY_RATE, RECALL, Measure, find
from assay.measures.shown import MOVING
from assay.report.html.blocks import UNDEFINED, Value, value_of
from assay.report.html.data import data_of
from assay.report.html.deployed import Deployed, deployed_of
from assay.report.html.heat import shade
from assay.report.html.limits import Limits
from assay.report.html.scales import Scale
from assay.report.html.text import Name, named
from assay.report.numbers import count, percent
from assay.report.sections import Panel
from assay.report.words import matrix_caption, measure_name, positives


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
    """The panel.

    ``given`` is whether decisions were given, ``begun`` whether nobody said a threshold, so that
    the page only begins at one; ``curves`` is whether there are scores, ``both`` whether both
    classes have rows.
    """

    positive: Name
    negative: Name
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
    first: tuple[Reading, ...]
    others: tuple[Reading, ...]
    level: str
    elsewhere: str
    deployed: Deployed
    data: Mapping[str, Any]


def operating_of(panel: Panel, limits: Limits) -> Operating:
    """The panel at the report's own threshold and first base rate."""
    tp, fp, fn, tn = panel.decided
    readings = tuple(_reading(measure, panel, limits) for measure in panel.measures)
    first = tuple(reading for reading in readings if reading.key in MOVING)
    return Operating(
        positive=named(panel.positive, limits.letters),
        negative=named(panel.negative, limits.letters),
        what=positives(panel.positive),
        given=panel.threshold is None,
        begun=not panel.given,
        curves=bool(panel.sweep["threshold"]),
        both=bool(panel.positives and panel.negatives),
        probability=panel.reliability is not None,
        threshold="as given" if panel.threshold is None else f"{panel.threshold:.7g}",
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
        level=f"{100 * panel.level:.10g}%",
        elsewhere=_elsewhere(panel),
        deployed=deployed_of(panel, limits),
        data=data_of(panel, limits),
    )


def _percent(panel: Panel, name: str) -> str:
    found = _bare(find(name), panel)
    return UNDEFINED if math.isnan(found) else percent(float(found))


def _cell(here: float, rest: float) -> tuple[str, int]:
    """A count, and its shade by its share of the row."""
    rows = here + rest
    return count(here), shade(here / rows) if rows else 0


def _reading(measure: Measure, panel: Panel, limits: Limits) -> Reading:
    low, high = measure.range
    bounded = math.isfinite(low) and math.isfinite(high)
    assert measure.formula is not None  # noqa: S101 - only count measures follow a threshold
    # Where the report has no estimate there is still the bare value.
    found = panel.shown_at.get(measure.name, _bare(measure, panel))
    return Reading(
        measure.name,
        measure_name(measure.name),
        plain(measure.formula),
        f"{low:g} {high:g}" if bounded else "",
        f"{measure.reads} ({measure.better.value.capitalize()}.)",
        measure.misleads,
        value_of(found, limits, Scale(low, high) if bounded else None),
    )


def _bare(measure: Measure, panel: Panel) -> Estimate:
    assert measure.formula is not None  # noqa: S101 - only count measures follow a threshold
    cells: dict[str, Any] = dict(zip(("TP", "FP", "FN", "TN"), panel.decided, strict=True))
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
