"""Label by distinct score: all that rankings, curves and thresholds need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import ScoreError, TallyError
from assay.tally import codec
from assay.tally.blocks import map_blocks
from assay.tally.packed import count_binary, narrow

Scores: TypeAlias = npt.NDArray[np.floating[Any]]
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class ScoreTally:
    """How many rows of each label have each distinct score, scores ascending.

    A tie is numeric equality; -0.0 is 0.0. ``counts`` has one row a label and one column a score,
    in the narrowest unsigned type that holds it. With sampling weights, ``counts`` are sums of
    weights (float64) and ``squares`` sums of their squares.

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
    ) -> ScoreTally:
        """Count rows: a score each, and the label as a position in ``labels``."""
        labels = tuple(labels)
        scores = scores if scores.dtype == np.float32 else scores.astype(np.float64, copy=False)
        if not len(scores):
            return cls.zero(labels)
        low, _ = extremes(scores)
        if weights is None and counts is None and len(labels) == 2:
            return cls(labels, *count_binary(scores, truth, low))
        amounts: Array = np.ones(len(scores), np.int64) if counts is None else counts
        if weights is not None:
            amounts = weights
        columns = [np.where(truth == i, amounts, 0) for i in range(len(labels))]
        if weights is not None:
            columns += [np.square(column) for column in columns]
        distinct, sums = _group(scores + scores.dtype.type(0), np.stack(columns))
        if not len(distinct):
            return cls.zero(labels)
        if weights is None:
            return cls(labels, distinct, narrow(sums))
        return cls(labels, distinct, sums[: len(labels)], sums[len(labels) :])

    def __add__(self, other: ScoreTally) -> ScoreTally:
        if not isinstance(other, ScoreTally):
            return NotImplemented
        return ScoreTally.merge([self, other])

    @staticmethod
    def merge(parts: Sequence[ScoreTally]) -> ScoreTally:
        """The sum of many tables in one sort."""
        first, *others = parts
        for other in others:
            if other.labels != first.labels:
                raise TallyError(
                    f"score tallies of unlike labels can't be added: {list(first.labels)} and "
                    f"{list(other.labels)}"
                )
        full = [part for part in parts if part.size]
        if len(full) <= 1:
            return full[0] if full else first
        if len({part.weighted for part in full}) > 1:
            raise TallyError("score tallies with and without sampling weights can't be added")
        dtype = np.result_type(*(part.scores.dtype for part in full))
        scores = np.concatenate([part.scores.astype(dtype) for part in full])
        if not full[0].weighted:
            counts = np.concatenate([part.counts.astype(np.int64) for part in full], axis=1)
            distinct, sums = _group(scores, counts)
            return ScoreTally(first.labels, distinct, narrow(sums))
        columns = [np.concatenate([part.counts, part._squares()]) for part in full]
        distinct, sums = _group(scores, np.concatenate(columns, axis=1))
        size = len(first.labels)
        return ScoreTally(first.labels, distinct, sums[:size], sums[size:])

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

    def _squares(self) -> Array:
        return self.counts if self.squares is None else self.squares

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
            return ScoreTally(names, self.scores, two(self.counts), two(self.squares))
        return ScoreTally(names, self.scores, narrow(two(self.counts)))

    def pair(self, negative: int, positive: int) -> ScoreTally:
        """The binary table of the rows of two labels alone."""
        chosen = [negative, positive]
        kept = self.counts[chosen].any(axis=0)
        names = (self.labels[negative], self.labels[positive])
        if self.squares is not None:
            return ScoreTally(
                names,
                self.scores[kept],
                self.counts[chosen][:, kept],
                self.squares[chosen][:, kept],
            )
        return ScoreTally(names, self.scores[kept], narrow(self.counts[chosen][:, kept]))

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
        arrays: dict[str, Array] = {"scores": self.scores, "counts": self.counts}
        if self.squares is not None:
            arrays["squares"] = self.squares
        return codec.write("scores", {"labels": self.labels}, arrays)


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
    return ScoreTally(labels, scores, counts, squares)


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


def _group(scores: Scores, columns: Array) -> tuple[Scores, Array]:
    """Distinct scores ascending, and the sums of each column over each score that has any."""
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sums = np.add.reduceat(columns[:, order], starts, axis=1)
    held = sums.any(axis=0)
    return scores[starts][held], sums[:, held]
