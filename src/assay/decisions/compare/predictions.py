"""Predictions of cross-validations as folds: each model is measured on each fold of a data set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from assay.decisions.compare.fold_table import name_text
from assay.errors import InputError, LabelError
from assay.evaluation.evaluate import evaluate
from assay.evaluation.evaluation import Evaluation
from assay.evaluation.findings import Finding, urgent_first
from assay.evaluation.mistakes import likely_mistakes
from assay.evaluation.words import name as quoted
from assay.measures.shown import PREDICTED_FOLDS
from assay.sources.columns import array_of, label_kind, label_text, native
from assay.sources.files.fold_table import (
    DATASET,
    FOLD,
    ID,
    MODEL,
    N_TEST,
    N_TRAIN,
    REPEAT,
    FoldRows,
)
from assay.sources.validation import DECISION, LABEL, SCORE

# A model on a part of a data set: data set, model, repeat, fold.
_KEYS = (DATASET, MODEL, REPEAT, FOLD)
_HALF = 0.5


class _Part(NamedTuple):
    """Which fold of which model this is, and its rows."""

    data_set: str
    model: str
    repeat: str
    fold: str

    @property
    def named(self) -> str:
        """The part in a message."""
        of = zip(("data set", "model", "repeat", "fold"), self, strict=True)
        return ", ".join(f"{what} {value!r}" for what, value in of if value)


def measured_folds(
    rows: FoldRows, *, positive: Any = None, negative: Any = None, threshold: float | None = None
) -> tuple[FoldRows, tuple[Finding, ...]]:
    """The values of each model on each fold, from its predictions there, and likely mistakes.

    All models must have the same rows in a fold: by their ids, else by their number and labels.
    """
    columns = {name: array_of(column, name) for name, column in rows.columns.items()}
    size = len(columns[LABEL])
    names = [
        [name_text(v) for v in columns[key].tolist()] if key in columns else [""] * size
        for key in _KEYS
    ]
    parts: dict[_Part, list[int]] = {}
    for i, key in enumerate(zip(*names, strict=True)):
        parts.setdefault(_Part(*key), []).append(i)
    places = {part: np.array(at) for part, at in parts.items()}
    _must_be_paired(places, columns)
    scores = columns.get(SCORE)
    notes = list(rows.notes)
    given = threshold is not None
    if scores is not None and DECISION not in columns and threshold is None:
        scores = scores.astype(np.float64)
        if ((scores >= 0) & (scores <= 1)).all():
            threshold = _HALF
            notes.append("a score of 0.5 and above is a decision for the positive label")
    sides = {"positive": positive, "negative": negative}
    labels = _labels(places, columns, sides)
    values: dict[str, list[Any]] = {key: [] for key in _KEYS}
    measured: list[dict[str, float]] = []
    reasons: dict[str, str] = {}

    def judged(data_set: str, at: Any) -> Evaluation:
        of, side = labels[data_set]
        return evaluate(
            columns[LABEL][at],
            y_score=None if scores is None else scores[at],
            y_pred=columns[DECISION][at] if DECISION in columns else None,
            labels=of,
            threshold=threshold,
            positive=side,
        )

    for part, at in places.items():
        for column, name in zip(_KEYS, part, strict=True):
            values[column].append(name)
        side = labels[part.data_set][1]
        found = judged(part.data_set, at)
        wanted = PREDICTED_FOLDS.of(binary=side is not None)
        estimates = {name: found[name] for name in wanted}
        measured.append({name: float(estimate) for name, estimate in estimates.items()})
        reasons |= {n: e.undefined for n, e in estimates.items() if e.undefined is not None}
    kept = [name for name in measured[0] if all(name in each for each in measured)]
    gone = [name for name in kept if all(math.isnan(each[name]) for each in measured)]
    if gone:
        notes.append(f"{', '.join(gone)}: undefined in every fold, {reasons[gone[0]]}")
    held = {name: [each[name] for each in measured] for name in kept if name not in gone}
    found_columns = {key: values[key] for key in _KEYS if key in columns}
    folds = FoldRows(
        {**found_columns, **_sizes(places, columns), **held}, predictions=False, notes=tuple(notes)
    )
    return folds, _mistakes(places, judged, threshold_given=given)


def _mistakes(
    places: Mapping[_Part, Any],
    judged: Callable[[str, Any], Evaluation],
    *,
    threshold_given: bool,
) -> tuple[Finding, ...]:
    """What looks like a mistake in the rows of a model, each told once for all its data sets."""
    whole: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for part, at in places.items():
        repeats = whole.setdefault((part.model, part.data_set), {})
        repeats.setdefault(part.repeat, []).append(at)
    told: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for (model, data_set), repeats in whole.items():
        # Every repeat has the same rows again.
        rows = np.concatenate(next(iter(repeats.values())))
        tally = judged(data_set, rows).tally
        for finding in likely_mistakes(tally, threshold_given=threshold_given):
            told.setdefault((model, finding.code), []).append((data_set, finding))
    findings = []
    for (model, _), each in told.items():
        (data_set, first), more = each[0], len(each) - 1
        where = f"{quoted(model)}{f' on data set {quoted(data_set)}' if data_set else ''}"
        if more:
            where += f" and {more} more"
        title = f"{first.title} ({quoted(model)})"
        findings.append(replace(first, message=f"{where}: {first.message}", title=title))
    return urgent_first(findings)


def _labels(
    places: Mapping[_Part, Any], columns: Mapping[str, Any], sides: Mapping[str, Any]
) -> dict[str, tuple[list[Any], Any]]:
    """The labels of each data set, and the positive one where there are two."""
    found: dict[str, list[int]] = {}
    for part, at in places.items():
        found.setdefault(part.data_set, []).extend(at.tolist())
    labels: dict[str, tuple[list[Any], Any]] = {}
    for data_set, rows in found.items():
        kept = dict.fromkeys(columns[LABEL][rows].tolist())
        if DECISION in columns:
            kept |= dict.fromkeys(columns[DECISION][rows].tolist())
        where = f"data set {data_set!r}: " if data_set else ""
        if len(kept) > 2 and all(side is None for side in sides.values()):
            if DECISION not in columns:
                raise InputError(
                    f"{where}there are {len(kept)} labels, {_listed(kept)}, so predictions need a "
                    f"column of decisions, such as predicted; a score ranks one label against the "
                    f"rest. Say which is the alarm with positive= or negative="
                )
            labels[data_set] = (list(kept), None)
            continue
        try:
            # One row of each label tells which side is which.
            truth = list(kept)
            whole = evaluate(truth, y_pred=truth, **sides)
        except LabelError as wrong:
            raise type(wrong)(f"{where}{wrong}") from wrong
        if sides["negative"] is not None:
            raise_on = [label for label in kept if label_text(label) != whole.labels[0]]
            if len(raise_on) != 1:
                raise InputError(
                    f"{where}{len(raise_on)} labels are not {sides['negative']!r}; name the alarm "
                    f"with positive="
                )
            labels[data_set] = (list(kept), raise_on[0])
        else:
            alarm = native(str(whole.positive), label_kind(truth[0]))
            labels[data_set] = (list(dict.fromkeys([*kept, alarm])), alarm)
    return labels


def _listed(labels: Mapping[Any, Any]) -> str:
    shown = [repr(label) for label in list(labels)[:5]]
    return ", ".join(shown) + (", ..." if len(labels) > 5 else "")


def _must_be_paired(places: Mapping[_Part, Any], columns: Mapping[str, Any]) -> None:
    """Refuse folds whose rows are not the same for all models."""
    first: dict[tuple[str, str, str], tuple[_Part, Any]] = {}
    for part, at in places.items():
        truth = columns[LABEL][at].tolist()
        if ID in columns:
            ids = columns[ID][at].tolist()
            seen: Any = dict(zip(ids, truth, strict=True))
            if len(seen) < len(ids):
                twice = next(name for name, often in Counter(ids).items() if often > 1)
                raise InputError(f"{part.named}: id {twice!r} is there twice")
        else:
            seen = Counter(truth)
        where = (part.data_set, part.repeat, part.fold)
        other, expected = first.setdefault(where, (part, seen))
        if seen != expected:
            raise InputError(_unpaired(part, seen, other, expected, by_id=ID in columns))


def _unpaired(part: _Part, seen: Any, other: _Part, expected: Any, *, by_id: bool) -> str:
    if not by_id:
        return (
            f"{part.named} has other rows than model {other.model!r}: {dict(seen)} by label "
            f"against {dict(expected)}. All models must have predicted the same rows of a fold"
        )
    odd = sorted(set(seen) ^ set(expected), key=str)
    if odd:
        has, lacks = (part, other) if odd[0] in seen else (other, part)
        return (
            f"{part.named}: id {odd[0]!r} is among the rows of model {has.model!r} and not of "
            f"model {lacks.model!r}. All models must have predicted the same rows of a fold"
        )
    at = next(name for name in seen if seen[name] != expected[name])
    return (
        f"{part.named}: the label of id {at!r} is {seen[at]!r} here and {expected[at]!r} for "
        f"model {other.model!r}"
    )


def _sizes(places: Mapping[_Part, Any], columns: Mapping[str, Any]) -> dict[str, Sequence[float]]:
    """How many rows tested and trained: the others of the data set, unless a column tells."""
    tests = [float(len(at)) for at in places.values()]
    if N_TRAIN in columns:
        trained = [float(columns[N_TRAIN][at][0]) for at in places.values()]
        return {N_TRAIN: trained, N_TEST: tests}
    rows: dict[tuple[str, str], set[Any]] = {}
    for part, at in places.items():
        seen = rows.setdefault((part.data_set, part.model), set())
        if ID in columns:
            seen |= set(columns[ID][at].tolist())
        else:
            # Without ids rows of another repeat are the same again.
            seen |= {(part.fold, i) for i in range(len(at))}
    trained = [len(rows[part.data_set, part.model]) - len(at) for part, at in places.items()]
    return {N_TRAIN: trained, N_TEST: tests} if min(trained) > 0 else {}
