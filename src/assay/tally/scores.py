"""Label by distinct score: all that rankings, curves and thresholds need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import ScoreError, TallyError
from assay.tally import codec
from assay.tally.blocks import map_blocks
from assay.tally.grouping import count_cells, group, in_cells, sum_tables
from assay.tally.keeping import (
    LOWEST,
    Cuts,
    Exact,
    Grid,
    Keeping,
    cells,
    coarsest,
    highest,
    keeping_of,
    lowest,
    plain,
)
from assay.tally.packed import count_binary, narrow, narrow_scores

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class ScoreTally:
    """How many rows of each label have each distinct score, scores ascending.

    A tie is numeric equality; -0.0 is 0.0. ``counts`` has one row a label and one column a score,
    in the narrowest unsigned type that holds it. With sampling weights, ``counts`` are sums of
    weights (float64) and ``squares`` sums of their squares. ``kept`` says how scores are kept: of a
    grid, ``scores`` are the smallest floats of its cells, of cuts the cuts and the gaps between.

    >>> import numpy as np
    >>> scores, truth = np.array([0.9, 0.2, 0.9]), np.array([1, 0, 0])
    >>> tally = ScoreTally.of_rows(("benign", "attack"), scores, truth)
    >>> tally.scores.tolist(), tally.counts.tolist()
    ([0.2, 0.9], [[1, 1], [0, 1]])
    """

    labels: tuple[str, ...]
    scores: Scores
    counts: Array
    squares: npt.NDArray[np.float64] | None = None
    kept: Keeping = Exact()  # noqa: RUF009 - frozen

    @classmethod
    def zero(cls, labels: Sequence[str]) -> ScoreTally:
        """The table of no rows."""
        return cls(tuple(labels), np.empty(0, np.float32), np.empty((len(labels), 0), np.uint8))

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        scores: Scores,
        truth: Array,
        *,
        counts: npt.NDArray[np.int64] | None = None,
        weights: npt.NDArray[np.float64] | None = None,
        kept: Exact | Grid = Exact(),  # noqa: B008 - frozen
    ) -> ScoreTally:
        """Count rows: a score each, and the label as a position in ``labels``."""
        labels = tuple(labels)
        scores = scores if scores.dtype == np.float32 else scores.astype(np.float64, copy=False)
        if not len(scores):
            return replace(cls.zero(labels), kept=kept)
        low, _ = extremes(scores)
        if weights is None and counts is None:
            if isinstance(kept, Grid):
                ends, table = count_cells(scores, truth, len(labels), kept.bits)
                return cls(labels, ends, narrow(table), kept=kept)
            if len(labels) == 2:
                return cls(labels, *count_binary(scores, truth, low))
        amounts: Array = np.ones(len(scores), np.int64) if counts is None else counts
        if weights is not None:
            amounts = weights
        columns = [np.where(truth == i, amounts, 0) for i in range(len(labels))]
        if weights is not None:
            columns += [np.square(column) for column in columns]
        distinct, sums = group(scores + scores.dtype.type(0), np.stack(columns))
        if not len(distinct):
            return replace(cls.zero(labels), kept=kept)
        found = cls._of_sums(labels, distinct, sums, weighted=weights is not None)
        return found.to_grid(kept.bits) if isinstance(kept, Grid) else found

    @classmethod
    def _of_sums(
        cls, labels: tuple[str, ...], distinct: Scores, sums: Array, *, weighted: bool
    ) -> ScoreTally:
        """A table of counts, or of weights and below them their squares."""
        if not weighted:
            return cls(labels, distinct, narrow(sums))
        return cls(labels, distinct, sums[: len(labels)], sums[len(labels) :])

    def _columns(self) -> Array:
        """The counts, and below them the squares of weights where there are any."""
        return self.counts if self.squares is None else np.concatenate([self.counts, self.squares])

    def __add__(self, other: ScoreTally) -> ScoreTally:
        if not isinstance(other, ScoreTally):
            return NotImplemented
        return ScoreTally.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[ScoreTally]) -> ScoreTally:
        """The sum of many tables in one sort, kept as the coarsest of them is.

        Labels that one of them does not have have no rows there; unlike labels are sorted as text.
        """
        named = [part for part in parts if part.labels or part.size] or parts[:1]
        labels = named[0].labels
        if any(part.labels != labels for part in named):
            labels = tuple(sorted({label for part in named for label in part.labels}))
        kept = coarsest({part.kept for part in named if part.size or part.kept != Exact()})
        full = [part._as(labels, kept) for part in named if part.size]
        if not full:
            return replace(ScoreTally.zero(labels), kept=kept)
        if len(full) == 1:
            return full[0]
        weighted = {part.weighted for part in full}
        if len(weighted) > 1:
            raise TallyError("score tallies with and without sampling weights can't be added")
        sums = sum_tables([part.scores for part in full], [part._columns() for part in full])
        return replace(ScoreTally._of_sums(labels, *sums, weighted=weighted.pop()), kept=kept)

    def _as(self, labels: tuple[str, ...], kept: Keeping) -> ScoreTally:
        """The same table with more labels, in cells where a grid is asked for."""
        found = self if not isinstance(kept, Grid) else self.to_grid(kept.bits)
        if labels == self.labels:
            return found
        places = [self.labels.index(label) if label in self.labels else -1 for label in labels]

        def spread(table: Array) -> Array:
            wide = np.concatenate([table, np.zeros((1, table.shape[1]), table.dtype)])
            return np.asarray(wide[places])

        squares = None if found.squares is None else spread(found.squares)
        return replace(found, labels=labels, counts=spread(found.counts), squares=squares)

    def to_grid(self, bits: int) -> ScoreTally:
        """The same rows in the cells of a grid.

        >>> scores, truth = np.array([0.9, 0.2, 0.9001]), np.array([1, 0, 0])
        >>> ScoreTally.of_rows(("benign", "attack"), scores, truth).to_grid(4).counts.tolist()
        [[1, 1], [0, 1]]
        """
        kept = Grid(bits)
        if self.kept == kept:
            return self
        if isinstance(self.kept, Cuts):
            raise TallyError("scores kept by cuts have no cells; count with exact scores or a grid")
        if isinstance(self.kept, Grid) and self.kept.bits < bits:
            raise TallyError(f"a grid of {self.kept.bits} bits can't be cut into one of {bits}")
        if not self.size:
            return replace(self, kept=kept)
        ends, sums = in_cells(self.scores, self._columns(), bits)
        found = ScoreTally._of_sums(self.labels, ends, sums, weighted=self.weighted)
        return replace(found, kept=kept)

    # -- what is known of a score ------------------------------------------------------------------

    @property
    def inexact(self) -> bool:
        """Whether rows of unlike scores are counted together, so that their order is not known."""
        return isinstance(self.kept, Grid)

    def ends(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The smallest and the largest score that the rows of each column can have."""
        low = self.scores.astype(np.float64)
        if isinstance(self.kept, Exact):
            return low, low
        if isinstance(self.kept, Grid):
            ids = cells(low, self.kept.bits)
            return lowest(ids, self.kept.bits), highest(ids, self.kept.bits)
        others = self.counts[[label != self.kept.frequent for label in self.labels]]
        above = np.nextafter(np.append(low[1:], np.inf), -np.inf)
        return low, np.where(others.any(axis=0), low, above)

    def tied(self) -> npt.NDArray[np.bool_]:
        """Of each column, whether its rows are known to have the same score."""
        return self._tied

    @cached_property
    def _tied(self) -> npt.NDArray[np.bool_]:
        low, high = self.ends()
        return np.asarray(low == high)

    def placed(self, labels: Sequence[str], label_at: Mapping[str, int]) -> ScoreTally:
        """The same scores in which each label has its place among others, perhaps with others."""
        names = tuple(labels)
        places = [label_at[label] for label in self.labels]
        if self.labels == names and places == list(range(len(names))):
            return self

        def summed(amounts: Array, kind: Any) -> Array:
            if sorted(places) == list(range(len(names))):
                return amounts[np.argsort(places)]
            sums = np.zeros((len(names), self.size), kind)
            for row, place in enumerate(places):
                # Counts of 64 bits have no sign, and stay below 2^62.
                np.add(sums[place], amounts[row], out=sums[place], casting="unsafe")
            return narrow(sums) if kind is np.int64 else sums

        if self.squares is None:
            return replace(self, labels=names, counts=summed(self.counts, np.int64))
        squares = summed(self.squares, np.float64)
        return replace(self, labels=names, counts=summed(self.counts, np.float64), squares=squares)

    def starting_at(self, smallest: float) -> ScoreTally:
        """The table of cuts with the rows below the lowest cut at the smallest score there is."""
        if not isinstance(self.kept, Cuts) or not self.size or self.scores[0] != LOWEST:
            return self
        return replace(self, scores=np.append(smallest, self.scores[1:]))

    def middles(self) -> npt.NDArray[np.float64]:
        """The score itself or, of a cell, the middle of its smallest and its largest one."""
        low, high = self.ends()
        return low if not self.inexact else low / 2 + high / 2

    def apart(self, *, positives_above: bool) -> ScoreTally:
        """The binary table with the classes of each cell ranked one above the other.

        The two ways are the best and the worst ranking that the rows can have. Rows that are known
        to have the same score stay tied. Scores are ranks.
        """
        if positives_above not in self._apart:
            self._apart[positives_above] = self._split(0 if positives_above else 1)
        return self._apart[positives_above]

    @cached_property
    def _apart(self) -> dict[bool, ScoreTally]:
        return {}

    def _split(self, below: int) -> ScoreTally:
        """The table in which rows of one class of each cell are ranked below those of the other."""
        tied = self.tied()

        def split(table: Array) -> Array:
            two = np.zeros((2, self.size, 2), table.dtype)
            two[below, :, 0], two[1 - below, :, 1] = table[below], table[1 - below]
            two[1 - below, tied, 0], two[1 - below, tied, 1] = table[1 - below, tied], 0
            return two.reshape(2, -1)

        counts = split(self.counts)
        held = counts.any(axis=0)
        squares = None if self.squares is None else split(self.squares)[:, held]
        ranks = np.arange(int(held.sum()), dtype=np.float64)
        return ScoreTally(self.labels, ranks, counts[:, held], squares)

    @property
    def rows(self) -> float:
        """How many rows there are; with sampling weights, as how many they count."""
        if self.squares is None:
            return int(sum(self.totals()))
        return float(np.sum(self.counts)) ** 2 / float(np.sum(self.squares))

    def effective(self) -> tuple[float, ...]:
        """How many rows each label has; with sampling weights, as how many they count."""
        totals = [float(total) for total in self.totals()]
        if self.squares is None:
            return tuple(totals)
        squares = self.squares.sum(axis=1).tolist()
        return tuple(
            total**2 / square if total else 0.0
            for total, square in zip(totals, squares, strict=True)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScoreTally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return f"ScoreTally(labels={self.labels}, distinct scores={self.size})"

    @property
    def size(self) -> int:
        """How many distinct scores there are."""
        return len(self.scores)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of sampling weights."""
        return self.squares is not None

    def one_versus_rest(self, label: int) -> ScoreTally:
        """The binary table with one label as the positive, all others as negatives."""
        if len(self.labels) == 2 and label == 1:
            return self
        names = ("rest", self.labels[label])
        others = [i for i in range(len(self.labels)) if i != label]

        def two(table: Array) -> Array:
            wide = table if self.weighted else table.astype(np.int64)
            return np.stack([wide[others].sum(axis=0), wide[label]])

        if self.squares is not None:
            found = ScoreTally(names, self.scores, two(self.counts), two(self.squares))
        else:
            found = ScoreTally(names, self.scores, narrow(two(self.counts)))
        kept = self.kept
        if isinstance(kept, Cuts) and kept.frequent not in names:
            kept = replace(kept, frequent=names[0])
        return replace(found, kept=kept)

    def pair(self, negative: int, positive: int) -> ScoreTally:
        """The binary table of the rows of two labels alone."""
        chosen = [negative, positive]
        kept = self.counts[chosen].any(axis=0)
        names = (self.labels[negative], self.labels[positive])
        if self.squares is not None:
            found = ScoreTally(
                names,
                self.scores[kept],
                self.counts[chosen][:, kept],
                self.squares[chosen][:, kept],
            )
        else:
            found = ScoreTally(names, self.scores[kept], narrow(self.counts[chosen][:, kept]))
        gaps = isinstance(self.kept, Cuts) and self.kept.frequent in names
        return replace(found, kept=self.kept if gaps or self.inexact else Exact())

    def at_least(self, threshold: float) -> list[Any]:
        """How many rows of each label have a score of at least the threshold."""
        first = int(np.searchsorted(self.scores, threshold, side="left"))
        kind = np.float64 if self.weighted else np.int64
        sums: list[Any] = self.counts[:, first:].sum(axis=1, dtype=kind).tolist()
        return sums

    def totals(self) -> list[Any]:
        """How many rows of each label there are."""
        return list(self._totals)

    @cached_property
    def _totals(self) -> tuple[Any, ...]:
        """Asked for by every measure, and counted once."""
        return tuple(self.at_least(-np.inf))

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        arrays: dict[str, Array] = {"scores": narrow_scores(self.scores), "counts": self.counts}
        if self.squares is not None:
            arrays["squares"] = self.squares
        header: dict[str, Any] = {"labels": self.labels}
        if self.kept != Exact():
            header["kept"] = plain(self.kept)
        return codec.write("scores", header, arrays)


@codec.reads("scores")
def scores_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> ScoreTally:
    """A table from its header and arrays, refused unless it is canonical."""
    labels = tuple(str(label) for label in header["labels"])
    scores, counts = arrays["scores"], arrays["counts"]
    squares = arrays.get("squares")
    if scores.ndim != 1 or scores.dtype.kind != "f" or counts.shape != (len(labels), len(scores)):
        raise ValueError(f"scores of {scores.dtype} and counts of shape {counts.shape}")
    if not (np.isfinite(scores).all() and (np.diff(scores) > 0).all()):
        raise ValueError("scores are not finite and ascending")
    if counts.dtype.kind != ("u" if squares is None else "f") or not (counts >= 0).all():
        raise ValueError(f"counts of {counts.dtype} are not counts")
    if squares is not None and (squares.shape != counts.shape or not (squares >= 0).all()):
        raise ValueError(f"squares of shape {squares.shape} are not those of the counts")
    kept = keeping_of(header["kept"]) if "kept" in header else Exact()
    if isinstance(kept, Grid) and not np.array_equal(
        lowest(cells(scores, kept.bits), kept.bits), scores
    ):
        raise ValueError(f"scores are not the ends of cells of {kept.bits} bits")
    return ScoreTally(labels, scores, counts, squares, kept)


def extremes(scores: Scores) -> tuple[float, float]:
    """The smallest and the largest score; refuses what is not a finite number."""

    def work(i: int, j: int) -> tuple[float, float]:
        return float(scores[i:j].min()), float(scores[i:j].max())

    with np.errstate(invalid="ignore"):
        found = np.array(map_blocks(len(scores), lambda: work))
    low, high = found[:, 0].min(), found[:, 1].max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = np.flatnonzero(~np.isfinite(scores))
        raise ScoreError(
            f"scores must be finite numbers: {len(bad)} of {len(scores)} are not; the first is "
            f"{float(scores[bad[0]])} in row {bad[0]}. Remove those rows or give them a score"
        )
    return float(low), float(high)
