"""Which rows to label, so that few labels tell much about rare attacks.

The first pass counts scores in the cells of a grid, which tells the strata. In the second each row
gets a number that its name and the seed tell, and the rows with the smallest numbers of a stratum
are kept. So neither the pieces that rows come in nor their order matter to which rows are drawn,
where a column names them; without one a row's name is its place.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.sample_strata import (
    ALL,
    ALLOCATIONS,
    SQRT,
    STRATUM,
    WEIGHT,
    DrawnStratum,
    ScoreCells,
    StratifiedSample,
    score_strata,
)
from assay.errors import InputError
from assay.v02.escaping import given_text
from assay.v02.inference.significance import check_seed
from assay.v02.sources import columns_of
from assay.v02.sources.columns import polars_frame
from assay.v02.sources.files import Name, Progress, Request, given_names, silent
from assay.v02.sources.files.column_roles import must_have
from assay.v02.sources.files.read import opened_tables
from assay.v02.sources.files.request import (
    ADVICE,
    TAKE_OUT,
    BadRows,
    Budget,
    Piece,
    RowSource,
    must_read,
    refused_row,
)
from assay.v02.sources.labelling import checked_threshold
from assay.v02.sources.row_checks import NumberCheck, check_ids
from assay.v02.sources.validation import skips

if TYPE_CHECKING:
    import polars as pl

Floats: TypeAlias = npt.NDArray[np.float64]
Tickets: TypeAlias = npt.NDArray[np.uint64]


__all__ = ["DrawnStratum", "StratifiedSample", "sample", "sample_files"]


STRATA = 7
SEED = 42
# So many rows wait beside those that are kept, until the ones with the largest numbers go.
_WAITING = 1 << 16


# What may be asked for, from and to.
_WHOLE = {"labels": (2, 10**12), "strata": (1, 10_000)}


@dataclass(frozen=True)
class SampleRequest:
    """What sample is asked for."""

    score: str
    labels: int
    strata: int = STRATA
    threshold: float | None = None
    alerts: float | str | None = None
    allocation: str = SQRT
    seed: int = SEED
    id: str | None = None

    def __post_init__(self) -> None:
        for name, (least, most) in _WHOLE.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                shown = given_text(value)
                raise InputError(
                    f"{name}= is a whole number from {least} to {most:,}; found {shown}"
                )
        check_seed(self.seed)
        if self.allocation not in ALLOCATIONS:
            raise InputError(
                f"allocation= is one of {', '.join(ALLOCATIONS)}; found {self.allocation!r}"
            )
        columns: dict[str, Any] = {"score": self.score, "id": self.id or ""}
        for name, column in columns.items():
            if not isinstance(column, str):
                shown = given_text(column)
                raise InputError(f"{name}= is the name of a column, a text; found {shown}")
        share: Any = self.alerts
        if isinstance(share, str) and share != ALL:
            raise InputError(f"alerts= is 'all' or a share of them; found {share!r}")
        number: Any = math.nan if isinstance(share, bool) or not isinstance(share, Real) else share
        if share is not None and not isinstance(share, str) and not 0 < number <= 1:
            shown = given_text(share)
            raise InputError(f"alerts= is a share above 0 and up to 1, or 'all'; found {shown}")
        if self.threshold is not None:
            checked_threshold(self.threshold)


@dataclass(frozen=True, eq=False)
class PlacedScores:
    """Some rows with their scores, and the place of each among all rows."""

    frame: pl.DataFrame
    scores: Floats
    places: npt.NDArray[np.int64]


Pass: TypeAlias = Callable[[], Iterator[PlacedScores]]


def sample(
    rows: Any,
    *,
    score: str,
    labels: int,
    strata: int = STRATA,
    threshold: float | None = None,
    alerts: float | str | None = None,
    allocation: str = SQRT,
    id: str | None = None,  # noqa: A002 - the name of the column that it is
    seed: int = SEED,
) -> StratifiedSample:
    """Draw the rows of a frame that are worth a label: few, and by strata of their score.

    ``labels`` is how many; ``strata`` at most how many ranges of scores they are drawn from, of
    which rows from ``threshold`` on (0.5 where all scores lie in [0, 1]) are one of their own.
    ``alerts`` is ``"all"``, or the share of those to label; else they get at most three labels in
    ten. ``allocation`` shares out the other labels: ``"sqrt"`` by the root of a stratum's rows,
    ``"optimal"`` as if scores were chances, ``"proportional"`` or ``"equal"``. ``id`` names rows,
    so that their order does not matter.

    Label the ``frame`` of the result, and evaluate it with ``weight="weight"`` and
    ``strata="stratum"``.

    >>> rows = {"flow": list(range(1000)), "score": [i / 1000 for i in range(1000)]}
    >>> drawn = sample(rows, score="score", labels=100, threshold=0.99)
    >>> drawn.alerts, len(drawn.frame), drawn.frame.columns
    (10, 100, ['flow', 'score', 'stratum', 'weight'])
    """
    import polars as pl

    wanted = SampleRequest(score, labels, strata, threshold, alerts, allocation, seed, id)
    if isinstance(rows, pl.LazyFrame):
        rows = rows.collect()
    if not isinstance(rows, pl.DataFrame):
        columns = rows if isinstance(rows, Mapping) else columns_of(rows)
        rows = polars_frame({str(name): column for name, column in columns.items()})
    frame: pl.DataFrame = rows
    for column in (score, id):
        if column is not None and column not in frame.columns:
            raise InputError(f"there is no column {column!r}; there are {frame.columns}")
    piece = Piece(frame, range(1, frame.height + 1))
    reader = _Reader(wanted, stops=True, advice=TAKE_OUT)

    def once() -> Iterator[PlacedScores]:
        reader.begin()
        yield reader.checked(piece, "the frame")

    return _drawn_rows(wanted, once, {"name": "frame"})


def sample_files(
    inputs: Name | Sequence[Name],
    wanted: SampleRequest,
    request: Request | None = None,
    *,
    progress: Progress = silent,
) -> StratifiedSample:
    """The same of rows in files, which are read twice; see :func:`sample`."""
    request = request or Request()
    # The label is for later; scores and ids are named by what is wanted.
    must_read("a sample", replace(request, score=None), "label")
    names = given_names(inputs)
    if "-" in names:
        raise InputError(
            "standard input can be read but once, and rows are read twice, for their strata and "
            "for the draw: name a file"
        )
    reader = _Reader(wanted, stops=not skips(request.on_bad_row))

    def each() -> Iterator[PlacedScores]:
        reader.begin()
        budget = Budget(request.max_memory)
        for table in opened_tables(names, request, budget, progress):
            reader.must_be_like(table.name, table.columns)
            reader.notes += table.notes
            for column in (wanted.score, wanted.id):
                if column is not None:
                    must_have(table, column)
            for piece in table.pieces(table.columns):
                yield reader.checked(piece, table.name)

    shown = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    drawn = _drawn_rows(wanted, each, {"name": shown})
    notes = (*reader.notes, *drawn.notes)
    return replace(drawn, source={**drawn.source, **reader.source}, notes=notes)


class _Reader:
    """Rows checked piece by piece; what was refused is counted anew in each pass."""

    def __init__(self, wanted: SampleRequest, *, stops: bool, advice: str = ADVICE) -> None:
        self._wanted, self._stops, self._advice = wanted, stops, advice
        self._columns: tuple[str, tuple[str, ...]] | None = None
        self.begin()

    def begin(self) -> None:
        """Start from the first row."""
        self._bad = BadRows(stops=self._stops, advice=self._advice)
        self._read = 0
        self.notes: list[str] = []

    def must_be_like(self, name: str, columns: Sequence[str]) -> None:
        """Refuse a file whose columns are not those of the first, or are those that are added."""
        for added in (STRATUM, WEIGHT):
            if added in columns:
                raise InputError(
                    f"{name} has a column {added!r} already, which the sample adds: rename it"
                )
        if self._columns is None:
            self._columns = name, tuple(columns)
        elif set(columns) != set(self._columns[1]):
            unshared = sorted(set(columns) ^ set(self._columns[1]))
            raise InputError(
                f"{name} and {self._columns[0]} differ in their columns: {unshared[:5]} are in one "
                f"of them only; rows of one sample have the same columns"
            )

    def checked(self, piece: Piece, name: str) -> PlacedScores:
        """The good rows of a piece."""
        self.must_be_like(name, piece.frame.columns)
        scores, problems = NumberCheck(self._wanted.score).check(piece.frame[self._wanted.score])
        if self._wanted.id is not None:
            _, id_problems = check_ids(piece.frame[self._wanted.id])
            problems = [*problems, *id_problems]
        bad = self._bad.judge(piece, name, problems)
        places = np.arange(self._read, self._read + piece.frame.height)
        self._read += piece.frame.height + len(piece.broken)
        frame = piece.frame.select(self._columns[1]) if self._columns else piece.frame
        numbers = np.asarray(scores, np.float64) + 0.0
        if not bad.any():
            return PlacedScores(frame, numbers, places)
        return PlacedScores(frame.filter(~bad), numbers[~bad], places[~bad])

    @property
    def source(self) -> RowSource:
        """How many rows were read and refused."""
        return {
            "rows_read": self._read,
            "rows_refused": self._bad.rows_refused,
            "refused": [refused_row(each) for each in self._bad.refused],
        }


# -- the draw --------------------------------------------------------------------------------------


def _drawn_rows(wanted: SampleRequest, each: Pass, source: RowSource) -> StratifiedSample:
    import polars as pl

    counted = ScoreCells(None if wanted.threshold is None else checked_threshold(wanted.threshold))
    for part in each():
        counted.add(part.scores)
    strata, threshold, notes = score_strata(
        counted,
        strata=wanted.strata,
        labels=wanted.labels,
        alerts=wanted.alerts,
        allocation=wanted.allocation,
    )
    lows = np.array([stratum.low for stratum in reversed(strata)])
    draw = _Draw([stratum.drawn for stratum in strata])
    for part in each():
        number = len(strata) - np.searchsorted(lows, part.scores, side="right")
        if wanted.id is None:
            tickets = tickets_of_places(part.places, wanted.seed)
        else:
            tickets = tickets_of_ids(check_ids(part.frame[wanted.id])[0], wanted.seed)
        draw.add(part, number, tickets)
    frame, number, tickets = draw.done()
    if len(np.unique(tickets)) < len(tickets):
        raise InputError(
            f"ids of column {wanted.id!r} occur more than once, so that rows can't be drawn by "
            f"them: name a column of one id a row, or leave id= out"
        )
    names = np.array([stratum.stratum for stratum in strata])
    weights = np.array([stratum.weight for stratum in strata])
    frame = frame.with_columns(
        pl.Series(STRATUM, names[number].tolist()), pl.Series(WEIGHT, weights[number])
    )
    rows = sum(stratum.rows for stratum in strata)
    return StratifiedSample(
        source={"rows_read": rows, **source, "rows_used": rows},
        score=wanted.score,
        threshold=threshold,
        allocation=wanted.allocation,
        seed=wanted.seed,
        rows=rows,
        labels=len(frame),
        strata=strata,
        notes=notes,
        frame=frame,
    )


class _Draw:
    """The rows with the smallest tickets of each stratum, as rows come."""

    def __init__(self, drawn: Sequence[int]) -> None:
        self._drawn = np.array(drawn)
        # Tickets above this are not among the smallest of their stratum.
        self._limits = np.full(len(drawn), np.iinfo(np.uint64).max)
        self._kept: list[tuple[pl.DataFrame, Floats, Tickets, Tickets]] = []
        self._waiting = 0

    def add(self, part: PlacedScores, number: Any, tickets: Tickets) -> None:
        """Keep what may be drawn."""
        kept = tickets <= self._limits[number]
        if not kept.any():
            return
        rows = part.frame.filter(kept)
        self._kept.append((rows, number[kept], tickets[kept], part.places[kept]))
        self._waiting += rows.height
        if self._waiting > _WAITING:
            self._shorten()

    def _shorten(self) -> None:
        """Let go of all but as many rows of each stratum as are drawn."""
        import polars as pl

        frames, *others = zip(*self._kept, strict=True)
        number, tickets, places = (np.concatenate(each) for each in others)
        order = np.lexsort((places, tickets, number))
        starts = np.searchsorted(number[order], np.arange(len(self._drawn)))
        rank = np.arange(len(order)) - starts[number[order]]
        full = np.bincount(number, minlength=len(self._drawn)) >= self._drawn
        last = order[np.minimum(starts + self._drawn - 1, len(order) - 1)]
        self._limits = np.where(full, tickets[last], self._limits)
        kept = np.sort(order[rank < self._drawn[number[order]]])
        frame = pl.concat(frames, how="vertical_relaxed")[kept]
        self._kept = [(frame, number[kept], tickets[kept], places[kept])]
        self._waiting = 0

    def done(self) -> tuple[pl.DataFrame, Any, Tickets]:
        """The rows in their order, the number of the stratum of each, and their tickets."""
        self._shorten()
        ((frame, number, tickets, _),) = self._kept
        return frame, number, tickets


def tickets_of_places(places: npt.NDArray[np.int64], seed: int) -> Tickets:
    """A number of 64 random-looking bits for each place (splitmix64).

    >>> tickets_of_places(np.array([0, 1]), 42).tolist() == tickets_of_places(
    ...     np.arange(2), 42
    ... ).tolist()
    True
    """
    start = int.from_bytes(hashlib.blake2b(b"%d" % seed, digest_size=8).digest(), "little")
    mixed = places.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(start)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def tickets_of_ids(ids: pl.Series, seed: int) -> Tickets:
    """The same of ids, which are text."""
    keyed = hashlib.blake2b(b"%d" % seed, digest_size=32).digest()
    digests = b"".join(
        hashlib.blake2b(name.encode(), digest_size=8, key=keyed).digest() for name in ids
    )
    return np.frombuffer(digests, np.uint64)
