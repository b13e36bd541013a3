"""Count the rows of frames: checked like those of files, then counted on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from assay.engines.ask import Ask, Columns
from assay.engines.parts import Accumulator, Parts
from assay.sources.arrays import coded_columns
from assay.sources.coded import Coded
from assay.sources.files.collect import Collector
from assay.sources.files.column_roles import must_have
from assay.sources.files.memory import Budget
from assay.sources.files.request import Request
from assay.sources.files.table import Piece, Table
from assay.sources.probabilities import sided
from assay.sources.validation import Roles
from assay.tally import Tally
from assay.tally.by_name import Refusals
from assay.tally.counters import Cutting
from assay.tally.keeping import Cuts

if TYPE_CHECKING:
    import polars as pl

_PIECE = 1 << 20


def count(
    rows: Any, columns: Columns, ask: Ask | None = None, cutting: Cutting | None = None
) -> Tally:
    """Count the rows of a polars frame, or of several that come one after the other.

    ``cutting`` tells where to cut, where these rows are but a part of all. Where it has to be found
    first, cuts take two passes, and frames that come once are refused.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"y": ["attack", "normal"], "p": [0.9, 0.2]})
    >>> count(frame, Columns("y", score="p")).labels.names
    ('attack', 'normal')
    """
    import polars as pl

    ask = ask or Ask()
    frames = [rows] if isinstance(rows, pl.DataFrame) else rows
    if isinstance(ask.scores, Cuts) and columns.rank and cutting is None:
        again = iter(frames) is not frames
        return count_by_mode(lambda: frames, columns, ask, Cuts.name, again=again)[0]
    reader = FrameReader(columns, ask)
    counting = Accumulator(ask, cutting)
    for piece in reader.pieces(frames):
        counting.add(piece)
    return counting.done() + reader.refused()


def count_by_mode(
    frames: Callable[[], Iterable[pl.DataFrame]],
    columns: Columns,
    ask: Ask,
    mode: str,
    *,
    again: bool,
    limit: int | None = None,
) -> tuple[Tally, tuple[str, ...]]:
    """Count frames with scores kept as a mode says, in two passes where that takes them.

    ``again`` tells whether the frames can be had a second time, ``limit`` how many bytes counting
    may take. Besides the tally comes what is to be said of how scores are kept.
    """
    refused = Tally()

    def coded() -> Iterator[Coded]:
        nonlocal refused
        reader = FrameReader(columns, ask)
        yield from reader.pieces(frames())
        refused = reader.refused()

    tally, notes = Parts(coded, again, limit).count(ask, mode)
    return tally + refused, notes


class FrameReader:
    """Checks the rows of frames that come one after the other."""

    def __init__(self, columns: Columns, ask: Ask) -> None:
        self._roles = roles_of_columns(columns)
        request = Request(on_bad_row=ask.on_bad_row)
        self._collector = Collector(self._roles, request, Budget(None))
        self._sides = ask.positive, ask.negative
        self._rows = 0

    def pieces(self, frames: Iterable[pl.DataFrame]) -> Iterator[Coded]:
        """The good rows of frames, coded piece by piece; of probabilities one score where asked."""
        for frame in frames:
            for start in range(0, frame.height, _PIECE):
                yield sided(self.coded(frame[start : start + _PIECE]), *self._sides)

    def coded(self, frame: pl.DataFrame) -> Coded:
        """The good rows of a frame, coded; the others are counted by their reason."""
        for column in self._roles.columns:
            must_have(Table("the frame", tuple(frame.columns)), column)
        first = self._rows + 1
        self._rows += frame.height
        piece = Piece(frame.select(self._roles.columns), range(first, first + frame.height))
        self._collector.add(piece, "the frame")
        taken, _ = self._collector.take()
        return coded_columns(taken)

    def refused(self) -> Tally:
        """The rows that could not be used, as a tally of nothing else."""
        reasons = Refusals(dict(sorted(self._collector.reasons.items())))
        return Tally(rows=reasons.total, refused=reasons)


def roles_of_columns(columns: Columns) -> Roles:
    """The columns to read, by what they are."""
    slices = dict.fromkeys(columns.slices)
    if columns.family is not None:
        slices[columns.family] = None
    return Roles(
        label=columns.label,
        score=columns.score,
        decision=columns.decision,
        probabilities=columns.probabilities,
        slices=tuple(slices),
        family=columns.family,
        time=columns.time,
        count=columns.count,
        weight=columns.weight,
        cluster=columns.cluster,
        rows=columns.rows,
    )
