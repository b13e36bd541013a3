"""Label by distinct score: all that rankings, curves and thresholds need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import ScoreError, TallyError
from assay.v02.escaping import row_at
from assay.v02.tally import codec
from assay.v02.tally.blocks import count_binary, map_blocks, narrow, narrow_scores
from assay.v02.tally.keeping import (
    LOWEST,
    Cuts,
    Exact,
    Grid,
    Keeping,
    cells,
    coarsest,
    count_cells,
    distinct_scores,
    group,
    highest,
    in_cells,
    keeping_of,
    lowest,
    places_of,
    plain,
    sum_tables,
)
from assay.v02.tally.weight_sums import Remainder, WeightSums, add_up, remainder_of

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class ScoreTally:
    """How many rows of each label have each distinct score, scores ascending.

    A tie is numeric equality; -0.0 is 0.0. ``counts`` has one row a label and one column a score,
    in the narrowest unsigned type that holds it. With sampling weights, ``counts`` are sums of
    weights (float64) and ``squares`` sums of their squares; ``rest`` is what these floats leave off
    of either, counted score by score. ``kept`` says how scores are kept: of a grid, ``scores`` are
    the smallest floats of its cells, of cuts the cuts and the gaps between.

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
    rest: tuple[Remainder | None, Remainder | None] = (None, None)

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
        if weights is not None:
            tally = cls._of_weights(labels, scores + scores.dtype.type(0), truth, weights)
        else:
            amounts: Array = np.ones(len(scores), np.int64) if counts is None else counts
            columns = [np.where(truth == i, amounts, 0) for i in range(len(labels))]
            distinct, sums = group(scores + scores.dtype.type(0), np.stack(columns))
            tally = cls(labels, distinct, narrow(sums))
        if not tally.size:
            return replace(cls.zero(labels), kept=kept)
        return tally.to_grid(kept.bits) if isinstance(kept, Grid) else tally

    @classmethod
    def _of_weights(
        cls,
        labels: tuple[str, ...],
        scores: Scores,
        truth: Array,
        weights: npt.NDArray[np.float64],
    ) -> ScoreTally:
        order = np.argsort(scores, kind="stable")
        scores, weights = scores[order], weights[order]
        changed = np.concatenate(([True], scores[1:] != scores[:-1]))
        cells = (np.cumsum(changed) - 1) * len(labels) + truth[order]
        size = len(labels) * int(changed.sum())
        sums, squares = (
            add_up([(WeightSums(each), cells)], size) for each in (weights, np.square(weights))
        )
        return cls._weighed(labels, scores[changed], sums, squares)

    @classmethod
    def _weighed(
        cls,
        labels: tuple[str, ...],
        scores: Scores,
        weights: WeightSums,
        squares: WeightSums,
        kept: Keeping = Exact(),  # noqa: B008 - frozen
    ) -> ScoreTally:
        """The table of sums by score and label; scores without any weight are left out."""
        occupied = weights.nearest.reshape(len(scores), len(labels)).any(axis=1)
        if not occupied.all():
            places = np.repeat(np.where(occupied, np.cumsum(occupied) - 1, -1), len(labels))
            numbers = places * len(labels) + np.tile(np.arange(len(labels)), len(scores))
            size = int(occupied.sum()) * len(labels)
            weights, squares = (each.moved(numbers, size) for each in (weights, squares))
        sums, of_squares = (
            np.ascontiguousarray(each.nearest.reshape(int(occupied.sum()), len(labels)).T)
            for each in (weights, squares)
        )
        rest = weights.rest, squares.rest
        return cls(labels, scores[occupied], sums, of_squares, kept, rest)

    def _sums(self) -> tuple[WeightSums, WeightSums]:
        """The sums of weights and of their squares, score by score."""
        weights, squares = (np.asarray(table).T.ravel() for table in (self.counts, self.squares))
        return WeightSums(weights, self.rest[0]), WeightSums(squares, self.rest[1])

    @staticmethod
    def _added(
        labels: tuple[str, ...],
        scores: Scores,
        parts: Sequence[tuple[ScoreTally, Array, Sequence[int]]],
        kept: Keeping,
    ) -> ScoreTally:
        """Weighted tables added up.

        With each comes where its scores stand among all, and its labels, which are left out where
        that is negative.
        """
        size = len(scores) * len(labels)
        sums: tuple[list[Any], list[Any]] = [], []
        for part, columns, rows in parts:
            row = np.array(rows, np.int64)
            numbers = (columns[:, None] * len(labels) + row).ravel()
            numbers[np.tile(row < 0, part.size)] = -1
            for each, part_sums in zip(sums, part._sums(), strict=True):
                each.append((part_sums, numbers))
        weights, squares = (add_up(each, size) for each in sums)
        return ScoreTally._weighed(labels, scores, weights, squares, kept)

    def of_labels(self, kept: Callable[[str], bool]) -> ScoreTally:
        """The rows of some labels alone."""
        rows = [i for i, label in enumerate(self.labels) if kept(label)]
        names = tuple(self.labels[i] for i in rows)
        if self.squares is not None:
            places = [rows.index(i) if i in rows else -1 for i in range(len(self.labels))]
            parts = [(self, np.arange(self.size), places)]
            return ScoreTally._added(names, self.scores, parts, self.kept)
        occupied = self.counts[rows].any(axis=0)
        return replace(
            self, labels=names, scores=self.scores[occupied], counts=self.counts[rows][:, occupied]
        )

    def __add__(self, other: ScoreTally) -> ScoreTally:
        if not isinstance(other, ScoreTally):
            return NotImplemented
        return ScoreTally.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[ScoreTally]) -> ScoreTally:
        """The sum of many tables in one sort, kept as the coarsest of them is.

        Labels that one of them does not have have no rows there; unlike labels are sorted as text.
        """
        named = [part for part in parts if part.labels] or parts
        labels = named[0].labels
        if any(part.labels != labels for part in named):
            labels = tuple(sorted({label for part in named for label in part.labels}))
        kept = coarsest({part.kept for part in named if part.size or part.kept != Exact()})
        full = [part for part in named if part.size]
        if isinstance(kept, Grid):
            full = [part.to_grid(kept.bits) for part in full]
        if not full:
            return replace(ScoreTally.zero(labels), kept=kept)
        if len(full) == 1:
            return full[0]._with(labels)
        weighted = {part.weighted for part in full}
        if len(weighted) > 1:
            raise TallyError("score tallies with and without sampling weights can't be added")
        if not weighted.pop():
            counts = [part._with(labels).counts for part in full]
            scores, sums = sum_tables([part.scores for part in full], counts)
            return ScoreTally(labels, scores, narrow(sums), kept=kept)
        scores = distinct_scores([part.scores for part in full])
        placed = [
            (part, places_of(scores, part.scores), [labels.index(name) for name in part.labels])
            for part in full
        ]
        return ScoreTally._added(labels, scores, placed, kept)

    def _with(self, labels: tuple[str, ...]) -> ScoreTally:
        """The same table with more labels."""
        if labels == self.labels:
            return self
        if self.squares is not None:
            rows = [labels.index(label) for label in self.labels]
            parts = [(self, np.arange(self.size), rows)]
            return ScoreTally._added(labels, self.scores, parts, self.kept)
        places = [self.labels.index(label) if label in self.labels else -1 for label in labels]
        padded = np.concatenate([self.counts, np.zeros((1, self.size), self.counts.dtype)])
        return replace(self, labels=labels, counts=padded[places])

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
        if not self.weighted:
            ends, sums = in_cells(self.scores, self.counts, bits)
            return ScoreTally(self.labels, ends, narrow(sums), kept=kept)
        ids, at = np.unique(cells(self.scores, bits), return_inverse=True)
        parts = [(self, at, range(len(self.labels)))]
        return ScoreTally._added(self.labels, lowest(ids, bits), parts, kept)

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

        if self.squares is not None:
            parts = [(self, np.arange(self.size), places)]
            return ScoreTally._added(names, self.scores, parts, self.kept)
        if sorted(places) == list(range(len(names))):
            return replace(self, labels=names, counts=self.counts[np.argsort(places)])
        sums = np.zeros((len(names), self.size), np.int64)
        for row, place in enumerate(places):
            # Counts of 64 bits have no sign, and stay below 2^62.
            np.add(sums[place], self.counts[row], out=sums[place], casting="unsafe")
        return replace(self, labels=names, counts=narrow(sums))

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
            return two.reshape(2, 2 * self.size)

        counts = split(self.counts)
        occupied = counts.any(axis=0)
        squares = None if self.squares is None else split(self.squares)[:, occupied]
        ranks = np.arange(int(occupied.sum()), dtype=np.float64)
        return ScoreTally(self.labels, ranks, counts[:, occupied], squares)

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
            exact = table if self.weighted else table.astype(np.int64)
            return np.stack([exact[others].sum(axis=0), exact[label]])

        if self.squares is not None:
            binary = ScoreTally(names, self.scores, two(self.counts), two(self.squares))
        else:
            binary = ScoreTally(names, self.scores, narrow(two(self.counts)))
        kept = self.kept
        if isinstance(kept, Cuts) and kept.frequent not in names:
            kept = replace(kept, frequent=names[0])
        return replace(binary, kept=kept)

    def pair(self, negative: int, positive: int) -> ScoreTally:
        """The binary table of the rows of two labels alone."""
        chosen = [negative, positive]
        kept = self.counts[chosen].any(axis=0)
        names = (self.labels[negative], self.labels[positive])
        if self.squares is not None:
            binary = ScoreTally(
                names,
                self.scores[kept],
                self.counts[chosen][:, kept],
                self.squares[chosen][:, kept],
            )
        else:
            binary = ScoreTally(names, self.scores[kept], narrow(self.counts[chosen][:, kept]))
        gaps = isinstance(self.kept, Cuts) and self.kept.frequent in names
        return replace(binary, kept=self.kept if gaps or self.inexact else Exact())

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

    @cached_property
    def draws(self) -> dict[tuple[int, int], list[Array]]:
        """Resamples of the counts by seed and number, which all measures are computed on."""
        return {}

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        arrays: dict[str, Array] = {"scores": narrow_scores(self.scores), "counts": self.counts}
        if self.squares is not None:
            arrays["squares"] = self.squares
        for name, rest in zip(("counts", "squares"), self.rest, strict=True):
            arrays |= {} if rest is None else rest.to_arrays(name)
        header: dict[str, Any] = {"labels": self.labels}
        if self.kept != Exact():
            header["kept"] = plain(self.kept)
        schema = codec.SCHEMA if self.rest == (None, None) else 2
        return codec.write("scores", header, arrays, schema=schema)


@codec.reads("scores")
def scores_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> ScoreTally:
    """A table from its header and arrays, refused unless it is canonical."""
    labels = tuple(str(label) for label in header["labels"])
    scores, counts = arrays["scores"], arrays["counts"]
    squares = arrays.get("squares")
    if scores.ndim != 1 or scores.dtype.kind != "f" or counts.shape != (len(labels), len(scores)):
        raise ValueError(f"scores of {scores.dtype} and counts of shape {counts.shape}")
    if not (np.isfinite(scores).all() and (scores[1:] > scores[:-1]).all()):
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
    if squares is None:
        return ScoreTally(labels, scores, counts, kept=kept)
    rest = (
        remainder_of(arrays, "counts", counts.T.ravel()),
        remainder_of(arrays, "squares", squares.T.ravel()),
    )
    return ScoreTally(labels, scores, counts, squares, kept, rest)


def extremes(scores: Scores) -> tuple[float, float]:
    """The smallest and the largest score; refuses what is not a finite number."""

    def work(i: int, j: int) -> tuple[float, float]:
        return float(scores[i:j].min()), float(scores[i:j].max())

    with np.errstate(invalid="ignore"):
        ends = np.array(map_blocks(len(scores), lambda: work))
    low, high = ends[:, 0].min(), ends[:, 1].max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = np.flatnonzero(~np.isfinite(scores))
        raise ScoreError(
            f"scores must be finite numbers: {len(bad)} of {len(scores)} are not; the first is "
            f"{float(scores[bad[0]])} in {row_at(bad[0])}. Remove those rows or give them a score"
        )
    return float(low), float(high)
