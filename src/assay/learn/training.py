"""Train a recipe by a validation scheme: every judged row by a model that did not learn from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from assay.errors import InputError
from assay.evaluation import Evaluation
from assay.inference.operating import MaxFar
from assay.inference.quantiles import check_level
from assay.learn.data import Data, labelled_like
from assay.learn.encoding import Columns
from assay.learn.explained import Importance
from assay.learn.findings import run_findings
from assay.learn.fitting import Fitting, losses_of, one_thread_a_sum, rates_of, tolerated_by
from assay.learn.importance import importance_of
from assay.learn.judging import (
    evaluation_of,
    learned_values,
    over_folds,
    together,
    values_by_fold,
)
from assay.learn.recipes import Recipe, Task, find_recipe
from assay.learn.run import Fold, Positions, Run, Said
from assay.learn.validation import DEFAULT, Scheme, Split, parse_scheme
from assay.learn.validation.scheme import recoded
from assay.sources.coded import Named

# How many models are done, how many there will be, and what is done now.
Progress: TypeAlias = Callable[[int, int, str], None]

_SAMPLE = 2_000  # so many learned rows tell well enough how they are known
SEEDS = 2**32  # as many as scikit-learn takes


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
    check_level(level)
    _must_make_sense(data, seed, max_far)
    if test is not None:
        data, test = _alike(data, test, scheme)
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
        **_judged(trainer.judged, folds, groups, options),
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

    def said(self, model: _Model, data: Data, positions: Positions) -> Said:
        """What a model says of some rows."""
        return self.fitting.said(model.pipeline, data, positions, model.threshold)

    def fold(self, split: Split, model: _Model, number: int) -> Fold:
        """What a model is worth on the rows of a split that it did not learn."""
        test = split.test - self.offset
        data, known = self.fitting.data, split.train
        if len(known) > _SAMPLE:
            draw = np.random.default_rng([self.fitting.task.seed, number])
            known = np.sort(draw.choice(known, _SAMPLE, replace=False))
        return Fold(
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


def _judged(
    data: Data, folds: Sequence[Fold], groups: Named | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What the folds say together, and each by itself."""
    repeats = []
    for repeat in range(1, folds[-1].repeat + 1):
        judged, said, fold_of = together([fold for fold in folds if fold.repeat == repeat])
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
    if not isinstance(run.model[0], Columns):
        model = run.model
    data = run.judged_data
    with one_thread_a_sum():
        found = importance_of(
            model, data.frame[rows], data.truth[rows], data.labels, level=level, seed=run.seed
        )
    if len(run.folds) == 1 or not found.rows:
        return found
    which = f"It is that of the model that judged {run.folds[0].name}, on rows of that fold."
    return replace(found, notes=(*found.notes, which))


def _not_judged(learned_from: str, rows: int, folds: int) -> str:
    return (
        f"the model to keep learned from {learned_from} ({rows:,}). It was not judged itself: the "
        f"models of the {folds} folds were, and stand for it"
    )


def _must_make_sense(data: Data, seed: int, max_far: float | None) -> None:
    if not 0 <= seed < SEEDS:
        raise InputError(f"a seed is a whole number from 0 to {SEEDS - 1}; found {seed!r}")
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


def _alike(data: Data, test: Data, scheme: Scheme) -> tuple[Data, Data]:
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
    found = labelled_like(data, there, test.name)
    named: dict[str, Any] = {"labels": found.labels, "positive": found.positive}
    frame = test.frame.select(data.frame.columns)
    return replace(data, **named), replace(test, frame=frame, truth=truth, **named)
