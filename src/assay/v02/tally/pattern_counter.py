"""Every distinct float32 score of many rows, counted in memory that does not grow with the rows.

A float32 has 2^32 bit patterns, so there can be a counter for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally.blocks import add_ones, bounds, map_blocks, narrow, threads
from assay.v02.tally.counters import BLOCK
from assay.v02.tally.scores import ScoreTally, extremes

Array: TypeAlias = npt.NDArray[Any]

_PAGE_BITS = 12
_PAGE = 1 << _PAGE_BITS
_PAGES = 1 << 32 - _PAGE_BITS
# Pages take so many bytes at most, or so many for each row. There is room for the former at once:
# memory that nothing was written to takes none.
_ROOM, _ROOM_A_ROW = 1 << 29, 4
_PAGE_BYTES = _PAGE * 2
_FIRST_PAGES = _ROOM // _PAGE_BYTES
# Added to the bits of a score, this is no place.
_NOWHERE = -1 << 32
# A counter holds fewer than _FULL when its page was last looked at, so up to _MOST further rows of
# that page can't outgrow its 16 bits. So many rows are safe at once right after a look.
_FULL = 1 << 14
_MOST, _AT_ONCE = (1 << 16) - _FULL, 1 << 15
# So many pages are read at once.
_TOGETHER = 64
# So many pages are those of a power of two.
_BINADE_PAGES = 1 << 23 - _PAGE_BITS
# No run goes over these, by their sign and exponent: -0.0, whose rows are counted as those of 0.0,
# and what is not finite, which is refused.
_NO_RUN = (255, 256, 511)
# So many of the first rows tell which pages are filled; a run holds such a share of them, and so
# many threads at most have one of their own.
_LOOK, _SHARE, _COPIES = 1 << 20, 0.8, 2


class _Pages:
    """Counters of 16 bits; what full ones held is noted down, by their places."""

    def __init__(self, pages: int, spare: int = 0) -> None:
        self.counters = np.zeros(pages * _PAGE, np.uint16)
        # How many rows each page got since it was looked at; nobody reads the last ones.
        self._since = np.zeros(pages, np.uint32)
        self._spare = slice(pages - spare, pages)
        self.noted: list[tuple[Array, Array]] = []

    def __len__(self) -> int:
        return len(self._since)

    def add(self, places: Array) -> None:
        """Add one to the counter at each place, and look at pages before one may be full."""
        pages = places >> _PAGE_BITS
        # A page that is there has all of its counters, so that places need no look of their own.
        add_ones(self._since, pages)
        self._since[self._spare] = 0
        if self._since.max() <= _MOST:
            add_ones(self.counters, places, checked=True)
            return
        self._since[self._spare] = len(pages)
        np.subtract.at(self._since, pages, 1)
        for first, last in bounds(len(places), _AT_ONCE):
            self._look(np.flatnonzero(self._since >= _FULL))
            add_ones(self.counters, places[first:last], checked=True)
            add_ones(self._since, pages[first:last], checked=True)

    def _look(self, pages: Array) -> None:
        """Note down what the full counters of pages hold; one row stays, so each score is seen."""
        page, pattern = np.nonzero(self.counters.reshape(-1, _PAGE)[pages] >= _FULL)
        if len(page):
            places = (pages[page] << _PAGE_BITS) + pattern
            self.noted.append((places, self.counters[places].astype(np.int64) - 1))
            self.counters[places] = 1
        self._since[pages] = 0

    def grow(self, pages: int) -> None:
        """Make room for so many pages.

        In a copy: what is grown in place loses its large pages of memory, and then finding a
        counter takes twice as long.
        """
        grown = _Pages(pages)
        for new, old in ((grown.counters, self.counters), (grown._since, self._since)):
            new[: len(old)] = old
        self.counters, self._since = grown.counters, grown._since

    def absorb(self, other: _Pages) -> None:
        """Take over what other counters of the same places hold; those are used up."""

        def work(first: int, last: int) -> None:
            part = slice(first << _PAGE_BITS, last << _PAGE_BITS)
            for one in (self, other):
                if one.counters[part].max() >= _FULL:
                    one._look(np.arange(first, last))
            self.counters[part] += other.counters[part]

        map_blocks(len(self), lambda: work, _TOGETHER)
        self.noted += other.noted
        other.counters = other.counters[:0]


class _Run:
    """Pages of neighbouring patterns in their order, of each label that fills them.

    In there a counter is found by a difference, and threads have pages of their own, so that none
    waits for another. ``first`` is the first pattern, ``size`` how many there are.
    """

    def __init__(self, first: int, size: int, labels: Sequence[int], copies: int) -> None:
        self.first, self.size, self.labels = first, size, labels
        # Behind them is one page for rows that have their counter elsewhere.
        self.pages = len(labels) * size >> _PAGE_BITS
        self._elsewhere = np.int32(len(labels) * size)
        self._copies = [_Pages(self.pages + 1, spare=1) for _ in range(copies)]
        self._idle: SimpleQueue[_Pages] = SimpleQueue()
        for copy in self._copies:
            self._idle.put(copy)

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return len(self._copies) * self.pages * _PAGE_BYTES

    def finding(self, labels: int) -> Callable[[Array, Array], tuple[Array, Array]]:
        """What finds the places of rows by their bits, and which have their counter elsewhere."""
        ranks, elsewhere = np.empty(BLOCK, np.uint32), np.empty((2, BLOCK), bool)
        starts = np.full(labels, self._elsewhere)
        starts[self.labels] = np.arange(len(self.labels)) * self.size

        def find(bits: Array, truth: Array) -> tuple[Array, Array]:
            rank, (beyond, other) = ranks[: len(bits)], elsewhere[:, : len(bits)]
            # What is below the first pattern becomes a number beyond the last one.
            np.subtract(bits, np.uint32(self.first), out=rank)
            np.greater_equal(rank, np.uint32(self.size), out=beyond)
            place = rank.view(np.int32)
            if len(self.labels) == 1:
                np.not_equal(truth, self.labels[0], out=other)
            else:
                start = starts.take(truth, mode="clip")
                np.equal(start, self._elsewhere, out=other)
                np.add(place, start, out=place)
            missing = np.flatnonzero(np.logical_or(beyond, other, out=beyond))
            place[missing] = self._elsewhere
            return place, missing

        return find

    def add(self, places: Array) -> None:
        """Count rows by the pages that no other thread has meanwhile."""
        pages = self._idle.get()
        try:
            pages.add(places)
        finally:
            self._idle.put(pages)

    def done(self) -> _Pages:
        """All that was counted; the run is used up."""
        first, *others = self._copies
        for other in others:
            first.absorb(other)
        return first


class PatternCounter:
    """Counts rows of float32 scores by label; threads may add at the same time.

    A float32 has 2^32 bit patterns, so there can be a counter for each of them. Counters have 16
    bits and lie in pages of 2^12 patterns, which are laid out when the first row falls into them;
    pages that the first rows show to be filled are laid out in their order.

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
        self._pages = _Pages(_FIRST_PAGES)
        # Which label and page lies at each place.
        self._numbers = np.empty(_FIRST_PAGES, np.int64)
        self._run: _Run | None = None

    def add(self, scores: npt.NDArray[np.float32], truth: Array) -> list[slice]:
        """Count further rows: a score each, and the label as a position in the labels.

        Which were left out: none, unless they lie so far apart that a table of them takes less.
        """
        if scores.dtype != np.float32:
            raise TallyError(
                f"patterns are those of float32 scores; found {scores.dtype}. Count these exactly, "
                f"by cuts or by a grid"
            )
        cut = bounds(len(scores), BLOCK)
        with self._lock:
            if not self._rows and self._run is None:
                self._run = self._laid_out_run(scores[:_LOOK], truth[:_LOOK])
        counted = map_blocks(len(scores), lambda: self._counting(scores, truth), BLOCK)
        return [slice(*block) for block, done in zip(cut, counted, strict=True) if not done]

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        run = 0 if self._run is None else self._run.nbytes
        used = self._used * (_PAGE_BYTES + 8)
        return run + used + self._shifts.nbytes if run or used else 0

    def _counting(
        self, scores: npt.NDArray[np.float32], truth: Array
    ) -> Callable[[int, int], bool]:
        """What counts a block of rows; False, and none is counted, where a page has no room."""
        run = self._run
        find = None if run is None else run.finding(len(self.labels))

        def work(i: int, j: int) -> bool:
            part, labels = scores[i:j], truth[i:j]
            place = None
            if find is not None:
                place, missing = find(part.view(np.uint32), labels)
                part, labels = part[missing], labels[missing]
            if not np.isfinite(part).all():
                extremes(scores)
            counted = self._count(part, labels, j - i)
            if counted and run is not None and place is not None:
                run.add(place)
            return counted

        return work

    def _count(self, scores: npt.NDArray[np.float32], truth: Array, rows: int) -> bool:
        """Count what lies in no run, of so many rows; False, and none is counted, without room."""
        # -0.0 is 0.0
        bits = (scores + np.float32(0)).view(np.uint32)
        page = truth.astype(np.int64) << 32 - _PAGE_BITS | bits >> _PAGE_BITS
        place = bits + self._shifts[page]
        nowhere = np.flatnonzero(place < 0)
        with self._lock:
            if len(nowhere) and not self._find_room(place, page, nowhere, rows):
                return False
            self._rows += rows
            self._pages.add(place)
        return True

    def _find_room(self, place: Array, page: Array, nowhere: Array, rows: int) -> bool:
        """Lay out the pages that had no place, and put the places right; False without room.

        Others may have laid out some of them since.
        """
        pages = page[nowhere]
        fresh = np.unique(pages)
        fresh = fresh[self._shifts[fresh] == _NOWHERE]
        if self._used + len(fresh) > self._room(rows):
            return False
        self._lay_out(fresh)
        place[nowhere] += self._shifts[pages] - _NOWHERE
        return True

    def _room(self, rows: int) -> int:
        """How many pages there may be once so many further rows are counted."""
        return max(_ROOM, _ROOM_A_ROW * (self._rows + rows)) // _PAGE_BYTES

    def _laid_out_run(self, scores: npt.NDArray[np.float32], truth: Array) -> _Run | None:
        """The run of pages that the first rows fill; None where it would hold too few of them.

        Those are of the most frequent power of two and its neighbours, as long as every other page
        is touched, and of the labels that have as many rows as pages. Half of the room is left to
        others.
        """
        pages = (scores + np.float32(0)).view(np.uint32) >> _PAGE_BITS
        rows = np.bincount(pages // _BINADE_PAGES, minlength=1)
        touched = np.bincount(np.unique(pages) // _BINADE_PAGES, minlength=1)
        sparse = np.union1d(np.flatnonzero(2 * touched < _BINADE_PAGES), _NO_RUN)
        most = int(rows.argmax())
        low = max(sparse[sparse <= most].tolist(), default=-1) + 1
        high = min([*sparse[sparse >= most].tolist(), len(rows)])
        amounts = np.bincount(truth, minlength=len(self.labels))
        labels = np.flatnonzero(amounts >= _BINADE_PAGES * (high - low)).tolist()
        copies = min(threads(), _COPIES)
        most_pages = self._room(0) // 2 // max(copies * len(labels), 1)
        low = max(low, high - most_pages // _BINADE_PAGES)
        if not labels or rows[low:high].sum() < _SHARE * len(scores):
            return None
        first, last = (edge * _BINADE_PAGES << _PAGE_BITS for edge in (low, high))
        return _Run(first, last - first, labels, copies)

    def _lay_out(self, pages: Array) -> None:
        """Give a place to pages that have none."""
        used = self._used + len(pages)
        if used > len(self._pages):
            size = max(2 * len(self._pages), used)
            self._pages.grow(size)
            self._numbers = np.append(self._numbers, np.empty(size - len(self._numbers), np.int64))
        self._numbers[self._used : used] = pages
        places = np.arange(self._used, used)
        self._shifts[pages] = (places - (pages & (_PAGES - 1))) << _PAGE_BITS
        self._used = used

    def done(self) -> ScoreTally:
        """The exact tally of all rows; the counter is used up."""
        parts = [_Laid(self._numbers[: self._used], self._pages)]
        if self._run is not None:
            first = self._run.first >> _PAGE_BITS
            pages = np.arange(first, first + (self._run.size >> _PAGE_BITS))
            numbers = [label * _PAGES + pages for label in self._run.labels]
            parts.append(_Laid(np.concatenate(numbers), self._run.done()))
        largest = max(part.largest for part in parts)
        keys, counts = self._table(parts, np.min_scalar_type(largest))
        for part in parts:
            page, key, rows = part.notes
            counts[page // _PAGES, np.searchsorted(keys, key)] += rows.astype(counts.dtype)
        self._start()
        return ScoreTally(self.labels, *_ascending(keys, narrow(counts)))

    def _table(
        self, parts: Sequence[_Laid], kind: np.dtype[Any]
    ) -> tuple[npt.NDArray[np.uint32], Array]:
        """The bits of all scores, ascending, and what the counters hold of each."""
        pages = np.unique(np.concatenate([part.numbers & (_PAGES - 1) for part in parts]))
        slots = [part.slots(len(self.labels), pages) for part in parts]

        def reading() -> Callable[[int, int], tuple[Array, Array]]:
            scratch = np.empty((len(self.labels), _TOGETHER, _PAGE), np.uint16)

            def read(i: int, j: int) -> tuple[Array, Array]:
                """The counters of some pages by label, and which have rows of any."""
                amounts = scratch[:, : j - i]
                amounts.fill(0)
                for part, slot in zip(parts, slots, strict=True):
                    part.read(slot[:, i:j], amounts)
                amounts = amounts.reshape(len(self.labels), -1)
                return amounts, np.bitwise_or.reduce(amounts, axis=0) != 0

            return read

        def counting() -> Callable[[int, int], int]:
            read = reading()
            return lambda i, j: int(np.count_nonzero(read(i, j)[1]))

        ends = np.cumsum(map_blocks(len(pages), counting, _TOGETHER), dtype=np.int64)
        keys = np.empty(ends[-1] if len(ends) else 0, np.uint32)
        counts = np.empty((len(self.labels), len(keys)), kind)

        def filling() -> Callable[[int, int], None]:
            read = reading()

            def fill(i: int, j: int) -> None:
                amounts, any_rows = read(i, j)
                occupied = np.flatnonzero(any_rows)
                stop = ends[i // _TOGETHER]
                span = slice(stop - len(occupied), stop)
                keys[span] = (pages[i:j] << _PAGE_BITS)[occupied >> _PAGE_BITS] + (
                    occupied & (_PAGE - 1)
                )
                for label, rows in enumerate(amounts):
                    counts[label, span] = rows[occupied]

            return fill

        map_blocks(len(pages), filling, _TOGETHER)
        return keys, counts


@dataclass(frozen=True, eq=False)
class _Laid:
    """Pages, and which label and page each of them is."""

    numbers: npt.NDArray[np.int64]
    pages: _Pages

    def slots(self, labels: int, pages: Array) -> Array:
        """Where pages of each label lie; -1 where they do not."""
        slots = np.full((labels, len(pages)), -1)
        where = np.searchsorted(pages, self.numbers & (_PAGES - 1))
        slots[self.numbers // _PAGES, where] = np.arange(len(self.numbers))
        return slots

    def read(self, slots: Array, amounts: Array) -> None:
        """Write down the counters of those pages that lie here, by label."""
        pages = self.pages.counters.reshape(-1, _PAGE)
        for slots_of_pages, into in zip(slots, amounts, strict=True):
            here = np.flatnonzero(slots_of_pages >= 0)
            into[here] += pages[slots_of_pages[here]]

    @cached_property
    def notes(self) -> tuple[Array, Array, Array]:
        """The page, the bits and the rows that were noted down of each score with full counters."""
        noted = [(np.empty(0, np.int64), np.empty(0, np.int64)), *self.pages.noted]
        places, place_of_note = np.unique(
            np.concatenate([p for p, _ in noted]), return_inverse=True
        )
        rows = np.zeros(len(places), np.int64)
        np.add.at(rows, place_of_note, np.concatenate([r for _, r in noted]))
        # What lies behind the last page was of rows that are counted elsewhere.
        in_pages = places < len(self.numbers) << _PAGE_BITS
        places, rows = places[in_pages], rows[in_pages]
        page = self.numbers[places >> _PAGE_BITS]
        key = (page & (_PAGES - 1)) << _PAGE_BITS | places & (_PAGE - 1)
        return page, key.astype(np.uint32), rows

    @property
    def largest(self) -> int:
        """The most rows that a score of a label has."""
        *_, rows = self.notes
        counters = self.pages.counters[: len(self.numbers) << _PAGE_BITS]
        return int(counters.max(initial=0)) + int(rows.max(initial=0))


def _ascending(keys: npt.NDArray[np.uint32], counts: Array) -> tuple[Array, Array]:
    """Ascending bits as ascending scores: those of negative ones come last, and from the end."""
    negative = int(np.searchsorted(keys, np.uint32(1 << 31)))
    if negative < len(keys):
        keys = np.concatenate([keys[negative:][::-1], keys[:negative]])
        counts = np.concatenate([counts[:, negative:][:, ::-1], counts[:, :negative]], axis=1)
    return keys.view(np.float32), counts
