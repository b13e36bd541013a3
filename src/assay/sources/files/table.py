"""The one shape that every format is read into: a table that comes in pieces."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.sources.files.request import Progress

if TYPE_CHECKING:
    import polars as pl

_BETWEEN_TICKS = 0.064


@dataclass(frozen=True)
class Broken:
    """A record that is no row: its number and line, and what is wrong with it."""

    row: int
    line: int
    reason: str


@dataclass(frozen=True)
class Piece:
    """Some rows of a table, in order.

    ``rows`` holds the number of each row of ``frame`` in its file, counted from 1; ``line`` gives
    the line of its i-th row, where the file has lines.
    """

    frame: pl.DataFrame
    rows: Sequence[int]
    line: Callable[[int], int] | None = None
    broken: Sequence[Broken] = ()


@dataclass(frozen=True)
class Table:
    """One input, opened: its columns, and a way to read some of them in pieces.

    ``rows`` and ``narrow`` (the columns of 32 bit numbers) are known where the format tells them
    beforehand; ``at_once`` gives the bytes that reading takes besides the result. ``hint`` goes
    into the message about a column that is not there.
    """

    name: str
    columns: tuple[str, ...]
    pieces: Callable[[Sequence[str]], Iterator[Piece]] = lambda columns: iter(())  # noqa: ARG005
    rows: int | None = None
    narrow: frozenset[str] = frozenset()
    at_once: Callable[[Sequence[str]], int] = lambda columns: 0  # noqa: ARG005
    hint: str = ""
    notes: tuple[str, ...] = ()


class Meter:
    """Tells how many bytes were read, but not too often."""

    def __init__(self, progress: Progress, total: int | None) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._last = time.monotonic()

    def add(self, read: int) -> None:
        """Count further bytes."""
        self._done += read
        now = time.monotonic()
        if now - self._last >= _BETWEEN_TICKS:
            self._last = now
            self._progress(self._done, self._total)

    def done(self) -> None:
        """Tell that all is read."""
        self._progress(self._done if self._total is None else self._total, self._total)
