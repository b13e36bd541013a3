"""Probabilities of labels: which column is of which label, and when they are one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import LabelError, ScoreError
from assay.sources.coded import Coded
from assay.sources.columns import (
    NUMBER,
    TEXT,
    columns_of,
    label_text,
    must_be_as_long,
    native,
    scores_of,
    without_gradients,
)
from assay.sources.labelling import ONE_SIDE, label_as, lookalikes
from assay.sources.number_checks import SUM_TOLERANCE, not_probabilities, off_one
from assay.tally.scores import extremes

Array: TypeAlias = npt.NDArray[Any]

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


def ranking_of(y_pred: Any, y_score: Any, y_proba: Any) -> tuple[Any, Any]:
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
    return scores_of(y_proba, "y_proba") if _is_one_column(y_proba) else None


def _is_one_column(y_proba: Any) -> bool:
    nested = isinstance(y_proba, list | tuple) and y_proba and hasattr(y_proba[0], "__len__")
    return not nested and getattr(y_proba, "ndim", 1) == 1


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
        must_be_as_long(len(arrays[0]), {str(n): a for n, a in zip(columns, arrays, strict=True)})
        return np.stack(arrays, axis=1).astype(np.float64), tuple(columns)
    try:
        table = np.asarray(without_gradients(y_proba), dtype=np.float64)
    except (TypeError, ValueError) as odd:
        raise ScoreError(f"y_proba must be a table of numbers, a column a label: {odd}") from odd
    if table.ndim != 2 or table.shape[1] < 2:
        raise ScoreError(f"y_proba must have a column a label; found shape {table.shape}")
    return table, None


def probability_columns(y_proba: Any) -> dict[str, Any]:
    """Each column of probabilities by a name for it; none where they are no table."""
    if y_proba is None:
        return {}
    if isinstance(y_proba, Mapping) or hasattr(y_proba, "columns"):
        table = y_proba if isinstance(y_proba, Mapping) else columns_of(y_proba)
        return {f"y_proba[{name!r}]": column for name, column in table.items()}
    if _is_one_column(y_proba):
        return {"y_proba": y_proba}
    columns, _ = probabilities_of(y_proba, TEXT)
    return {f"y_proba[:, {i}]": column for i, column in enumerate(columns.T)}


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


def column_labels(
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


def must_be_probabilities(table: Array) -> None:
    """Refuse a row whose probabilities are none, or do not sum to 1."""
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if len(bad):
        shown = table[bad[0]].tolist()
        raise ScoreError(f"y_proba must be finite numbers; row {bad[0]} is {shown}")
    bad = np.flatnonzero(not_probabilities(table).any(axis=1))
    if len(bad):
        shown = table[bad[0]].tolist()
        raise ScoreError(f"probabilities lie in [0, 1]; row {bad[0]} is {shown}")
    total = table.sum(axis=1)
    if off_one(total).any():
        row = int(np.abs(total - 1).argmax())
        raise ScoreError(
            f"the probabilities of a row must sum to 1 within {SUM_TOLERANCE:g}; row {row} sums "
            f"to {total[row]:.9g}"
        )
