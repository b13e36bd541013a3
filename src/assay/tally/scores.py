"""Label by distinct score: all that rankings, curves and thresholds need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import ScoreError, TallyError
from assay.tally import codec
from assay.tally.blocks import BLOCK, bounds, map_blocks

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]

# Below this many rows numpy sorts faster than polars starts its threads.
_LARGE = 1 << 20
# More rows than this are sorted in ranges of their scores, so that what a sort takes stays small.
_RANGE = 1 << 22


@dataclass(frozen=True, eq=False)
class ScoreTally:
    """How many rows of each label have each distinct score, scores ascending.

    A tie is numeric equality; -0.0 is 0.0. ``counts`` has one row a label and one column a score,
    in the narrowest unsigned type that holds it. With sampling weights, ``counts`` are sums of
    weights (float64) and ``squares`` sums of their squares.

    >>> import numpy as np
    >>> scores, truth = np.array([0.9, 0.2, 0.9]), np.array([1, 0, 0])
    >>> tally = ScoreTally.of_rows(("benign", "attack"), scores, truth)
    >>> tally.scores.tolist(), tally.counts.tolist()
    ([0.2, 0.9], [[1, 1], [0, 1]])
    """

    labels: tuple[str, ...]
    scores: Scores
    counts: Array
    squares: npt.NDArray[np.float64] | None = None

    @classmethod
    def zero(cls, labels: Sequence[str]) -> ScoreTally:
        """The table of no rows."""
        return cls(tuple(labels), np.empty(0, np.float32), np.empty((len(labels), 0), np.uint8))

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        scores: Scores,
        truth: Array,
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
    ) -> ScoreTally:
        """Count rows: a score each, and the label as a position in ``labels``."""
        labels = tuple(labels)
        scores = scores if scores.dtype == np.float32 else scores.astype(np.float64, copy=False)
        if not len(scores):
            return cls.zero(labels)
        low, _ = extremes(scores)
        if weights is None and counts is None and len(labels) == 2:
            return cls(labels, *_count_binary(scores, truth, low))
        amounts: Array = np.ones(len(scores), np.int64) if counts is None else counts
        if weights is not None:
            amounts = weights
        columns = [np.where(truth == i, amounts, 0) for i in range(len(labels))]
        if weights is not None:
            columns += [np.square(column) for column in columns]
        distinct, sums = _group(scores + scores.dtype.type(0), np.stack(columns))
        if not len(distinct):
            return cls.zero(labels)
        if weights is None:
            return cls(labels, distinct, _narrow(sums))
        return cls(labels, distinct, sums[: len(labels)], sums[len(labels) :])

    def __add__(self, other: ScoreTally) -> ScoreTally:
        if not isinstance(other, ScoreTally):
            return NotImplemented
        return ScoreTally.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[ScoreTally]) -> ScoreTally:
        """The sum of many tables in one sort."""
        first, *others = parts
        for other in others:
            if other.labels != first.labels:
                raise TallyError(
                    f"score tallies of unlike labels can't be added: {list(first.labels)} and "
                    f"{list(other.labels)}"
                )
        full = [part for part in parts if part.size]
        if len(full) <= 1:
            return full[0] if full else first
        if len({part.weighted for part in full}) > 1:
            raise TallyError("score tallies with and without sampling weights can't be added")
        dtype = np.result_type(*(part.scores.dtype for part in full))
        scores = np.concatenate([part.scores.astype(dtype) for part in full])
        if not full[0].weighted:
            counts = np.concatenate([part.counts.astype(np.int64) for part in full], axis=1)
            distinct, sums = _group(scores, counts)
            return ScoreTally(first.labels, distinct, _narrow(sums))
        columns = [np.concatenate([part.counts, part._squares()]) for part in full]
        distinct, sums = _group(scores, np.concatenate(columns, axis=1))
        size = len(first.labels)
        return ScoreTally(first.labels, distinct, sums[:size], sums[size:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"ScoreTally(labels={self.labels}, distinct scores={self.size})"

    @property
    def size(self) -> int:
        """How many distinct scores there are."""
        return len(self.scores)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of sampling weights."""
        return self.squares is not None

    def _squares(self) -> Array:
        return self.counts if self.squares is None else self.squares

    def one_versus_rest(self, label: int) -> ScoreTally:
        """The binary table with one label as the positive, all others as negatives."""
        if len(self.labels) == 2 and label == 1:
            return self
        names = ("rest", self.labels[label])
        others = [i for i in range(len(self.labels)) if i != label]

        def two(table: Array) -> Array:
            wide = table if self.weighted else table.astype(np.int64)
            return np.stack([wide[others].sum(axis=0), wide[label]])

        if self.squares is not None:
            return ScoreTally(names, self.scores, two(self.counts), two(self.squares))
        return ScoreTally(names, self.scores, _narrow(two(self.counts)))

    def pair(self, negative: int, positive: int) -> ScoreTally:
        """The binary table of the rows of two labels alone."""
        chosen = [negative, positive]
        kept = self.counts[chosen].any(axis=0)
        names = (self.labels[negative], self.labels[positive])
        if self.squares is not None:
            return ScoreTally(
                names,
                self.scores[kept],
                self.counts[chosen][:, kept],
                self.squares[chosen][:, kept],
            )
        return ScoreTally(names, self.scores[kept], _narrow(self.counts[chosen][:, kept]))

    def at_least(self, threshold: float) -> list[Any]:
        """How many rows of each label have a score of at least the threshold."""
        first = int(np.searchsorted(self.scores, threshold, side="left"))
        kind = np.float64 if self.weighted else np.int64
        sums: list[Any] = self.counts[:, first:].sum(axis=1, dtype=kind).tolist()
        return sums

    def totals(self) -> list[Any]:
        """How many rows of each label there are."""
        return self.at_least(-np.inf)

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        arrays: dict[str, Array] = {"scores": self.scores, "counts": self.counts}
        if self.squares is not None:
            arrays["squares"] = self.squares
        return codec.write("scores", {"labels": self.labels}, arrays)


@codec.reads("scores")
def scores_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> ScoreTally:
    """A table from its header and arrays, refused unless it is canonical."""
    labels = tuple(str(label) for label in header["labels"])
    scores, counts = arrays["scores"], arrays["counts"]
    squares = arrays.get("squares")
    if scores.ndim != 1 or scores.dtype.kind != "f" or counts.shape != (len(labels), len(scores)):
        raise ValueError(f"scores of {scores.dtype} and counts of shape {counts.shape}")
    if not (np.isfinite(scores).all() and (np.diff(scores) > 0).all()):
        raise ValueError("scores are not finite and ascending")
    if counts.dtype.kind != ("u" if squares is None else "f") or not (counts >= 0).all():
        raise ValueError(f"counts of {counts.dtype} are not counts")
    if squares is not None and (squares.shape != counts.shape or not (squares >= 0).all()):
        raise ValueError(f"squares of shape {squares.shape} are not those of the counts")
    return ScoreTally(labels, scores, counts, squares)


def extremes(scores: Scores) -> tuple[float, float]:
    """The smallest and the largest score; refuses what is not a finite number."""

    def work(i: int, j: int) -> tuple[float, float]:
        return float(scores[i:j].min()), float(scores[i:j].max())

    with np.errstate(invalid="ignore"):
        found = np.array(map_blocks(len(scores), lambda: work))
    low, high = found[:, 0].min(), found[:, 1].max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = np.flatnonzero(~np.isfinite(scores))
        raise ScoreError(
            f"scores must be finite numbers: {len(bad)} of {len(scores)} are not; the first is "
            f"{float(scores[bad[0]])} in row {bad[0]}. Remove those rows or give them a score"
        )
    return float(low), float(high)


def _group(scores: Scores, columns: Array) -> tuple[Scores, Array]:
    """Distinct scores ascending, and the sums of each column over each score that has any."""
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sums = np.add.reduceat(columns[:, order], starts, axis=1)
    held = sums.any(axis=0)
    return scores[starts][held], sums[:, held]


def _narrow(counts: Array) -> Array:
    """Counts in the narrowest unsigned type, so that equal tables have equal bytes."""
    largest = int(counts.max()) if counts.size else 0
    return counts.astype(np.min_scalar_type(largest), copy=False)


# -- binary rows without counts or weights, fast ---------------------------------------------------
#
# The bits of a float that is not negative are ordered like the float, so bits << 1 | label sorts
# scores and labels at once, without an index. Negative scores have their bits turned over and are
# sorted apart. The sorted keys are then turned into scores in place.


def _count_binary(scores: Scores, truth: Array, low: float) -> tuple[Scores, Array]:
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
    counts = [part for _, part in found]
    distinct = np.concatenate([part for part, _ in found])
    del found
    return distinct, np.concatenate(counts, axis=1)


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
    return distinct, _narrow(counts)


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
    if len(keys) < _LARGE:
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
