"""Every distinct float32 score, counted in memory that does not grow with the rows.

A float32 has 2^32 bit patterns, so there can be a counter for each of them. Counters have 16 bits
and lie in pages of 2^12 patterns, which are laid out when the first row falls into them. A counter
that may soon be full is emptied, and what it held is noted down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally.blocks import bounds, map_blocks
from assay.tally.packed import narrow
from assay.tally.scores import ScoreTally, extremes

Array: TypeAlias = npt.NDArray[Any]

_PAGE_BITS = 12
_PAGE = 1 << _PAGE_BITS
_PAGES = 1 << 32 - _PAGE_BITS
# Pages take so many bytes at most, or so many for each row. There is room for the former at once:
# memory that nothing was written to takes none.
_ROOM, _ROOM_A_ROW = 1 << 29, 4
_FIRST_PAGES = _ROOM // (2 * _PAGE)
# Added to the bits of a score, this is no place.
_NOWHERE = -1 << 32
# So many rows are counted before pages are laid out for the rest of them, and so many are looked at
# together: what they take stays near the processor.
LOT = 1 << 20
_BLOCK = 1 << 14
# Each of some threads may add a block to a counter that held no more than this: 16 bits hold it.
_THREADS = 3
_MOST = np.iinfo(np.uint16).max - _THREADS * _BLOCK
# So many pages are read at once.
_TOGETHER = 64


class PatternCounter:
    """Counts rows of float32 scores by label.

    >>> counter = PatternCounter(("benign", "attack"))
    >>> _ = counter.add(np.array([0.5, -0.25, 0.5], np.float32), np.array([1, 0, 0]))
    >>> counter.done().counts.tolist()
    [[1, 1], [0, 1]]
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._lock = Lock()
        self._start()

    def _start(self) -> None:
        # What to add to the bits of a score to come to its counter, by label and page.
        self._shifts = np.full(len(self.labels) * _PAGES, _NOWHERE, np.int64)
        self._used = self._rows = 0
        self._counters = np.zeros(_FIRST_PAGES * _PAGE, np.uint16)
        # Which label and page lies at each place.
        self._pages = np.empty(_FIRST_PAGES, np.int64)
        self._noted: list[tuple[Array, Array]] = []

    def add(self, scores: npt.NDArray[np.float32], truth: Array) -> list[slice]:
        """Count further rows: a score each, and the label as a position in the labels.

        Which were left out: none, unless they lie so far apart that a table of them takes less.
        """
        if scores.dtype != np.float32:
            raise TallyError(
                f"patterns are those of float32 scores; found {scores.dtype}. Count these exactly, "
                f"by cuts or by a grid"
            )
        if len(scores):
            extremes(scores)
        for start, stop in bounds(len(scores), LOT):
            left = self._count(scores[start:stop], truth[start:stop])
            if left:
                return [slice(start + i, start + j) for i, j in left] + [slice(stop, len(scores))]
        return []

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return self._used * (_PAGE * 2 + 8) + self._shifts.nbytes if self._used else 0

    def _count(self, scores: npt.NDArray[np.float32], truth: Array) -> list[tuple[int, int]]:
        """Count rows; the blocks of those that were not, since there is no room for their pages."""
        missing = map_blocks(len(scores), lambda: self._work(scores, truth), _BLOCK, _THREADS)
        self._rows += len(scores)
        fresh = np.unique(np.concatenate(missing))
        if not len(fresh):
            return []
        blocks = zip(bounds(len(scores), _BLOCK), missing, strict=True)
        left = [block for block, pages in blocks if len(pages)]
        room = max(_ROOM, _ROOM_A_ROW * self._rows) // (2 * _PAGE)
        if self._used + len(fresh) > room:
            return left
        self._lay_out(fresh)
        work = self._work(scores, truth)
        for i, j in left:
            work(i, j)
        return []

    def _work(self, scores: npt.NDArray[np.float32], truth: Array) -> Callable[[int, int], Array]:
        """What counts a block of rows, unless some of its pages lie nowhere: these it tells."""
        keys, labels = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.uint32)
        pages, places, shifts = (np.empty(_BLOCK, np.int64) for _ in range(3))
        counters, room = self._counters, np.empty(_BLOCK, np.uint16)

        def work(i: int, j: int) -> Array:
            place, label, page = places[: j - i], labels[: j - i], pages[: j - i]
            # -0.0 is 0.0
            bits = np.add(scores[i:j], np.float32(0), out=keys[: j - i]).view(np.uint32)
            np.copyto(place, bits)
            np.copyto(label, truth[i:j], casting="unsafe")
            np.left_shift(label, 32 - _PAGE_BITS, out=label)
            np.right_shift(bits, _PAGE_BITS, out=bits)
            np.bitwise_or(bits, label, out=bits)
            np.copyto(page, bits)
            np.add(place, self._shifts.take(page, out=shifts[: j - i], mode="clip"), out=place)
            if place.min() < 0:
                return np.unique(page[place < 0])
            # Counters are far from the processor. Read here they come near, while others count.
            held = counters.take(place, out=room[: j - i], mode="clip")
            if held.max() > _MOST:
                self._empty(place[held > _MOST])
            with self._lock:
                np.add.at(counters, place, np.uint16(1))
            return page[:0]

        return work

    def _lay_out(self, pages: Array) -> None:
        """Give a place to pages that have none."""
        used = self._used + len(pages)
        if used > len(self._pages):
            self._grow(max(2 * len(self._pages), used))
        self._pages[self._used : used] = pages
        places = np.arange(self._used, used)
        self._shifts[pages] = (places - (pages & (_PAGES - 1))) << _PAGE_BITS
        self._used = used

    def _grow(self, pages: int) -> None:
        """Make room for so many pages.

        In a copy: what is grown in place loses its large pages of memory, and then finding a
        counter takes twice as long.
        """
        counters = np.zeros(pages * _PAGE, np.uint16)
        counters[: self._used * _PAGE] = self._counters[: self._used * _PAGE]
        self._counters = counters
        self._pages = np.append(self._pages, np.empty(pages - len(self._pages), np.int64))

    def _empty(self, places: Array) -> None:
        """Note down what counters hold; one row stays, so that each score is seen at the end."""
        places = np.unique(places)
        with self._lock:
            self._noted.append((places, self._counters[places].astype(np.int64) - 1))
            self._counters[places] = 1

    def done(self) -> ScoreTally:
        """The exact tally of all rows; the counter is used up."""
        places, rows = self._notes()
        counters = self._counters[: self._used * _PAGE]
        largest = max(int(counters.max(initial=0)), int((counters[places] + rows).max(initial=0)))
        keys, counts = self._table(np.min_scalar_type(largest))
        page = self._pages[places >> _PAGE_BITS]
        key = (page & (_PAGES - 1)) << _PAGE_BITS | places & (_PAGE - 1)
        at = np.searchsorted(keys, key.astype(np.uint32))
        counts[page // _PAGES, at] += rows.astype(counts.dtype)
        self._start()
        return ScoreTally(self.labels, *_ascending(keys, narrow(counts)))

    def _table(self, kind: np.dtype[Any]) -> tuple[npt.NDArray[np.uint32], Array]:
        """The bits of all scores, ascending, and what the counters hold of each."""
        numbers = self._pages[: self._used] & (_PAGES - 1)
        pages, where = np.unique(numbers, return_inverse=True)
        slots = np.full((len(self.labels), len(pages)), -1)
        slots[self._pages[: self._used] // _PAGES, where] = np.arange(self._used)
        parts = [slice(i, i + _TOGETHER) for i in range(0, len(pages), _TOGETHER)]
        sizes = [int(np.count_nonzero(_any(self._read(slots[:, part])))) for part in parts]
        keys = np.empty(sum(sizes), np.uint32)
        counts = np.empty((len(self.labels), len(keys)), kind)
        filled = 0
        for part, size in zip(parts, sizes, strict=True):
            amounts, filled = self._read(slots[:, part]), filled + size
            held = np.flatnonzero(_any(amounts))
            first = pages[part] << _PAGE_BITS
            keys[filled - size : filled] = first[held >> _PAGE_BITS] + (held & (_PAGE - 1))
            counts[:, filled - size : filled] = amounts[:, held]
        return keys, counts

    def _read(self, slots: Array) -> Array:
        """The counters of some pages by label, one page after the other."""
        pages = self._counters.reshape(-1, _PAGE)[slots]
        pages[slots < 0] = 0
        return pages.reshape(len(slots), -1)

    def _notes(self) -> tuple[Array, Array]:
        """The places of counters that were emptied, and how many rows were taken from each."""
        if not self._noted:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        places, which = np.unique(np.concatenate([p for p, _ in self._noted]), return_inverse=True)
        rows = np.zeros(len(places), np.int64)
        np.add.at(rows, which, np.concatenate([r for _, r in self._noted]))
        return places, rows


def _any(counts: Array) -> Array:
    """What is not zero where any label has rows."""
    return np.asarray(np.bitwise_or.reduce(counts, axis=0))


def _ascending(keys: npt.NDArray[np.uint32], counts: Array) -> tuple[Array, Array]:
    """Ascending bits as ascending scores: those of negative ones come last, and from the end."""
    negative = int(np.searchsorted(keys, np.uint32(1 << 31)))
    if negative < len(keys):
        keys = np.concatenate([keys[negative:][::-1], keys[:negative]])
        counts = np.concatenate([counts[:, negative:][:, ::-1], counts[:, :negative]], axis=1)
    return keys.view(np.float32), counts
