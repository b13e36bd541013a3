"""Exact scores of few rows, counted by NumPy alone.

A query engine and threads take longer to start than a few thousand rows to be sorted. A law says
that this returns what the kernel returns.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import narrow
from assay.counts.kernel import Rows, Table

Array: TypeAlias = npt.NDArray[Any]

# Fewer rows are counted here.
FEW = 100_000


def count_few(rows: list[Rows], labels: int, segments: int = 1) -> Table:
    """Count rows that are given in parts, as :func:`assay.counts.kernel.count_scores` does.

    >>> table = count_few([Rows(np.array([0.9, -1.0, 0.9]), np.array([1, 0, 1]))], labels=2)
    >>> table.scores.tolist(), table.labels.tolist(), table.counts.tolist()
    ([-1.0, 0.9], [0, 1], [1, 2])
    """
    # -0.0 is 0.0
    scores = _joined([each.scores for each in rows]) + rows[0].scores.dtype.type(0)
    codes = _joined([each.labels for each in rows])
    segment = _joined(
        [np.zeros(len(r.scores), np.uint8) if r.segments is None else r.segments for r in rows]
    )
    rows.clear()
    if segments == 1 and labels <= 2 and scores.min() >= 0:
        bits = np.dtype(f"u{scores.itemsize}")
        keys = (scores.view(bits) << 1) | codes.astype(bits)
        keys.sort()
        codes, scores = (keys & 1).astype(np.uint8), (keys >> 1).view(scores.dtype)
        new = keys[1:] != keys[:-1]
    else:
        order = np.lexsort((codes, scores, segment))
        codes, scores, segment = codes[order], scores[order], segment[order]
        new = (codes[1:] != codes[:-1]) | (scores[1:] != scores[:-1])
        new |= segment[1:] != segment[:-1]
    ends = np.append(np.flatnonzero(new) + 1, len(scores))
    counts = ends.copy()
    counts[1:] -= ends[:-1]
    starts = ends - counts
    return Table(segment[starts], scores[starts], codes[starts], narrow(counts))


def _joined(columns: list[Array]) -> Array:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
