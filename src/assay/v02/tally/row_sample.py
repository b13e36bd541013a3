"""The rows themselves, for what counts can't give, and counts of rows that come in clusters.

A :class:`Sample` has paired scores, clusters, and what averages of classes need. Rows that come in
hosts, campaigns or listings are a confusion matrix a cluster, :class:`ClusterTally`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.v02.tally import codec
from assay.v02.tally.blocks import narrow
from assay.v02.tally.confusion import Confusion
from assay.v02.tally.scores import ScoreTally
from assay.v02.tally.weight_sums import Remainder, WeightSums, add_up, remainder_of

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
# Sums of weights, and of their squares.
Weights: TypeAlias = tuple[WeightSums, WeightSums]


@dataclass(frozen=True)
class Sample:
    """Rows of label, the scores of each model, cluster and count, in one canonical order.

    ``truth`` holds positions in ``labels``, ``cluster`` positions in ``clusters`` (all zero where
    there are none), ``counts`` how often the row occurs. Equal rows are one row. A model has one
    column of ``scores``, or one a label; those of a model stand together. With sampling weights
    ``counts`` are sums of weights and ``squares`` sums of their squares; ``rest`` is what these
    floats leave off of either.
    """

    labels: tuple[str, ...]
    models: tuple[str, ...]
    clusters: tuple[str, ...]
    truth: Array
    scores: Floats
    cluster: Array
    counts: Array
    squares: Floats | None = None
    rest: tuple[Remainder | None, Remainder | None] = (None, None)

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
        return _canonical_sample(
            tuple(labels),
            tuple(scores),
            list(clusters),
            truth.astype(np.uint16),
            np.concatenate([np.empty((size, 0)), *columns], axis=1) + 0.0,
            np.zeros(size, np.int64) if cluster is None else cluster.astype(np.int64),
            amounts if weights is None else _weighed(weights),
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
        return _canonical_sample(
            self.labels,
            self.models,
            [*self.clusters, *other.clusters],
            np.concatenate([self.truth, other.truth]),
            np.concatenate([self.scores, other.scores]),
            np.concatenate([self.cluster, other.cluster + len(self.clusters)]),
            _joined_weights(self, other)
            if self.weighted or other.weighted
            else np.concatenate([self.counts, other.counts]),
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
        return _canonical_sample(
            tuple(labels),
            self.models,
            list(self.clusters),
            truth,
            self.scores if scores is None else scores,
            self.cluster,
            self._amounts(),
        )

    def of_rows_where(self, kept: npt.NDArray[np.bool_]) -> Sample:
        """Some of the rows, in the same order."""
        places = np.where(kept, np.cumsum(kept) - 1, -1)
        weights, squares = (rest and rest.moved(places) for rest in self.rest)
        return replace(
            self,
            truth=self.truth[kept],
            scores=self.scores[kept],
            cluster=self.cluster[kept],
            counts=self.counts[kept],
            squares=None if self.squares is None else self.squares[kept],
            rest=(weights, squares),
        )

    def _amounts(self) -> Array | Weights:
        """Counts, or weights and squares with what they leave off."""
        if self.squares is None:
            return self.counts
        return WeightSums(self.counts, self.rest[0]), WeightSums(self.squares, self.rest[1])

    @cached_property
    def positions(self) -> tuple[tuple[Floats, Array], ...]:
        """The distinct scores of each column, and where the score of each row stands in them."""
        return tuple(np.unique(column, return_inverse=True) for column in self.scores.T)

    def score_tally(self, column: int, counts: Array | None = None) -> ScoreTally:
        """The score tally of one column; ``counts`` are those of a resample.

        That of the last resample is kept, for the next measure.
        """
        if counts is not None:
            last = self._last_resample.get(column)
            if last is None or last[0] is not counts:
                last = self._last_resample[column] = counts, self._score_tally(column, counts)
            return last[1]
        return self._score_tally(column, None)

    @cached_property
    def _last_resample(self) -> dict[int, tuple[Array, ScoreTally]]:
        return {}

    def _score_tally(self, column: int, counts: Array | None) -> ScoreTally:
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
        for name, rest in zip(("counts", "squares"), self.rest, strict=True):
            arrays |= {} if rest is None else rest.to_arrays(name)
        schema = codec.SCHEMA if self.rest == (None, None) else 2
        return codec.write("sample", header, arrays, schema=schema)


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
    columns = scores.shape[1] if scores.ndim == 2 else -1
    if scores.shape != (rows, columns) or cluster.shape != (rows,) or counts.shape != (rows,):
        raise ValueError(f"columns of unlike length for {rows} rows")
    if columns < len(models) or columns % max(len(models), 1):
        raise ValueError(f"{columns} columns of scores for {len(models)} models")
    if squares is not None and (squares.shape != (rows,) or squares.dtype.str != "<f8"):
        raise ValueError("its squares do not fit")
    amounts = "<i8" if squares is None else "<f8"
    if [a.dtype.str for a in (truth, scores, cluster, counts)] != ["<u2", "<f8", "<i8", amounts]:
        raise ValueError("columns of an unknown kind")
    if squares is not None and not (np.isfinite(counts).all() and np.isfinite(squares).all()):
        raise ValueError("its weights are out of range")
    misplaced = (truth >= len(labels)).any() or (cluster < 0).any() or (counts < 0).any()
    if misplaced or (cluster >= max(len(clusters), 1)).any() or not np.isfinite(scores).all():
        raise ValueError("labels, clusters, scores or counts are out of range")
    return _canonical_sample(
        tuple(labels),
        tuple(models),
        clusters,
        truth,
        scores,
        cluster,
        counts
        if squares is None
        else (
            WeightSums(counts, remainder_of(arrays, "counts", counts)),
            WeightSums(squares, remainder_of(arrays, "squares", squares)),
        ),
    )


def _weighed(weights: Floats) -> Weights:
    return WeightSums(weights), WeightSums(np.square(weights))


def _joined_weights(one: Sample, other: Sample) -> Weights:
    """The weights of one sample and then those of another, of which one may have no rows."""
    sides = zip(*(_weights_of(each) for each in (one, other)), strict=True)
    places = np.arange(one.size), np.arange(one.size, one.size + other.size)
    weights, squares = (
        add_up(list(zip(side, places, strict=True)), one.size + other.size) for side in sides
    )
    return weights, squares


def _weights_of(sample: Sample) -> Weights:
    amounts = sample._amounts()
    return amounts if isinstance(amounts, tuple) else _weighed(amounts.astype(np.float64))


def _canonical_sample(
    labels: tuple[str, ...],
    models: tuple[str, ...],
    clusters: list[str],
    truth: Array,
    scores: Array,
    cluster: Array,
    amounts: Array | Weights,
) -> Sample:
    """Rows sorted by cluster, label and scores; equal rows added; what is not used left out."""
    occupied = np.flatnonzero((amounts[0].nearest if isinstance(amounts, tuple) else amounts) > 0)
    truth, scores, cluster = truth[occupied], scores[occupied], cluster[occupied]
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
    truth, scores, cluster = truth[order], scores[order], cluster[order]
    new = np.ones(len(truth), bool)
    new[1:] = (
        (truth[1:] != truth[:-1])
        | (cluster[1:] != cluster[:-1])
        | (scores[1:] != scores[:-1]).any(axis=1)
    )
    rows = labels, models, tuple(distinct), truth[new], scores[new], cluster[new]
    if not isinstance(amounts, tuple):
        counts = amounts[occupied[order]]
        return Sample(*rows, np.add.reduceat(counts, np.flatnonzero(new)))
    numbers = np.zeros(len(amounts[0].nearest), np.int64)
    numbers[occupied[order]] = np.cumsum(new) - 1
    weights, squares = (add_up([(each, numbers)], int(new.sum())) for each in amounts)
    return Sample(*rows, weights.nearest, squares.nearest, (weights.rest, squares.rest))


# -- cluster by confusion matrix -------------------------------------------------------------------


@dataclass(frozen=True)
class ClusterTally:
    """One table a cluster: ``cells[cluster, truth, decision]``, clusters sorted by name.

    Cells are integers, or sums of sampling weights, of which ``rest`` is what floats leave off.
    ``columns`` are what was said of rows where that is not one of the labels; then labels and
    columns are united when tables are added.
    """

    labels: tuple[str, ...]
    clusters: tuple[str, ...]
    cells: Array
    columns: tuple[str, ...] | None = None
    rest: Remainder | None = None

    @classmethod
    def zero(cls, labels: Sequence[str]) -> ClusterTally:
        """The table of no clusters."""
        return cls(tuple(labels), (), np.zeros((0, len(labels), len(labels)), np.int64))

    @classmethod
    def of_codes(
        cls,
        labels: Sequence[str],
        truth: Array,
        decision: Array,
        cluster: Array,
        names: Sequence[str],
        *,
        amounts: Array | None = None,
        columns: Sequence[str] | None = None,
    ) -> ClusterTally:
        """Count rows; ``cluster`` is a position in ``names``, ``amounts`` counts or weights."""
        width = len(labels) if columns is None else len(columns)
        if amounts is None:
            amounts = np.ones(len(truth), np.int64)
        numbers = (cluster.astype(np.int64) * len(labels) + truth) * width + decision
        shape = len(labels), width
        return _canonical_clusters(tuple(labels), names, shape, [(amounts, numbers)], columns)

    @classmethod
    def of_sample(cls, labels: Sequence[str], sample: Sample, threshold: float) -> ClusterTally:
        """Rows by their first score, flagged from a threshold on.

        ``labels`` are the negative and the positive one; any label but the first of the sample is a
        positive.
        """
        truth = (sample.truth > 0).astype(np.uint8)
        flagged = (sample.scores[:, 0] >= threshold).astype(np.uint8)
        return cls.of_codes(
            labels, truth, flagged, sample.cluster, sample.clusters, amounts=sample.counts
        )

    def __add__(self, other: ClusterTally) -> ClusterTally:
        if not isinstance(other, ClusterTally):
            return NotImplemented
        if (self.columns is None) != (other.columns is None) or (
            self.columns is None and self.labels != other.labels
        ):
            raise TallyError(
                f"cluster tallies of unlike labels can't be added: {list(self.labels)} and "
                f"{list(other.labels)}"
            )
        labels = tuple(sorted({*self.labels, *other.labels}))
        columns = None
        if self.columns is not None and other.columns is not None:
            columns = tuple(sorted({*self.columns, *other.columns}))
        else:
            labels = self.labels
        decided = columns or labels
        parts = [
            part._placed(labels.index, decided.index, (len(labels), len(decided)), before)
            for part, before in ((self, 0), (other, self.size))
        ]
        names = [*self.clusters, *other.clusters]
        return _canonical_clusters(labels, names, (len(labels), len(decided)), parts, columns)

    def _placed(
        self,
        label_at: Callable[[str], int],
        column_at: Callable[[str], int],
        shape: tuple[int, int],
        before: int = 0,
    ) -> tuple[Array | WeightSums, Array]:
        """The amounts, and the cell of each among those of tables that have another shape.

        Labels that are left out have a negative place, and so have their cells.
        """
        rows = np.array([label_at(label) for label in self.labels], np.int64)
        columns = np.array([column_at(name) for name in self.columns or self.labels], np.int64)
        cells = rows[:, None] * shape[1] + columns
        cells[rows < 0] = -1
        clusters = np.arange(before, before + self.size) * shape[0] * shape[1]
        numbers = np.where(cells < 0, -1, clusters[:, None, None] + cells).ravel()
        amounts = self.cells.ravel()
        return amounts if amounts.dtype.kind != "f" else WeightSums(amounts, self.rest), numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterTally) and self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    @property
    def size(self) -> int:
        """How many clusters there are."""
        return len(self.clusters)

    def confusion(self) -> Confusion:
        """The confusion matrix of all clusters together."""
        cells = self.cells.sum(axis=0).tolist()
        return Confusion(self.labels, tuple(tuple(row) for row in cells))

    def against_rest(self, label: int) -> ClusterTally:
        """The binary tables with one label as the positive, all others as one negative."""
        if len(self.labels) == 2 and label == 1:
            return self
        hit = self.cells[:, label, label]
        row, column = self.cells[:, label, :].sum(axis=1), self.cells[:, :, label].sum(axis=1)
        everything = self.cells.sum(axis=(1, 2))
        cells = np.stack([everything - row - column + hit, column - hit, row - hit, hit], axis=1)
        name = self.labels[label]
        return ClusterTally((f"not {name}", name), self.clusters, cells.reshape(self.size, 2, 2))

    def of_labels(self, kept: Callable[[str], bool]) -> ClusterTally:
        """The rows of some labels alone."""
        names = tuple(label for label in self.labels if kept(label))
        columns = self.columns or self.labels
        shape = len(names), len(columns)
        part = self._placed(
            lambda label: names.index(label) if label in names else -1, columns.index, shape
        )
        return _canonical_clusters(names, self.clusters, shape, [part], columns)

    def placed(
        self,
        labels: tuple[str, ...],
        label_at: Mapping[str, int],
        column_at: Callable[[str], int],
        columns: tuple[str, ...] | None = None,
    ) -> ClusterTally:
        """The tables in which each label and each thing said has its place."""
        shape = len(labels), len(columns or labels)
        part = self._placed(label_at.__getitem__, column_at, shape)
        return _canonical_clusters(labels, self.clusters, shape, [part], columns)

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        header: dict[str, Any] = {"labels": self.labels, "clusters": self.clusters}
        if self.columns is not None:
            header["columns"] = self.columns
        if self.rest is None:
            return codec.write("clusters", header, {"cells": self.cells})
        arrays = {"cells": self.cells, **self.rest.to_arrays("cells")}
        return codec.write("clusters", header, arrays, schema=2)


@codec.reads("clusters")
def clusters_of(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> ClusterTally:
    """A table from its header and arrays."""
    labels = tuple(str(label) for label in header["labels"])
    names = [str(name) for name in header["clusters"]]
    cells = arrays["cells"]
    columns = header.get("columns")
    if columns is not None:
        columns = tuple(str(column) for column in columns)
    width = len(labels) if columns is None else len(columns)
    if cells.shape != (len(names), len(labels), width):
        raise ValueError(f"cells of shape {cells.shape} for {len(names)} clusters")
    if not (cells >= 0).all():
        raise ValueError("a cell is negative or not a number")
    if cells.dtype.kind != "f":
        amounts: Array | WeightSums = cells.ravel()
    else:
        amounts = WeightSums(cells.ravel(), remainder_of(arrays, "cells", cells.ravel()))
    part = amounts, np.arange(cells.size)
    return _canonical_clusters(labels, names, cells.shape[1:], [part], columns)


def _canonical_clusters(
    labels: tuple[str, ...],
    names: Sequence[str],
    shape: tuple[int, ...],
    parts: Sequence[tuple[Array | WeightSums, Array]],
    columns: Sequence[str] | None = None,
) -> ClusterTally:
    """Clusters sorted by name, those of one name added up, empty ones left out.

    ``parts`` are amounts, and the cell of each in a table of all names; negative ones are left out.
    """
    distinct = sorted(set(names))
    position = {name: i for i, name in enumerate(distinct)}
    renumber = np.array([position[name] for name in names], np.int64)
    width, size = math.prod(shape), len(distinct) * math.prod(shape)
    weights: list[tuple[WeightSums, Array]] = []
    counts = np.zeros(size, np.int64)
    for amounts, numbers in parts:
        cells = numbers.copy()
        kept = numbers >= 0
        clusters, within = np.divmod(numbers[kept], width)
        cells[kept] = renumber[clusters] * width + within
        if isinstance(amounts, WeightSums):
            weights.append((amounts, cells))
        elif amounts.dtype.kind == "f":
            weights.append((WeightSums(amounts), cells))
        else:
            np.add.at(counts, cells[kept], amounts[kept])
    sums = add_up(weights, size) if weights else None
    table = (counts if sums is None else sums.nearest).reshape(len(distinct), *shape)
    occupied = np.asarray(table.any(axis=(1, 2)))
    # What no float holds lies in clusters that have rows.
    places = np.repeat(np.cumsum(occupied) - 1, width) * width + np.tile(
        np.arange(width), len(occupied)
    )
    rest = None if sums is None or sums.rest is None else sums.rest.moved(places)
    used = tuple(distinct[i] for i in np.flatnonzero(occupied))
    return ClusterTally(
        labels, used, table[occupied], None if columns is None else tuple(columns), rest
    )
