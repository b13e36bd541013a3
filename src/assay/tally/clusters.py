"""Cluster by confusion matrix: for rows that come in hosts, campaigns or listings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.errors import TallyError
from assay.tally import codec
from assay.tally.confusion import Confusion
from assay.tally.sample import Sample

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class ClusterTally:
    """One table a cluster: ``cells[cluster, truth, decision]``, clusters sorted by name.

    Cells are integers, or sums of sampling weights. ``columns`` are what was said of rows where
    that is not one of the labels; then labels and columns are united when tables are added.
    """

    labels: tuple[str, ...]
    clusters: tuple[str, ...]
    cells: Array
    columns: tuple[str, ...] | None = None

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
        cells = np.zeros((len(names), len(labels), width), amounts.dtype)
        np.add.at(cells, (cluster, truth, decision), amounts)
        return _canonical(tuple(labels), list(names), cells, columns)

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
        names = [*self.clusters, *other.clusters]
        if self.columns is None or other.columns is None:
            return _canonical(self.labels, names, np.concatenate([self.cells, other.cells]))
        labels = tuple(sorted({*self.labels, *other.labels}))
        columns = tuple(sorted({*self.columns, *other.columns}))
        both = [
            part.placed(labels, {n: i for i, n in enumerate(labels)}, columns.index, columns).cells
            for part in (self, other)
        ]
        return _canonical(labels, names, np.concatenate(both), columns)

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
        return ClusterTally((f"not {name}", name), self.clusters, cells.reshape(-1, 2, 2))

    def of_labels(self, kept: Callable[[str], bool]) -> ClusterTally:
        """The rows of some labels alone."""
        chosen = [i for i, label in enumerate(self.labels) if kept(label)]
        names = tuple(self.labels[i] for i in chosen)
        return _canonical(names, list(self.clusters), self.cells[:, chosen], self.columns)

    def placed(
        self,
        labels: tuple[str, ...],
        label_at: Mapping[str, int],
        column_at: Callable[[str], int],
        columns: tuple[str, ...] | None = None,
    ) -> ClusterTally:
        """The tables in which each label and each thing said has its place."""
        width = len(labels) if columns is None else len(columns)
        cells = np.zeros((self.size, len(labels), width), self.cells.dtype)
        for i, label in enumerate(self.labels):
            for j, column in enumerate(self.columns or self.labels):
                cells[:, label_at[label], column_at(column)] += self.cells[:, i, j]
        return ClusterTally(labels, self.clusters, cells, columns)

    def to_bytes(self) -> bytes:
        """The table as bytes; :func:`assay.tally.from_bytes` reads them."""
        header: dict[str, Any] = {"labels": self.labels, "clusters": self.clusters}
        if self.columns is not None:
            header["columns"] = self.columns
        return codec.write("clusters", header, {"cells": self.cells})


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
    return _canonical(labels, names, cells, columns)


def _canonical(
    labels: tuple[str, ...],
    names: list[str],
    cells: Array,
    columns: Sequence[str] | None = None,
) -> ClusterTally:
    """Clusters sorted by name, those of one name added up, empty ones left out."""
    distinct = sorted(set(names))
    position = {name: i for i, name in enumerate(distinct)}
    summed = np.zeros((len(distinct), *cells.shape[1:]), cells.dtype)
    np.add.at(summed, [position[name] for name in names], cells)
    kept = summed.any(axis=(1, 2))
    used = tuple(distinct[i] for i in np.flatnonzero(kept))
    return ClusterTally(labels, used, summed[kept], None if columns is None else tuple(columns))
