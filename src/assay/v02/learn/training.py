"""Train a recipe by a validation scheme: every judged row by a model that did not learn from it.

What was said of the judged rows becomes evaluations: of all of them, and fold by fold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from assay.v02 import engines
from assay.errors import InputError
from assay.v02.evaluation import Evaluation, Judge
from assay.v02.evaluation.deployment import PER_DAY
from assay.v02.evaluation.entries import Entry
from assay.v02.inference import Estimate
from assay.v02.inference.paired_tests import corrected_mean
from assay.v02.inference.significance import check_learning_seed, check_level
from assay.v02.inference.threshold_rules import MaxFar
from assay.v02.learn.data import Data, labelled_like
from assay.v02.learn.encoding import ColumnEncoder
from assay.v02.learn.explanation import importance_of
from assay.v02.learn.findings import run_findings
from assay.v02.learn.fitting import (
    Answers,
    Fitting,
    Positions,
    losses_of,
    one_thread_a_sum,
    rates_of,
    tolerated_by,
)
from assay.v02.learn.recipes import Recipe, Task, find_recipe
from assay.v02.learn.record import SD, Importance
from assay.v02.learn.run import Run, TrainedFold
from assay.v02.learn.validation import DEFAULT, Scheme, Split, parse_scheme, recoded
from assay.v02.measures import Measure, find
from assay.v02.measures.catalogue import LEARNED, parse
from assay.v02.sources import FAMILY, Coded
from assay.v02.sources.coded import Labels, NameColumn
from assay.v02.sources.columns import TEXT
from assay.v02.tally import Resolved

if TYPE_CHECKING:
    from assay.v02.learn.data import Data

# How many models are done, how many there will be, and what is done now.
Progress: TypeAlias = Callable[[int, int, str], None]

_SAMPLE = 2_000  # so many learned rows tell well enough how they are known


def train(
    recipe: str | Recipe,
    data: Data,
    *,
    validation: str | Scheme = DEFAULT,
    settings: Mapping[str, Any] | None = None,
    seed: int = 42,
    max_far: float | None = None,
    test: Data | None = None,
    base_rate: float | Sequence[float] | None = None,
    volume: float | None = None,
    level: float = 0.95,
    importance: bool = True,
    progress: Progress | None = None,
) -> Run:
    """Train a recipe, by its name or as it is, and judge it on rows that it did not learn from.

    A fresh model is fitted to each training part alone, encoders, scalers and the choice of a
    threshold included. ``validation`` says how rows are divided (see ``SCHEMES``); ``test`` holds
    the rows of an official split. With ``max_far`` the threshold is chosen inside each training
    part, or on the validation part of a three-way holdout, for that false alarm rate. The model to
    keep is that of the one training part; where there are several folds it learns from all rows,
    and what the folds showed stands for it. ``importance`` is measured on judged rows, of several
    folds with the model of the first. The same call gives the same numbers again, on any number of
    threads.
    """
    recipe = find_recipe(recipe) if isinstance(recipe, str) else recipe
    scheme = parse_scheme(validation) if isinstance(validation, str) else validation
    level, seed = check_level(level), check_learning_seed(seed)
    _must_make_sense(data, max_far)
    if test is not None:
        data, test = _alike_parts(data, test, scheme)
    bound = scheme.splitter(data, seed, test)
    splits = bound.splits()
    task = Task(data.labels, data.positive, data.text, seed, max_far)
    groups = bound.splitter.together(bound.rows)
    trainer = _Trainer(
        Fitting(recipe, recipe.complete(settings), task, data, max_far, groups),
        data if test is None else test,
        offset=len(data) if test is not None else 0,
    )
    several = len(splits) > 1
    total = len(splits) + several
    tell = progress or (lambda *_: None)
    tell(0, total, f"{splits[0].name} (1 of {len(splits)})" if several else "training")
    first = trainer.model(splits[0].train, splits[0].validation)
    folds, notes = [trainer.fold(splits[0], first, 0)], [first.note]
    for i, split in enumerate(splits[1:], 1):
        tell(i, total, f"{split.name} ({i + 1} of {len(splits)})")
        model = trainer.model(split.train)
        folds.append(trainer.fold(split, model, i))
        notes.append(model.note)
    kept, learned_from = first, "the training part"
    if several:
        tell(len(splits), total, "the model to keep")
        positions, learned_from = bound.splitter.lasting(bound.rows, splits)
        kept = trainer.model(positions)
        notes += [kept.note, _not_judged(learned_from, len(positions), len(splits))]
    tell(total, total, "judging")
    if max_far is None and data.positive is not None:
        max_far = tolerated_by(kept.pipeline)
    options = {"base_rate": base_rate, "volume": volume, "level": level}
    run = Run(
        recipe=recipe,
        settings=trainer.fitting.settings,
        scheme=scheme.text,
        seed=seed,
        max_far=max_far,
        data=data,
        test=test,
        model=kept.pipeline,
        learned_from=learned_from,
        threshold=kept.threshold,
        folds=tuple(folds),
        notes=tuple(dict.fromkeys(note for note in notes if note is not None)),
        held_back=trainer.held_back(splits[0], kept, options),
        **_judged_folds(trainer.judged, folds, groups, options),
    )
    if importance:
        tell(total, total, "what the model relies on")
        run = replace(run, importance=_importance(run, first, level))
    return replace(run, findings=run_findings(run))


@dataclass(frozen=True, eq=False)
class _Model:
    """A fitted pipeline, where it flags rows, and what has to be said about that."""

    pipeline: Any
    threshold: float | None
    note: str | None


@dataclass(frozen=True, eq=False)
class _Trainer:
    """Fits models to rows of one table and judges them on rows of it, or of another.

    ``offset`` is how many rows come before the judged table in the positions of a split.
    """

    fitting: Fitting
    judged: Data
    offset: int

    def model(self, positions: Positions, validation: Positions | None = None) -> _Model:
        """A model fitted to some rows, with its threshold."""
        pipeline = self.fitting.model(positions)
        chosen = self.fitting.threshold(pipeline, positions, validation)
        return _Model(pipeline, *chosen)

    def said(self, model: _Model, data: Data, positions: Positions) -> Answers:
        """What a model says of some rows."""
        return self.fitting.said(model.pipeline, data, positions, model.threshold)

    def fold(self, split: Split, model: _Model, number: int) -> TrainedFold:
        """What a model is worth on the rows of a split that it did not learn."""
        test = split.test - self.offset
        data, known = self.fitting.data, split.train
        if len(known) > _SAMPLE:
            draw = np.random.default_rng([self.fitting.task.seed, number])
            known = np.sort(draw.choice(known, _SAMPLE, replace=False))
        return TrainedFold(
            name=split.name,
            repeat=split.repeat,
            train=split.train,
            test=test,
            said=self.said(model, self.judged, test),
            counts=split.counts(),
            learned=learned_values(data, known, self.said(model, data, known)),
            not_learned=split.not_learned(),
            losses=losses_of(model.pipeline),
            rates=rates_of(model.pipeline),
            not_chosen=model.note is not None,
        )

    def held_back(
        self, split: Split, model: _Model, options: Mapping[str, Any]
    ) -> Evaluation | None:
        """The evaluation of a validation part, where there is one."""
        if split.validation is None:
            return None
        said = self.said(model, self.judged, split.validation)
        return evaluation_of(self.judged, split.validation, said, **options)


def _judged_folds(
    data: Data, folds: Sequence[TrainedFold], groups: NameColumn | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What the folds say together, and each by itself."""
    repeats = []
    for repeat in range(1, folds[-1].repeat + 1):
        judged, said, fold_of = joined_folds([fold for fold in folds if fold.repeat == repeat])
        evaluation = evaluation_of(data, judged, said, groups=groups, **options)
        repeats.append((judged, said, fold_of, evaluation))
    judged, said, fold_of, evaluation = repeats[0]
    per_fold = values_by_fold(data, folds, evaluation)
    return {
        "judged": judged,
        "said": said,
        "fold_of": fold_of,
        "evaluation": evaluation,
        "repeats": tuple(each[-1] for each in repeats),
        "per_fold": per_fold,
        "over_folds": over_folds(per_fold, folds, evaluation.level),
        "unjudged": len(data.truth) - len(judged),
    }


def _importance(run: Run, first: _Model, level: float) -> Importance:
    """What the model relies on: measured on rows of a fold, with the model that judged them."""
    model, rows = first.pipeline, run.folds[0].test
    # Words have their weights in the model itself, and need no rows.
    if not isinstance(run.model[0], ColumnEncoder):
        model = run.model
    data = run.judged_data
    with one_thread_a_sum():
        importance = importance_of(
            model, data.frame[rows], data.truth[rows], data.labels, level=level, seed=run.seed
        )
    if len(run.folds) == 1 or not importance.rows:
        return importance
    which = f"It is that of the model that judged {run.folds[0].name}, on rows of that fold."
    return replace(importance, notes=(*importance.notes, which))


def _not_judged(learned_from: str, rows: int, folds: int) -> str:
    return (
        f"the model to keep learned from {learned_from} ({rows:,}). It was not judged itself: the "
        f"models of the {folds} folds were, and stand for it"
    )


def _must_make_sense(data: Data, max_far: float | None) -> None:
    there = np.unique(data.truth)
    if len(there) < 2:
        only = f"class {data.labels[there[0]]!r}" if len(there) else "no rows"
        raise InputError(
            f"{data.name} holds {only} alone, and a model learns to tell classes apart: give it "
            f"rows of two classes at least"
        )
    if max_far is None:
        return
    if data.positive is None:
        raise InputError(
            f"a tolerated false alarm rate is for one positive class; {data.name} has "
            f"{len(data.labels)} classes. Say which label is positive, or which is negative"
        )
    MaxFar(max_far)


def _alike_parts(data: Data, test: Data, scheme: Scheme) -> tuple[Data, Data]:
    """Both parts of an official split, with the columns and classes that are learned."""
    if scheme.test is None:
        raise InputError(f"test= is for an official split; {scheme.text!r} divides the rows itself")
    absent = [column for column in data.frame.columns if column not in test.frame.columns]
    if absent:
        raise InputError(
            f"{test.name} has no column {absent[0]!r}, which {data.name} has. Drop it, or add it"
        )
    if None not in (data.time_zoned, test.time_zoned) and data.time_zoned != test.time_zoned:
        raise InputError(
            f"the times of {data.name if data.time_zoned else test.name} have a zone and those of "
            f"{test.name if data.time_zoned else data.name} have none, so which came first is not "
            f"sure. Give all of them a zone, or none"
        )
    truth = recoded(data, test)
    there = [test.labels[code] for code in np.unique(test.truth)]
    labelling = labelled_like(data, there, test.name)
    named: dict[str, Any] = {"labels": labelling.labels, "positive": labelling.positive}
    frame = test.frame.select(data.frame.columns)
    return replace(data, **named), replace(test, frame=frame, truth=truth, **named)


# -- what was said, as evaluations -----------------------------------------------------------------

_CORRECTED = "nadeau_bengio"
_MOST_CELLS = 30_000_000  # of one confusion matrix a group


def joined_folds(folds: Sequence[TrainedFold]) -> tuple[Positions, Answers, Positions]:
    """The rows that some folds judged, in order, what was said of them, and in which fold."""
    judged = np.concatenate([fold.test for fold in folds])
    order = np.argsort(judged, kind="stable")
    thresholds = {fold.said.threshold for fold in folds}
    said = Answers(
        np.concatenate([fold.said.scores for fold in folds])[order],
        np.concatenate([fold.said.decisions for fold in folds])[order],
        thresholds.pop() if len(thresholds) == 1 else None,
    )
    fold_of = np.repeat(np.arange(len(folds)), [len(fold.test) for fold in folds])
    return judged[order], said, fold_of[order]


def evaluation_of(
    data: Data,
    positions: Positions,
    said: Answers,
    *,
    groups: NameColumn | None = None,
    **options: Any,
) -> Evaluation:
    """The evaluation of what was said of some rows of a table.

    Rows of one group are not independent, so intervals take the groups as clusters.
    """
    more: dict[str, Any] = {}
    if data.family is not None and data.positive is not None:
        more["slices"] = {FAMILY: _names_at(data.family, positions)}
    notes = []
    if groups is not None and len(groups.names) * len(data.labels) ** 2 <= _MOST_CELLS:
        more["clusters"] = _names_at(groups, positions)
    elif groups is not None:
        notes.append(
            f"intervals take rows as independent, which those of one group are not: "
            f"{len(groups.names):,} groups of {len(data.labels)} classes are too many to count "
            f"one by one"
        )
    source = {"name": data.name, "rows_read": len(positions)}
    tally = _tally(data, positions, said, **more)
    return Evaluation(tally, source=source, notes=notes, **options)


def _names_at(names: NameColumn, positions: Positions) -> NameColumn:
    return NameColumn(names.codes[positions], names.names)


def _tally(data: Data, positions: Positions, said: Answers, **more: Any) -> Resolved:
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
    data: Data, folds: Sequence[TrainedFold], evaluation: Evaluation
) -> dict[str, tuple[float, ...]]:
    """The value of each measure in each fold, by its name in the evaluation of all of them.

    nan where it is undefined there. Of more than two classes those of all classes together, and
    averages: of each class by itself a fold has too few rows.
    """
    judges = [Judge(_tally(data, fold.test, fold.said)) for fold in folds]
    values_by_name: dict[str, tuple[float, ...]] = {}
    for entry in evaluation.entries:
        several = data.positive is None and entry.label is not None
        if several or entry.slice is not None or entry.base_rate is not None:
            continue
        if entry.measure not in PER_DAY:
            values = (_value(judge, entry) for judge in judges)
            values_by_name[_key(entry, data.positive)] = tuple(map(float, values))
    return values_by_name


def _value(judge: Judge, entry: Entry) -> Estimate:
    measure = find(entry.measure)
    if entry.average is not None:
        averaged = judge.averaged if measure.of_scores is None else judge.averaged_scores
        return averaged(measure, entry.average)
    return _estimate_of(judge, measure, int(entry.label in (None, judge.tally.positive)))


def _estimate_of(judge: Judge, measure: Measure, label: int = 1) -> Estimate:
    """A measure of two classes, or of all together."""
    if measure.of_scores is not None:
        return judge.scored(measure)
    return judge.of_label(measure, label) if judge.binary else judge.of_classes(measure)


def _key(entry: Entry, positive: str | None) -> str:
    suffix = entry.average or (entry.label if entry.label != positive else None)
    return entry.measure if suffix is None else f"{entry.measure}.{suffix}"


def over_folds(
    per_fold: Mapping[str, tuple[float, ...]], folds: Sequence[TrainedFold], level: float
) -> dict[str, Estimate]:
    """The mean of each measure over the folds, with Nadeau and Bengio's corrected interval.

    The standard deviation (of folds as a sample, so divided by one less than there are) is among
    the parts.
    """
    if len(folds) < 2:
        return {}
    return {name: _mean(name, values, folds, level) for name, values in per_fold.items()}


def _mean(
    name: str, values: tuple[float, ...], folds: Sequence[TrainedFold], level: float
) -> Estimate:
    pairs = zip(folds, values, strict=True)
    absent = [fold.name for fold, value in pairs if not math.isfinite(value)]
    if absent:
        why = f"it has no value in {len(absent)} of {len(folds)} folds, such as {absent[0]}"
        return Estimate(math.nan, n=len(folds), level=level, undefined=why)
    mean = corrected_mean(
        values,
        n_train=float(np.mean([len(fold.train) for fold in folds])),
        n_test=float(np.mean([len(fold.test) for fold in folds])),
        level=level,
    )
    low, high = parse(name)[0].range
    varies = not math.isnan(mean.low)
    return mean.changed(
        # A mean can't lie outside the range of the measure, whatever the t distribution says.
        low=max(mean.low, low) if varies else math.nan,
        high=min(mean.high, high) if varies else math.nan,
        method=_CORRECTED if varies else "",
        note=None if varies else "no interval: all folds have the same value",
        parts={SD: float(np.std(values, ddof=1))},
    )


def learned_values(data: Data, positions: Positions, said: Answers) -> dict[str, float]:
    """Measures of a model on the rows that it learned from."""
    judge = Judge(_tally(data, positions, said))
    return {
        name: float(_estimate_of(judge, find(name))) for name in LEARNED.of(binary=judge.binary)
    }
