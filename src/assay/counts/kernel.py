"""Exact scores of many rows, counted by one sort of packed keys.

The bits of a float that is not negative are ordered like the float; those of a negative one are
turned over. Shifted to the left, they leave room for the number of the label. So one sort of
unsigned integers, in place and without an index, orders rows by score and label, and the lengths of
runs are the counts. Rows are first laid out in buckets: by segment (the other keys), by sign, and,
where polars sorts, by ranges of scores.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import BLOCK, bounds, each_thread, map_blocks

Array: TypeAlias = npt.NDArray[Any]

# Where NumPy's sort takes longer than this for a key, polars sorts buckets of many keys.
# On some processors NumPy's AVX-512 sort is six times slower than on others.
_FAST = 12e-9
_BYTE = 255
_LARGE = 1 << 20
# The rows of a range.
_RANGE = 1 << 23


class Rows(NamedTuple):
    """Rows to count: a score, and the numbers of the label and of the segment (None: all 0)."""

    scores: Array
    labels: Array
    segments: Array | None = None


class Table(NamedTuple):
    """Distinct rows in the order of segment, score and label, and how often each occurs."""

    segments: Array
    scores: Array
    labels: Array
    counts: Array


@dataclass(frozen=True)
class _Form:
    """How a row becomes a bucket and a key."""

    bits: np.dtype[Any]  # of a score
    keys: np.dtype[Any]
    shift: int  # bits of a key that hold the label
    sets: int  # of labels, where the shift has no room for all
    segments: int
    edges: Array  # between ranges of scores

    @classmethod
    def of(cls, rows: Sequence[Rows], labels: int, segments: int) -> _Form:
        dtype = np.result_type(*(each.scores.dtype for each in rows))
        ends = [(each.scores.min(), each.scores.max()) for each in rows if len(each.scores)]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        bits = np.dtype(f"u{dtype.itemsize}")
        largest = np.maximum(abs(low), abs(high)).astype(dtype).view(bits)
        width = 8 * dtype.itemsize
        # Negative scores have a bucket of their own, so no key needs a sign.
        turned = (1 << (width - 1)) - 1 if low < 0 else int(largest)
        needed = max(labels - 1, 0).bit_length()
        keys = bits
        if needed > width - turned.bit_length() and width == 32:
            keys, width = np.dtype(np.uint64), 64
        shift = min(needed, width - turned.bit_length())
        sets = -(-labels // (1 << shift))
        size = sum(len(each.scores) for each in rows)
        return cls(bits, keys, shift, sets, segments, _edges(rows, size, dtype, negative=low < 0))

    @property
    def floats(self) -> np.dtype[Any]:
        """The type of the scores."""
        return np.dtype(f"f{self.bits.itemsize}")

    @property
    def ranges(self) -> int:
        return len(self.edges) + 1

    @property
    def buckets(self) -> int:
        return self.segments * self.sets * self.ranges

    def buckets_of(self, rows: Rows, i: int, j: int) -> Array:
        """The bucket of each row of a block: by segment, then set of labels, then range."""
        buckets: Array = np.zeros(j - i, np.uint16 if self.buckets < 1 << 16 else np.uint32)
        if rows.segments is not None:
            buckets += rows.segments[i:j]
        if self.sets > 1:
            buckets *= self.sets
            buckets += rows.labels[i:j] >> self.shift
        buckets *= self.ranges
        for edge in self.edges:
            buckets += rows.scores[i:j] >= edge
        return buckets

    def pack(self, rows: Rows, i: int, j: int, out: Array) -> Array:
        """The keys of a block."""
        bits = out if self.bits == self.keys else np.empty(j - i, self.bits)
        scores = bits.view(self.floats)
        # -0.0 is 0.0
        np.add(rows.scores[i:j], 0, out=scores)
        if len(self.edges) and self.edges[0] <= 0:
            np.invert(bits, out=bits, where=rows.scores[i:j] < 0)
            bits &= bits.dtype.type((1 << (8 * bits.itemsize - 1)) - 1)
        np.left_shift(bits, self.shift, out=out, dtype=self.keys)
        if self.shift:
            labels = rows.labels[i:j].astype(self.keys)
            if self.sets > 1:
                labels &= labels.dtype.type((1 << self.shift) - 1)
            np.bitwise_or(out, labels, out=out)
        return out

    def unpack(self, keys: Array, bucket: int) -> tuple[Array, Array]:
        """The bits of scores, and the labels, of sorted keys."""
        labels = (keys & ((1 << self.shift) - 1)).astype(
            np.min_scalar_type(self.sets << self.shift)
        )
        labels += bucket // self.ranges % self.sets << self.shift
        bits = (keys >> self.shift).astype(self.bits, copy=False)
        if self.is_negative(bucket):
            bits = ~bits | bits.dtype.type(1 << (8 * bits.itemsize - 1))
        return bits, labels

    def is_negative(self, bucket: int) -> bool:
        """Whether the scores of a bucket are below 0."""
        place = bucket % self.ranges
        return place < len(self.edges) and bool(self.edges[place] <= 0)


def count_scores(rows: list[Rows], labels: int, segments: int = 1) -> Table:
    """Count rows that are given in parts; the list is emptied, so that parts can be freed.

    >>> table = count_scores([Rows(np.array([0.9, -1.0, 0.9]), np.array([1, 0, 1]))], labels=2)
    >>> table.scores.tolist(), table.labels.tolist(), table.counts.tolist()
    ([-1.0, 0.9], [0, 1], [1, 2])
    """
    form = _Form.of(rows, labels, segments)
    keys, ends = _packed(rows, form)
    spans = list(zip([0, *ends[:-1]], ends, strict=True))
    _sort(keys, spans)
    table = _runs(keys, spans, form)
    return _interleaved(table) if form.sets > 1 else table


def _edges(rows: Sequence[Rows], size: int, dtype: np.dtype[Any], *, negative: bool) -> Array:
    """Where to cut scores into ranges of about as many rows, and at 0 if some are negative.

    Equal scores are never cut apart, and where the cuts are does not change the result.
    """
    ranges = 1
    if not _numpy_is_fast():
        # What polars takes to sort a range is what memory is taken beside the keys.
        ranges = -(-size // _RANGE)
    edges = np.empty(0, dtype)
    if ranges > 1:
        step = max(size >> 16, 1)
        sample = np.sort(np.concatenate([each.scores[::step] for each in rows]))
        edges = sample[[i * len(sample) // ranges for i in range(1, ranges)]].astype(dtype)
    if negative:
        edges = np.append(edges, dtype.type(0))
    return np.unique(edges + 0)


def _packed(rows: list[Rows], form: _Form) -> tuple[Array, list[int]]:
    """All keys, bucket by bucket, and where each bucket ends."""
    keys = np.empty(sum(len(each.scores) for each in rows), form.keys)
    if form.buckets == 1:
        start = 0
        while rows:
            start = _pack_part(rows.pop(0), form, keys, start)
        return keys, [start]
    sizes = [_bucket_sizes(part, form) for part in rows]
    totals = sum(each.sum(axis=0) for each in sizes)
    ends = np.cumsum(totals)
    filled = ends - totals
    for size in sizes:
        part = rows.pop(0)
        _scatter(part, form, keys, filled + np.cumsum(size, axis=0) - size)
        filled = filled + size.sum(axis=0)
    return keys, [int(end) for end in ends]


def _pack_part(part: Rows, form: _Form, keys: Array, start: int) -> int:
    """Write the keys of a part from a place on; where they end."""
    end = start + len(part.scores)
    out = keys[start:end]
    map_blocks(len(out), lambda: lambda i, j: form.pack(part, i, j, out[i:j]))
    return end


def _bucket_sizes(part: Rows, form: _Form) -> Array:
    """How many rows of each block are in each bucket."""

    def work(i: int, j: int) -> Array:
        return np.bincount(form.buckets_of(part, i, j), minlength=form.buckets)

    return np.array(map_blocks(len(part.scores), lambda: work)).reshape(-1, form.buckets)


def _scatter(part: Rows, form: _Form, keys: Array, starts: Array) -> None:
    """Write the keys of a part where each block's share of each bucket starts."""

    def work(i: int, j: int) -> None:
        block = form.pack(part, i, j, np.empty(j - i, form.keys))
        buckets = form.buckets_of(part, i, j)
        at = starts[i // BLOCK]
        order = np.argsort(buckets, kind="stable")
        cut = np.searchsorted(buckets[order], np.arange(form.buckets + 1))
        block = block[order]
        for bucket in np.flatnonzero(np.diff(cut)).tolist():
            first, last = cut[bucket], cut[bucket + 1]
            keys[at[bucket] : at[bucket] + last - first] = block[first:last]

    map_blocks(len(part.scores), lambda: work)


def _sort(keys: Array, spans: Sequence[tuple[int, int]]) -> None:
    """Sort each bucket in place: by NumPy on a thread each, or by polars on all cores."""
    large = [] if _numpy_is_fast() else [span for span in spans if span[1] - span[0] >= _LARGE]
    small = [keys[slice(*span)] for span in spans if span not in large]
    each_thread(len(small), lambda i: small[i].sort())
    if large:
        import polars as pl

        for start, end in large:
            keys[start:end] = pl.Series(keys[start:end]).sort().to_numpy()


@cache
def _numpy_is_fast() -> bool:
    """Whether NumPy's sort is vectorised on this processor, which is measured."""
    sample = np.random.default_rng(0).integers(0, 1 << 63, 1 << 16, dtype=np.uint64)
    best = float("inf")
    for _ in range(3):
        keys, started = sample.copy(), time.thread_time()
        keys.sort()
        best = min(best, time.thread_time() - started)
    return best < _FAST * len(sample)


def _runs(keys: Array, spans: Sequence[tuple[int, int]], form: _Form) -> Table:
    """The distinct keys of each bucket and how often each occurs."""
    blocks = [
        (bucket, start + i, start + j)
        for bucket, (start, end) in enumerate(spans)
        for i, j in bounds(end - start)
    ]

    def starts(number: int, before: Any = None) -> Array:
        """Where runs start in a block; ``before`` is the key before it."""
        bucket, i, j = blocks[number]
        new = np.empty(j - i, bool)
        np.not_equal(keys[i + 1 : j], keys[i : j - 1], out=new[1:])
        new[0] = i == spans[bucket][0] or keys[i] != (keys[i - 1] if before is None else before)
        return new

    sizes = each_thread(len(blocks), lambda i: int(np.count_nonzero(starts(i))))
    groups = sum(sizes)
    labels = np.empty(groups, np.min_scalar_type(form.sets << form.shift))
    bits = keys[:groups] if form.keys == form.bits else np.empty(groups, form.bits)
    lengths = _Lengths(groups)
    if groups == len(bits) == len(keys):

        def alone(number: int) -> None:
            bucket, i, j = blocks[number]
            bits[i:j], labels[i:j] = form.unpack(keys[i:j], bucket)

        each_thread(len(blocks), alone)
    else:
        # Blocks follow each other, so that bits are written only over keys that have been read.
        filled, before = 0, None
        for number, (bucket, i, j) in enumerate(blocks):
            at = np.flatnonzero(starts(number, before))
            before = keys[j - 1]
            out = slice(filled, filled + len(at))
            bits[out], labels[out] = form.unpack(keys[i:j][at], bucket)
            lengths.add(filled - 1, at + i)
            filled += len(at)
        lengths.add(groups - 1, np.array([len(keys)]))
    in_bucket = np.zeros(len(spans), np.int64)
    np.add.at(in_bucket, [bucket for bucket, *_ in blocks], sizes)
    per_segment = in_bucket.reshape(form.segments, -1).sum(axis=1)
    numbers = np.arange(form.segments, dtype=np.min_scalar_type(form.segments))
    segments = np.repeat(numbers, per_segment)
    if form.keys == form.bits:
        # Give back the rest; nobody else looks at the keys.
        del bits
        keys.resize(groups, refcheck=False)
        bits = keys
    return Table(segments, bits.view(form.floats), labels, lengths.counts())


class _Lengths:
    """The lengths of runs, in bytes; the few that need more are kept apart."""

    def __init__(self, size: int) -> None:
        self._short = np.ones(size, np.uint8)
        self._start = 0
        self._long: list[tuple[Array, Array]] = []

    def add(self, first: int, ends: Array) -> None:
        """Where runs end, from the one of this number on; nothing ends at the very first start."""
        lengths = np.diff(ends, prepend=self._start)
        if not len(lengths):
            return
        self._start = ends[-1]
        lengths, first = (lengths, first) if first >= 0 else (lengths[1:], 0)
        long = np.flatnonzero(lengths > _BYTE)
        self._short[first : first + len(lengths)] = np.minimum(lengths, _BYTE)
        if len(long):
            self._long.append((first + long, lengths[long]))

    def counts(self) -> Array:
        """All lengths, in the narrowest type that holds them."""
        if not self._long:
            return self._short
        places, lengths = (np.concatenate(each) for each in zip(*self._long, strict=True))
        counts = self._short.astype(np.min_scalar_type(int(lengths.max())))
        counts[places] = lengths
        return counts


def _interleaved(table: Table) -> Table:
    """Sets of labels put in order: within a segment the scores of each set ascend already."""
    order = np.lexsort((table.labels, table.scores, table.segments))
    return Table(*(column[order] for column in table))
