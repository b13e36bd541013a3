"""The evaluation: a mapping from name to estimate, all that stands behind it, and its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from assay.v02.engines import resolve
from assay.errors import InputError, MethodError
from assay.v02.escaping import plural
from assay.v02.evaluation.deployment import (
    LowRate,
    Reach,
    Unlabelled,
    alerts_only,
    low_rates,
    reach,
    reading,
    top_of,
)
from assay.v02.evaluation.entries import DEFAULT_BASE_RATES, ByKey, ByMeasure, Curves, Entry, entries
from assay.v02.evaluation.findings import (
    Finding,
    class_never_predicted,
    findings_of,
    scores_in_percent,
    urgent_first,
)
from assay.v02.evaluation.judge import NO_DECISIONS, Judge
from assay.v02.evaluation.over_time import (
    AlertsPerDay,
    OverTime,
    checked_period,
    period_judges,
    time_column,
)
from assay.v02.evaluation.plotting import Plots
from assay.v02.evaluation.probabilities import DEFINED_ONLY
from assay.v02.evaluation.snapshot import Snapshot, estimates_of, records_of, snapshot_of
from assay.v02.evaluation.wording import bits_of, bounds_note, keeping, mode_note, name
from assay.v02.inference import Bootstrap, Delta, Estimate, GammaInterval, Method, Strata, method_of
from assay.v02.inference.bootstrap import must_be_redrawn
from assay.v02.inference.fields import Result
from assay.v02.inference.significance import check_amount, check_share
from assay.v02.measures import AVERAGES, Costs, Measure, catalogue, find
from assay.v02.measures.catalogue import PRINTED
from assay.v02.number_text import exact_percent, grouped, threshold_text, whole
from assay.v02.sources import FAMILY, label_text
from assay.v02.sources.times import TIME
from assay.v02.tally import Confusion, Resolved, Tally

NO_ALERTS = "rows without a label need one positive label; there are more than two classes"
ONE_POSITIVE_COSTS = (
    "costs are those of errors about one positive label; there are more than two classes"
)
NO_TOP = "top= ranks rows for one positive label; there are more than two classes"
NO_VOLUME = "volume= is for alerts of one positive label; there are more than two classes"
NO_BASE_RATE = "a base rate is the share of one positive label; there are more than two classes"
_WIDEST_MATRIX = 12
# What is told of a threshold that somebody gave, and of no other.
_OF_THRESHOLDS = frozenset({class_never_predicted.CHECK.code, scores_in_percent.CHECK.code})


class Evaluation(Result, ByKey):
    """What a model's decisions and scores are worth.

    A mapping from name to :class:`Estimate`: ``evaluation["f1"]``, ``evaluation["f1.macro"]``,
    ``evaluation["precision.normal"]``; aliases such as ``detection_rate`` work too. An estimate is
    computed when it is first asked for, and kept.

    >>> from assay import evaluate_counts
    >>> evaluation = evaluate_counts(tp=6635, fp=167, fn=324, tn=7743, labels=["normal", "attack"])
    >>> evaluation["precision"]
    0.975 [0.971, 0.979]
    """

    def __init__(
        self,
        tally: Resolved | Tally,
        *,
        level: float | None = None,
        interval: Method | str | None = None,
        base_rate: float | Sequence[float] | None = None,
        volume: float | None = None,
        family: str | None = None,
        costs: Costs | None = None,
        time: str | None = None,
        period: str | None = None,
        top: int | None = None,
        strata: str | None = None,
        unlabelled: Unlabelled | None = None,
        source: Mapping[str, Any] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        if isinstance(tally, Tally):
            source = tally.row_counts() | dict(source or {"name": "tally"})
            tally, inferred = resolve(tally, **tally.sides)
            notes = (*notes, *inferred)
        method, self.level = method_of(interval, level)
        rates = _base_rates(base_rate)
        if tally.positive is None and top is not None:
            raise MethodError(NO_TOP)
        if tally.positive is None and volume is not None:
            raise MethodError(NO_VOLUME)
        if tally.positive is None and rates is not None:
            raise MethodError(NO_BASE_RATE)
        if tally.positive is None and unlabelled is not None:
            raise MethodError(NO_ALERTS)
        if tally.positive is None and costs is not None:
            raise MethodError(ONE_POSITIVE_COSTS)
        if tally.clusters is not None and not isinstance(method, Bootstrap | Delta | None):
            raise MethodError(
                f"{method.name} takes rows as independent, and these come in clusters: leave "
                f"interval= out, or choose bootstrap"
            )
        if isinstance(method, Bootstrap):
            _must_be_redrawn(tally)
        self.strata = _strata(tally, strata, method, unlabelled)
        self.tally = tally
        self.notes = (*notes, *_notes(tally), *_drawn_rows(self.strata))
        self.base_rates = rates or ()
        self.volume = _volume(volume)
        self.costs = costs
        self.family = _sliced(tally, family) or _sliced(tally, None, FAMILY)
        self.unlabelled = unlabelled
        self._judge = Judge(
            tally,
            self.level,
            method,
            family=self.family or FAMILY,
            costs=costs,
            unlabelled=unlabelled,
            strata=self.strata,
        )
        self._measures = {measure.name: measure for measure in catalogue.CATALOGUE}
        self.period = checked_period(tally, period)
        self.time = None if self.period is None else time_column(tally, time)
        self.top = None if top is None else top_of(tally, top, self.volume)
        if self.top is not None and rates and volume is None:
            self.notes = (*self.notes, "at a base rate the top alerts need volume=, rows a day")
        self.source = dict(source or {"name": "tally", "rows_read": tally.confusion.total})

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """What is estimated, in the order of the report; each estimate when it is asked for."""
        return tuple(
            entries(
                self._judge,
                self.base_rates,
                self.volume,
                top=self.top,
                over_time=self.over_time,
                time=self.time or TIME,
            )
        )

    @cached_property
    def _periods(self) -> dict[str, Judge]:
        """One judge a period; none without times."""
        return {} if self.period is None else period_judges(self._judge, self.period)

    # -- the mapping -------------------------------------------------------------------------------

    def _other(self, name: str, measure: Measure, suffix: str | None) -> Entry:
        """A measure of decisions that is not in the list is judged all the same."""
        if measure.of_scores is None and suffix is None and self.tally.positive is not None:
            return Entry(measure.name, partial(self._judge.of_label, measure, 1))
        entry: Entry = super()._other(name, measure, suffix)
        return entry

    def at(self, base_rate: float) -> ByMeasure:
        """The estimates at a base rate, by measure.

        Rates that were not asked for when evaluating are computed now.
        """
        if self.positive is None:
            raise MethodError(NO_BASE_RATE)
        rate = check_share("a base rate", base_rate)
        at_rate = [entry for entry in self.entries if entry.base_rate == rate]
        if not at_rate:
            anew = entries(self._judge, (rate,), self.volume, top=self.top)
            at_rate = [entry for entry in anew if entry.base_rate == rate]
        return ByMeasure(at_rate)

    def of_slice(self, column: str, value: Any) -> ByMeasure:
        """The estimates of one slice, or of one period of the times, by measure."""
        key = (column, value if isinstance(value, str) else label_text(value))
        if key not in self.slices:
            values = sorted(v for c, v in self.slices if c == column)
            raise InputError(f"there is no slice {column}={value!r}; there are {values}")
        return ByMeasure(e for e in self.entries if e.slice == key and e.average is None)

    @cached_property
    def slices(self) -> dict[tuple[str, str], Confusion]:
        """The confusion matrix of each (column, value): of slices, and of periods of the times."""
        periods = self._periods.items()
        of_periods = {(self.time or TIME, name): judge.tally.confusion for name, judge in periods}
        return {**self.tally.slices, **of_periods}

    # -- what stands behind it ---------------------------------------------------------------------

    @property
    def judge(self) -> Judge:
        """What gives the estimate of any measure, by the level and method of this evaluation."""
        return self._judge

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels; of two, the negative first."""
        return self.tally.labels

    @property
    def positive(self) -> str | None:
        """The label that is the alarm; None for more than two classes."""
        return self.tally.positive

    @property
    def confusion(self) -> Confusion:
        """The confusion matrix; rows are the truth. There is none without decisions."""
        if not self.decided:
            raise MethodError(f"there is no confusion matrix: {NO_DECISIONS}; say threshold=")
        return self.tally.confusion

    @property
    def weighted(self) -> bool:
        """Whether rows have sampling weights."""
        return self.tally.confusion.weighted

    @property
    def decided(self) -> bool:
        """Whether rows were decided on; without, they are only ranked by their scores."""
        return self.tally.decided

    @cached_property
    def curves(self) -> Curves:
        """ROC, precision-recall, FAR-DR, reliability, and any measure against the threshold."""
        return Curves(self._judge)

    @property
    def plot(self) -> Plots:
        """Figures by matplotlib: ``evaluation.plot.roc()``; needs the extra ``plot``."""
        return Plots(self)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What to know before believing the numbers, each with a code."""
        return findings_of(self)

    @cached_property
    def deployment(self) -> tuple[Reach, ...]:
        """What a tolerable false alarm rate asks for, at each base rate."""
        if self.positive is None or not self.decided:
            return ()
        reaches = (reach(self._judge, rate) for rate in self.base_rates or DEFAULT_BASE_RATES)
        return tuple(each for each in reaches if each is not None)

    @cached_property
    def low_rates(self) -> tuple[LowRate, ...]:
        """Where the detection rate at low false positive rates is read; none without scores."""
        return low_rates(self._judge)

    @cached_property
    def over_time(self) -> OverTime | None:
        """The course of each measure over the periods; None where no times were given."""
        if self.period is None or not self._periods:
            return None
        return OverTime(self._periods, self.period)

    @cached_property
    def alerts_per_day(self) -> AlertsPerDay | None:
        """How many alerts the days brought; None without times or one positive label.

        None too where only alerts were labelled: rows without a label are not counted by day.
        """
        unknown = self.positive is None or not self.decided or alerts_only(self)
        if not self.tally.days or unknown:
            return None
        return AlertsPerDay.of(self.tally.days)

    # -- other shapes ------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as the plain values of the contract, ready for JSON."""
        return self.snapshot().to_dict()

    def snapshot(self) -> Snapshot:
        """Everything that it has to say, computed: plain values without the tally."""
        return snapshot_of(self)

    @property
    def has_reliability(self) -> bool:
        """Whether scores are probabilities of one positive label, and known one by one."""
        return self._judge.reliability is not None

    def records(self) -> list[dict[str, Any]]:
        """All estimates as rows of a table: plain values, the slice in two columns."""
        return records_of(estimates_of(self), keeping(self.tally).name)

    def __repr__(self) -> str:
        return plain_text(self)


def _strata(
    tally: Resolved, column: str | None, method: Method | None, unlabelled: Unlabelled | None
) -> Strata | None:
    """The strata that rows were drawn by, from the slices of their column."""
    if column is None:
        if isinstance(method, GammaInterval):
            raise MethodError(
                f"{method.name} is for rows that were drawn by strata: say which column tells "
                f"them, strata=, and their weight="
            )
        return None
    if tally.clusters is not None:
        raise MethodError(
            "rows that were drawn by strata are judged one by one: leave cluster= out"
        )
    if unlabelled is not None:
        raise MethodError(
            "rows without a label beside rows drawn by strata have no part in the estimate: leave "
            "them out of the file"
        )
    _sliced(tally, column)
    tables = {value: table for (name, value), table in tally.slices.items() if name == column}
    return Strata.of_tables(tables, column)


def _must_be_redrawn(tally: Resolved) -> None:
    """Refuse what can't be resampled now, not when its first estimate is asked for."""
    tables = list(tally.slices.values())
    if tally.clusters is None or (tally.sample is not None and tally.sample.weighted):
        tables.append(tally.confusion)
    for table in tables:
        must_be_redrawn(table)


def _notes(tally: Resolved) -> list[str]:
    """What should be said of a tally as a whole."""
    notes = [
        f"the label {label!r} is called as an average is: the key precision.{label} means the "
        f"average over classes, and of_label({label!r}) gives what is of the label"
        for label in tally.labels
        if label in (*AVERAGES, DEFINED_ONLY)
    ]
    if tally.kind == "probability" and tally.positive is not None:
        notes.append("all scores lie in [0, 1], so they were read as probabilities")
    return notes if tally.scores is None else [*notes, mode_note(tally)]


def _drawn_rows(strata: Strata | None) -> list[str]:
    """How many rows were drawn, and from how many."""
    if strata is None:
        return []
    drawn, rows = strata.drawn.sum(), (strata.weights * strata.drawn).sum()
    return [
        (
            f"{whole(drawn)} {plural(drawn, 'row was', 'rows were')} drawn from {whole(rows)}, by "
            f"{len(strata.names)} {plural(len(strata.names), 'stratum', 'strata')}"
        )
    ]


def _volume(volume: Any) -> float | None:
    if volume is None:
        return None
    check_amount("a volume, the rows a day,", volume)
    return float(volume)


def _sliced(tally: Resolved, column: str | None, otherwise: str | None = None) -> str | None:
    """A sliced column that was named, which must be there; or one that may be there."""
    columns = {name for name, _ in tally.slices}
    if column is not None and not isinstance(column, str):
        raise InputError(
            f"family= is the name of a sliced column, as text; found {type(column).__name__}. Give "
            f"the column itself as slices={{'family': ...}}"
        )
    if column is not None and column not in columns:
        raise InputError(f"{column!r} is none of the sliced columns {sorted(columns)}")
    return column or (otherwise if otherwise in columns else None)


def _base_rates(base_rate: Any) -> tuple[float, ...] | None:
    if base_rate is None:
        return None
    many = not isinstance(base_rate, int | float | str) and hasattr(base_rate, "__iter__")
    rates = tuple(base_rate) if many else (base_rate,)
    for rate in rates:
        check_share("a base rate", rate)
    return tuple(float(rate) for rate in rates)


# -- as plain text ---------------------------------------------------------------------------------


def plain_text(evaluation: Evaluation) -> str:
    """The title, the confusion matrix and the main measures with their intervals."""
    warnings = [each.line for each in evaluation.findings if each.severity == "warning"]
    lines = [_title(evaluation), *warnings, ""]
    if _has_matrix(evaluation):
        lines += [*_matrix(evaluation), ""]
    shown = _shown_entries(evaluation)
    width = max(len(name) for name, _ in shown)
    for key, estimate in shown:
        lines.append(f"{key:<{width}}  {estimate.text()}{_remark(evaluation, key, estimate)}")
    level = exact_percent(evaluation.level)
    lines += ["", f"Intervals are at {level}; {len(evaluation)} estimates in all."]
    findings = [each.line for each in evaluation.findings if each.severity == "info"]
    return "\n".join(
        [*lines, *evaluation.notes, *bounds_note(evaluation, bits_of(evaluation.tally)), *findings]
    )


def _shown_entries(evaluation: Evaluation) -> list[tuple[str, Estimate]]:
    names = PRINTED.of(binary=evaluation.positive is not None)
    has_scores = evaluation.tally.scores is not None

    def is_there(key: str) -> bool:
        of_scores = find(key.partition(".")[0]).of_scores is not None
        return has_scores if of_scores else evaluation.decided

    return list(evaluation.listed(filter(is_there, names)))


def _has_matrix(evaluation: Evaluation) -> bool:
    return evaluation.decided and len(evaluation.labels) <= _WIDEST_MATRIX


def _count(number: float) -> str:
    """A count, or a sum of weights."""
    return f"{number:,}" if isinstance(number, int) else grouped(number, 6)


def _title(evaluation: Evaluation) -> str:
    confusion = evaluation.tally.confusion
    rows = confusion.total
    weighted = " weighted" if confusion.weighted else ""
    counted = f"{_count(rows)}{weighted} {plural(rows, 'row', 'rows')}"
    if evaluation.positive is None:
        return f"Evaluation of {counted} in {len(evaluation.labels)} classes"
    negative, positive = evaluation.labels
    of_negative, of_positive = confusion.rows
    at_threshold = ""
    if evaluation.tally.threshold is not None:
        at_threshold = f", flagged at {threshold_text(evaluation.tally.threshold)} and above"
    return (
        f"Evaluation of {counted}: {_count(of_positive)} positive ({positive}), "
        f"{_count(of_negative)} negative ({negative}){at_threshold}"
    )


def _remark(evaluation: Evaluation, key: str, estimate: Estimate) -> str:
    words = reading(evaluation, find(key.partition(".")[0]), estimate)
    return f"  ({words})" if words else ""


def _matrix(evaluation: Evaluation) -> list[str]:
    labels = evaluation.labels
    cells = [[_count(cell) for cell in row] for row in evaluation.confusion.cells]
    heads = [f"-> {label}" for label in labels]
    first = max(len(label) for label in labels)
    widths = [max(len(heads[j]), *(len(row[j]) for row in cells)) for j in range(len(labels))]
    lines = ["  ".join([" " * first, *(f"{h:>{w}}" for h, w in zip(heads, widths, strict=True))])]
    for label, row in zip(labels, cells, strict=True):
        body = (f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True))
        lines.append("  ".join([f"{label:<{first}}", *body]))
    return lines


# -- mistakes of rows that are not evaluated by themselves -----------------------------------------


def likely_mistakes(
    tally: Resolved, *, column: str | None = None, threshold_given: bool = False
) -> tuple[Finding, ...]:
    """The findings of a tally that are likely mistakes; ``column`` holds its scores."""
    chosen = {} if column is None else {"chosen": {"score": column}}
    findings = findings_of(Evaluation(tally, source={"name": "", **chosen}), mistakes=True)
    if threshold_given and tally.decided:
        return findings
    return tuple(finding for finding in findings if finding.code not in _OF_THRESHOLDS)


def mistakes_of_models(
    tallies: Mapping[str, Resolved],
    *,
    columns: Mapping[str, str] | None = None,
    threshold_given: bool = False,
) -> tuple[Finding, ...]:
    """The same of several models; each is told with the name of its model."""
    findings = []
    for model, tally in tallies.items():
        column = (columns or {}).get(model)
        for each in likely_mistakes(tally, column=column, threshold_given=threshold_given):
            message = f"{name(model)}: {each.message}"
            findings.append(replace(each, message=message, title=f"{each.title} ({name(model)})"))
    return urgent_first(findings)
