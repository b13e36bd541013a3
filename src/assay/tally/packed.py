"""Binary rows without counts or weights, counted fast.

The bits of a float that is not negative are ordered like the float, so bits << 1 | label sorts
scores and labels at once, without an index. Negative scores have their bits turned over and are
sorted apart. Many keys are laid out in ranges of their scores and sorted range by range, so that
what a sort takes beside them stays small. The sorted keys are then turned into scores in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.tally.blocks import BLOCK, bounds, map_blocks

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]

# Below this many rows numpy sorts faster than polars starts its threads.
LARGE = 1 << 20
# How many rows a range has: half of all, but no less than the first and no more than the last.
_RANGE = (1 << 20, 1 << 24)
_RANGES = 2
# How many rows of merged tables are put in order at once.
_MERGED = 1 << 18


def count_binary(scores: Scores, truth: Array, low: float) -> tuple[Scores, Array]:
    """Distinct scores ascending, and how many negatives and positives have each.

    ``low`` is the smallest score.
    """
    edges = _edges(scores, low)
    keys = np.empty(len(scores), f"u{scores.dtype.itemsize}")
    ends = _pack(scores, truth, edges, keys)
    start = 0
    for stop in ends:
        _sort(keys[start:stop])
        start = stop
    return _counted(keys, ends[int(np.searchsorted(edges, 0.0))] if low < 0 else 0, scores.dtype)


def _counted(keys: Array, negatives: int, dtype: np.dtype[Any]) -> tuple[Scores, Array]:
    """The table of sorted keys, of which the first so many are of negative scores."""
    distinct, counts = _unpack(keys, negatives, dtype)
    np.subtract(counts[0] if len(distinct) < len(keys) else 1, counts[1], out=counts[0])
    return distinct, narrow(counts)


def merge_binary(scores: Sequence[Scores], counts: Sequence[Array]) -> tuple[Scores, Array]:
    """The same of tables of ascending scores and the rows of two labels at each of them.

    Their keys are ascending too, and runs that are in order are merged faster than rows are sorted.
    """
    dtype = np.result_type(*scores)
    longest = max(scores, key=len)
    ranges = max(sum(map(len, scores)) // _MERGED, 1)
    edges = longest[[i * len(longest) // ranges for i in range(1, ranges)]].astype(dtype)
    low = min(float(part[0]) for part in scores)
    edges = np.unique(np.append(edges, dtype.type(0)) if low < 0 else edges)
    runs = [_run(part, rows, edges, dtype) for part, rows in zip(scores, counts, strict=True)]
    ends = np.cumsum([sum(len(run[i]) for run in runs) for i in range(len(edges) + 1)])
    keys = np.empty(int(ends[-1]), f"u{dtype.itemsize}")

    def merge(i: int, _: int) -> None:
        start = int(ends[i - 1]) if i else 0
        np.concatenate([run[i] for run in runs], out=keys[start : ends[i]])
        keys[start : ends[i]].sort(kind="stable")
        for run in runs:
            run[i] = run[i][:0]

    map_blocks(len(ends), lambda: merge, block=1)
    return _counted(keys, int(ends[int(np.searchsorted(edges, 0.0))]) if low < 0 else 0, dtype)


def _run(scores: Scores, counts: Array, edges: Scores, dtype: np.dtype[Any]) -> list[Array]:
    """The keys of a table in order, a row each, cut at the edges."""
    bits = scores.astype(dtype).view(f"u{dtype.itemsize}")
    np.invert(bits, out=bits, where=scores < 0)
    np.left_shift(bits, 1, out=bits)
    cuts = np.searchsorted(scores, edges)
    if int(counts.sum(dtype=np.int64)) == len(scores):
        np.bitwise_or(bits, counts[1].astype(bits.dtype), out=bits)
        return np.split(bits, cuts)
    both = np.stack([bits, bits | bits.dtype.type(1)], axis=1)
    rows = np.cumsum(counts.sum(axis=0, dtype=np.int64))
    before = np.append(0, rows)[cuts]
    return np.split(np.repeat(both.reshape(-1), counts.T.reshape(-1)), before)


def _edges(scores: Scores, low: float) -> Scores:
    """Where to cut scores into ranges of about as many rows; few are cut at 0 alone.

    Equal scores are never cut apart, and where the cuts lie does not change the result.
    """
    rows = min(max(len(scores) // _RANGES, _RANGE[0]), _RANGE[1])
    ranges = -(-len(scores) // rows)
    edges = scores[:0]
    if ranges > 1:
        sample = np.sort(scores[:: max(len(scores) >> 16, 1)])
        edges = sample[[i * len(sample) // ranges for i in range(1, ranges)]]
    if low < 0:
        edges = np.append(edges, scores.dtype.type(0))
    return np.unique(edges)


def _pack(scores: Scores, truth: Array, edges: Scores, keys: Array) -> list[int]:
    """Fill in the sort keys range by range; where each range ends."""

    def packed(i: int, j: int, bits: Array) -> Array:
        # -0.0 is 0.0
        np.add(scores[i:j], scores.dtype.type(0), out=bits.view(scores.dtype))
        if len(edges) and edges[0] <= 0:
            np.invert(bits, out=bits, where=scores[i:j] < 0)
        np.left_shift(bits, 1, out=bits)
        np.bitwise_or(bits, truth[i:j].astype(keys.dtype), out=bits)
        return bits

    def whole(i: int, j: int) -> None:
        packed(i, j, keys[i:j])

    if not len(edges):
        map_blocks(len(scores), lambda: whole)
        return [len(scores)]
    sizes = np.array(map_blocks(len(scores), lambda: lambda i, j: _sizes(scores[i:j], edges)))
    ends = np.cumsum(sizes.sum(axis=0))
    # Where the rows of each block go in each range.
    stops = ends - sizes.sum(axis=0) + np.cumsum(sizes, axis=0)

    def scattered(i: int, j: int) -> None:
        block = packed(i, j, np.empty(j - i, keys.dtype))
        where = _ranges(scores[i:j], edges)
        for each, (size, stop) in enumerate(
            zip(sizes[i // BLOCK].tolist(), stops[i // BLOCK].tolist(), strict=True)
        ):
            if size:
                np.compress(where == each, block, out=keys[stop - size : stop])

    map_blocks(len(scores), lambda: scattered)
    return [int(end) for end in ends]


def _sizes(values: Scores, edges: Scores) -> Array:
    """How many scores fall into each range."""
    above = [np.count_nonzero(values >= edge) for edge in edges]
    return -np.diff([len(values), *above, 0])


def _ranges(values: Scores, edges: Scores) -> Array:
    """The range that each score falls into."""
    where = np.zeros(len(values), np.uint16)
    for edge in edges:
        where += values >= edge
    return where


def _sort(keys: Array) -> None:
    """Put keys in order, in place.

    Large ones by polars: it sorts on all cores, and numpy's AVX-512 sort is six times slower on
    processors whose compress-store is microcode.
    """
    if len(keys) < LARGE:
        keys.sort()
        return
    import polars as pl

    keys[:] = pl.Series(keys).sort().to_numpy()


def _unpack(keys: Array, negatives: int, dtype: np.dtype[Any]) -> tuple[Scores, Array]:
    """Distinct scores, written over the sorted keys, and how many rows and positives each has.

    Where no two rows share a score, the rows are not written: there is one of each.
    """
    size = len(keys)
    groups = _count_groups(keys, negatives)
    kind = np.min_scalar_type(size - groups + 1)
    counts = np.zeros((2, groups), kind)
    rows, positives = counts

    def parted(i: int, j: int) -> tuple[Array, Array]:
        labels = (keys[i:j] & 1).astype(np.uint8)
        bits = keys[i:j] >> 1
        if negatives > i:
            # The shift lost the sign bit, which all negative scores share.
            turned = bits[: negatives - i]
            np.invert(turned, out=turned)
        return bits, labels

    def alone(i: int, j: int) -> None:
        keys[i:j], positives[i:j] = parted(i, j)

    if groups == size:
        map_blocks(size, lambda: alone)
        return keys.view(dtype), counts
    filled = 0
    last = None
    for i, j in bounds(size):
        bits, labels = parted(i, j)
        values = bits.view(dtype)
        starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
        if last is not None and values[0] == last:
            filled -= 1
        stop = filled + len(starts)
        keys[filled:stop] = bits[starts]
        positives[filled:stop] += np.add.reduceat(labels, starts, dtype=kind)
        rows[filled:stop] += np.diff(np.append(starts, j - i)).astype(kind)
        filled, last = stop, values[-1]
    return keys[:groups].view(dtype).copy(), counts


def _count_groups(keys: Array, negatives: int) -> int:
    """How many distinct scores the sorted keys hold, of which the first so many are negative."""

    def worker() -> Any:
        scratch = np.empty(BLOCK, keys.dtype)

        def work(i: int, j: int) -> int:
            first = max(i, 1)
            changed = scratch[: j - first]
            np.bitwise_xor(keys[first:j], keys[first - 1 : j - 1], out=changed)
            return int(np.count_nonzero(changed > 1))

        return work

    changes: list[int] = map_blocks(len(keys), worker)
    # Without their sign the highest negative score and the lowest other may have the same bits.
    border = keys[max(negatives - 1, 0) : negatives + 1]
    alike = 0 < negatives < len(keys) and int(border[0] ^ border[1]) <= 1
    return 1 + sum(changes) + alike


def narrow(counts: Array) -> Array:
    """Counts in the narrowest unsigned type, so that equal tables have equal bytes."""
    largest = int(counts.max()) if counts.size else 0
    return counts.astype(np.min_scalar_type(largest), copy=False)


def narrow_scores(scores: Scores) -> Scores:
    """Scores as float32 if each of them is one, so that equal tables have equal bytes."""
    if scores.dtype == np.float32:
        return scores
    with np.errstate(over="ignore"):
        for i, j in bounds(len(scores)):
            if (scores[i:j].astype(np.float32) != scores[i:j]).any():
                return scores
        return scores.astype(np.float32)
