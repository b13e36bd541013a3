"""Many rows of scores, counted in memory that does not grow with the rows.

A grid has a counter for each cell of a label, cuts have one for each cut of a label and each gap
between them, and every bit pattern of float32 scores has one.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally.blocks import bounds, map_blocks, narrow
from assay.tally.keeping import BITS, LOWEST, Cuts, Grid, cells, lowest
from assay.tally.scores import ScoreTally, extremes

Array: TypeAlias = npt.NDArray[Any]

# So many rows are put in order at once.
_LOT = 1 << 22

# -- cells of a grid -------------------------------------------------------------------------------

# Scores that are nearer to 0 or 1 than 2^-_BINADES, and not there, are counted apart.
_BINADES = 64
_MANTISSA = {np.dtype(np.float32): (23, 127), np.dtype(np.float64): (52, 1023)}
# So many tables that were counted apart are added at once.
_FAN = 8
# So many rows are counted at once: what they take stays near the processor, and threads do not
# wait for the interpreter more than they work.
BLOCK = 1 << 17


class GridCounter:
    """Counts rows by label and by the cell of their score; threads may add at the same time.

    >>> counter = GridCounter(("benign", "attack"), bits=4)
    >>> _ = counter.add(np.array([0.3, 0.9, 0.3001]), np.array([1, 0, 0]))
    >>> counter.done().counts.tolist()
    [[1, 1], [1, 0]]
    """

    def __init__(self, labels: Sequence[str], bits: int = BITS) -> None:
        self.labels = tuple(labels)
        self._bits = bits
        # Of each label the cells of scores up to 1/2, then those above it, from the end inwards.
        # The first of either is that of 0 or 1 itself.
        self._size = (_BINADES << bits) + 1
        self._counters = np.zeros(2 * len(self.labels) * self._size, np.int64)
        self._lock = Lock()
        self._apart: list[ScoreTally] = []
        self._extremes = math.inf, -math.inf

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest score so far; infinities where there was none."""
        return self._extremes

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return self._counters.nbytes

    def add(self, scores: Array, truth: Array) -> list[slice]:
        """Count further rows: a score each, and the label as a position in the labels.

        Which were left out: none.
        """
        counted = map_blocks(len(scores), lambda: self._counting(scores, truth), BLOCK)
        rest = [
            slice(i, j)
            for (i, j), done in zip(bounds(len(scores), BLOCK), counted, strict=True)
            if not done
        ]
        if rest:
            kept = Grid(self._bits)
            rows = [np.concatenate([column[part] for part in rest]) for column in (scores, truth)]
            table = ScoreTally.of_rows(self.labels, *rows, kept=kept)
            with self._lock:
                self._apart.append(table)
                if len(self._apart) == _FAN:
                    self._apart = [ScoreTally.merge(self._apart)]
        return []

    def _counting(self, scores: Array, truth: Array) -> Callable[[int, int], bool]:
        """What counts the rows of a block; False, and none is counted, if one has no counter."""
        mantissa, bias = _MANTISSA[scores.dtype]
        whole: Any = np.dtype(f"i{scores.itemsize}").type
        lost, before = mantissa - self._bits, ((bias - _BINADES) << self._bits) - 1
        sizes, halves = np.empty(BLOCK, scores.dtype), np.empty(BLOCK, whole)
        sides, places = np.empty(BLOCK, np.uint8), np.empty(BLOCK, np.int64)

        def work(i: int, j: int) -> bool:
            rows, half, side, place = (
                scores[i:j],
                halves[: j - i],
                sides[: j - i],
                places[: j - i],
            )
            self._reach(*extremes(rows))
            size = np.subtract(scores.dtype.type(1), rows, out=sizes[: j - i])
            np.minimum(size, rows, out=size)
            # What is below 0, -0.0 too, or above 1 has bits that are a negative number.
            cell = size.view(whole)
            np.right_shift(cell, lost, out=cell)
            np.subtract(cell, before, out=cell)
            if cell.max() >= self._size:
                return False
            if cell.min() <= 0:
                near = rows[cell <= 0]
                if ((near != 0) & (near != 1)).any():
                    return False
                np.maximum(cell, 0, out=cell)
            np.greater(rows, scores.dtype.type(0.5), out=side.view(bool))
            np.add(side, truth[i:j], out=side, casting="unsafe")
            np.add(side, truth[i:j], out=side, casting="unsafe")
            np.copyto(half, side)
            np.multiply(half, self._size, out=half)
            np.add(cell, half, out=cell)
            np.copyto(place, cell)
            with self._lock:
                np.add.at(self._counters, place, 1)
            return True

        return work

    def _reach(self, low: float, high: float) -> None:
        with self._lock:
            self._extremes = min(self._extremes[0], low), max(self._extremes[1], high)

    def done(self) -> ScoreTally:
        """The tally of all rows."""
        both = self._counters.reshape(len(self.labels), 2, self._size)
        first = int(cells(np.array([2.0**-_BINADES]), self._bits)[0])
        last = int(cells(np.array([1.0]), self._bits)[0])
        low, high = (np.flatnonzero(both[:, side].any(axis=0)) for side in (0, 1))
        position = np.where(low, low + first - 1, 0), np.where(high, high + first - 1, 0)
        ids = np.concatenate([position[0], (last - position[1])[::-1]])
        counts = np.concatenate([both[:, 0, low], both[:, 1, high[::-1]]], axis=1)
        kept = Grid(self._bits)
        table = ScoreTally(self.labels, lowest(ids, self._bits), narrow(counts), kept=kept)
        return ScoreTally.merge([table, *self._apart])


# -- between the scores of the rarer labels --------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CutPoints:
    """The label that is counted into gaps, and the distinct scores of all others, ascending."""

    frequent: str
    cuts: Array

    def __post_init__(self) -> None:
        # -0.0 is 0.0
        object.__setattr__(self, "cuts", self.cuts.astype(np.float64) + 0.0)

    @cached_property
    def digest(self) -> str:
        """What tells these cuts from others; tables add where it is the same."""
        return hashlib.sha256(self.cuts.astype("<f8").tobytes()).hexdigest()[:16]


class CutCounter:
    """Counts rows at cuts, and those of the frequent label into the gaps between them too.

    >>> counter = CutCounter(("benign", "attack"), CutPoints("benign", np.array([0.5, 0.9])))
    >>> _ = counter.add(np.array([0.9, 0.5, 0.7, 0.6, 0.9]), np.array([1, 1, 0, 0, 0]))
    >>> counter.done().scores.tolist(), counter.done().counts.tolist()
    ([0.5, 0.5000000000000001, 0.9], [[0, 2, 1], [1, 0, 1]])
    """

    def __init__(self, labels: Sequence[str], cutting: CutPoints) -> None:
        self.labels = tuple(labels)
        self._cutting = cutting
        self._frequent = self.labels.index(cutting.frequent)
        self._cuts = cutting.cuts
        self._at_cuts = np.zeros((len(self.labels), len(self._cuts)), np.int64)
        # Below each cut, and above all of them.
        self._in_gaps = np.zeros(len(self._cuts) + 1, np.int64)

    @property
    def nbytes(self) -> int:
        """How many bytes the counters take."""
        return self._at_cuts.nbytes + self._in_gaps.nbytes + self._cuts.nbytes

    def add(self, scores: Array, truth: Array, counts: Array | None = None) -> list[slice]:
        """Count further rows: a score each, and the label as a position in the labels.

        Which were left out: none.
        """
        if len(scores):
            extremes(scores)
        for label in range(len(self.labels)):
            own = np.flatnonzero(truth == label)
            for i in range(0, len(own), _LOT):
                rows = own[i : i + _LOT]
                self._count(scores[rows], label, None if counts is None else counts[rows])
        return []

    def _count(self, scores: Array, label: int, counts: Array | None) -> None:
        # Scores in order are found many times faster.
        if counts is None:
            scores, counts = np.sort(scores), np.broadcast_to(1, scores.shape)
        else:
            order = np.argsort(scores)
            scores, counts = scores[order], counts[order]
        places = np.searchsorted(self._cuts, scores)
        at_cut = np.zeros(len(scores), bool)
        if len(self._cuts):
            # What lies above the last cut is not at it.
            at_cut = self._cuts.take(places, mode="clip") == scores
        if at_cut.all():
            np.add.at(self._at_cuts[label], places, counts)
            return
        if label != self._frequent:
            odd = float(scores[int(at_cut.argmin())])
            raise TallyError(
                f"the score {odd!r} of a {self.labels[label]!r} row is none of the "
                f"{len(self._cuts)} cuts; take the cuts from all rows that are not "
                f"{self._cutting.frequent!r}"
            )
        between = ~at_cut
        np.add.at(self._at_cuts[label], places[at_cut], counts[at_cut])
        np.add.at(self._in_gaps, places[between], counts[between])

    def done(self) -> ScoreTally:
        """The tally of all rows."""
        kept = Cuts(self._cutting.frequent, self._cutting.digest)
        cuts = np.flatnonzero(self._at_cuts.any(axis=0))
        gaps = np.flatnonzero(self._in_gaps)
        if not len(cuts) and not len(gaps):
            return replace(ScoreTally.zero(self.labels), kept=kept)
        with np.errstate(over="ignore"):  # no finite score lies above the largest
            starts = np.concatenate(([LOWEST], np.nextafter(self._cuts, np.inf)))
        # A gap that holds rows starts between two cuts.
        scores = np.concatenate([self._cuts[cuts], starts[gaps]])
        order = np.argsort(scores)
        counts = np.zeros((len(self.labels), len(order)), np.int64)
        counts[:, : len(cuts)] = self._at_cuts[:, cuts]
        counts[self._frequent, len(cuts) :] = self._in_gaps[gaps]
        return ScoreTally(self.labels, scores[order], narrow(counts[:, order]), kept=kept)


def count_cuts(
    labels: Sequence[str],
    cutting: CutPoints,
    scores: Array,
    truth: Array,
    *,
    counts: npt.NDArray[np.int64] | None = None,
) -> ScoreTally:
    """The tally of rows that are all there, at cuts and between them."""
    counter = CutCounter(labels, cutting)
    counter.add(scores, truth, counts)
    return counter.done()


# -- every distinct float32 score ------------------------------------------------------------------

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
# So many of them are added at once, to counters that hold no more than leaves room for them.
_AT_ONCE = 1 << 15
_MOST = np.iinfo(np.uint16).max - _AT_ONCE
# So many pages are read at once.
_TOGETHER = 64
# So many pages are those of a power of two.
_BINADE_PAGES = 1 << 23 - _PAGE_BITS
# So many of the first rows tell which pages are filled; a run holds such a share of them.
_LOOK, _SHARE = 1 << 20, 0.8


@dataclass(frozen=True, eq=False)
class _PageRun:
    """Pages of neighbouring patterns in their order, of each label that fills them.

    In there a counter is found by a sum. ``starts`` has the place of the first pattern by label,
    and what is no place where a label fills no pages.
    """

    first: int
    size: int
    starts: npt.NDArray[np.int64]

    def finding(self) -> Callable[[Array, Array, Array], Array]:
        """What writes down the places of rows, and tells which rows have theirs elsewhere."""
        labels = np.flatnonzero(self.starts >= 0).tolist()
        ranks, elsewhere = np.empty(BLOCK, np.uint32), np.empty((2, BLOCK), bool)

        def find(bits: Array, truth: Array, place: Array) -> Array:
            rank, (beyond, other) = ranks[: len(bits)], elsewhere[:, : len(bits)]
            # What is below the first pattern becomes a number beyond the last one.
            np.subtract(bits, np.uint32(self.first), out=rank)
            np.greater_equal(rank, np.uint32(self.size), out=beyond)
            if len(labels) == 1:
                np.add(rank, self.starts[labels[0]], out=place)
                np.not_equal(truth, labels[0], out=other)
            else:
                self.starts.take(truth, out=place, mode="clip")
                np.add(rank, place, out=place)
                np.less(place, 0, out=other)
            return np.flatnonzero(np.logical_or(beyond, other, out=beyond))

        return find


class PatternCounter:
    """Counts rows of float32 scores by label; threads may add at the same time.

    A float32 has 2^32 bit patterns, so there can be a counter for each of them. Counters have 16
    bits and lie in pages of 2^12 patterns, which are laid out when the first row falls into them;
    pages that the first rows show to be filled are laid out in their order. A counter that may soon
    be full is emptied, and what it held is noted down.

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
        self._run: _PageRun | None = None

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
        return self._used * (_PAGE_BYTES + 8) + self._shifts.nbytes if self._used else 0

    def _counting(
        self, scores: npt.NDArray[np.float32], truth: Array
    ) -> Callable[[int, int], bool]:
        """What counts a block of rows; False, and none is counted, where a page has no room."""
        find = None if self._run is None else self._run.finding()
        keys, codes = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.uint32)
        pages, places, shifts = (np.empty(BLOCK, np.int64) for _ in range(3))
        held = np.empty(_AT_ONCE, np.uint16)

        def work(i: int, j: int) -> bool:
            place, labels, rest = places[: j - i], truth[i:j], None
            extremes(scores[i:j])
            # -0.0 is 0.0
            bits = np.add(scores[i:j], np.float32(0), out=keys[: j - i]).view(np.uint32)
            own = place
            if find is not None:
                rest = find(bits, labels, place)
                bits, labels, own = bits[rest], labels[rest], place[rest]
            code, page, shift = (column[: len(bits)] for column in (codes, pages, shifts))
            np.copyto(own, bits)
            np.copyto(code, labels, casting="unsafe")
            np.left_shift(code, 32 - _PAGE_BITS, out=code)
            np.right_shift(bits, _PAGE_BITS, out=bits)
            np.bitwise_or(bits, code, out=bits)
            np.copyto(page, bits)
            np.add(own, self._shifts.take(page, out=shift, mode="clip"), out=own)
            nowhere = np.flatnonzero(own < 0) if len(own) and own.min() < 0 else None
            with self._lock:
                if nowhere is not None and not self._find_room(own, page, nowhere, j - i):
                    return False
                if rest is not None:
                    place[rest] = own
                self._rows += j - i
                for first, last in bounds(j - i, _AT_ONCE):
                    self._add(place[first:last], held[: last - first])
            return True

        return work

    def _add(self, place: Array, held: Array) -> None:
        """Add one to each counter, of which those that may soon be full are emptied first.

        Counters are far from the processor; read here they come near.
        """
        self._counters.take(place, out=held, mode="clip")
        if held.max() > _MOST:
            self._empty(np.unique(place[held > _MOST]))
        np.add.at(self._counters, place, np.uint16(1))

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

    def _laid_out_run(self, scores: npt.NDArray[np.float32], truth: Array) -> _PageRun | None:
        """Lay out the pages that the first rows fill; None where they hold too few of the rows.

        Those are of the most frequent power of two and its neighbours, as long as every other page
        is touched, and of the labels that have as many rows as pages. Half of the room is left to
        others.
        """
        pages = (scores + np.float32(0)).view(np.uint32) >> _PAGE_BITS
        rows = np.bincount(pages // _BINADE_PAGES, minlength=1)
        touched = np.bincount(np.unique(pages) // _BINADE_PAGES, minlength=1)
        sparse = np.flatnonzero(2 * touched < _BINADE_PAGES)
        most = int(rows.argmax())
        low = max(sparse[sparse <= most].tolist(), default=-1) + 1
        high = min(sparse[sparse >= most].tolist(), default=len(rows))
        amounts = np.bincount(truth, minlength=len(self.labels))
        labels = np.flatnonzero(amounts >= _BINADE_PAGES * (high - low)).tolist()
        most_pages = self._room(0) // 2 // max(len(labels), 1)
        low = max(low, high - most_pages // _BINADE_PAGES)
        if not labels or rows[low:high].sum() < _SHARE * len(scores):
            return None
        chosen = np.arange(low * _BINADE_PAGES, high * _BINADE_PAGES)
        starts = np.full(len(self.labels), _NOWHERE, np.int64)
        for label in labels:
            starts[label] = self._used << _PAGE_BITS
            self._lay_out(label * _PAGES + chosen)
        return _PageRun(low * _BINADE_PAGES << _PAGE_BITS, len(chosen) << _PAGE_BITS, starts)

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
        """Note down what counters hold; one row stays, so each score is seen at the end."""
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
