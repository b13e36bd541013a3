"""Many rows of float32 scores, counted exactly in memory that does not grow with the rows.

A float32 has 2^32 bit patterns, so there can be a counter for each. Counters of 16 bits lie in pages
of 2^16 patterns that are laid out when the first row falls into them. How many rows a small cell of
counters has had bounds each of them; where that bound is too large the counters are looked at, and
rows of a cell that would not fit are counted apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally.blocks import map_blocks
from assay.tally.packed import narrow
from assay.tally.scores import ScoreTally, extremes

Array: TypeAlias = npt.NDArray[Any]
Keys: TypeAlias = npt.NDArray[np.uint32]

_PAGE_BITS, _CELL_BITS = 16, 10
_PAGE, _CELL = 1 << _PAGE_BITS, 1 << _CELL_BITS
_PAGES = 1 << 32 - _PAGE_BITS
_FULL = np.iinfo(np.uint16).max
# So many rows are counted at once, and so many pages are laid out at first.
_LOT = 1 << 22
_FIRST_PAGES = 64


class PatternCounter:
    """Counts rows of float32 scores by label.

    >>> counter = PatternCounter(("benign", "attack"))
    >>> counter.add(np.array([0.5, -0.25, 0.5], np.float32), np.array([1, 0, 0]))
    >>> counter.done().counts.tolist()
    [[1, 1], [0, 1]]
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        # Where the page of a label and the upper half of a key lies; -1 for nowhere yet.
        self._slots = np.full(len(self.labels) * _PAGES, -1, np.int64)
        self._used = 0
        self._counters = np.zeros((_FIRST_PAGES, _PAGE), np.uint16)
        self._bounds = np.zeros((_FIRST_PAGES, _PAGE // _CELL), np.int64)
        self._apart: dict[int, npt.NDArray[np.int64]] = {}

    def add(self, scores: npt.NDArray[np.float32], truth: Array) -> None:
        """Count further rows: a score each, and the label as a position in the labels."""
        if scores.dtype != np.float32:
            raise TallyError(
                f"patterns are those of float32 scores; found {scores.dtype}. Count these exactly, "
                f"by cuts or by a grid"
            )
        if len(scores):
            extremes(scores)
        for i in range(0, len(scores), _LOT):
            self._count(scores[i : i + _LOT], truth[i : i + _LOT])

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        apart = sum(cell.nbytes for cell in self._apart.values())
        return self._used * (_PAGE * 2 + self._bounds.shape[1] * 8) + apart + self._slots.nbytes

    def _count(self, scores: npt.NDArray[np.float32], truth: Array) -> None:
        keys, pages = np.empty(len(scores), np.uint32), np.empty(len(scores), np.int64)
        _write_keys(scores, truth, keys, pages)
        self._lay_out(pages)
        places = pages

        def work(i: int, j: int) -> None:
            slots = self._slots[pages[i:j]]
            np.left_shift(slots, _PAGE_BITS, out=slots)
            np.bitwise_or(slots, keys[i:j] & np.uint32(_PAGE - 1), out=places[i:j])

        map_blocks(len(keys), lambda: work)
        places = self._without_full(places)
        np.add.at(self._counters.reshape(-1), places, np.uint16(1))

    def _lay_out(self, pages: Array) -> None:
        """Give a place to each page that has none."""
        missing = np.flatnonzero((np.bincount(pages, minlength=len(self._slots)) > 0))
        missing = missing[self._slots[missing] < 0]
        used = self._used + len(missing)
        self._slots[missing] = np.arange(self._used, used)
        if used > len(self._counters):
            size = max(used, 2 * len(self._counters))
            self._counters = _longer(self._counters, self._used, size)
            self._bounds = _longer(self._bounds, self._used, size)
        self._used = used

    def _without_full(self, places: Array) -> Array:
        """The rows whose counters hold them; others are counted apart."""
        bounds, cells = self._bounds.reshape(-1), places >> _CELL_BITS
        more = np.bincount(cells, minlength=len(bounds))
        full = np.flatnonzero(bounds + more > _FULL)
        if len(full):
            bounds[full] = self._counters.reshape(-1, _CELL)[full].max(axis=1)
            full = full[bounds[full] + more[full] > _FULL]
        if len(full):
            chosen = np.isin(cells, full)
            for cell in full.tolist():
                rows = places[cells == cell] & (_CELL - 1)
                own = self._apart.setdefault(cell, np.zeros(_CELL, np.int64))
                own += np.bincount(rows, minlength=_CELL)
            more[full] = 0
            places = places[~chosen]
        bounds += more
        return places

    def done(self) -> ScoreTally:
        """The exact tally of all rows; the counter is used up."""
        slots = self._slots.reshape(len(self.labels), _PAGES)
        numbers = np.flatnonzero((slots >= 0).any(axis=0)).tolist()
        sizes = [int(self._page(slots[:, number]).any(axis=0).sum()) for number in numbers]
        largest = max((int(cell.max()) for cell in self._apart.values()), default=0)
        kind = np.min_scalar_type(largest + int(self._counters.max(initial=0)))
        keys = np.empty(sum(sizes), np.uint32)
        counts = np.empty((len(self.labels), len(keys)), kind)
        filled = 0
        for number, size in zip(numbers, sizes, strict=True):
            page = self._page(slots[:, number])
            held = np.flatnonzero(page.any(axis=0))
            keys[filled : filled + size] = held + (number << _PAGE_BITS)
            counts[:, filled : filled + size] = page[:, held]
            filled += size
        self.__init__(self.labels)  # type: ignore[misc]
        return ScoreTally(self.labels, _scores(keys), narrow(counts))

    def _page(self, slots: Array) -> Array:
        """The counts of one page by label."""
        page = np.zeros((len(slots), _PAGE), np.int64 if self._apart else np.uint16)
        for row, slot in zip(page, slots.tolist(), strict=True):
            if slot < 0:
                continue
            row[:] = self._counters[slot]
            for i in range(_PAGE // _CELL):
                own = self._apart.get(slot * (_PAGE // _CELL) + i)
                if own is not None:
                    row[i * _CELL : (i + 1) * _CELL] += own
        return page


def _longer(table: Array, used: int, size: int) -> Array:
    """The same rows in a longer table; what is not used takes no memory yet."""
    longer = np.zeros((size, table.shape[1]), table.dtype)
    longer[:used] = table[:used]
    return longer


def _write_keys(
    scores: npt.NDArray[np.float32], truth: Array, keys: Keys, pages: npt.NDArray[np.int64]
) -> None:
    """Keys in the order of the scores, and in which page of its label each lies."""

    def work(i: int, j: int) -> None:
        bits = (scores[i:j] + np.float32(0)).view(np.int32)
        # All bits of a negative score, the sign alone of another.
        turned = (bits >> 31).view(np.uint32) | np.uint32(1 << 31)
        np.bitwise_xor(bits.view(np.uint32), turned, out=keys[i:j])
        np.copyto(pages[i:j], truth[i:j], casting="unsafe")
        np.left_shift(pages[i:j], 32 - _PAGE_BITS, out=pages[i:j])
        np.bitwise_or(pages[i:j], keys[i:j] >> np.uint32(_PAGE_BITS), out=pages[i:j])

    map_blocks(len(scores), lambda: work)


def _scores(keys: Keys) -> npt.NDArray[np.float32]:
    """Keys back to scores, in place."""
    for i in range(0, len(keys), _LOT):
        part = keys[i : i + _LOT]
        negative = part < np.uint32(1 << 31)
        part ^= np.where(negative, np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    return keys.view(np.float32)
