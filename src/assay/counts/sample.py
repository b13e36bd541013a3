"""The rows themselves, where counts can't give the answer: paired scores and their clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.counts.blocks import narrow
from assay.counts.scores import ScoreCounts

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of label, the scores of each model, cluster and count, in one canonical order.

    ``truth`` holds positions in ``labels``, ``cluster`` positions in ``clusters`` (all 0 where
    there are none), ``counts`` how often the row occurs. Equal rows are one row. A model has one
    column of ``scores``, or one per label; those of a model stand together. With sampling weights
    ``counts`` are sums of weights and ``squares`` sums of their squares.
    """

    labels: tuple[str, ...]
    models: tuple[str, ...]
    clusters: tuple[str, ...]
    truth: Array
    scores: Floats
    cluster: Array
    counts: Array
    squares: Floats | None = None

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        scores: Mapping[str, Array],
        *,
        cluster: Array | None = None,
        clusters: Sequence[str] = (),
        counts: Array | None = None,
        weights: Array | None = None,
    ) -> Sample:
        """Keep rows; ``cluster`` is a position in ``clusters``.

        ``scores`` maps a model to its column, or to its table with a column per label.
        """
        size = len(truth)
        tables = [np.asarray(each, np.float64) for each in scores.values()]
        columns = [each[:, None] if each.ndim == 1 else each for each in tables]
        amounts: Array = np.ones(size, np.int64) if counts is None else counts
        amounts = amounts if weights is None else np.asarray(weights, np.float64)
        names: list[str] = []
        place = np.zeros(size, np.int64)
        if cluster is not None:
            names = sorted({clusters[i] for i in np.unique(cluster[amounts > 0])})
            position = {name: i for i, name in enumerate(names)}
            place = np.array([position.get(name, -1) for name in clusters], np.int64)[cluster]
        # -0.0 is 0.0.
        table = np.concatenate([np.empty((size, 0)), *columns], axis=1) + 0.0
        held = np.flatnonzero(amounts > 0)
        order = held[np.lexsort((*table[held].T[::-1], truth[held], place[held]))]
        truth, table, place = truth[order].astype(np.uint16), table[order], place[order]
        new = np.ones(len(order), bool)
        new[1:] = (
            (truth[1:] != truth[:-1])
            | (place[1:] != place[:-1])
            | (table[1:] != table[:-1]).any(axis=1)
        )
        starts, amounts = np.flatnonzero(new), amounts[order]
        return cls(
            tuple(labels),
            tuple(scores),
            tuple(names),
            truth[new],
            table[new],
            place[new],
            np.add.reduceat(amounts, starts) if len(starts) else amounts,
            None if weights is None else np.add.reduceat(np.square(amounts), starts),
        )

    @property
    def size(self) -> int:
        """The number of distinct rows."""
        return len(self.truth)

    @property
    def width(self) -> int:
        """The columns of scores that a model has."""
        return int(self.scores.shape[1]) // max(len(self.models), 1)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of sampling weights."""
        return self.squares is not None

    @property
    def amounts_squared(self) -> Array:
        """How much the square of a row's influence counts in a variance."""
        return self.counts if self.squares is None else self.squares

    def of_model(self, model: int) -> Floats:
        """The columns of one model."""
        return self.scores[:, model * self.width : (model + 1) * self.width]

    def one_versus_rest(self, label: int, model: int = 0) -> Sample:
        """The same rows with one label as the positive, ranked by its own column of one model."""
        column = self.of_model(model)[:, [label]]
        names, truth = ("rest", self.labels[label]), (self.truth == label).astype(np.uint16)
        return replace(self, labels=names, models=(self.labels[label],), truth=truth, scores=column)

    def of_rows_where(self, held: npt.NDArray[np.bool_]) -> Sample:
        """Some of the rows, in the same order."""
        return replace(
            self,
            truth=self.truth[held],
            scores=self.scores[held],
            cluster=self.cluster[held],
            counts=self.counts[held],
            squares=None if self.squares is None else self.squares[held],
        )

    @cached_property
    def positions(self) -> tuple[tuple[Floats, Array], ...]:
        """The distinct scores of each column, and the position of each row's score in them."""
        return tuple(np.unique(column, return_inverse=True) for column in self.scores.T)

    def score_counts(self, column: int, counts: Array | None = None) -> ScoreCounts:
        """The score counts of one column; ``counts`` are those of a resample.

        The table of the last resample is kept for the next measure.
        """
        if counts is None:
            return self._score_counts(column, None)
        last = self._last_resample.get(column)
        if last is None or last[0] is not counts:
            last = self._last_resample[column] = counts, self._score_counts(column, counts)
        return last[1]

    @cached_property
    def _last_resample(self) -> dict[int, tuple[Array, ScoreCounts]]:
        return {}

    def _score_counts(self, column: int, counts: Array | None) -> ScoreCounts:
        distinct, at = self.positions[column]
        cells = self.truth.astype(np.int64) * len(distinct) + at
        shape = len(self.labels), len(distinct)

        def summed(amounts: Array) -> Array:
            return np.bincount(cells, amounts, minlength=shape[0] * shape[1]).reshape(shape)

        if self.squares is not None and counts is None:
            return ScoreCounts(self.labels, distinct, summed(self.counts), summed(self.squares))
        table = summed(self.counts if counts is None else counts)
        held = table.any(axis=0)
        # Sums of counts are exact in floats up to 2^53.
        return ScoreCounts(self.labels, distinct[held], narrow(table[:, held].astype(np.int64)))

    def class_counts(self, model: int, counts: Array | None = None) -> tuple[ScoreCounts, ...]:
        """The score counts of each column of a model that has one per label."""
        first = model * self.width
        return tuple(self.score_counts(first + i, counts) for i in range(self.width))
