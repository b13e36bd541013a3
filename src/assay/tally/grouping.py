"""Rows and tables of counts, put together by their scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.tally.blocks import map_blocks
from assay.tally.keeping import Floats, Ids, cells, lowest
from assay.tally.packed import merge_binary

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
    # Binades stay whole, and numbers are not negative.
    low = int(keys.min()) >> bits << bits
    np.subtract(keys, low, out=keys)
    span = int(keys.max()) + 1
    binades = np.arange((span >> bits) + 1)
    if span * labels > _COUNTERS // 8:
        # Far from 0, 1/2 and 1, and near them where there are no scores, most binades are empty.
        numbers = keys >> bits
        held = np.bincount(numbers, minlength=len(binades)) > 0
        binades = np.flatnonzero(held)
        np.bitwise_and(keys, (1 << bits) - 1, out=keys)
        np.bitwise_or(keys, (np.cumsum(held) - 1)[numbers] << bits, out=keys)
        span = len(binades) << bits
    if span * labels <= _COUNTERS:
        np.multiply(keys, labels, out=keys)
        np.add(keys, truth, out=keys, casting="unsafe")
        counters = np.bincount(keys, minlength=span * labels).reshape(span, labels)
        places = np.flatnonzero(counters.any(axis=1))
        counts = np.ascontiguousarray(counters[places].T)
    else:
        places, rows = np.unique(keys, return_inverse=True)
        rows = rows * labels + truth
        counts = np.bincount(rows, minlength=len(places) * labels).reshape(-1, labels).T
    ids = (binades[places >> bits] << bits) + (places & ((1 << bits) - 1)) + low
    return ids, counts


# -- many tables -----------------------------------------------------------------------------------


def sum_tables(scores: Sequence[Scores], columns: Sequence[Array]) -> tuple[Scores, Array]:
    """The sum of tables of ascending scores: distinct scores, and the sums of each column."""
    dtype = np.result_type(*scores)
    if len(columns[0]) == 2 and columns[0].dtype.kind == "u":
        rows = sum(int(part.sum(dtype=np.int64)) for part in columns)
        if rows <= _FEW_TIES * sum(len(part) for part in scores):
            return merge_binary(scores, columns)
    both = np.concatenate([part.astype(dtype, copy=False) for part in scores])
    # What is in order already is merged.
    both.sort(kind="stable")
    distinct = both[np.concatenate(([True], both[1:] != both[:-1]))]
    wide: Any = np.float64 if columns[0].dtype.kind == "f" else np.int64
    sums = np.zeros((len(columns[0]), len(distinct)), wide)
    for part, counts in zip(scores, columns, strict=True):
        places = _places(distinct, part)
        for row, own in zip(sums, counts, strict=True):
            row[places] += own.astype(wide, copy=False)
    return distinct, sums


def _places(distinct: Scores, scores: Scores) -> Array:
    """Where ascending scores stand among distinct ones that hold them."""
    found = np.empty(len(scores), np.int64)

    def work(i: int, j: int) -> None:
        found[i:j] = np.searchsorted(distinct, scores[i:j])

    map_blocks(len(scores), lambda: work)
    return found
