"""Columns of anything (lists, NumPy, pandas, polars, pyarrow) as arrays, and labels as 0 and 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.labels import label_text, resolve_labels
from assay.errors import InputError, LabelError, ScoreError
from assay.text import quote

Array: TypeAlias = npt.NDArray[Any]


def array_of(values: Any, name: str) -> Array:
    """A column as a one-dimensional array."""
    if isinstance(values, str | bytes | Mapping):
        raise InputError(f"{name} must be a column of values; found one {type(values).__name__}")
    check_ordered(name, values)
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise InputError(f"{name} has masked values; remove those rows first")
    if hasattr(values, "__array__"):
        array = np.asarray(values)
    else:
        try:
            items = list(values)
        except TypeError:
            raise InputError(f"{name} must be a column; found {quote(values)}") from None
        kinds = {type(item) for item in items}
        # NumPy would turn a mix of numbers and text into text.
        array = np.array(items) if len(kinds) == 1 or kinds <= {int, float} else np.empty(0)
        if not len(array):
            array = np.array(items, object)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InputError(f"{name} must be one column; found an array of shape {array.shape}")
    return array


def check_ordered(name: str, values: Any) -> None:
    """Refuse a set: which row each value belongs to would change from run to run.

    >>> check_ordered("y_true", {"attack", "normal"})
    Traceback (most recent call last):
    assay.errors.InputError: y_true is a set, whose values have no order: give a list
    """
    if isinstance(values, set | frozenset):
        raise InputError(f"{name} is a set, whose values have no order: give a list")


def columns_of(frame: Any) -> dict[Any, Array]:
    """The columns of a dataframe by name."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame, eager_only=True)
        return {column.name: column.to_numpy() for column in wrapped.iter_columns()}
    except (TypeError, ValueError, nw.exceptions.NarwhalsError) as error:
        kind = type(frame).__name__
        raise InputError(f"a {kind} can't be read as columns of a dataframe: {error}") from error


def check_index(columns: Mapping[str, Any]) -> None:
    """Refuse pandas columns whose indexes differ.

    Rows are matched by position. Where an index says otherwise one of the two is wrong, and there
    is no way to know which.
    """
    first = None
    for name, index in _indexes(columns):
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not index.equals(first[1]):
            one, other = first[1].tolist(), index.tolist()
            row = next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), 0)
            raise InputError(
                f"the indexes of {first[0]} and {name} differ: row {row + 1} is "
                f"{one[row]!r} in {first[0]} and {other[row]!r} in {name}. Align them, or, if "
                f"the rows are in the same order, drop the index with .reset_index(drop=True)"
            )


def _indexes(columns: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, column in columns.items():
        if isinstance(column, Mapping):
            yield from _indexes({f"{name}[{key!r}]": each for key, each in column.items()})
        elif type(column).__module__.partition(".")[0] == "pandas" and hasattr(column, "index"):
            yield name, column.index


def scores_of(values: Any, name: str) -> npt.NDArray[np.float64]:
    """A column of finite scores."""
    array = array_of(values, name)
    if array.dtype.kind not in "iuf":
        raise ScoreError(f"{name} must be numbers; found {quote(array[:1].tolist())}")
    scores = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise ScoreError(
            f"{name} must be finite: {len(bad)} of {len(scores)} values are not; the first is "
            f"{scores[bad[0]]} in row {bad[0] + 1}. Remove those rows or give them a score"
        )
    return scores


def binary_labels(values: Any, positive: Any, name: str) -> tuple[tuple[str, str], Array]:
    """The negative and the positive label, and 1 for each positive row.

    The positive is given, or known where the other label is a usual word for harmless.

    >>> binary_labels(["ham", "spam", "ham"], None, "y_true")
    (('ham', 'spam'), array([0, 1, 0], dtype=uint8))
    """
    texts = [_text(value, name) for value in array_of(values, name).tolist()]
    distinct = sorted(set(texts))
    if len(distinct) != 2:
        raise LabelError(f"{name} must have two labels; found {len(distinct)}: {distinct[:6]}")
    negative, chosen = resolve_labels(distinct, positive=positive).labels
    return (negative, chosen), np.array([text == chosen for text in texts], np.uint8)


def _text(value: Any, name: str) -> str:
    try:
        return label_text(value)
    except LabelError as error:
        raise LabelError(f"{name}: {error}") from None
