"""Fixed blocks of rows, worked on by a few threads; and binary rows, counted fast that way.

Blocks are cut by position, never by thread, and results come back in block order. So whatever is
reduced from them has the same bits for any number of threads.

Binary rows have no counts or weights. The bits of a float that is not negative are ordered like the
float, so bits << 1 | label sorts scores and labels at once, without an index. Negative scores have
their bits turned over and are sorted apart. Many keys are laid out in ranges of their scores and
sorted range by range, so that what a sort takes beside them stays small. The sorted keys are then
turned into scores in place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from threading import current_thread
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


BLOCK = 1 << 16
_SERIAL_BLOCKS = 4
_NAME = "assay-blocks"

Result = TypeVar("Result")
Worker = Callable[[int, int], Result]


def threads() -> int:
    """How many threads may work: the cores of this process, or ``ASSAY_THREADS``."""
    asked = os.environ.get("ASSAY_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def bounds(size: int, block: int = BLOCK) -> list[tuple[int, int]]:
    """The first and one-past-last row of each block.

    >>> bounds(5, block=2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(start, min(start + block, size)) for start in range(0, size, block)]


def map_blocks(
    size: int,
    worker: Callable[[], Worker[Result]],
    block: int = BLOCK,
    at_most: int | None = None,
) -> list[Result]:
    """Call a worker on each block of ``size`` rows; results in block order.

    ``worker()`` is called once a thread and gives the function for its blocks, so that each
    thread allocates its scratch space once. ``at_most`` so many threads work.
    """
    cut = bounds(size, block)
    count = min(threads(), len(cut), at_most or len(cut))
    # What is called by one of the threads runs there: it would wait for itself.
    if count <= 1 or len(cut) <= _SERIAL_BLOCKS or current_thread().name.startswith(_NAME):
        return _run(worker, cut)
    shares = [cut[i::count] for i in range(count)]
    parts = list(_pool(count, os.getpid()).map(lambda share: _run(worker, share), shares))
    return [parts[i % count][i // count] for i in range(len(cut))]


def add_ones(counters: Array, places: Array, *, checked: bool = False) -> None:
    """Add one to a counter for each of the places, which may repeat.

    As ``numpy.add.at`` does, but other threads go on meanwhile: of what numpy and SciPy have, only
    the sum of a sparse row into a dense one adds at random places without the interpreter's lock.
    ``checked`` says that each place is known to have a counter.
    """
    # Imported here: few tables are large enough.
    from scipy.sparse import _sparsetools

    if not len(places):
        return
    # What is below 0 is a large number without a sign. Nobody else looks where is written.
    if not checked and int(places.view(f"u{places.itemsize}").max()) >= len(counters):
        raise IndexError(f"there are {len(counters)} counters, and none for {places.max()}")
    ends = np.array([0, len(places)], places.dtype)
    ones = _ones(counters.dtype, len(places))
    _sparsetools.csr_todense(1, len(counters), ends, places, ones, counters)


@cache
def _many_ones(dtype: np.dtype[Any], size: int) -> Array:
    return np.ones(size, dtype)


def _ones(dtype: np.dtype[Any], size: int) -> Array:
    """As many ones, of which there is one array for all."""
    return _many_ones(dtype, 1 << (size - 1).bit_length())[:size]


def start(work: Callable[[], Result]) -> Future[Result]:
    """Let one of the threads do a whole piece of work, whose own blocks it then does alone."""
    return _pool(threads(), os.getpid()).submit(work)


@cache
def _pool(count: int, _: int) -> ThreadPoolExecutor:
    """The threads of this process: starting some for each call takes longer than many a call."""
    # Imported here: it brings logging along, which costs more than the rest of the package.
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count, thread_name_prefix=_NAME)


def _run(worker: Callable[[], Worker[Result]], share: Sequence[tuple[int, int]]) -> list[Result]:
    work = worker()
    return [work(start, stop) for start, stop in share]


# -- binary rows -----------------------------------------------------------------------------------

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
    return _table_of_keys(
        keys, ends[int(np.searchsorted(edges, 0.0))] if low < 0 else 0, scores.dtype
    )


def _table_of_keys(keys: Array, negatives: int, dtype: np.dtype[Any]) -> tuple[Scores, Array]:
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
    runs = [
        _run_of_keys(part, rows, edges, dtype) for part, rows in zip(scores, counts, strict=True)
    ]
    ends = np.cumsum([sum(len(run[i]) for run in runs) for i in range(len(edges) + 1)])
    keys = np.empty(int(ends[-1]), f"u{dtype.itemsize}")

    def merge(i: int, _: int) -> None:
        start = int(ends[i - 1]) if i else 0
        np.concatenate([run[i] for run in runs], out=keys[start : ends[i]])
        keys[start : ends[i]].sort(kind="stable")
        for run in runs:
            run[i] = run[i][:0]

    map_blocks(len(ends), lambda: merge, block=1)
    return _table_of_keys(
        keys, int(ends[int(np.searchsorted(edges, 0.0))]) if low < 0 else 0, dtype
    )


def _run_of_keys(scores: Scores, counts: Array, edges: Scores, dtype: np.dtype[Any]) -> list[Array]:
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
    return np.split(np.repeat(both.ravel(), counts.T.ravel()), before)


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
        range_numbers = _ranges(scores[i:j], edges)
        for each, (size, stop) in enumerate(
            zip(sizes[i // BLOCK].tolist(), stops[i // BLOCK].tolist(), strict=True)
        ):
            if size:
                np.compress(range_numbers == each, block, out=keys[stop - size : stop])

    map_blocks(len(scores), lambda: scattered)
    return [int(end) for end in ends]


def _sizes(values: Scores, edges: Scores) -> Array:
    """How many scores fall into each range."""
    above = [np.count_nonzero(values >= edge) for edge in edges]
    return -np.diff([len(values), *above, 0])


def _ranges(values: Scores, edges: Scores) -> Array:
    """The range that each score falls into."""
    numbers = np.zeros(len(values), np.uint16)
    for edge in edges:
        numbers += values >= edge
    return numbers


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
    alike = 0 < negatives < len(keys) and int(keys[negatives - 1] ^ keys[negatives]) <= 1
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
