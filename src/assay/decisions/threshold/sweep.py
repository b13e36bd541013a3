"""Rows with scores, swept over every threshold that a score can be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import CountError, LabelError
from assay.inference.chosen import ScoredRows
from assay.sources import Batch, Named
from assay.tally import ClusterTally, Confusion, ScoreTally

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

MODEL = "model"


@dataclass(frozen=True, eq=False)
class Counts:
    """True and false positives at falling thresholds, of a data set or of a resample of it."""

    tp: Array
    fp: Array
    positives: int
    negatives: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.positives + self.negatives


@dataclass(frozen=True, eq=False)
class Family:
    """The positives of one family: at which thresholds they lie, and how many up to each.

    ``share`` is how much of the positives at that very score are of the family.
    """

    name: str
    positions: Integers
    hits: Integers
    share: Floats

    @property
    def size(self) -> int:
        """How many positives the family has."""
        return int(self.hits[-1])

    def hits_at(self, positions: Array) -> Integers:
        """How many of the family are flagged at each of some positions; -1 flags nothing."""
        found = np.searchsorted(self.positions, positions, side="right")
        return np.concatenate(([0], self.hits))[found]

    def in_resample(self, counts: Counts) -> Floats:
        """How many of the family are flagged at each of its own positions, in a resample.

        A score that only this family has tells it exactly; where families share a score, each
        has its share of what was drawn there.
        """
        before = np.where(self.positions > 0, counts.tp[self.positions - 1], 0)
        drawn = (counts.tp[self.positions] - before) * self.share
        return np.asarray(np.cumsum(drawn), np.float64)


@dataclass(frozen=True, eq=False)
class Swept:
    """Rows that were read, and their counts at every threshold: the distinct scores, falling."""

    batch: Batch
    thresholds: Floats
    counts: Counts
    families: tuple[Family, ...]
    kinds: Named | None

    @classmethod
    def of(cls, batch: Batch, kinds: Named | None = None) -> Swept:
        """Sweep rows; ``kinds`` is the column of families."""
        if batch.score is None:
            raise LabelError("a threshold is chosen on scores, and there are only decisions")
        if batch.weights is not None:
            raise CountError(
                "rows have sampling weights: a threshold is chosen, and its promise made, by "
                "counting rows. Leave the weight out, or give count= where a row stands for many"
            )
        tally = ScoreTally.of_rows(batch.labels, batch.score, batch.truth, counts=batch.counts)
        fp, tp = (np.cumsum(side[::-1].astype(np.int64)) for side in tally.counts)
        counts = Counts(tp, fp, int(tp[-1]), int(fp[-1]))
        ascending = tally.scores.astype(np.float64)
        return cls(batch, ascending[::-1], counts, _families(batch, ascending, tp, kinds), kinds)

    def must_have_both_kinds(self) -> None:
        """Refuse rows of one kind only."""
        sides = self.counts.negatives, self.counts.positives
        for amount, label in zip(sides, self.batch.labels, strict=True):
            if not amount:
                raise LabelError(
                    f"no row is {label!r}: a threshold is chosen between two kinds of rows, and "
                    f"there is one kind only. Give rows of both"
                )

    def at(self, position: int) -> Confusion:
        """The confusion matrix at a position; -1 flags nothing."""
        tp = fp = 0
        if position >= 0:
            tp, fp = int(self.counts.tp[position]), int(self.counts.fp[position])
        negatives, positives = self.counts.negatives, self.counts.positives
        return Confusion(self.batch.labels, ((negatives - fp, fp), (positives - tp, tp)))

    def positions(self, thresholds: Any) -> Integers:
        """The last position that each threshold flags; -1 where it flags nothing."""
        return np.searchsorted(-self.thresholds, -np.asarray(thresholds), side="right") - 1

    def tables(self, positions: Integers) -> Floats:
        """Many confusion matrices at once, those of ``positions``."""
        tp = np.concatenate((self.counts.tp, [0]))[positions]
        fp = np.concatenate((self.counts.fp, [0]))[positions]
        found = [self.counts.negatives - fp, fp, self.counts.positives - tp, tp]
        return np.stack(found, axis=-1).reshape(*np.shape(positions), 2, 2).astype(np.float64)

    def clusters_at(self, threshold: float) -> ClusterTally | None:
        """The confusion matrix of each cluster at a threshold, where there are clusters."""
        batch = self.batch
        if batch.clusters is None or batch.score is None:
            return None
        decision = (batch.score >= np.float64(threshold)).astype(np.uint8)
        return ClusterTally.of_codes(
            batch.labels,
            batch.truth,
            decision,
            batch.clusters.codes,
            batch.clusters.names,
            amounts=batch.counts,
        )

    @cached_property
    def rows(self) -> ScoredRows:
        """The rows for resampling."""
        groups = None
        if self.kinds is not None and self.families:
            renumber = np.full(len(self.kinds.names), -1)
            known = {family.name: i for i, family in enumerate(self.families)}
            for code, name in enumerate(self.kinds.names):
                renumber[code] = known.get(name, -1)
            groups = np.where(self.batch.truth == 1, renumber[self.kinds.codes], -1)
        assert self.batch.score is not None  # noqa: S101 - checked when swept
        return ScoredRows(
            truth=self.batch.truth == 1,
            scores={MODEL: self.batch.score},
            counts=self.batch.counts,
            clusters=None if self.batch.clusters is None else self.batch.clusters.codes,
            groups=groups,
            group_names=tuple(family.name for family in self.families),
        )


def _families(
    batch: Batch, ascending: Floats, tp: Integers, kinds: Named | None
) -> tuple[Family, ...]:
    if kinds is None or batch.score is None:
        return ()
    held = np.flatnonzero(batch.truth == 1)
    scores = batch.score[held].astype(np.float64)
    places = len(ascending) - 1 - np.searchsorted(ascending, scores)
    amounts = np.ones(len(held), np.int64) if batch.counts is None else batch.counts[held]
    codes = kinds.codes[held]
    here = np.diff(tp, prepend=0)
    found = []
    for code, name in enumerate(kinds.names):
        mine = codes == code
        if not mine.any():
            continue
        positions, which = np.unique(places[mine], return_inverse=True)
        sums = np.zeros(len(positions), np.int64)
        np.add.at(sums, which, amounts[mine])
        found.append(Family(name, positions, np.cumsum(sums), sums / here[positions]))
    return tuple(sorted(found, key=lambda family: family.name))
