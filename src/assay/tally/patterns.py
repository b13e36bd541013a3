"""Every distinct float32 score, counted in memory that does not grow with the rows.

A float32 has 2^32 bit patterns, so there can be a counter for each of them. Counters have 16 bits
and lie in pages of 2^12 patterns, which are laid out when the first row falls into them. How many
rows a page has had bounds each of its counters. Where that bound is too large the counters are
looked at, and a page that would not hold its rows gets wide counters besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally.blocks import bounds
from assay.tally.counters import LOT
from assay.tally.packed import narrow
from assay.tally.scores import ScoreTally, extremes

Array: TypeAlias = npt.NDArray[Any]
Keys: TypeAlias = npt.NDArray[np.uint32]

_PAGE_BITS = 12
_PAGE = 1 << _PAGE_BITS
_PAGES = 1 << 32 - _PAGE_BITS
_FULL = np.iinfo(np.uint16).max
# So many pages are laid out at first, and at most so many bytes of them, or so many for each row.
_FIRST_PAGES = 1024
_ROOM, _ROOM_A_ROW = 1 << 29, 4
# So many are told apart by 32 bits.
_MOST_PAGES = 1 << 31 - _PAGE_BITS
# So many rows are placed at once: what that takes stays near the processor.
_BLOCK = 1 << 14
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
        self._start()

    def _start(self) -> None:
        # Where the page of a label and the upper half of a key lies; -1 for nowhere yet.
        self._slots = np.full(len(self.labels) * _PAGES, -1, np.int32)
        self._used = self._rows = 0
        self._counters = np.zeros((_FIRST_PAGES, _PAGE), np.uint16)
        self._bounds = np.zeros(_FIRST_PAGES, np.int64)
        self._room = np.empty(LOT, np.int64)
        self._room_of_pages = np.empty(LOT, np.int64)
        # Where the wide counters of a page lie; -1 for a page that has none.
        self._wide_slots = np.full(_FIRST_PAGES, -1, np.int64)
        self._wide = np.zeros((0, _PAGE), np.int64)

    def add(self, scores: npt.NDArray[np.float32], truth: Array) -> int:
        """Count further rows: a score each, and the label as a position in the labels.

        How many were counted: all, unless they lie so far apart that a table of them takes less.
        """
        if scores.dtype != np.float32:
            raise TallyError(
                f"patterns are those of float32 scores; found {scores.dtype}. Count these exactly, "
                f"by cuts or by a grid"
            )
        if len(scores):
            extremes(scores)
        for i in range(0, len(scores), LOT):
            if not self._count(scores[i : i + LOT], truth[i : i + LOT]):
                return i
        return len(scores)

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        if not self._used:
            return 0
        return self._used * (_PAGE * 2 + 16) + self._wide.nbytes + self._slots.nbytes

    def _count(self, scores: npt.NDArray[np.float32], truth: Array) -> bool:
        """Count rows; False, and nothing is counted, where there is no room for their pages."""
        places = self._room[: len(scores)]
        blocks = bounds(len(scores), _BLOCK)
        missing = self._places(scores, truth, places, blocks)
        self._rows += len(scores)
        if missing:
            fresh = np.unique(np.concatenate(list(missing.values())))
            room = max(_ROOM, _ROOM_A_ROW * self._rows) // (2 * _PAGE)
            if self._used + len(fresh) > min(room, _MOST_PAGES):
                self._rows -= len(scores)
                return False
            self._lay_out(fresh)
            self._places(scores, truth, places, list(missing))
        places = self._without_full(places)
        counters = self._counters.reshape(-1)
        for i, j in bounds(len(places), _BLOCK):
            # In short steps: the thread that reads waits for the end of each.
            np.add.at(counters, places[i:j], np.uint16(1))
        return True

    def _places(
        self,
        scores: npt.NDArray[np.float32],
        truth: Array,
        places: Array,
        blocks: Sequence[tuple[int, int]],
    ) -> dict[tuple[int, int], Array]:
        """Write where the counters of some blocks lie; the pages that lie nowhere yet, by block."""
        rows_at_once = min(_BLOCK, len(scores))
        keys, turned = np.empty(rows_at_once, np.float32), np.empty(rows_at_once, np.int32)
        pages, slots = np.empty(rows_at_once, np.int64), np.empty(rows_at_once, np.int32)
        missing = {}
        for i, j in blocks:
            key, turn, page, slot = keys[: j - i], turned[: j - i], pages[: j - i], slots[: j - i]
            np.add(scores[i:j], np.float32(0), out=key)
            bits = _ordered(key.view(np.uint32), turn).view(np.int32)
            np.copyto(turn, truth[i:j])
            np.left_shift(turn, 32 - _PAGE_BITS, out=turn)
            np.right_shift(bits.view(np.uint32), np.uint32(_PAGE_BITS), out=slot.view(np.uint32))
            np.bitwise_or(turn, slot, out=turn)
            np.copyto(page, turn)
            self._slots.take(page, out=slot, mode="clip")
            np.bitwise_and(bits, _PAGE - 1, out=bits)
            np.left_shift(slot, _PAGE_BITS, out=turn)
            np.bitwise_or(turn, bits, out=turn)
            np.copyto(places[i:j], turn)
            if slot.min() < 0:
                missing[i, j] = np.unique(page[slot < 0])
        return missing

    def _lay_out(self, pages: Array) -> None:
        """Give a place to pages that have none."""
        used = self._used + len(pages)
        self._slots[pages] = np.arange(self._used, used)
        if used > len(self._counters):
            # In place: a copy would need the memory twice.
            size = used + used // 8
            self._counters.resize((size, _PAGE), refcheck=False)
            self._bounds.resize(size, refcheck=False)
            self._wide_slots.resize(size, refcheck=False)
            self._wide_slots[self._used :] = -1
        self._used = used

    def _without_full(self, places: Array) -> Array:
        """The rows whose counters hold them; others are counted apart."""
        pages = np.right_shift(places, _PAGE_BITS, out=self._room_of_pages[: len(places)])
        more = np.bincount(pages, minlength=len(self._bounds))
        full = np.flatnonzero(self._bounds + more > _FULL)
        if len(full):
            self._bounds[full] = self._counters[full].max(axis=1)
            full = full[self._bounds[full] + more[full] > _FULL]
        if not len(full):
            self._bounds += more
            return places
        more[full] = 0
        self._bounds += more
        self._widen(full)
        wide = np.isin(pages, full)
        rows = self._wide_slots[pages[wide]] << _PAGE_BITS | places[wide] & (_PAGE - 1)
        np.add.at(self._wide.reshape(-1), rows, 1)
        return places[~wide]

    def _widen(self, pages: Array) -> None:
        """Lay out wide counters for pages that have none."""
        fresh = pages[self._wide_slots[pages] < 0]
        self._wide_slots[fresh] = np.arange(len(self._wide), len(self._wide) + len(fresh))
        self._wide = np.concatenate([self._wide, np.zeros((len(fresh), _PAGE), np.int64)])

    def done(self) -> ScoreTally:
        """The exact tally of all rows; the counter is used up."""
        slots = self._slots.reshape(len(self.labels), _PAGES)
        numbers = np.flatnonzero((slots >= 0).any(axis=0))
        parts = [numbers[i : i + _TOGETHER] for i in range(0, len(numbers), _TOGETHER)]
        sizes = [int(self._pages(slots[:, part]).any(axis=0).sum()) for part in parts]
        largest = int(self._wide.max(initial=0)) + int(self._counters[: self._used].max(initial=0))
        kind = np.min_scalar_type(largest)
        keys = np.empty(sum(sizes), np.uint32)
        counts = np.empty((len(self.labels), len(keys)), kind)
        filled = 0
        for part, size in zip(parts, sizes, strict=True):
            pages = self._pages(slots[:, part])
            held = np.flatnonzero(pages.any(axis=0))
            first = part.astype(np.int64) << _PAGE_BITS
            keys[filled : filled + size] = first[held >> _PAGE_BITS] + (held & (_PAGE - 1))
            counts[:, filled : filled + size] = pages[:, held]
            filled += size
        self._start()
        return ScoreTally(self.labels, _scores(keys), narrow(counts))

    def _pages(self, slots: Array) -> Array:
        """The counts of some pages by label, one page after the other."""
        pages = np.where((slots >= 0)[:, :, None], self._counters[slots], np.uint16(0))
        if not len(self._wide):
            return pages.reshape(len(slots), -1)
        wide = np.where(slots >= 0, self._wide_slots[slots], -1)
        held = wide >= 0
        pages = pages.astype(np.int64)
        pages[held] += self._wide[wide[held]]
        return pages.reshape(len(slots), -1)


def _ordered(bits: Keys, room: npt.NDArray[np.int32]) -> Keys:
    """Bits of scores, in place: those of negative ones turned over, others above them."""
    # All bits of a negative score, the sign alone of another.
    np.right_shift(bits.view(np.int32), 31, out=room)
    np.bitwise_or(room.view(np.uint32), np.uint32(1 << 31), out=room.view(np.uint32))
    return np.bitwise_xor(bits, room.view(np.uint32), out=bits)


def _scores(keys: Keys) -> npt.NDArray[np.float32]:
    """Keys back to scores, in place."""
    for i in range(0, len(keys), LOT):
        part = keys[i : i + LOT]
        negative = part < np.uint32(1 << 31)
        part ^= np.where(negative, np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    return keys.view(np.float32)
