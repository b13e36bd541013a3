"""Rows, counted as the mathematics takes them, and the estimate of any measure of them.

This is the whole way from a row to a number by the new packages, without a reader: `counted` takes
positions and names, a key such as ``f1.macro`` or ``recall.ddos`` gives the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from assay.counts import Confusion, LossSums, Sample, ScoreCounts
from assay.formula import at_base_rate, of_classes
from assay.inference import Bootstrap, DeLong, Estimate, Method, Newcombe, Quantity, estimate
from assay.inference.bootstrap import row_interval, score_interval
from assay.inference.score_intervals import averaged_interval, mean_interval, ranked_interval
from assay.measures import (
    AVERAGES,
    Binned,
    ClassAverage,
    Costs,
    Interval,
    MeanLoss,
    Measure,
    OpenSet,
    OverPairs,
    Ranked,
    catalogue,
    rank,
    reliability,
)

# An average over the classes that have a value.
DEFINED_ONLY = "macro_defined"
NONE = (math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class Counted:
    """The counts of some rows; of two labels the last is the positive.

    ``scores`` holds one table of two labels, else one a label; ``opened`` rows of an open set.
    """

    labels: tuple[str, ...]
    confusion: Confusion
    scores: tuple[ScoreCounts, ...] = ()
    losses: LossSums | None = None
    sample: Sample | None = None
    opened: Sample | None = None
    level: float = 0.95
    method: Method | None = None
    costs: Costs | None = None

    def at(self, level: float = 0.95, method: Method | None = None) -> Counted:
        """The same counts, with intervals of another level or method."""
        return replace(self, level=level, method=method)

    def __getitem__(self, key: str) -> Estimate:
        return self.of(*catalogue.parse(key))

    def of(
        self, measure: Measure, how: str | None = None, base_rate: float | None = None
    ) -> Estimate:
        """One measure: of the positive or of all classes, of the label ``how``, or averaged so."""
        match measure.of_scores:
            case None:
                return self._of_decisions(measure, how, base_rate)
            case Ranked() as declared:
                if base_rate is not None:
                    declared = declared.at_base_rate(base_rate)
                if how in (*AVERAGES, DEFINED_ONLY):
                    return self._averaged(declared, measure, how)
                label = 1 if how is None else self.labels.index(how)
                return self._ranked(declared, measure, self.against_rest(label))
            case MeanLoss() as declared:
                return self._lost(declared)
            case Binned() as declared:
                table = reliability(self.scores[0])
                note = "no interval: a bootstrap of it does not cover"
                parts = {"if_calibrated": declared.if_calibrated(table)}
                value = declared.value(table)
                rows = self.scores[0].rows
                return Estimate(value, n=rows, level=self.level, note=note, parts=parts)
            case OverPairs() as declared:
                value = declared.value(self.scores)
                if math.isnan(value):
                    return self._undefined("a class has no rows")
                return self._by_rows(declared, declared.parts(self.scores), value, measure)
            case OpenSet() as declared:
                assert self.opened is not None
                table = declared.binary(self.opened).score_counts(0)
                return self._ranked(declared.ranked, measure, table)

    def value(self, key: str) -> float:
        """The value alone."""
        return self[key].value

    def against_rest(self, label: int) -> ScoreCounts:
        """The scores of one label against the rest."""
        if len(self.scores) == 1:
            return self.scores[0]
        return self.scores[label].one_versus_rest(label)

    # -- decisions ---------------------------------------------------------------------------------

    def quantity(self, measure: Measure, how: str | None = None) -> Quantity | None:
        """What a count measure is read on; None where no class counts."""
        if self.costs is not None:
            measure = measure.priced(self.costs)
        if how is None and len(self.labels) > 2:
            assert measure.classes is not None, f"{measure.name} is of one label"
            return Quantity(measure.classes)
        if how not in (*AVERAGES, DEFINED_ONLY):
            return Quantity(measure.of_counts, 1 if how is None else self.labels.index(how))
        classes = None
        if how == "weighted":
            # A class without rows has no weight, so it does not matter that it has no value.
            classes = tuple(i for i, rows in enumerate(self.confusion.rows) if rows)
        elif how == DEFINED_ONLY:
            each = [Quantity(measure.of_counts, i) for i in range(len(self.labels))]
            values = [one.value(self.confusion) for one in each]
            classes = tuple(i for i, one in enumerate(values) if not math.isnan(one))
            how = "macro"
            if not classes:
                return None
        if classes is not None and len(classes) == 1:
            return Quantity(measure.of_counts, classes[0])
        return Quantity(of_classes(measure.of_counts, how), classes=classes)

    def _of_decisions(self, measure: Measure, how: str | None, base_rate: float | None) -> Estimate:
        if self.costs is not None:
            measure = measure.priced(self.costs)
        default, quantity = measure.interval, self.quantity(measure, how)
        if quantity is None:
            return self._undefined("no class has a value")
        if base_rate is not None:
            # At another base rate it is no share of rows any more.
            default = default if default is Interval.TOUCHING else Interval.BY_SHAPE
            share = Fraction(repr(float(base_rate)))
            quantity = Quantity(at_base_rate(measure.of_counts, share), label=1)
        options = {"level": self.level, "method": self.method, "default": default}
        return estimate(quantity, self.confusion, measure.range, **options)

    # -- scores ------------------------------------------------------------------------------------

    def _ranked(self, declared: Ranked, measure: Measure, table: ScoreCounts) -> Estimate:
        negatives, positives = table.effective()
        why, ranking = declared.missing(positives, negatives), rank(table)
        if why is not None:
            return self._undefined(why)
        smooth, bounds = declared.of(ranking), declared.between or measure.range
        if math.isnan(smooth.value):
            return self._undefined(declared.undefined)
        note = None
        if isinstance(self.method, Bootstrap):
            drawn = score_interval(table, declared.value, self.method)
            ends, name, note = (drawn.low, drawn.high), self.method.name, drawn.note
        elif declared.interval is Interval.AUC and isinstance(self.method, DeLong | Newcombe):
            ends, name = self.method(smooth, positives, negatives), self.method.name
        else:
            sizes = positives, negatives
            ends, name = ranked_interval(declared, smooth, sizes, bounds, self.level, ranking)
            if math.isnan(ends[0]):
                name, note = "", "no interval: no row is ranked wrong"
        return self._estimate(smooth.value, ends, name, table.rows, note)

    def _averaged(self, declared: Ranked, measure: Measure, how: str) -> Estimate:
        rankings = tuple(rank(self.against_rest(i)) for i in range(len(self.labels)))
        values = [declared.of(ranking).value for ranking in rankings]
        classes = tuple(
            i
            for i, value in enumerate(values)
            if how == "macro"
            or (rankings[i].positives if how == "weighted" else not math.isnan(value))
        )
        if not classes or any(math.isnan(values[i]) for i in classes):
            return self._undefined("a class has no value")
        average = ClassAverage(declared, weighted=how == "weighted", classes=classes)
        parts = average.parts(rankings)
        value = math.fsum(part.weight * part.smooth.value for part in parts)
        return self._by_rows(average, parts, value, measure)

    def _by_rows(
        self, declared: ClassAverage | OverPairs, parts: Any, value: float, measure: Measure
    ) -> Estimate:
        sample, n = self.sample, self.scores[0].rows
        assert sample is not None
        if isinstance(self.method, Bootstrap):
            drawn = row_interval(
                sample,
                lambda counts: declared.resampled(sample, 0, counts),
                declared.moves(sample, 0)[1],
                self.method,
            )
            return self._estimate(value, (drawn.low, drawn.high), self.method.name, n, drawn.note)
        ends = averaged_interval(sample, declared, parts, measure.range, self.level)
        return self._estimate(value, ends, "delta", n)

    def _lost(self, declared: MeanLoss) -> Estimate:
        if declared.sums is None:
            moments = declared.moments(self.scores[0])
        else:
            assert self.losses is not None
            moments = declared.sums(self.losses)
        note = None
        if declared.clipped is not None and self.losses is not None:
            clipped = declared.clipped(self.losses)
            note = f"{clipped} rows were clipped at 2^-52" if clipped else None
        ends = mean_interval(moments, declared.largest, self.level)
        beside = {} if declared.beside is None else declared.beside(self.confusion)
        of_rows = self._estimate(moments.mean, ends, "delta", self.scores[0].rows, note)
        return of_rows.changed(parts=beside)

    def _undefined(self, why: str) -> Estimate:
        return Estimate(math.nan, level=self.level, undefined=why)

    def _estimate(
        self,
        value: float,
        ends: tuple[float, float],
        name: str,
        n: float,
        note: str | None = None,
    ) -> Estimate:
        low, high = min(ends[0], value), max(ends[1], value)
        return Estimate(value, low, high, method=name, n=n, level=self.level, note=note)


def counted(
    labels: Sequence[str],
    truth: Any,
    decision: Any = None,
    scores: Any = None,
    *,
    counts: Any = None,
    weights: Any = None,
    threshold: float = 0.5,
    costs: Costs | None = None,
    unknown: bool = False,
) -> Counted:
    """Count rows; truth and decision are positions in ``labels``.

    ``scores`` is a column for the last of two labels, or a table with a column a label. Without
    decisions those at the threshold are taken, or those of the largest probability. Where there
    are ``unknown`` rows, their truth is the position after the last label.
    """
    labels, truth = tuple(labels), np.asarray(truth, np.intp)
    said = None if scores is None else np.asarray(scores)
    if decision is None:
        assert said is not None
        decision = said >= threshold if said.ndim == 1 else said.argmax(axis=1)
    decision = np.asarray(decision, np.intp)
    amounts = {
        "counts": None if counts is None else np.asarray(counts),
        "weights": None if weights is None else np.asarray(weights, np.float64),
    }
    opened = None
    if unknown:
        assert said is not None
        known = truth < len(labels)
        kind = np.where(known, 1 + (decision == truth), 0)
        best = {"model": said.max(axis=1)}
        opened = Sample.of_rows(("unknown", "wrong", "right"), kind, best, **amounts)
        amounts = {n: None if each is None else each[known] for n, each in amounts.items()}
        truth, decision, said = truth[known], decision[known], said[known]
    confusion = Confusion.of_rows(labels, truth, decision, **amounts)
    if said is None:
        return Counted(labels, confusion, costs=costs)
    columns = [said] if said.ndim == 1 else list(said.T)
    tables = tuple(ScoreCounts.of_rows(labels, column, truth, **amounts) for column in columns)
    proper = len(said) > 0 and said.min() >= 0 and said.max() <= 1
    losses = LossSums.of_rows(truth, said, **amounts) if proper else None
    sample = Sample.of_rows(labels, truth, {"model": said}, **amounts)
    return Counted(labels, confusion, tables, losses, sample, opened, costs=costs)


def of_matrix(
    cells: Sequence[Sequence[int]],
    labels: Sequence[str] = (),
    positive: str | None = None,
    **options: Any,
) -> Counted:
    """A matrix that was counted already; its positive label is put last."""
    labels = tuple(labels) or tuple(map(str, range(len(cells))))
    order = sorted(range(len(labels)), key=lambda i: labels[i] == positive)
    table = tuple(tuple(cells[i][j] for j in order) for i in order)
    named = tuple(labels[i] for i in order)
    return Counted(named, Confusion(named, table), **options)


def of_cells(tp: int, fp: int, fn: int, tn: int, **options: Any) -> Counted:
    """The four cells of a positive and a negative label."""
    return of_matrix(((tn, fp), (fn, tp)), ("negative", "positive"), **options)


def of_names(truth: Sequence[Any], decision: Sequence[Any], **amounts: Any) -> Counted:
    """Rows by the names of their labels, which are sorted."""
    labels = sorted({*truth, *decision})
    at = {label: i for i, label in enumerate(labels)}
    rows = ([at[label] for label in side] for side in (truth, decision))
    return counted(tuple(map(str, labels)), *rows, **amounts)
