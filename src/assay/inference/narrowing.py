"""A sweep over thresholds looked at in blocks, and cut finer only where a choice depends on it.

A tally may have as many distinct scores as there are rows. A rule that chooses a threshold cares
for a few of them: sums over blocks of scores tell where the others lead. So do resamples: how many
rows a block has is drawn first, and how they spread inside it only for blocks that are cut. That is
the same in distribution as drawing all rows, and takes time by the logarithm of their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.sources.thresholds import least_reaching
from assay.tally import ScoreTally

Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.int64]

# A block is cut into so many.
FAN = 16
# A sweep starts with at most so many cells, label by block: all are drawn in every resample.
CELLS = 4096
# Tables hold counts as floats, which are exact up to here.
LARGEST = 1 << 53
# Blocks are summed so many at once, so that little memory is used beside the sums.
_AT_ONCE = 1 << 20


class Hits(NamedTuple):
    """Positives of one kind: how many are flagged at each position, and how many there are."""

    flagged: Array
    size: int


def no_kinds(name: str) -> Hits:
    """Counts that tell nothing of kinds of positives."""
    raise KeyError(name)


@dataclass(frozen=True, eq=False)
class Counts:
    """True and false positives at falling thresholds, of a data set or of a resample of it.

    ``kind`` gives the hits of one kind of positives, a family, by its name.
    """

    tp: Array
    fp: Array
    positives: int
    negatives: int
    kind: Callable[[str], Hits] = no_kinds

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.positives + self.negatives


@dataclass(frozen=True, eq=False)
class Blocks:
    """A sweep in blocks: the counts at the last threshold of each, and the least that any has.

    A block of a single threshold has its own counts in both.
    """

    high: Counts
    low: Counts

    @cached_property
    def drawn(self) -> Mask:
        """Blocks inside of which counts change."""
        return np.asarray((self.low.tp < self.high.tp) | (self.low.fp < self.high.fp))

    @cached_property
    def mixed(self) -> Mask:
        """Blocks inside of which both counts change, and the first in which any does.

        Where only one does, the end of the block or that of the block before is as good as any
        threshold of it, for whoever likes true positives and dislikes false ones.
        """
        first = self.drawn & (self.low.tp == 0) & (self.low.fp == 0)
        return np.asarray(first | (self.low.tp < self.high.tp) & (self.low.fp < self.high.fp))

    @property
    def none(self) -> Mask:
        """No block."""
        return np.zeros(len(self.high.tp), bool)

    @property
    def order(self) -> Integers:
        """The numbers of the blocks."""
        return np.arange(len(self.high.tp))


@dataclass(frozen=True, eq=False)
class Pyramid:
    """A score tally by falling scores, and its sums over ever larger blocks of them.

    The first label is the negative one, all others are kinds of positives. ``levels`` are tables of
    label by block: the first is the tally itself, and each further one adds up blocks of the one
    before it.
    """

    tally: ScoreTally
    levels: tuple[Array, ...]

    @classmethod
    def of(cls, tally: ScoreTally, cells: int = CELLS) -> Pyramid:
        """Add up the counts of a tally until there are at most so many cells."""
        rows = sum(tally.totals())
        if not rows:
            raise MethodError("there are no rows to resample")
        if rows >= LARGEST:
            raise MethodError(f"{rows:,} rows are too many to resample")
        levels = [tally.counts[:, ::-1]]
        while levels[-1].size > cells and levels[-1].shape[1] > 1:
            levels.append(_summed(levels[-1]))
        return cls(tally, tuple(levels))

    @property
    def size(self) -> int:
        """How many thresholds there are."""
        return self.tally.size

    @cached_property
    def top(self) -> Integers:
        """The counts of the largest blocks."""
        return self.levels[-1].astype(np.int64)

    @cached_property
    def totals(self) -> tuple[int, ...]:
        """How many rows each label has."""
        return tuple(self.top.sum(axis=1).tolist())

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.totals)

    def thresholds(self, positions: Any) -> npt.NDArray[np.float64]:
        """The scores at some positions."""
        return np.asarray(self.tally.scores[self.size - 1 - np.asarray(positions)], np.float64)

    def positions(self, thresholds: Any) -> Integers:
        """The last position that each threshold flags; -1 where it flags nothing."""
        scores = self.tally.scores
        least = least_reaching(thresholds, scores.dtype)
        return self.size - 1 - np.searchsorted(scores, least, side="left")

    def sums(self, positions: Any) -> Integers:
        """How many rows of each label are flagged at some positions; -1 flags nothing."""
        at = np.asarray(positions, np.int64) + 1
        found = np.zeros((len(self.totals), *at.shape), np.int64)
        for table in self.levels[:-1]:
            inside = at % FAN
            steps = np.arange(FAN)
            before = steps < inside[..., None]
            # What is not counted stands at some place that exists.
            places = np.where(before, (at - inside)[..., None] + steps, 0)
            found += (table[:, places] * before).sum(axis=-1, dtype=np.int64)
            at = at // FAN
        until = np.concatenate((np.zeros_like(self.top[:, :1]), self.top), axis=1).cumsum(axis=1)
        return np.asarray(found + until[:, at])

    def children(self, level: int, index: Integers) -> tuple[Array, Array]:
        """The counts of the parts of some blocks (label, block, part), and which parts exist."""
        table = self.levels[level - 1]
        places = FAN * index[:, None] + np.arange(FAN)
        exist = places < table.shape[1]
        return table[:, np.where(exist, places, 0)] * exist, exist


def _summed(table: Array) -> Array:
    """Counts of blocks from those of their parts."""
    labels, size = table.shape
    blocks = -(-size // FAN)
    kind = np.min_scalar_type(int(table.max()) * FAN)
    sums = np.zeros((labels, blocks), kind)
    for first in range(0, blocks, _AT_ONCE):
        part = table[:, FAN * first : FAN * (first + _AT_ONCE)]
        for i in range(FAN):
            column = part[:, i::FAN]
            sums[:, first : first + column.shape[1]] += column.astype(kind, copy=False)
    return sums


# How the rows of some blocks are spread over their parts, from the level of the blocks, their
# numbers, and how many rows of each label they have: counts by label, block and part.
Split: TypeAlias = Callable[[int, Integers, Integers], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A sweep in blocks of several sizes, from high scores to low."""

    pyramid: Pyramid
    level: Integers
    index: Integers
    amounts: Integers  # label by block
    split: Split

    @classmethod
    def of_data(cls, pyramid: Pyramid) -> Narrowed:
        """The data themselves."""

        def split(level: int, index: Integers, amounts: Integers) -> tuple[Array, Array]:  # noqa: ARG001
            return pyramid.children(level, index)

        return cls._at_top(pyramid, pyramid.top, split)

    @classmethod
    def redrawn(cls, pyramid: Pyramid, generator: np.random.Generator) -> Narrowed:
        """As many rows drawn with replacement."""
        shares = pyramid.top.ravel() / pyramid.rows
        amounts = generator.multinomial(pyramid.rows, shares).reshape(pyramid.top.shape)

        def split(level: int, index: Integers, amounts: Integers) -> tuple[Array, Array]:
            held, exist = pyramid.children(level, index)
            totals = held.sum(axis=-1, keepdims=True, dtype=np.int64)
            # A block without rows has none to spread; any shares will do.
            shares = np.where(totals > 0, held, 1) / np.where(totals > 0, totals, FAN)
            return generator.multinomial(amounts, shares), exist

        return cls._at_top(pyramid, amounts, split)

    @classmethod
    def _at_top(cls, pyramid: Pyramid, amounts: Integers, split: Split) -> Narrowed:
        size = amounts.shape[1]
        level = np.full(size, len(pyramid.levels) - 1)
        return cls(pyramid, level, np.arange(size), amounts, split)

    @cached_property
    def ends(self) -> Integers:
        """The last position of each block."""
        return np.asarray(
            np.minimum((self.index + 1) * FAN**self.level, self.pyramid.size) - 1, np.int64
        )

    @cached_property
    def sums(self) -> Integers:
        """How many rows of each label are flagged at the end of each block."""
        return np.cumsum(self.amounts, axis=1)

    @cached_property
    def blocks(self) -> Blocks:
        """What rules look at."""
        before = np.where(self.level > 0, self.sums - self.amounts, self.sums)
        return Blocks(self._counts(self.sums), self._counts(before))

    def _counts(self, sums: Integers) -> Counts:
        labels, totals = self.pyramid.tally.labels, self.sums[:, -1].tolist()

        def kind(name: str) -> Hits:
            at = labels.index(name, 1)
            return Hits(sums[at], totals[at])

        tp = sums[1] if len(sums) == 2 else sums[1:].sum(axis=0)
        return Counts(tp, sums[0], sum(totals[1:]), totals[0], kind)

    def cut(self, mask: Mask) -> Narrowed:
        """The same sweep with some blocks cut into their parts."""
        parts = {}
        repeats = np.ones(len(mask), np.int64)
        for level in np.unique(self.level[mask]).tolist():
            where = np.flatnonzero(mask & (self.level == level))
            drawn, exist = self.split(level, self.index[where], self.amounts[:, where])
            repeats[where] = exist.sum(axis=1)
            parts[level] = where, drawn, exist
        first = np.cumsum(repeats) - repeats
        levels, index = np.repeat(self.level, repeats), np.repeat(self.index, repeats)
        amounts = np.repeat(self.amounts, repeats, axis=1)
        for level, (where, drawn, exist) in parts.items():
            places = (first[where][:, None] + np.arange(FAN))[exist]
            levels[places] = level - 1
            index[places] = (FAN * self.index[where][:, None] + np.arange(FAN))[exist]
            amounts[:, places] = drawn[:, exist]
        return Narrowed(self.pyramid, levels, index, amounts, self.split)
