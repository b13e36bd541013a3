"""What a model said, given by position: decisions, scores or probabilities, told by its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.engines.devices import library_of
from assay.errors import InputError, LabelError
from assay.sources.coded import Labels
from assay.sources.columns import (
    BOOLEAN,
    NUMBER,
    TEXT,
    array_of,
    is_missing,
    label_kind,
    label_text,
)
from assay.sources.labelling import shown_labels

Array: TypeAlias = npt.NDArray[Any]

SCORES, DECISIONS, PROBABILITIES = "y_score", "y_pred", "y_proba"
_NAME = "the second argument"
# Enough rows to meet a fraction where scores have any; else all are looked at.
_FIRST_LOOK = 1 << 16


def by_position(
    y_true: Any, predictions: Any, given: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The column that predictions by position stand for, and what is to be noted.

    Columns of several labels are probabilities; text and booleans are decisions; numbers with a
    fraction are scores. Whole numbers are decisions if all of them are labels, and scores if there
    are more of them than labels; both is noted. Anything else is refused.

    >>> by_position(["attack", "normal"], [0.9, 0.2], {})
    ({'y_score': [0.9, 0.2]}, ())
    >>> by_position([1, 0], [1, 1], {})[0]
    {'y_pred': [1, 1]}
    """
    for name in (SCORES, DECISIONS, PROBABILITIES):
        if given.get(name) is not None:
            raise InputError(
                f"what the model said is there by position and as {name}=: give one of them, or "
                f"all by name"
            )
    if is_table(predictions):
        return {PROBABILITIES: predictions}, ()
    if library_of(predictions) is not None:
        return _of_tensor(y_true, predictions)
    kept = predictions if hasattr(predictions, "__len__") else list(predictions)
    role, notes = role_of(array_of(kept, _NAME), y_true, _NAME)
    return {role: kept}, notes


def is_table(values: Any) -> bool:
    """Whether there are several columns: an array or a list of rows, a dataframe, a mapping."""
    shape = getattr(values, "shape", None)
    if shape is not None and len(shape) == 2:
        return bool(shape[1] != 1)
    if isinstance(values, Mapping) or hasattr(values, "columns"):
        return True
    return isinstance(values, list | tuple) and bool(values) and _is_row(values[0])


def _is_row(value: Any) -> bool:
    return not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0 and _sized(value)


def _sized(value: Any) -> bool:
    return hasattr(value, "__len__") and len(value) > 1


def _of_tensor(y_true: Any, values: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Tensors are told by their type, so that their values stay on their device."""
    kind = str(values.dtype)
    if "float" in kind:
        return {SCORES: values}, ()
    if "bool" in kind:
        return {DECISIONS: values}, ()
    if str(getattr(values, "device", "")) == "cpu":
        role, notes = role_of(array_of(values, _NAME), y_true, _NAME)
        return {role: values}, notes
    raise InputError(
        f"{_NAME} is of type {kind} on a device: say whether it holds scores, y_score=, or "
        f"decisions, y_pred="
    )


def role_of(values: Array, y_true: Any, name: str) -> tuple[str, tuple[str, ...]]:
    """Whether a column holds scores or decisions, and what is to be noted; ``name`` is its own."""
    numbers = None if values.dtype.kind in "USb" else _numbers(values)
    if numbers is None:
        return DECISIONS, ()
    if has_fraction(numbers) or not np.isfinite(numbers).any():
        # Where there is no number at all, the checks of scores say so.
        return SCORES, ()
    distinct = [label_text(int(value)) for value in np.unique(numbers[np.isfinite(numbers)])]
    labels, kind = _labels(y_true)
    if kind == BOOLEAN:
        labels = {"0" if label == "false" else "1" for label in labels}
    shown = shown_labels(distinct, NUMBER)
    if kind in (NUMBER, BOOLEAN) and labels.issuperset(distinct):
        note = (
            f"{name} holds {shown}, which are labels, so it was read as decisions; if these are "
            f"scores, say assay.evaluate(y, y_score=...)"
        )
        return DECISIONS, (note,)
    if len(distinct) > len(labels):
        note = (
            f"{name} holds {len(distinct)} whole numbers for {len(labels)} labels, so it was read "
            f"as scores; if these are decisions, say assay.evaluate(y, y_pred=...)"
        )
        return SCORES, (note,)
    raise LabelError(
        f"{name} holds {shown}, and the labels are {shown_labels(sorted(labels), kind or TEXT)}: "
        f"these may be scores, codes of labels, or decisions for labels that do not occur. Say "
        f"y_score= for scores, or y_pred= with decisions that are written like the labels"
    )


def _numbers(values: Array) -> Array | None:
    """The values as floats, nan where one is missing; None where some are no numbers."""
    if values.dtype.kind in "iuf":
        return np.asarray(values, np.float64)
    if values.dtype.kind != "O":
        return None
    found = [np.nan if is_missing(value) else value for value in values.tolist()]
    plain = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in found)
    return np.array(found, np.float64) if plain else None


def has_fraction(numbers: Array) -> bool:
    """Whether some number is not whole."""
    for start, stop in ((0, _FIRST_LOOK), (_FIRST_LOOK, len(numbers))):
        part = numbers[start:stop]
        part = part[np.isfinite(part)]
        if (part != np.floor(part)).any():
            return True
    return False


def _labels(y_true: Any) -> tuple[set[str], str | None]:
    """The labels that are there, and their kind; what is wrong with them is told when counted."""
    if isinstance(y_true, Labels):
        return set(y_true.names), y_true.kind
    array = array_of(y_true, "y_true")
    values = set(array.tolist()) if array.dtype.kind == "O" else np.unique(array).tolist()
    labels: set[str] = set()
    kind = None
    for value in values:
        if is_missing(value):
            continue
        labels.add(label_text(value))
        kind = label_kind(value)
    return labels, kind
