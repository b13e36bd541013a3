"""A confusion matrix that was given as counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.sources import infer, label_text
from assay.tally import Confusion, Tally


def counts_tally(
    tp: int | None,
    fp: int | None,
    fn: int | None,
    tn: int | None,
    *,
    matrix: Sequence[Sequence[int]] | None = None,
    labels: Sequence[Any] | None = None,
    positive: Any = None,
) -> tuple[Tally, tuple[str, ...]]:
    """The tally of a confusion matrix that was given as counts, and what was inferred."""
    notes: tuple[str, ...] = ()
    labels = None if labels is None else list(labels)
    cells = (tp, fp, fn, tn)
    if matrix is not None:
        if any(cell is not None for cell in cells):
            raise InputError("give the four cells or a matrix, not both")
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
    else:
        named = dict(zip(("tp", "fp", "fn", "tn"), cells, strict=True))
        absent = [name for name, cell in named.items() if cell is None]
        if absent:
            raise InputError(f"four cells are needed: tp, fp, fn, tn; missing: {', '.join(absent)}")
        true_positive, false_positive, false_negative, true_negative = map(_count, cells)
        rows = [[true_negative, false_positive], [false_negative, true_positive]]
        names = [label_text(label) for label in labels or ("negative", "positive")]
        if len(names) != 2:
            raise InputError(f"four cells have two labels, the negative first; found {names}")
        positive = names[1] if positive is None else positive
    if len(set(names)) != len(names):
        raise InputError(f"labels must differ from each other; found {names}")
    if positive is None and len(names) == 2:
        found = infer(names)
        positive, notes = found.positive, found.notes
    if positive is not None:
        positive = label_text(positive)
        if positive not in names:
            raise InputError(f"positive={positive!r} is none of the labels {names}")
        if len(names) == 2 and names[0] == positive:
            names.reverse()
            rows = [row[::-1] for row in rows[::-1]]
    confusion = Confusion(tuple(names), tuple(tuple(row) for row in rows))
    if positive is not None and len(names) > 2:
        confusion = confusion.against_rest(names.index(positive))
    return Tally.of_confusion(confusion, positive=positive), notes


def _count(cell: Any) -> int:
    if isinstance(cell, bool) or not isinstance(cell, int | np.integer):
        if isinstance(cell, float) and cell.is_integer():
            return int(cell)
        raise InputError(f"a cell of a confusion matrix is a whole number; found {cell!r}")
    if cell < 0:
        raise InputError(f"a cell of a confusion matrix is not negative; found {cell}")
    return int(cell)
