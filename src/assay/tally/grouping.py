"""Rows and tables of counts, put together by their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.tally.blocks import map_blocks
from assay.tally.keeping import Floats, Ids, cells, lowest
from assay.tally.packed import LARGE, count_binary

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]

# Rows are put into cells so many at a time, and so many counters are laid out at most.
_CHUNK = 1 << 22
_COUNTERS = 1 << 23
# Tables whose rows are at most so many times their scores are counted as rows are.
_FEW_TIES = 2


def group(scores: Array, columns: Array) -> tuple[Array, Array]:
    """Distinct scores ascending, and the sums of each column over each score that has any."""
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sums = np.add.reduceat(columns[:, order], starts, axis=1)
    held = sums.any(axis=0)
    return scores[starts][held], sums[:, held]


def in_cells(scores: Scores, columns: Array, bits: int) -> tuple[Floats, Array]:
    """A table of ascending scores, its columns added up over the cells of a grid."""
    ids = cells(scores, bits)
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    wide = columns if columns.dtype.kind == "f" else columns.astype(np.int64)
    return lowest(ids[starts], bits), np.add.reduceat(wide, starts, axis=1)


# -- rows into cells -------------------------------------------------------------------------------


def count_cells(scores: Scores, truth: Array, labels: int, bits: int) -> tuple[Floats, Array]:
    """The lowest score of each cell that holds rows, and how many of each label it holds."""
    found = [
        _chunk_cells(scores[i : i + _CHUNK], truth[i : i + _CHUNK], labels, bits)
        for i in range(0, len(scores), _CHUNK)
    ]
    ids, counts = found[0]
    if len(found) > 1:
        ids, counts = group(
            np.concatenate([part for part, _ in found]),
            np.concatenate([part for _, part in found], axis=1),
        )
    return lowest(ids, bits), counts


def _chunk_cells(scores: Scores, truth: Array, labels: int, bits: int) -> tuple[Ids, Array]:
    keys = cells(scores, bits)
    low, span = int(keys.min()), int(np.ptp(keys)) + 1
    if span * labels <= min(_COUNTERS, 8 * len(keys) + _COUNTERS // 64):
        np.subtract(keys, low, out=keys)
        np.multiply(keys, labels, out=keys)
        np.add(keys, truth, out=keys, casting="unsafe")
        counters = np.bincount(keys, minlength=span * labels).reshape(span, labels)
        held = np.flatnonzero(counters.any(axis=1))
        return held + low, np.ascontiguousarray(counters[held].T)
    ids, places = np.unique(keys, return_inverse=True)
    places = places * labels + truth
    return ids, np.bincount(places, minlength=len(ids) * labels).reshape(-1, labels).T


# -- many tables -----------------------------------------------------------------------------------


def sum_tables(scores: Sequence[Scores], columns: Sequence[Array]) -> tuple[Scores, Array]:
    """The sum of tables of ascending scores: distinct scores, and the sums of each column."""
    dtype = np.result_type(*scores)
    if len(columns[0]) == 2 and columns[0].dtype.kind == "u":
        rows = sum(int(part.sum(dtype=np.int64)) for part in columns)
        if rows <= _FEW_TIES * sum(len(part) for part in scores):
            return _by_rows(scores, columns, rows, dtype)
    both = np.concatenate([part.astype(dtype, copy=False) for part in scores])
    both = _sorted(both)
    distinct = both[np.concatenate(([True], both[1:] != both[:-1]))]
    wide: Any = np.float64 if columns[0].dtype.kind == "f" else np.int64
    sums = np.zeros((len(columns[0]), len(distinct)), wide)
    for part, counts in zip(scores, columns, strict=True):
        places = _places(distinct, part)
        for row, own in zip(sums, counts, strict=True):
            row[places] += own.astype(wide, copy=False)
    return distinct, sums


def _by_rows(
    scores: Sequence[Scores], columns: Sequence[Array], size: int, dtype: Any
) -> tuple[Scores, Array]:
    """The same for two labels and few ties: the rows are written out and counted."""
    values, truth = np.empty(size, dtype), np.empty(size, np.uint8)
    filled = 0
    for part, counts in zip(scores, columns, strict=True):
        if len(part) == int(counts.sum(dtype=np.int64)):
            stop = filled + len(part)
            values[filled:stop], truth[filled:stop] = part, counts[1]
            filled = stop
            continue
        for label, amounts in enumerate(counts):
            stop = filled + int(amounts.sum(dtype=np.int64))
            values[filled:stop] = np.repeat(part, amounts)
            truth[filled:stop] = label
            filled = stop
    return count_binary(values, truth, min(float(part[0]) for part in scores))


def _sorted(scores: Scores) -> Scores:
    if len(scores) < LARGE:
        scores.sort()
        return scores
    import polars as pl

    return pl.Series(scores).sort().to_numpy()


def _places(distinct: Scores, scores: Scores) -> Array:
    """Where ascending scores stand among distinct ones that hold them."""
    found = np.empty(len(scores), np.int64)

    def work(i: int, j: int) -> None:
        found[i:j] = np.searchsorted(distinct, scores[i:j])

    map_blocks(len(scores), lambda: work)
    return found
