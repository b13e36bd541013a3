"""Rows with scores, and resamples of them: how often each row occurs when rows are drawn anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import MethodError
from assay.inference.narrowing import LARGEST
from assay.tally.blocks import bounds

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]

# From this many rows a distinct row on, drawing distinct rows is quicker than drawing rows.
_OFTEN = 8


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows with a score of each model.

    ``truth`` is True for positives; ``clusters`` and ``groups`` (families) are positions in their
    names, -1 where a row has no group.
    """

    truth: npt.NDArray[np.bool_]
    scores: Mapping[str, Array]
    counts: npt.NDArray[np.int64] | None = None
    clusters: Array | None = None
    groups: Array | None = None
    group_names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct rows in one canonical order, and how often each occurs.

    So neither the order of the rows nor counts in place of repeated rows change what is drawn.
    """

    truth: Array
    scores: Mapping[str, Floats]
    counts: npt.NDArray[np.int64]
    clusters: Array | None
    groups: Array
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: ScoredRows) -> Cells:
        """Equal rows added; those that never occur left out."""
        size = len(rows.truth)
        counts = np.ones(size, np.int64) if rows.counts is None else rows.counts.astype(np.int64)
        kept = np.flatnonzero(counts)
        total = int(counts.sum())
        if not total:
            raise MethodError("there are no rows to resample")
        if total >= LARGEST:
            raise MethodError(f"{total:,} rows are too many to resample")
        clusters = np.zeros(size, np.int64) if rows.clusters is None else rows.clusters
        groups = np.full(size, -1) if rows.groups is None else rows.groups
        # Zero has one sign, as wherever scores are tied.
        scores = [column[kept].astype(np.float64) + 0.0 for column in rows.scores.values()]
        keys = [rows.truth[kept], clusters[kept], groups[kept], *scores]
        order = np.lexsort(keys)
        changed = np.zeros(len(order), bool)
        changed[0] = True
        for key in keys:
            ordered = key[order]
            changed[1:] |= ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(changed)
        truth, clusters, groups, *scores = (key[order[starts]] for key in keys)
        return cls(
            truth=truth,
            scores=dict(zip(rows.scores, scores, strict=True)),
            counts=np.add.reduceat(counts[kept][order], starts),
            # Only clusters that have rows can be drawn.
            clusters=None if rows.clusters is None else np.unique(clusters, return_inverse=True)[1],
            groups=groups,
            names=rows.group_names,
        )

    @cached_property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.counts.sum())

    def redrawn(self, generator: np.random.Generator) -> Array:
        """How often each row occurs in a resample, of clusters where there are any."""
        size = len(self.counts)
        if self.clusters is not None:
            often = _drawn(generator, int(self.clusters.max()) + 1)[self.clusters]
            return often if self.total == size else np.asarray(often * self.counts)
        if self.total > _OFTEN * size:
            return np.asarray(generator.multinomial(self.total, self.counts / self.total))
        often = _drawn(generator, self.total)
        if self.total == size:
            return often
        starts = np.cumsum(self.counts) - self.counts
        return np.asarray(np.add.reduceat(often, starts, dtype=np.int64))

    def sizes(self, often: Array) -> Floats:
        """How many positives each group has when rows occur this often."""
        held, groups = self._grouped
        return np.bincount(groups, often[held], len(self.names)).astype(np.float64)

    @cached_property
    def _grouped(self) -> tuple[Array, Array]:
        """Positives that have a group, and the group of each."""
        held = np.flatnonzero(self.truth & (self.groups >= 0))
        return held, self.groups[held]


def _drawn(generator: np.random.Generator, size: int) -> Array:
    """How often each of so many things occurs when as many are drawn with replacement.

    Block by block, which is the same in distribution, and stays in the processor's cache.
    """
    blocks = [stop - start for start, stop in bounds(size)]
    parts = []
    shares = generator.multinomial(size, np.array(blocks) / size)
    for block, share in zip(blocks, shares.tolist(), strict=True):
        drawn = generator.integers(block, size=share, dtype=np.uint16)
        parts.append(narrow(np.bincount(drawn, minlength=block)))
    return np.concatenate(parts)


def narrow(counts: Array) -> Array:
    """Counts as bytes where they are small: these are gathered several times as fast."""
    return counts.astype(np.uint8) if counts.max() < 256 else counts
