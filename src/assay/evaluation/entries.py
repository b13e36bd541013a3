"""All estimates of a tally, in the order of the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from assay.evaluation.deployment import PER_DAY, daily
from assay.evaluation.judge import Judge
from assay.evaluation.over_time import OverTime
from assay.evaluation.probabilities import DEFINED_ONLY
from assay.evaluation.top import PRECISION_AT_TOP, RECALL_AT_TOP, Top, at_top, told
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
    parse,
)
from assay.measures.shown import AT_BASE_RATES, AT_USUAL_BASE_RATES, RANKED_AT_BASE_RATES
from assay.sources.times import TIME

if TYPE_CHECKING:
    from assay.evaluation.views import ByKey

DEFAULT_BASE_RATES = (0.1, 0.01, 0.001, 0.0001)


@dataclass(frozen=True, eq=False)
class Entry:
    """What an estimate is of, and the estimate: computed when it is first asked for, then kept.

    >>> entry = Entry("recall", lambda: Estimate(0.5), label="attack")
    >>> entry.estimate is entry.estimate
    True
    """

    measure: str
    compute: Callable[[], Estimate] = field(repr=False)
    label: str | None = None
    average: str | None = None
    slice: tuple[str, str] | None = None
    base_rate: float | None = None

    @cached_property
    def estimate(self) -> Estimate:
        """The value with its interval."""
        return self.compute()


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

    Periods are slices of the column ``time`` that have scores of their own. Nothing is estimated
    yet.
    """
    measures = catalogue.CATALOGUE
    sliced = [*_slices(judge, measures), *_periods(over_time, time)]
    if not judge.binary:
        return [*_of_many(judge, measures), *sliced]
    found = list(_of_two(judge, measures))
    found += _of_days(judge, volume, top, None)
    names = AT_BASE_RATES if base_rates else AT_USUAL_BASE_RATES
    if base_rates and judge.tally.scores is not None:
        names += RANKED_AT_BASE_RATES
    if base_rates:
        names += tuple(m.name for m in measures if m.of_costs and judge.priced(m) is not None)
    by_name = {measure.name: measure for measure in measures}
    for rate in base_rates or DEFAULT_BASE_RATES:
        for name in names:
            measure = by_name[name]
            label = None if measure.symmetric else judge.tally.positive
            compute = partial(judge.at_base_rate, measure, rate)
            found.append(Entry(name, compute, label=label, base_rate=rate))
        found += _of_days(judge, volume, top if base_rates else None, rate)
    return [*found, *sliced]


def _of_days(
    judge: Judge, volume: float | None, top: Top | None, base_rate: float | None
) -> Iterator[Entry]:
    """The daily figures, and those of the top alerts, where either was asked for."""
    positive = judge.tally.positive
    if volume is not None:
        for name in PER_DAY:
            compute = partial(daily, judge, name, volume, base_rate)
            yield Entry(name, compute, label=positive, base_rate=base_rate)
    if top is not None and told(judge, top, base_rate):
        both = cache(partial(at_top, judge, top, base_rate))
        yield Entry(PRECISION_AT_TOP, lambda: both().precision, positive, base_rate=base_rate)
        yield Entry(RECALL_AT_TOP, lambda: both().recall, positive, base_rate=base_rate)


def _of_two(judge: Judge, measures: Sequence[Measure]) -> Iterator[Entry]:
    negative, positive = judge.tally.labels
    counted = [m for m in measures if m.of_scores is None]
    for measure in counted:
        if not measure.symmetric:
            yield Entry(measure.name, partial(judge.of_label, measure, 1), label=positive)
    for measure in measures:
        one_sided = measure.of_scores is not None and not measure.symmetric
        if one_sided and not isinstance(measure.of_scores, OpenSet):
            yield Entry(measure.name, partial(judge.scored, measure), label=positive)
    for measure in measures:
        if measure.symmetric and not isinstance(measure.of_scores, OverPairs | OpenSet):
            if measure.of_scores is not None:
                yield Entry(measure.name, partial(judge.scored, measure))
            else:
                yield Entry(measure.name, partial(judge.of_label, measure, 1))
    for measure in counted:
        if not measure.symmetric and measure.of_costs is None:
            yield Entry(measure.name, partial(judge.of_label, measure, 0), label=negative)
    for measure in counted:
        if measure.averages:
            yield from _averages(judge, measure)


def _of_many(judge: Judge, measures: Sequence[Measure]) -> Iterator[Entry]:
    labels = judge.tally.labels
    for measure in measures:
        if measure.classes is not None:
            yield Entry(measure.name, partial(judge.of_classes, measure))
        elif isinstance(measure.of_scores, MeanLoss | OverPairs | Binned | OpenSet):
            yield Entry(measure.name, partial(judge.scored, measure))
    for measure in measures:
        if measure.averages:
            yield from _averages(judge, measure)
    for i, label in enumerate(labels):
        for measure in measures:
            if measure.formula is not None and not (measure.symmetric and measure.classes):
                yield Entry(measure.name, partial(judge.of_label, measure, i), label=label)
            elif isinstance(measure.of_scores, Ranked) and measure.averages:
                yield Entry(measure.name, partial(judge.scored, measure, i), label=label)


def _averages(judge: Judge, measure: Measure) -> Iterator[Entry]:
    """The averages over classes; over the defined ones too, where only some are."""
    averaged = judge.averaged if measure.of_scores is None else judge.averaged_scores
    for average in AVERAGES:
        if measure.formula is None and average == "micro":
            continue
        yield Entry(measure.name, partial(averaged, measure, average), average=average)
        if average == "macro" and judge.partly_defined(measure):
            compute = partial(averaged, measure, DEFINED_ONLY)
            yield Entry(measure.name, compute, average=DEFINED_ONLY)


def _slices(judge: Judge, measures: Sequence[Measure]) -> Iterator[Entry]:
    """Each value of a sliced column: the positive's measures, or for many classes the overall."""
    for key in judge.tally.slices:
        for measure in measures:
            if measure.formula is None or not (judge.binary or measure.classes is not None):
                continue
            one_sided = judge.binary and not measure.symmetric
            label = judge.tally.positive if one_sided else None
            yield Entry(measure.name, partial(judge.of_slice, measure, key), label, slice=key)


def _periods(over_time: OverTime | None, column: str) -> Iterator[Entry]:
    """Each period: all measures of the positive, or for many classes the overall and macro ones."""
    if over_time is None:
        return
    for name in over_time.names:
        for key in over_time:
            measure, average = parse(key)
            label = over_time.label(measure, average)
            compute = partial(over_time.estimate, key, name)
            yield Entry(measure.name, compute, label, average, slice=(column, name))


def per_label(evaluation: ByKey, measure: Measure) -> dict[str, Estimate]:
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
