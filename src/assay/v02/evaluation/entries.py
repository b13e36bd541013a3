"""All estimates of a tally in the order of the contract, by measure and by key, and curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.v02 import curves
from assay.errors import LabelError, MethodError, UnknownMeasure
from assay.v02.evaluation.deployment import (
    PER_DAY,
    PRECISION_AT_TOP,
    RECALL_AT_TOP,
    Top,
    at_top,
    daily,
)
from assay.v02.evaluation.judge import Judge
from assay.v02.evaluation.over_time import OverTime
from assay.v02.evaluation.probabilities import DEFINED_ONLY
from assay.v02.inference import Estimate, Wilson, with_band
from assay.v02.inference.top import TopAlerts
from assay.v02.measures import (
    AVERAGES,
    FALSE_DISCOVERY_RATE,
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
from assay.v02.measures.catalogue import AT_BASE_RATES, AT_USUAL_BASE_RATES, RANKED_AT_BASE_RATES
from assay.v02.sources import label_text
from assay.v02.sources.times import TIME
from assay.v02.tally import ScoreTally

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
    listed = list(_of_two(judge, measures))
    listed += _of_days(judge, volume, top, None)
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
            listed.append(Entry(name, compute, label=label, base_rate=rate))
        listed += _of_days(judge, volume, top if base_rates else None, rate)
    return [*listed, *sliced]


def _of_days(
    judge: Judge, volume: float | None, top: Top | None, base_rate: float | None
) -> Iterator[Entry]:
    """The daily figures, and those of the top alerts, where either was asked for."""
    positive = judge.tally.positive
    if volume is not None:
        for name in PER_DAY:
            compute = partial(daily, judge, name, volume, base_rate)
            yield Entry(name, compute, label=positive, base_rate=base_rate)
    read = None if top is None else at_top(judge, top, base_rate)
    if read is not None:
        both = _AtTop(read)
        yield Entry(PRECISION_AT_TOP, both.precision, positive, base_rate=base_rate)
        yield Entry(RECALL_AT_TOP, both.recall, positive, base_rate=base_rate)


@dataclass(frozen=True, eq=False)
class _AtTop:
    """What two entries share: read once, and no closure, so that an evaluation can be pickled."""

    read: Callable[[], TopAlerts]

    @cached_property
    def _alerts(self) -> TopAlerts:
        return self.read()

    def precision(self) -> Estimate:
        return self._alerts.precision

    def recall(self) -> Estimate:
        return self._alerts.recall


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


# -- by measure and by key -------------------------------------------------------------------------


class ByMeasure(Mapping[str, Estimate]):
    """Estimates by their measure, its name or an alias; each is computed when it is asked for."""

    def __init__(self, entries: Iterable[Any]) -> None:
        self._entries = {entry.measure: entry for entry in entries}

    def __getitem__(self, name: str | Measure) -> Estimate:
        if isinstance(name, Measure):
            name = name.name
        if name not in self._entries:
            written, name = name, find(name).name
            if name not in self._entries:
                names = ", ".join(self._entries)
                raise UnknownMeasure(f"{written!r} is not here; there are {names}")
        estimate: Estimate = self._entries[name].estimate
        return estimate

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"ByMeasure({dict(self)!r})"


class ByKey(Mapping[str, Estimate]):
    """Estimates by the key of what they are of, as ``f1``, ``f1.macro`` or ``precision.normal``.

    A key such as ``f1.macro`` is the average, also where a label has that name; see ``of_label``.

    Whoever is one has ``entries``, in the order of the report, ``labels`` and ``positive``.
    """

    entries: Any
    labels: Any
    positive: Any
    base_rates: Any

    @cached_property
    def _by_key(self) -> dict[str, Any]:
        """The entries of the whole, by name."""
        of_all_rows = [e for e in self.entries if e.slice is None and e.base_rate is None]
        by_key = {_key(entry, self.positive): entry for entry in of_all_rows}
        # A class may be called macro; the average of that name wins.
        return by_key | {
            _key(entry, self.positive): entry for entry in of_all_rows if entry.average
        }

    def __getitem__(self, name: str | Measure) -> Estimate:
        estimate: Estimate = self._entry(name).estimate
        return estimate

    def __contains__(self, name: object) -> bool:
        try:
            self._entry(name)
        except UnknownMeasure:
            return False
        return True

    def listed(self, keys: Iterable[str]) -> Iterator[tuple[str, Estimate]]:
        """Estimates by their keys; where some classes have no value, the mean of the others too."""
        for key in keys:
            yield key, self[key]
            measure, _, average = key.rpartition(".")
            defined = f"{measure}.{DEFINED_ONLY}"
            if average == "macro" and defined in self._by_key:
                yield defined, self[defined]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def _entry(self, name: Any) -> Any:
        """The entry of a name, an alias or a measure."""
        if isinstance(name, Measure):
            name = name.name
        if not isinstance(name, str):
            raise UnknownMeasure(f"an estimate is found by its name; found {name!r}")
        if name in self._by_key:
            return self._by_key[name]
        measure, suffix = parse(name)
        if suffix == self.positive:
            suffix = None
        key = measure.name if suffix is None else f"{measure.name}.{suffix}"
        return self._by_key[key] if key in self._by_key else self._other(name, measure, suffix)

    def _other(self, name: str, measure: Measure, suffix: str | None) -> Any:  # noqa: ARG002
        """The entry of a name that is not in the list, which there is none of."""
        close = [k for k in self._by_key if k.startswith(measure.name + ".")]
        raise UnknownMeasure(
            f"{name!r} is not in this evaluation of {len(self.labels)} classes; of "
            f"{measure.name} there are {', '.join(close[:8]) or 'none'}"
        )

    def of_label(self, label: Any) -> ByMeasure:
        """The estimates of one label against the rest, by measure, whatever the label is called."""
        name = label if isinstance(label, str) else label_text(label)
        if name not in self.labels:
            raise LabelError(f"there is no label {label!r}; there are {list(self.labels)}")
        of_all_rows = (e for e in self.entries if e.slice is None and e.base_rate is None)
        return ByMeasure(entry for entry in of_all_rows if entry.label == name)

    def at(self, base_rate: float) -> ByMeasure:
        """The estimates at a base rate, by measure."""
        return ByMeasure(entry for entry in self.entries if entry.base_rate == base_rate)

    @cached_property
    def mostly_false(self) -> tuple[float, float] | None:
        """The worst base rate that was asked for at which most alarms are false, and the share."""
        false = {rate: self.at(rate)[FALSE_DISCOVERY_RATE] for rate in self.base_rates}
        absurd = [rate for rate, far in false.items() if far > 0.5]
        if not absurd:
            return None
        worst = max(absurd, key=lambda rate: false[rate])
        return worst, float(false[worst])


def _key(entry: Any, positive: str | None) -> str:
    suffix = entry.average or (entry.label if entry.label != positive else None)
    return entry.measure if suffix is None else f"{entry.measure}.{suffix}"


class Curves:
    """The curves of a binary evaluation with scores, drawn from one sweep of its thresholds."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @cached_property
    def sweep(self) -> curves.Sweep:
        """True and false positives at no more than 2,000 thresholds."""
        return self._swept(curves.POINTS)

    @property
    def _scores(self) -> ScoreTally:
        tally = self._judge.tally
        if tally.scores is None or tally.positive is None:
            raise MethodError(
                "curves need scores of one positive label; give y_score, and positive="
            )
        return tally.scores[0]

    def _swept(self, points: int | None) -> curves.Sweep:
        return curves.sweep(self._scores, points, keep=self._judge.tally.threshold)

    def _banded(self, curve: curves.Curve, band: float | None) -> curves.Curve:
        if band is not None and self._judge.tally.clusters is not None:
            raise MethodError("a band takes rows as independent, and these come in clusters")
        return curve if band is None else with_band(curve, band)

    def _at(self, points: int | None) -> curves.Sweep:
        return self.sweep if points == curves.POINTS else self._swept(points)

    def roc(self, *, points: int | None = curves.POINTS, band: float | None = None) -> curves.Curve:
        """Detection rate against false positive rate; ``band`` is a level, pointwise."""
        return self._banded(curves.roc(self._at(points)), band)

    def precision_recall(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Precision against detection rate."""
        return self._banded(curves.precision_recall(self._at(points)), band)

    def far_dr(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Detection rate against false alarm rate."""
        return self._banded(curves.far_dr(self._at(points)), band)

    def det(self, *, points: int | None = curves.POINTS, band: float | None = None) -> curves.Curve:
        """Miss rate against false positive rate, both also as normal deviates (probits)."""
        return self._banded(curves.det(self._at(points)), band)

    def gain(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Detection rate against the share of rows that raise an alert."""
        return self._banded(curves.gain(self._at(points)), band)

    def lift(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Precision over prevalence against the share of rows that raise an alert."""
        return self._banded(curves.lift(self._at(points)), band)

    def precision_recall_gain(
        self, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Precision gain against recall gain: both on a scale from the prevalence to 1."""
        return self._banded(curves.precision_recall_gain(self._at(points)), band)

    def hull(self) -> curves.Curve:
        """The convex hull of the ROC curve: which thresholds are best for which costs.

        It has no band: which thresholds are on it was chosen by these rows.
        """
        return curves.hull(curves.vertices(self._scores))

    def decision(
        self,
        *,
        base_rate: float | None = None,
        thresholds: Sequence[float] | None = None,
        band: float | None = None,
    ) -> curves.Curve:
        """Net benefit against the threshold probability, and that of flagging everything.

        ``base_rate`` is the share of positives in deployment, where it is not that of the rows.
        """
        tally = self._judge.tally
        scores = self._scores
        if tally.kind != "probability":
            raise MethodError(
                "a decision curve needs probabilities: its threshold is the probability from "
                "which on a row is flagged, and these scores are none"
            )
        curve = curves.decision(
            scores, base_rate=base_rate, thresholds=thresholds, keep=tally.threshold
        )
        return self._banded(curve, band)

    def cost(self, *, band: float | None = None) -> curves.Curve:
        """Normalised expected cost against the probability cost, at the best threshold of each.

        ``in_use`` is the cost at the evaluation's own decisions.
        """
        scores, tally = self._scores, self._judge.tally
        in_use = None
        if tally.decided and tally.confusion.rows[0] and tally.confusion.rows[1]:
            (tn, fp), (fn, tp) = tally.confusion.cells
            in_use = (float(fp / (tn + fp)), float(tp / (fn + tp)))
        return self._banded(curves.cost(scores, in_use=in_use), band)

    def measure(
        self, name: str, *, points: int | None = curves.POINTS, band: float | None = None
    ) -> curves.Curve:
        """Any measure of decisions against the threshold."""
        measure = find(name)
        return self._banded(curves.trace(self._at(points), measure.name, measure), band)

    def reliability(self, *, level: float | None = None) -> dict[str, npt.NDArray[np.float64]]:
        """Observed share against predicted probability in bins, with Wilson's interval."""
        reliability = self._judge.reliability
        if reliability is None:
            raise MethodError("reliability needs the probability of one positive label")
        low, high = Wilson(level or self._judge.level)(
            reliability.observed * reliability.n, reliability.n
        )
        return {
            "predicted": reliability.predicted,
            "observed": reliability.observed,
            "low": low,
            "high": high,
            "n": reliability.n,
        }
