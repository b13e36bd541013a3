"""A confusion matrix that was given as counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.sources import infer, label_text
from assay.sources.amounts import CELLS, ORIENTATIONS
from assay.tally import Confusion, Resolved

# The cubes of larger counts leave the range of floats, which intervals are computed in.
_LARGEST = 10**36


def counts_tally(
    tp: int | None,
    fp: int | None,
    fn: int | None,
    tn: int | None,
    *,
    matrix: Sequence[Sequence[int]] | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
    negative: Any = None,
    orientation: str | None = None,
) -> tuple[Resolved, tuple[str, ...]]:
    """The tally of a confusion matrix that was given as counts, and what was inferred."""
    if orientation is not None and orientation not in ORIENTATIONS:
        raise InputError(f"orientation= is {' or '.join(ORIENTATIONS)}; found {orientation!r}")
    if positive is not None and negative is not None:
        raise InputError("give positive= or negative=, not both: the one follows from the other")
    labels = None if labels is None else list(labels)
    cells = (tp, fp, fn, tn)
    if matrix is not None:
        if any(cell is not None for cell in cells):
            raise InputError("give the four cells or a matrix, not both")
        rows, names = _matrix(matrix, labels)
        if orientation == "predicted-rows":
            rows = [list(row) for row in zip(*rows, strict=True)]
    else:
        if orientation is not None:
            raise InputError("orientation= is of a matrix; four cells have their names")
        rows, names = _four(cells, labels)
        if positive is None and negative is None:
            positive = names[1]
    if len(set(names)) != len(names):
        raise InputError(f"labels must differ from each other; found {names}")
    notes: tuple[str, ...] = ()
    if positive is None and negative is None and len(names) == 2:
        inferred = infer(names)
        positive, notes = inferred.positive, inferred.notes
    confusion = Confusion(tuple(names), tuple(tuple(row) for row in rows))
    if positive is not None:
        confusion = confusion.against_rest(_position(names, positive=positive))
    elif negative is not None:
        confusion = _turned(confusion.against_rest(_position(names, negative=negative)))
    alarm = None if positive is None and negative is None else confusion.labels[1]
    return Resolved.of_confusion(confusion, positive=alarm), notes


def _matrix(
    matrix: Sequence[Sequence[int]], labels: Sequence[Any] | None
) -> tuple[list[list[int]], list[str]]:
    """The rows of a matrix, and the names of its classes."""
    try:
        rows = [[_count(cell) for cell in row] for row in matrix]
    except TypeError as odd:
        raise InputError(f"a matrix is rows of counts; found {matrix!r}") from odd
    names = [label_text(label) for label in labels or range(len(rows))]
    if len(names) < 2:
        raise InputError(f"a confusion matrix has two labels or more; found {len(names)}")
    if [len(row) for row in rows] != [len(names)] * len(names):
        raise InputError(
            f"a matrix of {len(names)} labels has {len(names)} rows of {len(names)} counts; "
            f"found rows of {[len(row) for row in rows]}"
        )
    return rows, names


def _four(
    cells: Sequence[int | None], labels: Sequence[Any] | None
) -> tuple[list[list[int]], list[str]]:
    """Four cells as a matrix, and the names of its two classes, the negative first."""
    absent = [name for name, cell in zip(CELLS, cells, strict=True) if cell is None]
    if absent:
        raise InputError(f"four cells are needed: tp, fp, fn, tn; missing: {', '.join(absent)}")
    true_positive, false_positive, false_negative, true_negative = map(_count, cells)
    names = [label_text(label) for label in labels or ("negative", "positive")]
    if len(names) != 2:
        raise InputError(f"four cells have two labels, the negative first; found {names}")
    return [[true_negative, false_positive], [false_negative, true_positive]], names


def _position(names: Sequence[str], **chosen: Any) -> int:
    """Where the label stands that was named as the positive or the negative."""
    ((side, label),) = chosen.items()
    label = label_text(label)
    if label not in names:
        raise InputError(
            f"{side}={label!r} is none of the labels {list(names)}; labels= gives them their names"
        )
    return list(names).index(label)


def _turned(confusion: Confusion) -> Confusion:
    """The same table with the other class first."""
    rows = tuple(row[::-1] for row in confusion.cells[::-1])
    return Confusion(confusion.labels[::-1], rows)


def _count(cell: Any) -> int:
    whole = isinstance(cell, int | np.integer) and not isinstance(cell, bool)
    if not whole and not (isinstance(cell, float) and cell.is_integer()):
        raise InputError(f"a cell of a confusion matrix is a whole number; found {cell!r}")
    if cell < 0:
        raise InputError(f"a cell of a confusion matrix is not negative; found {cell}")
    if cell > _LARGEST:
        raise InputError(
            f"a cell of a confusion matrix is at most 10^36; found one of "
            f"{math.log10(cell):.0f} digits"
        )
    return int(cell)
