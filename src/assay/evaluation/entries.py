"""All estimates of a tally, in the order of the contract."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.evaluation.class_scores import DEFINED_ONLY
from assay.evaluation.deployment import daily
from assay.evaluation.judge import Judge
from assay.evaluation.over_time import OverTime
from assay.evaluation.top import Top, at_top
from assay.inference import Estimate
from assay.measures import (
    AVERAGES,
    Binned,
    MeanLoss,
    Measure,
    OpenSet,
    OverPairs,
    Ranked,
    catalogue,
    find,
    parse,
)
from assay.measures.shown import AT_BASE_RATES, AT_USUAL_BASE_RATES, RANKED_AT_BASE_RATES
from assay.sources.times import TIME

if TYPE_CHECKING:
    from assay.evaluation.evaluation import Evaluation

DEFAULT_BASE_RATES = (0.1, 0.01, 0.001, 0.0001)


@dataclass(frozen=True)
class Entry:
    """One estimate and what it is of."""

    measure: str
    estimate: Estimate
    label: str | None = None
    average: str | None = None
    slice: tuple[str, str] | None = None
    base_rate: float | None = None


def entries(
    judge: Judge,
    base_rates: Sequence[float] | None,
    volume: float | None = None,
    *,
    top: Top | None = None,
    over_time: OverTime | None = None,
    time: str = TIME,
) -> list[Entry]:
    """Every estimate that the tally allows; with a volume a day, the daily figures too.

    Periods are slices of the column ``time`` that have scores of their own.
    """
    measures = catalogue.CATALOGUE
    sliced = [*_slices(judge, measures), *_periods(over_time, time)]
    if not judge.binary:
        return [*_of_many(judge, measures), *sliced]
    positive = judge.tally.positive
    found = list(_of_two(judge, measures))
    if volume is not None:
        found += [Entry(name, e, label=positive) for name, e in daily(judge, volume, None)]
    if top is not None:
        found += [Entry(name, e, label=positive) for name, e in at_top(judge, top, None)]
    names = AT_BASE_RATES if base_rates else AT_USUAL_BASE_RATES
    if base_rates and judge.tally.scores is not None:
        names += RANKED_AT_BASE_RATES
    if base_rates:
        names += tuple(m.name for m in measures if m.of_costs and judge.priced(m) is not None)
    for rate in base_rates or DEFAULT_BASE_RATES:
        for name in names:
            measure = find(name)
            label = None if measure.symmetric else positive
            found.append(
                Entry(name, judge.at_base_rate(measure, rate), label=label, base_rate=rate)
            )
        if volume is not None:
            found += [
                Entry(name, e, label=positive, base_rate=rate)
                for name, e in daily(judge, volume, rate)
            ]
        if top is not None and base_rates:
            found += [
                Entry(name, e, label=positive, base_rate=rate)
                for name, e in at_top(judge, top, rate)
            ]
    return [*found, *sliced]


def _of_two(judge: Judge, measures: Sequence[Measure]) -> Iterator[Entry]:
    negative, positive = judge.tally.labels
    counted = [m for m in measures if m.of_scores is None]
    for measure in counted:
        if not measure.symmetric:
            yield Entry(measure.name, judge.of_label(measure, 1), label=positive)
    for measure in measures:
        one_sided = measure.of_scores is not None and not measure.symmetric
        if one_sided and not isinstance(measure.of_scores, OpenSet):
            yield Entry(measure.name, judge.scored(measure), label=positive)
    for measure in measures:
        if measure.symmetric and not isinstance(measure.of_scores, OverPairs | OpenSet):
            if measure.of_scores is not None:
                yield Entry(measure.name, judge.scored(measure))
            else:
                yield Entry(measure.name, judge.of_label(measure, 1))
    for measure in counted:
        if not measure.symmetric and measure.of_costs is None:
            yield Entry(measure.name, judge.of_label(measure, 0), label=negative)
    for measure in counted:
        if measure.averages:
            yield from _averages(judge, measure)


def _of_many(judge: Judge, measures: Sequence[Measure]) -> Iterator[Entry]:
    labels = judge.tally.labels
    for measure in measures:
        if measure.classes is not None:
            yield Entry(measure.name, judge.of_classes(measure))
        elif isinstance(measure.of_scores, MeanLoss | OverPairs | Binned | OpenSet):
            yield Entry(measure.name, judge.scored(measure))
    for measure in measures:
        if measure.averages:
            yield from _averages(judge, measure)
    for i, label in enumerate(labels):
        for measure in measures:
            if measure.formula is not None and not (measure.symmetric and measure.classes):
                yield Entry(measure.name, judge.of_label(measure, i), label=label)
            elif isinstance(measure.of_scores, Ranked) and measure.averages:
                yield Entry(measure.name, judge.scored(measure, i), label=label)


def _averages(judge: Judge, measure: Measure) -> Iterator[Entry]:
    for average in AVERAGES:
        averaged = judge.averaged if measure.of_scores is None else judge.averaged_scores
        if measure.formula is None and average == "micro":
            continue
        found = averaged(measure, average)
        yield Entry(measure.name, found, average=average)
        if average == "macro" and math.isnan(found):
            defined = averaged(measure, DEFINED_ONLY)
            if not math.isnan(defined):
                yield Entry(measure.name, defined, average=DEFINED_ONLY)


def _slices(judge: Judge, measures: Sequence[Measure]) -> Iterator[Entry]:
    """Each value of a sliced column: the positive's measures, or for many classes the overall."""
    for key in judge.tally.slices:
        for measure in measures:
            if measure.formula is None or not (judge.binary or measure.classes is not None):
                continue
            one_sided = judge.binary and not measure.symmetric
            label = judge.tally.positive if one_sided else None
            yield Entry(measure.name, judge.of_slice(measure, key), label=label, slice=key)


def _periods(over_time: OverTime | None, column: str) -> Iterator[Entry]:
    """Each period: all measures of the positive, or for many classes the overall and macro ones."""
    if over_time is None:
        return
    for i, name in enumerate(over_time.names):
        for key in over_time:
            measure, average = parse(key)
            label = over_time.label(measure, average)
            found = over_time.estimates(key)[i]
            yield Entry(measure.name, found, label, average, slice=(column, name))


def per_label(evaluation: Evaluation, measure: Measure) -> dict[str, Estimate]:
    """By label; a class may be called macro, so they are not found by key.

    Empty where a measure is of all classes at once.
    """
    return {
        entry.label: entry.estimate
        for entry in evaluation.entries
        if entry.measure == measure.name
        and entry.label is not None
        and entry.slice is None
        and entry.base_rate is None
    }
