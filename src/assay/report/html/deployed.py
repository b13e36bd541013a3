"""The report's operating point at a base rate, as the page shows it first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED, PER_DAY
from assay.formula import at_base_rate, reason, value
from assay.inference import Estimate
from assay.measures import (
    ALERT_RATE,
    FALSE_NEGATIVE_RATE,
    FALSE_POSITIVE_RATE,
    Measure,
    find,
)
from assay.measures.shown import DEPLOYED
from assay.report.html.blocks import UNDEFINED, Value, behind, value_of
from assay.report.html.limits import Limits
from assay.report.numbers import count, daily_parts, exact_percent, percent
from assay.report.sections import Panel
from assay.report.words import measure_name

USUAL_VOLUME = 1_000_000


@dataclass(frozen=True)
class Deployed:
    """A base rate and a volume, in words too, and the measures there as (key, name, value)."""

    rate: str
    volume: float
    volume_words: str
    shares: tuple[tuple[str, str, Value], ...]
    per_day: tuple[tuple[str, str, Value], ...]


def deployed_of(panel: Panel, limits: Limits) -> Deployed:
    """At the first base rate of the panel, or else the test set's prevalence."""
    volume = USUAL_VOLUME if panel.volume is None else panel.volume
    rows = panel.positives + panel.negatives
    prevalence = panel.positives / rows if rows else math.nan
    rate = panel.base_rates[0] if panel.base_rates else prevalence
    known = panel.deployed.get(rate, {})
    shares, per_day = [], []
    for name in DEPLOYED:
        found = known.get(name, _at(find(name), panel, rate))
        shares.append((name, measure_name(name), value_of(found, limits)))
    for name in PER_DAY:
        found = known.get(name, _a_day(name, panel, rate, volume))
        per_day.append((name, measure_name(name), _daily(found, limits)))
    words = exact_percent(rate) if panel.base_rates else percent(rate)
    return Deployed(words, volume, count(volume), tuple(shares), tuple(per_day))


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
    found = _at(measure, panel, rate)
    return Estimate(volume * share * found, undefined=found.undefined)


def _daily(found: Estimate, limits: Limits) -> Value:
    if math.isnan(found):
        return Value(UNDEFINED, "", behind(found, limits))
    return Value(*daily_parts(found), behind(found, limits))
