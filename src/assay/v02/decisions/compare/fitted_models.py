"""Compare models at hand: fitted ones on the same rows, or fits of them on the same folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assay.v02.decisions.compare.comparing import compare
from assay.v02.decisions.compare.comparison import Comparison
from assay.v02.decisions.compare.fold_comparison import compare_folds
from assay.v02.decisions.compare.fold_table import KEYS
from assay.v02.decisions.compare.verdicts import MARGIN
from assay.v02.engines.arrays import resolved_arrays
from assay.errors import InputError, UnknownMeasure
from assay.v02.evaluation.evaluate_model import (
    ModelOptions,
    RowFolds,
    folds_of,
    judged_rows,
    labels_in,
    must_be_as_many,
)
from assay.v02.evaluation.judge import Judge
from assay.v02.evaluation.responses import Response, joined
from assay.v02.evaluation.scikit_learn import estimate_of
from assay.v02.inference.threshold_rules import Rule
from assay.v02.measures import OverPairs, parse
from assay.v02.measures.catalogue import DIFFERENCES
from assay.v02.number_text import threshold_text
from assay.v02.sources import must_share_index
from assay.v02.sources.coded import Labels
from assay.v02.sources.labelling import resolve
from assay.v02.tally import Resolved

_COLUMNS = {"y_score": "scores", "y_proba": "probabilities", "y_pred": "decisions"}


def compare_models(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    positive: Any = None,
    negative: Any = None,
    groups: Any = None,
    measures: Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    logits: bool = False,
    response_method: str | None = None,
    threshold: float | Mapping[str, float] | None = None,
    at: Rule | str | None = None,
    families: Any = None,
    level: float = 0.95,
    margin: float = MARGIN,
    resamples: int | None = None,
    seed: int = 42,
) -> Comparison:
    """Compare models: fitted ones on rows that none of them learned from, or with ``cv`` on folds.

    ``models`` maps a name to a model of any kind that :func:`assay.evaluate_model` takes; ``cv``,
    ``groups``, ``classes``, ``logits`` and ``response_method`` are as there. Without ``cv`` the
    models say what they think of the same rows, and :func:`assay.compare` judges the differences
    row by row, with ``threshold``, ``at``, ``families``, ``resamples`` and ``seed`` as there;
    ``groups`` are clusters of rows.

    With ``cv`` a fresh copy of each model is fitted on each fold, the same folds for all, and
    :func:`assay.compare_folds` judges the differences fold by fold: Nadeau and Bengio's corrected
    test, which allows for training parts that overlap, decides. ``measures`` are those to compare,
    by default the main ones. What the fits said of the rows left out is kept for
    ``comparison.evaluation(name)`` and ``comparison.plot.roc()``.

    >>> rows, labels = [60, 1500, 1400, 80] * 9, ["normal", "attack", "attack", "normal"] * 9
    >>> size = lambda rows: [length / 2000 for length in rows]
    >>> turn = lambda rows: [(length % 70) / 70 for length in rows]
    >>> compare_models({"turn": turn, "size": size}, rows, labels).verdicts[0].text
    'size is better than turn: roc_auc is higher by 0.750 [0.582, 0.918].'
    """
    if not hasattr(models, "items") or len(models) < 2:
        raise InputError(
            "models are a mapping from name to model, two or more, such as {'old': a, 'new': b}"
        )
    given, models = models, {str(name): model for name, model in models.items()}
    if len(models) < len(given):
        raise InputError(f"two models have the same name as text: {list(given)}")
    must_share_index({"X": X, "y": y, "groups": groups, "families": families})
    y, truth = labels_in(y)
    must_be_as_many(X, len(truth.codes))
    asked = ModelOptions(response_method, classes, logits)
    sides = {"positive": positive, "negative": negative}
    if cv is None:
        if measures is not None:
            raise InputError("measures= are for folds: without cv= all measures are compared")
        responses = {name: asked.of(model, X, truth) for name, model in models.items()}
        as_decided = threshold is None and at is None
        columns, notes = _side_by_side(responses, truth, sides, as_decided=as_decided)
        if not as_decided:
            columns["threshold"] = threshold
            if isinstance(threshold, Mapping):
                columns["threshold"] = {str(name): each for name, each in threshold.items()}
        comparison = compare(
            truth,
            **columns,
            **sides,
            at=at,
            clusters=groups,
            families=families,
            level=level,
            margin=margin,
            resamples=resamples,
            seed=seed,
        )
        return replace(comparison, notes=(*notes, *comparison.notes))
    rows_only = {"threshold": threshold, "at": at, "families": families, "resamples": resamples}
    row_columns = [name for name, value in rows_only.items() if value is not None]
    if row_columns:
        raise InputError(
            f"{row_columns[0]}= is for rows that models share, not for folds: leave cv= out"
        )
    folds = folds_of(cv, X, y, groups)
    by_fold = {name: asked.by_fold(model, X, y, truth, folds) for name, model in models.items()}
    comparison = compare_folds(
        _table(by_fold, truth, folds, sides, measures), level=level, margin=margin
    )
    note = f"{folds.how}, the same for all models, each fitted anew on every fold"
    rows, shared = judged_rows(folds, truth, {"clusters": groups})
    tallies = {
        name: _resolved(joined(parts), rows, sides, shared) for name, parts in by_fold.items()
    }
    return replace(comparison, notes=(note, *comparison.notes), tallies=tallies)


# -- on the same rows ------------------------------------------------------------------------------


def _side_by_side(
    responses: Mapping[str, Response], truth: Labels, sides: Mapping[str, Any], *, as_decided: bool
) -> tuple[dict[str, Any], list[str]]:
    """What models said as columns of one kind: scores, else probabilities, else decisions.

    With ``as_decided``, scores are cut where a model's predict does, if any threshold decides so.
    """
    every = {name: response.columns(truth, **sides) for name, response in responses.items()}
    kind = "y_pred"
    for wanted in ("y_score", "y_proba"):
        if all(wanted in columns for columns, _ in every.values()):
            kind = wanted
    notes: list[str] = []
    for name, (columns, model_notes) in every.items():
        if kind == "y_pred":
            columns, model_notes = responses[name].decided_only(name).columns(truth, **sides)  # noqa: PLW2901
            every[name] = columns, model_notes
        alone = kind != "y_pred" and "y_pred" in columns
        # What is said of decisions that do not count here would mislead.
        notes += [f"{name}: {note}" for note in (model_notes[:-1] if alone else model_notes)]
        cut = (
            _lowest_flagged(columns, truth, sides)
            if alone and as_decided and kind == "y_score"
            else None
        )
        if cut is not None:
            columns["threshold"] = cut
            notes.append(
                f"{name}: predict flags the rows whose score is {threshold_text(cut)} and above"
            )
        elif alone:
            notes.append(f"{name}: compared by its {_COLUMNS[kind]}, not by what predict decides")
    labels = list(dict.fromkeys(x for columns, _ in every.values() for x in columns["labels"]))
    options: dict[str, Any] = {
        "labels": labels,
        _COLUMNS[kind]: {name: columns[kind] for name, (columns, _) in every.items()},
    }
    if kind == "y_score":
        options["threshold"] = {name: c.get("threshold") for name, (c, _) in every.items()}
    return options, notes


def _lowest_flagged(
    columns: Mapping[str, Any], truth: Labels, sides: Mapping[str, Any]
) -> float | None:
    """The lowest score that a model flags, or more than all where it flags none.

    None where a row that it does not flag has as much.
    """
    scores, decided = columns["y_score"], columns["y_pred"]
    position = resolve(truth, None, **sides, labels=columns["labels"]).position
    flags = np.array([position[text] == 1 for text in decided.names])[decided.codes]
    if not flags.any():
        return float(np.nextafter(np.float64(scores.max()), np.inf)) if len(scores) else None
    least = scores[flags].min()
    return float(least) if (flags == (scores >= least)).all() else None


# -- on the same folds -----------------------------------------------------------------------------


def _table(
    responses_of_models: Mapping[str, Sequence[Response]],
    truth: Labels,
    folds: RowFolds,
    sides: Mapping[str, Any],
    measures: Sequence[str] | None,
) -> dict[str, list[Any]]:
    """A row a model and fold, as a table of folds has it."""
    columns: dict[str, list[Any]] = {name: [] for name in KEYS}
    judges: list[Judge] = []
    for name, responses in responses_of_models.items():
        for fold, response in zip(folds.every, responses, strict=True):
            fold_truth = Labels(truth.codes[fold.test], truth.names, truth.kind)
            judges.append(Judge(_resolved(response, fold_truth, sides, {})))
            cells = (name, fold.repeat, fold.fold, len(fold.train), len(fold.test))
            for key, cell in zip(KEYS, cells, strict=True):
                columns[key].append(cell)
    names = list(_comparable(judges) if measures is None else _checked_measures(measures))
    if not names:
        raise InputError("measures= names none: say which to compare, or leave it out")
    for name in names:
        columns[name] = [float(estimate_of(judge, *parse(name))) for judge in judges]
    return columns


def _resolved(
    response: Response, truth: Labels, sides: Mapping[str, Any], shared: Mapping[str, Any]
) -> Resolved:
    columns, _ = response.columns(truth, **sides)
    return resolved_arrays(truth, **columns, **shared)[0]


def _comparable(judges: Sequence[Judge]) -> Iterator[str]:
    """The main measures that all models have in each fold."""
    for name in DIFFERENCES:
        measure, suffix = parse(name)
        scored = measure.of_scores is not None
        if scored and any(judge.tally.scores is None for judge in judges):
            continue
        if not scored and any(not judge.tally.decided for judge in judges):
            continue
        of_pairs = isinstance(measure.of_scores, OverPairs)
        if judges[0].binary:
            comparable = suffix is None and not of_pairs
        else:
            comparable = suffix is not None or measure.classes is not None or of_pairs
        if comparable:
            yield name


def _checked_measures(measures: Sequence[str]) -> Iterator[str]:
    if isinstance(measures, str):
        raise InputError(f"measures= is a list of names; found {measures!r}")
    for name in measures:
        measure, suffix = parse(name)
        if measure.of_costs is not None:
            raise UnknownMeasure(f"{name} needs costs, which a table of folds has not")
        yield measure.name if suffix is None else f"{measure.name}.{suffix}"
