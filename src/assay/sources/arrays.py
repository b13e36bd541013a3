"""Arrays, lists and dataframe columns into a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from assay.sources.batch import Batch, Named
from assay.sources.columns import (
    Labels,
    columns_of,
    label_text,
    labels_of,
    names_of,
    native,
    recode,
    scores_of,
)
from assay.sources.counts import counts_of
from assay.sources.indexes import must_share_index
from assay.sources.labelling import Labelling, lookalikes, resolve, unify
from assay.sources.thresholds import USUAL, checked_threshold, undecided_note
from assay.sources.times import day_names
from assay.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]

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


def from_arrays(
    y_true: Any,
    *,
    y_score: Any = None,
    y_pred: Any = None,
    y_proba: Any = None,
    positive: Any = None,
    negative: Any = None,
    labels: Sequence[Any] | None = None,
    threshold: float | None = None,
    counts: Any = None,
    sample_weight: Any = None,
    slices: Any = None,
    clusters: Any = None,
    times: Any = None,
) -> Batch:
    """Check and code the columns of one model's rows."""
    must_share_index(
        {"y_true": y_true, "y_score": y_score, "y_pred": y_pred, "y_proba": y_proba}
        | {"counts": counts, "sample_weight": sample_weight, "clusters": clusters, "slices": slices}
        | {"times": times}
    )
    truth = labels_of(y_true, "y_true")
    rows = _rows_in(truth)
    y_score, y_proba, threshold = _said(y_pred, y_score, y_proba, threshold)
    decision = None if y_pred is None else labels_of(y_pred, "y_pred")
    score = None if y_score is None else scores_of(y_score, "y_score")
    table, names = (None, None) if y_proba is None else probabilities_of(y_proba, truth.kind)
    amounts, weights = _amounts_of(counts, sample_weight)
    grouped = {
        "clusters": None if clusters is None else names_of(clusters, "clusters"),
        "times": None if times is None else day_names(times, "times"),
    }
    parts = {name: names_of(c, str(name)) for name, c in _sliced(slices).items()}
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
    kept = _kept(amounts if weights is None else weights)
    if kept is not None:
        truth, decision = _rows(truth, kept), _rows(decision, kept)
        score = None if score is None else score[kept]
        table = None if table is None else table[kept]
        amounts = None if amounts is None else amounts[kept]
        weights = None if weights is None else weights[kept]
        grouped = {n: c and Named(c.codes[kept], c.names) for n, c in grouped.items()}
        parts = {name: Named(part.codes[kept], part.names) for name, part in parts.items()}
    if decision is not None:
        truth, decision = unify(truth, decision)
    names = None if table is None else _column_labels(names, truth, labels)
    listed = labels if labels is not None or names is None else names
    found = resolve(truth, decision, positive=positive, negative=negative, labels=listed)
    if negative is not None and len(found.position) > 2:
        parts = {FAMILY: _families(truth, found), **parts}
    notes = list(found.notes)
    if kept is not None:
        gone = f"{rows - len(kept)} rows have a count or weight of 0"
        notes.append(f"{gone}; they are as if they were not there")
    probabilities = None
    if table is not None:
        if found.positive is None:
            if threshold is not None:
                raise ScoreError(
                    "threshold= decides on one positive label; of several classes the largest "
                    "probability decides"
                )
            probabilities = _columns(table, truth, names, found)
        else:
            score = _positive_column(table, truth, names, found)
    is_probability = False
    if score is not None:
        if found.positive is None:
            shown = ", ".join(map(repr, found.labels[:6]))
            alike = "".join(f". Note that {said}" for said in lookalikes(found.labels))
            raise ScoreError(
                f"a score ranks rows for one positive label, but there are {len(found.labels)}: "
                f"{shown}{', ...' if len(found.labels) > 6 else ''}. Say positive= or negative=, "
                f"or give y_proba with a column a label{alike}"
            )
        is_probability, untold = _scale(score)
        if threshold is None and decision is None:
            threshold = USUAL if is_probability else None
            notes += untold
    return Batch(
        labels=found.labels,
        positive=found.positive,
        truth=recode(truth, found.position),
        decision=None if decision is None else recode(decision, found.position),
        score=score,
        probabilities=probabilities,
        threshold=threshold if decision is None else None,
        is_probability=is_probability,
        counts=amounts,
        weights=weights,
        clusters=grouped["clusters"],
        days=grouped["times"],
        slices=parts,
        notes=tuple(notes),
        rows=rows,
    )


def _sliced(slices: Any) -> Mapping[str, Any]:
    """Columns to slice by: a mapping from name to column, or a dataframe."""
    if slices is None or isinstance(slices, Mapping):
        return slices or {}
    if hasattr(slices, "columns"):
        return columns_of(slices)
    raise InputError(f"slices are a mapping from name to column; found {type(slices).__name__}")


def _scale(score: Array) -> tuple[bool, list[str]]:
    """Whether scores can be probabilities, and if not what to say where they alone decide."""
    low, high = extremes(score)
    if low >= 0 and high <= 1:
        return True, []
    return False, [undecided_note(low, high)]


def _said(y_pred: Any, y_score: Any, y_proba: Any, threshold: Any) -> tuple[Any, Any, float | None]:
    """The columns of what a model said; one column of probabilities is a score."""
    if y_score is None and y_pred is None and y_proba is None:
        raise LabelError("give y_score, y_pred or y_proba: without one of them nothing is judged")
    if y_score is not None and y_proba is not None:
        raise ScoreError("give y_score or y_proba, not both")
    single = _one_column(y_proba)
    if single is not None:
        _must_be_shares(single)
        y_score, y_proba = single, None
    if threshold is None:
        return y_score, y_proba, None
    if y_pred is not None:
        raise ScoreError("threshold= decides on y_score; decisions are taken as they are")
    return y_score, y_proba, checked_threshold(threshold)


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
    names: tuple[Any, ...] | None, truth: Labels, labels: Sequence[Any] | None
) -> tuple[Any, ...] | None:
    """The labels of columns of probabilities, as they are named or listed; None where they aren't.

    Rows of a label that has no column are refused.
    """
    if names is None or labels is not None:
        return names if names is not None or labels is None else tuple(labels)
    columns = [label_text(name) for name in names]
    absent = [name for name in truth.names if name not in columns]
    if absent:
        raise LabelError(
            f"rows are labelled {', '.join(map(repr, absent[:6]))}, of which y_proba has no "
            f"column; it has {', '.join(map(repr, columns[:6]))}. Give a column a label, or name "
            f"the one label that the model does not know with unknown="
        )
    return names


def _order(
    table: Array, truth: Labels, names: tuple[Any, ...] | None, found: Labelling
) -> list[str]:
    """The labels of the columns of a table of probabilities: as named, as listed, or sorted."""
    if names is not None:
        if len(names) != table.shape[1]:
            raise ScoreError(
                f"y_proba has {table.shape[1]} columns, but labels= names {len(names)}: "
                f"{list(names)}"
            )
        return [label_text(name) for name in names]
    numbers = truth.kind == "numbers"
    expected = sorted(found.position or found.labels, key=lambda n: int(n) if numbers else n)
    if table.shape[1] != len(expected):
        raise ScoreError(
            f"y_proba has {table.shape[1]} columns, but there are {len(expected)} labels: "
            f"{expected}. Say labels=, or give y_proba as a mapping from label to column"
        )
    return [str(name) for name in expected]


def _columns(
    table: Array, truth: Labels, names: tuple[Any, ...] | None, found: Labelling
) -> npt.NDArray[np.float64]:
    order = _order(table, truth, names, found)
    absent = [label for label in found.labels if label not in order]
    if absent:
        raise ScoreError(f"y_proba has no column for {absent}; its columns are {order}")
    _must_be_probabilities(table)
    return np.ascontiguousarray(table[:, [order.index(label) for label in found.labels]])


def _positive_column(
    table: Array, truth: Labels, names: tuple[Any, ...] | None, found: Labelling
) -> Array:
    order = _order(table, truth, names, found)
    _must_be_probabilities(table)
    chosen = [i for i, name in enumerate(order) if found.position.get(name) == 1]
    return np.ascontiguousarray(table[:, chosen].sum(axis=1).clip(0, 1))


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


def _families(truth: Labels, found: Labelling) -> Named:
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


def _kept(amounts: Array | None) -> Array | None:
    """Rows of count or weight zero are as if they were not there."""
    if amounts is None or amounts.all():
        return None
    return np.flatnonzero(amounts)


def _rows(column: Labels | None, kept: Array) -> Any:
    return None if column is None else Labels(column.codes[kept], column.names, column.kind).used()


def _same_length(rows: int, columns: Mapping[str, Array | None]) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != rows:
            raise LengthMismatch(
                f"{name} has {len(column)} rows and y_true has {rows}: they must describe the "
                f"same rows"
            )
