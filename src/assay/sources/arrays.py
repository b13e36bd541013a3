"""Arrays, lists and dataframe columns, checked and coded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import EmptyInput, InputError, ScoreError
from assay.sources.amounts import amounts_of, kept_of, repeated_counts
from assay.sources.coded import Coded, Labels, Named
from assay.sources.columns import (
    TEXT,
    columns_of,
    label_text,
    labels_of,
    must_be_as_long,
    must_share_index,
    names_of,
    polars_column,
    scores_of,
)
from assay.sources.labelling import Labelling, unify
from assay.sources.probabilities import (
    column_labels,
    must_be_probabilities,
    probabilities_of,
    probability_columns,
    ranking_of,
)
from assay.sources.row_checks import Problem
from assay.sources.thresholds import checked_threshold
from assay.sources.times import day_names
from assay.sources.validation import Roles, RowCheck, bad_rows, reasons_of
from assay.tally.scores import extremes

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
    "on_bad_row",
)


def checked_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns by name, refused where a name is not one of those that are read."""
    odd = [name for name in columns if name not in COLUMNS]
    if odd:
        raise InputError(
            f"{', '.join(map(str, odd))} is not read; columns are {', '.join(COLUMNS)}"
        )
    return dict(columns)


# The role of each column of an array, as the check of rows knows it.
_ROLES = {
    "y_true": "label",
    "y_score": "score",
    "y_pred": "decision",
    "counts": "count",
    "sample_weight": "weight",
    "clusters": "cluster",
    "times": "time",
}


def good_rows(*tables: Mapping[str, Any]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many rows of arrays can't be used, by the reason, and the columns of all others.

    The rows of several tables belong together: one that is bad in any of them is left out of all.
    They are checked as those of a frame are.

    >>> good_rows({"y_true": ["a", None, "b"], "y_score": [0.5, 0.2, 0.1]})
    ({'label: missing': 1}, [{'y_true': ['a', 'b'], 'y_score': [0.5, 0.1]}])
    """
    given = [{name: _kept_once(column) for name, column in t.items()} for t in tables]
    rows = len(given[0]["y_true"])
    problems = [problem for table in given for problem in _problems(table, rows)]
    bad = bad_rows(problems, rows)
    if rows and bad.all():
        first = next(problem for problem in problems if problem.rows[0])
        raise EmptyInput(f"all {rows:,} rows were refused; of row 0 {first.why(0)}")
    kept = [{name: _filtered(column, ~bad) for name, column in table.items()} for table in given]
    return dict(sorted(reasons_of(problems, rows).items())), kept


def _problems(table: Mapping[str, Any], rows: int) -> list[Problem]:
    """What is wrong with the rows of some columns."""
    import polars as pl

    probable = probability_columns(table.get("y_proba"))
    columns = {name: table[name] for name in _ROLES if table.get(name) is not None}
    series = {n: polars_column(n, column) for n, column in {**columns, **probable}.items()}
    must_be_as_long(rows, series)
    named: dict[str, Any] = {"label": None, **{_ROLES[name]: name for name in columns}}
    roles = Roles(**named, probabilities={name: name for name in probable})
    frame = pl.DataFrame(list(series.values()))
    checked = RowCheck(roles).check(frame, "row {}".format) if series else None
    problems = [] if checked is None else checked.problems
    for problem in problems:
        if problem.fatal and problem.rows.any():
            raise problem.error(problem.why(int(problem.rows.argmax())))
    return problems


def _kept_once(column: Any) -> Any:
    """A column that can be gone through twice."""
    sized = column is None or hasattr(column, "__len__")
    return column if sized else list(column)


def _filtered(column: Any, kept: npt.NDArray[np.bool_]) -> Any:
    """Some rows of a column, of whatever kind it is."""
    if column is None:
        return None
    if isinstance(column, Mapping):
        return {name: _filtered(each, kept) for name, each in column.items()}
    if isinstance(column, list | tuple):
        return [value for value, keep in zip(column, kept.tolist(), strict=True) if keep]
    library = type(column).__module__.partition(".")[0]
    if library == "polars":
        return column.filter(kept)
    return column.filter(kept.tolist()) if library == "pyarrow" else column[kept]


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
    y_score, y_proba = ranking_of(y_pred, y_score, y_proba)
    decision = None if y_pred is None else labels_of(y_pred, "y_pred")
    score = None if y_score is None else scores_of(y_score, "y_score")
    table, names = (None, None) if y_proba is None else probabilities_of(y_proba, truth.kind)
    amounts, weights = amounts_of(counts, sample_weight)
    grouped = {
        "clusters": None if clusters is None else names_of(clusters, "clusters"),
        "times": None if times is None else day_names(times, "times"),
    }
    parts = {str(name): names_of(c, str(name)) for name, c in slice_columns(slices).items()}
    must_be_as_long(
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
    kept = kept_of(amounts if weights is None else weights)
    if kept is not None:
        # Rows that are left out are checked like all others.
        if score is not None:
            extremes(score)
        if table is not None:
            must_be_probabilities(table)
        coded = replace(coded.of_rows(kept), empty=rows - len(kept))
    if coded.decision is not None:
        truth, decision = unify(coded.truth, coded.decision)
        coded = replace(coded, truth=truth, decision=decision)
    if coded.probabilities is not None:
        columns = column_labels(coded, names, labels, unknown)
        must_be_probabilities(coded.probabilities)
        coded = replace(coded, columns=columns)
    return coded


def empty_note(rows: int) -> str:
    """What to say of rows of count or weight zero."""
    return f"{rows} rows have a count or weight of 0; they are as if they were not there"


def asked_threshold(threshold: Any, y_pred: Any) -> float:
    """A finite number, for scores that decide."""
    if y_pred is not None:
        raise ScoreError("threshold= decides on y_score; decisions are taken as they are")
    return checked_threshold(threshold)


def slice_columns(slices: Any) -> Mapping[str, Any]:
    """Columns to slice by: a mapping from name to column, or a dataframe."""
    if slices is None or isinstance(slices, Mapping):
        return slices or {}
    if hasattr(slices, "columns"):
        return columns_of(slices)
    raise InputError(f"slices are a mapping from name to column; found {type(slices).__name__}")


def coded_columns(columns: Mapping[str, Any]) -> Coded:
    """Columns that were checked elsewhere, as rows to be counted.

    Where there are no labels, all rows have one without a name.
    """
    table, repeats = columns.get("y_proba"), columns.get("repeats")
    counts = columns.get("counts")
    if repeats is not None:
        counts = repeats if counts is None else repeated_counts(counts, repeats)
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
    kept = kept_of(amounts) if coded.size else None
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
