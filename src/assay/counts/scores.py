"""Label by distinct score: all that rankings, curves and thresholds need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import BLOCK, map_blocks, narrow
from assay.counts.grid import Exact, Grid, cells, highest, lowest

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """The rows of each label at each distinct score, scores ascending.

    A tie is numeric equality; -0.0 is 0.0. ``counts`` has one row per label and one column per
    score. With sampling weights ``counts`` are sums of weights (float64) and ``squares`` sums of
    their squares. ``kept`` says how scores are stored: on a grid, ``scores`` are the smallest
    floats of its cells.

    >>> scores, truth = np.array([0.9, 0.2, 0.9]), np.array([1, 0, 0])
    >>> table = ScoreCounts.of_rows(("benign", "attack"), scores, truth)
    >>> table.scores.tolist(), table.counts.tolist()
    ([0.2, 0.9], [[1, 1], [0, 1]])
    """

    labels: tuple[str, ...]
    scores: npt.NDArray[np.floating[Any]]
    counts: Array
    squares: Floats | None = None
    kept: Exact | Grid = Exact()  # noqa: RUF009 - frozen

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        scores: Array,
        truth: Array,
        *,
        counts: Array | None = None,
        weights: Array | None = None,
        kept: Exact | Grid = Exact(),  # noqa: B008 - frozen
    ) -> ScoreCounts:
        """Count rows: a score each, and the label as a position in ``labels``."""
        scores = scores + scores.dtype.type(0)
        if isinstance(kept, Grid):
            scores = lowest(cells(scores, kept.bits), kept.bits)
        if weights is not None:
            amounts = np.asarray(weights, np.float64)
        else:
            amounts = np.ones(len(scores), np.int64) if counts is None else counts
        held = amounts > 0
        scores, truth, amounts = scores[held], truth[held].astype(np.intp), amounts[held]
        distinct, at = np.unique(scores, return_inverse=True)

        def summed(each: Array) -> Array:
            table = np.zeros((len(labels), len(distinct)), each.dtype)
            np.add.at(table, (truth, at), each)
            return table

        if weights is not None:
            sums = summed(amounts), summed(np.square(amounts))
            return cls(tuple(labels), distinct, *sums, kept)
        return cls(tuple(labels), distinct, narrow(summed(amounts)), kept=kept)

    @classmethod
    def of_sorted(
        cls,
        labels: Sequence[str],
        scores: Array,
        truth: Array,
        amounts: Array,
        squares: Array | None = None,
        kept: Exact | Grid = Exact(),  # noqa: B008 - frozen
        *,
        most: int,
    ) -> ScoreCounts:
        """Put combinations of a score and a label side by side; scores ascend already.

        ``most`` is how many combinations a score can have.
        """
        size = len(scores)
        new = np.empty(size, bool)
        new[:1] = True
        np.not_equal(scores[1:], scores[:-1], out=new[1:])
        sizes = map_blocks(size, lambda: lambda i, j: int(np.count_nonzero(new[i:j])))
        ends = np.cumsum([0, *sizes])
        groups = int(ends[-1])
        distinct = scores if groups == size else np.empty(groups, scores.dtype)

        def table(each: Array) -> Array:
            kind = each.dtype
            if kind.kind == "u":
                kind = np.min_scalar_type(int(each.max(initial=0)) * most)
            counts = np.zeros((len(labels), groups), kind)

            def work(i: int, j: int) -> None:
                out = slice(ends[i // BLOCK], ends[i // BLOCK + 1])
                if groups == size:
                    for label in range(len(labels)):
                        np.copyto(counts[label, out], each[i:j], where=truth[i:j] == label)
                    return
                starts = np.flatnonzero(new[i:j])
                if not len(starts):
                    return
                # A score of several labels may go on in the next block.
                while j < size and not new[j]:
                    j += 1
                i += int(starts[0])
                starts -= starts[0]
                distinct[out] = scores[i:j][starts]
                for label in range(len(labels)):
                    of_label = np.where(truth[i:j] == label, each[i:j], 0)
                    counts[label, out] = np.add.reduceat(of_label, starts, dtype=kind)

            map_blocks(size, lambda: work)
            return counts if kind.kind == "f" else narrow(counts)

        counts = table(amounts)
        return cls(
            tuple(labels), distinct, counts, None if squares is None else table(squares), kept
        )

    # -- what is known about a score ---------------------------------------------------------------

    @property
    def inexact(self) -> bool:
        """Whether rows of different scores share a column, so that their order is unknown."""
        return isinstance(self.kept, Grid)

    def ends(self) -> tuple[Floats, Floats]:
        """The smallest and the largest score that the rows of each column can have."""
        low = self.scores.astype(np.float64)
        if not isinstance(self.kept, Grid):
            return low, low
        ids = cells(low, self.kept.bits)
        return lowest(ids, self.kept.bits), highest(ids, self.kept.bits)

    @cached_property
    def tied(self) -> npt.NDArray[np.bool_]:
        """Of each column, whether its rows are known to have the same score."""
        low, high = self.ends()
        return np.asarray(low == high)

    def middles(self) -> Floats:
        """The scores; on a grid, the middle of each cell's smallest and largest score."""
        low, high = self.ends()
        return low / 2 + high / 2 if self.inexact else low

    def apart(self, *, positives_above: bool) -> ScoreCounts:
        """The binary table with the classes of each cell ranked one above the other.

        These two are the best and the worst ranking that the rows can have. Rows that are known to
        have the same score stay tied. Scores are ranks.
        """
        if positives_above not in self._apart:
            self._apart[positives_above] = self._split(0 if positives_above else 1)
        return self._apart[positives_above]

    @cached_property
    def _apart(self) -> dict[bool, ScoreCounts]:
        return {}

    def _split(self, below: int) -> ScoreCounts:
        """The table in which one class of each cell is ranked below the other."""

        def split(table: Array) -> Array:
            two = np.zeros((2, self.size, 2), table.dtype)
            two[below, :, 0], two[1 - below, :, 1] = table[below], table[1 - below]
            two[1 - below, self.tied, 0] = table[1 - below, self.tied]
            two[1 - below, self.tied, 1] = 0
            return two.reshape(2, 2 * self.size)

        counts = split(self.counts)
        occupied = counts.any(axis=0)
        squares = None if self.squares is None else split(self.squares)[:, occupied]
        ranks = np.arange(int(occupied.sum()), dtype=np.float64)
        return ScoreCounts(self.labels, ranks, counts[:, occupied], squares)

    # -- how many rows -----------------------------------------------------------------------------

    @property
    def rows(self) -> float:
        """The number of rows; with sampling weights, the effective number."""
        if self.squares is None:
            return int(sum(self.totals()))
        return float(np.sum(self.counts)) ** 2 / float(np.sum(self.squares))

    def effective(self) -> tuple[float, ...]:
        """The rows of each label; with sampling weights, their effective number."""
        totals = [float(total) for total in self.totals()]
        if self.squares is None:
            return tuple(totals)
        squares = self.squares.sum(axis=1).tolist()
        return tuple(
            total**2 / square if total else 0.0
            for total, square in zip(totals, squares, strict=True)
        )

    @property
    def size(self) -> int:
        """The number of distinct scores."""
        return len(self.scores)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of sampling weights."""
        return self.squares is not None

    def at_least(self, threshold: float) -> list[Any]:
        """The rows of each label whose score is at least the threshold."""
        first = int(np.searchsorted(self.scores, threshold, side="left"))
        kind = np.float64 if self.weighted else np.int64
        sums: list[Any] = self.counts[:, first:].sum(axis=1, dtype=kind).tolist()
        return sums

    def totals(self) -> list[Any]:
        """The rows of each label."""
        return list(self._totals)

    @cached_property
    def _totals(self) -> tuple[Any, ...]:
        """Every measure needs these, so they are counted once."""
        return tuple(self.at_least(-np.inf))

    @cached_property
    def draws(self) -> dict[tuple[int, int], list[Array]]:
        """Resamples of the counts by seed and number, shared by all measures."""
        return {}

    # -- other tables of the same rows -------------------------------------------------------------

    def one_versus_rest(self, label: int) -> ScoreCounts:
        """The binary table with one label as the positive, all others as negatives."""
        if len(self.labels) == 2 and label == 1:
            return self
        others = [i for i in range(len(self.labels)) if i != label]

        def two(table: Array) -> Array:
            exact = table if self.weighted else table.astype(np.int64)
            return np.stack([exact[others].sum(axis=0), exact[label]])

        counts = two(self.counts)
        return replace(
            self,
            labels=("rest", self.labels[label]),
            counts=counts if self.weighted else narrow(counts),
            squares=None if self.squares is None else two(self.squares),
        )

    def pair(self, negative: int, positive: int) -> ScoreCounts:
        """The binary table of the rows of two labels alone."""
        chosen = [negative, positive]
        held = self.counts[chosen].any(axis=0)
        counts = self.counts[chosen][:, held]
        return replace(
            self,
            labels=(self.labels[negative], self.labels[positive]),
            scores=self.scores[held],
            counts=counts if self.weighted else narrow(counts),
            squares=None if self.squares is None else self.squares[chosen][:, held],
        )
