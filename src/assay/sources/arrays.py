"""Arrays, lists and dataframe columns into a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import (
    CountError,
    EmptyInput,
    InputError,
    LabelError,
    LengthMismatch,
    ScoreError,
)
from assay.sources.batch import Coded, Labels, Named
from assay.sources.columns import (
    NUMBER,
    TEXT,
    columns_of,
    label_text,
    labels_of,
    names_of,
    native,
    scores_of,
)
from assay.sources.counts import counts_of
from assay.sources.indexes import must_share_index
from assay.sources.labelling import (
    ONE_SIDE,
    Labelling,
    label_as,
    lookalikes,
    unify,
)
from assay.sources.thresholds import checked_threshold
from assay.sources.times import day_names
from assay.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]

_MOST_COUNT = 1 << 62
_SUM_TOLERANCE = 1e-6
_LARGEST_WEIGHT = 1e100
FAMILY = "family"
COLUMNS = (
    "y_score",
    "y_pred",
    "y_proba",
    "positive",
    "negative",
    "labels",
    "threshold",
    "counts",
    "sample_weight",
    "slices",
    "clusters",
    "times",
    "unknown",
)


def checked_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns by name, refused where a name is not one of those that are read."""
    odd = [name for name in columns if name not in COLUMNS]
    if odd:
        raise InputError(
            f"{', '.join(map(str, odd))} is not read; columns are {', '.join(COLUMNS)}"
        )
    return dict(columns)


def code_arrays(
    y_true: Any,
    *,
    y_score: Any = None,
    y_pred: Any = None,
    y_proba: Any = None,
    labels: Sequence[Any] | None = None,
    counts: Any = None,
    sample_weight: Any = None,
    slices: Any = None,
    clusters: Any = None,
    times: Any = None,
    unknown: Any = None,
) -> Coded:
    """Check and code the columns of one model's rows, whatever the labels will stand for.

    ``labels`` name the columns of probabilities that have no names of their own; ``unknown`` is a
    label that has no column.
    """
    must_share_index(
        {"y_true": y_true, "y_score": y_score, "y_pred": y_pred, "y_proba": y_proba}
        | {"counts": counts, "sample_weight": sample_weight, "clusters": clusters, "slices": slices}
        | {"times": times}
    )
    truth = labels_of(y_true, "y_true")
    rows = _rows_in(truth)
    y_score, y_proba = _ranking(y_pred, y_score, y_proba)
    decision = None if y_pred is None else labels_of(y_pred, "y_pred")
    score = None if y_score is None else scores_of(y_score, "y_score")
    table, names = (None, None) if y_proba is None else probabilities_of(y_proba, truth.kind)
    amounts, weights = _amounts_of(counts, sample_weight)
    grouped = {
        "clusters": None if clusters is None else names_of(clusters, "clusters"),
        "times": None if times is None else day_names(times, "times"),
    }
    parts = {str(name): names_of(c, str(name)) for name, c in _sliced(slices).items()}
    _same_length(
        rows,
        {
            "y_pred": decision.codes if decision else None,
            "y_score": score,
            "y_proba": table,
            "counts": amounts,
            "sample_weight": weights,
            **{name: column.codes if column else None for name, column in grouped.items()},
            **{name: part.codes for name, part in parts.items()},
        },
    )
    coded = Coded(
        truth=truth,
        decision=decision,
        score=score,
        probabilities=table,
        counts=amounts,
        weights=weights,
        clusters=grouped["clusters"],
        days=grouped["times"],
        slices=parts,
        rows=rows,
    )
    kept = _kept(amounts if weights is None else weights)
    if kept is not None:
        # Rows that are left out are checked like all others.
        if score is not None:
            extremes(score)
        if table is not None:
            _must_be_probabilities(table)
        coded = replace(coded.of_rows(kept), empty=rows - len(kept))
    if coded.decision is not None:
        truth, decision = unify(coded.truth, coded.decision)
        coded = replace(coded, truth=truth, decision=decision)
    if coded.probabilities is not None:
        columns = _column_labels(coded, names, labels, unknown)
        _must_be_probabilities(coded.probabilities)
        coded = replace(coded, columns=columns)
    return coded


SEVERAL = (
    "threshold= decides on one positive label; of several classes the largest probability decides"
)


def no_ranking(labels: Sequence[str]) -> str:
    """Why a score can't rank rows of several classes, and what to do."""
    shown = ", ".join(map(repr, labels[:6]))
    alike = "".join(f". Note that {note}" for note in lookalikes(labels))
    return (
        f"a score ranks rows for one positive label, but there are {len(labels)}: "
        f"{shown}{', ...' if len(labels) > 6 else ''}. Say positive= or negative=, "
        f"or give y_proba with a column a label{alike}"
    )


def empty_note(rows: int) -> str:
    """What to say of rows of count or weight zero."""
    return f"{rows} rows have a count or weight of 0; they are as if they were not there"


def listed_labels(coded: Coded, labels: Sequence[Any] | None) -> Sequence[Any] | None:
    """The labels that may occur, as they were said or as columns of probabilities name them."""
    if labels is not None or coded.columns is None:
        return labels
    return [native(name, coded.truth.kind) for name in coded.columns]


def sided(coded: Coded, positive: Any = None, negative: Any = None) -> Coded:
    """The same rows; where it is known which label is the alarm, its probability is the score.

    Which columns that concerns is told by their names alone, and so is the same for any rows.
    """
    if coded.columns is None or (positive is None and negative is None):
        return coded
    if positive is not None and negative is not None:
        raise LabelError(ONE_SIDE)
    kind = coded.truth.kind
    name = "positive" if negative is None else "negative"
    chosen = label_as(positive if negative is None else negative, kind, name)
    if chosen not in coded.columns:
        return coded  # which is said once the labels are known
    return one_score(coded, [c for c in coded.columns if (c == chosen) == (negative is None)])


def one_score(coded: Coded, positives: Sequence[str]) -> Coded:
    """The same rows with one score: the probability of any of the positive labels."""
    assert coded.probabilities is not None  # noqa: S101 - asked for by callers that have some
    chosen = [i for i, label in enumerate(coded.columns or ()) if label in positives]
    score = np.ascontiguousarray(coded.probabilities[:, chosen].sum(axis=1).clip(0, 1))
    return replace(coded, score=score, probabilities=None, columns=None)


def asked_threshold(threshold: Any, y_pred: Any) -> float:
    """A finite number, for scores that decide."""
    if y_pred is not None:
        raise ScoreError("threshold= decides on y_score; decisions are taken as they are")
    return checked_threshold(threshold)


def _sliced(slices: Any) -> Mapping[str, Any]:
    """Columns to slice by: a mapping from name to column, or a dataframe."""
    if slices is None or isinstance(slices, Mapping):
        return slices or {}
    if hasattr(slices, "columns"):
        return columns_of(slices)
    raise InputError(f"slices are a mapping from name to column; found {type(slices).__name__}")


def _ranking(y_pred: Any, y_score: Any, y_proba: Any) -> tuple[Any, Any]:
    """The columns of what a model ranked by; one column of probabilities is a score."""
    if y_score is None and y_pred is None and y_proba is None:
        raise LabelError("give y_score, y_pred or y_proba: without one of them nothing is judged")
    if y_score is not None and y_proba is not None:
        raise ScoreError("give y_score or y_proba, not both")
    single = _one_column(y_proba)
    if single is None:
        return y_score, y_proba
    _must_be_shares(single)
    return single, None


def _one_column(y_proba: Any) -> Array | None:
    """Probabilities of the positive alone, where they are given as one column."""
    if hasattr(y_proba, "collect"):
        raise ScoreError("y_proba is not computed yet: collect() it first")
    if y_proba is None or isinstance(y_proba, Mapping) or hasattr(y_proba, "columns"):
        return None
    nested = isinstance(y_proba, list | tuple) and y_proba and hasattr(y_proba[0], "__len__")
    if nested or getattr(y_proba, "ndim", 1) != 1:
        return None
    return scores_of(y_proba, "y_proba")


def _must_be_shares(scores: Array) -> None:
    if len(scores):
        low, high = extremes(scores)
        if low < 0 or high > 1:
            raise ScoreError(f"probabilities lie in [0, 1]; y_proba runs from {low:g} to {high:g}")


def probabilities_of(y_proba: Any, kind: str) -> tuple[Array, tuple[Any, ...] | None]:
    """Probabilities as an array with a column a label, and the labels where they are named."""
    columns: Mapping[Any, Any] | None = None
    if isinstance(y_proba, Mapping):
        columns = y_proba
    elif hasattr(y_proba, "columns"):
        # A dataframe may only be able to name its columns by text.
        columns = {native(str(name), kind): c for name, c in columns_of(y_proba).items()}
    if columns is not None:
        if not columns:
            raise ScoreError("y_proba has no columns; it needs one a label")
        arrays = [scores_of(column, f"y_proba[{name!r}]") for name, column in columns.items()]
        _same_length(len(arrays[0]), {str(n): a for n, a in zip(columns, arrays, strict=True)})
        return np.stack(arrays, axis=1).astype(np.float64), tuple(columns)
    try:
        table = np.asarray(y_proba, dtype=np.float64)
    except (TypeError, ValueError) as odd:
        raise ScoreError(f"y_proba must be a table of numbers, a column a label: {odd}") from odd
    if table.ndim != 2 or table.shape[1] < 2:
        raise ScoreError(f"y_proba must have a column a label; found shape {table.shape}")
    return table, None


def probability_labels(tables: Mapping[str, Any], kind: str) -> list[Any] | None:
    """The labels that the first table of probabilities with named columns names, sorted.

    So tables without names, whose columns are in sorted order, fit beside it. ``kind`` is that of
    the truth's labels.
    """
    for table in tables.values():
        if isinstance(table, Mapping) or hasattr(table, "columns"):
            names = probabilities_of(table, kind)[1] or ()
            return sorted(names, key=lambda n: (isinstance(n, str), n))
    return None


def _column_labels(
    coded: Coded, names: tuple[Any, ...] | None, labels: Sequence[Any] | None, unknown: Any
) -> tuple[str, ...]:
    """The labels of the columns of probabilities: as named, as listed, or sorted."""
    table = coded.probabilities
    assert table is not None  # noqa: S101 - checked by the caller
    if names is None and labels is None:
        return _sorted_columns(coded, table.shape[1], unknown)
    if unknown is not None:
        must_not_list(unknown, labels)
    named = names if names is not None else tuple(labels or ())
    if len(named) != table.shape[1]:
        raise ScoreError(
            f"y_proba has {table.shape[1]} columns, but labels= names {len(named)}: {list(named)}"
        )
    columns = tuple(label_text(name) for name in named)
    absent = [name for name in coded.truth.names if name not in columns]
    if absent and labels is None and unknown is None:
        raise LabelError(no_column(absent, columns))
    return columns


def no_column(absent: Sequence[str], columns: Sequence[str]) -> str:
    """What to say of rows of a label that has no column of probabilities."""
    return (
        f"rows are labelled {', '.join(map(repr, absent[:6]))}, of which y_proba has no "
        f"column; it has {', '.join(map(repr, columns[:6]))}. Give a column a label, or name "
        f"the one label that the model does not know with unknown="
    )


def must_not_list(unknown: Any, labels: Sequence[Any] | None) -> None:
    """Refuse a label that is listed among the known ones and said to be unknown."""
    text = label_text(unknown)
    if labels is not None and text in {label_text(name) for name in labels}:
        raise LabelError(
            f"labels= lists {text!r}, which unknown= says that the model does not know: list the "
            f"known labels"
        )


def no_unknown(unknown: str, labels: Sequence[str]) -> str:
    """What to say where no row has the label that the model does not know."""
    shown = ", ".join(map(repr, labels[:6]))
    return (
        f"unknown={unknown!r} does not occur; the labels are {shown}. If it may be absent, list "
        f"the known ones in labels="
    )


def _sorted_columns(coded: Coded, width: int, unknown: Any) -> tuple[str, ...]:
    names = {*coded.truth.names, *(() if coded.decision is None else coded.decision.names)}
    if unknown is not None:
        names.discard(label_text(unknown))
    numbers = coded.truth.kind == NUMBER
    expected = sorted(names, key=lambda n: int(n) if numbers else n)
    if width != len(expected):
        if unknown is not None and label_text(unknown) not in coded.truth.names:
            raise LabelError(no_unknown(label_text(unknown), coded.truth.names))
        raise ScoreError(
            f"y_proba has {width} columns, but there are {len(expected)} labels: "
            f"{expected}. Say labels=, or give y_proba as a mapping from label to column"
        )
    return tuple(expected)


def _must_be_probabilities(table: Array) -> None:
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        shown = table[bad[0]].tolist()
        raise ScoreError(f"y_proba must be finite numbers; row {bad[0]} is {shown}")
    if table.min() < 0 or table.max() > 1:
        row = int(np.flatnonzero((table < 0).any(axis=1) | (table > 1).any(axis=1))[0])
        raise ScoreError(f"probabilities lie in [0, 1]; row {row} is {table[row].tolist()}")
    off = np.abs(table.sum(axis=1) - 1)
    if off.max() > _SUM_TOLERANCE:
        row = int(off.argmax())
        raise ScoreError(
            f"the probabilities of a row must sum to 1 within {_SUM_TOLERANCE:g}; row {row} sums "
            f"to {table[row].sum():.9g}"
        )


def coded_columns(columns: Mapping[str, Any]) -> Coded:
    """Columns that were checked elsewhere, as rows to be counted.

    Where there are no labels, all rows have one without a name.
    """
    table, repeats = columns.get("y_proba"), columns.get("repeats")
    counts = columns.get("counts")
    if repeats is not None:
        counts = repeats if counts is None else _repeated(counts, repeats)
    truth = columns.get("y_true")
    if truth is None:
        truth = Labels(np.zeros(_length(columns), np.uint8), ("",), TEXT)
    rows = len(truth.codes) if repeats is None else int(repeats.sum())
    coded = Coded(
        truth=truth,
        decision=columns.get("y_pred"),
        score=columns.get("y_score"),
        probabilities=None
        if table is None
        else np.stack([np.asarray(c, np.float64) for c in table.values()], axis=1),
        columns=None if table is None else tuple(label_text(label) for label in table),
        counts=counts,
        weights=columns.get("sample_weight"),
        clusters=columns.get("clusters"),
        days=columns.get("times"),
        slices=columns.get("slices", {}),
        rows=rows,
        repeats=repeats,
    )
    amounts = coded.counts if coded.weights is None else coded.weights
    kept = _kept(amounts) if coded.size else None
    if kept is not None:
        coded = replace(coded.of_rows(kept), empty=rows - coded.given(kept))
    if coded.decision is not None and "y_true" in columns:
        truth, decision = unify(coded.truth, coded.decision)
        coded = replace(coded, truth=truth, decision=decision)
    return coded


def _length(columns: Mapping[str, Any]) -> int:
    if "y_pred" in columns:
        return len(columns["y_pred"].codes)
    if "y_score" in columns:
        return len(columns["y_score"])
    return len(next(iter(columns["y_proba"].values())))


def families_of(truth: Labels, found: Labelling) -> Named:
    """The kind of attack of each positive row; negatives have none."""
    positives = [name for name in truth.names if found.position[name] == 1]
    position = {name: i + 1 for i, name in enumerate(positives)}
    renumber = np.array([position.get(name, 0) for name in truth.names], np.int64)
    return Named(renumber[truth.codes], (found.labels[0], *positives))


def _rows_in(truth: Labels) -> int:
    if not len(truth.codes):
        raise EmptyInput("y_true has no rows; there is nothing to judge")
    return len(truth.codes)


def _amounts_of(
    counts: Any, sample_weight: Any
) -> tuple[npt.NDArray[np.int64] | None, npt.NDArray[np.float64] | None]:
    if counts is not None and sample_weight is not None:
        raise CountError("give counts (frequencies) or sample_weight (sampling weights), not both")
    return None if counts is None else counts_of(counts, "counts"), _weights(sample_weight)


def _amounts(values: Any, name: str) -> Array:
    try:
        return scores_of(values, name)
    except ScoreError as odd:
        raise CountError(str(odd)) from odd


def _weights(weights: Any) -> npt.NDArray[np.float64] | None:
    if weights is None:
        return None
    array = _amounts(weights, "sample_weight").astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if len(bad):
        raise CountError(
            f"sample_weight must be finite and not negative; row {bad[0]} has {array[bad[0]]}"
        )
    if not array.any():
        raise CountError("all weights are zero; there are no rows left")
    if array.max() > _LARGEST_WEIGHT:
        raise CountError(f"sample_weight must stay below {_LARGEST_WEIGHT:g}: it is squared")
    return array


def _repeated(counts: Array, repeats: Array) -> Array:
    """Counts of rows that stand for several; whole numbers of 64 bits must hold them."""
    if len(counts) and int(counts.max()) * int(repeats.max()) >= _MOST_COUNT:
        raise CountError(
            f"rows that stand for up to {int(repeats.max()):,} others have counts of up to "
            f"{int(counts.max()):,}; their product must be below 2^62"
        )
    return np.asarray(counts * repeats)


def _kept(amounts: Array | None) -> Array | None:
    """Rows of count or weight zero are as if they were not there."""
    if amounts is None or amounts.all():
        return None
    return np.flatnonzero(amounts)


def _same_length(rows: int, columns: Mapping[str, Array | None]) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise LengthMismatch(
                f"{name} has {len(column)} rows and y_true has {rows}: they must describe the "
                f"same rows"
            )
