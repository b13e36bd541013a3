"""The estimate of one model."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.gate.rule import Rule, held_by
from assay.decisions.gate.tallies import GateTallies
from assay.errors import InputError
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS, MISSED, daily
from assay.formula import FN, FP, TN, TP, Expression, at_base_rate, of_classes
from assay.inference import Bootstrap, ClopperPearson, Estimate, Quantity, estimate
from assay.inference.chosen import Chosen
from assay.inference.operating import AtThreshold, MaxFar
from assay.measures import Measure
from assay.sources import FAMILY
from assay.tally import Confusion

Floats: TypeAlias = npt.NDArray[np.float64]

NO_FAMILY = "no row of this family is positive"

_ROWS = TP + FP + FN + TN
_OF_DAY: dict[str, Expression] = {
    ALERTS: (TP + FP) / _ROWS,
    FALSE_ALARMS: FP / _ROWS,
    MISSED: FN / _ROWS,
}


def given(tallies: GateTallies, rule: Rule, model: str) -> Estimate:
    """One model at a fixed threshold, or its scores: what an evaluation says of it."""
    if rule.of_scores:
        return of_scores(tallies, rule, model)
    point = tallies.point(model, rule)
    assert isinstance(point, AtThreshold)  # noqa: S101 - others are chosen anew
    judge = tallies.judge(model, point.threshold)
    if rule.measure is None:
        assert rule.volume is not None  # noqa: S101 - the parser asks for it
        return daily(judge, rule.written, rule.volume, rule.base_rate)
    if rule.family is not None:
        if tallies.family(rule.family) is None:
            return Estimate(math.nan, level=tallies.level, undefined=NO_FAMILY)
        return judge.of_slice(rule.measure, (FAMILY, rule.family))
    if rule.average is not None:
        return judge.averaged(rule.measure, rule.average)
    label = position(rule, tallies)
    if rule.base_rate is not None:
        return judge.at_base_rate(rule.measure, rule.base_rate)
    return judge.of_label(rule.measure, label)


def of_scores(tallies: GateTallies, rule: Rule, model: str) -> Estimate:
    """A measure of one model's scores."""
    assert rule.measure is not None  # noqa: S101 - only measures are of scores
    if rule.label is not None and tallies.label(rule.label) != 1:
        return Estimate(
            math.nan,
            level=tallies.level,
            undefined=f"scores rank {tallies.positive!r}, not {rule.label!r}",
        )
    return tallies.judge(model).scored(rule.measure)


def anew(tallies: GateTallies, rule: Rule, found: Chosen, method: Bootstrap) -> Estimate:
    """One model where the threshold is chosen anew in each resample.

    Never narrower than the interval that takes the threshold as given.
    """
    value, draws = values(tallies, rule, found)
    if math.isnan(value):
        return Estimate(value, level=tallies.level, undefined=undefined(tallies, rule, found))
    if rule.family is not None:
        where = tallies.family(rule.family)
        hits, size = found.hits[where], found.sizes[where]
        low, high = (float(end) for end in ClopperPearson(tallies.level)(hits, size))
        assert rule.measure is not None  # noqa: S101 - families have a measure
        ends = (1 - high, 1 - low) if _of_misses(rule.measure) else (low, high)
        n = float(size)
    else:
        quantity, bounds = quantity_of(rule, tallies)
        floor = estimate(quantity, confusion_of(tallies, found.table), bounds, level=tallies.level)
        ends, n = (floor.low, floor.high), floor.n
    return resampled(value, draws, ends, method, n, clustered=tallies.clustered)


def values(tallies: GateTallies, rule: Rule, found: Chosen) -> tuple[float, Floats]:
    """The value on the data, and on each resample; nan where undefined."""
    if rule.family is not None:
        where = tallies.family(rule.family)
        if where is None:
            return math.nan, np.full(len(found.tables), math.nan)
        assert rule.measure is not None  # noqa: S101 - families have a measure
        missed = _of_misses(rule.measure)
        share = float(found.hits[where]) / float(found.sizes[where])
        with np.errstate(invalid="ignore"):
            shares = found.group_hits[:, where] / found.group_sizes[:, where]
        value, draws = (1 - share, 1 - shares) if missed else (share, shares)
    else:
        quantity, _ = quantity_of(rule, tallies)
        value = quantity.value(confusion_of(tallies, found.table))
        draws = quantity.of_tables(found.tables)
    if not isinstance(rule.at, AtThreshold | None):
        # Without both classes there is no rate to choose a threshold by.
        value = math.nan if not all(tallies.sizes) else value
        draws = np.where(found.tables.sum(axis=2).all(axis=1), draws, math.nan)
    return value, draws


def _of_misses(measure: Measure) -> bool:
    """Whether a share of a family's rows is of those that were missed."""
    return measure.slopes["TP"] == -1


def undefined(tallies: GateTallies, rule: Rule, found: Chosen) -> str:
    """Why there is no value."""
    if rule.family is not None and tallies.family(rule.family) is None:
        return NO_FAMILY
    if not all(tallies.sizes):
        return f"there are no {'negatives' if tallies.sizes[1] else 'positives'}"
    quantity, _ = quantity_of(rule, tallies)
    why = quantity.reason(confusion_of(tallies, found.table)) or "it has no value"
    if found.threshold is None and isinstance(rule.at, MaxFar):
        return f"no threshold keeps {rule.at}, so {why}"
    return why


def confusion_of(tallies: GateTallies, table: Floats) -> Confusion:
    """A table of counts as a confusion matrix."""
    cells = tuple(tuple(round(cell) for cell in row) for row in table.tolist())
    return Confusion(tallies.labels, cells)


def resampled(
    value: float,
    draws: Floats,
    floor: tuple[float, float],
    method: Bootstrap,
    n: float,
    *,
    clustered: bool,
) -> Estimate:
    """The percentile interval of resampled values, at least as wide as ``floor``.

    Where more resamples are undefined than lie beyond an end, nobody knows where that end is.
    """
    ends = method.ends(draws, value, None)
    name = f"cluster {method.name}" if clustered else method.name
    left_out = f"undefined in {ends.undefined} of {ends.drawn} resamples"
    if ends.undefined > (1 - method.level) / 2 * ends.drawn:
        note = f"{left_out}: the interval is not known"
        return Estimate(value, n=n, level=method.level, note=note)
    lows = [end for end in (ends.low, floor[0], value) if not math.isnan(end)]
    highs = [end for end in (ends.high, floor[1], value) if not math.isnan(end)]
    return Estimate(
        value,
        min(lows),
        max(highs),
        method=name,
        n=n,
        level=method.level,
        note=f"{left_out}, which were left out" if ends.undefined else None,
    )


# -- what a rule about decisions computes from a confusion matrix ----------------------------------


def quantity_of(rule: Rule, tallies: GateTallies) -> tuple[Quantity, tuple[float, float]]:
    """The formula of a rule, and the range of its values."""
    if rule.measure is None:
        assert rule.volume is not None  # noqa: S101 - the parser asks for it
        formula, bounds = _OF_DAY[rule.written], (0.0, rule.volume)
    else:
        assert rule.measure.formula is not None  # noqa: S101 - not a measure of scores
        formula, bounds = rule.measure.formula, rule.measure.range
    if rule.average is not None:
        return Quantity(of_classes(formula, rule.average)), bounds
    label = position(rule, tallies)
    if rule.base_rate is not None:
        formula = at_base_rate(formula, Fraction(repr(rule.base_rate)))
    if rule.volume is not None:
        formula = Fraction(repr(rule.volume)) * formula
    return Quantity(formula, label=label), bounds


def position(rule: Rule, tallies: GateTallies) -> int:
    """The label that a rule is about; refuses what its condition keeps as it is."""
    if rule.label is None or rule.measure is None:
        return 1
    label = tallies.label(rule.label)
    if label == 1:
        return label
    if rule.base_rate is not None:
        raise InputError(
            f"the rule {rule.text!r} is about {rule.label!r}, and a base rate is the share of the "
            f"positive {tallies.positive!r}"
        )
    swapped = rule.measure.swapped
    if swapped is not None and swapped in held_by(rule.at):
        raise InputError(f"the rule {rule.text!r} could not fail: its condition keeps {swapped}")
    return label
