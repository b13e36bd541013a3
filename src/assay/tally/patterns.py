"""Many rows of float32 scores, counted exactly in memory that does not grow with the rows.

A float32 has 2^32 bit patterns, so there can be a counter for each. Counters of 16 bits lie in
pages of 2^12 patterns, which are laid out when the first row falls into them. How many rows a cell
of counters has had bounds each of them. Where that bound is too large the counters are looked at,
and rows of a cell that would not fit are counted apart.
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

_PAGE_BITS, _CELL_BITS = 12, 10
_PAGE, _CELL = 1 << _PAGE_BITS, 1 << _CELL_BITS
_PAGES = 1 << 32 - _PAGE_BITS
_FULL = np.iinfo(np.uint16).max
# So many rows are counted at once, and so many pages are laid out at first.
_LOT = 1 << 22
_FIRST_PAGES = 1024
# So many pages are read at once.
_TOGETHER = 64


class PatternCounter:
    """Counts rows of float32 scores by label.

    >>> counter = PatternCounter(("benign", "attack"))
    >>> counter.add(np.array([0.5, -0.25, 0.5], np.float32), np.array([1, 0, 0]))
    >>> counter.done().counts.tolist()
    [[1, 1], [0, 1]]
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._start()

    def _start(self) -> None:
        # Where the page of a label and the upper half of a key lies; -1 for nowhere yet.
        self._slots = np.full(len(self.labels) * _PAGES, -1, np.int32)
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
        if not self._used:
            return 0
        apart = sum(cell.nbytes for cell in self._apart.values())
        return self._used * (_PAGE * 2 + self._bounds.shape[1] * 8) + apart + self._slots.nbytes

    def _count(self, scores: npt.NDArray[np.float32], truth: Array) -> None:
        places = np.empty(len(scores), np.int64)
        missing = self._places(scores, truth, places)
        if len(missing):
            self._lay_out(missing)
            self._places(scores, truth, places)
        places = self._without_full(places)
        np.add.at(self._counters.reshape(-1), places, np.uint16(1))

    def _places(self, scores: npt.NDArray[np.float32], truth: Array, places: Array) -> Array:
        """Write where the counter of each row lies; the pages that lie nowhere yet."""

        def work(i: int, j: int) -> Array:
            keys = _keys(scores[i:j])
            pages = truth[i:j].astype(np.int64)
            np.left_shift(pages, 32 - _PAGE_BITS, out=pages)
            np.bitwise_or(pages, keys >> np.uint32(_PAGE_BITS), out=pages)
            slots = self._slots[pages]
            out = places[i:j]
            np.left_shift(slots, _PAGE_BITS, out=out, dtype=np.int64)
            np.bitwise_or(out, keys & np.uint32(_PAGE - 1), out=out)
            return np.unique(pages[slots < 0]) if slots.min() < 0 else pages[:0]

        return np.unique(np.concatenate(map_blocks(len(scores), lambda: work)))

    def _lay_out(self, pages: Array) -> None:
        """Give a place to pages that have none."""
        used = self._used + len(pages)
        self._slots[pages] = np.arange(self._used, used)
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
        numbers = np.flatnonzero((slots >= 0).any(axis=0))
        parts = [numbers[i : i + _TOGETHER] for i in range(0, len(numbers), _TOGETHER)]
        sizes = [int(self._pages(slots[:, part]).any(axis=0).sum()) for part in parts]
        largest = max((int(cell.max()) for cell in self._apart.values()), default=0)
        kind = np.min_scalar_type(largest + int(self._counters[: self._used].max(initial=0)))
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
        if not self._apart:
            return pages.reshape(len(slots), -1)
        cells = pages.astype(np.int64).reshape(*slots.shape, -1, _CELL)
        for label, page in zip(*np.nonzero(slots >= 0), strict=True):
            first = int(slots[label, page]) * (_PAGE // _CELL)
            for i in range(_PAGE // _CELL):
                own = self._apart.get(first + i)
                if own is not None:
                    cells[label, page, i] += own
        return cells.reshape(len(slots), -1)


def _longer(table: Array, used: int, size: int) -> Array:
    """The same rows in a longer table; what is not used takes no memory yet."""
    longer = np.zeros((size, table.shape[1]), table.dtype)
    longer[:used] = table[:used]
    return longer


def _keys(scores: npt.NDArray[np.float32]) -> Keys:
    """Keys in the order of the scores: negative ones turned over, others above them."""
    bits = (scores + np.float32(0)).view(np.int32)
    # All bits of a negative score, the sign alone of another.
    turned = (bits >> 31).view(np.uint32)
    np.bitwise_or(turned, np.uint32(1 << 31), out=turned)
    return np.bitwise_xor(bits.view(np.uint32), turned, out=turned)


def _scores(keys: Keys) -> npt.NDArray[np.float32]:
    """Keys back to scores, in place."""
    for i in range(0, len(keys), _LOT):
        part = keys[i : i + _LOT]
        negative = part < np.uint32(1 << 31)
        part ^= np.where(negative, np.uint32(0xFFFFFFFF), np.uint32(1 << 31))
    return keys.view(np.float32)
