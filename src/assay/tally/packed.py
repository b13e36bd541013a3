"""Binary rows without counts or weights, counted fast.

The bits of a float that is not negative are ordered like the float, so bits << 1 | label sorts
scores and labels at once, without an index. Negative scores have their bits turned over and are
sorted apart. The sorted keys are then turned into scores in place.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.tally.blocks import BLOCK, bounds, map_blocks

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]

# Below this many rows numpy sorts faster than polars starts its threads.
LARGE = 1 << 20
# More rows than this are sorted in ranges of their scores, so that what a sort takes stays small.
_RANGE = 1 << 24


def count_binary(scores: Scores, truth: Array, low: float) -> tuple[Scores, Array]:
    """Distinct scores ascending, and how many negatives and positives have each."""
    edges = _edges(scores)
    if not len(edges):
        return _count_keys(*_pack(scores, truth, low), scores.dtype)
    sizes = _sizes(scores, edges)
    found = []
    for i, rows in enumerate(sizes.sum(axis=0).tolist()):
        if not rows:
            continue
        values, labels = np.empty(rows, scores.dtype), np.empty(rows, truth.dtype)
        _select(scores, truth, edges, i, sizes[:, i], (values, labels))
        start = low if i == 0 else float(edges[i - 1])
        found.append(_count_keys(*_pack(values, labels, start), scores.dtype))
    counts = np.empty((2, sum(len(part) for part, _ in found)), max(c.dtype for _, c in found))
    distinct = np.empty(counts.shape[1], scores.dtype)
    filled = 0
    while found:
        # Each part is let go as soon as it is copied.
        part, rows_of = found.pop(0)
        stop = filled + len(part)
        distinct[filled:stop], counts[:, filled:stop] = part, rows_of
        filled = stop
    return distinct, counts


def _edges(scores: Scores) -> Scores:
    """Where to cut many scores into ranges of about the same number of rows; none for few.

    Equal scores are never cut apart, and where the cuts lie does not change the result.
    """
    ranges = -(-len(scores) // _RANGE)
    sample = np.sort(scores[:: max(len(scores) >> 16, 1)])
    return np.unique(sample[[i * len(sample) // ranges for i in range(1, ranges)]])


def _sizes(scores: Scores, edges: Scores) -> Array:
    """How many rows of each block fall into each range."""

    def work(i: int, j: int) -> Array:
        above = [np.count_nonzero(scores[i:j] >= edge) for edge in edges]
        return -np.diff([j - i, *above, 0])

    return np.array(map_blocks(len(scores), lambda: work))


def _select(
    scores: Scores,
    truth: Array,
    edges: Scores,
    chosen: int,
    sizes: Array,
    out: tuple[Scores, Array],
) -> None:
    """The rows of one range, in their order."""
    starts = np.concatenate(([0], np.cumsum(sizes)))

    def work(i: int, j: int) -> None:
        values = scores[i:j]
        inside = values >= edges[chosen - 1] if chosen else np.ones(j - i, bool)
        if chosen < len(edges):
            inside &= values < edges[chosen]
        rows = slice(starts[i // BLOCK], starts[i // BLOCK + 1])
        np.compress(inside, values, out=out[0][rows])
        np.compress(inside, truth[i:j], out=out[1][rows])

    map_blocks(len(scores), lambda: work)


def _count_keys(keys: Array, negatives: int, dtype: np.dtype[Any]) -> tuple[Scores, Array]:
    if negatives:
        keys[:negatives] = _sorted(keys[:negatives])
        keys[negatives:] = _sorted(keys[negatives:])
        ordered = keys
    else:
        ordered = _sorted(keys)
    distinct, counts = _unpack(ordered, keys, negatives, dtype)
    # What was sorted aside is let go before the negatives are laid out.
    del ordered
    np.subtract(counts[0] if len(distinct) < len(keys) else 1, counts[1], out=counts[0])
    return distinct, narrow(counts)


def _pack(scores: Scores, truth: Array, low: float) -> tuple[Array, int]:
    """Sort keys, those of negative scores first, and how many of these there are."""
    unsigned = np.dtype(f"u{scores.dtype.itemsize}")
    keys = np.empty(len(scores), unsigned)

    def pack(values: Scores, labels: Array, out: Array, *, flip: bool) -> None:
        bits = (values + values.dtype.type(0)).view(unsigned)
        if flip:
            np.invert(bits, out=bits)
        np.left_shift(bits, 1, out=bits)
        np.bitwise_or(bits, labels.astype(unsigned), out=out)

    if low >= 0:
        map_blocks(
            len(scores),
            lambda: lambda i, j: pack(scores[i:j], truth[i:j], keys[i:j], flip=False),
        )
        return keys, 0
    below = 0
    above = len(scores)
    for i, j in bounds(len(scores)):
        values, labels = scores[i:j], truth[i:j]
        negative = values < 0
        some = int(np.count_nonzero(negative))
        rest = ~negative
        pack(values[negative], labels[negative], keys[below : below + some], flip=True)
        pack(values[rest], labels[rest], keys[above - (j - i - some) : above], flip=False)
        below += some
        above -= j - i - some
    return keys, below


def _sorted(keys: Array) -> Array:
    """The keys in order, in place or aside.

    Large ones by polars: it sorts on all cores, and numpy's AVX-512 sort is six times slower on
    processors whose compress-store is microcode.
    """
    if len(keys) < LARGE:
        keys.sort()
        return keys
    import polars as pl

    ordered: Array = pl.Series(keys).sort().to_numpy()
    return ordered


def _unpack(
    ordered: Array, out: Array, negatives: int, dtype: np.dtype[Any]
) -> tuple[Scores, Array]:
    """Distinct scores, written over ``out``, and how many rows and positives each has.

    Where no two rows share a score, the rows are not written: there is one of each.
    """
    size = len(ordered)
    groups = _count_groups(ordered)
    kind = np.min_scalar_type(size - groups + 1)
    counts = np.zeros((2, groups), kind)
    rows, positives = counts
    filled = 0
    last = None
    for i, j in bounds(size):
        labels = (ordered[i:j] & 1).astype(np.uint8)
        bits = ordered[i:j] >> 1
        if negatives > i:
            # The shift lost the sign bit, which all negative scores share.
            turned = bits[: negatives - i]
            np.invert(turned, out=turned)
        if groups == size:
            out[i:j] = bits
            positives[i:j] = labels
            continue
        values = bits.view(dtype)
        starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
        if last is not None and values[0] == last:
            filled -= 1
        stop = filled + len(starts)
        out[filled:stop] = bits[starts]
        positives[filled:stop] += np.add.reduceat(labels, starts, dtype=kind)
        rows[filled:stop] += np.diff(np.append(starts, j - i)).astype(kind)
        filled, last = stop, values[-1]
    distinct = out[:groups].view(dtype)
    return (distinct if groups == size else distinct.copy()), counts


def _count_groups(keys: Array) -> int:
    """How many distinct scores the sorted keys hold."""

    def worker() -> Any:
        scratch = np.empty(BLOCK, keys.dtype)

        def work(i: int, j: int) -> int:
            first = max(i, 1)
            changed = scratch[: j - first]
            np.bitwise_xor(keys[first:j], keys[first - 1 : j - 1], out=changed)
            return int(np.count_nonzero(changed > 1))

        return work

    changes: list[int] = map_blocks(len(keys), worker)
    return 1 + sum(changes)


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
