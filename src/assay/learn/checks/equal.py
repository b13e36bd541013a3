"""Rows that are equal: which, how many, and how many chance would make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]

# Columns that depend on each other coincide more often than chance makes independent ones.
_SLACK = 2.0
# A number of coincidences that chance reaches less often is no coincidence.
_RARE = 1e-3
# Where rows come this often each, columns have so few values that rows have to repeat.
_OFTEN = 10
_NONE = 1e-9


@dataclass(frozen=True, eq=False)
class Equal:
    """Rows of one or two parts, equal where they have the same code.

    ``codes`` has one array a part; codes run over all parts. ``frames`` are what was compared.
    """

    codes: tuple[Array, ...]
    frames: tuple[pl.DataFrame, ...]

    @cached_property
    def counts(self) -> tuple[Array, ...]:
        """How often each code occurs in each part."""
        size = 1 + max((int(codes.max()) for codes in self.codes if len(codes)), default=-1)
        return tuple(np.bincount(codes, minlength=size) for codes in self.codes)

    @property
    def total(self) -> Array:
        """How often each code occurs at all."""
        return np.asarray(np.sum(self.counts, axis=0))

    def size(self, part: int) -> Array:
        """For each row of a part, how many rows of it are equal, itself among them."""
        return np.asarray(self.counts[part][self.codes[part]])

    def repeats(self, part: int) -> Mask:
        """Rows of a part that repeat an earlier row of it."""
        codes = self.codes[part]
        first = np.full(len(self.counts[part]), len(codes))
        np.minimum.at(first, codes, np.arange(len(codes)))
        return np.asarray(first[codes] != np.arange(len(codes)))

    def also_in(self, part: int, other: int) -> Mask:
        """Rows of a part that are in another too."""
        return np.asarray(self.counts[other][self.codes[part]] > 0)

    @property
    def pairs_across(self) -> int:
        """Pairs of a training row and an equal test row."""
        return int(np.dot(self.counts[0].astype(np.int64), self.counts[1].astype(np.int64)))

    def pairs_inside(self, part: int) -> int:
        """Pairs of equal rows of one part."""
        often = self.counts[part].astype(np.int64)
        return int((often * (often - 1) // 2).sum())

    @cached_property
    def chance(self) -> float:
        """How likely two rows are equal by chance, were the columns independent of each other."""
        import polars as pl

        frame = self.frames[0] if len(self.frames) == 1 else pl.concat(self.frames)
        codes = np.concatenate(self.codes)
        distinct = int(np.count_nonzero(self.total))
        if len(codes) < _OFTEN * distinct:
            # Copies themselves would pass for columns that repeat.
            _, first = np.unique(codes, return_index=True)
            frame = frame[first]
        likely = 1.0
        for column in frame.get_columns():
            likely *= _alike(column)
            if likely * len(codes) ** 2 < _NONE:
                return 0.0
        return likely

    @cached_property
    def must_repeat(self) -> bool:
        """Whether far fewer different rows are possible than there are: any value with any."""
        import polars as pl

        possible, rows = 1, sum(map(len, self.codes))
        for columns in zip(*(frame.get_columns() for frame in self.frames), strict=True):
            possible *= pl.concat(columns).n_unique()
            if _OFTEN * possible > rows:
                return False
        return True

    def by_chance(self, pairs: int, possible: int) -> bool:
        """Whether chance makes so many equal pairs out of so many possible ones."""
        from scipy.special import pdtrc

        if self.must_repeat:
            return True
        expected = _SLACK * self.chance * possible
        return expected > 0 and float(pdtrc(pairs - 1, expected)) >= _RARE


def equal_rows(frames: Sequence[pl.DataFrame]) -> Equal:
    """Find equal rows in frames of the same columns; missing values equal each other.

    Rows are told apart by a hash of 64 bits: of a million rows two that differ meet in one of
    forty million tables.

    >>> import polars as pl
    >>> found = equal_rows([pl.DataFrame({"x": [1.0, 2.0, 1.0]}), pl.DataFrame({"x": [2.0]})])
    >>> found.repeats(0).tolist(), found.also_in(1, 0).tolist()
    ([False, False, True], [True])
    """
    hashed = [frame.hash_rows().to_numpy() for frame in frames]
    _, codes = np.unique(np.concatenate(hashed), return_inverse=True)
    ends = np.cumsum([len(part) for part in hashed])[:-1]
    return Equal(tuple(np.split(codes, ends)), tuple(frames))


def _alike(column: pl.Series) -> float:
    """How likely two different rows have the same value."""
    n = len(column)
    if n < 2:
        return 0.0
    often = column.alias("value").value_counts()["count"].to_numpy().astype(np.float64)
    return float((often * (often - 1)).sum() / (n * (n - 1)))
