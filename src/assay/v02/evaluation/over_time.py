"""Any measure over days, weeks or months: its course, the area under it, and how it decays."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, UnknownMeasure
from assay.v02.escaping import given_text
from assay.v02.evaluation.deployment import BY_SLICE, alerts_only
from assay.v02.evaluation.judge import Judge
from assay.v02.evaluation.probabilities import DEFINED_ONLY
from assay.v02.inference import Estimate
from assay.v02.inference.fields import Recorded, stored
from assay.v02.inference.time_courses import Slope, area_under_time, change, over_defined, slope
from assay.v02.measures import (
    ALERT_RATE,
    AVERAGES,
    Measure,
    OpenSet,
    OverPairs,
    Ranked,
    catalogue,
    parse,
)
from assay.v02.sources.times import DAY, PERIODS, TIME, absent, period_of, positions
from assay.v02.tally import Resolved

if TYPE_CHECKING:
    from assay.v02.evaluation.snapshot import EstimateRecord

INDEPENDENT = (
    "Periods are taken as independent. Intervals of the area and of the change hold the sampling "
    "error of these periods; that of the slope also how they scatter around the line, where that "
    "is more than their rows explain."
)

_OF_SLOPE = ("p", "scatter_p")


@dataclass(frozen=True)
class Trend(Recorded):
    """A measure in each period, and what became of it.

    ``aut`` is the area under time, the mean height of the course (Pendlebury et al. 2019).
    ``slope`` is the change a period of the straight line through the values, by least squares and
    unweighted, ``p`` that of no slope, and ``scatter_p`` that of no scatter around the line but
    sampling error. ``change`` is the last value less the first. Where a period has no value they
    are undefined, and ``defined`` is the trend over the periods that have one.
    """

    measure: Measure
    label: str | None
    average: str | None
    aut: Estimate
    slope: Estimate
    p: float
    scatter_p: float
    change: Estimate
    defined: Trend | None = None
    key: str = field(default="", metadata=stored(left_out=True))
    periods: tuple[str, ...] = ()
    estimates: tuple[Estimate, ...] = field(default=(), metadata=stored(left_out=True))

    def __repr__(self) -> str:
        first, last = self.periods[0], self.periods[-1]
        return f"Trend({self.key}, {first} to {last}: AUT {self.aut}, slope {self.slope})"

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """The p-values stand with the slope; of the defined periods only what became of them.

        The periods of the whole are told once for all measures.
        """
        slope = {**plain["slope"], **{name: plain.pop(name) for name in _OF_SLOPE}}
        del plain["periods"]
        defined = plain["defined"]
        if defined is not None:
            names = {"periods": list(self.defined.periods)} if self.defined else {}
            defined = {**names, **{name: defined[name] for name in ("aut", "slope", "change")}}
        return {**plain, "slope": slope, "defined": defined}

    @classmethod
    def unshaped(cls, plain: dict[str, Any]) -> dict[str, Any]:
        """The p-values apart from the slope; the defined periods are of the same measure."""
        slope, defined = plain.get("slope"), plain.get("defined")
        tests = {name: slope.get(name) for name in _OF_SLOPE} if isinstance(slope, dict) else {}
        if isinstance(defined, dict):
            identity = {name: plain.get(name) for name in ("measure", "label", "average")}
            defined = {**identity, **defined, "defined": None}
        return {**plain, **tests, "defined": defined}


class OverTime(Mapping[str, Trend]):
    """The course of each measure over the periods of one evaluation, by its name.

    ``over_time["f1"]``, ``over_time["f1.macro"]``, ``over_time["recall.normal"]``. ``names`` are
    the periods that have rows, ``positions`` how many periods each lies after the first, and
    ``absent`` those between them that have none.
    """

    def __init__(self, judges: Mapping[str, Judge], period: str) -> None:
        self.period = period
        self.names = tuple(judges)
        self.absent = absent(self.names, period)
        self._judges = dict(judges)
        self.positions = positions(self.names, period)
        self._estimates: dict[str, tuple[Estimate, ...]] = {}
        self._trends: dict[str, Trend] = {}
        tables = [judge.tally.confusion for judge in judges.values()]
        self.rows = tuple(table.total for table in tables)
        binary = all(judge.binary for judge in judges.values())
        self.positives = tuple(table.rows[1] for table in tables) if binary else None

    def __getitem__(self, name: str | Measure) -> Trend:
        if isinstance(name, Measure):
            name = name.name
        if not isinstance(name, str):
            raise UnknownMeasure(f"a trend is found by its measure's name; found {name!r}")
        measure, suffix = parse(name)
        if suffix == self._first.tally.positive:
            suffix = None
        key = measure.name if suffix is None else f"{measure.name}.{suffix}"
        if key not in self._trends:
            self._trends[key] = self._trend(key, measure, suffix)
        return self._trends[key]

    def estimates(self, key: str) -> tuple[Estimate, ...]:
        """A measure in each period."""
        if key not in self._estimates:
            judges = self._judges.values()
            self._estimates[key] = tuple(of_key(judge, *parse(key)) for judge in judges)
        return self._estimates[key]

    def estimate(self, key: str, period: str) -> Estimate:
        """A measure in one period, by its name."""
        return self.estimates(key)[self.names.index(period)]

    def label(self, measure: Measure, suffix: str | None) -> str | None:
        """The label that a measure is of: the positive, or another; None for symmetric ones."""
        if suffix is None and self._first.binary and not measure.symmetric:
            return self._first.tally.positive
        return None if suffix in (*AVERAGES, DEFINED_ONLY) else suffix

    @property
    def _first(self) -> Judge:
        return next(iter(self._judges.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(keys(self._first))

    def __len__(self) -> int:
        return len(keys(self._first))

    def __repr__(self) -> str:
        return f"OverTime({len(self.names)} {self.period}s, {self.names[0]} to {self.names[-1]})"

    def _trend(self, key: str, measure: Measure, suffix: str | None) -> Trend:
        estimates = self.estimates(key)
        places = [i for i, estimate in enumerate(estimates) if math.isfinite(estimate)]
        trend = self._over(key, measure, suffix, range(len(estimates)))
        if not 1 < len(places) < len(estimates):
            return trend
        return replace(trend, defined=self._over(key, measure, suffix, places))

    def _over(self, key: str, measure: Measure, suffix: str | None, places: Sequence[int]) -> Trend:
        """The trend over some of the periods."""
        names = tuple(self.names[i] for i in places)
        values = tuple(self.estimates(key)[i] for i in places)
        fitted: list[Slope] = []

        def sloping(estimates: Sequence[Estimate]) -> Estimate:
            fitted.append(slope([self.positions[i] for i in places], estimates))
            return fitted[0].estimate

        steep = over_defined(names, values, sloping)
        ends = over_defined([names[0], names[-1]], [values[0], values[-1]], change)
        return Trend(
            key=key,
            measure=measure,
            label=self.label(measure, suffix),
            average=suffix if suffix in (*AVERAGES, DEFINED_ONLY) else None,
            periods=names,
            estimates=values,
            aut=over_defined(names, values, area_under_time),
            slope=steep,
            p=fitted[0].p if fitted else math.nan,
            scatter_p=fitted[0].scatter_p if fitted else math.nan,
            change=ends if len(values) > 1 else steep,
        )


@dataclass(frozen=True)
class Periods(Recorded):
    """Days, weeks or months in their order, and what became of each measure over them."""

    column: str
    period: str
    names: tuple[str, ...]
    rows: tuple[float, ...]
    positives: tuple[float, ...] | None
    absent: tuple[str, ...]
    trends: tuple[Trend, ...]

    def __getitem__(self, key: str) -> Trend:
        measure, average = parse(key)
        for trend in self.trends:
            if (trend.measure, trend.average) == (measure, average):
                return trend
        raise KeyError(key)

    def with_estimates(self, entries: Iterable[EstimateRecord]) -> Periods:
        """The same with the estimates of each period, which stand among the others."""
        by_key: dict[tuple[str, str | None], dict[str, Estimate]] = {}
        for each in entries:
            if each.slice is not None and each.slice.column == self.column:
                of_key = by_key.setdefault((each.measure, each.average), {})
                of_key[each.slice.value] = each.estimate
        trends = []
        for trend in self.trends:
            mine = by_key.get((trend.measure.name, trend.average), {})
            estimates = tuple(mine[name] for name in self.names)
            trends.append(replace(trend, periods=self.names, estimates=estimates))
        return replace(self, trends=tuple(trends))


def keys(judge: Judge) -> list[str]:
    """What is followed: of two classes each measure of the positive, of more the overall ones."""
    measures = catalogue.CATALOGUE
    if judge.binary:
        return [m.name for m in measures if not isinstance(m.of_scores, OverPairs | OpenSet)]
    overall = [m.name for m in measures if m.classes is not None or _of_all_scores(m)]
    return [*overall, *(f"{m.name}.macro" for m in measures if m.averages)]


def _of_all_scores(measure: Measure) -> bool:
    return measure.of_scores is not None and not isinstance(measure.of_scores, Ranked | OpenSet)


def of_key(judge: Judge, measure: Measure, suffix: str | None) -> Estimate:
    """The estimate of a measure of the positive or of all classes, averaged, or of one label."""
    counted = measure.of_scores is None
    if alerts_only(judge) and measure == ALERT_RATE:
        return Estimate(math.nan, level=judge.level, undefined=BY_SLICE)
    if suffix is None:
        if not counted:
            return judge.scored(measure)
        return judge.of_label(measure, 1) if judge.binary else judge.of_classes(measure)
    if suffix in (*AVERAGES, DEFINED_ONLY):
        averaged = judge.averaged if counted else judge.averaged_scores
        return averaged(measure, suffix)
    if suffix not in judge.tally.labels:
        names = ", ".join(judge.tally.labels)
        raise UnknownMeasure(f"{measure.name}.{suffix}: {suffix!r} is none of the labels {names}")
    label = judge.tally.labels.index(suffix)
    if counted:
        return judge.of_label(measure, label)
    if judge.binary:
        raise UnknownMeasure(f"{measure.name} is of the ranking as a whole, not of {suffix!r}")
    return judge.scored(measure, label)


def by_period(days: Mapping[str, Resolved], period: str) -> dict[str, Resolved]:
    """The days added up to periods, in their order."""
    parts: dict[str, list[Resolved]] = {}
    for day in sorted(days):
        parts.setdefault(period_of(day, period), []).append(days[day])
    return {
        name: part[0] if len(part) == 1 else Resolved.merge(part) for name, part in parts.items()
    }


def period_judges(judge: Judge, period: str) -> dict[str, Judge]:
    """One judge a period, which judges as that of all rows does, but without its strata."""
    periods = by_period(judge.tally.days or {}, period)
    return {name: replace(judge, tally=tally, strata=None) for name, tally in periods.items()}


def checked_period(tally: Resolved, period: Any) -> str | None:
    """The period that was asked for, a day if none was; None for rows without times."""
    if period is not None and period not in PERIODS:
        raise InputError(f"period= is {', '.join(PERIODS)}; found {given_text(period)}")
    if tally.days is not None:
        return DAY if period is None else str(period)
    if period is not None:
        raise InputError("period= groups rows by when they happened: give times= with it")
    return None


def time_column(tally: Resolved, column: str | None) -> str:
    """What the column of times is called, which no slice may be called too."""
    name = column or TIME
    if any(name == sliced for sliced, _ in tally.slices):
        raise InputError(
            f"slices= has a column {name!r}, which is what times= is called; give it another name"
        )
    return name


# -- alerts a day ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class AlertsPerDay:
    """Alerts a day: their mean and how far days differ.

    ``sd`` divides by the number of days less one; it is nan for one day. Where days were alike but
    for chance it would be about the square root of the mean.
    """

    days: int
    mean: float
    median: float
    least: float
    most: float
    sd: float

    @classmethod
    def of(cls, days: Mapping[str, Resolved]) -> AlertsPerDay:
        """The alerts of the days of two classes."""
        alerts = [day.confusion.columns[1] for day in days.values()]
        return cls(
            days=len(alerts),
            mean=statistics.fmean(alerts),
            median=float(statistics.median(alerts)),
            least=min(alerts),
            most=max(alerts),
            sd=statistics.stdev(alerts) if len(alerts) > 1 else math.nan,
        )
