"""The rows themselves, for what counts can't give: paired scores, clusters, averages of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.packed import narrow
from assay.tally.scores import ScoreTally

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of label, the scores of each model, cluster and count, in one canonical order.

    ``truth`` holds positions in ``labels``, ``cluster`` positions in ``clusters`` (all zero where
    there are none), ``counts`` how often the row occurs. Equal rows are one row. A model has one
    column of ``scores``, or one a label; those of a model stand together. With sampling weights
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
    def zero(cls, labels: Sequence[str], models: Sequence[str], width: int = 1) -> Sample:
        """The sample of no rows; ``width`` is how many columns a model has."""
        empty = np.empty((0, width))
        return cls.of_rows(labels, np.empty(0, np.uint16), dict.fromkeys(models, empty))

    @classmethod
    def of_rows(
        cls,
        labels: Sequence[str],
        truth: Array,
        scores: Mapping[str, Array],
        *,
        cluster: Array | None = None,
        clusters: Sequence[str] = (),
        counts: npt.NDArray[np.int64] | None = None,
        weights: Floats | None = None,
    ) -> Sample:
        """Keep rows; ``cluster`` is a position in ``clusters``.

        ``scores`` maps a model to its column, or to its table with a column a label.
        """
        size = len(truth)
        tables = [np.asarray(s, np.float64) for s in scores.values()]
        columns = [t[:, None] if t.ndim == 1 else t for t in tables]
        amounts: Array = np.ones(size, np.int64) if counts is None else counts
        return _canonical(
            tuple(labels),
            tuple(scores),
            list(clusters),
            truth.astype(np.uint16),
            np.concatenate([np.empty((size, 0)), *columns], axis=1) + 0.0,
            np.zeros(size, np.int64) if cluster is None else cluster.astype(np.int64),
            amounts if weights is None else weights,
            squares=None if weights is None else np.square(weights),
        )

    def __add__(self, other: Sample) -> Sample:
        if not isinstance(other, Sample):
            return NotImplemented
        if (self.labels, self.models) != (other.labels, other.models):
            raise TallyError(
                f"samples of unlike labels or models can't be added: {list(self.labels)} "
                f"{list(self.models)} and {list(other.labels)} {list(other.models)}"
            )
        if self.width != other.width:
            raise TallyError(
                f"samples with {self.width} and with {other.width} columns a model can't be added"
            )
        if self.size and other.size and self.weighted != other.weighted:
            raise TallyError("samples with and without sampling weights can't be added")
        if self.size and other.size and bool(self.clusters) != bool(other.clusters):
            raise TallyError("a sample with clusters and one without can't be added")
        return _canonical(
            self.labels,
            self.models,
            [*self.clusters, *other.clusters],
            np.concatenate([self.truth, other.truth]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.cluster, other.cluster + len(self.clusters)]),
            np.concatenate([self.counts, other.counts]),
            squares=np.concatenate([self.amounts_squared, other.amounts_squared])
            if self.weighted or other.weighted
            else None,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sample) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def size(self) -> int:
        """How many distinct rows there are."""
        return len(self.truth)

    @property
    def width(self) -> int:
        """How many columns of scores a model has."""
        return int(self.scores.shape[1]) // max(len(self.models), 1)

    @property
    def weighted(self) -> bool:
        """Whether counts are sums of sampling weights."""
        return self.squares is not None

    @property
    def amounts_squared(self) -> Array:
        """By how much the square of a row's move counts in a variance."""
        return self.counts if self.squares is None else self.squares

    def of_model(self, model: int) -> Floats:
        """The columns of one model."""
        return self.scores[:, model * self.width : (model + 1) * self.width]

    def one_versus_rest(self, label: int, model: int = 0) -> Sample:
        """The same rows with one label as the positive, ranked by its own column of one model."""
        column = self.of_model(model)[:, [label]]
        names, truth = ("rest", self.labels[label]), (self.truth == label).astype(np.uint16)
        return replace(self, labels=names, models=(self.labels[label],), truth=truth, scores=column)

    def placed(self, labels: Sequence[str], label_at: Mapping[str, int]) -> Sample:
        """The same rows in which each label has its place among others."""
        renumber = np.array([label_at[label] for label in self.labels], np.uint16)
        return self.relabelled(labels, renumber[self.truth] if len(renumber) else self.truth)

    def relabelled(
        self, labels: Sequence[str], truth: Array, scores: Floats | None = None
    ) -> Sample:
        """The same rows with other labels, and perhaps other scores."""
        return _canonical(
            tuple(labels),
            self.models,
            list(self.clusters),
            truth,
            self.scores if scores is None else scores,
            self.cluster,
            self.counts,
            squares=self.squares,
        )

    def of_rows_where(self, kept: npt.NDArray[np.bool_]) -> Sample:
        """Some of the rows, in the same order."""
        return replace(
            self,
            truth=self.truth[kept],
            scores=self.scores[kept],
            cluster=self.cluster[kept],
            counts=self.counts[kept],
            squares=None if self.squares is None else self.squares[kept],
        )

    @cached_property
    def positions(self) -> tuple[tuple[Floats, Array], ...]:
        """The distinct scores of each column, and where the score of each row stands in them."""
        return tuple(np.unique(column, return_inverse=True) for column in self.scores.T)

    def score_tally(self, column: int, counts: Array | None = None) -> ScoreTally:
        """The score tally of one column; ``counts`` are those of a resample."""
        distinct, at = self.positions[column]
        cells = self.truth.astype(np.int64) * len(distinct) + at
        shape = len(self.labels), len(distinct)

        def summed(amounts: Array) -> Array:
            return np.bincount(cells, amounts, minlength=shape[0] * shape[1]).reshape(shape)

        if self.squares is not None and counts is None:
            return ScoreTally(self.labels, distinct, summed(self.counts), summed(self.squares))
        table = summed(self.counts if counts is None else counts)
        kept = table.any(axis=0)
        # Sums of counts are exact in floats up to 2^53.
        return ScoreTally(self.labels, distinct[kept], narrow(table[:, kept].astype(np.int64)))

    def class_tallies(self, model: int, counts: Array | None = None) -> tuple[ScoreTally, ...]:
        """The score tally of each column of a model that has one a label."""
        first = model * self.width
        return tuple(self.score_tally(first + i, counts) for i in range(self.width))

    def to_bytes(self) -> bytes:
        """The rows as bytes; :func:`assay.tally.from_bytes` reads them."""
        header = {"labels": self.labels, "models": self.models, "clusters": self.clusters}
        arrays = {
            "truth": self.truth,
            "scores": self.scores,
            "cluster": self.cluster,
            "counts": self.counts,
        }
        if self.squares is not None:
            arrays["squares"] = self.squares
        return codec.write("sample", header, arrays)


@codec.reads("sample")
def sample_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Sample:
    """A sample from its header and arrays."""
    labels, models, clusters = (
        [str(name) for name in header[key]] for key in ("labels", "models", "clusters")
    )
    rows = len(arrays["truth"])
    truth, scores, cluster, counts = (
        arrays[name] for name in ("truth", "scores", "cluster", "counts")
    )
    squares = arrays.get("squares")
    wide = scores.shape[1] if scores.ndim == 2 else -1
    if scores.shape != (rows, wide) or cluster.shape != (rows,) or counts.shape != (rows,):
        raise ValueError(f"columns of unlike length for {rows} rows")
    if wide < len(models) or wide % max(len(models), 1):
        raise ValueError(f"{wide} columns of scores for {len(models)} models")
    if squares is not None and (squares.shape != (rows,) or squares.dtype.str != "<f8"):
        raise ValueError("its squares do not fit")
    amounts = "<i8" if squares is None else "<f8"
    if [a.dtype.str for a in (truth, scores, cluster, counts)] != ["<u2", "<f8", "<i8", amounts]:
        raise ValueError("columns of an unknown kind")
    if squares is not None and not (np.isfinite(counts).all() and np.isfinite(squares).all()):
        raise ValueError("its weights are out of range")
    beyond = (truth >= len(labels)).any() or (cluster < 0).any() or (counts < 0).any()
    if beyond or (cluster >= max(len(clusters), 1)).any() or not np.isfinite(scores).all():
        raise ValueError("labels, clusters, scores or counts are out of range")
    return _canonical(
        tuple(labels),
        tuple(models),
        clusters,
        truth,
        scores,
        cluster,
        counts,
        squares=squares,
    )


def _canonical(
    labels: tuple[str, ...],
    models: tuple[str, ...],
    clusters: list[str],
    truth: Array,
    scores: Array,
    cluster: Array,
    counts: Array,
    *,
    squares: Array | None = None,
) -> Sample:
    """Rows sorted by cluster, label and scores; equal rows added; what is not used left out."""
    held = counts > 0
    truth, scores, cluster, counts = truth[held], scores[held], cluster[held], counts[held]
    squares = None if squares is None else squares[held]
    if clusters:
        used = [clusters[i] for i in np.unique(cluster)]
        distinct = sorted(set(used))
        position = {name: i for i, name in enumerate(distinct)}
        renumber = np.array([position.get(name, -1) for name in clusters], np.int64)
        cluster = renumber[cluster]
    else:
        distinct = []
        cluster = np.zeros(len(truth), np.int64)
    order = np.lexsort((*scores.T[::-1], truth, cluster))
    truth, scores, cluster, counts = truth[order], scores[order], cluster[order], counts[order]
    squares = None if squares is None else squares[order]
    if len(truth):
        changed = (
            (truth[1:] != truth[:-1])
            | (cluster[1:] != cluster[:-1])
            | (scores[1:] != scores[:-1]).any(axis=1)
        )
        starts = np.flatnonzero(np.concatenate(([True], changed)))
        counts = np.add.reduceat(counts, starts)
        squares = None if squares is None else np.add.reduceat(squares, starts)
        truth, scores, cluster = truth[starts], scores[starts], cluster[starts]
    return Sample(labels, models, tuple(distinct), truth, scores, cluster, counts, squares)
