"""Cells of a reference sample: where new rows fall if nothing has changed.

The borders of cells are order statistics of the reference. Whatever the distribution is, the shares
of new rows that fall between them follow a Dirichlet distribution whose parameters are the steps
between the ranks: a fact of ranks, in which the size of the reference is accounted for. Values that
are equal are ordered at random, by numbers that the seed decides, so that it holds for columns of
few values and of names as well.

Reference: Wilks 1941, on tolerance limits.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.inference.fields import Recorded
from assay.sources.files.builders import distinct_of
from assay.sources.number_checks import numbers_of
from assay.sources.row_checks import plain

if TYPE_CHECKING:
    import polars as pl

# Where a column is cut, as shares of the reference: tenths, and the upper tail, where alerts are.
TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
# Alerts are rare, so their cells halve with every second cut: towards the top, where a threshold
# ranks them, or towards both ends, where decisions are by name and either may be the alarm.
ALERTS_ON_TOP = tuple(1 - 0.5 ** (k / 2) for k in range(2, 28))
ALERTS_AT_ENDS = tuple(sorted({0.5 ** (k / 2) for k in range(2, 28)} | set(ALERTS_ON_TOP)))
_LEAST_IN_CELL = 5
_MOST_NAMES = 1000

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ReferenceCells(Recorded):
    """The cells of one column of a reference.

    ``edges`` are the distinct values at borders. ``cuts`` are the borders: which edge, and where
    among rows that equal it. ``weights`` are the parameters of the Dirichlet distribution.
    ``names`` are those of a column of names, in the order in which they are ranked.
    """

    column: str
    kind: Literal["numbers", "names"]
    rows: int
    edges: tuple[float, ...]
    cut_edges: tuple[int, ...]
    cut_places: tuple[float, ...]
    weights: tuple[int, ...]
    names: tuple[str, ...] = ()

    @property
    def slots(self) -> int:
        """Below, at and between edges, and above."""
        return 2 * len(self.edges) + 1

    def slots_of(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Into which slot each value falls."""
        edges = np.array(self.edges)
        return np.searchsorted(edges, values, "left") + np.searchsorted(edges, values, "right")

    def values_of(self, column: pl.Series) -> npt.NDArray[np.float64]:
        """A column as numbers that rank as the reference does; what is missing ranks lowest."""
        if self.kind == "numbers":
            numbers = numbers_of(column)
            if numbers is None:
                raise InputError(
                    f"column {self.column!r} holds numbers in the reference; found {column.dtype}"
                )
            return _ranked_numbers(numbers)
        place = {name: float(i) for i, name in enumerate(self.names)}
        # A name that the reference does not have ranks above all.
        distinct, codes = distinct_of(_texts(column))
        return np.array([place.get(name, float(len(place))) for name in distinct])[codes]

    def cell_counts(self, slots: Sequence[int], day: str, seed: int) -> Counts:
        """The counts of cells from those of slots; rows at an edge are divided at random."""
        edge_of, place_of = np.array(self.cut_edges), np.array(self.cut_places)
        random = np.random.default_rng([seed, zlib.crc32(f"{self.column}\n{day}".encode())])
        cells = np.zeros(len(self.weights), np.int64)
        for slot in np.flatnonzero(slots).tolist():
            edge, at = divmod(slot, 2)
            first = int(np.searchsorted(edge_of, edge, "left"))
            if not at:
                cells[first] += slots[slot]
                continue
            here = place_of[edge_of == edge]
            shares = np.diff(np.concatenate([[0.0], here, [1.0]]))
            cells[first : first + len(shares)] += random.multinomial(slots[slot], shares)
        return cells


def reference_cells(
    column: str, values: pl.Series, levels: Sequence[float], seed: int
) -> ReferenceCells:
    """The cells of a column of the reference, fewer where it has few rows."""
    values = plain(values)
    numbers = numbers_of(values) if not values.dtype.is_nested() else None
    names: tuple[str, ...] = ()
    kind: Literal["numbers", "names"] = "numbers"
    if numbers is None or _are_names(values, numbers):
        kind = "names"
        distinct, codes = distinct_of(_texts(values))
        names = tuple(sorted(distinct))
        if len(names) > _MOST_NAMES:
            raise InputError(
                f"feature= {column!r} has {len(names):,} distinct values in the reference, which "
                f"are names of rows; at most {_MOST_NAMES:,} can be followed"
            )
        place = {name: i for i, name in enumerate(names)}
        numbers = np.array([place[name] for name in distinct], np.float64)[codes]
    return _cut(column, kind, names, np.sort(_ranked_numbers(numbers)), levels, seed)


def _cut(
    column: str,
    kind: Literal["numbers", "names"],
    names: tuple[str, ...],
    ordered: npt.NDArray[np.float64],
    levels: Sequence[float],
    seed: int,
) -> ReferenceCells:
    rows = len(ordered)
    ranks, last = [], 0
    for level in levels:
        rank = math.ceil(level * (rows + 1))
        if rank - last >= _LEAST_IN_CELL and rows + 1 - rank >= _LEAST_IN_CELL:
            ranks.append(rank)
            last = rank
    if not ranks:
        raise InputError(
            f"reference= has {rows} rows of {column!r}, which is too few to tell a shift from; "
            f"give {2 * _LEAST_IN_CELL} at least, and better thousands"
        )
    random = np.random.default_rng([seed, zlib.crc32(column.encode())])
    values = ordered[np.array(ranks) - 1]
    edges, at = np.unique(values, return_inverse=True)
    places: list[float] = []
    for i, edge in enumerate(edges):
        first, after = (int(np.searchsorted(ordered, edge, side)) for side in ("left", "right"))
        among = np.sort(random.random(after - first))
        here = (rank for rank, e in zip(ranks, at, strict=True) if e == i)
        places += [float(among[rank - first - 1]) for rank in here]
    steps = np.diff([0, *ranks, rows + 1])
    return ReferenceCells(
        column=column,
        kind=kind,
        rows=rows,
        edges=tuple(edges.tolist()),
        cut_edges=tuple(at.tolist()),
        cut_places=tuple(places),
        weights=tuple(steps.tolist()),
        names=names,
    )


def _ranked_numbers(numbers: Any) -> npt.NDArray[np.float64]:
    end = np.finfo(np.float64).max
    return np.nan_to_num(np.asarray(numbers, np.float64), nan=-end, posinf=end, neginf=-end)


def _are_names(values: pl.Series, numbers: npt.NDArray[Any]) -> bool:
    """Whether a column of text is not one of numbers."""
    import polars as pl

    if values.dtype != pl.String:
        return False
    given = (values.fill_null("").str.strip_chars() != "").to_numpy()
    return bool(given.any() and np.isnan(numbers[given]).any())


def _texts(values: pl.Series) -> pl.Series:
    import polars as pl

    return plain(values).cast(pl.String).fill_null("")
