"""The values of several models over the same folds: from a table of them, or from predictions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError, LengthMismatch, UnknownMeasure
from assay.v02.evaluation.evaluate import evaluate
from assay.v02.evaluation.evaluation import Evaluation, likely_mistakes
from assay.v02.evaluation.findings import Finding, urgent_first
from assay.v02.evaluation.wording import name as quoted
from assay.v02.inference import Estimate
from assay.v02.inference.significance import student
from assay.v02.measures.catalogue import PREDICTED_FOLDS, parse
from assay.v02.sources import label_text
from assay.v02.sources.columns import array_of, label_kind, native
from assay.v02.sources.files.summary_tables import (
    DATASET,
    FOLD,
    ID,
    MODEL,
    N_TEST,
    N_TRAIN,
    REPEAT,
    FoldRows,
)
from assay.v02.sources.validation import DECISION, LABEL, SCORE

Floats: TypeAlias = npt.NDArray[np.float64]
Fold: TypeAlias = tuple[str, str]  # repeat and fold

KEYS = (MODEL, REPEAT, FOLD, N_TRAIN, N_TEST)
_NAMES = (MODEL, DATASET, REPEAT, FOLD)
# What scikit-learn's cross_validate puts before the measures of held-out rows, and what it adds.
_HELD_OUT, _LEARNED, _TIMES = "test_", "train_", ("fit_time", "score_time")


@dataclass(frozen=True, eq=False)
class FoldTable:
    """Values by measure, a row a fold and a column a model; folds in the order of their names.

    ``n_train`` and ``n_test`` are nan where no column tells them; ``ratio`` is of the second to the
    first, of K folds 1 to K - 1, and nan where it is not known.
    """

    models: tuple[str, ...]
    folds: tuple[Fold, ...]
    n_train: float
    n_test: float
    ratio: float
    values: Mapping[str, Floats]
    undefined: Mapping[str, str]

    @property
    def five_by_two(self) -> bool:
        """Whether these are five repeats of two folds."""
        repeats = [repeat for repeat, _ in self.folds]
        return len(repeats) == 10 and all(repeats.count(repeat) == 2 for repeat in repeats)

    @property
    def has_spread(self) -> bool:
        """Whether there is more than one fold, and how much they overlap is known."""
        return len(self.folds) > 1 and not math.isnan(self.ratio)

    def estimates(self, model: str, level: float) -> Iterator[tuple[str, Estimate]]:
        """The mean of each measure, with Nadeau and Bengio's interval."""
        size = len(self.folds)
        for name, values in self.values.items():
            column = values[:, self.models.index(model)]
            mean = float(column.mean())
            if not self.has_spread:
                why = "one value has no spread" if size == 1 else "how folds overlap is not known"
                yield name, Estimate(mean, n=size, level=level, note=why)
                continue
            spread = float(column.var(ddof=1)) * (1 / size + self.ratio)
            reach = student(level, size - 1) * math.sqrt(spread)
            low, high = measure_range(name)
            # A mean can't lie outside the range of the measure, whatever the t distribution says.
            ends = (max(mean - reach, low), min(mean + reach, high))
            yield name, Estimate(mean, *ends, method="nadeau_bengio", n=size, level=level)


def fold_tables(rows: FoldRows) -> tuple[dict[str, FoldTable], tuple[str, ...]]:
    """A table of folds a data set, all of the same models, and what is to be said of them.

    Without a column of data sets there is one, called nothing.
    """
    columns, notes = _columns(rows.columns)
    size = len(columns[MODEL])
    names = {
        key: [name_text(value) for value in columns[key].tolist()]
        if key in columns
        else [""] * size
        for key in _NAMES
    }
    given = [
        (model, (repeat, fold))
        for model, repeat, fold in zip(names[MODEL], names[REPEAT], names[FOLD], strict=True)
    ]
    models = tuple(dict.fromkeys(names[MODEL]))
    if len(models) < 2:
        raise InputError(
            f"a comparison needs two models or more; column model holds {', '.join(models)}"
        )
    numbers = {name: _numbers(columns[name], name) for name in columns if name not in _NAMES}
    if not set(numbers) - set(KEYS):
        raise InputError(f"there is no measure: all columns are among {', '.join(KEYS)}")
    sets = list(dict.fromkeys(names[DATASET]))
    tables = {}
    for data_set in sets:
        at = [i for i, name in enumerate(names[DATASET]) if name == data_set]
        part = {name: column[at] for name, column in numbers.items()}
        tables[data_set] = _table([given[i] for i in at], part, models, data_set, at)
    if len(tables) == 1 and len(next(iter(tables.values())).folds) < 2:
        raise InputError("one fold tells nothing about the spread between folds")
    return tables, (*rows.notes, *notes)


def _table(
    rows: Sequence[tuple[str, Fold]],
    numbers: Mapping[str, Floats],
    models: tuple[str, ...],
    data_set: str,
    at: Sequence[int],
) -> FoldTable:
    folds = tuple(sorted({fold for _, fold in rows}, key=_natural))
    place = _positions(rows, models, folds, data_set, at)
    grid = {name: column[place] for name, column in numbers.items()}
    sizes = [
        _sizes(grid.pop(name), name, models, folds) if name in grid else math.nan
        for name in KEYS[3:]
    ]
    undefined = {name: _undefined(values, models, folds) for name, values in grid.items()}
    values = {name: column for name, column in grid.items() if undefined[name] is None}
    undefined_in = {name: where for name, where in undefined.items() if where is not None}
    if not values:
        name, where = next(iter(undefined_in.items()))
        raise InputError(
            f"no measure has a value in every fold: {name} has none for {_of_set(data_set)}{where}"
        )
    ratio = sizes[1] / sizes[0]
    return FoldTable(
        models,
        folds,
        n_train=sizes[0],
        n_test=sizes[1],
        ratio=_ratio(folds) if math.isnan(ratio) else ratio,
        values=values,
        undefined=undefined_in,
    )


def _ratio(folds: Sequence[Fold]) -> float:
    """How many rows test for each that trains, if these are all K folds of each repeat."""
    repeats = [repeat for repeat, _ in folds]
    sizes = {repeats.count(repeat) for repeat in repeats}
    each = sizes.pop()
    return math.nan if sizes or each < 2 else 1 / (each - 1)


def measure_range(name: str) -> tuple[float, float]:
    """The range of a measure; of a column that is none, all numbers."""
    try:
        return parse(name)[0].range
    except UnknownMeasure:
        return -math.inf, math.inf


def _columns(given: Mapping[str, Any]) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """The columns that name rows or hold measures, and which others were left out."""
    columns, left_out, renamed = {}, [], []
    for name, column in given.items():
        held_out = name.removeprefix(_HELD_OUT)
        if name.startswith(_LEARNED) or name in _TIMES:
            left_out.append(name)
        elif held_out != name and name not in KEYS and held_out not in given:
            renamed.append(name)
            columns[held_out] = array_of(column, name)
        else:
            columns[name] = array_of(column, name)
    notes = []
    if left_out:
        notes.append(f"left out, as no measures of held-out rows: {', '.join(left_out)}")
    if renamed:
        notes.append(f"read as measures without {_HELD_OUT!r}: {', '.join(renamed)}")
    absent = [key for key in (MODEL,) if key not in columns]
    if DATASET not in columns and FOLD not in columns and REPEAT not in columns:
        absent.append(FOLD)
    if (N_TRAIN in columns) != (N_TEST in columns):
        absent.append(N_TEST if N_TRAIN in columns else N_TRAIN)
    if absent:
        raise InputError(
            f"folds need the columns {', '.join(KEYS)} and one a measure; there is no "
            f"{', '.join(absent)} among {', '.join(columns)}"
        )
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise LengthMismatch(f"columns of folds must be of one length; found {sizes}")
    return columns, notes


def name_text(value: Any) -> str:
    """A name that may have been read as a number."""
    return label_text(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _natural(fold: Fold) -> tuple[tuple[int, float, str], ...]:
    """Numbers in their order, before names in theirs."""
    return tuple((0, float(part), part) if part.isdecimal() else (1, 0.0, part) for part in fold)


def _fold_name(model: str, fold: Fold) -> str:
    repeat, part = fold
    position = f"{f', repeat {repeat}' if repeat else ''}{f', fold {part}' if part else ''}"
    return f"model {model!r}{position}"


def _of_set(data_set: str) -> str:
    return f"data set {data_set!r}, " if data_set else ""


def _positions(
    rows: Sequence[tuple[str, Fold]],
    models: tuple[str, ...],
    folds: tuple[Fold, ...],
    data_set: str,
    at: Sequence[int],
) -> npt.NDArray[np.int64]:
    """Where each fold of each model stands in the table."""
    positions: dict[tuple[str, Fold], int] = {}
    where = _of_set(data_set)
    for i, (model, fold) in enumerate(rows):
        if (model, fold) in positions:
            raise InputError(
                f"{where}{_fold_name(model, fold)} is there twice, in rows "
                f"{at[positions[model, fold]] + 1} and {at[i] + 1}; each fold of a model is one row"
            )
        positions[model, fold] = i
    for fold in folds:
        for model in models:
            if (model, fold) not in positions:
                raise InputError(
                    f"{where}{_fold_name(model, fold)} is missing: all models must have the same "
                    f"folds{' of every data set' if data_set else ''}"
                )
    return np.array([[positions[model, fold] for model in models] for fold in folds])


def _numbers(column: npt.NDArray[Any], name: str) -> Floats:
    """A column of numbers; what is missing is nan."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    values = []
    for row, value in enumerate(column.tolist(), 1):
        try:
            values.append(math.nan if value is None or value == "" else float(value))
        except (TypeError, ValueError):
            raise InputError(
                f"column {name} must hold numbers; found {value!r} in row {row}"
            ) from None
    return np.array(values)


def _sizes(grid: Floats, name: str, models: tuple[str, ...], folds: tuple[Fold, ...]) -> float:
    """The mean size of a part of a fold, which all models must share."""
    for i, fold in enumerate(folds):
        for j, model in enumerate(models):
            if not 0 < grid[i, j] < math.inf:
                raise InputError(
                    f"{name} must be above 0; found {grid[i, j]:g} for {_fold_name(model, fold)}"
                )
            if grid[i, j] != grid[i, 0]:
                raise InputError(
                    f"{name} is {grid[i, j]:g} for {_fold_name(model, fold)} and {grid[i, 0]:g} "
                    f"for model {models[0]!r}: all models must have the same folds"
                )
    return float(grid[:, 0].mean())


def _undefined(grid: Floats, models: tuple[str, ...], folds: tuple[Fold, ...]) -> str | None:
    """The first fold that has no value."""
    at = np.argwhere(~np.isfinite(grid))
    return None if not len(at) else _fold_name(models[at[0][1]], folds[at[0][0]])


# -- folds of predictions, on each of which a model is measured ------------------------------------


# A model on a part of a data set: data set, model, repeat, fold.
_KEYS = (DATASET, MODEL, REPEAT, FOLD)
_HALF = 0.5


class _FoldPredictions(NamedTuple):
    """Which fold of which model this is, and its rows."""

    data_set: str
    model: str
    repeat: str
    fold: str

    @property
    def named(self) -> str:
        """The part in a message."""
        of = zip(("data set", "model", "repeat", "fold"), self, strict=True)
        return ", ".join(f"{role} {value!r}" for role, value in of if value)


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
    parts: dict[_FoldPredictions, list[int]] = {}
    for i, key in enumerate(zip(*names, strict=True)):
        parts.setdefault(_FoldPredictions(*key), []).append(i)
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
        evaluation = judged(part.data_set, at)
        wanted = PREDICTED_FOLDS.of(binary=side is not None)
        estimates = {name: evaluation[name] for name in wanted}
        measured.append({name: float(estimate) for name, estimate in estimates.items()})
        reasons |= {n: e.undefined for n, e in estimates.items() if e.undefined is not None}
    kept = [name for name in measured[0] if all(name in each for each in measured)]
    undefined = [name for name in kept if all(math.isnan(each[name]) for each in measured)]
    if undefined:
        notes.append(f"{', '.join(undefined)}: undefined in every fold, {reasons[undefined[0]]}")
    measures = {name: [each[name] for each in measured] for name in kept if name not in undefined}
    found_columns = {key: values[key] for key in _KEYS if key in columns}
    folds = FoldRows(
        {**found_columns, **_rows_of_folds(places, columns), **measures},
        predictions=False,
        notes=tuple(notes),
    )
    return folds, _mistakes(places, judged, threshold_given=given)


def _mistakes(
    places: Mapping[_FoldPredictions, Any],
    judged: Callable[[str, Any], Evaluation],
    *,
    threshold_given: bool,
) -> tuple[Finding, ...]:
    """What looks like a mistake in the rows of a model, each told once for all its data sets."""
    columns: dict[tuple[str, str], dict[str, list[Any]]] = {}
    for part, at in places.items():
        repeats = columns.setdefault((part.model, part.data_set), {})
        repeats.setdefault(part.repeat, []).append(at)
    told: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for (model, data_set), repeats in columns.items():
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
    places: Mapping[_FoldPredictions, Any], columns: Mapping[str, Any], sides: Mapping[str, Any]
) -> dict[str, tuple[list[Any], Any]]:
    """The labels of each data set, and the positive one where there are two."""
    rows_of_labels: dict[str, list[int]] = {}
    for part, at in places.items():
        rows_of_labels.setdefault(part.data_set, []).extend(at.tolist())
    labels: dict[str, tuple[list[Any], Any]] = {}
    for data_set, rows in rows_of_labels.items():
        kept = dict.fromkeys(columns[LABEL][rows].tolist())
        if DECISION in columns:
            kept |= dict.fromkeys(columns[DECISION][rows].tolist())
        where = f"data set {data_set!r}: " if data_set else ""
        if len(kept) > 2 and all(side is None for side in sides.values()):
            if DECISION not in columns:
                raise InputError(
                    f"{where}there are {len(kept)} labels, {_listed_labels(kept)}, so predictions "
                    f"need a column of decisions, such as predicted; a score ranks one label "
                    f"against the rest. Say which is the alarm with positive= or negative="
                )
            labels[data_set] = (list(kept), None)
            continue
        try:
            # One row of each label tells which side is which.
            truth = list(kept)
            evaluation = evaluate(truth, y_pred=truth, **sides)
        except LabelError as wrong:
            raise type(wrong)(f"{where}{wrong}") from wrong
        if sides["negative"] is not None:
            raise_on = [label for label in kept if label_text(label) != evaluation.labels[0]]
            if len(raise_on) != 1:
                raise InputError(
                    f"{where}{len(raise_on)} labels are not {sides['negative']!r}; name the alarm "
                    f"with positive="
                )
            labels[data_set] = (list(kept), raise_on[0])
        else:
            alarm = native(str(evaluation.positive), label_kind(truth[0]))
            labels[data_set] = (list(dict.fromkeys([*kept, alarm])), alarm)
    return labels


def _listed_labels(labels: Mapping[Any, Any]) -> str:
    shown = [repr(label) for label in list(labels)[:5]]
    return ", ".join(shown) + (", ..." if len(labels) > 5 else "")


def _must_be_paired(places: Mapping[_FoldPredictions, Any], columns: Mapping[str, Any]) -> None:
    """Refuse folds whose rows are not the same for all models."""
    first: dict[tuple[str, str, str], tuple[_FoldPredictions, Any]] = {}
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


def _unpaired(
    part: _FoldPredictions, seen: Any, other: _FoldPredictions, expected: Any, *, by_id: bool
) -> str:
    if not by_id:
        return (
            f"{part.named} has other rows than model {other.model!r}: {dict(seen)} by label "
            f"against {dict(expected)}. All models must have predicted the same rows of a fold"
        )
    unshared = sorted(set(seen) ^ set(expected), key=str)
    if unshared:
        has, lacks = (part, other) if unshared[0] in seen else (other, part)
        return (
            f"{part.named}: id {unshared[0]!r} is among the rows of model {has.model!r} and not of "
            f"model {lacks.model!r}. All models must have predicted the same rows of a fold"
        )
    at = next(name for name in seen if seen[name] != expected[name])
    return (
        f"{part.named}: the label of id {at!r} is {seen[at]!r} here and {expected[at]!r} for "
        f"model {other.model!r}"
    )


def _rows_of_folds(
    places: Mapping[_FoldPredictions, Any], columns: Mapping[str, Any]
) -> dict[str, Sequence[float]]:
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
