"""Many rows of float32 scores, counted exactly in memory that does not grow with the rows.

A float32 has 2^32 bit patterns, so there can be a counter for each. They lie in pages of 2^16 that
are laid out when the first row falls into them, in the narrowest type that holds their counts: a
byte each for most scores of most detectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally.blocks import map_blocks
from assay.tally.packed import narrow, sort_keys
from assay.tally.scores import ScoreTally, extremes

Array: TypeAlias = npt.NDArray[Any]
Keys: TypeAlias = npt.NDArray[np.uint32]

_PAGE_BITS = 16
_PAGE = 1 << _PAGE_BITS
# So many rows are sorted at once: many fall on the same counter, and their keys are few bytes.
_LOT = 1 << 23
# So many pages are worked on in turn by a thread.
_TOGETHER = 32
_FIRST = np.zeros(1, np.int64)


class PatternCounter:
    """Counts rows of float32 scores by label.

    >>> counter = PatternCounter(("benign", "attack"))
    >>> counter.add(np.array([0.5, -0.25, 0.5], np.float32), np.array([1, 0, 0]))
    >>> counter.done().counts.tolist()
    [[1, 1], [0, 1]]
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._tables = [_Pages() for _ in self.labels]
        self._keys = np.empty(_LOT, np.uint32)
        self._codes = np.empty(_LOT, np.uint8)
        self._filled = 0
        if len(self.labels) > 256:
            raise TallyError(f"patterns are counted for up to 256 labels; found {len(self.labels)}")

    def add(self, scores: npt.NDArray[np.float32], truth: Array) -> None:
        """Count further rows: a score each, and the label as a position in the labels."""
        if scores.dtype != np.float32:
            raise TallyError(
                f"patterns are those of float32 scores; found {scores.dtype}. Count these exactly, "
                f"by cuts or by a grid"
            )
        if len(scores):
            extremes(scores)
        start = 0
        while start < len(scores):
            stop = min(start + _LOT - self._filled, len(scores))
            rows = slice(self._filled, self._filled + stop - start)
            _write_keys(scores[start:stop], self._keys[rows])
            self._codes[rows] = truth[start:stop]
            self._filled, start = rows.stop, stop
            if self._filled == _LOT:
                self._count()

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return sum(table.nbytes for table in self._tables)

    def done(self) -> ScoreTally:
        """The exact tally of all rows; the counter is used up."""
        self._count()
        numbers = sorted({number for table in self._tables for number in table.pages})
        sizes = [int(_held(self._tables, number).sum()) for number in numbers]
        kinds = [page.dtype for table in self._tables for page in table.pages.values()]
        kind = max(kinds, key=lambda dtype: dtype.itemsize, default=np.dtype(np.uint8))
        keys = np.empty(sum(sizes), np.uint32)
        counts = np.zeros((len(self.labels), len(keys)), kind)
        filled = 0
        for number, size in zip(numbers, sizes, strict=True):
            stop = filled + size
            places = np.flatnonzero(_held(self._tables, number))
            keys[filled:stop] = places + (number << _PAGE_BITS)
            for row, table in zip(counts, self._tables, strict=True):
                # Each page is let go as soon as it is copied.
                page = table.pages.pop(number, None)
                if page is not None:
                    row[filled:stop] = page[places]
            filled = stop
        return ScoreTally(self.labels, _scores(keys), narrow(counts))

    def _count(self) -> None:
        """Count the rows that wait, label by label."""
        keys, codes = self._keys[: self._filled], self._codes[: self._filled]
        for code, table in enumerate(self._tables):
            table.add(sort_keys(keys[codes == code]))
        self._filled = 0


class _Pages:
    """The counters of one label, in pages by the upper half of the key."""

    def __init__(self) -> None:
        self.pages: dict[int, Array] = {}
        self._largest: dict[int, int] = {}

    @property
    def nbytes(self) -> int:
        return sum(page.nbytes for page in self.pages.values())

    def add(self, keys: Keys) -> None:
        """Count keys in ascending order."""
        if not len(keys):
            return
        first, last = (int(key) >> _PAGE_BITS for key in (keys[0], keys[-1]))
        starts = (np.arange(first, last + 1) << _PAGE_BITS).astype(np.uint32)
        edges = np.append(np.searchsorted(keys, starts), len(keys))
        touched = np.flatnonzero(np.diff(edges))

        def work(i: int, j: int) -> None:
            for at in touched[i:j].tolist():
                self._add(first + at, keys[edges[at] : edges[at + 1]])

        map_blocks(len(touched), lambda: work, block=_TOGETHER)

    def _add(self, number: int, keys: Keys) -> None:
        """Count the keys of one page."""
        changed = np.flatnonzero(keys[1:] != keys[:-1])
        changed += 1
        starts = np.concatenate((_FIRST, changed))
        amounts = np.diff(starts, append=len(keys))
        places = keys[starts] & np.uint32(_PAGE - 1)
        most = int(amounts.max())
        page = self.pages.get(number)
        if page is None:
            page = np.zeros(_PAGE, np.min_scalar_type(most))
            self._largest[number] = 0
        reach = self._largest[number] + most
        if reach > np.iinfo(page.dtype).max:
            # The largest counter may be another one than the one that grows.
            reach = int(page.max()) + most
            page = page.astype(np.promote_types(page.dtype, np.min_scalar_type(reach)), copy=False)
        page[places] += amounts.astype(page.dtype)
        self.pages[number], self._largest[number] = page, reach


def _write_keys(scores: npt.NDArray[np.float32], out: Keys) -> None:
    """Keys in the order of the scores: negative ones turned over, others above them."""

    def work(i: int, j: int) -> None:
        bits = (scores[i:j] + np.float32(0)).view(np.int32)
        # All bits of a negative score, the sign alone of another.
        turned = (bits >> 31).view(np.uint32) | np.uint32(1 << 31)
        np.bitwise_xor(bits.view(np.uint32), turned, out=out[i:j])

    map_blocks(len(scores), lambda: work)


def _scores(keys: Keys) -> npt.NDArray[np.float32]:
    """Keys back to scores, in place."""
    negative = keys < 1 << 31
    np.bitwise_xor(keys, np.where(negative, np.uint32(0xFFFFFFFF), np.uint32(1 << 31)), out=keys)
    return keys.view(np.float32)


def _held(tables: Sequence[_Pages], number: int) -> npt.NDArray[np.bool_]:
    """Which patterns of a page have rows of any label."""
    held = np.zeros(_PAGE, bool)
    for table in tables:
        page = table.pages.get(number)
        if page is not None:
            held |= page > 0
    return held
