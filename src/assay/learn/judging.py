"""What was said of judged rows, as evaluations: of all of them, and fold by fold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay import engines
from assay.evaluation import Evaluation, Judge
from assay.evaluation.deployment import PER_DAY
from assay.evaluation.entries import Entry
from assay.inference import Estimate, nadeau_bengio
from assay.learn.record import SD
from assay.learn.run import Fold, Positions, Said
from assay.measures import Measure, find
from assay.measures.catalogue import parse
from assay.measures.shown import LEARNED
from assay.sources import FAMILY, Coded, Named
from assay.sources.coded import Labels
from assay.sources.columns import TEXT
from assay.tally import Resolved

if TYPE_CHECKING:
    from assay.learn.data import Data

_CORRECTED = "nadeau_bengio"
_MOST_CELLS = 30_000_000  # of one confusion matrix a group


def together(folds: Sequence[Fold]) -> tuple[Positions, Said, Positions]:
    """The rows that some folds judged, in order, what was said of them, and in which fold."""
    judged = np.concatenate([fold.test for fold in folds])
    order = np.argsort(judged, kind="stable")
    thresholds = {fold.said.threshold for fold in folds}
    said = Said(
        np.concatenate([fold.said.scores for fold in folds])[order],
        np.concatenate([fold.said.decisions for fold in folds])[order],
        thresholds.pop() if len(thresholds) == 1 else None,
    )
    fold_of = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in folds])
    return judged[order], said, fold_of[order]


def evaluation_of(
    data: Data,
    positions: Positions,
    said: Said,
    *,
    groups: Named | None = None,
    **options: Any,
) -> Evaluation:
    """The evaluation of what was said of some rows of a table.

    Rows of one group are not independent, so intervals take the groups as clusters.
    """
    more: dict[str, Any] = {}
    if data.family is not None and data.positive is not None:
        more["slices"] = {FAMILY: _some(data.family, positions)}
    notes = []
    if groups is not None and len(groups.names) * len(data.labels) ** 2 <= _MOST_CELLS:
        more["clusters"] = _some(groups, positions)
    elif groups is not None:
        notes.append(
            f"intervals take rows as independent, which those of one group are not: "
            f"{len(groups.names):,} groups of {len(data.labels)} classes are too many to count "
            f"one by one"
        )
    source = {"name": data.name, "rows_read": len(positions)}
    tally = _tally(data, positions, said, **more)
    return Evaluation(tally, source=source, notes=notes, **options)


def _some(names: Named, positions: Positions) -> Named:
    return Named(names.codes[positions], names.names)


def _tally(data: Data, positions: Positions, said: Said, **more: Any) -> Resolved:
    def labels(codes: Positions) -> Labels:
        return Labels(codes, data.labels, TEXT).used()

    rows, threshold = Coded(labels(data.truth[positions]), rows=len(positions), **more), None
    if data.positive is None:
        rows = replace(rows, probabilities=said.scores, columns=data.labels)
    else:
        rows, threshold = replace(rows, score=said.scores), said.threshold
        # Folds that chose thresholds of their own leave decisions, and no one threshold.
        if threshold is None:
            rows = replace(rows, decision=labels(said.decisions))
    tally = engines.count_coded(rows, engines.Ask(threshold=threshold))
    return engines.resolve(tally, positive=data.positive, labels=data.labels)[0]


def values_by_fold(
    data: Data, folds: Sequence[Fold], evaluation: Evaluation
) -> dict[str, tuple[float, ...]]:
    """The value of each measure in each fold, by its name in the evaluation of all of them.

    nan where it is undefined there. Of more than two classes those of all classes together, and
    averages: of each class by itself a fold has too few rows.
    """
    judges = [Judge(_tally(data, fold.test, fold.said)) for fold in folds]
    found: dict[str, tuple[float, ...]] = {}
    for entry in evaluation.entries:
        several = data.positive is None and entry.label is not None
        if several or entry.slice is not None or entry.base_rate is not None:
            continue
        if entry.measure not in PER_DAY:
            values = (_value(judge, entry) for judge in judges)
            found[_key(entry, data.positive)] = tuple(map(float, values))
    return found


def _value(judge: Judge, entry: Entry) -> Estimate:
    measure = find(entry.measure)
    if entry.average is not None:
        averaged = judge.averaged if measure.of_scores is None else judge.averaged_scores
        return averaged(measure, entry.average)
    return _whole(judge, measure, int(entry.label in (None, judge.tally.positive)))


def _whole(judge: Judge, measure: Measure, label: int = 1) -> Estimate:
    """A measure of two classes, or of all together."""
    if measure.of_scores is not None:
        return judge.scored(measure)
    return judge.of_label(measure, label) if judge.binary else judge.of_classes(measure)


def _key(entry: Entry, positive: str | None) -> str:
    suffix = entry.average or (entry.label if entry.label != positive else None)
    return entry.measure if suffix is None else f"{entry.measure}.{suffix}"


def over_folds(
    per_fold: Mapping[str, tuple[float, ...]], folds: Sequence[Fold], level: float
) -> dict[str, Estimate]:
    """The mean of each measure over the folds, with Nadeau and Bengio's corrected interval.

    The standard deviation (of folds as a sample, so divided by one less than there are) is among
    the parts.
    """
    if len(folds) < 2:
        return {}
    return {name: _mean(name, values, folds, level) for name, values in per_fold.items()}


def _mean(name: str, values: tuple[float, ...], folds: Sequence[Fold], level: float) -> Estimate:
    found = zip(folds, values, strict=True)
    absent = [fold.name for fold, value in found if not math.isfinite(value)]
    if absent:
        why = f"it has no value in {len(absent)} of {len(folds)} folds, such as {absent[0]}"
        return Estimate(math.nan, n=len(folds), level=level, undefined=why)
    effect = nadeau_bengio(
        [0.0] * len(values),
        values,
        n_train=float(np.mean([len(fold.train) for fold in folds])),
        n_test=float(np.mean([len(fold.test) for fold in folds])),
        level=level,
    ).effect
    assert effect is not None  # noqa: S101 - a t test has one
    low, high = parse(name)[0].range
    varies = not math.isnan(effect.low)
    return effect.changed(
        # A mean can't lie outside the range of the measure, whatever the t distribution says.
        low=max(effect.low, low) if varies else math.nan,
        high=min(effect.high, high) if varies else math.nan,
        method=_CORRECTED if varies else "",
        note=None if varies else "no interval: all folds have the same value",
        parts={SD: float(np.std(values, ddof=1))},
    )


def learned_values(data: Data, positions: Positions, said: Said) -> dict[str, float]:
    """Measures of a model on the rows that it learned from."""
    judge = Judge(_tally(data, positions, said))
    return {name: float(_whole(judge, find(name))) for name in LEARNED.of(binary=judge.binary)}
