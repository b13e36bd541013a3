"""Many rows of scores, counted in memory that does not grow with the rows.

A grid has a counter for each cell of a label, cuts have one for each cut of a label and each gap
between them.
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
from assay.v02.tally.blocks import add_ones, bounds, map_blocks, narrow
from assay.v02.tally.keeping import BITS, LOWEST, Cuts, Grid, cells, lowest
from assay.v02.tally.scores import ScoreTally, extremes

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
# So many rows at most are in counters of 32 bits before the next ones are added.
_MOST_ROWS = (1 << 32) - 1 - BLOCK


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
        self._total = np.zeros(2 * len(self.labels) * self._size, np.int64)
        # Those that no thread counts with at the moment, and how many rows each holds.
        self._idle: list[tuple[Array, int]] = []
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
        return self._total.nbytes + sum(counters.nbytes for counters, _ in self._idle)

    def add(self, scores: Array, truth: Array) -> list[slice]:
        """Count further rows: a score each, and the label as a position in the labels.

        Which were left out: none.
        """
        # Threads call this, each with rows of its own.
        counted = map_blocks(len(scores), lambda: self._counting(scores, truth), BLOCK, at_most=1)
        uncounted = [
            slice(i, j)
            for (i, j), done in zip(bounds(len(scores), BLOCK), counted, strict=True)
            if not done
        ]
        if uncounted:
            kept = Grid(self._bits)
            rows = [
                np.concatenate([column[part] for part in uncounted]) for column in (scores, truth)
            ]
            table = ScoreTally.of_rows(self.labels, *rows, kept=kept)
            with self._lock:
                self._apart.append(table)
                if len(self._apart) == _FAN:
                    self._apart = [ScoreTally.merge(self._apart)]
        return []

    def _counting(self, scores: Array, truth: Array) -> Callable[[int, int], bool]:
        """What counts the rows of a block; False, and none is counted, if one has no counter."""
        mantissa, bias = _MANTISSA[scores.dtype]
        integer: Any = np.dtype(f"i{scores.itemsize}").type
        lost_bits, before = mantissa - self._bits, ((bias - _BINADES) << self._bits) - 1
        sizes, halves = np.empty(BLOCK, scores.dtype), np.empty(BLOCK, integer)
        sides = np.empty(BLOCK, np.uint8)

        def work(i: int, j: int) -> bool:
            rows, half, side = scores[i:j], halves[: j - i], sides[: j - i]
            self._reach(*extremes(rows))
            size = np.subtract(scores.dtype.type(1), rows, out=sizes[: j - i])
            np.minimum(size, rows, out=size)
            # What is below 0, -0.0 too, or above 1 has bits that are a negative number.
            cell = size.view(integer)
            np.right_shift(cell, lost_bits, out=cell)
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
            self._count(cell)
            return True

        return work

    def _count(self, places: Array) -> None:
        """Add one at each place, by counters that no other thread has meanwhile."""
        with self._lock:
            counters, rows = self._idle.pop() if self._idle else (self._fresh(), 0)
        add_ones(counters, places)
        rows += len(places)
        with self._lock:
            if rows > _MOST_ROWS:
                self._total += counters
                counters, rows = self._fresh(), 0
            self._idle.append((counters, rows))

    def _fresh(self) -> Array:
        return np.zeros(len(self._total), np.uint32)

    def _reach(self, low: float, high: float) -> None:
        with self._lock:
            self._extremes = min(self._extremes[0], low), max(self._extremes[1], high)

    def done(self) -> ScoreTally:
        """The tally of all rows."""
        both = sum((counters for counters, _ in self._idle), start=self._total)
        both = both.reshape(len(self.labels), 2, self._size)
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
            of_label = np.flatnonzero(truth == label)
            for i in range(0, len(of_label), _LOT):
                rows = of_label[i : i + _LOT]
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
            outlier = float(scores[int(at_cut.argmin())])
            raise TallyError(
                f"the score {outlier!r} of a {self.labels[label]!r} row is none of the "
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
