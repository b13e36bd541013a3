"""What a sensor that watches a stream can count: only what came before, and not long ago.

Rows are in the order of time, in whole microseconds. The window of a row holds the rows of the same
key that are not older than ``width``: those after ``time - width``, up to the row itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.v02.inference.significance import check_seed

if TYPE_CHECKING:
    import polars as pl

Integers: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = npt.NDArray[Any]

SECOND = 1_000_000  # in microseconds


class TimeWindow:
    """The rows of one key in the last ``width`` microseconds, for each row."""

    def __init__(self, keys: Values, times: Integers, width: int) -> None:
        self._order = np.argsort(keys, kind="stable")
        self._times = times[self._order]
        place, _ = _places(keys[self._order], self._times, width)
        self._first = np.searchsorted(place, place - width, side="right")
        self._last = np.arange(len(place))

    def counts(self) -> Integers:
        """How many rows there are, the row itself included."""
        return self._back(self._last - self._first + 1)

    def sums(self, values: Values) -> Values:
        """The sum of a column over the window."""
        total = np.concatenate([[0], np.cumsum(values[self._order])])
        return self._back(total[self._last + 1] - total[self._first])

    def since(self) -> Integers:
        """Microseconds since the row before, -1 where the window has none."""
        before = self._times[np.maximum(self._last - 1, 0)]
        return self._back(np.where(self._first < self._last, self._times - before, -1))

    def changes(self, values: Values) -> Integers:
        """How often a column changes from one row of the window to the next."""
        ordered = values[self._order]
        changed = np.concatenate([[False], ordered[1:] != ordered[:-1]])
        total = np.cumsum(changed[: len(ordered)])
        # Whatever is before the first row of a window is of no concern.
        return self._back(total[self._last] - total[self._first])

    def _back(self, ordered: Values) -> Values:
        """Values in the order in which the rows came."""
        values = np.empty_like(ordered)
        values[self._order] = ordered
        return values


def distinct(keys: Values, items: Values, times: Integers, width: int) -> Integers:
    """How many different items each row's window holds.

    An item enters with a row that follows none of its kind in ``width``, and leaves ``width`` after
    a row that none of its kind follows by then.
    """
    pairs = keys.astype(np.int64) * (int(items.max(initial=0)) + 1) + items
    order = np.argsort(pairs, kind="stable")
    new_pair = np.diff(pairs[order]) != 0
    apart = new_pair | (np.diff(times[order]) >= width)
    enters, leaves = np.empty(len(keys), bool), np.empty(len(keys), bool)
    enters[order] = np.concatenate([[True], apart])[: len(keys)]
    leaves[order] = np.concatenate([apart, [True]])[: len(keys)]

    order = np.argsort(keys, kind="stable")
    entered = np.cumsum(enters[order])
    starts = np.concatenate([[True], np.diff(keys[order]) != 0])[: len(keys)]
    before = np.maximum.accumulate(np.where(starts, entered - enters[order], 0))
    place, span = _places(keys[order], times[order], width)
    ends = np.sort(place[leaves[order]] + width)
    base = place - place % span
    left = np.searchsorted(ends, place, side="right") - np.searchsorted(ends, base)
    counts = np.empty(len(keys), np.int64)
    counts[order] = entered - before - left
    return counts


def last_before(
    keys: Values, times: Integers, asked: Values, when: Integers, width: int
) -> Integers:
    """Microseconds since the last row of the key that is asked for, -1 where it is too long ago."""
    if not len(keys) or not len(asked):
        return np.full(len(asked), -1, np.int64)
    start = min(int(times[0]), int(when[0]))
    span = max(int(times[-1]), int(when[-1])) - start + 2 * width + 1
    place = np.sort(keys.astype(np.int64) * span + (times - start))
    wanted = asked.astype(np.int64) * span + (when - start)
    places = np.searchsorted(place, wanted) - 1
    gap = wanted - place[np.maximum(places, 0)]
    return np.where((places >= 0) & (gap < width), gap, -1)


def _places(keys: Values, times: Integers, width: int) -> tuple[Integers, int]:
    """Key and time as one number, with room between keys; and the span of a key."""
    if not len(keys):
        return np.empty(0, np.int64), 1
    start = times.min()
    span = int(times.max() - start) + 2 * width + 1
    return keys.astype(np.int64) * span + (times - start), span


ROWS = 20_000
SEED = 42
CHUNK = 50_000
LEVELS = {"easy": 0.2, "medium": 0.5, "hard": 0.8}
MEDIUM = "medium"
FIRST_DAY = "2026-03-02"  # a Monday


def difficulty_of(given: float | str) -> float:
    """A difficulty between 0 and 1, by its number or its name.

    >>> difficulty_of("hard"), difficulty_of(0.25)
    (0.8, 0.25)
    """
    if isinstance(given, str):
        if given not in LEVELS:
            raise InputError(f"difficulty={given!r} is not one of {', '.join(LEVELS)}")
        return LEVELS[given]
    if not 0 <= given <= 1:
        raise InputError(f"difficulty={given!r} is no number from 0 (easy) to 1 (hard)")
    return float(given)


def check_size(rows: int, seed: int, chunk: int) -> None:
    """Refuse numbers of rows that can't be made, and seeds that are none."""
    check_seed(seed)
    for name, value, least in (("rows", rows, 0), ("chunk", chunk, 1)):
        if value < least:
            raise InputError(f"{name}={value!r} is too small; it has to be {least} or more")


def streamed(
    blocks: Callable[[int, float], Iterator[pl.DataFrame]],
    rows: int,
    seed: int,
    difficulty: float | str,
    chunk: int,
) -> Iterator[pl.DataFrame]:
    """A scenario in pieces, from its endless blocks of a seed and a difficulty."""
    check_size(rows, seed, chunk)
    return first_rows(blocks(seed, difficulty_of(difficulty)), rows, chunk)


def first_rows(blocks: Iterator[pl.DataFrame], rows: int, chunk: int) -> Iterator[pl.DataFrame]:
    """The first ``rows`` rows of an endless row of blocks, ``chunk`` at a time.

    At least one piece is given, so that the columns of an empty table are known.
    """
    import polars as pl

    held = next(blocks)
    given = 0
    while given < rows or not given:
        wanted = min(chunk, rows - given)
        parts, size = [held], len(held)
        while size < wanted:
            parts.append(next(blocks))
            size += len(parts[-1])
        held = pl.concat(parts)
        yield held[:wanted]
        held = held[wanted:]
        given += wanted
        if not rows:
            return
