"""An evaluation as plain values: every estimate and curve that a report shows, and no tally.

It is as small as what is shown, however many rows and scores there were, and JSON gives it back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from assay.v02.engines import confusion_at
from assay.v02.evaluation.deployment import LowRate, Reach, Top, Unlabelled, reading, thresholds
from assay.v02.evaluation.entries import DEFAULT_BASE_RATES, ByKey, Entry
from assay.v02.evaluation.findings import Finding
from assay.v02.evaluation.judge import starting_threshold
from assay.v02.evaluation.over_time import AlertsPerDay, Periods
from assay.v02.evaluation.wording import bits_of, keeping
from assay.v02.inference import Estimate
from assay.v02.inference.fields import Recorded, Result, codec_of, finite, stored
from assay.v02.measures import Measure, catalogue
from assay.v02.measures.catalogue import RANKED_AT_BASE_RATES
from assay.v02.sources.files.request import RowSource
from assay.v02.sources.times import TIME
from assay.v02.tally import Confusion

if TYPE_CHECKING:
    from assay.v02.evaluation.evaluation import Evaluation

Matrix = tuple[tuple[float, ...], ...]

# The columns of a table of estimates.
RECORD = (
    "measure",
    "label",
    "average",
    "slice_column",
    "slice_value",
    "base_rate",
    "value",
    "low",
    "high",
    "method",
    "n",
    "undefined",
    "note",
    "reading",
    "mode",
    "bound_low",
    "bound_high",
)


class Slice(NamedTuple):
    """A column and one of its values."""

    column: str
    value: str


@dataclass(frozen=True)
class EstimateRecord:
    """What an estimate is of, the estimate, and what its value is called."""

    measure: str
    label: str | None
    average: str | None
    slice: Slice | None
    base_rate: float | None
    estimate: Estimate = field(metadata=stored(inline=True))
    reading: str | None = None


@dataclass(frozen=True)
class ClassCounts:
    """One class against the rest; without decisions only how many rows it has."""

    label: str
    tp: float | None
    fp: float | None
    fn: float | None
    tn: float | None
    support: float


@dataclass(frozen=True)
class SweepTable:
    """True and false positives at thresholds that fall; the first, which flags nothing, is None."""

    threshold: tuple[float | None, ...]
    tp: tuple[float, ...]
    fp: tuple[float, ...]


class ErrorCosts(NamedTuple):
    """What a false alarm and a missed attack cost."""

    fp: float
    fn: float


@dataclass(frozen=True)
class SliceCounts:
    """The rows of a slice or period, how many were decided right, and the matrix of two classes."""

    column: str
    value: str
    rows: float
    right: float
    confusion: Matrix | None = None

    def table(self, labels: tuple[str, ...]) -> Confusion:
        """The confusion matrix of two classes."""
        return Confusion(labels, self.confusion or ())


@dataclass(frozen=True)
class StartingPoint:
    """Where a page begins that lets its reader choose a threshold, since nobody said one."""

    threshold: float
    confusion: Matrix
    estimates: tuple[EstimateRecord, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot(Result, ByKey, Recorded):
    """All that an evaluation has to say, computed.

    ``base_rates`` are those that were asked for, ``family`` the sliced column that is the kind of
    attack. ``weighted`` and ``clustered`` tell how rows count; ``ranked`` how many negatives and
    positives the scores rank, None without scores; ``bits`` those of a grid of scores, and
    ``open_set`` whether some label is unknown to the model. ``slices`` are the counts of slices and
    periods. ``starting`` is where a page begins without a threshold.
    """

    SCHEMA: ClassVar[str] = "assay.evaluation/1"

    source: RowSource
    positive: str | None
    threshold: float | None
    level: float
    mode: str
    labels: tuple[str, ...]
    cells: Matrix | None = field(metadata=stored(key="confusion"))
    per_class: tuple[ClassCounts, ...]
    entries: tuple[EstimateRecord, ...] = field(metadata=stored(key="estimates"))
    sweep: SweepTable | None
    reliability: Mapping[str, tuple[float, ...]] | None
    volume: float | None
    costs: ErrorCosts | None
    deployment: tuple[Reach, ...]
    low_rates: tuple[LowRate, ...]
    alerts_per_day: AlertsPerDay | None
    periods: Periods | None
    top: Top | None
    unlabelled: Unlabelled | None
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    base_rates: tuple[float, ...]
    family: str | None
    weighted: bool
    clustered: bool
    ranked: tuple[float, ...] | None
    bits: int | None
    open_set: bool
    slices: tuple[SliceCounts, ...]
    starting: StartingPoint | None

    @property
    def decided(self) -> bool:
        """Whether rows were decided on; without, they are only ranked by their scores."""
        return self.cells is not None

    @cached_property
    def confusion(self) -> Confusion:
        """The confusion matrix; without decisions all rows stand in the first column."""
        size = len(self.labels)
        bare = tuple((each.support, *(0,) * (size - 1)) for each in self.per_class)
        cells = bare if self.cells is None else self.cells
        # The squares say that rows are weighted, and nothing else is asked of them here.
        return Confusion(self.labels, cells, cells if self.weighted else None)

    @cached_property
    def over_time(self) -> Periods | None:
        """The course of each measure over the periods; None where no times were given."""
        return None if self.periods is None else self.periods.with_estimates(self.entries)

    def shaped(self, plain: dict[str, Any]) -> dict[str, Any]:
        """The top alerts with the scores that they begin at."""
        if self.top is not None:
            plain["top"]["thresholds"] = thresholds(self.entries)
        return plain

    def records(self) -> list[dict[str, Any]]:
        """All estimates as rows of a table."""
        return records_of(self.entries, self.mode)


def records_of(estimates: Iterable[EstimateRecord], mode: str) -> list[dict[str, Any]]:
    """Estimates as rows of a table: plain values, the slice in two columns."""
    write = codec_of(EstimateRecord).write
    return [_record(write(each), mode) for each in estimates]


def _record(estimate: Mapping[str, Any], mode: str) -> dict[str, Any]:
    slice_ = estimate["slice"] or {"column": None, "value": None}
    low, high = estimate["bound"] or (None, None)
    others = {
        "slice_column": slice_["column"],
        "slice_value": slice_["value"],
        "mode": mode,
        "bound_low": low,
        "bound_high": high,
    }
    return {key: {**estimate, **others}[key] for key in RECORD}


# -- taken of an evaluation ------------------------------------------------------------------------


def snapshot_of(evaluation: Evaluation) -> Snapshot:
    """Everything that an evaluation has to say, computed."""
    tally = evaluation.tally
    ranked = None
    if tally.scores is not None:
        ranked = tally.scores[0].effective()
    return Snapshot(
        source=_source_counts(evaluation),
        positive=tally.positive,
        threshold=tally.threshold,
        level=evaluation.level,
        mode=keeping(tally).name,
        labels=tally.labels,
        cells=tally.confusion.cells if evaluation.decided else None,
        per_class=tuple(_class(evaluation, i) for i in range(len(tally.labels))),
        entries=estimates_of(evaluation),
        sweep=_sweep(evaluation),
        reliability=_reliability(evaluation),
        volume=evaluation.volume,
        costs=evaluation.costs
        and ErrorCosts(float(evaluation.costs[0]), float(evaluation.costs[1])),
        deployment=evaluation.deployment,
        low_rates=evaluation.low_rates,
        alerts_per_day=evaluation.alerts_per_day,
        periods=_course(evaluation),
        top=evaluation.top,
        unlabelled=evaluation.unlabelled,
        notes=tuple(evaluation.notes),
        findings=evaluation.findings,
        base_rates=evaluation.base_rates,
        family=evaluation.family,
        weighted=evaluation.weighted,
        clustered=tally.clusters is not None,
        ranked=ranked,
        bits=bits_of(tally),
        open_set=tally.open_set is not None,
        slices=tuple(slice_counts(key, table) for key, table in evaluation.slices.items()),
        starting=_starting(evaluation),
    )


def estimates_of(evaluation: Evaluation) -> tuple[EstimateRecord, ...]:
    """All of its estimates, with what their values are called."""
    measures = {measure.name: measure for measure in catalogue.CATALOGUE}
    return tuple(
        EstimateRecord(
            entry.measure,
            entry.label,
            entry.average,
            entry.slice and Slice(*entry.slice),
            entry.base_rate,
            entry.estimate,
            _reading(evaluation, entry, measures.get(entry.measure)),
        )
        for entry in evaluation.entries
    )


def _course(evaluation: Evaluation) -> Periods | None:
    course = evaluation.over_time
    if course is None:
        return None
    return Periods(
        evaluation.time or TIME,
        course.period,
        course.names,
        course.rows,
        course.positives,
        course.absent,
        tuple(course[key] for key in course),
    )


def _starting(evaluation: Evaluation) -> StartingPoint | None:
    """Where a page begins if no threshold was given: at one that is as good as any."""
    tally = evaluation.tally
    if evaluation.positive is None or tally.scores is None or evaluation.decided:
        return None
    if evaluation.unlabelled is not None:
        return None
    start = starting_threshold(tally.scores[0])
    begun = replace(
        tally,
        confusion=confusion_at(tally.scores[0], start),
        threshold=start,
        decided=True,
        clusters=None,
        slices={},
    )
    rates = evaluation.base_rates or None
    at_start = type(evaluation)(
        begun, level=evaluation.level, base_rate=rates, volume=evaluation.volume
    )
    measures = [measure for measure in catalogue.CATALOGUE if measure.formula is not None]
    estimates = [estimated(measure, at_start[measure]) for measure in measures]
    deployed = [
        estimated(name, each, rate)
        for rate in evaluation.base_rates or DEFAULT_BASE_RATES
        for name, each in at_start.at(rate).items()
        if name not in RANKED_AT_BASE_RATES
    ]
    if tally.clusters is not None:
        # Intervals would take rows as independent.
        estimates, bare = [], {"low": math.nan, "high": math.nan}
        deployed = [replace(e, estimate=e.estimate.changed(**bare)) for e in deployed]
    return StartingPoint(start, at_start.confusion.cells, (*estimates, *deployed))


def _reading(evaluation: Evaluation, entry: Entry, measure: Measure | None) -> str | None:
    """What its value is called; daily figures are no measures of the catalogue."""
    return None if measure is None else reading(evaluation, measure, entry.estimate) or None


def _source_counts(evaluation: Evaluation) -> RowSource:
    refused = list(evaluation.source.get("refused", ()))
    rows_refused = evaluation.source.get("rows_refused", len(refused))
    reasons = evaluation.source.get("reasons")
    digest = evaluation.source.get("labels_sha256")
    return {
        "name": evaluation.source["name"],
        "rows_read": evaluation.source["rows_read"],
        "rows_used": evaluation.source["rows_read"] - rows_refused,
        "rows_refused": rows_refused,
        "refused": refused,
        **({"reasons": dict(reasons)} if reasons else {}),
        **({"labels_sha256": digest} if digest else {}),
    }


def _class(evaluation: Evaluation, label: int) -> ClassCounts:
    counted = evaluation.tally.confusion
    cells = counted.one_versus_rest(label) if evaluation.decided else {}
    tp, fp, fn, tn = (cells.get(name) for name in ("TP", "FP", "FN", "TN"))
    return ClassCounts(evaluation.labels[label], tp, fp, fn, tn, counted.rows[label])


def _sweep(evaluation: Evaluation) -> SweepTable | None:
    if evaluation.tally.scores is None or evaluation.positive is None:
        return None
    swept = evaluation.curves.sweep
    are_integers = not evaluation.tally.confusion.weighted
    return SweepTable(
        tuple(finite(t) for t in swept.threshold.tolist()),
        tuple(int(v) if are_integers else v for v in swept.tp.tolist()),
        tuple(int(v) if are_integers else v for v in swept.fp.tolist()),
    )


def _reliability(evaluation: Evaluation) -> dict[str, tuple[float, ...]] | None:
    if not evaluation.has_reliability:
        return None
    columns = {
        name: tuple(column.tolist()) for name, column in evaluation.curves.reliability().items()
    }
    if not evaluation.weighted:
        columns["n"] = tuple(int(rows) for rows in columns["n"])
    return columns


def slice_counts(where: tuple[str, str], table: Confusion) -> SliceCounts:
    """What a report shows of the confusion matrix of a slice."""
    two = table.cells if len(table.labels) == 2 else None
    return SliceCounts(*where, table.total, sum(table.hits), two)


def estimated(
    measure: str | Measure, estimate: Estimate, base_rate: float | None = None
) -> EstimateRecord:
    """An estimate of all rows."""
    name = measure if isinstance(measure, str) else measure.name
    return EstimateRecord(name, None, None, None, base_rate, estimate)
