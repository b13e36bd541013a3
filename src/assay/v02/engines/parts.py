"""Count rows that come part by part, in memory of the order of what is kept of their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.engines.ask import Ask
from assay.v02.engines.local import ScoreCounter, are_rarer, count_coded, label_amounts, most_frequent
from assay.errors import InputError, TallyError
from assay.v02.number_text import megabytes
from assay.v02.sources.coded import Coded, joined
from assay.v02.sources.files.request import room
from assay.v02.tally import ScoreTally, Tally
from assay.v02.tally.counters import CutPoints
from assay.v02.tally.keeping import AUTO, BITS, Cuts, Exact, Grid, keeping_of_mode
from assay.v02.tally.named_tally import SCORE, Names

Array: TypeAlias = npt.NDArray[Any]

# How many rows are counted at once, and how many tallies are added at once.
LOT = 1 << 23
_FAN = 8
# How many parts are read before they are counted.
_AHEAD = 2
# Rows of a frame in hand take memory already, so more of them are counted at once.
_LOTS_IN_HAND = 8
# Rows of float32 scores take few bytes, so more of them may wait until they show to be many.
_NARROW_LOTS = 4
# Adding tallies and judging them takes so many times what they hold.
_FACTOR = 3
# A process takes so many times that beside it, with what the allocator does not give back; while
# rows come, to add up the tallies so far takes as much again as they hold.
_BESIDE, _AGAIN = 3.5, 2


class Accumulator:
    """Counts rows part by part, in memory of the order of what is kept of them.

    Rows are counted in lots, and tallies of lots are added when there are a few of a size, so each
    row is sorted few times. Cuts have to be known, since lots that were cut each in its own way do
    not add up. ``limit`` is how many bytes counting may take, ``in_hand`` how many rows are in
    memory anyway.
    """

    def __init__(
        self,
        ask: Ask,
        cutting: CutPoints | None = None,
        limit: int | None = None,
        *,
        in_hand: int = 0,
    ) -> None:
        self._ask, self._cutting = ask, cutting
        lot = max(min(in_hand, _LOTS_IN_HAND * LOT), LOT)
        self._lot = lot if limit is None else max(min(lot, limit >> 8), 1)
        self._waiting: list[Coded] = []
        self._waiting_rows = 0
        self._counter: ScoreCounter | None = None
        self._too_spread = False
        self._levels: list[list[Tally]] = []

    def add(self, rows: Coded) -> None:
        """Count further rows."""
        ranked = rows.score is not None or rows.probabilities is not None
        if ranked and isinstance(self._ask.scores, Cuts) and self._cutting is None:
            raise TallyError("parts of rows are cut where all rows say: give a cutting")
        if self._counter is not None and not self._counter.takes(rows):
            self._end_counter()
        self._into_counter(rows)
        if self._waiting_rows >= self._lots_before_counting(rows) * self._lot:
            self._count_lot()

    def _wait(self, rows: Coded) -> None:
        self._waiting.append(rows)
        self._waiting_rows += rows.size

    def _lots_before_counting(self, rows: Coded) -> int:
        narrow = isinstance(self._ask.scores, Exact) and _is_narrow(rows)
        return _NARROW_LOTS if narrow and not self._too_spread else 1

    def _count_lot(self) -> None:
        """Count the rows that wait, of which there are many, so that more may come."""
        if not self._too_spread and ScoreCounter.suits(self._waiting, self._ask, self._cutting):
            names = sorted({name for rows in self._waiting for name in rows.truth.names})
            labels = Names(tuple(names), self._waiting[0].truth.kind)
            self._counter = ScoreCounter(self._ask, labels, self._cutting)
            waiting, self._waiting, self._waiting_rows = self._waiting, [], 0
            for rows in waiting:
                self._into_counter(rows)
        if self._counter is None:
            self._count_waiting()

    def _into_counter(self, rows: Coded) -> None:
        """Count rows by the counter; where it has no room for all it ends, and the rest waits.

        Scores that lie so far apart get no second one: it would have no room either.
        """
        waiting = [rows] if self._counter is None else list(self._counter.add(rows))
        if waiting and self._counter is not None:
            self._too_spread = True
            self._end_counter()
        for part in waiting:
            self._wait(part)

    def _end_counter(self) -> None:
        if self._counter is None:
            return
        counter, self._counter = self._counter, None
        for part in counter.rest():
            self._too_spread = True
            self._wait(part)
        if counter.rows:
            self._carry(counter.done(), 0)

    def coarsen(self, bits: int) -> None:
        """Keep scores as a grid from now on, those of rows so far too."""
        self._ask = replace(self._ask, scores=Grid(bits))
        self.count_waiting()
        self._too_spread = False
        self._levels = [[_to_grid(tally, bits) for tally in level] for level in self._levels]

    def count_waiting(self) -> None:
        """Count what waits for more rows, so that nothing but tallies is held."""
        self._end_counter()
        self._count_waiting()

    def add_tally(self, tally: Tally) -> None:
        """Add what was counted elsewhere."""
        self._carry(tally, 0)

    @property
    def nbytes(self) -> int:
        """About how many bytes the scores take that are kept."""
        counted = 0 if self._counter is None else self._counter.nbytes
        return counted + sum(
            table.scores.nbytes + table.counts.nbytes
            for level in self._levels
            for tally in level
            for table in tally.scores.values()
        )

    def done(self) -> Tally:
        """The tally of all rows so far."""
        self.count_waiting()
        total = Tally.merge([tally for level in self._levels for tally in level])
        self._levels = [[total]]
        return total

    def _count_waiting(self) -> None:
        self._waiting_rows = 0
        if self._waiting:
            rows, self._waiting = joined(self._waiting), []
            self._carry(count_coded(rows, self._ask, self._cutting), 0)

    def _carry(self, tally: Tally, level: int) -> None:
        if level == len(self._levels):
            self._levels.append([])
        self._levels[level].append(tally)
        if len(self._levels[level]) == _FAN:
            parts, self._levels[level] = self._levels[level], []
            self._carry(Tally.merge(parts), level + 1)


@dataclass(frozen=True)
class Parts:
    """Rows that come part by part; ``again`` tells whether they can be gone through again.

    ``limit`` is how many bytes counting may take.
    """

    rows: Callable[[], Iterator[Coded]]
    again: bool = True
    limit: int | None = None

    def count(self, ask: Ask, mode: str = AUTO) -> tuple[Tally, tuple[str, ...]]:
        """The tally, with scores kept as the mode says, and what is to be said of that.

        ``auto`` keeps every score while they fit, then those of all labels but the most frequent,
        and where those do not fit either a grid; it says so.
        """
        kept = keeping_of_mode(mode)
        if isinstance(kept, Grid):
            return self._counted(replace(ask, scores=kept))[0].done(), ()
        if isinstance(kept, Cuts):
            if not self.again:
                raise InputError(
                    "mode='cuts' goes through the rows twice, and these come once: save standard "
                    "input to a file first, give the table that a reader reads, or say mode='grid'"
                )
            return self._cut(ask), ()
        coarsen = mode == AUTO and not self.again
        counting, fits = self._counted(ask, coarsen=coarsen, wary=mode == AUTO)
        if mode == AUTO and fits and not _has_room(counting):
            fits = False
            if not self.again:
                counting.coarsen(BITS)
        if fits:
            return counting.done(), ()
        if mode == Exact.name:
            raise too_large(counting.nbytes, self.limit)
        if not self.again:
            return counting.done(), (COARSE,)
        del counting  # what follows needs the memory
        try:
            return self._cut(ask), (CUT,)
        except _DoesNotFit:
            return self._counted(replace(ask, scores=Grid()))[0].done(), (COARSE,)

    def _counted(
        self, ask: Ask, *, coarsen: bool = False, wary: bool = False
    ) -> tuple[Accumulator, bool]:
        """All rows counted, and whether their scores fit; where not, all or as many as did.

        A grid is the coarsest that there is, so all rows are counted into one. Who is ``wary`` has
        another way, and takes it before the process has no room to add up what it holds.
        """
        counting, fits = Accumulator(ask, limit=self.limit), True
        bounded = not isinstance(ask.scores, Grid)
        for part in self._parts():
            counting.add(part)
            counter_bytes = counting.nbytes if bounded and fits else 0
            if counter_bytes and (
                self._exceeds(counter_bytes) or (wary and not _has_left(_AGAIN * counter_bytes))
            ):
                fits = False
                if not coarsen:
                    return counting, fits
                counting.coarsen(BITS)
        return counting, fits

    def _parts(self) -> Iterator[Coded]:
        """The parts, read ahead; what comes once may be waited for, and then nothing can end it."""
        return _ahead(self.rows) if self.again else self.rows()

    def _exceeds(self, size: int) -> bool:
        return self.limit is not None and not is_within(size, self.limit)

    def _cut(self, ask: Ask) -> Tally:
        cutting = self._cutting()
        counting = Accumulator(replace(ask, scores=Cuts()), cutting, self.limit)
        for part in self._parts():
            counting.add(part)
        return counting.done()

    def _cutting(self) -> CutPoints:
        """The most frequent label, and the distinct scores of all others."""
        guess = ""
        while True:
            scores, amounts = DistinctNumbers(), Counter[str]()
            for part in self._parts():
                score = _score_to_cut(part)
                amounts.update(label_amounts(part))
                guess = guess or most_frequent(amounts)
                scores.add(score[are_rarer(part, guess)])
                size = max(len(amounts), 2) * scores.nbytes
                if self._exceeds(size):
                    raise _DoesNotFit(*too_large(size, self.limit).args)
            frequent = most_frequent(amounts)
            if guess == frequent:
                return CutPoints(frequent, scores.done())
            guess = frequent


def _has_room(counting: Accumulator) -> bool:
    """Whether the process may take what adding and judging all rows needs."""
    counting.count_waiting()
    return _has_left(_BESIDE * counting.nbytes)


def _has_left(size: float) -> bool:
    """Whether the process may take so many bytes yet."""
    free = room()
    return free is None or size <= free


def _is_narrow(rows: Coded) -> bool:
    return rows.score is not None and rows.score.dtype == np.float32


def _ahead(rows: Callable[[], Iterator[Coded]]) -> Iterator[Coded]:
    """The same parts, read by a thread of its own while those before are counted.

    All of the iterator runs in that thread: connections to databases do not change theirs.
    """
    # Imported here: small tables do without them.
    from queue import Empty, Queue
    from threading import Event, Thread

    parts: Queue[Coded | BaseException | None] = Queue(_AHEAD)
    stopped = Event()

    def read() -> None:
        end: BaseException | None = None
        try:
            for part in rows():
                parts.put(part)
                if stopped.is_set():
                    break
        except BaseException as error:  # noqa: BLE001 - raised again where the parts are taken
            end = error
        parts.put(end)

    reader = Thread(target=read, name="assay-reader", daemon=True)
    reader.start()
    try:
        while (part := parts.get()) is not None:
            if isinstance(part, BaseException):
                raise part
            yield part
    finally:
        stopped.set()
        while reader.is_alive():
            with suppress(Empty):
                parts.get(timeout=0.1)
        reader.join()


def _to_grid(tally: Tally, bits: int) -> Tally:
    return replace(
        tally,
        scores={key: table.to_grid(bits) for key, table in tally.scores.items()},
        # Rows in clusters are kept for their exact scores; those of probabilities stay.
        sample=None if tally.columns is None else tally.sample,
        days=tally.days and {day: _to_grid(part, bits) for day, part in tally.days.items()},
    )


class _DoesNotFit(InputError):
    """The scores of the rarer labels are too many as well."""


class DistinctNumbers:
    """Distinct numbers, gathered part by part."""

    def __init__(self) -> None:
        self._parts: list[Array] = []

    @property
    def nbytes(self) -> int:
        """The bytes that they take."""
        return sum(part.nbytes for part in self._parts)

    def add(self, values: Array) -> None:
        """Gather further numbers."""
        self._parts.append(np.unique(values.astype(np.float64) + 0.0))
        if sum(map(len, self._parts[1:])) > max(len(self._parts[0]), LOT):
            self._parts = [self.done()]

    def done(self) -> Array:
        """All of them, ascending."""
        if not self._parts:
            return np.empty(0)
        return np.unique(np.concatenate(self._parts))


CUT = (
    "the scores did not all fit into memory, so those of the most frequent label were counted "
    "between the others (mode cuts): ranks and counts are exact"
)
COARSE = (
    "the scores did not fit into memory, so they were kept as a grid (mode grid): counts at its "
    "edges are exact, and what depends on the order inside a cell has bounds. For exact values "
    "raise max_memory="
)


def is_within(size: int, limit: int) -> bool:
    """Whether scores of so many bytes can be counted in the memory that is allowed."""
    return _FACTOR * size <= limit


def too_large(size: int, limit: int | None) -> InputError:
    """Why scores of so many bytes are not all kept, and what to do."""
    return InputError(
        f"the distinct scores take about {megabytes(_FACTOR * size)} of memory, and "
        f"{megabytes(limit or 0)} are allowed: raise max_memory=, or say mode='cuts' or "
        f"mode='grid'"
    )


def _score_to_cut(part: Coded) -> Array:
    """The score of rows that can be cut; others are refused."""
    if part.score is None:
        raise InputError("mode='cuts' is for rows with one score: say mode='exact' or mode='grid'")
    if part.weights is not None:
        raise _DoesNotFit(
            "mode='cuts' counts rows, and weights are no counts: say mode='exact' or mode='grid'"
        )
    return part.score


def count_rarer(parts: Iterator[Coded], ask: Ask, frequent: str = "") -> Tally:
    """Rows counted without their scores, but for those of all labels but the most frequent one.

    Where that is not known, it is taken from the first rows. Tallies of parts add, and
    :func:`cutting_of_sum` tells where to cut.
    """
    all_rows = Accumulator(replace(ask, scores=None, losses=False))
    rarer_rows = Accumulator(replace(ask, scores=Exact(), losses=False))
    for part in parts:
        _score_to_cut(part)
        rows = replace(part, days=None, slices={}, clusters=None)
        frequent = frequent or most_frequent(label_amounts(part))
        all_rows.add(rows)
        rarer_rows.add(rows.of_rows(np.flatnonzero(are_rarer(part, frequent))))
    tally, scores = all_rows.done(), rarer_rows.done().scores
    if tally.counted and not scores:
        scores = {SCORE: ScoreTally.zero(tally.labels.names)}
    return replace(tally, scores=scores)


def cutting_of_sum(tally: Tally) -> tuple[CutPoints, bool]:
    """Where to cut, and whether each part left out the scores of the most frequent label alone."""
    totals, table = label_totals(tally), tally.scores.get(SCORE)
    frequent = most_frequent(totals)
    if table is None:
        return CutPoints(frequent, np.empty(0)), True
    rarer = [i for i, name in enumerate(table.labels) if name != frequent]
    counts = table.counts[rarer]
    sums = counts.sum(axis=1, dtype=np.int64)
    counted = {table.labels[i]: int(n) for i, n in zip(rarer, sums, strict=True)}
    complete = all(counted.get(name, 0) == n for name, n in totals.items() if name != frequent)
    return CutPoints(frequent, table.scores[counts.any(axis=0)]), complete


def label_totals(tally: Tally) -> dict[str, int]:
    """How many rows each label has."""
    totals = dict.fromkeys(tally.labels.names, 0)
    for table in list(tally.decided.values())[:1]:
        for (label, _), number in table.cells.items():
            totals[label] += number
    return totals
