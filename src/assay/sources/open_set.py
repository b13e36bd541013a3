"""Rows of a label that the model does not know, kept apart from the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError, LabelError, ScoreError
from assay.sources.arrays import from_arrays, probabilities_of
from assay.sources.batch import Batch, Labels, Named, UnknownRows
from assay.sources.columns import array_of, label_text, labels_of, names_of
from assay.sources.times import day_names

Array: TypeAlias = npt.NDArray[Any]

# A model of two labels decides by one score; of three or more the largest probability decides.
FEWEST_KNOWN = 3


def open_arrays(y_true: Any, *, unknown: Any = None, **columns: Any) -> Batch:
    """The columns of one model's rows, as :func:`from_arrays` takes them.

    With ``unknown``, a label of which the model has no probability, the batch is of all other rows,
    and its ``unknown`` holds those.
    """
    if unknown is None:
        return from_arrays(y_true, **columns)
    if columns.get("y_proba") is None:
        raise ScoreError(
            f"unknown={unknown!r} ranks rows by the probabilities of the labels that are known: "
            f"give y_proba="
        )
    for name in ("positive", "negative"):
        if columns.get(name) is not None:
            raise InputError(f"give unknown= or {name}=, not both: an open set has several classes")
    truth = labels_of(y_true, "y_true")
    table, names = probabilities_of(columns["y_proba"], truth.kind)
    label = label_text(unknown)
    _must_be_unknown(label, truth, names, columns.get("labels"))
    if len(table) != len(truth.codes):
        return from_arrays(truth, **columns)  # which says so
    outside = np.array([name == label for name in truth.names], bool)[truth.codes]
    known, apart = np.flatnonzero(~outside), np.flatnonzero(outside)
    if not len(known) and columns.get("labels") is None:
        raise LabelError(f"every row is labelled {label!r}: no row has a label that is known")
    inside = {name: _taken(name, column, known) for name, column in columns.items()}
    inside["y_proba"] = table[known]
    if names is not None:
        inside["y_proba"] = dict(zip(names, table[known].T, strict=True))
    if columns.get("labels") is not None and _nothing_left(inside, known):
        batch = _no_rows(columns["labels"], inside)
    else:
        batch = from_arrays(_some(truth, known), **inside)
    if batch.positive is not None or len(batch.labels) < FEWEST_KNOWN:
        shown = ", ".join(map(repr, batch.labels))
        raise LabelError(
            f"unknown={unknown!r} is for three or more known labels; found {shown}. With two, give "
            f"a score and say positive="
        )
    rows = _unknown_rows(label, table, apart, columns)
    outside = len(rows.largest) if rows.counts is None else int(rows.counts.sum())
    inside = len(batch.truth) if batch.counts is None else int(batch.counts.sum())
    notes = (*batch.notes, unknown_note(label, outside, inside))
    return replace(batch, unknown=rows, rows=len(truth.codes), notes=notes)


def _nothing_left(columns: Mapping[str, Any], rows: Array) -> bool:
    amounts = [columns[n] for n in ("counts", "sample_weight") if columns.get(n) is not None]
    return not len(rows) or any(not np.any(amount) for amount in amounts)


def _no_rows(labels: Any, columns: Mapping[str, Any]) -> Batch:
    """No rows of known labels, as a part of the data may have none."""
    names = tuple(sorted(label_text(label) for label in labels))
    clusters, days = columns.get("clusters"), columns.get("times")
    return Batch(
        names,
        None,
        np.empty(0, np.uint16),
        probabilities=np.empty((0, len(names))),
        counts=None if columns.get("counts") is None else np.empty(0, np.int64),
        weights=None if columns.get("sample_weight") is None else np.empty(0),
        clusters=None if clusters is None else Named(np.empty(0, np.int64), clusters.names),
        days=None if days is None else Named(np.empty(0, np.int64), days.names),
    )


def _must_be_unknown(label: str, truth: Labels, names: tuple[Any, ...] | None, labels: Any) -> None:
    if label not in truth.names and labels is None:
        shown = ", ".join(map(repr, truth.names[:6]))
        raise LabelError(
            f"unknown={label!r} does not occur; the labels are {shown}. If it may be absent, list "
            f"the known ones in labels="
        )
    if label in {label_text(name) for name in names or ()}:
        raise LabelError(
            f"there is a probability of {label!r}, so the model knows it: leave out that column or "
            f"unknown="
        )
    if labels is not None and label in {label_text(name) for name in labels}:
        raise LabelError(
            f"labels= lists {label!r}, which unknown= says that the model does not know: list the "
            f"known labels"
        )


def _unknown_rows(
    label: str, table: Array, apart: Array, columns: Mapping[str, Any]
) -> UnknownRows:
    """The rows of the unknown label, those of count or weight zero left out.

    They are checked as the others are, with any of the known labels for a truth.
    """
    checked = {name: columns.get(name) for name in ("counts", "sample_weight", "clusters")}
    given = {n: _taken(n, c, apart) for n, c in checked.items() if c is not None}
    if _nothing_left(given, apart):
        none = {n: np.asarray(c)[:0] for n, c in given.items() if n != "clusters"}
        clusters = np.empty(0, np.int64) if "clusters" in given else None
        amounts = none.get("counts"), none.get("sample_weight")
        return UnknownRows(label, np.empty(0), *amounts, clusters)
    one = Labels(np.zeros(len(apart), np.uint8), ("0",), "text")
    names = [str(i) for i in range(table.shape[1])]
    batch = from_arrays(one, y_proba=dict(zip(names, table[apart].T, strict=True)), **given)
    assert batch.probabilities is not None  # noqa: S101 - there are three columns or more
    return UnknownRows(
        label,
        batch.probabilities.max(axis=1),
        batch.counts,
        batch.weights,
        None if batch.clusters is None else batch.clusters.codes,
    )


def _taken(name: str, column: Any, rows: Array) -> Any:
    """Some rows of a column; what is no column as it is."""
    if column is None or name in ("labels", "positive", "negative", "threshold", "y_proba"):
        return column
    if name == "slices":
        parts = dict(column) if isinstance(column, Mapping) else column
        return {str(n): _named(parts[n], str(n), rows) for n in parts}
    if name == "clusters":
        return _named(column, name, rows)
    if name == "times":
        days = day_names(column, name)
        return Named(days.codes[rows], days.names)
    if name == "y_pred":
        return _some(labels_of(column, name), rows)
    return array_of(column, name)[rows]


def _named(column: Any, name: str, rows: Array) -> Named:
    found = names_of(column, name)
    return Named(found.codes[rows], found.names)


def _some(column: Labels, rows: Array) -> Labels:
    return Labels(column.codes[rows], column.names, column.kind).used()


def unknown_note(label: str, outside: int, inside: int) -> str:
    """What to say of rows of a label that the model does not know."""
    return (
        f"{outside:,} rows are labelled {label!r}, which the model does not know: only how "
        f"they rank against the {inside:,} others is judged, and every other measure is of those "
        f"{inside:,} alone"
    )
